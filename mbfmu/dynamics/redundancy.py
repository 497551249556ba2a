"""Which constraint rows are independent: pivoted QR of the velocity Jacobian at consistent positions."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mbfmu.errors import InitializationError
from mbfmu.simulation.equations import Equations
from mbfmu.simulation.errors import InitialisationError
from mbfmu.simulation.functions import Workspace
from mbfmu.simulation.initialise import initialise
from mbfmu.simulation.linear import minimum_norm
from mbfmu.simulation.project import normalise

#: A row counts as dependent where its part orthogonal to the others is smaller than this, relative to its size.
TOLERANCE = 1e-7
#: Perturbed positions that are looked at besides the start, and the size of the perturbation.
SAMPLES, PERTURBATION = 2, 0.05


def independent_rows(equations: Equations) -> tuple[list[int], np.ndarray, bool]:
    """Indices of a largest independent set of constraint rows, in ascending order, a consistent start x, and True where
    that is a singular position, in which fewer rows are independent.

    A mechanism may start in a singular position (a flat parallelogram), so the rank is taken at the start and at
    perturbed positions that satisfy the constraints again; the largest counts.

    Raises:
        InitializationError: no position satisfies the constraints; the message names the joints.
    """
    workspace = Workspace(equations)
    p, u = equations.vector("parameters"), equations.vector("inputs")
    try:
        start = initialise(workspace, equations.start_time, p, u, leaves=False)
    except InitialisationError as error:
        raise InitializationError(f"{equations.name}: {error}") from error
    workspace.set_point(equations.start_time, start.x, u, start.P, start.m)
    first = best = _rank_rows(workspace.constraints()[2])
    random = np.random.default_rng(0)
    for _ in range(SAMPLES):
        workspace.x[:] = start.x
        workspace.x[: equations.nq] += PERTURBATION * random.normal(size=equations.nq)
        if _assemble(workspace):
            found = _rank_rows(workspace.constraints()[2])
            if len(found) > len(best):
                best = found
    return best, start.x, len(best) > len(first)


def _assemble(workspace: Workspace) -> bool:
    """Move the positions of the workspace back onto the constraints."""
    equations = workspace.equations
    q = workspace.x[: equations.nq]
    for _ in range(50):
        normalise(q, equations.quaternions)
        g, _, G = workspace.constraints()
        size = np.abs(g).max(initial=0.0)
        if not np.isfinite(size):
            return False
        if size < 1e-11:
            return True
        q += workspace.displacement(minimum_norm(G[: equations.ng], -g)[0])
    return False


def _rank_rows(G: np.ndarray) -> list[int]:
    size = np.linalg.norm(G, axis=1)
    usable = np.flatnonzero(size > TOLERANCE * max(1.0, size.max(initial=0.0)))
    if not usable.size:
        return []
    _, r, pivots = scipy.linalg.qr((G[usable] / size[usable, None]).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > TOLERANCE * diagonal[0]))
    return sorted(int(usable[k]) for k in pivots[:rank])
