"""Explicit, implicit and fixed steps: one trajectory, at very different cost."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from hand_made_models import bouncing_mass, oscillator, point_pendulum, stepped_force, variable
from native_driver import Library
from native_models import everything, stiff_drive
from scipy.integrate import solve_ivp

from mbfmu.runtime import run


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Return a function that builds a model with options of integration, or finds it built."""
    known = {}

    def get(model, **options):
        key = (model, *options.items())
        if key not in known:
            made = model()
            equations, records = made if isinstance(made, tuple) else (made, None)
            if records is None:
                records = [variable(f"{s}{i}", s, i) for s in "xwy" for i in range(getattr(equations, f"n{s}"))]
                records += [variable(f"p{i}", "P", i) for i in range(equations.npar)]
            equations = dataclasses.replace(equations, **options)
            known[key] = Library.build(equations, records, tmp_path_factory.mktemp("library"))
        return known[key]

    return get


def statistics(slave):
    """Numbers of the log line at the end: steps, rejections, events, evaluations, implicit steps, Jacobians."""
    slave.fmi.terminate()
    return dict(
        zip(
            ("steps", "rejected", "events", "evaluations", "implicit", "jacobians"),
            map(int, re.findall(r"\d+", slave.messages(0)[-1])),
            strict=True,
        )
    )


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


def test_a_stiff_drive_is_the_same_by_every_method_and_a_hundred_times_cheaper_implicitly(build):
    times = np.arange(1, 21) * 0.25
    expected = stiff_oracle(times)
    counts = {}
    for solver in ("explicit", "implicit", "auto"):
        slave = build(stiff_drive, solver=solver).slave(tolerance=1e-7, logging=True).start()
        found = trajectory(slave, 5.0, 0.25, NAMES)
        # The small rotor's speed follows the shaft within microseconds: it is compared beside the large one's.
        np.testing.assert_allclose(found, expected, atol=1e-5)
        counts[solver] = statistics(slave)
    assert counts["explicit"]["implicit"] == 0
    assert counts["explicit"]["evaluations"] > 100 * counts["implicit"]["evaluations"]
    assert counts["implicit"]["implicit"] == counts["implicit"]["steps"]
    assert counts["auto"]["implicit"] > 0.5 * counts["auto"]["steps"]
    assert counts["auto"]["evaluations"] < 2 * counts["implicit"]["evaluations"]
    assert counts["implicit"]["events"] >= 1


def test_the_python_runtime_finds_out_too():
    model = stiff_drive()
    records = [variable(name, "x", i) for i, name in enumerate(NAMES)]
    result = run(model, records, stop_time=1.0, interval=0.25, tolerance=1e-7)
    found = np.array([result[name] for name in NAMES]).T[1:]
    np.testing.assert_allclose(found, stiff_oracle(result.time[1:]), atol=1e-5)


def test_models_that_are_not_stiff_stay_explicit(build):
    for model in (oscillator, bouncing_mass, point_pendulum, everything):
        slave = build(model).slave(tolerance=1e-6, logging=True).start()
        slave.advance(4.0, 0.1)
        assert statistics(slave)["implicit"] == 0, model.__name__


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_implicit_steps_keep_the_tolerance_between_steps_too(build, tolerance):
    slave = build(oscillator, solver="implicit").slave(tolerance=tolerance, logging=True).start()
    found = trajectory(slave, 3.0, 0.01, ["s"])
    np.testing.assert_allclose(found, 0.1 * np.cos(2 * np.arange(1, 301) / 100), atol=20 * tolerance)
    assert statistics(slave)["steps"] < 300


def test_the_implicit_method_is_of_order_five(build):
    """At a tenth of the tolerance the work grows by 10^(1/5) = 1.58, and the error shrinks with the tolerance."""
    steps = []
    for tolerance in (1e-6, 1e-7, 1e-8, 1e-9):
        slave = build(oscillator, solver="implicit").slave(tolerance=tolerance, logging=True).start()
        slave.advance(20.0, 20.0)
        steps.append(statistics(slave)["steps"])
    growth = (steps[-1] / steps[0]) ** (1 / 3)
    assert 1.45 < growth < 1.75


@pytest.mark.parametrize("model", [point_pendulum, everything, bouncing_mass, stepped_force])
def test_implicit_steps_project_and_locate_events(build, library, model):
    slave = build(model, solver="implicit").slave(tolerance=1e-9, logging=True).start()
    explicit = library(model).slave(tolerance=1e-10).start()
    names = [name for name in slave._references if name[0] in "xw"]
    np.testing.assert_allclose(trajectory(slave, 2.0, 0.25, names), trajectory(explicit, 2.0, 0.25, names), atol=2e-6)
    if model is point_pendulum:
        x, y, vx, vy = slave.get("x0", "x1", "x2", "x3")
        assert abs(math.hypot(x, y) - 1) < 1e-14
        assert abs(x * vx + y * vy) < 1e-13


def test_saved_states_of_implicit_steps_continue_bit_by_bit(build):
    slave = build(stiff_drive).slave(tolerance=1e-6).start()
    slave.advance(0.5, 0.05)
    state = slave.fmi.getFMUstate()
    first = trajectory(slave, 0.5, 0.05, NAMES)
    slave.fmi.setFMUstate(state)
    slave.time = 0.5
    assert np.array_equal(trajectory(slave, 0.5, 0.05, NAMES), first)


@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_converge_with_their_order(build, solver):
    errors = []
    for length in (0.1, 0.05):
        slave = build(oscillator, solver=solver, fixed_step=length).slave(logging=True).start()
        slave.advance(2.0, 0.2)
        errors.append(abs(slave.get("s") - 0.1 * math.cos(4.0)))
        assert statistics(slave)["steps"] == round(2.0 / length)
    assert errors[1] < 1e-6
    assert 2**4.3 < errors[0] / errors[1] < 2**6.5


def test_fixed_steps_take_events_as_they_come(build):
    slave = build(stepped_force, fixed_step=0.01).slave().start()
    slave.advance(1.0, 0.1)
    assert slave.get("x1") == pytest.approx(0.7, abs=0.011)
    slave = build(point_pendulum, fixed_step=0.01).slave().start()
    slave.advance(3.0, 0.1)
    assert math.hypot(*slave.get("x0", "x1")) == pytest.approx(1, abs=1e-13)
