"""Dry friction that sticks and slides (Modelica.Mechanics.Rotational 4.1): bearings, clutches and brakes."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.friction import Coulomb, Pressed, StickSlip
from mbfmu.components.rotational.interfaces import (
    PartialCompliantWithRelativeStates,
    PartialElementaryTwoFlangesAndSupport2,
)
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Impulse, Parameter, Variable

#: Type of the time integral of a friction torque.
AngularImpulse = t.Type("AngularImpulse", unit="N.m.s")


class PartialFriction(StickSlip):
    """Friction torque between two surfaces."""

    w_small = Parameter(
        t.AngularVelocity,
        1e10,
        "Relative angular velocity near to zero if jumps due to a reinit(..) of "
        "the velocity can occur (no effect: none can)",
    )

    impulse = Impulse(AngularImpulse, "Time integral of the friction torque", start=0.0, fixed=True)
    w_relfric = Variable(t.AngularVelocity, "Relative angular velocity between frictional surfaces")
    a_relfric = Variable(t.AngularAcceleration, "Relative angular acceleration between frictional surfaces")
    tau0 = Variable(t.Torque, "Friction torque for w=0 and forward sliding")
    tau0_max = Variable(t.Torque, "Maximum friction torque for w=0 and locked")

    def stick_or_slide(self, speed: ca.SX, **laws: Any) -> None:
        """As in StickSlip, with the variables of the rotational domain."""
        self.w_relfric, self.a_relfric = speed, self.der(speed)
        self.tau0_max = laws["most"]
        super().stick_or_slide(speed, **laws)


class _ShaftFriction(PartialFriction, PartialElementaryTwoFlangesAndSupport2):
    """Friction between a shaft and its support."""

    phi = Variable(t.Angle, "Angle between shaft flanges (flange_a, flange_b) and support")
    tau = Variable(t.Torque, "Friction torque")
    w = Variable(t.AngularVelocity, "Absolute angular velocity of flange_a and flange_b")
    a = Variable(t.AngularAcceleration, "Absolute angular acceleration of flange_a and flange_b")

    def equations(self) -> None:
        self.phi = self.flange_a.phi - self.phi_support
        self.w = self.der(self.phi)
        self.a = self.der(self.w)
        self.relation(self.flange_a.phi - self.flange_b.phi)
        self.rub()
        self.tau = self.friction
        self.flange_a.tau = self.tau
        self.react(-self.tau)

    def rub(self) -> None:
        """Equations of the friction at the speed w."""
        raise NotImplementedError(f"{type(self).__name__} must define rub()")


class BearingFriction(Coulomb, _ShaftFriction):
    """Coulomb friction in bearings."""

    modelica_name = "Rotational.Components.BearingFriction"

    tau_pos = Parameter(
        t.Real,
        ((0.0, 1.0),),
        "Positive sliding friction characteristic [N.m] as function of w [rad/s] (w>=0)",
        shape=None,
        min=0,
    )

    def check_values(self) -> None:
        super().check_values()
        self.check_table("tau_pos")

    def rub(self) -> None:
        self.tau0 = self.tau_pos[0, 1]
        self.resist(self.w, self.characteristic("tau_pos", self.w), self.tau0)


class Brake(Pressed, _ShaftFriction):
    """Brake based on Coulomb friction."""

    modelica_name = "Rotational.Components.Brake"

    def rub(self) -> None:
        self.tau0 = self.mu_pos[0, 1] * self.press(self.w)


class Clutch(Pressed, PartialFriction, PartialCompliantWithRelativeStates):
    """Clutch based on Coulomb friction."""

    modelica_name = "Rotational.Components.Clutch"

    def torque(self) -> ca.SX:
        self.tau0 = self.mu_pos[0, 1] * self.press(self.w_rel)
        return self.friction


class OneWayClutch(Pressed, PartialFriction, PartialCompliantWithRelativeStates):
    """Freewheel and clutch in parallel: flange_b may overrun flange_a, and does not turn slower.

    Pressed, the surfaces rub while flange_b overruns; an unpressed freewheel opens at 1e-4 of the greatest friction.
    """

    modelica_name = "Rotational.Components.OneWayClutch"

    u = Variable(t.Real, "Normalized force input signal (0..1)")
    stuck = Variable(t.Boolean, "= true, if w_rel=0 (locked or start of forward sliding)")

    #: Least peak of the friction at rest, and what an open freewheel sticks with, both as a part of the friction.
    hysteresis = 1e-4

    def torque(self) -> ca.SX:
        self.u = self.f_normalized
        self.tau0 = self.mu_pos[0, 1] * self.press(self.w_rel)
        self.require(
            self.w_rel + 1e-3, "flange_b turns slower than flange_a; a freewheel holds it: start with w_rel>=0"
        )
        self.stuck = ca.logic_or(self.locked, self.w_rel <= 0)
        return self.friction

    def stick_or_slide(self, speed: ca.SX, **laws: Any) -> None:
        rest = self.mu_pos[0, 1] * self.cgeo
        open_clutch = self.hysteresis * rest * self.fn_max
        least_peak = rest * (1 + self.hysteresis) * self.fn
        closed = ca.fmax(laws["most"], least_peak)
        laws["most"] = ca.if_else(self.free, open_clutch, closed)
        super().stick_or_slide(speed, **(laws | {"astern": -1.0, "free": 0.0}))


__all__ = ["BearingFriction", "Brake", "Clutch", "OneWayClutch", "PartialFriction"]
