"""Temperatures in degree Rankine (Modelica.Thermal.HeatTransfer.Rankine 4.1)."""

from __future__ import annotations

from mbfmu.components.thermal import sensors, sources
from mbfmu.components.thermal.interfaces import Scale
from mbfmu.modeling import RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, required


class Rankine(Scale):
    """Temperatures in degree Rankine."""

    degree = 5 / 9


class ToKelvin(Rankine):
    """Conversion block from degree Rankine to Kelvin."""

    modelica_name = "Thermal.HeatTransfer.Rankine.ToKelvin"

    Rankine = RealInput("Temperature in degree Rankine", type=t.Temperature_degRk)
    Kelvin = RealOutput("Temperature in Kelvin", type=t.Temperature)

    def equations(self) -> None:
        self.Kelvin = self.kelvins(self.Rankine)


class FromKelvin(Rankine):
    """Conversion from Kelvin to degree Rankine."""

    modelica_name = "Thermal.HeatTransfer.Rankine.FromKelvin"

    Kelvin = RealInput("Temperature in Kelvin", type=t.Temperature)
    Rankine = RealOutput("Temperature in degree Rankine", type=t.Temperature_degRk)

    def equations(self) -> None:
        self.Rankine = self.degrees(self.Kelvin)


class FixedTemperature(Rankine, sources.FixedTemperature):
    """Fixed temperature boundary condition in degree Rankine."""

    modelica_name = "Thermal.HeatTransfer.Rankine.FixedTemperature"

    T = Parameter(t.Temperature_degRk, required, "Fixed temperature at the port", tunable=True)


class PrescribedTemperature(Rankine, sources.PrescribedTemperature):
    """Variable temperature boundary condition in degree Rankine."""

    modelica_name = "Thermal.HeatTransfer.Rankine.PrescribedTemperature"

    T = RealInput("Temperature at the port", type=t.Temperature_degRk)


class TemperatureSensor(Rankine, sensors.TemperatureSensor):
    """Absolute temperature sensor in degree Rankine."""

    modelica_name = "Thermal.HeatTransfer.Rankine.TemperatureSensor"

    T = RealOutput("Absolute temperature in degree Rankine as output signal", type=t.Temperature_degRk)


__all__ = ["FixedTemperature", "FromKelvin", "PrescribedTemperature", "TemperatureSensor", "ToKelvin"]
