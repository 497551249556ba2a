"""Orbits of a planet about the origin, of eccentricity 0.1 to 0.9: the problems D1 to D5.

Half the major axis and the constant of gravitation are 1; it starts next to the origin. Kepler's equation
u - e sin(u) = t gives its place, (cos(u) - e, sqrt(1 - e^2) sin(u)).
"""

from __future__ import annotations

import functools
import math

from scipy.optimize import brentq

from mbfmu.components import Body, Prismatic, World
from mbfmu.components.visualizers import FixedShape
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

SOURCE = (
    "class D of DETEST: T. E. Hull, W. H. Enright, B. M. Fellen, A. E. Sedgwick, Comparing numerical methods for "
    "ordinary differential equations, SIAM Journal on Numerical Analysis 9 (1972), 603-637"
)
END = 20.0
ECCENTRICITIES = {"d1": 0.1, "d2": 0.3, "d3": 0.5, "d4": 0.7, "d5": 0.9}


class Orbit(Assembly):
    """A planet on slides along x and y in the field of a mass in the origin."""

    stop_time = END

    def __init__(self, eccentricity: float = 0.5) -> None:
        e = eccentricity
        self.world = World(gravityType="PointGravity", mu=1.0, axisLength=0.3, animateGravity=False)
        self.x = Prismatic(n=(1, 0, 0), s=Start(1 - e, fixed=True), v=Start(0.0, fixed=True), animation=False)
        speed = math.sqrt((1 + e) / (1 - e))
        self.y = Prismatic(n=(0, 1, 0), s=Start(0.0, fixed=True), v=Start(speed, fixed=True), animation=False)
        self.planet = Body(m=1.0, r_CM=(0, 0, 0), I_11=1.0, I_22=1.0, I_33=1.0, sphereDiameter=0.1)
        self.sun = FixedShape(
            shapeType="sphere", r_shape=(-0.1, 0, 0), length=0.2, width=0.2, height=0.2, color=(240, 180, 40)
        )
        self.connect(self.world.frame_b, self.sun.frame_a)
        self.connect(self.world.frame_b, self.x.frame_a)
        self.connect(self.x.frame_b, self.y.frame_a)
        self.connect(self.y.frame_b, self.planet.frame_a)
        self.output(self.x.s)
        self.output(self.y.s)


@functools.cache
def _system(name: str) -> System:
    return System.of(Orbit(ECCENTRICITIES[name]))


def place(e: float, time: float) -> list[float]:
    """Place (x, y), m, in closed form."""
    u = brentq(lambda u: u - e * math.sin(u) - time, time - 1, time + 1, xtol=1e-15, rtol=1e-15)
    return [math.cos(u) - e, math.sqrt(1 - e**2) * math.sin(u)]


def solve(name: str, tolerance: float) -> Solution:
    """Place at the end."""
    found = motion(_system(name), ["x.s", "y.s"], (0.0, END), tolerance)
    values = {f"orbit-{name}": [float(found.values[axis][-1]) for axis in ("x.s", "y.s")]}
    return Solution(values, found.seconds, found.evaluations)


PROBLEMS = tuple(
    Problem(
        f"orbit-{name}",
        "Orbits",
        SOURCE,
        f"(x, y) of the planet at {END:g} s, eccentricity {e:g}",
        "m",
        place(e, END),
        functools.partial(solve, name),
        1e-7,
        "closed form",
        tolerance=1e-12,
        tolerances=(1e-6, 1e-9, 1e-12),
        model=Orbit,
    )
    for name, e in ECCENTRICITIES.items()
)
