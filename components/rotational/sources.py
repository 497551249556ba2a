"""Sources of rotational mechanics: a signal drives a flange."""

from __future__ import annotations

from mbfmu.components.interfaces import Flange_a, Flange_b
from mbfmu.modeling import Component, RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable


class PartialSupport(Component):
    """Source whose reaction goes into a support flange, or into the ground where there is none."""

    useSupport = Parameter(t.Boolean, False, "= true, if support flange enabled, otherwise implicitly grounded")
    support = Flange_a("Support/housing of component", when=lambda self: self.useSupport)

    @property
    def phi_support(self):
        """Angle of the support, 0 where it is the ground."""
        return self.support.phi if self.useSupport else 0.0


class PartialElementaryOneFlangeAndSupport(PartialSupport):
    """One flange and a support."""

    flange = Flange_b("Flange of shaft")


class Torque(PartialElementaryOneFlangeAndSupport):
    """Input signal acting as external torque on a flange."""

    modelica_name = "Rotational.Sources.Torque"

    tau = RealInput("Accelerating torque acting at flange (= -flange.tau)", type=t.Torque)
    phi = Variable(t.Angle, "Angle of flange with respect to support (= flange.phi - support.phi)")

    def equations(self) -> None:
        self.phi = self.flange.phi - self.phi_support
        self.flange.tau = -self.tau
        if self.useSupport:
            self.support.tau = self.tau


__all__ = ["PartialElementaryOneFlangeAndSupport", "PartialSupport", "Torque"]
