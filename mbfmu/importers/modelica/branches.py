"""Equations that hold: loops are unrolled, and of branches with fixed conditions that one is taken that holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.evaluate import NESTED, Environment, loop, truth
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.packages import Node
from mbfmu.modeling import Component, Variable
from mbfmu.modeling.connectors import Port


def active(model: Model, equations: list[tuple[s.Node, Node]]) -> Iterator[tuple[s.Node, Environment]]:
    """Equations with loops unrolled, and of if-equations with fixed conditions the branch that holds."""
    for equation, scope in equations:
        try:
            yield from _unrolled(model, equation, model.env(scope))
        except RecursionError:  # told here, where the stack has room for the message
            raise s.fault(equation.at, f"what stands here {NESTED}") from None


def _unrolled(model: Model, equation: s.Node, env: Environment) -> Iterator[tuple[s.Node, Environment]]:
    if isinstance(equation, s.For):
        for turn in loop(equation.indices, env, equation.at):
            for inner_ in equation.body:
                yield from _unrolled(model, inner_, turn)
    elif isinstance(equation, s.If):
        if not _is_fixed(model, equation, env):
            yield equation, env
            return
        body = next((b for condition, b in equation.branches if truth(condition, env)), equation.otherwise)
        for inner_ in body:
            yield from _unrolled(model, inner_, env)
    else:
        yield equation, env


def _is_fixed(model: Model, equation: s.If, env: Environment) -> bool:
    """True where the conditions are parameters, False where they change; connections need the former."""
    for condition, _ in equation.branches:
        for node in condition.walk():
            if not isinstance(node, s.Reference) or node.names[0] in env.locals:
                continue
            if node.names == ("time",):
                return False
            owner: Any = env.model
            for name in node.names:
                while isinstance(owner, list) and owner:  # of an array of components each has the same
                    owner = owner[0]
                if not isinstance(owner, Model) or name not in owner.content.components:
                    if isinstance(owner, Component):
                        declaration = owner.declarations.get(name)
                        if isinstance(declaration, Variable | Port):
                            return False
                    break
                kind = owner.kind(name).kind
                if kind in ("variable", "connector"):
                    return False
                owner = owner.members.get(name) if kind in ("library", "model", "record") else None
    return True


def all_equations(equations: list[tuple[s.Node, Node]]) -> Iterator[tuple[s.Node, Node]]:
    """All equations, those in loops and branches too."""
    for equation, scope in equations:
        if isinstance(equation, s.For):
            yield from all_equations([(e, scope) for e in equation.body])
        elif isinstance(equation, s.If):
            for _, body in equation.branches:
                yield from all_equations([(e, scope) for e in body])
            yield from all_equations([(e, scope) for e in equation.otherwise])
        else:
            yield equation, scope
