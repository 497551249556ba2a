"""Translational mechanics against closed forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from drive_blocks import Wave
from wiring import run

from mbfmu.components import blocks, translational
from mbfmu.components.examples.loops import GasForce, GasForce2
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.simulation import simulate


class Oscillator(Assembly):
    """Mass on a spring and a damper."""

    def __init__(self, m=2.0, c=50.0, d=0.8, L=0.3, l0=0.4, s0=0.7):
        self.fixed = translational.Fixed(s0=0.1)
        self.spring = translational.Spring(c=c, s_rel0=l0)
        self.damper = translational.Damper(d=d)
        self.mass = translational.Mass(m=m, L=L, s=Start(s0, fixed=True), v=Start(0.0, fixed=True))
        for element in (self.spring, self.damper):
            self.connect(self.fixed.flange, element.flange_a)
            self.connect(element.flange_b, self.mass.flange_a)


def test_damped_oscillator():
    """Underdamped free oscillation about s = 0.1 + 0.4 + 0.15."""
    m, c, d = 2.0, 50.0, 0.8
    result = simulate(Oscillator(m, c, d), 3.0, tolerance=1e-10)
    t, decay = result.time, d / (2 * m)
    omega = math.sqrt(c / m - decay**2)
    expected = 0.65 + 0.05 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(result["mass.s"], expected, atol=1e-9)
    np.testing.assert_allclose(result["damper.s_rel"], expected - 0.25, atol=1e-9)
    np.testing.assert_allclose(result["mass.flange_b.s"], expected + 0.15, atol=1e-9)
    np.testing.assert_allclose(result["damper.lossPower"], d * result["mass.v"] ** 2, atol=1e-10)
    np.testing.assert_allclose(result["mass.flange_a.f"], m * result["mass.a"], atol=1e-9)
    np.testing.assert_allclose(result["fixed.flange.f"], -result["mass.flange_a.f"], atol=1e-9)


class Row(Assembly):
    """Components in a row, each flange_b joined with the next flange_a; `flange` stands for both."""

    def __init__(self, **parts: Component) -> None:
        for name, part in parts.items():
            setattr(self, name, part)
        for left, right in itertools.pairwise(list(self.parts.values())):
            ends = [
                getattr(part, name) if name in part.ports() else part.flange
                for part, name in ((left, "flange_b"), (right, "flange_a"))
            ]
            self.connect(*ends)


def moving(s: float, v: float = 0.0) -> dict[str, Start]:
    return {"s": Start(s, fixed=True), "v": Start(v, fixed=True)}


def test_two_masses_and_rods_keep_their_momentum():
    """A mass with length, a rod and a second mass are one body of their sum, pushed by a spring against a third."""
    row = Row(
        a=translational.Mass(m=1.0, L=0.2, **moving(0.1, 0.5)),
        rod=translational.Rod(L=0.7),
        b=translational.Mass(m=2.0, L=0.4),
        spring=translational.SpringDamper(c=30.0, d=0.0, s_rel0=0.1),
        c=translational.Mass(m=6.0, **moving(2.0)),
    )
    r = simulate(row, 2.0, tolerance=1e-11)
    np.testing.assert_allclose(r["b.s"] - r["a.s"], 0.1 + 0.7 + 0.2, atol=1e-12)
    np.testing.assert_allclose(r["rod.s"], r["a.s"] + 0.1 + 0.35, atol=1e-12)
    np.testing.assert_allclose(3.0 * r["a.v"] + 6.0 * r["c.v"], 1.5, atol=1e-9)
    omega, stretch, rate = math.sqrt(30.0 * (1 / 3 + 1 / 6)), 2.0 - 1.3 - 0.1, -0.5
    expected = 0.1 + stretch * np.cos(omega * r.time) + rate / omega * np.sin(omega * r.time)
    np.testing.assert_allclose(r["spring.s_rel"], expected, atol=1e-9)
    np.testing.assert_allclose(r["rod.flange_a.f"], 2.0 * r["b.a"] - r["spring.f"], atol=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_prescribed_motion():
    """Exact, filtered and integrated signals on a mass."""
    omega, f_crit = 5.0, 3.0

    def run(source, signal):
        row = Row(source=source, mass=translational.Mass(m=4.0))
        row.signal = Wave(omega=omega)
        row.connect(row.signal.y, getattr(source, signal))
        return simulate(row, 4.0, tolerance=1e-11)

    exact = run(translational.Position(exact=True), "s_ref")
    t, late, s, w = exact.time, exact.time > 3.0, 1j * omega, 2 * math.pi * f_crit
    np.testing.assert_allclose(exact["mass.s"], np.sin(omega * t), atol=1e-12)
    np.testing.assert_allclose(exact["source.flange.f"], 4.0 * omega**2 * np.sin(omega * t), atol=1e-9)
    filtered = run(translational.Position(f_crit=f_crit), "s_ref")["mass.s"]
    response = w**2 / (0.6180 * s**2 + 1.3617 * w * s + w**2)
    np.testing.assert_allclose(filtered[late], np.imag(response * np.exp(s * t[late])), atol=1e-8)
    speed = run(translational.Speed(f_crit=f_crit), "v_ref")["mass.v"]
    np.testing.assert_allclose(speed[late], np.imag(w / (s + w) * np.exp(s * t[late])), atol=1e-8)
    np.testing.assert_allclose(run(translational.Speed(exact=True), "v_ref")["mass.v"], np.sin(omega * t), atol=1e-12)
    travelled = run(translational.Accelerate(), "a_ref")["mass.v"]
    np.testing.assert_allclose(travelled, (1 - np.cos(omega * t)) / omega, atol=1e-9)


def test_forces_between_masses_and_supports():
    """A force with a support, a force on two flanges and a step: what one side gets, the other one gives."""

    class Forces(Assembly):
        def __init__(self) -> None:
            self.signal = Wave(amplitude=2.0, omega=3.0)
            self.force, self.both = translational.Force(useSupport=True), translational.Force2()
            self.step = translational.ForceStep(stepForce=5.0, offsetForce=0.0, startTime=0.5, useSupport=True)
            self.a, self.b = translational.Mass(m=1.0, **moving(0.0)), translational.Mass(m=3.0, **moving(0.0))
            self.connect(self.signal.y, self.force.f)
            self.connect(self.signal.y, self.both.f)
            for flange in (self.force.flange, self.both.flange_b, self.step.flange):
                self.connect(flange, self.a.flange_a)
            for flange in (self.force.support, self.both.flange_a, self.step.support):
                self.connect(flange, self.b.flange_a)

    r = simulate(Forces(), 1.0, tolerance=1e-10)
    before, after = r.time < 0.5 - 1e-6, r.time > 0.5 + 1e-6
    for part in (before, after):
        expected = 4.0 * np.sin(3.0 * r.time[part]) + (5.0 if part is after else 0.0)
        np.testing.assert_allclose(r["a.a"][part], expected, atol=1e-12)
        np.testing.assert_allclose(3.0 * r["b.a"][part], -expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("power", [1, 2])
def test_force_that_depends_on_speed(power, same):
    kind = {1: translational.LinearSpeedDependentForce, 2: translational.QuadraticSpeedDependentForce}[power]
    for start in (3.0, -3.0):
        source = kind(f_nominal=-0.5, v_nominal=2.0, ForceDirection=same)
        r = simulate(Row(source=source, mass=translational.Mass(m=2.0, **moving(0.0, start))), 1.0, tolerance=1e-9)
        v = r["mass.v"] / 2.0
        magnitude = np.abs(v) ** power
        np.testing.assert_allclose(
            2.0 * r["mass.a"], -0.5 * (magnitude if same else np.sign(v) * magnitude), rtol=1e-10
        )


def test_sensors_measure_what_passes():
    class Measured(Assembly):
        def __init__(self) -> None:
            self.source = translational.ConstantForce(f_constant=6.0)
            self.a, self.b = translational.Mass(m=1.0, **moving(0.2)), translational.Mass(m=2.0)
            self.force, self.power = translational.ForceSensor(), translational.PowerSensor()
            self.multi = translational.MultiSensor()
            self.c = translational.Mass(m=1.0, **moving(1.0, -1.0))
            self.position, self.speed = translational.PositionSensor(), translational.SpeedSensor()
            self.acceleration = translational.AccSensor()
            self.positions, self.speeds = translational.RelPositionSensor(), translational.RelSpeedSensor()
            self.accelerations = translational.RelAccSensor()
            self.connect(self.source.flange, self.a.flange_a)
            for left, right in itertools.pairwise([self.a, self.force, self.power, self.multi, self.b]):
                self.connect(left.flange_b, right.flange_a)
            for sensor in (self.position, self.speed, self.acceleration):
                self.connect(sensor.flange, self.b.flange_b)
            for sensor in (self.positions, self.speeds, self.accelerations):
                self.connect(sensor.flange_a, self.b.flange_b)
                self.connect(sensor.flange_b, self.c.flange_a)

    r = simulate(Measured(), 1.0, tolerance=1e-10)
    for name, expected in {
        "acceleration.a": 2.0,
        "speed.v": 2.0 * r.time,
        "position.s": 0.2 + r.time**2,
        "force.f": 4.0,
        "multi.f": 4.0,
        "multi.v": 2.0 * r.time,
        "power.power": 8.0 * r.time,
        "multi.power": 8.0 * r.time,
        "positions.s_rel": 0.8 - r.time - r.time**2,
        "speeds.v_rel": -1.0 - 2.0 * r.time,
        "accelerations.a_rel": -2.0,
    }.items():
        np.testing.assert_allclose(r[name], expected, atol=1e-9, err_msg=name)


def test_constant_speed_pushes_a_damper():
    row = Row(
        source=translational.ConstantSpeed(v_fixed=0.5, s=Start(0.0, fixed=True)),
        damper=translational.Damper(d=3.0),
        wall=translational.Fixed(s0=1.0),
    )
    r = simulate(row, 1.0)
    np.testing.assert_allclose(r["damper.s_rel"], 1.0 - 0.5 * r.time, atol=1e-9)
    np.testing.assert_allclose(r["source.flange.f"], -1.5, rtol=1e-12)
    np.testing.assert_allclose(r["damper.lossPower"], 0.75, rtol=1e-12)


def test_an_open_support_and_a_heat_port_are_named():
    for source, message in (
        (translational.ConstantForce(f_constant=1.0, useSupport=True), r"source\.support.*not connected"),
        (translational.Damper(d=1.0, useHeatPort=True), r"source\.heatPort.*not connected"),
    ):
        with pytest.raises(ModelError, match=message):
            System.of(Row(source=source, mass=translational.Mass(m=1.0)))
    with pytest.raises(ModelError, match=r"m = -1.*must be >= 0"):
        translational.Mass(m=-1.0)


def test_move_takes_speed_and_acceleration_from_its_signals():
    """The signals contradict one another on purpose: none of them is differentiated."""
    result = run(
        "signals.y - move.u",
        "move.flange - mass.flange_a",
        signals=blocks.Constant(k=(0.5, 2.0, 3.0)),
        move=translational.Move(),
        mass=translational.Mass(m=4.0, L=0.2),
    )
    expected = {"mass.s": 0.6, "mass.v": 2.0, "mass.a": 3.0, "move.v": 2.0, "move.flange.f": -12.0}
    for name, value in expected.items():
        np.testing.assert_allclose(result[name], value, rtol=1e-12, err_msg=name)


class Piston(Assembly):
    """A heavy piston that nothing slows down, and the gas before it."""

    def __init__(self, gas: Component, s: float, v: float):
        self.head = translational.Fixed()
        self.gas = gas
        self.piston = translational.Mass(m=1e16, s=Start(s, fixed=True), v=Start(v, fixed=True))
        self.connect(self.head.flange, self.gas.flange_a)
        self.connect(self.gas.flange_b, self.piston.flange_a)


def bar(x: float, compression: bool, bends: tuple[float, float]) -> float:
    """Pressure in the cylinder [bar] as the text of the library has it (MSL 3.2.3, Examples.Loops.Utilities)."""
    if compression:
        a = (177.4132, -287.2189, 151.8252, -24.9973, 2.4)
        b = (2836360.0, -10569296.0, 14761814.0, -9158505.0, 2129670.0)
        return float(np.polyval(a if x < bends[0] else b, x))
    c = (-3929704.0, 14748765.0, -20747000.0, 12964477.0, -3036495.0)
    d = (145.930, -131.707, 17.3438, 17.9272, 2.4)
    return float(np.polyval(c if x > bends[1] else d, x))


@pytest.mark.slow
@pytest.mark.parametrize(("v", "compression"), [(-1.0, True), (1.0, False)])
@pytest.mark.parametrize(("kind", "bends"), [(GasForce, (0.987, 0.93)), (GasForce2, (0.986061, 0.933))])
def test_the_gas_of_an_engine_pushes_as_the_library_says(kind, bends, v, compression):
    length, d = 0.2, 0.1
    older = kind is GasForce  # its stroke is negative
    duration, begin, unit = 0.19, 0.195 if v < 0 else 0.005, 1.0 if older else 1e5
    model = Piston(kind(L=length, d=d), begin - (length if older else 0), v)
    result = simulate(model, duration, interval=0.0038)
    s = begin + v * result.time
    x = s / length if older else 1 - s / length
    wanted = np.array([bar(one, compression, bends) for one in x])
    np.testing.assert_allclose(result["gas.x"], x, atol=1e-9)
    np.testing.assert_allclose(result["gas.press"], wanted * unit, rtol=1e-6)
    np.testing.assert_allclose(result["gas.f"], -1e5 * wanted * math.pi * d**2 / 4, rtol=1e-6)
    np.testing.assert_allclose(result["gas.V"], 0.01 + 1.0 * (1 - x), rtol=1e-9)
    np.testing.assert_allclose(result["gas.T"], 1e5 * wanted * (0.01 + 1 - x), rtol=1e-6)
