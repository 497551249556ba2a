"""A system in both kinds of FMU, run by FMPy: one motion, and start values that act as rebuilding does."""

from __future__ import annotations

import pathlib

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.modeling import Start

OUTPUTS = ["revolute1.phi", "revolute2.phi", "tip[1]", "boxBody2.frame_a.f[1]"]
TARGETS = ("native", "python")


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    folder, system = tmp_path_factory.mktemp("fmus"), mbfmu.System.of(DoublePendulum())
    return {target: mbfmu.build(system, folder / f"{target}.fmu", target=target) for target in TARGETS}


def run(path: pathlib.Path, tolerance: float, **start_values: float) -> np.ndarray:
    return fmpy.simulate_fmu(
        str(path),
        stop_time=3.0,
        output_interval=0.05,
        relative_tolerance=tolerance,
        output=OUTPUTS,
        start_values=start_values,
    )


@pytest.mark.slow
def test_both_targets_agree(fmus: dict[str, pathlib.Path]) -> None:
    """1e-7 at tolerance 1e-10, and both with a run in this process."""
    native, python = (run(fmus[target], 1e-10) for target in TARGETS)
    here = mbfmu.simulate(DoublePendulum(), 3.0, tolerance=1e-10, interval=0.05)
    for name in OUTPUTS[:3]:
        np.testing.assert_allclose(native[name], python[name], atol=1e-7, err_msg=name)
        np.testing.assert_allclose(native[name], here[name], atol=1e-7, err_msg=name)


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("name", "value"), [("boxBody1.density", 2000.0), ("revolute1.phi", 0.7), ("boxBody2.r[1]", 0.3)]
)
def test_start_values_act_as_rebuilding(fmus: dict[str, pathlib.Path], target: str, name: str, value: float) -> None:
    rebuilt = DoublePendulum()
    if name == "revolute1.phi":
        rebuilt.revolute1.modify(phi=Start(value))
    elif name == "boxBody2.r[1]":
        rebuilt.boxBody2.r = (value, 0, 0)
    else:
        rebuilt.boxBody1.density = value
    expected = mbfmu.simulate(rebuilt, 3.0, tolerance=1e-9, interval=0.05)
    found, untouched = run(fmus[target], 1e-9, **{name: value}), run(fmus[target], 1e-9)
    for output in OUTPUTS[:2]:
        np.testing.assert_allclose(found[output], expected[output], atol=1e-6, err_msg=output)
        assert np.abs(found[output] - untouched[output]).max() > 0.01
