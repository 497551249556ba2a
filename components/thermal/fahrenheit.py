"""Temperatures in degree Fahrenheit (Modelica.Thermal.HeatTransfer.Fahrenheit 4.1)."""

from __future__ import annotations

from mbfmu.components.thermal import sensors, sources
from mbfmu.components.thermal.interfaces import Scale
from mbfmu.modeling import RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, required


class Fahrenheit(Scale):
    """Temperatures in degree Fahrenheit."""

    zero, degree = 459.67 * 5 / 9, 5 / 9


class ToKelvin(Fahrenheit):
    """Conversion block from degree Fahrenheit to Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Fahrenheit.ToKelvin"

    Fahrenheit = RealInput("Temperature in degree Fahrenheit", type=t.Temperature_degF)
    Kelvin = RealOutput("Temperature in Kelvin", type=t.Temperature)

    def equations(self) -> None:
        self.Kelvin = self.kelvins(self.Fahrenheit)


class FromKelvin(Fahrenheit):
    """Conversion from Kelvin to degree Fahrenheit."""

    modelica_name = "Thermal.HeatTransfer.Fahrenheit.FromKelvin"

    Kelvin = RealInput("Temperature in Kelvin", type=t.Temperature)
    Fahrenheit = RealOutput("Temperature in degree Fahrenheit", type=t.Temperature_degF)

    def equations(self) -> None:
        self.Fahrenheit = self.degrees(self.Kelvin)


class FixedTemperature(Fahrenheit, sources.FixedTemperature):
    """Fixed temperature boundary condition in degree Fahrenheit."""

    modelica_name = "Thermal.HeatTransfer.Fahrenheit.FixedTemperature"

    T = Parameter(t.Temperature_degF, required, "Fixed temperature at the port", tunable=True)


class PrescribedTemperature(Fahrenheit, sources.PrescribedTemperature):
    """Variable temperature boundary condition in degree Fahrenheit."""

    modelica_name = "Thermal.HeatTransfer.Fahrenheit.PrescribedTemperature"

    T = RealInput("Temperature at the port", type=t.Temperature_degF)


class TemperatureSensor(Fahrenheit, sensors.TemperatureSensor):
    """Absolute temperature sensor in degree Fahrenheit."""

    modelica_name = "Thermal.HeatTransfer.Fahrenheit.TemperatureSensor"

    T = RealOutput("Absolute temperature in degree Fahrenheit as output signal", type=t.Temperature_degF)


__all__ = ["FixedTemperature", "FromKelvin", "PrescribedTemperature", "TemperatureSensor", "ToKelvin"]
