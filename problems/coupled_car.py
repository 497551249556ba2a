"""A car on tyres in one FMU and its powertrain in another, against both in one model.

The car takes torque at its rear wheels and tells their motion; the powertrain is moved there. It starts from 5 m/s at
full torque in a bend on a wet road, so that a wheel spins.
"""

from __future__ import annotations

import pathlib
import time
from typing import Any

from mbfmu.components import rotational, vehicle
from mbfmu.components.interfaces import Flange_a
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate
from problems.built import fmu_of
from problems.lane_change import MovingCar
from problems.problem import Problem, Solution

TITLE = "A car and its powertrain, an FMU each"
SOURCE = "both in one model, run at a tolerance of 1e-12; a coupling has to find its motion"
SPEED, END = 5.0, 0.5
#: Wheels are at rest relative to the shafts' ends at the start, so that these have to turn as fast.
ROLLING = SPEED / (0.97 * 0.316)
GEAR, TORQUE, SHAFT, LOSS = 8.0, 140.0, 8000.0, 60.0
OUTPUTS = ("car.v", "car.yawRate", "car.wheel_rl.w", "car.wheel_rr.w")


class _Driven(MovingCar):
    """A car in a bend on a wet road, without what drives it."""

    stop_time = END

    def __init__(self) -> None:
        super().__init__(SPEED)
        self.road = vehicle.Road(mu=0.5)
        self.input(self.car.steer, "steer", start=2.0)
        self.input(self.car.brake, "brake", start=0.0)


class OpenCar(_Driven):
    """The car with its rear wheels open: torque in, motion out."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = Flange_a("Rear left wheel"), Flange_a("Rear right wheel")
        self.connect(self.car.axle_rl, self.left)
        self.connect(self.car.axle_rr, self.right)
        for name in ("v", "yawRate"):
            self.output(getattr(self.car, name), f"car_{name}")


def _powertrain(self: Any) -> tuple[Any, Any]:
    """Engine, gear, differential and two elastic shafts; the ends of the shafts."""
    self.engine = rotational.ConstantTorque(tau_constant=TORQUE)
    self.rotor = rotational.Inertia(J=0.15, phi=Start(0.0, fixed=True), w=Start(GEAR * ROLLING, fixed=True))
    self.gear = rotational.IdealGear(ratio=GEAR)
    self.differential = rotational.IdealPlanetary(ratio=1.0)
    self.sun = rotational.Inertia(J=0.05, phi=Start(0.0, fixed=True), w=Start(ROLLING, fixed=True))
    self.ring = rotational.Inertia(J=0.05)
    self.leftShaft, self.rightShaft = (rotational.SpringDamper(c=SHAFT, d=LOSS) for _ in range(2))
    self.connect(self.engine.flange, self.rotor.flange_a)
    self.connect(self.rotor.flange_b, self.gear.flange_a)
    self.connect(self.gear.flange_b, self.differential.carrier)
    self.connect(self.differential.sun, self.sun.flange_a)
    self.connect(self.differential.ring, self.ring.flange_a)
    self.connect(self.sun.flange_b, self.leftShaft.flange_a)
    self.connect(self.ring.flange_b, self.rightShaft.flange_a)
    return self.leftShaft.flange_b, self.rightShaft.flange_b


class Powertrain(Assembly):
    """The powertrain, moved at the ends of its shafts: motion in, torque out."""

    def __init__(self) -> None:
        self.left, self.right = Flange_a("Left shaft", motion=True), Flange_a("Right shaft", motion=True)
        left, right = _powertrain(self)
        self.connect(left, self.left)
        self.connect(right, self.right)


class WholeCar(_Driven):
    """Car and powertrain in one model."""

    def __init__(self) -> None:
        super().__init__()
        left, right = _powertrain(self)
        self.connect(left, self.car.axle_rl)
        self.connect(right, self.car.axle_rr)


def fmus() -> dict[str, pathlib.Path]:
    """Car and powertrain as FMUs."""
    return {"car": fmu_of(OpenCar), "powertrain": fmu_of(Powertrain)}


def by_hand() -> dict[str, list[float]]:
    """Speed, yaw rate and speeds of the driven wheels at the end, of the whole in one model."""
    found = simulate(WholeCar(), END, tolerance=1e-12, interval=END, outputs=OUTPUTS)
    return {"vehicle-coupled": [float(found[name][-1]) for name in OUTPUTS]}


def solve(tolerance: float) -> Solution:
    """The same of two FMUs, in steps that the tolerance chooses."""
    structure = SystemStructure.of(fmus())
    names = [f"car.{name}" for name in OUTPUTS]
    begin = time.process_time()
    found = cosimulate(structure, stop_time=END, tolerance=tolerance, outputs=names)
    values = {"vehicle-coupled": [float(found[name][-1]) for name in names]}
    return Solution(values, time.process_time() - begin, found.account.calls)


REFERENCE = (5.89424819622, 0.28044314603, 31.5967354686, 20.0694322998)
PROBLEMS = (
    Problem(
        "vehicle-coupled", TITLE, SOURCE, f"speed, yaw rate, speeds of the driven wheels at {END:g} s",
        "1", REFERENCE, solve, error=1e-4, origin="computed", tolerance=1e-5,
        tolerances=(1e-4, 1e-5),
        model=WholeCar,
    ),
)  # fmt: skip
