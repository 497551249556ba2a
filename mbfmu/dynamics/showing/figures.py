"""Figures of an assembly, as curves of its scalar variables."""

from __future__ import annotations

from collections.abc import Sequence

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
    types = {variable.name: variable.type for variable in variables}
    figures = []
    for title, asked in assembly.figures.items():
        curves = []
        for legend, reference in asked.curves:
            path = reference.path
            names = [path] if path in types else [name for name in types if name.startswith(f"{path}[")]
            if not names:
                raise ModelError(f"figure {title}: there is no variable {path}; {suggestion(path, types)}")
            if types[names[0]] == "String":
                raise ModelError(f"figure {title}: {path} is a text; draw a number")
            curves += [Curve(name, legend and legend + name[len(path) :]) for name in names]
        figures.append(Figure(title, tuple(curves), asked.caption))
    return tuple(figures)
