"""Common subexpression elimination: operations that are written several times over are done once.

This is local value numbering (Cocke and Schwartz, Programming Languages and Their Compilers, 1970): operations that do
the same to the same are one. CasADi has it, too (`casadi.cse`), but takes milliseconds for each call of a function.
Numbers are taken into what is called, so that nothing is worked out, or handed over, that they decide: 0 times whatever
it is is 0 then, as CasADi has it where no call stands in between.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from mbfmu.instructions import instructions_of
from mbfmu.runtime.calls import argument_offsets, by_function, calls_in, find_calls

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
    calls = find_calls(function)
    return _written(function, calls, [symbols]) if calls else list(ca.cse(values))


def _written(
    function: ca.Function, calls: Mapping[int, ca.Function], arguments: Sequence[Sequence[ca.SX]]
) -> list[ca.SX]:
    """Results of a function, written out for the elements of its arguments, each operation once.

    `calls`: its called functions, as `find_calls` has them.
    """
    operation, operands_of, targets = instructions_of(function)
    made: list[ca.SX] = []  # what has been written
    first: dict[tuple[object, ...], int] = {}  # where in that, by what is done to which of it
    at = [0] * function.sz_w()  # the same by CasADi's places
    results: list[list[ca.SX]] = [[] for _ in range(function.n_out())]
    for k in range(function.n_instructions()):
        kind, operands, to = operation(k), operands_of(k), targets(k)
        if kind == ca.OP_OUTPUT:
            results[to[0]].append(made[at[operands[0]]])
            continue
        if kind == ca.OP_INPUT:
            key: tuple[object, ...] = (kind, *operands)
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
                made.append(arguments[operands[0]][operands[1]])
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
    return [_filled(function.sparsity_out(k), found) for k, found in enumerate(results)]


def _filled(sparsity: ca.Sparsity, scalars: Sequence[ca.SX]) -> ca.SX:
    return ca.SX(sparsity, ca.vertcat(ca.SX(0, 1), *scalars))


def _called(function: ca.Function, values: list[ca.SX]) -> list[ca.SX]:
    """All results of a function, one behind the other: numbers, where numbers decide them, without a call."""
    numbers = tuple((i, float(value)) for i, value in enumerate(values) if value.is_constant())
    if numbers:
        function, read = _with_numbers(function, numbers)
        if not read:
            nothing = [ca.DM(function.sparsity_in(k)) for k in range(function.n_in())]
            return [ca.SX(number) for result in function.call(nothing) for number in result.nonzeros()]
        values = [values[i] for i in read]
    begins = argument_offsets(function)
    arguments = [_filled(function.sparsity_in(k), values[begins[k] : begins[k + 1]]) for k in range(function.n_in())]
    found: Any = [part for result in function.call(arguments) for part in result.nonzeros()]  # its stub is wrong
    return list(found)


@by_function
def _with_numbers(function: ca.Function, numbers: tuple[tuple[int, float], ...]) -> tuple[ca.Function, list[int]]:
    """A function with numbers for some of its arguments, and which of the others it reads.

    Args:
        function: The function.
        numbers: (place among the numbers of all arguments, value).
    """
    begins, known = argument_offsets(function), dict(numbers)
    values = [ca.SX(known[i]) if i in known else ca.SX.sym("s") for i in range(begins[-1])]
    arguments = [values[begins[k] : begins[k + 1]] for k in range(function.n_in())]
    results = _written(function, calls_in(function), arguments)
    left = {symbol.element_hash() for symbol in ca.symvar(ca.veccat(*results))}
    read = [i for i, value in enumerate(values) if i not in known and value.element_hash() in left]
    inputs = [ca.vertcat(*(values[i] for i in read if begins[k] <= i < begins[k + 1])) for k in range(function.n_in())]
    return ca.Function(
        function.name(), inputs, [ca.densify(result) for result in results], {"never_inline": True}
    ), read


__all__ = ["cse"]
