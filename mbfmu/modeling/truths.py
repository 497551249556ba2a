"""Truths: expressions that are conditions, 1 or 0, and no numbers whose sign says something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

_TRUTHS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR}
#: What is a truth where all that it is made of are.
_OF_TRUTHS = {ca.OP_MUL, ca.OP_FMIN, ca.OP_FMAX}


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
