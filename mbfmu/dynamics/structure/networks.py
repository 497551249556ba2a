"""Networks of connectors with a potential and a flow, such as heat and electrics: both follow from states and speeds.

Connectors that meet have one potential. Where a component determines it (a HeatCapacitor its temperature, by a state;
a Ground), it is known; all others follow from their balances of flows. A relation between potentials, such as a voltage
source has it, comes with an unknown of its own: a variable that the component declares, or the flow that keeps it.

Balances and relations are equations of the graph (mbfmu.dynamics.structure), potentials and unknowns of relations what
is sought there. Here stands who determines a potential, and what is wrong where nothing does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping

import casadi as ca
import numpy as np

from mbfmu.dynamics.disjoint_set import DisjointSet
from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.reading.flatten import ConnectorKey, Flat
from mbfmu.dynamics.structure.elimination import sampled
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import NetworkPort
from mbfmu.modeling.names import joined

#: A relation between potentials (component, number among its relations), and the unknown that comes with it.
Link = tuple[str, int]
#: A node, whose flows balance and whose potential is sought; or a link. Each is an equation and an unknown.
Unknown = int | Link


@dataclasses.dataclass(frozen=True)
class Networks:
    """The networks of an assembly: who determines potentials, and which unknowns relations come with."""

    flat: Flat
    behaviours: Mapping[str, Behaviour]
    #: Node -> the connector whose component determines its potential.
    sources: Mapping[int, ConnectorKey]
    #: (component, name of a variable of the network) -> the link that it comes with.
    links: Mapping[tuple[str, str], Link]

    @classmethod
    def of(cls, flat: Flat, behaviours: Mapping[str, Behaviour]) -> Networks:
        """Find the networks.

        Raises:
            ModelError: two components determine one potential.
        """
        sources: dict[int, ConnectorKey] = {}
        links: dict[tuple[str, str], Link] = {}
        for path, behaviour in behaviours.items():
            for target in behaviour.prescribed(NetworkPort):
                node = flat.nodes[(path, target.connector)]
                if node in sources:
                    port = flat.ports[sources[node]]
                    assert isinstance(port, NetworkPort)
                    raise ModelError(
                        f"{joined(*sources[node])} and {joined(path, target.connector)} determine one "
                        f"{port.potential_name}; keep one of them, or put a {port.conductor} in between"
                    )
                sources[node] = (path, target.connector)
            links |= {(path, variable.name): (path, index) for index, variable in behaviour.network.items()}
        return cls(flat, behaviours, sources, links)

    @property
    def unknowns(self) -> list[Unknown]:
        """Nodes where flows balance, and links."""
        nodes = {
            self.flat.nodes[(path, connector)]: None
            for path in self.behaviours
            for connector in _ports(self.flat, path)
        }
        return [*(node for node in nodes if node not in self.sources), *self.links.values()]

    # -- messages

    def undetermined(self, sought: Collection[Unknown]) -> ModelError:
        """The error of unknowns that equations leave open, or contradict each other about."""
        port = self._port_of(sought)
        name = port.potential_name
        open_ones = self._open_around(sought) or tuple(sought)
        paths = list(dict.fromkeys(unknown[0] for unknown in open_ones if not isinstance(unknown, int)))
        if not any(isinstance(unknown, int) for unknown in open_ones):
            if len(paths) > 1:
                return ModelError(
                    f"{' and '.join(paths)} form a loop in which each determines a difference of {name}s, so that "
                    f"nothing determines the {port.flow_name}; put a {port.conductor} in series with one of them"
                )
            return ModelError(
                f"{paths[0]}: both {name}s are determined by what is connected; put a {port.conductor} beside it"
            )
        return ModelError(
            f"nothing determines the {name} of {self.names(open_ones)}; connect a {port.store} there, or a {name} "
            f"through a {port.conductor}{port.or_else}"
        )

    def checked_block(self, sought: Collection[Unknown], slope: ca.SX) -> str:
        """What to say of unknowns whose equations are singular with the parameters as they are.

        Args:
            sought: the unknowns.
            slope: derivatives of their equations.

        Raises:
            ModelError: they are singular with any.
        """
        if _rank(sampled([slope])[0]) < slope.size1():
            raise self.undetermined(sought)
        port = self._port_of(sought)
        message = (
            f"{self.names(sought)}: with these parameters the {port.flow_name} there determine no "
            f"{port.potential_name}, or contradict each other; change what is 0, or a gain that feeds a flow back"
        )
        if ca.sprank(slope) < slope.size1():
            raise ModelError(message)
        return message

    def _terms(self, equation: Unknown) -> list[tuple[str, ca.SX]]:
        """What adds up to zero, but for what flows from outside: components and expressions in their symbols."""
        if not isinstance(equation, int):
            path, index = equation
            return [(path, self.behaviours[path].own(self.behaviours[path].relations[index]))]
        return [(path, self._load(path, connector)) for path, connector in self.flat.members[equation]]

    def _load(self, path: str, connector: str) -> ca.SX:
        """Flow that a component assigns to its port, in its own symbols."""
        flow = self._port(self.flat.nodes[(path, connector)]).flows[0].name
        behaviour = self.behaviours[path]
        return behaviour.own(behaviour.targets.get(leaves.Load(connector, flow), ca.SX.zeros(1)))

    def _slopes(self, equation: Unknown) -> Iterator[tuple[Unknown, ca.SX]]:
        """Unknowns that an equation knows, with the derivatives with respect to them in components' symbols."""
        for path, expression in self._terms(equation):
            for leaf, _, symbol in self.behaviours[path].leaves_in(expression):
                if (unknown := self._unknown(path, leaf)) is not None:
                    yield unknown, ca.jacobian(expression, symbol)

    def _unknown(self, path: str, leaf: leaves.Leaf) -> Unknown | None:
        """The unknown that a leaf is; None where it is something else, or known."""
        if isinstance(leaf, leaves.NetworkVariable | leaves.Potential) and leaf.order:
            return None
        if isinstance(leaf, leaves.NetworkVariable):
            return self.links[(path, leaf.name)]
        if not isinstance(leaf, leaves.Potential):
            return None
        node = self.flat.nodes[(path, leaf.connector)]
        return None if node in self.sources else node

    def _port(self, node: int) -> NetworkPort:
        port = self.flat.ports[self.flat.members[node][0]]
        assert isinstance(port, NetworkPort)
        return port

    def _open_around(self, sought: Collection[Unknown]) -> tuple[Unknown, ...]:
        """What nothing determines in the whole network around unknowns: only there it shows which flow or potential."""
        union = DisjointSet(self.unknowns)
        for equation in self.unknowns:
            for unknown, _ in self._slopes(equation):
                union.merge(equation, unknown)
        first = next(iter(sought))
        members = [unknown for unknown in union if union.connected(unknown, first)]
        place = {unknown: i for i, unknown in enumerate(members)}
        A = ca.SX(len(members), len(members))
        for equation in members:
            for unknown, slope in self._slopes(equation):
                A[place[equation], place[unknown]] += slope
        matrix = np.nan_to_num(sampled([A])[0])
        _, _, right = np.linalg.svd(matrix)
        open_ones = np.abs(right[_rank(matrix) :]).max(axis=0, initial=0.0) > 1e-9
        return tuple(unknown for unknown, is_open in zip(members, open_ones, strict=True) if is_open)

    def _port_of(self, sought: Collection[Unknown]) -> NetworkPort:
        """A connector of some unknowns, which knows what the domain calls things."""
        for unknown in sought:
            if isinstance(unknown, int):
                return self._port(unknown)
        path, _ = next(iter(sought))  # type: ignore[misc]
        return next(iter(_ports(self.flat, path).values()))

    def names(self, sought: Collection[Unknown]) -> str:
        """Some of the connectors or components that unknowns belong to."""
        keys = [self.flat.members[node][0] for node in sought if isinstance(node, int)]
        found = [joined(*key) for key in keys] or list(
            dict.fromkeys(unknown[0] for unknown in sought if not isinstance(unknown, int))
        )
        return " and ".join(found[:3])


def _ports(flat: Flat, path: str) -> dict[str, NetworkPort]:
    component = flat.elementary.get(path)
    ports = {} if component is None else component.ports()
    return {name: port for name, port in ports.items() if isinstance(port, NetworkPort)}


def _rank(matrix: np.ndarray) -> int:
    """Rank of a matrix; a square one that is not finite counts as regular."""
    return int(np.linalg.matrix_rank(matrix)) if np.isfinite(matrix).all() else len(matrix)
