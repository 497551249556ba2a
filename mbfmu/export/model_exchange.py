"""Model exchange (FMI 2.0.4, section 3): which models can be offered to importers with solvers of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: How an unknown depends on a known, in FMI's words.
Kind = Literal["dependent", "constant", "fixed", "tunable", "discrete"]


def obstacle(equations: Equations) -> str | None:
    """Return why a model is not offered for model exchange, or None where it is.

    Independent coordinates are integrated plainly. Where there are constraints, fmi2CompletedIntegratorStep asks for an
    event to project the states on them; that needs constraints which move smoothly between events.
    """
    if equations.ndelays:
        return f"{equations.delay_names[0]} delays a signal, whose history an importer's solver does not keep"
    constraints = equations.functions["constraints"]
    known = [name for row, name in ((0, "position"), (1, "velocity")) if constraints.jac_sparsity(row, 2).nnz()]
    if known:
        return f"{known[0]} constraints follow inputs, which importers may change at any time"
    return None


def needs_completed_steps(equations: Equations) -> bool:
    """Tell whether fmi2CompletedIntegratorStep has something to do.

    States that drift, assertions, constraints that were dropped, or iteration variables, whose solution begins where
    the last step ended.
    """
    dropped = len(equations.redundant_names)
    return drifts(equations) or equations.nh > 0 or dropped > 0 or equations.niterations > 0


def led_back(equations: Equations, variables: Sequence[ScalarVariable]) -> tuple[ScalarVariable, ...]:
    """Variables with what accelerations depend on where states are led back to constraints: all positions and speeds.

    An importer that groups the columns of a Jacobian by dependencies would else add up what does not belong together.
    """
    sizes = equations.sizes
    moving = {v.name: v.index for v in variables if v.store == "x" and v.index < sizes["nq"] + sizes["nv"]}
    others: dict[str, Kind] = dict.fromkeys({index: name for name, index in moving.items()}.values(), "dependent")
    others |= {v.name: "dependent" for v in variables if v.causality == "independent"}
    dynamic = set(equations.functions["variables"].jac_sparsity(0, 5).row()) if sizes["ny"] else set()
    found = []
    for v in variables:
        follows = v.store == "w" or (v.store == "y" and v.index in dynamic)
        if follows and v.dependencies is not None:
            own: dict[str, Kind] = {name: kind for name, kind in v.dependencies if name not in moving}
            v = dataclasses.replace(v, dependencies=tuple((own | others).items()))
        found.append(v)
    return tuple(found)


def drifts(equations: Equations) -> bool:
    """Tell whether events may change the states: by projection on constraints and to unit quaternions."""
    return equations.nl > 0 or bool(equations.quaternions)
