"""Diagrams show every component and connection once, and none upon another."""

from __future__ import annotations

import pathlib
import xml.etree.ElementTree as ET

import pytest

import mbfmu
from mbfmu import Assembly, cli
from mbfmu.components import rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.connection_diagram import _ANY, _icon, diagram
from mbfmu.errors import MbfmuError
from mbfmu.modeling.registry import component_classes

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", ["engine_1b", "motor_drive", "furuta_pendulum"])
def test_everything_is_there_once(name: str) -> None:
    model = mbfmu.load(name)
    found = diagram(model)
    assert isinstance(found, mbfmu.Diagram)
    assert set(model.parts) <= set(found.nodes)
    assert len(found.edges) == len(model.connections) + len(model.inputs)
    places = {(node.column, node.row) for node in found.nodes.values()}
    assert len(places) == len(found.nodes)
    root = ET.fromstring(found._repr_svg_())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {part for part in model.parts if len(part) <= 20} <= set(texts)
    curves = list(root.findall(f"{SVG}path"))
    assert len(curves) == len(found.edges)
    titles = {one.findtext(f"{SVG}title") for one in curves}
    assert len(titles) == len(curves)


def test_kinds_and_columns() -> None:
    found = diagram("furuta_pendulum")
    assert isinstance(found, mbfmu.Diagram)
    assert found.nodes["world"].column == 0
    assert {edge.kind for edge in found.edges} == {"frame", "rotational", "signal"}
    assert found.nodes["torque"].kind in ("Torque", "input")


def test_rows_of_one_column_keep_apart() -> None:
    found = diagram("motor_drive")
    assert isinstance(found, mbfmu.Diagram)
    for one in found.nodes.values():
        for other in found.nodes.values():
            assert one is other or one.column != other.column or abs(one.row - other.row) >= 1.0


def test_icons_tell_classes_apart() -> None:
    from mbfmu.components import Revolute, World, rotational

    assert len({_icon(cls) for cls in (World, Revolute, rotational.Damper, rotational.Spring)}) == 4


class Rail(Assembly):
    """A spring on a wall, whose far end is the assembly's own."""

    def __init__(self) -> None:
        self.axis = Flange_a("Far end")
        self.wall, self.spring = rotational.Fixed(), rotational.Spring(c=1.0)
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.axis)


class Outer(Assembly):
    """A spring within a part that has a damper beside it."""

    def __init__(self) -> None:
        self.rail, self.damper = Rail(), rotational.Damper(d=1.0)
        self.connect(self.rail.spring.flange_b, self.damper.flange_b)
        self.connect(self.rail.axis, self.damper.flange_a)


def test_connectors_of_the_assembly_are_nodes_and_those_of_inner_parts_belong_to_their_part() -> None:
    found = diagram(Rail())
    assert isinstance(found, mbfmu.Diagram)
    assert (found.nodes["axis"].kind, found.nodes["axis"].title) == ("connector", "axis: Far end")
    ends = {frozenset({(one.a, one.ports[0]), (one.b, one.ports[1])}) for one in found.edges}
    assert ends == {
        frozenset({("wall", "flange"), ("spring", "flange_a")}), frozenset({("spring", "flange_b"), ("axis", "")}),
    }  # fmt: skip
    assert repr(found) == "Diagram(3 components, 2 connections)"
    outer = diagram(Outer())
    assert isinstance(outer, mbfmu.Diagram)
    assert set(outer.nodes) == {"rail", "damper"}
    ends = {frozenset({(one.a, one.ports[0]), (one.b, one.ports[1])}) for one in outer.edges}
    assert ends == {
        frozenset({("rail", "spring.flange_b"), ("damper", "flange_b")}),
        frozenset({("rail", "axis"), ("damper", "flange_a")}),
    }


@pytest.mark.slow
def test_a_diagram_is_of_an_assembly() -> None:
    with pytest.raises(MbfmuError, match=r"a diagram is drawn of an Assembly, not of a System"):
        diagram(mbfmu.System.of(Rail()))  # type: ignore[arg-type]


def test_files(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "engine.svg"
    assert cli.main(["diagram", "engine_1b", "-o", str(file)]) == 0
    assert "engine.svg" in capsys.readouterr().out
    ET.parse(file)
    with pytest.raises(MbfmuError, match=r"is an \.svg file"):
        diagram("engine_1b", tmp_path / "engine.png")
    with pytest.raises(MbfmuError, match="has no components"):
        diagram(type("Nothing", (mbfmu.Assembly,), {})())


def test_every_class_but_blocks_has_an_icon() -> None:
    """An empty box tells nothing; blocks without one of their own have a curve in theirs."""
    classes = component_classes()
    assert [name for name, cls in classes.items() if _icon(cls) == _ANY] == []
    for one, other in (("Contact.Sphere", "Contact.Box"), ("Contact.Box", "MultiBody.Parts.BodyBox"),
                       ("FlexibleBodies.Beam", "MultiBody.Parts.Body"), ("Vehicle.Tyre", "MultiBody.Forces.Force"),
                       ("MultiBody.Sensors.Distance", "MultiBody.Parts.Body"),
                       ("Blocks.Nonlinear.FixedDelay", "MultiBody.Parts.Fixed")):  # fmt: skip
        assert _icon(classes[one]) != _icon(classes[other])
