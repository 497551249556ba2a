"""Parameters, variables and connectors of a model as declarations of its component class."""

from __future__ import annotations

import dataclasses
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.arrays import element_name
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.branches import all_equations
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import bound, inner, value_in
from mbfmu.importers.modelica.types_of import of_type
from mbfmu.importers.modelica.values import casadi, is_symbolic
from mbfmu.modeling import Start, State, Variable
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import INPUTS, Port, Signal, SignalInput, SignalOutput
from mbfmu.modeling.declarations import Declaration, Parameter


def parameters_of(model: Model) -> dict[str, Declaration]:
    """Declarations of a model's parameters."""
    return {n: d for n in model.of_kind("parameter") if (d := _parameter(model, n)) is not None}


def _parameter(model: Model, name: str) -> Parameter | None:
    """The parameter's declaration; None for what mbfmu has no parameters for, such as arrays of texts."""
    component, kind = model.declared(name).component, model.kind(name)
    assert kind.scalar is not None
    if component.condition is not None:
        return None
    type_ = _type(model, name)
    nodes = (*component.dimensions, *kind.dimensions)
    rank = len(nodes) + len(kind.scalar.dimensions)
    if (type_.base in ("Boolean", "String") and rank) or (type_.base == "Integer" and rank > 1) or rank > 2:
        return None
    shape: Any = None
    if all(isinstance(d, s.Literal) and isinstance(d.value, int) for d in nodes):
        shape = (*(d.value for d in nodes if isinstance(d, s.Literal)), *kind.scalar.dimensions)
    structural = (model.path, name) in model.session.structural
    final = component.protected or "final" in component.prefixes

    def binding(component_: Any) -> Any:
        value = model.binding(name)
        if isinstance(value, Start):
            return value
        if structural or type_.base != "Real" or type_.name == "Axis":
            value = model.session.numbers(value, component.at)
        return casadi(value) if not isinstance(value, str) else str(value)

    found = bound(model.layers(name))
    default: Any = binding
    if model.attribute(name, "fixed") is False or (found is not None and _is_plain(found[0]) and not found[1].indices):
        default = binding(None)  # a number of its own, or open: a parameter that can be set
        default = np.asarray(default) if isinstance(default, list) else default
    if final and not callable(default):
        number = default
        default = lambda component_: number  # noqa: E731
    return Parameter(
        type_,
        default,
        component.doc or name,
        shape=shape,
        structural=structural,
        final=final,
        min=_bound(model, name, "min"),
        max=_bound(model, name, "max"),
    )


def _bound(model: Model, name: str, attribute: str) -> float | None:
    found = bound(inner(model.layers(name), attribute))
    if found is None:
        return None
    around = found[1].env.model
    if around is not None and any(
        isinstance(n, s.Reference) and around.has(n.names[0]) and around.kind(n.names[0]).kind != "constant"
        for n in found[0].walk()
    ):
        warnings.warn(
            f"{found[0].at}: {attribute} = {s.text(found[0])} of {name} is not checked, as it is no constant",
            stacklevel=2,
        )
        return None
    value = value_in(found[1], found[0])
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _type(model: Model, name: str) -> t.Type:
    """The component's type with the units that modifiers give it."""
    scalar = model.kind(name).scalar
    assert scalar is not None
    type_ = scalar.type
    if type_.base != "Real":
        return type_
    given = {}
    for attribute, field in (("unit", "unit"), ("displayUnit", "display_unit"), ("quantity", "quantity")):
        found = bound(inner(model.layers(name), attribute))
        if found is not None:
            value = value_in(dataclasses.replace(found[1], indices=()), found[0])
            value = values.flat(value)[0] if isinstance(value, list) and value else value
            if isinstance(value, str):
                given[field] = value or None
    if "unit" in given and given["unit"] != type_.unit and "display_unit" not in given:
        given["display_unit"] = None
    return dataclasses.replace(type_, **given) if given else type_


def states_of(model: Model) -> set[str]:
    """Own variables that differential equations determine."""
    variables = set(model.of_kind("variable"))
    equations = [e for e, _ in all_equations(model.content.equations) if isinstance(e, s.Equality)]
    equations += [
        s.Equality(found[0].at, s.Reference(found[0].at, ((n, ()),)), found[0])
        for n in variables
        if (found := bound(model.layers(n))) is not None
    ]
    states = {
        call.arguments[0].names[0]
        for e in equations
        for call in e.walk()
        if isinstance(call, s.Call)
        and call.function.names == ("der",)
        and len(call.arguments) == 1
        and isinstance(call.arguments[0], s.Reference)
        and len(call.arguments[0].names) == 1
    } & variables
    own = variables | {n for n in model.of_kind("connector") if issubclass(model.kind(n).port or Port, SignalOutput)}
    # `x = y` of two variables of the model: which of them it gives, the other equations tell.
    pairs: list[s.Equality] = []
    others: list[s.Equality] = []
    for e in equations:
        names = {_named(e.left), _named(e.right)} & own
        (pairs if len(names) == 2 else others).append(e)
    states = _integrated(others, states)
    while True:
        doubtful = {n: None for e in pairs for n in (_named(e.left), _named(e.right)) if n in states}
        given = _given(equations, own, states) if doubtful else 0
        for name in doubtful:
            fewer = _integrated(others, states - {name})
            if _given(equations, own, fewer) > given:
                states = fewer
                break
        else:
            return states


def _integrated(equations: list[s.Equality], states: set[str]) -> set[str]:
    """Those of the states that no equation gives."""
    while True:
        left = set(states)
        for e in equations:
            sides = [(e.left, e.right)] + ([(e.right, e.left)] if isinstance(e.left, s.Reference) else [])
            for side, other in sides:
                if not _rates(other) & states:  # else it is the differential equation of another state
                    left.discard(_named(side))
        if left == states:
            return states
        states = left


def _named(side: s.Node) -> str:
    """The variable that a side of an equation is, or an element of it; '' for an expression."""
    return side.names[0] if isinstance(side, s.Reference) and len(side.names) == 1 else ""


def _rates(node: s.Node) -> set[str]:
    """Names of what `der` is taken of."""
    return {
        n.arguments[0].names[0]
        for n in node.walk()
        if isinstance(n, s.Call)
        and n.function.names == ("der",)
        and n.arguments
        and isinstance(n.arguments[0], s.Reference)
    }


def _given(equations: list[s.Equality], own: set[str], states: set[str]) -> int:
    """How many of a model's variables, of its states the rates, equations can be found for, one for each."""
    places: dict[str, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    for row, e in enumerate(equations):
        read = {r.names[0] for r in e.walk() if isinstance(r, s.Reference) and len(r.names) == 1 and r.names[0] in own}
        rates = _rates(e) & own
        plain = {_named(e.left), _named(e.right)}
        wanted = (read - states - (rates - plain)) | {f"der({n})" for n in rates & states}
        columns += [places.setdefault(name, len(places)) for name in wanted]
        rows += [row] * len(wanted)
    return int(ca.sprank(ca.Sparsity.triplet(len(equations), len(places), rows, columns)))


def variable_of(model: Model, name: str, is_state: bool) -> Variable:
    """Declaration of a variable."""
    component = model.declared(name).component

    def start(instance: Any) -> Any:
        value = model.attribute(name, "start")
        if value is None:
            return 0.0 if is_state else None
        if isinstance(value, str):
            raise s.fault(component.at, f"{name}: its start value {value!r:.60} is text; give a number")
        _check_start(model, name, value)
        sizes = model.sizes(name)
        if sizes and not isinstance(value, list):
            value = values.fill(value, *sizes)
        columns = [float(v) if isinstance(v, bool) else v for v in values.by_columns(value)]
        return casadi(columns) if sizes else casadi(value)

    def fixed(instance: Any) -> Any:
        value = model.attribute(name, "fixed")
        for given in values.flat(value) if isinstance(value, list) else [value]:
            if not isinstance(given, bool | None):
                raise s.fault(
                    component.at, f"{name}: fixed = {values.describe(given)} is neither true nor false; give one"
                )
        return bool(value) if not isinstance(value, list) else [bool(v) for v in values.by_columns(value)]

    type_ = _type(model, name)
    if type_.base != "Real" and (is_state or type_.base not in INPUTS):  # an enumeration is its number
        type_ = t.Real
    cls = State if is_state else Variable
    return cls(
        type_,
        component.doc or name,
        shape=lambda instance: model.sizes(name),
        start=start,
        fixed=fixed,
        when=None if component.condition is None else lambda instance: model.exists(name),
    )


def _check_start(model: Model, name: str, value: Any) -> None:
    """Refuse a start value that the type of a variable does not have."""
    wanted, at = of_type(_type(model, name)), model.declared(name).component.at
    for given in values.flat(value):
        is_whole = is_symbolic(given) or (not isinstance(given, bool) and float(given).is_integer())
        if wanted == "Boolean" and not isinstance(given, bool):
            raise s.fault(at, f"{name}: its start value {given!s:.60} is neither true nor false; give one")
        if wanted == "Integer" and not is_whole:
            raise s.fault(at, f"{name}: its start value {given!s:.60} is no whole number; give one")
        if wanted == "Real" and isinstance(given, bool):
            raise s.fault(at, f"{name}: its start value {str(given).lower()} is no number; give one")


def is_array_of_ports(model: Model, name: str) -> bool:
    """True for an array of connectors other than signals: its elements are connectors of their own."""
    component, kind = model.declared(name).component, model.kind(name)
    assert kind.port is not None
    return bool(component.dimensions or kind.dimensions) and not issubclass(kind.port, Signal)


def port_of(model: Model, name: str) -> Port:
    """Declaration of a connector."""
    component, kind = model.declared(name).component, model.kind(name)
    assert kind.port is not None
    when: Callable[[Any], bool] | None = None
    if component.condition is not None:
        when = lambda instance: model.exists(name)  # noqa: E731
    if issubclass(kind.port, Signal):
        type_ = _type(model, name) if kind.scalar is not None else _port_type(model, name)
        if type_.base not in kind.port.bases:  # an enumeration; or a library's connector without a unit
            type_ = kind.port.default_type
        least, greatest = _bound(model, name, "min"), _bound(model, name, "max")
        type_ = dataclasses.replace(
            type_, min=type_.min if least is None else least, max=type_.max if greatest is None else greatest
        )
        given = {"start": lambda instance: _input_start(model, name)} if issubclass(kind.port, SignalInput) else {}
        return kind.port(component.doc or name, type=type_, shape=lambda _: model.sizes(name), when=when, **given)
    return kind.port(component.doc, when=when)


def _input_start(model: Model, name: str) -> Any:
    """What an input of the whole model is until it is set: its start value, as parameters are now."""
    value = model.attribute(name, "start")
    if value is None:
        return 0.0
    value = model.session.numbers(value, model.declared(name).component.at, mark=False)
    return [float(v) for v in values.by_columns(value)] if isinstance(value, list) else value


def _port_type(model: Model, name: str) -> t.Type:
    found = bound(inner(model.layers(name), "unit"))
    unit = value_in(found[1], found[0]) if found is not None else None
    return dataclasses.replace(t.Real, unit=unit) if isinstance(unit, str) and unit else t.Real


def _is_plain(node: s.Node) -> bool:
    """True for numbers and texts as they are, in arrays too: what a user would want to change in the FMU."""
    if isinstance(node, s.Literal):
        return True
    if isinstance(node, s.Operation) and node.operator in ("-", "+") and len(node.operands) == 1:
        return _is_plain(node.operands[0])
    if isinstance(node, s.Array):
        return all(map(_is_plain, node.items))
    return isinstance(node, s.Matrix) and all(_is_plain(i) for row in node.rows for i in row)


def add_arrays(model: Model, arrays: list[str]) -> None:
    """Give the component the elements of arrays of connectors."""
    for name in arrays:
        for k in itertools.product(*(range(1, n + 1) for n in model.sizes(name))):
            setattr(model.component, element_name(name, k), port_of(model, name))
