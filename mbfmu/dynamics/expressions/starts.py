"""Start values: who says where an unknown starts, and what holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import column, elements, hashes, stacked
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.structure.scalar_graph import STATE_SELECT
from mbfmu.errors import ModelError
from mbfmu.modeling.declarations import Coordinate, Quaternion


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
    def of(cls, values: Values) -> Starts:
        """Ask all components for their start values.

        An unknown takes the start value of its strongest variable; other fixed ones become conditions.
        """
        unknowns = values.unknowns
        groups = (unknowns.q, unknowns.v, unknowns.z, unknowns.a, unknowns.multipliers, unknowns.held)
        iterated = set(hashes(elements(values.iterated)))
        known = {key for group in groups for symbol in group.values() for key in hashes(elements(symbol))} | iterated
        found: list[StartValue] = []
        owner: dict[int, StartValue] = {}
        conditions: list[StartValue] = []
        hints: list[StartValue] = []
        for entry in _declared(values, known):
            key = entry.value.element_hash() if entry.value.is_symbolic() else None
            is_unknown = key in known
            if not (is_unknown or entry.fixed or entry.given):
                continue
            found.append(entry)
            if key is None or not is_unknown:
                (conditions if entry.fixed else hints).append(entry)
                continue
            if key in iterated and entry.fixed:  # what equations give cannot be held
                conditions.append(entry)
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


def _declared(values: Values, known: Collection[int]) -> Iterable[StartValue]:
    """Start values of variables that have one, where it is fixed, given, or one of what is known (element hashes)."""
    for path, behaviour in values.behaviours.items():
        component = behaviour.component
        for name, declaration in component.variables().items():
            if isinstance(declaration, Coordinate | Quaternion) and declaration.leaf(component) is None:
                continue  # the other choice of coordinates holds the start
            fixed, given = component.is_fixed(name), component.is_given(name)
            scalars = elements(values.variable(path, name))
            if not (given or np.any(fixed) or any(key in known for key in hashes(scalars))):
                continue  # its start value, if it has one, has no effect
            value, _, select = component.start(name)
            if value is None and not np.any(fixed):
                continue
            where = f"{component.where}.{name}"
            starts = _spread(column(0.0 if value is None else value), len(scalars), where)
            if np.size(fixed) not in (1, len(scalars)):
                raise ModelError(f"{where}: fixed has {np.size(fixed)} elements, expected {len(scalars)}")
            is_fixed = np.broadcast_to(np.asarray(fixed, dtype=bool), (len(scalars),))
            for i, (element, start) in enumerate(zip(scalars, starts, strict=True)):
                label = f"{where}[{i + 1}]" if len(scalars) > 1 else where
                number = float(start) if start.is_constant() else None
                symbol = start if number is None else ca.SX.sym(f"{label}.start")
                strength = STATE_SELECT[select]
                yield StartValue(path, name, i, label, element, symbol, number, bool(is_fixed[i]), given, strength)


def _spread(value: ca.SX, size: int, where: str) -> list[ca.SX]:
    """Start value as one scalar per element; a scalar applies to each."""
    found = elements(value)
    if len(found) == 1:
        return found * size
    if len(found) != size:
        raise ModelError(f"{where}: the start value has {len(found)} elements, expected {size}")
    return found


def guessed(values: Values, starts: Starts, parameters: Parameters, X: ca.SX) -> ca.SX:
    """Where the search for the unknowns X begins."""
    free = {parameters.symbols[i].element_hash() for i in parameters.open}
    ones = {Q[3].element_hash() for Q in values.unknowns.quaternions.values()}  # the null rotation
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
