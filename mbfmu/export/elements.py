"""Elements of XML files, and those that the files of both versions of FMI have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lxml import etree

from mbfmu.modeling import units
from mbfmu.runtime.variables import ScalarVariable

Value = str | float | int | bool


def set_attributes(element: etree._Element, **attributes: Value | None) -> None:
    """Set the attributes that are not None, numbers with as many digits as they need to come back exactly."""
    for name, value in attributes.items():
        if value is not None:
            element.set(name, _text(value))


def add(parent: etree._Element, tag: str, **attributes: Value | None) -> etree._Element:
    """Add an element with the attributes that are not None."""
    return etree.SubElement(parent, tag, _given(attributes))


def single(tag: str, **attributes: Value | None) -> etree._Element:
    """An element with the attributes that are not None, which is part of no other."""
    return etree.Element(tag, _given(attributes))


def document(root: etree._Element, tag: str, children: Iterable[etree._Element]) -> bytes:
    """The file of `root`, whose one element with this tag, empty in the tree, has these children.

    One after the other is made, written and forgotten: ten thousands of them at once would take much more memory than
    their text.
    """
    etree.indent(root, " ")
    whole: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
    before, _, after = whole.partition(f"<{tag}/>".encode())
    text = bytearray()
    for child in children:
        etree.indent(child, " ", level=2)
        text += b"\n  " + etree.tostring(child, encoding="UTF-8")
    start, end = f"<{tag}>".encode(), f"\n </{tag}>".encode()
    return b"".join((before, start, text, end, after)) if text else whole


def _given(attributes: Mapping[str, Value | None]) -> dict[str, str]:
    return {name: _text(value) for name, value in attributes.items() if value is not None}


def _text(value: Value) -> str:
    if isinstance(value, str):
        return value
    return repr(value) if not isinstance(value, bool) else "true" if value else "false"


def unit_definitions(root: etree._Element, variables: Iterable[ScalarVariable]) -> None:
    """Add UnitDefinitions: the units and display units of variables, which both versions of FMI write alike.

    Raises:
        ModelError: A unit cannot be read, or a display unit measures something else than its unit.
    """
    used: dict[tuple[str, str], str] = {}
    for variable in variables:
        if variable.unit is not None:
            used.setdefault((variable.unit, variable.display_unit or variable.unit), variable.name)
    for (name, display), owner in used.items():
        units.check(owner, name, display)
    if not used:
        return
    definitions = add(root, "UnitDefinitions")
    for name in sorted({name for name, _ in used}):
        unit = units.parse(name)
        element = add(definitions, "Unit", name=name)
        exponents = {base: n for base, n in zip(units.BASE_UNITS, unit.exponents, strict=True) if n}
        add(element, "BaseUnit", **exponents, factor=_unless(1.0, unit.factor), offset=_unless(0.0, unit.offset))
        displays = {*units.OFFERED.get(name, ()), *(display for other, display in used if other == name)}
        for display in sorted(displays - {name}):
            factor, offset = units.conversion(name, display)
            add(element, "DisplayUnit", name=display, factor=factor, offset=_unless(0.0, offset))


def _unless(default: float, value: float) -> float | None:
    return None if value == default else value
