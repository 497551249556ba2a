"""FMUs and systems whose names lead elsewhere, or that are too large: refused before anything is written or loaded."""

from __future__ import annotations

import json
import pathlib
import re
import tempfile
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
from refusals import left_in

import mbfmu
from mbfmu import cli
from mbfmu.animation import read_subject
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.ssp import build_ssp
from mbfmu.errors import MbfmuError, ModelError, ValidationError
from mbfmu.fmi.foreign import Foreign
from mbfmu.fmus.pendulum import Pendulum
from mbfmu.scene.scene_file import LARGEST, SCENE_FILE
from mbfmu.validation import validate


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return mbfmu.build(Pendulum(), tmp_path_factory.mktemp("archives") / "pendulum.fmu", equations="interpreted")


@pytest.fixture(scope="module")
def third(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("archives") / "third.fmu"
    return mbfmu.build(Pendulum(), path, equations="interpreted", fmi=3)


def changed(
    source: pathlib.Path, target: pathlib.Path, edit: Callable[[str, bytes], bytes], **more: bytes
) -> pathlib.Path:
    """A copy of an archive, each entry as `edit` gives it, and entries more."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = edit(name, old.read(name))
            if name not in more:
                new.writestr(name, content)
        for name, content in more.items():
            new.writestr(name, content)
    return target


def as_it_is(_: str, content: bytes) -> bytes:
    return content


def described(pattern: str, text: str) -> Callable[[str, bytes], bytes]:
    """Another modelDescription.xml."""

    def edit(name: str, content: bytes) -> bytes:
        if name != "modelDescription.xml":
            return content
        found, count = re.subn(pattern.encode(), text.encode(), content)
        assert count
        return found

    return edit


NAMES = {
    "absolute": ("/evil.txt", "leads out of the archive"),
    "above": ("../evil.txt", "leads out of the archive"),
    "drive": ("C:/evil.txt", "leads out of the archive"),
    "backslash": ("..\\evil.txt", "has a backslash"),
    "nested": ("a/" * 2000 + "x", "is in 2000 folders"),
    "long": ("x" * 5000, "its path has 5000 letters"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NAMES)
def test_entries_that_lead_elsewhere_are_refused(pendulum, tmp_path, monkeypatch, kind):
    name, words = NAMES[kind]
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    path = changed(pendulum, tmp_path / "evil.fmu", as_it_is, **{name: b"evil"})
    for use in (
        Foreign,
        lambda file: mbfmu.sweep(file, {"body.m": [1.0]}, ["rev.phi:final"], 0.1),
        lambda file: mbfmu.animate(file, tmp_path / "x.html"),
        lambda file: cosimulate(SystemStructure.of({"a": file}, []), step=0.1, stop_time=0.2),
    ):
        with pytest.raises(ValidationError, match=words):
            use(path)
    assert any(words in problem for problem in validate(path))
    assert left_in(tmp_path) == {"evil.fmu"}


def test_a_library_outside_of_the_fmu_is_not_loaded(pendulum, tmp_path):
    edit = described(r'modelIdentifier="[^"]*"', 'modelIdentifier="../../../evil"')
    path = changed(pendulum, tmp_path / "x.fmu", edit)
    for use in (Foreign, lambda file: SystemStructure.of({"a": file})):
        with pytest.raises(ValidationError, match=r'modelIdentifier "\.\./\.\./\.\./evil" is no C identifier'):
            use(path)


def test_the_name_of_a_model_is_no_path(pendulum, tmp_path, monkeypatch):
    (tmp_path / "deep" / "temporary").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "deep" / "temporary"))
    path = changed(pendulum, tmp_path / "x.fmu", described(r'modelName="[^"]*"', 'modelName="../../evil"'))
    found = mbfmu.sweep(path, {"body.m": [1.0]}, ["rev.phi:final"], 0.1)
    assert np.isfinite(found["rev.phi:final"]).all()
    assert [entry.name for entry in tmp_path.rglob("evil*")] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "a/b", "..", "a\\b", "", ".hidden", "x" * 300, "a\nb"])
def test_the_name_of_a_system_leads_nowhere(pendulum, tmp_path, monkeypatch, capsys, name):
    inner = tmp_path / "one" / "two"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    (inner / "system.toml").write_text(f"name = {json.dumps(name)}\n[elements]\na = {json.dumps(str(pendulum))}\n")
    assert cli.main(["ssp", "system.toml"]) == 2
    assert "can be no name of a file" in capsys.readouterr().err
    assert left_in(tmp_path) == {"one/two/system.toml"}


@pytest.mark.slow
@pytest.mark.parametrize("experiment", ["3", "[{stop = 3}]"])
def test_the_experiment_of_a_system_is_a_table(tmp_path, monkeypatch, capsys, experiment):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "system.toml").write_text(f"experiment = {experiment}\n[elements]\na = 'pendulum'\n")
    assert cli.main(["ssp", "system.toml"]) == 2
    message = capsys.readouterr().err
    assert "experiment = " in message
    assert "write it as a table" in message
    assert "Traceback" not in message


def test_states_without_a_name_are_shown(pendulum, tmp_path, capsys):
    path = changed(pendulum, tmp_path / "x.fmu", described(' name="rev.phi"', ""))
    assert cli.main(["info", str(path)]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_elements_of_systems_lead_nowhere(pendulum, tmp_path, monkeypatch, capsys):
    inner = tmp_path / "one"
    inner.mkdir()
    monkeypatch.chdir(inner)
    (inner / "system.toml").write_text('[elements]\n"../../evil" = "pendulum"\n')
    assert cli.main(["ssp", "system.toml"]) == 2
    assert "element '../../evil': is not a name" in capsys.readouterr().err
    for element in ({"../evil": pendulum}, {"../evil": Pendulum()}):
        with pytest.raises(ModelError, match=r"element '\.\./evil': is not a name"):
            build_ssp(element, "x.ssp")
    assert left_in(tmp_path) == {"one/system.toml"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"[" * 100_000, "nested without end"),
        (b'{"mbfmu-scene": 2, "shapes": "' + b"x" * LARGEST + b'"}', "has more than 20 MB"),
    ],
    ids=["nested", "large"],
)
def test_scenes_without_end_are_refused(pendulum, tmp_path, text, words):
    path = changed(pendulum, tmp_path / "x.fmu", as_it_is, **{SCENE_FILE: text})
    with pytest.raises(MbfmuError, match=words):
        read_subject(Foreign(path))


@pytest.mark.slow
@pytest.mark.parametrize(
    "mesh", ["/etc/passwd", "../../secret.stl", "file:///etc/x.stl", "meshes/../../x.stl", "meshes/.."]
)
def test_a_scene_names_meshes_of_its_own(pendulum, tmp_path, mesh):
    with zipfile.ZipFile(pendulum) as archive:
        scene = json.loads(archive.read(SCENE_FILE))
    scene["shapes"][0]["type"] = mesh
    path = changed(pendulum, tmp_path / "x.fmu", as_it_is, **{SCENE_FILE: json.dumps(scene).encode()})
    with pytest.raises(MbfmuError, match="is no file of its own"):
        read_subject(Foreign(path))


@pytest.mark.slow
def test_a_check_leaves_nothing_behind(pendulum, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    path = changed(pendulum, tmp_path / "x.fmu", described(r'guid="[^"]*"', 'guid="{another}"'))
    assert "guid" in " ".join(validate(path)).lower()
    assert list((tmp_path / "temporary").iterdir()) == []


#: What is edited in a description of both versions -> words of the message.
EDITS = {
    'name="rev.phi"': ('name="rev.w"', 'Two variables have the name "rev.w"'),
    'valueReference="1"': ('valueReference="-1"', 'value reference of ".*", -1'),
    'valueReference="1" ': ('valueReference="4294967296" ', "4294967296, is none of 32 bits"),
    'causality="output"': ('causality="nothing"', 'causality of "rev.phi", "nothing", is unknown'),
    'start="20.0"': ('start="x"', 'start value of ".*", "x", is no number'),
}


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("pattern", EDITS)
def test_variables_that_are_not_what_they_say_are_refused(pendulum, third, tmp_path, fmi, pattern):
    """Two of one name would give the values of one of them for both."""
    text, words = EDITS[pattern]
    path = changed({2: pendulum, 3: third}[fmi], tmp_path / "x.fmu", described(f"{pattern}(?s:(.*))", rf"{text}\1"))
    for use in (Foreign, lambda file: SystemStructure.of({"a": file})):
        with pytest.raises(ValidationError, match=f"{words}|beyond FMPy"):
            use(path)
    assert validate(path, run=False)
