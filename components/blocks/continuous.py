"""Continuous control blocks with states (Modelica.Blocks.Continuous 4.1). Parameters take numbers or vectors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.blocks.interfaces import SISO, StateSpaceMatrices, common_shape
from mbfmu.components.blocks.logical import true
from mbfmu.components.blocks.math import Add, Add3, Gain
from mbfmu.components.blocks.nonlinear import HOMOTOPY, Limiter
from mbfmu.components.blocks.sources import Constant
from mbfmu.errors import ModelError
from mbfmu.modeling import BooleanInput, Component, Parameter, RealInput, RealOutput, State, Variable, required
from mbfmu.modeling import types as t


class _Dynamic(SISO):
    """Block with states, and with a choice of how they start."""

    initType = Parameter(t.Init, "NoInit", "Type of initialization")

    def starts_with(self, *types: str) -> bool:
        """True where the block starts in one of these ways."""
        return self.initType in types


class _OutputIsState(_Dynamic):
    """Block with a state x that is its output: start values of `y` are those of the state."""

    y_start = Parameter(t.Real, 0.0, "Initial or guess value of output (= state)", shape=None)
    x = State(
        t.Real,
        "State of block (= y)",
        shape=common_shape,
        start=lambda self: self.y_start,
        fixed=lambda self: self.starts_with("InitialState", "InitialOutput"),
    )

    def modify(self, **modifiers: Any) -> None:
        """Take values; start values of `y` go to the state."""
        if "y" in modifiers:
            modifiers["x"] = modifiers.pop("y")
        super().modify(**modifiers)


class _Rate(_OutputIsState):
    """Block whose output has a time derivative of its own: a subclass defines `rate`."""

    def equations(self) -> None:
        rate = self.rate()
        self.der.x = rate
        self.y = self.x
        if self.starts_with("SteadyState"):
            self.initially(rate, "steady state")

    def rate(self) -> Any:
        """Time derivative of the state."""
        raise NotImplementedError(f"{type(self).__name__} must define rate()")


class _Resettable(_Rate):
    """Integrator that a Boolean signal may set anew."""

    use_reset = Parameter(t.Boolean, False, "= true, if reset port enabled")
    use_set = Parameter(t.Boolean, False, "= true, if set port enabled and used as reinitialization value when reset")
    reset = BooleanInput("Sets the output anew where it becomes true", when=lambda self: self.use_reset)
    set = RealInput("Output after a reset", shape=common_shape, when=lambda self: self.use_reset and self.use_set)

    def equations(self) -> None:
        super().equations()
        if self.use_reset:
            self.reinit(true(self.reset), x=self.after_reset(self.set if self.use_set else self.y_start))

    def after_reset(self, value: Any) -> Any:
        """What a reset with this value sets the output to."""
        return value


class Integrator(_Resettable):
    """Output the integral of the input signal with optional reset."""

    modelica_name = "Blocks.Continuous.Integrator"

    k = Parameter(t.Real, 1.0, "Integrator gain", shape=None, tunable=True)
    initType = Parameter(t.Init, "InitialState", "Type of initialization")

    def rate(self) -> Any:
        return self.k * self.u


class LimIntegrator(_Resettable):
    """Integrator with limited value of the output and optional reset."""

    modelica_name = "Blocks.Continuous.LimIntegrator"

    k = Parameter(t.Real, 1.0, "Integrator gain", tunable=True)
    outMax = Parameter(t.Real, required, "Upper limit of output")
    outMin = Parameter(t.Real, lambda self: -self.outMax, "Lower limit of output")
    initType = Parameter(t.Init, "InitialState", "Type of initialization")
    limitsAtInit = Parameter(t.Boolean, True, "= false, if limits are ignored during initialization")
    strict = Parameter(t.Boolean, False, "= true, if strict limits with noEvent(..)")

    def rate(self) -> Any:
        rate = self.k * self.u
        self.require(self.outMax - self.outMin, "outMax is smaller than outMin; exchange them")
        upper = self.switch(ca.fmin(self.x - self.outMax, rate), 0.0, rate)
        return self.switch(ca.fmin(self.outMin - self.x, -rate), 0.0, upper)

    def after_reset(self, value: Any) -> Any:
        return ca.fmin(ca.fmax(value, self.outMin), self.outMax)


class Derivative(_Dynamic):
    """Approximated derivative block."""

    modelica_name = "Blocks.Continuous.Derivative"

    k = Parameter(t.Real, 1.0, "Gains", shape=None, tunable=True)
    T = Parameter(t.Time, 0.01, "Time constants (T>0 required; T=0 is ideal derivative block)", shape=None, min=1e-60)
    x_start = Parameter(t.Real, 0.0, "Initial or guess value of state", shape=None)
    y_start = Parameter(t.Real, 0.0, "Initial value of output (= state)", shape=None)
    x = State(
        t.Real,
        "State of block",
        shape=common_shape,
        start=lambda self: self.x_start,
        fixed=lambda self: self.starts_with("InitialState"),
    )

    def equations(self) -> None:
        rate = (self.u - self.x) / self.T
        self.der.x = rate
        self.y = self.k * rate
        if self.starts_with("SteadyState"):
            self.initially(rate, "steady state")
        elif self.starts_with("InitialOutput"):
            self.initially(ca.if_else(self.k == 0, self.x - self.u, self.y - self.y_start), "y_start")


class FirstOrder(_Rate):
    """First order transfer function block (= 1 pole)."""

    modelica_name = "Blocks.Continuous.FirstOrder"

    k = Parameter(t.Real, 1.0, "Gain", shape=None, tunable=True)
    T = Parameter(t.Time, required, "Time Constant", shape=None, min=1e-60)

    def rate(self) -> Any:
        return (self.k * self.u - self.x) / self.T


class SecondOrder(_OutputIsState):
    """Second order transfer function block (= 2 poles)."""

    modelica_name = "Blocks.Continuous.SecondOrder"

    k = Parameter(t.Real, 1.0, "Gain", shape=None, tunable=True)
    w = Parameter(t.Real, required, "Angular frequency", shape=None)
    D = Parameter(t.Real, required, "Damping", shape=None)
    yd_start = Parameter(t.Real, 0.0, "Initial or guess value of derivative of output (= state)", shape=None)
    yd = State(
        t.Real,
        "Derivative of y",
        shape=common_shape,
        start=lambda self: self.yd_start,
        fixed=lambda self: self.starts_with("InitialState", "InitialOutput"),
    )

    def equations(self) -> None:
        bending = self.w * (self.w * (self.k * self.u - self.x) - 2 * self.D * self.yd)
        self.der.x, self.der.yd = self.yd, bending
        self.y = self.x
        if self.starts_with("SteadyState"):
            self.initially(ca.vertcat(self.yd, bending), "steady state")


class PI(_Dynamic):
    """Proportional-Integral controller."""

    modelica_name = "Blocks.Continuous.PI"

    k = Parameter(t.Real, 1.0, "Gain", shape=None, tunable=True)
    T = Parameter(t.Time, required, "Time Constant (T>0 required)", shape=None, min=1e-60)
    x_start = Parameter(t.Real, 0.0, "Initial or guess value of state", shape=None)
    y_start = Parameter(t.Real, 0.0, "Initial value of output", shape=None)
    x = State(
        t.Real,
        "State of block",
        shape=common_shape,
        start=lambda self: self.x_start,
        fixed=lambda self: self.starts_with("InitialState"),
    )

    def equations(self) -> None:
        self.der.x = self.u / self.T
        self.y = self.k * (self.x + self.u)
        if self.starts_with("SteadyState"):
            self.initially(self.u / self.T, "steady state")
        elif self.starts_with("InitialOutput"):
            self.initially(self.y - self.y_start, "y_start")


class Der(Component):
    """Derivative of input (= analytic differentiations)."""

    modelica_name = "Blocks.Continuous.Der"

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.der(self.u)


class CriticalDamping(Component):
    """Output the input signal filtered with an n-th order filter with critical damping."""

    modelica_name = "Blocks.Continuous.CriticalDamping"

    n = Parameter(t.Integer, 2, "Order of filter", min=1)
    f = Parameter(t.Frequency, required, "Cut-off frequency", min=1e-60)
    normalized = Parameter(t.Boolean, True, "= true, if amplitude at f_cut is 3 dB, otherwise unmodified filter")
    initType = Parameter(t.Init, "NoInit", "Type of initialization")
    x_start = Parameter(t.Real, lambda self: np.zeros(self.n), "Initial or guess values of states", shape=None)
    y_start = Parameter(t.Real, 0.0, "Initial value of output (remaining states are in steady state)")

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")
    x = State(
        t.Real,
        "Filter states",
        shape=lambda self: (self.n,),
        start=lambda self: self.x_start,
        fixed=lambda self: self.initType == "InitialState",
    )

    def equations(self) -> None:
        alpha = math.sqrt(2 ** (1 / self.n) - 1) if self.normalized else 1.0
        x = ca.vertsplit(self.x)
        rates = ca.vertcat(*(before - own for before, own in itertools.pairwise([self.u, *x]))) * (
            2 * math.pi * self.f / alpha
        )
        self.der.x = rates
        self.y = x[-1]
        if self.initType == "SteadyState":
            self.initially(rates, "steady state")
        elif self.initType == "InitialOutput":
            self.initially(ca.vertcat(self.y - self.y_start, *ca.vertsplit(rates)[:-1]), "y_start")


class TransferFunction(Component):
    """Linear transfer function: y = (b[1]*s^m + ... + b[m+1]) / (a[1]*s^n + ... + a[n+1]) * u."""

    modelica_name = "Blocks.Continuous.TransferFunction"

    b = Parameter(
        t.Real,
        (1.0,),
        "Numerator coefficients of transfer function (e.g., 2*s+3 is specified as {2,3})",
        shape=None,
        structural=True,
    )
    a = Parameter(
        t.Real,
        (1.0,),
        "Denominator coefficients of transfer function (e.g., 5*s+6 is specified as {5,6})",
        shape=None,
        structural=True,
    )
    initType = Parameter(t.Init, "NoInit", "Type of initialization")
    x_start = Parameter(t.Real, lambda self: np.zeros(self.order), "Initial or guess values of states", shape=None)
    y_start = Parameter(t.Real, 0.0, "Initial value of output (derivatives of y are zero up to nx-1-th derivative)")

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")
    x_scaled = State(
        t.Real,
        "Scaled vector x",
        shape=lambda self: (self.order,),
        when=lambda self: self.order > 0,
        start=lambda self: self.x_start * self.scale,
        fixed=lambda self: self.initType == "InitialState",
    )
    x = Variable(
        t.Real,
        "State of transfer function from controller canonical form",
        shape=lambda self: (self.order,),
        when=lambda self: self.order > 0,
    )

    @property
    def order(self) -> int:
        """Number of states."""
        return max(np.size(self.a) - 1, 0)

    @property
    def scale(self) -> float:
        """The last coefficient of a, or 1 where that is as good as zero."""
        a = np.atleast_1d(self.a)
        return float(a[-1]) if a[-1] > 100 * np.finfo(float).eps * np.linalg.norm(a) else 1.0

    def equations(self) -> None:
        a, b = np.atleast_1d(self.a).astype(float), np.atleast_1d(self.b).astype(float)
        if not a.size or not b.size or a[0] == 0 or b.size > a.size:
            raise ModelError(
                f"{self._component.where}: a = {a.tolist()}, b = {b.tolist()}: both need coefficients, the "
                "first one of a must not be 0, and b must not be longer than a"
            )
        b = np.concatenate([np.zeros(a.size - b.size), b])
        direct = b[0] / a[0]
        if not self.order:
            self.y = direct * self.u
            return
        x, scale = self.x_scaled, self.scale
        rates = ca.vertcat((scale * self.u - ca.dot(ca.SX(a[1:]), x)) / a[0], *ca.vertsplit(x)[:-1])
        self.der.x_scaled = rates
        self.x = x / scale
        self.y = ca.dot(ca.SX(b[1:] - direct * a[1:]), x) / scale + direct * self.u
        if self.initType == "SteadyState":
            self.initially(rates, "steady state")
        elif self.initType == "InitialOutput":
            self.initially(ca.vertcat(self.y - self.y_start, *ca.vertsplit(rates)[1:]), "y_start")


class StateSpace(StateSpaceMatrices):
    """Linear state space system: der(x) = A x + B u, y = C x + D u."""

    modelica_name = "Blocks.Continuous.StateSpace"

    initType = Parameter(t.Init, "NoInit", "Type of initialization")
    x_start = Parameter(
        t.Real, lambda self: np.zeros(self.shape_of("A")[0]), "Initial or guess values of states", shape=None
    )
    y_start = Parameter(t.Real, lambda self: np.zeros(self.shape_of("C")[0]), "Initial values of outputs", shape=None)

    x = State(
        t.Real,
        "State vector",
        shape=lambda self: (self.shape_of("A")[0],),
        start=lambda self: self.x_start,
        fixed=lambda self: self.initType == "InitialState",
    )

    def equations(self) -> None:
        rates = self.A @ self.x + self.B @ self.u
        self.der.x = rates
        self.y = self.C @ self.x + self.through(self.u)
        if self.initType == "SteadyState":
            self.initially(rates, "steady state")
        elif self.initType == "InitialOutput":
            self.initially(self.y - self.y_start, "y_start")


def _part_init(init: str, *, output: str) -> str:
    """How a part of a controller starts, for the controller's initType; `output`: where that is InitialOutput."""
    return output if init == "InitialOutput" else init


class PID(Component):
    """PID-controller in additive description form."""

    modelica_name = "Blocks.Continuous.PID"

    k = Parameter(t.Real, 1.0, "Gain", tunable=True)
    Ti = Parameter(t.Time, required, "Time Constant of Integrator", min=1e-60)
    Td = Parameter(t.Time, required, "Time Constant of Derivative block", min=0)
    Nd = Parameter(t.Real, 10.0, "The higher Nd, the more ideal the derivative block", min=1e-60)
    initType = Parameter(t.Init, "InitialState", "Type of initialization")
    xi_start = Parameter(t.Real, 0.0, "Initial or guess value for integrator output (= integrator state)")
    xd_start = Parameter(t.Real, 0.0, "Initial or guess value for state of derivative block")
    y_start = Parameter(t.Real, 0.0, "Initial value of output")

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")

    def build(self) -> None:
        self.P = Gain(k=1.0)
        self.I = Integrator(k=1 / self.Ti, y_start=self.xi_start, initType=_part_init(self.initType, output="NoInit"))
        self.D = Derivative(
            k=self.Td,
            T=ca.fmax(self.Td / self.Nd, 1e-13),
            x_start=self.xd_start,
            initType=_part_init(self.initType, output="SteadyState"),
        )
        self.Gain = Gain(k=self.k)
        self.Add = Add3()
        for i, part in enumerate((self.P, self.I, self.D), start=1):
            self.connect(self.u, part.u)
            self.connect(part.y, getattr(self.Add, f"u{i}"))
        self.connect(self.Add.y, self.Gain.u)
        self.connect(self.Gain.y, self.y)

    def equations(self) -> None:
        if self.initType == "InitialOutput":
            self.initially(self.Gain.y - self.y_start, "y_start")


class LimPID(Component):
    """P, PI, PD, and PID controller with limited output, anti-windup compensation, setpoint weighting and optional
    feed-forward.
    """

    modelica_name = "Blocks.Continuous.LimPID"

    controllerType = Parameter(t.SimpleController, "PID", "Type of controller")
    k = Parameter(t.Real, 1.0, "Gain of controller, must be non-zero", nonzero=True)
    Ti = Parameter(t.Time, 0.5, "Time constant of Integrator block", min=1e-60)
    Td = Parameter(t.Time, 0.1, "Time constant of Derivative block", min=0)
    yMax = Parameter(t.Real, required, "Upper limit of output")
    yMin = Parameter(t.Real, lambda self: -self.yMax, "Lower limit of output")
    wp = Parameter(t.Real, 1.0, "Set-point weight for Proportional block (0..1)", min=0)
    wd = Parameter(t.Real, 0.0, "Set-point weight for Derivative block (0..1)", min=0)
    Ni = Parameter(t.Real, 0.9, "Ni*Ti is time constant of anti-windup compensation", min=1e-13)
    Nd = Parameter(t.Real, 10.0, "The higher Nd, the more ideal the derivative block", min=1e-13)
    withFeedForward = Parameter(t.Boolean, False, "Use feed-forward input?")
    kFF = Parameter(t.Real, 1.0, "Gain of feed-forward input")
    initType = Parameter(t.Init, "InitialState", "Type of initialization")
    xi_start = Parameter(t.Real, 0.0, "Initial or guess value for integrator output (= integrator state)")
    xd_start = Parameter(t.Real, 0.0, "Initial or guess value for state of derivative block")
    y_start = Parameter(t.Real, 0.0, "Initial value of output")
    homotopyType = Parameter(t.LimiterHomotopy, "Linear", HOMOTOPY)
    strict = Parameter(t.Boolean, False, "= true, if strict limits with noEvent(..)")

    u_s = RealInput("Connector of setpoint input signal")
    u_m = RealInput("Connector of measurement input signal")
    u_ff = RealInput("Optional connector of feed-forward input signal", when=lambda self: self.withFeedForward)
    y = RealOutput("Connector of actuator output signal")
    controlError = Variable(t.Real, "Control error (set point - measurement)")

    def build(self) -> None:
        self.addP, self.P = Add(k1=self.wp, k2=-1.0), Gain(k=1.0)
        self.addPID, self.gainPID, self.addFF = Add3(), Gain(k=self.k), Add(k1=1.0, k2=self.kFF)
        self.limiter = Limiter(uMax=self.yMax, uMin=self.yMin, strict=self.strict)
        self.connect(self.u_s, self.addP.u1)
        self.connect(self.u_m, self.addP.u2)
        self.connect(self.addP.y, self.P.u)
        self.connect(self.P.y, self.addPID.u1)
        self._derivative_part()
        self._integral_part()
        self.connect(self.addPID.y, self.gainPID.u)
        self.connect(self.gainPID.y, self.addFF.u1)
        if self.withFeedForward:
            self.connect(self.u_ff, self.addFF.u2)
        else:
            self.FFzero = Constant(k=0.0)
            self.connect(self.FFzero.y, self.addFF.u2)
        self.connect(self.addFF.y, self.limiter.u)
        self.connect(self.limiter.y, self.y)

    def _derivative_part(self) -> None:
        if "D" not in self.controllerType:
            self.Dzero = Constant(k=0.0)
            self.connect(self.Dzero.y, self.addPID.u2)
            return
        self.addD = Add(k1=self.wd, k2=-1.0)
        self.D = Derivative(
            k=self.Td,
            T=ca.fmax(self.Td / self.Nd, 1e-14),
            x_start=self.xd_start,
            initType=_part_init(self.initType, output="SteadyState"),
        )
        self.connect(self.u_s, self.addD.u1)
        self.connect(self.u_m, self.addD.u2)
        self.connect(self.addD.y, self.D.u)
        self.connect(self.D.y, self.addPID.u2)

    def _integral_part(self) -> None:
        if "I" not in self.controllerType:
            self.Izero = Constant(k=0.0)
            self.connect(self.Izero.y, self.addPID.u3)
            return
        self.addI, self.addSat = Add3(k2=-1.0), Add(k1=1.0, k2=-1.0)
        self.gainTrack = Gain(k=1 / (self.k * self.Ni))
        self.I = Integrator(k=1 / self.Ti, y_start=self.xi_start, initType=_part_init(self.initType, output="NoInit"))
        self.connect(self.u_s, self.addI.u1)
        self.connect(self.u_m, self.addI.u2)
        self.connect(self.limiter.y, self.addSat.u1)
        self.connect(self.addFF.y, self.addSat.u2)
        self.connect(self.addSat.y, self.gainTrack.u)
        self.connect(self.gainTrack.y, self.addI.u3)
        self.connect(self.addI.y, self.I.u)
        self.connect(self.I.y, self.addPID.u3)

    def equations(self) -> None:
        self.controlError = self.u_s - self.u_m
        if self.initType == "InitialOutput":
            self.initially(self.gainPID.y - self.y_start, "y_start")


__all__ = [
    "PI",
    "PID",
    "CriticalDamping",
    "Der",
    "Derivative",
    "FirstOrder",
    "Integrator",
    "LimIntegrator",
    "LimPID",
    "SecondOrder",
    "StateSpace",
    "TransferFunction",
]
