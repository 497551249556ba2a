"""What outputs and calculated parameters depend on at the start, for InitialUnknowns (FMI 2.0.4, section 2.2.8).

Importers read it to find algebraic loops between FMUs in their initialisation. It follows from the sparsity of the
functions of the contract: which parameter, input or time enters which result.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable

#: A set of entries of [p; u; t], bit by bit: large models have thousands of sets of thousands of entries.
Pattern = int


class StartPatterns:
    """Which entries of [p; u; t] enter a value at the start; one set per scalar, None where all may.

    Values that initialisation solves for together are None: each of them may depend on everything.
    """

    def __init__(self, equations: Equations) -> None:
        self._equations = equations
        self._rows: dict[str, list[Pattern | None]] = {}

    def row(self, store: str, index: int) -> Pattern | None:
        """Return the row of one scalar of a store (`time`, `u`, `P`, `x`, `w` or `y`)."""
        return self.rows(store)[index]

    def rows(self, store: str) -> list[Pattern | None]:
        """Return the rows of a whole store."""
        if store not in self._rows:
            self._rows[store] = getattr(self, f"_{store}")()
        return self._rows[store]

    def _unit(self, offset: int, count: int) -> list[Pattern | None]:
        return [1 << i for i in range(offset, offset + count)]

    def _time(self) -> list[Pattern | None]:
        return self._unit(self._equations.npar + self._equations.nu, 1)

    def _u(self) -> list[Pattern | None]:
        e = self._equations
        inner = e.ndelays + e.niterations  # delayed signals and iteration variables are found with all the rest
        return [*self._unit(e.npar, e.nu - inner), *([None] * inner)]

    def _p(self) -> list[Pattern | None]:
        rows = self._unit(0, self._equations.npar)
        for free in self._equations.free:
            rows[free] = None
        return rows

    def _P(self) -> list[Pattern | None]:
        return self.rows("p") + self._through("derived", 0, {0: "p"})

    def _m(self) -> list[Pattern | None]:
        return [None] * (self._equations.nm + self._equations.nheld)

    def _x(self) -> list[Pattern | None]:
        e = self._equations
        guess = self._through("guess", 0, {0: "P"})
        solved = {unknown for part in e.initial_parts for unknown in part.unknowns if not e.fixed[unknown]}
        return [None if i in solved else guess[i] for i in range(e.nx)]

    def _w(self) -> list[Pattern | None]:
        """A w = b, one block after the other, or w itself."""
        e = self._equations
        arguments = {0: "time", 1: "x", 2: "u", 3: "P", 4: "m"}
        if e.explicit:
            return self._through("dynamics", 1, arguments)
        matrix, vector = (self._through("dynamics", output, arguments) for output in (0, 1))
        if e.nl and not e.njacobian:
            return [_union([*matrix, *vector])] * e.nw
        places = e.sparsity or [(i, j) for j in range(e.nw) for i in range(e.nw)]
        entering = [[entry] for entry in vector]
        for entry, (i, _) in zip(matrix, places, strict=True):
            entering[i].append(entry)
        rows: list[Pattern | None] = [None] * e.nw
        for block in e.blocks:
            union = _union([entry for i in block for entry in entering[i]])
            for i in block:
                rows[i] = union
        return rows

    def _y(self) -> list[Pattern | None]:
        return self._through("variables", 0, {0: "time", 1: "x", 2: "u", 3: "P", 4: "m", 5: "w"})

    def _through(self, function: str, output: int, arguments: Mapping[int, str]) -> list[Pattern | None]:
        """Return the rows of an output of a function of the contract, whose arguments are stores."""
        f = self._equations.functions[function]
        entering: list[list[Pattern | None]] = [[0] for _ in range(f.numel_out(output))]
        for argument, store in arguments.items():
            sparsity = f.jac_sparsity(output, argument)
            if sparsity.nnz() == 0:
                continue
            rows = self.rows(store)
            for i, j in zip(*sparsity.get_triplet(), strict=True):
                entering[i].append(rows[j])
        return [_union(rows) for rows in entering]


def initial_dependencies(
    equations: Equations, variables: Sequence[ScalarVariable], unknowns: Iterable[int]
) -> dict[int, tuple[int, ...]]:
    """Return the knowns that each of some unknowns depends on at the start; no entry where it may be all of them.

    Knowns are inputs, time and variables that are initially exact. Unknowns and knowns are positions in `variables`,
    from 0; only outputs and calculated parameters are looked at, for nothing else can be connected.
    """
    patterns = StartPatterns(equations)
    # Column of [p; u; t] -> the variable that importers know it by.
    known: dict[int, int] = {}
    for i, variable in enumerate(variables):
        if variable.causality == "independent":
            known[equations.npar + equations.nu] = i
        elif variable.causality == "input":
            known[equations.npar + variable.index] = i
        elif variable.start_index is not None and variable.initial == "exact":
            known[variable.start_index] = i
    found = {}
    for i in unknowns:
        variable = variables[i]
        if variable.causality not in ("output", "calculatedParameter"):
            continue
        row = patterns.row(variable.store, variable.index)
        if row is not None:
            found[i] = tuple(sorted(known[column] for column in _entries(row) if column in known))
    return found


def _union(rows: Sequence[Pattern | None]) -> Pattern | None:
    present = [row for row in rows if row is not None]
    if len(present) < len(rows):
        return None
    return functools.reduce(operator.or_, present, 0)


def _entries(pattern: Pattern) -> list[int]:
    """Entries of a set, in ascending order."""
    data = np.frombuffer(pattern.to_bytes(pattern.bit_length() // 8 + 1, "little"), dtype=np.uint8)
    found: list[int] = np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
    return found
