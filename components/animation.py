"""Animation parameters of the seeds, each declared once. They are accepted and kept; nothing is drawn from them."""

from __future__ import annotations

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


class Animated(Component):
    """Every component that the seeds draw: whether it is shown, and how it shines."""

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


class CylinderAnimation(Animated):
    """Cylinder along a joint axis."""

    cylinderLength = Parameter(
        Distance,
        lambda self: self.world.defaultJointLength,
        "Length of cylinder representing the joint axis",
        animation=True,
    )
    cylinderDiameter = Parameter(
        Distance,
        lambda self: self.world.defaultJointWidth,
        "Diameter of cylinder representing the joint axis",
        animation=True,
    )
    cylinderColor = Parameter(
        Color, JOINT_COLOR, "Color of cylinder representing the joint axis", shape=3, animation=True
    )


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
