"""Constraints: rows of position or velocity, each with a multiplier, that keep what the tree leaves open."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence

import casadi as ca

from mbfmu.dynamics.implied import Condition, ImpliedSignals
from mbfmu.dynamics.inputs import Inputs
from mbfmu.dynamics.motion import Motion, moved
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.topology import Edge, Topology
from mbfmu.dynamics.unknowns import Own, stacked, which_depend
from mbfmu.errors import ModelError
from mbfmu.frames import rotation_vector
from mbfmu.modeling import leaves
from mbfmu.modeling.names import heading, joined, of


@dataclasses.dataclass(frozen=True)
class Rows:
    """Constraint rows of one origin: position residual (or None), velocity and acceleration residual, multipliers."""

    name: str
    position: ca.SX | None
    velocity: ca.SX
    acceleration: ca.SX
    multipliers: ca.SX
    #: True where the multipliers are signals that are sought, so that no row may be dropped.
    needed: bool = False

    @property
    def names(self) -> list[str]:
        """One name per row."""
        size = self.velocity.numel()
        return [self.name] if size == 1 else [f"{self.name}, row {i + 1}" for i in range(size)]


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which rows are kept: all that do not follow from the others at each position in the same way."""

    kept: tuple[int, ...]
    #: How many of these, and how many of the positions among them, follow from the others all the same, but at each
    #: position in another way, so that none of them may go.
    redundancies: int = 0
    position_redundancies: int = 0
    #: Where there are any: the size of each kept row of the Jacobian, so that metres and radians compare; and the rows
    #: that share in such redundancies, whose multipliers nothing determines.
    sizes: tuple[float, ...] = ()
    shared: frozenset[int] = frozenset()


@dataclasses.dataclass(frozen=True)
class Constraints:
    """All rows as columns, and which of them are kept: the others follow from these, and their multipliers are zero.

    Positions come first, so that the first velocity rows are their derivatives.
    """

    position: ca.SX
    velocity: ca.SX
    acceleration: ca.SX
    multipliers: ca.SX
    names: tuple[str, ...]
    choice: Choice
    #: Rows that must not be dropped.
    needed: frozenset[int]

    @classmethod
    def of(cls, rows: Sequence[Rows], resolve: Callable[[list[ca.SX]], list[ca.SX]]) -> Constraints:
        """All rows, all kept; `resolve` replaces parameters that are passed on."""
        ordered = [r for r in rows if r.position is not None] + [r for r in rows if r.position is None]
        position = stacked(r.position for r in ordered if r.position is not None)
        columns = [position, stacked(r.velocity for r in ordered), stacked(r.acceleration for r in ordered)]
        names = tuple(name for r in ordered for name in r.names)
        position, velocity, acceleration = resolve(columns)
        multipliers = stacked(r.multipliers for r in ordered)
        needed = [r.needed for r in ordered for _ in r.names]
        held = frozenset(i for i, is_needed in enumerate(needed) if is_needed)
        return cls(position, velocity, acceleration, multipliers, names, Choice(tuple(range(len(names)))), held)

    def only(self, choice: Choice) -> Constraints:
        """The same with only these rows kept.

        Raises:
            ModelError: a signal follows from a row that is none of them, or that says what others say, too.
        """
        lost = sorted(self.needed.difference(choice.kept) | self.needed.intersection(choice.shared))
        if lost:
            raise ModelError(
                f"{self.names[lost[0]]}: with these parameters it says nothing that others do not say, so that nothing "
                "determines its signal; leave out what has no effect, such as a damper with d = 0, and conditions that "
                "repeat each other"
            )
        return dataclasses.replace(self, choice=choice)

    @property
    def kept(self) -> tuple[int, ...]:
        """Kept rows."""
        return self.choice.kept

    @property
    def rank(self) -> int:
        """How many rows are independent at each position."""
        return len(self.kept) - self.choice.redundancies

    @property
    def kept_positions(self) -> list[int]:
        """Kept rows of position."""
        return [i for i in self.kept if i < self.position.numel()]

    @property
    def dropped_positions(self) -> list[int]:
        """Dropped rows of position."""
        return [i for i in range(self.position.numel()) if i not in set(self.kept)]

    @property
    def dropped(self) -> list[int]:
        """All dropped rows."""
        return [i for i in range(len(self.names)) if i not in set(self.kept)]

    @property
    def kept_multipliers(self) -> ca.SX:
        """Multipliers of the kept rows: part of w."""
        return chosen(self.multipliers, self.kept)

    def without_dropped(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions with zero for the multipliers of dropped rows."""
        if not self.dropped:
            return expressions
        dropped = chosen(self.multipliers, self.dropped)
        return list(ca.substitute(expressions, [dropped], [ca.SX.zeros(dropped.numel())]))

    def report(self) -> list[str]:
        """Which rows are dropped."""
        by_name: dict[str, list[str]] = {}
        for i in self.dropped:
            name, _, row = self.names[i].partition(", row ")
            by_name.setdefault(name, []).append(row or "1")
        lines = [f"{name}: rows {', '.join(rows)} are redundant and dropped" for name, rows in by_name.items()]
        if self.choice.redundancies:
            lines.append(
                f"which rows are redundant depends on the position: {self.choice.redundancies} of {len(self.kept)} "
                "constraints follow from the others, none is dropped, and constraint forces are those of least norm"
            )
        return lines


def chosen(column: ca.SX, indices: Sequence[int]) -> ca.SX:
    """Some elements of a column."""
    return column[list(indices)] if indices else ca.SX(0, 1)


def closed_loops(sweeps: Sweeps) -> list[Rows]:
    """Rows of cut joints, of components, of relations that close loops, and of positions that are prescribed twice."""
    cuts = [_weld(sweeps, edge) for edge in sweeps.topology.edges if edge.role == "cut"]
    return [*cuts, *_of_components(sweeps), *_of_relations(sweeps), *_of_repeated(sweeps)]


def _weld(sweeps: Sweeps, edge: Edge) -> Rows:
    """A cut joint keeps its coordinates; its second frame b is welded to the first."""
    two = {what: sweeps.beyond(edge, what) for what in ("r_0", "T", "v_0", "w", "a_0", "z")}
    one = {what: sweeps.frame(edge.b, what) for what in two}
    T = one["T"]
    turn = rotation_vector(two["T"] @ T.T)
    return Rows(
        f"cut of {edge.path}",
        ca.vertcat(T @ (two["r_0"] - one["r_0"]), turn),
        ca.vertcat(T @ (two["v_0"] - one["v_0"]), two["w"] - one["w"]),
        ca.vertcat(T @ (two["a_0"] - one["a_0"]), two["z"] - one["z"]),
        sweeps.unknowns.multipliers[edge],
    )


def _of_components(sweeps: Sweeps) -> Iterator[Rows]:
    for path, behaviour in sweeps.behaviours.items():
        for c in behaviour.constraints:
            parts = [p for p in (c.position, c.velocity, c.acceleration) if p is not None]
            values = sweeps.substitute(path, parts)
            multipliers = stacked(sweeps.unknowns.own[Own(path, leaves.Multiplier(name))] for name in c.multipliers)
            if multipliers.numel() != c.velocity.numel():
                raise ModelError(
                    f"{heading(path)}constrain({', '.join(c.multipliers)}) has {c.velocity.numel()} rows for "
                    f"{multipliers.numel()} multipliers; give one of each"
                )
            position = values[0] if c.position is not None else None
            yield Rows(f"{path} {c.name}", position, values[-2], values[-1], multipliers)


def _of_relations(sweeps: Sweeps) -> Iterator[Rows]:
    for relation in sweeps.topology.relations:
        if relation.solves is None:
            derivative = sweeps.behaviours[relation.path].derivative
            velocity = derivative(relation.expression)
            values = sweeps.substitute(relation.path, [relation.expression, velocity, derivative(velocity)])
            name = of(f"relation {relation.index + 1}", relation.path)
            yield Rows(name, values[0], values[1], values[2], sweeps.multiplier(relation))


def _of_repeated(sweeps: Sweeps) -> Iterator[Rows]:
    for path, connector in sweeps.topology.repeated:
        node = sweeps.topology.flange_node(path, connector)
        position, velocity, acceleration = (
            sweeps.scalar(node, order) - sweeps.prescribed(path, connector, order) for order in (0, 1, 2)
        )
        multiplier = sweeps.unknowns.multipliers[(path, connector)]
        yield Rows(joined(path, connector), position, velocity, acceleration, multiplier)


def constrained(topology: Topology, inputs: Inputs) -> tuple[Sweeps, Motion, list[Rows]]:
    """The sweeps of a topology, the motion that they give, and all constraint rows.

    Rows act on accelerations of nodes themselves, so coordinates that they know must not be relative.
    """
    while True:
        sweeps, motion = moved(topology, inputs)
        topology, unknowns, loops = sweeps.topology, sweeps.unknowns, closed_loops(sweeps)
        columns = zip(*((r.acceleration, r.multipliers) for r in loops), strict=True) if loops else ((), ())
        accelerations, multipliers = map(stacked, columns)
        residual, unknown = ca.vertcat(motion.balances, accelerations), stacked([*unknowns.a.values(), multipliers])
        implied = ImpliedSignals(sweeps, residual, unknown)
        if implied.to_bind:
            topology = topology.binding(implied.to_bind)
            continue
        motion, rows = with_implied(sweeps, motion, implied.conditions)
        motion, rows = with_massless(sweeps, motion, [*loops, *rows])
        known = stacked(r for row in rows for r in (row.position, row.velocity) if r is not None)
        bound = [n for n in topology.relative if ca.depends_on(known, ca.vertcat(unknowns.q[n], unknowns.v[n]))]
        if not bound:
            return sweeps, motion, rows
        topology = topology.without_relative(bound)


def with_implied(sweeps: Sweeps, motion: Motion, conditions: Iterable[Condition]) -> tuple[Motion, list[Rows]]:
    """Conditions between states, kept like constraints: the last derivative of each by the signal that it implies.

    The multipliers that come with the others stay zero, as long as their derivatives are (Gear, Gupta and Leimkuhler,
    Journal of Computational and Applied Mathematics 12 (1985), 77-90).
    """
    v, balances, rows = stacked(sweeps.unknowns.v.values()), ca.SX(motion.balances), []
    for condition in conditions:
        levels, name = list(condition.between_states), condition.name
        while levels:
            position = None if ca.depends_on(levels[0], v) else levels.pop(0)
            velocity = levels.pop(0)
            multiplier = ca.SX.sym(name) if levels else condition.signal
            if levels:
                balances += ca.jacobian(velocity, v).T @ multiplier
            acceleration = sweeps.total_derivative(velocity)
            rows.append(Rows(name, position, velocity, acceleration, multiplier, needed=True))
            name = f"derivative of {condition.name}"
    return dataclasses.replace(motion, balances=balances), rows


def with_massless(sweeps: Sweeps, motion: Motion, rows: list[Rows]) -> tuple[Motion, list[Rows]]:
    """Where a speed moves no mass, its balance is a condition on positions (or speeds), kept as a constraint.

    The multiplier that comes with it stays zero: it only gives the balance, without accelerations, an unknown.

    Raises:
        ModelError: no force acts along such a speed either, whatever the parameters are.
    """
    v, a = stacked(sweeps.unknowns.v.values()), stacked(sweeps.unknowns.a.values())
    unknown = ca.vertcat(a, *(r.multipliers for r in rows))
    known = set(which_depend(motion.balances, unknown))
    balances, found = ca.SX(motion.balances), []
    empty = [sweeps.unknowns.speed_names[i] for i in range(v.numel()) if motion.balances[i].is_zero()]
    if empty:
        joints = dict.fromkeys(name.rpartition(".")[0] or name for name in empty)
        raise ModelError(
            f"{', '.join(joints)}: nothing that has a mass, an inertia or a force moves with this freedom, so that "
            "nothing says how it accelerates; connect a body behind its joint, or take the joint away"
        )
    for i in (i for i in range(v.numel()) if i not in known):
        name = f"balance of forces along {sweeps.unknowns.speed_names[i]}"
        balance, multiplier = motion.balances[i], ca.SX.sym(name)
        rate = sweeps.total_derivative(balance)
        if ca.depends_on(balance, v):
            found.append(Rows(name, None, balance, rate, multiplier))
        else:
            found.append(Rows(name, balance, rate, sweeps.total_derivative(rate), multiplier))
        balances[i] += multiplier
    return dataclasses.replace(motion, balances=balances), rows + found
