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


@pytest.mark.slow
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
    slopes = np.diff(np.log(np.maximum(result["c.v"], 1e-9)))[discharging[1:] & discharging[:-1]] / 2e-4
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
    "Exponentials": ({"riseTime": 0.4, "riseTimeConst": 0.1, "fallTimeConst": 0.2}, "outMax", blocks.Exponentials),
    "Pulse": ({"period": 0.3, "width": 40.0}, "amplitude", blocks.Pulse),
    "SawTooth": ({"period": 0.3}, "amplitude", blocks.SawTooth),
    "Trapezoid": (
        {"period": 0.5, "rising": 0.1, "width": 0.2, "falling": 0.05, "nperiod": -1},
        "amplitude",
        blocks.Trapezoid,
    ),
}


@pytest.mark.slow
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
        (  # both sides of the gyrator need each other, and one of them stands on the ground
            ["a.p - b.p", "b.n - x.p1", "a.n - ground.p", "x.n1 - ground.p", "x.p2 - c.p", "c.n - d.p", "d.n - x.n2"],
            {
                "a": electrical.ConstantVoltage(V=1.0),
                **{name: electrical.Conductor(G=2.0) for name in "bcd"},
                "x": electrical.Gyrator(G1=1.0, G2=2.0),
            },
            r"^nothing determines the potential of x\.p2 and c\.n and d\.n; ",
        ),
        (
            ["a.p - ground.p", "ground2.p - a.p", "a.n - b.p", "b.n - ground.p"],
            {"a": electrical.ConstantVoltage(V=1.0), "b": resistor(), "ground2": electrical.Ground()},
            r"ground\d?\.p and ground\d?\.p determine one potential",
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
    fmu = mbfmu.build(assembly, tmp_path / "circuit.fmu", equations="interpreted")
    description = fmpy.read_model_description(str(fmu))
    units = {v.name: v.unit or v.declaredType.unit for v in description.modelVariables if v.type == "Real"}
    found = {n: units[n] for n in ("r.R", "c.C", "l.L", "c.v", "l.i", "r.p.v", "r.p.i", "r.LossPower")}
    assert list(found.values()) == ["Ohm", "F", "H", "V", "A", "V", "A", "W"]
    assert {"Ohm", "F", "H", "V", "A"} <= {unit.name for unit in description.unitDefinitions}


# -- switches, thyristors, limited amplifiers, transformers


@pytest.mark.slow
@pytest.mark.parametrize(("name", "end"), [("IdealThyristor", 0.5), ("IdealGTOThyristor", 0.25)])
def test_a_thyristor_conducts_from_its_firing_on(name, end):
    """10 sin(2 pi t) V on 2 Ohm, fired for 0.05 s at 0.2 s of each period: until its current ends, or its firing."""
    result = run(
        *loop("source", "r", "valve"),
        "fire.y - valve.fire",
        source=electrical.SineVoltage(V=10.0, f=1.0),
        r=resistor(2.0),
        fire=blocks.BooleanPulse(period=1.0, width=5.0, startTime=0.2),
        valve=getattr(electrical, name)(Goff=0.0),
        ground=electrical.Ground(),
        stop=2.0,
        step=0.013,
    )
    phase = np.asarray(result.time) % 1.0
    expected = np.where((phase > 0.2) & (phase < end), 5 * np.sin(2 * np.pi * phase), 0.0)
    np.testing.assert_allclose(result["r.i"], expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_triac_passes_both_directions():
    """Fired all the time, it takes its knee off the voltage of either sign; its filter is next to nothing here."""
    result = run(
        *loop("source", "r", "triac"),
        "on.y - triac.fire1",
        source=electrical.SineVoltage(V=10.0, f=1.0),
        r=resistor(2.0),
        on=blocks.BooleanConstant(k=True),
        triac=electrical.IdealTriac(Vknee=0.8, Goff=0.0, Rdis=1e9, Cdis=1e-6),
        ground=electrical.Ground(),
        stop=2.0,
        step=0.017,
    )
    v = 10 * np.sin(2 * np.pi * np.asarray(result.time))
    expected = np.sign(v) * np.maximum(np.abs(v) - 0.8, 0) / 2
    np.testing.assert_allclose(result["r.i"], expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("by_pin", [False, True])
def test_controlled_switches(by_pin):
    """A ramp passes the level 0.5 at 0.5 s: what is closed then opens, and the reverse."""
    names = ["IdealOpeningSwitch", "IdealClosingSwitch", "IdealCommutingSwitch"]
    switches = [getattr(electrical, f"Controlled{name}" if by_pin else name)(Goff=0.0) for name in names]
    control = ["ramp.p - {0}.control"] if by_pin else ["high.y - {0}.control"]
    result = run(
        "source.n - ground.p",
        "source.p - a.p",
        "source.p - b.p",
        "source.p - c.p",
        "a.n - ra.p",
        "b.n - rb.p",
        "c.n1 - r1.p",
        "c.n2 - r2.p",
        *(f"{r}.n - ground.p" for r in ("ra", "rb", "r1", "r2")),
        *(wire.format(name) for name in "abc" for wire in control),
        *(["ramp.n - ground.p"] if by_pin else ["level.y - high.u"]),
        source=electrical.ConstantVoltage(V=6.0),
        **({"ramp": electrical.RampVoltage(V=1.0, duration=1.0)} if by_pin else {}),
        **({} if by_pin else {"level": blocks.Ramp(duration=1.0), "high": blocks.RealToBoolean()}),
        a=switches[0],
        b=switches[1],
        c=switches[2],
        **{r: resistor(2.0) for r in ("ra", "rb", "r1", "r2")},
        ground=electrical.Ground(),
        step=0.03,
    )
    late = np.asarray(result.time) > 0.5
    for name, closed in (("ra", ~late), ("rb", late), ("r1", ~late), ("r2", late)):
        np.testing.assert_allclose(result[f"{name}.i"], 3.0 * closed, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("by_pin", [False, True])
def test_an_intermediate_switch_crosses_two_lines(by_pin):
    switch = electrical.ControlledIdealIntermediateSwitch if by_pin else electrical.IdealIntermediateSwitch
    control = ["ramp.p - s.control", "ramp.n - ground.p"] if by_pin else ["level.y - high.u", "high.y - s.control"]
    extra = {"ramp": electrical.RampVoltage(V=1.0, duration=1.0)}
    if not by_pin:
        extra = {"level": blocks.Ramp(duration=1.0), "high": blocks.RealToBoolean()}
    result = run(
        "one.p - s.p1",
        "two.p - s.p2",
        "s.n1 - a.p",
        "s.n2 - b.p",
        *(f"{name}.n - ground.p" for name in ("one", "two", "a", "b")),
        *control,
        one=electrical.ConstantVoltage(V=4.0),
        two=electrical.ConstantVoltage(V=10.0),
        a=resistor(2.0),
        b=resistor(2.0),
        s=switch(Goff=0.0),
        ground=electrical.Ground(),
        **extra,
        step=0.03,
    )
    late = np.asarray(result.time) > 0.5
    np.testing.assert_allclose(result["a.i"], np.where(late, 5.0, 2.0), atol=1e-4)
    np.testing.assert_allclose(result["b.i"], np.where(late, 2.0, 5.0), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize(
    ("name", "pins"),
    [("IdealCommutingSwitch", ("p", "n1", "n2")), ("IdealIntermediateSwitch", ("p1", "p2", "n1", "n2"))],
)
def test_switches_heat_by_all_that_flows_in_and_not_out(name, pins, on):
    """Of each way through them, closed or not."""
    voltages = {f"v_{pin}": electrical.ConstantVoltage(V=3.0 + 4.0 * i) for i, pin in enumerate(pins)}
    result = run(
        *(f"v_{pin}.n - ground.p" for pin in pins),
        *(f"v_{pin}.p - r_{pin}.p" for pin in pins),
        *(f"r_{pin}.n - s.{pin}" for pin in pins),
        "on.y - s.control",
        **voltages,
        **{f"r_{pin}": resistor(2.0) for pin in pins},
        on=blocks.BooleanConstant(k=on),
        s=getattr(electrical, name)(Ron=0.5, Goff=0.1),
        ground=electrical.Ground(),
        stop=0.1,
    )
    flows = sum(result[f"s.{pin}.v"] * result[f"s.{pin}.i"] for pin in pins)
    assert flows[0] > 0.5
    np.testing.assert_allclose(result["s.LossPower"], flows, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("magnetized", [False, True])
def test_an_ideal_transformer(magnetized):
    """n = 4: v2 = v1 / 4, i1 = -i2 / 4; magnetized, i1 has the integral of v1 over Lm1 beside."""
    result = run(
        "source.p - t.p1",
        "source.n - ground.p",
        "t.n1 - ground.p",
        "t.p2 - r.p",
        "t.n2 - ground.p",
        "r.n - ground.p",
        source=electrical.CosineVoltage(V=8.0, f=1.0),
        t=electrical.IdealTransformer(n=4.0, considerMagnetization=magnetized, Lm1=0.5),
        r=resistor(0.1),
        ground=electrical.Ground(),
    )
    time = np.asarray(result.time)
    current = 20 * np.cos(2 * np.pi * time)
    np.testing.assert_allclose(result["r.i"], current, atol=1e-9)
    extra = 8 * np.sin(2 * np.pi * time) / (2 * np.pi) / 0.5 if magnetized else 0.0
    np.testing.assert_allclose(result["t.i1"], current / 4 + extra, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ideal", "idealized", "with supply"])
def test_an_inverting_amplifier_saturates(kind):
    """-R2/R1 times the input, between the supply voltages."""
    supply = ["up.p - a.{}", "down.p - a.{}", "up.n - ground.p", "down.n - ground.p"]
    if kind == "ideal":
        amplifier, pins = electrical.IdealOpAmpLimited(), ("VMax", "VMin")
    else:
        amplifier = electrical.IdealizedOpAmpLimited(V0=1e9, useSupply=kind == "with supply", Vps=5.0, Vns=-5.0)
        pins = ("s_p", "s_n")
    wires = [] if kind == "idealized" else [wire.format(pin) for wire, pin in zip(supply, (*pins, "", ""), strict=True)]
    sources = {"up": electrical.ConstantVoltage(V=5.0), "down": electrical.ConstantVoltage(V=-5.0)} if wires else {}
    result = run(
        "source.p - r1.p",
        "r1.n - a.in_n",
        "r2.p - a.in_n",
        "r2.n - a.out",
        "source.n - ground.p",
        "a.in_p - ground.p",
        *wires,
        source=electrical.SineVoltage(V=2.0, f=1.0),
        r1=resistor(1e3),
        r2=resistor(4e3),
        a=amplifier,
        ground=electrical.Ground(),
        **sources,
        step=0.017,
    )
    wanted = np.clip(-8 * np.sin(2 * np.pi * np.asarray(result.time)), -5, 5)
    np.testing.assert_allclose(result["a.out.v"], wanted, atol=1e-6)
    if kind == "with supply":  # what it takes from its supply, it gives to the circuit
        np.testing.assert_allclose(result["a.i_s"] * 10.0, -result["a.out.v"] * result["a.out.i"], atol=1e-12)


def test_a_variable_capacitor_keeps_its_charge():
    """Charged through R by 1 V while its capacitance grows: R Q' = 1 - Q / C, with the integrating factor C^(1/RC')."""
    R, C0, rate = 2.0, 0.5, 0.25
    result = run(
        *loop("source", "r", "c"),
        "ramp.y - c.C",
        source=electrical.ConstantVoltage(V=1.0),
        r=resistor(R),
        ramp=blocks.Ramp(height=rate, duration=1.0, offset=C0),
        c=electrical.VariableCapacitor(UIC=True, IC=3.0),
        ground=electrical.Ground(),
    )
    C = C0 + rate * np.asarray(result.time)
    power = 1 / (R * rate)
    Q = (C ** (power + 1) - C0 ** (power + 1)) / (R * rate * (power + 1)) / C**power + 3.0 * C0 * (C0 / C) ** power
    np.testing.assert_allclose(result["c.v"], Q / C, atol=1e-8)


def test_a_variable_inductor_keeps_its_flux():
    """Shorted by R, with an inductance that grows: Psi' = -R Psi / L."""
    R, L0, rate = 2.0, 0.5, 1.0
    result = run(
        "r.p - l.p",
        "r.n - l.n",
        "r.n - ground.p",
        "ramp.y - l.L",
        r=resistor(R),
        ramp=blocks.Ramp(height=rate, duration=1.0, offset=L0),
        l=electrical.VariableInductor(UIC=True, IC=3.0),
        ground=electrical.Ground(),
    )
    L = L0 + rate * np.asarray(result.time)
    np.testing.assert_allclose(result["l.i"], 3.0 * L0 * (L0 / L) ** (R / rate) / L, atol=1e-8)


def test_a_potentiometer_divides():
    result = run(
        "source.p - pot.pin_p",
        "source.n - pot.pin_n",
        "source.n - ground.p",
        "ramp.y - pot.r",
        "pot.contact - s.p",
        source=electrical.ConstantVoltage(V=12.0),
        pot=electrical.Potentiometer(R=100.0, useRinput=True),
        ramp=blocks.Ramp(height=1.5, duration=1.0, offset=-0.25),
        s=electrical.PotentialSensor(),
        ground=electrical.Ground(),
    )
    place = np.clip(-0.25 + 1.5 * np.asarray(result.time), 0, 1)
    np.testing.assert_allclose(result["s.phi"], 12 * place, atol=1e-9)
    np.testing.assert_allclose(result["pot.LossPower"], 1.44, atol=1e-9)


@pytest.mark.parametrize(("name", "wave"), [("Sine", np.sin), ("Cosine", np.cos)])
def test_sources_of_variable_frequency(name, wave):
    """A frequency that rises from 1 Hz by 2 Hz/s: the phase is 2 pi (t + t^2); the amplitude is 3 t."""
    end = "VariableFrequencyAndAmplitude"
    result = run(
        "ramp.y - v.f",
        "high.y - v.V",
        "high.y - i.I",
        "v.p - rv.p",
        "i.p - ri.p",
        *(f"{part}.n - ground.p" for part in ("v", "i", "rv", "ri")),
        ramp=blocks.Ramp(height=2.0, duration=1.0, offset=1.0),
        high=blocks.Ramp(height=3.0, duration=1.0),
        v=getattr(electrical, f"{name}Voltage{end}")(offset=0.5, phi=FIXED),
        i=getattr(electrical, f"{name}Current{end}")(useConstantFrequency=True, constantFrequency=2.0, phi=FIXED),
        rv=resistor(1.0),
        ri=resistor(1.0),
        ground=electrical.Ground(),
    )
    t = np.asarray(result.time)
    np.testing.assert_allclose(result["rv.v"], 0.5 + 3 * t * wave(2 * np.pi * (t + t**2)), atol=1e-7)
    np.testing.assert_allclose(result["ri.i"], -3 * t * wave(4 * np.pi * t), atol=1e-7)


def test_a_supply_has_two_voltages():
    result = run(
        "supply.ground - ground.p",
        "supply.pin_p - a.p",
        "supply.pin_n - b.p",
        "a.n - ground.p",
        "b.n - ground.p",
        supply=electrical.SupplyVoltage(Vps=9.0, Vns=-6.0),
        a=resistor(3.0),
        b=resistor(3.0),
        ground=electrical.Ground(),
    )
    np.testing.assert_allclose(result["a.i"], 3.0)
    np.testing.assert_allclose(result["b.i"], -2.0)


@pytest.mark.slow
@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_an_arc_burns_until_its_current_ends(direction):
    """Where the arc has 1.5 times the source's voltage, i = i0 (1.5 exp(-R t / L) - 0.5), which ends at L / R ln 3."""
    V, R, L = 100.0 * direction, 10.0, 0.05
    result = run(
        *loop("source", "switch", "r", "l"),
        "opens.y - switch.control",
        opens=blocks.BooleanStep(startTime=0.1),
        source=electrical.ConstantVoltage(V=V),
        switch=electrical.OpenerWithArc(V0=150.0, dVdt=1.0, Vmax=150.0),
        r=resistor(R),
        l=electrical.Inductor(L=L, i=Start(V / R, fixed=True)),
        ground=electrical.Ground(),
        stop=0.12,
        step=1e-4,
    )
    t = result.time - 0.1
    burns, ended = (t > 0) & (t < 0.99 * L / R * math.log(3)), t > 1.01 * L / R * math.log(3) + 1e-4
    np.testing.assert_allclose(result["l.i"][burns], V / R * (1.5 * np.exp(-R / L * t[burns]) - 0.5), atol=2e-4)
    np.testing.assert_allclose(result["switch.v"][burns], 150.0 * direction, rtol=1e-12)
    np.testing.assert_allclose(result["switch.quenched"][ended], 1.0)
    np.testing.assert_allclose(result["l.i"][ended], V * 1e-5, rtol=1e-3)


def test_the_voltage_of_an_arc_grows():
    result = run(
        *loop("source", "r", "switch"),
        "source.p - switch.control",
        source=electrical.RampVoltage(V=200.0, duration=1.0),
        switch=electrical.ControlledOpenerWithArc(level=100.0, V0=30.0, dVdt=200.0, Vmax=50.0),
        r=resistor(5.0),
        ground=electrical.Ground(),
        step=0.05,
    )
    t = result.time
    np.testing.assert_allclose(result["switch.v"][t > 0.51], np.minimum(50.0, 30.0 + 200.0 * (t[t > 0.51] - 0.5)))
    np.testing.assert_allclose(result["r.i"][t > 0.51], (200.0 * t - result["switch.v"])[t > 0.51] / 5.0, rtol=1e-9)


def test_an_inductor_saturates():
    """The flux is the integral of the voltage; at the nominal current the inductance is the nominal one."""
    result = run(
        *loop("source", "l"),
        source=electrical.ConstantVoltage(V=0.04),
        l=electrical.SaturatingInductor(Inom=1.0, Lnom=0.04, Lzer=0.08, Linf=0.02, i=FIXED),
        ground=electrical.Ground(),
        stop=2.0,
        step=0.5,
    )
    i, saturation = result["l.i"], result["l.Ipar"]
    np.testing.assert_allclose(saturation * (math.pi / 2 - np.arctan(saturation)), 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(result["l.Psi"], 0.04 * result.time, atol=1e-9)
    np.testing.assert_allclose(0.02 * i + 0.06 * saturation * np.arctan(i / saturation), 0.04 * result.time, atol=1e-9)
    np.testing.assert_allclose(result["l.Lact"][0], 0.08)


def test_tables_of_voltage_and_current():
    result = run(
        *loop("source", "r"),
        "ground.p - current.p",
        "current.n - other.p",
        "other.n - ground.p",
        source=electrical.TableVoltage(offset=1.0, startTime=0.5),
        current=electrical.TableCurrent(table=((0.0, 0.0), (1.0, 1.0))),
        r=resistor(2.0),
        other=resistor(3.0),
        ground=electrical.Ground(),
        stop=3.0,
        step=0.25,
    )
    t = result.time
    np.testing.assert_allclose(result["source.v"], 1.0 + np.interp(t - 0.5, [0, 1, 2, 3], [0, 1, 4, 7]), atol=1e-12)
    np.testing.assert_allclose(result["source.i"], -result["source.v"] / 2.0, atol=1e-12)
    np.testing.assert_allclose(result["other.v"], 3.0 * t, atol=1e-12)
