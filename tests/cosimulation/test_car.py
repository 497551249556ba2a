"""A car on tyres and its powertrain, an FMU each, in masters of others."""

from __future__ import annotations

import pathlib

import fmpy
import numpy as np
import pytest

from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.simulation import simulate
from problems import coupled_car

pytestmark = pytest.mark.slow
STEP = 5e-4


@pytest.mark.campaign
def test_the_open_car_takes_torque_and_tells_motion() -> None:
    """What a powertrain of another tool has to fit to."""
    description = fmpy.read_model_description(coupled_car.fmus()["car"])
    variables = {v.name: v.causality for v in description.modelVariables}
    for side in ("left", "right"):
        assert variables[f"{side}.tau"] == "input"
        assert {variables[f"{side}.{name}"] for name in ("phi", "w", "a")} == {"output"}


def car_in_a_bend() -> tuple[fmpy.fmi2.FMU2Slave, dict[str, int]]:
    """The open car, after 0.2 s with its steering wheel turned and torque at a wheel."""
    path = coupled_car.fmus()["car"]
    description = fmpy.read_model_description(path)
    car = fmpy.fmi2.FMU2Slave(
        guid=description.guid, unzipDirectory=fmpy.extract(path), instanceName="car",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )  # fmt: skip
    places = {v.name: v.valueReference for v in description.modelVariables}
    car.instantiate()
    car.setupExperiment(startTime=0.0)
    car.enterInitializationMode()
    car.exitInitializationMode()
    car.setReal([places["left.tau"]], [200.0])
    for i in range(20):
        car.doStep(i * 0.01, 0.01)
    return car, places


@pytest.mark.campaign
def test_the_open_car_goes_on_from_a_state_that_was_kept() -> None:
    car, places = car_in_a_bend()
    seen = [places[name] for name in ("car_v", "car_yawRate", "left.a", "right.w")]
    kept, ends = car.getFMUState(), []
    for _ in range(2):
        car.setFMUState(kept)
        car.setReal([places["left.tau"]], [300.0])
        for i in range(20, 40):
            car.doStep(i * 0.01, 0.01)
        ends.append(car.getReal(seen))
    car.freeFMUState(kept)
    car.terminate()
    car.freeInstance()
    assert ends[0] == ends[1]
    assert ends[0][1] > 0.1


@pytest.mark.campaign
def test_the_open_car_tells_its_derivatives_in_a_bend() -> None:
    """What the torque of one wheel does to the acceleration of both, beside differences."""
    car, places = car_in_a_bend()
    wanted, by = [places[f"{side}.a"] for side in ("left", "right")], [places["left.tau"]]

    told, kept = car.getDirectionalDerivative(wanted, by, [1.0]), car.getFMUState()

    def after(torque: float) -> np.ndarray:
        car.setFMUState(kept)
        car.setReal(by, [torque])
        car.doStep(0.2, 1e-6)
        return np.array(car.getReal(wanted))

    differences = (after(210.0) - after(190.0)) / 20
    car.freeFMUState(kept)
    car.terminate()
    car.freeInstance()
    np.testing.assert_allclose(told, differences, rtol=2e-3)
    assert told[0] > 0.3  # 1/J of a wheel, with less than its brake and its hub


def stepped_by_hand(stop: float, slopes: bool) -> np.ndarray:
    """Speed and yaw rate at the end, stepped by a loop of one's own around FMPy, inputs held or with their slopes."""
    units = {}
    for name, path in coupled_car.fmus().items():
        description = fmpy.read_model_description(path)
        folder = fmpy.extract(path)
        unit = fmpy.fmi2.FMU2Slave(
            guid=description.guid, unzipDirectory=folder, instanceName=name,
            modelIdentifier=description.coSimulation.modelIdentifier,
        )  # fmt: skip
        unit.instantiate()
        unit.setupExperiment(startTime=0.0)
        unit.enterInitializationMode()
        units[name] = unit, {v.name: v.valueReference for v in description.modelVariables}

    def hand_over() -> None:
        for source, target, names in (("car", "powertrain", ("phi", "w", "a")), ("powertrain", "car", ("tau",))):
            wanted = [f"{side}.{name}" for side in ("left", "right") for name in names]
            (giver, given), (taker, taken) = units[source], units[target]
            common = [name for name in wanted if name in taken]
            taker.setReal([taken[name] for name in common], giver.getReal([given[name] for name in common]))
            if slopes and source == "car" and stepping:
                places = [taken[f"{side}.{name}"] for side in ("left", "right") for name in ("phi", "w")]
                rates = giver.getReal([given[f"{side}.{name}"] for side in ("left", "right") for name in ("w", "a")])
                taker.setRealInputDerivatives(places, [1] * len(places), rates)

    stepping = False
    hand_over()
    for unit, _ in units.values():
        unit.exitInitializationMode()
    stepping = True
    for i in range(round(stop / STEP)):
        hand_over()
        for unit, _ in units.values():
            unit.doStep(i * STEP, STEP)
    car, references = units["car"]
    found = car.getReal([references[name] for name in ("car_v", "car_yawRate")])
    for unit, _ in units.values():
        unit.terminate()
        unit.freeInstance()
    return np.array(found)


@pytest.mark.campaign
def test_masters_of_others_move_the_car_as_ours(tmp_path: pathlib.Path) -> None:
    stop = 0.25
    structure = SystemStructure.of(coupled_car.fmus(), name="Car")
    outputs = ["car.car_v", "car.car_yawRate"]
    ours = cosimulate(structure, stop_time=stop, step=STEP, scheme="jacobi", inputs="hold", outputs=outputs)
    found = np.array([ours[name][-1] for name in outputs])
    np.testing.assert_allclose(stepped_by_hand(stop, slopes=False), found, rtol=1e-6)
    whole = simulate(coupled_car.WholeCar(), stop, tolerance=1e-8, interval=stop, outputs=["car.v", "car.yawRate"])
    np.testing.assert_allclose(
        stepped_by_hand(stop, slopes=True), [whole[name][-1] for name in ("car.v", "car.yawRate")], rtol=1e-3
    )

    execution = pytest.importorskip("libcosimpy.CosimExecution").CosimExecution
    observers = pytest.importorskip("libcosimpy.CosimObserver").CosimObserver
    package = write_ssp(structure, tmp_path / "car.ssp")
    run = execution.from_ssp_file(str(package), step_size=round(STEP * 1e9))
    observer = observers.create_last_value()
    run.add_observer(observer)
    for _ in range(round(stop / STEP)):
        run.step()
    slave = run.slave_index_from_instance_name("car")
    references = {
        v.name: v.valueReference for v in fmpy.read_model_description(coupled_car.fmus()["car"]).modelVariables
    }
    theirs = observer.last_real_values(slave, [references[name.split(".")[1]] for name in outputs])
    np.testing.assert_allclose(theirs, found, rtol=1e-6)
