"""Results tell what switched, when and to what, and have rows at both sides of a jump."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start, cli
from mbfmu.components import blocks, rotational
from mbfmu.errors import ModelError


class Driven(Assembly):
    """A wheel under a torque that steps; a switch with hysteresis looks at a sine."""

    stop_time = 3.0

    def __init__(self) -> None:
        self.push = blocks.Step(height=4.0, startTime=1.3)
        self.torque = rotational.Torque()
        self.wheel = rotational.Inertia(J=2.0, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.wave = blocks.Sine(amplitude=2.0, f=0.5)
        self.hysteresis = blocks.Hysteresis(uLow=-0.5, uHigh=0.5)
        self.connect(self.push.y, self.torque.tau)
        self.connect(self.torque.flange, self.wheel.flange_a)
        self.connect(self.wave.y, self.hysteresis.u)
        self.output(self.wheel.w)


ABOVE = np.arcsin(0.25) / np.pi  # 2 sin(pi t) = 0.5
EXPECTED = [
    (ABOVE, "hysteresis.y", 0, 1),
    (1.0 + ABOVE, "hysteresis.y", 1, 0),
    (1.3, "push.y", 0, 4),
    (2.0 + ABOVE, "hysteresis.y", 0, 1),
]


@pytest.mark.slow
def test_events() -> None:
    result = mbfmu.simulate(Driven(), interval=0.25, outputs=["wheel.a", "wheel.w"], events=True)
    assert [(e.name, e.before, e.after) for e in result.events] == [event[1:] for event in EXPECTED]
    np.testing.assert_allclose([e.time for e in result.events], [event[0] for event in EXPECTED], atol=1e-8)
    assert result.time.size == 13 + 2 * len(EXPECTED)
    beside = np.flatnonzero(np.abs(result.time - 1.3) < 1e-7)
    np.testing.assert_allclose(result.time[beside], 1.3, atol=2e-8)
    np.testing.assert_allclose(result["wheel.a"][beside], [0.0, 2.0])
    np.testing.assert_allclose(result["wheel.w"], 2.0 * np.maximum(result.time - 1.3, 0.0), atol=1e-6)
    assert list(result) == ["wheel.a", "wheel.w"]
    assert result.select("wheel.a").events == result.events
    assert str(result.events[2]) == "1.3 s: push.y from 0 to 4"
    assert len(result.plot(["wheel.a"]).axes[0].lines) == 1 + len(EXPECTED)


def test_an_event_on_a_recorded_instant_has_two_rows() -> None:
    result = mbfmu.simulate(Driven(), interval=0.1, outputs=["wheel.a"], events=True)
    near = np.abs(result.time - 1.3) < 0.05
    np.testing.assert_allclose(result["wheel.a"][near], [0.0, 2.0])


def test_without_asking_nothing_changes() -> None:
    result = mbfmu.simulate(Driven(), interval=0.25)
    assert result.events == ()
    np.testing.assert_allclose(result.time, np.linspace(0, 3, 13))


@pytest.mark.slow
def test_the_command_tells_them(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    source = f"{__file__}:Driven"
    assert cli.main(["simulate", source, "--interval", "0.5", "--events"]) == 0
    text = capsys.readouterr().out
    assert "1.3  push.y           0   4" in text
    assert cli.main(["simulate", source, "--interval", "0.5", "--events", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["events"]
    assert [event["name"] for event in found] == [event[1] for event in EXPECTED]


def test_fmus_do_not_tell_them() -> None:
    with pytest.raises(ModelError, match=r"events are not told by FMUs"):
        mbfmu.simulate("model.fmu", events=True)
