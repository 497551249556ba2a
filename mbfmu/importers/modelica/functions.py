"""Functions of a user's files: their algorithms are run, on numbers and symbols alike."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

from mbfmu.importers.modelica import library, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.evaluate import Environment, condition, evaluate, is_warning, loop, truth
from mbfmu.importers.modelica.names import element_of
from mbfmu.importers.modelica.operators import choose
from mbfmu.importers.modelica.packages import Node
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.values import is_symbolic


@dataclasses.dataclass(frozen=True)
class Closure:
    """A function as a value, with some arguments given."""

    node: Node
    given: dict[str, Any]
    env: Environment


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
        longer = _longer(node, function.inputs, local, env, at)
        if longer:  # of arrays of arguments it gives the array of values (specification, section 12.4.6)
            turns = range(len(local[longer[0]]))
            each = [{n: v[k] if n in longer else v for n, v in local.items()} for k in turns]
            found = [call_function(node, [], given, env, at) for given in each]
            return tuple(map(list, zip(*found, strict=True))) if len(function.outputs) > 1 else found
        inner = Environment(session, node, None, local, env.equations, env.is_smooth, env.is_conditional)
        for component, scope in function.inputs:
            if component.name not in local:
                if component.modification.value is None:
                    raise fault(at, f"{node.name}: needs a value for {component.name}")
                local[component.name] = evaluate(component.modification.value, dataclasses.replace(inner, scope=scope))
        for component, scope in function.inputs:
            _check_size(component, session.sizes_in(component, dataclasses.replace(inner, scope=scope)), local, at)
        declared = []
        for component, scope in function.others:
            here = dataclasses.replace(inner, scope=scope)
            if component.modification.value is not None:
                local[component.name] = evaluate(component.modification.value, here)
            else:
                local[component.name] = session.blank(component, here)
            declared.append((component, session.sizes_in(component, here)))
        for body, scope in function.bodies:
            _run(body, dataclasses.replace(inner, scope=scope))
        for component, sizes in declared:
            _check_size(component, sizes, local, component.at)
        results = [local[name] for name in function.outputs]
        if len(results) == 1:
            return results[0]
        return tuple(results)
    finally:
        session.depth -= 1


def _longer(
    node: Node, inputs: list[tuple[s.Component, Node]], given: dict[str, Any], env: Environment, at: Place
) -> list[str]:
    """Names of the arguments that are arrays of what the function takes; all are of one size."""
    ranks = {c.name: env.session.rank(c, scope) for c, scope in inputs if c.name in given}
    longer = [name for name, rank in ranks.items() if rank is not None and len(values.shape(given[name])) > rank]
    sizes = {len(given[name]) for name in longer}
    if len(sizes) > 1:
        raise fault(at, f"{node.name}: {', '.join(longer)} have different sizes; give arrays of one size")
    return longer


def _check_size(component: s.Component, sizes: list[int | None] | None, local: dict[str, Any], at: Place) -> None:
    """Refuse a value of another size than a variable of a function is declared with; `:` takes any."""
    if sizes is None:
        return
    value = local[component.name]
    shape = values.shape(value)
    if len(shape) != len(sizes) or any(n is not None and n != m for n, m in zip(sizes, shape, strict=True)):
        said = (
            f"an array of size {' x '.join(':' if n is None else str(n) for n in sizes)}" if sizes else "a single value"
        )
        raise fault(at, f"{component.name} = {values.describe(value)}: expected {said}")


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
            if len(node.left.items) > len(results):
                raise fault(
                    node.at,
                    f"{s.text(node)}: {len(node.left.items)} variables on the left, but the function has "
                    f"{len(results)} outputs; remove the last",
                )
            for target, result in zip(node.left.items, results, strict=False):
                if target is not None:
                    _assign(target, result, env)
            return
        _assign(node.left, value[0] if isinstance(value, tuple) else value, env)
    elif isinstance(node, s.If):
        _if_statement(node.branches, node.otherwise, env)
    elif isinstance(node, s.For) and len(node.indices) > 1:  # `break` ends the innermost loop
        inner = dataclasses.replace(node, indices=node.indices[1:])
        _statement(dataclasses.replace(node, indices=node.indices[:1], body=(inner,)), env)
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
        _assert(node.call, env)
    else:
        raise fault(node.at, f"a {s.text(node)}-statement cannot be translated; write assignments, if, for or while")


def _assert(call: s.Call, env: Environment) -> None:
    """Refuse values that violate an assertion; where these change, or the branch may not be taken, nothing is known."""
    here = dataclasses.replace(env, equations=None)
    if env.is_conditional or not call.arguments or condition(call.arguments[0], here) is not False:
        return
    said = evaluate(call.arguments[1], here) if len(call.arguments) > 1 else "the condition of an assert is violated"
    violated = fault(call.at, str(said))
    if not is_warning(call):
        raise violated
    warnings.warn(str(violated), stacklevel=2)


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
    either = dataclasses.replace(env, is_conditional=True)
    before = dict(env.locals)
    outcomes = []
    runs: tuple[Callable[[], None], ...] = (
        lambda: _statements(body, either),
        lambda: _if_statement(rest, otherwise, either),
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
        current = element_of(old, indices, first)
        index = indices.ordinal if isinstance(indices, library.Enumeration) else int(indices)
        return [*old[: index - 1], _replaced(current, others, rest, value, node, env), *old[index:]]
    if not isinstance(value, list) or len(value) != len(indices):
        raise fault(node.at, f"{s.text(node)}: the sizes of both sides differ")
    result = list(old)
    for index, part in zip(indices, value, strict=True):
        result[int(index) - 1] = _replaced(element_of(old, index, first), others, rest, part, node, env)
    return result
