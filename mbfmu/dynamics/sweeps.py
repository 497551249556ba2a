"""Sweeps: every quantity of the system as an expression in states, accelerations, multipliers and parameters.

Quantities are worked out when asked for and kept: positions and speeds of frames from their supporting edge (forward
sweep), cut forces from the balance of the node that an edge supports (backward sweep), signals from their sources.
A quantity that needs itself is an algebraic loop; the error names its members.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import casadi as ca

from mbfmu.dynamics.heat import HeatNetwork
from mbfmu.dynamics.scope import Key
from mbfmu.dynamics.topology import GROUND, Edge, Relation, ScalarNode, Topology
from mbfmu.errors import ModelError
from mbfmu.frames import cross
from mbfmu.modeling.connectors import Flange, Frame, HeatPort
from mbfmu.modeling.declarations import Coordinate, Multiplier, Quaternion, Speed, State, Variable

#: Motion of a frame: position, orientation, velocity, angular velocity, acceleration, angular acceleration; r_0, v_0,
#: a_0 resolved in the world frame, w and z in the frame itself.
MOTION = ("r_0", "T", "v_0", "w", "a_0", "z")


#: What the motion of a prescribed frame relative to the ground is: a root target and how often to differentiate it.
_ROOT_MOTION = {"r": ("r_0", 0), "v": ("r_0", 1), "a": ("r_0", 2), "T": ("T", 0), "w": ("w", 0), "z": ("w", 1)}


class Symbols:
    """The unknowns and knowns of the system as CasADi symbols, in the order of the vectors of `Equations`."""

    def __init__(self, topology: Topology) -> None:
        self.time = ca.SX.sym("time")
        self.q: dict[Key, ca.SX] = {}
        self.v: dict[Key, ca.SX] = {}
        self.a: dict[Key, ca.SX] = {}
        self.z: dict[Key, ca.SX] = {}
        self.multipliers: dict[Key, ca.SX] = {}
        self.modes: dict[tuple[str, int], ca.SX] = {}
        self.inputs: dict[str, ca.SX] = {}
        for node in topology.independent:
            name = _node_name(topology, node)
            self.q[node], self.v[node], self.a[node] = (ca.SX.sym(name + s) for s in ("", "'", "''"))
        for path, record in topology.records.items():
            for name, declaration in record.component.variables().items():
                size, role = declaration.size(record.component), declaration.role(record.component)
                key = (path, name)
                if issubclass(role, Quaternion):
                    self.q[key] = ca.SX.sym(f"{path}.{name}", 4)
                elif issubclass(role, Speed):
                    self.v[key], self.a[key] = (ca.SX.sym(f"{path}.{name}{s}", size) for s in ("", "'"))
                elif issubclass(role, State):
                    self.z[key] = ca.SX.sym(f"{path}.{name}", size)
                elif issubclass(role, Multiplier):
                    self.multipliers[key] = ca.SX.sym(f"{path}.{name}", size)
            for i in range(len(record.switches)):
                self.modes[(path, i)] = ca.SX.sym(f"{path}.switch[{i + 1}]")

    def multiplier(self, key: Key, size: int) -> ca.SX:
        """Multiplier of a cut or of a closed relation, made on first use."""
        if key not in self.multipliers:
            self.multipliers[key] = ca.SX.sym(".".join(map(str, key)), size)
        return self.multipliers[key]


def _node_name(topology: Topology, node: ScalarNode) -> str:
    if node[0] == "coordinate":
        return f"{node[1]}.{node[2]}" + (f"[{node[3] + 1}]" if node[3] else "")
    path, name = topology.flat.members[node[1]][0]
    return f"{path}.{name}"


class Sweeps:
    """Expressions of one system. `value` and the functions below it are the vocabulary; results are kept."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.flat = topology.flat
        self.records = topology.records
        self.symbols = Symbols(topology)
        #: Signal element fed by an FMU input -> input symbol.
        self.external: dict[tuple[Any, int], ca.SX] = {}
        #: Flange node -> flow into the assembly from outside (an FMU input).
        self.exposed: dict[ScalarNode, ca.SX] = {}
        #: Flange of the assembly -> its position, speed and acceleration from outside (FMU inputs).
        self.driven: dict[str, tuple[ca.SX, ca.SX, ca.SX]] = {}
        self._known: dict[Any, ca.SX] = {}
        self._pending: list[Any] = []
        self._touching: dict[ScalarNode, list[Relation]] = {}
        for relation in topology.relations:
            for node in relation.nodes:
                self._touching.setdefault(node, []).append(relation)
        self._edges_at: dict[int, list[Edge]] = {}
        for edge in topology.edges:
            for end in {edge.a, edge.b}:
                self._edges_at.setdefault(end, []).append(edge)
        self._edges_of: dict[str, list[Edge]] = {}
        for edge in topology.edges:
            self._edges_of.setdefault(edge.path, []).append(edge)
        self._edge_of = {(e.path, e.connectors[1]): e for e in topology.edges}
        self._edge_of |= {(e.path, e.connectors[0]): e for e in topology.edges if e.connectors[0]}
        self.heat = HeatNetwork(self)

    # -- kept results

    def once(self, key: Any, make: Callable[[], ca.SX]) -> ca.SX:
        """What `make` gives, worked out on the first question for `key`."""
        if key in self._known:
            return self._known[key]
        if key in self._pending:
            loop = self._pending[self._pending.index(key) :]
            names = " -> ".join(dict.fromkeys(_loop_name(k) for k in loop))
            raise ModelError(f"algebraic loop: {names}; break it with a state, e.g. a FirstOrder block or a Damper")
        self._pending.append(key)
        try:
            self._known[key] = make()
        finally:
            self._pending.pop()
        return self._known[key]

    # -- local expressions to global ones

    def globalise(
        self, path: str, expressions: Iterable[ca.SX], given: Mapping[Key, ca.SX] = MappingProxyType({})
    ) -> list[ca.SX]:
        """Local expressions of a component with every leaf replaced by its value, or by what is given for it."""
        record = self.records[path]
        expressions = list(expressions)
        elements, values = [], []
        for key, index, element in record.leaves_in(ca.veccat(*expressions)):
            elements.append(element)
            values.append(ca.vec(given[key] if key in given else self.value(path, key))[index])
        if not elements:
            return expressions
        return list(ca.substitute(expressions, [ca.vertcat(*elements)], [ca.vertcat(*values)]))

    def target(self, path: str, key: Key, order: int = 0) -> ca.SX:
        """What the equations of a component assign to `key`, or its time derivative of some order."""

        def make() -> ca.SX:
            record = self.records[path]
            expression = record.targets[key]
            for _ in range(order):
                expression = record.derivative(expression)
            return self.globalise(path, [expression])[0]

        return self.once(("target", path, key, order), make)

    def value(self, path: str, key: Key) -> ca.SX:
        """Value of a leaf of a component."""
        kind = key[0]
        if kind == "time":
            return self.symbols.time
        if kind == "frame":
            return self.frame(self.flat.nodes[self._frame_key(path, key[1])], key[2])
        if kind == "flange":
            return self.scalar(("flange", self.flat.nodes[(path, key[1])]), key[2])
        if kind == "temperature":
            return self.heat.temperature(self.flat.nodes[(path, key[1])])
        if kind == "coordinate":
            size = self.records[path].leaves[key].numel()
            return ca.vertcat(*(self.scalar(("coordinate", path, key[1], i), key[2]) for i in range(size)))
        if kind == "quaternion":
            return self.symbols.q[(path, key[1])]
        if kind == "speed":
            return (self.symbols.v if key[2] == 0 else self.symbols.a)[(path, key[1])]
        if kind == "state":
            return self.symbols.z[(path, key[1])]
        if kind in ("state'", "stated"):
            return self.target(path, key)
        if kind == "multiplier":
            return self.symbols.multipliers[(path, key[1])]
        if kind == "mode":
            return self.symbols.modes[(path, key[1])]
        if kind == "input":
            size = self.records[path].leaves[key].numel()
            return ca.vertcat(*(self.signal((path, key[1]), i, key[2]) for i in range(size)))
        if kind == "part":
            return self.variable(f"{path}.{key[1]}".lstrip("."), key[2], key[3])
        if kind == "at":  # a leaf at a connector of a part
            part, leaf = f"{path}.{key[1]}".lstrip("."), key[2]
            if leaf[0] != "input":
                return self.value(part, leaf)
            size = self.records[path].leaves[key].numel()
            return ca.vertcat(*(self.signal((part, leaf[1]), i, leaf[2]) for i in range(size)))
        assert kind == "flow", key
        return self.flow_rate(path, *key[1:])

    def flow_rate(self, path: str, connector: str, name: str, order: int = 0) -> ca.SX:
        """Flow into a component, or its time derivative of some order, which exists where no acceleration enters."""

        def make() -> ca.SX:
            if not order:
                flow = self.outer_flow((path, connector), name)
                assert flow is not None
                return flow
            s, flow = self.symbols, self.flow_rate(path, connector, name, order - 1)
            if ca.depends_on(flow, ca.veccat(*s.a.values(), *s.multipliers.values(), *s.inputs.values())):
                raise ModelError(
                    f"{path}.{connector}.{name}: the equations need the derivative of this load, which depends on "
                    "accelerations or on inputs of the FMU; use a Derivative or a filter block in place of Der"
                )
            states = ca.veccat(s.time, *s.q.values(), *s.v.values(), *s.z.values())
            rates = ca.veccat(
                1,
                *(self.position_rate(key) for key in s.q),
                *s.a.values(),
                *(self.target(owner, ("state'", state)) for owner, state in s.z),
            )
            return ca.jtimes(flow, states, rates)

        return self.once(("flow rate", path, connector, name, order), make)

    def position_rate(self, key: Key) -> ca.SX:
        """Time derivative of the coordinate or quaternion `key` of `symbols.q`."""
        q = self.symbols.q[key]
        if q.numel() != 4:
            return self.symbols.v[key]
        declaration = self.records[key[0]].component.declarations[key[1]]
        assert isinstance(declaration, Quaternion)
        return _quaternion_rate(q, self.symbols.v[(key[0], declaration.speed)])

    def variable(self, path: str, name: str, order: int = 0) -> ca.SX:
        """A declared variable of a component (a column), or its time derivative of some order."""
        record = self.records.get(path)
        if record is None:
            raise ModelError(f"{path}.{name}: {path} has no equations that could give it a value")
        declaration = record.component.declarations[name]
        role = declaration.role(record.component) if isinstance(declaration, Variable) else type(declaration)
        if role is Coordinate:
            size = declaration.size(record.component)  # type: ignore[attr-defined]
            return ca.vertcat(*(self.scalar(("coordinate", path, name, i), order) for i in range(size)))
        if role is Speed:
            return self.value(path, ("speed", name, order))
        kind = {Quaternion: "quaternion", State: "state", Multiplier: "multiplier"}.get(role)
        if kind is not None:
            return self.value(path, (kind, name))
        if ("variable", name) not in record.targets:
            raise ModelError(f"{path}: the equations of {type(record.component).__name__} do not assign {name}")
        return self.target(path, ("variable", name), order)

    def _frame_key(self, path: str, connector: str) -> tuple[str, str]:
        if path in self.topology.free:  # the joint of a free body: frame_b is the body's frame
            body = self.topology.free[path]
            return next((body, n) for n, p in self.flat.elementary[body].ports().items() if isinstance(p, Frame))
        return (path, connector)

    # -- signals

    def signal(self, key: tuple[str, str], index: int, order: int = 0) -> ca.SX:
        """Element of a signal connector, or a time derivative of it."""
        while True:
            if (key, index) in self.external:
                if order:
                    raise ModelError(
                        f"{'.'.join(key)}: the equations need the derivative of an FMU input; connect a "
                        "signal with a derivative, or feed the input through a filter block"
                    )
                return self.external[(key, index)]
            path, name = key
            if path in self.records and ("variable", name) in self.records[path].targets:
                return ca.vec(self.target(path, ("variable", name), order))[index]
            if (key, index) not in self.flat.sources:
                raise ModelError(
                    f"{'.'.join(key)}: this input signal is not connected; connect it, or make it an input "
                    "of the assembly with input()"
                )
            key, index = self.flat.sources[(key, index)]

    # -- forward sweep

    def motion(self, edge: Edge, what: str) -> ca.SX:
        """Relative motion of an edge, a joint or a prescribed frame: r, T, w, v, a or z."""
        key = ("motion", edge.path, edge.connectors, what)
        return self.once(key, lambda: self.globalise(edge.path, [self.local_motion(edge, what)])[0])

    def local_motion(self, edge: Edge, what: str) -> ca.SX:
        """The same in leaves of the edge's component."""
        record = self.records[edge.path]
        if record.motion is not None:
            return record.motion[what]
        base, order = _ROOT_MOTION[what]
        expression = record.targets[("root", edge.connectors[1], base)]
        for _ in range(order):
            expression = record.derivative(expression)
        return expression

    def frame(self, node: int, what: str) -> ca.SX:
        """Motion of a frame node."""
        if node == GROUND:
            return ca.SX.eye(3) if what == "T" else ca.SX.zeros(3)
        return self.once(("frame", node, what), lambda: self._supported(self.topology.support[node], what))

    def _supported(self, edge: Edge, what: str) -> ca.SX:
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

        return self.once(("beyond", edge.path, edge.connectors, what), make)

    def scalar(self, node: ScalarNode, order: int) -> ca.SX:
        """Position, speed or acceleration of a scalar node."""
        source = self.topology.source[node]
        if source == "coordinate":
            return (self.symbols.q, self.symbols.v, self.symbols.a)[order][node]
        if source == "root":
            path, connector = self.topology.roots[node]
            if path == "":
                return self.driven[connector][order]
            return self.target(path, ("root", connector), order)

        def make() -> ca.SX:
            relation = self.topology.solved_by[node]
            own = ca.vertcat(*(element for *_, element, n in relation.leaves if n == node))
            rest = ca.substitute(relation.expression, own, ca.SX.zeros(own.numel()))
            expression = -rest / relation.coefficient(node)
            for _ in range(order):
                expression = self.records[relation.path].derivative(expression)
            return self.globalise(relation.path, [expression])[0]

        return self.once(("scalar", node, order), make)

    # -- backward sweep

    def flow(self, path: str, connector: str, name: str) -> ca.SX:
        """Cut force or torque at a connector of an elementary component: what it assigns plus what its ties carry."""

        def make() -> ca.SX:
            if isinstance(self.flat.ports.get((path, connector)), HeatPort):
                return self.heat.flow(path, connector)
            if name in ("f", "t") and isinstance(self.flat.ports.get(self._frame_key(path, connector)), Frame):
                return self._load(path, connector, name, 3) + self._tie(path, connector, name)
            return self._load(path, connector, name, 1) + self._flange_tie(path, connector)

        return self.once(("flow", path, connector, name), make)

    def _load(self, path: str, connector: str, name: str, size: int) -> ca.SX:
        key = ("flow", connector, name)
        if key not in self.records[path].targets:
            return ca.SX.zeros(size)
        return self.target(path, key)

    def _tie(self, path: str, connector: str, name: str) -> ca.SX:
        edge = self._edge_of.get((path, connector))
        if edge is None:
            return ca.SX.zeros(3)
        return self.tie(edge, connector == edge.connectors[1] or path in self.topology.free, name)

    def tie(self, edge: Edge, at_b: bool, name: str) -> ca.SX:
        """Cut force (f) or torque (t) that an edge takes up at its frame b or a."""

        def make() -> ca.SX:
            if edge.role == "cut":
                if at_b:
                    both = self.symbols.multiplier(("cut", edge.path, edge.connectors[1]), 6)
                    return both[:3] if name == "f" else both[3:]
            elif at_b != edge.reversed:
                return -self._node_load(edge.child, edge, name)
            rel = functools.partial(self.motion, edge)
            if at_b:  # from a
                f, t = self.tie(edge, False, "f"), None
                if name == "f":
                    return -rel("T") @ f
                t = self.tie(edge, False, "t")
                return rel("T") @ (cross(rel("r"), f) - t)
            f = -rel("T").T @ self.tie(edge, True, "f")
            if name == "f":
                return f
            return cross(rel("r"), f) - rel("T").T @ self.tie(edge, True, "t")

        return self.once(("tie", edge.path, edge.connectors, at_b, name), make)

    def _node_load(self, node: int, without: Edge, name: str) -> ca.SX:
        """Sum of the cut forces of everything at a frame node but one edge."""
        total = ca.SX.zeros(3)
        for path, connector in self.flat.members[node]:
            total += self._load(path, connector, name, 3)
        for edge in self._edges_at[node]:
            if edge is without:
                continue
            if edge.a == node:
                total += self.tie(edge, False, name)
            if edge.b == node:
                total += self.tie(edge, True, name)
        return total

    def _flange_tie(self, path: str, connector: str) -> ca.SX:
        node = ("flange", self.flat.nodes[(path, connector)])
        total = ca.SX.zeros(1)
        for relation in self._touching.get(node, []):
            if relation.path == path:
                total += self._coefficient(relation, node, connector) * self.multiplier(relation)
        if ("root", connector) in self.records[path].targets:
            total += self._root_flow(path, connector, node)
        return total

    def _root_flow(self, path: str, connector: str, node: ScalarNode) -> ca.SX:
        if self.topology.roots[node] == (path, connector):
            return -self.balance(node, without_root=True)
        return self.symbols.multiplier(("root", path, connector), 1)

    def _coefficient(self, relation: Relation, node: ScalarNode, connector: str | None = None) -> ca.SX:
        def make() -> ca.SX:
            if connector is None:
                local = relation.coefficient(node)
            else:
                local = ca.sum1(
                    ca.vertcat(
                        0,
                        *(
                            ca.jacobian(relation.expression, e)
                            for key, _, e, n in relation.leaves
                            if n == node and key[1] == connector
                        ),
                    )
                )
            return self.globalise(relation.path, [local])[0]

        return self.once(("coefficient", relation.path, relation.index, node, connector), make)

    def multiplier(self, relation: Relation) -> ca.SX:
        """Force that keeps a relation: from the balance of the node that it gives, or an unknown."""
        if relation.solves is None:
            return self.symbols.multiplier(("relation", relation.path, relation.index), 1)

        def make() -> ca.SX:
            node = relation.solves
            assert node is not None
            return -self.balance(node, without=relation) / self._coefficient(relation, node)

        return self.once(("multiplier", relation.path, relation.index), make)

    def balance(self, node: ScalarNode, without: Relation | None = None, without_root: bool = False) -> ca.SX:
        """Sum of the flows at a scalar node: zero where the node is a coordinate of its own."""
        total = ca.SX.zeros(1)
        for relation in self._touching.get(node, []):
            if relation is not without:
                total += self._coefficient(relation, node) * self.multiplier(relation)
        if node[0] == "coordinate":
            _, path, name, index = node
            return total + self.drive(path, ("coordinate", name, 1), index)
        for path, connector in self.flat.members[node[1]]:
            port = self.flat.ports[(path, connector)]
            assert isinstance(port, Flange)
            total += self._load(path, connector, port.flow, 1)
            is_left_out = without_root and self.topology.roots.get(node) == (path, connector)
            if ("root", connector) in self.records[path].targets and not is_left_out:
                total += self._root_flow(path, connector, node)
        if node in self.exposed:
            total -= self.exposed[node]
        return total

    def drive(self, path: str, key: Key, index: int) -> ca.SX:
        """Flow into a component along one speed: minus the power of its frames' cut forces per unit of that speed."""
        record = self.records[path]
        total = ca.SX.zeros(1)
        target = ("effort", key[1])
        if target in record.targets:
            total -= ca.vec(self.target(path, target))[index]
        for edge in self._edges_of.get(path, []):
            v, w = self.local_motion(edge, "v"), self.local_motion(edge, "w")
            if key not in record.leaves:
                continue
            element = ca.vec(record.leaves[key])[index]
            along, about = self.globalise(path, [ca.jacobian(v, element), ca.jacobian(w, element)])
            f, t = self.tie(edge, True, "f"), self.tie(edge, True, "t")
            total -= ca.dot(about, t) + ca.dot(self.motion(edge, "T") @ along, f)
        return total

    # -- composites

    def outer_flow(self, key: tuple[str, str], name: str, seen: frozenset[Any] = frozenset()) -> ca.SX | None:
        """Flow into a composite through one of its connectors; None where it cannot be told."""
        path, connector = key
        if path in self.flat.elementary or path in self.topology.free:
            return self.flow(path, connector, name)
        if key in seen:
            return None
        for sets, sign in ((self.flat.inside, 1), (self.flat.outside, -1)):
            others = sets.get(key, [])
            if key not in sets:
                if sign == 1:
                    continue
                return ca.SX.zeros(3 if name in ("f", "t") and self._is_frame(key) else 1)
            flows = []
            for other, is_own in others:
                flow = self.outer_flow(other, name, seen | {key})
                if flow is None:
                    break
                flows.append((-1 if is_own else 1) * flow)
            else:
                return sign * sum(flows, ca.SX.zeros(3 if self._is_frame(key) else 1))
        return None

    def _is_frame(self, key: tuple[str, str]) -> bool:
        return isinstance(self.flat.ports[key], Frame)

    # -- order of work

    def prepare(self) -> None:
        """Sweep forward and backward in tree order, so that later questions stay shallow."""
        for what in MOTION:
            for edge in self.topology.order:
                self.frame(edge.child, what)
        for edge in reversed(self.topology.order):
            for name in ("f", "t"):
                self.tie(edge, not edge.reversed, name)


def _quaternion_rate(q: ca.SX, w: ca.SX) -> ca.SX:
    """dQ/dt for the angular velocity w resolved in the rotated frame (seed 004, Quaternions.angularVelocity2)."""
    return 0.5 * ca.vertcat(q[3] * w + cross(q[:3], w), -ca.dot(q[:3], w))


def relative_acceleration(rel: Callable[[str], ca.SX], w: ca.SX, z: ca.SX) -> ca.SX:
    """Acceleration of frame b relative to the origin of frame a, resolved in a (a rotates with w, z)."""
    return rel("a") + cross(z, rel("r")) + 2 * cross(w, rel("v")) + cross(w, cross(w, rel("r")))


def _loop_name(key: Any) -> str:
    names: dict[str, Callable[[], str]] = {
        "target": lambda: ".".join(map(str, (key[1], *key[2][1:]))),
        "flow": lambda: ".".join(key[1:]),
        "tie": lambda: f"cut force of {key[1]}",
        "scalar": lambda: ".".join(map(str, key[1][1:3])),
        "frame": lambda: f"motion of frame node {key[1]}",
        "heat": lambda: "temperatures",
    }
    return names.get(key[0], lambda: str(key[1]))()
