"""Models that end their run: in this process, in co-simulation and model exchange, of both versions of FMI."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator
from typing import Any

import fmpy
import numpy as np
import pytest
from ending import Bursting, Filling
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import fmi2LastSuccessfulTime, fmi2Terminated
from fmpy.simulation import instantiate_fmu

from mbfmu import sources
from mbfmu.components import blocks
from mbfmu.errors import SimulationError
from mbfmu.export.build import build
from mbfmu.modeling import Assembly
from mbfmu.simulation import simulate


def importer_run(path: str, **options: Any) -> Any:
    """A run in FMPy with a logger of its own: FMPy's default one goes on with that of an earlier run, which is gone."""
    lines: list[str] = []
    result = fmpy.simulate_fmu(path, logger=lambda *line: lines.append(line[-1].decode()), **options)
    ends = options.get("fmi_type") == "ModelExchange" or any("the model ends the simulation" in line for line in lines)
    assert ends, lines
    return result


#: Libraries of all kinds: those of FMI 3.0 are the same sources with another face.
KINDS = [{"equations": "compiled"}, {"equations": "interpreted"}, {"target": "python"}]


@contextlib.contextmanager
def initialised(path: pathlib.Path, folder: pathlib.Path) -> Iterator[tuple[Any, list[tuple[int, str]]]]:
    """An instance at the start, and the statuses and texts of its log."""
    lines: list[tuple[int, str]] = []
    description = fmpy.read_model_description(str(path))
    fmpy.extract(str(path), str(folder))
    with contextlib.chdir(pathlib.Path.cwd()):
        fmu = instantiate_fmu(
            str(folder), description, "CoSimulation", logger=lambda *line: lines.append((line[-3], line[-1].decode()))
        )
    if description.fmiVersion == "2.0":
        fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    yield fmu, lines
    fmu.freeInstance()


def test_a_result_ends_where_the_model_ends_it():
    result = simulate(Filling(), 5.0, interval=0.4)
    np.testing.assert_allclose(result.time, [0, 0.4, 0.8, 1.2, 1.5], atol=1e-9)
    np.testing.assert_allclose(result["level.y"], 2 * result.time, atol=1e-9)


def test_an_end_at_the_last_point_cuts_nothing_off():
    result = simulate(Filling(), 1.5, interval=0.3)
    np.testing.assert_allclose(result.time, [0, 0.3, 0.6, 0.9, 1.2, 1.5], atol=1e-9)


@pytest.mark.parametrize(
    ("condition", "end"),
    [(lambda time: time >= 0.7, 0.7), (False, 1.0), ("time >= 0.7", 1.0)],
    ids=["function", "false", "note"],
)
def test_conditions_of_time_and_notes(condition, end):
    assembly = Assembly()
    assembly.clock, assembly.end = blocks.ContinuousClock(), blocks.TerminateSimulation(condition=condition)
    assert simulate(assembly, 1.0, interval=0.25).time[-1] == pytest.approx(end)


@pytest.mark.slow
def test_a_condition_of_a_modelica_model(tmp_path):
    (tmp_path / "Filling.mo").write_text(
        """model Filling
  Modelica.Blocks.Sources.Constant inflow(k = 2);
  Modelica.Blocks.Continuous.Integrator level;
  Modelica.Blocks.Logical.TerminateSimulation end1(condition = level.y > 3, terminationText = "full");
equation
  connect(inflow.y, level.u);
end Filling;
"""
    )
    assert simulate(sources.load(str(tmp_path / "Filling.mo")), 5.0).time[-1] == pytest.approx(1.5)


def test_assertions_still_fail():
    with pytest.raises(SimulationError, match="assertion violated: right: too high"):
        simulate(Bursting(), 5.0)


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"equations": "compiled"}, "CoSimulation"),
        ({"equations": "interpreted"}, "CoSimulation"),
        ({"target": "python"}, "CoSimulation"),
        ({"equations": "interpreted"}, "ModelExchange"),
        ({"equations": "interpreted", "fmi": 3}, "ModelExchange"),
    ],
    ids=str,
)
def test_importers_end_their_run(options, kind, tmp_path):
    path = build(Filling(), tmp_path, **options)
    result = importer_run(str(path), fmi_type=kind, stop_time=5.0, output_interval=0.4)
    assert result["time"][-1] == pytest.approx(1.5, abs=1e-6)
    assert result["level.y"][-1] == pytest.approx(3.0, abs=1e-6)


def test_steps_of_fmi_3_end_early_where_they_may(tmp_path):
    path = build(Filling(), tmp_path, equations="interpreted", fmi=3)
    result = importer_run(
        str(path), fmi_type="CoSimulation", stop_time=5.0, output_interval=0.4, early_return_allowed=True
    )
    assert result["time"][-1] == pytest.approx(1.5, abs=1e-6)


@pytest.mark.slow
def test_steps_of_a_fixed_length_end_with_the_one_in_which_it_happens(tmp_path):
    path = build(Filling(limit=3.0001), tmp_path, fixed_step=0.001)
    result = importer_run(str(path), stop_time=5.0, output_interval=0.4)
    assert result["time"][-1] == pytest.approx(1.501, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("options", KINDS, ids=str)
def test_a_step_of_fmi_3_that_must_not_end_early_is_good_and_says_what_it_has_reached(options, tmp_path):
    path = build(Filling(), tmp_path, fmi=3, **options)
    with initialised(path, tmp_path / "fmu") as (fmu, lines):
        assert fmu.doStep(0.0, 1.25) == (False, False, False, 1.25)
        lines.clear()
        event, terminate, early, reached = fmu.doStep(1.25, 1.0)
        assert (event, terminate, early) == (False, True, False)
        assert reached == pytest.approx(1.5, abs=1e-6)
        assert [(status, "the model ends the simulation" in text) for status, text in lines] == [(0, True)]
        lines.clear()
        with pytest.raises(FMICallException):
            fmu.doStep(reached, 1.0)
        assert [(status, "has ended the simulation" in text) for status, text in lines] == [(3, True)]
    importer_run(str(path), fmi_type="CoSimulation", stop_time=5.0, output_interval=0.4)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.parametrize(("fmi", "status"), [(2, 2), (3, 3)])
def test_a_step_that_fails_is_no_end_that_the_model_wants(options, fmi, status, tmp_path):
    """FMI 2.0 discards it and keeps what was reached; in FMI 3.0 a discarded step would have changed nothing."""
    with initialised(build(Bursting(), tmp_path, fmi=fmi, **options), tmp_path / "fmu") as (fmu, lines):
        lines.clear()
        with pytest.raises(FMICallException) as failure:
            fmu.doStep(0.0, 1.25)
        assert failure.value.status == status
        assert [(s, "assertion violated: right: too high" in text) for s, text in lines] == [(status, True)]
        if fmi == 2:
            assert 0 < fmu.getRealStatus(fmi2LastSuccessfulTime) <= 1.0
            assert not fmu.getBooleanStatus(fmi2Terminated)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_importers_take_no_part_of_a_failed_run_for_all(fmi, tmp_path):
    path = build(Bursting(), tmp_path, fmi=fmi, equations="interpreted")
    with pytest.raises(FMICallException):
        fmpy.simulate_fmu(str(path), stop_time=5.0, output_interval=0.4, logger=lambda *_: None)
