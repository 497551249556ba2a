"""Checks of a finished FMU of FMI 2.0 or 3.0: the schema and FMPy's rules, rules that FMPy does not know, and a run."""

from __future__ import annotations

import collections
import datetime
import io
import itertools
import lzma
import math
import pathlib
import posixpath
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from lxml import etree

from mbfmu.errors import ValidationError
from mbfmu.export import layered_wasm
from mbfmu.export.native import PLATFORMS_3
from mbfmu.export.symbols import REQUIRED, REQUIRED_3, exported_functions
from mbfmu.modeling.names import STRUCTURED
from mbfmu.runtime.compilers import PLATFORMS
from mbfmu.runtime.component import exported_names
from mbfmu.validation_3 import problems_of

#: Communication steps of the trial run, and the time that it may take, in s.
STEPS = 10
PATIENCE = 120

#: What an FMU may unpack to, one entry and all: a few megabytes of zeros packed would else fill memory and disk.
LARGEST_ENTRY, LARGEST = 2**28, 2**32

#: In how many folders an entry of an FMU may be, and the letters of its path.
DEEPEST, LONGEST = 50, 1000

#: What a C identifier may be.
IDENTIFIER = re.compile("[A-Za-z_][A-Za-z0-9_]*")

BUILD_DESCRIPTION = "sources/buildDescription.xml"
TERMINALS = "terminalsAndIcons/terminalsAndIcons.xml"

_TRIAL = "import sys; from mbfmu.validation import run; run(*sys.argv[1:])"


def validate(path: str | pathlib.Path, run: bool = True) -> list[str]:
    """Return what is wrong with an FMU, one sentence each; an empty list where nothing is.

    Parameters
    ----------
    path
        The FMU.
    run
        Also run it for a few steps, in a process of its own, where it has a binary for this machine.

    Raises
    ------
    ValidationError
        The file is not an FMU.
    """
    path = pathlib.Path(path)
    names, root = _open(path)
    problems = list(_archive_problems(path))
    if problems:
        return problems
    if _is_known(root):
        problems += description_problems(root)
        problems += _content_problems(root, names)
        problems += _build_description_problems(path, names)
        problems += _binary_problems(path, root, names)
        problems += _component_problems(path, root, names)
        problems += _terminal_problems(path, root, names)
    problems = problems or _fmpy_problems(path)
    if run and not problems:
        problems = _run_problems(path)
    return problems


def read(path: str | pathlib.Path) -> Any:
    """Return FMPy's ModelDescription of an FMU, without judging it.

    Raises
    ------
    ValidationError
        The file is not an FMU.
    """
    from fmpy.model_description import read_model_description

    _open(pathlib.Path(path))
    try:
        description = read_model_description(str(path), validate=False)
    except Exception as error:
        raise ValidationError(f"{path}: modelDescription.xml is beyond FMPy ({error}); use another FMU.") from None
    for kind in ("coSimulation", "modelExchange", "scheduledExecution"):
        identifier = getattr(getattr(description, kind, None), "modelIdentifier", None)
        if identifier is not None and not IDENTIFIER.fullmatch(identifier):  # it names a library that is loaded
            raise ValidationError(f'{path}: the modelIdentifier "{identifier:.80}" is no C identifier; build it again.')
    return description


def unpack(path: str | pathlib.Path, folder: str | pathlib.Path) -> None:
    """Unpack an FMU into a folder.

    Raises
    ------
    ValidationError
        Names in it lead out of the folder or too deep into it, it is damaged, or larger than FMUs are.
    """
    _open(pathlib.Path(path))
    try:
        with zipfile.ZipFile(path) as archive:
            wrong = next((text for entry in archive.infolist() for text in _place_problems(entry.orig_filename)), None)
            if wrong is not None:
                raise ValidationError(f"{path}: {wrong} Build it again.")
            archive.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, lzma.LZMAError) as error:
        raise ValidationError(f"{path}: cannot be unpacked ({error}); build it again, or copy it again.") from None


def run(path: str | pathlib.Path, folder: str | None = None) -> None:
    """Run an FMU in this process for a few steps of its default experiment, with FMPy; it may be unpacked in a folder.

    Raises
    ------
    ValidationError
        The run fails, or a variable is not finite after it; the message has the last line of the FMU's log.
    """
    import fmpy
    import numpy as np

    if folder is None:
        with tempfile.TemporaryDirectory(prefix="mbfmu-") as made:
            unpack(path, made)
            run(path, made)
        return
    description = read(path)
    experiment = description.defaultExperiment
    start = float(experiment.startTime or 0.0) if experiment else 0.0
    stop = float(experiment.stopTime or start + 1.0) if experiment else start + 1.0
    step = float(experiment.stepSize or 0.0) if experiment else 0.0
    step = step if step > 0 else (stop - start) / 500
    messages: list[str] = []

    def log(*line: Any) -> None:
        """Status and message stand at the same places from the end in both versions."""
        if line[-3] > 0:
            messages.append(line[-1].decode("utf-8", "replace"))

    try:
        result = fmpy.simulate_fmu(
            folder,
            model_description=description,
            validate=False,
            start_time=start,
            stop_time=min(stop, start + STEPS * step),
            output_interval=step,
            logger=log,
        )
    except Exception as error:
        raise ValidationError(f"The run fails: {error}" + (f" ({messages[-1]})" if messages else "")) from None
    for name in result.dtype.names:
        if result.dtype[name].base.kind == "f" and not np.all(np.isfinite(result[name])):
            raise ValidationError(f'The output "{name}" is not finite in the run.')


def description_problems(root: etree._Element) -> list[str]:
    """Return what is wrong in a modelDescription.xml by the schema and by rules that FMPy does not know."""
    if root.get("fmiVersion") != "2.0":
        return list(_schema(root)) or [*_head(root), *problems_of(root)]
    # Every stage takes the one before for granted.
    for stage in (
        (_schema,),
        (_indices,),
        (_head, _names, _independent, _attributes, _aliases, _derivatives, _structure),
    ):
        problems = [problem for rule in stage for problem in rule(root)]
        if problems:
            return problems
    return []


def _is_known(root: etree._Element) -> bool:
    """Is it a version whose rules are known here?"""
    return root.get("fmiVersion") == "2.0" or root.get("fmiVersion", "").startswith("3.0")


def _open(path: pathlib.Path) -> tuple[list[str], etree._Element]:
    """Return the names in an archive and the root of its modelDescription.xml."""
    if not path.is_file():
        raise ValidationError(f"{path}: no such file; give the path of an FMU.")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            total = sum(entry.file_size for entry in archive.infolist())
            if total > LARGEST:
                raise ValidationError(
                    f"{path}: unpacks to {total / 1e9:.1f} GB, more than the {LARGEST / 1e9:.1f} GB that an FMU may "
                    "have; get it from another place."
                )
            if "modelDescription.xml" not in names:
                raise ValidationError(
                    f"{path}: is not an FMU, for it has no modelDescription.xml; give the path of an FMU."
                )
            content = _content(archive, "modelDescription.xml")
    except (zipfile.BadZipFile, OSError, ValueError):
        raise ValidationError(f"{path}: is not an FMU, for it is no ZIP archive; give the path of an FMU.") from None
    except _Damaged as damage:
        raise ValidationError(f"{path}: {damage} Build it again, or copy it again.") from None
    try:
        return names, etree.fromstring(content, etree.XMLParser(resolve_entities=False))
    except etree.XMLSyntaxError as error:
        raise ValidationError(f"{path}: modelDescription.xml is not XML ({error}); build it again.") from None


class _Damaged(Exception):
    """An entry of an archive cannot be read; the message is a sentence."""


def _content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return what an entry contains.

    Raises
    ------
    _Damaged
        It is damaged, encrypted, of another compression or too large.
    """
    size = archive.getinfo(name).file_size
    if size > LARGEST_ENTRY:
        raise _Damaged(f'The entry "{name}" unpacks to {size / 1e9:.1f} GB, which no FMU needs.')
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, lzma.LZMAError):
        raise _Damaged(f'The entry "{name}" of the archive is damaged.') from None


def _fmpy_problems(path: pathlib.Path) -> list[str]:
    from fmpy.model_description import ValidationError as Invalid
    from fmpy.model_description import read_model_description

    try:
        # Names are checked here: FMPy's parser takes milliseconds for each.
        read_model_description(str(path), validate=True, validate_variable_names=False, validate_model_structure=True)
    except Invalid as error:
        return list(error.problems)
    except Exception as error:
        return [str(error)]
    return []


def _archive_problems(path: pathlib.Path) -> Iterator[str]:
    """ZIP rules of FMI 2.0.4, section 2.3: relative paths with forward slashes, stored or deflated."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        for entry in entries:
            try:
                _content(archive, entry.filename)
            except _Damaged as damage:
                yield str(damage)
    for name, count in collections.Counter(entry.filename for entry in entries).items():
        if count > 1:
            yield f'The archive has {count} entries "{name}".'
    for entry in entries:
        name = entry.orig_filename
        placed = list(_place_problems(name))
        yield from placed
        if not placed and (name.startswith("./") or posixpath.normpath(name) != name.rstrip("/")):
            yield f'The entry "{name}" is not a plain relative path.'
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            yield f'The entry "{name}" is neither stored nor deflated.'
        if entry.flag_bits & 1:
            yield f'The entry "{name}" is encrypted.'


def _place_problems(name: str) -> Iterator[str]:
    """What keeps an entry from being unpacked: names that lead out of the folder, or deeper than folders may be."""
    short = name if len(name) <= 80 else f"{name[:60]} ..."
    if "\\" in name:
        yield f'The entry "{short}" has a backslash; FMI wants forward slashes.'
    elif name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in name.split("/"):
        yield f'The entry "{short}" leads out of the archive.'
    elif name.count("/") > DEEPEST or len(name) > LONGEST:
        yield f'The entry "{short}" is in {name.count("/")} folders, its path has {len(name)} letters; too deep.'


def _content_problems(root: etree._Element, names: list[str]) -> Iterator[str]:
    """Binaries and sources that the description promises."""
    for interface in root.findall("CoSimulation") + root.findall("ModelExchange"):
        identifier = interface.get("modelIdentifier", "")
        if not IDENTIFIER.fullmatch(identifier):
            yield f'The modelIdentifier "{identifier}" is not a C identifier.'
        sources = [f"sources/{file.get('name')}" for file in interface.findall("SourceFiles/File")]
        if root.get("fmiVersion") != "2.0" and BUILD_DESCRIPTION in names:
            sources = [BUILD_DESCRIPTION]
        for source in sources:
            if source not in names:
                yield f'The source file "{source}" is listed, but not in the archive.'
        libraries = [name for name in names if re.fullmatch(rf"binaries/[^/]+/{re.escape(identifier)}\.\w+", name)]
        if not libraries and not sources:
            yield f'There is neither a binary "{identifier}" for any platform nor a list of sources.'


def _binary_problems(path: pathlib.Path, root: etree._Element, names: list[str]) -> Iterator[str]:
    """Functions that the libraries of the known platforms must export."""
    fmi_3 = root.get("fmiVersion") != "2.0"
    folders = {folder: platform for platform, listed in PLATFORMS_3.items() for folder in listed}
    folders = folders if fmi_3 else {platform: platform for platform in PLATFORMS}
    for interface, required in (REQUIRED_3 if fmi_3 else REQUIRED).items():
        element = root.find(interface)
        identifier = "" if element is None else element.get("modelIdentifier", "")
        for name in (f"binaries/{folder}/{identifier}{PLATFORMS[platform]}" for folder, platform in folders.items()):
            if name not in names:
                continue
            with zipfile.ZipFile(path) as archive:
                exported = exported_functions(_content(archive, name))
            if exported is None:
                yield f'The binary "{name}" is no shared library for its platform.'
            elif missing := sorted(required - exported):
                yield f'The binary "{name}" does not export {", ".join(missing)}, which {interface} needs.'


def _component_problems(path: pathlib.Path, root: etree._Element, names: list[str]) -> Iterator[str]:
    """The WebAssembly component of the draft FMI-LS-WASM: its interfaces, and the manifest."""
    elements = {"CoSimulation": "co-simulation", "ModelExchange": "model-exchange"}
    found = False
    for element, interface in elements.items():
        for identifier in (each.get("modelIdentifier", "") for each in root.findall(element)):
            name = f"binaries/{layered_wasm.PLATFORM}/{identifier}.wasm"
            if name not in names:
                continue
            found = True
            with zipfile.ZipFile(path) as archive:
                exported = exported_names(_content(archive, name))
            if exported is None:
                yield f'The binary "{name}" is no WebAssembly component.'
                continue
            for needed in ("common", interface):
                if f"fmi:fmi3/{needed}@3.0.0" not in exported:
                    yield f'The component "{name}" does not export fmi:fmi3/{needed}@3.0.0, which {element} needs.'
    manifest = layered_wasm.MANIFESTS[0]
    if found and manifest not in names:
        yield f'There is a WebAssembly component, but no manifest "{manifest}".'
    for name in layered_wasm.MANIFESTS:
        if name in names:
            with zipfile.ZipFile(path) as archive:
                try:
                    tree = etree.fromstring(_content(archive, name), etree.XMLParser(resolve_entities=False))
                except etree.XMLSyntaxError as error:
                    yield f"{name} is not XML ({error})."
                    continue
            yield from _violations(tree, "fmi3/fmi3LayeredStandardManifest.xsd", name)


def _terminal_problems(path: pathlib.Path, root: etree._Element, names: list[str]) -> Iterator[str]:
    """Schema of terminalsAndIcons.xml, and the variables that its terminals name (FMI 3.0, section 2.4.9)."""
    if TERMINALS not in names:
        return
    with zipfile.ZipFile(path) as archive:
        try:
            terminals = etree.fromstring(_content(archive, TERMINALS), etree.XMLParser(resolve_entities=False))
        except etree.XMLSyntaxError as error:
            yield f"{TERMINALS} is not XML ({error})."
            return
    yield from _violations(terminals, "fmi3/fmi3TerminalsAndIcons.xsd", TERMINALS)
    variables = {element.get("name") for element in root.iterfind("ModelVariables//*[@name]")}
    for member in terminals.iterfind(".//TerminalMemberVariable"):
        if member.get("variableName") not in variables:
            yield f'{TERMINALS}, line {member.sourceline}: there is no variable "{member.get("variableName")}".'


def _build_description_problems(path: pathlib.Path, names: list[str]) -> Iterator[str]:
    """Schema of buildDescription.xml, and the sources that it names (FMI 3.0.2, section 2.5.1.4)."""
    if BUILD_DESCRIPTION not in names:
        return
    with zipfile.ZipFile(path) as archive:
        try:
            description = etree.fromstring(archive.read(BUILD_DESCRIPTION))
        except etree.XMLSyntaxError as error:
            yield f"{BUILD_DESCRIPTION} is not XML ({error})."
            return
    yield from _violations(description, "fmi3/fmi3BuildDescription.xsd", BUILD_DESCRIPTION)
    for source in description.iterfind(".//SourceFile"):
        if f"sources/{source.get('name')}" not in names:
            yield f'The source file "sources/{source.get("name")}" is listed, but not in the archive.'


def _schema(root: etree._Element) -> Iterator[str]:
    version = root.get("fmiVersion", "2.0")[0]
    yield from _violations(root, f"fmi{version}/fmi{version}ModelDescription.xsd", "modelDescription.xml")


def _violations(root: etree._Element, schema: str, file: str) -> Iterator[str]:
    """Check against one of the schemas that FMPy ships."""
    import fmpy

    checker = etree.XMLSchema(file=str(pathlib.Path(fmpy.__file__).parent / "schema" / schema))
    if not checker.validate(root):
        for entry in checker.error_log:
            yield f"{file}, line {entry.line}: {entry.message}"


def _indices(root: etree._Element) -> Iterator[str]:
    """Indices of variables, which count from 1, wherever they are written."""
    count = len(_variables(root))
    places = [(_title(v), "derivative", v[0].get("derivative", "")) for v in _variables(root)]
    for tag in ("Outputs", "Derivatives", "InitialUnknowns"):
        for unknown in root.iterfind(f"ModelStructure/{tag}/Unknown"):
            for attribute in ("index", "dependencies"):
                places.append((f"ModelStructure/{tag}", attribute, unknown.get(attribute, "")))
    for place, attribute, text in places:
        for index in text.split():
            if not 1 <= int(index) <= count:
                yield f"{place}: {attribute} {index} is not the index of a variable; there are {count}."


def _head(root: etree._Element) -> Iterator[str]:
    token = "guid" if root.get("fmiVersion") == "2.0" else "instantiationToken"
    if not root.get(token, "").strip():
        yield f"The {token} is empty."
    date = root.get("generationDateAndTime")
    if date is not None:
        try:
            datetime.datetime.strptime(date, "%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            yield f'generationDateAndTime="{date}" is not a date like 2024-02-29T10:30:00Z.'
    experiment = root.find("DefaultExperiment")
    if experiment is not None:
        start, stop = (
            float(experiment.get(key, default)) for key, default in (("startTime", "0"), ("stopTime", "inf"))
        )
        if not start <= stop:
            yield f"DefaultExperiment: the stop time {stop:g} s is before the start time {start:g} s."
        for key in ("tolerance", "stepSize"):
            if not 0 < float(experiment.get(key, "1")) < math.inf:
                yield f'DefaultExperiment: {key}="{experiment.get(key)}" is not positive.'
    for path, what in (("LogCategories/Category", "log category"), ("UnitDefinitions/Unit", "unit")):
        for name, count in collections.Counter(item.get("name") for item in root.findall(path)).items():
            if count > 1:
                yield f'The {what} "{name}" is defined {count} times.'


def _names(root: etree._Element) -> Iterator[str]:
    if root.get("variableNamingConvention") != "structured":
        return
    for variable in _variables(root):
        if not STRUCTURED.fullmatch(variable.get("name", "")):
            yield f"{_title(variable)}: not a legal name under the convention structured."


def _independent(root: etree._Element) -> Iterator[str]:
    times = [variable for variable in _variables(root) if variable.get("causality") == "independent"]
    if len(times) > 1:
        yield f"{_title(times[1])}: a second independent variable; there may be only one."
    for variable in times:
        if _kind(variable) != "Real":
            yield f"{_title(variable)}: the independent variable must be Real."


def _attributes(root: etree._Element) -> Iterator[str]:
    """Bounds, start values and the attribute `initial` (FMI 2.0.4, section 2.2.7)."""
    for variable in _variables(root):
        values = _values(root, variable)
        causality = variable.get("causality", "local")
        if causality in ("input", "independent") and variable.get("initial") is not None:
            yield f'{_title(variable)}: a variable with causality="{causality}" must not have the attribute initial.'
        if "displayUnit" in values and "unit" not in values:
            yield f"{_title(variable)}: has a displayUnit, but no unit."
        if "nominal" in values and not float(values["nominal"]) > 0:
            yield f"{_title(variable)}: nominal={values['nominal']} is not positive."
        if _kind(variable) not in ("Real", "Integer", "Enumeration"):
            continue
        low, high = float(values.get("min", "-inf")), float(values.get("max", "inf"))
        if low > high:
            yield f"{_title(variable)}: min={values['min']} is above max={values['max']}."
        elif "start" in values and not low <= float(values["start"]) <= high:
            yield f"{_title(variable)}: start={values['start']} is not between min and max, {low:g} and {high:g}."


def _aliases(root: etree._Element) -> Iterator[str]:
    """Rules for variables of one type that share a value reference (FMI 2.0.4, section 2.2.7)."""
    groups: dict[tuple[str, str], list[etree._Element]] = {}
    for variable in _variables(root):
        groups.setdefault((_kind(variable), variable.get("valueReference", "")), []).append(variable)
    for group in groups.values():
        if len(group) == 1:
            continue
        names = " and ".join(f'"{variable.get("name")}"' for variable in group)
        values = [_values(root, variable) for variable in group]
        constant = [variable.get("variability") == "constant" for variable in group]
        if any(constant) and not all(constant):
            yield f"The aliases {names}: constants can only be aliases of constants."
        elif all(constant) and len({value.get("start") for value in values}) > 1:
            yield f"The aliases {names}: constants that are aliases must have equal start values."
        elif not any(constant) and sum("start" in value for value in values) > 1:
            yield f"The aliases {names}: only one of them may have a start value."
        if len({value.get("unit") for value in values}) > 1:
            yield f"The aliases {names}: must all have the same unit, or none."
        if len({value.get("relativeQuantity", "false") in ("true", "1") for value in values}) > 1:
            yield f"The aliases {names}: must agree in relativeQuantity."


def _derivatives(root: etree._Element) -> Iterator[str]:
    variables = _variables(root)
    for variable in variables:
        index = variable[0].get("derivative")
        if index is None:
            continue
        base = variables[int(index) - 1]
        if base is variable:
            yield f"{_title(variable)}: is declared as the derivative of itself."
        for end in (variable, base):
            if _kind(end) != "Real" or end.get("variability", "continuous") != "continuous":
                yield f"{_title(end)}: derivatives and their variables must be continuous and Real."


def _structure(root: etree._Element) -> Iterator[str]:
    """Order, duplicates and dependencies in ModelStructure (FMI 2.0.4, section 2.2.8)."""
    variables = _variables(root)
    derivatives = [int(unknown.get("index", "0")) for unknown in root.findall("ModelStructure/Derivatives/Unknown")]
    states = {int(variables[index - 1][0].get("derivative", "0")) for index in derivatives}
    if len(states) < len(set(derivatives)):
        yield "ModelStructure/Derivatives: two entries are derivatives of the same state."
    free = {i for i, v in enumerate(variables, 1) if v.get("causality") in ("input", "independent")}
    exact = {i for i, v in enumerate(variables, 1) if _initial(v) == "exact"}
    # The functions have tunable parameters, the list of knowns has none: they may be there or not. Fixed ones may not:
    # example 1 of the section leaves one out.
    tunable = {i for i, v in enumerate(variables, 1) if v.get("variability") == "tunable"}
    running = free | states | tunable
    knowns = {"Outputs": running, "Derivatives": running, "InitialUnknowns": free | exact}
    for tag, known in knowns.items():
        unknowns = root.findall(f"ModelStructure/{tag}/Unknown")
        indices = [int(unknown.get("index", "0")) for unknown in unknowns]
        for index, count in collections.Counter(indices).items():
            if count > 1:
                yield f'ModelStructure/{tag}: "{variables[index - 1].get("name")}" is listed {count} times.'
        if tag == "InitialUnknowns" and indices != sorted(indices):
            yield "ModelStructure/InitialUnknowns: the entries are not in the order of the variables."
        for unknown, index in zip(unknowns, indices, strict=True):
            for problem in _dependencies(unknown, variables, known, tag):
                yield f'ModelStructure/{tag}, "{variables[index - 1].get("name")}": {problem}'


def _dependencies(unknown: etree._Element, variables: list[etree._Element], known: set[int], tag: str) -> Iterator[str]:
    indices = [int(index) for index in unknown.get("dependencies", "").split()]
    kinds = unknown.get("dependenciesKind", "").split()
    if any(later <= earlier for earlier, later in itertools.pairwise(indices)):
        yield "the dependencies are not in ascending order."
    if "dependenciesKind" in unknown.attrib and len(kinds) != len(indices):
        yield f"has {len(indices)} dependencies and {len(kinds)} kinds of them."
    listed = "inputs, time and what is initially exact" if tag == "InitialUnknowns" else "inputs, states and time"
    for index in indices:
        if index not in known:
            yield (
                f'depends on "{variables[index - 1].get("name")}", which is not one of its knowns; in FMI 2.0 (section '
                f"2.2.8) these are {listed}."
            )
    allowed = {"dependent", "constant"} if tag == "InitialUnknowns" else {*kinds}
    for kind in sorted({*kinds} - allowed):
        yield f'the kind of dependency "{kind}" is not one for initial unknowns.'


def _variables(root: etree._Element) -> list[etree._Element]:
    return root.findall("ModelVariables/ScalarVariable")


def _title(variable: etree._Element) -> str:
    return f'The variable "{variable.get("name")}" (line {variable.sourceline})'


def _kind(variable: etree._Element) -> str:
    return str(variable[0].tag)


def _values(root: etree._Element, variable: etree._Element) -> dict[str, str]:
    """Attributes of a variable's type, with those of its declared type where it has none of its own."""
    own = {str(key): str(value) for key, value in variable[0].attrib.items()}
    if "declaredType" not in own:
        return own
    for declared in root.iterfind("TypeDefinitions/SimpleType"):
        if declared.get("name") == own["declaredType"]:
            return {str(key): str(value) for key, value in declared[0].attrib.items()} | own
    return own


def _initial(variable: etree._Element) -> str | None:
    """Return `initial`, or its default (FMI 2.0.4, table on p. 49)."""
    causality, variability = variable.get("causality", "local"), variable.get("variability", "continuous")
    if variable.get("initial") is not None or causality in ("input", "independent"):
        return variable.get("initial")
    return "exact" if causality == "parameter" or variability == "constant" else "calculated"


def _run_problems(path: pathlib.Path) -> list[str]:
    """Run the FMU in a process of its own, so that a crash is a problem of the FMU and not of ours.

    One for scheduled execution alone is not run: no host is here that activates its clocks.
    """
    import fmpy

    description = read(path)
    clocked = description.coSimulation is None and description.modelExchange is None
    if clocked or fmpy.platform not in fmpy.supported_platforms(str(path)):
        return []
    try:
        with tempfile.TemporaryDirectory(prefix="mbfmu-") as folder:  # it goes also where the run crashes
            unpack(path, folder)
            command = [sys.executable, "-c", _TRIAL, str(path), folder]
            trial = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return [f"The run of {STEPS} steps takes longer than {PATIENCE} s."]
    if trial.returncode == 0:
        return []
    if trial.returncode < 0:
        return [f"The run ends in a crash (signal {-trial.returncode})."]
    lines = [line for line in io.StringIO(trial.stderr) if line.strip()]
    return [lines[-1].strip().rpartition("ValidationError: ")[2] if lines else "The run fails without a message."]
