"""The one entry point from an assembly to an FMU."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import pathlib
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from mbfmu.arrays import derivative_name
from mbfmu.dynamics.showing.scene import Scene
from mbfmu.dynamics.system import System, check_assembly, without_collections
from mbfmu.errors import BuildError
from mbfmu.export import layered_dae, layered_wasm, native, python
from mbfmu.export.archive import Archive, build_date, replacing, temporary_folder
from mbfmu.export.arrays import Arrangement, arrange
from mbfmu.export.documentation import write_documentation
from mbfmu.export.fingerprint import fingerprint
from mbfmu.export.layered_ref import ReferenceExperiment, experiments_of, write_experiments
from mbfmu.export.model_description import Capabilities, model_description, model_identifier
from mbfmu.export.model_description_3 import build_description, model_description_3
from mbfmu.export.model_exchange import drifts, led_back, obstacle
from mbfmu.export.provenance import (
    FILE,
    TYPE,
    Uncertainty,
    check_uncertainty,
    licenses_of,
    parameters_digest,
    sources_of,
    write_provenance,
)
from mbfmu.fmi.libraries import platform_of
from mbfmu.modeling import Assembly
from mbfmu.runtime import arguments
from mbfmu.runtime.compilers import PLATFORMS, find_compiler, host_platform, own_work, require_compiler
from mbfmu.runtime.component import ready_component
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.references import value_references
from mbfmu.runtime.variables import ScalarVariable, matching
from mbfmu.scene.scene_file import SCENE_FILE, by_known_names, scene_file
from mbfmu.scene.visual_xml import visual_xml
from mbfmu.sources import resolved
from mbfmu.version import __version__

#: The targets, the preferred one first.
TARGETS = ("native", "python")

#: What a native FMU's equations are, the preferred kind first: C code compiled for it, or tapes that are interpreted.
EQUATIONS = ("compiled", "interpreted")

#: Models of more scalars than this do not show all of them by default: importers' lists end in the thousands.
LARGE = 5000

#: The versions of FMI, the preferred one first.
VERSIONS = (2, 3)

#: What interpretation costs, measured on the gallery.
_INTERPRETED = "runs 1.2 to 3 times slower than compiled"

#: What each target offers.
CAPABILITIES: dict[str, Capabilities] = {
    "native": native.CAPABILITIES,
    "python": dataclasses.replace(native.CAPABILITIES, needsExecutionTool=True),
}


@dataclasses.dataclass(frozen=True)
class Kind:
    """What `build` makes of its options: one of `TARGETS`, one of `EQUATIONS`, the platforms, and why it is so."""

    target: str
    equations: str
    platforms: tuple[str, ...]
    reason: str = ""

    def __str__(self) -> str:
        text = f"{self.target}: {', '.join(self.platforms)}, equations {self.equations}{self.reason}"
        return text if self.equations == "compiled" else f"{text}: {_INTERPRETED}"


def kind_of(target: str = "auto", equations: str = "auto", platforms: str | Sequence[str] | None = None) -> Kind:
    """Return what `build` makes of these options.

    Raises:
        BuildError: An option is unknown, or this cannot be made here.
    """
    target = TARGETS[0] if target == "auto" else target
    names = _platforms(target, platforms)
    kind = _equations(target, equations, names)
    reason = ""
    if target == "native" and equations == "auto" and kind == "interpreted":
        missing = [name for name in names if find_compiler(name) is None]
        reason = " (no C compiler)" if missing == names else f" (no C compiler for {', '.join(missing)})"
    return Kind(target, kind, tuple(names), reason)


def build(
    assembly: Assembly | System | str | os.PathLike[str],
    path: str | pathlib.Path | None = None,
    *,
    fmi: int = 2,
    target: str = "auto",
    equations: str = "auto",
    platforms: str | Sequence[str] | None = None,
    variables: str | Sequence[str] | None = None,
    sources: bool = False,
    wasm: bool = False,
    dae: bool = False,
    solver: str | None = None,
    fixed_step: float | None = None,
    energy: bool = False,
    experiment: bool | ReferenceExperiment | Sequence[ReferenceExperiment] = False,
    uncertainty: Mapping[str, Uncertainty] | None = None,
    progress: Callable[[str], None] | None = None,
) -> pathlib.Path:
    """Build an FMU, for co-simulation and, of native ones where it is sound, model exchange.

    Args:
        assembly: An Assembly, the System that was made of one, or what the command line takes: a name of the gallery, a
            path.
        path: File to write, or a folder for `NAME.fmu`; by default that is in the working directory. The file is there
            when it is complete, and not before.
        fmi: Version of FMI: 2 (2.0), or 3 (3.0).
        target: `native` (a C library, nothing needed where it runs), `python` (hosted by Python, which it needs where
            it runs), or `auto`: native.
        equations: Of a native FMU: `compiled` (C code, needs a compiler here), `interpreted` (needs none, runs at most
            three times slower), or `auto`: compiled where a C compiler is found for all platforms.
        platforms: Platforms of a native FMU, as a list or comma-separated: `linux64`, `win64`, `darwin64`,
            `aarch64-linux`, `aarch64-windows`, in words of FMI 3.0 as `x86_64-linux`, too, or `all`; by default that of
            this machine.
        variables: Patterns such as `body.*`, as a list or comma-separated: which local variables the FMU shows; the
            name of an array takes all of its elements. Parameters, start values, inputs and outputs are always there.
            By default it shows all; of models with more than `LARGE` scalars, parts of composites go without those of
            their connectors and of passed-on parameters (`*` keeps all).
        sources: Also put the C sources of a native FMU into it, so that importers can compile it for other platforms.
        wasm: Also put a WebAssembly component into an FMU of FMI 3.0, as the draft standard FMI-LS-WASM has it. Its
            equations are interpreted.
        dae: Also let importers of an FMU of FMI 3.0 for model exchange solve for iteration variables, the unknowns of
            equations without closed solution, as the draft standard FMI-LS-DAE has it. Others do not notice.
        solver: `explicit` (Dormand-Prince), `implicit` (for stiff models), or `auto`: explicit until the model turns
            out to be stiff; by default what the assembly says.
        fixed_step: Length of the integrator's steps, s, for real-time targets: no error control, no search for events,
            every step costs the same. `auto` is `explicit` then.
        energy: Add the variables energy and power. For assemblies, not for a System that is made already.
        experiment: Put reference experiments into the FMU, with their inputs and expected results (draft FMI-LS-REF):
            True for the default experiment, or a `ReferenceExperiment` or several. `mbfmu.validate` and others can run
            them again.
        uncertainty: Intervals by variable, which travel with the FMU's meta-data: `Fit.uncertainty()`,
            `Sweep.uncertainty()`, or your own.
        progress: Called with a sentence whenever something new begins.

    Returns:
        pathlib.Path: The file.

    Raises:
        ModelError: The assembly is wrong.
        BuildError: An option is unknown, the file cannot be written, there is no compiler, or it fails.
    """
    arguments.check_callback(progress, "progress")
    report = progress or _silent
    if fmi not in VERSIONS:
        raise BuildError(f"FMI {fmi!r} is unknown; there are {', '.join(map(str, VERSIONS))}.")
    if wasm and fmi != 3:
        raise BuildError("wasm: WebAssembly components are of FMI 3.0; choose fmi=3 (--fmi 3).")
    if dae and fmi != 3:
        raise BuildError("dae: algebraic variables are for importers of FMI 3.0; choose fmi=3 (--fmi 3).")
    for given, name in ((sources, "sources"), (wasm, "wasm"), (dae, "dae"), (energy, "energy")):
        if not isinstance(given, bool):
            raise BuildError(f"{name} = {given!r:.60}: it is True or False.")
    assembly = resolved(assembly)
    if not isinstance(assembly, System):
        check_assembly(assembly)
    made = kind_of(target, equations, platforms)
    experiments = experiments_of(experiment)
    target = made.target
    if target == "python" and sources:
        raise BuildError("sources: a python FMU has no C sources; choose the native target.")
    if target == "python" and wasm:
        raise BuildError("wasm: a python FMU has no WebAssembly component; choose the native target.")
    if energy and isinstance(assembly, System):
        raise BuildError("energy: the system is made already; make it with System.of(assembly, energy=True).")
    if solver not in (None, *SOLVERS):
        raise BuildError(f'solver "{solver}" is unknown; there are {", ".join(SOLVERS)}.')
    if fixed_step is not None and not isinstance(fixed_step, float):
        fixed_step = arguments.real(fixed_step, "fixed step")
    if fixed_step is not None and not 0 < fixed_step < math.inf:
        raise BuildError(f"fixed step {fixed_step:g} s: choose a positive number.")
    if wasm:
        ready_component()  # what is missing is told before the work
    file = arguments.path(path, "path") if path is not None else pathlib.Path()
    if file.is_dir():
        file /= f"{model_identifier(assembly.name)}.fmu"
    with without_collections(), replacing(file) as part, temporary_folder() as folder:
        report("Deriving the equations of motion")
        system = System.of(assembly, energy=energy, scene=True, progress=report)
        check_uncertainty(arguments.mapping(uncertainty, "uncertainty"), system.variables)
        record = system.equations
        if fixed_step is not None and fixed_step > record.stop_time - record.start_time:
            raise BuildError(
                f"fixed step {fixed_step:g} s: is longer than the whole experiment, {record.start_time:g} to "
                f"{record.stop_time:g} s; choose a shorter one."
            )
        record = dataclasses.replace(record, solver=solver or record.solver, fixed_step=fixed_step or 0.0)
        system = dataclasses.replace(system, equations=record)
        patterns = _split(variables)
        shown = select(system.variables, patterns) if patterns else without_inner_copies(system)
        if len(shown) < len(system.variables) and not patterns:
            report(f"Leaving out {len(system.variables) - len(shown)} inner variables (--variables '*' keeps all)")
        if fmi == 2:
            # FMI 2.0 can do without time, and importers around FMI Library report an error for it, whatever it is like.
            shown = tuple(variable for variable in shown if variable.causality != "independent")
        shown = with_own_derivatives(shown)
        if dae:
            shown = layered_dae.with_residuals(record, shown, system.variables, target)
        with Archive(part, build_date()) as archive:
            fill(folder, system, shown, fmi, made, sources, wasm, archive, report, experiments, dae)
            report("Writing the archive")
            inside = ["mbfmu", "pythonfmu"] if target == "python" else ["mbfmu"]
            write_provenance(
                folder, system.name, build_date(),
                {"kind": f"FMI {fmi}.0, {made}", "parameters.sha3-256": parameters_digest(shown)},
                sources_of(assembly), licenses_of(inside), uncertainty,
            )  # fmt: skip
            archive.add(folder)
    return file


def fill(
    folder: pathlib.Path,
    system: System,
    variables: Sequence[ScalarVariable],
    fmi: int,
    made: Kind,
    sources: bool,
    wasm: bool,
    archive: Archive,
    report: Callable[[str], None],
    experiments: Sequence[ReferenceExperiment] = (),
    dae: bool = False,
) -> None:
    """Write everything that an FMU contains into an empty folder, and in the archive what is there before libraries."""
    target, kind, platforms = made.target, made.equations, made.platforms
    identifier = model_identifier(system.name)
    equations, date = system.equations, build_date()
    hindrance = obstacle(equations) if target == "native" else "the python target is for co-simulation only"
    exchange = hindrance is None
    if exchange and drifts(equations):
        variables = led_back(equations, variables)
    arrangement = arrange(variables, equations.time_switches.count(False) if exchange else 0) if fmi == 3 else None
    scalars = variables if arrangement is None else arrangement.elements
    lengths = None if arrangement is None else arrangement.lengths
    references = value_references(variables) if arrangement is None else tuple(range(len(scalars)))
    visual = f"{identifier}_visual.xml" if system.scene is not None and system.scene.shapes else None
    with contextlib.ExitStack() as stack:
        written, compiling = None, {}
        if target == "native" and (sources or kind == "compiled"):
            report("Writing the equations in C")
            place = stack.enter_context(temporary_folder())
            written = native.Sources(equations, scalars, place, lengths)
            # Compilers are at work while the rest is written.
            for platform in platforms if kind == "compiled" else ():
                compiling[platform] = stack.enter_context(native.compilation(written, identifier, platform))
        writing = stack.enter_context(contextlib.ExitStack())
        if compiling:
            writing.enter_context(own_work())
        if written is not None:
            written.write_equations()
        guid = fingerprint(equations, scalars, references, f"{target} {kind} {fmi}")
        if written is not None:
            written.finish(guid)
        report("Describing the model")
        common: dict[str, Any] = {
            "identifier": identifier,
            "model_exchange": exchange,
            "date": date,
            "description": system.description,
            "figures": system.figures,
            "scene": visual,
        }
        if arrangement is not None:
            hosted = target == "python"
            description = model_description_3(equations, arrangement, token=guid, execution_tool=hosted, **common)
        else:
            named = written.units if sources and written is not None else ()
            offered = CAPABILITIES[target]
            description = model_description(
                equations, variables, references, guid=guid, capabilities=offered, source_files=named, **common
            )
        (folder / "modelDescription.xml").write_bytes(description)
        if dae and arrangement is not None:
            layered_dae.write_manifest(folder, equations, arrangement, description)
        facts = {
            "Interface": f"FMI {fmi}.0, co-simulation" + (" and model exchange" if exchange else ""),
            **({"Model exchange": f"left out, for {hindrance}"} if hindrance else {}),
            "Target": f"{target}, equations {kind}: {', '.join(platforms)}",
            **({"WebAssembly": f"FMI-LS-WASM {layered_wasm.VERSION} (draft), equations interpreted"} if wasm else {}),
            **({"Algebraic variables": f"FMI-LS-DAE {layered_dae.VERSION} (draft)"} if dae else {}),
            "Experiment": f"{equations.start_time:g} s to {equations.stop_time:g} s, tolerance {equations.tolerance:g}",
            "Integration": _integration(equations),
            "Built": (f"{date:%Y-%m-%d %H:%M:%S} UTC " if date else "") + f"with mbfmu {__version__}",
            "Identity": guid,
        }
        write_documentation(folder, system, variables, facts, target, arrangement)
        if system.scene is not None and visual is not None:
            _write_scene(folder, visual, system, system.scene, {variable.name for variable in scalars}, report)
        if experiments:
            report("Running reference experiments")
            outputs, inputs = _columns(variables, arrangement, "output"), _columns(variables, arrangement, "input")
            outputs = outputs or _columns(variables, arrangement, None)
            beside = f"../{FILE.removeprefix('extra/')}"
            about = {"type": TYPE, "source": beside, "role": "meta-data", "description": "Provenance"}
            write_experiments(folder, equations, system.variables, experiments, outputs, inputs, [about])
        if target == "python":
            report("Writing the Python target")
            python.write_python_target(folder, equations, scalars, identifier, guid, platforms, lengths)
            return
        if wasm and lengths is not None:
            report("Writing the WebAssembly component")
            layered_wasm.write_component(equations, scalars, identifier, guid, lengths, folder)
        if kind == "interpreted":
            report("Writing the equations as tapes")
            native.write_descriptor(equations, scalars, guid, folder / "resources", lengths)
            for platform in platforms:
                native.copy_library(identifier, folder, platform, fmi)
        if sources and written is not None:
            (folder / "sources").mkdir()
            for file in written.files:
                shutil.copyfile(file, folder / "sources" / file.name)
            if fmi == 3:
                (folder / "sources" / "buildDescription.xml").write_bytes(build_description(identifier, written.units))
        if compiling:
            archive.add(folder)
        writing.close()
        for platform, started in compiling.items():
            report(f"Compiling for {platform}")
            native.write_library(folder, platform, identifier, started, fmi)
        if fmi == 2:
            native.stand_in(folder, platforms)


def _write_scene(
    folder: pathlib.Path,
    visual: str,
    system: System,
    scene: Scene,
    known: Collection[str],
    report: Callable[[str], None],
) -> None:
    """Write how the system looks into the resources of an FMU: `visual`, which OpenModelica reads, and the scene."""
    (folder / "resources").mkdir(exist_ok=True)
    looks = by_known_names(scene, system.variables, known)
    (folder / "resources" / visual).write_bytes(visual_xml(looks, known).text)
    picture = scene_file(looks, system.components, known)
    (folder / SCENE_FILE).write_bytes(picture.text)
    for name, mesh in picture.meshes.items():
        target = (folder / SCENE_FILE).parent / name
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(mesh, target)
    if picture.left_out:
        report(f"Leaving out {len(picture.left_out)} shapes, whose variables or files are not there")


def _columns(
    variables: Sequence[ScalarVariable], arrangement: Arrangement | None, causality: str | None
) -> list[tuple[str, list[str]]]:
    """Variables of the FMU that have this causality, or are states, with the names of their scalars; no texts."""
    states = {variable.derivative_of for variable in variables}
    shown = [v for whole in arrangement.variables for v in (whole, *whole.aliases)] if arrangement else []
    listed = [(v.name, v.elements) for v in shown] if arrangement else [(v.name, (v,)) for v in variables]
    return [
        (name, [element.name for element in elements])
        for name, elements in listed
        if (elements[0].causality == causality if causality else elements[0].name in states)
        and elements[0].type != "String"
    ]


def _integration(equations: Equations) -> str:
    """Tell how the FMU integrates."""
    names = {"auto": "explicit, implicit where the model turns out to be stiff"}
    method = names.get(equations.solver, equations.solver)
    return f"{method}; fixed steps of {equations.fixed_step:g} s" if equations.fixed_step else method


def select(variables: Sequence[ScalarVariable], patterns: Sequence[str]) -> tuple[ScalarVariable, ...]:
    """Return the variables of the interface and those whose names, or whose arrays', match one of the patterns.

    The interface is whatever can be set, outputs, and the states with their derivatives. Without patterns, all
    variables are returned.

    Raises:
        BuildError: A pattern matches nothing.
    """
    if not patterns:
        return tuple(variables)
    names = {variable.name: variable.variable for variable in variables}
    chosen: set[str] = set()
    for pattern in patterns:
        found = matching(pattern, names)
        chosen.update(found)
        if not found:
            raise BuildError(f'variables "{pattern}": no variable has such a name; `mbfmu info` lists them.')
    states = {variable.derivative_of for variable in variables if variable.derivative_of}
    return tuple(
        variable
        for variable in variables
        if _belongs_to_interface(variable) or variable.name in states or variable.name in chosen
    )


def with_own_derivatives(variables: Sequence[ScalarVariable]) -> tuple[ScalarVariable, ...]:
    """Let no output be the derivative of a state as well: a local variable of the same value is it in its place.

    ModelStructure may list a variable as both, but importers such as CasADi take each variable for one purpose.
    """
    by_name = {variable.name: variable for variable in variables}
    found: list[ScalarVariable] = []
    for variable in variables:
        own = derivative_name(variable.derivative_of or "")
        if variable.causality != "output" or variable.derivative_of is None or own in by_name:
            found.append(variable)
            continue
        found.append(dataclasses.replace(variable, derivative_of=None))
        state = by_name[variable.derivative_of].element
        found.append(
            dataclasses.replace(
                variable, name=own, element=state and state.derivative,
                description=f"Derivative of {variable.derivative_of}", causality="local",
                initial="calculated", start=None, start_index=None, terminal=None,
            )
        )  # fmt: skip
    return tuple(found)


def without_inner_copies(system: System) -> tuple[ScalarVariable, ...]:
    """Return the variables that an FMU shows by default: all, but of large models.

    More than `LARGE` scalars make importers slow and their lists useless. Then parts of composites keep their own
    variables, but not those of their connectors, nor parameters that only pass on what the composite has. What the
    scene and figures take is kept.
    """
    if len(system.variables) <= LARGE:
        return system.variables
    seen = set(system.scene.variables) if system.scene else set()
    seen |= {curve.name for figure in system.figures for curve in figure.curves}
    inner = {path for path, _, _ in system.components if "." in path}
    connectors = {end for pair in system.connections for end in pair if end.rpartition(".")[0] in inner}
    states = {variable.derivative_of for variable in system.variables if variable.derivative_of}

    def is_shown(variable: ScalarVariable) -> bool:
        if variable.name in states or variable.name in seen:
            return True
        if variable.causality != "calculatedParameter" and _belongs_to_interface(variable):
            return True
        names = variable.name.split(".")
        paths = {".".join(names[:length]) for length in range(1, len(names))}
        passed_on = variable.causality == "calculatedParameter" and variable.start_index is None
        return not (paths & connectors or ((passed_on or variable.variability == "constant") and paths & inner))

    return tuple(variable for variable in system.variables if is_shown(variable))


def _belongs_to_interface(variable: ScalarVariable) -> bool:
    settable = variable.start_index is not None
    return (
        settable
        or variable.derivative_of is not None
        or variable.causality in ("parameter", "input", "output", "independent")
    )


def _platforms(target: str, platforms: str | Sequence[str] | None) -> list[str]:
    """Return the platforms that an FMU is for."""
    if target not in TARGETS:
        raise BuildError(f'target "{target}" is unknown; there are auto, {", ".join(TARGETS)}.')
    if target == "python":
        if platforms is not None:
            raise BuildError("platforms: a python FMU runs wherever the runtime's libraries are; leave the option out.")
        return python.platforms()
    names = _split(platforms) or [host_platform()]
    return list(PLATFORMS) if names == ["all"] else list(dict.fromkeys(map(platform_of, names)))


def _equations(target: str, kind: str, platforms: Sequence[str]) -> str:
    """Return what the equations become; what cannot be made is told before any work."""
    if kind not in ("auto", *EQUATIONS):
        raise BuildError(f'equations "{kind}" are unknown; there are auto, {", ".join(EQUATIONS)}.')
    if target == "python":
        if kind == "compiled":
            raise BuildError(
                "equations: those of a python FMU are interpreted; choose the native target for compiled ones."
            )
        return "interpreted"
    if kind == "auto":
        kind = "compiled" if all(find_compiler(platform) for platform in platforms) else "interpreted"
    for platform in platforms:
        if kind == "compiled":
            require_compiler(platform)
        else:
            native.ready_library(platform)
    return kind


def _split(names: str | Sequence[str] | None) -> list[str]:
    """Return names that are given as a list or comma-separated as a list."""
    listed = (
        names.split(",") if isinstance(names, str) else arguments.names(() if names is None else names, "variables")
    )
    return [name.strip() for name in listed if name.strip()]


def _silent(text: str) -> None:
    """Take no notice."""
