"""Which equation gives which unknown, and where there are too many of the ones or of the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from mbfmu.dynamics.structure.quantities import ImpliedSignal
from mbfmu.modeling.formulas import Quantity


def matching(sought: Sequence[Quantity], knows: Mapping[Quantity, Sequence[Quantity]]) -> dict[Quantity, Quantity]:
    """Unknown -> the one whose equation gives it: as many as there can be, each by its own where that knows it.

    Implied signals come last: where equations are too few without derivatives, they are what is left.
    """
    known_by: dict[Quantity, list[Quantity]] = {quantity: [] for quantity in sought}
    for equation, unknowns in knows.items():
        for unknown in unknowns:
            known_by[unknown].append(equation)
    giver: dict[Quantity, Quantity] = {}
    taken: dict[Quantity, Quantity] = {}

    def give(unknown: Quantity, equation: Quantity) -> None:
        giver[unknown], taken[equation] = equation, unknown

    def augment(start: Quantity) -> None:
        """Find an unknown an equation, along a path of others that may change theirs."""
        came_from: dict[Quantity, Quantity] = {}
        queue = [start]
        for unknown in queue:
            for equation in known_by[unknown]:
                if equation in came_from:
                    continue
                came_from[equation] = unknown
                if equation in taken:
                    queue.append(taken[equation])
                    continue
                while True:  # hand the equations of the path on
                    unknown = came_from[equation]
                    before = giver.get(unknown)
                    give(unknown, equation)
                    if before is None:
                        return
                    equation = before

    for implied in (False, True):
        group = [quantity for quantity in sought if isinstance(quantity, ImpliedSignal) is implied]
        for quantity in group:
            if quantity in knows[quantity] and quantity not in taken:
                give(quantity, quantity)
        for quantity in group:
            if quantity not in giver:
                augment(quantity)
    return giver


@dataclasses.dataclass(frozen=True)
class Surplus:
    """Where unknowns and equations do not go together: the parts of Dulmage and Mendelsohn (Canadian Journal of
    Mathematics 10 (1958), 517-534) with too many of the ones and of the others. Implied signals take no part."""

    #: Unknowns that stand in fewer equations, and these.
    unknowns: tuple[Quantity, ...]
    few_equations: tuple[Quantity, ...]
    #: Equations that know fewer unknowns, by the quantities that they belong to, and these.
    equations: tuple[Quantity, ...]
    few_unknowns: tuple[Quantity, ...]
    #: Unknowns that a matching leaves without an equation.
    left: tuple[Quantity, ...]

    @classmethod
    def of(cls, knows: Mapping[Quantity, Sequence[Quantity]], matched: Mapping[Quantity, Quantity]) -> Surplus:
        """The parts of a greatest matching.

        Args:
            knows: equation, by the quantity that it belongs to -> the unknowns that it knows.
            matched: unknown -> the equation that gives it.
        """
        known_by: dict[Quantity, list[Quantity]] = {}
        for equation, unknowns in knows.items():
            for unknown in unknowns:
                known_by.setdefault(unknown, []).append(equation)
        gives = {equation: unknown for unknown, equation in matched.items()}
        networks = [quantity for quantity in knows if not isinstance(quantity, ImpliedSignal)]
        left = [quantity for quantity in networks if quantity not in matched]
        unused = [quantity for quantity in networks if quantity not in gives]
        unknowns, few_equations = _along(left, known_by, gives)
        equations, few_unknowns = _along(unused, knows, matched)
        return cls(unknowns, few_equations, equations, few_unknowns, tuple(left))


def _along(
    begin: Iterable[Quantity], ahead: Mapping[Quantity, Sequence[Quantity]], back: Mapping[Quantity, Quantity]
) -> tuple[tuple[Quantity, ...], tuple[Quantity, ...]]:
    """What alternating paths of a matching reach from some unknowns (or equations): such, and equations (unknowns)."""
    near, far = dict.fromkeys(begin), dict[Quantity, None]()
    queue = list(near)
    for one in queue:
        for other in ahead.get(one, ()):
            if other not in far:
                far[other] = None
                following = back.get(other)
                if following is not None and following not in near:
                    near[following] = None
                    queue.append(following)
    return tuple(near), tuple(far)
