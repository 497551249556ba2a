"""Ideal gears: relations between flanges that take no power (Modelica.Mechanics.Rotational.Components 4.0)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.interfaces import Flange_a, Flange_b, TranslationalFlange_b
from mbfmu.components.rotational.interfaces import PartialElementaryTwoFlangesAndSupport2
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable, is_expression


class IdealGear(PartialElementaryTwoFlangesAndSupport2):
    """Ideal gear without inertia."""

    modelica_name = "Rotational.Components.IdealGear"

    ratio = Parameter(t.Real, required, "Transmission ratio (flange_a.phi/flange_b.phi)", nonzero=True)
    phi_a = Variable(t.Angle, "Angle between left shaft flange and support")
    phi_b = Variable(t.Angle, "Angle between right shaft flange and support")

    def equations(self) -> None:
        self.phi_a = self.flange_a.phi - self.phi_support
        self.phi_b = self.flange_b.phi - self.phi_support
        self.relation(self.phi_a - self.ratio * self.phi_b)


#: What is wrong with a ratio of -1.
_WITHOUT_CARRIER = "sun and ring would turn as one, and the carrier freely; with planets in pairs it is less than -1"


class IdealPlanetary(Component):
    """Ideal planetary gear box."""

    modelica_name = "Rotational.Components.IdealPlanetary"

    ratio = Parameter(t.Real, required, "Number of ring_teeth/sun_teeth (e.g., ratio=100/50)", nonzero=True)
    sun = Flange_a("Flange of sun shaft")
    carrier = Flange_a("Flange of carrier shaft")
    ring = Flange_b("Flange of ring shaft")

    def check_values(self) -> None:
        super().check_values()
        ratio = self.value("ratio")
        if not is_expression(ratio) and ratio == -1.0:
            raise ModelError(f"{self.where}.ratio = -1: {_WITHOUT_CARRIER}")

    def equations(self) -> None:
        self.require(1 - 2 * (self.ratio == -1.0), f"ratio = -1: {_WITHOUT_CARRIER}")
        self.relation((1 + self.ratio) * self.carrier.phi - self.sun.phi - self.ratio * self.ring.phi)


#: Type of IdealGearR2T's ratio.
TranslationalRatio = t.Type("TranslationalRatio", unit="rad/m")


class PartialElementaryRotationalToTranslational(Component):
    """Component that ties a rotational flange to a translational one, each with a support or the ground."""

    useSupportR = Parameter(t.Boolean, False, "= true, if rotational support flange enabled, else grounded")
    useSupportT = Parameter(t.Boolean, False, "= true, if translational support flange enabled, else grounded")
    flangeR = Flange_a("Flange of rotational shaft")
    flangeT = TranslationalFlange_b("Flange of translational rod")
    supportR = Flange_b("Rotational support/housing of component", when=lambda self: self.useSupportR, needed=True)
    supportT = TranslationalFlange_b(
        "Translational support/housing of component", when=lambda self: self.useSupportT, needed=True
    )

    @property
    def turn(self) -> ca.SX:
        """Angle of the shaft relative to its support [rad]."""
        return self.flangeR.phi - (self.supportR.phi if self.useSupportR else 0)

    @property
    def travel(self) -> ca.SX:
        """Position of the rod relative to its support [m]."""
        return self.flangeT.s - (self.supportT.s if self.useSupportT else 0)


class IdealGearR2T(PartialElementaryRotationalToTranslational):
    """Gearbox transforming rotational into translational motion."""

    modelica_name = "Rotational.Components.IdealGearR2T"

    ratio = Parameter(TranslationalRatio, required, "Transmission ratio (flangeR.phi/flangeT.s)", nonzero=True)

    def equations(self) -> None:
        self.relation(self.turn - self.ratio * self.travel)


class IdealRollingWheel(PartialElementaryRotationalToTranslational):
    """Simple 1-dim. model of an ideal rolling wheel without inertia."""

    modelica_name = "Rotational.Components.IdealRollingWheel"

    radius = Parameter(t.Distance, required, "Wheel radius", nonzero=True)

    def equations(self) -> None:
        self.relation(self.turn * self.radius - self.travel)


__all__ = [
    "IdealGear",
    "IdealGearR2T",
    "IdealPlanetary",
    "IdealRollingWheel",
    "PartialElementaryRotationalToTranslational",
]
