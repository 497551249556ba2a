"""Quaternions of bodies on which they are no states: continuous within a run, against closed forms."""

from __future__ import annotations

import pathlib
from typing import Any

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly
from mbfmu.components import Body, Spherical, World
from mbfmu.modeling import Start

#: Angular velocity [rad/s].
W = np.array([2.0, -3.0, 6.0])
NAMES = [f"body.Q[{i + 1}]" for i in range(4)]


def quaternions(result: Any) -> np.ndarray:
    """What FMPy gives: an array with FMI 3.0, numbers with FMI 2.0."""
    return result["body.Q"] if "body.Q" in result.dtype.names else np.stack([result[name] for name in NAMES], axis=1)


class Top(Assembly):
    """A ball that turns steadily about its centre, on a spherical joint, whose quaternion is the state."""

    tolerance = 1e-8

    def __init__(self, w: Any = W) -> None:
        self.world = World(g=0.0)
        self.joint = Spherical(angles_fixed=True)
        self.body = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.1, I_22=0.1, I_33=0.1, w_a=Start(w, fixed=True))
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.body.frame_a)
        self.output(self.body.Q)


def turned(time: Any, w: Any = W) -> np.ndarray:
    """Quaternion of a steady turn, which is itself again after two of them."""
    speed = np.linalg.norm(w)
    half = np.asarray(time)[:, None] * speed / 2
    return np.hstack([np.sin(half) * np.asarray(w) / speed, np.cos(half)])


def test_quaternion_goes_on_through_half_turns() -> None:
    """Over five turns, of which each passes the rotation where Q and -Q are equally near to the null rotation."""
    result = mbfmu.simulate(Top(), 5.0, interval=0.01)
    Q = np.stack([result[name] for name in NAMES], axis=1)
    np.testing.assert_allclose(Q, turned(result.time), atol=1e-6)
    assert Q[:, 3].min() < -0.99  # the run goes where the nearer one would be the other


@pytest.mark.slow
def test_quaternion_goes_on_with_steps_of_fixed_length(tmp_path: pathlib.Path) -> None:
    path = mbfmu.build(Top(), tmp_path / "top.fmu", equations="interpreted", fixed_step=0.02)
    result = fmpy.simulate_fmu(str(path), stop_time=5.0, output_interval=0.02)
    np.testing.assert_allclose(quaternions(result), turned(result["time"]), atol=1e-4)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("fmi", "target", "kind"),
    [
        (2, "native", "CoSimulation"),
        (2, "native", "ModelExchange"),
        (3, "native", "CoSimulation"),
        (3, "native", "ModelExchange"),
        (2, "python", "CoSimulation"),
    ],
)
def test_quaternion_goes_on_in_fmus(fmi: int, target: str, kind: str, tmp_path: pathlib.Path) -> None:
    path = mbfmu.build(Top(), tmp_path / "top.fmu", fmi=fmi, target=target, equations="interpreted")
    for interval in (0.01, 0.9):  # within a long step it turns by more than one turn
        result = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=4.5, output_interval=interval, relative_tolerance=1e-8
        )
        np.testing.assert_allclose(quaternions(result), turned(result["time"]), atol=1e-5)


@pytest.mark.slow
def test_quaternion_begins_nearer_to_the_null_rotation() -> None:
    for w in (W, -W):
        start = mbfmu.simulate(Top(w), 0.01)
        assert [float(start[name][0]) for name in NAMES] == pytest.approx([0, 0, 0, 1])


@pytest.mark.slow
def test_states_that_were_saved_bring_the_sign_back(tmp_path: pathlib.Path) -> None:
    """In a run that goes back to an earlier time, and on."""
    path = mbfmu.build(Top(), tmp_path / "top.fmu", equations="interpreted")
    description = fmpy.read_model_description(str(path))
    references = [v.valueReference for name in NAMES for v in description.modelVariables if v.name == name]
    folder = fmpy.extract(str(path), str(tmp_path / "unpacked"))
    identifier = description.coSimulation.modelIdentifier
    slave = fmpy.fmi2.FMU2Slave(
        guid=description.guid, unzipDirectory=folder, modelIdentifier=identifier, instanceName="top"
    )
    slave.instantiate()
    try:
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        slave.doStep(0.0, 0.6)  # 4.2 rad: c is negative
        state = slave.getFMUstate()
        for end in (1.1, 2.0):
            slave.setFMUstate(state)
            slave.doStep(0.6, end - 0.6)
            np.testing.assert_allclose(slave.getReal(references), turned([end])[0], atol=1e-4)
        slave.setFMUstate(state)
        np.testing.assert_allclose(slave.getReal(references), turned([0.6])[0], atol=1e-4)
        slave.freeFMUstate(state)
    finally:
        slave.terminate()
        slave.freeInstance()
