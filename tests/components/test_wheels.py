"""Rolling wheels: closed-form motions of a disk, a sledge on a wheel and a wheel set; conservation over long runs."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbfmu.components import (
    Body,
    FixedTranslation,
    Planar,
    Revolute,
    RollingWheel,
    RollingWheelSet,
    World,
    joints,
    rotational,
    vehicle,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate

G = 9.80665
R, M, AXIS, LONG = 0.3, 2.0, 0.06, 0.12


def fixed(value: float) -> Start:
    return Start(value, fixed=True)


class Wheel(Assembly):
    """One wheel on a level road."""

    def __init__(self, **start) -> None:
        self.world = World(n=(0, 0, -1))
        self.wheel = RollingWheel(
            wheelRadius=R,
            wheelMass=M,
            wheel_I_axis=AXIS,
            wheel_I_long=LONG,
            **{name: Start(value) for name, value in start.items()},
        )


@pytest.mark.slow
def test_upright_wheel_rolls_straight_through_many_turns():
    """x = R angle; the angle counts turns past the singular value of Cardan angles."""
    result = simulate(Wheel(x=0.2, der_angles=(0, 7.0, 0)), 3.0, tolerance=1e-9, interval=0.05)
    np.testing.assert_allclose(result["wheel.angles[2]"], 7.0 * result.time, atol=1e-7)
    np.testing.assert_allclose(result["wheel.x"], 0.2 + R * 7.0 * result.time, atol=1e-7)
    np.testing.assert_allclose(result["wheel.rollingWheel.f_n"], M * G, rtol=1e-8)
    np.testing.assert_allclose(result["wheel.rollingWheel.f_long"], 0.0, atol=1e-8)


def steady_circle(lean: float, radius: float) -> float:
    """Turning speed of a disk that leans inward by `lean` while its centre moves on a circle of `radius`.

    Euler's equation about the centre for steady precession W and spin s = -W (radius + R sin(lean)) / R:
    W^2 cos(lean) ((AXIS / R + M R) radius + LONG sin(lean)) = M G R sin(lean).
    """
    return math.sqrt(
        M * G * R * math.sin(lean) / (math.cos(lean) * ((AXIS / R + M * R) * radius + LONG * math.sin(lean)))
    )


@pytest.mark.slow
def test_disk_on_its_steady_circle():
    lean, radius = 0.25, 1.1
    turn = steady_circle(lean, radius)
    spin = -turn * (radius + R * math.sin(lean)) / R
    # the axis points outward and up, (0, cos, sin), at the start; angles about z, y, x are (0, 0, lean)
    start = {
        "y": radius,
        "angles": (0, 0, lean),
        "der_angles": (turn + spin * math.sin(lean), spin * math.cos(lean), 0),
    }
    result = simulate(Wheel(**start), 0.8 * 2 * math.pi / turn, tolerance=1e-10, interval=0.1)
    np.testing.assert_allclose(result["wheel.x"], -radius * np.sin(turn * result.time), atol=1e-6)
    np.testing.assert_allclose(result["wheel.y"], radius * np.cos(turn * result.time), atol=1e-6)
    np.testing.assert_allclose(result["wheel.rollingWheel.z"], R * math.cos(lean), atol=1e-7)
    np.testing.assert_allclose(result["wheel.rollingWheel.f_n"], M * G, rtol=1e-5)
    np.testing.assert_allclose(np.abs(result["wheel.rollingWheel.f_lat"]), M * turn**2 * radius, rtol=1e-5)


def contact_velocity(result) -> np.ndarray:
    """Velocity of the wheel's material point at the contact, from its frame and the definition of the contact point."""
    v = np.array([result[f"wheel.body.v_0[{i}]"] for i in (1, 2, 3)])
    T = np.array([[result[f"wheel.frame_a.R.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)])
    w = np.einsum("ijk,ik->jk", T, [result[f"wheel.body.w_a[{i}]"] for i in (1, 2, 3)])
    arm = np.array([result[f"wheel.rollingWheel.r_road_0[{i}]"] for i in (1, 2, 3)]) - [
        result["wheel.x"],
        result["wheel.y"],
        result["wheel.rollingWheel.z"],
    ]
    return np.abs(v + np.cross(w.T, arm.T).T).max()


@pytest.mark.slow
def test_wobbling_wheel_keeps_contact_and_energy_for_long():
    """40 s: no slip, no drift off the plane, constant energy, and angles that still tell the orientation."""
    start = {"x": 0.2, "y": 0.2, "der_angles": (0.0, 5.0, 1.0)}
    result = simulate(System.of(Wheel(**start), energy=True), 40.0, tolerance=1e-8, interval=0.2)
    assert contact_velocity(result) < 1e-10
    assert np.abs(result["wheel.rollingWheel.err"]).max() < 1e-10
    total = result["energy.total"]
    np.testing.assert_allclose(total, total[0], rtol=1e-5)
    heading, spin, tilt = (result[f"wheel.angles[{i}]"] for i in (1, 2, 3))
    axis = [
        -np.sin(heading) * np.cos(tilt) + np.cos(heading) * np.sin(spin) * np.sin(tilt),
        np.cos(heading) * np.cos(tilt) + np.sin(heading) * np.sin(spin) * np.sin(tilt),
        np.cos(spin) * np.sin(tilt),
    ]
    for j in (1, 2, 3):
        np.testing.assert_allclose(result[f"wheel.frame_a.R.T[2,{j}]"], axis[j - 1], atol=1e-4)


@pytest.mark.slow
def test_slope_accelerates_a_wheel():
    """Gravity tilted by 10 degrees in the rolling direction: a = g sin / (1 + I / (m R^2))."""

    class Slope(Wheel):
        def __init__(self) -> None:
            super().__init__()
            tilt = math.radians(10)
            self.world.modify(n=(math.sin(tilt), 0, -math.cos(tilt)))

    result = simulate(Slope(), 1.0, tolerance=1e-10)
    a = G * math.sin(math.radians(10)) / (1 + AXIS / (M * R**2))
    np.testing.assert_allclose(result["wheel.x"], a * result.time**2 / 2, atol=1e-8)


@pytest.mark.slow
def test_wheel_that_lies_down_is_stopped():
    with pytest.raises(SimulationError, match="lays nearly on the ground"):
        simulate(Wheel(angles=(0, 0, 0.4)), 3.0)


class Sledge(Assembly):
    """A cart that glides in the plane, on one wheel that only lets it roll ahead; mass above the wheel's contact."""

    def __init__(self, v: float, turn: float) -> None:
        self.world = World(n=(0, 0, -1))
        self.carriage = Planar(v_x=Start(v), w=fixed(turn), s_x=fixed(0.0), s_y=fixed(0.0), phi=fixed(0.0))
        self.up = FixedTranslation(r=(0, 0, R))
        self.cart = Body(m=5.0, r_CM=(0, 0, 0), I_11=0.2, I_22=0.3, I_33=0.4)
        self.hub = Revolute(n=(0, 1, 0), w=fixed(v / R))
        self.tyre = Body(m=M, r_CM=(0, 0, 0), I_11=LONG, I_22=AXIS, I_33=LONG)
        self.rolling = joints.RollingWheel(wheelRadius=R)
        self.connect(self.world.frame_b, self.carriage.frame_a)
        self.connect(self.carriage.frame_b, self.up.frame_a)
        self.connect(self.up.frame_b, self.cart.frame_a)
        self.connect(self.up.frame_b, self.hub.frame_a)
        self.connect(self.hub.frame_b, self.tyre.frame_a)
        self.connect(self.hub.frame_b, self.rolling.frame_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_wheel_carried_by_a_vehicle():
    """With its mass over the contact the sledge keeps speed and turning speed, on a circle."""
    v, turn = 2.0, 1.25
    system = System.of(Sledge(v, turn))
    assert system.equations.nv - system.equations.nl == 2
    result = simulate(system, 3.0, tolerance=1e-10, interval=0.1)
    np.testing.assert_allclose(result["carriage.phi"], turn * result.time, atol=1e-8)
    np.testing.assert_allclose(result["carriage.s_x"], v / turn * np.sin(turn * result.time), atol=1e-7)
    np.testing.assert_allclose(result["carriage.s_y"], v / turn * (1 - np.cos(turn * result.time)), atol=1e-7)
    np.testing.assert_allclose(np.abs(result["rolling.f_lat"]), 7.0 * v * turn, rtol=1e-6)
    np.testing.assert_allclose(result["hub.w"], v / R, atol=1e-8)
    np.testing.assert_allclose(result["rolling.angles[1]"], turn * result.time, atol=1e-7)
    np.testing.assert_allclose(result["rolling.angles[2]"], v / R * result.time, atol=1e-7)


class DrivenSet(Assembly):
    """A wheel set with a load on its axle and a constant torque at each wheel against the support."""

    def __init__(self, torque1: float, torque2: float) -> None:
        self.world = World(n=(0, 0, -1))
        self.set = RollingWheelSet(
            wheelRadius=0.1, wheelMass=0.5, wheel_I_axis=0.01, wheel_I_long=0.02, wheelDistance=0.5
        )
        self.load = Body(m=3.0, r_CM=(0, 0, 0), I_11=0.2, I_22=0.2, I_33=0.3)
        self.motor1 = rotational.ConstantTorque(tau_constant=torque1, useSupport=True)
        self.motor2 = rotational.ConstantTorque(tau_constant=torque2, useSupport=True)
        self.connect(self.set.frameMiddle, self.load.frame_a)
        for motor, axis in ((self.motor1, self.set.axis1), (self.motor2, self.set.axis2)):
            self.connect(motor.flange, axis)
            self.connect(motor.support, self.set.support)


@pytest.mark.slow
def test_wheel_set_drives_ahead():
    """Two torques give (m_load + 2 m + 2 I / R^2) a = 2 tau / R."""
    result = simulate(DrivenSet(0.3, 0.3), 1.0, tolerance=1e-10)
    a = 2 * 0.3 / 0.1 / (3.0 + 2 * 0.5 + 2 * 0.01 / 0.1**2)
    np.testing.assert_allclose(result["set.x"], a * result.time**2 / 2, atol=1e-9)
    np.testing.assert_allclose(result["set.theta1"], result["set.x"] / 0.1, atol=1e-9)
    np.testing.assert_allclose(result["set.y"], 0.0, atol=1e-10)


@pytest.mark.slow
def test_wheel_set_turns_on_the_spot():
    """Opposite torques: (I_load + 2 (m + I / R^2) (d/2)^2 + 2 I_long) phi'' = 2 tau (d/2) / R."""
    result = simulate(DrivenSet(-0.05, 0.05), 1.0, tolerance=1e-10)
    inertia = 0.3 + 2 * (0.5 + 0.01 / 0.1**2) * 0.25**2 + 2 * 0.02
    angle = 2 * 0.05 * 0.25 / 0.1 / inertia * result.time**2 / 2
    np.testing.assert_allclose(result["set.phi"], angle, atol=1e-9)
    np.testing.assert_allclose(result["set.theta2"], angle * 0.25 / 0.1, atol=1e-9)
    np.testing.assert_allclose(result["set.theta1"], -angle * 0.25 / 0.1, atol=1e-9)
    np.testing.assert_allclose(result["set.x"], 0.0, atol=1e-10)


@pytest.mark.slow
def test_wheel_set_follows_a_clothoid_without_slip():
    """Unequal torques: v = R (theta1' + theta2') / 2 along the heading, phi = (theta2 - theta1) R / d."""
    result = simulate(DrivenSet(0.1, 0.2), 1.5, tolerance=1e-10, interval=0.001)
    t, phi = result.time, result["set.phi"]
    np.testing.assert_allclose(phi, (result["set.theta2"] - result["set.theta1"]) * 0.1 / 0.5, atol=1e-9)
    v = 0.1 * (result["set.der_theta1"] + result["set.der_theta2"]) / 2
    np.testing.assert_allclose(np.gradient(result["set.x"], t)[1:-1], (v * np.cos(phi))[1:-1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(result["set.y"], t)[1:-1], (v * np.sin(phi))[1:-1], atol=1e-5)


@pytest.mark.parametrize("missing", ["wheelRadius", "wheelMass", "wheel_I_axis"])
def test_required_parameters_are_named(missing):
    given = {"wheelRadius": R, "wheelMass": M, "wheel_I_axis": AXIS, "wheel_I_long": LONG}
    given.pop(missing)
    with pytest.raises(ModelError, match=missing):
        RollingWheel(**given)


@pytest.mark.slow
def test_gravity_that_lifts_is_warned_about():
    class Ceiling(Wheel):
        def __init__(self) -> None:
            super().__init__()
            self.world.modify(n=(0, -1, 0))

    with pytest.warns(UserWarning, match=r"wheel.*does not press"):
        System.of(Ceiling())


@pytest.mark.parametrize(
    ("cls", "names", "newer"),
    [
        (
            RollingWheel,
            {"wheelRadius": R, "wheelMass": M, "wheel_I_axis": AXIS, "wheel_I_long": LONG},
            {"radius": R, "m": M, "I_axis": AXIS, "I_long": LONG},
        ),
        (
            RollingWheelSet,
            {"wheelRadius": R, "wheelMass": M, "wheel_I_axis": AXIS, "wheel_I_long": LONG, "wheelDistance": 0.5},
            {"R_wheel": R, "m_wheel": M, "I_wheelAxis": AXIS, "I_wheelLong": LONG, "track": 0.5},
        ),
        (joints.RollingWheel, {"wheelRadius": R}, {"radius": R}),
        (joints.RollingWheelSet, {"wheelRadius": R, "wheelDistance": 0.5}, {"radius": R, "track": 0.5}),
    ],
)
def test_wheels_take_the_names_of_newer_versions(cls, names, newer):
    part = cls(**newer)
    assert {name: part.value(name) for name in names} == names
    with pytest.raises(ModelError, match="are one parameter; give it once"):
        cls(**names, radius=R)


DEPTH = 0.4


class Valley(Assembly):
    """A wheel in a valley of a cosine, which it rolls through."""

    def __init__(self, x: float) -> None:
        self.world = World(n=(0, 0, -1))
        self.road = vehicle.FunctionRoad(lambda x, y: -DEPTH * ca.cos(x))
        self.wheel = RollingWheel(wheelRadius=R, wheelMass=M, wheel_I_axis=AXIS, wheel_I_long=LONG, x=Start(x))


def centre(u: float) -> np.ndarray:
    """Centre of a wheel that touches the valley at u."""
    slope = DEPTH * math.sin(u)
    length = math.hypot(1, slope)
    return np.array([u - R * slope / length, -DEPTH * math.cos(u) + R / length])


@pytest.mark.slow
def test_a_wheel_rolls_through_a_valley_as_its_energy_says():
    """Lagrange's equation for the contact u: the centre moves on the parallel curve, and turns by its length."""
    start = -0.8
    mass = M + AXIS / R**2

    def rates(_, y):
        u, w = y
        step = 1e-5
        before, here, after = centre(u - step), centre(u), centre(u + step)
        first, second = (after - before) / (2 * step), (after - 2 * here + before) / step**2
        return [w, -(mass * first @ second * w**2 + M * G * first[1]) / (mass * first @ first)]

    times = np.linspace(0, 3, 31)
    by_hand = solve_ivp(rates, (0, 3), [start, 0.0], "DOP853", times, rtol=1e-9, atol=1e-9).y[0]
    found = simulate(Valley(centre(start)[0]), 3.0, interval=0.1, tolerance=1e-9)
    wanted = np.array([centre(u) for u in by_hand])
    assert np.ptp(wanted[:, 0]) > 1
    np.testing.assert_allclose(found["wheel.x"], wanted[:, 0], atol=2e-5)
    np.testing.assert_allclose(found["wheel.frame_a.r_0[3]"], wanted[:, 1], atol=2e-5)
    np.testing.assert_allclose(found["wheel.rollingWheel.r_road_0[1]"], by_hand, atol=2e-5)
    assert np.all(found["wheel.rollingWheel.f_n"] > 0)


@pytest.mark.slow
def test_a_wheel_rolls_down_a_slope():

    class Hill(Assembly):
        def __init__(self) -> None:
            self.world = World(n=(0, 0, -1))
            self.road = vehicle.Slope(gradient=-0.2)
            self.wheel = RollingWheel(wheelRadius=R, wheelMass=M, wheel_I_axis=AXIS, wheel_I_long=LONG)

    found = simulate(Hill(), 2.0, tolerance=1e-9)
    a = G * math.sin(math.atan(0.2)) / (1 + AXIS / M / R**2)
    assert found["wheel.x"][-1] == pytest.approx(a * 2.0**2 / 2 * math.cos(math.atan(0.2)), rel=1e-7)


def test_an_axle_of_rolling_wheels_needs_a_level_road():
    class Hill(Assembly):
        def __init__(self) -> None:
            self.world = World(n=(0, 0, -1))
            self.road = vehicle.Slope(gradient=0.1)
            self.wheels = RollingWheelSet(
                wheelRadius=R, wheelMass=M, wheel_I_axis=AXIS, wheel_I_long=LONG, wheelDistance=1.0
            )

    with pytest.raises(ModelError, match="needs the plane z = 0"):
        System.of(Hill())
