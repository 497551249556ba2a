"""Temperatures in degree Celsius (Modelica.Thermal.HeatTransfer.Celsius 4.1)."""

from __future__ import annotations

from mbfmu.components.thermal import sensors, sources
from mbfmu.components.thermal.interfaces import Scale
from mbfmu.modeling import RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, required


class Celsius(Scale):
    """Temperatures in degree Celsius."""

    zero = 273.15


class ToKelvin(Celsius):
    """Conversion block from degree Celsius to Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Celsius.ToKelvin"

    Celsius = RealInput("Temperature in degree Celsius", type=t.Temperature_degC)
    Kelvin = RealOutput("Temperature in Kelvin", type=t.Temperature)

    def equations(self) -> None:
        self.Kelvin = self.kelvins(self.Celsius)


class FromKelvin(Celsius):
    """Conversion from Kelvin to degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.FromKelvin"

    Kelvin = RealInput("Temperature in Kelvin", type=t.Temperature)
    Celsius = RealOutput("Temperature in degree Celsius", type=t.Temperature_degC)

    def equations(self) -> None:
        self.Celsius = self.degrees(self.Kelvin)


class FixedTemperature(Celsius, sources.FixedTemperature):
    """Fixed temperature boundary condition in degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.FixedTemperature"

    T = Parameter(t.Temperature_degC, required, "Fixed temperature at the port", tunable=True)


class PrescribedTemperature(Celsius, sources.PrescribedTemperature):
    """Variable temperature boundary condition in degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.PrescribedTemperature"

    T = RealInput("Temperature at the port", type=t.Temperature_degC)


class TemperatureSensor(Celsius, sensors.TemperatureSensor):
    """Absolute temperature sensor in degree Celsius."""

    modelica_name = "Thermal.HeatTransfer.Celsius.TemperatureSensor"

    T = RealOutput("Absolute temperature in degree Celsius as output signal", type=t.Temperature_degC)


__all__ = ["FixedTemperature", "FromKelvin", "PrescribedTemperature", "TemperatureSensor", "ToKelvin"]
