"""Iterations: what runtimes solve for by Newton's method, as blocks of residuals and unknowns."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import casadi as ca

from mbfmu.dynamics.columns import elements, stacked
from mbfmu.dynamics.expressions.constraints import Constraints, Rows
from mbfmu.dynamics.expressions.equations_of_motion import Motion
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.starts import Starts
from mbfmu.dynamics.expressions.values import Iteration, Values


@dataclasses.dataclass(frozen=True)
class Iterations:
    """Iteration variables, the equations that give them, and where the search for them begins."""

    symbols: ca.SX
    #: Zero for the right values.
    residual: ca.SX
    #: Sizes of the blocks, in whose order they are solved.
    blocks: tuple[int, ...]
    names: tuple[str, ...]
    nominals: tuple[float, ...]
    #: In parameters.
    guess: ca.SX

    @classmethod
    def of(cls, values: Values, starts: Starts, parameters: Parameters, constraints: Constraints) -> Iterations:
        """All that the values leave to iterations."""
        owners = [starts.owner_of(symbol) for symbol in elements(values.iterated)]
        guesses = [guess for iteration in values.iterations for guess in iteration.guesses]
        guess = stacked(ca.SX(g) if o is None else o.start for o, g in zip(owners, guesses, strict=True))
        residual, guess = parameters.resolve([stacked(i.residual for i in values.iterations), guess])
        (residual,) = constraints.without_dropped([residual])
        return cls(
            values.iterated,
            residual,
            tuple(_sizes(values, constraints)),
            tuple(name for iteration in values.iterations for name in iteration.names),
            tuple(nominal for iteration in values.iterations for nominal in iteration.nominals),
            guess,
        )

    @property
    def slope(self) -> ca.SX:
        """Derivatives of the residuals with respect to the variables, all else held."""
        return ca.jacobian(self.residual, self.symbols)


def _sizes(values: Values, constraints: Constraints) -> list[int]:
    """Sizes of the blocks. Those from the first on whose residual knows accelerations are one: these know them all."""
    sizes: list[int] = []
    w = stacked([*values.unknowns.a.values(), *values.unknowns.multipliers.values()])
    is_joined = False
    for iteration in values.iterations:
        (residual,) = constraints.without_dropped([iteration.residual])
        if is_joined:
            sizes[-1] += iteration.symbols.numel()
        else:
            sizes.append(iteration.symbols.numel())
            is_joined = bool(w.numel()) and ca.depends_on(residual, w)
    return sizes


def linearised(values: Values, motion: Motion, rows: Sequence[Rows]) -> tuple[Values, Motion, list[Rows]]:
    """Equations of motion that are linear in accelerations and constraint forces, by iterating those that are not.

    Around a value s of an unknown w that the equations know otherwise than linearly, they are R(s) + R'(s) (w - s) = 0;
    the iteration for s is that of Newton: s = w.
    """
    unknowns = stacked([*values.unknowns.a.values(), *(r.multipliers for r in rows)])
    equations = [motion.balances, *(r.acceleration for r in rows)]
    column = stacked(equations)
    if not unknowns.numel() or not column.numel():
        return values, motion, list(rows)
    curved = [i for i, does in enumerate(ca.which_depends(column, unknowns, 2, False)) if does]
    if not curved:
        return values, motion, list(rows)
    w = stacked(unknowns[i] for i in curved)
    s = stacked(ca.SX.sym(f"{symbol} of a nonlinear loop") for symbol in elements(w))
    slope = ca.jacobian(column, w)
    column, slope = ca.substitute([column, slope], [w], [s])
    column += slope @ (w - s)
    sizes, at, parts = [part.numel() for part in equations], 0, []
    for size in sizes:
        parts.append(column[at : at + size])
        at += size
    names = tuple(str(symbol) for symbol in elements(w))
    iteration = Iteration((), names, (1.0,) * len(names), (0.0,) * len(names), s, s - w, ())
    balances, *accelerations = parts
    return (
        dataclasses.replace(values, iterations=(*values.iterations, iteration)),
        dataclasses.replace(motion, balances=balances),
        [dataclasses.replace(r, acceleration=a) for r, a in zip(rows, accelerations, strict=True)],
    )
