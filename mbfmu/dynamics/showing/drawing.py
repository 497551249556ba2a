"""Drawing: what the components of a system look like, as expressions of the same arguments as its variables.

`self` in a component's `visualize` is a `Drawing`: declared names give their values in the system, and `draw_shape`,
`draw_arrow`, ... take down shapes after Modelica.Mechanics.MultiBody.Visualizers.Advanced. The numbers of a shape get
places like all that can be seen (mbfmu.dynamics.showing.interface); those that no variable has become variables too.
None of this happens unless a scene is asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.expressions.values import Values
from mbfmu.dynamics.reading.equation_context import (
    Behaviour,
    Facts,
    LocalNames,
    Notes,
    Scope,
    column,
    elements,
    hashes,
    open_scope,
)
from mbfmu.dynamics.reading.flatten import Flat
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.unknowns import stacked
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, null_rotation
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.names import joined
from mbfmu.modeling.types import Dimensionless, Position, VectorQuantity
from mbfmu.runtime.variables import ScalarVariable

#: Length and width of an arrow's head over the diameter of its line (Types.Defaults of the library).
ARROW_HEAD_LENGTH, ARROW_HEAD_WIDTH = 4.0, 3.0
#: The same for the axes of a coordinate system, and the height of their labels.
FRAME_HEAD_LENGTH, FRAME_HEAD_WIDTH, FRAME_LABEL_HEIGHT = 5.0, 3.0, 3.0
#: An arrow shorter than this [m] has no direction.
SHORT = 1e-10

#: Shapes that Modelica knows by name; any other shapeType is the name of a file.
SHAPE_TYPES = ("box", "sphere", "cylinder", "pipecylinder", "cone", "pipe", "beam", "gearwheel", "spring", "capsule")
#: The type of a surface through points. Its `extra` has what SURFACE_FACTS name, then x, y, z [m] of nu * nv points, v
#: running first, and, where multiColored, red, green and blue of each.
SURFACE = "surface"
SURFACE_FACTS = ("nu", "nv", "wireframe", "multiColored", "transparency")

#: Modelica's Types.VectorQuantity, in its order.
VECTOR_QUANTITIES = VectorQuantity.values


def is_file(shape_type: str) -> bool:
    """True where a shape type is neither one of the library nor a surface, but the name of a file."""
    return shape_type not in SHAPE_TYPES and shape_type != SURFACE


#: A number, or the name of the variable that has it.
Quantity = float | str

#: Attributes of a shape with their sizes.
_ATTRIBUTES = {
    "r": 3,
    "T": 9,
    "r_shape": 3,
    "lengthDirection": 3,
    "widthDirection": 3,
    "length": 1,
    "width": 1,
    "height": 1,
    "color": 3,
    "specularCoefficient": 1,
}
#: The same of a vector.
_VECTOR_ATTRIBUTES = {"r": 3, "T": 9, "coordinates": 3, "color": 3, "specularCoefficient": 1}


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
        return {name: getattr(self, name) for name in (*_ATTRIBUTES, "extra")}


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
        return {name: getattr(self, name) for name in _VECTOR_ATTRIBUTES}


@dataclasses.dataclass(frozen=True)
class Scene:
    """All shapes of a system, and the direction that points up: against uniform gravity, else along y."""

    shapes: tuple[Shape, ...]
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
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


@dataclasses.dataclass(frozen=True)
class Sketch:
    """A shape, or with `vector` a vector, whose attributes are still expressions: in leaves, then in their values."""

    component: Component
    name: str
    type: str
    values: Mapping[str, ca.SX]
    #: What else makes a Vector.
    vector: Mapping[str, Any] | None = None


@dataclasses.dataclass(frozen=True)
class Sketches:
    """What a component draws, and the symbols in that."""

    path: str
    shapes: tuple[Sketch, ...]
    names: LocalNames

    def formula(self, structure: Structure) -> Formula:
        """All attributes, one after the other."""
        attributes = [value for sketch in self.shapes for value in sketch.values.values()]
        return structure.locals(self.path, attributes, names=self.names)


class _Leaves(Notes):
    """Stands in for the notes of equations: what is read are the leaves of these, and what they assign."""

    def __init__(self, component: Component, behaviour: Behaviour | None) -> None:
        super().__init__(component)
        self.said = behaviour
        self.shapes: list[Sketch] = []
        if behaviour is not None:
            self.leaves, self.leaf_of = dict(behaviour.leaves), dict(behaviour.leaf_of)

    def assign(self, target: leaves.Target, value: Any) -> ca.SX:
        raise ModelError(
            f"{self.where}: visualize() of {type(self.component).__name__} assigns {target}; only equations do"
        )

    def assigned(self, target: leaves.Target) -> ca.SX:
        if self.said is None:
            raise KeyError(target)
        return self.leaf(leaves.Read(target, self.said.targets[target].shape))


class Drawing(Scope):
    """Mixed into a component's class while it draws: the vocabulary of `visualize`."""

    _notes: _Leaves

    def draw_shape(
        self,
        name: str,
        shapeType: str,
        frame: Any = None,
        *,
        r: Any = None,
        R: Orientation | None = None,
        r_shape: Any = (0, 0, 0),
        lengthDirection: Any = (1, 0, 0),
        widthDirection: Any = (0, 1, 0),
        length: Any,
        width: Any,
        height: Any = None,
        extra: Any = 0.0,
        color: Any = (155, 155, 155),
        specularCoefficient: Any = None,
    ) -> None:
        """Draw a shape (Visualizers.Advanced.Shape).

        Args:
            name: what it is called within the component.
            shapeType: one of SHAPE_TYPES, or the name of a file with a mesh.
            frame: connector in which vectors are resolved, and from whose origin r_shape points; the world where None.
            r, R: position [m] in the world and orientation in place of those of a frame.
            r_shape: vector to the shape's origin [m], (3,).
            lengthDirection, widthDirection: directions, (3,) each; they need no length and no right angle.
            length, width, height: sizes [m] along these and across both; height is the width where None.
            extra: what Modelica's shape takes from it: for a cone the ratio of its ends' diameters, for a pipe that of
                hole and pipe, for a gearwheel the number of teeth, for a spring that of windings. For a file: where
                positive, the sizes are factors of its coordinates, which count as they are otherwise.
            color: red, green and blue, 0 to 255, (3,).
            specularCoefficient: reflection, 0 to 1; the component's own or the World's where None.
        """
        if is_file(shapeType):
            scaled = column(extra) > 0
            length, width, height = (
                ca.if_else(scaled, column(width if size is None else size), 1.0) for size in (length, width, height)
            )
        values = {
            "r_shape": r_shape,
            "lengthDirection": lengthDirection,
            "widthDirection": widthDirection,
            "length": length,
            "width": width,
            "height": width if height is None else height,
            "color": color,
        }
        taken = self._taken(name, values | self._placed(frame, r, R, specularCoefficient), _ATTRIBUTES)
        taken["extra"] = _one_column(extra)
        self._notes.shapes.append(Sketch(self._component, name, shapeType, taken))

    def _placed(self, frame: Any, r: Any, R: Orientation | None, specularCoefficient: Any) -> dict[str, Any]:
        """Where something is, and how it shines."""
        if frame is not None:
            r, R = frame.r_0 if r is None else r, frame.R if R is None else R
        if specularCoefficient is None:
            is_own = "specularCoefficient" in self._component.declarations
            own: Any = self
            specularCoefficient = own.specularCoefficient if is_own else self.world.defaultSpecularCoefficient
        return {
            "r": (0, 0, 0) if r is None else r,
            "T": (null_rotation() if R is None else R).T,
            "specularCoefficient": specularCoefficient,
        }

    def _taken(self, name: str, values: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, ca.SX]:
        taken = {key: _one_column(values[key]) for key in sizes}
        for key, size in sizes.items():
            if taken[key].numel() != size:
                raise ModelError(
                    f"{self._component.where}: the shape {name} has {taken[key].numel()} elements of {key}, "
                    f"expected {size}"
                )
        return taken

    def draw_surface(
        self,
        name: str,
        points: Sequence[Any],
        frame: Any = None,
        *,
        wireframe: Any = False,
        multiColoredSurface: Any = False,
        color: Any = (255, 0, 0),
        transparency: Any = 0.0,
        **attributes: Any,
    ) -> None:
        """Draw the surface through a grid of points (Advanced.Surface).

        Args:
            name: what it is called within the component.
            points: matrices X, Y, Z of coordinates [m], (nu, nv) each, resolved in the frame; where the surface is
                coloured point by point, a fourth: an array (nu, nv, 3) of red, green and blue, 0 to 255, or a sequence
                of these as matrices.
            frame: connector in which they are resolved, the world where None.
            wireframe: lines through the points in place of faces.
            multiColoredSurface: each point has the colour that `points` gives it.
            color: red, green and blue, 0 to 255, (3,), of the whole surface otherwise.
            transparency: 0 (opaque) to 1.
            attributes: r, R and specularCoefficient of draw_shape.

        Raises:
            ModelError: the matrices differ in size, have fewer than two rows or columns, or colours are missing.
        """
        matrices = self._matrices(name, points, bool(multiColoredSurface))
        nu, nv = matrices[0].shape
        # x, y, z of each point, one after the other, v running first
        values = [ca.vec(ca.horzcat(*(ca.vec(m.T) for m in part)).T) for part in (matrices[:3], matrices[3:]) if part]
        facts = [nu, nv, float(bool(wireframe)), float(bool(multiColoredSurface)), transparency]
        extra = ca.vertcat(*(column(fact) for fact in facts), *values)
        self.draw_shape(name, SURFACE, frame, length=1, width=1, extra=extra, color=color, **attributes)

    def _matrices(self, name: str, points: Sequence[Any], coloured: bool) -> list[ca.SX]:
        given = list(points)
        if len(given) == 4 and isinstance(given[3], np.ndarray) and given[3].ndim == 3:
            given[3:] = [given[3][:, :, i] for i in range(given[3].shape[2])]
        elif len(given) == 4 and given[3] is not None:
            given[3:] = list(given[3])
        matrices = [_matrix(m) for m in given[: 6 if coloured else 3]]
        where = f"{self._component.where}: the surface {name}"
        if len(matrices) != (6 if coloured else 3):
            raise ModelError(
                f"{where} has {len(given)} matrices; it takes X, Y, Z" + (", red, green and blue" if coloured else "")
            )
        sizes = sorted({m.shape for m in matrices})
        if len(sizes) > 1 or min(sizes[0]) < 2:
            raise ModelError(
                f"{where} has matrices of {' and '.join(f'{n} x {m}' for n, m in sizes)} numbers; it takes those of "
                "nu x nv points, with nu and nv at least 2"
            )
        return matrices

    def draw_arrow(
        self,
        name: str,
        r_head: Any,
        diameter: Any,
        frame: Any = None,
        *,
        r_tail: Any = (0, 0, 0),
        heads: int = 1,
        headAtOrigin: bool = False,
        quantity: str | None = None,
        coordinates: Any = None,
        **attributes: Any,
    ) -> None:
        """Draw an arrow from r_tail over the vector r_head [m], (3,) each (Advanced.Arrow, with two heads DoubleArrow).

        With `headAtOrigin` it ends at r_tail. A head is never longer than the arrow. An arrow with a `quantity`, one of
        VECTOR_QUANTITIES, is known as a vector to tools that scale vectors themselves (Advanced.Vector): `coordinates`
        are those of what it shows, in the quantity's own unit; r_head where None. `attributes` are those of draw_shape.
        """
        r_head, r_tail = column(r_head), column(r_tail)
        if quantity is not None:
            shapes = (f"{name}Line", *(f"{name}Head{i + 1 if heads > 1 else ''}" for i in range(heads)))
            facts = {"quantity": quantity, "headAtOrigin": headAtOrigin, "twoHeadedArrow": heads == 2}
            shown = r_head if coordinates is None else coordinates
            self._draw_vector(name, shown, frame, r_tail, facts | {"shapes": shapes}, attributes)
        if headAtOrigin:
            r_tail = r_tail - r_head
        size = ca.norm_2(r_head)
        along = ca.if_else(size < SHORT, column((1, 0, 0)), r_head / ca.fmax(size, SHORT))
        in_heads = (1 + heads) / 2  # each head covers half of the one before
        head = ca.fmin(size / in_heads, diameter * ARROW_HEAD_LENGTH)
        wide = diameter * ARROW_HEAD_WIDTH
        line = size - head * in_heads
        common = {"frame": frame, "lengthDirection": along, **attributes}
        self.draw_shape(f"{name}Line", "cylinder", r_shape=r_tail, length=ca.fmax(0, line), width=diameter, **common)
        for i in range(heads):
            self.draw_shape(
                f"{name}Head{i + 1 if heads > 1 else ''}",
                "cone",
                r_shape=r_tail + along * (line + head / 2 * i),
                length=head,
                width=wide,
                **common,
            )

    def _draw_vector(
        self,
        name: str,
        coordinates: Any,
        frame: Any,
        r_tail: ca.SX,
        facts: Mapping[str, Any],
        attributes: Mapping[str, Any],
    ) -> None:
        place = (attributes.get(key) for key in ("r", "R", "specularCoefficient"))
        values = self._placed(frame, *place)
        values["r"] = column(values["r"]) + ca.mtimes(column(values["T"]).T, r_tail)
        values |= {"coordinates": coordinates, "color": attributes.get("color", (155, 155, 155))}
        taken = self._taken(name, values, _VECTOR_ATTRIBUTES)
        self._notes.shapes.append(Sketch(self._component, name, "vector", taken, facts))

    def draw_lines(
        self,
        name: str,
        lines: Iterable[Sequence[Sequence[float]]],
        n_x: Any,
        n_y: Any,
        size: Any,
        diameter: Any,
        frame: Any = None,
        *,
        r_lines: Any = (0, 0, 0),
        **attributes: Any,
    ) -> None:
        """Draw lines given by points of a plane, in units of `size` [m] along the unit vectors n_x and n_y."""
        n_x, n_y, r_lines = column(n_x), column(n_y), column(r_lines)
        for i, ((x0, y0), (x1, y1)) in enumerate(lines):
            along = n_x * (x1 - x0) + n_y * (y1 - y0)
            self.draw_shape(
                f"{name}{i + 1}",
                "cylinder",
                frame,
                r_shape=r_lines + size * (n_x * x0 + n_y * y0),
                lengthDirection=along,
                length=size * ca.norm_2(along),
                width=diameter,
                **attributes,
            )

    def draw_axes(
        self, length: Any, diameter: Any, frame: Any = None, *, colors: Sequence[Any], labels: bool, **attributes: Any
    ) -> None:
        """Draw a coordinate system: three arrows of a length and diameter [m], with labels x, y, z."""
        head = ca.fmin(length, diameter * FRAME_HEAD_LENGTH)
        for axis, color in zip("xyz", colors, strict=True):
            e = column([float(axis == other) for other in "xyz"])
            common: dict[str, Any] = {"frame": frame, "color": color, **attributes}
            directed: dict[str, Any] = {"lengthDirection": e, "widthDirection": (0, 0, 1) if axis == "y" else (0, 1, 0)}
            self.draw_shape(f"{axis}_arrowLine", "cylinder", length=length - head, width=diameter, **common, **directed)
            self.draw_shape(
                f"{axis}_arrowHead",
                "cone",
                r_shape=e * (length - head),
                length=head,
                width=diameter * FRAME_HEAD_WIDTH,
                **common,
                **directed,
            )
            if labels:
                n_x, n_y, lines = _LABELS[axis]
                self.draw_lines(
                    f"{axis}_label",
                    lines,
                    n_x,
                    n_y,
                    FRAME_LABEL_HEIGHT * diameter,
                    diameter,
                    r_lines=e * (1.05 * length),
                    **common,
                )

    def is_positive(self, name: str) -> bool:
        """False where a parameter is known to be 0, such as the mass of what would be drawn as a sphere."""
        value = self._component.original(name)
        return not isinstance(value, float | int) or value > 0


#: Directions and lines of the labels of a coordinate system.
_LABELS: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[Any]]] = {
    "x": ((1, 0, 0), (0, 1, 0), (((0, 0), (1, 1)), ((0, 1), (1, 0)))),
    "y": ((0, 1, 0), (-1, 0, 0), (((0, 0), (1, 1.5)), ((0, 1.5), (0.5, 0.75)))),
    "z": ((0, 0, 1), (0, 1, 0), (((0, 0), (1, 0)), ((0, 1), (1, 1)), ((0, 1), (1, 0)))),
}


@dataclasses.dataclass(frozen=True)
class Drawn:
    """What all components draw, as expressions of t, x, u, P, m and w."""

    sketches: tuple[tuple[str, Sketch], ...]
    up: tuple[float, float, float]
    folders: tuple[str, ...] = ()

    @functools.cached_property
    def entries(self) -> dict[str, list[Any]]:
        """The attributes of all shapes that are no constants, as what can be seen of the components: by path."""
        found: dict[str, list[Any]] = {}
        for path, sketch in self.sketches:
            for key, value in sketch.values.items():
                kind = Position if key in _LENGTHS else Dimensionless
                for name, scalar in _scalars(sketch, key, value):
                    if not scalar.is_constant():
                        found.setdefault(path, []).append((name, kind, f"Shape {sketch.name}: {key}", (), scalar))
        return found

    def placed(self, variables: Sequence[ScalarVariable]) -> tuple[Scene, tuple[ScalarVariable, ...]]:
        """The scene by names of variables, and the variables without those of shapes that another one already has."""
        by_name = {variable.name: variable for variable in variables}
        own = {joined(path, name) for path, entries in self.entries.items() for name, *_ in entries}
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
        for path, sketch in self.sketches:
            values: dict[str, Any] = {
                key: tuple(quantity(joined(path, name), scalar) for name, scalar in _scalars(sketch, key, value))
                for key, value in sketch.values.items()
            }
            if sketch.vector is None:
                shapes.append(Shape(path, _kind(sketch.component), sketch.name, sketch.type, **values))
            else:
                vectors.append(Vector(path, sketch.name, **sketch.vector, **values))
        kept = tuple(v for v in variables if v.name not in own or v.name in needed)
        return Scene(tuple(shapes), self.up, self.folders, tuple(vectors)), kept


_LENGTHS = {"r", "r_shape", "length", "width", "height"}


def sketched(flat: Flat, behaviours: Mapping[str, Behaviour]) -> list[Sketches]:
    """Let all components draw that are to be animated.

    Raises:
        ModelError: a component draws what it cannot; the message names it.
    """
    sketches: list[Sketches] = []
    for path, component in flat.components.items():
        world = component if _is_world(component) else component._outer_world
        if type(component).visualize is Component.visualize or (world is not None and not world.enableAnimation):
            continue
        if "animation" in component.declarations and not component.value("animation"):
            continue
        notes = _Leaves(component, behaviours.get(path))
        open_scope(component, Facts(flat.connected_ports(path)), notes, Drawing).visualize()
        sketches.append(Sketches(path, tuple(notes.shapes), notes))
    return sketches


def drawn(values: Values, sketches: Sequence[Sketches]) -> Drawn:
    """What components draw, with the values that it has in the system."""
    flat = values.flat
    expressions = [value for sketch in sketches for value in values(sketch.formula(values.structure))]
    resolved = iter(_without_animation(flat.components.values(), expressions))
    found = [
        (sketch.path, dataclasses.replace(shape, values={key: next(resolved) for key in shape.values}))
        for sketch in sketches
        for shape in sketch.shapes
    ]
    drawing = [sketch.component for _, sketch in found if sketch.vector is None and is_file(sketch.type)]
    return Drawn(tuple(found), _up(flat.components.values()), _folders(flat.root, drawing))


def _without_animation(components: Iterable[Component], expressions: list[ca.SX]) -> list[ca.SX]:
    """Expressions with the symbols of animation parameters, which have no place in P, replaced by their values."""
    components = list(components)
    column_of_all = stacked(expressions)
    of_hash: dict[int, tuple[Component, str, int]] = {}
    known = [0] * len(components)  # how many symbols of each: values make further ones
    for _ in range(_DEPTH):
        for number, component in enumerate(components):
            for name, symbol in itertools.islice(component._symbols.items(), known[number], None):
                declaration = component.parameter(name)
                if declaration is not None and declaration.animation:
                    for i, key in enumerate(hashes(elements(symbol))):
                        of_hash[key] = component, name, i
            known[number] = len(component._symbols)
        symbols = ca.symvar(column_of_all)
        found = [(s, of_hash[key]) for s, key in zip(symbols, hashes(symbols), strict=True) if key in of_hash]
        if not found:
            break
        values: dict[tuple[int, str], ca.SX] = {}
        given = []
        for _, (component, name, i) in found:
            if (id(component), name) not in values:
                values[id(component), name] = _one_column(component.value(name))
            given.append(values[id(component), name][i])
        column_of_all = ca.substitute(column_of_all, ca.vertcat(*(s for s, _ in found)), ca.vertcat(*given))
    else:
        component, name, _ = found[0][1]
        raise ModelError(f"{component.where}.{name}: this parameter of animation depends on itself")
    sizes = [0]
    for expression in expressions:
        sizes.append(sizes[-1] + expression.numel())
    return list(ca.vertsplit(column_of_all, sizes)) if expressions else []


#: Parameters of animation pass others on through so many owners at most.
_DEPTH = 50


def _up(components: Iterable[Any]) -> tuple[float, float, float]:
    for component in components:
        if _is_world(component) and component.gravityType == "UniformGravity":
            x, y, z = (-float(n) for n in component.n)
            size = (x * x + y * y + z * z) ** 0.5
            return x / size, y / size, z / size
    return 0.0, 1.0, 0.0


def _folders(assembly: Any, components: Iterable[Any]) -> tuple[str, ...]:
    """Folders in which files of shapes are looked for: those of the model, of its class, of components, this one."""
    found = [str(assembly.folder)] if getattr(assembly, "folder", None) else []
    for one in (assembly, *components):
        file = getattr(sys.modules.get(type(one).__module__), "__file__", None)
        if file:
            found.append(os.path.dirname(os.path.abspath(file)))
    return tuple(dict.fromkeys([*found, os.getcwd()]))


def _is_world(component: Any) -> bool:
    return bool(getattr(type(component), "is_world", False))


def _kind(component: Component) -> str:
    """Package of the library that the component's class, or the nearest class above it, is from: Joints, Parts ..."""
    for cls in type(component).__mro__:
        name = getattr(cls, "modelica_name", None)
        if name:
            parts = str(name).split(".")
            return parts[1] if len(parts) > 2 else parts[-1]
    return "Own"


def _scalars(sketch: Sketch, key: str, value: ca.SX) -> list[tuple[str, ca.SX]]:
    """The elements of an attribute, by their names within the component."""
    name, scalars = f"{sketch.name}.{key}", elements(value)
    return [(f"{name}[{i + 1}]" if len(scalars) > 1 else name, scalar) for i, scalar in enumerate(scalars)]


def _one_column(value: Any) -> ca.SX:
    """A value, the columns of a matrix one under the other."""
    found = column(value)
    return found if found.is_column() else ca.vec(found)


def _matrix(value: Any) -> ca.SX:
    """Rows of numbers or symbols, or an array of either, as a matrix."""
    if isinstance(value, ca.SX):
        return value
    try:
        return ca.SX(np.atleast_2d(np.asarray(value, dtype=float)))
    except (TypeError, ValueError, RuntimeError):  # symbols among them
        return ca.vertcat(*(ca.horzcat(*row) for row in value))
