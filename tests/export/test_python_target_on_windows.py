"""The Python-hosted FMU for Windows, under wine: call by call in a Windows Python, and in a C program.

Skipped without wine, without ziglang, and without a Windows Python, which `MBFMU_WINDOWS_PYTHON` names: a folder with
python.exe and its standard library (CONTRIBUTING.md says where PyPI has one).
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import fmpy
import numpy as np
import pytest
from importer import DISCARD, ERROR, Importer
from test_python_target import GUID, IDENTIFIER, write_fmu

import mbfmu
from mbfmu.export import native
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.runtime import build as runtime
from mbfmu.runtime.compilers import require_compiler

HERE = pathlib.Path(__file__).resolve().parent
HOST = HERE.parent / "runtime" / "windows_host.c"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="for wine on Linux"),
    pytest.mark.skipif(shutil.which("wine") is None, reason="wine is not installed"),
    pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed"),
]


@pytest.fixture(scope="module")
def folder(system: Any, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """One FMU for both platforms."""
    return write_fmu(tmp_path_factory.mktemp("fmu") / "python", system, "python", GUID, ["linux64", "win64"])


@pytest.fixture(scope="module")
def windows_python() -> pathlib.Path:
    """The folder of a Windows Python."""
    named = os.environ.get("MBFMU_WINDOWS_PYTHON", "")
    if not pathlib.Path(named, "python.exe").is_file():
        pytest.skip("MBFMU_WINDOWS_PYTHON names no folder with python.exe")
    return pathlib.Path(named)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Of programs under wine, with a Windows of their own."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return own | {"WINEPREFIX": str(tmp_path_factory.mktemp("wine")), "WINEDEBUG": "-all", "DISPLAY": ""}


def windows(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a program under wine. Python takes an open pipe as its standard input there, and little else."""
    reading, writing = os.pipe()
    try:
        return subprocess.run(
            ["wine", *command],
            env=environment, stdin=reading, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    finally:
        os.close(reading)
        os.close(writing)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A program in C that loads an FMU's library."""
    program = tmp_path_factory.mktemp("host") / "host.exe"
    compiler = require_compiler("win64")
    command = [*compiler.command, *compiler.targets[0], "-I", str(runtime.headers()), "-o", str(program), str(HOST)]
    subprocess.run(command, check=True, capture_output=True)
    return program


def arguments(folder: pathlib.Path, steps: int = 10) -> list[str]:
    """What the C program is told: library, GUID, resources, steps, references."""
    reference = Importer(folder).variables["flange.s"][1]
    library = folder / "binaries" / "win64" / f"{IDENTIFIER}.dll"
    return [f"Z:{library}", GUID, f"Z:{folder}/resources", str(steps), str(reference)]


def test_every_call_answers_as_on_linux(
    folder: pathlib.Path, windows_python: pathlib.Path, environment: dict[str, str]
) -> None:
    """Arguments that are NULL or wrong, another GUID, calls out of order, values, and each bit of a state."""
    script = str(HERE / "calls.py")
    here = subprocess.run([sys.executable, script, str(folder)], capture_output=True, text=True, check=True)
    there = windows([str(windows_python / "python.exe"), f"Z:{script}", f"Z:{folder}"], environment)
    assert there.returncode == 0, there.stderr
    expected, found = json.loads(here.stdout), json.loads(there.stdout)
    assert (expected.pop("platform"), found.pop("platform")) == ("linux", "win32")
    assert found["arguments"] == expected["arguments"]
    assert found["motion"] == expected["motion"]
    for answer, wanted in zip(found["answers"], expected["answers"], strict=True):
        assert answer == wanted
    assert {DISCARD, ERROR} <= {line[1] for _, _, lines in found["answers"] for line in lines}
    assert len(found["answers"]) > 1500
    assert found["states"] == {"bits": found["states"]["bits"], "refused": found["states"]["bits"], "back": 1}
    assert found["blocks"] == 0


def test_a_run_of_fmi_3_is_that_on_linux(
    windows_python: pathlib.Path, environment: dict[str, str], tmp_path: pathlib.Path
) -> None:
    """Values within rounding: C libraries differ in their functions, and so do lengths of steps. All else is equal."""
    native.ready_library("win64")
    file = mbfmu.build(DoublePendulum(), tmp_path / "pendulum.fmu", fmi=3, target="python")
    folder = pathlib.Path(fmpy.extract(str(file), str(tmp_path / "unpacked")))
    script = str(HERE / "motion_3.py")
    here = subprocess.run([sys.executable, script, str(folder)], capture_output=True, text=True, check=True)
    there = windows([str(windows_python / "python.exe"), f"Z:{script}", f"Z:{folder}"], environment)
    assert there.returncode == 0, there.stderr
    expected, found = json.loads(here.stdout), json.loads(there.stdout)
    assert found["again"] == found["on"]
    assert len(found["within"]) > 10
    for key, tolerance in (("motion", 1e-10), ("on", 1e-10), ("again", 1e-10), ("within", 1e-7)):
        flat, wanted = (np.array(list(numbers(run.pop(key)))) for run in (found, expected))
        assert flat == pytest.approx(wanted, rel=tolerance, abs=tolerance)
    assert found == expected
    assert {line[0] for line in found["lines"]} == {ERROR}


def numbers(values: Any) -> Iterator[float]:
    """All that is in nested lists."""
    if isinstance(values, list):
        for value in values:
            yield from numbers(value)
    else:
        yield float(values)


def test_a_program_without_python_is_told_that_there_is_none(
    folder: pathlib.Path, host: pathlib.Path, environment: dict[str, str]
) -> None:
    run = windows([str(host), *arguments(folder)], environment)
    assert run.returncode == 3
    assert "status 3, logStatusError: fmi2Instantiate: there is no Python in this process" in run.stderr
    assert "externalDependencies.txt" in run.stderr


def test_a_program_with_python_on_its_path_runs_it(
    folder: pathlib.Path, host: pathlib.Path, windows_python: pathlib.Path, environment: dict[str, str]
) -> None:
    with_python = environment | {"WINEPATH": f"Z:{windows_python}", "PYTHONHOME": f"Z:{windows_python}"}
    run = windows([str(host), *arguments(folder)], with_python)
    assert run.returncode == 0, run.stderr
    unit = Importer(folder).instantiate()
    assert unit is not None
    unit.start(1e-10)
    wanted = []
    for step in range(10):
        unit.step(step * 0.1, 0.1)
        wanted.append(unit.get("flange.s"))
    unit.free()
    assert [float(line) for line in run.stdout.split()] == wanted
