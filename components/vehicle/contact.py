"""Where a wheel meets the road: its contact point, the axes there (ISO 8855, W), and velocities."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.vehicle.roads import Road
from mbfmu.frames import angular_velocity1, cross, resolve1

#: The road where an assembly has none: the plane z = 0.
LEVEL = Road()
#: Sine of the angle between axis and normal below which a wheel lies on its side.
LYING = 0.2


#: Points of a cam that feel the road.
FEELERS = 61


@dataclasses.dataclass(frozen=True)
class Cams:
    """Two cams, one behind the other, that feel what a tyre envelops.

    Each is an ellipse |x/a|^c + |z/b|^c = 1 that stands on the road as high as it has to. The mean of their heights is
    how far the axle is lifted, the difference over their distance the slope of the effective road (A. J. C. Schmeitz,
    A semi-empirical three-dimensional model of the pneumatic tyre rolling over arbitrarily uneven road surfaces, 2004,
    section 4.2; the book's section 10.1.6).
    """

    radius: Any  # of the tyre [m]
    distance: Any  # of both cams [m]
    length: Any  # half length of a cam, a [m]
    height: Any  # half height, b [m]
    order: float  # exponent c

    def plane(self, road: Road, x: Any, y: Any, ahead: Any) -> tuple[ca.SX, ca.SX]:
        """Height [m] and normal (3,) of the effective road below a place, for a heading of length 1 (2,)."""
        along = np.linspace(-1.0, 1.0, FEELERS)
        lifted = 1 - (1 - np.abs(along) ** self.order) ** (1 / self.order)

        def stands(at: Any) -> Any:
            felt = [
                road.height(x + (at + u * self.length) * ahead[0], y + (at + u * self.length) * ahead[1])
                - h * self.height
                for u, h in zip(along, lifted, strict=True)
            ]
            while len(felt) > 1:  # in pairs, so that the expression is not deep
                felt = [ca.fmax(*felt[i : i + 2]) if i + 1 < len(felt) else felt[i] for i in range(0, len(felt), 2)]
            return felt[0]

        front, rear = stands(self.distance / 2), stands(-self.distance / 2)
        _, n = road.point(x, y)
        left = ca.vertcat(-ahead[1], ahead[0])
        across = -(n[0] * left[0] + n[1] * left[1]) / n[2]
        along_it = (front - rear) / self.distance
        slope = along_it * ahead + across * left
        # A wheel that touches a slope is lifted by it: the plane lies so that its centre is as high as the cams say
        lifted_by = self.radius * (ca.sqrt(1 + along_it**2) - 1)
        return (front + rear) / 2 - lifted_by, ca.vertcat(-slope, 1.0) / ca.sqrt(1 + ca.sumsqr(slope))


@dataclasses.dataclass(frozen=True)
class Contact:
    """The contact of a wheel with the road, resolved in the world."""

    n: ca.SX  # normal of the road
    e_x: ca.SX  # along the road, ahead
    e_y: ca.SX  # along the road, to the left
    axis: ca.SX  # of the wheel
    r: ca.SX  # from the wheel's centre to the contact point [m]
    loaded_radius: ca.SX  # from the wheel's centre to the road in the wheel's plane [m]
    sin_gamma: ca.SX  # inclination
    v_x: ca.SX  # velocity of the contact point, which does not turn with the wheel [m/s]
    v_y: ca.SX
    v_n: ca.SX
    omega: ca.SX  # speed of rotation [rad/s]
    turning: ca.SX  # yaw rate of the wheel about the road's normal [rad/s]
    mu: ca.SX  # factor of friction


def of_the_sign(value: Any) -> Any:
    """A number of the sign of another: in slopes of roads with kinks conditions are factors, which none may rest on."""
    return ca.atan(value)


def meet_road(self: Any, spin: Any = None, cams: Cams | None = None) -> Contact:
    """The contact of the wheel whose centre is the origin of frame_a, and whose axis is the y-axis there.

    It is the point of the wheel's plane that is nearest to the plane which touches the road below it. On a curved road
    that plane is found in two steps: below the wheel's centre, and below the point that this gives. With cams the plane
    is that of the road which they feel below the wheel's centre.

    Args:
        self: the component, in its equations.
        spin: speed of rotation relative to frame_a [rad/s]; None where frame_a turns with the wheel.
        cams: what envelops short obstacles; None where the wheel touches at one point.
    """
    found = self.outer("road")
    road = LEVEL if found is None else found
    frame = self.frame_a
    centre, axis = frame.r_0, resolve1(frame.R, ca.DM([0.0, 1.0, 0.0]))

    def plane_below(place: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        if cams is None or not road.is_curved:
            z, n = road.point(place[0], place[1])
        else:
            heading = ca.vertcat(axis[1], -axis[0])
            z, n = cams.plane(road, place[0], place[1], heading / ca.sqrt(ca.fmax(ca.sumsqr(heading), LYING**2 / 4)))
        ahead = cross(axis, n)
        upright = ca.sqrt(ca.fmax(ca.sumsqr(ahead), LYING**2 / 4))  # the cosine of the inclination
        e_x = ahead / upright
        down = cross(e_x, axis)
        down = -down * ca.if_else(ca.dot(down, n) < 0, -1.0, 1.0)
        touching = ca.vertcat(place[0], place[1], z)
        far = ca.dot(touching - centre, n) / ca.fmin(ca.dot(down, n), -LYING / 2)
        return n, e_x, upright, down, far

    n, e_x, upright, down, far = plane_below(centre)
    if road.is_curved and cams is None:
        n, e_x, upright, down, far = plane_below(centre + down * far)
    r = down * far
    self.require(
        of_the_sign(upright - LYING),
        "the wheel lies nearly on its side, where a tyre has no contact point; the y-axis of frame_a is its axis",
    )
    beyond = road.margin(centre[0] + r[0], centre[1] + r[1])
    if beyond is not None:
        self.require(
            of_the_sign(beyond),
            "the road ends under the wheel; extend its grid, or let it go on with border = 'hold'",
        )
    turns = angular_velocity1(frame.R)
    own = ca.dot(turns, axis)
    carrier = turns - own * axis  # what the wheel's plane does
    velocity = self.der(centre) + cross(carrier, r)
    e_y = cross(n, e_x)
    return Contact(
        n=n,
        e_x=e_x,
        e_y=e_y,
        axis=axis,
        r=r,
        loaded_radius=far,
        sin_gamma=ca.dot(axis, n),
        v_x=ca.dot(velocity, e_x),
        v_y=ca.dot(velocity, e_y),
        v_n=ca.dot(velocity, n),
        omega=own + (0.0 if spin is None else spin),
        turning=ca.dot(carrier, n),
        mu=ca.SX(1.0) if found is None else found.mu * found.friction(centre[0] + r[0], centre[1] + r[1]),
    )


__all__ = ["Contact", "meet_road"]
