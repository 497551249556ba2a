"""Parameters that make a mechanism move as it was measured."""

from __future__ import annotations

import dataclasses
import html
import itertools
import os
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy

from mbfmu.dynamics.system import System, system_of
from mbfmu.errors import ModelError, SimulationError, UnknownNameError
from mbfmu.export.provenance import Uncertainty, intervals_of
from mbfmu.runtime import arguments
from mbfmu.runtime.batch import Batch, in_order
from mbfmu.runtime.inputs import drive_of, read_csv, series_of
from mbfmu.runtime.run import Value, checked_tolerance, model_of, number_of, place
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.sources import resolved
from mbfmu.studies.operating import find_variables, plain_basis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbfmu.modeling.assembly import Assembly

#: Differences for sensitivities, relative to a parameter's size; where they are judged, steps that move the series by
#: so much of what they span, which is where rounding of runs and bending of curves weigh the same.
STEP, MOVE = 1e-4, 3e-3

#: Sensitivities that tell nothing: relative to the largest, and as the smallest part of one that others do not have.
DEAF, BLIND = 1e-6, 3e-4

#: What has at least this part of the effect, or of the relative change, of a direction that leaves no trace is in it.
SHARE = 0.05

#: Parameters whose correlation is beyond this and whose error is more than this part of them are named together, too.
ALIKE, VAGUE = 0.999, 0.5

#: Measured values are smaller: squares are summed.
LARGEST = 1e100

#: Relative tolerance of the runs where none is given: differences need smooth answers.
TOLERANCE = 1e-8


@dataclasses.dataclass(frozen=True)
class Experiment:
    """One measured run.

    `data` is a CSV file, a pandas DataFrame, or a mapping from names to arrays parallel to its entry `time`. Columns
    that are inputs of the model drive it, all others are compared. `inputs` and `start_values` are as for `simulate`.
    """

    data: Any
    inputs: Any = None
    start_values: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    interpolation: Literal["linear", "held"] = "linear"


@dataclasses.dataclass(frozen=True)
class Fit:
    """Estimates, how sure they are, and what the data cannot tell.

    `intervals` [parameters, 2] hold the true value with the probability `confidence`, as far as the model is right and
    errors of measurement are independent; NaN for a parameter that the data do not determine. `unidentifiable` names
    parameters (alone, or those that only a combination is known of).
    """

    model: str
    names: tuple[str, ...]
    values: np.ndarray
    errors: np.ndarray
    intervals: np.ndarray
    correlations: np.ndarray
    confidence: float
    unidentifiable: tuple[tuple[str, ...], ...]
    #: Parameters that ended at a bound.
    at_bounds: tuple[str, ...]
    #: Standard deviation of what is left, by signal.
    deviations: Mapping[str, float]
    units: Mapping[str, str]
    #: By experiment and signal: times, measured and calculated values.
    series: tuple[Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]], ...]
    evaluations: int
    message: str

    def __getitem__(self, name: str) -> float:
        from mbfmu.messages import unknown_variable

        if name not in self.names:
            raise UnknownNameError(unknown_variable(name, self.names))
        return float(self.values[self.names.index(name)])

    def to_dict(self) -> dict[str, Any]:
        """Everything in lists and numbers; NaN is None."""

        def numbers(array: np.ndarray) -> Any:
            return [numbers(a) if np.ndim(a) else None if np.isnan(a) else float(a) for a in array]

        return {
            "model": self.model,
            "parameters": {
                name: {"value": float(v), "error": numbers(np.array([e]))[0], "interval": numbers(i),
                       "unit": self.units.get(name)}
                for name, v, e, i in zip(self.names, self.values, self.errors, self.intervals, strict=True)
            },
            "confidence": self.confidence,
            "correlations": numbers(self.correlations),
            "unidentifiable": [list(group) for group in self.unidentifiable],
            "at_bounds": list(self.at_bounds),
            "deviations": dict(self.deviations),
            "evaluations": self.evaluations,
            "message": self.message,
        }  # fmt: skip

    def uncertainty(self) -> dict[str, Uncertainty]:
        """The intervals for `mbfmu.build(..., uncertainty=)`; parameters without one are left out."""
        found = {
            name: (float(value), float(low), float(high))
            for name, value, (low, high) in zip(self.names, self.values, self.intervals, strict=True)
        }
        return intervals_of(found, self.confidence)

    def plot(self) -> Figure:
        """Draw measured and calculated series, and what is left, for each signal of each experiment."""
        from mbfmu.runtime.plotting import Figure

        rows = [(number, name) for number, one in enumerate(self.series) for name in one]
        figure = Figure(figsize=(9.0, 0.6 + 2.2 * len(rows)), layout="constrained")
        axes: Any = figure.subplots(len(rows), 2, squeeze=False)
        for (left, right), (number, name) in zip(axes, rows, strict=True):
            times, measured, calculated = self.series[number][name]
            left.plot(times, measured, ".", markersize=2, label="measured")
            left.plot(times, calculated, label="calculated")
            left.set_ylabel(f"{name} in {self.units.get(name, '1')}")
            left.legend(fontsize="small")
            right.plot(times, measured - calculated, ".", markersize=2)
            right.set_ylabel("residual")
            for axis in (left, right):
                axis.grid(True, alpha=0.3)
                axis.set_xlabel("time in s")
        return figure

    def __repr__(self) -> str:
        listed = ", ".join(f"{n}={v:.6g}" for n, v in zip(self.names, self.values, strict=True))
        return f"Fit({self.model!r}, {listed})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(n)}</td><td>{v:.6g}</td><td>{low:.6g} .. {high:.6g}</td>"
            f"<td>{html.escape(self.units.get(n, ''))}</td></tr>"
            for n, v, (low, high) in zip(self.names, self.values, self.intervals, strict=True)
        )
        head = f"<tr><th>parameter</th><th>estimate</th><th>{self.confidence:.0%} interval</th><th>unit</th></tr>"
        return f"<div><b>{html.escape(self.model)}</b></div><table>{head}{rows}</table>"


def fit(
    assembly: Assembly | System | str | os.PathLike[str],
    data: Any,
    parameters: Sequence[str] | Mapping[str, Any],
    *,
    start_values: Mapping[str, Value] | None = None,
    inputs: Any = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    threads: int | None = None,
) -> Fit:
    """Estimate parameters and start values from measured series by least squares.

    Every signal is weighted by the deviation that is left of it, which two passes find. Sensitivities are central
    differences of runs on all cores.

    Args:
        assembly: An Assembly, the System that was made of one, or what the command line takes: a name of the gallery, a
            path.
        data: What `Experiment` takes as data, an Experiment, or a list of them.
        parameters: Names of parameters and start values, or a mapping from names to bounds (least, most); None for the
            bounds that are declared. The search begins at the model's values, or at the bound next to them.
        start_values: Other parameters and start values by variable name, and where the search begins.
        inputs: Inputs over time, for data that have none.
        tolerance: Of the runs; 1e-8 where None.
        confidence: Probability of the intervals.
        threads: How many; one per core where None.

    Raises:
        ModelError: A name is unknown, nothing is compared, there are fewer values than parameters, or bounds leave no
            room.
        SimulationError: The model does not run with the values at which the search begins.
    """
    system = system_of(resolved(assembly))
    given = data if isinstance(data, list | tuple) else [data]
    experiments = [one if isinstance(one, Experiment) else Experiment(one, inputs) for one in given]
    if isinstance(parameters, Mapping):
        bounds = dict(arguments.mapping(parameters, f"{system.name}: parameters"))
    else:
        bounds = dict.fromkeys(arguments.names(parameters, f"{system.name}: parameters"))
    if not bounds:
        raise ModelError(f"{system.name}: name at least one parameter to fit")
    if not experiments:
        raise ModelError(f"{system.name}: there are no data; give measured series, or a list of them")
    if not 0.0 < arguments.real(confidence, f"{system.name}: confidence") < 1.0:
        raise ModelError(f"{system.name}: confidence = {confidence!r}: give a probability between 0 and 1, as 0.95")
    threads = None if threads is None else arguments.whole(threads, f"{system.name}: threads", 1)
    tolerance = TOLERANCE if tolerance is None else checked_tolerance(tolerance, system.name)
    unknowns = [_settable(system, name) for name in bounds]
    for variable in unknowns:
        if variable.type != "Real":
            raise ModelError(f"{system.name}: '{variable.name}' is {variable.type}; only Reals can be fitted")
    fixed = dict(arguments.mapping(start_values, f"{system.name}: start_values"))
    begin = np.array([number_of(v, fixed.pop(v.name, v.start or 0.0)) for v in unknowns])
    low, high = _limits(system, unknowns, list(bounds.values()))
    begin = np.clip(begin, low, high)
    measured = [_Measured(system, one, unknowns, fixed, tolerance) for one in experiments]
    signals = sorted({name for one in measured for name in one.names})
    empty = min({name for one in measured for name in one.empty} - set(signals), default=None)
    if empty is not None:
        raise ModelError(f"{system.name}: '{empty}' has gaps (NaN) only among the data; leave this column out")
    total = sum(array.size for one in measured for array in one.values.values())
    if total <= len(unknowns):
        raise ModelError(f"{system.name}: {total} measured values cannot determine {len(unknowns)} parameters")
    scale = np.where(begin != 0, np.abs(begin), np.where(np.isfinite(high - low), high - low, 1.0))
    problem = _Problem(measured, scale, low, high, threads)
    first = problem.residuals(begin, dict.fromkeys(signals, 1.0))
    if not np.isfinite(first).all():
        raise SimulationError(f"{system.name}: no run with the values at which the search begins: {problem.message}")
    weights = {name: 1.0 / (_spread(measured, name) or 1.0) for name in signals}
    values, message = begin, ""
    for _ in range(2):
        inside = np.clip(values, low + 1e-9 * scale, high - 1e-9 * scale)
        found = scipy.optimize.least_squares(
            problem.residuals, inside, problem.jacobian, bounds=(low, high), x_scale=scale,
            args=(weights,), xtol=1e-12, ftol=1e-12, gtol=1e-12, max_nfev=200,
        )  # fmt: skip
        values, message = found.x, str(found.message)
        left = problem.left(values, weights, problem.sensitivities(values, weights))
        weights = {name: 1.0 / left[name][0] if left[name][0] > 0 else weights[name] for name in signals}
    return _judged(system, problem, unknowns, values, weights, signals, confidence, message)


def _settable(system: System, name: str) -> ScalarVariable:
    from mbfmu.runtime.run import index_in_p

    found = find_variables(system.name, system.variables, [name])
    if found[0].name != name:
        raise ModelError(f"{system.name}: '{name}' is a vector; name its elements, such as '{found[0].name}'")
    if found[0].store == "constant":
        raise ModelError(f"{system.name}: '{name}' shapes the equations; it cannot be fitted")
    if found[0].causality != "input":
        index_in_p(found[0])
    return found[0]


def _limits(system: System, unknowns: Sequence[ScalarVariable], bounds: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    low, high = [], []
    for variable, given in zip(unknowns, bounds, strict=True):
        least = -np.inf if variable.min is None else variable.min
        most = np.inf if variable.max is None else variable.max
        if given is not None:
            what = f"{system.name}: the bounds of '{variable.name}'"
            limits = arguments.numbers(given, what)
            if limits.shape != (2,) or np.isnan(limits).any():
                raise ModelError(f"{what} = {given!r:.60}: give the least and the most value, as (0.5, 2.0)")
            least, most = max(least, float(limits[0])), min(most, float(limits[1]))
        if not least < most:
            raise ModelError(f"{system.name}: the bounds of '{variable.name}' leave no room: {least:g} .. {most:g}")
        low.append(least)
        high.append(most)
    return np.array(low), np.array(high)


class _Measured:
    """An experiment as a batch of runs and what they are compared with."""

    def __init__(
        self,
        system: System,
        experiment: Experiment,
        unknowns: Sequence[ScalarVariable],
        fixed: Mapping[str, Value],
        tolerance: float,
    ) -> None:
        data = experiment.data
        if isinstance(data, str | os.PathLike):
            data = read_csv(pathlib.Path(data))
        taken = {v.name for v in system.variables if v.causality == "input"}
        start = system.equations.start_time
        read = series_of(system.name, system.variables, data)
        driving = {name: series for name, series in read.items() if name in taken}
        self.values: dict[str, np.ndarray] = {}
        self.at: dict[str, np.ndarray] = {}
        #: Series that have gaps only.
        self.empty: set[str] = set()
        for name, (times, values) in read.items():
            if name in taken:
                continue
            good = np.isfinite(values)  # a gap in what is measured costs its own values only
            if not good.any():
                self.empty.add(name)
                continue
            self.at[name], self.values[name] = times[good], values[good]
            most = float(np.abs(values[good]).max())
            if most > LARGEST:
                raise ModelError(f"{system.name}: '{name}' reaches {most:g} among the data; check them and their unit")
            if self.at[name][0] < start - 1e-12:
                first = self.at[name][0]
                raise ModelError(f"{system.name}: '{name}' is measured at {first:g} s, before the start {start:g} s")
        if not self.values:
            gaps = f"; '{min(self.empty)}' has gaps (NaN) only" if self.empty else ""
            raise ModelError(f"{system.name}: the data have no series of a variable to compare with{gaps}")
        self.names = list(self.values)
        self.times = np.unique(np.concatenate([[start], *self.at.values()]))
        if self.times.size < 2:
            raise ModelError(f"{system.name}: the data have one instant only")
        drive = None
        given: dict[str, Any] = dict(driving)
        if experiment.inputs is not None and given:
            raise ModelError(f"{system.name}: inputs are among the data and given beside them; give them once")
        if experiment.inputs is not None or given:
            drive = drive_of(
                system.name, system.variables, experiment.inputs if given == {} else given, self.times,
                experiment.interpolation,
            )  # fmt: skip
        settings = {**fixed, **experiment.start_values}
        others = [_settable(system, name) for name in settings]
        self.fixed = np.array([number_of(v, value) for v, value in zip(others, settings.values(), strict=True)])
        compared = find_variables(system.name, system.variables, self.names)
        still = next((v.name for v in compared if v.store in ("P", "constant", "time")), None)
        if still is not None:
            raise ModelError(
                f"{system.name}: '{still}' among the data does not follow from the motion; leave this column out, or "
                "give it as a parameter"
            )
        places = np.array([place(v) for v in compared], dtype=np.int32)
        model = model_of(system.equations, system.variables)
        self.batch = Batch(model, [*unknowns, *others], self.times, places, drive, tolerance)
        self.rows = {name: np.searchsorted(self.times, at) for name, at in self.at.items()}

    def calculated(self, values: np.ndarray) -> tuple[dict[str, np.ndarray], str]:
        """Series of one run by name, at the instants at which they are measured, and why the run failed."""
        found = self.batch.run(np.concatenate([values, self.fixed])[None, :])
        return {name: found.rows[0, self.rows[name], k] for k, name in enumerate(self.names)}, found.messages[0]


def _spread(measured: Sequence[_Measured], name: str) -> float:
    return float(np.std(np.concatenate([one.values[name] for one in measured if name in one.values])))


@dataclasses.dataclass(frozen=True)
class _Sensitivities:
    """What a Jacobian [values, parameters] tells: which parameters, together, leave no trace; how sure all others are.

    Columns are compared by their direction, whatever their length: a parameter near zero hides nobody.
    """

    jacobian: np.ndarray
    #: Indices of parameters: alone where nothing depends on one, else those that only a combination is known of.
    blind: tuple[tuple[int, ...], ...]
    #: Inverse of J' J [parameters, parameters] without the directions that nothing is known of.
    inverse: np.ndarray
    #: How much of each measured value the fit follows [values].
    leverage: np.ndarray

    @classmethod
    def of(cls, jacobian: np.ndarray, size: np.ndarray) -> _Sensitivities:
        """`size` [parameters] is what counts as a change of each."""
        length = np.linalg.norm(jacobian, axis=0)
        heard = np.flatnonzero(length * size > DEAF * (length * size).max(initial=0.0))
        groups: list[tuple[int, ...]] = [(int(k),) for k in range(length.size) if k not in heard]
        left, singular, directions = np.linalg.svd(jacobian[:, heard] / length[heard], full_matrices=False)
        good = singular > BLIND * singular.max(initial=0.0)
        if (~good).any():
            noise = 10 * singular[~good].max()  # singular values that rounding leaves
            for row in np.abs(plain_basis(directions[~good])):
                relative = row / (length[heard] * size[heard])
                moves = (relative > SHARE * relative.max()) & (row > noise * row.max())
                groups.append(tuple(int(k) for k in heard[moves | (row > SHARE * row.max())]))
        inverse = np.zeros((length.size, length.size))
        kept = directions[good].T / singular[good]
        inverse[np.ix_(heard, heard)] = kept @ kept.T / np.outer(length[heard], length[heard])
        return cls(jacobian, tuple(groups), inverse, (left[:, good] ** 2).sum(axis=1))


class _Problem:
    """Residuals and their sensitivities."""

    def __init__(
        self, measured: Sequence[_Measured], scale: np.ndarray, low: np.ndarray, high: np.ndarray, threads: int | None
    ) -> None:
        self.measured, self.scale, self.low, self.high, self.threads = measured, scale, low, high, threads
        self.evaluations, self.message = 0, ""

    def all_series(self, points: Sequence[np.ndarray]) -> list[list[dict[str, np.ndarray]]]:
        """By point and experiment: the calculated series."""
        tasks = [(one, point) for point in points for one in self.measured]
        found = list(in_order(lambda task: task[0].calculated(task[1]), iter(tasks), self.threads))
        self.evaluations += len(tasks)
        self.message = next((message for _, message in found if message), "")
        count = len(self.measured)
        return [[series for series, _ in found[k * count : (k + 1) * count]] for k in range(len(points))]

    def _stacked(self, series: Sequence[Mapping[str, np.ndarray]], weights: Mapping[str, float]) -> np.ndarray:
        return np.concatenate([
            weights[name] * (one[name] - measured.values[name])
            for one, measured in zip(series, self.measured, strict=True)
            for name in measured.names
        ])  # fmt: skip

    def residuals(self, x: np.ndarray, weights: Mapping[str, float]) -> np.ndarray:
        """Weighted differences, calculated less measured."""
        return self._stacked(self.all_series([x])[0], weights)

    def jacobian(self, x: np.ndarray, weights: Mapping[str, float], steps: np.ndarray | None = None) -> np.ndarray:
        """Their sensitivities [values, parameters], by differences of second order within the bounds."""
        steps = STEP * np.maximum(np.abs(x), 0.1 * self.scale) if steps is None else steps
        steps = np.minimum(steps, 0.25 * (self.high - self.low))
        moves = np.where(x + steps > self.high, -1, np.where(x - steps < self.low, 1, 0))  # 0: to both sides
        points = [x]
        for k, move in enumerate(moves):
            for count in (move, 2 * move) if move else (1, -1):
                points.append(x + np.eye(1, x.size, k)[0] * count * steps[k])
        here, *rows = [self._stacked(series, weights) for series in self.all_series(points)]
        columns = [
            (near - far) / (2 * step) if not move else move * (4 * near - far - 3 * here) / (2 * step)
            for near, far, step, move in zip(rows[::2], rows[1::2], steps, moves, strict=True)
        ]
        return np.nan_to_num(np.array(columns).T)

    def sensitivities(self, x: np.ndarray, weights: Mapping[str, float]) -> _Sensitivities:
        """The Jacobian, as exact as runs allow, and what it tells."""
        rough = np.linalg.norm(self.jacobian(x, weights), axis=0)
        spans = [weights[n] * np.std(one.values[n]) * one.values[n].size ** 0.5 for one in self.measured
                 for n in one.names]  # fmt: skip
        with np.errstate(divide="ignore"):
            steps = MOVE * float(np.linalg.norm(spans)) / rough
        size = np.maximum(np.abs(x), 0.1 * self.scale)
        return _Sensitivities.of(self.jacobian(x, weights, np.clip(steps, 1e-6 * size, 1e-2 * size)), size)

    def left(self, x: np.ndarray, weights: Mapping[str, float], told: _Sensitivities) -> dict[str, tuple[float, float]]:
        """Standard deviation of the errors of each signal, and how many values tell of it: those beside the fit's."""
        residuals = self.residuals(x, weights)
        found = {}
        for name in weights:
            rows = self.rows(name)
            freedom = max(float((1.0 - told.leverage[rows]).sum()), 1e-9)
            found[name] = (float(np.linalg.norm(residuals[rows])) / weights[name] / freedom**0.5, freedom)
        return found

    def rows(self, name: str) -> np.ndarray:
        """Which of the stacked values [values] are those of a signal."""
        return np.concatenate([np.full(one.values[n].size, n == name) for one in self.measured for n in one.names])


def _judged(
    system: System,
    problem: _Problem,
    unknowns: Sequence[ScalarVariable],
    values: np.ndarray,
    weights: Mapping[str, float],
    signals: Sequence[str],
    confidence: float,
    message: str,
) -> Fit:
    names = tuple(v.name for v in unknowns)
    count = len(names)
    told, residuals = problem.sensitivities(values, weights), problem.residuals(values, weights)
    left = problem.left(values, weights, told)
    groups = [tuple(names[k] for k in group) for group in told.blind]
    lost = np.array([any(name in group for group in groups) for name in names])
    variance = float(residuals @ residuals) / max(1, residuals.size - count)
    covariance = variance * told.inverse
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    with np.errstate(all="ignore"):
        correlations = covariance / np.outer(errors, errors)
    vague = errors > VAGUE * np.maximum(np.abs(values), 1e-3 * problem.scale)
    for i, k in itertools.combinations(np.flatnonzero(vague & ~lost), 2):
        if abs(correlations[i, k]) > ALIKE:
            groups.append((names[i], names[k]))
    errors = np.where(lost, np.nan, errors)
    quantile = scipy.stats.t.ppf(0.5 + confidence / 2, _freedoms(problem, told, left))
    deviations = {name: deviation for name, (deviation, _) in left.items()}
    bound = np.isclose(values, problem.low, rtol=1e-6, atol=1e-12) | np.isclose(
        values, problem.high, rtol=1e-6, atol=1e-12
    )
    calculated = problem.all_series([values])[0]
    series = tuple(
        {name: (one.at[name], one.values[name], found[name]) for name in one.names}
        for one, found in zip(problem.measured, calculated, strict=True)
    )
    units = {v.name: v.unit for v in system.variables if v.unit and (v.name in names or v.name in signals)}
    return Fit(
        system.name, names, values, errors, np.column_stack([values - quantile * errors, values + quantile * errors]),
        correlations, confidence, tuple(dict.fromkeys(groups)),
        tuple(n for n, b in zip(names, bound, strict=True) if b), deviations, units, series,
        problem.evaluations, message,
    )  # fmt: skip


def _freedoms(problem: _Problem, told: _Sensitivities, left: Mapping[str, tuple[float, float]]) -> np.ndarray:
    """Degrees of freedom [parameters] of the variance of each estimate, to which each signal gives its part.

    Satterthwaite, Biometrics Bulletin 2 (1946) 110: signals have variances of their own, each known from its values.
    """
    total, uncertain = np.zeros(told.inverse.shape[0]), np.zeros(told.inverse.shape[0])
    for name, (_, freedom) in left.items():
        part = ((told.jacobian[problem.rows(name)] @ told.inverse) ** 2).sum(axis=0)
        total += part
        uncertain += part**2 / freedom
    return np.divide(total**2, uncertain, out=np.ones_like(total), where=uncertain > 0)
