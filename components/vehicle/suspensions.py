"""Suspensions of one wheel and what they consist of: double wishbone, MacPherson strut, five links; bushings."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.forces.springs import SpringDamperParallel
from mbfmu.components.interfaces import Flange_a, PartialForce
from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.components.joints.free import FreeMotion, Spherical
from mbfmu.components.parts.bodies import Body, BodyShape
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.components.translational.components import SpringDamper
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


class Suspension(Component):
    """What the suspensions of one wheel have in common: upright, tie rod, and their places.

    Points are given for a wheel on the left, from the origin of frame_a, which is in the middle between both wheels at
    the height of their centres; `left` = false mirrors them. A suspension starts at rest, as its points say. Elastic
    joints and rods close it, so that it has no closed loop.
    """

    frame_a = Frame_a("Chassis, in the middle between the wheels; x ahead, y to the left, z upwards", needed=True)
    frame_rack = Frame_a("Inner end of the tie rod: steering rack, or chassis", needed=True)
    frame_hub = Frame_b("Hub, in the wheel's centre; y-axis: the wheel's axis")
    arm = Flange_a("Angle of what moves with the wheel, for an anti-roll bar")

    left = Parameter(t.Boolean, True, "= true, if the wheel is on the left")
    hub = Parameter(t.Position, (0.0, 0.75, 0.0), "Centre of the wheel", shape=3)
    tieOuter = Parameter(t.Position, (-0.12, 0.69, -0.06), "Outer end of the tie rod", shape=3)
    tieInner = Parameter(t.Position, (-0.12, 0.34, -0.05), "Inner end of the tie rod, where frame_rack is", shape=3)
    c = Parameter(t.TranslationalSpringConstant, 6.5e4, "Stiffness of the spring", min=0, nonzero=True, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, 5.0e3, "Damping of the damper", min=0, tunable=True)
    preload = Parameter(t.Force, 5.9e3, "Force of the spring in the position that the points describe")
    c_tie = Parameter(t.TranslationalSpringConstant, 2e6, "Stiffness of the tie rod", min=0, tunable=True)
    d_tie = Parameter(t.TranslationalDampingConstant, 1.5e3, "Damping of the tie rod", min=0, tunable=True)
    m_upright = Parameter(t.Mass, 18.0, "Mass of the upright, with brake", nonzero=True)
    I_upright = Parameter(t.Inertia, 0.3, "Inertia of the upright, about each axis", nonzero=True)

    def at(self, name: str) -> Any:
        """A point on the side of the wheel."""
        point, mirror = getattr(self, name), np.array([1, 1 if self.left else -1, 1])
        return ca.DM(mirror) * point if isinstance(point, ca.SX) else mirror * np.asarray(point)

    @property
    def inward(self) -> tuple[int, int, int]:
        """Axis about which an arm that turns positively lifts the wheel."""
        return (1, 0, 0) if self.left else (-1, 0, 0)

    def place(self, r: Any) -> FixedTranslation:
        """A place on a body, which is not drawn."""
        return FixedTranslation(r=r, animation=False)

    def bar(self, r: Any, m: Any, width: float = 0.035) -> BodyShape:
        """A slender bar with its mass, the same inertia about each axis."""
        inertia = m * ca.sumsqr(r) / 12
        return BodyShape(r=r, r_CM=r / 2, m=m, I_11=inertia, I_22=inertia, I_33=inertia, width=width, color=ARM_COLOR)

    def rod(self, inner: str, outer: str, c: Any, d: Any) -> SpringDamperParallel:
        """An elastic rod between two points, which is as long as they are apart."""
        length = ca.norm_2(getattr(self, outer) - getattr(self, inner))
        return SpringDamperParallel(c=c, d=d, s_unstretched=length, animation=False)

    def carry(self, frame: Any, origin: Any) -> None:
        """Upright, hub and tie rod on a frame that moves with the wheel, whose origin is at a point [m]."""
        inertia = dict.fromkeys(("I_11", "I_22", "I_33"), self.I_upright)
        self.upright = Body(m=self.m_upright, r_CM=(0, 0, 0), animation=False, **inertia)
        self.toHub = self.place(self.at("hub") - origin)
        self.toTie = FixedTranslation(r=self.at("tieOuter") - origin, width=0.03, color=ARM_COLOR)
        self.tieRod = self.rod("tieInner", "tieOuter", self.c_tie, self.d_tie)
        for a, b in (
            (frame, self.toHub.frame_a), (self.toHub.frame_b, self.upright.frame_a),
            (self.toHub.frame_b, self.frame_hub),
            (frame, self.toTie.frame_a), (self.toTie.frame_b, self.tieRod.frame_b),
            (self.frame_rack, self.tieRod.frame_a),
        ):  # fmt: skip
            self.connect(a, b)


#: Joints start where the points are, at rest.
_STILL: dict[str, Any] = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True), "animation": False}


class _OnWishbone(Suspension):
    """Suspensions whose upright stands on a lower wishbone, by a ball joint."""

    lowerInner = Parameter(t.Position, (0.0, 0.35, -0.12), "Axis of the lower wishbone, parallel to x", shape=3)
    lowerBall = Parameter(t.Position, (0.0, 0.68, -0.15), "Outer joint of the lower wishbone", shape=3)
    m_lower = Parameter(t.Mass, 6.0, "Mass of the lower wishbone", nonzero=True)

    def stand(self) -> None:
        """Wishbone and ball joint, and what is carried by that."""
        self.toLower = self.place(self.at("lowerInner"))
        self.lower = Revolute(n=self.inward, useAxisFlange=True, **_STILL)
        self.lowerArm = self.bar(self.at("lowerBall") - self.at("lowerInner"), self.m_lower)
        self.ball = Spherical(angles_fixed=True, w_rel_a_fixed=True, animation=False)
        self.carry(self.ball.frame_b, self.at("lowerBall"))
        for a, b in (
            (self.frame_a, self.toLower.frame_a), (self.toLower.frame_b, self.lower.frame_a),
            (self.lower.frame_b, self.lowerArm.frame_a), (self.lowerArm.frame_b, self.ball.frame_a),
            (self.lower.axis, self.arm),
        ):  # fmt: skip
            self.connect(a, b)


class DoubleWishbone(_OnWishbone):
    """Suspension of one wheel: two wishbones, an upright, a tie rod, a spring with damper.

    The upper wishbone holds the upright by a bushing, the tie rod by its own stiffness. For the points see Suspension.
    """

    modelica_name = "Vehicle.DoubleWishbone"

    upperInner = Parameter(t.Position, (0.0, 0.42, 0.12), "Axis of the upper wishbone, parallel to x", shape=3)
    upperBall = Parameter(t.Position, (-0.02, 0.64, 0.16), "Outer joint of the upper wishbone", shape=3)
    springTop = Parameter(t.Position, (0.0, 0.48, 0.45), "Upper end of the spring", shape=3)
    springFoot = Parameter(t.Position, (0.0, 0.58, -0.14), "Foot of the spring, on the lower wishbone", shape=3)
    c_ball = Parameter(t.TranslationalSpringConstant, 1.5e6, "Stiffness of the upper bushing", min=0, tunable=True)
    d_ball = Parameter(t.TranslationalDampingConstant, 1.5e3, "Damping of the upper bushing", min=0, tunable=True)
    m_upper = Parameter(t.Mass, 3.0, "Mass of the upper wishbone", nonzero=True)

    def build(self) -> None:
        at, place = self.at, self.place
        self.stand()
        self.toUpper = place(at("upperInner"))
        self.toSpring, self.toFoot = place(at("springTop")), place(at("springFoot") - at("lowerInner"))
        self.upper = Revolute(n=self.inward, **_STILL)
        self.upperArm = self.bar(at("upperBall") - at("upperInner"), self.m_upper)
        self.toUpperBall = FixedTranslation(r=at("upperBall") - at("lowerBall"), width=0.04, color=ARM_COLOR)
        self.bushing = Bushing(c=ca.vertcat(*[self.c_ball] * 3), d=ca.vertcat(*[self.d_ball] * 3))
        self.spring = SpringDamperParallel(
            c=self.c, d=self.d, s_unstretched=ca.norm_2(self.springTop - self.springFoot) + self.preload / self.c
        )
        for a, b in (
            (self.frame_a, self.toUpper.frame_a), (self.toUpper.frame_b, self.upper.frame_a),
            (self.upper.frame_b, self.upperArm.frame_a),
            (self.ball.frame_b, self.toUpperBall.frame_a), (self.toUpperBall.frame_b, self.bushing.frame_b),
            (self.upperArm.frame_b, self.bushing.frame_a),
            (self.frame_a, self.toSpring.frame_a), (self.toSpring.frame_b, self.spring.frame_a),
            (self.lower.frame_b, self.toFoot.frame_a), (self.toFoot.frame_b, self.spring.frame_b),
        ):  # fmt: skip
            self.connect(a, b)


class MacPherson(_OnWishbone):
    """Suspension of one wheel: a lower wishbone, and a strut that is part of the upright and slides on its rod.

    The rod is held at its top by a bushing, the tie rod by its own stiffness. For the points see Suspension.
    """

    modelica_name = "Vehicle.MacPherson"

    lowerBall = Parameter(t.Position, (0.0, 0.70, -0.16), "Outer joint of the lower wishbone", shape=3)
    strutFoot = Parameter(
        t.Position, (-0.01, 0.62, 0.10), "Where the rod leaves the strut, on the upright", shape=3, structural=True
    )
    strutTop = Parameter(t.Position, (-0.03, 0.56, 0.58), "Upper end of the rod", shape=3, structural=True)
    c = Parameter(t.TranslationalSpringConstant, 2.2e4, "Stiffness of the spring", min=0, nonzero=True, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, 1.8e3, "Damping of the damper", min=0, tunable=True)
    preload = Parameter(t.Force, 3.6e3, "Force of the spring in the position that the points describe")
    c_top = Parameter(t.TranslationalSpringConstant, 1.5e6, "Stiffness of the upper bushing", min=0, tunable=True)
    d_top = Parameter(t.TranslationalDampingConstant, 1.5e3, "Damping of the upper bushing", min=0, tunable=True)
    m_rod = Parameter(t.Mass, 3.0, "Mass of the rod, with a share of the spring", nonzero=True)

    def build(self) -> None:
        at, place = self.at, self.place
        along = at("strutTop") - at("strutFoot")
        self.stand()
        self.toTop = place(at("strutTop"))
        self.toStrut = FixedTranslation(r=at("strutFoot") - at("lowerBall"), width=0.05, color=ARM_COLOR)
        self.strut = Prismatic(
            n=along, useAxisFlange=True, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True), animation=False
        )
        self.rodBody = self.bar(along, self.m_rod, width=0.02)
        self.bushing = Bushing(c=ca.vertcat(*[self.c_top] * 3), d=ca.vertcat(*[self.d_top] * 3))
        self.spring = SpringDamper(c=self.c, d=self.d, s_rel0=self.preload / self.c)
        for a, b in (
            (self.ball.frame_b, self.toStrut.frame_a), (self.toStrut.frame_b, self.strut.frame_a),
            (self.strut.frame_b, self.rodBody.frame_a), (self.rodBody.frame_b, self.bushing.frame_a),
            (self.frame_a, self.toTop.frame_a), (self.toTop.frame_b, self.bushing.frame_b),
            (self.strut.support, self.spring.flange_a), (self.strut.axis, self.spring.flange_b),
        ):  # fmt: skip
            self.connect(a, b)


#: Rods of a five-link suspension, besides the tie rod.
LINKS = ("upperFront", "upperRear", "lowerFront", "lowerRear")


class FiveLink(Suspension):
    """Suspension of one wheel: an upright on four elastic rods and a tie rod, with a spring and the lever of a bar.

    The lever turns about y, and a rod links it to the upright. For the points see Suspension.
    """

    modelica_name = "Vehicle.FiveLink"

    upperFrontInner = Parameter(t.Position, (0.12, 0.40, 0.12), "Inner end of the upper rod in front", shape=3)
    upperFrontOuter = Parameter(t.Position, (0.03, 0.66, 0.15), "Its outer end", shape=3)
    upperRearInner = Parameter(t.Position, (-0.15, 0.42, 0.12), "Inner end of the upper rod in the rear", shape=3)
    upperRearOuter = Parameter(t.Position, (-0.04, 0.66, 0.14), "Its outer end", shape=3)
    lowerFrontInner = Parameter(t.Position, (0.25, 0.36, -0.12), "Inner end of the lower rod in front", shape=3)
    lowerFrontOuter = Parameter(t.Position, (0.04, 0.70, -0.14), "Its outer end", shape=3)
    lowerRearInner = Parameter(t.Position, (-0.18, 0.34, -0.13), "Inner end of the lower rod in the rear", shape=3)
    lowerRearOuter = Parameter(t.Position, (-0.04, 0.70, -0.15), "Its outer end", shape=3)
    springTop = Parameter(t.Position, (0.0, 0.52, 0.42), "Upper end of the spring", shape=3)
    springFoot = Parameter(t.Position, (0.0, 0.62, -0.12), "Foot of the spring, on the upright", shape=3)
    barPivot = Parameter(t.Position, (-0.28, 0.56, 0.0), "Axis of the lever, parallel to y", shape=3)
    barEnd = Parameter(t.Position, (-0.08, 0.56, 0.0), "End of the lever", shape=3)
    barFoot = Parameter(t.Position, (-0.08, 0.60, -0.13), "Where its rod holds the upright", shape=3)
    c = Parameter(t.TranslationalSpringConstant, 2.6e4, "Stiffness of the spring", min=0, nonzero=True, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, 2.0e3, "Damping of the damper", min=0, tunable=True)
    preload = Parameter(t.Force, 3.2e3, "Force of the spring in the position that the points describe")
    c_link = Parameter(t.TranslationalSpringConstant, 4e6, "Stiffness of the rods, with bushings", min=0, tunable=True)
    d_link = Parameter(t.TranslationalDampingConstant, 2e3, "Damping of the rods", min=0, tunable=True)
    c_drop = Parameter(t.TranslationalSpringConstant, 2e5, "Stiffness of the lever's rod", min=0, tunable=True)
    d_drop = Parameter(t.TranslationalDampingConstant, 2e2, "Damping of the lever's rod", min=0, tunable=True)
    m_lever = Parameter(t.Mass, 1.5, "Mass of the lever", nonzero=True)

    def build(self) -> None:
        at, place = self.at, self.place
        self.free = FreeMotion(
            r_rel_a=Start(at("hub"), fixed=True), v_rel_a=Start((0, 0, 0), fixed=True), angles_fixed=True,
            w_rel_a_fixed=True, animation=False,
        )  # fmt: skip
        self.connect(self.frame_a, self.free.frame_a)
        self.carry(self.free.frame_b, at("hub"))
        for name in LINKS:
            link = self.rod(f"{name}Inner", f"{name}Outer", self.c_link, self.d_link)
            self._between(name, link, at(f"{name}Inner"), at(f"{name}Outer"))
        length = ca.norm_2(self.springTop - self.springFoot) + self.preload / self.c
        spring = SpringDamperParallel(c=self.c, d=self.d, s_unstretched=length)
        self._between("spring", spring, at("springTop"), at("springFoot"))
        self.lever = Revolute(n=(0, 1, 0), useAxisFlange=True, **_STILL)
        self.leverArm = self.bar(at("barEnd") - at("barPivot"), self.m_lever, width=0.02)
        self.dropLink = self.rod("barEnd", "barFoot", self.c_drop, self.d_drop)
        self.toPivot, self.toDrop = place(at("barPivot")), place(at("barFoot") - at("hub"))
        for a, b in (
            (self.frame_a, self.toPivot.frame_a), (self.toPivot.frame_b, self.lever.frame_a),
            (self.lever.frame_b, self.leverArm.frame_a), (self.leverArm.frame_b, self.dropLink.frame_a),
            (self.free.frame_b, self.toDrop.frame_a), (self.toDrop.frame_b, self.dropLink.frame_b),
            (self.lever.axis, self.arm),
        ):  # fmt: skip
            self.connect(a, b)

    def _between(self, name: str, part: Any, inner: Any, outer: Any) -> None:
        """A line force between a point of the chassis and one of the upright."""
        start = self.place(inner)
        end = FixedTranslation(r=outer - self.at("hub"), width=0.03, color=ARM_COLOR)
        for kind, made in (("", part), ("In", start), ("Out", end)):
            setattr(self, f"{name}{kind}", made)
        self.connect(self.frame_a, start.frame_a)
        self.connect(start.frame_b, part.frame_a)
        self.connect(self.free.frame_b, end.frame_a)
        self.connect(end.frame_b, part.frame_b)


__all__ = ["Bushing", "DoubleWishbone", "FiveLink", "MacPherson", "Suspension"]
