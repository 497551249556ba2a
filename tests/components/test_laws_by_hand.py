"""Components whose laws are a line each, at values worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest
from wiring import run, wired

from mbfmu.components import (
    Body,
    FreeMotionScalarInit,
    World,
    blocks,
    electrical,
    forces,
    rotational,
    thermal,
    translational,
)
from mbfmu.dynamics.system import System
from mbfmu.modeling import Start
from mbfmu.runtime.run import Run
from mbfmu.simulation import simulate


def torque_at(source: rotational.SignTorque, w: float) -> float:
    """What a source gives a shaft that turns at a speed."""
    shaft = rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(w, fixed=True))
    return run("source.flange - shaft.flange_a", stop=1e-3, step=1e-3, source=source, shaft=shaft)["shaft.a"][0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reg", "share"),
    [("Exp", math.tanh(25)), ("Sine", math.sqrt(0.5)), ("Linear", 0.5), ("Cosine", 1 - math.sqrt(0.5))],
)
def test_a_torque_changes_its_sign_with_the_speed(reg: str, share: float) -> None:
    """Whole beyond w0 = 2 rad/s, a part at half of it."""
    made = [rotational.SignTorque(tau_nominal=3.0, reg=reg, w0=2.0) for _ in range(3)]
    found = [torque_at(source, w) for source, w in zip(made, (4.0, -4.0, 1.0), strict=True)]
    np.testing.assert_allclose(found, [3.0, -3.0, 3.0 * share], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "back"), [(True, 3.0), (False, -3.0)])
def test_a_torque_is_reciprocal_to_the_speed(direction: bool, back: float) -> None:
    """Power stays 30 W from w0 on; backwards it has its own direction or that of the speed."""
    values = {"tau_nominal": 3.0, "w_nominal": 10.0, "w0": 1.0, "TorqueDirection": direction}
    found = [torque_at(rotational.InverseSpeedDependentTorque(**values), w) for w in (10.0, 20.0, -10.0)]
    np.testing.assert_allclose(found, [3.0, 1.5, back], rtol=1e-12)


def test_an_eddy_current_brake_heats_itself_by_what_it_takes() -> None:
    """At 3 times its nominal speed, warm by 100 K: resistance 1.4, so that x = 3 / 1.4 and f = 2 x/(1 + x^2)."""
    mass = translational.Mass(m=2.0, s=Start(0.0, fixed=True), v=Start(6.0, fixed=True))
    brake = translational.EddyCurrentForce(
        f_nominal=5.0, v_nominal=2.0, TRef=293.15, alpha20=4e-3, useExcitationInput=True, useHeatPort=True
    )
    result = run(
        "brake.flange - mass.flange_a", "half.y - brake.excitation", "brake.heatPort - warm.port",
        stop=1e-3, step=1e-3, mass=mass, brake=brake, half=blocks.Constant(k=0.5),
        warm=thermal.FixedTemperature(T=393.15),
    )  # fmt: skip
    x = 3 / 1.4
    force = 5.0 * 0.5**2 * 2 * x / (1 + x**2)
    np.testing.assert_allclose(result["mass.a"][0], -force / 2.0, rtol=1e-12)
    np.testing.assert_allclose(result["warm.port.Q_flow"][0], force * 6.0, rtol=1e-12)


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_a_logical_switch_takes_one_of_two(chosen: bool, first: bool) -> None:
    parts = {f"u{i}": blocks.BooleanConstant(k=k) for i, k in ((1, first), (2, chosen), (3, not first))}
    wires = [f"u{i}.y - switch.u{i}" for i in (1, 2, 3)]
    result = run(*wires, stop=1.0, step=1.0, switch=blocks.LogicalSwitch(), **parts)
    assert result["switch.y"][0] == (first if chosen else not first)


def test_blocks_of_vectors() -> None:
    """An exponent; a table between four numbers, at two places; what passes through as it is."""
    result = run(
        "three.y - raised.u", "three.y - table.u1[0]", "one.y - table.u1[1]", "one.y - table.u2[0]",
        "three.y - table.u2[1]", "one.y - bundle.u[0]", "three.y - bundle.u[1]",
        stop=1.0, step=1.0, one=blocks.Constant(k=1.0), three=blocks.Constant(k=3.0),
        raised=blocks.Exponentiation(exponent=2.5), bundle=blocks.Multiplex(n=2),
        table=blocks.CombiTable2Dv(n=2, table=[[0, 0, 4], [0, 0, 8], [4, 40, 16]]),
    )  # fmt: skip
    np.testing.assert_allclose(result["raised.y"][0], 3**2.5, rtol=1e-14)
    # Bilinear: 8 u + 10 t (1 - u) + 4 t u with u = u2/4, t = u1
    expected = [8 * u + 10 * t * (1 - u) + 2 * t * u for t, u in ((3.0, 0.25), (1.0, 0.75))]
    np.testing.assert_allclose([result[f"table.y[{i}]"][0] for i in (1, 2)], expected, rtol=1e-12)
    assert [result[f"bundle.y[{i}]"][0] for i in (1, 2)] == [1.0, 3.0]


def test_a_shaft_through_adaptors_swings_as_without() -> None:
    """Its spring asks for an angle and gives a torque: 2 kg.m2 on 8 N.m/rad swing with 2 rad/s."""
    result = run(
        "inertia.flange_b - angle.flange", "angle.p - torque.p", "angle.pder - torque.pder", "torque.f - angle.f",
        "torque.flange - spring.flange_a", "spring.flange_b - fixed.flange",
        stop=2.0, inertia=rotational.Inertia(J=2.0, phi=Start(0.3, fixed=True), w=Start(0.0, fixed=True)),
        angle=rotational.GeneralTorqueToAngleAdaptor(use_pder2=False),
        torque=rotational.GeneralAngleToTorqueAdaptor(use_pder2=False),
        spring=rotational.Spring(c=8.0), fixed=rotational.Fixed(),
    )  # fmt: skip
    np.testing.assert_allclose(result["inertia.phi"], 0.3 * np.cos(2 * result.time), atol=1e-8)
    assert not {"angle.pder2", "torque.pder2"} & set(result.names)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "on"), [("OpenerWithArc", False), ("CloserWithArc", True)])
@pytest.mark.parametrize("control", [True, False])
def test_a_switch_with_an_arc_is_closed_or_open(kind: str, on: bool, control: bool) -> None:
    """10 V over 5 Ohm: 2 A, or what 1e-6 S of an open switch let through."""
    result = run(
        "source.p - resistor.p", "resistor.n - switch.p", "switch.n - source.n", "ground.p - source.n",
        "control.y - switch.control", stop=1.0, step=1.0, source=electrical.ConstantVoltage(V=10.0),
        resistor=electrical.Resistor(R=5.0), ground=electrical.Ground(), control=blocks.BooleanConstant(k=control),
        switch=getattr(electrical, kind)(Ron=1e-6, Goff=1e-6, V0=30.0, dVdt=10e3, Vmax=60.0),
    )  # fmt: skip
    closed, open_ = 10 / (5 + 1e-6), 10 / (5 + 1e6)
    np.testing.assert_allclose(result["resistor.i"][-1], closed if control is on else open_, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "on"), [("ControlledOpenerWithArc", False), ("ControlledCloserWithArc", True)])
@pytest.mark.parametrize("level", [2.0, 4.0])
def test_a_controlled_switch_with_an_arc_is_closed_or_open(kind: str, on: bool, level: float) -> None:
    """3 V at its control, above its level or below; 10 V over 5 Ohm."""
    result = run(
        "source.p - resistor.p", "resistor.n - switch.p", "switch.n - source.n", "ground.p - source.n",
        "control.p - switch.control", "control.n - ground.p", stop=1.0, step=1.0,
        source=electrical.ConstantVoltage(V=10.0), control=electrical.ConstantVoltage(V=3.0),
        resistor=electrical.Resistor(R=5.0), ground=electrical.Ground(),
        switch=getattr(electrical, kind)(Ron=1e-6, Goff=1e-6, V0=30.0, dVdt=10e3, Vmax=60.0, level=level),
    )  # fmt: skip
    closed, open_ = 10 / (5 + 1e-6), 10 / (5 + 1e6)
    np.testing.assert_allclose(result["resistor.i"][-1], closed if (level < 3) is on else open_, rtol=1e-9)


def test_a_shorted_branch_has_no_voltage_and_an_idle_one_no_current() -> None:
    result = run(
        "source.p - resistor.p", "resistor.n - short.p", "short.n - source.n", "ground.p - source.n",
        "idle.p - source.p", "idle.n - source.n", stop=1.0, step=1.0, source=electrical.ConstantVoltage(V=10.0),
        resistor=electrical.Resistor(R=5.0), ground=electrical.Ground(), short=electrical.Short(),
        idle=electrical.Idle(),
    )  # fmt: skip
    assert [result[f"{name}.{what}"][-1] for name in ("short", "idle") for what in "vi"] == [0.0, 2.0, 10.0, 0.0]


def test_a_flange_starts_with_the_acceleration_that_a_signal_says() -> None:
    """Its position is found: a spring of 8 N/m gives 2 kg the acceleration 3 m/s2 where it is pressed by 0.75 m."""
    result = run(
        "a.y - begin.a_start", "v.y - begin.v_start", "begin.flange - mass.flange_b", "spring.flange_b - mass.flange_a",
        "spring.flange_a - fixed.flange", stop=1.0, step=0.5, a=blocks.Constant(k=3.0), v=blocks.Constant(k=0.0),
        begin=translational.InitializeFlange(use_s_start=False), mass=translational.Mass(m=2.0),
        spring=translational.Spring(c=8.0), fixed=translational.Fixed(),
    )  # fmt: skip
    np.testing.assert_allclose(result["mass.s"], -0.75 * np.cos(2 * result.time), atol=1e-8)


def test_a_flange_starts_where_signals_say() -> None:
    """With an acceleration that a force has to be found for: m a = f - d v."""
    result = run(
        "s.y - begin.s_start", "v.y - begin.v_start", "begin.flange - mass.flange_b", "damper.flange_b - mass.flange_a",
        "damper.flange_a - fixed.flange", stop=1.0, step=0.5, s=blocks.Constant(k=0.4), v=blocks.Constant(k=-2.0),
        begin=translational.InitializeFlange(use_a_start=False), mass=translational.Mass(m=2.0),
        damper=translational.Damper(d=4.0), fixed=translational.Fixed(),
    )  # fmt: skip
    decay = np.exp(-2 * result.time)
    np.testing.assert_allclose(result["mass.v"], -2 * decay, atol=1e-9)
    np.testing.assert_allclose(result["mass.s"], 0.4 - (1 - decay), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("init", ["SteadyState", "InitialOutput"])
def test_blocks_start_as_they_are_told(init: str) -> None:
    """A loop at rest has the error 0; x' = A x + B u at rest has x = -A^-1 B u; or the output has its start value."""
    result = run(
        "one.y - error.u1", "pi.y - error.u2", "error.y - pi.u", "one.y - states.u[0]",
        stop=0.1, step=0.1, one=blocks.Constant(k=3.0), error=blocks.Feedback(),
        pi=blocks.PI(k=2.0, T=3.0, initType=init, y_start=1.0),
        states=blocks.StateSpace(A=[[-2.0]], B=[[1.0]], C=[[4.0]], D=[[0.5]], initType=init, y_start=[5.0]),
    )  # fmt: skip
    expected = (3.0, 4 * 1.5 + 0.5 * 3) if init == "SteadyState" else (1.0, 5.0)
    np.testing.assert_allclose([result["pi.y"][0], result["states.y[1]"][0]], expected, rtol=1e-9)


def free(fixed: Iterable[int], angle: float = 0.0, **options: bool) -> FreeMotionScalarInit:
    """A free joint at rest, some of whose angles are fixed."""
    starts = {f"{name}_{i}": Start(0.0, fixed=True) for name in ("r_rel_a", "angle_d") for i in (1, 2, 3)}
    if options.get("use_v"):
        starts |= {f"v_rel_a_{i}": Start(0.0, fixed=True) for i in (1, 2, 3)}
    starts |= {f"angle_{i}": Start(angle, fixed=i in fixed) for i in (1, 2, 3)}
    return FreeMotionScalarInit(use_r=True, use_angle=True, use_angle_d=True, **options, **starts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize(("fixed", "left_open"), [((1, 2, 3), 0), ((1,), 2), ((2, 3), 1)])
def test_fixed_angles_of_a_free_joint_are_held_though_its_quaternion_is_the_state(
    fixed: tuple[int, ...], left_open: int
) -> None:
    """What they leave open of the quaternion is chosen, and told."""
    parts = {"world": World(), "joint": free(fixed, 0.2, use_v=True), "ball": Body(m=2.0, r_CM=(0, 0, 0))}
    system = System.of(wired("world.frame_b - joint.frame_a", "joint.frame_b - ball.frame_a", **parts))
    start = Run(system.equations, system.variables)
    start.finish_initialisation()
    chosen = [name for name in start.choices() if name.startswith("joint.Q")]
    assert len(chosen) == left_open
    conditions = {name for name in system.equations.equation_names if name.endswith(" of joint")}
    assert conditions == (set() if left_open == 0 else {f"angle_{i} of joint" for i in fixed})
    found = simulate(system, 1e-3)
    np.testing.assert_allclose([found[f"joint.angle_{i}"][0] for i in fixed], 0.2, rtol=1e-9)


@pytest.mark.slow
def test_accelerations_of_a_free_joint_are_those_of_its_body() -> None:
    """A ball of 2 kg and 0.5 kg.m2 that falls, under a torque of 3 N.m about z."""
    joint = free(range(1, 4), **{f"use_{name}": True for name in ("v", "a", "angle_dd", "w", "z")})
    result = run(
        "world.frame_b - joint.frame_a", "joint.frame_b - ball.frame_a", "torque.frame_b - ball.frame_a",
        "zero.y - torque.torque[0]", "zero.y - torque.torque[1]", "three.y - torque.torque[2]",
        stop=0.5, step=0.25, world=World(), joint=joint, ball=Body(m=2.0, r_CM=(0, 0, 0), I_11=0.5, I_22=0.5, I_33=0.5),
        torque=forces.WorldTorque(), zero=blocks.Constant(k=0.0), three=blocks.Constant(k=3.0),
    )  # fmt: skip
    t = result.time
    for name, expected in {
        "r_rel_a_2": -9.80665 * t**2 / 2, "v_rel_a_2": -9.80665 * t, "a_rel_a_2": -9.80665 + 0 * t,
        "angle_3": 3 * t**2, "angle_d_3": 6 * t, "angle_dd_3": 6 + 0 * t, "w_rel_b_3": 6 * t, "z_rel_b_3": 6 + 0 * t,
        "a_rel_a_1": 0 * t, "angle_dd_1": 0 * t, "z_rel_b_2": 0 * t,
    }.items():  # fmt: skip
        np.testing.assert_allclose(result[f"joint.{name}"], expected, atol=1e-8, err_msg=name)


@pytest.mark.parametrize(("end", "arrival"), [(4.0, 0.3 + 2 * math.sqrt(2)), (0.0, 0.3)])
def test_a_move_from_point_to_point_says_when_it_ends(end: float, arrival: float) -> None:
    """4 m by 2 m/s2 take twice the root of 2 s; what stays where it is has arrived when it starts."""
    drive = blocks.KinematicPTP2(q_end=end, qd_max=10.0, qdd_max=2.0, startTime=0.3)
    result = run(stop=4.0, step=1.0, drive=drive)
    np.testing.assert_allclose(result["drive.endTime"], arrival, rtol=1e-12)
