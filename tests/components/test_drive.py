"""Drive trains on moving bodies: Mounting1D, Rotor1D and BevelGear1D against 3-dim. models and conservation laws."""

from __future__ import annotations

import numpy as np
import pytest
from drive_blocks import Wave

from mbfmu.components import (
    BevelGear1D,
    Body,
    FixedTranslation,
    Mounting1D,
    Revolute,
    Rotor1D,
    Spherical,
    World,
    rotational,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate

STILL = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}


def vectors(result, name: str) -> np.ndarray:
    """Time series of a vector variable, one row per instant."""
    return np.column_stack([result[f"{name}[{i}]"] for i in (1, 2, 3)])


def matrices(result, name: str) -> np.ndarray:
    """Time series of an orientation's matrix, world to frame."""
    return np.array([[result[f"{name}.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)]).transpose(2, 0, 1)


class Satellite(Assembly):
    """Free body with a reaction wheel on an oblique axis, driven from inside."""

    def __init__(self, n=(1.0, 2.0, -0.5), **rotor) -> None:
        self.world = World(g=0.0)
        self.body = Body(
            m=10.0,
            r_CM=(0, 0, 0),
            I_11=2.0,
            I_22=3.0,
            I_33=4.0,
            I_21=0.3,
            w_a=Start((0.4, -0.7, 1.1), fixed=True),
            angles_fixed=True,
            angles_start=(0.2, 0.5, -0.3),
            r_0=Start((0.0, 0.0, 0.0), fixed=True),
            v_0=Start((0.1, 0.0, -0.2), fixed=True),
        )
        self.rotor = Rotor1D(J=0.6, n=n, phi=Start(0.0, fixed=True), w=Start(5.0, fixed=True), **rotor)
        self.mounting = Mounting1D(n=n)
        self.signal = Wave(amplitude=4.0, omega=3.0)
        self.torque = rotational.Torque(useSupport=True)
        self.connect(self.signal.y, self.torque.tau)
        self.connect(self.torque.flange, self.rotor.flange_a)
        self.connect(self.torque.support, self.mounting.flange_b)
        self.connect(self.rotor.frame_a, self.body.frame_a)
        self.connect(self.mounting.frame_a, self.body.frame_a)


INERTIA = np.array([[2.0, 0.3, 0.0], [0.3, 3.0, 0.0], [0.0, 0.0, 4.0]])


def angular_momentum(result) -> np.ndarray:
    """Angular momentum of the satellite and its rotor about the centre of mass, resolved in the world frame."""
    e = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    local = vectors(result, "body.w_a") @ INERTIA + 0.6 * np.outer(result["rotor.w"], e)
    return np.einsum("tji,tj->ti", matrices(result, "body.frame_a.R"), local)


@pytest.mark.slow
@pytest.mark.parametrize(("exact", "virtual"), [(True, False), (True, True), (False, True)])
def test_an_internally_driven_rotor_keeps_the_angular_momentum(exact, virtual):
    result = simulate(Satellite(exact=exact, virtualPower=virtual), 3.0, tolerance=1e-12)
    momentum = angular_momentum(result)
    np.testing.assert_allclose(momentum - momentum[0], 0.0, atol=1e-9)
    assert np.ptp(result["rotor.w"]) > 2.0


@pytest.mark.slow
def test_literal_and_virtual_power_forms_agree_where_exact():
    literal, virtual = (simulate(Satellite(virtualPower=v), 2.0, tolerance=1e-12) for v in (False, True))
    for name in ("rotor.phi", "rotor.w", "rotor.a", "body.w_a[1]", "body.w_a[3]", "rotor.frame_a.t[2]"):
        np.testing.assert_allclose(literal[name], virtual[name], atol=1e-10)


@pytest.mark.slow
def test_an_inexact_rotor_follows_its_torque_alone():
    """J a = tau whatever the frame does; the Modelica library's reaction torque then loses angular momentum."""
    literal, virtual = (simulate(Satellite(exact=False, virtualPower=v), 1.0, tolerance=1e-11) for v in (False, True))
    for result in (literal, virtual):
        np.testing.assert_allclose(0.6 * result["rotor.a"], 4.0 * np.sin(3.0 * result.time), atol=1e-12)
    momentum = angular_momentum(literal)
    assert np.abs(momentum - momentum[0]).max() > 1e-2


class Carousel(Assembly):
    """A flywheel on a spherical pendulum, as a Rotor1D or as a body on a revolute joint."""

    def __init__(self, one_dimensional: bool, n=(0.6, 0.0, 0.8)) -> None:
        axis = np.array(n)
        J, across = 0.05, 0.03
        tensor = across * np.eye(3) + (J - across) * np.outer(axis, axis)
        inertia = {f"I_{i + 1}{j + 1}": tensor[i, j] for i in range(3) for j in range(i + 1)}
        self.world = World()
        self.spherical = Spherical(angles_fixed=True, w_rel_a_fixed=True, w_rel_a_start=(0.3, 1.0, -0.2))
        self.arm = FixedTranslation(r=(0.4, 0.1, 0.0))
        self.wheel = Body(m=2.0, r_CM=(0, 0, 0), **inertia)
        self.damper, self.mount = rotational.Damper(d=0.02), Mounting1D(n=n)
        start = {"phi": Start(0.0, fixed=True), "w": Start(40.0, fixed=True)}
        self.connect(self.world.frame_b, self.spherical.frame_a)
        self.connect(self.spherical.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.mount.frame_a)
        self.connect(self.mount.flange_b, self.damper.flange_a)
        if one_dimensional:
            self.hinge = Rotor1D(J=J, n=n, **start)
            self.connect(self.hinge.frame_a, self.arm.frame_b)
            self.connect(self.wheel.frame_a, self.arm.frame_b)
            self.connect(self.damper.flange_b, self.hinge.flange_a)
        else:
            self.hinge = Revolute(n=n, useAxisFlange=True, **start)
            self.connect(self.arm.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.wheel.frame_a)
            self.connect(self.damper.flange_b, self.hinge.axis)


@pytest.mark.slow
def test_a_rotor_acts_like_a_body_on_a_revolute_joint():
    """Gyroscopic effects, bearing torque and damping included; the mount replaces the joint's own reaction."""
    rotor = simulate(Carousel(True), 2.0, tolerance=1e-11)

    class Without(Carousel):
        """A revolute's axis torque already acts between its frames: a mount would count it twice."""

        def __init__(self) -> None:
            super().__init__(False)
            self._connections[:] = [c for c in self.connections if c[0].owner is not self.mount]
            self._parts.pop("mount")
            self.connect(self.hinge.support, self.damper.flange_a)

    joint = simulate(Without(), 2.0, tolerance=1e-11)
    for name in ("hinge.phi", "hinge.w", "arm.frame_b.r_0[1]", "arm.frame_b.r_0[2]", "arm.frame_b.r_0[3]"):
        np.testing.assert_allclose(rotor[name], joint[name], atol=2e-7)
    assert np.ptp(rotor["arm.frame_b.r_0[3]"]) > 0.1


class MovingBevelGear(Assembly):
    """Motor, bevel gear and load in a housing that turns about two axes, driven there by torques."""

    def __init__(self, three_dimensional: bool = True) -> None:
        self.world = World(driveTrainMechanics3D=three_dimensional)
        self.yaw = Revolute(n=(0, 1, 0), useAxisFlange=True, phi=Start(0.0, fixed=True), w=Start(1.5, fixed=True))
        self.pitch = Revolute(n=(0, 0, 1), phi=Start(0.2, fixed=True), w=Start(-0.5, fixed=True))
        self.housing = Body(m=5.0, r_CM=(0.2, 0.1, 0.0), I_11=1.0, I_22=1.2, I_33=0.8)
        self.signal, self.other = Wave(amplitude=5.0, omega=6.0), Wave(amplitude=3.0, omega=2.0)
        self.drive, self.motor = rotational.Torque(), rotational.Torque(useSupport=True)
        self.mounting = Mounting1D(n=(1, 0, 0))
        self.fast, self.slow = Rotor1D(J=0.05, n=(1, 0, 0), **STILL), Rotor1D(J=0.9, n=(0, 1, 1))
        self.gear = BevelGear1D(ratio=4.0, n_a=(1, 0, 0), n_b=(0, 1, 1))
        self.connect(self.world.frame_b, self.yaw.frame_a)
        self.connect(self.yaw.frame_b, self.pitch.frame_a)
        self.connect(self.pitch.frame_b, self.housing.frame_a)
        self.connect(self.other.y, self.drive.tau)
        self.connect(self.drive.flange, self.yaw.axis)
        self.connect(self.signal.y, self.motor.tau)
        self.connect(self.motor.support, self.mounting.flange_b)
        self.connect(self.motor.flange, self.fast.flange_a)
        self.connect(self.fast.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.slow.flange_a)
        for part in (self.mounting, self.fast, self.slow, self.gear):
            self.connect(part.frame_a, self.pitch.frame_b)


def test_the_energy_of_a_bevel_gear_on_a_moving_housing_balances():
    """Kinetic energy of the true, turning rotors and the housing's against the work of the two torques."""
    result = simulate(MovingBevelGear(), 1.5, interval=1e-3, tolerance=1e-11)
    w_a, T = vectors(result, "housing.w_a"), matrices(result, "housing.frame_a.R")
    v = vectors(result, "housing.v_0") + np.einsum("tji,tj->ti", T, np.cross(w_a, [0.2, 0.1, 0.0]))
    height = np.einsum("tj,j->t", T[:, :, 1], [0.2, 0.1, 0.0])
    energy = 2.5 * (v**2).sum(1) + (w_a**2 @ [1.0, 1.2, 0.8]) / 2 + 5.0 * 9.80665 * height
    for name, J, n in (("fast", 0.05, np.array([1.0, 0, 0])), ("slow", 0.9, np.array([0, 1.0, 1.0]) / np.sqrt(2))):
        spin = w_a @ n  # the housing's tensor holds the rotor at rest
        energy = energy + J * ((result[f"{name}.w"] + spin) ** 2 - spin**2) / 2
    power = result["motor.tau"] * result["fast.w"] + result["drive.tau"] * result["yaw.w"]
    t = result.time
    simpson = (power[:-2:2] + 4 * power[1:-1:2] + power[2::2]) * (t[2] - t[0]) / 6
    work = np.concatenate([[0.0], np.cumsum(simpson)])
    assert np.ptp(energy) > 1.0
    np.testing.assert_allclose((energy - energy[0])[::2], work, atol=1e-8)


@pytest.mark.slow
def test_the_balance_error_of_a_moving_drive_train_is_rounding():
    result = simulate(System.of(MovingBevelGear(), energy=True), 0.5)
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-10)


def test_plain_drive_trains_where_the_world_says_so():
    """driveTrainMechanics3D = false: J1 + J2/i^2 as without housing, and the frames are gone."""
    system = System.of(MovingBevelGear(three_dimensional=False))
    names = {v.name for v in system.variables}
    assert not [n for n in names if n.startswith(("fast.frame_a", "mounting.frame_a", "gear.frame_a"))]
    result = simulate(system, 1.0, tolerance=1e-10)
    expected = 5.0 * np.sin(6.0 * result.time) / (0.05 + 0.9 / 16)
    np.testing.assert_allclose(result["fast.a"], expected, atol=1e-9)
    np.testing.assert_allclose(result["slow.w"], result["fast.w"] / 4.0, atol=1e-12)


@pytest.mark.slow
def test_the_torque_of_a_mount_does_not_depend_on_the_length_of_its_axis():
    short, long = (simulate(Satellite(n=n), 0.5)["body.w_a[1]"] for n in ((0.0, 0.0, 0.1), (0.0, 0.0, 7.0)))
    np.testing.assert_allclose(short, long, atol=1e-12)


@pytest.mark.parametrize(
    ("part", "frame"),
    [("rotor", "rotor.frame_a"), ("mounting", "mounting.frame_a")],
)
def test_an_open_frame_is_named(part, frame):
    satellite = Satellite()
    satellite._connections[:] = [c for c in satellite.connections if c[0].owner is not getattr(satellite, part)]
    with pytest.raises(ModelError, match=rf"{frame.replace('.', '[.]')}.*not connected"):
        System.of(satellite)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Rotor1D(J=1.0, n=(0, 0, 0)), r"n = \(0, 0, 0\).*axis"),
        (lambda: Mounting1D(n=(0, 0, 0)), r"n = \(0, 0, 0\).*axis"),
        (lambda: BevelGear1D(ratio=1.0, n_b=(0, 0, 0)), r"n_b = \(0, 0, 0\).*axis"),
        (lambda: Rotor1D(), "J"),
        (lambda: Rotor1D(J=-1.0), r"J = -1.*must be >= 0"),
        (lambda: BevelGear1D(), "ratio"),
    ],
)
def test_impossible_parameters_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_a_bevel_gear_without_ratio_is_named():
    assembly = MovingBevelGear()
    with pytest.raises(ModelError, match=r"gear\.ratio = 0.*must not be 0"):
        assembly.gear.modify(ratio=0.0)
