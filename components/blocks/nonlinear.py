"""Discontinuous and kinked functions of signals (Modelica.Blocks.Nonlinear 4.1). Parameters take numbers or vectors."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.blocks.interfaces import SISO, Element, common_shape, rows, size_of
from mbfmu.modeling import Component, Parameter, RealInput, RealOutput, State, required
from mbfmu.modeling import types as t

#: Description of a parameter that models take over from Modelica.
HOMOTOPY = "Simplified model for homotopy-based initialization (no effect: initialisation needs none)"


class _Elementwise(SISO):
    """Block that treats each element of its input alone: a subclass defines `law`."""

    def equations(self) -> None:
        self.y = rows(self.law(Element(self, i)) for i in range(size_of(common_shape(self._component))))

    def law(self, p: Any) -> Any:
        """Output of one element; `p` has its input and parameters."""
        raise NotImplementedError(f"{type(self).__name__} must define law()")


class Limiter(_Elementwise):
    """Limit the range of a signal."""

    modelica_name = "Blocks.Nonlinear.Limiter"

    uMax = Parameter(t.Real, required, "Upper limits of input signals", shape=None)
    uMin = Parameter(t.Real, lambda self: -self.uMax, "Lower limits of input signals", shape=None)
    strict = Parameter(t.Boolean, False, "= true, if strict limits with noEvent(..)")
    homotopyType = Parameter(t.LimiterHomotopy, "Linear", HOMOTOPY)

    def law(self, p: Any) -> Any:
        self.require(p.uMax - p.uMin, "uMax is smaller than uMin; exchange them")
        if self.strict:
            return ca.fmin(ca.fmax(p.u, p.uMin), p.uMax)
        return self.switch(p.u - p.uMax, p.uMax, self.switch(p.uMin - p.u, p.uMin, p.u))


class VariableLimiter(Component):
    """Limit the range of a signal with variable limits."""

    modelica_name = "Blocks.Nonlinear.VariableLimiter"

    strict = Parameter(t.Boolean, False, "= true, if strict limits with noEvent(..)")
    homotopyType = Parameter(t.VariableLimiterHomotopy, "Linear", HOMOTOPY)
    ySimplified = Parameter(t.Real, 0.0, "Fixed value of output in simplified model (no effect)")
    limit1 = RealInput("Connector of Real input signal used as maximum of input u")
    u = RealInput("Connector of Real input signal")
    limit2 = RealInput("Connector of Real input signal used as minimum of input u")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        u, top, bottom = self.u, self.limit1, self.limit2
        if self.strict:
            self.y = ca.fmin(ca.fmax(u, bottom), top)
        else:
            self.y = self.switch(u - top, top, self.switch(bottom - u, bottom, u))


class DeadZone(_Elementwise):
    """Provide a region of zero output."""

    modelica_name = "Blocks.Nonlinear.DeadZone"

    uMax = Parameter(t.Real, required, "Upper limits of dead zones", shape=None)
    uMin = Parameter(t.Real, lambda self: -self.uMax, "Lower limits of dead zones", shape=None)

    def law(self, p: Any) -> Any:
        self.require(p.uMax - p.uMin, "uMax is smaller than uMin; exchange them")
        return self.switch(p.u - p.uMax, p.u - p.uMax, self.switch(p.uMin - p.u, p.u - p.uMin, 0.0))


class SlewRateLimiter(Component):
    """Limit the slew rate of a signal."""

    modelica_name = "Blocks.Nonlinear.SlewRateLimiter"

    Rising = Parameter(t.Real, 1.0, "Maximum rising slew rate, 1/s", min=1e-60)
    Falling = Parameter(t.Real, lambda self: -self.Rising, "Maximum falling slew rate, 1/s", max=-1e-60)
    Td = Parameter(t.Time, 0.001, "Derivative time constant", min=1e-14)
    initType = Parameter(t.Init, "SteadyState", "Type of initialization (SteadyState implies y = u)")
    y_start = Parameter(t.Real, 0.0, "Initial or guess value of output (= state)")
    strict = Parameter(t.Boolean, False, "= true, if strict limits with noEvent(..)")

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")
    x = State(
        t.Real,
        "State of block (= y)",
        start=lambda self: self.y_start,
        fixed=lambda self: self.initType in ("InitialState", "InitialOutput"),
    )

    def equations(self) -> None:
        rate = (self.u - self.x) / self.Td
        if self.strict:
            self.der.x = ca.fmin(ca.fmax(rate, self.Falling), self.Rising)
        else:
            rising = self.switch(rate - self.Rising, self.Rising, rate)
            self.der.x = self.switch(self.Falling - rate, self.Falling, rising)
        self.y = self.x
        if self.initType == "SteadyState":
            self.initially(self.x - self.u, "steady state")


class FixedDelay(SISO):
    """Delay block with fixed delay time: y(t) = u(t - delayTime), and u at the start until then."""

    modelica_name = "Blocks.Nonlinear.FixedDelay"

    delayTime = Parameter(t.Time, required, "Delay time of output with respect to input signal", min=0)

    def equations(self) -> None:
        self.y = self.delay(self.u, self.delayTime)


class VariableDelay(SISO):
    """Delay block with variable delay time, which is positive and at most delayMax."""

    modelica_name = "Blocks.Nonlinear.VariableDelay"

    delayMax = Parameter(t.Time, required, "Maximum delay time", min=0)
    delayTime = RealInput("Delay time", type=t.Time)

    def equations(self) -> None:
        self.y = self.delay(self.u, self.delayTime, self.delayMax)


__all__ = ["DeadZone", "FixedDelay", "Limiter", "SlewRateLimiter", "VariableDelay", "VariableLimiter"]
