"""Five rods and the ground in a ring on six hinges whose axes are at right angles: overconstrained, and yet it moves.

By counting, six hinges leave a ring no freedom; with these axes one of the conditions follows from the others. The
rods, of 1 m and 1 kg with a square section of 0.1 m, start along edges of a cube and fall from rest.

The reference is an own model: as the ring is the same after a turn by 120 degrees about the cube's diagonal, angles of
its hinges from the start alternate between two values p and q with sin(p) + sin(q) + sin(p) sin(q) = 0, whose
equations of motion (Lagrange's of the first kind) are solved by SciPy's DOP853.
"""

from __future__ import annotations

import functools

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from mbfmu.components import BodyShape, FixedTranslation, Revolute, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

TITLE = "Bricard's mechanism"
SOURCE = (
    "problem A04 of IFToMM's library of computational benchmarks; M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "
    "A benchmarking system for MBS simulation software, Multibody System Dynamics 16 (2006), 179-190; after "
    "R. Bricard (1897); its data as in L. Tagliapietra, M. Vivian, E. Ceseracciu, M. Reggiani, Multi-body systems "
    "benchmark in OpenSim (2015)"
)
#: The source shows two swings in 10 s: at 8 s the ring is fast, at 10 s nearly back at its start.
TIMES, GRAVITY = (0.0, 8.0, 10.0), 9.81
WIDTH = 0.1
#: Axes of the hinges, and the rods behind them, m, at the start; the sixth hinge closes the ring.
AXES = ((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0))
RODS = ((1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0))
#: Moments of inertia about a rod, and across it.
ALONG, ACROSS = WIDTH**2 / 6, (1 + WIDTH**2) / 12


class Bricard(Assembly):
    """The ring, in the frame of the source."""

    stop_time = TIMES[-1]

    def __init__(self) -> None:
        self.world = World(g=GRAVITY, axisLength=0.3)
        self.hinges = [
            Revolute(n=n, phi=Start(0.0, fixed=i == 0), w=Start(0.0, fixed=i == 0),
                     cylinderLength=0.3, cylinderDiameter=0.12)
            for i, n in enumerate(AXES)
        ]  # fmt: skip
        self.rods = [
            BodyShape(
                r=r, r_CM=tuple(x / 2 for x in r), m=1.0, width=0.05, animateSphere=False,
                **{f"I_{j + 1}{j + 1}": ALONG if x else ACROSS for j, x in enumerate(r)},
            )
            for r in RODS
        ]  # fmt: skip
        self.end = FixedTranslation(r=(0, 0, 1), width=0.02)
        self.connect(self.world.frame_b, self.end.frame_a)
        at = self.world.frame_b
        for hinge, rod in zip(self.hinges, self.rods, strict=False):
            self.connect(at, hinge.frame_a)
            self.connect(hinge.frame_b, rod.frame_a)
            at = rod.frame_b
        self.connect(at, self.hinges[5].frame_a)
        self.connect(self.hinges[5].frame_b, self.end.frame_b)
        self.output(self.rods[1].frame_b.r_0, "P3")


#: P3 (m), as by_hand finds it.
COMPUTED = {
    "bricard-a04-p3-8s": [-0.7643526022336, -0.9781537944097, -0.2078825497293],
    "bricard-a04-p3-10s": [0.9997309873038, -0.9999999638258, -0.0002689765123],
}


def _turn(axis: tuple[int, int, int], angle: ca.SX) -> ca.SX:
    """Rotation matrix about an axis of coordinates."""
    n = ca.DM(axis)
    cross = ca.skew(n)
    return ca.SX.eye(3) + ca.sin(angle) * cross + (1 - ca.cos(angle)) * (cross @ cross)


def by_hand() -> dict[str, list[float]]:
    """References of this topic, from equations of motion written down here."""
    x, v = ca.SX.sym("x", 2), ca.SX.sym("v", 2)  # the angles of odd and even hinges from the start
    third = ca.SX.zeros(3)
    R, place, kinetic, potential = ca.SX.eye(3), ca.SX.zeros(3), ca.SX(0), ca.SX(0)
    for i, (axis, rod) in enumerate(zip(AXES, RODS, strict=False)):
        R = R @ _turn(axis, x[i % 2])
        centre = place + R @ (ca.DM(rod) / 2)
        place = place + R @ ca.DM(rod)
        third = place if i == 1 else third
        speed = ca.jacobian(centre, x) @ v
        spin = R.T @ ca.reshape(ca.jacobian(ca.vec(R), x) @ v, 3, 3)
        w = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
        moments = ca.DM([ALONG if r else ACROSS for r in rod])
        kinetic += (ca.dot(speed, speed) + ca.dot(w, moments * w)) / 2
        potential += GRAVITY * centre[1]
    closed = ca.sin(x[0]) + ca.sin(x[1]) + ca.sin(x[0]) * ca.sin(x[1])
    M, G = ca.jacobian(ca.gradient(kinetic, v), v), ca.jacobian(closed, x)
    force = ca.gradient(kinetic - potential, x) - ca.jacobian(ca.gradient(kinetic, v), x) @ v
    matrix = ca.vertcat(ca.horzcat(M, G.T), ca.horzcat(G, 0))
    found = ca.solve(matrix, ca.vertcat(force, -ca.jacobian(G @ v, x) @ v))
    rates = ca.Function("rates", [ca.vertcat(x, v)], [ca.vertcat(v, found[:2])])
    show = ca.Function("show", [x], [third, place - ca.DM([0, 0, 1]), closed])
    result = solve_ivp(
        lambda _, y: np.array(rates(y)).ravel(), TIMES[::2], np.zeros(4), "DOP853", TIMES[1:], rtol=1e-13, atol=1e-13
    )
    values = {}
    for time, state in zip(TIMES[1:], result.y.T, strict=True):
        point, gap, error = (np.array(part).ravel() for part in show(state[:2]))
        assert np.abs(gap).max() < 1e-9, "the ring does not close"
        assert np.abs(error).max() < 1e-9, "the angles have left their relation"
        values[f"bricard-a04-p3-{time:g}s"] = point.tolist()
    return values


@functools.cache
def _system() -> System:
    return System.of(Bricard(), energy=True)


def solve(tolerance: float) -> Solution:
    """Place of P3, and how far the energy has gone from that at the start, at the end."""
    names = [*(f"rods[2].frame_b.r_0[{i}]" for i in (1, 2, 3)), "energy.total"]
    found = motion(_system(), names, TIMES, tolerance)
    *point, energy = (found.values[name] for name in names)
    values: dict[str, float | list[float]] = {
        f"bricard-a04-p3-{time:g}s": [float(axis[i]) for axis in point] for i, time in enumerate(TIMES[1:], 1)
    }
    values["bricard-a04-energy"] = float(energy[-1] - energy[0])
    return Solution(values, found.seconds, found.evaluations)


PROBLEMS = (
    *(
        Problem(name, TITLE, SOURCE, f"(x, y, z) of P3 at {time:g} s", "m", COMPUTED[name], solve, 1e-8, "computed",
                model=Bricard)
        for time in TIMES[1:]
        for name in (f"bricard-a04-p3-{time:g}s",)
    ),
    Problem("bricard-a04-energy", TITLE, SOURCE, f"energy gained or lost in {TIMES[-1]:g} s", "J", 0.0, solve, 1e-8,
            "closed form", model=Bricard),
)  # fmt: skip
