"""Topology: which coordinates the system has, where its tree grows, which joints are cut.

Two graphs are decided: that of frames (`frame_graph.py`), and that of flanges and coordinates (`scalar_graph.py`).
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.reading.equation_context import Facts
from mbfmu.dynamics.reading.flatten import ConnectorKey, Flat
from mbfmu.dynamics.reading.readings import Readings
from mbfmu.dynamics.structure.frame_graph import Edge, FrameTree
from mbfmu.dynamics.structure.networks import Networks
from mbfmu.dynamics.structure.scalar_graph import (
    FlangeNode,
    Relation,
    RelationKey,
    Relative,
    ScalarNode,
    scalar_graph,
)
from mbfmu.messages import counted, heading, of
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Frame
from mbfmu.modeling.names import joined


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

    def without(self, relation: RelationKey | None, relative: Iterable[ScalarNode]) -> Topology:
        """The same where a relation, too, is kept as a constraint, and these nodes have no relative coordinates."""
        kept = self.kept if relation is None else self.kept | {relation}
        absolute = self.absolute.union(self.relative[node].path for node in relative)
        graph = scalar_graph(self.flat, self.behaviours, kept, absolute)
        return dataclasses.replace(self, kept=kept, absolute=absolute, **graph)

    def binding(self, found: Collection[tuple[str, leaves.Leaf]]) -> Topology:
        """The same where these states and signals, too, are part of what conditions keep."""
        return dataclasses.replace(self, bound=self.bound.union(found))

    def report(self) -> list[str]:
        """What was decided about edges and relations."""
        in_tree = dict.fromkeys(edge.path for edge in self.order if edge.role == "tree" and edge.dof)
        lines = [f"joints in the tree: {', '.join(in_tree)}"] if in_tree else []
        lines += [_describe(edge) for edge in self.edges if edge.role != "tree" or edge.reversed]
        lines += [f"{joined(path, leaf)}: bound by a condition" for path, leaf in sorted(self.bound, key=str)]
        kept = [of(f"relation {index + 1}", path) for path, index in sorted(self.kept)]
        lines += [f"{name}: kept as a constraint" for name in kept]
        for path, behaviour in self.behaviours.items():
            count = sum(constraint.velocity.numel() for constraint in behaviour.constraints)
            if count:
                lines.append(f"{heading(path)}{counted(count, 'constraint')} of its own")
        return lines


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
    bodies = {p: c for p, c in flat.elementary.items() if c.free_joint_priority() is not None}
    others = [p for p, c in flat.components.items() if p in flat.elementary or hasattr(c, "equations")]
    #: Bodies that bend have frames that move; what they are told of free motion comes later, and moves none of these.
    bending = {p for p, c in bodies.items() if sum(isinstance(port, Frame) for port in c.ports().values()) > 1}
    early = (p for p in others if p not in bodies or p in bending)
    readings, alike = Readings(), Counter(map(type, flat.components.values()))

    def facts_of(path: str) -> Facts:
        return Facts(flat.connected[path], alike=alike[type(flat.components[path])])

    found = {p: readings.of(flat.components[p], facts_of(p)) for p in early}
    tree = FrameTree.of(flat, found, bodies, cuts)
    for path, body in bodies.items():
        facts = dataclasses.replace(
            facts_of(path), free_joint=tree.free_joints.get(path), holds_orientation=path in tree.holders
        )
        if path not in found or facts.free_joint is not None or facts.holds_orientation:
            found[path] = readings.of(body, facts)
    behaviours = {path: found[path] for path in flat.components if path in found}
    free_joints = {joint.path: path for path, joint in tree.free_joints.items()}
    for joint in tree.free_joints.values():
        behaviours[joint.path] = readings.of(joint, Facts(frozenset(("frame_a", "frame_b"))))
    return Topology(
        flat,
        behaviours,
        tree.support,
        tree.edges,
        tree.order,
        free_joints,
        networks=Networks.of(flat, behaviours),
        **scalar_graph(flat, behaviours, frozenset(), frozenset()),
    )


def _describe(edge: Edge) -> str:
    if edge.role == "cut":
        if edge.dof > 6:  # a body that bends
            return f"{joined(edge.path, edge.connectors[1])}: cut"
        return f"{edge.path}: cut, {6 - edge.dof} constraints"
    if edge.role == "free":
        return f"{edge.path}: moves freely"
    return f"{edge.path}: in the tree, reversed"
