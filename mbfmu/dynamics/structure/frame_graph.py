"""The frame graph: where the tree of a system grows, which joints are cut, which bodies move freely.

Its nodes are the frames that meet, and the ground; joints and rigid parts are its edges. A spanning tree grows from
the ground, the other edges are cut. What the tree does not reach moves freely, on a joint that a body lends.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from mbfmu.dynamics.disjoint_set import DisjointSet
from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.reading.flatten import Flat
from mbfmu.errors import ModelError
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Frame
from mbfmu.modeling.names import joined

GROUND = -1


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

    @functools.cached_property
    def _hash(self) -> int:
        return hash((self.path, self.connectors))

    def __hash__(self) -> int:  # which is asked for often: of what tells most edges apart
        return self._hash

    @property
    def child(self) -> int:
        """The node that a tree edge supports."""
        return self.a if self.reversed else self.b

    @property
    def parent(self) -> int:
        """The node that a tree edge hangs on."""
        return self.b if self.reversed else self.a


@dataclasses.dataclass(frozen=True)
class FrameTree:
    """A spanning tree of the frame graph, and what it says of bodies."""

    #: Frame node -> edge that supports it; every frame node has one.
    support: Mapping[int, Edge]
    edges: tuple[Edge, ...]
    #: Tree edges, parents before children.
    order: tuple[Edge, ...]
    #: Body -> the joint by which it moves freely.
    free_joints: Mapping[str, Component]
    #: Bodies that hold the orientation of their surroundings (Modelica's Connections.isRoot) without moving freely.
    #: Orientation passes through rigid parts and through joints with `ties_orientation`. Where it does not reach the
    #: ground, one body holds it: its variables Q or phi give it, while all others show dummies.
    holders: frozenset[str]

    @classmethod
    def of(
        cls, flat: Flat, behaviours: Mapping[str, Behaviour], bodies: Mapping[str, Component], cuts: tuple[str, ...]
    ) -> FrameTree:
        """Grow the tree.

        Args:
            flat: the assembly.
            behaviours: what the equations of all components say that move frames.
            bodies: what can move freely, by path.
            cuts: paths of joints to cut first, where a loop leaves the choice.

        Raises:
            ModelError: a part that nothing holds and nothing can move, a mass that would have to rotate, a cut of what
                is no joint.
        """
        unknown = [c for c in cuts if c not in behaviours or not behaviours[c].motions]
        if unknown:
            joints = ", ".join(p for p, r in behaviours.items() if r.motions)
            raise ModelError(f"cannot cut {', '.join(unknown)}: no joint of that name; joints are {joints}")
        growth = _Growth(flat, _edges(flat, behaviours), bodies)
        ordered = sorted(growth.edges, key=lambda e: _keep_order(e, behaviours[e.path], cuts))
        growth.grow(ordered)
        order = _directed(growth.tree)
        decided = {(edge.path, edge.connectors): edge for edge in order}
        cut = (dataclasses.replace(edge, role="cut") for edge in growth.edges)
        edges = tuple(decided.get((edge.path, edge.connectors), edge) for edge in cut)
        tying = [e for e in growth.edges if e.role != "free" and behaviours[e.path].component.ties_orientation]
        return cls({edge.child: edge for edge in order}, edges, order, growth.free_joints, growth.holders(tying))


def _edges(flat: Flat, behaviours: Mapping[str, Behaviour]) -> list[Edge]:
    edges = []
    for path, behaviour in behaviours.items():
        if behaviour.motions:
            first = next(n for n, p in behaviour.component.ports().items() if isinstance(p, Frame))
            dof = _dof(behaviour.component)
        for frame in behaviour.motions:
            a, b = (flat.nodes[(path, end)] for end in (first, frame))
            edges.append(Edge(path, a, b, (first, frame), dof))
        for target in behaviour.prescribed(Frame):
            if target.name == "r_0":
                edges.append(Edge(path, GROUND, flat.nodes[(path, target.connector)], ("", target.connector), 0))
    return edges


def _dof(component: Component) -> int:
    found = (declaration.leaf(component) for declaration in component.variables().values())
    return sum(leaf.size for leaf in found if isinstance(leaf, leaves.Coordinate | leaves.Speed))


def _keep_order(edge: Edge, behaviour: Behaviour, cuts: tuple[str, ...]) -> tuple[Any, ...]:
    """Sort key: edges that should stay in the tree come first; bodies that bend before joints."""
    component = behaviour.component
    starts = [component.start(name) for name in component.variables()]
    fixed = any(bool(np.any(is_fixed)) for _, is_fixed, _ in starts)
    always = any(select == "always" for *_, select in starts)
    driven = any(
        isinstance(leaf, leaves.Coordinate) for r in behaviour.relations for leaf, *_ in behaviour.leaves_in(r)
    )
    is_joint = component.free_joint_priority() is None
    return (edge.path in cuts, edge.dof > 0, is_joint, not (fixed or driven or always), edge.dof)


class _Growth:
    """The frame graph while its spanning tree grows."""

    def __init__(self, flat: Flat, edges: list[Edge], bodies: Mapping[str, Component]) -> None:
        self._flat, self.edges = flat, edges
        self._nodes = [n for n, kind in enumerate(flat.kinds) if issubclass(kind, Frame) and flat.members[n]]
        self._reached = DisjointSet(self._ends())
        #: Bodies, those that are keenest to move freely first, and their nodes.
        self._bodies = dict(sorted(bodies.items(), key=lambda item: item[1].free_joint_priority() or 0))
        self._node_of = {
            path: next(flat.nodes[(path, n)] for n, p in body.ports().items() if isinstance(p, Frame))
            for path, body in bodies.items()
        }
        self.tree: list[Edge] = []
        self.free_joints: dict[str, Component] = {}

    def grow(self, ordered: list[Edge]) -> None:
        """Take edges into the tree, rigid parts first, and put joints between the ground and what they do not reach."""
        for edge in (e for e in ordered if e.dof == 0):
            self._add(edge)
        self._free([path for path, body in self._bodies.items() if body.free_joint_priority() == 0])
        for edge in (e for e in ordered if e.dof):
            self._add(edge)
        self._free(list(self._bodies))
        loose = [n for n in self._nodes if not self._reached.connected(n, GROUND)]
        if loose:
            path, connector = self._flat.members[loose[0]][0]
            raise ModelError(
                f"{joined(path, connector)}: nothing holds this frame, and no Body is attached to it that could move "
                "freely; connect it to the World, a joint or a Body"
            )

    def _ends(self) -> Iterator[int]:
        """The ground, and all nodes."""
        yield from (GROUND, *self._nodes)
        yield from (end for edge in self.edges for end in (edge.a, edge.b))

    def _add(self, edge: Edge) -> None:
        if self._reached.merge(edge.a, edge.b):
            self.tree.append(edge)

    def _free(self, paths: list[str]) -> None:
        """Put a joint between the ground and those bodies that nothing holds yet."""
        for path in paths:
            body, node = self._bodies[path], self._node_of[path]
            if self._reached.connected(node, GROUND):
                continue
            joint = body.lend("freeMotion", body.free_joint(alone=not any(node in (e.a, e.b) for e in self.edges)))
            edge = Edge(joint.path, GROUND, node, ("", "frame_b"), _dof(joint), role="free")
            self.free_joints[path] = joint
            self.edges.append(edge)
            self._add(edge)

    def holders(self, tying: list[Edge]) -> frozenset[str]:
        """Bodies that hold the orientation of what edges that pass it on do not tie to the ground."""
        islands = DisjointSet(self._ends())
        for edge in tying:
            islands.merge(edge.a, edge.b)
        seen, found = {islands[GROUND]}, set()
        for path in self._bodies:
            island = islands[self._node_of[path]]
            if island not in seen and path not in self.free_joints:
                found.add(path)
            seen.add(island)
        return frozenset(found)


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
