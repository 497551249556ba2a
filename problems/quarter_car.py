"""A quarter of a car over a step: two masses, a spring with damper, and a tyre that rolls over a ramp.

The tyre has no friction, so that what the road does is along its normal: the tyre is pushed backwards, too, and where
its normal leans it touches ahead of its centre.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.integrate import solve_ivp

from mbfmu.components import Body, Prismatic, World, translational, vehicle
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.motion import ENERGY, energy_error, motion
from problems.problem import Problem, Solution

TITLE = "Quarter car over a step"
SOURCE = (
    "Two masses, as in M. Mitschke, H. Wallentowitz, Dynamik der Kraftfahrzeuge, fifth edition (2014), part B: "
    "equations by hand, with a disc on a ramp; solved by SciPy's DOP853"
)
BALANCE = "conservation of energy: power of tyre and damper, and of the drive that keeps the speed, integrated"
GRAVITY = 9.80665
SPEED = 5.0
BODY, WHEEL = 350.0, 40.0
SPRING, DAMPER = 3e4, 2500.0
RADIUS, TYRE_C, TYRE_D = 0.3, 2e5, 300.0
STEP, BEGIN, RISING = 0.06, 1.0, 0.4
#: Heights at rest, and the length of the spring without force.
HUB = RADIUS - (BODY + WHEEL) * GRAVITY / TYRE_C
TOP = HUB + 0.5
UNSTRETCHED = 0.5 + BODY * GRAVITY / SPRING
TIMES = np.array([0.0, 0.23, 0.26, 0.3, 0.4, 0.6, 1.0, 2.0])


class QuarterCar(Assembly):
    """Body and wheel on slides above each other, at constant speed over a ramp."""

    stop_time = 2.0

    def __init__(self) -> None:
        still = {"v": Start(0.0, fixed=True)}
        self.world = World(n=(0, 0, -1), g=GRAVITY)
        self.road = vehicle.Step(h=STEP, x0=BEGIN, rising=RISING, mu=0.0)
        self.x = Prismatic(n=(1, 0, 0), useAxisFlange=True, s=Start(0.0, fixed=True))
        self.drive = translational.ConstantSpeed(v_fixed=SPEED)
        self.hub = Prismatic(n=(0, 0, 1), useAxisFlange=True, s=Start(HUB, fixed=True), **still)
        self.top = Prismatic(n=(0, 0, 1), useAxisFlange=True, s=Start(TOP, fixed=True), **still)
        self.body = Body(m=BODY, r_CM=(0, 0, 0))
        self.wheel = vehicle.SlipWheel(
            radius=RADIUS, c=TYRE_C, d=TYRE_D, cr=0.0, wheelMass=WHEEL, phi=Start(0.0, fixed=True),
            w=Start(SPEED / RADIUS, fixed=True),
        )  # fmt: skip
        self.spring = translational.SpringDamper(c=SPRING, d=DAMPER, s_rel0=UNSTRETCHED)
        self.connect(self.world.frame_b, self.x.frame_a)
        self.connect(self.drive.flange, self.x.axis)
        for joint, part in ((self.hub, self.wheel), (self.top, self.body)):
            self.connect(self.x.frame_b, joint.frame_a)
            self.connect(joint.frame_b, part.frame_a)
        self.connect(self.hub.axis, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.top.axis)


def _road(x: float) -> tuple[float, float, float]:
    """Height of the ramp, and the x- and z-component of its normal: a polynomial of the fifth order."""
    u = min(max((x - BEGIN) / RISING, 0.0), 1.0)
    slope = STEP / RISING * 30 * u**2 * (u - 1) ** 2
    length = math.hypot(1.0, slope)
    return STEP * u**3 * (6 * u**2 - 15 * u + 10), -slope / length, 1 / length


def _load(x: float, z: float, v: float) -> tuple[float, float]:
    """Force on the tyre along the normal, and that normal's z-component.

    The tangent below the centre gives a first contact point, that below it the plane that counts.
    """
    below = x
    for _ in range(2):
        height, n_x, n_z = _road(below)
        distance = (x - below) * n_x + (z - height) * n_z
        below = x - distance * n_x
    sunk = RADIUS - distance
    approach = -(SPEED * n_x + v * n_z)
    damping = TYRE_D * approach * min(max(sunk / (0.01 * RADIUS), 0.0), 1.0)
    return max(TYRE_C * max(sunk, 0.0) + damping, 0.0), n_z


def by_hand() -> Mapping[str, list[float]]:
    """Heights of hub and body, and the tyre's load, at the instants."""

    def rates(t: float, y: np.ndarray) -> list[float]:
        z, v, top, v_top = y
        load, n_z = _load(SPEED * t, z, v)
        pull = SPRING * (top - z - UNSTRETCHED) + DAMPER * (v_top - v)
        return [v, (load * n_z + pull) / WHEEL - GRAVITY, v_top, -pull / BODY - GRAVITY]

    found = solve_ivp(
        rates, (0, TIMES[-1]), [HUB, 0.0, TOP, 0.0], "DOP853", TIMES[1:], rtol=1e-12, atol=1e-12, max_step=0.01
    )
    z, v, top, _ = found.y
    load = [_load(SPEED * t, *state)[0] for t, *state in zip(TIMES[1:], z, v, strict=True)]
    values = {"wheel": z.tolist(), "body": top.tolist(), "load": load}
    return {f"vehicle-quarter-car-{name}": value for name, value in values.items()}


def solve(tolerance: float) -> Solution:
    """Heights and load at the instants, and the balance of energy."""
    grid = np.linspace(0, 2, 20001)
    names = ["hub.s", "top.s", "wheel.tyre.f_z"]
    run = motion(System.of(QuarterCar(), energy=True), [*names, *ENERGY], grid, tolerance)
    at = np.searchsorted(grid, TIMES[1:] - 1e-9)
    values: dict[str, float | list[float]] = {
        f"vehicle-quarter-car-{name}": run.values[key][at].tolist()
        for name, key in zip(("wheel", "body", "load"), names, strict=True)
    }
    values["vehicle-quarter-car-energy"] = energy_error(run.values, grid)
    return Solution(values, run.seconds, run.evaluations)


_AT = "at " + ", ".join(f"{t:g}" for t in TIMES[1:]) + " s"
REFERENCES = {
    "vehicle-quarter-car-wheel": (
        0.2870845558024548,
        0.3230622725012974,
        0.3444023792833752,
        0.34523493535965766,
        0.3429836132274563,
        0.3404184908290352,
        0.3409401596079308,
    ),
    "vehicle-quarter-car-body": (
        0.7811545495271504,
        0.7862633351571465,
        0.8040978344683503,
        0.8468051423077145,
        0.864185574699132,
        0.8340538981634199,
        0.8412757648850795,
    ),
    "vehicle-quarter-car-load": (
        7980.570937869392,
        6363.260219835798,
        3142.237896687082,
        2947.3913758352446,
        3411.838780575872,
        3913.3996747882916,
        3812.046577236972,
    ),
}

PROBLEMS = (
    *(
        Problem(
            f"vehicle-quarter-car-{name}", TITLE, SOURCE, f"{quantity} {_AT}", unit,
            REFERENCES[f"vehicle-quarter-car-{name}"], solve, error=error, origin="computed", model=QuarterCar,
        )
        for name, quantity, unit, error in (
            ("wheel", "height of the wheel", "m", 1e-7), ("body", "height of the body", "m", 1e-7),
            ("load", "load of the tyre", "N", 0.02),
        )
    ),
    Problem(
        "vehicle-quarter-car-energy", TITLE, BALANCE, "energy that is missing", "1", 0.0, solve, error=1e-7,
        origin="closed form", model=QuarterCar,
    ),
)  # fmt: skip
