"""Signal sources (Modelica.Blocks.Sources 4.1). Parameters take numbers or vectors; a vector makes y one.

Where a source jumps or kinks it names the instant, so that a runtime stops there. One without end repeats for ever.
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca

from mbfmu.components.blocks.interfaces import SO, Element, common_shape, rows, size_of
from mbfmu.errors import ModelError
from mbfmu.modeling import BooleanOutput, Component, Parameter, RealInput, RealOutput, State, Variable, required
from mbfmu.modeling import types as t


class Source(SO):
    """Source whose elements are functions of time: a subclass defines `signal` for one of them."""

    def equations(self) -> None:
        self.y = rows(self.signal(Element(self, i)) for i in range(size_of(common_shape(self._component))))

    def signal(self, p: Any) -> Any:
        """Value of one element; `p` has its parameters."""
        raise NotImplementedError(f"{type(self).__name__} must define signal()")

    def from_time(self, instant: Any, then: Any, before: Any) -> Any:
        """`then` from an instant [s] on, `before` until then."""
        self.time_event(instant)
        return self.switch(self.time - instant, then, before)


class Constant(Source):
    """Generate constant signal of type Real."""

    modelica_name = "Blocks.Sources.Constant"

    k = Parameter(t.Real, required, "Constant output value", shape=None, tunable=True)

    def signal(self, p: Any) -> Any:
        return p.k


class RealExpression(Component):
    """Set output signal to a time varying Real expression.

    `y` is a number, a vector of numbers, or a function of time that returns either, made of CasADi's functions:
    `RealExpression(y=lambda time: ca.sin(2 * time))`.
    """

    modelica_name = "Blocks.Sources.RealExpression"

    y = RealOutput("Value of Real output", shape=lambda self: self.expression_shape)

    def modify(self, **modifiers: Any) -> None:
        """Give `y` its value; there is nothing else to give."""
        if "y" in modifiers:
            self.__dict__["_expression"] = modifiers.pop("y")
        super().modify(**modifiers)

    def value_at(self, time: Any) -> ca.SX:
        """Value of the expression, a column."""
        expression = self._expression if "_expression" in self.__dict__ else 0.0
        value = expression(time) if callable(expression) else expression
        try:
            column: ca.SX = ca.vertcat(ca.SX(0, 1), *value) if isinstance(value, list | tuple) else ca.SX(value)
        except (NotImplementedError, TypeError):
            raise ModelError(
                f"{self.where}.y = {expression!r}: expected a number, numbers, or a function of time that "
                "returns either"
            ) from None
        return column

    @property
    def expression_shape(self) -> tuple[int, ...]:
        """() for a number, (n,) for a vector."""
        size = self.value_at(ca.SX.sym("time")).numel()
        return () if size == 1 else (size,)

    def equations(self) -> None:
        self.y = self._component.value_at(self.time)


class _Started(Source):
    """Source with an offset that starts at some time."""

    offset = Parameter(t.Real, 0.0, "Offset of output signal y", shape=None, tunable=True)
    startTime = Parameter(t.Time, 0.0, "Output y = offset for time < startTime", shape=None)

    def signal(self, p: Any) -> Any:
        return p.offset + self.from_time(p.startTime, self.started(p, self.time - p.startTime), self.waiting(p))

    def started(self, p: Any, elapsed: Any) -> Any:
        """Signal without offset, `elapsed` seconds after startTime."""
        raise NotImplementedError(f"{type(self).__name__} must define started()")

    def waiting(self, p: Any) -> Any:
        """Signal without offset before startTime."""
        return 0.0


class ContinuousClock(_Started):
    """Generate current time signal."""

    modelica_name = "Blocks.Sources.ContinuousClock"

    def started(self, p: Any, elapsed: Any) -> Any:
        return elapsed


class Clock(ContinuousClock):
    """ContinuousClock under the name that the library gave it before version 4.0."""

    modelica_name = "Blocks.Sources.Clock"


class Step(_Started):
    """Generate step signal of type Real."""

    modelica_name = "Blocks.Sources.Step"

    height = Parameter(t.Real, 1.0, "Height of step", shape=None, tunable=True)

    def started(self, p: Any, elapsed: Any) -> Any:
        return p.height


class Ramp(_Started):
    """Generate ramp signal."""

    modelica_name = "Blocks.Sources.Ramp"

    height = Parameter(t.Real, 1.0, "Height of ramps", shape=None)
    duration = Parameter(t.Time, required, "Duration of ramp (= 0.0 gives a Step)", shape=None, min=0)

    def started(self, p: Any, elapsed: Any) -> Any:
        return self.from_time(p.startTime + p.duration, p.height, elapsed * p.height / _nonzero(p.duration))


class _Wave(_Started):
    """Oscillation."""

    amplitude = Parameter(t.Real, 1.0, "Amplitude of the wave", shape=None, tunable=True)
    f = Parameter(t.Frequency, required, "Frequency of the wave", shape=None)
    phase = Parameter(t.Angle, 0.0, "Phase of the wave", shape=None)
    continuous = Parameter(
        t.Boolean, False, "Make output (value and not derivative) continuous by starting at its value at startTime"
    )

    def started(self, p: Any, elapsed: Any) -> Any:
        return self.wave(p, elapsed)

    def waiting(self, p: Any) -> Any:
        return self.wave(p, 0.0) if self.continuous else 0.0

    def wave(self, p: Any, elapsed: Any) -> Any:
        """Oscillation, `elapsed` seconds after startTime."""
        raise NotImplementedError(f"{type(self).__name__} must define wave()")


class Sine(_Wave):
    """Generate sine signal."""

    modelica_name = "Blocks.Sources.Sine"

    def wave(self, p: Any, elapsed: Any) -> Any:
        return p.amplitude * ca.sin(2 * math.pi * p.f * elapsed + p.phase)


class Cosine(_Wave):
    """Generate cosine signal."""

    modelica_name = "Blocks.Sources.Cosine"

    def wave(self, p: Any, elapsed: Any) -> Any:
        return p.amplitude * ca.cos(2 * math.pi * p.f * elapsed + p.phase)


class ExpSine(_Wave):
    """Generate exponentially damped sine signal."""

    modelica_name = "Blocks.Sources.ExpSine"

    damping = Parameter(t.Type("Damping", unit="1/s"), required, "Damping coefficient of sine wave", shape=None)

    def wave(self, p: Any, elapsed: Any) -> Any:
        return p.amplitude * ca.exp(-p.damping * elapsed) * ca.sin(2 * math.pi * p.f * elapsed + p.phase)


class Exponentials(_Started):
    """Generate a rising and falling exponential signal."""

    modelica_name = "Blocks.Sources.Exponentials"

    outMax = Parameter(t.Real, 1.0, "Height of output for infinite riseTime", shape=None)
    riseTime = Parameter(t.Time, required, "Rise time", shape=None, min=0)
    riseTimeConst = Parameter(
        t.Time,
        0.1,
        "Rise time constant; rising is defined as outMax*(1-exp(-riseTime/riseTimeConst))",
        shape=None,
        min=1e-60,
    )
    fallTimeConst = Parameter(t.Time, lambda self: self.riseTimeConst, "Fall time constant", shape=None, min=1e-60)

    def started(self, p: Any, elapsed: Any) -> Any:
        top = p.outMax * (1 - ca.exp(-p.riseTime / p.riseTimeConst))
        rising = p.outMax * (1 - ca.exp(-elapsed / p.riseTimeConst))
        falling = top * ca.exp(-(elapsed - p.riseTime) / p.fallTimeConst)
        return self.from_time(p.startTime + p.riseTime, falling, rising)


# -- periodic sources -------------------------------------------------------------------------------------------------


def periodic_event(scope: Any, first: Any, period: Any, begins: bool = True) -> None:
    """Something jumps or kinks at `first` [s] and a period [s] later again and again; before `first`, too, where it
    never begins.

    Of the two instants that are named, rounding decides whether the first still lies ahead.
    """
    passed = ca.floor((scope.time - first) / period)
    passed = ca.fmax(passed, -1) if begins else passed
    scope.time_event(first + (passed + 1) * period)
    scope.time_event(first + (passed + 2) * period)


def period_count(scope: Any, start: Any, period: Any, begins: bool = True) -> Any:
    """Number of periods that have passed since `start`: a whole number, constant between the events.

    Whether it is odd is a switch, so that it cannot change within an integrator's step: at the border of two periods,
    where rounding decides what the floor is, the switch tells which one is meant.
    """
    periodic_event(scope, start, period, begins)
    passed = (scope.time - start) / period
    odd = scope.switch(passed - 2 * ca.floor(passed / 2) - 1, 1.0, 0.0)
    count = ca.floor(passed)
    correction = ca.if_else(passed - count < 0.5, -1.0, 1.0)
    return count + ca.if_else(ca.fabs(count - 2 * ca.floor(count / 2) - odd) > 0.5, correction, 0.0)


class _Periodic(_Started):
    """Signal that repeats itself."""

    amplitude = Parameter(t.Real, 1.0, "Amplitude of signal", shape=None, tunable=True)
    period = Parameter(t.Time, required, "Time for one period", shape=None, min=1e-60)
    nperiod = Parameter(t.Integer, -1, "Number of periods (< 0 means infinite number of periods)")

    def started(self, p: Any, elapsed: Any) -> Any:
        if self.nperiod == 0:
            return 0.0
        count = period_count(self, p.startTime, p.period)
        phase = elapsed - p.period * ca.floor(elapsed / p.period)
        value = self.cycle(p, elapsed - count * p.period, phase)
        return value if self.nperiod < 0 else self.from_time(p.startTime + self.nperiod * p.period, 0.0, value)

    def cycle(self, p: Any, within: Any, phase: Any) -> Any:
        """Signal without offset `within` seconds after the start of a period.

        `phase` is the same, for conditions of switches only: it may jump where `within`, within a step, may not.
        """
        raise NotImplementedError(f"{type(self).__name__} must define cycle()")

    def until(self, p: Any, instant: Any, phase: Any, then: Any, after: Any) -> Any:
        """`then` until `instant` [s] of every period, `after` from then on."""
        periodic_event(self, p.startTime + instant, p.period)
        return self.switch(phase - instant, after, then)


class Pulse(_Periodic):
    """Generate pulse signal of type Real."""

    modelica_name = "Blocks.Sources.Pulse"

    width = Parameter(t.Real, 50.0, "Width of pulse in % of period", shape=None, min=0, max=100)

    def cycle(self, p: Any, within: Any, phase: Any) -> Any:
        return self.until(p, p.period * p.width / 100, phase, p.amplitude, 0.0)


class SawTooth(_Periodic):
    """Generate saw tooth signal."""

    modelica_name = "Blocks.Sources.SawTooth"

    def cycle(self, p: Any, within: Any, phase: Any) -> Any:
        return p.amplitude * within / p.period


class Trapezoid(_Periodic):
    """Generate trapezoidal signal of type Real."""

    modelica_name = "Blocks.Sources.Trapezoid"

    rising = Parameter(t.Time, 0.0, "Rising duration of trapezoid", shape=None, min=0)
    width = Parameter(t.Time, 0.5, "Width duration of trapezoid", shape=None, min=0)
    falling = Parameter(t.Time, 0.0, "Falling duration of trapezoid", shape=None, min=0)

    def cycle(self, p: Any, within: Any, phase: Any) -> Any:
        top, bottom = p.rising + p.width, p.rising + p.width + p.falling
        falling = p.amplitude * (bottom - within) / _nonzero(p.falling)
        tail = self.until(p, bottom, phase, falling, 0.0)
        plateau = self.until(p, top, phase, p.amplitude, tail)
        return self.until(p, p.rising, phase, p.amplitude * within / _nonzero(p.rising), plateau)


class Sinc(_Started):
    """Generate sinc signal."""

    modelica_name = "Blocks.Sources.Sinc"

    amplitude = Parameter(t.Real, 1.0, "Amplitude of sine wave", shape=None, tunable=True)
    f = Parameter(t.Frequency, required, "Frequency of sine wave", shape=None)
    continuous = Parameter(t.Boolean, False, "= true, if the output starts at offset + amplitude rather than offset")

    def started(self, p: Any, elapsed: Any) -> Any:
        x = 2 * math.pi * p.f * elapsed
        return p.amplitude * ca.if_else(x == 0, 1, ca.sin(x) / _nonzero(x))

    def waiting(self, p: Any) -> Any:
        return p.amplitude if self.continuous else 0.0


class _VariableFrequency(Component):
    """Wave whose frequency and amplitude are signals or constants: its phase is their integral."""

    useConstantAmplitude = Parameter(t.Boolean, False, "Enable constant amplitude")
    constantAmplitude = Parameter(t.Real, 1.0, "Constant amplitude")
    useConstantFrequency = Parameter(t.Boolean, False, "Enable constant frequency")
    constantFrequency = Parameter(t.Frequency, 1.0, "Constant frequency")
    offset = Parameter(t.Real, 0.0, "Offset of the wave")
    amplitude = RealInput("Amplitude", when=lambda self: not self.useConstantAmplitude)
    f = RealInput("Frequency", type=t.Frequency, when=lambda self: not self.useConstantFrequency)
    y = RealOutput("Connector of Real output signal")
    phi = State(t.Angle, "Phase of the wave", start=0.0)

    def equations(self) -> None:
        amplitude = self.constantAmplitude if self.useConstantAmplitude else self.amplitude
        self.der.phi = 2 * math.pi * (self.constantFrequency if self.useConstantFrequency else self.f)
        self.y = self.offset + amplitude * self.wave(self.phi)

    def wave(self, phase: Any) -> Any:
        """The wave as a function of its phase."""
        raise NotImplementedError(f"{type(self).__name__} must define wave()")


class SineVariableFrequencyAndAmplitude(_VariableFrequency):
    """Generate sine signal with variable frequency and amplitude."""

    modelica_name = "Blocks.Sources.SineVariableFrequencyAndAmplitude"

    def wave(self, phase: Any) -> Any:
        return ca.sin(phase)


class CosineVariableFrequencyAndAmplitude(_VariableFrequency):
    """Generate cosine signal with variable frequency and amplitude."""

    modelica_name = "Blocks.Sources.CosineVariableFrequencyAndAmplitude"

    def wave(self, phase: Any) -> Any:
        return ca.cos(phase)


class LogFrequencySweep(Source):
    """Logarithmic frequency sweep: from wMin to wMax, in proportion to itself."""

    modelica_name = "Blocks.Sources.LogFrequencySweep"

    wMin = Parameter(t.Real, required, "Start frequency", shape=None, min=1e-15)
    wMax = Parameter(t.Real, required, "End frequency", shape=None, min=1e-15)
    startTime = Parameter(t.Time, 0.0, "Start time of frequency sweep", shape=None)
    duration = Parameter(t.Time, required, "Duration of ramp (= 0.0 gives a Step)", shape=None, min=0)

    def signal(self, p: Any) -> Any:
        part = (self.time - p.startTime) / _nonzero(p.duration)
        growing = self.from_time(p.startTime, p.wMin * (p.wMax / p.wMin) ** part, p.wMin)
        return self.from_time(p.startTime + p.duration, p.wMax, growing)


# -- motion from point to point ---------------------------------------------------------------------------------------


class _PointToPoint(Component):
    """Move as fast as possible, all elements in step, within limits of speed and acceleration."""

    qd_max = Parameter(t.Real, 1.0, "Maximum velocities der(q)", shape=None, min=1e-60)
    qdd_max = Parameter(t.Real, 1.0, "Maximum accelerations der(qd)", shape=None, min=1e-60)
    startTime = Parameter(t.Time, 0.0, "Time instant at which movement starts")

    def profile(self, distance: Any) -> tuple[Any, Any, Any, Any]:
        """Fraction s of the way, its first two derivatives, and the time of arrival [s]."""
        slowest = ca.mmax(ca.fabs(distance / self.qd_max))
        laziest = ca.mmax(ca.fabs(distance / self.qdd_max))
        moves = slowest > 0
        speed, acceleration = 1 / ca.if_else(moves, slowest, 1), ca.if_else(moves, 1, 0) / ca.if_else(moves, laziest, 1)
        # without a phase of constant speed, the way is accelerated for one half and braked for the other
        ramp = ca.fmin(speed / _nonzero(acceleration), ca.sqrt(1 / _nonzero(acceleration)))
        speed = ca.if_else(moves, acceleration * ramp, 0)
        arrival = ca.if_else(moves, 1 / _nonzero(speed) + ramp, 0)
        instants = [self.startTime, self.startTime + ramp, self.startTime + arrival - ramp, self.startTime + arrival]
        elapsed, left = self.time - instants[0], instants[3] - self.time
        phases = [
            (0.0, 0.0, 0.0),
            (acceleration * elapsed**2 / 2, acceleration * elapsed, acceleration),
            (speed * (elapsed - ramp / 2), speed, 0.0),
            (1 - acceleration * left**2 / 2, acceleration * left, -acceleration),
            (ca.if_else(moves, 1, 0), 0.0, 0.0),
        ]
        now = rows(phases[0])
        for instant, phase in zip(instants, phases[1:], strict=True):
            self.time_event(instant)
            now = self.switch(self.time - instant, rows(phase), now)
        return now[0], now[1], now[2], instants[3]


def _point_shape(self: Component) -> tuple[int, ...]:
    return common_shape(self) or (1,)


class KinematicPTP(_PointToPoint):
    """Move as fast as possible along a distance within given kinematic constraints: y is the acceleration."""

    modelica_name = "Blocks.Sources.KinematicPTP"

    deltaq = Parameter(t.Real, 1.0, "Distance to move", shape=None)
    y = RealOutput("Accelerations", shape=_point_shape)

    def equations(self) -> None:
        distance = self.deltaq * ca.SX.ones(size_of(_point_shape(self._component)))
        self.y = distance * self.profile(distance)[2]


class KinematicPTP2(_PointToPoint):
    """Move as fast as possible from start to end position within given kinematic constraints with output signals
    q, qd=der(q), qdd=der(qd).
    """

    modelica_name = "Blocks.Sources.KinematicPTP2"

    q_begin = Parameter(t.Real, 0.0, "Start position", shape=None)
    q_end = Parameter(t.Real, 1.0, "End position", shape=None)
    q = RealOutput("Reference position of path planning", shape=_point_shape)
    qd = RealOutput("Reference speed of path planning", shape=_point_shape)
    qdd = RealOutput("Reference acceleration of path planning", shape=_point_shape)
    moving = BooleanOutput("= true, while the axis is moving", shape=_point_shape)
    endTime = Variable(t.Time, "Time instant at which movement stops")

    def equations(self) -> None:
        distance = (self.q_end - self.q_begin) * ca.SX.ones(size_of(_point_shape(self._component)))
        s, sd, sdd, self.endTime = self.profile(distance)
        under_way = self.switch(self.time - self.endTime, 0.0, 1.0)
        self.moving = ca.if_else(distance == 0, 0, under_way)
        self.q, self.qd, self.qdd = self.q_begin + distance * s, distance * sd, distance * sdd


def _nonzero(value: Any) -> Any:
    """A divisor of expressions that are not used where it is 0."""
    return ca.if_else(value == 0, 1, value)


__all__ = [
    "Clock",
    "Constant",
    "ContinuousClock",
    "Cosine",
    "CosineVariableFrequencyAndAmplitude",
    "ExpSine",
    "Exponentials",
    "KinematicPTP",
    "KinematicPTP2",
    "LogFrequencySweep",
    "Pulse",
    "Ramp",
    "RealExpression",
    "SawTooth",
    "Sinc",
    "Sine",
    "SineVariableFrequencyAndAmplitude",
    "Step",
    "Trapezoid",
]
