"""Algebraic loops through coupled FMUs: inputs and outputs that agree, at the start and at communication points.

Where an output depends directly on an input of the same FMU, as the torque of a driven inertia does on the acceleration
(tau = -J a), coupled FMUs form equations u = y(u). Inserting values of the step before, u[n+1] = y(u[n]), is an
iteration that converges only while all eigenvalues of dy/du lie in the unit circle: zero-stability, which no step size
can mend (R. Kübler, W. Schiehlen: Two methods of simulator coupling, Mathematical and Computer Modelling of Dynamical
Systems 6 (2000), 93-113). Solved at each communication point, u follows from the states alone, whatever dy/du is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from mbfmu.errors import SimulationError

#: Newton steps that may be taken, the residual that is left, relative to the inputs, and the one that is borne where
#: FMUs that iterate themselves allow no better.
ITERATIONS, ACCURACY, ROUGH = 50, 1e-10, 1e-7
#: The smallest part of a Newton step that is tried.
LEAST_SHARE = 1e-3
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


def joined(loop: Sequence[int], dependent: Sequence[set[int]]) -> list[list[int]]:
    """Return the inputs of each loop; `loop` are all inputs on loops, and those between them, which are left out."""
    places = {i: k for k, i in enumerate(loop)}
    edges = np.zeros((len(loop), len(loop)), dtype=bool)
    for i in loop:
        edges[[places[j] for j in dependent[i] if j in places], places[i]] = True
    count, labels = scipy.sparse.csgraph.connected_components(edges, connection="strong")
    groups = [[i for i in loop if labels[places[i]] == k] for k in range(count)]
    return [group for group in groups if len(group) > 1 or group[0] in dependent[group[0]]]


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
    outputs_of: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    loop: Sequence[int],
    names: Sequence[str],
    *,
    jacobian_of: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    known: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Solve u = y(u) by Newton's method, with the columns of dy/du that belong to loops.

    A Jacobian serves as long as each step leaves a tenth of the one before; steps that make things worse are halved.

    Args:
        outputs_of: y(u), [n] each.
        start: First guess of u, [n].
        loop: Indices of the inputs on loops, and of all that outputs on them answer to at once; the others need no
            derivative, for their values settle by themselves. Empty where there is no loop.
        names: Names of the inputs, for messages.
        jacobian_of: dy/du at u and y, [n, n]; forward differences where None.
        known: dy/du of a point nearby, [n, n], to begin with.

    Returns:
        tuple: u [n], and the last dy/du [n, n] in use, with zeros in the columns of inputs that are on no loop; None
            where none was needed.

    Raises:
        SimulationError: The loop has no solution, or none is found.
    """
    if jacobian_of is None:
        jacobian_of = functools.partial(differences, outputs_of, columns=loop)
    u, jacobian, fresh = start, known if len(loop) else np.zeros((start.size, start.size)), False
    y = outputs_of(u)
    for _ in range(ITERATIONS + len(start)):
        if np.all(np.abs(y - u) <= ACCURACY * (1 + np.abs(u))):
            return u, jacobian
        if jacobian is None:
            jacobian, fresh = jacobian_of(u, y), True
            # Eigenvalues, unlike condition numbers, do not depend on the units of the inputs.
            if np.abs(1 - np.linalg.eigvals(jacobian)).min(initial=1.0) < SINGULAR:
                break
        move = _newton_step(jacobian, y - u)
        share, length = 1.0, _size(move, u)
        while True:
            new = u + share * move
            y_new = outputs_of(new)
            left = _size(_newton_step(jacobian, y_new - new), u)
            if not len(loop) or left <= max((1 - share / 4) * length, ACCURACY):
                break
            share /= 2
            if not fresh or share < LEAST_SHARE:
                break
        if fresh and share < LEAST_SHARE:
            break
        leads = not len(loop) or left <= max(length / 10, ACCURACY)
        if leads or fresh or left < length:
            u, y = new, y_new
        else:
            y = outputs_of(u)
        fresh = False
        if not leads:
            jacobian = None
    if np.all(np.abs(y - u) <= ROUGH * (1 + np.abs(u))):
        return u, jacobian
    worst = int(np.argmax(np.abs(y - u)))
    raise SimulationError(
        f"{names[worst]}: no values on which the coupled FMUs agree were found (they differ by "
        f"{abs(y - u)[worst]:.3g}); put a spring or a damper between them"
    )


def _newton_step(jacobian: np.ndarray, residual: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        try:
            return np.linalg.solve(np.eye(residual.size) - jacobian, residual)
        except np.linalg.LinAlgError:
            return residual


def _size(move: np.ndarray, u: np.ndarray) -> float:
    """Largest part of a move, relative to the inputs."""
    return float(np.max(np.abs(move) / (1 + np.abs(u)), initial=0.0))


def differences(
    outputs_of: Callable[[np.ndarray], np.ndarray], u: np.ndarray, y: np.ndarray, columns: Sequence[int]
) -> np.ndarray:
    """Return dy/du in some columns, by forward differences."""
    result = np.zeros((u.size, u.size))
    for j in columns:
        moved = u.copy()
        moved[j] += PERTURBATION * (1 + abs(u[j]))
        result[:, j] = (outputs_of(moved) - y) / (moved[j] - u[j])
    return result
