"""What components look like: animation parameters of the library, each declared once, and what is drawn from them."""

from __future__ import annotations

from typing import Any

from mbfmu.frames import length
from mbfmu.modeling import Component
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import (
    Axis,
    Boolean,
    Color,
    Diameter,
    Distance,
    Length,
    Position,
    ShapeExtra,
    ShapeType,
    SpecularCoefficient,
)

ROD_COLOR = (155, 155, 155)
BODY_COLOR = (0, 128, 255)
JOINT_COLOR = (255, 0, 0)
FORCE_COLOR = (0, 128, 0)
SENSOR_COLOR = (255, 255, 0)


def draw_sphere(self: Any, name: str, frame: Any, diameter: Any, color: Any, center: Any = (0, 0, 0)) -> None:
    """Draw a sphere about a point `center` [m] of a frame."""
    self.draw_shape(
        name,
        "sphere",
        frame,
        r_shape=[center[0] - diameter / 2, center[1], center[2]],
        length=diameter,
        width=diameter,
        color=color,
    )


def draw_axis(self: Any, name: str, frame: Any, e: Any, length: Any, diameter: Any, color: Any) -> None:
    """Draw a cylinder along a unit vector e, whose middle is the origin of a frame."""
    self.draw_shape(
        name,
        "cylinder",
        frame,
        r_shape=[-e[i] * length / 2 for i in range(3)],
        lengthDirection=e,
        length=length,
        width=diameter,
        color=color,
    )


class Animated(Component):
    """Every component that the library draws: whether it is shown, and how it shines."""

    animation = Parameter(Boolean, True, "= true, if animation shall be enabled", animation=True)
    specularCoefficient = Parameter(
        SpecularCoefficient,
        lambda self: self.world.defaultSpecularCoefficient,
        "Reflection of ambient light (= 0: light is completely absorbed)",
        animation=True,
    )


class ShapeAnimation(Animated):
    """Shape between two frames (Visualizers.Advanced.Shape)."""

    shapeType = Parameter(ShapeType, "cylinder", "Type of shape", animation=True)
    r_shape = Parameter(
        Position, (0, 0, 0), "Vector from frame_a to shape origin, resolved in frame_a", shape=3, animation=True
    )
    lengthDirection = Parameter(
        Position,
        lambda self: self.r - self.r_shape,
        "Vector in length direction of shape, resolved in frame_a",
        shape=3,
        animation=True,
    )
    widthDirection = Parameter(
        Axis, (0, 1, 0), "Vector in width direction of shape, resolved in frame_a", shape=3, animation=True
    )
    length = Parameter(Length, lambda self: length(self.r - self.r_shape), "Length of shape", animation=True)
    width = Parameter(
        Distance, lambda self: self.length / self.world.defaultWidthFraction, "Width of shape", animation=True
    )
    height = Parameter(Distance, lambda self: self.width, "Height of shape", animation=True)
    extra = Parameter(ShapeExtra, 0.0, "Additional parameter depending on shapeType", animation=True)
    color = Parameter(Color, ROD_COLOR, "Color of shape", shape=3, animation=True)

    def visualize(self: Any) -> None:
        self.draw_own_shape(self.frame_a)

    def draw_own_shape(self: Any, frame: Any, **others: Any) -> None:
        """Draw the shape in a frame, the world where None; `others` than its own attributes."""
        names = ("r_shape", "lengthDirection", "widthDirection", "length", "width", "height", "extra", "color")
        attributes = {name: getattr(self, name) for name in names if name not in others}
        self.draw_shape("shape", self.shapeType, frame, **attributes, **others)


class AxisAnimation(Animated):
    """Cylinder along a joint axis, whose length the joint has."""

    cylinderDiameter = Parameter(
        Distance,
        lambda self: self.world.defaultJointWidth,
        "Diameter of cylinder representing the joint axis",
        animation=True,
    )
    cylinderColor = Parameter(
        Color, JOINT_COLOR, "Color of cylinder representing the joint axis", shape=3, animation=True
    )


class CylinderAnimation(AxisAnimation):
    """Cylinder along a joint axis."""

    cylinderLength = Parameter(
        Distance,
        lambda self: self.world.defaultJointLength,
        "Length of cylinder representing the joint axis",
        animation=True,
    )

    def draw_cylinder(self: Any, frame: Any, e: Any, name: str = "cylinder") -> None:
        """Draw the cylinder along a unit vector e of a frame."""
        draw_axis(self, name, frame, e, self.cylinderLength, self.cylinderDiameter, self.cylinderColor)


class BoxAnimation(Animated):
    """Box along a prismatic joint."""

    boxWidthDirection = Parameter(
        Axis, (0, 1, 0), "Vector in width direction of box, resolved in frame_a", shape=3, animation=True
    )
    boxWidth = Parameter(
        Distance, lambda self: self.world.defaultJointWidth, "Width of prismatic joint box", animation=True
    )
    boxHeight = Parameter(Distance, lambda self: self.boxWidth, "Height of prismatic joint box", animation=True)
    boxColor = Parameter(Color, JOINT_COLOR, "Color of prismatic joint box", shape=3, animation=True)


class SphereAnimation(Animated):
    """Sphere at a joint or a mass point."""

    sphereDiameter = Parameter(
        Diameter, lambda self: self.world.defaultJointLength, "Diameter of sphere", animation=True
    )
    sphereColor = Parameter(Color, JOINT_COLOR, "Color of sphere", shape=3, animation=True)

    def visualize(self: Any) -> None:
        draw_sphere(self, "sphere", self.frame_a, self.sphereDiameter, self.sphereColor)


class BodyAnimation(Animated):
    """Sphere at the centre of mass and cylinder to it."""

    sphereDiameter = Parameter(
        Diameter, lambda self: self.world.defaultBodyDiameter, "Diameter of sphere", animation=True
    )
    sphereColor = Parameter(Color, BODY_COLOR, "Color of sphere", shape=3, animation=True)
    cylinderDiameter = Parameter(Diameter, lambda self: self.sphereDiameter / 3, "Diameter of cylinder", animation=True)
    cylinderColor = Parameter(Color, lambda self: self.sphereColor, "Color of cylinder", shape=3, animation=True)


class ArrowAnimation(Animated):
    """Arrow between two frames."""

    arrowDiameter = Parameter(
        Length,
        lambda self: self.world.defaultArrowDiameter,
        "Diameter of arrow from frame_a to frame_b",
        animation=True,
    )
    arrowColor = Parameter(Color, SENSOR_COLOR, "Color of arrow", shape=3, animation=True)

    def visualize(self: Any) -> None:
        r = self.frame_b.r_0 - self.frame_a.r_0
        self.draw_arrow(
            "arrow", r, self.arrowDiameter, r=self.frame_a.r_0, quantity="RelativePosition", color=self.arrowColor
        )
