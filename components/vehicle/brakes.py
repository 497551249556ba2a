"""Brakes whose discs warm up and cool."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.interfaces import Flange_a, Flange_b
from mbfmu.components.rotational.friction import Brake
from mbfmu.components.thermal.components import HeatCapacitor
from mbfmu.components.thermal.interfaces import HeatPort_a, HeatPort_b, Transport
from mbfmu.components.thermal.sources import FixedTemperature
from mbfmu.modeling import Component, Parameter, RealInput, Start, required
from mbfmu.modeling import types as t

#: What conductance to the air grows by with the speed of rotation.
_Ventilation = t.Type("Ventilation", unit="W.s/(K.rad)")


class DiscCooling(Transport):
    """Convection from a disc to the air, in part in proportion of the speed at which the disc turns."""

    modelica_name = "Vehicle.DiscCooling"

    ends = ("solid", "fluid")
    solid, fluid = HeatPort_a("Disc"), HeatPort_b("Air")
    flange_a = Flange_a("Shaft of the disc", needed=True)

    G_0 = Parameter(t.ThermalConductance, 2.0, "Conductance to the air at standstill", min=0, tunable=True)
    G_w = Parameter(_Ventilation, 0.15, "What the conductance grows by with the speed", min=0, tunable=True)

    def heat_flow(self) -> ca.SX:
        self.flange_a.tau = 0
        return (self.G_0 + self.G_w * ca.fabs(self.der(self.flange_a.phi))) * self.dT


class DiscBrake(Component):
    """Brake whose losses warm its disc, which the air cools, the more the faster it turns.

    The conductance to the air is that at standstill and a part in proportion of the speed: forced convection as it is
    about one speed; its parameters are the place for what was measured. Friction does not change with temperature.
    """

    modelica_name = "Vehicle.DiscBrake"

    flange_a, flange_b = Flange_a("Shaft of the disc, on one side"), Flange_b("Shaft of the disc, on the other side")
    f_normalized = RealInput("Normalized force signal 0..1")
    heatPort = HeatPort_a("What else takes heat from the disc, or gives it", when=lambda self: self.useHeatPort)

    tauMax = Parameter(t.Torque, required, "Greatest torque of the brake while it slides", min=0)
    C = Parameter(t.HeatCapacity, 4000.0, "Heat capacity of the disc", min=0, nonzero=True)
    G_0 = Parameter(t.ThermalConductance, 2.0, "Conductance to the air at standstill", min=0, tunable=True)
    G_w = Parameter(_Ventilation, 0.15, "What the conductance grows by with the speed", min=0, tunable=True)
    T_air = Parameter(t.Temperature, 293.15, "Temperature of the air", min=0)
    T_start = Parameter(t.Temperature, lambda self: self.T_air, "Temperature of the disc at the start", min=0)
    useHeatPort = Parameter(t.Boolean, False, "= true, if heatPort is enabled")

    def build(self) -> None:
        self.brake = Brake(fn_max=2 * self.tauMax, mu_pos=((0.0, 0.5),), cgeo=1.0, useHeatPort=True)
        self.disc = HeatCapacitor(C=self.C, T=Start(self.T_start, fixed=True))
        self.cooling = DiscCooling(G_0=self.G_0, G_w=self.G_w)
        self.air = FixedTemperature(T=self.T_air)
        self.connect(self.flange_a, self.brake.flange_a)
        self.connect(self.brake.flange_b, self.flange_b)
        self.connect(self.f_normalized, self.brake.f_normalized)
        self.connect(self.brake.heatPort, self.disc.port)
        self.connect(self.disc.port, self.cooling.solid)
        self.connect(self.cooling.fluid, self.air.port)
        self.connect(self.flange_a, self.cooling.flange_a)
        if self.useHeatPort:
            self.connect(self.disc.port, self.heatPort)


__all__ = ["DiscBrake", "DiscCooling"]
