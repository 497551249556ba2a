"""What studies say of themselves: texts, tables and pictures; and parts of them that need no model."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import numpy as np
import pytest

from mbfmu import Sweep
from mbfmu.errors import ModelError
from mbfmu.studies import design as designs
from mbfmu.studies.equilibrium import Equilibrium
from mbfmu.studies.fit import Fit
from mbfmu.studies.linearize import LinearModel, errors_of, modes_of
from mbfmu.studies.variants import Recipe, combinations


def cells(text: str) -> list[list[str]]:
    """Rows of a table in HTML."""
    return [re.findall(r"<t[dh]>(.*?)</t[dh]>", row) for row in re.findall("<tr>(.*?)</tr>", text)]


# -- linear models


def linear(A: Any) -> LinearModel:
    """A model with a matrix, whose one input drives the last state, at 1.5 s."""
    n = len(A)
    A = np.array(A, dtype=float).reshape(n, n)
    names = tuple(f"x<{k}>" for k in range(n))
    return LinearModel(
        "a<b", A, np.eye(n)[:, -1:], np.zeros((0, n)), np.zeros((0, 1)), names, ("u",), (), {}, 1.5, np.zeros(n),
        np.zeros(1), np.zeros(0), np.zeros(n),
    )  # fmt: skip


@pytest.mark.slow
def test_a_linear_model_shows_its_modes() -> None:
    """Of s^2 + 6 s + 25 = (s + 3)^2 + 4^2: 5/s is 5 / 2 pi Hz, and 3 / 5 the damping ratio."""
    model = linear([[0, 1], [-25, -6]])
    assert repr(model) == "LinearModel('a<b' at 1.5 s, 2 states, 1 inputs, 0 outputs)"
    shown = model._repr_html_()
    assert cells(shown) == [
        ["eigenvalue in 1/s", "frequency in Hz", "damping ratio"],
        ["-3 + 4i", "0.79577", "0.6"],
        ["-3 - 4i", "0.79577", "0.6"],
    ]
    assert re.sub("<.*?>", " ", shown).startswith("  a&lt;b  at 1.5 s  states: x&lt;0&gt;, x&lt;1&gt;  inputs: u ")
    assert "<div>outputs: none</div>" in shown


@pytest.mark.slow
def test_eigenvalues_are_drawn_in_their_plane() -> None:
    (axis,) = linear([[0, 1], [-25, -6]]).plot().axes
    (points,) = axis.collections
    assert np.asarray(points.get_offsets()) == pytest.approx(np.array([[-3, 4], [-3, -4]]))
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("real part in 1/s", "imaginary part in 1/s")
    assert axis.get_title() == "a<b: eigenvalues"
    assert [line.get_xdata() for line in axis.lines] == [[0.0, 0.0]]


def test_a_model_without_states_has_no_modes() -> None:
    values, shapes = modes_of(np.empty((0, 0)))
    assert (values.shape, values.dtype, shapes.shape, shapes.dtype) == ((0,), complex, (0, 0), complex)
    assert errors_of(np.empty((0, 0))).shape == (0,)
    assert linear([]).shown_modes() == []


@pytest.mark.parametrize("value", [0.0, 2.0, -1e3])
def test_eigenvalues_that_are_defective_may_be_off_by_the_root_of_rounding(value: float) -> None:
    """One that moves by the root of a change of its matrix: of l = 1e-16 in a corner by 1e-8, as far as doubles go."""
    A = np.array([[value, 1.0], [0.0, value]])
    moved = A.copy()
    moved[1, 0] = np.finfo(float).eps
    off = np.abs(np.linalg.eigvals(moved) - value).max()
    assert off == pytest.approx(np.sqrt(np.finfo(float).eps), rel=1e-6 * max(1.0, abs(value)))
    errors = errors_of(A)
    assert (off <= errors).all()
    assert (errors < 1e-6 * max(1.0, abs(value))).all()


def test_a_chain_of_integrators_has_no_inverse_of_its_vectors() -> None:
    """All three are (1, 0, 0) but for what underflows."""
    errors = errors_of(np.eye(3, k=1))
    assert (errors > np.sqrt(np.finfo(float).eps)).all()
    assert (errors < 1e-5).all()
    assert linear(np.eye(3, k=1)).rounded_eigenvalues.tolist() == [0.0, 0.0, 0.0]


def test_linear_models_are_written_in_two_formats_only(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"m\.csv: a linear model is written as \.json or \.mat; choose m\.json"):
        linear([[1]]).save(tmp_path / "m.csv")
    assert not list(tmp_path.iterdir())


# -- rests and fits


def test_a_rest_shows_where_it_is() -> None:
    nothing = np.zeros(0)
    start = {"a<1>": 0.25, "b": 1e-17, **{f"c{k}": 1.0 for k in range(40)}}
    rest = Equilibrium(
        "a<b", nothing, nothing, nothing, nothing, 0.0, "stable", (), nothing, {}, {"a<1>": "rad", "b": "rad"}, start, 1
    )
    assert repr(rest) == "Equilibrium('a<b', stable, 42 start values)"
    shown = rest._repr_html_()
    assert shown.startswith("<div><b>a&lt;b</b>: stable</div>")
    assert cells(shown)[:3] == [["a&lt;1&gt;", "0.25", "rad"], ["b", "0", "rad"], ["c0", "1", ""]]
    assert len(cells(shown)) == 30


def test_a_fit_shows_estimates_and_intervals() -> None:
    fit = Fit(
        "a<b", ("m<1>", "c"), np.array([1.25, 1e4]), np.array([0.1, 1.0]), np.array([[1.0, 1.5], [9e3, 1.1e4]]),
        np.eye(2), 0.9, (), (), {}, {"m<1>": "kg"}, (), 3, "",
    )  # fmt: skip
    assert repr(fit) == "Fit('a<b', m<1>=1.25, c=10000)"
    assert cells(fit._repr_html_()) == [
        ["parameter", "estimate", "90% interval", "unit"],
        ["m&lt;1&gt;", "1.25", "1 .. 1.5", "kg"],
        ["c", "10000", "9000 .. 11000", ""],
    ]
    assert fit._repr_html_().startswith("<div><b>a&lt;b</b></div>")


# -- sweeps


def swept(**columns: Any) -> Sweep:
    columns["message"] = np.full(len(next(iter(columns.values()))), "", dtype=object)
    return Sweep("a<b", ("k",), columns, np.array([0.0, 0.5, 1.0]), {"y": "m", "k": "N/m"})


def test_a_sweep_shows_numbers_and_how_many_values_series_have() -> None:
    sweep = swept(k=np.arange(1.0, 11.0), y=np.ones((10, 3)))
    rows = cells(sweep._repr_html_())
    assert rows[:2] == [["k", "y", "message"], ["1", "3 values", ""]]
    assert len(rows) == 1 + 8
    assert "Sweep(&#x27;a&lt;b&#x27;, 10 runs, 0 failed, 2 columns)" in sweep._repr_html_()


@pytest.mark.slow
def test_series_of_a_sweep_are_drawn_over_time_a_hundred_at_most() -> None:
    sweep = swept(k=np.arange(250.0), y=np.arange(250.0)[:, None] * [0.0, 1.0, 2.0])
    (axis,) = sweep.plot("y").axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("time in s", "y in m")
    assert len(axis.lines) == 125
    assert axis.lines[3].get_xdata().tolist() == [0.0, 0.5, 1.0]
    assert axis.lines[3].get_ydata().tolist() == [0.0, 6.0, 12.0]


@pytest.mark.parametrize("probability", [0.0, 1.0, -0.1])
def test_the_share_of_an_interval_is_between_0_and_1(probability: float) -> None:
    with pytest.raises(ModelError, match=f"probability {probability:g}: is between 0 and 1"):
        swept(k=np.ones(2), y=np.ones(2)).uncertainty(probability)


def test_sweeps_are_read_from_files_of_known_suffixes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "s.csv").write_text("k,y:max,message\n1,2.5,\n2,nan,fell\n", encoding="utf-8")
    sweep = Sweep.load(tmp_path / "s.csv")
    assert (sweep.model, sweep.parameters, len(sweep), sweep.times.size) == ("s", (), 2, 0)
    assert sweep["k"].tolist() == [1.0, 2.0]
    assert sweep.messages == {1: "fell"}
    (tmp_path / "s.txt").write_text("", encoding="utf-8")
    with pytest.raises(ModelError, match=r"s\.txt: sweeps are read from \.csv, \.parquet, \.zarr"):
        Sweep.load(tmp_path / "s.txt")


@pytest.mark.slow
def test_samples_that_are_random_are_those_of_the_distribution() -> None:
    """Of 4000 numbers between 1 and 3 the mean is 2 and the variance 1/3, each but for a few hundredths."""
    made = designs.design({"a": "uniform:1:3", "b": "uniform:1:3"}, 4000, "random", 5)
    drawn = made.samples
    assert drawn.shape == (4000, 2)
    assert drawn.min() >= 1
    assert drawn.max() <= 3
    assert drawn.mean(axis=0) == pytest.approx([2, 2], abs=0.05)
    assert drawn.var(axis=0) == pytest.approx([1 / 3, 1 / 3], abs=0.03)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0.0, abs=0.06)
    again, other = (designs.design({"a": "uniform:1:3"}, 5, "random", seed).samples for seed in (5, 6))
    assert not np.array_equal(again, other)
    assert np.array_equal(again, designs.design({"a": "uniform:1:3"}, 5, "random", 5).samples)


def test_values_that_are_combined_stand_once_each() -> None:
    made = designs.Design(
        ("a", "b", "c"), ((0, np.array([1.0, 2.0])),), (1, 2), np.array([[5.0, 8.0], [7.0, 8.0], [5.0, 9.0]])
    )
    assert combinations(made, {0, 1}) == [(1.0, 5.0), (1.0, 7.0), (2.0, 5.0), (2.0, 7.0)]
    assert combinations(made, {1, 2}) == [(5.0, 8.0), (7.0, 8.0), (5.0, 9.0)]
    assert combinations(made, {0}) == [(1.0,), (2.0,)]


def test_numbers_become_what_parameters_of_functions_are() -> None:
    recipe = Recipe.of(lambda flag=True, count=3, size=1.0: None)  # type: ignore[arg-type, misc, return-value]
    typed = [recipe.typed(None, name, value) for name, value in (("flag", 1.0), ("flag", 0.0), ("count", 4.0))]
    assert [repr(value) for value in typed] == ["True", "False", "4"]
    assert recipe.typed(None, "size", 4.0) == 4.0
    with pytest.raises(ModelError, match=r"'flag' cannot be 2: it is true \(1\) or false \(0\)"):
        recipe.typed(None, "flag", 2.0)
