"""Common subexpression elimination: operations that are written several times over are done once.

This is local value numbering (Cocke and Schwartz, Programming Languages and Their Compilers, 1970): operations that do
the same to the same are one. CasADi has it, too (`casadi.cse`), but takes milliseconds for each call of a function.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import casadi as ca

from mbfmu.instructions import instructions_of
from mbfmu.runtime.calls import argument_offsets, calls_in

#: Operations whose operands may change places without a change of a bit.
_COMMUTATIVE = frozenset({ca.OP_ADD, ca.OP_MUL, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR})


def cse(values: Sequence[ca.SX]) -> list[ca.SX]:
    """The same values, with common parts computed once.

    Args:
        values: Matrices of expressions.
    """
    values = list(values)
    if not any(value.nnz() for value in values):  # which CasADi has no answer for
        return values
    symbols = ca.symvar(ca.veccat(*values))
    function = ca.Function("cse", [ca.vertcat(ca.SX(0, 1), *symbols)], values)
    calls = calls_in(function)
    if not calls:
        return list(ca.cse(values))
    operation, operands_of, targets = instructions_of(function)
    made: list[ca.SX] = []  # what has been written
    first: dict[tuple[object, ...], int] = {}  # where in that, by what is done to which of it
    at = [0] * function.sz_w()  # the same by CasADi's places
    results: list[list[ca.SX]] = [[] for _ in values]
    for k in range(function.n_instructions()):
        kind, operands, to = operation(k), operands_of(k), targets(k)
        if kind == ca.OP_OUTPUT:
            results[to[0]].append(made[at[operands[0]]])
            continue
        if kind == ca.OP_INPUT:
            key: tuple[object, ...] = (kind, operands[1])
        elif kind == ca.OP_CONST:
            key = (kind, struct.pack("<d", function.instruction_constant(k)))  # as bytes: nan is nan
        elif kind == ca.OP_CALL:
            key = (kind, calls[k].__hash__(), *(at[place] for place in operands))
        elif kind in _COMMUTATIVE:
            key = (kind, *sorted(at[place] for place in operands))
        else:
            key = (kind, *(at[place] for place in operands))
        if key not in first:
            first[key] = len(made)
            if kind == ca.OP_INPUT:
                made.append(symbols[operands[1]])
            elif kind == ca.OP_CONST:
                made.append(ca.SX(function.instruction_constant(k)))
            elif kind == ca.OP_CALL:
                made += _called(calls[k], [made[at[place]] for place in operands])
            else:
                write = ca.SX.unary if len(operands) == 1 else ca.SX.binary
                made.append(write(kind, *(made[at[place]] for place in operands)))
        for which, place in enumerate(to, first[key]):
            if place >= 0:  # results of calls that nobody reads have none
                at[place] = which
    return [
        ca.SX(value.sparsity(), ca.vertcat(ca.SX(0, 1), *found)) for value, found in zip(values, results, strict=True)
    ]


def _called(function: ca.Function, values: list[ca.SX]) -> list[ca.SX]:
    """All results of a function, one behind the other."""
    begins = argument_offsets(function)
    arguments = [
        ca.SX(function.sparsity_in(k), ca.vertcat(ca.SX(0, 1), *values[begins[k] : begins[k + 1]]))
        for k in range(function.n_in())
    ]
    found: Any = [part for result in function.call(arguments) for part in result.nonzeros()]  # its stub is wrong
    return list(found)
