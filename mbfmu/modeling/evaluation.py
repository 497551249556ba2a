"""Values of parameters as numbers, with whatever they depend on, and components as text and tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import MbfmuError, ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling.declarations import Declaration, Parameter, Start, Variable, is_expression

#: mbfmu.modeling.component imports this module.
Component = Any


def evaluated(component: Component, name: str) -> Any:
    """A parameter's value as number(s), text or truth value; a Start where it is to be found by initialisation.

    Raises:
        ModelError: it has no value, or depends on what has none.
    """
    value = component.value(name)
    if isinstance(value, Orientation):
        return np.asarray(_number(component, ca.SX(value.T)))
    return _number(component, value) if is_expression(value) else value


def _number(component: Component, value: Any) -> Any:
    expression = ca.SX(value)
    numbers, free = [], ca.symvar(expression)
    for symbol in free:
        owner, name, place = _owner(component, symbol)
        found = evaluated(owner, name)
        if isinstance(found, Start):
            raise ModelError(f"{component.title}: depends on {owner.where}.{name}, which initialisation finds")
        numbers.append(float(np.ravel(found, order="F")[place]))
    result = np.array(ca.Function("value", free, [expression])(*numbers))
    return float(result[0, 0]) if result.size == 1 else result[:, 0] if result.shape[1] == 1 else result


def _owner(component: Component, symbol: ca.SX) -> tuple[Component, str, int]:
    """Whose parameter a symbol is, its name, and which of its elements, column by column.

    Most are of the component itself or of what it is in, so that all the others are looked through last.
    """
    wanted, called = symbol.element_hash(), symbol.name()
    above = [component]
    while above[-1].part_of is not None:
        above.append(above[-1].part_of)
    for part in itertools.chain(above, above[-1].walk()):
        for name, found in part._symbols.items():
            if called.startswith(name):
                for i, scalar in enumerate(ca.vertsplit(ca.vec(found))):
                    if scalar.element_hash() == wanted:
                        return part, name, i
    raise ModelError(f"{component.title}: depends on {symbol}, which is no parameter of it or of what it is in")


def text_of(value: Any) -> str:
    """A value in few digits."""
    if isinstance(value, Start):
        shown = "" if value.value is None else text_of(value.value)
        return f"{shown} (fixed)" if value.fixed is True else f"{shown} (guess)" if value.fixed is False else shown
    if isinstance(value, str | bool | np.bool_):
        return str(value)
    if isinstance(value, np.ndarray | list | tuple):
        return f"({', '.join(map(text_of, value))})"
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError, RuntimeError):
        return "..."


def _safely(component: Component, name: str) -> str:
    """The value as text, "..." where there is none: what shows a component must not fail."""
    try:
        return text_of(evaluated(component, name))
    except (MbfmuError, RecursionError):
        return "..."


def given(component: Component) -> Iterator[str]:
    """What a component was given, as `m = 2 kg`."""
    for name, value in component._values.items():
        declaration = component.declarations.get(name)
        unit = getattr(getattr(declaration, "type", None), "unit", None)
        shown = text_of(value) if isinstance(declaration, Variable) else _safely(component, name)
        yield f"{name} = {shown}{f' {unit}' if unit and unit != '1' else ''}"


def rows(component: Component) -> Iterator[tuple[str, str, str, str]]:
    """Name, value, unit and sentence of parameters, but for those of animation, and start values of variables."""
    for name, parameter in component.parameters().items():
        if not parameter.animation:
            yield name, _safely(component, name), parameter.type.unit or "", parameter.doc
    for name, variable in component.variables().items():
        try:
            value, fixed, _ = component.start(name)
            start = "" if value is None else text_of(Start(value, fixed if isinstance(fixed, bool) else None))
        except (MbfmuError, RecursionError):
            start = "..."
        yield name, start, variable.type.unit or "", variable.doc


def sentence_of(declaration: Declaration) -> str:
    """What `help` says of a declaration: its sentence, unit and default."""
    kind = getattr(declaration, "type", None)
    facts = [kind.unit] if kind is not None and kind.unit and kind.unit != "1" else []
    value = declaration.default if isinstance(declaration, Parameter) else getattr(declaration, "start", None)
    if value is not None and not callable(value):
        facts.append(f"default {text_of(value)}" if isinstance(declaration, Parameter) else f"start {text_of(value)}")
    more = f" ({', '.join(facts)})" if facts else ""
    return f"{declaration.doc or declaration.name}{more}"
