"""Many runs of one mechanism with other parameters, start values or inputs."""

from __future__ import annotations

import dataclasses
import hashlib
import html
import os
import pathlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbfmu.errors import MbfmuError, ModelError, SimulationError
from mbfmu.runtime.batch import Batch, Runs, in_order
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.extras import extra
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import Value, model_of, number_of, place, time_grid
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.simulation import system_of
from mbfmu.studies import design as designs
from mbfmu.studies import reductions, store
from mbfmu.studies.foreign import Foreign, ForeignBatch, find, signals_of
from mbfmu.studies.operating import find_variables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbfmu.dynamics.system import System
    from mbfmu.modeling.assembly import Assembly

#: A part has at most so many runs, and rows of at most so many bytes.
RUNS, BYTES = 1000, 8_000_000


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
        from mbfmu.runtime.result import unknown

        if name not in self.columns:
            raise KeyError(unknown(name, self.columns))
        return self.columns[name]

    def __len__(self) -> int:
        return int(self.columns["message"].size)

    @property
    def messages(self) -> dict[int, str]:
        """Numbers of the runs that failed, and why."""
        texts = self.columns["message"]
        return {int(i): str(texts[i]) for i in np.flatnonzero(texts != "")}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read what a sweep has written: .csv, .parquet or .zarr."""
        columns, facts, times = store.read(pathlib.Path(path))
        return cls(facts["model"], tuple(facts["parameters"]), columns, times, facts["units"])

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame`, a row for each run; trajectories are arrays in their cells."""
        pandas = extra("pandas", "a DataFrame")
        return pandas.DataFrame({n: list(c) if c.ndim > 1 else c for n, c in self.columns.items()})

    def to_xarray(self) -> Any:
        """Return an `xarray.Dataset` along `run` (and `time`), with units as attributes."""
        xarray = extra("xarray", "a Dataset")
        variables = {
            name: (("run", "time")[: column.ndim], column, {"units": self.units[name]} if name in self.units else {})
            for name, column in self.columns.items()
        }
        return xarray.Dataset(variables, coords={"run": np.arange(len(self)), "time": self.times})

    def plot(self, y: str | None = None) -> Figure:
        """Draw a reduced output over each parameter, or trajectories over time."""
        from mbfmu.runtime.figure import Figure

        shown = y or next(name for name in self.columns if name not in (*self.parameters, "message"))
        column = self[shown]
        unit = self.units.get(shown, "1")
        names = ["time"] if column.ndim > 1 else list(self.parameters)
        figure = Figure(figsize=(4.0 * max(1, len(names)), 3.2), layout="constrained")
        for axis, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
            if name == "time":
                axis.plot(self.times, column[:: max(1, len(self) // 100)].T, color="C0", alpha=0.3, linewidth=0.8)
            else:
                axis.plot(self[name], column, ".", markersize=3)
            axis.set_xlabel(f"{name} in {'s' if name == 'time' else self.units.get(name, '1')}")
            axis.set_ylabel(f"{shown} in {unit}")
            axis.grid(True, alpha=0.3)
        return figure

    def __repr__(self) -> str:
        return f"Sweep({self.model!r}, {len(self)} runs, {len(self.messages)} failed, {len(self.columns) - 1} columns)"

    def _repr_html_(self) -> str:
        names = list(self.columns)[:12]
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(self.columns[n][i]))}</td>" for n in names) + "</tr>"
            for i in range(min(len(self), 8))
        )
        head = "".join(f"<th>{html.escape(n)}</th>" for n in names)
        return f"<div>{html.escape(repr(self))}</div><table><tr>{head}</tr>{rows}</table>"


def _cell(value: Any) -> str:
    if np.ndim(value):
        return f"{np.size(value)} values"
    return value if isinstance(value, str) else f"{value:.6g}"


class _Plan:
    """The runs of one model, ours or foreign, whatever is varied."""

    def __init__(
        self,
        model: Assembly | System | str | os.PathLike[str],
        names: Sequence[str],
        outputs: Sequence[str],
        start_values: Mapping[str, Value] | None,
        inputs: Any,
        interpolation: Literal["linear", "held"],
        span: tuple[float | None, float | None, float | None],
        tolerance: float | None,
    ) -> None:
        fixed = dict(start_values or {})
        twice = set(fixed) & set(names)
        start, stop, step = span
        self.batch: Batch | ForeignBatch
        self.threads: int | None = None
        if isinstance(model, str | os.PathLike):
            fmu = Foreign(pathlib.Path(model))
            self.name, self.times = fmu.name, fmu.times(start, stop, step)
            self.varied = [find(fmu, name) for name in names]
            extra_set = [find(fmu, name) for name in fixed]
            kept = [find(fmu, name) for name in outputs]
            signals = signals_of(fmu, inputs, self.times, interpolation)
            self.batch = ForeignBatch(fmu, [*names, *fixed], self.times, outputs, signals, tolerance)
            self.identity = hashlib.sha256(pathlib.Path(model).read_bytes())
            self.threads = 1  # an FMU of unknown make may not bear threads
            self.identity.update(b"" if signals is None else signals.tobytes())
        else:
            system = system_of(model)
            self.name = system.name
            self.times = time_grid(system.equations, start, stop, step)
            self.varied = [_one(system, name) for name in names]
            extra_set = [_one(system, name) for name in fixed]
            kept = [_one(system, name) for name in outputs]
            for variable in kept:
                if variable.store == "constant":
                    raise ModelError(f"{system.name}: '{variable.name}' is a constant, {variable.start}; leave it out")
            for variable in [*self.varied, *extra_set]:
                if variable.store == "constant":
                    raise ModelError(
                        f"{system.name}: '{variable.name}' shapes the equations; build a model for each of its values"
                    )
            drive = None
            if inputs is not None:
                from mbfmu.studies.inputs import drive_of

                drive = drive_of(system.name, system.variables, inputs, self.times, interpolation)
                twice |= set(drive.names) & {*names, *fixed}
            places = np.array([place(v) for v in kept], dtype=np.int32)
            compiled = model_of(system.equations, system.variables)
            self.batch = Batch(compiled, [*self.varied, *extra_set], self.times, places, drive, tolerance)
            self.identity = hashlib.sha256(descriptor(system.equations, system.variables))
            for array in () if drive is None else (drive.knots, drive.values, drive.slopes, drive.inputs):
                self.identity.update(array.tobytes())
        if twice:
            raise ModelError(f"{self.name}: '{min(twice)}' is given twice")
        self.fixed = np.array([number_of(v, value) for v, value in zip(extra_set, fixed.values(), strict=True)])
        self.units = {v.name: v.unit for v in [*self.varied, *kept] if v.unit}
        self.identity.update(repr((names, fixed, list(outputs), tolerance)).encode() + self.times.tobytes())

    def run(self, values: np.ndarray) -> Runs:
        """Make runs with the varied values [runs, names]; those out of bounds fail with a message."""
        refused = {}
        for column, variable in enumerate(self.varied):
            low = -np.inf if variable.min is None else variable.min
            high = np.inf if variable.max is None else variable.max
            for row in np.flatnonzero(~((values[:, column] >= low) & (values[:, column] <= high))):
                try:
                    number_of(variable, float(values[row, column]))
                except ModelError as error:
                    refused[int(row)] = str(error)
        good = np.array([row for row in range(values.shape[0]) if row not in refused], dtype=int)
        full = np.hstack([values[good], np.tile(self.fixed, (good.size, 1))])
        found = self.batch.run(full)
        if not refused:
            return found
        rows = np.full((values.shape[0], *found.rows.shape[1:]), np.nan)
        rows[good] = found.rows
        texts = dict(zip(good.tolist(), found.messages, strict=True))
        return Runs(rows, tuple(refused.get(i) or texts.get(i, "") for i in range(values.shape[0])))


def _one(system: System, name: str) -> ScalarVariable:
    found = find_variables(system.name, system.variables, [name])
    if found[0].name != name:
        raise ModelError(f"{system.name}: '{name}' is a vector; name its elements, such as '{found[0].name}'")
    return found[0]


def sweep(
    assembly: Assembly | System | str | os.PathLike[str],
    parameters: Mapping[str, Any],
    outputs: Sequence[str],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    step: float | None = None,
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
    progress: Callable[[int, int], None] | None = None,
) -> Sweep:
    """Run a mechanism with many values of its parameters, start values or inputs, on all cores of this machine.

    Parameters
    ----------
    assembly
        An Assembly, the System that was made of one, or the path of an FMU of any tool.
    parameters
        Values by variable name: lists make a grid, distributions (of scipy.stats, or `"normal:1:0.1"`) are sampled.
    outputs
        What is kept: `"revolute1.phi"` or `"revolute1.phi:trajectory"` keeps the whole of it, `"revolute2.w:max"` one
        number; there are `initial`, `final`, `min`, `max`, `absmax`, `mean`, `rms` and `crossing=LEVEL` (the first time
        of it). Reductions look at recorded instants.
    stop_time, start_time, step, tolerance, start_values, inputs, interpolation
        As for `simulate`, the same for all runs.
    samples, sampling, seed
        How many samples distributions give, and how: `sobol`, `latin` or `random`.
    each
        True: the values are no grid but the columns of a table of runs.
    path
        File to write: .csv, .parquet or .zarr. Parts are kept beside it until it is complete; the same call goes on
        from there after an interruption. Memory holds a few parts at a time, and the result reads the file.
    threads
        How many; one per core where None. Results do not depend on it.
    progress
        Called with the numbers of finished runs and of all.

    Raises
    ------
    ModelError
        A name, a reduction or a form of values is unknown, or parts of another sweep are in the way.
    """
    design = designs.table(parameters) if each else designs.design(parameters, samples, sampling, seed)
    kept = [reductions.parse(text) for text in outputs]
    if not kept:
        raise ModelError("a sweep needs outputs, such as revolute1.phi:final")
    for one in kept:
        if one.label in design.names:
            raise ModelError(f"'{one.label}' varies and is kept: write {one.label}:trajectory for what is kept of it")
    recorded = list(dict.fromkeys(one.name for one in kept))
    plan = _Plan(
        assembly, design.names, recorded, start_values, inputs, interpolation, (start_time, stop_time, step), tolerance
    )
    if path is not None and pathlib.Path(path).suffix == ".csv" and any(one.reduce is None for one in kept):
        raise ModelError(f"{path}: CSV has no room for whole trajectories; add reductions or write .parquet or .zarr")
    count = len(design)
    length = max(1, min(RUNS, BYTES // max(1, plan.batch.bytes_per_run), -(-count // 64)))
    parts = designs.chunks(count, length)
    names = [*design.names, *(one.label for one in kept), "message"]
    plan.identity.update(f"{design.digest()} {list(outputs)}".encode())
    kept_parts = None if path is None else store.Parts(pathlib.Path(path), plan.identity.hexdigest())

    def work(number: int) -> tuple[int, dict[str, np.ndarray] | None]:
        if kept_parts is not None and kept_parts.has(number):
            return number, None
        values = design.values(*parts[number])
        columns = _columns(plan, design.names, kept, recorded, values)
        if kept_parts is not None:
            kept_parts.write(number, columns)
            return number, None
        return number, columns

    collected = []
    for number, columns in in_order(work, iter(range(len(parts))), threads or plan.threads):
        if columns is not None:
            collected.append(columns)
        if progress is not None:
            progress(parts[number][1], count)
    units = dict(plan.units)
    for one in kept:
        if one.is_time:
            units[one.label] = "s"
        elif one.name in plan.units:
            units[one.label] = plan.units[one.name]
    if kept_parts is not None and path is not None:
        facts = {"model": plan.name, "parameters": list(design.names), "columns": names, "units": units, "runs": count}
        return Sweep.load(kept_parts.finish(len(parts), names, facts, plan.times))
    joined = {name: np.concatenate([part[name] for part in collected]) for name in names}
    return Sweep(plan.name, design.names, joined, plan.times, units)


def _columns(
    plan: _Plan, names: Sequence[str], kept: Sequence[reductions.Kept], recorded: Sequence[str], values: np.ndarray
) -> dict[str, np.ndarray]:
    """Columns of some runs."""
    found = plan.run(values)
    columns = {name: values[:, column] for column, name in enumerate(names)}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # rows of NaN
        for one in kept:
            rows = found.rows[:, :, recorded.index(one.name)]
            columns[one.label] = rows.copy() if one.reduce is None else one.reduce(plan.times, rows)
    bad = np.array([bool(text) for text in found.messages], dtype=bool)
    for one in kept:
        if one.reduce is not None:
            columns[one.label] = np.where(bad, np.nan, columns[one.label])
    columns["message"] = np.array(found.messages, dtype=str)
    return columns


def simulate_many(
    assembly: Assembly | System,
    runs: Iterable[Mapping[str, Value]],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    inputs: Any = None,
    interpolation: Literal["linear", "held"] = "linear",
    outputs: Sequence[str] | None = None,
    threads: int | None = None,
) -> Iterator[Result | MbfmuError]:
    """Simulate a mechanism several times, on all cores, and give the results in order.

    Parameters
    ----------
    assembly
        An Assembly, or the System that was made of one.
    runs
        For each run parameters, start values and inputs by variable name; all runs set the same variables.
    stop_time, start_time, step, tolerance, inputs, interpolation
        As for `simulate`.
    outputs
        Names of the variables to record; the model's outputs where None.
    threads
        How many; one per core where None.

    Yields
    ------
    Result | MbfmuError
        A result, or the error of a run that failed.

    Raises
    ------
    ModelError
        A name is unknown, or runs set different variables.
    """
    system = system_of(assembly)
    given = list(runs)
    names = list(given[0]) if given else []
    if any(set(one) != set(names) for one in given):
        raise ModelError(f"{system.name}: all runs must set the same variables; the first sets {', '.join(names)}")
    recorded = [v.name for v in system.variables if v.causality == "output"] if outputs is None else list(outputs)
    plan = _Plan(system, names, recorded, None, inputs, interpolation, (start_time, stop_time, step), tolerance)
    values = np.array([[float(one[name]) for name in names] for one in given]).reshape(len(given), len(names))
    length = max(1, min(RUNS, BYTES // max(1, plan.batch.bytes_per_run), -(-len(given) // 16)))
    for found in in_order(lambda part: plan.run(values[part[0] : part[1]]),
                          iter(designs.chunks(len(given), length)), threads):  # fmt: skip
        for rows, message in zip(found.rows, found.messages, strict=True):
            if message:
                yield SimulationError(f"{system.name}: {message}")
            else:
                columns = {name: rows[:, k].copy() for k, name in enumerate(recorded)}
                yield Result(system.name, plan.times, columns, plan.units)
