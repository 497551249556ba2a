"""A point of operation and the mechanics about it: exact derivatives along the directions in which it may move.

A mechanism moves on the manifold that its constraints leave: positions with g(q) = 0, speeds with c(q, v) = 0. About a
point, small motions are s = (xi, eta, zeta): independent coordinates of position, independent speeds, extra states. The
columns of `embedding` say how the states x follow from them. Displacements are measured along the speeds (dq = N(q)
theta), so that three numbers turn a body whose orientation is a quaternion.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.errors import ModelError, SimulationError
from mbfmu.messages import unknown_variable
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.parts import dense
from mbfmu.runtime.variables import ScalarVariable, scalar_names

Array = np.ndarray

#: Rows of constraints whose part in others is smaller than this count as dependent on them.
RANK = 1e-9

#: What completes A where constraints are redundant is no greater than it is for this inertia.
LEAST_INERTIA = 1e-9


class Mechanics:
    """The equations of a system at points of operation, with its parameters in numbers.

    Args:
        equations: The model.
        P: Its parameters [nP].
    """

    def __init__(self, equations: Equations, P: Array) -> None:
        self.equations, self.P = equations, P
        e = equations
        self.nq, self.nv, self.nz, self.nx, self.nw = e.nq, e.nv, e.nz, e.nx, e.nw
        self._tangents: dict[str, ca.Function] = {}

    def __call__(self, name: str, *arguments: Array | float) -> list[Array]:
        """Evaluate a function of the contract. Matrices are dense, also where runtimes know less of them."""
        found = [np.array(v) for v in self.equations.functions[name].call([ca.DM(np.atleast_1d(a)) for a in arguments])]
        if name == "dynamics" and self.equations.sparsity:
            entries, found[0] = found[0].ravel(), np.zeros((self.equations.nW, self.equations.nW))
            found[0][tuple(np.array(self.equations.sparsity).T)] = entries
        elif name == "initial":
            found[1] = dense(found[1].ravel(), self.equations.initial_parts, self.equations.nX)
        elif name == "constraints" and not self.equations.njacobian:
            directions = np.zeros((self.nx, self.nv))
            directions[self.nq : self.nq + self.nv] = np.eye(self.nv)
            found[2] = self.along(name, arguments, {1: directions})[1]
        return found

    def product(self, A: Array, W: Array) -> Array:
        """A W, with A [nW, nW] as its function gives it, in one column."""
        if not self.equations.sparsity:
            return A.reshape(W.size, -1, order="F") @ W
        rows, columns = np.array(self.equations.sparsity).T
        return np.bincount(rows, A * W[columns], minlength=W.size)

    def along(self, name: str, arguments: Sequence[Any], seeds: Mapping[int, Array]) -> list[Array]:
        """Exact change of a function's results (each as a column) along directions, the columns of the seeds.

        `seeds` maps positions of arguments to [size, k]; all others stay.
        """
        function = self.equations.functions[name]
        if name not in self._tangents:
            self._tangents[name] = function.forward(1)
        tangent = self._tangents[name]
        at = [ca.DM(np.atleast_1d(a)) for a in arguments]
        values = function.call(at)
        still = [ca.DM.zeros(a.shape) for a in at]
        count = next(iter(seeds.values())).shape[1]
        changes: list[list[Array]] = [[] for _ in values]
        for k in range(count):
            moved = [ca.DM(seeds[i][:, k]) if i in seeds else still[i] for i in range(len(at))]
            for column, change in zip(changes, tangent.call([*at, *values, *moved]), strict=True):
                column.append(np.array(ca.densify(change)).ravel(order="F"))
        return [np.array(column).T.reshape(value.numel(), count) for column, value in zip(changes, values, strict=True)]

    @functools.cached_property
    def counters(self) -> frozenset[int]:
        """Extra states (indices in z) that act on nothing, not on themselves either, but other such: they count."""
        first = self.nq + self.nv
        rates = _pattern(self.equations.functions["derivatives"], 0)
        others = [
            _pattern(self.equations.functions[name], k)
            for name in ("dynamics", "constraints", "crossings", "iterations")
            for k in range(self.equations.functions[name].n_out())
        ]
        acting = np.vstack([rates[:first], *others])[:, first:]
        moved = [{int(i) for i in np.flatnonzero(column)} for column in rates[first:, first:].T]
        found: set[int] = set()
        while more := {k for k in range(self.nz) if not acting[:, k].any() and k not in found and moved[k] <= found}:
            found |= more
        return frozenset(found)

    def recounted(self, t: float, x: Array, u: Array, m: Array) -> Array:
        """States whose counters fit the positions again, where an equation of the start ties them to these."""
        columns = [self.nq + self.nv + k for k in sorted(self.counters)]
        if not columns:
            return x
        initial = self.equations.functions["initial"]
        pattern = _pattern(initial, 0)
        others = [k for k in range(pattern.shape[1]) if k not in columns]
        rows = np.flatnonzero(pattern[:, columns].any(axis=1) & pattern[:, others].any(axis=1))
        X = np.concatenate([x, self("guess", self.P)[0].ravel()[x.size :]])
        for _ in range(20 if rows.size else 0):
            r, J = self("initial", t, X, u, self.P, m)
            step = np.linalg.lstsq(J[rows][:, columns], r.ravel()[rows], rcond=RANK)[0]
            X[columns] -= step
            if np.abs(step).max() < 1e-14 * max(1.0, np.abs(X[columns]).max()):
                break
        return X[: x.size]

    # -- motion at a point

    def completion(self, A: Array) -> Array:
        """What makes A regular where constraints are redundant, and their multipliers those of least norm [nl, nl].

        The projector onto the combinations of constraints that vanish, as in templates/runtime/redundancy.c.
        """
        sizes = np.array(self.equations.constraint_sizes)
        U = np.linalg.svd(A[self.nv :, : self.nv] / sizes[:, None])[0][:, : sizes.size - self.equations.redundancies]
        inertia = np.abs(A[: self.nv, : self.nv]).max(initial=LEAST_INERTIA)
        return np.outer(sizes, sizes) * (np.eye(sizes.size) - U @ U.T) / inertia

    def completion_moved(self, A: Array, dA: Array, w: Array) -> Array:
        """Change of `completion`, times the multipliers of w, along directions that change A by the columns of dA."""
        nv, sizes = self.nv, np.array(self.equations.constraint_sizes)
        G = A[nv:, :nv] / sizes[:, None]
        along = np.linalg.pinv(G, rcond=RANK) @ (sizes * w[nv:])
        moved = [change.reshape(A.shape, order="F")[nv:, :nv] @ along / sizes**2 for change in dA.T]
        return -self.completion(A) @ np.array(moved).T

    def solved(self, t: float, x: Array, u: Array, m: Array) -> tuple[Array, Any]:
        """W [nW], which begins with w, and the factors of A (None where the equations are explicit).

        Raises:
            SimulationError: A is singular, or the equations give values that are not finite.
        """
        return self._solved(t, x, self.complete(t, x, u, m), m)

    def _solved(self, t: float, x: Array, u: Array, m: Array) -> tuple[Array, Any]:
        """The same with iteration variables as they are."""
        A, b = self("dynamics", t, x, u, self.P, m)
        if self.equations.explicit or not self.nw:
            w, factors = b.ravel(), None
        else:
            if not np.isfinite(A).all():
                raise SimulationError(f"{self.equations.name}: the equations are not finite at this point")
            if self.equations.redundancies:
                A[self.nv :, self.nv :] += self.completion(A)
            factors = scipy.linalg.lapack.dgetrf(A)[:2]  # what lu_factor gives, without its warning
            with np.errstate(all="ignore"):
                w = scipy.linalg.lu_solve(factors, b.ravel(), check_finite=False)
        if not np.isfinite(w).all():
            raise SimulationError(
                f"{self.equations.name}: the accelerations are not determined at this point: something moves that has "
                "no mass, or branches of the motion cross here"
            )
        return w, factors

    def accelerations(self, t: float, x: Array, u: Array, m: Array) -> Array:
        """w [nw]; raises as `solved`."""
        return self.solved(t, x, u, m)[0][: self.nw]

    def accelerated(
        self, point: tuple[float, Array, Array, Array], W: Array, factors: Any, seeds: Mapping[int, Array]
    ) -> Array:
        """Change of w [nw, k] along directions of t, x, u and m, where `solved` gives W and factors."""
        t, x, u, m = point
        if not self.nw:
            return np.zeros((0, next(iter(seeds.values())).shape[1]))
        dA, db = self.along("dynamics", (t, x, u, self.P, m), seeds)
        if self.equations.explicit:
            return db
        right = db - np.array([self.product(column, W) for column in dA.T]).reshape(-1, W.size).T
        if self.equations.redundancies:
            A = self("dynamics", t, x, u, self.P, m)[0]
            right[self.nv :] -= self.completion_moved(A, dA, W[: self.nw])
        return np.asarray(scipy.linalg.lu_solve(factors, right)[: self.nw])

    # -- iteration variables, the tail of u

    def complete(self, t: float, x: Array, u: Array, m: Array) -> Array:
        """u with iteration variables that are solved for, from those that it has.

        Raises:
            SimulationError: Newton's method finds no solution.
        """
        n = self.equations.niterations
        if not n:
            return u
        u, nominals = u.copy(), np.array(self.equations.iteration_nominals or (1.0,) * n)
        r, J = self._residuals(t, x, u, m)
        for _ in range(100):
            step = np.linalg.lstsq(J, -r, rcond=None)[0] if np.isfinite(J).all() else np.full(n, np.nan)
            part, before = 1.0, u.copy()
            size = np.abs(step / (nominals + np.abs(u[-n:]))).max()
            if size <= 1e-15:
                return u
            scale = np.abs(J) @ nominals + 1e-300
            while part > 1e-9:
                u[-n:] = before[-n:] + part * step
                found, J_found = self._residuals(t, x, u, m)
                if np.abs(found / scale).max() < (1 - 1e-4 * part) * np.abs(r / scale).max():
                    break
                if size <= 1e-9:  # rounding errors are all that is left
                    return u
                part /= 2
            else:
                break
            r, J = found, J_found
        raise SimulationError(
            f"{self.equations.name}: the equations of {', '.join(self.equations.iteration_names) or 'a block'} have no "
            "solution at this point that Newton's method finds; choose a point closer to one of a run"
        )

    def _residuals(self, t: float, x: Array, u: Array, m: Array) -> tuple[Array, Array]:
        """Residuals of iteration variables [n], and their whole derivatives [n, n] with these."""
        n, w = self.equations.niterations, np.zeros(self.nw)
        unit = np.vstack([np.zeros((u.size - n, n)), np.eye(n)])
        seeds = {2: unit}
        if self.equations.iterations_need_w:
            W, factors = self._solved(t, x, u, m)
            w, seeds = W[: self.nw], {2: unit, 5: self.accelerated((t, x, u, m), W, factors, {2: unit})}
        arguments = (t, x, u, self.P, m, w)
        return self("iterations", *arguments)[0].ravel(), self.along("iterations", arguments, seeds)[0]

    def followed(self, point: tuple[float, Array, Array, Array], dx: Array, du: Array) -> Array:
        """Directions du [nu, k] in which iteration variables follow x and inputs, where they are solved for."""
        n = self.equations.niterations
        if not n or not du.shape[1]:
            return du
        t, x, u, m = point
        du, w, seeds = du.copy(), np.zeros(self.nw), {}
        du[-n:] = 0.0
        if self.equations.iterations_need_w:
            W, factors = self._solved(t, x, u, m)
            w, seeds = W[: self.nw], {5: self.accelerated(point, W, factors, {1: dx, 2: du})}
        change = self.along("iterations", (t, x, u, self.P, m, w), {1: dx, 2: du, **seeds})[0]
        du[-n:] = -np.linalg.solve(self._residuals(t, x, u, m)[1], change)
        return du

    # -- switches and constraints

    def modes(self, t: float, x: Array, u: Array, m: Array) -> Array:
        """Discrete states at a point: modes of the switches, from a guess of them; held values stay."""
        for _ in range(20):
            if not self.equations.nm:
                break
            u = self.complete(t, x, u, m)
            w = self.accelerations(t, x, u, m)
            modes = self("crossings", t, x, u, self.P, m, w)[0].ravel() >= 0
            found = np.concatenate([modes.astype(float), m[modes.size :]])
            if (found == m).all():
                break
            m = found
        return m

    def displaced(self, t: float, x: Array, theta: Array) -> Array:
        """dq = N(q) theta, for columns of theta [nv, k]."""
        columns = [self("displacement", t, x, self.P, theta[:, k])[0].ravel() for k in range(theta.shape[1])]
        return np.array(columns).T.reshape(self.nq, theta.shape[1])

    def project(self, t: float, x: Array, u: Array, m: Array) -> Array | None:
        """The nearest states that satisfy the constraints, or None where there are none near."""
        x = x.copy()
        for _ in range(30):
            for at in self.equations.quaternions:
                x[at : at + 4] /= np.linalg.norm(x[at : at + 4])
            g, _, G = self("constraints", t, x, u, self.P, m)
            if not np.isfinite(g).all():
                return None
            if not g.size or np.abs(g).max() < 1e-13 * max(1.0, np.abs(x[: self.nq]).max(initial=0.0)):
                break
            step = self._least_norm(G[: g.size], -g.ravel(), self.equations.position_redundancies)
            x[: self.nq] += self("displacement", t, x, self.P, step)[0].ravel()
            if np.abs(step).max(initial=0.0) < 1e-15:
                break
        else:
            if np.abs(g).max() > 1e-9:
                return None
        _, c, G = self("constraints", t, x, u, self.P, m)
        if c.size:
            x[self.nq : self.nq + self.nv] -= self._least_norm(G, c.ravel(), self.equations.redundancies)
        return x

    def _least_norm(self, G: Array, right: Array, redundant: int) -> Array:
        """The s of least norm that meets G s = right best, where so many rows are redundant."""
        if not redundant:
            return np.asarray(np.linalg.lstsq(G, right, rcond=RANK)[0])
        sizes, rank = np.array(self.equations.constraint_sizes[: right.size]), right.size - redundant
        U, values, directions = np.linalg.svd(G / sizes[:, None], full_matrices=False)
        return np.asarray(directions[:rank].T @ (U[:, :rank].T @ (right / sizes) / values[:rank]))


def _pattern(function: ca.Function, result: int) -> Array:
    """Which elements of a function's result can depend on which of its second argument, the states [bool]."""
    sparsity = function.jac_sparsity(result, 1)
    pattern = np.zeros(sparsity.shape, dtype=bool)
    pattern[sparsity.get_triplet()[0], sparsity.get_triplet()[1]] = True
    return pattern


@dataclasses.dataclass(frozen=True)
class Reduced:
    """Small motions about a point: what may move independently, and how everything else follows.

    `positions`: indices of independent coordinates (along the speeds), `speeds`: of independent speeds; `embedding`
    [nx, n] maps s = (xi, eta, zeta) to x; `theta` [nv, n] is the displacement that goes with each of them.
    """

    positions: tuple[int, ...]
    speeds: tuple[int, ...]
    embedding: Array
    theta: Array
    #: Change of x with each input, where speeds are prescribed by them [nx, nu].
    driven: Array


def reduce(mechanics: Mechanics, t: float, x: Array, u: Array, m: Array, wanted: Collection[int] = ()) -> Reduced:
    """Choose independent coordinates and speeds at a point: those `wanted` (indices along the speeds) where possible.

    Raises:
        ModelError: Branches of the motion cross here, so that the directions of motion are not unique.
    """
    e, nq, nv, nz = mechanics.equations, mechanics.nq, mechanics.nv, mechanics.nz
    if e.constraints_need_s:
        raise ModelError(
            f"{e.name}: a constraint follows {', '.join(e.iteration_names)}, which are solved for by iteration; linear "
            "models of such are not offered"
        )
    g, c, G = mechanics("constraints", t, x, u, mechanics.P, m)
    # what starts at a fixed value was chosen by whoever wrote the model: rather keep it
    preferred = np.array([0.1 if nq + i < len(e.fixed) and e.fixed[nq + i] else 1.0 for i in range(nv)])
    preferred[list(wanted)] *= 1e-3
    # speeds of bound states and the like move no position
    moving = [i for i, dq in enumerate(mechanics.displaced(t, x, np.eye(nv)).T) if dq.any()]
    found, along = _free(e, G[: g.size, moving], preferred[moving], e.position_redundancies)
    positions = tuple(moving[k] for k in found)
    speeds, eta = _free(e, G, preferred, e.redundancies)
    n = len(positions) + len(speeds) + nz
    theta, embedding = np.zeros((nv, n)), np.zeros((mechanics.nx, n))
    theta[moving, : len(positions)] = along
    embedding[nq + nv :, n - nz :] = np.eye(nz)
    driven = np.zeros((mechanics.nx, u.size))
    if g.size and nz:  # dg/dz dz + G dtheta = 0 with the independent coordinates held
        dependent = [i for i in moving if i not in set(positions)]
        change = mechanics.along("constraints", (t, x, u, mechanics.P, m), {1: embedding[:, n - nz :]})[0]
        theta[dependent, n - nz :] = -np.linalg.pinv(G[: g.size, dependent], rcond=RANK) @ change
    embedding[:nq] = mechanics.displaced(t, x, theta)
    if c.size:
        # dc/dq dq + dc/dz dz + dc/du du + G dv = 0 with the independent speeds held
        dependent = [i for i in range(nv) if i not in set(speeds)]
        inverse = np.linalg.pinv(G[:, dependent], rcond=RANK)
        rows = [nq + i for i in dependent]
        if n:
            change = mechanics.along("constraints", (t, x, u, mechanics.P, m), {1: embedding})[1]
            embedding[rows] = -inverse @ change
        if u.size:
            changes = mechanics.along("constraints", (t, x, u, mechanics.P, m), {2: np.eye(u.size)})
            if np.abs(changes[0]).max(initial=0.0) > 0:
                raise ModelError(
                    f"{e.name}: an input prescribes positions within a loop; linear models of such are not offered"
                )
            driven[rows] = -inverse @ changes[1]
    embedding[nq : nq + nv, len(positions) : n - nz] = eta
    return Reduced(positions, speeds, embedding, theta, driven)


def _free(equations: Equations, rows: Array, preferred: Array, redundant: int) -> tuple[tuple[int, ...], Array]:
    """Independent columns of rows * s = 0, and the directions s [n, k] in which one of them is 1 and the others 0.

    So many of the rows are `redundant`.
    """
    n = preferred.size
    if not rows.shape[0] or not n:
        return tuple(range(n)), np.eye(n)
    if redundant:
        sizes = np.array(equations.constraint_sizes[: rows.shape[0]])
        _, values, directions = np.linalg.svd(rows / sizes[:, None], full_matrices=False)
        rank = rows.shape[0] - redundant
        if values[rank - 1] < RANK * values[0]:
            raise _crossing(equations)
        rows = directions[:rank]
    scale = np.linalg.norm(rows, axis=1, keepdims=True)
    if (scale == 0).any():
        raise _crossing(equations)
    _, R, order = scipy.linalg.qr(rows / scale * preferred, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    if diagonal.min() < RANK * diagonal.max():
        raise _crossing(equations)
    dependent, free = order[: rows.shape[0]], np.sort(order[rows.shape[0] :])
    directions = np.zeros((n, free.size))
    directions[free, range(free.size)] = 1.0
    directions[dependent] = -np.linalg.solve((rows / scale)[:, dependent], (rows / scale)[:, free])
    return tuple(int(i) for i in free), directions


def _crossing(equations: Equations) -> ModelError:
    return ModelError(
        f"{equations.name}: branches of the motion cross at this point, or a constraint is redundant in it: the "
        "directions of motion are not unique; choose a point beside it"
    )


@dataclasses.dataclass(frozen=True)
class Derivatives:
    """Exact derivatives of ds/dt with s and u, and of w: `A` [n, n], `B` [n, nu], `w_s` [nw, n], `w_u` [nw, nu]."""

    A: Array
    B: Array
    w: Array
    w_s: Array
    w_u: Array
    #: ds/dt at the point [n].
    rates: Array
    #: Change of u with s and u [nu, n + nu]: iteration variables follow.
    du: Array
    #: dx/dt at the point [nx], and its change with s and u [nx, n + nu].
    x_rates: Array
    x_change: Array


def derivatives(mechanics: Mechanics, reduced: Reduced, t: float, x: Array, u: Array, m: Array) -> Derivatives:
    """Differentiate the motion at a point along the directions of `reduced`."""
    nq, nv = mechanics.nq, mechanics.nv
    P, n, nu = mechanics.P, reduced.embedding.shape[1], u.size
    positions, speeds = list(reduced.positions), list(reduced.speeds)
    u = mechanics.complete(t, x, u, m)
    dx = np.hstack([reduced.embedding, reduced.driven])
    du = mechanics.followed((t, x, u, m), dx, np.hstack([np.zeros((nu, n)), np.eye(nu)]))
    seeds = {1: dx, 2: du}
    W, factors = mechanics.solved(t, x, u, m)
    w = W[: mechanics.nw]
    dw = np.zeros((mechanics.nw, n + nu))
    if n + nu:
        dw = mechanics.accelerated((t, x, u, m), W, factors, seeds)
    change = mechanics.along("derivatives", (t, x, u, P, m, w), {**seeds, 5: dw})[0]
    rates = mechanics("derivatives", t, x, u, P, m, w)[0].ravel()
    result = np.empty((n, n + nu))
    # q' = N(q) v, so with dq = N theta: N theta' = D(N v) - DN[q'] theta
    if positions:
        theta = np.hstack([reduced.theta, np.zeros((nv, nu))])
        right = change[:nq].copy()
        moved = np.zeros((mechanics.nx, 1))
        moved[:nq, 0] = rates[:nq]
        for k in np.flatnonzero(theta.any(axis=0)):
            right[:, k] -= mechanics.along("displacement", (t, x, P, theta[:, k]), {1: moved})[0][:, 0]
        N = mechanics.displaced(t, x, np.eye(nv))
        result[: len(positions)] = np.linalg.lstsq(N, right, rcond=None)[0][positions]
    result[len(positions) : len(positions) + len(speeds)] = change[nq : nq + nv][speeds]
    result[len(positions) + len(speeds) :] = change[nq + nv :]
    independent = [*(nq + i for i in speeds), *range(nq + nv, mechanics.nx)]
    velocity = x[nq : nq + nv][positions]
    return Derivatives(
        result[:, :n], result[:, n:], w, dw[:, :n], dw[:, n:], np.concatenate([velocity, rates[independent]]), du,
        rates, change,
    )  # fmt: skip


def is_steady(reduced: Reduced, rates: Array) -> bool:
    """Do speeds stay as they are at a point, while positions move? `rates` [n] are those of s there."""
    positions, speeds = len(reduced.positions), len(reduced.speeds)
    moving = np.abs(rates[:positions]).max(initial=0.0)
    return bool(moving > 0 and np.abs(rates[positions : positions + speeds]).max(initial=0.0) <= 1e-6 * moving)


#: A linear model is compared with that of the same motion this much later, s.
LATER = 1e-3


def later(
    mechanics: Mechanics,
    point: tuple[float, Array, Array, Array],
    reduced: Reduced,
    found: Derivatives,
    wanted: Collection[int] = (),
) -> tuple[tuple[float, Array, Array, Array], Reduced, Derivatives] | None:
    """A point (t, x, u, m) a little later on a motion, and the linear model there in the same coordinates.

    `reduced` was chosen with `wanted`, `found` is the linear model at the point. None where the motion, or these
    coordinates, do not get there.
    """
    t, x, u, m = point
    u = mechanics.complete(t, x, u, m)
    placed = mechanics.project(t, x + LATER * found.x_rates, u, m)
    if placed is None:
        return None
    for preferred in ({*wanted}, {*wanted, *reduced.speeds}, {*wanted, *reduced.positions}):
        after = reduce(mechanics, t, placed, u, m, preferred)
        if (after.positions, after.speeds) == (reduced.positions, reduced.speeds):
            return (t, placed, u, m), after, derivatives(mechanics, after, t, placed, u, m)
    return None


def is_invariant(A: Array, after: Array) -> bool:
    """Does a linear model A [n, n] stay what it is along a steady motion, where it is `after` a little later?

    Its eigenvalues tell of stability only then. What acts on nothing else, places and turns that are only counted, may
    change.
    """
    size = max(1.0, np.abs(A).max(initial=0.0))
    acts = np.abs(A) + np.abs(after) > 1e-12 * size
    kept = np.arange(len(A))
    while not acts[np.ix_(kept, kept)].any(axis=0).all():
        kept = kept[acts[np.ix_(kept, kept)].any(axis=0)]
    change = (after - A)[np.ix_(kept, kept)]
    return bool(np.abs(change).max(initial=0.0) <= 1e-6 * LATER * size**2)


def output_derivatives(
    mechanics: Mechanics,
    reduced: Reduced,
    found: Derivatives,
    variables: Sequence[ScalarVariable],
    point: tuple[float, Array, Array, Array],
) -> tuple[Array, Array, Array]:
    """Values [ny] and derivatives with s [ny, n] and u [ny, nu] of variables at a point (t, x, u, m)."""
    t, x, u, m = point
    n, nu, du = reduced.embedding.shape[1], u.size, found.du
    dx = np.hstack([reduced.embedding, reduced.driven])
    u = mechanics.complete(t, x, u, m)
    dw = np.hstack([found.w_s, found.w_u])
    dy = np.zeros((mechanics.equations.ny, n + nu))
    if any(v.store == "y" for v in variables) and n + nu:
        dy = mechanics.along("variables", (t, x, u, mechanics.P, m, found.w), {1: dx, 2: du, 5: dw})[0]
    stores = {"x": dx, "u": du, "w": dw, "y": dy}
    slopes = np.zeros((len(variables), n + nu))
    for row, variable in enumerate(variables):
        if variable.store in stores:
            slopes[row] = stores[variable.store][variable.index]
    return values_at(mechanics, variables, point, found.w), slopes[:, :n], slopes[:, n:]


def values_at(
    mechanics: Mechanics, variables: Sequence[ScalarVariable], point: tuple[float, Array, Array, Array], w: Array
) -> Array:
    """Values [ny] of variables at a point (t, x, u, m) with its accelerations and multipliers w."""
    t, x, u, m = point
    u = mechanics.complete(t, x, u, m)
    y = np.zeros(mechanics.equations.ny)
    if any(v.store == "y" for v in variables):
        y = mechanics("variables", t, x, u, mechanics.P, m, w)[0].ravel()
    stores = {"x": x, "u": u, "w": w, "y": y, "P": mechanics.P}
    values = np.zeros(len(variables))
    for row, variable in enumerate(variables):
        if variable.store in stores:
            values[row] = stores[variable.store][variable.index]
        else:
            values[row] = t if variable.store == "time" else float(variable.start or 0.0)
    return values


def coordinate_names(
    equations: Equations, variables: Sequence[ScalarVariable]
) -> tuple[list[str], list[str], list[str]]:
    """Names of the positions along the speeds, of the speeds, and of the extra states."""
    held: dict[int, str] = {}
    for variable in sorted(
        (v for v in variables if v.store == "x"), key=lambda v: (v.start_index is None, len(v.name))
    ):
        held.setdefault(variable.index, variable.name)
    names = [held.get(i, equations.unknown_names[i]) for i in range(equations.nx)]
    q, v, z = names[: equations.nq], names[equations.nq : equations.nq + equations.nv], names[-equations.nz or None :]
    pattern = equations.functions["displacement"].jac_sparsity(0, 3)
    rows, columns = (np.array(index) for index in pattern.get_triplet())
    positions = []
    for i in range(equations.nv):
        own = rows[columns == i]
        plain = own.size == 1 and np.count_nonzero(rows == own[0]) == 1
        positions.append(q[own[0]] if plain else f"int({v[i]})")
    return positions, v, z if equations.nz else []


def find_variables(
    model: str, variables: Sequence[ScalarVariable], names: Sequence[str], causality: str | None = None
) -> list[ScalarVariable]:
    """Variables by name, of one causality where that is given; the elements of an array by the array's name.

    Raises:
        ModelError: A name is unknown.
    """
    known = {v.name: v for v in variables if v.type != "String" and causality in (None, v.causality)}
    found: dict[str, ScalarVariable] = {}
    for name in scalar_names(names, known.values()):
        if name not in known:
            raise ModelError(f"{model}: {unknown_variable(name, known)}")
        found[name] = known[name]
    return list(found.values())


def plain_basis(null: Array) -> Array:
    """The plainest basis of a space [k, n], the rows of `null`: each has an entry that all others lack."""
    _, _, order = scipy.linalg.qr(null, mode="economic", pivoting=True)
    return np.linalg.solve(null[:, order[: null.shape[0]]], null)
