"""Geometry that may touch: what a shape is, where it is nearest to a plane, and how far a point is from it.

A geometry stands at a frame and carries no load; a Contact names two of them. What pairs can be told in closed form is
said in `mbfmu.components.contact.pairs`, from the two methods that a shape may have:

- `lowest(n)`: the balls of which the shape is the convex hull, as far as they can touch a plane with the normal n;
- `distance(p)`: signed distance of a point from the surface, with its gradient;

and from what else convex shapes have: `balls()`, those of which they are the hull wherever others are, and `core`, the
polytope, line or point around which all points at a distance are the shape.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from itertools import product
from typing import Any

import casadi as ca

from mbfmu.components.animation import Animated, draw_sphere
from mbfmu.components.contact.cylinders import Barrel
from mbfmu.components.contact.laws import SHORT
from mbfmu.components.interfaces import PartialOneFrame_a, guarded_length
from mbfmu.errors import ModelError
from mbfmu.frames import from_nxy, normalize
from mbfmu.modeling import Frame_a, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final, Parameter, is_expression

SHAPE_COLOR = (0, 128, 255)
GROUND_COLOR = (160, 160, 150)
#: Edges of a box are rounded by this part of half its least side.
ROUNDING = 0.05
#: Edges of so many directions have their middles looked at.
FEW = 12
#: Rounds in which the nearest point of an ellipsoid is found, of flat discs and needles, too, and how near the plane
#: across its least axis it is looked for, of what lies deep inside.
ROUNDS, INSIDE = 20, 1e-3

#: Balls as (centre [m], radius [m]), resolved in the geometry's frame.
Balls = list[tuple[Any, Any]]


#: Edges of one direction: that, a unit vector (3,), their middles [m], (3,) each, and half their length [m].
Edges = list[tuple[Any, list[Any], Any]]


@dataclasses.dataclass(frozen=True)
class Core:
    """What a rounded convex shape is without its radius: all points no farther than that from it are the shape.

    `corners` [m], (3,) each, and `edges` are resolved in the geometry's frame, counted from the middle of the shape, as
    are the outward `normals` of its faces and some points `inner` of it; `distance` is the signed distance of a point
    from the core, as that of a Geometry.
    """

    corners: list[Any]
    edges: Edges
    radius: Any
    distance: Callable[[Any], tuple[Any, Any]]
    normals: list[Any] = dataclasses.field(default_factory=list)
    inner: list[Any] = dataclasses.field(default_factory=list)

    def __post_init__(self) -> None:
        """Points inside are the middle, and those of edges where these are few."""
        if not self.inner:
            middles = [middle for _, middles, _ in self.edges for middle in middles] if len(self.edges) <= FEW else []
            self.inner.extend([sum(self.corners) / len(self.corners), *middles])


class Geometry(Animated, PartialOneFrame_a):
    """Shape at a frame that may touch others: a Contact says which, and by which law."""

    frame_a = Frame_a("Coordinate system fixed to the body that has this shape", needed=True)
    r = Parameter(t.Position, (0, 0, 0), "Vector from frame_a to the middle of the shape, resolved in frame_a", shape=3)
    color = Parameter(t.Color, SHAPE_COLOR, "Color of shape", shape=3, animation=True)

    #: True where all normal sections have one radius, so that Hertz's circular contact holds.
    is_round = False
    #: True where its corners are too many to have friction each.
    in_patches = False

    def equations(self: Any) -> None:
        """No load: contacts act on the frame themselves."""
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]

    @property
    def size(self) -> Any:
        """Depth [m] to which others may go in before they come out on the other side; None where there is none."""
        raise NotImplementedError(f"{type(self).__name__} must define size")

    @property
    def core(self) -> Core | None:
        """The core of a shape that has corners and edges that are rounded; None where it has none."""
        return None

    def lowest(self, n: Any) -> Balls | None:
        """Balls that touch a plane with the unit normal n, resolved in frame_a; None where that is not known."""
        return None

    def balls(self) -> Balls | None:
        """Balls of which the shape is the convex hull; None where it is not that of some."""
        return None

    def distance(self, p: Any) -> tuple[Any, Any] | None:
        """Signed distance [m] of a point p [m] from the surface and its gradient (3,); None where not known.

        p is counted from the middle of the shape and resolved in frame_a, as the gradient is.
        """
        return None


class Sphere(Geometry):
    """Sphere about a point of a frame."""

    modelica_name = "Contact.Sphere"

    radius = Parameter(t.Radius, required, "Radius of sphere", nonzero=True)

    is_round = True

    @property
    def size(self) -> Any:
        return self.radius

    def balls(self) -> Balls:
        return [(ca.SX.zeros(3), self.radius)]

    def lowest(self, n: Any) -> Balls:
        return self.balls()

    def distance(self, p: Any) -> tuple[Any, Any]:
        length = guarded_length(p, SHORT)
        return length - self.radius, p / length

    def visualize(self: Any) -> None:
        draw_sphere(self, "sphere", self.frame_a, 2 * self.radius, self.color, self.r)


class Plane(Geometry):
    """Plane through a point of a frame: all that lies on the side from which n points away is solid."""

    modelica_name = "Contact.Plane"

    n = Parameter(t.Axis, (0, 0, 1), "Normal that points out of the solid, resolved in frame_a", shape=3)
    e = Final(t.Axis, lambda self: normalize(self.n), "Unit vector along n", shape=3)
    length = Parameter(t.Length, 1.0, "Length of the rectangle that is drawn", animation=True)
    width = Parameter(t.Length, lambda self: self.length, "Width of the rectangle that is drawn", animation=True)
    lengthDirection = Parameter(
        t.Axis,
        lambda self: (1, 0, 0) if abs(float(self.e[0])) < 0.9 else (0, 1, 0),
        "Direction along which its length is drawn, as near as the plane allows, resolved in frame_a",
        shape=3,
        animation=True,
    )
    color = Parameter(t.Color, GROUND_COLOR, "Color of shape", shape=3, animation=True)

    is_round = True
    #: What is drawn is a part of something without end: views and sizes of axes and arrows do not go by it.
    is_scenery = True

    @property
    def size(self) -> Any:
        return None

    def distance(self, p: Any) -> tuple[Any, Any]:
        e = ca.DM(self.e)
        return ca.dot(e, p), ca.SX(e)

    def visualize(self: Any) -> None:
        thickness = self.length / 100
        self.draw_shape(
            "plane",
            "box",
            self.frame_a,
            r_shape=[self.r[i] - self.e[i] * thickness for i in range(3)],
            lengthDirection=self.e,
            widthDirection=self.lengthDirection,
            length=thickness,
            width=self.length,
            height=self.width,
            color=self.color,
        )


class _Oblong(Geometry):
    """Shape with an axis."""

    n = Parameter(t.Axis, (0, 0, 1), "Axis of the shape, resolved in frame_a", shape=3)
    e = Final(t.Axis, lambda self: normalize(self.n), "Unit vector along n", shape=3)
    radius = Parameter(t.Radius, required, "Radius across the axis", nonzero=True)

    @property
    def size(self) -> Any:
        return self.radius


class Capsule(_Oblong):
    """Cylinder with half a sphere at either end."""

    modelica_name = "Contact.Capsule"

    length = Parameter(t.Length, required, "Length between the centres of both half spheres", min=0, nonzero=True)

    def balls(self) -> Balls:
        return [(sign * self.length / 2 * ca.DM(self.e), self.radius) for sign in (1, -1)]

    def lowest(self, n: Any) -> Balls:
        return self.balls()

    def distance(self, p: Any) -> tuple[Any, Any]:
        distance, slope = self._from_axis(p)
        return distance - self.radius, slope

    @property
    def core(self) -> Core:
        ends = [ball for ball, _ in self.balls()]
        return Core(ends, [(ca.DM(self.e), [ca.SX.zeros(3)], self.length / 2)], self.radius, self._from_axis)

    def _from_axis(self, p: Any) -> tuple[Any, Any]:
        e = ca.DM(self.e)
        along = ca.fmax(-self.length / 2, ca.fmin(self.length / 2, ca.dot(p, e)))
        across = p - along * e
        length = guarded_length(across, SHORT)
        return length, across / length

    def visualize(self: Any) -> None:
        for name, sign in (("first", 1), ("last", -1)):
            end = [self.r[i] + sign * self.length / 2 * self.e[i] for i in range(3)]
            draw_sphere(self, name, self.frame_a, 2 * self.radius, self.color, end)
        _draw_cylinder(self, self.length)


class Cylinder(_Oblong):
    """Cylinder with flat ends, or a disc.

    On a plane it stands or rolls on two balls of its ends: thin ellipsoids, so that a flat end that lies on a plane has
    a point that moves steadily as the cylinder tilts. `crown` is their height over the radius: the rim is that much
    lower than the middle of the end, and the end has the radius of curvature radius/crown. Between bodies with edges,
    its rims are rounded by `rounding`, within its surface.
    """

    modelica_name = "Contact.Cylinder"

    length = Parameter(t.Length, required, "Length between both ends", min=0, nonzero=True)
    crown = Parameter(t.Dimensionless, 1e-3, "Height by which the ends are crowned over the radius", min=1e-6, max=1)
    rounding = Parameter(
        t.Radius,
        lambda self: ROUNDING * ca.fmin(self.radius, self.length / 2),
        "Radius of rims, as boxes, capsules, cylinders, meshes and ellipsoids meet them; all else meets them sharp",
        nonzero=True,
    )

    def check_values(self) -> None:
        super().check_values()
        _check_rounding(self, "the radius, or half the length,", [self.value("radius"), self.value("length") / 2])

    def equations(self: Any) -> None:
        super().equations()
        self.require(
            ca.fmin(self.radius, self.length / 2) > self.rounding,
            "rounding is the radius, or half the length, or more; give a smaller one",
        )

    @property
    def barrel(self) -> Barrel:
        """What is left within the rounding, about the middle."""
        widest, highest = self.radius - self.rounding, self.length / 2 - self.rounding
        crown = ca.fmin(self.crown * self.radius, ca.fmin(widest, highest) / 2)
        return Barrel(ca.DM(self.e), widest - crown, highest - crown, crown)

    @property
    def core(self) -> Core:
        barrel = self.barrel
        return Core([], [], self.rounding, barrel.distance, inner=[part * barrel.h * barrel.e for part in (-1, 0, 1)])

    def lowest(self, n: Any) -> Balls:
        e = ca.DM(self.e)
        height = self.crown * self.radius
        along = ca.dot(n, e)
        half_axes_squared = self.radius**2 * (n - along * e) + height**2 * along * e
        rim = -half_axes_squared / ca.sqrt(ca.dot(n, half_axes_squared))
        return [(sign * (self.length / 2 - height) * e + rim, 0.0) for sign in (1, -1)]

    def distance(self, p: Any) -> tuple[Any, Any]:
        e = ca.DM(self.e)
        along = ca.dot(p, e)
        across = p - along * e
        out = across / guarded_length(across, SHORT)
        beyond = ca.vertcat(ca.dot(p, out) - self.radius, ca.fabs(along) - self.length / 2)
        distance, slope = _outside_or_inside(beyond)
        return distance, slope[0] * out + slope[1] * ca.if_else(along < 0, -1, 1) * e

    def visualize(self: Any) -> None:
        _draw_cylinder(self, self.length)


class _Blocks(Geometry):
    """Shape with three axes of its own: x along lengthDirection, y along widthDirection, z across both."""

    lengthDirection = Parameter(t.Axis, (1, 0, 0), "Direction of length, resolved in frame_a", shape=3)
    widthDirection = Parameter(t.Axis, (0, 1, 0), "Direction of width, resolved in frame_a", shape=3)
    length = Parameter(t.Length, required, "Size along lengthDirection", min=0, nonzero=True)
    width = Parameter(t.Length, lambda self: self.length, "Size along widthDirection", min=0, nonzero=True)
    height = Parameter(t.Length, lambda self: self.width, "Size across both", min=0, nonzero=True)

    @property
    def half(self) -> Any:
        """Half the sizes [m], (3,)."""
        return ca.vertcat(self.length, self.width, self.height) / 2

    @property
    def size(self) -> Any:
        return ca.mmin(self.half)

    @property
    def T(self) -> Any:
        """Transformation from frame_a to the axes of the shape, (3, 3)."""
        return ca.DM(from_nxy(self.lengthDirection, self.widthDirection).T)


class Box(_Blocks):
    """Box about a point of a frame.

    Between bodies with edges, its edges and corners are rounded by `rounding`, within its faces.
    """

    modelica_name = "Contact.Box"

    rounding = Parameter(
        t.Radius,
        lambda self: ROUNDING * ca.mmin(self.half),
        "Radius of edges and corners, as boxes, capsules and meshes meet them; all else meets them sharp",
        nonzero=True,
    )

    def check_values(self) -> None:
        super().check_values()
        _check_rounding(self, "half the least side", [self.value(name) / 2 for name in ("length", "width", "height")])

    def equations(self: Any) -> None:
        super().equations()
        self.require(ca.mmin(self.half) > self.rounding, "rounding is half the least side or more; give a smaller one")

    def balls(self) -> Balls:
        return [(corner, 0.0) for corner in self._corners(self.half)]

    def lowest(self, n: Any) -> Balls:
        return self.balls()

    def distance(self, p: Any) -> tuple[Any, Any]:
        return self._distance(p, self.half)

    @property
    def core(self) -> Core:
        half, T = self.half - self.rounding, self.T
        edges = []
        for k in range(3):
            across = [signs for signs in product((1, -1), repeat=3) if signs[k] == 1]
            middles = [ca.mtimes(T.T, half * ca.DM([0 if i == k else signs[i] for i in range(3)])) for signs in across]
            edges.append((T[k, :].T, middles, half[k]))
        normals = [sign * T[k, :].T for k in range(3) for sign in (1, -1)]
        return Core(self._corners(half), edges, self.rounding, lambda p: self._distance(p, half), normals)

    def _corners(self, half: Any) -> list[Any]:
        return [ca.mtimes(self.T.T, half * ca.DM(signs)) for signs in product((1, -1), repeat=3)]

    def _distance(self, p: Any, half: Any) -> tuple[Any, Any]:
        own = ca.mtimes(self.T, p)
        distance, slope = _outside_or_inside(ca.fabs(own) - half)
        return distance, ca.mtimes(self.T.T, slope * ca.if_else(own < 0, -1, 1))

    def visualize(self: Any) -> None:
        _draw_block(self, "box", "box")


class Ellipsoid(_Blocks):
    """Ellipsoid about a point of a frame, with the axes length, width and height."""

    modelica_name = "Contact.Ellipsoid"

    def lowest(self, n: Any) -> Balls:
        return [(-self.support(n), 0.0)]

    def support(self, n: Any) -> Any:
        """The point [m], (3,), that lies farthest along n; both are resolved in frame_a, about the middle."""
        return ca.mtimes(self.T.T, self.half**2 * ca.mtimes(self.T, n)) / self.reach(n)

    def reach(self, n: Any) -> Any:
        """How far [m] it reaches from its middle along n, a unit vector resolved in frame_a."""
        return guarded_length(self.half * ca.mtimes(self.T, n), SHORT)

    @property
    def least_radius(self) -> Any:
        """Least radius of curvature [m]."""
        return ca.mmin(self.half) ** 2 / ca.mmax(self.half)

    def distance(self, p: Any) -> tuple[Any, Any]:
        """As of any Geometry; the nearest point of p is where x = a^2 p / (a^2 + s) has sum((x/a)^2) = 1.

        The greatest such s is found from below, where the root of that sum is nearly a hyperbola in s (Hebden's
        iteration; Eberly, Distance from a Point to an Ellipse, an Ellipsoid, or a Hyperellipsoid). A point inside that
        is further from the surface than its least radius of curvature has no distance of its own.
        """
        own, squares = ca.mtimes(self.T, p), self.half**2
        least = -(1 - INSIDE) * ca.mmin(squares)
        s = ca.fmax(least, ca.mmax(self.half * ca.fabs(own) - squares))
        s = ca.fmax(s, guarded_length(self.half * own, SHORT) - ca.mmax(squares))
        for _ in range(ROUNDS):
            parts = (self.half * own / (squares + s)) ** 2
            total, slope = ca.sum1(parts) + SHORT**2, ca.sum1(parts / (squares + s)) + SHORT**2
            s = ca.fmax(least, s + (ca.sqrt(total) - 1) * total / slope)
        out = own / (squares + s)
        length = guarded_length(out, SHORT)
        return s * length, ca.mtimes(self.T.T, out / length)

    def visualize(self: Any) -> None:
        _draw_block(self, "ellipsoid", "sphere")


def _check_rounding(self: Geometry, least: str, sizes: list[Any]) -> None:
    """Refuse a rounding that leaves nothing of a shape, where it and the least of its sizes are known."""
    radius, known = self.value("rounding"), [size for size in sizes if not is_expression(size)]
    if known and not is_expression(radius) and radius >= min(known):
        raise ModelError(f"{self.where}.rounding = {radius:g}: {least} is {min(known):g} m; give a smaller one")


def _draw_block(self: Any, name: str, shape: str) -> None:
    """Draw a shape of the sizes and directions of a block, about its middle."""
    along = normalize(self.lengthDirection)
    self.draw_shape(
        name,
        shape,
        self.frame_a,
        r_shape=[self.r[i] - along[i] * self.length / 2 for i in range(3)],
        lengthDirection=self.lengthDirection,
        widthDirection=self.widthDirection,
        length=self.length,
        width=self.width,
        height=self.height,
        color=self.color,
    )


def _draw_cylinder(self: Any, length: Any) -> None:
    """Draw a cylinder about the middle of an oblong shape."""
    self.draw_shape(
        "cylinder",
        "cylinder",
        self.frame_a,
        r_shape=[self.r[i] - self.e[i] * length / 2 for i in range(3)],
        lengthDirection=self.e,
        length=length,
        width=2 * self.radius,
        color=self.color,
    )


def _outside_or_inside(beyond: Any) -> tuple[Any, Any]:
    """Distance from a corner of faces, where `beyond` says how far a point lies beyond each [m], and its gradient.

    Outside it is the way to the nearest point of face, edge or corner, inside that to the nearest face.
    """
    out = ca.fmax(beyond, 0)
    length = guarded_length(out, SHORT)
    nearest = ca.mmax(beyond)
    first = beyond.numel()
    slope = ca.SX.zeros(first)
    for i in range(first):  # one face counts, the first of several that are equally near
        earlier = ca.sum1(slope[:i]) if i else 0
        slope[i] = ca.if_else(ca.logic_and(beyond[i] >= nearest, earlier < 0.5), 1, 0)
    is_outside = nearest > 0
    return ca.if_else(is_outside, length, nearest), ca.if_else(is_outside, out / length, slope)


__all__ = ["Box", "Capsule", "Cylinder", "Ellipsoid", "Plane", "Sphere"]
