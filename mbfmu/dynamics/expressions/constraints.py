"""Constraints: rows of position or velocity, each with a multiplier, that keep what the tree leaves open."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import casadi as ca

from mbfmu.dynamics.columns import stacked, which_depend
from mbfmu.dynamics.expressions.equations_of_motion import Motion
from mbfmu.dynamics.expressions.implied import Condition, ImpliedSignals
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.structure.constraint_rows import RowFormulas
from mbfmu.errors import ModelError


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

    @classmethod
    def of(cls, formulas: RowFormulas, values: Values) -> Rows:
        """Rows with their values."""
        position = None if formulas.position is None else values(formulas.position)
        velocity, acceleration = values(formulas.velocity), values(formulas.acceleration)
        return cls(formulas.name, position, velocity, acceleration, formulas.multipliers)

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


def constrained(values: Values, loops: Sequence[RowFormulas]) -> tuple[Values, Motion, list[Rows]]:
    """The values with what conditions bind among the unknowns, the motion that they give, and all constraint rows."""
    rows = [Rows.of(formulas, values) for formulas in loops]
    accelerations, multipliers = stacked(r.acceleration for r in rows), stacked(r.multipliers for r in rows)
    while True:
        motion = Motion.of(values)
        residual = ca.vertcat(motion.balances, accelerations)
        implied = ImpliedSignals(values, residual, stacked([*values.unknowns.a.values(), multipliers]))
        if not implied.to_bind:
            break
        values = values.binding(implied.to_bind)
    motion, conditions = with_implied(values, motion, implied.conditions)
    motion, rows = with_massless(values, motion, [*rows, *conditions])
    return values, motion, rows


def with_implied(values: Values, motion: Motion, conditions: Iterable[Condition]) -> tuple[Motion, list[Rows]]:
    """Conditions between states, kept like constraints: the last derivative of each by the signal that it implies.

    The multipliers that come with the others stay zero, as long as their derivatives are (Gear, Gupta and Leimkuhler,
    Journal of Computational and Applied Mathematics 12 (1985), 77-90).
    """
    v, balances, rows = stacked(values.unknowns.v.values()), ca.SX(motion.balances), []
    for condition in conditions:
        levels, name = list(condition.between_states), condition.name
        while levels:
            position = None if ca.depends_on(levels[0], v) else levels.pop(0)
            velocity = levels.pop(0)
            multiplier = ca.SX.sym(name) if levels else condition.signal
            if levels:
                balances += ca.jacobian(velocity, v).T @ multiplier
            acceleration = values.total_derivative(velocity)
            rows.append(Rows(name, position, velocity, acceleration, multiplier, needed=True))
            name = f"derivative of {condition.name}"
    return dataclasses.replace(motion, balances=balances), rows


def with_massless(values: Values, motion: Motion, rows: list[Rows]) -> tuple[Motion, list[Rows]]:
    """Where a speed moves no mass, its balance is a condition on positions (or speeds), kept as a constraint.

    The multiplier that comes with it stays zero: it only gives the balance, without accelerations, an unknown.

    Raises:
        ModelError: no force acts along such a speed either, whatever the parameters are.
    """
    v, a = stacked(values.unknowns.v.values()), stacked(values.unknowns.a.values())
    unknown = ca.vertcat(a, *(r.multipliers for r in rows))
    known = set(which_depend(motion.balances, unknown))
    balances, found = ca.SX(motion.balances), []
    empty = [values.unknowns.speed_names[i] for i in range(v.numel()) if motion.balances[i].is_zero()]
    if empty:
        joints = dict.fromkeys(name.rpartition(".")[0] or name for name in empty)
        raise ModelError(
            f"{', '.join(joints)}: nothing that has a mass, an inertia or a force moves with this freedom, so that "
            "nothing says how it accelerates; connect a body behind its joint, or take the joint away"
        )
    for i in (i for i in range(v.numel()) if i not in known):
        name = f"balance of forces along {values.unknowns.speed_names[i]}"
        balance, multiplier = motion.balances[i], ca.SX.sym(name)
        rate = values.total_derivative(balance)
        if ca.depends_on(balance, v):
            found.append(Rows(name, None, balance, rate, multiplier))
        else:
            found.append(Rows(name, balance, rate, values.total_derivative(rate), multiplier))
        balances[i] += multiplier
    return dataclasses.replace(motion, balances=balances), rows + found
