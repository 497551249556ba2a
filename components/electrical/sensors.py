"""Electrical sensors (Modelica.Electrical.Analog.Sensors 4.1)."""

from __future__ import annotations

from mbfmu.components.electrical.interfaces import NegativePin, PositivePin, RelativeSensor
from mbfmu.modeling import Component, RealOutput
from mbfmu.modeling import types as t


class PotentialSensor(Component):
    """Sensor to measure the potential."""

    modelica_name = "Electrical.Analog.Sensors.PotentialSensor"

    p = PositivePin("Pin to be measured")
    phi = RealOutput("Absolute voltage potential as output signal", type=t.ElectricPotential)

    def equations(self) -> None:
        self.phi = self.p.v


class VoltageSensor(RelativeSensor):
    """Sensor to measure the voltage between two pins."""

    modelica_name = "Electrical.Analog.Sensors.VoltageSensor"

    v = RealOutput("Voltage between pin p and n (= p.v - n.v) as output signal", type=t.Voltage)

    def equations(self) -> None:
        self.v = self.p.v - self.n.v


class CurrentSensor(RelativeSensor):
    """Sensor to measure the current in a branch."""

    modelica_name = "Electrical.Analog.Sensors.CurrentSensor"

    i = RealOutput("Current in the branch from p to n as output signal", type=t.Current)

    def equations(self) -> None:
        self.relation(self.p.v - self.n.v)
        self.i = self.p.i


class _Wattmeter(Component):
    """Sensor with a path for the current and one for the voltage."""

    pc = PositivePin("Positive pin, current path")
    nc = NegativePin("Negative pin, current path")
    pv = PositivePin("Positive pin, voltage path")
    nv = NegativePin("Negative pin, voltage path")
    power = RealOutput("Instantaneous power as output signal", type=t.Power)

    def equations(self) -> None:
        self.relation(self.pc.v - self.nc.v)
        self.power = self.pc.i * (self.pv.v - self.nv.v)


class PowerSensor(_Wattmeter):
    """Sensor to measure the power."""

    modelica_name = "Electrical.Analog.Sensors.PowerSensor"


class MultiSensor(_Wattmeter):
    """Sensor to measure current, voltage and power."""

    modelica_name = "Electrical.Analog.Sensors.MultiSensor"

    i = RealOutput("Current as output signal", type=t.Current)
    v = RealOutput("Voltage as output signal", type=t.Voltage)

    def equations(self) -> None:
        super().equations()
        self.i, self.v = self.pc.i, self.pv.v - self.nv.v


__all__ = ["CurrentSensor", "MultiSensor", "PotentialSensor", "PowerSensor", "VoltageSensor"]
