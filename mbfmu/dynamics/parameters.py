"""Parameters of a flat assembly: independent ones with their numbers, derived ones with their expressions.

Every parameter that is not structural has symbols of its own (Component.symbol). Here each gets its place: an entry of
p (a number that may be set), an entry of d (an expression of others), or - where it just passes on another one's
symbol or a constant - no place at all: its symbol is replaced.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.scope import column
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling.component import Component
from mbfmu.modeling.declarations import Parameter, Start

#: Resistance of a parameter that is open by its class only: it moves where nothing else can meet the start values.
OPEN = 1e3


@dataclasses.dataclass
class Parameters:
    """Places of all parameter scalars. Build it with `add...`, then `close`."""

    symbols: list[ca.SX] = dataclasses.field(default_factory=list)
    defaults: list[float] = dataclasses.field(default_factory=list)
    #: Indices in p of the parameters that initialisation solves for, and how much each resists being moved.
    free: list[int] = dataclasses.field(default_factory=list)
    free_weights: list[float] = dataclasses.field(default_factory=list)
    #: Indices in P of what may change while the model runs: tunable parameters, and what is derived from them.
    tunable: set[int] = dataclasses.field(default_factory=set)
    derived: list[ca.SX] = dataclasses.field(default_factory=list)
    expressions: list[ca.SX] = dataclasses.field(default_factory=list)
    _aliases: dict[int, tuple[ca.SX, ca.SX]] = dataclasses.field(default_factory=dict)
    _place: dict[int, int] = dataclasses.field(default_factory=dict)
    _replacement: tuple[ca.SX, ca.SX] | None = None

    def add_components(self, components: dict[str, Component]) -> None:
        """Take the parameters of all components, those of animation left out."""
        for component in components.values():
            for name, declaration in component.parameters().items():
                if not declaration.structural and not declaration.animation:
                    self._add_parameter(component, name, declaration)

    def _add_parameter(self, component: Component, name: str, declaration: Parameter) -> None:
        value = component.value(name)
        symbol = component.symbol(name)
        symbol = symbol.T if isinstance(symbol, Orientation) else symbol
        is_free = isinstance(value, Start) and not value.fixed
        if isinstance(value, Start):
            value = value.value
        if isinstance(value, Orientation):
            value = value.T
        expression = ca.vec(column(value))
        elements = ca.vertsplit(ca.vec(symbol))
        if expression.numel() != len(elements):
            raise ModelError(
                f"{component.where}.{name}: its binding gives {expression.numel()} elements, expected {len(elements)}"
            )
        bound = not isinstance(value, int | float | np.ndarray)
        for element, given in zip(elements, ca.vertsplit(expression), strict=True):
            if declaration.tunable and given.is_constant() and not bound:
                self.tunable.add(len(self.symbols))
            self.add(element, given, is_free, bound)
            if is_free:
                self.free_weights.append(1.0 if component.is_given(name) else OPEN)

    def add(self, symbol: ca.SX, given: ca.SX, is_free: bool = False, bound: bool = False) -> None:
        """Give a scalar symbol its place. `bound`: the class computes it, so a constant is no setting."""
        if given.is_constant() and not bound:
            if is_free:
                self.free.append(len(self.symbols))
            self.symbols.append(symbol)
            self.defaults.append(float(given))
        elif given.is_constant() or given.is_symbolic():
            self._aliases[symbol.element_hash()] = (symbol, given)
        else:
            self.derived.append(symbol)
            self.expressions.append(given)

    def add_start(self, name: str, value: Any) -> ca.SX:
        """A start value's scalar: a number becomes an entry of p that can be set, an expression stays what it is."""
        value = column(value)
        if not value.is_constant():
            return value
        symbol = ca.SX.sym(f"{name}.start")
        self.add(symbol, value)
        return symbol

    def close(self) -> None:
        """Resolve aliases of aliases, order derived parameters by dependence and express them in p alone."""
        for key, (symbol, given) in self._aliases.items():
            while given.is_symbolic() and given.element_hash() in self._aliases:
                given = self._aliases[given.element_hash()][1]
            self._aliases[key] = (symbol, given)
        self.expressions = self.resolve(self.expressions)
        self._place = {s.element_hash(): i for i, s in enumerate([*self.symbols, *self.derived])}
        by_hash = {s.element_hash(): i for i, s in enumerate(self.derived)}
        order: list[int] = []
        state: dict[int, int] = {}

        def visit(i: int) -> None:
            if state.get(i) == 2:
                return
            if state.get(i) == 1:
                raise ModelError(f"parameter {self.derived[i]} depends on itself")
            state[i] = 1
            for symbol in ca.symvar(self.expressions[i]):
                if symbol.element_hash() in by_hash:
                    visit(by_hash[symbol.element_hash()])
            state[i] = 2
            order.append(i)

        for i in range(len(self.derived)):
            visit(i)
        solved: dict[int, ca.SX] = {}
        for i in order:
            needs = [by_hash[s.element_hash()] for s in ca.symvar(self.expressions[i]) if s.element_hash() in by_hash]
            if needs:
                self.expressions[i] = ca.substitute(
                    self.expressions[i],
                    ca.vertcat(*(self.derived[k] for k in needs)),
                    ca.vertcat(*(solved[k] for k in needs)),
                )
            solved[i] = self.expressions[i]
        changing = {self.symbols[i].element_hash() for i in self.tunable}
        for i, expression in enumerate(self.expressions):
            if any(s.element_hash() in changing for s in ca.symvar(expression)):
                self.tunable.add(len(self.symbols) + i)

    def resolve(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions with passed-on parameters replaced by what they pass on."""
        if not self._aliases or not expressions:
            return expressions
        if self._replacement is None:
            symbols, given = zip(*self._aliases.values(), strict=True)
            self._replacement = ca.vertcat(*symbols), ca.vertcat(*given)
        return list(ca.substitute(expressions, [self._replacement[0]], [self._replacement[1]]))

    def source(self, symbol: ca.SX) -> ca.SX:
        """What the scalar symbol of a parameter stands for: itself, another parameter's symbol, or a constant."""
        alias = self._aliases.get(symbol.element_hash())
        return symbol if alias is None else alias[1]

    @property
    def all(self) -> ca.SX:
        """P = [p; d] as symbols."""
        return ca.vertcat(ca.SX(0, 1), *self.symbols, *self.derived)

    @property
    def independent(self) -> ca.SX:
        """p as symbols."""
        return ca.vertcat(ca.SX(0, 1), *self.symbols)

    def place(self, symbol: ca.SX) -> int | None:
        """Index in P of a scalar symbol, None for anything else."""
        return self._place.get(symbol.element_hash()) if symbol.is_symbolic() else None

    def owns(self, symbol: ca.SX, index: int) -> bool:
        """True where the entry `index` of P belongs to this parameter itself, not to one that it passes on."""
        return any(self._place.get(e.element_hash()) == index for e in ca.vertsplit(symbol))
