"""Run a model from start to stop and record its variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .equations import Equations
from .errors import SimulationError
from .instance import Instance
from .interface import Interface, Value, Variable, put
from .result import Result

#: Communication intervals of a run that names none.
INTERVALS = 500


def run(
    equations: Equations,
    variables: Sequence[Variable],
    *,
    start_time: float | None = None,
    stop_time: float | None = None,
    interval: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    outputs: Sequence[str] | None = None,
    method: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulate and return named time series.

    Parameters
    ----------
    equations, variables
        The model.
    start_time, stop_time
        s; the model's own where None.
    interval
        Distance of recorded points, s; a 500th of the run where None. Inputs keep their start values.
    tolerance
        Relative and absolute tolerance of the integrator; the model's own where None.
    start_values
        Parameters, start values and inputs by variable name.
    outputs
        Names of the variables to record; all numeric ones where None.
    method
        One of those that `Integrator` knows; None takes the model's own.
    progress
        Called after every interval with the fraction of the run that is done.

    Raises
    ------
    VariableError
        A name is unknown or a value cannot be set.
    SimulationError
        The initialisation or a step fails; the message says at which time and why.
    """
    start = equations.start_time if start_time is None else start_time
    stop = equations.stop_time if stop_time is None else stop_time
    if not (np.isfinite(start) and np.isfinite(stop) and stop > start):
        raise SimulationError(f"the run from {start:g} s to {stop:g} s has no length: choose a later stop time")
    if interval is not None and not interval > 0.0:
        raise SimulationError(f"the interval {interval:g} s must be positive")
    grid = _grid(start, stop, (stop - start) / INTERVALS if interval is None else interval)

    interface = Interface(variables)
    numeric = [variable for variable in variables if variable.type != "String"]
    recorded = numeric if outputs is None else [interface.find(name) for name in outputs]
    instance = Instance(equations, tolerance, method)
    instance.set_start_time(start)
    for name, value in (start_values or {}).items():
        put(instance, interface.find(name), value)
    instance.finish_initialisation()

    recorder = _Recorder(recorded, grid.size)
    recorder.sample(instance)
    for done, time in enumerate(grid[1:], 1):
        instance.advance(float(time))
        recorder.sample(instance)
        if progress is not None:
            progress(done / (grid.size - 1))
    units = {variable.name: unit for variable in recorded if (unit := getattr(variable, "unit", None))}
    return Result(equations.name, grid, recorder.series(), units)


def _grid(start: float, stop: float, interval: float) -> np.ndarray:
    """Multiples of the interval from start on, and the stop time."""
    count = int(np.floor((stop - start) / interval * (1.0 + 1e-12)))
    grid = start + interval * np.arange(count + 1)
    if grid[-1] < stop - 1e-9 * interval:
        return np.append(grid, stop)
    grid[-1] = stop
    return grid


class _Recorder:
    """Values of variables, gathered store by store."""

    def __init__(self, variables: Sequence[Variable], points: int) -> None:
        self._variables = variables
        self._stores: dict[str, np.ndarray] = {}
        self._blocks: dict[str, np.ndarray] = {}
        for store in {variable.store for variable in variables} - {"constant"}:
            self._stores[store] = np.unique([variable.index for variable in variables if variable.store == store])
            self._blocks[store] = np.zeros((self._stores[store].size, points))
        self._points, self._next = points, 0

    def sample(self, instance: Instance) -> None:
        for store, indices in self._stores.items():
            self._blocks[store][:, self._next] = instance.values(store)[indices]
        self._next += 1

    def series(self) -> dict[str, np.ndarray]:
        series = {}
        for variable in self._variables:
            if variable.store == "constant":
                series[variable.name] = np.full(self._points, float(variable.start or 0.0))
            else:
                row = np.searchsorted(self._stores[variable.store], variable.index)
                series[variable.name] = self._blocks[variable.store][row]
        return series
