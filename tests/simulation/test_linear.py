"""Linear algebra against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from mbfmu.runtime.linear import BlockSolver, minimum_norm


@pytest.mark.parametrize("blocks", [((0, 1, 2, 3, 4),), ((0, 3), (1,), (2, 4)), ((0,), (1,), (2,), (3,), (4,)), ()])
def test_blocks_give_the_solution_of_the_whole(blocks):
    random = np.random.default_rng(1)
    size = sum(map(len, blocks))
    A = np.zeros((size, size), order="F")
    for block in blocks:
        A[np.ix_(block, block)] = random.normal(size=(len(block), len(block)))
    b = random.normal(size=size)
    expected = np.linalg.solve(A, b)
    w = np.empty(size)
    BlockSolver(blocks, size).solve(A, b, w)
    np.testing.assert_allclose(w, expected, rtol=1e-10)


@pytest.mark.parametrize("blocks", [((0, 1),), ((0,), (1,))])
def test_a_singular_matrix_gives_nan(blocks):
    w = np.zeros(2)
    BlockSolver(blocks, 2).solve(np.zeros((2, 2), order="F"), np.ones(2), w)
    assert np.isnan(w).all()


def test_blocks_must_divide_the_unknowns():
    with pytest.raises(ValueError, match="do not divide 3 unknowns"):
        BlockSolver(((0, 1), (1, 2)), 3)


@pytest.mark.parametrize(("rows", "columns", "rank"), [(2, 5, 2), (5, 2, 2), (4, 6, 3), (3, 3, 3)])
def test_minimum_norm_is_the_pseudo_inverse(rows, columns, rank):
    random = np.random.default_rng(2)
    A = random.normal(size=(rows, rank)) @ random.normal(size=(rank, columns))
    b = random.normal(size=rows)
    solution, found = minimum_norm(A, b)
    np.testing.assert_allclose(solution, np.linalg.pinv(A, rcond=1e-10) @ b, atol=1e-9)
    assert found == rank


def test_minimum_norm_of_nothing():
    assert minimum_norm(np.zeros((0, 3)), np.zeros(0))[0].tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(minimum_norm(np.array([[np.nan]]), np.zeros(1))[0]).all()
