"""What components that turn mechanical power into heat have in common."""

from __future__ import annotations

from typing import Any

from mbfmu.components.thermal.interfaces import HeatPort_a
from mbfmu.modeling import Component
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable


class LossPower(Component):
    """Component with losses (Thermal.HeatTransfer.Interfaces.PartialElementaryConditionalHeatPortWithoutT)."""

    useHeatPort = Parameter(t.Boolean, False, "= true, if heatPort is enabled")
    heatPort = HeatPort_a(
        "Optional port to which dissipated losses are transported in form of heat",
        when=lambda self: self.useHeatPort,
        needed=True,
    )
    lossPower = Variable(
        t.Power, "Loss power leaving component via heatPort (> 0, if heat is flowing out of component)"
    )

    def lose(self, power: Any, potential: Any = 0.0) -> None:
        """Turn `power` [W] into heat; `potential` is the energy [J] that the component stores."""
        self.lossPower = power
        if self.useHeatPort:
            self.heatPort.Q_flow = -self.lossPower
        self.energy(potential=potential, dissipated=self.lossPower)


class LossPowerWithT(LossPower):
    """Component with losses that knows its temperature (PartialElementaryConditionalHeatPort)."""

    T = Parameter(t.Temperature, 293.15, "Fixed device temperature if useHeatPort = false")
    TheatPort = Variable(t.Temperature, "Temperature of heatPort, or T where there is none")

    def lose(self, power: Any, potential: Any = 0.0) -> None:
        """As in LossPower."""
        self.TheatPort = self.temperature
        super().lose(power, potential)

    @property
    def temperature(self) -> Any:
        """Temperature of the component [K]."""
        return self.heatPort.T if self.useHeatPort else self.T


__all__ = ["LossPower", "LossPowerWithT"]
