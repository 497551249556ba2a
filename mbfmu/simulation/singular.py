"""Starts in singular positions, where branches of motion cross: put the mechanism on one of them.

A parallelogram whose bars lie on one line can go on as a parallelogram or with its bars crossed. Its constraints do not
say which speeds lead along a branch (their Jacobian loses rank), and they leave accelerations open. Both follow from
the branch itself: it is found by short ways to either side of the start, and left in the start's direction of motion.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from .errors import ConsistencyError
from .functions import Workspace
from .linear import minimum_norm
from .project import normalise, project, regularity

Vector = np.ndarray

#: A Jacobian whose smallest singular value is below this fraction of the largest belongs to a singular position.
SINGULAR = 1e-6
#: Length of the ways on which a branch is found; the error of its direction is about the square of it.
REACH = 1e-4
#: Length of the way from the singular position to the start on the branch [rad, m; all speeds together].
AWAY = 1e-7
#: Newton steps that take positions down to rounding errors.
SHARPENINGS = 2
#: Directions that are tried where the speeds do not show one.
DIRECTIONS = 12


class Problem(Protocol):
    """The equations of initialisation, as far as a branch is found with them."""

    workspace: Workspace

    def write_back(self, X: Vector) -> None:
        """Put states and parameters of X into the workspace."""

    def solve_speeds(self, X: Vector) -> Vector:
        """Solve from X with its positions held."""


@dataclasses.dataclass(frozen=True)
class _Branch:
    """A motion through the singular position: unknowns X close to it, and the growth of its power from there."""

    X: Vector
    growth: float


def leave(problem: Problem, X: Vector) -> Vector:
    """Put a solution X [nX] of initialisation on a branch of motion, `AWAY` from a singular position.

    Speeds keep their fixed start values and are changed as little as the branch allows. A mechanism at rest takes the
    branch along which the loads drive it most. X comes back as it is where the position is regular, or where there is
    no such branch.
    """
    workspace, equations = problem.workspace, problem.workspace.equations
    problem.write_back(X)
    if equations.nl == 0 or (before := regularity(workspace)) > SINGULAR:
        return X
    best: _Branch | None = None
    v = X[equations.nq : equations.nq + equations.nv]
    for direction in _directions(v):
        branch = _branch(problem, X, direction, max(1e-2 * REACH, 100 * before))
        if branch is not None and (best is None or branch.growth > best.growth):
            best = branch
        if best is not None and v.any():
            break
    return X if best is None else best.X


def _directions(v: Vector) -> Iterator[Vector]:
    """Yield unit displacements: that of the speeds v, if any, then others around it."""
    along = v / np.linalg.norm(v) if v.any() else v
    if v.any():
        yield along
    random = np.random.default_rng(0)
    for _ in range(DIRECTIONS):
        other = random.normal(size=v.size)
        other = other / np.linalg.norm(other) + along
        yield other / np.linalg.norm(other)


def _sharpen(workspace: Workspace) -> None:
    """Take a projected position down to rounding errors, which the direction of a branch hangs on."""
    equations = workspace.equations
    q = workspace.x[: equations.nq]
    for _ in range(SHARPENINGS):
        g, _, G = workspace.constraints()
        q += workspace.displacement(minimum_norm(G[: equations.ng], -g)[0])
        normalise(q, equations.quaternions)


def _go(problem: Problem, X: Vector, step: Vector, regular: float) -> tuple[Vector, Vector] | None:
    """Go a short step [nv] from X to where constraints are met and `regular`: unknowns and accelerations, or None."""
    workspace = problem.workspace
    nq, nv = workspace.equations.nq, workspace.equations.nv
    problem.write_back(X)
    workspace.x[:nq] += workspace.displacement(step)
    try:
        project(workspace)
    except ConsistencyError:
        return None
    _sharpen(workspace)
    moved = np.linalg.norm(workspace.x[:nq] - X[:nq])
    if not 0.1 * REACH < moved < 10 * REACH or regularity(workspace) < regular:
        return None
    end = X.copy()
    end[:nq] = workspace.x[:nq]
    end = problem.solve_speeds(end)
    problem.write_back(end)
    c, a = workspace.constraints()[1], workspace.solve()[:nv].copy()
    if not (np.isfinite(a).all() and np.abs(c).max() <= 1e-9 * (1.0 + np.abs(end[nq : nq + nv]).max())):
        return None
    return end, a


def _branch(problem: Problem, X: Vector, direction: Vector, regular: float) -> _Branch | None:
    """Return the branch that is nearest to a direction, or None where it cannot be followed to both sides."""
    workspace = problem.workspace
    nq, nv = workspace.equations.nq, workspace.equations.nv
    ahead = _go(problem, X, REACH * direction, regular)
    behind = ahead and _go(problem, X, -REACH * direction, regular)
    if ahead is None or behind is None:
        return None
    mean, odd, a = (ahead[0] + behind[0]) / 2, (ahead[0] - behind[0]) / 2, (ahead[1] + behind[1]) / 2
    v = mean[nq : nq + nv]
    if np.abs(odd[nq : nq + nv]).max() > 0.1 * max(np.abs(v).max(), 1.0):
        return None
    forward = v @ direction if abs(v @ direction) > 1e-6 * np.linalg.norm(v) else a @ direction
    way = AWAY / REACH * (1.0 if forward >= 0.0 else -1.0)
    found = mean + way * odd
    found[:nq] = X[:nq] + way * odd[:nq] + way**2 * (mean[:nq] - X[:nq])
    normalise(found[:nq], workspace.equations.quaternions)
    mass = workspace.dynamics()[0][:nv, :nv]
    return _Branch(found, float(a @ mass @ a))
