"""Packages of OMSimulator's test suite, with FMUs of OpenModelica, against the results that it publishes for them.

Run where they are: MBFMU_OMSIMULATOR_DIR=~/OMSimulator python -m pytest tests/hosts/test_published_packages.py
"""

from __future__ import annotations

import os
import pathlib
import zipfile

import pytest

from mbfmu.cosimulation import cosimulate
from mbfmu.cosimulation.package import open_package

#: Outputs at the end by package: `testsuite/tests/simulation/LinearTransformation1.py` and `...3.py`. Add1 adds its
#: second input, 0, to what it gets of Gain1: transformed by 2 y + 3, and as it is.
PUBLISHED = {
    "LinearTransformation": {"Gain1.y": 0.0, "Add1.y": 3.0},
    "LinearTransformation3": {"Gain1.y": 182.0, "Add1.y": 182.0},
}


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("options", [{"step": 0.1}, {}], ids=["fixed", "tolerance"])
def test_packages_end_as_in_omsimulator(name, options, tmp_path):
    given = os.environ.get("MBFMU_OMSIMULATOR_DIR")
    if not given:
        pytest.skip("takes OMSimulator's test suite: set MBFMU_OMSIMULATOR_DIR to its folder")
    folder = pathlib.Path(given).expanduser() / "testsuite" / "tests" / "resources" / name
    path = tmp_path / f"{name}.ssp"
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*")):
            archive.write(file, file.relative_to(folder))
    with open_package(path) as package:
        result = cosimulate(package.structure, stop_time=1.0, start_values=package.start_values, **options)
    assert {output: result[output][-1] for output in PUBLISHED[name]} == PUBLISHED[name]
