"""Sources of Boolean and Integer signals (Modelica.Blocks.Sources 4.1)."""

from __future__ import annotations

import functools
import operator
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from mbfmu.components.blocks.interfaces import IntegerSignalSource, IntegerSO, partialBooleanSource
from mbfmu.components.blocks.logical import TRUE_FROM, true
from mbfmu.components.blocks.math import RealToInteger
from mbfmu.components.blocks.sources import Pulse, RealExpression
from mbfmu.components.blocks.tables import CombiTimeTable
from mbfmu.errors import ModelError
from mbfmu.modeling import BooleanInput, BooleanOutput, Component, IntegerOutput, Parameter, RealInput, required
from mbfmu.modeling import types as t


class BooleanExpression(RealExpression):
    """Set output signal to a time varying Boolean expression."""

    modelica_name = "Blocks.Sources.BooleanExpression"

    y = BooleanOutput("Value of Boolean output", shape=lambda self: self.expression_shape)


class IntegerExpression(RealExpression):
    """Set output signal to a time varying Integer expression."""

    modelica_name = "Blocks.Sources.IntegerExpression"

    y = IntegerOutput("Value of Integer output", shape=lambda self: self.expression_shape)


class BooleanConstant(partialBooleanSource):
    """Generate constant signal of type Boolean."""

    modelica_name = "Blocks.Sources.BooleanConstant"

    k = Parameter(t.Boolean, True, "Constant output value")

    def equations(self) -> None:
        self.y = float(self.k)


class BooleanStep(partialBooleanSource):
    """Generate step signal of type Boolean."""

    modelica_name = "Blocks.Sources.BooleanStep"

    startTime = Parameter(t.Time, 0.0, "Time instant of step start")
    startValue = Parameter(t.Boolean, False, "Output before startTime")

    def equations(self) -> None:
        self.time_event(self.startTime)
        self.y = self.switch(self.time - self.startTime, float(not self.startValue), float(self.startValue))


class _High(Component):
    """True while a signal that changes at events only is 1, false while it is 0."""

    u = RealInput("Connector of Real input signal")
    y = BooleanOutput("Connector of Boolean output signal")

    def equations(self) -> None:
        self.y = true(self.u)


class BooleanPulse(partialBooleanSource):
    """Generate pulse signal of type Boolean."""

    modelica_name = "Blocks.Sources.BooleanPulse"

    width = Parameter(t.Real, 50.0, "Width of pulse in % of period", min=1e-60, max=100)
    period = Parameter(t.Time, required, "Time for one period", min=1e-60)
    startTime = Parameter(t.Time, 0.0, "Time instant of first pulse")

    def build(self) -> None:
        period = self.period if self.is_given("period") else 1.0
        self.pulse = Pulse(width=self.width, period=period, startTime=self.startTime)
        self.high = _High()
        self.connect(self.pulse.y, self.high.u)
        self.connect(self.high.y, self.y)


class _Stepwise(Component):
    """Values that change at the instants of a table."""

    extrapolation = Parameter(t.Extrapolation, "HoldLastPoint", "Extrapolation of data outside the definition range")
    startTime = Parameter(t.Time, -1e60, "Output = 0 for time < startTime")
    shiftTime = Parameter(t.Time, 0.0, "Shift time of table")

    #: What makes the output of the table's values.
    conversion: ClassVar[type[Component]]

    def build(self) -> None:
        if self.extrapolation == "LastTwoPoints":
            raise ModelError(f"{self.where}.extrapolation = 'LastTwoPoints': does not suit steps; hold the last point")
        self.combiTimeTable = CombiTimeTable(
            table=self.steps(),
            smoothness="ConstantSegments",
            extrapolation=self.extrapolation,
            startTime=self.startTime,
            shiftTime=self.shiftTime,
        )
        self.converted = self.conversion()
        self.connect(self.combiTimeTable.y[0], self.converted.u)
        self.connect(self.converted.y, self.y)

    def steps(self) -> np.ndarray:
        """Rows of time and value."""
        raise NotImplementedError(f"{type(self).__name__} must define steps()")

    def rising(self, instants: Any) -> None:
        """Refuse instants that do not rise."""
        if np.any(np.diff(instants) <= 0):
            raise ModelError(f"{self.where}.table: its times must rise strictly, and are {np.ravel(instants).tolist()}")


class BooleanTable(_Stepwise):
    """Generate a Boolean output signal based on a vector of time instants: at each of them it changes."""

    modelica_name = "Blocks.Sources.BooleanTable"
    conversion = _High

    table = Parameter(t.Real, (0.0, 1.0), "Instants at which y gets its opposite value", shape=None, structural=True)
    startValue = Parameter(t.Boolean, False, "Start value of y; at time = table[1] it changes")
    y = BooleanOutput("Connector of Boolean output signal")

    def steps(self) -> np.ndarray:
        instants = np.atleast_1d(np.asarray(self.table, dtype=float))
        self.rising(instants)
        if not instants.size:
            return np.array([[0.0, float(self.startValue)]])
        values = (np.arange(1, instants.size + 1) + self.startValue) % 2
        return np.array([[instants[0], float(self.startValue)], *np.column_stack([instants, values])])


class RadioButtonSource(Component):
    """Boolean signal source that mimics a radio button: it goes on at instants, and off where a reset becomes true."""

    modelica_name = "Blocks.Sources.RadioButtonSource"

    buttonTimeTable = Parameter(t.Time, (0.0, 1.0), "Time instants where button is pressed", shape=None)
    nReset = Parameter(t.Integer, 1, "Number of signals that reset the button", min=0)
    reset = BooleanInput(
        "Reset button to false, if an element of reset becomes true",
        shape=lambda self: (self.nReset,),
        when=lambda self: self.nReset > 0,
    )
    on = BooleanOutput("= true, while the button is pressed")

    def equations(self) -> None:
        instants = ca.vertsplit(ca.vec(self.buttonTimeTable))
        pressed = functools.reduce(operator.or_, [self.edge(self.time >= instant) for instant in instants])
        signals = ca.vertsplit(self.reset) if self.nReset else []
        reset = [self.edge(self.pre(signal) >= TRUE_FROM) for signal in signals]
        self.on = self.hold(pressed, *reset, value=pressed.active)


class SampleTrigger(Component):
    """Generate sample trigger signal: true at each instant of sampling only."""

    modelica_name = "Blocks.Sources.SampleTrigger"

    period = Parameter(t.Time, required, "Sample period", min=100 * 2.220446049250313e-16)
    startTime = Parameter(t.Time, 0.0, "Time instant of first sample trigger")
    y = BooleanOutput("= true, at an instant of sampling")

    def equations(self) -> None:
        self.y = self.active(self.sample(self.startTime, self.period))


class IntegerConstant(IntegerSO):
    """Generate constant signal of type Integer."""

    modelica_name = "Blocks.Sources.IntegerConstant"

    k = Parameter(t.Integer, required, "Constant output value")

    def equations(self) -> None:
        self.y = float(self.k)


class IntegerStep(IntegerSignalSource):
    """Generate step signal of type Integer."""

    modelica_name = "Blocks.Sources.IntegerStep"

    height = Parameter(t.Integer, 1, "Height of step")

    def equations(self) -> None:
        self.time_event(self.startTime)
        self.y = self.offset + self.switch(self.time - self.startTime, float(self.height), 0.0)


class IntegerTable(_Stepwise):
    """Generate an Integer output signal based on a table matrix with [time, yi] values."""

    modelica_name = "Blocks.Sources.IntegerTable"
    conversion = RealToInteger

    table = Parameter(
        t.Real, ((0.0, 0.0),), "Table matrix (first column: time; second: y)", shape=None, structural=True
    )
    y = IntegerOutput("Connector of Integer output signal")

    def steps(self) -> np.ndarray:
        rows = np.asarray(self.table, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise ModelError(f"{self.where}.table: expected rows of time and value, got shape {rows.shape}")
        self.rising(rows[:, 0])
        if np.any(rows[:, 1] != np.round(rows[:, 1])):
            raise ModelError(f"{self.where}.table: its second column must be whole numbers")
        return rows


__all__ = [
    "BooleanConstant",
    "BooleanExpression",
    "BooleanPulse",
    "BooleanStep",
    "BooleanTable",
    "IntegerConstant",
    "IntegerExpression",
    "IntegerStep",
    "IntegerTable",
    "RadioButtonSource",
    "SampleTrigger",
]
