"""Trajectories against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_models import (
    GRAVITY,
    bouncing_mass,
    free_body,
    oscillator,
    point_pendulum,
    stepped_force,
    variable,
)

from mbfmu.runtime import METHODS, Instance, SimulationError, StepError, VariableError, run


@pytest.mark.parametrize("method", METHODS)
def test_oscillator_follows_the_cosine(method):
    equations, variables = oscillator()
    tolerance = 1e-7 if method == "Radau" else 1e-10
    result = run(equations, variables, stop_time=3.0, tolerance=tolerance, method=method)
    assert result.time.size == 501
    np.testing.assert_allclose(result["s"], 0.1 * np.cos(2 * result.time), atol=50 * tolerance)
    np.testing.assert_allclose(result["a"], -0.4 * np.cos(2 * result.time), atol=200 * tolerance)
    np.testing.assert_allclose(result["energy"], 0.04, atol=50 * tolerance)


def test_start_values_parameters_and_inputs_act_as_in_an_fmu():
    equations, variables = oscillator()
    result = run(equations, variables, stop_time=2.0, start_values={"m": 0.5, "s": 0.0, "v": 1.0, "F": 4.0})
    t = result.time
    np.testing.assert_allclose(result["omega"], 4.0, rtol=1e-15)
    expected = 0.5 * (1 - np.cos(4 * t)) + 0.25 * np.sin(4 * t)
    np.testing.assert_allclose(result["s"], expected, atol=1e-6)


def test_the_grid_ends_at_the_stop_time():
    equations, variables = oscillator()
    result = run(equations, variables, start_time=0.5, stop_time=1.25, interval=0.2, outputs=["s"])
    np.testing.assert_allclose(result.time, [0.5, 0.7, 0.9, 1.1, 1.25], rtol=1e-15)
    assert result.names == ("s",)
    np.testing.assert_allclose(result["s"], 0.1 * np.cos(2 * (result.time - 0.5)), atol=1e-7)


def test_progress_reaches_the_end():
    equations, variables = oscillator()
    seen: list[float] = []
    run(equations, variables, stop_time=1.0, interval=0.25, progress=seen.append)
    assert seen == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("sx", 1.0, "did you mean 's'"),
        ("axis", 2, "build the model anew"),
        ("label", "x", "constant"),
        ("omega", 1.0, "calculated by the model"),
        ("m", -1.0, "smallest value is 0"),
        ("m", float("nan"), "finite"),
        ("m", "heavy", "a number is expected"),
    ],
)
def test_wrong_start_values_are_refused_by_name(name, value, words):
    equations, variables = oscillator()
    with pytest.raises(VariableError, match=words) as caught:
        run(equations, variables, start_values={name: value})
    assert name in str(caught.value)


def test_a_failing_assertion_names_itself():
    equations, variables = oscillator()
    with pytest.raises(SimulationError, match="the mass must be positive"):
        run(equations, variables, start_values={"m": 0.0})


@pytest.mark.parametrize("tolerance", [0.0, 2.0, float("nan")])
def test_an_impossible_tolerance_is_refused(tolerance):
    equations, variables = oscillator()
    with pytest.raises(StepError, match="tolerance"):
        run(equations, variables, tolerance=tolerance)


def test_projection_keeps_the_rod_length_for_200_s():
    instance = Instance(point_pendulum(), tolerance=1e-6)
    instance.finish_initialisation()
    worst = 0.0
    for _ in range(2000):
        instance.do_step(0.1)
        x, y, vx, vy = instance.values("x")
        worst = max(worst, abs(x * x + y * y - 1.0), abs(x * vx + y * vy))
    assert worst < 1e-10


def test_the_constrained_pendulum_swings_as_the_angle_does():
    from scipy.integrate import solve_ivp

    instance = Instance(point_pendulum(), tolerance=1e-10)
    instance.finish_initialisation()
    angle = np.arctan2(0.6, 0.8)
    oracle = solve_ivp(lambda t, s: [s[1], -GRAVITY * np.sin(s[0])], (0, 10), [angle, 0], rtol=1e-12, atol=1e-12)
    instance.advance(10.0)
    x, y = instance.values("x")[:2]
    assert np.arctan2(x, -y) == pytest.approx(oracle.y[0, -1], abs=1e-8)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_a_bounce_on_a_spring_matches_its_phases(method):
    instance = Instance(bouncing_mass(), tolerance=1e-10, method=method)
    instance.finish_initialisation()
    omega, sag = np.sqrt(1000.0), GRAVITY / 1000.0
    touch, speed = np.sqrt(2 / GRAVITY), np.sqrt(2 * GRAVITY)
    # In contact the height is -sag + sag cos(omega t) - speed / omega sin(omega t); it lifts off where that is 0 again.
    contact = 2 * (np.pi - np.arctan2(speed / omega, sag)) / omega
    instance.advance(touch + contact / 2)
    tau = contact / 2
    expected = -sag + sag * np.cos(omega * tau) - speed / omega * np.sin(omega * tau)
    assert instance.get("x", 0) == pytest.approx(expected, abs=2e-9)
    period = 2 * touch + contact
    instance.advance(3 * period)
    assert instance.get("x", 0) == pytest.approx(1.0, abs=2e-8)
    assert instance.get("x", 1) == pytest.approx(0.0, abs=2e-7)


def test_a_step_in_time_is_met_exactly():
    equations = stepped_force()
    variables = (variable("s", "x", 0), variable("force", "y", 0))
    result = run(equations, variables, interval=0.1, tolerance=1e-6)
    late = np.clip(result.time - 0.3, 0.0, None)
    np.testing.assert_allclose(result["s"], late**2 / 2, atol=1e-14)
    np.testing.assert_array_equal(result["force"], result.time >= 0.3 - 1e-12)


def test_a_free_top_precesses_as_the_closed_form():
    """Euler's symmetric top: w turns about the axis of symmetry, the body about the constant angular momentum."""
    instance = Instance(free_body(), tolerance=1e-11)
    instance.finish_initialisation()
    end = 20.0
    for _ in range(40):
        instance.do_step(end / 40)
    state = instance.values("x")
    i1, i3, w1, w3 = 2.0, 3.0, 0.4, 1.5
    turn = (i3 - i1) / i1 * w3 * end
    np.testing.assert_allclose(state[4:], [w1 * np.cos(turn), w1 * np.sin(turn), w3], atol=1e-8)
    momentum = np.array([i1 * w1, 0.0, i3 * w3])
    size = np.linalg.norm(momentum)
    space, body = momentum / size * (size / i1) * end, -turn
    expected = _product(_rotation(space), _rotation(np.array([0.0, 0.0, body])))
    q = state[:4]
    assert abs(q @ expected) == pytest.approx(1.0, abs=1e-13)
    assert min(np.abs(q - expected).max(), np.abs(q + expected).max()) < 1e-8
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)


def _rotation(vector):
    angle = np.linalg.norm(vector)
    return np.append(np.sin(angle / 2) * vector / angle, np.cos(angle / 2))


def _product(a, b):
    return np.append(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), a[3] * b[3] - a[:3] @ b[:3])
