"""Published trajectories of the Modelica Standard Library, in this process and through FMUs of both targets.

The cases are not part of this repository: they are read from ../shared/reference, or from the folder that the
environment variable MBFMU_REFERENCE names.
"""

from __future__ import annotations

import os
import pathlib

import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

import mbfmu
from mbfmu import sources
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from problems import library
from problems.motion import motion

#: What some models of the library are told: start values that nobody gives, a support that is not there, a jump,
#: inertias that no body has.
pytestmark = [
    pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning"),
    pytest.mark.filterwarnings("ignore:.*which force3 does not have"),
    pytest.mark.filterwarnings("ignore:.*jumps from"),
    pytest.mark.filterwarnings("ignore:.*no distribution of mass has"),
]

#: All cases; where there is no folder, one name, for which the fixture says so.
CASES = library.CASES or ("DoublePendulum",)

#: Cases that always run as FMUs: one that moves and has a flange, one with inputs from blocks, one that stands still.
#: With MBFMU_REFERENCE_FMUS=all, all do.
AS_FMU = (
    CASES if os.environ.get("MBFMU_REFERENCE_FMUS") == "all" else ("DoublePendulum", "Test_Prismatic", "Test_Bodies")
)


def step(path: pathlib.Path, case: library.Case) -> dict[str, np.ndarray]:
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


def assembly_of(case: library.Case) -> mbfmu.Assembly:
    """Read the model; a class that mbfmu does not have skips the test."""
    try:
        return sources.load(case.source)
    except ModelError as error:
        if "no component class" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.slow
@pytest.mark.campaign("EngineV6", "EngineV6_analytic", keep=16)
@pytest.mark.parametrize("name", CASES)
def test_in_this_process(name: str, reference: pathlib.Path) -> None:
    case = library.read(reference / name)
    found = motion(System.of(assembly_of(case)), list(case.columns), case.times, case.tolerance)
    assert case.too_large(found.values) == {}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native", "python"])
@pytest.mark.parametrize("name", AS_FMU)
def test_as_fmu(name: str, target: str, reference: pathlib.Path, tmp_path: pathlib.Path) -> None:
    case = library.read(reference / name)
    path = mbfmu.build(assembly_of(case), tmp_path / f"{name}.fmu", target=target)
    assert case.too_large(step(path, case)) == {}
