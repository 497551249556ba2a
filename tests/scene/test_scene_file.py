"""The scene in an FMU: what `mbfmu animate model.fmu` draws."""

from __future__ import annotations

import json
import pathlib
import zipfile
from typing import Any

import pytest

import mbfmu
from mbfmu import cli
from mbfmu.animation import read_subject
from mbfmu.dynamics.showing.drawing import ATTRIBUTES
from mbfmu.dynamics.showing.scene import Scene, Shape
from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.export import selection
from mbfmu.fmi.foreign import Foreign
from mbfmu.scene.scene_file import SCENE_FILE, read_scene, scene_file
from mbfmu.scene.subject import Described, together


def content(file: pathlib.Path) -> dict[str, Any]:
    """Return the scene of an FMU."""
    with zipfile.ZipFile(file) as archive:
        return json.loads(archive.read(SCENE_FILE))


@pytest.mark.slow
def test_a_scene_is_read_as_it_was_written(tmp_path: pathlib.Path) -> None:
    system = System.of(mbfmu.load("three_springs"), scene=True)
    assert isinstance(system.scene, Scene)
    written = scene_file(system.scene, system.components, {v.name for v in system.variables})
    scene, components, left_out = read_scene(written.text, "here", tmp_path)
    assert scene.shapes == system.scene.shapes
    assert (scene.up, scene.folders) == (system.scene.up, (str(tmp_path),))
    assert components == system.components
    assert left_out == written.left_out == ()
    assert json.loads(written.text)["falls"] is scene.falls is system.scene.falls is True
    of_0_2 = json.dumps({key: value for key, value in json.loads(written.text).items() if key != "falls"})
    assert read_scene(of_0_2, "here", tmp_path)[0].falls is False


def test_things_fall_in_several_models_where_they_do_in_one() -> None:
    for falls in ((False, False), (False, True), (True, False)):
        subjects = {f"{i}": Described("", "", (), (), Scene((), falls=one)) for i, one in enumerate(falls)}
        assert together("both", subjects).scene == Scene((), falls=any(falls))


@pytest.mark.slow
def test_what_a_scene_takes_is_kept_in_large_models(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setattr(selection, "LARGE", 10)
    assembly = mbfmu.load("engine_1b_analytic")
    file = mbfmu.build(assembly, tmp_path / "small.fmu", equations="interpreted")
    shown = read_subject(Foreign(file))
    system = System.of(assembly, scene=True)
    assert len(shown.variables) < len(system.variables)
    assert shown.scene is not None
    assert system.scene is not None
    assert len(shown.scene.shapes) == len(system.scene.shapes)


@pytest.mark.slow
def test_shapes_whose_variables_are_not_wanted_are_left_out_and_named(tmp_path: pathlib.Path) -> None:
    said: list[str] = []
    file = mbfmu.build(
        mbfmu.load("double_pendulum"), tmp_path / "few.fmu", equations="interpreted", variables="boxBody1.*",
        progress=said.append,
    )  # fmt: skip
    scene = content(file)
    assert "boxBody2.shape" in scene["left_out"]
    assert any(f"Leaving out {len(scene['left_out'])} shapes" in line for line in said)
    glb = mbfmu.animate(file, tmp_path / "few.glb", 0.1).read_bytes()
    assert b"boxBody1.shape" in glb
    assert b"boxBody2.shape" not in glb


def test_meshes_are_kept_once_and_as_far_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    """Of 40, 70, 60 and 50 bytes where there is room for 160: the third is left out, the last fits exactly."""
    monkeypatch.setattr("mbfmu.scene.scene_file._MOST", 160)
    for name, length in (("a.stl", 40), ("b.stl", 70), ("c.stl", 60), ("d.stl", 50)):
        (tmp_path / name).write_bytes(b"-" * length)
    given = {name: (1.0,) * count for name, count in ATTRIBUTES.items()} | {"extra": (0.0,)}
    shapes = [
        Shape("body", "Parts", f"s{number}", type_, **given)  # type: ignore[arg-type]
        for number, type_ in enumerate(["a.stl", "b.stl", "a.stl", "box", "c.stl", "missing.stl", "d.stl", "b.stl"])
    ]
    found = scene_file(Scene(tuple(shapes), folders=(str(tmp_path),)), (), set())
    assert found.left_out == ("body.s4", "body.s5")
    assert found.meshes == {f"meshes/{i}_{name}": tmp_path / name for i, name in enumerate(["a.stl", "b.stl", "d.stl"])}
    told = json.loads(found.text)
    assert told["left_out"] == ["body.s4", "body.s5"]
    types = ["meshes/0_a.stl", "meshes/1_b.stl", "meshes/0_a.stl", "box", "meshes/2_d.stl", "meshes/1_b.stl"]
    assert [shape["type"] for shape in told["shapes"]] == types


@pytest.mark.slow
def test_fmus_without_what_is_needed_are_refused(tmp_path: pathlib.Path) -> None:
    file = mbfmu.build(mbfmu.load("pendulum"), tmp_path / "pendulum.fmu", equations="interpreted")

    def changed(name: str, leave: tuple[str, ...] = (), **texts: str) -> pathlib.Path:
        target = tmp_path / name
        with zipfile.ZipFile(file) as archive, zipfile.ZipFile(target, "w") as copy:
            for entry in archive.namelist():
                if entry not in leave:
                    copy.writestr(entry, texts.get(pathlib.Path(entry).stem, archive.read(entry)))
        return target

    for fmu, message, live in (
        (changed("foreign.fmu", (SCENE_FILE,)), "has no resources/scene.json", False),
        (changed("compiled.fmu", ("resources/model.mbfmu",)), "its equations are compiled.*interpreted", True),
        (changed("damaged.fmu", scene="{}"), r"scene.json, is damaged .*build it anew", False),
        (changed("later.fmu", scene='{"mbfmu-scene": 7}'), "its scene is of version 7", False),
    ):
        with pytest.raises(MbfmuError, match=message):
            mbfmu.animate(fmu, tmp_path / "motion.html", 0.1, live=live)
    assert not (tmp_path / "motion.html").exists()


@pytest.mark.slow
def test_the_command_takes_fmus(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    file = mbfmu.build(mbfmu.load("pendulum"), tmp_path / "pendulum.fmu", equations="interpreted")
    glb = tmp_path / "motion.glb"
    assert cli.main(["animate", str(file), "-o", str(glb), "--stop", "0.2", "-p", "rev.phi=0.7"]) == 0
    assert glb.read_bytes()[:4] == b"glTF"
    before = mbfmu.animate(file, tmp_path / "before.glb", 0.2).read_bytes()
    assert glb.read_bytes() != before  # -p sets start values of the run
    assert cli.main(["animate", str(file), "--live", "-o", str(glb)]) == 2
    assert "a live animation is a page; choose motion.html" in capsys.readouterr().err
