"""Wrong input of vehicles: each parameter that cannot be, each damaged file, is a message or a model that is finite."""

from __future__ import annotations

import pathlib
import warnings

import numpy as np
import pytest
from test_tyres import CRG

from mbfmu.components import vehicle
from mbfmu.components.vehicle import magic_formula
from mbfmu.errors import MbfmuError, ModelError
from mbfmu.modeling.declarations import Parameter

CLASSES = [getattr(vehicle, name) for name in vehicle.__all__]
NEEDED = {
    vehicle.SlipWheel: {"radius": 0.3}, vehicle.SlipForce: {"radius": 0.3}, vehicle.Step: {"h": 0.1},
    vehicle.Slope: {"gradient": 0.1}, vehicle.GridRoad: {"x": (0, 1), "y": (0, 1), "z": ((0, 0), (0, 0))},
}  # fmt: skip
LEFT_OUT = (vehicle.CRG, vehicle.TyreData, vehicle.FunctionRoad, vehicle.CRGRoad, vehicle.Car, vehicle.Suspension)
COMPONENTS = [cls for cls in CLASSES if isinstance(cls, type) and cls not in LEFT_OUT]
NUMBERS = [
    (cls, name)
    for cls in CLASSES
    if cls in COMPONENTS
    for name, parameter in cls.declarations.items()
    if isinstance(parameter, Parameter) and parameter.type.base == "Real" and not parameter.animation
]


def test_a_car_without_suspensions_asks_for_them() -> None:
    with pytest.raises(NotImplementedError, match="Mine must define suspensions, the classes in front and in the rear"):
        type("Mine", (vehicle.Car,), {})()


@pytest.mark.parametrize("wrong", [float("nan"), "two", (1.0, 2.0, 3.0, 4.0)], ids=str)
def test_no_number_of_a_vehicle_may_be_none(wrong: object) -> None:
    assert len(NUMBERS) > 100
    for cls, name in NUMBERS:
        with pytest.raises(ModelError, match=name):
            cls(**(NEEDED.get(cls, {}) | {name: wrong}))


def damaged(text: str, random: np.random.Generator) -> str:
    """A text that is cut short, or has a line less, a line twice, other characters or another number."""
    kind, at = random.integers(5), int(random.integers(len(text)))
    lines = text.splitlines(keepends=True)
    line = int(random.integers(len(lines)))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return "".join(lines[:line] + lines[line + 1 :])
    if kind == 2:
        return "".join(lines[: line + 1] + lines[line:])
    if kind == 3:
        return text[:at] + "".join(chr(int(c)) for c in random.integers(32, 127, 3)) + text[at + 3 :]
    name, _, _ = lines[line].partition("=")
    value = random.choice(["-1", "0", "1e300", "nan", "-inf"])
    return "".join([*lines[:line], f"{name}= {value}\n", *lines[line + 1 :]])


@pytest.mark.slow
def test_damaged_tyre_files_are_refused_or_have_finite_forces() -> None:
    text = (vehicle.tyres.DATA / f"{vehicle.tyres.OWN}.tir").read_text()
    random, refused = np.random.default_rng(7), 0
    for _ in range(200):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tyre = vehicle.parse_tir(damaged(text, random))
        except MbfmuError:
            refused += 1
            continue
        with np.errstate(all="ignore"):
            found = magic_formula.forces(tyre, 4000.0, 0.05, 0.05, 0.01)
        assert np.all(np.isfinite(found[:5])) or max(abs(v) for v in tyre.given.values()) > 1e200
    assert 20 < refused < 180


@pytest.mark.slow
def test_damaged_road_files_are_refused_or_have_heights(tmp_path: pathlib.Path) -> None:
    random, refused, file = np.random.default_rng(8), 0, tmp_path / "road.crg"
    for _ in range(200):
        file.write_text(damaged(CRG, random))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                road = vehicle.CRGRoad(fileName=str(file))
        except MbfmuError:
            refused += 1
            continue
        assert np.all(np.isfinite(road.heights(np.array([2.0, 1.5]), np.array([0.5, 1.5]))))
    assert 20 < refused < 180
