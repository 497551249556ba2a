"""Explicit, implicit and fixed steps: one trajectory, at very different cost."""

from __future__ import annotations

import dataclasses
import math

import casadi as ca
import numpy as np
import pytest
from hand_made_models import (
    Draft,
    bouncing_mass,
    everything,
    oscillator,
    point_pendulum,
    stepped_force,
    stiff_drive,
    variable,
)
from scipy.integrate import solve_ivp

# Compiled equations are interpreted ones to the last bit (test_tapes.py): the suite compiles few models.
pytestmark = pytest.mark.campaign("compiled")


def trajectory(slave, duration, step, names):
    values, begin = [], slave.time
    for i in range(round(duration / step)):
        slave.step(begin + (i + 1) * step - slave.time)
        values.append(slave.get(*names))
    return np.array(values)


NAMES = [f"x{i}" for i in range(5)]


def stiff_oracle(times):
    """The same drive by SciPy, its torque limits and brake written out."""

    def rates(t, x):
        q1, q2, v1, v2, z = x
        shaft = 0.1 * (v1 - v2) + 5 * math.sin(q1 - q2)
        brake = 0.5 * max(v2 - 2, 0)
        return [v1, v2, (z - shaft) / 1e-6, shaft - 0.1 * v2 - brake, (1 + 0.5 * math.sin(t) - z) / 1e-3]

    return solve_ivp(rates, (0, times[-1]), np.zeros(5), "Radau", times, rtol=1e-10, atol=1e-11).y.T


@pytest.mark.slow
def test_a_stiff_drive_is_the_same_by_every_method_and_a_hundred_times_cheaper_implicitly(library):
    times = np.arange(1, 21) * 0.25
    expected = stiff_oracle(times)
    counts = {}
    for solver in ("explicit", "implicit", "auto"):
        slave = library(stiff_drive, solver=solver).slave(tolerance=1e-7).start()
        found = trajectory(slave, 5.0, 0.25, NAMES)
        # The small rotor's speed follows the shaft within microseconds: it is compared beside the large one's.
        np.testing.assert_allclose(found, expected, atol=1e-5)
        counts[solver] = slave.statistics()
    assert counts["explicit"]["implicit_steps"] == 0
    assert counts["explicit"]["evaluations"] > 100 * counts["implicit"]["evaluations"]
    assert counts["implicit"]["implicit_steps"] == counts["implicit"]["steps"]
    assert counts["auto"]["implicit_steps"] > 0.5 * counts["auto"]["steps"]
    assert counts["auto"]["evaluations"] < 2 * counts["implicit"]["evaluations"]
    assert counts["implicit"]["events"] >= 1


@pytest.mark.slow
def test_in_auto_the_run_itself_finds_out(library):
    slave = library(stiff_drive).slave(tolerance=1e-7).start()
    found = trajectory(slave, 1.0, 0.25, NAMES)
    np.testing.assert_allclose(found, stiff_oracle(np.arange(1, 5) * 0.25), atol=1e-5)
    assert slave.statistics()["implicit_steps"] > 0


@pytest.mark.slow
def test_models_that_are_not_stiff_stay_explicit(library):
    for model in (oscillator, bouncing_mass, point_pendulum, everything):
        slave = library(model).slave(tolerance=1e-6).start()
        slave.advance(4.0, 0.1)
        assert slave.statistics()["implicit_steps"] == 0, model.__name__


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_implicit_steps_keep_the_tolerance_between_steps_too(library, tolerance):
    slave = library(oscillator, solver="implicit").slave(tolerance=tolerance).start()
    found = trajectory(slave, 3.0, 0.01, ["s"])
    np.testing.assert_allclose(found, 0.1 * np.cos(2 * np.arange(1, 301) / 100), atol=20 * tolerance)
    assert slave.statistics()["steps"] < 300


def driven_oscillator():
    """x'' = cos t - 4 x from rest: x = (cos t - cos 2t) / 3, which knows whether stages are at their times."""
    d = Draft("driven oscillator", q=1, v=1, unknowns=2)
    return d.equations(A=ca.SX(1), b=ca.cos(d.t) - 4 * d.q, guess=ca.SX.zeros(2), fixed=(True, True), stop_time=60.0), (
        variable("x", "x", 0),
    )


@pytest.mark.slow
def test_small_tolerances_are_met_by_a_method_of_order_eight_between_steps_too(library):
    """At a hundredth of the tolerance the work grows by 100^(1/8) = 1.8, where order 5 would take 2.5."""
    times, steps = np.arange(1, 301) / 50, []
    for tolerance in (1e-7, 1e-9, 1e-11):
        slave = library(driven_oscillator, solver="explicit").slave(tolerance=tolerance).start()
        found = trajectory(slave, 6.0, 0.02, ["x"])
        np.testing.assert_allclose(found, (np.cos(times) - np.cos(2 * times)) / 3, atol=10 * tolerance)
        steps.append(slave.statistics()["steps"])
    assert steps[0] < 40
    assert steps[2] < 1.9 * steps[1] < 1.9**2 * steps[0]


def orbit():
    """A planet on an ellipse of eccentricity 0.8, from its farthest point: motion gets harder on the way to the sun."""
    d = Draft("orbit", q=2, v=2, unknowns=4)
    start = ca.vertcat(1.8, 0, 0, 1 / 3)
    fixed = (True, True, True, True)
    return d.equations(A=ca.SX.eye(2), b=-d.q / ca.norm_2(d.q) ** 3, guess=start, fixed=fixed, stop_time=60.0), (
        variable("x", "x", 0),
        variable("y", "x", 1),
    )


@pytest.mark.slow
def test_steps_of_order_eight_foresee_that_motion_gets_harder(library):
    """Of 155 steps none is rejected, and 40 of 146 where the next step is taken to be as hard as the last one."""
    slave = library(orbit, solver="explicit").slave(tolerance=1e-9).start()
    slave.advance(6 * math.pi, 0.06 * math.pi)
    assert slave.get("x", "y") == pytest.approx([1.8, 0.0], abs=1e-6)
    counts = slave.statistics()
    assert counts["rejections"] < 0.1 * counts["steps"]


def long_bounces():
    """The bouncing mass without the limit that a short experiment sets to steps."""
    return dataclasses.replace(bouncing_mass(), stop_time=60.0)


@pytest.mark.slow
def test_rattling_keeps_its_step_sizes(library):
    """Each bounce begins with the step that was right for the one before: 46 evaluations, and 52 without that."""
    slave = library(long_bounces).slave(tolerance=1e-6).start()
    slave.advance(20.0, 0.1)
    counts = slave.statistics()
    assert counts["events"] >= 40
    assert counts["evaluations"] < 1950


@pytest.mark.slow
def test_the_implicit_method_is_of_order_five(library):
    """At a tenth of the tolerance the work grows by 10^(1/5) = 1.58, and the error shrinks with the tolerance."""
    steps = []
    for tolerance in (1e-6, 1e-7, 1e-8, 1e-9):
        slave = library(oscillator, solver="implicit").slave(tolerance=tolerance).start()
        slave.advance(20.0, 20.0)
        steps.append(slave.statistics()["steps"])
    growth = (steps[-1] / steps[0]) ** (1 / 3)
    assert 1.45 < growth < 1.75


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=3)
@pytest.mark.parametrize("model", [point_pendulum, everything, bouncing_mass, stepped_force])
def test_implicit_steps_project_and_locate_events(library, model):
    slave = library(model, solver="implicit").slave(tolerance=1e-9).start()
    explicit = library(model).slave(tolerance=1e-10).start()
    names = [name for name in slave.names if name[0] in "xw"]
    np.testing.assert_allclose(trajectory(slave, 2.0, 0.25, names), trajectory(explicit, 2.0, 0.25, names), atol=2e-6)
    if model is point_pendulum:
        x, y, vx, vy = slave.get("x0", "x1", "x2", "x3")
        assert abs(math.hypot(x, y) - 1) < 1e-14
        assert abs(x * vx + y * vy) < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_converge_with_their_order(library, solver):
    errors = []
    for length in (0.1, 0.05):
        slave = library(oscillator, solver=solver, fixed_step=length).slave().start()
        slave.advance(2.0, 0.2)
        errors.append(abs(slave.get("s") - 0.1 * math.cos(4.0)))
        assert slave.statistics()["steps"] == round(2.0 / length)
    assert errors[1] < 1e-6
    assert 2**4.3 < errors[0] / errors[1] < 2**6.5


@pytest.mark.slow
def test_fixed_steps_take_events_as_they_come(library):
    slave = library(stepped_force, fixed_step=0.01).slave().start()
    slave.advance(1.0, 0.1)
    assert slave.get("x1") == pytest.approx(0.7, abs=0.011)
    slave = library(point_pendulum, fixed_step=0.01).slave().start()
    slave.advance(3.0, 0.1)
    assert math.hypot(*slave.get("x0", "x1")) == pytest.approx(1, abs=1e-13)
