"""The command line: sources, settings, outputs, exit codes and messages."""

from __future__ import annotations

import csv
import html.parser
import inspect
import io
import json
import math
import pathlib
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import fmpy
import numpy as np
import pytest
from rich.console import Console

import mbfmu
from mbfmu import cli, printing, sources
from mbfmu.arrays import Array
from mbfmu.cli import report
from mbfmu.demos import keys, machine_page
from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError, ModelError
from mbfmu.scene import bundle

PENDULUM = '''
from mbfmu import Assembly, Start
from mbfmu.components import Body, Revolute, World


class Pendulum(Assembly):
    """A point mass on a massless rod."""

    stop_time = 0.5

    def __init__(self, length=0.4, angle=0.1):
        self.world = World()
        self.hinge = Revolute(phi=Start(angle, fixed=True), w=Start(0.0, fixed=True))
        self.bob = Body(r_CM=(0, -length, 0), m=2.0, I_11=0.0, I_22=0.0, I_33=0.0)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bob.frame_a)
        self.output(self.hinge.phi)
'''

TOML = """
[experiment]
start = 0.0
stop = 0.5
tolerance = 1e-6

[world]

[[component]]
name = "hinge"
class = "MultiBody.Joints.Revolute"
[component.parameters]
phi = {start = 0.1, fixed = true}
w = {fixed = true}

[[component]]
name = "bob"
class = "MultiBody.Parts.Body"
[component.parameters]
r_CM = [0.0, -0.4, 0.0]
m = 2.0

[[connect]]
a = "world.frame_b"
b = "hinge.frame_a"

[[connect]]
a = "hinge.frame_b"
b = "bob.frame_a"
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Return an empty working directory with a pendulum in Python and in TOML."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "pendulum.py").write_text(PENDULUM, encoding="utf-8")
    (tmp_path / "pendulum.toml").write_text(TOML, encoding="utf-8")
    return tmp_path


def parameter(file: pathlib.Path, name: str) -> float:
    """Return a start value as another tool reads it from the FMU."""
    (found,) = (v for v in fmpy.read_model_description(str(file)).modelVariables if v.name == name)
    return float(found.start)


def without_compiler(monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path) -> None:
    """Hide every C compiler: nothing on PATH, no CC, no ziglang."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["", "build", "simulate", "validate", "info", "list", "demo", "ssp"])
def test_help_ends_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([*command.split(), "--help"]) == 0
    assert f"Example: mbfmu {command or 'demo'}" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    import mbfmu

    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"mbfmu {mbfmu.__version__}\n"


@pytest.mark.parametrize("source", ["pendulum.py", "pendulum.py:Pendulum", "pendulum:Pendulum", "pendulum.toml"])
def test_every_form_of_source(source: str, folder: pathlib.Path) -> None:
    assert {"world", "hinge", "bob"} <= set(sources.load(source).parts)


def test_gallery_source() -> None:
    assert {"revolute1", "boxBody2"} <= set(sources.load("double_pendulum").parts)


@pytest.mark.slow
def test_settings_reach_constructor_parameters_and_start_values(folder: pathlib.Path) -> None:
    settings = ["length=0.7", "bob.m=3", "hinge.phi=0.25", "world.n=[0, 0, -1]", "hinge.useAxisFlange=true"]
    assembly = sources.load("pendulum.py", settings)
    assert list(assembly.bob.value("r_CM")) == [0.0, -0.7, 0.0]
    assert assembly.bob.value("m") == 3.0
    assert list(assembly.world.value("n")) == [0.0, 0.0, -1.0]
    assert assembly.hinge.value("useAxisFlange") is True
    file = folder / "out.fmu"
    assert cli.main(["build", "pendulum.py", "--target", "python", "-o", str(file), "-p", "hinge.phi=0.25"]) == 0
    assert parameter(file, "hinge.phi") == 0.25


@pytest.mark.slow
def test_build_validate_info(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["build", "pendulum.py", "--target", "python", "-p", "bob.m=3"]) == 0
    file = folder / "Pendulum.fmu"
    assert parameter(file, "bob.m") == 3.0
    assert cli.main(["validate", str(file)]) == 0
    assert "no problems" in capsys.readouterr().out
    assert cli.main(["info", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "co-simulation" in shown
    assert "bob.m" in shown
    assert "A point mass on a massless rod." in shown


def test_info_tells_the_structure_of_an_assembly(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", "pendulum.py"]) == 0
    shown = capsys.readouterr().out
    assert "hinge" in shown
    assert "degree" in shown


@pytest.mark.slow
def test_info_tells_what_holds_from_guesses(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "pendulum.py").read_text()
    (folder / "guess.py").write_text(text.replace("phi=Start(angle, fixed=True), ", "phi=Start(0.25), "))
    for source, word in (("pendulum.py", "fixed"), ("guess.py", "guess")):
        assert cli.main(["info", source]) == 0
        (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("hinge.phi "))
        assert row.split()[3] == word, row


@pytest.mark.slow
def test_start_values_that_nobody_gave_are_shown(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (folder / "pendulum.py").read_text()
    assert "phi=Start(angle, fixed=True), " in text
    (folder / "open.py").write_text(text.replace("phi=Start(angle, fixed=True), ", ""))
    assert cli.main(["info", "open.py"]) == 0
    assert "nobody gave: hinge.phi = 0 rad\n" in capsys.readouterr().out
    assert cli.main(["simulate", "open.py", "--stop", "0.1"]) == 0
    assert "hinge.phi = 0; fix what is meant to hold" in " ".join(capsys.readouterr().err.split())


EQUATIONS = '''
import casadi as ca
from mbfmu import Assembly
from mbfmu.components import blocks
from mbfmu.modeling import Component, RealInput, RealOutput


class Cosine(Component):
    """y = cos(u)."""

    u, y = RealInput("Input"), RealOutput("Output")

    def equations(self):
        self.y = ca.cos(self.u)


class Loop(Assembly):
    """y = 0.9 cos(y)."""

    def __init__(self):
        self.gain, self.cos = blocks.Gain(k=0.9), Cosine()
        self.connect(self.gain.y, self.cos.u)
        self.connect(self.cos.y, self.gain.u)
        self.output(self.cos.y, "y")
'''


def test_info_tells_the_equations_of_a_model(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop.py").write_text(EQUATIONS)
    assert cli.main(["info", "loop.py", "--equations"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "0 linear and 1 iterated, with 1 torn quantities" in shown
    assert re.search(r"size solved torn or iterated .* 2 iterated (gain|cos)\.y (gain|cos)\.y", shown), shown
    assert "not linear in" not in shown  # that is of equations of motion
    assert cli.main(["info", "loop.py", "--equations", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (loop,) = (block for block in found["blocks"] if block["solved"] != "formula")
    assert loop["solved"] == "iterated"
    assert {found["quantities"][i]["name"] for i in loop["quantities"]} == {"gain.y", "cos.y"}
    assert [found["quantities"][i]["name"] for i in loop["torn"]] == loop["iterated"]
    for place, quantity in enumerate(found["quantities"]):
        assert place in loop["quantities"] or all(need < place for need in quantity["needs"])


class _Page(html.parser.HTMLParser):
    """What of a page comes from elsewhere, its texts by tag, and the elements that are open at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.scripts: dict[str | None, str] = {}
        self.id: str | None = None

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.links += [value for name, value in attributes if name in ("src", "href") and value != "data:,"]
        self.id = found.get("id")
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts[self.id] = self.scripts.get(self.id, "") + data


def test_the_page_of_the_equations_needs_nothing_else(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "loop.py").write_text(EQUATIONS)
    assert cli.main(["info", "loop.py", "--equations", "-o", "loop.html"]) == 0
    assert "loop.html" in capsys.readouterr().out
    text = (folder / "loop.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert (page.open, page.links) == ([], [])
    assert "http" not in text.replace("http-equiv", "")
    data = json.loads(page.scripts["data"])
    (loop,) = (block for block in data["blocks"] if block[3] != "formula")
    first, size, torn, solved = loop
    assert (size, torn, solved) == (2, 1, "iterated")
    assert set(data["names"][first : first + size]) == {"gain.y", "cos.y"}
    assert len(data["names"]) == len(data["kinds"]) == len(data["needs"]) == sum(block[1] for block in data["blocks"])
    assert "$" not in re.sub(r"\$\{", "", text)


def test_the_page_of_the_equations_is_refused_where_there_is_none(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    for arguments, word in (
        ("info pendulum.py -o page.html", "--equations"),
        ("info pendulum.py --equations -o notes.txt", "notes.html"),
        ("info pendulum.fmu --equations", "the model that it was made from"),
    ):
        assert word in complaint(arguments.split(), capsys)
    assert sorted(folder.iterdir()) == before
    assert (folder / "pendulum.py").read_text(encoding="utf-8") == PENDULUM


@pytest.mark.slow
def test_simulate_writes_csv_and_picture(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "simulate pendulum.py --stop 0.4 --interval 0.1 --tolerance 1e-9 --csv out.csv --plot out.png --table"
    assert cli.main(command.split()) == 0
    header, *rows = csv.reader((folder / "out.csv").open())
    assert header == ["time", "hinge.phi"]
    assert np.allclose([float(row[0]) for row in rows], [0.0, 0.1, 0.2, 0.3, 0.4])
    # the period of a pendulum of amplitude 0.1 rad is that of a small one times 1 + 0.1^2 / 16
    expected = [0.1 * math.cos(math.sqrt(9.80665 / 0.4) / (1 + 0.01 / 16) * float(row[0])) for row in rows]
    assert np.allclose([float(row[1]) for row in rows], expected, atol=1e-4)
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")
    assert len(capsys.readouterr().out.strip().splitlines()) >= len(rows) + 1


def test_simulate_shows_chosen_variables(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "pendulum.py", "--variables", "hinge.w, bob.frame_a.r_0[*", "--csv", "out.csv"]) == 0
    header = (folder / "out.csv").read_text().splitlines()[0]
    assert header == "time,hinge.w,bob.frame_a.r_0[1],bob.frame_a.r_0[2],bob.frame_a.r_0[3]"


@pytest.mark.slow
def test_list_shows_gallery_and_classes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "double_pendulum" in shown
    assert "MultiBody.Joints.Revolute" in shown


@pytest.mark.slow
def test_list_of_a_class_shows_what_it_declares(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "Damper"]) == 0
    shown = capsys.readouterr().out
    assert "from mbfmu.components.rotational import Damper" in shown
    assert re.search(r"d +parameter +required +N.m.s/rad +Damping constant", shown)
    assert cli.main(["list", "Modelica.MultiBody.Joints.Revolute"]) == 0
    shown = capsys.readouterr().out
    assert "from mbfmu.components import Revolute" in shown
    assert re.search(r"n +parameter, fixed +0, 0, 1 ", shown)
    assert re.search(r"frame_a +Frame_a ", shown)
    assert re.search(r"w +variable +0 +rad/s ", shown)
    assert cli.main(["list", "Parts.RollingWheel"]) == 0
    assert re.search(r"angles +variable +0, fixed +rad ", capsys.readouterr().out)
    for name in ("translational.Brake", "mbfmu.components.translational.Brake"):
        assert cli.main(["list", name]) == 0
        assert capsys.readouterr().out.startswith("Translational.Components.Brake  from")


@pytest.mark.slow
def test_json_says_what_the_tables_say(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    def asked(*arguments: str) -> Any:
        assert cli.main([*arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    assert cli.main(["build", "pendulum.py", "-o", "pendulum.fmu"]) == 0
    capsys.readouterr()
    model, fmu = asked("info", "pendulum.py"), asked("info", "pendulum.fmu")
    assert (model["modelExchange"], model["states"]) == (True, ["hinge.phi", "hinge.w"]) == (True, fmu["states"])
    for facts in (model, fmu):
        (start,) = (v for v in facts["variables"] if v["name"] == "hinge.phi")
        assert (start["start"], start["unit"], start["causality"]) == (0.1, "rad", "output")
    assert asked("validate", "pendulum.fmu") == {"file": "pendulum.fmu", "problems": []}
    inside, outside = asked("simulate", "pendulum.py"), asked("simulate", "pendulum.fmu", "--variables", "hinge.phi")
    assert inside["units"] == outside["units"] == {"hinge.phi": "rad"}
    assert inside["series"]["time"] == outside["series"]["time"]
    np.testing.assert_allclose(inside["series"]["hinge.phi"], outside["series"]["hinge.phi"], atol=1e-12)
    for source in ("pendulum.py", "pendulum.fmu"):
        given = asked("simulate", source, "--stop", "0.1", "--variables", "hinge.phi", "-p", "hinge.phi=0.3")
        assert given["series"]["hinge.phi"][0] == 0.3
    (sphere,) = asked("list", "Joints.Spherical")
    assert sphere["import"] == "from mbfmu.components import Spherical"
    (fixed,) = (d for d in sphere["declares"] if d["name"] == "z_rel_a_fixed")
    assert (fixed["kind"], fixed["default"]) == ("parameter", "false")


def test_a_message_of_several_lines_becomes_one(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    held = edited(PENDULUM, "self.output", "self.connect(self.world.frame_b, self.bob.frame_a)\n        self.output")
    (folder / "held.py").write_text(held, encoding="utf-8")
    message = complaint(["simulate", "held.py"], capsys)
    assert "cannot be met: '" in message
    assert "change it: hinge.phi = 0.1" in message


@pytest.mark.slow
def test_validate_finds_problems_and_exits_with_1(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    import zipfile

    assert cli.main(["build", "pendulum.py", "--target", "python", "-o", "good.fmu"]) == 0
    with zipfile.ZipFile("good.fmu") as good, zipfile.ZipFile("bad.fmu", "w") as bad:
        for name in good.namelist():
            content = good.read(name)
            if name == "modelDescription.xml":
                content = content.replace(b'causality="output"', b'causality="outputs"')
            bad.writestr(name, content)
    assert cli.main(["validate", "bad.fmu"]) == 1
    assert "outputs" in capsys.readouterr().out


def edited(text: str, old: str, new: str) -> str:
    """Replace, insisting that there is something to replace."""
    assert old in text
    return text.replace(old, new)


BAD_SOURCES = {
    "unknown gallery name": ("double_pendulm", "", ["double_pendulm", "double_pendulum"]),
    "missing file": ("nothing.py", "", ["nothing.py", "no such file"]),
    "missing assembly file": ("nothing.toml", "", ["nothing.toml"]),
    "missing module": ("no_such_module:Pendulum", "", ["no_such_module"]),
    "unknown class": ("pendulum.py:Pendulun", "", ["pendulum.py", "Pendulun", "Pendulum"]),
    "not an assembly": ("pendulum.py:Revolute", "", ["Revolute", "not an assembly"]),
    "no assembly": ("bad.py", "x = 1", ["bad.py", "no assembly"]),
    "two assemblies": ("bad.py", PENDULUM + "\nclass Other(Assembly): pass\n", ["bad.py:Pendulum", "bad.py:Other"]),
    "syntax error": ("bad.py", "def f(:\n", ["bad.py", "line 1"]),
    "error on import": ("bad.py", "x = 1\ny = undefined\n", ["bad.py", "NameError", "line 2"]),
    "error in constructor": ("bad.py", edited(PENDULUM, "World()", "Wrld()"), ["bad.py", "Wrld", "line 12"]),
    "argument without default": ("bad.py", edited(PENDULUM, "length=0.4", "length"), ["length", "-p length="]),
    "open joint": ("bad.py", edited(PENDULUM, "self.connect(self.world.frame_b", "(self.world.frame_b"), ["hinge"]),
    "two worlds": (
        "bad.py",
        edited(PENDULUM, "        self.hinge =", "        self.world2 = World()\n        self.hinge ="),
        ["world", "world2"],
    ),
    "component used twice": (
        "bad.py",
        edited(PENDULUM, "        self.output", "        self.bob2 = self.bob\n        self.output"),
        ["bob", "once"],
    ),
    "negative mass": ("bad.py", edited(PENDULUM, "m=2.0", "m=-2.0"), ["m = -2.0", ">= 0"]),
    "zero axis": ("bad.py", edited(PENDULUM, "Revolute(", "Revolute(n=(0, 0, 0), "), ["n = (0, 0, 0)", "direction"]),
    "unknown parameter": ("bad.py", edited(PENDULUM, "m=2.0", "mas=2.0"), ["bad.py, line 14", "Body has no", "'mas'"]),
    "start value as text": ("bad.py", edited(PENDULUM, "Start(angle", "Start('30 deg'"), ["line 13", "phi", "30 deg"]),
    "component in place of a connector": (
        "bad.toml",
        edited(TOML, 'b = "bob.frame_a"', 'b = "bob"'),
        ["hinge.frame_b", "'bob' is a component", "bob.frame_a"],
    ),
    "connection with one end": ("bad.toml", edited(TOML, 'b = "bob.frame_a"', ""), ["hinge.frame_b", 'b = "..."']),
    "wrong shape": ("bad.py", edited(PENDULUM, "(0, -length, 0)", "(0, -length)"), ["r_CM", "3 numbers"]),
    "unknown TOML class": ("bad.toml", edited(TOML, "Joints.Revolute", "Joints.Revolut"), ["bad.toml", "Revolut"]),
    "unknown TOML key": ("bad.toml", edited(TOML, "[experiment]", "[experimnt]"), ["bad.toml", "experimnt"]),
    "unknown TOML parameter": ("bad.toml", edited(TOML, "m = 2.0", "mass = 2.0"), ["bob", "mass"]),
    "no TOML at all": ("bad.toml", "[experiment\n", ["bad.toml", "line 1"]),
}


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must end in an error; returns the message, which must be the last line and the only one."""
    assert cli.main(arguments) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert "defect" not in error
    last = error.strip().splitlines()[-1]
    assert last.startswith("mbfmu: ")
    return last


@pytest.mark.slow
@pytest.mark.parametrize(("source", "text", "words"), BAD_SOURCES.values(), ids=BAD_SOURCES)
def test_a_bad_source_ends_in_one_message(
    source: str, text: str, words: list[str], folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if text:
        (folder / source).write_text(text, encoding="utf-8")
    message = complaint(["build", source, "--target", "python", "-o", "out.fmu"], capsys)
    assert [word for word in words if word not in message] == []
    assert not (folder / "out.fmu").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "words"),
    {
        "no equals sign": ("bob.m", ["bob.m", "name=value"]),
        "unknown argument": ("lenght=1", ["lenght", "length"]),
        "unknown component": ("bobb.m=1", ["bobb", "bob"]),
        "unknown parameter": ("bob.mm=1", ["mm", "bob"]),
        "wrong kind": ("bob.m=heavy", ["bob.m", "heavy", "number"]),
        "out of bounds": ("bob.m=-1", ["bob.m", "-1", ">= 0"]),
        "unit in a value": ("bob.m=2 kg", ["bob.m", "2 kg", "number in kg"]),
        "unit in a start value": ("hinge.phi=30deg", ["hinge.phi", "30deg", "number", "SI"]),
    }.values(),
)
def test_a_bad_setting_ends_in_one_message(
    setting: str, words: list[str], folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = complaint(["build", "pendulum.py", "-p", setting, "-o", "out.fmu"], capsys)
    assert [word for word in words if word not in message] == []
    assert not (folder / "out.fmu").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    {
        "unknown command": ("bild pendulum.py", ["bild", "build"]),
        "unknown option": ("build pendulum.py --targt native", ["--targt", "--target"]),
        "missing source": ("build", ["SOURCE"]),
        "unknown target": ("build pendulum.py --target nativ", ["nativ", "native", "python"]),
        "unknown platform": ("build pendulum.py --target native --platform linux65", ["linux65", "linux64"]),
        "input without an experiment": ("build pendulum.py --input push.csv", ["--input", "--experiment"]),
        "no uncertainty": ("build pendulum.py --uncertainty pendulum.py", ["pendulum.py", "mbfmu fit --json"]),
        "source as output": ("build pendulum.py -o pendulum.py", ["pendulum.py", "written over"]),
        "package of another name": ("ssp powertrain car -o car.fmu", ["car.fmu", "car.ssp"]),
        "FMU in place of an assembly": ("build broken.fmu", ["is an FMU", "`mbfmu info`"]),
        "run of a broken FMU": ("simulate broken.fmu", ["broken.fmu", "not an FMU"]),
        "missing folder": ("build pendulum.py --target python -o nowhere/out.fmu", ["nowhere"]),
        "file in place of a folder": ("build pendulum.py --target python -o pendulum.py/out.fmu", ["pendulum.py"]),
        "not an FMU": ("validate pendulum.py", ["pendulum.py", "not an FMU"]),
        "no such FMU": ("validate nothing.fmu", ["nothing.fmu"]),
        "info of a broken FMU": ("info broken.fmu", ["broken.fmu", "not an FMU"]),
        "unknown variable": ("simulate pendulum.py --variables hinge.phy", ["hinge.phy", "hinge.phi"]),
        "unwritable CSV": ("simulate pendulum.py --csv nowhere/out.csv", ["nowhere"]),
        "backwards": ("simulate pendulum.py --stop -1", ["-1"]),
        "step of zero": ("simulate pendulum.py --interval 0", ["0 s", "positive"]),
        "unknown picture format": ("simulate pendulum.py --plot out.xyz", ["xyz"]),
        "unknown class": ("list Revolite", ["Revolite", "Revolute"]),
        "unknown demonstration": ("demo triple", ["triple", "double_pendulum"]),
    }.values(),
)
def test_bad_use_ends_in_one_message(
    arguments: str, words: list[str], folder: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.fmu").write_text("no archive", encoding="utf-8")
    before = sorted(folder.rglob("*.fmu"))
    message = complaint(arguments.split(), capsys)
    assert [word for word in words if word not in message] == []
    assert sorted(folder.rglob("*.fmu")) == before
    assert (folder / "pendulum.py").read_text(encoding="utf-8") == PENDULUM


def test_compiled_equations_without_compiler_name_the_remedy(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_compiler(monkeypatch, folder)
    message = complaint(["build", "pendulum.py", "--equations", "compiled", "-o", "out.fmu"], capsys)
    assert "compiler" in message
    assert "--equations interpreted" in message
    assert not (folder / "out.fmu").exists()


@pytest.mark.slow
def test_without_compiler_equations_are_interpreted_and_that_is_said(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without_compiler(monkeypatch, folder)
    assert cli.main(["build", "pendulum.py", "-o", "out.fmu"]) == 0
    shown = "".join(capsys.readouterr())
    assert "interpreted" in shown
    assert "compiler" in shown
    assert not fmpy.read_model_description("out.fmu").coSimulation.needsExecutionTool


@pytest.mark.slow
def test_demo_builds_compares_and_draws(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["demo", "double_pendulum", "-o", "shown", "--no-open"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "native  " in shown
    (difference,) = re.findall(r"(\S+) to native", shown)
    assert float(difference) == 0  # one runtime
    assert (folder / "shown" / "double_pendulum.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((folder / "shown").glob("*.fmu"))) == 2


@pytest.mark.slow
@pytest.mark.campaign
def test_the_demonstration_ends_with_a_page_that_opens(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not bundle.BUNDLE.is_file():
        pytest.skip("the page's program was not made: npm was not there at set-up")
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or True)
    monkeypatch.setattr("mbfmu.printing.has_display", lambda: True)
    assert cli.main(["demo", "-o", "shown", "--open"]) == 0
    shown = capsys.readouterr().out
    page = folder / "shown" / "tower_crane.html"
    assert asked == [page.resolve().as_uri()]
    assert page.is_file()
    is_live = "shows a recorded run" not in shown  # where the runtime for browsers is
    assert keys("tower_crane", is_live) in " ".join(shown.split())


def test_keys_that_the_demonstration_names_are_those_of_its_page() -> None:
    """A page that shows a run has no inputs to hold and nothing to restart."""
    live, recorded = keys("tower_crane", True), keys("tower_crane", False)
    assert "\N{RIGHTWARDS ARROW} for slew" in live
    assert "K for lower" in live
    assert "R starts again" in live
    assert not {"Hold", "slew", "again"} & set(recorded.replace(";", "").split())
    assert recorded.startswith("Space stops")


def test_what_the_demonstration_tells_of_a_compiler_is_no_markup(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def animate(_: object, page: pathlib.Path, live: bool = False) -> pathlib.Path:
        if live:
            raise BuildError("memory.c: unused [-Werror] [/usr/bin/cc]")
        return page

    monkeypatch.setattr("mbfmu.animation.animate", animate)
    console = Console(width=200, file=io.StringIO())
    assert machine_page("pendulum", tmp_path, console) == (tmp_path / "pendulum.html", False)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "The page shows a recorded run: memory.c: unused [-Werror] [/usr/bin/cc]\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["motion.csv", "motion.txt", "motion", "motion.mat"])
def test_a_file_of_csv_is_csv_whatever_it_is_called(name: str, folder: pathlib.Path) -> None:
    assert cli.main(["simulate", "pendulum", "--stop", "0.1", "--csv", name]) == 0
    header, first, *_ = (folder / name).read_text("utf-8").splitlines()
    assert header.startswith("time")
    assert float(first.split(",")[0]) == 0


@pytest.mark.slow
def test_a_validated_fmu_is_shown_where_that_is_asked_for(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not bundle.BUNDLE.is_file():
        pytest.skip("the page's program was not made: npm was not there at set-up")
    monkeypatch.setattr("mbfmu.printing.has_display", lambda: False)
    assert cli.main(["build", "pendulum", "-o", "shown.fmu"]) == 0
    assert cli.main(["validate", "shown.fmu", "--open"]) == 0
    assert (folder / "shown.html").is_file()


def test_pages_open_where_there_is_a_display_and_it_is_asked_for(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: asked.append(address) or True)
    for has_display, wanted, is_open in (
        (True, True, True),
        (False, True, False),
        (True, False, False),
        (True, None, False),
    ):
        monkeypatch.setattr("mbfmu.printing.has_display", lambda there=has_display: there)
        assert printing.opened(folder / "page.html", wanted) == is_open  # None: the console of a test is a file
        assert ("no display here" in " ".join(capsys.readouterr().err.split())) == (wanted is True and not is_open)
    assert len(asked) == 1


@pytest.mark.slow
def test_the_installed_command_exits_with_2(folder: pathlib.Path) -> None:
    done = subprocess.run([sys.executable, "-m", "mbfmu", "build", "nothing.toml"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "nothing.toml" in done.stderr.strip().splitlines()[-1]


def test_a_source_file_hides_no_package(folder: pathlib.Path) -> None:
    (folder / "numpy.py").write_text(PENDULUM, encoding="utf-8")
    assert {"hinge"} <= set(sources.load("numpy.py").parts)
    assert sys.modules["numpy"] is np


def test_settings_are_toml_values() -> None:
    assert sources.parse_setting("a.b = [1, 2.5]") == ("a.b", [1, 2.5])
    assert sources.parse_setting("phi={start = 0.1, fixed = true}") == ("phi", {"start": 0.1, "fixed": True})
    assert sources.parse_setting("x=.5") == ("x", 0.5)
    assert sources.parse_setting("gravityType=PointGravity") == ("gravityType", "PointGravity")
    with pytest.raises(ModelError, match="name=value"):
        sources.parse_setting("=1")


def test_long_work_says_what_it_is_at_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(printing, "PATIENCE", 0.01)
    shown = ""
    with printing.working("Reading the assembly") as progress:
        progress("Deriving the equations of motion")
        while "\n" not in shown:
            shown += capsys.readouterr().err
    assert re.match(r"(Reading the assembly|Deriving the equations of motion) \(0 s\)\n", shown)
    stages: list[str] = []
    System.of(sources.load("double_pendulum"), progress=stages.append)
    assert len(stages) == len(set(stages)) >= 5
    assert all(stage.startswith("Deriving the equations of motion: ") for stage in stages)


def test_a_whole_array_shares_a_line_and_parts_do_not():
    """By rows, whatever the order of the variables."""
    whole, part, rate = Array("T", (2, 2)), Array("r", (3,)), Array("q", (2,), 1)
    listed = [*whole.elements_by_columns, *part.elements[:2], *rate.elements]
    rows = [SimpleNamespace(name=name, description="") for name in (*(e.name for e in listed), "s[1]", "s[2]")]
    found = [(name, [row.name for row in alike]) for name, alike in report.lines(rows, {e.name: e for e in listed})]
    assert found == [
        ("T[1..2,1..2]", ["T[1,1]", "T[1,2]", "T[2,1]", "T[2,2]"]), ("r[1]", ["r[1]"]), ("r[2]", ["r[2]"]),
        ("der(q[1..2])", ["der(q[1])", "der(q[2])"]), ("s[1]", ["s[1]"]), ("s[2]", ["s[2]"]),
    ]  # fmt: skip


def test_what_nobody_gives_is_the_same_in_commands_and_functions() -> None:
    """Where a command has an option that the function of its name has, and says what it is without."""
    compared = set()
    for module in (cli.commands, cli.studies):
        for name, command in vars(module).items():
            function = getattr(mbfmu, name, None)
            if name.startswith("_") or not inspect.isfunction(command) or not inspect.isfunction(function):
                continue
            ours, theirs = inspect.signature(command).parameters, inspect.signature(function).parameters
            for option in ours.keys() & theirs.keys():
                given = ours[option].default
                if given and given is not inspect.Parameter.empty:
                    assert given == theirs[option].default, f"{name} {option}"
                    compared.add(f"{name} {option}")
    assert compared >= {"build fmi", "equilibrium starts", "sweep sampling", "fit confidence", "linearize at"}
