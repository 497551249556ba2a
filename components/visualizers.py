"""Visualizers that models of the library carry (MultiBody.Visualizers 4.1).

They take no load.
"""

from __future__ import annotations

import math
from typing import Any

from mbfmu.components.animation import JOINT_COLOR, Animated, ShapeAnimation
from mbfmu.components.interfaces import PartialVisualizer
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.frames import normalize
from mbfmu.modeling import Parameter, RealInput
from mbfmu.modeling import types as t

ARROW_COLOR = (0, 0, 255)
BLACK = (0, 0, 0)
SURFACE_COLOR = (0, 128, 255)
TYRE_COLOR = (30, 30, 30)


class FixedShape(ShapeAnimation, PartialVisualizer):
    """Elementary shape with dynamically constant size and orientation, fixed to a frame."""

    modelica_name = "MultiBody.Visualizers.FixedShape"

    shapeType = Parameter(t.ShapeType, "box", "Type of shape", animation=True)
    lengthDirection = Parameter(
        t.Axis, (1, 0, 0), "Vector in length direction of shape, resolved in frame_a", shape=3, animation=True
    )
    length = Parameter(t.Length, 1.0, "Length of shape", animation=True)
    width = Parameter(t.Distance, 0.1, "Width of shape", animation=True)
    color = Parameter(t.Color, SURFACE_COLOR, "Color of shape", shape=3, animation=True)


class FixedShape2(FixedTranslation):
    """Elementary shape with two frames: a massless rod along r."""

    modelica_name = "MultiBody.Visualizers.FixedShape2"

    r = Parameter(t.Position, (1, 0, 0), "Vector from frame_a to frame_b resolved in frame_a", shape=3)


class FixedFrame(Animated, PartialVisualizer):
    """Coordinate system at a frame."""

    modelica_name = "MultiBody.Visualizers.FixedFrame"

    showLabels = Parameter(t.Boolean, True, "= true, if labels shall be shown", animation=True)
    length = Parameter(t.Distance, 0.5, "Length of axes arrows", animation=True)
    diameter = Parameter(
        t.Distance,
        lambda self: self.length / self.world.defaultFrameDiameterFraction,
        "Diameter of axes arrows",
        animation=True,
    )
    color_x = Parameter(t.Color, BLACK, "Color of x-arrow", shape=3, animation=True)
    color_y = Parameter(t.Color, lambda self: self.color_x, "Color of y-arrow", shape=3, animation=True)
    color_z = Parameter(t.Color, lambda self: self.color_x, "Color of z-arrow", shape=3, animation=True)

    def visualize(self: Any) -> None:
        colors = self.color_x, self.color_y, self.color_z
        self.draw_axes(self.length, self.diameter, self.frame_a, colors=colors, labels=self.showLabels)


class _Arrow(Animated, PartialVisualizer):
    """Arrow that starts at r_tail."""

    r_tail = Parameter(
        t.Position, (0, 0, 0), "Vector from frame_a to arrow tail, resolved in frame_a", shape=3, animation=True
    )
    diameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of arrow line", animation=True
    )
    color = Parameter(t.Color, ARROW_COLOR, "Color of arrow", shape=3, animation=True)

    def draw_head(self: Any, r_head: Any) -> None:
        """Draw the arrow over the vector r_head [m], resolved in frame_a."""
        self.draw_arrow("arrow", r_head, self.diameter, self.frame_a, r_tail=self.r_tail, color=self.color)


class FixedArrow(_Arrow):
    """Arrow of constant size and direction, fixed to a frame."""

    modelica_name = "MultiBody.Visualizers.FixedArrow"

    n = Parameter(t.Axis, (1, 0, 0), "Vector in arrow direction, resolved in frame_a", shape=3, animation=True)
    length = Parameter(t.Length, 0.1, "Length of complete arrow", animation=True)

    def visualize(self) -> None:
        self.draw_head(normalize(self.n) * self.length)


class SignalArrow(_Arrow):
    """Arrow whose direction and length a signal gives."""

    modelica_name = "MultiBody.Visualizers.SignalArrow"

    r_head = RealInput("Position vector from origin of frame_a to head of arrow, resolved in frame_a", shape=3)

    def visualize(self) -> None:
        self.draw_head(self.r_head)


class Rectangle(Animated, PartialVisualizer):
    """Planar rectangular surface."""

    modelica_name = "MultiBody.Visualizers.Rectangle"

    direction_u = Parameter(
        t.Axis, (1, 0, 0), "Vector along u-axis of rectangle resolved in frame_a", shape=3, animation=True
    )
    direction_v = Parameter(
        t.Axis, (0, 1, 0), "Vector along v-axis of rectangle resolved in frame_a", shape=3, animation=True
    )
    length_u = Parameter(t.Distance, 3.0, "Length of rectangle in direction u", animation=True)
    length_v = Parameter(t.Distance, 1.0, "Length of rectangle in direction v", animation=True)
    nu = Parameter(t.Integer, 3, "Number of points in direction u", min=2, animation=True)
    nv = Parameter(t.Integer, 2, "Number of points in direction v", min=2, animation=True)
    wireframe = Parameter(t.Boolean, False, "= true: 3D model will be displayed without faces", animation=True)
    color = Parameter(t.Color, SURFACE_COLOR, "Color of surface", shape=3, animation=True)
    transparency = Parameter(
        t.Real, 0.0, "Transparency of shape: 0 (= opaque) ... 1 (= fully transparent)", animation=True
    )

    def visualize(self: Any) -> None:
        self.draw_shape(
            "surface",
            "rectangle",
            self.frame_a,
            lengthDirection=self.direction_u,
            widthDirection=self.direction_v,
            length=self.length_u,
            width=self.length_v,
            extra=(self.nu, self.nv, float(self.wireframe), self.transparency),
            color=self.color,
        )


class Torus(Animated, PartialVisualizer):
    """Torus about the y-axis of a frame."""

    modelica_name = "MultiBody.Visualizers.Torus"

    ri = Parameter(t.Radius, 0.5, "Inner radius of torus", animation=True)
    ro = Parameter(t.Radius, 0.1, "Outer radius of torus (= width/2)", animation=True)
    opening = Parameter(t.Angle, 0.0, "Opening angle of torus", animation=True)
    startAngle = Parameter(t.Angle, -math.pi, "Start angle of torus slice", animation=True)
    stopAngle = Parameter(t.Angle, math.pi, "End angle of torus slice", animation=True)
    color = Parameter(t.Color, SURFACE_COLOR, "Color of surface", shape=3, animation=True)

    def visualize(self: Any) -> None:
        form = self.ri, self.ro, self.opening, self.startAngle, self.stopAngle
        self.draw_shape("surface", "torus", self.frame_a, length=1, width=1, extra=form, color=self.color)


class VoluminousWheel(Animated, PartialVisualizer):
    """Wheel with rounded tyre about the y-axis of a frame."""

    modelica_name = "MultiBody.Visualizers.VoluminousWheel"

    rTire = Parameter(t.Radius, 0.25, "Radius of tire", animation=True)
    rRim = Parameter(t.Radius, 0.14, "Radius of rim", animation=True)
    width = Parameter(t.Distance, 0.25, "Width of tire", animation=True)
    rCurvature = Parameter(t.Radius, 0.30, "Radius of the curve of the cross section", animation=True)
    color = Parameter(t.Color, TYRE_COLOR, "Color of tire", shape=3, animation=True)
    rimColor = Parameter(t.Color, JOINT_COLOR, "Color of rim", shape=3, animation=True)

    def visualize(self: Any) -> None:
        form = self.rTire, self.rRim, self.width, self.rCurvature
        self.draw_shape("tire", "tire", self.frame_a, length=1, width=1, extra=form, color=self.color)
        self.draw_shape(
            "rim",
            "pipe",
            self.frame_a,
            r_shape=(0, -self.width / 2, 0),
            lengthDirection=(0, 1, 0),
            widthDirection=(1, 0, 0),
            length=self.width,
            width=2 * self.rRim,
            extra=0.9,
            color=self.rimColor,
        )


__all__ = [
    "FixedArrow",
    "FixedFrame",
    "FixedShape",
    "FixedShape2",
    "Rectangle",
    "SignalArrow",
    "Torus",
    "VoluminousWheel",
]
