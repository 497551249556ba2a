"""Trajectories against closed forms and conserved quantities, in every host."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from hand_made_models import (
    GRAVITY,
    Draft,
    bouncing_mass,
    everything,
    free_body,
    oscillator,
    point_pendulum,
    stepped_force,
)
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.003, 0.1, 3.0])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_oscillator_follows_the_cosine_at_any_communication_step(library, tolerance, step):
    slave = library(oscillator).slave(tolerance=tolerance).start()
    found = []
    for i in range(1, round(3.0 / step) + 1):
        slave.step(i * step - slave.time)
        found.append(slave.get("time", "s", "v", "a", "energy"))
    t, s, v, a, energy = np.array(found).T
    np.testing.assert_allclose(s, 0.1 * np.cos(2 * t), atol=20 * tolerance)
    np.testing.assert_allclose(v, -0.2 * np.sin(2 * t), atol=40 * tolerance)
    np.testing.assert_allclose(a, -0.4 * np.cos(2 * t), atol=80 * tolerance)
    np.testing.assert_allclose(energy, 0.04, atol=20 * tolerance)


def test_values_between_steps_are_as_good_as_those_at_steps(library):
    slave = library(oscillator).slave(tolerance=1e-9).start()
    worst = 0.0
    for i in range(1, 301):
        slave.step(i / 100 - slave.time)
        worst = max(worst, abs(slave.get("s") - 0.1 * math.cos(2 * i / 100)))
    assert worst < 2e-8
    assert slave.statistics()["steps"] < 100


def test_inputs_act_from_the_next_step_on(library):
    slave = library(oscillator).slave(tolerance=1e-10).start(s=0.0, v=0.0)
    slave.advance(0.35, 0.05)
    assert slave.get("s", "v") == [0.0, 0.0]
    slave.set("F", 4.0)
    assert slave.get("a", "F") == [0.0, 4.0]
    slave.step(0.5)
    assert slave.get("s") == pytest.approx(0.5 * (1 - math.cos(2 * 0.5)), abs=1e-9)
    assert slave.get("a") == pytest.approx(2 * math.cos(2 * 0.5), abs=1e-8)


def test_an_input_with_a_derivative_is_a_ramp(fmu_library):
    slave = fmu_library(oscillator).slave(tolerance=1e-11).start(s=0.0, v=0.0)
    reference = slave.reference("F")
    slave.fmi.setRealInputDerivatives([reference], [1], [2.0])
    slave.advance(1.5, 0.25)
    # 2 s'' + 8 s = 2 t: s = t/4 - sin(2 t)/8
    assert slave.get("s") == pytest.approx(1.5 / 4 - math.sin(3.0) / 8, abs=1e-10)
    assert slave.get("F") == pytest.approx(3.0, abs=1e-12)


def test_a_tunable_parameter_takes_effect_between_steps(library):
    slave = library(oscillator).slave(tolerance=1e-10).start(s=0.1, v=0.0)
    slave.advance(math.pi / 4, math.pi / 4)
    slave.set("c", 32.0)
    assert slave.get("omega") == pytest.approx(4.0, rel=1e-15)
    assert slave.get("c") == 32.0
    speed = -0.2
    slave.step(0.3)
    assert slave.get("s") == pytest.approx(speed / 4 * math.sin(4 * 0.3), abs=1e-9)


def test_start_values_and_parameters_may_be_set_in_initialisation_mode(library):
    slave = library(oscillator).slave(tolerance=1e-10).enter(m=0.5)
    assert slave.get("a") == pytest.approx(-0.8 / 0.5)
    slave.set("s", 0.0)
    slave.set("v", 1.0)
    assert slave.get("s", "v", "a") == [0.0, 1.0, 0.0]
    slave.set("F", 3.0)
    assert slave.get("a") == pytest.approx(6.0)
    slave.set("F", 0.0)
    slave.finish()
    slave.advance(1.0, 0.125)
    assert slave.get("s") == pytest.approx(math.sin(4.0) / 4, abs=1e-9)


@pytest.mark.slow
def test_the_constraints_of_a_pendulum_hold_for_long(library):
    slave = library(point_pendulum).slave(tolerance=1e-8).start()
    worst_position = worst_speed = 0.0
    for _ in range(2000):
        slave.step(0.1)
        x, y, vx, vy = slave.get("x0", "x1", "x2", "x3")
        worst_position = max(worst_position, abs(math.hypot(x, y) - 1))
        worst_speed = max(worst_speed, abs(x * vx + y * vy))
    assert slave.time == pytest.approx(200.0)
    assert worst_position < 1e-13
    assert worst_speed < 1e-13
    energy = (vx**2 + vy**2) / 2 + GRAVITY * y
    assert energy == pytest.approx(-0.8 * GRAVITY, abs=2e-5)


def test_the_pendulum_as_a_constrained_mass_is_the_pendulum_as_an_angle(library):
    slave = library(point_pendulum).run(10.0, 0.05, tolerance=1e-11)
    angle = solve_ivp(
        lambda _, s: [s[1], -GRAVITY * math.sin(s[0])],
        (0, 10),
        [math.atan2(0.6, 0.8), 0.0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
    ).y[0, -1]
    assert slave.get("x0", "x1") == pytest.approx([math.sin(angle), -math.cos(angle)], abs=2e-8)
    y, vx, vy = slave.get("x1", "x2", "x3")
    assert slave.get("w2") == pytest.approx(-(vx**2 + vy**2) + GRAVITY * y, abs=1e-9)


def bounce(t: float) -> float:
    """Height of a unit mass that falls from 1 m on a spring of 1000 N/m, which it leaves as it came."""
    omega, fall = math.sqrt(1000.0), math.sqrt(2 / GRAVITY)
    speed, rest = GRAVITY * fall, GRAVITY / 1000
    contact = 2 * (math.pi - math.atan(speed / omega / rest)) / omega
    t %= 2 * fall + contact
    if t <= fall:
        return 1 - GRAVITY * t**2 / 2
    if t >= fall + contact:
        return 1 - GRAVITY * (2 * fall + contact - t) ** 2 / 2
    t -= fall
    return -rest + rest * math.cos(omega * t) - speed / omega * math.sin(omega * t)


@pytest.mark.parametrize("step", [0.01, 0.37])
def test_contacts_are_located(library, step):
    slave = library(bouncing_mass).slave(tolerance=1e-10).start()
    worst = 0.0
    for i in range(1, round(4.0 / step) + 1):
        slave.step(i * step - slave.time)
        worst = max(worst, abs(slave.get("x0") - bounce(slave.time)))
    assert slave.time > 3.6
    assert worst < 1e-7


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_a_bounce_matches_its_phases(library, solver):
    slave = library(bouncing_mass, solver=solver).slave(tolerance=1e-10).start()
    omega, sag = math.sqrt(1000.0), GRAVITY / 1000
    touch, speed = math.sqrt(2 / GRAVITY), math.sqrt(2 * GRAVITY)
    contact = 2 * (math.pi - math.atan2(speed / omega, sag)) / omega
    slave.step(touch + contact / 2)
    deepest = -sag + sag * math.cos(omega * contact / 2) - speed / omega * math.sin(omega * contact / 2)
    assert slave.get("x0") == pytest.approx(deepest, abs=2e-9)
    slave.step(3 * (2 * touch + contact) - slave.time)
    assert slave.get("x0") == pytest.approx(1.0, abs=2e-8)
    assert slave.get("x1") == pytest.approx(0.0, abs=2e-7)


def test_a_contact_costs_no_rejected_steps(library):
    counts = library(bouncing_mass).run(4.0, 0.01, tolerance=1e-8).statistics()
    assert counts["events"] == 8
    assert counts["rejections"] <= 8


@pytest.mark.slow
def test_a_step_in_time_is_met_exactly(library):
    slave = library(stepped_force).slave(tolerance=1e-6).start()
    slave.step(0.3)
    assert slave.get("x1", "y0") == [0.0, 1.0]
    for i in range(4, 11):
        slave.step(i / 10 - slave.time)
        late = slave.time - 0.3
        assert slave.get("x0", "x1") == pytest.approx([late**2 / 2, late], abs=1e-14)
        assert slave.get("y0") == 1.0
    slave = library(stepped_force).slave().start(p0=0.0)
    assert slave.get("y0") == 1.0
    slave.step(1.0)
    assert slave.get("x0") == pytest.approx(0.5, abs=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(("end", "steps", "error"), [(5.0, 100, 1e-9), (20.0, 40, 1e-8)])
def test_a_free_body_precesses(library, end, steps, error):
    """Euler's symmetric top: the momentum stays, the body turns about it and about its own axis."""
    slave = library(free_body).run(end, end / steps, tolerance=1e-11)
    q, w = np.array(slave.get("x0", "x1", "x2", "x3")), slave.get("x4", "x5", "x6")
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    i1, i3, w1, w3 = 2.0, 3.0, 0.4, 1.5
    turn = (i3 - i1) / i1 * w3 * end
    assert w == pytest.approx([w1 * math.cos(turn), w1 * math.sin(turn), w3], abs=error)
    momentum = np.array([i1 * w1, 0.0, i3 * w3])
    expected = Rotation.from_rotvec(end * momentum / i1) * Rotation.from_rotvec([0, 0, -turn])
    np.testing.assert_allclose(Rotation.from_quat(q).as_matrix(), expected.as_matrix(), atol=error)


def static_model():
    """No states at all: y = [2 u, |u| by a switch, p0 sin t]."""
    d = Draft("static", inputs=[0.0], parameters=[3.0], switches=1)
    y = ca.vertcat(2 * d.u, ca.if_else(d.m[0] > 0.5, d.u, -d.u), d.P[0] * ca.sin(d.t))
    return d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), crossings=d.u, y=y)


@pytest.mark.slow
def test_a_model_without_states_computes_its_variables(library):
    slave = library(static_model).slave().start(u0=-2.0)
    assert slave.get("y0", "y1", "y2") == [-4.0, 2.0, 0.0]
    slave.set("u0", 5.0)
    slave.step(0.5)
    assert slave.get("y0", "y1", "y2") == pytest.approx([10.0, 5.0, 3 * math.sin(0.5)], rel=1e-15)
    slave.set("u0", -1.0)
    slave.step(0.5)
    assert slave.get("y1") == 1.0


def first_order():
    """Two first-order lags in series, no mechanics: nv = 0."""
    d = Draft("lags", z=2, inputs=[1.0], parameters=[0.0, 0.0])
    return d.equations(
        A=ca.SX(0, 0),
        b=ca.SX(0, 1),
        guess=d.P[:2],
        fixed=(True, True),
        derivatives=ca.vertcat(d.u - d.z[0], 2 * (d.z[0] - d.z[1])),
        displacement=ca.SX(0, 1),
    )


@pytest.mark.slow
def test_extra_states_alone_are_integrated(library):
    slave = library(first_order).run(1.0, 0.25, tolerance=1e-11)
    assert slave.get("x0") == pytest.approx(1 - math.exp(-1), abs=1e-10)
    assert slave.get("x1") == pytest.approx(1 - 2 * math.exp(-1) + math.exp(-2), abs=1e-10)


def test_output_derivatives_are_those_of_the_trajectory(fmu_library):
    slave = fmu_library(oscillator).slave(tolerance=1e-11).start()
    slave.advance(0.7, 0.1)
    names = ("s", "v", "a", "energy", "m", "F")
    derivatives = slave.fmi.getRealOutputDerivatives([slave.reference(n) for n in names], [1] * len(names))
    expected = [-0.2 * math.sin(1.4), -0.4 * math.cos(1.4), 0.8 * math.sin(1.4), 0.0, 0.0, 0.0]
    assert list(derivatives) == pytest.approx(expected, abs=1e-8)
    assert slave.get("a") == pytest.approx(-0.4 * math.cos(1.4), abs=1e-9)


def test_a_model_of_everything_keeps_its_invariants(library):
    slave = library(everything).slave(tolerance=1e-9).start()
    assert slave.get("free", "x11") == pytest.approx([slave.get("x0")] * 2, rel=1e-12)
    for i in range(200):
        slave.set("u", 0.5 if i % 20 < 10 else -0.5)
        slave.step(0.01)
        assert slave.get("y1") == (slave.get("x0") >= 0)
        assert slave.get("y2") == (slave.time >= 0.25)
        values = slave.get(*(f"x{i}" for i in range(12)))
        assert values[0] ** 2 + values[1] ** 2 == pytest.approx(1.0, abs=1e-13)
        assert sum(value**2 for value in values[2:6]) == pytest.approx(1.0, abs=1e-14)
