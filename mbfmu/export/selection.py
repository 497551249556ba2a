"""Which variables an FMU shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from mbfmu.arrays import derivative_name
from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError
from mbfmu.runtime.variables import ScalarVariable, matching

#: Models of more scalars than this do not show all of them by default: importers' lists end in the thousands.
LARGE = 5000


def shown_of(
    system: System, patterns: Sequence[str], fmi: int, report: Callable[[str], None]
) -> tuple[ScalarVariable, ...]:
    """Return the variables that an FMU shows: those that match patterns beside its interface, by default all.

    Raises:
        BuildError: A pattern matches nothing.
    """
    shown = select(system.variables, patterns) if patterns else without_inner_copies(system)
    if len(shown) < len(system.variables) and not patterns:
        report(f"Leaving out {len(system.variables) - len(shown)} inner variables (--variables '*' keeps all)")
    if fmi == 2:
        # FMI 2.0 can do without time, and importers around FMI Library report an error for it, whatever it is like.
        shown = tuple(variable for variable in shown if variable.causality != "independent")
    return with_own_derivatives(shown)


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
