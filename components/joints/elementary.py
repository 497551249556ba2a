"""Prismatic and Revolute (MultiBody.Joints)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import BoxAnimation, CylinderAnimation
from mbfmu.components.interfaces import (
    Flange_a,
    Flange_b,
    PartialElementaryJoint,
    TranslationalFlange_a,
    TranslationalFlange_b,
    own_state_select,
)
from mbfmu.frames import normalize, null_rotation, planar_rotation
from mbfmu.modeling.declarations import Coordinate, Final, Parameter, Variable
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Axis,
    Boolean,
    Force,
    Position,
    StateSelect,
    Torque,
    Velocity,
)


class Prismatic(BoxAnimation, PartialElementaryJoint):
    """Prismatic joint (1 translational degree-of-freedom, 2 potential states, optional axis flange)."""

    modelica_name = "MultiBody.Joints.Prismatic"

    axis = TranslationalFlange_a(
        "1-dim. translational flange that drives the joint", when=lambda self: self.useAxisFlange
    )
    support = TranslationalFlange_b(
        "1-dim. translational flange of the drive support (assumed to be fixed in the world frame, NOT in the joint)",
        when=lambda self: self.useAxisFlange,
    )

    useAxisFlange = Parameter(Boolean, False, "= true, if axis flange is enabled")
    n = Parameter(Axis, (1, 0, 0), "Axis of translation resolved in frame_a (= same as in frame_b)", shape=3)
    s_offset = Parameter(
        Position, 0.0, "Relative distance offset (distance between frame_a and frame_b = s_offset + s)"
    )
    stateSelect = Parameter(StateSelect, "prefer", "Priority to use distance s and v=der(s) as states")
    e = Final(Axis, lambda self: normalize(self.n), "Unit vector in direction of prismatic axis n", shape=3)

    s = Coordinate(Position, "Relative distance between frame_a and frame_b", start=0.0, state_select=own_state_select)
    v = Variable(Velocity, "First derivative of s (relative velocity)", start=0.0, state_select=own_state_select)
    a = Variable(Acceleration, "Second derivative of s (relative acceleration)", start=0.0)
    f = Variable(Force, "Actuation force in direction of joint axis")

    def equations(self) -> None:
        self.v = self.der(self.s)
        self.a = self.der(self.v)
        self.relative_motion(self.e * (self.s_offset + self.s), null_rotation())
        self.f = -ca.dot(self.e, self.frame_b.f)
        if self.useAxisFlange:
            self.relation(self.axis.s - self.s)
            self.support.s = 0.0

    def visualize(self: Any) -> None:
        distance = self.s + self.s_offset
        self.draw_shape(
            "box",
            "box",
            self.frame_a,
            lengthDirection=self.e,
            widthDirection=self.boxWidthDirection,
            length=ca.if_else(ca.fabs(distance) > 1e-6, distance, 1e-6),
            width=self.boxWidth,
            height=self.boxHeight,
            color=self.boxColor,
        )


class Revolute(CylinderAnimation, PartialElementaryJoint):
    """Revolute joint (1 rotational degree-of-freedom, 2 potential states, optional axis flange)."""

    modelica_name = "MultiBody.Joints.Revolute"

    axis = Flange_a("1-dim. rotational flange that drives the joint", when=lambda self: self.useAxisFlange)
    support = Flange_b(
        "1-dim. rotational flange of the drive support (assumed to be fixed in the world frame, NOT in the joint)",
        when=lambda self: self.useAxisFlange,
    )

    useAxisFlange = Parameter(Boolean, False, "= true, if axis flange is enabled")
    n = Parameter(Axis, (0, 0, 1), "Axis of rotation resolved in frame_a (= same as in frame_b)", shape=3)
    phi_offset = Parameter(Angle, 0.0, "Relative angle offset (angle = phi_offset + phi)")
    stateSelect = Parameter(StateSelect, "prefer", "Priority to use joint angle phi and w=der(phi) as states")
    e = Final(
        Axis,
        lambda self: normalize(self.n),
        "Unit vector in direction of rotation axis, resolved in frame_a (= same as in frame_b)",
        shape=3,
    )

    phi = Coordinate(Angle, "Relative rotation angle from frame_a to frame_b", start=0.0, state_select=own_state_select)
    w = Variable(
        AngularVelocity,
        "First derivative of angle phi (relative angular velocity)",
        start=0.0,
        state_select=own_state_select,
    )
    a = Variable(AngularAcceleration, "Second derivative of angle phi (relative angular acceleration)", start=0.0)
    tau = Variable(Torque, "Driving torque in direction of axis of rotation")
    angle = Variable(Angle, "= phi_offset + phi")

    def equations(self) -> None:
        self.angle = self.phi_offset + self.phi
        self.w = self.der(self.phi)
        self.a = self.der(self.w)
        self.relative_motion([0, 0, 0], planar_rotation(self.e, self.angle, self.w))
        self.tau = -ca.dot(self.frame_b.t, self.e)
        if self.useAxisFlange:
            self.relation(self.axis.phi - self.phi)
            self.support.phi = 0.0

    def visualize(self) -> None:
        self.draw_cylinder(self.frame_a, self.e)


__all__ = ["Prismatic", "Revolute"]
