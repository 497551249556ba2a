"""Accelerations w as a function: of a tree without constraints, or where nothing moves."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.columns import rows_of
from mbfmu.dynamics.expressions.vectors import Vectors


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
