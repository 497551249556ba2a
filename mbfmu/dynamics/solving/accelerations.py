"""Accelerations and multipliers w of a system: from A w = b, dense or sparse, or by the recursion for trees."""

from __future__ import annotations

from typing import Protocol

import casadi as ca

from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.vectors import Vectors
from mbfmu.dynamics.solving import articulated_body
from mbfmu.dynamics.solving.dense import Direct
from mbfmu.dynamics.solving.recursive import Recursive
from mbfmu.dynamics.solving.sparse_system import Sparse

#: Number of speeds from which on the recursion for trees is quicker than a dense matrix (measured on chains).
RECURSIVE_FROM = 5

#: Number of unknowns w from which on a system with unknowns between neighbours is quicker than one in w alone (measured
#: on chains of four-bars).
SPARSE_FROM = 20


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
