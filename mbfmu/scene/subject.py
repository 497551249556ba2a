"""What an animation takes of a model: a System with a scene has it, and so has an FMU of ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol

from mbfmu.dynamics.showing.scene import Scene, Shape
from mbfmu.modeling.names import joined
from mbfmu.runtime.variables import ScalarVariable


class Subject(Protocol):
    """A model that can be seen."""

    @property
    def name(self) -> str:
        """Name of the model."""

    @property
    def description(self) -> str:
        """One sentence."""

    @property
    def components(self) -> tuple[tuple[str, str, str], ...]:
        """(path, class name, description) of every component."""

    @property
    def variables(self) -> tuple[ScalarVariable, ...]:
        """All that can be seen."""

    @property
    def scene(self) -> Scene | None:
        """Its shapes, where it has any."""


@dataclasses.dataclass(frozen=True)
class Described:
    """A Subject that was read from a file."""

    name: str
    description: str
    components: tuple[tuple[str, str, str], ...]
    variables: tuple[ScalarVariable, ...]
    scene: Scene | None


def together(name: str, subjects: Mapping[str, Described]) -> Described:
    """Several as one, seen in one world: names of variables and components begin with those of the elements."""

    def moved(shape: Shape, element: str) -> Shape:
        quantities: dict[str, Any] = {
            key: tuple(f"{element}.{q}" if isinstance(q, str) else q for q in given)
            for key, given in shape.quantities.items()
        }
        return dataclasses.replace(shape, component=joined(element, shape.component), **quantities)

    shapes: list[Shape] = []
    folders: list[str] = []
    up, falls = (0.0, 1.0, 0.0), False
    for element, subject in subjects.items():
        if subject.scene is not None:
            shapes += [moved(shape, element) for shape in subject.scene.shapes]
            folders += subject.scene.folders
            up, falls = subject.scene.up, falls or subject.scene.falls
    components = tuple(
        (f"{element}.{path}" if path else element, kind, text)
        for element, subject in subjects.items()
        for path, kind, text in subject.components
    )
    variables = tuple(
        dataclasses.replace(v, name=f"{element}.{v.name}", element=None)
        for element, subject in subjects.items()
        for v in subject.variables
    )
    return Described(name, "", components, variables, Scene(tuple(shapes), up, falls, tuple(folders)))


def result_variables(subject: Subject) -> list[ScalarVariable]:
    """The variables of a run that can be plotted: what changes, without connectors; outputs and states first."""
    scene = subject.scene.idents if subject.scene else set()
    paths = {path for path, *_ in subject.components} | {""}
    found = [
        v
        for v in subject.variables
        if v.type == "Real"
        and v.causality in ("local", "output", "input")
        and v.variability == "continuous"
        and v.name.rpartition(".")[0] in paths
        and v.name.rpartition(".")[0] not in scene
    ]
    return sorted(found, key=lambda v: {"output": 0, "input": 1}.get(v.causality, 2 if v.store == "x" else 3))
