"""Published trajectories of the Modelica Standard Library, in this process and through FMUs of both targets.

The cases are not part of this repository: they are read from ../shared/reference, or from the folder that the
environment variable MBFMU_REFERENCE names.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import pathlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

import mbfmu
from mbfmu import sources
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.runtime.contract import STORES
from mbfmu.runtime.run import Run

#: What some models of the library are told: start values that nobody gives, a support that is not there, a jump,
#: inertias that no body has.
pytestmark = [
    pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning"),
    pytest.mark.filterwarnings("ignore:.*which force3 does not have"),
    pytest.mark.filterwarnings("ignore:.*jumps from"),
    pytest.mark.filterwarnings("ignore:.*no distribution of mass has"),
]

#: All cases; where there is no folder, one name, for which the fixture says so.
FOLDER = os.environ.get("MBFMU_REFERENCE") or pathlib.Path(__file__).resolve().parents[2] / "shared" / "reference"
CASES = sorted(path.parent.name for path in pathlib.Path(FOLDER).glob("*/model.toml")) or ["DoublePendulum"]

#: Cases that always run as FMUs: one that moves and has a flange, one with inputs from blocks, one that stands still.
#: With MBFMU_REFERENCE_FMUS=all, all do.
AS_FMU = (
    CASES if os.environ.get("MBFMU_REFERENCE_FMUS") == "all" else ["DoublePendulum", "Test_Prismatic", "Test_Bodies"]
)


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
            error = float(np.abs(motion[name] * self.sign(name, motion) - reference).max()) / scale
            if not error <= self.rel:
                found[name] = error
        return found

    def sign(self, name: str, motion: Mapping[str, np.ndarray]) -> np.ndarray | float:
        """Q and -Q are the same orientation: -1 where ours is on the other side than the reference's."""
        quaternion = re.fullmatch(r"(.*\.Q)\[[1-4]\]", name)
        parts = [f"{quaternion[1]}[{i}]" for i in (1, 2, 3, 4)] if quaternion else []
        if not parts or not all(part in self.columns for part in parts):
            return 1.0
        return np.where(sum(motion[part] * self.columns[part] for part in parts) < 0, -1.0, 1.0)


def read(folder: pathlib.Path) -> Case:
    """Read a case; where times repeat (an event), the first row counts."""
    spec: dict[str, Any] = tomllib.loads((folder / "model.toml").read_text("utf-8"))
    data = next(folder / name for name in ("trajectory.csv", "figures.csv") if (folder / name).exists())
    with data.open(encoding="utf-8") as file:
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


def assembly_of(case: Case) -> mbfmu.Assembly:
    """Read the model; a class that mbfmu does not have skips the test."""
    try:
        return sources.load(case.source)
    except ModelError as error:
        if "no component class" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_in_this_process(name: str, reference: pathlib.Path) -> None:
    case = read(reference / name)
    system = System.of(assembly_of(case))
    places = {v.name: v for v in system.variables}
    moving = [name for name in case.columns if places[name].store != "constant"]
    run = Run(system.equations, system.variables, tolerance=case.tolerance, start_time=case.times[0])
    run.finish_initialisation()
    rows = run.rows(case.times, np.array([STORES.index(places[n].store) << 28 | places[n].index for n in moving]))
    motion = dict(zip(moving, rows.T, strict=True))
    for name in set(case.columns) - set(moving):
        motion[name] = np.full(case.times.size, float(places[name].start or 0.0))
    assert case.errors(motion) == {}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native", "python"])
@pytest.mark.parametrize("name", AS_FMU)
def test_as_fmu(name: str, target: str, reference: pathlib.Path, tmp_path: pathlib.Path) -> None:
    case = read(reference / name)
    path = mbfmu.build(assembly_of(case), tmp_path / f"{name}.fmu", target=target)
    assert case.errors(step(path, case)) == {}
