"""Sources of translational mechanics: forces and prescribed motions (Modelica.Mechanics.Translational.Sources 4.0)."""

from __future__ import annotations

import math

import casadi as ca

from mbfmu.components import characteristics
from mbfmu.components.losses import LossPowerWithT
from mbfmu.components.rotational.sources import BESSEL, EXACT, F_CRIT
from mbfmu.components.translational.interfaces import (
    PartialElementaryOneFlangeAndSupport2,
    PartialForce,
    PartialTwoFlanges,
)
from mbfmu.modeling import RealInput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, State, Variable

#: What the sign of a force parameter means.
LOAD = "(if negative, force is acting as load in positive direction of motion)"


class Force(PartialElementaryOneFlangeAndSupport2):
    """External force acting on a drive train element as input signal."""

    modelica_name = "Translational.Sources.Force"

    f = RealInput("Driving force as input signal", type=t.Force)
    s = Variable(t.Position, "Distance between flange and support (= flange.s - support.s)")

    def equations(self) -> None:
        self.s = self.flange.s - self.s_support
        self.flange.f = -self.f
        self.react(self.f)


class Force2(PartialTwoFlanges):
    """Input signal acting as force on two flanges."""

    modelica_name = "Translational.Sources.Force2"

    f = RealInput("Driving force as input signal", type=t.Force)

    def equations(self) -> None:
        self.flange_a.f, self.flange_b.f = self.f, -self.f


class ConstantForce(PartialForce):
    """Constant force, not dependent on speed."""

    modelica_name = "Translational.Sources.ConstantForce"

    f_constant = Parameter(t.Force, required, f"Nominal force {LOAD}", tunable=True)

    def force(self) -> ca.SX:
        return self.f_constant


class ForceStep(PartialForce):
    """Constant force, not dependent on speed, that steps at startTime."""

    modelica_name = "Translational.Sources.ForceStep"

    stepForce = Parameter(t.Force, required, f"Height of force step {LOAD}")
    offsetForce = Parameter(t.Force, required, "Offset of force")
    startTime = Parameter(t.Time, 0.0, "Force = offset for time < startTime")

    def force(self) -> ca.SX:
        self.time_event(self.startTime)
        return self.offsetForce + self.switch(self.time - self.startTime, self.stepForce, 0)


class PartialForceAtSpeed(PartialForce):
    """Force that depends on the flange's speed `v`: a subclass defines `force_at_speed`."""

    v = Variable(t.Velocity, "Velocity of flange with respect to support (= der(s))")

    def force(self) -> ca.SX:
        self.v = self.der(self.flange.s - self.s_support)
        return self.force_at_speed()

    def force_at_speed(self) -> ca.SX:
        """Accelerating force [N]."""
        raise NotImplementedError(f"{type(self).__name__} must define force_at_speed()")


class SignForce(PartialForceAtSpeed):
    """Constant force changing sign with speed."""

    modelica_name = "Translational.Sources.SignForce"

    f_nominal = Parameter(t.Force, required, "Nominal force (if negative, force is acting as load)", tunable=True)
    reg = Parameter(t.Regularization, "Exp", "Type of regularization")
    v0 = Parameter(t.Velocity, required, "Regularization below v0", min=1e-15)

    def force_at_speed(self) -> ca.SX:
        return self.f_nominal * characteristics.sign(self, self.v, self.v0, self.reg)


class _SpeedDependentForce(PartialForceAtSpeed):
    """Force as a function of speed."""

    f_nominal = Parameter(t.Force, required, f"Nominal force {LOAD}", tunable=True)
    v_nominal = Parameter(t.Velocity, required, "Nominal speed", min=1e-15, tunable=True)
    ForceDirection = Parameter(t.Boolean, True, "Same direction of force in both directions of movement")


class LinearSpeedDependentForce(_SpeedDependentForce):
    """Linear dependency of force versus speed."""

    modelica_name = "Translational.Sources.LinearSpeedDependentForce"

    def force_at_speed(self) -> ca.SX:
        return self.f_nominal * characteristics.linear(self, self.v / self.v_nominal, self.ForceDirection)


class QuadraticSpeedDependentForce(_SpeedDependentForce):
    """Quadratic dependency of force versus speed."""

    modelica_name = "Translational.Sources.QuadraticSpeedDependentForce"

    def force_at_speed(self) -> ca.SX:
        return self.f_nominal * characteristics.quadratic(self, self.v / self.v_nominal, self.ForceDirection)


class InverseSpeedDependentForce(_SpeedDependentForce):
    """Force reciprocal dependent on speed."""

    modelica_name = "Translational.Sources.InverseSpeedDependentForce"

    v0 = Parameter(t.Velocity, required, "Regularization below v0", min=1e-15)

    def force_at_speed(self) -> ca.SX:
        law = characteristics.inverse(self, self.v, self.v0, self.v_nominal, self.ForceDirection)
        return self.f_nominal * law


class EddyCurrentForce(LossPowerWithT, PartialForceAtSpeed):
    """Simple model of a translational eddy current brake; warm metal brakes best at a higher speed."""

    modelica_name = "Translational.Sources.EddyCurrentForce"

    useExcitationInput = Parameter(t.Boolean, False, "Enable signal input for excitation")
    constantExcitation = Parameter(t.Real, 1.0, "Excitation=1 to reach maximum force")
    f_nominal = Parameter(t.Force, required, "Maximum force (always braking)")
    v_nominal = Parameter(
        t.Velocity, required, "Nominal speed (leads to maximum force) at reference temperature", min=1e-15
    )
    TRef = Parameter(t.Temperature, required, "Reference temperature")
    alpha20 = Parameter(t.LinearTemperatureCoefficient, required, "Temperature coefficient of material at 20 degC")
    excitation = RealInput("Excitation", when=lambda self: self.useExcitationInput)
    v_normalized = Variable(t.Real, "Relative speed v/v_nominal, v_nominal at the present temperature")

    def force_at_speed(self) -> ca.SX:
        resistance = characteristics.resistance(self.temperature, self.TRef, self.alpha20)
        self.v_normalized = self.v / (self.v_nominal * resistance)
        excitation = self.excitation if self.useExcitationInput else self.constantExcitation
        brakes = self.f_nominal * characteristics.eddy_current(excitation, self.v_normalized)
        self.lose(brakes * self.v)
        return -brakes


class PartialPrescribedMotion(PartialElementaryOneFlangeAndSupport2):
    """Flange whose distance from the support is `s`: a subclass gives s, v and a."""

    s = Variable(t.Position, "Position of flange with respect to support")
    v = Variable(t.Velocity, "Velocity of flange with respect to support")
    a = Variable(t.Acceleration, "Acceleration of flange with respect to support")

    def equations(self) -> None:
        self.motion()
        self.relation(self.flange.s - self.s_support - self.s)
        self.energy(dissipated=self.flange.f * self.v)  # work done on the source leaves the system

    def motion(self) -> None:
        """Equations of s, v and a."""
        raise NotImplementedError(f"{type(self).__name__} must define motion()")


class Position(PartialPrescribedMotion):
    """Forced movement of a flange according to a reference position.

    With exact = false a second order Bessel filter makes the signal smooth; it starts at the signal's first value.
    """

    modelica_name = "Translational.Sources.Position"

    exact = Parameter(t.Boolean, False, EXACT)
    f_crit = Parameter(t.Frequency, 50.0, F_CRIT, min=1e-15)
    s_ref = RealInput("Reference position of flange as input signal", type=t.Position)
    s = State(t.Position, "Position of flange with respect to support", start=0.0, dummy=lambda self: self.exact)
    v = State(t.Velocity, "Velocity of flange with respect to support", start=0.0, dummy=lambda self: self.exact)

    def motion(self) -> None:
        if self.exact:
            self.s = self.s_ref
            self.v = self.der(self.s)
            self.a = self.der(self.v)
        else:
            w_crit = 2 * math.pi * self.f_crit
            self.a = ((self.s_ref - self.s) * w_crit - BESSEL[0] * self.v) * w_crit / BESSEL[1]
            self.der.s, self.der.v = self.v, self.a
            self.initially(self.s - self.s_ref, "position of the filter")


class Speed(PartialPrescribedMotion):
    """Forced movement of a flange according to a reference speed.

    With exact = false a first order filter makes the signal smooth; it starts at the signal's first value.
    """

    modelica_name = "Translational.Sources.Speed"

    exact = Parameter(t.Boolean, False, EXACT)
    f_crit = Parameter(t.Frequency, 50.0, F_CRIT, min=1e-15)
    v_ref = RealInput("Reference speed of flange as input signal", type=t.Velocity)
    s = State(t.Position, "Position of flange with respect to support", start=0.0, fixed=True)
    v = State(t.Velocity, "Velocity of flange with respect to support", start=0.0, dummy=lambda self: self.exact)

    def motion(self) -> None:
        if self.exact:
            self.v = self.v_ref
            self.a = self.der(self.v)
        else:
            self.a = (self.v_ref - self.v) * 2 * math.pi * self.f_crit
            self.der.v = self.a
            self.initially(self.v - self.v_ref, "speed of the filter")
        self.der.s = self.v


class Accelerate(PartialPrescribedMotion):
    """Forced movement of a flange according to an acceleration signal."""

    modelica_name = "Translational.Sources.Accelerate"

    a_ref = RealInput("Absolute acceleration of flange as input signal", type=t.Acceleration)
    s = State(t.Position, "Position of flange with respect to support", start=0.0, fixed=True)
    v = State(t.Velocity, "Velocity of flange with respect to support", start=0.0, fixed=True)

    def motion(self) -> None:
        self.a = self.a_ref
        self.der.s, self.der.v = self.v, self.a


class Move(PartialPrescribedMotion):
    """Forced movement of a flange according to position, velocity and acceleration signals.

    The first signal is not differentiated: the second is its derivative, and the third that of the second.
    """

    modelica_name = "Translational.Sources.Move"

    u = RealInput("Position, velocity and acceleration of flange with respect to support as input signals", shape=3)

    def motion(self) -> None:
        s, v, a = ca.vertsplit(self.u)
        self.v, self.a = self.with_rate(v, a), a
        self.s = self.with_rate(s, self.v)


class ConstantSpeed(PartialPrescribedMotion):
    """Constant speed, not dependent on force."""

    modelica_name = "Translational.Sources.ConstantSpeed"

    v_fixed = Parameter(t.Velocity, required, "Fixed speed (if negative, force is acting as load)")
    s = State(t.Position, "Distance between flange and support (= flange.s - support.s)", start=0.0)
    f = Variable(t.Force, "Force acting at flange (= flange.f)")

    def motion(self) -> None:
        self.v, self.a = self.v_fixed, 0.0
        self.der.s = self.v
        self.f = self.flange.f


__all__ = [
    "Accelerate",
    "ConstantForce",
    "ConstantSpeed",
    "EddyCurrentForce",
    "Force",
    "Force2",
    "ForceStep",
    "InverseSpeedDependentForce",
    "LinearSpeedDependentForce",
    "Move",
    "PartialForceAtSpeed",
    "PartialPrescribedMotion",
    "Position",
    "QuadraticSpeedDependentForce",
    "SignForce",
    "Speed",
]
