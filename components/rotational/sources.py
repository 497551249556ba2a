"""Sources of rotational mechanics: torques and prescribed motions (Modelica.Mechanics.Rotational.Sources 4.0)."""

from __future__ import annotations

import math

import casadi as ca

from mbfmu.components import characteristics
from mbfmu.components.losses import LossPowerWithT
from mbfmu.components.rotational.interfaces import (
    PartialElementaryOneFlangeAndSupport2,
    PartialTorque,
    PartialTwoFlanges,
)
from mbfmu.modeling import RealInput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, State, Variable

#: Coefficients of s and s^2 in the denominator of a second order Bessel filter of critical frequency 1 rad/s.
BESSEL = (1.3617, 0.6180)
#: What the sign of a torque parameter means.
LOAD = "(if negative, torque is acting as load in positive direction of rotation)"
#: Descriptions of the parameters of filtered sources.
EXACT = "Is true/false for exact treatment/filtering of the input signal, respectively"
F_CRIT = "If exact=false, critical frequency of filter to filter input signal"


class Torque(PartialElementaryOneFlangeAndSupport2):
    """Input signal acting as external torque on a flange."""

    modelica_name = "Rotational.Sources.Torque"

    tau = RealInput("Accelerating torque acting at flange (= -flange.tau)", type=t.Torque)
    phi = Variable(t.Angle, "Angle of flange with respect to support (= flange.phi - support.phi)")

    def equations(self) -> None:
        self.phi = self.flange.phi - self.phi_support
        self.flange.tau = -self.tau
        self.react(self.tau)


class Torque2(PartialTwoFlanges):
    """Input signal acting as torque on two flanges."""

    modelica_name = "Rotational.Sources.Torque2"

    tau = RealInput("Torque driving the two flanges (a positive value accelerates the flange)", type=t.Torque)

    def equations(self) -> None:
        self.flange_a.tau, self.flange_b.tau = self.tau, -self.tau


class TorqueStep(PartialTorque):
    """Constant torque, not dependent on speed, that steps at startTime."""

    modelica_name = "Rotational.Sources.TorqueStep"

    stepTorque = Parameter(
        t.Torque,
        required,
        f"Height of torque step {LOAD}",
    )
    offsetTorque = Parameter(t.Torque, required, "Offset of torque")
    startTime = Parameter(t.Time, 0.0, "Torque = offset for time < startTime")

    def torque(self) -> ca.SX:
        self.time_event(self.startTime)
        return self.offsetTorque + self.switch(self.time - self.startTime, self.stepTorque, 0)


class PartialTorqueAtSpeed(PartialTorque):
    """Torque that may depend on the flange's speed `w`: a subclass defines `torque_at_speed`."""

    w = Variable(t.AngularVelocity, "Angular velocity of flange with respect to support (= der(phi))")

    def torque(self) -> ca.SX:
        self.w = self.der(self.flange.phi - self.phi_support)
        return self.torque_at_speed()

    def torque_at_speed(self) -> ca.SX:
        """Accelerating torque [N.m]."""
        raise NotImplementedError(f"{type(self).__name__} must define torque_at_speed()")


class ConstantTorque(PartialTorqueAtSpeed):
    """Constant torque, not dependent on speed."""

    modelica_name = "Rotational.Sources.ConstantTorque"

    tau_constant = Parameter(
        t.Torque,
        required,
        f"Constant torque {LOAD}",
        tunable=True,
    )

    def torque_at_speed(self) -> ca.SX:
        return self.tau_constant


class SignTorque(PartialTorqueAtSpeed):
    """Constant torque changing sign with speed."""

    modelica_name = "Rotational.Sources.SignTorque"

    tau_nominal = Parameter(t.Torque, required, "Nominal torque (if negative, torque is acting as load)", tunable=True)
    reg = Parameter(t.Regularization, "Exp", "Type of regularization")
    w0 = Parameter(t.AngularVelocity, required, "Regularization below w0", min=1e-15)

    def torque_at_speed(self) -> ca.SX:
        return self.tau_nominal * characteristics.sign(self, self.w, self.w0, self.reg)


class _SpeedDependentTorque(PartialTorqueAtSpeed):
    """Torque as a function of speed."""

    tau_nominal = Parameter(
        t.Torque,
        required,
        f"Nominal torque {LOAD}",
        tunable=True,
    )
    w_nominal = Parameter(t.AngularVelocity, required, "Nominal speed", min=1e-15, tunable=True)
    TorqueDirection = Parameter(t.Boolean, True, "Same direction of torque in both directions of rotation")


class LinearSpeedDependentTorque(_SpeedDependentTorque):
    """Linear dependency of torque versus speed."""

    modelica_name = "Rotational.Sources.LinearSpeedDependentTorque"

    def torque_at_speed(self) -> ca.SX:
        return self.tau_nominal * characteristics.linear(self, self.w / self.w_nominal, self.TorqueDirection)


class QuadraticSpeedDependentTorque(_SpeedDependentTorque):
    """Quadratic dependency of torque versus speed."""

    modelica_name = "Rotational.Sources.QuadraticSpeedDependentTorque"

    def torque_at_speed(self) -> ca.SX:
        return self.tau_nominal * characteristics.quadratic(self, self.w / self.w_nominal, self.TorqueDirection)


class InverseSpeedDependentTorque(_SpeedDependentTorque):
    """Torque reciprocal dependent on speed."""

    modelica_name = "Rotational.Sources.InverseSpeedDependentTorque"

    w0 = Parameter(t.AngularVelocity, required, "Regularization below w0", min=1e-15)

    def torque_at_speed(self) -> ca.SX:
        law = characteristics.inverse(self, self.w, self.w0, self.w_nominal, self.TorqueDirection)
        return self.tau_nominal * law


class EddyCurrentTorque(LossPowerWithT, PartialTorqueAtSpeed):
    """Simple model of a rotational eddy current brake; warm metal brakes best at a higher speed."""

    modelica_name = "Rotational.Sources.EddyCurrentTorque"

    useExcitationInput = Parameter(t.Boolean, False, "Enable signal input for excitation")
    constantExcitation = Parameter(t.Real, 1.0, "Excitation=1 to reach maximum torque")
    tau_nominal = Parameter(t.Torque, required, "Maximum torque (always braking)")
    w_nominal = Parameter(
        t.AngularVelocity,
        required,
        "Nominal speed (leads to maximum torque) at reference temperature",
        min=1e-15,
    )
    TRef = Parameter(t.Temperature, required, "Reference temperature")
    alpha20 = Parameter(t.LinearTemperatureCoefficient, required, "Temperature coefficient of material at 20 degC")
    excitation = RealInput("Excitation", when=lambda self: self.useExcitationInput)
    tau = Variable(t.Torque, "Braking torque acting at flange (= flange.tau)")
    w_normalized = Variable(t.Real, "Relative speed w/w_nominal, w_nominal at the present temperature")

    accelerates = -1.0

    def torque_at_speed(self) -> ca.SX:
        resistance = characteristics.resistance(self.temperature, self.TRef, self.alpha20)
        self.w_normalized = self.w / (self.w_nominal * resistance)
        excitation = self.excitation if self.useExcitationInput else self.constantExcitation
        brakes = self.tau_nominal * characteristics.eddy_current(excitation, self.w_normalized)
        self.lose(brakes * self.w)
        return brakes


class PartialPrescribedMotion(PartialElementaryOneFlangeAndSupport2):
    """Flange whose angle against the support is `phi`: a subclass gives phi, w and a."""

    phi = Variable(t.Angle, "Rotation angle of flange with respect to support")
    w = Variable(t.AngularVelocity, "Angular velocity of flange with respect to support")
    a = Variable(t.AngularAcceleration, "Angular acceleration of flange with respect to support")

    def equations(self) -> None:
        self.motion()
        self.relation(self.flange.phi - self.phi_support - self.phi)
        self.energy(dissipated=self.flange.tau * self.w)  # work done on the source leaves the system

    def motion(self) -> None:
        """Equations of phi, w and a."""
        raise NotImplementedError(f"{type(self).__name__} must define motion()")


class Position(PartialPrescribedMotion):
    """Forced movement of a flange according to a reference angle signal.

    With exact = false a second order Bessel filter makes the signal smooth; it starts at the signal's first value.
    """

    modelica_name = "Rotational.Sources.Position"

    exact = Parameter(t.Boolean, False, EXACT)
    f_crit = Parameter(t.Frequency, 50.0, F_CRIT, min=1e-15)
    phi_ref = RealInput("Reference angle of flange with respect to support as input signal", type=t.Angle)
    phi = State(t.Angle, "Rotation angle of flange with respect to support", start=0.0, dummy=lambda self: self.exact)
    w = State(
        t.AngularVelocity,
        "Angular velocity of flange with respect to support",
        start=0.0,
        dummy=lambda self: self.exact,
    )

    def motion(self) -> None:
        if self.exact:
            self.phi = self.phi_ref
            self.w = self.der(self.phi)
            self.a = self.der(self.w)
        else:
            w_crit = 2 * math.pi * self.f_crit
            self.a = ((self.phi_ref - self.phi) * w_crit - BESSEL[0] * self.w) * w_crit / BESSEL[1]
            self.der.phi, self.der.w = self.w, self.a
            self.initially(self.phi - self.phi_ref, "angle of the filter")


class Speed(PartialPrescribedMotion):
    """Forced movement of a flange according to a reference angular velocity signal.

    With exact = false a first order filter makes the signal smooth; it starts at the signal's first value.
    """

    modelica_name = "Rotational.Sources.Speed"

    exact = Parameter(t.Boolean, False, EXACT)
    f_crit = Parameter(t.Frequency, 50.0, F_CRIT, min=1e-15)
    w_ref = RealInput(
        "Reference angular velocity of flange with respect to support as input signal", type=t.AngularVelocity
    )
    phi = State(t.Angle, "Rotation angle of flange with respect to support", start=0.0, fixed=True)
    w = State(
        t.AngularVelocity,
        "Angular velocity of flange with respect to support",
        start=0.0,
        dummy=lambda self: self.exact,
    )

    def motion(self) -> None:
        if self.exact:
            self.w = self.w_ref
            self.a = self.der(self.w)
        else:
            self.a = (self.w_ref - self.w) * 2 * math.pi * self.f_crit
            self.der.w = self.a
            self.initially(self.w - self.w_ref, "speed of the filter")
        self.der.phi = self.w


class Accelerate(PartialPrescribedMotion):
    """Forced movement of a flange according to an acceleration signal."""

    modelica_name = "Rotational.Sources.Accelerate"

    a_ref = RealInput(
        "Absolute angular acceleration of flange with respect to support as input signal", type=t.AngularAcceleration
    )
    phi = State(t.Angle, "Rotation angle of flange with respect to support", start=0.0, fixed=True)
    w = State(t.AngularVelocity, "Angular velocity of flange with respect to support", start=0.0, fixed=True)

    def motion(self) -> None:
        self.a = self.a_ref
        self.der.phi, self.der.w = self.w, self.a


class Move(PartialPrescribedMotion):
    """Forced movement of a flange according to angle, angular velocity and angular acceleration signals.

    The first signal is not differentiated: the second is its derivative, and the third that of the second.
    """

    modelica_name = "Rotational.Sources.Move"

    u = RealInput(
        "Angle, angular velocity and angular acceleration of flange with respect to support as input signals", shape=3
    )

    def motion(self) -> None:
        phi, w, a = ca.vertsplit(self.u)
        self.w, self.a = self.with_rate(w, a), a
        self.phi = self.with_rate(phi, self.w)


class ConstantSpeed(PartialPrescribedMotion):
    """Constant speed, not dependent on torque."""

    modelica_name = "Rotational.Sources.ConstantSpeed"

    w_fixed = Parameter(t.AngularVelocity, required, "Fixed speed")
    phi = State(t.Angle, "Angle of flange with respect to support (= flange.phi - support.phi)", start=0.0)

    def motion(self) -> None:
        self.w, self.a = self.w_fixed, 0.0
        self.der.phi = self.w


__all__ = [
    "Accelerate",
    "ConstantSpeed",
    "ConstantTorque",
    "EddyCurrentTorque",
    "InverseSpeedDependentTorque",
    "LinearSpeedDependentTorque",
    "Move",
    "PartialPrescribedMotion",
    "PartialTorqueAtSpeed",
    "Position",
    "QuadraticSpeedDependentTorque",
    "SignTorque",
    "Speed",
    "Torque",
    "Torque2",
    "TorqueStep",
]
