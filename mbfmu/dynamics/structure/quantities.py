"""Quantities of a system, a small type for each kind: each says what it needs, and how it follows from that.

What a quantity needs comes from what the equations of the components say, so it is known before anything has a value
(mbfmu.dynamics.structure.equation_graph). Some are *known*: time, states, accelerations, multipliers, inputs. Others
are *sought*: potentials of a network, unknowns of its relations, implied signals. No formula gives these, but an
equation does that they, or others, stand in.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Protocol

import casadi as ca

from mbfmu.dynamics.columns import Written, product
from mbfmu.dynamics.reading.behaviour import Behaviour, Said
from mbfmu.dynamics.reading.flatten import Flat
from mbfmu.dynamics.reading.inputs import Inputs
from mbfmu.dynamics.structure.frame_graph import GROUND, Edge
from mbfmu.dynamics.structure.scalar_graph import Relation, RelationKey, ScalarNode
from mbfmu.dynamics.structure.topology import Topology
from mbfmu.dynamics.structure.unknowns import MultiplierKey, Own, Unknowns
from mbfmu.frames import cross
from mbfmu.frozen import quickly_made
from mbfmu.messages import of
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import NetworkPort
from mbfmu.modeling.formulas import Formula, Quantity
from mbfmu.modeling.names import joined

#: Motion of a frame: position, orientation, velocity, angular velocity, acceleration, angular acceleration; r_0, v_0,
#: a_0 resolved in the world frame, w and z in the frame itself.
MOTION = ("r_0", "T", "v_0", "w", "a_0", "z")


class Structure(leaves.Quantities, Protocol):
    """What quantities, and leaves in them, ask of their structure (mbfmu.dynamics.structure.structure)."""

    @property
    def topology(self) -> Topology: ...

    @property
    def unknowns(self) -> Unknowns: ...

    @property
    def inputs(self) -> Inputs: ...

    @property
    def behaviours(self) -> Mapping[str, Behaviour]: ...

    @property
    def flat(self) -> Flat: ...

    @property
    def relation_of(self) -> Mapping[RelationKey, Relation]: ...

    def node_name(self, node: ScalarNode) -> str: ...

    def nominal(self, path: str, name: str) -> float: ...

    def guess(self, path: str, name: str) -> float: ...

    def local(self, path: str, expression: ca.SX) -> Formula: ...

    def motion(self, edge: Edge, what: str) -> Formula: ...

    def local_motion(self, edge: Edge, what: str) -> Said: ...

    def said_alone(self, path: str, said: Said) -> Formula: ...

    def frame(self, node: int, what: str, base: int = ...) -> Formula: ...

    def supported(self, edge: Edge, what: str, base: int = ...) -> Formula: ...

    def scalar(self, node: ScalarNode, order: int) -> Formula: ...

    def node_load(self, node: int, name: str, without: Edge | None = None) -> Formula: ...

    def balance(self, node: ScalarNode, without: Relation | None = None) -> Formula: ...

    def flow_through(self, path: str, connector: str, name: str) -> Formula: ...

    def network_balance(self, node: int) -> Formula: ...

    def network_port(self, node: int) -> NetworkPort: ...

    def differentiated(self, quantity: LeafOf | TotalDerivative) -> Formula: ...


# -- known ones


class Known(Quantity):
    """Base of what follows from nothing else: it has a symbol."""

    def symbol(self, structure: Structure) -> ca.SX:
        """Its symbol."""
        raise NotImplementedError

    def formula(self, structure: Structure) -> Formula:
        return Formula.constant(self.symbol(structure))

    def name(self, structure: Structure) -> str:
        return str(self.symbol(structure))


@dataclasses.dataclass(frozen=True)
class Time(Known):
    """Time."""

    def symbol(self, structure: Structure) -> ca.SX:
        return structure.unknowns.time


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class CoordinateOf(Known):
    """A coordinate of the system, its speed, or the acceleration of its node."""

    node: ScalarNode
    order: int

    def symbol(self, structure: Structure) -> ca.SX:
        unknowns = structure.unknowns
        return (unknowns.q, unknowns.v, unknowns.a)[self.order][self.node]


@dataclasses.dataclass(frozen=True)
class UnknownOf(Known):
    """An unknown leaf of a component: a quaternion, speed, state, multiplier, mode, held or delayed value."""

    own: Own

    def symbol(self, structure: Structure) -> ca.SX:
        return structure.unknowns.own[self.own]


@dataclasses.dataclass(frozen=True)
class MultiplierOf(Known):
    """What keeps a cut joint, a relation that closes a loop, or a position that is prescribed twice."""

    key: MultiplierKey

    def symbol(self, structure: Structure) -> ca.SX:
        return structure.unknowns.multipliers[self.key]


@dataclasses.dataclass(frozen=True)
class InputOf(Known):
    """An input of the system, in the unit of what it feeds."""

    label: str

    def symbol(self, structure: Structure) -> ca.SX:
        return structure.inputs.converted(self.label)


# -- motion


@dataclasses.dataclass(frozen=True)
class ScalarMotion(Quantity):
    """Position, speed or acceleration of a scalar node that is no coordinate of the system itself."""

    node: ScalarNode
    order: int

    def formula(self, structure: Structure) -> Formula:
        relative = structure.topology.relative.get(self.node)
        if relative is not None:
            forward = relative.sign > 0
            return Formula.combined(
                lambda reference, distance: reference + distance if forward else reference - distance,
                structure.scalar(relative.reference, self.order),
                Formula.of(CoordinateOf(self.node, self.order)),
            )
        relation = structure.topology.solved_by[self.node]
        own = ca.vertcat(*(element for *_, element, n in relation.leaves if n == self.node))
        rest = ca.substitute(relation.expression, own, ca.SX.zeros(own.numel()))
        expression = -rest / relation.coefficient(self.node)
        for _ in range(self.order):
            expression = structure.behaviours[relation.path].derivative(expression)
        return structure.local(relation.path, expression)

    def name(self, structure: Structure) -> str:
        return structure.node_name(self.node) + "'" * self.order

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class RelativeMotion(Quantity):
    """Relative motion of an edge, a joint or a prescribed frame: r, T, w, v, a or z."""

    edge: Edge
    what: str

    def formula(self, structure: Structure) -> Formula:
        return structure.said_alone(self.edge.path, structure.local_motion(self.edge, self.what))

    def name(self, structure: Structure) -> str:
        return f"relative motion {self.what} of {self.edge.path}"

    def shape(self, structure: Structure) -> tuple[int, int]:
        return (3, 3) if self.what == "T" else (3, 1)


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class FrameMotion(Quantity):
    """Motion of a frame node; relative to a `base` further down the tree, all is as seen from there."""

    node: int
    what: str
    base: int = GROUND

    def formula(self, structure: Structure) -> Formula:
        return structure.supported(structure.topology.support[self.node], self.what, self.base)

    def name(self, structure: Structure) -> str:
        return of(self.what, joined(*structure.flat.members[self.node][0]))

    def shape(self, structure: Structure) -> tuple[int, int]:
        return (3, 3) if self.what == "T" else (3, 1)


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class MotionBeyond(Quantity):
    """Motion of frame b of an edge, as it follows from frame a and the relative motion."""

    edge: Edge
    what: str
    base: int = GROUND

    def formula(self, structure: Structure) -> Formula:
        rel = functools.partial(structure.motion, self.edge)
        a = functools.partial(structure.frame, self.edge.a, base=self.base)
        if self.what == "T":
            return Formula.combined(product, rel("T"), a("T"))
        if self.what == "w":
            return Formula.combined(_W_BEYOND, rel("T"), a("w"), rel("w"))
        if self.what == "z":
            return Formula.combined(_Z_BEYOND, rel("T"), a("z"), rel("z"), a("w"), rel("w"))
        if self.what == "r_0":
            return Formula.combined(_R_BEYOND, a("r_0"), a("T"), rel("r"))
        if self.what == "v_0":
            return Formula.combined(_V_BEYOND, a("v_0"), a("T"), rel("v"), a("w"), rel("r"))
        return Formula.combined(_A_BEYOND, a("a_0"), a("T"), rel("a"), rel("r"), rel("v"), a("w"), a("z"))

    def name(self, structure: Structure) -> str:
        return f"{self.what} beyond {self.edge.path}"


def relative_acceleration(a: ca.SX, r: ca.SX, v: ca.SX, w: ca.SX, z: ca.SX) -> ca.SX:
    """Acceleration of frame b relative to the origin of frame a, resolved in a.

    Args:
        a, r, v: second derivative, value and first derivative of the position of b, as seen in a.
        w, z: angular velocity and acceleration of a.
    """
    return a + cross(z, r) + 2 * cross(w, v) + cross(w, cross(w, r))


_VECTOR, _MATRIX = (3, 1), (3, 3)
#: Motion of frame b of an edge.
_W_BEYOND = Written(lambda T, w_a, w: T @ w_a + w, _MATRIX, _VECTOR, _VECTOR)
_Z_BEYOND = Written(lambda T, z_a, z, w_a, w: T @ z_a + z + cross(T @ w_a, w), _MATRIX, *4 * [_VECTOR])
_R_BEYOND = Written(lambda r_a, T_a, r: r_a + T_a.T @ r, _VECTOR, _MATRIX, _VECTOR)
_V_BEYOND = Written(lambda v_a, T_a, v, w_a, r: v_a + T_a.T @ (v + cross(w_a, r)), _VECTOR, _MATRIX, *3 * [_VECTOR])
_A_BEYOND = Written(
    lambda a_a, T_a, *relative: a_a + T_a.T @ relative_acceleration(*relative), _VECTOR, _MATRIX, *5 * [_VECTOR]
)


@dataclasses.dataclass(frozen=True)
class SpeedRate(Quantity):
    """Time derivative of the speeds of a coordinate that is relative to another node."""

    node: ScalarNode

    def formula(self, structure: Structure) -> Formula:
        relative = structure.topology.relative[self.node]
        forward = relative.sign > 0
        return Formula.combined(
            lambda own, other: own - other if forward else other - own,
            Formula.of(CoordinateOf(self.node, 2)),
            structure.scalar(relative.reference, 2),
        )

    def name(self, structure: Structure) -> str:
        relative = structure.topology.relative[self.node]
        return f"acceleration of {relative.path}.{relative.name}"

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1


# -- what equations assign


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Assigned(Quantity):
    """What the equations of a component assign to a target, or a time derivative of it."""

    path: str
    target: leaves.Target
    order: int = 0

    def formula(self, structure: Structure) -> Formula:
        return structure.said_alone(self.path, structure.behaviours[self.path].target(self.target, self.order))

    def name(self, structure: Structure) -> str:
        return joined(self.path, self.target) + "'" * self.order

    def shape(self, structure: Structure) -> tuple[int, int]:
        rows, columns = structure.behaviours[self.path].targets[self.target].shape
        return rows, columns

    def nominal(self, structure: Structure) -> float:
        return structure.nominal(self.path, str(self.target))

    def guess(self, structure: Structure) -> float:
        return structure.guess(self.path, str(self.target))


@dataclasses.dataclass(frozen=True)
class LeafOf(Quantity):
    """What a leaf of a component is, where its derivative is asked for and no rule gives it."""

    path: str
    leaf: leaves.Leaf

    def formula(self, structure: Structure) -> Formula:
        return self.leaf.formula(structure, self.path)

    def name(self, structure: Structure) -> str:
        return joined(self.path, self.leaf)


@dataclasses.dataclass(frozen=True)
class Differential:
    """What a total derivative is made of: a value, and the time and states that it follows from with their rates."""

    name: str
    value: ca.SX
    along: ca.SX
    rates: ca.SX


@dataclasses.dataclass(frozen=True)
class TotalDerivative(Quantity):
    """Time derivative of what has no rule for it, from the states that it follows from."""

    of: LeafOf | TotalDerivative

    def formula(self, structure: Structure) -> Formula:
        return structure.differentiated(self.of)

    def name(self, structure: Structure) -> str:
        return f"{self.of.name(structure)}'"


@dataclasses.dataclass(frozen=True)
class Shared(Quantity):
    """A formula that several others need: made once."""

    label: str
    of: Formula = dataclasses.field(compare=False)

    def formula(self, structure: Structure) -> Formula:
        return self.of

    def name(self, structure: Structure) -> str:
        return self.label


def needs_its_derivative(name: str) -> str:
    """What to say of a quantity that is to be found from its own derivative."""
    return (
        f"{name}: the equations need its derivative to find it; give it a state in their place, such as the voltage of "
        "a Capacitor, or use a Derivative block in place of Der"
    )


# -- loads


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Wrench(Quantity):
    """Cut force (f) or torque (t) that an edge takes up at its frame b or a."""

    edge: Edge
    at_b: bool
    which: str

    def formula(self, structure: Structure) -> Formula:
        edge, which = self.edge, self.which
        if is_at_child(edge, self.at_b):
            return Formula.combined(lambda load: -load, structure.node_load(edge.child, which, without=edge))
        if edge.role == "cut" and self.at_b:
            part = slice(0, 3) if which == "f" else slice(3, 6)
            return Formula.combined(lambda wrench: wrench[part], Formula.of(MultiplierOf(edge)))
        f, t = (Formula.of(Wrench(edge, not self.at_b, name)) for name in ("f", "t"))
        T, r = structure.motion(edge, "T"), structure.motion(edge, "r")
        if which == "f":
            return Formula.combined(_F_AT_B if self.at_b else _F_AT_A, T, f)
        return Formula.combined(_T_AT_B if self.at_b else _T_AT_A, T, f, t, r)

    def name(self, structure: Structure) -> str:
        return f"cut {'force' if self.which == 'f' else 'torque'} of {self.edge.path}"

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 3, 1


#: Cut force and torque at one end of an edge, from those at the other.
_F_AT_B = Written(lambda T, f: -T @ f, _MATRIX, _VECTOR)
_T_AT_B = Written(lambda T, f, t, r: T @ (cross(r, f) - t), _MATRIX, *3 * [_VECTOR])
_F_AT_A = Written(lambda T, f: -T.T @ f, _MATRIX, _VECTOR)
_T_AT_A = Written(lambda T, f, t, r: cross(r, -T.T @ f) - T.T @ t, _MATRIX, *3 * [_VECTOR])


def is_at_child(edge: Edge, at_b: bool) -> bool:
    """True for the end of a tree edge that is further from the ground."""
    return edge.role != "cut" and at_b != edge.reversed


def at_children(wrenches: Mapping[Edge, ca.SX]) -> dict[Quantity, ca.SX]:
    """Cut forces and torques of edges at their children, from columns with both."""
    found: dict[Quantity, ca.SX] = {}
    for edge, wrench in wrenches.items():
        found[Wrench(edge, not edge.reversed, "f")] = wrench[:3]
        found[Wrench(edge, not edge.reversed, "t")] = wrench[3:]
    return found


@dataclasses.dataclass(frozen=True)
class RelationForce(Quantity):
    """Force that keeps a relation which gives the position of a node: from the balance of that node."""

    key: RelationKey

    def formula(self, structure: Structure) -> Formula:
        relation = structure.relation_of[self.key]
        node = relation.solves
        assert node is not None
        return Formula.combined(
            lambda balance, coefficient: -balance / coefficient,
            structure.balance(node, without=relation),
            Formula.of(Coefficient(self.key, node)),
        )

    def name(self, structure: Structure) -> str:
        return f"force of {self.key[0]}"

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1


@dataclasses.dataclass(frozen=True)
class Coefficient(Quantity):
    """Derivative of a relation with respect to the position of a node, or of one of the node's flanges."""

    key: RelationKey
    node: ScalarNode
    connector: str | None = None

    def formula(self, structure: Structure) -> Formula:
        relation = structure.relation_of[self.key]
        return structure.local(relation.path, relation.coefficient(self.node, self.connector))

    def name(self, structure: Structure) -> str:
        return f"ratio of {self.key[0]}"

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Flow(Quantity):
    """All that flows into an elementary component through a connector: force, torque, heat flow."""

    path: str
    connector: str
    which: str

    def formula(self, structure: Structure) -> Formula:
        return structure.flow_through(self.path, self.connector, self.which)

    def name(self, structure: Structure) -> str:
        return joined(self.path, f"{self.connector}.{self.which}")


# -- what is sought


@dataclasses.dataclass(frozen=True)
class Potential(Quantity):
    """Potential of a node of a network, where no component gives it; its flows add up to zero."""

    node: int
    is_sought = True

    def formula(self, structure: Structure) -> Formula:
        return structure.network_balance(self.node)

    def name(self, structure: Structure) -> str:
        port = structure.network_port(self.node)
        return of(port.potential_name, joined(*structure.flat.members[self.node][0]))

    def equation(self, structure: Structure) -> str:
        port = structure.network_port(self.node)
        return of(f"balance of {port.flow_name}", joined(*structure.flat.members[self.node][0]))

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1

    def nominal(self, structure: Structure) -> float:
        return structure.network_port(self.node).potentials[0].type.nominal or 1.0

    def guess(self, structure: Structure) -> float:
        return structure.network_port(self.node).potentials[0].type.start


@dataclasses.dataclass(frozen=True)
class LinkOf(Quantity):
    """What comes with a relation between potentials: a declared variable, or a flow that keeps it."""

    path: str
    index: int
    is_sought = True

    def formula(self, structure: Structure) -> Formula:
        return structure.local(self.path, structure.behaviours[self.path].relations[self.index])

    def name(self, structure: Structure) -> str:
        return joined(self.path, structure.behaviours[self.path].network[self.index].name)

    def equation(self, structure: Structure) -> str:
        several = len(structure.behaviours[self.path].relations) > 1
        return of(f"relation {self.index + 1}" if several else "relation", self.path)

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1

    def nominal(self, structure: Structure) -> float:
        return structure.nominal(self.path, structure.behaviours[self.path].network[self.index].name)

    def guess(self, structure: Structure) -> float:
        return structure.guess(self.path, structure.behaviours[self.path].network[self.index].name)


@dataclasses.dataclass(frozen=True)
class ImpliedSignal(Quantity):
    """A signal that nothing computes; a condition of its component is zero for the right value."""

    own: Own
    is_sought = True

    def formula(self, structure: Structure) -> Formula:
        assert isinstance(self.own.leaf, leaves.Implied)
        return structure.local(self.own.path, structure.behaviours[self.own.path].conditions[self.own.leaf.index])

    def name(self, structure: Structure) -> str:
        return of(f"the signal of condition {self.own.leaf.index + 1}", self.own.path)  # type: ignore[attr-defined]

    def equation(self, structure: Structure) -> str:
        return of(f"condition {self.own.leaf.index + 1}", self.own.path)  # type: ignore[attr-defined]

    def shape(self, structure: Structure) -> tuple[int, int]:
        return 1, 1

    def symbol(self, structure: Structure) -> ca.SX:
        """The unknown that it is where no equation gives it without derivatives."""
        return structure.unknowns.own[self.own]
