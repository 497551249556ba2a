"""FMUs that fail: each is named with the time, and nothing of it is left behind."""

from __future__ import annotations

import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mbfmu import cli
from mbfmu.cosimulation import CoupledResult, SystemStructure, cosimulate
from mbfmu.cosimulation.coupling import Coupling
from mbfmu.cosimulation.loops import links_on_loops
from mbfmu.errors import SimulationError

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="faulty" guid="faulty">
 <CoSimulation modelIdentifier="faulty" canHandleVariableCommunicationStepSize="true"
  canGetAndSetFMUstate="{saves}"/>
 <DefaultExperiment startTime="0" stopTime="0.2"/>
 <ModelVariables>
  <ScalarVariable name="x" valueReference="0" causality="output" variability="continuous"><Real/></ScalarVariable>
  <ScalarVariable name="u" valueReference="1" causality="input" variability="continuous"><Real start="0"/>
  </ScalarVariable>
  <ScalarVariable name="fault" valueReference="2" causality="parameter" variability="fixed"><Integer start="0"/>
  </ScalarVariable>
  <ScalarVariable name="y" valueReference="3" causality="output" variability="continuous"><Real/></ScalarVariable>
  <ScalarVariable name="gain" valueReference="4" causality="parameter" variability="fixed"><Real start="0"/>
  </ScalarVariable>
 </ModelVariables>
 <ModelStructure>
  <Outputs><Unknown index="1" dependencies=""/><Unknown index="4" dependencies="2"/></Outputs>
 </ModelStructure>
</fmiModelDescription>
"""
ERROR, DISCARD, NAN, ABORT, HANG, REFUSES_STATES = range(1, 7)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """FMUs of faulty.c: one that saves states, and one that says it does not."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("takes a C compiler on Linux")
    folder = tmp_path_factory.mktemp("faulty")
    library = folder / "faulty.so"
    source = pathlib.Path(__file__).with_name("faulty.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", str(source), "-o", str(library), "-lm"], check=True)
    found = {}
    for name, saves in (("back", "true"), ("onward", "false")):
        found[name] = folder / f"{name}.fmu"
        with zipfile.ZipFile(found[name], "w") as archive:
            archive.writestr("modelDescription.xml", DESCRIPTION.format(saves=saves))
            archive.write(library, "binaries/linux64/faulty.so")
    return found


def ring(file: pathlib.Path) -> SystemStructure:
    return SystemStructure.of({"one": file, "two": file}, [("one.x", "two.u"), ("two.x", "one.u")])


def exact(time: np.ndarray) -> np.ndarray:
    """x' = y - x, y' = x - y from x = 1, y = 0: the difference decays at the rate 2."""
    return 0.5 + 0.5 * np.exp(-2 * time)


START = {"two.x": 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["back", "onward"])
def test_fmus_that_hold_inputs_keep_a_tolerance(kind: str, fmus: dict[str, pathlib.Path]) -> None:
    result = cosimulate(ring(fmus[kind]), stop_time=1.0, tolerance=1e-5, start_values=START, outputs=["one.x"])
    assert np.abs(result["one.x"] - exact(result.time)).max() < 3e-5
    told = " ".join(result.account.notes)
    assert "one: takes no input derivatives" in told
    assert ("cannot go back (canGetAndSetFMUState)" in told) == (kind == "onward")
    assert (result.account.rejected == 0) or kind == "back"


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize(
    ("fault", "words"), [(ERROR, "error"), (DISCARD, "discard"), (NAN, "x is not finite"), (ABORT, "SIGABRT")]
)
@pytest.mark.parametrize("step", [0.01, None])
def test_an_fmu_that_fails_is_named_with_the_time(
    fault: int, words: str, step: float | None, fmus: dict[str, pathlib.Path], tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = fault == ABORT
    with pytest.raises(SimulationError, match=rf"two at t = 0\.0[456]\d*.* s: .*{words}"):
        cosimulate(ring(fmus["back"]), step=step, stop_time=0.2, start_values={"two.fault": fault}, processes=own)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_an_fmu_that_does_not_return_is_named_after_a_limit(fmus: dict[str, pathlib.Path]) -> None:
    with pytest.raises(SimulationError, match=r"two at t = 0\.05 s: does not return from step within 1 s"):
        cosimulate(
            ring(fmus["back"]), step=0.01, stop_time=0.2, start_values={"two.fault": HANG}, processes=True, limit=1.0
        )


def test_states_that_cannot_be_restored_are_told(fmus: dict[str, pathlib.Path]) -> None:
    with pytest.raises(SimulationError, match=r"two at t = .*: does not take its state back: .*error"):
        cosimulate(
            ring(fmus["back"]), stop_time=1.0, tolerance=1e-9, start_values=START | {"two.fault": REFUSES_STATES}
        )


def test_links_on_loops_are_named_by_their_inputs(fmus: dict[str, pathlib.Path]) -> None:
    three = dict.fromkeys(("one", "two", "three"), fmus["back"])
    for last, found in (("three.x", []), ("three.y", ["one.u", "three.u", "two.u"])):  # x is a state
        structure = SystemStructure.of(three, [("one.y", "two.u"), ("two.y", "three.u"), (last, "one.u")])
        assert sorted(links_on_loops(structure)) == found


def answering(file: pathlib.Path, step: float | None, **options: Any) -> tuple[CoupledResult, np.ndarray]:
    """Two FMUs on a loop of the gain 9, y = x - 3 u each, and the closed form of the first one's x.

    u1 + u2 = (x1 + x2) / 4 and u1 - u2 = (x1 - x2) / 2, of which x' = u - x.
    """
    system = SystemStructure.of({"one": file, "two": file}, [("one.y", "two.u"), ("two.y", "one.u")])
    start = START | {"one.gain": 3.0, "two.gain": 3.0}
    found = cosimulate(system, step=step, stop_time=0.5, start_values=start, **options)
    return found, (np.exp(-0.75 * found.time) + np.exp(-0.5 * found.time)) / 2


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize(("step", "error"), [(0.01, 1e-3), (None, 2e-6)])
def test_outputs_that_answer_in_steps_only_agree_on_loops(
    scheme: str, step: float | None, error: float, fmus: dict[str, pathlib.Path]
) -> None:
    """Their derivatives are found by going back: an FMU that gives none, and shows no answer without a step."""
    found, x = answering(fmus["back"], step, scheme=scheme)
    assert np.abs(found["one.x"] - x).max() < error
    residual = [found[f"{a}.y"] - found[f"{a}.x"] + 3 * found[f"{b}.y"] for a, b in (("one", "two"), ("two", "one"))]
    assert np.abs(residual).max() < 1e-5
    assert found.account.steps < 80


def test_what_answers_in_a_step_is_told_from_what_grows_with_it(
    fmus: dict[str, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """y = x - 3 u is -3 for each u at once, and h more after a step of h, through x."""
    found = []

    def initialised(self: Coupling, initialise: Callable[[Coupling], None] = Coupling.initialise) -> None:
        initialise(self)
        assert self.jacobian is not None
        found.append(self.jacobian.copy())

    monkeypatch.setattr(Coupling, "initialise", initialised)
    answering(fmus["back"], 0.01)
    np.testing.assert_allclose(found, [[[0, -3], [-3, 0]]], atol=1e-7)


def test_first_outputs_that_come_after_the_start_are_passed_on(fmus: dict[str, pathlib.Path]) -> None:
    """y is 0 until the FMU is initialised; the other one's first step has to know it: x' = 1 - x from 0."""
    system = SystemStructure.of({"one": fmus["back"], "two": fmus["back"]}, [("one.y", "two.u")])
    found = cosimulate(system, step=0.01, stop_time=0.01, start_values=START)
    assert found["two.x"][-1] == pytest.approx(1 - np.exp(-0.01), rel=1e-3)


@pytest.mark.slow
def test_threads_and_processes_change_no_bit(fmus: dict[str, pathlib.Path]) -> None:
    options = {"stop_time": 0.3, "tolerance": 1e-5, "start_values": START}
    alone = cosimulate(ring(fmus["back"]), **options)
    for more in ({"threads": 2}, {"processes": True}, {"processes": True, "threads": 2}):
        found = cosimulate(ring(fmus["back"]), **options, **more)
        assert np.array_equal(found.time, alone.time)
        assert np.array_equal(found["two.x"], alone["two.x"])


def test_the_command_names_a_missing_fmu(
    fmus: dict[str, pathlib.Path], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from mbfmu.cosimulation.ssp import write_ssp

    package = write_ssp(ring(fmus["back"]), tmp_path / "ring.ssp")
    broken = tmp_path / "broken.ssp"
    with zipfile.ZipFile(package) as old, zipfile.ZipFile(broken, "w") as new:
        for entry in old.namelist():
            if entry != "resources/two.fmu":
                new.writestr(entry, old.read(entry))
    assert cli.main(["simulate", str(broken)]) == 2
    assert "the FMU of two is missing: there is no resources/two.fmu" in capsys.readouterr().err
