"""Flatten: an assembly as elementary components, nodes of connected frames and flanges, and signal sources."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mbfmu.dynamics.disjoint_set import DisjointSet
from mbfmu.dynamics.reading.components import Connection
from mbfmu.errors import ModelError
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector, Port, Signal, SignalOutput, conflict

#: A connector of a component: (component path, connector name).
ConnectorKey = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Flat:
    """An assembly without hierarchy.

    `nodes` maps every connector that is no signal, those of composites too, to the number of its node; `members` lists
    the connectors of elementary components per node, `kinds` says of which kind they are. `inside` and `outside` are
    the connection sets that a composite's connector is part of, as seen from inside and from outside: what its flows
    are computed from. `sources` gives for every element of a signal input (and of a composite's outputs) the element
    that feeds it.
    """

    root: Component
    components: Mapping[str, Component]
    elementary: dict[str, Component]
    ports: dict[ConnectorKey, Port]
    nodes: dict[ConnectorKey, int]
    kinds: list[type[Port]]
    members: list[list[ConnectorKey]]
    inside: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]]
    outside: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]]
    sources: dict[tuple[ConnectorKey, int], tuple[ConnectorKey, int]]
    connections: list[tuple[str, str]]
    #: Names of each component's connectors that meet another component or the outside; own parts do not count.
    connected: dict[str, frozenset[str]]


def flatten(root: Component, components: Mapping[str, Component], connections: Sequence[Connection]) -> Flat:
    """Flatten an assembly, which is not changed.

    Args:
        root: the assembly.
        components: all that it has, by path.
        connections: those between connectors that exist (both of `mbfmu.dynamics.reading.components`).

    Raises:
        ModelError: signals of different sizes or types are connected, one is fed twice, a connector is open that must
            not be.
    """
    elementary = {path: c for path, c in components.items() if not c.is_composite and path}
    ports = {(path, name): port for path, c in components.items() for name, port in c.ports().items()}
    meeting: list[tuple[ConnectorKey, ConnectorKey]] = []
    within: list[tuple[Any, Any]] = []
    joined: list[tuple[Any, Any]] = []
    sources: dict[Any, Any] = {}
    named: set[ConnectorKey] = set()
    for scope, a, b in connections:
        keys = (a.owner.path, a.port.name), (b.owner.path, b.port.name)
        named.update(keys)
        if isinstance(a.port, Signal):
            _connect_signals(scope, a, b, sources, joined)
            continue
        meeting.append(keys)
        within.append(((scope.path, keys[0]), (scope.path, keys[1])))
    _feed_joined_inputs(root, sources, joined)
    nodes: dict[ConnectorKey, int] = {}
    members: list[list[ConnectorKey]] = []
    kinds: list[type[Port]] = []
    for group in _sets(meeting, (key for key, port in ports.items() if not isinstance(port, Signal))):
        for key in group:
            nodes[key] = len(members)
        kinds.append(type(ports[group[0]]))
        members.append([key for key in group if key[0] in elementary])
    inside: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]] = {}
    outside: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]] = {}
    for group in _sets(within):
        scope = group[0][0]
        sided = [(key, key[0] == scope) for _, key in group]
        for key, is_own in sided:
            (inside if is_own else outside)[key] = [other for other in sided if other[0] != key]
    own_nodes = {nodes["", name] for name, port in root.ports().items() if not isinstance(port, Signal)}

    def is_connected(key: ConnectorKey) -> bool:
        if isinstance(ports[key], Signal):
            return key in named
        if key[0] not in elementary:
            return bool(outside.get(key))
        return len(members[nodes[key]]) > 1 or nodes[key] in own_nodes

    connected = {path: frozenset(n for n in c.ports() if is_connected((path, n))) for path, c in components.items()}
    for path, component in components.items():
        component.check_connections(set(connected[path]))
    pairs = [(a.path, b.path) for _, a, b in connections]
    return Flat(root, components, elementary, ports, nodes, kinds, members, inside, outside, sources, pairs, connected)


def _sets(pairs: Iterable[tuple[Any, Any]], others: Iterable[Any] = ()) -> list[list[Any]]:
    """What pairs join, directly or through others, and what is alone, in order of first appearance."""
    union: DisjointSet[Any] = DisjointSet()
    for a, b in pairs:
        union.add(a)
        union.add(b)
        union.merge(a, b)
    for other in others:
        union.add(other)
    found: dict[Any, list[Any]] = {}
    for item in union:
        found.setdefault(union[item], []).append(item)
    return list(found.values())


def _connect_signals(
    scope: Component, a: Connector, b: Connector, sources: dict[Any, Any], joined: list[tuple[Any, Any]]
) -> None:
    sizes = [len(c.places) for c in (a, b)]
    if sizes[0] != sizes[1]:
        raise ModelError(
            f"{scope.where}: cannot connect {a.path} ({sizes[0]} elements) with {b.path} ({sizes[1]} elements)"
        )

    def gives(connector: Connector) -> bool:  # seen from inside, an assembly's own input is a source
        return isinstance(connector.port, SignalOutput) != (connector.owner is scope)

    if gives(a) and gives(b):
        raise ModelError(f"{scope.where}: {a.path} and {b.path} are both sources; connect an output with an input")
    source, sink = (a, b) if gives(a) else (b, a)
    other_type = conflict((source.path, source.port), (sink.path, sink.port), directed=gives(source))
    if other_type:
        raise ModelError(f"{scope.where}: {other_type}")
    if not gives(source):
        for i, j in zip(a.places, b.places, strict=True):
            joined.append((((a.owner.path, a.port.name), i), ((b.owner.path, b.port.name), j)))
        return
    for i, j in zip(source.places, sink.places, strict=True):
        key = ((sink.owner.path, sink.port.name), j)
        if key in sources:
            raise ModelError(
                f"{scope.where}: {sink.path} is fed twice, by {source.path} and by "
                f"{'.'.join(filter(None, sources[key][0]))}; keep one"
            )
        sources[key] = ((source.owner.path, source.port.name), i)


def _feed_joined_inputs(root: Component, sources: dict[Any, Any], joined: list[tuple[Any, Any]]) -> None:
    """Inputs that are connected with each other have one source."""
    for group in _sets(joined):
        feeding = {sources[key] for key in group if key in sources}
        if len(feeding) > 1:
            names = " and ".join(sorted(".".join(filter(None, source[0])) for source in feeding))
            raise ModelError(f"{root.where}: {'.'.join(filter(None, group[0][0]))} is fed twice, by {names}; keep one")
        for key in group if feeding else ():
            sources[key] = next(iter(feeding))
