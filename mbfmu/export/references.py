"""Value references: the numbers by which an importer addresses variables (FMI 2.0.4, section 2.2.7)."""

from __future__ import annotations

from collections.abc import Sequence

from mbfmu.dynamics.variables import ScalarVariable
from mbfmu.simulation.interface import Record


def value_references(variables: Sequence[ScalarVariable | Record]) -> tuple[int, ...]:
    """Value reference of every variable, parallel to `variables`.

    Each FMI type counts for itself, from 0 in the order of first appearance, so that a reference indexes a dense table.
    Variables of one type and unit with equal (store, index, start_index) are aliases and share a reference; FMI allows
    no aliases of different units. Constants have no storage to share: each owns its reference.
    """
    known: dict[tuple[object, ...], int] = {}
    count: dict[str, int] = {}
    references = []
    for variable in variables:
        # A runtime's record of a variable knows no units.
        unit = variable.unit if isinstance(variable, ScalarVariable) else None
        place: tuple[object, ...] = (variable.type, unit, variable.store, variable.index, variable.start_index)
        if variable.store == "constant":
            place = (variable.type, variable.store, variable.name)
        if place not in known:
            known[place] = count.get(variable.type, 0)
            count[variable.type] = known[place] + 1
        references.append(known[place])
    return tuple(references)
