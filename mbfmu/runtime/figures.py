"""Figures that a model proposes: which variables are worth drawing together."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping


@dataclasses.dataclass(frozen=True)
class Curve:
    """A variable over time, and what the legend calls it."""

    name: str
    legend: str = ""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A title, and curves that are drawn together, on one axis per unit."""

    title: str
    curves: tuple[Curve, ...]
    caption: str = ""

    def axes(self, units: Mapping[str, str]) -> dict[str, list[Curve]]:
        """Curves by unit, which is `""` where there is none."""
        found: dict[str, list[Curve]] = {}
        for curve in self.curves:
            found.setdefault(units.get(curve.name, ""), []).append(curve)
        return found


def drawable(figures: Iterable[Figure], known: Collection[str]) -> tuple[Figure, ...]:
    """What is left of figures where only some variables are known; those without curves are left out."""
    kept = (dataclasses.replace(f, curves=tuple(c for c in f.curves if c.name in known)) for f in figures)
    return tuple(figure for figure in kept if figure.curves)
