"""Rolling wheels with mass: RollingWheel and RollingWheelSet (MultiBody.Parts)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from mbfmu.components.animation import Animated
from mbfmu.components.interfaces import Renamed, own_state_select
from mbfmu.components.joints import wheels as joints  # the module: joints contain parts, too
from mbfmu.components.joints.wheel_connectors import WheelSetConnectors
from mbfmu.components.parts.bodies import Body
from mbfmu.modeling import Frame_a, required
from mbfmu.modeling.declarations import Parameter, Variable
from mbfmu.modeling.types import (
    Angle,
    AngularVelocity,
    Color,
    Distance,
    Inertia,
    Mass,
    Position,
    Radius,
    Real,
    StateSelect,
)

WHEEL_COLOR = (30, 30, 30)
#: What the library calls the parameters of a wheel from version 4.0 on.
NEWER_NAMES = {
    "radius": "wheelRadius",
    "m": "wheelMass",
    "I_axis": "wheel_I_axis",
    "I_long": "wheel_I_long",
    "color": "wheelColor",
}
#: The part RollingWheelSet has names of its own; those of the part RollingWheel do as well.
NEWER_NAMES_OF_SET = NEWER_NAMES | {
    "R_wheel": "wheelRadius",
    "m_wheel": "wheelMass",
    "I_wheelAxis": "wheel_I_axis",
    "I_wheelLong": "wheel_I_long",
    "track": "wheelDistance",
    "width": "wheelWidth",
    "width_wheel": "wheelWidth",
}


class WheelBody(Animated, Renamed):
    """Mass and inertia of a wheel, and what it looks like."""

    wheelMass = Parameter(Mass, required, "Mass of wheel")
    wheel_I_axis = Parameter(Inertia, required, "Inertia along the wheel axis")
    wheel_I_long = Parameter(Inertia, required, "Inertia perpendicular to the wheel axis")
    stateSelect = Parameter(StateSelect, "always", "Priority to use generalized coordinates as states")
    hollowFraction = Parameter(Real, 0.8, "1.0: Completely hollow, 0.0: rigid cylinder", animation=True)
    wheelColor = Parameter(Color, WHEEL_COLOR, "Color of wheel", shape=3, animation=True)

    def draw_wheel(self: Any, name: str, frame: Any, width: Any) -> None:
        """Draw the wheel, a pipe about the y-axis of a frame; `width` [m] to both sides, as the library has it."""
        self.draw_shape(
            name,
            "pipe",
            frame,
            r_shape=[0, -width, 0],
            lengthDirection=(0, 1, 0),
            widthDirection=(1, 0, 0),
            length=2 * width,
            width=2 * self.wheelRadius,
            color=self.wheelColor,
            extra=self.hollowFraction,
        )

    def wheel_body(self) -> Body:
        """A body with mass and inertia of one wheel."""
        return Body(
            r_CM=(0, 0, 0),
            m=self.wheelMass,
            I_11=self.wheel_I_long,
            I_22=self.wheel_I_axis,
            I_33=self.wheel_I_long,
            animation=False,
        )


class RollingWheel(WheelBody):
    """Ideal rolling wheel on flat surface z=0 (5 positional, 3 velocity degrees of freedom)."""

    modelica_name = "MultiBody.Parts.RollingWheel"
    other_names: ClassVar[Mapping[str, str]] = NEWER_NAMES

    frame_a = Frame_a("Frame fixed in wheel center point. y-axis: along wheel axis, z-Axis: upwards")

    wheelRadius = Parameter(Radius, required, "Radius of wheel", nonzero=True)
    width = Parameter(Distance, 0.035, "Width of wheel", animation=True)

    x = Variable(Position, "x-coordinate of wheel axis", start=0.0, fixed=True, state_select=own_state_select)
    y = Variable(Position, "y-coordinate of wheel axis", start=0.0, fixed=True, state_select=own_state_select)
    angles = Variable(
        Angle,
        "Angles to rotate world-frame in to frame_a around z-, y-, x-axis",
        shape=3,
        start=0.0,
        fixed=True,
        state_select=own_state_select,
    )
    der_angles = Variable(
        AngularVelocity, "Derivative of angles", shape=3, start=0.0, fixed=True, state_select=own_state_select
    )

    def build(self) -> None:
        self.body = self.wheel_body()
        self.rollingWheel = joints.RollingWheel(wheelRadius=self.wheelRadius, stateSelect="avoid")
        self.connect(self.body.frame_a, self.frame_a)
        self.connect(self.rollingWheel.frame_a, self.frame_a)

    def visualize(self) -> None:
        self.draw_wheel("fixedShape", self.frame_a, self.width)

    def equations(self) -> None:
        joint: Any = self.rollingWheel
        self.x, self.y, self.angles, self.der_angles = joint.x, joint.y, joint.angles, joint.der_angles


class RollingWheelSet(WheelBody, WheelSetConnectors):
    """Ideal rolling wheel set consisting of two ideal rolling wheels connected together by an axis."""

    modelica_name = "MultiBody.Parts.RollingWheelSet"
    other_names: ClassVar[Mapping[str, str]] = NEWER_NAMES_OF_SET

    wheelWidth = Parameter(Distance, 0.01, "Width of one wheel", animation=True)

    x = Variable(
        Position, "x coordinate of center between wheels", start=0.0, fixed=True, state_select=own_state_select
    )
    y = Variable(
        Position, "y coordinate of center between wheels", start=0.0, fixed=True, state_select=own_state_select
    )
    phi = Variable(
        Angle, "Orientation angle of wheel axis along z-axis", start=0.0, fixed=True, state_select=own_state_select
    )
    theta1 = Variable(Angle, "Angle of wheel 1", start=0.0, fixed=True, state_select=own_state_select)
    theta2 = Variable(Angle, "Angle of wheel 2", start=0.0, fixed=True, state_select=own_state_select)
    der_theta1 = Variable(
        AngularVelocity, "Derivative of theta 1", start=0.0, fixed=True, state_select=own_state_select
    )
    der_theta2 = Variable(
        AngularVelocity, "Derivative of theta 2", start=0.0, fixed=True, state_select=own_state_select
    )

    def build(self) -> None:
        self.body1, self.body2 = self.wheel_body(), self.wheel_body()
        self.wheelSetJoint = joints.RollingWheelSet(
            wheelRadius=self.wheelRadius, wheelDistance=self.wheelDistance, animation=False
        )
        self.connect(self.body1.frame_a, self.frame1)
        self.connect(self.body2.frame_a, self.frame2)
        for name in ("frame1", "frame2", "frameMiddle", "axis1", "axis2", "support"):
            self.connect(self.wheelSetJoint.connector(name), self.connector(name))

    def visualize(self) -> None:
        self.draw_wheel("shape1", self.frame1, self.wheelWidth)
        self.draw_wheel("shape2", self.frame2, self.wheelWidth)

    def equations(self) -> None:
        joint: Any = self.wheelSetJoint
        self.x, self.y, self.phi = joint.x, joint.y, joint.phi
        self.theta1, self.theta2 = joint.theta1, joint.theta2
        self.der_theta1, self.der_theta2 = self.der(self.theta1), self.der(self.theta2)


__all__ = ["RollingWheel", "RollingWheelSet"]
