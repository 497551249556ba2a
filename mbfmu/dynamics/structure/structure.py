"""Structure: which formulas the quantities of a system have, before any of them has a value.

It is what leaves and connectors ask (mbfmu.modeling): all answers are formulas, whose needs the equation graph follows.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import casadi as ca

from mbfmu.dynamics.columns import Written, elements, hashes, plus, shape, stacked
from mbfmu.dynamics.reading.behaviour import Behaviour, LocalNames, Said
from mbfmu.dynamics.reading.flatten import Flat
from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.structure.frame_graph import GROUND, Edge
from mbfmu.dynamics.structure.networks import Unknown
from mbfmu.dynamics.structure.quantities import (
    Assigned,
    Coefficient,
    CoordinateOf,
    Differential,
    Flow,
    FrameMotion,
    ImpliedSignal,
    InputOf,
    LeafOf,
    LinkOf,
    MotionBeyond,
    MultiplierOf,
    Potential,
    RelationForce,
    RelativeMotion,
    ScalarMotion,
    SpeedRate,
    Time,
    TotalDerivative,
    UnknownOf,
    Wrench,
    needs_its_derivative,
    relative_acceleration,
)
from mbfmu.dynamics.structure.scalar_graph import CoordinateNode, Relation, RelationKey, ScalarNode
from mbfmu.dynamics.structure.surplus import Surplus
from mbfmu.dynamics.structure.topology import Topology
from mbfmu.dynamics.structure.unknowns import Coordinate, Own, Unknowns
from mbfmu.errors import ModelError
from mbfmu.frames import cross
from mbfmu.messages import counted, of, some
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import Flange, Frame, NetworkPort, Signal
from mbfmu.modeling.declarations import Variable
from mbfmu.modeling.formulas import Formula, Quantity, reached
from mbfmu.modeling.names import joined

#: What the motion of a prescribed frame relative to the ground is: what is prescribed, how often it is differentiated.
_PRESCRIBED_MOTION = {"r": ("r_0", 0), "v": ("r_0", 1), "a": ("r_0", 2), "T": ("T", 0), "w": ("w", 0), "z": ("w", 1)}

#: Nothing, as a scalar and as a vector.
_ZERO, _ZEROS = (Formula.constant(ca.SX.zeros(size)) for size in (1, 3))
#: What a wrench does along a direction of relative velocity and angular velocity: minus its power per unit.
_EFFORT = Written(lambda v, w, f, t, T: -(ca.dot(w, t) + ca.dot(T @ v, f)), *4 * [(3, 1)], (3, 3))


@dataclasses.dataclass(frozen=True)
class Structure:
    """A topology with the symbols of what it leaves open, and inputs. `behaviours` may stand in for the topology's."""

    topology: Topology
    unknowns: Unknowns
    inputs: Inputs
    behaviours: Mapping[str, Behaviour]

    @classmethod
    def of(cls, topology: Topology, inputs: Inputs) -> Structure:
        """The structure of a topology, with symbols for all that it leaves open."""
        return cls(topology, Unknowns.of(topology), inputs, topology.behaviours)

    @property
    def flat(self) -> Flat:
        """The flat assembly."""
        return self.topology.flat

    def binding(self, found: Collection[tuple[str, leaves.Leaf]]) -> Structure:
        """The same where these states and signals, too, are part of what conditions keep."""
        topology = self.topology.binding(found)
        return dataclasses.replace(self, topology=topology, unknowns=Unknowns.of(topology, self.unknowns.made))

    # -- who is where

    @functools.cached_property
    def relation_of(self) -> Mapping[RelationKey, Relation]:
        """Relations by their names."""
        return {relation.key: relation for relation in self.topology.relations}

    @functools.cached_property
    def _touching(self) -> Mapping[ScalarNode, Sequence[Relation]]:
        found: dict[ScalarNode, list[Relation]] = {}
        for relation in self.topology.relations:
            for node in relation.nodes:
                found.setdefault(node, []).append(relation)
        return found

    @functools.cached_property
    def _edges_at(self) -> Mapping[int, Sequence[Edge]]:
        found: dict[int, list[Edge]] = {}
        for edge in self.topology.edges:
            for end in {edge.a, edge.b}:
                found.setdefault(end, []).append(edge)
        return found

    @functools.cached_property
    def _edges_of(self) -> Mapping[str, Sequence[Edge]]:
        found: dict[str, list[Edge]] = {}
        for edge in self.topology.edges:
            found.setdefault(edge.path, []).append(edge)
        return found

    @functools.cached_property
    def _edges_from(self) -> Mapping[tuple[str, str], Sequence[Edge]]:
        found: dict[tuple[str, str], list[Edge]] = {}
        for edge in self.topology.edges:
            for connector in filter(None, edge.connectors):
                found.setdefault((edge.path, connector), []).append(edge)
        return found

    def component(self, path: str) -> Any:
        """The component of a path."""
        return self.flat.components[path]

    def has_members(self, path: str, connector: str) -> bool:
        """True where an elementary component is connected."""
        return bool(self.flat.members[self.flat.nodes[(path, connector)]])

    def node_name(self, node: ScalarNode) -> str:
        """What messages call a scalar node."""
        if isinstance(node, CoordinateNode):
            return joined(node.path, node.name)
        return joined(*self.flat.members[node.number][0])

    def nominal(self, path: str, name: str) -> float:
        """Nominal value of a declared variable; 1 where there is none."""
        behaviour = self.behaviours.get(path)
        declaration = None if behaviour is None else behaviour.component.declarations.get(name)
        if behaviour is None or not isinstance(declaration, Variable):
            return 1.0
        return float(declaration.nominal(behaviour.component) or 1.0)

    def guess(self, path: str, name: str) -> float:
        """Where a search for a variable or an output begins without a start value: what its type says."""
        behaviour = self.behaviours.get(path)
        component = None if behaviour is None else behaviour.component
        declaration = None if component is None else component.ports().get(name) or component.declarations.get(name)
        return declaration.type.start if isinstance(declaration, Signal | Variable) else 0.0

    def _frame_key(self, path: str, connector: str) -> tuple[str, str]:
        if path in self.topology.free_joints:  # the joint of a free body: frame_b is the body's frame
            body = self.topology.free_joints[path]
            return next((body, n) for n, p in self.flat.elementary[body].ports().items() if isinstance(p, Frame))
        return (path, connector)

    # -- expressions of components

    def local(
        self, path: str, expression: ca.SX, given: Mapping[leaves.Leaf, Formula] = MappingProxyType({})
    ) -> Formula:
        """An expression of a component, with every leaf replaced by what it is, or by what is given for it."""
        return Formula.combined(lambda values: values[0], self.locals(path, [expression], given))

    def locals(
        self,
        path: str,
        expressions: Iterable[ca.SX],
        given: Mapping[leaves.Leaf, Formula] = MappingProxyType({}),
        names: LocalNames | None = None,
    ) -> Formula:
        """Expressions of a component in its leaves, as a list; `names` has the symbols of these where it is not the
        component's behaviour."""
        said = self.behaviours[path].said_as(expressions) if names is None else Said(names, expressions)
        return self.said(path, said, given)

    def said(self, path: str, said: Said, given: Mapping[leaves.Leaf, Formula] = MappingProxyType({})) -> Formula:
        """The same of expressions that a component may share with others."""
        if said.is_constant:
            return Formula.constant(said.expressions)
        behaviour = self.behaviours[path] if isinstance(said.names, Behaviour) else None
        own = said.names.parameters if behaviour is None else behaviour.own_parameters
        if self.topology.relative and sum(isinstance(leaf, leaves.FlangePosition) for leaf in said.leaves) > 1:
            return self._with_differences(path, said.of(own), given)
        formulas = [given[leaf] if leaf in given else leaf.formula(self, path) for leaf in said.leaves]
        symbols = [said.names.leaves[leaf] for leaf in said.leaves]
        if said.alone is not None:
            return Formula.combined(lambda value: [_like(value, symbols[0])], *formulas)
        if not formulas:
            return Formula.constant(said.of(own).expressions)

        def make(*values: ca.SX) -> list[ca.SX]:
            put = [_like(*pair) for pair in zip(values, symbols, strict=True)]
            return said.value(put, own) if behaviour is None or given else behaviour.value(said, put)

        return Formula.combined(make, *formulas)

    def said_alone(self, path: str, said: Said) -> Formula:
        """The same of one expression, as it is."""
        return Formula.combined(operator.itemgetter(0), self.said(path, said))

    def _with_differences(self, path: str, said: Said, given: Mapping[leaves.Leaf, Formula]) -> Formula:
        """The same with relative states, and their rates, in place of the differences that these are.

        Taken from the positions of both ends, a difference would have their rounding errors.
        """
        names, expressions, relative = said.names, said.expressions, self.topology.relative
        found = [
            ((self.topology.flange_node(path, leaf.connector), leaf.order), symbol)
            for leaf, _, symbol in names.leaves_in(said.column)
            if isinstance(leaf, leaves.FlangePosition) and leaf not in given
        ]
        flanges, replaced = dict(found), set()
        symbols: list[ca.SX] = []
        formulas: list[Formula] = []
        for (node, order), symbol in found:
            tied = relative.get(node)
            other = None if tied is None else flanges.get((tied.reference, order))
            if tied is None or other is None:
                continue
            far, near = (symbol, other) if tied.sign > 0 else (other, symbol)
            if far.element_hash() not in replaced:
                replaced.add(far.element_hash())
                symbols.append(ca.SX.sym(f"{tied.name}{order}"))
                formulas.append(Formula.of(SpeedRate(node) if order == 2 else CoordinateOf(node, order)))
                expressions = list(ca.substitute(expressions, [far], [near + symbols[-1]]))
        left = Said(names, expressions).leaves
        symbols = [*(names.leaves[leaf] for leaf in left), *symbols]
        formulas = [*(given[leaf] if leaf in given else leaf.formula(self, path) for leaf in left), *formulas]

        def make(*values: ca.SX) -> list[ca.SX]:
            put = [_like(*pair) for pair in zip(values, symbols, strict=True)]
            return list(ca.substitute(expressions, symbols, put))

        return Formula.combined(make, *formulas)

    # -- values of leaves

    @property
    def time(self) -> Formula:
        """Time [s]."""
        return Formula.of(Time())

    def frame_motion(self, path: str, connector: str, what: str) -> Formula:
        """Motion of a connector that is a frame."""
        return self.frame(self.flat.nodes[self._frame_key(path, connector)], what)

    def orientation(self, path: str, connector: str) -> tuple[Formula, Formula]:
        """T and w of a connector that is a frame."""
        return self.frame_motion(path, connector, "T"), self.frame_motion(path, connector, "w")

    def flange_position(self, path: str, connector: str, order: int) -> Formula:
        """Position of a flange, or its derivative."""
        return self.scalar(self.topology.flange_node(path, connector), order)

    def potential(self, path: str, connector: str, order: int = 0) -> Formula:
        """Potential of a connector of a network, or its time derivative of some order."""
        if order:
            return self._differentiated(path, leaves.Potential(connector), order)
        node = self.flat.nodes[(path, connector)]
        source = self.topology.networks.sources.get(node)
        if source is None:
            return Formula.of(Potential(node))
        return self.target(source[0], leaves.Prescribed(source[1], self.network_port(node).potentials[0].name))

    def network_variable(self, path: str, name: str, order: int) -> Formula:
        """A variable that is found together with the potentials of its network, or its derivative of some order."""
        if order:
            return self._differentiated(path, leaves.NetworkVariable(name), order)
        return Formula.of(LinkOf(*self.topology.networks.links[(path, name)]))

    def coordinate(self, path: str, name: str, size: int, order: int) -> Formula:
        """A joint's coordinate, or its derivative."""
        return Formula.stacked([self.scalar(CoordinateNode(path, name, i), order) for i in range(size)])

    def unknown(self, path: str, leaf: leaves.Leaf) -> Formula:
        """A quaternion, speed, acceleration, state, multiplier or mode of a component."""
        return Formula.of(UnknownOf(Own(path, leaf)))

    def implied(self, path: str, leaf: leaves.Implied) -> Formula:
        """What a condition implies."""
        return Formula.of(ImpliedSignal(Own(path, leaf)))

    def variable(self, path: str, name: str, order: int = 0) -> Formula:
        """A declared variable of a component (a column), or its time derivative of some order."""
        behaviour = self.behaviours.get(path)
        if behaviour is None:
            raise ModelError(f"{joined(path, name)}: nothing has equations that could give it a value")
        component = behaviour.component
        declared = component.declarations.get(name)
        declared = declared if isinstance(declared, Variable) and declared.enabled(component) else None
        leaf = None if declared is None else declared.leaf(component)
        if leaf is None and leaves.Value(name) not in behaviour.targets:
            raise ModelError(f"{component.where}: the equations of {type(component).__name__} do not assign {name}")
        if leaf is None:
            return self.target(path, leaves.Value(name), order)
        for done in range(order):
            following = leaf.following()
            if following is None:
                return self._differentiated(path, leaf, order - done)
            leaf = following
        return leaf.formula(self, path)

    def target(self, path: str, target: leaves.Target, order: int = 0) -> Formula:
        """What the equations of a component assign to a target, or its time derivative of some order."""
        return Formula.of(Assigned(path, target, order))

    # -- signals

    def signal(self, path: str, name: str, index: int, order: int = 0) -> Formula:
        """Element of a signal connector, or a time derivative of it."""
        key = (path, name)
        while True:
            if (key, index) in self.inputs.signals:
                if order:
                    raise ModelError(
                        f"{joined(*key)}: the equations need the derivative of an FMU input; {self._without(key[0])}"
                    )
                return Formula.of(InputOf(self.inputs.signals[(key, index)].name()))
            behaviour, value = self.behaviours.get(key[0]), leaves.Value(key[1])
            if behaviour is not None and value in behaviour.targets:
                return _element(index, self.target(key[0], value, order))
            if (key, index) not in self.flat.sources:
                raise self._open(key)
            key, index = self.flat.sources[(key, index)]

    def _without(self, path: str) -> str:
        """What helps where an input has no derivative."""
        filters = "connect a signal with a derivative, or feed the input through a filter block"
        component = self.flat.components.get(path)
        if component is not None and "exact" in component.declarations:  # sources that move a flange as a signal says
            return f"give {path} exact=False, with which it filters the input, or {filters}"
        return filters

    def _open(self, key: tuple[str, str]) -> ModelError:
        """The error of an input signal that nothing feeds, or that is fed in part."""
        label, port = joined(*key), self.flat.ports[key]
        assert isinstance(port, Signal)
        size = port.size(self.flat.components[key[0]])
        fed = {k for k in range(size) if (key, k) in self.flat.sources or (key, k) in self.inputs.signals}
        missing = [f"{label}[{k + 1}]" for k in range(size) if k not in fed]
        if fed:
            return ModelError(f"{label}: of its {size} elements {', '.join(missing)} are not connected; connect them")
        return ModelError(
            f"{label}: this input signal is not connected; connect it, or make it an input of the assembly with input()"
        )

    # -- motion

    def motion(self, edge: Edge, what: str) -> Formula:
        """Relative motion of an edge: r, T, w, v, a or z."""
        return Formula.of(RelativeMotion(edge, what))

    def local_motion(self, edge: Edge, what: str) -> Said:
        """The same in leaves of the edge's component."""
        behaviour = self.behaviours[edge.path]
        if edge.connectors[1] in behaviour.motions:
            motion = behaviour.motions[edge.connectors[1]]
            return behaviour.said(("motion", edge.connectors[1], what), lambda: [motion[what]])
        name, order = _PRESCRIBED_MOTION[what]
        return behaviour.target(leaves.Prescribed(edge.connectors[1], name), order)

    def frame(self, node: int, what: str, base: int = GROUND) -> Formula:
        """Motion of a frame node, as seen from a base that the tree leads through to it."""
        if node == base:
            return Formula.constant(ca.SX.eye(3) if what == "T" else ca.SX.zeros(3))
        return Formula.of(FrameMotion(node, what, base))

    def beyond(self, edge: Edge, what: str, base: int = GROUND) -> Formula:
        """Motion of frame b of an edge, as it follows from frame a and the relative motion."""
        return Formula.of(MotionBeyond(edge, what, base))

    def loop_base(self, edge: Edge) -> int:
        """Node from which both ends of a cut joint are seen, so that only what is in the loop enters: the last that the
        tree leads through to both; the ground, where that does not move."""
        both = zip(self._way_to(edge.a), self._way_to(edge.b), strict=False)
        common = [one for one, other in itertools.takewhile(lambda pair: pair[0] is pair[1], both)]
        return common[-1].child if any(one.dof for one in common) else GROUND

    def _way_to(self, node: int) -> list[Edge]:
        """Tree edges from the ground to a node."""
        way: list[Edge] = []
        while node != GROUND:
            way.append(self.topology.support[node])
            node = way[-1].parent
        return way[::-1]

    def supported(self, edge: Edge, what: str, base: int = GROUND) -> Formula:
        """Motion of a tree edge's child, as it follows from the parent."""
        if not edge.reversed:
            return self.beyond(edge, what, base)
        rel, b = functools.partial(self.motion, edge), functools.partial(self.frame, edge.b, base=base)
        if what == "T":
            return Formula.combined(lambda T, T_b: T.T @ T_b, rel("T"), b("T"))
        if what == "w":
            return Formula.combined(lambda T, w_b, w: T.T @ (w_b - w), rel("T"), b("w"), rel("w"))
        if what == "z":
            return Formula.combined(
                lambda T, z_b, z, w_b, w: T.T @ (z_b - z - cross(w_b, w)),
                rel("T"), b("z"), rel("z"), b("w"), rel("w"),
            )  # fmt: skip
        T_a, w_a = self.frame(edge.a, "T", base), self.frame(edge.a, "w", base)
        if what == "r_0":
            return Formula.combined(lambda r_b, T, r: r_b - T.T @ r, b("r_0"), T_a, rel("r"))
        if what == "v_0":
            return Formula.combined(
                lambda v_b, T, v, w, r: v_b - T.T @ (v + cross(w, r)), b("v_0"), T_a, rel("v"), w_a, rel("r")
            )
        return Formula.combined(
            lambda a_b, T, *relative: a_b - T.T @ relative_acceleration(*relative),
            b("a_0"), T_a, rel("a"), rel("r"), rel("v"), w_a, self.frame(edge.a, "z", base),
        )  # fmt: skip

    def scalar(self, node: ScalarNode, order: int) -> Formula:
        """Position, speed or acceleration of a scalar node."""
        source = self.topology.source[node]
        if source == "coordinate" and (node not in self.topology.relative or order == 2):
            return Formula.of(CoordinateOf(node, order))
        if source == "prescribed":
            path, connector = self.topology.prescribed[node]
            if path == "":
                return Formula.of(InputOf(self.inputs.motions[connector][order].name()))
            return self.prescribed(path, connector, order)
        return Formula.of(ScalarMotion(node, order))

    def prescribed(self, path: str, connector: str, order: int) -> Formula:
        """Position that a component prescribes at one of its flanges, or its derivative."""
        port = self.flat.ports[(path, connector)]
        assert isinstance(port, Flange)
        return self.target(path, leaves.Prescribed(connector, port.position), order)

    # -- loads

    def load(self, path: str, connector: str, name: str, size: int) -> Formula:
        """What a component assigns to a flow; zero where it assigns nothing."""
        target = leaves.Load(connector, name)
        if target in self.behaviours[path].targets:
            return self.target(path, target)
        return {1: _ZERO, 3: _ZEROS}[size]

    def flow(self, path: str, connector: str, name: str) -> Formula:
        """All that flows into an elementary component through a connector."""
        return Formula.of(Flow(path, connector, name))

    def flow_through(self, path: str, connector: str, name: str) -> Formula:
        """How that follows."""
        if path in self.topology.free_joints:
            return _total(self.load(path, connector, name, 3), self.wrench_at(path, connector, name))
        formula: Formula = self.flat.ports[self._frame_key(path, connector)].inflow(self, path, name)
        return formula

    def inflow(self, path: str, connector: str, name: str, order: int = 0) -> Formula:
        """Flow into a component, or its time derivative of some order, which exists where no acceleration enters."""
        if order:
            return self._differentiated(path, leaves.Flow(connector, name), order)
        flow = self.outer_flow(path, connector, name)
        assert flow is not None
        return flow

    def wrench_at(self, path: str, connector: str, name: str) -> Formula:
        """Cut force (f) or torque (t) that a component takes up at one of its frames, as a joint or rigid part."""
        edges = self._edges_from.get((path, connector), ())
        wrenches = [Formula.of(Wrench(edge, connector == edge.connectors[1], name)) for edge in edges]
        return _total(*wrenches) if wrenches else _ZEROS

    def node_load(self, node: int, name: str, without: Edge | None = None) -> Formula:
        """Sum of the cut forces (f) or torques (t) of everything at a frame node but one edge."""
        parts = [self.node_loads(node, name)]
        for edge in self._edges_at[node]:
            if edge is without or edge in self.idle:
                continue
            if edge.a == node:
                parts.append(Formula.of(Wrench(edge, False, name)))
            if edge.b == node:
                parts.append(Formula.of(Wrench(edge, True, name)))
        return _total(*parts)

    @functools.cached_property
    def idle(self) -> frozenset[Edge]:
        """Edges that carry nothing, and on which nobody hangs, of components with others that move."""
        found: set[Edge] = set()
        for edge in self.topology.order:
            if self._edges_at[edge.child] == [edge] and not found.issuperset(set(self._edges_of[edge.path]) - {edge}):
                loads = [self.node_loads(edge.child, name) for name in ("f", "t")]
                if not any(load.needs or not load.value({}).is_zero() for load in loads):
                    found.add(edge)
        return frozenset(found)

    def node_loads(self, node: int, name: str, without: Collection[str] = ()) -> Formula:
        """Sum of the cut forces (f) or torques (t) of everything at a frame node but edges, and some components."""
        members = (key for key in self.flat.members[node] if key[0] not in without)
        return _total(_ZEROS, *(self.load(path, connector, name, 3) for path, connector in members))

    def load_on(self, edge: Edge) -> Formula:
        """Cut force and torque of all at an edge's child but the edge itself, in one column."""
        return Formula.combined(ca.vertcat, *(self.node_load(edge.child, name, edge) for name in ("f", "t")))

    def reaction(self, path: str, connector: str) -> Formula:
        """Flow with which the relations and prescribed positions of a component hold one of its flanges."""
        node = self.topology.flange_node(path, connector)
        parts = [
            self._share(relation, node, connector) for relation in self._touching.get(node, ()) if relation.path == path
        ]
        if self._prescribes(path, connector):
            parts.append(self._prescribed_flow(path, connector, node))
        return _total(_ZERO, *parts)

    def _prescribes(self, path: str, connector: str) -> bool:
        port = self.flat.ports[(path, connector)]
        assert isinstance(port, Flange)
        return leaves.Prescribed(connector, port.position) in self.behaviours[path].targets

    def _prescribed_flow(self, path: str, connector: str, node: ScalarNode) -> Formula:
        if self.topology.prescribed[node] == (path, connector):
            return _negative(self.balance(node, without_prescribing=True))
        return Formula.of(MultiplierOf((path, connector)))

    def outside_flow(self, path: str, connector: str) -> Formula:
        """Flow out of the assembly through one of its own flanges, whose motion comes from outside."""
        return _negative(self.balance(self.topology.flange_node(path, connector), without_prescribing=True))

    def relation_force(self, relation: Relation) -> Formula:
        """Force that keeps a relation: from the balance of the node that it gives, or an unknown."""
        return Formula.of(MultiplierOf(relation.key) if relation.solves is None else RelationForce(relation.key))

    def _share(self, relation: Relation, node: ScalarNode, connector: str | None = None) -> Formula:
        """Flow with which a relation acts on a node."""
        return Formula.combined(
            lambda coefficient, force: coefficient * force,
            Formula.of(Coefficient(relation.key, node, connector)),
            self.relation_force(relation),
        )

    def balance(self, node: ScalarNode, without: Relation | None = None, without_prescribing: bool = False) -> Formula:
        """Sum of the flows at a scalar node: zero where the node is a coordinate of its own."""
        parts = [self._share(relation, node) for relation in self._touching.get(node, ()) if relation is not without]
        if isinstance(node, CoordinateNode):
            parts.append(self.drive(node.path, leaves.Coordinate(node.name, order=1), node.index))
            return _total(_ZERO, *parts)
        for path, connector in self.flat.members[node.number]:
            port = self.flat.ports[(path, connector)]
            assert isinstance(port, Flange)
            parts.append(self.load(path, connector, port.flow, 1))
            is_left_out = without_prescribing and self.topology.prescribed.get(node) == (path, connector)
            if self._prescribes(path, connector) and not is_left_out:
                parts.append(self._prescribed_flow(path, connector, node))
        return _total(_ZERO, *parts, _negative(self.from_outside(node.number)))

    def balances(self, key: Coordinate) -> list[Formula]:
        """Sums of the flows along the speeds of a coordinate: zero for the right accelerations."""
        if not isinstance(key, Own):
            return [self.balance(key)]
        if isinstance(key.leaf, leaves.State):
            rate, size = self.target(key.path, leaves.StateRate(str(key.leaf))), key.leaf.size
            own = self.unknowns.a[key]
            return [Formula.combined(lambda rate, i=i: elements(own - rate)[i], rate) for i in range(size)]
        assert isinstance(key.leaf, leaves.Speed)
        return [self.drive(key.path, key.leaf, i) for i in range(key.leaf.size)]

    def from_outside(self, node: int) -> Formula:
        """Flow into a node from outside the assembly."""
        return _total(_ZERO, *(Formula.of(InputOf(symbol.name())) for symbol in self.inputs.flows.get(node, ())))

    def drive(self, path: str, speed: leaves.Coordinate | leaves.Speed, index: int) -> Formula:
        """Flow into a component along one of its speeds: minus the power of its frames' cut forces per unit of it."""
        behaviour = self.behaviours[path]
        parts, effort = [_ZERO], leaves.Effort(speed.name)
        if effort in behaviour.targets:
            parts.append(Formula.combined(lambda efforts: -elements(efforts)[index], self.target(path, effort)))
        for edge in self._edges_of.get(path, ()):
            if speed not in behaviour.leaves or edge in self.idle:
                continue
            along = self._directions(edge, speed, index)
            parts.append(
                Formula.combined(
                    lambda directions, f, t, T: _EFFORT(*directions, f, t, T),
                    self.said(path, along),
                    Formula.of(Wrench(edge, True, "f")),
                    Formula.of(Wrench(edge, True, "t")),
                    self.motion(edge, "T"),
                )
            )
        return _total(*parts)

    def _directions(self, edge: Edge, speed: leaves.Coordinate | leaves.Speed, index: int) -> Said:
        """How the relative velocity and angular velocity of an edge follow from one of its speeds."""
        behaviour = self.behaviours[edge.path]

        def slopes() -> list[ca.SX]:
            parts = (self.local_motion(edge, what).expressions[0] for what in ("v", "w"))
            return [ca.jacobian(part, behaviour.leaves[speed]) for part in parts]

        both = behaviour.said(("directions", edge.connectors, speed), slopes)
        return behaviour.said(
            ("direction", edge.connectors, speed, index), lambda: [column[:, index] for column in both.expressions]
        )

    # -- networks

    def network_port(self, node: int) -> NetworkPort:
        """A connector of a node of a network: it knows what the domain calls things."""
        port = self.flat.ports[self.flat.members[node][0]]
        assert isinstance(port, NetworkPort)
        return port

    def network_flow(self, path: str, connector: str) -> Formula:
        """Flow into a component through a connector of a network."""
        node = self.flat.nodes[(path, connector)]
        if self.topology.networks.sources.get(node) == (path, connector):
            own, which = (path, connector), self._flow_name(node)
            others = (self.flow(one, name, which) for one, name in self.flat.members[node] if (one, name) != own)
            zero = Formula.constant(ca.SX.zeros(1))
            return Formula.combined(lambda one, other: one - other, self.from_outside(node), _total(zero, *others))
        return self._network_load(path, connector)

    def _flow_name(self, node: int) -> str:
        return self.network_port(node).flows[0].name

    def _network_load(self, path: str, connector: str) -> Formula:
        return self.load(path, connector, self._flow_name(self.flat.nodes[(path, connector)]), 1)

    def network_balance(self, node: int) -> Formula:
        """Sum of the flows at a node of a network: zero for the right potentials."""
        loads = (self._network_load(path, connector) for path, connector in self.flat.members[node])
        return _total(_negative(self.from_outside(node)), *loads)

    # -- blocks

    def check_matched(self, surplus: Surplus) -> None:
        """Refuse unknowns of networks that no equation is left for.

        Raises:
            ModelError: the message names what nothing determines, and which equations and unknowns do not go together.
        """
        if not surplus.left:
            return
        few = [quantity.equation(self) for quantity in surplus.few_equations]
        many = [quantity.equation(self) for quantity in surplus.equations]
        unknowns, known = ([q.name(self) for q in part] for part in (surplus.unknowns, surplus.few_unknowns))
        raise ModelError(
            f"{self.topology.networks.undetermined(_of_network(surplus.left))} ({counted(len(unknowns), 'unknown')}, "
            f"{some(unknowns)}, in {counted(len(few), 'equation')}{', ' * bool(few)}{some(few)}; "
            f"{counted(len(many), 'equation')}, {some(many)}, for {counted(len(known), 'unknown')}"
            f"{', ' * bool(known)}{some(known)})"
        )

    def checked_block(self, block: Sequence[Quantity], slope: ca.SX) -> str:
        """What to say of a linear block where it is singular with the parameters as they are.

        Raises:
            ModelError: it is singular with any: its equations leave something open, or contradict each other.
        """
        network = _of_network(block)
        if network:
            return self.topology.networks.checked_block(network, slope)
        implied = [quantity.own for quantity in block if isinstance(quantity, ImpliedSignal)]
        if implied:
            leaf = implied[0].leaf
            assert isinstance(leaf, leaves.Implied)
            message = (
                f"{of(f'condition {leaf.index + 1}', implied[0].path)}: with these parameters the signal has no "
                "effect on it at once; leave out what is 0, such as a direct part of a block"
            )
        else:
            names = dict.fromkeys(quantity.name(self) for quantity in block)
            message = (
                f"algebraic loop: {' -> '.join(names)} add up to a condition that no value meets, or any; change a "
                "gain, or break it with a state, e.g. a FirstOrder block"
            )
        if ca.sprank(slope) < slope.size1():
            raise ModelError(message)
        return message

    # -- composites

    def outer_flow(self, path: str, connector: str, name: str) -> Formula | None:
        """Flow into a component or composite through one of its connectors; None where it cannot be told."""
        return self._outer_flow((path, connector), name, frozenset())

    def _outer_flow(self, key: tuple[str, str], name: str, seen: frozenset[tuple[str, str]]) -> Formula | None:
        path, connector = key
        if path in self.flat.elementary or path in self.topology.free_joints:
            return self.flow(path, connector, name)
        if key in seen:
            return None
        zero = Formula.constant(self.flat.ports[key].zero_flow(name))
        for sets, sign in ((self.flat.inside, 1), (self.flat.outside, -1)):
            if key not in sets:
                if sign == 1:
                    continue
                return zero
            flows = []
            for other, is_own in sets[key]:
                flow = self._outer_flow(other, name, seen | {key})
                if flow is None:
                    break
                flows.append(_negative(flow) if is_own else flow)
            else:
                total = _total(zero, *flows)
                return total if sign == 1 else _negative(total)
        return None

    # -- derivatives of what has no rule for them

    def _differentiated(self, path: str, leaf: leaves.Leaf, order: int) -> Formula:
        """Time derivative of some order of what a leaf is."""
        quantity: LeafOf | TotalDerivative = LeafOf(path, leaf)
        for _ in range(order):
            quantity = TotalDerivative(quantity)
        return Formula.of(quantity)

    def differentiated(self, quantity: LeafOf | TotalDerivative) -> Formula:
        """Time derivative of a quantity along the states that it follows from.

        What iterations find moves, too: that is known where values are made (mbfmu.dynamics.expressions.values).

        Raises:
            ModelError: the quantity needs this derivative itself.
        """

        def needs(one: Quantity) -> tuple[Quantity, ...]:
            return (one.of,) if isinstance(one, TotalDerivative) else one.formula(self).needs

        if any(isinstance(one, TotalDerivative) and one.of == quantity for one in reached([quantity], needs)):
            raise ModelError(needs_its_derivative(quantity.name(self)))
        states = [known for known in self.known_of(quantity) if _is_state(known)]
        symbols = ca.veccat(self.unknowns.time, *(known.symbol(self) for known in states))

        def make(value: ca.SX, *rates: ca.SX) -> Differential:
            return Differential(quantity.name(self), value, symbols, ca.veccat(1, *rates))

        return Formula.combined(make, Formula.of(quantity), *(self._rate(known) for known in states))

    @functools.cached_property
    def moving(self) -> frozenset[int]:
        """All that changes between events, as element hashes: states, accelerations, multipliers, delays, inputs."""
        unknowns = self.unknowns
        groups = (unknowns.q, unknowns.v, unknowns.z, unknowns.a, unknowns.multipliers, unknowns.delayed)
        columns = [symbol for group in groups for symbol in group.values()]
        return frozenset(hashes(elements(stacked([*columns, self.inputs.u]))))

    def _rate(self, known: Any) -> Formula:
        """Time derivative of a state."""
        if isinstance(known, CoordinateOf):
            return self.position_rate(known.node) if known.order == 0 else self.speed_rate(known.node)
        own = known.own
        if isinstance(own.leaf, leaves.State):
            return self.target(own.path, leaves.StateRate(str(own.leaf)))
        return self.position_rate(own) if isinstance(own.leaf, leaves.Quaternion) else self.speed_rate(own)

    def position_rate(self, key: Coordinate) -> Formula:
        """Time derivative of a coordinate or quaternion."""
        if not isinstance(key, Own):
            return Formula.of(CoordinateOf(key, 1))
        assert isinstance(key.leaf, leaves.Quaternion)
        turning = leaves.Speed(key.leaf.speed)
        return Formula.combined(
            leaves.quaternion_rate, Formula.of(UnknownOf(key)), Formula.of(UnknownOf(Own(key.path, turning)))
        )

    def speed_rate(self, key: Coordinate) -> Formula:
        """Time derivative of the speeds of a coordinate."""
        if not isinstance(key, Own):
            return Formula.of(SpeedRate(key) if key in self.topology.relative else CoordinateOf(key, 2))
        if isinstance(key.leaf, leaves.Speed):
            return Formula.of(UnknownOf(Own(key.path, key.leaf.following())))
        return Formula.constant(self.unknowns.a[key])  # of a state or signal that a condition binds

    def known_of(self, quantity: Quantity) -> tuple[Any, ...]:
        """The known quantities that a quantity follows from, directly or through others."""
        behind = reached([quantity], lambda one: one.formula(self).needs)
        return tuple(one for one in behind if hasattr(one, "symbol") and not one.formula(self).needs)


def _of_network(block: Sequence[Quantity]) -> list[Unknown]:
    """What of a block is sought in networks."""
    found: list[Unknown] = []
    for quantity in block:
        if isinstance(quantity, Potential):
            found.append(quantity.node)
        elif isinstance(quantity, LinkOf):
            found.append((quantity.path, quantity.index))
    return found


def _is_state(known: Any) -> bool:
    if isinstance(known, CoordinateOf):
        return known.order < 2
    return isinstance(known, UnknownOf) and isinstance(known.own.leaf, leaves.State | leaves.Quaternion | leaves.Speed)


def _total(*parts: Formula) -> Formula:
    """The sum of some formulas of one size."""
    counted = [part for part in parts if part is not _ZERO and part is not _ZEROS]
    if not counted:
        return parts[0]
    if len(counted) == 1:
        return counted[0]
    return Formula.combined(lambda *values: functools.reduce(plus, values), *counted)


def _element(index: int, column: Formula) -> Formula:
    return Formula.combined(lambda values: elements(values)[index], column)


def _negative(formula: Formula) -> Formula:
    return Formula.combined(lambda value: -value, formula)


def _like(value: ca.SX, symbol: ca.SX) -> ca.SX:
    """A value in the shape of the symbol that it is put in place of."""
    wanted = shape(symbol)
    value = value if shape(value) == wanted else ca.reshape(value, wanted)
    return value if value.is_dense() else ca.densify(value)
