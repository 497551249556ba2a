"""Fits to data that were made with known parameters."""

from __future__ import annotations

import dataclasses
import json
import types

import casadi as ca
import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from mechanisms import CartPole, Suspension, TwoSprings

import mbfmu
from mbfmu import cli
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Parameter, State
from mbfmu.modeling import types as t
from mbfmu.studies.fit import _judged, _Problem

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


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"parameters": []}, r"name at least one parameter to fit"),
        ({"parameters": {}}, r"name at least one parameter to fit"),
        ({"data": []}, r"there are no data; give measured series"),
        ({"confidence": 0.0}, r"confidence = 0\.0: give a probability between 0 and 1, as 0\.95"),
        ({"confidence": 1.0}, r"confidence = 1\.0: give a probability"),
        (
            {"parameters": {"strut.c": (1.0, 2.0, 3.0)}},
            r"the bounds of 'strut\.c' = \(1\.0, 2\.0, 3\.0\): give the least",
        ),
        ({"parameters": {"strut.c": (np.nan, 2.0)}}, r"the bounds of 'strut\.c' = \(nan, 2\.0\): give the least"),
        ({"parameters": {"strut.c": (2.0, 2.0)}}, r"the bounds of 'strut\.c' leave no room: 2 \.\. 2"),
        ({"data": {"time": [0.0, 0.0], "body.s": [0.0, 1.0]}}, r"the data have one instant only"),
        (
            {"data": {"time": [0.0, 1.0, 2.0], "body.s": [0.0] * 3, "load": [0.0] * 3}, "inputs": LOAD},
            r"inputs are amo",
        ),
        ({"data": {"time": [0.0, 1.0, 2.0], "tyre.c": [0.0] * 3}}, r"'tyre\.c' among the data does not follow from"),
        ({"parameters": ["wheel.m"], "type": "Boolean"}, r"'wheel\.m' is Boolean; only Reals can be fitted"),
    ],
)
def test_what_cannot_be_fitted_is_refused(suspension, given, message):
    data = {"time": [0.0, 1.0, 2.0], "body.s": [0.0] * 3}
    options = {"data": data, "parameters": ["strut.c"], **given}
    kind = options.pop("type", "Real")
    variables = [dataclasses.replace(v, type=kind) if v.name == "wheel.m" else v for v in suspension.variables]
    system = dataclasses.replace(suspension, variables=tuple(variables))
    with pytest.raises(ModelError, match=rf"^{suspension.name}: {message}"):
        mbfmu.fit(system, **options)


class Formula:
    """An experiment whose series are formulas of the parameters."""

    def __init__(self, formulas, **values):
        self.formulas, self.values, self.names, self.asked = formulas, values, list(values), []
        self.at = {name: np.arange(len(one)) for name, one in values.items()}

    def calculated(self, x):
        self.asked.append(x)
        return {name: np.asarray(self.formulas(x)[name], dtype=float) for name in self.names}, ""


def problem_of(experiments, scale, low=-np.inf, high=np.inf):
    n = len(scale)
    return _Problem(experiments, np.array(scale), np.full(n, low), np.full(n, high), 1)


def judged(problem, values, weights, confidence=0.9):
    unknowns = [types.SimpleNamespace(name=f"p{k}", unit=None) for k in range(len(values))]
    system = types.SimpleNamespace(name="S", variables=unknowns)
    return _judged(system, problem, unknowns, np.array(values), weights, list(weights), confidence, "done")


@pytest.mark.parametrize(
    ("x", "low", "high"), [((2.0, -3.0), -9.0, 9.0), ((2.0, -3.0), -3.0, 2.0)], ids=["inside", "at bounds"]
)
def test_slopes_are_of_second_order_also_at_bounds(x, low, high):
    """Exact of quadratics: to both sides, and at a bound by two steps to the other side."""

    def formulas(x):
        return {"a": [x[0] ** 2 + 3 * x[1], x[0] * x[1]], "b": [2 * x[1] ** 2 - x[0]]}

    def other(x):
        return {"b": [5 * x[0] ** 2]}

    experiments = [Formula(formulas, a=np.array([1.0, 2.0]), b=np.array([4.0])), Formula(other, b=np.array([-1.0]))]
    problem = problem_of(experiments, [1.0, 1.0], low, high)
    weights = {"a": 2.0, "b": 0.5}
    left = problem.residuals(np.array(x), weights)
    assert left == pytest.approx([2 * (4 - 9 - 1), 2 * (-6 - 2), 0.5 * (18 - 2 - 4), 0.5 * (20 + 1)])
    wanted = [[2 * 2 * 2.0, 2 * 3], [2 * -3.0, 2 * 2.0], [-0.5, 0.5 * 4 * -3.0], [0.5 * 10 * 2.0, 0.0]]
    np.testing.assert_allclose(problem.jacobian(np.array(x), weights), wanted, rtol=1e-7, atol=1e-7)
    assert problem.rows("b").tolist() == [False, False, True, True]
    assert problem.evaluations == 2 + 2 * 5
    asked = np.array(experiments[0].asked)
    assert low <= asked.min() < asked.max() <= high


def test_a_line_has_the_intervals_of_textbooks():
    """y = p0 + p1 t: errors, their correlation and Student's quantile of n - 2 values."""
    times = np.array([0.0, 1.0, 2.5, 4.0, 7.0])
    y = 1.0 + 0.5 * times + np.array([0.1, -0.2, 0.15, 0.05, -0.1])
    slope, base, _, _, slope_error = found = scipy.stats.linregress(times, y)
    problem = problem_of([Formula(lambda x: {"y": x[0] + x[1] * times}, y=y)], [1.0, 1.0])
    fit = judged(problem, [base, slope], {"y": 3.0})
    assert fit.errors == pytest.approx([found.intercept_stderr, slope_error], rel=1e-6)
    quantile = scipy.stats.t.ppf(0.95, 3)
    np.testing.assert_allclose(fit.intervals[1], slope + quantile * slope_error * np.array([-1, 1]), rtol=1e-6)
    assert fit.correlations[0, 1] == pytest.approx(-times.mean() / np.sqrt((times**2).mean()), rel=1e-6)
    left = y - base - slope * times
    assert fit.deviations["y"] == pytest.approx(np.sqrt(left @ left / 3), rel=1e-6)
    assert (fit.unidentifiable, fit.at_bounds) == ((), ())


def test_each_signal_has_an_error_and_freedoms_of_its_own():
    """Means of five and of three values: standard errors and quantiles are those of each by itself."""
    a, b = np.array([1.0, 2.0, 4.0, 3.0, 2.5]), np.array([100.0, 140.0, 90.0])
    problem = problem_of([Formula(lambda x: {"a": np.full(5, x[0]), "b": np.full(3, x[1])}, a=a, b=b)], [1.0, 100.0])
    spread = {"a": np.std(a, ddof=1), "b": np.std(b, ddof=1)}
    fit = judged(problem, [a.mean(), b.mean()], {name: 1 / size for name, size in spread.items()}, 0.95)
    assert fit.deviations == pytest.approx(spread)
    errors = np.array([spread["a"] / np.sqrt(5), spread["b"] / np.sqrt(3)])
    assert fit.errors == pytest.approx(errors)
    widths = scipy.stats.t.ppf(0.975, [4, 2]) * errors
    np.testing.assert_allclose(np.diff(fit.intervals)[:, 0], 2 * widths, rtol=1e-9)


@pytest.mark.parametrize(
    ("noise", "angle", "pair"),
    [(0.1, 0.03, True), (0.1, 0.06, False), (1e-3, 0.03, False)],
    ids=["vague and alike", "less alike", "exact"],
)
def test_vague_estimates_that_are_nearly_alike_are_named_together(noise, angle, pair):
    """Beside them, what the data tell well; errors of theirs are known still."""
    times = np.linspace(0.0, 2 * np.pi, 41)[:-1]
    shapes = np.array([np.cos(times), np.cos(times) * np.cos(angle) + np.sin(times) * np.sin(angle), np.ones(40)]).T
    y = shapes @ [1.0, 1.0, 4.0] + noise * np.where(np.arange(40) % 2, 1.0, -1.0)
    problem = problem_of([Formula(lambda x: {"y": shapes @ x}, y=y)], [1.0, 1.0, 4.0])
    fit = judged(problem, [1.0, 1.0, 4.0], {"y": 1 / noise})
    assert fit.unidentifiable == ((("p0", "p1"),) if pair else ())
    assert fit.errors[:2] == pytest.approx(noise * np.sqrt(40 / 37 / 20) / np.sin(angle), rel=1e-4)
    assert fit.correlations[0, 1] == pytest.approx(-np.cos(angle), rel=1e-6)


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
