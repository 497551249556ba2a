"""FMUs that end their run, have texts, or need clocks: what simulates them keeps what there is, and says the rest."""

from __future__ import annotations

import re
import zipfile

import numpy as np
import pytest

from mbfmu import Assembly, cli
from mbfmu.components import blocks
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.errors import ModelError, SimulationError
from mbfmu.export.build import build
from mbfmu.fmi.foreign import Foreign
from mbfmu.simulation import simulate
from mbfmu.validation import validate


class Filling(Assembly):
    """A level that rises by 2 m/s; the run ends where it passes 3 m, after 1.5 s."""

    stop_time = 5.0

    def __init__(self, limit=3.0):
        self.level = blocks.Integrator()
        self.full = blocks.GreaterThreshold(threshold=limit)
        self.end = blocks.TerminateSimulation(terminationText="the tank is full")
        self.input(self.level.u, "inflow", start=2.0)
        self.connect(self.level.y, self.full.u)
        self.connect(self.full.y, self.end.condition)
        self.output(self.level.y)


class Bursting(Filling):
    """A level that must stay below 2 m, which is no end but a failure."""

    def __init__(self):
        super().__init__()
        self.limit, self.right = blocks.LessThreshold(threshold=2.0), blocks.AssertCondition(message="too high")
        self.connect(self.level.y, self.limit.u)
        self.connect(self.limit.y, self.right.u)


class Tap(Assembly):
    """What lets 2 m/s in."""

    stop_time = 5.0

    def __init__(self):
        self.flow = blocks.Constant(k=2.0)
        self.output(self.flow.y)


def rewritten(path, change):
    """The FMU with another modelDescription.xml."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    text = entries["modelDescription.xml"].decode()
    entries["modelDescription.xml"] = change(text).encode()
    assert entries["modelDescription.xml"] != text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def coupled(tank, folder, fmi):
    """A tank that a tap fills."""
    tap = build(Tap(), folder, fmi=fmi, equations="interpreted")
    return SystemStructure.of({"tap": tap, "tank": tank}, connect=[("tap.flow.y", "tank.inflow")])


@pytest.fixture(scope="module", params=[2, 3], ids=["FMI 2.0", "FMI 3.0"])
def fmi(request):
    return request.param


@pytest.fixture(scope="module")
def filling(fmi, tmp_path_factory):
    return build(Filling(), tmp_path_factory.mktemp("fmu"), fmi=fmi, equations="interpreted")


@pytest.mark.slow
def test_the_command_keeps_what_came_before_the_end_and_says_why_it_ended(filling, tmp_path, capsys):
    assert (
        cli.main(["simulate", str(filling), "--stop", "4.8", "--interval", "0.4", "--csv", str(tmp_path / "level.csv")])
        == 0
    )
    rows = np.loadtxt(tmp_path / "level.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(rows[:, 0], [0, 0.4, 0.8, 1.2, 1.5], atol=1e-6)
    np.testing.assert_allclose(rows[:, 1], 2 * rows[:, 0], atol=1e-6)
    message = " ".join(capsys.readouterr().err.split())
    assert re.search(r"ends the run at 1\.5\d* s: .*the tank is full", message), message


def test_an_end_in_the_last_interval_is_told_too(filling):
    fmu = Foreign(filling)
    result = fmu.simulate(fmu.times(0.0, 1.6, 0.4), {}, ["level.y"])
    assert result.time[-1] == pytest.approx(1.5, abs=1e-6)
    assert "the tank is full" in result.ended
    assert fmu.simulate(fmu.times(0.0, 1.2, 0.4), {}, ["level.y"]).ended is None


def test_our_own_run_says_it_too():
    result = simulate(Filling(), 5.0, interval=0.4)
    assert "the tank is full" in result.ended
    assert result.select("level.*").ended == result.ended
    assert simulate(Filling(), 1.0).ended is None


@pytest.mark.slow
def test_a_failure_is_no_end(fmi, tmp_path, capsys):
    path = build(Bursting(), tmp_path, fmi=fmi, equations="interpreted")
    assert cli.main(["simulate", str(path), "--interval", "0.4"]) != 0
    assert "too high" in capsys.readouterr().err
    with pytest.raises(SimulationError, match="too high"):
        cosimulate(coupled(path, tmp_path, fmi), step=0.4)


@pytest.mark.slow
def test_a_failure_in_model_exchange_is_no_end(fmi, tmp_path):
    """FMPy ends its run without an error there."""
    pattern = r"<CoSimulation\b[^>]*?(/>|>.*?</CoSimulation>)"
    for model, ends in ((Bursting(), False), (Filling(), True)):
        path = build(model, tmp_path, fmi=fmi, equations="interpreted")
        rewritten(path, lambda text: re.sub(pattern, "", text, count=1, flags=re.DOTALL))
        fmu = Foreign(path)
        if ends:
            assert "the tank is full" in fmu.simulate(fmu.times(0.0, 5.0, 0.4), {}, ["level.y"]).ended
            continue
        with pytest.raises(SimulationError, match="too high"):
            fmu.simulate(fmu.times(0.0, 5.0, 0.4), {}, ["level.y"])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_coupled_fmus_end_at_the_last_point_that_all_have_reached(fmi, filling, scheme, tmp_path):
    result = cosimulate(coupled(filling, tmp_path, fmi), step=0.4, stop_time=5.0, scheme=scheme)
    np.testing.assert_allclose(result.time, [0, 0.4, 0.8, 1.2], atol=1e-12)
    np.testing.assert_allclose(result["tank.level.y"], 2 * result.time, atol=1e-6)
    assert result["tap.flow.y"].tolist() == [2.0] * 4
    assert re.search(r"tank ends the run at 1\.5\d* s: .*the tank is full", result.ended)


@pytest.mark.slow
def test_an_end_behind_the_last_point_is_none(fmi, filling, tmp_path):
    result = cosimulate(coupled(filling, tmp_path, fmi), step=0.25, stop_time=1.25)
    assert (result.time[-1], result.ended) == (1.25, None)


@pytest.mark.slow
def test_texts_are_left_out_and_refused_where_they_are_asked_for(fmi, tmp_path, capsys):
    def with_text(text):
        """A constant becomes an output: no class of ours has an output of this type."""
        element = '<ScalarVariable name="motto" valueReference="77" causality="output"><String/></ScalarVariable>'
        if fmi == 3:
            element = '<String name="motto" valueReference="7777" causality="output"/>'
        return text.replace("</ModelVariables>", f"{element}</ModelVariables>")

    path = rewritten(build(Tap(), tmp_path, fmi=fmi, equations="interpreted"), with_text)
    assert cli.main(["simulate", str(path), "--interval", "1"]) == 0
    assert "motto" not in capsys.readouterr().out
    fmu = Foreign(path)
    with pytest.raises(ModelError, match="'motto' is of type String; only numbers"):
        fmu.simulate(fmu.times(None, None, 1.0), {}, ["motto"])
    assert cli.main(["sweep", str(path), "-y", "motto:final", "-p", "flow.k=0,1"]) != 0
    assert "only numbers are recorded" in capsys.readouterr().err


@pytest.mark.slow
def test_an_fmu_for_scheduled_execution_is_valid_and_cannot_be_run(tmp_path, capsys):
    def scheduled(text):
        text = re.sub(r"<ModelExchange\b[^>]*/>\s*", "", text, count=1)
        return re.sub(r"<CoSimulation\b[^>]*/>", '<ScheduledExecution modelIdentifier="Tap"/>', text, count=1)

    path = rewritten(build(Tap(), tmp_path, fmi=3, equations="interpreted"), scheduled)
    assert cli.main(["simulate", str(path)]) != 0
    assert "scheduled execution only" in capsys.readouterr().err
    assert validate(path) == []
