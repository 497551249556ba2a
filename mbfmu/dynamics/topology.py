"""Topology: which coordinates the system has, where its tree grows, which joints are cut.

Two graphs are decided here. The *frame graph* has frame nodes, joints and rigid parts as edges, and the ground; a
spanning tree grows from the ground, the other edges are cut. The *scalar graph* has flange nodes and scalar joint
coordinates as nodes and ideal relations (gears, shafts, a joint's own axis) as hyper-edges: what is known propagates
through them, a new coordinate is chosen where nothing is known, and relations that are left over close loops.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import casadi as ca
import numpy as np

from mbfmu.dynamics.flatten import ConnectorKey, Flat, UnionFind
from mbfmu.dynamics.heat import is_thermal
from mbfmu.dynamics.scope import Record, evaluate
from mbfmu.errors import ModelError
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Flange, Frame, Port, Signal
from mbfmu.modeling.declarations import Coordinate, Speed

GROUND = -1
#: Strength of Modelica's stateSelect.
STATE_SELECT = {"never": 0, "avoid": 1, "default": 2, "prefer": 3, "always": 4}

#: A node of the scalar graph: a flange node ("flange", n) or one element of a coordinate ("coordinate", path, name, i).
ScalarNode = tuple[Any, ...]


@dataclasses.dataclass
class Edge:
    """A joint, rigid part or root: frame `b` moves relative to frame `a` as the component says."""

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


@dataclasses.dataclass(eq=False)
class Relation:
    """An ideal relation of a component among scalar nodes: leaf elements (key, index) -> node."""

    path: str
    index: int
    expression: ca.SX
    leaves: list[tuple[Any, int, ca.SX, ScalarNode]]
    #: The node whose position it gives; None: it closes a loop.
    solves: ScalarNode | None = None

    @property
    def nodes(self) -> list[ScalarNode]:
        """Nodes that the relation ties, each once."""
        return list(dict.fromkeys(node for *_, node in self.leaves))

    def coefficient(self, node: ScalarNode) -> ca.SX:
        """Derivative of the residual with respect to the position of a node, in local leaves."""
        return ca.sum1(
            ca.vertcat(*(ca.jacobian(self.expression, element) for *_, element, n in self.leaves if n == node))
        )


@dataclasses.dataclass
class Topology:
    """The decisions: records of all elementary components, edges in tree order, scalar nodes and relations."""

    flat: Flat
    records: dict[str, Record]
    #: Frame node -> edge that supports it; every frame node has one.
    support: dict[int, Edge]
    edges: list[Edge]
    #: Tree edges, parents before children.
    order: list[Edge]
    relations: list[Relation]
    #: Scalar node -> what gives its position.
    source: dict[ScalarNode, Literal["coordinate", "relation", "root"]]
    independent: list[ScalarNode]
    #: Prescribing connectors: the one that gives a node its position, and those that repeat it (constraints).
    roots: dict[ScalarNode, ConnectorKey]
    extra_roots: list[ConnectorKey]
    solved_by: dict[ScalarNode, Relation]
    #: Components that stand in for free motion (path -> the body that they move).
    free: dict[str, str]
    report: list[str]

    def scalar_node(self, path: str, name: str, index: int = 0) -> ScalarNode:
        """Node of a coordinate's element."""
        return ("coordinate", path, name, index)

    def flange_node(self, key: ConnectorKey) -> ScalarNode:
        """Node of a flange connector."""
        return ("flange", self.flat.nodes[key])


def connected_ports(flat: Flat, path: str, component: Component) -> set[str]:
    """Names of the component's connectors that meet another component or the outside; own parts do not count."""
    names = set()
    for name, port in component.ports().items():
        key = (path, name)
        if _is_signal(port):
            if key in flat.connected:
                names.add(name)
        elif path in flat.components and path not in flat.elementary:
            if flat.outside.get(key):
                names.add(name)
        else:
            node = flat.nodes[key]
            if len(flat.members[node]) > 1 or flat.nodes.get(("", name)) == node or _is_exposed(flat, node):
                names.add(name)
    return names


def _is_exposed(flat: Flat, node: int) -> bool:
    return any(flat.nodes[("", name)] == node for name, port in flat.root.ports().items() if not _is_signal(port))


def _is_signal(port: Port) -> bool:
    return isinstance(port, Signal)


def analyse(flat: Flat, cuts: tuple[str, ...] = ()) -> Topology:
    """Decide the topology of a flat assembly.

    Args:
        flat: the assembly.
        cuts: paths of joints to cut first, where a loop leaves the choice.

    Raises:
        ModelError: a part that nothing holds and nothing can move, a mass that would have to rotate, wrong joint names.
    """
    records = {}
    for path, component in flat.components.items():
        facts = {"connected": connected_ports(flat, path, component)}
        component.check_connections(facts["connected"])
        if path in flat.elementary or hasattr(component, "equations"):
            records[path] = evaluate(component, facts)
    unknown = [c for c in cuts if c not in records or records[c].motion is None]
    if unknown:
        joints = ", ".join(p for p, r in records.items() if r.motion is not None)
        raise ModelError(f"cannot cut {', '.join(unknown)}: no joint of that name; joints are {joints}")
    edges = _edges(flat, records)
    free: dict[str, str] = {}
    support, order = _grow(flat, records, edges, cuts, free)
    _evaluate_orientation_roots(flat, records, edges, free)
    relations, source, independent, roots, extra, solved = _scalar_graph(flat, records, edges)
    report = [_describe(edge) for edge in edges if edge.role != "tree" or edge.reversed]
    return Topology(
        flat, records, support, edges, order, relations, source, independent, roots, extra, solved, free, report
    )


def _describe(edge: Edge) -> str:
    if edge.role == "cut":
        return f"{edge.path}: cut, {6 - edge.dof} constraints"
    if edge.role == "free":
        return f"{edge.path}: moves freely"
    return f"{edge.path}: in the tree, reversed"


def _edges(flat: Flat, records: dict[str, Record]) -> list[Edge]:
    edges = []
    for path, record in records.items():
        if record.motion is not None:
            component = record.component
            ends = [n for n, p in component.ports().items() if isinstance(p, Frame)][:2]
            a, b = (flat.nodes[(path, end)] for end in ends)
            edges.append(Edge(path, a, b, (ends[0], ends[1]), _dof(record)))
        for key in record.targets:
            if key[0] == "root" and len(key) == 3 and key[2] == "r_0":
                edges.append(Edge(path, GROUND, flat.nodes[(path, key[1])], ("", key[1]), 0))
    return edges


def _dof(record: Record) -> int:
    count = 0
    for declaration in record.component.variables().values():
        if issubclass(declaration.role(record.component), Coordinate | Speed):
            count += declaration.size(record.component)
    return count


def start_information(component: Component) -> tuple[bool, bool, int]:
    """(any start value fixed, any given, strongest stateSelect) over the component's variables."""
    fixed = given = False
    strength = 0
    for name in component.variables():
        _, is_fixed, select = component.start(name)
        fixed |= bool(np.any(is_fixed))
        given |= component.is_given(name)
        strength = max(strength, STATE_SELECT[select])
    return fixed, given, strength


def _keep_order(edge: Edge, record: Record, cuts: tuple[str, ...]) -> tuple[Any, ...]:
    """Sort key: edges that should stay in the tree come first."""
    fixed, _, strength = start_information(record.component)
    driven = any(leaf[0] == "coordinate" for r in record.relations for leaf, *_ in record.leaves_in(r))
    return (edge.path in cuts, edge.dof > 0, not (fixed or driven or strength == STATE_SELECT["always"]), edge.dof)


def _grow(
    flat: Flat, records: dict[str, Record], edges: list[Edge], cuts: tuple[str, ...], free: dict[str, str]
) -> tuple[dict[int, Edge], list[Edge]]:
    union = UnionFind()
    frame_nodes = [n for n, kind in enumerate(flat.kinds) if kind == "frame" and flat.members[n]]
    for node in (GROUND, *frame_nodes):
        union.find(node)
    bodies = [p for p, c in flat.elementary.items() if c.free_joint_priority() is not None]
    enforced = [p for p in bodies if flat.elementary[p].free_joint_priority() == 0]
    ordered = sorted(edges, key=lambda e: _keep_order(e, records[e.path], cuts))
    rigid = [e for e in ordered if e.dof == 0]
    tree: list[Edge] = []

    def add(edge: Edge) -> None:
        if union.find(edge.a) == union.find(edge.b):
            edge.role = "cut"
        else:
            union.union(edge.a, edge.b)
            tree.append(edge)

    for edge in rigid:
        add(edge)
    for path in enforced:
        if union.find(_frame_of(flat, path)) != union.find(GROUND):
            add(_free_edge(flat, records, edges, free, path))
    for edge in ordered:
        if edge.dof:
            add(edge)
    for path in sorted(bodies, key=lambda p: flat.elementary[p].free_joint_priority() or 0):
        if union.find(_frame_of(flat, path)) != union.find(GROUND):
            add(_free_edge(flat, records, edges, free, path))
    loose = [n for n in frame_nodes if union.find(n) != union.find(GROUND)]
    if loose:
        path, connector = flat.members[loose[0]][0]
        raise ModelError(
            f"{path}.{connector}: nothing holds this frame, and no Body is attached to it that could move "
            "freely; connect it to the World, a joint or a Body"
        )
    return _order(tree)


def _frame_of(flat: Flat, path: str) -> int:
    name = next(n for n, p in flat.elementary[path].ports().items() if isinstance(p, Frame))
    return flat.nodes[(path, name)]


def _free_edge(flat: Flat, records: dict[str, Record], edges: list[Edge], free: dict[str, str], path: str) -> Edge:
    """Put a joint between ground and a body that moves freely."""
    body = flat.elementary[path]
    node = _frame_of(flat, path)
    alone = not any(node in (e.a, e.b) for e in edges)
    joint = body.free_joint(alone)
    name = f"{path}.freeMotion"
    joint.__dict__.update(_owner=None, _name=name, _outer_world=body._outer_world)
    facts = {"connected": {"frame_a", "frame_b"}}
    records[name] = evaluate(joint, facts)
    records[path] = evaluate(body, {"connected": connected_ports(flat, path, body), "is_root": joint})
    free[name] = path
    edge = Edge(name, GROUND, node, ("", "frame_b"), _dof(records[name]), role="free")
    edges.append(edge)
    return edge


def _evaluate_orientation_roots(
    flat: Flat, records: dict[str, Record], edges: list[Edge], free: dict[str, str]
) -> None:
    """Tell those bodies that hold the orientation of their surroundings (Modelica's Connections.isRoot) that they do.

    Orientation passes through rigid parts and through joints with `ties_orientation`. Where it does not reach the
    ground, one body holds it: its variables Q or phi give it, while all others show dummies.
    """
    union = UnionFind()
    moved = set(free.values())
    for edge in edges:
        if edge.path not in free and records[edge.path].component.ties_orientation:
            union.union(edge.a, edge.b)
    seen = {union.find(GROUND)}
    holders = [p for p, c in flat.elementary.items() if c.free_joint_priority() is not None]
    for path in sorted(holders, key=lambda p: flat.elementary[p].free_joint_priority() or 0):
        island = union.find(_frame_of(flat, path))
        if island not in seen and path not in moved:
            facts = {"connected": connected_ports(flat, path, flat.elementary[path]), "holds_orientation": True}
            records[path] = evaluate(flat.elementary[path], facts)
        seen.add(island)


def _order(tree: list[Edge]) -> tuple[dict[int, Edge], list[Edge]]:
    """Direct the tree edges away from the ground; parents before children."""
    at: dict[int, list[Edge]] = {}
    for edge in tree:
        at.setdefault(edge.a, []).append(edge)
        at.setdefault(edge.b, []).append(edge)
    support: dict[int, Edge] = {}
    order: list[Edge] = []
    queue = [GROUND]
    for node in queue:
        for edge in at.get(node, []):
            if support.get(node) is edge:
                continue
            edge.reversed = edge.b == node
            support[edge.child] = edge
            order.append(edge)
            queue.append(edge.child)
    return support, order


def _scalar_graph(flat: Flat, records: dict[str, Record], edges: list[Edge]) -> tuple[Any, ...]:
    relations: list[Relation] = []
    nodes: dict[ScalarNode, tuple[int, int]] = {}
    roots: dict[ScalarNode, ConnectorKey] = {}
    extra: list[ConnectorKey] = []
    for n, kind in enumerate(flat.kinds):
        if kind in ("rotational", "translational") and flat.members[n]:
            nodes[("flange", n)] = (0, 0)
    for path, record in records.items():
        component = record.component
        for name, declaration in component.variables().items():
            if issubclass(declaration.role(component), Coordinate):
                for i in range(declaration.size(component)):
                    nodes[("coordinate", path, name, i)] = _rank(component, name, True)
        for key in record.targets:
            if key[0] == "root" and len(key) == 2:
                prescribed: ScalarNode = ("flange", flat.nodes[(path, key[1])])
                if prescribed in roots:
                    extra.append((path, key[1]))
                else:
                    roots[prescribed] = (path, key[1])
            if key[0] == "variable" and len(key) == 2:
                _raise_rank(flat, path, record, key, nodes)
        for index, expression in enumerate(record.relations):
            if is_thermal(record, expression):
                continue
            leaves = []
            for (kind, name, *_), i, element in record.leaves_in(expression):
                if kind not in ("flange", "coordinate"):
                    continue
                node = ("flange", flat.nodes[(path, name)]) if kind == "flange" else ("coordinate", path, name, i)
                leaves.append(((kind, name, 0), i, element, node))
            relations.append(Relation(path, index, expression, leaves))
    for name, port in flat.root.ports().items():
        if isinstance(port, Flange) and port.motion and ("flange", flat.nodes[("", name)]) in nodes:
            node = ("flange", flat.nodes[("", name)])
            if node in roots:
                raise ModelError(
                    f"{name}: this flange takes its motion from outside, but {'.'.join(roots[node])} "
                    "prescribes it already; expose it with motion=False"
                )
            roots[node] = ("", name)
    source: dict[ScalarNode, Any] = dict.fromkeys(roots, "root")
    independent: list[ScalarNode] = []
    solved: dict[ScalarNode, Relation] = {}
    pending = list(relations)
    order = sorted(nodes, key=lambda n: nodes[n], reverse=True)
    while True:
        progress = True
        while progress:
            progress = False
            for relation in list(pending):
                unknown = [n for n in relation.nodes if n not in source]
                if len(unknown) > 1:
                    continue
                pending.remove(relation)
                progress = True
                if unknown:
                    relation.solves = unknown[0]
                    solved[unknown[0]] = relation
                    source[unknown[0]] = "relation"
        choice = next((n for n in order if n not in source), None)
        if choice is None:
            break
        source[choice] = "coordinate"
        independent.append(choice)
    position = {n: i for i, n in enumerate(nodes)}
    independent.sort(key=position.__getitem__)
    return relations, source, independent, roots, extra, solved


def _rank(component: Component, name: str, is_coordinate: bool) -> tuple[int, int]:
    _, fixed, select = component.start(name)
    return (STATE_SELECT[select] * 2 + bool(np.any(fixed)), int(is_coordinate))


def _raise_rank(flat: Flat, path: str, record: Record, key: Any, nodes: dict[ScalarNode, tuple[int, int]]) -> None:
    """A variable that just is a flange's position (such as Inertia.phi) says how much that node wants to be a state."""
    target = record.targets[key]
    found = record.leaf_of.get(target.element_hash()) if target.is_scalar() and target.is_symbolic() else None
    if found is None or found[0][0] != "flange" or key[1] not in record.component.variables():
        return
    node = ("flange", flat.nodes[(path, found[0][1])])
    if node in nodes:
        nodes[node] = max(nodes[node], _rank(record.component, key[1], False))
