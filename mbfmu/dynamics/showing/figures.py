"""Figures of an assembly, as curves of its scalar variables."""

from __future__ import annotations

from collections.abc import Sequence

from mbfmu.arrays import Element, element_name
from mbfmu.errors import ModelError
from mbfmu.messages import suggestion
from mbfmu.modeling.assembly import Assembly
from mbfmu.runtime.figures import Curve, Figure
from mbfmu.runtime.variables import ScalarVariable


def figures_of(assembly: Assembly, variables: Sequence[ScalarVariable]) -> tuple[Figure, ...]:
    """Vectors become curves of their elements.

    Raises:
        ModelError: a figure shows what is no variable, or a text; the message names figure and variable.
    """
    if not assembly.figures:
        return ()
    types = {variable.name: variable.type for variable in variables}
    arrays: dict[str, dict[str, Element | None]] = {}
    for variable in variables:
        if variable.element:
            arrays.setdefault(variable.variable, {})[variable.name] = variable.element
    figures = []
    for title, asked in assembly.figures.items():
        curves = []
        for legend, reference in asked.curves:
            path = reference.path
            found = {path: None} if path in types else arrays.get(path, {})
            if not found:
                raise ModelError(f"figure {title}: there is no variable {path}; {suggestion(path, types)}")
            if types[next(iter(found))] == "String":
                raise ModelError(f"figure {title}: {path} is a text; draw a number")
            curves += [
                Curve(name, element_name(legend, element.indices) if legend and element else legend)
                for name, element in found.items()
            ]
        figures.append(Figure(title, tuple(curves), asked.caption))
    return tuple(figures)
