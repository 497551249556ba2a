"""The scalar graph: where the position of each flange and joint coordinate comes from.

Its nodes are flange nodes and scalar joint coordinates, ideal relations (gears, shafts, a joint's own axis) are its
hyper-edges: what is known propagates through them, a new coordinate is chosen where nothing is known, and relations
that are left over close loops. What a spring, say, ties to a node that is known moves relative to that node.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

import casadi as ca
import numpy as np

from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.reading.flatten import ConnectorKey, Flat
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Flange
from mbfmu.modeling.declarations import STATE_SELECTS
from mbfmu.modeling.names import joined

#: Strength of Modelica's stateSelect.
STATE_SELECT = {name: strength for strength, name in enumerate(STATE_SELECTS)}


@dataclasses.dataclass(frozen=True)
class FlangeNode:
    """Node of the scalar graph: flanges that are connected."""

    number: int


@dataclasses.dataclass(frozen=True)
class CoordinateNode:
    """Node of the scalar graph: one element of a joint's coordinate."""

    path: str
    name: str
    index: int


ScalarNode = FlangeNode | CoordinateNode


#: A relation's name: its component, and its number there.
RelationKey = tuple[str, int]


@dataclasses.dataclass(frozen=True, eq=False)
class Relation:
    """An ideal relation of a component among scalar nodes: elements of leaves and their nodes."""

    path: str
    index: int
    expression: ca.SX
    leaves: tuple[tuple[leaves.Leaf, ca.SX, ScalarNode], ...]
    #: The node whose position it gives; None: it closes a loop.
    solves: ScalarNode | None = None

    @property
    def key(self) -> RelationKey:
        """Its name."""
        return self.path, self.index

    @property
    def nodes(self) -> list[ScalarNode]:
        """Nodes that the relation ties, each once."""
        return list(dict.fromkeys(node for *_, node in self.leaves))

    def coefficient(self, node: ScalarNode, connector: str | None = None) -> ca.SX:
        """Derivative of the residual with respect to the position of a node (at one connector), in local leaves."""
        slopes = [
            ca.jacobian(self.expression, element)
            for leaf, element, n in self.leaves
            if n == node and (connector is None or leaf == leaves.FlangePosition(connector))
        ]
        return ca.sum1(ca.vertcat(*slopes)) if slopes else ca.SX.zeros(1)


@dataclasses.dataclass(frozen=True)
class Relative:
    """How a coordinate of the system counts: position of its node = that of `reference` + `sign` * coordinate.

    The coordinate is the variable `name` of the component `path`, the difference of two flange positions.
    """

    path: str
    name: str
    reference: FlangeNode
    sign: int


class _Pending:
    """Relations that have not said where a node's position comes from, in turns over their list."""

    def __init__(self, relations: list[Relation], known: Collection[ScalarNode]) -> None:
        self._relations = relations
        self._unknown = [{node for node in relation.nodes if node not in known} for relation in relations]
        self._of: dict[ScalarNode, list[int]] = {}
        for i, nodes in enumerate(self._unknown):
            for node in nodes:
                self._of.setdefault(node, []).append(i)
        self._ready = [i for i, nodes in enumerate(self._unknown) if len(nodes) <= 1]

    def know(self, node: ScalarNode) -> None:
        """Take note that a node's position is known."""
        for i in self._of.get(node, ()):
            self._unknown[i].discard(node)
            if len(self._unknown[i]) == 1:
                bisect.insort(self._ready, i)

    def solvable(self) -> Iterator[tuple[Relation, ScalarNode | None]]:
        """Relations with at most one unknown node, and that node, each once; what becomes known meanwhile counts."""
        last = -1
        while self._ready:
            place = bisect.bisect_right(self._ready, last) % len(self._ready)
            last = self._ready.pop(place)
            yield self._relations[last], next(iter(self._unknown[last]), None)


def scalar_graph(
    flat: Flat, behaviours: Mapping[str, Behaviour], kept: frozenset[RelationKey], absolute: frozenset[str]
) -> dict[str, Any]:
    """Fields of Topology that say where each scalar node's position comes from.

    Relations that are `kept` give none, and nothing is relative by components that are `absolute`.
    """
    relations: list[Relation] = []
    nodes: dict[ScalarNode, tuple[int, int]] = {}
    prescribed: dict[ScalarNode, ConnectorKey] = {}
    repeated: list[ConnectorKey] = []
    for n, kind in enumerate(flat.kinds):
        if issubclass(kind, Flange) and flat.members[n]:
            nodes[FlangeNode(n)] = (0, 0)
    for path, behaviour in behaviours.items():
        component = behaviour.component
        for name, declaration in component.variables().items():
            leaf = declaration.leaf(component)
            if isinstance(leaf, leaves.Coordinate):
                for i in range(leaf.size):
                    nodes[CoordinateNode(path, name, i)] = _rank(component, name, True)
        for target in behaviour.prescribed(Flange):
            node = FlangeNode(flat.nodes[(path, target.connector)])
            if node in prescribed:
                repeated.append((path, target.connector))
            else:
                prescribed[node] = (path, target.connector)
        _raise_ranks(flat, path, behaviour, nodes)
        for index, expression in enumerate(behaviour.relations):
            if index not in behaviour.network:
                relations.append(_relation(flat, behaviour, path, index, expression))
    for name, port in flat.root.ports().items():
        if isinstance(port, Flange) and port.motion and FlangeNode(flat.nodes[("", name)]) in nodes:
            node = FlangeNode(flat.nodes[("", name)])
            if node in prescribed:
                raise ModelError(
                    f"{name}: this flange takes its motion from outside, but {joined(*prescribed[node])} "
                    "prescribes it already; expose it with motion=False"
                )
            prescribed[node] = ("", name)
    source: dict[ScalarNode, Literal["coordinate", "relation", "prescribed"]] = dict.fromkeys(prescribed, "prescribed")
    independent: list[ScalarNode] = []
    solves: dict[RelationKey, ScalarNode] = {}
    pending = _Pending([relation for relation in relations if relation.key not in kept], source)
    order = sorted(nodes, key=lambda n: nodes[n], reverse=True)
    ties = sorted(_ties(flat, behaviours, absolute), key=lambda tie: tie.rank, reverse=True)
    relative: dict[ScalarNode, Relative] = {}
    smooth = _Smooth(flat, behaviours, prescribed)
    for strongest in order:
        while True:  # relative coordinates come before the strongest node that is left
            for relation, unknown in pending.solvable():
                if unknown is not None:
                    solves[relation.key] = unknown
                    source[unknown] = "relation"
                    pending.know(unknown)
                    smooth.follow(unknown, relation)
            if strongest in source:
                break
            choice = strongest
            is_of_joint = isinstance(choice, CoordinateNode) and bool(behaviours[choice.path].motions)
            for tie in ties if not is_of_joint else ():
                known = tie.from_known(source)
                if tie.rank > nodes[choice] and known is not None and smooth.is_smooth(known[0]):
                    reference, choice, sign = known
                    relative[choice] = Relative(tie.path, tie.name, reference, sign)
                    break
            source[choice] = "coordinate"
            pending.know(choice)
            independent.append(choice)
    position = {n: i for i, n in enumerate(nodes)}
    decided = tuple(dataclasses.replace(relation, solves=solves.get(relation.key)) for relation in relations)
    return {
        "relations": decided,
        "source": source,
        "independent": tuple(sorted(independent, key=position.__getitem__)),
        "relative": relative,
        "prescribed": prescribed,
        "repeated": tuple(repeated),
        "solved_by": {relation.solves: relation for relation in decided if relation.solves is not None},
    }


def _relation(flat: Flat, behaviour: Behaviour, path: str, index: int, expression: ca.SX) -> Relation:
    found: list[tuple[leaves.Leaf, ca.SX, ScalarNode]] = []
    for leaf, i, element in behaviour.leaves_in(expression):
        if isinstance(leaf, leaves.FlangePosition):
            found.append((leaf, element, FlangeNode(flat.nodes[(path, leaf.connector)])))
        elif isinstance(leaf, leaves.Coordinate):
            found.append((leaf, element, CoordinateNode(path, leaf.name, i)))
    return Relation(path, index, expression, tuple(found))


def _rank(component: Component, name: str, is_coordinate: bool) -> tuple[int, int]:
    _, fixed, select = component.start(name)
    return (STATE_SELECT[select] * 2 + bool(np.any(fixed)), int(is_coordinate))


def _raise_ranks(flat: Flat, path: str, behaviour: Behaviour, nodes: dict[ScalarNode, tuple[int, int]]) -> None:
    """A variable that just is a flange's position (such as Inertia.phi) says how much that node wants to be a state."""
    component = behaviour.component
    for target, expression in behaviour.targets.items():
        if not (isinstance(target, leaves.Value) and target.name in component.variables()):
            continue
        if not (expression.is_scalar() and expression.is_symbolic()):
            continue
        leaf, *_ = behaviour.leaf_of.get(expression.element_hash(), (None,))
        if isinstance(leaf, leaves.FlangePosition):
            node = FlangeNode(flat.nodes[(path, leaf.connector)])
            if node in nodes:
                nodes[node] = max(nodes[node], _rank(component, target.name, False))


@dataclasses.dataclass(frozen=True)
class _Tie:
    """A variable that is the difference of two flange positions (SpringDamper.phi_rel) and wants to be a state."""

    path: str
    name: str
    a: FlangeNode
    b: FlangeNode
    rank: tuple[int, int]

    def from_known(self, source: Collection[ScalarNode]) -> tuple[FlangeNode, FlangeNode, int] | None:
        """The end that is known already, the one that is not, the sign of the variable there; None for 0 or 2 known."""
        if (self.a in source) == (self.b in source):
            return None
        return (self.a, self.b, 1) if self.a in source else (self.b, self.a, -1)


def _ties(flat: Flat, behaviours: Mapping[str, Behaviour], absolute: frozenset[str]) -> Iterator[_Tie]:
    """Variables that the scalar graph may choose; none where events set positions or speeds: all behind would jump."""
    if any(_moves_coordinates(behaviour) for behaviour in behaviours.values()):
        return
    for path, behaviour in behaviours.items():
        component = behaviour.component
        for target, expression in behaviour.targets.items() if path not in absolute else ():
            if not (isinstance(target, leaves.Value) and target.name in component.variables()):
                continue
            ends = _difference(behaviour, expression)
            rank = _rank(component, target.name, False)
            if ends is not None and rank[0] >= 2 * STATE_SELECT["prefer"]:
                a, b = (FlangeNode(flat.nodes[(path, end)]) for end in ends)
                yield _Tie(path, target.name, a, b, rank)


def _difference(behaviour: Behaviour, expression: ca.SX) -> tuple[str, str] | None:
    """The flanges a and b where an expression is the position of b less that of a."""
    if not (expression.is_scalar() and expression.is_op(ca.OP_SUB)):
        return None
    found = [behaviour.leaf_of.get(expression.dep(i).element_hash(), (None,))[0] for i in (0, 1)]
    if not all(isinstance(leaf, leaves.FlangePosition) and leaf.order == 0 for leaf in found):
        return None
    b, a = found
    return a.connector, b.connector  # type: ignore[union-attr]


def _moves_coordinates(behaviour: Behaviour) -> bool:
    """True where an event sets anew what is no state with an equation of its own."""
    component = behaviour.component
    declared = (component.variables().get(reset.name) for reset in behaviour.resets)
    return any(d is None or not isinstance(d.leaf(component), leaves.State) for d in declared)


class _Smooth:
    """Which nodes move without jumps of position or speed, whatever inputs, events and tunable parameters do.

    What is relative to a node jumps with it.
    """

    def __init__(
        self, flat: Flat, behaviours: Mapping[str, Behaviour], prescribed: Mapping[ScalarNode, ConnectorKey]
    ) -> None:
        self._flat, self._behaviours, self._prescribed = flat, behaviours, prescribed
        self._relations: dict[ScalarNode, Relation] = {}
        self._found: dict[ScalarNode, bool] = {}

    def follow(self, node: ScalarNode, relation: Relation) -> None:
        """Take down which relation gives the position of a node."""
        self._relations[node] = relation

    def is_smooth(self, node: ScalarNode) -> bool:
        """True where a node, whose position is known, never jumps."""
        if node not in self._found:
            self._found[node] = self._judged(node)
        return self._found[node]

    def _judged(self, node: ScalarNode) -> bool:
        if node in self._prescribed:
            path, connector = self._prescribed[node]
            behaviour = self._behaviours.get(path)
            if path == "" or behaviour is None:
                return False
            port = self._flat.ports[(path, connector)]
            assert isinstance(port, Flange)
            return self._stays(path, behaviour.targets[leaves.Prescribed(connector, port.position)], None)
        relation = self._relations.get(node)
        return relation is None or self._stays(relation.path, relation.expression, node)

    def _stays(self, path: str, position: ca.SX, itself: ScalarNode | None) -> bool:
        behaviour = self._behaviours[path]
        if behaviour.resets:
            return False
        declared = behaviour.component.parameters()
        tunable = [symbol for name, symbol in behaviour.parameters.items() if declared[name].tunable]
        both = ca.veccat(position, behaviour.derivative(position))
        found = (leaf for leaf, *_ in behaviour.leaves_in(both))
        both = ca.veccat(both, *(behaviour.targets[leaf] for leaf in found if isinstance(leaf, leaves.StateRate)))
        if tunable and ca.depends_on(both, ca.veccat(*tunable)):
            return False
        for leaf, index, _ in behaviour.leaves_in(both):
            node: ScalarNode
            if isinstance(leaf, leaves.FlangePosition):
                node = FlangeNode(self._flat.nodes[(path, leaf.connector)])
            elif isinstance(leaf, leaves.Coordinate):
                node = CoordinateNode(path, leaf.name, index)
            elif isinstance(leaf, leaves.State | leaves.StateRate):
                continue
            else:
                return False
            if node != itself and not self.is_smooth(node):
                return False
        return True
