"""Machines that are cut into FMUs at rigid shafts, which a master couples again: algebraic loops through the cuts."""

from __future__ import annotations

import functools
import math
import time
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from mbfmu.components import BodyBox, Revolute, World, rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate
from problems.built import fmu_of
from problems.problem import Problem, Solution

SOURCE = (
    "R. Kübler, W. Schiehlen, Two methods of simulator coupling, Mathematical and Computer Modelling of Dynamical "
    "Systems 6 (2000), 93-113: the coupling by forces and motions whose iteration diverges for a ratio of the masses "
    "above 1; the reference is the closed form of the machine as a whole"
)
TWO_MASSES = (
    "M. Busch, B. Schweizer, Numerical stability and accuracy of different co-simulation techniques: analytical "
    "investigations based on a 2-DOF test model, 1st Joint International Conference on Multibody System Dynamics, "
    "Lappeenranta 2010: the two-mass oscillator, cut into a side that takes force and one that takes motion; the "
    "reference is the matrix exponential of the whole"
)
#: kg.m2, N.m/rad, N.m.s/rad, rad, s.
INERTIA, STIFFNESS, DAMPING, ANGLE, END = 2.0, 80.0, 3.0, 1.0, 1.5
#: The light inertia with its spring and damper, and the shaft to it.
LIGHT, SHAFT = (0.05, 60.0, 0.3), (20.0, 0.1)
#: Longer step of two for a tolerance of 1, s: the error falls with its square.
STEP = 1.0
#: Step of shafts between flanges that both take torque, for a tolerance of 1, s: the error falls with its fourth power.
SHAFT_STEP = 0.5


class Moved(Assembly):
    """A rigid inertia, moved at its flange: its torque is -J a."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft", motion=True)
        self.inertia = rotational.Inertia(J=1.0)
        self.connect(self.inertia.flange_a, self.axis)


class Swinging(Assembly):
    """An inertia on a spring and a damper, which takes a torque."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=INERTIA, phi=Start(ANGLE, fixed=True), w=Start(0.0, fixed=True))
        self.spring = rotational.SpringDamper(c=STIFFNESS, d=DAMPING)
        self.wall = rotational.Fixed()
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.inertia.flange_b)
        self.connect(self.inertia.flange_a, self.axis)


class Turning(Assembly):
    """A free inertia, which takes a torque, and turns with what it is on a shaft with."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=1.0, phi=Start(ANGLE, fixed=True), w=Start(0.0, fixed=True))
        self.connect(self.inertia.flange_a, self.axis)


class Light(Assembly):
    """A light inertia on a stiff spring, which takes a torque."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=LIGHT[0], phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.spring = rotational.SpringDamper(c=LIGHT[1], d=LIGHT[2])
        self.wall = rotational.Fixed()
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.inertia.flange_b)
        self.connect(self.inertia.flange_a, self.axis)


class Heavy(Assembly):
    """A heavy inertia on a soft spring, and the shaft to what it drives, whose far end is moved."""

    def __init__(self) -> None:
        self.axis = Flange_a("Far end of the shaft", motion=True)
        self.inertia = rotational.Inertia(J=INERTIA, phi=Start(ANGLE, fixed=True), w=Start(0.0, fixed=True))
        self.spring = rotational.SpringDamper(c=STIFFNESS, d=DAMPING)
        self.shaft = rotational.SpringDamper(c=SHAFT[0], d=SHAFT[1])
        self.wall = rotational.Fixed()
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.inertia.flange_a)
        self.connect(self.inertia.flange_b, self.shaft.flange_a)
        self.connect(self.shaft.flange_b, self.axis)


class Between(Assembly):
    """A rigid inertia, moved at one flange, that moves what is at the other."""

    def __init__(self) -> None:
        self.left = Flange_a("Moved", motion=True)
        self.right = Flange_a("Takes torque")
        self.inertia = rotational.Inertia(J=1.0)
        self.connect(self.inertia.flange_a, self.left)
        self.connect(self.inertia.flange_b, self.right)


class Split(Assembly):
    """A motor of constant torque, a differential without losses and two rigid shafts, moved at their ends."""

    def __init__(self) -> None:
        self.left = Flange_a("Shaft", motion=True)
        self.right = Flange_a("Shaft", motion=True)
        self.motor = rotational.ConstantTorque(tau_constant=10.0)
        self.rotor = rotational.Inertia(J=1.0)
        self.planets = rotational.IdealPlanetary(ratio=1.0)
        self.connect(self.motor.flange, self.rotor.flange_a)
        self.connect(self.rotor.flange_b, self.planets.carrier)
        self.connect(self.planets.sun, self.left)
        self.connect(self.planets.ring, self.right)


class Wheels(Assembly):
    """Two inertias that take torque, with dampers of their own."""

    def __init__(self) -> None:
        for side, J, d in (("left", 0.3, 0.5), ("right", 2.0, 1.5)):
            wheel = rotational.Inertia(J=J, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            damper, wall = rotational.Damper(d=d), rotational.Fixed()
            setattr(self, side, Flange_a("Shaft"))
            setattr(self, f"{side}_wheel", wheel)
            setattr(self, f"{side}_damper", damper)
            setattr(self, f"{side}_wall", wall)
            self.connect(wall.flange, damper.flange_a)
            self.connect(damper.flange_b, wheel.flange_b)
            self.connect(wheel.flange_a, getattr(self, side))


class Crank(Assembly):
    """A motor and its flywheel, which take the torque of what they move."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft")
        self.motor = rotational.ConstantTorque(tau_constant=30.0)
        self.wheel = rotational.Inertia(J=0.5, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.connect(self.motor.flange, self.wheel.flange_a)
        self.connect(self.wheel.flange_b, self.axis)


class Bars(Assembly):
    """A four-bar of plain hinges in the gravity field, without the drive of its first hinge."""

    def __init__(self, drawn: bool = False) -> None:
        self.world = World(enableAnimation=drawn, axisLength=0.2)
        self.revolute1 = Revolute(useAxisFlange=True)
        self.revolute2, self.revolute3, self.revolute4 = Revolute(), Revolute(), Revolute()
        self.body1 = BodyBox(r=(0.4, 0, 0), width=0.05)
        self.body2 = BodyBox(r=(0.1, 1.1, 0), width=0.05)
        self.body3 = BodyBox(r=(-0.15, 1.0, 0), width=0.05)
        self.body4 = BodyBox(r=(0.65, 0.1, 0), width=0.05)
        self.connect(self.world.frame_b, self.revolute1.frame_a)
        self.connect(self.revolute1.frame_b, self.body1.frame_a)
        self.connect(self.body1.frame_b, self.revolute2.frame_a)
        self.connect(self.revolute2.frame_b, self.body2.frame_a)
        self.connect(self.world.frame_b, self.body3.frame_a)
        self.connect(self.body3.frame_b, self.revolute3.frame_a)
        self.connect(self.revolute3.frame_b, self.body4.frame_a)
        self.connect(self.body4.frame_b, self.revolute4.frame_a)
        self.connect(self.body2.frame_b, self.revolute4.frame_b)


class MovedBars(Bars):
    """The four-bar, moved at its first hinge: its torque is not linear in angle and speed."""

    def __init__(self) -> None:
        super().__init__()
        self.axis = Flange_a("Shaft", motion=True)
        self.connect(self.revolute1.axis, self.axis)


class DrivenBars(Bars):
    """The same in one piece with its drive."""

    stop_time = END

    def __init__(self) -> None:
        super().__init__(drawn=True)
        self.crank = Crank()
        self.connect(self.crank.axis, self.revolute1.axis)


_fmu = functools.partial(fmu_of, equations="interpreted")


def swing(inertia: float, t: np.ndarray) -> np.ndarray:
    """Angle of a damped oscillator that is let go at rest, rad, in closed form."""
    decay = DAMPING / (2 * inertia)
    omega = math.sqrt(STIFFNESS / inertia - decay**2)
    return ANGLE * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))


def _solve(
    key: str, structure: SystemStructure, values: dict[str, float], outputs: list[str], tolerance: float
) -> Solution:
    """Values at the end in both schemes, one after the other."""
    begin, ends, calls = time.process_time(), [], 0
    for scheme in ("jacobi", "gauss-seidel"):
        found = cosimulate(
            structure, stop_time=END, scheme=scheme, tolerance=tolerance, start_values=values, outputs=outputs
        )
        ends += [float(found[name][-1]) for name in outputs]
        calls += found.account.calls
    return Solution({key: ends}, time.process_time() - begin, calls)


def rigid(ratio: float, tolerance: float) -> Solution:
    """Two inertias whose ratio, moved to taking torque, is given."""
    structure = SystemStructure.of({"moved": _fmu(Moved), "swinging": _fmu(Swinging)})
    values = {"moved.inertia.J": ratio * INERTIA}
    return _solve(f"coupling-rigid-{ratio:g}", structure, values, ["swinging.inertia.phi"], tolerance)


def shaft(ratio: float, tolerance: float) -> Solution:
    """Two inertias whose ratio is given, both of which take the torque between them."""
    structure = SystemStructure.of({"turning": _fmu(Turning), "swinging": _fmu(Swinging)})
    step, begin = SHAFT_STEP * tolerance**0.25, time.process_time()
    names = ["turning.inertia.phi", "swinging.inertia.phi"]
    found = cosimulate(
        structure, step=step, stop_time=END, tolerance=1e-12, outputs=names,
        start_values={"turning.inertia.J": ratio * INERTIA},
    )  # fmt: skip
    ends = [float(found[name][-1]) for name in names]
    return Solution({f"coupling-shaft-{ratio:g}": ends}, time.process_time() - begin, found.account.calls)


def row(tolerance: float) -> Solution:
    """Three inertias in a row, two rigid cuts."""
    structure = SystemStructure.of(
        {"moved": _fmu(Moved), "between": _fmu(Between), "swinging": _fmu(Swinging)},
        [("swinging.axis", "between.left"), ("between.right", "moved.axis")],
    )
    values = {"moved.inertia.J": 5.0, "between.inertia.J": 3.0}
    return _solve("coupling-row", structure, values, ["swinging.inertia.phi"], tolerance)


def multirate(ratio: float, tolerance: float) -> Solution:
    """Two inertias on a shaft, the light one with steps that are shorter by a ratio."""
    structure = SystemStructure.of({"heavy": _fmu(Heavy), "light": _fmu(Light)})
    outputs = ["heavy.inertia.phi", "light.inertia.phi"]
    step, begin = STEP * math.sqrt(tolerance), time.process_time()
    found = cosimulate(
        structure, step=step, steps={"light": step / ratio}, stop_time=END, inputs="tangent", tolerance=1e-12,
        outputs=outputs,
    )  # fmt: skip
    ends = [float(found[name][-1]) for name in outputs]
    return Solution({f"coupling-multirate-{ratio:g}": ends}, time.process_time() - begin, found.account.calls)


def two_masses(t: float) -> list[float]:
    """Angles of the heavy and of the light inertia, rad: M q'' + D q' + C q = 0."""
    mass = np.diag([INERTIA, LIGHT[0]])
    stiffness, damping = (
        np.diag([own, light]) + shaft * np.array([[1.0, -1.0], [-1.0, 1.0]])
        for own, light, shaft in ((STIFFNESS, LIGHT[1], SHAFT[0]), (DAMPING, LIGHT[2], SHAFT[1]))
    )
    inverse = np.linalg.inv(mass)
    matrix = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiffness, -inverse @ damping]])
    return [float(q) for q in (expm(matrix * t) @ [ANGLE, 0.0, 0.0, 0.0])[:2]]


def differential(tolerance: float) -> Solution:
    """A differential with two rigid shafts."""
    structure = SystemStructure.of({"split": _fmu(Split), "wheels": _fmu(Wheels)})
    outputs = ["wheels.left_wheel.w", "wheels.right_wheel.w"]
    return _solve("coupling-differential", structure, {}, outputs, tolerance)


def four_bar(tolerance: float) -> Solution:
    """A four-bar, cut from its drive at a flange."""
    structure = SystemStructure.of({"bars": _fmu(MovedBars), "crank": _fmu(Crank)})
    return _solve("coupling-four-bar", structure, {}, ["crank.wheel.phi"], tolerance)


def whole_four_bar() -> float:
    """Angle of the crank at the end, rad, of four-bar and drive in one model: the reference of the cut one."""
    found = simulate(DrivenBars(), END, tolerance=1e-11, interval=END, outputs=["crank.wheel.phi"])
    return float(found["crank.wheel.phi"][-1])


def wheel_speeds(t: float) -> list[float]:
    """Speeds of two wheels at a differential, rad/s: M w' = tau / 2 - D w, with the rotor's share J / 4 in all of M."""
    mass = np.diag([0.3, 2.0]) + 0.25
    matrix = np.linalg.inv(mass)

    def rates(_: float, w: np.ndarray) -> np.ndarray:
        return matrix @ (5.0 - np.array([0.5, 1.5]) * w)

    found = solve_ivp(rates, (0.0, t), np.zeros(2), method="DOP853", rtol=1e-13, atol=1e-14)
    return [float(w) for w in found.y[:, -1]]


def by_hand() -> dict[str, list[float]]:
    """References of what has no closed form."""
    return {"coupling-differential": 2 * wheel_speeds(END)}


_COMMON: dict[str, Any] = {"source": SOURCE, "tolerance": 1e-6, "tolerances": (1e-4, 1e-5, 1e-6)}


def _swing(inertia: float) -> list[float]:
    return 2 * [float(swing(inertia, np.array(END)))]


PROBLEMS = (
    *(
        Problem(
            f"coupling-rigid-{ratio:g}",
            "Two inertias, one in an FMU each, on one rigid shaft",
            quantity=f"angle at {END:g} s, moved inertia {ratio:g} times the other, Jacobi and Gauss-Seidel",
            unit="rad",
            reference=_swing((1 + ratio) * INERTIA),
            solve=functools.partial(rigid, ratio),
            error=1e-6,
            origin="closed form",
            **_COMMON,
        )
        for ratio in (0.1, 1, 10, 100)
    ),
    *(
        Problem(
            f"coupling-shaft-{ratio:g}",
            "Two inertias on one rigid shaft, one in an FMU each, which both take the torque between them",
            quantity=f"angles at {END:g} s, one inertia {ratio:g} times the other, steps of {SHAFT_STEP:g} s "
            "tolerance^(1/4)",
            unit="rad",
            reference=_swing((1 + ratio) * INERTIA),
            solve=functools.partial(shaft, ratio),
            error=1e-7,
            origin="closed form",
            **_COMMON,
        )
        for ratio in (0.01, 1, 100)
    ),
    Problem(
        "coupling-row",
        "Three inertias in a row, one in an FMU each",
        quantity=f"angle at {END:g} s, Jacobi and Gauss-Seidel",
        unit="rad",
        reference=_swing(INERTIA + 8.0),
        solve=row,
        error=1e-6,
        origin="closed form",
        **_COMMON,
    ),
    *(
        Problem(
            f"coupling-multirate-{ratio:g}",
            "Two oscillators on a shaft, one in an FMU each, with steps of their own",
            quantity=f"angles at {END:g} s; the light one's steps are {ratio:g} times shorter than the other's of "
            f"{STEP:g} s sqrt(tolerance)",
            unit="rad",
            reference=two_masses(END),
            solve=functools.partial(multirate, ratio),
            error=1e-6,
            origin="closed form",
            **(_COMMON | {"source": TWO_MASSES}),
        )
        for ratio in (10, 2.5)
    ),
    Problem(
        "coupling-differential",
        "A differential in one FMU, with two rigid shafts to wheels in another",
        quantity=f"speeds of the wheels at {END:g} s, Jacobi and Gauss-Seidel",
        unit="rad/s",
        reference=2 * wheel_speeds(END),
        solve=differential,
        error=2e-5,
        origin="computed",
        **_COMMON,
    ),
    Problem(
        "coupling-four-bar",
        "A four-bar in one FMU, cut at the flange of its first hinge from its drive in another",
        quantity=f"angle of the crank at {END:g} s, Jacobi and Gauss-Seidel, against one model of both",
        unit="rad",
        reference=[-0.33776745857289636] * 2,
        solve=four_bar,
        error=2e-5,
        origin="computed",
        model=DrivenBars,
        **_COMMON,
    ),
)
