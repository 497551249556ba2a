"""Projection onto the constraints: positions on g = 0, speeds on c = 0, quaternions on the unit sphere."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .errors import ConsistencyError
from .functions import Workspace
from .linear import minimum_norm

Vector = np.ndarray

#: Newton steps for the positions; an accepted integrator step needs one or two.
ITERATIONS = 10
#: Newton steps along forces.
FORCE_ITERATIONS = 2
#: A position residual that stays above this fraction of the size of q is a failure.
FAILURE = 1e-8
#: A dropped, dependent constraint that is off by more than this fraction of the size of q no longer depends.
DEPENDENT = 1e-7


def normalise(q: np.ndarray, quaternions: tuple[int, ...]) -> None:
    """Scale the quaternions that start at the given offsets of q to length 1, in place; zero stays zero."""
    for offset in quaternions:
        part = q[offset : offset + 4]
        length = np.sqrt(part @ part)
        if length > 0.0:
            part /= length


def project(workspace: Workspace) -> None:
    """Move `workspace.x` onto the constraints by the smallest displacement and the smallest change of speed.

    The position residuals g are removed by Newton steps `G dv = -g`, `q += N(q) dv`, down to rounding; the velocity
    residuals c, linear in v, in one step. The extra states z stay.

    Raises
    ------
    ConsistencyError
        The positions cannot meet their constraints; the message names the worst one.
    """
    equations = workspace.equations
    q = workspace.x[: equations.nq]
    v = workspace.x[equations.nq : equations.nq + equations.nv]
    normalise(q, equations.quaternions)
    if equations.nl == 0:
        return
    g, c, G = workspace.constraints()
    if equations.ng:
        size = 1.0 + np.abs(q).max(initial=0.0)
        rounding = 16 * np.finfo(float).eps * size
        error = np.abs(g).max()
        for _ in range(ITERATIONS):
            if error <= rounding:
                break
            dv, _ = minimum_norm(G[: equations.ng], -g)
            before, previous = q.copy(), error
            q += workspace.displacement(dv)
            normalise(q, equations.quaternions)
            g, c, G = workspace.constraints()
            error = np.abs(g).max()
            if not error < previous:
                if previous <= FAILURE * size:
                    q[:] = before
                    g, c, G = workspace.constraints()
                    error = previous
                break
        if not error <= FAILURE * size:
            worst = equations.position_names[int(np.argmax(np.abs(g)))]
            raise ConsistencyError(
                f"at t = {workspace.t[0]:.9g} s the constraint '{worst}' cannot be met: it is off by {error:.3g}; "
                "the mechanism may have reached a position where it locks or comes apart"
            )
    dv, _ = minimum_norm(G, -c)
    v += dv


def project_along_forces(workspace: Workspace, others: tuple[Vector, ...]) -> list[Vector]:
    """Move states close to the constraints along the directions in which constraint forces accelerate.

    Those are the directions at the present point: [dv; impulses] = A^-1 [0; -residuals]. What constraint forces have
    done wrong is undone by this and leaves nothing behind, while the smallest change of `project` does.

    Parameters
    ----------
    workspace
        The model's functions, at a point near all the states.
    others
        The states [nx] to be moved.

    Returns
    -------
    The states moved, one for each of `others`. What two Newton steps leave of their residuals is for `project`.
    """
    equations = workspace.equations
    nq, nv, ng = equations.nq, equations.nv, equations.ng
    factors = linalg.lu_factor(workspace.dynamics()[0], check_finite=False)
    right = np.zeros(equations.nw)
    moved = []
    for x in others:
        workspace.x[:] = x
        q, v = workspace.x[:nq], workspace.x[nq : nq + nv]
        for rows, first in ((slice(nv, nv + ng), 0), (slice(nv, None), 1)):
            error = np.inf
            for _ in range(FORCE_ITERATIONS):
                residual = workspace.constraints()[first][: ng if first == 0 else None]
                previous, error = error, np.abs(residual).max(initial=0.0)
                if not error < previous:
                    break
                right[:] = 0.0
                right[rows] = -residual
                dv = linalg.lu_solve(factors, right, check_finite=False)[:nv]
                if first == 0:
                    q += workspace.displacement(dv)
                    normalise(q, equations.quaternions)
                else:
                    v += dv
        moved.append(workspace.x.copy())
    return moved


def regularity(workspace: Workspace) -> float:
    """Smallest singular value of the constraints' Jacobian at the present point, as a fraction of the largest.

    It is 0 where constraints depend on each other, as in a position in which branches of the motion cross.
    """
    G = workspace.constraints()[2]
    if not (np.isfinite(G).all() and 0 < G.shape[0] <= G.shape[1]):
        return np.inf
    values = np.linalg.svd(G, compute_uv=False)
    return float(values[-1] / max(values[0], np.finfo(float).tiny))


def most_dependent(workspace: Workspace) -> str:
    """Name of the constraint that at the present point depends most on the others."""
    left = np.linalg.svd(workspace.constraints()[2])[0]
    return workspace.equations.velocity_names[int(np.argmax(np.abs(left[:, -1])))]


def check(workspace: Workspace) -> None:
    """Check dropped constraints and assertions at the present point, which must be consistent.

    Raises
    ------
    ConsistencyError
        One does not hold; the message names it.
    """
    equations = workspace.equations
    t = workspace.t[0]
    if equations.ne:
        e = np.abs(workspace.redundant())
        worst = int(np.argmax(e))
        if not e[worst] <= DEPENDENT * (1.0 + np.abs(workspace.x[: equations.nq]).max(initial=0.0)):
            raise ConsistencyError(
                f"at t = {t:.9g} s the constraint '{equations.redundant_names[worst]}' is off by {e[worst]:.3g}; the "
                "build left it out because the others implied it, and with the present parameters they do not: build "
                "the model anew with these parameters"
            )
    if equations.nh:
        if workspace.assertions_need_w:
            workspace.solve()
        h = workspace.assertions()
        for value, message in zip(h, equations.assertion_messages, strict=True):
            if not value >= 0.0:
                raise ConsistencyError(f"at t = {t:.9g} s: {message} (violated by {-value:.3g})")
