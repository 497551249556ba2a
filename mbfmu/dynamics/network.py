"""Networks of connectors with a potential and a flow, such as heat and electrics: both follow from states and speeds.

Connectors that meet have one potential. Where a component determines it (a HeatCapacitor its temperature, by a state;
a Ground), it is known; all others follow from their balances of flows. A relation between potentials, such as a voltage
source has it, comes with an unknown of its own: a variable that the component declares, or the flow that keeps it.

Balances and relations are sorted into blocks by what they know of each other (Dulmage and Mendelsohn); a block is
solved when one of its unknowns is asked for, so that what one feeds into another, be it through signals, is no loop.
Within a block equations must be linear in what is sought; they are solved symbolically, because blocks are small.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Protocol

import casadi as ca
import numpy as np

from mbfmu.dynamics.elimination import sampled, solve
from mbfmu.dynamics.flatten import ConnectorKey, Flat, UnionFind
from mbfmu.dynamics.scope import Behaviour
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import NetworkPort
from mbfmu.modeling.names import joined

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


@dataclasses.dataclass(frozen=True)
class Networks:
    """The networks of an assembly: nodes whose potential is known, and blocks of equations for all other unknowns."""

    flat: Flat
    behaviours: Mapping[str, Behaviour]
    #: Node -> the connector whose component determines its potential.
    sources: Mapping[int, ConnectorKey]
    #: (component, name of a variable of the network) -> the link that it comes with.
    links: Mapping[tuple[str, str], Link]
    #: Unknown -> the block that it is found in.
    blocks: Mapping[Unknown, Block]

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
        networks = cls(flat, behaviours, sources, links, {})
        known = {
            equation: {unknown for unknown, *_ in networks._slopes(equation)} for equation in networks._equations()
        }
        blocks = {unknown: block for block in _blocks(known) for unknown in block.unknowns}
        return dataclasses.replace(networks, blocks=blocks)

    # -- answers

    def potential(self, node: int, system: Surroundings) -> ca.SX:
        """Potential of a node."""
        if node not in self.sources:
            return self._solved(node, system)
        path, connector = self.sources[node]
        return system.target(path, leaves.Prescribed(connector, self._port(node).potentials[0].name))

    def variable(self, path: str, name: str, system: Surroundings) -> ca.SX:
        """A variable of the network that a component has."""
        return self._solved(self.links[(path, name)], system)

    def flow(self, path: str, connector: str, system: Surroundings) -> ca.SX:
        """Flow into a component."""
        node = self.flat.nodes[(path, connector)]
        if self.sources.get(node) == (path, connector):
            others = [self.flow(*key, system) for key in self.flat.members[node] if key != (path, connector)]
            return system.from_outside(node) - sum(others, ca.SX.zeros(1))
        return system.substitute(path, [self._load(path, connector)])[0]

    # -- structure

    def _equations(self) -> list[Unknown]:
        """Nodes where flows balance, and links."""
        nodes = {
            self.flat.nodes[(path, connector)]: None
            for path in self.behaviours
            for connector in _ports(self.flat, path)
        }
        return [*(node for node in nodes if node not in self.sources), *self.links.values()]

    def _terms(self, equation: Unknown) -> list[tuple[str, ca.SX]]:
        """What adds up to zero, but for what flows from outside: components and expressions in their symbols."""
        if not isinstance(equation, int):
            path, index = equation
            return [(path, self.behaviours[path].relations[index])]
        return [(path, self._load(path, connector)) for path, connector in self.flat.members[equation]]

    def _load(self, path: str, connector: str) -> ca.SX:
        """Flow that a component assigns to its port, in its own symbols."""
        flow = self._port(self.flat.nodes[(path, connector)]).flows[0].name
        return self.behaviours[path].targets.get(leaves.Load(connector, flow), ca.SX.zeros(1))

    def _slopes(self, equation: Unknown) -> Iterator[tuple[Unknown, ca.SX]]:
        """Unknowns that an equation knows, with the derivatives with respect to them in components' symbols."""
        for path, expression in self._terms(equation):
            for leaf, _, symbol in self.behaviours[path].leaves_in(expression):
                if (unknown := self._unknown(path, leaf)) is not None:
                    yield unknown, ca.jacobian(expression, symbol)

    def _unknown(self, path: str, leaf: leaves.Leaf) -> Unknown | None:
        """The unknown that a leaf is; None where it is something else, or known."""
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

    # -- equations of one block

    def _solved(self, unknown: Unknown, system: Surroundings) -> ca.SX:
        block = self.blocks[unknown]
        solution = system.once(("network", block), self._title(block), lambda: self._solve(block, system))
        return solution[block.unknowns.index(unknown)]

    def _solve(self, block: Block, system: Surroundings) -> ca.SX:
        """The unknowns of one block."""
        sought = {unknown: ca.SX.sym(f"sought {i}") for i, unknown in enumerate(block.unknowns)}
        rows = []
        for equation in block.equations:
            row = -system.from_outside(equation) if isinstance(equation, int) else ca.SX.zeros(1)
            for path, expression in self._terms(equation):
                found = {leaf: self._unknown(path, leaf) for leaf, *_ in self.behaviours[path].leaves_in(expression)}
                given = {leaf: sought[unknown] for leaf, unknown in found.items() if unknown in sought}
                row += system.substitute(path, [expression], given)[0]
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
        if _rank(sampled([A])[0]) == A.size1():
            return
        open_ones = self._open_around(block) or block.unknowns
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

    def _open_around(self, block: Block) -> tuple[Unknown, ...]:
        """What nothing determines in the whole network around a block: only there it shows which flow or potential."""
        union = UnionFind()
        for equation in self.blocks:
            union.union(equation, equation)
            for unknown, _ in self._slopes(equation):
                union.union(equation, unknown)
        members = next(tuple(group) for group in union.sets() if block.unknowns[0] in group)
        place = {unknown: i for i, unknown in enumerate(members)}
        A = ca.SX(len(members), len(members))
        for equation in members:
            for unknown, slope in self._slopes(equation):
                A[place[equation], place[unknown]] += slope
        matrix = np.nan_to_num(sampled([A])[0])
        _, _, right = np.linalg.svd(matrix)
        open_ones = np.abs(right[_rank(matrix) :]).max(axis=0, initial=0.0) > 1e-9
        return tuple(unknown for unknown, is_open in zip(members, open_ones, strict=True) if is_open)

    def _port_of(self, block: Block) -> NetworkPort:
        """A connector of the block, which knows what the domain calls things."""
        for unknown in (*block.unknowns, *block.equations):
            if isinstance(unknown, int):
                return self._port(unknown)
        path, _ = block.unknowns[0]  # type: ignore[misc]
        return next(iter(_ports(self.flat, path).values()))

    def _title(self, block: Block) -> str:
        return f"{self._port_of(block).potential_name}s at {self._names(block.unknowns)}"

    def _names(self, unknowns: tuple[Unknown, ...]) -> str:
        keys = [self.flat.members[node][0] for node in unknowns if isinstance(node, int)]
        names = [joined(*key) for key in keys] or list(
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
    # CasADi's order: equations with too few unknowns, regular ones, equations with too many unknowns.
    regular_rows, regular_columns = range(coarse_rows[2], coarse_rows[3]), range(coarse_columns[1], coarse_columns[2])
    irregular = Block(
        tuple(keys[rows[i]] for i in range(len(keys)) if i not in regular_rows),
        tuple(keys[columns[i]] for i in range(len(keys)) if i not in regular_columns),
    )
    if irregular.unknowns:
        yield irregular
    bounds = zip(row_blocks, row_blocks[1:], column_blocks, column_blocks[1:], strict=False)
    for row, row_end, column, column_end in bounds:
        if row in regular_rows and column in regular_columns:
            yield Block(tuple(keys[i] for i in rows[row:row_end]), tuple(keys[i] for i in columns[column:column_end]))


def _ports(flat: Flat, path: str) -> dict[str, NetworkPort]:
    component = flat.elementary.get(path)
    ports = {} if component is None else component.ports()
    return {name: port for name, port in ports.items() if isinstance(port, NetworkPort)}


def _rank(matrix: np.ndarray) -> int:
    """Rank of a matrix; a square one that is not finite counts as regular."""
    return int(np.linalg.matrix_rank(matrix)) if np.isfinite(matrix).all() else len(matrix)
