"""The trial run of an FMU: over which time, and in which steps."""

from __future__ import annotations

import pathlib
import zipfile
from typing import Any

import fmpy
import numpy as np
import pytest

from mbfmu.errors import ValidationError
from mbfmu.fmi import trial

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Mass" guid="{42}">
  <CoSimulation modelIdentifier="mass"/>
  EXPERIMENT
  <ModelVariables>
    <ScalarVariable name="y" valueReference="0" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def packed(file: pathlib.Path, experiment: str = "") -> pathlib.Path:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION.replace("EXPERIMENT", experiment))
    return file


@pytest.mark.parametrize(
    ("experiment", "times"),
    [
        ("", (0.0, 0.02, 0.002)),
        ("<DefaultExperiment/>", (0.0, 0.02, 0.002)),
        ('<DefaultExperiment startTime="2" stopTime="12"/>', (2.0, 2.2, 0.02)),
        ('<DefaultExperiment startTime="2"/>', (2.0, 2.02, 0.002)),
        ('<DefaultExperiment startTime="2" stopTime="12" stepSize="0.25"/>', (2.0, 4.5, 0.25)),
        ('<DefaultExperiment startTime="2" stopTime="3" stepSize="0.25"/>', (2.0, 3.0, 0.25)),
    ],
)
def test_ten_steps_of_the_default_experiment_are_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, experiment: str, times: tuple[float, ...]
) -> None:
    """Of the size that it gives, or of 1/500 of its time."""
    asked = {}

    def simulate_fmu(_folder: str, **options: Any) -> np.ndarray:
        asked.update(options)
        return np.zeros(1, [("time", float), ("y", float)])

    monkeypatch.setattr(fmpy, "simulate_fmu", simulate_fmu)
    trial.run(packed(tmp_path / "mass.fmu", experiment), str(tmp_path))
    assert (asked["start_time"], asked["stop_time"], asked["output_interval"]) == pytest.approx(times)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], r"^The run fails: no library$"),
        ([(0, b"all is well")], r"^The run fails: no library$"),
        ([(1, b"the first"), (3, b"pump \xff"), (0, b"all is well")], r"^The run fails: no library \(pump \ufffd\)$"),
    ],
    ids=["nothing", "no problem", "problems"],
)
@pytest.mark.parametrize("before", [(), ("environment",)], ids=["FMI 3.0", "FMI 2.0"])
def test_a_run_that_fails_is_told_with_the_last_problem_of_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, before: tuple[str, ...], lines: list[Any], told: str
) -> None:
    def simulate_fmu(_folder: str, logger: Any, **_: Any) -> np.ndarray:
        for status, line in lines:
            logger(*before, b"mass", status, b"logAll", line)
        raise OSError("no library")

    monkeypatch.setattr(fmpy, "simulate_fmu", simulate_fmu)
    with pytest.raises(ValidationError, match=told):
        trial.run(packed(tmp_path / "mass.fmu"), str(tmp_path))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_outputs_that_are_not_finite_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, wrong: float
) -> None:
    """Also of an element of an array; truths and whole numbers always are."""
    rows = np.zeros(3, [("time", float), ("n", int), ("on", bool), ("y", float), ("z", float, (2,))])
    monkeypatch.setattr(fmpy, "simulate_fmu", lambda *_, **__: rows)
    trial.run(packed(tmp_path / "mass.fmu"), str(tmp_path))
    rows["z"][2, 1] = wrong
    with pytest.raises(ValidationError, match=r'^The output "z" is not finite in the run\.$'):
        trial.run(tmp_path / "mass.fmu", str(tmp_path))
