"""Contact of rigid bodies: impacts that take no time, then a constraint as long as something presses."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.contact.contact import ContactPair
from mbfmu.components.contact.geometry import Geometry
from mbfmu.components.contact.pairs import shares_friction
from mbfmu.errors import ModelError
from mbfmu.frames import cross, resolve2
from mbfmu.modeling import Impulse, Parameter, Variable
from mbfmu.modeling import types as t

#: Rate at which a closed contact loses what rounding and steps let it drift by [1/s] (Baumgarte 1972).
SETTLING = 10.0
#: A contact opens where it presses with less than this [N], and closes where surfaces at rest would come nearer by more
#: than this [m/s2]: what merely touches is open.
PRESSING, NEARING = 1e-12, 1e-9
#: What is as near as this [m] when others are struck, and approaches, is struck with them: rounding must not part them.
NEAR = 1e-10
#: What a closed contact gives way by [1/kg], so that points that say the same share the force.
GIVING = 1e-12
#: Part of the speed below which bodies do not rebound that is no approach any more.
SLOW = 1e-3
#: How far bodies may overlap at the start [m], for the sake of rounding and of closed loops.
OVERLAP = 1e-9


class RigidContact(ContactPair):
    """Contact between two rigid bodies, without friction, at as many points as their pair has.

    Where bodies meet, all speeds jump at once, by the impulses that Newton's hypothesis asks for: points part with `e`
    times the speed with which they meet. Below `v_min` they do not part any more; from then on the contact is a
    constraint, until its force would pull.
    """

    modelica_name = "Contact.RigidContact"

    e = Parameter(t.Dimensionless, 0.0, "Coefficient of restitution", min=0, max=1, tunable=True)
    v_min = Parameter(
        t.Velocity, 1e-6, "Speed below which bodies do not part any more after they have met", min=1e-9, tunable=True
    )
    impulse = Impulse(
        t.Type("Impulse", unit="N.s", quantity="Impulse"),
        "Time integral of the normal force at each point, impacts included",
        shape=lambda self: self.each,
        start=0.0,
        fixed=True,
    )
    closed = Variable(
        t.Boolean, "= true, while a point is kept closed as a constraint, for each", shape=lambda self: self.each
    )

    def check_connections(self, connected: set[str]) -> None:
        """As of all pairs; each point must stand for itself."""
        super().check_connections(connected)
        a, b = self.geometry("a"), self.geometry("b")
        if shares_friction(a, b):
            raise ModelError(
                f"{self.both} touch at points that are too many for rigid bodies; give them a Contact, or make one of "
                "them up of spheres"
            )

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        found = [point for patch in self.patches() for point in patch]
        gap = ca.vertcat(*(point.gap for point in found))
        speed = self.der(gap)
        acceleration, f_n = self.der(speed), self.der(self.impulse)
        closed = ca.vertcat(
            *(self._closed(*(column[i] for column in (gap, speed, acceleration, f_n))) for i in range(len(found)))
        )
        sticks = acceleration + 2 * SETTLING * speed + SETTLING**2 * gap + GIVING * f_n
        # What still approaches, or parts already, is no constraint: events take their time until modes say so
        self.effort(impulse=ca.if_else(ca.logic_and(closed > 0.5, ca.fabs(speed) <= self.v_min), sticks, f_n))
        rebounds = -self.e * speed > self.v_min
        self.impact(
            "impulse",
            velocity=speed,
            restitution=ca.if_else(rebounds, self.e, 0),
            touching=ca.logic_or(closed > 0.5, ca.logic_and(gap <= NEAR, speed < -SLOW * self.v_min)),
            slow=SLOW * self.v_min,
        )
        forces = [f_n[i] * point.normal for i, point in enumerate(found)]
        self.gap, self.f_n, self.closed = gap, f_n, closed > 0.5
        self.f_c, self.r_c = ca.horzcat(*forces).T, ca.horzcat(*(point.place for point in found)).T
        self.f_a = force = ca.sum2(ca.horzcat(*forces))
        torque_a, torque_b = (
            sum((cross(point.place - frame.r_0, f) for point, f in zip(found, forces, strict=True)), ca.SX.zeros(3))
            for frame in (a, b)
        )
        a.f, a.t = -resolve2(a.R, force), -resolve2(a.R, torque_a)
        b.f, b.t = resolve2(b.R, force), resolve2(b.R, torque_b)
        self.energy(dissipated=-ca.dot(f_n, speed))
        self._stay_outside(ca.mmin(gap), self.geometry("a"), self.geometry("b"))

    def _closed(self, gap: ca.SX, speed: ca.SX, acceleration: ca.SX, f_n: ca.SX) -> ca.SX:
        """1 while a point is closed: where surfaces have met and do not part, as long as they press each other."""
        slow = SLOW * self.v_min
        closes = ca.fmin(-gap, ca.if_else(ca.fabs(speed) > slow, -speed, -acceleration - NEARING))
        stays = ca.if_else(speed < -self.v_min, 1, ca.fmin(f_n - PRESSING, self.v_min / 2 - speed))
        closed = self.switch(lambda closed: ca.if_else(closed > 0.5, stays, closes), 1, 0)
        # What is closed and approaches all the same, since a step has erred or something else was struck, is an event
        self.switch(ca.if_else(closed > 0.5, -self.v_min - speed, -1), 1, 0)
        # A gap, which depends on positions only, has bounds: it does not close and open again unseen
        self.switch(ca.if_else(closed > 0.5, 1, -NEAR - gap), 1, 0)
        return closed

    def _stay_outside(self, least: ca.SX, a: Geometry, b: Geometry) -> None:
        """Refuse overlap at the start; end the run where one body comes out on the other side of the other."""
        where = self._component.where
        self.require(
            self.hold(self.initial, value=least) + OVERLAP,
            f"{a.where} and {b.where} overlap at the start ({where}.gap says how far), which rigid bodies cannot; "
            "start them further apart",
        )
        sizes = [geometry.size for geometry in (a, b) if geometry.size is not None]
        if len(sizes) == 2:  # a plane has no other side
            self.require(
                least + ca.mmin(ca.vertcat(*sizes)),
                f"{a.where} is so deep in {b.where} that it comes out on the other side: their meeting has been "
                "missed; take shorter steps, or make the bodies slower",
            )


__all__ = ["RigidContact"]
