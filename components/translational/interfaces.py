"""What components of translational mechanics build on (Modelica.Mechanics.Translational.Interfaces 4.0)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.interfaces import TranslationalFlange_a, TranslationalFlange_b, nominal_value, own_state_select
from mbfmu.modeling import Component, RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable


class PartialTwoFlanges(Component):
    """Component with two translational flanges."""

    flange_a = TranslationalFlange_a("(left) driving flange (flange axis directed into cut plane)")
    flange_b = TranslationalFlange_b("(right) driven flange (flange axis directed out of cut plane)")


class PartialCompliant(PartialTwoFlanges):
    """Force between two flanges: a subclass defines `force`, a function of s_rel and its derivative."""

    s_rel = Variable(t.Position, "Relative distance (= flange_b.s - flange_a.s)", start=0.0)
    f = Variable(t.Force, "Force between flanges (positive in direction of flange axis R)")

    def equations(self) -> None:
        self.s_rel = self.flange_b.s - self.flange_a.s
        self.f = self.force()
        self.flange_a.f, self.flange_b.f = -self.f, self.f

    def force(self) -> ca.SX:
        """Force between the flanges [N]; it pulls them together where it is positive."""
        raise NotImplementedError(f"{type(self).__name__} must define force()")


class PartialCompliantWithRelativeStates(PartialCompliant):
    """Force between two flanges that depends on s_rel and v_rel."""

    stateSelect = Parameter(t.StateSelect, "prefer", "Priority to use s_rel and v_rel as states")
    s_nominal = Parameter(t.Distance, 1e-4, "Nominal value of s_rel (used for scaling)", structural=True, min=0)
    s_rel = Variable(
        t.Position,
        "Relative distance (= flange_b.s - flange_a.s)",
        start=0.0,
        state_select=own_state_select,
        nominal=lambda self: nominal_value(self.s_nominal),
    )
    v_rel = Variable(t.Velocity, "Relative velocity (= der(s_rel))", start=0.0, state_select=own_state_select)

    def equations(self) -> None:
        self.v_rel = self.der(self.flange_b.s - self.flange_a.s)
        super().equations()


class PartialSupport(Component):
    """Component whose reaction goes into a support flange, or into the ground where that is not wanted."""

    useSupport = Parameter(t.Boolean, False, "= true, if support flange enabled, otherwise implicitly grounded")
    support = TranslationalFlange_b("Support/housing of component", when=lambda self: self.useSupport, needed=True)

    @property
    def s_support(self) -> ca.SX:
        """Absolute position of the support, 0 where it is the ground."""
        return self.support.s if self.useSupport else ca.SX(0)

    def react(self, force: ca.SX) -> None:
        """Take up the cut force of the support flange (into the component) where there is one."""
        if self.useSupport:
            self.support.f = force


class PartialElementaryOneFlangeAndSupport2(PartialSupport):
    """Component with one flange and a support."""

    flange = TranslationalFlange_b("Flange of component")


class PartialElementaryTwoFlangesAndSupport2(PartialSupport, PartialTwoFlanges):
    """Component with two flanges and a support."""


class PartialForce(PartialElementaryOneFlangeAndSupport2):
    """Force that acts at the flange: a subclass defines `force`, a function of s and its derivative."""

    s = Variable(t.Position, "Distance between flange and support (= flange.s - support.s)")
    f = Variable(t.Force, "Force acting at flange (= flange.f, negative where it accelerates)")

    def equations(self) -> None:
        self.s = self.flange.s - self.s_support
        accelerates = self.force()
        self.f = self.flange.f = -accelerates
        self.react(accelerates)

    def force(self) -> ca.SX:
        """Accelerating force [N]."""
        raise NotImplementedError(f"{type(self).__name__} must define force()")


class InternalSupport(Component):
    """Adapter model to utilize conditional support connector: it gives the support's position, and takes its force."""

    modelica_name = "Translational.Interfaces.InternalSupport"

    f = RealInput("External support force (= flange.f)", type=t.Force)
    s = Variable(t.Position, "External support position (= flange.s)")
    flange = TranslationalFlange_a("Internal support flange", needed=True)

    def equations(self) -> None:
        self.s = self.flange.s
        self.flange.f = self.f


class PartialAbsoluteSensor(Component):
    """Sensor at one flange; it carries no load."""

    flange = TranslationalFlange_a("Flange to be measured", needed=True)


class PartialRelativeSensor(PartialTwoFlanges):
    """Sensor between two flanges."""

    flange_a = TranslationalFlange_a("(left) driving flange (flange axis directed into cut plane)", needed=True)
    flange_b = TranslationalFlange_b("(right) driven flange (flange axis directed out of cut plane)", needed=True)


__all__ = [
    "InternalSupport",
    "PartialAbsoluteSensor",
    "PartialCompliant",
    "PartialCompliantWithRelativeStates",
    "PartialElementaryOneFlangeAndSupport2",
    "PartialElementaryTwoFlangesAndSupport2",
    "PartialForce",
    "PartialRelativeSensor",
    "PartialSupport",
    "PartialTwoFlanges",
]
