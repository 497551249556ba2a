"""The parts of a model, and how they hang together: `build` of its component."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbfmu.arrays import element_name
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.connecting import connect, drive, find_drive
from mbfmu.importers.modelica.declarations import add_arrays
from mbfmu.importers.modelica.expression_sources import expression_source
from mbfmu.importers.modelica.inheritance import refuse_unknown
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import (
    ABSENT,
    Layers,
    bound,
    inner,
    located,
    names_in,
    nested,
    of_element,
    only,
    place_in,
    refuse_attributes,
    value_in,
)
from mbfmu.importers.modelica.parts import is_parameter, make_component, modify
from mbfmu.importers.modelica.signals import Bus, Signals
from mbfmu.importers.modelica.starts import fix_starts
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.messages import suggestion
from mbfmu.modeling import Component
from mbfmu.modeling.connectors import Signal


def build(model: Model, component: Component, arrays: list[str]) -> None:
    """Make the parts and connect them: Component.build of the model's class."""
    model.component = component
    model.members.clear()
    model.known_values.clear()
    model.drives, model.given = [], []
    component._ports.clear()
    component._symbols.clear()  # sizes may have changed; all that refers to them is made anew
    add_arrays(model, arrays)
    worlds = [n for n in model.of_kind("library") if getattr(model.kind(n).cls, "is_world", False)]
    for name in (*worlds, *model.of_kind("library", "model", "record", "bus")):
        if name not in model.members:
            make_member(model, name)
    signals = Signals()
    for equation, env in model.active(model.content.equations):
        if isinstance(equation, s.Connect):
            connect(model, equation, env, signals)
    fix_starts(model)
    for equation, env in model.active(model.content.equations):
        if isinstance(equation, s.Equality):
            find_drive(model, equation, env, signals)
    for plug, node, env, layer in model.drives:
        drive(model, plug, node, env, layer, signals)
    signals.connect(component, model.session.buses)
    if model.parent is None:
        model.session.buses.connect(component)


def make_member(model: Model, name: str) -> None:
    """Make a part, or all parts of an array."""
    declared = model.declared(name)
    if name in model.pending:
        raise fault(declared.component.at, f"{name}: what it is modified with depends on itself")
    if not model.exists(name):
        model.members[name] = ABSENT
        return
    model.pending.add(name)
    try:
        sizes = model.sizes(name)
        count = int(np.prod(sizes)) if sizes else 1
        if count > 10_000:
            raise fault(declared.component.at, f"{name}: an array of {count} components is too large")
        model.members[name] = nested(sizes, lambda k: _part(model, name, k))
    finally:
        model.pending.discard(name)


def _part(model: Model, name: str, index: tuple[int, ...]) -> Any:
    kind = model.kind(name)
    # What the declaration and those around it say goes by elements, what the class says does not.
    layers = (*of_element(model.declared(name).layers, index, model.sizes(name) if index else ()), *kind.layers)
    full = element_name(name, index) if index else name
    if kind.kind == "bus":
        return Bus(model, full)
    if kind.kind == "library":
        return _library_part(model, name, full, layers)
    binding = bound(layers)
    if binding is not None and kind.kind == "record":
        value = value_in(binding[1], binding[0])
        if not isinstance(value, dict):
            raise fault(binding[0].at, f"{name} = {values.describe(value)}: expected a record")
        return _with_fields(value, layers[: layers.index(binding[1]) + 1], name, model.declared(name).component.at)
    return _own_part(model, name, full, layers)


def _with_fields(value: dict[str, Any], layers: Layers, name: str, at: Place) -> dict[str, Any]:
    """A record with the fields that are modified outside of where it gets its value."""
    *outer, own = layers
    if own.modification.arguments:
        raise fault(at, f"{name}: is given as a whole, and by its fields beside that; keep one of both")
    return _changed(value, tuple(outer), name, at)


def _changed(value: Any, layers: Layers, name: str, at: Place) -> Any:
    if not isinstance(value, dict):
        refuse_attributes(name, layers, at)
        return value
    result = dict(value)
    for field in names_in(layers):
        own, where = inner(layers, field), f"{name}.{field}"
        if field not in result:
            raise fault(
                place_in(layers, field, at), f"{where}: the record has no {field!r}; {suggestion(field, result)}"
            )
        found = bound(own)
        result[field] = value_in(found[1], found[0]) if found is not None else _changed(result[field], own, where, at)
    return result


def _library_part(model: Model, name: str, full: str, layers: Layers) -> Component:
    """A part that is of a class of the library."""
    cls, at = model.kind(name).cls, model.declared(name).component.at
    part: Any = expression_source(model, full, cls, layers)
    own: set[str] = set()
    if part is None:
        own = _reads_itself(layers, model, name)
        if own:  # its parameters are found when they are asked for, starts and parts' modifiers in the end
            part = model.members[name] = cls.__new__(cls)
            own = {given for given in own if not is_parameter(part, given)}
        early = only(layers, lambda given: given not in own)
        part = make_component(model.session, cls, early, full, model, part, at=at)
    with located(at):
        model.component.add(full, part)
    if own:
        modify(model.session, part, only(layers, lambda given: given in own), at)
    result: Component = part
    return result


def _own_part(model: Model, name: str, full: str, layers: Layers) -> Any:
    """A part that is of a class of the user's: its model, or the component where the library has the class's base."""
    found, at = model.kind(name).found, model.declared(name).component.at
    around: Model | None = model
    while around is not None:
        if around.node is found.node:
            raise fault(at, f"{name}: {found} contains itself; break the circle")
        around = around.parent
    part = model.below(full, found, layers)
    definition = part.node.definition
    if definition is not None and "partial" in definition.prefixes:
        raise fault(at, f"{name}: {found} is partial (declared at {definition.at}); redeclare it by a full class")
    _refuse_unknown(part, layers)
    made = part.make()
    with located(at):
        model.component.add(full, made)
    for connector in part.of_kind("connector"):
        given, port = bound(part.layers(connector)), part.kind(connector).port
        if given is not None and port is not None and issubclass(port, Signal):
            for layer in part.layers(connector):
                if layer.modification.value is not None and layer.env.model is model:
                    model.drives.append((part.plugs(connector), given[0], layer.env, layer))
                    break
    return part if part.content.base is None else made


def _refuse_unknown(model: Model, layers: Layers) -> None:
    for layer in layers if model.content.base is None else ():
        for argument in layer.modification.arguments:
            refuse_unknown(model, argument, model.title)


def _reads_itself(layers: Layers, model: Model, name: str) -> set[str]:
    """Names of a component whose modifiers read the component itself: `body(d_i=body.d/2)`."""
    return {
        argument.names[0]
        for layer in layers
        for argument in layer.modification.arguments
        if layer.env.model is model
        and any(isinstance(n, s.Reference) and n.names[0] == name for n in argument.modification.walk())
    }
