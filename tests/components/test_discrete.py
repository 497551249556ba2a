"""Blocks that sample and hold, blocks that act at events, and statistics over periods, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from drive_blocks import Wave
from wiring import run, wired

from mbfmu.components import blocks
from mbfmu.components.blocks import discrete, math_boolean, math_integer
from mbfmu.errors import ModelError
from mbfmu.modeling import Start
from mbfmu.simulation import simulate

PERIOD = 0.1


def ticks(times, first=0.0):
    """Instant of the last sample at each time."""
    return first + PERIOD * np.floor((times - first) / PERIOD + 1e-9)


def wave(times):
    return np.sin(3.0 * times)


def sampled(block, stop=1.0):
    """Times and output of a block that samples sin 3t, a little away from the instants too."""
    result = run("s.y - b.u", s=Wave(omega=3.0), b=block, stop=stop, step=PERIOD / 4)
    return np.asarray(result.time), result["b.y"]


def test_sampler_holds_the_sample():
    times, y = sampled(discrete.Sampler(samplePeriod=PERIOD))
    np.testing.assert_allclose(y, wave(ticks(times)), atol=1e-12)


def test_sampler_waits_for_its_first_instant():
    times, y = sampled(discrete.Sampler(samplePeriod=PERIOD, startTime=0.25))
    np.testing.assert_allclose(y, np.where(times > 0.25 - 1e-9, wave(ticks(times, 0.25)), 0), atol=1e-12)


def test_zero_order_hold_is_a_sampler_once_the_instant_is_over():
    times, y = sampled(discrete.ZeroOrderHold(samplePeriod=PERIOD))
    np.testing.assert_allclose(y, wave(ticks(times)), atol=1e-12)


def test_first_order_hold_goes_on_from_the_last_two_samples():
    times, y = sampled(discrete.FirstOrderHold(samplePeriod=PERIOD))
    last = ticks(times)
    one, two = wave(np.maximum(last - PERIOD, 0)), wave(np.maximum(last - 2 * PERIOD, 0))
    slope = np.where(last > 0, (wave(last) - one) / PERIOD, 0)
    np.testing.assert_allclose(y, one + slope * (times - last), atol=1e-12)
    assert np.abs(two - one).max() > 0.1  # the case tells the samples apart


def test_first_order_hold_has_no_slope_until_its_second_sample():
    """What it knows from before its first one is no sample: it gives the value of the start, sin 0, a period long."""
    times, y = sampled(discrete.FirstOrderHold(samplePeriod=PERIOD, startTime=0.25))
    last = ticks(times, 0.25)
    one = np.where(last > 0.25 + 1e-9, wave(last - PERIOD), 0)
    slope = np.where(last > 0.25 + 1e-9, (wave(last) - one) / PERIOD, 0)
    np.testing.assert_allclose(y, np.where(times > 0.25 - 1e-9, one + slope * (times - last), 0), atol=1e-12)


def test_unit_delay_gives_the_value_before_the_instant():
    """A step at an instant of sampling is seen one sample later."""
    result = run(
        "s.y - d.u",
        "s.y - z.u",
        s=blocks.Step(startTime=0.3),
        d=discrete.UnitDelay(samplePeriod=PERIOD, y_start=7.0, startTime=0.05 + 0.05),
        z=discrete.Sampler(samplePeriod=PERIOD),
        step=0.05,
    )
    times = np.asarray(result.time)
    np.testing.assert_array_equal(result["z.y"], times > 0.3 - 1e-9)
    np.testing.assert_array_equal(result["d.y"], np.where(times < 0.1 - 1e-9, 7.0, times > 0.4 - 1e-9))


def test_samples_of_one_instant_follow_the_signals():
    """Two samplers in a row are one; two holds in a row are late by one sample."""
    result = run(
        "s.y - a.u",
        "a.y - b.u",
        "s.y - c.u",
        "c.y - d.u",
        s=Wave(omega=3.0),
        b=discrete.Sampler(samplePeriod=PERIOD),  # before the one that it reads
        a=discrete.Sampler(samplePeriod=PERIOD),
        d=discrete.ZeroOrderHold(samplePeriod=PERIOD),
        c=discrete.ZeroOrderHold(samplePeriod=PERIOD),
        step=PERIOD / 4,
    )
    times = np.asarray(result.time)
    np.testing.assert_allclose(result["b.y"], wave(ticks(times)), atol=1e-12)
    np.testing.assert_allclose(result["d.y"], wave(np.maximum(ticks(times) - PERIOD, 0)), atol=1e-12)


def test_transfer_function_is_scipys():
    b, a = [0.5, 0.2, -0.1], [2.0, -1.2, 0.5]
    times, y = sampled(discrete.TransferFunction(samplePeriod=PERIOD, b=b, a=a), stop=3.0)
    expected = scipy.signal.lfilter(b, a, wave(PERIOD * np.arange(31)))
    np.testing.assert_allclose(y, expected[np.round(ticks(times) / PERIOD).astype(int)], atol=1e-12)


def test_transfer_function_with_a_numerator_of_lower_order_is_late():
    times, y = sampled(discrete.TransferFunction(samplePeriod=PERIOD, b=[1.0], a=[1.0, 0.0]))
    np.testing.assert_allclose(y, np.where(times < PERIOD - 1e-9, 0, wave(ticks(times) - PERIOD)), atol=1e-12)


def test_only_what_holds_anyway_may_be_said_of_the_start_of_an_output():
    block = discrete.TransferFunction(samplePeriod=PERIOD, y=Start(0.0, fixed=True))
    times, y = sampled(block)
    np.testing.assert_allclose(y, wave(ticks(times)), atol=1e-12)
    block.modify(y=Start(2.0, fixed=False))
    with pytest.raises(ModelError, match=r"y: a signal follows from others and cannot start with a fixed value"):
        block.modify(y=Start(2.0, fixed=True))


def test_transfer_function_refuses_to_look_ahead():
    with pytest.raises(ModelError, match="b has 3 coefficients, more than a"):
        discrete.TransferFunction(samplePeriod=PERIOD, b=[1.0, 2.0, 3.0], a=[1.0, 2.0])


def test_state_space_is_scipys():
    A, B, C, D = [[0.6, 0.2], [-0.1, 0.9]], [[1.0], [0.5]], [[1.0, 0.0], [0.3, -1.0]], [[0.1], [0.0]]
    block = discrete.StateSpace(samplePeriod=PERIOD, A=A, B=B, C=C, D=D)
    result = run("s.y - b.u[0]", s=Wave(omega=3.0), b=block, stop=2.0, step=PERIOD / 4)
    times = np.asarray(result.time)
    _, expected, _ = scipy.signal.dlsim((A, B, C, D, PERIOD), wave(PERIOD * np.arange(21)))
    at = np.round(ticks(times) / PERIOD).astype(int)
    for i in range(2):
        np.testing.assert_allclose(result[f"b.y[{i + 1}]"], expected[at, i], atol=1e-12)


def test_triggers_sample_and_keep_the_largest():
    """A pulse becomes true every 0.7 s; its first edge is that of the start, which counts no trigger."""
    result = run(
        "s.y - a.u",
        "s.y - b.u",
        "p.y - a.trigger",
        "p.y - b.trigger",
        s=Wave(omega=3.0),
        p=blocks.BooleanPulse(period=0.7, startTime=0.35),
        a=discrete.TriggeredSampler(y_start=5.0),
        b=discrete.TriggeredMax(),
        stop=3.0,
    )
    times = np.asarray(result.time)
    count = np.floor((times - 0.35) / 0.7 + 1e-9).astype(int)
    np.testing.assert_allclose(result["a.y"], np.where(count < 0, 5.0, wave(0.35 + 0.7 * count)), atol=1e-9)
    largest = np.maximum.accumulate(np.abs(wave(0.35 + 0.7 * np.arange(5))))
    np.testing.assert_allclose(result["b.y"], np.where(count < 0, 0.0, largest[np.maximum(count, 0)]), atol=1e-9)


def test_digital_control_of_an_integrator():
    """dx/dt = -k (sample of x): x falls by the factor 1 - k T in each period, along a straight line."""
    result = run(
        "i.y - h.u",
        "h.y - g.u",
        "g.y - i.u",
        i=blocks.Integrator(y_start=1.0),
        h=discrete.ZeroOrderHold(samplePeriod=PERIOD),
        g=blocks.Gain(k=-3.0),
        stop=2.0,
        step=PERIOD / 4,
    )
    times = np.asarray(result.time)
    n = np.floor(times / PERIOD + 1e-9)
    expected = 0.7**n * (1 - 3 * (times - n * PERIOD))
    np.testing.assert_allclose(result["i.y"], expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*jumps from")
@pytest.mark.parametrize("use_set", [False, True])
def test_integrators_are_reset(use_set):
    """The integral of 1 starts anew at each edge, from y_start or from what `set` says (limited to outMax)."""
    extra = {"use_set": True} if use_set else {}
    wires = ["v.y - i.set", "v.y - j.set"] if use_set else []
    result = run(
        "one.y - i.u",
        "one.y - j.u",
        "p.y - i.reset",
        "p.y - j.reset",
        *wires,
        one=blocks.Constant(k=1.0),
        v=blocks.Constant(k=0.5),
        p=blocks.BooleanPulse(period=0.3, startTime=0.2),
        i=blocks.Integrator(use_reset=True, y_start=0.1, **extra),
        j=blocks.LimIntegrator(use_reset=True, y_start=0.1, outMax=0.25, **extra),
    )
    times = np.asarray(result.time)
    n = np.floor((times - 0.2) / 0.3 + 1e-9)
    since = np.where(n < 0, times, times - 0.2 - 0.3 * n)
    begin = np.where(n < 0, 0.1, 0.5 if use_set else 0.1)
    np.testing.assert_allclose(result["i.y"], begin + since, atol=1e-9)
    np.testing.assert_allclose(result["j.y"], np.minimum(np.minimum(begin, 0.25) + since, 0.25), atol=1e-7)


def test_timer_and_delays():
    """True from 0.2 to 0.5 and from 0.8 on."""
    result = run(
        "p.y - t.u",
        "p.y - l.u",
        "p.y - o.u",
        p=blocks.BooleanPulse(period=0.6, startTime=0.2),
        t=blocks.Timer(),
        l=blocks.LogicalDelay(delayTime=0.1),
        o=math_boolean.OnDelay(delayTime=0.15),
        step=0.0125,
    )
    times = np.asarray(result.time)

    def between(begin, end):
        return (times > begin - 1e-9) & (times < end - 1e-9)

    up = between(0.2, 0.5) | between(0.8, 2.0)
    np.testing.assert_allclose(result["t.y"], up * (times - np.where(times < 0.79, 0.2, 0.8)), atol=1e-9)
    np.testing.assert_array_equal(result["l.y1"], between(0.2, 0.6) | between(0.8, 2))
    np.testing.assert_array_equal(result["l.y2"], between(0.3, 0.5) | between(0.9, 2))
    np.testing.assert_array_equal(result["o.y"], between(0.35, 0.5) | between(0.95, 2))


def counted(name, *wires, stop=1.0, **parts):
    """How often a block's output has become true: a TriggeredAdd counts; the signal itself is never seen true."""
    result = run(
        f"{name}.y - count.trigger",
        "one.y - count.u",
        *wires,
        one=blocks.IntegerConstant(k=1),
        count=math_integer.TriggeredAdd(),
        stop=stop,
        **parts,
    )
    assert not result[f"{name}.y"].any()
    return np.asarray(result.time), result["count.y"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("block", "instants"),
    [
        (blocks.Edge(), [0.2, 0.8]),
        (blocks.FallingEdge(), [0.5]),
        (blocks.Change(), [0.2, 0.5, 0.8]),
        (math_boolean.RisingEdge(), [0.2, 0.8]),
        (math_boolean.FallingEdge(), [0.5]),
        (math_boolean.ChangingEdge(), [0.2, 0.5, 0.8]),
        (math_boolean.MathEdge(), [0.2, 0.8]),
        (math_boolean.BooleanChange(), [0.2, 0.5, 0.8]),
    ],
)
def test_instants_are_events_of_others(block, instants):
    times, count = counted("b", "p.y - b.u", p=blocks.BooleanPulse(period=0.6, startTime=0.2), b=block)
    np.testing.assert_array_equal(count, np.searchsorted(np.array(instants) - 1e-9, times))


def test_changes_of_an_integer():
    times, count = counted(
        "b", "p.y - i.u", "i.y - b.u",
        p=blocks.BooleanPulse(period=0.6, startTime=0.2), i=blocks.BooleanToInteger(), b=math_boolean.IntegerChange(),
    )  # fmt: skip
    np.testing.assert_array_equal(count, np.searchsorted(np.array([0.2, 0.5, 0.8]) - 1e-9, times))


def test_sample_trigger():
    times, count = counted("b", b=blocks.SampleTrigger(period=0.25, startTime=0.1))
    np.testing.assert_array_equal(count, np.floor((times - 0.1) / 0.25 + 1e-9) + 1)


def test_zero_crossings_while_enabled():
    """cos 5t crosses zero at pi/10 (2 i + 1); the crossing at 3 pi/10 is not enabled."""
    times, count = counted(
        "b",
        "s.y - b.u",
        "p.y - b.enable",
        s=blocks.Cosine(f=5 / (2 * math.pi)),
        p=blocks.BooleanTable(table=[0.8, 1.2], startValue=True),
        b=blocks.ZeroCrossing(),
        stop=3.0,
    )
    crossings = np.pi / 10 * np.array([1, 5, 7, 9])
    np.testing.assert_array_equal(count, np.searchsorted(crossings, times))


def test_triggered_add_resets():
    result = run(
        "p.y - a.trigger",
        "r.y - a.reset",
        "two.y - a.u",
        "seven.y - a.set",
        p=blocks.BooleanPulse(period=0.1, startTime=0.1),
        r=blocks.BooleanTable(table=[0.55, 0.57]),
        two=blocks.IntegerConstant(k=2),
        seven=blocks.IntegerConstant(k=7),
        a=math_integer.TriggeredAdd(use_reset=True, use_set=True, y_start=3),
        step=0.025,
    )
    times = np.asarray(result.time)
    triggers = np.floor(times / 0.1 + 1e-9)
    np.testing.assert_array_equal(result["a.y"], np.where(times < 0.549, 3 + 2 * triggers, 7 + 2 * (triggers - 5)))


@pytest.mark.slow
@pytest.mark.parametrize("module", [math_boolean, math_integer])
@pytest.mark.parametrize("holds", [True, False])
def test_multi_switch_keeps_the_last_choice(module, holds):
    default = {math_boolean: False, math_integer: 0}[module]
    result = run(
        "a.y - m.u[0]",
        "b.y - m.u[1]",
        a=blocks.BooleanTable(table=[0.2, 0.4]),
        b=blocks.BooleanTable(table=[0.3, 0.6]),
        m=module.MultiSwitch(nu=2, expr=[1.0, 0.0], use_pre_as_default=holds, y_default=default),
        c=blocks.BooleanTable(table=[0.1]),
    )
    times = np.asarray(result.time)
    np.testing.assert_array_equal(result["m.y"], (times > 0.2 - 1e-9) & (times < 0.4 - 1e-9))
    swapped = run(
        "a.y - m.u[0]",
        a=blocks.BooleanTable(table=[0.2, 0.4]),
        m=module.MultiSwitch(nu=1, expr=[1.0], use_pre_as_default=holds, y_default=default),
    )
    times = np.asarray(swapped.time)
    np.testing.assert_array_equal(swapped["m.y"], (times > 0.2 - 1e-9) & (holds | (times < 0.4 - 1e-9)))


def test_means_over_periods():
    """u = 2 + 3 sin(2 pi t): mean 2, rms sqrt(4 + 4.5); the first period has the start values."""
    result = run(
        "s.y - mean.u",
        "s.y - rms.u",
        "s.y - rect.u",
        "s.y - har.u",
        s=blocks.Sine(amplitude=3.0, f=1.0, offset=2.0, phase=0.3),
        mean=blocks.Mean(f=1.0, y0=-1.0),
        rms=blocks.RootMeanSquare(f=1.0, y0=9.0),
        rect=blocks.RectifiedMean(f=1.0),
        har=blocks.Harmonic(f=1.0, k=1),
        stop=3.0,
        step=0.05,
    )
    late = np.asarray(result.time) > 1 - 1e-9
    t = (np.arange(200000) + 0.5) / 200000
    rectified = np.abs(2 + 3 * np.sin(2 * np.pi * t + 0.3)).mean()
    np.testing.assert_allclose(result["mean.y"], np.where(late, 2.0, -1.0), atol=1e-8)
    np.testing.assert_allclose(result["rms.y"], np.where(late, math.sqrt(8.5), 9.0), atol=1e-8)
    np.testing.assert_allclose(result["rect.y"], np.where(late, rectified, 0.0), atol=1e-6)
    np.testing.assert_allclose(result["har.y_rms"], np.where(late, 3 / math.sqrt(2), 0.0), atol=1e-8)
    angle = np.exp(1j * result["har.y_arg"][late])
    np.testing.assert_allclose(angle, np.exp(1j * (math.pi / 2 - 0.3)), atol=1e-8)


def test_means_count_periods_from_the_start_of_the_run():
    """A run that starts at 0.3 ends its first period at 1.3."""
    assembly = wired("s.y - m.u", s=Wave(omega=1.0), m=blocks.Mean(f=1.0), stop=3.0)
    assembly.start_time = 0.3
    result = simulate(assembly, 3.0, interval=0.1, tolerance=1e-10)
    times = np.asarray(result.time)
    end = 0.3 + np.floor(times - 0.3 + 1e-9)
    np.testing.assert_allclose(result["m.y"], np.where(end > 0.31, np.cos(end - 1) - np.cos(end), 0.0), atol=1e-9)


@pytest.mark.slow
def test_total_harmonic_distortion():
    """sin t + 0.3 sin 3t has a distortion of 0.3 beside its first harmonic."""
    result = run(
        "a.y - sum.u1",
        "b.y - sum.u2",
        "sum.y - thd.u",
        "sum.y - whole.u",
        a=blocks.Sine(amplitude=1.0, f=2.0),
        b=blocks.Sine(amplitude=0.3, f=6.0),
        sum=blocks.Add(),
        thd=blocks.TotalHarmonicDistortion(f=2.0),
        whole=blocks.TotalHarmonicDistortion(f=2.0, useFirstHarmonic=False),
        stop=1.2,
        step=0.05,
    )
    late = np.asarray(result.time) > 0.5 - 1e-9
    np.testing.assert_allclose(result["thd.y"][late], 0.3, atol=1e-7)
    np.testing.assert_allclose(result["whole.y"][late], 0.3 / math.sqrt(1.09), atol=1e-7)
    np.testing.assert_array_equal(result["thd.valid"], late)


def test_extrema():
    """exp(-t/2) sin 5t: sampled, its extrema are those of the samples; continuously, those of the signal."""
    result = run(
        "s.y - e.u",
        "s.y - c.u",
        s=blocks.ExpSine(f=5 / (2 * math.pi), damping=0.5),
        e=blocks.SignalExtrema(Ts=0.1),
        c=blocks.ContinuousSignalExtrema(T=1e-5),
        stop=2.0,
    )

    def signal(t):
        return np.exp(-t / 2) * np.sin(5 * t)

    samples = 0.1 * np.arange(21)
    values = signal(samples)
    assert result["e.y_max"][-1] == pytest.approx(values.max(), abs=1e-9)
    assert result["e.y_min"][-1] == pytest.approx(values.min(), abs=1e-9)
    assert result["e.t_max"][-1] == pytest.approx(samples[values.argmax()])
    assert result["e.t_min"][-1] == pytest.approx(samples[values.argmin()])
    top = math.atan(10) / 5
    assert result["c.y_max"][-1] == pytest.approx(signal(top), abs=1e-6)
    assert result["c.t_max"][-1] == pytest.approx(top, abs=1e-4)
    assert result["c.y_min"][-1] == pytest.approx(signal(top + math.pi / 5), abs=1e-6)
