"""Systems of both versions of FMI, of arrays, and of Integer and Boolean variables, against recursions by hand."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
import re
import zipfile
from types import SimpleNamespace
from typing import Any

import fmpy
import numpy as np
import pytest
from ending import Filling
from lxml import etree
from pythonfmu.builder import FmuBuilder

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import Body, World, blocks, forces
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.recording import Account
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.cosimulation.variable import VariableSteps
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.fmi.slave import AsksForNothing
from mbfmu.fmi.variables import Interface, shape_of

STEP = 0.03  # s
LOW, HIGH = -0.1, 0.1
MASS, STIFFNESS = 2.0, 50.0  # kg, N/m
START = (0.3, -0.2, 0.1)  # m


class Plant(Assembly):
    """A level that rises or falls by 1 in a second."""

    def __init__(self):
        self.up, self.down = blocks.Constant(k=1.0), blocks.Constant(k=-1.0)
        self.switch = blocks.Switch()
        self.integrator = blocks.Integrator(k=1.0, y_start=0.0)
        self.connect(self.up.y, self.switch.u1)
        self.connect(self.down.y, self.switch.u3)
        self.connect(self.switch.y, self.integrator.u)
        self.input(self.switch.u2, "rising")
        self.output(self.integrator.y, "level")


class Controller(Assembly):
    """Lets a level rise until it is above the band, and fall until it is below."""

    def __init__(self):
        self.hysteresis = blocks.Hysteresis(uLow=LOW, uHigh=HIGH)
        self.inverse = blocks.Not()
        self.connect(self.hysteresis.y, self.inverse.u)
        self.input(self.hysteresis.u, "level")
        self.output(self.inverse.y, "rising")


class Mass(Assembly):
    """A free mass that a force pushes."""

    def __init__(self):
        self.world = World(gravityType="NoGravity")
        self.body = Body(
            m=MASS,
            r_CM=(0, 0, 0),
            r_0=Start(list(START), fixed=True),
            v_0=Start([0.5, 0.0, 0.0], fixed=True),
            w_0_start=(1.0, 2.0, 3.0),
            w_0_fixed=True,
        )
        self.force = forces.WorldForce()
        self.connect(self.force.frame_b, self.body.frame_a)
        self.input(self.force.force, "force")
        self.output(self.body.frame_a.r_0, "r")


class Spring(Assembly):
    """The force of a spring to the origin."""

    def __init__(self):
        self.gain = blocks.MatrixGain(K=(-STIFFNESS * np.eye(3)).tolist())
        self.input(self.gain.u, "r")
        self.output(self.gain.y, "force")


class Sum(Assembly):
    """Adds up what it gets over time, each on its own."""

    def __init__(self):
        self.first, self.second, self.third = (blocks.Integrator(k=1.0, y_start=0.0) for _ in range(3))
        self.input([self.first.u, self.second.u, self.third.u], "u")
        self.output([self.first.y, self.second.y, self.third.y], "y")


class Inverter(Assembly):
    """What is true becomes false."""

    def __init__(self):
        self.inverse = blocks.Not()
        self.input(self.inverse.u, "u")
        self.output(self.inverse.y, "y")


def typed(assembly: Assembly, **types: str) -> System:
    """The system of an assembly with variables of other types; those are discrete."""
    system = System.of(assembly)
    variables = tuple(
        dataclasses.replace(
            v, type=types[v.name], variability="discrete", start=None if v.start is None else int(v.start)
        )
        if v.name in types and types[v.name] != "Real"
        else v
        for v in system.variables
    )
    return dataclasses.replace(system, variables=variables)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """FMUs by class, type of `rising` where there is one, and version of FMI: `plant Boolean 3`."""
    folder = tmp_path_factory.mktemp("fmus")
    built: dict[str, pathlib.Path] = {}

    def build(name: str, system: System) -> None:
        for fmi in (2, 3):
            path = folder / f"{name.replace(' ', '_')}_{fmi}.fmu"
            built[f"{name} {fmi}"] = mbfmu.build(system, path, fmi=fmi, equations="interpreted")

    for type_ in ("Real", "Integer", "Boolean"):
        build(f"plant {type_}", typed(Plant(), rising=type_))
        build(f"controller {type_}", typed(Controller(), rising=type_))
    build("inverter", typed(Inverter(), u="Boolean", y="Boolean"))
    build("mass", System.of(Mass()))
    build("spring", System.of(Spring()))
    build("sum", System.of(Sum()))
    return built


def two_point_control(n: int, sequential: bool) -> tuple[np.ndarray, np.ndarray]:
    """Levels and `rising` at n communication points: each sees what the other was, or the controller what is."""
    levels, rising = [0.0], [1]
    for _ in range(n - 1):
        levels.append(levels[-1] + (STEP if rising[-1] else -STEP))
        seen = levels[-1 if sequential else -2]
        rising.append(0 if seen > HIGH else 1 if seen < LOW else rising[-1])
    return np.array(levels), np.array(rising)


# -- values that jump


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_truths_that_contradict_themselves_have_no_start(fmi: int, fmus: dict[str, pathlib.Path]) -> None:
    """Of three inverters in a ring one is always wrong; of two, none."""
    names = ["a", "b", "c"]
    for count in (2, 3):
        ring = [(f"{names[k]}.y", f"{names[(k + 1) % count]}.u") for k in range(count)]
        structure = SystemStructure.of(dict.fromkeys(names[:count], fmus[f"inverter {fmi}"]), ring)
        if count == 2:
            found = cosimulate(structure, step=0.5, stop_time=1.0, start_values={"a.u": True})
            assert (found["a.y"] + found["b.y"]).tolist() == [1.0] * 3
        else:
            with pytest.raises(
                SimulationError, match=r"^[abc]\.u: no start in which the coupled FMUs agree .*; put a delay"
            ):
                cosimulate(structure, step=0.5, stop_time=1.0)


@pytest.mark.slow
@pytest.mark.campaign(keep=12)
@pytest.mark.parametrize(
    ("scheme", "inputs"), [("jacobi", "hold"), ("gauss-seidel", "hold"), ("gauss-seidel", "secant")]
)
@pytest.mark.parametrize(
    ("plant", "controller"),
    [
        ("plant Boolean 2", "controller Boolean 2"),
        ("plant Boolean 3", "controller Boolean 3"),
        ("plant Integer 2", "controller Integer 3"),
        ("plant Boolean 3", "controller Integer 2"),
        ("plant Real 2", "controller Boolean 2"),
        ("plant Boolean 2", "controller Real 2"),
        ("plant Real 2", "controller Real 2"),
    ],
)
def test_values_that_jump_are_passed_on_as_they_are(
    plant: str, controller: str, scheme: str, inputs: str, fmus: dict[str, pathlib.Path]
) -> None:
    """The level follows the recursion, whatever types and versions the two have, and however other inputs go on."""
    structure = SystemStructure.of(
        {"plant": fmus[plant], "controller": fmus[controller]},
        [("controller.rising", "plant.rising"), ("plant.level", "controller.level")],
    )
    result = cosimulate(structure, step=STEP, stop_time=1.5, scheme=scheme, inputs=inputs, tolerance=1e-9)
    levels, rising = two_point_control(result.time.size, scheme == "gauss-seidel")
    assert 3 < np.abs(np.diff(rising)).sum() < 20
    if inputs == "hold":
        assert np.array_equal(result["controller.rising"], rising)
        assert result["plant.level"] == pytest.approx(levels, abs=1e-9)
    else:  # the controller sees the level between the points, too, so that it switches where the band ends
        assert np.abs(result["plant.level"]).max() < HIGH + STEP + 1e-9
        assert np.abs(np.abs(np.diff(result["plant.level"])) - STEP).max() < 1e-9


def test_values_that_jump_are_seen_when_their_own_step_ends(fmus: dict[str, pathlib.Path]) -> None:
    """The controller's steps are twice as long, and made first: what they end with is no news before."""
    structure = SystemStructure.of(
        {"plant": fmus["plant Boolean 2"], "controller": fmus["controller Boolean 2"]},
        [("controller.rising", "plant.rising"), ("plant.level", "controller.level")],
    )
    result = cosimulate(structure, step=STEP, steps={"controller": 2 * STEP}, stop_time=1.5, tolerance=1e-9)
    levels, rising = [0.0], [1]
    for n in range(result.time.size - 1):
        if n % 2 == 0:
            seen = levels[-1]
            ahead = 0 if seen > HIGH else 1 if seen < LOW else rising[-1]
        known = ahead if n % 2 else rising[-1]  # where both steps end together, the longer one has been made
        levels.append(levels[-1] + (STEP if known else -STEP))
        rising.append(ahead if n % 2 else rising[-1])
    assert 3 < np.abs(np.diff(rising)).sum() < 20
    assert result["plant.level"] == pytest.approx(levels, abs=1e-9)
    assert np.array_equal(result["controller.rising"], rising)


class Jump(Assembly):
    """A Real that jumps at 0.3 s, of which FMI 2.0 tells nobody."""

    def __init__(self):
        self.step, self.sine, self.sum = blocks.Step(height=4.0, startTime=0.3), blocks.Sine(f=1.0), blocks.Add()
        self.connect(self.step.y, self.sum.u1)
        self.connect(self.sine.y, self.sum.u2)
        self.output(self.sum.y, "y")


@pytest.mark.slow
def test_steps_are_soon_short_enough_for_a_jump(tmp_path: pathlib.Path, fmus: dict[str, pathlib.Path]) -> None:
    jump = mbfmu.build(Jump(), tmp_path, equations="interpreted")
    system = SystemStructure.of({"jump": jump, "sum": fmus["sum 2"]}, [("jump.y", "sum.u[1]")])
    result = cosimulate(system, tolerance=1e-5, stop_time=0.6)
    known = 4 * np.maximum(result.time - 0.3, 0) + (1 - np.cos(2 * np.pi * result.time)) / (2 * np.pi)
    assert result["sum.y[1]"] == pytest.approx(known, abs=1e-6)
    assert 0 < result.account.rejected < 20


@pytest.mark.slow
def test_inputs_that_jump_are_set_before_the_start_without_an_event(fmus: dict[str, pathlib.Path]) -> None:
    """An instance that handles events takes them in initialisation mode as they are."""
    structure = SystemStructure.of(
        {"plant": fmus["plant Boolean 3"], "controller": fmus["controller Boolean 3"]},
        [("controller.rising", "plant.rising"), ("plant.level", "controller.level")],
    )
    result = cosimulate(structure, stop_time=0.05, tolerance=1e-6)
    assert (result["controller.rising"] == 1).all()
    assert result["plant.level"] == pytest.approx(result.time, abs=1e-9)


def two_points(fmus: dict[str, pathlib.Path], plant: str, controller: str) -> SystemStructure:
    return SystemStructure.of(
        {"plant": fmus[f"plant {plant}"], "controller": fmus[f"controller {controller}"]},
        [("controller.rising", "plant.rising"), ("plant.level", "controller.level")],
    )


def band(times: np.ndarray) -> np.ndarray:
    """The level that rises and falls within the band, from its middle."""
    period = (times - LOW) % (4 * HIGH)
    return np.where(period < 2 * HIGH, LOW + period, HIGH - (period - 2 * HIGH))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_steps_are_halved_to_where_a_truth_jumps_of_which_fmi_2_tells_nobody(
    scheme: str, fmus: dict[str, pathlib.Path]
) -> None:
    """Each of four jumps is seen within a millionth of the run, which the level overshoots there and back."""
    result = cosimulate(two_points(fmus, "Boolean 2", "Boolean 2"), stop_time=0.85, tolerance=1e-6, scheme=scheme)
    off = np.abs(result["plant.level"] - band(result.time))
    assert 1e-8 < off.max() < 4 * 2 * 0.85e-6
    assert off[result.time < 0.1].max() < 1e-9
    assert 40 < result.account.rejected < 120


@pytest.mark.slow
@pytest.mark.parametrize(("plant", "scheme"), [("Boolean 2", "jacobi"), ("Boolean 3", "gauss-seidel")])
def test_an_event_one_rounding_behind_a_step_is_handled_where_the_next_begins(
    plant: str, scheme: str, fmus: dict[str, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps to an event end a little before it: what stops at once is kept there, all else goes back to there."""
    attempt, handle = VariableSteps._attempt, VariableSteps._handle_event_at
    ends: list[float] = [np.nan]
    handled: list[float] = []

    def short(self: VariableSteps, time: float, size: float) -> Any:
        exact = abs(ends[-1] - time - size) < 1e-12
        made = attempt(self, time, size * (1 - 2e-12) if exact else size)
        ends.append(min(slot.slave.time for slot in self.coupling.slots))
        return made

    def seen(self: VariableSteps, time: float, span: float) -> None:
        handled.append(time)
        handle(self, time, span)

    monkeypatch.setattr(VariableSteps, "_attempt", short)
    monkeypatch.setattr(VariableSteps, "_handle_event_at", seen)
    result = cosimulate(two_points(fmus, plant, "Boolean 3"), stop_time=0.85, tolerance=1e-6, scheme=scheme)
    assert handled == pytest.approx([0.1, 0.3, 0.5, 0.7], abs=1e-11)
    assert result["plant.level"] == pytest.approx(band(result.time), abs=1e-11)


def test_lines_that_nobody_asks_for_are_given_up_once() -> None:
    """Of the FMU that is named; where nobody goes back, or it has no lines any more, the error stands."""
    held: list[str] = []
    slots = [
        SimpleNamespace(
            slave=SimpleNamespace(name=name, hold_inputs=lambda name=name: held.append(name)),
            continuous=SimpleNamespace(of_u=places),
        )
        for name, places in (("tank", [1]), ("pump", [0, 2]))
    ]
    steps = VariableSteps.__new__(VariableSteps)
    steps.coupling, steps.account, steps.lines = SimpleNamespace(slots=slots), Account(), np.ones(4, dtype=bool)  # type: ignore[assignment]
    error = AsksForNothing("pump: asks for no inputs in intermediate updates; choose inputs='hold'")
    steps._sloped, steps.goes_back = {"tank", "pump"}, False
    with pytest.raises(AsksForNothing):
        steps._do_without_lines(error)
    assert held == []
    steps.goes_back = True
    steps._do_without_lines(error)
    assert (held, steps._sloped) == (["pump"], {"tank"})
    assert steps.lines.tolist() == [False, True, False, True]
    assert steps.account.notes == ["pump: asks for no inputs within steps, so they are held at their means"]
    with pytest.raises(AsksForNothing, match=r"^pump: asks for no inputs in intermediate"):
        steps._do_without_lines(error)


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("inputs", ["secant", "hold", None])
def test_a_tolerance_is_kept_however_inputs_go_on(inputs: str | None, fmus: dict[str, pathlib.Path]) -> None:
    """A spring and a free mass swing as r0 cos(w t) + v0 sin(w t) / w, about each axis by itself."""
    structure = SystemStructure.of(
        {"mass": fmus["mass 3"], "spring": fmus["spring 3"]}, [("spring.force", "mass.force"), ("mass.r", "spring.r")]
    )
    result = cosimulate(structure, stop_time=0.5, tolerance=1e-5, inputs=inputs)
    w = np.sqrt(STIFFNESS / MASS)
    swing = np.outer(np.cos(w * result.time), START)
    swing[:, 0] += 0.5 * np.sin(w * result.time) / w
    assert np.abs(result["mass.r"] - swing).max() < 5e-6
    assert result.time.size < 130
    assert result.account.notes == []


@pytest.mark.slow
def test_steps_that_keep_no_tolerance_are_counted_by_what_is_worst(
    fmus: dict[str, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever comes near 0.05 s has an error of three tolerances, of which the shortest steps are kept."""
    attempt = VariableSteps._attempt
    kept: list[float] = []

    def wrong(self: VariableSteps, time: float, size: float) -> Any:
        made = attempt(self, time, size)
        if not (time < 0.05 + 2.5e-11 and time + size > 0.05):
            return made
        if size < 1.01e-11:
            kept.append(time)
        return dataclasses.replace(made, error=3.0, worst="sum.u[1]")

    monkeypatch.setattr(VariableSteps, "_attempt", wrong)
    system = SystemStructure.of({"sum": fmus["sum 2"], "next": fmus["sum 2"]}, [("sum.y[1]", "next.u[1]")])
    result = cosimulate(system, stop_time=0.1, tolerance=1e-4)
    assert len(kept) > 1
    (told,) = (note for note in result.account.notes if "keeps no tolerance" in note)
    begin = r"sum\.u\[1\] at t = 0\.0(5|49999\d*) s: a step of (1e-11|[7-9]\.\d*e-12) s keeps no tolerance of 0\.0001"
    assert re.match(rf"{begin}, nor do {len(kept) - 1} later ones; the coupling chatters", told), told


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("controller", ["Boolean 3", "Integer 3"])
def test_an_event_where_a_step_begins_is_handled_there(
    controller: str, scheme: str, fmus: dict[str, pathlib.Path]
) -> None:
    """Steps are halved to where the level leaves the band, and the event is one rounding behind."""
    structure = two_points(fmus, controller, controller)
    result = cosimulate(structure, stop_time=0.85, tolerance=1e-6, scheme=scheme)
    assert result["plant.level"] == pytest.approx(band(result.time), abs=1e-5)
    assert result.account.rejected < 300


def test_signals_that_are_held_have_their_means(fmus: dict[str, pathlib.Path]) -> None:
    """The integral of a ramp is exact so, whatever the step."""
    system = SystemStructure.of({"sum": fmus["sum 2"]}, [])
    signals = {"time": [0.0, 1.0], "sum.u[1]": [0.0, 2.0]}
    result = cosimulate(system, step=0.25, stop_time=1.0, inputs="hold", signals=signals)
    assert result["sum.y[1]"] == pytest.approx(result.time**2, abs=1e-12)


def test_enumerations_follow_integers_by_their_numbers(tmp_path: pathlib.Path, fmus: dict[str, pathlib.Path]) -> None:
    """The plant's input is an enumeration of another tool's, which FMI 2.0 sets as an Integer."""
    path = tmp_path / "plant.fmu"
    way = b'<SimpleType name="Way"><Enumeration><Item name="down" value="0"/><Item name="up" value="1"/></Enumeration>'
    with zipfile.ZipFile(fmus["plant Integer 2"]) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "modelDescription.xml":
                other = rb'\1<Enumeration declaredType="Way" start="0"/>'
                data = re.sub(rb'(name="rising"[^>]*>\s*)<Integer[^>]*>', other, data)
                assert b"<TypeDefinitions" not in data
                types = b"<TypeDefinitions>" + way + b"</SimpleType></TypeDefinitions>"
                data = data.replace(b"<LogCategories", types + b"<LogCategories")
            new.writestr(name, data)
    wires = [("controller.rising", "plant.rising"), ("plant.level", "controller.level")]
    enumerated, plain = (
        cosimulate(SystemStructure.of({"controller": fmus["controller Integer 2"], "plant": file}, wires), step=STEP)
        for file in (path, fmus["plant Integer 2"])
    )
    assert plain["plant.level"].max() > HIGH
    assert np.array_equal(enumerated["plant.level"], plain["plant.level"])


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("step", [0.5, None])
def test_an_fmu_ends_the_run_where_all_have_come(
    step: float | None, fmi: int, tmp_path: pathlib.Path, fmus: dict[str, pathlib.Path]
) -> None:
    """The tank is full at 1.5 s, a communication point; in FMI 3.0 with events it says so in event mode."""
    tank = mbfmu.build(Filling(), tmp_path / "tank.fmu", equations="interpreted", fmi=fmi)
    structure = SystemStructure.of({"tank": tank, "plant": fmus[f"plant Boolean {fmi}"]}, [])
    result = cosimulate(structure, step=step, stop_time=4.0, start_values={"plant.rising": True})
    assert (result.ended or "").startswith("tank ends the run at 1.5 s: ")
    assert result.time[-1] == pytest.approx(1.5, abs=1e-9)
    assert result["tank.level.y"][-1] == pytest.approx(3.0, abs=1e-6)
    assert result["plant.level"][-1] == pytest.approx(1.5, abs=1e-6)


def test_start_values_have_to_fit_their_types(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"plant": fmus["plant Boolean 3"]}, [])
    result = cosimulate(structure, step=STEP, stop_time=0.3, start_values={"plant.rising": True})
    assert result["plant.level"] == pytest.approx(result.time, abs=1e-9)
    for value in (0.5, 2, "on"):
        with pytest.raises(SimulationError, match=rf"plant at t = 0 s: cannot set rising = {value}: .* type Boolean"):
            cosimulate(structure, step=STEP, start_values={"plant.rising": value})


@pytest.mark.parametrize(
    ("connect", "message"),
    [
        (("plant.level", "other.rising"), "a continuous Real cannot be connected to an input of type Boolean; .*block"),
        (("mass.r", "other.rising"), r"their shapes differ \(\[3\] and scalar\); connect equal ones, or elements"),
        (("mass.r[4]", "other.rising"), r"no such input or output; did you mean r"),
        (("mass.r", "mass.force"), "units m and N differ"),
    ],
)
def test_types_shapes_and_units_that_do_not_fit_are_refused(
    connect: tuple[str, str], message: str, fmus: dict[str, pathlib.Path]
) -> None:
    files = {"plant": fmus["plant Boolean 2"], "other": fmus["plant Boolean 2"], "mass": fmus["mass 3"]}
    with pytest.raises(ModelError, match=message):
        SystemStructure.of(files, [connect])


# -- arrays


ELEMENTS = [(f"mass.r[{i}]", f"spring.r[{i}]") for i in (2, 1, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mass", "spring", "r"),
    [(2, 2, [("mass.r", "spring.r")]), (3, 3, [("mass.r", "spring.r")]), (2, 3, [("mass.r", "spring.r")]),
     (3, 2, ELEMENTS), (3, 3, ELEMENTS)],
)  # fmt: skip
def test_arrays_are_connected_element_by_element(
    mass: int, spring: int, r: list[tuple[str, str]], fmus: dict[str, pathlib.Path]
) -> None:
    """A spring whose force is held over two steps, one for its own input: a linear recursion."""
    structure = SystemStructure.of(
        {"mass": fmus[f"mass {mass}"], "spring": fmus[f"spring {spring}"]}, [*r, ("spring.force", "mass.force")]
    )
    result = cosimulate(structure, step=STEP, stop_time=0.6, tolerance=1e-10)
    position, speed = np.array(START), np.array([0.5, 0.0, 0.0])
    force = before = -STIFFNESS * position
    expected = [position]
    for _ in result.time[1:]:
        before, force = force, -STIFFNESS * position
        position = position + STEP * speed + STEP**2 / 2 * before / MASS
        speed = speed + STEP * before / MASS
        expected.append(position)
    assert np.ptp(expected) > 0.5
    assert result["mass.r"] == pytest.approx(np.array(expected), abs=1e-8)


def test_results_have_the_elements_of_matrices_in_their_places(fmus: dict[str, pathlib.Path]) -> None:
    """The orientation of the mass, which turns about no axis of symmetry of its matrix."""
    runs = [
        cosimulate(SystemStructure.of({"mass": fmus[f"mass {fmi}"]}, []), step=0.1, outputs=["mass.body.frame_a.R.T"])
        for fmi in (2, 3)
    ]
    assert runs[0].names == runs[1].names
    matrices = [run["mass.body.frame_a.R.T"] for run in runs]
    assert matrices[0].shape == (11, 3, 3)
    assert np.abs(matrices[0][-1] - matrices[0][-1].T).max() > 0.1
    assert np.array_equal(*matrices)


def test_elements_of_derivatives_have_the_names_of_fmi_2() -> None:
    """`der(r[2])` and `der(r[2],2)`, of arrays and of their scalars."""
    names = ["r", "der(r)", "der(r,2)"]
    arrays = [
        SimpleNamespace(name=name, shape=(3,), type="Float64", start=None, valueReference=i)
        for i, name in enumerate(names)
    ]
    interface = Interface(SimpleNamespace(fmiVersion="3.0", modelVariables=arrays))
    for name, element in zip(names, ("r[2]", "der(r[2])", "der(r[2],2)"), strict=True):
        (scalar,) = interface[element]
        assert (scalar.variable.name, scalar.place) == (name, 1)
        assert shape_of(name, interface[name]) == (3,)
        assert shape_of(element, interface[element]) == ()


def test_names_of_fmi_2_make_arrays_where_all_elements_are_there() -> None:
    """By rows, whatever the order of the variables; what only looks like an array is none."""
    names = ["T[1,1]", "T[2,1]", "T[1,2]", "T[2,2]", "der(r[1])", "der(r[2])", "der(r[1],2)", "der(r[2],2)"]
    names += ["gap[1]", "gap[3]", "null[0]", "null[1]", "w[01]", "mixed[1]", "mixed[1,1]", "own", "own[1]", "p[1].r"]
    variables = [
        SimpleNamespace(name=name, shape=None, type="Real", start=None, valueReference=i)
        for i, name in enumerate(names)
    ]
    interface = Interface(SimpleNamespace(fmiVersion="2.0", modelVariables=variables))
    wholes = {name: [one.name for one in found] for name, found in interface.items() if name not in names}
    assert wholes == {
        "T": ["T[1,1]", "T[1,2]", "T[2,1]", "T[2,2]"],
        "der(r)": ["der(r[1])", "der(r[2])"],
        "der(r,2)": ["der(r[1],2)", "der(r[2],2)"],
    }
    assert shape_of("T", interface["T"]) == (2, 2)
    assert [one.variable.valueReference for one in interface["T"]] == [0, 2, 1, 3]
    assert [one.indices for one in interface["T"]] == [()] * 4  # each is a variable
    assert [one.name for one in interface["own"]] == ["own"]


def test_single_elements_are_set_without_touching_others(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"mass": fmus["mass 3"]}, [])
    values = {"mass.force": [1.0, 2.0, 3.0], "mass.force[2]": -4.0}
    result = cosimulate(structure, step=0.5, stop_time=1.0, start_values=values, outputs=["mass.r"])
    assert result["mass.r"][-1] - START == pytest.approx(np.array([1.0, -4.0, 3.0]) / 2 / MASS + [0.5, 0, 0])
    with pytest.raises(SimulationError, match=r"force takes 3 values, got 2"):
        cosimulate(structure, step=0.5, start_values={"mass.force": [1.0, 2.0]})


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_slopes_of_arrays_of_fmi_3_lead_inputs(fmi: int, fmus: dict[str, pathlib.Path]) -> None:
    """A mass without force moves along a line, which slopes give exactly, and held values do not."""
    structure = SystemStructure.of({"mass": fmus["mass 3"], "sum": fmus[f"sum {fmi}"]}, [("mass.r", "sum.u")])
    options = {"step": 0.1, "stop_time": 1.0, "tolerance": 1e-9, "outputs": ["sum.y"]}
    exact = np.add(START, [0.25, 0, 0])
    assert cosimulate(structure, inputs="tangent", **options)["sum.y"][-1] == pytest.approx(exact, abs=1e-9)
    held = cosimulate(structure, inputs="hold", **options)["sum.y"][-1]
    assert held - exact == pytest.approx([-0.025, 0, 0], abs=1e-9)


# -- packages


def description(package: pathlib.Path) -> etree._Element:
    with zipfile.ZipFile(package) as archive:
        return etree.fromstring(archive.read("SystemStructure.ssd"))


def test_packages_without_arrays_are_of_ssp_1_with_its_types(
    tmp_path: pathlib.Path, fmus: dict[str, pathlib.Path]
) -> None:
    """ecos and FMPy refuse SSP 2.0; to both versions of FMI, SSP 1.0 has the types."""
    schema = etree.XMLSchema(file=pathlib.Path(fmpy.__file__).parent / "ssp/schema/SystemStructureDescription.xsd")
    for plant, controller in ((2, 2), (3, 3), (2, 3)):
        structure = SystemStructure.of(
            {"plant": fmus[f"plant Integer {plant}"], "controller": fmus[f"controller Boolean {controller}"]},
            [("controller.rising", "plant.rising"), ("plant.level", "controller.level")],
        )
        root = description(write_ssp(structure, tmp_path / f"{plant}{controller}.ssp"))
        assert schema.validate(root), schema.error_log
        types = {
            (c.getparent().getparent().get("name"), c.get("name")): etree.QName(c[0]).localname
            for c in root.iter("{*}Connector")
        }
        assert types == {
            ("plant", "rising"): "Integer", ("plant", "level"): "Real",
            ("controller", "rising"): "Boolean", ("controller", "level"): "Real",
        }  # fmt: skip


def test_packages_have_arrays_and_their_elements(tmp_path: pathlib.Path, fmus: dict[str, pathlib.Path]) -> None:
    """SSP 2.0: an array is one connector with dimensions, and a connection may be restricted to indices of it."""
    structure = SystemStructure.of(
        {"mass": fmus["mass 3"], "spring": fmus["spring 3"], "sum": fmus["sum 2"]},
        [("spring.force", "mass.force"), *ELEMENTS, ("mass.r", "sum.u")],
    )
    root = description(write_ssp(structure, tmp_path / "arrays.ssp", connectors=True))
    assert root.get("version") == "2.0"
    types = {c.get("name"): etree.QName(c[0]).localname for c in root.iter("{*}Connector")}
    assert (types["r"], types["u[1]"]) == ("Float64", "Real")
    wires = [dict(connection.attrib) for connection in root.iter("{*}Connection")]
    assert {"startElement": "spring", "startConnector": "force", "endElement": "mass", "endConnector": "force"} in wires
    for i, wire in itertools.product((1, 2, 3), ("spring", "sum")):
        end = {"endConnector": "r", "endIndices": str(i)} if wire == "spring" else {"endConnector": f"u[{i}]"}
        start = {"startElement": "mass", "startConnector": "r", "startIndices": str(i)}
        assert start | {"endElement": wire} | end in wires
    sizes = [
        [d.get("size") for d in c.iter("{*}Dimension")] for c in root.iter("{*}Connector") if c.get("name") == "force"
    ]
    assert sizes == [["3"], ["3"]]


# -- FMUs of another tool

ECHO = """
from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, String


class Echo(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.text_in, self.count_in, self.on_in = "nothing", 0, False
        self.text, self.length, self.count, self.on = "", 0, 0, False
        jumps = {"variability": Fmi2Variability.discrete}
        for name, kind in (("text", String), ("count", Integer), ("on", Boolean), ("length", Integer)):
            self.register_variable(kind(name, causality=Fmi2Causality.output, **jumps))
            if name != "length":
                self.register_variable(kind(name + "_in", causality=Fmi2Causality.input, **jumps))

    def do_step(self, current_time, step_size):
        self.text, self.count, self.on = self.text_in + "!", self.count_in + 1, not self.on_in
        self.length = len(self.text)
        return True
"""


def test_texts_and_numbers_go_round_in_fmus_of_pythonfmu(tmp_path: pathlib.Path) -> None:
    """Two that answer with what they got and a little more, one communication step after the other."""
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    FmuBuilder.build_FMU(tmp_path / "echo.py", dest=tmp_path)
    file = tmp_path / "Echo.fmu"
    names = ("text", "count", "on")
    there, back = ([(f"{x}.{name}", f"{y}.{name}_in") for name in names] for x, y in (("a", "b"), ("b", "a")))
    structure = SystemStructure.of({"a": file, "b": file}, [*there, *back])
    result = cosimulate(structure, step=0.1, stop_time=0.5, scheme="gauss-seidel")
    assert result["a.count"].tolist() == result["a.length"].tolist() == [0, 1, 3, 5, 7, 9]
    assert result["b.count"].tolist() == result["b.length"].tolist() == [0, 2, 4, 6, 8, 10]
    assert result["a.on"].tolist() == [0, 1, 1, 1, 1, 1]
    assert set(result) == {f"{element}.{name}" for element in "ab" for name in ("count", "on", "length")}
    with pytest.raises(SimulationError, match=r"a.text: is of type String; only numbers are recorded"):
        cosimulate(structure, step=0.1, outputs=["a.text"])
    with pytest.raises(ModelError, match=r"a.text and b.count_in: types String and Integer cannot be connected"):
        SystemStructure.of({"a": file, "b": file}, [("a.text", "b.count_in")])
