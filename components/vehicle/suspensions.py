"""Suspensions and what they consist of: bushings, a double wishbone for each wheel, anti-roll bars."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.forces.springs import SpringDamperParallel
from mbfmu.components.interfaces import Flange_a, PartialForce
from mbfmu.components.joints.elementary import Revolute
from mbfmu.components.joints.free import Spherical
from mbfmu.components.parts.bodies import Body, BodyShape
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.frames import cross
from mbfmu.modeling import Component, Frame_a, Frame_b, Parameter, Start
from mbfmu.modeling import types as t

ARM_COLOR = (110, 115, 125)


class Bushing(PartialForce):
    """Elastic joint: three springs and dampers along the axes of frame_b, and one that resists turning.

    Its torque is that of the potential c_phi (1 - cos phi), phi the angle between the frames.
    """

    modelica_name = "Vehicle.Bushing"

    c = Parameter(
        t.TranslationalSpringConstant, (1e6, 1e6, 1e6), "Stiffness along x, y, z", shape=3, min=0, tunable=True
    )
    d = Parameter(
        t.TranslationalDampingConstant, (1e3, 1e3, 1e3), "Damping along x, y, z", shape=3, min=0, tunable=True
    )
    c_phi = Parameter(t.RotationalSpringConstant, 0.0, "Stiffness against turning", min=0, tunable=True)
    d_phi = Parameter(t.RotationalDampingConstant, 0.0, "Damping against turning", min=0, tunable=True)

    def cut_force(self) -> tuple[Any, Any]:
        r, R = self.r_rel_b, self.R_rel
        v = self.der(r)
        T, w = R.T, R.w
        turned = ca.vertcat(T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]) / 2
        stored = ca.dot(self.c * r, r) / 2 + self.c_phi * (3 - ca.trace(T)) / 2
        self.energy(potential=stored, dissipated=ca.dot(self.d * v, v) + self.d_phi * ca.sumsqr(w))
        f = self.c * r + self.d * v
        # The springs turn with frame_b, and act at the origin of frame_a
        return f, self.c_phi * turned + self.d_phi * w - cross(r, f)


class DoubleWishbone(Component):
    """Suspension of one wheel: two wishbones, an upright, a tie rod, a spring with damper.

    Points are given for a wheel on the left, from the origin of frame_a, which is in the middle between both wheels at
    the height of their centres; `left` = false mirrors them. The upper wishbone holds the upright by a bushing, the tie
    rod by its own stiffness, so that the suspension has no closed loop. It starts at rest, as the points say.
    """

    modelica_name = "Vehicle.DoubleWishbone"

    frame_a = Frame_a("Chassis, in the middle between the wheels; x ahead, y to the left, z upwards", needed=True)
    frame_rack = Frame_a("Inner end of the tie rod: steering rack, or chassis", needed=True)
    frame_hub = Frame_b("Hub, in the wheel's centre; y-axis: the wheel's axis")
    arm = Flange_a("Angle of the lower wishbone, positive upwards: for an anti-roll bar")

    left = Parameter(t.Boolean, True, "= true, if the wheel is on the left")
    lowerInner = Parameter(t.Position, (0.0, 0.35, -0.12), "Axis of the lower wishbone, parallel to x", shape=3)
    lowerBall = Parameter(t.Position, (0.0, 0.68, -0.15), "Outer joint of the lower wishbone", shape=3)
    upperInner = Parameter(t.Position, (0.0, 0.42, 0.12), "Axis of the upper wishbone, parallel to x", shape=3)
    upperBall = Parameter(t.Position, (-0.02, 0.64, 0.16), "Outer joint of the upper wishbone", shape=3)
    hub = Parameter(t.Position, (0.0, 0.75, 0.0), "Centre of the wheel", shape=3)
    tieOuter = Parameter(t.Position, (-0.12, 0.69, -0.06), "Outer end of the tie rod", shape=3)
    tieInner = Parameter(t.Position, (-0.12, 0.34, -0.05), "Inner end of the tie rod, where frame_rack is", shape=3)
    springTop = Parameter(t.Position, (0.0, 0.48, 0.45), "Upper end of the spring", shape=3)
    springFoot = Parameter(t.Position, (0.0, 0.58, -0.14), "Foot of the spring, on the lower wishbone", shape=3)
    c = Parameter(t.TranslationalSpringConstant, 6.5e4, "Stiffness of the spring", min=0, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, 5.0e3, "Damping of the damper", min=0, tunable=True)
    preload = Parameter(t.Force, 5.9e3, "Force of the spring in the position that the points describe")
    c_ball = Parameter(t.TranslationalSpringConstant, 1.5e6, "Stiffness of the upper bushing", min=0, tunable=True)
    d_ball = Parameter(t.TranslationalDampingConstant, 1.5e3, "Damping of the upper bushing", min=0, tunable=True)
    c_tie = Parameter(t.TranslationalSpringConstant, 2e6, "Stiffness of the tie rod", min=0, tunable=True)
    d_tie = Parameter(t.TranslationalDampingConstant, 1.5e3, "Damping of the tie rod", min=0, tunable=True)
    m_upright = Parameter(t.Mass, 18.0, "Mass of the upright, with brake", nonzero=True)
    I_upright = Parameter(t.Inertia, 0.3, "Inertia of the upright, about each axis", nonzero=True)
    m_lower = Parameter(t.Mass, 6.0, "Mass of the lower wishbone", nonzero=True)
    m_upper = Parameter(t.Mass, 3.0, "Mass of the upper wishbone", nonzero=True)

    def build(self) -> None:
        mirror = ca.DM([1, 1 if self.left else -1, 1])

        def at(name: str) -> Any:
            return mirror * getattr(self, name)

        def place(r: Any) -> FixedTranslation:
            return FixedTranslation(r=r, animation=False)

        def bar(r: Any, m: Any) -> BodyShape:
            inertia = m * ca.sumsqr(r) / 12  # a slender bar, the same about each axis
            return BodyShape(
                r=r, r_CM=r / 2, m=m, I_11=inertia, I_22=inertia, I_33=inertia, width=0.035, color=ARM_COLOR
            )

        inward = (1, 0, 0) if self.left else (-1, 0, 0)
        self.toLower, self.toUpper, self.toSpring = (
            place(at("lowerInner")),
            place(at("upperInner")),
            place(at("springTop")),
        )
        still = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True), "animation": False}
        self.lower = Revolute(n=inward, useAxisFlange=True, **still)
        self.lowerArm = bar(at("lowerBall") - at("lowerInner"), self.m_lower)
        self.upper = Revolute(n=inward, **still)
        self.upperArm = bar(at("upperBall") - at("upperInner"), self.m_upper)
        self.ball = Spherical(angles_fixed=True, w_rel_a_fixed=True, animation=False)
        self.upright = Body(
            m=self.m_upright,
            r_CM=(0, 0, 0),
            I_11=self.I_upright,
            I_22=self.I_upright,
            I_33=self.I_upright,
            animation=False,
        )
        self.toHub = place(at("hub") - at("lowerBall"))
        self.toUpperBall = FixedTranslation(r=at("upperBall") - at("lowerBall"), width=0.04, color=ARM_COLOR)
        self.toTie = FixedTranslation(r=at("tieOuter") - at("lowerBall"), width=0.03, color=ARM_COLOR)
        self.toFoot = place(at("springFoot") - at("lowerInner"))
        self.bushing = Bushing(c=ca.vertcat(*[self.c_ball] * 3), d=ca.vertcat(*[self.d_ball] * 3))
        self.spring = SpringDamperParallel(
            c=self.c, d=self.d, s_unstretched=ca.norm_2(self.springTop - self.springFoot) + self.preload / self.c
        )
        self.tieRod = SpringDamperParallel(
            c=self.c_tie, d=self.d_tie, s_unstretched=ca.norm_2(self.tieOuter - self.tieInner), animation=False
        )
        for a, b in (
            (self.frame_a, self.toLower.frame_a), (self.toLower.frame_b, self.lower.frame_a),
            (self.lower.frame_b, self.lowerArm.frame_a), (self.lowerArm.frame_b, self.ball.frame_a),
            (self.lower.axis, self.arm),
            (self.ball.frame_b, self.toHub.frame_a), (self.toHub.frame_b, self.upright.frame_a),
            (self.toHub.frame_b, self.frame_hub),
            (self.frame_a, self.toUpper.frame_a), (self.toUpper.frame_b, self.upper.frame_a),
            (self.upper.frame_b, self.upperArm.frame_a),
            (self.ball.frame_b, self.toUpperBall.frame_a), (self.toUpperBall.frame_b, self.bushing.frame_b),
            (self.upperArm.frame_b, self.bushing.frame_a),
            (self.ball.frame_b, self.toTie.frame_a), (self.toTie.frame_b, self.tieRod.frame_b),
            (self.frame_rack, self.tieRod.frame_a),
            (self.frame_a, self.toSpring.frame_a), (self.toSpring.frame_b, self.spring.frame_a),
            (self.lower.frame_b, self.toFoot.frame_a), (self.toFoot.frame_b, self.spring.frame_b),
        ):  # fmt: skip
            self.connect(a, b)


__all__ = ["Bushing", "DoubleWishbone"]
