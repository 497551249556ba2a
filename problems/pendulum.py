"""A point mass of 1 kg on a massless bar of 1 m, let go where the bar is horizontal.

Its angle from the lowest point is 2 arcsin(k sn(K(k) - w t)) with k = sin(45 degrees) and w = sqrt(g / l), sn Jacobi's
elliptic function and K its quarter period.
"""

from __future__ import annotations

import functools
import math

from scipy.special import ellipj, ellipk

from mbfmu.components import FixedTranslation, PointMass, Revolute, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Simple pendulum"
SOURCE = (
    "problem A01 of IFToMM's library of computational benchmarks; M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "
    "A benchmarking system for MBS simulation software, Multibody System Dynamics 16 (2006), 179-190"
)
END, GRAVITY = 10.0, 9.81


class Pendulum(Assembly):
    """The mass starts at (-1, 0) m."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(g=GRAVITY, axisLength=0.3)
        self.hinge = Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.bar = FixedTranslation(r=(-1, 0, 0), width=0.02)
        self.mass = PointMass(m=1.0)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bar.frame_a)
        self.connect(self.bar.frame_b, self.mass.frame_a)
        self.output(self.hinge.phi)


@functools.cache
def _system() -> System:
    return System.of(Pendulum(), energy=True)


def place(time: float) -> tuple[float, float]:
    """Place of the mass (x, y), m, in closed form."""
    m = 0.5
    sn = ellipj(float(ellipk(m)) - math.sqrt(GRAVITY) * time, m)[0]
    angle = 2 * math.asin(math.sqrt(m) * sn)
    return -math.sin(angle), -math.cos(angle)


def solve(tolerance: float) -> Solution:
    """Place of the mass at the end, and how far the energy has gone from that at the start."""
    names = ["bar.frame_b.r_0[1]", "bar.frame_b.r_0[2]", "energy.total"]
    found = motion(_system(), names, (0.0, END), tolerance)
    x, y, energy = (found.values[name] for name in names)
    values = {"pendulum-a01-x": x[-1], "pendulum-a01-y": y[-1], "pendulum-a01-energy": energy[-1] - energy[0]}
    return Solution(values, found.seconds, found.evaluations)


PROBLEMS = tuple(
    Problem(
        f"pendulum-a01-{name}", TITLE, SOURCE, quantity, unit, reference, solve, 1e-8, "closed form", model=Pendulum
    )
    for name, quantity, unit, reference in (
        ("x", f"x of the mass at {END:g} s", "m", place(END)[0]),
        ("y", f"y of the mass at {END:g} s", "m", place(END)[1]),
        ("energy", f"energy gained or lost in {END:g} s", "J", 0.0),
    )
)
