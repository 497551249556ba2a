"""Signals for the tests of drive trains, independent of the block library."""

from __future__ import annotations

import casadi as ca

from mbfmu.modeling import Component, RealOutput, required
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import Real


class Wave(Component):
    """offset + amplitude sin(omega t + phase)."""

    amplitude = Parameter(Real, 1.0, "Amplitude")
    omega = Parameter(Real, required, "Angular frequency")
    phase = Parameter(Real, 0.0, "Phase")
    offset = Parameter(Real, 0.0, "Offset")
    y = RealOutput("The signal")

    def equations(self) -> None:
        self.y = self.offset + self.amplitude * ca.sin(self.omega * self.time + self.phase)
