"""Symbolic elimination against numerical solutions."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from mbfmu.dynamics.structure.elimination import solve


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_solves_systems_of_ones_and_expressions(seed: int) -> None:
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 9))
    pattern = random.choice(["", "one", "any"], size=(size, size), p=[0.4, 0.4, 0.2])
    ones, others = random.choice([-1.0, 1.0], size=(size, size)), random.normal(size=(size, size))
    numbers = np.where(pattern == "one", ones, others)
    numbers[pattern == ""] = 0.0
    if np.linalg.matrix_rank(numbers) < size or np.linalg.cond(numbers) > 1e4:
        numbers = np.eye(size)[random.permutation(size)]
        pattern = np.where(numbers != 0, "one", "")
    symbols = ca.SX.sym("a", size, size)
    A = ca.SX(size, size)
    for i, j in np.argwhere(pattern != ""):
        A[i, j] = ca.SX(numbers[i, j]) if pattern[i, j] == "one" else symbols[int(i), int(j)]
    b = ca.SX.sym("b", size)
    right = random.normal(size=size)
    found = np.array(ca.Function("x", [symbols, b], [solve(A, b)])(numbers, right)).ravel()
    assert found == pytest.approx(np.linalg.solve(numbers, right), rel=1e-9, abs=1e-9)


def test_nothing_is_divided_where_entries_of_one_suffice() -> None:
    """A balance and a difference with a coefficient: the core is empty, a coefficient of 0 is no harm."""
    g = ca.SX.sym("g")
    A = ca.SX(3, 3)
    A[0, 0], A[0, 1], A[1, 1], A[1, 2], A[2, 2], A[2, 0] = 1, -1, 1, g, 1, 0
    found = ca.Function("x", [g], [solve(A, ca.SX([1.0, 2.0, 3.0]))])(0.0)
    assert np.array(found).ravel().tolist() == [3.0, 2.0, 3.0]
