"""Pairs of shapes whose points of contact are known in closed form.

Each gives gaps, normals and points as expressions, so that their derivatives are exact. Three cases have all of them:
a plane and balls (corners, ends, rims) of which the other shape is the hull; a sphere and the signed distance of its
centre from the other shape; two capsules and the nearest points of their axes.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca

from mbfmu.components.contact.geometry import SHORT, Capsule, Geometry, Plane, Sphere
from mbfmu.components.interfaces import guarded_length
from mbfmu.frames import Orientation, null_rotation, resolve1, resolve2


@dataclasses.dataclass(frozen=True)
class Solid:
    """A geometry and where it is: its middle [m] and its orientation, in the world frame."""

    geometry: Geometry
    middle: Any
    R: Orientation


@dataclasses.dataclass(frozen=True)
class Point:
    """A point where two shapes a and b may touch, resolved in the world frame.

    `gap` [m] is negative where they overlap; the unit vector `normal` points from b to a; `place` [m] lies midway
    between the surfaces on their common normal.
    """

    gap: Any
    normal: Any
    place: Any


def points(a: Solid, b: Solid) -> list[Point] | None:
    """The points at which two solids may touch; None where no closed form is known."""
    found = _points(a, b)
    if found is None:
        found = _points(b, a)
        if found is not None:  # normals the other way round
            found = [Point(point.gap, -point.normal, point.place) for point in found]
    return found


def number_of_points(a: Geometry, b: Geometry) -> int:
    """How many points `points` gives for two shapes; 0 where it knows none."""
    kinds = type(a), type(b)
    if kinds not in _NUMBERS:
        found = points(*(Solid(geometry, ca.SX.zeros(3), null_rotation()) for geometry in (a, b)))
        _NUMBERS[kinds] = len(found or ())
    return _NUMBERS[kinds]


#: What number_of_points has found, by classes.
_NUMBERS: dict[tuple[type, type], int] = {}


def _points(a: Solid, b: Solid) -> list[Point] | None:
    if isinstance(b.geometry, Plane):
        return _on_plane(a, b)
    if isinstance(a.geometry, Sphere):
        return _sphere(a, b)
    if isinstance(a.geometry, Capsule) and isinstance(b.geometry, Capsule):
        return [_capsules(a, b)]
    return None


def _on_plane(a: Solid, plane: Solid) -> list[Point] | None:
    """Each ball of a shape and a plane."""
    n = resolve1(plane.R, plane.geometry.e)
    balls = a.geometry.lowest(resolve2(a.R, n))
    return None if balls is None else [_ball(a.middle + resolve1(a.R, r), radius, n, plane) for r, radius in balls]


def _ball(centre: Any, radius: Any, n: Any, plane: Solid) -> Point:
    gap = ca.dot(n, centre - plane.middle) - radius
    return Point(gap, n, centre - (radius + gap / 2) * n)


def _sphere(a: Solid, b: Solid) -> list[Point] | None:
    """A sphere and a shape with a signed distance."""
    found = b.geometry.distance(resolve2(b.R, a.middle - b.middle))
    if found is None:
        return None
    distance, slope = found
    n = resolve1(b.R, slope)
    gap = distance - a.geometry.radius
    return [Point(gap, n, a.middle - (a.geometry.radius + gap / 2) * n)]


def _capsules(a: Solid, b: Solid) -> Point:
    """Two capsules, at the nearest points of their axes (Ericson, Real-Time Collision Detection, section 5.1.9)."""
    one, other = resolve1(a.R, a.geometry.e), resolve1(b.R, b.geometry.e)
    half_a, half_b = a.geometry.length / 2, b.geometry.length / 2
    between = a.middle - b.middle
    cosine, along_a, along_b = ca.dot(one, other), ca.dot(one, between), ca.dot(other, between)

    def within(x: Any, half: Any) -> Any:
        return ca.fmax(-half, ca.fmin(half, x))

    # Parallel axes have many nearest points: the middle of a is taken
    crossing = ca.fmax(1 - cosine**2, SHORT)
    s = within((cosine * along_b - along_a) / crossing, half_a)
    u = within(along_b + s * cosine, half_b)
    s = within(u * cosine - along_a, half_a)
    on_a, on_b = a.middle + s * one, b.middle + u * other
    length = guarded_length(on_a - on_b, SHORT)
    n = (on_a - on_b) / length
    gap = length - a.geometry.radius - b.geometry.radius
    return Point(gap, n, on_b + (b.geometry.radius + gap / 2) * n)


def is_round(a: Geometry, b: Geometry) -> bool:
    """True where two shapes touch in a circle, as Hertz's law for spheres has it."""
    return a.is_round and b.is_round


def curvature(geometry: Geometry) -> Any:
    """Curvature of a round shape [1/m]: 0 for a plane."""
    return 1 / geometry.radius if isinstance(geometry, Sphere) else 0.0


__all__ = ["Point", "Solid", "curvature", "is_round", "number_of_points", "points"]
