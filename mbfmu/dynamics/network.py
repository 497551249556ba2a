"""Networks of connectors with a potential and a flow, such as heat: both follow from states and speeds.

Connectors that meet have one potential. Where a component determines it (a HeatCapacitor its temperature, by a state),
it is known; all others follow from their balances of flows, together with those of their neighbours. These equations
must be linear in the potentials that are sought; they are solved symbolically, because such networks are small.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from typing import Protocol

import casadi as ca
import numpy as np

from mbfmu.dynamics.flatten import ConnectorKey, Flat, UnionFind
from mbfmu.dynamics.scope import Behaviour
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import NetworkPort

#: A relation between potentials (component, index), which the flow through it keeps.
Link = tuple[str, int]
#: A node whose potential is sought, or a link whose flow is.
Unknown = int | Link


class Surroundings(Protocol):
    """What networks ask of the system around them (mbfmu.dynamics.sweeps)."""

    def once(self, key: Hashable, name: str, make: Callable[[], ca.SX]) -> ca.SX:
        """What `make` gives, worked out on the first question for `key`."""
        ...

    def target(self, path: str, target: leaves.Target, order: int = 0) -> ca.SX:
        """What a component assigns to a target."""
        ...

    def substitute(self, path: str, expressions: list[ca.SX], given: Mapping[leaves.Leaf, ca.SX] = ...) -> list[ca.SX]:
        """Local expressions with the values of leaves, or what is given for them."""
        ...

    def from_outside(self, node: int) -> ca.SX:
        """Flow into a node from outside the assembly."""
        ...


def is_of_network(behaviour: Behaviour, expression: ca.SX) -> bool:
    """True for a relation between potentials, which a flow keeps."""
    return any(isinstance(leaf, leaves.Potential) for leaf, *_ in behaviour.leaves_in(expression))


@dataclasses.dataclass(frozen=True)
class Networks:
    """The networks of an assembly: nodes whose potential is known, and groups of unknowns that are solved together."""

    flat: Flat
    behaviours: Mapping[str, Behaviour]
    #: Node -> the connector whose component determines its potential.
    sources: Mapping[int, ConnectorKey]
    #: Component -> its relations between potentials.
    links: Mapping[str, tuple[Link, ...]]
    #: Unknown -> all that belong to its group.
    groups: Mapping[Unknown, tuple[Unknown, ...]]

    @classmethod
    def of(cls, flat: Flat, behaviours: Mapping[str, Behaviour]) -> Networks:
        """Find the networks.

        Raises:
            ModelError: two components determine one potential.
        """
        sources: dict[int, ConnectorKey] = {}
        links: dict[str, tuple[Link, ...]] = {}
        for path, behaviour in behaviours.items():
            for target in behaviour.prescribed(NetworkPort):
                node = flat.nodes[(path, target.connector)]
                if node in sources:
                    port = flat.ports[sources[node]]
                    assert isinstance(port, NetworkPort)
                    raise ModelError(
                        f"{'.'.join(sources[node])} and {path}.{target.connector} determine one "
                        f"{port.potential_name}; keep one of them, or put a {port.conductor} in between"
                    )
                sources[node] = (path, target.connector)
            links[path] = tuple(
                (path, index)
                for index, expression in enumerate(behaviour.relations)
                if is_of_network(behaviour, expression)
            )
        union = UnionFind()
        for path in behaviours:
            met: dict[str, list[Unknown]] = {}
            for name in _ports(flat, path):
                if (node := flat.nodes[(path, name)]) not in sources:
                    met.setdefault(flat.kinds[node].kind, []).append(node)
            for link in links[path]:
                met.setdefault(_link_port(flat, behaviours[path], link).kind, []).append(link)
            for unknowns in met.values():
                for unknown in unknowns:
                    union.union(unknowns[0], unknown)
        groups = {unknown: tuple(group) for group in union.sets() for unknown in group}
        return cls(flat, behaviours, sources, links, groups)

    def potential(self, node: int, system: Surroundings) -> ca.SX:
        """Potential of a node."""
        if node not in self.sources:
            return self._solved(node, system)
        path, connector = self.sources[node]
        return system.target(path, leaves.Prescribed(connector, self._port(node).potentials[0].name))

    def flow(self, path: str, connector: str, system: Surroundings) -> ca.SX:
        """Flow into a component."""
        node = self.flat.nodes[(path, connector)]
        if self.sources.get(node) == (path, connector):
            others = [self.flow(*key, system) for key in self.flat.members[node] if key != (path, connector)]
            return system.from_outside(node) - sum(others, ca.SX.zeros(1))
        through = [self._through(link, connector, system) * self._solved(link, system) for link in self.links[path]]
        return sum(through, self._load(path, connector, {}, system))

    def _port(self, node: int) -> NetworkPort:
        port = self.flat.ports[self.flat.members[node][0]]
        assert isinstance(port, NetworkPort)
        return port

    def _through(self, link: Link, connector: str, system: Surroundings) -> ca.SX:
        """Share of a connector in the flow of a link."""
        behaviour = self.behaviours[link[0]]
        leaf = behaviour.leaves.get(leaves.Potential(connector), ca.SX.sym("none"))
        return system.substitute(link[0], [ca.jacobian(behaviour.relations[link[1]], leaf)])[0]

    def _load(self, path: str, connector: str, sought: Mapping[Unknown, ca.SX], system: Surroundings) -> ca.SX:
        """Flow that a component assigns to its port, in the potentials sought."""
        flow = self._port(self.flat.nodes[(path, connector)]).flows[0].name
        expression = self.behaviours[path].targets.get(leaves.Load(connector, flow), ca.SX.zeros(1))
        return self._in_sought(path, expression, sought, system)

    def _in_sought(self, path: str, expression: ca.SX, sought: Mapping[Unknown, ca.SX], system: Surroundings) -> ca.SX:
        nodes = {name: self.flat.nodes[(path, name)] for name in _ports(self.flat, path)}
        given: dict[leaves.Leaf, ca.SX] = {
            leaves.Potential(name): sought[node] for name, node in nodes.items() if node in sought
        }
        return system.substitute(path, [expression], given)[0]

    def _solved(self, unknown: Unknown, system: Surroundings) -> ca.SX:
        members = self.groups[unknown]
        name = f"{self._port_of(members).potential_name}s"
        solution = system.once(("network", members), name, lambda: self._solve(members, system))
        return solution[members.index(unknown)]

    def _solve(self, members: tuple[Unknown, ...], system: Surroundings) -> ca.SX:
        """Potentials and flows of one group."""
        sought = {unknown: ca.SX.sym(f"sought {i}") for i, unknown in enumerate(members)}
        rows = []
        for unknown in members:
            if not isinstance(unknown, int):
                expression = self.behaviours[unknown[0]].relations[unknown[1]]
                rows.append(self._in_sought(unknown[0], expression, sought, system))
                continue
            row = -system.from_outside(unknown)
            for path, connector in self.flat.members[unknown]:
                row += self._load(path, connector, sought, system)
                for link in self.links[path]:
                    row += self._through(link, connector, system) * sought[link]
            rows.append(row)
        residual, symbols = ca.vertcat(*rows), ca.vertcat(*sought.values())
        A = ca.jacobian(residual, symbols)
        self._check(members, A, symbols)
        return ca.solve(A, -ca.substitute(residual, symbols, ca.SX.zeros(symbols.numel())))

    def _check(self, members: tuple[Unknown, ...], A: ca.SX, symbols: ca.SX) -> None:
        """Refuse a group that is not linear, or that leaves a potential open."""
        nodes = [unknown for unknown in members if isinstance(unknown, int)]
        paths = [unknown[0] for unknown in members if not isinstance(unknown, int)]
        port = self._port_of(members)
        name, flow = port.potential_name, port.flow_name
        if ca.depends_on(A, symbols):
            raise ModelError(
                f"the {flow} to {self._names(members)} are not linear in the {name}; connect a {port.store} there"
            )
        if _is_regular(A):
            return
        if not nodes:
            raise ModelError(
                f"{' and '.join(paths)}: both {name}s are determined by what is connected; put a {port.conductor} "
                "beside it"
            )
        raise ModelError(
            f"nothing determines the {name} of {self._names(members)}; connect a {port.store} there, or a {name} "
            f"through a {port.conductor}{port.or_else}"
        )

    def _port_of(self, members: tuple[Unknown, ...]) -> NetworkPort:
        """A connector of the group, which knows what the domain calls things."""
        for unknown in members:
            if isinstance(unknown, int):
                return self._port(unknown)
        path, index = members[0]  # type: ignore[misc]
        return _link_port(self.flat, self.behaviours[path], (path, index))

    def _names(self, members: tuple[Unknown, ...]) -> str:
        keys = [self.flat.members[node][0] for node in members if isinstance(node, int)]
        return " and ".join(".".join(key) for key in keys[:3])


def _ports(flat: Flat, path: str) -> dict[str, NetworkPort]:
    component = flat.elementary.get(path)
    ports = {} if component is None else component.ports()
    return {name: port for name, port in ports.items() if isinstance(port, NetworkPort)}


def _is_regular(A: ca.SX) -> bool:
    """Has the matrix full rank, for some values of the symbols in it? One network in the air has not."""
    if ca.sprank(A) < A.size1():
        return False
    symbols = ca.symvar(A)
    values = np.random.default_rng(0).uniform(0.5, 1.5, len(symbols))
    matrix = np.array(ca.Function("A", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(A)])(values))
    return not np.isfinite(matrix).all() or np.linalg.matrix_rank(matrix) == A.size1()


def _link_port(flat: Flat, behaviour: Behaviour, link: Link) -> NetworkPort:
    """A connector whose potential a link knows."""
    found = (leaf for leaf, *_ in behaviour.leaves_in(behaviour.relations[link[1]]))
    port = next(flat.ports[(link[0], leaf.connector)] for leaf in found if isinstance(leaf, leaves.Potential))
    assert isinstance(port, NetworkPort)
    return port
