"""Semiconductors: their laws, written down once more with NumPy, alone and behind resistors."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from scipy.optimize import brentq
from wiring import run

from mbfmu.components import blocks, electrical, thermal
from mbfmu.errors import ModelError
from mbfmu.importers.modelica import load
from mbfmu.modeling import Component, NetworkVariable, Start, Variable
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate

#: Boltzmann's constant and the charge of an electron.
K, Q = 1.380649e-23, 1.602176634e-19


def continued(x: np.ndarray, most: float) -> np.ndarray:
    return np.where(x > most, np.exp(most) * (1 + x - most), np.exp(np.minimum(x, most)))


def diode(v, Ids=1e-6, Vt=0.04, Maxexp=15.0, R=1e8):
    return Ids * (continued(v / Vt, Maxexp) - 1) + v / R


def warm_diode(v, T, Ids=1e-6, Maxexp=15.0, R=1e8, EG=1.11, N=1.0, TNOM=300.15, XTI=3.0):
    vt = K * T / Q
    growth = (T / TNOM) ** (XTI / N) * np.exp((T / TNOM - 1) * EG / (N * vt))
    return Ids * (continued(v / (N * vt), Maxexp) - 1) * growth + v / R


def zener(v, Ids=1e-6, Vt=0.04, Maxexp=30.0, R=1e8, Bv=5.1, Ibv=0.7, Nbv=0.74):
    x, y = v / Vt, -(v + Bv) / (Nbv * Vt)
    if x > Maxexp:
        return Ids * (np.exp(Maxexp) * (1 + x - Maxexp) - 1) + v / R
    if y > Maxexp:
        return -Ids - Ibv * np.exp(Maxexp) * (1 + y - Maxexp) + v / R
    return Ids * np.expm1(x) - Ibv * np.exp(y) + v / R


def junction(vd, T=293.15, Vf=0.7, Ids=1e-13, N=1.0, Bv=100.0):
    vt = N * K * T / Q
    knee = Vf + vt
    if vd < -Bv / 2:
        return -Ids * (np.exp(-(vd + Bv) / vt) + 1 - 2 * np.exp(-Bv / (2 * vt)))
    if vd < knee:
        return Ids * np.expm1(vd / vt)
    return Ids * (np.expm1(knee / vt) + np.exp(knee / vt) / vt * (vd - knee))


def improved(v, Rs=16.0, Gp=1e-6, **law):
    low = -law.get("Bv", 100.0) - 3.0
    vd = brentq(lambda vd: vd + junction(vd, **law) * Rs - v, min(v, low), max(v, 1.0), xtol=1e-14, rtol=1e-15)
    return junction(vd, **law) + v * Gp


def swept(part: Component, low: float, high: float, *connections: str, **others: Component):
    """The voltage at a part, from low to high, and the current through it."""
    result = run(
        "source.p - part.p", "source.n - part.n", "source.n - ground.p", *connections,
        source=electrical.RampVoltage(offset=low, V=high - low, duration=1.0), part=part, ground=electrical.Ground(),
        **others,
    )  # fmt: skip
    if hasattr(part, "LossPower"):
        power = result["part.v"] * result["part.i"]
        np.testing.assert_allclose(result["part.LossPower"], power, rtol=1e-12, atol=1e-12)
    return result["part.v"], result["part.i"]


@pytest.mark.parametrize("law", [{}, {"Ids": 1e-9, "Vt": 0.025, "Maxexp": 30.0, "R": 1e3}], ids=str)
def test_a_diode_conducts_as_an_exponential_function_up_to_its_tangent(law):
    v, i = swept(electrical.Diode(**law), -2.0, 1.0)
    np.testing.assert_allclose(i, diode(v, **law), rtol=1e-11, atol=1e-20)
    assert v[-1] > law.get("Maxexp", 15.0) * law.get("Vt", 0.04)


@pytest.mark.slow
@pytest.mark.parametrize("cls", [electrical.Diode, electrical.HeatingDiode])
def test_a_diode_conducts_more_when_it_is_warm(cls):
    """By its own T, and by that of what it is mounted on, which takes its heat."""
    law = {"EG": 1.0, "N": 1.2, "XTI": 2.5, "TNOM": 290.0}
    use = {} if cls is electrical.HeatingDiode else {"useTemperatureDependency": True}
    v, i = swept(cls(T=330.0, useHeatPort=False, **law, **use), -1.0, 0.8)
    np.testing.assert_allclose(i, warm_diode(v, 330.0, **law), rtol=1e-11, atol=1e-20)
    v, i = swept(cls(**law, **use), -1.0, 0.8, "part.heatPort - bath.port", bath=thermal.FixedTemperature(T=360.0))
    np.testing.assert_allclose(i, warm_diode(v, 360.0, **law), rtol=1e-11, atol=1e-20)


def test_a_zener_diode_breaks_through():
    v, i = swept(electrical.ZDiode(), -7.0, 1.5)
    np.testing.assert_allclose(i, [zener(each) for each in v], rtol=1e-10, atol=1e-18)
    law = {"Ids": 1e-8, "Vt": 0.03, "Maxexp": 12.0, "R": 1e5, "Bv": 1.2, "Ibv": 0.2, "Nbv": 1.1}
    v, i = swept(electrical.ZDiode(**law), -2.5, 1.0)
    np.testing.assert_allclose(i, [zener(each, **law) for each in v], rtol=1e-10, atol=1e-18)


@pytest.mark.parametrize("law", [{}, {"Vf": 0.5, "Ids": 1e-9, "N": 1.5, "Bv": 4.0}], ids=str)
def test_an_improved_diode_has_a_resistance_and_a_breakdown(law):
    v, i = swept(electrical.Diode2(**law), -law.get("Bv", 100.0) - 2.0, 3.0)
    np.testing.assert_allclose(i, [improved(each, **law) for each in v], rtol=1e-9, atol=1e-16)


@pytest.mark.slow
def test_an_improved_diode_knows_its_temperature_or_its_voltage():
    v, i = swept(electrical.Diode2(T=320.0), -1.0, 2.0)
    np.testing.assert_allclose(i, [improved(each, T=320.0) for each in v], rtol=1e-9, atol=1e-16)
    v, i = swept(electrical.Diode2(Vt=K * 400.0 / Q), -1.0, 2.0)
    np.testing.assert_allclose(i, [improved(each, T=400.0) for each in v], rtol=1e-9, atol=1e-16)
    mount = thermal.FixedTemperature(T=350.0)
    v, i = swept(electrical.Diode2(useHeatPort=True), -1.0, 2.0, "part.heatPort - bath.port", bath=mount)
    np.testing.assert_allclose(i, [improved(each, T=350.0) for each in v], rtol=1e-9, atol=1e-16)


@pytest.mark.slow
def test_a_diode_heats_what_it_is_mounted_on():
    """Self-heating behind a resistor: m c dT/dt = v i(v, T), where (V - v) / R = i(v, T); by 4th-order Runge-Kutta."""
    V, R, C = 5.0, 10.0, 0.05

    def power(T):
        v = brentq(lambda v: (V - v) / R - warm_diode(v, T), 0.0, V, xtol=1e-15)
        return v * warm_diode(v, T)

    T, h = 293.15, 1e-2
    for _ in range(100):
        a = power(T) / C
        b = power(T + h / 2 * a) / C
        c = power(T + h / 2 * b) / C
        d = power(T + h * c) / C
        T += h / 6 * (a + 2 * b + 2 * c + d)
    result = run(
        "source.p - r.p", "r.n - d.p", "d.n - source.n", "source.n - ground.p", "d.heatPort - mass.port",
        source=electrical.ConstantVoltage(V=V), r=electrical.Resistor(R=R), ground=electrical.Ground(),
        d=electrical.Diode(useTemperatureDependency=True), mass=thermal.HeatCapacitor(C=C, T=Start(293.15, fixed=True)),
    )  # fmt: skip
    assert result["mass.T"][-1] == pytest.approx(T, rel=1e-9)
    assert T > 295.0


def test_what_cannot_be_is_refused():
    with pytest.raises(ModelError, match="Vt"):
        electrical.Diode(Vt=0.0)
    with pytest.raises(ModelError, match="Bv"):
        electrical.Diode2(Bv=-1.0)
    with pytest.raises(ModelError, match="heatPort"):
        swept(electrical.HeatingDiode(), -1.0, 1.0)


def nmos(D, G, S, B, beta=0.041e-3, Vt=0.8, K2=1.144, K5=0.7311, W=20e-6, L=6e-6, dW=-2.5e-6, dL=-1.5e-6):
    if D < S:
        return -nmos(S, G, D, B, beta, Vt, K2, K5, W, L, dW, dL)
    v, uds, ubs = beta * (W + dW) / (L + dL), D - S, min(B - S, 0.0)
    ugst = (G - S - Vt + K2 * ubs) * K5
    if ugst <= 0:
        return uds * 1e-7
    if ugst > uds:
        return v * uds * (ugst - uds / 2) + uds * 1e-7
    return v * ugst**2 / 2 + uds * 1e-7


def pmos(D, G, S, B, beta=0.0105e-3, Vt=-1.0, K2=0.41, K5=0.839):
    return -nmos(-D, -G, -S, -B, beta, -Vt, K2, K5, dL=-2.1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize(
    ("cls", "law", "fits"),
    [(electrical.NMOS, nmos, (0.041e-3, 0.8, 1.144, -6.96e-3, 6e-4)),
     (electrical.PMOS, pmos, (0.0105e-3, -1.0, 0.41, -2.9e-3, 6.2e-4))],
)  # fmt: skip
def test_a_transistor_is_opened_by_its_gate(cls, law, fits, warm):
    """Drain and gate move, source and bulk keep other voltages than the ground."""
    beta, Vt, K2, kvt, kk2 = fits
    T, places = 340.0, {"D": (4.0, 3.0), "G": (5.0, 7.0)}
    moved = {name: electrical.SineVoltage(V=V, f=f) for name, (V, f) in places.items()}
    kept = {"S": electrical.ConstantVoltage(V=0.3), "B": electrical.ConstantVoltage(V=-0.4)}
    result = run(
        *(f"{name}.p - m.{name}" for name in "DGSB"), *(f"{name}.n - ground.p" for name in "DGSB"),
        **moved, **kept, m=cls(useTemperatureDependency=warm, useHeatPort=False, T=T), ground=electrical.Ground(),
    )  # fmt: skip
    if warm:
        given = {"beta": beta * (T / 300.15) ** -1.5, "Vt": Vt * (1 + (T - 300.15) * kvt)}
        given["K2"] = K2 * (1 + (T - 300.15) * kk2)
    else:
        given = {}
    pins = [result[f"{name}.v"] for name in "DGSB"]
    wanted = np.array([law(*each, **given) for each in zip(*pins, strict=True)])
    np.testing.assert_allclose(result["m.D.i"], wanted, rtol=1e-11, atol=1e-18)
    np.testing.assert_allclose(result["m.S.i"], -wanted, rtol=1e-11, atol=1e-18)
    np.testing.assert_allclose(result["m.LossPower"], wanted * (pins[0] - pins[2]), rtol=1e-11, atol=1e-18)
    assert not np.any(result["m.G.i"])
    assert np.ptp(wanted) > 1e-5


def test_an_inverter_of_two_transistors_switches():
    """Its output, where both currents meet, goes from one supply to the other; by bisection."""
    result = run(
        "supply.n - ground.p", "source.n - ground.p", "supply.p - up.S", "up.S - up.B", "up.D - down.D",
        "down.S - ground.p", "down.B - ground.p", "source.p - up.G", "source.p - down.G", "down.D - load.p",
        "load.n - ground.p",
        supply=electrical.ConstantVoltage(V=5.0), source=electrical.RampVoltage(V=5.0, duration=1.0),
        up=electrical.PMOS(), down=electrical.NMOS(), load=electrical.Resistor(R=1e7), ground=electrical.Ground(),
    )  # fmt: skip
    for v, out in zip(result["source.v"], result["down.D.v"], strict=True):
        wanted = brentq(lambda x, v=v: pmos(x, v, 5, 5) + nmos(x, v, 0, 0) + x / 1e7, -1, 6, xtol=1e-15, rtol=1e-15)
        assert out == pytest.approx(wanted, abs=1e-11)
    assert result["down.D.v"][0] > 4.5
    assert result["down.D.v"][-1] < 0.3


@pytest.mark.parametrize("slope", [50.0, -50.0])
def test_an_amplifier_is_limited_smoothly(slope):
    """An inverting amplifier: out = 2 + f / (1 + |f| / 10), f = 50 vin, and (in - n) / 1 = (n - out) / 4."""
    names = ("high", "low", "source")
    result = run(
        *(f"{name}.n - ground.p" for name in names), "amplifier.in_p - ground.p", "source.p - a.p",
        "a.n - amplifier.in_n", "amplifier.in_n - b.p", "b.n - amplifier.out", "high.p - amplifier.VMax",
        "low.p - amplifier.VMin",
        high=electrical.ConstantVoltage(V=12.0), low=electrical.ConstantVoltage(V=-8.0),
        source=electrical.SineVoltage(V=6.0, f=1.0), amplifier=electrical.OpAmp(Slope=slope),
        a=electrical.Resistor(R=1.0), b=electrical.Resistor(R=4.0), ground=electrical.Ground(),
    )  # fmt: skip

    def output(v):
        def gap(out):
            free = -50 * (4 * v + out) / 5
            return out - 2 - free / (1 + abs(free) / 10)

        return brentq(gap, -9.0, 13.0, xtol=1e-14)

    wanted = [output(v) for v in result["source.v"]]
    np.testing.assert_allclose(result["amplifier.out.v"], wanted, atol=1e-12)
    assert np.ptp(wanted) > 15.0


@pytest.mark.slow
def test_models_of_modelica_have_semiconductors(tmp_path: pathlib.Path):
    """A bridge of the four kinds, each behind a resistor of its own, read as Modelica writes it."""
    kinds = {"d": "Diode", "d2": "Diode2", "z": "ZDiode", "h": "HeatingDiode"}
    lines = [
        f"Modelica.Electrical.Analog.Semiconductors.{kind} {name}"
        + {"d": "(Ids=1e-9, Vt=0.026)", "h": "(useHeatPort=false, T=310)"}.get(name, "")
        + f"; Modelica.Electrical.Analog.Basic.Resistor r_{name}(R=50);"
        for name, kind in kinds.items()
    ]
    wires = [
        f"connect(source.p, r_{n}.p); connect(r_{n}.n, {n}.p); connect({n}.n, source.n);" for n in kinds
    ]  # fmt: skip
    path = tmp_path / "Bench.mo"
    path.write_text(
        "model Bench\n"
        "Modelica.Electrical.Analog.Sources.SineVoltage source(V=8, f=1);\n"
        "Modelica.Electrical.Analog.Basic.Ground ground;\n" + "\n".join(lines) + "\nequation\n"
        "connect(source.n, ground.p);\n" + "\n".join(wires) + "\nend Bench;\n"
    )
    result = simulate(load(path), 1.0, interval=0.05)
    laws = {
        "d": lambda v: diode(v, Ids=1e-9, Vt=0.026),
        "d2": improved,
        "z": zener,
        "h": lambda v: warm_diode(v, 310.0),
    }
    for name, law in laws.items():
        for v, i in zip(result["source.v"], result[f"{name}.i"], strict=True):
            at = brentq(lambda x, v=v, law=law: (v - x) / 50 - law(x), -9.0, 9.0, xtol=1e-15)
            assert i == pytest.approx((v - at) / 50, abs=1e-11), name


@pytest.mark.parametrize(
    ("cls", "given", "words"),
    [
        (electrical.ZDiode, {"Bv": -5.1}, "Bv = -5.1: must be >= 1e-60 V"),
        (electrical.Diode, {"Maxexp": 1e300}, "Maxexp = 1e.300: must be <= 700"),
        (electrical.ZDiode, {"Maxexp": 1e300}, "Maxexp = 1e.300: must be <= 700"),
    ],
)
def test_parameters_that_no_law_can_have_are_refused(cls, given, words):
    with pytest.raises(ModelError, match=words):
        cls(**given)


class _Differentiating(electrical.Resistor):
    """A resistor that tells how quickly its current and the voltage of its pin change."""

    modelica_name = None

    rate_of_current = Variable(t.Real, "Rate of the current")
    rate_of_voltage = Variable(t.Real, "Rate of the potential")

    def equations(self) -> None:
        super().equations()
        self.rate_of_current, self.rate_of_voltage = self.der(self.p.i), self.der(self.p.v)


def test_what_a_diode_lets_through_has_derivatives():
    R = 10.0
    result = run(
        *("source.p - diode.p", "diode.n - load.p", "load.n - source.n", "ground.p - source.n"),
        *("load.p - sensor.p", "sensor.phi - der.u"),
        source=electrical.SineVoltage(V=1.0, f=1.0),
        diode=electrical.Diode(),
        load=_Differentiating(R=R),
        ground=electrical.Ground(),
        sensor=electrical.PotentialSensor(),
        der=blocks.Der(),
        stop=1.0,
        step=0.01,
    )
    time, current = result.time, result["load.p.i"]
    drop = np.sin(2 * np.pi * time) - R * current
    steepness = np.where(drop / 0.04 > 15, np.exp(15), np.exp(np.minimum(drop / 0.04, 15))) * 1e-6 / 0.04 + 1e-8
    expected = steepness * 2 * np.pi * np.cos(2 * np.pi * time) / (1 + R * steepness)
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(result["load.rate_of_current"], expected, atol=1e-9)
    np.testing.assert_allclose(result["load.rate_of_voltage"], R * expected, atol=1e-8)
    np.testing.assert_allclose(result["der.y"], R * expected, atol=1e-8)


def test_a_derivative_that_gives_what_it_is_of_is_refused_by_name():
    with pytest.raises(ModelError, match=r"s\.p: the equations need its derivative to find it; give it a state"):
        run(
            *("source.p - diode.p", "diode.n - load.p", "load.n - source.n", "ground.p - source.n"),
            *("load.p - s.p", "s.phi - der.u", "der.y - feed.i", "feed.n - load.p", "feed.p - ground.p"),
            source=electrical.ConstantVoltage(V=1.0),
            diode=electrical.Diode(),
            load=electrical.Resistor(R=1.0),
            ground=electrical.Ground(),
            s=electrical.PotentialSensor(),
            der=blocks.Der(),
            feed=electrical.SignalCurrent(),
            stop=1.0,
        )


def test_what_stands_in_a_row_with_a_diode_is_told_by_the_relations_of_sensors():
    """One after the other, so that what the first one tells knows what the next one does: all follow from the diode."""
    result = run(
        *("source.p - r.p", "r.n - a.p", "a.n - b.p", "b.n - c.p", "c.n - s.p", "s.n - d.p", "d.n - source.n"),
        "source.n - ground.p",
        source=electrical.RampVoltage(offset=-1.0, V=4.0, duration=1.0), r=electrical.Resistor(R=50.0),
        a=electrical.CurrentSensor(), b=electrical.CurrentSensor(), c=electrical.CurrentSensor(),
        s=electrical.Resistor(R=30.0), d=electrical.Diode(), ground=electrical.Ground(),
    )  # fmt: skip
    drops = [brentq(lambda v, V=V: (V - v) / 80 - diode(v), -2.0, 3.0, xtol=1e-15) for V in result["source.v"]]
    np.testing.assert_allclose(result["d.v"], drops, atol=1e-13)
    for sensor in "abc":
        np.testing.assert_allclose(result[f"{sensor}.i"], diode(np.array(drops)), rtol=1e-10, atol=1e-16)
    np.testing.assert_allclose(result["a.p.v"], result["d.v"] + 30 * result["d.i"], atol=1e-12)


class Root(electrical.interfaces.OnePort):
    """Conducts by w, which has the square 4 + v."""

    w = NetworkVariable(t.Voltage, "One of two roots", start=1.0)

    def current(self):
        self.relation(self.w**2 - 4 - self.v)
        return self.w / 100


@pytest.mark.parametrize("start", [1.0, -1.0])
def test_start_values_of_iteration_variables_choose_the_solution(start):
    v, i = swept(Root(w=Start(start)), 0.0, 3.0)
    np.testing.assert_allclose(100 * i, start * np.sqrt(4 + v), rtol=1e-13)


@pytest.mark.slow
def test_a_current_that_is_given_finds_the_voltage_behind_a_diode():
    """5 V over 100 Ohm and a diode into a capacitor: 10 mA at the start, of which the diode keeps its voltage."""
    result = run(
        "source.p - r.p", "r.n - diode.p", "diode.n - c.p", "c.n - source.n", "ground.p - source.n",
        stop=0.01, step=0.01, source=electrical.ConstantVoltage(V=5.0), c=electrical.Capacitor(C=1e-3),
        r=electrical.Resistor(R=100.0, i=Start(0.01, fixed=True)), ground=electrical.Ground(),
        diode=electrical.Diode(Ids=1e-6, Vt=0.04, R=1e8),
    )  # fmt: skip
    drop = brentq(lambda v: 1e-6 * (np.exp(v / 0.04) - 1) + v / 1e8 - 0.01, 0.0, 0.5, xtol=1e-15)
    np.testing.assert_allclose(result["c.v"][0], 5.0 - 1.0 - drop, rtol=1e-9)
    np.testing.assert_allclose(result["diode.v"][0], drop, rtol=1e-9)
