"""What is nothing but rounding is shown as 0, and what is small is shown."""

from __future__ import annotations

import numpy as np
import pytest

from mbfmu.runtime.result import Result
from mbfmu.runtime.rounding import cleared, noise_of, noise_of_series
from mbfmu.studies.sweep import Sweep

TIME = np.linspace(0.0, 1.0, 11)
NOISE = 1.4e-17 * np.sin(9 * TIME)


def test_what_is_rounding_beside_its_unit() -> None:
    series = {"x": TIME, "y": NOISE, "leak": 1e-17 * TIME, "phi": 1e-17 * TIME}
    noise = noise_of_series(series, {"x": "m", "y": "m", "leak": "A", "phi": "rad"})
    assert not cleared(series["y"], noise["y"]).any()
    for name in ("x", "leak", "phi"):  # the others of another unit say nothing of it
        np.testing.assert_array_equal(cleared(series[name], noise[name]), series[name])


def test_what_does_not_change_hides_nothing_that_does() -> None:
    """A speed of 1e10 rad/s at which friction is smoothed, a shaft that begins to turn, one that does not."""
    series = {"w_small": np.full(11, 1e10), "w": 1e-3 * TIME, "still": 1e-19 * TIME}
    noise = noise_of_series(series, dict.fromkeys(series, "rad/s"))
    np.testing.assert_array_equal(cleared(series["w"], noise["w"]), series["w"])
    assert not cleared(series["still"], noise["still"]).any()


def test_what_does_not_change_counts_where_nothing_else_does() -> None:
    series = {"r[1]": np.ones(11), "r[3]": NOISE}
    assert not cleared(NOISE, noise_of_series(series, dict.fromkeys(series, "m"))["r[3]"]).any()


def test_without_units_each_stands_alone() -> None:
    """An FMU may say none: a pressure is beside a gap."""
    noise = noise_of({"p": 1e7, "gap": 1e-9}, {})
    assert cleared(1e-9, noise["gap"]) == 1e-9


@pytest.mark.filterwarnings("error")
def test_what_is_no_number_does_not_hide_the_others() -> None:
    noise = noise_of_series({"x": np.array([1.0, np.nan]), "y": np.array([np.inf, 2e-17])}, {"x": "m", "y": "m"})
    assert cleared([1.0, 2e-17], noise["y"]).tolist() == [1.0, 0.0]
    assert noise_of_series({"x": np.array([])}, {"x": "m"}) == {"x": 0.0}


def test_a_result_shows_it_everywhere_and_keeps_it() -> None:
    result = Result("M", TIME, {"x": TIME, "y": NOISE}, {"x": "m", "y": "m"})
    assert "e-1" not in result._repr_html_()
    lines = {line.get_label(): line.get_ydata() for axis in result.plot().axes for line in axis.lines}
    assert not np.any(lines["y"])
    np.testing.assert_array_equal(lines["x"], TIME)
    np.testing.assert_array_equal(result["y"], NOISE)


def test_a_sweep_shows_parameters_as_they_were_given() -> None:
    """However small beside each other; of its results what is rounding is 0."""
    columns = {"d": np.geomspace(1e-17, 1, 3), "x": np.array([1, 2, np.nan]), "y": np.array([1e-17, 2e-17, np.nan])}
    message = np.array(["", "", "failed"])
    sweep = Sweep("M", ("d",), {**columns, "message": message}, TIME, dict.fromkeys(columns, "m"))
    shown = sweep._repr_html_()
    assert "<td>1e-17</td><td>1</td><td>0</td>" in shown
    assert "2e-17" not in shown
