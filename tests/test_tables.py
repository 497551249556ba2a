"""What commands print fits the width there is, and no number in it is broken."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest
from rich.console import Console

from mbfmu import cli, printing
from mbfmu.cli import report
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


VERBS = {
    "info": ["info", "double_pendulum"],
    "equations": ["info", "double_pendulum", "--equations"],
    "simulate": ["simulate", "double_pendulum", "--stop", "0.1"],
    "variables": ["simulate", "double_pendulum", "--stop", "0.1", "--variables", "revolute1.*,tip"],
    "linearize": ["linearize", "furuta_pendulum"],
    "equilibrium": ["equilibrium", "pendulum"],
    "sweep": [
        "sweep",
        "pendulum",
        "-p",
        "damper.d=0.1,0.2",
        "-y",
        "rev.phi:final",
        "-y",
        "rev.phi:max",
        "--stop",
        "0.1",
    ],
    "list": ["list"],
    "class": ["list", "Revolute"],
    "words": ["list", "spring", "damper"],
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("width", [80, 100, 160])
def test_verbs_keep_to_the_width(
    verb: str, width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def printed(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        assert cli.main(VERBS[verb]) == 0
        return capsys.readouterr().out

    narrow = printed(width)
    assert max(map(len, narrow.splitlines())) <= width
    assert set(NUMBER.findall(narrow)) <= set(NUMBER.findall(printed(1000)))


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
    assert "3 more columns without room" in " ".join(capsys.readouterr().out.split())


def test_rounding_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    time = np.array([0.0, 1.0])
    series = {"x": np.array([1.0, 2.0]), "y": np.array([0.0, 3e-16]), "force": np.array([0.0, 3e-16])}
    report.series(Result("M", time, series, {"x": "m", "y": "m", "force": "N"}), every_row=False)
    assert lines_of(capsys.readouterr().out) == ["time  x  y  force", "   0  1  0      0", "   1  2  0  3e-16"]


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
