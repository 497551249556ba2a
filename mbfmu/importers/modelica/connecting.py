"""Connections of a model, and equations that give inputs of its parts their values."""

from __future__ import annotations

import math
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.importers.modelica import syntax as s
from mbfmu.importers.modelica import values
from mbfmu.importers.modelica.evaluate import Environment
from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.modifiers import Absent, Layer, located
from mbfmu.importers.modelica.names import resolve
from mbfmu.importers.modelica.signals import Bus, Plug, Signals
from mbfmu.importers.modelica.syntax import fault
from mbfmu.modeling import Component, Connector
from mbfmu.modeling.connectors import Given, Signal, SignalInput


def connect(model: Model, node: s.Connect, env: Environment, signals: Signals) -> None:
    """Make a connection; signals are only joined, which are connected when all are known."""
    a, b = (_ends(model, reference, node, env) for reference in (node.a, node.b))
    if any(isinstance(p, Absent) for p in (*a, *b)) and (len(a) == 1 or len(b) == 1):
        return  # what a condition switched off takes its connections with it
    if not any(isinstance(p, Bus) for p in (*a, *b)) and [_width(p) for p in a] != [_width(p) for p in b]:
        a, b = ([x for p in side for x in (p.split() if isinstance(p, Plug) else [p])] for side in (a, b))
    shapes = [_shape(p) for p in (*a, *b)]
    if len(a) == len(b) == 1 and all(shapes) and shapes[0] != shapes[1]:
        said = " and ".join(f"an array of size {' x '.join(map(str, shape))}" for shape in shapes)
        raise fault(node.at, f"connect({node.a}, {node.b}): is between {said}; connect their elements")
    if len(a) != len(b):
        raise fault(node.at, f"connect({node.a}, {node.b}): {len(a)} elements on one side, {len(b)} on the other")
    for p, q in zip(a, b, strict=True):
        if isinstance(p, Absent) or isinstance(q, Absent):
            continue
        if isinstance(p, Bus) or isinstance(q, Bus):
            _meet(model, p, q, node)
        elif isinstance(p.port, Signal) and isinstance(q.port, Signal):
            for x, y in zip(p.split(), q.split(), strict=True):
                signals.join(x, y, node.at, model.component)
        else:
            with located(node.at):
                model.component.connect(p.connector, q.connector)


def _ends(model: Model, reference: s.Reference, node: s.Connect, env: Environment) -> list[Any]:
    found = values.flat(resolve(reference, env))
    for plug in found:
        if isinstance(plug, Component | Model):
            raise fault(node.at, f"connect({node.a}, {node.b}): {reference} is a component; name its connector")
        if not isinstance(plug, Plug | Absent | Bus):
            raise fault(node.at, f"connect({node.a}, {node.b}): {reference} is no connector")
    return found


def _meet(model: Model, p: Plug | Bus, q: Plug | Bus, node: s.Connect) -> None:
    """A connection with a bus: it is made when all models are there."""
    for x in (p, q):
        if isinstance(x, Plug) and (not isinstance(x.port, Signal) or x.size != 1 or x.owner is model.component):
            raise fault(
                node.at,
                f"connect({node.a}, {node.b}): a bus takes single signals of parts; connect others directly",
            )
    ends = [x.split()[0] if isinstance(x, Plug) else x for x in (p, q)]
    model.session.buses.join(ends[0], ends[1], node.at, model.component)


def find_drive(model: Model, equation: s.Equality, env: Environment, signals: Signals) -> None:
    """An equation that gives a part's input its value."""
    for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
        plug = _driven(model, side, env)
        if plug is not None and signals.is_fed(plug) is None:
            drive(model, plug, other, env, None, signals)
            return


def _driven(model: Model, node: s.Node, env: Environment) -> Plug | None:
    """The input of a part that an expression names, None for anything else."""
    if not isinstance(node, s.Reference) or len(node.parts) < 2 or node.names[0] in env.locals:
        return None
    if not model.has(node.names[0]) or node.names[0] not in model.members:
        return None
    try:
        found = resolve(node, env)
    except ModelError:
        return None
    if isinstance(found, list):
        found = _together(values.flat(found))
    if isinstance(found, Plug) and isinstance(found.port, SignalInput) and found.owner is not model.component:
        return found
    return None


def _together(plugs: list[Any]) -> Plug | None:
    """Elements of one signal as one plug, None for anything else."""
    if not plugs or not all(isinstance(p, Plug) and p.elements is not None for p in plugs):
        return None
    first = plugs[0]
    if any((p.owner, p.port) != (first.owner, first.port) for p in plugs):
        return None
    return Plug(first.owner, first.port, tuple(k for p in plugs for k in p.elements))


def drive(model: Model, plug: Any, node: s.Node, env: Environment, layer: Layer | None, signals: Signals) -> None:
    """Let an input of a part have the value of an expression."""
    for other in model.given:
        if other[1] is node and other[3] is layer and layer is not None and not layer.indices:
            return
    before = _given_before(model, plug)
    if before is not None:
        raise fault(node.at, f"{plug.path}: is given a value here, and at {before.at}; keep one")
    name = f"given[{len(model.given) + 1}]"
    whole_ = plug.port.shape(plug.owner)
    shape = whole_ if plug.elements is None else (len(plug.elements),) if len(plug.elements) > 1 else ()
    port = Given(s.text(node), type=plug.port.type, shape=shape)
    setattr(model.component, name, port)
    fed = signals.is_fed(plug)
    if fed is not None:
        raise fault(node.at, f"{plug.path}: is given a value here, and connected at {fed}; keep one")
    with located(node.at):
        model.component.connect(Connector(model.component, port), plug.connector)
    model.given.append((name, node, env, layer))


def _given_before(model: Model, plug: Plug) -> s.Node | None:
    """What gives an input of a part, or some of its elements, a value already."""

    def places(end: Any) -> set[int]:
        return set(range(math.prod(end.port.shape(end.owner)))) if end.elements is None else set(end.elements)

    for source, sink in model.component.connections:
        is_same = sink.owner is plug.owner and sink.port.name == plug.port.name
        if is_same and isinstance(source.port, Given) and places(sink) & places(plug):
            return next((node for name, node, *_ in model.given if name == source.port.name), None)
    return None


def _shape(end: Any) -> tuple[int, ...]:
    """Dimensions of a signal as a whole, () of all else."""
    is_whole = isinstance(end, Plug) and isinstance(end.port, Signal) and end.elements is None
    return tuple(end.port.shape(end.owner)) if is_whole else ()


def _width(end: Any) -> int:
    return end.size if isinstance(end, Plug) else 1
