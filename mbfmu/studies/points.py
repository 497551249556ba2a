"""Points of operation: where a run starts or gets to, and what its independent states are called there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.runtime.inputs import drive_of
from mbfmu.runtime.run import Run, Value, checked_tolerance
from mbfmu.studies import operating
from mbfmu.studies.operating import Array, Mechanics

if TYPE_CHECKING:
    from mbfmu.dynamics.system import System


def point_of_run(
    system: System,
    time: float,
    start_values: Mapping[str, Value] | None,
    drive: Any = None,
    tolerance: float | None = None,
) -> tuple[float, Array, Array, Array, Array]:
    """Time, states, inputs, parameters and modes of a run at a time, s.

    Raises:
        ModelError: The time lies before the start; a start value is unknown or impossible.
        InitializationError, SimulationError: The run does not get there.
    """
    e = system.equations
    if e.ndelays:
        raise ModelError(
            f"{system.name}: {e.delay_names[0]} delays a signal, whose history is no state: there is no linear model "
            "with finitely many states; put a PadeDelay in its place"
        )
    if not time >= e.start_time:
        raise ModelError(f"{system.name}: the time {time:g} s lies before the start at {e.start_time:g} s")
    tolerance = None if tolerance is None else checked_tolerance(tolerance, system.name)
    run = Run(e, system.variables, tolerance=tolerance, start_time=e.start_time, stop_time=None)
    for variable, value in started(system, start_values):
        run.set(variable, value)
    record = None
    if drive is not None:
        times = np.linspace(e.start_time, time, 501) if time > e.start_time else np.array([e.start_time])
        record = drive_of(system.name, system.variables, drive, times).snapped(times).record()
        run.start_drive(record)
    run.finish_initialisation()
    if time > e.start_time:
        run.rows(np.array([e.start_time, time]), np.empty(0), record)
    return (time, run.values("x"), run.values("u"), run.values("P"), run.values("m"))


def started(system: System, start_values: Mapping[str, Value] | None) -> list[tuple[Any, Value]]:
    """Variables with the values that they are given, each known by name.

    Raises:
        ModelError: A name is unknown.
    """
    given = start_values or {}
    found = {}
    for name in given:
        (variable,) = operating.find_variables(system.name, system.variables, [name])[:1]
        if variable.name != name:
            raise ModelError(f"{system.name}: '{name}' is a vector; set its elements, such as '{variable.name}'")
        found[name] = variable
    return [(found[name], value) for name, value in given.items()]


def state_names(system: System, reduced: operating.Reduced) -> list[str]:
    """Names of the reduced states."""
    q, v, z = operating.coordinate_names(system.equations, system.variables)
    return [*(q[i] for i in reduced.positions), *(v[i] for i in reduced.speeds), *z]


def state_values(mechanics: Mechanics, reduced: operating.Reduced, t: float, x: Array) -> Array:
    """Values of the reduced states at a point; small rotations are zero there."""
    nq, nv = mechanics.nq, mechanics.nv
    pattern = np.array(mechanics.displaced(t, x, np.eye(nv)))
    structure = mechanics.equations.functions["displacement"].jac_sparsity(0, 3)
    rows, columns = (np.array(index) for index in structure.get_triplet())
    values = []
    for i in reduced.positions:
        own = rows[columns == i]
        plain = own.size == 1 and np.count_nonzero(rows == own[0]) == 1 and pattern[own[0], i] != 0
        values.append(x[own[0]] if plain else 0.0)
    return np.array([*values, *(x[nq + i] for i in reduced.speeds), *x[nq + nv :]])
