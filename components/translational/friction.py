"""Dry friction that sticks and slides, and hard stops (Modelica.Mechanics.Translational 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.friction import SLOW, Coulomb, Pressed, StickSlip
from mbfmu.components.translational.interfaces import PartialElementaryTwoFlangesAndSupport2, PartialTwoFlanges
from mbfmu.modeling import required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Coordinate, Impulse, Parameter, Variable

#: Type of the time integral of a friction force.
LinearImpulse = t.Type("Impulse", unit="N.s", quantity="Impulse")
#: Friction that no drive overcomes [N].
UNYIELDING = 1e60
#: Time in which a mass loses its speed when it hits a stop [s]: it goes v*IMPACT into it.
IMPACT = 1e-7


class PartialFriction(StickSlip):
    """Friction force between two surfaces."""

    v_small = Parameter(
        t.Velocity, 1e-3, "Relative velocity near to zero (no effect: jumps of the velocity need no such limit here)"
    )

    impulse = Impulse(LinearImpulse, "Time integral of the friction force", start=0.0, fixed=True)
    v_relfric = Variable(t.Velocity, "Relative velocity between frictional surfaces")
    a_relfric = Variable(t.Acceleration, "Relative acceleration between frictional surfaces")
    f0 = Variable(t.Force, "Friction force for v=0 and forward sliding")
    f0_max = Variable(t.Force, "Maximum friction force for v=0 and locked")

    def stick_or_slide(self, speed: ca.SX, **laws: Any) -> None:
        """As in StickSlip, with the variables of the translational domain."""
        self.v_relfric, self.a_relfric = speed, self.der(speed)
        super().stick_or_slide(speed, **laws)


class _GuideFriction(PartialFriction, PartialElementaryTwoFlangesAndSupport2):
    """Friction between a rod and its support."""

    s = Variable(t.Position, "Distance of flange_a and flange_b from the support")
    f = Variable(t.Force, "Friction force")
    v = Variable(t.Velocity, "Velocity of flange_a and flange_b with respect to the support")
    a = Variable(t.Acceleration, "Acceleration of flange_a and flange_b with respect to the support")

    def equations(self) -> None:
        self.s = self.flange_a.s - self.s_support
        self.v = self.der(self.s)
        self.a = self.der(self.v)
        self.relation(self.flange_a.s - self.flange_b.s)
        self.rub()
        self.f = self.friction
        self.flange_a.f = self.f
        self.react(-self.f)

    def rub(self) -> None:
        """Equations of the friction at the speed v."""
        raise NotImplementedError(f"{type(self).__name__} must define rub()")

    def stick_or_slide(self, speed: ca.SX, **laws: Any) -> None:
        self.f0_max = laws["most"]
        super().stick_or_slide(speed, **laws)


class SupportFriction(Coulomb, _GuideFriction):
    """Coulomb friction in support."""

    modelica_name = "Translational.Components.SupportFriction"

    f_pos = Parameter(
        t.Real,
        ((0.0, 1.0),),
        "Positive sliding friction characteristic [N] as function of v [m/s] (v>=0)",
        shape=None,
        min=0,
    )

    def check_values(self) -> None:
        super().check_values()
        self.check_table("f_pos")

    def rub(self) -> None:
        self.f0 = self.f_pos[0, 1]
        self.resist(self.v, self.characteristic("f_pos", self.v), self.f0)


class Brake(Pressed, _GuideFriction):
    """Brake based on Coulomb friction."""

    modelica_name = "Translational.Components.Brake"

    def rub(self) -> None:
        self.f0 = self.mu_pos[0, 1] * self.press(self.v)


class MassWithStopAndFriction(PartialFriction, PartialTwoFlanges):
    """Sliding mass with hard stop and Stribeck friction.

    A mass that hits a stop loses its speed at once: within 1e-7 s here, in which it goes by that time times its speed
    beyond the stop. The stop then holds it until something pulls it back.
    """

    modelica_name = "Translational.Components.MassWithStopAndFriction"

    m = Parameter(t.Mass, required, "Mass", nonzero=True)
    L = Parameter(t.Length, 0.0, "Length of component, from left flange to right flange (= flange_b.s - flange_a.s)")
    smax = Parameter(t.Position, required, "Right stop for (right end of) sliding mass")
    smin = Parameter(t.Position, required, "Left stop for (left end of) sliding mass")
    F_prop = Parameter(t.TranslationalDampingConstant, required, "Velocity dependent friction", min=0)
    F_Coulomb = Parameter(t.Force, required, "Constant friction: Coulomb force")
    F_Stribeck = Parameter(t.Force, required, "Stribeck effect")
    fexp = Parameter(t.Type("StribeckExponent", unit="s/m"), required, "Exponential decay of Stribeck effect", min=0)

    s = Coordinate(
        t.Position,
        "Absolute position of center of component (s = flange_a.s + L/2 = flange_b.s - L/2)",
        start=0.0,
        state_select="always",
    )
    v = Variable(t.Velocity, "Absolute velocity of flange_a and flange_b", start=0.0, state_select="always")
    a = Variable(t.Acceleration, "Absolute acceleration of flange_a and flange_b", start=0.0)
    f = Variable(t.Force, "Friction force, with what the stop holds (positive against a positive speed)")
    free = Variable(t.Boolean, "= true, if frictional element is not active")
    stopped = Variable(t.Integer, "Mode of stop (-1: hard stop at flange_a, 0: no stop, +1: hard stop at flange_b)")

    def equations(self) -> None:
        self.v = self.der(self.s)
        self.a = self.der(self.v)
        self.relation(self.flange_a.s - (self.s - self.L / 2))
        self.relation(self.flange_b.s - (self.s + self.L / 2))
        self.f = self.friction
        self.effort(s=-self.m * self.a - self.f)
        self.energy(kinetic=self.m * self.v**2 / 2)
        right, left = self.smax - self.L / 2 - self.s, self.s - self.smin - self.L / 2
        reach = self.smax - self.smin - self.L
        message = (
            "the mass is outside of its stops, smin + L/2 <= s <= smax - L/2; correct s or the stops, and for steps of "
            "fixed length use an ElastoGap"
        )
        self.require(ca.fmin(right, left) + 1e-3 * reach, message)
        self.stopped = ca.if_else(left <= 0, -1, ca.if_else(right <= 0, 1, 0))
        self.f0 = self.F_Coulomb + self.F_Stribeck
        self.f0_max = 1.001 * self.f0
        rough = ca.logic_or(self.f0 > 0, self.F_prop > 0)
        self.free = ca.logic_not(ca.logic_or(rough, ca.fmin(left, right) <= 0))
        slides = self.F_Coulomb + self.F_Stribeck * ca.exp(-self.fexp * ca.fabs(self.v))
        self.stick_or_slide(
            self.v,
            forward=self.F_prop * self.v + slides,
            backward=self.F_prop * self.v - slides,
            most=self.f0_max,
            least=-self.f0_max,
            free=self.free,
            ahead=right,
            astern=left,
            # Below SLOW the stop lets go: the decay that is left needs no short steps.
            stopping=self.v**2 / (self.v**2 + SLOW**2) / IMPACT,
        )


__all__ = ["Brake", "MassWithStopAndFriction", "SupportFriction"]
