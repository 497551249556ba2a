"""Stores of heat, and what conducts it (Modelica.Thermal.HeatTransfer.Components 4.1)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.adaptors import FlowToPotentialAdaptor, PotentialToFlowAdaptor
from mbfmu.components.thermal.interfaces import Element1D, HeatPort_a, HeatPort_b, Transport
from mbfmu.modeling import Component, RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final, Parameter, State, Variable, required

#: Stefan-Boltzmann constant [W/(m2.K4)], from the exact SI values of k, h and c.
STEFAN_BOLTZMANN = 5.670374419184429e-8


class HeatCapacitor(Component):
    """Lumped thermal element storing heat."""

    modelica_name = "Thermal.HeatTransfer.Components.HeatCapacitor"

    C = Parameter(t.HeatCapacity, required, "Heat capacity of element (= cp*m)", min=0, nonzero=True)
    T = State(t.Temperature, "Temperature of element", start=293.15)
    der_T = Variable(t.TemperatureSlope, "Time derivative of temperature (= der(T))", start=0.0)
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
    """Lumped thermal element for radiation heat transfer."""

    modelica_name = "Thermal.HeatTransfer.Components.BodyRadiation"

    Gr = Parameter(
        t.Type("RadiationConductance", unit="m2"), required, "Net radiation conductance between two surfaces"
    )

    def heat_flow(self) -> ca.SX:
        return self.Gr * STEFAN_BOLTZMANN * (self.port_a.T**4 - self.port_b.T**4)


class ThermalCollector(Component):
    """Collects m heat flows: the ports port_a[1] ... port_a[m] and port_b have one temperature."""

    modelica_name = "Thermal.HeatTransfer.Components.ThermalCollector"

    m = Parameter(t.Integer, 3, "Number of collected heat flows", min=1)
    port_b = HeatPort_b("Port of the sum")

    def modify(self, **modifiers: Any) -> None:
        """Take values, and make as many ports as there are to be."""
        super().modify(**modifiers)
        self._ports.clear()
        for name in self.names():
            setattr(self, name, HeatPort_a("Port of one heat flow"))

    def names(self) -> list[str]:
        """Names of the ports of single heat flows."""
        return [f"port_a[{i}]" for i in range(1, self.m + 1)]

    @property
    def port_a(self) -> list[Any]:
        """Ports of single heat flows, counted from 0 as Python does."""
        return [getattr(self, name) for name in self.names()]

    def equations(self) -> None:
        for port in self.port_a:
            self.relation(port.T - self.port_b.T)


class ThermalCollectorMatrix(ThermalCollector):
    """Collects Ns x Np heat flows: the ports port_a[1,1] ... port_a[Ns,Np] and port_b have one temperature."""

    modelica_name = "Thermal.HeatTransfer.Components.ThermalCollectorMatrix"

    m = Final(t.Integer, lambda self: self.Ns * self.Np, "Number of collected heat flows", structural=True)
    Ns = Parameter(t.Integer, required, "Number of rows", min=1)
    Np = Parameter(t.Integer, required, "Number of columns", min=1)

    def names(self) -> list[str]:
        """Names of the ports of single heat flows, row by row."""
        if not (self.is_given("Ns") and self.is_given("Np")):
            return []
        return [f"port_a[{i},{j}]" for i in range(1, self.Ns + 1) for j in range(1, self.Np + 1)]


class GeneralTemperatureToHeatFlowAdaptor(PotentialToFlowAdaptor):
    """Signal adaptor for a heat port with heat flow as output and temperature and its derivative as input."""

    modelica_name = "Thermal.HeatTransfer.Components.GeneralTemperatureToHeatFlowAdaptor"

    use_pder2 = Final(t.Boolean, lambda self: False, "Use input for 2nd derivative of potential", structural=True)
    p = RealInput("Temperature of the port", type=t.Temperature)
    pder = RealInput("Rate of the temperature", type=t.TemperatureSlope, when=lambda self: self.use_pder)
    f = RealOutput("Heat flow needed to keep the temperature (= -heatPort.Q_flow)", type=t.HeatFlowRate)
    heatPort = HeatPort_b("Port whose temperature is given", needed=True)

    def adapt(self, potential: Any) -> Any:
        self.heatPort.T = potential
        return self.heatPort.Q_flow


class GeneralHeatFlowToTemperatureAdaptor(FlowToPotentialAdaptor):
    """Signal adaptor for a heat port with temperature and its derivative as outputs and heat flow as input."""

    modelica_name = "Thermal.HeatTransfer.Components.GeneralHeatFlowToTemperatureAdaptor"

    use_pder = Parameter(
        t.Boolean, False, "Use output for 1st derivative of potential (cannot be given: see HeatCapacitor.der_T)"
    )
    use_pder2 = Final(t.Boolean, lambda self: False, "Use output for 2nd derivative of potential", structural=True)
    f = RealInput("Heat flow into the adaptor (= heatPort.Q_flow)", type=t.HeatFlowRate)
    p = RealOutput("Temperature of the port", type=t.Temperature)
    pder = RealOutput("Rate of the temperature", type=t.TemperatureSlope, when=lambda self: self.use_pder)
    heatPort = HeatPort_a("Port that is loaded", needed=True)

    def adapt(self, flow: Any) -> Any:
        self.heatPort.Q_flow = flow
        return self.heatPort.T


__all__ = [
    "BodyRadiation",
    "Convection",
    "ConvectiveResistor",
    "GeneralHeatFlowToTemperatureAdaptor",
    "GeneralTemperatureToHeatFlowAdaptor",
    "HeatCapacitor",
    "ThermalCollector",
    "ThermalCollectorMatrix",
    "ThermalConductor",
    "ThermalResistor",
]
