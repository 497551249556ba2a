"""Model exchange (FMI 2.0.4, section 3): which models can be offered to importers with solvers of their own."""

from __future__ import annotations

from mbfmu.runtime.equations import Equations


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

    States that drift, assertions, or iteration variables, whose solution begins where the last step ended.
    """
    return drifts(equations) or equations.nh > 0 or equations.niterations > 0


def drifts(equations: Equations) -> bool:
    """Tell whether events may change the states: by projection on constraints and to unit quaternions."""
    return equations.nl > 0 or bool(equations.quaternions)
