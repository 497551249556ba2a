"""Topology: which coordinates the system has, where its tree grows, which joints are cut.

Two graphs are decided here. The *frame graph* has frame nodes, joints and rigid parts as edges, and the ground; a
spanning tree grows from the ground, the other edges are cut. The *scalar graph* has flange nodes and scalar joint
coordinates as nodes and ideal relations (gears, shafts, a joint's own axis) as hyper-edges: what is known propagates
through them, a new coordinate is chosen where nothing is known, and relations that are left over close loops. What a
spring, say, ties to a node that is known moves relative to that node.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

import casadi as ca
import numpy as np

from mbfmu.dynamics.reading.equation_context import Behaviour, Facts, evaluate
from mbfmu.dynamics.reading.flatten import ConnectorKey, Flat, UnionFind
from mbfmu.dynamics.structure.networks import Networks
from mbfmu.errors import ModelError
from mbfmu.messages import of
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Flange, Frame
from mbfmu.modeling.declarations import STATE_SELECTS
from mbfmu.modeling.names import joined

GROUND = -1
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


@dataclasses.dataclass(frozen=True)
class Edge:
    """A joint, rigid part or prescribed frame: frame `b` moves relative to frame `a` as the component says."""

    path: str
    a: int
    b: int
    #: Connector names at both ends; '' stands for the ground.
    connectors: tuple[str, str]
    dof: int
    role: Literal["tree", "cut", "free"] = "tree"
    #: True where b is nearer to the ground than a.
    reversed: bool = False

    @property
    def child(self) -> int:
        """The node that a tree edge supports."""
        return self.a if self.reversed else self.b

    @property
    def parent(self) -> int:
        """The node that a tree edge hangs on."""
        return self.b if self.reversed else self.a


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


@dataclasses.dataclass(frozen=True)
class Topology:
    """The decisions: what each component's equations say, edges in tree order, scalar nodes, relations, networks."""

    flat: Flat
    behaviours: Mapping[str, Behaviour]
    #: Frame node -> edge that supports it; every frame node has one.
    support: Mapping[int, Edge]
    edges: tuple[Edge, ...]
    #: Tree edges, parents before children.
    order: tuple[Edge, ...]
    #: Components that stand in for free motion (path -> the body that they move).
    free_joints: Mapping[str, str]
    relations: tuple[Relation, ...]
    #: Scalar node -> what gives its position.
    source: Mapping[ScalarNode, Literal["coordinate", "relation", "prescribed"]]
    #: Nodes that are coordinates of the system.
    independent: tuple[ScalarNode, ...]
    #: Those among them whose coordinate is relative to another node.
    relative: Mapping[ScalarNode, Relative]
    #: Prescribing connectors: the one that gives a node its position, and those that repeat it (constraints).
    prescribed: Mapping[ScalarNode, ConnectorKey]
    repeated: tuple[ConnectorKey, ...]
    solved_by: Mapping[ScalarNode, Relation]
    #: Connectors whose flows follow from potentials.
    networks: Networks
    #: Relations that are kept as constraints although they could give a position.
    kept: frozenset[RelationKey] = frozenset()
    #: Components whose ends keep absolute coordinates.
    absolute: frozenset[str] = frozenset()
    #: States that conditions know, and signals that they imply through accelerations: with their components.
    bound: frozenset[tuple[str, leaves.Leaf]] = frozenset()

    @property
    def all_components(self) -> list[Component]:
        """Components of the assembly, composites too, and those that stand in for free motion."""
        return [*self.flat.components.values(), *(self.behaviours[path].component for path in self.free_joints)]

    def flange_node(self, path: str, connector: str) -> FlangeNode:
        """Node of a flange."""
        return FlangeNode(self.flat.nodes[(path, connector)])

    def keeping(self, relations: Collection[RelationKey]) -> Topology:
        """The same where these relations, too, are kept as constraints."""
        kept = self.kept.union(relations)
        graph = _scalar_graph(self.flat, self.behaviours, kept, self.absolute)
        return dataclasses.replace(self, kept=kept, **graph)

    def without_relative(self, nodes: Iterable[ScalarNode]) -> Topology:
        """The same where what makes the coordinates of these nodes relative does not."""
        absolute = self.absolute.union(self.relative[node].path for node in nodes)
        graph = _scalar_graph(self.flat, self.behaviours, self.kept, absolute)
        return dataclasses.replace(self, absolute=absolute, **graph)

    def binding(self, found: Collection[tuple[str, leaves.Leaf]]) -> Topology:
        """The same where these states and signals, too, are part of what conditions keep."""
        return dataclasses.replace(self, bound=self.bound.union(found))

    def report(self) -> list[str]:
        """What was decided about edges and relations."""
        lines = [_describe(edge) for edge in self.edges if edge.role != "tree" or edge.reversed]
        lines += [f"{joined(path, leaf)}: bound by a condition" for path, leaf in sorted(self.bound, key=str)]
        kept = [of(f"relation {index + 1}", path) for path, index in sorted(self.kept)]
        return lines + [f"{name}: kept as a constraint" for name in kept]


def analyse(flat: Flat, cuts: tuple[str, ...] = ()) -> Topology:
    """Evaluate the equations of all components, each once, and decide the topology of a flat assembly.

    The frame graph comes first: of joints and rigid parts. Then bodies know whether they move freely, or hold the
    orientation of their surroundings, and the scalar graph follows.

    Args:
        flat: the assembly.
        cuts: paths of joints to cut first, where a loop leaves the choice.

    Raises:
        ModelError: a part that nothing holds and nothing can move, a mass that would have to rotate, wrong joint names.
    """
    for path, component in flat.components.items():
        component.check_connections(set(flat.connected_ports(path)))
    bodies = {p: c for p, c in flat.elementary.items() if c.free_joint_priority() is not None}
    found = {
        path: evaluate(component, Facts(flat.connected_ports(path)))
        for path, component in flat.components.items()
        if path not in bodies and (path in flat.elementary or hasattr(component, "equations"))
    }
    unknown = [c for c in cuts if c not in found or found[c].motion is None]
    if unknown:
        joints = ", ".join(p for p, r in found.items() if r.motion is not None)
        raise ModelError(f"cannot cut {', '.join(unknown)}: no joint of that name; joints are {joints}")
    frames = _FrameGraph(flat, found, bodies)
    support, edges, order = frames.grow(cuts)
    holders = frames.orientation_holders()
    for path, body in bodies.items():
        facts = Facts(flat.connected_ports(path), frames.joint_of.get(path), path in holders)
        found[path] = evaluate(body, facts)
    paths = [p for p in flat.components if p in found]
    behaviours = {path: found[path] for path in [*paths, *frames.bodies_of]}
    return Topology(
        flat,
        behaviours,
        support,
        edges,
        order,
        frames.bodies_of,
        networks=Networks.of(flat, behaviours),
        **_scalar_graph(flat, behaviours, frozenset(), frozenset()),
    )


def _describe(edge: Edge) -> str:
    if edge.role == "cut":
        return f"{edge.path}: cut, {6 - edge.dof} constraints"
    if edge.role == "free":
        return f"{edge.path}: moves freely"
    return f"{edge.path}: in the tree, reversed"


def _edges(flat: Flat, behaviours: Mapping[str, Behaviour]) -> list[Edge]:
    edges = []
    for path, behaviour in behaviours.items():
        if behaviour.motion is not None:
            ends = [n for n, p in behaviour.component.ports().items() if isinstance(p, Frame)][:2]
            a, b = (flat.nodes[(path, end)] for end in ends)
            edges.append(Edge(path, a, b, (ends[0], ends[1]), _dof(behaviour)))
        for target in behaviour.prescribed(Frame):
            if target.name == "r_0":
                edges.append(Edge(path, GROUND, flat.nodes[(path, target.connector)], ("", target.connector), 0))
    return edges


def _dof(behaviour: Behaviour) -> int:
    component = behaviour.component
    found = (declaration.leaf(component) for declaration in component.variables().values())
    return sum(leaf.size for leaf in found if isinstance(leaf, leaves.Coordinate | leaves.Speed))


def start_information(component: Component) -> tuple[bool, int]:
    """(any start value fixed, strongest stateSelect) over the component's variables."""
    starts = [component.start(name) for name in component.variables()]
    fixed = any(bool(np.any(is_fixed)) for _, is_fixed, _ in starts)
    return fixed, max((STATE_SELECT[select] for *_, select in starts), default=0)


def _keep_order(edge: Edge, behaviour: Behaviour, cuts: tuple[str, ...]) -> tuple[Any, ...]:
    """Sort key: edges that should stay in the tree come first."""
    fixed, strength = start_information(behaviour.component)
    driven = any(
        isinstance(leaf, leaves.Coordinate) for r in behaviour.relations for leaf, *_ in behaviour.leaves_in(r)
    )
    return (edge.path in cuts, edge.dof > 0, not (fixed or driven or strength == STATE_SELECT["always"]), edge.dof)


class _FrameGraph:
    """The frame graph while its spanning tree grows."""

    def __init__(self, flat: Flat, behaviours: dict[str, Behaviour], bodies: Mapping[str, Component]) -> None:
        self._flat, self._behaviours, self._bodies = flat, behaviours, bodies
        self._edges = _edges(flat, behaviours)
        self._union = UnionFind()
        self._tree: list[Edge] = []
        #: Path of a free joint -> its body; body -> its free joint.
        self.bodies_of: dict[str, str] = {}
        self.joint_of: dict[str, Component] = {}

    def grow(self, cuts: tuple[str, ...]) -> tuple[dict[int, Edge], tuple[Edge, ...], tuple[Edge, ...]]:
        """Grow the spanning tree: the supporting edge of each node, all edges, and those of the tree in order."""
        union = self._union
        nodes = [n for n, kind in enumerate(self._flat.kinds) if issubclass(kind, Frame) and self._flat.members[n]]
        for node in (GROUND, *nodes):
            union.find(node)
        ordered = sorted(self._edges, key=lambda e: _keep_order(e, self._behaviours[e.path], cuts))
        for edge in (e for e in ordered if e.dof == 0):
            self._add(edge)
        self._free_those({p: c for p, c in self._bodies.items() if c.free_joint_priority() == 0})
        for edge in (e for e in ordered if e.dof):
            self._add(edge)
        self._free_those(self._bodies)
        loose = [n for n in nodes if union.find(n) != union.find(GROUND)]
        if loose:
            path, connector = self._flat.members[loose[0]][0]
            raise ModelError(
                f"{joined(path, connector)}: nothing holds this frame, and no Body is attached to it that could move "
                "freely; connect it to the World, a joint or a Body"
            )
        order = _directed(self._tree)
        decided = {(edge.path, edge.connectors): edge for edge in order}
        cut = (dataclasses.replace(edge, role="cut") for edge in self._edges)
        edges = tuple(decided.get((edge.path, edge.connectors), edge) for edge in cut)
        return {edge.child: edge for edge in order}, edges, order

    def _add(self, edge: Edge) -> None:
        if self._union.find(edge.a) != self._union.find(edge.b):
            self._union.union(edge.a, edge.b)
            self._tree.append(edge)

    def _free_those(self, bodies: Mapping[str, Component]) -> None:
        """Put a joint between the ground and those bodies that nothing holds yet, the keenest first."""
        for path in sorted(bodies, key=lambda p: bodies[p].free_joint_priority() or 0):
            if self._union.find(self._frame_of(path)) != self._union.find(GROUND):
                self._add(self._free_edge(path))

    def _free_edge(self, path: str) -> Edge:
        body, node = self._bodies[path], self._frame_of(path)
        joint = body.lend("freeMotion", body.free_joint(alone=not any(node in (e.a, e.b) for e in self._edges)))
        name = joint.path
        self._behaviours[name] = evaluate(joint, Facts(frozenset(("frame_a", "frame_b"))))
        self.bodies_of[name], self.joint_of[path] = path, joint
        edge = Edge(name, GROUND, node, ("", "frame_b"), _dof(self._behaviours[name]), role="free")
        self._edges.append(edge)
        return edge

    def _frame_of(self, path: str) -> int:
        name = next(n for n, p in self._bodies[path].ports().items() if isinstance(p, Frame))
        return self._flat.nodes[(path, name)]

    def orientation_holders(self) -> set[str]:
        """Bodies that hold the orientation of their surroundings (Modelica's Connections.isRoot) without moving freely.

        Orientation passes through rigid parts and through joints with `ties_orientation`. Where it does not reach the
        ground, one body holds it: its variables Q or phi give it, while all others show dummies.
        """
        union = UnionFind()
        for edge in self._edges:
            if edge.path not in self.bodies_of and self._behaviours[edge.path].component.ties_orientation:
                union.union(edge.a, edge.b)
        seen, found = {union.find(GROUND)}, set()
        for path in sorted(self._bodies, key=lambda p: self._bodies[p].free_joint_priority() or 0):
            island = union.find(self._frame_of(path))
            if island not in seen and path not in self.joint_of:
                found.add(path)
            seen.add(island)
        return found


def _directed(tree: list[Edge]) -> tuple[Edge, ...]:
    """The tree edges, directed away from the ground; parents before children."""
    at: dict[int, list[Edge]] = {}
    for edge in tree:
        at.setdefault(edge.a, []).append(edge)
        at.setdefault(edge.b, []).append(edge)
    order: list[Edge] = []
    queue, reached = [GROUND], {GROUND}
    for node in queue:
        for edge in at.get(node, []):
            directed = dataclasses.replace(edge, reversed=edge.b == node)
            if directed.child not in reached:
                reached.add(directed.child)
                order.append(directed)
                queue.append(directed.child)
    return tuple(order)


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


def _scalar_graph(
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
            is_of_joint = isinstance(choice, CoordinateNode) and behaviours[choice.path].motion is not None
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
        tunable = [
            behaviour.component.symbol(name)
            for name, declaration in behaviour.component.parameters().items()
            if declaration.tunable
        ]
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
