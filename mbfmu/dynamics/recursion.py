"""Accelerations of a tree in linear time: the articulated-body recursion (Featherstone), derived from the sweeps.

No component knows of it. At every frame node the spatial acceleration alpha = (acceleration of the origin, angular
acceleration), resolved in the frame itself, is a placeholder, and so is the tie of every edge at its child. The sweeps,
evaluated with placeholders, are linear in them; their Jacobians are the maps of the recursion:

    alpha_child = X alpha_parent + S a + c          motion of an edge
    load        = I alpha_child + p                 everything at a node but its edges
    tie_parent  = Y tie_child                       what an edge passes on
    0           = R tie_child + Q alpha_child + E a + r      balance along the edge's speeds

Where loads or rows know other accelerations than these, the recursion does not apply and the dense form is used.
"""

from __future__ import annotations

import dataclasses
import functools

import casadi as ca
import numpy as np

from mbfmu.dynamics.sweeps import Sweeps, relative_acceleration
from mbfmu.dynamics.topology import GROUND, Edge, ScalarNode, Topology
from mbfmu.frames import cross


class LocalSweeps(Sweeps):
    """Sweeps that stop at the next node: orientation and acceleration of frames and ties of edges are placeholders."""

    def __init__(self, topology: Topology, base: Sweeps) -> None:
        super().__init__(topology)
        self.symbols = base.symbols
        self.external, self.exposed, self.driven = base.external, base.exposed, base.driven
        self.turn = {e.child: ca.SX.sym(f"T{e.child}", 3, 3) for e in topology.order}
        self.world_acceleration = {e.child: ca.SX.sym(f"a{e.child}", 3) for e in topology.order}
        self.angular = {e.child: ca.SX.sym(f"z{e.child}", 3) for e in topology.order}
        self.ties = {id(e): ca.SX.sym(f"tie {e.path}", 6) for e in topology.order}

    def frame(self, node: int, what: str) -> ca.SX:
        """Motion of a frame node; orientation and accelerations are placeholders."""
        places = {"T": self.turn, "a_0": self.world_acceleration, "z": self.angular}
        if node != GROUND and what in places:
            return places[what][node]
        return super().frame(node, what)

    def tie(self, edge: Edge, at_b: bool, name: str) -> ca.SX:
        """Cut force or torque of an edge; at the child's side a placeholder."""
        if at_b != edge.reversed:
            both = self.ties[id(edge)]
            return both[:3] if name == "f" else both[3:]
        return super().tie(edge, at_b, name)

    def load(self, node: int) -> ca.SX:
        """Sum of all cut forces and torques at a node but those of edges."""
        total = [ca.SX.zeros(3), ca.SX.zeros(3)]
        for path, connector in self.flat.members[node]:
            for i, name in enumerate(("f", "t")):
                total[i] += self._load(path, connector, name, 3)
        return ca.vertcat(*total)

    def child_acceleration(self, edge: Edge, linear: ca.SX, angular: ca.SX, w: ca.SX) -> ca.SX:
        """alpha of an edge's child from alpha of its parent; `w`: angular velocity of frame a of the edge."""
        rel = functools.partial(self.motion, edge)
        T = rel("T")
        if not edge.reversed:
            return ca.vertcat(
                T @ (linear + relative_acceleration(rel, w, angular)),
                T @ angular + rel("z") + cross(T @ w, rel("w")),
            )
        turned = T.T @ (angular - rel("z") - cross(T @ w + rel("w"), rel("w")))
        return ca.vertcat(T.T @ linear - relative_acceleration(rel, w, turned), turned)


@dataclasses.dataclass
class _Step:
    """One edge: the maps of the module's description, then the solution a = gain (X alpha_parent + c) + offset."""

    edge: Edge
    keys: list[ScalarNode]
    X: ca.SX
    S: ca.SX
    c: ca.SX
    gain: ca.SX
    offset: ca.SX


class NotLocal(Exception):
    """The recursion does not apply to this system."""


def accelerations(topology: Topology, base: Sweeps) -> ca.SX | None:
    """Accelerations of all speeds, in the order of `Symbols.a`; None where the recursion does not apply."""
    if base.symbols.multipliers or any(edge.role == "cut" for edge in topology.edges):
        return None
    try:
        return _Recursion(topology, base).solve()
    except NotLocal:
        return None


class _Recursion:
    """The recursion of one system."""

    def __init__(self, topology: Topology, base: Sweeps) -> None:
        self.topology, self.base = topology, base
        self.sweeps = LocalSweeps(topology, base)
        self.alpha = {n: ca.vertcat(self.sweeps.world_acceleration[n], z) for n, z in self.sweeps.angular.items()}
        self.all = ca.vertcat(*self.alpha.values(), *self.sweeps.ties.values(), *base.symbols.a.values())
        self.keys_of, self.alone = self._owners()
        self.inertia = self._loads()

    def _owners(self) -> tuple[dict[str, list[ScalarNode]], list[ScalarNode]]:
        """Speeds by the joint that they belong to, and those that belong to none."""
        paths = {edge.path for edge in self.topology.order}
        if len(paths) < len(self.topology.order) and any(
            key[0] in ("flange", "coordinate") and key[1] in _repeated(self.topology.order)
            for key in self.base.symbols.a
        ):
            raise NotLocal  # one component moves several frames
        by_joint: dict[str, list[ScalarNode]] = {}
        alone = []
        for key in self.base.symbols.a:
            joint = (
                key[1] if key[0] == "coordinate" else key[0] if key[0] != "flange" else self._driven_joint(key, paths)
            )
            if joint in paths:
                by_joint.setdefault(joint, []).append(key)
            else:
                alone.append(key)
        return by_joint, alone

    def _driven_joint(self, node: ScalarNode, paths: set[str]) -> str:
        """The joint whose axis flange a node is."""
        found = (r.path for r in self.topology.relations if r.path in paths and node in r.nodes)
        return next(found, "")

    def _loads(self) -> dict[int, tuple[ca.SX, ca.SX]]:
        """(I, p) of every node, for its acceleration resolved in its own frame."""
        inertia = {}
        turns = [ca.vec(t) for t in self.sweeps.turn.values()]
        actual = [ca.vec(self.base.frame(n, "T")) for n in self.sweeps.turn]
        for edge in self.topology.order:
            node = edge.child
            matrix, rest = _affine(self.sweeps.load(node), self.alpha[node])
            self._refuse(rest, matrix)
            inertia[node] = (_in_frame(matrix, self.sweeps.turn[node]), rest)
        stacked = ca.vertcat(*(ca.veccat(*both) for both in inertia.values()))
        stacked = ca.substitute(stacked, ca.vertcat(*turns), ca.vertcat(*actual))
        return {
            n: (ca.reshape(stacked[42 * k : 42 * k + 36], 6, 6), stacked[42 * k + 36 : 42 * k + 42])
            for k, n in enumerate(inertia)
        }

    def _refuse(self, *expressions: ca.SX) -> None:
        if ca.depends_on(ca.veccat(*expressions), self.all):
            raise NotLocal

    def solve(self) -> ca.SX:
        """From the leaves to the ground, and back."""
        solved = {key: self._solve_alone(key) for key in self.alone}
        steps = [self._eliminate(edge) for edge in reversed(self.topology.order)]
        alphas = {GROUND: ca.SX.zeros(6)}
        for step in reversed(steps):
            reached = step.X @ alphas[_parent(step.edge)] + step.c
            a = step.gain @ reached + step.offset
            alphas[step.edge.child] = reached + step.S @ a
            at = 0
            for key in step.keys:
                size = self.base.symbols.a[key].numel()
                solved[key] = a[at : at + size]
                at += size
        return ca.vertcat(ca.SX(0, 1), *(solved[key] for key in self.base.symbols.a))

    def _solve_alone(self, key: ScalarNode) -> ca.SX:
        """A speed that no joint carries: an inertia of a drive train."""
        if key[0] not in ("flange", "coordinate"):
            raise NotLocal
        mass, rest = _affine(self.sweeps.balance(key), self.base.symbols.a[key])
        self._refuse(mass, rest)
        if not mass.nnz():
            raise NotLocal
        return -self._turned(rest) / self._turned(mass)

    def _turned(self, expression: ca.SX) -> ca.SX:
        """`expression` with the orientations that placeholders stand for."""
        nodes = [n for n, t in self.sweeps.turn.items() if ca.depends_on(expression, t)]
        if not nodes:
            return expression
        return ca.substitute(
            expression,
            ca.veccat(*(self.sweeps.turn[n] for n in nodes)),
            ca.veccat(*(self.base.frame(n, "T") for n in nodes)),
        )

    def _rows(self, edge: Edge, keys: list[ScalarNode]) -> ca.SX:
        rows = []
        for key in keys:
            if key[0] in ("flange", "coordinate"):
                rows.append(self.sweeps.balance(key))
            else:
                rows += [
                    self.sweeps.drive(edge.path, ("speed", key[1], 0), i)
                    for i in range(self.base.symbols.a[key].numel())
                ]
        return ca.vertcat(ca.SX(0, 1), *rows)

    def _eliminate(self, edge: Edge) -> _Step:
        """Solve an edge's rows for its accelerations and hand the articulated inertia on to the parent."""
        keys = self.keys_of.get(edge.path, [])
        a = ca.vertcat(ca.SX(0, 1), *(self.base.symbols.a[key] for key in keys))
        X, S, c = self._motion(edge, a)
        tie, child = self.sweeps.ties[id(edge)], edge.child
        R, rest = _affine(self._rows(edge, keys), tie)
        Q, rest = _affine(rest, self.alpha[child])
        E, rest = _affine(rest, a)
        self._refuse(R, Q, E, rest)
        Q, rest = _in_frame(Q, self.sweeps.turn[child]), self._turned(rest)
        I, p = self.inertia[child]  # noqa: E741
        upward = self._upward(edge, tie)
        is_symmetric = _same(upward, -X.T if _parent(edge) != GROUND else upward) and _same(R, -S.T) and not Q.nnz()
        K = Q - R @ I
        D = K @ S + E
        u = rest - R @ p
        if keys:
            solution = _solve(D, ca.horzcat(-K, -u))
            gain, offset = solution[:, :6], solution[:, 6]
        else:
            gain, offset = ca.SX(0, 6), ca.SX(0, 1)
        if _parent(edge) != GROUND:
            moved = I @ S
            articulated, force = I + moved @ gain, p + moved @ offset
            if is_symmetric:
                articulated = _mirrored(articulated)
            passed = -upward @ (articulated @ X)
            I_p, p_p = self.inertia[_parent(edge)]
            self.inertia[_parent(edge)] = (
                I_p + (_mirrored(passed) if is_symmetric else passed),
                p_p - upward @ (articulated @ c + force),
            )
        return _Step(edge, keys, X, S, c, gain, offset)

    def _motion(self, edge: Edge, a: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        parent = _parent(edge)
        linear, angular = (ca.SX.sym(n, 3) if parent != GROUND else ca.SX.zeros(3) for n in ("linear", "angular"))
        motion = self.sweeps.child_acceleration(edge, linear, angular, self.base.frame(edge.a, "w"))
        S, rest = _affine(motion, a)
        X, c = ca.SX(6, 6), rest
        if parent != GROUND:
            X, c = _affine(rest, ca.vertcat(linear, angular))
        self._refuse(X, S, c)  # a frame that follows from several others
        return X, S, self._turned(c)

    def _upward(self, edge: Edge, tie: ca.SX) -> ca.SX:
        passed = ca.vertcat(*(self.sweeps.tie(edge, edge.reversed, name) for name in ("f", "t")))
        upward, rest = _affine(passed, tie)
        if rest.nnz() and not rest.is_zero():
            raise NotLocal
        return upward


def _repeated(edges: list[Edge]) -> set[str]:
    paths = [edge.path for edge in edges]
    return {path for path in paths if paths.count(path) > 1}


def _parent(edge: Edge) -> int:
    return edge.b if edge.reversed else edge.a


def _affine(expression: ca.SX, symbols: ca.SX) -> tuple[ca.SX, ca.SX]:
    """(M, r) with expression = M symbols + r."""
    if not symbols.numel() or not expression.numel():
        return ca.SX(expression.numel(), symbols.numel()), expression
    return ca.jacobian(expression, symbols), ca.substitute(expression, symbols, ca.SX.zeros(symbols.numel()))


def _in_frame(matrix: ca.SX, turn: ca.SX) -> ca.SX:
    """Coefficients of an acceleration in the world frame as coefficients of the same in the frame that `turn` gives.

    Mechanics does not know directions, so nearly always matrix(turn) turn' is matrix(identity): tried with numbers.
    """
    if not matrix.size1():
        return matrix
    turned = ca.horzcat(matrix[:, :3] @ turn.T, matrix[:, 3:])
    plain = ca.substitute(matrix, ca.vec(turn), ca.vec(ca.SX(np.eye(3))))
    return ca.sparsify(plain) if _same(turned, plain, turn) else turned


def _same(one: ca.SX, other: ca.SX, turn: ca.SX | None = None) -> bool:
    """Do two expressions have equal values at random points (with an orthonormal value of `turn`)?"""
    if one.shape != other.shape:
        return False
    both = ca.veccat(ca.densify(one), ca.densify(other))
    symbols = ca.symvar(both)
    if not symbols:
        values = np.array(ca.evalf(both)).reshape(2, -1)
        return bool(np.allclose(values[0], values[1], rtol=1e-12, atol=0))
    function = ca.Function("same", [ca.vertcat(*symbols)], [both])
    random = np.random.default_rng(0)
    for _ in range(2):
        point = random.uniform(0.2, 1.7, len(symbols))
        if turn is not None:
            rotation = np.linalg.qr(random.normal(size=(3, 3)))[0].ravel(order="F")
            place = {e.element_hash(): v for e, v in zip(ca.vertsplit(ca.vec(turn)), rotation, strict=True)}
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
            value = a[i][n + k] - sum((a[i][j] * solution[j, k] for j in range(i + 1, n)), ca.SX(0))
            if not value.is_zero():
                solution[i, k] = value / a[i][i]
    return solution
