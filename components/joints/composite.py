"""Joints made of prismatic and revolute ones: Cylindrical, Universal, Planar (MultiBody.Joints)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbfmu.components.animation import AxisAnimation, BoxAnimation, CylinderAnimation
from mbfmu.components.interfaces import PartialTwoFrames, own_state_select
from mbfmu.components.joints.elementary import Prismatic, Revolute
from mbfmu.errors import ModelError
from mbfmu.frames import are_parallel, normalize
from mbfmu.modeling.declarations import Parameter, Variable
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Axis,
    Distance,
    Position,
    StateSelect,
    Velocity,
)


class Cylindrical(AxisAnimation, PartialTwoFrames):
    """Cylindrical joint (2 degrees-of-freedom, 4 potential states)."""

    modelica_name = "MultiBody.Joints.Cylindrical"

    n = Parameter(Axis, (1, 0, 0), "Cylinder axis resolved in frame_a (= same as in frame_b)", shape=3)
    stateSelect = Parameter(StateSelect, "prefer", "Priority to use joint coordinates (phi, s, w, v) as states")

    s = Variable(Position, "Relative distance between frame_a and frame_b", start=0.0, state_select=own_state_select)
    phi = Variable(Angle, "Relative rotation angle from frame_a to frame_b", start=0.0, state_select=own_state_select)
    v = Variable(Velocity, "First derivative of s (relative velocity)", start=0.0, state_select=own_state_select)
    w = Variable(
        AngularVelocity,
        "First derivative of angle phi (relative angular velocity)",
        start=0.0,
        state_select=own_state_select,
    )
    a = Variable(Acceleration, "Second derivative of s (relative acceleration)", start=0.0)
    wd = Variable(AngularAcceleration, "Second derivative of angle phi (relative angular acceleration)", start=0.0)

    def build(self) -> None:
        self.prismatic = Prismatic(n=self.n, animation=False, stateSelect=self.stateSelect)
        self.revolute = Revolute(n=self.n, animation=False, stateSelect=self.stateSelect)
        self.connect(self.frame_a, self.prismatic.frame_a)
        self.connect(self.prismatic.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.frame_b)

    def equations(self) -> None:
        self.phi = self.revolute.phi
        self.w = self.der(self.phi)
        self.wd = self.der(self.w)
        self.s = self.prismatic.s
        self.v = self.der(self.s)
        self.a = self.der(self.v)

    def visualize(self: Any) -> None:
        self.draw_shape(
            "cylinder",
            "cylinder",
            self.frame_a,
            lengthDirection=self.n,
            length=self.s,
            width=self.cylinderDiameter,
            color=self.cylinderColor,
        )


class Universal(CylinderAnimation, PartialTwoFrames):
    """Universal joint (2 degrees-of-freedom, 4 potential states)."""

    modelica_name = "MultiBody.Joints.Universal"

    n_a = Parameter(Axis, (1, 0, 0), "Axis of revolute joint 1 resolved in frame_a", shape=3)
    n_b = Parameter(Axis, (0, 1, 0), "Axis of revolute joint 2 resolved in frame_b", shape=3)
    stateSelect = Parameter(
        StateSelect, "prefer", "Priority to use joint coordinates (phi_a, phi_b, w_a, w_b) as states"
    )

    phi_a = Variable(
        Angle, "Relative rotation angle from frame_a to intermediate frame", start=0.0, state_select=own_state_select
    )
    phi_b = Variable(
        Angle, "Relative rotation angle from intermediate frame to frame_b", start=0.0, state_select=own_state_select
    )
    w_a = Variable(
        AngularVelocity,
        "First derivative of angle phi_a (relative angular velocity a)",
        start=0.0,
        state_select=own_state_select,
    )
    w_b = Variable(
        AngularVelocity,
        "First derivative of angle phi_b (relative angular velocity b)",
        start=0.0,
        state_select=own_state_select,
    )
    a_a = Variable(AngularAcceleration, "Second derivative of angle phi_a (relative angular acceleration a)", start=0.0)
    a_b = Variable(AngularAcceleration, "Second derivative of angle phi_b (relative angular acceleration b)", start=0.0)

    def build(self) -> None:
        if are_parallel(self.n_a, self.n_b):
            raise ModelError(
                f"{self.where}: n_a = {self.n_a} and n_b = {self.n_b} are parallel, which leaves one rotation of two; "
                "use a Revolute, or axes of different directions"
            )
        names = ("animation", "cylinderLength", "cylinderDiameter", "cylinderColor", "specularCoefficient")
        looks = {name: getattr(self, name) for name in names}
        self.revolute_a = Revolute(n=self.n_a, stateSelect=self.stateSelect, **looks)
        self.revolute_b = Revolute(n=self.n_b, stateSelect=self.stateSelect, **looks)
        self.connect(self.frame_a, self.revolute_a.frame_a)
        self.connect(self.revolute_a.frame_b, self.revolute_b.frame_a)
        self.connect(self.revolute_b.frame_b, self.frame_b)

    def equations(self) -> None:
        self.phi_a = self.revolute_a.phi
        self.phi_b = self.revolute_b.phi
        self.w_a = self.der(self.phi_a)
        self.w_b = self.der(self.phi_b)
        self.a_a = self.der(self.w_a)
        self.a_b = self.der(self.w_b)


class Planar(CylinderAnimation, BoxAnimation, PartialTwoFrames):
    """Planar joint (3 degrees-of-freedom, 6 potential states)."""

    modelica_name = "MultiBody.Joints.Planar"

    n = Parameter(
        Axis, (0, 0, 1), "Axis orthogonal to unconstrained plane, resolved in frame_a (= same as in frame_b)", shape=3
    )
    n_x = Parameter(
        Axis,
        (1, 0, 0),
        "Vector in direction of x-axis of plane, resolved in frame_a (n_x shall be orthogonal to n)",
        shape=3,
    )
    boxWidth = Parameter(
        Distance, lambda self: 0.3 * self.cylinderDiameter, "Width of prismatic joint boxes", animation=True
    )
    stateSelect = Parameter(
        StateSelect, "prefer", "Priority to use joint coordinates (s_x, s_y, phi, v_x, v_y, w) as states"
    )

    s_x = Variable(
        Position,
        "Relative distance along first prismatic joint starting at frame_a",
        start=0.0,
        state_select=own_state_select,
    )
    s_y = Variable(
        Position,
        "Relative distance along second prismatic joint starting at first prismatic joint",
        start=0.0,
        state_select=own_state_select,
    )
    phi = Variable(Angle, "Relative rotation angle from frame_a to frame_b", start=0.0, state_select=own_state_select)
    v_x = Variable(
        Velocity,
        "First derivative of s_x (relative velocity in s_x direction)",
        start=0.0,
        state_select=own_state_select,
    )
    v_y = Variable(
        Velocity,
        "First derivative of s_y (relative velocity in s_y direction)",
        start=0.0,
        state_select=own_state_select,
    )
    w = Variable(
        AngularVelocity,
        "First derivative of angle phi (relative angular velocity)",
        start=0.0,
        state_select=own_state_select,
    )
    a_x = Variable(Acceleration, "Second derivative of s_x (relative acceleration in s_x direction)", start=0.0)
    a_y = Variable(Acceleration, "Second derivative of s_y (relative acceleration in s_y direction)", start=0.0)
    wd = Variable(AngularAcceleration, "Second derivative of angle phi (relative angular acceleration)", start=0.0)

    def build(self) -> None:
        if are_parallel(self.n, self.n_x):
            raise ModelError(
                f"{self.where}: n = {self.n} and n_x = {self.n_x} are parallel; n_x must lie in the plane, "
                "to which n is orthogonal"
            )
        n_y = np.cross(self.n, self.n_x)
        self.prismatic_x = Prismatic(n=np.cross(n_y, self.n), stateSelect=self.stateSelect, animation=False)
        self.prismatic_y = Prismatic(n=n_y, stateSelect=self.stateSelect, animation=False)
        self.revolute = Revolute(n=self.n, stateSelect=self.stateSelect, animation=False)
        self.connect(self.frame_a, self.prismatic_x.frame_a)
        self.connect(self.prismatic_x.frame_b, self.prismatic_y.frame_a)
        self.connect(self.prismatic_y.frame_b, self.revolute.frame_a)
        self.connect(self.revolute.frame_b, self.frame_b)

    def equations(self) -> None:
        self.s_x = self.prismatic_x.s
        self.s_y = self.prismatic_y.s
        self.phi = self.revolute.phi
        self.v_x = self.der(self.s_x)
        self.v_y = self.der(self.s_y)
        self.w = self.der(self.phi)
        self.a_x = self.der(self.v_x)
        self.a_y = self.der(self.v_y)
        self.wd = self.der(self.w)

    def visualize(self: Any) -> None:
        n = normalize(self.n)
        e_y = normalize(np.cross(self.n, self.n_x))
        e_x = np.cross(e_y, n)
        boxes: Any = {"width": self.boxWidth, "height": self.boxHeight, "color": self.boxColor}
        self.draw_shape(
            "box_x",
            "box",
            self.frame_a,
            lengthDirection=e_x,
            widthDirection=self.boxWidthDirection,
            length=self.s_x,
            **boxes,
        )
        self.draw_shape(
            "box_y",
            "box",
            self.frame_a,
            r_shape=e_x * self.s_x,
            lengthDirection=e_y,
            widthDirection=(1, 0, 0),
            length=self.s_y,
            **boxes,
        )
        self.draw_cylinder(self.frame_b, n)


__all__ = ["Cylindrical", "Planar", "Universal"]
