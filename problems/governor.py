"""Watt's governor with stiff springs and dampers in place of its coupling rods.

It turns freely with 2 pi rad/s at the start. The springs are so stiff, and so strongly damped, that an explicit method
needs thousands of steps a second for what hardly moves; the mechanism finds its own height within half a second.

The reference is an own model: Lagrange's equations of slider and arms, which move alike, with the angular momentum that
is kept in place of the shaft's angle, solved by SciPy's Radau.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.integrate import solve_ivp

from mbfmu.components import Body, FixedTranslation, PointMass, Prismatic, Revolute, World
from mbfmu.components.forces import SpringDamperParallel
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Stiff flyball governor"
SOURCE = (
    "problem A05 of IFToMM's library of computational benchmarks; M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "
    "A benchmarking system for MBS simulation software, Multibody System Dynamics 16 (2006), 179-190; its data as in "
    "L. Tagliapietra, M. Vivian, E. Ceseracciu, M. Reggiani, Multi-body systems benchmark in OpenSim (2015)"
)
END = 10.0
GRAVITY, SPEED = 9.81, 2 * math.pi
DENSITY, BALL = 3000.0, 5.0
STIFFNESS, DAMPING, LENGTH = 8e5, 4e4, 0.5
#: Angle of the arms below the horizon, rad, and height of the slider, m, at the start; how far hinges are off the axis.
ALPHA, HEIGHT, OFFSET = math.pi / 6, 0.5, 0.05


def block(x: float, y: float, z: float) -> dict[str, float]:
    """Mass and moments of inertia of a block."""
    m = DENSITY * x * y * z
    return {
        "m": m,
        "I_11": m * (y**2 + z**2) / 12,
        "I_22": m * (x**2 + z**2) / 12,
        "I_33": m * (x**2 + y**2) / 12,
    }


ROD, SLIDER = block(1, 0.01, 0.01), block(0.1, 0.1, 0.1)


class Governor(Assembly):
    """Shaft upwards along z, arms in the plane x, z of the shaft."""

    stop_time = END

    def __init__(self) -> None:
        self.world = World(n=(0, 0, -1), g=GRAVITY, axisLength=0.2)
        self.bearing = Revolute(phi=Start(0.0, fixed=True), w=Start(SPEED, fixed=True))
        self.shaft = FixedTranslation(r=(0, 0, 1), width=0.02)
        self.shaft_mass = Body(r_CM=(0, 0, 0.5), **block(0.01, 0.01, 1), sphereDiameter=0.01)
        self.guide = Prismatic(n=(0, 0, 1), s=Start(HEIGHT, fixed=True), v=Start(0.0, fixed=True), boxWidth=0.02)
        self.slider = Body(r_CM=(0, 0, 0), **SLIDER, sphereDiameter=0.1)
        self.connect(self.world.frame_b, self.bearing.frame_a)
        self.connect(self.bearing.frame_b, self.shaft.frame_a)
        self.connect(self.bearing.frame_b, self.shaft_mass.frame_a)
        self.connect(self.bearing.frame_b, self.guide.frame_a)
        self.connect(self.guide.frame_b, self.slider.frame_a)
        self.tops = [FixedTranslation(r=(side * OFFSET, 0, 0), width=0.02) for side in (1, -1)]
        self.hinges = [
            Revolute(n=(0, side, 0), phi=Start(ALPHA, fixed=True), w=Start(0.0, fixed=True),
                     cylinderLength=0.05, cylinderDiameter=0.05)
            for side in (1, -1)
        ]  # fmt: skip
        self.halves = [FixedTranslation(r=(side * 0.5, 0, 0), width=0.02) for side in (1, -1)]
        self.others = [FixedTranslation(r=(side * 0.5, 0, 0), width=0.02) for side in (1, -1)]
        self.rods = [Body(r_CM=(side * 0.5, 0, 0), **ROD, animation=False) for side in (1, -1)]
        self.balls = [PointMass(m=BALL, sphereDiameter=0.12) for _ in range(2)]
        self.lugs = [FixedTranslation(r=(side * OFFSET, 0, 0), animation=False) for side in (1, -1)]
        self.couplings = [
            SpringDamperParallel(c=STIFFNESS, d=DAMPING, s_unstretched=LENGTH, width=0.05, coilWidth=0.005)
            for _ in range(2)
        ]
        for i in range(2):
            self.connect(self.shaft.frame_b, self.tops[i].frame_a)
            self.connect(self.tops[i].frame_b, self.hinges[i].frame_a)
            self.connect(self.hinges[i].frame_b, self.rods[i].frame_a)
            self.connect(self.hinges[i].frame_b, self.halves[i].frame_a)
            self.connect(self.halves[i].frame_b, self.others[i].frame_a)
            self.connect(self.others[i].frame_b, self.balls[i].frame_a)
            self.connect(self.guide.frame_b, self.lugs[i].frame_a)
            self.connect(self.lugs[i].frame_b, self.couplings[i].frame_a)
            self.connect(self.halves[i].frame_b, self.couplings[i].frame_b)
        self.output(self.guide.s)
        self.output(self.bearing.w)


#: s [m], alpha [rad] and speed of the shaft [rad/s] at 10 s, as by_hand finds them.
COMPUTED = {
    "governor-a05-s": 0.61962291706131,
    "governor-a05-alpha": 0.39007370184470,
    "governor-a05-speed": 5.54820362265516,
}


def by_hand() -> dict[str, float]:
    """References of all problems of this topic, from equations of motion written down here."""
    m, along, across = ROD["m"], ROD["I_11"], ROD["I_22"]

    def turning(alpha: float) -> tuple[float, float]:
        """Moment of inertia about the shaft, and its derivative by alpha."""
        c, s = math.cos(alpha), math.sin(alpha)
        arm = along * s**2 + across * c**2 + m * (OFFSET + c / 2) ** 2 + BALL * (OFFSET + c) ** 2
        slope = 2 * (along - across) * s * c - m * (OFFSET + c / 2) * s - 2 * BALL * (OFFSET + c) * s
        return block(0.01, 0.01, 1)["I_33"] + SLIDER["I_33"] + 2 * arm, 2 * slope

    momentum = turning(ALPHA)[0] * SPEED

    def rates(_: float, x: np.ndarray) -> list[float]:
        s, v, alpha, w = x
        dx, dz = math.cos(alpha) / 2, 1 - math.sin(alpha) / 2 - s
        vx, vz = -math.sin(alpha) / 2 * w, -math.cos(alpha) / 2 * w - v
        d = math.hypot(dx, dz)
        pull = STIFFNESS * (d - LENGTH) + DAMPING * (dx * vx + dz * vz) / d
        inertia, slope = turning(alpha)
        centrifugal = slope * (momentum / inertia) ** 2 / 4
        weight = GRAVITY * (m / 2 + BALL) * math.cos(alpha)
        spring = -pull * (dx * -math.sin(alpha) / 2 + dz * -math.cos(alpha) / 2) / d
        arm = across + m / 4 + BALL
        return [v, 2 * pull * dz / d / SLIDER["m"] - GRAVITY, w, (centrifugal + weight + spring) / arm]

    found = solve_ivp(rates, (0, END), [HEIGHT, 0, ALPHA, 0], method="Radau", rtol=1e-10, atol=1e-12)
    s, _, alpha, _ = found.y[:, -1]
    return {
        "governor-a05-s": float(s),
        "governor-a05-alpha": float(alpha),
        "governor-a05-speed": momentum / turning(alpha)[0],
    }


@functools.cache
def _system() -> System:
    return System.of(Governor())


def solve(tolerance: float) -> Solution:
    """Height of the slider, angle of an arm and speed of the shaft at the end."""
    names = ["guide.s", "hinges[1].phi", "bearing.w"]
    found = motion(_system(), names, (0.0, END), tolerance)
    s, alpha, speed = (float(found.values[name][-1]) for name in names)
    values = {"governor-a05-s": s, "governor-a05-alpha": alpha, "governor-a05-speed": speed}
    return Solution(values, found.seconds, found.evaluations)


_QUANTITIES = {
    "governor-a05-s": ("height of the slider", "m"),
    "governor-a05-alpha": ("angle of an arm below the horizon", "rad"),
    "governor-a05-speed": ("speed of the shaft", "rad/s"),
}
PROBLEMS = tuple(
    Problem(
        name, TITLE, SOURCE, f"{quantity} at {END:g} s", unit, COMPUTED[name], solve, 1e-8, "computed",
        tolerance=1e-9, tolerances=(1e-5, 1e-7, 1e-9), model=Governor,
    )
    for name, (quantity, unit) in _QUANTITIES.items()
)  # fmt: skip
