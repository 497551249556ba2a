"""Time series by name."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from mbfmu.runtime.result import Result


@pytest.fixture
def result():
    time = np.linspace(0.0, 1.0, 5)
    series = {"revolute1.phi": time**2, "revolute1.w": 2 * time / 3, "body.frame_a.f[1]": 0 * time}
    return Result("Pendulum", time, series, {"revolute1.phi": "rad", "revolute1.w": "rad/s"})


def test_series_by_name(result):
    assert result.names == ("revolute1.phi", "revolute1.w", "body.frame_a.f[1]")
    np.testing.assert_array_equal(result["revolute1.phi"], result["time"] ** 2)
    assert list(result) == list(result.names)
    assert len(result) == 3
    assert set(result.to_dict()) == {"time", *result.names}
    assert "0 .. 1 s" in repr(result)


def test_an_unknown_name_shows_those_like_it(result):
    with pytest.raises(KeyError, match=r"no variable 'revolute.phi'; did you mean 'revolute1.phi'"):
        result["revolute.phi"]


def test_csv_gives_the_same_doubles_back(result, tmp_path):
    path = result.to_csv(tmp_path / "motion.csv", ["revolute1.w"])
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["time", "revolute1.w"]
    np.testing.assert_array_equal(np.array(rows[1:], dtype=float)[:, 1], result["revolute1.w"])


def test_plot_has_an_axis_per_unit(result, tmp_path):
    figure = result.plot()
    assert [axis.get_ylabel() for axis in figure.axes] == ["rad", "rad/s", "1"]
    np.testing.assert_array_equal(figure.axes[1].lines[0].get_ydata(), result["revolute1.w"])
    assert [line.get_label() for line in result.plot("revolute1.phi").axes[0].lines] == ["revolute1.phi"]
