"""Which constraint rows are independent: pivoted QR of the velocity Jacobian at consistent positions."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from mbfmu.runtime.equations import Equations
from mbfmu.runtime.run import Run

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
    run = Run(equations)
    x = run.assemble()
    u, P, m = run.values("u"), run.values("P"), np.zeros(equations.nm)
    constraints = equations.functions["constraints"]

    def jacobian(state: np.ndarray) -> np.ndarray:
        return np.array(constraints(equations.start_time, state, u, P, m)[2])

    first = best = _rank_rows(jacobian(x))
    random = np.random.default_rng(0)
    for _ in range(SAMPLES):
        near = x.copy()
        near[: equations.nq] += PERTURBATION * random.normal(size=equations.nq)
        if run.project(near):
            found = _rank_rows(jacobian(near))
            if len(found) > len(best):
                best = found
    return best, x, len(best) > len(first)


def _rank_rows(G: np.ndarray) -> list[int]:
    size = np.linalg.norm(G, axis=1)
    usable = np.flatnonzero(size > TOLERANCE * max(1.0, size.max(initial=0.0)))
    if not usable.size:
        return []
    _, r, pivots = scipy.linalg.qr((G[usable] / size[usable, None]).T, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > TOLERANCE * diagonal[0]))
    return sorted(int(usable[k]) for k in pivots[:rank])
