"""Temperatures and heat flows from outside (Modelica.Thermal.HeatTransfer.Sources 4.1)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.thermal.interfaces import HeatPort_b, Scale
from mbfmu.modeling import Component, RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, required


class FixedTemperature(Scale):
    """Fixed temperature boundary condition in Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Sources.FixedTemperature"

    T = Parameter(t.Temperature, required, "Fixed temperature at port", tunable=True)
    port = HeatPort_b("Port")

    def equations(self) -> None:
        self.port.T = self.kelvins(self.T)


class PrescribedTemperature(Scale):
    """Variable temperature boundary condition in Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Sources.PrescribedTemperature"

    T = RealInput("Temperature at port", type=t.Temperature)
    port = HeatPort_b("Port")

    def equations(self) -> None:
        self.port.T = self.kelvins(self.T)


class _HeatFlow(Component):
    """Heat flow into what is connected, as a function of the temperature there."""

    T_ref = Parameter(t.Temperature, 293.15, "Reference temperature")
    alpha = Parameter(t.LinearTemperatureCoefficient, 0.0, "Temperature coefficient of heat flow rate", structural=True)
    port = HeatPort_b("Port")

    def heat(self, rate: ca.SX) -> None:
        """Let `rate` [W] flow at the reference temperature."""
        self.port.Q_flow = -rate * (1 + self.alpha * (self.port.T - self.T_ref))


class FixedHeatFlow(_HeatFlow):
    """Fixed heat flow boundary condition."""

    modelica_name = "Thermal.HeatTransfer.Sources.FixedHeatFlow"

    Q_flow = Parameter(t.HeatFlowRate, required, "Fixed heat flow rate at port", tunable=True)

    def equations(self) -> None:
        self.heat(self.Q_flow)


class PrescribedHeatFlow(_HeatFlow):
    """Prescribed heat flow boundary condition."""

    modelica_name = "Thermal.HeatTransfer.Sources.PrescribedHeatFlow"

    Q_flow = RealInput("Heat flow rate into what is connected", type=t.HeatFlowRate)

    def equations(self) -> None:
        self.heat(self.Q_flow)


__all__ = ["FixedHeatFlow", "FixedTemperature", "PrescribedHeatFlow", "PrescribedTemperature"]
