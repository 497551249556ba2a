"""Cornering of a vehicle with two wheels, one behind the other, and with four: ISO 4138 and ISO 7401.

Height and roll are held, so that the loads are what they are; then equations by hand are those of the single-track
model, with the curve of the tyre and its relaxation, and for small slip the linear one.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

from mbfmu.components import Body, FixedRotation, FixedTranslation, Planar, Revolute, World, rotational, vehicle
from mbfmu.components.sensors import AbsoluteVelocity
from mbfmu.components.vehicle import magic_formula
from mbfmu.dynamics import System
from mbfmu.frames import angular_velocity2
from mbfmu.modeling import Assembly, Component, Frame_a, Parameter, RealOutput, Start, State
from mbfmu.modeling import types as t
from mbfmu.studies.linearize import linearize
from problems.motion import ENERGY, energy_error, motion
from problems.problem import Problem, Solution
from problems.slip_curve import SlipCurve

STEP = "Step steer of a single-track model (ISO 7401)"
CIRCLE = "Steady circles of a single-track model (ISO 4138)"
LINEAR = "Yaw rate of a car on tyres by the Magic Formula"
SOURCE = (
    "Single-track model, as in H. B. Pacejka, Tire and Vehicle Dynamics, third edition (2012), section 1.3, with the "
    "curve and the relaxation of SlipForce: equations by hand"
)
STEADY = "Linear single-track model, the same, equations (1.46) to (1.57)"
FORMULA = STEADY + ", with cornering stiffness (4.E25) and trail (4.E42)"
BALANCE = "conservation of energy: power of the tyres, integrated"
M, J = 1000.0, 1500.0
WHEEL_M, WHEEL_LONG, WHEEL_AXIS = 20.0, 0.6, 1.0
FRONT, REAR = 1.2, -1.5
TYRE = SlipCurve(radius=0.3, sigma=0.15)
SUNK, STIFFNESS = 0.02, 2e5
LOAD = SUNK * STIFFNESS
#: The whole, and where its centre of mass is ahead of the body's.
MASS = M + 2 * WHEEL_M
OFFSET = WHEEL_M * (FRONT + REAR) / MASS
INERTIA = J + 2 * WHEEL_LONG + WHEEL_M * (FRONT**2 + REAR**2) - MASS * OFFSET**2
#: Step: angle of the front wheel, start speed, instants.
ANGLE, SPEED = 0.03, 20.0
TIMES = np.array([0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 2.0])
#: Circles: radius, speeds; far out for small slip.
RADIUS, SPEEDS = 100.0, (10.0, 15.0, 20.0, 24.0)
FAR, SLOW = 10000.0, (10.0, 20.0)


def _fixed(value: Any) -> Start:
    return Start(value, fixed=True)


class Pilot(Component):
    """Steers until the path has its radius, and drives until the speed is right."""

    frame_a = Frame_a("Frame of the vehicle", needed=True)
    steer = RealOutput("Angle of the front wheel", type=t.Angle)
    torque = RealOutput("Torque of the rear wheel", type=t.Torque)
    radius = Parameter(t.Radius, RADIUS, "Radius of the path")
    speed = Parameter(t.Velocity, 10.0, "Speed")
    delta = State(t.Angle, "Angle of the front wheel", start=0.0, fixed=True)
    drive = State(t.Torque, "Torque that has turned out to be needed", start=0.0, fixed=True)

    def equations(self) -> None:
        """A signal that grows until nothing is missing, and one of the speed that adds what is missing now."""
        frame = self.frame_a
        frame.f, frame.t = [0, 0, 0], [0, 0, 0]
        v = self.der(frame.r_0)
        slow = self.speed - (v[0] ** 2 + v[1] ** 2) ** 0.5
        self.der.delta = 8.0 / self.speed * (self.speed / self.radius - angular_velocity2(frame.R)[2])
        self.der.drive = 300.0 * slow
        self.steer, self.torque = self.delta, self.drive + 1000.0 * slow


class SingleTrack(Assembly):
    """A body on two wheels, one behind the other, whose height is held; the front wheel stands at an angle.

    With a radius it follows a circle.
    """

    stop_time = 2.0

    def __init__(self, steer: float = ANGLE, v: float = SPEED, radius: float | None = None) -> None:
        self.world = World(n=(0, 0, -1))
        self.height = FixedTranslation(r=(0, 0, TYRE.radius - SUNK))
        self.planar = Planar(
            n=(0, 0, 1), v_x=_fixed(v), v_y=_fixed(0.0), phi=_fixed(0.0), s_x=_fixed(0.0), s_y=_fixed(0.0),
            w=_fixed(0.0),
        )  # fmt: skip
        self.body = Body(m=M, r_CM=(0, 0, 0), I_11=750.0, I_22=750.0, I_33=J)
        self.speed = AbsoluteVelocity(resolveInFrame="frame_a")
        self.connect(self.planar.frame_b, self.speed.frame_a)
        self.connect(self.world.frame_b, self.height.frame_a)
        self.connect(self.height.frame_b, self.planar.frame_a)
        self.connect(self.planar.frame_b, self.body.frame_a)
        for name, x in (("front", FRONT), ("rear", REAR)):
            arm = FixedTranslation(r=(x, 0, 0))
            wheel = vehicle.SlipWheel(
                radius=TYRE.radius, c=STIFFNESS, cr=0.0, wheelMass=WHEEL_M, wheel_I_axis=WHEEL_AXIS,
                wheel_I_long=WHEEL_LONG, w=_fixed(v / TYRE.radius), phi=_fixed(0.0),
            )  # fmt: skip
            setattr(self, f"{name}Arm", arm)
            setattr(self, f"{name}Wheel", wheel)
            self.connect(self.planar.frame_b, arm.frame_a)
        self.connect(self.rearArm.frame_b, self.rearWheel.frame_a)
        if radius is None:
            self.turned = FixedRotation(n=(0, 0, 1), angle=math.degrees(steer))
            self.connect(self.frontArm.frame_b, self.turned.frame_a)
            self.connect(self.turned.frame_b, self.frontWheel.frame_a)
            return
        self.pilot = Pilot(radius=radius, speed=v)
        self.hinge = Revolute(n=(0, 0, 1), useAxisFlange=True, stateSelect="avoid")
        self.steering = rotational.Position(exact=False, f_crit=2.0)
        self.motor = rotational.Torque()
        self.connect(self.planar.frame_b, self.pilot.frame_a)
        self.connect(self.frontArm.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.frontWheel.frame_a)
        self.connect(self.pilot.steer, self.steering.phi_ref)
        self.connect(self.steering.flange, self.hinge.axis)
        self.connect(self.pilot.torque, self.motor.tau)
        self.connect(self.motor.flange, self.rearWheel.flange_a)


def _wheel(x: float, angle: float, v_x: float, v_y: float, yaw: float) -> tuple[float, float]:
    """Velocities of a wheel at x, ahead and to its left, for those of the body's frame."""
    side = v_y + x * yaw
    return v_x * math.cos(angle) + side * math.sin(angle), side * math.cos(angle) - v_x * math.sin(angle)


def _moved(forces: Sequence[tuple[float, float]], angles: Sequence[float]) -> tuple[float, float, float]:
    """Sums of forces ahead and to the left, and of their moments about the centre of mass."""
    turned = [
        (x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a))
        for (x, y), a in zip(forces, angles, strict=True)
    ]
    moment = sum(f[1] * (x - OFFSET) for f, x in zip(turned, (FRONT, REAR), strict=True))
    return turned[0][0] + turned[1][0], turned[0][1] + turned[1][1], moment


def _tyres(y: np.ndarray) -> tuple[list[float], list[tuple[float, float]]]:
    """Rates of slips and wheels of the step, and the forces of both tyres."""
    v_x, v_side, yaw = y[0], y[1] - OFFSET * y[2], y[2]
    rates, forces = [], []
    for i, (x, angle) in enumerate(((FRONT, ANGLE), (REAR, 0.0))):
        kappa, tan_alpha, omega = y[3 + 3 * i : 6 + 3 * i]
        ahead, side = _wheel(x, angle, v_x, v_side, yaw)
        sliding = (omega * TYRE.radius - ahead, side)
        forces.append(TYRE.force(kappa, tan_alpha, LOAD, ahead, sliding))
        spin = -(TYRE.radius - SUNK) * forces[-1][0] / WHEEL_AXIS
        rates += [*TYRE.rates(kappa, tan_alpha, ahead, sliding), spin]
    return rates, forces


def _rates(_: float, y: np.ndarray) -> list[float]:
    """Of velocities of the centre of mass and yaw rate, and of slips and speed of each wheel."""
    slips, forces = _tyres(y)
    f_x, f_y, moment = _moved(forces, (ANGLE, 0.0))
    return [f_x / MASS + y[2] * y[1], f_y / MASS - y[2] * y[0], moment / INERTIA, *slips]


@functools.cache
def _stepped() -> np.ndarray:
    """The states at the instants: [9, n]."""
    rolling = SPEED / TYRE.radius
    start = [SPEED, 0.0, 0.0, 0.0, 0.0, rolling, 0.0, 0.0, rolling]
    found = solve_ivp(_rates, (0, TIMES[-1]), start, "Radau", TIMES[1:], rtol=1e-11, atol=1e-13)
    return np.asarray(found.y)


def step_by_hand() -> np.ndarray:
    """Yaw rate, and forces of the front and the rear tyre to the left, at the instants: [3, n]."""
    side = np.array([[f[1] for f in _tyres(y)[1]] for y in _stepped().T])
    return np.vstack([_stepped()[2], side.T])


def _rates_in_the_world(z: np.ndarray) -> np.ndarray:
    """Rates of the velocity of the body's frame in the world, of its angle and yaw rate, and of the wheels' states.

    Eigenvalues of a motion that is no rest belong to its coordinates; these are those of the model.
    """
    cos, sin, yaw = math.cos(z[2]), math.sin(z[2]), z[3]
    v_x, v_y = cos * z[0] + sin * z[1], cos * z[1] - sin * z[0]
    slips, forces = _tyres(np.array([v_x, v_y + OFFSET * yaw, yaw, *z[4:]]))
    f_x, f_y, moment = _moved(forces, (ANGLE, 0.0))
    a_x, a_y = f_x / MASS + OFFSET * yaw**2, f_y / MASS - OFFSET * moment / INERTIA
    return np.array([cos * a_x - sin * a_y, sin * a_x + cos * a_y, yaw, moment / INERTIA, *slips])


def eigenvalues_by_hand() -> np.ndarray:
    """Eigenvalues in the curve, at the last instant."""
    v_x, v_y, yaw, *wheels = _stepped()[:, -1]
    z = np.array([v_x, v_y - OFFSET * yaw, 0.0, yaw, *wheels])  # the same for all angles in the plane
    return _upper(np.linalg.eigvals(_jacobian(_rates_in_the_world, z)))


def eigenvalues_in_own_axes() -> np.ndarray:
    """The same with velocities along the axes of the body, in which the motion of a steady curve rests."""
    return _upper(np.linalg.eigvals(_jacobian(functools.partial(_rates, 0.0), _stepped()[:, -1])))


def _jacobian(rates: Callable[[np.ndarray], Any], y: np.ndarray) -> np.ndarray:
    """Central differences of sixth order: their long steps round less than short ones of second order."""
    columns = []
    for i in range(y.size):
        h = np.zeros(y.size)
        h[i] = 1e-3 * max(abs(y[i]), 0.01)
        pairs = [np.asarray(rates(y + k * h)) - np.asarray(rates(y - k * h)) for k in (1, 2, 3)]
        columns.append(np.array([45, -9, 1]) @ pairs / (60 * h[i]))
    return np.column_stack(columns)


def _upper(values: np.ndarray) -> np.ndarray:
    """Eigenvalues in the upper half, without those of place and angles, which are 0: the fastest first, re and im."""
    kept = sorted((v for v in values if v.imag > -1e-6 and abs(v) > 0.01), key=lambda v: (round(v.real, 3), v.imag))
    return np.array([part for v in kept for part in (v.real, abs(v.imag))])


def circle_by_hand(radius: float, v: float) -> float:
    """Angle of the front wheel on a circle, where the body's frame has speed v and the rear wheel drives."""
    yaw = v / radius

    def missing(unknown: np.ndarray) -> list[float]:
        angle, slip, drive = unknown
        v_x, v_y = v * math.cos(slip), v * math.sin(slip)
        forces = []
        for x, a, kappa in ((FRONT, angle, 0.0), (REAR, 0.0, drive)):
            ahead, side = _wheel(x, a, v_x, v_y, yaw)
            forces.append(TYRE.force(kappa, side / ahead, LOAD, ahead, (0.0, 0.0)))
        f_x, f_y, moment = _moved(forces, (angle, 0.0))
        return [f_x / MASS + yaw * (v_y + OFFSET * yaw), f_y / MASS - yaw * v_x, moment / INERTIA]

    found, _, done, said = fsolve(missing, [(FRONT - REAR) / radius, 0.0, 0.0], xtol=1e-14, full_output=True)
    if not done:
        raise ValueError(said)
    return float(found[0])


def by_hand() -> Mapping[str, list[float]]:
    """Of the step and of the circles."""
    yaw, front, rear = step_by_hand().tolist()
    names = {"yaw": yaw, "front": front, "rear": rear}
    found = {f"vehicle-step-steer-{name}": values for name, values in names.items()}
    found["vehicle-curve-eigenvalues"] = eigenvalues_by_hand().tolist()
    found["vehicle-curve-own-axes"] = eigenvalues_in_own_axes().tolist()
    return found | {"vehicle-circle-steer": [circle_by_hand(RADIUS, v) for v in SPEEDS]}


def step(tolerance: float) -> Solution:
    """Step steer: yaw rate and forces at the instants, and the balance of energy."""
    grid = np.linspace(0, TIMES[-1], 20001)
    names = {"yaw": "planar.w", "front": "frontWheel.tyre.f_y", "rear": "rearWheel.tyre.f_y"}
    run = motion(System.of(SingleTrack(), energy=True), [*names.values(), *ENERGY], grid, tolerance)
    at = np.searchsorted(grid, TIMES[1:] - 1e-9)
    values: dict[str, float | Sequence[float]] = {
        f"vehicle-step-steer-{name}": run.values[key][at].tolist() for name, key in names.items()
    }
    values["vehicle-step-steer-energy"] = energy_error(run.values, grid)
    return Solution(values, run.seconds, run.evaluations)


def curve(tolerance: float) -> Solution:
    """Eigenvalues in the curve, at the last instant of the step steer."""
    system = System.of(SingleTrack())
    begin = time.process_time()
    values: dict[str, float | Sequence[float]] = {}
    for name, states in (("eigenvalues", ()), ("own-axes", ("speed.v[1]", "speed.v[2]"))):
        found = linearize(system, float(TIMES[-1]), states=states, tolerance=tolerance)
        values[f"vehicle-curve-{name}"] = _upper(found.eigenvalues).tolist()
    return Solution(values, time.process_time() - begin)


def circles(tolerance: float) -> Solution:
    """Angles of the front wheel on circles, and how they grow with the acceleration where slip is small."""
    found, seconds, evaluations = {}, 0.0, 0
    for radius, speeds in ((RADIUS, SPEEDS), (FAR, SLOW)):
        for v in speeds:
            run = motion(System.of(SingleTrack(v=v, radius=radius)), ["steering.phi"], [0.0, 40.0], tolerance)
            found[radius, v] = float(run.values["steering.phi"][-1])
            seconds, evaluations = seconds + run.seconds, evaluations + run.evaluations
    slow, fast = (found[FAR, v] for v in SLOW)
    values: dict[str, float | Sequence[float]] = {
        "vehicle-circle-steer": [found[RADIUS, v] for v in SPEEDS],
        "vehicle-circle-gradient": (fast - slow) / ((SLOW[1] ** 2 - SLOW[0] ** 2) / FAR),
    }
    return Solution(values, seconds, evaluations)


def gradient() -> float:
    """Understeer gradient of the linear model, rad.s2/m: mass over stiffness, by the arms of both axles."""
    a, b = FRONT - OFFSET, OFFSET - REAR
    stiffness = TYRE.slope * TYRE.mu_A * LOAD
    return MASS / (a + b) * (b - a) / stiffness


class FourWheels(Assembly):
    """A body on four wheels on tyres by the Magic Formula, whose height is held."""

    stop_time = 3.0
    half_track = 0.75
    #: Mass of a wheel.
    wheel = 1e-3

    def __init__(self, data: vehicle.TyreData, steer: float, v: float, sunk: float) -> None:
        self.world = World(n=(0, 0, -1))
        rolling = magic_formula.effective_radius(data, data.VERTICAL_STIFFNESS * sunk, v / data.UNLOADED_RADIUS)
        self.height = FixedTranslation(r=(0, 0, data.UNLOADED_RADIUS - sunk))
        self.planar = Planar(
            n=(0, 0, 1), v_x=_fixed(v), v_y=_fixed(0.0), phi=_fixed(0.0), s_x=_fixed(0.0), s_y=_fixed(0.0),
            w=_fixed(0.0),
        )  # fmt: skip
        self.body = Body(m=4 * M / 2.6, r_CM=(0, 0, 0), I_11=2 * J, I_22=2 * J, I_33=2 * J)
        self.connect(self.world.frame_b, self.height.frame_a)
        self.connect(self.height.frame_b, self.planar.frame_a)
        self.connect(self.planar.frame_b, self.body.frame_a)
        for end, x, angle in (("front", FRONT, steer), ("rear", REAR, 0.0)):
            for side, y in (("left", self.half_track), ("right", -self.half_track)):
                arm, turned = FixedTranslation(r=(x, y, 0)), FixedRotation(n=(0, 0, 1), angle=math.degrees(angle))
                wheel = vehicle.TyreWheel(
                    data, side=side, wheelMass=self.wheel, wheel_I_axis=1.0, wheel_I_long=0.6, phi=_fixed(0.0),
                    w=_fixed(v / rolling),
                )  # fmt: skip
                for kind, part in (("Arm", arm), ("Turned", turned), ("Wheel", wheel)):
                    setattr(self, f"{end}_{side}{kind}", part)
                self.connect(self.planar.frame_b, arm.frame_a)
                self.connect(arm.frame_b, turned.frame_a)
                self.connect(turned.frame_b, wheel.frame_a)


#: The library's tyre without what is not the same on both sides, without rolling resistance, on a linear spring.
EVEN = vehicle.read_tir(vehicle.tyres.DATA / f"{vehicle.tyres.OWN}.tir").with_values(
    PHY1=0.0, PVY1=0.0, QHZ1=0.0, QDZ6=0.0, PEY3=0.0, QSY1=0.0, QSY3=0.0, QSY4=0.0, Q_V1=0.0, Q_V2=0.0, Q_FZ2=0.0
)
SMALL, FOUR_SUNK, FOUR_SPEEDS = 1e-4, 0.018, (10.0, 20.0, 30.0)


def gains() -> list[float]:
    """Steady yaw rates over the angle of the front wheels, 1/s, by the linear single-track model with trails."""
    load = EVEN.VERTICAL_STIFFNESS * FOUR_SUNK
    share = load / EVEN.FNOMIN
    stiffness = 2 * abs(EVEN.PKY1) * EVEN.FNOMIN * math.sin(EVEN.PKY4 * math.atan(share / EVEN.PKY2))
    trail = share * EVEN.UNLOADED_RADIUS * (EVEN.QDZ1 + EVEN.QDZ2 * (share - 1))
    a, b, m = FRONT - trail, trail - REAR, 4 * M / 2.6
    found = []
    for v in FOUR_SPEEDS:  # unknown: side slip and yaw rate; forces of the front angle on the right
        A = [
            [2 * stiffness, stiffness * (FRONT + REAR) / v + m * v],
            [stiffness * (a - b), stiffness * (a * FRONT - b * REAR) / v],
        ]
        found.append(float(np.linalg.solve(A, [stiffness, stiffness * a])[1]))
    return found


def modes_by_hand(v: float) -> np.ndarray:
    """Eigenvalues [2] of yaw and side slip by the linear single-track model with relaxation, and with wheels that spin.

    States are lateral speed, yaw rate, and for each axle the slip angle, and slip and speed of the left wheel, which
    are those of the right one with the other sign.
    """
    load = EVEN.VERTICAL_STIFFNESS * FOUR_SUNK
    share, half, radius = load / EVEN.FNOMIN, FourWheels.half_track, EVEN.UNLOADED_RADIUS - FOUR_SUNK
    stiffness = abs(EVEN.PKY1) * EVEN.FNOMIN * math.sin(EVEN.PKY4 * math.atan(share / EVEN.PKY2))
    slip_stiffness = load * (EVEN.PKX1 + EVEN.PKX2 * (share - 1)) * math.exp(EVEN.PKX3 * (share - 1))
    trail = share * EVEN.UNLOADED_RADIUS * (EVEN.QDZ1 + EVEN.QDZ2 * (share - 1))
    sigma_y = stiffness / EVEN.LATERAL_STIFFNESS / (1 + EVEN.PCFY1 * (share - 1) + EVEN.PCFY2 * (share - 1) ** 2)
    sigma_x = (
        slip_stiffness / EVEN.LONGITUDINAL_STIFFNESS / (1 + EVEN.PCFX1 * (share - 1) + EVEN.PCFX2 * (share - 1) ** 2)
    )
    rolling = magic_formula.effective_radius(EVEN, load, v / EVEN.UNLOADED_RADIUS)
    m = 4 * M / 2.6 + 4 * FourWheels.wheel
    inertia = 2 * J + 4 * 0.6 + 2 * FourWheels.wheel * (FRONT**2 + REAR**2 + 2 * half**2)
    A = np.zeros((8, 8))
    A[0, 1] = -v
    for k, x in ((2, FRONT), (5, REAR)):
        alpha, kappa, spin = k, k + 1, k + 2
        A[0, alpha] = -2 * stiffness / m
        A[1, alpha], A[1, kappa] = -2 * stiffness * (x - trail) / inertia, -2 * half * slip_stiffness / inertia
        A[alpha, [0, 1, alpha]] = 1 / sigma_y, x / sigma_y, -v / sigma_y
        A[kappa, [1, kappa, spin]] = half / sigma_x, -v / sigma_x, rolling / sigma_x
        A[spin, kappa] = -radius * slip_stiffness / 1.0
    values, modes = np.linalg.eig(A)
    lateral = sorted(range(8), key=lambda i: -abs(modes[1, i]) / np.abs(modes[2:, i]).max())
    return values[lateral[:2]]


def straight(tolerance: float) -> Solution:
    """Eigenvalues of yaw and side slip of the car with four wheels that goes straight ahead: re and im."""
    values, begin = [], time.process_time()
    for v in FOUR_SPEEDS:
        found = linearize(System.of(FourWheels(EVEN, 0.0, v, FOUR_SUNK)), 0.5, tolerance=tolerance).eigenvalues
        by_hand = modes_by_hand(v)[0]
        near = found[np.abs(found - by_hand).argmin()]
        values += [float(near.real), float(abs(near.imag))]
    return Solution({"vehicle-single-track-eigenvalues": values}, time.process_time() - begin)


def four(tolerance: float) -> Solution:
    """Steady yaw rates of the car with four wheels over the angle of the front ones."""
    found, seconds, evaluations = [], 0.0, 0
    for v in FOUR_SPEEDS:
        system = System.of(FourWheels(EVEN, SMALL, v, FOUR_SUNK))
        run = motion(system, ["planar.w"], [0.0, 4.0], tolerance)
        found.append(float(run.values["planar.w"][-1]) / SMALL)
        seconds, evaluations = seconds + run.seconds, evaluations + run.evaluations
    return Solution({"vehicle-single-track-gain": found}, seconds, evaluations)


_AT = "at " + ", ".join(f"{x:g}" for x in TIMES[1:]) + " s"
_circling = functools.partial(SingleTrack, v=SPEEDS[0], radius=RADIUS)
REFERENCES = {
    "vehicle-step-steer-yaw": (
        0.053996038776361034,
        0.10002864701396118,
        0.1512651704917489,
        0.17654940722632242,
        0.1727216834875888,
        0.17108673376861838,
    ),
    "vehicle-step-steer-front": (
        1538.4126290711174,
        1351.9822036191206,
        1376.533445920551,
        1741.8356216853306,
        1970.0660661926088,
        1955.9517966477329,
    ),
    "vehicle-step-steer-rear": (
        84.37895849000662,
        292.31416580752386,
        776.894304585088,
        1384.7249983925317,
        1598.1365951954292,
        1578.090985032734,
    ),
    "vehicle-curve-eigenvalues": (
        -142.62908629585863,
        0.0,
        -135.71851829606157,
        0.0,
        -73.75621966577978,
        181.22302756358175,
        -71.70955313902004,
        179.3897995317499,
        -6.291386285986622,
        3.67764218469055,
        -0.0017254534419786044,
        0.1454430847138953,
    ),
    "vehicle-curve-own-axes": (
        -142.629216477668,
        0.0,
        -135.7186043518918,
        0.0,
        -73.75621721465534,
        181.22302738378082,
        -71.7095529590984,
        179.38980055902337,
        -6.285417236866904,
        3.6783248053761026,
        -0.015178029575068306,
        0.0,
    ),
    "vehicle-circle-steer": (
        0.02878537514716143,
        0.031168611473479903,
        0.03529539058831759,
        0.04247764568679958,
    ),
}

PROBLEMS = (
    *(
        Problem(
            f"vehicle-step-steer-{name}", STEP, SOURCE, f"{quantity} {_AT}", unit,
            REFERENCES[f"vehicle-step-steer-{name}"], step, error=error, origin="computed", model=SingleTrack,
        )
        for name, quantity, unit, error in (
            ("yaw", "yaw rate", "rad/s", 1e-7), ("front", "lateral force of the front tyre", "N", 0.01),
            ("rear", "lateral force of the rear tyre", "N", 0.01),
        )
    ),
    Problem(
        "vehicle-step-steer-energy", STEP, BALANCE, "energy that is missing", "1", 0.0, step, error=1e-8,
        origin="closed form", model=SingleTrack,
    ),
    Problem(
        "vehicle-curve-eigenvalues", STEP, SOURCE, f"eigenvalues in the curve, at {TIMES[-1]:g} s: re and im",
        "1/s", REFERENCES["vehicle-curve-eigenvalues"], curve, error=1e-6, origin="computed", model=SingleTrack,
    ),
    Problem(
        "vehicle-curve-own-axes", STEP, SOURCE, "the same with speeds along the axes of the body", "1/s",
        REFERENCES["vehicle-curve-own-axes"], curve, error=1e-6, origin="computed", model=SingleTrack,
    ),
    Problem(
        "vehicle-single-track-eigenvalues", LINEAR, FORMULA + ", with relaxation",
        f"eigenvalue of yaw and side slip at {FOUR_SPEEDS} m/s: re and im", "1/s",
        [part for v in FOUR_SPEEDS for part in (modes_by_hand(v)[0].real, abs(modes_by_hand(v)[0].imag))], straight,
        error=2e-5, origin="closed form", tolerance=1e-8, tolerances=(1e-8,),
        model=functools.partial(FourWheels, EVEN, 0.0, FOUR_SPEEDS[0], FOUR_SUNK),
    ),
    Problem(
        "vehicle-circle-steer", CIRCLE, SOURCE, f"angle of the front wheel at {SPEEDS} m/s, radius {RADIUS:g} m", "rad",
        REFERENCES["vehicle-circle-steer"], circles, error=1e-7, origin="computed", tolerance=1e-8,
        tolerances=(1e-6, 1e-8), model=_circling,
    ),
    Problem(
        "vehicle-circle-gradient", CIRCLE, STEADY, "understeer gradient where slip is small", "rad.s2/m", gradient(),
        circles, error=1e-7, origin="closed form", tolerance=1e-8, tolerances=(1e-6, 1e-8), model=_circling,
    ),
    Problem(
        "vehicle-single-track-gain", LINEAR, FORMULA, f"yaw rate over steering angle at {FOUR_SPEEDS} m/s", "1/s",
        gains(), four, error=2e-5, origin="closed form", tolerance=1e-8, tolerances=(1e-8,),
        model=functools.partial(FourWheels, EVEN, SMALL, FOUR_SPEEDS[0], FOUR_SUNK),
    ),
)  # fmt: skip
