"""Massless or point-mass rods between two frames: SphericalSpherical, UniversalSpherical (MultiBody.Joints).

Each keeps the distance of two points by one constraint; the force in the rod is its multiplier.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import BODY_COLOR, JOINT_COLOR, ROD_COLOR, Animated, CylinderAnimation, draw_sphere
from mbfmu.components.interfaces import PartialTwoFrames
from mbfmu.components.joints.power import TotalPower
from mbfmu.errors import ModelError
from mbfmu.frames import (
    Orientation,
    absolute_rotation,
    are_parallel,
    cross,
    length,
    normalize,
    resolve1,
    resolve2,
    resolve_relative,
)
from mbfmu.modeling import Component, Frame_a, Start, required
from mbfmu.modeling.declarations import Final, Multiplier, Parameter, Variable, is_expression
from mbfmu.modeling.types import (
    Axis,
    Boolean,
    Color,
    Diameter,
    Dimensionless,
    Distance,
    Force,
    Length,
    Mass,
    Position,
    Real,
    ShapeExtra,
    ShapeType,
    Velocity,
)

#: Ratio of sphere and rod diameter (Types.Defaults.JointRodDiameterFraction).
ROD_DIAMETER_FRACTION = 2
#: A rod must be longer than this [m].
SHORTEST = 1e-15


class EndsAnimation(Animated):
    """Spheres at both ends."""

    sphereDiameter = Parameter(
        Diameter,
        lambda self: self.world.defaultJointLength,
        "Diameter of spheres representing the joints at both ends",
        animation=True,
    )
    sphereColor = Parameter(
        Color, JOINT_COLOR, "Color of spheres representing the joints at both ends", shape=3, animation=True
    )

    def draw_joint(self: Any, name: str, frame: Any) -> None:
        """Draw the sphere of a spherical joint at a frame."""
        draw_sphere(self, name, frame, self.sphereDiameter, self.sphereColor)


class RodAnimation(EndsAnimation):
    """Two spheres, and a rod between them."""

    rodColor = Parameter(Color, ROD_COLOR, "Color of rod connecting both joints", shape=3, animation=True)


class SphericalSpherical(RodAnimation, TotalPower, PartialTwoFrames):
    """Spherical - spherical joint aggregation (1 constraint) with an optional point mass in the middle."""

    modelica_name = "MultiBody.Joints.SphericalSpherical"

    showMass = Parameter(
        Boolean, True, "= true, if mass shall be shown (provided animation = true and m > 0)", animation=True
    )
    computeRodLength = Parameter(
        Boolean, False, "= true, if rodLength shall be computed during initialization (see info)"
    )
    rodLength = Parameter(
        Length,
        required,
        "Distance between the origins of frame_a and frame_b (if computeRodLength=true, guess value)",
        min=SHORTEST,
    )
    m = Parameter(Mass, 0.0, "Mass of rod (= point mass located in middle of rod)", min=0)
    rodDiameter = Parameter(
        Diameter,
        lambda self: self.sphereDiameter / ROD_DIAMETER_FRACTION,
        "Diameter of rod connecting the two spherical joint",
        animation=True,
    )
    massDiameter = Parameter(
        Diameter,
        lambda self: self.sphereDiameter,
        "Diameter of sphere representing the mass point",
        animation=True,
    )
    massColor = Parameter(Color, BODY_COLOR, "Color of sphere representing the mass point", shape=3, animation=True)
    kinematicConstraint = Parameter(
        Boolean, True, "= false, if no constraint shall be defined, due to analytically solving a kinematic loop"
    )

    constraintResidue = Variable(Real, "Constraint equation of joint in residue form: length constraint")
    f_rod = Multiplier(
        Force,
        "Constraint force in direction of the rod (positive on frame_a, when directed from frame_a to frame_b)",
    )
    rRod_0 = Variable(Position, "Position vector from frame_a to frame_b resolved in world frame", shape=3)
    rRod_a = Variable(Position, "Position vector from frame_a to frame_b resolved in frame_a", shape=3)
    eRod_a = Variable(Dimensionless, "Unit vector in direction from frame_a to frame_b, resolved in frame_a", shape=3)
    r_CM_0 = Variable(
        Position,
        "Position vector from world frame to mid-point of rod, resolved in world frame",
        shape=3,
    )
    v_CM_0 = Variable(Velocity, "First derivative of r_CM_0", shape=3)
    f_CM_a = Variable(
        Force,
        "Inertial force acting at mid-point of rod due to mass point acceleration, resolved in frame_a",
        shape=3,
    )
    f_CM_e = Variable(Force, "Projection of f_CM_a onto eRod_a, resolved in frame_a", shape=3)
    f_b_a1 = Variable(Force, "Force acting at frame_b, but without force in rod, resolved in frame_a", shape=3)

    def value(self, name: str) -> Any:
        """As for any component; a rod length that initialisation finds is free, with its value (or 1 m) as guess."""
        if name == "rodLength" and self.computeRodLength:
            return Start(self._values.get(name, 1.0), fixed=False)
        return super().value(name)

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        self.rRod_0 = b.r_0 - a.r_0
        self.rRod_a = resolve2(a.R, self.rRod_0)
        self.eRod_a = self.rRod_a / self.rodLength
        self.constraintResidue = ca.sumsqr(self.rRod_0) - self.rodLength**2
        self.constrain("f_rod", position=self.constraintResidue / (2 * self.rodLength))
        self.require(self.rodLength - SHORTEST, "the rod has length zero; put its ends at different points")

        # balance of the rod with half of the mass force at each end, across the rod and along it
        self.r_CM_0 = a.r_0 + self.rRod_0 / 2
        self.v_CM_0 = self.der(self.r_CM_0)
        acceleration = self.der(self.v_CM_0) - self.world.gravity_acceleration(self.r_CM_0)
        self.f_CM_a = self.m * resolve2(a.R, acceleration)
        self.f_CM_e = ca.dot(self.f_CM_a, self.eRod_a) * self.eRod_a
        self.f_b_a1 = (self.f_CM_a + self.f_CM_e) / 2
        a.f = (self.f_CM_a - self.f_CM_e) / 2 + self.f_rod * self.eRod_a
        b.f = resolve_relative(self.f_b_a1 - self.f_rod * self.eRod_a, a.R, b.R)
        a.t, b.t = [0, 0, 0], [0, 0, 0]
        self.energy(
            kinetic=self.m * ca.sumsqr(self.v_CM_0) / 2,
            **self.world.gravity_energy(self.m, self.r_CM_0, self.v_CM_0),
        )
        self.measure_power("frame_a", "frame_b", others=-self.m * ca.dot(acceleration, self.v_CM_0))

    def visualize(self: Any) -> None:
        rod = {"lengthDirection": self.eRod_a, "frame": self.frame_a}
        self.draw_shape(
            "shape_rod", "cylinder", length=self.rodLength, width=self.rodDiameter, color=self.rodColor, **rod
        )
        spheres = [
            (f"shape_{end}", self.sphereDiameter, self.sphereColor, at) for end, at in (("a", 0), ("b", self.rodLength))
        ]
        if self.showMass and self.is_positive("m"):
            spheres.append(("shape_mass", self.massDiameter, self.massColor, self.rodLength / 2))
        for name, diameter, color, at in spheres:
            r_shape = self.eRod_a * (at - diameter / 2)
            self.draw_shape(name, "sphere", r_shape=r_shape, length=diameter, width=diameter, color=color, **rod)


class RodFrame(Component):
    """What follows a rod that a universal joint holds at frame_a: its axes and the frame fixed in it."""

    n1_a = Parameter(
        Axis,
        (0, 0, 1),
        "Axis 1 of universal joint resolved in frame_a (axis 2 is orthogonal to axis 1 and to rod)",
        shape=3,
    )

    def rod_axes(self, rRod_a: Any) -> tuple[Any, Any, Any]:
        """Unit vectors along the rod, along axis 2 of the universal joint and across both, resolved in frame_a.

        Args:
            rRod_a: vector from the universal to the spherical joint, resolved in frame_a [m], (3,).
        """
        e1 = rRod_a / ca.norm_2(rRod_a)
        n2 = cross(self.n1_a, e1)
        self.require(
            ca.sumsqr(n2) - 1e-10 * ca.sumsqr(self.n1_a),
            "axis 1 of the universal joint (n1_a) is parallel to the rod, where the universal joint is singular; "
            "use another n1_a, or a SphericalSpherical joint where that is possible",
        )
        e2 = n2 / ca.norm_2(n2)
        return e1, e2, cross(e1, e2)

    def rod_orientation(self, rRod_a: Any, axes: tuple[Any, Any, Any], axes_ia: tuple[Any, Any, Any]) -> Orientation:
        """Orientation from frame_a to the frame fixed in the rod, where the rod's axes are `axes_ia`."""
        e1, e2, e3 = axes
        rate = self.der(rRod_a) / ca.norm_2(rRod_a)
        turn = ca.dot(e3, cross(self.n1_a, rate)) / ca.norm_2(cross(self.n1_a, e1))
        R_ia1 = Orientation(ca.horzcat(e1, e2, e3).T, ca.vertcat(turn, -ca.dot(e3, rate), ca.dot(e2, rate)))
        return absolute_rotation(R_ia1, Orientation(ca.horzcat(*axes_ia), ca.SX.zeros(3)))


class UniversalAnimation(EndsAnimation, CylinderAnimation):
    """A universal joint at frame_a: two cylinders along its axes, or a sphere."""

    def draw_universal(self: Any) -> None:
        """Draw the joint."""
        if self.showUniversalAxes:
            self.draw_cylinder(self.frame_a, normalize(self.n1_a), "universalShape1")
            self.draw_cylinder(self.frame_ia, self.e2_ia, "universalShape2")
        else:
            self.draw_joint("sphericalShape_a", self.frame_a)


class UniversalSpherical(RodAnimation, UniversalAnimation, RodFrame, TotalPower, PartialTwoFrames):
    """Universal - spherical joint aggregation (1 constraint, no potential states)."""

    modelica_name = "MultiBody.Joints.UniversalSpherical"

    frame_ia = Frame_a(
        "Coordinate system at the origin of frame_a, fixed at the rod connecting the universal with the spherical joint"
    )

    showUniversalAxes = Parameter(
        Boolean,
        True,
        "= true, if universal joint shall be visualized with two cylinders, otherwise with a sphere",
        animation=True,
    )
    computeRodLength = Parameter(
        Boolean,
        False,
        "= true, if distance between frame_a and frame_b shall be computed during initialization (see info)",
    )
    rRod_ia = Parameter(
        Position,
        (1, 0, 0),
        "Vector from origin of frame_a to origin of frame_b, resolved in frame_ia (if computeRodLength=true, rRod_ia "
        "is only an axis vector along the connecting rod)",
        shape=3,
    )
    rodShapeType = Parameter(
        ShapeType,
        "cylinder",
        "Shape type of rod connecting the universal and the spherical joint",
        animation=True,
    )
    rodWidth = Parameter(
        Distance,
        lambda self: self.sphereDiameter / ROD_DIAMETER_FRACTION,
        "Width of rod shape in direction of axis 2 of universal joint.",
        animation=True,
    )
    rodHeight = Parameter(
        Distance,
        lambda self: self.rodWidth,
        "Height of rod shape in direction that is orthogonal to rod and to axis 2",
        animation=True,
    )
    rodExtra = Parameter(ShapeExtra, 0.0, "Additional parameter depending on rodShapeType", animation=True)
    kinematicConstraint = Parameter(
        Boolean, True, "= false, if no constraint shall be defined, due to analytically solving a kinematic loop"
    )

    rodLength = Final(
        Distance,
        lambda self: Start(1.0, fixed=False) if self.computeRodLength else length(self.rRod_ia),
        "Length of rod (distance between origin of frame_a and origin of frame_b)",
        nonzero=True,
    )
    eRod_ia = Final(
        Dimensionless,
        lambda self: normalize(self.rRod_ia),
        "Unit vector from origin of frame_a to origin of frame_b, resolved in frame_ia",
        shape=3,
    )
    e2_ia = Final(
        Dimensionless,
        lambda self: normalize(cross(self.n1_a, self.eRod_ia)),
        "Unit vector in direction of axis 2 of universal joint, resolved in frame_ia (orthogonal to n1_a and eRod_ia)",
        shape=3,
    )
    e3_ia = Final(
        Dimensionless,
        lambda self: cross(self.eRod_ia, self.e2_ia),
        "Unit vector perpendicular to eRod_ia and e2_ia, resolved in frame_ia",
        shape=3,
    )

    constraintResidue = Variable(Real, "Constraint equation of joint in residue form: length constraint")
    f_rod = Multiplier(Force, "Constraint force in direction of the rod (positive, if rod is pressed)")
    f_b_a1 = Variable(Force, "frame_b.f without f_rod part, resolved in frame_a", shape=3)
    eRod_a = Variable(Dimensionless, "Unit vector in direction of rRod_a, resolved in frame_a", shape=3)
    rRod_0 = Variable(
        Position, "Position vector from origin of frame_a to origin of frame_b resolved in world frame", shape=3
    )
    rRod_a = Variable(
        Position, "Position vector from origin of frame_a to origin of frame_b resolved in frame_a", shape=3
    )

    def check_values(self) -> None:
        super().check_values()
        check_rod(self, "rRod_ia")

    def equations(self) -> None:
        a, b, ia = self.frame_a, self.frame_b, self.frame_ia
        self.rRod_0 = b.r_0 - a.r_0
        self.rRod_a = resolve2(a.R, self.rRod_0)
        self.constraintResidue = ca.sumsqr(self.rRod_0) - self.rodLength**2
        self.constrain("f_rod", position=self.constraintResidue / (2 * self.rodLength))
        axes = self.rod_axes(self.rRod_a)
        self.eRod_a, e2_a, e3_a = axes
        R_ia = self.rod_orientation(self.rRod_a, axes, (self.eRod_ia, self.e2_ia, self.e3_ia))
        ia.r_0, ia.R = a.r_0, absolute_rotation(a.R, R_ia)

        # The universal joint carries no torque about n1_a and axis 2, so that what acts on the rod about these is taken
        # up by forces across the rod at frame_b (balance about the origin of frame_a, resolved in frame_a)
        f_ia, t_ia = resolve1(R_ia, ia.f), resolve1(R_ia, ia.t)
        self.f_b_a1 = (e3_a * ca.dot(e2_a, t_ia) - e2_a * (ca.dot(self.n1_a, t_ia) / ca.dot(self.n1_a, e3_a))) / (
            self.rodLength
        )
        f_b = self.f_b_a1 - self.f_rod * self.eRod_a
        b.f, b.t = resolve_relative(f_b, a.R, b.R), [0, 0, 0]
        a.f, a.t = -f_b - f_ia, -t_ia - cross(self.rRod_a, f_b)
        self.energy()
        self.measure_power("frame_a", "frame_b", "frame_ia")

    def visualize(self: Any) -> None:
        self.draw_shape(
            "rodShape",
            self.rodShapeType,
            self.frame_ia,
            lengthDirection=self.eRod_ia,
            widthDirection=self.e2_ia,
            length=self.rodLength,
            width=self.rodWidth,
            height=self.rodHeight,
            extra=self.rodExtra,
            color=self.rodColor,
        )
        self.draw_joint("sphericalShape_b", self.frame_b)
        self.draw_universal()


def check_rod(component: Component, name: str) -> None:
    """Refuse a rod vector that is zero or parallel to n1_a, where the numbers are known."""
    vector = component.value(name)
    if is_expression(vector):
        return
    if not ca.norm_2(vector) > SHORTEST:
        raise ModelError(f"{component.where}.{name} = {vector}: a rod needs a length; give a vector that is not zero")
    if are_parallel(vector, component.n1_a):
        raise ModelError(
            f"{component.where}: {name} = {vector} is parallel to n1_a = {component.n1_a}, where the universal joint "
            "is singular; use another n1_a, orthogonal to the rod if possible"
        )


__all__ = [
    "EndsAnimation",
    "RodAnimation",
    "RodFrame",
    "SphericalSpherical",
    "UniversalAnimation",
    "UniversalSpherical",
    "check_rod",
]
