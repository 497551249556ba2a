"""The one entry point from an assembly to an FMU."""

from __future__ import annotations

import dataclasses
import math
import pathlib
import re
import sys
from collections.abc import Callable, Sequence

import mbfmu
from mbfmu.dynamics.system import System
from mbfmu.dynamics.variables import ScalarVariable
from mbfmu.errors import BuildError
from mbfmu.export import native, python
from mbfmu.export.archive import build_date, replacing, temporary_folder, write_archive
from mbfmu.export.compilers import PLATFORMS, find_compiler, host_platform, require_compiler
from mbfmu.export.documentation import write_documentation
from mbfmu.export.fingerprint import fingerprint
from mbfmu.export.model_description import Capabilities, model_description, model_identifier
from mbfmu.export.model_exchange import obstacle
from mbfmu.export.references import value_references
from mbfmu.modeling import Assembly
from mbfmu.simulation.equations import SOLVERS, Equations

#: The targets, the preferred one first.
TARGETS = ("native", "python")

#: What each target offers.
CAPABILITIES = {"native": native.CAPABILITIES, "python": Capabilities(needsExecutionTool=True)}


def available_targets() -> list[str]:
    """Return the targets that this machine can build, the preferred one first."""
    return [target for target in TARGETS if target != "native" or find_compiler() is not None]


def build(
    assembly: Assembly | System,
    path: str | pathlib.Path | None = None,
    *,
    target: str = "auto",
    platforms: str | Sequence[str] | None = None,
    variables: str | Sequence[str] | None = None,
    sources: bool = False,
    solver: str | None = None,
    fixed_step: float | None = None,
    energy: bool = False,
    progress: Callable[[str], None] | None = None,
) -> pathlib.Path:
    """Build an FMI 2.0 FMU, for co-simulation and, of native ones where it is sound, model exchange.

    Parameters
    ----------
    assembly
        An Assembly, or the System that was made of one.
    path
        File to write, or a folder for `NAME.fmu`; by default that is in the working directory. The file is there when
        it is complete, and not before.
    target
        `native` (C, compiled here, nothing needed where it runs), `python` (needs Python with numpy, scipy and casadi
        where it runs), or `auto`: native where a C compiler is found, else python.
    platforms
        Platforms of a native FMU, as a list or comma-separated: `linux64`, `win64`, `darwin64`, or `all`; by default
        that of this machine.
    variables
        Patterns such as `body.*`, as a list or comma-separated: which local variables the FMU shows. Parameters,
        start values, inputs and outputs are always there. By default it shows all.
    sources
        Also put the C sources of a native FMU into it, so that importers can compile it for other platforms.
    solver
        `explicit` (Dormand-Prince), `implicit` (for stiff models), or `auto`: explicit until the model turns out to be
        stiff; by default what the assembly says.
    fixed_step
        Length of the integrator's steps, s, for real-time targets: no error control, no search for events, every step
        costs the same. `auto` is `explicit` then. For native FMUs only.
    energy
        Add the variables energy and power. For assemblies, not for a System that is made already.
    progress
        Called with a sentence whenever something new begins.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    ModelError
        The assembly is wrong.
    BuildError
        An option is unknown, the file cannot be written, there is no compiler, or it fails.
    """
    report = progress or _silent
    target, names = _target(target, platforms)
    if target == "python" and sources:
        raise BuildError("sources: a python FMU has no C sources; choose the native target.")
    if energy and isinstance(assembly, System):
        raise BuildError("energy: the system is made already; make it with System.of(assembly, energy=True).")
    if solver not in (None, *SOLVERS):
        raise BuildError(f'solver "{solver}" is unknown; there are {", ".join(SOLVERS)}.')
    if fixed_step is not None and not 0 < fixed_step < math.inf:
        raise BuildError(f"fixed step {fixed_step:g} s: choose a positive number.")
    if fixed_step is not None and target == "python":
        raise BuildError("fixed step: a python FMU has an adaptive integrator only; choose the native target.")
    file = pathlib.Path(path) if path is not None else pathlib.Path()
    if file.is_dir():
        file /= f"{model_identifier(assembly.name)}.fmu"
    with replacing(file) as part, temporary_folder() as folder:
        report("Deriving the equations of motion")
        system = System.of(assembly, energy=energy)
        equations = system.equations
        equations = dataclasses.replace(equations, solver=solver or equations.solver, fixed_step=fixed_step or 0.0)
        system = dataclasses.replace(system, equations=equations)
        fill(folder, system, select(system.variables, _split(variables)), target, names, sources, report)
        report("Writing the archive")
        write_archive(folder, part, build_date())
    return file


def fill(
    folder: pathlib.Path,
    system: System,
    variables: Sequence[ScalarVariable],
    target: str,
    platforms: Sequence[str],
    sources: bool,
    report: Callable[[str], None],
) -> None:
    """Write everything that an FMU contains into an empty folder; `platforms` are those of the native target."""
    identifier = model_identifier(system.name)
    equations, references = system.equations, value_references(variables)
    guid = fingerprint(equations, variables, references, target)
    hindrance = obstacle(equations) if target == "native" else "the python target is for co-simulation only"
    exchange = hindrance is None
    report("Describing the model")
    description = model_description(
        equations,
        variables,
        references,
        identifier=identifier,
        guid=guid,
        capabilities=CAPABILITIES[target],
        model_exchange=exchange,
        date=build_date(),
        description=system.description,
        source_files=native.SOURCE_FILES if sources else (),
    )
    (folder / "modelDescription.xml").write_bytes(description)
    facts = {
        "Interface": "FMI 2.0, co-simulation and model exchange" if exchange else "FMI 2.0, co-simulation",
        **({"Model exchange": f"left out, for {hindrance}"} if hindrance else {}),
        "Target": f"native: {', '.join(platforms)}" if target == "native" else "python (with numpy, scipy and casadi)",
        "Experiment": f"{equations.start_time:g} s to {equations.stop_time:g} s, tolerance {equations.tolerance:g}",
        "Integration": _integration(equations),
        "Built": f"{build_date():%Y-%m-%d %H:%M:%S} UTC with mbfmu {mbfmu.__version__}",
        "Identity": guid,
    }
    write_documentation(folder, system, variables, facts, target)
    if target == "python":
        report("Writing the Python target")
        python.write_python_target(folder, equations, variables, references, identifier, guid)
    if sources:
        (folder / "sources").mkdir()
        native.write_sources(equations, variables, guid, folder / "sources")
    for platform in platforms:
        report(f"Compiling for {platform}")
        native.build_library(equations, variables, identifier, guid, folder, platform=platform)


def _integration(equations: Equations) -> str:
    """Tell how the FMU integrates."""
    names = {"auto": "explicit, implicit where the model turns out to be stiff"}
    method = names.get(equations.solver, equations.solver)
    return f"{method}; fixed steps of {equations.fixed_step:g} s" if equations.fixed_step else method


def select(variables: Sequence[ScalarVariable], patterns: Sequence[str]) -> tuple[ScalarVariable, ...]:
    """Return the variables of the interface and those whose names match one of the patterns (`*` and `?`).

    The interface is whatever can be set, outputs, and the states with their derivatives. Without patterns, all
    variables are returned.

    Raises
    ------
    BuildError
        A pattern matches nothing.
    """
    if not patterns:
        return tuple(variables)
    expressions = {pattern: _expression(pattern) for pattern in patterns}
    for pattern, expression in expressions.items():
        if not any(expression.fullmatch(variable.name) for variable in variables):
            raise BuildError(f'variables "{pattern}": no variable has such a name; `mbfmu info` lists them.')
    states = {variable.derivative_of for variable in variables if variable.derivative_of}
    return tuple(
        variable
        for variable in variables
        if _belongs_to_interface(variable)
        or variable.name in states
        or any(expression.fullmatch(variable.name) for expression in expressions.values())
    )


def _belongs_to_interface(variable: ScalarVariable) -> bool:
    settable = variable.start_index is not None
    return (
        settable
        or variable.derivative_of is not None
        or variable.causality in ("parameter", "input", "output", "independent")
    )


def _expression(pattern: str) -> re.Pattern[str]:
    """Brackets belong to the names of variables, so that only `*` and `?` are wildcards."""
    return re.compile(re.escape(pattern).replace(r"\*", ".*").replace(r"\?", "."))


def _target(target: str, platforms: str | Sequence[str] | None) -> tuple[str, list[str]]:
    """Return `native` or `python`, and the platforms that a native FMU is compiled for."""
    if target not in ("auto", *TARGETS):
        raise BuildError(f'target "{target}" is unknown; there are auto, {", ".join(TARGETS)}.')
    if target == "auto" and platforms is None:
        target = available_targets()[0]
        if target == "python":
            print("mbfmu: no C compiler found, building the python target instead of the native one", file=sys.stderr)
    if target == "python":
        if platforms is not None:
            raise BuildError("platforms: a python FMU runs on linux64 and win64 at once; leave the option out.")
        return target, []
    names = _split(platforms) or [host_platform()]
    names = list(PLATFORMS) if names == ["all"] else names
    for name in names:
        require_compiler(name)  # a missing compiler is told before any work
    return "native", names


def _split(names: str | Sequence[str] | None) -> list[str]:
    """Return names that are given as a list or comma-separated as a list."""
    listed = names.split(",") if isinstance(names, str) else names or ()
    return [name.strip() for name in listed if name.strip()]


def _silent(text: str) -> None:
    """Take no notice."""
