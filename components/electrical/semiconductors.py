"""Semiconductors by their exponential laws (Modelica.Electrical.Analog.Semiconductors 4.1).

Shockley's law has no closed solution behind a resistor: runtimes solve for the voltages by Newton's method.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.electrical.interfaces import ConditionalHeatPort, OnePort, Pin
from mbfmu.modeling import NetworkVariable, Parameter, Variable
from mbfmu.modeling import types as t

#: Voltage equivalent of a temperature [V/K]: Boltzmann's constant over the charge of an electron, exact in the SI.
_KELVIN = 1.380649e-23 / 1.602176634e-19

_TRANSCONDUCTANCE = t.Type("Transconductance", unit="A/V2")


def _exponential(x: Any, most: Any) -> Any:
    """e^x, continued along its tangent from x = most on, so that neither it nor its derivative overflows."""
    return ca.exp(ca.fmin(x, most)) * (1 + ca.fmax(0, x - most))


class Diode(ConditionalHeatPort, OnePort):
    """Simple diode with heating port."""

    modelica_name = "Electrical.Analog.Semiconductors.Diode"

    Ids = Parameter(t.Current, 1e-6, "Saturation current")
    useTemperatureDependency = Parameter(
        t.Boolean,
        False,
        "= true, if the diode current depends on temperature, otherwise utilizes the voltage equivalent of temperature",
    )
    Vt = Parameter(t.Voltage, 0.04, "Voltage equivalent of temperature (kT/qn)", nonzero=True)
    Maxexp = Parameter(t.Real, 15.0, "Max. exponent for linear continuation", min=1e-60, max=700.0)
    R = Parameter(t.Resistance, 1e8, "Parallel ohmic resistance", nonzero=True)
    EG = Parameter(t.Real, 1.11, "Activation energy")
    N = Parameter(t.Real, 1.0, "Emission coefficient", nonzero=True)
    TNOM = Parameter(t.Temperature, 300.15, "Parameter measurement temperature", nonzero=True)
    XTI = Parameter(t.Real, 3.0, "Temperature exponent of saturation current")
    useHeatPort = Parameter(t.Boolean, lambda self: self.useTemperatureDependency, "= true, if heatPort is enabled")
    vt_t = Variable(t.Voltage, "Temperature voltage")
    id = Variable(t.Current, "Diode current")

    def current(self) -> Any:
        self.require(self.temperature > 0, "the temperature must be positive")
        self.vt_t = _KELVIN * self.temperature
        scale = self.N * self.vt_t if self.useTemperatureDependency else self.Vt
        self.id = self.Ids * (_exponential(self.v / scale, self.Maxexp) - 1)
        current = self.id * self.growth + self.v / self.R
        self.lose(self.v * current)
        return current

    @property
    def growth(self) -> Any:
        """Saturation current as a multiple of Ids."""
        if not self.useTemperatureDependency:
            return 1.0
        warmer = self.temperature / self.TNOM
        return warmer ** (self.XTI / self.N) * ca.exp((warmer - 1) * self.EG / (self.N * self.vt_t))


class HeatingDiode(Diode):
    """Simple diode with heating port: what the library had before 4.0 for a diode that depends on temperature."""

    modelica_name = "Electrical.Analog.Semiconductors.HeatingDiode"

    useTemperatureDependency = Parameter(t.Boolean, True, "= true, if the diode current depends on temperature")


class Diode2(ConditionalHeatPort, OnePort):
    """Improved diode model."""

    modelica_name = "Electrical.Analog.Semiconductors.Diode2"

    Vf = Parameter(t.Voltage, 0.7, "Forward voltage", min=1e-60)
    Ids = Parameter(t.Current, 1e-13, "Reverse saturation current")
    Rs = Parameter(t.Resistance, 16.0, "Ohmic resistance")
    Vt = Parameter(
        t.Voltage,
        lambda self: _KELVIN * self.T,
        "Thermal voltage (kT/q), 0.026 at normal conditions (around 20 degC)",
        min=1e-60,
    )
    N = Parameter(t.Real, 1.0, "Emission coefficient", nonzero=True)
    Bv = Parameter(t.Voltage, 100.0, "Reverse breakdown voltage", min=1e-60)
    Gp = Parameter(t.Conductance, 1e-6, "Parallel conductance for numerical stability")
    vd = NetworkVariable(t.Voltage, "Voltage across pure diode part")
    id = Variable(t.Current, "Diode current")

    def current(self) -> Any:
        scale = self.N * (_KELVIN * self.temperature if self.useHeatPort else self.Vt)
        vd, middle, knee = self.vd, -self.Bv / 2, (self.Vf + scale) / scale
        breakdown = ca.exp(-(ca.fmin(vd, middle) + self.Bv) / scale) + 1 - 2 * ca.exp(middle / scale)
        forward = _exponential(ca.fmax(vd, middle) / scale, knee) - 1
        self.id = self.Ids * ca.if_else(vd < middle, -breakdown, forward)
        self.relation(self.v - vd - self.id * self.Rs)
        current = self.id + self.v * self.Gp
        self.lose(self.v * current)
        return current


class ZDiode(ConditionalHeatPort, OnePort):
    """Zener diode with 3 working areas."""

    modelica_name = "Electrical.Analog.Semiconductors.ZDiode"

    Ids = Parameter(t.Current, 1e-6, "Saturation current")
    Vt = Parameter(t.Voltage, 0.04, "Voltage equivalent of temperature (kT/qn)", nonzero=True)
    Maxexp = Parameter(t.Real, 30.0, "Max. exponent for linear continuation", min=1e-60, max=700.0)
    R = Parameter(t.Resistance, 1e8, "Parallel ohmic resistance", nonzero=True)
    Bv = Parameter(t.Voltage, 5.1, "Breakthrough voltage = Zener- or Z-voltage", min=1e-60)
    Ibv = Parameter(t.Current, 0.7, "Breakthrough knee current")
    Nbv = Parameter(t.Real, 0.74, "Breakthrough emission coefficient", nonzero=True)

    def current(self) -> Any:
        ahead, back = self.v / self.Vt, -(self.v + self.Bv) / (self.Nbv * self.Vt)
        forward = self.Ids * (_exponential(ahead, self.Maxexp) - 1)
        breakthrough = -self.Ibv * _exponential(back, self.Maxexp)
        between = ca.if_else(back > self.Maxexp, breakthrough - self.Ids, forward + breakthrough)
        current = ca.if_else(ahead > self.Maxexp, forward, between) + self.v / self.R
        self.lose(self.v * current)
        return current


class _MOS(ConditionalHeatPort):
    """Field-effect transistor: a channel between drain and source, which voltages of gate and bulk open.

    The law is that of a channel of negative charges; one of positive charges is its mirror image, all voltages and
    currents reversed.
    """

    #: Sign of voltages and currents beside those of a channel of negative charges.
    _sign = 1

    D, G = Pin("Drain"), Pin("Gate")
    S, B = Pin("Source"), Pin("Bulk")
    W = Parameter(t.Length, 20e-6, "Width")
    L = Parameter(t.Length, 6e-6, "Length")
    Beta: Any
    Vt: Any
    K2: Any
    K5: Any
    dW = Parameter(t.Length, -2.5e-6, "Narrowing of channel")
    dL: Any
    RDS = Parameter(t.Resistance, 1e7, "Drain-Source-Resistance")
    useTemperatureDependency = Parameter(
        t.Boolean, False, "= true, if parameters Beta, K2 and Vt depend on temperature"
    )
    Tnom = Parameter(t.Temperature, 300.15, "Parameter measurement temperature", nonzero=True)
    kvt: Any
    kk2: Any
    useHeatPort = Parameter(t.Boolean, lambda self: self.useTemperatureDependency, "= true, if heatPort is enabled")

    def equations(self) -> None:
        self.require(self.L + self.dL > 0, "the effective length L + dL must be positive")
        self.require(self.W + self.dW > 0, "the effective width W + dW must be positive")
        self.require(self.temperature > 0, "the temperature must be positive")
        current = self._sign * self.channel(*(self._sign * pin.v for pin in (self.D, self.G, self.S, self.B)))
        self.D.i, self.S.i = current, -current
        self.G.i = self.B.i = 0.0
        self.lose(current * (self.D.v - self.S.v))

    def channel(self, D: Any, G: Any, S: Any, B: Any) -> Any:
        """Current from drain to source [A] at these voltages [V]."""
        beta, threshold, k2 = self.Beta, self._sign * self.Vt, self.K2
        if self.useTemperatureDependency:
            warmer = self.temperature - self.Tnom
            beta = beta * (self.temperature / self.Tnom) ** -1.5
            threshold, k2 = threshold * (1 + warmer * self.kvt), k2 * (1 + warmer * self.kk2)
        leak = ca.if_else(ca.fabs(self.RDS) < 1e-20, 1e20, 1 / self.RDS)
        reversed_ = D < S
        low, across = ca.if_else(reversed_, D, S), ca.if_else(reversed_, S - D, D - S)
        open_by = ca.fmax(0, (G - low - threshold + k2 * ca.fmin(0, B - low)) * self.K5)
        pinched = ca.fmin(across, open_by)
        width = (self.W + self.dW) / (self.L + self.dL)
        current = beta * width * pinched * (open_by - pinched / 2) + across * leak
        return ca.if_else(reversed_, -current, current)


class NMOS(_MOS):
    """Simple NMOS transistor with heating port."""

    modelica_name = "Electrical.Analog.Semiconductors.NMOS"

    Beta = Parameter(_TRANSCONDUCTANCE, 0.041e-3, "Transconductance parameter")
    Vt = Parameter(t.Voltage, 0.8, "Zero bias threshold voltage")
    K2 = Parameter(t.Real, 1.144, "Bulk threshold parameter")
    K5 = Parameter(t.Real, 0.7311, "Reduction of pinch-off region")
    dL = Parameter(t.Length, -1.5e-6, "Shortening of channel")
    kvt = Parameter(t.Real, -6.96e-3, "Fitting parameter for Vt")
    kk2 = Parameter(t.Real, 6e-4, "Fitting parameter for K2")


class PMOS(_MOS):
    """Simple PMOS transistor with heating port."""

    modelica_name = "Electrical.Analog.Semiconductors.PMOS"

    _sign = -1

    Beta = Parameter(_TRANSCONDUCTANCE, 0.0105e-3, "Transconductance parameter")
    Vt = Parameter(t.Voltage, -1.0, "Zero bias threshold voltage")
    K2 = Parameter(t.Real, 0.41, "Bulk threshold parameter")
    K5 = Parameter(t.Real, 0.839, "Reduction of pinch-off region")
    dL = Parameter(t.Length, -2.1e-6, "Shortening of channel")
    kvt = Parameter(t.Real, -2.9e-3, "Fitting parameter for Vt")
    kk2 = Parameter(t.Real, 6.2e-4, "Fitting parameter for K2")


__all__ = ["NMOS", "PMOS", "Diode", "Diode2", "HeatingDiode", "ZDiode"]
