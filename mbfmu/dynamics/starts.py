"""Start values: who says where a coordinate starts, what holds, and the equations of initialisation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import casadi as ca
import numpy as np

from mbfmu.dynamics.accelerations import Accelerations
from mbfmu.dynamics.constraints import Constraints
from mbfmu.dynamics.delays import Delays
from mbfmu.dynamics.parameters import Parameters
from mbfmu.dynamics.scope import column
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.topology import STATE_SELECT
from mbfmu.dynamics.unknowns import Own, elements, stacked
from mbfmu.dynamics.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.declarations import Coordinate, Quaternion
from mbfmu.modeling.names import of

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
class StartValue:
    """Start value of one scalar variable; `label` is its name for messages."""

    path: str
    name: str
    index: int
    label: str
    value: ca.SX
    #: Symbol of the entry of p that it is, and its default number; or an expression in parameters, and None.
    start: ca.SX
    number: float | None
    fixed: bool
    given: bool
    strength: int

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Order in which start values of one unknown are preferred."""
        return self.fixed, self.given, self.strength


@dataclasses.dataclass(frozen=True)
class Starts:
    """Start values of all variables, and which of them belong to which unknown."""

    all: tuple[StartValue, ...]
    #: Unknown (hash of its symbol) -> the start value that it takes.
    owner: Mapping[int, StartValue]
    #: Fixed start values of variables that are no unknowns themselves: equations.
    conditions: tuple[StartValue, ...]
    #: Start values that are guesses for dependent variables.
    hints: tuple[StartValue, ...]
    #: Guesses that were moved and have no place in p, by unknown.
    moved: Mapping[int, float]

    @classmethod
    def of(cls, sweeps: Sweeps) -> Starts:
        """Ask all components for their start values.

        An unknown takes the start value of its strongest variable; other fixed ones become conditions.
        """
        unknowns = sweeps.unknowns
        groups = (unknowns.q, unknowns.v, unknowns.z, unknowns.a, unknowns.multipliers, unknowns.held)
        known = {e.element_hash() for group in groups for symbol in group.values() for e in elements(symbol)}
        found: list[StartValue] = []
        owner: dict[int, StartValue] = {}
        conditions: list[StartValue] = []
        hints: list[StartValue] = []
        for entry in _declared(sweeps):
            key = entry.value.element_hash() if entry.value.is_symbolic() else None
            is_unknown = key in known
            if not (is_unknown or entry.fixed or entry.given):
                continue
            found.append(entry)
            if key is None or not is_unknown:
                (conditions if entry.fixed else hints).append(entry)
                continue
            current = owner.get(key)
            winner, loser = (entry, current) if current is None or entry.rank > current.rank else (current, entry)
            owner[key] = winner
            if loser is not None and loser.fixed:
                conditions.append(loser)
        return cls(tuple(found), owner, tuple(conditions), tuple(hints), {})

    @property
    def entries_of_p(self) -> list[tuple[ca.SX, float]]:
        """Symbols and numbers of those that are entries of p."""
        return [(entry.start, entry.number) for entry in self.all if entry.number is not None]

    @property
    def used(self) -> dict[tuple[str, str, int], StartValue]:
        """(path, name, index) -> start value, of those that have an effect."""
        return {(s.path, s.name, s.index): s for s in (*self.owner.values(), *self.conditions)}

    def owner_of(self, symbol: ca.SX) -> StartValue | None:
        """The start value that an unknown takes."""
        return self.owner.get(symbol.element_hash())

    def move(self, parameters: Parameters, guesses: Iterable[tuple[ca.SX, float]]) -> tuple[Starts, Parameters]:
        """The same with other guesses of some unknowns, which are entries of p where their start values are."""
        numbers, moved = {}, dict(self.moved)
        for symbol, value in guesses:
            owner = self.owner_of(symbol)
            place = None if owner is None else parameters.number_of(owner.start)
            if place is None:
                moved[symbol.element_hash()] = value
            else:
                numbers[place] = value
        return dataclasses.replace(self, moved=moved), parameters.with_defaults(numbers)


def _declared(sweeps: Sweeps) -> Iterable[StartValue]:
    """Start values of all variables that have one."""
    for path, behaviour in sweeps.behaviours.items():
        component = behaviour.component
        for name, declaration in component.variables().items():
            if isinstance(declaration, Coordinate | Quaternion) and declaration.leaf(component) is None:
                continue  # the other choice of coordinates holds the start
            value, fixed, select = component.start(name)
            if value is None and not np.any(fixed):
                continue
            values = elements(sweeps.variable(path, name))
            where = f"{component.where}.{name}"
            starts = _spread(column(0.0 if value is None else value), len(values), where)
            if np.size(fixed) not in (1, len(values)):
                raise ModelError(f"{where}: fixed has {np.size(fixed)} elements, expected {len(values)}")
            is_fixed = np.broadcast_to(np.asarray(fixed, dtype=bool), (len(values),))
            for i, (element, start) in enumerate(zip(values, starts, strict=True)):
                label = f"{where}[{i + 1}]" if len(values) > 1 else where
                number = float(start) if start.is_constant() else None
                symbol = start if number is None else ca.SX.sym(f"{label}.start")
                given, strength = component.is_given(name), STATE_SELECT[select]
                yield StartValue(path, name, i, label, element, symbol, number, bool(is_fixed[i]), given, strength)


def _spread(value: ca.SX, size: int, where: str) -> list[ca.SX]:
    """Start value as one scalar per element; a scalar applies to each."""
    found = elements(value)
    if len(found) == 1:
        return found * size
    if len(found) != size:
        raise ModelError(f"{where}: the start value has {len(found)} elements, expected {size}")
    return found


@dataclasses.dataclass(frozen=True)
class InitialProblem:
    """Equations of initialisation in symbols (docs/architecture.md)."""

    unknowns: ca.SX
    unknown_names: tuple[str, ...]
    guess: ca.SX
    rows: ca.SX
    names: tuple[str, ...]
    fixed: tuple[bool, ...]
    given: tuple[bool, ...]
    weights: tuple[float, ...]

    def function(self, vectors: Vectors) -> ca.Function:
        """`initial(t, X, u, P, m)`."""
        rows, jacobian = self.rows, ca.jacobian(self.rows, self.unknowns)
        if rows.numel():
            rows, jacobian = ca.cse([rows, jacobian])  # sparse: each zero of a dense one is looked at, too
        arguments = [vectors.t, self.unknowns, vectors.u, vectors.P, vectors.m]
        return ca.Function("initial", arguments, [ca.densify(rows), ca.densify(jacobian)])


def initial_problem(
    sweeps: Sweeps,
    vectors: Vectors,
    constraints: Constraints,
    starts: Starts,
    parameters: Parameters,
    start_time: float,
    accelerations: Accelerations | None = None,
    delays: Delays | None = None,
) -> InitialProblem:
    """Equations of initialisation; without `accelerations` those that positions and speeds alone decide."""
    unknowns = sweeps.unknowns
    rows: list[ca.SX] = [constraints.position, constraints.velocity]
    names = [*constraints.names[: constraints.position.numel()], *(f"speed of {n}" for n in constraints.names)]
    for own, Q in unknowns.quaternions.items():
        rows.append(ca.dot(Q, Q) - 1)
        names.append(f"norm of quaternion {own}")
    wanted = ca.vertcat(vectors.a, constraints.multipliers)
    with_w = accelerations is not None and any(
        o is not None and o.fixed for o in map(starts.owner_of, elements(vectors.a))
    )
    for value, name in _conditions(sweeps, starts):
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
    motion = ca.SX(0, 1)
    if with_w:
        assert accelerations is not None
        sought.append(accelerations.w)
        motion = accelerations.residual(vectors)
        if delays is not None:
            (motion,) = delays.at_start([motion], vectors)
        names += [f"motion of {s}" for s in elements(accelerations.w)]
    X = stacked(sought)
    guess = guessed(sweeps, starts, parameters, X)
    owners = [starts.owner_of(symbol) for symbol in elements(X)]
    weights = _costs(owners, parameters, X, _impulses(sweeps), _rates(sweeps, vectors) if with_w else frozenset())
    opened = dict(zip((s.element_hash() for s in elements(free)), parameters.open_names, strict=True))
    labels = tuple(
        opened.get(s.element_hash(), str(s)) if o is None else o.label for s, o in zip(elements(X), owners, strict=True)
    )
    fixed, given = (tuple(o is not None and getattr(o, flag) for o in owners) for flag in ("fixed", "given"))
    if free.numel():  # derived parameters follow the free ones while these are being found
        place = ca.SX.sym("free", free.numel())
        derived, expressions = stacked(parameters.derived), stacked(parameters.expressions)
        columns = [kinematic, motion]
        if derived.numel():
            columns = list(ca.substitute(columns, [derived], [expressions]))
        kinematic, motion, X = ca.substitute([*columns, X], [free], [place])
    if with_w:
        motion = motion / _sizes(vectors, parameters, sweeps.start_inputs, start_time, X, guess, motion)
    equations = stacked([kinematic, motion])
    return InitialProblem(X, labels, guess, equations, tuple(names), fixed, given, weights)


def _conditions(sweeps: Sweeps, starts: Starts) -> Iterable[tuple[ca.SX, str]]:
    """Fixed start values of dependent variables, and initial equations of components: (residual, name)."""
    for entry in starts.conditions:
        yield entry.value - entry.start, f"start value of {entry.label}"
    for path, behaviour in sweeps.behaviours.items():
        for expression, name in behaviour.initial:
            values = sweeps.substitute(path, [expression])[0]
            yield from ((value, of(name, path)) for value in elements(values))


def guessed(sweeps: Sweeps, starts: Starts, parameters: Parameters, X: ca.SX) -> ca.SX:
    """Where the search for the unknowns X begins."""
    free = {parameters.symbols[i].element_hash() for i in parameters.open}
    ones = {Q[3].element_hash() for Q in sweeps.unknowns.quaternions.values()}  # the null rotation
    guesses = []
    for symbol in elements(X):
        key, owner = symbol.element_hash(), starts.owner_of(symbol)
        if key in free:
            guesses.append(symbol)
        elif key in starts.moved:
            guesses.append(ca.SX(starts.moved[key]))
        else:
            guesses.append(ca.SX(float(key in ones)) if owner is None else owner.start)
    return parameters.resolve([stacked(guesses)])[0]


def _impulses(sweeps: Sweeps) -> frozenset[int]:
    """Rates of the speeds that have an equation of their own in place of a motion, such as the impulse of friction."""
    return frozenset(
        element.element_hash()
        for own, symbol in sweeps.unknowns.a.items()
        if isinstance(own, Own) and leaves.Effort(str(own.leaf)) in sweeps.behaviours[own.path].targets
        for element in elements(symbol)
    )


def _rates(sweeps: Sweeps, vectors: Vectors) -> frozenset[int]:
    """Speeds, and states that are the rate of another state."""
    states = {symbol.element_hash() for symbol in elements(vectors.z)}
    rates = {rate.element_hash() for rate in elements(sweeps.state_rates) if rate.is_symbolic()}
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


def _sizes(
    vectors: Vectors,
    parameters: Parameters,
    inputs: tuple[float, ...],
    start_time: float,
    X: ca.SX,
    guess: ca.SX,
    rows: ca.SX,
) -> ca.DM:
    """Size of each row's derivatives at the guesses, with default parameters; at least 1.

    Equations of motion are divided by theirs. A stiff force would otherwise drown the constraints beside it when
    the rank of all is found, and the loops would stay open.
    """
    at, P = parameters.by_default(guess), parameters.default_P
    slope = ca.Function("slope", [X, vectors.t, vectors.u, vectors.P, vectors.m], [ca.jacobian(rows, X)])
    values = slope(at, start_time, ca.DM(inputs), P, ca.DM.zeros(vectors.m.numel()))
    size = np.linalg.norm(np.array(values), axis=1)
    return ca.DM(np.where(np.isfinite(size), np.maximum(size, 1.0), 1.0))
