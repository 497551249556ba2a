"""Many runs of one mechanism with other parameters, start values or inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import html
import inspect
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbfmu.dynamics.system import System, system_of
from mbfmu.errors import MbfmuError, ModelError, SimulationError, UnknownNameError
from mbfmu.export.provenance import Uncertainty
from mbfmu.extras import extra
from mbfmu.fmi.foreign import Foreign, find, signals_of
from mbfmu.runtime import arguments
from mbfmu.runtime.batch import cores, in_order, part_of
from mbfmu.runtime.compiled import INNER
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.inputs import check_interpolation, drive_of
from mbfmu.runtime.lanes import most
from mbfmu.runtime.result import Result, arrays_of
from mbfmu.runtime.rounding import cleared, noise_of_series
from mbfmu.runtime.run import Value, checked_tolerance, index_in_p, number_of, time_grid
from mbfmu.runtime.variables import ScalarVariable, scalar_names
from mbfmu.sources import is_fmu, resolved
from mbfmu.studies import cluster, reductions, store
from mbfmu.studies import design as designs
from mbfmu.studies.job import BYTES, Columns, Job, failed, run_rows
from mbfmu.studies.operating import find_variables
from mbfmu.studies.variants import Recipe, combinations, numbered, recipe_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbfmu.modeling.assembly import Assembly

#: A part of a sweep has at most so many runs, and takes about so long at most, s.
RUNS, SECONDS = 100_000, 20.0

#: Parts that one asks a scheduler to hand out a second: more threads get longer parts.
TASKS = 100

#: Runs of a sweep.
MOST = 10**10

#: So many runs that a thread makes at a time where single results are given.
MANY = 1000


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Results of a sweep, a row for each run in the order of the design.

    `sweep["damper.d"]` and `sweep["revolute1.phi:final"]` are columns [runs]; whole trajectories are [runs, times]. A
    run that failed has NaN and its message.
    """

    model: str
    parameters: tuple[str, ...]
    columns: Mapping[str, np.ndarray]
    times: np.ndarray
    units: Mapping[str, str]

    def __getitem__(self, name: str) -> np.ndarray:
        from mbfmu.messages import unknown_variable

        if name not in self.columns:
            raise UnknownNameError(unknown_variable(name, self.columns))
        return self.columns[name]

    def __len__(self) -> int:
        return int(self.columns["message"].size)

    def noise(self) -> dict[str, float]:
        """Up to where results that are numbers say nothing but rounding; parameters are as they were given."""
        results = {
            name: column
            for name, column in self.columns.items()
            if name not in self.parameters and column.ndim == 1 and column.dtype.kind == "f"
        }
        return noise_of_series(results, self.units)

    @property
    def messages(self) -> dict[int, str]:
        """Numbers of the runs that failed, and why."""
        texts = self.columns["message"]
        return {int(i): str(texts[i]) for i in np.flatnonzero(texts != "")}

    def uncertainty(self, probability: float = 0.95) -> dict[str, Uncertainty]:
        """Intervals between quantiles of results that are numbers, for `mbfmu.build(..., uncertainty=)`.

        Each holds the share `probability` of the runs that did not fail; the nominal value is the median.

        Raises:
            ModelError: The probability is not between 0 and 1.
        """
        if not 0 < arguments.real(probability, "probability") < 1:
            raise ModelError(f"probability {probability:g}: is between 0 and 1")
        good = self.columns["message"] == ""
        info = f"{probability:.0%} of {int(good.sum())} runs of a sweep over {', '.join(self.parameters)}"
        found = {}
        for name, column in self.columns.items():
            if name in self.parameters or column.ndim > 1 or column.dtype.kind != "f":
                continue
            values = column[good & np.isfinite(column)]
            if values.size:
                low, middle, high = np.quantile(values, [(1 - probability) / 2, 0.5, (1 + probability) / 2])
                found[name] = Uncertainty(float(low), float(high), float(middle), "Computed", info)
        return found

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read what a sweep has written: .csv, .parquet or .zarr."""
        file = arguments.path(path, "the file of a sweep")
        facts, times = store.facts(file)
        stored = store.Stored(file, facts["columns"])
        return cls(facts["model"], tuple(facts["parameters"]), stored, times, facts["units"])

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`, a row for each run; trajectories are arrays in their cells.

        Raises:
            MissingExtra: pandas (extra `tables`) is not installed.
        """
        pandas = extra("pandas", "a DataFrame")
        return pandas.DataFrame({n: list(c) if c.ndim > 1 else c for n, c in self.columns.items()})

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` along `run` (and `time` [s]), with units as attributes.

        Raises:
            MissingExtra: xarray (extra `arrays`) is not installed.
        """
        xarray = extra("xarray", "a Dataset")
        variables = {
            name: (("run", "time")[: column.ndim], column, {"units": self.units[name]} if name in self.units else {})
            for name, column in self.columns.items()
        }
        return xarray.Dataset(variables, coords={"run": np.arange(len(self)), "time": self.times})

    def plot(self, y: str | None = None) -> Figure:
        """Draw a reduced output over each parameter, or trajectories over time."""
        from mbfmu.runtime.plotting import Figure

        shown = y or next(name for name in self.columns if name not in (*self.parameters, "message"))
        column = self[shown]
        unit = self.units.get(shown, "1")
        names = ["time"] if column.ndim > 1 else list(self.parameters) or [next(iter(self.columns))]
        figure = Figure(figsize=(4.0 * max(1, len(names)), 3.2), layout="constrained")
        for axis, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            if name == "time":
                axis.plot(self.times, column[:: max(1, len(self) // 100)].T, color="C0", alpha=0.3, linewidth=0.8)
            else:
                self._draw_over(axis, name, column)
            axis.set_xlabel(f"{name} in {'s' if name == 'time' else self.units.get(name, '1')}")
            axis.set_ylabel(f"{shown} in {unit}")
            axis.grid(True, alpha=0.3)
        return figure

    def _draw_over(self, axis: Any, name: str, column: np.ndarray) -> None:
        """Draw a column over a parameter: a line for each value of the others where those are few, else points."""
        others = [self[other] for other in self.parameters if other != name]
        values = np.unique(np.column_stack(others), axis=0) if others else np.empty((1, 0))
        if len(values) > _MOST_LINES or len(np.unique(self[name])) * len(values) != len(self):
            axis.plot(self[name], column, ".", markersize=3)
            return
        names = [other for other in self.parameters if other != name]
        for one in values:
            rows = np.all([self[n] == v for n, v in zip(names, one, strict=True)], axis=0) if names else slice(None)
            order = np.argsort(self[name][rows], kind="stable")
            label = ", ".join(f"{n} = {v:.6g}" for n, v in zip(names, one, strict=True))
            axis.plot(self[name][rows][order], column[rows][order], "o-", markersize=3, label=label)
        if names:
            axis.legend(fontsize="small")

    def __repr__(self) -> str:
        return f"Sweep({self.model!r}, {len(self)} runs, {len(self.messages)} failed, {len(self.columns) - 1} columns)"

    def _repr_html_(self) -> str:
        names = list(self.columns)[:12]
        noise = self.noise()
        shown = [cleared(c, noise[n]) if n in noise else c for n in names for c in (self.columns[n][:8],)]
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in zip(*shown, strict=True)
        )
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        return f"<div>{html.escape(repr(self))}</div><table><tr>{head}</tr>{rows}</table>"


#: More values of other parameters are no lines, but points.
_MOST_LINES = 10


def _cell(value: Any) -> str:
    if np.ndim(value):
        return f"{np.size(value)} values"
    return value if isinstance(value, str) else f"{value:.6g}"


class _Plan:
    """The runs of one model, ours or foreign, whatever is varied: a job for each model that has to be made."""

    def __init__(
        self,
        model: Any,
        design: designs.Design | None,
        names: Sequence[str],
        kept: Sequence[str],
        start_values: Mapping[str, Value] | None,
        inputs: Any,
        interpolation: Literal["linear", "held"],
        span: tuple[float | None, float | None, float | None],
        tolerance: float | None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.varied, self.kept, self.span = tuple(names), tuple(kept), span
        self.fixed = dict(arguments.mapping(start_values, "start_values"))
        self.inputs, self.interpolation = inputs, interpolation
        self.recorded = tuple(dict.fromkeys(reductions.parse(text).name for text in kept))
        self.tolerance = None if tolerance is None else checked_tolerance(tolerance)
        self.columns: tuple[int, ...] = ()
        self.known: list[tuple[float, ...]] = [()]
        twice = set(self.fixed) & set(names)
        if twice:
            raise ModelError(f"'{min(twice)}' is given twice")
        self.foreign = isinstance(model, str | os.PathLike)
        if self.foreign:
            self.jobs: list[Job | str] = [self._foreign(pathlib.Path(model))]
            return
        recipe = recipe_of(model)
        if recipe is None or design is None:
            self.jobs = [self._ours(system_of(model))]
            return
        self._made(recipe, design, progress)

    def _made(self, recipe: Recipe, design: designs.Design, progress: Callable[[int, int], None] | None) -> None:
        """Make the model for each combination of the values that shape it."""
        system = None
        if all(default is not inspect.Parameter.empty for default in recipe.defaults.values()):
            with contextlib.suppress(MbfmuError):  # values of the design may do where the defaults do not
                system = system_of(recipe.make({}))
        self.columns = tuple(k for k, name in enumerate(self.varied) if recipe.shaping(system, name))
        self.known = combinations(design, self.columns)
        shaping = [self.varied[k] for k in self.columns]
        self.varied = tuple(name for name in self.varied if name not in shaping)
        if system is not None and not shaping:
            self.jobs = [self._ours(system)]
            return
        self.jobs = []
        errors: list[MbfmuError] = []
        for values in self.known:
            try:
                given = {n: recipe.typed(system, n, value) for n, value in zip(shaping, values, strict=True)}
                self.jobs.append(self._ours(system_of(recipe.make(given))))
            except MbfmuError as error:
                self.jobs.append(str(error))
                errors.append(error)
            if progress is not None:
                progress(len(self.jobs), len(self.known))
        if len(errors) == len(self.jobs):
            raise errors[0]

    def _foreign(self, path: pathlib.Path) -> Job:
        fmu = Foreign(path)
        start, stop, interval = self.span
        self.name, self.times = fmu.name, fmu.times(start, stop, interval)
        fmu.check_recorded(self.recorded)
        varied, recorded = ([find(fmu, name) for name in some] for some in (self.varied, self.recorded))
        fixed = self._numbers([find(fmu, name) for name in self.fixed])
        signals = signals_of(fmu, self.inputs, self.times, self.interpolation)
        self.units = {v.name: v.unit for v in [*varied, *recorded] if v.unit}
        return Job(fmu.name, path.read_bytes(), True, tuple(varied), fixed, tuple(recorded), self.kept, self.times,
                   signals, self.tolerance)  # fmt: skip

    def _ours(self, system: System) -> Job:
        if not hasattr(self, "times"):
            self.name, self.times = system.name, time_grid(system.equations, *self.span)
        varied, given, recorded = ([_one(system, n) for n in some] for some in (self.varied, self.fixed, self.recorded))
        for variable in recorded:
            if variable.store == "constant":
                raise ModelError(f"{system.name}: '{variable.name}' is a constant, {variable.start}; leave it out")
        for variable in [*varied, *given]:
            if variable.store == "constant":
                raise ModelError(
                    f"{system.name}: '{variable.name}' shapes the equations; give the class or the function that makes "
                    "the assembly, and it is made anew for each value"
                )
        drive = None
        if self.inputs is not None:
            drive = drive_of(system.name, system.variables, self.inputs, self.times, self.interpolation)
            twice = set(drive.names) & {*self.varied, *self.fixed}
            if twice:
                raise ModelError(f"{system.name}: '{min(twice)}' is given twice")
        self.units = {v.name: v.unit for v in [*varied, *recorded] if v.unit}
        content = descriptor(system.equations, system.variables)
        functions = {name: function for name, function in system.equations.functions.items() if name in INNER}
        job = Job(system.name, content, False, tuple(varied), self._numbers(given), tuple(recorded), self.kept,
                  self.times, drive, self.tolerance, functions)  # fmt: skip
        for variable in varied:
            if variable.causality != "input":
                index_in_p(variable)
        return job

    def _numbers(self, variables: Sequence[ScalarVariable]) -> tuple[tuple[ScalarVariable, float], ...]:
        return tuple((v, number_of(v, value)) for v, value in zip(variables, self.fixed.values(), strict=True))

    @property
    def identity(self) -> str:
        """A number that tells plans apart."""
        parts = [job if isinstance(job, str) else job.identity for job in self.jobs]
        return hashlib.sha256(repr((self.known, parts)).encode()).hexdigest()

    @property
    def empty(self) -> Columns:
        """The columns of no run."""
        return failed(self.kept, self.times, 0, "")

    def split(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the jobs [runs], and what these vary [runs, names], of values [runs, names] of the design."""
        if not self.columns:
            return np.zeros(values.shape[0], dtype=int), values
        return numbered(self.known, values[:, list(self.columns)]), np.delete(values, list(self.columns), axis=1)

    def part_length(self, design: designs.Design, threads: int) -> int:
        """Runs of a part: enough parts for all threads, some seconds of work each, and little memory.

        Parts without reductions hold whole trajectories. Results do not depend on the length.
        """
        count, lanes = len(design), 1 if self.foreign else most()
        whole = sum(reductions.parse(text).reduce is None for text in self.kept)
        length = part_of(count, max(64, 8 * threads), threads, lanes)
        length = min(length, BYTES // max(1, 8 * whole * self.times.size), RUNS)
        if length > 1:
            which, values = self.split(design.values(0, 1))
            job = self.jobs[which[0]]
            if not isinstance(job, str):
                seconds = max(SECONDS, threads / TASKS)
                length = min(length, int(seconds / max(job.seconds_per_run(values), 1e-6)))
        return max(1, length)


def _one(system: System, name: str) -> ScalarVariable:
    found = find_variables(system.name, system.variables, [name])
    if found[0].name != name:
        raise ModelError(f"{system.name}: '{name}' is a vector; name its elements, such as '{found[0].name}'")
    return found[0]


@arguments.renamed(step="interval")
def sweep(
    assembly: Assembly | System | Callable[..., Assembly] | str | os.PathLike[str],
    parameters: Mapping[str, Any],
    outputs: Sequence[str],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    interval: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    inputs: Any = None,
    interpolation: Literal["linear", "held"] = "linear",
    samples: int | None = None,
    sampling: designs.Sampling = "sobol",
    seed: int = 0,
    each: bool = False,
    path: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    scheduler: Any = None,
    progress: Callable[[int, int], None] | None = None,
    building: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Run a mechanism with many values of its parameters, start values or inputs, on all cores or on a cluster.

    Args:
        assembly: An Assembly, the System that was made of one, or the path of an FMU of any tool. Or the class of an
            assembly, or a function that returns one: their own parameters, and parameters of components that shape the
            equations, may then vary, too, and the model is made anew for each of their values.
        parameters: Values by variable name: lists make a grid, distributions (of scipy.stats, or `"normal:1:0.1"`) are
            sampled.
        outputs: What is kept: `"revolute1.phi"` or `"revolute1.phi:trajectory"` keeps the whole of it,
            `"revolute2.w:max"` one number; there are `initial`, `final`, `min`, `max`, `absmax`, `mean`, `rms` and
            `crossing=LEVEL` (the first time of it). Reductions look at recorded instants.
        stop_time, start_time, interval, tolerance, start_values, inputs, interpolation: As for `simulate`, the same for
            all runs.
        samples, sampling, seed: How many samples distributions give, and how: `sobol`, `latin` or `random`.
        each: True: the values are no grid but the columns of a table of runs.
        path: File to write: .csv, .parquet or .zarr. Parts are kept beside it until it is complete; the same call goes
            on from there after an interruption. Memory holds a few parts at a time, and the result reads the file.
        threads: How many; one per core where None. Results do not depend on it.
        scheduler: Address of a Dask scheduler (`tcp://host:8786`), or a `distributed.Client`: its workers make the
            runs, and need mbfmu only. Results do not depend on them. Extra `dask`.
        progress: Called with the numbers of finished runs and of all.
        building: Called with the numbers of models that were made and of all, where parameters shape them.

    Raises:
        ModelError: A name, a reduction or a form of values is unknown, or parts of another sweep are in the way.
        SimulationError: The scheduler does not answer, has no worker, or was lost.
    """
    if not is_fmu(assembly):
        assembly = resolved(assembly)
    each = arguments.flag(each, "each")
    for function, what in ((progress, "progress"), (building, "building")):
        arguments.check_callback(function, what)
    design = designs.table(parameters) if each else designs.design(parameters, samples, sampling, seed)
    kept = [reductions.parse(text) for text in arguments.names(outputs, "outputs")]
    if not kept:
        raise ModelError("a sweep needs outputs, such as revolute1.phi:final")
    if len(design) > MOST:
        raise ModelError(f"the grid has {len(design):.3g} runs, more than {MOST:.0e}; choose fewer values, or samples")
    twice = [one.label for k, one in enumerate(kept) if one.label in {other.label for other in kept[:k]}]
    if twice:
        raise ModelError(f"the output '{twice[0]}' is kept twice; name it once")
    check_interpolation("sweep", interpolation)
    threads = None if threads is None else arguments.whole(threads, "threads", 1)
    for one in kept:
        if one.label in design.names:
            raise ModelError(f"'{one.label}' varies and is kept: write {one.label}:trajectory for what is kept of it")
    file = None if path is None else arguments.path(path, "path")
    if file is not None and file.suffix == ".csv" and any(one.reduce is None for one in kept):
        raise ModelError(f"{path}: CSV has no room for whole trajectories; add reductions or write .parquet or .zarr")
    if file is not None and not file.parent.is_dir():
        raise ModelError(f"{file}: the folder {file.parent} does not exist; create it or choose another")
    plan = _Plan(
        assembly, design, design.names, list(outputs), start_values, inputs, interpolation,
        (start_time, stop_time, interval), tolerance, building,
    )  # fmt: skip
    count, names = len(design), [*design.names, *(one.label for one in kept), "message"]
    units = dict(plan.units)
    for one in kept:
        if one.is_time:
            units[one.label] = "s"
        elif one.name in plan.units:
            units[one.label] = plan.units[one.name]
    with contextlib.ExitStack() as stack:
        client = None if scheduler is None else stack.enter_context(cluster.connected(scheduler))
        identity = hashlib.sha256(f"{plan.identity} {design.digest()}".encode()).hexdigest()
        kept_parts = None if file is None else stack.enter_context(store.Parts.open(file, identity))
        length = None if kept_parts is None else kept_parts.length
        if length is None:
            length = plan.part_length(design, (threads or cores()) if client is None else cluster.threads_of(client))
            if kept_parts is not None:
                kept_parts.begin(length)
        parts = designs.chunks(count, length)
        missing = [n for n in range(len(parts)) if kept_parts is None or not kept_parts.has(n)]

        def given(number: int) -> cluster.Part:
            return (number, *plan.split(design.values(*parts[number])))

        def work(number: int) -> tuple[int, Columns]:
            return number, run_rows(plan.jobs, *given(number)[1:], plan.empty)

        if client is None:
            found = in_order(work, iter(missing), threads)
        else:
            found = cluster.run_parts(client, plan.jobs, map(given, missing), plan.empty)
        done = count - sum(parts[n][1] - parts[n][0] for n in missing)
        collected: dict[int, Columns] = {}
        for number, columns in found:
            values = design.values(*parts[number])
            whole = {**{name: values[:, k] for k, name in enumerate(design.names)}, **columns}
            if kept_parts is None:
                collected[number] = whole
            else:
                kept_parts.write(number, whole)
            done += parts[number][1] - parts[number][0]
            if progress is not None:
                progress(done, count)
        if kept_parts is not None:
            listed = list(design.names)
            facts = {"model": plan.name, "parameters": listed, "columns": names, "units": units, "runs": count}
            written = kept_parts.finish(len(parts), names, facts, plan.times)
            return Sweep(plan.name, design.names, store.Stored(written, names), plan.times, units)
    joined = {name: np.concatenate([collected[n][name] for n in range(len(parts))]) for name in names}
    return Sweep(plan.name, design.names, joined, plan.times, units)


@arguments.renamed(step="interval")
def simulate_many(
    assembly: Assembly | System | str | os.PathLike[str],
    runs: Iterable[Mapping[str, Value]],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    interval: float | None = None,
    tolerance: float | None = None,
    inputs: Any = None,
    interpolation: Literal["linear", "held"] = "linear",
    outputs: Sequence[str] | None = None,
    threads: int | None = None,
) -> Iterator[Result | MbfmuError]:
    """Simulate a mechanism several times, on all cores, and give the results in order.

    Args:
        assembly: An Assembly, the System that was made of one, or what the command line takes: a name of the gallery, a
            path.
        runs: For each run parameters, start values and inputs by variable name; all runs set the same variables.
        stop_time, start_time, interval, tolerance, inputs, interpolation: As for `simulate`.
        outputs: Names of the variables to record, arrays or their elements; the model's outputs where None.
        threads: How many; one per core where None.

    Yields:
        Result | MbfmuError: A result, or the error of a run that failed.

    Raises:
        ModelError: A name is unknown, or runs set different variables.
    """
    system = system_of(resolved(assembly))
    check_interpolation(system.name, interpolation)
    threads = None if threads is None else arguments.whole(threads, f"{system.name}: threads", 1)
    if isinstance(runs, Mapping | str) or not isinstance(runs, Iterable):
        raise ModelError(
            f"{system.name}: runs = {runs!r:.60}: a list of mappings is expected, as [{{'body.m': 1.0}}, "
            "{'body.m': 2.0}]; mbfmu.sweep makes grids"
        )
    given = [arguments.mapping(one, f"{system.name}: a run") for one in runs]
    names = list(given[0]) if given else []
    if any(set(one) != set(names) for one in given):
        raise ModelError(f"{system.name}: all runs must set the same variables; the first sets {', '.join(names)}")
    recorded = (
        [v.name for v in system.outputs] if outputs is None
        else scalar_names(arguments.names(outputs, f"{system.name}: outputs"), system.variables)
    )  # fmt: skip
    arrays = arrays_of(v for v in system.variables if v.name in set(recorded))
    kept = [f"{name}:trajectory" for name in recorded]
    plan = _Plan(system, None, names, kept, None, inputs, interpolation, (start_time, stop_time, interval), tolerance)
    (job,) = plan.jobs
    assert isinstance(job, Job)
    values = np.array([[arguments.numbers(one[name], f"{system.name}: '{name}'") for name in names] for one in given])
    if values.size != len(given) * len(names):
        raise ModelError(f"{system.name}: runs set numbers; name elements of a vector one by one, such as body.r_CM[1]")
    values = values.reshape(len(given), len(names))
    length = part_of(len(given), 16, threads or cores(), most())
    length = max(1, min(MANY, BYTES // max(1, job.batch.bytes_per_run), length))
    for found in in_order(lambda part: job.run(values[part[0] : part[1]]),
                          iter(designs.chunks(len(given), length)), threads):  # fmt: skip
        for rows, message in zip(found.rows, found.messages, strict=True):
            if message:
                yield SimulationError(f"{system.name}: {message}")
            else:
                columns = {name: rows[:, k].copy() for k, name in enumerate(recorded)}
                yield Result(system.name, plan.times, columns, plan.units, arrays=arrays)
