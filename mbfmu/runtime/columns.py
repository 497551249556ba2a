"""Columns of the Jacobian of the derivatives that one directional derivative gives together.

Columns that share no row need no direction each: one along the sum of their states has all of them (Curtis, Powell,
Reid: On the estimation of sparse Jacobian matrices. IMA J. Appl. Math. 13 (1974), 117-119). Of bodies that each touch a
few others, it takes as many directions as a few bodies have states, however many bodies there are.
"""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import scipy

from mbfmu.runtime.equations import Equations
from mbfmu.runtime.tangents import names_of_tangents

#: Of fewer states, no groups are looked for.
FEW = 24


@dataclasses.dataclass(frozen=True)
class Columns:
    """The group of each column, and the rows of each: `rows[starts[j]:starts[j + 1]]` of column j; all empty where
    groups save less than half of the directions."""

    groups: tuple[int, ...] = ()
    starts: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()

    @classmethod
    def of(cls, equations: Equations) -> Columns:
        """Look for groups in what the functions depend on."""
        e = equations
        if e.solver == "explicit" or e.nx < FEW or e.niterations or "dynamics_tangent" not in names_of_tangents(e):
            return cls()
        pattern = scipy.sparse.csc_matrix(_pattern(e))
        pattern.sort_indices()
        groups = _groups(pattern)
        if 2 * (max(groups) + 1) > e.nx:
            return cls()
        return cls(tuple(groups), tuple(map(int, pattern.indptr)), tuple(map(int, pattern.indices)))


def _depends(function: ca.Function, result: int, argument: int) -> scipy.sparse.csr_matrix:
    """Which elements of a result depend on which of an argument."""
    found = function.jac_sparsity(result, argument)
    rows, columns = found.get_triplet()
    return scipy.sparse.csr_matrix((np.ones(len(rows), dtype=int), (rows, columns)), shape=found.shape)


def _pattern(e: Equations) -> scipy.sparse.csr_matrix:
    """Which derivatives of states depend on which states, through accelerations, too."""
    derivatives = e.functions["derivatives"]
    return _depends(derivatives, 0, 1) + _depends(derivatives, 0, 5) @ _accelerations(e)[: e.nw]


def _accelerations(e: Equations) -> scipy.sparse.csr_matrix:
    """Which accelerations depend on which states: all of those that A joins, on what any of their rows does."""
    dynamics, n = e.functions["dynamics"], e.nW
    forces = _depends(dynamics, 1, 1)
    if e.explicit or not n:
        return forces
    at = np.array(e.sparsity, dtype=int).reshape(-1, 2) if e.sparsity else _nonzero(dynamics, n)
    entries = np.arange(len(e.sparsity)) if e.sparsity else at[:, 0] + n * at[:, 1]
    shape = (n, dynamics.numel_out(0))
    of_row = scipy.sparse.csr_matrix((np.ones(len(at), dtype=int), (at[:, 0], entries)), shape=shape)
    residuals = forces + of_row @ _depends(dynamics, 0, 1)
    joined = scipy.sparse.csr_matrix((np.ones(len(at), dtype=int), (at[:, 0], n + at[:, 1])), shape=(2 * n, 2 * n))
    labels = scipy.sparse.csgraph.connected_components(joined, directed=False)[1]
    count = labels.max() + 1
    in_row, in_column = (
        scipy.sparse.csr_matrix((np.ones(n, dtype=int), (labels[part], np.arange(n))), shape=(count, n))
        for part in (slice(0, n), slice(n, 2 * n))
    )
    return in_column.T @ (in_row @ residuals)


def _nonzero(dynamics: ca.Function, n: int) -> np.ndarray:
    """Rows and columns of a dense A that are not 0 throughout."""
    A = dynamics(*(dynamics.sx_in(i) for i in range(dynamics.n_in())))[0]
    return np.array([(i % n, i // n) for i in range(n * n) if not A.nz[i].is_zero()], dtype=int).reshape(-1, 2)


def _groups(pattern: scipy.sparse.csc_matrix) -> list[int]:
    """A group for each column, the first one none of whose columns has a row of it."""
    taken: list[set[int]] = []
    groups = []
    for j in range(pattern.shape[1]):
        rows = {int(i) for i in pattern.indices[pattern.indptr[j] : pattern.indptr[j + 1]]}
        group = next((k for k, known in enumerate(taken) if not known & rows), len(taken))
        if group == len(taken):
            taken.append(set())
        taken[group] |= rows
        groups.append(group)
    return groups


__all__ = ["Columns"]
