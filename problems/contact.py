"""Bodies that touch: impacts by Hertz's law and with restitution, sliding, rolling, sticking on a slope, drilling;
rigid bodies that meet, rest and part."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import integrate, special

from mbfmu.components import World
from mbfmu.components.contact import Box, Contact, Cylinder, Plane, RigidContact, Sphere
from mbfmu.components.joints import Revolute
from mbfmu.components.parts import Body, FixedTranslation
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Component, Start
from problems.motion import Motion, motion
from problems.problem import Problem, Solution

JOHNSON = "K. L. Johnson, Contact Mechanics, 1985, section 11.4: impact of spheres by Hertz's law"
CRADLE = (
    "One ball after the other: equal balls swap their speeds; one of them swings, sin(phi/2) = k sn(K - omega t, k)"
)
COULOMB = "Coulomb friction of rigid bodies, in closed form"
#: Acceleration of gravity [m/s2].
G = 9.81


class Touching(Assembly):
    """A body with a shape above a plane that may slope.

    Args:
        shape: geometry about its centre of mass.
        law: parameters of the contact.
        contact: its class.
        m, I: mass [kg] and moments of inertia [kg.m2], (3,).
        height, v, w: height of its centre of mass [m], velocity [m/s] and angular velocity [rad/s] at the start.
        slope: angle of the plane [rad], down which the x-axis points.
        g: acceleration of gravity [m/s2].
    """

    def __init__(
        self,
        shape: Component,
        law: Mapping[str, Any],
        *,
        contact: type[Component] = Contact,
        m: float = 1.0,
        I: Sequence[float] = (1.0, 1.0, 1.0),  # noqa: E741 - the symbol of mechanics
        height: float,
        v: Sequence[float] = (0.0, 0.0, 0.0),
        w: Sequence[float] = (0.0, 0.0, 0.0),
        slope: float = 0.0,
        g: float = G,
    ) -> None:
        self.world = World(g=g, n=(math.sin(slope), 0.0, -math.cos(slope)))
        self.body = Body(
            m=m,
            r_CM=(0, 0, 0),
            I_11=I[0],
            I_22=I[1],
            I_33=I[2],
            r_0=Start((0, 0, height), fixed=True),
            v_0=Start(tuple(v), fixed=True),
            angles_fixed=True,
            w_0_start=tuple(w),
            w_0_fixed=True,
        )
        self.shape, self.ground = shape, Plane()
        self.contact = contact(geometry_a="shape", geometry_b="ground", **law)
        self.connect(self.body.frame_a, self.shape.frame_a)
        self.connect(self.world.frame_b, self.ground.frame_a)


def crossing(t: np.ndarray, x: np.ndarray, begin: int = 0) -> float:
    """Instant at which x first comes to 0 from above after the sample `begin`, on the line between two samples."""
    i = begin + int(np.flatnonzero((x[begin + 1 :] < 0) & (x[begin:-1] >= 0))[0])
    return float(t[i] + (t[i + 1] - t[i]) * x[i] / (x[i] - x[i + 1]))


# -- impact of a sphere by Hertz's law


def hertz(m: float = 1.6, R: float = 0.1, E_star: float = 1e8, v: float = 1.0) -> tuple[float, float]:
    """Greatest depth [m] and duration [s] of the impact of a sphere on a plane."""
    depth = (15 * m * v**2 / (16 * E_star * math.sqrt(R))) ** 0.4
    return depth, 2 * depth / v * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9) * 0.4


def impact() -> Touching:
    """The sphere at the instant at which it touches."""
    return Touching(Sphere(radius=0.1), {"E_a": 2e8, "nu_a": 0.0}, m=1.6, height=0.1, v=(0, 0, -1), g=0.0)


def solve_hertz(tolerance: float) -> Solution:
    """Depth at its greatest, on a parabola through three samples; end of contact from where the sphere is later."""
    t = np.linspace(0, 4e-3, 4001)
    run = motion(_system(impact), ["contact.gap[1]", "body.v_0[3]"], t, tolerance)
    gap, v = run.values["contact.gap[1]"], run.values["body.v_0[3]"]
    i = int(np.argmin(gap))
    before, lowest, after = gap[i - 1 : i + 2]
    depth = -(lowest - (after - before) ** 2 / (8 * (after - 2 * lowest + before)))
    values = {"contact-hertz-depth": float(depth), "contact-hertz-duration": float(t[-1] - gap[-1] / v[-1])}
    return Solution(values, run.seconds, run.evaluations)


# -- bouncing ball: the compliant law with restitution, at growing stiffness

H, E, LANDING = 1.0, 0.7, 6
#: Stiffness [N/m] of the ball of 1 kg.
STIFF = 1e10


def landing(n: int) -> float:
    """Instant [s] of the n-th impact of a ball that falls from H and loses no time in impacts."""
    return math.sqrt(2 * H / G) * (1 + 2 * sum(E**k for k in range(1, n)))


def bouncing(c: float) -> Touching:
    """The ball at rest above the ground."""
    return Touching(Sphere(radius=0.1), {"c": c, "e": E}, height=0.1 + H)


def landings(c: float, tolerance: float, upto: int) -> tuple[np.ndarray, Motion]:
    """Instants [s] of the first impacts, which are looked for around those of the rigid ball."""
    late = 20 / math.sqrt(c)
    near = [np.linspace(landing(n) - late, landing(n) + late * n, 400) for n in range(1, upto + 1)]
    t = np.unique(np.concatenate([[0.0], *near]))
    run = motion(_system(functools.partial(bouncing, c)), ["contact.gap[1]"], t, tolerance)
    gap = run.values["contact.gap[1]"]
    return np.array([crossing(t, gap, int(np.searchsorted(t, one[0]))) for one in near]), run


def solve_bouncing(tolerance: float) -> Solution:
    """Landing after five impacts."""
    found, run = landings(STIFF, tolerance, LANDING)
    return Solution({"contact-bouncing-ball-landing": float(found[-1])}, run.seconds, run.evaluations)


# -- rigid bodies: the same ball until it rests, Newton's cradle, a double pendulum at a wall

#: End of the infinitely many impacts [s].
REST = math.sqrt(2 * H / G) * (1 + 2 * E / (1 - E))


def rigid_ball() -> Touching:
    """The ball at rest above the ground; both are rigid."""
    return Touching(Sphere(radius=0.1), {"e": E}, contact=RigidContact, height=0.1 + H)


def solve_rigid_ball(tolerance: float) -> Solution:
    """The first of some instants around the end at which the ball rests."""
    t = np.concatenate([[0.0], np.linspace(REST - 1e-5, REST + 1e-5, 2001)])
    run = motion(_system(rigid_ball), ["contact.closed[1]"], t, tolerance)
    rests = float(t[np.argmax(run.values["contact.closed[1]"] > 0.5)])
    return Solution({"contact-bouncing-ball-rest": rests}, run.seconds, run.evaluations)


#: Newton's cradle: how many balls, radius and length [m], angle of the first at the start [rad].
BALLS, BALL, STRING, RAISED = 5, 0.05, 1.0, 0.3


class Cradle(Assembly):
    """Balls on strings, which touch where they hang; the first is let go."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        for i in range(BALLS):
            mount = self.add(f"mount{i + 1}", FixedTranslation(r=(2 * BALL * i, 0, 0)))
            angle = Start(0.0 if i else RAISED, fixed=True)
            joint = self.add(f"joint{i + 1}", Revolute(n=(0, 1, 0), phi=angle, w=Start(0.0, fixed=True)))
            body = self.add(f"body{i + 1}", Body(m=1.0, r_CM=(0, 0, -STRING)))
            ball = self.add(f"ball{i + 1}", Sphere(radius=BALL, r=(0, 0, -STRING)))
            self.connect(self.world.frame_b, mount.frame_a)
            self.connect(mount.frame_b, joint.frame_a)
            self.connect(joint.frame_b, body.frame_a)
            self.connect(joint.frame_b, ball.frame_a)
            if i:
                names = {"geometry_a": f"ball{i + 1}", "geometry_b": f"ball{i}"}
                self.add(f"contact{i}", RigidContact(**names, e=1.0))


def pendulum(t: float) -> float:
    """Angle [rad] of one ball that swings freely: sin(phi/2) = k sn(K - omega t), k = sin(RAISED/2)."""
    # Moments of inertia of a Body are 1e-3 kg.m2 unless given
    m = math.sin(RAISED / 2) ** 2
    sn = special.ellipj(float(special.ellipk(m)) - OMEGA * t, m)[0]
    return 2 * math.asin(math.sqrt(m) * sn)


OMEGA = math.sqrt(G * STRING / (STRING**2 + 1e-3))
#: What part of a swing there and back is over when angles are compared.
SWINGS = 0.9


def swing() -> float:
    """Time [s] of a swing there and back."""
    return float(4 * special.ellipk(math.sin(RAISED / 2) ** 2) / OMEGA)


def cradle_angles(part: float) -> list[float]:
    """Angles [rad] of all balls: the last one goes on where the first one stops, and back."""
    phi = pendulum(part * swing())
    return [max(phi, 0.0), *(0.0,) * (BALLS - 2), min(phi, 0.0)]


def solve_cradle(tolerance: float) -> Solution:
    """Angles while the last ball is out, and after it has been there."""
    names = [f"joint{i + 1}.phi" for i in range(BALLS)]
    run = motion(_system(Cradle), names, [0.0, 0.6 * swing(), SWINGS * swing()], tolerance)
    out, back = ([float(run.values[name][i]) for name in names] for i in (1, 2))
    values = {"contact-newton-cradle-out": out, "contact-newton-cradle-back": back}
    return Solution(values, run.seconds, run.evaluations)


#: A ladder [m], its angle with the floor at the start [rad].
LADDER, LEANT = 2.0, math.radians(70.0)


class Ladder(Assembly):
    """A ladder that slides down between a wall and a floor without friction, and comes off the wall."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        half, end = LADDER / 2, 0.01
        J, along = LADDER**2 / 12, (math.cos(LEANT), 0.0, math.sin(LEANT))
        self.body = Body(
            m=1.0,
            r_CM=(0, 0, 0),
            I_11=J,
            I_22=J,
            I_33=J,
            r_0=Start((half * along[0], 0.0, half * along[2]), fixed=True),
            v_0=Start((0, 0, 0), fixed=True),
            angles_fixed=True,
            w_0_fixed=True,
        )
        self.top = Sphere(radius=end, r=(-half * along[0], 0, half * along[2]))
        self.foot = Sphere(radius=end, r=(half * along[0], 0, -half * along[2]))
        self.wall, self.floor = Plane(r=(-end, 0, 0), n=(1, 0, 0)), Plane(r=(0, 0, -end))
        for shape in (self.top, self.foot):
            self.connect(self.body.frame_a, shape.frame_a)
        for plane in (self.wall, self.floor):
            self.connect(self.world.frame_b, plane.frame_a)
        self.at_wall = RigidContact(geometry_a="top", geometry_b="wall")
        self.at_floor = RigidContact(geometry_a="foot", geometry_b="floor")


def solve_ladder(tolerance: float) -> Solution:
    """Height of the top where it comes off the wall, on a grid that is laid around that instant."""
    t = np.linspace(0.0, 1.0, 101)
    for _ in range(3):
        run = motion(_system(Ladder), ["at_wall.closed[1]", "at_wall.r_c[1,3]"], t, tolerance)
        i = int(np.argmax(run.values["at_wall.closed[1]"][1:] < 0.5))
        t = np.concatenate([[0.0], np.linspace(t[i], t[i + 1], 10001)])
    return Solution({"contact-ladder-wall": float(run.values["at_wall.r_c[1,3]"][i])}, run.seconds, run.evaluations)


#: Double pendulum of rods [m, kg], its angles [rad] at the start, from the vertical; the wall's place [m], its end [s].
ROD, START, WALL, STOP = 1.0, (1.2, 0.7), 0.3, 1.6


class AtWall(Assembly):
    """A double pendulum of two rods, whose end hits a wall, slides along it, and comes off."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        for i, phi in enumerate((START[0], START[1] - START[0])):
            joint = Revolute(n=(0, -1, 0), phi=Start(phi, fixed=True), w=Start(0.0, fixed=True))
            self.add(f"joint{i + 1}", joint)
            rod = self.add(f"rod{i + 1}", FixedTranslation(r=(0, 0, -ROD)))
            J = ROD**2 / 12
            body = self.add(f"body{i + 1}", Body(m=1.0, r_CM=(0, 0, -ROD / 2), I_11=J, I_22=J, I_33=1e-6))
            self.connect(self.rod1.frame_b if i else self.world.frame_b, joint.frame_a)
            self.connect(joint.frame_b, rod.frame_a)
            self.connect(joint.frame_b, body.frame_a)
        self.tip, self.wall = Sphere(radius=0.02), Plane(r=(-WALL, 0, 0), n=(1, 0, 0))
        self.contact = RigidContact(geometry_a="tip", geometry_b="wall")
        self.connect(self.rod2.frame_b, self.tip.frame_a)
        self.connect(self.world.frame_b, self.wall.frame_a)


def solve_at_wall(tolerance: float) -> Solution:
    """Angles after it has come off."""
    run = motion(_system(AtWall), ["joint1.phi", "joint2.phi"], [0.0, STOP], tolerance)
    values = [float(run.values[f"joint{i}.phi"][-1]) for i in (1, 2)]
    return Solution({"contact-double-pendulum-wall": values}, run.seconds, run.evaluations)


def by_hand() -> dict[str, Any]:
    """The double pendulum by Lagrange's equations in absolute angles, phase by phase, with SciPy.

    x = sin, z = -cos of angles from the vertical; the gap is ROD (sin a + sin b) + WALL - radius of the tip.
    """

    def terms(q: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Mass matrix, forces, derivative of the gap, and what its second derivative is without accelerations."""
        a, b = q
        c, s = ROD**2 / 2 * math.cos(a - b), ROD**2 / 2 * math.sin(a - b)
        M = np.array([[ROD**2 * 4 / 3, c], [c, ROD**2 / 3]])
        f = np.array([-s * w[1] ** 2 - 1.5 * G * ROD * math.sin(a), s * w[0] ** 2 - 0.5 * G * ROD * math.sin(b)])
        return M, f, ROD * np.cos(q), float(-ROD * np.sin(q) @ w**2)

    def gap(q: np.ndarray) -> float:
        return float(ROD * np.sin(q).sum()) + WALL - 0.02

    def pressed(y: np.ndarray) -> tuple[np.ndarray, float]:
        """Accelerations along the wall, and its force."""
        M, f, row, rest = terms(y[:2], y[2:])
        A = np.block([[M, -row[:, None]], [row[None, :], np.zeros((1, 1))]])
        found = np.linalg.solve(A, [*f, -rest])
        return found[:2], float(found[2])

    def free(t: float, y: np.ndarray) -> np.ndarray:
        M, f, *_ = terms(y[:2], y[2:])
        return np.concatenate([y[2:], np.linalg.solve(M, f)])

    def along(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[2:], pressed(y)[0]])

    def meets(t: float, y: np.ndarray) -> float:
        return gap(y[:2])

    def parts(t: float, y: np.ndarray) -> float:
        return pressed(y)[1]

    for event in (meets, parts):
        event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
    t, y, closed = 0.0, np.array([*START, 0.0, 0.0]), False
    while t < STOP:
        rate, event = (along, parts) if closed else (free, meets)
        run = integrate.solve_ivp(rate, (t, STOP), y, "DOP853", events=event, rtol=1e-13, atol=1e-13)
        t, y = float(run.t[-1]), run.y[:, -1]
        if run.status == 1 and not closed:
            M, _, row, _ = terms(y[:2], y[2:])
            through = np.linalg.solve(M, row)
            y[2:] -= through * (row @ y[2:]) / (row @ through)
            closed = parts(t, y) > 0
        elif run.status == 1:
            closed = False
    return {"contact-double-pendulum-wall": [float(y[0]), float(y[1] - y[0])]}


# -- a sphere that slides until it rolls

MU, V_0, RADIUS = 0.3, 2.0, 0.1


def sliding_sphere(c: float = 1e8) -> Touching:
    """The sphere slides on the plane, pressed into it by its weight."""
    law = {"c": c, "d": 0.5, "mu_k": MU, "c_t": c / 10, "d_t": c / 1e6}
    J = 0.4 * RADIUS**2
    return Touching(Sphere(radius=RADIUS), law, I=(J, J, J), height=RADIUS - G / c, v=(V_0, 0, 0))


def solve_sliding_sphere(tolerance: float) -> Solution:
    """End of sliding, and the speed later on."""
    t = np.linspace(0, 0.3, 3001)
    run = motion(_system(sliding_sphere), ["body.v_0[1]", "body.w_a[2]"], t, tolerance)
    v, w = run.values["body.v_0[1]"], run.values["body.w_a[2]"]
    values = {"contact-rolling-sphere-time": crossing(t, v - RADIUS * w), "contact-rolling-sphere-speed": float(v[-1])}
    return Solution(values, run.seconds, run.evaluations)


# -- a block on a slope

SLOPE = math.radians(20.0)


def block(mu: float) -> Touching:
    """The block on eight corners, pressed into the slope by its weight."""
    law = {"c": 1e6, "d": 400.0, "mu_k": mu, "c_t": 1e6}
    depth = G * math.cos(SLOPE) / 4e6
    return Touching(Box(length=0.2, height=0.1), law, I=(0.01, 0.01, 0.01), height=0.05 - depth, slope=SLOPE)


def solve_sticking(tolerance: float) -> Solution:
    """Way from 1 s to 101 s, tan(slope) being below mu."""
    run = motion(_system(functools.partial(block, 0.4)), ["body.r_0[1]"], [0.0, 1.0, 101.0], tolerance)
    x = run.values["body.r_0[1]"]
    return Solution({"contact-slope-creep": float(x[2] - x[1])}, run.seconds, run.evaluations)


def solve_sliding(tolerance: float) -> Solution:
    """Acceleration from 1 s to 3 s, tan(slope) being above mu."""
    run = motion(_system(functools.partial(block, 0.3)), ["body.v_0[1]"], [0.0, 1.0, 3.0], tolerance)
    v = run.values["body.v_0[1]"]
    return Solution({"contact-slope-sliding": float((v[2] - v[1]) / 2)}, run.seconds, run.evaluations)


# -- a cylinder that rolls down, a disc that spins


def cylinder(c: float = 1e7) -> Touching:
    """The cylinder across the slope."""
    r, slope = 0.05, math.radians(10.0)
    law = {"c": c, "d": 2e3, "mu_k": 0.5, "c_t": c / 10}
    J, J_across = r**2 / 2, r**2 / 4 + 0.2**2 / 12
    depth = G * math.cos(slope) / (2 * c)
    return Touching(
        Cylinder(radius=r, length=0.2, n=(0, 1, 0)), law, I=(J_across, J, J_across), height=r - depth, slope=slope
    )


def solve_cylinder(tolerance: float) -> Solution:
    """Acceleration from 0.5 s to 1 s."""
    run = motion(_system(cylinder), ["body.v_0[1]"], [0.0, 0.5, 1.0], tolerance)
    v = run.values["body.v_0[1]"]
    return Solution({"contact-rolling-cylinder": float((v[2] - v[1]) / 0.5)}, run.seconds, run.evaluations)


#: Lever arm of drilling [m]: that of an even pressure under a disc, 2/3 mu R.
DRILLING, SPIN = 2 / 3 * 0.3 * 0.1, 20.0


def disc() -> Touching:
    """The disc on its end, turning about the vertical."""
    law = {"c": 1e6, "d": 1.0, "mu_k": 0.3, "c_t": 1e6, "mu_d": DRILLING, "c_r": 1e4}
    J = 0.1**2 / 2
    return Touching(
        Cylinder(radius=0.1, length=0.02), law, I=(J / 2, J / 2, J), height=0.01 - G / 1e6, w=(0.0, 0.0, SPIN)
    )


def solve_disc(tolerance: float) -> Solution:
    """Instant at which it no longer turns forward."""
    t = np.linspace(0, 0.7, 7001)
    run = motion(_system(disc), ["body.w_a[3]"], t, tolerance)
    return Solution({"contact-drilling-disc": crossing(t, run.values["body.w_a[3]"])}, run.seconds, run.evaluations)


@functools.cache
def _system(model: Callable[[], Assembly]) -> System:
    return System.of(model())


_DEPTH, _DURATION = hertz()
_COMMON: Mapping[str, Any] = {"origin": "closed form", "tolerance": 1e-8, "tolerances": (1e-6, 1e-8)}

PROBLEMS = (
    Problem(
        "contact-hertz-depth",
        "Impact of a sphere",
        JOHNSON,
        "greatest depth of a sphere of 1.6 kg, R = 0.1 m, E* = 1e8 Pa at 1 m/s",
        "m",
        _DEPTH,
        solve_hertz,
        error=1e-6 * _DEPTH,
        model=impact,
        **_COMMON,
    ),
    Problem(
        "contact-hertz-duration",
        "Impact of a sphere",
        JOHNSON,
        "duration of the impact",
        "s",
        _DURATION,
        solve_hertz,
        error=1e-6 * _DURATION,
        model=impact,
        **_COMMON,
    ),
    Problem(
        "contact-bouncing-ball-landing",
        "Bouncing ball",
        "Geometric series of flights; impacts that take no time are approached as the contact grows stiffer",
        f"instant of impact {LANDING} after a fall of 1 m with e = 0.7, by a contact of 1e10 N/m",
        "s",
        landing(LANDING),
        solve_bouncing,
        error=5e-4,
        model=functools.partial(bouncing, STIFF),
        **_COMMON,
    ),
    Problem(
        "contact-bouncing-ball-rest",
        "Bouncing ball",
        "Geometric series of flights, whose sum is finite",
        "end of infinitely many impacts after a fall of 1 m with e = 0.7, by rigid contact",
        "s",
        REST,
        solve_rigid_ball,
        error=1e-6,
        model=rigid_ball,
        **_COMMON,
    ),
    Problem(
        "contact-newton-cradle-out",
        "Newton's cradle",
        CRADLE,
        f"angles of five balls of rigid contact, e = 1, 0.6 swings after the first is let go at {RAISED} rad",
        "rad",
        cradle_angles(0.6),
        solve_cradle,
        error=1e-7,
        model=Cradle,
        **_COMMON,
    ),
    Problem(
        "contact-newton-cradle-back",
        "Newton's cradle",
        CRADLE,
        f"the same after {SWINGS} swings",
        "rad",
        cradle_angles(SWINGS),
        solve_cradle,
        error=1e-7,
        model=Cradle,
        **_COMMON,
    ),
    Problem(
        "contact-ladder-wall",
        "A ladder between a wall and a floor",
        "Energy and momentum of a uniform rod without friction, in closed form",
        "height at which the top of a sliding ladder comes off the wall, 2/3 of that at the start",
        "m",
        2 / 3 * LADDER * math.sin(LEANT),
        solve_ladder,
        error=1e-6,
        model=Ladder,
        **_COMMON,
    ),
    Problem(
        "contact-double-pendulum-wall",
        "A double pendulum at a wall",
        "Lagrange's equations with impacts after Newton and a multiplier, by hand",
        f"angles after {STOP} s: its end has hit the wall, slid along it, and come off",
        "rad",
        [0.28651268615839, -0.39716983018663],
        solve_at_wall,
        error=1e-6,
        model=AtWall,
        **{**_COMMON, "origin": "computed"},
    ),
    Problem(
        "contact-rolling-sphere-time",
        "A sphere slides until it rolls",
        COULOMB,
        "end of sliding, 2 v0 / (7 mu g)",
        "s",
        2 * V_0 / (7 * MU * G),
        solve_sliding_sphere,
        error=5e-6,
        model=sliding_sphere,
        **_COMMON,
    ),
    Problem(
        "contact-rolling-sphere-speed",
        "A sphere slides until it rolls",
        COULOMB,
        "speed of rolling, 5/7 v0",
        "m/s",
        5 / 7 * V_0,
        solve_sliding_sphere,
        error=1e-6,
        model=sliding_sphere,
        **_COMMON,
    ),
    Problem(
        "contact-slope-creep",
        "A block on a slope",
        COULOMB,
        "way in 100 s on a slope of 20 degrees with mu = 0.4",
        "m",
        0.0,
        solve_sticking,
        error=1e-12,
        model=functools.partial(block, 0.4),
        **_COMMON,
    ),
    Problem(
        "contact-slope-sliding",
        "A block on a slope",
        COULOMB,
        "acceleration on a slope of 20 degrees with mu = 0.3",
        "m/s2",
        G * (math.sin(SLOPE) - 0.3 * math.cos(SLOPE)),
        solve_sliding,
        error=1e-6,
        model=functools.partial(block, 0.3),
        **_COMMON,
    ),
    Problem(
        "contact-rolling-cylinder",
        "A cylinder rolls down",
        COULOMB,
        "acceleration of a cylinder that rolls down a slope of 10 degrees, 2/3 g sin(slope)",
        "m/s2",
        2 / 3 * G * math.sin(math.radians(10.0)),
        solve_cylinder,
        error=1e-5,
        model=cylinder,
        **_COMMON,
    ),
    Problem(
        "contact-drilling-disc",
        "A disc spins until it stands",
        COULOMB,
        "end of a spin of 20 rad/s of a disc of 1 kg and R = 0.1 m by a drilling torque of 2/3 mu m g R, mu = 0.3",
        "s",
        0.1**2 / 2 * SPIN / (DRILLING * G),
        solve_disc,
        error=1e-5,
        model=disc,
        **_COMMON,
    ),
)
