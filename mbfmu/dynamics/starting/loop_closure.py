"""Assembled: a position in which all loops are closed, and which constraint rows are independent there.

The only stage that computes with numbers. Guesses that nobody gave move to where guesses of dependent variables are met
best; initialisation closes the loops; a pivoted QR of the velocity Jacobian finds a largest independent set of rows, or
those that a runtime has to choose from at each position.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Literal

import casadi as ca
import numpy as np
import scipy

from mbfmu.dynamics.columns import elements, stacked, which_depend
from mbfmu.dynamics.equations import Stages, equations
from mbfmu.dynamics.events.delays import Delays
from mbfmu.dynamics.events.impacts import Impacts
from mbfmu.dynamics.events.updates import Updates
from mbfmu.dynamics.events.watched import Watched
from mbfmu.dynamics.expressions.constraints import Choice
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.solving.recursive import Recursive
from mbfmu.dynamics.starting.initial_problem import initial_problem
from mbfmu.errors import InitializationError
from mbfmu.messages import counted
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.declarations import Coordinate
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.parts import independent_parts
from mbfmu.runtime.run import Run

#: Pull towards the declared start of a coordinate that hints may move, relative to the hints.
HINT = 1e-3
#: Number of coordinates from which on the search for them solves its equations iteratively: that is quicker, and near
#: enough for guesses.
ITERATIVE_FROM = 40
#: A row counts as dependent where its part orthogonal to the others is smaller than this, relative to its size.
TOLERANCE = 1e-7
#: Perturbed positions that are looked at besides the start, and the size of the perturbation.
SAMPLES, PERTURBATION = 2, 0.05


@dataclasses.dataclass(frozen=True)
class Assembled:
    """Start values whose guesses are those of the assembled position, and constraints without redundant rows."""

    formulation: Formulation
    #: True where branches of motion cross at the start, so that fewer rows are independent there.
    is_singular: bool

    @classmethod
    def of(cls, assembly: Assembly, formulation: Formulation) -> Assembled:
        """Assemble the mechanism with default parameters.

        Raises:
            InitializationError: no position satisfies the constraints; the message names the joints.
        """
        found, vectors = formulation, formulation.vectors
        positions = elements(ca.vertcat(vectors.q, vectors.v))
        if found.starts.hints or found.rows:
            found = found.moved(_follow_hints(found))
        if not found.rows:
            return cls(found, False)
        at_rest = Recursive.at_rest(ca.vertcat(vectors.a, found.constraints.multipliers), vectors)
        stages = Stages(
            at_rest,
            initial_problem(found),
            Watched.of(found).of_the_clock(),
            Updates.of(found, at_rest.w).unchanged(vectors),
            Delays.unknown(found.values),
            Impacts(),
        )
        record = equations(assembly, found, stages, ca.SX.zeros(vectors.x.numel()), ca.SX(0, 1))
        try:
            choice, start, is_singular = chosen_rows(record)
        except InitializationError as error:
            driven = _driven(found)
            if not driven or _follows(record):
                raise
            facts = str(error).split("; ")[0]
            raise InitializationError(
                f"{facts}; the loop of {', '.join(driven)} has no freedom to follow what is prescribed there: leave "
                "out the drive, or give the loop a joint more"
            ) from None
        pairs = zip(positions, start[: len(positions)], strict=True)
        guesses = [(s, float(x)) for s, x in pairs if (o := found.starts.owner_of(s)) is None or not o.fixed]
        return cls(found.moved(guesses).keeping(choice), is_singular)

    def report(self) -> Iterator[str]:
        """What was decided about joints, relations and constraint rows, and whether branches cross at the start."""
        topology, constraints = self.formulation.values.topology, self.formulation.constraints
        speeds, rank = self.formulation.vectors.v.numel(), constraints.rank
        free = speeds - rank
        yield f"{counted(free, 'degree')} of freedom ({counted(speeds, 'speed')}, {counted(rank, 'constraint')})"
        yield from topology.report()
        if self.is_singular:
            yield "branches of motion cross at the start: the guesses of speeds choose one"
        yield from constraints.report()


def _driven(formulation: Formulation) -> list[str]:
    """Joints in loops whose coordinates something prescribes, by name."""
    values, found = formulation.values, []
    for path, behaviour in values.behaviours.items():
        if not behaviour.motions:
            continue
        for name, declaration in behaviour.component.variables().items():
            if isinstance(declaration, Coordinate) and declaration.leaf(behaviour.component) is not None:
                (value,) = formulation.parameters.resolve([values.variable(path, name)])
                if not ca.depends_on(value, formulation.vectors.q):
                    found.append(f"{path}.{name}")
    return found


def _follows(equations: Equations) -> bool:
    """Can the speeds meet all constraints at some position near the guesses, whether these are closed there or not?

    What moves as prescribed asks for speeds of the others; where a loop has a freedom for it, they exist at all but
    singular positions.
    """
    nq, nv = equations.nq, equations.nv
    p = equations.vector("parameters")
    P = ca.vertcat(p, equations.functions["derived"](p))
    point = (equations.vector("inputs"), P, np.zeros(equations.nm + equations.nheld))
    begin = np.array(equations.functions["guess"](P)).ravel()[: equations.nx]
    random = np.random.default_rng(0)
    for _ in range(SAMPLES):
        x = begin.copy()
        x[:nq] += 0.1 * random.normal(size=nq)
        x[nq : nq + nv] = 0.0
        time = equations.start_time + random.random()
        _, speed, G = (np.array(r) for r in equations.functions["constraints"](time, x, *point))
        speed = speed.ravel()
        v = np.linalg.lstsq(G, -speed, rcond=1e-9)[0]
        if np.linalg.norm(G @ v + speed) <= 1e-6 * np.linalg.norm(speed):
            return True
    return False


def _follow_hints(formulation: Formulation) -> list[tuple[ca.SX, float]]:
    """Guesses that nobody gave, moved to where guesses of dependent variables are met best, with default parameters.

    Fixed start values and constraints take part, so that guesses which suit them are met exactly.

    So `lineForce(r_rel_0(start = ...))` says where a coordinate beyond the spring starts looking.
    """
    values, vectors, starts = formulation.values, formulation.vectors, formulation.starts
    parameters, unknowns = formulation.parameters, formulation.values.unknowns
    positions = elements(ca.vertcat(vectors.q, vectors.v))
    owners = [starts.owner_of(s) for s in positions]
    nq = vectors.q.numel()
    free = [i for i, o in enumerate(owners) if o is None or not (o.fixed or o.given)]
    wanted = [entry.value - entry.start for entry in (*starts.hints, *starts.conditions)]
    wanted += [ca.dot(Q, Q) - 1 for Q in unknowns.quaternions.values()]
    wanted += [r for row in formulation.rows for r in (row.position, row.velocity) if r is not None]
    others = stacked([*unknowns.a.values(), *unknowns.multipliers.values(), *unknowns.z.values(), values.iterated])
    (residuals,) = parameters.resolve([stacked(wanted)])
    residuals = stacked(r for r in elements(residuals) if not ca.depends_on(r, others))
    if not free or not residuals.numel():
        return []
    of_speeds = set(which_depend(residuals, vectors.v))
    known = [vectors.t, vectors.u, vectors.P, vectors.m]
    P = parameters.default_P
    numbers: list[Any] = [formulation.start_time, ca.DM(values.start_inputs), P, ca.DM.zeros(vectors.m.numel())]
    column = stacked(positions)
    residual = ca.Function("hints", [column, *known], [residuals, ca.jacobian(residuals, column)])
    begin = [ca.SX(0) if o is None else o.start for o in owners]
    X = np.array(parameters.by_default(*parameters.resolve([stacked(begin)]))).ravel()
    unturned = {Q[3].element_hash() for Q in unknowns.quaternions.values()}
    for k, symbol in enumerate(positions):
        if symbol.element_hash() in unturned and owners[k] is None:
            X[k] = 1.0  # a quaternion that nobody starts is the null rotation
    found: list[tuple[ca.SX, float]] = []
    stages = [
        ([i for i in range(residuals.numel()) if (i in of_speeds) is late], [i for i in free if (i >= nq) is late])
        for late in (False, True)
    ]
    for rows, movable in stages:  # which way a loop goes together is no matter of speeds
        if rows and movable:
            best = _nearest(lambda: residual(X, *numbers), X, rows, movable)
            if best is None:
                return []
            X[movable] = best
            found += [(positions[i], float(X[i])) for i in movable]
    return found


def _nearest(
    evaluate: Callable[[], tuple[ca.DM, ca.DM]], X: np.ndarray, rows: list[int], movable: list[int]
) -> np.ndarray | None:
    """Values of the elements of X that may move, with which some residuals are least; `evaluate` gives all residuals at
    X, and their derivatives."""
    origin = X[movable].copy()

    def at(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        X[movable] = y
        r, J = evaluate()
        return np.array(r).ravel()[rows], np.array(J)[np.ix_(rows, movable)]

    def weighed(y: np.ndarray) -> np.ndarray:
        return np.concatenate([at(y)[0], HINT * (y - origin)])

    def slope(y: np.ndarray) -> np.ndarray:
        return np.vstack([at(y)[1], HINT * np.eye(y.size)])

    first, random = origin, np.random.default_rng(0)
    for _ in range(10):
        if np.isfinite(weighed(first)).all():
            solver: Literal["lsmr", "exact"] = "lsmr" if origin.size >= ITERATIVE_FROM else "exact"
            best: np.ndarray = scipy.optimize.least_squares(weighed, first, jac=slope, tr_solver=solver).x
            return best
        first = origin + 0.01 * random.normal(size=origin.size)  # half a turn apart there is no rotation vector
    return None


def chosen_rows(equations: Equations) -> tuple[Choice, np.ndarray, bool]:
    """Which constraint rows are kept, a consistent start x, and True where that is a singular position, in which fewer
    rows are independent than elsewhere.

    A mechanism may start in a singular position (a flat parallelogram), so the rank is taken at the start and at
    perturbed positions that satisfy the constraints again; the largest counts. What depends on others everywhere in the
    same way, as rows across the plane of a loop do, adds nothing to the rank of all these Jacobians side by side. Where
    that is greater, other rows would have to go elsewhere, as in Bennett's linkage: then those are kept that are
    independent in the Jacobians side by side, and more of these are taken until the rank grows no more.

    Raises:
        InitializationError: no position satisfies the constraints; the message names the joints.
    """
    run = Run(equations)
    x = run.assemble()
    point = (run.values("u"), run.values("P"), run.values("m"))
    random = np.random.default_rng(0)

    def jacobian(state: np.ndarray) -> np.ndarray:
        return np.array(equations.functions["constraints"](equations.start_time, state, *point)[2])

    def nearby() -> np.ndarray | None:
        near = x.copy()
        near[: equations.nq] += PERTURBATION * random.normal(size=equations.nq)
        return jacobian(near) if run.project(near) else None

    jacobians = [jacobian(x), *(G for G in (nearby() for _ in range(SAMPLES)) if G is not None)]
    choices = [_rank_rows(G) for G in jacobians]
    best = max(choices, key=len)
    is_singular = len(best) > len(choices[0])
    everywhere = _rank_rows(np.hstack(jacobians)) if len(best) < len(jacobians[0]) else best
    if len(everywhere) == len(best):
        return Choice(tuple(best)), x, is_singular
    misses = 0
    while misses < SAMPLES and len(everywhere) < len(jacobians[0]):
        if (G := nearby()) is not None:
            jacobians.append(G)
        more = _rank_rows(np.hstack(jacobians))
        misses = 0 if len(more) > len(everywhere) else misses + 1
        everywhere = more
    positions = [i for i in everywhere if i < equations.ng]
    rank, position_rank = (max(len(_rank_rows(G[rows])) for G in jacobians) for rows in (everywhere, positions))
    sizes = np.max([np.linalg.norm(G[everywhere], axis=1) for G in jacobians], axis=0)
    null_vectors = np.hstack([np.linalg.svd(G[everywhere] / sizes[:, None])[0][:, rank:] for G in jacobians])
    shared = frozenset(np.array(everywhere)[np.abs(null_vectors).max(axis=1) > TOLERANCE].tolist())
    choice = Choice(
        tuple(everywhere), len(everywhere) - rank, len(positions) - position_rank, tuple(sizes.tolist()), shared
    )
    return choice, x, is_singular


def _rank_rows(G: np.ndarray) -> list[int]:
    """A largest independent set of rows; sets that share no column are looked at one by one."""
    size = np.linalg.norm(G, axis=1)
    usable = np.flatnonzero(size > TOLERANCE * max(1.0, size.max(initial=0.0)))
    rows = G[usable] / size[usable, None]
    places = np.nonzero(rows)
    order, parts = independent_parts(places[0], places[1], len(rows), rows.shape[1])
    found: list[int] = []
    at = 0
    for part in parts:
        own, columns = np.array(order[at : at + part.rows]), np.array(part.unknowns, dtype=int)
        at += part.rows
        _, r, pivots = scipy.linalg.qr(rows[np.ix_(own, columns)].T, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(r)) > TOLERANCE * abs(r[0, 0])))
        found += usable[own[pivots[:rank]]].tolist()
    return sorted(found)
