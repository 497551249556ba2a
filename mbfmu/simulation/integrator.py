"""Adaptive steps by SciPy's integrators, with states that may be replaced between steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate

from .errors import StepError

Vector = np.ndarray

#: Integration methods by SciPy's names: Dormand-Prince 5(4) and 8(5,3), and the implicit Radau IIA for stiff models.
METHODS = {"RK45": integrate.RK45, "DOP853": integrate.DOP853, "Radau": integrate.Radau}

#: Below this tolerance the method of order 8 needs less work than that of order 5.
TIGHT = 1e-7


class Integrator:
    """Steps of dx/dt = f(t, x) whose error meets a tolerance.

    A step is accepted when the root mean square of err / (tolerance + tolerance max(|x0|, |x1|)) is below 1. The step
    size survives communication points: a step that is cut short there does not shorten the next one.

    Parameters
    ----------
    rhs
        f(t, x), returns a fresh array; NaN rejects a trial step.
    method
        One of `METHODS`; None takes DOP853 for tolerances below `TIGHT`, else RK45.
    tolerance
        Relative and absolute tolerance alike.
    """

    def __init__(self, rhs: Callable[[float, Vector], Vector], method: str | None, tolerance: float) -> None:
        if method is None:
            method = "DOP853" if tolerance < TIGHT else "RK45"
        if method not in METHODS:
            raise StepError(f"the integration method '{method}' is unknown; there are {', '.join(METHODS)}")
        if not 1e-13 <= tolerance < 1.0:
            raise StepError(f"the tolerance {tolerance:g} is out of range; choose one from 1e-13 to 0.1")
        self.t = 0.0
        self.x: Vector = np.zeros(0)
        self._rhs = rhs
        self._method = METHODS[method]
        self._tolerance = tolerance
        self._solver: Any = None

    @property
    def f(self) -> Vector:
        """dx/dt at the present point, as the next step will use it."""
        return self._solver.f if self._solver is not None else np.zeros(0)

    @property
    def h(self) -> float | None:
        """Size of the next step, s; None before it is known."""
        return float(self._solver.h_abs) if self._solver is not None else None

    def restart(self, t: float, x: Vector, h: float | None = None, f: Vector | None = None) -> None:
        """Start at (t, x).

        With h the first step has that size (it is estimated otherwise); f takes the place of the derivative at (t, x),
        so that a restored run goes on exactly as it would have.

        Raises
        ------
        StepError
            The derivative is not finite there.
        """
        self.t, self.x = t, x.copy()
        if x.size == 0:
            return
        tolerances = {"rtol": self._tolerance, "atol": self._tolerance}
        try:
            with np.errstate(all="ignore"):
                solver = self._method(self._rhs, t, self.x, np.inf, first_step=h, **tolerances)
            finite = np.isfinite(solver.f).all()
        except (ValueError, np.linalg.LinAlgError):
            finite = False
        if not finite:
            raise StepError(f"at t = {t:.9g} s the accelerations are not finite: the equations are singular there")
        if f is not None:
            solver.f = f
        self._solver = solver

    def step(self, bound: float) -> None:
        """Take one accepted step, at most to the time `bound`."""
        solver = self._solver
        if solver is None:
            self.t = bound
            return
        solver.t_bound, solver.status = bound, "running"
        planned = solver.h_abs
        with np.errstate(all="ignore"):
            solver.step()
        if solver.status == "failed":
            raise StepError(
                f"at t = {solver.t:.9g} s the step size became too small: the equations are singular or very stiff "
                f"there; try another tolerance than {self._tolerance:g} or, where they are stiff, the method Radau"
            )
        if solver.t == bound and solver.step_size < planned and solver.h_abs >= solver.step_size:
            solver.h_abs = max(solver.h_abs, planned)
        self.t, self.x = float(solver.t), solver.y

    def dense(self) -> Callable[[float], Vector]:
        """Return the interpolant of the last step."""
        return self._solver.dense_output() if self._solver is not None else lambda t: self.x

    def replace(self, x: Vector) -> None:
        """Put x in place of the present state; the last stage stays (its error is that of the step)."""
        self.x = x.copy()
        if self._solver is not None:
            self._solver.y = self.x
