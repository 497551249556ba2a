"""Power into a component through its connectors (checkTotalPower of the Modelica library): zero for an ideal joint."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.frames import angular_velocity2, resolve2
from mbfmu.modeling import Component
from mbfmu.modeling.declarations import Parameter, Variable
from mbfmu.modeling.types import Boolean, Power


class TotalPower(Component):
    """The variable totalPower, worked out where it is asked for."""

    checkTotalPower = Parameter(
        Boolean, False, "= true, if total power flowing into this component shall be determined (must be zero)"
    )
    totalPower = Variable(Power, "Total power flowing into this element, if checkTotalPower=true (otherwise dummy)")

    def measure_power(self, *frames: str, others: Any = 0.0) -> None:
        """Assign totalPower: the power through the frames of these names plus `others` [W]."""
        self.totalPower = sum((self._frame_power(name) for name in frames), others) if self.checkTotalPower else 0.0

    def _frame_power(self, name: str) -> Any:
        frame = getattr(self, name)
        return ca.dot(frame.f, resolve2(frame.R, self.der(frame.r_0))) + ca.dot(frame.t, angular_velocity2(frame.R))


__all__ = ["TotalPower"]
