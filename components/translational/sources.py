"""Sources of translational mechanics (Modelica.Mechanics.Translational.Sources 4.0)."""

from __future__ import annotations

from mbfmu.components.translational.interfaces import PartialElementaryOneFlangeAndSupport2

from mbfmu.modeling import RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Variable


class Force(PartialElementaryOneFlangeAndSupport2):
    """External force acting on a drive train element as input signal."""

    modelica_name = "Translational.Sources.Force"

    f = RealInput("Driving force as input signal", type=t.Force)
    s = Variable(t.Position, "Distance between flange and support (= flange.s - support.s)")

    def equations(self) -> None:
        self.s = self.flange.s - self.s_support
        self.flange.f = -self.f
        self.react(self.f)


__all__ = ["Force"]
