"""What commands show of results that are made by hand: each line of the tables and notes, and nothing else."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import pathlib
import runpy
import signal
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer

import mbfmu
from mbfmu import animation, cli
from mbfmu.cli import commands, completion, equations, report, studies
from mbfmu.cosimulation.recording import Account
from mbfmu.errors import MbfmuError, ModelError
from mbfmu.runtime import run as runs


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """What was printed since last asked, with single spaces: stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "200")

    def told() -> str:
        captured = capsys.readouterr()
        return " ".join((captured.out + captured.err).split())

    return told


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.23456789, "1.23457"), ("0.1", "0.1"), (True, "True"), ("false", "false"), ("[x]", "[x]"), ("1e-300", "1e-300")],
)
def test_numbers_have_six_digits_and_text_stays(value: object, text: str) -> None:
    assert report.number(value) == text


def test_warnings_of_a_reader_are_warnings_and_the_rest_are_notes(shown: Any) -> None:
    report.notes(SimpleNamespace(notes=["warning: no [mass]", "left out: a warning: b", "scaled"]))
    assert shown() == "! no [mass] - left out: a warning: b - scaled"


def test_what_switched_is_listed_or_that_nothing_did(shown: Any) -> None:
    report.events(SimpleNamespace(events=[]))  # type: ignore[arg-type]
    assert shown() == "Events: nothing switches"
    one = SimpleNamespace(time=0.123456789123, name="stop[1]", before=None, after=1.0)
    report.events(SimpleNamespace(events=[one, dataclasses.replace(_Event(), before=0.5)]))  # type: ignore[arg-type]
    text = shown()
    assert "nothing switches" not in text
    assert "0.123456789 stop[1] 1 " in text
    assert "2 gear 0.5 true" in text


@dataclasses.dataclass
class _Event:
    time: float = 2.0
    name: str = "gear"
    before: Any = None
    after: Any = "true"


def test_how_a_system_was_stepped_is_told_with_what_was_left_out(shown: Any) -> None:
    class Told:
        notes = ("load: cannot [go] back",)

        def __str__(self) -> str:
            return "12 communication steps"

    report.coupling(Told())
    assert shown() == "- 12 communication steps ! load: cannot [go] back"


def test_lengths_of_steps_are_told_where_there_were_steps() -> None:
    account = Account(rejected=3, calls=9)
    assert str(account) == "0 communication steps, 3 taken back; 9 calls of doStep"
    account.kept(0.25)
    account.kept(0.125)
    assert str(account) == "2 communication steps, 0.125 to 0.25 s long, 3 taken back; 9 calls of doStep"


def test_a_model_without_a_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stuck:
        def __init__(self, *_: Any) -> None:
            pass

        def finish_initialisation(self) -> None:
            raise ModelError("loop: does not close")

    monkeypatch.setattr(runs, "Run", Stuck)
    system = SimpleNamespace(equations=None, variables=())
    assert list(report.initial_conditions(system)) == ["no start: loop: does not close"]  # type: ignore[arg-type]


def test_a_rest_a_fit_and_a_sweep_are_shown_with_all_that_is_to_be_known(shown: Any) -> None:
    rest = SimpleNamespace(
        model="crane", stability="indifferent", indifferent=(("cart.s",), ("a.phi", "b[1].phi")),
        start_values={"cart.s": 0.5, "a.phi": 1e-18}, units={"cart.s": "m", "a.phi": "m"},
    )  # fmt: skip
    studies._rest(rest)  # type: ignore[arg-type]
    text = shown()
    assert "crane: indifferent indifferent: cart.s indifferent: a.phi with b[1].phi " in text
    assert "cart.s 0.5 m" in text
    assert "a.phi 0 m" in text

    fit = SimpleNamespace(
        confidence=0.9, names=("c", "d"), values=(2e4, 3.0), intervals=((1e4, 3e4), (np.nan,) * 2), units={"c": "N/m"},
        unidentifiable=(("d", "m[1]"),), at_bounds=("c",), deviations={"body[1].s": 0.01},
    )  # fmt: skip
    studies._fitted(fit)  # type: ignore[arg-type]
    text = shown()
    assert "90% interval" in text
    assert "c 20000 10000 .. 30000 N/m" in text
    assert "d 3 not determined" in text
    assert "the data cannot tell apart: d, m[1] at its bound: c left of body[1].s: 0.01 (standard deviation)" in text

    messages = {k: f"failed at [{k}]" for k in (1, 4, 5, 9)}
    sweep = type(
        "Sweep", (SimpleNamespace,), {"__len__": lambda self: 30, "__getitem__": lambda self, name: self.columns[name]}
    )(columns={"k": np.arange(30.0), "message": np.zeros(30)}, units={"k": "N/m"}, messages=messages, noise=dict)
    studies._swept(sweep)
    text = shown()
    assert "30 runs, 4 failed run 1: failed at [1] run 4: failed at [4] run 5: failed at [5]" in text
    assert "run 9" not in text
    assert "0 0 3 3 6 6 9 9 12 12 " in text
    assert "29 29" in text


def test_long_tables_of_equations_end_with_how_many_more_there_are(shown: Any) -> None:
    found = SimpleNamespace(
        name="arm[1]", sizes={1: 3}, quantities=range(3), entries=2, blocks=(), loops=(), balances=4, constraints=1,
        iterated_motion=("a.s[1]", "b.s"), kinds={"force": 3},
        sought=tuple((f"q[{k}]", f"equation {k}") for k in range(43)),
    )  # fmt: skip
    equations.show(found)  # type: ignore[arg-type]
    text = shown()
    assert "arm[1] 3 quantities, which need others 2 times" in text
    assert "not linear in, and therefore iterated: a.s[1], b.s" in text
    assert "Sought quantity equation that gives it" in text
    assert "q[39] equation 39" in text
    assert "q[40]" not in text
    assert text.endswith("and 3 more")
    found.sought, found.iterated_motion = found.sought[:40], ()
    equations.show(found)  # type: ignore[arg-type]
    text = shown()
    assert "more" not in text
    assert "iterated:" not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sweep pendulum -p rev.phi -y rev.phi:max", "-p rev.phi: write it as name=values, such as damper.d=0.1,0.2"),
        ("sweep pendulum -p =1,2 -y rev.phi:max", "-p =1,2: write it as name=values"),
        ("sweep pendulum -p rev.phi= -y rev.phi:max", "-p rev.phi=: write it as name=values"),
        ("equilibrium pendulum --speed rev.w", "--speed rev.w: write it as name=value, such as shaft.w=20"),
        ("simulate pendulum --csv out.csv --plot ./out.csv", "--plot"),
        ("linearize pendulum -o a.json --animation m.glb --input u.csv", "--animation goes without --input: give the"),
        ("linearize pendulum -o a.json --animation ./a.json", "a.json: two results would go into this file; choose an"),
    ],
)
def test_options_that_say_too_little_are_refused(
    command: str, words: str, shown: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(command.split()) == 2
    assert words in shown()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_mode_is_animated_about_a_point_not_along_inputs(
    shown: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hanging pendulum, and its one mode as a scene."""
    monkeypatch.chdir(tmp_path)
    command = ["linearize", "pendulum", "--at", "equilibrium", "--animation", "mode.glb"]
    assert cli.main([*command, "--mode", "1"]) == 0
    text = shown()
    assert "mode.glb" in text
    assert "states: rev.phi, rev.w" in text
    assert (tmp_path / "mode.glb").read_bytes()[:4] == b"glTF"
    assert cli.main(["linearize", "pendulum", "--animation", "other.glb", "--mode", "3"]) == 2
    assert "there is no mode 3; there are 1 .. 2" in shown()
    assert not (tmp_path / "other.glb").exists()


@pytest.mark.slow
def test_a_rest_is_shown(shown: Any) -> None:
    assert cli.main(["equilibrium", "pendulum"]) == 0
    text = shown()
    assert "Pendulum: stable" in text
    assert "rev.phi -1.5708 rad" in text


def test_without_a_source_there_are_no_names_to_complete() -> None:
    for context in (SimpleNamespace(params=None), SimpleNamespace(params={}), SimpleNamespace(params={"source": None})):
        assert completion.variables(context, "a.") == []
    assert json.dumps(completion.variables(SimpleNamespace(params={"source": "no/such.fmu"}), "")) == "[]"


# -- how programs end


def piped() -> SystemExit:
    """What Typer makes of a pipe that nobody reads."""
    end = SystemExit(1)
    end.__context__ = BrokenPipeError()
    return end


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "mbfmu: stopped"),
        (typer.Abort(), 130, "mbfmu: stopped"),
        (commands.Terminated(signal.SIGTERM), 143, "mbfmu: stopped"),
        (BrokenPipeError(), 141, ""),
        (piped(), 141, ""),
        (
            OSError(errno.ENOSPC, "No space left on device", "x.csv"), 2,
            "mbfmu: x.csv: No space left on device; make room, or set TMPDIR to another folder",
        ),
        (
            OSError(errno.EDQUOT, "Disk quota exceeded"), 2,
            "mbfmu: a temporary or output file: Disk quota exceeded; make room, or set TMPDIR to another folder",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "x.csv"), 2,
            "mbfmu: x.csv: Permission denied; check the path and its permissions",
        ),
        (MemoryError(), 2, "mbfmu: the memory does not suffice; choose a smaller model, or fewer points"),
        (ModelError("two\nlines"), 2, "mbfmu: two; lines"),
    ],
    ids=["Ctrl-C", "abort", "SIGTERM", "pipe", "Typer's pipe", "full disk", "quota", "permission", "memory", "model"],
)  # fmt: skip
def test_programs_end_with_a_code_and_one_line(
    error: BaseException, code: int, words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(**_: Any) -> None:
        raise error

    monkeypatch.setattr(commands, "_command_line", lambda: run)
    assert cli.main(["list"]) == code
    assert capsys.readouterr().err.strip() == words


def test_ctrl_c_while_libraries_are_loaded_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loading(ModuleType):
        def __getattr__(self, name: str) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "mbfmu.cli.commands", Loading("mbfmu.cli.commands"))
    with pytest.raises(SystemExit) as end:
        runpy.run_path(cli.__file__)
    assert end.value.code == 130
    assert capsys.readouterr().err == "mbfmu: stopped\n"


def test_what_cannot_be_printed_any_more_goes_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where flushing fails the descriptor is another one, and what is still printed is lost; else all stays."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as out:
        monkeypatch.setattr(sys, "stdout", out)
        out.write("first")
        commands.leave_stdout()
        assert os.read(reader, 100) == b"first"
        assert not os.path.samestat(os.fstat(out.fileno()), pathlib.Path(os.devnull).stat())
        os.close(reader)
        out.write("second")
        commands.leave_stdout()
        assert os.path.samestat(os.fstat(out.fileno()), pathlib.Path(os.devnull).stat())


@pytest.mark.slow
def test_without_a_command_there_is_help(shown: Any) -> None:
    assert cli.main([]) == 0
    told = shown()
    assert "Mechanisms written in Python become FMUs" in told
    assert all(command in told for command in ("build", "simulate", "validate", "equilibrium"))


def test_defects_are_told_as_such_with_their_trace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_command_line", lambda: lambda **_: {}["lost"])
    assert cli.main(["list"]) == 2
    told = capsys.readouterr().err.strip().splitlines()
    assert told[0].startswith("Traceback")
    assert told[-1] == "mbfmu: a defect of mbfmu, please report it: KeyError: 'lost'"


def test_other_exits_go_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(**_: Any) -> None:
        raise SystemExit(7)

    monkeypatch.setattr(commands, "_command_line", lambda: leave)
    with pytest.raises(SystemExit, match="7"):
        cli.main(["list"])


@pytest.mark.skipif(os.name != "posix", reason="sends a signal of POSIX")
def test_signals_end_what_goes_on_and_are_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    names = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in names]
    for number in names:
        monkeypatch.setattr(commands, "_command_line", lambda number=number: lambda **_: signal.raise_signal(number))
        assert cli.main(["list"]) == 128 + number
    assert [signal.getsignal(number) for number in names] == before


# -- animations of what cannot be animated


def test_results_that_mbfmu_did_not_make_are_not_animated(tmp_path: pathlib.Path) -> None:
    result = mbfmu.Result("crane", np.array([0.0, 1.0]), {"x": np.array([0.0, 2.0])})
    for animate in (result.animate, lambda path: mbfmu.animate(result, path)):
        with pytest.raises(MbfmuError, match=r"^crane: only results of mbfmu\.simulate can be animated"):
            animate(tmp_path / "x.html")
    assert not {"again", "animation"} & set(dir(result))
    assert "animate" in dir(result)
    with pytest.raises(MbfmuError, match=r"^a\.fmu: solver = 'explicit': an FMU brings its own; leave it out"):
        animation._fmu_runner(SimpleNamespace(path="a.fmu"), {"solver": "explicit"})  # type: ignore[arg-type]
