"""Visualizers that models of the library carry (MultiBody.Visualizers 4.1).

They take no load.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import casadi as ca

from mbfmu.components.animation import Animated, ShapeAnimation
from mbfmu.components.interfaces import PartialVisualizer, Renamed
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.components.surfaces import pipe, rectangle, torus
from mbfmu.errors import ModelError
from mbfmu.frames import absolute_rotation, from_nxy
from mbfmu.modeling import Parameter, RealInput, required
from mbfmu.modeling import types as t

ARROW_COLOR = (0, 0, 255)
BLACK = (0, 0, 0)
SURFACE_COLOR = (0, 128, 255)
TIRE_COLOR = (64, 64, 64)
RED = (255, 0, 0)


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
    width = Parameter(t.Distance, 0.1, "Width of shape", animation=True)
    color = Parameter(t.Color, SURFACE_COLOR, "Color of shape", shape=3, animation=True)


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
    quantity = Parameter(
        t.VectorQuantity, "RelativePosition", "Kind of physical quantity represented by the vector", animation=True
    )
    headAtOrigin = Parameter(
        t.Boolean, False, "= true, if the vector is pointing towards the origin of vector frame", animation=True
    )

    def draw_vector(self: Any, coordinates: Any) -> None:
        """Draw the arrow of a vector, resolved in frame_a; the world scales forces and torques to lengths."""
        scale = {"Force": self.world.defaultN_to_m, "Torque": self.world.defaultNm_to_m}.get(self.quantity, 1.0)
        self.draw_arrow(
            "arrow",
            coordinates / scale,
            self.diameter,
            self.frame_a,
            r_tail=self.r_tail,
            headAtOrigin=bool(self.headAtOrigin),
            quantity=self.quantity,
            coordinates=coordinates,
            color=self.color,
        )


class FixedArrow(_Arrow):
    """Arrow of constant size and direction, fixed to a frame."""

    modelica_name = "MultiBody.Visualizers.FixedArrow"

    n = Parameter(t.Axis, (1, 0, 0), "Vector in arrow direction, resolved in frame_a", shape=3, animation=True)
    length = Parameter(t.Length, 0.1, "Length of complete arrow", animation=True)

    def visualize(self) -> None:
        self.draw_vector(self.n * self.length)


class SignalArrow(_Arrow):
    """Arrow whose direction and length a signal gives."""

    modelica_name = "MultiBody.Visualizers.SignalArrow"

    r_head = RealInput("Position vector from origin of frame_a to head of arrow, resolved in frame_a", shape=3)

    def visualize(self) -> None:
        self.draw_vector(self.r_head)


class _SurfaceLook(Animated):
    """What a surface is made of."""

    wireframe = Parameter(t.Boolean, False, "= true: 3D model will be displayed without faces", animation=True)
    color = Parameter(t.Color, SURFACE_COLOR, "Color of surface", shape=3, animation=True)
    specularCoefficient = Parameter(
        t.SpecularCoefficient, 0.7, "Reflection of ambient light (= 0: light is completely absorbed)", animation=True
    )
    transparency = Parameter(
        t.Real, 0.0, "Transparency of shape: 0 (= opaque) ... 1 (= fully transparent)", animation=True
    )

    def draw_points(self: Any, points: Any, frame: Any, **attributes: Any) -> None:
        """Draw the surface through points."""
        look = {"wireframe": self.wireframe, "color": self.color, "transparency": self.transparency}
        self.draw_surface("surface", points, frame, **look, **attributes)


class Surface(_SurfaceLook, PartialVisualizer):
    """Surface through points that a function gives.

    The function is `surfaceCharacteristic`: given on construction, `Surface(surfaceCharacteristic=f, nu=20, nv=20)`
    with f(nu, nv), or defined in a derived class, where it may take parameters, signals and `self.time`. It returns
    matrices X, Y, Z [m] of (nu, nv) numbers or expressions and, where multiColoredSurface is true, the colours of the
    points, 0 to 255, as an array (nu, nv, 3) or as matrices red, green and blue. `mbfmu.components.surfaces` has the
    library's own: `rectangle`, `torus`, `pipe`.

    In the library R and r_0 are inputs of a modifier; here frame_a gives them.
    """

    modelica_name = "MultiBody.Visualizers.Advanced.Surface"

    nu = Parameter(t.Integer, 2, "Number of points in u-Dimension", min=2, structural=True, animation=True)
    nv = Parameter(t.Integer, 2, "Number of points in v-Dimension", min=2, structural=True, animation=True)
    multiColoredSurface = Parameter(t.Boolean, False, "= true: Color is defined for each surface point", animation=True)
    color = Parameter(t.Color, RED, "Color of surface", shape=3, animation=True)

    def __init__(
        self, surfaceCharacteristic: Callable[[int, int], Sequence[Any]] | None = None, **modifiers: Any
    ) -> None:
        """`surfaceCharacteristic`: function (nu, nv) -> matrices X, Y, Z [m], and colours."""
        self._own_characteristic = surfaceCharacteristic
        super().__init__(**modifiers)

    def surfaceCharacteristic(self, nu: int, nv: int) -> Sequence[Any]:
        """Matrices X, Y, Z [m], (nu, nv) each, and colours where the surface has them.

        Raises:
            ModelError: the surface has no function of its own.
        """
        if self._own_characteristic is not None:
            return self._own_characteristic(nu, nv)
        raise ModelError(
            f"{self.where}: a Surface needs the function that gives its points; give surfaceCharacteristic=f, or "
            "define surfaceCharacteristic(self, nu, nv) in a derived class"
        )

    def visualize(self: Any) -> None:
        points = self.surfaceCharacteristic(int(self.nu), int(self.nv))
        self.draw_points(points, self.frame_a, multiColoredSurface=self.multiColoredSurface)


class Rectangle(_SurfaceLook, PartialVisualizer):
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
    nu = Parameter(t.Integer, 3, "Number of points in direction u", min=2, structural=True, animation=True)
    nv = Parameter(t.Integer, 2, "Number of points in direction v", min=2, structural=True, animation=True)

    def visualize(self: Any) -> None:
        R = absolute_rotation(self.frame_a.R, from_nxy(self.direction_u, self.direction_v))
        self.draw_points(rectangle(int(self.nu), int(self.nv), self.length_u, self.length_v), self.frame_a, R=R)


class Torus(_SurfaceLook, Renamed, PartialVisualizer):
    """Torus about the y-axis of a frame."""

    modelica_name = "MultiBody.Visualizers.Torus"
    other_names: ClassVar[Mapping[str, str]] = {"ri": "R", "ro": "r"}

    R = Parameter(t.Radius, 0.5, "Major radius (distance from center of torus to center of tube)", animation=True)
    r = Parameter(t.Radius, 0.1, "Minor radius (radius of tube)", animation=True)
    opening = Parameter(t.Angle, 0.0, "Opening angle of torus", animation=True)
    startAngle = Parameter(t.Angle, -math.pi, "Start angle of torus slice", animation=True)
    stopAngle = Parameter(t.Angle, math.pi, "End angle of torus slice", animation=True)
    n_R = Parameter(t.Integer, 40, "Number of points along major radius R", min=2, structural=True, animation=True)
    n_r = Parameter(t.Integer, 20, "Number of points along minor radius r", min=2, structural=True, animation=True)

    def visualize(self: Any) -> None:
        form = self.R, self.r, self.opening, self.startAngle, self.stopAngle
        self.draw_points(torus(int(self.n_R), int(self.n_r), *form), self.frame_a)


class VoluminousWheel(Animated, PartialVisualizer):
    """Wheel with rounded tire about the y-axis of a frame."""

    modelica_name = "MultiBody.Visualizers.VoluminousWheel"

    rTire = Parameter(t.Radius, 0.25, "Radius of the tire", animation=True)
    rRim = Parameter(t.Radius, 0.14, "Radius of the rim", animation=True)
    width = Parameter(t.Radius, 0.25, "Width of the tire", animation=True)
    rCurvature = Parameter(t.Radius, 0.30, "Radius of the tire's cross section", animation=True)
    color = Parameter(t.Color, TIRE_COLOR, "Color of tire", shape=3, animation=True)
    specularCoefficient = Parameter(
        t.SpecularCoefficient, 0.5, "Reflection of ambient light (= 0: light is completely absorbed)", animation=True
    )
    n_rTire = Parameter(t.Integer, 40, "Number of points along rTire", min=2, structural=True, animation=True)
    n_rCurvature = Parameter(t.Integer, 20, "Number of points along rCurvature", min=2, structural=True, animation=True)

    def visualize(self: Any) -> None:
        half = self.width / 2
        curvature = ca.fmax(self.rCurvature, half)  # its arc spans the whole width
        side, height = ca.asin(half / curvature), ca.sqrt(curvature**2 - half**2)
        inner = self.rTire - curvature
        edge = inner + height  # where tread and walls meet
        self.draw_shape(
            "pipe",
            "pipe",
            self.frame_a,
            r_shape=(0, -half, 0),
            lengthDirection=(0, 1, 0),
            widthDirection=(0, 0, 1),
            length=self.width,
            width=2 * edge,
            extra=ca.fmax(0, ca.fmin(self.rRim, edge)) / edge,
            color=self.color,
        )
        points = torus(int(self.n_rTire), int(self.n_rCurvature), inner, curvature, math.pi - side)
        self.draw_surface("torus", points, self.frame_a, color=self.color)


def _between(value: Any) -> Any:
    """A value, limited to 0 ... 1."""
    return ca.fmax(0, ca.fmin(1, value))


#: Red, green and blue, 0 to 1, over a position in the map, 0 to 1 (Visualizers.Colors.ColorMaps).
_COLOR_MAPS: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "jet": lambda x: tuple(_between(1.5 - ca.fabs(4 * x - middle)) for middle in (3, 2, 1)),
    "hot": lambda x: (_between(8 / 3 * x), _between(8 / 3 * x - 1), _between(4 * x - 3)),
    "gray": lambda x: (x, x, x),
    "spring": lambda x: (1, x, 1 - x),
    "summer": lambda x: (x, (1 + x) / 2, 0.4),
    "autumn": lambda x: (1, x, 0),
    "winter": lambda x: (0, x, 1 - x / 2),
}


class PipeWithScalarField(Animated, PartialVisualizer):
    """Pipe along the x-axis of a frame whose colours show values along it.

    In the library T is an input of a modifier; here it is a connector.
    """

    modelica_name = "MultiBody.Visualizers.PipeWithScalarField"

    rOuter = Parameter(t.Radius, required, "Outer radius of pipe", animation=True)
    length = Parameter(t.Length, required, "Length of pipe", animation=True)
    xsi = Parameter(
        t.Real,
        tuple(i / 11 for i in range(12)),
        "Relative positions along the pipe, ascending from 0 to 1",
        shape=None,
        min=0,
        max=1,
        structural=True,
        animation=True,
    )
    T = RealInput("Values at positions xsi*length (visualized by color)", shape=lambda self: (len(self.xsi),))
    T_min = Parameter(t.Real, required, "Value of T that corresponds to the first color of the map", animation=True)
    T_max = Parameter(t.Real, required, "Value of T that corresponds to the last color of the map", animation=True)
    colorMap = Parameter(t.ColorMap, "jet", "Color map", animation=True)
    n_colors = Parameter(t.Integer, 64, "Number of colors in the color map", min=2, animation=True)
    specularCoefficient = Parameter(t.SpecularCoefficient, 0.7, "Reflection of ambient light", animation=True)
    transparency = Parameter(
        t.Real, 0.0, "Transparency of shape: 0 (= opaque) ... 1 (= fully transparent)", animation=True
    )
    n_rOuter = Parameter(t.Integer, 30, "Number of points along outer radius", min=4, structural=True, animation=True)
    n_length = Parameter(t.Integer, 20, "Number of points along length", min=2, structural=True, animation=True)

    def visualize(self: Any) -> None:
        nu, nv = int(self.n_length), int(self.n_rOuter)
        colors = [self.color_at(i / (nu - 1)) for i in range(nu)]  # one around the pipe
        shades = [ca.vertcat(*(ca.SX(color[k]) * ca.SX.ones(1, nv) for color in colors)) for k in range(3)]
        points = pipe(nu, nv, self.rOuter, self.length)
        self.draw_surface(
            "surface", (*points, shades), self.frame_a, multiColoredSurface=True, transparency=self.transparency
        )

    def color_at(self: Any, position: float) -> Any:
        """Red, green and blue, 0 to 255, at a relative position: colours between those of the map are interpolated."""
        xsi = [float(x) for x in self.xsi]
        i = min(max(bisect.bisect_right(xsi, position) - 1, 0), len(xsi) - 2)
        share = (position - xsi[i]) / (xsi[i + 1] - xsi[i])
        value = self.T[i] * (1 - share) + self.T[i + 1] * share
        last = self.n_colors - 1
        at = _between((value - self.T_min) / (self.T_max - self.T_min)) * last
        lower = ca.fmin(ca.floor(at), last - 1)
        low, high = (_COLOR_MAPS[self.colorMap](color / last) for color in (lower, lower + 1))
        return [255 * (a + (at - lower) * (b - a)) for a, b in zip(low, high, strict=True)]


__all__ = [
    "FixedArrow",
    "FixedFrame",
    "FixedShape",
    "FixedShape2",
    "PipeWithScalarField",
    "Rectangle",
    "SignalArrow",
    "Surface",
    "Torus",
    "VoluminousWheel",
]
