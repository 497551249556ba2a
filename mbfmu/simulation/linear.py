"""Small dense linear algebra straight on LAPACK: the wrappers of NumPy cost more than the arithmetic at these sizes."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

#: Singular values below this fraction of the largest count as zero.
RANK_TOLERANCE = 1e-10


class BlockSolver:
    """LU with partial pivoting of a matrix whose blocks do not depend on each other.

    Parameters
    ----------
    blocks
        Index sets that divide 0 .. size - 1; rows and columns alike.
    size
        Number of unknowns.
    """

    def __init__(self, blocks: tuple[tuple[int, ...], ...], size: int) -> None:
        if sorted(i for block in blocks for i in block) != list(range(size)):
            raise ValueError(f"the blocks {blocks} do not divide {size} unknowns")
        self._whole = len(blocks) == 1
        self._single = np.array([block[0] for block in blocks if len(block) == 1], dtype=int)
        self._blocks = [(np.array(block), np.ix_(block, block)) for block in blocks if len(block) > 1]

    def solve(self, A: np.ndarray, b: np.ndarray, w: np.ndarray) -> None:
        """Solve A w = b into w; a singular block gives NaN. A is destroyed where it is one block."""
        if self._whole:
            w[:] = _solve(A, b)
            return
        if self._single.size:
            diagonal = A[self._single, self._single]
            w[self._single] = b[self._single] / np.where(diagonal == 0.0, np.nan, diagonal)
        for index, grid in self._blocks:
            w[index] = _solve(A[grid], b[index])


def _solve(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    *_, solution, info = lapack.dgesv(A, b, overwrite_a=True)
    return solution if info == 0 else np.full(b.size, np.nan)


def minimum_norm(A: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, int]:
    """Least-squares solution of A x = b with the smallest norm (LAPACK's dgelsd), and the numerical rank of A.

    Parameters
    ----------
    A
        [m x n], of any rank.
    b
        [m].

    Returns
    -------
    The solution [n], and the number of singular values above `RANK_TOLERANCE` times the largest.
    """
    rows, columns = A.shape
    if rows == 0 or columns == 0 or not (np.isfinite(A).all() and np.isfinite(b).all()):
        return np.full(columns, 0.0 if rows == 0 or columns == 0 else np.nan), 0
    right = np.zeros(max(rows, columns))
    right[:rows] = b
    work, iwork, _ = lapack.dgelsd_lwork(rows, columns, 1, cond=RANK_TOLERANCE)
    solution, _, rank, info = lapack.dgelsd(A, right, int(work), int(iwork), cond=RANK_TOLERANCE)
    return (solution[:columns] if info == 0 else np.full(columns, np.nan)), int(rank)
