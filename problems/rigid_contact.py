"""Rigid bodies that meet with friction: blocks, a ball with spin, rods, a rimless wheel."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mbfmu.components import World
from mbfmu.components.contact import Box, Plane, RigidContact, Sphere
from mbfmu.components.parts import Body
from mbfmu.dynamics import System
from mbfmu.errors import InitializationError
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate
from problems.contact import COULOMB, SLOPE, G, Touching
from problems.motion import motion
from problems.problem import Problem, Solution

STRONGE = "W. J. Stronge, Impact Mechanics, 2000, and E. J. Routh, Dynamics of a System of Rigid Bodies, 1905, art. 180"
GARWIN = "R. L. Garwin, Kinematics of an ultraelastic rough ball, Am. J. Phys. 37 (1969) 88-92: sphere with friction"
PAINLEVE = (
    "P. Painleve (1895); F. Genot and B. Brogliato, Eur. J. Mech. A 18 (1999) 653-677: mu > 4/3 for a slender rod"
)
MCGEER = "T. McGeer, Passive dynamic walking, Int. J. Robot. Res. 9 (1990) 62-82; M. Coleman, thesis, Cornell, 1998"
HOUSNER = "G. W. Housner, The behavior of inverted pendulum structures during earthquakes, Bull. SSA 53 (1963) 403-417"


@functools.cache
def _system(model: Callable[[], Assembly]) -> System:
    return System.of(model())


# -- a block on a slope


def block(mu: float) -> Touching:
    """The block on four of its corners."""
    box = Box(length=0.2, height=0.1)
    return Touching(box, {"mu_k": mu}, contact=RigidContact, I=(0.01, 0.01, 0.01), height=0.05, slope=SLOPE)


def solve_sticking(tolerance: float) -> Solution:
    """Way in 100 s, tan(slope) being below mu."""
    run = motion(_system(functools.partial(block, 0.4)), ["body.r_0[1]"], [0.0, 100.0], tolerance)
    return Solution({"contact-rigid-slope-creep": float(run.values["body.r_0[1]"][-1])}, run.seconds, run.evaluations)


def solve_sliding(tolerance: float) -> Solution:
    """Acceleration, tan(slope) being above mu."""
    run = motion(_system(functools.partial(block, 0.3)), ["body.v_0[1]"], [0.0, 2.0], tolerance)
    acceleration = float(run.values["body.v_0[1]"][-1] / 2)
    return Solution({"contact-rigid-slope-sliding": acceleration}, run.seconds, run.evaluations)


# -- a ball with spin

RADIUS, FALL, E, SPEED = 0.1, 0.3, 0.6, 1.0
#: Coefficient of friction and spin [rad/s] of a ball that slides all the while, and of one that stops.
SLIDES, STOPS = (0.1, 50.0), (0.5, 3.0)


def ball(mu: float, w: float) -> Touching:
    """The ball above the ground."""
    J = 0.4 * RADIUS**2
    start: dict[str, Any] = {"height": RADIUS + FALL, "v": (SPEED, 0, 0), "w": (0, w, 0)}
    return Touching(Sphere(radius=RADIUS), {"mu_k": mu, "e": E}, contact=RigidContact, I=(J, J, J), **start)


def bounced(mu: float, w: float) -> list[float]:
    """Speed [m/s] and spin [rad/s] after the impact."""
    J, slip = 0.4 * RADIUS**2, SPEED - RADIUS * w
    most = mu * (1 + E) * math.sqrt(2 * G * FALL)
    impulse = float(np.clip(-slip / (1 + RADIUS**2 / J), -most, most))
    return [SPEED + impulse, w - RADIUS * impulse / J]


def solve_ball(tolerance: float) -> Solution:
    """Both balls after their first impact."""
    values, seconds, evaluations = {}, 0.0, 0
    for name, case in (("slides", SLIDES), ("sticks", STOPS)):
        run = motion(_system(functools.partial(ball, *case)), ["body.v_0[1]", "body.w_a[2]"], [0.0, 0.4], tolerance)
        values[f"contact-spinning-ball-{name}"] = [float(run.values[key][-1]) for key in ("body.v_0[1]", "body.w_a[2]")]
        seconds, evaluations = seconds + run.seconds, evaluations + run.evaluations
    return Solution(values, seconds, evaluations)


# -- a rod


class Rod(Assembly):
    """A slender rod of 1 kg and 1 m, whose lower end touches the floor.

    Args:
        angle: from the floor to the rod [rad].
        law: parameters of the contact.
        v: velocity of its centre [m/s].
        g: acceleration of gravity [m/s2].
    """

    def __init__(self, angle: float, law: Mapping[str, Any], v: tuple[float, float, float], g: float = 0.0) -> None:
        self.world = World(g=g, n=(0, 0, -1)) if g else World(gravityType="NoGravity")
        c, s, J = math.cos(angle) / 2, math.sin(angle) / 2, 1 / 12
        self.body = Body(
            m=1.0,
            r_CM=(0, 0, 0),
            I_11=J,
            I_22=J,
            I_33=J,
            r_0=Start((0, 0, s + 1e-9), fixed=True),
            v_0=Start(v, fixed=True),
            angles_fixed=True,
            w_0_fixed=True,
        )
        self.tip, self.floor = Sphere(radius=1e-9, r=(-c, 0, -s)), Plane()
        self.contact = RigidContact(geometry_a="tip", geometry_b="floor", **law)
        self.connect(self.body.frame_a, self.tip.frame_a)
        self.connect(self.world.frame_b, self.floor.frame_a)


def routh(angle: float, mu: float, e: float, hypothesis: str, u: np.ndarray) -> np.ndarray:
    """Impulses (along the floor, normal) on the rod by Routh's process, whose straight pieces follow each other.

    `u` is the velocity of the tip before (along, normal) [m/s].
    """
    r = -np.array([math.cos(angle), math.sin(angle)]) / 2
    W = np.array([[1 + 12 * r[1] ** 2, -12 * r[0] * r[1]], [-12 * r[0] * r[1], 1 + 12 * r[0] ** 2]])
    p, u, before, work = np.zeros(2), np.array(u, dtype=float), float(u[1]), 0.0
    compressed: tuple[float, float] | None = None
    while True:
        ratio = -mu * float(np.sign(u[0])) if abs(u[0]) > 1e-12 else float(np.clip(-W[0, 1] / W[0, 0], -mu, mu))
        step = np.array([ratio, 1.0])
        rate = W @ step
        stops = -u[0] / rate[0] if u[0] * rate[0] < -1e-12 else math.inf
        if compressed is None:
            ends = -u[1] / rate[1] if rate[1] > 0 else math.inf
        elif hypothesis == "Newton":
            ends = (-e * before - u[1]) / rate[1]
        elif hypothesis == "Poisson":
            ends = (1 + e) * compressed[0] - p[1]
        else:
            left = -(e**2) * compressed[1] - (work - compressed[1])
            ends = (math.sqrt(u[1] ** 2 + 2 * rate[1] * left) - u[1]) / rate[1]
        end = min(stops, ends)
        work += end * float(u[1] + end * rate[1] / 2)
        p, u = p + end * step, u + end * rate
        if stops < ends:
            u[0] = 0.0
        elif compressed is not None:
            return p
        else:
            compressed = float(p[1]), work


#: Angle [rad], coefficients of friction and restitution, and speed along the floor [m/s] of rods that come down with
#: 1 m/s: one sticks, one stops and turns round.
RODS = {"sticks": (math.radians(45), 0.8, 0.5, 0.0), "turns": (math.radians(60), 0.2, 0.5, 0.5)}
HYPOTHESES = ("Newton", "Poisson", "Stronge")


def rod(name: str, hypothesis: str) -> Rod:
    """One of these rods."""
    angle, mu, e, v = RODS[name]
    return Rod(angle, {"mu_k": mu, "e": e, "hypothesis": hypothesis}, (v, 0, -1.0))


def by_hand() -> dict[str, Any]:
    """Impulses along the floor and normal to it [N.s], after each hypothesis, by Routh's process."""
    return {
        f"contact-rod-{name}": [
            float(x)
            for hypothesis in HYPOTHESES
            for x in routh(*RODS[name][:3], hypothesis, np.array([RODS[name][3], -1.0]))
        ]
        for name in RODS
    }


def solve_rods(tolerance: float) -> Solution:
    """The same impulses."""
    values, seconds, evaluations = {}, 0.0, 0
    names = ["contact.impulse_t[1]", "contact.impulse[1]"]
    for name in RODS:
        found: list[float] = []
        for hypothesis in HYPOTHESES:
            run = motion(_system(functools.partial(rod, name, hypothesis)), names, [0.0, 0.01], tolerance)
            found += [float(run.values[key][-1]) for key in names]
            seconds, evaluations = seconds + run.seconds, evaluations + run.evaluations
        values[f"contact-rod-{name}"] = found
    return Solution(values, seconds, evaluations)


def sliding_rod() -> Rod:
    """A rod that slides along the floor with its lower end in front, at the angle that needs least friction to jam."""
    return Rod(math.atan(2.0), {"mu_k": 1.0}, (-1.0, 0, 0), G)


def solve_painleve(tolerance: float) -> Solution:
    """The least friction with which a run is refused, by halving."""
    system, low, high = _system(sliding_rod), 1.0, 2.0
    while high - low > 1e-9:
        mu = (low + high) / 2
        try:
            simulate(system, 1e-6, interval=1e-6, start_values={"contact.mu_k": mu})
            low = mu
        except InitializationError:
            high = mu
    return Solution({"contact-painleve-rod": high}, 0.0)


# -- a rimless wheel that walks down a slope

#: Number of spokes, their length [m], mass [kg] and moment of inertia [kg.m2] of the wheel, angle of the slope [rad].
SPOKES, SPOKE, MASS, INERTIA, DOWN = 8, 1.0, 1.0, 0.5, 0.08


class RimlessWheel(Assembly):
    """A wheel of spokes without a rim on a slope; it begins on two spokes, and is turned by hand."""

    def __init__(self, w: float = 1.5) -> None:
        self.world = World(g=G, n=(math.sin(DOWN), 0.0, -math.cos(DOWN)))
        half = math.pi / SPOKES
        self.body = Body(
            m=MASS,
            r_CM=(0, 0, 0),
            I_11=INERTIA,
            I_22=INERTIA,
            I_33=INERTIA,
            r_0=Start((0, 0, SPOKE * math.cos(half) + 1e-9), fixed=True),
            v_0=Start((SPOKE * math.cos(half) * w, 0, 0), fixed=True),
            angles_fixed=True,
            w_0_fixed=True,
            w_0_start=(0, w, 0),
        )
        self.ground = Plane()
        self.connect(self.world.frame_b, self.ground.frame_a)
        for i in range(SPOKES):
            angle = (2 * i + 1) * half
            foot = self.add(
                f"foot{i + 1}", Sphere(radius=1e-9, r=(SPOKE * math.sin(angle), 0, -SPOKE * math.cos(angle)))
            )
            self.connect(self.body.frame_a, foot.frame_a)
            self.add(f"at{i + 1}", RigidContact(geometry_a=f"foot{i + 1}", geometry_b="ground", mu_k=2.0))


def upright() -> float:
    """Angular speed [rad/s] on the limit cycle as a spoke stands upright: least of all.

    At an impact it becomes (I + m l^2 cos(2 pi/n))/(I + m l^2) times as much, which gravity makes up for.
    """
    half, about = math.pi / SPOKES, INERTIA + MASS * SPOKE**2
    kept = ((INERTIA + MASS * SPOKE**2 * math.cos(2 * half)) / about) ** 2
    weight = 2 * MASS * G * SPOKE / about
    before = weight * 2 * math.sin(half) * math.sin(DOWN) / (1 - kept)
    return math.sqrt(kept * before - weight * (1 - math.cos(half - DOWN)))


def solve_wheel(tolerance: float) -> Solution:
    """The last but one minimum, on a parabola through three samples."""
    t = np.concatenate([[0.0], np.linspace(18.0, 20.0, 4001)])
    run = motion(_system(RimlessWheel), ["body.w_a[2]"], t, tolerance)
    w = run.values["body.w_a[2]"][1:]
    k = [i for i in range(1, len(w) - 1) if w[i - 1] > w[i] <= w[i + 1] and w[i - 1] - w[i] < 1e-3][-1]
    before, lowest, after = w[k - 1 : k + 2]
    least = float(lowest - (after - before) ** 2 / (8 * (after - 2 * lowest + before)))
    return Solution({"contact-rimless-wheel": least}, run.seconds, run.evaluations)


# -- a rocking block

#: Width and height of the block [m], and the angle at which it is let go [rad].
WIDTH, HEIGHT, TILT = 0.4, 1.0, 0.1


class RockingBlock(Assembly):
    """A block on its two lower edges, let go when it is tilted about one of them."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        J, half, rise = (WIDTH**2 + HEIGHT**2) / 12, WIDTH / 2, HEIGHT / 2
        c, s, end = math.cos(TILT), math.sin(TILT), 1e-9
        self.body = Body(
            m=1.0,
            r_CM=(0, 0, 0),
            I_11=J,
            I_22=J,
            I_33=J,
            r_0=Start((0, 0, end + rise * c + half * s), fixed=True),
            v_0=Start((0, 0, 0), fixed=True),
            angles_fixed=True,
            angles_start=(0, TILT, 0),
            w_0_fixed=True,
        )
        self.ground = Plane()
        self.connect(self.world.frame_b, self.ground.frame_a)
        for name, x in (("left", -half), ("right", half)):
            edge = self.add(name, Sphere(radius=end, r=(x, 0, -rise)))
            self.connect(self.body.frame_a, edge.frame_a)
            self.add(f"at_{name}", RigidContact(geometry_a=name, geometry_b="ground", mu_k=2.0))


def housner() -> float:
    """Angle [rad] to which it rocks; an impact leaves 1 - 3/2 sin^2(angle of its diagonal) of its speed."""
    diagonal = math.atan2(WIDTH, HEIGHT)
    kept = (1 - 1.5 * math.sin(diagonal) ** 2) ** 2
    fallen = math.cos(diagonal - TILT) - math.cos(diagonal)
    return diagonal - math.acos(math.cos(diagonal) + kept * fallen)


def solve_rocking(tolerance: float) -> Solution:
    """The greatest tilt to the other side."""
    t = np.linspace(0.0, 1.5, 3001)
    names = [f"body.frame_a.R.T[{i},{j}]" for i, j in ((1, 3), (3, 3))]
    run = motion(_system(RockingBlock), names, t, tolerance)
    angle = np.arctan2(run.values[names[0]], run.values[names[1]])
    angle *= np.sign(angle[0])
    k = int(np.argmin(angle))
    before, lowest, after = angle[k - 1 : k + 2]
    most = -(lowest - (after - before) ** 2 / (8 * (after - 2 * lowest + before)))
    return Solution({"contact-rocking-block": float(most)}, run.seconds, run.evaluations)


_COMMON: Mapping[str, Any] = {"origin": "closed form", "tolerance": 1e-8, "tolerances": (1e-6, 1e-8)}

PROBLEMS = (
    Problem(
        "contact-rigid-slope-creep",
        "A rigid block on a slope",
        COULOMB,
        "way in 100 s on a slope of 20 degrees with mu = 0.4, by rigid contact",
        "m",
        0.0,
        solve_sticking,
        error=1e-10,
        model=functools.partial(block, 0.4),
        **_COMMON,
    ),
    Problem(
        "contact-rigid-slope-sliding",
        "A rigid block on a slope",
        COULOMB,
        "acceleration on a slope of 20 degrees with mu = 0.3, by rigid contact",
        "m/s2",
        G * (math.sin(SLOPE) - 0.3 * math.cos(SLOPE)),
        solve_sliding,
        error=1e-8,
        model=functools.partial(block, 0.3),
        **_COMMON,
    ),
    Problem(
        "contact-spinning-ball-slides",
        "A ball with spin",
        GARWIN,
        "speed, m/s, and spin, rad/s, of a ball that slides all through its impact, mu = 0.1, e = 0.6",
        "1",
        bounced(*SLIDES),
        solve_ball,
        error=1e-8,
        model=functools.partial(ball, *SLIDES),
        **_COMMON,
    ),
    Problem(
        "contact-spinning-ball-sticks",
        "A ball with spin",
        GARWIN,
        "the same of a ball that stops sliding, mu = 0.5",
        "1",
        bounced(*STOPS),
        solve_ball,
        error=1e-8,
        **_COMMON,
    ),
    Problem(
        "contact-rod-sticks",
        "A rod that strikes the floor",
        STRONGE,
        "impulses along the floor and normal to it of a rod at 45 degrees, mu = 0.8, e = 0.5: Newton, Poisson, Stronge",
        "N.s",
        [0.5625, 0.9375] * 3,
        solve_rods,
        error=1e-8,
        model=functools.partial(rod, "sticks", "Stronge"),
        **{**_COMMON, "origin": "computed"},
    ),
    Problem(
        "contact-rod-turns",
        "A rod that strikes the floor",
        STRONGE,
        "the same at 60 degrees, mu = 0.2, which slides, stops and slides back",
        "N.s",
        [0.08081120346881, 0.91712961866947, 0.07186602070460, 0.87240370484845, 0.07380644914097, 0.88210584703028],
        solve_rods,
        error=1e-8,
        **{**_COMMON, "origin": "computed"},
    ),
    Problem(
        "contact-painleve-rod",
        "A rod that slides on a rough floor",
        PAINLEVE,
        "least friction with which a slender rod jams: 4/3, at an angle whose tangent is 2",
        "1",
        4 / 3,
        solve_painleve,
        error=1e-8,
        model=sliding_rod,
        **_COMMON,
    ),
    Problem(
        "contact-rimless-wheel",
        "A rimless wheel walks down a slope",
        MCGEER,
        f"angular speed on the limit cycle of a wheel of {SPOKES} spokes as one of them stands upright",
        "rad/s",
        upright(),
        solve_wheel,
        error=1e-5,
        model=RimlessWheel,
        **_COMMON,
    ),
    Problem(
        "contact-rocking-block",
        "A rocking block",
        HOUSNER,
        f"tilt after the first impact of a block of {WIDTH} m x {HEIGHT} m that is let go at {TILT} rad",
        "rad",
        housner(),
        solve_rocking,
        error=1e-6,
        model=RockingBlock,
        **_COMMON,
    ),
)
