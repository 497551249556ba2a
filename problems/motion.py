"""Motion of an assembly, with what it costs: what most problems are solved by."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.integrate import simpson

from mbfmu.dynamics import System
from mbfmu.runtime.run import Run, place


@dataclasses.dataclass(frozen=True)
class Motion:
    """Values [n] of variables by name at the instants asked for, CPU time in s, evaluations of the right-hand side."""

    values: Mapping[str, np.ndarray]
    seconds: float
    evaluations: int


def motion(system: System, names: Sequence[str], times: Sequence[float] | np.ndarray, tolerance: float) -> Motion:
    """Run from the first of some instants [s] to the last, and return variables at each of them."""
    variables = {variable.name: variable for variable in system.variables}
    moving = [name for name in names if variables[name].store != "constant"]
    places = np.array([place(variables[name]) for name in moving], dtype=np.int32)
    run = Run(system.equations, system.variables, tolerance=tolerance, start_time=times[0], stop_time=times[-1])
    begin = time.process_time()
    run.finish_initialisation()
    rows = run.rows(np.array(times, dtype=float), places)
    seconds = time.process_time() - begin
    evaluations = run.instance.statistics()["evaluations"]
    values = dict(zip(moving, rows.T, strict=True))
    values |= {name: np.full(len(times), float(variables[name].start or 0.0)) for name in set(names) - set(moving)}
    return Motion(values, seconds, evaluations)


#: What energy_error needs of a system that was made with energy=True.
ENERGY = ("energy.kinetic", "energy.total", "energy.outflow")


def energy_error(values: Mapping[str, np.ndarray], times: np.ndarray, inflow: np.ndarray | float = 0.0) -> float:
    """Energy that is not accounted for over a run, over the greatest kinetic energy.

    What leaves the system is integrated over the instants [n], so these have to be close; so is `inflow` [W], the power
    of what acts from outside and is in no balance of a component.
    """
    kinetic, total, outflow = (values[name] for name in ENERGY)
    lost = simpson(outflow - inflow, x=times)
    return float(abs(total[-1] - total[0] + lost) / kinetic.max())
