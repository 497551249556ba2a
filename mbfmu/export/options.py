"""What an FMU is to be: the options of `build`, checked before any work."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from mbfmu.errors import BuildError
from mbfmu.export import native, python
from mbfmu.export.layered_ref import ReferenceExperiment, experiments_of
from mbfmu.fmi.libraries import platform_of
from mbfmu.runtime import arguments
from mbfmu.runtime.compilers import PLATFORMS, find_compiler, host_platform, require_compiler
from mbfmu.runtime.component import ready_component
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.equations import Equations

#: The targets, the preferred one first.
TARGETS = ("native", "python")

#: What a native FMU's equations are, the preferred kind first: C code compiled for it, or tapes that are interpreted.
EQUATIONS = ("compiled", "interpreted")

#: The versions of FMI, the preferred one first.
VERSIONS = (2, 3)

#: What interpretation costs, measured on the gallery.
_INTERPRETED = "runs 1.2 to 3 times slower than compiled"


@dataclasses.dataclass(frozen=True)
class Kind:
    """What `build` makes of its options: one of `TARGETS`, one of `EQUATIONS`, the platforms, and why it is so."""

    target: str
    equations: str
    platforms: tuple[str, ...]
    reason: str = ""

    @property
    def packages(self) -> tuple[str, ...]:
        """Python packages of which parts are in the FMU."""
        return ("mbfmu", "pythonfmu") if self.target == "python" else ("mbfmu",)

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


@dataclasses.dataclass(frozen=True)
class BuildOptions:
    """What `build` was told of an FMU; the meaning of each is said there."""

    fmi: int
    kind: Kind
    variables: tuple[str, ...]
    sources: bool
    wasm: bool
    dae: bool
    solver: str | None
    fixed_step: float | None
    experiments: Sequence[ReferenceExperiment]

    @classmethod
    def of(
        cls, *, fmi: int, target: str, equations: str, platforms: str | Sequence[str] | None,
        variables: str | Sequence[str] | None, sources: bool, wasm: bool, dae: bool, solver: str | None,
        fixed_step: float | None, experiment: bool | ReferenceExperiment | Sequence[ReferenceExperiment],
    ) -> BuildOptions:  # fmt: skip
        """Check what can be known without the model.

        Raises:
            BuildError: An option is unknown, two exclude each other, or this cannot be made here.
        """
        if fmi not in VERSIONS:
            raise BuildError(f"FMI {fmi!r} is unknown; there are {', '.join(map(str, VERSIONS))}.")
        for given, name in ((sources, "sources"), (wasm, "wasm"), (dae, "dae")):
            check_flag(given, name)
        if wasm and fmi != 3:
            raise BuildError("wasm: WebAssembly components are of FMI 3.0; choose fmi=3 (--fmi 3).")
        if dae and fmi != 3:
            raise BuildError("dae: algebraic variables are for importers of FMI 3.0; choose fmi=3 (--fmi 3).")
        kind = kind_of(target, equations, platforms)
        experiments = experiments_of(experiment)
        if kind.target == "python" and sources:
            raise BuildError("sources: a python FMU has no C sources; choose the native target.")
        if kind.target == "python" and wasm:
            raise BuildError("wasm: a python FMU has no WebAssembly component; choose the native target.")
        if solver not in (None, *SOLVERS):
            raise BuildError(f'solver "{solver}" is unknown; there are {", ".join(SOLVERS)}.')
        if fixed_step is not None and not isinstance(fixed_step, float):
            fixed_step = arguments.real(fixed_step, "fixed step")
        if fixed_step is not None and not 0 < fixed_step < math.inf:
            raise BuildError(f"fixed step {fixed_step:g} s: choose a positive number.")
        if wasm:
            ready_component()  # what is missing is told before the work
        patterns = tuple(names_of(variables, "variables"))
        return cls(fmi, kind, patterns, sources, wasm, dae, solver, fixed_step, experiments)

    def applied(self, equations: Equations) -> Equations:
        """Return equations that are integrated as these options say.

        Raises:
            BuildError: A step is longer than the experiment.
        """
        if self.fixed_step is not None and self.fixed_step > equations.stop_time - equations.start_time:
            raise BuildError(
                f"fixed step {self.fixed_step:g} s: is longer than the whole experiment, {equations.start_time:g} to "
                f"{equations.stop_time:g} s; choose a shorter one."
            )
        return dataclasses.replace(equations, solver=self.solver or equations.solver, fixed_step=self.fixed_step or 0.0)


def check_flag(given: object, name: str) -> None:
    """Raise BuildError where something is neither True nor False."""
    if not isinstance(given, bool):
        raise BuildError(f"{name} = {given!r:.60}: it is True or False.")


def _platforms(target: str, platforms: str | Sequence[str] | None) -> list[str]:
    """Return the platforms that an FMU is for."""
    if target not in TARGETS:
        raise BuildError(f'target "{target}" is unknown; there are auto, {", ".join(TARGETS)}.')
    if target == "python":
        if platforms is not None:
            raise BuildError("platforms: a python FMU runs wherever the runtime's libraries are; leave the option out.")
        return python.platforms()
    names = names_of(platforms, "platforms") or [host_platform()]
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


def names_of(given: str | Sequence[str] | None, option: str) -> list[str]:
    """Return names that are given as a list or comma-separated as a list."""
    listed = given.split(",") if isinstance(given, str) else arguments.names(() if given is None else given, option)
    return [name.strip() for name in listed if name.strip()]
