"""A slider-crank in space: the crank turns about the direction in which the slider moves, the rod is held by a ball and
a universal joint.

The crank has no drive, and the mechanism turns on by its own inertia, up and down in gravity. It has one degree of
freedom, so that the angle of the crank follows from the energy alone: T = J(q) q'^2 / 2 with J by hand, solved by
SciPy's DOP853. Solutions in the library differ in their accuracy, and in which axis of the rod has the small moment of
inertia; here it is the rod's own, as in that of the library's keepers.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.integrate import solve_ivp

from mbfmu.components import Body, Fixed, FixedTranslation, Prismatic, Revolute, World
from mbfmu.components.joints import Spherical
from mbfmu.components.parts import FixedRotation
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Origin, Problem, Solution, Value

TITLE = "Slider-crank in space"
SOURCE = (
    "Spatial rigid slider-crank mechanism, IFToMM's library of computational benchmarks, proposed by P. Masarati and "
    "others; after E. J. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989"
)
PUBLISHED = "; solution of F. Gonzalez there"
#: Hinge of the crank, lengths of crank and rod [m], speed of the crank at the start [rad/s], gravity [m/s2].
HINGE, CRANK, ROD, SPEED, G = (0.0, 0.1, 0.12), 0.08, 0.3, 6.0, 9.81
#: Masses of crank, rod and slider [kg], moments of inertia of the crank about its axis, of the rod along and across
#: itself [kg.m2].
MASSES, CRANK_INERTIA, ROD_INERTIA = (0.12, 0.5, 2.0), 1e-4, (4e-4, 4e-3)
END = 5.0
#: Places of the slider [m] at these instants [s] as published, with 9 digits.
TIMES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
PLACES = (0.184952803, 0.211754668, 0.289063554, 0.228450093, 0.188208161, 0.240761815)


class SliderCrank(Assembly):
    """Crank, rod and slider, which start where the crank is upright."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1), axisLength=0.05)
        self.base = Fixed(r=HINGE, animation=False)
        self.crank = Revolute(
            n=(1, 0, 0), phi=Start(0.0, fixed=True), w=Start(SPEED, fixed=True), cylinderLength=0.03,
            cylinderDiameter=0.02,
        )  # fmt: skip
        self.arm = FixedTranslation(r=(0, 0, CRANK), width=0.01)
        self.crank_body = Body(
            m=MASSES[0], r_CM=(0, 0, CRANK / 2), I_11=CRANK_INERTIA, I_22=1e-4, I_33=1e-5, animation=False
        )
        self.ball = Spherical(sphereDiameter=0.015)
        self.slide = Prismatic(n=(1, 0, 0), s=Start(0.2, fixed=False), boxWidth=0.02, boxColor=(120, 120, 120))
        self.block = Body(m=MASSES[2], r_CM=(0, 0, 0), sphereDiameter=0.03, animation=False)
        #: The rod's axes at the start: along it, and that of the universal joint, at right angles with it and x.
        along, across = (0.2, -0.1, -0.2), (0, -2, 1)
        self.turn = Revolute(n=(1, 0, 0), phi=Start(0.0, fixed=False), animation=False)
        self.swing = Revolute(n=across, phi=Start(0.0, fixed=False), cylinderLength=0.02, cylinderDiameter=0.01)
        self.rod = FixedTranslation(r=tuple(-a for a in along), width=0.008)
        self.middle = FixedRotation(
            r=tuple(-a / 2 for a in along), rotationType="TwoAxesVectors", n_x=along, n_y=across, animation=False
        )
        self.rod_body = Body(
            m=MASSES[1], r_CM=(0, 0, 0), I_11=ROD_INERTIA[0], I_22=ROD_INERTIA[1], I_33=ROD_INERTIA[1], animation=False
        )
        for a, b in (
            (self.base.frame_b, self.crank.frame_a),
            (self.crank.frame_b, self.crank_body.frame_a),
            (self.crank.frame_b, self.arm.frame_a),
            (self.arm.frame_b, self.ball.frame_a),
            (self.world.frame_b, self.slide.frame_a),
            (self.slide.frame_b, self.block.frame_a),
            (self.slide.frame_b, self.turn.frame_a),
            (self.turn.frame_b, self.swing.frame_a),
            (self.swing.frame_b, self.middle.frame_a),
            (self.middle.frame_b, self.rod_body.frame_a),
            (self.swing.frame_b, self.rod.frame_a),
            (self.rod.frame_b, self.ball.frame_b),
        ):
            self.connect(a, b)
        self.output(self.slide.s)
        self.output(self.crank.phi)


@functools.cache
def _system() -> System:
    return System.of(SliderCrank())


def solve(tolerance: float) -> Solution:
    """Places at the instants, angle and energy at the end."""
    names = ["slide.s", "crank.phi", "crank.w"]
    found = motion(_system(), names, (0.0, *TIMES), tolerance)
    x, phi, w = (found.values[name] for name in names)
    inertia, height = _of_angle(float(phi[-1]))[1:3]
    start = _of_angle(0.0)
    values: dict[str, Value] = {
        "slider-crank-space-places": [float(v) for v in x[1:]],
        "slider-crank-space-x": float(x[-1]),
        "slider-crank-space-angle": float(phi[-1]),
        "slider-crank-space-energy": float(inertia * w[-1] ** 2 / 2 + height - start[1] * SPEED**2 / 2 - start[2]),
    }
    return Solution(values, found.seconds, found.evaluations)


def _of_angle(q: float) -> tuple[float, float, float]:
    """Place of the slider [m], inertia of the mechanism about the crank's hinge [kg.m2], potential energy [J]."""
    s, c = math.sin(q), math.cos(q)
    ball, ball_rate = np.array([0.0, 0.1 - CRANK * s, 0.12 + CRANK * c]), np.array([0.0, -CRANK * c, -CRANK * s])
    x = math.sqrt(ROD**2 - ball[1] ** 2 - ball[2] ** 2)
    x_rate = -(ball @ ball_rate) / x
    rod, rod_rate = np.array([x, 0, 0]) - ball, np.array([x_rate, 0, 0]) - ball_rate
    # The rod turns about x with the plane that holds both, and within it by the angle between them
    aside = math.hypot(rod[1], rod[2])
    turn = (rod[1] * rod_rate[2] - rod[2] * rod_rate[1]) / aside**2
    along = turn * rod[0] / ROD
    across = (rod_rate @ rod_rate) / ROD**2
    middle = (np.array([x_rate, 0, 0]) + ball_rate) / 2
    inertia = (
        CRANK_INERTIA + MASSES[0] * CRANK**2 / 4 + MASSES[2] * x_rate**2 + MASSES[1] * (middle @ middle)
        + ROD_INERTIA[0] * along**2 + ROD_INERTIA[1] * across
    )  # fmt: skip
    return x, float(inertia), G * (MASSES[0] * (0.12 + CRANK * c / 2) + MASSES[1] * ball[2] / 2)


def by_hand() -> dict[str, float]:
    """Angle of the crank by its energy, and the slider's place."""
    _, inertia, height = _of_angle(0.0)
    energy = inertia * SPEED**2 / 2 + height

    def rate(t: float, q: np.ndarray) -> list[float]:
        _, inertia, height = _of_angle(float(q[0]))
        return [math.sqrt(2 * (energy - height) / inertia)]

    q = float(solve_ivp(rate, (0.0, END), [0.0], method="DOP853", rtol=3e-14, atol=1e-13).y[0, -1])
    return {"slider-crank-space-x": _of_angle(q)[0], "slider-crank-space-angle": q}


_ROWS: tuple[tuple[str, str, str, str, Value, float, Origin], ...] = (
    ("places", PUBLISHED, "slider at 0.5, 1, 2, 3, 4 and 5 s, as published", "m", PLACES, 1e-4, "published"),
    ("x", "", f"slider at {END:g} s", "m", 0.2407195737301341, 1e-9, "computed"),
    ("angle", "", f"angle of the crank at {END:g} s", "rad", 54.33333216830316, 1e-8, "computed"),
    ("energy", "", f"energy gained or lost in {END:g} s", "J", 0.0, 1e-9, "closed form"),
)

PROBLEMS = tuple(
    Problem(
        f"slider-crank-space-{name}", TITLE, SOURCE + suffix, quantity, unit, reference, solve, error,
        origin=origin, model=SliderCrank,
    )
    for name, suffix, quantity, unit, reference, error, origin in _ROWS
)  # fmt: skip
