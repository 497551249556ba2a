"""What components of heat transfer build on (Modelica.Thermal.HeatTransfer.Interfaces 4.1)."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca

from mbfmu.modeling import Component, HeatPort
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Variable


class HeatPort_a(HeatPort):
    """Thermal port for 1-dim. heat transfer (filled rectangular icon)."""


class HeatPort_b(HeatPort):
    """Thermal port for 1-dim. heat transfer (unfilled rectangular icon)."""


class Scale(Component):
    """Component whose temperature T is given in a unit of its own: kelvins = zero + degree * T."""

    #: Temperature at which T is 0 [K].
    zero: ClassVar[float] = 0.0
    #: Difference of temperature for which T grows by 1 [K].
    degree: ClassVar[float] = 1.0

    def kelvins(self, temperature: Any) -> Any:
        """A temperature of this scale in kelvins."""
        return self.degree * temperature + self.zero

    def degrees(self, temperature: Any) -> Any:
        """A temperature in kelvins on this scale."""
        return (temperature - self.zero) / self.degree


class Transport(Component):
    """What takes heat from one port to another and stores none: a subclass defines `heat_flow`, a function of dT."""

    #: Names of the ports from and to which Q_flow is positive.
    ends: ClassVar[tuple[str, str]]

    Q_flow = Variable(t.HeatFlowRate, "Heat flow rate from the first port to the second one")
    dT = Variable(t.TemperatureDifference, "Temperature of the first port minus that of the second one")

    def equations(self) -> None:
        first, second = (getattr(self, name) for name in self.ends)
        self.dT = first.T - second.T
        self.Q_flow = self.heat_flow()
        first.Q_flow, second.Q_flow = self.Q_flow, -self.Q_flow

    def heat_flow(self) -> ca.SX:
        """Heat flow rate from the first port to the second one [W]."""
        raise NotImplementedError(f"{type(self).__name__} must define heat_flow()")


class Element1D(Transport):
    """Heat transfer element with the ports port_a and port_b."""

    ends = ("port_a", "port_b")
    port_a = HeatPort_a("Port a")
    port_b = HeatPort_b("Port b")


__all__ = ["Element1D", "HeatPort_a", "HeatPort_b", "Scale", "Transport"]
