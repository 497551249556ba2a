"""What a live page lets one set, from a description that is written by hand."""

from __future__ import annotations

import zipfile
from types import SimpleNamespace
from typing import Any

import pytest

from mbfmu.fmi.description import read_description
from mbfmu.fmi.variables import scalars_of
from mbfmu.scene.live import _settables

VARIABLES = """
  <ScalarVariable name="world.g" valueReference="0" causality="parameter" variability="fixed" initial="exact">
    <Real start="9.81" unit="m/s2"/></ScalarVariable>
  <ScalarVariable name="world.defaultWidth" valueReference="1" causality="parameter" variability="fixed"
    initial="exact"><Real start="20"/></ScalarVariable>
  <ScalarVariable name="arm.body.m" valueReference="2" causality="parameter" variability="fixed" initial="exact"
    description="Mass"><Real start="2" unit="kg" min="0"/></ScalarVariable>
  <ScalarVariable name="arm.alias" valueReference="2" causality="parameter" variability="fixed" initial="exact">
    <Real start="2" unit="kg"/></ScalarVariable>
  <ScalarVariable name="arm.n" valueReference="3" causality="parameter" variability="fixed" initial="exact">
    <Real start="1"/></ScalarVariable>
  <ScalarVariable name="arm.phi" valueReference="4" variability="continuous" initial="exact">
    <Real start="0.5" unit="rad" nominal="4"/></ScalarVariable>
  <ScalarVariable name="arm.w" valueReference="5" variability="continuous" initial="approx"><Real start="0" unit="1"/>
  </ScalarVariable>
  <ScalarVariable name="arm.a" valueReference="6" variability="continuous" initial="calculated"><Real/></ScalarVariable>
  <ScalarVariable name="gain" valueReference="7" causality="parameter" variability="tunable" initial="exact">
    <Real start="-3"/></ScalarVariable>
  <ScalarVariable name="count" valueReference="2" causality="parameter" variability="fixed" initial="exact">
    <Integer start="3" min="1" max="9"/></ScalarVariable>
  <ScalarVariable name="on" valueReference="0" causality="parameter" variability="tunable" initial="exact">
    <Boolean start="true"/></ScalarVariable>
  <ScalarVariable name="text" valueReference="0" causality="parameter" variability="fixed" initial="exact">
    <String start="a b"/></ScalarVariable>
  <ScalarVariable name="fixed" valueReference="8" variability="constant" initial="exact"><Real start="5"/>
  </ScalarVariable>
  <ScalarVariable name="push" valueReference="9" causality="input" variability="continuous"><Real start="1" unit="N"/>
  </ScalarVariable>
"""


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    file = tmp_path_factory.mktemp("settables") / "crane.fmu"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(
            "modelDescription.xml",
            '<fmiModelDescription fmiVersion="2.0" modelName="Crane" guid="1"><CoSimulation modelIdentifier="Crane"/>'
            f"<ModelVariables>{VARIABLES}</ModelVariables><ModelStructure/></fmiModelDescription>",
        )
    subject: Any = SimpleNamespace(
        variables=[SimpleNamespace(name="arm.n", structural=True), SimpleNamespace(name="arm.phi", structural=False)],
        components=[("", "Crane", ""), ("world", "World", ""), ("arm", "Arm", "")],
    )
    return _settables(scalars_of(read_description(file)), subject, {"push": 40.0})


def test_inputs_come_first_and_what_is_only_drawn_last(listed: list[dict[str, Any]]) -> None:
    """Without aliases, without what shapes the equations, and without what cannot be set."""
    names = [entry["name"] for entry in listed]
    assert names == [
        "push", "arm.body.m", "arm.phi", "arm.w", "gain", "count", "on", "text", "world.g", "world.defaultWidth",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("push", {"kind": "input", "component": "", "reference": 9, "start": 1.0, "unit": "N", "range": (-40.0, 40.0)}),
        (
            "arm.body.m",
            {"kind": "start", "component": "arm", "isParameter": True, "min": 0.0, "range": (0.0, 4.0), "unit": "kg",
             "description": "Mass"},
        ),
        ("arm.phi", {"kind": "start", "isParameter": False, "nominal": 4.0, "range": (-4.0, 4.0)}),
        ("arm.w", {"kind": "start", "unit": "", "range": (-1.0, 1.0)}),
        ("gain", {"kind": "tunable", "start": -3.0, "range": (-6.0, 6.0), "component": ""}),
        ("count", {"type": "Integer", "start": 3, "range": (1.0, 9.0), "min": 1.0, "max": 9.0}),
        ("on", {"type": "Boolean", "start": True, "kind": "tunable"}),
        ("text", {"type": "String", "start": "a b"}),
        ("world.g", {"component": "world", "start": 9.81}),
    ],
)  # fmt: skip
def test_each_is_told_with_its_kind_its_component_and_what_its_slider_spans(
    name: str, told: dict[str, Any], listed: list[dict[str, Any]]
) -> None:
    (entry,) = (one for one in listed if one["name"] == name)
    assert {key: entry[key] for key in told} == told
    assert type(entry["start"]) is type(told.get("start", 0.5))
    assert ("range" in entry) == (entry["type"] in ("Real", "Integer"))
