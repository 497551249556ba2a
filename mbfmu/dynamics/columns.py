"""Columns of expressions, and their scalars."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any

import casadi as ca
import numpy as np

#: What SWIG's wrappers look for behind an expression, by comparing the names of its types: that takes as long as ten
#: hashes of symbols. They take it as it is.
_pointer: Callable[[ca.SX], Any] = operator.attrgetter("this")
_NOTHING = ca.SX(0, 1)


def column(value: Any) -> ca.SX:
    """`value` (number, sequence, array, SX) as SX; sequences as columns."""
    if isinstance(value, ca.SX):
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, ca.SX) for v in value):
        return ca.vertcat(ca.SX(0, 1), *value)
    if _is_matrix(value):
        return ca.vertcat(*(ca.horzcat(*row) for row in value))
    array = np.asarray(value)
    mixed = array.flat if array.dtype.kind == "O" else ()
    if array.dtype.kind in "US" or any(part is None or isinstance(part, str) for part in mixed):
        raise ValueError(f"{value!r:.60} is no number")  # which NumPy would make one of: '0.1' is 0.1, None is nan
    return ca.SX(array.astype(float))


def _is_matrix(value: Any) -> bool:
    """True for rows of one length with expressions in them."""
    if not isinstance(value, list | tuple) or not all(isinstance(row, list | tuple) for row in value):
        return False
    has_symbols = any(isinstance(part, ca.SX) for row in value for part in row)
    return has_symbols and len({len(row) for row in value}) == 1


def elements(column: ca.SX) -> list[ca.SX]:
    """The scalars of a column (or of the columns of a matrix)."""
    scalars: Any = ca.SX.elements(_pointer(column))  # far quicker than vertsplit; its stub is wrong about the type
    return list(scalars)


def shape(matrix: ca.SX) -> tuple[int, int]:
    """Rows and columns."""
    pointer = _pointer(matrix)
    return ca.SX.size1(pointer), ca.SX.size2(pointer)


def symbols_in(expression: ca.SX) -> list[ca.SX]:
    """The scalar symbols that an expression knows."""
    found: list[ca.SX] = ca.symvar(_pointer(expression))
    return found


def called(function: ca.Function, values: Iterable[ca.SX]) -> list[ca.SX]:
    """Results of a function of expressions, written out."""
    found: list[ca.SX] = function.call(list(map(_pointer, values)), True)
    return found


def hash_of(symbol: ca.SX) -> int:
    """What a scalar is known by in sets and mappings."""
    found: int = ca.SX.element_hash(_pointer(symbol))
    return found


def hashes(symbols: Iterable[ca.SX]) -> list[int]:
    """The same of several."""
    return list(map(ca.SX.element_hash, map(_pointer, symbols)))


def stacked(columns: Iterable[ca.SX]) -> ca.SX:
    """Columns (or the columns of matrices) one under the other."""
    return ca.veccat(*map(_pointer, [_NOTHING, *columns]))


def slope(column: ca.SX, unknowns: ca.SX) -> ca.SX:
    """The jacobian of a column that knows its unknowns in few of its operations.

    What does not know them is left aside meanwhile: each direction of CasADi's jacobian goes through all operations.
    """
    sought = set(hashes(ca.symvar(unknowns)))
    others = [symbol for symbol in ca.symvar(column) if symbol.element_hash() not in sought]
    short, symbols, aside = ca.extract_parametric(column, ca.vertcat(ca.SX(0, 1), *others))
    found = ca.jacobian(short, unknowns)
    return ca.substitute(found, ca.vertcat(*symbols), ca.vertcat(*aside)) if symbols else found


def plus(one: ca.SX, other: ca.SX) -> ca.SX:
    """The sum of two expressions; `+` looks for numbers and MX among them first, which takes five times as long."""
    found: ca.SX = ca.SX.binary(ca.OP_ADD, _pointer(one), _pointer(other))
    return found


def product(one: ca.SX, other: ca.SX) -> ca.SX:
    """The product of two matrices."""
    found: ca.SX = ca.mtimes(_pointer(one), _pointer(other))
    return found


class Written:
    """A formula of vectors and matrices that is written out once: calling it takes a fraction of its operations' time.

    All operations stay in it, those with 0 and 1, too, so that values come out as if they were done one by one.

    Args:
        formula: a function of expressions.
        shapes: theirs.
    """

    def __init__(self, formula: Callable[..., ca.SX], *shapes: tuple[int, int]) -> None:
        arguments = [ca.SX.sym("x", *shape) for shape in shapes]
        simplifies = ca.GlobalOptions.getSimplificationOnTheFly()
        ca.GlobalOptions.setSimplificationOnTheFly(False)
        try:
            self._function = ca.Function("formula", arguments, [formula(*arguments)])
        finally:
            ca.GlobalOptions.setSimplificationOnTheFly(simplifies)

    def __call__(self, *values: ca.SX) -> ca.SX:
        """Its value."""
        return called(self._function, values)[0]


def which_depend(column: ca.SX, on: ca.SX) -> list[int]:
    """Indices of the elements of a column that depend on any of some symbols."""
    if not column.numel() or not on.numel():
        return []
    return [i for i, does in enumerate(ca.which_depends(column, on, 1, True)) if does]


def pattern(expression: ca.SX, of: ca.SX) -> list[set[int]]:
    """Per element of an expression, the symbols (by number) that it depends on."""
    if not expression.numel() or not of.numel():
        return [set() for _ in range(expression.numel())]
    return rows_of(ca.jacobian_sparsity(expression, of))


def rows_of(sparsity: ca.Sparsity) -> list[set[int]]:
    """Per row of a matrix, the columns in which it has an entry."""
    turned = sparsity.T
    columns, starts = turned.row(), turned.colind()
    return [set(columns[i:j]) for i, j in itertools.pairwise(starts)]
