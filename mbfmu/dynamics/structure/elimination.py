"""Symbolic solution of small sparse linear systems."""

from __future__ import annotations

import casadi as ca
import numpy as np


def solve(A: ca.SX, b: ca.SX) -> ca.SX:
    """x with A x = b, for a regular matrix of expressions.

    Entries that are 1 or -1, as balances and differences have them, are eliminated first, those with the fewest
    neighbours before others (Markowitz): that is exact, divides by nothing, and leaves a small core for CasADi.
    """
    size = A.size1()
    rows = [{j: A[i, j] for j in range(size) if not A[i, j].is_zero()} for i in range(size)]
    right = [b[i] for i in range(size)]
    open_rows, pivots = set(range(size)), []
    while (pivot := _pivot(rows, open_rows)) is not None:
        i, j = pivot
        open_rows.remove(i)
        for k in open_rows:
            if j not in rows[k]:
                continue
            factor = rows[k].pop(j) * rows[i][j]  # divided by a pivot that is its own inverse
            for column, value in rows[i].items():
                if column != j:
                    rows[k][column] = rows[k].get(column, ca.SX(0)) - factor * value
            rows[k] = {column: value for column, value in rows[k].items() if not value.is_zero()}
            right[k] = right[k] - factor * right[i]
        pivots.append(pivot)
    found: dict[int, ca.SX] = {}
    core = sorted(open_rows)
    if core:
        columns = sorted(set(range(size)) - {j for _, j in pivots})
        place = {column: i for i, column in enumerate(columns)}
        left = ca.SX(len(core), len(columns))
        for k, i in enumerate(core):
            for column, value in rows[i].items():
                left[k, place[column]] = value
        found = dict(zip(columns, ca.vertsplit(ca.solve(left, ca.vertcat(*(right[i] for i in core)))), strict=True))
    for i, j in reversed(pivots):
        rest = sum((value * found[column] for column, value in rows[i].items() if column != j), ca.SX(0))
        found[j] = (right[i] - rest) * rows[i][j]
    return ca.vertcat(ca.SX(0, 1), *(found[j] for j in range(size)))


def sampled(matrices: list[ca.SX]) -> list[np.ndarray]:
    """Matrices for some values of the symbols in them."""
    symbols = ca.symvar(ca.veccat(ca.SX(0, 1), *matrices))
    values = np.random.default_rng(0).uniform(0.5, 1.5, len(symbols))
    function = ca.Function("sample", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(matrix) for matrix in matrices])
    return [np.array(value) for value in function.call([ca.DM(values)])]


def _pivot(rows: list[dict[int, ca.SX]], open_rows: set[int]) -> tuple[int, int] | None:
    """The entry of 1 or -1 whose elimination fills in least; None where there is none."""
    counts: dict[int, int] = {}
    for i in open_rows:
        for j in rows[i]:
            counts[j] = counts.get(j, 0) + 1
    candidates = (
        ((len(rows[i]) - 1) * (counts[j] - 1), i, j)
        for i in sorted(open_rows)
        for j, value in rows[i].items()
        if value.is_constant() and abs(float(value)) == 1
    )
    best = min(candidates, default=None)
    return None if best is None else best[1:]
