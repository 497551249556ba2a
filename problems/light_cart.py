"""A cart of 1 mg that carries a pendulum of 1 kg, whose mass matrix is nearly singular at each lowest point.

The pole swings at 4,429 rad/s then, for a microsecond, while the cart turns back; steps have to find that. Without
friction the momentum along the track is zero and the energy is that of the start, so that the motion is a quadrature.
"""

from __future__ import annotations

import functools
import itertools
import math

from scipy.integrate import quad
from scipy.optimize import brentq

from mbfmu.components import PointMass, Prismatic, Revolute, World
from mbfmu.components.parts import FixedTranslation
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Cart-pole with a light cart"
SOURCE = (
    "N. Parsons, Cart-pole with a light cart, proposed for IFToMM's library of computational benchmarks, which passes "
    "1e-6 (2026); energy and momentum as a quadrature"
)
#: Masses of the cart and at the end of the pole [kg], its length [m], gravity [m/s2], angle at the start, from below.
CART, LOAD, LENGTH, G, RAISED = 1e-6, 1.0, 1.0, 9.81, math.pi / 2
END = 10.0


class LightCart(Assembly):
    """The pole is let go where it is horizontal."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(g=G, axisLength=0.2)
        self.track = Prismatic(
            n=(1, 0, 0), s=Start(0.0, fixed=True), v=Start(0.0, fixed=True), boxWidth=0.05, boxColor=(120, 120, 120)
        )
        self.cart, self.load = PointMass(m=CART, sphereDiameter=0.08), PointMass(m=LOAD, sphereDiameter=0.12)
        self.pin = Revolute(
            phi=Start(RAISED, fixed=True), w=Start(0.0, fixed=True), cylinderLength=0.1, cylinderDiameter=0.05
        )
        self.pole = FixedTranslation(r=(0, -LENGTH, 0), width=0.02)
        self.connect(self.world.frame_b, self.track.frame_a)
        self.connect(self.track.frame_b, self.cart.frame_a)
        self.connect(self.track.frame_b, self.pin.frame_a)
        self.connect(self.pin.frame_b, self.pole.frame_a)
        self.connect(self.pole.frame_b, self.load.frame_a)
        self.output(self.track.s)
        self.output(self.pin.phi)


def fall(angle: float) -> float:
    """Time [s] from rest to an angle above 0, by energy and momentum."""

    def slowness(u: float) -> float:
        """Of u = sqrt(RAISED - angle), which is finite at the start."""
        sine, cosine = math.cos(u * u), math.sin(u * u)
        return 2 * u * math.sqrt(LENGTH * (CART + LOAD * sine**2) / (2 * G * (CART + LOAD) * cosine))

    marks = [math.sqrt(RAISED - max(a, angle)) for a in (RAISED, 0.1, 1e-2, 1e-3, 1e-4, 0.0)]
    parts = itertools.pairwise(marks)
    return sum(quad(slowness, a or 1e-300, b, epsabs=1e-15, epsrel=1e-13)[0] for a, b in parts if b > a)


def place(time: float) -> tuple[float, float]:
    """Place of the cart [m] and angle of the pole [rad]."""
    quarter = fall(0.0)
    turns, rest = divmod(time, quarter)
    rising = int(turns) % 2
    angle = brentq(lambda a: fall(a) - (quarter - rest if rising else rest), 0.0, RAISED, xtol=1e-15, rtol=1e-14)
    angle *= -1.0 if int(turns) % 4 in (1, 2) else 1.0
    return LOAD * LENGTH * (1 - math.sin(angle)) / (CART + LOAD), angle


@functools.cache
def _system() -> System:
    return System.of(LightCart())


def solve(tolerance: float) -> Solution:
    """Place and angle at the end, and the greatest change of energy at instants before."""
    times = [END * i / 100 for i in range(101)]
    found = motion(_system(), ["track.s", "pin.phi", "track.v", "pin.w"], times, tolerance)
    energies = [
        (CART + LOAD) * v**2 / 2 + LOAD * LENGTH * (v * w * math.cos(phi) + LENGTH * w**2 / 2 - G * math.cos(phi))
        for v, w, phi in zip(*(found.values[name].tolist() for name in ("track.v", "pin.w", "pin.phi")), strict=True)
    ]
    values = {
        "light-cart-x": float(found.values["track.s"][-1]),
        "light-cart-angle": float(found.values["pin.phi"][-1]),
        "light-cart-energy": max(abs(e) for e in energies),
    }
    return Solution(values, found.seconds, found.evaluations)


_PLACE = place(END)
PROBLEMS = tuple(
    Problem(
        f"light-cart-{name}", TITLE, SOURCE, quantity, unit, reference, solve, 1e-8,
        origin="closed form", model=LightCart, tolerance=1e-12, tolerances=(1e-8, 1e-10, 1e-12),
    )
    for name, quantity, unit, reference in (
        ("x", f"place of the cart at {END:g} s", "m", _PLACE[0]),
        ("angle", f"angle of the pole at {END:g} s", "rad", _PLACE[1]),
        ("energy", f"greatest change of energy in {END:g} s", "J", 0.0),
    )
)  # fmt: skip
