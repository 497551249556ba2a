"""Electrical circuits: against closed solutions of differential equations, linear algebra, and balances of power."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from wiring import run, wired

from mbfmu.components import blocks, electrical, rotational, thermal, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Start
from mbfmu.simulation import simulate

FIXED = Start(0.0, fixed=True)


def loop(*names: str) -> list[str]:
    """Connections of two-pin components in a ring, the first one from n to p; the last one's end is the ground."""
    ring = [f"{a}.n - {b}.p" for a, b in itertools.pairwise(names[1:])]
    return [f"{names[0]}.p - {names[1]}.p", *ring, f"{names[-1]}.n - {names[0]}.n", f"{names[0]}.n - ground.p"]


def resistor(R: float = 1.0, **parameters: object) -> electrical.Resistor:
    return electrical.Resistor(R=R, **parameters)


# -- transients


def test_a_capacitor_is_charged():
    """v = V (1 - exp(-t / RC)); the resistor turns as much into heat as the capacitor stores."""
    R, C, V = 200.0, 1e-3, 12.0
    result = run(
        *loop("source", "r", "c"),
        source=electrical.ConstantVoltage(V=V),
        r=resistor(R),
        c=electrical.Capacitor(C=C, v=FIXED),
        ground=electrical.Ground(),
    )
    expected = V * (1 - np.exp(-result.time / (R * C)))
    np.testing.assert_allclose(result["c.v"], expected, atol=1e-8)
    np.testing.assert_allclose(result["c.i"], (V - expected) / R, atol=1e-10)
    np.testing.assert_allclose(result["source.i"], -result["c.i"], atol=1e-14)
    np.testing.assert_allclose(result["r.LossPower"], (V - expected) ** 2 / R, atol=1e-8)
    np.testing.assert_allclose(result["ground.p.i"], 0.0, atol=1e-14)


def test_a_step_starts_the_current_of_an_inductor():
    """i = V / R (1 - exp(-R (t - t0) / L)) from t0 on."""
    R, L, V, t0 = 2.0, 0.3, 5.0, 0.25
    result = run(
        *loop("source", "r", "l"),
        source=electrical.StepVoltage(V=V, startTime=t0),
        r=resistor(R),
        l=electrical.Inductor(L=L, i=FIXED),
        ground=electrical.Ground(),
    )
    since = np.maximum(result.time - t0, 0.0)
    np.testing.assert_allclose(result["l.i"], V / R * (1 - np.exp(-R * since / L)), atol=1e-8)


def test_a_series_circuit_rings():
    """Underdamped R, L and C in series, from the capacitor's charge: v = v0 exp(-a t) (cos wt + a/w sin wt)."""
    R, L, C, v0 = 0.4, 0.05, 0.01, 3.0
    result = run(
        *loop("r", "l", "c"),
        r=resistor(R),
        l=electrical.Inductor(L=L, i=FIXED),
        c=electrical.Capacitor(C=C, v=Start(v0, fixed=True)),
        ground=electrical.Ground(),
    )
    a = R / (2 * L)
    w = math.sqrt(1 / (L * C) - a**2)
    t = result.time
    expected = v0 * np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))
    np.testing.assert_allclose(result["c.v"], expected, atol=1e-7)


def test_a_resistance_may_be_zero():
    result = run(
        *loop("source", "r", "load"),
        source=electrical.ConstantVoltage(V=6.0),
        r=resistor(0.0),
        load=resistor(3.0),
        ground=electrical.Ground(),
    )
    np.testing.assert_allclose(result["load.i"], 2.0, rtol=1e-14)


# -- networks


def test_a_bridge_is_solved_as_linear_algebra_solves_it():
    """A Wheatstone bridge fed by a current, against the conductance matrix."""
    R = {"ab": 10.0, "ac": 27.0, "bd": 15.0, "cd": 9.0, "bc": 33.0}
    parts: dict[str, Component] = {name: resistor(value) for name, value in R.items()}
    result = run(
        "source.n - ab.p",
        "ab.p - ac.p",
        "ab.n - bd.p",
        "bd.p - bc.p",
        "ac.n - cd.p",
        "cd.p - bc.n",
        "bd.n - cd.n",
        "cd.n - source.p",
        "source.p - ground.p",
        stop=0.1,
        source=electrical.ConstantCurrent(I=0.4),
        ground=electrical.Ground(),
        **parts,
    )
    nodes = "abc"
    G = np.zeros((3, 3))
    for name, value in R.items():
        for one, other in (name, name[::-1]):
            if one in nodes:
                G[nodes.index(one), nodes.index(one)] += 1 / value
                if other in nodes:
                    G[nodes.index(one), nodes.index(other)] -= 1 / value
    v = np.linalg.solve(G, [0.4, 0.0, 0.0])
    np.testing.assert_allclose(result["bc.i"], (v[1] - v[2]) / R["bc"], rtol=1e-12)
    np.testing.assert_allclose(result["ab.p.v"], v[0], rtol=1e-12)


def test_controlled_sources_gyrators_and_transformers():
    """Four sources that a voltage or current controls, each with a load of 2 Ohm; a gyrator turns it around."""
    parts: dict[str, Component] = {
        "vcv": electrical.VCV(gain=3.0),
        "vcc": electrical.VCC(transConductance=0.25),
        "ccv": electrical.CCV(transResistance=5.0),
        "ccc": electrical.CCC(gain=-2.0),
        "gyrator": electrical.IdealGyrator(G=0.5),
        "gyrator2": electrical.Gyrator(G1=0.5, G2=0.5),
    }
    connections = ["source.n - ground.p"]
    for name in parts:
        connections += [f"source.p - {name}_in.p", f"{name}_in.n - {name}.p1", f"{name}.n1 - ground.p"]
        connections += [f"{name}.p2 - {name}_load.p", f"{name}_load.n - ground.p", f"{name}.n2 - ground.p"]
    loads = {f"{name}_{end}": resistor(2.0) for name in parts for end in ("in", "load")}
    result = run(
        *connections,
        stop=0.1,
        source=electrical.ConstantVoltage(V=4.0),
        ground=electrical.Ground(),
        **parts,
        **loads,
    )
    found = {name: float(result[f"{name}_load.v"][-1]) for name in parts}
    # A gyrator with 2 Ohm at port 2 is a resistance of 1 / (G^2 R) at port 1: i1 = 4 / (2 + 2), v2 = i1 / G.
    assert found == pytest.approx(
        {"vcv": 12.0, "vcc": -2.0, "ccv": 10.0, "ccc": 8.0, "gyrator": 2.0, "gyrator2": 2.0}, rel=1e-12
    )


def test_coupled_inductors_take_the_leakage():
    """A shorted transformer is an inductor of L1 - M^2 / L2."""
    L1, L2, M = 0.2, 0.1, 0.12
    result = run(
        "source.p - r.p",
        "r.n - transformer.p1",
        "transformer.n1 - ground.p",
        "source.n - ground.p",
        "transformer.p2 - short.p",
        "short.n - ground.p",
        "transformer.n2 - ground.p",
        source=electrical.ConstantVoltage(V=1.0),
        r=resistor(0.5),
        transformer=electrical.Transformer(L1=L1, L2=L2, M=M, i1=FIXED, i2=FIXED),
        short=electrical.Short(),
        ground=electrical.Ground(),
    )
    expected = 2 * (1 - np.exp(-0.5 * result.time / (L1 - M**2 / L2)))
    np.testing.assert_allclose(result["transformer.i1"], expected, atol=1e-8)
    np.testing.assert_allclose(result["short.i"], M / L2 * expected, atol=1e-8)


# -- amplifiers


@pytest.mark.parametrize("pins", [3, 4])
def test_an_amplifier_integrates(pins):
    """v_out = -1/(R C) integral of sin; the amplifier's output gives the load whatever current it needs."""
    w, R, C = 5.0, 1e3, 1e-4
    amplifier, plus, minus, out = (
        (electrical.IdealOpAmp3Pin(), "in_p", "in_n", "out")
        if pins == 3
        else (electrical.IdealOpAmp(), "p1", "n1", "p2")
    )
    result = run(
        "source.p - r.p",
        f"r.n - amplifier.{minus}",
        f"amplifier.{minus} - c.p",
        f"c.n - amplifier.{out}",
        f"amplifier.{out} - load.p",
        f"amplifier.{plus} - ground.p",
        "load.n - ground.p",
        "source.n - ground.p",
        *(["amplifier.n2 - ground.p"] if pins == 4 else []),
        source=electrical.SineVoltage(V=1.0, f=w / (2 * math.pi)),
        r=resistor(R),
        c=electrical.Capacitor(C=C, v=FIXED),
        amplifier=amplifier,
        load=resistor(50.0),
        ground=electrical.Ground(),
    )
    np.testing.assert_allclose(result["load.v"], -(1 - np.cos(w * result.time)) / (w * R * C), atol=1e-7)


def test_a_current_may_come_back_as_a_voltage():
    """The voltage of an amplifier's input follows the current that its output drives through an inductor: no loop."""
    R, L, k = 2.0, 0.1, 0.5
    result = run(
        "reference.p - r1.p",
        "r1.n - amplifier.n1",
        "amplifier.n1 - r2.p",
        "r2.n - amplifier.p2",
        "measured.p - amplifier.p1",
        "amplifier.p2 - l.p",
        "l.n - load.p",
        "load.n - sensor.p",
        "sensor.n - ground.p",
        "sensor.i - gain.u",
        "gain.y - measured.v",
        "reference.n - ground.p",
        "measured.n - ground.p",
        "amplifier.n2 - ground.p",
        reference=electrical.ConstantVoltage(V=-1.0),
        measured=electrical.SignalVoltage(),
        r1=resistor(10.0),
        r2=resistor(10.0),
        amplifier=electrical.IdealOpAmp(),
        l=electrical.Inductor(L=L, i=FIXED),
        load=resistor(R),
        sensor=electrical.CurrentSensor(),
        gain=blocks.Gain(k=k),
        ground=electrical.Ground(),
    )
    # v_out = 2 k i + 1, so L di/dt = 1 - (R - 2 k) i
    expected = (1 - np.exp(-(R - 2 * k) * result.time / L)) / (R - 2 * k)
    np.testing.assert_allclose(result["l.i"], expected, atol=1e-8)


# -- machines


def test_a_motor_runs_up_and_its_balance_of_power_closes():
    """L di/dt = V - R i - k w, J dw/dt = k i; what the source gives is stored or lost."""
    R, L, k, J, V = 0.5, 0.02, 0.3, 0.05, 12.0
    assembly = wired(
        *loop("source", "r", "l", "emf"),
        "emf.flange - load.flange_a",
        stop=0.5,
        source=electrical.ConstantVoltage(V=V),
        r=resistor(R),
        l=electrical.Inductor(L=L, i=FIXED),
        emf=electrical.RotationalEMF(k=k),
        load=rotational.Inertia(J=J, phi=FIXED, w=FIXED),
        ground=electrical.Ground(),
    )
    result = simulate(System.of(assembly, energy=True), 0.5, tolerance=1e-10)
    A = np.array([[-R / L, -k / L], [k / J, 0.0]])
    steady = np.linalg.solve(A, [-V / L, 0.0])
    values, vectors = np.linalg.eig(A)
    weights = np.linalg.solve(vectors, -steady)
    expected = steady + np.real((weights * np.exp(np.outer(result.time, values))) @ vectors.T)
    np.testing.assert_allclose(result["l.i"], expected[:, 0], atol=1e-6)
    np.testing.assert_allclose(result["load.w"], expected[:, 1], atol=1e-6)
    np.testing.assert_allclose(result["emf.tau"], -k * result["l.i"], atol=1e-12)
    np.testing.assert_allclose(result["emf.v"], k * result["load.w"], atol=1e-12)
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-9)
    stored = (L * result["l.i"] ** 2 + J * result["load.w"] ** 2) / 2
    np.testing.assert_allclose(result["energy.total"], stored, atol=1e-12)


def test_a_moving_coil_brakes_against_its_housing():
    """A magnet in a shorted coil: f = k^2 v / R between flange and support."""
    k, R, m = 2.0, 0.8, 1.5
    result = run(
        "emf.p - r.p",
        "r.n - emf.n",
        "emf.n - ground.p",
        "emf.flange - magnet.flange_a",
        "emf.support - housing.flange_a",
        emf=electrical.TranslationalEMF(k=k, useSupport=True),
        r=resistor(R),
        magnet=translational.Mass(m=m, s=FIXED, v=Start(3.0, fixed=True)),
        housing=translational.Mass(m=m, s=FIXED, v=FIXED),
        ground=electrical.Ground(),
    )
    apart = 3.0 * np.exp(-(k**2) / R * 2 / m * result.time)
    np.testing.assert_allclose(result["magnet.v"], 1.5 + apart / 2, atol=1e-8)
    np.testing.assert_allclose(result["housing.v"], 1.5 - apart / 2, atol=1e-8)


# -- heat


def test_a_resistor_warms_itself():
    """With alpha: C dT/dt = V^2 / (R (1 + alpha (T - T_ref))), which integrates to a quadratic equation for T."""
    R, alpha, V, C, T0 = 10.0, 4e-3, 20.0, 5.0, 300.15
    result = run(
        *loop("source", "r"),
        "r.heatPort - body.port",
        source=electrical.ConstantVoltage(V=V),
        r=resistor(R, alpha=alpha, useHeatPort=True),
        body=thermal.HeatCapacitor(C=C, T=Start(T0, fixed=True)),
        ground=electrical.Ground(),
    )
    rise = (-1 + np.sqrt(1 + 2 * alpha * V**2 / (R * C) * result.time)) / alpha
    np.testing.assert_allclose(result["body.T"], T0 + rise, rtol=1e-9)
    np.testing.assert_allclose(result["r.R_actual"], R * (1 + alpha * rise), rtol=1e-9)
    assert result["r.T_heatPort"][-1] == result["body.T"][-1]


def test_a_resistor_without_heat_port_has_its_temperature():
    result = run(
        *loop("source", "r"),
        source=electrical.ConstantVoltage(V=2.0),
        r=resistor(1.0, alpha=0.01, T=400.15),
        ground=electrical.Ground(),
    )
    np.testing.assert_allclose(result["r.i"], 1.0, rtol=1e-12)
    assert electrical.Resistor(R=1.0, T_ref=350.0).value("T") is not None


# -- switches


def test_a_diode_rectifies():
    """A half wave through a load: the current is that of the load while the voltage is positive, and Goff's else."""
    result = run(
        *loop("source", "diode", "load"),
        stop=0.1,
        step=1e-3,
        source=electrical.SineVoltage(V=10.0, f=25.0),
        diode=electrical.IdealDiode(Vknee=0.7),
        load=resistor(5.0),
        ground=electrical.Ground(),
    )
    source = 10 * np.sin(2 * np.pi * 25 * result.time)
    on = (source - 0.7 * (1 - 1e-10)) / (5 + 1e-5)
    off = source * 1e-5 / (1 + 5e-5)
    clear = np.abs(source - 0.7) > 1e-3
    expected = np.where(source > 0.7, on, off)
    np.testing.assert_allclose(result["load.i"][clear], expected[clear], atol=1e-5)
    assert (result["diode.off"][clear] == np.where(source > 0.7, 0.0, 1.0)[clear]).all()


def test_four_diodes_charge_a_capacitor():
    """Full-wave rectifier: the voltage at the load never falls below the wave's magnitude less the knees."""
    bridge = {name: electrical.IdealDiode() for name in ("d1", "d2", "d3", "d4")}
    result = run(
        "source.p - inner.p",
        "inner.n - d1.p",
        "d1.p - d2.n",
        "source.n - d3.p",
        "d3.p - d4.n",
        "d1.n - d3.n",
        "d2.p - d4.p",
        "d1.n - c.p",
        "d2.p - c.n",
        "c.p - load.p",
        "c.n - load.n",
        "c.n - ground.p",
        stop=0.06,
        step=2e-4,
        source=electrical.SineVoltage(V=20.0, f=50.0),
        inner=resistor(0.05),
        c=electrical.Capacitor(C=2e-4, v=FIXED),
        load=resistor(100.0),
        ground=electrical.Ground(),
        **bridge,
    )
    wave = np.abs(20 * np.sin(2 * np.pi * 50 * result.time))
    late = result.time > 0.02
    assert (result["c.v"][late] > wave[late] - 0.2).all()
    assert (result["c.v"] < 20.0 + 1e-6).all()
    discharging = late & (result["d1.i"] < 1e-3) & (result["d3.i"] < 1e-3)
    slopes = np.diff(np.log(result["c.v"]))[discharging[1:] & discharging[:-1]] / 2e-4
    assert len(slopes) > 20
    np.testing.assert_allclose(slopes, -1 / (100 * 2e-4), rtol=2e-2)


@pytest.mark.parametrize(("switch", "before", "after"), [("Opening", 2.0, 0.0), ("Closing", 0.0, 2.0)])
def test_switches(switch, before, after):
    result = run(
        *loop("source", "switch", "r"),
        "control.y - switch.control",
        source=electrical.ConstantVoltage(V=4.0),
        switch=getattr(electrical, f"Ideal{switch}Switch")(),
        r=resistor(2.0),
        control=blocks.BooleanStep(startTime=0.5),
        ground=electrical.Ground(),
    )
    i = result["r.i"]
    np.testing.assert_allclose(i[result.time < 0.499], before, atol=1e-4)
    np.testing.assert_allclose(i[result.time > 0.501], after, atol=1e-4)


# -- sources and sensors

SOURCES = {
    "Step": ({"startTime": 0.2}, "height", blocks.Step),
    "Ramp": ({"duration": 0.4, "startTime": 0.2}, "height", blocks.Ramp),
    "Sine": ({"f": 3.0, "phase": 0.3, "startTime": 0.1}, "amplitude", blocks.Sine),
    "Cosine": ({"f": 3.0, "phase": 0.3}, "amplitude", blocks.Cosine),
    "ExpSine": ({"f": 3.0, "damping": 2.0}, "amplitude", blocks.ExpSine),
    "Exponentials": ({"riseTime": 0.4, "riseTimeConst": 0.1}, "outMax", blocks.Exponentials),
    "Pulse": ({"period": 0.3, "width": 40.0}, "amplitude", blocks.Pulse),
    "SawTooth": ({"period": 0.3}, "amplitude", blocks.SawTooth),
    "Trapezoid": ({"period": 0.5, "rising": 0.1, "width": 0.2, "falling": 0.05}, "amplitude", blocks.Trapezoid),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sources_are_those_of_signals(name):
    """Voltage and current of each source are the signal of the block of that name, seen by the four sensors."""
    parameters, height, block = SOURCES[name]
    voltage, current = ("vMax", "iMax") if name == "Exponentials" else ("V", "I")
    result = run(
        "voltage.p - sensor.p",
        "voltage.n - sensor.n",
        "voltage.n - ground.p",
        "current.p - meter.n",
        "meter.p - ground.p",
        "current.n - watt.pc",
        "watt.nc - r.p",
        "r.n - ground.p",
        "r.p - probe.p",
        "watt.pv - r.p",
        "watt.nv - ground.p",
        step=0.01,
        voltage=getattr(electrical, f"{name}Voltage")(**{voltage: 2.5}, offset=0.5, **parameters),
        current=getattr(electrical, f"{name}Current")(**{current: 2.5}, offset=0.5, **parameters),
        signal=block(**{height: 2.5}, offset=0.5, **parameters),
        sensor=electrical.VoltageSensor(),
        meter=electrical.CurrentSensor(),
        probe=electrical.PotentialSensor(),
        watt=electrical.PowerSensor(),
        r=resistor(4.0),
        ground=electrical.Ground(),
    )
    y = result["signal.y"]
    assert np.ptp(y) > 1.0
    np.testing.assert_allclose(result["sensor.v"], y, atol=1e-12)
    np.testing.assert_allclose(result["meter.i"], y, atol=1e-12)
    np.testing.assert_allclose(result["probe.phi"], 4 * y, atol=1e-12)
    np.testing.assert_allclose(result["watt.power"], 4 * y**2, atol=1e-12)


def test_signals_as_sources_and_a_multisensor():
    result = run(
        "one.y - voltage.v",
        "two.y - current.i",
        "R.y - r.R",
        "R.y - g.G",
        "voltage.p - sensor.pc",
        "sensor.nc - r.p",
        "r.n - ground.p",
        "r.p - g.p",
        "g.n - ground.p",
        "voltage.n - ground.p",
        "current.n - r.p",
        "current.p - ground.p",
        "sensor.pv - r.p",
        "sensor.nv - ground.p",
        stop=0.1,
        one=blocks.Constant(k=10.0),
        two=blocks.Constant(k=3.0),
        R=blocks.Constant(k=2.0),
        voltage=electrical.SignalVoltage(),
        current=electrical.SignalCurrent(),
        r=electrical.VariableResistor(),
        g=electrical.VariableConductor(),
        sensor=electrical.MultiSensor(),
        ground=electrical.Ground(),
    )
    for name, value in {
        "sensor.v": 10.0,
        "sensor.i": 5.0 + 20.0 - 3.0,
        "sensor.power": 220.0,
        "current.v": -10.0,
    }.items():
        np.testing.assert_allclose(result[name], value, rtol=1e-12, err_msg=name)


# -- mistakes


@pytest.mark.parametrize(
    ("wires", "parts", "message"),
    [
        (
            loop("source", "r"),
            {"source": electrical.ConstantVoltage(V=1.0), "r": resistor()},
            None,
        ),
        (
            ["a.p - b.p", "a.n - b.n", "a.n - ground.p"],
            {"a": electrical.Capacitor(C=1.0), "b": electrical.Capacitor(C=2.0)},
            r"^a and b form a loop in which each determines a difference of potentials.*put a Resistor in series",
        ),
        (
            ["a.p - b.p", "a.n - r.p", "r.n - ground.p", "b.n - r.p", "a.p - r2.p", "r2.n - ground.p"],
            {
                "a": electrical.ConstantVoltage(V=1.0),
                "b": electrical.Capacitor(C=2.0),
                "r": resistor(),
                "r2": resistor(),
            },
            r"^a and b form a loop",
        ),
        (
            ["a.n - b.p", "a.p - ground.p", "b.n - ground.p"],
            {"a": electrical.Inductor(L=1.0), "b": electrical.Inductor(L=2.0)},
            r"^nothing determines the potential of [ab]\.[np]; connect a Ground or a Capacitor there",
        ),
        (
            ["a.p - b.p", "a.n - b.n"],
            {"a": electrical.ConstantVoltage(V=1.0), "b": resistor()},
            r"^nothing determines the potential of a\.p and a\.n; ",
        ),
        (
            ["a.p - ground.p", "ground2.p - a.p", "a.n - b.p", "b.n - ground.p"],
            {"a": electrical.ConstantVoltage(V=1.0), "b": resistor(), "ground2": electrical.Ground()},
            r"ground\d?\.p and ground\d?\.p determine one potential",
        ),
        (
            ["a.p - b.p", "a.n - ground.p", "b.n - ground.p", "b.v - c.u", "c.y - a.v"],
            {"a": electrical.SignalVoltage(), "b": electrical.VoltageSensor(), "c": blocks.Gain(k=0.5)},
            r"^algebraic loop: .*potentials",
        ),
    ],
)
def test_mistakes_are_named(wires, parts, message):
    assembly = wired(*wires, ground=electrical.Ground(), **parts)
    if message is None:
        System.of(assembly)
        return
    with pytest.raises(ModelError, match=message):
        System.of(assembly)


def test_units_of_an_fmu(tmp_path):
    """Voltages, currents, resistances: an importer reads their units as products of base units."""
    import fmpy

    import mbfmu

    assembly = wired(
        *loop("source", "r", "c", "l"),
        source=electrical.ConstantVoltage(V=1.0),
        r=resistor(),
        c=electrical.Capacitor(C=1.0),
        l=electrical.Inductor(L=1.0),
        ground=electrical.Ground(),
    )
    fmu = mbfmu.build(assembly, tmp_path / "circuit.fmu", target="python")
    description = fmpy.read_model_description(str(fmu))
    units = {v.name: v.unit for v in description.modelVariables}
    found = {n: units[n] for n in ("r.R", "c.C", "l.L", "c.v", "l.i", "r.p.v", "r.p.i", "r.LossPower")}
    assert list(found.values()) == ["Ohm", "F", "H", "V", "A", "V", "A", "W"]
    assert {"Ohm", "F", "H", "V", "A"} <= {unit.name for unit in description.unitDefinitions}
