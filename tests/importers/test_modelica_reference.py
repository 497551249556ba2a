"""The library's own examples as Modelica files, against their published trajectories.

Neither is part of this repository: see tests/test_reference.py; the files are looked for beside the trajectories.
"""

from __future__ import annotations

import pathlib
import tomllib

import numpy as np
import pytest

import mbfmu
from mbfmu.importers.modelica import load
from problems.library import read

#: Cases that are quick: a joint in a loop, a gravity function in Modelica, a drive train with friction, a gas law.
CASES = ("UserDefinedGravityField", "Rotational_CoupledClutches", "Engine1b_analytic", "LineForceWithTwoMasses")


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("name", CASES)
def test_examples_follow_their_trajectories(name: str, reference: pathlib.Path) -> None:
    folder = reference / name
    model = tomllib.loads((folder / "model.toml").read_text("utf-8"))["reference"]["model"]
    path = (reference.parent / "modelica").joinpath(*model.split(".")).with_suffix(".mo")
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    case = read(folder)
    result = mbfmu.simulate(
        load(path), start_time=case.times[0], stop_time=case.times[-1], tolerance=1e-8, interval=1e-3
    )
    motion = {name: np.interp(case.times, result.time, result[name]) for name in case.columns}
    assert case.too_large(motion) == {}
