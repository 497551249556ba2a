"""Fast calls of the contract's functions: all share one set of vectors and write into fixed memory.

`Function.buffer()` of CasADi costs 0.1 us to 3 us a call where `function(...)` costs 45 us and more, because nothing is
converted or allocated (CasADi, "Function.buffer").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .equations import Equations
from .linear import BlockSolver

Vector = np.ndarray

#: Arguments of each function, by the names of the vectors in `Workspace`.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "derived": ("p",),
    "guess": ("P",),
    "initial": ("t", "X", "u", "P", "m"),
    "dynamics": ("t", "x", "u", "P", "m"),
    "derivatives": ("t", "x", "u", "P", "m", "w"),
    "displacement": ("t", "x", "P", "dv"),
    "constraints": ("t", "x", "u", "P", "m"),
    "redundant": ("t", "x", "u", "P", "m"),
    "times": ("P",),
    "crossings": ("t", "x", "u", "P", "m", "w"),
    "variables": ("t", "x", "u", "P", "m", "w"),
    "assertions": ("t", "x", "u", "P", "m", "w"),
}

#: Results that are matrices, by function and position; all others are vectors.
MATRICES = {("initial", 1), ("dynamics", 0), ("constraints", 2)}


class Workspace:
    """The vectors of the contract and its functions, bound to each other.

    Write the vectors in place (`workspace.x[:] = ...`), call a function, read the arrays it returns before it is called
    again. A workspace belongs to one thread and holds no state of its own: whoever uses it sets all vectors first.
    """

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.t = np.zeros(1)
        self.x = np.zeros(equations.nx)
        self.u = np.zeros(equations.nu)
        self.P = np.zeros(equations.npar + equations.nd)
        self.p = self.P[: equations.npar]
        self.m = np.zeros(equations.nm)
        self.w = np.zeros(equations.nw)
        self.dv = np.zeros(equations.nv)
        self.X = np.zeros(equations.nX)
        self._solver = BlockSolver(equations.blocks, equations.nw)
        self._derived = self._bind("derived")
        self._guess = self._bind("guess")
        self._initial = self._bind("initial")
        self._dynamics = self._bind("dynamics")
        self._derivatives = self._bind("derivatives")
        self._displacement = self._bind("displacement")
        self._constraints = self._bind("constraints")
        self._redundant = self._bind("redundant")
        self._times = self._bind("times")
        self._crossings = self._bind("crossings")
        self._variables = self._bind("variables")
        self._assertions = self._bind("assertions")
        #: Whether crossings and assertions depend on w, so that it has to be solved for first.
        self.crossings_need_w = equations.crossings_need_w
        self.assertions_need_w = equations.assertions_need_w

    def _bind(self, name: str) -> Callable[[], list[np.ndarray]]:
        """Return a call of function `name` on this workspace's vectors."""
        function = self.equations.functions[name]
        arguments = [getattr(self, argument) for argument in ARGUMENTS[name]]
        if function.n_in() != len(arguments):
            raise ValueError(f"function '{name}' takes {function.n_in()} arguments, not {len(arguments)}")
        buffer: Any
        buffer, evaluate = function.buffer()
        for i, (argument, vector) in enumerate(zip(ARGUMENTS[name], arguments, strict=True)):
            if function.nnz_in(i) != vector.size:
                sizes = f"{function.nnz_in(i)} entries, not {vector.size}"
                raise ValueError(f"function '{name}': argument {argument} has {sizes}")
            buffer.set_arg(i, memoryview(vector))
        results = []
        for i in range(function.n_out()):
            if not function.sparsity_out(i).is_dense():
                raise ValueError(f"function '{name}': result {i} is not dense")
            memory: Any = np.zeros(function.nnz_out(i))
            buffer.set_res(i, memoryview(memory))
            matrix = (name, i) in MATRICES
            results.append(memory.reshape(function.size_out(i), order="F") if matrix else memory)

        def call(_keep_alive: object = buffer) -> list[np.ndarray]:
            evaluate()
            return results

        return call

    def set_parameters(self, p: Vector) -> None:
        """Set p [npar] and derive d from it."""
        self.p[:] = p
        self.P[self.p.size :] = self._derived()[0]

    def set_point(self, t: float, x: Vector, u: Vector, P: Vector, m: Vector) -> None:
        """Set everything that the values at one instant depend on."""
        self.t[0] = t
        self.x[:] = x
        self.u[:] = u
        self.P[:] = P
        self.m[:] = m

    def guess(self) -> Vector:
        """Start values of the unknowns of initialisation, [nX], as a fresh array."""
        return self._guess()[0].copy()

    def initial(self) -> tuple[Vector, np.ndarray]:
        """Residuals [nr] and Jacobian [nr x nX] of initialisation at X."""
        r, J = self._initial()
        return r, J

    def dynamics(self) -> tuple[np.ndarray, Vector]:
        """Matrix A [nw x nw] and right side b [nw] of the accelerations and multipliers at the present point.

        Where the equations are explicit, A is empty and b is the solution.
        """
        A, b = self._dynamics()
        return A, b

    def solve(self) -> Vector:
        """Solve A w = b at the present point into `w` [nw]; NaN where A is singular."""
        A, b = self.dynamics()
        if self.equations.explicit:
            self.w[:] = b
        else:
            self._solver.solve(A, b, self.w)
        return self.w

    def derivatives(self) -> Vector:
        """dx/dt [nx] at the present point and w, as a fresh array."""
        return self._derivatives()[0].copy()

    def rhs(self, t: float, x: Vector) -> Vector:
        """dx/dt [nx] at (t, x), as a fresh array; leaves t, x and w at that point."""
        self.t[0] = t
        self.x[:] = x
        self.solve()
        return self.derivatives()

    def displacement(self, dv: Vector) -> Vector:
        """N(q) dv [nq]: the change of q that belongs to the displacement dv [nv]."""
        self.dv[:] = dv
        return self._displacement()[0]

    def constraints(self) -> tuple[Vector, Vector, np.ndarray]:
        """Position residuals [ng], velocity residuals [nl] and their Jacobian [nl x nv]."""
        g, c, G = self._constraints()
        return g, c, G

    def redundant(self) -> Vector:
        """Residuals of dropped position rows [ne]."""
        return self._redundant()[0]

    def times(self) -> Vector:
        """Instants [nt] where something jumps or kinks in time."""
        return self._times()[0]

    def crossings(self) -> Vector:
        """Crossing functions [nm] at the present point and w."""
        return self._crossings()[0]

    def variables(self) -> Vector:
        """Values of the store y [ny] at the present point and w."""
        return self._variables()[0]

    def assertions(self) -> Vector:
        """Values [nh] that must not be negative, at the present point and w."""
        return self._assertions()[0]
