"""Accelerations and multipliers w from A w = b in w alone, dense or with pivots."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.columns import pattern
from mbfmu.dynamics.expressions.constraints import chosen
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.solving.pivots import pivots
from mbfmu.dynamics.solving.sparse_system import samples
from mbfmu.runtime.cse import cse

#: Share of A that may be other than zero where it is kept as sparse: beyond, factors fill up.
FULL = 0.75


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
        residual = ca.vertcat(formulation.balances, chosen(constraints.acceleration, constraints.kept))
        (residual,) = constraints.without_dropped([residual])
        A = ca.jacobian(residual, w)
        b = -ca.substitute(residual, w, ca.SX.zeros(w.numel()))
        blocks = independent_blocks(A.sparsity())
        A, b = ca.sparsify(A), ca.densify(b)
        A, b = cse([A, b])
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


def independent_blocks(matrix: ca.Sparsity) -> tuple[tuple[int, ...], ...]:
    """Sets of unknowns whose equations do not touch each other."""
    count, order, offsets = (matrix + matrix.T).scc() if matrix.size1() else (0, [], [0])
    return tuple(sorted(tuple(sorted(order[offsets[k] : offsets[k + 1]])) for k in range(count)))
