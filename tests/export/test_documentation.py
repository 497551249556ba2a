from __future__ import annotations

import dataclasses
import importlib.metadata
import itertools
import pathlib
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from lxml import etree, html

from mbfmu.export.documentation import license_of, page, write_documentation
from mbfmu.export.structure import draw


def cells(document: Any, title: str) -> list[list[str]]:
    """Rows of the table under a heading."""
    table = document.xpath(f"//h2[text()='{title}']/following-sibling::table[1]")[0]
    return [[cell.text_content() for cell in row.xpath("td")] for row in table.xpath("tr[td]")]


def test_page_shows_what_can_be_set(system: Any) -> None:
    document = html.fromstring(page(system, system.variables, {"guid": "{1}"}))
    assert document.findtext(".//h1") == "Examples.Oscillator"
    parameters = cells(document, "Parameters")
    assert parameters[0] == ["mass.m", "2", "kg", "0", "", 'Mass "<1 t"']
    assert [row[0] for row in parameters] == ["mass.m", "spring.c", "spring.d"]
    assert [row[:2] for row in cells(document, "Start values")] == [["mass.s", "0.1"], ["mass.v", "0"]]
    assert [row[0] for row in cells(document, "Inputs")] == ["flange.f"]
    assert [row[0] for row in cells(document, "Choices of structure")] == ["mass.n[1]", "mass.label", "mass.animation"]
    assert cells(document, "Structure") == [list(row) for row in system.components]


def test_text_of_the_model_is_escaped(system: Any) -> None:
    hostile = dataclasses.replace(
        system, description="<script>alert(1)</script>", components=[("world", "World", "<b>")], connections=[]
    )
    text = page(hostile, system.variables, {})
    assert "<script>" not in text
    assert "<b>" not in text


def test_picture_is_svg_with_every_component_and_connection(system: Any) -> None:
    text = page(system, system.variables, {})
    svg = etree.fromstring(text[text.index("<svg") : text.index("</svg>") + len("</svg>")])
    namespace = {"s": "http://www.w3.org/2000/svg"}
    assert len(svg.findall(".//s:rect", namespace)) == 3
    titles = [path.findtext("s:title", namespaces=namespace) for path in svg.findall("s:path", namespace)]
    assert titles == ["world.frame_b - spring.flange_a", "spring.flange_b - mass.flange_a"]


def test_layout_grows_from_the_world_without_overlap() -> None:
    components = [("b", "Parts.Body", ""), ("j", "Joints.Revolute", ""), ("world", "World", ""), ("lone", "Body", "")]
    components += [(f"p.q{i}", "Parts.BodyBox", "") for i in range(5)]
    connections = [("j.frame_b", "b.frame_a"), ("world.frame_b", "j.frame_a"), ("j.axis", "p.q4.flange")]
    connections += [("b.frame_a", f"p.q{i}.frame_a") for i in range(5)]
    drawing = draw(components, connections)
    place = {box.path: box for box in drawing.boxes}
    assert set(place) == {path for path, _, _ in components} - {"lone"}
    assert place["world"].x < place["j"].x < place["b"].x < place["p.q0"].x
    for one, other in itertools.combinations(drawing.boxes, 2):
        apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
        apart_y = one.y + one.height <= other.y or other.y + other.height <= one.y
        assert apart_x or apart_y
    for box in drawing.boxes:
        assert box.x >= 0
        assert box.x + box.width <= drawing.width
        assert box.y + box.height <= drawing.height
    assert len(drawing.lines) == len(connections)
    rows = [box.y for box in drawing.boxes if box.x == place["p.q0"].x]
    assert rows[0] == place["world"].y == place["world"].x  # the margin is as wide above as on the left
    np.testing.assert_allclose(np.diff(rows), rows[1] - rows[0])


def test_what_is_inside_a_component_is_not_drawn() -> None:
    components = [("a", "World", ""), ("b", "BodyBox", ""), ("b.body", "Body", "")]
    drawing = draw(
        components, [("a.frame_b", "b.frame_a"), ("b.frame_a", "b.body.frame_a"), ("b.body.frame_b", "frame")]
    )
    assert [box.path for box in drawing.boxes] == ["a", "b"]
    assert [line.text for line in drawing.lines] == ["a.frame_b - b.frame_a"]


def test_nothing_to_draw() -> None:
    assert draw([("world", "World", "")], []).boxes == ()


def test_folder_has_documentation_licences_icon_and_terminals(system: Any, tmp_path: pathlib.Path) -> None:
    write_documentation(tmp_path, system, system.variables, {}, "native")
    files = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert files == [
        "documentation/index.html",
        "documentation/licenses/license.txt",
        "model.png",
        "terminalsAndIcons/icon.png",
        "terminalsAndIcons/icon.svg",
        "terminalsAndIcons/terminalsAndIcons.xml",
    ]
    assert (tmp_path / "model.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("target", "words"), [("native", "Modelica Association"), ("python", "MIT License")])
def test_licences_are_those_of_what_is_inside(system: Any, tmp_path: pathlib.Path, target: str, words: str) -> None:
    write_documentation(tmp_path, system, system.variables, {}, target)
    text = (tmp_path / "documentation/licenses/license.txt").read_text(encoding="utf-8")
    assert "BSD 3-Clause" in text
    assert words in text
    assert "*/" not in text


def test_where_a_package_ships_no_licence_its_metadata_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files among its tests are those of others."""
    metadata = {"Home-page": "https://x", "Name": "pump", "License": "MIT"}
    files = [pathlib.PurePosixPath("pump/tests/data/LICENSE"), pathlib.PurePosixPath("pump/license_plate.py")]
    found = {
        "pump": SimpleNamespace(files=files, metadata=metadata),
        "fan": SimpleNamespace(files=None, metadata=metadata),
    }
    monkeypatch.setattr(importlib.metadata, "distribution", found.__getitem__)
    assert license_of("pump") == license_of("fan") == "MIT\nhttps://x"


def test_licence_of_this_package_is_the_file_of_the_checkout(root: pathlib.Path) -> None:
    assert license_of("mbfmu").strip() == (root / "LICENSE").read_text(encoding="utf-8").strip()
