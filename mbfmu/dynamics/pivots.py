"""Pivots of a sparse matrix: an order of elimination that fills in little, and holds wherever a model goes.

Markowitz's rule: of the entries that are large enough in their rows, the one whose elimination makes least work comes
first (Duff, Erisman, Reid, Direct Methods for Sparse Matrices, chapters 5 and 7). The matrix is known at several
places, and an entry counts by the one at which it is smallest: what vanishes where a bar lies level is no pivot. So
runtimes may factorise along one order, and need no search.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

#: Least size of a pivot beside the greatest entry of its row.
THRESHOLD = 0.05

#: Rows with the fewest entries that are looked at for each pivot.
LOOKED_AT = 6


def pivots(
    sparsity: Sequence[tuple[int, int]], size: int, samples: Sequence[np.ndarray]
) -> tuple[tuple[int, int], ...]:
    """Pairs (row, column) in the order of elimination.

    Args:
        sparsity: row and column of each value.
        size: number of rows and columns.
        samples: values of the matrix at several places; none where no place is known: then all entries count alike.
    """
    values = np.array(samples) if len(samples) else np.ones((1, len(sparsity)))
    values = _equilibrated(values, sparsity, size)
    rows: list[dict[int, np.ndarray]] = [{} for _ in range(size)]
    columns: list[set[int]] = [set() for _ in range(size)]
    for k, (i, j) in enumerate(sparsity):
        rows[i][j] = values[:, k]
        columns[j].add(i)
    queue = [(len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(queue)
    is_open, found = [True] * size, []
    while (pair := _best(rows, columns, queue, is_open)) is not None:
        i, j = pair
        found.append(pair)
        is_open[i] = False
        row = rows[i]
        for column in row:
            columns[column].discard(i)
        pivot = row.pop(j)
        with np.errstate(all="ignore"):
            inverse = np.where(pivot == 0, 0, 1 / pivot)
        for k in columns[j]:
            factor = rows[k].pop(j) * inverse
            for column, value in row.items():
                rows[k][column] = rows[k].get(column, 0.0) - factor * value
                columns[column].add(k)
            heapq.heappush(queue, (len(rows[k]), k))
        columns[j] = set()
    # What is left has no entries: the matrix is singular, and runtimes will say so in any order.
    taken = {j for _, j in found}
    rest = zip((i for i in range(size) if is_open[i]), (j for j in range(size) if j not in taken), strict=True)
    return (*found, *rest)


def _best(
    rows: list[dict[int, np.ndarray]], columns: list[set[int]], queue: list[tuple[int, int]], is_open: list[bool]
) -> tuple[int, int] | None:
    """The pivot that makes least work among those large enough; where there is none, the largest one, if any."""
    looked: list[tuple[int, int]] = []
    seen: set[int] = set()
    best: tuple[int, float, int, int] | None = None
    largest = (-1.0, -1, -1)
    while queue and (best is None or (len(looked) < LOOKED_AT and best[0] > (queue[0][0] - 1) ** 2)):
        count, i = heapq.heappop(queue)
        if not is_open[i] or count != len(rows[i]) or i in seen:
            continue
        seen.add(i)
        looked.append((count, i))
        if not rows[i]:
            continue
        entries = np.abs(np.array(list(rows[i].values())))
        most = entries.max(axis=0)
        with np.errstate(all="ignore"):
            sizes = np.where(most > 0, entries / most, 0).min(axis=1)
        for j, size in zip(rows[i], sizes, strict=True):
            largest = max(largest, (float(size), i, j))
            if size >= THRESHOLD:
                candidate = ((count - 1) * (len(columns[j]) - 1), -float(size), i, j)
                best = candidate if best is None else min(best, candidate)
    for entry in looked:
        heapq.heappush(queue, entry)
    if best is not None:
        return best[2:]
    return largest[1:] if largest[1] >= 0 else None


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
