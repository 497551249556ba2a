"""Dry friction that sticks and slides: BearingFriction, Clutch, Brake (Modelica.Mechanics.Rotational 4.0)."""

from __future__ import annotations

import casadi as ca
from mbfmu.components.losses import LossPower
from mbfmu.components.rotational.interfaces import (
    PartialCompliantWithRelativeStates,
    PartialElementaryTwoFlangesAndSupport2,
)

from mbfmu.errors import ModelError
from mbfmu.modeling import RealInput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Speed, Variable

#: Sliding ends where its speed is this far on the other side of zero [rad/s], so that rounding cannot end it.
REVERSED = 1e-9
#: Below this speed it is the torque that decides whether something slides, and which way [rad/s].
SLOW = 1e-6
#: Sliding begins where the torque exceeds its maximum by this much [N.m]: without normal force both are about 0.
EXCEEDED = 1e-12
#: What stuck surfaces give way by [1/(kg.m2)], so that brakes on one shaft share its torque.
GIVING = 1e-12
#: Time in which the speed that is left when sliding ends dies away [s].
SETTLING = 1.0


class PartialFriction(LossPower):
    """Coulomb friction between two surfaces that stick, or slide forward or backward (Otter et al., CACSD 1999).

    The friction torque is an unknown of the equations of motion: it follows from the law of sliding, or, while the
    surfaces stick, from their relative acceleration being zero. For that it is written as the derivative of its angular
    impulse, whose equation says which of the two holds.
    """

    peak = Parameter(t.Real, 1.0, "Peak for maximum friction at w==0 (tau0_max = peak*tau0)", min=1)
    w_small = Parameter(
        t.AngularVelocity,
        1e10,
        "Relative angular velocity near to zero if jumps due to a reinit(..) of "
        "the velocity can occur (no effect: none can)",
    )

    impulse = Speed(
        t.Type("AngularImpulse", unit="N.m.s"), "Time integral of the friction torque", start=0.0, fixed=True
    )
    w_relfric = Variable(t.AngularVelocity, "Relative angular velocity between frictional surfaces")
    a_relfric = Variable(t.AngularAcceleration, "Relative angular acceleration between frictional surfaces")
    tau0 = Variable(t.Torque, "Friction torque for w=0 and forward sliding")
    tau0_max = Variable(t.Torque, "Maximum friction torque for w=0 and locked")
    mode = Variable(t.Real, "Mode of friction (-1: backward sliding, 0: stuck, 1: forward sliding)")

    def friction(self, w: ca.SX, coefficient: ca.SX, coefficient0: ca.SX, load: ca.SX) -> ca.SX:
        """Friction torque [N.m], positive against a positive relative speed w [rad/s].

        Args:
            w: relative speed of the surfaces.
            coefficient: friction per load at the present speed of sliding.
            coefficient0: the same for w = 0.
            load: what presses the surfaces together.
        """
        torque = self.der(self.impulse)
        self.w_relfric, self.a_relfric = w, self.der(w)
        self.tau0 = coefficient0 * load
        self.tau0_max = self.peak * self.tau0
        forward = self._slides(w, torque)
        backward = self._slides(-w, -torque)
        self.mode = forward - backward
        slides = self.mode * coefficient * load - torque
        sticks = self.a_relfric + w / SETTLING - GIVING * torque
        self.effort(impulse=ca.if_else(forward + backward > 0.5, slides, sticks))
        self.lose(torque * w)
        return torque

    def _slides(self, w: ca.SX, torque: ca.SX) -> ca.SX:
        """1 while the surfaces slide in the direction in which w and the torque count as positive, else 0."""
        begins = ca.if_else(ca.fabs(w) > SLOW, w, torque - self.tau0_max - EXCEEDED)
        return self.switch(lambda slides: ca.if_else(slides > 0.5, w + REVERSED, begins), 1, 0)

    def interpolate(self, name: str, w: ca.SX) -> ca.SX:
        """Second column of a table parameter at the speed |w|, linear between rows and beyond the last two."""
        rows = self.shape_of(name)[0]
        table, speed = getattr(self, name), ca.fabs(w)

        def line(i: int) -> ca.SX:
            slope = (table[i + 1, 1] - table[i, 1]) / (table[i + 1, 0] - table[i, 0])
            return table[i, 1] + slope * (speed - table[i, 0])

        if rows == 1:
            return table[0, 1]
        value = line(0)
        for i in range(1, rows - 1):
            value = self.switch(speed - table[i, 0], line(i), value)
        return value

    def check_table(self, name: str) -> None:
        """Refuse tables that are no function of the speed from 0 on.

        Raises:
            ModelError: not two columns, or the first one does not rise from 0.
        """
        table = self.value(name)
        shape = self.shape_of(name)
        rising = len(shape) == 2 and shape[1] == 2 and table[0, 0] == 0 and (table[1:, 0] > table[:-1, 0]).all()
        if not rising:
            raise ModelError(
                f"{self.where}.{name} = {table.tolist()}: expected rows of a speed [rad/s] and a friction; the "
                "speeds rise, the first one is 0"
            )


class _ShaftFriction(PartialFriction, PartialElementaryTwoFlangesAndSupport2):
    """Friction between a shaft and its support."""

    phi = Variable(t.Angle, "Angle between shaft flanges (flange_a, flange_b) and support")
    tau = Variable(t.Torque, "Friction torque")
    w = Variable(t.AngularVelocity, "Absolute angular velocity of flange_a and flange_b")
    a = Variable(t.AngularAcceleration, "Absolute angular acceleration of flange_a and flange_b")

    def brake(self, name: str, load: ca.SX) -> None:
        """Equations of the shaft, with the friction of a table under a load."""
        self.phi = self.flange_a.phi - self.phi_support
        self.w = self.der(self.phi)
        self.a = self.der(self.w)
        self.relation(self.flange_a.phi - self.flange_b.phi)
        self.tau = self.friction(self.w, self.interpolate(name, self.w), getattr(self, name)[0, 1], load)
        self.flange_a.tau = self.tau
        self.react(-self.tau)


class BearingFriction(_ShaftFriction):
    """Coulomb friction in bearings."""

    modelica_name = "Rotational.Components.BearingFriction"

    tau_pos = Parameter(
        t.Real,
        ((0.0, 1.0),),
        "Positive sliding friction characteristic [N.m] as function of w [rad/s] (w>=0)",
        shape=None,
    )

    def check_connections(self, connected: set[str]) -> None:
        self.check_table("tau_pos")
        super().check_connections(connected)

    def equations(self) -> None:
        self.brake("tau_pos", ca.SX(1))


class _PressedFriction(PartialFriction):
    """Friction under a normal force that a signal gives."""

    mu_pos = Parameter(
        t.Real,
        ((0.0, 0.5),),
        "Positive sliding friction coefficient [-] as function of w_rel [rad/s] (w_rel>=0)",
        shape=None,
    )
    cgeo = Parameter(t.Real, 1.0, "Geometry constant containing friction distribution assumption", min=0)
    fn_max = Parameter(t.Force, required, "Maximum normal force", min=0)
    f_normalized = RealInput("Normalized force signal 0..1 (normal force = fn_max*f_normalized; active if > 0)")
    fn = Variable(t.Force, "Normal force (fn=fn_max*f_normalized)")

    def check_connections(self, connected: set[str]) -> None:
        self.check_table("mu_pos")
        super().check_connections(connected)

    def load(self) -> ca.SX:
        """Friction torque per friction coefficient [N.m]."""
        self.fn = self.fn_max * self.f_normalized
        return self.cgeo * self.switch(self.fn, self.fn, 0)


class Brake(_PressedFriction, _ShaftFriction):
    """Brake based on Coulomb friction."""

    modelica_name = "Rotational.Components.Brake"

    def equations(self) -> None:
        self.brake("mu_pos", self.load())


class Clutch(_PressedFriction, PartialCompliantWithRelativeStates):
    """Clutch based on Coulomb friction."""

    modelica_name = "Rotational.Components.Clutch"

    def torque(self) -> ca.SX:
        return self.friction(self.w_rel, self.interpolate("mu_pos", self.w_rel), self.mu_pos[0, 1], self.load())


__all__ = ["BearingFriction", "Brake", "Clutch", "PartialFriction"]
