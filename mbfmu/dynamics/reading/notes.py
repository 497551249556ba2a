"""Notes: what is taken down while the equations of a component run, from which its behaviour is made.

Because every leaf knows its own time derivative, `self.der(...)` costs what the component's own expression costs,
however far from the ground it sits.
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import column, elements, hash_of, shape, stacked, symbols_in
from mbfmu.dynamics.reading.behaviour import Behaviour, Constraint, Delay, LocalNames
from mbfmu.dynamics.reading.events import Clauses
from mbfmu.errors import ModelError
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Signal
from mbfmu.modeling.declarations import NetworkVariable as DeclaredNetworkVariable
from mbfmu.modeling.declarations import Parameter, State, Variable
from mbfmu.modeling.leaves import (
    AtPart,
    DiscreteState,
    Held,
    Input,
    Leaf,
    Load,
    Mode,
    NetworkVariable,
    PartVariable,
    Potential,
    StateRate,
    Target,
)
from mbfmu.modeling.truths import counted, is_truth
from mbfmu.modeling.user_code import place

_COMPARISONS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE}
_LOGIC = {ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_MUL, ca.OP_SUB, ca.OP_ADD, ca.OP_IF_ELSE_ZERO}


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
