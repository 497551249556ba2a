"""Accelerations of a tree in linear time: the articulated-body recursion (Featherstone), derived from the values.

No component knows of it. The spatial acceleration of a frame, alpha = (acceleration of the origin, angular
acceleration) resolved in the frame itself, and the wrench (cut force and torque) of an edge at its child are
placeholders; the values, evaluated with them, are linear in them, and their Jacobians are the maps of the recursion:

    alpha_child   = X alpha_parent + S a + c                    motion of an edge
    load          = I alpha_child + p                           everything at a node but its edges
    wrench_parent = Y wrench_child                              what an edge passes on
    0             = R wrench_child + Q alpha_child + E a + r    balance along the edge's speeds

A body that bends is several edges with the same speeds, and what it weighs knows their accelerations:

    load          = I alpha + N a + p                           its own, at the frame where the tree enters it

A *group* is a joint, or such a body, with the rigid parts behind it. Three leaf functions per group (out: positions and
speeds; in: articulated inertias; out: accelerations) work on placeholders of its neighbours, so that groups of one
*kind*, whose
expressions differ in their symbols only, share them: what it takes to derive a chain, and its code, grow with the kinds
of its links, hardly with their number. Numbers that shape a relative motion, such as the direction of an axis, are
arguments of the leaf functions, too, except 0 and 1: axes along x, y and z are three kinds with short code, all others
are one. Where loads or rows know other accelerations than those above, the recursion does not apply and the dense form
is used.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import called, elements, hash_of, hashes, stacked, symbols_in
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.solving.cut_tree import RELATIVE, CutTree, NotLocal, wrench_at_parent
from mbfmu.dynamics.solving.linking import Linker, Place, Step, Work
from mbfmu.dynamics.structure.frame_graph import GROUND, Edge
from mbfmu.dynamics.structure.quantities import RelativeMotion, relative_acceleration
from mbfmu.dynamics.structure.unknowns import Coordinate, Own
from mbfmu.frames import cross
from mbfmu.runtime.cse import cse

#: Number of groups up to which leaf functions are written out in place. Beyond that shared code, which stays in the
#: processor's cache, is quicker: a chain of 20 aligned axes takes 0.92 of the time and 0.58 of the code, with random
#: axes 0.80 and 0.38.
INLINE_GROUPS = 9
#: How deep expressions are compared before numbers are tried.
_DEPTH = 4
#: Motions of a frame by what they depend on.
_LINEAR, _ANGULAR = ("r_0", "v_0"), ("T", "w")
#: Number of symbols in the motion of a frame.
_SYMBOLS = 24

#: What replaces passed-on parameters in expressions (`Parameters.resolve`).
Resolve = Callable[[list[ca.SX]], list[ca.SX]]


@dataclasses.dataclass(eq=False)
class _Group:
    """A joint, a body that bends (or the ground's own rigid parts) with the rigid edges behind it."""

    edges: list[Edge]
    #: Speeds that move its first edge, and the others of the same component.
    keys: list[Coordinate]
    children: list[_Group] = dataclasses.field(default_factory=list)
    #: Symbols (by hash) in the expressions of its loads, balances and relative motions.
    symbols: list[int] = dataclasses.field(default_factory=list)
    #: Where its values of its kind's placeholders are, by hash.
    places: dict[int, Place] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def nodes(self) -> list[int]:
        """The node that the group hangs on, and those behind it."""
        return [self.edges[0].parent, *(edge.child for edge in self.edges)]

    @property
    def base(self) -> int:
        """The node that the group hangs on."""
        return self.nodes[0]

    @functools.cached_property
    def moved(self) -> list[Edge]:
        """Edges that its speeds move."""
        return [edge for edge in self.edges if edge.path == self.edges[0].path]

    def keys_of(self, edge: Edge) -> list[Coordinate]:
        """Speeds that move an edge."""
        return self.keys if edge in self.moved else []


@dataclasses.dataclass
class _Kind:
    """What groups of one kind share, in the symbols of the first of them.

    Their symbols correspond, in their order. In between are placeholders, which one leaf function hands to the next.
    """

    first: _Group
    #: Maps X, S, c of each edge, with what is not a constant or a parameter replaced by placeholders, and these.
    maps: dict[Edge, tuple[ca.SX, ca.SX, ca.SX]]
    placed: list[tuple[ca.SX, ca.SX]]
    #: How accelerations of its speeds follow from what is above them, in placeholders: from what the first edge's child
    #: has without them, or, where several edges begin there, from that of the base.
    gain: tuple[ca.SX, ca.SX] = dataclasses.field(init=False)
    from_base: bool = False
    #: True where articulated inertias are symmetric, as those of masses are: not where loads or balances know
    #: accelerations otherwise, as a torque that a measured acceleration gives, or where such a group hangs on this one.
    is_symmetric: bool = True
    #: Per child, the placeholders (by hash) of what it hands to the group.
    received: list[list[int]] = dataclasses.field(default_factory=list)
    #: Articulated inertia and force that the group hands to the node that it hangs on, as a function of placeholders
    #: (by hash), and the form of these two.
    passed: ca.Function | None = None
    passing: list[int] = dataclasses.field(default_factory=list)
    passed_form: Hashable = None
    #: Inward step; outward ones by the symbols that are wanted; last ones by the nodes that others hang on.
    inward: Step = dataclasses.field(init=False)
    outward: dict[tuple[int, ...], Step] = dataclasses.field(default_factory=dict)
    acceleration: dict[tuple[int, ...], Step] = dataclasses.field(default_factory=dict)

    @property
    def passes(self) -> tuple[Hashable, bool]:
        """What the group that it hangs on has to know of what it gets."""
        return self.passed_form, self.is_symmetric

    @functools.cached_property
    def reads(self) -> list[int]:
        """Numbers of the symbols that its own expressions know."""
        return list(dict.fromkeys([*self.inward.reads, *self.step(self.placed).reads]))

    @functools.cached_property
    def behind(self) -> range:
        """Numbers of the symbols that are motions of the nodes behind it."""
        first = _SYMBOLS if self.first.base != GROUND else 0
        return range(first, first + _SYMBOLS * len(self.first.edges))

    @functools.cached_property
    def number(self) -> dict[int, int]:
        """Numbers of the symbols, by hash."""
        return {symbol: i for i, symbol in enumerate(self.first.symbols)}

    def original(self, matrix: ca.SX) -> ca.SX:
        """A matrix with what the placeholders of maps stand for put back."""
        if not self.placed:
            return matrix
        symbols, expressions = zip(*self.placed, strict=True)
        return ca.substitute(matrix, ca.vertcat(*symbols), ca.vertcat(*expressions))

    def step(self, pairs: Sequence[tuple[ca.SX, ca.SX]], before: Sequence[ca.SX] = ()) -> Step:
        """Expressions, the last of which symbols have for their values."""
        work = Work([*before, *(expression for _, expression in pairs)])
        reads = [self.number[symbol] for symbol in work.hashes if symbol in self.number]
        return Step(work, len(before) + len(pairs), hashes(symbol for symbol, _ in pairs), reads)


def accelerations(
    base: Values, arguments: Sequence[ca.SX], resolve: Resolve, name: str = "accelerations"
) -> ca.Function | None:
    """Function of `arguments` that gives the accelerations of all speeds, in the order of `Unknowns.a`.

    `resolve` replaces parameters in a list of expressions as `Parameters.resolve` does. None where the recursion does
    not apply: there are constraints, or accelerations are coupled otherwise than along the tree.
    """
    if base.unknowns.multipliers:
        return None
    try:
        cut = CutTree.of(base)
        recursion = _Recursion(cut, resolve)
    except NotLocal:
        return None
    symbolic = ca.SX if len(recursion.groups) <= INLINE_GROUPS else ca.MX
    inputs = list(arguments) if symbolic is ca.SX else [ca.MX.sym(f"i{k}", a.numel()) for k, a in enumerate(arguments)]
    linker = Linker(symbolic)
    for symbols, value in zip(arguments, inputs, strict=True):
        linker.define(elements(symbols), value)
    for numbers in cut.numbers:
        linker.define(numbers.symbols, symbolic(ca.DM(numbers.values)))
    result = recursion.link(linker)
    if symbolic is ca.SX:
        (result,) = cse([result])
    return ca.Function(name, inputs, [result])


class _Recursion:
    """The maps of one system, and how they are linked."""

    def __init__(self, cut: CutTree, resolve: Resolve) -> None:
        self.cut, self.values, self.unknowns, self.resolve = cut, cut.values, cut.values.unknowns, resolve
        #: Placeholders of the accelerations of an edge's parent.
        self.of_parent = ca.SX.sym("alpha", 6)
        self.alone = {key: self._alone(key) for key in cut.alone}
        self.groups = self._grouped()
        given = self._expressions(self.groups)
        self._names = ca.SX(0, 1)
        self._known: dict[Hashable, _Kind] = {}
        self.kinds: dict[_Group, _Kind] = {}
        for group in reversed(self.groups):  # what children pass is part of a kind
            self.kinds[group] = self._kind(group, given[group])

    def _refuse(self, *expressions: ca.SX) -> None:
        """Accelerations and wrenches must not be left in maps."""
        if not self.cut.unsolved.isdisjoint(hashes(symbols_in(stacked(expressions)))):
            raise NotLocal

    def _grouped(self) -> list[_Group]:
        groups: list[_Group] = []
        group_of: dict[int, _Group] = {}
        moving: dict[str, _Group] = {}
        for edge in self.cut.order:
            parent = edge.parent
            keys = self.cut.keys_of.get(edge.path, [])
            if keys and edge.path in moving:
                group = moving[edge.path]
                group.edges.append(edge)
            elif parent == GROUND or keys:
                group = moving[edge.path] = _Group([edge], keys)
                groups.append(group)
                if parent != GROUND:
                    group_of[parent].children.append(group)
            else:
                group = group_of[parent]
                group.edges.append(edge)
            group_of[edge.child] = group
        return groups

    # -- kinds

    def _kind(self, group: _Group, given: list[ca.SX]) -> _Kind:
        """The kind of a group whose children's kinds are known; a new one where there is none like it.

        `given`: all that the work on the group begins with.
        """
        named = [symbol for node in group.nodes if node != GROUND for symbol in self.cut.motion_symbols[node]]
        for edge in group.edges:
            named += elements(self.cut.wrench[edge])
        named += [symbol for key in group.keys for symbol in elements(self.unknowns.a[key])]
        group.symbols = hashes(named)
        known = set(group.symbols)
        others = [symbol for symbol in symbols_in(stacked(given)) if hash_of(symbol) not in known]
        group.symbols += hashes(others)
        key = (
            tuple((edge.parent == GROUND, group.nodes.index(edge.parent), edge.reversed) for edge in group.edges),
            tuple(self.unknowns.a[key].numel() for key in group.keys),
            (tuple(edge in group.moved for edge in group.edges), group.edges[0].path in self.cut.carried),
            tuple((group.nodes.index(child.base), *self.kinds[child].passes) for child in group.children),
            tuple(symbol in self.cut.unsolved for symbol in group.symbols),
            self._form([*named, *others], given),
        )
        if key not in self._known:
            self._known[key] = self._derived(group)
        return self._known[key]

    def _form(self, symbols: list[ca.SX], expressions: list[ca.SX]) -> Hashable:
        """What expressions have in common with others that differ in the names of these symbols only."""
        if self._names.numel() < len(symbols):
            self._names = ca.SX.sym("s", 2 * len(symbols))
        names = self._names[: len(symbols)]
        renamed = called(ca.Function("form", [stacked(symbols)], expressions), [names])
        return ca.Function("form", [names], renamed).serialize()

    def _expressions(self, groups: list[_Group]) -> dict[_Group, list[ca.SX]]:
        """All that the work on groups begins with."""
        own = {group: self._own(group) for group in groups}
        loads = {group: self._all_loads(group) for group in groups}
        resolved = self.resolve([*itertools.chain(*own.values(), *loads.values())])
        count = sum(map(len, own.values()))
        left, right = iter(resolved[:count]), iter(self._without_alone(resolved[count:]))
        return {
            group: [*itertools.islice(left, len(own[group])), *itertools.islice(right, len(loads[group]))]
            for group in groups
        }

    def _own(self, group: _Group) -> list[ca.SX]:
        """Relative motions, balances, and what edges pass on."""
        found = [self._motion(edge, what) for edge in group.edges for what in RELATIVE]
        found += self._rows(group.keys)
        return found + [p for edge in group.edges if edge.parent != GROUND for p in self._wrench_at_parent(edge)]

    def _all_loads(self, group: _Group) -> list[ca.SX]:
        return [*(load for edge in group.edges for load in self._loads(edge.child)), *self._own_loads(group)]

    def _motion(self, edge: Edge, what: str) -> ca.SX:
        """Relative motion of an edge."""
        return self.values.known[RelativeMotion(edge, what)]

    def _turning(self, node: int) -> ca.SX:
        """Angular velocity of a node."""
        value: ca.SX = self.values(self.values.structure.frame(node, "w"))
        return value

    def _loads(self, node: int) -> list[ca.SX]:
        """Force and torque of everything at a node but edges, and bodies that bend beyond it."""
        carried = [path for path, connector in self.cut.carried.items() if self._node(path, connector) == node]
        return [self.values(self.values.structure.node_loads(node, name, carried)) for name in ("f", "t")]

    def _node(self, path: str, connector: str) -> int:
        return self.values.flat.nodes[(path, connector)]

    def _own_loads(self, group: _Group) -> list[ca.SX]:
        """Force and torque of a body that bends where the tree enters it; nothing of others."""
        path = group.edges[0].path
        if path not in self.cut.carried:
            return []
        return [self.values(self.values.structure.load(path, self.cut.carried[path], name, 3)) for name in ("f", "t")]

    def _rows(self, keys: list[Coordinate]) -> list[ca.SX]:
        return [self.values(row) for key in keys for row in self.values.structure.balances(key)]

    def _wrench_at_parent(self, edge: Edge) -> list[ca.SX]:
        """What an edge passes on of its wrench."""
        return [self.values(formula) for formula in wrench_at_parent(edge)]

    def _without_alone(self, loads: list[ca.SX]) -> list[ca.SX]:
        """Loads with what they are in place of the accelerations of drive trains."""
        if not self.alone:
            return loads
        own = ca.vertcat(*(self.unknowns.a[key] for key in self.alone))
        return list(ca.substitute(loads, [own], [ca.vertcat(*self.alone.values())]))

    def _derived(self, group: _Group) -> _Kind:
        """The work on the first group of its kind, all that is the same whoever asks for it."""
        maps, placed = {}, []
        for edge in group.edges:  # what is worth computing once, in the outward leaf, becomes a placeholder
            (X, S, c), places = _placed(list(self._maps(edge, group.keys_of(edge))), f"map {edge.path}", keep=True)
            maps[edge] = (X, S, c)
            placed += places
        kind = _Kind(group, maps, placed)
        self._solve_rows(kind)
        return kind

    def _maps(self, edge: Edge, keys: list[Coordinate]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """X, S and c of an edge."""
        alpha = ca.SX.zeros(6) if edge.parent == GROUND else self.of_parent
        work = _parent_acceleration if edge.reversed else _child_acceleration
        relative = (self._motion(edge, what) for what in RELATIVE)
        (motion,) = self.resolve([work(alpha, self._turning(edge.a), *relative)])
        S, rest = _affine(motion, self._accelerations_of(keys))
        X, c = ca.SX(6, 6), rest
        if not alpha.is_constant():
            X, c = _affine(rest, alpha)
        self._refuse(X, S, c)  # a frame that follows from several others
        return X, S, c

    def _accelerations_of(self, keys: list[Coordinate]) -> ca.SX:
        return stacked(self.unknowns.a[key] for key in keys)

    def _inertia(self, node: int, loads: list[ca.SX], keys: list[Coordinate]) -> tuple[ca.SX, ca.SX, ca.SX]:
        """(I, N, p) of loads at a node, for its acceleration resolved in its own frame, and speeds of its component."""
        (load,) = self._without_alone(self.resolve([ca.vertcat(*loads)]))
        matrix, rest = _affine(load, self.cut.alpha(node))
        coupling, rest = _affine(rest, self._accelerations_of(keys))
        self._refuse(rest, matrix, coupling)
        return _in_frame(matrix, self.cut.motion[(node, "T")]), coupling, rest

    def _solve_rows(self, kind: _Kind) -> None:
        """Solve the rows of a group for its accelerations, from its last edge to the first."""
        group = kind.first
        inertia = {e.child: self._inertia(e.child, self._loads(e.child), group.keys_of(e)) for e in group.edges}
        kind.is_symmetric = all(self.kinds[child].is_symmetric for child in group.children) and all(
            _same(of_loads, of_loads.T) for of_loads, *_ in inertia.values()
        )
        for child in group.children:
            passed = self.kinds[child].passed
            assert passed is not None
            received = ca.SX.sym("received", passed.numel_in(0))
            kind.received.append(hashes(elements(received)))
            I, N, p = inertia[child.base]  # noqa: E741
            of_child = passed.call([received])
            inertia[child.base] = (I + of_child[0], N, p + of_child[1])
        results: list[tuple[ca.SX, ca.SX]] = []
        handed = None
        first = group.edges[0]
        for edge in reversed(group.edges):
            if edge in group.moved and edge is not first:
                continue
            coupled = len(group.moved) > 1 or first.path in self.cut.carried or inertia[edge.child][1].nnz()
            work = self._bent if edge is first and coupled else self._eliminate
            gain, offset, handed = work(edge, kind, inertia)
            if coupled and edge is first and handed is not None and kind.is_symmetric:
                whole = kind.original(handed[0])
                kind.is_symmetric = _same(whole, whole.T)
            if edge is first:
                placed = []
                for part in (gain, offset):
                    replaced, places = _placed([part], f"gain {edge.path}", keep=False)
                    placed.append(replaced[0])
                    results += places
                kind.gain = (placed[0], placed[1])
            elif handed is not None:
                I, N, p = inertia[edge.parent]  # noqa: E741
                inertia[edge.parent] = (I + handed[0], N, p + handed[1])
        if handed is not None:
            (I, p), places = _placed(list(handed), f"inertia {group.edges[0].path}", keep=False)  # noqa: E741
            symbols = [symbol for symbol, _ in places]
            kind.passed = ca.Function("passed", [stacked(symbols)], [I, p])
            kind.passing, kind.passed_form = hashes(symbols), self._form(symbols, [I, p])
            results += places
        kind.inward = kind.step(results)

    def _eliminate(
        self, edge: Edge, kind: _Kind, inertia: dict[int, tuple[ca.SX, ca.SX, ca.SX]]
    ) -> tuple[ca.SX, ca.SX, tuple[ca.SX, ca.SX] | None]:
        """(gain, offset) with a = gain (X alpha_parent + c) + offset, and what the parent gets."""
        keys, child = kind.first.keys_of(edge), edge.child
        X, S, c = kind.maps[edge]
        I, _, p = inertia[child]  # noqa: E741
        (rows,) = self.resolve([ca.vertcat(ca.SX(0, 1), *self._rows(keys))])
        given = [X, S, c, I, p, rows, self.cut.wrench[edge], self.cut.alpha(child)]
        given += [self._accelerations_of(keys), self.cut.motion[(child, "T")]]
        if edge.parent == GROUND:
            gain, offset = self._gains(kind, *given)
            return gain, offset, None
        given += [kind.original(X), kind.original(S), self._upward(edge)]
        gain, offset, I, p = self._gains(kind, *given)  # noqa: E741
        return gain, offset, (I, p)

    def _gains(
        self,
        kind: _Kind,
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
        kind.is_symmetric = (
            kind.is_symmetric and not Q.nnz() and _same(upward, -original_X.T) and _same(R, -original_S.T)
        )
        if kind.is_symmetric:
            upward = -X.T  # the same, in terms of what is computed already
        moved = I @ S
        articulated, force = I + moved @ gain, p + moved @ offset
        if kind.is_symmetric:
            articulated = _mirrored(articulated)
        passed = -upward @ (articulated @ X)
        return gain, offset, _mirrored(passed) if kind.is_symmetric else passed, -upward @ (articulated @ c + force)

    def _bent(
        self, first: Edge, kind: _Kind, inertia: dict[int, tuple[ca.SX, ca.SX, ca.SX]]
    ) -> tuple[ca.SX, ca.SX, tuple[ca.SX, ca.SX] | None]:
        """The same for a body that bends: for all edges with its speeds together.

        These begin at its first frame: at the child of the first edge, where that is reversed, else at the base, from
        whose acceleration `gain` then leads.
        """
        group = kind.first
        kind.from_base = not first.reversed
        at = group.base if kind.from_base else first.child
        if at == GROUND:
            raise NotLocal
        own = self._own_loads(group)
        entering = self._inertia(group.base, own, group.keys) if own else None
        size = self._accelerations_of(group.keys).numel()
        nothing = ca.SX(6, 6), ca.SX(6, size), ca.SX(6, 1)
        I, N, p = (entering or nothing) if kind.from_base else inertia[at]  # noqa: E741
        (rows,) = self.resolve([ca.vertcat(ca.SX(0, 1), *self._rows(group.keys))])
        E, rest = _affine(rows, self._accelerations_of(group.keys))
        Q, rest = _affine(rest, self.cut.alpha(at))
        Q = _in_frame(Q, self.cut.motion[(at, "T")])
        for edge in group.moved if kind.from_base else group.moved[1:]:
            X, S, c = kind.maps[edge]
            I_b, N_b, p_b = inertia[edge.child]
            R, rest = _affine(rest, self.cut.wrench[edge])
            upward = self._upward(edge)
            A, B, d = I_b @ X, I_b @ S + N_b, I_b @ c + p_b
            I, N, p = I - upward @ A, N - upward @ B, p - upward @ d  # noqa: E741
            Q, E, rest = Q - R @ A, E - R @ B, rest - R @ d
        if kind.from_base:
            self._refuse(Q, E, rest)
            solution = _solve(E, -ca.horzcat(Q, rest))
            gain, offset = solution[:, :6], solution[:, 6]
            return gain, offset, (I + N @ gain, p + N @ offset)
        X, S, c = kind.maps[first]
        R, rest = _affine(rest, self.cut.wrench[first])
        self._refuse(R, Q, E, rest)
        K = Q - R @ I
        solution = _solve(K @ S + E - R @ N, ca.horzcat(-K, R @ p - rest))
        gain, offset = solution[:, :6], solution[:, 6]
        if first.parent == GROUND:
            return gain, offset, None
        upward, moved = self._upward(first), I @ S + N
        articulated, force = I + moved @ gain, p + moved @ offset
        passed = -upward @ articulated @ X, -upward @ (articulated @ c + force)
        if entering is None:
            return gain, offset, passed
        I, N, p = entering  # noqa: E741
        a_X, a_0 = gain @ X, gain @ c + offset
        return gain, offset, (passed[0] + I + N @ a_X, passed[1] + p + N @ a_0)

    def _upward(self, edge: Edge) -> ca.SX:
        wrench = self.cut.wrench[edge]
        upward, rest = _affine(self.resolve([ca.vertcat(*self._wrench_at_parent(edge))])[0], wrench)
        if not rest.is_zero():
            raise NotLocal
        return upward

    def _alone(self, key: Coordinate) -> ca.SX:
        """A speed that no joint carries: an inertia of a drive train, which may be mounted on a moving frame."""
        if isinstance(key, Own):
            raise NotLocal
        mass, rest = _affine(self.resolve([self.values(self.values.structure.balance(key))])[0], self.unknowns.a[key])
        both = ca.vertcat(mass, rest)
        read = [s for s in ca.symvar(both) if s.element_hash() in self._unsolved]
        if not mass.nnz() or (read and ca.depends_on(both, ca.vertcat(*read))):
            raise NotLocal
        return -rest / mass

    @functools.cached_property
    def _unsolved(self) -> frozenset[int]:
        """Elements of accelerations and wrenches, which the expression of a speed of its own does not know."""
        unsolved = ca.vertcat(ca.SX(0, 1), *self.unknowns.a.values(), *self.cut.wrench.values())
        return frozenset(hashes(elements(unsolved)))

    # -- linking

    def link(self, linker: Linker) -> Any:
        """Accelerations as values: out along the tree, in, and out again."""
        alone = {key: Work([expression]) for key, expression in self.alone.items()}
        columns = self.resolve([column for _, column in self.cut.called.values()])
        called = [
            (symbols, Work([column])) for (symbols, _), column in zip(self.cut.called.values(), columns, strict=True)
        ]
        #: Placeholders of motions (by hash) that somebody reads, directly or further out along the tree.
        needed = {symbol for work in (*alone.values(), *(work for _, work in called)) for symbol in work.hashes}
        for group, kind in self.kinds.items():
            needed.update(group.symbols[i] for i in kind.reads)
        outward: dict[_Group, Step] = {}
        for group in reversed(self.groups):
            kind = self.kinds[group]
            outward[group] = step = self._outward(kind, tuple(i for i in kind.behind if group.symbols[i] in needed))
            needed.update(group.symbols[i] for i in step.reads)
        for group in self.groups:
            self._evaluate(group, outward[group], linker)
        for placeholders, work in called:
            loads, at = linker.value(work, linker.places.__getitem__), 0
            for column in placeholders:
                linker.define(elements(column), loads[at : at + column.numel()])
                at += column.numel()
        for group in reversed(self.groups):
            kind = self.kinds[group]
            for symbols, child in zip(kind.received, group.children, strict=True):
                passing = self.kinds[child].passing
                group.places |= {symbol: child.places[p] for symbol, p in zip(symbols, passing, strict=True)}
            self._evaluate(group, kind.inward, linker)
        solved: dict[Coordinate, Any] = {}
        for group in self.groups:
            ports = list(dict.fromkeys(child.base for child in group.children))
            ports += [n for n in group.nodes[1:] if n not in ports and not needed.isdisjoint(self.cut.alpha_symbols[n])]
            step = self._acceleration(self.kinds[group], tuple(group.nodes.index(node) for node in ports))
            values, at = self._evaluate(group, step, linker), 0
            for key in group.keys:
                size = self.unknowns.a[key].numel()
                solved[key] = values[at : at + size]
                at += size
        for key, work in alone.items():
            solved[key] = linker.value(work, linker.places.__getitem__)
        return ca.vertcat(*(solved[key] for key in self.unknowns.a))

    def _evaluate(self, group: _Group, step: Step, linker: Linker) -> Any:
        """Values of a step for one group; what is a symbol of the group is known everywhere from now on."""
        if not step.size:
            return None
        number, known = self.kinds[group].number, linker.places

        def place(symbol: int) -> Place:
            i = number.get(symbol)
            return group.places[symbol] if i is None else known[group.symbols[i]]

        values = linker.value(step.work, place)
        source = linker.add(values)
        for k, symbol in enumerate(step.symbols, step.size - len(step.symbols)):
            i = number.get(symbol)
            if i is None:
                group.places[symbol] = (source, k)
            else:
                known[group.symbols[i]] = (source, k)
        return values

    def _outward(self, kind: _Kind, wanted: tuple[int, ...]) -> Step:
        """Motion of a group's frames, those of its symbols that are wanted, and its maps."""
        if wanted in kind.outward:
            return kind.outward[wanted]
        needed = {kind.first.symbols[i] for i in wanted}
        for edge in reversed(kind.first.edges):
            for quantities in (_LINEAR, _ANGULAR):  # a reversed edge's r_0 and v_0 need its own child's T and w
                wanted_here = [expression for _, expression in self._wanted(edge, quantities, needed)]
                needed.update(hashes(symbols_in(stacked(wanted_here))))
        symbols: list[ca.SX] = []
        expressions: list[ca.SX] = []

        def add(pairs: list[tuple[ca.SX, ca.SX]]) -> None:
            values = [e for _, e in pairs]
            if symbols and values:
                values = elements(ca.substitute(ca.vertcat(*values), ca.vertcat(*symbols), ca.vertcat(*expressions)))
            symbols.extend(s for s, _ in pairs)
            expressions.extend(values)

        for edge in kind.first.edges:
            for quantities in (_ANGULAR, _LINEAR):
                add(self._wanted(edge, quantities, needed))
        add(kind.placed)
        kind.outward[wanted] = kind.step(list(zip(symbols, expressions, strict=True)))
        return kind.outward[wanted]

    def _wanted(self, edge: Edge, quantities: tuple[str, ...], needed: set[int]) -> list[tuple[ca.SX, ca.SX]]:
        """(placeholder, expression) of the motion of an edge's child, as far as it is needed."""
        wanted = []
        for what in quantities:
            places = elements(self.cut.motion[(edge.child, what)])
            if not needed.isdisjoint(hashes(places)):
                expressions = elements(self.resolve([self.cut.supported(edge, what)])[0])
                wanted += [(p, e) for p, e in zip(places, expressions, strict=True) if hash_of(p) in needed]
        return wanted

    def _acceleration(self, kind: _Kind, ports: tuple[int, ...]) -> Step:
        """Accelerations of a group's speeds, and of those of its nodes that others hang on."""
        if ports in kind.acceleration:
            return kind.acceleration[ports]
        group = kind.first
        alphas = {GROUND: ca.SX.zeros(6)}
        if group.base != GROUND:
            alphas[group.base] = self.cut.alpha(group.base)
        results: list[ca.SX] = []
        for edge in group.edges:
            X, S, c = kind.maps[edge]
            reached = X @ alphas[edge.parent] + c
            if edge is group.edges[0]:
                gain, offset = kind.gain
                a = gain @ (alphas[group.base] if kind.from_base else reached) + offset
                results += elements(ca.densify(a))
            alphas[edge.child] = reached + S @ a if edge in group.moved else reached
        nodes = [group.nodes[i] for i in ports]
        symbols = [symbol for node in nodes for symbol in elements(self.cut.alpha(node))]
        values = [value for node in nodes for value in elements(ca.densify(alphas[node]))]
        kind.acceleration[ports] = kind.step(list(zip(symbols, values, strict=True)), results)
        return kind.acceleration[ports]


def _placed(matrices: list[ca.SX], name: str, keep: bool) -> tuple[list[ca.SX], list[tuple[ca.SX, ca.SX]]]:
    """Matrices with computed elements replaced by placeholders, and the pairs (placeholder, expression).

    Equal elements share one. Constants stay; with `keep`, so do elements that are just a symbol.
    """
    places: dict[int, tuple[ca.SX, ca.SX]] = {}
    replaced = []
    for matrix in matrices:
        kept = []
        for value in elements(matrix.nz[:]):
            if value.is_constant() or (keep and value.is_symbolic()):
                kept.append(value)
                continue
            key = hash_of(value)
            if key not in places:
                places[key] = (ca.SX.sym(f"{name} {len(places)}"), value)
            kept.append(places[key][0])
        replaced.append(ca.SX(matrix.sparsity(), stacked(kept)))
    return replaced, list(places.values())


def _child_acceleration(alpha: ca.SX, w_a: ca.SX, r: ca.SX, T: ca.SX, v: ca.SX, w: ca.SX, a: ca.SX, z: ca.SX) -> ca.SX:
    """alpha of frame b from that of frame a, which rotates with w_a, and the relative motion."""
    linear, angular = ca.vertsplit(alpha, 3)
    relative = relative_acceleration(a, r, v, w_a, angular)
    return ca.vertcat(T @ (linear + relative), T @ angular + z + cross(T @ w_a, w))


def _parent_acceleration(alpha: ca.SX, w_a: ca.SX, r: ca.SX, T: ca.SX, v: ca.SX, w: ca.SX, a: ca.SX, z: ca.SX) -> ca.SX:
    """alpha of frame a from that of frame b."""
    linear, angular = ca.vertsplit(alpha, 3)
    turned = T.T @ (angular - z - cross(T @ w_a + w, w))
    relative = relative_acceleration(a, r, v, w_a, turned)
    return ca.vertcat(T.T @ linear - relative, turned)


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
    function = ca.Function("same", [stacked(symbols)], [both])
    random = np.random.default_rng(0)
    for _ in range(2):
        point = random.uniform(0.2, 1.7, len(symbols))
        if turn is not None:
            rotation = np.linalg.qr(random.normal(size=(3, 3)))[0].ravel(order="F")
            place = {e.element_hash(): v for e, v in zip(elements(turn), rotation, strict=True)}
            point = np.array([place.get(s.element_hash(), v) for s, v in zip(symbols, point, strict=True)])
        values = np.array(function(point)).reshape(2, -1)
        if not np.isfinite(values).all():  # what is no number at this point cannot be told
            return False
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
