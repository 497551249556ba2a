"""Sensors of heat transfer (Modelica.Thermal.HeatTransfer.Sensors 4.1)."""

from __future__ import annotations

from mbfmu.components.thermal.interfaces import HeatPort_a, HeatPort_b, Scale
from mbfmu.components.thermal.sources import FixedTemperature
from mbfmu.modeling import Component, RealOutput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter


class TemperatureSensor(Scale):
    """Absolute temperature sensor in Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Sensors.TemperatureSensor"

    T = RealOutput("Absolute temperature as output signal", type=t.Temperature)
    port = HeatPort_a("Port where the temperature is measured", needed=True)

    def equations(self) -> None:
        self.T = self.degrees(self.port.T)


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


class ConditionalFixedHeatFlowSensor(Component):
    """HeatFlowSensor, conditional fixed temperature: 293.15 K at both ports if wanted."""

    modelica_name = "Thermal.HeatTransfer.Sensors.ConditionalFixedHeatFlowSensor"

    useFixedTemperature = Parameter(t.Boolean, required, "Fixed temperature if true")
    Q_flow = RealOutput("Heat flow from port_a to port_b as output signal", type=t.HeatFlowRate)
    port_a = HeatPort_a("Port a", needed=True)
    port_b = HeatPort_b("Port b", needed=True)

    def build(self) -> None:
        self.heatFlowSensor = HeatFlowSensor()
        self.connect(self.port_a, self.heatFlowSensor.port_a)
        self.connect(self.heatFlowSensor.port_b, self.port_b)
        self.connect(self.heatFlowSensor.Q_flow, self.Q_flow)
        if self.is_given("useFixedTemperature") and self.useFixedTemperature:
            self.fixedTemperature = FixedTemperature(T=293.15)
            self.connect(self.fixedTemperature.port, self.heatFlowSensor.port_a)


__all__ = ["ConditionalFixedHeatFlowSensor", "HeatFlowSensor", "RelTemperatureSensor", "TemperatureSensor"]
