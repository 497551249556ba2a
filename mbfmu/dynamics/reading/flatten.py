"""Flatten: an assembly as elementary components, nodes of connected frames and flanges, and signal sources."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections import defaultdict
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector, Port, Signal, SignalOutput, conflict

#: A connector of a component: (component path, connector name).
ConnectorKey = tuple[str, str]


class UnionFind:
    """Disjoint sets with path compression."""

    def __init__(self) -> None:
        self._parent: dict[Any, Any] = {}

    def find(self, item: Any) -> Any:
        """Representative of the item's set; an unknown item is a set of its own."""
        root = self._parent.setdefault(item, item)
        while root != self._parent[root]:
            root = self._parent[root]
        while item != root:
            self._parent[item], item = root, self._parent[item]
        return root

    def union(self, a: Any, b: Any) -> None:
        """Join the sets of two items."""
        self._parent[self.find(b)] = self.find(a)

    def sets(self) -> list[list[Any]]:
        """All sets, in order of first appearance."""
        sets = defaultdict(list)
        for item in self._parent:
            sets[self.find(item)].append(item)
        return list(sets.values())


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
    components: dict[str, Component]
    elementary: dict[str, Component]
    ports: dict[ConnectorKey, Port]
    nodes: dict[ConnectorKey, int]
    kinds: list[type[Port]]
    members: list[list[ConnectorKey]]
    inside: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]]
    outside: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]]
    sources: dict[tuple[ConnectorKey, int], tuple[ConnectorKey, int]]
    connected: set[ConnectorKey]
    connections: list[tuple[str, str]]

    def connected_ports(self, path: str) -> frozenset[str]:
        """Names of a component's connectors that meet another component or the outside; own parts do not count."""
        names = set()
        for name, port in self.components[path].ports().items():
            key = (path, name)
            if isinstance(port, Signal):
                is_connected = key in self.connected
            elif path not in self.elementary:
                is_connected = bool(self.outside.get(key))
            else:
                node = self.nodes[key]
                is_connected = len(self.members[node]) > 1 or node in self._own_nodes
            if is_connected:
                names.add(name)
        return frozenset(names)

    @functools.cached_property
    def _own_nodes(self) -> set[int]:
        """Nodes of the assembly's own connectors."""
        ports = self.root.ports().items()
        return {self.nodes[("", name)] for name, port in ports if not isinstance(port, Signal)}


def flatten(root: Component) -> Flat:
    """Flatten an assembly. The assembly's components get to know the World that they see; nothing else is changed.

    Raises:
        ModelError: two Worlds side by side, a connection to something outside, connectors of different sizes.
    """
    _assign_worlds(root, None)
    components: dict[str, Component] = {}
    _collect(root, components)
    elementary = {path: c for path, c in components.items() if not c.is_composite and path}
    ports = {(path, name): port for path, c in components.items() for name, port in c.ports().items()}
    union, inside = UnionFind(), UnionFind()
    sources: dict[Any, Any] = {}
    joined = UnionFind()
    connected: set[ConnectorKey] = set()
    connections = []
    for path, component in components.items():
        if not component.is_composite:
            continue
        for a, b in component.connections:
            for connector in (a, b):
                if not any(owner is component for owner in connector.owner._owners()):
                    raise ModelError(
                        f"{component.where}: connects {connector.owner.where}.{connector.port.name}, which is not part "
                        "of it; assign the component to an attribute of the assembly first"
                    )
                _refuse_switched_off(component, connector, components)
            if not (_exists(a, components) and _exists(b, components)):
                continue  # a conditional connector that is switched off takes its connections with it
            keys = [(_path(c), c.port.name) for c in (a, b)]
            connected.update(keys)
            connections.append((_text(a), _text(b)))
            if isinstance(a.port, Signal):
                _connect_signals(component, a, b, sources, joined)
                continue
            union.union(keys[0], keys[1])
            inside.union((path, keys[0]), (path, keys[1]))
    _feed_joined_inputs(root, sources, joined)
    keys = [k for k, port in ports.items() if not isinstance(port, Signal)]
    for key in keys:
        union.find(key)
    nodes: dict[ConnectorKey, int] = {}
    members: list[list[ConnectorKey]] = []
    kinds: list[type[Port]] = []
    for group in union.sets():
        for key in group:
            nodes[key] = len(members)
        kinds.append(type(ports[group[0]]))
        members.append([key for key in group if key[0] in elementary])
    inner: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]] = {}
    outer: dict[ConnectorKey, list[tuple[ConnectorKey, bool]]] = {}
    for group in inside.sets():
        scope = group[0][0]
        sided = [(key, key[0] == scope) for _, key in group]
        for key, is_own in sided:
            (inner if is_own else outer)[key] = [other for other in sided if other[0] != key]
    return Flat(
        root, components, elementary, ports, nodes, kinds, members, inner, outer, sources, connected, connections
    )


def _assign_worlds(component: Component, world: Component | None) -> None:
    component.see(world)
    if world is None:
        own = [p for p in component.parts.values() if getattr(type(p), "is_world", False)]
        if len(own) > 1:
            raise ModelError(f"{component.where}: {' and '.join(p.where for p in own)} are both a World; keep one")
        world = own[0] if own else None
    for part in component.parts.values():
        _assign_worlds(part, world if part is not world else None)
        if part is world:
            part.see(world)


def _collect(component: Component, found: dict[str, Component]) -> None:
    if component.path in found:
        raise ModelError(f"component {component.path}: is there twice; give one of them another name")
    component.check_attributes()
    component.check_values()
    found[component.path] = component
    for name, part in component.parts.items():
        if component.has_part(name):
            _collect(part, found)


def _path(connector: Connector) -> str:
    return connector.owner.path


def _text(connector: Connector) -> str:
    return ".".join(filter(None, (connector.owner.path, connector.port.name)))


def _exists(connector: Connector, components: dict[str, Component]) -> bool:
    return connector.owner.path in components and connector.port.enabled(connector.owner)


def _refuse_switched_off(scope: Component, connector: Connector, components: dict[str, Component]) -> None:
    """In an assembly, a connection to something that its parameters switch off is a mistake; composites rely on it."""
    owner = connector.owner
    if not isinstance(scope, Assembly) or owner.path not in components:
        return
    if connector.port.enabled(owner) or connector.port.fades:
        return
    switches = owner.switching_on(connector.port)
    remedy = f"set {' or '.join(switches)}" if switches else "change the parameters that switch it off"
    message = (
        f"{scope.where}: connects {_text(connector)}, which {owner.where} does not have with its present parameters; "
        f"{remedy}, or remove the connection"
    )
    if not scope.drops_connections:
        raise ModelError(message)
    warnings.warn(f"{message} (it is left out)", stacklevel=2)


def _connect_signals(scope: Component, a: Connector, b: Connector, sources: dict[Any, Any], joined: UnionFind) -> None:
    sizes = [c.owner.size_of(c) for c in (a, b)]
    if sizes[0] != sizes[1]:
        raise ModelError(
            f"{scope.where}: cannot connect {_text(a)} ({sizes[0]} elements) with {_text(b)} ({sizes[1]} elements)"
        )

    def gives(connector: Connector) -> bool:  # seen from inside, an assembly's own input is a source
        return isinstance(connector.port, SignalOutput) != (connector.owner is scope)

    if gives(a) and gives(b):
        raise ModelError(f"{scope.where}: {_text(a)} and {_text(b)} are both sources; connect an output with an input")
    source, sink = (a, b) if gives(a) else (b, a)
    other_type = conflict((_text(source), source.port), (_text(sink), sink.port), directed=gives(source))
    if other_type:
        raise ModelError(f"{scope.where}: {other_type}")
    if not gives(source):
        for i, j in zip(_elements(a), _elements(b), strict=True):
            joined.union(((a.owner.path, a.port.name), i), ((b.owner.path, b.port.name), j))
        return
    for i, j in zip(_elements(source), _elements(sink), strict=True):
        key = ((sink.owner.path, sink.port.name), j)
        if key in sources:
            raise ModelError(
                f"{scope.where}: {_text(sink)} is fed twice, by {_text(source)} and by "
                f"{'.'.join(filter(None, sources[key][0]))}; keep one"
            )
        sources[key] = ((source.owner.path, source.port.name), i)


def _feed_joined_inputs(root: Component, sources: dict[Any, Any], joined: UnionFind) -> None:
    """Inputs that are connected with each other have one source."""
    for group in joined.sets():
        feeding = {sources[key] for key in group if key in sources}
        if len(feeding) > 1:
            names = " and ".join(sorted(".".join(filter(None, source[0])) for source in feeding))
            raise ModelError(f"{root.where}: {'.'.join(filter(None, group[0][0]))} is fed twice, by {names}; keep one")
        for key in group if feeding else ():
            sources[key] = next(iter(feeding))


def _elements(connector: Connector) -> tuple[int, ...]:
    if connector.elements is not None:
        return connector.elements
    return tuple(range(connector.owner.size_of(connector)))
