"""Checks of a finished FMU of FMI 2.0 or 3.0: the schema and FMPy's rules, rules that FMPy does not know, and a run."""

from __future__ import annotations

import io
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from lxml import etree

from mbfmu.errors import ValidationError
from mbfmu.export import layered_wasm
from mbfmu.fmi import experiments, trial
from mbfmu.fmi.archive import archive_problems, content, open_fmu, unpack
from mbfmu.fmi.description import IDENTIFIER, read_description
from mbfmu.fmi.libraries import PLATFORMS_3, REQUIRED, REQUIRED_3, exported_functions, processor_of
from mbfmu.fmi.rules import description_problems, is_known, schema_violations
from mbfmu.markup import xml_root
from mbfmu.runtime.compilers import PLATFORMS
from mbfmu.runtime.component import exported_names

#: Time that a trial run may take, in s.
PATIENCE = 120

BUILD_DESCRIPTION = "sources/buildDescription.xml"
TERMINALS = "terminalsAndIcons/terminalsAndIcons.xml"

#: A function of two arguments, with its module, in a process of its own.
_TRIAL = "import sys; from {} import {} as trial; trial(*sys.argv[1:])"


def validate(path: str | pathlib.Path, run: bool = True) -> list[str]:
    """Return what is wrong with an FMU, one sentence each; an empty list where nothing is.

    Args:
        path: The FMU.
        run: Also run it for a few steps and repeat the reference experiments that it holds (draft FMI-LS-REF), in
            processes of their own, where it has a binary for this machine.

    Raises:
        ValidationError: The file is not an FMU.
    """
    path = pathlib.Path(path)
    names, root = open_fmu(path)
    problems = list(archive_problems(path))
    if problems:
        return problems
    if is_known(root):
        problems += description_problems(root)
        problems += _content_problems(root, names)
        problems += _build_description_problems(path, names)
        problems += _binary_problems(path, root, names)
        problems += _component_problems(path, root, names)
        problems += _terminal_problems(path, root, names)
    problems = problems or _fmpy_problems(path)
    if run and not problems:
        problems = _run_problems(path, trial.run, f"The run of {trial.STEPS} steps")
    if f"{experiments.FOLDER}/{experiments.MANIFEST}" in names and not problems:
        problems = _experiment_problems(path) or (
            _run_problems(path, replay, "Running the reference experiments again") if run else []
        )
    return problems


def replay(path: str | pathlib.Path, folder: str) -> None:
    """Repeat the reference experiments of an FMU, which is unpacked in a folder, in this process.

    Raises:
        ValidationError: Results differ from those that are expected.
    """
    problems = [
        text
        for each in experiments.transients(pathlib.Path(folder))
        for text in experiments.replay(pathlib.Path(path), each)
    ]
    if problems:
        more = f" ({len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ValidationError(problems[0] + more)


def _experiment_problems(path: pathlib.Path) -> list[str]:
    """The manifest of FMI-LS-REF, and the files that it names."""
    with tempfile.TemporaryDirectory(prefix="mbfmu-") as folder:
        unpack(path, folder)
        try:
            list(experiments.transients(pathlib.Path(folder)))
        except ValidationError as error:
            return [str(error)]
    return []


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
                found = content(archive, name)
            exported = exported_functions(found)
            if exported is None:
                yield f'The binary "{name}" is no shared library for its platform.'
            elif not _may_be_for(name, found):
                yield f'The binary "{name}" is for another processor, {processor_of(found)}.'
            elif missing := sorted(required - exported):
                yield f'The binary "{name}" does not export {", ".join(missing)}, which {interface} needs.'


def _may_be_for(name: str, library: bytes) -> bool:
    """Is a library for the processor that its folder names? FMI 2.0's own words are taken for others than x86, too."""
    named = re.match("binaries/(x86_64|aarch64)-(linux|windows)/", name)
    return named is None or processor_of(library) in (None, named[1])


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
                exported = exported_names(content(archive, name))
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
                    tree = xml_root(content(archive, name))
                except etree.XMLSyntaxError as error:
                    yield f"{name} is not XML ({error})."
                    continue
            yield from schema_violations(tree, "fmi3/fmi3LayeredStandardManifest.xsd", name)


def _terminal_problems(path: pathlib.Path, root: etree._Element, names: list[str]) -> Iterator[str]:
    """Schema of terminalsAndIcons.xml, and the variables that its terminals name (FMI 3.0, section 2.4.9)."""
    if TERMINALS not in names:
        return
    with zipfile.ZipFile(path) as archive:
        try:
            terminals = xml_root(content(archive, TERMINALS))
        except etree.XMLSyntaxError as error:
            yield f"{TERMINALS} is not XML ({error})."
            return
    yield from schema_violations(terminals, "fmi3/fmi3TerminalsAndIcons.xsd", TERMINALS)
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
            description = xml_root(content(archive, BUILD_DESCRIPTION))
        except etree.XMLSyntaxError as error:
            yield f"{BUILD_DESCRIPTION} is not XML ({error})."
            return
    yield from schema_violations(description, "fmi3/fmi3BuildDescription.xsd", BUILD_DESCRIPTION)
    for source in description.iterfind(".//SourceFile"):
        if f"sources/{source.get('name')}" not in names:
            yield f'The source file "sources/{source.get("name")}" is listed, but not in the archive.'


def _runs_here(path: pathlib.Path, description: Any) -> bool:
    """Is there a library for this machine where FMPy looks for one?"""
    import fmpy

    if fmpy.platform not in fmpy.supported_platforms(str(path)):
        return False
    folder = fmpy.platform if description.fmiVersion == "2.0" else fmpy.platform_tuple
    with zipfile.ZipFile(path) as archive:
        names = [n for n in archive.namelist() if re.fullmatch(rf"binaries/{folder}/[^/]+\.(so|dll|dylib)", n)]
        processors = {processor_of(content(archive, name)) for name in names}
    return bool(names) and processors <= {fmpy.architecture, None}


def _run_problems(path: pathlib.Path, function: Callable[[pathlib.Path, str], None], what: str) -> list[str]:
    """Run the unpacked FMU by a function, in a process of its own: a crash is a problem of the FMU, not of ours.

    One for scheduled execution alone is not run: no host is here that activates its clocks.
    """
    description = read_description(path)
    clocked = description.coSimulation is None and description.modelExchange is None
    if clocked or not _runs_here(path, description):
        return []
    try:
        with tempfile.TemporaryDirectory(prefix="mbfmu-") as folder:  # it goes also where the run crashes
            unpack(path, folder)
            program = _TRIAL.format(function.__module__, function.__name__)
            command = [sys.executable, "-c", program, str(path), folder]
            done = subprocess.run(  # what an FMU prints may be in any encoding
                command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False
            )
    except subprocess.TimeoutExpired:
        return [f"{what} takes longer than {PATIENCE} s."]
    if done.returncode == 0:
        return []
    if done.returncode < 0:
        return [f"The run ends in a crash (signal {-done.returncode})."]
    lines = [line for line in io.StringIO(done.stderr) if line.strip()]
    return [lines[-1].strip().rpartition("ValidationError: ")[2] if lines else "The run fails without a message."]
