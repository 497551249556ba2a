"""Ideal electrical components (Modelica.Electrical.Analog.Ideal 4.1)."""

from __future__ import annotations

from typing import Any

from mbfmu.components.blocks.logical import TRUE_FROM
from mbfmu.components.electrical.interfaces import (
    IdealSemiconductor,
    IdealSwitch,
    NegativePin,
    OnePort,
    PositivePin,
    TwoPort,
    VoltagePort,
)
from mbfmu.modeling import BooleanInput, Component, NetworkVariable, Parameter, required
from mbfmu.modeling import types as t

#: Voltage beyond which a diode begins to conduct, and reverse current beyond which it ends [V, A]: rounding must not
#: decide where several diodes change at one instant.
HYSTERESIS = 1e-9


class IdealOpAmp(TwoPort):
    """Ideal operational amplifier (norator-nullator pair): the output current is such that the input voltage is 0."""

    modelica_name = "Electrical.Analog.Ideal.IdealOpAmp"

    i2 = NetworkVariable(t.Current, "Current flowing from pos. to neg. pin of the output port", start=0.0)

    def couple(self) -> None:
        self.i1 = 0.0
        self.relation(self.v1)


class IdealOpAmp3Pin(Component):
    """Ideal operational amplifier (norator-nullator pair), 3 pins: its output current goes to the ground."""

    modelica_name = "Electrical.Analog.Ideal.IdealOpAmp3Pin"

    in_p = PositivePin("Positive pin of the input port")
    in_n = NegativePin("Negative pin of the input port")
    out = PositivePin("Output pin")
    i_out = NetworkVariable(t.Current, "Current flowing into the output pin (= out.i)", start=0.0)

    def equations(self) -> None:
        self.relation(self.in_p.v - self.in_n.v)
        self.out.i = self.i_out


class IdealDiode(IdealSemiconductor):
    """Ideal diode: it conducts from p to n."""

    modelica_name = "Electrical.Analog.Ideal.IdealDiode"

    def is_off(self) -> Any:
        return self.switch(lambda conducts: self.s + HYSTERESIS * (2 * conducts - 1), 0.0, 1.0)


class _Controlled(IdealSwitch):
    """Switch with a control signal."""

    def controlled(self, then: float, otherwise: float) -> Any:
        """`then` while the control signal is true."""
        return self.switch(self.control - TRUE_FROM, then, otherwise)


class IdealOpeningSwitch(_Controlled):
    """Ideal electrical opener."""

    modelica_name = "Electrical.Analog.Ideal.IdealOpeningSwitch"

    control = BooleanInput("True => switch open, false => p--n connected")

    def is_off(self) -> Any:
        return self.controlled(1.0, 0.0)


class IdealClosingSwitch(_Controlled):
    """Ideal electrical closer."""

    modelica_name = "Electrical.Analog.Ideal.IdealClosingSwitch"

    control = BooleanInput("True => p--n connected, false => switch open")

    def is_off(self) -> Any:
        return self.controlled(0.0, 1.0)


class IdealGyrator(TwoPort):
    """Ideal gyrator: each current follows from the voltage of the other port, without loss."""

    modelica_name = "Electrical.Analog.Ideal.IdealGyrator"

    G = Parameter(t.Conductance, required, "Gyration conductance", tunable=True)

    def couple(self) -> None:
        self.i1, self.i2 = self.G * self.v2, -self.G * self.v1


class Short(VoltagePort):
    """Short cut branch."""

    modelica_name = "Electrical.Analog.Ideal.Short"

    def voltage(self) -> Any:
        return 0.0


class Idle(OnePort):
    """Idle branch: no current flows."""

    modelica_name = "Electrical.Analog.Ideal.Idle"

    def current(self) -> Any:
        return 0.0


__all__ = [
    "IdealClosingSwitch",
    "IdealDiode",
    "IdealGyrator",
    "IdealOpAmp",
    "IdealOpAmp3Pin",
    "IdealOpeningSwitch",
    "Idle",
    "Short",
]
