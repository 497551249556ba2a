"""A row of dominoes that topple over edges which do not slip, strike without rebound, and lean on each other.

Source of the model: van Leeuwen, J. M. J.: The domino effect. American Journal of Physics 78 (2010), 721-727; its
instants are worked out here. While the front domino falls, all behind it lean on the next one, so that its angle tells
theirs: h sin(theta_i - theta_(i+1)) = p cos(theta_(i+1)) - d, with the height h, the thickness d and the way p from
each to the next. Energy gives its speed. When it strikes, the speeds in the direction of motion that remains are those
that keep the momentum: it goes on with K / (K + 1) of its speed, K being the sum of squares of all speeds over its own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy import integrate

from mbfmu.dynamics import System
from mbfmu.fmus.dominoes import HEIGHT, NUMBER, PITCH, PUSHED, THICKNESS, Dominoes
from problems.contact import crossing
from problems.motion import motion
from problems.problem import Problem, Solution

#: Gravity of the World [m/s2], and the angle at which dominoes are timed [rad].
G, TURNED = 9.80665, 0.1
NAME = "contact-dominoes"
#: What `by_hand` gives [s].
INSTANTS = [
    0.094712633418,
    0.160660982549,
    0.204799342954,
    0.238595327159,
    0.267147614008,
    0.292794086716,
    0.316726011029,
]


def train(front: float, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles [rad] of the dominoes that have been struck, from the front one, and their speeds over its own."""
    angles, speeds = [front], [1.0]
    for _ in range(number - 1):
        theta = angles[-1]
        lean = math.asin((PITCH * math.cos(theta) - THICKNESS) / HEIGHT)
        angles.append(theta + lean)
        speeds.append(speeds[-1] * (1 - PITCH * math.sin(theta) / (HEIGHT * math.cos(lean))))
    return np.array(angles), np.array(speeds)


def by_hand() -> dict[str, list[float]]:
    """Instants [s] at which each domino but the first has turned by 0.1 rad."""
    inertia = (HEIGHT**2 + THICKNESS**2) / 3  # over the mass, about the edge
    strikes = math.asin((PITCH - THICKNESS) / HEIGHT)

    def height(angles: np.ndarray) -> float:
        return float(np.sum(HEIGHT * np.cos(angles) + THICKNESS * np.sin(angles))) / 2

    now, speed, found = 0.0, PUSHED, []
    for number in range(1, NUMBER + 1):
        angles, speeds = train(0.0, number)
        energy = inertia * speed**2 * float(speeds @ speeds) / 2 + G * height(angles)

        def slowness(theta: float, number: int = number, energy: float = energy) -> float:
            angles, speeds = train(theta, number)
            return math.sqrt(inertia * float(speeds @ speeds) / (2 * (energy - G * height(angles))))

        def until(theta: float, slowness: Callable[[float], float] = slowness) -> float:
            return float(integrate.quad(slowness, 0, theta, epsabs=1e-13, epsrel=1e-12)[0])

        if number > 1:
            found.append(now + until(TURNED))
        now += until(strikes)
        _, speeds = train(strikes, number)
        K = float(speeds @ speeds)
        speed = K / (K + 1) / slowness(strikes)
    return {NAME: found}


@functools.cache
def _system() -> System:
    return System.of(Dominoes())


def solve(tolerance: float) -> Solution:
    """The same of the gallery's dominoes."""
    names = [f"domino{i + 2}.hinge.phi" for i in range(NUMBER - 1)]
    t = np.linspace(0, 0.33, 3301)
    run = motion(_system(), names, t, tolerance)
    found = [crossing(t, TURNED - run.values[name]) for name in names]
    return Solution({NAME: found}, run.seconds, run.evaluations)


PROBLEMS = (
    Problem(
        NAME,
        "A row of dominoes topples",
        "van Leeuwen, The domino effect. Am. J. Phys. 78 (2010), 721-727",
        f"instants at which the dominoes 2 to {NUMBER} have turned by {TURNED:g} rad, the first pushed at "
        f"{PUSHED:g} rad/s",
        "s",
        INSTANTS,
        solve,
        origin="computed",
        tolerance=1e-8,
        tolerances=(1e-6, 1e-8),
        error=1e-6,
        model=Dominoes,
    ),
)
