"""What a model's equations say: statements to be solved, and assertions."""

from __future__ import annotations

import dataclasses
import functools

from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.evaluate import Environment
from mbfmu.importers.modelica.making import Equations, Model
from mbfmu.importers.modelica.modifiers import Layer
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.types_of import check_equal, check_given, of_type
from mbfmu.modeling.connectors import SignalOutput


@dataclasses.dataclass(frozen=True)
class Statement:
    """An equation that is to be solved: left = right. What a modifier gives, on the right, may stand elsewhere."""

    left: s.Node
    right: s.Node
    env: Environment
    layer: Layer | None = None
    given_in: Environment | None = None

    def env_of(self, side: s.Node) -> Environment:
        """The place of one side."""
        return self.given_in if self.given_in is not None and side is self.right else self.env

    @property
    def text(self) -> str:
        """The equation as it was written."""
        return f"{s.text(self.left)} = {s.text(self.right)}"


def statements_of(model: Model, equations: Equations) -> tuple[list[Statement], list[tuple[s.Call, Environment]]]:
    """The equations to solve and the assertions of a model, with its variables' bindings."""
    result: list[Statement] = []
    assertions: list[tuple[s.Call, Environment]] = []
    for name in (*model.of_kind("variable"), *model.of_kind("connector")):
        if not model.exists(name):
            continue
        for layer in model.layers(name):
            if layer.modification.value is None:
                continue
            kind = model.kind(name)
            value, env = layer.modification.value, dataclasses.replace(layer.env, equations=equations)
            is_output = kind.port is not None and issubclass(kind.port, SignalOutput)
            foreign = env.model is not model and any(isinstance(n, s.Reference) for n in value.walk())
            if kind.kind != "connector" or (is_output and not foreign):
                if kind.scalar is not None:
                    check_given(name, of_type(kind.scalar.type), value, layer.env)
                own = dataclasses.replace(model.env(model.declared(name).scope), equations=equations)
                result.append(Statement(s.Reference(value.at, ((name, ()),)), value, own, layer, env))
            break
    for equation, env in model.active(model.content.equations):
        env = dataclasses.replace(env, equations=equations)
        if isinstance(equation, s.CallEquation):
            assertions.append((equation.call, env))
        else:
            result += _of(equation, env, model)
            assertions += [(call, env) for call in _assertions(equation)]
    return result, assertions


def _of(equation: s.Node, env: Environment, model: Model) -> list[Statement]:
    if isinstance(equation, s.Equality):
        if any(node in (equation.left, equation.right) for _, node, _, layer in model.given if layer is None):
            return []
        if isinstance(equation.left, s.Tuple):
            raise fault(
                equation.at,
                "functions with several outputs are not translated in equations; write a function for each",
            )
        check_equal(equation.left, equation.right, env)
        return [Statement(equation.left, equation.right, env)]
    if isinstance(equation, s.If):
        return _merged(equation, env)
    if isinstance(equation, s.Connect) and not model.is_composite:
        ports = model.component.ports()
        gives_a = isinstance(ports.get(equation.a.names[0]), SignalOutput)
        left, right = (equation.a, equation.b) if gives_a else (equation.b, equation.a)
        return [Statement(left, right, env)]
    if isinstance(equation, s.When):
        raise fault(
            equation.at,
            "when-equations are not translated; use a block of Modelica.Blocks for what they decide, or "
            "an if-expression where the value follows from the present ones",
        )
    return []


def _assertions(equation: s.Node) -> list[s.Call]:
    """The calls in the branches of an if-equation whose conditions change: assertions hold where theirs is taken."""
    if not isinstance(equation, s.If):
        return []
    found: list[s.Call] = []
    others: list[s.Node] = []
    for decides, body in (*equation.branches, (None, equation.otherwise)):
        at = equation.at
        skipped = [*others, *([s.Operation(at, "not", (decides,))] if decides is not None else [])]
        for call in (e.call for e in body if isinstance(e, s.CallEquation)):
            if call.function.names == ("assert",) and call.arguments:
                holds = functools.reduce(lambda a, b: s.Operation(at, "or", (a, b)), [*skipped, call.arguments[0]])
                call = dataclasses.replace(call, arguments=(holds, *call.arguments[1:]))
            found.append(call)
        if decides is not None:
            others.append(decides)
    return found


def _merged(equation: s.If, env: Environment) -> list[Statement]:
    """An if-equation whose conditions change: equation by equation, both sides are chosen."""
    bodies = [body for _, body in equation.branches] + [equation.otherwise]
    simple = [[e for e in body if not (isinstance(e, s.CallEquation))] for body in bodies]
    if len({len(body) for body in simple}) != 1 or not all(isinstance(e, s.Equality) for body in simple for e in body):
        raise fault(
            equation.at,
            "the branches of this if-equation must have equally many equations `x = ...`, an else-branch, "
            "too; their condition changes while the model runs",
        )
    result = []
    names = [s.text(e.left) for e in simple[0] if isinstance(e, s.Equality)]
    sorted_bodies = []
    for body in simple:
        by_name = {s.text(e.left): e for e in body if isinstance(e, s.Equality)}
        if set(by_name) != set(names):
            raise fault(
                equation.at,
                "the branches of this if-equation determine different variables; its condition changes "
                "while the model runs, so write each variable on the left of one equation per branch",
            )
        sorted_bodies.append([by_name[n] for n in names])
    for row in zip(*sorted_bodies, strict=True):
        branches = tuple((c, e.right) for (c, _), e in zip(equation.branches, row, strict=False))
        choice = s.Conditional(row[0].at, branches, row[-1].right)
        check_equal(row[0].left, choice, env)
        result.append(Statement(row[0].left, choice, env))
    return result
