"""What electrical components build on (Modelica.Electrical.Analog.Interfaces 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.thermal.interfaces import HeatPort_a
from mbfmu.modeling import Component, NetworkVariable, Parameter, Pin, Variable, required
from mbfmu.modeling import types as t


class PositivePin(Pin):
    """Positive pin of an electrical component."""


class NegativePin(Pin):
    """Negative pin of an electrical component."""


class TwoPin(Component):
    """Component with two electrical pins."""

    v = Variable(t.Voltage, "Voltage drop of the two pins (= p.v - n.v)", start=0.0)
    p = PositivePin("Positive electrical pin")
    n = NegativePin("Negative electrical pin")


class OnePort(TwoPin):
    """Component with two pins p and n and the current i from p to n: a subclass defines `current`."""

    i = Variable(t.Current, "Current flowing from pin p to pin n", start=0.0)

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.i = self.current()
        self.p.i, self.n.i = self.i, -self.i

    def current(self) -> Any:
        """Current from p to n [A]."""
        raise NotImplementedError(f"{type(self).__name__} must define current()")


class VoltagePort(OnePort):
    """OnePort whose current follows from its voltage: a subclass defines `voltage`, in which the current i may be."""

    i = NetworkVariable(t.Current, "Current flowing from pin p to pin n", start=0.0)

    def equations(self) -> None:
        self.v = self.p.v - self.n.v
        self.relation(self.v - self.voltage())
        self.p.i, self.n.i = self.i, -self.i

    def voltage(self) -> Any:
        """Voltage drop from p to n [V]."""
        raise NotImplementedError(f"{type(self).__name__} must define voltage()")


class TwoPort(Component):
    """Component with two ports, each with a current from its positive to its negative pin."""

    v1 = Variable(t.Voltage, "Voltage drop of port 1 (= p1.v - n1.v)", start=0.0)
    v2 = Variable(t.Voltage, "Voltage drop of port 2 (= p2.v - n2.v)", start=0.0)
    i1 = Variable(t.Current, "Current flowing from pos. to neg. pin of port 1", start=0.0)
    i2 = Variable(t.Current, "Current flowing from pos. to neg. pin of port 2", start=0.0)
    p1 = PositivePin("Positive electrical pin of port 1")
    n1 = NegativePin("Negative electrical pin of port 1")
    p2 = PositivePin("Positive electrical pin of port 2")
    n2 = NegativePin("Negative electrical pin of port 2")

    def equations(self) -> None:
        self.v1, self.v2 = self.p1.v - self.n1.v, self.p2.v - self.n2.v
        self.couple()
        self.p1.i, self.n1.i = self.i1, -self.i1
        self.p2.i, self.n2.i = self.i2, -self.i2

    def couple(self) -> None:
        """Say what the ports have to do with each other: v1 and v2 are known, i1 and i2 are to be."""
        raise NotImplementedError(f"{type(self).__name__} must define couple()")


class ConditionalHeatPort(Component):
    """Component whose losses go into a heat port where there is one, and which knows its temperature."""

    useHeatPort = Parameter(t.Boolean, False, "= true, if heatPort is enabled")
    T = Parameter(t.Temperature, 293.15, "Fixed device temperature if useHeatPort = false")
    heatPort = HeatPort_a(
        "Optional port to which dissipated losses are transported in form of heat",
        when=lambda self: self.useHeatPort,
        needed=True,
    )
    LossPower = Variable(t.Power, "Loss power leaving component via heatPort")
    T_heatPort = Variable(t.Temperature, "Temperature of heatPort, or T where there is none")

    def lose(self, power: Any) -> None:
        """Turn `power` [W] into heat."""
        self.T_heatPort = self.temperature
        self.LossPower = power
        if self.useHeatPort:
            self.heatPort.Q_flow = -self.LossPower
        self.energy(dissipated=self.LossPower)

    @property
    def temperature(self) -> Any:
        """Temperature of the component [K]."""
        return self.heatPort.T if self.useHeatPort else self.T


class PartialIdealSwitch(ConditionalHeatPort, OnePort):
    """Two-terminal element that conducts or does not: a subclass defines `is_off`.

    The parameter s of its characteristic is the voltage beyond the knee where it is off, the current where it is on.
    """

    Ron = Parameter(t.Resistance, 1e-5, "Resistance while it conducts", min=0)
    Goff = Parameter(t.Conductance, 1e-5, "Conductance while it does not conduct", min=0)
    s = NetworkVariable(t.Real, "Auxiliary variable: where on the characteristic the component is", start=0.0)
    off = Variable(t.Boolean, "= true, while it does not conduct", start=1.0)

    def equations(self) -> None:
        self.off = self.is_off()
        self.v = self.p.v - self.n.v
        self.relation(self.v - self.s * (self.off + (1 - self.off) * self.Ron) - self.knee)
        self.i = self.s * (self.off * self.Goff + (1 - self.off)) + self.Goff * self.knee
        self.p.i, self.n.i = self.i, -self.i
        self.lose(self.v * self.i)

    def is_off(self) -> Any:
        """1 while it does not conduct, 0 while it does."""
        raise NotImplementedError(f"{type(self).__name__} must define is_off()")

    @property
    def knee(self) -> Any:
        """Voltage from which on it conducts [V]."""
        return 0.0


class IdealSwitch(PartialIdealSwitch):
    """Electrical switch: a subclass defines `is_off`."""


class IdealSemiconductor(PartialIdealSwitch):
    """Electronic switch with a threshold: a subclass defines `is_off`."""

    Vknee = Parameter(t.Voltage, 0.0, "Threshold voltage", min=0)

    @property
    def knee(self) -> Any:
        """Voltage from which on it conducts [V]."""
        return self.Vknee


class IdealSwitchWithArc(ConditionalHeatPort, OnePort):
    """Switch with a simple arc: a subclass defines `is_off`.

    Where it opens under current, an arc begins with the voltage V0, which grows with dVdt up to Vmax; it goes out where
    the current is no more than what the open switch lets through.
    """

    Ron = Parameter(t.Resistance, 1e-5, "Closed switch resistance", min=0)
    Goff = Parameter(t.Conductance, 1e-5, "Opened switch conductance", min=0)
    V0 = Parameter(t.Voltage, required, "Initial arc voltage")
    dVdt = Parameter(t.Type("VoltageSlope", unit="V/s"), required, "Arc voltage slope", min=1e-60)
    Vmax = Parameter(t.Voltage, required, "Max. arc voltage")
    s = NetworkVariable(t.Real, "Auxiliary variable: current, or voltage while it is open without arc", start=0.0)
    off = Variable(t.Boolean, "= true, while it is off (but maybe not quenched)", start=1.0)
    quenched = Variable(t.Boolean, "= true, while there is no arc, if the switch is off", start=1.0)

    def equations(self) -> None:
        self.off = off = self.is_off()
        opened, sign = self.edge(off >= 0.5), ca.sign(self.pre(self.s))
        direction = self.hold(opened, value=sign)
        since = self.hold(opened, value=self.time, start=-1e60)
        v = self.p.v - self.n.v
        goes_out = self.edge(ca.logic_and(off >= 0.5, ca.fabs(v) * self.Goff - direction * self.s >= 0))
        self.quenched = self.hold(opened, goes_out, value=ca.if_else(opened.active, sign == 0, 1), start=1.0)
        self.time_event(since + (self.Vmax - self.V0) / self.dVdt)
        arc = direction * ca.fmin(self.Vmax, self.V0 + self.dVdt * (self.time - since))
        is_open, burns = off * self.quenched, off * (1 - self.quenched)
        self.relation(v - burns * arc - self.s * (is_open + (1 - off) * self.Ron))
        self.v, self.i = v, self.s * (1 - is_open + is_open * self.Goff)
        self.p.i, self.n.i = self.i, -self.i
        self.lose(self.v * self.i)

    def is_off(self) -> Any:
        """1 while it is off, 0 while it conducts."""
        raise NotImplementedError(f"{type(self).__name__} must define is_off()")


class RelativeSensor(Component):
    """Sensor between two pins."""

    p = PositivePin("Positive electrical pin")
    n = NegativePin("Negative electrical pin")


__all__ = [
    "ConditionalHeatPort",
    "IdealSemiconductor",
    "IdealSwitch",
    "IdealSwitchWithArc",
    "NegativePin",
    "OnePort",
    "PartialIdealSwitch",
    "Pin",
    "PositivePin",
    "RelativeSensor",
    "TwoPin",
    "TwoPort",
    "VoltagePort",
]


class SuppliedOpAmp(Component):
    """Operational amplifier without input currents, whose supply pins limit the voltage of its output."""

    in_p = PositivePin("Positive pin of the input port")
    in_n = NegativePin("Negative pin of the input port")
    out = PositivePin("Output pin")
    VMax = PositivePin("Positive output voltage limitation")
    VMin = NegativePin("Negative output voltage limitation")
    vin = Variable(t.Voltage, "Input voltage")
    i_out = NetworkVariable(t.Current, "Current flowing into the output pin (= out.i)", start=0.0)

    def equations(self) -> None:
        self.vin = self.in_p.v - self.in_n.v
        self.amplify()
        self.out.i = self.i_out
        self.in_p.i = self.in_n.i = self.VMax.i = self.VMin.i = 0.0

    def amplify(self) -> None:
        """Say what `out.v` has to do with `vin`, which is known, and with the supply."""
        raise NotImplementedError(f"{type(self).__name__} must define amplify()")
