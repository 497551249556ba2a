"""Initialisation: the point nearest to the guesses where all equations hold and the fixed start values are kept."""

from __future__ import annotations

import dataclasses

import numpy as np

from .errors import InitialisationError
from .functions import Workspace
from .linear import RANK_TOLERANCE, minimum_norm
from .project import check, most_dependent, normalise, regularity
from .singular import SINGULAR, leave

Vector = np.ndarray

#: A residual below this fraction of its row's size counts as met.
MET = 1e-9
#: Gauss-Newton and Levenberg-Marquardt steps of one attempt.
ITERATIONS = 60
#: Steps for the speeds at held positions: they enter linearly, but for start values that depend on them otherwise.
SPEED_ITERATIONS = 4
#: Attempts from disturbed guesses, and the disturbance of the last one (of an unknown of size 1 and weight 1).
RESTARTS, DISTURBANCE = 16, 1.0
#: Rounds of solving and setting the switches anew.
MODE_ROUNDS = 12
#: Names that one message shows at most.
SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Start:
    """A consistent start: states x, parameters P with the free ones found, modes m.

    `residual` is the largest residual left, `rank` that of the Jacobian in the unknowns that may move, and
    `undetermined` names the unknowns that no equation determines: they stay as close to their guesses as the others
    allow.
    """

    x: Vector
    P: Vector
    m: Vector
    residual: float
    rank: int
    undetermined: tuple[str, ...]


def initialise(workspace: Workspace, t: float, p: Vector, u: Vector, *, leaves: bool = True) -> Start:
    """Solve the initialisation of the model at time t [s] with parameters p [npar] and inputs u [nu].

    Where `leaves`, a start in a singular position is put on a branch of motion beside it.

    Raises
    ------
    InitialisationError
        Equations cannot be met, or switches do not settle, or the accelerations have no unique values; the message
        names the equations and says by how much they fail and which fixed start values are in their way.
    ConsistencyError
        A dropped constraint or an assertion does not hold.
    """
    equations = workspace.equations
    workspace.set_parameters(p)
    workspace.set_point(t, np.zeros(equations.nx), u, workspace.P, np.zeros(equations.nm))
    problem = _Problem(workspace)
    X = workspace.guess()
    if not np.isfinite(X).all():
        name = equations.unknown_names[int(np.argmin(np.isfinite(X)))]
        raise InitialisationError(f"the start value of '{name}' is not finite: check the start values and parameters")
    problem.normalise(X)
    problem.write_back(X)
    settle(workspace)
    guess = X
    changes = np.zeros(equations.nm, dtype=int)
    for _ in range(MODE_ROUNDS):
        before, modes = workspace.P.copy(), workspace.m.copy()
        X = problem.solve(guess)
        if leaves:
            X = leave(problem, X)
        problem.write_back(X)
        # A switch that has changed there and back starts on its crossing: rounding decides, and either mode is right.
        is_changed = settle(workspace, np.flatnonzero(changes > 1))
        changes += modes != workspace.m
        if not is_changed and np.allclose(before, workspace.P, rtol=1e-12, atol=0.0, equal_nan=True):
            break
    else:
        raise InitialisationError(
            f"at t = {t:.9g} s the switches of the model do not settle: with either mode the other one applies; start "
            "away from the point where they change"
        )
    check(workspace)
    if not np.isfinite(workspace.solve()).all():
        raise InitialisationError(_singular(workspace))
    residual, rank, undetermined = problem.report(X)
    return Start(workspace.x.copy(), workspace.P.copy(), workspace.m.copy(), residual, rank, undetermined)


def settle(workspace: Workspace, flipped: int | Vector | None = None) -> bool:
    """Set the modes of all switches for the present point; returns whether one changed.

    Each switch flips once at most (`flipped`, an index or some, have done so already), so that switches that contradict
    each other do not go round in circles. Switches of time take their mode for the moment just after t, so that an
    event at t has happened.
    """
    m, t = workspace.m, float(workspace.t[0])
    if m.size == 0:
        return False
    of_time = np.array(workspace.equations.time_switches, dtype=bool)
    open_to_change = np.ones(m.size, dtype=bool)
    if flipped is not None:
        open_to_change[flipped] = False
    changed = False
    while True:
        workspace.solve()
        wrong = (workspace.crossings() >= 0.0) != (m > 0.0)
        if of_time.any():
            workspace.t[0] = t + time_margin(t)
            wrong[of_time] = ((workspace.crossings() >= 0.0) != (m > 0.0))[of_time]
            workspace.t[0] = t
        wrong &= open_to_change
        if not wrong.any():
            return changed
        m[wrong] = 1.0 - m[wrong]
        open_to_change &= ~wrong
        changed = True


def time_margin(t: float) -> float:
    """Instants closer than this are one, s."""
    return 1e-12 * max(1.0, abs(t))


class _Problem:
    """The equations of initialisation at one set of parameters and modes."""

    def __init__(self, workspace: Workspace) -> None:
        equations = workspace.equations
        self.workspace = workspace
        self.equations = equations
        self.fixed = np.array(equations.fixed, dtype=bool)
        # Unknowns are scaled by the cost of moving them; a fixed one has the scale 0 and does not move.
        self.scale = np.where(self.fixed, 0.0, 1.0 / np.array(equations.weights, dtype=float))

    def normalise(self, X: Vector) -> None:
        """Scale the quaternions in X to length 1."""
        normalise(X[: self.equations.nq], self.equations.quaternions)

    def write_back(self, X: Vector) -> None:
        """Put states and free parameters of X into the workspace."""
        nx, free = self.equations.nx, list(self.equations.free)
        self.workspace.x[:] = X[:nx]
        if free:
            p = self.workspace.p.copy()
            p[free] = X[nx : nx + len(free)]
            self.workspace.set_parameters(p)

    def evaluate(self, X: Vector) -> tuple[Vector, np.ndarray, float]:
        """Residuals, Jacobian and the norm of the residuals (infinite where they are not finite) at X."""
        self.workspace.X[:] = X
        r, J = self.workspace.initial()
        norm = float(np.sqrt(r @ r))
        if not (np.isfinite(norm) and np.isfinite(J).all()):
            norm = np.inf
        return r.copy(), J.copy(), norm

    def misfit(self, X: Vector, r: Vector, J: np.ndarray) -> Vector:
        """Residuals relative to the size of the terms in their equations."""
        return np.abs(r) / (1.0 + np.abs(J) @ np.abs(X))

    def is_solution(self, X: Vector) -> bool:
        """Tell whether all equations are met at X."""
        r, J, norm = self.evaluate(X)
        return bool(np.isfinite(norm) and (self.misfit(X, r, J) <= MET).all())

    def solve(self, guess: Vector) -> Vector:
        """Solve from `guess`, then from disturbed guesses."""
        if self.equations.nr == 0:
            return guess
        random = np.random.default_rng(0)
        best, smallest = guess, np.inf
        for attempt in range(RESTARTS + 1):
            X = guess.copy()
            if attempt:
                size = DISTURBANCE * attempt / RESTARTS * np.maximum(1.0, np.abs(guess))
                X += random.normal(size=X.size) * size * np.minimum(self.scale, 1.0)
                self.normalise(X)
            for method in (self._gauss_newton, self._levenberg_marquardt):
                X = method(X)
                if self.is_solution(X):
                    return X
            norm = self.evaluate(X)[2]
            if norm < smallest:
                best, smallest = X, norm
        raise InitialisationError(self._explain(best))

    def solve_speeds(self, X: Vector) -> Vector:
        """Solve from X with its positions held; what they alone decide stays as it is."""
        scale = self.scale.copy()
        scale[: self.equations.nq] = 0.0
        for _ in range(SPEED_ITERATIONS):
            r, J, norm = self.evaluate(X)
            if not np.isfinite(norm):
                break
            X = X + scale * minimum_norm(J * scale, -r)[0]
        return X

    def _gauss_newton(self, X: Vector) -> Vector:
        """Steps of minimum norm with line search, down to rounding or until they stall."""
        r, J, norm = self.evaluate(X)
        for _ in range(ITERATIONS):
            if norm == 0.0 or not np.isfinite(norm):
                break
            step = self.scale * minimum_norm(J * self.scale, -r)[0]
            found = self._search(X, step, norm)
            if found is None:
                break
            previous = norm
            X, (r, J, norm) = found
            if norm > 0.5 * previous and (self.misfit(X, r, J) <= MET).all():
                break
        return X

    def _search(self, X: Vector, step: Vector, norm: float) -> tuple[Vector, tuple[Vector, np.ndarray, float]] | None:
        """Halve the step until the residuals fall."""
        for halving in range(12):
            fraction = 0.5**halving
            trial = X + fraction * step
            self.normalise(trial)
            result = self.evaluate(trial)
            if result[2] < (1.0 - 1e-4 * fraction) * norm:
                return trial, result
        return None

    def _levenberg_marquardt(self, X: Vector) -> Vector:
        """Damped steps (Nielsen's rule for the damping) where full ones stall."""
        r, J, norm = self.evaluate(X)
        if not np.isfinite(norm):
            return X
        scaled = J * self.scale
        damping = 1e-3 * max(float((scaled**2).sum(axis=0).max(initial=0.0)), 1e-12)
        growth = 2.0
        for _ in range(ITERATIONS):
            rows = np.vstack([scaled, np.sqrt(damping) * np.eye(X.size)])
            y = minimum_norm(np.asfortranarray(rows), np.concatenate([-r, np.zeros(X.size)]))[0]
            trial = X + self.scale * y
            self.normalise(trial)
            r_trial, J_trial, norm_trial = self.evaluate(trial)
            predicted = y @ (damping * y - scaled.T @ r)
            gain = (norm**2 - norm_trial**2) / predicted if predicted > 0.0 else -1.0
            if gain > 0.0:
                stalled = norm_trial > (1.0 - 1e-9) * norm
                X, r, norm, scaled = trial, r_trial, norm_trial, J_trial * self.scale
                damping *= max(1 / 3, 1 - (2 * gain - 1) ** 3)
                growth = 2.0
                if stalled or (self.misfit(X, r, J_trial) <= MET).all():
                    break
            else:
                damping, growth = damping * growth, growth * 2.0
                if not np.isfinite(damping):
                    break
        return self._gauss_newton(X)

    def report(self, X: Vector) -> tuple[float, int, tuple[str, ...]]:
        """Largest residual, rank of the Jacobian and the names of unknowns that no equation determines."""
        names = self.equations.unknown_names
        movable = np.flatnonzero(~self.fixed)
        if self.equations.nr == 0:
            return 0.0, 0, tuple(names[i] for i in movable)
        r, J, _ = self.evaluate(X)
        if movable.size == 0:
            return float(np.abs(r).max()), 0, ()
        _, values, rows = np.linalg.svd(J[:, movable] * self.scale[movable])
        rank = int((values > RANK_TOLERANCE * max(values[0], np.finfo(float).tiny)).sum())
        loose = np.sqrt((rows[rank:] ** 2).sum(axis=0)) > 1e-6
        return float(np.abs(r).max()), rank, tuple(names[i] for i in movable[loose])

    def _explain(self, X: Vector) -> str:
        """Say which equations cannot be met, by how much, and which start values are in their way."""
        equations = self.equations
        r, J, norm = self.evaluate(X)
        if not np.isfinite(norm):
            bad = np.flatnonzero(~np.isfinite(r))
            where = f" in '{equations.equation_names[bad[0]]}'" if bad.size else ""
            return f"initialisation fails: the equations have no finite value{where}; check start values and parameters"
        misfit = self.misfit(X, r, J)
        order = [i for i in np.argsort(-misfit, kind="stable") if misfit[i] > MET]
        lines = [f"initialisation fails: {len(order)} of {equations.nr} equations cannot be met"]
        lines += _shown([f"  '{equations.equation_names[i]}' is off by {abs(r[i]):.3g}" for i in order])
        # At the best point the residual is orthogonal to everything that may move, so only fixed start values or
        # parameters can reduce it: those whose columns have a part along it are the ones that contradict each other.
        influence = np.abs(J.T @ r) / norm
        held = [i for i in np.flatnonzero(self.fixed) if influence[i] > 1e-6 * (1.0 + np.abs(J).max())]
        if held:
            held.sort(key=lambda i: -influence[i])
            lines.append("these fixed start values over-determine it; let one of them be a guess, or change it:")
            lines += _shown([f"  {equations.unknown_names[i]} = {X[i]:.9g}" for i in held])
        else:
            lines.append("no start value is in the way: check the parameters in these equations, or start closer")
        return "\n".join(lines)


def _singular(workspace: Workspace) -> str:
    """Say which accelerations and constraint forces the equations of motion leave open at the present point."""
    equations = workspace.equations
    when = f"at t = {workspace.t[0]:.9g} s the equations of motion"
    A, b = workspace.dynamics()
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        return f"{when} have no finite value: check start values and parameters"
    if equations.explicit:
        return f"{when} are singular: something moves that has no mass"
    if regularity(workspace) < SINGULAR:
        return (
            f"at t = {workspace.t[0]:.9g} s the mechanism is in a singular position, in which branches of its motion "
            "cross or end, and the start values of speeds lead along none of them "
            f"('{most_dependent(workspace)}' depends on the other constraints there): change them, or start beside it"
        )
    _, values, rows = np.linalg.svd(A)
    null = np.abs(rows[values <= RANK_TOLERANCE * max(values[0], np.finfo(float).tiny)]).sum(axis=0)
    speeds = equations.unknown_names[equations.nq : equations.nq + equations.nv]
    names = [f"  der({name})" for name in speeds] + [f"  force of '{name}'" for name in equations.velocity_names]
    order = [i for i in np.argsort(-null, kind="stable") if null[i] > 1e-6]
    head = f"{when} are singular: something moves that has no mass, or is held twice; they leave open"
    return "\n".join([head, *_shown([names[i] for i in order])])


def _shown(lines: list[str]) -> list[str]:
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"  and {len(lines) - SHOWN} more"]
