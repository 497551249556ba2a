"""The double lane change of ISO 3888-1 by a whole car, steps of its steering wheel, and its linear model in a turn.

Lengths and widths of the lanes are those of the standard, as in Project Chrono's demonstration. The lane offset of
3.5 m is taken between right edges: published tracks count it there, between centre lines, or from a centre line.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.linalg import expm

from mbfmu import simulate
from mbfmu.components import FreeMotion, World, rotational, vehicle
from mbfmu.dynamics import System
from mbfmu.fmus import lane_change
from mbfmu.modeling import Assembly, Start
from mbfmu.studies.linearize import linearize
from problems.motion import ENERGY, energy_error, motion
from problems.problem import Problem, Solution

TITLE = "Double lane change of a car (ISO 3888-1)"
STEP = "Step steer of a car (ISO 7401)"
SOURCE = "ISO 3888-1:2018, test track for a severe lane-change manoeuvre, part 1, at 80 km/h"
BALANCE = "conservation of energy: power of tyres, dampers and the drive, integrated"
MIRROR = "a car that is the same on both sides answers to the right as it does to the left"
CIRCLE = "Step of steering on a steady circle, by the linear model of a whole car"
DIFFERENCES = "the motion itself: half the difference of runs with a step to either side"
SPEED = 80 / 3.6
#: The car from above: overhang in front of the front axle and behind the rear one, width, m.
FRONT, REAR, WIDTH = 0.8, 0.7, 1.7
WHEELBASE = 2.7
OFFSET = 3.5
#: Lanes: where they begin and end, their right edges, their widths.
_WIDTHS = (1.1 * WIDTH + 0.25, 1.2 * WIDTH + 0.25, 1.3 * WIDTH + 0.25)
_EDGE = -_WIDTHS[0] / 2
LANES = (
    (0.0, 15.0, _EDGE, _WIDTHS[0]),
    (45.0, 70.0, _EDGE + OFFSET, _WIDTHS[1]),
    (95.0, 110.0, _EDGE, _WIDTHS[2]),
)
#: Where the driver starts, and the path: through the middles of the lanes.
START = -15.0
_MIDDLE = [edge + width / 2 for _, _, edge, width in LANES]
PATH = (
    (START, 0.0), (14.0, 0.0), (44.0, _MIDDLE[1]), (71.0, _MIDDLE[1]), (97.0, _MIDDLE[2]), (150.0, _MIDDLE[2]),
)  # fmt: skip


class LaneChange(lane_change.LaneChange):
    """The car of the gallery, which its driver takes through the lanes."""

    stop_time = 6.0

    def __init__(self, speed: float = SPEED) -> None:
        super().__init__(speed)
        self.free.modify(r_rel_a=Start((START, 0.0, 0.3), fixed=True))
        self.driver.modify(points=PATH, preview=0.45, gain=10.0)


class MovingCar(Assembly):
    """A car at speed on a plane, in the direction of x."""

    def __init__(self, speed: float, **car: Any) -> None:
        self.world = World(n=(0, 0, -1))
        self.car = vehicle.DoubleWishboneCar(v_start=speed, **car)
        self.free = FreeMotion(
            r_rel_a=Start((0.0, 0.0, 0.3), fixed=True), v_rel_a=Start((speed, 0.0, 0.0), fixed=True),
            angles_fixed=True, w_rel_a_fixed=True, animation=False,
        )  # fmt: skip
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.car.frame_a)


class StepSteer(MovingCar):
    """A car that rolls freely, and whose steering wheel is turned at the start."""

    stop_time = 3.0

    def __init__(self, angle: float = 0.8, speed: float = 20.0) -> None:
        super().__init__(speed)
        self.input(self.car.steer, "steer", start=angle)
        self.input(self.car.brake, "brake", start=0.0)


class Turn(MovingCar):
    """A car on a circle: its steering wheel is held, its rear wheels are driven as a speed asks for."""

    stop_time = 10.0

    def __init__(self, angle: float = 0.3, speed: float = 20.0) -> None:
        super().__init__(speed)
        self.driver = vehicle.Driver(k_v=3000.0)
        self.engine = rotational.Torque()
        self.differential = rotational.IdealPlanetary(ratio=1.0)
        self.connect(self.car.frame_a, self.driver.frame_a)
        self.connect(self.driver.torque, self.engine.tau)
        self.connect(self.engine.flange, self.differential.carrier)
        self.connect(self.differential.sun, self.car.axle_rl)
        self.connect(self.differential.ring, self.car.axle_rr)
        self.input(self.driver.v_ref, "speed", start=speed)
        self.input(self.car.steer, "steer", start=angle)
        self.input(self.car.brake, "brake", start=0.0)


_PLACE = ("car.r_0[1]", "car.r_0[2]", "car.frame_a.R.T[1,1]", "car.frame_a.R.T[1,2]")


def beyond(places: np.ndarray) -> float:
    """How far a corner of the car is ever outside of a lane, m; 0 where none is. `places`: x, y, cos, sin [4, n]."""
    x, y, cos, sin = places
    worst = 0.0
    for along in (FRONT, -WHEELBASE - REAR):
        for left in (WIDTH / 2, -WIDTH / 2):
            corner_x, corner_y = x + along * cos - left * sin, y + along * sin + left * cos
            for begin, end, edge, width in LANES:
                inside = corner_y[(corner_x >= begin) & (corner_x <= end)]
                worst = max(worst, edge - inside.min(), inside.max() - edge - width)
    return max(worst, 0.0)


def change(tolerance: float) -> Solution:
    """How far the car is outside of the lanes, and the balance of energy."""
    grid = np.linspace(0, 6.3, 6301)
    run = motion(System.of(LaneChange(), energy=True), [*_PLACE, *ENERGY], grid, tolerance)
    values = {
        "vehicle-lane-change-cones": beyond(np.array([run.values[name] for name in _PLACE])),
        "vehicle-lane-change-energy": energy_error(run.values, grid),
    }
    return Solution(values, run.seconds, run.evaluations)


def steps(tolerance: float) -> Solution:
    """Greatest difference of yaw rates to both sides, over the greatest; energy of the step to the left."""
    grid, names = np.linspace(0, 3, 3001), ("car.yawRate", "car.a_y", "car.roll")
    left, right = (
        motion(System.of(StepSteer(angle), energy=True), [*names, *ENERGY], grid, tolerance) for angle in (0.8, -0.8)
    )
    differ = [np.abs(left.values[n] + right.values[n]).max() / np.abs(left.values[n]).max() for n in names]
    values = {"vehicle-steer-mirrored": max(differ), "vehicle-steer-energy": energy_error(left.values, grid)}
    return Solution(values, left.seconds + right.seconds, left.evaluations + right.evaluations)


#: When the circle is steady, how long the answer to a step of the steering wheel is seen, and the step.
STEADY, SEEN, TURNED = 10.0, 1.5, 0.005
ANSWERS = ("car.yawRate", "car.v_y", "car.roll")


def turn(tolerance: float) -> Solution:
    """Answer of the linear model about the circle to a step of steering, beside half the difference of two runs."""
    system = System.of(Turn())
    begin = time.process_time()
    linear = linearize(
        system, STEADY, inputs=["steer"], outputs=ANSWERS, states=["car.v", "car.v_y"], tolerance=tolerance
    )
    times, n = np.linspace(0, SEEN, 151), len(linear.A)
    with_input = np.zeros((n + 1, n + 1))
    with_input[:n] = np.hstack([linear.A, linear.B])
    step, state, expected = expm(with_input * times[1]), np.append(np.zeros(n), 1.0), []
    for _ in times:
        expected.append(linear.C @ state[:n] + linear.D[:, 0])
        state = step @ state
    runs = [
        simulate(
            system, STEADY + SEEN, interval=times[1], outputs=ANSWERS, tolerance=tolerance, interpolation="held",
            inputs={"time": [0.0, STEADY], "steer": [0.3, 0.3 + size]},
        )
        for size in (TURNED, -TURNED)
    ]  # fmt: skip
    worst = 0.0
    for name, answer in zip(ANSWERS, np.array(expected).T, strict=True):
        found = (runs[0][name] - runs[1][name])[-len(times) :] / (2 * TURNED)
        worst = max(worst, float(np.abs(found - answer)[1:].max() / np.abs(answer).max()))
    return Solution({"vehicle-turn-response": worst}, time.process_time() - begin)


PROBLEMS = (
    Problem(
        "vehicle-turn-response", CIRCLE, DIFFERENCES, "yaw rate, side slip, roll: greatest difference, of the greatest",
        "1", 0.0, turn, error=1e-4, origin="closed form", tolerance=1e-9, tolerances=(1e-9,), model=Turn,
    ),
    Problem(
        "vehicle-lane-change-cones", TITLE, SOURCE, "greatest distance of a corner outside of the lanes", "m", 0.0,
        change, error=0.0, tolerance=1e-6, tolerances=(1e-6,), model=LaneChange,
    ),
    Problem(
        "vehicle-lane-change-energy", TITLE, BALANCE, "energy that is missing", "1", 0.0, change, error=1e-6,
        origin="closed form", tolerance=1e-6, tolerances=(1e-6,), model=LaneChange,
    ),
    Problem(
        "vehicle-steer-mirrored", STEP, MIRROR, "yaw rate, lateral acceleration, roll: sum of both", "1", 0.0, steps,
        error=1e-5, origin="closed form", tolerance=1e-6, tolerances=(1e-6,), model=StepSteer,
    ),
    Problem(
        "vehicle-steer-energy", STEP, BALANCE, "energy that is missing", "1", 0.0, steps, error=1e-6,
        origin="closed form", tolerance=1e-6, tolerances=(1e-6,), model=StepSteer,
    ),
)  # fmt: skip
