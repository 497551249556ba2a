"""Sensors of heat transfer (Modelica.Thermal.HeatTransfer.Sensors 4.0)."""

from __future__ import annotations

from typing import ClassVar

from mbfmu.components.thermal.interfaces import HeatPort_a, HeatPort_b

from mbfmu.modeling import Component, RealOutput
from mbfmu.modeling import types as t


class TemperatureSensor(Component):
    """Absolute temperature sensor in Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Sensors.TemperatureSensor"

    T = RealOutput("Absolute temperature as output signal", type=t.Temperature)
    port = HeatPort_a("Port where the temperature is measured", needed=True)
    #: Temperature at which T is 0 [K].
    zero: ClassVar[float] = 0.0

    def equations(self) -> None:
        self.T = self.port.T - self.zero


class RelTemperatureSensor(Component):
    """Relative temperature sensor."""

    modelica_name = "Thermal.HeatTransfer.Sensors.RelTemperatureSensor"

    T_rel = RealOutput("Relative temperature (= port_a.T - port_b.T) as output signal", type=t.TemperatureDifference)
    port_a = HeatPort_a("Port a", needed=True)
    port_b = HeatPort_b("Port b", needed=True)

    def equations(self) -> None:
        self.T_rel = self.port_a.T - self.port_b.T


class HeatFlowSensor(Component):
    """Heat flow rate sensor: its ports have one temperature."""

    modelica_name = "Thermal.HeatTransfer.Sensors.HeatFlowSensor"

    Q_flow = RealOutput("Heat flow from port_a to port_b as output signal", type=t.HeatFlowRate)
    port_a = HeatPort_a("Port a", needed=True)
    port_b = HeatPort_b("Port b", needed=True)

    def equations(self) -> None:
        self.relation(self.port_a.T - self.port_b.T)
        self.Q_flow = self.port_a.Q_flow


__all__ = ["HeatFlowSensor", "RelTemperatureSensor", "TemperatureSensor"]
