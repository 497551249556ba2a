"""Literals, arrays, ranges, choices and operators: how expressions of these kinds are evaluated."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca

from mbfmu.frames import Orientation
from mbfmu.importers.modelica import library, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.evaluate import (
    FAILURES,
    Environment,
    Method,
    checked,
    condition,
    evaluate,
    failure,
    is_true_or_false,
    loop,
)
from mbfmu.importers.modelica.values import Wrong, is_symbolic

_RELATIONS = ("<", "<=", ">", ">=", "==", "<>")


def _literal(node: s.Literal, env: Environment) -> Any:
    return node.value


def _array(node: s.Array, env: Environment) -> Any:
    if len(node.items) == 1 and isinstance(node.items[0], s.Iteration):
        return iterated(node.items[0], env)
    items = [evaluate(i, env) for i in node.items]
    values.shape(items)
    return items


def iterated(node: s.Iteration, env: Environment) -> Any:
    """{e for i in r, j in s}: the last index gives the outermost dimension."""
    *inner, outer = node.indices
    turns = loop((outer,), env, node.at)
    if not inner:
        return [evaluate(node.expression, turn) for turn in turns]
    return [iterated(dataclasses.replace(node, indices=tuple(inner)), turn) for turn in turns]


def _matrix(node: s.Matrix, env: Environment) -> Any:
    return values.matrix([[evaluate(i, env) for i in row] for row in node.rows])


def _range(node: s.Range, env: Environment) -> Any:
    bounds = [
        env.session.numbers(evaluate(n, env), n.at) if n is not None else 1 for n in (node.start, node.step, node.stop)
    ]
    start, step, stop = bounds
    if isinstance(start, library.Enumeration) and isinstance(stop, library.Enumeration) and node.step is None:
        if start.literals != stop.literals or not start.literals:
            raise Wrong(
                f"{values.describe(start)} and {values.describe(stop)} bound no range; take literals of one type"
            )
        return library.Enumeration.all_of(start.literals, start.type_name)[start.ordinal - 1 : stop.ordinal]
    if isinstance(start, bool) and isinstance(stop, bool) and node.step is None:
        return [b for b in (False, True) if start <= b <= stop]
    if not all(values.is_number(b) for b in bounds):
        raise Wrong("a range is between numbers")
    if step == 0:
        raise Wrong("the step is 0")
    count = int((stop - start) / step + 1e-10) + 1 if (stop - start) / step >= 0 else 0
    values.size(count)
    return [start + step * k for k in range(count)]


def _tuple(node: s.Tuple, env: Environment) -> Any:
    raise Wrong("a list in parentheses is no value")


def _end(node: s.EndIndex, env: Environment) -> Any:
    if env.end is None:
        raise Wrong("`end` stands in subscripts only")
    return env.end


def _conditional(node: s.Conditional, env: Environment) -> Any:
    """The first branch whose condition is true; where conditions change, a choice between what is left."""
    chosen: list[tuple[Any, Any]] = []
    branches, otherwise = node.chain()
    for decides, then in branches:
        value = condition(decides, env)
        if value is True:
            otherwise = then
            break
        if value is False:
            continue
        if not is_symbolic(value):
            raise Wrong(f"the condition is {values.describe(value)}; it must be true or false")
        chosen.append((value, evaluate(then, env)))
    result = evaluate(otherwise, env)
    for value, then in reversed(chosen):
        result = choose(value, then, result)
    return result


def choose(condition: Any, then: Any, otherwise: Any) -> Any:
    """`then` where a symbolic condition is 1, else `otherwise`."""
    if isinstance(then, Orientation) and isinstance(otherwise, Orientation):
        return Orientation(
            *(
                ca.if_else(condition > 0.5, ca.SX(a), ca.SX(b))
                for a, b in ((then.T, otherwise.T), (then.w, otherwise.w))
            )
        )
    if isinstance(then, dict) and isinstance(otherwise, dict):
        return {k: choose(condition, then[k], otherwise[k]) for k in then}
    if values.shape(then) != values.shape(otherwise):
        raise Wrong("the branches have different sizes")

    def pick(a: Any, b: Any) -> Any:
        if isinstance(a, str) or isinstance(b, str):
            raise Wrong("a text cannot depend on what changes")
        return ca.if_else(condition > 0.5, a, b)

    return values.elementwise(pick, then, otherwise)


def _operation(node: s.Operation, env: Environment) -> Any:
    first, links = node.chain()
    value = evaluate(first, env)
    for link in links:
        env.session.tick(link.at)
        try:
            value = _applied(link, value, env)
        except FAILURES as error:
            raise failure(error, link) from error
    return value


def _applied(node: s.Operation, first: Any, env: Environment) -> Any:
    """Value of an operation whose first operand has this one."""
    sign, operands = node.operator, node.operands
    if sign in ("and", "or"):
        return _logical(sign, checked(first, operands[0], env), operands[1], env)
    if sign == "not":
        return values.elementwise(_negation, checked(first, operands[0], env))
    parts = [first, *(evaluate(o, env) for o in operands[1:])]
    if len(parts) == 1:
        return values.elementwise(_plus_sign, parts[0]) if sign in ("+", ".+") else values.negate(parts[0])
    if sign in _RELATIONS:
        return _relation(sign, parts[0], parts[1], env)
    return values.BINARY[sign](*parts)


def _plus_sign(value: Any) -> Any:
    if not values.is_number(value):
        raise Wrong(f"{values.describe(value)} is no number")
    return value


def _negation(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if is_symbolic(value):
        return 1 - value
    raise Wrong(f"{values.describe(value)} is neither true nor false")


def _logical(sign: str, a: Any, second: s.Node, env: Environment) -> Any:
    if isinstance(a, bool) and a == (sign == "or"):
        return a
    b = condition(second, env)
    if isinstance(a, list) or isinstance(b, list):
        return values.elementwise(lambda x, y: _both(sign, x, y), a, b)
    return _both(sign, a, b)


def _both(sign: str, a: Any, b: Any) -> Any:
    for value in (a, b):
        if not isinstance(value, bool) and not is_symbolic(value):
            raise Wrong(f"{values.describe(value)} is neither true nor false")
    if isinstance(a, bool):
        return (a or b) if sign == "or" and isinstance(b, bool) else b if a == (sign == "and") else a
    if isinstance(b, bool):
        return a if b == (sign == "and") else b
    return a * b if sign == "and" else 1 - (1 - a) * (1 - b)


def _relation(sign: str, a: Any, b: Any, env: Environment) -> Any:
    if not is_symbolic(a) and not is_symbolic(b):
        return values.compare(sign, a, b)
    if not all(values.is_number(v) or isinstance(v, bool) for v in (a, b)):
        raise Wrong(f"{values.describe(a)} {sign} {values.describe(b)}: these cannot be compared")
    if sign in ("==", "<>") and is_true_or_false(a, env) and is_true_or_false(b, env):
        same = _both("or", _both("and", a, b), _both("and", _negation(a), _negation(b)))
        return same if sign == "==" else _negation(same)
    difference = a - b
    if env.equations is not None and not env.is_smooth and not env.session.is_parameter(difference):
        return env.equations.compare(sign, difference)
    return {
        "<": difference < 0,
        "<=": difference <= 0,
        ">": difference > 0,
        ">=": difference >= 0,
        "==": ca.eq(difference, 0),
        "<>": ca.ne(difference, 0),
    }[sign]


#: What evaluates these kinds of expressions.
METHODS: dict[type[s.Node], Method] = {
    s.Literal: _literal,
    s.Array: _array,
    s.Matrix: _matrix,
    s.Range: _range,
    s.Tuple: _tuple,
    s.EndIndex: _end,
    s.Conditional: _conditional,
    s.Operation: _operation,
}
