"""Tree joints against closed forms, and what is said about joints that cannot work."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbfmu.components import (
    Body,
    Cylindrical,
    FixedRotation,
    FreeMotion,
    FreeMotionScalarInit,
    GearConstraint,
    Planar,
    Revolute,
    Spherical,
    Universal,
    World,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.simulation import simulate


def fixed(value: float) -> Start:
    return Start(value, fixed=True)


def fixed_ones(values: dict[str, float]) -> dict[str, Start]:
    """Fixed start values, as modifiers."""
    return {name: fixed(value) for name, value in values.items()}


class Carried(Assembly):
    """World - joint - body."""

    def __init__(self, joint: Component, n=(0, -1, 0), **inertia) -> None:
        self.world = World(n=n)
        self.joint = joint
        self.body = Body(**{"m": 1.5, "r_CM": (0, 0, 0), "I_11": 0.1, "I_22": 0.2, "I_33": 0.25, **inertia})
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.body.frame_a)


def test_cylindrical_falls_and_turns():
    start = {"s": 0.1, "v": -0.5, "phi": 0.3, "w": 2.0}
    joint = Cylindrical(n=(0, 1, 0), **fixed_ones(start))
    result = simulate(Carried(joint), 1.0, tolerance=1e-10)
    t, g = result.time, 9.80665
    np.testing.assert_allclose(result["joint.s"], 0.1 - 0.5 * t - g * t**2 / 2, atol=1e-9)
    np.testing.assert_allclose(result["joint.v"], -0.5 - g * t, atol=1e-9)
    np.testing.assert_allclose(result["joint.a"], -g, atol=1e-9)
    np.testing.assert_allclose(result["joint.phi"], 0.3 + 2 * t, atol=1e-9)
    np.testing.assert_allclose(result["body.r_0[2]"], result["joint.s"], atol=1e-12)


def test_planar_throw_with_spin():
    """In the x-y plane, whose x axis is given askew: the part of n_x in the plane counts."""
    start = {"s_x": 1.0, "v_x": 2.0, "s_y": -1.0, "v_y": 5.0, "phi": 0.2, "w": 3.0}
    result = simulate(Carried(Planar(n_x=(1, 0, 0.4), **fixed_ones(start))), 1.0, tolerance=1e-10)
    t, g = result.time, 9.80665
    np.testing.assert_allclose(result["body.r_0[1]"], 1 + 2 * t, atol=1e-9)
    np.testing.assert_allclose(result["body.r_0[2]"], -1 + 5 * t - g * t**2 / 2, atol=1e-9)
    np.testing.assert_allclose(result["joint.phi"], 0.2 + 3 * t, atol=1e-9)
    np.testing.assert_allclose(result["joint.a_y"], -g, atol=1e-9)
    np.testing.assert_allclose(result["body.w_a[3]"], 3.0, atol=1e-9)


class Cardan(Assembly):
    """Two shafts that meet at an angle, joined by a Universal: a loop with three redundant rows."""

    def __init__(self, bend: float) -> None:
        self.world = World(gravityType="NoGravity")
        self.input_shaft = Revolute(n=(1, 0, 0), stateSelect="always", phi=fixed(0.0), w=fixed(2.0))
        self.universal = Universal(n_a=(0, 1, 0), n_b=(0, 0, 1), phi_b=Start(bend))
        self.bend = FixedRotation(n=(0, 0, 1), angle=math.degrees(bend))
        self.output_shaft = Revolute(n=(1, 0, 0))
        self.flywheel = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.3, I_22=0.2, I_33=0.2)
        self.load = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.1, I_22=0.07, I_33=0.07)
        self.connect(self.world.frame_b, self.input_shaft.frame_a)
        self.connect(self.input_shaft.frame_b, self.flywheel.frame_a)
        self.connect(self.input_shaft.frame_b, self.universal.frame_a)
        self.connect(self.world.frame_b, self.bend.frame_a)
        self.connect(self.bend.frame_b, self.output_shaft.frame_a)
        self.connect(self.output_shaft.frame_b, self.universal.frame_b)
        self.connect(self.output_shaft.frame_b, self.load.frame_a)


@pytest.mark.slow
def test_universal_joint_ratio():
    """tan(input) = tan(output) cos(bend), as the input's fork starts in the plane of both shafts.

    Energy gives the speed: 0.3 w_in^2 + 0.1 w_out^2 is kept.
    """
    bend = 0.6
    result = simulate(Cardan(bend), 3.0, tolerance=1e-10)
    phi_in, w_in = result["input_shaft.phi"], result["input_shaft.w"]
    phi_out, w_out = result["output_shaft.phi"], result["output_shaft.w"]
    np.testing.assert_allclose(
        np.sin(phi_out) * np.cos(phi_in) * math.cos(bend), np.cos(phi_out) * np.sin(phi_in), atol=1e-9
    )
    ratio = math.cos(bend) / (1 - math.sin(bend) ** 2 * np.cos(phi_in) ** 2)
    np.testing.assert_allclose(w_out / w_in, ratio, rtol=1e-8)
    energy = 0.3 * w_in**2 + 0.1 * w_out**2
    np.testing.assert_allclose(energy, energy[0], rtol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_scalar_initialisation_by_angles_and_quaternion():
    """The same free asymmetric body by angle states, by quaternion with angle starts, and by FreeMotion."""
    angles, rates = (0.3, 0.5, -0.4), (1.0, -0.7, 0.9)
    start = fixed_ones({f"angle_{i + 1}": a for i, a in enumerate(angles)})
    start |= fixed_ones({f"angle_d_{i + 1}": w for i, w in enumerate(rates)})
    start |= fixed_ones({f"r_rel_a_{i}": 0.1 * i for i in (1, 2, 3)} | {f"v_rel_a_{i}": 0.0 for i in (1, 2, 3)})
    used = dict.fromkeys(("use_r", "use_v", "use_angle", "use_angle_d", "use_w"), True)
    by_quaternion = simulate(Carried(FreeMotionScalarInit(**used, **start)), 1.0, tolerance=1e-10)
    always = {f"angle_{i}_stateSelect": "always" for i in (1, 2, 3)}
    system = System.of(Carried(FreeMotionScalarInit(**used, **start, **always)))
    by_angles = simulate(system, 1.0, tolerance=1e-10)
    assert system.equations.quaternions == ()
    for i in (1, 2, 3):
        for name in (f"joint.angle_{i}", f"joint.angle_d_{i}", f"joint.w_rel_b_{i}", f"body.r_0[{i}]"):
            np.testing.assert_allclose(by_quaternion[name], by_angles[name], atol=1e-8)
    np.testing.assert_allclose([by_angles[f"joint.angle_{i}"][0] for i in (1, 2, 3)], angles, atol=1e-12)
    w = [by_angles[f"joint.w_rel_b_{i}"] for i in (1, 2, 3)]
    momentum = np.linalg.norm([moment * wi for moment, wi in zip((0.1, 0.2, 0.25), w, strict=True)], axis=0)
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_scalar_initialisation_without_position():
    """use_r = false leaves the position to the start values of the body."""
    joint = FreeMotionScalarInit(use_w=True, w_rel_b_2=fixed(1.5))
    assembly = Carried(joint)
    assembly.body.modify(r_0=Start((1, 2, 3), fixed=True), v_0=Start((0, 4, 0), fixed=True))
    result = simulate(assembly, 0.5, tolerance=1e-9)
    t = result.time
    np.testing.assert_allclose(result["body.r_0[2]"], 2 + 4 * t - 9.80665 * t**2 / 2, atol=1e-8)
    np.testing.assert_allclose(result["joint.w_rel_b_2"], 1.5, atol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("sequence", [(1, 2, 3), (3, 1, 3)])
def test_free_motion_by_angles_as_by_quaternions(sequence):
    start = {"angles_start": (0.2, 0.6, 0.1), "angles_fixed": True, "w_rel_a_start": (0.5, 1.0, -0.4)}
    results = [
        simulate(
            Carried(FreeMotion(w_rel_a_fixed=True, useQuaternions=use, sequence_angleStates=sequence, **start)),
            0.8,
            tolerance=1e-10,
        )
        for use in (True, False)
    ]
    for i in (1, 2, 3):
        np.testing.assert_allclose(results[0][f"joint.w_rel_b[{i}]"], results[1][f"joint.w_rel_b[{i}]"], atol=1e-8)
        np.testing.assert_allclose(
            results[0][f"body.frame_a.R.T[{i},1]"], results[1][f"body.frame_a.R.T[{i},1]"], atol=1e-8
        )


@pytest.mark.slow
def test_cardan_angles_at_their_singular_value():
    joint = FreeMotion(useQuaternions=False, angles_start=(0.3, math.pi / 2, 0.0), angles_fixed=True)
    with pytest.raises(InitializationError, match=r"joint.*axes 1, 2, 3 is at 90 or -90 degrees.*useQuaternions"):
        simulate(Carried(joint), 0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("quaternions", [True, False])
def test_a_start_of_angular_acceleration_is_that_of_eulers_equations(quaternions):
    """A body that turns freely about its centre of mass: the speed is found that has this acceleration."""
    angles, w, inertia = (0.3, -0.5, 0.8), np.array([1.0, 2.0, -1.5]), np.diag([0.1, 0.2, 0.25])
    T = Rotation.from_euler("XYZ", angles).as_matrix().T
    z = -np.linalg.solve(inertia, np.cross(w, inertia @ w))
    joint = Spherical(
        angles_start=angles, angles_fixed=True, z_rel_a_start=T.T @ z, z_rel_a_fixed=True,
        w_rel_a_start=T.T @ (w + np.array([0.1, -0.1, 0.05])), useQuaternions=quaternions,
    )  # fmt: skip
    result = simulate(Carried(joint, r_CM=(0, 0, 0)), 1e-3, interval=1e-3)
    np.testing.assert_allclose([result[f"body.w_a[{i}]"][0] for i in (1, 2, 3)], w, rtol=1e-7)
    np.testing.assert_allclose([result[f"body.z_a[{i}]"][0] for i in (1, 2, 3)], z, rtol=1e-7)


def test_spherical_without_states_keeps_its_start_values():
    joint = Spherical(angles_start=(0.1, 0.2, 0.3), angles_fixed=True, w_rel_a_start=(1, 2, 3), w_rel_a_fixed=True)
    result = simulate(Carried(joint, n=(0, 0, -1), r_CM=(0, 0, 0.3)), 1.0, tolerance=1e-10)
    T = np.array([[result[f"body.frame_a.R.T[{i},{j}]"][0] for j in (1, 2, 3)] for i in (1, 2, 3)])
    w = np.array([result[f"body.w_a[{i}]"][0] for i in (1, 2, 3)])
    np.testing.assert_allclose(T.T @ w, (1, 2, 3), atol=1e-12)
    # gravity acts in the centre of mass: the vertical angular momentum about the joint is kept
    inertia = np.diag([0.1 + 1.5 * 0.09, 0.2 + 1.5 * 0.09, 0.25])
    vertical = [
        sum(
            result[f"body.frame_a.R.T[{i},3]"][k] * inertia[i - 1, i - 1] * result[f"body.w_a[{i}]"][k]
            for i in (1, 2, 3)
        )
        for k in range(len(result.time))
    ]
    np.testing.assert_allclose(vertical, vertical[0], rtol=1e-8)


class Gearbox(Assembly):
    """A gear between two shafts whose bearing turns freely about the same axis: angular momentum is kept."""

    def __init__(self, ratio: float = 3.0) -> None:
        self.world = World(gravityType="NoGravity")
        self.housing_joint = Revolute(n=(1, 0, 0), phi=fixed(0.0), w=fixed(0.7))
        self.gear = GearConstraint(
            ratio=ratio, r_a=(0, 0.2, 0), r_b=(0, -0.1, 0), checkTotalPower=True, phi_b=fixed(0.0), w_b=fixed(4.0)
        )
        self.housing = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.5, I_22=0.4, I_33=0.4)
        self.shaft_a = Body(m=0.5, r_CM=(0, 0, 0), I_11=0.02, I_22=0.02, I_33=0.02)
        self.shaft_b = Body(m=0.7, r_CM=(0, 0, 0), I_11=0.05, I_22=0.05, I_33=0.05)
        self.connect(self.world.frame_b, self.housing_joint.frame_a)
        self.connect(self.housing_joint.frame_b, self.housing.frame_a)
        self.connect(self.housing_joint.frame_b, self.gear.bearing)
        self.connect(self.gear.frame_a, self.shaft_a.frame_a)
        self.connect(self.gear.frame_b, self.shaft_b.frame_a)


def test_gear_keeps_ratio_momentum_and_power():
    result = simulate(Gearbox(), 1.0, tolerance=1e-10)
    np.testing.assert_allclose(
        result["gear.actuatedRevolute_a.phi"], 3 * result["gear.actuatedRevolute_b.phi"], atol=1e-12
    )
    np.testing.assert_allclose(result["gear.totalPower"], 0.0, atol=1e-10)
    carried = 0.5 + 0.5 * 0.2**2 + 0.7 * 0.1**2
    momentum = carried * result["housing_joint.w"] + 0.02 * result["shaft_a.w_a[1]"] + 0.05 * result["shaft_b.w_a[1]"]
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-10)
    assert result["gear.w_b"][0] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Universal(n_a=(1, 0, 0), n_b=(-2, 0, 0)), "n_a.*n_b.*parallel"),
        (lambda: Planar(n=(0, 0, 1), n_x=(0, 0, 3)), "n_x.*parallel"),
        (
            lambda: FixedRotation(rotationType="TwoAxesVectors", n_x=(1, 2, 3), n_y=(-2, -4, -6)).value("R_rel"),
            r"FixedRotation: n_x = .* and n_y = .* are parallel; together they must span a plane",
        ),
        (lambda: GearConstraint(ratio=0.0), "ratio = 0.*must not be 0"),
        (lambda: GearConstraint(), "ratio"),
        (lambda: Cylindrical(n=(0, 0, 0)), "n = .*direction"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(ModelError, match=words):
        make()
