"""Accelerations and multipliers w of a system: from A w = b, dense or sparse, or by the recursion for trees."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Protocol

import casadi as ca

from mbfmu.dynamics.expressions.constraints import chosen
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.solving import articulated_body
from mbfmu.dynamics.solving.pivots import pivots
from mbfmu.dynamics.solving.sparse_system import Sparse, samples

#: Number of speeds from which on the recursion for trees is quicker than a dense matrix (measured on chains).
RECURSIVE_FROM = 5

#: Number of unknowns w from which on a system with unknowns between neighbours is quicker than one in w alone (measured
#: on chains of four-bars).
SPARSE_FROM = 20

#: Share of A that may be other than zero where it is kept as sparse: beyond, factors fill up.
FULL = 0.75


class Accelerations(Protocol):
    """How w follows from (t, x, u, P, m)."""

    @property
    def is_recursive(self) -> bool:
        """True where `dynamics` gives w itself."""
        ...

    @property
    def w(self) -> ca.SX:
        """Accelerations and multipliers."""
        ...

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """Index sets of w whose equations are independent of each other."""
        ...

    @property
    def sparsity(self) -> tuple[tuple[int, int], ...]:
        """Row and column of each value of A where it is sparse: then w are the first of its unknowns."""
        ...

    @property
    def pivots(self) -> tuple[tuple[int, int], ...]:
        """Rows and columns of a sparse A in the order of elimination."""
        ...

    @property
    def along_forces(self) -> bool:
        """True where constraints are met along their forces, with the factors of A: their jacobian is not known."""
        ...

    def residual(self, vectors: Vectors) -> ca.SX:
        """What is zero for the right w."""
        ...

    def dynamics(self, vectors: Vectors) -> ca.Function:
        """`dynamics(t, x, u, P, m)`: A (its values, where it is sparse) and b, or nothing and w."""
        ...

    def dependence(self, vectors: Vectors) -> list[set[int]]:
        """Per entry of w, the entries of [x; u] that it depends on."""
        ...


@dataclasses.dataclass(frozen=True)
class Direct:
    """Balances of forces and constraint accelerations, which must be linear in w, as A w = b: dense, or with pivots."""

    w: ca.SX
    A: ca.SX
    b: ca.SX
    blocks: tuple[tuple[int, ...], ...]
    pivots: tuple[tuple[int, int], ...] = ()
    is_recursive = False
    along_forces = False

    @classmethod
    def of(cls, formulation: Formulation) -> Direct:
        """Take the equations apart, which are linear (mbfmu.dynamics.expressions.iterations)."""
        vectors, constraints = formulation.vectors, formulation.constraints
        w = ca.vertcat(vectors.a, constraints.kept_multipliers)
        (balances,) = formulation.parameters.resolve([formulation.motion.balances])
        residual = ca.vertcat(balances, chosen(constraints.acceleration, constraints.kept))
        (residual,) = constraints.without_dropped([residual])
        A = ca.jacobian(residual, w)
        b = -ca.substitute(residual, w, ca.SX.zeros(w.numel()))
        blocks = independent_blocks(A.sparsity())
        A, b = ca.sparsify(A), ca.densify(b)
        if w.numel():
            A, b = ca.cse([A, b])
        return cls(w, A, b, blocks)

    def with_pivots(self, formulation: Formulation) -> Direct:
        """The same, sparse, with pivots for the states of the start and around them, where A is far from full."""
        if self.A.nnz() > FULL * self.w.numel() ** 2:
            return self
        places = samples(self.A.nz[:], formulation)
        return dataclasses.replace(self, pivots=pivots(self._entries, self.w.numel(), places))

    @property
    def _entries(self) -> tuple[tuple[int, int], ...]:
        return tuple(zip(*self.A.sparsity().get_triplet(), strict=True))

    @property
    def sparsity(self) -> tuple[tuple[int, int], ...]:
        """Row and column of each value of A where it is sparse."""
        return self._entries if self.pivots else ()

    def residual(self, vectors: Vectors) -> ca.SX:
        """A w - b."""
        return self.A @ self.w - self.b

    def dynamics(self, vectors: Vectors) -> ca.Function:
        """A, or its values, and b."""
        return ca.Function("dynamics", vectors.arguments, [self.A.nz[:] if self.pivots else ca.densify(self.A), self.b])

    def dependence(self, vectors: Vectors) -> list[set[int]]:
        """All that the block of an entry depends on."""
        knowns = ca.vertcat(vectors.x, vectors.u)
        rows = pattern(self.b, knowns)
        for (row, _), known in zip(self._entries, pattern(self.A.nz[:], knowns), strict=True):
            rows[row] |= known
        found: list[set[int]] = [set() for _ in rows]
        for block in self.blocks:
            union = set().union(*(rows[i] for i in block))
            for i in block:
                found[i] = union
        return found


@dataclasses.dataclass(frozen=True)
class Recursive:
    """w itself as a function: of a tree without constraints, or where nothing moves."""

    w: ca.SX
    function: ca.Function
    is_recursive = True
    along_forces = False
    sparsity: tuple[tuple[int, int], ...] = ()
    pivots: tuple[tuple[int, int], ...] = ()

    @classmethod
    def at_rest(cls, w: ca.SX, vectors: Vectors) -> Recursive:
        """No accelerations, no forces: as long as only positions and speeds are sought."""
        return cls(w, ca.Function("accelerations", vectors.arguments, [ca.SX.zeros(w.numel())]))

    @property
    def blocks(self) -> tuple[tuple[int, ...], ...]:
        """One."""
        return (tuple(range(self.w.numel())),)

    def residual(self, vectors: Vectors) -> ca.SX:
        """w - w(t, x, u, P, m)."""
        return self.w - self.function(*vectors.arguments)

    def dynamics(self, vectors: Vectors) -> ca.Function:
        """Nothing, and w."""
        is_mx = self.function.is_a("MXFunction")
        arguments = self.function.mx_in() if is_mx else vectors.arguments
        nothing = ca.MX(0, 0) if is_mx else ca.SX(0, 0)
        return ca.Function("dynamics", arguments, [nothing, *self.function.call(arguments)])

    def dependence(self, vectors: Vectors) -> list[set[int]]:
        """From the function's sparsity."""
        by_x, by_u = (self.function.jac_sparsity(0, argument) for argument in (1, 2))
        return rows_of(ca.horzcat(by_x, by_u))


def accelerations(formulation: Formulation, is_singular: bool, all_heavy: bool) -> Accelerations:
    """The recursion where it applies and pays, else a system in w alone, or in more where there are many unknowns.

    Where branches of motion cross at the start, the system in w has the mass matrix, which says along which of them the
    loads drive most. Where a freedom moves no mass (not `all_heavy`), it is that in w, too: the factorisation of A
    notices it and says which, while the recursion would go on with what rounding errors leave. It is also the one that
    runtimes complete where constraints are redundant, at each position in another way (templates/runtime/redundancy.c).
    """
    vectors, constraints = formulation.vectors, formulation.constraints
    if all_heavy and vectors.v.numel() >= RECURSIVE_FROM and not constraints.names:
        function = articulated_body.accelerations(formulation.values, vectors.arguments, formulation.parameters.resolve)
        if function is not None:
            return Recursive(vectors.a, function)
    if is_singular or constraints.choice.redundancies:
        return Direct.of(formulation)
    if vectors.v.numel() + len(constraints.kept) >= SPARSE_FROM:
        found = Sparse.of(formulation)
        if found is not None:
            return found
    return Direct.of(formulation).with_pivots(formulation)


def pattern(expression: ca.SX, of: ca.SX) -> list[set[int]]:
    """Per element of an expression, the symbols (by number) that it depends on."""
    if not expression.numel() or not of.numel():
        return [set() for _ in range(expression.numel())]
    return rows_of(ca.jacobian_sparsity(expression, of))


def rows_of(sparsity: ca.Sparsity) -> list[set[int]]:
    """Per row of a matrix, the columns in which it has an entry."""
    turned = sparsity.T
    columns, starts = turned.row(), turned.colind()
    return [set(columns[i:j]) for i, j in itertools.pairwise(starts)]


def independent_blocks(matrix: ca.Sparsity) -> tuple[tuple[int, ...], ...]:
    """Sets of unknowns whose equations do not touch each other."""
    count, order, offsets = (matrix + matrix.T).scc() if matrix.size1() else (0, [], [0])
    return tuple(sorted(tuple(sorted(order[offsets[k] : offsets[k + 1]])) for k in range(count)))
