"""Value references: the numbers by which an importer addresses variables (FMI 2.0.4, section 2.2.7)."""

from __future__ import annotations

from collections.abc import Sequence

from mbfmu.runtime.variables import ScalarVariable


def value_references(variables: Sequence[ScalarVariable]) -> tuple[int, ...]:
    """Value reference of every variable, parallel to `variables`.

    Each FMI type counts for itself, from 0 in the order of first appearance, so that a reference indexes a dense table.
    Variables of one type and unit with equal (store, index, start_index) are aliases and share a reference; FMI allows
    no aliases of different units. Constants have no storage to share: each owns its reference.
    """
    known: dict[tuple[object, ...], int] = {}
    count: dict[str, int] = {}
    references = []
    for v in variables:
        place: tuple[object, ...] = (v.type, v.unit, v.store, v.index, v.start_index)
        if v.store == "constant":
            place = (v.type, v.store, v.name)
        if place not in known:
            known[place] = count.get(v.type, 0)
            count[v.type] = known[place] + 1
        references.append(known[place])
    return tuple(references)
