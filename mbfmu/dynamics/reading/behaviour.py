"""Behaviours: what the equations of one elementary component say, in symbols of its own.

The symbols stand for leaves (mbfmu.modeling.leaves). Components of a class that say the same share the expressions;
what belongs to each of them alone is put in when they are asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

import casadi as ca

from mbfmu.dynamics.columns import called, elements, hash_of, hashes, shape, stacked, symbols_in
from mbfmu.dynamics.reading.events import HeldValue, Impact, Reset
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Port
from mbfmu.modeling.leaves import (
    Delayed,
    Leaf,
    NetworkVariable,
    Prescribed,
    Target,
)


@dataclasses.dataclass(frozen=True)
class Constraint:
    """Rows that a set of multipliers enforces: of position (with its two derivatives) or of velocity."""

    multipliers: tuple[str, ...]
    position: ca.SX | None
    velocity: ca.SX
    acceleration: ca.SX
    name: str


@dataclasses.dataclass(frozen=True)
class Delay:
    """A signal, by how much it is delayed, and the most that this may become [s]."""

    leaf: Delayed
    signal: ca.SX
    time: ca.SX
    most: ca.SX


#: From so many operations on, expressions are written out together with others of their component.
LONG = 300


class LocalNames:
    """Leaves of a component with their symbols."""

    leaves: Mapping[Leaf, ca.SX]
    #: Element hash of a leaf's symbol -> (leaf, index, symbol).
    leaf_of: Mapping[int, tuple[Leaf, int, ca.SX]]
    #: Parameters of which each component has its own that shares the rest, with the symbols that stand for them.
    parameters: Mapping[str, ca.SX]

    def leaves_in(self, expression: ca.SX) -> list[tuple[Leaf, int, ca.SX]]:
        """Leaf, index and symbol of every leaf element that an expression contains; parameters are none."""
        keys = hashes(symbols_in(expression))
        return [self.leaf_of[key] for key in keys if key in self.leaf_of]

    def leaf_alone(self, expression: ca.SX) -> Leaf | None:
        """The leaf that an expression is, with all its elements and nothing else; None where it is no leaf."""
        if not expression.is_dense():
            return None
        scalars = elements(expression)
        found = self.leaf_of.get(hash_of(scalars[0])) if scalars else None
        if found is None:
            return None
        symbol = self.leaves[found[0]]
        is_whole = expression.shape == symbol.shape and hashes(scalars) == hashes(elements(symbol))
        return found[0] if is_whole else None


class Said:
    """Expressions of a component, and what stands in them: found once for all components that say the same."""

    def __init__(self, names: LocalNames, expressions: Iterable[ca.SX]) -> None:
        self.names, self.expressions = names, list(expressions)

    @functools.cached_property
    def is_constant(self) -> bool:
        """True where nothing stands in them but numbers."""
        return all(expression.is_constant() for expression in self.expressions)

    @functools.cached_property
    def alone(self) -> Leaf | None:
        """The leaf that the only expression is."""
        return self.names.leaf_alone(self.expressions[0]) if len(self.expressions) == 1 else None

    @functools.cached_property
    def column(self) -> ca.SX:
        """All of them as one column."""
        return self.expressions[0] if len(self.expressions) == 1 else ca.veccat(*self.expressions)

    @functools.cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """Leaves that stand in them."""
        return tuple(dict.fromkeys(leaf for leaf, *_ in self.names.leaves_in(self.column)))

    @functools.cached_property
    def _function(self) -> tuple[ca.Function, tuple[str, ...], ca.SX]:
        """They as a function of leaves, parameters and symbols that the component sees around it; these two."""
        names, symbols = self.names, symbols_in(self.column)
        parameter_of = {key: name for name, symbol in names.parameters.items() for key in hashes(elements(symbol))}
        keys = hashes(symbols)
        parameters = tuple(dict.fromkeys(parameter_of[key] for key in keys if key in parameter_of))
        known = names.leaf_of.keys() | parameter_of.keys()
        around = stacked(symbol for symbol, key in zip(symbols, keys, strict=True) if key not in known)
        arguments = [*(names.leaves[leaf] for leaf in self.leaves), *(names.parameters[name] for name in parameters)]
        free, expressions = around, self.expressions
        if not arguments:  # called with its own symbols, a function gives its own expressions
            free = ca.SX.sym("around", around.numel())
            expressions = ca.substitute(expressions, [around], [free])
        return ca.Function("said", [*arguments, free], expressions), parameters, around

    def value(self, leaves: Sequence[ca.SX], own: Mapping[str, ca.SX]) -> list[ca.SX]:
        """They with values of the leaves, and a component's own symbols for its parameters."""
        function, parameters, around = self._function
        return called(function, [*leaves, *(own[name] for name in parameters), around])

    @functools.cached_property
    def is_long(self) -> bool:
        """True where they are long enough to look for what others have in common with them."""
        return ca.n_nodes(self.column) > LONG

    def of(self, own: Mapping[str, ca.SX]) -> Said:
        """They with a component's own symbols for its parameters: expressions that no other component has."""
        if own is self.names.parameters or self.is_constant:
            return self
        return Said(self.names, self.value([self.names.leaves[leaf] for leaf in self.leaves], own))


@dataclasses.dataclass(frozen=True)
class Behaviour(LocalNames):
    """What the equations of one component say: leaves that they read, targets that they assign, and the rest.

    Components whose equations say the same share all of it. Then the symbols of parameters in it are those of the
    `speaker`, the first of them, for which `own_parameters` has the component's.
    """

    component: Component
    speaker: Component
    parameters: Mapping[str, ca.SX]
    leaves: Mapping[Leaf, ca.SX]
    targets: Mapping[Target, ca.SX]
    #: Expressions that relations keep at zero.
    relations: tuple[ca.SX, ...]
    #: Relation between potentials, by its place in `relations` -> the variable of the network that comes with it.
    network: Mapping[int, NetworkVariable]
    constraints: tuple[Constraint, ...]
    #: What is zero for the right value of the leaf `Implied` of the same number.
    conditions: tuple[ca.SX, ...]
    #: (residual, name) of initial equations.
    initial: tuple[tuple[ca.SX, str], ...]
    #: (expression >= 0, message) of assertions.
    checks: tuple[tuple[ca.SX, str], ...]
    #: (expression < 0, message) of ends of the run.
    endings: tuple[tuple[ca.SX, str], ...]
    #: Instants, functions of time, parameters and held values, where something jumps or kinks.
    times: tuple[ca.SX, ...]
    #: Expressions whose signs set the modes of switches.
    switches: tuple[ca.SX, ...]
    #: Which of them depend on time, parameters and held values only, with instants among `times`.
    of_time: tuple[bool, ...]
    #: Signals that are delayed.
    delays: tuple[Delay, ...]
    #: Values that are held between events, and states that events set anew.
    held: tuple[HeldValue, ...]
    resets: tuple[Reset, ...]
    #: Where speeds of the whole model may jump.
    impacts: tuple[Impact, ...]
    #: Expressions whose values before an event are read, by the number of their leaf `Pre`.
    before: tuple[ca.SX, ...]
    #: Frame -> its motion r, T, w relative to the component's first frame, with the derivatives v, a, z.
    motions: Mapping[str, Mapping[str, ca.SX]]
    #: Kinetic and potential energy, power dissipated and supplied; empty where the component does not say.
    energies: Mapping[str, ca.SX]
    #: (kinetic energy, message) of what comes on top of the energies of other components.
    on_top: tuple[tuple[ca.SX, str], ...]
    #: Element hash of a leaf's symbol -> (leaf, index, symbol).
    leaf_of: Mapping[int, tuple[Leaf, int, ca.SX]]
    #: Time derivative of any expression in the leaves.
    derivative: Callable[[ca.SX], ca.SX]
    #: Expressions that were asked for before, by what they are of.
    _said: dict[Hashable, Said] = dataclasses.field(default_factory=dict)
    #: Their values, where they are long, by component, expressions, and hashes of the leaves' values, which are kept,
    #: too: nothing else gets their hashes.
    _values: dict[Hashable, tuple[list[ca.SX], Mapping[Leaf, ca.SX]]] = dataclasses.field(default_factory=dict)

    def said(self, key: Hashable, expressions: Callable[[], Iterable[ca.SX]]) -> Said:
        """Expressions of the component, made when they are first asked for by any that says the same.

        Args:
            key: what they are of.
            expressions: makes them, in the speaker's parameters.
        """
        found = self._said.get(key)
        if found is None:
            found = self._said[key] = Said(self, expressions())
        return found

    def said_as(self, expressions: Iterable[ca.SX]) -> Said:
        """The same of expressions that are there."""
        given = list(expressions)
        return self.said(tuple((shape(e), e.nnz(), *hashes(elements(e))) for e in given), lambda: given)

    def target(self, target: Target, order: int = 0) -> Said:
        """What is assigned to a target, or a time derivative of it."""

        def made() -> Iterator[ca.SX]:
            expression = self.targets[target]
            for _ in range(order):
                expression = self.derivative(expression)
            yield expression

        return self.said((target, order), made)

    def value(self, said: Said, leaves: Sequence[ca.SX]) -> list[ca.SX]:
        """Expressions with values of their leaves, in the component's own parameters.

        Long ones come with all that follows from the same leaves: written out one by one, each would have operations
        of its own, of which most are the same.
        """
        if not said.is_long:
            return said.value(leaves, self.own_parameters)
        given = dict(zip(said.leaves, leaves, strict=True))
        if (key := self._key(said, given)) not in self._values:
            together = self._together(said)
            joint = Said(self, [expression for one in together for expression in one.expressions])
            values = iter(joint.value([given[leaf] for leaf in joint.leaves], self.own_parameters))
            for one in together:
                found = list(itertools.islice(values, len(one.expressions)))
                self._values[self._key(one, given)] = found, given
        return self._values[key][0]

    def _key(self, said: Said, given: Mapping[Leaf, ca.SX]) -> Hashable:
        return self.component, said, *(tuple(hashes(elements(given[leaf]))) for leaf in said.leaves)

    def _together(self, said: Said) -> list[Said]:
        """Long expressions that know no other leaves than some do, these among them."""
        known = set(said.leaves)
        return [one for one in self._said.values() if one is said or (one.is_long and known.issuperset(one.leaves))]

    def own(self, expression: ca.SX) -> ca.SX:
        """An expression in the component's own parameters."""
        return Said(self, [expression]).of(self.own_parameters).expressions[0]

    @functools.cached_property
    def own_parameters(self) -> Mapping[str, ca.SX]:
        """The same parameters with the component's symbols."""
        if self.component is self.speaker:
            return self.parameters
        return {name: self.component.plain_symbol(name) for name in self.parameters}

    def with_motions(self, motions: Mapping[str, Mapping[str, ca.SX]]) -> Behaviour:
        """The same with other relative motions."""
        return dataclasses.replace(self, motions=motions, _said={}, _values={})

    @property
    def symbols(self) -> list[ca.SX]:
        """All symbols that the equations have in them: of leaves, and of parameters."""
        rows = [*self.targets.values(), *self.relations, *self.conditions, *self.times, *self.switches, *self.before]
        rows += [row for c in self.constraints for row in (c.position, c.velocity, c.acceleration) if row is not None]
        rows += [expression for expression, _ in (*self.initial, *self.checks, *self.endings, *self.on_top)]
        rows += [part for delay in self.delays for part in (delay.signal, delay.time, delay.most)]
        rows += [part for held in self.held for part in (held.start, held.rule) if part is not None]
        rows += [part for reset in self.resets for part in (reset.active, reset.value)]
        rows += [part for impact in self.impacts for part in impact.parts]
        rows += [*self.moving, *self.energies.values()]
        return symbols_in(stacked(rows))

    @property
    def moving(self) -> list[ca.SX]:
        """All that says how its frames move relative to the first."""
        return [part for motion in self.motions.values() for part in motion.values()]

    def prescribed(self, kind: type[Port]) -> Iterator[Prescribed]:
        """Potentials that the component determines at its connectors of a kind."""
        ports = self.component.ports()
        for target in self.targets:
            if isinstance(target, Prescribed) and isinstance(ports[target.connector], kind):
                yield target
