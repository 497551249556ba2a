"""Run an assembly in this process, without an FMU; or an FMU of any tool."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from mbfmu.dynamics.system import System, system_of
from mbfmu.errors import ModelError
from mbfmu.fmi.foreign import Foreign, find, signals_of
from mbfmu.runtime import arguments
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.figures import drawable
from mbfmu.runtime.inputs import check_interpolation, drive_of
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import Value, number_of, run, time_grid
from mbfmu.runtime.variables import scalar_names
from mbfmu.sources import is_fmu, resolved

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly
    from mbfmu.scene.page import Recorded

__all__ = ["Result", "simulate"]


@arguments.renamed(step="interval", method="solver")
def simulate(
    assembly: Assembly | System | str | os.PathLike[str],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    interval: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    inputs: Any = None,
    interpolation: Literal["linear", "held"] = "linear",
    outputs: Sequence[str] | None = None,
    solver: str | None = None,
    events: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulate an assembly and return named time series: `result["revolute1.phi"]`.

    Args:
        assembly: An Assembly, the System that was made of one, or what the command line takes: a name of the gallery, a
            path, or the path of an FMU of any tool, which FMPy runs.
        stop_time, start_time: s; the assembly's own experiment where None.
        interval: Distance of recorded points, s; the assembly's own where None, else a 500th of the run.
        tolerance: Relative and absolute tolerance of the integrator; the assembly's own where None.
        start_values: Parameters, start values and inputs by variable name, as an importer sets them on the FMU.
        inputs: Inputs over time: a CSV file, a pandas DataFrame or xarray Dataset with a column, index or coordinate
            `time`, or a mapping from names to numbers, functions of time (sampled every `interval`), arrays parallel to
            its entry `time`, or pairs (times, values). See docs/inputs.md.
        interpolation: Of inputs between their instants: `linear`, or `held` until the next one.
        outputs: Names of the variables to record, arrays or their elements; all where None, of FMUs all numbers.
        solver: `explicit` (Dormand-Prince), `implicit` (Rodas5P, for stiff models), or `auto`: explicit until the model
            turns out to be stiff. None takes the model's own. FMUs have theirs.
        events: Record a row right before and one right after each event, and tell in `result.events` what switched,
            when and to what. The model runs twice for that. Not for FMUs.
        progress: Called now and then with the fraction of the run that is done.

    Raises:
        ModelError: The assembly is wrong, a variable is unknown, or a value cannot be set.
        InitializationError: No consistent start was found; the message names equations and start values.
        SimulationError: The run stopped; the message says at which time and why.

    Warns:
        InitialConditionsWarning: Initialisation has chosen start values that nobody gave; the message has names and
            values.
        NotFiniteWarning: A variable that is not among the `outputs` is no finite number at one of some instants of the
            run.
    """
    if is_fmu(assembly):
        if solver is not None:
            raise ModelError(f"{assembly}: solver = {solver!r}: an FMU brings its own; leave it out")
        if events:
            raise ModelError(f"{assembly}: events are not told by FMUs; give the model that it was made from")
        return _of_fmu(pathlib.Path(cast("str", assembly)), (start_time, stop_time, interval), start_values, inputs,
                       interpolation, outputs, tolerance)  # fmt: skip
    assembly = resolved(assembly)
    system = system_of(assembly)
    equations = system.equations
    if solver is not None and solver != equations.solver:
        if solver not in SOLVERS:
            raise ModelError(f'{system.name}: the solver "{solver}" is unknown; there are {", ".join(SOLVERS)}')
        equations = dataclasses.replace(equations, solver=solver)
    drive = None
    if inputs is not None or interpolation != "linear":
        check_interpolation(system.name, interpolation)
    if inputs is not None:
        grid = time_grid(equations, start_time, stop_time, interval)
        drive = drive_of(system.name, system.variables, inputs, grid, interpolation)
        twice = set(drive.names) & set(arguments.mapping(start_values, f"{system.name}: start_values"))
        if twice:
            raise ModelError(f"{system.name}: '{min(twice)}' is among the inputs and the start values; give it once")
    result = run(
        equations,
        system.variables,
        start_time=start_time,
        stop_time=stop_time,
        interval=interval,
        tolerance=tolerance,
        start_values=start_values,
        drive=drive,
        outputs=outputs,
        events=arguments.flag(events, "events"),
        progress=progress,
    )
    again = {
        "stop_time": stop_time,
        "start_time": start_time,
        "interval": interval,
        "tolerance": tolerance,
        "start_values": start_values,
        "solver": solver,
        "inputs": inputs,
        "interpolation": interpolation,
        "events": events,
    }
    result.figures = drawable(getattr(system, "figures", ()), result)
    result.again = functools.partial(_again, result, assembly, again)
    result.animation = functools.partial(_animated, result)
    return result


def _of_fmu(
    file: pathlib.Path,
    span: tuple[float | None, float | None, float | None],
    start_values: Mapping[str, Value] | None,
    inputs: Any,
    interpolation: Any,
    outputs: Sequence[str] | None,
    tolerance: float | None,
) -> Result:
    """Run an FMU of any tool; `span`: start, stop and interval, s."""
    fmu = Foreign(file)
    start, stop, interval = span
    times = fmu.times(start, stop, interval)
    values = arguments.mapping(start_values, f"{fmu.name}: start_values")
    for name, value in values.items():
        variable = find(fmu, name)
        if variable.type == "Real":
            number_of(variable, value)
    names = [v.name for v in fmu.variables if v.type != "String" and v.causality != "independent"]
    if outputs is not None:
        names = scalar_names(arguments.names(outputs, f"{fmu.name}: outputs"), fmu.variables)
    return fmu.simulate(times, values, names, signals_of(fmu, inputs, times, interpolation), tolerance)


def _again(result: Result, assembly: Assembly | System, arguments: Mapping[str, Any], target: pathlib.Path) -> Recorded:
    """Run again what gave a result, with what an animation needs."""
    from mbfmu.scene.page import Recorded
    from mbfmu.scene.writing import needed_variables

    system = System.of(assembly, scene=True)
    names = [name for name in result.names if name != "time"]
    again = simulate(system, **arguments, outputs=[*needed_variables(system, target), *names])
    if again.time.size != result.time.size or not all(
        np.allclose(again[name], result[name], rtol=1e-6, atol=1e-9, equal_nan=True) for name in names
    ):
        raise ModelError(f"{result.model}: the assembly was changed since this run; simulate it again")
    return Recorded(system, again)


def _animated(result: Result, path: str | os.PathLike[str] | None) -> Any:
    """Write the animation of a result; a page for notebooks without a path."""
    from mbfmu.scene.writing import shown, write_runs

    assert result.again is not None
    again = result.again
    return shown(path, lambda target: write_runs({result.model: again(target)}, target))
