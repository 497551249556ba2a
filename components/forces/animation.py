"""What forces look like: animation parameters of the library, each declared once, and the shapes drawn from them."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import BODY_COLOR, FORCE_COLOR, ROD_COLOR, SENSOR_COLOR, Animated
from mbfmu.modeling import Component, Parameter
from mbfmu.modeling import types as t

SPRING_COLOR = (0, 0, 255)
DAMPER_COLOR = (100, 100, 100)


class ForceScale(Animated):
    """How long the arrow of a force is."""

    N_to_m = Parameter(
        t.Real, lambda self: self.world.defaultN_to_m, "Force arrow scaling (length = force/N_to_m)", animation=True
    )

    def draw_force(self: Any, name: str, f: Any, diameter: Any, color: Any) -> None:
        """Draw the arrow of a force f [N], resolved in frame_b, that ends there."""
        about: Any = {"headAtOrigin": True, "quantity": "Force", "coordinates": f}
        self.draw_arrow(name, f / self.N_to_m, diameter, self.frame_b, color=color, **about)


class TorqueScale(Animated):
    """How long the double arrow of a torque is."""

    Nm_to_m = Parameter(
        t.Real, lambda self: self.world.defaultNm_to_m, "Torque arrow scaling (length = torque/Nm_to_m)", animation=True
    )

    def draw_torque(self: Any, name: str, t: Any, diameter: Any, color: Any) -> None:
        """Draw the double arrow of a torque t [N.m], resolved in frame_b, that ends there."""
        about: Any = {"headAtOrigin": True, "quantity": "Torque", "coordinates": t, "heads": 2}
        self.draw_arrow(name, t / self.Nm_to_m, diameter, self.frame_b, color=color, **about)


class ForceArrow(ForceScale):
    """Arrow along a force: what acts on the part at frame_b."""

    forceDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of force arrow", animation=True
    )
    forceColor = Parameter(t.Color, FORCE_COLOR, "Color of force arrow", shape=3, animation=True)

    def visualize(self: Any) -> None:
        super().visualize()
        self.draw_force("forceArrow", -self.frame_b.f, self.forceDiameter, self.forceColor)


class TorqueArrow(TorqueScale):
    """Double arrow along a torque: what acts on the part at frame_b."""

    torqueDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of torque arrow", animation=True
    )
    torqueColor = Parameter(t.Color, FORCE_COLOR, "Color of torque arrow", shape=3, animation=True)

    def visualize(self: Any) -> None:
        super().visualize()
        self.draw_torque("torqueArrow", -self.frame_b.t, self.torqueDiameter, self.torqueColor)


class SingleArrow(Animated):
    """The only arrow of a component."""

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

    def visualize(self: Any) -> None:
        super().visualize()
        r = self.frame_b.r_0 - self.frame_a.r_0
        self.draw_shape(
            "connectionLine",
            "cylinder",
            r=self.frame_a.r_0,
            lengthDirection=r,
            length=ca.norm_2(r),
            width=self.connectionLineDiameter,
            color=self.connectionLineColor,
        )


class CoilShape(Animated):
    """Coil of a spring."""

    width = Parameter(t.Distance, lambda self: self.world.defaultForceWidth, "Width of spring", animation=True)
    coilWidth = Parameter(t.Distance, lambda self: self.width / 10, "Width of spring coil", animation=True)
    numberOfWindings = Parameter(t.Integer, 5, "Number of spring windings", animation=True)
    color = Parameter(t.Color, SPRING_COLOR, "Color of spring", shape=3, animation=True)

    def draw_coil(self: Any, begin: Any, length: Any) -> None:
        """Draw the coil on the line from frame_a, over a length from a distance `begin` on [m]."""
        self.draw_shape(
            "springShape",
            "spring",
            self.frame_a,
            r_shape=self.e_a * begin,
            lengthDirection=self.e_a,
            length=length,
            width=self.width,
            height=2 * self.coilWidth,
            extra=self.numberOfWindings,
            color=self.color,
        )


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

    def draw_cylinders(self: Any, length: Any) -> None:
        """Draw both cylinders on the line from frame_a, over a length [m] in all."""
        inner = ca.fmin(self.length_a, length)
        for name, begin, own, width, color in (
            ("shape_a", 0, inner, self.diameter_a, self.color_a),
            ("shape_b", inner, ca.fmax(length - self.length_a, 0), self.diameter_b, self.color_b),
        ):
            self.draw_shape(
                name,
                "cylinder",
                self.frame_a,
                r_shape=self.e_a * begin,
                lengthDirection=self.e_a,
                length=own,
                width=width,
                color=color,
            )


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

    def visualize(self: Any) -> None:
        line: Any = {"r": self.frame_a.r_0, "lengthDirection": self.e_rel_0}
        if self.animateLine:
            self.draw_shape(
                "shape",
                self.lineShapeType,
                length=self.length,
                width=self.lineShapeWidth,
                height=self.lineShapeHeight,
                extra=self.lineShapeExtra,
                color=self.lineShapeColor,
                **line,
            )
        if self.animateMass and self.is_positive("m"):
            d = self.massDiameter
            at = self.e_rel_0 * (self.length * self.lengthFraction - d / 2)
            self.draw_shape("sphere", "sphere", r_shape=at, length=d, width=d, color=self.massColor, **line)


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

    def visualize(self: Any) -> None:
        if not self.animate:
            return
        inner, d = self.diameterFraction * self.cylinderDiameter_a, self.massDiameterFaction * self.cylinderDiameter_a
        for end, frame, e, width, at in (
            ("a", self.frame_a, self.e_rel_0, self.cylinderDiameter_a, self.L_a),
            ("b", self.frame_b, -self.e_rel_0, inner, self.L_b),
        ):
            line: Any = {"r": frame.r_0, "lengthDirection": e}
            length, color = getattr(self, f"cylinderLength_{end}"), getattr(self, f"color_{end}")
            self.draw_shape(f"cylinder_{end}", "cylinder", length=length, width=width, color=color, **line)
            if self.animateMasses and self.is_positive(f"m_{end}"):
                r_shape = e * (at - d / 2)
                self.draw_shape(
                    f"sphere_{end}", "sphere", r_shape=r_shape, length=d, width=d, color=self.massColor, **line
                )
