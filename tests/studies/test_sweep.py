"""Many runs: the same as one by one, whatever the threads, through every file, and after an interruption."""

from __future__ import annotations

import csv
import json
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
import scipy.stats
from mechanisms import CartPole

import mbfmu
from mbfmu import cli
from mbfmu.errors import ModelError, SimulationError
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.runtime import batch
from mbfmu.runtime.batch import part_of
from mbfmu.runtime.compiled import code_of
from mbfmu.runtime.lanes import most
from mbfmu.runtime.run import model_of
from mbfmu.studies import design, reductions, store, variants


@pytest.fixture(scope="module")
def pendulum():
    return mbfmu.System.of(DoublePendulum())


KEPT = ["revolute1.phi:trajectory", "revolute1.phi:final", "revolute2.w:absmax", "revolute1.phi:crossing=-1"]
VALUES = {"revolute1.phi": [-0.4, 0.3], "damper.d": "0.1,-1,2"}


def test_every_run_is_what_simulate_gives(pendulum):
    found = mbfmu.sweep(pendulum, VALUES, KEPT, 1.0, interval=0.01)
    assert len(found) == 6
    assert list(found.messages) == [1, 4]
    assert "'damper.d' cannot be set to -1.0: its smallest value is 0" in found.messages[1]
    for row in (0, 2, 3, 5):
        settings = {name: found[name][row] for name in VALUES}
        one = mbfmu.simulate(
            pendulum, 1.0, interval=0.01, start_values=settings, outputs=["revolute1.phi", "revolute2.w"]
        )
        np.testing.assert_array_equal(found["revolute1.phi:trajectory"][row], one["revolute1.phi"])
    assert found.units["revolute1.phi:crossing=-1"] == "s"
    assert np.isnan(found["revolute1.phi:final"][[1, 4]]).all()
    with pytest.raises(ModelError, match=r"write revolute1.phi:trajectory"):
        mbfmu.sweep(pendulum, VALUES, ["revolute1.phi"])
    assert one["revolute1.phi"][-1] == found["revolute1.phi:final"][5]
    assert np.abs(one["revolute2.w"]).max() == found["revolute2.w:absmax"][5]


def test_equations_of_a_sweep_can_be_compiled(pendulum, monkeypatch):
    compiled = []
    monkeypatch.setattr(batch, "seconds_to_compile", lambda *_: 0.0)
    monkeypatch.setattr(batch, "compile_functions", lambda model, lanes: compiled.append(code_of(model)))
    mbfmu.sweep(pendulum, {"damper.d": [0.1]}, ["revolute1.phi:final"], 0.1, threads=1)
    assert compiled == [code_of(model_of(pendulum.equations, pendulum.variables))]
    assert "dynamics" in compiled[0]


@pytest.mark.slow
def test_results_do_not_depend_on_threads_or_files(pendulum, tmp_path):
    values = {"revolute2.phi": "linspace:-1:1:70", "damper.d": [0.0, -1.0]}
    kept = ["revolute1.phi:final", "revolute1.w:rms"]
    one = mbfmu.sweep(pendulum, values, kept, 0.5, threads=1)
    for options in ({"threads": 3}, *({"path": tmp_path / f"sweep{suffix}"} for suffix in store.SUFFIXES)):
        other = mbfmu.sweep(pendulum, values, kept, 0.5, **options)
        assert set(other.columns) == set(one.columns)
        for name, column in one.columns.items():
            np.testing.assert_array_equal(other[name], column)
    assert len(one.to_pandas()) == 140
    assert one.to_xarray()["revolute1.w:rms"].attrs["units"] == "rad/s"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".parquet", ".zarr"])
def test_whole_trajectories_are_kept_in_files(pendulum, tmp_path, suffix):
    """More runs than a part holds, one of which fails."""
    kept, values = ["revolute1.phi:trajectory", "revolute1.phi:final"], {"damper.d": [*np.linspace(0, 1, 70), -1.0]}
    one = mbfmu.sweep(pendulum, values, kept, 0.1, interval=0.02)
    mbfmu.sweep(pendulum, values, kept, 0.1, interval=0.02, path=tmp_path / f"sweep{suffix}")
    other = mbfmu.Sweep.load(tmp_path / f"sweep{suffix}")
    assert other["revolute1.phi:trajectory"].shape == (71, 6)
    np.testing.assert_array_equal(other["revolute1.phi:trajectory"], one["revolute1.phi:trajectory"])
    np.testing.assert_array_equal(other["revolute1.phi:final"], one["revolute1.phi:trajectory"][:, -1])
    np.testing.assert_allclose(other.times, np.linspace(0, 0.1, 6))
    assert list(other.messages) == [70]


def test_an_interrupted_sweep_goes_on(pendulum, tmp_path, monkeypatch):
    values, kept, path = {"damper.d": np.linspace(0, 1, 90)}, ["revolute1.phi:final"], tmp_path / "sweep.csv"
    whole = mbfmu.sweep(pendulum, values, kept, 0.2)

    class Stop(Exception):
        pass

    def stop(done, total):
        if done > total / 2:
            raise Stop

    with pytest.raises(Stop):
        mbfmu.sweep(pendulum, values, kept, 0.2, path=path, threads=1, progress=stop)
    finished = len(list((tmp_path / "sweep.csv.parts").glob("*.npz")))
    parts = -(-90 // part_of(90, 64, 1, most()))
    assert finished >= parts / 2
    with pytest.raises(ModelError, match="parts of another sweep"):
        mbfmu.sweep(pendulum, values, ["revolute1.w:final"], 0.2, path=path)
    written = []
    write = store.Parts.write
    monkeypatch.setattr(
        store.Parts, "write", lambda self, number, part: (written.append(number), write(self, number, part))
    )
    again = mbfmu.sweep(pendulum, values, kept, 0.2, path=path)
    assert len(written) == parts - finished
    np.testing.assert_array_equal(again["revolute1.phi:final"], whole["revolute1.phi:final"])
    assert not (tmp_path / "sweep.csv.parts").exists()


def test_two_sweeps_into_one_file_do_not_meet(pendulum, tmp_path):
    values, kept, path = {"damper.d": np.linspace(0, 1, 20)}, ["revolute1.phi:final"], tmp_path / "sweep.csv"
    refused = []

    def second(done, total):
        with pytest.raises(ModelError, match=r"sweep\.csv: another sweep is writing to this file; wait for its end"):
            mbfmu.sweep(pendulum, values, kept, 0.1, path=path)
        refused.append(done)

    first = mbfmu.sweep(pendulum, values, kept, 0.1, path=path, progress=second)
    assert refused
    assert [entry.name for entry in tmp_path.iterdir()] == ["sweep.csv"]
    again = mbfmu.sweep(pendulum, values, kept, 0.1, path=path)
    np.testing.assert_array_equal(again[kept[0]], first[kept[0]])


@pytest.mark.slow
def test_a_sweep_goes_on_after_one_that_was_killed(pendulum, tmp_path):
    """The system takes the file's lock back from a process that ends in whatever way."""
    program = """
import os, sys, numpy as np, mbfmu
from mbfmu.fmus.double_pendulum import DoublePendulum
pendulum = mbfmu.System.of(DoublePendulum())
kill = lambda done, total: os._exit(9)
values = {"damper.d": np.linspace(0, 1, 20)}
mbfmu.sweep(pendulum, values, ["revolute1.phi:final"], 0.1, path=sys.argv[1], progress=kill)
"""
    path = tmp_path / "sweep.csv"
    assert subprocess.run([sys.executable, "-c", program, str(path)], check=False).returncode == 9
    assert (tmp_path / "sweep.csv.parts" / "lock").exists()
    found = mbfmu.sweep(pendulum, {"damper.d": np.linspace(0, 1, 20)}, ["revolute1.phi:final"], 0.1, path=path)
    assert len(found) == 20
    assert not (tmp_path / "sweep.csv.parts").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_xarray_opens_zarr(pendulum, tmp_path):
    xarray = pytest.importorskip("xarray")
    path, values = tmp_path / "sweep.zarr", {"damper.d": [0.1, 0.2, -1.0]}
    for _ in range(2):  # the second replaces the first
        found = mbfmu.sweep(pendulum, values, ["revolute1.phi", "revolute1.w:max"], 0.2, interval=0.1, path=path)
    opened = xarray.open_zarr(path)
    assert opened["revolute1.phi"].dims == ("run", "time")
    assert opened["revolute1.w:max"].dims == ("run",)
    assert opened["revolute1.w:max"].attrs["units"] == "rad/s"
    np.testing.assert_array_equal(opened["time"], [0.0, 0.1, 0.2])
    np.testing.assert_array_equal(opened["damper.d"], values["damper.d"])
    np.testing.assert_array_equal(opened["revolute1.phi"], found["revolute1.phi"])
    assert mbfmu.Sweep.load(path).messages == found.messages
    assert [entry.name for entry in tmp_path.iterdir()] == ["sweep.zarr"]


def test_runs_that_fail_are_rows_with_messages():
    # a massless bob leaves the hinge's acceleration open
    found = mbfmu.sweep(CartPole(), {"bob.m": [0.5, 0.0, 1.0]}, ["hinge.phi:final"], 0.1)
    assert list(found.messages) == [1]
    assert "singular" in found.messages[1]
    assert np.isfinite(found["hinge.phi:final"][[0, 2]]).all()


def test_inputs_and_given_values(pendulum):
    cart = mbfmu.System.of(CartPole())
    drive = {"force": ([0.0, 0.3, 1.0], [0.0, 2.0, -1.0])}
    found = mbfmu.sweep(
        cart, {"cart.m": [1.0, 2.0]}, ["slide.s"], 1.0, interval=0.1, inputs=drive, start_values={"slide.v": 0.5}
    )
    one = mbfmu.simulate(cart, 1.0, interval=0.1, inputs=drive, start_values={"slide.v": 0.5, "cart.m": 2.0})
    np.testing.assert_array_equal(found["slide.s"][1], one["slide.s"])
    with pytest.raises(ModelError, match="'force' is given twice"):
        mbfmu.sweep(cart, {"force": [1.0]}, ["slide.s:final"], inputs=drive)


def test_designs():
    grid = design.design({"a": [1, 2], "b": "0.1,0.2,0.3"})
    np.testing.assert_array_equal(grid.values(2, 5), [[1, 0.3], [2, 0.1], [2, 0.2]])
    assert len(design.design({"a": "linspace:0:1:1000000", "b": "linspace:0:1:1000000"})) == 10**12
    sampled = design.design({"a": [1, 2], "b": scipy.stats.norm(5, 2), "c": "uniform:3:4"}, 64)
    rows = sampled.values(0, len(sampled))
    assert len(sampled) == 128
    assert abs(rows[:, 1].mean() - 5) < 0.1
    assert ((rows[:, 2] > 3) & (rows[:, 2] < 4)).all()
    latin = design.design({"a": "uniform:0:1"}, 10, "latin", 3).values(0, 10)[:, 0]
    np.testing.assert_array_equal(np.sort(np.floor(latin * 10)), np.arange(10))
    with pytest.raises(ModelError, match="say how many samples"):
        design.design({"a": "normal:0:1"})
    with pytest.raises(ModelError, match="-p a=many: write values as"):
        design.design({"a": "many"})


def test_grids_take_samples_together_and_run_fastest_along_the_last_axis():
    """Samples are the slowest, and rows of them stay together; columns are in the order that is given."""
    given = {"a": [1, 2], "b": "normal:5:2", "c": "0.1,0.2,0.3", "d": "uniform:3:4"}
    found = design.design(given, 2, "random", 7)
    assert (found.names, len(found)) == (("a", "b", "c", "d"), 12)
    rows = found.values(0, 12)
    np.testing.assert_array_equal(rows[:, [0, 2]], [(a, c) for _ in range(2) for a in (1, 2) for c in (0.1, 0.2, 0.3)])
    unit = np.random.default_rng(7).random((2, 2))
    np.testing.assert_allclose(rows[::6, 1], scipy.stats.norm.ppf(unit[:, 0], 5, 2))
    np.testing.assert_allclose(rows[::6, 3], 3 + unit[:, 1])
    assert (np.diff(rows[:, [1, 3]], axis=0).any(axis=1)).tolist() == [k == 5 for k in range(11)]
    np.testing.assert_array_equal(found.values(4, 9), rows[4:9])
    other = design.design(given, 2, "random", 8)
    assert found.digest() == design.design(given, 2, "random", 7).digest() != other.digest()
    assert design.design({"a": [1, 2]}).digest() != design.design({"b": [1, 2]}).digest()
    assert len(design.design({"a": "uniform:0:1"}, 1)) == 1
    assert len(design.design({"a": "uniform:0:1"}, 3)) == 3


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("0.5", [0.5]),
        ("3,-1", [3, -1]),
        ("linspace:2:4:3", [2, 3, 4]),
        ("linspace:4:2:1", [4]),
        ("logspace:1:100:3", [1, 10, 100]),
        ("logspace:-1:-100:3", [-1, -10, -100]),
    ],
)
def test_values_of_texts(text, values):
    np.testing.assert_allclose(design.parse("a", text), values)


@pytest.mark.parametrize(
    ("text", "support", "mean", "deviation"),
    [
        ("uniform:3:7", (3, 7), 5, 4 / np.sqrt(12)),
        ("loguniform:2:8", (2, 8), 6 / np.log(4), None),
        ("normal:5:2", (-np.inf, np.inf), 5, 2),
        ("triangular:1:2:5", (1, 5), 8 / 3, np.sqrt((1 + 4 + 25 - 2 - 5 - 10) / 18)),
    ],
)
def test_distributions_of_texts(text, support, mean, deviation):
    found = design.parse("a", text)
    assert found.support() == pytest.approx(support)
    assert found.mean() == pytest.approx(mean)
    assert deviation is None or found.std() == pytest.approx(deviation)


@pytest.mark.parametrize(
    "text",
    ["", "1,", "linspace:0:1", "linspace:0:1:0", "linspace:0:1:2.5", "logspace:0:1:3", "logspace:-1:1:3", "uniform:2:2",
     "uniform:3:2", "loguniform:0:1", "normal:0:0", "normal:0:-1", "normal:nan:1", "uniform:0:inf", "triangular:1:6:5",
     "uniform", "uniform:1:2:3", "gamma:1:2"],
)  # fmt: skip
def test_texts_that_are_no_values_are_refused(text):
    with pytest.raises(ModelError, match=rf"^-p a={text}: write values as 0\.1,0\.2,0\.5, linspace:FIRST"):
        design.parse("a", text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({"a": []},), r"^'a' has no values$"),
        (({"a": [[1, 2], [3, 4]]},), r"^'a' has values of the shape \(2, 2\); give one number for each run"),
        (({"a": [1, np.inf]},), r"^'a' has the value inf; give finite numbers"),
        (({"a": scipy.stats.cauchy()}, 4, "sobl"), r'^the sampling "sobl" is unknown; there are sobol, latin, random'),
        (({"a": [1]}, 4), r"^samples are drawn from distributions, such as uniform:1:2; here are lists only"),
        (({"a": "uniform:0:1"}, 10**8 + 1), r"^samples = 100000001: more than 1e\+08 are more values than memory"),
        (({"a": "linspace:0:1:100000001"},), r"^linspace:0:1:1e\+08 has more values than memory holds; choose fewer"),
    ],
)
def test_designs_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ModelError, match=message):
        design.design(*arguments)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "the table of runs is empty; give a column per parameter"),
        ({"a": []}, "the table of runs is empty; give a column per parameter"),
        ({"a": [1, 2], "b": [1, 2, 3]}, "the columns of the table of runs differ in length"),
        ({"a": [1, np.nan]}, "'a' has the value nan; give finite numbers"),
    ],
)
def test_tables_of_runs_that_are_none_are_refused(columns, message):
    with pytest.raises(ModelError, match=f"^{message}"):
        design.table(columns)


def test_values_that_shape_a_model_are_combined_once():
    """Of a grid each with each, of samples as they were drawn; whatever the order in which columns are asked for."""
    rows = np.array([[7.0, 1.5], [8.0, 2.5], [7.0, 1.5], [7.0, 3.5]])
    found = design.Design(("a", "b", "c", "d"), ((3, np.array([4.0, 5.0, 4.0])), (1, np.array([6.0]))), (2, 0), rows)
    assert len(found) == 12
    known = variants.combinations(found, [3, 0, 1])
    assert known == [(x, 6.0, y) for y in (4.0, 5.0) for x in (1.5, 2.5, 3.5)]
    assert variants.combinations(found, {2, 0}) == [(1.5, 7.0), (2.5, 8.0), (3.5, 7.0)]
    assert variants.combinations(found, []) == [()]
    values = found.values(0, 12)[:, [0, 1, 3]]
    places = variants.numbered(known, values)
    np.testing.assert_array_equal(np.array(known)[places], values)


def test_numbers_become_what_a_parameter_is():
    """By the model's variable, and where there is none by the default of the argument."""
    recipe = variants.Recipe(lambda given: None, {"n": 3, "on": True, "m": 0.5})
    kinds = {"k": "Integer", "flag": "Boolean", "x": "Real"}
    names = [types.SimpleNamespace(name=name, type=type_, store="P") for name, type_ in kinds.items()]
    system = types.SimpleNamespace(variables=names)
    for name, value, wanted in (
        ("n", 4.0, 4), ("n", 4.5, 4.5), ("on", 1.0, True), ("on", 0.0, False), ("m", 2.0, 2.0), ("k", 2.0, 2),
        ("flag", 1.0, True), ("x", 3.0, 3.0), ("other", 1.0, 1.0),
    ):  # fmt: skip
        found = recipe.typed(system, name, value)
        assert (found, type(found)) == (wanted, type(wanted)), name
    for name in ("on", "flag"):
        with pytest.raises(ModelError, match=rf"^'{name}' cannot be 0\.5: it is true \(1\) or false \(0\)"):
            recipe.typed(system, name, 0.5)
    assert recipe.typed(None, "k", 2.0) == 2.0
    assert [recipe.shaping(None, name) for name in ("n", "k")] == [True, False]
    names += [
        types.SimpleNamespace(name=name, store=store, structural=structural)
        for name, store, structural in (("n", "P", False), ("s", "constant", True), ("c", "constant", False))
    ]
    assert [recipe.shaping(system, name) for name in ("n", "s", "c", "on")] == [False, True, False, True]


def test_parts_of_runs():
    assert list(design.chunks(0, 3)) == []
    assert list(design.chunks(6, 3)) == [(0, 3), (3, 6)]
    assert list(design.chunks(7, 3)) == [(0, 3), (3, 6), (6, 7)]
    assert design.table({"a": [1, 2], "b": [3, 4]}).values(1, 2).tolist() == [[2, 4]]


def test_reductions_of_unequal_steps():
    """Means are integrals of straight lines: (-1 * 1 - 0.5 * 3) / 4, and of squares (5 * 1 + 6.5 * 3) / 4."""
    times, rows = np.array([2.0, 3.0, 6.0]), np.array([[1.0, -3.0, 2.0], [0.0, 0.0, 0.5]])
    known = {
        "initial": 1.0, "final": 2.0, "min": -3.0, "max": 2.0, "absmax": 3.0, "mean": -0.625, "rms": np.sqrt(6.125)
    }  # fmt: skip
    assert set(known) == set(reductions.REDUCTIONS)
    for what, value in known.items():
        kept = reductions.parse(f"x:{what}")
        assert kept.reduce(times, rows)[0] == pytest.approx(value), what
        assert (kept.label, kept.name, kept.is_time) == (f"x:{what}", "x", False)
    assert reductions.parse("x:crossing=1").is_time
    assert [reductions.parse(text).reduce for text in ("x", "x:trajectory")] == [None, None]


@pytest.mark.parametrize(
    ("row", "level", "instant"),
    [
        ([0.0, 1.0, 3.0, 9.0], 0.5, 1.5),
        ([4.0, 2.0, -2.0, 9.0], 0.0, 3.0),
        ([0.0, 0.0, 2.0, -2.0], 1.5, 3.5),
        ([3.0, 1.0, 1.0, 0.0], 1.0, 2.0),
        ([3.0, 3.0, 3.0, 1.0], 1.0, 8.0),
        ([1.0, 2.0, 0.0, 1.0], 1.0, 1.0),
        ([-1.0, -1.0, -2.0, 3.0], 2.0, 4 + 4 * 4 / 5),
        ([0.0, 1.0, 2.0, 3.0], 3.5, np.nan),
        ([2.0, 2.0, 2.0, 2.0], 1.0, np.nan),
        ([0.0, np.nan, np.nan, np.nan], 1.0, np.nan),
    ],
    ids=["up", "down", "late", "touches", "at the end", "at once", "last", "below", "stays", "failed"],
)
def test_the_first_instant_at_which_a_level_is_passed(row, level, instant):
    """Between recorded instants along a straight line, in a row of several."""
    times, rows = np.array([1.0, 2.0, 4.0, 8.0]), np.array([[7.0, 8.0, 9.0, 10.0], row])
    found = reductions.parse(f"x:crossing={level}").reduce(times, rows)
    np.testing.assert_allclose(found, [np.nan, instant])


def test_reductions():
    times = np.linspace(0.0, 2 * np.pi, 2001)
    rows = np.stack([np.sin(times), 0 * times + 2])
    value = {text: reductions.parse(f"x:{text}").reduce(times, rows) for text in ("rms", "max", "mean", "crossing=0.5")}
    np.testing.assert_allclose(value["rms"], [np.sqrt(0.5), 2], rtol=1e-6)
    np.testing.assert_allclose(value["mean"], [0, 2], atol=1e-6)
    assert value["crossing=0.5"][0] == pytest.approx(np.pi / 6, abs=1e-6)  # of straight lines between points
    assert np.isnan(value["crossing=0.5"][1])
    with pytest.raises(ModelError, match="no reduction 'last'; there are trajectory, initial, final"):
        reductions.parse("x:last")


@pytest.mark.parametrize("level", ["", "=", "=nan", "=inf", "=-inf", "=x"])
def test_a_crossing_has_a_level(pendulum, level):
    with pytest.raises(ModelError, match=r"-y revolute1\.phi:crossing.*is no finite number; write crossing=LEVEL"):
        mbfmu.sweep(pendulum, {"damper.d": [0.1]}, [f"revolute1.phi:crossing{level}"], 0.1)


@pytest.mark.slow
def test_parameters_that_shape_the_model_make_it_anew(monkeypatch):
    made = []
    of = mbfmu.System.of
    monkeypatch.setattr(mbfmu.System, "of", lambda assembly, **given: made.append(assembly) or of(assembly, **given))
    values = {"length": [0.5, 0.7, 0.9], "cart.m": [1.0, 2.0], "M": [3.0]}
    found = mbfmu.sweep(CartPole, values, ["hinge.phi:final"], 0.5, start_values={"hinge.phi": 0.3})
    assert len(made) == 4  # as it is by default, and once for each length
    assert found.parameters == ("length", "cart.m", "M")
    for row in range(6):
        one = mbfmu.simulate(
            CartPole(length=found["length"][row]), 0.5, start_values={"hinge.phi": 0.3, "cart.m": found["cart.m"][row]}
        )
        assert found["hinge.phi:final"][row] == one["hinge.phi"][-1]

    def cart(wheels=4):
        if wheels > 4:
            raise ModelError("a cart has at most 4 wheels")
        assert isinstance(wheels, int)
        return CartPole(M=1.0 + 0.1 * wheels)

    carts = mbfmu.sweep(cart, {"wheels": [2, 5, 4]}, ["slide.s:final"], 0.1)
    assert carts.messages == {1: "a cart has at most 4 wheels"}
    assert np.isfinite(carts["slide.s:final"][[0, 2]]).all()
    rods = mbfmu.sweep(DoublePendulum, {"revolute1.n[3]": [1.0, -1.0]}, ["revolute1.phi:final"], 0.3)
    np.testing.assert_allclose(rods["revolute1.phi:final"][0], -rods["revolute1.phi:final"][1], rtol=1e-6)


def test_simulate_many(pendulum):
    runs = [{"revolute1.phi": phi, "damper.d": 0.1} for phi in (0.1, 0.2)] + [{"revolute1.phi": 0.3, "damper.d": -1.0}]
    first, _, last = mbfmu.simulate_many(pendulum, runs, 0.5)
    np.testing.assert_array_equal(
        first["revolute2.phi"], mbfmu.simulate(pendulum, 0.5, start_values=runs[0])["revolute2.phi"]
    )
    assert isinstance(last, SimulationError)


@pytest.mark.slow
def test_fmus_of_other_tools_run_in_sweeps(pendulum, tmp_path):
    file = mbfmu.build(DoublePendulum(), tmp_path / "pendulum.fmu", equations="interpreted")
    values, kept = {"damper.d": [0.1, 0.5]}, ["revolute1.phi:final"]
    ours = mbfmu.sweep(pendulum, values, kept, 0.5)
    np.testing.assert_allclose(mbfmu.sweep(file, values, kept, 0.5)[kept[0]], ours[kept[0]], rtol=1e-6)


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["sweep", "double_pendulum", "-p", "boxBody1.density=linspace:1000:9000:3", "-p", "damper.d=0.1,0.2"]
    arguments += ["-y", "revolute1.phi:final", "-y", "revolute2.w:max", "--stop", "0.5"]
    assert cli.main([*arguments, "-o", "sweep.csv"]) == 0
    assert "6 runs, 0 failed" in capsys.readouterr().out
    with open("sweep.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["boxBody1.density"]) for row in rows] == [1000, 1000, 5000, 5000, 9000, 9000]
    assert cli.main([*arguments, "--json"]) == 0
    columns = json.loads(capsys.readouterr().out)["columns"]
    assert columns["revolute1.phi:final"] == [float(row["revolute1.phi:final"]) for row in rows]
    assert cli.main(["sweep", "double_pendulum", "-y", "revolute1.phi"]) == 2
    assert "say what varies" in capsys.readouterr().err
    (tmp_path / "cart.py").write_text((pathlib.Path(__file__).parent / "mechanisms.py").read_text())
    shaped = ["-p", "length=0.5,0.7", "-p", "cart.m=1,2", "-y", "hinge.phi:final", "--stop", "0.1", "--json"]
    assert cli.main(["sweep", "cart.py:CartPole", *shaped]) == 0
    assert json.loads(capsys.readouterr().out)["columns"]["length"] == [0.5, 0.5, 0.7, 0.7]
