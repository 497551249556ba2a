"""The trial run of an FMU: over which time, and in which steps."""

from __future__ import annotations

import pathlib
import zipfile
from typing import Any

import fmpy
import numpy as np
import pytest

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
    with zipfile.ZipFile(tmp_path / "mass.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION.replace("EXPERIMENT", experiment))
    trial.run(tmp_path / "mass.fmu", str(tmp_path))
    assert (asked["start_time"], asked["stop_time"], asked["output_interval"]) == pytest.approx(times)
