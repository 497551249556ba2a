"""Basic electrical components (Modelica.Electrical.Analog.Basic 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.electrical.interfaces import (
    ConditionalHeatPort,
    NegativePin,
    OnePort,
    Pin,
    PositivePin,
    SuppliedOpAmp,
    TwoPort,
    VoltagePort,
)
from mbfmu.components.interfaces import Flange_b, TranslationalFlange_b
from mbfmu.components.rotational import interfaces as rotational
from mbfmu.components.translational import interfaces as translational
from mbfmu.modeling import Component, NetworkVariable, Parameter, RealInput, State, Variable, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final

#: Relative distance that inductances must keep.
_EPS = 1e-15
#: Newton steps that find the current of saturation to rounding, also where inductances differ by 1e-9 only.
_STEPS = 25


class Ground(Component):
    """Ground node."""

    modelica_name = "Electrical.Analog.Basic.Ground"

    p = Pin("Pin whose potential is 0")

    def equations(self) -> None:
        self.p.v = 0.0


class _Temperature(ConditionalHeatPort):
    """Component whose resistance or conductance knows its temperature."""

    T_ref = Parameter(t.Temperature, 300.15, "Reference temperature")
    alpha = Parameter(
        t.LinearTemperatureCoefficient,
        0.0,
        "Temperature coefficient of resistance (R_actual = R*(1 + alpha*(T_heatPort - T_ref)))",
        structural=True,
    )
    T = Parameter(t.Temperature, lambda self: self.T_ref, "Fixed device temperature if useHeatPort = false")

    @property
    def growth(self) -> Any:
        """Resistance as a multiple of the one at T_ref."""
        return 1 + self.alpha * (self.temperature - self.T_ref) if self.alpha else 1.0


class _Resistance(_Temperature, VoltagePort):
    """Ohm's law for a resistance R that a parameter or a signal gives."""

    R: Any
    R_actual = Variable(t.Resistance, "Actual resistance = R*(1 + alpha*(T_heatPort - T_ref))")

    def voltage(self) -> Any:
        self.R_actual = self.R * self.growth
        self.lose(self.v * self.i)
        return self.R_actual * self.i


class Resistor(_Resistance):
    """Ideal linear electrical resistor."""

    modelica_name = "Electrical.Analog.Basic.Resistor"

    R = Parameter(t.Resistance, required, "Resistance at temperature T_ref", tunable=True)


class VariableResistor(_Resistance):
    """Ideal linear electrical resistor with variable resistance."""

    modelica_name = "Electrical.Analog.Basic.VariableResistor"

    R = RealInput("Resistance at temperature T_ref", type=t.Resistance)


class _Conductance(_Temperature, OnePort):
    """Ohm's law for a conductance G that a parameter or a signal gives."""

    G: Any
    G_actual = Variable(t.Conductance, "Actual conductance = G/(1 + alpha*(T_heatPort - T_ref))")

    def current(self) -> Any:
        self.G_actual = self.G / self.growth
        self.lose(self.v**2 * self.G_actual)
        return self.G_actual * self.v


class Conductor(_Conductance):
    """Ideal linear electrical conductor."""

    modelica_name = "Electrical.Analog.Basic.Conductor"

    G = Parameter(t.Conductance, required, "Conductance at temperature T_ref", tunable=True)


class VariableConductor(_Conductance):
    """Ideal linear electrical conductor with variable conductance."""

    modelica_name = "Electrical.Analog.Basic.VariableConductor"

    G = RealInput("Conductance at temperature T_ref", type=t.Conductance)


class Capacitor(VoltagePort):
    """Ideal linear electrical capacitor."""

    modelica_name = "Electrical.Analog.Basic.Capacitor"

    C = Parameter(t.Capacitance, required, "Capacitance", nonzero=True)
    v = State(t.Voltage, "Voltage drop of the two pins (= p.v - n.v)", start=0.0)

    def equations(self) -> None:
        self.relation(self.p.v - self.n.v - self.v)
        self.p.i, self.n.i = self.i, -self.i
        self.der.v = self.i / self.C
        self.energy(potential=self.C * self.v**2 / 2)


class VariableCapacitor(VoltagePort):
    """Ideal linear electrical capacitor with variable capacitance."""

    modelica_name = "Electrical.Analog.Basic.VariableCapacitor"

    C = RealInput("Capacitance", type=t.Capacitance)
    Cmin = Parameter(t.Capacitance, 2.220446049250313e-16, "Lower bound for variable capacitance", min=1e-60)
    IC = Parameter(t.Voltage, 0.0, "Initial Value")
    UIC = Parameter(t.Boolean, False, "Decision if initial value IC shall be used")
    Q = State(t.ElectricCharge, "Charge")

    def voltage(self) -> Any:
        self.require(self.C, "the capacitance C is negative")
        self.der.Q = self.i
        voltage = self.Q / ca.fmax(self.C, self.Cmin)
        if self.UIC:
            self.initially(voltage - self.IC, "initial voltage IC")
        return voltage


class VariableInductor(OnePort):
    """Ideal linear electrical inductor with variable inductance."""

    modelica_name = "Electrical.Analog.Basic.VariableInductor"

    L = RealInput("Inductance", type=t.Inductance)
    Lmin = Parameter(t.Inductance, 2.220446049250313e-16, "Lower bound for variable inductance", min=1e-60)
    IC = Parameter(t.Current, 0.0, "Initial Value")
    UIC = Parameter(t.Boolean, False, "Decision if initial value IC shall be used")
    Psi = State(t.MagneticFlux, "Magnetic flux")

    def current(self) -> Any:
        self.require(self.L, "the inductance L is negative")
        self.der.Psi = self.v
        current = self.Psi / ca.fmax(self.L, self.Lmin)
        if self.UIC:
            self.initially(current - self.IC, "initial current IC")
        return current


class Potentiometer(ConditionalHeatPort):
    """Adjustable resistor."""

    modelica_name = "Electrical.Analog.Basic.Potentiometer"

    R = Parameter(t.Resistance, required, "Resistance at temperature T_ref")
    T_ref = Parameter(t.Temperature, 293.15, "Reference temperature")
    alpha = Parameter(t.LinearTemperatureCoefficient, 0.0, "Temperature coefficient of resistance")
    T = Parameter(t.Temperature, lambda self: self.T_ref, "Fixed device temperature if useHeatPort = false")
    useRinput = Parameter(t.Boolean, False, "Use input for 0<r<1 (else constant)")
    rConstant = Parameter(t.Real, 0.5, "Contact between n (r=0) and p (r=1)", min=0, max=1)
    pin_p = PositivePin("Positive electrical pin")
    contact = PositivePin("Contact")
    pin_n = NegativePin("Negative electrical pin")
    r = RealInput("Place of the contact", when=lambda self: self.useRinput)
    Rp = Variable(t.Resistance, "Actual resistance between pin_p and contact")
    Rn = Variable(t.Resistance, "Actual resistance between contact and pin_n")
    i_p = NetworkVariable(t.Current, "Current into pin_p", start=0.0)
    i_n = NetworkVariable(t.Current, "Current into pin_n", start=0.0)

    def equations(self) -> None:
        place = ca.fmin(1, ca.fmax(0, self.r if self.useRinput else self.rConstant))
        whole = self.R * (1 + self.alpha * (self.temperature - self.T_ref))
        self.Rp, self.Rn = whole * (1 - place), whole * place
        self.relation(self.pin_p.v - self.contact.v - self.Rp * self.i_p)
        self.relation(self.pin_n.v - self.contact.v - self.Rn * self.i_n)
        self.pin_p.i, self.pin_n.i, self.contact.i = self.i_p, self.i_n, -self.i_p - self.i_n
        self.lose(self.Rp * self.i_p**2 + self.Rn * self.i_n**2)


class Inductor(OnePort):
    """Ideal linear electrical inductor."""

    modelica_name = "Electrical.Analog.Basic.Inductor"

    L = Parameter(t.Inductance, required, "Inductance", nonzero=True)
    i = State(t.Current, "Current flowing from pin p to pin n", start=0.0)

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.der.i = self.v / self.L
        self.p.i, self.n.i = self.i, -self.i
        self.energy(kinetic=self.L * self.i**2 / 2)


class SaturatingInductor(OnePort):
    """Simple model of an inductor with saturation."""

    modelica_name = "Electrical.Analog.Basic.SaturatingInductor"

    Inom = Parameter(t.Current, required, "Nominal current", min=1e-60)
    Lnom = Parameter(t.Inductance, required, "Nominal inductance at Nominal current")
    Lzer = Parameter(t.Inductance, required, "Inductance near current=0")
    Linf = Parameter(t.Inductance, required, "Inductance at large currents")
    Ipar = Final(
        t.Current, lambda self: self.Inom * _saturation(self.Lnom, self.Lzer, self.Linf), "Current of saturation"
    )
    Lact = Variable(t.Inductance, "Present inductance")
    Psi = Variable(t.MagneticFlux, "Present flux")
    i = State(t.Current, "Current flowing from pin p to pin n", start=0.0)

    def equations(self) -> None:
        self.require(self.Lzer - self.Lnom * (1 + _EPS), "Lzer is not greater than Lnom; choose them so")
        self.require(self.Lnom * (1 - _EPS) - self.Linf, "Linf is not less than Lnom; choose them so")
        share, lost = self.i / self.Ipar, self.Lzer - self.Linf
        bend = ca.atan(share)
        self.v = self.p.v - self.n.v
        self.der.i = self.v / (self.Linf + lost / (1 + share**2))
        self.p.i, self.n.i = self.i, -self.i
        self.Psi = self.Linf * self.i + lost * self.Ipar * bend
        self.Lact = self.Linf + lost * ca.if_else(self.i == 0, 1, bend / ca.if_else(self.i == 0, 1, share))
        self.energy(kinetic=self.Linf * self.i**2 / 2 + lost * self.Ipar**2 * ca.log(1 + share**2) / 2)


def _saturation(nominal: Any, small: Any, large: Any) -> Any:
    """x with x atan(1/x) = (nominal - large) / (small - large): what a flux bends at, over the nominal current.

    Newton's method for its logarithm over log(x), which is concave, comes from the left.
    """
    wanted, x = (nominal - large) / (small - large), ca.SX(1e-9)
    for _ in range(_STEPS):
        bend = ca.atan2(1, x)
        x = x * (wanted / (x * bend)) ** (1 / (1 - x / ((1 + x**2) * bend)))
    return x


class Transformer(TwoPort):
    """Transformer with two ports: inductances that are coupled."""

    modelica_name = "Electrical.Analog.Basic.Transformer"

    L1 = Parameter(t.Inductance, required, "Primary inductance")
    L2 = Parameter(t.Inductance, required, "Secondary inductance")
    M = Parameter(t.Inductance, required, "Coupling inductance; L1*L2 must not be M^2")
    i1 = State(t.Current, "Current flowing from pos. to neg. pin of port 1", start=0.0)
    i2 = State(t.Current, "Current flowing from pos. to neg. pin of port 2", start=0.0)

    def couple(self) -> None:
        determinant = self.L1 * self.L2 - self.M**2
        self.require(
            1 - 2 * (determinant == 0), "L1 L2 = M^2: windings without leakage are an IdealTransformer; change M"
        )
        self.der.i1 = (self.L2 * self.v1 - self.M * self.v2) / determinant
        self.der.i2 = (self.L1 * self.v2 - self.M * self.v1) / determinant
        self.energy(kinetic=(self.L1 * self.i1**2 + self.L2 * self.i2**2) / 2 + self.M * self.i1 * self.i2)


class Gyrator(TwoPort):
    """Gyrator: each current follows from the voltage of the other port."""

    modelica_name = "Electrical.Analog.Basic.Gyrator"

    G1 = Parameter(t.Conductance, required, "Gyration conductance (i1 = G2*v2, i2 = -G1*v1)", tunable=True)
    G2 = Parameter(t.Conductance, required, "Gyration conductance", tunable=True)

    def couple(self) -> None:
        self.i1, self.i2 = self.G2 * self.v2, -self.G1 * self.v1


class VCV(TwoPort):
    """Linear voltage-controlled voltage source."""

    modelica_name = "Electrical.Analog.Basic.VCV"

    gain = Parameter(t.Real, required, "Voltage gain", tunable=True)
    i2 = NetworkVariable(t.Current, "Current flowing from pos. to neg. pin of port 2", start=0.0)

    def couple(self) -> None:
        self.i1 = 0.0
        self.relation(self.v2 - self.gain * self.v1)


class VCC(TwoPort):
    """Linear voltage-controlled current source."""

    modelica_name = "Electrical.Analog.Basic.VCC"

    transConductance = Parameter(t.Conductance, required, "Transconductance", tunable=True)

    def couple(self) -> None:
        self.i1, self.i2 = 0.0, self.transConductance * self.v1


class CCV(TwoPort):
    """Linear current-controlled voltage source."""

    modelica_name = "Electrical.Analog.Basic.CCV"

    transResistance = Parameter(t.Resistance, required, "Transresistance", tunable=True)
    i1 = NetworkVariable(t.Current, "Current flowing from pos. to neg. pin of port 1", start=0.0)
    i2 = NetworkVariable(t.Current, "Current flowing from pos. to neg. pin of port 2", start=0.0)

    def couple(self) -> None:
        self.relation(self.v1)
        self.relation(self.v2 - self.transResistance * self.i1)


class CCC(TwoPort):
    """Linear current-controlled current source."""

    modelica_name = "Electrical.Analog.Basic.CCC"

    gain = Parameter(t.Real, required, "Current gain", tunable=True)
    i1 = NetworkVariable(t.Current, "Current flowing from pos. to neg. pin of port 1", start=0.0)

    def couple(self) -> None:
        self.relation(self.v1)
        self.i2 = self.gain * self.i1


class OpAmp(SuppliedOpAmp):
    """Simple nonideal model of an OpAmp with limitation."""

    modelica_name = "Electrical.Analog.Basic.OpAmp"

    Slope = Parameter(t.Real, required, "Slope of the out.v/vin characteristic at vin=0")

    def amplify(self) -> None:
        free, reach = ca.fabs(self.Slope) * self.vin, (self.VMax.v - self.VMin.v) / 2
        limited = free / (1 + ca.fabs(free / reach))
        self.relation(self.out.v - (self.VMax.v + self.VMin.v) / 2 - limited)


class RotationalEMF(rotational.PartialSupport, VoltagePort):
    """Electromotoric force (electric/mechanic transformer)."""

    modelica_name = "Electrical.Analog.Basic.RotationalEMF"

    k = Parameter(t.ElectricalTorqueConstant, required, "Transformation coefficient")
    flange = Flange_b("Flange of shaft")
    phi = Variable(t.Angle, "Angle of shaft flange with respect to support (= flange.phi - support.phi)")
    w = Variable(t.AngularVelocity, "Angular velocity of flange relative to support")
    tau = Variable(t.Torque, "Torque of flange")
    tauElectrical = Variable(t.Torque, "Electrical torque")

    def voltage(self) -> Any:
        self.phi = self.flange.phi - self.phi_support
        self.w = self.der(self.phi)
        self.tauElectrical = self.k * self.i
        self.tau = -self.tauElectrical
        self.flange.tau = self.tau
        self.react(self.tauElectrical)
        return self.k * self.w


class TranslationalEMF(translational.PartialSupport, VoltagePort):
    """Electromotoric force (electric/mechanic transformer) along a line."""

    modelica_name = "Electrical.Analog.Basic.TranslationalEMF"

    k = Parameter(t.ElectricalForceConstant, required, "Transformation coefficient")
    flange = TranslationalFlange_b("Flange of the moving part")
    s = Variable(t.Position, "Position of flange with respect to support (= flange.s - support.s)")
    vel = Variable(t.Velocity, "Velocity of flange relative to support")
    f = Variable(t.Force, "Force of flange")
    fElectrical = Variable(t.Force, "Electrical force")

    def voltage(self) -> Any:
        self.s = self.flange.s - self.s_support
        self.vel = self.der(self.s)
        self.fElectrical = self.k * self.i
        self.f = -self.fElectrical
        self.flange.f = self.f
        self.react(self.fElectrical)
        return self.k * self.vel


__all__ = [
    "CCC",
    "CCV",
    "VCC",
    "VCV",
    "Capacitor",
    "Conductor",
    "Ground",
    "Gyrator",
    "Inductor",
    "OpAmp",
    "Potentiometer",
    "Resistor",
    "RotationalEMF",
    "SaturatingInductor",
    "Transformer",
    "TranslationalEMF",
    "VariableCapacitor",
    "VariableConductor",
    "VariableInductor",
    "VariableResistor",
]
