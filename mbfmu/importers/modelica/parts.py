"""Components of the library with the modifiers that a model gives them."""

from __future__ import annotations

import warnings
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import library, values
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica.functions import call_function
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import (
    Layers,
    bound,
    inner,
    located,
    names_in,
    place_in,
    redeclaration,
    refuse_attributes,
    value_in,
)
from mbfmu.importers.modelica.session import Session
from mbfmu.importers.modelica.signals import Plug
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.importers.modelica.types_of import check_given, of_type
from mbfmu.importers.modelica.values import array, casadi, is_symbolic
from mbfmu.messages import suggestion
from mbfmu.modeling import Component, Start, Variable
from mbfmu.modeling.connectors import Signal
from mbfmu.modeling.declarations import Parameter, required


def make_component(
    session: Session,
    cls: type[Component],
    layers: Layers,
    name: str,
    parent: Model,
    instance: Any = None,
    at: Place | None = None,
) -> Component:
    """A component of the library with its modifiers.

    Raises:
        ModelError: an unknown name or a value that the class refuses; with file and line of the modifier.
    """
    newer = getattr(cls, "other_names", {})
    modifiers: dict[str, Any] = {}
    nested: list[str] = []
    place = at or Place(session.classes.path, 1)
    for given in names_in(layers):
        own = inner(layers, given)
        where = place_in(layers, given, place)
        redeclared = redeclaration(layers, given)
        if redeclared is not None:
            modifiers |= _redeclared(session, cls, redeclared, name)
            continue
        declaration = cls.declarations.get(newer.get(given, given))
        if isinstance(declaration, Parameter):
            value = _parameter_modifier(session, declaration, own, where, instance is not None)
            if value is not None:
                modifiers[given] = value
        elif isinstance(declaration, Variable):
            start = _start_modifier(own, where, given)
            if start is not None:
                modifiers[given] = start
        elif isinstance(declaration, Signal):
            start = _start_modifier(own, where, given) if bound(own) is None else None  # else an equation gives it
            if start is not None:
                modifiers[given] = start
        elif declaration is not None:
            raise fault(where, f"{name}.{given}: is a connector; connect it")
        else:
            nested.append(given)
    with located(place, ((where, given) for given, where in _places(layers))):
        if instance is None:
            component = cls(**modifiers)
        else:
            component = instance
            component.__init__(**modifiers)
    for given in nested:
        part = component.parts.get(given)
        where = place_in(layers, given, place)
        if part is None:
            known = [k for k, d in cls.declarations.items() if isinstance(d, Parameter | Variable)]
            hint = suggestion(given, [*known, *component.parts], "mbfmu list")
            raise fault(where, f"{name}: {cls.__name__} has no {given!r}; {hint}")
        modify(session, part, inner(layers, given), where)
    signals = [n for n in names_in(layers) if isinstance(cls.declarations.get(n), Signal)]
    for given in signals:
        found = bound(inner(layers, given))
        if found is not None:
            parent.drives.append((Plug(component, cls.declarations[given]), found[0], found[1].env, found[1]))  # type: ignore[arg-type]
    return component


def modify(session: Session, part: Component, layers: Layers, at: Place) -> None:
    """Modify a part of a library's composite."""
    for given in names_in(layers):
        own = inner(layers, given)
        declaration = part.declarations.get(getattr(part, "other_names", {}).get(given, given))
        where = place_in(layers, given, at)
        value: Any = None
        redeclared = redeclaration(layers, given)
        if redeclared is not None:
            raise fault(
                redeclared[0].at,
                f"{part.title}: nothing in {type(part).__name__} can be redeclared as {given!r}; use a class that has "
                "what you need",
            )
        if isinstance(declaration, Parameter):
            value = _parameter_modifier(session, declaration, own, where, False)
        elif isinstance(declaration, Variable):
            value = _start_modifier(own, where, given)
        elif given in part.parts:
            modify(session, part.parts[given], own, where)
        elif isinstance(declaration, Signal) and bound(own) is None:
            value = _start_modifier(own, where, given)
        else:
            known = [k for k, d in part.declarations.items() if isinstance(d, Parameter | Variable)]
            hint = suggestion(given, [*known, *part.parts], "mbfmu list")
            raise fault(where, f"{part.title} has no {given!r}; {hint}")
        if value is not None:
            with located(where):
                part.modify(**{given: value})


def is_parameter(part: Component, name: str) -> bool:
    """True where a component has a parameter of this name, or of this newer one."""
    return isinstance(part.declarations.get(getattr(part, "other_names", {}).get(name, name)), Parameter)


def _places(layers: Layers) -> list[tuple[str, Place]]:
    return [(a.names[0], a.at) for layer in reversed(layers) for a in layer.modification.arguments]


def _parameter_modifier(session: Session, declaration: Parameter, own: Layers, at: Place, late: bool) -> Any:
    refuse_attributes(declaration.name, own, at)
    found = bound(own)
    if found is None:
        start, fixed = (bound(inner(own, n)) for n in ("start", "fixed"))
        if fixed is not None and value_in(fixed[1], fixed[0]) is False:
            return Start(casadi(value_in(start[1], start[0])) if start is not None else 0.0, fixed=False)
        if start is not None and declaration.default is required:
            return casadi(value_in(start[1], start[0]))
        return None
    node, layer = found
    check_given(declaration.name, of_type(declaration.type), node, layer.env, is_known=True)

    def value_of_modifier(component: Any = None) -> Any:
        value = value_in(layer, node)
        _refuse_beyond(declaration.name, value, own, node)
        if declaration.structural or declaration.animation:
            try:
                value = session.numbers(value, node.at, mark=not declaration.animation)
            except ModelError as error:
                if not declaration.animation or declaration.default is required:
                    raise
                warnings.warn(f"{error}; {declaration.name} is only shown, and left at its default", stacklevel=2)
                return None
            if declaration.type.base == "Boolean" and isinstance(value, float):
                value = value > 0.5
            return str(value) if isinstance(value, str) else value
        expected, shape = declaration.shape, values.shape(value)
        if any(is_symbolic(v) for v in values.flat(value)) and expected is not None and shape != expected:
            raise fault(
                node.at,
                f"{declaration.name} = {s.text(node)}: is {values.describe(value)}, expected "
                + (f"{expected[0]} numbers" if len(expected) == 1 else "a single number"),
            )
        return _kept(value, declaration.name, node.at)

    reads = any(isinstance(n, s.Reference) for n in node.walk())  # perhaps what is being made
    return value_of_modifier if late and reads and declaration.type.base == "Real" else value_of_modifier()


def _refuse_beyond(name: str, value: Any, own: Layers, node: s.Node) -> None:
    """Refuse a value beyond the bounds that modifiers give beside it, where all are numbers."""
    for attribute, sign in (("min", 1), ("max", -1)):
        given = bound(inner(own, attribute))
        limit = value_in(given[1], given[0]) if given is not None else None
        numbers = [v for v in values.flat(value) if isinstance(v, int | float)]
        if isinstance(limit, int | float) and any(sign * (v - limit) < 0 for v in numbers):
            raise fault(
                node.at, f"{name} = {s.text(node)}: must be {'>=' if sign > 0 else '<='} {limit:g}, as {attribute} says"
            )


def _start_modifier(own: Layers, at: Place, name: str) -> Start | None:
    if bound(own) is not None:
        raise fault(
            at,
            f"{name} = ...: a variable of a library component is computed by the component; give its start value, "
            "as in (start=..., fixed=true)",
        )
    start, fixed = (bound(inner(own, n)) for n in ("start", "fixed"))
    value = value_in(start[1], start[0]) if start is not None else None
    is_fixed = value_in(fixed[1], fixed[0]) if fixed is not None else None
    refuse_attributes(name, own, at)
    if bound(inner(own, "stateSelect")) is not None:
        warnings.warn(
            f"{at}: stateSelect of {name} is left out; the component's parameter stateSelect decides", stacklevel=2
        )
    if value is None and is_fixed is None:
        return None
    if is_fixed is not None and not all(isinstance(f, bool) for f in values.flat(is_fixed)):
        raise fault(at, f"{name}(fixed=...): is true or false")
    return Start(_kept(value, name, at) if value is not None else None, is_fixed)


def _kept(value: Any, name: str, at: Place) -> Any:
    """A value as components keep it."""
    try:
        return casadi(value)
    except values.Wrong as error:
        raise fault(at, f"{name} = {values.describe(value)}: {error}; give a vector or a matrix") from None


def _redeclared(session: Session, cls: type[Component], redeclared: Any, name: str) -> dict[str, Any]:
    argument, layer, _ = redeclared
    definition = argument.redeclared
    if not isinstance(definition, s.Class) or definition.kind != "function" or not getattr(cls, "is_world", False):
        raise fault(
            argument.at,
            f"{name}: nothing in {cls.__name__} can be redeclared as {argument.names[0]!r}; use a class "
            "that has what you need",
        )
    closure = session.closure(definition, layer.env, ())

    def gravity(r: Any) -> Any:
        result = call_function(closure.node, [array(r)], closure.given, layer.env, argument.at)
        return casadi(result)

    return {argument.names[0]: gravity}


def world_class() -> type[Component]:
    """The class of World."""
    cls = library.component(("Modelica", "Mechanics", "MultiBody", "World"))
    assert cls is not None
    return cls
