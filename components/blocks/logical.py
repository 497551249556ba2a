"""Comparisons of signals, logical functions and memories (Modelica.Blocks.Logical 4.1).

In equations a Boolean signal is a number: 1 means true and 0 false, and inputs are true from 0.5 on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import casadi as ca

from mbfmu.components.blocks.interfaces import (
    partialBooleanComparison,
    partialBooleanSI2SO,
    partialBooleanSISO,
    partialBooleanThresholdComparison,
)
from mbfmu.modeling import BooleanInput, BooleanOutput, Component, Parameter, RealInput, RealOutput, required
from mbfmu.modeling import types as t

TRUE_FROM = 0.5


class _Comparison(Component):
    """Block that compares its input with a reference: a subclass defines `reference`."""

    #: True where the output is true above the reference, and where it is true at the reference.
    above: bool
    at_equality: bool

    def compare(self, u: Any, reference: Any) -> Any:
        """1 or 0; the crossing is located."""
        distance = u - reference if self.above == self.at_equality else reference - u
        return self.switch(distance, 1.0, 0.0) if self.at_equality else self.switch(distance, 0.0, 1.0)


class _Threshold(_Comparison, partialBooleanThresholdComparison):
    """Comparison with a parameter."""

    def equations(self) -> None:
        self.y = self.compare(self.u, self.threshold)


class _TwoSignals(_Comparison, partialBooleanComparison):
    """Comparison of two signals."""

    def equations(self) -> None:
        self.y = self.compare(self.u1, self.u2)


class GreaterThreshold(_Threshold):
    """Output y is true, if input u is greater than threshold."""

    modelica_name = "Blocks.Logical.GreaterThreshold"
    above, at_equality = True, False


class GreaterEqualThreshold(_Threshold):
    """Output y is true, if input u is greater or equal than threshold."""

    modelica_name = "Blocks.Logical.GreaterEqualThreshold"
    above, at_equality = True, True


class LessThreshold(_Threshold):
    """Output y is true, if input u is less than threshold."""

    modelica_name = "Blocks.Logical.LessThreshold"
    above, at_equality = False, False


class LessEqualThreshold(_Threshold):
    """Output y is true, if input u is less or equal than threshold."""

    modelica_name = "Blocks.Logical.LessEqualThreshold"
    above, at_equality = False, True


class Greater(_TwoSignals):
    """Output y is true, if input u1 is greater than input u2."""

    modelica_name = "Blocks.Logical.Greater"
    above, at_equality = True, False


class GreaterEqual(_TwoSignals):
    """Output y is true, if input u1 is greater or equal than input u2."""

    modelica_name = "Blocks.Logical.GreaterEqual"
    above, at_equality = True, True


class Less(_TwoSignals):
    """Output y is true, if input u1 is less than input u2."""

    modelica_name = "Blocks.Logical.Less"
    above, at_equality = False, False


class LessEqual(_TwoSignals):
    """Output y is true, if input u1 is less or equal than input u2."""

    modelica_name = "Blocks.Logical.LessEqual"
    above, at_equality = False, True


class Switch(Component):
    """Switch between two Real signals: y = u1 where u2 is true, else u3."""

    modelica_name = "Blocks.Logical.Switch"

    u1 = RealInput("Connector of first Real input signal")
    u2 = BooleanInput("True for u1, false for u3")
    u3 = RealInput("Connector of second Real input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.switch(self.u2 - TRUE_FROM, self.u1, self.u3)


def true(signal: Any) -> Any:
    """True while a signal stands for a Boolean that is true."""
    return signal >= TRUE_FROM


class _Gate(partialBooleanSI2SO):
    """Logical function of its inputs alone, which it takes to change at events only."""

    function: ClassVar[Callable[..., Any]]

    def equations(self) -> None:
        self.y = type(self).function(true(self.u1), true(self.u2))


def _gate(name: str, function: Callable[..., Any], doc: str) -> type[_Gate]:
    """Gate of a function, which is all that it consists of."""
    return type(
        name,
        (_Gate,),
        {
            "__doc__": doc,
            "__module__": __name__,
            "function": staticmethod(function),
            "modelica_name": f"Blocks.Logical.{name}",
        },
    )


And = _gate("And", ca.logic_and, "Logical 'and': y = u1 and u2.")
Or = _gate("Or", ca.logic_or, "Logical 'or': y = u1 or u2.")
Xor = _gate("Xor", lambda a, b: a != b, "Logical 'xor': y = u1 xor u2.")
Nand = _gate("Nand", lambda a, b: ca.logic_not(ca.logic_and(a, b)), "Logical 'nand': y = not (u1 and u2).")
Nor = _gate("Nor", lambda a, b: ca.logic_not(ca.logic_or(a, b)), "Logical 'nor': y = not (u1 or u2).")


class Not(partialBooleanSISO):
    """Logical 'not': y = not u."""

    modelica_name = "Blocks.Logical.Not"

    def equations(self) -> None:
        self.y = ca.logic_not(true(self.u))


class LogicalSwitch(Component):
    """Logical switch: y = u1 where u2 is true, else u3."""

    modelica_name = "Blocks.Logical.LogicalSwitch"

    u1 = BooleanInput("Signal for a true u2")
    u2 = BooleanInput("True for u1, false for u3")
    u3 = BooleanInput("Signal for a false u2")
    y = BooleanOutput("The chosen signal")

    def equations(self) -> None:
        self.y = ca.if_else(true(self.u2), true(self.u1), true(self.u3))


class _Memory(Component):
    """Boolean with a memory: it becomes true where `sets` is positive, false where `clears` is."""

    def remember(self, sets: Any, clears: Any, at_start: bool) -> Any:
        """1 or 0; `at_start` is its value before the start."""
        to_true, to_false = (clears, sets) if at_start else (sets, clears)
        changed = self.switch(lambda changed: ca.if_else(changed > 0.5, -to_false, to_true), 1, 0)
        return 1 - changed if at_start else changed


class Pre(_Memory):
    """Breaks algebraic loops by an infinitesimal small time delay: events go on until u = pre(u)."""

    modelica_name = "Blocks.Logical.Pre"

    pre_u_start = Parameter(t.Boolean, False, "Start value of pre(u) at initial time")
    u = BooleanInput("Connector of Boolean input signal")
    y = BooleanOutput("= true, where u was true before")

    def equations(self) -> None:
        excess = self.u - TRUE_FROM
        self.y = self.remember(excess, -excess, self.pre_u_start)


class Hysteresis(_Memory):
    """Transform Real to Boolean signal with hysteresis."""

    modelica_name = "Blocks.Logical.Hysteresis"

    uLow = Parameter(t.Real, required, "If y=true and u<uLow, switch to y=false")
    uHigh = Parameter(t.Real, required, "If y=false and u>uHigh, switch to y=true")
    pre_y_start = Parameter(t.Boolean, False, "Value of pre(y) at initial time")
    u = RealInput("Connector of Real input signal")
    y = BooleanOutput("= true, where the signal is high")

    def equations(self) -> None:
        self.require(self.uHigh - self.uLow, "uHigh is smaller than uLow; exchange them")
        self.y = self.remember(self.u - self.uHigh, self.uLow - self.u, self.pre_y_start)


class OnOffController(_Memory):
    """On-off controller: on below the band around the reference, off above it."""

    modelica_name = "Blocks.Logical.OnOffController"

    bandwidth = Parameter(t.Real, required, "Bandwidth around reference signal", min=0)
    pre_y_start = Parameter(t.Boolean, False, "Value of pre(y) at initial time")
    reference = RealInput("Connector of Real input signal used as reference signal")
    u = RealInput("Connector of Real input signal used as measurement signal")
    y = BooleanOutput("= true, where the controller is on")

    def equations(self) -> None:
        error, half = self.reference - self.u, self.bandwidth / 2
        self.y = self.remember(error - half, -error - half, self.pre_y_start)


class RSFlipFlop(_Memory):
    """A basic RS flip flop; R prevails over S."""

    modelica_name = "Blocks.Logical.RSFlipFlop"

    Qini = Parameter(t.Boolean, False, "Start value of Q at initial time")
    S = BooleanInput("Set")
    R = BooleanInput("Reset")
    Q = BooleanOutput("= true, where set")
    QI = BooleanOutput("= true, where neither set nor being set")

    def equations(self) -> None:
        reset = self.R - TRUE_FROM
        self.Q = self.remember(ca.fmin(self.S - TRUE_FROM, -reset), reset, self.Qini)
        self.QI = ca.logic_not(ca.logic_or(self.Q > 0.5, true(self.S)))


class TriggeredTrapezoid(Component):
    """Triggered trapezoid generator: y rises while u is true and falls while it is false, each within its duration."""

    modelica_name = "Blocks.Logical.TriggeredTrapezoid"

    amplitude = Parameter(t.Real, 1.0, "Amplitude of trapezoid")
    rising = Parameter(t.Time, 0.0, "Rising duration of trapezoid", min=0)
    falling = Parameter(t.Time, lambda self: self.rising, "Falling duration of trapezoid", min=0)
    offset = Parameter(t.Real, 0.0, "Offset of output signal")
    u = BooleanInput("Connector of Boolean input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        up = true(self.u)

        def begun(before: Any) -> Any:
            """Where y goes from here, its rate, and when it is there."""
            end = self.offset + ca.if_else(up, self.amplitude, 0)
            duration = ca.if_else(up, self.rising, self.falling)
            rate = ca.if_else(up, 1, -1) * ca.if_else(duration > 0, self.amplitude / duration, 0)
            way = end - (before[0] - ca.fmax(before[2] - self.time, 0) * before[1])
            moves = ca.logic_and(rate != 0, ca.logic_not(self.initial.active))
            return ca.vertcat(end, rate, self.time + ca.if_else(moves, way / rate, 0))

        end, rate, instant = ca.vertsplit(self.hold(self.initial, self.change(up), value=begun, start=ca.DM.zeros(3)))
        self.y = self.switch(self.time - instant, end, end - (instant - self.time) * rate)


class _Instant(partialBooleanSISO):
    """Signal that is true for the instant of an event only, by which it becomes an event of other blocks."""

    pre_u_start = Parameter(t.Boolean, False, "Start value of pre(u) at initial time")

    def equations(self) -> None:
        self.y = self.active(self.instant())

    def instant(self) -> Any:
        """The event: a subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} must define instant()")


class Edge(_Instant):
    """Output y is true, if the input u has a rising edge (y = edge(u))."""

    modelica_name = "Blocks.Logical.Edge"

    def instant(self) -> Any:
        return self.edge(true(self.u))


class FallingEdge(_Instant):
    """Output y is true, if the input u has a falling edge (y = edge(not u))."""

    modelica_name = "Blocks.Logical.FallingEdge"

    def instant(self) -> Any:
        return self.edge(ca.logic_not(true(self.u)))


class Change(_Instant):
    """Output y is true, if the input u has a rising or falling edge (y = change(u))."""

    modelica_name = "Blocks.Logical.Change"

    def instant(self) -> Any:
        return self.change(true(self.u))


class ZeroCrossing(Component):
    """Trigger zero crossing of input u."""

    modelica_name = "Blocks.Logical.ZeroCrossing"

    u = RealInput("Connector of Real input signal")
    enable = BooleanInput("Zero input crossing is triggered if the enable input signal is true")
    y = BooleanOutput("= true, at the instant of a crossing")

    def equations(self) -> None:
        enabled = self.switch(self.enable - TRUE_FROM, 1.0, 0.0)
        positive = ca.logic_and(enabled, self.switch(self.u, 1.0, 0.0))
        self.y = self.active(self.change(positive) & ~self.change(enabled))


class Timer(Component):
    """Timer measuring the time from the time instant where the Boolean input became true."""

    modelica_name = "Blocks.Logical.Timer"

    u = BooleanInput("Connector of Boolean input signal")
    y = RealOutput("Time since u became true, 0 while it is false", type=t.Time)

    def equations(self) -> None:
        entered = self.hold(true(self.u), value=self.time)
        self.y = ca.if_else(true(self.u), self.time - entered, 0)


class LogicalDelay(Component):
    """Delay boolean signal: y1 falls, and y2 rises, after u does."""

    modelica_name = "Blocks.Logical.LogicalDelay"

    delayTime = Parameter(t.Time, 0.0, "Time delay", min=0)
    u = BooleanInput("Connector of Boolean input signal")
    y1 = BooleanOutput("= true, while u is true and for delayTime after")
    y2 = BooleanOutput("= true, while u is true, but not for delayTime at first")

    def equations(self) -> None:
        switched = self.hold(
            self.initial,
            true(self.u),
            ca.logic_not(true(self.u)),
            value=ca.if_else(self.initial.active, self.time - 2 * self.delayTime, self.time),
        )
        late = self.switch(self.time - (switched + self.delayTime), 1.0, 0.0)
        self.y1 = ca.logic_or(true(self.u), ca.logic_not(late))
        self.y2 = ca.logic_and(true(self.u), late)


class AssertCondition(Component):
    """Stop with a message where the condition is not true; a mere warning is not given."""

    modelica_name = "Blocks.Logical.AssertCondition"

    message = Parameter(t.String, "Assert block failed", "Message of the assert block")
    assertionLevel = Parameter(t.AssertionLevel, "error", "Assertion level; warnings are not given")
    u = BooleanInput("Condition")

    def equations(self) -> None:
        if self.assertionLevel == "error":
            self.require(self.u - TRUE_FROM, self.message)


class TerminateSimulation(Component):
    """Terminate simulation if condition is fulfilled.

    `condition` is a Boolean signal; or it is given as true, false, or a function of time such as
    `lambda time: time >= 2`. A condition given as text is a note: it has no effect.
    """

    modelica_name = "Blocks.Logical.TerminateSimulation"

    terminationText = Parameter(t.String, "... End condition reached", "Text displayed when simulation is terminated")
    condition = BooleanInput(
        "Terminate simulation when condition becomes true", when=lambda self: "_condition" not in vars(self)
    )

    def modify(self, **modifiers: Any) -> None:
        """Take values, of the condition, too."""
        if "condition" in modifiers:
            self.__dict__["_condition"] = modifiers.pop("condition")
        super().modify(**modifiers)

    def equations(self) -> None:
        given = vars(self._component).get("_condition", self)
        if given is self:
            self.terminate(true(self.condition), message=self.terminationText)
        elif callable(given):
            self.terminate(given(self.time), message=self.terminationText)


__all__ = [
    "And",
    "AssertCondition",
    "Change",
    "Edge",
    "FallingEdge",
    "Greater",
    "GreaterEqual",
    "GreaterEqualThreshold",
    "GreaterThreshold",
    "Hysteresis",
    "Less",
    "LessEqual",
    "LessEqualThreshold",
    "LessThreshold",
    "LogicalDelay",
    "LogicalSwitch",
    "Nand",
    "Nor",
    "Not",
    "OnOffController",
    "Or",
    "Pre",
    "RSFlipFlop",
    "Switch",
    "TerminateSimulation",
    "Timer",
    "TriggeredTrapezoid",
    "Xor",
    "ZeroCrossing",
]
