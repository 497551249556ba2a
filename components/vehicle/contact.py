"""Where a wheel meets the road: its contact point, the axes there (ISO 8855, W), and velocities."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca

from mbfmu.components.vehicle.roads import Road
from mbfmu.frames import angular_velocity1, cross, resolve1

#: The road where an assembly has none: the plane z = 0.
LEVEL = Road()
#: Sine of the angle between axis and normal below which a wheel lies on its side.
LYING = 0.2


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


def meet_road(self: Any, spin: Any = None) -> Contact:
    """The contact of the wheel whose centre is the origin of frame_a, and whose axis is the y-axis there.

    It is the point of the wheel's plane that is nearest to the plane which touches the road below it. On a curved road
    that plane is found in two steps: below the wheel's centre, and below the point that this gives.

    Args:
        self: the component, in its equations.
        spin: speed of rotation relative to frame_a [rad/s]; None where frame_a turns with the wheel.
    """
    found = self.outer("road")
    road = LEVEL if found is None else found
    frame = self.frame_a
    centre, axis = frame.r_0, resolve1(frame.R, ca.DM([0.0, 1.0, 0.0]))

    def plane_below(place: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
        z, n = road.point(place[0], place[1])
        ahead = cross(axis, n)
        upright = ca.sqrt(ca.fmax(ca.sumsqr(ahead), LYING**2 / 4))  # the cosine of the inclination
        e_x = ahead / upright
        down = cross(e_x, axis)
        down = -down * ca.if_else(ca.dot(down, n) < 0, -1.0, 1.0)
        touching = ca.vertcat(place[0], place[1], z)
        far = ca.dot(touching - centre, n) / ca.fmin(ca.dot(down, n), -LYING / 2)
        return n, e_x, upright, down, far

    n, e_x, upright, down, far = plane_below(centre)
    if road.is_curved:
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
