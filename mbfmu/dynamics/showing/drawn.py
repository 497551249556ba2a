"""What components draw (mbfmu.dynamics.showing.drawing), with the values that it has in the system."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.arrays import Element, scalars_of
from mbfmu.dynamics.columns import column, elements, hashes, stacked
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.starts import guessed
from mbfmu.dynamics.showing.drawing import DEFORMED, SURFACE, Sketch, Sketches, is_file, is_scenery, is_world
from mbfmu.dynamics.showing.interface import Seen
from mbfmu.errors import ModelError
from mbfmu.modeling.component import Component
from mbfmu.modeling.names import joined
from mbfmu.modeling.types import Dimensionless, Position

#: Name within the component, which element it is among all variables, and its value.
Scalar = tuple[str, Element | None, ca.SX]


@dataclasses.dataclass(frozen=True)
class Drawn:
    """What all components draw, as expressions of t, x, u, P, m and w."""

    sketches: tuple[tuple[str, Sketch], ...]
    up: tuple[float, float, float]
    falls: bool
    folders: tuple[str, ...] = ()

    @functools.cached_property
    def attributes(self) -> list[dict[str, list[Scalar]]]:
        """The attributes of each sketch, scalar by scalar."""
        return [{key: _scalars(path, s, key, value) for key, value in s.values.items()} for path, s in self.sketches]

    @functools.cached_property
    def entries(self) -> dict[str, list[Seen]]:
        """The attributes of all shapes that are no constants, as what can be seen of the components: by path."""
        found: dict[str, list[Seen]] = {}
        for (path, sketch), attributes in zip(self.sketches, self.attributes, strict=True):
            for key, scalars in attributes.items():
                kind = Position if key in _LENGTHS else Dimensionless
                doc = f"Shape {sketch.name}: {key}"
                for name, element, scalar in scalars:
                    if not scalar.is_constant():
                        found.setdefault(path, []).append(Seen(name, kind, doc, (), scalar, element))
        return found


_LENGTHS = {"r", "r_shape", "length", "width", "height"}


def drawn(formulation: Formulation, sketches: Sequence[Sketches]) -> Drawn:
    """What components draw, with the values that it has in the system."""
    values = formulation.values
    flat = values.flat
    files = [s.component for drawing in sketches for s in drawing.shapes if s.vector is None and is_file(s.type)]
    worlds = [component for component in flat.components.values() if is_world(component)]
    up, folders = _up(worlds), _folders(flat.root, files)
    expressions = [value for sketch in sketches for value in values(sketch.formula(values.structure))]
    resolved = iter(_without_animation(flat.components.values(), expressions))
    found = [
        (sketch.path, dataclasses.replace(shape, values={key: next(resolved) for key in shape.values}))
        for sketch in sketches
        for shape in sketch.shapes
    ]
    return Drawn(tuple(_scaled(formulation, worlds, found)), up, any(map(_falls, worlds)), folders)


#: How many times as large as its World's nominalLength a mechanism is, about, where none is given.
_NOMINAL_LENGTHS = 1.8


def _scaled(
    formulation: Formulation, worlds: Sequence[Any], sketches: Sequence[tuple[str, Sketch]]
) -> list[tuple[str, Sketch]]:
    """The sketches with a nominalLength, of each World that was given none, by the size of what is drawn at the start.

    That size is the one that is left without what is as large as nominalLength says: of frames, rods, given shapes.
    """
    lengths = [world.symbol("nominalLength") for world in worlds if not world.is_given("nominalLength")]
    nominal = stacked(lengths)
    if not lengths:
        return list(sketches)
    columns = [value for _, sketch in sketches for value in sketch.values.values()]

    def with_lengths(number: float) -> list[tuple[str, Sketch]]:
        taken = iter(ca.substitute(columns, [nominal], [ca.DM.ones(nominal.shape) * number]))
        return [(path, dataclasses.replace(s, values={key: next(taken) for key in s.values})) for path, s in sketches]

    bare = with_lengths(0.0)
    arrows = {(path, name) for path, s in bare if s.vector for name in s.vector["shapes"]}
    solid = [s for path, s in bare if not is_scenery(s.component) and not s.vector and (path, s.name) not in arrows]
    size = _size(formulation, solid)
    return with_lengths(_round(size / _NOMINAL_LENGTHS) if size > 0 else 1.0)


def _size(formulation: Formulation, sketches: Sequence[Sketch]) -> float:
    """Diagonal [m] of the box about shapes where the motion starts, as far as guesses know that; 0 where nothing is."""
    corners = []
    for sketch in sketches:
        v = sketch.values
        to_world = ca.reshape(v["T"], 3, 3).T
        along = v["lengthDirection"] / ca.fmax(ca.norm_2(v["lengthDirection"]), 1e-300)
        is_sized = sketch.type not in (SURFACE, DEFORMED) and not is_file(sketch.type)
        length, radius = (v["length"], ca.fmax(v["width"], v["height"]) / 2) if is_sized else (0, 0)
        for end in (v["r_shape"], v["r_shape"] + along * length):
            middle = v["r"] + ca.mtimes(to_world, end)
            corners += [middle - radius, middle + radius]
    if not corners:
        return 0.0
    points = ca.horzcat(*corners)
    vectors, starts = formulation.vectors, formulation.starts
    known = {vectors.t.element_hash(): formulation.start_time}
    guess = formulation.parameters.by_default(guessed(formulation.values, starts, formulation.parameters, vectors.x))
    for symbols, numbers in ((vectors.x, guess), (vectors.P, formulation.parameters.default_P)):
        known |= dict(zip(hashes(elements(symbols)), np.array(numbers).ravel().tolist(), strict=True))
    needed = ca.symvar(points)
    start = [known.get(key, 0.0) for key in hashes(needed)]
    found = np.array(ca.Function("corners", [stacked(needed)], [points])(start))
    found = found[:, np.isfinite(found).all(axis=0)]
    return float(np.linalg.norm(np.ptp(found, axis=1))) if found.size else 0.0


def _round(length: float) -> float:
    """The nearest of 1, 2, 5, 10 ... by ratio: a mechanism that is changed a little looks as before."""
    decade = 10.0 ** math.floor(math.log10(length))
    return min((decade * step for step in (1, 2, 5, 10)), key=lambda rounded: abs(math.log(rounded / length)))


def _without_animation(components: Iterable[Component], expressions: list[ca.SX]) -> list[ca.SX]:
    """Expressions with the symbols of animation parameters, which have no place in P, replaced by their values.

    nominalLength of a World that was given none stays.
    """
    components = list(components)
    column_of_all = stacked(expressions)
    of_hash: dict[int, tuple[Component, str, int]] = {}
    known = [0] * len(components)  # how many symbols of each: values make further ones
    for _ in range(_DEPTH):
        for number, component in enumerate(components):
            for name, symbol in itertools.islice(component._symbols.items(), known[number], None):
                declaration = component.parameter(name)
                is_sought = name == "nominalLength" and is_world(component) and not component.is_given(name)
                if declaration is not None and declaration.animation and not is_sought:
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
                values[id(component), name] = ca.vec(column(component.value(name)))
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


def _up(worlds: Iterable[Any]) -> tuple[float, float, float]:
    for world in worlds:
        if world.gravityType != "PointGravity":
            x, y, z = (-float(n) for n in world.n)
            size = (x * x + y * y + z * z) ** 0.5
            return x / size, y / size, z / size
    return 0.0, 1.0, 0.0


def _falls(world: Any) -> bool:
    """True where things fall along the World's n."""
    is_uniform = world.gravityType == "UniformGravity" and world._gravityAcceleration is None
    g = world.value("g")
    return bool(is_uniform and not (isinstance(g, float | int) and g == 0))


def _folders(assembly: Any, components: Iterable[Any]) -> tuple[str, ...]:
    """Folders in which files of shapes are looked for: those of the model, of its class, of components, this one."""
    found = [str(assembly.folder)] if getattr(assembly, "folder", None) else []
    for one in (assembly, *components):
        file = getattr(sys.modules.get(type(one).__module__), "__file__", None)
        if file:
            found.append(os.path.dirname(os.path.abspath(file)))
    return tuple(dict.fromkeys([*found, os.getcwd()]))


def _scalars(path: str, sketch: Sketch, key: str, value: ca.SX) -> list[Scalar]:
    """The scalars of an attribute."""
    name, scalars = f"{sketch.name}.{key}", elements(value)
    shape = (len(scalars),) if len(scalars) > 1 else ()
    whole = scalars_of(joined(path, name), shape)
    return [
        (own, element, scalar)
        for (own, _), (_, element), scalar in zip(scalars_of(name, shape), whole, scalars, strict=True)
    ]
