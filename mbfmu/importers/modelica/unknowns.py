"""Unknowns of a model's equations: variables, rates of states and flows, element by element."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.evaluate import Environment, evaluate
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.names import subscripted
from mbfmu.importers.modelica.values import Wrong

#: Of what an unknown is an element: ("variable", name), ("rate", name) or ("flow", connector, quantity).
Key = tuple[str, ...]
#: An unknown scalar: its key, and the element's place.
Unknown = tuple[Key, int]


class Unknowns:
    """What the equations of a model determine, which of it is known by now, and what of it an expression reads."""

    def __init__(self, model: Model) -> None:
        self.model = model
        #: Known elements, None where still unknown.
        self.known: dict[Key, list[Any]] = {}
        self.shapes: dict[Key, tuple[int, ...]] = {}
        self.states: set[str] = set()

    def add(self, key: Key, shape: tuple[int, ...], elements: list[Any] | None = None) -> None:
        """Take an array as known, with these elements, or as unknown."""
        self.shapes[key] = shape
        self.known[key] = [None] * math.prod(shape) if elements is None else elements

    def value(self, key: Key, text: str) -> Any:
        """Value of what is known.

        Raises:
            Wrong: it is not known yet; the message calls it `text`.
        """
        elements = self.known[key]
        if any(e is None for e in elements):
            raise Wrong(f"{text} is not known yet")
        return shaped(elements, self.shapes[key])

    def state_in(self, node: s.Node) -> s.Reference | None:
        """The state whose derivative an expression is; None for anything else."""
        if not isinstance(node, s.Call) or node.function.names != ("der",) or len(node.arguments) != 1:
            return None
        argument = node.arguments[0]
        if isinstance(argument, s.Reference) and argument.names[0] in self.states and len(argument.parts) == 1:
            return argument
        return None

    def read_by(self, node: s.Node, env: Environment) -> set[Unknown]:
        """Unknown scalars that an expression reads."""
        if isinstance(node, s.Reference):
            return self._named(node, env)
        argument = self.state_in(node)
        if argument is not None:
            return self._elements(("rate", argument.names[0]), argument.parts[0][1], argument, env)
        found: set[Unknown] = set()
        if isinstance(node, s.Iteration):
            names = {name for name, _ in node.indices}
            return {
                u for child in (node.expression,) for u in self.read_by(child, env.with_locals(**dict.fromkeys(names)))
            }
        if isinstance(node, s.Operation):
            first, links = node.chain()
            return self.read_by(first, env) | self._below([link.operands[1:] for link in links], env)
        for field in dataclasses.fields(node):
            if not (isinstance(node, s.Call) and field.name == "function"):
                found |= self._below(getattr(node, field.name), env)
        return found

    def _below(self, value: Any, env: Environment) -> set[Unknown]:
        if isinstance(value, s.Node):
            return self.read_by(value, env)
        if isinstance(value, tuple | list):
            return {u for item in value for u in self._below(item, env)}
        return set()

    def _named(self, node: s.Reference, env: Environment) -> set[Unknown]:
        first, subscripts = node.parts[0]
        found = {u for _, own in node.parts for x in own for u in self.read_by(x, env)}
        if first in env.locals or env.model is not self.model:
            return found
        key: tuple[str, ...] = ("variable", first)
        if key in self.known and len(node.parts) == 1:
            return found | self._elements(key, subscripts, node, env)
        if len(node.parts) == 2:
            key = ("flow", _subscripted_name(first, subscripts, env), node.parts[1][0])
            if key in self.known:
                return found | self._elements(key, node.parts[1][1], node, env)
        return found

    def _elements(self, key: tuple[str, ...], subscripts: Any, node: s.Node, env: Environment) -> set[Unknown]:
        elements, shape = self.known[key], self.shapes[key]
        places = list(range(len(elements)))
        if subscripts:
            try:
                places = [int(k) for k in values.flat(subscripted(shaped(places, shape), subscripts, node, env))]
            except ModelError:
                places = list(range(len(elements)))  # of a loop: take all
        return {(key, k) for k in places if elements[k] is None}

    def target(self, node: s.Node, env: Environment) -> list[Unknown] | None:
        """The unknowns that a side consists of, in order; None where it is an expression."""
        if isinstance(node, s.Array):
            parts = [self.target(i, env) for i in node.items]
            return None if any(p is None for p in parts) else [u for p in parts if p is not None for u in p]
        argument = self.state_in(node)
        if argument is not None:
            return self._places(("rate", argument.names[0]), argument.parts[0][1], node, env)
        if not isinstance(node, s.Reference) or node.names[0] in env.locals or env.model is not self.model:
            return None
        first, subscripts = node.parts[0]
        if len(node.parts) == 1 and ("variable", first) in self.known:
            return self._places(("variable", first), subscripts, node, env)
        if len(node.parts) == 2:
            key = ("flow", _subscripted_name(first, subscripts, env), node.parts[1][0])
            if key in self.known:
                return self._places(key, node.parts[1][1], node, env)
        return None

    def _places(self, key: tuple[str, ...], subscripts: Any, node: s.Node, env: Environment) -> list[Unknown] | None:
        places = shaped(list(range(len(self.known[key]))), self.shapes[key])
        chosen = values.flat(subscripted(places, subscripts, node, env)) if subscripts else values.flat(places)
        if any(self.known[key][int(k)] is not None for k in chosen):
            return None
        return [(key, int(k)) for k in chosen]


def shaped(elements: list[Any], shape: tuple[int, ...]) -> Any:
    """Elements, row by row, as an array of a shape."""
    if not shape:
        return elements[0]
    if len(shape) == 1:
        return list(elements)
    step = math.prod(shape[1:])
    return [shaped(elements[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def name_of(unknown: Unknown) -> str:
    """How messages call an unknown."""
    key, _ = unknown
    return f"der({key[1]})" if key[0] == "rate" else ".".join(key[1:])


def _subscripted_name(name: str, subscripts: Any, env: Environment) -> str:
    if not subscripts:
        return name
    try:
        indices = [evaluate(i, env) for i in subscripts]
    except ModelError:
        return name
    return f"{name}[{','.join(str(int(i)) for i in indices if isinstance(i, int | float))}]"
