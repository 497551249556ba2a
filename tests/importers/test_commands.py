"""Files of other formats on the command line and in Python."""

from __future__ import annotations

import pathlib
import re
import shutil
from typing import get_args

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu import cli, importers
from mbfmu.errors import ModelError
from mbfmu.importers import IMPORTERS
from mbfmu.importers.mjcf import FEATURES
from mbfmu.importers.urdf import JOINTS, Drive

ROBOT = pathlib.Path(__file__).parents[2] / "fmus" / "scara" / "scara.urdf"


@pytest.mark.slow
@pytest.mark.campaign
def test_a_robot_is_a_source_of_every_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    fmu, csv = tmp_path / "arm.fmu", tmp_path / "arm.csv"
    assert cli.main(["build", str(ROBOT), "-o", str(fmu), "--floating", "--target", "python", "-p", "world.g=1.5"]) == 0
    shown = capsys.readouterr()
    assert "gravity is 9.80665 m/s2 along -z" in shown.err
    assert "limits of joints are not kept" in shown.err
    description = fmpy.read_model_description(fmu)
    names = {v.name: v for v in description.modelVariables}
    assert names["shoulder_tau"].causality == "input"
    assert names["floating_base.r_rel_a[3]"].causality == "output"
    assert float(names["world.g"].start) == 1.5
    options = ["--stop", "0.1", "--csv", str(csv), "--drive", "none", "--stops", "-p", "shoulder.phi=0.4"]
    assert cli.main(["simulate", str(ROBOT), *options]) == 0
    assert np.genfromtxt(csv, delimiter=",", names=True)["shoulderphi"][-1] == pytest.approx(0.4)
    assert cli.main(["info", str(ROBOT), "--drive", "position", "--bandwidth", "3"]) == 0
    assert "shoulder_phi_ref" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("name", ["arm.py", "arm.toml"])
def test_convert_writes_a_model_to_go_on_with(
    name: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    assert cli.main(["convert", str(ROBOT), "-o", str(file), "--drive", "position"]) == 0
    assert str(file) in capsys.readouterr().out
    runs = [
        mbfmu.simulate(a, 0.2, outputs=["elbow.phi"]) for a in (mbfmu.load(ROBOT, drive="position"), mbfmu.load(file))
    ]
    assert np.array_equal(runs[0]["elbow.phi"], runs[1]["elbow.phi"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "pendulum", "--floating"], "pendulum: the option floating is for files of other formats"),
        (["convert", "pendulum", "-o", "pendulum.fmu"], "what is written is Python or TOML; choose pendulum.py"),
        (["convert", "model.toml", "-o", "./model.toml"], "is the source itself; choose another file"),
        (["info", "nowhere.urdf"], "nowhere.urdf: no such file"),
        (["info", str(ROBOT), "--without", "contact"], "have no option 'without'"),
        (["build", str(ROBOT), "--drive", "steam"], "drive = 'steam': expected one of effort"),
    ],
)
def test_errors_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.slow
def test_a_robot_can_be_read_into_an_assembly_of_ones_own() -> None:
    class Cell(mbfmu.Assembly):
        def __init__(self) -> None:
            mbfmu.load(ROBOT, into=self, drive="none")
            self.output(self.hand.r_0[2], "height")

    assembly = Cell()
    assert mbfmu.simulate(assembly, 0.01)["height"][0] == pytest.approx(0.3 + 0.06 - 0.15)


def test_every_reader_loads() -> None:
    for suffix, module in IMPORTERS.items():
        assert suffix.startswith(".")
        assert callable(__import__(module, fromlist=["load"]).load)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("page", ["urdf.md", "mjcf.md"])
def test_what_the_pages_show_runs(
    page: str, root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page == "mjcf.md":
        pytest.importorskip("mujoco", reason="no MuJoCo: pip install 'mbfmu[mjcf]'")
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROBOT, tmp_path / "robot.urdf")
    shutil.copy(root / "tests" / "importers" / "mjcf" / "springs.xml", tmp_path / "model.xml")
    text = (root / "docs" / page).read_text(encoding="utf-8")
    commands = [line.split() for line in text.splitlines() if line.startswith("    mbfmu ")]
    assert len(commands) >= 3
    for command in commands:
        extra = ["--target", "python"] if command[1] == "build" else []
        assert cli.main([*command[1:], *extra]) == 0, command
    (code,) = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    names: dict = {}
    exec(code, names)
    assert names.get("result") is None or names["result"].time[-1] == 0.5


def test_the_pages_name_every_feature_and_option(root: pathlib.Path) -> None:
    page = (root / "docs" / "mjcf.md").read_text(encoding="utf-8")
    table = page.partition("## What has no counterpart")[2].partition("\n## ")[0]
    assert {word for row in re.findall(r"^\| (`.*?) \|", table, re.M) for word in re.findall(r"`(\w+)`", row)} == set(
        FEATURES
    )
    page = (root / "docs" / "urdf.md").read_text(encoding="utf-8")
    assert set(JOINTS) <= set(re.findall(r"`(\w+)`", page))
    assert set(re.findall(r"^\| `(\w+)` \| [^\n]*$", page.partition("## What moves the joints")[2], re.M)) == set(
        get_args(Drive)
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", sorted({*IMPORTERS} - {".xacro"}))  # which its own reader opens
def test_a_file_that_is_not_there_or_cannot_be_read_is_told(
    suffix: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / f"none{suffix}", tmp_path, f"{'x' * 300}{suffix}", f"x\0{suffix}"):
        with pytest.raises(
            ModelError, match="no such file; check the path" if path is not tmp_path else "no reader for"
        ):
            importers.load(path)
    path = tmp_path / f"model{suffix}"
    path.write_text("text")

    def refused(*arguments: object, **options: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    for name in ("read_bytes", "read_text", "open"):
        monkeypatch.setattr(pathlib.Path, name, refused)
    said = rf"{re.escape(str(path))}: cannot be read \(Permission denied\); check the path and its permissions"
    with pytest.raises(ModelError, match=said):
        importers.load(path)


def test_a_file_of_another_kind_is_told_with_the_kinds_that_are_read(tmp_path: pathlib.Path) -> None:
    with pytest.raises(
        ModelError, match=r"a\.step: no reader for files of this kind; known: \.mo, \.urdf, \.xacro, \.xml"
    ):
        importers.load(tmp_path / "a.step")
