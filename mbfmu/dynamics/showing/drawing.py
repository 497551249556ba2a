"""Drawing: what the components of a system look like, as expressions of the same arguments as its variables.

`self` in a component's `visualize` is a `Drawing`: declared names give their values in the system, and `draw_shape`,
`draw_arrow`, ... take down shapes after Modelica.Mechanics.MultiBody.Visualizers.Advanced. The numbers of a shape get
places like all that can be seen (mbfmu.dynamics.showing.interface); those that no variable has become variables too.
None of this happens unless a scene is asked for.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import column
from mbfmu.dynamics.reading.behaviour import Behaviour, LocalNames
from mbfmu.dynamics.reading.equation_context import Facts, Scope, open_scope
from mbfmu.dynamics.reading.flatten import Flat
from mbfmu.dynamics.reading.notes import Notes
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, null_rotation
from mbfmu.modeling import leaves
from mbfmu.modeling.component import Component
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.types import VectorQuantity

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
#: The type of triangles that are deformed. Its `extra` has what DEFORMED_FACTS name, the factor of each displacement,
#: x, y, z [m] of each point, three points of each triangle, and x, y, z of each point in each displacement.
DEFORMED = "deformed"
DEFORMED_FACTS = ("points", "triangles", "displacements")
#: So many decimals are kept of points and of displacements, beside the largest of each.
_POINT_DECIMALS, _DISPLACEMENT_DECIMALS = 5, 4

#: Modelica's Types.VectorQuantity, in its order.
VECTOR_QUANTITIES = VectorQuantity.values


def _rounded(values: np.ndarray, decimals: int) -> np.ndarray:
    """One after the other, with so many decimals of the largest: files of scenes are text."""
    largest = float(np.abs(values).max(initial=0.0))
    return np.round(values, decimals - math.floor(math.log10(largest)) if largest else 0).ravel()


def is_file(shape_type: str) -> bool:
    """True where a shape type is neither one of the library nor made of points, but the name of a file."""
    return shape_type not in (*SHAPE_TYPES, SURFACE, DEFORMED)


#: Attributes of a shape with their sizes.
ATTRIBUTES = {
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
VECTOR_ATTRIBUTES = {"r": 3, "T": 9, "coordinates": 3, "color": 3, "specularCoefficient": 1}


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
        taken = self._taken(name, values | self._placed(frame, r, R, specularCoefficient), ATTRIBUTES)
        taken["extra"] = _one_column(extra)
        self._notes.shapes.append(Sketch(self._notes.component, name, shapeType, taken))

    def _placed(self, frame: Any, r: Any, R: Orientation | None, specularCoefficient: Any) -> dict[str, Any]:
        """Where something is, and how it shines."""
        if frame is not None:
            r, R = frame.r_0 if r is None else r, frame.R if R is None else R
        if specularCoefficient is None:
            is_own = "specularCoefficient" in self._notes.component.declarations
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
                    f"{self._notes.where}: the shape {name} has {taken[key].numel()} elements of {key}, expected {size}"
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

    def draw_deformed(
        self,
        name: str,
        points: np.ndarray,
        triangles: np.ndarray,
        displacements: np.ndarray,
        factors: Any,
        frame: Any = None,
        *,
        color: Any = (155, 155, 155),
        **attributes: Any,
    ) -> None:
        """Draw triangles whose points move by sums of displacements: morph targets in glTF.

        Args:
            name: what it is called within the component.
            points: places without deformation [m], (n, 3), resolved in the frame.
            triangles: indices of three points each, counterclockwise as seen from outside, (m, 3).
            displacements: of each point by each of k shapes [m], (n, 3, k).
            factors: those of the displacements, (k,).
            frame: connector in which they are resolved, the world where None.
            color: red, green and blue, 0 to 255, (3,).
            attributes: r, R and specularCoefficient of draw_shape.

        Raises:
            ModelError: the arrays are of different sizes.
        """
        by_shape = np.moveaxis(displacements, 2, 0)
        count = len(by_shape)
        if by_shape.shape[1:] != points.shape or column(factors).numel() != count:
            raise ModelError(
                f"{self._notes.where}: {name} has {len(points)} points, displacements of shape {displacements.shape} "
                f"and {column(factors).numel()} factors; give displacements (n, 3, k) of n points, and k factors"
            )
        numbers = [*_rounded(points, _POINT_DECIMALS), *triangles.ravel(), *_rounded(by_shape, _DISPLACEMENT_DECIMALS)]
        extra = ca.vertcat(
            ca.DM([len(points), len(triangles), count]), _one_column(factors), ca.SX(ca.DM(np.array(numbers)))
        )
        self.draw_shape(name, DEFORMED, frame, length=1, width=1, extra=extra, color=color, **attributes)

    def _matrices(self, name: str, points: Sequence[Any], coloured: bool) -> list[ca.SX]:
        given = list(points)
        if len(given) == 4 and isinstance(given[3], np.ndarray) and given[3].ndim == 3:
            given[3:] = [given[3][:, :, i] for i in range(given[3].shape[2])]
        elif len(given) == 4 and given[3] is not None:
            given[3:] = list(given[3])
        matrices = [_matrix(m) for m in given[: 6 if coloured else 3]]
        where = f"{self._notes.where}: the surface {name}"
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
        taken = self._taken(name, values, VECTOR_ATTRIBUTES)
        self._notes.shapes.append(Sketch(self._notes.component, name, "vector", taken, facts))

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
        value = self._notes.component.original(name)
        return not isinstance(value, float | int) or value > 0


#: Directions and lines of the labels of a coordinate system.
_LABELS: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[Any]]] = {
    "x": ((1, 0, 0), (0, 1, 0), (((0, 0), (1, 1)), ((0, 1), (1, 0)))),
    "y": ((0, 1, 0), (-1, 0, 0), (((0, 0), (1, 1.5)), ((0, 1.5), (0.5, 0.75)))),
    "z": ((0, 0, 1), (0, 1, 0), (((0, 0), (1, 0)), ((0, 1), (1, 1)), ((0, 1), (1, 0)))),
}


def sketched(flat: Flat, behaviours: Mapping[str, Behaviour]) -> list[Sketches]:
    """Let all components draw that are to be animated.

    Raises:
        ModelError: a component draws what it cannot; the message names it.
    """
    sketches: list[Sketches] = []
    for path, component in flat.components.items():
        world = component if is_world(component) else component._outer_world
        if not component.is_animated or (world is not None and not world.enableAnimation):
            continue
        notes = _Leaves(component, behaviours.get(path))
        open_scope(component, Facts(flat.connected[path]), notes, Drawing).visualize()
        sketches.append(Sketches(path, tuple(notes.shapes), notes))
    return sketches


def is_world(component: Any) -> bool:
    """True for a World."""
    return bool(getattr(type(component), "is_world", False))


def is_scenery(component: Any) -> bool:
    """True for what is around a mechanism: a World, and what belongs to it, as grounds do."""
    return is_world(component) or bool(getattr(type(component), "is_scenery", False))


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
