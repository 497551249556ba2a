"""Thyristors, switches, limited amplifiers and the ideal transformer (Modelica.Electrical.Analog.Ideal 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.blocks.logical import TRUE_FROM
from mbfmu.components.electrical.basic import Capacitor, Resistor
from mbfmu.components.electrical.ideal import HYSTERESIS
from mbfmu.components.electrical.interfaces import (
    ConditionalHeatPort,
    IdealSemiconductor,
    IdealSwitch,
    IdealSwitchWithArc,
    NegativePin,
    Pin,
    PositivePin,
    SuppliedOpAmp,
    TwoPort,
)
from mbfmu.modeling import BooleanInput, Component, NetworkVariable, Parameter, State, Variable, required
from mbfmu.modeling import types as t


class IdealThyristor(IdealSemiconductor):
    """Ideal thyristor: once fired it conducts from p to n until its current ends."""

    modelica_name = "Electrical.Analog.Ideal.IdealThyristor"

    fire = BooleanInput("True: it may begin to conduct")

    def is_off(self) -> Any:
        def conducts(now: Any) -> Any:
            begins = ca.fmin(self.s - HYSTERESIS, self.fire - TRUE_FROM)
            return ca.if_else(now > 0.5, self.s + HYSTERESIS, begins)

        return self.switch(conducts, 0.0, 1.0)


class IdealGTOThyristor(IdealSemiconductor):
    """Ideal GTO thyristor: it conducts from p to n while it is fired."""

    modelica_name = "Electrical.Analog.Ideal.IdealGTOThyristor"

    fire = BooleanInput("True: it may conduct")

    def is_off(self) -> Any:
        return self.switch(lambda now: ca.fmin(self.s + HYSTERESIS * (2 * now - 1), self.fire - TRUE_FROM), 0.0, 1.0)


class IdealTriac(Component):
    """Ideal triac, based on ideal thyristors."""

    modelica_name = "Electrical.Analog.Ideal.IdealTriac"

    Ron = Parameter(t.Resistance, 1e-5, "Closed triac resistance", min=0)
    Goff = Parameter(t.Conductance, 1e-5, "Opened triac conductance", min=0)
    Vknee = Parameter(t.Voltage, 0.8, "Threshold voltage for positive and negative phase", min=0)
    Rdis = Parameter(t.Resistance, 100.0, "Resistance of disturbance elimination", min=0)
    Cdis = Parameter(t.Capacitance, 0.005, "Capacity of disturbance elimination")
    fire1 = BooleanInput("Gate: true fires")
    n = NegativePin("Cathode")
    p = PositivePin("Anode")

    def build(self) -> None:
        law: dict[str, Any] = {"Ron": self.Ron, "Goff": self.Goff, "Vknee": self.Vknee}
        self.idealThyristor, self.idealThyristor1 = IdealThyristor(**law), IdealThyristor(**law)
        self.resistor, self.capacitor = Resistor(R=self.Rdis), Capacitor(C=self.Cdis)
        self.connect(self.idealThyristor.n, self.capacitor.n)
        self.connect(self.capacitor.n, self.idealThyristor1.p)
        self.connect(self.idealThyristor1.n, self.resistor.p)
        self.connect(self.resistor.p, self.idealThyristor.p)
        self.connect(self.resistor.n, self.capacitor.p)
        self.connect(self.fire1, self.idealThyristor1.fire)
        self.connect(self.fire1, self.idealThyristor.fire)
        self.connect(self.n, self.idealThyristor.p)
        self.connect(self.idealThyristor1.p, self.p)


class _AtLevel(Component):
    """Component that the potential of a pin controls."""

    level = Parameter(t.Voltage, 0.5, "Switch level")
    control = Pin("Control pin")

    def high(self, then: float, otherwise: float) -> Any:
        """`then` while the control pin is above the level."""
        self.control.i = 0.0
        return self.switch(self.control.v - self.level, then, otherwise)


class ControlledIdealOpeningSwitch(_AtLevel, IdealSwitch):
    """Controlled ideal electrical opener: open while control.v > level."""

    modelica_name = "Electrical.Analog.Ideal.ControlledIdealOpeningSwitch"

    def is_off(self) -> Any:
        return self.high(1.0, 0.0)


class ControlledIdealClosingSwitch(_AtLevel, IdealSwitch):
    """Controlled ideal electrical closer: closed while control.v > level."""

    modelica_name = "Electrical.Analog.Ideal.ControlledIdealClosingSwitch"

    def is_off(self) -> Any:
        return self.high(0.0, 1.0)


class OpenerWithArc(IdealSwitchWithArc):
    """Ideal opening switch with simple arc model."""

    modelica_name = "Electrical.Analog.Ideal.OpenerWithArc"

    control = BooleanInput("True => switch open, false => p--n connected")

    def is_off(self) -> Any:
        return self.switch(self.control - TRUE_FROM, 1.0, 0.0)


class CloserWithArc(IdealSwitchWithArc):
    """Ideal closing switch with simple arc model."""

    modelica_name = "Electrical.Analog.Ideal.CloserWithArc"

    control = BooleanInput("True => p--n connected, false => switch open")

    def is_off(self) -> Any:
        return self.switch(self.control - TRUE_FROM, 0.0, 1.0)


class ControlledOpenerWithArc(_AtLevel, IdealSwitchWithArc):
    """Controlled ideal electrical opener with simple arc model: off while control.v > level."""

    modelica_name = "Electrical.Analog.Ideal.ControlledOpenerWithArc"

    def is_off(self) -> Any:
        return self.high(1.0, 0.0)


class ControlledCloserWithArc(_AtLevel, IdealSwitchWithArc):
    """Controlled ideal electrical closer with simple arc model: on while control.v > level."""

    modelica_name = "Electrical.Analog.Ideal.ControlledCloserWithArc"

    def is_off(self) -> Any:
        return self.high(0.0, 1.0)


class _Commuting(ConditionalHeatPort):
    """Switch from one pin to one of two: a subclass defines `is_on`."""

    Ron = Parameter(t.Resistance, 1e-5, "Closed switch resistance", min=0)
    Goff = Parameter(t.Conductance, 1e-5, "Opened switch conductance", min=0)
    p = PositivePin("Common pin")
    n2 = NegativePin("Pin while the control is true")
    n1 = NegativePin("Pin while the control is false")
    s1 = NetworkVariable(t.Real, "Voltage to n1 while it is open, current while it is closed", start=0.0)
    s2 = NetworkVariable(t.Real, "Voltage to n2 while it is open, current while it is closed", start=0.0)

    def equations(self) -> None:
        on = self.is_on()
        to_1, to_2 = self.p.v - self.n1.v, self.p.v - self.n2.v
        self.relation(to_1 - self.s1 * (on + (1 - on) * self.Ron))
        self.relation(to_2 - self.s2 * (on * self.Ron + (1 - on)))
        i_1 = self.s1 * (on * self.Goff + (1 - on))
        i_2 = self.s2 * (on + (1 - on) * self.Goff)
        self.p.i, self.n1.i, self.n2.i = i_1 + i_2, -i_1, -i_2
        self.lose(to_1 * i_1 + to_2 * i_2)

    def is_on(self) -> Any:
        """1 while p and n2 are connected, 0 while p and n1 are."""
        raise NotImplementedError(f"{type(self).__name__} must define is_on()")


class IdealCommutingSwitch(_Commuting):
    """Ideal commuting switch."""

    modelica_name = "Electrical.Analog.Ideal.IdealCommutingSwitch"

    control = BooleanInput("True => p--n2 connected, false => p--n1 connected")

    def is_on(self) -> Any:
        return self.switch(self.control - TRUE_FROM, 1.0, 0.0)


class ControlledIdealCommutingSwitch(_Commuting):
    """Controlled ideal commuting switch."""

    modelica_name = "Electrical.Analog.Ideal.ControlledIdealCommutingSwitch"

    level = Parameter(t.Voltage, 0.5, "Switch level")
    control = Pin("Control pin: control.v > level => p--n2 connected, otherwise p--n1 connected")

    def is_on(self) -> Any:
        self.control.i = 0.0
        return self.switch(self.control.v - self.level, 1.0, 0.0)


class _Intermediate(ConditionalHeatPort):
    """Switch that crosses two lines: a subclass defines `is_on`."""

    Ron = Parameter(t.Resistance, 1e-5, "Closed switch resistance", min=0)
    Goff = Parameter(t.Conductance, 1e-5, "Opened switch conductance", min=0)
    p1 = PositivePin("First line")
    p2 = PositivePin("Second line")
    n1 = NegativePin("First line beyond the switch")
    n2 = NegativePin("Second line beyond the switch")
    s1 = NetworkVariable(t.Real, "p1 to n1: voltage while it is open, current while it is closed", start=0.0)
    s2 = NetworkVariable(t.Real, "p2 to n2: voltage while it is open, current while it is closed", start=0.0)
    s3 = NetworkVariable(t.Real, "p1 to n2: voltage while it is open, current while it is closed", start=0.0)
    s4 = NetworkVariable(t.Real, "p2 to n1: voltage while it is open, current while it is closed", start=0.0)

    def equations(self) -> None:
        on = self.is_on()
        straight, crossed = on + (1 - on) * self.Ron, on * self.Ron + (1 - on)
        v_1, v_2 = self.p1.v - self.n1.v, self.p2.v - self.n2.v
        v_3, v_4 = self.p1.v - self.n2.v, self.p2.v - self.n1.v
        self.relation(v_1 - self.s1 * straight)
        self.relation(v_2 - self.s2 * straight)
        self.relation(v_3 - self.s3 * crossed)
        self.relation(v_4 - self.s4 * crossed)
        i_1, i_2 = (s * (on * self.Goff + (1 - on)) for s in (self.s1, self.s2))
        i_3, i_4 = (s * (on + (1 - on) * self.Goff) for s in (self.s3, self.s4))
        self.p1.i, self.p2.i, self.n1.i, self.n2.i = i_1 + i_3, i_2 + i_4, -i_1 - i_4, -i_2 - i_3
        self.lose(v_1 * i_1 + v_2 * i_2 + v_3 * i_3 + v_4 * i_4)

    def is_on(self) -> Any:
        """1 while the lines are crossed, else 0."""
        raise NotImplementedError(f"{type(self).__name__} must define is_on()")


class IdealIntermediateSwitch(_Intermediate):
    """Ideal intermediate switch."""

    modelica_name = "Electrical.Analog.Ideal.IdealIntermediateSwitch"

    control = BooleanInput("True => p1--n2, p2--n1 connected, otherwise p1--n1, p2--n2 connected")

    def is_on(self) -> Any:
        return self.switch(self.control - TRUE_FROM, 1.0, 0.0)


class ControlledIdealIntermediateSwitch(_Intermediate):
    """Controlled ideal intermediate switch."""

    modelica_name = "Electrical.Analog.Ideal.ControlledIdealIntermediateSwitch"

    level = Parameter(t.Voltage, 0.5, "Switch level")
    control = Pin("Control pin: control.v > level => p1--n2, p2--n1 connected, otherwise p1--n1, p2--n2 connected")

    def is_on(self) -> Any:
        self.control.i = 0.0
        return self.switch(self.control.v - self.level, 1.0, 0.0)


class IdealTransformer(TwoPort):
    """Ideal transformer core with or without magnetization."""

    modelica_name = "Electrical.Analog.Ideal.IdealTransformer"

    n = Parameter(t.Real, required, "Turns ratio primary:secondary voltage", nonzero=True)
    considerMagnetization = Parameter(t.Boolean, False, "Choice of considering magnetization")
    Lm1 = Parameter(
        t.Inductance,
        required,
        "Magnetization inductance w.r.t. primary side",
        nonzero=True,
        when=lambda self: self.considerMagnetization,
    )
    i2 = NetworkVariable(t.Current, "Current flowing from pos. to neg. pin of port 2", start=0.0)
    im1 = Variable(t.Current, "Magnetization current w.r.t. primary side")
    psim1 = State(
        t.MagneticFlux,
        "Magnetic flux w.r.t. primary side",
        start=0.0,
        dummy=lambda self: not self.considerMagnetization,
    )

    def couple(self) -> None:
        self.relation(self.v1 - self.n * self.v2)
        if self.considerMagnetization:
            self.der.psim1 = self.v1
            self.im1 = self.psim1 / self.Lm1
        else:
            self.psim1, self.im1 = 0.0, 0.0
        self.i1 = self.im1 - self.i2 / self.n


class IdealOpAmpLimited(SuppliedOpAmp):
    """Ideal operational amplifier with limitation."""

    modelica_name = "Electrical.Analog.Ideal.IdealOpAmpLimited"

    s = NetworkVariable(t.Real, "Auxiliary variable: -1 to 1 within the limits", start=0.0)

    def amplify(self) -> None:
        s, top, bottom = self.s, self.VMax.v, self.VMin.v
        high, low = self.switch(s - 1, 1.0, 0.0), self.switch(-1 - s, 1.0, 0.0)
        between = (1 - high) * (1 - low)
        self.relation(self.vin - high * (s - 1) - low * (s + 1))
        inner = (top - bottom) * s / 2 + (top + bottom) / 2
        self.relation(self.out.v - high * top - low * bottom - between * inner)


class IdealizedOpAmpLimited(Component):
    """Idealized operational amplifier with limitation."""

    modelica_name = "Electrical.Analog.Ideal.IdealizedOpAmpLimited"

    V0 = Parameter(t.Real, 15000.0, "No-load amplification")
    useSupply = Parameter(t.Boolean, False, "Use supply pins (otherwise constant supply)")
    Vps = Parameter(t.Voltage, 15.0, "Positive supply voltage")
    Vns = Parameter(t.Voltage, -15.0, "Negative supply voltage")
    strict = Parameter(t.Boolean, True, "= true, if strict limits with noEvent(..)")
    homotopyType = Parameter(t.LimiterHomotopy, "NoHomotopy", "Simplified model for homotopy-based initialization")
    in_p = PositivePin("Positive pin of the input port")
    in_n = NegativePin("Negative pin of the input port")
    out = PositivePin("Pin of the output port")
    s_p = PositivePin("Optional positive supply pin", when=lambda self: self.useSupply)
    s_n = NegativePin("Optional negative supply pin", when=lambda self: self.useSupply)
    vps = Variable(t.Voltage, "Positive supply voltage")
    vns = Variable(t.Voltage, "Negative supply voltage")
    v_in = Variable(t.Voltage, "Input voltage difference")
    v_out = Variable(t.Voltage, "Output voltage to ground")
    p_in = Variable(t.Power, "Input power")
    p_out = Variable(t.Power, "Output power")
    p_s = Variable(t.Power, "Supply power")
    i_s = Variable(t.Current, "Supply current")
    i_out = NetworkVariable(t.Current, "Current flowing into the output pin (= out.i)", start=0.0)

    def equations(self) -> None:
        self.vps, self.vns = (self.s_p.v, self.s_n.v) if self.useSupply else (self.Vps, self.Vns)
        self.v_in, self.v_out = self.in_p.v - self.in_n.v, self.out.v
        open_loop = self.V0 * self.v_in
        lower = self.switch(self.vns - open_loop, self.vns, open_loop)
        self.relation(self.v_out - self.switch(open_loop - self.vps, self.vps, lower))
        self.in_p.i = self.in_n.i = 0.0
        self.out.i = self.i_out
        self.p_in, self.p_out = 0.0, self.v_out * self.i_out
        self.p_s = -(self.p_in + self.p_out)
        self.i_s = self.p_s / (self.vps - self.vns)
        if self.useSupply:
            self.s_p.i, self.s_n.i = self.i_s, -self.i_s


__all__ = [
    "CloserWithArc",
    "ControlledCloserWithArc",
    "ControlledIdealClosingSwitch",
    "ControlledIdealCommutingSwitch",
    "ControlledIdealIntermediateSwitch",
    "ControlledIdealOpeningSwitch",
    "ControlledOpenerWithArc",
    "IdealCommutingSwitch",
    "IdealGTOThyristor",
    "IdealIntermediateSwitch",
    "IdealOpAmpLimited",
    "IdealThyristor",
    "IdealTransformer",
    "IdealTriac",
    "IdealizedOpAmpLimited",
    "OpenerWithArc",
]
