"""Types of expressions (specification, chapters 3 and 6): numbers, conditions and texts are told apart.

An expression is Real, Integer, Boolean or String, arrays as their elements; None where nothing here knows it, such as
enumerations and what parts of the library have inside. What is not known is not refused.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.evaluate import Environment
from mbfmu.importers.modelica.syntax import fault
from mbfmu.modeling.connectors import Signal
from mbfmu.modeling.declarations import Parameter, Variable
from mbfmu.modeling.types import Type

_NUMBERS = ("Real", "Integer")
_RELATIONS = ("<", "<=", ">", ">=", "==", "<>")
#: Functions of numbers that give a Real, and those that give a whole number whatever they are given.
_REAL = {
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "log10", "sqrt"),
    *("der", "floor", "ceil", "linspace"),
}
_WHOLE = {"integer", "Integer", "sign", "size", "ndims"}
#: Functions whose result is of the type of their arguments, and those that have it from some of these only.
_ALIKE = {"abs", "max", "min", "sum", "product", "mod", "rem", "div", "array", "transpose", "diagonal", "vector"}
_FIRST, _SECOND = {"noEvent", "fill", "scalar", "homotopy"}, {"smooth"}
#: What messages call values of a type.
_CALLED = {
    "Real": "a number",
    "Integer": "a whole number",
    "Boolean": "a condition, true or false",
    "String": "a text",
}


def base_of(node: s.Node, env: Environment) -> str | None:
    """Type of an expression.

    Raises:
        ModelError: an operation in it is given what it does not take, such as a sum of conditions; with file and line.
    """
    method = _METHODS.get(type(node))
    return method(node, env) if method is not None else None


def check_equal(left: s.Node, right: s.Node, env: Environment) -> None:
    """Refuse an equation between a number and a condition, or between a variable of whole numbers and other numbers.

    Raises:
        ModelError: it is one; with file and line.
    """
    a, b = base_of(left, env), base_of(right, env)
    if a is None or b is None:
        return
    if (a in _NUMBERS) != (b in _NUMBERS) or (a not in _NUMBERS and a != b):
        raise fault(
            left.at, f"{s.text(left)} = {s.text(right)}: is {_CALLED[a]} on one side and {_CALLED[b]} on the other"
        )
    for variable, kind, other, given in ((left, a, right, b), (right, b, left, a)):
        if isinstance(variable, s.Reference) and kind == "Integer" and given == "Real":
            raise fault(
                left.at,
                f"{variable} = {s.text(other)}: {variable} is an Integer, and cannot have the value of a Real; declare "
                "it as Real, or take integer(...)",
            )


def check_given(name: str, declared: str | None, node: s.Node, env: Environment, is_known: bool = False) -> None:
    """Refuse a value of another type than that of what gets it.

    Where the number is known when the model is made, `is_known`, a whole one may come as a Real.

    Raises:
        ModelError: it is of another type; with file and line.
    """
    given = base_of(node, env)
    if declared is None or given is None or declared == given or (declared, given) == ("Real", "Integer"):
        return
    if (declared, given) == ("Integer", "Real"):
        if is_known:
            return
        raise fault(
            node.at,
            f"{name} = {s.text(node)}: {name} is an Integer, and cannot have the value of a Real; declare it as "
            "Real, or take integer(...)",
        )
    raise fault(node.at, f"{name} = {s.text(node)}: is {_CALLED[given]}; expected {_CALLED[declared]}")


def of_type(type_: Type | None) -> str | None:
    """Type of what a declaration of mbfmu has; None for enumerations."""
    return type_.base if type_ is not None and not type_.values else None


def check_body(body: Iterable[s.Node], env: Environment) -> None:
    """Check the statements of a function.

    Raises:
        ModelError: an expression or an assignment is of the wrong type; with file and line.
    """
    for node in body:
        if isinstance(node, s.Equality) and not isinstance(node.left, s.Tuple):
            check_given(s.text(node.left), base_of(node.left, env), node.right, env)
        elif isinstance(node, s.If):
            for decides, inner in node.branches:
                check_condition(decides, env)
                check_body(inner, env)
            check_body(node.otherwise, env)
        elif isinstance(node, s.For):
            check_body(node.body, _in_loop(node.indices, env))
        elif isinstance(node, s.While):
            check_condition(node.condition, env)
            check_body(node.body, env)


def check_condition(node: s.Node, env: Environment) -> None:
    """Refuse a condition that is a number or a text.

    Raises:
        ModelError: it is one; with file and line.
    """
    given = base_of(node, env)
    if given not in (None, "Boolean"):
        raise _no_condition(node, given)


def _no_condition(node: s.Node, given: str | None) -> Exception:
    called = "a number" if given in _NUMBERS else "a text"
    return fault(node.at, f"{s.text(node)}: is {called}; a condition is true or false, such as x > 0")


def _refuse_no_number(node: s.Node, whole: s.Node, given: str | None) -> None:
    if given not in (None, *_NUMBERS):
        assert given is not None
        raise fault(
            node.at,
            f"{s.text(whole)}: {s.text(node)} is {_CALLED[given]}, and no number"
            + ("; write `if ... then 1 else 0`" if given == "Boolean" else ""),
        )


def _common(types: Iterable[str | None]) -> str | None:
    """Type of what is one of several; None where that is not known, or they differ."""
    found = set(types)
    if found == {"Real", "Integer"}:
        return "Real"
    return found.pop() if len(found) == 1 else None


def _literal(node: s.Literal, env: Environment) -> str | None:
    return _of_value(node.value)


def _of_value(value: Any) -> str | None:
    """Type of a value; None for symbols, whose type is declared."""
    while isinstance(value, list) and value:
        value = value[0]
    kinds = {bool: "Boolean", int: "Integer", float: "Real", str: "String"}
    return kinds.get(type(value))


def _array(node: s.Array, env: Environment) -> str | None:
    return _of_elements(node.items, env)


def _matrix(node: s.Matrix, env: Environment) -> str | None:
    return _of_elements([item for row in node.rows for item in row], env)


def _of_elements(items: Sequence[s.Node], env: Environment) -> str | None:
    """Type of the elements of an array, which is one."""
    types = [base_of(item, env) for item in items]
    found: dict[str, tuple[s.Node, str]] = {}
    for item, kind in zip(items, types, strict=True):
        if kind is not None:
            found["number" if kind in _NUMBERS else kind] = (item, kind)
    if len(found) > 1:
        (_, first), (item, other), *_ = found.values()
        raise fault(
            item.at, f"{s.text(item)} is {_CALLED[other]} and another element is {_CALLED[first]}; give all one type"
        )
    return _common(types)


def _range(node: s.Range, env: Environment) -> str | None:
    return _common(base_of(part, env) for part in (node.start, node.step, node.stop) if part is not None)


def _iteration(node: s.Iteration, env: Environment) -> str | None:
    return base_of(node.expression, _in_loop(node.indices, env))


def _in_loop(indices: Iterable[tuple[str, s.Node | None]], env: Environment) -> Environment:
    """Where indices of a loop have the types of their ranges."""
    return dataclasses.replace(
        env,
        locals={**env.locals, **{name: None for name, _ in indices}},
        types={**env.types, **{name: None if range_ is None else base_of(range_, env) for name, range_ in indices}},
    )


def _conditional(node: s.Conditional, env: Environment) -> str | None:
    branches, otherwise = node.chain()
    for decides, _ in branches:
        check_condition(decides, env)
    found = [base_of(then, env) for then in (*(then for _, then in branches), otherwise)]
    known = {kind in _NUMBERS for kind in found if kind is not None}
    if len(known) > 1:
        raise fault(node.at, f"{s.text(node)}: one branch is a number, another one is none; give both one type")
    return _common(found)


def _operation(node: s.Operation, env: Environment) -> str | None:
    first, links = node.chain()
    found = base_of(first, env)
    for link in links:
        found = _applied(link, first, found, env)
        first = link
    return found


def _applied(link: s.Operation, first: s.Node, given: str | None, env: Environment) -> str | None:
    """Type of an operation whose first operand has this one."""
    sign, others = link.operator, link.operands[1:]
    types = [given, *(base_of(other, env) for other in others)]
    operands = (first, *others)
    if sign in ("and", "or", "not"):
        for operand, kind in zip(operands, types, strict=True):
            if kind not in (None, "Boolean"):
                raise _no_condition(operand, kind)
        return "Boolean"
    if sign in _RELATIONS:
        known = {"number" if kind in _NUMBERS else kind for kind in types if kind is not None}
        if len(known) > 1:
            said = " and ".join(_CALLED[kind] for kind in types if kind is not None)
            raise fault(link.at, f"{s.text(link)}: compares {said}; compare two of one type")
        return "Boolean"
    if sign in ("+", ".+") and "String" in types and set(types) <= {"String", None}:
        return _common(types)
    for operand, kind in zip(operands, types, strict=True):
        _refuse_no_number(operand, link, kind)
    if sign in ("/", "./", "^", ".^"):
        return "Real"
    return _common(types)


def _call(node: s.Call, env: Environment) -> str | None:
    name = str(node.function)
    simple = name.removeprefix("Modelica.Math.")
    types = [base_of(argument, env) for argument in node.arguments]
    found = env.session.function(node.function, env) if name not in _SIMPLE or name in env.locals else None
    if isinstance(found, Found) and found.node is not None and found.node.definition is not None:
        if found.node.definition.kind != "function":
            return None
        text = env.session.function_text(found.node, node.at)
        declared = env.session.types_of_function(found.node, node.at)
        for (component, _), argument in zip(text.inputs, node.arguments, strict=False):
            check_given(component.name, declared.get(component.name), argument, env, is_known=True)
        for key, argument in node.named:
            check_given(key, declared.get(key), argument, env, is_known=True)
        return declared.get(text.outputs[0]) if len(text.outputs) == 1 else None
    if found is not None and simple not in _SIMPLE:
        return None
    if simple in _FIRST or simple in _SECOND:
        place = int(simple in _SECOND)
        return types[place] if len(types) > place else None
    if simple in _REAL | _ALIKE and simple not in ("array", "transpose", "diagonal", "vector"):
        for argument, kind in zip(node.arguments, types, strict=True):
            _refuse_no_number(argument, node, kind)
    if simple in _REAL:
        return "Real"
    if simple in _WHOLE:
        return "Integer"
    if simple in ("zeros", "ones", "identity"):
        return "Integer"
    if simple == "String":
        return "String"
    return _common(types) if simple in _ALIKE else None


_SIMPLE = _REAL | _WHOLE | _ALIKE | _FIRST | _SECOND | {"zeros", "ones", "identity", "String"}


def _reference(node: s.Reference, env: Environment) -> str | None:
    first = node.names[0]
    if node.absolute:
        return None
    if first in env.types:
        return env.types[first] if len(node.parts) == 1 else None
    if first in env.locals:
        return _of_value(env.locals[first]) if len(node.parts) == 1 else None
    if node.names == ("time",):
        return "Real"
    model = env.model
    if model is None or not model.has(first):
        return None
    if env.scope.definition is not None and env.scope.definition.kind == "function":
        return None
    if first not in model.content.components:
        return _of_declaration(model.component, node.names)
    kind = model.kind(first)
    if len(node.parts) == 1:
        if kind.scalar is not None:
            return of_type(kind.scalar.type)
        return of_type(kind.port.default_type) if kind.port is not None and issubclass(kind.port, Signal) else None
    declared = kind.cls.declarations.get(node.names[1]) if kind.cls is not None and len(node.parts) == 2 else None
    return of_type(declared.type) if isinstance(declared, Signal | Variable | Parameter) else None


def _of_declaration(component: Any, names: tuple[str, ...]) -> str | None:
    declared = component.declarations.get(names[0]) if component is not None and len(names) == 1 else None
    return of_type(declared.type) if isinstance(declared, Signal | Variable | Parameter) else None


_METHODS: dict[type[s.Node], Any] = {
    s.Literal: _literal,
    s.Array: _array,
    s.Matrix: _matrix,
    s.Range: _range,
    s.Iteration: _iteration,
    s.Conditional: _conditional,
    s.Operation: _operation,
    s.Reference: _reference,
    s.Call: _call,
}

__all__ = ["base_of", "check_body", "check_condition", "check_equal", "check_given", "of_type"]
