"""A railway wheelset that hunts on a straight track at 30 m/s: two conical wheels on an axle, on rails that are round.

A wheel touches its rail in one point, whose place follows from equations that are not linear: the surfaces meet there,
and have one normal. Creep forces after Kalker act in it, which depend on the normal force, a force of constraint, in no
linear way either. Springs hold the axle in a bogie of constant speed.

The source writes this down as 17 equations of index 2. Here it is a body on joints with two components of its own kind,
which say where wheel and rail touch, and by what forces. The source starts with contacts that are open by 5e-10 m, and
keeps that; here they are closed.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import casadi as ca

from mbfmu.components import Body, Prismatic, Revolute, World, translational
from mbfmu.components.interfaces import PartialForce, PartialTwoFrames
from mbfmu.dynamics import System
from mbfmu.frames import angular_velocity1, cross, relative_rotation, resolve1, resolve2
from mbfmu.modeling import Assembly, Coordinate, Multiplier, Parameter, Start, Variable, required
from mbfmu.modeling import types as t
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Wheelset"
SOURCE = (
    "problem wheel of F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008), by "
    "DASSL at 1e-9; after B. Simeon, C. Fuehrer, P. Rentrop, Introduction to differential-algebraic equations "
    "in vehicle system dynamics, Surveys on Mathematics for Industry 1 (1991), 1-37"
)
END, SPEED = 10.0, 30.0
#: Radius of the wheels where they touch the rails when they run straight [m].
RADIUS = 0.1
#: Part of a value by which ours may be off, as far as the published digits hold; of places along the axle less.
RELATIVE, ALONG = 2e-5, 1e-7

#: Start of the coordinates [m, rad]; all speeds are 0, and the wheels spin as they roll.
START = {"x": 0.14941e-2, "y": 0.40089e-6, "z": 0.11241e-5, "theta": -0.28573e-3, "phi": 0.26459e-3}


def _axes(theta: Any, phi: Any) -> tuple[Any, Any, Any]:
    """Axes that yaw by theta about y and roll by phi about z: along the axle, upwards, ahead."""
    s, c = ca.sin, ca.cos
    return (
        ca.vertcat(c(theta) * c(phi), s(phi), -s(theta) * c(phi)),
        ca.vertcat(-c(theta) * s(phi), c(phi), s(theta) * s(phi)),
        ca.vertcat(s(theta), 0, c(theta)),
    )


def _yaw_and_roll(axle: Any) -> tuple[Any, Any]:
    """Angles of an axle of this direction."""
    return ca.atan2(-axle[2], axle[0]), ca.asin(axle[1])


class Suspension(PartialForce):
    """Springs between the bogie, frame_a, and a wheelset, frame_b; as the source has it, on the part that spins."""

    modelica_name = "Problems.Wheelset.Suspension"

    c_x = Parameter(t.TranslationalSpringConstant, required, "Stiffness of each of the two springs to the side")
    c_z = Parameter(t.TranslationalSpringConstant, required, "Stiffness of each of the two springs ahead")
    half_width = Parameter(t.Length, required, "Half the distance of the springs")

    def cut_force(self) -> tuple[Any, Any]:
        """Forces to the side and ahead, and a torque about the vertical."""
        R = relative_rotation(self.frame_a.R, self.frame_b.R)
        r = resolve1(R, self.r_rel_b)
        theta, _ = _yaw_and_roll(resolve1(R, [1, 0, 0]))
        force = 2 * ca.vertcat(self.c_x * r[0], 0, self.c_z * r[2])
        torque = 2 * self.half_width**2 * self.c_z * ca.vertcat(0, theta, 0)
        return resolve2(R, force), resolve2(R, torque)


class WheelOnRail(PartialTwoFrames):
    """A cone that rolls on a rail of round section: frame_a on the track, frame_b in the middle of the axle.

    x points to the left, y upwards, z ahead; the axle lies along the x-axis of frame_b. Where the gauge is nominal, the
    rail's top is a wheel's radius below the origin of frame_a.
    """

    modelica_name = "Problems.Wheelset.WheelOnRail"

    side = Parameter(t.Real, required, "1 on the left, -1 on the right")
    radius = Parameter(t.Radius, RADIUS, "Radius of the wheel at half the gauge")
    half_gauge = Parameter(t.Length, 0.1506, "Half the gauge")
    cone = Parameter(t.Angle, 0.0262, "Angle of the cone")
    r_rail = Parameter(t.Radius, 0.06, "Radius of the rail's head")
    mu = Parameter(t.Real, 0.12, "Coefficient of friction")
    G = Parameter(t.Type("ShearModulus", unit="Pa"), 7.92e10, "Shear modulus")
    nu = Parameter(t.Real, 0.28, "Poisson's ratio")
    e_hertz = Parameter(t.Real, 1.3537956, "Elliptic integral of Hertz's contact")
    g_hertz = Parameter(t.Real, 0.7115218, "Ratio of the half axes of the area of contact")
    C_11 = Parameter(t.Real, 4.72772197, "Kalker's coefficient of creep ahead")
    C_22 = Parameter(t.Real, 4.27526987, "Kalker's coefficient of creep to the side")
    C_23 = Parameter(t.Real, 1.97203505, "Kalker's coefficient of spin")

    psi = Coordinate(t.Angle, "Angle about the axle, from below, at which the wheel touches", start=0.0)
    xi = Coordinate(t.Position, "Place along the axle at which the wheel touches")
    f_n = Multiplier(t.Force, "Normal force")
    f_c = Multiplier(t.Force, "Forces that keep the normals parallel (zero)", shape=2)
    f_up = Variable(t.Force, "Vertical part of the normal force")
    f_creep = Variable(t.Force, "Creep force on the wheel, ahead and to the left", shape=2)

    def equations(self) -> None:
        """Two surfaces that touch, and the creep between them."""
        a, b = self.frame_a, self.frame_b
        axle = resolve2(a.R, resolve1(b.R, [1, 0, 0]))
        theta, phi = _yaw_and_roll(axle)
        e_x, e_y, e_z = _axes(theta, phi)
        slant = self.side * ca.tan(self.cone)
        radius = self.radius + ca.tan(self.cone) * self.half_gauge - slant * self.xi
        below = -ca.cos(self.psi) * e_y - ca.sin(self.psi) * e_z
        to_point = self.xi * e_x + radius * below
        middle = resolve2(a.R, b.r_0 - a.r_0)
        point = middle + to_point

        # The wheel touches where its point lies on the rail, and its tangents across each other in the rail's plane
        off = self.side * point[0] - self.half_gauge - ca.sin(self.cone) * self.r_rail
        height = ca.sqrt(self.r_rail**2 - off**2)
        slope = -self.side * off / height
        cosine = height / self.r_rail
        normal = cosine * ca.vertcat(-slope, 1, 0)
        gap = cosine * (point[1] - height + self.radius + ca.cos(self.cone) * self.r_rail)
        along, around = e_x - slant * below, ca.sin(self.psi) * e_y - ca.cos(self.psi) * e_z
        self.constrain("f_n", position=gap)
        self.constrain("f_c", position=ca.vertcat(ca.dot(normal, along), ca.dot(normal, around)))
        self.effort(psi=self.f_c[0], xi=self.f_c[1])
        self.require(self.r_rail * 0.999 - ca.fabs(off), "the wheel is off the rail's head")

        # The source takes axes for creep that yaw by theta over the cosine of the slope
        delta = ca.atan(slope)
        yaw = theta / ca.cos(delta)
        ahead = ca.vertcat(ca.sin(yaw), 0, ca.cos(yaw))
        left = ca.vertcat(ca.cos(yaw) * ca.cos(delta), ca.sin(delta), -ca.sin(yaw) * ca.cos(delta))
        w, v = resolve2(a.R, angular_velocity1(b.R)), self.der(middle)
        w_theta, w_phi = ca.dot(w, e_y) / ca.cos(phi), ca.dot(w, e_z)
        w_axle = ca.dot(w, axle) - w_theta * ca.sin(phi)
        x, y, z = _axes(yaw, phi)
        arm = self.xi * x - radius * (ca.cos(self.psi) * y + ca.sin(self.psi) * z)
        slip = v + cross(w_axle * x + w_theta * ca.DM([0, 1, 0]) + w_phi * z, arm)
        rolling = ca.norm_2(slip - 2 * v) / 2
        spin = (ca.cos(delta) * w_theta - ca.sin(delta) * w_axle) / rolling

        curvature = ca.cos(self.cone) / radius + 1 / self.r_rail
        hertz = 3 * (1 - self.nu) * self.e_hertz / (math.pi * self.G * ca.sqrt(self.g_hertz))
        size = (hertz * ca.fabs(self.f_n) / curvature) ** (1 / 3)
        creep = ca.vertcat(self.C_11 * ca.dot(slip, ahead), self.C_22 * ca.dot(slip, left)) / rolling
        creep[1] += self.C_23 * size * spin
        most = self.mu * self.f_n
        f = -most * ca.tanh(self.G * size**2 * creep / most)
        self.f_creep = f * self.switch(most**2 - ca.sumsqr(f), 1, most / ca.norm_2(f))

        self.f_up = self.f_n * cosine
        force = self.f_n * normal + self.f_creep[0] * ahead + self.f_creep[1] * left
        a.f, a.t = force, cross(point, force)
        b.f = -resolve2(b.R, resolve1(a.R, force))
        b.t = -resolve2(b.R, resolve1(a.R, cross(to_point, force)))

    def visualize(self) -> None:
        """Draw the wheel, and the part of the rail below it."""
        width, middle = 0.04, self.half_gauge + ca.sin(self.cone) * self.r_rail
        self.draw_shape(
            "wheel", "cone", self.frame_b, r_shape=ca.vertcat(self.side * (middle - width / 2), 0, 0),
            lengthDirection=ca.vertcat(self.side, 0, 0), widthDirection=(0, 1, 0), length=width,
            width=2 * (self.radius + ca.tan(self.cone) * width / 2), color=(130, 135, 140),
            extra=1 - ca.tan(self.cone) * width / self.radius,
        )  # fmt: skip
        down = self.radius + ca.cos(self.cone) * self.r_rail
        self.draw_shape(
            "rail", "cylinder", self.frame_a, r_shape=ca.vertcat(self.side * middle, -down, self.frame_b.r_0[2] - 0.3),
            lengthDirection=(0, 0, 1), widthDirection=(0, 1, 0),
            length=0.6, width=2 * self.r_rail, color=(150, 110, 80),
        )  # fmt: skip


class Wheelset(Assembly):
    """Two wheels on an axle, in the middle of the track when they run straight, in a bogie of constant speed."""

    stop_time = 0.01  # of pictures: a longer way is a line

    def __init__(self) -> None:
        # Six coordinates, two contacts: y and phi follow from the others
        free = ("x", "z", "theta")
        place = {name: Start(value, fixed=name in free) for name, value in START.items()}
        rest = {name: Start(0.0, fixed=name in free) for name in START}
        self.world = World(g=9.81, axisLength=0.1, animateGravity=False)
        ahead, across, up = (0, 0, 1), (1, 0, 0), (0, 1, 0)
        self.bogie = Prismatic(n=ahead, useAxisFlange=True, s=Start(0.0, fixed=True), animation=False)
        self.speed = translational.ConstantSpeed(v_fixed=SPEED)
        self.z = Prismatic(n=ahead, s=place["z"], v=rest["z"], animation=False)
        self.x = Prismatic(n=across, s=place["x"], v=rest["x"], animation=False)
        self.y = Prismatic(n=up, s=place["y"], v=rest["y"], animation=False)
        self.theta = Revolute(n=up, phi=place["theta"], w=rest["theta"], animation=False)
        self.phi = Revolute(n=ahead, phi=place["phi"], w=rest["phi"], animation=False)
        self.spin = Revolute(
            n=across, phi=Start(0.0, fixed=True), w=Start(SPEED / RADIUS, fixed=True),
            cylinderLength=0.3, cylinderDiameter=0.03, cylinderColor=(90, 95, 100),
        )  # fmt: skip
        self.axle = Body(m=16.08, r_CM=(0, 0, 0), I_11=0.0605, I_22=0.366, I_33=0.366, animation=False)
        self.springs = Suspension(c_x=6400.0, c_z=6400.0, half_width=0.19)
        self.left, self.right = (WheelOnRail(side=side, xi=Start(0.15 * side, fixed=False)) for side in (1, -1))
        self.connect(self.speed.flange, self.bogie.axis)
        before = self.world.frame_b
        for joint in (self.bogie, self.z, self.x, self.y, self.theta, self.phi, self.spin):
            self.connect(before, joint.frame_a)
            before = joint.frame_b
        self.connect(before, self.axle.frame_a)
        self.connect(self.bogie.frame_b, self.springs.frame_a)
        self.connect(self.springs.frame_b, self.axle.frame_a)
        for wheel in (self.left, self.right):
            self.connect(self.world.frame_b, wheel.frame_a)
            self.connect(self.axle.frame_a, wheel.frame_b)
        self.output(self.x.s, "x")
        self.output(self.theta.phi, "yaw")


#: What is compared by name of the problem: variable, what it is, unit, value at 10 s as published.
COMPARED = {
    "x": ("x.s", "place to the left", "m", 0.86355386965811e-2),
    "y": ("y.s", "height", "m", 0.13038281022727e-4),
    "z": ("z.s", "place ahead in the bogie", "m", -0.93635784016818e-4),
    "theta": ("theta.phi", "yaw", "rad", -0.13642299804033e-1),
    "phi": ("phi.phi", "roll", "rad", 0.15292895005422e-2),
    "vx": ("x.v", "speed to the left", "m/s", -0.76985374142666e-1),
    "vy": ("y.v", "speed upwards", "m/s", -0.25151106429207e-3),
    "vz": ("z.v", "speed ahead in the bogie", "m/s", 0.20541188079539e-2),
    "w-theta": ("theta.w", "rate of yaw", "rad/s", -0.23904837703692),
    "w-phi": ("phi.w", "rate of roll", "rad/s", -0.13633468454173e-1),
    "beta": ("spin.w", "speed of the axle above 300 rad/s", "rad/s", -0.24421377661131),
    "psi-right": ("right.psi", "angle at which the right wheel touches", "rad", -0.33666751972196e-3),
    "xi-right": ("right.xi", "place along the axle at which the right wheel touches", "m", -0.15949425684022),
    "psi-left": ("left.psi", "angle at which the left wheel touches", "rad", 0.37839614386969e-3),
    "xi-left": ("left.xi", "place along the axle at which the left wheel touches", "m", 0.14173214964613),
    "n-left": ("left.f_up", "vertical part of the normal force on the left wheel", "N", 0.10124044903201e3),
    "n-right": ("right.f_up", "vertical part of the normal force on the right wheel", "N", 0.56285630573753e2),
}


@functools.cache
def _system() -> System:
    return System.of(Wheelset())


def solve(tolerance: float) -> Solution:
    """All at the end."""
    found = motion(_system(), [row[0] for row in COMPARED.values()], (0.0, END), tolerance)
    values = {f"wheelset-{name}": float(found.values[row[0]][-1]) for name, row in COMPARED.items()}
    values["wheelset-beta"] -= SPEED / RADIUS
    return Solution(values, found.seconds, found.evaluations)


PROBLEMS = tuple(
    Problem(
        f"wheelset-{name}", TITLE, SOURCE, f"{what} at {END:g} s", unit, value, solve,
        error=(ALONG if name.startswith("xi") else RELATIVE) * abs(value), model=Wheelset,
    )
    for name, (_, what, unit, value) in COMPARED.items()
)  # fmt: skip
