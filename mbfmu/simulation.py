"""Run an assembly in this process, without an FMU."""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mbfmu.dynamics.system import System, system_of
from mbfmu.errors import ModelError
from mbfmu.runtime import arguments
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.figures import drawable
from mbfmu.runtime.inputs import check_interpolation, drive_of
from mbfmu.runtime.result import Result
from mbfmu.runtime.run import Value, run, time_grid

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

__all__ = ["Result", "simulate"]


def simulate(
    assembly: Assembly | System,
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    inputs: Any = None,
    interpolation: Literal["linear", "held"] = "linear",
    outputs: Sequence[str] | None = None,
    method: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> Result:
    """Simulate an assembly and return named time series: `result["revolute1.phi"]`.

    Parameters
    ----------
    assembly
        An Assembly, or the System that was made of one.
    stop_time, start_time
        s; the assembly's own experiment where None.
    step
        Distance of recorded points, s; the assembly's own where None, else a 500th of the run.
    tolerance
        Relative and absolute tolerance of the integrator; the assembly's own where None.
    start_values
        Parameters, start values and inputs by variable name, as an importer sets them on the FMU.
    inputs
        Inputs over time: a CSV file, a pandas DataFrame or xarray Dataset with a column, index or coordinate `time`, or
        a mapping from names to numbers, functions of time (sampled every `step`), arrays parallel to its entry `time`,
        or pairs (times, values). See docs/inputs.md.
    interpolation
        Of inputs between their instants: `linear`, or `held` until the next one.
    outputs
        Names of the variables to record, arrays or their elements; all where None.
    method
        `explicit` (Dormand-Prince), `implicit` (Rodas5P, for stiff models), or `auto`: explicit until the model turns
        out to be stiff. None takes the model's own.
    progress
        Called now and then with the fraction of the run that is done.

    Raises
    ------
    ModelError
        The assembly is wrong, a variable is unknown, or a value cannot be set.
    InitializationError
        No consistent start was found; the message names equations and start values.
    SimulationError
        The run stopped; the message says at which time and why.

    Warns
    -----
    InitialConditionsWarning
        Initialisation has chosen start values that nobody gave; the message has names and values.
    NotFiniteWarning
        A variable that is not among the `outputs` is no finite number at one of some instants of the run.
    """
    system = system_of(assembly)
    equations = system.equations
    if method is not None and method != equations.solver:
        if method not in SOLVERS:
            raise ModelError(f'{system.name}: the method "{method}" is unknown; there are {", ".join(SOLVERS)}')
        equations = dataclasses.replace(equations, solver=method)
    drive = None
    if inputs is not None or interpolation != "linear":
        check_interpolation(system.name, interpolation)
    if inputs is not None:
        grid = time_grid(equations, start_time, stop_time, step)
        drive = drive_of(system.name, system.variables, inputs, grid, interpolation)
        twice = set(drive.names) & set(arguments.mapping(start_values, f"{system.name}: start_values"))
        if twice:
            raise ModelError(f"{system.name}: '{min(twice)}' is among the inputs and the start values; give it once")
    result = run(
        equations,
        system.variables,
        start_time=start_time,
        stop_time=stop_time,
        interval=step,
        tolerance=tolerance,
        start_values=start_values,
        drive=drive,
        outputs=outputs,
        progress=progress,
    )
    again = {
        "stop_time": stop_time,
        "start_time": start_time,
        "step": step,
        "tolerance": tolerance,
        "start_values": start_values,
        "method": method,
        "inputs": inputs,
        "interpolation": interpolation,
    }
    result.figures = drawable(getattr(system, "figures", ()), result)
    result.animation = functools.partial(_animated, result, assembly, again)
    return result


def _animated(
    result: Result, assembly: Assembly | System, arguments: Mapping[str, Any], path: str | os.PathLike[str] | None
) -> Any:
    """Run again what gave a result, with what an animation needs, and write it; a page for notebooks without a path."""
    from mbfmu.scene.writing import Page, check_target, needed_variables, write_animation

    with tempfile.TemporaryDirectory() as folder:
        target = check_target(pathlib.Path(folder) / "animation.html" if path is None else pathlib.Path(path))
        system = System.of(assembly, scene=True)
        names = [name for name in result.names if name != "time"]
        again = simulate(system, **arguments, outputs=[*needed_variables(system, target), *names])
        if again.time.size != result.time.size or not all(
            np.allclose(again[name], result[name], rtol=1e-6, atol=1e-9, equal_nan=True) for name in names
        ):
            raise ModelError(f"{result.model}: the assembly was changed since this run; simulate it again")
        write_animation(system, again, target)
        return target if path is not None else Page(target.read_text(encoding="utf-8"))
