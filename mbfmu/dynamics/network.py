"""Networks of connectors with a potential and a flow, such as heat and electrics: both follow from states and speeds.

Connectors that meet have one potential. Where a component determines it (a HeatCapacitor its temperature, by a state;
a Ground), it is known; all others follow from their balances of flows. A relation between potentials, such as a voltage
source has it, comes with an unknown of its own: a variable that the component declares, or the flow that keeps it.

Balances and relations are sorted into blocks by what they know of each other (Dulmage and Mendelsohn); a block is solved
when one of its unknowns is asked for, so that what a block feeds into another one, be it through signals, is no loop.
Within a block equations must be linear in what is sought; they are solved symbolically, because blocks are small.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Protocol

import casadi as ca
import numpy as np

from mbfmu.dynamics.elimination import solve
from mbfmu.dynamics.flatten import ConnectorKey, Flat
from mbfmu.dynamics.scope import Behaviour
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import NetworkPort
from mbfmu.modeling.declarations import NetworkVariable

#: A relation between potentials (component, number among its relations), and the unknown that comes with it.
Link = tuple[str, int]
#: A node, whose flows balance and whose potential is sought; or a link. Each is an equation and an unknown.
Unknown = int | Link


@dataclasses.dataclass(frozen=True)
class Block:
    """Equations that are solved together for as many unknowns."""

    equations: tuple[Unknown, ...]
    unknowns: tuple[Unknown, ...]


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
    """True for a relation between potentials or other variables of a network."""
    return any(
        isinstance(leaf, leaves.Potential | leaves.NetworkVariable) for leaf, *_ in behaviour.leaves_in(expression)
    )


@dataclasses.dataclass(frozen=True)
class Networks:
    """The networks of an assembly: nodes whose potential is known, and blocks of equations for all other unknowns."""

    flat: Flat
    behaviours: Mapping[str, Behaviour]
    #: Node -> the connector whose component determines its potential.
    sources: Mapping[int, ConnectorKey]
    #: Component -> its relations between potentials.
    links: Mapping[str, tuple[Link, ...]]
    #: Link -> the declared variable that it determines; other links determine the flow that keeps them.
    declared: Mapping[Link, str]
    #: Unknown -> the block that it is found in.
    blocks: Mapping[Unknown, Block]

    @classmethod
    def of(cls, flat: Flat, behaviours: Mapping[str, Behaviour]) -> Networks:
        """Find the networks.

        Raises:
            ModelError: two components determine one potential; a component has more or fewer relations than variables
                that they determine.
        """
        sources: dict[int, ConnectorKey] = {}
        links: dict[str, tuple[Link, ...]] = {}
        declared: dict[Link, str] = {}
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
            variables = [n for n, d in behaviour.component.variables().items() if isinstance(d, NetworkVariable)]
            if variables and len(variables) != len(links[path]):
                raise ModelError(
                    f"{behaviour.component.where}: the equations of {type(behaviour.component).__name__} have "
                    f"{len(links[path])} relations of a network; each NetworkVariable ({', '.join(variables)}) needs one"
                )
            declared |= dict(zip(links[path], variables, strict=False))
        networks = cls(flat, behaviours, sources, links, declared, {})
        blocks = {unknown: block for block in _blocks(networks._incidence()) for unknown in block.unknowns}
        return dataclasses.replace(networks, blocks=blocks)

    # -- answers

    def potential(self, node: int, system: Surroundings) -> ca.SX:
        """Potential of a node."""
        if node not in self.sources:
            return self._solved(node, system)
        path, connector = self.sources[node]
        return system.target(path, leaves.Prescribed(connector, self._port(node).potentials[0].name))

    def variable(self, path: str, name: str, system: Surroundings) -> ca.SX:
        """A variable that a component declares as one of the network."""
        return self._solved(self._link_of(path, name), system)

    def flow(self, path: str, connector: str, system: Surroundings) -> ca.SX:
        """Flow into a component."""
        node = self.flat.nodes[(path, connector)]
        if self.sources.get(node) == (path, connector):
            others = [self.flow(*key, system) for key in self.flat.members[node] if key != (path, connector)]
            return system.from_outside(node) - sum(others, ca.SX.zeros(1))
        through = [
            self._share(link, connector, system) * self._solved(link, system)
            for link in self._keepers(path)
            if self._knows(link, connector)
        ]
        return sum(through, self._load(path, connector, {}, system))

    # -- structure

    def _keepers(self, path: str) -> Iterator[Link]:
        """Links of a component that a flow keeps."""
        return (link for link in self.links[path] if link not in self.declared)

    def _link_of(self, path: str, name: str) -> Link:
        return next(link for link in self.links[path] if self.declared.get(link) == name)

    def _relation(self, link: Link) -> ca.SX:
        return self.behaviours[link[0]].relations[link[1]]

    def _load_of(self, path: str, connector: str) -> ca.SX:
        """Flow that a component assigns to its port, in its own symbols."""
        flow = self._port(self.flat.nodes[(path, connector)]).flows[0].name
        return self.behaviours[path].targets.get(leaves.Load(connector, flow), ca.SX.zeros(1))

    def _incidence(self) -> dict[Unknown, set[Unknown]]:
        """Equation -> the unknowns that it knows."""
        known: dict[Unknown, set[Unknown]] = {}
        for path, links in self.links.items():
            for link in links:
                known[link] = self._unknowns_in(path, self._relation(link))
            for connector in _ports(self.flat, path):
                node = self.flat.nodes[(path, connector)]
                if node not in self.sources:
                    row = known.setdefault(node, set())
                    row |= self._unknowns_in(path, self._load_of(path, connector))
                    row |= {link for link in self._keepers(path) if self._knows(link, connector)}
        return known

    def _unknowns_in(self, path: str, expression: ca.SX) -> set[Unknown]:
        found: set[Unknown] = set()
        for leaf, *_ in self.behaviours[path].leaves_in(expression):
            if isinstance(leaf, leaves.NetworkVariable):
                found.add(self._link_of(path, leaf.name))
            elif isinstance(leaf, leaves.Potential) and (node := self.flat.nodes[(path, leaf.connector)]) not in (
                self.sources
            ):
                found.add(node)
        return found

    def _knows(self, link: Link, connector: str) -> bool:
        """Does a relation contain the potential of a connector?"""
        leaf = self.behaviours[link[0]].leaves.get(leaves.Potential(connector))
        return leaf is not None and ca.depends_on(self._relation(link), leaf)

    def _port(self, node: int) -> NetworkPort:
        port = self.flat.ports[self.flat.members[node][0]]
        assert isinstance(port, NetworkPort)
        return port

    # -- equations of one block

    def _share(self, link: Link, connector: str, system: Surroundings) -> ca.SX:
        """Share of a connector in the flow of a link."""
        leaf = self.behaviours[link[0]].leaves[leaves.Potential(connector)]
        return system.substitute(link[0], [ca.jacobian(self._relation(link), leaf)])[0]

    def _load(self, path: str, connector: str, sought: Mapping[Unknown, ca.SX], system: Surroundings) -> ca.SX:
        """Flow that a component assigns to its port, in the unknowns sought."""
        return self._in_sought(path, self._load_of(path, connector), sought, system)

    def _in_sought(self, path: str, expression: ca.SX, sought: Mapping[Unknown, ca.SX], system: Surroundings) -> ca.SX:
        nodes = {name: self.flat.nodes[(path, name)] for name in _ports(self.flat, path)}
        given: dict[leaves.Leaf, ca.SX] = {
            leaves.Potential(name): sought[node] for name, node in nodes.items() if node in sought
        }
        given |= {
            leaves.NetworkVariable(self.declared[link]): sought[link]
            for link in self.links[path]
            if link in sought and link in self.declared
        }
        return system.substitute(path, [expression], given)[0]

    def _solved(self, unknown: Unknown, system: Surroundings) -> ca.SX:
        block = self.blocks[unknown]
        solution = system.once(("network", block), self._title(block), lambda: self._solve(block, system))
        return solution[block.unknowns.index(unknown)]

    def _solve(self, block: Block, system: Surroundings) -> ca.SX:
        """The unknowns of one block."""
        sought = {unknown: ca.SX.sym(f"sought {i}") for i, unknown in enumerate(block.unknowns)}
        rows = []
        for equation in block.equations:
            if not isinstance(equation, int):
                rows.append(self._in_sought(equation[0], self._relation(equation), sought, system))
                continue
            row = -system.from_outside(equation)
            for path, connector in self.flat.members[equation]:
                row += self._load(path, connector, sought, system)
                for link in self._keepers(path):
                    if self._knows(link, connector):
                        flow = sought[link] if link in sought else self._solved(link, system)
                        row += self._share(link, connector, system) * flow
            rows.append(row)
        residual, symbols = ca.vertcat(*rows), ca.vertcat(*sought.values())
        A = ca.jacobian(residual, symbols)
        self._check(block, A, symbols)
        return solve(A, -ca.substitute(residual, symbols, ca.SX.zeros(symbols.numel())))

    # -- messages

    def _check(self, block: Block, A: ca.SX, symbols: ca.SX) -> None:
        """Refuse a block that is not linear, or whose equations leave something open and contradict each other."""
        port = self._port_of(block)
        name = port.potential_name
        if ca.depends_on(A, symbols):
            raise ModelError(
                f"the {port.flow_name} to {self._names(block.unknowns)} are not linear in the {name}; connect a "
                f"{port.store} there"
            )
        open_ones = tuple(block.unknowns[i] for i in _open(A))
        if not open_ones:
            return
        paths = list(dict.fromkeys(unknown[0] for unknown in open_ones if not isinstance(unknown, int)))
        if not any(isinstance(unknown, int) for unknown in open_ones):
            if len(paths) > 1:
                raise ModelError(
                    f"{' and '.join(paths)} form a loop in which each determines a difference of {name}s, so that "
                    f"nothing determines the {port.flow_name}; put a {port.conductor} in series with one of them"
                )
            raise ModelError(
                f"{paths[0]}: both {name}s are determined by what is connected; put a {port.conductor} beside it"
            )
        raise ModelError(
            f"nothing determines the {name} of {self._names(open_ones)}; connect a {port.store} there, or a {name} "
            f"through a {port.conductor}{port.or_else}"
        )

    def _port_of(self, block: Block) -> NetworkPort:
        """A connector of the block, which knows what the domain calls things."""
        for unknown in (*block.unknowns, *block.equations):
            if isinstance(unknown, int):
                return self._port(unknown)
        path, _ = block.unknowns[0]  # type: ignore[misc]
        behaviour = self.behaviours[path]
        found = [leaf for leaf, *_ in behaviour.leaves_in(self._relation(self.links[path][0]))]
        ports = _ports(self.flat, path)
        known = (ports[leaf.connector] for leaf in found if isinstance(leaf, leaves.Potential))
        return next(known, next(iter(ports.values())))

    def _title(self, block: Block) -> str:
        return f"{self._port_of(block).potential_name}s at {self._names(block.unknowns)}"

    def _names(self, unknowns: tuple[Unknown, ...]) -> str:
        keys = [self.flat.members[node][0] for node in unknowns if isinstance(node, int)]
        names = [".".join(key) for key in keys] or list(
            dict.fromkeys(unknown[0] for unknown in unknowns if not isinstance(unknown, int))
        )
        return " and ".join(names[:3])


def _blocks(known: Mapping[Unknown, set[Unknown]]) -> Iterator[Block]:
    """Equations and unknowns sorted into blocks; what has no regular block, for want of equations, is one."""
    if not known:
        return
    keys = list(known)
    place = {key: i for i, key in enumerate(keys)}
    pairs = [(place[key], place[unknown]) for key, unknowns in known.items() for unknown in unknowns]
    pattern = ca.Sparsity.triplet(len(keys), len(keys), [row for row, _ in pairs], [column for _, column in pairs])
    _, rows, columns, row_blocks, column_blocks, coarse_rows, coarse_columns = pattern.btf()
    # Coarse blocks: equations that have too many unknowns, those that are regular (two parts), those with too few.
    regular_rows, regular_columns = range(coarse_rows[1], coarse_rows[2]), range(coarse_columns[2], coarse_columns[3])
    irregular = Block(
        tuple(keys[rows[i]] for i in range(len(keys)) if i not in regular_rows),
        tuple(keys[columns[i]] for i in range(len(keys)) if i not in regular_columns),
    )
    if irregular.unknowns:
        yield irregular
    bounds = zip(row_blocks, row_blocks[1:], column_blocks, column_blocks[1:], strict=False)
    for row, row_end, column, column_end in bounds:
        if row in regular_rows and column in regular_columns:
            yield Block(
                tuple(keys[i] for i in rows[row:row_end]), tuple(keys[i] for i in columns[column:column_end])
            )


def _ports(flat: Flat, path: str) -> dict[str, NetworkPort]:
    component = flat.elementary.get(path)
    ports = {} if component is None else component.ports()
    return {name: port for name, port in ports.items() if isinstance(port, NetworkPort)}


def _open(A: ca.SX) -> list[int]:
    """Columns that the equations leave open, for some values of the symbols; a network in the air has such ones."""
    symbols = ca.symvar(A)
    values = np.random.default_rng(0).uniform(0.5, 1.5, len(symbols))
    matrix = np.array(ca.Function("A", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(A)])(values))
    if not np.isfinite(matrix).all():
        return []
    _, singular, right = np.linalg.svd(matrix)
    rank = int((singular > singular[0] * len(matrix) * np.finfo(float).eps).sum()) if len(singular) else 0
    return [int(i) for i in np.flatnonzero(np.abs(right[rank:]).max(axis=0, initial=0.0) > 1e-9)]
