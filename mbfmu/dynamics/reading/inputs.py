"""Inputs of a system: signals from outside, and what its own connectors take."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.arrays import Element, scalars_of
from mbfmu.dynamics.reading.flatten import ConnectorKey, Flat
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Port, Signal, SignalInput
from mbfmu.modeling.inputs import AssemblyInput
from mbfmu.modeling.types import Type
from mbfmu.modeling.units import conversion
from mbfmu.runtime.variables import Terminal, wanted_instead


@dataclasses.dataclass(frozen=True)
class Input:
    """One scalar input.

    `terminal` is the connector of the assembly that it belongs to, `element` its place in an array, if any.
    """

    name: str
    symbol: ca.SX
    start: float
    type: Type
    description: str
    terminal: Terminal | None = None
    element: Element | None = None
    min: float | None = None
    max: float | None = None
    #: What it feeds has `factor` * input + `offset`, in the signal's own unit.
    factor: float = 1.0
    offset: float = 0.0


def terminal(port: Port, member: str) -> Terminal:
    """A variable of a connector as part of a terminal."""
    flows = {quantity.name for quantity in port.flows}
    return Terminal(port.name, member, member in flows, port.modelica_name)


def _meant(flat: Flat, key: ConnectorKey, port: Signal) -> Type:
    """The type of an assembly's own input: where it has no unit, that of all signals that it feeds."""
    if port.type.unit is not None or port.type.base != "Real":
        return port.type
    units = {
        sink.type.unit
        for (fed, _), (source, _) in flat.sources.items()
        if source == key and isinstance(sink := flat.ports[fed], Signal)
    }
    unit = units.pop() if len(units) == 1 else None
    return port.type if unit is None else dataclasses.replace(port.type, unit=unit)


@dataclasses.dataclass(frozen=True)
class Inputs:
    """The inputs in order, and what they feed."""

    all: tuple[Input, ...]
    #: Element of a signal connector that an input feeds.
    signals: Mapping[tuple[ConnectorKey, int], ca.SX]
    #: Node -> flows into the assembly from outside.
    flows: Mapping[int, tuple[ca.SX, ...]]
    #: Connector of the assembly that takes its motion from outside -> position, speed and acceleration.
    motions: Mapping[str, tuple[ca.SX, ...]]

    @property
    def u(self) -> ca.SX:
        """All as one vector."""
        return ca.vertcat(ca.SX(0, 1), *(given.symbol for given in self.all))

    def symbol(self, name: str) -> ca.SX:
        """The symbol of an input."""
        return self._symbols[name]

    def converted(self, name: str) -> ca.SX:
        """The value of an input in the unit of the signal that it feeds."""
        given = self._named[name]
        is_same = (given.factor, given.offset) == (1.0, 0.0)
        return given.symbol if is_same else given.factor * given.symbol + given.offset

    @functools.cached_property
    def _named(self) -> Mapping[str, Input]:
        return {given.name: given for given in self.all}

    @functools.cached_property
    def _symbols(self) -> Mapping[str, ca.SX]:
        return {given.name: given.symbol for given in self.all}

    @property
    def starts(self) -> tuple[float, ...]:
        """Their values until somebody sets them."""
        return tuple(given.start for given in self.all)

    @classmethod
    def of(cls, assembly: Assembly, flat: Flat) -> Inputs:
        """Inputs of an assembly: those that it names, then those of its own connectors.

        Raises:
            ModelError: two of one name, a signal that is connected already, a connector without anything inside.
        """
        found: dict[str, Input] = {}
        signals: dict[tuple[ConnectorKey, int], ca.SX] = {}
        flows: dict[int, tuple[ca.SX, ...]] = {}
        motions: dict[str, tuple[ca.SX, ...]] = {}

        def new(
            name: str, start: float, type: Type, doc: str, terminal: Terminal | None = None,
            element: Element | None = None, **more: Any,
        ) -> ca.SX:  # fmt: skip
            if name in found:
                raise ModelError(
                    f"input {name}: there is one of this name already; give it another with input(..., name=...)"
                )
            wanted = wanted_instead(type.base, float(start))
            if wanted:
                raise ModelError(f"input {name}: is {type.base}, its start value {start:g} is not; give {wanted}")
            found[name] = Input(name, ca.SX.sym(name), float(start), type, doc, terminal, element, **more)
            return found[name].symbol

        def feed(name: str, fed: list[tuple[ConnectorKey, Signal, int]], given: AssemblyInput | float) -> None:
            if not isinstance(given, AssemblyInput):
                given = AssemblyInput((), given)
            numbers = {
                key: np.broadcast_to(np.asarray(getattr(given, key), dtype=object), (len(fed),))
                for key in ("start", "min", "max")
            }
            labels = scalars_of(name, (len(fed),) if len(fed) > 1 else ())
            for i, ((label, element), (key, port, place)) in enumerate(zip(labels, fed, strict=True)):
                path = ".".join(filter(None, key))
                doc = port.doc if path == name else f"{port.doc}, for {path}"
                if (key, place) in flat.sources:
                    raise ModelError(f"{path}: is connected already; it cannot be an input, too")
                if (key, place) in signals:
                    raise ModelError(
                        f"input {name}: {path} has an input already, {signals[key, place].name()}; keep one of them"
                    )
                type, factor, offset = given.type if given.target else _meant(flat, key, port), 1.0, 0.0
                if None not in (type.unit, port.type.unit) and type.unit != port.type.unit:
                    factor, offset = conversion(str(type.unit), str(port.type.unit))
                bounds: dict[str, Any] = {
                    k: None if numbers[k][i] is None else float(numbers[k][i]) for k in ("min", "max")
                }
                signals[key, place] = new(
                    label, numbers["start"][i], type, doc, element=element, factor=factor, offset=offset, **bounds
                )

        for name, given in assembly.inputs.items():
            target = given.target
            fed: list[tuple[ConnectorKey, Signal, int]] = []
            for connector in target if isinstance(target, tuple) else (target,):
                key, port = (connector.owner.path, connector.port.name), connector.port
                assert isinstance(port, Signal)
                owner: Component = connector.owner
                if flat.components.get(key[0]) is not owner:
                    raise ModelError(
                        f"input {name}: {owner.title} is not part of {assembly.where}; assign it to an attribute "
                        "of the assembly"
                    )
                fed += [(key, port, place) for place in connector.places]
            feed(name, fed, given)
        for name, own in assembly.ports().items():
            if isinstance(own, SignalInput):
                feed(name, [(("", name), own, place) for place in range(own.size(assembly))], own.start(assembly))
            elif own.taken:
                node = flat.nodes[("", name)]
                if not flat.members[node]:
                    raise ModelError(
                        f"{name}: this {own.title} of the assembly is connected to nothing inside; connect it"
                    )
                taken = tuple(new(f"{name}.{q.name}", 0.0, q.type, q.doc, terminal(own, q.name)) for q in own.taken)
                if own.taken == own.flows:
                    flows[node] = (*flows.get(node, ()), taken[0])
                else:
                    motions[name] = taken
        return cls(tuple(found.values()), signals, flows, motions)
