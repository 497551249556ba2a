"""Pairs of shapes, and the points at which they touch.

Each gives gaps, normals and points as expressions, so that their derivatives are exact. Seven cases have all of them:
a plane and balls (corners, ends, rims) of which the other shape is the hull; a height field and such balls; a sphere
and the signed distance of its centre from the other shape; two capsules and the nearest points of their axes; two
rounded convex shapes: the corners of each and the core of the other, and all pairs of edges; a cylinder and corners,
edges and faces, or another cylinder (`cylinders`); an ellipsoid and a rounded shape or another ellipsoid, where they
are nearest (`ellipsoids`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca

from mbfmu.components.contact.cylinders import Rim
from mbfmu.components.contact.ellipsoids import near_core, near_smooth, smooth
from mbfmu.components.contact.geometry import (
    Balls,
    Box,
    Capsule,
    Core,
    Cylinder,
    Ellipsoid,
    Geometry,
    Plane,
    Sphere,
)
from mbfmu.components.contact.height_field import HeightField
from mbfmu.components.contact.laws import SHORT
from mbfmu.components.contact.mesh import ConvexMesh
from mbfmu.components.interfaces import guarded_length
from mbfmu.frames import Orientation, cross, null_rotation, resolve1, resolve2

#: Two edges count fully where the squared sine of their angle is more than this, and not at all where they are
#: parallel: then they have no nearest points of their own, and corners bear the load.
CROSSING = 1e-2
#: About how many operations a pair may take each time that it is looked at, and how many are those of a corner on a
#: plane, of a height of a grid, of a face or edge that a corner is near to, and of two edges.
MOST, ON_PLANE, OF_GRID, OF_FACE, OF_EDGES = 60_000, 40, 15, 100, 90
#: The same of an ellipsoid and a corner, of it and an edge, of a corner seen along a normal, and of two ellipsoids.
OF_CORNER, OF_EDGE, SEEN, OF_ELLIPSOIDS = 750, 600, 6, 13_000
#: The same of a cylinder and an edge, an ellipsoid, and another one; how many balls one lowest point is like.
OF_LINE, OF_CYLINDER, OF_CYLINDERS, ROLLING = 1_700, 21_000, 28_000, 2


@dataclasses.dataclass(frozen=True)
class Solid:
    """A geometry and where it is: its middle [m] and its orientation, in the world frame or another one."""

    geometry: Geometry
    middle: Any
    R: Orientation

    def place(self, p: Any) -> Any:
        """A point of the geometry [m] in that frame."""
        return self.middle + resolve1(self.R, p)

    def distance(self, p: Any, distance: Any) -> tuple[Any, Any]:
        """A distance of the geometry, of a point in that frame; its gradient is there, too."""
        found, slope = distance(resolve2(self.R, p - self.middle))
        return found, resolve1(self.R, slope)


@dataclasses.dataclass(frozen=True)
class Point:
    """A point where two shapes a and b may touch, resolved in the frame of their solids.

    `gap` [m] is negative where they overlap; the unit vector `normal` points from b to a; `place` [m] lies midway
    between the surfaces on their common normal. It counts by a `weight` from 0 to 1; where that depends on how the
    shapes are turned, `turn` is minus its gradient by the turn of a. Of a point that moves over a as that turns,
    `twist` [m] is the gradient of the gap by the turn of a, but for what place and normal say of it. Of a rim beside
    another cylinder, `normal` is the gradient of a gap that grows where the rim is not beside it: no unit vector.
    """

    gap: Any
    normal: Any
    place: Any
    weight: Any = 1.0
    turn: Any = None
    twist: Any = None

    def swapped(self) -> Point:
        """The same of b and a."""
        turn, twist = (None if one is None else -one for one in (self.turn, self.twist))
        return Point(self.gap, -self.normal, self.place, self.weight, turn, twist)


#: Points that share the friction at their centre of pressure; most patches have one point.
Patch = list[Point]


def patches(a: Solid, b: Solid) -> list[Patch] | None:
    """The points at which two solids may touch; None where they are not known."""
    found = _patches(a, b)
    if found is None:
        found = _patches(b, a)
        if found is not None:  # normals the other way round
            found = [[point.swapped() for point in patch] for patch in found]
    return found


def number_of_patches(a: Geometry, b: Geometry) -> int:
    """How many patches `patches` gives for two shapes; 0 where it knows none."""
    meshes = ConvexMesh | HeightField
    if is_rounded(a, b) or is_ellipsoidal(a, b) or isinstance(a, meshes) or isinstance(b, meshes):
        return _number(a, b) or _number(b, a)
    kinds = type(a), type(b)
    if kinds not in _NUMBERS:
        found = patches(*(Solid(geometry, ca.SX.zeros(3), null_rotation()) for geometry in (a, b)))
        _NUMBERS[kinds] = len(found or ())
    return _NUMBERS[kinds]


#: What number_of_patches has found, by classes.
_NUMBERS: dict[tuple[type, type], int] = {}


def _number(a: Geometry, b: Geometry) -> int:
    """As number_of_patches, in one order, of shapes whose points take long to write."""
    if isinstance(b, HeightField):
        if isinstance(a, HeightField):
            return 0
        return 1 if a.in_patches else len(a.balls() or ()) or _lowest_points(a)
    ends = isinstance(a, Plane | Sphere) and isinstance(b, ConvexMesh)
    return int(ends or is_rounded(a, b) or is_ellipsoidal(a, b))


def operations(a: Geometry, b: Geometry) -> int:
    """About how many operations a pair takes that may take many; those of other pairs are few."""
    for one, other in ((a, b), (b, a)):
        if isinstance(other, HeightField):
            balls = len(one.balls() or ()) or _lowest_points(one) * ROLLING
            return OF_GRID * balls * max(other.nodes, 1)
        if isinstance(one, ConvexMesh) and isinstance(other, Plane):
            return ON_PLANE * len(one.polytope.corners)
        if isinstance(one, ConvexMesh) and isinstance(other, Sphere):
            return OF_FACE * _features(one)
    if is_ellipsoidal(a, b):
        cornered = [shape for shape in (a, b) if not isinstance(shape, Ellipsoid | Cylinder)]
        if not cornered:
            return OF_CYLINDER if isinstance(a, Cylinder) or isinstance(b, Cylinder) else OF_ELLIPSOIDS
        return sum(_beside_ellipsoid(shape) for shape in cornered)
    if not is_rounded(a, b):
        return 0
    round_a, round_b = (isinstance(shape, Cylinder) for shape in (a, b))
    if round_a and round_b:
        return OF_CYLINDERS
    if round_a or round_b:
        return _beside_cylinder(b if round_a else a)
    (corners_a, edges_a), (corners_b, edges_b) = (_corners_and_edges(shape) for shape in (a, b))
    return OF_FACE * (corners_a * _features(b) + corners_b * _features(a)) + OF_EDGES * edges_a * edges_b


def _beside_ellipsoid(shape: Geometry) -> int:
    """Operations of an ellipsoid and a rounded shape."""
    corners, edges = _corners_and_edges(shape)
    return OF_CORNER * corners + OF_EDGE * edges + SEEN * corners * (corners + edges + _faces(corners, edges))


def _beside_cylinder(shape: Geometry) -> int:
    """Operations of a cylinder and a rounded shape."""
    corners, edges = _corners_and_edges(shape)
    rims = 2 * _faces(corners, edges)
    return OF_FACE * (corners + rims * (1 + _features(shape))) + OF_LINE * edges


def _faces(corners: int, edges: int) -> int:
    """How many faces a polytope has (Euler)."""
    return edges - corners + 2 if edges > 1 else 0


def _features(shape: Geometry) -> int:
    """Faces and edges that a distance from a shape looks at."""
    return len(shape.polytope.faces) + len(shape.polytope.edges) if isinstance(shape, ConvexMesh) else 1


def _corners_and_edges(shape: Geometry) -> tuple[int, int]:
    if isinstance(shape, ConvexMesh):
        return len(shape.polytope.corners), len(shape.polytope.edges)
    return (8, 12) if isinstance(shape, Box) else (2, 1)


def is_rounded(a: Geometry, b: Geometry) -> bool:
    """True where two shapes touch with edges and corners that are rounded."""
    kinds = Box | ConvexMesh | Capsule | Cylinder
    return isinstance(a, kinds) and isinstance(b, kinds) and not (isinstance(a, Capsule) and isinstance(b, Capsule))


def is_ellipsoidal(a: Geometry, b: Geometry) -> bool:
    """True for an ellipsoid and a shape that is rounded, or another ellipsoid."""
    kinds = Box | ConvexMesh | Capsule | Cylinder | Ellipsoid
    return isinstance(a, kinds) and isinstance(b, kinds) and (isinstance(a, Ellipsoid) or isinstance(b, Ellipsoid))


def shares_friction(a: Geometry, b: Geometry) -> bool:
    """True where two shapes touch in a patch of several points."""
    ground = isinstance(a, Plane | HeightField) or isinstance(b, Plane | HeightField)
    return is_rounded(a, b) or (ground and (a.in_patches or b.in_patches))


def _patches(a: Solid, b: Solid) -> list[Patch] | None:
    if isinstance(b.geometry, Plane):
        return _on_plane(a, b)
    if isinstance(b.geometry, HeightField):
        return None if isinstance(a.geometry, HeightField) else _on_field(a, b)
    if isinstance(a.geometry, Sphere):
        return _sphere(a, b)
    if isinstance(a.geometry, Capsule) and isinstance(b.geometry, Capsule):
        return [[_capsules(a, b)]]
    if is_rounded(a.geometry, b.geometry):
        return [_rounded(a, b)]
    if is_ellipsoidal(a.geometry, b.geometry) and isinstance(a.geometry, Ellipsoid):
        return [[_ellipsoid(a, b)]]
    return None


def _ellipsoid(a: Solid, b: Solid) -> Point:
    """An ellipsoid, and a rounded shape or another ellipsoid."""
    assert isinstance(a.geometry, Ellipsoid)
    if isinstance(b.geometry, Ellipsoid | Cylinder):
        gap, out, place = _near_smooth(a, b)
    else:
        core = b.geometry.core
        assert core is not None
        gap, out, place = near_core(a.geometry, a.middle, a.R, core, b.middle, b.R)
    return Point(gap, -out, place)


def _near_smooth(a: Solid, b: Solid) -> tuple[Any, Any, Any]:
    """As `near_smooth`, of solids that are ellipsoids or cylinders."""
    shapes = []
    for solid in (a, b):
        assert isinstance(solid.geometry, Ellipsoid | Cylinder)
        shapes.append(smooth(solid.geometry, solid.middle, solid.R))
    return near_smooth(*shapes)


def _in_patches(shape: Geometry, points: list[Point]) -> list[Patch]:
    return [points] if shape.in_patches else [[point] for point in points]


def _on_plane(a: Solid, plane: Solid) -> list[Patch] | None:
    """Each ball of a shape and a plane."""
    n = resolve1(plane.R, plane.geometry.e)
    balls = a.geometry.lowest(resolve2(a.R, n))
    if balls is None:
        return None
    return _in_patches(a.geometry, [_ball(a.place(r), radius, n, plane) for r, radius in balls])


def _ball(centre: Any, radius: Any, n: Any, plane: Solid) -> Point:
    gap = ca.dot(n, centre - plane.middle) - radius
    return Point(gap, n, centre - (radius + gap / 2) * n)


def _on_field(a: Solid, field: Solid) -> list[Patch] | None:
    """Each ball of a shape and a height field; of an ellipsoid or a cylinder, each point that is lowest somewhere."""
    assert isinstance(field.geometry, HeightField)
    balls: Balls | None = a.geometry.balls()
    if balls is not None:
        points = [_near(a.place(r), radius, field, field.geometry.distance) for r, radius in balls]
        return _in_patches(a.geometry, points)
    found = []
    for i in range(_lowest_points(a.geometry)):

        def lowest(n: Any, i: int = i) -> Any:
            balls = a.geometry.lowest(resolve2(a.R, resolve1(field.R, n)))
            assert balls is not None
            return resolve2(field.R, a.place(balls[i][0]) - field.middle)

        gap, n, place = field.geometry.nearest(lowest)
        found.append(Point(gap, resolve1(field.R, n), field.place(place - gap / 2 * n)))
    return _in_patches(a.geometry, found)


def _lowest_points(shape: Geometry) -> int:
    """How many points a shape has that is not the hull of balls, where it is lowest."""
    return len(shape.lowest(ca.SX.sym("n", 3)) or ())


def _near(centre: Any, radius: Any, b: Solid, distance: Any, padding: Any = 0) -> Point:
    """A ball and a shape with a signed distance, which is thicker by `padding` than this says."""
    away, n = b.distance(centre, distance)
    gap = away - radius - padding
    return Point(gap, n, centre - (radius + gap / 2) * n)


def _sphere(a: Solid, b: Solid) -> list[Patch] | None:
    """A sphere and a shape with a signed distance."""
    if b.geometry.distance(ca.SX.zeros(3)) is None:
        return None
    return [[_near(a.middle, a.geometry.radius, b, b.geometry.distance)]]


def _capsules(a: Solid, b: Solid) -> Point:
    """Two capsules, at the nearest points of their axes."""
    one, other = resolve1(a.R, a.geometry.e), resolve1(b.R, b.geometry.e)
    on_a, on_b = _nearest(a.middle, one, a.geometry.length / 2, b.middle, other, b.geometry.length / 2)
    return _between(on_a, on_b, a.geometry.radius, b.geometry.radius)


def _nearest(a: Any, one: Any, half_a: Any, b: Any, other: Any, half_b: Any) -> tuple[Any, Any]:
    """Nearest points of two lines (Ericson, Real-Time Collision Detection, section 5.1.9).

    Of each are given its middle [m], its direction, a unit vector, and half its length [m].
    """
    between = a - b
    cosine, along_a, along_b = ca.dot(one, other), ca.dot(one, between), ca.dot(other, between)

    def within(x: Any, half: Any) -> Any:
        return ca.fmax(-half, ca.fmin(half, x))

    # Parallel axes have many nearest points: the middle of a is taken
    crossing = ca.fmax(1 - cosine**2, SHORT)
    s = within((cosine * along_b - along_a) / crossing, half_a)
    u = within(along_b + s * cosine, half_b)
    s = within(u * cosine - along_a, half_a)
    return a + s * one, b + u * other


def _between(on_a: Any, on_b: Any, radius_a: Any, radius_b: Any) -> Point:
    """Two balls."""
    length = guarded_length(on_a - on_b, SHORT)
    n = (on_a - on_b) / length
    gap = length - radius_a - radius_b
    return Point(gap, n, on_b + (radius_b + gap / 2) * n)


def _rounded(a: Solid, b: Solid) -> Patch:
    """Two shapes with corners and edges.

    The gaps of corners are distances of points from convex cores, those of edges of lines that are not parallel, or of
    lines from a cylinder: all are continuously differentiable as long as the cores do not overlap, faces that lie on
    each other included.
    """
    one, other = a.geometry.core, b.geometry.core
    assert one is not None
    assert other is not None
    round_a, round_b = (isinstance(solid.geometry, Cylinder) for solid in (a, b))
    if round_a and round_b:
        return _cylinders(a, b)
    if round_b:
        return [point.swapped() for point in _rounded(b, a)]
    found = [_near(a.place(p), one.radius, b, other.distance, other.radius) for p in one.corners]
    corners = [*other.corners, *(_nearest_of_edges(a, b) if round_a else ())]
    found += [_near(b.place(p), other.radius, a, one.distance, one.radius).swapped() for p in corners]
    return found + (_rims(a, b, other.normals) if round_a else _edges(a, one, b, other))


def _nearest_of_edges(cylinder: Solid, b: Solid) -> list[Any]:
    """The point of each edge of b, resolved there, that is nearest to a cylinder."""
    assert isinstance(cylinder.geometry, Cylinder)
    core, barrel = b.geometry.core, cylinder.geometry.barrel
    assert core is not None
    between, R = _seen(cylinder, b), b.R
    found = []
    for along, middles, half in core.edges:
        direction = resolve2(cylinder.R, resolve1(R, along))
        for p in middles:
            middle = between + resolve2(cylinder.R, resolve1(R, p))
            t = barrel.nearest(middle, direction, half)
            found.append(p + t * along)
    return found


def _seen(a: Solid, b: Solid) -> Any:
    """The middle of b, as a solid a sees it [m]."""
    return resolve2(a.R, b.middle - a.middle)


def _axis(a: Solid, b: Solid) -> Any:
    """The axis of a cylinder b, as a solid a sees it."""
    assert isinstance(b.geometry, Cylinder)
    return resolve2(a.R, resolve1(b.R, b.geometry.barrel.e))


def _rims(cylinder: Solid, b: Solid, normals: list[Any]) -> Patch:
    """The rims of a cylinder over faces of b with these normals, resolved there."""
    assert isinstance(cylinder.geometry, Cylinder)
    c, e = _seen(b, cylinder), _axis(b, cylinder)
    return [_on_rim(cylinder, b, rim) for n in normals for rim in cylinder.geometry.barrel.rims(c, e, n)]


def _on_rim(cylinder: Solid, b: Solid, rim: Rim, beside: bool = False) -> Point:
    """The lowest point of a rim, as b sees it, and that."""
    own, core = cylinder.geometry.core, b.geometry.core
    assert own is not None
    assert core is not None
    x = rim.place
    gap, g = core.distance(x)
    gap, load, normal = gap - own.radius - core.radius, rim.loads(g), g
    place = x - (own.radius + gap / 2) * g
    if beside:
        assert isinstance(b.geometry, Cylinder)
        more, moved = rim.beside(g, b.geometry.barrel)
        gap, normal, load = gap + more, g + moved, load + rim.height * cross(rim.e, moved)
    twist = load - cross(place - rim.c, normal)
    return Point(gap, resolve1(b.R, normal), b.place(place), twist=resolve1(b.R, twist))


def _cylinders(a: Solid, b: Solid) -> Patch:
    """Two cylinders: where they are nearest, and the rims of each over the ends and beside the other one."""
    gap, out, place = _near_smooth(a, b)
    found = [Point(gap, -out, place)]
    for one, other, turned in ((a, b, False), (b, a, True)):
        assert isinstance(one.geometry, Cylinder)
        assert isinstance(other.geometry, Cylinder)
        own, barrel = one.geometry.barrel, other.geometry.barrel
        points = _rims(one, other, [barrel.e, -barrel.e])
        for rim in own.sides(_seen(other, one), _axis(other, one), barrel):
            points.append(_on_rim(one, other, rim, beside=True))
        found += [point.swapped() if turned else point for point in points]
    return found


def _edges(a: Solid, one: Core, b: Solid, other: Core) -> Patch:
    """All pairs of edges."""
    found = []
    lines = [
        [(resolve1(solid.R, along), [solid.place(p) for p in middles], half) for along, middles, half in core.edges]
        for solid, core in ((a, one), (b, other))
    ]
    for along_a, middles_a, half_a in lines[0]:
        for along_b, middles_b, half_b in lines[1]:
            across, cosine = cross(along_a, along_b), ca.dot(along_a, along_b)
            part = ca.fmin(1, ca.sumsqr(across) / CROSSING)
            weight = part**2 * (3 - 2 * part)
            turn = 2 * cosine * 6 * part * (1 - part) / CROSSING * across
            for p in middles_a:
                for q in middles_b:
                    point = _between(*_nearest(p, along_a, half_a, q, along_b, half_b), one.radius, other.radius)
                    found.append(dataclasses.replace(point, weight=weight, turn=turn))
    return found


def depths_of_cores(a: Solid, b: Solid) -> Any:
    """Distances of points inside either of two rounded shapes from the core of the other [m]."""
    found = []
    for one, other in ((a, b), (b, a)):
        own, core = one.geometry.core, other.geometry.core
        assert own is not None
        assert core is not None
        found += [other.distance(one.place(p), core.distance)[0] for p in own.inner]
    return ca.vertcat(*found)


def room_of_edges(a: Solid, b: Solid) -> Any:
    """How far edges and axes of two shapes with edges are from going through the core of the other [m], along them.

    It is less than 0 where one does: of bars that cross, corners and edges may all be far from the other's.
    """
    found = [ca.SX(ca.inf)]
    for one, other in ((a, b), (b, a)):
        own, core = one.geometry.core, other.geometry.core
        assert own is not None
        assert core is not None
        lines = own.edges
        if isinstance(one.geometry, Cylinder):
            barrel = one.geometry.barrel
            lines = [(barrel.e, [ca.SX.zeros(3)], barrel.h)]
        offsets = [ca.mmax(ca.vertcat(*(ca.dot(n, p) for p in core.corners))) for n in core.normals]
        middle = _seen(other, one)
        for along, middles, half in lines if core.normals else ():
            direction = resolve2(other.R, resolve1(one.R, along))
            speeds = [ca.dot(n, direction) for n in core.normals]
            speeds = [ca.if_else(ca.fabs(speed) < SHORT, SHORT, speed) for speed in speeds]
            for point in middles:
                p = middle + resolve2(other.R, resolve1(one.R, point))
                first, last = -half, half
                for n, offset, speed in zip(core.normals, offsets, speeds, strict=True):
                    at = (offset - ca.dot(n, p)) / speed
                    first = ca.fmax(first, ca.if_else(speed < 0, at, -half))
                    last = ca.fmin(last, ca.if_else(speed < 0, half, at))
                found.append(first - last)
    return ca.mmin(ca.vertcat(*found))


def give(a: Geometry, b: Geometry) -> Any:
    """How deep [m] two shapes of `is_rounded` or `is_ellipsoidal` may go into each other before their cores meet."""
    return sum(_radius(shape) for shape in (a, b))


def _radius(shape: Geometry) -> Any:
    if isinstance(shape, Ellipsoid):
        return shape.least_radius
    core = shape.core
    assert core is not None
    return core.radius


def is_round(a: Geometry, b: Geometry) -> bool:
    """True where two shapes touch in a circle, as Hertz's law for spheres has it."""
    return a.is_round and b.is_round


def curvature(geometry: Geometry) -> Any:
    """Curvature of a round shape [1/m]: 0 for a plane."""
    return 1 / geometry.radius if isinstance(geometry, Sphere) else 0.0


__all__ = [
    "MOST",
    "Patch",
    "Point",
    "Solid",
    "curvature",
    "depths_of_cores",
    "give",
    "is_ellipsoidal",
    "is_round",
    "is_rounded",
    "number_of_patches",
    "operations",
    "patches",
    "room_of_edges",
    "shares_friction",
]
