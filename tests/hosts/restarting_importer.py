"""An importer for model exchange around SciPy's BDF that restarts its integrator only where an FMU tells it to."""

from __future__ import annotations

import ctypes
import functools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import fmpy
import numpy as np
from fmpy.simulation import instantiate_fmu
from numpy.typing import NDArray
from scipy.integrate import BDF
from scipy.optimize import brentq

Vector = NDArray[np.float64]


class Importer:
    """One instance of an FMU; `run` integrates it. Reads real variables, for both versions of FMI."""

    def __init__(self, path: pathlib.Path, names: Sequence[str], tolerance: float) -> None:
        description = fmpy.read_model_description(str(path))
        self.folder = fmpy.extract(str(path))
        self.tolerance, self.restarts, self.events = tolerance, 0, 0
        self.fmu = instantiate_fmu(self.folder, description, "ModelExchange", logger=lambda *_: None)
        self.of_fmi_3 = description.fmiVersion.startswith("3")
        self.nx, self.nz = description.numberOfContinuousStates, description.numberOfEventIndicators
        self.completes = bool(description.modelExchange.needsCompletedIntegratorStep)
        variables = {variable.name: variable for variable in description.modelVariables}
        self.read = [variables[name].valueReference for name in names]
        if self.of_fmi_3:
            self.fmu.enterInitializationMode(tolerance=tolerance)
        else:
            self.fmu.setupExperiment(tolerance=tolerance)
            self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.handle_event()
        self.fmu.enterContinuousTimeMode()

    def vector(self, call: Callable[..., Any], n: int) -> Vector:
        values = np.zeros(n)
        call(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), n)
        return values

    def put(self, t: float, x: Vector) -> None:
        self.fmu.setTime(t)
        x = np.ascontiguousarray(x)
        self.fmu.setContinuousStates(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), x.size)

    def derivatives(self, t: float, x: Vector) -> Vector:
        self.put(t, x)
        fmu = self.fmu
        return self.vector(fmu.getContinuousStateDerivatives if self.of_fmi_3 else fmu.getDerivatives, self.nx)

    def indicators(self, t: float, x: Vector) -> Vector:
        self.put(t, x)
        return self.vector(self.fmu.getEventIndicators, self.nz)

    def indicator(self, i: int, states: Callable[[float], Vector], t: float) -> float:
        return float(self.indicators(t, states(t))[i])

    def handle_event(self) -> bool:
        """Let the FMU handle an event; True where the integrator has to start again."""
        changed, needed = False, 1
        while needed:
            update = self.fmu.updateDiscreteStates if self.of_fmi_3 else self.fmu.newDiscreteStates
            needed, terminate, nominals, values, timed, instant = update()
            assert not terminate
            changed |= bool(nominals) or bool(values)
        self.instant = instant if timed else np.inf
        return changed

    def run(self, times: Vector) -> Vector:
        """Values of the variables at the times: [times, names]."""
        x, end = self.vector(self.fmu.getContinuousStates, self.nx), times[-1]
        rows, at, solver, z = [], 0, None, self.indicators(times[0], self.vector(self.fmu.getContinuousStates, self.nx))
        t = times[0]
        while True:
            if solver is None:
                solver = BDF(self.derivatives, t, x, end, rtol=self.tolerance, atol=self.tolerance)
                self.restarts += 1
            before = t
            solver.t_bound, solver.status = min(end, self.instant), "running"
            assert solver.step() is None
            assert solver.status != "failed"
            t, x, dense = solver.t, solver.y, solver.dense_output()
            after = self.indicators(t, x)
            crossed = np.flatnonzero((z > 0) != (after > 0))
            for i in crossed:
                at_time = functools.partial(self.indicator, i, dense)
                t = min(t, self.crossing(at_time, before, solver.t))
            while at < len(times) and times[at] <= t:
                self.put(times[at], dense(times[at]))
                rows.append(self.fmu.getFloat64(self.read) if self.of_fmi_3 else self.fmu.getReal(self.read))
                at += 1
            if at == len(times):
                return np.array(rows)
            x = dense(t) if crossed.size else x
            self.put(t, x)
            step_event = self.fmu.completedIntegratorStep()[0] if self.completes else False
            if crossed.size or step_event or t >= self.instant:
                self.events += 1
                self.fmu.enterEventMode()
                changed = self.handle_event()
                self.fmu.enterContinuousTimeMode()
                if changed:
                    solver, x = None, self.vector(self.fmu.getContinuousStates, self.nx)
                else:
                    t, x = solver.t, solver.y
            z = self.indicators(t, x)

    @staticmethod
    def crossing(indicator: Callable[[float], float], low: float, high: float) -> float:
        """A time just past the one at which an indicator changes its sign."""
        first, last = indicator(low), indicator(high)
        if (first > 0) == (last > 0) or first == 0:
            return low
        root = brentq(indicator, low, high, xtol=1e-14)
        step = 1e-13
        while (indicator(min(root + step, high)) > 0) == (first > 0) and root + step < high:
            step *= 4
        return min(root + step, high)

    def close(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()
