"""Time series by name."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest

from mbfmu.errors import ModelError
from mbfmu.extras import MissingExtra
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


def test_csv_has_a_column_for_each_element(vectors, tmp_path):
    lines = vectors.to_csv(tmp_path / "motion.csv", ["body.T", "part.r[2]"]).read_text().splitlines()
    names = [*(f"body.T[{i},{j}]" for i in (1, 2, 3) for j in (1, 2)), "part.r[2]"]
    assert next(csv.reader(lines)) == ["time", *names]
    assert lines[1] == "0.0,11.0,12.0,21.0,22.0,31.0,32.0,0.0"


def test_plot_has_an_axis_per_unit(result, tmp_path):
    figure = result.plot()
    assert [axis.get_ylabel() for axis in figure.axes] == ["rad", "rad/s", "1"]
    np.testing.assert_array_equal(figure.axes[1].lines[0].get_ydata(), result["revolute1.w"])
    assert [line.get_label() for line in result.plot("revolute1.phi").axes[0].lines] == ["revolute1.phi"]


@pytest.fixture
def vectors():
    time = np.linspace(0.0, 1.0, 4)
    series = {f"body.r[{i}]": i * time for i in (1, 2, 3)}
    series |= {f"body.T[{i},{j}]": 10 * i + j + 0 * time for j in (1, 2) for i in (1, 2, 3)}
    series |= {"time": time, "part.r[2]": time}
    arrays = {"body.r": [f"body.r[{i}]" for i in (1, 2, 3)], "part.r": ["part.r[1]", "part.r[2]"]}
    arrays["body.T"] = [[f"body.T[{i},{j}]" for j in (1, 2)] for i in (1, 2, 3)]
    wholes = {name: np.array(elements) for name, elements in arrays.items()}
    return Result("Body", time, series, {"body.r[1]": "m"}, ["body.r[1]"], arrays=wholes)


def test_vectors_and_matrices_by_name(vectors):
    np.testing.assert_array_equal(vectors["body.r"], np.outer(vectors.time, [1, 2, 3]))
    np.testing.assert_array_equal(vectors["body.T"][0], [[11, 12], [21, 22], [31, 32]])
    with pytest.raises(KeyError, match=r"part\.r"):
        vectors["part.r"]  # its first element was not recorded


def test_patterns(vectors):
    assert vectors.select("body.r[?]", "part.*").names == ("body.r[1]", "body.r[2]", "body.r[3]", "part.r[2]")
    assert vectors.select("*.r").names == ("body.r[1]", "body.r[2]", "body.r[3]", "part.r[2]")
    np.testing.assert_array_equal(vectors.select("body.T", "part.*")["body.T"], vectors["body.T"])
    assert [line.get_label() for axis in vectors.plot("body.r").axes for line in axis.lines] == [
        "body.r[1]", "body.r[2]", "body.r[3]"
    ]  # fmt: skip
    with pytest.raises(KeyError, match="no variable 'wheel"):
        vectors.select("wheel.*")


@pytest.mark.slow
def test_tables_of_others_and_files(vectors, tmp_path):
    frame, dataset = vectors.to_pandas(), vectors.to_xarray()
    np.testing.assert_array_equal(frame["body.r[2]"].to_numpy(), vectors["body.r[2]"])
    assert frame.index.name == "time"
    assert dataset["body.r[1]"].attrs["units"] == "m"
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    again = pandas.read_parquet(vectors.save(tmp_path / "motion.parquet"))
    np.testing.assert_array_equal(again["body.r[3]"].to_numpy(), vectors["body.r[3]"])
    with xarray.open_dataset(vectors.save(tmp_path / "motion.nc")) as read:
        np.testing.assert_array_equal(read["body.r[3]"], vectors["body.r[3]"])
    with pytest.raises(ModelError, match=r"written as .csv, .mat, .parquet or .nc; choose motion.csv"):
        vectors.save(tmp_path / "motion.xls")
    with pytest.raises(ModelError, match=r"written as .csv, .mat, .parquet or .nc"):
        vectors.save(tmp_path / "motion", ".xls")
    assert not list(tmp_path.glob("*.xls"))
    assert vectors.save(tmp_path / "motion.part", ".csv").read_text("utf-8").startswith("time")


def test_a_missing_extra_is_named_with_its_command(vectors, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pandas, which is not installed: python -m pip install 'mbfmu\[tables\]'"):
        vectors.to_pandas()


@pytest.mark.slow
def test_what_is_shown_is_short():
    many = {f"x{i}": np.zeros(3) for i in range(2049)}
    result = Result("Many", np.arange(3.0), many, outputs=["x7"])
    assert len(result._repr_html_()) < 2000
    assert [line.get_label() for line in result.plot().axes[0].lines] == ["x7"]
    assert len(Result("Many", np.arange(3.0), many).plot().axes[0].lines) == 12


def test_a_legend_hides_no_curve(result):
    figure = result.plot()
    figure.canvas.draw()
    for axis in figure.axes:
        assert axis.get_legend().get_window_extent().x0 > axis.get_window_extent().x1


@pytest.mark.slow
def test_notebooks_show_a_plot(result) -> None:
    assert result.plot()._repr_png_().startswith(b"\x89PNG")
