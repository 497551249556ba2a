"""The one entry point from an assembly to an FMU."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence

from mbfmu.dynamics.system import System, check_assembly, without_collections
from mbfmu.errors import BuildError
from mbfmu.export import layered_dae
from mbfmu.export.archive import Archive, build_date, replacing, temporary_folder
from mbfmu.export.contents import Contents
from mbfmu.export.layered_ref import ReferenceExperiment
from mbfmu.export.model_description import model_identifier
from mbfmu.export.options import BuildOptions, check_flag
from mbfmu.export.provenance import (
    Uncertainty,
    check_uncertainty,
    licenses_of,
    parameters_digest,
    sources_of,
    write_provenance,
)
from mbfmu.export.selection import shown_of
from mbfmu.modeling import Assembly
from mbfmu.runtime import arguments
from mbfmu.sources import resolved


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
    check_flag(energy, "energy")
    options = BuildOptions.of(
        fmi=fmi, target=target, equations=equations, platforms=platforms, variables=variables, sources=sources,
        wasm=wasm, dae=dae, solver=solver, fixed_step=fixed_step, experiment=experiment,
    )  # fmt: skip
    assembly = resolved(assembly)
    if not isinstance(assembly, System):
        check_assembly(assembly)
    elif energy:
        raise BuildError("energy: the system is made already; make it with System.of(assembly, energy=True).")
    file = arguments.path(path, "path") if path is not None else pathlib.Path()
    if file.is_dir():
        file /= f"{model_identifier(assembly.name)}.fmu"
    with without_collections(), replacing(file) as part, temporary_folder() as folder:
        report("Deriving the equations of motion")
        system = System.of(assembly, energy=energy, scene=True, progress=report)
        check_uncertainty(arguments.mapping(uncertainty, "uncertainty"), system.variables)
        system = dataclasses.replace(system, equations=options.applied(system.equations))
        shown = shown_of(system, options.variables, fmi, report)
        if dae:
            shown = layered_dae.with_residuals(system.equations, shown, system.variables, options.kind.target)
        with Archive(part, build_date()) as archive:
            Contents.of(system, shown, options, report).write(folder, archive)
            report("Writing the archive")
            write_provenance(
                folder, system.name, build_date(),
                {"kind": f"FMI {fmi}.0, {options.kind}", "parameters.sha3-256": parameters_digest(shown)},
                sources_of(assembly), licenses_of(options.kind.packages), uncertainty,
            )  # fmt: skip
            archive.add(folder)
    return file


def _silent(text: str) -> None:
    """Take no notice."""
