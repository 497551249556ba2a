"""Wrong commands: options and settings that make no sense, full disks, idle compilers, signals."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from refusals import Refused, left_in

from mbfmu import System, build, cli, simulate
from mbfmu.components import Revolute
from mbfmu.errors import ModelError
from mbfmu.fmus.pendulum import Pendulum

#: Arguments behind `mbfmu` -> words of the message.
COMMANDS: dict[str, list[str]] = {
    "simulate pendulum --interval 1e-12": ["points", "1e-12 s", "longer step"],
    "simulate pendulum --interval 1e-300": ["points", "longer step"],
    "simulate pendulum --interval nan": ["interval nan"],
    "simulate pendulum --interval inf": ["interval inf", "finite"],
    "simulate pendulum --interval 0": ["interval 0", "positive"],
    "simulate pendulum --interval -1": ["interval -1", "positive"],
    "simulate pendulum --stop nan": ["stop"],
    "simulate pendulum --stop inf": ["stop"],
    "simulate pendulum --stop -1": ["later stop time"],
    "simulate pendulum --stop 0": ["later stop time"],
    "simulate pendulum --stop x": ["--stop", "valid"],
    "simulate pendulum --tolerance 0": ["tolerance"],
    "simulate pendulum --tolerance -1e-6": ["tolerance"],
    "simulate pendulum --tolerance nan": ["tolerance"],
    "simulate pendulum --variables none": ["--variables none", "no variable"],
    "simulate pendulum --csv none/x.csv": ["none/x.csv", "does not exist"],
    "simulate pendulum --csv .": ["is a folder"],
    "simulate pendulum --plot x.abc": ["--plot x.abc"],
    "simulate pendulum --plot x": ["--plot x"],
    "simulate pendulum --csv /dev/full": ["/dev/full", "No space left", "make room"],
    "simulate pendul": ["pendul", "pendulum"],
    "simulate none.py": ["none.py", "no such file"],
    "simulate none.toml": ["none.toml", "cannot be read"],
    "simulate none:Class": ["none"],
    "simulate .py": ["no such file"],
    "simulate x.fmu": ["x.fmu", "no such file"],
    "build pendulum --target c": ['target "c"', "native"],
    "build pendulum --platform bsd": ["bsd", "linux64"],
    "build pendulum --solver euler": ['solver "euler"', "explicit"],
    "build pendulum --fixed-step 0": ["fixed step 0", "positive"],
    "build pendulum --fixed-step nan": ["fixed step nan", "positive"],
    "build pendulum --equations x": ['equations "x"', "compiled"],
    "build pendulum --variables none": ['"none"', "no variable"],
    "build pendulum -o x.py": ["x.py", ".fmu"],
    "build pendulum -o none/x.fmu": ["none", "does not exist"],
    "build pendulum --target python --sources": ["sources", "native"],
    "convert pendulum -o x.abc": ["x.abc", "Python or TOML"],
    "convert pendulum -o none/x.py": ["none/x.py", "cannot be written"],
    "convert pendulum -o .": ["is a folder"],
    "list Revolite": ["Revolite", "Revolute"],
    "list xyzzy": ["xyzzy", "mbfmu list"],
    "info pendulum -p world=3": ["world (World) = 3", "is a component", "world."],
    "info pendulum -p world": ["name=value"],
    "info pendulum -p =3": ["name=value"],
    "info pendulum -p world.g=": ["name=value"],
    "info pendulum -p world.x=3": ["no parameter 'x'"],
    "info pendulum -p none.x=3": ["no component 'none'"],
    "info pendulum -p world.g=x": ["world.g = 'x'", "a number"],
    "info pendulum -p world.g=nan": ["world.g", "finite"],
    "info pendulum -p world.g=true": ["world.g = True", "a number"],
    "info pendulum -p world.n=1,0": ["world.n = '1,0'", "expected 3 numbers;", "[1, 0, 0]"],
    "info pendulum -p world.n=[1,0]": ["world.n", "expected 3 numbers,", "[1, 0, 0]"],
    "info pendulum -p world.g={fixed='no'}": ["world.g", "'no'", "true or false"],
    f"info pendulum -p world.g={'1' * 5000}": ["world.g"],
    f"info pendulum -p world.g={'[' * 5000}": ["world.g"],
    "info pendulum --floating": ["floating", "leave it out"],
    "nothing": ["nothing"],
    "info": ["SOURCE"],
    "validate none.fmu": ["none.fmu", "no such file"],
    "ssp none.fmu": ["none"],
    "ssp pendulum pendulum": ["two elements"],
    "ssp pendulum -c a": ["A.FLANGE=B.FLANGE"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=range(len(COMMANDS)))
def test_a_wrong_command(command: str, refused: Refused) -> None:
    refused(command.split(), COMMANDS[command])


def test_settings_have_no_line_breaks(refused: Refused) -> None:
    refused(["info", "pendulum", "-p", "world.g=1\nx=2"], ["line break", "leave it out"])


@pytest.mark.parametrize("wrong", [Pendulum, Revolute, Revolute(), 5, None, ["pendulum"]], ids=range(6))
@pytest.mark.parametrize("use", [System.of, simulate, build])
def test_what_is_no_assembly(use: object, wrong: object, folder: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"is a class; give|is no assembly"):
        use(wrong)  # type: ignore[operator]
    assert not left_in(folder.parent)


@pytest.mark.slow
@pytest.mark.parametrize("block", ["Sqrt", "Log", "Acos"])
def test_functions_outside_their_range_are_told(block: str, folder: pathlib.Path, refused: Refused) -> None:
    value = 2 if block == "Acos" else -1
    (folder / "m.toml").write_text(
        f"[[component]]\nname = 'c'\nclass = 'Blocks.Sources.Constant'\nparameters = {{k = {value}}}\n"
        f"[[component]]\nname = 'f'\nclass = 'Blocks.Math.{block}'\n"
        "[[connect]]\na = 'c.y'\nb = 'f.u'\n[[output]]\nvariable = 'f.y'\n"
    )
    refused(["simulate", "m.toml"], ["'f.y' is nan at 0 s", "outside its range"])


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs /bin/true")
def test_a_compiler_that_makes_nothing(monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    monkeypatch.setenv("CC", "/bin/true")
    monkeypatch.setenv("MBFMU_CACHE", "")
    refused(["build", "pendulum"], ["'/bin/true' made no library", "install a C compiler"])


@pytest.mark.slow
def test_words_find_classes(capsys: pytest.CaptureFixture[str]) -> None:
    for words, first in {
        "gear": "Gear",
        "pid": "PID",
        "hinge": "MultiBody.Joints.Revolute",
        "free": "FreeMotion",
        "joint": "Joint",
        "sensor": "Sensor",
        "angle sensor": "AngleSensor",
    }.items():
        assert cli.main(["list", words]) == 0
        assert first in "\n".join(capsys.readouterr().out.splitlines()[:4]), words


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT], ids=["stop", "Ctrl-C"])
def test_a_build_that_is_stopped_leaves_nothing(sent: signal.Signals, folder: pathlib.Path) -> None:
    """A compiler that never ends is stopped with the command, and part files and folders go with it."""
    compiler = folder.parent / "cc"
    compiler.write_text(f"#!/bin/sh\necho $$ > {folder.parent}/pid\nsleep 600\n")
    compiler.chmod(0o755)
    environment = os.environ | {"CC": str(compiler), "MBFMU_CACHE": "", "TMPDIR": str(folder.parent / "temporary")}
    process = subprocess.Popen(
        [sys.executable, "-m", "mbfmu", "build", "pendulum"], cwd=folder, env=environment, stderr=subprocess.PIPE
    )
    number = folder.parent / "pid"
    deadline = time.monotonic() + 60
    while not (number.exists() and number.read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    assert errors.decode().strip().endswith("mbfmu: stopped")
    assert "Traceback" not in errors.decode()
    assert left_in(folder.parent) == {"cc", "pid"}
    assert not list((folder.parent / "temporary").iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("command", [("list",), ("list", "--json"), ("simulate", "pendulum", "--table")])
def test_a_reader_that_has_seen_enough_is_no_error(command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    line = [sys.executable, "-m", "mbfmu", *command]
    done = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="descriptors of POSIX")
def test_files_are_written_though_stdout_is_closed(folder: pathlib.Path) -> None:
    line = f"{sys.executable} -m mbfmu simulate pendulum --csv motion.csv >&-"
    done = subprocess.run(line, shell=True, cwd=folder, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "motion.csv").is_file()


@pytest.mark.slow
@pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no /dev/full")
def test_an_output_that_is_full_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        line = [sys.executable, "-m", "mbfmu", "list"]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("mbfmu: a temporary or output file: No space left")
    assert len(done.stderr.splitlines()) == 1
