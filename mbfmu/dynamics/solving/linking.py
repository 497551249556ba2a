"""Linking: local expressions as leaf functions, called with values that others have given.

Groups of one kind evaluate the same expressions (mbfmu.dynamics.solving.articulated_body). So each expression is a
leaf function once, and what differs is where the values of its symbols are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import casadi as ca

from mbfmu.dynamics.columns import hashes, stacked, symbols_in
from mbfmu.runtime.cse import cse

#: Vectors of up to so many elements are handed to a leaf function whole.
PASSED_WHOLE = 40
#: Where a linker has the value of a symbol: number of the vector, and of its element.
Place = tuple[int, int]


class Work:
    """Expressions of a kind that are evaluated for each of its groups."""

    def __init__(self, expressions: Sequence[ca.SX]) -> None:
        self.column = stacked(expressions)
        self.symbols = symbols_in(self.column)
        self.hashes = hashes(self.symbols)
        #: Leaf functions, by where the values of the symbols are.
        self.leaves: dict[Hashable, ca.Function] = {}


@dataclasses.dataclass(frozen=True)
class Step:
    """Expressions of a kind, and the symbols (by hash) that have the last of them as their values."""

    work: Work
    #: Number of expressions.
    size: int
    symbols: list[int]
    #: Numbers of the group's symbols in them; their other symbols are placeholders.
    reads: list[int]


class Linker:
    """Turns local expressions into values: they become a leaf function, called with the values of its symbols."""

    def __init__(self, symbolic: type) -> None:
        self._symbolic = symbolic
        self._values: list[Any] = []
        self._leaves: dict[str, ca.Function] = {}
        #: Where the values of symbols are, by hash.
        self.places: dict[int, Place] = {}

    def define(self, symbols: Iterable[ca.SX], values: Any) -> None:
        """From now on the scalar symbols have the elements of a vector as their values."""
        number = self.add(values)
        self.places |= {symbol: (number, i) for i, symbol in enumerate(hashes(symbols))}

    def add(self, values: Any) -> int:
        """Take a vector of values: its number."""
        self._values.append(values)
        return len(self._values) - 1

    def value(self, work: Work, place: Callable[[int], Place]) -> Any:
        """Values of expressions as one vector; `place` says where those of their symbols are."""
        gathered: dict[int, tuple[list[int], list[int]]] = {}
        for number, symbol in enumerate(work.hashes):
            source, index = place(symbol)
            numbers, indices = gathered.setdefault(source, ([], []))
            numbers.append(number)
            indices.append(index)
        arguments, values = [], []
        # The latest results first: code is generated depth first, so what a leaf reads is then computed close to it.
        for source, (numbers, indices) in sorted(gathered.items(), reverse=True):
            whole = self._values[source]
            if whole.numel() <= PASSED_WHOLE:  # picking elements inside the leaf costs nothing, copying them does
                values.append(whole)
                arguments.append((whole.numel(), tuple(numbers), tuple(indices)))
            else:
                values.append(whole[indices])
                arguments.append((len(indices), tuple(numbers), tuple(range(len(indices)))))
        key = tuple(arguments)
        if key not in work.leaves:
            work.leaves[key] = self._leaf(work, arguments)
        result = work.leaves[key].call(values)[0]
        return result if values else self._symbolic(result)

    def _leaf(self, work: Work, arguments: list[tuple[int, tuple[int, ...], tuple[int, ...]]]) -> ca.Function:
        """The leaf function of expressions; equal ones are one function, in which common parts are computed once.

        `arguments`: size of each, numbers of the symbols whose values it has, and which of its elements these are.
        """
        inputs = [ca.SX.sym(f"i{k}", size) for k, (size, _, _) in enumerate(arguments)]
        column = work.column
        if inputs:
            symbols = [work.symbols[i] for _, numbers, _ in arguments for i in numbers]
            values = [inputs[k][list(indices)] for k, (_, _, indices) in enumerate(arguments)]
            column = ca.substitute(column, ca.vertcat(*symbols), ca.vertcat(*values))
        key = ca.Function("leaf", inputs, [column]).serialize()
        if key not in self._leaves:
            self._leaves[key] = ca.Function("leaf", inputs, list(map(ca.densify, cse([column]))))
        return self._leaves[key]
