"""Adaptive steps by SciPy's integrators, with states that may be replaced between steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate

from .errors import StepError

Vector = np.ndarray


#: Moves states near (t, the last of them) onto the constraints; None where that fails or is not worth its time.
Projection = Callable[[float, tuple[Vector, ...]], list[Vector] | None]


class _Projected:
    """Explicit method of SciPy for states that are projected: the error that projecting removes does not count.

    Without this, steps shrink towards positions in which branches of the motion cross, where constraint forces are all
    but undetermined, and end in them (Eich, SIAM Journal on Numerical Analysis 30, 1993, on the error).
    """

    projection: Projection
    #: The end of the last step where it has been projected to be accepted.
    projected: Vector | None = None

    def _estimate_error_norm(self: Any, K: Vector, h: float, scale: Vector) -> float:
        self.projected = None
        norm = float(super()._estimate_error_norm(K, h, scale))  # type: ignore[misc]
        if norm < 1.0 or not np.isfinite(norm):
            return norm
        y = self.y + h * (K[:-1].T @ self.B)
        pair = self.projection(self.t + h, (y - self._estimate_error(K, h), y))
        if pair is None:
            return norm
        tangential = float(np.linalg.norm((pair[1] - pair[0]) / scale) / np.sqrt(scale.size))
        if tangential < 1.0:
            self.projected = pair[1]
        return min(norm, tangential)


class ProjectedRK45(_Projected, integrate.RK45):
    """Dormand-Prince 5(4) with projection."""


class ProjectedDOP853(_Projected, integrate.DOP853):
    """Dormand-Prince 8(5,3) with projection."""


#: Integration methods by SciPy's names: Dormand-Prince 5(4) and 8(5,3), and the implicit Radau IIA for stiff models.
METHODS = {"RK45": integrate.RK45, "DOP853": integrate.DOP853, "Radau": integrate.Radau}
#: What takes their place where states are projected onto constraints.
PROJECTED = {integrate.RK45: ProjectedRK45, integrate.DOP853: ProjectedDOP853}

#: Below this tolerance the method of order 8 needs less work than that of order 5.
TIGHT = 1e-7

#: Product of step size and largest eigenvalue at which the explicit methods are at the edge of stability.
STABLE = {integrate.RK45: 3.25, ProjectedRK45: 3.25, integrate.DOP853: 6.1, ProjectedDOP853: 6.1}
#: So many steps at that edge tell that a model is stiff; so many others in a row take the suspicion away.
DOUBTS, RELIEF = 15, 6


class Integrator:
    """Steps of dx/dt = f(t, x) whose error meets a tolerance.

    A step is accepted when the root mean square of err / (tolerance + tolerance max(|x0|, |x1|)) is below 1. The step
    size survives communication points: a step that is cut short there does not shorten the next one.

    Parameters
    ----------
    rhs
        f(t, x), returns a fresh array; NaN rejects a trial step.
    method
        One of `METHODS`, or a choice: `explicit` takes DOP853 for tolerances below `TIGHT` (where nothing is projected
        between steps, which would cost it its order), else RK45; `implicit`
        takes Radau; `auto` begins explicitly and goes on implicitly where the model turns out to be stiff, until the
        next event.
    tolerance
        Relative and absolute tolerance alike.
    projection
        Where states are projected onto constraints after every step: moves states near (t, the last of them) onto
        them, None where that fails.
    """

    def __init__(
        self,
        rhs: Callable[[float, Vector], Vector],
        method: str,
        tolerance: float,
        projection: Projection | None = None,
    ) -> None:
        explicit = "DOP853" if tolerance < TIGHT and projection is None else "RK45"
        choices = {"auto": explicit, "explicit": explicit, "implicit": "Radau"} | dict(
            zip(METHODS, METHODS, strict=True)
        )
        if method not in choices:
            raise StepError(f"the integration method '{method}' is unknown; there are {', '.join(choices)}")
        if not 1e-13 <= tolerance < 1.0:
            raise StepError(f"the tolerance {tolerance:g} is out of range; choose one from 1e-13 to 0.1")
        self.t = 0.0
        self.x: Vector = np.zeros(0)
        self._rhs = rhs
        self._method: Any = METHODS[choices[method]]
        self._projection = projection
        if projection is not None:
            self._method = PROJECTED.get(self._method, self._method)
        self._may_change = method == "auto"
        self._doubts = self._relief = 0
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
        self._doubts = self._relief = 0
        if x.size == 0:
            return
        self._begin(self._method, h)
        if f is not None:
            self._solver.f = f

    def _begin(self, method: Any, h: float | None) -> None:
        """Make a solver at the present point."""
        t, tolerances = self.t, {"rtol": self._tolerance, "atol": self._tolerance}
        try:
            with np.errstate(all="ignore"):
                solver = method(self._rhs, t, self.x, np.inf, first_step=h, **tolerances)
            finite = np.isfinite(solver.f).all()
        except (ValueError, np.linalg.LinAlgError):
            finite = False
        if not finite:
            raise StepError(f"at t = {t:.9g} s the accelerations are not finite: the equations are singular there")
        if self._projection is not None:
            solver.projection = self._projection
        self._solver = solver

    def step(self, bound: float) -> None:
        """Take one accepted step, at most to the time `bound`."""
        solver = self._solver
        if solver is None:
            self.t = bound
            return
        if self._may_change and self._doubts == DOUBTS:
            self._begin(integrate.Radau, solver.h_abs)
            self._doubts, solver = 0, self._solver
        solver.t_bound, solver.status = bound, "running"
        planned = solver.h_abs
        with np.errstate(all="ignore"):
            solver.step()
        if solver.status == "failed":
            raise StepError(
                f"at t = {solver.t:.9g} s the step size became too small: the equations are singular or very stiff "
                f"there; try another tolerance than {self._tolerance:g} or, where they are stiff, the method implicit"
            )
        if solver.t == bound and solver.step_size < planned and solver.h_abs >= solver.step_size:
            solver.h_abs = max(solver.h_abs, planned)
        self.t, self.x = float(solver.t), solver.y
        projected = getattr(solver, "projected", None)
        if projected is not None:
            self.x = solver.y = projected
            solver.f = self._rhs(self.t, self.x)
        if self._may_change and type(solver) in STABLE:
            self._judge(solver)

    def undo(self, factor: float) -> None:
        """Take the last step back; the next one is shorter by a factor."""
        solver = self._solver
        self.t, self.x = float(solver.t_old), solver.y_old
        self._begin(type(solver), factor * solver.step_size)

    def _judge(self, solver: Any) -> None:
        """Count the steps that stability keeps short (Hairer and Wanner, Solving ODEs II, section IV.2)."""
        last = solver.n_stages - 1
        before = solver.y_old + solver.step_size * (solver.A[last, :last] @ solver.K[:last])
        bend, gap = solver.K[last + 1] - solver.K[last], solver.y - before
        if solver.step_size * np.linalg.norm(bend) > STABLE[type(solver)] * np.linalg.norm(gap):
            self._doubts, self._relief = self._doubts + 1, 0
        else:
            self._relief += 1
            if self._relief == RELIEF:
                self._doubts = 0

    def dense(self) -> Callable[[float], Vector]:
        """Return the interpolant of the last step."""
        return self._solver.dense_output() if self._solver is not None else lambda t: self.x

    def replace(self, x: Vector) -> None:
        """Put x in place of the present state; the last stage stays (its error is that of the step)."""
        self.x = x.copy()
        if self._solver is not None:
            self._solver.y = self.x
