"""Scope: where the equations of one elementary component are evaluated, in symbols of its own.

`self` in a component's `equations` is a scope: it has the methods of the component's class, and its declared names are
leaves (mbfmu.modeling.leaves), local symbols. What the equations assign is taken down as targets, expressions in the
leaves; the result is the component's `Behaviour`. Because every leaf knows its own time derivative, `self.der(...)`
costs what the component's own expression costs, however far from the ground it sits.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import called, column, elements, hash_of, hashes, shape, stacked, symbols_in
from mbfmu.dynamics.reading.events import Clauses, Events, HeldValue, Impact, Reset, is_straight
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Frame, Frames, Given, Port, Signal, SignalOutput
from mbfmu.modeling.declarations import Coordinate, Declaration, Multiplier, Parameter, Speed, State, Variable
from mbfmu.modeling.declarations import NetworkVariable as DeclaredNetworkVariable
from mbfmu.modeling.leaves import (
    AngularVelocityOf,
    AtPart,
    Delayed,
    DiscreteState,
    Effort,
    Held,
    Implied,
    Input,
    Leaf,
    Load,
    Mode,
    NetworkVariable,
    PartSymbols,
    PartVariable,
    Potential,
    Prescribed,
    Stated,
    StatedRate,
    StateRate,
    Target,
    Time,
    Value,
)
from mbfmu.modeling.truths import counted, is_truth
from mbfmu.modeling.user_code import place, told
from mbfmu.runtime import sharing


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


_COMPARISONS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE}
_LOGIC = {ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_MUL, ca.OP_SUB, ca.OP_ADD, ca.OP_IF_ELSE_ZERO}


#: Readings of one class that are kept: where there are more, looking for the right one costs what it saves.
FORMS = 8

#: From so many operations on, expressions are written out together with others of their component.
LONG = 300

#: From so many components of a class on, what they share is called: of fewer, it takes longer to compile than it saves.
CALLED = 20


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


class Asked:
    """What equations ask of their component beside its connectors and variables, with the answers."""

    def __init__(self) -> None:
        #: Values of structural parameters, and shapes of the symbols of others.
        self.values: dict[str, Any] = {}
        self.shapes: dict[str, tuple[int, int]] = {}
        self.attributes: dict[str, Any] = {}
        #: True where they ask for what belongs to this component alone, such as its parts.
        self.is_personal = False

    def parameter(self, component: Component, declaration: Parameter) -> Any:
        """A parameter as equations read it."""
        name, value = declaration.name, component._read(declaration)
        if declaration.structural:
            self.values[name] = value
        else:
            self.shapes[name] = shape(component.plain_symbol(name))
        return value

    def attribute(self, component: Component, name: str) -> Any:
        """What is kept in an attribute."""
        self.attributes[name] = vars(component)[name]
        return self.attributes[name]

    def answers_alike(self, component: Component) -> bool:
        """True where another component would answer the same."""
        return (
            all(_are_equal(component.value(name), value) for name, value in self.values.items())
            and all(shape(component.plain_symbol(name)) == known for name, known in self.shapes.items())
            and all(
                name in vars(component) and _are_equal(vars(component)[name], value)
                for name, value in self.attributes.items()
            )
        )


def _are_equal(one: Any, other: Any) -> bool:
    """True for one and the same, and for numbers and texts that are equal; what could change is another thing."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    return isinstance(one, bool | int | float | str) and one == other


class Notes(LocalNames):
    """What is taken down while the equations of a component run, and the symbols that they are in."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.asked = Asked()
        self.parameters: dict[str, ca.SX] = {}
        self.leaves: dict[Leaf, ca.SX] = {}
        self.leaf_of: dict[int, tuple[Leaf, int, ca.SX]] = {}
        self.targets: dict[Target, ca.SX] = {}
        self.relations: list[ca.SX] = []
        self.constraints: list[Constraint] = []
        self.conditions: list[ca.SX] = []
        self.initial: list[tuple[ca.SX, str]] = []
        self.checks: list[tuple[ca.SX, str]] = []
        self.endings: list[tuple[ca.SX, str]] = []
        self.times: list[ca.SX] = []
        self.switches: list[ca.SX] = []
        self.of_time: list[bool] = []
        self.delays: list[Delay] = []
        self.clauses = Clauses(self)
        self.motions: dict[str, dict[str, ca.SX]] = {}
        self.energies: dict[str, ca.SX] = {}
        self.on_top: list[tuple[ca.SX, str]] = []

    @property
    def where(self) -> str:
        """How messages call the component."""
        return self.component.where

    def leaf(self, leaf: Leaf) -> ca.SX:
        """The local symbol of a leaf, made on first use."""
        if leaf not in self.leaves:
            symbol = ca.SX.sym(str(leaf), *leaf.shape)
            self.leaves[leaf] = symbol
            for i, element in enumerate(elements(symbol)):
                self.leaf_of[element.element_hash()] = (leaf, i, element)
        return self.leaves[leaf]

    def assign(self, target: Target, value: Any) -> ca.SX:
        """Take down what the equations assign to a target.

        Raises:
            ModelError: they have assigned something to it already, but for a load of 0.
        """
        before = self.targets.get(target)
        self.once(before is None or (isinstance(target, Load) and before.is_zero()), f"{target} twice")
        self.targets[target] = expression = self.column(value, str(target))
        return expression

    def once(self, is_first: bool, what: str) -> None:
        """Refuse what only the last of two statements would have a say in."""
        if not is_first:
            raise ModelError(
                f"{self.where}: the equations of {type(self.component).__name__} give {what}; say all of it in one "
                "statement"
            )

    def column(self, value: Any, what: str) -> ca.SX:
        """A value that the equations give, as SX.

        Raises:
            ModelError: it is nothing, no number, or not finite.
        """
        where = f"{self.where}: the equations of {type(self.component).__name__} give {what}"
        if value is None:
            raise ModelError(f"{where} nothing (None); return or assign its value")
        try:
            expression = column(value)
        except (TypeError, ValueError, NotImplementedError) as error:
            raise ModelError(f"{where} the value {value!r:.60}, which is no number{place(error)}") from error
        for element in elements(expression):
            if element.is_constant() and not math.isfinite(float(element)):
                hint = "; float() and functions of math make that of an expression, take those of casadi"
                known = hint if math.isnan(float(element)) else ""
                raise ModelError(f"{where} the value {float(element):g}, which is not finite{known}")
        return expression

    def sign(self, value: Any, what: str) -> ca.SX:
        """Numbers whose signs decide, as SX.

        Raises:
            ModelError: a condition is reckoned with as if it were a number, a bound is not finite, or what `column`
                refuses.
        """
        expression = self.column(value, what)
        for element in elements(expression):
            mixed = counted(element, lambda symbol: self.is_boolean(symbol) and not self._is_mode(symbol))
            if mixed is not None:
                raise ModelError(
                    f"{self.where}: {what}, {element!s:.60}, reckons with the condition {mixed!s:.60} as with a "
                    "number; join conditions by casadi's logic_and, logic_or and logic_not, or make a number of it, "
                    "self.switch(condition, 1, 0)"
                )
            self.check_bounds(element, what)
        return expression

    def check_bounds(self, condition: ca.SX, what: str) -> None:
        """Refuse comparisons with what is not finite, which nothing would ever change."""
        waiting = [condition]
        while waiting:
            part = waiting.pop()
            if part.is_constant() or part.is_symbolic():
                continue
            operands = [part.dep(i) for i in range(part.n_dep())]
            if part.op() in _COMPARISONS:
                wrong = [float(o) for o in operands if o.is_constant() and not math.isfinite(float(o))]
                if wrong:
                    raise ModelError(
                        f"{self.where}: {what}, {part!s:.60}, compares with {wrong[0]:g}, which is not finite; give a "
                        "finite bound, or leave the comparison out"
                    )
            elif part.op() in _LOGIC:
                waiting += operands

    def _is_mode(self, symbol: ca.SX) -> bool:
        """True for what says of a switch, or of an event, that it is on."""
        return isinstance(self.leaf_of[symbol.element_hash()][0], Mode | Held)

    def assigned(self, target: Target) -> ca.SX:
        """What the equations have assigned to a target; KeyError where they have not."""
        return self.targets[target]

    def base(self, leaf: Leaf) -> str:
        """Base type of a leaf: "Boolean" and "Integer" for what is declared so, else "Real"."""
        if isinstance(leaf, Mode) or leaf in self.clauses.truths:
            return "Boolean"
        component = self.component
        if isinstance(leaf, AtPart | PartVariable):
            for name in leaf.part.split("."):
                component = component.parts.get(name, component)
            leaf = leaf.leaf if isinstance(leaf, AtPart) else leaf
        if not isinstance(leaf, Input | PartVariable | DiscreteState):
            return "Real"
        declared = component.ports().get(leaf.name) or component.declarations.get(leaf.name)
        return declared.type.base if isinstance(declared, Signal | Variable) else "Real"

    def is_boolean(self, symbol: ca.SX) -> bool:
        """True for the symbol of a leaf that is 1 or 0."""
        found = self.leaf_of.get(symbol.element_hash())
        return found is not None and self.base(found[0]) == "Boolean"

    def equation(self, expression: Any, what: str) -> ca.SX:
        """An expression that is to be 0, as SX.

        Raises:
            ModelError: it is a comparison, nothing to find is in it, or what `column` refuses.
        """
        column = self.column(expression, what)
        if column.is_constant():
            said = f"only {column!s:.60} in it" if column.numel() else "no element"
            raise ModelError(
                f"{self.where}: {what} has {said}, which determines nothing; give an expression in variables, which is "
                "to be 0"
            )
        if any(is_truth(element, self.is_boolean) for element in elements(column)):
            raise ModelError(
                f"{self.where}: {what} is the comparison {column!s:.60}, which is 1 or 0; give the difference of both "
                "sides, which is to be 0"
            )
        return column

    def rate_of(self, expression: Any) -> ca.SX:
        """Time derivative of an expression in the leaves."""
        expression = column(expression)
        if expression.is_constant():
            return ca.SX.zeros(*expression.shape)
        symbols, rates = [], []
        for leaf, index, symbol in self.leaves_in(expression):
            if leaf.is_discrete:
                continue
            try:
                rate = leaf.rate(self)
            except KeyError:
                raise ModelError(
                    f"{self.where}: the equations of {type(self.component).__name__} differentiate {leaf} further than "
                    "they say its derivative up to there; give that first, or by the variables that it follows from"
                ) from None
            if rate is None:
                raise ModelError(
                    f"{self.where}: the equations of {type(self.component).__name__} differentiate {leaf}, which has "
                    "no derivative here; put a filter, such as a FirstOrder block, between it and the derivative"
                )
            symbols.append(symbol)
            rates.append(elements(rate)[index])
        if not symbols:
            return ca.SX.zeros(*expression.shape)
        along, speed = (parts[0] if len(parts) == 1 else ca.vertcat(*parts) for parts in (symbols, rates))
        return ca.jtimes(expression, along, speed)

    def behaviour(self) -> Behaviour:
        """All of it, finished."""
        network = self._network()
        held = self.clauses.finished(self._continuous())
        return Behaviour(
            component=self.component,
            speaker=self.component,
            parameters={name: self.component.plain_symbol(name) for name in self.asked.shapes},
            leaves=self.leaves,
            targets=self.targets,
            relations=tuple(self.relations),
            network=network,
            constraints=tuple(self.constraints),
            conditions=tuple(self.conditions),
            initial=tuple(self.initial),
            checks=tuple(self.checks),
            endings=tuple(self.endings),
            times=tuple(self.times),
            switches=tuple(self.switches),
            of_time=tuple(self.of_time),
            delays=tuple(self.delays),
            held=held,
            resets=tuple(self.clauses.resets),
            impacts=tuple(self.clauses.impacts),
            before=tuple(self.clauses.before),
            motions=self.motions,
            energies=self.energies,
            on_top=tuple(self.on_top),
            leaf_of=self.leaf_of,
            derivative=self.rate_of,
        )

    def _continuous(self) -> ca.SX:
        """All that the equations say but for what happens at events, in one column."""
        rows = [
            *self.targets.values(),
            *self.relations,
            *self.conditions,
            *self.times,
            *self.switches,
            *(part for motion in self.motions.values() for part in motion.values()),
        ]
        rows += [row for c in self.constraints for row in (c.position, c.velocity, c.acceleration) if row is not None]
        rows += [expression for expression, _ in (*self.initial, *self.checks)]
        rows += [part for delay in self.delays for part in (delay.signal, delay.time, delay.most)]
        return stacked([*rows, *self.energies.values()])

    def _network(self) -> dict[int, NetworkVariable]:
        """Relations of networks with their variables: those that are declared, or flows that keep them, as loads."""
        related = [i for i, relation in enumerate(self.relations) if self._is_of_network(relation)]
        variables = self.component.variables().values()
        declared = [NetworkVariable(d.name) for d in variables if isinstance(d, DeclaredNetworkVariable)]
        if declared and len(declared) != len(related):
            raise ModelError(
                f"{self.where}: the equations of {type(self.component).__name__} have {len(related)} relations of a "
                f"network; each NetworkVariable ({', '.join(map(str, declared))}) needs one"
            )
        if declared:
            return dict(zip(related, declared, strict=True))
        found, ports = {}, self.component.ports()
        potentials = [leaf for leaf in self.leaves if isinstance(leaf, Potential) and not leaf.order]
        for index in related:
            found[index] = NetworkVariable(f"flow {index + 1}")
            for leaf in potentials:
                share = ca.jacobian(self.relations[index], self.leaf(leaf))
                if not share.is_zero():
                    load = Load(leaf.connector, ports[leaf.connector].flows[0].name)
                    kept = self.targets.get(load, ca.SX.zeros(1))
                    self.targets[load] = kept + share * self.leaf(found[index])
        return found

    def _is_of_network(self, expression: ca.SX) -> bool:
        hashes = (hash_of(symbol) for symbol in symbols_in(expression))
        found = (self.leaf_of[element][0] for element in hashes if element in self.leaf_of)
        return any(isinstance(leaf, Potential | NetworkVariable) for leaf in found)


class Derivative:
    """`der(expression)` differentiates with respect to time; `der.x = ...` gives a state its equation."""

    _notes: Notes

    def __init__(self, notes: Notes) -> None:
        object.__setattr__(self, "_notes", notes)

    def __call__(self, expression: Any) -> Any:
        """Time derivative of an expression in the leaves."""
        return self._notes.rate_of(expression)

    def __setattr__(self, name: str, value: Any) -> None:
        """Give the state `name` its derivative."""
        component = self._notes.component
        declaration = component.declarations.get(name)
        if not isinstance(declaration, State):
            raise ModelError(f"{component.where}: der.{name} = ... needs a declared State {name!r}")
        size, given = declaration.size(component), self._notes.assign(StateRate(name), value).numel()
        if given != size:
            raise ModelError(f"{component.where}: the equations give der.{name} {given} elements, declared are {size}")


class PartView:
    """A part of a composite inside the composite's equations: its variables, connectors and parts can be read."""

    def __init__(self, notes: Notes, name: str, part: Component) -> None:
        self._notes, self._name, self._part = notes, name, part
        notes.asked.is_personal = True

    def __getattr__(self, name: str) -> Any:
        part = self._part
        if name in part.parts:
            return PartView(self._notes, f"{self._name}.{name}", part.parts[name])
        declaration = part.ports().get(name) or part.declarations.get(name)
        if isinstance(declaration, Parameter):
            return part._read(declaration)
        if isinstance(declaration, Variable) or (isinstance(declaration, SignalOutput) and not part.is_composite):
            return self._notes.leaf(PartVariable(self._name, name, size=math.prod(declaration.shape(part))))
        if not isinstance(declaration, Port):
            raise AttributeError(f"{part.where} ({type(part).__name__}) has no variable {name!r}")
        inside = PartSymbols(self._notes, self._name, part)
        if isinstance(declaration, Signal):
            return inside.leaf(Input(name, size=declaration.size(part)))
        return declaration.view(inside)


@dataclasses.dataclass(frozen=True)
class Facts:
    """What only the network and its topology know of a component."""

    #: Names of connectors that meet another component or the outside.
    connected: frozenset[str] = frozenset()
    #: The joint by which the component's frame moves freely, so that its own motion variables are the states.
    free_joint: Component | None = None
    #: True where its variables give the orientation of an island that no joint ties to the ground.
    holds_orientation: bool = False
    #: How many components of its class there are.
    alike: int = 1


class Scope(Events):
    """Mixed into a component's class (see `evaluate`): declared names as symbols, and the vocabulary of equations."""

    _notes: Notes
    _facts: Facts

    def _start_scope(self, facts: Facts, notes: Notes) -> None:
        vars(self).update(_facts=facts, _notes=notes, der=Derivative(notes))

    @property
    def _component(self) -> Component:
        """The component itself, of which anything may be asked."""
        self._notes.asked.is_personal = True
        return self._notes.component

    # -- declared names

    def _read(self, declaration: Declaration) -> Any:
        name, component = declaration.name, self._notes.component
        if not declaration.enabled(component):
            raise ModelError(f"{component.where}.{name} does not exist with the present parameters")
        if isinstance(declaration, Parameter):
            return self._notes.asked.parameter(component, declaration)
        if isinstance(declaration, Port):
            return declaration.view(self._notes)
        if isinstance(declaration, Frames):
            return [port.view(self._notes) for port in declaration.ports(component).values()]
        assert isinstance(declaration, Variable)
        leaf = declaration.leaf(component)
        if leaf is not None:
            return self._notes.leaf(leaf)
        try:
            return self._notes.assigned(Value(name))
        except KeyError:
            raise ModelError(
                f"{component.where}: the equations of {type(component).__name__} read {name} before they assign it"
            ) from None

    def _write(self, declaration: Declaration, value: Any) -> None:
        name, component = declaration.name, self._notes.component
        if not isinstance(declaration, Variable | SignalOutput | Given):
            raise ModelError(f"{component.where}: equations cannot assign {name}")
        if isinstance(declaration, Variable) and declaration.leaf(component) is not None:
            raise ModelError(f"{component.where}: {name} is an unknown; equations cannot assign it")
        if isinstance(value, Orientation):
            self._notes.assign(Value(name), value.T)
            self._notes.assign(AngularVelocityOf(name), value.w)
            return
        given, size = self._notes.assign(Value(name), value).numel(), math.prod(declaration.shape(component))
        if given != size:
            raise ModelError(f"{component.where}: the equations give {name} {given} elements, declared are {size}")

    def _part(self, name: str) -> PartView:
        return PartView(self._notes, name, self._notes.component.parts[name])

    # -- what is around the component

    @property
    def time(self) -> ca.SX:
        """Time [s]."""
        return self._notes.leaf(Time())

    @property
    def world(self) -> Any:
        """The World that this component sees, with its parameters and gravity_acceleration."""
        world = self._notes.component._outer_world
        if world is None:
            raise ModelError(
                f"{self._notes.where}: {type(self._notes.component).__name__} needs a World in the assembly; "
                "add one, e.g. self.world = World()"
            )
        return world

    def outer(self, name: str) -> Any:
        """The component around this one that stands as `name`, its class's `inner_name`; None where there is none."""
        return self._notes.component._outers.get(name)

    def is_connected(self, connector: str) -> bool:
        """True where something is connected to the connector."""
        return connector in self._facts.connected

    @property
    def is_root(self) -> bool:
        """True where the component's frame moves freely, so that its own motion variables are the states."""
        return self._facts.free_joint is not None

    @property
    def holds_orientation(self) -> bool:
        """True where the component's variables give the orientation of an island that no joint ties to the ground."""
        return self._facts.holds_orientation or self.is_root

    # -- vocabulary

    def relative_motion(self, r_rel_a: Any, R_rel: Orientation, frame: str | None = None) -> None:
        """A frame moves relative to the first: position resolved in the first, orientation from the first to it.

        Cut forces and torques follow: the component itself takes no power, and each of its coordinates is driven by
        what its flanges and `effort` give. Several frames, each with a statement of its own, may share coordinates.

        Args:
            r_rel_a: position, resolved in the first frame [m].
            R_rel: orientation.
            frame: the connector that moves; the second frame where none is named.
        """
        frames = [name for name, port in self._notes.component.ports().items() if isinstance(port, Frame)]
        if frame is None and len(frames) > 1:
            frame = frames[1]
        if frame not in frames[1:]:
            raise ModelError(
                f"{self._notes.where}: the equations of {type(self._notes.component).__name__} move {frame!r} relative "
                f"to the first frame; name one of its other frames, which are {', '.join(frames[1:]) or 'none'}"
            )
        self._notes.once(frame not in self._notes.motions, f"the relative motion of {frame} twice")
        r, T, w = column(r_rel_a), column(R_rel.T), column(R_rel.w)
        v, z = self._notes.rate_of(r), self._notes.rate_of(w)
        self._notes.motions[frame] = {"r": r, "T": T, "w": w, "v": v, "a": self._notes.rate_of(v), "z": z}

    def effort(self, **forces: Any) -> None:
        """Generalised forces that act along coordinates or speeds of this component, by their names."""
        for name, value in forces.items():
            if not isinstance(self._notes.component.declarations.get(name), Coordinate | Speed):
                raise ModelError(
                    f"{self._notes.where}: effort({name}=...) needs a declared Coordinate or Speed {name!r}, along "
                    "which it acts"
                )
            self._notes.assign(Effort(name), value)

    def relation(self, expression: Any) -> None:
        """expression = 0: an ideal, workless relation between flange positions and coordinates, affine in each.

        The forces that keep it follow from the principle of virtual power. A relation between temperatures of heat
        ports is kept by a heat flow through them.
        """
        self._notes.relations.append(self._notes.equation(expression, "a relation"))

    def constrain(self, *multipliers: str, position: Any = None, velocity: Any = None) -> None:
        """position = 0 (or velocity = 0) is kept by the named multipliers, which the equations use as forces."""
        for name in multipliers:
            if not isinstance(self._notes.component.declarations.get(name), Multiplier):
                raise ModelError(
                    f"{self._notes.where}: constrain({name!r}, ...) needs a declared Multiplier {name!r}, the "
                    "force that keeps it"
                )
        if position is not None:
            position = self._notes.equation(position, "a constraint")
            velocity = self._notes.rate_of(position)
        velocity = self._notes.equation(velocity, "a constraint")
        self._notes.constraints.append(
            Constraint(
                multipliers,
                position,
                velocity,
                self._notes.rate_of(velocity),
                f"constraint {len(self._notes.constraints) + 1} ({', '.join(multipliers)})",
            )
        )

    def implied(self, condition: Any) -> ca.SX:
        """A signal that nothing computes: what it has to be so that `condition`, an expression in other signals, is 0.

        The condition is differentiated until the signal has an effect on it; what it says of states is kept, too.
        """
        found = ca.SX(0, 1)
        for element in elements(self._notes.equation(condition, "what implies a signal")):
            found = ca.vertcat(found, self._notes.leaf(Implied(len(self._notes.conditions))))
            self._notes.conditions.append(element)
        return found

    def with_rate(self, value: Any, rate: Any) -> ca.SX:
        """`value`, a scalar whose time derivative is taken to be `rate` wherever it is differentiated."""
        for given in (value, rate):
            if self._notes.column(given, "a value with a rate").numel() != 1:
                raise ModelError(f"{self._notes.where}: with_rate({given!s:.40}) is of one value with one rate")
        stated = Stated(sum(isinstance(leaf, Stated) for leaf in self._notes.leaves))
        self._notes.assign(stated, value)
        self._notes.assign(StatedRate(stated.index), rate)
        return self._notes.leaf(stated)

    def initially(self, expression: Any, name: str = "initial equation") -> None:
        """expression = 0 holds at the start."""
        self._notes.initial.append((self._notes.equation(expression, name), name))

    def require(self, expression: Any, message: str) -> None:
        """A condition, or expression >= 0, must hold while the model runs.

        `message` says what is wrong and what to do; `{}` in it stands for how far the expression is below 0.
        """
        self._check_message(message, "require")
        column = self._notes.sign(expression, "a requirement")
        wholly = isinstance(expression, bool | np.bool_)
        margins = (e - 0.5 if wholly or is_truth(e, self._notes.is_boolean) else e for e in elements(column))
        self._notes.checks.append((ca.vertcat(ca.SX(0, 1), *margins), message))

    def switch(self, expression: Any, then: Any, otherwise: Any) -> ca.SX:
        """`then` while a condition holds, or expression >= 0, else `otherwise`.

        The crossing is located, the integrator restarts there. A condition is a comparison such as `self.u < 1`, what
        logic makes of such, or a Boolean. A switch with hysteresis gives a function for it: it gets the switch's
        present mode, 1 or 0.
        """
        if self._is_truth(expression):
            return ca.if_else(self._condition(expression) > 0.5, column(then), column(otherwise))
        index = len(self._notes.switches)
        mode = self._notes.leaf(Mode(index))
        if callable(expression) and not hasattr(expression, "is_symbolic"):
            expression = expression(mode)
            margin = 0.5 if self._is_truth(expression) else 0.0  # a truth that may depend on this very mode
            expression = self._notes.sign(expression, "the condition of a switch") - margin
        expression = self._notes.sign(expression, "the condition of a switch")
        if expression.numel() != 1:
            raise ModelError(
                f"{self._notes.where}: the condition of a switch has {expression.numel()} elements; it is one "
                "number, or one truth"
            )
        self._notes.switches.append(expression)
        self._notes.of_time.append(self._waits_for_instant(expression))
        return ca.if_else(mode > 0.5, column(then), column(otherwise))

    def shared(self, expression: Any, guard: Any = None) -> ca.SX:
        """A column of expressions as a call of a function, which all components have in common that say the same.

        What is long, and said by many, takes little time to build and little memory so; what few components of the
        class say is written out instead, and what knows accelerations, forces or signals: it may be solved for them,
        which a call does not show whether it is linear in. Where `guard` - a condition, or a value that is 0 or 1, such
        as that of a `switch` - is 0, all of them are 0, and a call is not made.
        """
        given = self._notes.column(expression, "what is shared")
        symbols = ca.symvar(given)
        apart = [symbol for symbol in symbols if symbol.element_hash() not in self._notes.leaf_of]
        guard = None if guard is None else self._notes.column(guard, "a guard")
        if guard is not None and guard.numel() != 1:
            raise ModelError(f"{self._notes.where}: a guard has {guard.numel()} elements; it is one number, 0 or 1")
        both = given if guard is None else ca.vertcat(ca.vec(given), guard)
        if self._facts.alike < CALLED or not all(leaf.follows_from_states for leaf, *_ in self._notes.leaves_in(both)):
            return given if guard is None else ca.if_else(guard, ca.densify(given), 0)
        return ca.reshape(sharing.shared(ca.vec(given), ca.vertcat(ca.SX(0, 1), *apart), guard), given.shape)

    def _waits_for_instant(self, expression: ca.SX) -> bool:
        """True where a switch changes at instants that are told before, or at events only.

        A straight line in time has one, which is told here. What jumps in time has a series of them, which the
        component tells. All else in time is located as what states decide is.
        """
        found = {leaf for leaf, *_ in self._notes.leaves_in(expression)}
        if not all(isinstance(leaf, Time | DiscreteState | Held) for leaf in found) or Time() not in found:
            return not found
        if not is_straight(expression, self.time):
            return found == {Time()} and any(ca.depends_on(instant, self.time) for instant in self._notes.times)
        instant = -ca.substitute(expression, self.time, 0) / ca.jacobian(expression, self.time)
        if not any(told.is_scalar() and ca.is_equal(told, instant, 4) for told in self._notes.times[-4:]):
            self.time_event(instant)
        return True

    def time_event(self, instant: Any) -> None:
        """Something jumps or kinks at this instant: the integrator stops there.

        An instant is a function of parameters and held values, and of time where it is the next of a series: those that
        lie after `self.time` count.
        """
        instant = self._notes.column(instant, "an instant")
        if any(is_truth(element, self._notes.is_boolean) for element in elements(instant)):
            raise ModelError(
                f"{self._notes.where}: an instant is the comparison {instant!s:.60}; give the time at which it is"
            )
        self._notes.times.append(instant)

    def delay(self, signal: Any, time: Any, longest: Any = None) -> ca.SX:
        """The signal as it was `time` seconds ago; what it was at the start, as long as the start is less ago.

        `time` is positive: a number, parameters, or an expression in the state of the model, which then never exceeds
        `longest`, a number or parameters. Jumps come through as jumps, at their instants where `time` is fixed.
        """
        signal = self._notes.column(signal, "a signal to delay")
        times = [self._notes.column(given, "a delay") for given in (time, time if longest is None else longest)]
        count = signal.numel()
        if any(given.numel() not in (1, count) for given in times):
            raise ModelError(f"{self._notes.where}: a delay takes one time, or one for each element of the signal")
        spread = [given if given.numel() == count else ca.repmat(given, count, 1) for given in times]
        if self._notes.leaves_in(spread[1]):
            raise ModelError(
                f"{self._notes.where}: a delay varies, and nothing says how long it may become; give "
                "delay(signal, time, longest) a number or a parameter"
            )
        leaf = Delayed(len(self._notes.delays), count)
        self._notes.delays.append(Delay(leaf, ca.vec(signal), *spread))
        return self._notes.leaf(leaf)

    def energy(self, kinetic: Any = 0.0, potential: Any = 0.0, dissipated: Any = 0.0, supplied: Any = 0.0) -> None:
        """Energy that this component stores [J], the power that it turns into heat, and the power that a field without
        potential feeds into it [W]; each of them once, in one call or several."""
        given = {"kinetic": kinetic, "potential": potential, "dissipated": dissipated, "supplied": supplied}
        for name, value in given.items():
            before = self._notes.energies.get(name, ca.SX.zeros(1))
            expression = self._notes.column(value, f"{name} energy")
            if expression.numel() != 1:
                raise ModelError(
                    f"{self._notes.where}: the {name} energy has {expression.numel()} elements; give their sum"
                )
            self._notes.once(before.is_zero() or expression.is_zero(), f"{name} energy twice")
            self._notes.energies[name] = before + expression

    def on_top(self, kinetic: Any, message: str) -> None:
        """Kinetic energy [J] that the equations of motion add to that of other components, where it may be negative.

        Where that of the whole system is, too, so that motions grow that ought to decay, a warning says `message`.
        """
        self._notes.on_top.append((self._notes.column(kinetic, "a kinetic energy"), message))


def open_scope(component: Component, facts: Facts, notes: Notes, kind: type[Scope] = Scope) -> Any:
    """A fresh scope of some kind that stands for the component and takes down in `notes`; the component stays as is."""
    cls = type(component)
    if kind not in cls._scope_classes:
        own = {name: cls.declarations[name] for name in cls.own_words}
        methods = {"_is_scope": True, "__setattr__": _set_in_scope, "__getattr__": _get_in_scope}
        cls._scope_classes[kind] = type(cls.__name__, (kind, cls), methods | own)
    scope: Any = object.__new__(cls._scope_classes[kind])
    scope._start_scope(facts, notes)
    return scope


def evaluate(component: Component, facts: Facts) -> Behaviour:
    """Run the equations of an elementary component in a fresh scope and return what they say; it is not changed."""
    return _evaluated(component, facts, Notes(component))


def _evaluated(component: Component, facts: Facts, notes: Notes) -> Behaviour:
    scope = open_scope(component, facts, notes)
    equations = getattr(scope, "equations", None)
    if not (equations is None or callable(equations)):
        raise ModelError(
            f"{component.where}: equations of {type(component).__name__} is {equations!r:.60}; it is to be a method, "
            "def equations(self): ..."
        )
    if equations is None:
        raise ModelError(f"{component.where}: {type(component).__name__} has neither equations() nor build()")
    with told(lambda: f"{component.where}: the equations of {type(component).__name__} fail"):
        equations()
    behaviour = notes.behaviour()
    if not component.is_composite:
        _refuse_open(component, behaviour)
    return behaviour


class Readings:
    """What the equations of components say: run once for all of a class that they would ask the same of."""

    def __init__(self) -> None:
        self._known: dict[type, list[_Reading]] = {}

    def of(self, component: Component, facts: Facts) -> Behaviour:
        """What the equations of a component say."""
        known = self._known.setdefault(type(component), [])
        declared = _declared(component)
        for reading in known:
            if reading.fits(component, facts, declared):
                return dataclasses.replace(reading.behaviour, component=component)
        notes = Notes(component)
        behaviour = _evaluated(component, facts, notes)
        if len(known) < FORMS and not notes.asked.is_personal and facts.free_joint is None:
            known.append(_Reading(behaviour, notes.asked, facts, declared))
        return behaviour


@dataclasses.dataclass(frozen=True)
class _Reading:
    """A behaviour, and all that it follows from."""

    behaviour: Behaviour
    asked: Asked
    facts: Facts
    declared: Any

    def fits(self, component: Component, facts: Facts, declared: Any) -> bool:
        """Would the equations of another component of the class say the same?"""
        return (
            (facts, declared) == (self.facts, self.declared)
            and component._outers == self.behaviour.speaker._outers
            and self.asked.answers_alike(component)
        )


def _declared(component: Component) -> Any:
    """Connectors and variables that a component has, as far as components of one class differ in them."""
    ports = component.ports()
    sizes = [port.size(component) for port in ports.values() if isinstance(port, Signal)]
    variables = {name: (d.leaf(component), d.shape(component)) for name, d in component.variables().items()}
    return ports, sizes, variables


def _refuse_open(component: Component, behaviour: Behaviour) -> None:
    """Refuse equations that leave an output or the rate of a state open."""
    missing = [
        name
        for name, port in component.ports().items()
        if isinstance(port, SignalOutput) and Value(name) not in behaviour.targets
    ]
    for name, variable in component.variables().items():
        if isinstance(variable, State) and variable.leaf(component) and StateRate(name) not in behaviour.targets:
            missing.append(f"der.{name}")
    if missing:
        raise ModelError(
            f"{component.where}: the equations of {type(component).__name__} do not assign {', '.join(missing)}; give "
            "each a value"
        )


def _set_in_scope(self: Any, name: str, value: Any) -> None:
    if name in self._notes.component.declarations:
        object.__setattr__(self, name, value)
    elif name in self._notes.component.ports():
        self._write(self._notes.component.ports()[name], value)
    elif name == "der":
        raise ModelError(f"{self._notes.where}: der is reserved")
    else:
        raise ModelError(
            f"{self._notes.where}: the equations of {type(self._notes.component).__name__} assign "
            f"{name!r}, which is not declared; declare it as a Variable, or use a local name"
        )


def _get_in_scope(self: Any, name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    component = self._notes.component
    ports = component.ports()
    if name in ports:
        return ports[name].view(self._notes)
    if name in component.parts:
        return self._part(name)
    if name == "freeMotion" and self.is_root:
        return PartView(self._notes, name, self._facts.free_joint)
    if name in vars(component):
        return self._notes.asked.attribute(component, name)
    raise AttributeError(f"{component.where} ({type(component).__name__}) has no {name!r}")
