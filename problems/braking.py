"""Braking to standstill on a slope, and holding there; a wheel in the air.

Locked wheels of a mass on a slide slide up or down a slope of 10 % until they stand: then the carcass holds the mass as
a spring, and nothing creeps. The same with a whole car on double wishbones. A car with a pit under one wheel stands on
the three others.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from mbfmu.components import Body, FixedRotation, FixedTranslation, FreeMotion, Prismatic, World, rotational, vehicle
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from problems.lane_change import MovingCar
from problems.motion import ENERGY, energy_error, motion
from problems.problem import Problem, Solution
from problems.slip_curve import SlipCurve

Values = dict[str, float | Sequence[float]]
TITLE = "Braking to standstill on a slope"
WARM = "A car that brakes, and whose discs warm up"
IN_THE_AIR = "A car with one wheel over a pit"
SOURCE = (
    "H. B. Pacejka, Tire and Vehicle Dynamics, third edition (2012), sections 7.2.3 and 8.6: relaxation, standstill; "
    "equations of SlipForce by hand, solved by SciPy's Radau"
)
STATICS = "equilibrium of a body on a slope"
BALANCE = "conservation of energy: power of tyres, dampers and brakes, integrated"
GRAVITY = 9.80665
GRADIENT, MASS = 0.1, 400.0
SLOPE = math.atan(GRADIENT)
TYRE = SlipCurve(radius=0.315, sigma=0.1575)
STIFFNESS = 2e5
LOAD = MASS * GRAVITY * math.cos(SLOPE)
#: Start speeds up the slope, m/s: ahead, and backwards down.
SPEEDS = {"": 3.0, "-reverse": -3.0}
#: When it stands, and a minute later.
STANDS, LATER = 10.0, 70.0


def _fixed(value: Any) -> Start:
    return Start(value, fixed=True)


class Locked(Assembly):
    """A mass on a slide along a slope, with a wheel that is locked."""

    stop_time = 10.0

    def __init__(self, v: float = 3.0) -> None:
        self.world = World(n=(0, 0, -1), g=GRAVITY)
        self.road = vehicle.Slope(gradient=GRADIENT)
        self.tilt = FixedRotation(n=(0, 1, 0), angle=-math.degrees(SLOPE))
        self.x = Prismatic(n=(1, 0, 0), v=_fixed(v), s=_fixed(0.0))
        self.z = Prismatic(n=(0, 0, 1), v=_fixed(0.0), s=_fixed(TYRE.radius - LOAD / STIFFNESS))
        self.mass = Body(m=MASS - 20.0, r_CM=(0, 0, 0))
        self.wheel = vehicle.SlipWheel(radius=TYRE.radius, c=STIFFNESS, d=3e3)
        self.lock = rotational.Fixed()
        for a, b in (
            (self.world.frame_b, self.tilt.frame_a), (self.tilt.frame_b, self.x.frame_a),
            (self.x.frame_b, self.z.frame_a), (self.z.frame_b, self.mass.frame_a),
            (self.z.frame_b, self.wheel.frame_a), (self.lock.flange, self.wheel.flange_a),
        ):  # fmt: skip
            self.connect(a, b)


def by_hand() -> Mapping[str, list[float]]:
    """Ways [m] after 0.3 s and 0.6 s, and where the wheel has come to rest."""

    def rates(_: float, y: np.ndarray) -> list[float]:
        _, v, kappa = y
        push = TYRE.force(kappa, 0.0, LOAD, v, (-v, 0.0))[0]
        rate = TYRE.rates(kappa, 0.0, v, (-v, 0.0))[0]
        return [v, push / MASS - GRAVITY * math.sin(SLOPE), rate]

    found = {}
    for name, v in SPEEDS.items():
        ways = solve_ivp(rates, (0, STANDS), [0.0, v, 0.0], "Radau", [0.3, 0.6, STANDS], rtol=1e-11, atol=1e-13)
        found[f"tyre-braking-way{name}"] = ways.y[0].tolist()
    return found


def _stop(name: str, tolerance: float) -> Solution:
    system = System.of(Locked(SPEEDS[name]), energy=True)
    stopping = np.linspace(0, 1, 20001)
    times = np.array([*stopping, STANDS, LATER])
    run = motion(system, ["x.s", "wheel.tyre.f_x", *ENERGY], times, tolerance)
    way = run.values["x.s"]
    values: Values = {
        f"tyre-braking-way{name}": way[[6000, 12000, -2]].tolist(),
        f"tyre-braking-hold{name}": float(run.values["wheel.tyre.f_x"][-1]),
        f"tyre-braking-creep{name}": float(way[-1] - way[-2]),
        f"tyre-braking-energy{name}": energy_error({key: run.values[key][:-2] for key in ENERGY}, stopping),
    }
    return Solution(values, run.seconds, run.evaluations)


ahead, reverse = functools.partial(_stop, ""), functools.partial(_stop, "-reverse")


class CarOnSlope(Assembly):
    """A car on double wishbones that brakes with all wheels on a slope."""

    stop_time = 5.0

    def __init__(self, v: float = 8.0) -> None:
        height, sin, cos = 0.3, math.sin(SLOPE), math.cos(SLOPE)
        self.world = World(n=(0, 0, -1), g=GRAVITY)
        self.road = vehicle.Slope(gradient=GRADIENT)
        self.car = vehicle.DoubleWishboneCar(v_start=v)
        self.free = FreeMotion(
            r_rel_a=_fixed((-height * sin, 0.0, height * cos)), v_rel_a=_fixed((v * cos, 0.0, v * sin)),
            angles_start=(0, -SLOPE, 0), angles_fixed=True, w_rel_a_fixed=True, animation=False,
        )  # fmt: skip
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.car.frame_a)
        self.input(self.car.brake, "brake", start=1.0)
        self.input(self.car.steer, "steer", start=0.0)


#: Body, and four uprights, wishbones and wheels of the car.
CAR_MASS = 1300.0 + 4 * (18.0 + 6.0 + 3.0 + 20.0)


def car(tolerance: float) -> Solution:
    """Creep over a minute, when the car has calmed down, and what its tyres hold."""
    wheels = ("fl", "fr", "rl", "rr")
    forces = {f"car.wheel_{name}.tyre.f_wheel_0[{i}]": i for name in wheels for i in (1, 2, 3)}
    run = motion(System.of(CarOnSlope()), ["car.r_0[1]", *forces], [0.0, 30.0, 90.0], tolerance)
    x = run.values["car.r_0[1]"]
    values: Values = {
        "tyre-braking-car-creep": float(x[2] - x[1]),
        "tyre-braking-car-hold": [
            float(sum(run.values[name][2] for name, axis in forces.items() if axis == i)) for i in (1, 2, 3)
        ],
    }
    return Solution(values, run.seconds, run.evaluations)


class Stop(MovingCar):
    """A car that brakes on a plane, whose discs warm up."""

    stop_time = 4.0
    speed = 25.0
    #: Of a disc, J/K.
    capacity = 3000.0

    def __init__(self) -> None:
        super().__init__(self.speed, useBrakeHeat=True, discCapacity=self.capacity)
        self.input(self.car.steer, "steer", start=0.0)
        self.input(self.car.brake, "brake", start=0.5)


def warm(tolerance: float) -> Solution:
    """Energy that is missing where what brakes dissipate is counted as heat in their discs and in the air."""
    wheels = ("fl", "fr", "rl", "rr")
    brakes = {
        name: [f"car.brake_{w}.{name}" for w in wheels] for name in ("disc.T", "cooling.Q_flow", "brake.lossPower")
    }
    grid = np.linspace(0, 3, 30001)
    system = System.of(Stop(), energy=True)
    run = motion(system, [*ENERGY, *(name for names in brakes.values() for name in names)], grid, tolerance)
    temperatures, cooling, losses = (np.array([run.values[name] for name in names]) for names in brakes.values())
    heat = Stop.capacity * (temperatures - temperatures[:, :1]).sum(axis=0)
    counted = {
        "energy.kinetic": run.values["energy.kinetic"],
        "energy.total": run.values["energy.total"] + heat,
        "energy.outflow": run.values["energy.outflow"] - losses.sum(axis=0) + cooling.sum(axis=0),
    }
    return Solution({"vehicle-brake-heat": energy_error(counted, grid)}, run.seconds, run.evaluations)


class OverPit(Assembly):
    """A stiff car on four stiff tyres, with a pit under its left front wheel."""

    stop_time = 1.0
    #: Places of wheels and of the centre of mass, from the middle between the rear wheels.
    places = ((2.5, 0.75), (2.5, -0.75), (0.0, 0.75), (0.0, -0.75))
    centre = (1.0, -0.3)
    m = 1000.0

    def __init__(self) -> None:
        stiffness, wheel = 2e7, 10.0
        self.world = World(n=(0, 0, -1), g=GRAVITY)
        self.road = vehicle.FunctionRoad(lambda x, y: ca.if_else(ca.logic_and(x > 2, y > 0), -1.0, 0.0))
        self.free = FreeMotion(
            r_rel_a=_fixed((0.0, 0.0, 0.3)), v_rel_a=_fixed(0.0), angles_fixed=True, w_rel_a_fixed=True,
            animation=False,
        )  # fmt: skip
        self.body = Body(m=self.m - 4 * wheel, r_CM=(*self.of_body(wheel), 0), I_11=300.0, I_22=900.0, I_33=1000.0)
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.body.frame_a)
        for i, (x, y) in enumerate(self.places, start=1):
            arm = FixedTranslation(r=(x, y, 0))
            tyre = vehicle.SlipWheel(radius=0.3, c=stiffness, d=1e5, wheelMass=wheel, phi=_fixed(0.0), w=_fixed(0.0))
            setattr(self, f"arm{i}", arm)
            setattr(self, f"wheel{i}", tyre)
            self.connect(self.free.frame_b, arm.frame_a)
            self.connect(arm.frame_b, tyre.frame_a)

    @classmethod
    def of_body(cls, wheel: float) -> tuple[float, float]:
        """Centre of mass of the body without its wheels."""
        x, y = (cls.m * c - sum(wheel * place[i] for place in cls.places) for i, c in enumerate(cls.centre))
        return x / (cls.m - 4 * wheel), y / (cls.m - 4 * wheel)

    @classmethod
    def loads(cls) -> list[float]:
        """Loads [N] of the wheels: forces and moments of the three that touch."""
        touching = np.array(cls.places[1:])
        sums = np.vstack([np.ones(3), touching.T])
        weight = cls.m * GRAVITY
        return [0.0, *np.linalg.solve(sums, [weight, weight * cls.centre[0], weight * cls.centre[1]]).tolist()]


def pit(tolerance: float) -> Solution:
    """Loads at rest, and the greatest of force and moment that the wheel in the air ever has."""
    loads = [f"wheel{i}.tyre.f_z" for i in range(1, 5)]
    forces = [f"wheel1.tyre.{name}" for name in ("f_x", "f_y", "f_z", "m_x", "m_y", "m_z")]
    run = motion(System.of(OverPit()), [*loads, *forces[:2], *forces[3:]], np.linspace(0, 4, 201), tolerance)
    in_the_air = np.array([run.values[name] for name in forces])
    values: Values = {
        "tyre-braking-air": [float(run.values[name][-1]) for name in loads],
        "tyre-braking-air-forces": float(np.abs(in_the_air).max()),
    }
    return Solution(values, run.seconds, run.evaluations)


REFERENCES = {
    "tyre-braking-way": (0.5018452688209664, 0.48266475834096184, 0.47225596172639484),
    "tyre-braking-way-reverse": (-0.5897029589041178, -0.6076765491223235, -0.6261102745761108),
}

_WEIGHT = GRAVITY * math.sin(SLOPE)
PROBLEMS = (
    *(
        problem
        for name, solve, way in (("", ahead, "ahead, up the slope"), ("-reverse", reverse, "backwards, down the slope"))
        for problem in (
            Problem(
                f"tyre-braking-way{name}", TITLE, SOURCE, f"way of a locked wheel, {way}, after 0.3, 0.6, 10 s", "m",
                REFERENCES[f"tyre-braking-way{name}"], solve, error=1e-6, origin="computed", model=Locked,
            ),
            Problem(
                f"tyre-braking-hold{name}", TITLE, STATICS, f"force that holds, {way}", "N", MASS * _WEIGHT, solve,
                error=1e-5, origin="closed form", model=Locked,
            ),
            Problem(
                f"tyre-braking-creep{name}", TITLE, STATICS, f"creep over 60 s, {way}", "m", 0.0, solve, error=1e-10,
                origin="closed form", model=Locked,
            ),
            Problem(
                f"tyre-braking-energy{name}", TITLE, BALANCE, f"energy that is missing, {way}", "1", 0.0, solve,
                error=1e-8, origin="closed form", model=Locked,
            ),
        )
    ),
    Problem(
        "tyre-braking-car-creep", TITLE, STATICS, "creep of a whole car over 60 s", "m", 0.0, car, error=1e-6,
        origin="closed form", tolerance=1e-6, tolerances=(1e-6,), model=CarOnSlope,
    ),
    Problem(
        "tyre-braking-car-hold", TITLE, STATICS, "force of the road on a whole car", "N",
        (0.0, 0.0, CAR_MASS * GRAVITY), car, error=1e-3, origin="closed form", tolerance=1e-6, tolerances=(1e-6,),
        model=CarOnSlope,
    ),
    Problem(
        "vehicle-brake-heat", WARM, BALANCE + "; heat of discs and air for that of brakes",
        "energy that is missing", "1", 0.0, warm, error=1e-8, origin="closed form", tolerance=1e-6,
        tolerances=(1e-6,), model=Stop,
    ),
    Problem(
        "tyre-braking-air", IN_THE_AIR, "equilibrium of a body on three points", "loads of the wheels", "N",
        OverPit.loads(), pit, error=0.5, origin="closed form", tolerance=1e-8, tolerances=(1e-8,), model=OverPit,
    ),
    Problem(
        "tyre-braking-air-forces", IN_THE_AIR, "a tyre that does not touch has no force",
        "forces and moments in the air", "N", 0.0, pit, error=0.0, origin="closed form", tolerance=1e-8,
        tolerances=(1e-8,), model=OverPit,
    ),
)  # fmt: skip
