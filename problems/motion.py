"""Motion of an assembly, with what it costs: what most problems are solved by."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence

import numpy as np

from mbfmu.dynamics import System
from mbfmu.runtime.run import Run, place


@dataclasses.dataclass(frozen=True)
class Motion:
    """Values [n] of variables by name at the instants asked for, CPU time in s, evaluations of the right-hand side."""

    values: Mapping[str, np.ndarray]
    seconds: float
    evaluations: int


def motion(system: System, names: Sequence[str], times: Sequence[float], tolerance: float) -> Motion:
    """Run from the first of some instants [s] to the last, and return variables at each of them."""
    variables = {variable.name: variable for variable in system.variables}
    places = np.array([place(variables[name]) for name in names], dtype=np.int32)
    run = Run(system.equations, system.variables, tolerance=tolerance, start_time=times[0], stop_time=times[-1])
    begin = time.process_time()
    run.finish_initialisation()
    rows = run.rows(np.array(times, dtype=float), places)
    seconds = time.process_time() - begin
    evaluations = run.instance.statistics()["evaluations"]
    return Motion(dict(zip(names, rows.T, strict=True)), seconds, evaluations)
