"""Rigid shafts between FMUs that both take torque, against closed forms of the whole."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import blocks, rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.errors import MbfmuError
from problems.coupling import ANGLE, INERTIA, Swinging, swing


class Middle(Assembly):
    """A free inertia with two ends and a hub, which all take torque."""

    def __init__(self) -> None:
        self.left, self.right, self.hub = Flange_a("One end"), Flange_a("The other end"), Flange_a("Between")
        self.inertia = rotational.Inertia(J=1.0, phi=Start(ANGLE, fixed=True), w=Start(0.0, fixed=True))
        self.connect(self.inertia.flange_a, self.left)
        self.connect(self.inertia.flange_b, self.right)
        self.connect(self.inertia.flange_b, self.hub)


class Pushed(Assembly):
    """An inertia on which a torque begins to act at 0.3 s."""

    def __init__(self) -> None:
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=1.0, phi=Start(ANGLE, fixed=True), w=Start(0.0, fixed=True))
        self.step, self.torque = blocks.Step(height=4.0, startTime=0.3), rotational.Torque()
        self.connect(self.step.y, self.torque.tau)
        self.connect(self.torque.flange, self.inertia.flange_b)
        self.connect(self.inertia.flange_a, self.axis)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    folder = tmp_path_factory.mktemp("shafts")
    return {
        f"{name} {fmi}": mbfmu.build(assembly, folder / f"{name}{fmi}.fmu", equations="interpreted", fmi=fmi)
        for name, assembly in (("middle", Middle()), ("swinging", Swinging()), ("pushed", Pushed()))
        for fmi in (2, 3)
    }


def pair(fmus: dict[str, pathlib.Path], fmi: int = 2) -> SystemStructure:
    files = {"middle": fmus[f"middle {fmi}"], "swinging": fmus[f"swinging {fmi}"]}
    return SystemStructure.of(files, [("middle.left", "swinging.axis")])


def run(system: SystemStructure, ratio: float, step: float = 0.02, **options: Any) -> Any:
    return cosimulate(
        system, step=step, stop_time=0.8, tolerance=1e-11, start_values={"middle.inertia.J": ratio * INERTIA}, **options
    )


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("ratio", [0.01, 100.0])
def test_both_sides_move_as_one(ratio: float, fmi: int, fmus: dict[str, pathlib.Path]) -> None:
    """Of the fourth order, without drift; accelerations agree at the start, and as lines do after it."""
    errors = []
    for step in (0.04, 0.02):
        found = run(pair(fmus, fmi), ratio, step)
        errors.append(np.abs(found["swinging.axis.phi"] - swing((1 + ratio) * INERTIA, found.time)).max())
        for name in ("phi", "w"):
            assert np.abs(found[f"middle.left.{name}"] - found[f"swinging.axis.{name}"]).max() < 1e-10
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.1)
    start = -80.0 * ANGLE / ((1 + ratio) * INERTIA)
    assert [found["middle.left.a"][0], found["swinging.axis.a"][0]] == pytest.approx([start, start], rel=1e-7)
    assert found.account.calls < 5 * found.account.steps


@pytest.mark.slow
@pytest.mark.campaign("1.0")
@pytest.mark.parametrize("ratio", [0.01, 1.0])
def test_steps_follow_a_tolerance(ratio: float, fmus: dict[str, pathlib.Path]) -> None:
    """A spring that is stiff enough for steps below the longest; angles, by their greatest, and both sides together."""
    inertia, c, d, errors = (1 + ratio) * INERTIA, 2e4, 3.0, []
    for tolerance in (1e-4, 1e-6):
        found = cosimulate(
            pair(fmus), tolerance=tolerance, stop_time=0.5,
            start_values={"middle.inertia.J": ratio * INERTIA, "swinging.spring.c": c},
        )  # fmt: skip
        decay = d / (2 * inertia)
        w = np.sqrt(c / inertia - decay**2)
        known = ANGLE * np.exp(-decay * found.time) * (np.cos(w * found.time) + decay / w * np.sin(w * found.time))
        errors.append(np.abs(found["swinging.axis.phi"] - known).max())
        assert errors[-1] < 10 * tolerance
        assert np.abs(found["middle.left.phi"] - found["swinging.axis.phi"]).max() < tolerance / 100
        assert np.abs(found["middle.left.w"] - found["swinging.axis.w"]).max() < tolerance * w
        assert not found.account.notes
        assert found.account.rejected < found.account.steps / 4
    assert errors[1] < errors[0] / 20


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_torques_that_begin_are_met(fmi: int, fmus: dict[str, pathlib.Path]) -> None:
    files = {"pushed": fmus[f"pushed {fmi}"], "middle": fmus[f"middle {fmi}"]}
    found = cosimulate(SystemStructure.of(files, [("pushed.axis", "middle.left")]), tolerance=1e-5, stop_time=0.6)
    known = ANGLE + np.maximum(found.time - 0.3, 0) ** 2
    assert np.abs(found["middle.left.phi"] - known).max() < 1e-6
    if fmi == 3:  # steps end there
        assert np.abs(found.time - 0.3).min() < 1e-9
    assert found["middle.left.a"][-1] == pytest.approx(2.0, rel=1e-4)


@pytest.mark.slow
def test_three_inertias_on_two_shafts(fmus: dict[str, pathlib.Path]) -> None:
    """Threads and processes change no bit."""
    files = {"middle": fmus["middle 2"], "end": fmus["middle 3"], "swinging": fmus["swinging 2"]}
    system = SystemStructure.of(files, [("swinging.axis", "middle.left"), ("middle.right", "end.left")])
    found = run(system, 0.5)
    whole = swing(1.5 * INERTIA + 1.0, found.time)
    for name in ("middle", "end", "swinging"):
        flange = "axis" if name == "swinging" else "left"
        assert np.abs(found[f"{name}.{flange}.phi"] - whole).max() < 1e-6
    other = run(system, 0.5, processes=True, threads=2)
    assert np.array_equal(other["end.left.phi"], found["end.left.phi"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scheme": "gauss-seidel"}, "with scheme='jacobi' only"),
        ({"scheme": "gauss-seidel", "step": None}, "with scheme='jacobi' only"),
        ({"steps": {"middle": 0.005}}, "middle, swinging: .*need steps of one length"),
        ({"start_values": {"middle.inertia.phi": 0.9}}, "start apart .positions differ by -0.1.*same start values"),
    ],
)
def test_shafts_that_cannot_be_are_refused(options: dict[str, Any], words: str, fmus: dict[str, pathlib.Path]) -> None:
    with pytest.raises(MbfmuError, match=words):
        cosimulate(pair(fmus), **({"step": 0.01, "stop_time": 0.1} | options))


def test_shafts_that_hold_the_same_motion_are_refused(fmus: dict[str, pathlib.Path]) -> None:
    files = {"a": fmus["middle 2"], "b": fmus["middle 2"], "swinging": fmus["swinging 2"]}
    wires = [("a.left", "swinging.axis"), ("a.right", "b.right"), ("a.hub", "b.hub")]
    system = SystemStructure.of(files, wires)
    with pytest.raises(MbfmuError, match=r"a.right and b.right; a.hub and b.hub: .*not determined at the start"):
        cosimulate(system, step=0.01, stop_time=0.1)


def test_fmus_beside_shafts_have_to_go_back_for_a_tolerance(fmus: dict[str, pathlib.Path]) -> None:
    files = {"middle": fmus["middle 2"], "swinging": fmus["swinging 2"], "alone": fmus["middle 2"]}
    system = SystemStructure.of(files, [("middle.left", "swinging.axis")])
    system.descriptions["alone"].coSimulation.canGetAndSetFMUstate = False
    with pytest.raises(MbfmuError, match=r"alone: cannot go back .* middle.left and swinging.axis; give the step"):
        cosimulate(system, stop_time=0.1)


def test_fmus_at_shafts_have_to_go_back(fmus: dict[str, pathlib.Path]) -> None:
    system = pair(fmus)
    system.descriptions["swinging"].coSimulation.canGetAndSetFMUstate = False
    with pytest.raises(MbfmuError, match=r"swinging: .*canGetAndSetFMUState.*motion=True"):
        run(system, 1.0)
