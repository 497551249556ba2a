"""Names: what they stand for, and the element of it that subscripts choose."""

from __future__ import annotations

import dataclasses
from typing import Any

from mbfmu.frames import Orientation
from mbfmu.importers.modelica import library, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found, Member
from mbfmu.importers.modelica.evaluate import Environment, evaluate
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.values import array
from mbfmu.messages import suggestion


def reference(node: s.Reference, env: Environment) -> Any:
    """Value of a name."""
    return value_of(resolve(node, env), node, env)


def resolve(node: s.Reference, env: Environment) -> Any:
    """What a name stands for: a value, or a component, connector or array of these."""
    (first, subscripts), *rest = node.parts
    if not node.absolute:
        if first in env.locals:
            return walk(subscripted(env.locals[first], subscripts, node, env), rest, node, env)
        if first == "time" and not rest:
            if env.equations is None:
                raise fault(node.at, "time changes; a parameter, a size or a start value cannot depend on it")
            return env.equations.time
        model = env.model
        if model is not None and model.has(first) and _is_member(model, first, env):
            return walk(subscripted(model.get(first, env, node), subscripts, node, env), rest, node, env)
    return _class_member(node, env)


def _is_member(model: Model, name: str, env: Environment) -> bool:
    """False where a function's body hides the model around it."""
    return env.scope.definition is None or env.scope.definition.kind != "function"


def _class_member(node: s.Reference, env: Environment) -> Any:
    names = node.names
    for size in range(len(names), 0, -1):
        found = env.session.classes.find(names[:size], env.scope, node.absolute)
        if found is None:
            continue
        value = constant(found, env, node)
        if value is None:
            continue
        return walk(subscripted(value, node.parts[size - 1][1], node, env), list(node.parts[size:]), node, env)
    known = set(env.locals)
    if env.model is not None:
        known |= set(env.model.names())
    hint = suggestion(names[0], known, "the class") if known else "declare it"
    found = env.session.classes.find(names, env.scope, node.absolute)
    if found is not None and found.full[0] == "Modelica":
        raise fault(node.at, f"{found}: is no constant of the Modelica library that mbfmu knows; write its value")
    raise fault(node.at, f"{node}: nothing of this name is known here; {hint}")


def constant(found: Found, env: Environment, node: s.Node) -> Any:
    """Value of a constant of a class, None where the name is none."""
    if isinstance(found.node, Member):
        owner = found.node.parent
        assert owner is not None
        assert owner.definition is not None
        if owner.definition.literals is not None:
            literals = owner.definition.literals
            return library.Enumeration(found.node.name, literals.index(found.node.name) + 1, owner.name, literals)
        return env.session.package_constant(owner, found.node.name, node)
    return library.constant(found.full) if found.node is None else None


def subscripted(value: Any, subscripts: tuple[s.Node, ...], node: s.Node, env: Environment) -> Any:
    """An array's element or slice."""
    if not subscripts:
        return value
    if not isinstance(value, list):
        value = env.session.elements_of(value, node, env)
    first, *rest = subscripts
    here = dataclasses.replace(env, end=len(value))
    if isinstance(first, s.Colon):
        return [subscripted(v, tuple(rest), node, env) for v in value]
    index = env.session.numbers(evaluate(first, here), first.at)
    if isinstance(index, list):
        return [subscripted(element_of(value, i, first), tuple(rest), node, env) for i in index]
    return subscripted(element_of(value, index, first), tuple(rest), node, env)


def element_of(value: list[Any], index: Any, node: s.Node) -> Any:
    """The element of an array that an index means."""
    if isinstance(index, library.Enumeration):
        index = index.ordinal
    elif isinstance(index, bool):
        index = int(index) + 1
    elif isinstance(index, float) and index.is_integer():
        index = int(index)
    if not isinstance(index, int):
        raise fault(node.at, f"{s.text(node)}: is {values.describe(index)}; an index is a whole number")
    if not 1 <= index <= len(value):
        raise fault(node.at, f"{s.text(node)}: the index is {index}, the array has {len(value)} elements, from 1")
    return value[index - 1]


def walk(value: Any, parts: Any, node: s.Reference, env: Environment) -> Any:
    """Follow a dotted name from a value, component or connector on."""
    for name, subscripts in parts:
        value = subscripted(_attribute(value, name, node, env), subscripts, node, env)
    return value


def _attribute(value: Any, name: str, node: s.Reference, env: Environment) -> Any:
    if isinstance(value, list):
        return [_attribute(v, name, node, env) for v in value]
    if isinstance(value, dict):
        if name not in value:
            raise fault(node.at, f"{node}: the record has no {name!r}; {suggestion(name, value)}")
        return value[name]
    if isinstance(value, Orientation):
        if name not in ("T", "w"):
            raise fault(node.at, f"{node}: an orientation object has T and w, no {name!r}")
        return array(getattr(value, name))
    return env.session.attribute(value, name, node, env)


def value_of(value: Any, node: s.Node, env: Environment) -> Any:
    """The value of what a name stands for; connectors of signals have one."""
    if isinstance(value, list):
        return [value_of(v, node, env) for v in value]
    if values.is_number(value) or isinstance(value, str | bool | dict | Orientation):
        return value
    return env.session.value_of(value, node, env)
