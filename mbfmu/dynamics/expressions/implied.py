"""Signals that nothing computes, because a condition on others implies them (an inverse model).

A condition that knows a signal without derivatives gives it, as any equation
(mbfmu.dynamics.structure.equation_graph). Others are differentiated until their signal has an effect: through the
rates of states, or through accelerations. The condition and the derivatives before that one hold between states
alone, and are kept as constraints are, with the signal in place of a force; states of blocks among them are *bound*:
speeds in the sense of the contract, so that projection moves them, too.
"""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import elements, stacked, which_depend
from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.structure.elimination import sampled, solve
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.errors import ModelError
from mbfmu.messages import of
from mbfmu.modeling import leaves

#: An effect that is smaller than this, relative to what adds up to it, is none.
TOLERANCE = 1e-9


def _name(own: Own) -> str:
    assert isinstance(own.leaf, leaves.Implied)
    return of(f"condition {own.leaf.index + 1}", own.path)


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition between states, and its derivatives as far as these are, too; the next one knows the signal."""

    owner: Own
    signal: ca.SX
    between_states: tuple[ca.SX, ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return _name(self.owner)


class ImpliedSignals:
    """The implied signals of a system whose conditions are not solved for them.

    `residual` is zero for the right accelerations and multipliers, `unknown`; they follow from it but for the signals.
    """

    def __init__(self, values: Values, residual: ca.SX, unknown: ca.SX) -> None:
        self._values, self._residual, self._unknown = values, residual, unknown
        unknowns = values.unknowns
        self._signals = [signal.own for signal in values.graph.open_signals if signal.own in unknowns.multipliers]
        self._all = stacked(unknowns.own[own] for own in self._signals)
        self._without_rate = stacked([values.inputs.u, *unknowns.delayed.values()])
        self._moved = self._states_moved() if self._signals else ca.SX(0, 1)
        self.conditions = [self._differentiated(own) for own in self._signals]

    @property
    def to_bind(self) -> set[tuple[str, leaves.Leaf]]:
        """States of blocks that conditions know, and signals that a condition knows through accelerations only."""
        known = stacked(level for condition in self.conditions for level in condition.between_states)
        states = {(c.owner.path, c.owner.leaf) for c in self.conditions if not c.between_states}
        for own, symbol in self._values.unknowns.z.items():
            moved = stacked(element for element in elements(symbol) if ca.depends_on(self._moved, element))
            if moved.numel() and ca.depends_on(known, moved):
                states.add((own.path, own.leaf))
        return states

    def _differentiated(self, own: Own) -> Condition:
        """The condition of a signal, with its derivatives."""
        values = self._values
        found = Condition(own, values.unknowns.own[own], ())
        level = values.condition_of(own)
        most = sum(symbol.numel() for group in (values.unknowns.v, values.unknowns.z) for symbol in group.values())
        levels: list[ca.SX] = []
        while not self._has_effect(level):
            level = self._without_accelerations(level)
            if not ca.depends_on(level, self._moved) or len(levels) > 2 * most:
                raise ModelError(
                    f"{found.name}: nothing that the signal acts on has an effect on the condition; connect the block "
                    "whose input is sought"
                )
            if ca.depends_on(level, self._without_rate):
                raise ModelError(
                    f"{found.name}: the signal follows from the derivative of an FMU input or a delayed signal, which "
                    "has none; feed it through a filter, such as a CriticalDamping block"
                )
            levels.append(level)
            level = values.total_derivative(level)
        return dataclasses.replace(found, between_states=tuple(levels))

    def _states_moved(self) -> ca.SX:
        """The signals, and the states that they act on at once or through other ones."""
        unknowns, rates = self._values.unknowns, self._values.state_rates
        states = elements(stacked(unknowns.z.values()))
        moved, count = self._all, 0
        while moved.numel() > count:
            count, found = moved.numel(), [self._all]
            reached = set(which_depend(rates, moved))
            if ca.depends_on(self._residual, moved):
                reached.update(which_depend(rates, self._unknown))
                found += [*unknowns.q.values(), *unknowns.v.values()]
            moved = stacked([*found, *(states[i] for i in sorted(reached))])
        return moved

    # -- accelerations that follow without the signals

    def _has_effect(self, level: ca.SX) -> bool:
        """True where a signal has an effect on an expression, at once or through accelerations."""
        if ca.depends_on(level, self._all):
            return True
        if not self._unknown.numel() or not ca.depends_on(level, self._unknown):
            return False
        columns = [ca.jacobian(self._residual, of) for of in (self._unknown, self._all)]
        A, B, C = sampled([*columns, ca.jacobian(level, self._unknown)])
        if not all(np.isfinite(matrix).all() for matrix in (A, B, C)):
            return True
        through = np.linalg.lstsq(A, B, rcond=None)[0]
        return bool((np.abs(C @ through) > TOLERANCE * (np.abs(C) @ np.abs(through))).any())

    def _without_accelerations(self, level: ca.SX) -> ca.SX:
        """An expression on which no signal acts, with accelerations as what they follow from."""
        if not self._unknown.numel() or not ca.depends_on(level, self._unknown):
            return level
        A = ca.jacobian(self._residual, self._unknown)
        part = _closure(A, set(which_depend(self._unknown, stacked(ca.symvar(level)))))
        sought = stacked(self._unknown[i] for i in part)
        rows = stacked(self._residual[i] for i in part)
        constant = ca.substitute(rows, ca.vertcat(sought, self._all), ca.SX.zeros(sought.numel() + self._all.numel()))
        return ca.substitute(level, sought, solve(ca.jacobian(rows, sought), -constant))


def _closure(A: ca.SX, wanted: set[int]) -> list[int]:
    """Unknowns that some of them are found together with: row i counts as the equation of unknown i."""
    count, order, offsets = (A.sparsity() + A.sparsity().T).scc()
    blocks = (order[offsets[k] : offsets[k + 1]] for k in range(count))
    return sorted(i for block in blocks if wanted.intersection(block) for i in block)
