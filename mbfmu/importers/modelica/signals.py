"""Connections between signals: inputs that are connected with each other, and expandable connectors (buses).

Modelica connects signals without direction: what is connected is one set, with one source. mbfmu connects a source with
each of its inputs.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Hashable

import numpy as np

from mbfmu.importers.modelica.making import Model
from mbfmu.importers.modelica.syntax import Place, fault
from mbfmu.modeling import Component, Connector
from mbfmu.modeling.connectors import Port, Signal, SignalOutput, conflict


@dataclasses.dataclass(frozen=True)
class Plug:
    """A connector of a component, or some elements of a signal connector."""

    owner: Component
    port: Port
    elements: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """Number of elements of a signal; 1 for other connectors."""
        if not isinstance(self.port, Signal):
            return 1
        return len(Connector(self.owner, self.port, self.elements).places)

    def split(self) -> list[Plug]:
        """One plug per element of a signal, row by row; components number them by columns."""
        if not isinstance(self.port, Signal):
            return [self]
        elements = self.elements
        if elements is None:
            elements = tuple(np.arange(self.size).reshape(self.port.shape(self.owner), order="F").ravel().tolist())
        return [Plug(self.owner, self.port, (k,)) for k in elements]

    @property
    def connector(self) -> Connector:
        """As `connect` takes it."""
        return Connector(self.owner, self.port, self.elements)

    @property
    def path(self) -> str:
        """Name of the connector, for messages."""
        return f"{self.owner._name}.{self.port.name}" if self.owner.part_of is not None else self.port.name


@dataclasses.dataclass(frozen=True)
class Bus:
    """An expandable connector of a model, or a name within it: what is connected to one name is one set."""

    model: Model
    name: str
    path: tuple[str, ...] = ()

    def below(self, name: str) -> Bus:
        """A name within."""
        return Bus(self.model, self.name, (*self.path, name))


#: A set's member: an element of a signal, or a name of a bus.
Member = Plug | Bus


class Signals:
    """The sets of connected signals of one model, or those that meet in the buses of all models."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}
        self._members: dict[Hashable, tuple[Member, Place, bool]] = {}

    def _find(self, key: Hashable) -> Hashable:
        while self._parent.setdefault(key, key) != key:
            key = self._parent[key]
        return key

    @staticmethod
    def _key(member: Member) -> Hashable:
        if isinstance(member, Bus):
            return (id(member.model), member.name, member.path)
        return (id(member.owner), member.port.name, member.elements)

    def join(self, a: Member, b: Member, at: Place, scope: Component) -> None:
        """Two members are connected in the model whose component is `scope`."""
        for member in (a, b):
            own = isinstance(member, Plug) and member.owner is scope
            self._members.setdefault(self._key(member), (member, at, own))
        self._parent[self._find(self._key(b))] = self._find(self._key(a))

    def is_fed(self, plug: Plug) -> Place | None:
        """Where the first element of an input is connected."""
        found = self._members.get(self._key(plug.split()[0]))
        return found[1] if found is not None else None

    def connect(self, component: Component, buses: Signals | None = None) -> None:
        """Make the connections in `component`; inputs that only each other feed are left to the `buses`.

        Raises:
            ModelError: a set has two sources, or a bus signal has none.
        """
        self._join_buses()
        sets: dict[Hashable, list[tuple[Member, Place, bool]]] = {}
        for key, member in self._members.items():
            sets.setdefault(self._find(key), []).append(member)
        for members in sets.values():
            plugs = [(m, at, own) for m, at, own in members if isinstance(m, Plug)]
            gives = [isinstance(plug.port, SignalOutput) != own for plug, _, own in plugs]
            sources = [entry for entry, gives_ in zip(plugs, gives, strict=True) if gives_]
            sinks = [entry for entry, gives_ in zip(plugs, gives, strict=True) if not gives_]
            if len(sources) > 1:
                (a, _, _), (b, at, _) = sources[:2]
                raise fault(
                    at, f"{a.path} and {b.path} are connected, but both are sources; connect an output with inputs"
                )
            if not sources:
                if any(isinstance(m, Bus) for m, _, _ in members) and sinks:
                    raise fault(
                        sinks[0][1], f"{sinks[0][0].path}: nothing feeds this name of the bus; connect a source to it"
                    )
                for (a, _, _), (b, at, own) in itertools.pairwise(sinks):
                    if buses is not None and not own:
                        buses.join(a, b, at, component)
                        continue
                    raise fault(
                        at, f"{a.path} and {b.path} are connected, but both are inputs, and no output feeds them"
                    )
                continue
            source = sources[0][0]
            for sink, at, _ in sinks:
                other_type = conflict((source.path, source.port), (sink.path, sink.port))
                if other_type:
                    raise fault(at, other_type)
                component.connect(source.connector, sink.connector)

    def _join_buses(self) -> None:
        """What is connected to the same name below two connected buses is connected, too."""
        while True:
            buses = [(k, m) for k, (m, _, _) in self._members.items() if isinstance(m, Bus)]
            known = {(id(m.model), m.name): m for _, m in buses}
            before = len(self._members), len({self._find(k) for k in self._members})
            groups: dict[Hashable, list[Bus]] = {}
            for key, bus in buses:
                groups.setdefault(self._find(key), []).append(bus)
            for group in groups.values():
                names = {
                    m.path[len(bus.path) :]
                    for bus in group
                    for _, m in buses
                    if (m.model, m.name) == (bus.model, bus.name)
                    and len(m.path) > len(bus.path)
                    and m.path[: len(bus.path)] == bus.path
                }
                for rest in names:
                    first, *others = [Bus(bus.model, bus.name, (*bus.path, *rest)) for bus in group]
                    at = self._members[self._key(group[0])][1]
                    for other in others:
                        self.join(first, other, at, known[(id(first.model), first.name)].model.component)
            if before == (len(self._members), len({self._find(k) for k in self._members})):
                return


__all__ = ["Bus", "Plug", "Signals"]
