"""Start values: who says where a coordinate starts, what holds, and the equations of initialisation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import scipy.optimize

from mbfmu.dynamics.parameters import Parameters
from mbfmu.dynamics.scope import column
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.topology import STATE_SELECT, Topology
from mbfmu.errors import ModelError
from mbfmu.modeling.declarations import Coordinate, Quaternion, Variable

if TYPE_CHECKING:
    from mbfmu.dynamics.builder import Builder

#: How much a guess resists being moved, by strength of stateSelect; guesses that a user gave resist more.
WEIGHTS = {0: 0.3, 1: 0.3, 2: 1.0, 3: 1.0, 4: 10.0}
GIVEN = 3.0
#: Pull towards the declared start of a coordinate that hints may move, relative to the hints.
HINT = 1e-3


@dataclasses.dataclass
class StartValue:
    """Start value of one scalar variable; `label` is its name for messages."""

    path: str
    name: str
    index: int
    label: str
    value: ca.SX
    start: ca.SX
    fixed: bool
    given: bool
    strength: int

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Order in which start values of one unknown are preferred."""
        return self.fixed, self.given, self.strength


@dataclasses.dataclass
class InitialProblem:
    """Equations of initialisation in symbols (docs/architecture.md)."""

    unknowns: ca.SX
    guess: ca.SX
    rows: ca.SX
    names: list[str]
    fixed: list[bool]
    weights: list[float]
    with_w: bool

    def function(self, t: ca.SX, u: ca.SX, P: ca.SX, m: ca.SX) -> ca.Function:
        """`initial(t, X, u, P, m)`."""
        jacobian = ca.densify(ca.jacobian(self.rows, self.unknowns))
        rows, jacobian = ca.cse([self.rows, jacobian]) if self.rows.numel() else (self.rows, jacobian)
        return ca.Function("initial", [t, self.unknowns, u, P, m], [ca.densify(rows), jacobian])


class Starts:
    """Start values of all variables, and which of them belong to which unknown."""

    def __init__(self, topology: Topology, sweeps: Sweeps, parameters: Parameters) -> None:
        self.topology, self.sweeps, self.parameters = topology, sweeps, parameters
        symbols = sweeps.symbols
        self._unknown: set[int] = set()
        for group in (symbols.q, symbols.v, symbols.z, symbols.a, symbols.multipliers):
            for symbol in group.values():
                self._unknown.update(e.element_hash() for e in ca.vertsplit(symbol))
        #: Unknown (hash of its symbol) -> the start value that it takes.
        self.owner: dict[int, StartValue] = {}
        #: Fixed start values of variables that are no unknowns themselves: equations.
        self.conditions: list[StartValue] = []
        #: Start values that are guesses for dependent variables.
        self.hints: list[StartValue] = []
        for path, record in topology.records.items():
            for name in record.component.variables():
                self._take(path, name)
        #: Guesses that were moved and have no place in p.
        self.moved: dict[int, float] = {}
        #: (path, name, index) -> start value, for the interface.
        self.used = {(s.path, s.name, s.index): s for s in (*self.owner.values(), *self.conditions)}

    def _take(self, path: str, name: str) -> None:
        component = self.topology.records[path].component
        declaration = component.variables()[name]
        if isinstance(declaration, Coordinate | Quaternion) and declaration.role(component) is Variable:
            return  # the other choice of coordinates holds the start
        value, fixed, select = component.start(name)
        given = component.is_given(name)
        if value is None and not np.any(fixed):
            return
        elements = ca.vertsplit(self.sweeps.variable(path, name))
        where = f"{component.where}.{name}"
        starts = _spread(column(0.0 if value is None else value), len(elements), where)
        is_fixed = np.broadcast_to(np.asarray(fixed, dtype=bool), (len(elements),))
        for i, (element, start) in enumerate(zip(elements, starts, strict=True)):
            known = element.is_symbolic() and element.element_hash() in self._unknown
            if not (known or is_fixed[i] or given):
                continue
            label = f"{where}[{i + 1}]" if len(elements) > 1 else where
            entry = StartValue(
                path,
                name,
                i,
                label,
                element,
                self.parameters.add_start(label, start),
                bool(is_fixed[i]),
                given,
                STATE_SELECT[select],
            )
            if known:
                self._claim(element.element_hash(), entry)
            elif entry.fixed:
                self.conditions.append(entry)
            else:
                self.hints.append(entry)

    def _claim(self, key: int, entry: StartValue) -> None:
        """An unknown takes the start value of its strongest variable; other fixed ones become conditions."""
        current = self.owner.get(key)
        if current is None:
            self.owner[key] = entry
            return
        winner, loser = (entry, current) if entry.rank > current.rank else (current, entry)
        self.owner[key] = winner
        if loser.fixed:
            self.conditions.append(loser)

    def follow_hints(self, builder: Builder) -> None:
        """Move guesses that nobody gave to where guesses of dependent variables are met best, with default parameters.

        Fixed start values and constraints take part, so that guesses which suit them are met exactly.

        So `lineForce(r_rel_0(start = ...))` says where a coordinate beyond the spring starts looking.
        """
        positions = _elements(ca.vertcat(builder.q, builder.v))
        owners = [self.owner.get(s.element_hash()) for s in positions]
        movable = [i for i, o in enumerate(owners) if o is None or not (o.fixed or o.given)]
        resolve = self.parameters.resolve
        wanted = [entry.value - entry.start for entry in (*self.hints, *self.conditions)]
        wanted += [ca.dot(q, q) - 1 for q in self.sweeps.symbols.q.values() if q.numel() == 4]
        wanted += [r for row in builder.rows for r in (row.position, row.velocity) if r is not None]
        rows = _column(resolve([_column(wanted)]))
        accelerations = ca.vertcat(
            builder.a, *self.sweeps.symbols.multipliers.values(), *self.sweeps.symbols.z.values()
        )
        rows = _column(r for r in _elements(rows) if not ca.depends_on(r, accelerations))
        if not movable or not rows.numel():
            return
        known, values = self._defaults(builder)
        residual = ca.Function("hints", [_column(positions), *known], [rows, ca.jacobian(rows, _column(positions))])
        starts = [ca.SX(0) if o is None else o.start for o in owners]
        start = ca.Function("start", [self.parameters.all], [resolve([_column(starts)])[0]])
        X = np.array(start(values[2])).ravel()
        for q in self.sweeps.symbols.q.values():  # a quaternion that nobody starts is the null rotation
            places = [k for k, s in enumerate(positions) if q.numel() == 4 and s.element_hash() == q[3].element_hash()]
            if places and owners[places[0]] is None:
                X[places[0]] = 1.0

        def evaluate(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            X[movable] = y
            r, J = residual(X, *values)
            return np.array(r).ravel(), np.array(J)[:, movable]

        origin = X[movable].copy()

        def weighed(y: np.ndarray) -> np.ndarray:
            return np.concatenate([evaluate(y)[0], HINT * (y - origin)])

        def slope(y: np.ndarray) -> np.ndarray:
            return np.vstack([evaluate(y)[1], HINT * np.eye(y.size)])

        begin, random = origin, np.random.default_rng(0)
        for _ in range(10):
            if np.isfinite(weighed(begin)).all():
                break
            begin = origin + 0.01 * random.normal(size=origin.size)  # half a turn apart there is no rotation vector
        else:
            return
        found = scipy.optimize.least_squares(weighed, begin, jac=slope)
        for i, value in zip(movable, found.x, strict=True):
            self._move(positions[i], owners[i], float(value))

    def _defaults(self, builder: Builder) -> tuple[list[ca.SX], list[Any]]:
        """Time, inputs, P and modes as symbols, and the values that they have by default."""
        p = ca.DM(self.parameters.defaults)
        derived = ca.Function("derived", [self.parameters.independent], [_column(self.parameters.expressions)])
        return [builder.sweeps.symbols.time, builder.u, self.parameters.all, builder.m], [
            builder.assembly.start_time,
            ca.DM(builder.interface.input_starts),
            ca.vertcat(p, derived(p)),
            ca.DM.zeros(builder.m.numel()),
        ]

    def _sizes(self, builder: Builder, unknowns: ca.SX, guess: ca.SX, rows: ca.SX) -> ca.DM:
        """Size of each row's derivatives at the guesses, with default parameters; at least 1.

        Equations of motion are divided by theirs. A stiff force would otherwise drown the constraints beside it when
        the rank of all is found, and the loops would stay open.
        """
        known, values = self._defaults(builder)
        start = ca.Function("start", [self.parameters.all], [guess])
        slope = ca.Function("slope", [unknowns, *known], [ca.jacobian(rows, unknowns)])
        size = np.linalg.norm(np.array(slope(start(values[2]), *values)), axis=1)
        return ca.DM(np.where(np.isfinite(size), np.maximum(size, 1.0), 1.0))

    def adopt(self, builder: Builder, start: np.ndarray) -> None:
        """Take an assembled position and its speeds as guesses, so that later searches begin where they will end."""
        for symbol, value in zip(_elements(ca.vertcat(builder.q, builder.v)), start, strict=False):
            owner = self.owner.get(symbol.element_hash())
            if owner is None or not owner.fixed:
                self._move(symbol, owner, float(value))

    def _move(self, symbol: ca.SX, owner: StartValue | None, value: float) -> None:
        place = None if owner is None else self.parameters.place(owner.start)
        if place is not None and place < len(self.parameters.defaults):
            self.parameters.defaults[place] = value
        else:
            self.moved[symbol.element_hash()] = value

    def equations(self, builder: Builder, with_rows: bool) -> InitialProblem:
        """The problem of initialisation; `with_rows=False`: positions and speeds only."""
        resolve = self.parameters.resolve
        rows: list[ca.SX] = [builder.g_all, builder.c_all]
        names = [*builder.row_names[: builder.g_all.numel()], *(f"speed of {n}" for n in builder.row_names)]
        for key, q in self.sweeps.symbols.q.items():
            if q.numel() == 4:
                rows.append(ca.dot(q, q) - 1)
                names.append(f"norm of quaternion {'.'.join(map(str, key))}")
        late: list[tuple[ca.SX, str]] = []
        for entry in self.conditions:
            late.append((entry.value - entry.start, f"start value of {entry.label}"))
        for path, record in self.topology.records.items():
            for expression, name in record.initial:
                values = ca.vec(self.sweeps.globalise(path, [expression])[0])
                late += [(v, f"{name} of {path}") for v in ca.vertsplit(values)]
        all_multipliers = builder.multipliers
        accelerations = ca.vertcat(builder.a, all_multipliers)
        held_w = [
            o for o in (self.owner.get(s.element_hash()) for s in _elements(builder.a)) if o is not None and o.fixed
        ]
        with_w = False
        for value, name in late:
            value = resolve([value])[0]
            knows_w = bool(accelerations.numel()) and ca.depends_on(value, accelerations)
            if knows_w and not with_rows:
                continue
            with_w |= knows_w
            rows.append(builder._without_dropped([value])[0] if with_rows else value)
            names.append(name)
        with_w |= bool(held_w) and with_rows
        free = _column(self.parameters.symbols[i] for i in self.parameters.free)
        unknowns = [builder.q, builder.v, builder.z, free]
        if with_w:
            unknowns.append(builder.w)
            rows.append(builder.motion_residual)
            names += [f"motion of {s}" for s in _elements(builder.w)]
        all_unknowns = ca.vertcat(*unknowns)
        return self._problem(builder, all_unknowns, _column(rows), names, with_w)

    def _problem(
        self, builder: Builder, unknowns: ca.SX, rows: ca.SX, names: list[str], with_w: bool
    ) -> InitialProblem:
        p = self.parameters
        free = {p.symbols[i].element_hash(): w for i, w in zip(p.free, p.free_weights, strict=True)}
        guess, fixed, weights = [], [], []
        quaternion = {
            e.element_hash(): i
            for q in self.sweeps.symbols.q.values()
            if q.numel() == 4
            for i, e in enumerate(ca.vertsplit(q))
        }
        for symbol in _elements(unknowns):
            key = symbol.element_hash()
            owner = self.owner.get(key)
            if key in free:
                guess.append(symbol)
                fixed.append(False)
                weights.append(free[key])
            elif owner is None:
                guess.append(ca.SX(self.moved.get(key, 1.0 if quaternion.get(key) == 3 else 0.0)))
                fixed.append(False)
                weights.append(WEIGHTS[1])
            else:
                guess.append(ca.SX(self.moved[key]) if key in self.moved else owner.start)
                fixed.append(owner.fixed)
                weights.append(WEIGHTS[owner.strength] * (GIVEN if owner.given else 1.0))
        guess_column = self.parameters.resolve([_column(guess)])[0]
        if free:  # derived parameters follow the free ones while these are being found
            derived = _column(self.parameters.derived)
            if derived.numel():
                rows = ca.substitute(rows, derived, _column(self.parameters.expressions))
            own = _column(self.parameters.symbols[i] for i in self.parameters.free)
            place = ca.SX.sym("free", own.numel())
            rows = ca.substitute(rows, own, place)
            unknowns = ca.substitute(unknowns, own, place)
        if with_w:
            kinematic = rows.numel() - builder.w.numel()
            motion = rows[kinematic:]
            sizes = self._sizes(builder, unknowns, guess_column, motion)
            rows = _column([*_elements(rows)[:kinematic], motion / sizes])
        return InitialProblem(unknowns, guess_column, rows, names, fixed, weights, with_w)


def _elements(columns: ca.SX) -> list[ca.SX]:
    return list(ca.vertsplit(columns)) if columns.numel() else []


def _column(parts: Any) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *(ca.vec(p) for p in parts))


def _spread(value: ca.SX, size: int, where: str) -> list[ca.SX]:
    """Start value as one scalar per element; a scalar applies to each."""
    elements = _elements(ca.vec(value))
    if len(elements) == 1:
        return elements * size
    if len(elements) != size:
        raise ModelError(f"{where}: the start value has {len(elements)} elements, expected {size}")
    return elements
