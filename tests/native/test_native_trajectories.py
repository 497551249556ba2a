"""Trajectories of native libraries against closed forms, conserved quantities and the process's own runtime."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from hand_made_models import (
    GRAVITY,
    Draft,
    bouncing_mass,
    free_body,
    oscillator,
    point_pendulum,
    stepped_force,
    variable,
)
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation


@pytest.mark.parametrize("step", [0.003, 0.1, 3.0])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_oscillator_follows_the_cosine_at_any_communication_step(library, tolerance, step):
    slave = library(oscillator).run(3.0, step, tolerance=tolerance)
    assert slave.get("s") == pytest.approx(0.1 * math.cos(6), abs=20 * tolerance)
    assert slave.get("a") == pytest.approx(-0.4 * math.cos(6), abs=80 * tolerance)
    assert slave.get("energy") == pytest.approx(0.04, abs=20 * tolerance)


def test_values_between_steps_are_as_good_as_those_at_steps(library):
    slave = library(oscillator).slave(tolerance=1e-9).start()
    worst = 0.0
    for i in range(1, 301):
        slave.step(i / 100 - slave.time)
        worst = max(worst, abs(slave.get("s") - 0.1 * math.cos(2 * i / 100)))
    assert worst < 2e-8


def test_inputs_act_from_the_next_step_on(library):
    slave = library(oscillator).slave(tolerance=1e-10).start(s=0.0, v=0.0)
    slave.advance(0.35, 0.05)
    assert slave.get("s", "v") == [0.0, 0.0]
    slave.set("F", 4.0)
    assert slave.get("a", "F") == [0.0, 4.0]
    slave.step(0.5)
    assert slave.get("s") == pytest.approx(0.5 * (1 - math.cos(2 * 0.5)), abs=1e-9)
    assert slave.get("a") == pytest.approx(2 * math.cos(2 * 0.5), abs=1e-8)


def test_an_input_with_a_derivative_is_a_ramp(library):
    slave = library(oscillator).slave(tolerance=1e-11).start(s=0.0, v=0.0)
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
    slave = library(oscillator).slave(tolerance=1e-10)
    slave.fmi.setupExperiment(tolerance=1e-10)
    slave.set("m", 0.5)
    slave.fmi.enterInitializationMode()
    assert slave.get("a") == pytest.approx(-0.8 / 0.5)
    slave.set("s", 0.0)
    slave.set("v", 1.0)
    assert slave.get("s", "v", "a") == [0.0, 1.0, 0.0]
    slave.set("F", 3.0)
    assert slave.get("a") == pytest.approx(6.0)
    slave.set("F", 0.0)
    slave.fmi.exitInitializationMode()
    slave.advance(1.0, 0.125)
    assert slave.get("s") == pytest.approx(math.sin(4.0) / 4, abs=1e-9)


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


def test_a_contact_costs_no_rejected_steps(library):
    slave = library(bouncing_mass).run(4.0, 0.01, tolerance=1e-8, logging=True)
    slave.fmi.terminate()
    words = slave.messages(0)[-1].split()
    assert words[5] == "events,"
    assert int(words[4]) == 8
    assert int(words[2]) <= 8


def test_a_step_in_time_is_met_exactly(library):
    slave = library(stepped_force).slave(tolerance=1e-6).start()
    slave.step(0.3)
    assert slave.get("x1", "y0") == [0.0, 1.0]
    slave.step(0.7)
    assert slave.get("x0", "x1") == pytest.approx([0.245, 0.7], abs=1e-14)
    slave = library(stepped_force).slave().start(p0=0.0)
    assert slave.get("y0") == 1.0
    slave.step(1.0)
    assert slave.get("x0") == pytest.approx(0.5, abs=1e-14)


def test_a_free_body_precesses(library):
    slave = library(free_body).run(5.0, 0.05, tolerance=1e-11)
    q = np.array(slave.get("x0", "x1", "x2", "x3"))
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    # Symmetric top: the momentum stays, the body spins about it and about its own axis (Euler).
    momentum = np.array([2 * 0.4, 0.0, 3 * 1.5])
    precession = Rotation.from_rotvec(5.0 * momentum / 2)
    spin = Rotation.from_rotvec([0, 0, -5.0 * (3 - 2) / 2 * 1.5])
    expected = (precession * spin).as_matrix()
    np.testing.assert_allclose(Rotation.from_quat(q).as_matrix(), expected, atol=1e-9)


def free_stiffness():
    """A spring whose stiffness is such that the mass is at rest at its fixed start: p = [m, c, s0, v0], c is free."""
    d = Draft("free stiffness", q=1, v=1, unknowns=4, parameters=[2.0, 1.0, 0.5, 0.0], derived=1)
    X = d.X
    return d.equations(
        A=d.P[0],
        b=d.P[0] * GRAVITY - d.P[1] * d.q,
        guess=ca.vertcat(d.P[2], d.P[3], d.P[1], 0),
        initial=ca.vertcat(d.P[0] * X[3] - d.P[0] * GRAVITY + X[2] * X[0], X[3]),
        fixed=(True, True, False, False),
        free=(1,),
        derived=ca.sqrt(d.p[1] / d.p[0]),
        y=d.P[4],
        assertions=d.P[1],
        assertion_messages=("the stiffness must not be negative",),
    ), (
        variable("c", "P", 1, causality="calculatedParameter", start=1.0, start_index=1),
        variable("s", "x", 0, start=0.5, start_index=2),
        variable("a", "w", 0),
        variable("omega", "P", 4),
        variable("omega_y", "y", 0),
    )


def test_initialisation_finds_a_free_parameter(library):
    slave = library(free_stiffness).slave()
    slave.fmi.setupExperiment()
    slave.fmi.enterInitializationMode()
    assert slave.get("c") == pytest.approx(2 * GRAVITY / 0.5, rel=1e-12)
    slave.set("s", 0.25)
    assert slave.get("c") == pytest.approx(2 * GRAVITY / 0.25, rel=1e-12)
    assert slave.get("omega", "omega_y") == pytest.approx([math.sqrt(GRAVITY / 0.25)] * 2, rel=1e-12)
    slave.fmi.exitInitializationMode()
    slave.advance(1.0, 0.1)
    assert slave.get("s") == pytest.approx(0.25, abs=1e-12)


def linkage(fixed):
    """Two unit rods from (0, 0) to (1, 1): angles q, closed at p[2:4]."""
    d = Draft("linkage", q=2, v=2, multipliers=2, parameters=[0.1, 1.3, 1.0, 1.0])

    def closure(q):
        return ca.vertcat(ca.cos(q[0]) + ca.cos(q[0] + q[1]) - d.P[2], ca.sin(q[0]) + ca.sin(q[0] + q[1]) - d.P[3])

    g = closure(d.q)
    G = ca.jacobian(g, d.q)
    c = G @ d.v
    gamma = ca.jacobian(c, d.q) @ d.v
    return d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -G.T], [G, ca.SX(2, 2)]]),
        b=ca.vertcat(0, 0, -gamma),
        guess=ca.vertcat(d.P[:2], 0, 0),
        g=g,
        c=c,
        initial=ca.vertcat(closure(d.X[:2]), ca.jacobian(closure(d.X[:2]), d.X[:2]) @ d.X[2:4]),
        fixed=fixed,
        equation_names=("closure x", "closure y", "closure vx", "closure vy"),
    )


def closing_linkage():
    return linkage((False,) * 4)


def overdetermined_linkage():
    return linkage((True, True, False, False))


def test_guesses_give_way_until_a_loop_closes(library):
    slave = library(closing_linkage).slave()
    for first, second in ((0.1, 1.3), (0.6, 2.0), (-0.5, 0.9)):
        slave.start(p0=first, p1=second)
        q0, q1 = slave.get("x0", "x1")
        assert math.cos(q0) + math.cos(q0 + q1) == pytest.approx(1, abs=1e-12)
        assert math.sin(q0) + math.sin(q0 + q1) == pytest.approx(1, abs=1e-12)
        slave.fmi.reset()


def test_an_equation_that_cannot_be_met_is_named(library):
    slave = library(overdetermined_linkage).slave()
    slave.fmi.setupExperiment()
    slave.fmi.enterInitializationMode()
    assert slave.status(slave.fmi.exitInitializationMode) == 3
    (message,) = slave.messages(3)
    assert "closure" in message
    assert "off by" in message
    # Other start values mend it.
    slave.set("p0", 0.0)
    slave.set("p1", math.pi / 2)
    slave.fmi.exitInitializationMode()
    assert slave.get("x0") == 0.0


def static_model():
    """No states at all: y = [2 u, |u| by a switch, p0 sin t]."""
    d = Draft("static", inputs=[0.0], parameters=[3.0], switches=1)
    y = ca.vertcat(2 * d.u, ca.if_else(d.m[0] > 0.5, d.u, -d.u), d.P[0] * ca.sin(d.t))
    return d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), crossings=d.u, y=y)


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


def test_extra_states_alone_are_integrated(library):
    slave = library(first_order).run(1.0, 0.25, tolerance=1e-11)
    assert slave.get("x0") == pytest.approx(1 - math.exp(-1), abs=1e-10)
    assert slave.get("x1") == pytest.approx(1 - 2 * math.exp(-1) + math.exp(-2), abs=1e-10)


def test_output_derivatives_are_those_of_the_trajectory(library):
    slave = library(oscillator).slave(tolerance=1e-11).start()
    slave.advance(0.7, 0.1)
    names = ("s", "v", "a", "energy", "m", "F")
    derivatives = slave.fmi.getRealOutputDerivatives([slave.reference(n) for n in names], [1] * len(names))
    expected = [-0.2 * math.sin(1.4), -0.4 * math.cos(1.4), 0.8 * math.sin(1.4), 0.0, 0.0, 0.0]
    assert list(derivatives) == pytest.approx(expected, abs=1e-8)
    assert slave.get("a") == pytest.approx(-0.4 * math.cos(1.4), abs=1e-9)
