"""FMUs run from files: inputs over time against exact solutions, runs that end, variables that are no numbers."""

from __future__ import annotations

import json
import pathlib
import re
import zipfile
from collections.abc import Callable

import fmpy
import numpy as np
import pytest
from ending import Bursting, Filling
from pythonfmu.builder import FmuBuilder

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.cli import main
from mbfmu.components import PointMass, World, blocks
from mbfmu.components import translational as t
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.errors import MbfmuError, ModelError, SimulationError, ValidationError
from mbfmu.fmi.foreign import Foreign, signals_of
from mbfmu.fmi.slave import Slave3

MASS, STIFFNESS = 1.0, 40.0  # kg, N/m
#: A force along straight lines, s and N: kinks at 0.71 s and 1 s, a jump by -3 N at 0.37 s.
TIMES, FORCES = [0.0, 0.37, 0.37, 0.71, 1.0], [0.0, 2.0, -1.0, 3.0, 0.0]


class Oscillator(Assembly):
    """A mass on a spring that a force drives."""

    stop_time = 1.0

    def __init__(self) -> None:
        self.mass = t.Mass(m=MASS, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
        self.spring, self.ground, self.force = t.Spring(c=STIFFNESS), t.Fixed(), t.Force()
        self.connect(self.force.flange, self.mass.flange_a)
        self.connect(self.mass.flange_b, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.ground.flange)
        self.input(self.force.f, "F")
        self.output(self.mass.s, "s")
        self.output(self.mass.a, "a")


class Vector(Assembly):
    """Three integrators in a row of inputs."""

    stop_time = 1.0

    def __init__(self) -> None:
        self.first, self.second, self.third = (blocks.Integrator() for _ in range(3))
        for i, integrator in enumerate((self.first, self.second, self.third), start=1):
            self.input(integrator.u, f"u[{i}]")
            self.output(integrator.y, f"y[{i}]")


def exact(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and acceleration [n] of the oscillator: ramps and jumps of the force, each answered by itself."""
    w, force, s = np.sqrt(STIFFNESS / MASS), np.zeros_like(times), np.zeros_like(times)
    slopes = [0.0, 2.0 / 0.37, 4.0 / 0.34, -3.0 / 0.29]
    for begin, jump, before, after in zip([0.0, 0.37, 0.71], [0.0, -3.0, 0.0], slopes[:-1], slopes[1:], strict=True):
        d, slope = np.maximum(times - begin, 0.0), after - before
        force += (times > begin) * (jump + slope * d)
        s += (times > begin) * (jump * (1 - np.cos(w * d)) + slope * (d - np.sin(w * d) / w)) / STIFFNESS
    return s, (force - STIFFNESS * s) / MASS


def changed(path: pathlib.Path, name: str, *edits: tuple[str, str]) -> pathlib.Path:
    """A copy of an FMU with another modelDescription.xml, each edit a pattern and what takes its place."""
    target = path.with_name(name)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        for entry in source.namelist():
            content = source.read(entry)
            if entry == "modelDescription.xml":
                for pattern, text in edits:
                    content, count = re.subn(pattern.encode(), text.encode(), content, flags=re.DOTALL)
                    assert count, pattern
            copy.writestr(entry, content)
    return target


WITHOUT_CO_SIMULATION = (r"<CoSimulation\b[^>]*?(/>|>.*?</CoSimulation>)", "")
WITHOUT_LINES = (r' (canInterpolateInputs|providesIntermediateUpdate)="true"', "")
STEPS_OF_ONE_LENGTH = (r' canHandleVariableCommunicationStepSize="true"', "")


def kinds_of(model: Callable[[], Assembly], folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """FMUs of a model by kind and version of FMI."""
    built: dict[str, pathlib.Path] = {}
    for fmi in (2, 3):
        native = mbfmu.build(model(), folder / f"native{fmi}.fmu", fmi=fmi, equations="interpreted")
        built[f"native {fmi}"] = native
        built[f"python {fmi}"] = mbfmu.build(model(), folder / f"python{fmi}.fmu", fmi=fmi, target="python")
        built[f"exchange {fmi}"] = changed(native, f"exchange{fmi}.fmu", WITHOUT_CO_SIMULATION)
    return built


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """Oscillators by kind and version of FMI."""
    built = kinds_of(Oscillator, tmp_path_factory.mktemp("foreign"))
    for fmi in (2, 3):
        native = built[f"native {fmi}"]
        built[f"stairs {fmi}"] = changed(native, f"stairs{fmi}.fmu", WITHOUT_LINES)
        built[f"one length {fmi}"] = changed(native, f"one{fmi}.fmu", WITHOUT_LINES, STEPS_OF_ONE_LENGTH)
    return built


def errors(path: pathlib.Path, count: int, inputs: object = None, tolerance: float = 1e-9) -> tuple[float, float]:
    """The greatest errors of position and acceleration in a run of so many steps."""
    fmu, times = Foreign(path), np.linspace(0.0, 1.0, count + 1)
    signals = signals_of(fmu, inputs or {"time": TIMES, "F": FORCES}, times, "linear")
    result = fmu.simulate(times, {}, ["s", "a"], signals, tolerance)
    np.testing.assert_array_equal(result.time, times)
    s, a = exact(times)
    return float(abs(result["s"] - s).max()), float(abs(result["a"] - a).max())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["native", "python", "exchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_inputs_go_along_straight_lines_at_any_step(fmus, kind, fmi):
    for count in (10, 40):
        s, a = errors(fmus[f"{kind} {fmi}"], count)
        assert s < 2e-8
        assert a < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_stairs_are_of_second_order_and_meet_the_lines_where_results_are_recorded(fmus, fmi):
    coarse, fine = (errors(fmus[f"stairs {fmi}"], count) for count in (10, 40))
    assert coarse[0] < 3e-5
    for far, near in zip(coarse, fine, strict=True):
        assert 12 < far / near < 20  # a quarter of the step
    flat = {"time": TIMES, "F": [1.0] * 5}
    fmu, times = Foreign(fmus[f"stairs {fmi}"]), np.linspace(0.0, 1.0, 11)
    result = fmu.simulate(times, {}, ["s"], signals_of(fmu, flat, times, "linear"), 1e-9)
    np.testing.assert_allclose(result["s"], (1 - np.cos(np.sqrt(STIFFNESS) * times)) / STIFFNESS, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_an_fmu_with_steps_of_one_length_meets_kinks_at_the_next_of_them(fmus, fmi):
    path = fmus[f"one length {fmi}"]
    assert errors(path, 100)[0] < 1e-4  # the jump counts 20e-5 s too late at most, by 3 N
    fmu = Foreign(path)
    times = fmu.times(None, 1.0, 0.3)
    with pytest.raises(SimulationError, match=r"steps of one length only.*no multiple of 0.3 s"):
        fmu.simulate(times, {}, ["s"])


@pytest.mark.parametrize(
    ("internal", "free", "parts"),
    # An even number of parts of 0.1 s: of any length from the internal one on, or multiples of it only
    [(0.02, True, 4), (0.02, False, 1), (0.025, False, 4), (0.03, True, 2), (0.03, False, 1), (0.1, True, 1)],
)
def test_stairs_are_no_shorter_than_an_fmu_s_own_steps(fmus, internal, free, parts, monkeypatch):
    own = (r"<CoSimulation ", rf'<CoSimulation fixedInternalStepSize="{internal}" ')
    edits = (WITHOUT_LINES, own) if free else (WITHOUT_LINES, own, STEPS_OF_ONE_LENGTH)
    fmu, times = Foreign(changed(fmus["native 3"], "own.fmu", *edits)), np.linspace(0.0, 1.0, 11)
    inputs = signals_of(fmu, {"time": [0.0, 1.0], "F": [0.0, 3.0]}, times, "linear")
    steps, step = [], Slave3.step
    monkeypatch.setattr(Slave3, "step", lambda slave, length: (steps.append(length), step(slave, length))[1])
    result = fmu.simulate(times, {}, ["s"], inputs, 1e-9)
    np.testing.assert_allclose(steps, [0.1 / parts] * (10 * parts), rtol=1e-9)
    np.testing.assert_array_equal(result.time, times)


def test_an_fmu_that_asks_for_no_inputs_within_steps_gets_stairs(fmus):
    fmu, times = Foreign(fmus["native 3"]), np.linspace(0.0, 1.0, 11)
    signals = signals_of(fmu, {"time": TIMES, "F": FORCES}, times, "linear")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mbfmu.fmi.slave.Slave3.update", lambda *_: None)  # nobody hears what is asked for
        result = fmu.simulate(times, {}, ["s"], signals, 1e-9)
    assert abs(result["s"] - exact(times)[0]).max() < 3e-5


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["native", "python", "exchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_results_have_the_recorded_instants_only_and_sweeps_are_not_shifted(fmus, kind, fmi):
    drive = {"time": [0.0, 0.37, 0.37, 0.63, 0.63, 1.0], "F": [0.0, 0.0, 5.0, 5.0, 0.0, 0.0]}
    here = mbfmu.simulate(Oscillator(), 1.0, interval=0.1, inputs=drive, tolerance=1e-9)
    swept = mbfmu.sweep(
        fmus[f"{kind} {fmi}"], {"mass.m": [1.0]}, ["s"], 1.0, interval=0.1, inputs=drive, tolerance=1e-9
    )
    np.testing.assert_allclose(swept["s"][0], here["s"], atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["native", "exchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_held_inputs_jump_and_lines_pass_states_that_switch(fmus, kind, fmi):
    drive = {"time": [0.0, 0.5], "F": [1.0, -1.0]}
    here = mbfmu.simulate(Oscillator(), 1.0, interval=0.1, inputs=drive, tolerance=1e-9, interpolation="held")
    fmu = Foreign(fmus[f"{kind} {fmi}"])
    times = fmu.times(None, 1.0, 0.1)
    result = fmu.simulate(times, {}, ["s", "a"], signals_of(fmu, drive, times, "held"), 1e-9)
    np.testing.assert_allclose(result["s"], here["s"], atol=1e-7)
    np.testing.assert_allclose(result["a"], here["a"], atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("edits", [(), (WITHOUT_CO_SIMULATION,), (WITHOUT_LINES,)], ids=["lines", "exchange", "stairs"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_elements_of_vectors_are_driven_each(tmp_path, edits, fmi):
    path = changed(mbfmu.build(Vector(), tmp_path / "v.fmu", fmi=fmi, equations="interpreted"), "c.fmu", *edits)
    fmu, times = Foreign(path), np.linspace(0.0, 1.0, 5)
    names = [f"y[{i}]" for i in (1, 2, 3)]
    drive = {"u[1]": ([0.0, 1.0], [0.0, 1.0]), "u[3]": ([0.0, 1.0], [2.0, 0.0])}
    result = fmu.simulate(times, {"u[2]": 4.0}, names, signals_of(fmu, drive, times, "linear"), 1e-8)
    found = np.column_stack([result[name] for name in names])
    np.testing.assert_allclose(found, np.column_stack([times**2 / 2, 4 * times, 2 * times - times**2]), atol=1e-6)


def test_the_command_line_follows_lines(fmus, tmp_path, capsys):
    drive = tmp_path / "drive.csv"
    rows = "".join(f"{at},{force}\n" for at, force in zip(TIMES, FORCES, strict=True))
    drive.write_text(f"time,F [N]\n{rows}")
    line = [
        "simulate",
        str(fmus["native 3"]),
        "--input",
        str(drive),
        "--interval",
        "0.1",
        "--tolerance",
        "1e-9",
        "--json",
    ]
    assert main(line) == 0
    found = json.loads(capsys.readouterr().out)["series"]
    np.testing.assert_allclose(found["s"], exact(np.array(found["time"]))[0], atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--interval", "-0.1"), "interval -0.1 s must be positive"),
        (("--interval", "0"), "interval 0 s must be positive"),
        (("--interval", "nan"), "interval nan s must be positive"),
        (("--interval", "inf"), "interval inf s must be finite"),
        (("--interval", "1e-13"), "more than memory holds"),
        (("--stop", "inf"), "has no length"),
        (("--stop", "-1"), "has no length"),
        (("--tolerance", "-3"), "tolerance -3 is not between 0 and 1"),
    ],
)
def test_impossible_runs_are_refused(fmus, capsys, arguments, words):
    assert main(["simulate", str(fmus["native 2"]), *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("text", ["abc", "nan", "inf"])
def test_an_experiment_without_a_stop_time_that_is_one_is_refused(fmus, text):
    path = changed(fmus["native 2"], "abc.fmu", (r'stopTime="[^"]*"', f'stopTime="{text}"'))
    with pytest.raises(ValidationError, match=f"stopTime of its DefaultExperiment is '{text}'"):
        Foreign(path)


# -- runs that end


@pytest.fixture(scope="module")
def fillings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """Models that end their runs, by kind and version of FMI."""
    return kinds_of(Filling, tmp_path_factory.mktemp("fillings"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["native", "python", "exchange"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_a_run_that_the_fmu_ends_keeps_its_results(fillings, kind, fmi, tmp_path, capsys):
    target = tmp_path / "level.csv"
    assert main(["simulate", str(fillings[f"{kind} {fmi}"]), "--interval", "0.4", "--csv", str(target)]) == 0
    printed = capsys.readouterr()
    assert re.search(r"Filling ends the run at 1\.5\d* s", printed.err)
    rows = np.loadtxt(target, delimiter=",", skiprows=1)
    np.testing.assert_allclose(rows[:, 0], [0, 0.4, 0.8, 1.2, 1.5], atol=1e-6)
    np.testing.assert_allclose(rows[:, 1], 2 * rows[:, 0], atol=1e-6)
    if kind != "exchange":
        assert "the tank is full" in printed.err


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_a_run_that_fails_is_none_that_ends(tmp_path, capsys, fmi):
    path = mbfmu.build(Bursting(), tmp_path / "bursting.fmu", fmi=fmi, equations="interpreted")
    assert main(["simulate", str(path), "--interval", "0.4"]) == 2
    assert "too high" in capsys.readouterr().err


def test_a_run_in_this_process_says_why_it_ends(capsys):
    result = mbfmu.simulate(Filling(), 5.0, interval=0.4)
    assert result.ended == "Filling ends the run at 1.5 s: the model ends the simulation: end: the tank is full"
    assert result.select("level.y").ended == result.ended
    assert mbfmu.simulate(Filling(), 1.0).ended is None


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["native", "python"])
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_a_system_ends_with_the_first_of_its_fmus(fillings, kind, fmi, scheme, tmp_path):
    gain = mbfmu.build(Vector(), tmp_path / "vector.fmu", fmi=fmi, equations="interpreted")
    files = {"tank": fillings[f"{kind} {fmi}"], "sum": gain}
    structure = SystemStructure.of(files, [("tank.level.y", "sum.u[1]")], "two")
    result = cosimulate(structure, step=0.4, stop_time=5.0, scheme=scheme)
    np.testing.assert_allclose(result.time, [0.0, 0.4, 0.8, 1.2], atol=1e-12)
    np.testing.assert_allclose(result["tank.level.y"], 2 * result.time, atol=1e-9)
    assert result.ended is not None
    assert re.match(r"tank ends the run at 1\.5\d* s: .*the tank is full", result.ended)


def test_runs_of_a_sweep_that_end_are_failed_ones(fillings):
    found = mbfmu.sweep(fillings["native 2"], {"flow.k": [0.1, 2.0]}, ["level.y:final"], 5.0, interval=0.5)
    assert found["level.y:final"][0] == pytest.approx(0.5)
    assert np.isnan(found["level.y:final"][1])
    assert "the tank is full" in found.messages[1]


# -- what is no number

TEXT = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Integer, String


class Texts(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.said, self.count = "nothing", 0
        self.register_variable(String("said", causality=Fmi2Causality.output))
        self.register_variable(Integer("count", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        self.count += 1
        self.said = str(self.count)
        return True
"""


def test_texts_are_not_shown(tmp_path, capsys):
    (tmp_path / "texts.py").write_text(TEXT)
    path = FmuBuilder.build_FMU(tmp_path / "texts.py", dest=tmp_path)
    assert main(["simulate", str(path), "--stop", "1", "--interval", "0.25", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["series"]["count"] == [0, 1, 2, 3, 4]
    assert main(["simulate", str(path), "--variables", "said"]) == 2
    assert "'said' is no number" in capsys.readouterr().err
    with pytest.raises(MbfmuError, match="'said' is of type String"):
        mbfmu.sweep(path, {"count": [1]}, ["said"], 1.0)


def scheduled(path: pathlib.Path) -> pathlib.Path:
    identifier = '<ScheduledExecution modelIdentifier="x"/>'
    return changed(
        path, "scheduled.fmu", WITHOUT_CO_SIMULATION, (r"<ModelExchange\b[^>]*?(/>|>.*?</ModelExchange>)", identifier)
    )


@pytest.mark.parametrize(
    "run",
    [
        lambda path: mbfmu.sweep(path, {"mass.m": [1.0]}, ["s:final"], 1.0).messages[0],
        lambda path: Foreign(path).simulate(np.linspace(0.0, 1.0, 3), {}, ["s"]),
    ],
    ids=["sweep", "simulate"],
)
def test_scheduled_execution_is_told_to_be_none_of_ours(fmus, run: Callable[[pathlib.Path], object]):
    path = scheduled(fmus["native 3"])
    try:
        said = str(run(path))
    except SimulationError as error:
        said = str(error)
    assert "is for scheduled execution only" in said


def test_discrete_numbers_are_held_whatever_is_chosen(fmus):
    edit = (r'(name="F"[^>]*variability=)"continuous"', r'\1"discrete"')
    fmu = Foreign(changed(fmus["native 3"], "discrete.fmu", edit))
    drive = signals_of(fmu, {"time": [0.0, 1.0], "F": [0.0, 1.0]}, np.linspace(0.0, 1.0, 3), "linear")
    assert not drive.slopes.any()
    with pytest.raises(ModelError, match='interpolation "cubic"'):
        signals_of(fmu, None, np.linspace(0.0, 1.0, 3), "cubic")


FMI_1 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="Pump" modelIdentifier="pump" guid="{1}"
    variableNamingConvention="structured" numberOfContinuousStates="0" numberOfEventIndicators="0">
  <DefaultExperiment startTime="0.5" stopTime="2.5" tolerance="1e-5"/>
  <ModelVariables>
    <ScalarVariable name="k" valueReference="2" variability="parameter"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
</fmiModelDescription>
"""


@pytest.fixture
def of_fmi_1(tmp_path: pathlib.Path) -> Foreign:
    with zipfile.ZipFile(tmp_path / "pump.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", FMI_1)
    return Foreign(tmp_path / "pump.fmu")


def test_fmus_of_fmi_1_are_run_by_fmpy(of_fmi_1, monkeypatch):
    """With held inputs; of rows of one instant, as those of an event, the first is kept."""
    asked = {}

    def simulate_fmu(folder, **options):
        asked.update(options, folder=folder)
        return np.array(
            [(0.5, 1.0), (1.0, 2.0), (1.25, 7.0), (1.5, 3.0), (1.5, 9.0), (2.0, 4.0), (2.5, 5.0)],
            [("time", float), ("y", float)],
        )

    monkeypatch.setattr(fmpy, "simulate_fmu", simulate_fmu)
    times = np.linspace(0.5, 2.5, 5)
    drive = signals_of(of_fmi_1, {"time": [0.5, 1.5], "u": [2.0, 3.0]}, times, "held")
    result = of_fmi_1.simulate(times, {"k": 4.0}, ["y"], drive)
    assert (result.time.tolist(), result["y"].tolist()) == (times.tolist(), [1.0, 2.0, 3.0, 4.0, 5.0])
    assert result.ended is None
    assert result.outputs == ("y",)
    assert asked["input"].tolist() == [(0.5, 2.0), (1.5, 2.0), (1.5, 3.0)]
    assert asked["input"].dtype.names == ("time", "u")
    assert (asked["start_values"], asked["folder"], asked["output"]) == ({"k": 4.0}, of_fmi_1.folder, ["y"])
    assert (asked["start_time"], asked["stop_time"], asked["output_interval"]) == (0.5, 2.5, 0.5)
    assert asked["relative_tolerance"] == 1e-5
    of_fmi_1.simulate(times, {}, ["y"], tolerance=1e-8)
    assert (asked["input"], asked["start_values"], asked["relative_tolerance"]) == (None, {}, 1e-8)
    sloped = signals_of(of_fmi_1, {"time": [0.5, 1.5], "u": [2.0, 3.0]}, times, "linear")
    with pytest.raises(
        SimulationError, match=r"^Pump: is of FMI 1\.0, where inputs go along no .*hold them \(--held\)"
    ):
        of_fmi_1.simulate(times, {}, ["y"], sloped)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "cannot be loaded"),
        ([(0, "begins")], "cannot be loaded"),
        ([(3, "valve stuck"), (0, "freed")], "valve stuck"),
        ([(3, b"valve \xff stuck")], "valve \ufffd stuck"),
        ([(3, " ")], "cannot be loaded"),
    ],
    ids=["silent", "no problem", "text", "bytes", "blank"],
)
def test_what_an_fmu_of_fmi_1_logs_is_told_where_it_fails(of_fmi_1, monkeypatch, lines, message):
    def simulate_fmu(_folder, logger, **_):
        for status, line in lines:
            logger("component", "name", status, "category", line)
        raise OSError("cannot be loaded")

    monkeypatch.setattr(fmpy, "simulate_fmu", simulate_fmu)
    with pytest.raises(SimulationError) as caught:
        of_fmi_1.simulate(np.linspace(0.5, 2.5, 5), {}, ["y"])
    assert str(caught.value) == f"Pump: {message}"


@pytest.mark.parametrize(
    ("lines", "last", "kept"),
    [([], 1.75, [0.5, 1.0, 1.5, 1.75]), ([(0, "full")], 1.5, [0.5, 1.0, 1.5]), ([(2, "full")], 1.5, None)],
    ids=["between", "at an instant", "a problem"],
)
def test_where_fmpy_ends_a_run_the_result_ends(of_fmi_1, monkeypatch, lines, last, kept):
    """But for a run that has logged a problem last: FMPy ends that alike."""

    def simulate_fmu(_folder, logger, **_):
        for status, line in lines:
            logger("component", "name", status, "category", line)
        times = [0.5, 1.0, 1.5, *([1.75] if last == 1.75 else [])]
        return np.array([(time, 2 * time) for time in times], [("time", float), ("y", float)])

    monkeypatch.setattr(fmpy, "simulate_fmu", simulate_fmu)
    said = f"Pump ends the run at {last} s" + "".join(f": {line}" for _, line in lines)
    if kept is None:
        with pytest.raises(SimulationError, match=f"^{said}$"):
            of_fmi_1.simulate(np.linspace(0.5, 2.5, 5), {}, ["y"])
        return
    result = of_fmi_1.simulate(np.linspace(0.5, 2.5, 5), {}, ["y"])
    assert (result.time.tolist(), result["y"].tolist(), result.ended) == (kept, [2 * time for time in kept], said)


def test_a_variable_that_is_not_there_is_refused_with_those_that_are(of_fmi_1):
    with pytest.raises(ModelError, match=r"^Pump: there is no variable 'yy'.*y"):
        of_fmi_1.check_recorded(["yy"])


class Thrown(Assembly):
    """A stone, of which no two coordinates move alike."""

    def __init__(self) -> None:
        self.world = World(gravityType="UniformGravity")
        self.stone = PointMass(m=2.0, r_0=Start([1.0, 2.0, 3.0], fixed=True), v_0=Start([4.0, 5.0, 6.0], fixed=True))
        self.output(self.stone.r_0, "r")


@pytest.mark.slow
def test_elements_of_arrays_are_recorded_in_model_exchange(tmp_path: pathlib.Path) -> None:
    """FMPy records whole arrays there."""
    native = mbfmu.build(Thrown(), tmp_path / "thrown.fmu", fmi=3, equations="interpreted")
    exchange = changed(native, "exchange.fmu", WITHOUT_CO_SIMULATION)
    result = mbfmu.simulate(exchange, 0.5, outputs=["r[3]", "r[2]"], tolerance=1e-8)
    assert result["r[3]"] == pytest.approx(3 + 6 * result.time, abs=1e-5)
    assert result["r[2]"] == pytest.approx(2 + 5 * result.time - 9.80665 * result.time**2 / 2, abs=1e-5)
