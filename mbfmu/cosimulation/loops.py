"""Algebraic loops through coupled FMUs: consistent inputs at the start, and whether stepping can be stable at all.

Where an output depends directly on an input of the same FMU, as the torque of a driven inertia does on the acceleration
(tau = -J a), coupled FMUs form equations u = y(u). They are solved at the start. Afterwards every step inserts values
of the step before, u[n+1] = y(u[n]), an iteration that converges only while all eigenvalues of dy/du lie in the unit
circle: zero-stability, which no step size can mend (R. Kübler, W. Schiehlen: Two methods of simulator coupling,
Mathematical and Computer Modelling of Dynamical Systems 6 (2000), 93-113).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mbfmu.errors import SimulationError

#: Newton steps that a start may take, and the residual that is left, relative to the inputs.
ITERATIONS, ACCURACY = 20, 1e-10
#: A loop whose gain is that near to 1 has no solution, or any.
SINGULAR = 1e-8
#: Change of an input, relative to its size, by which its effect is measured; residuals are linear in torque and
#: acceleration, the inputs that loops are made of.
PERTURBATION = 1e-4


def inputs_on_loops(dependent: Sequence[set[int]]) -> list[int]:
    """Return the inputs that a loop passes through; `dependent[i]` are the inputs that input i depends on directly."""
    left = set(range(len(dependent)))
    while True:
        influential = set().union(*(dependent[i] & left for i in left))
        kept = {i for i in left if i in influential and dependent[i] & left}
        if kept == left:
            return sorted(left)
        left = kept


def links_on_loops(structure: Any) -> list[str]:
    """Names of the inputs of a SystemStructure that depend on themselves at once, such as those of a rigid coupling."""
    links = structure.links()
    dependent = []
    for connection, start, _ in links:
        element = connection.start_element
        known = direct_inputs(structure.descriptions[element], start.variable.name)
        dependent.append(
            {
                i
                for i, (other, _, end) in enumerate(links)
                if other.end_element == element and (known is None or end.variable.name in known)
            }
        )
    return [f"{links[i][0].end_element}.{links[i][2].name}" for i in inputs_on_loops(dependent)]


def direct_inputs(description: Any, output: str) -> set[str] | None:
    """Return the names that an output depends on by modelDescription.xml; None where it does not say, which means all.

    FMI 2.0.4, section 2.2.8.
    """
    for unknown in description.outputs:
        if unknown.variable.name == output:
            return None if unknown.dependencies is None else {v.name for v in unknown.dependencies}
    return None


def consistent_inputs(
    outputs_of: Callable[[np.ndarray], np.ndarray], start: np.ndarray, loop: Sequence[int], names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Solve u = y(u) by Newton's method, with the columns of dy/du that belong to loops.

    Parameters
    ----------
    outputs_of
        y(u), [n] each.
    start
        First guess of u, [n].
    loop
        Indices of the inputs on loops; the others need no derivative, for their values settle by themselves.
    names
        Names of the inputs, for messages.

    Returns
    -------
    tuple
        u [n], and dy/du [n, n] with zeros in the columns of inputs that are on no loop.

    Raises
    ------
    SimulationError
        The loop has no solution, or none is found.
    """
    u, jacobian = start, np.zeros((start.size, start.size))
    y = outputs_of(u)
    for _ in range(ITERATIONS):
        residual = y - u
        if np.all(np.abs(residual) <= ACCURACY * (1 + np.abs(u))):
            return u, _jacobian(outputs_of, u, y, loop)
        if np.any(np.abs(residual[loop]) > ACCURACY * (1 + np.abs(u[loop]))):
            jacobian = _jacobian(outputs_of, u, y, loop)
        # Eigenvalues, unlike condition numbers, do not depend on the units of the inputs.
        if np.abs(1 - np.linalg.eigvals(jacobian)).min(initial=1.0) < SINGULAR:
            break
        u = u + np.linalg.solve(np.eye(u.size) - jacobian, residual)
        y = outputs_of(u)
    worst = int(np.argmax(np.abs(y - u)))
    raise SimulationError(
        f"{names[worst]}: no start in which the coupled FMUs agree was found (they differ by {abs(y - u)[worst]:.3g}); "
        "put a spring or a damper between them"
    )


def _jacobian(
    outputs_of: Callable[[np.ndarray], np.ndarray], u: np.ndarray, y: np.ndarray, columns: Sequence[int]
) -> np.ndarray:
    """Return dy/du in some columns, by forward differences."""
    result = np.zeros((u.size, u.size))
    for j in columns:
        moved = u.copy()
        moved[j] += PERTURBATION * (1 + abs(u[j]))
        result[:, j] = (outputs_of(moved) - y) / (moved[j] - u[j])
    return result


def growth(jacobian: np.ndarray, ahead: np.ndarray | None, secant: bool) -> float:
    """Return by which factor a disturbance of the inputs grows per communication step as the step goes to zero.

    Parameters
    ----------
    jacobian
        dy/du, [n, n].
    ahead
        True [i, j] where input i gets the value of this step, because input j belongs to an FMU that is stepped
        before the one of input i (Gauss-Seidel); None where all get those of the step before (Jacobi).
    secant
        Inputs are continued along the line through their last two values: they reach 2 u[n] - u[n-1].
    """
    new = jacobian * ahead if ahead is not None else np.zeros_like(jacobian)
    eigenvalues = np.linalg.eigvals(np.linalg.solve(np.eye(len(jacobian)) - new, jacobian - new))
    if not secant:
        return float(np.abs(eigenvalues).max(initial=0.0))
    return float(max((np.abs(np.roots([1, -2 * x, x])).max(initial=0.0) for x in eigenvalues), default=0.0))
