"""Published trajectories of the Modelica Standard Library, in this process and through FMUs of both targets.

The cases are not part of this repository: they are read from ../shared/reference, or from the folder that the
environment variable MBFMU_REFERENCE names.
"""

from __future__ import annotations

import csv
import dataclasses
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

import mbfmu
from mbfmu import sources

#: Cases that run in this process.
CASES = (
    "DoublePendulum",
    "Pendulum",
    "Test_Bodies",
    "Test_FixedRotation",
    "Test_FixedTranslation",
    "Test_Prismatic",
    "Test_Revolute",
)

#: Cases that also run as FMUs: one that moves and has a flange, one with inputs from blocks, one that stands still.
AS_FMU = ("DoublePendulum", "Test_Prismatic", "Test_Bodies")


@dataclasses.dataclass(frozen=True)
class Case:
    """One reference case: `columns` by variable name, parallel to `times` [s]; `rel` is the error allowed."""

    source: str
    times: np.ndarray
    columns: dict[str, np.ndarray]
    rel: float
    tolerance: float

    def errors(self, motion: Mapping[str, np.ndarray]) -> dict[str, float]:
        """Return those errors, relative to the range of each reference signal, that are too large."""
        found = {}
        for name, reference in self.columns.items():
            spread = float(np.ptp(reference))
            scale = spread if spread > 1e-6 else max(float(np.abs(reference).max()), 1e-3)
            error = float(np.abs(motion[name] - reference).max()) / scale
            if not error <= self.rel:
                found[name] = error
        return found


def read(folder: pathlib.Path) -> Case:
    """Read a case; where times repeat (an event), the first row counts."""
    spec: dict[str, Any] = tomllib.loads((folder / "model.toml").read_text("utf-8"))
    with (folder / "trajectory.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    table = table[np.concatenate(([True], np.diff(np.maximum.accumulate(table[:, 0])) > 0))]
    compare = spec.get("compare", {})
    table = table[table[:, 0] <= compare.get("until", np.inf)]
    return Case(
        source=spec.get("assembly", str(folder / "model.toml")),
        times=table[:, 0],
        columns={column: table[:, i] for i, column in enumerate(header) if i},
        rel=compare.get("rel", 1e-3),
        tolerance=min(1e-8, 0.1 * spec["experiment"].get("tolerance", 1e-6)),
    )


def step(path: pathlib.Path, case: Case) -> dict[str, np.ndarray]:
    """Step an FMU in FMPy to exactly the reference's times."""
    description = fmpy.read_model_description(str(path), validate=True)
    references = {v.name: v.valueReference for v in description.modelVariables}
    wanted = [references[name] for name in case.columns]
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=fmpy.extract(str(path), str(path.with_suffix(""))),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName=path.stem,
    )
    slave.instantiate()
    slave.setupExperiment(tolerance=case.tolerance, startTime=case.times[0])
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    rows = [slave.getReal(wanted)]
    for start, size in zip(case.times, np.diff(case.times), strict=False):
        slave.doStep(currentCommunicationPoint=start, communicationStepSize=size)
        rows.append(slave.getReal(wanted))
    slave.terminate()
    slave.freeInstance()
    return dict(zip(case.columns, np.array(rows).T, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_in_this_process(name: str, reference: pathlib.Path) -> None:
    case = read(reference / name)
    start, stop = case.times[0], case.times[-1]
    step = (stop - start) / (case.times.size - 1)  # the reference's own times, for all of these cases
    assert np.allclose(np.diff(case.times), step)
    result = mbfmu.simulate(
        sources.load(case.source), start_time=start, stop_time=stop, tolerance=case.tolerance, step=step
    )
    assert case.errors(result) == {}


@pytest.mark.parametrize("target", ["native", "python"])
@pytest.mark.parametrize("name", AS_FMU)
def test_as_fmu(name: str, target: str, reference: pathlib.Path, tmp_path: pathlib.Path) -> None:
    case = read(reference / name)
    path = mbfmu.build(sources.load(case.source), tmp_path / f"{name}.fmu", target=target)
    assert case.errors(step(path, case)) == {}
