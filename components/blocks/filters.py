"""Low pass, high pass, band pass and band stop filters, and Pade's approximation of a delay (Modelica.Blocks 4.1)."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Parameter, RealInput, RealOutput, State, required
from mbfmu.modeling import types as t

#: Amplitude at the cut-off frequency of a normalized filter, -3 dB.
CUT_OFF = 10 ** (-3 / 20)

#: A low pass with cut-off frequency 1 rad/s as factors of its denominator: cr of s + cr, (c1, c0) of s^2 + c1 s + c0.
Prototype = tuple[list[float], list[tuple[float, float]]]


def prototype(kind: str, order: int, ripple: float, normalized: bool) -> Prototype:
    """Low pass of a kind of AnalogFilter, in the order of factors of the Modelica library.

    Args:
        kind: a value of AnalogFilter.
        order: number of poles.
        ripple: ripple of ChebyshevI in the pass band [dB].
        normalized: the amplitude at 1 rad/s is -3 dB (Butterworth's always is).
    """
    pairs, single = order // 2, order % 2
    if kind == "CriticalDamping":
        return [1 / math.sqrt(10 ** (3 / 10 / order) - 1) if normalized else 1.0] * order, []
    if kind == "Butterworth":
        return [1.0] * single, [(2 * math.sin(math.pi * (i - 0.5) / order), 1.0) for i in range(1, pairs + 1)]
    if kind == "Bessel":
        _, poles, _ = scipy.signal.besselap(order, norm="delay")
        upper = sorted((p for p in poles if p.imag > 1e-9), key=lambda p: float(p.imag))
        singles = [-float(p.real) for p in poles if abs(p.imag) <= 1e-9]
        found: Prototype = singles, [(-2 * float(p.real), float(abs(p)) ** 2) for p in upper]
    else:
        width = math.asinh(1 / math.sqrt(10 ** (ripple / 10) - 1)) / order
        angles = [(i if single else i - 0.5) * math.pi / order for i in range(1, pairs + 1)]
        squares = [math.cosh(width) ** 2 - math.cos(angle) ** 2 for angle in angles]
        factors = [(2 * math.sinh(width) * math.cos(a), square) for a, square in zip(angles, squares, strict=True)]
        found = [math.sinh(width)] * single, factors
    if not normalized:
        return found

    def amplitude(w: float) -> float:
        s = 1j * w
        factors = [cr / (s + cr) for cr in found[0]] + [c0 / (s**2 + c1 * s + c0) for c1, c0 in found[1]]
        return float(abs(np.prod(factors)))

    top = 2.0
    while amplitude(top) > CUT_OFF:
        top *= 2
    # the last crossing: a Chebyshev filter may reach -3 dB of ripple before it
    bottom = next(w for w in np.linspace(top, 0.0, 2001) if amplitude(float(w)) > CUT_OFF)
    w = float(scipy.optimize.brentq(lambda w: amplitude(w) - CUT_OFF, float(bottom), top, xtol=1e-15, rtol=1e-15))
    return [cr / w for cr in found[0]], [(c1 / w, c0 / w**2) for c1, c0 in found[1]]


class LowpassButterworth(Component):
    """Output the input signal filtered with a low pass Butterworth filter of any order."""

    modelica_name = "Blocks.Continuous.LowpassButterworth"

    n = Parameter(t.Integer, 2, "Order of filter", min=1)
    f = Parameter(t.Frequency, required, "Cut-off frequency", min=1e-60)
    initType = Parameter(t.Init, "NoInit", "Type of initialization")
    x1_start = Parameter(
        t.Real, lambda self: np.zeros(self.pairs), "Initial or guess values of states 1 (der(x1)=x2)", shape=None
    )
    x2_start = Parameter(t.Real, lambda self: np.zeros(self.pairs), "Initial or guess values of states 2", shape=None)
    xr_start = Parameter(t.Real, 0.0, "Initial or guess value of real pole for uneven order otherwise dummy")
    y_start = Parameter(t.Real, 0.0, "Initial value of output (states are initialized in steady state if possible)")

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")
    x1 = State(
        t.Real,
        "States 1 of second order filters (der(x1) = x2)",
        shape=lambda self: (self.pairs,),
        when=lambda self: self.pairs > 0,
        start=lambda self: self.x1_start,
        fixed=lambda self: self.initType == "InitialState",
    )
    x2 = State(
        t.Real,
        "States 2 of second order filters",
        shape=lambda self: (self.pairs,),
        when=lambda self: self.pairs > 0,
        start=lambda self: self.x2_start,
        fixed=lambda self: self.initType == "InitialState",
    )
    xr = State(
        t.Real,
        "State of real pole for uneven order otherwise dummy",
        start=lambda self: self.xr_start,
        fixed=lambda self: self.initType == "InitialState",
        dummy=lambda self: self.n % 2 == 0,
    )

    @property
    def pairs(self) -> int:
        """Number of pairs of poles."""
        return int(self.n) // 2

    def equations(self) -> None:
        w, out, rates = 2 * math.pi * self.f, self.u, []
        if self.pairs:
            damping = [math.sin(math.pi / self.n * (i - 0.5)) for i in range(1, self.pairs + 1)]
            inputs = ca.vertcat(out, *ca.vertsplit(self.x1)[:-1])
            bending = w**2 * (inputs - self.x1) - 2 * ca.SX(damping) * w * self.x2
            self.der.x1, self.der.x2 = self.x2, bending
            rates, out = [self.x2, bending], self.x1[self.pairs - 1]
        if self.n % 2:
            rates.append(w * (out - self.xr))
            self.der.xr = rates[-1]
            out = self.xr
        else:
            self.xr = 0.0
        self.y = out
        if self.initType == "SteadyState":
            self.initially(ca.vertcat(*rates), "steady state")
        elif self.initType == "InitialOutput":
            rest = [*rates[:1], *ca.vertsplit(rates[1])[:-1]] if self.n % 2 == 0 else rates[:-1]
            self.initially(ca.vertcat(self.y - self.y_start, *rest), "y_start")


class Filter(Component):
    """Continuous low pass, high pass, band pass or band stop IIR-filter of one of four characteristics.

    As in the library, only a Butterworth band pass has the amplitude `gain` in the middle of its band.
    """

    modelica_name = "Blocks.Continuous.Filter"

    analogFilter = Parameter(t.AnalogFilter, "CriticalDamping", "Analog filter characteristics")
    filterType = Parameter(t.FilterType, "LowPass", "Type of filter")
    order = Parameter(t.Integer, 2, "Order of filter", min=1)
    f_cut = Parameter(t.Frequency, required, "Cut-off frequency", min=1e-60)
    gain = Parameter(t.Real, 1.0, "Gain (= amplitude of frequency response at zero frequency)")
    A_ripple = Parameter(
        t.Real,
        0.5,
        "Pass band ripple for Chebyshev filter [dB] (otherwise not used); > 0 required",
        min=1e-60,
        structural=True,
    )
    f_min = Parameter(
        t.Frequency, 0.0, "Band of band pass/stop filter is f_min (A=-3db*gain) .. f_cut (A=-3db*gain)", min=0
    )
    normalized = Parameter(t.Boolean, True, "= true, if amplitude at f_cut = -3db, otherwise unmodified filter")
    init = Parameter(
        t.Init, "SteadyState", "Type of initialization (no init/steady state/initial state/initial output)"
    )
    x_start = Parameter(t.Real, lambda self: np.zeros(self.nx), "Initial or guess values of states", shape=None)
    y_start = Parameter(t.Real, 0.0, "Initial value of output")
    u_nominal = Parameter(t.Real, 1.0, "Nominal value of input (used for scaling the states)", min=1e-60)

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")
    x = State(
        t.Real,
        "Filter states",
        shape=lambda self: (self.nx,),
        start=lambda self: self.x_start,
        fixed=lambda self: self.init == "InitialState",
    )

    @property
    def nx(self) -> int:
        """Number of states."""
        return int(self.order) * (2 if self.filterType in ("BandPass", "BandStop") else 1)

    def equations(self) -> None:
        real, pairs, numerator = self._factors()
        signal_, rates, at = self.u / self.u_nominal, [], 0
        for cr in real:
            x = self.x[at]
            rates.append(cr * (signal_ - x))
            signal_ = signal_ - x if self.filterType == "HighPass" else x
            at += 1
        for c1, c0 in pairs:
            x1, x2 = self.x[at], self.x[at + 1]
            a = -c1 / 2
            self.require(
                c0 - a**2, "this filter has no pairs of complex poles; try another analogFilter, or a wider band"
            )
            b = ca.sqrt(ca.fmax(c0 - a**2, 0))
            ku = c0 / b
            rates += [a * x1 - b * x2 + ku * signal_, b * x1 + a * x2]
            signal_ = numerator(signal_, a, b, ku, x1, x2)
            at += 2
        self.der.x = ca.vertcat(*rates)
        self.y = self.gain * self.u_nominal * signal_
        if self.init == "SteadyState":
            self.initially(ca.vertcat(*rates), "steady state")
        elif self.init == "InitialOutput":
            self.initially(ca.vertcat(self.y - self.y_start, *rates[:-1]), "y_start")

    def _factors(self) -> tuple[list[Any], list[tuple[Any, Any]], Any]:
        """Factors of the denominator, and the output of a pair as a function of its input, roots and states."""
        real, pairs = prototype(self.analogFilter, self.order, self.A_ripple, self.normalized)
        w = 2 * math.pi * self.f_cut
        if self.filterType == "LowPass":
            factors = [(w * c1, w**2 * c0) for c1, c0 in pairs]
            return [w * cr for cr in real], factors, lambda u, a, b, ku, x1, x2: x2
        if self.filterType == "HighPass":
            factors = [(w * c1 / c0, w**2 / c0) for c1, c0 in pairs]
            # s^2/(s^2 + c1 s + c0) = 1 + what x1 and x2 add
            return [w / cr for cr in real], factors, _high_pass
        self.require(
            ca.fmin(self.f_min - 1e-60, self.f_cut - self.f_min - 1e-60), "band filters need 0 < f_min < f_cut"
        )
        middle = ca.sqrt(self.f_min * self.f_cut)
        width, w = (self.f_cut - self.f_min) / middle, 2 * math.pi * middle
        passes = self.filterType == "BandPass"
        factors = [(w * width * (cr if passes else 1 / cr), w**2) for cr in real]
        for c1, c0 in pairs:
            factors += _split(c1, c0, width if passes else width / c0, w)
        if passes:
            slope = width * w
            return [], factors, lambda u, a, b, ku, x1, x2: slope / ku * (x1 + a / b * x2)
        return [], factors, lambda u, a, b, ku, x1, x2: u + 2 * a / ku * x1 + (w**2 + a**2 - b**2) / (b * ku) * x2


def _high_pass(u: Any, a: Any, b: Any, ku: Any, x1: Any, x2: Any) -> Any:
    return u + 2 * a / ku * x1 + (a**2 - b**2) / (a**2 + b**2) * x2


def _split(c1: Any, c0: Any, width: Any, w: Any) -> list[tuple[Any, Any]]:
    """The two factors that a factor s^2 + c1 s + c0 becomes with (s/w + w/s)/width in place of s, the faster one first.

    They are s^2 + c/alpha s + 1/alpha^2 and s^2 + c alpha s + alpha^2 for w = 1; alpha + 1/alpha = q is the root of a
    biquadratic equation.
    """
    middle = 4 + c0 * width**2
    q = ca.sqrt((middle + ca.sqrt(middle**2 - 4 * (c1 * width) ** 2)) / 2)
    alpha = (q - ca.sqrt(q**2 - 4)) / 2
    c = c1 * width / q
    return [(w * c / alpha, (w / alpha) ** 2), (w * c * alpha, (w * alpha) ** 2)]


class PadeDelay(Component):
    """Pade approximation of delay block with fixed delayTime (use balance=true, which is not the default)."""

    modelica_name = "Blocks.Nonlinear.PadeDelay"

    delayTime = Parameter(t.Time, required, "Delay time of output with respect to input signal", min=1e-60)
    n = Parameter(t.Integer, 1, "Order of Pade delay", min=1)
    m = Parameter(t.Integer, lambda self: self.n, "Order of numerator (usually m=n, or m=n-1)", min=1)
    balance = Parameter(t.Boolean, False, "= true, if states are scaled to be of one size, and start in steady state")

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signal")
    x = State(
        t.Real,
        "State of transfer function from controller canonical form, scaled where balance=true",
        shape=lambda self: (self.n,),
        start=0.0,
    )

    def equations(self) -> None:
        n, m, delay = int(self.n), int(self.m), self.delayTime
        if m > n:
            raise ModelError(f"{self._component.where}.m = {m}: must not be greater than n = {n}")
        a, b = [ca.SX(1)], [ca.SX(1)]
        for i in range(1, n + 1):
            a.append(a[-1] * delay * (n - i + 1) / (n + m - i + 1) / i)
            if i <= m:
                b.append(-b[-1] * delay * (m - i + 1) / (n + m - i + 1) / i)
        a, b = a[::-1], [*[ca.SX(0)] * (n - m), *b[::-1]]
        direct = b[0] / a[0]
        size = self._sizes(n, m)
        x = [self.x[i] * size[i] for i in range(n)]  # of the canonical form
        first = (self.u - sum(a[i + 1] * x[i] for i in range(n))) / a[0] / size[0]
        rates = ca.vertcat(first, *(x[i - 1] / size[i] for i in range(1, n)))
        self.der.x = rates
        self.y = sum((b[i + 1] - direct * a[i + 1]) * x[i] for i in range(n)) + direct * self.u
        if self.balance:
            self.initially(rates, "steady state")
        else:
            self.initially(self.x[n - 1] - self.u, "x[n] = u")

    def _sizes(self, n: int, m: int) -> np.ndarray:
        """What the states of the canonical form are multiples of: powers of two that balance its matrix."""
        delay = self._component.original("delayTime")
        if not self.balance or not isinstance(delay, float):
            return np.ones(n)
        a = [1.0]
        for i in range(1, n + 1):
            a.append(a[-1] * delay * (n - i + 1) / (n + m - i + 1) / i)
        matrix = np.diag(np.ones(n - 1), -1)
        matrix[0] = [-v / a[-1] for v in a[-2::-1]]
        _, (scale, _) = scipy.linalg.matrix_balance(matrix, permute=False, separate=True)
        return np.asarray(scale / scale[-1])


__all__ = ["Filter", "LowpassButterworth", "PadeDelay"]
