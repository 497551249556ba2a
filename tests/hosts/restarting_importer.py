"""An importer for model exchange around SciPy's BDF that restarts its integrator only where an FMU tells it to.

It drives a `Unit`: an instance in FMPy, of either version of FMI, or in an engine for WebAssembly.
"""

from __future__ import annotations

import ctypes
import functools
import pathlib
import shutil
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import fmpy
import numpy as np
from fmpy.simulation import instantiate_fmu
from numpy.typing import NDArray
from scipy.integrate import BDF
from scipy.optimize import brentq

from mbfmu.fmi.variables import Interface

Vector = NDArray[np.float64]


class Values:
    """Which variables an importer reads to have scalars that are named as in FMI 2.0, and where these are then."""

    def __init__(self, description: Any, names: Sequence[str]) -> None:
        interface = Interface(description)
        scalars = [interface[name][0] for name in names]
        variables = list({id(scalar.variable): scalar.variable for scalar in scalars}.values())
        sizes = [int(np.prod(variable.shape or ())) for variable in variables]
        begins = dict(zip(map(id, variables), np.cumsum([0, *sizes]), strict=False))
        self.references = [int(variable.valueReference) for variable in variables]
        self.size = sum(sizes)
        self.places = [int(begins[id(scalar.variable)]) + scalar.place for scalar in scalars]


class Unit(Protocol):
    """An instance for model exchange that is in initialisation mode."""

    def start(self) -> None:
        """Leave initialisation mode, for event mode."""

    def states(self) -> Vector: ...

    def put(self, t: float, x: Vector) -> None: ...

    def derivatives(self) -> Vector: ...

    def indicators(self) -> Vector: ...

    def values(self) -> Vector: ...

    def update(self) -> tuple[bool, bool, bool, float | None]:
        """Evaluate discrete states: needed again, the simulation ends, restart, next event time."""

    def completed(self) -> bool:
        """The integrator has made a step: is an event needed?"""

    def enter(self, mode: str) -> None:
        """Enter `event` or `continuous-time` mode."""

    def close(self) -> None: ...


class Fmpy:
    """A unit of FMPy; arrays of FMI 3.0 are taken apart."""

    def __init__(self, path: pathlib.Path, names: Sequence[str], tolerance: float) -> None:
        description = fmpy.read_model_description(str(path))
        self.folder = fmpy.extract(str(path))
        self.fmu = instantiate_fmu(self.folder, description, "ModelExchange", logger=lambda *_: None)
        self.of_fmi_3 = description.fmiVersion.startswith("3")
        self.nx, self.nz = description.numberOfContinuousStates, description.numberOfEventIndicators
        self.completes = bool(description.modelExchange.needsCompletedIntegratorStep)
        self.read = Values(description, names)
        if self.of_fmi_3:
            self.fmu.enterInitializationMode(tolerance=tolerance)
        else:
            self.fmu.setupExperiment(tolerance=tolerance)
            self.fmu.enterInitializationMode()

    def start(self) -> None:
        self.fmu.exitInitializationMode()

    def _vector(self, call: Callable[..., Any], n: int) -> Vector:
        values = np.zeros(n)
        call(values.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), n)
        return values

    def states(self) -> Vector:
        return self._vector(self.fmu.getContinuousStates, self.nx)

    def put(self, t: float, x: Vector) -> None:
        self.fmu.setTime(t)
        x = np.ascontiguousarray(x)
        self.fmu.setContinuousStates(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), x.size)

    def derivatives(self) -> Vector:
        fmu = self.fmu
        return self._vector(fmu.getContinuousStateDerivatives if self.of_fmi_3 else fmu.getDerivatives, self.nx)

    def indicators(self) -> Vector:
        return self._vector(self.fmu.getEventIndicators, self.nz)

    def values(self) -> Vector:
        read, fmu = self.read, self.fmu
        given = fmu.getFloat64(read.references, read.size) if self.of_fmi_3 else fmu.getReal(read.references)
        return np.array(given)[read.places]

    def update(self) -> tuple[bool, bool, bool, float | None]:
        update = self.fmu.updateDiscreteStates if self.of_fmi_3 else self.fmu.newDiscreteStates
        needed, terminate, nominals, values, timed, instant = update()
        return bool(needed), bool(terminate), bool(nominals) or bool(values), instant if timed else None

    def completed(self) -> bool:
        return bool(self.fmu.completedIntegratorStep()[0]) if self.completes else False

    def enter(self, mode: str) -> None:
        (self.fmu.enterEventMode if mode == "event" else self.fmu.enterContinuousTimeMode)()

    def close(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder, ignore_errors=True)


class Importer:
    """Integrates one unit."""

    def __init__(self, unit: Unit, tolerance: float) -> None:
        self.unit, self.tolerance, self.restarts, self.events = unit, tolerance, 0, 0
        unit.start()
        self.handle_event()
        unit.enter("continuous-time")

    def derivatives(self, t: float, x: Vector) -> Vector:
        self.unit.put(t, x)
        return self.unit.derivatives()

    def indicators(self, t: float, x: Vector) -> Vector:
        self.unit.put(t, x)
        return self.unit.indicators()

    def indicator(self, i: int, states: Callable[[float], Vector], t: float) -> float:
        return float(self.indicators(t, states(t))[i])

    def handle_event(self) -> bool:
        """Let the FMU handle an event; True where the integrator has to start again."""
        changed, needed, instant = False, True, None
        while needed:
            needed, terminate, restart, instant = self.unit.update()
            assert not terminate
            changed |= restart
        self.instant = np.inf if instant is None else instant
        return changed

    def run(self, times: Vector) -> Vector:
        """Values of the variables at the times: [times, names]."""
        unit = self.unit
        x, end = unit.states(), times[-1]
        rows, at, solver, z = [], 0, None, self.indicators(times[0], x)
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
                unit.put(times[at], dense(times[at]))
                rows.append(unit.values())
                at += 1
            if at == len(times):
                return np.array(rows)
            x = dense(t) if crossed.size else x
            unit.put(t, x)
            step_event = unit.completed()
            if crossed.size or step_event or t >= self.instant:
                self.events += 1
                unit.enter("event")
                changed = self.handle_event()
                unit.enter("continuous-time")
                if changed:
                    solver, x = None, unit.states()
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
