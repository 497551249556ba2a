"""Co-simulation of FMUs that are coupled at flanges, against closed forms that share no code with it."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
import re
import sys
import types
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start, cli
from mbfmu.components import blocks, rotational, translational
from mbfmu.components.interfaces import Flange_a, TranslationalFlange_a
from mbfmu.cosimulation import SystemStructure, cosimulate, exposed_flanges, loops
from mbfmu.cosimulation.flanges import ExposedFlange, wires
from mbfmu.cosimulation.recording import Account, Recorder
from mbfmu.demos import drivetrain
from mbfmu.errors import ModelError, SimulationError
from mbfmu.fmi.description import read_description
from mbfmu.fmi.slave import AsksForNothing, Slave, Slave3
from mbfmu.fmus.drivetrain import Car, Drivetrain, Powertrain

J1, J2, C, D = 2.0, 3.0, 100.0, 1.0  # kg.m2, N.m/rad, N.m.s/rad
TWIST = 1.0  # rad, of the second inertia at the start


class Driver(Assembly):
    """An inertia and a spring; the far end of the spring is moved."""

    def __init__(self):
        self.axis = Flange_a("Far end of the spring", motion=True)
        self.inertia = rotational.Inertia(J=J1, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.spring = rotational.SpringDamper(c=C, d=D)
        self.connect(self.inertia.flange_b, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.axis)


class Load(Assembly):
    """An inertia that takes torque."""

    def __init__(self, step=0.0):
        self.axis = Flange_a("Shaft")
        self.inertia = rotational.Inertia(J=J2, phi=Start(TWIST, fixed=True), w=Start(0.0, fixed=True))
        self.torque = rotational.TorqueStep(stepTorque=step, offsetTorque=0.0, startTime=0.055)
        self.connect(self.torque.flange, self.inertia.flange_b)
        self.connect(self.inertia.flange_a, self.axis)


class Rotor(Assembly):
    """A rigid inertia that is moved: its torque depends on the acceleration directly."""

    def __init__(self):
        self.axis = Flange_a("Shaft", motion=True)
        self.inertia = rotational.Inertia(J=1.0)
        self.connect(self.inertia.flange_a, self.axis)


class Slider(Assembly):
    """A mass that takes force."""

    def __init__(self):
        self.axis = TranslationalFlange_a("Rod")
        self.mass = translational.Mass(m=1.0)
        self.connect(self.mass.flange_a, self.axis)


class Silent(Assembly):
    """Nothing to be connected to."""

    def __init__(self):
        self.inertia = rotational.Inertia(J=1.0)
        self.torque = rotational.ConstantTorque(tau_constant=1.0)
        self.connect(self.torque.flange, self.inertia.flange_a)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """Build each assembly once, native; how equations are evaluated is no matter here."""
    folder = tmp_path_factory.mktemp("fmus")
    assemblies = {"driver": Driver(), "load": Load(), "stepped": Load(step=1.0), "rotor": Rotor(), "slider": Slider()}
    return {
        name: mbfmu.build(assembly, folder / f"{name}.fmu", target="native", equations="interpreted")
        for name, assembly in assemblies.items()
    }


@pytest.fixture(scope="module")
def fmus_3(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The same of FMI 3.0."""
    folder = tmp_path_factory.mktemp("fmus_3")
    assemblies = {"driver": Driver(), "load": Load(), "stepped": Load(step=1.0), "rotor": Rotor()}
    return {
        name: mbfmu.build(assembly, folder / f"{name}.fmu", target="native", equations="interpreted", fmi=3)
        for name, assembly in assemblies.items()
    }


@pytest.fixture(scope="module")
def elastic(fmus: dict[str, pathlib.Path]) -> SystemStructure:
    """Two inertias with a spring between them."""
    return SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})


def oscillator(times: np.ndarray) -> np.ndarray:
    """Angles of two inertias with spring and damper between them, [n, 2]: the centre rests, the twist swings."""
    reduced, centre = J1 * J2 / (J1 + J2), J2 * TWIST / (J1 + J2)
    decay = D / (2 * reduced)
    omega = math.sqrt(C / reduced - decay**2)
    twist = TWIST * np.exp(-decay * times) * (np.cos(omega * times) + decay / omega * np.sin(omega * times))
    return np.column_stack([centre - J2 / (J1 + J2) * twist, centre + J1 / (J1 + J2) * twist])


def oscillator_error(structure: SystemStructure, step: float, **options: Any) -> float:
    names = ["driver.inertia.phi", "load.inertia.phi"]
    result = cosimulate(structure, step=step, stop_time=0.8, tolerance=1e-10, outputs=names, **options)
    return float(np.abs(np.column_stack([result[n] for n in names]) - oscillator(result.time)).max())


# -- the two kinds of flange


def test_positive_torque_accelerates_and_an_inertia_resists_acceleration() -> None:
    pushed = mbfmu.simulate(Load(), 0.01, start_values={"axis.tau": 1.5})
    assert pushed["axis.a"][0] == pytest.approx(1.5 / J2)
    moved = mbfmu.simulate(Rotor(), 0.01, start_values={"axis.a": 2.0})
    assert moved["axis.tau"][0] == pytest.approx(-2.0)
    twisted = mbfmu.simulate(Driver(), 0.01, start_values={"axis.phi": 0.5, "axis.w": 0.3})
    assert twisted["axis.tau"][0] == pytest.approx(-C * 0.5 - D * 0.3)


@pytest.mark.slow
def test_flanges_are_found_with_their_direction(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"a": fmus["driver"], "b": fmus["slider"]}, connect=[])
    driver, slider = (exposed_flanges(d.modelVariables) for d in structure.descriptions.values())
    assert driver["axis"].takes == "motion"
    assert driver["axis"].motion == ("phi", "w", "a")
    assert (slider["axis"].takes, slider["axis"].flow, slider["axis"].motion) == ("force", "f", ("s", "v", "a"))
    assert len(driver) == len(slider) == 1


@pytest.mark.parametrize("connect", [None, [("driver.axis", "load.axis")], [("load.axis", "driver.axis")]])
def test_flanges_are_connected_name_by_name_in_either_order(
    connect: list[tuple[str, str]] | None, fmus: dict[str, pathlib.Path]
) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]}, connect)
    assert {(c.start, c.end) for c in structure.connections} == {
        ("load.axis.phi", "driver.axis.phi"),
        ("load.axis.w", "driver.axis.w"),
        ("load.axis.a", "driver.axis.a"),
        ("driver.axis.tau", "load.axis.tau"),
    }


# -- accuracy


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize(("inputs", "order"), [("hold", 1), ("secant", 2), ("tangent", 2)])
def test_error_falls_with_the_order_of_the_inputs(
    scheme: str, inputs: str, order: int, fmus: dict[str, pathlib.Path]
) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    errors = [oscillator_error(structure, step, scheme=scheme, inputs=inputs) for step in (0.008, 0.004, 0.002)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(order, abs=0.1)


@pytest.mark.slow
def test_newer_inputs_and_better_slopes_are_more_accurate(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    error = {
        (scheme, inputs): oscillator_error(structure, 0.004, scheme=scheme, inputs=inputs)
        for scheme in ("jacobi", "gauss-seidel")
        for inputs in ("hold", "secant", "tangent")
    }
    for scheme in ("jacobi", "gauss-seidel"):
        assert error[scheme, "tangent"] < error[scheme, "secant"] < error[scheme, "hold"] / 10
    for inputs in ("hold", "secant", "tangent"):
        assert error["gauss-seidel", inputs] < error["jacobi", inputs]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_held_angles_speed_a_turning_shaft_up_and_slopes_do_not(scheme: str, fmus: dict[str, pathlib.Path]) -> None:
    """Held, the angle lags by w h/2 on average: a torque C w h/2 that nobody put in (docs/co-simulation.md)."""
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    speeds = ["driver.inertia.w", "load.inertia.w"]
    start = {"driver.inertia.w": 10.0, "load.inertia.w": 10.0, "load.inertia.phi": 0.0, "driver.spring.d": 20.0}
    step = 0.01

    def rate(inputs: str) -> float:
        options = {"step": step, "stop_time": 6.0, "scheme": scheme, "inputs": inputs, "tolerance": 1e-9}
        result = cosimulate(structure, start_values=start, outputs=speeds, **options)
        momentum = J1 * result[speeds[0]] + J2 * result[speeds[1]]
        late = result.time > 4.0  # the shaft has stopped ringing
        return float(np.polyfit(result.time[late], np.log(momentum[late]), 1)[0])

    assert rate("hold") == pytest.approx(C * step / (2 * (J1 + J2)), rel=0.02)
    assert rate("tangent") == pytest.approx(0.0, abs=1e-9)


def test_the_last_step_ends_at_the_stop_time(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    result = cosimulate(structure, step=0.03, stop_time=0.1, inputs="tangent", outputs=["load.axis.w"])
    assert result.time == pytest.approx([0.0, 0.03, 0.06, 0.09, 0.1])
    assert result.units == {"load.axis.w": "rad/s"}


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("inputs", ["hold", "secant", "tangent"])
def test_targets_and_versions_are_coupled_alike(inputs: str, tmp_path: pathlib.Path) -> None:
    """To the last bit; lines of inputs are slopes in FMI 2.0, and asked for in intermediate updates in FMI 3.0."""
    options = {"step": 0.01, "stop_time": 0.2, "tolerance": 1e-9, "outputs": ["driver.axis.tau"]}
    runs = []
    for target, fmi in (("native", 2), ("native", 3), ("python", 2), ("python", 3)):
        kind = {"fmi": fmi, "target": target, "equations": "interpreted"}
        files = {
            name: mbfmu.build(assembly(), tmp_path / f"{name}_{target}_{fmi}.fmu", **kind)
            for name, assembly in (("driver", Driver), ("load", Load))
        }
        runs.append(cosimulate(SystemStructure.of(files), inputs=inputs, **options)["driver.axis.tau"])
    assert np.ptp(runs[0]) > 0.1
    for run in runs[1:]:
        assert run == pytest.approx(runs[0], rel=1e-9, abs=1e-10 if inputs != "hold" else 0.0)


def test_fmus_that_take_no_lines_are_named(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    structure.descriptions["load"].coSimulation.canInterpolateInputs = False
    with pytest.raises(SimulationError, match=r"load: takes no input derivatives .*hold"):
        cosimulate(structure, step=0.01, inputs="secant")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_fmus_that_take_no_lines_hold_means_with_the_best_inputs(scheme: str, fmus: dict[str, pathlib.Path]) -> None:
    """The other one takes lines: of the second order, both together."""
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    structure.descriptions["load"].coSimulation.canInterpolateInputs = False
    errors = [oscillator_error(structure, step, scheme=scheme, inputs="best") for step in (0.004, 0.002)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


# -- steps of their own


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("slow", ["driver", "load"])
@pytest.mark.parametrize("ratio", [5.0, 2.5])
@pytest.mark.parametrize(("inputs", "order"), [("hold", 1), ("secant", 2)])
def test_error_falls_with_the_longest_of_own_steps(
    inputs: str, order: int, ratio: float, slow: str, fmus: dict[str, pathlib.Path]
) -> None:
    """Whatever the ratio, also between the points of the longer steps."""
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    errors = [oscillator_error(structure, h / ratio, steps={slow: h}, inputs=inputs) for h in (0.01, 0.005)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_results_have_the_points_of_all_own_steps(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    options = {"step": 0.03, "stop_time": 0.1, "outputs": ["driver.inertia.phi"]}
    result = cosimulate(structure, steps={"load": 0.05}, **options)
    assert result.time == pytest.approx([0.0, 0.03, 0.05, 0.06, 0.09, 0.1])
    assert result.account.calls == 4 + 2
    assert cosimulate(structure, scheme="gauss-seidel", **options).account.calls == 4 + 4
    signals = {"time": [0.0, 0.02, 1.0], "driver.inertia.J": [1.0, 1.0, 1.0]}
    with pytest.raises(ModelError, match=r"driver\.inertia\.J"):
        cosimulate(structure, step=0.03, steps={"load": 0.05}, signals=signals)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
def test_rigid_couplings_agree_at_their_own_points(scheme: str, fmus: dict[str, pathlib.Path]) -> None:
    """Two couplings with steps of their own move to the bit as each does alone, in threads and processes, too."""
    pair = [("rotor.axis", "load.axis")]
    files = {"rotor": fmus["rotor"], "load": fmus["stepped"]}
    steps = {"slow": 0.01, "fast": 0.004}
    options = {"stop_time": 0.2, "inputs": "tangent", "scheme": scheme}
    alone = {
        name: cosimulate(
            SystemStructure.of(files, pair), step=step, start_values={"rotor.inertia.J": 10 * J2}, **options
        )
        for name, step in steps.items()
    }
    both = SystemStructure.of(
        {f"{name}_{one}": file for name in steps for one, file in files.items()},
        [(f"{name}_{a}", f"{name}_{b}") for name in steps for a, b in pair],
    )
    ways = [{}, {"processes": True}] + ([{"threads": 2}] if scheme == "jacobi" else [])
    for way in ways:
        found = cosimulate(
            both, step=1.0, steps={f"{name}_{one}": step for name, step in steps.items() for one in files},
            start_values={f"{name}_rotor.inertia.J": 10 * J2 for name in steps}, **options, **way,
        )  # fmt: skip
        for name, own in alone.items():
            places = np.searchsorted(found.time, own.time - 1e-9)
            for column in own:
                assert np.array_equal(found[f"{name}_{column}"][places], own[column]), (name, column, way)
    assert np.ptp(alone["slow"]["load.axis.w"]) > 0.001


@pytest.mark.slow
def test_loops_that_only_seem_to_be_are_noted_with_steps_of_their_own(fmus: dict[str, pathlib.Path]) -> None:
    """An FMU that does not say what its outputs depend on could be on one; its angle answers to no torque at once."""
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    for unknown in structure.descriptions["load"].outputs:
        unknown.dependencies = None
    options = {"stop_time": 0.2, "inputs": "secant", "outputs": ["driver.inertia.phi", "load.inertia.phi"]}
    result = cosimulate(structure, step=0.001, steps={"load": 0.002}, **options)
    (note,) = result.account.notes
    assert re.match("(load and driver|driver and load): may be on an algebraic loop", note)
    assert "which do not answer to inputs at the start" in note
    shown = np.column_stack([result[name] for name in options["outputs"]])
    assert np.abs(shown - oscillator(result.time)).max() < 1e-3
    assert cosimulate(structure, step=0.002, **options).account.notes == []


def test_rigid_couplings_of_different_steps_are_refused(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"rotor": fmus["rotor"], "load": fmus["load"]})
    with pytest.raises(SimulationError, match=r"on an algebraic loop.*rotor 0\.01 s.*give them one step"):
        cosimulate(structure, step=0.002, steps={"rotor": 0.01})


# -- rigid couplings: tau = -J a on one side, a = tau/J2 on the other


RATIOS = (0.1, 1.0, 10.0, 100.0)


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("inputs", ["hold", "secant", "tangent"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_rigid_couplings_of_any_ratio_agree_in_every_step(
    scheme: str, inputs: str, fmi: int, fmus: dict[str, pathlib.Path], fmus_3: dict[str, pathlib.Path]
) -> None:
    """One after the other, or with held inputs, a ratio above 1 would diverge: the loop is solved, not iterated."""
    files = fmus if fmi == 2 else fmus_3
    structure = SystemStructure.of({"rotor": files["rotor"], "load": files["stepped"]})
    for ratio in RATIOS:
        result = cosimulate(
            structure,
            step=0.01,
            stop_time=0.2,
            scheme=scheme,
            inputs=inputs,
            start_values={"rotor.inertia.J": ratio * J2, "load.axis.tau": 5.0},
            outputs=["load.axis.a", "rotor.axis.tau"],
        )
        after = result.time > 0.0601
        assert result["load.axis.a"][result.time < 0.055] == pytest.approx(0.0, abs=1e-9)
        assert result["load.axis.a"][after] == pytest.approx(1 / (J2 * (1 + ratio)), rel=1e-6)
        assert result["rotor.axis.tau"][after] == pytest.approx(-ratio / (1 + ratio), rel=1e-6)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("scheme", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("fmi", [2, 3])
def test_a_tolerance_is_kept_by_rigid_and_by_elastic_couplings(
    scheme: str, fmi: int, fmus: dict[str, pathlib.Path], fmus_3: dict[str, pathlib.Path]
) -> None:
    files = fmus if fmi == 2 else fmus_3
    rigid = SystemStructure.of({"rotor": files["rotor"], "load": files["stepped"]})
    for ratio in RATIOS:
        values = {"rotor.inertia.J": ratio * J2}
        options = {"stop_time": 0.2, "scheme": scheme, "start_values": values, "outputs": ["load.inertia.w"]}
        result = cosimulate(rigid, tolerance=1e-6, **options)
        speed = (result.time - 0.055).clip(0.0) / (J2 * (1 + ratio))
        assert np.abs(result["load.inertia.w"] - speed).max() < 1e-6 * (speed.max() + 1e-3)  # of nominal values, too
    elastic = SystemStructure.of({"driver": files["driver"], "load": files["load"]})
    names, errors, calls = ["driver.inertia.phi", "load.inertia.phi"], [], []
    for tolerance in (1e-4, 1e-6):
        result = cosimulate(elastic, stop_time=0.8, scheme=scheme, tolerance=tolerance, outputs=names)
        errors.append(np.abs(np.column_stack([result[n] for n in names]) - oscillator(result.time)).max())
        calls.append(result.account.calls)
        assert errors[-1] < 3 * tolerance
        assert result.account.notes == []
    assert calls[1] < 10 * calls[0]


class Parabola(Assembly):
    """y = t^2 / 2, which a cubic continues without any error."""

    def __init__(self):
        self.one = blocks.Constant(k=1.0)
        self.ramp = blocks.Integrator(k=1.0)
        self.parabola = blocks.Integrator(k=1.0)
        self.connect(self.one.y, self.ramp.u)
        self.connect(self.ramp.y, self.parabola.u)
        self.output(self.parabola.y, "y")


class Lag(Assembly):
    """T y' = u - y."""

    def __init__(self):
        self.lag = blocks.FirstOrder(k=1.0, T=0.05)
        self.input(self.lag.u, "u")
        self.output(self.lag.y, "y")


@pytest.mark.slow
@pytest.mark.campaign
def test_a_tolerance_is_kept_by_outputs_that_nothing_follows(tmp_path: pathlib.Path) -> None:
    """Here nothing is wrong with what is coupled, but lines are no parabolas, and only the lag's output shows it."""
    for assembly, name in ((Parabola(), "parabola"), (Lag(), "lag")):
        mbfmu.build(assembly, tmp_path / f"{name}.fmu", equations="interpreted")
    files = {"parabola": tmp_path / "parabola.fmu", "lag": tmp_path / "lag.fmu"}
    structure = SystemStructure.of(files, [("parabola.y", "lag.u")])
    for tolerance in (1e-6, 1e-8):
        result = cosimulate(structure, stop_time=2.0, tolerance=tolerance)
        time, T = result.time, 0.05
        exact = time**2 / 2 - T * time + T**2 * (1 - np.exp(-time / T))
        assert np.abs(result["lag.y"] - exact).max() < 2 * tolerance


@pytest.mark.slow
def test_fmus_of_fmi_3_that_ask_for_no_inputs_hold_them(
    fmus_3: dict[str, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_for_nothing(_slave: Slave3, _environment: object, _time: float, _requested: bool, *arguments: Any) -> None:
        arguments[-2][0] = False

    monkeypatch.setattr(Slave3, "update", ask_for_nothing)
    structure = SystemStructure.of({"driver": fmus_3["driver"], "load": fmus_3["load"]})
    names = ["driver.inertia.phi", "load.inertia.phi"]
    errors = []
    for options in ({}, {"step": 0.002, "inputs": "best"}):
        result = cosimulate(structure, stop_time=0.2, tolerance=1e-4, outputs=names, **options)
        assert sorted(note.partition(":")[0] for note in result.account.notes) == ["driver", "load"]
        assert all("asks for no inputs within steps" in note for note in result.account.notes)
        errors.append(np.abs(np.column_stack([result[n] for n in names]) - oscillator(result.time)).max())
    held = cosimulate(structure, stop_time=0.2, step=0.002, inputs="hold", outputs=names)
    assert errors[0] < 3e-4
    assert errors[1] == pytest.approx(  # the spring's torque is behind by half a step, not by a whole one
        np.abs(np.column_stack([held[n] for n in names]) - oscillator(held.time)).max() / 2, rel=0.1
    )
    with pytest.raises(AsksForNothing, match=r"^(driver|load): "):
        cosimulate(structure, stop_time=0.2, step=0.002, inputs="secant")


def test_derivatives_are_asked_for_in_both_versions(
    fmus: dict[str, pathlib.Path], fmus_3: dict[str, pathlib.Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rotor's torque: -J with respect to the acceleration, exactly."""
    found: list[np.ndarray] = []

    def noting(slave: Slave, *arguments: Any) -> np.ndarray:
        found.append(derivatives(slave, *arguments))
        return found[-1]

    derivatives = Slave.derivatives
    monkeypatch.setattr(Slave, "derivatives", noting)
    for files in (fmus, fmus_3):
        found.clear()
        structure = SystemStructure.of({"rotor": files["rotor"], "load": files["load"]})
        cosimulate(structure, step=0.01, stop_time=0.02, start_values={"rotor.inertia.J": 7.0})
        assert any(one.shape == (1, 1) and one.item() == pytest.approx(-7.0, rel=1e-12) for one in found)


def test_events_of_fmi_3_end_steps(fmus_3: dict[str, pathlib.Path]) -> None:
    """The torque steps at 0.055 s: both FMUs stop there, and nothing has to be looked for."""
    structure = SystemStructure.of({"rotor": fmus_3["rotor"], "load": fmus_3["stepped"]})
    result = cosimulate(structure, stop_time=0.2, tolerance=1e-6, outputs=["load.inertia.w"])
    assert np.abs(result.time - 0.055).min() < 1e-12
    assert result.account.rejected <= 2
    assert result.account.shortest > 1e-6


def test_inputs_on_loops_leaves_out_what_leads_to_a_loop_or_out_of_it() -> None:
    assert loops.inputs_on_loops([{1}, {0}, {0}, set()]) == [0, 1]
    assert loops.inputs_on_loops([{1}, {2}, set()]) == []


@pytest.mark.parametrize("noise", [1e-9, 1e-5])
def test_fmus_that_allow_no_better_are_borne_as_long_as_they_agree_roughly(noise: float) -> None:
    """Their answers differ from call to call; beyond 1e-7 of the inputs that is told, with the worst of them."""
    signs = (math.sin(3.3 * k) for k in itertools.count(1))

    def outputs_of(u: np.ndarray) -> np.ndarray:
        return np.array([2.0, 0.25 * u[1] - 1.5 * u[0] + 4.0 * noise * next(signs)])

    def solve() -> tuple[np.ndarray, np.ndarray | None]:
        return loops.consistent_inputs(outputs_of, np.zeros(2), [0, 1], ["shaft", "wheel"])

    if noise < 1e-7:
        u, jacobian = solve()
        assert u == pytest.approx([2.0, -4.0], rel=1e-7)
        assert jacobian is None or jacobian[1, 1] == pytest.approx(0.25, abs=1e-3)
    else:
        with pytest.raises(
            SimulationError, match=r"^wheel: no values on which the coupled FMUs agree were found \(they d"
        ):
            solve()


def test_consistent_inputs_solve_a_loop_that_iteration_does_not() -> None:
    u, jacobian = loops.consistent_inputs(
        lambda u: np.array([6.0 - 4.0 * u[1], u[0] / 2, u[0]]), np.zeros(3), [0, 1], ["a", "b", "c"]
    )
    assert u == pytest.approx([2.0, 1.0, 2.0])
    assert jacobian == pytest.approx(np.array([[0, -4, 0], [0.5, 0, 0], [1, 0, 0]]))


def test_a_loop_that_is_not_linear_has_the_slopes_of_its_solution() -> None:
    """Differences are taken so near that they follow what bends."""
    u, jacobian = loops.consistent_inputs(
        lambda u: np.array([math.cos(u[1]), u[0] ** 2 / 2 + u[1] / 3, 20 * math.tanh(u[0])]),
        np.zeros(3),
        [0, 1],
        ["a", "b", "c"],
    )
    assert u == pytest.approx([math.cos(u[1]), 0.75 * u[0] ** 2, 20 * math.tanh(u[0])], rel=1e-9)
    slopes = [[0, -math.sin(u[1]), 0], [u[0], 1 / 3, 0], [20 / math.cosh(u[0]) ** 2, 0, 0]]
    assert jacobian == pytest.approx(np.array(slopes), rel=0.05)


def test_a_loop_without_solution_is_named() -> None:
    with pytest.raises(SimulationError, match=r"shaft: no values on which the coupled FMUs agree"):
        loops.consistent_inputs(lambda u: u + 1.0, np.zeros(1), [0], ["shaft"])


# -- what is recorded


def test_points_of_elements_become_those_of_the_system() -> None:
    """Continuous values go along lines, others are held, up to where the element has come that is least far."""
    recorder = Recorder.__new__(Recorder)
    kinds = {"fast": (True,), "slow": (True, False), "late": (True,)}
    recorder.name, recorder._units, recorder._arrays = "S", {"slow.y": "m"}, {}
    recorder._groups = {
        name: (None, SimpleScalars([types.SimpleNamespace(continuous=one) for one in kind]))  # type: ignore[misc,arg-type]
        for name, kind in kinds.items()
    }
    recorder._times = {"fast": [1.0, 1.5, 2.0, 3.0], "slow": [1.0, 2.5, 4.0], "late": [1.0, 1.5, 2.0, 3.0, 4.0]}
    recorder._rows = {"fast": [[4], [7], [9], [2]], "slow": [[0, 0], [3, 1], [9, 5]], "late": [[k] for k in range(5)]}
    recorder._places = {"fast.x": ("fast", 0), "slow.n": ("slow", 1), "slow.y": ("slow", 0), "late.z": ("late", 0)}
    recorder._outputs = ["slow.y"]
    account = Account()
    result = recorder.result("slow ends the run", account)
    assert result.time.tolist() == [1.0, 1.5, 2.0, 2.5, 3.0]
    assert result["fast.x"] == pytest.approx([4, 7, 9, 5.5, 2])
    assert result["slow.y"] == pytest.approx([0, 1, 2, 3, 5])
    assert result["slow.n"].tolist() == [0, 0, 0, 1, 1]
    assert result["late.z"] == pytest.approx([0, 1, 2, 2.5, 3])
    assert (result.outputs, result.units, result.ended) == (("slow.y",), {"slow.y": "m"}, "slow ends the run")
    assert result.account is account


class SimpleScalars(list[Any]):
    """What a recorder takes of Values."""

    @property
    def scalars(self) -> list[Any]:
        return self


def test_an_account_counts_steps_and_notes_once() -> None:
    account = Account()
    assert str(account) == "0 communication steps, 0 taken back; 0 calls of doStep"
    for size in (0.25, 0.125, 0.5):
        account.kept(size)
    account.rejected, account.calls = 2, 9
    for text in ("one", "two", "one"):
        account.note(text)
    assert account.notes == ["one", "two"]
    assert str(account) == "3 communication steps, 0.125 to 0.5 s long, 2 taken back; 9 calls of doStep"


# -- what can go wrong


@pytest.mark.parametrize(
    ("files", "connect", "message"),
    [
        (["driver", "driver"], [("a.axis", "b.axis")], "both flanges take motion; .*takes torque"),
        (["load"] * 2, [("a.axis", "b.axis"), ("a.axis", "b.axis")], "a.axis.tau: is connected to b.axis already"),
        (["slider", "driver"], [("a.axis", "b.axis")], "a translational flange .* a rotational one"),
        (["driver", "load"], [("a.axes", "b.axis")], "a has no flange 'axes'.*did you mean axis"),
        (["driver", "load"], [("c.axis", "b.axis")], "no element 'c'; known: a, b"),
        (["driver", "load"], [("a.axis", "b.axis"), ("a.axis", "b.axis")], "is connected to b.axis.phi already"),
        (["driver", "load"], [("a.axis.phi", "b.axis.tau")], "both are inputs"),
        (["driver", "load"], [("a.axis.phi", "b.axis.w")], "units rad/s and rad differ"),
        (["driver", "driver"], [("a.axis.tau", "b.axis.phi")], "units N.m and rad differ"),
        (["driver", "load"], [("a.axis", "b.axis.w")], "one is a flange, the other a variable"),
        (["driver", "driver"], [("a.inertia.phi", "b.axis.phi")], "no flange 'inertia.phi', and no such input"),
    ],
)
def test_connections_that_cannot_be_are_refused(
    files: list[str], connect: list[tuple[str, str]], message: str, fmus: dict[str, pathlib.Path]
) -> None:
    with pytest.raises(ModelError, match=message):
        SystemStructure.of(dict(zip("ab", (fmus[name] for name in files), strict=True)), connect)


@pytest.mark.slow
def test_elements_without_flanges_and_without_equal_names(
    tmp_path: pathlib.Path, fmus: dict[str, pathlib.Path]
) -> None:
    silent = mbfmu.build(Silent(), tmp_path / "silent.fmu", target="native", equations="interpreted")
    with pytest.raises(ModelError, match=r"silent exposes no flange; .*self.axis = Flange_a"):
        SystemStructure.of({"silent": silent, "load": fmus["load"]}, [("silent.axis", "load.axis")])
    with pytest.raises(ModelError, match=r"no two flanges have the same name \(silent: none; load: axis\)"):
        SystemStructure.of({"silent": silent, "load": fmus["load"]})
    with pytest.raises(ModelError, match="element 'my load': is not a name"):
        SystemStructure.of({"my load": fmus["load"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": 0.0}, "step must be positive"),
        ({"step": 0.1, "stop_time": -1.0}, "stop after the start"),
        ({"step": 0.1, "scheme": "jakobi"}, "scheme 'jakobi': is unknown; did you mean jacobi"),
        ({"step": 0.1, "inputs": "cubic"}, "inputs 'cubic': is unknown; known: best, hold, secant, tangent"),
        ({"step": 0.1, "steps": {"lode": 0.1}}, "no element 'lode'; did you mean load"),
        ({"step": 0.1, "steps": {"load": 0.0}}, "steps: load = 0.0: give a positive number of seconds"),
        ({"stop_time": -1.0}, "from 0 s to -1 s: the stop must be after the start"),
        ({"stop_time": math.inf}, "from 0 s to inf s: the stop must be after the start"),
        ({"longest": 0.0}, "longest = 0 s: must be positive"),
        ({"longest": math.inf}, "longest = inf s: must be positive"),
        ({"longest": 0.1, "step": 0.1}, "longest = 0.1 s: is for steps that a tolerance chooses; leave it or step out"),
        (
            {"signals": {"time": [0.0, 1.0], "load.axis.tau": [0.0, 1.0]}},
            "load.axis.tau: follows driver.axis.tau already; leave it out of the inputs",
        ),
        ({"steps": {"load": 0.1}}, "steps of load: need the step of the other elements"),
        ({"step": 0.1, "start_values": {"motor.J": 1.0}}, "there is no element 'motor'"),
        ({"step": 0.1, "start_values": {"load.inertia.K": 1.0}}, "load.inertia.K: no such variable"),
        ({"step": 0.1, "start_values": {"load.inertia.J": math.nan}}, r"load at t = 0 s: cannot set inertia.J = nan"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, object], message: str, elastic: SystemStructure) -> None:
    with pytest.raises((SimulationError, ModelError), match=message):
        cosimulate(elastic, **options)


@pytest.mark.parametrize(
    ("ability", "options", "message"),
    [
        ({"canHandleVariableCommunicationStepSize": False}, {}, "load: takes steps of one length only .*give the step"),
        (
            {"maxOutputDerivativeOrder": 0},
            {"step": 0.01, "inputs": "tangent"},
            "load: gives no output derivatives .maxOutputDerivativeOrder., which inputs='tangent' needs; .*'secant'",
        ),
        (
            {"canInterpolateInputs": False},
            {"step": 0.01, "inputs": "tangent"},
            "load: takes no input derivatives .*which inputs='tangent' needs; choose inputs='hold'",
        ),
    ],
)
def test_what_fmus_are_not_able_to_is_named(
    ability: dict[str, Any], options: dict[str, Any], message: str, fmus: dict[str, pathlib.Path]
) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    for name, value in ability.items():
        setattr(structure.descriptions["load"].coSimulation, name, value)
    with pytest.raises(SimulationError, match=message):
        cosimulate(structure, stop_time=0.1, **options)


def test_variables_of_unknown_elements_are_named(elastic: SystemStructure) -> None:
    with pytest.raises(ModelError, match=r"loat\.axis\.w: there is no element loat; did you mean load"):
        elastic.scalars("loat", "axis.w")


def test_motion_that_the_other_flange_does_not_tell_is_named() -> None:
    """One that takes angle, speed and acceleration, of another tool's that tells the angle."""
    taker = ExposedFlange("axis", "rotational", True, "tau", ("phi", "w", "a"))
    giver = ExposedFlange("shaft", "rotational", False, "tau", ("phi",))
    for a, b in ((taker, giver), (giver, taker)):
        with pytest.raises(ModelError, match=r"a and b: axis\.w is an input, but the other side has no such output"):
            wires(a, b, "a and b")
    assert wires(dataclasses.replace(giver, motion=("phi", "w", "a")), taker, "") == (False, ("phi", "w", "a"), "tau")


def test_an_unknown_output_is_named(fmus: dict[str, pathlib.Path]) -> None:
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    with pytest.raises(ModelError, match=r"load.axis.x: load has no such variable"):
        cosimulate(structure, step=0.1, outputs=["load.axis.x"])


def test_a_run_that_diverges_stops_with_fmu_and_time(fmus: dict[str, pathlib.Path]) -> None:
    """Steps longer than the shaft's period: an explicit coupling cannot be stable."""
    structure = SystemStructure.of({"driver": fmus["driver"], "load": fmus["load"]})
    with pytest.raises(SimulationError, match=r"(driver|load) at t = \d+(\.\d+)? s: "):
        cosimulate(structure, step=3.0, stop_time=5000.0)


# -- the demonstration


@pytest.mark.slow
@pytest.mark.campaign
def test_the_demonstration_shows_the_orders_of_theory(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(drivetrain, "STEPS", (4e-3, 2e-3, 1e-3))
    for model in (Powertrain, Car, Drivetrain):
        monkeypatch.setattr(model, "stop_time", 1.0)
    assert cli.main(["demo", "drivetrain", "-o", str(tmp_path)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    orders = {(row[0].rstrip(","), row[1]): float(row[-2]) for row in rows if row and row[-1] in ("1", "2")}
    assert orders == pytest.approx(
        {
            (scheme, inputs): 1 if inputs == "hold" else 2
            for scheme in ("jacobi", "gauss-seidel")
            for inputs in ("hold", "secant", "tangent")
        },
        abs=0.15,
    )
    written = {path.name for path in tmp_path.iterdir()}
    files = {"powertrain.fmu", "car.fmu", "drivetrain.fmu", "drivetrain.png", "drivetrain.html", "small_car.ssp"}
    assert written == files


@pytest.mark.slow
@pytest.mark.campaign
def test_the_demonstration_runs_without_compiler_and_in_fmi_3(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    monkeypatch.setattr(drivetrain, "STEPS", (40e-3, 20e-3))
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(["demo", "drivetrain", "--fmi", "3", "-o", str(tmp_path / "shown")]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "FMI 3.0 has no input derivatives" in shown
    assert [line.split()[:2] for line in shown.splitlines() if "hold" in line] == [
        ["jacobi", "hold"],
        ["gauss-seidel", "hold"],
    ]
    assert read_description(tmp_path / "shown" / "car.fmu").fmiVersion == "3.0"
