"""Pivots of a sparse matrix: an order of elimination that makes little work, and holds wherever a model goes.

Of the entries that are large enough, the one whose elimination makes fewest products comes first (Markowitz), or, of
those that make few, the one that fills in least (Duff, Erisman, Reid, Direct Methods for Sparse Matrices, chapters 5
and 7). Neither rule is the better one for all mechanisms: both orders are made, and the better one is kept.

The matrix is known at several places, and an entry counts by the one at which it is smallest: what vanishes where a bar
lies level is no pivot. So runtimes may factorise along one order, and need no search.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

#: Least sizes of a pivot beside the greatest entry of its row or, where that is less, of its column: either bounds what
#: elimination adds to other entries. The first is safer, and costs little in small systems.
THRESHOLDS = (0.5, 0.05)

#: More work that a greater threshold may cost.
SAFER = 1.05

#: Backward error of random solutions at the places up to which an order is exact enough: few will need refinement.
EXACT = 1e-12

#: Added to the number of products of pivots that are not large enough: they come last.
_LAST = 1e15


def pivots(
    sparsity: Sequence[tuple[int, int]], size: int, samples: Sequence[np.ndarray]
) -> tuple[tuple[int, int], ...]:
    """Pairs (row, column) in the order of elimination.

    Args:
        sparsity: row and column of each value.
        size: number of rows and columns.
        samples: values of the matrix at several places; none where no place is known: then all entries count alike.
    """
    if not size:
        return ()
    i, j = np.array(sparsity, dtype=int).reshape(-1, 2).T
    values = np.zeros((max(len(samples), 1), size, size))
    values[:, i, j] = _equilibrated(np.array(samples), sparsity, size) if len(samples) else 1.0
    is_entry = np.zeros((size, size), dtype=bool)
    is_entry[i, j] = True
    bound = EXACT if len(samples) else math.inf
    found = []
    for threshold in THRESHOLDS:
        both = [_order(values, is_entry, threshold, least_fill) for least_fill in (False, True)]
        found.append(min(both, key=lambda order: (order.error > bound, order.work)))
    exact = [order for order in found if order.error <= bound]
    if not exact:
        return min(found, key=lambda order: order.error).pivots
    least = min(order.work for order in exact)
    return next(order for order in exact if order.work <= SAFER * least).pivots


@dataclasses.dataclass(frozen=True)
class _Order:
    """Pivots, what a factorisation and a solution along them cost, and the greatest backward error at the places."""

    pivots: tuple[tuple[int, int], ...]
    work: int
    error: float


@dataclasses.dataclass(frozen=True)
class _Step:
    """Elimination of an unknown: its pivot, the other rows and columns in which it stands, and their factors."""

    row: int
    column: int
    rows: np.ndarray
    columns: np.ndarray
    #: Per place: the other rows' entries over the pivot, the pivot row's other entries, and 1 over the pivot.
    lower: np.ndarray
    upper: np.ndarray
    reciprocals: np.ndarray


def _order(values: np.ndarray, is_entry: np.ndarray, threshold: float, least_fill: bool) -> _Order:
    """Eliminate all unknowns, by one of the two rules."""
    steps = list(_Remainder(values.copy(), is_entry.copy(), threshold).steps(least_fill))
    # A product takes a quarter of the time of what there is to do for each factor besides.
    work = sum(len(s.rows) * len(s.columns) + 2 * (len(s.rows) + len(s.columns)) for s in steps)
    chosen = tuple((s.row, s.column) for s in steps)
    # What is left has no entries: the matrix is singular, and runtimes will say so in any order.
    rest = (sorted(set(range(len(is_entry))) - set(taken)) for taken in zip(*chosen, strict=True))
    missing = tuple(zip(*rest, strict=True)) if chosen else tuple((k, k) for k in range(len(is_entry)))
    return _Order((*chosen, *missing), work, math.inf if missing else _backward_error(values, steps))


class _Remainder:
    """What is left of a matrix, with what makes a good pivot kept up to date.

    Args:
        values: at [place, row, column].
        is_entry: which may differ from zero, at [row, column].
        threshold: least size of a pivot.
    """

    def __init__(self, values: np.ndarray, is_entry: np.ndarray, threshold: float) -> None:
        self._values, self._is_entry, self._threshold = values, is_entry, threshold
        self._in_row, self._in_column = is_entry.sum(axis=1), is_entry.sum(axis=0)
        #: The places of entries once more: per row its columns, as bits and as a set, per column its rows.
        self._columns_of = [set(np.flatnonzero(row).tolist()) for row in is_entry]
        self._bits_of = [_bits(columns) for columns in self._columns_of]
        self._rows_of = [set(np.flatnonzero(column).tolist()) for column in is_entry.T]
        self._greatest_in_row, self._greatest_in_column = np.abs(values).max(axis=2), np.abs(values).max(axis=1)
        #: Per entry: how many products its elimination makes; of equal ones, the larger comes first.
        self._costs = np.full(is_entry.shape, np.inf)
        self._best_costs, self._best_columns = np.full(len(is_entry), np.inf), np.zeros(len(is_entry), dtype=int)
        everything = np.arange(len(is_entry))
        self._rate(everything, everything)
        self._compare(everything)

    def steps(self, least_fill: bool) -> Iterator[_Step]:
        """Eliminate one unknown after the other, while there are entries."""
        for _ in range(len(self._is_entry)):
            row = int(self._best_costs.argmin())
            least = self._best_costs[row]
            if not np.isfinite(least):
                return
            if least_fill and 0 < least < _LAST / 2:
                yield self._eliminate(*self._least_fill(2 * (math.ceil(least) + 1)))
            else:
                yield self._eliminate(row, int(self._best_columns[row]))

    def _least_fill(self, most: int) -> tuple[int, int]:
        """Of the pivots that make so many products at most, the one that fills in least."""
        near = np.flatnonzero(self._best_costs <= most)
        rows, columns = np.nonzero(self._costs[near] <= most)
        rows = near[rows]
        bits = self._bits_of
        # How many of the places where products go have no entry yet.
        fill = np.array(
            [
                sum((bits[row] & ~bits[other]).bit_count() for other in self._rows_of[column])
                for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
            ]
        )
        best = np.lexsort((self._costs[rows, columns], fill))[0]
        return int(rows[best]), int(columns[best])

    def _eliminate(self, row: int, column: int) -> _Step:
        self._is_entry[row, column] = False
        rows, columns = np.flatnonzero(self._is_entry[:, column]), np.flatnonzero(self._is_entry[row])
        values = self._values
        pivot = values[:, row, column]
        reciprocals = np.divide(1.0, pivot, out=np.zeros_like(pivot), where=pivot != 0)
        lower, upper = values[:, rows, column] * reciprocals[:, None], values[:, row, columns]
        self._is_entry[row], self._is_entry[:, column] = False, False
        self._forget(row, column)
        self._costs[row], self._costs[:, column], self._best_costs[row] = np.inf, np.inf, np.inf
        values[:, row], values[:, :, column] = 0.0, 0.0
        values[:, rows[:, None], columns] -= lower[:, :, None] * upper[:, None, :]
        self._is_entry[rows[:, None], columns] = True
        bits = _bits(columns.tolist())
        for k in rows.tolist():
            self._columns_of[k].update(columns.tolist())
            self._bits_of[k] |= bits
        for k in columns.tolist():
            self._rows_of[k].update(rows.tolist())
        self._in_row[rows] = self._is_entry[rows].sum(axis=1)
        self._in_column[columns] = self._is_entry[:, columns].sum(axis=0)
        self._greatest_in_row[:, rows] = np.abs(values[:, rows]).max(axis=2)
        self._greatest_in_column[:, columns] = np.abs(values[:, :, columns]).max(axis=1)
        neighbours = np.array(sorted(set().union(*(self._rows_of[k] for k in columns.tolist()))), dtype=int)
        beside = np.array(sorted(set().union(*(self._columns_of[k] for k in rows.tolist()))), dtype=int)
        self._rate(rows, beside)
        self._rate(neighbours, columns)
        self._compare(np.union1d(rows, neighbours))
        return _Step(row, column, rows, columns, lower, upper, reciprocals)

    def _forget(self, row: int, column: int) -> None:
        """Take a row and a column out of the others' entries."""
        for k in self._columns_of[row]:
            self._rows_of[k].discard(row)
        for k in self._rows_of[column]:
            self._columns_of[k].discard(column)
            self._bits_of[k] &= ~(1 << column)
        self._columns_of[row], self._rows_of[column] = set(), set()

    def _rate(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Bring the costs of some rows' entries in some columns up to date."""
        part = np.ix_(rows, columns)
        greatest = np.minimum(self._greatest_in_row[:, rows, None], self._greatest_in_column[:, None, columns])
        sizes = np.abs(self._values[:, rows[:, None], columns])
        sizes = np.divide(sizes, greatest, out=np.zeros_like(sizes), where=greatest > 0).min(axis=0)
        costs = np.multiply.outer(self._in_row[rows] - 1, self._in_column[columns] - 1) - sizes / 2
        costs = np.where(sizes >= self._threshold, costs, _LAST - sizes)
        self._costs[part] = np.where(self._is_entry[part], costs, np.inf)

    def _compare(self, rows: np.ndarray) -> None:
        """Find the best pivots of some rows anew."""
        self._best_columns[rows] = self._costs[rows].argmin(axis=1)
        self._best_costs[rows] = self._costs[rows, self._best_columns[rows]]


def _bits(numbers: Iterable[int]) -> int:
    """A number with these bits set."""
    return sum(1 << number for number in numbers)


def _backward_error(values: np.ndarray, steps: Sequence[_Step]) -> float:
    """The greatest residual of solutions for random right sides, as a fraction of the terms that it is made of."""
    size = values.shape[1]
    right = np.random.default_rng(0).normal(size=(len(values), size))
    rest, solution = right.copy(), np.zeros_like(right)
    with np.errstate(all="ignore"):
        for step in steps:
            rest[:, step.rows] -= step.lower * rest[:, step.row, None]
        for step in reversed(steps):
            known = (step.upper * solution[:, step.columns]).sum(axis=1)
            solution[:, step.column] = (rest[:, step.row] - known) * step.reciprocals
        residual = right - (values @ solution[:, :, None])[:, :, 0]
        terms = np.abs(right) + (np.abs(values) @ np.abs(solution[:, :, None]))[:, :, 0]
        errors = np.abs(residual) / terms
    return float(errors.max()) if np.isfinite(errors).all() else math.inf


def _equilibrated(values: np.ndarray, sparsity: Sequence[tuple[int, int]], size: int) -> np.ndarray:
    """Values with rows and columns scaled so that the greatest entry of each is about 1."""
    i, j = np.array(sparsity, dtype=int).reshape(-1, 2).T
    most = np.abs(values).max(axis=0)
    rows, columns = np.ones(size), np.ones(size)
    for _ in range(4):
        for scale, index, other, at in ((rows, i, columns, j), (columns, j, rows, i)):
            greatest = np.zeros(size)
            np.maximum.at(greatest, index, most * other[at])
            scale[:] = np.where(greatest > 0, 1 / np.where(greatest > 0, greatest, 1), 1)
    return values * (rows[i] * columns[j])
