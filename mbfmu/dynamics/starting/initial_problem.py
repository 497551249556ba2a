"""The equations of initialisation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import elements, stacked, which_depend
from mbfmu.dynamics.events.delays import Delays
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.starts import Starts, StartValue, guessed
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.solving.accelerations import Accelerations
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.messages import of
from mbfmu.modeling import leaves
from mbfmu.runtime.cse import cse
from mbfmu.runtime.parts import Part, Parted

#: How much a guess resists being moved, by strength of stateSelect; guesses that a user gave resist more.
WEIGHTS = {0: 0.3, 1: 0.3, 2: 1.0, 3: 1.0, 4: 10.0}
GIVEN = 3.0
#: The same for forces of friction, which are rates of impulses: where friction could hold a mechanism at rest as well
#: as its motors, it is the motors, whose controllers' states are sought.
HOLDING = 1e4
#: And for rates, speeds and those of filters, that nobody gave, where accelerations are prescribed: what is sought is a
#: position of rest.
RESTING = 1e4


@dataclasses.dataclass(frozen=True)
class InitialProblem:
    """Equations of initialisation in symbols (docs/architecture/initialisation.md)."""

    unknowns: ca.SX
    unknown_names: tuple[str, ...]
    guess: ca.SX
    #: In the order of the parts that share no unknown, and blocks of their Jacobian.
    rows: ca.SX
    jacobian: ca.SX
    parts: tuple[Part, ...]
    names: tuple[str, ...]
    #: What rows are divided by.
    sizes: tuple[float, ...]
    #: 0 of rows that know positions (and free parameters) only, 1 of those that know speeds, too, 2 of others.
    stages: tuple[int, ...]
    fixed: tuple[bool, ...]
    given: tuple[bool, ...]
    weights: tuple[float, ...]
    #: True where iteration variables are among the unknowns, behind all others.
    iterates: bool = False

    def function(self, vectors: Vectors) -> ca.Function:
        """`initial(t, X, u, P, m)`."""
        rows, jacobian = cse([self.rows, self.jacobian])  # sparse: each zero of a dense one is looked at, too
        arguments = [vectors.t, self.unknowns, vectors.u, vectors.P, vectors.m]
        return ca.Function("initial", arguments, [ca.densify(rows), ca.densify(jacobian)])


def initial_problem(
    formulation: Formulation, accelerations: Accelerations | None = None, delays: Delays | None = None
) -> InitialProblem:
    """Equations of initialisation; without `accelerations` those that positions and speeds alone decide."""
    values, vectors, constraints = formulation.values, formulation.vectors, formulation.constraints
    starts, parameters, iterations = formulation.starts, formulation.parameters, formulation.iterations
    unknowns = values.unknowns
    rows: list[ca.SX] = [constraints.position, constraints.velocity]
    names = [*constraints.names[: constraints.position.numel()], *(f"speed of {n}" for n in constraints.names)]
    for own, Q in unknowns.quaternions.items():
        rows.append(ca.dot(Q, Q) - 1)
        names.append(f"norm of quaternion {own}")
    wanted = ca.vertcat(vectors.a, constraints.multipliers)
    with_w = accelerations is not None and any(
        o is not None and o.fixed for o in map(starts.owner_of, elements(vectors.a))
    )
    for value, name in _conditions(values, starts):
        (value,) = parameters.resolve([value])
        knows_w = bool(wanted.numel()) and ca.depends_on(value, wanted)
        if knows_w and accelerations is None:
            continue
        with_w |= knows_w
        rows += constraints.without_dropped([value])
        names.append(name)
    if delays is not None:
        rows = delays.at_start(rows, vectors)
    free = stacked(parameters.symbols[i] for i in parameters.open)
    sought = [vectors.q, vectors.v, vectors.z, free]
    kinematic = stacked(rows)
    motion, iterated = ca.SX(0, 1), ca.SX(0, 1)
    w = ca.SX(0, 1) if accelerations is None else accelerations.w
    with_s = ca.depends_on(kinematic, iterations.symbols)
    with_w |= with_s and ca.depends_on(iterations.residual, w)
    if with_w:
        assert accelerations is not None
        sought.append(w)
        motion = accelerations.residual(vectors)
        names += [f"motion of {s}" for s in elements(w)]
        with_s |= ca.depends_on(motion, iterations.symbols)
    if with_s:
        sought.append(iterations.symbols)
        iterated = iterations.residual
        names += [f"equation of {name}" for name in iterations.names]
    if delays is not None:
        motion, iterated = delays.at_start([motion, iterated], vectors)
    X = stacked(sought)
    guess = guessed(values, starts, parameters, X)
    owners = [starts.owner_of(symbol) for symbol in elements(X)]
    weights = _costs(owners, parameters, X, _impulses(values), _rates(values, vectors) if with_w else frozenset())
    opened = dict(zip((s.element_hash() for s in elements(free)), parameters.open_names, strict=True))
    labels = tuple(
        opened.get(s.element_hash(), str(s)) if o is None else o.label for s, o in zip(elements(X), owners, strict=True)
    )
    fixed, given = (tuple(o is not None and getattr(o, flag) for o in owners) for flag in ("fixed", "given"))
    if free.numel():  # derived parameters follow the free ones while these are being found
        place = ca.SX.sym("free", free.numel())
        derived, expressions = stacked(parameters.derived), stacked(parameters.expressions)
        columns = [kinematic, motion, iterated]
        if derived.numel():
            columns = list(ca.substitute(columns, [derived], [expressions]))
        kinematic, motion, iterated, X = ca.substitute([*columns, X], [free], [place])
    if with_s:  # those of X take the place of those in u
        found = ca.SX.sym("s", iterations.symbols.numel())
        kinematic, motion, iterated, X = ca.substitute([kinematic, motion, iterated, X], [iterations.symbols], [found])
    sizes = [1.0] * kinematic.numel()
    if with_w or with_s:
        scaled = ca.vertcat(motion, iterated)
        size = _sizes(formulation, X, guess, scaled)
        motion, sizes = scaled / size, [*sizes, *size.full().ravel().tolist()]
    parted = Parted.of(stacked([kinematic, motion]), X)
    ordered = tuple(names[i] for i in parted.order)
    divided = tuple(sizes[i] for i in parted.order)
    stages = _stages(parted.rows, X, vectors, free.numel())
    parts = parted.parts
    return InitialProblem(
        X, labels, guess, parted.rows, parted.jacobian, parts, ordered, divided, stages, fixed, given, weights, with_s
    )


def _stages(rows: ca.SX, X: ca.SX, vectors: Vectors, nfree: int) -> tuple[int, ...]:
    """In which stage each row takes part: when positions are found, when speeds are, or with all others only."""
    ends = np.cumsum([vectors.q.numel(), vectors.v.numel(), vectors.z.numel(), nfree]).tolist()
    speeds = set(which_depend(rows, X[ends[0] : ends[1]]))
    others = set(which_depend(rows, ca.vertcat(X[ends[1] : ends[2]], X[ends[3] :])))
    return tuple(2 if i in others else 1 if i in speeds else 0 for i in range(rows.numel()))


def _conditions(values: Values, starts: Starts) -> Iterable[tuple[ca.SX, str]]:
    """Fixed start values of dependent variables, and initial equations of components: (residual, name)."""
    for entry in starts.conditions:
        yield entry.value - entry.start, f"start value of {entry.label}"
    for path, behaviour in values.behaviours.items():
        for expression, name in behaviour.initial:
            (residuals,) = values.locals(path, [expression])
            yield from ((value, of(name, path)) for value in elements(residuals))


def _impulses(values: Values) -> frozenset[int]:
    """Rates of the speeds that have an equation of their own in place of a motion, such as the impulse of friction."""
    return frozenset(
        element.element_hash()
        for own, symbol in values.unknowns.a.items()
        if isinstance(own, Own) and leaves.Effort(str(own.leaf)) in values.behaviours[own.path].targets
        for element in elements(symbol)
    )


def _rates(values: Values, vectors: Vectors) -> frozenset[int]:
    """Speeds, and states that are the rate of another state."""
    states = {symbol.element_hash() for symbol in elements(vectors.z)}
    rates = {rate.element_hash() for rate in elements(values.state_rates) if rate.is_symbolic()}
    return frozenset(rates & states) | {symbol.element_hash() for symbol in elements(vectors.v)}


def _costs(
    owners: Iterable[StartValue | None],
    parameters: Parameters,
    X: ca.SX,
    impulses: frozenset[int],
    resting: frozenset[int],
) -> tuple[float, ...]:
    """Per unknown: what does it cost to move it away from its guess."""
    free = zip((parameters.symbols[i].element_hash() for i in parameters.open), parameters.open_weights, strict=True)
    resistance = dict(free)
    weights = []
    for symbol, owner in zip(elements(X), owners, strict=True):
        key = symbol.element_hash()
        if key in impulses:
            weights.append(HOLDING)
        elif key in resting and not (owner is not None and owner.given):
            weights.append(RESTING)
        elif key in resistance or owner is None:
            weights.append(resistance.get(key, WEIGHTS[1]))
        else:
            weights.append(WEIGHTS[owner.strength] * (GIVEN if owner.given else 1.0))
    return tuple(weights)


def _sizes(formulation: Formulation, X: ca.SX, guess: ca.SX, rows: ca.SX) -> ca.DM:
    """Size of each row's derivatives at the guesses, with default parameters; at least 1.

    Equations of motion are divided by theirs. A stiff force would otherwise drown the constraints beside it when
    the rank of all is found, and the loops would stay open.
    """
    vectors, parameters = formulation.vectors, formulation.parameters
    at, P = parameters.by_default(guess), parameters.default_P
    inputs = formulation.values.start_inputs
    slope = ca.Function("slope", [X, vectors.t, vectors.u, vectors.P, vectors.m], [ca.jacobian(rows, X)])
    values = slope(at, formulation.start_time, ca.DM(inputs), P, ca.DM.zeros(vectors.m.numel()))
    size = np.linalg.norm(np.array(values), axis=1)
    return ca.DM(np.where(np.isfinite(size), np.maximum(size, 1.0), 1.0))
