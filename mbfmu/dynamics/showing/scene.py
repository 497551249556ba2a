"""The scene of a system: what its components draw (mbfmu.dynamics.showing.drawing), by names of variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca

from mbfmu.dynamics.showing.drawing import ATTRIBUTES, VECTOR_ATTRIBUTES, is_file, is_scenery
from mbfmu.dynamics.showing.drawn import Drawn
from mbfmu.modeling.component import Component
from mbfmu.modeling.names import joined
from mbfmu.runtime.variables import ScalarVariable

#: A number, or the name of the variable that has it.
Quantity = float | str


@dataclasses.dataclass(frozen=True)
class Shape:
    """One shape of a scene, in Modelica's terms: each attribute is a tuple of numbers and names of variables.

    The shape's origin lies at r + T' r_shape in the world; T (column by column, as CasADi stacks it) rotates world
    coordinates into those of the frame in which all vectors are resolved. It extends from its origin over `length`
    along lengthDirection, and over `width` and `height` to both sides.
    """

    component: str
    kind: str
    name: str
    type: str
    r: tuple[Quantity, ...]
    T: tuple[Quantity, ...]
    r_shape: tuple[Quantity, ...]
    lengthDirection: tuple[Quantity, ...]
    widthDirection: tuple[Quantity, ...]
    length: tuple[Quantity, ...]
    width: tuple[Quantity, ...]
    height: tuple[Quantity, ...]
    color: tuple[Quantity, ...]
    specularCoefficient: tuple[Quantity, ...]
    extra: tuple[Quantity, ...]

    @property
    def is_file(self) -> bool:
        """True where the type is the name of a file."""
        return is_file(self.type)

    @property
    def ident(self) -> str:
        """Its name in the model."""
        return joined(self.component, self.name)

    @property
    def quantities(self) -> Mapping[str, tuple[Quantity, ...]]:
        """All attributes that are numbers, by name."""
        return {name: getattr(self, name) for name in (*ATTRIBUTES, "extra")}


@dataclasses.dataclass(frozen=True)
class Vector:
    """A vector that an arrow shows (Visualizers.Advanced.Vector): tools that scale vectors themselves take it.

    It starts, or with headAtOrigin ends, at r in the world; its coordinates, in the unit of its quantity, are resolved
    in the frame that T rotates to, as in a Shape.
    """

    component: str
    name: str
    #: Names of the component's shapes that show it, scaled to lengths.
    shapes: tuple[str, ...]
    #: One of VECTOR_QUANTITIES.
    quantity: str
    headAtOrigin: bool
    twoHeadedArrow: bool
    r: tuple[Quantity, ...]
    T: tuple[Quantity, ...]
    coordinates: tuple[Quantity, ...]
    color: tuple[Quantity, ...]
    specularCoefficient: tuple[Quantity, ...]

    @property
    def ident(self) -> str:
        """Its name in the model."""
        return joined(self.component, self.name)

    @property
    def shown_by(self) -> tuple[str, ...]:
        """Names in the model of the shapes that show it."""
        return tuple(joined(self.component, name) for name in self.shapes)

    @property
    def quantities(self) -> Mapping[str, tuple[Quantity, ...]]:
        """All attributes that are numbers, by name."""
        return {name: getattr(self, name) for name in VECTOR_ATTRIBUTES}


@dataclasses.dataclass(frozen=True)
class Scene:
    """All shapes of a system, and the direction that points up: against the World's n, else along y."""

    shapes: tuple[Shape, ...]
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
    #: True where things fall: gravity is uniform, and there is some.
    falls: bool = False
    #: Where files of shapes may stand: beside the model, beside its components, and here.
    folders: tuple[str, ...] = ()
    #: What some of the shapes stand for.
    vectors: tuple[Vector, ...] = ()

    @property
    def idents(self) -> set[str]:
        """Names in the model of shapes and vectors."""
        return {shape.ident for shape in self.shapes} | {vector.ident for vector in self.vectors}

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables that the shapes follow, each once."""
        return tuple(
            dict.fromkeys(
                q for s in self.shapes for values in s.quantities.values() for q in values if isinstance(q, str)
            )
        )


def placed(drawn: Drawn, variables: Sequence[ScalarVariable]) -> tuple[Scene, tuple[ScalarVariable, ...]]:
    """The scene by names of variables, and the variables without those of shapes that another one already has."""
    by_name = {variable.name: variable for variable in variables}
    own = {joined(path, entry.name) for path, entries in drawn.entries.items() for entry in entries}
    of_place = {(v.store, v.index): v.name for v in reversed(variables) if v.name not in own}
    needed: set[str] = set()

    def quantity(name: str, scalar: ca.SX) -> Quantity:
        if scalar.is_constant():
            return float(scalar)
        variable = by_name[name]
        if variable.store == "constant":
            return float(variable.start or 0.0)
        other = of_place.setdefault((variable.store, variable.index), name)
        needed.add(other)
        return other

    shapes, vectors = [], []
    for (path, sketch), attributes in zip(drawn.sketches, drawn.attributes, strict=True):
        values: dict[str, Any] = {
            key: tuple(quantity(joined(path, name), scalar) for name, _, scalar in scalars)
            for key, scalars in attributes.items()
        }
        if sketch.vector is None:
            shapes.append(Shape(path, _kind(sketch.component), sketch.name, sketch.type, **values))
        else:
            vectors.append(Vector(path, sketch.name, **sketch.vector, **values))
    kept = tuple(v for v in variables if v.name not in own or v.name in needed)
    return Scene(tuple(shapes), drawn.up, drawn.falls, drawn.folders, tuple(vectors)), kept


def _kind(component: Component) -> str:
    """Package of the library that the component's class, or the nearest class above it, is from: Joints, Parts ...

    Of scenery, World.
    """
    if is_scenery(component):
        return "World"
    for cls in type(component).__mro__:
        name = getattr(cls, "modelica_name", None)
        if name:
            parts = str(name).split(".")
            return parts[1] if len(parts) > 2 else parts[-1]
    return "Own"
