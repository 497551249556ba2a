"""A linear model along a run against the model-exchange FMU: what becomes of small deviations of states and inputs.

About a rest the linear model is one state space; about any other motion its matrices change with time, and are taken at
the Gauss points of each interval (Magnus expansion of fourth order; Blanes et al., Physics Reports 470 (2009) 151).
"""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import pathlib
import tempfile

import fmpy
import numpy as np
import scipy.integrate
import scipy.linalg
from fmpy.fmi2 import FMU2Model

import mbfmu
from mbfmu.dynamics.system import System
from mbfmu.studies import operating
from mbfmu.studies.points import point_of_run

GAUSS = 0.5 + np.array([-1.0, 1.0]) * np.sqrt(3.0) / 6.0


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Deviations of the outputs, linear and nonlinear [times, outputs], per unit of disturbance."""

    linear: np.ndarray
    nonlinear: np.ndarray

    @property
    def error(self) -> float:
        """The largest difference, relative to the largest deviation of each output."""
        scale = np.abs(self.nonlinear).max(axis=0)
        return float((np.abs(self.linear - self.nonlinear) / np.maximum(scale, 1e-6 * scale.max())).max())


class Event(Exception):
    """The motion meets an event, past which no linear model holds."""


class Nonlinear:
    """The model as an FMU for model exchange, under SciPy's integrator of order 8."""

    def __init__(self, system: System, folder: pathlib.Path, outputs: tuple[str, ...]) -> None:
        file = mbfmu.build(system, folder / "model.fmu", equations="interpreted")
        description = fmpy.read_model_description(str(file))
        assert description.modelExchange is not None
        unpacked = fmpy.extract(str(file), str(folder / "unpacked"))
        references = {v.name: v.valueReference for v in description.modelVariables}
        self.outputs = [references[name] for name in outputs]
        self.inputs = [v.valueReference for v in description.modelVariables if v.causality == "input"]
        self.indicators = np.zeros(description.numberOfEventIndicators)
        self.fmu = FMU2Model(
            guid=description.guid,
            unzipDirectory=unpacked,
            modelIdentifier=description.modelExchange.modelIdentifier,
            instanceName="chirp",
        )
        self.fmu.instantiate()
        self.fmu.setupExperiment(tolerance=1e-12, startTime=system.equations.start_time)
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self._update()

    def _update(self) -> None:
        while self.fmu.newDiscreteStates()[0]:
            pass
        self.fmu.enterContinuousTimeMode()

    def _put(self, t: float, x: np.ndarray, u: np.ndarray) -> None:
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), x.size)
        if self.inputs:
            self.fmu.setReal(self.inputs, u.tolist())

    def signs(self, t: float, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Which event indicators are positive."""
        self._put(t, x, u)
        if self.indicators.size:
            self.fmu.getEventIndicators(
                self.indicators.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), self.indicators.size
            )
        return self.indicators > 0

    def run(self, times: np.ndarray, x: np.ndarray, u) -> np.ndarray:
        """Outputs [times, outputs] of a motion from x, under inputs u(t); raises Event."""
        if not x.size:
            return np.array([self._shown(t, x, u(t)) for t in times])
        self._put(times[0], x, u(times[0]))
        self.fmu.enterEventMode()
        self._update()
        signs = self.signs(times[0], x, u(times[0]))

        def rates(t, x):
            self._put(t, np.ascontiguousarray(x), u(t))
            found = np.zeros(x.size)
            self.fmu.getDerivatives(found.ctypes.data_as(ctypes.POINTER(ctypes.c_double)), x.size)
            return found

        found = scipy.integrate.solve_ivp(
            rates, times[[0, -1]], x, method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13,
            max_step=(times[-1] - times[0]) / 40,
        )  # fmt: skip
        assert found.success, found.message
        rows = []
        for t, x in zip(times, np.ascontiguousarray(found.y.T), strict=True):
            if (self.signs(t, x, u(t)) != signs).any():
                raise Event
            rows.append(self._shown(t, x, u(t)))
        return np.array(rows)

    def _shown(self, t: float, x: np.ndarray, u: np.ndarray) -> list[float]:
        self._put(t, x, u)
        return self.fmu.getReal(self.outputs)

    def close(self) -> None:
        self.fmu.terminate()
        self.fmu.freeInstance()


def compare(system: System, intervals: int, at: float | None = None, size: float = 1e-6) -> Comparison:
    """Disturb all independent states at a time of the run (a third of it where `at` is None), drive inputs by a chirp.

    It lasts 0.3 times of the quickest mode. Where the motion meets an event, it starts at another time, or is shorter.
    """
    start, stop = system.equations.start_time, system.equations.stop_time
    chosen = [at] if at is not None else start + (stop - start) * np.array([1 / 3, 0.4, 0.46, 0.53, 0.62, 0.71, 0.83])
    with tempfile.TemporaryDirectory() as folder:
        outputs = mbfmu.linearize(system, chosen[0]).outputs
        nonlinear = Nonlinear(system, pathlib.Path(folder), outputs)
        try:
            for length, time in itertools.product((0.3, 0.06), chosen):
                try:
                    return _compared(system, nonlinear, intervals, float(time), length, size)
                except Event:
                    continue
        finally:
            nonlinear.close()
    raise Event(f"{system.name}: events everywhere")


def _compared(
    system: System, nonlinear: Nonlinear, intervals: int, start: float, length: float, size: float
) -> Comparison:
    first = mbfmu.linearize(system, start)
    t, x, u, P, m = point_of_run(system, start, None)
    mechanics = operating.Mechanics(system.equations, P)
    reduced = operating.reduce(mechanics, t, x, u, m)
    quickest = max(np.abs(first.eigenvalues).max(initial=0.0),
                   np.abs(first.rates / np.maximum(1.0, np.abs(first.x0))).max(initial=0.0))  # fmt: skip
    span = min(0.01 * (system.equations.stop_time - system.equations.start_time), length / max(quickest, 1e-3))
    times = start + np.linspace(0.0, span, intervals + 1)

    def chirp(t):
        s = (t - start) / span
        return np.sin(2 * np.pi * (0.5 + s) * s)

    # in the states' own scales; independent ones take the others along
    state = np.random.default_rng(0).choice([-1.0, 1.0], len(first.states)) * np.maximum(1.0, np.abs(first.x0))
    direction = reduced.embedding @ state
    runs = [
        nonlinear.run(times, x + sign * size * direction, lambda t, sign=sign: u + sign * size * chirp(t))
        for sign in (1.0, -1.0)
    ]
    change = (runs[0] - runs[1]) / (2 * size)

    def at(t):
        found = mbfmu.linearize(system, t) if t > start else first
        assert found.states == first.states
        return found

    n, ones = len(first.states), np.ones(len(first.inputs))
    linear = [first.C @ state + first.D @ ones * chirp(start)]
    for a, b in itertools.pairwise(times):
        points = a + GAUSS * (b - a)
        ends = [at(t) for t in points]

        def matrix(t, points=points, ends=ends):
            share = (t - points[0]) / (points[1] - points[0])
            found = np.zeros((n + 1, n + 1))  # the inputs' part is a state more, which is 1
            found[:n, :n] = (1 - share) * ends[0].A + share * ends[1].A
            found[:n, n] = ((1 - share) * ends[0].B + share * ends[1].B) @ ones * chirp(t)
            return found

        # the chirp is quicker than the matrices
        for c, d in itertools.pairwise(np.linspace(a, b, 17)):
            h = d - c
            one, two = (matrix(t) for t in c + GAUSS * h)
            omega = h / 2 * (one + two) + np.sqrt(3) / 12 * h**2 * (two @ one - one @ two)
            state = (scipy.linalg.expm(omega) @ np.append(state, 1.0))[:n]
        found = at(b)
        linear.append(found.C @ state + found.D @ ones * chirp(b))
    return Comparison(np.array(linear), change)
