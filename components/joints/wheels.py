"""Ideal rolling on the plane z = 0, or on the road of an assembly: RollingWheel and RollingWheelSet (MultiBody.Joints).

A wheel is a set of constraints on the frame of its centre, which may move freely or be carried by a vehicle: one keeps
the contact point on the plane, two keep the wheel from slipping. Modelica's wheel has Cardan angles as coordinates,
which pass close to their singular value whenever an upright wheel turns; here the frame keeps its own coordinates, and
the angles are states beside them, so that they count full turns as that one's do.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from mbfmu.components.interfaces import PartialOneFrame_a, Renamed, own_state_select
from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.components.joints.wheel_connectors import WheelSetConnectors
from mbfmu.components.parts.drive import Mounting1D
from mbfmu.components.parts.fixed import Fixed, FixedTranslation
from mbfmu.errors import ModelError
from mbfmu.frames import angular_velocity1, axes_rotations, cross, equality_constraint, resolve1, resolve2
from mbfmu.modeling import Frame_a, required
from mbfmu.modeling.declarations import Multiplier, Parameter, State, Variable
from mbfmu.modeling.types import (
    Angle,
    AngularVelocity,
    Boolean,
    Force,
    Position,
    Radius,
    StateSelect,
)

#: Normal of the road.
E_N = (0.0, 0.0, 1.0)
#: Steps in which the contact point on a curved road is found: each takes its error down by radius over road's radius.
STEPS = 6
#: Keeps a quotient of zeros from being no number.
TINY = 1e-30


def warn_where_gravity_lifts(self: Any) -> None:
    """Warn where uniform gravity does not press a wheel onto the road."""
    world = self.world
    if world.gravityType == "UniformGravity" and not world.n[2] < 0:
        warnings.warn(
            f"{self._component.where}: gravity (world.n = {np.asarray(world.n).tolist()}) does not press the wheel "
            "onto the plane z = 0; ideal rolling holds it there all the same. Use n = (0, 0, -1) for a level road",
            stacklevel=2,
        )


class Contact:
    """Coordinate system at the contact point, resolved in the world frame: e_long, e_lat along the road, and e_axis."""

    def __init__(self, R: Any, e_n: Any = E_N) -> None:
        self.e_axis = resolve1(R, [0.0, 1.0, 0.0])
        self.e_n = ca.DM(e_n) if e_n is E_N else e_n
        ahead = cross(e_n, self.e_axis)
        #: Sine of the angle between axis and normal: 1 for an upright wheel.
        self.upright = ca.norm_2(ahead)
        self.e_long = ahead / self.upright
        self.e_lat = cross(self.e_long, e_n)

    @property
    def down(self) -> Any:
        """From the wheel's centre to the contact point: in the plane that holds the wheel's axis and the normal."""
        return cross(self.e_long, self.e_axis)


def contact_on_road(self: Any, radius: Any) -> tuple[Contact, Any]:
    """Contact of a wheel with the road, and how far its rim is above it [m].

    On a curved road the normal is that at the contact point, which it is needed for: each step takes it where the one
    before has found that point.
    """
    road, a = self.outer("road"), self.frame_a
    if road is None or road.is_level:
        contact = Contact(a.R)
        return contact, (a.r_0 + radius * contact.down)[2]
    place = a.r_0
    for _ in range(STEPS if road.is_curved else 1):
        _, normal = road.point(place[0], place[1])
        contact = Contact(a.R, normal)
        place = a.r_0 + radius * contact.down
    height, normal = road.point(place[0], place[1])
    return contact, (place[2] - height) * normal[2]


class RollingWheel(Renamed, PartialOneFrame_a):
    """Joint (no mass, no inertia) that describes an ideal rolling wheel (rolling on the plane z=0)."""

    modelica_name = "MultiBody.Joints.RollingWheel"
    other_names: ClassVar[Mapping[str, str]] = {"radius": "wheelRadius"}

    frame_a = Frame_a("Frame fixed in wheel center point. x-Axis: upwards, y-axis: along wheel axis", needed=True)

    wheelRadius = Parameter(Radius, required, "Wheel radius", nonzero=True)
    stateSelect = Parameter(StateSelect, "always", "Priority to use generalized coordinates as states")

    x = Variable(Position, "x-coordinate of wheel axis", start=0.0, state_select=own_state_select)
    y = Variable(Position, "y-coordinate of wheel axis", start=0.0, state_select=own_state_select)
    z = Variable(Position, "z-coordinate of wheel axis")
    angles = State(
        Angle,
        "Angles to rotate world-frame in to frame_a around z-, y-, x-axis",
        shape=3,
        start=0.0,
        state_select=own_state_select,
    )
    der_angles = Variable(AngularVelocity, "Derivative of angles", shape=3, start=0.0, state_select=own_state_select)
    r_road_0 = Variable(
        Position, "Position vector from world frame to contact point on road, resolved in world frame", shape=3
    )
    f_wheel_0 = Variable(Force, "Contact force acting on wheel, resolved in world frame", shape=3)
    f_n = Multiplier(Force, "Contact force acting on wheel in normal direction")
    f_lat = Multiplier(Force, "Contact force acting on wheel in lateral direction")
    f_long = Multiplier(Force, "Contact force acting on wheel in longitudinal direction")
    err = Variable(Position, "|r_road_0 - frame_a.r_0| - wheelRadius (must be zero; used for checking)")

    def equations(self) -> None:
        a = self.frame_a
        warn_where_gravity_lifts(self)
        self.x, self.y, self.z = a.r_0[0], a.r_0[1], a.r_0[2]
        self._rates_of_angles()
        contact, above = contact_on_road(self, self.wheelRadius)
        lying = ca.fabs(ca.dot(contact.e_axis, contact.e_n))
        self.require(ca.atan(0.99 - lying), "the wheel lays nearly on the ground (which is a singularity)")
        delta_0 = self.wheelRadius * contact.down
        self.r_road_0 = a.r_0 + delta_0
        self.err = above / contact.upright
        v_contact_0 = self.der(a.r_0) + cross(angular_velocity1(a.R), delta_0)
        self.constrain("f_n", position=above)
        self.constrain(
            "f_lat",
            "f_long",
            velocity=ca.vertcat(ca.dot(v_contact_0, contact.e_lat), ca.dot(v_contact_0, contact.e_long)),
        )
        self.f_wheel_0 = self.f_n * contact.e_n + self.f_lat * contact.e_lat + self.f_long * contact.e_long
        a.f, a.t = -resolve2(a.R, self.f_wheel_0), -resolve2(a.R, cross(delta_0, self.f_wheel_0))
        self.energy()

    def _rates_of_angles(self) -> None:
        """The angles follow the frame: their rates from its angular velocity, their start from its orientation.

        The rates are written with elements of T (sin and cos of the last angle times cos of the middle one), not with
        the angles themselves: near the singular middle angle, which every upright wheel passes twice a turn, these
        would amplify their own rounding errors.
        """
        T, w = self.frame_a.R.T, self.frame_a.R.w
        last = self.angles[2]
        first_rate = (T[1, 2] * w[1] + T[2, 2] * w[2]) / (T[1, 2] ** 2 + T[2, 2] ** 2 + TINY)
        self.der_angles = ca.vertcat(first_rate, ca.cos(last) * w[1] - ca.sin(last) * w[2], w[0] - T[0, 2] * first_rate)
        self.der.angles = self.der_angles
        self.initially(
            equality_constraint(axes_rotations((3, 2, 1), self.angles, ca.SX.zeros(3)), self.frame_a.R),
            "orientation by angles",
        )


class RollingConstraintVerticalWheel(PartialOneFrame_a):
    """Rolling constraint for a wheel that is always perpendicular to the x-y plane."""

    modelica_name = "MultiBody.Joints.Internal.RollingConstraintVerticalWheel"

    frame_a = Frame_a("Frame fixed in wheel center point. x-Axis: upwards, y-axis: along wheel axis", needed=True)

    radius = Parameter(Radius, required, "Wheel radius")
    lateralSlidingConstraint = Parameter(
        Boolean,
        True,
        "= true, if lateral sliding constraint taken into account, = false if lateral force = 0 (needed to avoid "
        "overconstraining if two ideal rolling wheels are connect on one axis)",
    )

    f_wheel_0 = Variable(Force, "Contact force acting on wheel, resolved in world frame", shape=3)
    f_lat = Multiplier(
        Force,
        "Contact force acting on wheel in lateral direction",
        dummy=lambda self: not self.lateralSlidingConstraint,
    )
    f_long = Multiplier(Force, "Contact force acting on wheel in longitudinal direction")

    def equations(self) -> None:
        a = self.frame_a
        road = self.outer("road")
        if road is not None and not road.is_level:
            raise ModelError(
                f"{self._component.where}: an axle of two ideal rolling wheels needs the plane z = 0, and the road of "
                "this assembly has a shape; take wheels that slip, or a RollingWheel each"
            )
        contact = Contact(a.R)
        to_contact = ca.vertcat(0, 0, -self.radius)
        v_contact_0 = self.der(a.r_0) + cross(angular_velocity1(a.R), to_contact)
        self.constrain("f_long", velocity=ca.dot(v_contact_0, contact.e_long))
        if self.lateralSlidingConstraint:
            self.constrain("f_lat", velocity=ca.dot(v_contact_0, contact.e_lat))
        else:
            self.f_lat = 0.0
        self.f_wheel_0 = self.f_lat * contact.e_lat + self.f_long * contact.e_long
        a.f, a.t = -resolve2(a.R, self.f_wheel_0), -resolve2(a.R, cross(to_contact, self.f_wheel_0))
        self.energy()


class RollingWheelSet(WheelSetConnectors):
    """Joint (no mass, no inertia) that describes an ideal rolling wheel set.

    Two ideal rolling wheels are connected together by an axis.
    """

    modelica_name = "MultiBody.Joints.RollingWheelSet"

    animation = Parameter(Boolean, True, "= true, if animation of wheel set shall be enabled", animation=True)
    stateSelect = Parameter(StateSelect, "default", "Priority to use the generalized coordinates as states")

    x = Variable(Position, "x coordinate for center between wheels", start=0.0, state_select=own_state_select)
    y = Variable(Position, "y coordinate for center between wheels", start=0.0, state_select=own_state_select)
    phi = Variable(Angle, "Orientation angle of wheel axis along z-axis", start=0.0, state_select=own_state_select)
    theta1 = Variable(Angle, "Angle of wheel 1", start=0.0, state_select=own_state_select)
    theta2 = Variable(Angle, "Angle of wheel 2", start=0.0, state_select=own_state_select)
    der_theta1 = Variable(AngularVelocity, "Derivative of theta 1", start=0.0, state_select=own_state_select)
    der_theta2 = Variable(AngularVelocity, "Derivative of theta 2", start=0.0, state_select=own_state_select)

    def build(self) -> None:
        half = self.wheelDistance / 2
        self.fixed = Fixed(r=ca.vertcat(0, 0, self.wheelRadius), animation=self.animation)
        self.prismatic1 = Prismatic(stateSelect=self.stateSelect, animation=self.animation)
        self.prismatic2 = Prismatic(n=(0, 1, 0), stateSelect=self.stateSelect, animation=self.animation)
        self.revolute = Revolute(stateSelect=self.stateSelect, animation=self.animation)
        self.rod1 = FixedTranslation(r=ca.vertcat(0, half, 0), animation=self.animation)
        self.rod2 = FixedTranslation(r=ca.vertcat(0, -half, 0), animation=self.animation)
        self.revolute1, self.revolute2 = (
            Revolute(n=(0, 1, 0), useAxisFlange=True, stateSelect=self.stateSelect, animation=self.animation)
            for _ in range(2)
        )
        self.rolling1 = RollingConstraintVerticalWheel(radius=self.wheelRadius)
        self.rolling2 = RollingConstraintVerticalWheel(radius=self.wheelRadius, lateralSlidingConstraint=False)
        self.mounting1D = Mounting1D()
        self.connect(self.fixed.frame_b, self.prismatic1.frame_a)
        self.connect(self.prismatic1.frame_b, self.prismatic2.frame_a)
        self.connect(self.prismatic2.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.frameMiddle)
        self.connect(self.frameMiddle, self.rod1.frame_a)
        self.connect(self.rod1.frame_b, self.revolute1.frame_a)
        self.connect(self.revolute1.frame_b, self.frame1)
        self.connect(self.frameMiddle, self.rod2.frame_a)
        self.connect(self.rod2.frame_b, self.revolute2.frame_a)
        self.connect(self.revolute2.frame_b, self.frame2)
        self.connect(self.revolute1.frame_b, self.rolling1.frame_a)
        self.connect(self.revolute2.frame_b, self.rolling2.frame_a)
        self.connect(self.revolute1.axis, self.axis1)
        self.connect(self.revolute2.axis, self.axis2)
        self.connect(self.frameMiddle, self.mounting1D.frame_a)
        self.connect(self.mounting1D.flange_b, self.support)

    def equations(self) -> None:
        warn_where_gravity_lifts(self)
        self.x, self.y, self.phi = self.prismatic1.s, self.prismatic2.s, self.revolute.phi
        self.theta1, self.theta2 = self.revolute1.phi, self.revolute2.phi
        self.der_theta1, self.der_theta2 = self.der(self.theta1), self.der(self.theta2)


__all__ = ["RollingConstraintVerticalWheel", "RollingWheel", "RollingWheelSet"]
