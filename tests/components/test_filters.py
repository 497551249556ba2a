"""Filters against SciPy's analog filters, and Pade's delay against its series."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from wiring import run

from mbfmu.components import blocks
from mbfmu.components.blocks.filters import CUT_OFF, prototype
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Parameter, types
from mbfmu.simulation import simulate


def amplitude(kind: str, order: int, normalized: bool, w: float) -> float:
    real, pairs = prototype(kind, order, 0.5, normalized)
    s = 1j * w
    factors = [cr / (s + cr) for cr in real] + [c0 / (s**2 + c1 * s + c0) for c1, c0 in pairs]
    return float(abs(np.prod(factors)))


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_what_comes_out_of_a_filter_is_differentiated_as_often_as_its_order():
    parts = {"u": blocks.Constant(k=1.0), "f": blocks.CriticalDamping(n=4, f=1.0, normalized=False)}
    parts |= {f"d{i}": blocks.Der() for i in (1, 2, 3, 4)}
    result = run("u.y - f.u", "f.y - d1.u", *(f"d{i}.y - d{i + 1}.u" for i in (1, 2, 3)), stop=0.5, **parts)
    w = 2 * np.pi
    x = w * result.time
    np.testing.assert_allclose(result["d3.y"], w**3 * np.exp(-x) * (x - x**2 + x**3 / 6), atol=1e-4)
    np.testing.assert_allclose(result["d4.y"], w**4 * np.exp(-x) * (1 - 3 * x + 1.5 * x**2 - x**3 / 6), atol=1e-3)


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["CriticalDamping", "Bessel", "ChebyshevI"])
def test_normalized_filters_pass_3_dB_at_their_frequency(kind, order):
    assert amplitude(kind, order, True, 1.0) == pytest.approx(CUT_OFF, rel=1e-12)
    assert amplitude(kind, order, True, 3.0) < CUT_OFF


@pytest.mark.parametrize("order", [3, 4])
def test_prototypes_against_scipy(order):
    w = np.linspace(0.1, 4.0, 9)
    for kind, (zeros, poles, gain) in {
        "Butterworth": scipy.signal.buttap(order),
        "ChebyshevI": scipy.signal.cheb1ap(order, 0.5),
        "Bessel": scipy.signal.besselap(order, norm="delay"),
    }.items():
        _, h = scipy.signal.freqs_zpk(zeros, poles, gain, w)
        ours = [amplitude(kind, order, False, v) for v in w]
        np.testing.assert_allclose(
            ours, np.abs(h) / abs(scipy.signal.freqs_zpk(zeros, poles, gain, [1e-9])[1][0]), rtol=1e-9
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filter_type", "btype", "corner"),
    [
        ("LowPass", "low", 3.0),
        ("HighPass", "high", 3.0),
        ("BandPass", "band", (1.0, 3.0)),
        ("BandStop", "stop", (1.0, 3.0)),
    ],
)
@pytest.mark.parametrize("order", [2, 3])
def test_butterworth_filters_of_all_types_against_scipy(filter_type, btype, corner, order):
    b, a = scipy.signal.butter(order, 2 * np.pi * np.array(corner), btype, analog=True)
    block = blocks.Filter(
        analogFilter="Butterworth",
        filterType=filter_type,
        order=order,
        f_cut=3.0,
        f_min=1.0,
        gain=2.0,
        init="InitialState",
    )
    result = run("s.y - f.u", s=blocks.TimeTable(table=((0, 0), (0.4, 1), (1, -0.5), (2, 0.5))), f=block, stop=2.0)
    expected = 2.0 * scipy.signal.lsim((b, a), result["s.y"], result.time)[1]
    np.testing.assert_allclose(result["f.y"], expected, atol=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, 2, 5])
def test_lowpass_butterworth_against_scipy(order):
    b, a = scipy.signal.butter(order, 2 * np.pi * 2.0, analog=True)
    block = blocks.LowpassButterworth(n=order, f=2.0, initType="InitialState")
    result = run("s.y - f.u", s=blocks.TimeTable(table=((0, 0), (0.4, 1), (1, -0.5), (2, 0.5))), f=block, stop=2.0)
    np.testing.assert_allclose(result["f.y"], scipy.signal.lsim((b, a), result["s.y"], result.time)[1], atol=2e-7)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("init", ["SteadyState", "InitialOutput"])
def test_filters_start_at_rest(init, order):
    """In steady state the output is the input; from a given output only the last state moves."""
    result = run(
        "s.y - f.u",
        "s.y - g.u",
        s=blocks.Constant(k=1.5),
        f=blocks.LowpassButterworth(n=order, f=1.0, initType=init, y_start=0.4),
        g=blocks.Filter(analogFilter="Bessel", order=order, f_cut=1.0, init=init, y_start=0.4),
    )
    for name in "fg":
        if init == "SteadyState":
            np.testing.assert_allclose(result[f"{name}.y"], 1.5, atol=1e-10)
        else:
            assert result[f"{name}.y"][0] == pytest.approx(0.4, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 4), (4, 3)])
def test_pade_delays_a_smooth_signal(balance, n, m):
    result = run(
        "s.y - f.u",
        s=blocks.Cosine(f=1.0),
        f=blocks.PadeDelay(delayTime=0.1, n=n, m=m, balance=balance),
        stop=3.0,
    )
    s = 2j * np.pi * 0.1
    error = 2.0 * abs(s) ** (n + m + 1)
    late = result.time > 1.0
    expected = np.cos(2 * np.pi * (result.time - 0.1))
    np.testing.assert_allclose(result["f.y"][late], expected[late], atol=min(error, 0.02) + 1e-6)


def test_a_balanced_delay_whose_time_its_owner_passes_on_starts_in_steady_state():
    class Delayed(Assembly):
        late = Parameter(types.Time, 1e-3, "Delay time")

        def build(self) -> None:
            self.source = blocks.Constant(k=0.1)
            self.delay = blocks.PadeDelay(delayTime=self.late, n=4, balance=True)
            self.connect(self.source.y, self.delay.u)

    result = simulate(Delayed(), 0.01)
    np.testing.assert_allclose(result["delay.y"], 0.1, rtol=1e-6)


def test_a_delay_of_improper_order_is_named():
    with pytest.raises(ModelError, match=r"f\.m = 3: must not be greater than n = 2"):
        run("s.y - f.u", s=blocks.Constant(k=1.0), f=blocks.PadeDelay(delayTime=0.1, n=2, m=3))
