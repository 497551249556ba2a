"""Formulas: how a value follows from quantities of a system, said before any of these has a value.

What a leaf is in a system, or what flows through a connector, is a formula. So it can be asked what it needs, and the
order in which values are made follows from that (mbfmu.dynamics.structure.equation_graph).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import casadi as ca

from mbfmu.frozen import quickly_made


class Quantity:
    """Base of what has a value in a system, such as the position of a frame (mbfmu.dynamics.structure.quantities).

    What it is asked is asked by its system's structure (mbfmu.dynamics.structure.structure).
    """

    #: True where no formula gives it, but an equation.
    is_sought: ClassVar[bool] = False

    def formula(self, structure: Any) -> Formula:
        """How it follows from others; of what is sought, the equation that belongs to it: zero for the right value."""
        raise NotImplementedError

    def name(self, structure: Any) -> str:
        """What messages call it."""
        raise NotImplementedError

    def equation(self, structure: Any) -> str:
        """What messages call the equation that belongs to what is sought."""
        raise NotImplementedError

    def shape(self, structure: Any) -> tuple[int, int] | None:
        """Rows and columns, as far as they are known before it has a value."""
        return None

    def nominal(self, structure: Any) -> float:
        """What counts as 1 of it."""
        return 1.0

    def guess(self, structure: Any) -> float:
        """Where a search for it begins, unless a start value says."""
        return 0.0


def _itself(value: Any) -> Any:
    return value


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Formula:
    """The quantities that a value needs, and what makes it of theirs."""

    needs: tuple[Quantity, ...]
    make: Callable[..., Any]

    @classmethod
    def of(cls, quantity: Quantity) -> Formula:
        """The value of a quantity as it is."""
        return cls((quantity,), _itself)

    @classmethod
    def constant(cls, value: Any) -> Formula:
        """A value that needs nothing."""
        return cls((), lambda: value)

    @classmethod
    def combined(cls, function: Callable[..., Any], *parts: Formula) -> Formula:
        """What a function makes of the values of other formulas."""
        needs = tuple(itertools.chain.from_iterable(part.needs for part in parts))
        if all(part.make is _itself for part in parts):
            return cls(needs, function)
        ends = list(itertools.accumulate((len(part.needs) for part in parts), initial=0))

        def make(*values: Any) -> Any:
            return function(
                *(part.make(*values[begin:end]) for part, begin, end in zip(parts, ends, ends[1:], strict=False))
            )

        return cls(needs, make)

    @classmethod
    def stacked(cls, parts: Sequence[Formula]) -> Formula:
        """Scalars as a column."""
        return parts[0] if len(parts) == 1 else cls.combined(ca.vertcat, *parts)

    def value(self, known: Mapping[Quantity, Any]) -> Any:
        """Its value, with known values of what it needs."""
        return self.make(*map(known.__getitem__, self.needs))


def reached(begin: Iterable[Quantity], needs: Callable[[Quantity], Iterable[Quantity]]) -> tuple[Quantity, ...]:
    """Some quantities and all that they need, directly or through others, each once."""
    found: dict[Quantity, None] = {}
    stack = list(begin)
    while stack:
        one = stack.pop()
        if one not in found:
            found[one] = None
            stack += needs(one)
    return tuple(found)
