"""Cylinders that touch boxes, meshes, capsules, ellipsoids and each other.

Between bodies with edges a cylinder is a *core* and all that is no farther from it than its `rounding`. The core is
strictly convex: its ends are caps of spheres, its side bulges, both by the height of the crown, and in between is a
sharp rim. So nothing lies on it but in one point, which moves steadily as it tilts.

Points of contact with a polytope are complete: its corners, each of its edges where that is nearest to the cylinder,
and of both ends the point of the rim that is lowest over each of its faces. The last ones move over the cylinder as it
turns, and their gaps are distances of a point from the polytope: what they do besides is their `twist`.

Two cylinders, or an ellipsoid and a cylinder, touch where they are nearest (`ellipsoids`), for which a cylinder is a
sum of a flat ellipsoid, a thin one and a ball; two cylinders also at their rims.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.contact.laws import SHORT
from mbfmu.components.interfaces import guarded_length
from mbfmu.frames import cross

#: Rounds in which the nearest point of an edge is found; each third one halves what is left. Whole steps of Newton's
#: at their end have exact derivatives, wherever they come from.
ROUNDS, HALVES, WHOLE = 20, 3, 2
#: How far these may lead out of the bracket, over the size of the cylinder.
SLACK = 1e-2
#: A rim that lies over the end of another cylinder is not beside it: how much its gap grows there, over the radius.
BESIDE = 10.0


@dataclasses.dataclass(frozen=True)
class Barrel:
    """A core of a cylinder about the origin: of its axis `e`, and the radius `r` and half the length `h` of its rim.

    Ends and side bulge by `crown`; all lengths in m.
    """

    e: Any
    r: Any
    h: Any
    crown: Any

    @property
    def widest(self) -> Any:
        """Greatest radius [m]."""
        return self.r + self.crown

    @property
    def across(self) -> Any:
        """A unit vector across the axis."""
        e = np.array(self.e).ravel()
        across = np.cross(e, np.eye(3)[np.abs(e).argmin()])
        return ca.DM(across / np.linalg.norm(across))

    def distance(self, p: Any) -> tuple[Any, Any]:
        """Signed distance [m] of a point p [m], and its gradient, (3,)."""
        v = ca.dot(self.e, p)
        across = p - v * self.e
        u = guarded_length(across, SHORT)
        distance, s_u, s_v, _ = self._profile(u, ca.fabs(v))
        return distance, s_u / u * across + s_v * ca.if_else(v < 0, -1, 1) * self.e

    def _profile(self, u: Any, v: Any) -> tuple[Any, Any, Any, Any]:
        """Distance of a point at u from the axis and v from the middle, its slopes, and the way to its centre [m].

        Of the three arcs, which are cap, side and rim, each has a centre and a radius.
        """
        r, h, k = self.r, self.h, self.crown
        radius_cap, radius_side = (r**2 + k**2) / (2 * k), (h**2 + k**2) / (2 * k)
        top, axis = h + k - radius_cap, r + k - radius_side
        is_cap, is_side = u * (h - top) < r * (v - top), v * (r - axis) < h * (u - axis)
        is_side = ca.logic_and(is_side, ca.logic_or(ca.logic_not(is_cap), u - r > v - h))  # inside, what is nearer
        x = ca.if_else(is_side, axis, ca.if_else(is_cap, 0, r))
        y = ca.if_else(is_side, 0, ca.if_else(is_cap, top, h))
        radius = ca.if_else(is_side, radius_side, ca.if_else(is_cap, radius_cap, 0))
        away = guarded_length(ca.vertcat(u - x, v - y), SHORT)
        beyond = (u - r) * (u + r - 2 * x) + (v - h) * (v + h - 2 * y)  # away^2 - radius^2, of small numbers
        return beyond / (away + radius), (u - x) / away, (v - y) / away, away

    def nearest(self, middle: Any, along: Any, half: Any) -> Any:
        """Where a line is nearest to the core, counted along it from its middle [m]: given are that [m], its direction
        and half its length [m].

        The distance is convex along a line: its slope is 0 within a bracket, in which Newton's method looks for that.
        """
        v_0, v_1 = ca.dot(self.e, middle), ca.dot(self.e, along)
        square, product, part = ca.sumsqr(middle) - v_0**2, ca.dot(middle, along) - v_0 * v_1, 1 - v_1**2

        def newton(t: Any) -> tuple[Any, Any]:
            """The slope there, and Newton's next t."""
            v = v_0 + v_1 * t
            u = ca.sqrt(ca.fmax(square + t * (2 * product + t * part), 0) + SHORT**2)
            u_1, v_abs_1 = (product + part * t) / u, ca.if_else(v < 0, -v_1, v_1)
            _, s_u, s_v, away = self._profile(u, ca.fabs(v))
            slope = s_u * u_1 + s_v * v_abs_1
            bend = (u_1**2 + v_1**2 - slope**2) / away + s_u * (part - u_1**2) / u
            return slope, t - slope / ca.fmax(bend, SHORT)

        t = -ca.dot(middle, along)
        size = self.r + self.h + 2 * self.crown  # what is nearest to the core is not farther from what is to its middle
        low, high = (ca.fmax(-half, ca.fmin(half, t + sign * size)) for sign in (-1, 1))
        t = ca.fmax(low, ca.fmin(high, t))
        for i in range(ROUNDS):
            slope, guess = newton(t)
            low, high = ca.if_else(slope < 0, t, low), ca.if_else(slope < 0, high, t)
            mean = (low + high) / 2
            t = mean if i % HALVES == HALVES - 1 else ca.if_else(ca.logic_and(guess > low, guess < high), guess, mean)
        first, last = (ca.fmax(-half, ca.fmin(half, end)) for end in (low - SLACK * size, high + SLACK * size))
        for _ in range(WHOLE):  # inside the core the distance may have a kink there, and steps lead far away
            t = ca.fmax(first, ca.fmin(last, newton(t)[1]))
        return t

    def rims(self, c: Any, e: Any, n: Any) -> list[Rim]:
        """The point of either end that is lowest along n, a unit vector, of a core about c [m] with the axis e."""
        return [self._rim(c, e, sign * self.h, n) for sign in (1, -1)]

    def _rim(self, c: Any, e: Any, height: Any, n: Any) -> Rim:
        """The ends are flat ellipsoids: their lowest points move smoothly."""
        most, least, cosine = self.widest**2, self.crown**2, ca.dot(n, e)
        across, along = n - cosine * e, cosine * e
        length = ca.sqrt(most * ca.sumsqr(across) + least * cosine**2)
        return Rim(self, c, e, height, n, most * across + least * along, length)

    def sides(self, c: Any, e: Any, other: Barrel) -> list[Rim]:
        """The point of either end that is lowest beside another core, which is about the origin."""
        found = []
        for sign in (1, -1):
            centre = c + sign * self.h * e
            n = centre - other.e * ca.dot(other.e, centre)
            n = ca.if_else(ca.sumsqr(n) > SHORT**2, n, other.across)  # on the axis of the other one, any will do
            found.append(self._rim(c, e, sign * self.h, n / guarded_length(n, SHORT)))
        return found


@dataclasses.dataclass(frozen=True)
class Rim:
    """The lowest point of an end along n: of a core about c with the axis e, at a height [m] along that."""

    barrel: Barrel
    c: Any
    e: Any
    height: Any
    n: Any
    reach: Any
    length: Any

    @property
    def place(self) -> Any:
        """The point [m]."""
        return self.c + self.height * self.e - self.reach / self.length

    def loads(self, g: Any) -> Any:
        """Torque about c [m] of a unit force g on this point, with what the point does as the core turns.

        It is e x p, where p is the derivative of g.place by e.
        """
        r2 = self.barrel.widest**2 - self.barrel.crown**2
        cosine, along = ca.dot(self.n, self.e), ca.dot(g, self.e)
        p = (
            self.height * g
            + r2 / self.length * (along * self.n + cosine * g)
            - r2 * cosine * ca.dot(g, self.reach) / self.length**3 * self.n
        )
        return cross(self.e, p)

    def beside(self, g: Any, other: Barrel) -> tuple[Any, Any]:
        """Of a rim beside another core: by how much its gap grows where it is none [m], and the gradient [1] by its
        centre of this and of the way that its point, of which g is the gradient, moves with n."""
        centre = self.c + self.height * self.e
        away = guarded_length(centre - other.e * ca.dot(other.e, centre), SHORT)
        over = ca.fmax(0, other.r - away)
        most, least = self.barrel.widest**2, self.barrel.crown**2
        Qg = most * g + (least - most) * ca.dot(g, self.e) * self.e
        moved = -Qg / self.length + self.reach * ca.dot(self.reach, g) / self.length**3
        turned = moved - self.n * ca.dot(self.n, moved) - other.e * ca.dot(other.e, moved)
        return BESIDE * over**2 / other.r, turned / away - 2 * BESIDE * over / other.r * self.n


__all__ = ["Barrel", "Rim"]
