"""Contact of rigid bodies: impacts that take no time, then a constraint as long as something presses."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.contact.contact import ContactPair, Coulomb, Law, has_friction
from mbfmu.components.contact.geometry import Geometry
from mbfmu.components.contact.laws import TINY
from mbfmu.components.contact.pairs import Point, shares_friction
from mbfmu.components.interfaces import guarded_length
from mbfmu.errors import ModelError
from mbfmu.frames import angular_velocity1, cross, resolve2
from mbfmu.modeling import Impulse, Parameter, Variable
from mbfmu.modeling import types as t

Hypothesis = t.Type("Restitution", "String", values=("Newton", "Poisson", "Stronge"))
OfForce = t.Type("Impulse", unit="N.s", quantity="Impulse")
#: Rate at which a closed contact loses what rounding and steps let it drift by [1/s] (Baumgarte 1972).
SETTLING = 10.0
#: A contact opens where it presses with less than this [N], and closes where surfaces at rest would come nearer by more
#: than this [m/s2]: what merely touches is open.
PRESSING, NEARING = 1e-12, 1e-9
#: What is as near as this [m] when others are struck, and approaches, is struck with them: rounding must not part them.
NEAR = 1e-10
#: Part of the speed below which bodies do not rebound that is no approach any more.
SLOW = 1e-3
#: What slides has stopped where it goes back by this part of the speed up to which its direction is held: `v_min`, or
#: more (BACK and REST of templates/runtime/impacts.c).
BACK = 0.1
#: What is closed may move apart or together so fast [m/s], as steps and tolerances let it: the runtime takes it back.
DRIFTING = 1e-2
#: Part of the greatest friction by which what sticks may exceed it, for the sake of rounding.
WITHIN = 1e-9
#: What has come to its end, by more than rounding, is an event once more: a point that pulls with this [N], or exceeds
#: its greatest friction by as much, and this part of it.
LEAVING, LEAVING_PART = 1e-7, 1e-6
#: How far bodies may overlap at the start [m], for the sake of rounding and of closed loops.
OVERLAP = 1e-9


class RigidContact(ContactPair, Law):
    """Contact between two rigid bodies, at as many points as their pair has.

    Where bodies meet, all speeds jump at once, by impulses that push and rub, and never pull: points part with `e`
    times the speed with which they meet, or as another hypothesis of restitution says. Below `v_min` they do not part
    any more; from then on the contact is a constraint, until its force would pull. With friction a closed point sticks,
    as a constraint along the surfaces, or slides.
    """

    modelica_name = "Contact.RigidContact"

    e = Parameter(t.Dimensionless, 0.0, "Coefficient of restitution", min=0, max=1, tunable=True)
    hypothesis = Parameter(
        Hypothesis,
        "Newton",
        "What e is at an impact: speed of parting over speed of meeting (Newton), impulse of restitution over impulse "
        "of compression (Poisson), or the root of the same quotient of works (Stronge)",
    )
    v_min = Parameter(
        t.Velocity, 1e-6, "Speed below which bodies do not part any more after they have met", min=1e-9, tunable=True
    )
    friction, mu_k, mu_s = Coulomb.friction, Coulomb.mu_k, Coulomb.mu_s
    impulse = Impulse(
        OfForce,
        "Time integral of the normal force at each point, impacts included",
        shape=lambda self: self.each,
        start=0.0,
        fixed=True,
    )
    impulse_t = Impulse(
        OfForce,
        "Time integral of the friction force on geometry_a at each point, impacts included, resolved in world frame",
        shape=lambda self: (3 * self.each[0],),
        start=0.0,
        fixed=True,
        when=has_friction,
    )
    f_t = Variable(t.Force, "Friction force at each point", shape=lambda self: self.each)
    closed = Variable(
        t.Boolean, "= true, while a point is kept closed as a constraint, for each", shape=lambda self: self.each
    )
    sticks = Variable(t.Boolean, "= true, while a closed point sticks, for each", shape=lambda self: self.each)

    def check_connections(self, connected: set[str]) -> None:
        """As of all pairs; each point must stand for itself."""
        super().check_connections(connected)
        a, b = self.geometry("a"), self.geometry("b")
        if shares_friction(a, b):
            raise ModelError(
                f"{self.both} touch at points that are too many for rigid bodies; give them a Contact, or make one of "
                "them up of spheres"
            )

    # -- physics

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        found = [point for patch in self.patches() for point in patch]
        count = range(len(found))
        gap = ca.vertcat(*(point.gap for point in found))
        speed = self.der(gap)
        f_n = self.der(self.impulse)
        rate = self.der(speed) + 2 * SETTLING * speed + SETTLING**2 * gap
        slow, rebounds = SLOW * self.v_min, -self.e * speed > self.v_min
        rubbed = _Rubbed(self, found) if has_friction(self) else None
        modes = self.impact(
            "impulse",
            velocity=speed,
            restitution=ca.if_else(rebounds, self.e, 0),
            hypothesis=self.hypothesis,
            touching=lambda modes: ca.logic_or(modes.closed > 0.5, ca.logic_and(gap <= NEAR, speed < -slow)),
            slow=slow,
            gap=gap,
            rate=rate,
            resting=lambda modes: ca.if_else(
                modes.closed > 0.5, speed <= self.v_min / 2, ca.logic_and(gap <= NEAR, ca.fabs(speed) <= slow)
            ),
            **({} if rubbed is None else rubbed.of_impact()),
        )
        opens = rate + modes.gives * (f_n - modes.f_n)
        closed = [one > 0.5 for one in ca.vertsplit(modes.closed)]
        # What still approaches, or parts already, is no constraint: events take their time until modes say so
        drifts = ca.fmax(self.v_min, DRIFTING)
        kept = [ca.logic_and(closed[i], ca.fabs(speed[i]) <= drifts) for i in count]
        self.effort(impulse=ca.vertcat(*(ca.if_else(kept[i], opens[i], f_n[i]) for i in count)))
        for i in count:
            self._watch(closed[i], gap[i], speed[i], opens[i], f_n[i], drifts)
        # Events of single forces come once each, and the runtime may leave them as they are
        self.switch(ca.mmin(ca.vertcat(*(ca.if_else(kept[i], f_n[i] + LEAVING, 1) for i in count))), 1, 0)
        forces = [f_n[i] * point.normal for i, point in enumerate(found)]
        lost = -ca.dot(f_n, speed)
        if rubbed is None:
            self.f_t = ca.SX.zeros(len(found))
            self.sticks = ca.SX.zeros(len(found)) > 0.5
        else:
            rubbed.rub(modes, kept, f_n)
            forces = [force + f for force, f in zip(forces, rubbed.forces, strict=True)]
            lost -= sum(ca.dot(f, v) for f, v in zip(rubbed.forces, rubbed.v, strict=True))
        self.gap, self.f_n, self.closed = gap, f_n, ca.vertcat(*closed)
        self.f_c, self.r_c = ca.horzcat(*forces).T, ca.horzcat(*(point.place for point in found)).T
        self.f_a = force = ca.sum2(ca.horzcat(*forces))
        torque_a, torque_b = (
            sum((cross(point.place - frame.r_0, f) for point, f in zip(found, forces, strict=True)), ca.SX.zeros(3))
            for frame in (a, b)
        )
        a.f, a.t = -resolve2(a.R, force), -resolve2(a.R, torque_a)
        b.f, b.t = resolve2(b.R, force), resolve2(b.R, torque_b)
        self.energy(dissipated=lost)
        self._stay_outside(ca.mmin(gap), self.geometry("a"), self.geometry("b"))
        self.hold_friction()

    def _watch(self, closed: Any, gap: Any, speed: Any, opens: Any, f_n: Any, drifts: Any) -> None:
        """Events of a point: where open surfaces have met and do not part, where closed ones do not press each other
        any more; the runtime then finds what is closed."""
        slow = SLOW * self.v_min
        meets = ca.fmin(-gap, ca.if_else(ca.fabs(speed) > slow, -speed, -opens - NEARING))
        stays = ca.if_else(speed < -drifts, 1, ca.fmin(f_n - PRESSING, drifts - speed))
        self.switch(ca.if_else(closed, stays, meets), 1, 0)
        # What is closed and approaches all the same, since a step has erred or something else was struck, is an event
        self.switch(ca.if_else(closed, -drifts - speed, -1), 1, 0)
        # A gap, which depends on positions only, has bounds: it does not close and open again unseen
        self.switch(ca.if_else(closed, 1, -NEAR - gap), 1, 0)

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


class _Rubbed:
    """Points of a rigid contact along their surfaces: how they slide, and what friction they have."""

    def __init__(self, contact: Any, points: list[Point]) -> None:
        a, b = contact.frame_a, contact.frame_b
        w_a, w_b = angular_velocity1(a.R), angular_velocity1(b.R)
        v_a, v_b = contact.der(a.r_0), contact.der(b.r_0)
        self._contact, self._normals = contact, [point.normal for point in points]
        f_t = contact.der(contact.impulse_t)
        self._f_t = [f_t[3 * i : 3 * i + 3] for i in range(len(points))]
        #: Velocities of a relative to b along the surfaces [m/s].
        self.v = []
        for point in points:
            v = v_a + cross(w_a, point.place - a.r_0) - v_b - cross(w_b, point.place - b.r_0)
            self.v.append(_across(point.normal, v))
        #: Friction on a [N].
        self.forces = [_across(n, f) for n, f in zip(self._normals, self._f_t, strict=True)]
        #: How they grow [m/s2], with what drift is drawn back by.
        self.rates = [_across(n, contact.der(v)) + 2 * SETTLING * v for n, v in zip(self._normals, self.v, strict=True)]

    def of_impact(self) -> dict[str, Any]:
        """What an impact has to know of them."""
        return {
            "friction": "impulse_t",
            "sliding": ca.vertcat(*self.v),
            "sliding_rate": ca.vertcat(*self.rates),
            "normal": ca.vertcat(*self._normals),
            "mu_s": self._contact.mu_s,
            "mu_k": self._contact.mu_k,
        }

    def rub(self, modes: Any, kept: list[Any], f_n: Any) -> None:
        """Let friction follow from what points do; watch how long they do it."""
        contact = self._contact
        rows, sizes, sticking = [], [], []
        for i, (v, f_t, force) in enumerate(zip(self.v, self._f_t, self.forces, strict=True)):
            begun = modes.direction[3 * i : 3 * i + 3]
            length = guarded_length(begun, TINY)
            ahead, least = ca.dot(v, begun) / length, contact.v_min * length
            # What begins to slide has its direction from the event; what stops keeps its own until the event of that.
            # Events see the same (`sees` of templates/runtime/impacts.c)
            slides = v + ca.fmax(least - ahead, 0) * begun / length
            speed = guarded_length(slides, contact.v_min * TINY)
            law = f_t + contact.mu_k * f_n[i] * slides / speed
            sticks = ca.logic_and(kept[i], modes.sticks[i] > 0.5)
            normal = self._normals[i]
            stays = self.rates[i] + normal * ca.dot(normal, f_t) + modes.gives[i] * (f_t - modes.f_t[3 * i : 3 * i + 3])
            rows.append(ca.if_else(sticks, stays, ca.if_else(kept[i], law, f_t)))
            size = guarded_length(force, TINY)
            contact.switch(ca.if_else(sticks, (1 + WITHIN) * contact.mu_s * f_n[i] + PRESSING - size, 1), 1, 0)
            turned = ca.fmin(ca.fmax(ahead, least) - speed / 2, ahead + BACK * least)
            contact.switch(ca.if_else(ca.logic_and(kept[i], ca.logic_not(sticks)), turned, 1), 1, 0)
            sizes.append(size)
            sticking.append(sticks)
        most = [contact.mu_s * f_n[i] for i in range(len(sizes))]
        spare = ((1 + LEAVING_PART) * most[i] + LEAVING - size for i, size in enumerate(sizes))
        contact.switch(ca.mmin(ca.vertcat(*(ca.if_else(*one, 1) for one in zip(sticking, spare, strict=True)))), 1, 0)
        contact.effort(impulse_t=ca.vertcat(*rows))
        contact.f_t, contact.sticks = ca.vertcat(*sizes), ca.vertcat(*sticking)


def _across(n: Any, v: Any) -> Any:
    """The part of a vector across a normal."""
    return v - n * ca.dot(n, v)


__all__ = ["RigidContact"]
