"""Which expressions are conditions, and which numbers a condition was added to as if it were one."""

from __future__ import annotations

from typing import Any

import casadi as ca
import pytest

from mbfmu.modeling.truths import counted, is_truth

X, Y, B, C = (ca.SX.sym(name) for name in ("x", "y", "b", "c"))


def is_boolean(symbol: ca.SX) -> bool:
    """B and C are."""
    return symbol.name() in ("b", "c")


TRUTHS: dict[str, tuple[Any, bool]] = {
    "a bool": (False, True),
    "a comparison": (X > 0, True),
    "a Boolean": (B, True),
    "a negation": (ca.logic_not(B), True),
    "one less a Boolean": (1 - B, True),
    "a product": (B * (X > 0), True),
    "the least": (ca.fmin(B, X > 0), True),
    "a choice of truths": (ca.if_else(B, X > 0, Y > 0), True),
    "a choice of 1 and 0": (ca.if_else(B, 1, ca.if_else(C, 0, X > 0)), True),
    "a number": (X, False),
    "one": (ca.SX(1), False),
    "two of them": (ca.vertcat(B, C), False),
    "a product with a number": (B * X, False),
    "two less a Boolean": (2 - B, False),
    "a sum": (B + C, False),
    "a choice of numbers": (ca.if_else(B, 2, X > 0), False),
    "a text": ("true", False),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_a_truth_is_made_of_conditions_alone(name: str) -> None:
    value, expected = TRUTHS[name]
    assert is_truth(value, is_boolean) is expected


TWICE = X * Y

#: An expression; the condition that it reckons with.
COUNTED: dict[str, tuple[ca.SX, ca.SX | None]] = {
    "a number": (X + Y, None),
    "a truth": (B * C, None),
    "the sign of a Boolean": (B - 0.5, None),
    "the other sign": (1 - 2 * B, None),
    "the sign of a comparison": (2 * (X > 0) - 1, None),
    "one condition twice": ((X > 0) + (X > 0) - 1.5, None),
    "two conditions": (B + C - 1.5, B),
    "a Boolean and a number": (X - B, B),
    "what keeps its sign": (B + 0.5, B),
    "below a function": (ca.sqrt(B + 1), B),
    "ahead of a choice": (2 * (Y + B) + ca.if_else(X > 0, 3.0, Y), B),
    "behind a choice": (ca.if_else(X > 0, 3.0, Y) + 2 * (Y + B), B),
    "ahead of what is there twice": (2 * (Y + B) + (TWICE + 3 * TWICE), B),
    "a choice": (ca.if_else(X > 0, 3.0, 1.0), None),
    "a product with a number": (X * B - 1, B),
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_condition_is_no_number_to_reckon_with(name: str) -> None:
    value, expected = COUNTED[name]
    found = counted(value, is_boolean)
    assert (found is None) is (expected is None)
    assert found is None or ca.is_equal(found, expected)


def test_a_symbol_that_is_no_boolean_is_a_number() -> None:
    assert not is_truth(B, lambda symbol: False)
    assert counted(X - B, lambda symbol: False) is None
