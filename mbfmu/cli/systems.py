"""Systems of FMUs on the command line: their elements, and what is done with whole ones (.ssp, or a system's TOML)."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pathlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbfmu import printing
from mbfmu.errors import MbfmuError, ModelError

if TYPE_CHECKING:
    from mbfmu.cosimulation import CoupledResult, Package
    from mbfmu.cosimulation.system_file import SystemFile
    from mbfmu.modeling import Assembly
    from mbfmu.runtime.variables import ScalarVariable
    from mbfmu.scene.page import Recorded


@dataclasses.dataclass(frozen=True)
class System:
    """Elements by name, assemblies or paths of FMUs, and what is known of their coupling."""

    name: str
    elements: dict[str, Assembly | str]
    connect: list[tuple[str, str]] | None
    stop_time: float | None
    #: Length of the communication steps that it asks for, s, and own ones of some elements.
    step: float | None
    steps: Mapping[str, float]


def read_elements(elements: Sequence[str], connect: Sequence[str]) -> System:
    """Return the system of `[name=]source` arguments, or of the one system file among them.

    `connect` are pairs `a.flange=b.flange`; they come on top of those of a system file.

    Raises:
        ModelError: A source or system file is wrong, or two elements have the same name.
    """
    from mbfmu import sources
    from mbfmu.cosimulation.system_file import SystemFile

    pairs = [_pair(text) for text in connect]
    described = _system_file(elements)
    if described is None:
        found = [sources.named(text) for text in elements]
        names = [name for name, _ in found]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"{name}: two elements have this name; write left={name} right={name}")
        described = SystemFile("_".join(names), dict(found), None, None)
    loaded = {
        name: source if source.endswith(".fmu") else sources.load(source) for name, source in described.elements.items()
    }
    joined = [*(described.connect or []), *pairs]
    connect_to = joined or described.connect
    return System(described.name, loaded, connect_to, described.stop_time, described.step, described.steps)


def _system_file(elements: Sequence[str]) -> SystemFile | None:
    if len(elements) == 1 and elements[0].endswith(".toml"):
        from mbfmu.cosimulation.system_file import read_system

        return read_system(pathlib.Path(elements[0]))
    return None


def _pair(text: str) -> tuple[str, str]:
    a, _, b = text.partition("=")
    if not (a.strip() and b.strip()):
        raise ModelError(f"--connect {text}: write it as A.FLANGE=B.FLANGE, for example powertrain.axis1=car.axis1")
    return a.strip(), b.strip()


def is_system(source: str) -> bool:
    """Is that a package, or a TOML file with a table `elements`?"""
    path = pathlib.Path(source)
    if path.suffix == ".toml" and path.is_file():
        from mbfmu.cosimulation.system_file import read_system

        return read_system(path) is not None
    return path.suffix == ".ssp"


@contextlib.contextmanager
def open_system(source: str, progress: Callable[[str], None]) -> Iterator[Package]:
    """Read a system; FMUs of its assemblies are built, and kept for as long as the context lives.

    Raises:
        MbfmuError: Something of it cannot be read, built or connected.
    """
    from mbfmu.cosimulation import Package, SystemStructure, open_package
    from mbfmu.modeling import Assembly

    if source.endswith(".ssp"):
        with open_package(source) as package:
            yield package
        return
    system = read_elements([source], [])
    with tempfile.TemporaryDirectory(prefix="mbfmu-system-") as folder:
        files = {}
        for name, element in system.elements.items():
            if isinstance(element, Assembly):
                from mbfmu.export.build import build

                files[name] = pathlib.Path(folder) / f"{name}.fmu"
                build(element, files[name], progress=functools.partial(_told, progress, name))
            else:
                files[name] = pathlib.Path(element)
        structure = SystemStructure.of(files, system.connect, system.name)
        yield Package(structure, {}, None, system.stop_time, (), system.step, system.steps)


@contextlib.contextmanager
def opened(source: str) -> Iterator[Package]:
    """Read a system, with what goes on shown, and tell what was left out."""
    with contextlib.ExitStack() as stack:
        with printing.working("Reading the system") as progress:
            package = stack.enter_context(open_system(source, progress))
        for note in package.notes:
            printing.warned(note)
        yield package


def _told(progress: Callable[[str], None], name: str, text: str) -> None:
    progress(f"{name}: {text}")


@dataclasses.dataclass(frozen=True)
class Stepping:
    """How a system is stepped, as on the command line; what is None is left to `cosimulate`."""

    start: float | None = None
    stop: float | None = None
    #: Of all elements, or `element=`s.
    communication_step: Sequence[str] = ()
    longest: float | None = None
    tolerance: float | None = None
    inputs: pathlib.Path | None = None
    held: bool = False
    scheme: str | None = None
    threads: int | None = None
    processes: bool = False
    limit: float | None = None

    def steps(self, package: Package) -> tuple[float | None, dict[str, float]]:
        """Length of all communication steps [s], None where a tolerance chooses it, and own ones of some elements.

        Those of the package count where nothing else is said of steps.

        Raises:
            MbfmuError: One is no number, or given twice.
        """
        from mbfmu.runtime.arguments import number_in

        given: dict[str, float] = {}
        for text in self.communication_step:
            element, _, number = text.rpartition("=")
            if element.strip() in given:
                raise MbfmuError(f"--communication-step {text}: is given twice; leave one of them out")
            try:
                given[element.strip()] = number_in(number)
            except ValueError:
                raise MbfmuError(
                    f"--communication-step {text}: {number!r} is no number; write 0.001, or car=0.01 for one element"
                ) from None
        if "" in given:
            return given.pop(""), given
        if given or (self.tolerance is None and self.longest is None):
            return package.step, {**package.steps, **given}
        return None, {}

    @property
    def of_systems(self) -> dict[str, Any]:
        """What is for systems of FMUs alone."""
        names = ("communication_step", "scheme", "threads", "processes", "limit")
        return {name: getattr(self, name) for name in names}


#: Options of one model that a system has no use for, and why.
_OF_MODELS = {
    "solver": "FMUs bring their own integrators",
    "events": "FMUs do not tell what switches in them",
    "live": "a live page runs one model; animate an element of it",
    "equations": "FMUs do not show their equations",
    "parameter": "they are for runs",
}


def check_options(source: str, how: Stepping, others: Mapping[str, Any]) -> bool:
    """Refuse options that are for models alone where a source is a system, and those of systems where it is none.

    Returns:
        bool: Is it a system?

    Raises:
        MbfmuError: One of them is given.
    """
    system = is_system(source)
    for name, value in (others if system else how.of_systems).items():
        if value is None or value is False or (isinstance(value, Sequence) and not value):
            continue
        option = f"--{name.replace('_', '-')}"
        if system:
            why = _OF_MODELS.get(name, "is for sources in other formats")
            raise MbfmuError(f"{option}: {source} is a system of FMUs, and {why}; leave it out")
        raise MbfmuError(f"{option}: is for systems of FMUs, and {source} is none; leave it out")
    return system


def simulate_system(
    package: Package,
    settings: Sequence[str],
    how: Stepping,
    outputs: Sequence[str] | None,
    progress: Callable[[float], None] | None = None,
) -> CoupledResult:
    """Run a system: with steps of one length, or as long as the tolerance allows."""
    from mbfmu import sources
    from mbfmu.cosimulation import SCHEMES, cosimulate

    step, steps = how.steps(package)
    values = dict(package.start_values)
    for name, value in sources.parse_settings(settings).items():
        values |= dict.fromkeys(package.structure.inputs.get(name, (name,)), value)
    return cosimulate(
        package.structure,
        step=step,
        steps=steps,
        scheme=how.scheme or SCHEMES[0],
        inputs="best",
        start_time=_start(package, how),
        stop_time=package.stop_time if how.stop is None else how.stop,
        tolerance=how.tolerance,
        longest=how.longest,
        start_values=values,
        signals=how.inputs,
        interpolation="held" if how.held else "linear",
        outputs=outputs,
        threads=1 if how.threads is None else how.threads,
        processes=how.processes,
        limit=how.limit,
        progress=progress,
    )


def _start(package: Package, how: Stepping) -> float:
    return (package.start_time or 0.0) if how.start is None else how.start


def variables_of(package: Package) -> list[ScalarVariable]:
    """Variables of all elements, `element.variable` each."""
    from mbfmu.fmi.foreign import scalar_variable
    from mbfmu.fmi.variables import scalars_of

    return [
        dataclasses.replace(scalar_variable(scalar), name=f"{element}.{scalar.name}", element=None)
        for element, description in package.structure.descriptions.items()
        for scalar in scalars_of(description)
    ]


def facts_of(package: Package) -> dict[str, Any]:
    """What `mbfmu info` tells of a system."""
    from mbfmu.cosimulation.loops import links_on_loops

    structure = package.structure
    followed = {c.end for c in structure.connections}
    return {
        "name": structure.name,
        "elements": [
            {
                "name": name,
                "model": description.modelName,
                "fmiVersion": description.fmiVersion,
                "savesStates": bool(getattr(description.coSimulation, "canGetAndSetFMUstate", False)),
                "givesDerivatives": bool(getattr(description.coSimulation, "providesDirectionalDerivative", False)),
            }
            for name, description in structure.descriptions.items()
        ],
        "connections": [{"start": c.start, "end": c.end} for c in structure.connections],
        "openInputs": [
            f"{name}.{v.name}"
            for name, description in structure.descriptions.items()
            for v in description.modelVariables
            if v.causality == "input" and f"{name}.{v.name}" not in followed
        ],
        "inputs": {name: list(paths) for name, paths in structure.inputs.items()},
        "startValues": package.start_values,
        "loops": links_on_loops(structure),
        "shafts": [shaft.name for shaft in structure.shafts],
        "stopTime": package.stop_time,
        "step": package.step,
        "steps": dict(package.steps),
        "notes": list(package.notes),
    }


def problems_of(path: pathlib.Path) -> list[str]:
    """What is wrong with a package, one sentence each: its description, its FMUs, its connections, and a short run."""
    from lxml import etree

    from mbfmu.cosimulation import cosimulate, open_package
    from mbfmu.fmi.archive import PACKAGE, archive_problems, open_fmu
    from mbfmu.validation import PATIENCE, validate

    _, root = open_fmu(path, PACKAGE)
    problems = list(archive_problems(path))
    if problems:
        return problems
    if root.get("version") == "1.0":
        import fmpy

        schema = etree.XMLSchema(file=pathlib.Path(fmpy.__file__).parent / "ssp/schema/SystemStructureDescription.xsd")
        if not schema.validate(root):
            problems += [f"SystemStructure.ssd, line {e.line}: {e.message}" for e in schema.error_log]
    try:
        with open_package(path) as package:
            for name, file in package.structure.files.items():
                problems += [f"{name}: {problem}" for problem in validate(file)]
            if not problems:
                start = package.start_time or 0.0
                stop = start + 0.01 * ((package.stop_time or start + 1.0) - start)
                cosimulate(
                    package.structure, step=(stop - start) / 10, start_time=start, stop_time=stop,
                    start_values=package.start_values, processes=True, limit=PATIENCE,
                )  # fmt: skip
    except MbfmuError as error:
        problems.append(str(error).replace(f"{path}: ", "", 1))
    return problems


def record_system(
    package: Package,
    target: pathlib.Path,
    settings: Sequence[str],
    how: Stepping,
    progress: Callable[[float], None] | None = None,
) -> Recorded:
    """Run a system with what an animation takes: what its FMUs that have scenes draw, in one world."""
    from mbfmu.animation import read_subject
    from mbfmu.fmi.foreign import Foreign
    from mbfmu.scene.page import Recorded
    from mbfmu.scene.subject import together
    from mbfmu.scene.writing import needed_variables

    structure = package.structure
    fmus = {name: Foreign(file) for name, file in structure.files.items()}
    subjects, without = {}, []
    for name, fmu in fmus.items():
        try:
            subjects[name] = read_subject(fmu)
        except MbfmuError as error:
            without.append(f"{name}: {error}")
    if not subjects:
        raise MbfmuError(f"{structure.name}: no FMU of it has a scene; {without[0]}")
    whole = together(structure.name, subjects)
    start = _start(package, how)
    end = (package.stop_time if how.stop is None else how.stop) or start + 1.0
    if how.steps(package)[0] is None and how.longest is None:
        how = dataclasses.replace(how, longest=(end - start) / 300)
    how = dataclasses.replace(how, stop=end)
    result = simulate_system(package, settings, how, needed_variables(whole, target), progress)
    return Recorded(whole, result, kept=fmus)
