"""Reference experiments in FMUs of any tool, by the drafts FMI-LS-REF and MA-HS-Experiments: read, and run again.

https://modelica.github.io/fmi-ls-ref names files by their roles; https://github.com/modelica/ma-hs-experiments says
what an experiment is. Times of a run are read from `TransientSimulation`, as the schema has it, or from the experiment
itself, as its text does.
"""

from __future__ import annotations

import csv
import dataclasses
import pathlib
import re
import urllib.parse
from collections.abc import Iterator

import numpy as np
from lxml import etree

from mbfmu.errors import MbfmuError, ValidationError
from mbfmu.fmi.foreign import Foreign, signals_of
from mbfmu.markup import xml_root

NAME = "org.fmi-standard.fmi-ls-ref"
NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"
FOLDER, MANIFEST = f"extra/{NAME}", "fmi-ls-manifest.xml"

#: MIME type of experiments; before they had a document of their own it was another one.
TYPE = "application/x-ma-hs-experiments"
_TYPES = (TYPE, "application/x-ma-ls-experiments")

#: Our annotation of references: what is allowed.
ANNOTATION = "io.github.mbfmu"

#: What is allowed where nobody says, of a variable's greatest magnitude: what Modelica's comparisons take.
USUAL = 2e-3

_ROLES = re.compile(
    "document|requirement|specification|model|parameter|system|testcase|"
    "experiment(/(smoke-test|validation|uncertainty-analysis))?|result|method|rationale|report|request|delivery|"
    "configuration|signature|serialized-state(/.*)?|meta-data|other"
)


@dataclasses.dataclass(frozen=True)
class Transient:
    """A run over time; files are paths in the unpacked FMU, numbers None where nobody says them."""

    name: str
    start: float | None
    stop: float | None
    step: float | None
    tolerance: float | None
    parameters: pathlib.Path | None
    stimuli: pathlib.Path | None
    references: pathlib.Path
    #: What is allowed: absolute + relative times the greatest magnitude.
    relative: float = USUAL
    absolute: float = 0.0


def related(folder: pathlib.Path) -> Iterator[etree._Element]:
    """What the manifest of an unpacked FMU names; nothing where there is none.

    Raises:
        ValidationError: It is no manifest of the draft.
    """
    file = folder / FOLDER / MANIFEST
    if not file.is_file():
        return
    root = _read(file, f"{FOLDER}/{MANIFEST}")
    if root.tag != "fmiReferences" or root.get(f"{{{NAMESPACE}}}fmi-ls-name") != NAME:
        raise ValidationError(f'"{FOLDER}/{MANIFEST}" is no manifest of {NAME}.')
    for each in root.iterfind("Related"):
        if each.get("source") is None or not _ROLES.fullmatch(each.get("role", "")):
            raise ValidationError(
                f'"{FOLDER}/{MANIFEST}", line {each.sourceline}: a source or a known role is missing.'
            )
        yield each


def transients(folder: pathlib.Path) -> Iterator[Transient]:
    """The runs over time with expected results in tables that an unpacked FMU holds.

    Other experiments, and results in other formats than CSV, are passed over, as are files from elsewhere.

    Raises:
        ValidationError: A file is missing or damaged.
    """
    for each in related(folder):
        if not each.get("role", "").startswith("experiment") or each.get("type") not in _TYPES:
            continue
        file = _inside(folder, folder / FOLDER, each.get("source", ""))
        if file is None:
            continue
        root = _read(file, file.relative_to(folder).as_posix())
        for number, experiment in enumerate(root.iterfind("Experiment"), 1):
            found = _transient(folder, file, experiment, number)
            if found is not None:
                yield found


def _transient(folder: pathlib.Path, file: pathlib.Path, element: etree._Element, number: int) -> Transient | None:
    kinds = [child for child in element if child.tag not in ("Parameters", "Stimuli", "References", "Annotations")]
    if any(kind.tag != "TransientSimulation" for kind in kinds):
        return None
    times = {**element.attrib, **(kinds[0].attrib if kinds else {})}
    files: dict[str, pathlib.Path | None] = {}
    kind = {"Parameters": "application/x-ssp-parameter-set", "Stimuli": "text/csv", "References": "text/csv"}
    for tag, expected in kind.items():
        child = element.find(tag)
        if child is None:
            files[tag] = None
        elif child.get("type", expected) != expected:
            return None
        else:
            files[tag] = _inside(folder, file.parent, child.get("source", ""))
            if files[tag] is None:
                return None
    references = files["References"]
    if references is None:
        return None

    def number_of(name: str) -> float | None:
        return _number(times[name], f"Experiment {number}: {name}") if name in times else None

    allowed = element.find(f"References/Annotations/Annotation[@type='{ANNOTATION}']/Comparison")
    what = f"Experiment {number}: what is allowed,"
    limits = {} if allowed is None else {
        key: _number(allowed.get(key, "0"), f"{what} {key},") for key in ("relative", "absolute")
    }  # fmt: skip
    return Transient(
        element.get("name", str(number)), number_of("startTime"), number_of("stopTime"), number_of("stepSize"),
        number_of("tolerance"), files["Parameters"], files["Stimuli"], references, **limits,
    )  # fmt: skip


def replay(path: pathlib.Path, experiment: Transient) -> list[str]:
    """Run an experiment again, and return how results differ from what is expected, one sentence each."""
    fmu = Foreign(path)
    expected = dict(_columns(fmu, experiment.references))
    at = expected.pop("time")
    start = experiment.start if experiment.start is not None else at[0]
    stop = experiment.stop if experiment.stop is not None else at[-1]
    if start > stop:
        return [f'Experiment "{experiment.name}": it begins at {start:g} s and ends at {stop:g} s, before that.']
    unknown = [name for name in expected if name not in fmu.elements]
    if unknown:
        return [f'Experiment "{experiment.name}": there is no variable "{unknown[0]}".']
    if experiment.step:
        times = np.linspace(start, stop, max(1, round((stop - start) / experiment.step)) + 1)
    else:
        times = np.unique(np.clip(np.concatenate([[start], at, [stop]]), start, stop))
    inputs = None if experiment.stimuli is None else dict(_columns(fmu, experiment.stimuli))
    values = {} if experiment.parameters is None else _parameters(experiment.parameters)
    try:
        signals = signals_of(fmu, inputs, times, "linear")
        result = fmu.simulate(times, values, list(expected), signals, experiment.tolerance)
    except MbfmuError as error:
        return [f'Experiment "{experiment.name}" fails: {error}']
    if result.ended is not None:
        return [f'Experiment "{experiment.name}": {result.ended}']
    # Of two rows of one time, at an event, a host may show either.
    single = np.concatenate([[True], np.diff(at) > 0]) & np.concatenate([np.diff(at) > 0, [True]])
    found = []
    for name, values_expected in expected.items():
        limit = experiment.absolute + experiment.relative * float(np.abs(values_expected).max())
        off = np.abs(np.interp(at, result.time, result[name]) - values_expected)[single]
        if off.size and not off.max() <= limit:
            row = int(np.argmax(off))
            found.append(
                f'Experiment "{experiment.name}": {name} is off by {off[row]:.2g} at {at[single][row]:g} s, where '
                f"{limit:.2g} is allowed."
            )
    return found


def _columns(fmu: Foreign, file: pathlib.Path) -> Iterator[tuple[str, np.ndarray]]:
    """Columns of a table by the names of scalars; a cell of an array holds its elements with spaces between."""
    try:
        with file.open(encoding="utf-8", newline="") as text:
            header, *rows = [row for row in csv.reader(text) if row] or [[]]
        cells = [[[float(word) for word in cell.split()] for cell in row] for row in rows]
        if not cells:
            raise ValueError("it has no rows of numbers")
        for column, name in enumerate(header):
            values = np.array([row[column] for row in cells])
            names = [n for n, scalar in fmu.elements.items() if scalar.variable.name == name] if column else ["time"]
            if len(names) != values.shape[1]:
                names = [name]
            for place, scalar_name in enumerate(names):
                yield scalar_name, values[:, place]
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise ValidationError(f'The table "{file.name}" cannot be read ({error}).') from None


def _parameters(file: pathlib.Path) -> dict[str, float | bool | str]:
    """Values of a parameter set of SSP."""
    found: dict[str, float | bool | str] = {}
    for parameter in _read(file, file.name).iterfind(".//{*}Parameter"):
        for value in parameter:
            text, kind = value.get("value"), etree.QName(value).localname
            if text is None:
                continue
            if kind == "Boolean":
                found[parameter.get("name", "")] = text in ("true", "1")
            else:
                name = parameter.get("name", "")
                found[name] = text if kind in ("String", "Enumeration") else _number(text, f'{file.name}: "{name}"')
    return found


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValidationError(f"{what} is {text!r:.60}, no number.") from None


def _inside(folder: pathlib.Path, base: pathlib.Path, source: str) -> pathlib.Path | None:
    """The file that a relative URI names; None for one from elsewhere.

    Raises:
        ValidationError: It is not there.
    """
    if urllib.parse.urlsplit(source).scheme:
        return None
    file = (base / urllib.parse.unquote(source)).resolve()
    if not file.is_relative_to(folder.resolve()) or not file.is_file():
        raise ValidationError(f'The related file "{source}" is not in the archive.')
    return file


def _read(file: pathlib.Path, name: str) -> etree._Element:
    try:
        return xml_root(file.read_bytes())
    except etree.XMLSyntaxError as error:
        raise ValidationError(f'"{name}" is not XML ({error}).') from None
