"""Temperatures in degree Celsius (Modelica.Thermal.HeatTransfer.Celsius 4.0)."""

from __future__ import annotations

from mbfmu.components.thermal import sensors, sources

from mbfmu.modeling import Component, RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, required

#: 0 degC [K].
ZERO = 273.15


class ToKelvin(Component):
    """Conversion block from degree Celsius to Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Celsius.ToKelvin"

    Celsius = RealInput("Temperature in degree Celsius", type=t.Temperature_degC)
    Kelvin = RealOutput("Temperature in Kelvin", type=t.Temperature)

    def equations(self) -> None:
        self.Kelvin = self.Celsius + ZERO


class FromKelvin(Component):
    """Conversion from Kelvin to degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.FromKelvin"

    Kelvin = RealInput("Temperature in Kelvin", type=t.Temperature)
    Celsius = RealOutput("Temperature in degree Celsius", type=t.Temperature_degC)

    def equations(self) -> None:
        self.Celsius = self.Kelvin - ZERO


class FixedTemperature(sources.FixedTemperature):
    """Fixed temperature boundary condition in degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.FixedTemperature"
    zero = ZERO

    T = Parameter(t.Temperature_degC, required, "Fixed temperature at the port", tunable=True)


class PrescribedTemperature(sources.PrescribedTemperature):
    """Variable temperature boundary condition in degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.PrescribedTemperature"
    zero = ZERO

    T = RealInput("Temperature at the port", type=t.Temperature_degC)


class TemperatureSensor(sensors.TemperatureSensor):
    """Absolute temperature sensor in degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.TemperatureSensor"
    zero = ZERO

    T = RealOutput("Absolute temperature in degree Celsius as output signal", type=t.Temperature_degC)


__all__ = ["FixedTemperature", "FromKelvin", "PrescribedTemperature", "TemperatureSensor", "ToKelvin"]
