"""Initialisation: what gives way, what holds, and what is said when it cannot be met."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft, point_pendulum

from mbfmu.runtime import ConsistencyError, InitialisationError, Instance


def with_parameters(equations, **values):
    parameters = list(equations.parameters)
    for key, value in values.items():
        parameters[int(key[1:])] = value
    return dataclasses.replace(equations, parameters=tuple(parameters))


def test_fixed_starts_hold_and_guesses_give_way():
    instance = Instance(with_parameters(point_pendulum(), p0=0.6, p1=-0.5, p2=2.0))
    start = instance.initialise()
    np.testing.assert_allclose(start.x, [0.6, -0.8, 2.0, 1.5], atol=1e-12)
    assert start.rank == 2
    assert start.undetermined == ()


def test_guesses_move_as_little_as_possible():
    free = with_parameters(point_pendulum((False, False, False, False)), p0=1.2, p1=-1.6)
    start = Instance(free).initialise()
    np.testing.assert_allclose(start.x[:2], [0.6, -0.8], atol=1e-12)
    assert start.rank == 2
    assert set(start.undetermined) == {"mass.x", "mass.y", "mass.vx", "mass.vy"}


def test_a_heavy_weight_keeps_a_guess():
    stiff = dataclasses.replace(point_pendulum((False, False, False, False)), weights=(1e6, 1.0, 1.0, 1.0))
    start = Instance(with_parameters(stiff, p0=0.6, p1=-0.5)).initialise()
    np.testing.assert_allclose(start.x[:2], [0.6, -0.8], atol=1e-8)


def test_contradicting_start_values_are_named():
    instance = Instance(with_parameters(point_pendulum((True, True, True, False)), p0=0.6, p1=-0.5))
    with pytest.raises(InitialisationError) as caught:
        instance.initialise()
    text = str(caught.value)
    assert "1 of 2 equations" in text
    assert "'rod length' is off by 0.195" in text
    assert "mass.x = 0.6" in text
    assert "mass.y = -0.5" in text
    assert "mass.vx" not in text
    assert "guess" in text


def test_an_impossible_start_is_reported_with_its_value():
    instance = Instance(with_parameters(point_pendulum(), p0=2.0))
    with pytest.raises(InitialisationError, match=r"'rod length' is off by 1\.5"):
        instance.initialise()


def test_a_start_value_that_is_not_finite_is_named():
    instance = Instance(with_parameters(point_pendulum(), p1=np.inf))
    with pytest.raises(InitialisationError, match=r"mass\.y"):
        instance.initialise()


def test_a_failed_initialisation_can_be_mended():
    instance = Instance(point_pendulum())
    instance.set_parameter(0, 2.0)
    with pytest.raises(InitialisationError):
        instance.get("x", 0)
    instance.set_parameter(0, 0.8)
    assert instance.get("x", 1) == pytest.approx(-0.6, abs=1e-12)


def spring_at_rest():
    """A hanging mass: the free parameter p[1], the length of its spring, is found so that it starts at rest."""
    d = Draft("hanging mass", q=1, v=1, parameters=[-0.5, 0.2, 100.0], unknowns=4, derived=1)
    stiffness = d.P[2]
    s, _, length, a = d.X[0], d.X[1], d.X[2], d.X[3]
    return d.equations(
        A=ca.SX(1),
        b=-9.81 - stiffness * (d.q + d.P[1]),
        guess=ca.vertcat(d.P[0], 0, d.P[1], 0),
        initial=ca.vertcat(a + 9.81 + stiffness * (s + length), a),
        fixed=(True, True, False, False),
        free=(1,),
        derived=2 * d.p[1],
        unknown_names=("s", "v", "length", "a"),
        equation_names=("force balance", "at rest"),
    )


def test_a_free_parameter_is_found_and_derived_from():
    instance = Instance(spring_at_rest())
    instance.finish_initialisation()
    length = 0.5 - 9.81 / 100.0
    assert instance.get("P", 1) == pytest.approx(length, abs=1e-12)
    assert instance.get("P", 3) == pytest.approx(2 * length, abs=1e-12)
    assert instance.get("w", 0) == pytest.approx(0.0, abs=1e-10)
    instance.do_step(1.0)
    assert instance.get("x", 0) == pytest.approx(-0.5, abs=1e-10)


def test_a_far_guess_is_reached_by_restarts():
    """X^2 = 1/4 from X = 0, where the derivative vanishes: no step of Newton's leaves it."""
    d = Draft("flat", q=1, v=1, parameters=[0.0])
    equations = d.equations(
        A=ca.SX(1), b=ca.SX(0), guess=ca.vertcat(d.P[0], 0), initial=d.X[0] ** 2 - 0.25, fixed=(False, True)
    )
    start = Instance(equations).initialise()
    assert abs(start.x[0]) == pytest.approx(0.5, abs=1e-12)


def test_what_a_singular_start_leaves_open_is_named():
    d = Draft("massless", q=3, v=3, parameters=[0.0])
    equations = d.equations(
        A=ca.diag(ca.vertcat(1, d.P[0], 2)),
        b=ca.SX.ones(3),
        guess=ca.SX.zeros(6),
        unknown_names=("a.s", "b.s", "c.s", "a.v", "b.v", "c.v"),
    )
    instance = Instance(equations)
    with pytest.raises(InitialisationError, match=r"singular: .*\n  der\(b\.v\)$"):
        instance.initialise()
    instance.set_parameter(0, 1.0)
    assert instance.get("w", 1) == 1.0


def test_dropped_constraints_must_hold():
    d = Draft("dropped", q=1, v=1, parameters=[0.2, 0.2])
    equations = d.equations(A=ca.SX(1), b=ca.SX(0), guess=ca.vertcat(d.P[0], 0), redundant=d.q - d.P[1])
    instance = Instance(equations)
    assert instance.get("x", 0) == 0.2
    instance.set_parameter(1, 0.3)
    with pytest.raises(ConsistencyError, match=r"'dropped 1' is off by 0\.1"):
        instance.initialise()
