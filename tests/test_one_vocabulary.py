"""What Python takes the command line takes, and the other way round."""

from __future__ import annotations

import inspect
import json
import pathlib
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.io

import mbfmu
from mbfmu import cli
from mbfmu.cli import completion
from mbfmu.cli.commands import app
from mbfmu.errors import ModelError

SHORT: dict[str, Any] = {"stop_time": 0.1, "interval": 0.05}


@pytest.mark.slow
def test_sources_are_what_the_command_line_takes(tmp_path: pathlib.Path) -> None:
    named, made = mbfmu.simulate("double_pendulum", **SHORT), mbfmu.simulate(mbfmu.load("double_pendulum"), **SHORT)
    np.testing.assert_array_equal(named["revolute1.phi"], made["revolute1.phi"])
    fmu = mbfmu.build("double_pendulum", tmp_path / "p.fmu", equations="interpreted")
    run = mbfmu.simulate(fmu, **SHORT, outputs=["revolute1.phi", "tip"])
    assert run["tip"].shape == (3, 3)
    np.testing.assert_allclose(run["revolute1.phi"], made["revolute1.phi"], atol=1e-9)
    with pytest.raises(ModelError, match="an FMU brings its own"):
        mbfmu.simulate(str(fmu), solver="implicit")
    assert mbfmu.equilibrium("pendulum").model == "Pendulum"
    assert mbfmu.linearize("furuta_pendulum").model == "FurutaPendulum"


@pytest.mark.slow
def test_commands_take_what_functions_take(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["simulate", "double_pendulum", "--stop", "0.3", "--start", "0.1", "--interval", "0.1"]
    assert cli.main([*line, "--solver", "implicit", "--variables", "tip", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["series"]
    assert list(found) == ["time", "tip[1]", "tip[2]", "tip[3]"]
    assert found["time"] == pytest.approx([0.1, 0.2, 0.3])
    own = mbfmu.simulate("double_pendulum", 0.3, start_time=0.1, interval=0.1, solver="implicit", outputs=["tip"])
    np.testing.assert_array_equal(found["tip[1]"], own["tip[1]"])


#: Names of options for arguments of Python, where they differ; what is only of one of them.
OPTIONS = {
    "assembly": "source", "model": "source", "stop_time": "stop", "start_time": "start", "start_values": "parameter",
    "outputs": "variables", "interpolation": "held", "path": "output",
}  # fmt: skip
ONLY_PYTHON = {"progress"}


#: What may be given by place: all else is asked for by name, so that options may come and go between others.
BY_PLACE = {
    "animate": ["model", "path", "stop_time"],
    "animate_mode": ["assembly", "path", "mode", "at"],
    "build": ["assembly", "path"],
    "diagram": ["assembly", "path"],
    "equilibrium": ["assembly"],
    "fit": ["assembly", "data", "parameters"],
    "linearize": ["assembly", "at"],
    "load": ["source", "settings"],
    "simulate": ["assembly", "stop_time"],
    "simulate_many": ["assembly", "runs", "stop_time"],
    "sweep": ["assembly", "parameters", "outputs", "stop_time"],
    "validate": ["path", "run"],
}


def test_options_are_given_by_name() -> None:
    functions = {name: getattr(mbfmu, name) for name in mbfmu.__all__ if inspect.isfunction(getattr(mbfmu, name))}
    named = {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
    by_place = {
        name: [key for key, value in inspect.signature(function).parameters.items() if value.kind not in named]
        for name, function in functions.items()
    }
    assert by_place == BY_PLACE
    for name, function in functions.items():  # all of these have names, too
        for parameter in inspect.signature(function).parameters.values():
            assert parameter.kind is not inspect.Parameter.POSITIONAL_ONLY, f"{name}: {parameter}"


@pytest.mark.parametrize("verb", ["simulate", "animate"])
def test_no_argument_is_missing(verb: str) -> None:
    command = next(one.callback for one in app.registered_commands if one.callback and one.callback.__name__ == verb)
    taken = set(inspect.signature(command).parameters)
    for name in inspect.signature(getattr(mbfmu, verb)).parameters:
        assert name in ONLY_PYTHON or OPTIONS.get(name, name) in taken, f"mbfmu {verb} lacks {name}"


@pytest.mark.slow
@pytest.mark.parametrize("old", [{"step": 0.05}, {"method": "implicit"}])
def test_old_names_still_work(old: dict[str, Any]) -> None:
    with pytest.warns(DeprecationWarning, match=f"{next(iter(old))}= of simulate") as caught:
        mbfmu.simulate("double_pendulum", 0.1, **old)
    assert caught[0].filename == __file__


def test_old_options_still_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "double_pendulum", "--stop", "0.1", "--step", "0.05", "--json"]) == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["series"]["time"]) == 3
    assert "--step is called --interval now" in printed.err


@pytest.mark.slow
def test_results_as_matlab_files(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "motion.mat"
    assert cli.main(["simulate", "double_pendulum", "--stop", "0.1", "-o", str(file)]) == 0
    own, found = mbfmu.simulate("double_pendulum", 0.1), scipy.io.loadmat(file)
    names = [str(name[0]) for name in found["names"].ravel()]
    assert names == ["revolute1.phi", "revolute2.phi", "tip[1]", "tip[2]", "tip[3]"]
    np.testing.assert_array_equal(found["time"].ravel(), own.time)
    np.testing.assert_array_equal(found["values"], np.column_stack([own[name] for name in names]))
    np.testing.assert_array_equal(found["tip_3"].ravel(), own["tip[3]"])
    assert cli.main(["simulate", "double_pendulum", "--stop", "0.1", "-o", str(tmp_path / "motion.xls")]) == 2


@pytest.mark.slow
def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in app.registered_commands:
        name = command.name or command.callback.__name__  # type: ignore[union-attr]
        assert cli.main([name, "-h"]) == 0
        text = capsys.readouterr().out
        assert not any(word in text for word in ("<bool>", "<list", "<str>", "<path>")), name


@pytest.mark.slow
def test_completion(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "double.py").touch()
    (tmp_path / "double.txt").touch()
    assert completion.sources("double") == ["double_pendulum", "double.py"]
    assert completion.sources(f"{tmp_path}/dou") == [f"{tmp_path}/double.py"]
    assert "Revolute" in completion.classes("Revol")
    assert "MultiBody.Joints.Revolute" in completion.classes("MultiBody.Joints.Rev")

    class Context:
        params: ClassVar = {"source": "double_pendulum"}

    assert completion.variables(Context(), "ti") == ["tip"]
    assert completion.variables(Context(), "tip,revolute1.ph") == [
        "tip,revolute1.phi_offset",
        "tip,revolute1.phi",
    ]
