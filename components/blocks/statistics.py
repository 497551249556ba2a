"""Means, extrema and harmonics of signals over time (Modelica.Blocks.Math 4.1)."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca

from mbfmu.components.blocks.interfaces import SISO
from mbfmu.components.blocks.logical import And, GreaterThreshold
from mbfmu.components.blocks.math import Abs, Division, Gain, MultiProduct, Pythagoras, RectangularToPolar, Sqrt
from mbfmu.components.blocks.nonlinear import Limiter
from mbfmu.components.blocks.sources import Cosine, Sine
from mbfmu.modeling import BooleanOutput, Component, DiscreteState, Parameter, RealInput, RealOutput, State, required
from mbfmu.modeling import types as t


class ContinuousMean(Component):
    """Calculates the empirical expectation (mean) value of its input signal."""

    modelica_name = "Blocks.Math.ContinuousMean"

    t_eps = Parameter(t.Time, 1e-7, "Mean value calculation starts at startTime + t_eps", min=0)
    startTime = Parameter(t.Time, -1e60, "Starting point for mean if after simulation start-point")
    u = RealInput("Noisy input signal")
    y = RealOutput("Expectation (mean) value of the input signal")
    mu = State(t.Real, "Time integral of the signal", start=0.0, fixed=True)
    elapsed = State(t.Time, "Time since the begin", start=0.0, fixed=True)

    def equations(self) -> None:
        self.time_event(self.startTime)
        runs = self.switch(self.time - self.startTime, 1.0, 0.0)
        self.der.mu, self.der.elapsed = runs * self.u, runs
        begun = self.elapsed > self.t_eps
        self.y = ca.if_else(begun, self.mu / ca.if_else(begun, self.elapsed, 1), self.u)


class _Spread(Component):
    """Block that follows the variance of its input."""

    t_eps = Parameter(t.Time, 1e-7, "Calculation starts at start time + t_eps", min=1e-14)
    u = RealInput("Noisy input signal")
    mu = State(t.Real, "Mean value", start=0.0)
    var = State(t.Real, "Variance", start=0.0, fixed=True)
    elapsed = State(t.Time, "Time since the start", start=0.0, fixed=True)

    def variance(self) -> Any:
        """Equations of mean and variance; the variance."""
        begun = self.switch(self.elapsed - self.t_eps, 1.0, 0.0) > 0.5
        time = ca.if_else(begun, self.elapsed, 1)
        self.der.elapsed = 1.0
        self.der.mu = ca.if_else(begun, (self.u - self.mu) / time, 0)
        self.der.var = ca.if_else(begun, ((self.u - self.mu) ** 2 - self.var) / time, 0)
        self.initially(self.mu - self.u, "mean value at the start")
        return ca.if_else(begun, ca.fmax(self.var, 0), 0)


class Mean(SISO):
    """Calculate mean over period 1/f: y is that of the last period that has ended."""

    modelica_name = "Blocks.Math.Mean"

    f = Parameter(t.Frequency, required, "Base frequency", min=1e-60)
    x0 = Parameter(t.Real, 0.0, "Start value of integrator state")
    y0 = Parameter(t.Real, 0.0, "Start value of output")
    yGreaterOrEqualZero = Parameter(
        t.Boolean, False, "= true, if output y is guaranteed to be >= 0 for the exact solution"
    )
    x = State(t.Real, "Integrator state", start=lambda self: self.x0, fixed=True)

    def equations(self) -> None:
        self.der.x = self.u
        ended = self.sample(self.start_time + 1 / self.f, 1 / self.f)
        mean = self.f * self.pre(self.x)
        self.y = self.hold(ended, value=ca.fmax(0, mean) if self.yGreaterOrEqualZero else mean, start=self.y0)
        self.reinit(ended, x=0)


class RectifiedMean(SISO):
    """Calculate rectified mean over period 1/f."""

    modelica_name = "Blocks.Math.RectifiedMean"

    f = Parameter(t.Frequency, required, "Base frequency", min=1e-60)
    x0 = Parameter(t.Real, 0.0, "Start value of integrator state")
    y0 = Parameter(t.Real, 0.0, "Start value of output", min=0)

    def build(self) -> None:
        self.abs1, self.mean = Abs(), Mean(f=self.f, x0=self.x0, y0=self.y0)
        self.connect(self.u, self.abs1.u)
        self.connect(self.abs1.y, self.mean.u)
        self.connect(self.mean.y, self.y)


class RootMeanSquare(SISO):
    """Calculate root mean square over period 1/f."""

    modelica_name = "Blocks.Math.RootMeanSquare"

    f = Parameter(t.Frequency, required, "Base frequency", min=1e-60)
    x0 = Parameter(t.Real, 0.0, "Start value of integrator state")
    y0 = Parameter(t.Real, 0.0, "Start value of output", min=0)

    def build(self) -> None:
        self.product, self.sqrt1 = MultiProduct(nu=2), Sqrt()
        self.mean = Mean(f=self.f, x0=self.x0, y0=self.y0**2, yGreaterOrEqualZero=True)
        self.connect(self.u, self.product.u[0])
        self.connect(self.u, self.product.u[1])
        self.connect(self.product.y, self.mean.u)
        self.connect(self.mean.y, self.sqrt1.u)
        self.connect(self.sqrt1.y, self.y)


class Harmonic(Component):
    """Calculate harmonic over period 1/f."""

    modelica_name = "Blocks.Math.Harmonic"

    f = Parameter(t.Frequency, required, "Base frequency", min=1e-60)
    k = Parameter(t.Integer, required, "Order of harmonic", min=1)
    useConjugateComplex = Parameter(t.Boolean, False, "Gives conjugate complex result if true")
    x0Cos = Parameter(t.Real, 0.0, "Start value of cos integrator state")
    x0Sin = Parameter(t.Real, 0.0, "Start value of sin integrator state")
    y0Cos = Parameter(t.Real, 0.0, "Start value of cos result")
    y0Sin = Parameter(t.Real, 0.0, "Start value of sin result")
    u = RealInput("Connector of Real input signal")
    y_rms = RealOutput("Root mean square of polar representation")
    y_arg = RealOutput("Angle of polar representation", type=t.Angle)

    def build(self) -> None:
        wave: dict[str, Any] = {"amplitude": math.sqrt(2), "f": self.k * self.f}
        self.sin1, self.sin2 = Cosine(**wave), Sine(**wave)
        self.product1, self.product2 = MultiProduct(nu=2), MultiProduct(nu=2)
        self.mean1 = Mean(f=self.f, x0=self.x0Cos, y0=self.y0Cos)
        self.mean2 = Mean(f=self.f, x0=self.x0Sin, y0=self.y0Sin)
        self.rectangularToPolar = RectangularToPolar()
        self.gain = Gain(k=-1 if self.useConjugateComplex else 1)
        for source, product, mean in (
            (self.sin1, self.product1, self.mean1),
            (self.sin2, self.product2, self.mean2),
        ):
            self.connect(source.y, product.u[0])
            self.connect(self.u, product.u[1])
            self.connect(product.y, mean.u)
        self.connect(self.mean1.y, self.rectangularToPolar.u_re)
        self.connect(self.mean2.y, self.rectangularToPolar.u_im)
        self.connect(self.rectangularToPolar.y_abs, self.y_rms)
        self.connect(self.rectangularToPolar.y_arg, self.gain.u)
        self.connect(self.gain.y, self.y_arg)


class TotalHarmonicDistortion(SISO):
    """Output the total harmonic distortion (THD)."""

    modelica_name = "Blocks.Math.TotalHarmonicDistortion"

    f = Parameter(t.Frequency, required, "Base frequency", min=1e-60)
    useFirstHarmonic = Parameter(
        t.Boolean, True, "THD with respect to first harmonic, if true; otherwise with respect to total RMS"
    )
    valid = BooleanOutput("= true, where output y is valid")

    def build(self) -> None:
        self.harmonic, self.rootMeanSquare = Harmonic(f=self.f, k=1), RootMeanSquare(f=self.f)
        self.pythagoras, self.greaterThreshold, self.andValid = (
            Pythagoras(u1IsHypotenuse=True),
            GreaterThreshold(),
            And(),
        )
        self.limiter, self.division = Limiter(uMin=2.220446049250313e-16, uMax=1e60), Division()
        self.connect(self.u, self.rootMeanSquare.u)
        self.connect(self.u, self.harmonic.u)
        self.connect(self.harmonic.y_rms, self.greaterThreshold.u)
        self.connect(self.rootMeanSquare.y, self.pythagoras.u1)
        self.connect(self.harmonic.y_rms, self.pythagoras.u2)
        self.connect(self.pythagoras.y, self.division.u1)
        self.connect(self.pythagoras.valid, self.andValid.u1)
        self.connect(self.greaterThreshold.y, self.andValid.u2)
        self.connect(self.andValid.y, self.valid)
        self.connect(self.harmonic.y_rms if self.useFirstHarmonic else self.rootMeanSquare.y, self.limiter.u)
        self.connect(self.limiter.y, self.division.u2)
        self.connect(self.division.y, self.y)


class SignalExtrema(Component):
    """Calculate min and max of a signal."""

    modelica_name = "Blocks.Math.SignalExtrema"

    Ts = Parameter(t.Time, required, "Sample time", min=1e-60)
    u = RealInput("Connector of Real input signal")
    y_min = RealOutput("Min of input signal")
    y_max = RealOutput("Max of input signal")
    t_min = DiscreteState(t.Time, "Sample time of last found minimum")
    t_max = DiscreteState(t.Time, "Sample time of last found maximum")

    def equations(self) -> None:
        sampled, started = self.sample(self.start_time + self.Ts, self.Ts), self.initial.active
        least = self.hold(self.initial, sampled, value=lambda y: ca.if_else(started, self.u, ca.fmin(y, self.u)))
        most = self.hold(self.initial, sampled, value=lambda y: ca.if_else(started, self.u, ca.fmax(y, self.u)))
        lower, higher = least < self.pre(least), most > self.pre(most)
        at = ca.if_else(ca.logic_or(started, lower), self.time, self.pre(self.t_min))
        self.when(self.initial, sampled, t_min=at)
        higher = ca.logic_and(higher, ca.logic_not(lower))
        at = ca.if_else(ca.logic_or(started, higher), self.time, self.pre(self.t_max))
        self.when(self.initial, sampled, t_max=at)
        self.y_min, self.y_max = least, most


class ContinuousSignalExtrema(Component):
    """Store the minimum and maximum values of the input signal: those where it turns round, or jumps."""

    modelica_name = "Blocks.Math.ContinuousSignalExtrema"

    T = Parameter(t.Time, 1e-6, "Derivative time constant", min=1e-60)
    u = RealInput("Connector of Real input signal")
    y_min = RealOutput("Least value so far")
    y_max = RealOutput("Greatest value so far")
    t_min = DiscreteState(t.Time, "Time instant of last found minimum")
    t_max = DiscreteState(t.Time, "Time instant of last found maximum")
    x = State(t.Real, "Filtered input")

    def equations(self) -> None:
        self.der.x = (self.u - self.x) / self.T
        self.initially(self.x - self.u, "x = u")
        started, before = self.initial.active, self.pre(self.u)
        turns: tuple[Any, ...] = (self.initial, self.u <= self.x, self.u >= self.x)

        def extreme(choose: Any) -> Any:
            return self.hold(*turns, value=lambda y: ca.if_else(started, self.u, choose(y, choose(self.u, before))))

        least, most = extreme(ca.fmin), extreme(ca.fmax)
        for name, found in (("t_min", least < self.pre(least)), ("t_max", most > self.pre(most))):
            last = self.pre(getattr(self, name))
            self.when(*turns, **{name: ca.if_else(ca.logic_or(started, found), self.time, last)})
        self.y_min, self.y_max = least, most


class Variance(_Spread):
    """Calculates the empirical variance of its input signal."""

    modelica_name = "Blocks.Math.Variance"

    y = RealOutput("Variance of the input signal")

    def equations(self) -> None:
        self.y = self.variance()


class StandardDeviation(_Spread):
    """Calculates the empirical standard deviation of its input signal."""

    modelica_name = "Blocks.Math.StandardDeviation"

    y = RealOutput("Standard deviation of the input signal")

    def equations(self) -> None:
        self.y = ca.sqrt(self.variance())


__all__ = [
    "ContinuousMean",
    "ContinuousSignalExtrema",
    "Harmonic",
    "Mean",
    "RectifiedMean",
    "RootMeanSquare",
    "SignalExtrema",
    "StandardDeviation",
    "TotalHarmonicDistortion",
    "Variance",
]
