"""Instructions of CasADi's functions, which have some ten thousand, read without what each call of a method costs."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca

_pointer: Callable[[ca.Function], Any] = operator.attrgetter("this")


class Instructions(NamedTuple):
    """Methods of a function, each of the number of an instruction: what it does, and where it reads and writes."""

    operation: Callable[[int], int]
    inputs: Callable[[int], list[int]]
    outputs: Callable[[int], list[int]]


def instructions_of(function: ca.Function) -> Instructions:
    """Return `instruction_id`, `instruction_input`, `instruction_output` of a function; they take a third of the time.

    SWIG's wrappers look for what is behind an object at each call, by comparing the names of its types. They take that,
    which stays as long as these callables do, as it is.
    """
    pointer = _pointer(function)
    return Instructions(
        functools.partial(ca.Function.instruction_id, pointer),
        functools.partial(ca.Function.instruction_input, pointer),
        functools.partial(ca.Function.instruction_output, pointer),
    )
