"""What a live page lets one set, from a description that is written by hand."""

from __future__ import annotations

import json
import pathlib
import re
import zipfile
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu import animation
from mbfmu.dynamics.system import System
from mbfmu.fmi.description import read_description
from mbfmu.fmi.foreign import Foreign
from mbfmu.fmi.variables import scalars_of
from mbfmu.runtime.compilers import host_platform
from mbfmu.scene import bundle
from mbfmu.scene.live import _settables
from mbfmu.scene.packing import bytes_of

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


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("built", [False, True], ids=["a source", "an FMU"])
def test_a_live_page_has_the_fmu_its_poses_and_the_references_of_what_is_drawn(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, built: bool
) -> None:
    """Without the page's program and the runtime for browsers, which are bytes among others here."""
    for name in ("viewer.js", "runtime.wasm"):
        (tmp_path / name).write_bytes(name.encode())
    monkeypatch.setattr(bundle, "BUNDLE", tmp_path / "viewer.js")
    monkeypatch.setattr(animation, "ready_library", lambda platform: tmp_path / "runtime.wasm")
    monkeypatch.setattr(animation, "_ready_platforms", lambda: [host_platform()])
    model: Any = mbfmu.load("double_pendulum")
    if built:
        model = mbfmu.build(model, tmp_path / "pendulum.fmu", equations="interpreted")
    page = mbfmu.animate(model, tmp_path / "live.html", 1.0, live=True, tolerance=1e-7)
    found = dict(re.findall(r'type="text/plain" id="(\w+)">([^<]*)<', page.read_text(encoding="utf-8")))
    parts = {name: bytes_of(text) for name, text in found.items()}
    assert (parts["wasm"], parts["viewer"]) == (b"runtime.wasm", b"viewer.js")
    told = json.loads(parts["model"])
    (tmp_path / "in_page.fmu").write_bytes(parts["fmu"])
    with zipfile.ZipFile(tmp_path / "in_page.fmu") as archive:
        assert archive.testzip() is None
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
        assert told["descriptor"] in archive.namelist()
    fmu = Foreign(tmp_path / "in_page.fmu")
    references = {name: scalar.reference for name, scalar in fmu.elements.items()}
    assert {name: references[name] for name in told["quantities"]} == told["quantities"]
    assert {entry["name"]: references[entry["name"]] for entry in told["variables"]} == {
        entry["name"]: entry["reference"] for entry in told["variables"]
    }
    assert told["tolerance"] == 1e-7
    assert [grip["component"] for grip in told["grips"]] == ([] if built else ["boxBody1", "boxBody2"])
    assert not any("grip" in entry["name"] for entry in (*told["variables"], *told["settables"]))
    names = list(told["quantities"])
    run = mbfmu.simulate(System.of(mbfmu.load("double_pendulum"), scene=True), 1.0, outputs=names)
    poses = np.frombuffer(parts["series"], np.float32).reshape(21, len(names))
    for k in (0, -1):
        assert poses[k] == pytest.approx([run[name][k] for name in names], abs=1e-4)
