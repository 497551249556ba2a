"""Expressions -> values: names, subscripts, operators, calls, and functions written in Modelica."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.importers.modelica import library, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found, Member
from mbfmu.importers.modelica.making import Equations, Model, Session
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.values import Wrong, array, is_symbolic
from mbfmu.messages import suggestion
from mbfmu.modeling.truths import is_truth

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
_RELATIONS = ("<", "<=", ">", ">=", "==", "<>")


@dataclasses.dataclass(frozen=True)
class Environment:
    """Where an expression stands: its class (for names of classes), its model (for names of components), local names.

    `equations` is set where variables have values: in equations, that is, not in parameters and modifiers.
    """

    session: Session
    scope: Node
    model: Model | None = None
    locals: dict[str, Any] = dataclasses.field(default_factory=dict)
    equations: Equations | None = None
    is_smooth: bool = False
    end: int | None = None

    def with_locals(self, **names: Any) -> Environment:
        """The same place with further local names."""
        return dataclasses.replace(self, locals={**self.locals, **names})


def evaluate(node: s.Node, env: Environment) -> Any:
    """Value of an expression.

    Raises:
        ModelError: an unknown name, an operation that the values do not allow; with file and line.
    """
    env.session.tick(node.at)
    method = _METHODS.get(type(node))
    if method is None:
        raise fault(node.at, f"`{s.text(node)}` is no expression that can stand here")
    try:
        return method(node, env)
    except _FAILURES as error:
        raise _failure(error, node) from error


#: What values that do not fit make of an operation.
_FAILURES = (
    Wrong,
    TypeError,
    ValueError,
    IndexError,
    ZeroDivisionError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
)


#: What is said where Python's own recursion ends.
NESTED = "is nested too deeply, or refers to itself without end; take it apart, or break the circle"


def _failure(error: Exception, node: s.Node) -> ModelError:
    """What an exception says of an expression."""
    if isinstance(error, Wrong):
        return fault(node.at, f"{s.text(node)}: {error}")
    if isinstance(error, RecursionError):
        return fault(node.at, f"what stands here {NESTED}")
    said = str(error).splitlines()[0] if str(error) else repr(error)
    return fault(node.at, f"{s.text(node)}: cannot be evaluated ({said})")


def truth(node: s.Node, env: Environment) -> bool:
    """Value of a condition that decides what a model consists of: its parameters get fixed."""
    value = env.session.numbers(evaluate(node, env), node.at)
    if isinstance(value, float | int) and not isinstance(value, bool):
        value = value > 0.5 if is_symbolic(evaluate(node, env)) else value
    if not isinstance(value, bool):
        raise fault(node.at, f"{s.text(node)}: is {values.describe(value)}; a condition is true or false")
    return value


def condition(node: s.Node, env: Environment) -> Any:
    """Value of a condition: true, false, or an expression of comparisons and Booleans, 1 or 0.

    Raises:
        ModelError: it is a number, whose sign or size says nothing.
    """
    return _checked(evaluate(node, env), node, env)


def _checked(value: Any, node: s.Node, env: Environment) -> Any:
    """The value of a condition, which is no number."""
    for element in values.flat(value):
        if is_symbolic(element) and not _is_truth(element, env):
            raise fault(node.at, f"{s.text(node)}: is a number; a condition is true or false, such as x > 0")
    return value


def _is_truth(value: Any, env: Environment) -> bool:
    return is_truth(value, lambda symbol: _is_boolean(symbol, env))


def _is_boolean(symbol: ca.SX, env: Environment) -> bool:
    """False for parameters, whose Booleans are no symbols, and for what the model declares otherwise."""
    if env.session.is_parameter(symbol):
        return False
    return env.equations is None or env.equations.is_boolean(symbol)


def whole(node: s.Node, env: Environment) -> int:
    """Value of an expression that gives a size or an index: its parameters get fixed."""
    value = env.session.numbers(evaluate(node, env), node.at)
    if isinstance(value, library.Enumeration):
        return value.ordinal
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool):
        return int(value) + 1  # an array over Boolean begins with false
    if not isinstance(value, int):
        raise fault(node.at, f"{s.text(node)}: is {values.describe(value)}; expected a whole number")
    return value


def loop(indices: tuple[tuple[str, s.Node | None], ...], env: Environment, at: Place) -> Iterator[Environment]:
    """Environments of all turns of a loop, the last index running fastest."""
    if not indices:
        yield env
        return
    (name, range_), *rest = indices
    if range_ is None:
        raise fault(at, f"for {name}: give its range, as in `for {name} in 1:3`")
    found = None
    if isinstance(range_, s.Reference):  # a range may be an enumeration, or Boolean
        type_ = (
            env.session.classes.find(range_.names, env.scope, range_.absolute) if range_.names != ("Boolean",) else None
        )
        literals = enumeration(type_, env) if type_ is not None else None
        found = [False, True] if range_.names == ("Boolean",) else literals
    if found is None:
        found = env.session.numbers(evaluate(range_, env), range_.at)
    if not isinstance(found, list):
        raise fault(range_.at, f"for {name} in {s.text(range_)}: the range is {values.describe(found)}; give a vector")
    for value in found:
        yield from loop(tuple(rest), env.with_locals(**{name: value}), at)


def enumeration(found: Found, env: Environment) -> list[Any] | None:
    """Literals of an enumeration, None for other classes."""
    if found.node is not None and found.node.definition is not None and found.node.definition.literals is not None:
        literals = found.node.definition.literals
        return [library.Enumeration(x, i + 1, found.node.name) for i, x in enumerate(literals)]
    scalar = library.scalar_type(found.full)
    if scalar is not None and scalar.type.values:
        return [library.Enumeration(x, i + 1, scalar.type.name) for i, x in enumerate(scalar.type.values)]
    return None


# -- expressions


def _literal(node: s.Literal, env: Environment) -> Any:
    return node.value


def _array(node: s.Array, env: Environment) -> Any:
    if len(node.items) == 1 and isinstance(node.items[0], s.Iteration):
        return _iterated(node.items[0], env)
    items = [evaluate(i, env) for i in node.items]
    values.shape(items)
    return items


def _iterated(node: s.Iteration, env: Environment) -> Any:
    """{e for i in r, j in s}: the last index gives the outermost dimension."""
    *inner, outer = node.indices
    turns = loop((outer,), env, node.at)
    if not inner:
        return [evaluate(node.expression, turn) for turn in turns]
    return [_iterated(dataclasses.replace(node, indices=tuple(inner)), turn) for turn in turns]


def _matrix(node: s.Matrix, env: Environment) -> Any:
    return values.matrix([[evaluate(i, env) for i in row] for row in node.rows])


def _range(node: s.Range, env: Environment) -> Any:
    bounds = [
        env.session.numbers(evaluate(n, env), n.at) if n is not None else 1 for n in (node.start, node.step, node.stop)
    ]
    start, step, stop = bounds
    if isinstance(start, library.Enumeration) and isinstance(stop, library.Enumeration):
        return [library.Enumeration(str(start), k, start.type_name) for k in range(start.ordinal, stop.ordinal + 1)]
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
    branches, otherwise = list(node.branches), node.otherwise
    while isinstance(otherwise, s.Conditional):
        branches += otherwise.branches
        otherwise = otherwise.otherwise
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
        except _FAILURES as error:
            raise _failure(error, link) from error
    return value


def _applied(node: s.Operation, first: Any, env: Environment) -> Any:
    """Value of an operation whose first operand has this one."""
    sign, operands = node.operator, node.operands
    if sign in ("and", "or"):
        return _logical(sign, _checked(first, operands[0], env), operands[1], env)
    if sign == "not":
        return values.elementwise(_negation, _checked(first, operands[0], env))
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
    if sign in ("==", "<>") and _is_truth(a, env) and _is_truth(b, env):
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


# -- names


def _reference(node: s.Reference, env: Environment) -> Any:
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
            return library.Enumeration(found.node.name, literals.index(found.node.name) + 1, owner.name)
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
        return [subscripted(_element(value, i, first), tuple(rest), node, env) for i in index]
    return subscripted(_element(value, index, first), tuple(rest), node, env)


def _element(value: list[Any], index: Any, node: s.Node) -> Any:
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


# -- calls


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
        hint = suggestion(name, {*values.BUILTIN, *_SPECIAL}, "the docs")
        raise Wrong(f"no function {node.function} is known; {hint}")
    if isinstance(found, Closure):
        return found(node, env)
    known = values.LIBRARY.get(".".join(found.full[1:])) if found.full[0] == "Modelica" else None
    if known is not None:
        return _apply(known, name, node, env)
    if found.full == ("Modelica", "Utilities", "Files", "loadResource") and len(node.arguments) == 1:
        return env.session.classes.resource(evaluate(node.arguments[0], env), node.at)
    literals = enumeration(found, env)
    if literals is not None:
        index = whole(node.arguments[0], env)
        return _element(literals, index, node)
    if found.node is None or found.node.definition is None:
        raise Wrong(f"{found} is a function of the Modelica library that mbfmu does not have; write its formula")
    if found.node.definition.kind == "record":
        return env.session.record(found.node, _arguments(node, env), node, env)
    return call_function(found.node, *_arguments(node, env), env, node.at)


def _arguments(node: s.Call, env: Environment) -> tuple[list[Any], dict[str, Any]]:
    return [_argument(a, env) for a in node.arguments], {k: _argument(v, env) for k, v in node.named}


def _argument(node: s.Node, env: Environment) -> Any:
    if isinstance(node, s.Iteration):
        return _iterated(node, env)
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


@dataclasses.dataclass(frozen=True)
class Closure:
    """A function as a value, with some arguments given."""

    node: Node
    given: dict[str, Any]
    env: Environment

    def __call__(self, node: s.Call, env: Environment) -> Any:
        """Call it from Modelica."""
        positional, named = _arguments(node, env)
        return call_function(self.node, positional, {**self.given, **named}, env, node.at)


def call_function(node: Node, positional: list[Any], named: dict[str, Any], env: Environment, at: Place) -> Any:
    """Call a function of the user's files: its algorithm is run, on numbers and symbols alike."""
    session = env.session
    function = session.function_text(node, at)
    session.depth += 1
    try:
        if session.depth > 40:
            raise fault(
                at, f"{node.name}: calls go more than 40 deep; functions that call themselves end sooner or never"
            )
        names = [c.name for c, _ in function.inputs]
        if len(positional) > len(names):
            raise fault(at, f"{node.name}: takes {len(names)} arguments, got {len(positional)}")
        local = dict(zip(names, positional, strict=False))
        for name, value in named.items():
            if name not in names or name in local:
                raise fault(
                    at,
                    f"{node.name}: argument {name!r} is {'given twice' if name in local else 'unknown'}; "
                    f"it takes {', '.join(names)}",
                )
            local[name] = value
        inner = Environment(session, node, None, local, env.equations, env.is_smooth)
        for component, scope in function.inputs:
            if component.name not in local:
                if component.modification.value is None:
                    raise fault(at, f"{node.name}: needs a value for {component.name}")
                local[component.name] = evaluate(component.modification.value, dataclasses.replace(inner, scope=scope))
        for component, scope in function.others:
            here = dataclasses.replace(inner, scope=scope)
            if component.modification.value is not None:
                local[component.name] = evaluate(component.modification.value, here)
            else:
                local[component.name] = session.blank(component, here)
        for body, scope in function.bodies:
            _run(body, dataclasses.replace(inner, scope=scope))
        results = [local[name] for name in function.outputs]
        if len(results) == 1:
            return results[0]
        return tuple(results)
    finally:
        session.depth -= 1


class _Break(Exception):
    pass


class _Return(Exception):
    pass


def _run(body: tuple[s.Node, ...], env: Environment) -> None:
    with contextlib.suppress(_Return):
        _statements(body, env)


def _statements(body: tuple[s.Node, ...], env: Environment) -> None:
    for statement in body:
        _statement(statement, env)


def _statement(node: s.Node, env: Environment) -> None:
    env.session.tick(node.at)
    if isinstance(node, s.Equality):
        value = evaluate(node.right, env)
        if isinstance(node.left, s.Tuple):
            results = value if isinstance(value, tuple) else (value,)
            for target, result in itertools.zip_longest(node.left.items, results):
                if target is not None:
                    _assign(target, result, env)
            return
        _assign(node.left, value[0] if isinstance(value, tuple) else value, env)
    elif isinstance(node, s.If):
        _if_statement(node.branches, node.otherwise, env)
    elif isinstance(node, s.For):
        for turn in loop(node.indices, env, node.at):
            # Locals of the function stay those of the function; the loop's index is its own.
            mark = {name: env.locals.get(name) for name, _ in node.indices}
            for name, _ in node.indices:
                env.locals[name] = turn.locals[name]
            try:
                _statements(node.body, env)
            except _Break:
                break
            finally:
                for name, old in mark.items():
                    if old is None:
                        env.locals.pop(name, None)
                    else:
                        env.locals[name] = old
    elif isinstance(node, s.While):
        while truth(node.condition, env):
            env.session.tick(node.at)
            try:
                _statements(node.body, env)
            except _Break:
                break
    elif isinstance(node, s.Jump):
        raise _Break if node.word == "break" else _Return
    elif isinstance(node, s.CallEquation):
        if node.call.function.names != ("assert",):
            raise fault(node.at, f"{node.call.function}: is called for what it does; functions here only give values")
    else:
        raise fault(node.at, f"a {s.text(node)}-statement cannot be translated; write assignments, if, for or while")


def _if_statement(branches: Any, otherwise: Any, env: Environment) -> None:
    if not branches:
        _statements(otherwise, env)
        return
    (decides, body), *rest = branches
    value = condition(decides, env)
    if isinstance(value, bool):
        if value:
            _statements(body, env)
        else:
            _if_statement(rest, otherwise, env)
        return
    if not is_symbolic(value):
        raise fault(decides.at, f"{s.text(decides)}: is {values.describe(value)}; a condition is true or false")
    # Both branches are run, each on names of its own; what they leave is chosen between.
    before = dict(env.locals)
    outcomes = []
    runs: tuple[Callable[[], None], ...] = (
        lambda: _statements(body, env),
        lambda: _if_statement(rest, otherwise, env),
    )
    for run in runs:
        env.locals.clear()
        env.locals.update(before)
        try:
            run()
        except (_Break, _Return):
            raise fault(decides.at, "break and return cannot depend on what changes; compute a value instead") from None
        outcomes.append(dict(env.locals))
    then, other = outcomes
    for name in then:
        a, b = then[name], other.get(name)
        if a is not b:
            if a is None or b is None:
                raise fault(decides.at, f"{name}: is assigned in one branch only; give it a value before")
            env.locals[name] = choose(value, a, b)
        else:
            env.locals[name] = a


def _assign(target: s.Node, value: Any, env: Environment) -> None:
    if not isinstance(target, s.Reference) or target.names[0] not in env.locals:
        raise fault(target.at, f"{s.text(target)}: cannot be assigned; it is no variable of this function")
    (name, subscripts), *rest = target.parts
    env.locals[name] = _replaced(env.locals[name], subscripts, rest, value, target, env)


def _replaced(old: Any, subscripts: Any, rest: Any, value: Any, node: s.Node, env: Environment) -> Any:
    if not subscripts:
        if not rest:
            return value
        (name, inner), *others = rest
        if not isinstance(old, dict):
            raise fault(node.at, f"{s.text(node)}: is no record")
        return {**old, name: _replaced(old.get(name), inner, others, value, node, env)}
    if not isinstance(old, list):
        raise fault(node.at, f"{s.text(node)}: is no array")
    first, *others = subscripts
    if isinstance(first, s.Colon):
        indices: Any = list(range(1, len(old) + 1))
    else:
        indices = env.session.numbers(evaluate(first, dataclasses.replace(env, end=len(old))), first.at)
    if not isinstance(indices, list):
        current = _element(old, indices, first)
        index = indices.ordinal if isinstance(indices, library.Enumeration) else int(indices)
        return [*old[: index - 1], _replaced(current, others, rest, value, node, env), *old[index:]]
    if not isinstance(value, list) or len(value) != len(indices):
        raise fault(node.at, f"{s.text(node)}: the sizes of both sides differ")
    result = list(old)
    for index, part in zip(indices, value, strict=True):
        result[int(index) - 1] = _replaced(_element(old, index, first), others, rest, part, node, env)
    return result


# -- calls that need more than values


def _size(node: s.Call, env: Environment) -> Any:
    value = (
        resolve(node.arguments[0], env)
        if isinstance(node.arguments[0], s.Reference)
        else evaluate(node.arguments[0], env)
    )
    if not isinstance(value, list) and not values.is_number(value) and not isinstance(value, str | bool):
        value = env.session.elements_of(value, node, env)
    dimensions = _dimensions(value)
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
        items = _iterated(node.arguments[0], env)
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

_METHODS: dict[type[s.Node], Callable[..., Any]] = {
    s.Literal: _literal,
    s.Array: _array,
    s.Matrix: _matrix,
    s.Range: _range,
    s.Tuple: _tuple,
    s.EndIndex: _end,
    s.Conditional: _conditional,
    s.Operation: _operation,
    s.Reference: _reference,
    s.Call: _call,
}

__all__ = ["Closure", "Environment", "ModelError", "call_function", "evaluate", "loop", "resolve", "truth", "whole"]
