"""N parallelograms in a row, 2 N + 1 equal bars on plain hinges, that turn over through singular positions.

There all bars lie on one line: for an instant the mechanism has N + 1 degrees of freedom, elsewhere one.

The bars on the ground stay parallel, so that the motion is that of one pendulum which turns over: its angle is a Jacobi
amplitude.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from scipy.special import ellipj, ellipk

from mbfmu.components import BodyShape, Fixed, Revolute, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import motion
from problems.problem import Problem, Solution

SOURCE = (
    "problem A02 of IFToMM's library of computational benchmarks; M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "
    "A benchmarking system for MBS simulation software, Multibody System Dynamics 16 (2006), 179-190; two loops: "
    "E. Bayo, A. Avello, Nonlinear Dynamics 5 (1994), 209-231"
)
END, GRAVITY, SPEED = 10.0, 9.81, 1.0


class FourBars(Assembly):
    """N four-bars of bars of 1 m and 1 kg, upright; the first corner starts at 1 m/s along x."""

    stop_time = END

    def __init__(self, N: int = 2) -> None:
        self.world = World(g=GRAVITY, axisLength=0.3)
        self.grounds = [Fixed(r=(i, 0, 0), animation=False) for i in range(N + 1)]
        self.lower = [
            Revolute(phi=Start(0.0, fixed=i == 0), w=Start(-SPEED, fixed=i == 0), **_SMALL) for i in range(N + 1)
        ]
        self.upright = [_bar((0, 1, 0)) for _ in range(N + 1)]
        self.upper = [Revolute(phi=Start(0.0), w=Start(SPEED), **_SMALL) for _ in range(N)]
        self.across = [_bar((1, 0, 0)) for _ in range(N)]
        self.closing = [Revolute(phi=Start(0.0), w=Start(SPEED), **_SMALL) for _ in range(N)]
        for ground, joint, bar in zip(self.grounds, self.lower, self.upright, strict=True):
            self.connect(ground.frame_b, joint.frame_a)
            self.connect(joint.frame_b, bar.frame_a)
        for i in range(N):
            self.connect(self.upright[i].frame_b, self.upper[i].frame_a)
            self.connect(self.upper[i].frame_b, self.across[i].frame_a)
            self.connect(self.upright[i + 1].frame_b, self.closing[i].frame_a)
            self.connect(self.closing[i].frame_b, self.across[i].frame_b)
        self.output(self.lower[0].phi)


_SMALL = {"cylinderLength": 0.08, "cylinderDiameter": 0.06}


def _bar(r: tuple[float, float, float]) -> BodyShape:
    """Slender, of 1 kg; what turns about z needs no other moment of inertia."""
    return BodyShape(r=r, r_CM=tuple(x / 2 for x in r), m=1.0, I_11=1 / 12, I_22=1 / 12, I_33=1 / 12, width=0.04)


@functools.cache
def _system(N: int) -> System:
    return System.of(FourBars(N), energy=True)


def turned(N: int, time: float) -> float:
    """Angle from the upright position, rad, by which the bars on the ground have turned, in closed form.

    T = ((N + 1) / 3 + N) w^2 / 2 and V = g ((N + 1) / 2 + N) cos(phi), so that (phi'/2)^2 = W^2 (1 - m cos(phi/2)^2),
    which Jacobi's amplitude solves.
    """
    rate = GRAVITY * ((N + 1) / 2 + N) / ((N + 1) / 3 + N)
    W = math.sqrt(rate + SPEED**2 / 4)
    m = rate / W**2
    return math.pi + 2 * float(ellipj(W * time - float(ellipk(m)), m)[3])


def solve(N: int, tolerance: float) -> Solution:
    """Place of B0, and how far the energy has gone from that at the start, at the end."""
    names = [*(f"upright[1].frame_b.r_0[{i}]" for i in (1, 2)), "energy.total"]
    found = motion(_system(N), names, (0.0, END), tolerance)
    x, y, energy = (found.values[name] for name in names)
    name = _name(N)
    values = {f"{name}-x": x[-1], f"{name}-y": y[-1], f"{name}-energy": energy[-1] - energy[0]}
    return Solution(values, found.seconds, found.evaluations)


def _name(N: int) -> str:
    return "four-bars-a02" if N == 2 else f"four-bars-a02-n{N}"


def _problems(N: int) -> tuple[Problem, ...]:
    phi, title = turned(N, END), f"{N} four-bars in a row"
    common: dict[str, Any] = {
        "solve": functools.partial(solve, N),
        "model": functools.partial(FourBars, N),
        "origin": "closed form",
    }
    return tuple(
        Problem(f"{_name(N)}-{key}", title, SOURCE, quantity, unit, reference, error=1e-8, **common)
        for key, quantity, unit, reference in (
            ("x", f"x of B0 at {END:g} s", "m", math.sin(phi)),
            ("y", f"y of B0 at {END:g} s", "m", math.cos(phi)),
            ("energy", f"energy gained or lost in {END:g} s", "J", 0.0),
        )
    )


PROBLEMS = tuple(problem for N in (2, 5, 10) for problem in _problems(N))
