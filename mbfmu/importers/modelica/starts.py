"""Initial equations that give a part's variable its start value."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.evaluate import Environment, evaluate
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import located
from mbfmu.importers.modelica.names import resolve
from mbfmu.importers.modelica.syntax import fault
from mbfmu.importers.modelica.values import array, casadi
from mbfmu.modeling import Component, Start, Variable


def fix_starts(model: Model) -> None:
    """Initial equations that give a part's variable a value: its start value, fixed.

    Where another one fixes it already, be it a modifier or an equation, this one stays an equation beside it.
    """
    model.left_initial = []
    for equation, env in model.active(model.content.initial):
        if not _fix_start(model, equation, env):
            model.left_initial.append((equation, env))


def _fix_start(model: Model, equation: s.Node, env: Environment) -> bool:
    if not isinstance(equation, s.Equality):
        return False
    for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
        if not isinstance(side, s.Reference) or len(side.parts) < 2 or side.parts[-1][1]:
            continue
        if side.names[0] in env.locals or side.names[0] not in model.members:
            continue
        try:
            owner = resolve(dataclasses.replace(side, parts=side.parts[:-1]), env)
            value = casadi(evaluate(other, env))
        except ModelError:
            continue
        name = side.names[-1]
        if not (isinstance(owner, Component) and isinstance(owner.declarations.get(name), Variable)):
            continue
        if np.any(owner.is_fixed(name)):
            _refuse_other_start(model, owner, name, value, equation)
            return False
        with located(equation.at):
            owner.modify(**{name: Start(value, fixed=True)})
        return True
    return False


def _refuse_other_start(model: Model, owner: Component, name: str, value: Any, equation: s.Node) -> None:
    """Refuse a value for a variable that starts with another one; what is known at the start of a run only stays.

    Raises:
        ModelError: both are numbers, or parameters with these values, and differ.
    """
    session, (start, fixed, _) = model.session, owner.start(name)
    session.register(owner)
    try:
        wanted, present = (
            np.ravel(session.numbers(array(v), equation.at, mark=False)).astype(float)
            for v in (value, 0.0 if start is None else start)
        )
    except ModelError:
        return
    for i, (a, b, is_fixed) in enumerate(np.broadcast(wanted, present, np.ravel(fixed))):
        if is_fixed and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
            element = f"[{i + 1}]" if max(wanted.size, present.size) > 1 else ""
            raise fault(
                equation.at,
                f"`{s.text(equation)}`: {owner.where}.{name}{element} starts with {b:g} already, which is fixed; "
                "keep one of both, or let the start value be a guess (fixed=false)",
            )
