"""Logical blocks, memories, discrete sources and statistics of signals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from drive_blocks import Wave
from wiring import run, wired

from mbfmu.components import blocks
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.simulation import simulate

GATES = {
    "And": lambda a, b: a and b,
    "Or": lambda a, b: a or b,
    "Xor": lambda a, b: a != b,
    "Nand": lambda a, b: not (a and b),
    "Nor": lambda a, b: not (a or b),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", GATES)
def test_truth_tables(name):
    """Two pulses, one twice as fast as the other, pass through all four cases."""
    result = run(
        "a.y - gate.u1",
        "b.y - gate.u2",
        "a.y - many.u[0]",
        "b.y - many.u[1]",
        "a.y - not_a.u",
        a=blocks.BooleanPulse(period=2.0),
        b=blocks.BooleanPulse(period=1.0),
        gate=getattr(blocks, name)(),
        many=getattr(blocks.math_boolean, name)(nu=2),
        not_a=blocks.Not(),
        stop=2.0,
        step=0.1,
    )
    a, b = result["a.y"] > 0.5, result["b.y"] > 0.5
    assert set(zip(a, b, strict=True)) == set(itertools.product([True, False], repeat=2))
    expected = [float(GATES[name](x, y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(result["gate.y"], expected)
    np.testing.assert_array_equal(result["many.y"], expected)
    np.testing.assert_array_equal(result["not_a.y"], (~a).astype(float))


@pytest.mark.parametrize("before", [False, True])
def test_hysteresis_remembers(before):
    """sin rises above 0.5 and falls below -0.3; between them it is as it was before."""
    result = run(
        "s.y - h.u",
        s=Wave(omega=2 * math.pi),
        h=blocks.Hysteresis(uLow=-0.3, uHigh=0.5, pre_y_start=before),
        stop=2.0,
        step=0.001,
    )
    t = result.time
    on = math.asin(0.5) / (2 * math.pi)
    off = (math.pi + math.asin(0.3)) / (2 * math.pi)
    within = np.mod(t, 1.0)
    expected = (within >= on) & (within < off)
    expected |= before & (t < on)
    near = np.minimum(np.abs(within - on), np.abs(within - off)) < 2e-3
    np.testing.assert_array_equal(result["h.y"][~near], expected[~near].astype(float))


def test_an_on_off_controller_heats_within_its_band():
    result = run(
        "target.y - control.reference",
        "room.y - control.u",
        "control.y - on.u",
        "on.y - heat.u1",
        "room.y - heat.u2",
        "heat.y - room.u",
        target=blocks.Constant(k=20.0),
        control=blocks.OnOffController(bandwidth=2.0),
        on=blocks.BooleanToReal(),
        heat=blocks.Add(k1=10.0, k2=-0.2),
        room=blocks.Integrator(y_start=15.0),
        stop=8.0,
        step=0.01,
    )
    settled = result["room.y"][result.time > 2.0]
    assert 19.0 - 1e-6 <= settled.min() < 19.05  # falls by 0.04 in a step
    assert 20.9 < settled.max() <= 21.0 + 1e-6


def test_a_flip_flop_keeps_what_was_set():
    result = run(
        "s.y - f.S",
        "r.y - f.R",
        s=blocks.BooleanTable(table=(0.2, 0.3, 0.7, 0.9)),
        r=blocks.BooleanTable(table=(0.5, 0.55, 0.8, 1.5)),
        f=blocks.RSFlipFlop(),
        step=0.01,
    )
    t = np.round(result.time, 9)
    q = ((t >= 0.2) & (t < 0.5)) | ((t >= 0.7) & (t < 0.8))
    np.testing.assert_array_equal(result["f.Q"], q.astype(float))
    np.testing.assert_array_equal(result["f.QI"], (~q & ~((t >= 0.7) & (t < 0.9))).astype(float))


def test_pre_breaks_a_loop_of_logic():
    """y = not pre(y) or s would chatter; y = pre(y) or s latches."""
    result = run(
        "s.y - o.u1",
        "p.y - o.u2",
        "o.y - p.u",
        s=blocks.BooleanTable(table=(0.3, 0.4)),
        o=blocks.Or(),
        p=blocks.Pre(),
        step=0.01,
    )
    np.testing.assert_array_equal(result["o.y"], (np.round(result.time, 9) >= 0.3).astype(float))


def test_a_triggered_trapezoid_turns_round_where_it_is():
    result = run(
        "s.y - z.u",
        s=blocks.BooleanTable(table=(0.5, 1.0, 1.5, 3.5)),
        z=blocks.TriggeredTrapezoid(amplitude=-2.0, rising=1.0, falling=0.5, offset=1.0),
        stop=5.0,
    )
    level = np.interp(result.time, [0, 0.5, 1.0, 1.25, 1.5, 2.5, 3.5, 4.0, 5.0], [0, 0, 0.5, 0, 0, 1, 1, 0, 0])
    np.testing.assert_allclose(result["z.y"], 1.0 - 2.0 * level, atol=1e-8)


def test_a_triggered_trapezoid_without_durations_jumps():
    result = run(
        "s.y - jumps.u",
        "s.y - falls.u",
        s=blocks.BooleanTable(table=(0.5, 1.0)),
        jumps=blocks.TriggeredTrapezoid(),
        falls=blocks.TriggeredTrapezoid(falling=0.25),
        step=0.05,
        stop=2.0,
    )
    t = np.round(result.time, 9)
    np.testing.assert_allclose(result["jumps.y"], (t >= 0.5) & (t < 1.0))
    np.testing.assert_allclose(result["falls.y"], np.where(t < 0.5, 0, np.clip(5 - 4 * t, 0, 1)), atol=1e-12)


def test_a_condition_ends_the_run_with_its_message():
    parts = {"u": blocks.BooleanStep(startTime=0.5, startValue=True), "a": blocks.AssertCondition(message="too late")}
    with pytest.raises(SimulationError, match="too late"):
        simulate(wired("u.y - a.u", **parts), 1.0)
    parts["u"], parts["a"] = blocks.BooleanStep(), blocks.AssertCondition(assertionLevel="warning")
    assert simulate(wired("u.y - a.u", **parts), 1.0).time[-1] == 1.0


def test_discrete_sources():
    result = run(
        stop=4.0,
        step=0.1,
        c=blocks.BooleanConstant(),
        s=blocks.BooleanStep(startTime=1.0, startValue=True),
        i=blocks.IntegerStep(height=3, offset=-1, startTime=2.0),
        n=blocks.IntegerConstant(k=7),
        t=blocks.IntegerTable(table=((1.0, 2.0), (2.0, 5.0), (3.0, 1.0))),
        b=blocks.BooleanTable(table=(1.0, 3.0), startValue=True),
    )
    t = np.round(result.time, 9)
    np.testing.assert_array_equal(result["c.y"], 1.0)
    np.testing.assert_array_equal(result["n.y"], 7.0)
    np.testing.assert_array_equal(result["s.y"], (t < 1.0).astype(float))
    np.testing.assert_array_equal(result["i.y"], np.where(t < 2.0, -1.0, 2.0))
    np.testing.assert_array_equal(result["t.y"], np.select([t < 2.0, t < 3.0], [2.0, 5.0], 1.0))
    np.testing.assert_array_equal(result["b.y"], ((t < 1.0) | (t >= 3.0)).astype(float))


@pytest.mark.parametrize(
    ("cls", "given", "message"),
    [
        (blocks.BooleanTable, {"table": (1.0, 1.0)}, r"table: its times must rise strictly, and are \[1\.0, 1\.0\]"),
        (blocks.IntegerTable, {"table": ((2, 0), (1, 0))}, r"table: its times must rise strictly, and are \[2"),
        (blocks.IntegerTable, {"table": (1.0, 2.0)}, r"table: expected rows of time and value, got shape \(2,\)"),
        (blocks.IntegerTable, {"table": ((0, 1, 2),)}, r"table: expected rows of time and value, got shape \(1, 3\)"),
        (blocks.IntegerTable, {"table": ((0, 1), (1, 2.5))}, r"table: its second column must be whole numbers"),
        (blocks.BooleanTable, {"extrapolation": "LastTwoPoints"}, r"'LastTwoPoints': does not suit .*; hold the last"),
    ],
)  # fmt: skip
def test_tables_of_steps_that_are_none_are_refused(cls, given, message):
    with pytest.raises(ModelError, match=rf"{cls.__name__}\.{message}" if "table" in message else message):
        cls(**given)


@pytest.mark.parametrize("start", [True, False])
def test_a_table_without_instants_stays_where_it_starts(start):
    result = run(b=blocks.BooleanTable(table=(), startValue=start), step=0.5)
    np.testing.assert_array_equal(result["b.y"], float(start))


def test_conversions_of_signals():
    result = run(
        "u.y - i.u",
        "u.y - b.u",
        "b.y - r.u",
        "b.y - k.u",
        u=Wave(amplitude=3.2, omega=5.0),
        i=blocks.RealToInteger(),
        b=blocks.RealToBoolean(threshold=1.0),
        r=blocks.BooleanToReal(realTrue=4.0, realFalse=-2.0),
        k=blocks.BooleanToInteger(integerTrue=9, integerFalse=3),
    )
    u = result["u.y"]
    np.testing.assert_array_equal(result["i.y"], np.sign(u) * np.floor(np.abs(u) + 0.5))
    np.testing.assert_array_equal(result["b.y"], (u >= 1.0).astype(float))
    np.testing.assert_array_equal(result["r.y"], np.where(u >= 1.0, 4.0, -2.0))
    np.testing.assert_array_equal(result["k.y"], np.where(u >= 1.0, 9.0, 3.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "si", "value"),
    [
        ("degC", 300.0, 26.85),
        ("degF", 300.0, 80.33),
        ("degRk", 300.0, 540.0),
        ("kmh", 10.0, 36.0),
        ("day", 43200.0, 0.5),
        ("hour", 1800.0, 0.5),
        ("minute", 90.0, 1.5),
        ("litre", 0.002, 2.0),
        ("kWh", 7.2e6, 2.0),
        ("bar", 2.5e5, 2.5),
        ("gps", 0.003, 3.0),
        ("deg", math.pi, 180.0),
        ("rpm", math.pi, 30.0),
    ],
)
def test_units_there_and_back(unit, si, value):
    to, back = getattr(blocks, f"To_{unit}")(), getattr(blocks, f"From_{unit}")()
    result = run("s.y - to.u", "to.y - back.u", s=blocks.Constant(k=si), to=to, back=back)
    assert result["to.y"][-1] == pytest.approx(value, rel=1e-12)
    assert result["back.y"][-1] == pytest.approx(si, rel=1e-12)


def test_statistics_of_a_sine():
    """Over whole periods: mean 2, variance A^2/2."""
    result = run(
        "s.y - mean.u",
        "s.y - late.u",
        "s.y - var.u",
        "s.y - dev.u",
        s=Wave(amplitude=3.0, omega=2 * math.pi, offset=2.0),
        mean=blocks.ContinuousMean(),
        late=blocks.ContinuousMean(startTime=1.0),
        var=blocks.Variance(),
        dev=blocks.StandardDeviation(),
        stop=4.0,
    )
    assert result["mean.y"][0] == pytest.approx(2.0)
    assert result["mean.y"][-1] == pytest.approx(2.0, abs=1e-8)
    assert result["late.y"][-1] == pytest.approx(2.0, abs=1e-8)
    assert result["var.y"][-1] == pytest.approx(4.5, abs=1e-5)
    assert result["dev.y"][-1] == pytest.approx(math.sqrt(4.5), abs=1e-5)


def test_functions_of_several_signals():
    result = run(
        "a.y - p.u1",
        "b.y - p.u2",
        "a.y - leg.u1",
        "b.y - leg.u2",
        "a.y - m.u[0]",
        "b.y - m.u[1]",
        "c.y - m.u[2]",
        "a.y - lin.u1",
        "b.y - lin.u2",
        "a.y - e.u[0]",
        "b.y - e.u[1]",
        "c.y - e.u[2]",
        "index.y - e.index",
        "flag.y - sw.u[0]",
        "index.y - second.u",
        "second.y - sw.u[1]",
        a=Wave(amplitude=3.0, omega=3.0, offset=1.0),
        b=Wave(amplitude=2.0, omega=5.0),
        c=blocks.Constant(k=0.5),
        index=blocks.IntegerStep(height=1, offset=1, startTime=0.5),
        flag=blocks.BooleanStep(startTime=0.7),
        second=blocks.IntegerToBoolean(),
        p=blocks.Pythagoras(),
        leg=blocks.Pythagoras(u1IsHypotenuse=True),
        m=blocks.MinMax(nu=3),
        lin=blocks.LinearDependency(y0=1.0, k1=2.0, k2=-3.0),
        e=blocks.Extractor(nin=3),
        sw=blocks.MultiSwitch(nu=2, expr=(4.0, 6.0), y_default=-1.0),
    )
    a, b, t = result["a.y"], result["b.y"], np.round(result.time, 9)
    np.testing.assert_allclose(result["p.y"], np.hypot(a, b), atol=1e-12)
    np.testing.assert_allclose(result["leg.y"], np.sqrt(np.maximum(a**2 - b**2, 0)), atol=1e-9)
    np.testing.assert_array_equal(result["leg.valid"], (a**2 >= b**2).astype(float))
    np.testing.assert_allclose(result["m.yMax"], np.maximum(np.maximum(a, b), 0.5), atol=1e-12)
    np.testing.assert_allclose(result["m.yMin"], np.minimum(np.minimum(a, b), 0.5), atol=1e-12)
    np.testing.assert_allclose(result["lin.y"], 1 + 2 * a - 3 * b, atol=1e-12)
    np.testing.assert_allclose(result["e.y"], np.where(t < 0.5, a, b), atol=1e-12)
    np.testing.assert_array_equal(result["sw.y"], np.where(t < 0.7, 6.0, 4.0))


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_waves_of_variable_frequency():
    """f = 1 + t: phase 2 pi (t + t^2/2); a sweep grows in proportion to itself; sinc begins at its height or at 0."""
    result = run(
        "f.y - w.f",
        "f.y - c.f",
        "f.y - w.amplitude",
        f=blocks.Ramp(offset=1.0, height=1.0, duration=1.0),
        w=blocks.SineVariableFrequencyAndAmplitude(offset=0.5),
        c=blocks.CosineVariableFrequencyAndAmplitude(useConstantAmplitude=True, constantAmplitude=2.0),
        sweep=blocks.LogFrequencySweep(wMin=1.0, wMax=100.0, startTime=0.2, duration=0.5),
        sinc=blocks.Sinc(f=3.0, startTime=0.3),
        smooth=blocks.Sinc(f=3.0, startTime=0.3, continuous=True),
    )
    t = np.round(result.time, 9)
    phase = 2 * np.pi * (t + t**2 / 2)
    np.testing.assert_allclose(result["w.y"], 0.5 + (1 + t) * np.sin(phase), atol=1e-8)
    np.testing.assert_allclose(result["c.y"], 2 * np.cos(phase), atol=1e-8)
    np.testing.assert_allclose(result["sweep.y"], 100.0 ** np.clip((t - 0.2) / 0.5, 0, 1), rtol=1e-9)
    wave = np.sinc(6.0 * (t - 0.3))
    np.testing.assert_allclose(result["sinc.y"], np.where(t < 0.3, 0.0, wave), atol=1e-12)
    np.testing.assert_allclose(result["smooth.y"], np.where(t < 0.3, 1.0, wave), atol=1e-12)


def test_a_movement_tells_when_it_ends():
    result = run(k=blocks.KinematicPTP2(q_begin=(0.0, 1.0), q_end=(1.0, 1.0), qd_max=2.0, qdd_max=4.0), stop=2.0)
    ends = 1.0
    np.testing.assert_allclose(result["k.endTime"], ends, rtol=1e-12)
    np.testing.assert_array_equal(result["k.moving[1]"], (np.round(result.time, 9) < ends).astype(float))
    np.testing.assert_array_equal(result["k.moving[2]"], 0.0)


def test_parameters_of_controllers_may_be_negative_but_not_zero():
    System.of(
        wired("s.y - c.u_s", "s.y - c.u_m", s=blocks.Constant(k=1.0), c=blocks.LimPID(k=-2.0, yMax=1.0)),
    )
    with pytest.raises(ModelError, match="must not be 0"):
        blocks.LimPID(k=0.0, yMax=1.0)


def test_radio_buttons_release_each_other():
    result = run(
        "one.on - other.reset[0]",
        "other.on - one.reset[0]",
        one=blocks.RadioButtonSource(buttonTimeTable=(1.0, 3.0)),
        other=blocks.RadioButtonSource(buttonTimeTable=(2.0, 4.0)),
        alone=blocks.RadioButtonSource(buttonTimeTable=(1.0, 3.0), nReset=0),
        stop=5.0,
        step=0.5,
    )
    expected = np.array([0, 1, 0, 1, 0])
    np.testing.assert_array_equal(np.asarray(result["one.on"])[1::2], expected)
    np.testing.assert_array_equal(np.asarray(result["other.on"])[1::2], np.array([0, 0, 1, 0, 1]))
    np.testing.assert_array_equal(np.asarray(result["alone.on"])[1::2], np.array([0, 1, 1, 1, 1]))
