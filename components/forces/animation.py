"""Animation parameters of forces, each declared once. They are accepted and kept; nothing is drawn from them."""

from __future__ import annotations

from mbfmu.components.animation import BODY_COLOR, FORCE_COLOR, ROD_COLOR, SENSOR_COLOR, Animated

from mbfmu.modeling import Component, Parameter
from mbfmu.modeling import types as t

SPRING_COLOR = (0, 0, 255)
DAMPER_COLOR = (100, 100, 100)


class ForceArrow(Animated):
    """Arrow along a force."""

    N_to_m = Parameter(
        t.Real, lambda self: self.world.defaultN_to_m, "Force arrow scaling (length = force/N_to_m)", animation=True
    )
    forceDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of force arrow", animation=True
    )
    forceColor = Parameter(t.Color, FORCE_COLOR, "Color of force arrow", shape=3, animation=True)


class TorqueArrow(Animated):
    """Double arrow along a torque."""

    Nm_to_m = Parameter(
        t.Real, lambda self: self.world.defaultNm_to_m, "Torque arrow scaling (length = torque/Nm_to_m)", animation=True
    )
    torqueDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of torque arrow", animation=True
    )
    torqueColor = Parameter(t.Color, FORCE_COLOR, "Color of torque arrow", shape=3, animation=True)


class SingleArrow(Animated):
    """One arrow, along a force or a torque."""

    N_to_m = Parameter(
        t.Real, lambda self: self.world.defaultN_to_m, "Force arrow scaling (length = force/N_to_m)", animation=True
    )
    Nm_to_m = Parameter(
        t.Real, lambda self: self.world.defaultNm_to_m, "Torque arrow scaling (length = torque/Nm_to_m)", animation=True
    )
    diameter = Parameter(t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of arrow", animation=True)
    color = Parameter(t.Color, FORCE_COLOR, "Color of arrow", shape=3, animation=True)


class ConnectionLine(Animated):
    """Line between the two frames that a force acts on."""

    connectionLineDiameter = Parameter(
        t.Diameter,
        lambda self: self.world.defaultArrowDiameter,
        "Diameter of line connecting frame_a and frame_b",
        animation=True,
    )
    connectionLineColor = Parameter(
        t.Color, SENSOR_COLOR, "Color of line connecting frame_a and frame_b", shape=3, animation=True
    )


class CoilShape(Animated):
    """Coil of a spring."""

    width = Parameter(t.Distance, lambda self: self.world.defaultForceWidth, "Width of spring", animation=True)
    coilWidth = Parameter(t.Distance, lambda self: self.width / 10, "Width of spring coil", animation=True)
    numberOfWindings = Parameter(t.Integer, 5, "Number of spring windings", animation=True)
    color = Parameter(t.Color, SPRING_COLOR, "Color of spring", shape=3, animation=True)


class DamperShape(Animated):
    """Two cylinders of a damper."""

    length_a = Parameter(
        t.Distance, lambda self: self.world.defaultForceLength, "Length of cylinder at frame_a side", animation=True
    )
    diameter_a = Parameter(
        t.Diameter, lambda self: self.world.defaultForceWidth, "Diameter of cylinder at frame_a side", animation=True
    )
    diameter_b = Parameter(
        t.Diameter, lambda self: 0.6 * self.diameter_a, "Diameter of cylinder at frame_b side", animation=True
    )
    color_a = Parameter(t.Color, DAMPER_COLOR, "Color at frame_a", shape=3, animation=True)
    color_b = Parameter(t.Color, ROD_COLOR, "Color at frame_b", shape=3, animation=True)


class LineShape(Component):
    """Line with a sphere on it (LineForceWithMass)."""

    animateLine = Parameter(
        t.Boolean, True, "= true, if a line shape between frame_a and frame_b shall be visualized", animation=True
    )
    animateMass = Parameter(
        t.Boolean, True, "= true, if point mass shall be visualized as sphere provided m > 0", animation=True
    )
    specularCoefficient = Parameter(
        t.SpecularCoefficient,
        lambda self: self.world.defaultSpecularCoefficient,
        "Reflection of ambient light (= 0: light is completely absorbed)",
        animation=True,
    )
    lineShapeType = Parameter(
        t.ShapeType, "cylinder", "Type of shape visualizing the line from frame_a to frame_b", animation=True
    )
    lineShapeWidth = Parameter(t.Length, lambda self: self.world.defaultArrowDiameter, "Width of shape", animation=True)
    lineShapeHeight = Parameter(t.Length, lambda self: self.lineShapeWidth, "Height of shape", animation=True)
    lineShapeExtra = Parameter(t.ShapeExtra, 0.0, "Extra parameter for shape", animation=True)
    lineShapeColor = Parameter(t.Color, SENSOR_COLOR, "Color of line shape", shape=3, animation=True)
    massDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultBodyDiameter, "Diameter of point mass sphere", animation=True
    )
    massColor = Parameter(t.Color, BODY_COLOR, "Color of point mass", shape=3, animation=True)


class TwoCylinders(Component):
    """Two cylinders with spheres on them (LineForceWithTwoMasses)."""

    animate = Parameter(t.Boolean, True, "= true, if animation shall be enabled", animation=True)
    animateMasses = Parameter(
        t.Boolean,
        True,
        "= true, if point masses shall be visualized provided animate=true and m_a, m_b > 0",
        animation=True,
    )
    specularCoefficient = Parameter(
        t.SpecularCoefficient,
        lambda self: self.world.defaultSpecularCoefficient,
        "Reflection of ambient light (= 0: light is completely absorbed)",
        animation=True,
    )
    cylinderDiameter_a = Parameter(
        t.Diameter, lambda self: self.world.defaultForceWidth, "Diameter of cylinder at frame_a", animation=True
    )
    cylinderLength_a = Parameter(t.Length, lambda self: 2 * self.L_a, "Length of cylinder at frame_a", animation=True)
    color_a = Parameter(t.Color, ROD_COLOR, "Color of cylinder at frame_a", shape=3, animation=True)
    diameterFraction = Parameter(
        t.Real, 0.8, "Diameter of cylinder at frame_b with respect to diameter of cylinder at frame_a", animation=True
    )
    cylinderLength_b = Parameter(t.Length, lambda self: 2 * self.L_b, "Length of cylinder at frame_b", animation=True)
    color_b = Parameter(t.Color, DAMPER_COLOR, "Color of cylinder at frame_b", shape=3, animation=True)
    massDiameterFaction = Parameter(
        t.Real, 1.7, "Diameter of point mass spheres with respect to cylinderDiameter_a", animation=True
    )
    massColor = Parameter(t.Color, BODY_COLOR, "Color of point masses", shape=3, animation=True)
