"""Ellipsoids and cylinders that touch rounded polytopes, capsules and each other: the place where they are nearest.

Two convex shapes are as far apart as the planes between them are at most: the distance is the greatest value, over all
unit normals m, of how far the one shape lies beyond the other along m (Ericson, Real-Time Collision Detection, section
5.2.1, separating axes). Normals that may be the one are few: those of the faces of a polytope, and for each corner and
each edge the one where the ellipsoid is nearest to that. Any other normal gives a smaller value, so that what has not
been found exactly errs in second order only, and nothing is asked of which corner, edge or face is the nearest.

An ellipsoid is a core, smaller by its least radius of curvature, and all that is no farther from it. It is strictly
convex: there is one nearest point, which moves steadily, and the distance has a continuous gradient as long as its core
and that of the other shape do not overlap.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca

from mbfmu.components.contact.geometry import INSIDE, Core, Cylinder, Ellipsoid
from mbfmu.components.contact.laws import SHORT
from mbfmu.components.interfaces import guarded_length
from mbfmu.frames import Orientation, cross, resolve1, resolve2

#: Rounds in which the normal of an edge is found, and that of two ellipsoids.
EDGE_ROUNDS, ROUNDS = 12, 16
#: A cylinder has ends and a side that begin by this part of its size thick, and come down to its crown in so many
#: levels of equal ratios; how many rounds each takes, and the last one.
THICK, LEVELS, EACH, LAST = 0.3, 6, 3, 5
#: The least crown of a cylinder in these rounds, over its radius or half its length.
FLATTEST = 1e-3
#: Greatest axis over the least one up to which ROUNDS are enough for two ellipsoids.
MOST_OBLONG = 10.0
#: Parts of Newton's step that are tried in each round, and multiples of the one that always leads higher.
PARTS, MULTIPLES = (1.0, 0.4, 0.15), (1.0, 2.0, 4.0)
#: The way between two cores is taken to be at least this part of their radii: below, they overlap.
LEAST_WAY = 1e-2

#: Gap [m], outward normal of the first shape (3,), and the point midway between both surfaces [m], (3,).
Nearest = tuple[Any, Any, Any]


def near_core(shape: Ellipsoid, middle: Any, R: Orientation, core: Core, other: Any, other_R: Orientation) -> Nearest:
    """An ellipsoid and a rounded shape, by their middles [m] and orientations, resolved in one frame."""

    def local(v: Any) -> Any:
        return resolve2(R, resolve1(other_R, v))

    between = resolve2(R, other - middle)
    corners = [between + local(p) for p in core.corners]
    normals = [-local(n) for n in core.normals]
    for p in corners:
        found = shape.distance(p)
        assert found is not None
        normals.append(found[1])
    for along, middles, _ in core.edges:
        normals += _across(shape, local(along), [between + local(p) for p in middles])
    gap, best = ca.SX(-ca.inf), ca.SX.zeros(3)
    for m in normals:
        beyond = ca.mmin(ca.vertcat(*(ca.dot(m, p) for p in corners))) - shape.reach(m)
        beyond = ca.if_else(ca.sumsqr(m) > 0.5, beyond, -ca.inf)  # what goes through the middle has no normal
        best, gap = ca.if_else(beyond > gap, m, best), ca.fmax(gap, beyond)
    gap = gap - core.radius
    return gap, resolve1(R, best), middle + resolve1(R, shape.support(best) + best * gap / 2)


def _across(shape: Ellipsoid, along: Any, points: list[Any]) -> list[Any]:
    """Outward normals of an ellipsoid where it is nearest to parallel lines, each through a point.

    Seen along the lines it is an ellipse, whose matrix Q has x = (Q + s)^-1 p as normal where x Q x = 1; the root s is
    found from below as that of `Ellipsoid.distance` is, of lines inside, too.
    """
    one, other = _basis(along)
    half_one, half_other = shape.half * ca.mtimes(shape.T, one), shape.half * ca.mtimes(shape.T, other)
    a, b, d = ca.sumsqr(half_one), ca.dot(half_one, half_other), ca.sumsqr(half_other)
    least = -(1 - INSIDE) * ca.mmin(shape.half) ** 2
    found = []
    for point in points:
        p, q = ca.dot(one, point), ca.dot(other, point)
        s = ca.fmax(least, ca.sqrt(a * p**2 + 2 * b * p * q + d * q**2 + SHORT**4) - a - d)
        for _ in range(EDGE_ROUNDS):
            x, y = _solve2(a + s, b, d + s, p, q)
            u, v = a * x + b * y, b * x + d * y
            total = x * u + y * v + SHORT**2
            slope = ca.dot(ca.vertcat(u, v), ca.vertcat(*_solve2(a + s, b, d + s, x, y))) + SHORT**2
            s = ca.fmax(least, s + (ca.sqrt(total) - 1) * total / slope)
        x, y = _solve2(a + s, b, d + s, p, q)
        normal = x * one + y * other
        found.append(normal / guarded_length(normal, SHORT))
    return found


def _solve2(a: Any, b: Any, d: Any, p: Any, q: Any) -> tuple[Any, Any]:
    """Solution of [[a, b], [b, d]] x = (p, q)."""
    determinant = a * d - b**2
    return (d * p - b * q) / determinant, (a * q - b * p) / determinant


def _basis(n: Any) -> tuple[Any, Any]:
    """Two unit vectors across a unit vector and each other (Duff et al., Building an Orthonormal Basis, Revisited)."""
    sign = ca.if_else(n[2] < 0, -1, 1)
    a = -1 / (sign + n[2])
    b = n[0] * n[1] * a
    return (
        ca.vertcat(1 + sign * n[0] ** 2 * a, sign * b, -sign * n[0]),
        ca.vertcat(b, sign + n[1] ** 2 * a, -n[1]),
    )


@dataclasses.dataclass(frozen=True)
class Smooth:
    """A strictly convex shape as a sum of ellipsoids and a ball: it reaches sum(sqrt(m Q m)) + ball along a normal m.

    `rounds` are these matrices Q [m2], resolved in the frame of the middle [m]: those that each round takes. Those of a
    shape with flat ends, across its `axes`, begin thick. What it has of a ball within its ellipsoids is their `least`
    radius [m].
    """

    middle: Any
    rounds: list[list[Any]]
    least: Any = 0.0
    ball: Any = 0.0
    axes: list[Any] = dataclasses.field(default_factory=list)


def smooth(shape: Ellipsoid | Cylinder, middle: Any, R: Orientation) -> Smooth:
    """As `near_smooth` sees them: a cylinder is a flat ellipsoid, a thin one and its rounding."""
    if isinstance(shape, Ellipsoid):
        return Smooth(middle, [[_matrix(shape, R)]], least=shape.least_radius)
    barrel = shape.barrel
    e = resolve1(R, barrel.e)
    along = ca.mtimes(e, e.T)
    across = ca.DM.eye(3) - along
    rounds = []
    least = ca.fmax(barrel.crown, FLATTEST * ca.fmin(shape.radius, shape.length / 2))
    r, h = barrel.widest - least, barrel.h + barrel.crown - least
    for i in range(LEVELS):
        flat, thin = (_between(THICK * size, least, i / (LEVELS - 1)) for size in (r, h))
        found = [r**2 * across + flat**2 * along, thin**2 * across + h**2 * along]
        rounds += [found] * (EACH if i < LEVELS - 1 else LAST)
    return Smooth(middle, rounds, ball=shape.rounding, axes=[e])


def _between(first: Any, last: Any, part: float) -> Any:
    """A length between two, in equal ratios."""
    return first if part == 0 else last if part == 1 else ca.exp((1 - part) * ca.log(first) + part * ca.log(last))


def near_smooth(a: Smooth, b: Smooth) -> Nearest:
    """Two strictly convex shapes, resolved in one frame.

    The way w between the nearest points of their cores makes w d - w w/2 - h_a(w) - h_b(w) greatest, d being the way
    between the middles and h the support functions of the cores: a concave function. Each round goes where the
    shapes lie farthest beyond each other, by parts of Newton's step, or by multiples of the way to where
    that function would be greatest with a parabola above sqrt(w Q w) in its place: that always leads higher, and well
    where Newton's step leads astray.
    """
    d, least = b.middle - a.middle, a.least + b.least
    radius = least + a.ball + b.ball
    number = max(ROUNDS if min(len(shape.rounds) for shape in (a, b)) == 1 else 0, len(a.rounds), len(b.rounds))
    rounds = [[shape.rounds[min(i, len(shape.rounds) - 1)] for shape in (a, b)] for i in range(number)]

    def beyond(w: Any, matrices: list[Any]) -> Any:
        return ca.dot(d, w) - sum(ca.sqrt(ca.dot(w, ca.mtimes(Q, w))) for Q in matrices)

    def farthest(ways: list[Any], matrices: list[Any]) -> Any:
        """The direction of one of these ways, as long as the way between the cores would be."""
        best, most = None, None
        for w in ways:
            m = w / guarded_length(w, 0)
            found = beyond(m, matrices)
            best = m if best is None else ca.if_else(found > most, m, best)
            most = found if most is None else ca.fmax(found, most)
        return best * ca.fmax(most + least, LEAST_WAY * radius)

    def steps(w: Any, matrices: list[Any]) -> tuple[Any, Any]:
        """Newton's step, and the one that always leads higher."""
        length = guarded_length(w, SHORT)
        u = w / length
        mean, bend = ca.DM.eye(3), ca.DM.eye(3) - least / length * (ca.DM.eye(3) - ca.mtimes(u, u.T))
        for Q in matrices:
            Qw = ca.mtimes(Q, w)
            reach = ca.sqrt(ca.dot(w, Qw))
            mean = mean + Q / reach
            bend = bend + Q / reach - ca.mtimes(Qw, Qw.T) / reach**3
        load = d + least * u
        return _solve(bend, load - ca.mtimes(mean, w)), _solve(mean, load) - w

    matrices = rounds[0][0] + rounds[0][1]
    axes = [ca.if_else(ca.dot(d, e) < 0, -1, 1) * e for e in (*a.axes, *b.axes)]
    w = farthest([d + ca.DM([SHORT, 0, 0]), *axes], matrices)  # middles that are one have a direction, too
    for i, (of_a, of_b) in enumerate(rounds):
        matrices = of_a + of_b
        newton, higher = steps(w, matrices)
        ways = [*(w + part * newton for part in PARTS), *(w + part * higher for part in MULTIPLES)]
        w = farthest([*ways, *(axes if i % EACH == 0 else ())], matrices)
    w = w + steps(w, matrices)[0]  # a whole step of Newton's has exact derivatives, wherever it comes from
    m = w / guarded_length(w, 0)
    gap = beyond(m, matrices) - a.ball - b.ball
    on_a = a.ball * m + sum(ca.mtimes(Q, m) / ca.sqrt(ca.dot(m, ca.mtimes(Q, m))) for Q in rounds[-1][0])
    return gap, m, a.middle + on_a + m * gap / 2


def _matrix(shape: Ellipsoid, R: Orientation) -> Any:
    """The matrix Q [m2] of an ellipsoid whose support function is sqrt(m Q m)."""
    axes = [resolve1(R, shape.T[k, :].T) for k in range(3)]
    return sum((shape.half[k] ** 2 * ca.mtimes(axes[k], axes[k].T) for k in range(3)), ca.SX.zeros(3, 3))


def _solve(M: Any, v: Any) -> Any:
    """Solution of M x = v, of a symmetric matrix (3, 3)."""
    rows = [M[:, k] for k in range(3)]
    minors = [cross(rows[(k + 1) % 3], rows[(k + 2) % 3]) for k in range(3)]
    return sum((minors[k] * v[k] for k in range(3)), ca.SX.zeros(3)) / ca.dot(rows[0], minors[0])


__all__ = ["MOST_OBLONG", "Nearest", "Smooth", "near_core", "near_smooth", "smooth"]
