"""Physical types: written once, referred to, and what a variable has otherwise beside them."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from lxml import etree

from mbfmu.export.type_definitions import TypeDefinitions
from mbfmu.runtime.variables import DeclaredType, ScalarVariable

ANGLE = DeclaredType("Angle", "Angle", "rad", "deg")
MASS = DeclaredType("Mass", "Mass", "kg", None, 0.0)


def variable(name: str, declared: DeclaredType | None, kind: Any = "Real", **changes: Any) -> ScalarVariable:
    plain = ScalarVariable(name, "", kind, "local", "continuous", "calculated", None, "y", 0, declared_type=declared)
    if declared is not None:
        own = {field.name: getattr(declared, field.name) for field in dataclasses.fields(declared)[1:]}
        plain = dataclasses.replace(plain, **own)
    return dataclasses.replace(plain, **changes)


def defined(variables: list[ScalarVariable], **tags: str) -> tuple[TypeDefinitions, etree._Element]:
    root = etree.Element("fmiModelDescription")
    types = TypeDefinitions(variables, {v.name for v in variables})
    types.define(root, tags or None)
    return types, root


def said(types: TypeDefinitions, of: ScalarVariable) -> dict[str, Any]:
    return {name: value for name, value in types.attributes(of).items() if value is not None}


def test_a_type_is_written_once_and_referred_to() -> None:
    variables = [variable("a", ANGLE), variable("b", ANGLE), variable("m", MASS)]
    types, root = defined(variables)
    assert [(t.get("name"), dict(t[0].attrib)) for t in root.iterfind("TypeDefinitions/SimpleType")] == [
        ("Angle", {"quantity": "Angle", "unit": "rad", "displayUnit": "deg"}),
        ("Mass", {"quantity": "Mass", "min": "0.0", "unit": "kg"}),
    ]
    assert [said(types, v) for v in variables] == [{"declaredType": n} for n in ("Angle", "Angle", "Mass")]


def test_fmi_3_names_the_kind_of_number() -> None:
    whole = DeclaredType("RotationSequence", min=1, max=3)
    _, root = defined([variable("a", ANGLE), variable("k", whole, "Integer")], Real="Float64", Integer="Int32")
    assert [(t.tag, dict(t.attrib)) for t in root.iterfind("TypeDefinitions/*")] == [
        ("Float64Type", {"name": "Angle", "quantity": "Angle", "unit": "rad", "displayUnit": "deg"}),
        ("Int32Type", {"name": "RotationSequence", "min": "1", "max": "3"}),
    ]


def test_a_variable_keeps_bounds_of_its_own() -> None:
    own = variable("m", MASS, min=1.0, max=3.0)
    types, _ = defined([own])
    assert said(types, own) == {"declaredType": "Mass", "min": 1.0, "max": 3.0}


@pytest.mark.parametrize("changes", [{"min": None}, {"min": -math.inf}, {"unit": "t"}, {"quantity": None}])
def test_what_a_type_would_say_wrongly_is_said_by_the_variable(changes: dict[str, Any]) -> None:
    """A bound that is taken back cannot be written beside a type that has one."""
    other = variable("m", MASS, **changes)
    types, root = defined([other])
    assert len(root) == 0
    assert said(types, other) == {
        key: value
        for key, value in ({"quantity": "Mass", "unit": "kg", "min": 0.0} | changes).items()
        if value not in (None, -math.inf)
    }


def test_names_of_types_are_those_of_no_variable_and_no_other_type() -> None:
    other = dataclasses.replace(MASS, unit="t")
    variables = [variable("Angle", ANGLE), variable("m", MASS), variable("n", other)]
    types, root = defined(variables)
    assert [t.get("name") for t in root.iterfind("TypeDefinitions/SimpleType")] == ["Angle_2", "Mass", "Mass_2"]
    assert [said(types, v)["declaredType"] for v in variables] == ["Angle_2", "Mass", "Mass_2"]


def test_types_that_say_nothing_are_left_out() -> None:
    text = variable("s", DeclaredType("ShapeType"), "String")
    types, root = defined([text, variable("x", None)])
    assert len(root) == 0
    assert said(types, text) == {}
