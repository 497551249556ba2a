"""Accelerations of a tree in linear time: the articulated-body recursion (Featherstone), derived from the sweeps.

No component knows of it. The spatial acceleration of a frame, alpha = (acceleration of the origin, angular
acceleration) resolved in the frame itself, and the wrench (cut force and torque) of an edge at its child are
placeholders; the sweeps, evaluated with them, are linear in them, and their Jacobians are the maps of the recursion:

    alpha_child   = X alpha_parent + S a + c                    motion of an edge
    load          = I alpha_child + p                           everything at a node but its edges
    wrench_parent = Y wrench_child                              what an edge passes on
    0             = R wrench_child + Q alpha_child + E a + r    balance along the edge's speeds

A *group* is a joint with the rigid parts behind it. Three leaf functions per group (out: positions and speeds; in:
articulated inertias; out: accelerations) work on placeholders of its neighbours, so that equal groups share one leaf
function: the code of a chain grows with the kinds of its links, not with their number. Numbers that shape a relative
motion, such as the direction of an axis, are arguments of the leaf functions, too, except 0 and 1: axes along x, y and
z are three kinds with short code, all others are one. Where loads or rows know other accelerations than those above,
the recursion does not apply and the dense form is used.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.scope import Behaviour
from mbfmu.dynamics.sweeps import Placeholders, Sweeps, relative_acceleration
from mbfmu.dynamics.topology import GROUND, Edge, FlangeNode
from mbfmu.dynamics.unknowns import Coordinate, Own, elements
from mbfmu.frames import cross

#: Number of groups up to which leaf functions are written out in place: quicker while the code fits the cache.
INLINE_GROUPS = 24


#: How deep expressions are compared before numbers are tried.
_DEPTH = 4
#: Vectors of up to so many elements are handed to a leaf function whole.
PASSED_WHOLE = 40
#: Motions of a frame by what they depend on.
_LINEAR, _ANGULAR = ("r_0", "v_0"), ("T", "w")
#: Relative motion of an edge.
_RELATIVE = ("r", "T", "v", "w", "a", "z")


#: Numbers that stay in expressions, because they say of which kind these are.
_KEPT = frozenset({0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0})

#: What replaces passed-on parameters in expressions (`Parameters.resolve`).
Resolve = Callable[[list[ca.SX]], list[ca.SX]]


class NotLocal(Exception):
    """The recursion does not apply to this system."""


def _placeholders(order: Sequence[Edge]) -> Placeholders:
    """Motions of all frames, and wrenches of all edges at their child, as symbols."""
    shapes = {"r_0": (3, 1), "T": (3, 3), "v_0": (3, 1), "w": (3, 1), "a_0": (3, 1), "z": (3, 1)}
    motion = {
        (edge.child, what): ca.SX.sym(f"{what}{edge.child}", *shape) for edge in order for what, shape in shapes.items()
    }
    return Placeholders(motion, {edge: ca.SX.sym(f"wrench {edge.path}", 6) for edge in order})


@dataclasses.dataclass
class _Group:
    """A joint (or the ground's own rigid parts) with the rigid edges behind it."""

    edges: list[Edge]
    children: list[_Group] = dataclasses.field(default_factory=list)
    #: Maps X, S, c of each edge, with what is not a constant or a parameter replaced by placeholders, and these.
    maps: dict[Edge, tuple[ca.SX, ca.SX, ca.SX]] = dataclasses.field(default_factory=dict)
    places: list[tuple[ca.SX, ca.SX]] = dataclasses.field(default_factory=list)
    keys: dict[Edge, list[Coordinate]] = dataclasses.field(default_factory=dict)
    gains: dict[Edge, tuple[ca.SX, ca.SX]] = dataclasses.field(default_factory=dict)
    #: Articulated inertia and force that the group hands to the node that it hangs on, as placeholders.
    passed: tuple[ca.SX, ca.SX] | None = None

    @property
    def base(self) -> int:
        """The node that the group hangs on."""
        return self.edges[0].parent

    def original(self, matrix: ca.SX) -> ca.SX:
        """A matrix with what the placeholders of maps stand for put back."""
        if not self.places:
            return matrix
        symbols, expressions = zip(*self.places, strict=True)
        return ca.substitute(matrix, ca.vertcat(*symbols), ca.vertcat(*expressions))


class _Numbers:
    """Numbers of one component's expressions, and the symbols that stand for them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.symbols: list[ca.SX] = []
        self.values: list[float] = []
        self._known: dict[float, ca.SX] = {}

    def lifted(self, matrices: list[ca.SX]) -> list[ca.SX]:
        """Matrices with symbols in place of their numbers; 0, 1, 2 and 1/2, which forms of rotations share, stay."""
        column = ca.veccat(*matrices)
        symbols = ca.symvar(column)
        function = ca.Function("numbers", symbols, [column])
        kind, sources, targets = function.instruction_id, function.instruction_input, function.instruction_output
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
        if number in _KEPT or not np.isfinite(number):
            return ca.SX(number)
        if -number in self._known:
            return -self._known[-number]
        if number not in self._known:
            self._known[number] = ca.SX.sym(f"{self._name} {number!r}")
            self.symbols.append(self._known[number])
            self.values.append(number)
        return self._known[number]


class _Forms:
    """Symbolic work that is done once for all expressions of one form: those of equal links differ in symbols only."""

    def __init__(self, unknown: Collection[int]) -> None:
        self._unknown = unknown
        self._known: dict[Hashable, ca.Function] = {}
        self._names = ca.SX(0, 1)

    def once(self, kind: Hashable, work: Callable[..., Sequence[ca.SX]], *given: ca.SX) -> list[ca.SX]:
        """What `work` makes of the given expressions.

        It brings no symbols of its own, and asks for nothing but the kind, the form of these expressions, and which of
        their symbols are among the unknown ones.
        """
        symbols = ca.symvar(ca.veccat(*given))
        column = ca.vertcat(ca.SX(0, 1), *symbols)
        if self._names.numel() < len(symbols):
            self._names = ca.SX.sym("s", 2 * len(symbols))
        names = self._names[: len(symbols)]
        form = ca.Function("form", [names], ca.Function("form", [column], given).call([names])).serialize()
        unknown = tuple(symbol.element_hash() in self._unknown for symbol in symbols)
        key = (kind, unknown, form)
        if key not in self._known:
            results = list(work(*given))
            self._known[key] = ca.Function("work", [column], results)
            return results
        return list(self._known[key].call([column]))


class Linker:
    """Turns local expressions into values: they become a leaf function, called with the values of its symbols."""

    def __init__(self, symbolic: type) -> None:
        self._symbolic = symbolic
        self._values: list[Any] = []
        self._places: dict[int, tuple[int, int]] = {}
        self._leaves: dict[str, ca.Function] = {}

    def define(self, symbols: Iterable[ca.SX], values: Any, start: int = 0) -> None:
        """From now on the scalar symbols have the elements of a vector from `start` on as their values."""
        for i, symbol in enumerate(symbols, start):
            self._places[symbol.element_hash()] = (len(self._values), i)
        self._values.append(values)

    def value(self, expressions: Sequence[ca.SX]) -> Any:
        """Values of scalar local expressions as one vector."""
        column = ca.vertcat(ca.SX(0, 1), *expressions)
        gathered: dict[int, tuple[list[ca.SX], list[int]]] = {}
        for symbol in ca.symvar(column):
            source, index = self._places[symbol.element_hash()]
            symbols, indices = gathered.setdefault(source, ([], []))
            symbols.append(symbol)
            indices.append(index)
        # The latest results first: code is generated depth first, so what a leaf reads is then computed close to it.
        gathered = dict(sorted(gathered.items(), reverse=True))
        arguments, values, replacements = [], [], []
        for k, (source, (_, indices)) in enumerate(gathered.items()):
            whole = self._values[source]
            if whole.numel() <= PASSED_WHOLE:  # picking elements inside the leaf costs nothing, copying them does
                arguments.append(ca.SX.sym(f"i{k}", whole.numel()))
                values.append(whole)
                replacements.append(arguments[-1][indices])
            else:
                arguments.append(ca.SX.sym(f"i{k}", len(indices)))
                values.append(whole[indices])
                replacements.append(arguments[-1])
        if gathered:
            symbols = [s for found, _ in gathered.values() for s in found]
            column = ca.substitute(column, ca.vertcat(*symbols), ca.vertcat(*replacements))
        result = self._leaf(arguments, column).call(values)[0]
        return result if gathered else self._symbolic(result)

    def _leaf(self, arguments: list[ca.SX], column: ca.SX) -> ca.Function:
        """The leaf function of an expression; equal ones are one function, in which common parts are computed once."""
        key = ca.Function("leaf", arguments, [column]).serialize()
        if key not in self._leaves:
            self._leaves[key] = ca.Function("leaf", arguments, [ca.densify(ca.cse(column))])
        return self._leaves[key]


def accelerations(
    base: Sweeps, arguments: Sequence[ca.SX], resolve: Resolve, name: str = "accelerations"
) -> ca.Function | None:
    """Function of `arguments` that gives the accelerations of all speeds, in the order of `Unknowns.a`.

    `resolve` replaces parameters in a list of expressions as `Parameters.resolve` does. None where the recursion does
    not apply: there are constraints, or accelerations are coupled otherwise than along the tree.
    """
    if base.unknowns.multipliers:
        return None
    try:
        recursion = _Recursion(base, resolve)
    except NotLocal:
        return None
    symbolic = ca.SX if len(recursion.groups) <= INLINE_GROUPS else ca.MX
    inputs = list(arguments) if symbolic is ca.SX else [ca.MX.sym(f"i{k}", a.numel()) for k, a in enumerate(arguments)]
    linker = Linker(symbolic)
    for symbols, value in zip(arguments, inputs, strict=True):
        linker.define(elements(symbols), value)
    for numbers in recursion.numbers:
        linker.define(numbers.symbols, symbolic(ca.DM(numbers.values)))
    try:
        result = recursion.link(linker)
    except NotLocal:
        return None
    if symbolic is ca.SX:
        result = ca.cse(result)
    return ca.Function(name, inputs, [result])


class _Recursion:
    """The maps of one system, and how they are linked."""

    def __init__(self, base: Sweeps, resolve: Resolve) -> None:
        self.topology, self.unknowns, self.resolve = base.topology, base.unknowns, resolve
        self.places = _placeholders(self.topology.order)
        self.numbers: list[_Numbers] = []
        behaviours = dict(base.topology.behaviours)
        for path in {edge.path: None for edge in self.topology.order}:
            behaviours[path] = self._with_numbers_as_symbols(behaviours[path])
        self.sweeps = Sweeps(base.topology, base.unknowns, base.inputs, self.places, behaviours)
        nodes = [edge.child for edge in self.topology.order]
        self.unknown = {
            e.element_hash()
            for v in (*(self.alpha(n) for n in nodes), *self.places.wrench.values(), *self.unknowns.a.values())
            for e in elements(v)
        }
        self.forms = _Forms(self.unknown)
        #: Placeholders of the accelerations of an edge's parent.
        self.of_parent = ca.SX.sym("alpha", 6)
        self.keys_of, self.alone = self._owners()
        self.groups = self._grouped()
        self.alone_expressions = {key: self._alone(key) for key in self.alone}
        self.loads = {n: self._load(n) for n in nodes}

    def _with_numbers_as_symbols(self, behaviour: Behaviour) -> Behaviour:
        """A behaviour whose relative motion has symbols in place of the numbers in it."""
        if behaviour.motion is None:
            return behaviour
        numbers = _Numbers(behaviour.component.where)
        motion = dict(zip(behaviour.motion, numbers.lifted(list(behaviour.motion.values())), strict=True))
        if not numbers.symbols:
            return behaviour
        self.numbers.append(numbers)
        return dataclasses.replace(behaviour, motion=motion)

    def alpha(self, node: int) -> ca.SX:
        """Placeholders of the accelerations of a node."""
        return ca.vertcat(self.places.motion[(node, "a_0")], self.places.motion[(node, "z")])

    def _refuse(self, *expressions: ca.SX) -> None:
        """Accelerations and wrenches must not be left in maps."""
        if any(s.element_hash() in self.unknown for s in ca.symvar(ca.veccat(*expressions))):
            raise NotLocal

    def _owners(self) -> tuple[dict[str, list[Coordinate]], list[Coordinate]]:
        """Speeds by the joint that they belong to, and those that belong to none."""
        paths = [edge.path for edge in self.topology.order]
        by_joint: dict[str, list[Coordinate]] = {}
        alone: list[Coordinate] = []
        for key in self.unknowns.a:
            joint = self._joint_of_flange.get(key, "") if isinstance(key, FlangeNode) else key.path
            if joint in self.topology.behaviours and joint in set(paths):
                by_joint.setdefault(joint, []).append(key)
            else:
                alone.append(key)
        if any(paths.count(joint) > 1 for joint in by_joint):
            raise NotLocal  # one component moves several frames
        return by_joint, alone

    @functools.cached_property
    def _joint_of_flange(self) -> dict[Coordinate, str]:
        """Joints by the nodes that their relations know: those of their axis flanges."""
        paths = {edge.path for edge in self.topology.order}
        return {n: r.path for r in reversed(self.topology.relations) if r.path in paths for n in r.nodes}

    def _grouped(self) -> list[_Group]:
        groups: list[_Group] = []
        group_of: dict[int, _Group] = {}
        for edge in self.topology.order:
            parent = edge.parent
            keys = self.keys_of.get(edge.path, [])
            if parent == GROUND or keys:
                group = _Group([edge])
                groups.append(group)
                if parent != GROUND:
                    group_of[parent].children.append(group)
            else:
                group = group_of[parent]
                group.edges.append(edge)
            group.keys[edge] = keys
            group_of[edge.child] = group
        return groups

    def _load(self, node: int) -> tuple[ca.SX, ca.SX]:
        """(I, p) of a node, for its acceleration resolved in its own frame."""
        load = self.resolve([ca.vertcat(self.sweeps.node_loads(node, "f"), self.sweeps.node_loads(node, "t"))])[0]
        if self.alone:
            own = ca.vertcat(*(self.unknowns.a[key] for key in self.alone))
            load = ca.substitute(load, own, ca.vertcat(*self.alone_expressions.values()))
        turn = self.places.motion[(node, "T")]
        inertia, rest = self.forms.once("inertia", self._inertia, load, self.alpha(node), turn)
        return inertia, rest

    def _inertia(self, load: ca.SX, alpha: ca.SX, T: ca.SX) -> tuple[ca.SX, ca.SX]:
        matrix, rest = _affine(load, alpha)
        self._refuse(rest, matrix)
        return _in_frame(matrix, T), rest

    # -- linking

    def link(self, linker: Linker) -> Any:
        """Accelerations as values: out along the tree, in, and out again."""
        for group in self.groups:
            self._map(group)
        inward = [self._inward(group) for group in reversed(self.groups)]
        needed = self._needed([*(e for _, results in inward for e in results), *self.alone_expressions.values()])
        for group in self.groups:
            self._outward(group, needed, linker)
        for symbols, expressions in inward:
            linker.define(symbols, linker.value(expressions))
        solved: dict[Coordinate, Any] = {}
        for group in self.groups:
            self._accelerate(group, needed, linker, solved)
        for key, expression in self.alone_expressions.items():
            solved[key] = linker.value([expression])
        return ca.vertcat(*(solved[key] for key in self.unknowns.a))

    def _map(self, group: _Group) -> None:
        """Maps of a group's edges. What is worth computing once, in the outward leaf, becomes a placeholder."""
        for edge in group.edges:
            maps = self._motion(edge, group.keys[edge])
            placed, places = _placed(list(maps), f"map {edge.path}")
            group.maps[edge] = (placed[0], placed[1], placed[2])
            group.places += places

    def _motion(self, edge: Edge, keys: list[Coordinate]) -> tuple[ca.SX, ca.SX, ca.SX]:
        relative = (self.sweeps.motion(edge, what) for what in _RELATIVE)
        alpha = ca.SX.zeros(6) if edge.parent == GROUND else self.of_parent
        given = (alpha, self.sweeps.frame(edge.a, "w"), *relative)
        work = _parent_acceleration if edge.reversed else _child_acceleration
        (motion,) = self.resolve(self.forms.once(work.__name__, work, *given))
        X, S, c = self.forms.once("maps", self._maps, motion, self._accelerations_of(keys), alpha)
        return X, S, c

    def _maps(self, motion: ca.SX, a: ca.SX, alpha: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        S, rest = _affine(motion, a)
        X, c = ca.SX(6, 6), rest
        if not alpha.is_constant():
            X, c = _affine(rest, alpha)
        self._refuse(X, S, c)  # a frame that follows from several others
        return X, S, c

    def _accelerations_of(self, keys: list[Coordinate]) -> ca.SX:
        return ca.vertcat(ca.SX(0, 1), *(self.unknowns.a[key] for key in keys))

    def _rows(self, keys: list[Coordinate]) -> ca.SX:
        rows: list[ca.SX] = []
        for key in keys:
            rows += self.sweeps.balances(key)
        return self.resolve([ca.vertcat(ca.SX(0, 1), *rows)])[0]

    def _inward(self, group: _Group) -> tuple[list[ca.SX], list[ca.SX]]:
        """Solve the rows of a group for its accelerations: symbols that hold the results, and their expressions."""
        inertia = {edge.child: self.loads[edge.child] for edge in group.edges}
        for child in group.children:
            I, p = inertia[child.base]  # noqa: E741
            assert child.passed is not None
            inertia[child.base] = (I + child.passed[0], p + child.passed[1])
        results: list[ca.SX] = []
        symbols: list[ca.SX] = []
        handed = None
        for edge in reversed(group.edges):
            gain, offset, passed = self._eliminate(edge, group, inertia)
            placed = []
            for part in (gain, offset):
                replaced, places = _placed([part], f"gain {edge.path}", keep=False)
                placed.append(replaced[0])
                symbols += [s for s, _ in places]
                results += [e for _, e in places]
            group.gains[edge] = (placed[0], placed[1])
            if edge is group.edges[0]:
                handed = passed
            elif passed is not None:
                I, p = inertia[edge.parent]  # noqa: E741
                inertia[edge.parent] = (I + passed[0], p + passed[1])
        if handed is not None:
            (I, p), places = _placed([handed[0], handed[1]], f"inertia {group.edges[0].path}", keep=False)  # noqa: E741
            group.passed = (I, p)
            symbols += [s for s, _ in places]
            results += [e for _, e in places]
        return symbols, results

    def _eliminate(
        self, edge: Edge, group: _Group, inertia: dict[int, tuple[ca.SX, ca.SX]]
    ) -> tuple[ca.SX, ca.SX, tuple[ca.SX, ca.SX] | None]:
        """(gain, offset) with a = gain (X alpha_parent + c) + offset, and what the parent gets."""
        keys, child = group.keys[edge], edge.child
        X, S, c = group.maps[edge]
        given = [X, S, c, *inertia[child], self._rows(keys), self.places.wrench[edge], self.alpha(child)]
        given += [self._accelerations_of(keys), self.places.motion[(child, "T")]]
        if edge.parent == GROUND:
            gain, offset = self.forms.once("last", self._gains, *given)
            return gain, offset, None
        given += [group.original(X), group.original(S), self._upward(edge)]
        gain, offset, I, p = self.forms.once("gains", self._gains, *given)  # noqa: E741
        return gain, offset, (I, p)

    def _gains(
        self,
        X: ca.SX,
        S: ca.SX,
        c: ca.SX,
        I: ca.SX,  # noqa: E741
        p: ca.SX,
        rows: ca.SX,
        wrench: ca.SX,
        alpha: ca.SX,
        a: ca.SX,
        T: ca.SX,
        *above: ca.SX,
    ) -> tuple[ca.SX, ...]:
        """Gain and offset of an edge, and I and p that its parent gets.

        `above`: X and S without placeholders, and what becomes of a wrench at the parent; nothing above the ground.
        """
        R, rest = _affine(rows, wrench)
        Q, rest = _affine(rest, alpha)
        E, rest = _affine(rest, a)
        self._refuse(R, Q, E, rest)
        Q = _in_frame(Q, T)
        K = Q - R @ I
        gain, offset = ca.SX(0, 6), ca.SX(0, 1)
        if a.numel():
            solution = _solve(K @ S + E, ca.horzcat(-K, R @ p - rest))
            gain, offset = solution[:, :6], solution[:, 6]
        if not above:
            return gain, offset
        original_X, original_S, upward = above
        is_symmetric = not Q.nnz() and _same(upward, -original_X.T) and _same(R, -original_S.T)
        if is_symmetric:
            upward = -X.T  # the same, in terms of what is computed already
        moved = I @ S
        articulated, force = I + moved @ gain, p + moved @ offset
        if is_symmetric:
            articulated = _mirrored(articulated)
        passed = -upward @ (articulated @ X)
        return gain, offset, _mirrored(passed) if is_symmetric else passed, -upward @ (articulated @ c + force)

    def _upward(self, edge: Edge) -> ca.SX:
        wrench = self.places.wrench[edge]
        passed = ca.vertcat(*(self.sweeps.wrench(edge, edge.reversed, name) for name in ("f", "t")))
        upward, rest = _affine(self.resolve([passed])[0], wrench)
        if not rest.is_zero():
            raise NotLocal
        return upward

    def _alone(self, key: Coordinate) -> ca.SX:
        """A speed that no joint carries: an inertia of a drive train, which may be mounted on a moving frame."""
        if isinstance(key, Own):
            raise NotLocal
        mass, rest = _affine(self.resolve([self.sweeps.balance(key)])[0], self.unknowns.a[key])
        unsolved = ca.vertcat(*self.unknowns.a.values(), *self.places.wrench.values())
        if not mass.nnz() or ca.depends_on(ca.vertcat(mass, rest), unsolved):
            raise NotLocal
        return -rest / mass

    def _needed(self, readers: list[ca.SX]) -> set[int]:
        """Placeholders of motions (by hash) that somebody reads, directly or further out along the tree."""
        readers = [*readers, *(e for group in self.groups for _, e in group.places)]
        needed = {s.element_hash() for s in ca.symvar(ca.veccat(*readers))}
        for edge in reversed(self.topology.order):
            for quantities in (_LINEAR, _ANGULAR):  # a reversed edge's r_0 and v_0 need its own child's T and w
                wanted = self._wanted(edge, quantities, needed)
                needed |= {s.element_hash() for s in ca.symvar(ca.vertcat(ca.SX(0, 1), *(e for _, e in wanted)))}
        return needed

    def _wanted(self, edge: Edge, quantities: tuple[str, ...], needed: set[int]) -> list[tuple[ca.SX, ca.SX]]:
        """(placeholder, expression) of the motion of an edge's child, as far as it is needed."""
        wanted = []
        for what in quantities:
            places = elements(self.places.motion[(edge.child, what)])
            if any(p.element_hash() in needed for p in places):
                expressions = elements(self.resolve([self.sweeps.supported(edge, what)])[0])
                wanted += [(p, e) for p, e in zip(places, expressions, strict=True) if p.element_hash() in needed]
        return wanted

    def _outward(self, group: _Group, needed: set[int], linker: Linker) -> None:
        """Motion of a group's frames, and its maps, from the motion of the frame that it hangs on."""
        symbols: list[ca.SX] = []
        expressions: list[ca.SX] = []

        def add(pairs: list[tuple[ca.SX, ca.SX]]) -> None:
            values = [e for _, e in pairs]
            if symbols and values:
                values = elements(ca.substitute(ca.vertcat(*values), ca.vertcat(*symbols), ca.vertcat(*expressions)))
            symbols.extend(s for s, _ in pairs)
            expressions.extend(values)

        for edge in group.edges:
            for quantities in (_ANGULAR, _LINEAR):
                add(self._wanted(edge, quantities, needed))
        add(group.places)
        if symbols:
            linker.define(symbols, linker.value(expressions))

    def _accelerate(self, group: _Group, needed: set[int], linker: Linker, solved: dict[Coordinate, Any]) -> None:
        """Accelerations of a group's speeds and of the frames that other groups hang on."""
        alphas = {GROUND: ca.SX.zeros(6)}
        if group.base != GROUND:
            alphas[group.base] = self.alpha(group.base)
        results: list[ca.SX] = []
        keys: list[Coordinate] = []
        for edge in group.edges:
            X, S, c = group.maps[edge]
            gain, offset = group.gains[edge]
            reached = X @ alphas[edge.parent] + c
            a = gain @ reached + offset
            alphas[edge.child] = reached + S @ a
            keys += group.keys[edge]
            results += elements(ca.densify(a))
        ports = list(dict.fromkeys(child.base for child in group.children))
        ports += [
            edge.child
            for edge in group.edges
            if edge.child not in ports and any(s.element_hash() in needed for s in elements(self.alpha(edge.child)))
        ]
        for node in ports:
            results += elements(ca.densify(alphas[node]))
        if not results:
            return
        values = linker.value(results)
        at = 0
        for key in keys:
            size = self.unknowns.a[key].numel()
            solved[key] = values[at : at + size]
            at += size
        linker.define([s for node in ports for s in elements(self.alpha(node))], values, at)


def _placed(matrices: list[ca.SX], name: str, keep: bool = True) -> tuple[list[ca.SX], list[tuple[ca.SX, ca.SX]]]:
    """Matrices with computed elements replaced by placeholders, and the pairs (placeholder, expression).

    Equal elements share one. Constants stay; with `keep`, so do elements that are just a symbol.
    """
    places: dict[int, tuple[ca.SX, ca.SX]] = {}
    replaced = []
    for matrix in matrices:
        elements = []
        for k in range(matrix.nnz()):
            value = matrix.nz[k]
            if value.is_constant() or (keep and value.is_symbolic()):
                elements.append(value)
                continue
            key = value.element_hash()
            if key not in places:
                places[key] = (ca.SX.sym(f"{name} {len(places)}"), value)
            elements.append(places[key][0])
        replaced.append(ca.SX(matrix.sparsity(), ca.vertcat(ca.SX(0, 1), *elements)))
    return replaced, list(places.values())


def _child_acceleration(
    alpha: ca.SX, w_a: ca.SX, r: ca.SX, T: ca.SX, v: ca.SX, w: ca.SX, a: ca.SX, z: ca.SX
) -> tuple[ca.SX]:
    """alpha of frame b from that of frame a, which rotates with w_a, and the relative motion."""
    linear, angular = ca.vertsplit(alpha, 3)
    relative = relative_acceleration({"a": a, "r": r, "v": v}.__getitem__, w_a, angular)
    return (ca.vertcat(T @ (linear + relative), T @ angular + z + cross(T @ w_a, w)),)


def _parent_acceleration(
    alpha: ca.SX, w_a: ca.SX, r: ca.SX, T: ca.SX, v: ca.SX, w: ca.SX, a: ca.SX, z: ca.SX
) -> tuple[ca.SX]:
    """alpha of frame a from that of frame b."""
    linear, angular = ca.vertsplit(alpha, 3)
    turned = T.T @ (angular - z - cross(T @ w_a + w, w))
    relative = relative_acceleration({"a": a, "r": r, "v": v}.__getitem__, w_a, turned)
    return (ca.vertcat(T.T @ linear - relative, turned),)


def _affine(expression: ca.SX, symbols: ca.SX) -> tuple[ca.SX, ca.SX]:
    """(M, r) with expression = M symbols + r."""
    if not symbols.numel() or not expression.numel():
        return ca.SX(expression.numel(), symbols.numel()), expression
    return ca.jacobian(expression, symbols), ca.substitute(expression, symbols, ca.SX.zeros(symbols.numel()))


def _in_frame(matrix: ca.SX, turn: ca.SX) -> ca.SX:
    """Coefficients of an acceleration in the world frame as coefficients of the same in the frame that `turn` gives.

    Mechanics does not know directions, so nearly always matrix(turn) turn' is matrix(identity): tried with numbers.
    """
    if not matrix.nnz():
        return matrix
    turned = ca.horzcat(matrix[:, :3] @ turn.T, matrix[:, 3:])
    plain = ca.substitute(matrix, ca.vec(turn), ca.vec(ca.SX(np.eye(3))))
    return ca.sparsify(plain) if _same(turned, plain, turn) else turned


def _same(one: ca.SX, other: ca.SX, turn: ca.SX | None = None) -> bool:
    """Do two expressions have equal values at random points (with an orthonormal value of `turn`)?"""
    if one.shape != other.shape:
        return False
    if one.sparsity() == other.sparsity() and ca.is_equal(one, other, _DEPTH):
        return True
    both = ca.veccat(ca.densify(one), ca.densify(other))
    symbols = ca.symvar(both)
    function = ca.Function("same", [ca.vertcat(ca.SX(0, 1), *symbols)], [both])
    random = np.random.default_rng(0)
    for _ in range(2):
        point = random.uniform(0.2, 1.7, len(symbols))
        if turn is not None:
            rotation = np.linalg.qr(random.normal(size=(3, 3)))[0].ravel(order="F")
            place = {e.element_hash(): v for e, v in zip(elements(turn), rotation, strict=True)}
            point = np.array([place.get(s.element_hash(), v) for s, v in zip(symbols, point, strict=True)])
        values = np.array(function(point)).reshape(2, -1)
        if not np.allclose(values[0], values[1], rtol=1e-9, atol=1e-9 * np.abs(values).max(initial=0.0)):
            return False
    return True


def _mirrored(matrix: ca.SX) -> ca.SX:
    """A symmetric matrix from its upper triangle, so that no element is computed twice."""
    return ca.triu2symm(ca.triu(matrix))


def _solve(D: ca.SX, rhs: ca.SX) -> ca.SX:
    """Gaussian elimination without pivoting, for the few speeds of one joint.

    Raises:
        NotLocal: a pivot is structurally zero.
    """
    n, columns = D.size1(), rhs.size2()
    a = [[D[i, j] for j in range(n)] + [rhs[i, k] for k in range(columns)] for i in range(n)]
    for k in range(n):
        if a[k][k].is_zero():
            raise NotLocal
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            for j in range(k + 1, n + columns):
                a[i][j] -= factor * a[k][j]
    solution = ca.SX(n, columns)
    for i in reversed(range(n)):
        for k in range(columns):
            value = a[i][n + k]
            for j in range(i + 1, n):
                value -= a[i][j] * solution[j, k]
            if not value.is_zero():
                solution[i, k] = value / a[i][i]
    return solution
