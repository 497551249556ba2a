"""FMI-LS-REF, a draft of a layered standard: related files in an FMU with their roles, reference experiments above all.

https://modelica.github.io/fmi-ls-ref, experiments by https://github.com/modelica/ma-hs-experiments: a run with its
parameters, inputs and expected results, which whoever gets the FMU can repeat. `mbfmu/fmi/experiments.py` reads them.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import pathlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from lxml import etree

from mbfmu.errors import BuildError
from mbfmu.fmi.experiments import ANNOTATION, FOLDER, MANIFEST, NAME, NAMESPACE, TYPE
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.inputs import Interpolation, check_interpolation, drive_of
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import Value, run, time_grid
from mbfmu.runtime.variables import ScalarVariable

#: Version of the draft.
VERSION = "1.0.0-alpha.1"

SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"

#: Rows of expected results after the first; tolerance of the run that gives them, and what is allowed at least.
INTERVALS, STRICT, LEAST = 100, 1e-10, 1e-6

#: Expected results that depend on the tolerance by more than this are none.
_VAGUE = 0.02

#: Names of results and inputs in files, with those of the scalars that they hold.
Columns = Sequence[tuple[str, Sequence[str]]]


@dataclasses.dataclass(frozen=True)
class ReferenceExperiment:
    """A reference experiment, which `mbfmu.build` runs and puts into an FMU with its results (FMI-LS-REF).

    Args:
        name: Letters, digits, `_` and `-`: its files are called so.
        description: One sentence.
        inputs, interpolation: Inputs over time, as `mbfmu.simulate` takes them.
        start_values: Parameters and start values by variable name.
        stop_time: s; that of the assembly where None.
    """

    name: str = "default"
    description: str = "The default experiment"
    inputs: Any = None
    interpolation: Interpolation = "linear"
    start_values: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    stop_time: float | None = None


def experiments_of(
    given: bool | ReferenceExperiment | Sequence[ReferenceExperiment],
) -> tuple[ReferenceExperiment, ...]:
    """The experiments that an argument `experiment` asks for.

    Raises:
        BuildError: It is something else, or names are none or stand twice.
    """
    if isinstance(given, bool):
        return (ReferenceExperiment(),) if given else ()
    found = (
        (given,) if isinstance(given, ReferenceExperiment) else tuple(given if isinstance(given, Sequence) else [given])
    )
    for number, each in enumerate(found):
        if not isinstance(each, ReferenceExperiment):
            raise BuildError(f"experiment = {each!r:.60}: give True, a ReferenceExperiment or a list of them.")
        if not re.fullmatch(r"[\w-]+", each.name, re.ASCII) or each.name in {other.name for other in found[:number]}:
            raise BuildError(f"experiment {each.name!r}: a name is letters, digits, _ and -, and stands once.")
    return found


def write_experiments(
    folder: pathlib.Path,
    equations: Equations,
    variables: Sequence[ScalarVariable],
    experiments: Sequence[ReferenceExperiment],
    results: Columns,
    inputs: Columns,
    related: Sequence[Mapping[str, str]] = (),
) -> None:
    """Run experiments and write them, with the manifest, into the unpacked FMU.

    Args:
        folder: Root of the FMU.
        equations, variables: The model.
        experiments: What is run.
        results, inputs: What the FMU calls its results and inputs.
        related: Attributes of further files that the manifest names.

    Raises:
        BuildError: A run ends early, or its results depend on the tolerance.
        ModelError, SimulationError: As `mbfmu.simulate` has it.
    """
    place = folder / FOLDER
    place.mkdir(parents=True)
    root = etree.Element("Experiments", name=equations.name, description="Runs with their inputs and results")
    for experiment in experiments:
        _write_experiment(root, place, equations, variables, experiment, results, inputs)
    (place / "experiments.exp").write_bytes(_text(root))
    manifest = etree.Element("fmiReferences", nsmap={"fmi-ls": NAMESPACE})
    manifest.set(f"{{{NAMESPACE}}}fmi-ls-name", NAME)
    manifest.set(f"{{{NAMESPACE}}}fmi-ls-version", VERSION)
    description = "Layered Standard providing information on related files included in an FMU."
    manifest.set(f"{{{NAMESPACE}}}fmi-ls-description", description)
    own = {"type": TYPE, "source": "experiments.exp", "role": "experiment", "description": "Reference experiments"}
    for attributes in (own, *related):
        etree.SubElement(manifest, "Related", dict(attributes))
    (place / MANIFEST).write_bytes(_text(manifest))
    (folder / "documentation").mkdir(exist_ok=True)
    (folder / "documentation" / "fmi-ls-ref.txt").write_text(_words(experiments), encoding="utf-8")


def _write_experiment(
    root: etree._Element,
    place: pathlib.Path,
    equations: Equations,
    variables: Sequence[ScalarVariable],
    experiment: ReferenceExperiment,
    results: Columns,
    inputs: Columns,
) -> None:
    title = f"experiment {experiment.name!r}"
    times = time_grid(equations, None, experiment.stop_time, None)
    times = np.linspace(times[0], times[-1], INTERVALS + 1)
    step = float(times[-1] - times[0]) / INTERVALS
    drive = None
    if experiment.inputs is not None:
        check_interpolation(equations.name, experiment.interpolation)
        drive = drive_of(equations.name, variables, experiment.inputs, times, experiment.interpolation)
    names = [name for _, scalars in results for name in scalars]
    if not names:
        raise BuildError(f"{title}: the model has neither outputs nor states; declare an output.")
    options: dict[str, Any] = {
        "stop_time": float(times[-1]), "interval": step, "drive": drive, "outputs": names,
        "start_values": experiment.start_values or None,
    }  # fmt: skip
    own = run(equations, variables, **options)
    strict = run(equations, variables, tolerance=min(STRICT, equations.tolerance), **options)
    for each in (own, strict):
        if each.ended is not None or each.time.size != times.size:
            raise BuildError(f"{title}: {each.ended or 'the run ends early'}; give it an earlier stop_time.")
    relative = _allowed(title, own, strict, names, equations.tolerance)
    element = etree.SubElement(
        root,
        "Experiment",
        name=experiment.name,
        description=experiment.description,
        tolerance=repr(equations.tolerance),
    )
    bounds = {"startTime": repr(float(times[0])), "stopTime": repr(float(times[-1])), "stepSize": repr(step)}
    etree.SubElement(element, "TransientSimulation", bounds)
    if experiment.start_values:
        (place / f"{experiment.name}.ssv").write_bytes(_parameters(experiment, variables))
        etree.SubElement(element, "Parameters", source=f"{experiment.name}.ssv")
    if drive is not None:
        table = drive.table()
        (place / f"{experiment.name}_in.csv").write_text(_table(table["time"], table, inputs), encoding="utf-8")
        etree.SubElement(element, "Stimuli", source=f"{experiment.name}_in.csv")
    (place / f"{experiment.name}_ref.csv").write_text(_table(times, strict, results), encoding="utf-8")
    references = etree.SubElement(element, "References", source=f"{experiment.name}_ref.csv")
    annotation = etree.SubElement(etree.SubElement(references, "Annotations"), "Annotation", type=ANNOTATION)
    etree.SubElement(annotation, "Comparison", relative=repr(relative), absolute=repr(equations.tolerance))


def _allowed(title: str, own: Result, strict: Result, names: Sequence[str], absolute: float) -> float:
    """Ten times what the model's own tolerance makes of the results, relative to each one's greatest magnitude."""
    worst, where, good = 0.0, "", strict.time.size
    for name in names:
        # Of a run that ends at each of the instants
        scale = np.maximum.accumulate(np.abs(strict[name])) + np.finfo(float).tiny
        off = np.maximum.accumulate(np.maximum(np.abs(own[name] - strict[name]) - absolute, 0.0))
        good = min([good, *np.flatnonzero(off > _VAGUE * scale)])
        if off[-1] > 0 and off[-1] / scale[-1] > worst:
            worst, where = float(off[-1] / scale[-1]), name
    if worst > _VAGUE:
        until = f" (up to {strict.time[good - 1]:g} s they hold)" if good > 1 else ""
        raise BuildError(
            f"{title}: '{where}' is off by {worst:.1g} of its magnitude at the model's tolerance; give the experiment "
            f"an earlier stop_time{until}, or the model a stricter tolerance."
        )
    wanted = max(LEAST, 10 * worst)
    power = 10.0 ** math.floor(math.log10(wanted))
    return float(f"{next(lead for lead in (1, 2, 5, 10) if lead * power >= wanted * (1 - 1e-9)) * power:.0e}")


def _table(times: np.ndarray, series: Mapping[str, np.ndarray] | np.ndarray, columns: Columns) -> str:
    """CSV by the rules of fmi-standard.org for compatibility information: arrays are numbers with spaces between."""
    known = set(series.dtype.names or ()) if isinstance(series, np.ndarray) else set(series)
    shown = [(name, scalars) for name, scalars in columns if known.issuperset(scalars)]
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(["time", *(name for name, _ in shown)])
    for row, time in enumerate(times):
        cells = [" ".join(repr(float(series[scalar][row])) for scalar in scalars) for _, scalars in shown]
        text.write(",".join([repr(float(time)), *cells]) + "\n")
    return text.getvalue()


def _parameters(experiment: ReferenceExperiment, variables: Sequence[ScalarVariable]) -> bytes:
    """A parameter set of SSP 1.0."""
    types = {v.name: v.type for v in variables}
    root = etree.Element(f"{{{SSV}}}ParameterSet", nsmap={"ssv": SSV}, version="1.0", name=experiment.name)
    group = etree.SubElement(root, f"{{{SSV}}}Parameters")
    for name, value in experiment.start_values.items():
        parameter = etree.SubElement(group, f"{{{SSV}}}Parameter", name=name)
        type_ = types.get(name, "Real")
        text = str(value).lower() if type_ == "Boolean" else repr(float(value)) if type_ == "Real" else str(value)
        etree.SubElement(parameter, f"{{{SSV}}}{type_}", value=text)
    return _text(root)


def _text(root: etree._Element) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _words(experiments: Sequence[ReferenceExperiment]) -> str:
    lines = [f"- {each.name}: {each.description}" for each in experiments]
    return "\n".join(
        [
            f"Reference experiments (FMI-LS-REF {VERSION}, draft) are in {FOLDER}:",
            "",
            *lines,
            "",
            "Each has a table of results (NAME_ref.csv), of inputs where there are some (NAME_in.csv; straight lines",
            "between rows, and two rows of one time where they jump) and of parameters (NAME.ssv). Results are of a",
            f"run with a tolerance of {STRICT:g}. With that of the experiment they are to differ by no more than",
            "`absolute` plus `relative` times the greatest magnitude of the variable; experiments.exp tells both.",
            "",
        ]
    )
