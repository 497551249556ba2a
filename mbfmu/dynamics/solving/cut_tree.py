"""A tree cut at its nodes: what edges, nodes and balances say between placeholders.

The graph of the whole system is evaluated once more, with symbols for the motions of all frames and for the wrenches of
all edges at their children. So every expression knows its neighbours only, and the maps of the articulated-body
recursion are its Jacobians (mbfmu.dynamics.solving.articulated_body). Numbers that shape a relative motion become
symbols, too.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import math
from collections.abc import Iterator, Mapping, Sequence

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import elements, hashes, stacked, symbols_in
from mbfmu.dynamics.expressions.values import Values, evaluated
from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.structure.frame_graph import GROUND, Edge
from mbfmu.dynamics.structure.quantities import MOTION, Assigned, FrameMotion, MotionBeyond, Wrench, at_children
from mbfmu.dynamics.structure.scalar_graph import FlangeNode
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.topology import Topology
from mbfmu.dynamics.structure.unknowns import Coordinate, Unknowns
from mbfmu.modeling import leaves
from mbfmu.modeling.formulas import Formula, Quantity
from mbfmu.runtime.calls import find_calls, offsets

#: Speeds of one body that bends up to which they are eliminated in symbols: code grows with their number's cube.
MOST_SPEEDS = 24
#: Relative motion of an edge.
RELATIVE = ("r", "T", "v", "w", "a", "z")


#: Numbers that stay in expressions, because they say of which kind these are.
_KEPT = frozenset({0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0})


class NotLocal(Exception):
    """The recursion does not apply to this system."""


class Numbers:
    """Numbers of one component's expressions, and the symbols that stand for them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.symbols: list[ca.SX] = []
        self.values: list[float] = []
        self._known: dict[float, ca.SX] = {}

    def lifted_in(self, behaviour: Behaviour) -> Behaviour:
        """A behaviour with symbols in place of the numbers in its relative motion."""
        if not behaviour.motions:
            return behaviour
        lifted = iter(self._lifted(behaviour.moving))
        motions = {frame: {what: next(lifted) for what in motion} for frame, motion in behaviour.motions.items()}
        return behaviour.with_motions(motions) if self.symbols else behaviour

    def _lifted(self, matrices: list[ca.SX]) -> list[ca.SX]:
        """Matrices with symbols in place of their numbers; 0, 1, 2 and 1/2, which forms of rotations share, stay."""
        column = ca.veccat(*matrices)
        symbols = ca.symvar(column)
        function = ca.Function("numbers", symbols, [column])
        kind, sources, targets = function.instruction_id, function.instruction_input, function.instruction_output
        constants = [k for k in range(function.n_instructions()) if kind(k) == ca.OP_CONST]
        if all(_is_kept(function.instruction_constant(k)) for k in constants):
            return matrices
        work: dict[int, ca.SX] = {}
        results = [ca.SX(0)] * column.nnz()
        for k in range(function.n_instructions()):
            operation, target = kind(k), targets(k)
            if operation == ca.OP_CONST:
                work[target[0]] = self._symbol(function.instruction_constant(k))
            elif operation == ca.OP_INPUT:
                work[target[0]] = symbols[sources(k)[0]]
            elif operation == ca.OP_OUTPUT:
                results[target[1]] = work[sources(k)[0]]
            else:
                operands = [work[i] for i in sources(k)]
                work[target[0]] = (ca.SX.unary if len(operands) == 1 else ca.SX.binary)(operation, *operands)
        dense = ca.SX(column.sparsity(), ca.vertcat(ca.SX(0, 1), *results))
        parts = ca.vertsplit(dense, [0, *np.cumsum([matrix.numel() for matrix in matrices]).tolist()])
        return [ca.reshape(part, matrix.shape) for part, matrix in zip(parts, matrices, strict=True)]

    def _symbol(self, number: float) -> ca.SX:
        """What stands for a number; its negative is that of what stands for its opposite."""
        if _is_kept(number):
            return ca.SX(number)
        if -number in self._known:
            return -self._known[-number]
        if number not in self._known:
            self._known[number] = ca.SX.sym(f"{self._name} {number!r}")
            self.symbols.append(self._known[number])
            self.values.append(number)
        return self._known[number]


def _is_kept(number: float) -> bool:
    return number in _KEPT or not math.isfinite(number)


@dataclasses.dataclass(frozen=True)
class CutTree:
    """Values of edges, loads and balances between placeholders."""

    #: Edges, those that carry nothing left out, each behind what it hangs on.
    order: tuple[Edge, ...]
    #: Speeds by the joint that they belong to, and those that belong to none.
    keys_of: Mapping[str, list[Coordinate]]
    alone: tuple[Coordinate, ...]
    #: Components whose load, where the tree enters them, knows accelerations of their own speeds: that frame.
    carried: Mapping[str, str]
    #: (frame node, r_0 ... z) -> placeholder of its motion.
    motion: Mapping[tuple[int, str], ca.SX]
    #: Edge -> placeholder of the cut force and torque that it takes up at its child.
    wrench: Mapping[Edge, ca.SX]
    #: Symbols for the numbers that shape relative motions.
    numbers: tuple[Numbers, ...]
    values: Values
    #: Component -> placeholders of its loads, a column for each connector, and what they are, as one column.
    called: Mapping[str, tuple[list[ca.SX], ca.SX]]

    @classmethod
    def of(cls, base: Values) -> CutTree:
        """The tree of a system, from the values of the whole.

        Raises:
            NotLocal: speeds are not those of joints.
        """
        topology = base.topology
        order = tuple(edge for edge in topology.order if edge not in base.structure.idle)
        keys_of, alone = _owners(order, topology, base.unknowns)
        motion = {
            (edge.child, what): ca.SX.sym(f"{what}{edge.child}", 3, 3 if what == "T" else 1)
            for edge in order
            for what in MOTION
        }
        wrench = {edge: ca.SX.sym(f"wrench {edge.path}", 6) for edge in order}
        behaviours, numbers = _with_numbers_as_symbols(order, topology)
        structure = dataclasses.replace(base.structure, behaviours=behaviours)
        given: dict[Quantity, ca.SX] = {FrameMotion(*key): symbol for key, symbol in motion.items()}
        given |= at_children(wrench) | base.torn
        wanted = list(_wanted(structure, order))
        values = evaluated(base.graph.within(structure, wanted, given), given)
        tree = cls(order, keys_of, alone, _carried(order, topology), motion, wrench, numbers, values, {})
        return tree._with_calls_apart()

    def _with_calls_apart(self) -> CutTree:
        """The same with placeholders of loads that are calls, such as those of a contact.

        They are long, and worked out once so, not at each of the frames that they act on.
        """
        loads: dict[str, dict[str, list[Assigned]]] = {}
        for quantity in self.values.known:
            if isinstance(quantity, Assigned) and isinstance(quantity.target, leaves.Load):
                loads.setdefault(quantity.path, {}).setdefault(quantity.target.connector, []).append(quantity)
        known, called = dict(self.values.known), {}
        for path, ends in loads.items():
            column = stacked(known[quantity] for end in ends.values() for quantity in end)
            symbols = symbols_in(column)
            if not self.unsolved.isdisjoint(hashes(symbols)):
                continue
            if not find_calls(ca.Function("loads", [stacked(symbols)], [column])):
                continue
            placeholders = []
            for connector, quantities in ends.items():
                sizes = [known[quantity].numel() for quantity in quantities]
                placeholders.append(ca.SX.sym(f"loads {path}.{connector}", sum(sizes)))
                known |= dict(zip(quantities, ca.vertsplit(placeholders[-1], offsets(sizes)), strict=True))
            called[path] = (placeholders, column)
        return dataclasses.replace(self, values=dataclasses.replace(self.values, known=known), called=called)

    def alpha(self, node: int) -> ca.SX:
        """Placeholders of the accelerations of a node."""
        return ca.vertcat(self.motion[(node, "a_0")], self.motion[(node, "z")])

    def supported(self, edge: Edge, what: str) -> ca.SX:
        """Motion of an edge's child, in placeholders of its parent's: asked for the first edges of their kinds only."""
        structure = self.values.structure
        beyond = structure.supported(edge, what) if edge.reversed else MotionBeyond(edge, what).formula(structure)
        value: ca.SX = self.values(beyond)
        return value

    @functools.cached_property
    def alpha_symbols(self) -> Mapping[int, list[int]]:
        """The same as scalars (by hash)."""
        ends = {edge.child for edge in self.order}
        return {n: hashes(elements(self.motion[(n, "a_0")]) + elements(self.motion[(n, "z")])) for n in ends}

    @functools.cached_property
    def motion_symbols(self) -> Mapping[int, list[ca.SX]]:
        """Placeholders of the whole motion of a node, as scalars."""
        return {e.child: [s for w in MOTION for s in elements(self.motion[(e.child, w)])] for e in self.order}

    @functools.cached_property
    def unsolved(self) -> frozenset[int]:
        """All that stands for accelerations and wrenches (by hash)."""
        others = ca.vertcat(ca.SX(0, 1), *self.values.unknowns.a.values(), *self.wrench.values())
        return frozenset(hashes(elements(others))).union(*self.alpha_symbols.values())


def _owners(
    order: Sequence[Edge], topology: Topology, unknowns: Unknowns
) -> tuple[dict[str, list[Coordinate]], tuple[Coordinate, ...]]:
    """Speeds by the joint that they belong to, and those that belong to none."""
    paths = {edge.path for edge in order}
    # by the nodes that the relations of joints know: those of their axis flanges
    joint_of_flange = {n: r.path for r in reversed(topology.relations) if r.path in paths for n in r.nodes}
    by_joint: dict[str, list[Coordinate]] = {}
    alone: list[Coordinate] = []
    for key in unknowns.a:
        joint = joint_of_flange.get(key, "") if isinstance(key, FlangeNode) else key.path
        if joint in topology.behaviours and joint in paths:
            by_joint.setdefault(joint, []).append(key)
        else:
            alone.append(key)
    ends = collections.Counter(edge.path for edge in order if edge.parent == GROUND)
    if any(ends[joint] > 1 for joint in by_joint):
        raise NotLocal  # one component prescribes several frames
    if any(sum(unknowns.a[key].numel() for key in keys) > MOST_SPEEDS for keys in by_joint.values()):
        raise NotLocal
    return by_joint, tuple(alone)


def _wanted(structure: Structure, order: Sequence[Edge]) -> Iterator[Formula]:
    """All that the recursion asks for of each edge; `CutTree.supported` follows from that."""
    for key in structure.unknowns.a:
        yield from structure.balances(key)
    for edge in order:
        yield from (structure.motion(edge, what) for what in RELATIVE)
        yield from wrench_at_parent(edge)
        yield from (structure.node_loads(edge.child, name) for name in ("f", "t"))


def wrench_at_parent(edge: Edge) -> list[Formula]:
    """What an edge passes on of its wrench."""
    return [Formula.of(Wrench(edge, edge.reversed, name)) for name in ("f", "t")]


def _with_numbers_as_symbols(
    order: Sequence[Edge], topology: Topology
) -> tuple[dict[str, Behaviour], tuple[Numbers, ...]]:
    """Behaviours whose relative motions have symbols in place of the numbers in them, and these."""
    behaviours, numbers = dict(topology.behaviours), []
    lifted: dict[str, Behaviour] = {}
    for path in {edge.path: None for edge in order}:
        behaviour, speaker = behaviours[path], behaviours[path].speaker.path
        if speaker not in lifted:
            own = Numbers(behaviour.component.where)
            lifted[speaker] = own.lifted_in(behaviour)
            if own.symbols:
                numbers.append(own)
        behaviours[path] = dataclasses.replace(lifted[speaker], component=behaviour.component)
    return behaviours, tuple(numbers)


def _carried(order: Sequence[Edge], topology: Topology) -> dict[str, str]:
    """Components whose load, where the tree enters them, knows accelerations of their own speeds: that frame."""
    found: dict[str, str] = {}
    for edge in reversed(order):
        connector = edge.connectors[edge.reversed]
        behaviour = topology.behaviours[edge.path]
        loads = (leaves.Load(connector, name) for name in ("f", "t"))
        known = (leaf for load in loads if load in behaviour.targets for leaf in behaviour.target(load).leaves)
        if any(
            isinstance(leaf, leaves.Acceleration) or (isinstance(leaf, leaves.Coordinate) and leaf.order == 2)
            for leaf in known
        ):
            found[edge.path] = connector
        else:
            found.pop(edge.path, None)
    return found
