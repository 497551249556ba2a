"""A bicycle with its rider that rolls ahead while nobody steers: four rigid bodies, wheels that touch in a point.

Small motions about the upright one follow M q'' + v C1 q' + (g K0 + v^2 K2) q = f, with angles q of leaning and
steering, to the right, and their torques f. The matrices follow from linear models of ours, at 3 and at 5 m/s. At 5 m/s
the bicycle balances itself: all eigenvalues lie to the left of the imaginary axis.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np

import mbfmu
from mbfmu.components import Body, FixedTranslation, Revolute, RollingWheel, World, rotational
from mbfmu.components.forces import WorldTorque
from mbfmu.modeling import Assembly, Start
from problems.problem import Problem, Solution

TITLE = "Benchmark bicycle"
SOURCE = (
    "J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the balance and "
    "steer of a bicycle: a benchmark and review, Proceedings of the Royal Society A 463 (2007), 1955-1982"
)
GRAVITY = 9.81
#: Speeds of the linear models, m/s.
SPEEDS = (3.0, 5.0)

#: Matrices of the paper.
MASS = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
DAMPING = np.array([[0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
GRAVITATIONAL = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
CENTRIFUGAL = np.array([[0, 76.59734589573222], [0, 2.65431523794604]])

#: Eigenvalues at 5 m/s: castering, capsize, real and imaginary part of weave, 1/s.
EIGENVALUES = {
    "castering": -14.07838969279822,
    "capsize": -0.32286642900409,
    "weave-real": -0.77534188219585,
    "weave-imag": 4.46486771378823,
}


class Bicycle(Assembly):
    """The bicycle with z upwards, upright and rolling along x."""

    stop_time = 0.2

    def __init__(self, speed: float = 5.0, **frame: Any) -> None:
        tilt, base, trail = np.pi / 10, 1.02, 0.08
        rear, front = np.array([0, 0, 0.3]), np.array([base, 0, 0.35])
        axis = np.array([-np.sin(tilt), 0, np.cos(tilt)])
        head = np.array([base + trail, 0, 0]) + axis * 0.3 / np.cos(tilt)
        self.world = World(n=(0, 0, -1), g=GRAVITY)
        self.rear = RollingWheel(
            wheelRadius=0.3, wheelMass=2.0, wheel_I_axis=0.12, wheel_I_long=0.0603,
            der_angles=Start((0, speed / 0.3, 0)),
        )  # fmt: skip
        guesses = {"x": base, "y": 0.0, "angles": (0, 0, 0), "der_angles": (0, speed / 0.35, 0)}
        self.front = RollingWheel(
            wheelRadius=0.35, wheelMass=3.0, wheel_I_axis=0.28, wheel_I_long=0.1405,
            **{name: Start(value, fixed=False) for name, value in guesses.items()},
        )  # fmt: skip
        self.rear_axle, self.front_axle = Revolute(n=(0, 1, 0)), Revolute(n=(0, 1, 0))
        self.frame = Body(m=85.0, r_CM=(0.3, 0, 0.6), I_11=9.2, I_22=11.0, I_33=2.8, I_31=-2.4, **frame)
        self.to_head = FixedTranslation(r=head - rear, width=0.04)
        self.head = Revolute(n=axis, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True), useAxisFlange=True)
        self.to_front = FixedTranslation(r=front - head, width=0.04)
        self.fork = Body(
            m=4.0, r_CM=np.array([0.9, 0, 0.7]) - head, I_11=0.05892, I_22=0.06, I_33=0.00708, I_31=0.00756
        )
        self.connect(self.rear.frame_a, self.rear_axle.frame_a)
        self.connect(self.rear_axle.frame_b, self.frame.frame_a)
        self.connect(self.frame.frame_a, self.to_head.frame_a)
        self.connect(self.to_head.frame_b, self.head.frame_a)
        self.connect(self.head.frame_b, self.fork.frame_a)
        self.connect(self.head.frame_b, self.to_front.frame_a)
        self.connect(self.to_front.frame_b, self.front_axle.frame_b)
        self.connect(self.front_axle.frame_a, self.front.frame_a)
        self.output(self.head.phi)

    @staticmethod
    def equation(speed: float) -> np.ndarray:
        """A of (lean, steer, their rates), from the linear equation of the paper."""
        inverse = np.linalg.inv(MASS)
        stiffness = GRAVITY * GRAVITATIONAL + speed**2 * CENTRIFUGAL
        return np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiffness, -inverse @ DAMPING * speed]])


class DrivenBicycle(Bicycle):
    """The bicycle with torques that lean and steer it."""

    def __init__(self, speed: float = 5.0) -> None:
        super().__init__(speed, enforceStates=True)
        self.lean, self.steer = WorldTorque(), rotational.Torque()
        self.connect(self.lean.frame_b, self.frame.frame_a)
        self.connect(self.steer.flange, self.head.axis)
        self.input(self.lean.torque, "lean_torque")
        self.input(self.steer.tau, "steer_torque")


@functools.cache
def _system(speed: float) -> mbfmu.System:
    return mbfmu.System.of(DrivenBicycle(speed))


def _linear(speed: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """M, and the factors of q' and q, and the eigenvalues that are not 0, with the paper's signs: both to the right."""
    system = _system(speed)
    # In a small lean the frame's y looks upwards by as much; our steering axis points upwards, theirs downwards.
    linear = mbfmu.linearize(system, outputs=["frame.frame_a.R.T[2,3]", "head.phi"])
    side = np.array([1, -1])
    torques = [[v.name for v in system.variables if v.causality == "input"].index(name) for name in _INPUTS]
    C, B = side[:, None] * linear.C, linear.B[:, torques] * side
    inverse = C @ linear.A @ B
    # q'' = F (q, q') for all states x: C A^2 = F (C; C A).
    F = C @ linear.A @ linear.A @ np.linalg.pinv(np.vstack([C, C @ linear.A]), rcond=1e-9)
    M = np.linalg.inv(inverse)
    return M, -M @ F[:, 2:], -M @ F[:, :2], linear.eigenvalues[np.abs(linear.eigenvalues) > 1e-3]


_INPUTS = ("lean_torque[1]", "steer_torque")


def solve(_: float) -> Solution:
    """Matrices, and eigenvalues at 5 m/s; derivatives are exact, so that there is no tolerance."""
    for speed in SPEEDS:
        _system(speed)
    begin = time.process_time()
    M, slow, soft = _linear(SPEEDS[0])[:3]
    fast, stiff, eigenvalues = _linear(SPEEDS[1])[1:]
    seconds = time.process_time() - begin
    v1, v2 = SPEEDS
    K2 = (stiff - soft) / (v2**2 - v1**2)
    weave = next(value for value in eigenvalues if value.imag > 1e-3)
    real = sorted(value.real for value in eigenvalues if abs(value.imag) <= 1e-3)
    matrices = {"m": M, "c1": (fast - slow) / (v2 - v1), "k0": (stiff - v2**2 * K2) / GRAVITY, "k2": K2}
    values = {f"bicycle-{name}": matrix.tolist() for name, matrix in matrices.items()}
    values |= {"bicycle-castering": real[0], "bicycle-capsize": real[1]}
    values |= {"bicycle-weave-real": weave.real, "bicycle-weave-imag": weave.imag}
    return Solution(values, seconds)


def _problem(name: str, quantity: str, unit: str, reference: Any, error: float) -> Problem:
    return Problem(
        f"bicycle-{name}", TITLE, SOURCE, quantity, unit, reference, solve, error, tolerance=0.0, tolerances=(0.0,),
        model=functools.partial(Bicycle, enforceStates=True),
    )  # fmt: skip


PROBLEMS = (
    *(_problem(name, f"{name.replace('-', ', ')}: eigenvalue at 5 m/s", "1/s", value, 1e-9)
      for name, value in EIGENVALUES.items()),
    _problem("m", "matrix M", "kg.m2", MASS.tolist(), 1e-8),
    _problem("c1", "matrix C1", "kg.m", DAMPING.tolist(), 1e-8),
    _problem("k0", "matrix K0", "kg.m", GRAVITATIONAL.tolist(), 1e-8),
    _problem("k2", "matrix K2", "kg", CENTRIFUGAL.tolist(), 1e-8),
)  # fmt: skip
