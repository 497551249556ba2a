"""Sweeps: every quantity of the system as an expression in states, accelerations, multipliers and parameters.

Quantities are worked out when asked for and kept: positions and speeds of frames from their supporting edge (forward
sweep), cut forces from the balance of the node that an edge supports (backward sweep), signals from their sources.
A quantity that needs itself is an algebraic loop; the error names its members.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import casadi as ca

from mbfmu.dynamics.elimination import solve
from mbfmu.dynamics.inputs import Inputs
from mbfmu.dynamics.scope import Behaviour
from mbfmu.dynamics.topology import (
    GROUND,
    CoordinateNode,
    Edge,
    Relation,
    RelationKey,
    ScalarNode,
    Topology,
)
from mbfmu.dynamics.unknowns import Coordinate, Own, Unknowns, elements, stacked
from mbfmu.errors import ModelError
from mbfmu.frames import cross
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import Flange, Frame, Port
from mbfmu.modeling.declarations import Variable
from mbfmu.modeling.names import joined, of

#: Motion of a frame: position, orientation, velocity, angular velocity, acceleration, angular acceleration; r_0, v_0,
#: a_0 resolved in the world frame, w and z in the frame itself.
MOTION = ("r_0", "T", "v_0", "w", "a_0", "z")

#: What the motion of a prescribed frame relative to the ground is: what is prescribed, how often it is differentiated.
_PRESCRIBED_MOTION = {"r": ("r_0", 0), "v": ("r_0", 1), "a": ("r_0", 2), "T": ("T", 0), "w": ("w", 0), "z": ("w", 1)}


class AlgebraicLoop(ModelError):
    """A quantity needs itself.

    `relations` are those whose forces are part of the loop; `torn` is the member, if any, that it can be solved for.
    """

    def __init__(self, names: Iterable[str], relations: tuple[RelationKey, ...] = (), torn: Hashable = None) -> None:
        super().__init__(
            f"algebraic loop: {' -> '.join(dict.fromkeys(names))} depend on each other, and not linearly; break it "
            "with a state, e.g. a FirstOrder block"
        )
        self.names, self.relations, self.torn = tuple(names), relations, torn


@dataclasses.dataclass(frozen=True)
class Placeholders:
    """Symbols for what comes from the next node: the sweeps of the recursion stop there."""

    #: (frame node, r_0 ... z) -> its motion.
    motion: Mapping[tuple[int, str], ca.SX]
    #: Tree edge -> cut force and torque that it takes up at its child.
    wrench: Mapping[Edge, ca.SX]


class Sweeps:
    """Expressions of one system, each worked out once: a function of topology, unknowns and inputs.

    With `placeholders`, motions of frames, and wrenches of edges at their child, are these symbols: everything then is
    an expression in what the next nodes have. `behaviours` replace those of the topology.
    """

    def __init__(
        self,
        topology: Topology,
        unknowns: Unknowns,
        inputs: Inputs,
        placeholders: Placeholders | None = None,
        behaviours: Mapping[str, Behaviour] | None = None,
    ) -> None:
        self.topology, self.unknowns, self.inputs, self.placeholders = topology, unknowns, inputs, placeholders
        self.flat, self.behaviours = topology.flat, topology.behaviours if behaviours is None else behaviours
        #: What equations were divided by, and what to say where that is singular.
        self.solved_for: dict[str, ca.SX] = {}
        self._known: dict[Hashable, ca.SX] = {}
        self._pending: dict[Hashable, str] = {}
        self._touching: dict[ScalarNode, list[Relation]] = {}
        for relation in topology.relations:
            for node in relation.nodes:
                self._touching.setdefault(node, []).append(relation)
        self._edges_at: dict[int, list[Edge]] = {}
        self._edges_of: dict[str, list[Edge]] = {}
        self._edge_of: dict[tuple[str, str], Edge] = {}
        for edge in topology.edges:
            for end in {edge.a, edge.b}:
                self._edges_at.setdefault(end, []).append(edge)
            self._edges_of.setdefault(edge.path, []).append(edge)
            self._edge_of |= {(edge.path, connector): edge for connector in edge.connectors if connector}

    # -- kept results

    def once(self, key: Hashable, name: str, make: Callable[[], ca.SX]) -> ca.SX:
        """What `make` gives, worked out on the first question for `key`; `name` says what it is.

        Raises:
            AlgebraicLoop: the question came up while it was being answered.
        """
        if key in self._known:
            return self._known[key]
        if key in self._pending:
            pending = list(self._pending)
            loop = pending[pending.index(key) :]
            relations = tuple(k.relation for k in loop if isinstance(k, _Multiplier))
            torn = next((k for k in loop if _is_assigned(k)), None)
            raise AlgebraicLoop([self._pending[k] for k in loop], relations, torn)
        self._pending[key] = name
        try:
            self._known[key] = make()
        except AlgebraicLoop as loop:
            if loop.relations or loop.torn != key:
                raise
            self._known[key] = self._solved(key, make, loop)
        finally:
            self._pending.pop(key, None)
        return self._known[key]

    @property
    def differentiated(self) -> set[tuple[str, leaves.Value]]:
        """Signals and variables whose derivatives were asked for, with their components."""
        found = (key for key in self._known if isinstance(key, tuple) and len(key) == 3)
        return {(path, target) for path, target, order in found if isinstance(target, leaves.Value) and order}

    def _solved(self, key: Hashable, make: Callable[[], ca.SX], loop: AlgebraicLoop) -> ca.SX:
        """The value of a loop's member, where the loop is linear in it.

        The loop is torn there: `make` gives the value as a function of itself. What else has been worked out from that
        symbol is forgotten; asked for again, it follows from the solution.

        Raises:
            AlgebraicLoop: it is not linear.
            ModelError: it has no solution, or any.
        """
        assert isinstance(key, tuple)
        symbol = ca.SX.sym("torn", self.behaviours[key[0]].targets[key[1]].numel())
        del self._pending[key]
        residual = symbol - ca.vec(self._tried(key, symbol, make))
        slope = ca.sparsify(ca.jacobian(residual, symbol))
        if ca.depends_on(slope, symbol):
            raise AlgebraicLoop(loop.names)
        singular = (
            f"algebraic loop: {' -> '.join(dict.fromkeys(loop.names))} add up to a condition that no value meets, "
            "or any; change a gain, or break it with a state, e.g. a FirstOrder block"
        )
        if ca.sprank(slope) < slope.size1():
            raise ModelError(singular)
        self.solved_for[singular] = slope
        return solve(slope, -ca.substitute(residual, symbol, ca.SX.zeros(symbol.numel())))

    def _tried(self, key: Hashable, symbol: ca.SX, make: Callable[[], ca.SX]) -> ca.SX:
        """What `make` gives where `key` has the value `symbol`; nothing that was worked out with it is kept."""
        count = len(self._known)
        self._known[key] = symbol
        try:
            return make()
        finally:
            for later in list(self._known)[count:]:
                del self._known[later]

    def implied(self, path: str, leaf: leaves.Implied) -> ca.SX:
        """What a condition implies: from the condition itself where it knows that, an unknown elsewhere."""
        key, unknown = (path, leaf), self.unknowns.own[Own(path, leaf)]
        if key not in self._known:
            pending, self._pending = self._pending, {}  # what is being worked out elsewhere is no part of this
            try:
                residual = self._tried(key, unknown, lambda: self.condition(path, leaf))
            finally:
                self._pending = pending
            self._known[key] = unknown
            if ca.depends_on(residual, unknown):
                effect, name = ca.jacobian(residual, unknown), of(f"condition {leaf.index + 1}", path)
                if ca.depends_on(effect, unknown):
                    raise ModelError(
                        f"{name}: it is not linear in the signal that it is solved for; "
                        "put a state in between, e.g. a FirstOrder block"
                    )
                singular = "with these parameters the signal has no effect on it at once; leave out what is 0"
                self.solved_for[f"{name}: {singular}, such as a direct part of a block"] = effect
                self._known[key] = solve(effect, -ca.substitute(residual, unknown, 0))
        return self._known[key]

    def condition(self, path: str, leaf: leaves.Implied) -> ca.SX:
        """What is zero for the right value of a signal that is implied."""
        return self.substitute(path, [self.behaviours[path].conditions[leaf.index]])[0]

    # -- local expressions to global ones

    def substitute(
        self, path: str, expressions: Iterable[ca.SX], given: Mapping[leaves.Leaf, ca.SX] = MappingProxyType({})
    ) -> list[ca.SX]:
        """Local expressions of a component with every leaf replaced by its value, or by what is given for it."""
        behaviour = self.behaviours[path]
        expressions = list(expressions)
        if all(expression.is_constant() for expression in expressions):
            return expressions
        alone = behaviour.leaf_alone(expressions[0]) if len(expressions) == 1 else None
        if alone is not None:
            value = given[alone] if alone in given else alone.value(self, path)
            return [_like(value, behaviour.leaves[alone])]
        expressions = self._with_differences(path, expressions, given)
        column = expressions[0] if len(expressions) == 1 else ca.veccat(*expressions)
        found = list(dict.fromkeys(leaf for leaf, *_ in behaviour.leaves_in(column)))
        if not found:
            return expressions
        values = [given[leaf] if leaf in given else leaf.value(self, path) for leaf in found]
        symbols = [behaviour.leaves[leaf] for leaf in found]
        return list(ca.substitute(expressions, symbols, [_like(*pair) for pair in zip(values, symbols, strict=True)]))

    def _with_differences(self, path: str, expressions: list[ca.SX], given: Mapping[leaves.Leaf, ca.SX]) -> list[ca.SX]:
        """Local expressions with relative states, and their rates, in place of the differences that these are.

        Taken from the positions of both ends, a difference would have their rounding errors.
        """
        relative, behaviour = self.topology.relative, self.behaviours[path]
        if not relative:
            return expressions
        found = [
            ((self.topology.flange_node(path, leaf.connector), leaf.order), symbol)
            for leaf, _, symbol in behaviour.leaves_in(ca.veccat(*expressions))
            if isinstance(leaf, leaves.FlangePosition) and leaf not in given
        ]
        flanges = dict(found)
        replaced: set[int] = set()
        for (node, order), symbol in found if len(flanges) > 1 else ():
            tied = relative.get(node)
            other = None if tied is None else flanges.get((tied.reference, order))
            if tied is None or other is None:
                continue
            far, near = (symbol, other) if tied.sign > 0 else (other, symbol)
            if far.element_hash() not in replaced:
                replaced.add(far.element_hash())
                distance = self.speed_rate(node) if order == 2 else (self.unknowns.q, self.unknowns.v)[order][node]
                expressions = list(ca.substitute(expressions, [far], [near + distance]))
        return expressions

    def of_all(self, expressions: Callable[[Behaviour], Iterable[ca.SX]]) -> ca.SX:
        """Some expressions of each component, with the values of leaves, as one column."""
        return stacked(
            self.substitute(path, [expression])[0]
            for path, behaviour in self.behaviours.items()
            for expression in expressions(behaviour)
        )

    def target(self, path: str, target: leaves.Target, order: int = 0) -> ca.SX:
        """What the equations of a component assign to a target, or its time derivative of some order."""

        def make() -> ca.SX:
            behaviour = self.behaviours[path]
            expression = behaviour.targets[target]
            for _ in range(order):
                expression = behaviour.derivative(expression)
            return self.substitute(path, [expression])[0]

        return self.once((path, target, order), joined(path, target), make)

    # -- values of leaves

    @property
    def time(self) -> ca.SX:
        """Time [s]."""
        return self.unknowns.time

    def frame_motion(self, path: str, connector: str, what: str) -> ca.SX:
        """Motion of a connector that is a frame."""
        return self.frame(self.flat.nodes[self._frame_key(path, connector)], what)

    def orientation(self, path: str, connector: str) -> tuple[ca.SX, ca.SX]:
        """T and w of a connector that is a frame."""
        return self.frame_motion(path, connector, "T"), self.frame_motion(path, connector, "w")

    def flange_position(self, path: str, connector: str, order: int) -> ca.SX:
        """Position of a flange, or its derivative."""
        return self.scalar(self.topology.flange_node(path, connector), order)

    def potential(self, path: str, connector: str) -> ca.SX:
        """Potential of a connector of a network."""
        return self.topology.networks.potential(self.flat.nodes[(path, connector)], self)

    def network_variable(self, path: str, name: str) -> ca.SX:
        """A variable of a component that is found together with the potentials of its network."""
        return self.topology.networks.variable(path, name, self)

    def coordinate(self, path: str, name: str, size: int, order: int) -> ca.SX:
        """A joint's coordinate, or its derivative."""
        found = [self.scalar(CoordinateNode(path, name, i), order) for i in range(size)]
        return found[0] if size == 1 else ca.vertcat(*found)

    def unknown(self, path: str, leaf: leaves.Leaf) -> ca.SX:
        """A quaternion, speed, acceleration, state, multiplier or mode of a component."""
        return self.unknowns.own[Own(path, leaf)]

    def variable(self, path: str, name: str, order: int = 0) -> ca.SX:
        """A declared variable of a component (a column), or its time derivative of some order."""
        behaviour = self.behaviours.get(path)
        if behaviour is None:
            raise ModelError(f"{joined(path, name)}: nothing has equations that could give it a value")
        component = behaviour.component
        declared = component.declarations.get(name)
        declared = declared if isinstance(declared, Variable) and declared.enabled(component) else None
        leaf = None if declared is None else declared.leaf(component)
        if leaf is None and leaves.Value(name) not in behaviour.targets:
            raise ModelError(f"{path}: the equations of {type(component).__name__} do not assign {name}")
        if leaf is None:
            return self.target(path, leaves.Value(name), order)
        for done in range(order):
            following = leaf.following()
            if following is None:
                return self._differentiated(leaf.value(self, path), order - done, joined(path, name))
            leaf = following
        return leaf.value(self, path)

    def component(self, path: str) -> Any:
        """The component of a path."""
        return self.flat.components[path]

    def has_members(self, path: str, connector: str) -> bool:
        """True where an elementary component is connected."""
        return bool(self.flat.members[self.flat.nodes[(path, connector)]])

    def _frame_key(self, path: str, connector: str) -> tuple[str, str]:
        if path in self.topology.free_joints:  # the joint of a free body: frame_b is the body's frame
            body = self.topology.free_joints[path]
            return next((body, n) for n, p in self.flat.elementary[body].ports().items() if isinstance(p, Frame))
        return (path, connector)

    # -- signals

    def signal(self, path: str, name: str, index: int, order: int = 0) -> ca.SX:
        """Element of a signal connector, or a time derivative of it."""
        key = (path, name)
        while True:
            if (key, index) in self.inputs.signals:
                if order:
                    raise ModelError(
                        f"{joined(*key)}: the equations need the derivative of an FMU input; connect a "
                        "signal with a derivative, or feed the input through a filter block"
                    )
                return self.inputs.signals[(key, index)]
            behaviour, value = self.behaviours.get(key[0]), leaves.Value(key[1])
            if behaviour is not None and value in behaviour.targets:
                return elements(self.target(key[0], value, order))[index]
            if (key, index) not in self.flat.sources:
                raise self._open(key)
            key, index = self.flat.sources[(key, index)]

    def _open(self, key: tuple[str, str]) -> ModelError:
        """The error of an input signal that nothing feeds, or that is fed in part."""
        label, size = joined(*key), self.flat.ports[key].size(self.flat.components[key[0]])  # type: ignore[attr-defined]
        fed = {k for k in range(size) if (key, k) in self.flat.sources or (key, k) in self.inputs.signals}
        missing = [f"{label}[{k + 1}]" for k in range(size) if k not in fed]
        if fed:
            return ModelError(f"{label}: of its {size} elements {', '.join(missing)} are not connected; connect them")
        return ModelError(
            f"{label}: this input signal is not connected; connect it, or make it an input of the assembly with input()"
        )

    # -- forward sweep

    def motion(self, edge: Edge, what: str) -> ca.SX:
        """Relative motion of an edge, a joint or a prescribed frame: r, T, w, v, a or z."""
        key = ("motion", edge.path, edge.connectors, what)
        return self.once(key, edge.path, lambda: self.substitute(edge.path, [self.local_motion(edge, what)])[0])

    def local_motion(self, edge: Edge, what: str) -> ca.SX:
        """The same in leaves of the edge's component."""
        behaviour = self.behaviours[edge.path]
        if behaviour.motion is not None:
            return behaviour.motion[what]
        name, order = _PRESCRIBED_MOTION[what]
        expression = behaviour.targets[leaves.Prescribed(edge.connectors[1], name)]
        for _ in range(order):
            expression = behaviour.derivative(expression)
        return expression

    def frame(self, node: int, what: str) -> ca.SX:
        """Motion of a frame node."""
        if node == GROUND:
            return ca.SX.eye(3) if what == "T" else ca.SX.zeros(3)
        if self.placeholders is not None:
            return self.placeholders.motion[(node, what)]
        key = ("frame", node, what)
        return self.once(key, f"motion of frame node {node}", lambda: self.supported(self.topology.support[node], what))

    def supported(self, edge: Edge, what: str) -> ca.SX:
        """Motion of a tree edge's child, as it follows from the parent."""
        if not edge.reversed:
            return self.beyond(edge, what)
        rel, b = functools.partial(self.motion, edge), functools.partial(self.frame, edge.b)
        if what == "T":
            return rel("T").T @ b("T")
        if what == "w":
            return rel("T").T @ (b("w") - rel("w"))
        if what == "z":
            return rel("T").T @ (b("z") - rel("z") - cross(b("w"), rel("w")))
        T = self.frame(edge.a, "T")
        if what == "r_0":
            return b("r_0") - T.T @ rel("r")
        w = self.frame(edge.a, "w")
        if what == "v_0":
            return b("v_0") - T.T @ (rel("v") + cross(w, rel("r")))
        z = self.frame(edge.a, "z")
        return b("a_0") - T.T @ relative_acceleration(rel, w, z)

    def beyond(self, edge: Edge, what: str) -> ca.SX:
        """Motion of frame b of an edge, as it follows from frame a and the relative motion."""

        def make() -> ca.SX:
            rel, a = functools.partial(self.motion, edge), functools.partial(self.frame, edge.a)
            if what == "T":
                return rel("T") @ a("T")
            if what == "w":
                return rel("T") @ a("w") + rel("w")
            if what == "z":
                return rel("T") @ a("z") + rel("z") + cross(rel("T") @ a("w"), rel("w"))
            if what == "r_0":
                return a("r_0") + a("T").T @ rel("r")
            if what == "v_0":
                return a("v_0") + a("T").T @ (rel("v") + cross(a("w"), rel("r")))
            return a("a_0") + a("T").T @ relative_acceleration(rel, a("w"), a("z"))

        return self.once(("beyond", edge.path, edge.connectors, what), f"motion beyond {edge.path}", make)

    def scalar(self, node: ScalarNode, order: int) -> ca.SX:
        """Position, speed or acceleration of a scalar node."""
        source = self.topology.source[node]
        if source == "coordinate":
            own = (self.unknowns.q, self.unknowns.v, self.unknowns.a)[order][node]
            relative = self.topology.relative.get(node)
            if relative is None or order == 2:
                return own
            return self.once(
                (node, order),
                self._node_name(node),
                lambda: _moved_on(self.scalar(relative.reference, order), own, relative.sign),
            )
        if source == "prescribed":
            path, connector = self.topology.prescribed[node]
            if path == "":
                return self.inputs.motions[connector][order]
            return self.prescribed(path, connector, order)

        def make() -> ca.SX:
            relation = self.topology.solved_by[node]
            own = ca.vertcat(*(element for *_, element, n in relation.leaves if n == node))
            rest = ca.substitute(relation.expression, own, ca.SX.zeros(own.numel()))
            expression = -rest / relation.coefficient(node)
            for _ in range(order):
                expression = self.behaviours[relation.path].derivative(expression)
            return self.substitute(relation.path, [expression])[0]

        return self.once((node, order), self._node_name(node), make)

    def prescribed(self, path: str, connector: str, order: int) -> ca.SX:
        """Position that a component prescribes at one of its flanges, or its derivative."""
        port = self.flat.ports[(path, connector)]
        assert isinstance(port, Flange)
        return self.target(path, leaves.Prescribed(connector, port.position), order)

    def _node_name(self, node: ScalarNode) -> str:
        if isinstance(node, CoordinateNode):
            return joined(node.path, node.name)
        return joined(*self.flat.members[node.number][0])

    # -- backward sweep

    def flow(self, path: str, connector: str, name: str) -> ca.SX:
        """All that flows into an elementary component through a connector: force, torque, heat flow."""
        port = self.flat.ports[self._frame_key(path, connector)]
        label = joined(path, f"{connector}.{name}")
        return self.once((path, leaves.Flow(connector, name)), label, lambda: self._flow(port, path, connector, name))

    def _flow(self, port: Port, path: str, connector: str, name: str) -> ca.SX:
        if path in self.topology.free_joints:
            return self.load(path, connector, name, 3) + self.wrench_at(path, connector, name)
        return port.inflow(self, path, name)

    def inflow(self, path: str, connector: str, name: str, order: int = 0) -> ca.SX:
        """Flow into a component, or its time derivative of some order, which exists where no acceleration enters."""

        def make() -> ca.SX:
            if not order:
                flow = self.outer_flow(path, connector, name)
                assert flow is not None
                return flow
            return self._differentiated(self.inflow(path, connector, name, order - 1), 1, label)

        label = joined(path, f"{connector}.{name}")
        return self.once((path, leaves.Flow(connector, name), order, "inflow"), f"flow {label}", make)

    def _differentiated(self, expression: ca.SX, order: int, name: str) -> ca.SX:
        """Time derivative of some order of a value that nothing else differentiates."""
        unknowns = self.unknowns
        for _ in range(order):
            if ca.depends_on(
                expression,
                ca.veccat(
                    *unknowns.a.values(), *unknowns.multipliers.values(), *unknowns.delayed.values(), self.inputs.u
                ),
            ):
                raise ModelError(
                    f"{name}: the equations need the derivative of this load, which depends on accelerations, delayed "
                    "signals or inputs of the FMU; use a Derivative or a filter block in place of Der"
                )
            expression = self.total_derivative(expression)
        return expression

    def total_derivative(self, expression: ca.SX) -> ca.SX:
        """d/dt of an expression in time and states."""
        unknowns = self.unknowns
        states = ca.veccat(unknowns.time, *unknowns.q.values(), *unknowns.v.values(), *unknowns.z.values())
        rates = ca.veccat(1, self.position_rates, self.speed_rates, self.state_rates)
        return ca.jtimes(expression, states, rates)

    @functools.cached_property
    def start_inputs(self) -> tuple[float, ...]:
        """Values of u where initialisation begins: of delayed signals nothing is known there."""
        delayed = stacked(self.unknowns.delayed.values())
        return (*self.inputs.starts, *(0.0,) * delayed.numel())

    @functools.cached_property
    def position_rates(self) -> ca.SX:
        """dq/dt."""
        return stacked(self.unknowns.position_rates(key) for key in self.unknowns.q)

    @functools.cached_property
    def speed_rates(self) -> ca.SX:
        """dv/dt."""
        return stacked(self.speed_rate(key) for key in self.unknowns.v)

    def speed_rate(self, key: Coordinate) -> ca.SX:
        """Time derivative of the speeds of a coordinate."""
        own = self.unknowns.a[key]
        relative = None if isinstance(key, Own) else self.topology.relative.get(key)
        if relative is None:
            return own

        def make() -> ca.SX:
            other = self.scalar(relative.reference, 2)
            return own - other if relative.sign > 0 else other - own

        return self.once(("rate", key), f"acceleration of {relative.path}.{relative.name}", make)

    @functools.cached_property
    def state_rates(self) -> ca.SX:
        """dz/dt."""
        found = ((own.path, own.leaf) for own in self.unknowns.z)
        return stacked(self.target(path, leaves.StateRate(str(leaf))) for path, leaf in found)

    def load(self, path: str, connector: str, name: str, size: int) -> ca.SX:
        """What a component assigns to a flow."""
        target = leaves.Load(connector, name)
        return self.target(path, target) if target in self.behaviours[path].targets else ca.SX.zeros(size)

    def wrench_at(self, path: str, connector: str, name: str) -> ca.SX:
        """Cut force (f) or torque (t) that a component takes up at one of its frames, as a joint or rigid part."""
        edge = self._edge_of.get((path, connector))
        if edge is None:
            return ca.SX.zeros(3)
        return self.wrench(edge, connector == edge.connectors[1], name)

    def wrench(self, edge: Edge, at_b: bool, name: str) -> ca.SX:
        """Cut force (f) or torque (t) that an edge takes up at its frame b or a."""
        is_at_child = edge.role != "cut" and at_b != edge.reversed
        if is_at_child and self.placeholders is not None:
            return _part(self.placeholders.wrench[edge], name)

        def make() -> ca.SX:
            if is_at_child:
                return -self._node_load(edge.child, edge, name)
            if edge.role == "cut" and at_b:
                return _part(self.unknowns.multipliers[edge], name)
            rel = functools.partial(self.motion, edge)
            if at_b:  # from a
                f = self.wrench(edge, False, "f")
                if name == "f":
                    return -rel("T") @ f
                t = self.wrench(edge, False, "t")
                return rel("T") @ (cross(rel("r"), f) - t)
            f = -rel("T").T @ self.wrench(edge, True, "f")
            if name == "f":
                return f
            return cross(rel("r"), f) - rel("T").T @ self.wrench(edge, True, "t")

        return self.once(("wrench", edge.path, edge.connectors, at_b, name), f"cut force of {edge.path}", make)

    def node_loads(self, node: int, name: str) -> ca.SX:
        """Sum of the cut forces (f) or torques (t) of everything at a frame node but edges."""
        total = ca.SX.zeros(3)
        for path, connector in self.flat.members[node]:
            total += self.load(path, connector, name, 3)
        return total

    def _node_load(self, node: int, without: Edge, name: str) -> ca.SX:
        """Sum of the cut forces of everything at a frame node but one edge."""
        total = self.node_loads(node, name)
        for edge in self._edges_at[node]:
            if edge is without:
                continue
            if edge.a == node:
                total += self.wrench(edge, False, name)
            if edge.b == node:
                total += self.wrench(edge, True, name)
        return total

    def load_on(self, edge: Edge) -> ca.SX:
        """Cut force and torque of all at an edge's child but the edge itself, in one column."""
        return ca.vertcat(*(self._node_load(edge.child, edge, name) for name in ("f", "t")))

    def reaction(self, path: str, connector: str) -> ca.SX:
        """Flow with which the relations and prescribed positions of a component hold one of its flanges."""
        node = self.topology.flange_node(path, connector)
        total = ca.SX.zeros(1)
        for relation in self._touching.get(node, []):
            if relation.path == path:
                total += self._coefficient(relation, node, connector) * self.multiplier(relation)
        if self._prescribes(path, connector):
            total += self._prescribed_flow(path, connector, node)
        return total

    def _prescribes(self, path: str, connector: str) -> bool:
        port = self.flat.ports[(path, connector)]
        assert isinstance(port, Flange)
        return leaves.Prescribed(connector, port.position) in self.behaviours[path].targets

    def _prescribed_flow(self, path: str, connector: str, node: ScalarNode) -> ca.SX:
        if self.topology.prescribed[node] == (path, connector):
            return -self.balance(node, without_prescribing=True)
        return self.unknowns.multipliers[(path, connector)]

    def outside_flow(self, path: str, connector: str) -> ca.SX:
        """Flow out of the assembly through one of its own flanges, whose motion comes from outside."""
        return -self.balance(self.topology.flange_node(path, connector), without_prescribing=True)

    def _coefficient(self, relation: Relation, node: ScalarNode, connector: str | None = None) -> ca.SX:
        return self.once(
            ("coefficient", relation.key, node, connector),
            relation.path,
            lambda: self.substitute(relation.path, [relation.coefficient(node, connector)])[0],
        )

    def multiplier(self, relation: Relation) -> ca.SX:
        """Force that keeps a relation: from the balance of the node that it gives, or an unknown."""
        node = relation.solves
        if node is None:
            return self.unknowns.multipliers[relation.key]
        return self.once(
            _Multiplier(relation.key),
            relation.path,
            lambda: -self.balance(node, without=relation) / self._coefficient(relation, node),
        )

    def balance(self, node: ScalarNode, without: Relation | None = None, without_prescribing: bool = False) -> ca.SX:
        """Sum of the flows at a scalar node: zero where the node is a coordinate of its own."""
        total = ca.SX.zeros(1)
        for relation in self._touching.get(node, []):
            if relation is not without:
                total += self._coefficient(relation, node) * self.multiplier(relation)
        if isinstance(node, CoordinateNode):
            return total + self.drive(node.path, leaves.Coordinate(node.name, order=1), node.index)
        for path, connector in self.flat.members[node.number]:
            port = self.flat.ports[(path, connector)]
            assert isinstance(port, Flange)
            total += self.load(path, connector, port.flow, 1)
            is_left_out = without_prescribing and self.topology.prescribed.get(node) == (path, connector)
            if self._prescribes(path, connector) and not is_left_out:
                total += self._prescribed_flow(path, connector, node)
        return total - self.from_outside(node.number)

    def balances(self, key: Coordinate) -> list[ca.SX]:
        """Sums of the flows along the speeds of a coordinate: zero for the right accelerations."""
        if not isinstance(key, Own):
            return [self.balance(key)]
        if isinstance(key.leaf, leaves.Implied):
            return [self.condition(key.path, key.leaf)]
        if isinstance(key.leaf, leaves.State):
            return elements(self.unknowns.a[key] - self.target(key.path, leaves.StateRate(str(key.leaf))))
        assert isinstance(key.leaf, leaves.Speed)
        return [self.drive(key.path, key.leaf, i) for i in range(key.leaf.size)]

    def from_outside(self, node: int) -> ca.SX:
        """Flow into a node from outside the assembly."""
        return self.inputs.flows.get(node, ca.SX.zeros(1))

    def drive(self, path: str, speed: leaves.Coordinate | leaves.Speed, index: int) -> ca.SX:
        """Flow into a component along one of its speeds: minus the power of its frames' cut forces per unit of it."""
        behaviour = self.behaviours[path]
        total = ca.SX.zeros(1)
        effort = leaves.Effort(speed.name)
        if effort in behaviour.targets:
            total -= elements(self.target(path, effort))[index]
        for edge in self._edges_of.get(path, []):
            v, w = self.local_motion(edge, "v"), self.local_motion(edge, "w")
            if speed not in behaviour.leaves:
                continue
            element = elements(behaviour.leaves[speed])[index]
            along, about = self.substitute(path, [ca.jacobian(v, element), ca.jacobian(w, element)])
            f, t = self.wrench(edge, True, "f"), self.wrench(edge, True, "t")
            total -= ca.dot(about, t) + ca.dot(self.motion(edge, "T") @ along, f)
        return total

    def network_flow(self, path: str, connector: str) -> ca.SX:
        """Flow into a component through a connector of a network."""
        return self.topology.networks.flow(path, connector, self)

    # -- composites

    def outer_flow(self, path: str, connector: str, name: str) -> ca.SX | None:
        """Flow into a component or composite through one of its connectors; None where it cannot be told."""
        return self._outer_flow((path, connector), name, frozenset())

    def _outer_flow(self, key: tuple[str, str], name: str, seen: frozenset[tuple[str, str]]) -> ca.SX | None:
        path, connector = key
        if path in self.flat.elementary or path in self.topology.free_joints:
            return self.flow(path, connector, name)
        if key in seen:
            return None
        zero = self.flat.ports[key].zero_flow(name)
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
                flows.append((-1 if is_own else 1) * flow)
            else:
                return sign * sum(flows, zero)
        return None

    # -- order of work

    def prepare(self) -> None:
        """Sweep forward and backward in tree order, so that later questions stay shallow."""
        for what in MOTION:
            for edge in self.topology.order:
                self.frame(edge.child, what)
        for edge in reversed(self.topology.order):
            for name in ("f", "t"):
                self.wrench(edge, not edge.reversed, name)


def _is_assigned(key: Hashable) -> bool:
    """True for what a component's equations assign to a signal or variable: a loop can be solved for that."""
    return isinstance(key, tuple) and len(key) == 3 and isinstance(key[1], leaves.Value)


@dataclasses.dataclass(frozen=True)
class _Multiplier:
    """What a relation's force is known by."""

    relation: RelationKey


def _like(value: ca.SX, symbol: ca.SX) -> ca.SX:
    """A value in the shape of the symbol that it is put in place of."""
    value = value if value.shape == symbol.shape else ca.reshape(value, symbol.shape)
    return value if value.is_dense() else ca.densify(value)


def _moved_on(reference: ca.SX, distance: ca.SX, sign: int) -> ca.SX:
    return reference + distance if sign > 0 else reference - distance


def _part(wrench: ca.SX, name: str) -> ca.SX:
    """Force (f) or torque (t) of both in one column."""
    return wrench[:3] if name == "f" else wrench[3:]


def relative_acceleration(rel: Callable[[str], ca.SX], w: ca.SX, z: ca.SX) -> ca.SX:
    """Acceleration of frame b relative to the origin of frame a, resolved in a (a rotates with w, z)."""
    return rel("a") + cross(z, rel("r")) + 2 * cross(w, rel("v")) + cross(w, cross(w, rel("r")))
