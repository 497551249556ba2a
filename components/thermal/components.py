"""Stores of heat, and what conducts it (Modelica.Thermal.HeatTransfer.Components 4.0)."""

from __future__ import annotations

import casadi as ca
from mbfmu.components.thermal.interfaces import Element1D, HeatPort_a, HeatPort_b, Transport

from mbfmu.modeling import Component, RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, State, Variable, required

#: Stefan-Boltzmann constant [W/(m2.K4)], from the exact SI values of k, h and c.
STEFAN_BOLTZMANN = 5.670374419184429e-8


class HeatCapacitor(Component):
    """Lumped thermal element storing heat."""

    modelica_name = "Thermal.HeatTransfer.Components.HeatCapacitor"

    C = Parameter(t.HeatCapacity, required, "Heat capacity of element (= cp*m)", nonzero=True)
    T = State(t.Temperature, "Temperature of element", start=293.15)
    der_T = Variable(t.Type("TemperatureSlope", unit="K/s"), "Time derivative of temperature (= der(T))", start=0.0)
    port = HeatPort_a("Port of the element")

    def equations(self) -> None:
        self.port.T = self.T
        self.der_T = self.port.Q_flow / self.C
        self.der.T = self.der_T


class ThermalConductor(Element1D):
    """Lumped thermal element transporting heat without storing it."""

    modelica_name = "Thermal.HeatTransfer.Components.ThermalConductor"

    G = Parameter(t.ThermalConductance, required, "Constant thermal conductance of material", tunable=True)

    def heat_flow(self) -> ca.SX:
        return self.G * self.dT


class ThermalResistor(Element1D):
    """Lumped thermal element transporting heat without storing it, given by its resistance."""

    modelica_name = "Thermal.HeatTransfer.Components.ThermalResistor"

    R = Parameter(t.ThermalResistance, required, "Constant thermal resistance of material", nonzero=True)

    def heat_flow(self) -> ca.SX:
        return self.dT / self.R


class _Wall(Transport):
    """Heat transfer between a solid and a fluid."""

    ends = ("solid", "fluid")
    solid = HeatPort_a("Port of the solid")
    fluid = HeatPort_b("Port of the fluid")


class Convection(_Wall):
    """Lumped thermal element for heat convection (Q_flow = Gc*dT)."""

    modelica_name = "Thermal.HeatTransfer.Components.Convection"

    Gc = RealInput("Signal representing the convective thermal conductance in [W/K]", type=t.ThermalConductance)

    def heat_flow(self) -> ca.SX:
        return self.Gc * self.dT


class ConvectiveResistor(_Wall):
    """Lumped thermal element for heat convection (dT = Rc*Q_flow)."""

    modelica_name = "Thermal.HeatTransfer.Components.ConvectiveResistor"

    Rc = RealInput("Signal representing the convective thermal resistance in [K/W]", type=t.ThermalResistance)

    def heat_flow(self) -> ca.SX:
        return self.dT / self.Rc


class BodyRadiation(Element1D):
    """Lumped thermal element for radiation heat transfer; the temperatures at both ends must be known."""

    modelica_name = "Thermal.HeatTransfer.Components.BodyRadiation"

    Gr = Parameter(
        t.Type("RadiationConductance", unit="m2"), required, "Net radiation conductance between two surfaces"
    )

    def heat_flow(self) -> ca.SX:
        return self.Gr * STEFAN_BOLTZMANN * (self.port_a.T**4 - self.port_b.T**4)


__all__ = [
    "BodyRadiation",
    "Convection",
    "ConvectiveResistor",
    "HeatCapacitor",
    "ThermalConductor",
    "ThermalResistor",
]
