"""`run`: a grid, start values, named series."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_models import oscillator, stepped_force, variable

from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.runtime.run import run


def test_a_run_of_500_intervals_has_its_ends():
    equations, variables = oscillator()
    result = run(equations, variables, stop_time=3.0, tolerance=1e-10)
    assert result.time.size == 501
    np.testing.assert_allclose(result["s"], 0.1 * np.cos(2 * result.time), atol=2e-9)
    np.testing.assert_allclose(result["a"], -0.4 * np.cos(2 * result.time), atol=8e-9)
    np.testing.assert_allclose(result["energy"], 0.04, atol=2e-9)


def test_events_lie_on_the_grid_of_a_run():
    variables = (variable("s", "x", 0), variable("force", "y", 0))
    result = run(stepped_force(), variables, interval=0.1, tolerance=1e-6)
    late = np.clip(result.time - 0.3, 0.0, None)
    np.testing.assert_allclose(result["s"], late**2 / 2, atol=1e-14)
    np.testing.assert_array_equal(result["force"], result.time >= 0.3 - 1e-12)


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
    with pytest.raises(ModelError, match=words) as caught:
        run(equations, variables, start_values={name: value})
    assert name in str(caught.value)


def test_a_failing_assertion_names_itself():
    equations, variables = oscillator()
    with pytest.raises(InitializationError, match="the mass must be positive"):
        run(equations, variables, start_values={"m": 0.0})


@pytest.mark.parametrize("tolerance", [0.0, 2.0, float("nan")])
def test_an_impossible_tolerance_is_refused(tolerance):
    equations, variables = oscillator()
    with pytest.raises(SimulationError, match="tolerance"):
        run(equations, variables, tolerance=tolerance)
