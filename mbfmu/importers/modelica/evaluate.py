"""Expressions -> values: where an expression stands, its value, and values that decide: conditions, sizes, loops.

How each kind of expression is evaluated stands in `operators`, `names` and `calls`, the last of which lists them all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import library, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.classes import Found
from mbfmu.importers.modelica.making import Equations, Model, Session
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.values import Wrong, is_symbolic
from mbfmu.modeling.truths import is_truth

#: What evaluates a kind of expression.
Method = Callable[[Any, "Environment"], Any]


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
    #: True in a branch of a function's algorithm that is run beside others, of which one is chosen later.
    is_conditional: bool = False
    end: int | None = None
    #: Types of local names whose values do not tell them: of functions' variables (types_of.py).
    types: Mapping[str, str | None] = dataclasses.field(default_factory=dict)

    def with_locals(self, **names: Any) -> Environment:
        """The same place with further local names."""
        return dataclasses.replace(self, locals={**self.locals, **names})


def evaluate(node: s.Node, env: Environment) -> Any:
    """Value of an expression.

    Raises:
        ModelError: an unknown name, an operation that the values do not allow; with file and line.
    """
    env.session.tick(node.at)
    method: Method | None = env.session.methods.get(type(node))
    if method is None:
        raise fault(node.at, f"`{s.text(node)}` is no expression that can stand here")
    try:
        return method(node, env)
    except FAILURES as error:
        raise failure(error, node) from error


#: What values that do not fit make of an operation.
FAILURES = (
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


def failure(error: Exception, node: s.Node) -> ModelError:
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
    return checked(evaluate(node, env), node, env)


def checked(value: Any, node: s.Node, env: Environment) -> Any:
    """The value of a condition, which is no number."""
    for element in values.flat(value):
        if is_symbolic(element) and not is_true_or_false(element, env):
            raise fault(node.at, f"{s.text(node)}: is a number; a condition is true or false, such as x > 0")
    return value


def is_true_or_false(value: Any, env: Environment) -> bool:
    """Is a value a condition: a Boolean, a comparison, or what logic makes of them?"""
    return is_truth(value, lambda symbol: _is_boolean(symbol, env))


def _is_boolean(symbol: ca.SX, env: Environment) -> bool:
    """False for parameters, whose Booleans are no symbols, and for what the model declares otherwise."""
    if env.session.is_parameter(symbol):
        return False
    return env.equations is None or env.equations.is_boolean(symbol)


def is_warning(assertion: s.Call) -> bool:
    """True for `assert(..., AssertionLevel.warning)`, which stops nothing."""
    levels = [*assertion.arguments[2:], *(value for name, value in assertion.named if name == "level")]
    return any(isinstance(level, s.Reference) and level.names[-2:] == ("AssertionLevel", "warning") for level in levels)


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


def dimension(node: s.Node, env: Environment) -> int:
    """A dimension in a declaration: a whole number, or a type for as many elements as it has values."""
    if isinstance(node, s.Reference) and not (env.model is not None and env.model.has(node.names[0])):
        if node.names == ("Boolean",):
            return 2
        type_ = env.session.classes.find(node.names, env.scope, node.absolute)
        literals = enumeration(type_, env) if type_ is not None else None
        if literals is not None:
            return len(literals)
    return whole(node, env)


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
        return [*library.Enumeration.all_of(found.node.definition.literals, found.node.name)]
    scalar = library.scalar_type(found.full)
    if scalar is not None and scalar.type.values:
        return [*library.Enumeration.all_of(scalar.type.values, scalar.type.name)]
    return None


__all__ = ["Environment", "ModelError", "condition", "dimension", "enumeration", "evaluate", "loop", "truth", "whole"]
