"""Conditions in equations: comparisons, Booleans and signs, each where it is asked for, against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Component
from mbfmu.errors import ModelError, SimulationError
from mbfmu.modeling import BooleanInput, DiscreteState, IntegerInput, RealInput, RealOutput
from mbfmu.modeling import types as t

TIMES = np.linspace(0, 1, 41)


class Law(Component):
    """Output that follows from inputs by a rule."""

    u, on, n = RealInput("A wave"), BooleanInput("True"), IntegerInput("Two")
    y = RealOutput("What the rule gives")
    k = DiscreteState(t.Real, "What an event gives", start=0.0)
    rule: Callable[[Any], Any]

    def equations(self) -> None:
        self.y = type(self).rule(self)


def wave(times: np.ndarray) -> np.ndarray:
    return np.sin(6 * times)


def output(rule: Callable[[Any], Any]) -> tuple[np.ndarray, np.ndarray]:
    """Times and values of the rule's output; u is sin 6t, on is true and n is 2."""

    class Rules(Assembly):
        def __init__(self) -> None:
            self.law = type("Law", (Law,), {"rule": staticmethod(rule)})()
            self.input(self.law.u, "u")
            self.input(self.law.on, "on", start=1.0)
            self.input(self.law.n, "n", start=2.0)

    result = mbfmu.simulate(Rules(), 1.0, interval=0.05, inputs={"u": (TIMES, wave(TIMES))})
    return np.asarray(result.time), np.asarray(result["law.y"])


#: The choice between 1 and 2 that a condition makes, and when it holds; at no recorded time is u one of the limits.
CONDITIONS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray, np.ndarray], Any]]] = {
    "less": (lambda s: s.u < 0.1, lambda t, u: u < 0.1),
    "less or equal": (lambda s: s.u <= 0.1, lambda t, u: u <= 0.1),
    "greater": (lambda s: s.u > 0.1, lambda t, u: u > 0.1),
    "greater or equal": (lambda s: s.u >= 0.1, lambda t, u: u >= 0.1),
    "time": (lambda s: s.time > 0.1, lambda t, u: t > 0.1 - 1e-9),  # at an instant, what is just after it counts
    "and": (lambda s: ca.logic_and(s.u > 0.1, s.time < 0.3), lambda t, u: (u > 0.1) & (t < 0.3 - 1e-9)),
    "or": (lambda s: ca.logic_or(s.u > 0.9, s.u < -0.1), lambda t, u: (u > 0.9) | (u < -0.1)),
    "not": (lambda s: ca.logic_not(s.u > 0.1), lambda t, u: u <= 0.1),
    "product": (lambda s: (s.u > 0.1) * (s.u < 0.5), lambda t, u: (u > 0.1) & (u < 0.5)),
    "least": (lambda s: ca.fmin(s.u > 0.1, s.u < 0.5), lambda t, u: (u > 0.1) & (u < 0.5)),
    "greatest": (lambda s: ca.fmax(s.u > 0.9, s.u < -0.1), lambda t, u: (u > 0.9) | (u < -0.1)),
    "one minus": (lambda s: 1 - (s.u > 0.1), lambda t, u: u <= 0.1),
    "branches": (
        lambda s: ca.if_else(s.time < 0.5, s.u > 0.2, s.u < -0.2),
        lambda t, u: np.where(t < 0.5 - 1e-9, u > 0.2, u < -0.2),
    ),
    "a Boolean": (lambda s: s.on, lambda t, u: True),
    "no Boolean": (lambda s: ca.logic_not(s.on), lambda t, u: False),
    "Python's False": (lambda s: False, lambda t, u: False),
    "equal": (lambda s: s.n == 2, lambda t, u: True),
    "another number": (lambda s: s.n == 1, lambda t, u: False),
    "not equal": (lambda s: s.n != 1, lambda t, u: True),
    "another switch": (lambda s: s.switch(s.u - 0.1, 1, 0), lambda t, u: u >= 0.1),
    "a sign": (lambda s: s.u - 0.1, lambda t, u: u >= 0.1),
    "no sign": (lambda s: 2 * (s.u > 0.1) - 1, lambda t, u: u > 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CONDITIONS)
def test_switch_takes_conditions_as_such(case: str) -> None:
    condition, holds = CONDITIONS[case]
    times, y = output(lambda scope: scope.switch(condition(scope), 1, 2))
    np.testing.assert_array_equal(y, np.where(holds(times, wave(times)), 1, 2))


def test_comparison_with_hysteresis() -> None:
    """On above 1/2, off below -1/2."""
    times, y = output(lambda scope: scope.switch(lambda on: scope.u > 0.5 - on, 1, 2))
    on = (times > np.arcsin(0.5) / 6) & (times < (np.pi + np.arcsin(0.5)) / 6)
    np.testing.assert_array_equal(y, np.where(on, 1, 2))


@pytest.mark.parametrize("condition", [lambda s: s.u > -0.5, lambda s: [1.0, s.u > -0.5], lambda s: s.time < 0.7])
def test_requirement_may_be_a_comparison(condition: Callable[[Any], Any]) -> None:
    def rule(scope: Any) -> Any:
        scope.require(condition(scope), "left the range")
        return scope.u

    with pytest.raises(SimulationError, match="left the range"):
        output(rule)


def test_requirement_that_holds_stops_nothing() -> None:
    def rule(scope: Any) -> Any:
        scope.require(scope.u < 2, "left the range")
        scope.require(scope.on, "switched off")
        return scope.u

    times, y = output(rule)
    np.testing.assert_allclose(y[::2], wave(times)[::2], atol=1e-12)  # inputs are given at each second one at least


#: What is no condition where one is asked for, or a condition where a number is, and words of the message.
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "when": (lambda s: s.when(s.u - 0.5, k=1), r"\(u-0.5\), whose sign says nothing here"),
    "hold": (lambda s: s.hold(s.u - 0.5, value=1), "whose sign says nothing here"),
    "edge": (lambda s: s.edge(2 * s.u), "whose sign says nothing here"),
    "terminate": (lambda s: s.terminate(s.u - 0.5, message="end"), "whose sign says nothing here"),
    "an event": (lambda s: s.switch(s.edge(s.u > 0), 1, 2), "an event is given where a condition is needed"),
    "equal": (lambda s: s.switch(s.u == 0, 1, 2), "u == 0 compares what changes between events"),
    "not equal": (lambda s: s.when(s.u != 0, k=1), "compares what changes between events"),
    "initially": (lambda s: s.initially(s.u == 2), "initial equation is the comparison .*difference of both sides"),
    "relation": (lambda s: s.relation(s.u == 2), "a relation is the comparison"),
    "implied": (lambda s: s.implied(s.u == 2), "is the comparison"),
    "constrain": (lambda s: s.constrain(velocity=s.u == 2), "a constraint is the comparison"),
    "time_event": (lambda s: s.time_event(s.time > 0.5), "an instant is the comparison"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_would_mean_something_else_is_refused(case: str) -> None:
    wrong, words = REFUSED[case]

    def rule(scope: Any) -> Any:
        wrong(scope)
        return scope.u

    with pytest.raises(ModelError, match=words):
        output(rule)
