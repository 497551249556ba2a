"""OpenModelica's description of a scene, `NAME_visual.xml`: shapes, vectors and surfaces by names of variables and by
constants.

OMEdit and OpenModelica's web simulator animate an FMU by it. Names of elements, their order, and the tags of what they
hold (cref, exp, bconst, enum) are those that OpenModelica's compiler writes (its template VisualXMLTpl). A vector takes
the place of the arrow that shows it: OMEdit scales vectors itself. A surface has no points in the file, as the compiler
writes none: OMEdit reads past it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from lxml import etree

from mbfmu.dynamics.showing.drawing import SHAPE_TYPES, SURFACE, SURFACE_FACTS, VECTOR_QUANTITIES
from mbfmu.dynamics.showing.scene import Quantity, Scene, Shape, Vector
from mbfmu.scene.scene_file import names_of

#: Element -> attribute of a shape, in the order of the file. T stands row by row there.
_ELEMENTS = (
    ("T", "T"),
    ("r", "r"),
    ("r_shape", "r_shape"),
    ("lengthDir", "lengthDirection"),
    ("widthDir", "widthDirection"),
    ("length", "length"),
    ("width", "width"),
    ("height", "height"),
    ("extra", "extra"),
    ("color", "color"),
    ("specCoeff", "specularCoefficient"),
)


#: The same of vectors, before what else they have; and of surfaces, before and after what their shape's extra says.
_VECTOR = (
    ("T", "T"),
    ("r", "r"),
    ("coordinates", "coordinates"),
    ("color", "color"),
    ("specCoeff", "specularCoefficient"),
)
_BOOLEANS = ("wireframe", "multiColored")


@dataclasses.dataclass(frozen=True)
class VisualXml:
    """The file, and the names of shapes that are not in it."""

    text: bytes
    left_out: tuple[str, ...]


def visual_xml(scene: Scene, known: Collection[str]) -> VisualXml:
    """Write what of a scene has all its variables among those `known` in the FMU.

    Files are left out as well.
    """
    root = etree.Element("visualization")
    known = set(known)
    vectors = [vector for vector in scene.vectors if names_of(vector) <= known]
    arrows = {ident for vector in vectors for ident in vector.shown_by}
    left_out = []
    for shape in scene.shapes:
        if shape.ident in arrows:
            continue
        if shape.type in SHAPE_TYPES and names_of(shape) <= known:
            _add_shape(root, shape)
        elif shape.type == SURFACE and names_of(shape, but="extra") <= known:
            _add_surface(root, shape)
        else:
            left_out.append(shape.ident)
    for vector in vectors:
        _add_vector(root, vector)
    if left_out:
        root.insert(0, etree.Comment(f" left out: {', '.join(left_out)} ".replace("--", "- -")))
    text = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return VisualXml(text, tuple(left_out))


def _add_shape(root: etree._Element, shape: Shape) -> None:
    entry = _entry(root, "shape", shape)
    etree.SubElement(entry, "type").text = shape.type
    for tag, attribute in _ELEMENTS:
        _add(entry, tag, getattr(shape, attribute))


def _add_vector(root: etree._Element, vector: Vector) -> None:
    entry = _entry(root, "vector", vector)
    for tag, attribute in _VECTOR:
        _add(entry, tag, getattr(vector, attribute))
    _fact(entry, "quantity", "enum", str(VECTOR_QUANTITIES.index(vector.quantity) + 1))
    _fact(entry, "headAtOrigin", "bconst", _truth(vector.headAtOrigin))
    _fact(entry, "twoHeadedArrow", "bconst", _truth(vector.twoHeadedArrow))


def _add_surface(root: etree._Element, shape: Shape) -> None:
    facts = dict(zip(SURFACE_FACTS, shape.extra, strict=False))
    entry = _entry(root, "surface", shape)
    _add(entry, "T", shape.T)
    _add(entry, "r", shape.r)
    for name in ("nu", "nv"):
        _fact(entry, name, "exp", str(round(float(facts[name]))))
    for name in _BOOLEANS:
        _fact(entry, name, "bconst", _truth(facts[name]))
    _add(entry, "color", shape.color)
    _add(entry, "specCoeff", shape.specularCoefficient)
    _add(entry, "transparency", [facts["transparency"]])


def _entry(root: etree._Element, tag: str, drawn: Shape | Vector) -> etree._Element:
    entry = etree.SubElement(root, tag)
    etree.SubElement(entry, "ident").text = drawn.ident
    return entry


def _add(entry: etree._Element, tag: str, quantities: Sequence[Quantity]) -> None:
    if tag == "T":  # CasADi stacks columns; the file has rows
        quantities = [quantities[3 * j + i] for i in range(3) for j in range(3)]
    place = etree.SubElement(entry, tag)
    for quantity in quantities:
        if isinstance(quantity, str):
            etree.SubElement(place, "cref").text = quantity
        else:
            etree.SubElement(place, "exp").text = repr(quantity + 0.0)


def _fact(entry: etree._Element, tag: str, kind: str, text: str) -> None:
    etree.SubElement(etree.SubElement(entry, tag), kind).text = text


def _truth(value: object) -> str:
    return "true" if value else "false"
