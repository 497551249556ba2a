"""Run a model from start to stop in this process and record its variables."""

from __future__ import annotations

import ctypes
import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mbfmu.errors import InitialConditionsWarning, InitializationError, ModelError, NotFiniteWarning, SimulationError
from mbfmu.messages import not_recorded, unknown_variable
from mbfmu.runtime import arguments, contract
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.drive import Drive, DriveRecord
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.happened import event_times, told_by, with_both_sides
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import WARNING, Instance, Model
from mbfmu.runtime.result import Result, arrays_of
from mbfmu.runtime.variables import ScalarVariable, scalar_names, wanted_instead

Value = float | int | bool | str

#: Communication intervals of a run that names none.
INTERVALS = 500

#: Most values that a run records: 4 GiB of them.
_MOST_VALUES = 2**29

#: A run returns to Python so often for interrupts, and where its progress is shown.
_CHUNKS, _CHUNKS_SHOWN = 10, 50
#: Start values that were chosen: how many a message lists, and what of them rounding leaves of 0.
_MOST_SHOWN, _ROUNDING = 6, 1e-12


class Run:
    """A model and one instance of it, with errors as exceptions.

    Until `finish_initialisation`, reading a value after a change initialises anew. From then on values belong to the
    end of the last step: inputs set later act on the next step and do not alter them; tunable parameters act at once.

    Args:
        equations, variables: The model.
        tolerance: Relative and absolute tolerance of the integrator; the model's own where None.
        start_time, stop_time: s; the model's own, and none, where None.
        events: Keep events and statistics in the log, too: a call back into Python for each.

    Raises:
        SimulationError: The tolerance or the stop time is impossible.
    """

    def __init__(
        self,
        equations: Equations,
        variables: Sequence[ScalarVariable] = (),
        *,
        tolerance: float | None = None,
        start_time: float | None = None,
        stop_time: float | None = None,
        events: bool = False,
    ) -> None:
        self.equations, self.variables = equations, variables
        self.log: list[tuple[int, str]] = []
        self.instance = Instance(model_of(equations, tuple(variables)), equations.name, self._note, events=events)
        start = equations.start_time if start_time is None else start_time
        if self.instance.set_up_experiment(start, stop_time, tolerance) > WARNING:
            raise SimulationError(f"{equations.name}: {self.last_message}")
        self.instance.enter_initialization()

    def _note(self, status: int, category: str, text: str) -> None:
        self.log.append((status, text.split(": ", 1)[-1] if status >= WARNING else text))

    @property
    def last_message(self) -> str:
        """The last line of the log that tells of a failure."""
        return next((text for status, text in reversed(self.log) if status > WARNING), "it failed without a message")

    @property
    def time(self) -> float:
        """Time of the end of the last step, s."""
        return self.instance.time

    def set(self, variable: ScalarVariable, value: Value, initialising: bool = True) -> None:
        """Set a variable by FMI's rules: inputs and tunable parameters at any time, others until initialisation ends.

        Raises:
            ModelError: The variable cannot be set, not now, or not to this value.
        """
        name = variable.name
        if variable.store == "constant":
            if value != variable.start:
                remedy = "build the model anew with this value" if variable.structural else "it is a constant"
                raise ModelError(f"'{name}' = {variable.start!r} cannot be set to {value!r}: {remedy}")
            return
        number = number_of(variable, value)
        if variable.causality == "input":
            self.instance.set_input(variable.index, number)
            return
        own = next((v.name for v in self.variables if v.start_index is not None and place(v) == place(variable)), None)
        if variable.start_index is None and own is not None and variable.causality != "parameter":
            raise ModelError(f"'{name}' cannot be set: it is calculated by the model, as '{own}'; set that")
        index = index_in_p(variable)
        if not initialising and variable.variability != "tunable":
            what = "parameter" if variable.causality == "parameter" else "start value"
            raise ModelError(f"'{name}' cannot be set now: a {what} is set before the initialisation ends")
        self.instance.set_parameter(index, number)

    def finish_initialisation(self) -> None:
        """Initialise where something has changed, and be ready for steps.

        Raises:
            InitializationError: No consistent start was found; the message names equations and start values.
        """
        if self.instance.exit_initialization() > WARNING:
            raise InitializationError(f"{self.equations.name}: {self.last_message}")

    def choices(self) -> dict[str, float]:
        """Start values that initialisation has chosen, by name: nothing determines them, and nobody gave them.

        Asked right after initialisation, `finish_initialisation`.
        """
        names = self.equations.unknown_names
        found = self.instance.choices(len(names))
        return {names[i]: 0.0 if abs(value) < _ROUNDING else value for i, value in found}

    def assemble(self) -> np.ndarray:
        """States [nx] of a start that satisfies constraints and start values, even where that is singular.

        Raises:
            InitializationError: There is none; the message names equations and start values.
        """
        if self.instance.assemble() > WARNING:
            raise InitializationError(f"{self.equations.name}: {self.last_message}")
        return self.values("x")

    def project(self, x: np.ndarray) -> bool:
        """Move states [nx] onto the constraints, in place, at the start time; False where that fails."""
        return not self.instance.library.project(self.instance.handle, self.equations.start_time, x.ctypes.data)

    def values(self, store: str) -> np.ndarray:
        """Values of a whole store, `x`, `u`, `P`, `w` or `y`, or of the discrete states, `m`.

        Raises:
            SimulationError: The values need an initialisation, and that fails.
        """
        e = self.equations
        sizes = {**e.sizes, "nx": e.nx, "nw": e.nw, "nP": e.npar + e.nd, "nm": e.nm + e.nheld}
        size = sizes[f"n{store}"]
        if store == "m":
            modes = np.zeros(size)
            self.instance.library.modes(self.instance.handle, modes.ctypes.data)
            return modes
        found = self.instance.values([contract.place(store, i) for i in range(size)])
        if found is None:
            raise InitializationError(f"{self.equations.name}: {self.last_message}")
        return np.array(found)

    def advance(self, end: float) -> None:
        """Go on to the time `end` [s] with constant inputs.

        Raises:
            SimulationError: The step cannot be made.
        """
        if end > self.time and self.instance.do_step(self.time, end - self.time) > WARNING:
            raise self._ended()

    def _ended(self) -> SimulationError:
        """What a failed step raises: when the motion ended, and why."""
        return SimulationError(f"{self.equations.name}: the run ends at {self.time:.9g} s: {self.last_message}")

    def start_drive(self, drive: DriveRecord) -> None:
        """Give driven inputs what they have at the start time."""
        self.instance.library.start_drive(self.instance.handle, ctypes.byref(drive))

    def rows(self, times: np.ndarray, places: np.ndarray, drive: DriveRecord | None = None) -> np.ndarray:
        """Step to each of the times [n] and read the places [k] (`contract.place`) there: [n, k].

        Inputs follow `drive`, or stay. Where the model ends the run there are fewer rows: one for each time before.

        Raises:
            SimulationError: A step fails.
        """
        times, places = np.ascontiguousarray(times, dtype=float), np.ascontiguousarray(places, dtype=np.int32)
        rows = np.empty((times.size, places.size))
        done = self.instance.library.run(
            self.instance.handle, b"doStep", times.ctypes.data, times.size, places.ctypes.data, places.size,
            rows.ctypes.data, None if drive is None else ctypes.byref(drive),
        )  # fmt: skip
        if done < times.size and not self.instance.library.ended(self.instance.handle):
            raise self._ended()
        return rows[:done]

    def row(self, places: np.ndarray) -> np.ndarray:
        """Values of the places at the present time."""
        return np.array(self.instance.values([int(place) for place in places]))


def _listed(choices: Mapping[str, float]) -> str:
    """What initialisation has chosen, in a sentence."""
    shown = ", ".join(f"{name} = {value:.6g}" for name, value in list(choices.items())[:_MOST_SHOWN])
    more = f" and {len(choices) - _MOST_SHOWN} more" if len(choices) > _MOST_SHOWN else ""
    return (
        "nobody gave these start values, and nothing determines them, so that they were chosen: "
        f"{shown}{more}; fix what is meant to hold"
    )


@functools.lru_cache(maxsize=16)
def _model(key: _Key) -> Model:
    return Model(host_library(), descriptor(key.equations, key.variables), key.equations.functions)


class _Key:
    """Equations and variables, told apart by identity: both are immutable."""

    def __init__(self, equations: Equations, variables: tuple[ScalarVariable, ...]) -> None:
        self.equations, self.variables = equations, variables

    def __hash__(self) -> int:
        return hash((id(self.equations), id(self.variables)))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, _Key) and self.equations is other.equations
        return same and self.variables is other.variables  # type: ignore[attr-defined]


def model_of(equations: Equations, variables: tuple[ScalarVariable, ...]) -> Model:
    """The model as the C runtime reads it; made once for the same equations and variables."""
    return _model(_Key(equations, variables))


def evaluate(model: Model, function: int, arguments: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> None:
    """Evaluate a function of the contract, by its number in it, into the arrays of results (columns first)."""
    arg = (ctypes.c_void_p * len(arguments))(*(a.ctypes.data for a in arguments))
    res = (ctypes.c_void_p * len(results))(*(r.ctypes.data for r in results))
    if model.library.evaluate(model.handle, function, arg, res):
        raise SimulationError("the model lacks a function")


def run(
    equations: Equations,
    variables: Sequence[ScalarVariable],
    *,
    start_time: float | None = None,
    stop_time: float | None = None,
    interval: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    drive: Drive | None = None,
    outputs: Sequence[str] | None = None,
    events: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulate and return named time series.

    Args:
        equations, variables: The model.
        start_time, stop_time: s; the model's own where None.
        interval: Distance of recorded points, s; the model's own where None, else a 500th of the run.
        tolerance: Relative and absolute tolerance of the integrator; the model's own where None.
        start_values: Parameters, start values and inputs by variable name.
        drive: Inputs over time; all others keep their start values.
        outputs: Names of the variables to record, arrays or their elements; all numeric ones where None.
        events: Run twice, the second time with a row right before and one right after each event, and tell what
            switched.
        progress: Called now and then with the fraction of the run that is done.

    Raises:
        ModelError: A name is unknown, or that of a text where numbers are recorded, or a value cannot be set.
        InitializationError: No consistent start was found.
        SimulationError: A step fails; the message says at which time and why.

    Warns:
        InitialConditionsWarning: Initialisation has chosen start values that nobody gave.
        NotFiniteWarning: A variable that is not recorded is no finite number at one of some instants of the run.
    """
    arguments.check_callback(progress, f"{equations.name}: progress")
    start, stop, interval = _span(equations, start_time, stop_time, interval)
    if tolerance is not None:
        tolerance = checked_tolerance(tolerance, equations.name)
    by_name = {variable.name: variable for variable in variables}

    def find(name: str) -> ScalarVariable:
        if name not in by_name:
            raise ModelError(f"{equations.name}: {unknown_variable(name, by_name)}")
        return by_name[name]

    settings = arguments.mapping(start_values, f"{equations.name}: start_values")
    numeric = [variable for variable in variables if variable.type != "String"]
    chosen = None if outputs is None else arguments.names(outputs, f"{equations.name}: outputs")
    recorded = numeric if chosen is None else [find(name) for name in scalar_names(chosen, variables)]
    for variable in recorded:
        if variable.type == "String":
            raise ModelError(f"{equations.name}: {not_recorded(variable.name)}")
    count = (stop - start) / interval + 1
    if count * (len(recorded) + 1) > _MOST_VALUES:
        raise SimulationError(
            f"{equations.name}: {count:.3g} points, one every {interval:g} s, of {len(recorded)} variables are more "
            "than memory holds: choose a longer step, or fewer variables"
        )
    grid = _grid(start, stop, interval)

    def begun(listening: bool) -> tuple[Run, DriveRecord | None]:
        made = Run(equations, variables, tolerance=tolerance, start_time=start, stop_time=stop, events=listening)
        for name, value in settings.items():
            made.set(find(name), value)
        driven = None if drive is None else drive.snapped(grid).record()
        if driven is not None:
            made.start_drive(driven)
        made.finish_initialisation()
        return made, driven

    found: dict[float, list[str]] = {}
    if events:
        first, driven = begun(listening=True)
        first.rows(grid, np.empty(0, dtype=np.int32), driven)
        found = event_times(text for _, text in first.log)
        grid = with_both_sides(grid, list(found))
    one, driven = begun(listening=False)
    for status, text in one.log:
        if status == WARNING:
            warnings.warn(f"{equations.name}: {text}", InitialConditionsWarning, stacklevel=4)
    chosen_now = one.choices()
    if not one.instance.model.told.issuperset(chosen_now):
        one.instance.model.told.update(chosen_now)
        warnings.warn(f"{equations.name}: {_listed(chosen_now)}", InitialConditionsWarning, stacklevel=4)

    switching = [v for v in numeric if v.variability == "discrete" and v.store != "constant"] if events else []
    kept = {variable.name for variable in recorded}
    moving = [variable for variable in recorded if variable.store != "constant"]
    moving += [variable for variable in switching if variable.name not in kept]
    places, columns = np.unique([place(v) for v in moving], return_inverse=True)
    series = np.empty((grid.size, places.size))
    ended: str | None = None
    seen = {variable.name for variable in moving}
    hidden = _Hidden(equations.name, [v for v in numeric if v.name not in seen and v.store != "constant"])
    chunks = min(_CHUNKS_SHOWN if progress else _CHUNKS, grid.size - 1)
    for part in np.array_split(np.arange(grid.size), chunks):
        rows = one.rows(grid[part], places, driven)
        series[part[: len(rows)]] = rows
        hidden.check(one)
        if len(rows) < part.size:  # the model has ended the run
            before = part[len(rows)]
            grid, series = np.append(grid[:before], one.time), np.vstack([series[:before], one.row(places)])
            ended = f"{equations.name} ends the run at {one.time:.9g} s: {one.last_message}"
            break
        if progress is not None:
            progress(float((grid[part[-1]] - start) / (stop - start)))
    _check_finite(equations.name, grid, series, moving, columns)
    own = {variable.name for variable in switching}
    switched = {v.name: series[:, k] for v, k in zip(moving, columns.ravel(), strict=True) if v.name in own}
    constant = np.array([float(v.start or 0.0) for v in recorded if v.store == "constant"])
    still, varying = iter(np.repeat(constant[:, None], grid.size, axis=1)), iter(columns.ravel())
    named = {v.name: next(still) if v.store == "constant" else series[:, next(varying)] for v in recorded}
    shown = [v.name for v in recorded if v.causality == "output"]
    units = {v.name: v.unit for v in recorded if v.unit}
    result = Result(equations.name, grid, named, units, shown, ended, arrays_of(recorded))
    result.events = told_by(grid, found, switched, {v.name: place(v) for v in switching})
    return result


class _Hidden:
    """Variables that a run does not record: where one is no finite number, that is told once."""

    def __init__(self, model: str, variables: Sequence[ScalarVariable]) -> None:
        self._model, self._variables = model, variables
        self._places = [place(variable) for variable in variables]

    def check(self, run: Run) -> None:
        """Look at all of them as they are now."""
        found = run.instance.values(self._places) if self._places else None
        wrong = np.flatnonzero(~np.isfinite([] if found is None else found))
        if found is None or not len(wrong):
            return
        self._places = []
        name, value = self._variables[wrong[0]].name, found[wrong[0]]
        more = f", and so are {len(wrong) - 1} others" if len(wrong) > 1 else ""
        warnings.warn(
            f"{self._model}: '{name}', which is not recorded, is {value:g} at {run.time:.9g} s, no finite "
            f"number{more}: a division by zero, or a function outside its range; limit what goes into it",
            NotFiniteWarning,
            stacklevel=5,
        )


def index_in_p(variable: ScalarVariable) -> int:
    """Index in p of a parameter or a start value.

    Raises:
        ModelError: The variable is neither.
    """
    index = variable.start_index
    if index is None and variable.causality == "parameter" and variable.store == "P":
        index = variable.index
    if index is None:
        raise ModelError(f"'{variable.name}' cannot be set: it is calculated by the model")
    return index


def place(variable: ScalarVariable) -> int:
    """Where the value of a variable lives, as the runtime reads it."""
    return contract.place(variable.store, variable.index)


def _span(
    model: Timed, start_time: float | None, stop_time: float | None, interval: float | None
) -> tuple[float, float, float]:
    """Start, stop and interval of a run, s: what is given, else the model's own."""
    start, stop, step = (
        None if value is None else _time(value, f"{model.name}: {what}")
        for value, what in ((start_time, "start_time"), (stop_time, "stop_time"), (interval, "interval"))
    )
    start = model.start_time if start is None else start
    stop = model.stop_time if stop is None else stop
    if not (math.isfinite(start) and math.isfinite(stop) and stop > start):
        raise SimulationError(
            f"{model.name}: the run from {start:g} s to {stop:g} s has no length: choose a later stop time"
        )
    if step is not None and not step > 0.0:
        raise SimulationError(f"{model.name}: the interval {step:g} s must be positive")
    if step is None:
        step = model.interval or (stop - start) / INTERVALS
    if not step < math.inf:
        raise SimulationError(f"{model.name}: the interval {step:g} s must be finite")
    return start, stop, step


def checked_tolerance(tolerance: Any, model: str = "") -> float:
    """A tolerance that a caller gives.

    Raises:
        ModelError, SimulationError: It is no number, or not between 0 and 1.
    """
    where = f"{model}: tolerance" if model else "tolerance"
    number = tolerance if isinstance(tolerance, float) else arguments.real(tolerance, where)
    if not 0.0 < number <= 1.0:
        raise SimulationError(f"{where} {number:g} is not between 0 and 1")
    if number < arguments.LEAST_TOLERANCE:
        raise SimulationError(
            f"{where} {number:g} is below {arguments.LEAST_TOLERANCE:g}, less than numbers of 16 digits can keep; "
            "choose a greater one, such as 1e-10"
        )
    return number


def _time(value: Any, what: str) -> float:
    """A number that a caller gives, which may still be infinite or no number at all."""
    return value if isinstance(value, float) else arguments.real(value, what)


class Timed(Protocol):
    """What has a default experiment: `Equations`, or an FMU of any tool."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def start_time(self) -> float:
        """Of its default experiment, s."""

    @property
    def stop_time(self) -> float:
        """Of its default experiment, s."""

    @property
    def interval(self) -> float | None:
        """Distance of recorded instants, s; a part of the run where None."""


def time_grid(model: Timed, start_time: float | None, stop_time: float | None, interval: float | None) -> np.ndarray:
    """Recorded instants of a run, s; the model's own times, and its own interval or a 500th of the run, where None.

    Raises:
        SimulationError: The times or the interval are impossible.
    """
    start, stop, interval = _span(model, start_time, stop_time, interval)
    if (stop - start) / interval > _MOST_VALUES:
        raise SimulationError(f"{model.name}: points every {interval:g} s are more than memory holds")
    return _grid(start, stop, interval)


def _check_finite(
    model: str, grid: np.ndarray, series: np.ndarray, variables: Sequence[ScalarVariable], columns: np.ndarray
) -> None:
    """Refuse a result with values that are not finite: the equations went where a function has no value."""
    wrong = ~np.isfinite(series)
    if wrong.any():
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        names = [v.name for v, column in zip(variables, columns.ravel(), strict=True) if wrong[row, column]]
        value = series[row, columns.ravel()[[v.name for v in variables].index(names[0])]]
        more = f", and so are {len(names) - 1} others" if len(names) > 1 else ""
        raise SimulationError(
            f"{model}: '{names[0]}' is {value:g} at {grid[row]:.9g} s, no finite number{more}: a division by zero, or "
            "a function outside its range; limit what goes into it"
        )


def _grid(start: float, stop: float, interval: float) -> np.ndarray:
    """Multiples of the interval from start on, and the stop time."""
    count = int(np.floor((stop - start) / interval * (1.0 + 1e-12)))
    grid = start + interval * np.arange(count + 1)
    if grid[-1] < stop - 1e-9 * interval:
        return np.append(grid, stop)
    grid[-1] = stop
    return grid


def number_of(variable: ScalarVariable, value: Value) -> float:
    """A value that a variable is given, as a number within its bounds.

    Raises:
        ModelError: It is no finite number, no value of the variable's type, or out of bounds.
    """
    try:
        if isinstance(value, str | bytes) or (isinstance(value, bool | np.bool_) and variable.type != "Boolean"):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"'{variable.name}' cannot be set to {value!r:.60}: a number is expected") from None
    if not math.isfinite(number):
        raise ModelError(f"'{variable.name}' cannot be set to {value!r}: a finite number is expected")
    wanted = wanted_instead(variable.type, number)
    if wanted:
        raise ModelError(f"'{variable.name}' cannot be set to {value!r}: {wanted} is expected")
    if variable.min is not None and number < variable.min:
        raise ModelError(f"'{variable.name}' cannot be set to {value!r}: its smallest value is {variable.min!r}")
    if variable.max is not None and number > variable.max:
        raise ModelError(f"'{variable.name}' cannot be set to {value!r}: its largest value is {variable.max!r}")
    return number
