"""Truths: expressions that are conditions, 1 or 0, and no numbers whose sign says something."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.instructions import instructions_of

_TRUTHS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR}
#: What is a truth where all that it is made of are.
_OF_TRUTHS = {ca.OP_MUL, ca.OP_FMIN, ca.OP_FMAX}
#: What reckons with numbers.
_ARITHMETIC = {
    *(ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ, ca.OP_SQRT, ca.OP_FABS),
    *(ca.OP_POW, ca.OP_CONSTPOW, ca.OP_SIGN, ca.OP_FMIN, ca.OP_FMAX),
}
#: What is worked out with numbers.
_SIMPLE: dict[int, Callable[..., float]] = {
    ca.OP_ADD: operator.add,
    ca.OP_SUB: operator.sub,
    ca.OP_MUL: operator.mul,
    ca.OP_NEG: operator.neg,
    ca.OP_TWICE: lambda x: 2 * x,
}


def is_truth(value: Any, is_boolean: Callable[[ca.SX], bool]) -> bool:
    """True for a bool, and for a scalar expression that is made of comparisons and Booleans only.

    `is_boolean` says which symbols are Boolean. Numbers are no truths, not even 0 and 1.
    """
    if isinstance(value, bool | np.bool_):
        return True
    if not isinstance(value, ca.SX) or not value.is_scalar() or value.is_constant():
        return False
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if part.is_constant():
            if float(part) not in (0.0, 1.0):
                return False
        elif part.is_symbolic():
            if not is_boolean(part):
                return False
        elif part.op() not in _TRUTHS:
            deeper = _operands(part)
            if not deeper:
                return False
            waiting += deeper
    return True


def counted(value: ca.SX, is_boolean: Callable[[ca.SX], bool]) -> ca.SX | None:
    """A condition that a scalar number is reckoned with as if it were one, on top of it; None where there is none.

    A number that follows from one condition alone and changes its sign with it, as `b - 0.5`, is no such: its sign says
    something. Nor is `if_else(condition, 1, 0)`, a number.
    """
    if value.is_constant() or value.is_symbolic() or is_truth(value, is_boolean) or not _reckons(value, is_boolean):
        return None
    waiting = [value]
    folded, seen = _Folded(is_boolean), set[int]()
    while waiting:
        part = waiting.pop()
        if part.element_hash() in seen:
            continue
        seen.add(part.element_hash())
        if part.op() not in _ARITHMETIC or folded.changes_sign(part):
            continue
        operands = [part.dep(i) for i in range(part.n_dep())]
        for operand in operands:
            if _is_condition(operand, is_boolean):
                return operand
        waiting += [operand for operand in operands if not operand.is_constant() and not operand.is_symbolic()]
    return None


def _reckons(value: ca.SX, is_boolean: Callable[[ca.SX], bool]) -> bool:
    """False where no arithmetic that gives a number has a condition for an operand.

    Numbers of many parts are seen through at once; of others it has to be looked what their conditions do.
    """
    function = ca.Function("value", [], [value], {"allow_free": True})
    operation, operands_of, results_of = instructions_of(function)
    symbols = iter(function.free_sx())
    maker = [0] * function.sz_w()  # of what is at each place of work
    reckoned: dict[int, list[int]] = {}  # instructions of arithmetic, with those that make their operands
    conditions: dict[int, ca.SX | None] = {}  # comparisons, and symbols
    for k in range(function.n_instructions()):
        code = operation(k)
        if code == ca.OP_OUTPUT:
            return _is_reckoned(maker[operands_of(k)[0]], reckoned, conditions, is_boolean)
        if code in _ARITHMETIC:
            reckoned[k] = [maker[place] for place in operands_of(k)]
        elif code in _TRUTHS:
            conditions[k] = None
        elif code == ca.OP_PARAMETER:
            conditions[k] = next(symbols)
        for place in results_of(k):
            maker[place] = k
    return False


def _is_reckoned(
    last: int,
    reckoned: Mapping[int, Sequence[int]],
    conditions: Mapping[int, ca.SX | None],
    is_boolean: Callable[[ca.SX], bool],
) -> bool:
    """Is one of the conditions an operand of the arithmetic that the last instruction gives the result of?"""
    waiting, seen = [last], {last}
    while waiting:
        for operand in reckoned.get(waiting.pop(), ()):
            if operand in conditions:
                symbol = conditions[operand]
                if symbol is None or is_boolean(symbol):
                    return True
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return False


def _is_condition(part: ca.SX, is_boolean: Callable[[ca.SX], bool]) -> bool:
    if part.is_constant():
        return False
    return is_boolean(part) if part.is_symbolic() else part.op() in _TRUTHS


class _Folded:
    """What single conditions and constants give, each part of an expression looked at once."""

    def __init__(self, is_boolean: Callable[[ca.SX], bool]) -> None:
        self._is_boolean = is_boolean
        #: By the hash of a part: values without its condition and with it, and that; None where it has more of them.
        self._known: dict[int, tuple[float, float, ca.SX | None] | None] = {}

    def changes_sign(self, value: ca.SX) -> bool:
        """True for what a condition and constants give, not negative with it only, or without it only."""
        values = self._of(value)
        return values is not None and (values[0] >= 0) != (values[1] >= 0)

    def _of(self, part: ca.SX) -> tuple[float, float, ca.SX | None] | None:
        key = part.element_hash()
        if key not in self._known:
            self._known[key] = self._worked_out(part)
        return self._known[key]

    def _worked_out(self, part: ca.SX) -> tuple[float, float, ca.SX | None] | None:
        if part.is_constant():
            return float(part), float(part), None
        if _is_condition(part, self._is_boolean):
            return 0.0, 1.0, part
        if part.is_symbolic() or part.op() not in _SIMPLE:
            return None
        operands = []
        for i in range(part.n_dep()):
            operand = self._of(part.dep(i))
            if operand is None:
                return None
            operands.append(operand)
        conditions = [condition for _, _, condition in operands if condition is not None]
        if any(not ca.is_equal(condition, conditions[0], 9) for condition in conditions[1:]):
            return None
        without, given = (_SIMPLE[part.op()](*(operand[which] for operand in operands)) for which in (0, 1))
        return without, given, conditions[0] if conditions else None


def _operands(part: ca.SX) -> list[ca.SX]:
    """What must be truths so that an operation gives one; nothing where it never does."""
    operation = part.op()
    operands = [part.dep(i) for i in range(part.n_dep())]
    if operation in _OF_TRUTHS:
        return operands
    if operation == ca.OP_IF_ELSE_ZERO:
        return operands[1:]
    if operation == ca.OP_ADD and all(_is_branch(operand) for operand in operands):  # if_else
        return [operand.dep(1) for operand in operands]
    if operation == ca.OP_SUB and operands[0].is_constant() and float(operands[0]) == 1:
        return operands[1:]
    return []


def _is_branch(operand: ca.SX) -> bool:
    return not operand.is_constant() and not operand.is_symbolic() and operand.op() == ca.OP_IF_ELSE_ZERO
