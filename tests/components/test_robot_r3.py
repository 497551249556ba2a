"""Utilities of the robot: the current control against its transfer function, the robot at rest against gravity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbfmu.components import blocks, rotational
from mbfmu.components.examples import robot_r3
from mbfmu.modeling import Assembly
from mbfmu.simulation import simulate

START = (-60.0, 20.0, 90.0, 0.0, -110.0, 0.0)
END = (60.0, -70.0, -35.0, 45.0, 110.0, 45.0)


@pytest.mark.slow
def test_the_current_follows_its_reference_as_a_second_order_lag() -> None:
    """With the rotor held, i / i_ref = w^2 / (s^2 + 2 D w s + w^2): that is what the amplifiers are made for."""
    w, D, step, begin = 2000.0, 0.6, 3.0, 1e-3

    class Held(Assembly):
        def __init__(self) -> None:
            self.motor, self.fixed = robot_r3.Motor(w=w, D=D), rotational.Fixed()
            self.reference = blocks.Step(height=step, startTime=begin)
            self.connect(self.motor.flange_motor, self.fixed.flange)
            self.connect(self.reference.y, self.motor.axisControlBus.current_ref)

    result = simulate(Held(), 5e-3, interval=5e-5, tolerance=1e-9)
    t = np.maximum(result.time - begin, 0.0)
    damped = w * np.sqrt(1 - D**2)
    ringing = np.cos(damped * t) + D * w / damped * np.sin(damped * t)
    np.testing.assert_allclose(result["motor.La.i"], step * (1 - np.exp(-D * w * t) * ringing), atol=1e-5)
    np.testing.assert_allclose(result["motor.axisControlBus.current"], result["motor.La.i"], atol=1e-12)


class Robot(Assembly):
    """The robot with all of its axes."""

    stop_time = 2.0

    def __init__(self) -> None:
        control = {"kp": 5.0, "ks": 0.5, "Ts": 0.05}
        self.mechanics = robot_r3.MechanicalStructure(mLoad=15.0, rLoad=(0.1, 0.25, 0.1))
        self.pathPlanning = robot_r3.PathPlanning6(
            angleBegDeg=START,
            angleEndDeg=END,
            speedMax=(3.0, 1.5, 5.0, 3.1, 3.1, 4.1),
            accMax=(15.0, 15.0, 15.0, 60.0, 60.0, 60.0),
        )
        self.axis1 = robot_r3.AxisType1(w=4590.0, ratio=-105.0, c=43.0, cd=0.005, Rv0=0.4, Rv1=0.13 / 160, **control)
        self.axis2 = robot_r3.AxisType1(w=5500.0, ratio=210.0, c=8.0, cd=0.01, Rv0=0.5, Rv1=0.1 / 130, **control)
        self.axis3 = robot_r3.AxisType1(w=5500.0, ratio=60.0, c=58.0, cd=0.04, Rv0=0.7, Rv1=0.2 / 130, **control)
        for number, (k, J, ratio, Rv0, Rv1, most) in enumerate(
            (
                (0.2365, 1.6e-4, -99.0, 21.8, 9.8, 26.7),
                (0.2608, 1.8e-4, 79.2, 30.1, 0.03, 39.6),
                (0.0842, 4.3e-5, -99.0, 10.9, 3.92, 16.8),
            ),
            start=4,
        ):
            axis = robot_r3.AxisType2(k=k, J=J, ratio=ratio, Rv0=Rv0, Rv1=Rv1, peak=most / Rv0, w=6250.0, **control)
            setattr(self, f"axis{number}", axis)
        for i in range(1, 7):
            axis = getattr(self, f"axis{i}")
            self.connect(axis.flange, getattr(self.mechanics, f"axis{i}"))
            robot_r3.connect_buses(self, self.pathPlanning.axis_bus(i), axis.axisControlBus)


def gravity_torques(angles: np.ndarray) -> np.ndarray:
    """Torques of the joints [N.m] that hold the robot against gravity, from positions of its masses."""
    axes = [(0, 1, 0), (1, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0)]
    lengths = [(0, 0.351, 0), (0, 0.324, 0.3), (0, 0.65, 0), (0, 0.414, -0.155), (0, 0.186, 0), (0, 0.125, 0)]
    masses = [
        [(1.0, (0, 0, 0))],
        [(56.5, (0.172, 0.205, 0))],
        [(26.4, (0.064, -0.034, 0))],
        [(28.7, (0, 0, 0))],
        [(5.2, (0, 0, 0))],
        [(0.5, (0.05, 0.05, 0.05)), (15.0, (0.1, 0.25, 0.1))],
    ]
    origin, turned = np.zeros(3), Rotation.identity()
    hinges, points = [], []
    for axis, length, bodies, angle in zip(axes, lengths, masses, angles, strict=True):
        origin = origin + turned.apply(length)
        hinges.append((origin, turned.apply(axis)))
        turned = turned * Rotation.from_rotvec(angle * np.array(axis))
        points.append([(m, origin + turned.apply(r)) for m, r in bodies])
    return np.array(
        [
            sum(m * 9.81 * np.cross(r - hinge, (0, 1, 0)) @ axis for bodies in points[i:] for m, r in bodies)
            for i, (hinge, axis) in enumerate(hinges)
        ]
    )


#: Of the fixture, which whatever test comes first sets up.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*no distribution of mass"),
    pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning"),
]


@pytest.fixture(scope="module")
def motion():
    return simulate(Robot(), 2.0, interval=0.02, tolerance=1e-6)


@pytest.mark.slow
def test_the_robot_starts_at_rest_held_by_its_motors(motion) -> None:
    """The motors carry all of it, none the friction of the bearings, which could: that starts without force."""
    np.testing.assert_allclose(np.rad2deg([motion[f"mechanics.q[{i}]"][0] for i in range(1, 7)]), START, atol=1e-9)
    np.testing.assert_allclose([motion[f"mechanics.qdd[{i}]"][0] for i in range(1, 7)], 0.0, atol=1e-9)
    held = gravity_torques(np.deg2rad(START))
    found = np.array([motion[f"mechanics.tau[{i}]"][0] for i in range(1, 7)])
    np.testing.assert_allclose(found, held, atol=1e-6 * abs(held).max())
    for i, k, ratio in ((2, 1.1616, 210.0), (3, 1.1616, 60.0), (4, 0.2365, 99.0), (5, 0.2608, 79.2)):
        assert abs(k * motion[f"axis{i}.motor.La.i"][0] * ratio) == pytest.approx(abs(held[i - 1]), rel=1e-3)


@pytest.mark.slow
def test_the_robot_reaches_its_end_position(motion) -> None:
    """Within the tenths of a degree that its elastic gears and friction leave; the buses say when it is there."""
    end = np.rad2deg([motion[f"mechanics.q[{i}]"][-1] for i in range(1, 7)])
    np.testing.assert_allclose(end, END, atol=0.3)
    moving = motion["axis1.motor.axisControlBus.current"]
    assert abs(moving[20:60]).max() > 1.0
    assert motion["pathPlanning.controlBus.axisControlBus1.motion_ref"][0] == 1.0
    assert motion["pathPlanning.controlBus.axisControlBus1.motion_ref"][-1] == 0.0
