"""What commands print fits the width there is, and no number in it is broken."""

from __future__ import annotations

import fcntl
import functools
import io
import itertools
import os
import pathlib
import pty
import re
import runpy
import struct
import subprocess
import sys
import termios
import warnings
import zipfile
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.io
from rich.console import Console

import mbfmu
from mbfmu import cli, printing
from mbfmu.cli import report, studies
from mbfmu.cli.commands import app
from mbfmu.runtime.result import Result
from mbfmu.studies.linearize import LinearModel

NUMBER = re.compile(r"(?<![\w.\[])-?\d+\.\d+(?:e[+-]\d+)?(?![\w\]])")


def text_of(table: printing.FittingTable, width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def lines_of(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


def sample() -> printing.FittingTable:
    table = printing.table(
        "", "name", "value", "start", "note", right=["value", "start"], whole=["name"], more="-o FILE"
    )
    table.add_row("hinge.phi", "-0.000123456", "1.25, 2.5, 3.75", "an angle that takes a sentence to explain")
    table.add_row("a", "7", "", "")
    return table


def test_wide() -> None:
    assert lines_of(text_of(sample(), 100)) == [
        "name              value            start  note",
        "hinge.phi  -0.000123456  1.25, 2.5, 3.75  an angle that takes a sentence to explain",
        "a                     7",
    ]


def test_texts_are_wrapped_first() -> None:
    assert lines_of(text_of(sample(), 60)) == [
        "name              value            start  note",
        "hinge.phi  -0.000123456  1.25, 2.5, 3.75  an angle that",
        "                                          takes a sentence",
        "                                          to explain",
        "a                     7",
    ]


def test_what_does_not_fit_is_left_out_and_counted() -> None:
    assert lines_of(text_of(sample(), 33)) == [
        "name              value     start",
        "hinge.phi  -0.000123456     1.25,",
        "                             2.5,",
        "                             3.75",
        "a                     7",
        "1 more column without room here:",
        "note; -o FILE",
    ]


@pytest.mark.parametrize("width", [20, 30, 40, 80, 160])
def test_no_number_is_broken(width: int) -> None:
    rng = np.random.default_rng(width)
    names = [f"x{i}" for i in range(9)]
    rows = [[f"{value:.6g}" for value in rng.normal(size=9) * 10.0 ** rng.integers(-12, 12, 9)] for _ in range(5)]
    table = printing.table("", *names, right=names)
    for row in rows:
        table.add_row(*row)
    shown = lines_of(text_of(table, width))
    assert max(map(len, shown)) <= max(width, max(len(one) for row in rows for one in row))
    kept = len(shown[0].split())
    assert [line.split() for line in shown[:6]] == [names[:kept], *(row[:kept] for row in rows)]
    assert kept == 9 or "without room" in " ".join(shown[6:])


SHORT = ["--stop", "0.1"]
BUILT = ["--equations", "interpreted"]
STEEL = ["--material", "2.1e11,0.3,7850"]
#: What is run of every verb, one after the other in one folder: later ones take what earlier ones wrote.
VERBS: dict[str, list[str]] = {
    "build": ["build", "rotor.py", "-o", "rotor.fmu", *BUILT],
    "build 3": ["build", "pendulum", "-o", "pendulum.fmu", "--fmi", "3", *BUILT],
    "validate": ["validate", "rotor.fmu"],
    "validate damaged": ["validate", "damaged.fmu"],
    "info": ["info", "double_pendulum"],
    "info fmu": ["info", "rotor.fmu"],
    "info robot": ["info", "arm.urdf", "--stops"],
    "equations": ["info", "double_pendulum", "--equations", "-o", "matrix.html"],
    "simulate": ["simulate", "double_pendulum", *SHORT],
    "simulate fmu": ["simulate", "rotor.fmu", *SHORT, "--csv", "run.csv"],
    "events": ["simulate", "cam_follower", "--stop", "0.5", "--events"],
    "no events": ["simulate", "rotor.py", *SHORT, "--events"],
    "animate": ["animate", "pendulum.fmu", *SHORT, "-o", "motion.glb"],
    "ssp": ["ssp", "left=rotor.fmu", "right=rotor.fmu", "-c", "left.answer=right.torque", "-o", "both.ssp"],
    "info ssp": ["info", "both.ssp"],
    "simulate ssp": ["simulate", "both.ssp", *SHORT, "--communication-step", "0.02"],
    "convert": ["convert", "pendulum", "-o", "pendulum.toml"],
    "convert robot": ["convert", "arm.urdf", "-o", "arm.py", "--drive", "position"],
    "diagram": ["diagram", "pendulum", "-o", "pendulum.svg"],
    "linearize": ["linearize", "furuta_pendulum"],
    "mode": ["linearize", "furuta_pendulum", "--mode", "2", "--animation", "mode.glb"],
    "equilibrium": ["equilibrium", "pendulum"],
    "sweep": ["sweep", "pendulum", "-p", "damper.d=0.1,0.2", "-y", "rev.phi:final", "-y", "rev.phi:max", *SHORT],
    "samples": ["sweep", "pendulum", "-p", "damper.d=uniform:0.1:0.2", "--samples", "3", "-y", "rev.phi:mean", *SHORT],
    "fit": ["fit", "pendulum", "measured.csv", "-p", "damper.d=0.1:1"],
    "flex": ["flex", "mass.mtx", "stiffness.mtx", "nodes.csv", "--held", "1 2 3", "--attach", "4", "--modes", "1"],
    "flex stress": ["flex", "wedge.inp", *STEEL, "--held", "base", "--attach", "tip", "--stress-at", "0.2 0.2 0.5"],
    "list": ["list"],
    "class": ["list", "Revolute"],
    "words": ["list", "spring", "damper"],
    "all words": ["list", "tyre", "--all"],
    "version": ["--version"],
    "demo": ["demo", "tower_crane", "--no-open"],
}
#: A rotor whose spring tells its torque, which another one can take.
ROTOR = """
from mbfmu.components import rotational
from mbfmu.modeling import Assembly, Start


class Rotor(Assembly):
    def __init__(self):
        self.motor, self.wall = rotational.Torque(), rotational.Fixed()
        self.rotor = rotational.Inertia(J=1.0, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.spring = rotational.SpringDamper(c=5.0, d=0.5)
        self.connect(self.motor.flange, self.rotor.flange_a)
        self.connect(self.rotor.flange_b, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.wall.flange)
        self.input(self.motor.tau, "torque")
        self.output(self.spring.tau, "answer")
"""
#: A robot of one joint with a limit.
ROBOT = """
<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="4"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
</link>
<joint name="a_shoulder_with_a_name_that_takes_room" type="revolute"><parent link="base"/><child link="upper"/>
<axis xyz="0 1 0"/><limit effort="50" lower="-2" upper="2" velocity="3"/></joint></robot>
"""
#: A prism of three tetrahedra as Abaqus has it.
WEDGE = """*NODE
1, 0, 0, 0
2, 1, 0, 0
3, 0, 1, 0
4, 0, 0, 1
5, 1, 0, 1
6, 0, 1, 1
*ELEMENT, TYPE=C3D4
1, 1, 2, 3, 6
2, 1, 2, 6, 5
3, 1, 5, 6, 4
*NSET, NSET=base
1, 2, 3
*NSET, NSET=tip
4, 5, 6
"""
FAILS = {"validate damaged": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Return a folder with what verbs read: a measured series, a damaged FMU, a truss, a mesh."""
    folder = tmp_path_factory.mktemp("verbs")
    (folder / "rotor.py").write_text(ROTOR)
    (folder / "arm.urdf").write_text(ROBOT)
    with zipfile.ZipFile(folder / "damaged.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", '<fmiModelDescription fmiVersion="2.0" modelName="M" guid="1"/>')
    mbfmu.simulate("pendulum", 0.5, interval=0.05, outputs=["rev.phi"]).to_csv(folder / "measured.csv")
    nodes = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    stiffness = np.zeros((12, 12))
    for i, j in itertools.combinations(range(4), 2):
        along = (nodes[j] - nodes[i]) / np.linalg.norm(nodes[j] - nodes[i])
        pull = np.zeros(12)
        pull[3 * i : 3 * i + 3], pull[3 * j : 3 * j + 3] = -along, along
        stiffness += 1e6 * np.outer(pull, pull)
    scipy.io.mmwrite(folder / "mass.mtx", np.eye(12))
    scipy.io.mmwrite(folder / "stiffness.mtx", stiffness)
    (folder / "nodes.csv").write_text("".join(f"{i},{x},{y},{z}\n" for i, (x, y, z) in enumerate(nodes, 1)))
    (folder / "wedge.inp").write_text(WEDGE)
    return folder


@pytest.fixture(scope="module")
def said(folder: pathlib.Path) -> Callable[[str], list[tuple[bool, Any, Any]]]:
    """Return a function that runs a verb once, and gives what it prints: on stderr or not, arguments of `print`."""
    known: dict[str, list[tuple[bool, Any, Any]]] = {}

    def of(verb: str) -> list[tuple[bool, Any, Any]]:
        if verb not in known:
            for earlier, line in VERBS.items():  # what this one takes may have been another worker's to write
                made = line[line.index("-o") + 1] if "-o" in line and earlier != verb else ""
                if made and any(made in given for given in VERBS[verb]) and not (folder / made).exists():
                    of(earlier)
            found: list[tuple[bool, Any, Any]] = []

            def heard(console: Console, *args: Any, **kwargs: Any) -> None:
                found.append((console.stderr, args, kwargs))

            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(folder)
                patch.setenv("COLUMNS", "1000")
                patch.setattr(printing._Console, "print", heard)
                patch.setattr(printing.progress_console, "print", functools.partial(heard, printing.progress_console))
                assert cli.main(VERBS[verb]) == FAILS.get(verb, 0)
            known[verb] = found
        return known[verb]

    return of


def printed(said: list[tuple[bool, Any, Any]], width: int, terminal: bool = False) -> str:
    """What a console of that width shows: a terminal, or a pipe."""
    file = io.StringIO()
    for _, args, kwargs in said:
        Console(file=file, width=width, force_terminal=terminal, highlight=False).print(*args, **kwargs)
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


@pytest.mark.filterwarnings("ignore:ModalBody.attached. 4 tells no rotation")
@pytest.mark.slow
@pytest.mark.campaign(keep=5)
@pytest.mark.parametrize("verb", VERBS)
def test_verbs_keep_to_the_width(said: Callable[[str], list[tuple[bool, Any, Any]]], verb: str) -> None:
    whole = printed(said(verb), 1000)
    assert whole.strip() or verb == "version"  # which no console prints
    for width in (80, 100, 160):
        for terminal in (False, True):
            narrow = printed(said(verb), width, terminal)
            assert max(map(len, narrow.splitlines()), default=0) <= width, f"{width}: {narrow}"
            assert set(NUMBER.findall(narrow)) <= set(NUMBER.findall(whole))


@pytest.mark.slow
@pytest.mark.parametrize("width", [80, 100, 160])
def test_what_is_asked_for_keeps_to_the_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which table is chosen depends on the width: this verb runs at each."""
    monkeypatch.setenv("COLUMNS", str(width))
    assert cli.main(["simulate", "double_pendulum", *SHORT, "--variables", "revolute1.*,tip"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("width", [80, 100, 160])
def test_help_keeps_to_the_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    verbs = [one.name or one.callback.__name__ for one in app.registered_commands if one.callback]
    assert {line[0] for line in VERBS.values()} == {*verbs, "--version"}, "a verb is not tried"
    for line in [[], *([verb] for verb in verbs)]:
        assert cli.main([*line, "-h"]) == 0
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= width
        assert not re.search(r"<(bool|str|list|path)", text), line


def test_pipes_without_columns_are_wide(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert printing.console.width == printing.PIPED
    monkeypatch.setenv("COLUMNS", "72")
    assert printing.console.width == 72


def test_a_terminal_has_its_own_width() -> None:
    """A pseudo-terminal of 80 columns, without COLUMNS."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-c", "from mbfmu import printing; print(printing.console.width)"]
    subprocess.run(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, check=True)
    assert os.read(ours, 100).split() == [b"80"]


def test_what_is_asked_for_has_a_row_each(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    time = np.linspace(0.0, 1.0, 3)
    series = {f"rod.joint.position[{i}]": i * time for i in range(1, 6)}
    result = Result("M", time, series, dict.fromkeys(series, "m"))
    report.series(result, every_row=False, asked=True)
    assert lines_of(capsys.readouterr().out)[:3] == [
        "variable               unit  first  last  least  greatest",
        "rod.joint.position[1]  m         0     1      0         1",
        "rod.joint.position[2]  m         0     2      0         2",
    ]
    report.series(result, every_row=False)
    assert "rod.joint.position[3], rod.joint.position[4], rod.joint.position[5];" in " ".join(
        capsys.readouterr().out.split()
    )
    report.series(result, every_row=False)
    assert "3 more columns without room" in " ".join(capsys.readouterr().out.split())


def test_rounding_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    time = np.array([0.0, 1.0])
    series = {"x": np.array([1.0, 2.0]), "y": np.array([0.0, 3e-16]), "force": np.array([0.0, 3e-16])}
    report.series(Result("M", time, series, {"x": "m", "y": "m", "force": "N"}), every_row=False)
    assert lines_of(capsys.readouterr().out) == [
        "time  x  y  force",
        "   s  m  m      N",
        "   0  1  0      0",
        "   1  2  0  3e-16",
    ]


def test_rounding_is_zero_at_rest(capsys: pytest.CaptureFixture[str]) -> None:
    values, units = {"a.phi": -1.5, "b.phi": 3e-16, "c.s": 3e-16}, {"a.phi": "rad", "b.phi": "rad", "c.s": "m"}
    found = SimpleNamespace(model="M", stability="stable", indifferent=(), start_values=values, units=units)
    studies._rest(found)  # type: ignore[arg-type]
    assert [line.split()[1] for line in lines_of(capsys.readouterr().out)[2:]] == ["-1.5", "0", "3e-16"]


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[0, 1], [-1, 0]], [1j, -1j]),  # undamped
        ([[0, 1], [0, 0]], [0, 0]),  # a double 0 that is defective
        ([[1e-20, 1], [-4e6, 0]], [2e3j, -2e3j]),
        ([[-1e-3, 0], [0, -1e6]], [-1e-3, -1e6]),  # slow beside fast, yet a number
        ([[-1e-9, 1], [0, -1e3]], [-1e-9, -1e3]),
    ],
)
def test_poles_that_are_zero_to_rounding(matrix: list[list[float]], expected: list[complex]) -> None:
    rotation = np.array([[0.6, -0.8], [0.8, 0.6]])
    A = rotation @ np.array(matrix, dtype=float) @ rotation.T if matrix[0][0] >= 0 else np.array(matrix, dtype=float)
    empty = np.zeros((2, 0))
    model = LinearModel("M", A, empty, empty.T, np.zeros((0, 0)), ("a", "b"), (), (), {}, 0.0, *[np.zeros(2)] * 4)
    found = [value for value, *_ in model.shown_modes()]
    assert [v.real == 0 for v in found] == [complex(e).real == 0 for e in expected]
    assert [v.imag == 0 for v in found] == [complex(e).imag == 0 for e in expected]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("module", ["problems", "mbfmu.fmus", "mbfmu.fmus.expected"])
def test_programs_tell_a_warning_once_as_one_line(
    module: str, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def warns(*_: Any) -> dict[str, type]:
        for _ in range(2):
            warnings.warn(f"{module}: a start value\nis chosen", stacklevel=1)
        return {}

    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setattr(sys, "argv", [module])
    monkeypatch.setenv("COLUMNS", "160")
    if module == "problems":
        monkeypatch.setattr("problems.run.main", warns)
    else:
        monkeypatch.setattr("mbfmu.modeling.registry.assemblies", warns)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(SystemExit):
        runpy.run_module(module, run_name="__main__")
    assert capsys.readouterr().err.splitlines() == [f"! {module}: a start value is chosen"]


def test_every_program_that_runs_models_tells_warnings_so(root: pathlib.Path) -> None:
    files = [
        file for folder in ("fmus", "components", "problems", "benchmarks") for file in (root / folder).rglob("*.py")
    ]
    programs = [
        file
        for file in files
        if file.name == "__main__.py" or 'if __name__ == "__main__":' in file.read_text()
        if file.name != "ansys_files.py"  # which only reads a file, and whose warnings nobody sees
    ]
    assert len(programs) >= 7
    assert [file for file in programs if "with printing.warnings_told():" not in file.read_text()] == []
