"""Seven stars in a plane that attract each other and pass close by: masses of 1 to 7, constant of gravitation 1.

Close passages make the problem hard: where two stars come near, steps have to be short, and what is lost there grows.
"""

from __future__ import annotations

import functools

from mbfmu.components import Body, GravityPool, Prismatic, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Pleiades"
SOURCE = (
    "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, section II.10; reference "
    "solution: F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008), pleiades"
)
END = 3.0

#: (x, y) [m] and speeds (x, y) [m/s] of the stars at the start; those that are not here are 0.
PLACES = ((3, 3), (3, -3), (-1, 2), (-3, 0), (2, 0), (-2, -4), (2, 4))
SPEEDS = ((0, 0), (0, 0), (0, 0), (0, -1.25), (0, 1), (1.75, 0), (-1.5, 0))

#: (x, y) at 3 s, as published.
PUBLISHED = (
    (0.3706139143970502, -0.3943437585517392e1),
    (0.3237284092057233e1, -0.3271380973972550e1),
    (-0.3222559032418324e1, 0.5225081843456543e1),
    (0.6597091455775310, -0.2590612434977470e1),
    (0.3425581707156584, 0.1198213693392275e1),
    (0.1562172101400631e1, -0.2429682344935824),
    (-0.7003092922212495, 0.1091449240428980e1),
)


class Pleiades(Assembly):
    """Stars on slides along x and y."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity", animateGravity=False)
        self.pool = GravityPool(G=1.0)
        hidden = {"animation": False}
        self.along_x = [
            Prismatic(n=(1, 0, 0), s=Start(x, fixed=True), v=Start(v, fixed=True), **hidden)
            for (x, _), (v, _) in zip(PLACES, SPEEDS, strict=True)
        ]
        self.along_y = [
            Prismatic(n=(0, 1, 0), s=Start(y, fixed=True), v=Start(v, fixed=True), **hidden)
            for (_, y), (_, v) in zip(PLACES, SPEEDS, strict=True)
        ]
        self.stars = [
            Body(m=i + 1, r_CM=(0, 0, 0), I_11=1.0, I_22=1.0, I_33=1.0, sphereDiameter=0.15 * (i + 1) ** (1 / 3) + 0.15)
            for i in range(len(PLACES))
        ]
        self.pool.put(*self.stars)
        for x, y, star in zip(self.along_x, self.along_y, self.stars, strict=True):
            self.connect(self.world.frame_b, x.frame_a)
            self.connect(x.frame_b, y.frame_a)
            self.connect(y.frame_b, star.frame_a)
        self.output([x.s for x in self.along_x], "x")
        self.output([y.s for y in self.along_y], "y")


@functools.cache
def _system() -> System:
    return System.of(Pleiades())


def solve(tolerance: float) -> Solution:
    """Places of the stars at the end."""
    count = range(1, len(PLACES) + 1)
    names = [f"along_{axis}[{i}].s" for i in count for axis in "xy"]
    found = motion(_system(), names, (0.0, END), tolerance)
    values = {f"pleiades-{i}": [float(found.values[f"along_{axis}[{i}].s"][-1]) for axis in "xy"] for i in count}
    return Solution(values, found.seconds, found.evaluations)


PROBLEMS = tuple(
    Problem(
        f"pleiades-{i}", TITLE, SOURCE, f"(x, y) of star {i} at {END:g} s", "m", place, solve, 1e-8, model=Pleiades,
        tolerance=1e-12, tolerances=(1e-6, 1e-9, 1e-12),
    )
    for i, place in enumerate(PUBLISHED, 1)
)  # fmt: skip
