"""Calls: functions of the language and of the library, of the user's files, and operators like der and size."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from mbfmu.importers.modelica import operators, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.evaluate import Environment, Method, enumeration, evaluate, whole
from mbfmu.importers.modelica.functions import Closure, call_function
from mbfmu.importers.modelica.names import element_of, reference, resolve
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.values import Wrong, is_symbolic
from mbfmu.messages import suggestion

#: Functions that only a simulator of discrete equations has.
_DISCRETE = (
    "pre",
    "edge",
    "change",
    "sample",
    "initial",
    "terminal",
    "delay",
    "reinit",
    "cardinality",
    "spatialDistribution",
    "terminate",
    "semiLinear",
    "inStream",
    "actualStream",
    "previous",
    "hold",
)
#: Functions that jump again and again.
_ENDLESS = ("floor", "ceil", "integer", "mod", "rem", "div")


def _call(node: s.Call, env: Environment) -> Any:
    names = node.function.names
    name = names[-1]
    found = None
    if len(names) > 1 or (name not in values.BUILTIN and name not in _SPECIAL):
        found = env.session.function(node.function, env)
    if found is None:
        if len(names) == 1 and name in _SPECIAL:
            return _SPECIAL[name](node, env)
        if len(names) == 1 and name in values.BUILTIN:
            return _apply(values.BUILTIN[name], name, node, env)
        if name in _DISCRETE:
            raise Wrong(
                f"{name} is not translated: it needs discrete equations; use a block of Modelica.Blocks, or a "
                "sensor and a switch, for what it decides"
            )
        raise Wrong(
            f"no function {node.function} is known; {suggestion(name, {*values.BUILTIN, *_SPECIAL}, 'the docs')}"
        )
    if isinstance(found, Closure):
        positional, named = _arguments(node, env)
        return call_function(found.node, positional, {**found.given, **named}, env, node.at)
    known = values.LIBRARY.get(".".join(found.full[1:])) if found.full[0] == "Modelica" else None
    if known is not None:
        return _apply(known, name, node, env)
    if found.full == ("Modelica", "Utilities", "Files", "loadResource") and len(node.arguments) == 1:
        return env.session.classes.resource(evaluate(node.arguments[0], env), node.at)
    literals = enumeration(found, env)
    if literals is not None:
        index = whole(node.arguments[0], env)
        return element_of(literals, index, node)
    if found.node is None or found.node.definition is None:
        raise Wrong(f"{found} is a function of the Modelica library that mbfmu does not have; write its formula")
    if found.node.definition.kind == "record":
        return env.session.record(found.node, _arguments(node, env), node, env)
    return call_function(found.node, *_arguments(node, env), env, node.at)


def _arguments(node: s.Call, env: Environment) -> tuple[list[Any], dict[str, Any]]:
    return [_argument(a, env) for a in node.arguments], {k: _argument(v, env) for k, v in node.named}


def _argument(node: s.Node, env: Environment) -> Any:
    if isinstance(node, s.Iteration):
        return operators.iterated(node, env)
    if isinstance(node, s.PartialFunction):
        found = env.session.function(node.function, env)
        if not isinstance(found, Found) or found.node is None:
            raise fault(node.at, f"{node.function}: a function argument must be a function of your own files")
        return Closure(found.node, {k: evaluate(v, env) for k, v in node.named}, env)
    if isinstance(node, s.Reference) and not _is_local(node.names[0], env):
        found = env.session.classes.find(node.names, env.scope, node.absolute)
        inner = found.node if found is not None else None
        if inner is not None and inner.definition is not None and inner.definition.kind == "function":
            return Closure(inner, {}, env)
    return evaluate(node, env)


def _is_local(name: str, env: Environment) -> bool:
    return name in env.locals or (env.model is not None and env.model.has(name))


def _apply(function: Callable[..., Any], name: str, node: s.Call, env: Environment) -> Any:
    positional, named = _arguments(node, env)
    if env.equations is not None and not env.is_smooth and name in ("abs", "sign", "max", "min") and not named:
        kinked = _kinked(name, positional, env)
        if kinked is not None:
            return kinked
    if name in _ENDLESS and env.equations is not None:
        changing = [v for v in values.flat(positional) if is_symbolic(v) and not env.session.is_parameter(v)]
        if changing:
            raise Wrong(f"{name} jumps without end; only parameters can go through it here")
    if name == "String":
        positional = [env.session.peek(v) for v in positional]
    return function(*positional, **named)


def _kinked(name: str, arguments: list[Any], env: Environment) -> Any:
    """abs, sign, max and min of what changes: their kinks and jumps are events."""
    assert env.equations is not None
    changing = [v for v in values.flat(arguments) if is_symbolic(v) and not env.session.is_parameter(v)]
    if not changing:
        return None
    equations = env.equations
    if name == "abs":
        return values.elementwise(lambda x: equations.switch(x, x, -x), arguments[0])
    if name == "sign":
        return values.elementwise(lambda x: equations.switch(x, equations.switch(-x, 0, 1), -1), arguments[0])
    elements = values.flat(arguments)
    result = elements[0]
    for other in elements[1:]:
        difference = result - other if name == "max" else other - result
        result = equations.switch(difference, result, other)
    return result


# -- calls that need more than values


def _size(node: s.Call, env: Environment) -> Any:
    declared = _declared_sizes(node.arguments[0], env)
    if declared is not None:
        return _chosen_size(node, declared, env)
    value = (
        resolve(node.arguments[0], env)
        if isinstance(node.arguments[0], s.Reference)
        else evaluate(node.arguments[0], env)
    )
    if not isinstance(value, list) and not values.is_number(value) and not isinstance(value, str | bool):
        value = env.session.elements_of(value, node, env)
    return _chosen_size(node, _dimensions(value), env)


def _declared_sizes(node: s.Node, env: Environment) -> tuple[int, ...] | None:
    """Dimensions of a variable of the model's own, which is perhaps not known yet; None of all else."""
    if not isinstance(node, s.Reference) or node.absolute or len(node.parts) > 1 or node.parts[0][1]:
        return None
    name, model = node.names[0], env.model
    if name in env.locals or model is None or name not in model.content.components:
        return None
    sizes: tuple[int, ...] | None = model.sizes(name) if model.kind(name).kind == "variable" else None
    return sizes


def _chosen_size(node: s.Call, dimensions: tuple[int, ...], env: Environment) -> Any:
    if len(node.arguments) == 1:
        return list(dimensions)
    index = whole(node.arguments[1], env)
    if not 1 <= index <= len(dimensions):
        raise Wrong(f"the array has {len(dimensions)} dimensions")
    return dimensions[index - 1]


def _dimensions(value: Any) -> tuple[int, ...]:
    return (len(value), *(_dimensions(value[0]) if value else ())) if isinstance(value, list) else ()


def _der(node: s.Call, env: Environment) -> Any:
    if env.equations is None:
        raise Wrong("a parameter, a size or a start value has no derivative")
    if len(node.arguments) != 1:
        raise Wrong("der takes one argument")
    return env.equations.derivative(node, env)


def _no_event(node: s.Call, env: Environment) -> Any:
    if len(node.arguments) != 1:
        raise Wrong("noEvent takes one argument")
    return evaluate(node.arguments[0], dataclasses.replace(env, is_smooth=True))


def _reduction(node: s.Call, env: Environment) -> Any:
    """sum, product, min, max and array, over an iteration too."""
    name = node.function.names[0]
    if len(node.arguments) == 1 and isinstance(node.arguments[0], s.Iteration):
        items = operators.iterated(node.arguments[0], env)
        if name in ("min", "max") and env.equations is not None and not env.is_smooth:
            kinked = _kinked(name, [items], env)
            if kinked is not None:
                return kinked
        return items if name == "array" else values.BUILTIN[name](items)
    return _apply(values.BUILTIN[name], name, node, env)


_SPECIAL: dict[str, Callable[[s.Call, Environment], Any]] = {
    "size": _size,
    "der": _der,
    "noEvent": _no_event,
    **dict.fromkeys(("sum", "product", "min", "max", "array"), _reduction),
}
#: What evaluates each kind of expression.
METHODS: dict[type[s.Node], Method] = {**operators.METHODS, s.Reference: reference, s.Call: _call}
