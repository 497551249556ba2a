"""Heat: temperatures and heat flows between components, which follow from states and speeds.

Ports that are connected have one temperature. Where a component determines it (a HeatCapacitor by its state), it is
known; all others follow from their balances of heat flows, together with those of their neighbours. These equations
must be linear in the temperatures that are sought; they are solved symbolically, because such networks are small.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca

from mbfmu.dynamics.flatten import ConnectorKey, UnionFind
from mbfmu.dynamics.scope import Record
from mbfmu.errors import ModelError
from mbfmu.modeling.connectors import HeatPort

if TYPE_CHECKING:
    from mbfmu.dynamics.sweeps import Sweeps

#: A node whose temperature is sought, or a relation between temperatures (component, index) whose heat flow is.
Unknown = int | tuple[str, int]


def is_thermal(record: Record, expression: ca.SX) -> bool:
    """True for a relation between temperatures, which a heat flow keeps."""
    return any(key[0] == "temperature" for key, *_ in record.leaves_in(expression))


class HeatNetwork:
    """Temperatures of the nodes of heat ports, and the heat flows into the components there.

    Raises:
        ModelError: two components determine one temperature.
    """

    def __init__(self, sweeps: Sweeps) -> None:
        self._sweeps, self._flat = sweeps, sweeps.flat
        #: Node -> heat flow into the assembly from outside (an FMU input).
        self.exposed: dict[int, ca.SX] = {}
        self._sources: dict[int, ConnectorKey] = {}
        self._links: dict[tuple[str, int], ca.SX] = {}
        self._unknowns: dict[Unknown, None] = {}
        self._groups = UnionFind()
        for path, record in sweeps.records.items():
            for key in record.targets:
                if key[0] == "temperature":
                    self._add_source(path, key[1])
            for index, expression in enumerate(record.relations):
                if is_thermal(record, expression):
                    self._links[(path, index)] = expression
        for path in sweeps.records:
            nodes = (self._flat.nodes[(path, name)] for name in self._ports(path))
            met: list[Unknown] = [node for node in nodes if node not in self._sources]
            met.extend(self._links_of(path))
            for unknown in met:
                self._unknowns[unknown] = None
                self._groups.union(met[0], unknown)

    def temperature(self, node: int) -> ca.SX:
        """Temperature of a node [K]."""
        if node in self._sources:
            path, connector = self._sources[node]
            return self._sweeps.target(path, ("temperature", connector))
        return self._solved(node)

    def flow(self, path: str, connector: str) -> ca.SX:
        """Heat flow into a component [W]."""
        node = self._flat.nodes[(path, connector)]
        if self._sources.get(node) == (path, connector):
            others = [self.flow(*key) for key in self._flat.members[node] if key != (path, connector)]
            return self.exposed.get(node, ca.SX.zeros(1)) - sum(others, ca.SX.zeros(1))
        through = [self._through(link, connector) * self._solved(link) for link in self._links_of(path)]
        return sum(through, self._load(path, connector, {}))

    def _add_source(self, path: str, connector: str) -> None:
        node = self._flat.nodes[(path, connector)]
        if node in self._sources:
            raise ModelError(
                f"{'.'.join(self._sources[node])} and {path}.{connector} determine one temperature; keep one of them, "
                "or put a ThermalConductor in between"
            )
        self._sources[node] = (path, connector)

    def _ports(self, path: str) -> list[str]:
        component = self._flat.elementary.get(path)
        return [] if component is None else [n for n, p in component.ports().items() if isinstance(p, HeatPort)]

    def _links_of(self, path: str) -> list[tuple[str, int]]:
        return [link for link in self._links if link[0] == path]

    def _through(self, link: tuple[str, int], connector: str) -> ca.SX:
        """Share of a connector in the heat flow of a link."""
        record = self._sweeps.records[link[0]]
        leaf = record.leaves.get(("temperature", connector), ca.SX.sym("none"))
        return self._sweeps.globalise(link[0], [ca.jacobian(self._links[link], leaf)])[0]

    def _load(self, path: str, connector: str, sought: Mapping[Unknown, ca.SX]) -> ca.SX:
        """Heat flow that a component assigns to its port, in the temperatures sought."""
        expression = self._sweeps.records[path].targets.get(("flow", connector, "Q_flow"), ca.SX.zeros(1))
        return self._globalise(path, expression, sought)

    def _globalise(self, path: str, expression: ca.SX, sought: Mapping[Unknown, ca.SX]) -> ca.SX:
        nodes = {name: self._flat.nodes[(path, name)] for name in self._ports(path)}
        given = {("temperature", name): sought[node] for name, node in nodes.items() if node in sought}
        return self._sweeps.globalise(path, [expression], given)[0]

    def _solved(self, unknown: Unknown) -> ca.SX:
        group = self._groups.find(unknown)
        members = [other for other in self._unknowns if self._groups.find(other) == group]
        return self._sweeps.once(("heat", group), lambda: self._solve(members))[members.index(unknown)]

    def _solve(self, members: list[Unknown]) -> ca.SX:
        """Temperatures and heat flows of one network."""
        sought = {unknown: ca.SX.sym(f"heat {i}") for i, unknown in enumerate(members)}
        rows = []
        for unknown in members:
            if not isinstance(unknown, int):
                rows.append(self._globalise(unknown[0], self._links[unknown], sought))
                continue
            row = -self.exposed.get(unknown, ca.SX.zeros(1))
            for path, connector in self._flat.members[unknown]:
                row += self._load(path, connector, sought)
                for link in self._links_of(path):
                    row += self._through(link, connector) * sought[link]
            rows.append(row)
        residual, symbols = ca.vertcat(*rows), ca.vertcat(*sought.values())
        A = ca.jacobian(residual, symbols)
        if ca.depends_on(A, symbols):
            raise ModelError(
                f"the heat flows to {self._names(members)} are not linear in the temperature; connect a HeatCapacitor "
                "there"
            )
        if ca.sprank(A) < symbols.numel():
            if not any(isinstance(unknown, int) for unknown in members):
                joined = " and ".join(unknown[0] for unknown in members if not isinstance(unknown, int))
                raise ModelError(
                    f"{joined}: both temperatures are determined by what is connected; put a ThermalConductor beside it"
                )
            raise ModelError(
                f"nothing determines the temperature of {self._names(members)}; connect a HeatCapacitor there, or a "
                "temperature through a ThermalConductor or a Convection"
            )
        return ca.solve(A, -ca.substitute(residual, symbols, ca.SX.zeros(symbols.numel())))

    def _names(self, members: list[Unknown]) -> str:
        keys = [self._flat.members[node][0] for node in members if isinstance(node, int)]
        return " and ".join(".".join(key) for key in keys[:3])
