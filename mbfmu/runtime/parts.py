"""Equations that fall apart into independent parts, so that linear algebra is done part by part.

A part is a set of equations with all unknowns that they know, none of which another part knows: a connected component
of the graph that the sparsity of the Jacobian draws between rows and unknowns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import casadi as ca
import numpy as np
import scipy


@dataclasses.dataclass(frozen=True)
class Part:
    """How many rows follow those of the part before, and which unknowns these know, in ascending order."""

    rows: int
    unknowns: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Parted:
    """Rows in the order of their parts, `order` of those that were given, and the blocks of their Jacobian."""

    order: tuple[int, ...]
    parts: tuple[Part, ...]
    rows: ca.SX
    #: Of each part one after the other, column by column; zeros in a block are left out.
    jacobian: ca.SX

    @classmethod
    def of(cls, rows: ca.SX, unknowns: ca.SX) -> Parted:
        """The independent parts of some rows [n] of equations in unknowns [m]."""
        slopes = ca.sparsify(ca.jacobian(rows, unknowns))
        at, columns = (np.array(index, dtype=int) for index in slopes.sparsity().get_triplet())
        order, parts = independent_parts(at, columns, rows.numel(), unknowns.numel())
        places, count = _places(order, parts, at, columns, unknowns.numel())
        packed = ca.SX(count, 1)
        if places.size:
            by_place = np.argsort(places)
            pattern = ca.Sparsity.triplet(count, 1, places[by_place].tolist(), [0] * places.size)
            packed = ca.SX(pattern, slopes.nz[by_place.tolist()])
        return cls(order, parts, rows[list(order)] if order else ca.SX(0, 1), packed)


def independent_parts(
    rows: np.ndarray, columns: np.ndarray, nrows: int, ncolumns: int
) -> tuple[tuple[int, ...], tuple[Part, ...]]:
    """Order of the rows, and the parts, in the order of their first rows, of a matrix by the places of its entries.

    A row without entries is a part of its own, a column without entries belongs to none.
    """
    if not nrows:
        return (), ()
    edges = scipy.sparse.coo_array((np.ones(rows.size), (rows, nrows + columns)), shape=(nrows + ncolumns,) * 2)
    labels = scipy.sparse.csgraph.connected_components(edges, directed=False)[1]
    first, inverse = np.unique(labels[:nrows], return_index=True, return_inverse=True)[1:]
    order = np.lexsort((np.arange(nrows), first[inverse]))
    unknowns: dict[int, list[int]] = {}
    for column, label in enumerate(labels[nrows:]):
        unknowns.setdefault(int(label), []).append(column)
    count = np.bincount(labels[:nrows])
    parts = tuple(Part(int(count[label]), tuple(unknowns.get(int(label), ()))) for label in labels[np.sort(first)])
    return tuple(order.tolist()), parts


def _places(
    order: Sequence[int], parts: Sequence[Part], rows: np.ndarray, columns: np.ndarray, ncolumns: int
) -> tuple[np.ndarray, int]:
    """Where entries stand in the blocks, and how long these are together."""
    position = np.empty(len(order), dtype=int)
    position[list(order)] = np.arange(len(order))
    begin, row, count = np.zeros(ncolumns, dtype=int), 0, 0
    for part in parts:
        for k, unknown in enumerate(part.unknowns):
            begin[unknown] = count + k * part.rows - row
        row += part.rows
        count += part.rows * len(part.unknowns)
    return begin[columns] + position[rows], count


def dense(blocks: np.ndarray, parts: Sequence[Part], ncolumns: int) -> np.ndarray:
    """The Jacobian [n, m] of which the blocks of the parts are given, one after the other."""
    matrix = np.zeros((sum(part.rows for part in parts), ncolumns))
    row = at = 0
    for part in parts:
        size = part.rows * len(part.unknowns)
        block = blocks[at : at + size].reshape((part.rows, len(part.unknowns)), order="F")
        matrix[row : row + part.rows, list(part.unknowns)] = block
        row, at = row + part.rows, at + size
    return matrix
