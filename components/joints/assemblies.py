"""Aggregations of joints for loops (MultiBody.Joints.Assemblies 4.0).

The library solves these loops in closed form. Here each is put together from a rod and a joint: the rod's frames follow
in closed form, the joint keeps its coordinate, and one constraint, the length of the rod, ties them. s_guess and
phi_guess are the joint's start guess, so that they choose between the two solutions as they do in the library.
"""

from __future__ import annotations

from math import pi
from typing import Any

import casadi as ca

from mbfmu.components.animation import JOINT_COLOR, ROD_COLOR, SENSOR_COLOR, BoxAnimation, CylinderAnimation, draw_axis
from mbfmu.components.interfaces import (
    Flange_a,
    Flange_b,
    PartialTwoFrames,
    TranslationalFlange_a,
    TranslationalFlange_b,
)
from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.components.joints.power import TotalPower
from mbfmu.components.joints.rods import (
    ROD_DIAMETER_FRACTION,
    SHORTEST,
    EndsAnimation,
    RodFrame,
    SphericalSpherical,
    UniversalAnimation,
    UniversalSpherical,
    check_rod,
)
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.errors import ModelError
from mbfmu.frames import absolute_rotation, are_parallel, cross, normalize, resolve1, resolve2, resolve_relative
from mbfmu.modeling import Component, Frame_a, Frame_b, Start, required
from mbfmu.modeling.declarations import Final, Parameter, Variable
from mbfmu.modeling.types import (
    Angle_deg,
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
)

#: How far beyond s_guess and phi_guess the search begins, in lengths of the rod and in radians: where both solutions
#: are equally near, the greater one is found, as in the library.
BEYOND_GUESS = 1e-4


class RodsAnimation(EndsAnimation):
    """Two rods of an aggregation, and the spheres between them."""

    rod1Diameter = Parameter(
        Diameter, lambda self: self.sphereDiameter / ROD_DIAMETER_FRACTION, "Diameter of rod 1", animation=True
    )
    rod1Color = Parameter(Color, ROD_COLOR, "Color of rod 1", shape=3, animation=True)
    rod2Diameter = Parameter(Diameter, lambda self: self.rod1Diameter, "Diameter of rod 2", animation=True)
    rod2Color = Parameter(Color, lambda self: self.rod1Color, "Color of rod 2", shape=3, animation=True)

    @property
    def looks(self) -> dict[str, Any]:
        """What every part takes over."""
        return {"animation": self.animation, "specularCoefficient": self.specularCoefficient}

    def add_rod2(self: Any) -> None:
        """Own rod 2."""
        diameter = self.rod2Diameter
        self.rod2 = FixedTranslation(
            r=self.rRod2_ib, width=diameter, height=diameter, color=self.rod2Color, **self.looks
        )


class JointUPS(UniversalAnimation, RodFrame, TotalPower, PartialTwoFrames):
    """Universal - prismatic - spherical joint aggregation (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointUPS"

    frame_ia = Frame_a("Coordinate system at origin of frame_a fixed at prismatic joint")
    frame_ib = Frame_b("Coordinate system at origin of frame_b fixed at prismatic joint")
    axis = TranslationalFlange_a("1-dim. translational flange that drives the prismatic joint")
    bearing = TranslationalFlange_b("1-dim. translational flange of the drive bearing of the prismatic joint")

    showUniversalAxes = Parameter(
        Boolean, True, "= true, if universal joint shall be visualized with two cylinders", animation=True
    )
    nAxis_ia = Parameter(
        Position,
        (1, 0, 0),
        "Axis vector along line from origin of frame_a to origin of frame_b, resolved in frame_ia",
        shape=3,
    )
    s_offset = Parameter(
        Position, 0.0, "Relative distance offset (distance between frame_a and frame_b = s(t) + s_offset)"
    )
    axisDiameter = Parameter(
        Diameter,
        lambda self: self.sphereDiameter / ROD_DIAMETER_FRACTION,
        "Diameter of cylinder on the connecting line from frame_a to frame_b",
        animation=True,
    )
    axisColor = Parameter(
        Color, SENSOR_COLOR, "Color of cylinder on the connecting line from frame_a to frame_b", shape=3, animation=True
    )

    eAxis_ia = Final(
        Dimensionless,
        lambda self: normalize(self.nAxis_ia),
        "Unit vector from origin of frame_a to origin of frame_b, resolved in frame_ia",
        shape=3,
    )
    e2_ia = Final(
        Dimensionless,
        lambda self: normalize(cross(self.n1_a, self.eAxis_ia)),
        "Unit vector in direction of second rotation axis of universal joint, resolved in frame_ia",
        shape=3,
    )
    e3_ia = Final(
        Dimensionless,
        lambda self: cross(self.eAxis_ia, self.e2_ia),
        "Unit vector perpendicular to eAxis_ia and e2_ia, resolved in frame_ia",
        shape=3,
    )

    s = Variable(Position, "Relative distance between frame_a and frame_b along axis nAxis = s + s_offset")
    f = Variable(Force, "= axis.f (driving force in the axis; = -bearing.f)")
    axisLength = Variable(Length, "Distance between frame_a and frame_b")

    def check_values(self) -> None:
        super().check_values()
        check_rod(self, "nAxis_ia")

    def equations(self) -> None:
        a, b, ia, ib = self.frame_a, self.frame_b, self.frame_ia, self.frame_ib
        rAxis_a = resolve2(a.R, b.r_0 - a.r_0)
        self.axisLength = ca.norm_2(rAxis_a)
        self.require(
            self.axisLength - SHORTEST,
            "the distance between frame_a and frame_b became zero; if this occurs at the start, correct start values",
        )
        axes = self.rod_axes(rAxis_a)
        e1_a, e2_a, e3_a = axes
        R_ia = self.rod_orientation(rAxis_a, axes, (self.eAxis_ia, self.e2_ia, self.e3_ia))
        ia.r_0, ia.R = a.r_0, absolute_rotation(a.R, R_ia)
        ib.r_0, ib.R = b.r_0, absolute_rotation(a.R, R_ia)
        self.s = self.axisLength - self.s_offset
        self.axis.s, self.bearing.s = self.s, 0.0
        self.f = self.axis.f

        # The universal joint carries no torque about n1_a and axis 2, so that what acts on the rod about these is taken
        # up by forces across the rod at frame_b (balance about the origin of frame_a, resolved in frame_a)
        t = resolve1(R_ia, ia.t + ib.t)
        f_b = -self.f * e1_a + (e3_a * ca.dot(e2_a, t) - e2_a * (ca.dot(self.n1_a, t) / ca.dot(self.n1_a, e3_a))) / (
            self.axisLength
        )
        b.f, b.t = resolve_relative(f_b, a.R, b.R) - resolve_relative(ib.f, ib.R, b.R), [0, 0, 0]
        a.f, a.t = -f_b - resolve1(R_ia, ia.f), -t - cross(rAxis_a, f_b)
        self.energy()
        self.measure_power(
            "frame_a",
            "frame_b",
            "frame_ia",
            "frame_ib",
            others=self.axis.f * self.der(self.axis.s) + self.bearing.f * self.der(self.bearing.s),
        )

    def visualize(self: Any) -> None:
        self.draw_shape(
            "axisShape",
            "cylinder",
            self.frame_ia,
            lengthDirection=self.eAxis_ia,
            widthDirection=self.e2_ia,
            length=self.axisLength,
            width=self.axisDiameter,
            color=self.axisColor,
        )
        self.draw_joint("sphericalShape_b", self.frame_b)
        self.draw_universal()


class RevoluteAnimation(Component):
    """Cylinder along the axis of the revolute joint."""

    revoluteDiameter = Parameter(
        Diameter, lambda self: self.world.defaultJointWidth, "Diameter of revolute joint", animation=True
    )
    revoluteLength = Parameter(
        Distance, lambda self: self.world.defaultJointLength, "Length of revolute joint", animation=True
    )
    revoluteColor = Parameter(Color, JOINT_COLOR, "Color of revolute joint", shape=3, animation=True)


class DrivenByRevolute(RevoluteAnimation, TotalPower):
    """The right side of an aggregation with a driven revolute joint at frame_b."""

    frame_ib = Frame_b("Coordinate system at origin of frame_b fixed at connecting rod 2")
    frame_im = Frame_b("Coordinate system at the joint in the middle fixed at connecting rod 2")
    axis = Flange_a("1-dim. rotational flange that drives the revolute joint")
    bearing = Flange_b("1-dim. rotational flange of the drive bearing of the revolute joint")

    n_b = Parameter(Axis, (0, 0, 1), "Axis of revolute joint fixed and resolved in frame_b", shape=3)
    phi_offset = Parameter(
        Angle_deg, 0.0, "Relative angle offset of revolute joint (angle = phi(t) + from_deg(phi_offset))"
    )
    phi_guess = Parameter(
        Angle_deg,
        0.0,
        "Select the configuration such that at initial time |phi(t0) - from_deg(phi_guess)| is minimal",
    )

    aux = Variable(Position, "Lever arm of the force in rod 1 about the axis of the revolute joint")
    f_rod = Variable(Force, "Constraint force in direction of the rod (positive, if rod is pressed)")

    #: Class of the joint at frame_b.
    revolute_class: type[Revolute] = Revolute

    def add_revolute(self) -> None:
        """Rod 2 and the revolute joint, connected."""
        self.revolute = self.revolute_class(
            n=self.n_b,
            phi_offset=self.phi_offset * (pi / 180),
            phi=Start(self.phi_guess * (pi / 180) + BEYOND_GUESS),
            stateSelect="never",
            useAxisFlange=True,
            cylinderLength=self.revoluteLength,
            cylinderDiameter=self.revoluteDiameter,
            cylinderColor=self.revoluteColor,
            **self.looks,
        )
        self.add_rod2()
        self.connect(self.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.rod2.frame_a)
        self.connect(self.rod2.frame_a, self.frame_ib)
        self.connect(self.rod2.frame_b, self.frame_im)
        self.connect(self.rod2.frame_b, self.rod1.frame_b)
        self.connect(self.revolute.axis, self.axis)
        self.connect(self.revolute.support, self.bearing)

    def rod_force(self) -> None:
        """Assign f_rod and aux."""
        self.f_rod = self.rod1.f_rod
        direction = resolve_relative(self.rod1.eRod_a, self.frame_a.R, self.frame_im.R)
        self.aux = ca.dot(cross(self.revolute.e, self.rRod2_ib), direction)

    def axis_power(self) -> Any:
        """Power through the flanges [W]."""
        return self.axis.tau * self.der(self.axis.phi) + self.bearing.tau * self.der(self.bearing.phi)


class DrivenByPrismatic(TotalPower):
    """The right side of an aggregation with a driven prismatic joint at frame_b."""

    frame_ib = Frame_b("Coordinate system at origin of frame_b fixed at connecting rod 2")
    frame_im = Frame_b("Coordinate system at the joint in the middle fixed at connecting rod 2")
    axis = TranslationalFlange_a("1-dim. translational flange that drives the prismatic joint")
    bearing = TranslationalFlange_b("1-dim. translational flange of the drive bearing of the prismatic joint")

    n_b = Parameter(Axis, (-1, 0, 0), "Axis of prismatic joint fixed and resolved in frame_b", shape=3)
    s_offset = Parameter(
        Position,
        0.0,
        "Relative distance offset of prismatic joint (distance between the prismatic joint frames = s(t) + s_offset)",
    )
    s_guess = Parameter(Position, 0.0, "Select the configuration such that at initial time |s(t0)-s_guess| is minimal")

    aux = Variable(Dimensionless, "Cosine of the angle between rod 1 and the axis of the prismatic joint")
    f_rod = Variable(Force, "Constraint force in direction of the rod (positive, if rod is pressed)")

    def add_prismatic(self) -> None:
        """Rod 2 and the prismatic joint, connected."""
        self.prismatic = Prismatic(
            n=self.n_b,
            s_offset=self.s_offset,
            s=Start(self.s_guess + BEYOND_GUESS * self.rod1Length),
            stateSelect="never",
            useAxisFlange=True,
            boxWidthDirection=self.boxWidthDirection,
            boxWidth=self.boxWidth,
            boxHeight=self.boxHeight,
            boxColor=self.boxColor,
            **self.looks,
        )
        self.add_rod2()
        self.connect(self.frame_b, self.prismatic.frame_a)
        self.connect(self.prismatic.frame_b, self.rod2.frame_a)
        self.connect(self.rod2.frame_a, self.frame_ib)
        self.connect(self.rod2.frame_b, self.frame_im)
        self.connect(self.rod2.frame_b, self.rod1.frame_b)
        self.connect(self.prismatic.axis, self.axis)
        self.connect(self.prismatic.support, self.bearing)

    def rod_force(self) -> None:
        """Assign f_rod and aux."""
        self.f_rod = self.rod1.f_rod
        self.aux = ca.dot(self.prismatic.e, resolve_relative(self.rod1.eRod_a, self.frame_a.R, self.frame_im.R))

    def axis_power(self) -> Any:
        """Power through the flanges [W]."""
        return self.axis.f * self.der(self.axis.s) + self.bearing.f * self.der(self.bearing.s)


class StartsWithUniversal(RodsAnimation, CylinderAnimation, PartialTwoFrames):
    """The left side of an aggregation with a universal joint at frame_a and a spherical joint in the middle."""

    frame_ia = Frame_a(
        "Coordinate system at origin of frame_a fixed at connecting rod of universal and spherical joint"
    )

    showUniversalAxes = Parameter(
        Boolean, True, "= true, if universal joint shall be visualized with two cylinders", animation=True
    )
    n1_a = Parameter(
        Axis,
        (0, 0, 1),
        "Axis 1 of universal joint fixed and resolved in frame_a (axis 2 is orthogonal to axis 1 and to rod 1)",
        shape=3,
    )
    rRod1_ia = Parameter(
        Position, (1, 0, 0), "Vector from origin of frame_a to spherical joint, resolved in frame_ia", shape=3
    )
    rRod2_ib = Parameter(
        Position, (-1, 0, 0), "Vector from origin of frame_ib to spherical joint, resolved in frame_ib", shape=3
    )

    eRod1_ia = Final(
        Dimensionless,
        lambda self: self.rod1.eRod_ia,
        "Unit vector from origin of frame_a to origin of spherical joint, resolved in frame_ia",
        shape=3,
    )
    e2_ia = Final(
        Dimensionless,
        lambda self: self.rod1.e2_ia,
        "Unit vector in direction of axis 2 of universal joint, resolved in frame_ia",
        shape=3,
    )
    rod1Length = Final(
        Distance,
        lambda self: self.rod1.rodLength,
        "Length of rod 1 (= distance between universal and spherical joint)",
    )

    def check_values(self) -> None:
        super().check_values()
        check_rod(self, "rRod1_ia")

    def add_rod1(self) -> None:
        """Universal joint, rod 1 and spherical joint, connected."""
        names = ("showUniversalAxes", "sphereDiameter", "sphereColor", "cylinderLength", "cylinderDiameter")
        self.rod1 = UniversalSpherical(
            rRod_ia=self.rRod1_ia,
            n1_a=self.n1_a,
            rodWidth=self.rod1Diameter,
            rodHeight=self.rod1Diameter,
            rodColor=self.rod1Color,
            cylinderColor=self.cylinderColor,
            **{name: getattr(self, name) for name in names},
            **self.looks,
        )
        self.connect(self.frame_a, self.rod1.frame_a)
        self.connect(self.frame_ia, self.rod1.frame_ia)


class JointUSR(DrivenByRevolute, StartsWithUniversal):
    """Universal - spherical - revolute joint aggregation (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointUSR"

    def build(self) -> None:
        self.add_rod1()
        self.add_revolute()

    def equations(self) -> None:
        self.rod_force()
        self.measure_power("frame_a", "frame_b", "frame_ia", "frame_ib", "frame_im", others=self.axis_power())


class JointUSP(DrivenByPrismatic, BoxAnimation, StartsWithUniversal):
    """Universal - spherical - prismatic joint aggregation (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointUSP"

    boxColor = Parameter(Color, lambda self: self.sphereColor, "Color of box", shape=3, animation=True)

    def build(self) -> None:
        self.add_rod1()
        self.add_prismatic()

    def equations(self) -> None:
        self.rod_force()
        self.measure_power("frame_a", "frame_b", "frame_ia", "frame_ib", "frame_im", others=self.axis_power())


class StartsWithSpherical(RodsAnimation, PartialTwoFrames):
    """The left side of an aggregation with spherical joints at both ends of rod 1, which may have mass."""

    showMass = Parameter(
        Boolean,
        True,
        "= true, if point mass on rod 1 shall be shown (provided animation = true and rod1Mass > 0)",
        animation=True,
    )
    rod1Length = Parameter(Length, required, "Distance between the origins of the two spherical joints", min=SHORTEST)
    rod1Mass = Parameter(
        Mass,
        0.0,
        "Mass of rod 1 (= point mass located in middle of rod connecting the two spherical joints)",
        min=0,
    )
    n_b = Parameter(Axis, (0, 0, 1), "Axis of joint fixed and resolved in frame_b", shape=3)
    rRod2_ib = Parameter(
        Position,
        (1, 0, 0),
        "Vector from origin of frame_ib to spherical joint in the middle, resolved in frame_ib",
        shape=3,
    )

    def add_rod1(self) -> None:
        """Rod 1 with its spherical joints."""
        self.rod1 = SphericalSpherical(
            rodLength=self.rod1Length,
            m=self.rod1Mass,
            showMass=self.showMass,
            sphereDiameter=self.sphereDiameter,
            sphereColor=self.sphereColor,
            rodDiameter=self.rod1Diameter,
            rodColor=self.rod1Color,
            **self.looks,
        )
        self.connect(self.frame_a, self.rod1.frame_a)

    def mass_power(self) -> Any:
        """Power that the mass of rod 1 takes [W]."""
        acceleration = self.der(self.rod1.v_CM_0) - self.world.gravity_acceleration(self.rod1.r_CM_0)
        return -self.rod1Mass * ca.dot(acceleration, self.rod1.v_CM_0)


class JointSSR(StartsWithSpherical, DrivenByRevolute):
    """Spherical - spherical - revolute joint aggregation with mass (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointSSR"

    def build(self) -> None:
        self.add_rod1()
        self.add_revolute()

    def equations(self) -> None:
        self.rod_force()
        self.measure_power("frame_a", "frame_b", "frame_ib", "frame_im", others=self.axis_power() + self.mass_power())


class JointSSP(StartsWithSpherical, BoxAnimation, DrivenByPrismatic):
    """Spherical - spherical - prismatic joint aggregation with mass (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointSSP"

    def build(self) -> None:
        self.add_rod1()
        self.add_prismatic()

    def equations(self) -> None:
        self.rod_force()
        self.measure_power("frame_a", "frame_b", "frame_ib", "frame_im", others=self.axis_power() + self.mass_power())


class _FreeAxisRevolute(Revolute):
    """Revolute joint whose axis is a number that initialisation finds."""

    n = Parameter(Dimensionless, required, "Axis of rotation resolved in frame_a (= same as in frame_b)", shape=3)
    e = Final(Dimensionless, lambda self: normalize(self.n), "Unit vector in direction of rotation axis", shape=3)


class _FreeAxisJointUSR(JointUSR):
    """JointUSR whose revolute axis is a number that initialisation finds."""

    n_b = Parameter(Dimensionless, required, "Axis of revolute joint fixed and resolved in frame_b", shape=3)

    revolute_class = _FreeAxisRevolute


class PlanarAggregation(CylinderAnimation, TotalPower, PartialTwoFrames):
    """Aggregation for planar loops, with revolute joints of parallel axes at frame_a and in the middle."""

    frame_ia = Frame_a("Coordinate system at origin of frame_a fixed at connecting rod of left and middle joint")
    frame_ib = Frame_b("Coordinate system at origin of frame_b fixed at connecting rod of middle and right joint")
    frame_im = Frame_b("Coordinate system at the joint in the middle fixed at connecting rod of middle and right joint")

    n_a = Parameter(
        Axis,
        (0, 0, 1),
        "Axes of revolute joints resolved in frame_a (all axes are parallel to each other)",
        shape=3,
    )
    rRod1_ia = Parameter(
        Position,
        (1, 0, 0),
        "Vector from origin of frame_a to revolute joint in the middle, resolved in frame_ia",
        shape=3,
    )
    rRod2_ib = Parameter(
        Position,
        (-1, 0, 0),
        "Vector from origin of frame_ib to revolute joint in the middle, resolved in frame_ib",
        shape=3,
    )
    rodDiameter = Parameter(
        Diameter, lambda self: 1.1 * self.cylinderDiameter, "Diameter of the two rods", animation=True
    )
    rodColor = Parameter(Color, ROD_COLOR, "Color of the two rods", shape=3, animation=True)

    e_a = Final(
        Axis, lambda self: normalize(self.n_a), "Unit vector along axes of rotations, resolved in frame_a", shape=3
    )

    def add_aggregation(self, name: str, joint: Component) -> None:
        """Own the aggregation with a universal joint that acts as this one in a planar loop, connected."""
        self.add(name, joint)
        for connector in ("frame_a", "frame_b", "frame_ia", "frame_ib", "frame_im", "axis", "bearing"):
            self.connect(self.connector(connector), joint.connector(connector))

    def visualize(self: Any) -> None:
        e_ia, inner = normalize(self.n_a), {"length": self.cylinderLength, "diameter": self.cylinderDiameter}
        draw_axis(self, "shape_rev1", self.frame_a, e_ia, color=self.cylinderColor, **inner)
        axis = resolve2(self.frame_im.R, resolve1(self.frame_a.R, e_ia))
        draw_axis(self, "shape_rev2", self.frame_im, axis, color=self.cylinderColor, **inner)
        for name, frame, r in (
            ("shape_rod1", self.frame_ia, self.rRod1_ia),
            ("shape_rod2", self.frame_ib, self.rRod2_ib),
        ):
            self.draw_shape(
                name,
                "cylinder",
                frame,
                lengthDirection=r,
                length=ca.norm_2(r),
                width=self.rodDiameter,
                color=self.rodColor,
            )

    def axis_in(self, frame: Any) -> Any:
        """The common axis n_a resolved in a frame."""
        return resolve2(frame.R, resolve1(self.frame_a.R, self.n_a))


class JointRRR(PlanarAggregation):
    """Planar revolute - revolute - revolute joint aggregation (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointRRR"

    axis = Flange_a("1-dim. rotational flange that drives the right revolute joint at frame_b")
    bearing = Flange_b("1-dim. rotational flange of the drive bearing of the right revolute joint at frame_b")

    phi_offset = DrivenByRevolute.phi_offset
    phi_guess = DrivenByRevolute.phi_guess

    n_b = Final(
        Dimensionless,
        lambda self: Start(self.n_a, fixed=False),
        "Axis of revolute joint fixed and resolved in frame_b",
        shape=3,
    )
    e_ia = Final(
        Dimensionless,
        lambda self: self.jointUSR.e2_ia,
        "Unit vector along axes of rotations, resolved in frame_ia",
        shape=3,
    )
    e_b = Final(
        Dimensionless,
        lambda self: self.jointUSR.revolute.e,
        "Unit vector along axes of rotations, resolved in frame_b, frame_ib and frame_im",
        shape=3,
    )

    def build(self) -> None:
        joint = _FreeAxisJointUSR(
            n1_a=self.n_a,
            n_b=self.n_b,
            phi_offset=self.phi_offset,
            phi_guess=self.phi_guess,
            rRod1_ia=self.rRod1_ia,
            rRod2_ib=self.rRod2_ib,
            checkTotalPower=self.checkTotalPower,
            animation=False,
        )
        self.add_aggregation("jointUSR", joint)

    def visualize(self: Any) -> None:
        super().visualize()
        axis = resolve2(self.frame_ib.R, resolve1(self.frame_a.R, normalize(self.n_a)))
        draw_axis(
            self,
            "shape_rev3",
            self.frame_ib,
            axis,
            self.cylinderLength,
            self.cylinderDiameter,
            self.cylinderColor,
        )

    def equations(self) -> None:
        self.totalPower = self.jointUSR.totalPower
        self.initially(self.n_b - self.axis_in(self.frame_b), "axis n_b")


class JointRRP(BoxAnimation, PlanarAggregation):
    """Planar revolute - revolute - prismatic joint aggregation (no constraints, no potential states)."""

    modelica_name = "MultiBody.Joints.Assemblies.JointRRP"

    boxColor = Parameter(Color, lambda self: self.cylinderColor, "Color of box", shape=3, animation=True)

    axis = TranslationalFlange_a("1-dim. translational flange that drives the prismatic joint")
    bearing = TranslationalFlange_b("1-dim. translational flange of the drive bearing of the prismatic joint")

    n_b = Parameter(
        Axis,
        (-1, 0, 0),
        "Axis of prismatic joint fixed and resolved in frame_b (must be orthogonal to revolute joint axes)",
        shape=3,
    )
    s_offset = DrivenByPrismatic.s_offset
    s_guess = DrivenByPrismatic.s_guess

    e_ia = Final(
        Dimensionless,
        lambda self: self.jointUSP.e2_ia,
        "Unit vector along axes of rotations, resolved in frame_ia",
        shape=3,
    )
    e_im = Final(
        Dimensionless,
        lambda self: Start(self.e_a, fixed=False),
        "Unit vector along axes of rotations, resolved in frame_im",
        shape=3,
    )
    e_b = Final(
        Axis,
        lambda self: normalize(self.n_b),
        "Unit vector along axes of translation of the prismatic joint, resolved in frame_b and frame_ib",
        shape=3,
    )

    def build(self) -> None:
        if are_parallel(self.n_a, self.n_b):
            raise ModelError(
                f"{self.where}: n_a = {self.n_a} and n_b = {self.n_b} are parallel; the prismatic joint must move "
                "across the axes of the revolute joints"
            )
        joint = JointUSP(
            n1_a=self.n_a,
            n_b=self.n_b,
            s_offset=self.s_offset,
            s_guess=self.s_guess,
            rRod1_ia=self.rRod1_ia,
            rRod2_ib=self.rRod2_ib,
            checkTotalPower=self.checkTotalPower,
            animation=False,
        )
        self.add_aggregation("jointUSP", joint)

    def visualize(self: Any) -> None:
        super().visualize()
        self.draw_shape(
            "shape_prism",
            "box",
            self.frame_b,
            lengthDirection=self.e_b,
            widthDirection=self.boxWidthDirection,
            length=ca.dot(self.e_b, resolve2(self.frame_b.R, self.frame_ib.r_0 - self.frame_b.r_0)),
            width=self.boxWidth,
            height=self.boxHeight,
            color=self.boxColor,
        )

    def equations(self) -> None:
        self.totalPower = self.jointUSP.totalPower
        self.initially(self.e_im - self.axis_in(self.frame_im), "axis e_im")


__all__ = ["JointRRP", "JointRRR", "JointSSP", "JointSSR", "JointUPS", "JointUSP", "JointUSR"]
