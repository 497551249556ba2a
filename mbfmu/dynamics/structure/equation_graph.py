"""The equation graph: what needs what, which equation gives which unknown, and blocks in the order of the work.

Most quantities follow from others by a formula, which tree edges, assignments and relations decide. Of what is left -
potentials of networks, unknowns of their relations, implied signals - each comes with an equation; which of these gives
which of them is a matching (augmenting paths, from each one's own equation on; Duff, ACM Transactions on Mathematical
Software 7 (1981), 315-330). With it the graph is directed: its strongly connected parts (Tarjan, SIAM Journal on
Computing 1 (1972), 146-160) are the blocks. One of several quantities is *torn*: with what is sought in it, and with
the fewest others that its loops go through, known, the rest follows one after the other.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca

from mbfmu.dynamics.structure.constraint_rows import RowFormulas
from mbfmu.dynamics.structure.quantities import (
    Assigned,
    CoordinateOf,
    ImpliedSignal,
    MultiplierOf,
    RelationForce,
    UnknownOf,
    needs_its_derivative,
)
from mbfmu.dynamics.structure.scalar_graph import RelationKey, ScalarNode
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.surplus import Surplus, matching
from mbfmu.errors import ModelError
from mbfmu.frozen import quickly_made
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import Signal
from mbfmu.modeling.declarations import Variable
from mbfmu.modeling.formulas import Formula, Quantity, reached
from mbfmu.modeling.names import joined


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """Quantities that are made together: a single one, or several that need each other."""

    #: In the order in which they follow, once those that are torn are known.
    members: tuple[Quantity, ...]
    torn: tuple[Quantity, ...] = ()

    @property
    def all(self) -> tuple[Quantity, ...]:
        """All of them."""
        return self.torn + self.members


@dataclasses.dataclass(frozen=True)
class EquationGraph:
    """The quantities that some formulas need, and theirs."""

    structure: Structure
    #: Formula of each quantity; of one that is sought, the equation that gives it.
    formulas: Mapping[Quantity, Formula]
    #: What is sought -> the one whose own equation gives it.
    matched: Mapping[Quantity, Quantity]
    #: Implied signals that no equation gives without derivatives -> the one whose condition gives nothing else.
    open_signals: Mapping[ImpliedSignal, ImpliedSignal] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, structure: Structure, wanted: Iterable[Formula]) -> EquationGraph:
        """The graph of all that some formulas need.

        Raises:
            ModelError: nothing determines some unknowns of networks; the message names them.
        """
        formulas = _reached(structure, wanted, {})
        sought = [quantity for quantity in formulas if quantity.is_sought]
        if not sought:
            return cls(structure, formulas, {})
        knows = {quantity: _sought_by(quantity, formulas) for quantity in sought}
        matched = matching(sought, knows)
        left = [quantity for quantity in sought if quantity not in matched]
        structure.check_matched(Surplus.of(knows, matched))
        unused = [quantity for quantity in sought if quantity not in set(matched.values())]
        own = {quantity: quantity for quantity in left if quantity in unused}
        others = (quantity for quantity in unused if quantity not in own)
        pairs: Any = {quantity: own.get(quantity) or next(others) for quantity in left}
        return cls(structure, _directed(structure, formulas, matched), matched, pairs)

    def within(self, structure: Structure, wanted: Iterable[Formula], given: Collection[Quantity]) -> EquationGraph:
        """What some formulas need besides what is given, with the same equations for the same unknowns."""
        found = _reached(structure, wanted, dict.fromkeys(given))
        return EquationGraph(structure, _directed(structure, found, self.matched), self.matched, self.open_signals)

    # -- what stands in what

    @functools.cached_property
    def _parts(self) -> list[tuple[list[Quantity], bool]]:
        """Strongly connected parts, each behind those that it needs; and whether it is a loop."""
        order = list(self.formulas)
        number = {quantity: i for i, quantity in enumerate(order)}
        loops = {number[quantity] for quantity in self.matched if quantity in number}
        rows, columns = list(range(len(order))), list(range(len(order)))
        for i, formula in enumerate(self.formulas.values()):
            found = [j for j in map(number.get, formula.needs) if j is not None]
            rows += [i] * len(found)
            columns += found
            if i in found:
                loops.add(i)
        count, members, offsets = ca.Sparsity.triplet(len(order), len(order), rows, columns).scc()
        parts = [sorted(members[offsets[k] : offsets[k + 1]]) for k in reversed(range(count))]
        return [([order[i] for i in part], len(part) > 1 or part[0] in loops) for part in parts]

    @functools.cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All quantities in blocks, in an order in which each needs earlier ones only."""
        return tuple(self._torn(part) if is_loop else Block(tuple(part)) for part, is_loop in self._parts)

    def _torn(self, part: list[Quantity]) -> Block:
        """A block whose loops are torn."""
        torn = [quantity for quantity in part if quantity.is_sought]
        rest = [quantity for quantity in part if not quantity.is_sought]
        own = set(rest)
        inside = {q: [n for n in dict.fromkeys(self.formulas[q].needs) if n in own] for q in rest}
        torn += _tears(inside, self.structure)
        cut = set(torn)
        left = {q: [n for n in needs if n not in cut] for q, needs in inside.items() if q not in cut}
        return Block(tuple(_sorted(left)), tuple(torn))

    def check_loops(self) -> None:
        """Refuse conditions and whole numbers that need themselves: no derivative leads to what they are.

        Raises:
            ModelError: there are some; the message names the loop.
        """
        for part, is_loop in self._parts:
            for quantity in part if is_loop else ():
                if not isinstance(quantity, Assigned) or not isinstance(quantity.target, leaves.Value):
                    continue
                component = self.structure.behaviours[quantity.path].component
                name = quantity.target.name
                declared = component.ports().get(name) or component.declarations.get(name)
                if isinstance(declared, Signal | Variable) and declared.type.base in ("Boolean", "Integer"):
                    kind = "condition" if declared.type.base == "Boolean" else "whole number"
                    names = dict.fromkeys(other.name(self.structure) for other in self._torn(part).all)
                    raise ModelError(
                        f"algebraic loop: {' -> '.join(names)} give the {kind} {quantity.name(self.structure)} by "
                        "itself; put a block Pre into the loop, which gives it as it was before"
                    )

    def relation_in_loop(self) -> RelationKey | None:
        """A relation whose force needs itself: where a gear's housing sits on what it drives, say."""
        for part, _ in self._parts:
            if len(part) > 1 and any(isinstance(quantity, RelationForce) for quantity in part):
                cycle = _cycle(part, self.formulas)
                forces = [quantity.key for quantity in cycle if isinstance(quantity, RelationForce)]
                forces = forces or [quantity.key for quantity in part if isinstance(quantity, RelationForce)]
                return forces[-1]
        return None

    def relative_in(self, loops: Iterable[RowFormulas], balances: Iterable[Formula]) -> list[ScalarNode]:
        """Nodes with relative coordinates that loops, balances without accelerations, or conditions know."""
        relative = self.structure.topology.relative
        if self.open_signals or not relative:
            return list(relative)
        found = [self._reached(f) for row in loops for f in (row.position, row.velocity) if f is not None]
        for balance in balances:
            reached = self._reached(balance)
            if not any(_is_acceleration(quantity) for quantity in reached):
                found.append(reached)
        known = set().union(*found) if found else set()
        return [node for node in relative if not known.isdisjoint((CoordinateOf(node, 0), CoordinateOf(node, 1)))]

    def _reached(self, formula: Formula) -> set[Quantity]:
        """All quantities that a formula needs, directly or through others."""
        found: set[Quantity] = set()
        stack: list[Any] = list(formula.needs)
        while stack:
            one = stack.pop()
            if one not in found:
                found.add(one)
                stack += self.formulas[one].needs
        return found

    @property
    def differentiated(self) -> list[tuple[str, leaves.Value]]:
        """Signals and variables whose derivatives are needed, with their components."""
        found = (quantity for quantity in self.formulas if isinstance(quantity, Assigned) and quantity.order)
        return list(dict.fromkeys((q.path, q.target) for q in found if isinstance(q.target, leaves.Value)))


def _is_acceleration(quantity: object) -> bool:
    """True for what balances are solved for."""
    if isinstance(quantity, CoordinateOf):
        return quantity.order == 2
    if isinstance(quantity, UnknownOf):
        return isinstance(quantity.own.leaf, leaves.Acceleration | leaves.Multiplier)
    return isinstance(quantity, MultiplierOf)


def _reached(
    structure: Structure, wanted: Iterable[Formula], given: Mapping[Quantity, None]
) -> dict[Quantity, Formula]:
    """Formulas of all that some formulas need, in the order in which it is met.

    Raises:
        ModelError: something needs its own derivative.
    """
    formulas: dict[Quantity, Formula] = {}
    stack: list[Any] = [need for formula in wanted for need in formula.needs][::-1]
    while stack:
        quantity = stack.pop()
        if quantity in formulas or quantity in given:
            continue
        if isinstance(quantity, Assigned) and quantity.order > 1:
            _refuse_endless(structure, quantity, formulas)
        formula = quantity.formula(structure)
        formulas[quantity] = formula
        stack.extend(reversed(formula.needs))
    return formulas


def _refuse_endless(structure: Structure, quantity: Assigned, formulas: Mapping[Quantity, Formula]) -> None:
    """Refuse a derivative that one of lower order needs: so it needs one of higher order itself, and so on.

    Raises:
        ModelError: it does.
    """
    lower = (dataclasses.replace(quantity, order=order) for order in range(1, quantity.order))
    begin = [one for one in lower if one in formulas]
    if begin and quantity in reached(begin, lambda one: formulas[one].needs if one in formulas else ()):
        raise ModelError(needs_its_derivative(joined(quantity.path, quantity.target)))


def _sought_by(quantity: Quantity, formulas: Mapping[Quantity, Formula]) -> list[Quantity]:
    """What is sought that the own equation of a quantity knows, directly or through formulas."""
    behind = reached(formulas[quantity].needs, lambda one: () if one.is_sought else formulas[one].needs)
    return [one for one in behind if one.is_sought]


def _directed(
    structure: Structure, formulas: Mapping[Quantity, Formula], matched: Mapping[Quantity, Quantity]
) -> dict[Quantity, Formula]:
    """Formulas in which what is sought has the equation that gives it, or, without one, a symbol."""
    found = dict(formulas)
    for quantity in formulas:
        if quantity.is_sought:
            giver = matched.get(quantity)
            if giver is None:
                assert isinstance(quantity, ImpliedSignal)
                found[quantity] = Formula.constant(quantity.symbol(structure))
            elif giver != quantity:
                found[quantity] = giver.formula(structure)
    return found


def _tears(needs: Mapping[Quantity, Sequence[Quantity]], structure: Structure) -> list[Quantity]:
    """Quantities without which no loop is left: what equations assign first, small ones, with many neighbours.

    What has only one way in or out is never better than its neighbour (Levy and Low, Journal of Algorithms 9 (1988),
    470-493); of the others the greatest product of ways in and out goes first.
    """
    ahead = {quantity: set(found) for quantity, found in needs.items()}
    behind: dict[Quantity, set[Quantity]] = {quantity: set() for quantity in needs}
    for quantity, found in ahead.items():
        for need in found:
            behind[need].add(quantity)
    torn: list[Quantity] = []

    def remove(quantity: Quantity) -> None:
        for need in ahead.pop(quantity):
            behind.get(need, set()).discard(quantity)
        for other in behind.pop(quantity):
            ahead.get(other, set()).discard(quantity)

    while True:
        idle = [q for q in ahead if not ahead[q] or not behind[q]]
        while idle:
            for quantity in idle:
                remove(quantity)
            idle = [q for q in ahead if not ahead[q] or not behind[q]]
        if not ahead:
            return torn

        def merit(quantity: Quantity) -> tuple[bool, int, int]:
            shape = quantity.shape(structure)
            size = 10**6 if shape is None else shape[0] * shape[1]
            is_assigned = isinstance(quantity, Assigned) and isinstance(quantity.target, leaves.Value)
            return is_assigned, -size, len(ahead[quantity]) * len(behind[quantity])

        best = max((q for q in ahead if q.shape(structure) is not None), key=merit, default=None)
        assert best is not None, "a loop of motions beyond edges alone"
        torn.append(best)
        remove(best)


def _sorted(needs: Mapping[Quantity, Sequence[Quantity]]) -> Iterator[Quantity]:
    """Quantities behind those that they need."""
    done: set[Quantity] = set()
    for first in needs:
        stack = [first]
        while stack:
            one = stack[-1]
            ahead = [need for need in needs[one] if need not in done] if one not in done else []
            if ahead:
                stack += ahead
                continue
            stack.pop()
            if one not in done:
                done.add(one)
                yield one


def _cycle(part: Sequence[Quantity], formulas: Mapping[Quantity, Formula]) -> list[Quantity]:
    """A loop through quantities of a strongly connected part: from each of them a way leads on within it."""
    members, path, one = set(part), dict[Quantity, None](), part[0]
    while one not in path:
        path[one] = None
        one = next(need for need in formulas[one].needs if need in members)
    return list(itertools.dropwhile(lambda other: other != one, path))
