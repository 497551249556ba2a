"""What components that turn mechanical power into heat have in common."""

from __future__ import annotations

from mbfmu.errors import ModelError
from mbfmu.modeling import Component
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable


class LossPower(Component):
    """Component with losses (Thermal.HeatTransfer.Interfaces.PartialElementaryConditionalHeatPortWithoutT)."""

    useHeatPort = Parameter(t.Boolean, False, "= true, if heatPort is enabled (there are no thermal components here)")
    lossPower = Variable(
        t.Power, "Loss power leaving component via heatPort (> 0, if heat is flowing out of component)"
    )

    def check_connections(self, connected: set[str]) -> None:
        if self.useHeatPort:
            raise ModelError(
                f"{self.where}.useHeatPort = true: there are no thermal components to connect it with; leave it false "
                "and read the heat from the variable lossPower"
            )
        super().check_connections(connected)


__all__ = ["LossPower"]
