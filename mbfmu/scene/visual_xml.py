"""OpenModelica's description of a scene, `NAME_visual.xml`: shapes by names of variables and by constants.

OMEdit and OpenModelica's web simulator animate an FMU by it. Element names and their order are those that OpenModelica
writes: ident, type, T, r, r_shape, lengthDir, widthDir, length, width, height, extra, color, specCoeff.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from lxml import etree

from mbfmu.dynamics.drawing import SHAPE_TYPES, Quantity, Scene, Shape

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


@dataclasses.dataclass(frozen=True)
class VisualXml:
    """The file, and the names of shapes that are not in it."""

    text: bytes
    left_out: tuple[str, ...]


def visual_xml(scene: Scene, known: Collection[str]) -> VisualXml:
    """Write the shapes of a scene whose variables are all among those `known` in the FMU.

    Surfaces, which OpenModelica describes by their points, are left out as well.
    """
    root = etree.Element("visualization")
    left_out = []
    for shape in scene.shapes:
        names = {q for values in shape.quantities.values() for q in values if isinstance(q, str)}
        if shape.type in SHAPE_TYPES and names <= set(known):
            _add(root, shape)
        else:
            left_out.append(shape.ident)
    if left_out:
        root.insert(0, etree.Comment(f" left out: {', '.join(left_out)} ".replace("--", "- -")))
    text = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return VisualXml(text, tuple(left_out))


def _add(root: etree._Element, shape: Shape) -> None:
    entry = etree.SubElement(root, "shape")
    etree.SubElement(entry, "ident").text = shape.ident
    etree.SubElement(entry, "type").text = shape.type
    for tag, attribute in _ELEMENTS:
        quantities: Sequence[Quantity] = getattr(shape, attribute)
        if tag == "T":  # CasADi stacks columns
            quantities = [quantities[3 * j + i] for i in range(3) for j in range(3)]
        place = etree.SubElement(entry, tag)
        for quantity in quantities:
            if isinstance(quantity, str):
                etree.SubElement(place, "cref").text = quantity
            else:
                etree.SubElement(place, "exp").text = repr(quantity + 0.0)
