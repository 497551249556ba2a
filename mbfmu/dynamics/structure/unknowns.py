"""Unknowns of a system as CasADi symbols, in the order of the vectors of `Equations`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Hashable, Mapping
from types import MappingProxyType

import casadi as ca

from mbfmu.dynamics.reading.flatten import ConnectorKey
from mbfmu.dynamics.structure.frame_graph import Edge
from mbfmu.dynamics.structure.scalar_graph import CoordinateNode, RelationKey, ScalarNode
from mbfmu.dynamics.structure.topology import Topology
from mbfmu.modeling import leaves
from mbfmu.modeling.names import joined


@dataclasses.dataclass(frozen=True)
class Own:
    """An unknown leaf of a component."""

    path: str
    leaf: leaves.Leaf

    def __str__(self) -> str:
        return joined(self.path, self.leaf)


#: What an entry of q, v and a belongs to: a node of the scalar graph, or a quaternion or speeds of a component.
Coordinate = ScalarNode | Own
#: What a multiplier belongs to: a component, a cut joint, a relation that closes a loop, a position that is prescribed
#: twice.
MultiplierKey = Own | Edge | RelationKey | ConnectorKey


@dataclasses.dataclass(frozen=True)
class Unknowns:
    """Positions q, speeds v, accelerations a, states z, multipliers, modes and held values, by their owners.

    Where the coordinate of a node is relative to another node, q and v are its and dq/dt's, while a is the acceleration
    of the node itself: so balances of forces know their neighbours only. Everywhere else a = dv/dt.
    """

    time: ca.SX
    q: Mapping[Coordinate, ca.SX]
    v: Mapping[Coordinate, ca.SX]
    a: Mapping[Coordinate, ca.SX]
    z: Mapping[Own, ca.SX]
    modes: Mapping[Own, ca.SX]
    #: Values that are held between events.
    held: Mapping[Own, ca.SX]
    #: Signals as they were some time ago.
    delayed: Mapping[Own, ca.SX]
    #: Multipliers of components, cut joints, relations that close loops, positions that are prescribed twice, and
    #: signals that conditions imply.
    multipliers: Mapping[MultiplierKey, ca.SX]
    #: Per element of v, what messages call it: its coordinate's name, or its own.
    speed_names: tuple[str, ...]
    #: All symbols, by what they are of whom: states and signals keep theirs where they are bound.
    made: Mapping[tuple[str, Hashable], ca.SX]

    @classmethod
    def of(cls, topology: Topology, made: Mapping[tuple[str, Hashable], ca.SX] = MappingProxyType({})) -> Unknowns:
        """Symbols for all that the topology leaves open; those that are made already stay."""
        q: dict[Coordinate, ca.SX] = {}
        v: dict[Coordinate, ca.SX] = {}
        a: dict[Coordinate, ca.SX] = {}
        z: dict[Own, ca.SX] = {}
        modes: dict[Own, ca.SX] = {}
        held: dict[Own, ca.SX] = {}
        delayed: dict[Own, ca.SX] = {}
        multipliers: dict[MultiplierKey, ca.SX] = {}
        names: list[str] = []
        known = dict(made)

        def symbol(owner: Hashable, name: str, *shape: int, what: str = "value") -> ca.SX:
            if (what, owner) not in known:
                known[what, owner] = ca.SX.sym(name, *shape)
            return known[what, owner]

        for node in topology.independent:
            name = _node_name(topology, node)
            q[node], v[node], a[node] = (symbol(node, name + "'" * k, what=f"order {k}") for k in range(3))
            names.append(name)
        for path, behaviour in topology.behaviours.items():
            for declaration in behaviour.component.variables().values():
                leaf = declaration.leaf(behaviour.component)
                if leaf is None:
                    continue
                own = Own(path, leaf)
                match leaf:
                    case leaves.Quaternion():
                        q[own] = symbol(own, str(own), leaf.size)
                    case leaves.Speed():
                        v[own] = symbol(own, str(own), leaf.size)
                        a[own] = symbol(own, f"{own}'", leaf.size, what="rate")
                        names += [str(element) for element in ca.vertsplit(v[own])]
                    case leaves.State() if (path, leaf) in topology.bound:
                        v[own] = symbol(own, str(own), leaf.size)
                        a[own] = symbol(own, f"{own}'", leaf.size, what="rate")
                        names += [str(element) for element in ca.vertsplit(v[own])]
                    case leaves.State():
                        z[own] = symbol(own, str(own), leaf.size)
                    case leaves.Multiplier():
                        multipliers[own] = symbol(own, str(own), leaf.size)
            for i in range(len(behaviour.conditions)):
                own = Own(path, leaves.Implied(i))
                if (path, own.leaf) in topology.bound:
                    v[own] = symbol(own, f"time integral of {own}", what="integral")
                    a[own] = symbol(own, str(own))
                    names.append(f"time integral of {own}")
                else:
                    multipliers[own] = symbol(own, str(own))
            for i in range(len(behaviour.switches)):
                own = Own(path, leaves.Mode(i))
                modes[own] = symbol(own, str(own))
            for value in behaviour.held:
                own = Own(path, value.leaf)
                held[own] = symbol(own, str(own), *value.leaf.shape)
            for delay in behaviour.delays:
                own = Own(path, delay.leaf)
                delayed[own] = symbol(own, str(own), *delay.leaf.shape)
        for edge in topology.edges:
            if edge.role == "cut":
                multipliers[edge] = symbol(edge, f"cut.{edge.path}.{edge.connectors[1]}", 6)
        for relation in topology.relations:
            if relation.solves is None:
                multipliers[relation.key] = symbol(relation.key, f"relation.{relation.path}.{relation.index}")
        for path, connector in topology.repeated:
            multipliers[(path, connector)] = symbol((path, connector), f"root.{path}.{connector}", what="root")
        time = symbol(None, "time")
        return cls(time, q, v, a, z, modes, held, delayed, multipliers, tuple(names), known)

    @functools.cached_property
    def own(self) -> Mapping[Own, ca.SX]:
        """Symbols of unknown leaves."""
        found: dict[Own, ca.SX] = {}
        for group in (self.q, self.v, self.z, self.modes, self.held, self.delayed, self.multipliers):
            found |= {key: symbol for key, symbol in group.items() if isinstance(key, Own)}
        for key, symbol in self.a.items():
            if isinstance(key, Own):
                is_rate = isinstance(key.leaf, leaves.Implied)
                found[key if is_rate else Own(key.path, leaves.Acceleration(str(key.leaf)))] = symbol
        return found

    @functools.cached_property
    def quaternions(self) -> Mapping[Own, ca.SX]:
        """Quaternions among the positions."""
        return {key: symbol for key, symbol in self.q.items() if isinstance(key, Own)}

    @functools.cached_property
    def quaternion_offsets(self) -> tuple[int, ...]:
        """Where quaternions begin in q."""
        offsets, at = [], 0
        for key, symbol in self.q.items():
            if key in self.quaternions:
                offsets.append(at)
            at += symbol.numel()
        return tuple(offsets)

    def position_rates(self, key: Coordinate) -> ca.SX:
        """Time derivative of a coordinate or quaternion."""
        if not isinstance(key, Own):
            return self.v[key]
        assert isinstance(key.leaf, leaves.Quaternion)
        return leaves.quaternion_rate(self.q[key], self.v[Own(key.path, leaves.Speed(key.leaf.speed))])


def _node_name(topology: Topology, node: ScalarNode) -> str:
    relative = topology.relative.get(node)
    if relative is not None:
        return joined(relative.path, relative.name)
    if isinstance(node, CoordinateNode):
        return joined(node.path, node.name) + (f"[{node.index + 1}]" if node.index else "")
    path, name = topology.flat.members[node.number][0]
    return joined(path, name)
