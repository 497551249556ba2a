"""Inputs over time: what they may be, what becomes of them, and what is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas
import pytest
import xarray

import mbfmu
from mbfmu.components import Body, Prismatic, World, rotational, translational
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start


class Cart(Assembly):
    """2 kg that a force pushes along x."""

    def __init__(self):
        self.world = World()
        self.slide = Prismatic(n=(1, 0, 0), useAxisFlange=True, s=Start(0.3, fixed=True), v=Start(0.0, fixed=True))
        self.cart = Body(m=2.0, r_CM=(0, 0, 0), I_11=0, I_22=0, I_33=0)
        self.push = translational.Force()
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.cart.frame_a)
        self.connect(self.push.flange, self.slide.axis)
        self.input(self.push.f, "force")


@pytest.fixture(scope="module")
def cart():
    return mbfmu.System.of(Cart())


def pushed(cart, inputs, **options):
    return mbfmu.simulate(
        cart, 2.0, interval=0.1, tolerance=1e-9, inputs=inputs, outputs=["slide.s", "force"], **options
    )


TIMES, FORCES = np.array([0.0, 0.55, 1.3, 2.0]), np.array([0.0, 3.0, -2.0, 1.0])


def test_straight_lines_are_followed_exactly(cart):
    result = pushed(cart, {"force": (TIMES, FORCES)})
    np.testing.assert_allclose(result["force"], np.interp(result.time, TIMES, FORCES), atol=1e-12)
    # two integrals of a piecewise linear force over a mass of 2 kg, on a fine grid that has its kinks
    fine = np.linspace(0.0, 2.0, 40001)
    speed = np.concatenate([[0], np.cumsum(np.diff(fine) * np.interp((fine[1:] + fine[:-1]) / 2, TIMES, FORCES))]) / 2
    way = 0.3 + np.concatenate([[0], np.cumsum(np.diff(fine) * (speed[1:] + speed[:-1]) / 2)])
    np.testing.assert_allclose(result["slide.s"], np.interp(result.time, fine, way), atol=1e-7)


def test_a_line_that_began_before_the_run_is_joined_where_it_has_come_to(cart):
    """In single runs and in those of sweeps: 2 t N from 0 s on give (4 - 0.25) / 2 m/s between 0.5 s and 2 s."""
    inputs = {"force": ([0.0, 4.0], [0.0, 8.0])}
    alone = mbfmu.simulate(cart, 2.0, start_time=0.5, tolerance=1e-9, inputs=inputs, outputs=["slide.v", "force"])
    assert alone["force"][0] == pytest.approx(1.0, abs=1e-12)
    assert alone["slide.v"][-1] == pytest.approx(1.875, abs=1e-9)
    system = dataclasses.replace(cart, equations=dataclasses.replace(cart.equations, start_time=0.5, stop_time=2.0))
    swept = mbfmu.sweep(system, {"cart.m": [2.0, 4.0]}, inputs=inputs, outputs=["slide.v"], tolerance=1e-9)
    np.testing.assert_allclose(swept["slide.v"][:, -1], [1.875, 0.9375], rtol=1e-8)


def test_held_values_jump_at_their_instants(cart):
    result = pushed(cart, {"force": ([0.0, 1.0], [4.0, -4.0])}, interpolation="held")
    t = result.time
    np.testing.assert_allclose(
        result["slide.s"], 0.3 + np.where(t < 1, t**2, 1 + 2 * (t - 1) - (t - 1) ** 2), atol=1e-8
    )


def test_an_instant_that_stands_twice_is_a_jump(cart):
    jump = pushed(cart, {"force": ([0, 1, 1, 2], [4.0, 4.0, -4.0, -4.0])})
    held = pushed(cart, {"force": ([0.0, 1.0], [4.0, -4.0])}, interpolation="held")
    np.testing.assert_allclose(jump["slide.s"], held["slide.s"], atol=1e-12)


@pytest.mark.slow
def test_every_kind_of_table_gives_the_same_run(cart, tmp_path):
    wanted = pushed(cart, {"force": (TIMES, FORCES)})["slide.s"]
    file = tmp_path / "drive.csv"
    file.write_text(
        "time [ms];force [kN]\n" + "".join(f"{1e3 * t};{f / 1e3}\n" for t, f in zip(TIMES, FORCES, strict=False))
    )
    frame = pandas.DataFrame({"time": TIMES, "force": FORCES})
    columns = np.array(list(zip(TIMES, FORCES, strict=False)), dtype=[("time", float), ("force", float)])
    dataset = xarray.Dataset({"force": ("time", FORCES, {"units": "N"})}, {"time": TIMES})
    for given in (file, frame, frame.set_index("time"), columns, dataset, {"time": TIMES, "force": FORCES}):
        np.testing.assert_allclose(pushed(cart, given)["slide.s"], wanted, atol=1e-9)


def test_functions_and_numbers(cart):
    result = pushed(cart, {"force": lambda t: 2.0 * t})
    np.testing.assert_allclose(result["slide.s"], 0.3 + result.time**3 / 6, atol=1e-8)
    np.testing.assert_allclose(pushed(cart, {"force": 4.0})["slide.s"], 0.3 + result.time**2, atol=1e-8)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"forc": 1.0}, "there is no input 'forc'; did you mean 'force'"),
        ({"force [kg]": 1.0}, "'force' has the unit N; a series in kg cannot be converted"),
        ({"force": ([0.0, 1.0], [0.0, np.nan])}, "has 1 gap, the first in row 2"),
        ({"force": ([0.5, 1.0], [0.0, 1.0])}, "begins at 0.5 s, after the start at 0 s"),
        ({"force": ([0.0, 1.0, 0.5], [0.0, 1.0, 1.0])}, "goes back in time after 1 s"),
        ({"force": np.zeros(3)}, "there is no series 'time' beside it"),
        ({"time": [0.0, 1.0], "force": np.zeros(3)}, "3 values at 2 instants"),
        ({"force": lambda t: 1 / 0}, "the function for the input 'force' fails"),
        (7, "inputs cannot be read from a int"),
    ],
)
def test_mistakes_are_named(cart, inputs, message):
    with pytest.raises(ModelError, match=message.replace("(", r"\(")):
        pushed(cart, inputs)


def test_a_cell_that_is_no_number_is_named(cart, tmp_path):
    file = tmp_path / "drive.csv"
    file.write_text("time,force\n0,0\n1,many\n")
    with pytest.raises(ModelError, match=r"drive.csv, line 3: 'many' under 'force' is no number"):
        pushed(cart, file)


class Motors(Assembly):
    """Two torques on two inertias, one array."""

    def __init__(self):
        self.motors = [rotational.Torque() for _ in range(2)]
        self.shafts = [rotational.Inertia(J=1.0, phi=Start(fixed=True), w=Start(fixed=True)) for _ in range(2)]
        for motor, shaft in zip(self.motors, self.shafts, strict=True):
            self.connect(motor.flange, shaft.flange_a)
        self.input([motor.tau for motor in self.motors], "torques")
        self.output([shaft.w for shaft in self.shafts], "speeds")


def test_an_array_takes_a_series_of_its_shape():
    system = mbfmu.System.of(Motors())
    result = mbfmu.simulate(
        system, 1.0, interval=0.5, inputs={"time": [0.0, 1.0], "torques": [[1.0, -2.0], [1.0, -2.0]]}
    )
    np.testing.assert_allclose(result["speeds"][-1], [1.0, -2.0], atol=1e-9)
    with pytest.raises(ModelError, match=r"'torques' has the shape \(2, 1\); torques takes \[n, 2\]"):
        mbfmu.simulate(system, 1.0, inputs={"time": [0.0, 1.0], "torques": [[1.0], [1.0]]})
