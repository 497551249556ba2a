"""Fits to data that were made with known parameters."""

from __future__ import annotations

import json

import casadi as ca
import numpy as np
import pytest
import scipy.optimize
from mechanisms import CartPole, Suspension, TwoSprings

import mbfmu
from mbfmu import cli
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Parameter, State
from mbfmu.modeling import types as t

TRUE = {"strut.c": 20000.0, "strut.d": 1500.0, "body.m": 300.0}
ELSEWHERE = {"strut.c": 14000.0, "strut.d": 900.0, "body.m": 380.0}
LOAD = {"load": ([0.0, 0.1, 0.2, 5.0], [0.0, 800.0, 800.0, 0.0])}


@pytest.fixture(scope="module")
def suspension():
    return mbfmu.System.of(Suspension())


@pytest.fixture(scope="module")
def measured(suspension):
    return mbfmu.simulate(
        suspension, 2.0, interval=0.02, tolerance=1e-9, inputs=LOAD, outputs=["body.s", "wheel.s", "load"]
    )


def noisy(measured, random):
    data = {"time": measured.time, "load": measured["load"]}
    for name, noise in (("body.s", 1e-3), ("wheel.s", 1e-4)):
        data[name] = measured[name] + random.normal(0.0, noise, measured.time.size)
    return data


@pytest.mark.slow
@pytest.mark.campaign
def test_intervals_hold_what_made_the_data(suspension, measured):
    random = np.random.default_rng(1)
    hits = np.zeros(3)
    for _ in range(40):
        found = mbfmu.fit(suspension, noisy(measured, random), list(TRUE))
        hits += [low <= true <= high for true, (low, high) in zip(TRUE.values(), found.intervals, strict=True)]
    assert (hits >= 34).all()  # 95 % are 38; 3 in 1000 series would have less than 34
    assert (hits < 40).any()


@pytest.mark.slow
def test_a_fit_from_elsewhere(suspension, measured):
    data = noisy(measured, np.random.default_rng(2))
    near = mbfmu.fit(suspension, data, list(TRUE))
    far = mbfmu.fit(suspension, data, list(TRUE), start_values=ELSEWHERE)
    np.testing.assert_allclose(far.values, near.values, rtol=1e-5)
    assert far.deviations["body.s"] == pytest.approx(1e-3, rel=0.3)
    assert far.deviations["wheel.s"] == pytest.approx(1e-4, rel=0.3)
    assert not far.unidentifiable
    assert len(far.plot().axes) == 4


def test_what_the_data_cannot_tell_is_named(suspension, measured):
    # without a load, motion from a start knows ratios only: all masses, springs and dampers may be scaled together
    free = mbfmu.simulate(
        suspension, 2.0, interval=0.02, tolerance=1e-9, start_values={"body.s": 0.1}, outputs=["body.s"]
    )
    names = ["body.m", "wheel.m", "strut.c", "strut.d", "tyre.c", "tyre.d"]
    found = mbfmu.fit(suspension, {"time": free.time, "body.s": free["body.s"]}, names, start_values={"body.s": 0.1})
    assert found.unidentifiable == (tuple(names),)
    assert np.isnan(found.errors).all()


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize(
    ("d", "names", "pair"),
    [
        (1.0, ["one.c", "two.c", "one.d"], ("one.c", "two.c")),  # springs in parallel: their sum
        (0.0, ["body.m", "two.c"], ("body.m", "two.c")),  # a frequency: their ratio
        (0.0, ["body.m", "two.c", "body.s"], ("body.m", "two.c")),
    ],
)
def test_a_pair_that_the_data_cannot_tell_apart_is_named_as_a_pair(noise, d, names, pair):
    # the second spring alone carries the mass where it is about a ratio
    system = mbfmu.System.of(TwoSprings(c=(100.0 if d else 0.0, 300.0), d=d))
    run = mbfmu.simulate(system, interval=0.01, tolerance=1e-9, outputs=["body.s"])
    series = run["body.s"] + noise * np.random.default_rng(4).normal(size=run.time.size)
    found = mbfmu.fit(system, {"time": run.time, "body.s": series}, names)
    assert found.unidentifiable == (pair,)
    lost = [name in pair for name in names]
    np.testing.assert_array_equal(np.isnan(found.errors), lost)
    np.testing.assert_array_equal(np.isnan(found.intervals), np.column_stack([lost, lost]))


class Growth(Component):
    """x' = k, with a rate that is at most 1."""

    k = Parameter(t.Real, 1.0, "Rate", min=0, max=1)
    x = State(t.Real, "What grows", start=0.0, fixed=True)

    def equations(self):
        self.require(ca.fmin(self.k, 1 - self.k), "the rate is not between 0 and 1")
        self.der.x = self.k


@pytest.mark.slow
@pytest.mark.parametrize("begin", [1.0, 0.0])
def test_a_search_begins_at_a_bound_and_does_not_look_behind_it(begin):
    """No value there can be run; its slope is that of the side where some can."""

    class Grows(Assembly):
        def __init__(self):
            self.own = Growth()

    times = np.linspace(0, 1, 11)
    data = {"time": times, "own.x": 0.8 * times}
    found = mbfmu.fit(Grows(), data, ["own.k"], start_values={"own.k": begin})
    assert found["own.k"] == pytest.approx(0.8, rel=1e-6)
    inside = mbfmu.fit(Grows(), data, {"own.k": (0.0, 0.5)}, start_values={"own.k": begin})  # it begins at the next one
    assert inside["own.k"] == pytest.approx(0.5, rel=1e-6)


@pytest.mark.slow
def test_start_values_bounds_gaps_and_several_experiments(suspension):
    experiments = []
    for s, v in ((0.1, 0.0), (0.0, 0.4)):
        run = mbfmu.simulate(
            suspension, 1.0, interval=0.02, tolerance=1e-9, start_values={"body.s": 0.1, "body.v": v + s}
        )
        series = run["body.s"].copy()
        series[7] = np.nan
        experiments.append(mbfmu.Experiment({"time": run.time, "body.s": series}, start_values={"body.v": v + s}))
    found = mbfmu.fit(suspension, experiments, {"body.s": (-1.0, 1.0), "strut.d": (1600.0, 3000.0)})
    assert found.at_bounds == ("strut.d",)
    assert found["strut.d"] == pytest.approx(1600.0)
    found = mbfmu.fit(
        suspension, experiments, {"body.s": (-1.0, 1.0), "strut.d": None}, start_values={"strut.d": 700.0}
    )
    assert found["body.s"] == pytest.approx(0.1, rel=1e-5)
    assert found["strut.d"] == pytest.approx(1500.0, rel=1e-5)


@pytest.mark.parametrize(
    ("data", "parameters", "message"),
    [
        ({"time": [0.0, 1.0, 2.0], "body.t": [0.0] * 3}, ["strut.c"], "there is no variable 'body.t'"),
        ({"time": [0.0, 1.0, 2.0], "body.s": [0.0] * 3}, ["strut.k"], "there is no variable 'strut.k'"),
        ({"time": [0.0, 1.0, 2.0], "load": [0.0] * 3}, ["strut.c"], "no series of a variable to compare with"),
        ({"time": [0.0, 1.0], "body.s": [0.0] * 2}, list(TRUE), "2 measured values cannot determine 3 parameters"),
        ({"time": [0.0, 1.0, 2.0], "body.s": [0.0] * 3}, {"strut.c": (2, 1)}, "the bounds of 'strut.c' leave no room"),
        (
            {"time": [0.0, 1.0, 2.0], "body.s": [0.0] * 3, "wheel.s": [np.nan] * 3},
            ["strut.c"],
            r"'wheel.s' has gaps \(NaN\) only among the data; leave this column out",
        ),
        ({"time": [0.0, 1.0], "body.s": [np.nan] * 2}, ["strut.c"], r"no series .*'body.s' has gaps \(NaN\) only"),
        ({"time": [-0.2, -0.1, 1.0], "body.s": [np.nan, 0.0, 0.0]}, ["strut.c"], "is measured at -0.1 s, before"),
        ({"time": [0.0, 1.0, 2.0], "body.s": [0.0, np.inf, 0.0]}, ["strut.c"], "'body.s' is inf at 1 s in row 2"),
        ({"time": [0.0, np.nan, 2.0], "body.s": [0.0] * 3}, ["strut.c"], "'body.s' is 0 at nan s in row 2"),
        ({"time": [0.0, 1.0, 2.0], "body.s": [0.0, 1e300, 0.0]}, ["strut.c"], r"'body.s' reaches 1e\+300 among"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_mistakes_are_named(suspension, data, parameters, message):
    with pytest.raises(ModelError, match=message):
        mbfmu.fit(suspension, data, parameters)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_gaps_cost_only_themselves_also_where_a_column_has_nothing_else():
    """A mass on a spring swings as s0 cos(w t): the estimate is that of SciPy from the formula."""
    mass, begin, true = 3.0, 0.1, 330.0
    system = mbfmu.System.of(TwoSprings(m=mass, c=(0.0, 300.0), d=0.0))
    times, random = np.linspace(0.0, 2.0, 101), np.random.default_rng(5)

    def position(t, c):
        return begin * np.cos(np.sqrt(c / mass) * t)

    experiments, kept = [], []
    for number in range(2):
        measured = position(times, true) + random.normal(0.0, 1e-3, times.size)
        measured[10 : 40 - 20 * number] = np.nan
        speed = np.full(times.size, np.nan) if number else -begin * np.sqrt(true / mass) * np.sin(
            np.sqrt(true / mass) * times)  # fmt: skip
        experiments.append({"time": times, "body.s": measured, "body.v": speed})
        kept.append(np.isfinite(measured))
    with_speeds = mbfmu.fit(system, experiments, {"two.c": (100.0, 600.0)})
    assert with_speeds["two.c"] == pytest.approx(true, rel=1e-6)  # speeds are exact, and weigh as they do
    for one in experiments:
        del one["body.v"]
    found = mbfmu.fit(system, experiments, {"two.c": (100.0, 600.0)})
    series = np.concatenate([one["body.s"][k] for one, k in zip(experiments, kept, strict=True)])
    at = np.concatenate([times[k] for k in kept])
    expected, covariance = scipy.optimize.curve_fit(position, at, series, p0=[320.0])
    assert found["two.c"] == pytest.approx(expected[0], rel=1e-7)
    assert found.errors[0] == pytest.approx(np.sqrt(covariance[0, 0]), rel=1e-3)


@pytest.mark.slow
def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cart.py").write_text((__import__("pathlib").Path(__file__).parent / "mechanisms.py").read_text())
    run = mbfmu.simulate(
        CartPole(m=0.8), 1.0, interval=0.02, start_values={"hinge.phi": 0.5}, outputs=["slide.s", "hinge.phi"]
    )
    run.to_csv("data.csv")
    arguments = ["fit", "cart.py:CartPole", "data.csv", "-p", "bob.m=0.1:2", "-p", "cart.m=2", "-p", "hinge.phi=0.5"]
    assert cli.main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["parameters"]
    assert list(found) == ["bob.m"]
    assert found["bob.m"]["value"] == pytest.approx(0.8, rel=1e-4)
    assert cli.main([*arguments, "--plot", "fit.png"]) == 0
    assert (tmp_path / "fit.png").is_file()
