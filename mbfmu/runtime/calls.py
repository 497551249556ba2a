"""Calls within functions of numbers: operations that many places share are one function, which each of them calls.

CasADi keeps such a call where the function is made with `never_inline`; it counts as one instruction with many
operands and results, and its derivatives are calls, too. Where every result of the called function is 0 unless one of
its arguments is something else, this argument is its *guard*: a call whose guard is 0 need not be made.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar

import casadi as ca

from mbfmu.instructions import instructions_of

#: Results that are kept of each function that is decorated below.
_MOST = 4096

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def by_function(
    work: Callable[Concatenate[ca.Function, _Parameters], _Result],
) -> Callable[Concatenate[ca.Function, _Parameters], _Result]:
    """Keep what comes out for a function, which CasADi wraps anew wherever it is asked for one that is called."""
    known: dict[tuple[object, ...], tuple[ca.Function, _Result]] = {}

    def found(function: ca.Function, /, *others: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        key = (function.__hash__(), *others, *named.items())
        if key not in known:
            if len(known) >= _MOST:
                known.clear()
            known[key] = function, work(function, *others, **named)  # the function stays, and its hash with it
        return known[key][1]

    functools.update_wrapper(found, work)
    return found


def find_calls(function: ca.Function) -> dict[int, ca.Function]:
    """Called functions of a function of numbers, by the numbers of the instructions that call them."""
    kind = instructions_of(function).operation
    at = [k for k in range(function.n_instructions()) if kind(k) == ca.OP_CALL]
    if not at:
        return {}
    nodes: Any = function.instructions_sx().elements()  # its stub is wrong about the type
    return {k: nodes[k].which_function() for k in at}


@by_function
def calls_in(function: ca.Function) -> dict[int, ca.Function]:
    """The same, kept with the function, for one that is asked again."""
    return find_calls(function)


@by_function
def called_by(function: ca.Function) -> tuple[ca.Function, ...]:
    """The functions that a function of numbers calls, or the leaf functions of one of matrices, each once."""
    if function.is_a("SXFunction"):
        found = list(calls_in(function).values())
    else:
        at = [k for k in range(function.n_instructions()) if function.instruction_id(k) == ca.OP_CALL]
        found = [function.instruction_MX(k).which_function() for k in at]
    return tuple({called.__hash__(): called for called in found}.values())


def has_calls(function: ca.Function) -> bool:
    """Does a function have calls when it is written in numbers?"""
    called = called_by(function)
    return bool(called) if function.is_a("SXFunction") else any(map(has_calls, called))


def offsets(sizes: Iterator[int] | list[int]) -> list[int]:
    """Where each of several vectors begins that lie one behind the other, and where the last one ends."""
    return list(itertools.accumulate(sizes, initial=0))


def argument_offsets(function: ca.Function) -> list[int]:
    """Where the numbers of each argument begin among those of all."""
    return offsets([function.nnz_in(i) for i in range(function.n_in())])


def result_offsets(function: ca.Function) -> list[int]:
    """Where the numbers of each result begin among those of all."""
    return offsets([function.nnz_out(i) for i in range(function.n_out())])


@by_function
def guard_of(function: ca.Function) -> int | None:
    """Number of the argument, among all numbers, that is the guard of a called function; None where there is none."""
    guards: dict[int, int | None] = {}  # by CasADi's places: the argument that must not be 0 for what is there
    inputs: dict[int, int] = {}
    begin, found = argument_offsets(function), set()
    operation, inputs_of, outputs_of = instructions_of(function)
    for k in range(function.n_instructions()):
        kind, of, to = operation(k), inputs_of(k), outputs_of(k)
        if kind == ca.OP_OUTPUT:
            if of[0] not in guards:
                return None
            found.add(guards[of[0]])
            continue
        for place in to:
            guards.pop(place, None)
        passed = inputs.get(of[0]) if kind == ca.OP_IF_ELSE_ZERO else None
        for place in to:
            inputs.pop(place, None)
        if kind == ca.OP_INPUT:
            inputs[to[0]] = begin[of[0]] + of[1]
        elif passed is not None:
            guards[to[0]] = passed
        elif kind == ca.OP_CONST and repr(function.instruction_constant(k)) == "0.0":
            guards[to[0]] = None
    found.discard(None)
    return found.pop() if len(found) == 1 else None


__all__ = [
    "argument_offsets",
    "by_function",
    "called_by",
    "calls_in",
    "find_calls",
    "guard_of",
    "has_calls",
    "result_offsets",
]
