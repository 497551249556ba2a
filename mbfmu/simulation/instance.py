"""One running model: everything that changes, and the steps of co-simulation (FMI 2.0.4, section 4.2)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from .equations import Equations
from .errors import SimulationError, StepError
from .functions import Workspace
from .initialise import Start, initialise
from .stepping import Point, Stepper

Vector = np.ndarray


class Instance:
    """A model that is initialised, stepped, read and written.

    Until `finish_initialisation`, reading a value after a change initialises anew. From then on values belong to the
    end of the last step: inputs set later act on the next step and do not alter them; tunable parameters act at once.
    A call that fails leaves the instance as it was.

    Parameters
    ----------
    equations
        What the model is; never changed, shared by all instances.
    tolerance
        Relative and absolute tolerance of the integrator; None takes the model's own.
    method
        One of those that `Integrator` knows; None takes the model's own.
    """

    def __init__(self, equations: Equations, tolerance: float | None = None, method: str | None = None) -> None:
        self.equations = equations
        self._method = method or equations.solver
        self._workspace = Workspace(equations)
        self.reset()
        self.set_tolerance(equations.tolerance if tolerance is None else tolerance)

    def reset(self) -> None:
        """Return to the state after instantiation, with default parameters and inputs."""
        self.start_time = self.equations.start_time
        self._p = self.equations.vector("parameters")
        self._u = self.equations.vector("inputs")
        self._P = np.zeros(0)
        self._initialising = True
        self._start: Start | None = None
        self._point: Point | None = None
        self._cache: dict[str, Vector] = {}

    def set_tolerance(self, tolerance: float) -> None:
        """Set the tolerance of the integrator.

        Raises
        ------
        StepError
            It is not between 1e-13 and 1, or the method is unknown.
        """
        self._stepper = Stepper(self._workspace, self._method, tolerance)
        self.tolerance = tolerance

    def set_start_time(self, time: float) -> None:
        """Set the time at which the model is initialised, s."""
        self.start_time = time
        self._start = None

    @property
    def initialising(self) -> bool:
        """True until the initialisation is finished: parameters and start values may be set."""
        return self._initialising

    @property
    def time(self) -> float:
        """Time of the end of the last step, s."""
        return self.start_time if self._initialising else self._latched.t

    def set_parameter(self, index: int, value: float) -> None:
        """Set entry `index` of p: any of them before the initialisation is finished, tunable ones afterwards."""
        self._p = self._p.copy()
        self._p[index] = value
        if self._initialising:
            self._start = None
            return
        p = self._P[: self.equations.npar].copy()
        p[index] = value
        self._workspace.set_parameters(p)
        self._P = self._workspace.P.copy()
        self._cache = {}

    def set_input(self, index: int, value: float) -> None:
        """Set entry `index` of u; it is kept constant through the next step."""
        if self._u[index] == value:
            return
        self._u = self._u.copy()
        self._u[index] = value
        if self._initialising:
            self._start = None

    def initialise(self) -> Start:
        """Find a consistent start for the present parameters and inputs; does nothing where nothing has changed.

        Raises
        ------
        SimulationError
            There is none; the message says which equation or start value is in the way.
        """
        if not self._initialising:
            raise SimulationError("the initialisation is finished; reset the model to initialise it anew")
        if self._start is None:
            with np.errstate(all="ignore"):
                start = initialise(self._workspace, self.start_time, self._p, self._u)
            self._start, self._P = start, start.P
            self._latch(Point(self.start_time, start.x, self._u, start.P, start.m))
        return self._start

    def finish_initialisation(self) -> None:
        """Initialise where something has changed, and be ready for steps."""
        self.initialise()
        self._initialising = False

    def get(self, store: str, index: int) -> float:
        """Value of one entry of a store; see `values`."""
        if store == "P" and self._initialising and index < self.equations.npar and index not in self.equations.free:
            return float(self._p[index])
        return float(self.values(store)[index])

    def values(self, store: str) -> Vector:
        """Values of a store, `time`, `x`, `u`, `P`, `w` or `y`; not to be written to.

        Before the initialisation is finished, this initialises anew where something was set.

        Raises
        ------
        SimulationError
            The values need an initialisation, and that fails.
        """
        if store == "time":
            return np.array([self.time])
        if store == "u":
            return self._u
        if self._initialising:
            self.initialise()
        if store == "P":
            return self._P
        if store == "x":
            return self._latched.x
        if store not in self._cache:
            point, workspace = self._latched, self._workspace
            workspace.set_point(point.t, point.x, point.u, self._P, point.m)
            with np.errstate(all="ignore"):
                self._cache["w"] = workspace.solve().copy()
            if store == "y":
                self._cache["y"] = workspace.variables().copy()
        return self._cache[store]

    def do_step(self, h: float) -> None:
        """Go on by h [s] with constant inputs.

        Raises
        ------
        SimulationError
            The step cannot be made; the instance stays where it was.
        """
        self.advance(self.time + h)

    def advance(self, end: float) -> None:
        """Go on to the time `end` [s]; see `do_step`."""
        if self._initialising:
            raise SimulationError("a step needs a finished initialisation")
        begin = self._latched
        if not begin.t <= end < np.inf:
            raise StepError(f"the model is at t = {begin.t:.9g} s and cannot step to {end:.9g} s")
        if end == begin.t:
            return
        with np.errstate(all="ignore"):
            self._latch(self._stepper.advance(self._present(), end))

    def save(self) -> dict[str, Any]:
        """State of the instance as plain numbers, lists and dictionaries (fit for JSON and pickle)."""
        point = None if self._initialising else self._latched
        h, f = (None, None) if point is None else self._stepper.resumption(self._present())
        return {
            "start_time": self.start_time,
            "tolerance": self.tolerance,
            "initialising": self._initialising,
            "p": self._p.tolist(),
            "u": self._u.tolist(),
            "P": self._P.tolist(),
            "point": None if point is None else {key: np.asarray(value).tolist() for key, value in vars(point).items()},
            "h": h,
            "f": None if f is None else f.tolist(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Return to what `save` gave, of this or of another instance of the same model.

        Raises
        ------
        SimulationError
            The state is not one of this model.
        """
        equations = self.equations
        try:
            p, u, P = (np.array(state[name], dtype=float) for name in ("p", "u", "P"))
            point = None if state["point"] is None else _point(state["point"])
            start_time, initialising = float(state["start_time"]), bool(state["initialising"])
            tolerance, h, f = float(state["tolerance"]), state["h"], state["f"]
        except (KeyError, TypeError, ValueError) as error:
            raise SimulationError(f"this is not the saved state of a model ({error!r})") from error
        if (p.size, u.size) != (equations.npar, equations.nu) or (point is not None and point.x.size != equations.nx):
            raise SimulationError(f"this is not a saved state of the model '{equations.name}': the sizes differ")
        self.set_tolerance(tolerance)
        self.start_time, self._initialising = start_time, initialising
        self._p, self._u, self._P, self._start, self._point = p, u, P, None, None
        if point is None:
            return
        if h is not None:
            stage = None
            if f is not None:
                # Equal arrays become the same array: by identity the stepper knows that nothing was set since its step.
                self._u, self._P = point.u, point.P
                stage = np.array(f, dtype=float)
            point = self._stepper.resume(point, float(h), stage)
        self._latch(point)

    def _present(self) -> Point:
        """Where the next step begins: the latched point with the inputs and parameters set since."""
        return dataclasses.replace(self._latched, u=self._u, P=self._P)

    @property
    def _latched(self) -> Point:
        if self._point is None:
            raise SimulationError("the model is not initialised")
        return self._point

    def _latch(self, point: Point) -> None:
        self._point = point
        self._cache = {}


def _point(state: dict[str, Any]) -> Point:
    x, u, P, m = (np.array(state[name], dtype=float) for name in ("x", "u", "P", "m"))
    return Point(float(state["t"]), x, u, P, m)
