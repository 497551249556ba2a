"""What components of rotational mechanics build on (Modelica.Mechanics.Rotational.Interfaces 4.0)."""

from __future__ import annotations

from typing import ClassVar

import casadi as ca

from mbfmu.components.interfaces import Flange_a, Flange_b, nominal_value, own_state_select
from mbfmu.modeling import Component, RealInput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable


class PartialTwoFlanges(Component):
    """Component with two rotational flanges."""

    flange_a = Flange_a("Flange of left shaft")
    flange_b = Flange_b("Flange of right shaft")


class PartialCompliant(PartialTwoFlanges):
    """Torque between two flanges: a subclass defines `torque`, a function of phi_rel and its derivative."""

    phi_rel = Variable(t.Angle, "Relative rotation angle (= flange_b.phi - flange_a.phi)", start=0.0)
    tau = Variable(t.Torque, "Torque between flanges (= flange_b.tau)")

    def equations(self) -> None:
        self.phi_rel = self.flange_b.phi - self.flange_a.phi
        self.tau = self.torque()
        self.flange_a.tau, self.flange_b.tau = -self.tau, self.tau

    def torque(self) -> ca.SX:
        """Torque between the flanges [N.m]; it turns them towards each other where it is positive."""
        raise NotImplementedError(f"{type(self).__name__} must define torque()")


class PartialCompliantWithRelativeStates(PartialCompliant):
    """Torque between two flanges that depends on phi_rel and w_rel."""

    stateSelect = Parameter(t.StateSelect, "prefer", "Priority to use phi_rel and w_rel as states")
    phi_nominal = Parameter(t.Angle, 1e-4, "Nominal value of phi_rel (used for scaling)", structural=True, min=0)
    phi_rel = Variable(
        t.Angle,
        "Relative rotation angle (= flange_b.phi - flange_a.phi)",
        start=0.0,
        state_select=own_state_select,
        nominal=lambda self: nominal_value(self.phi_nominal),
    )
    w_rel = Variable(
        t.AngularVelocity,
        "Relative angular velocity (= der(phi_rel))",
        start=0.0,
        state_select=own_state_select,
    )
    a_rel = Variable(t.AngularAcceleration, "Relative angular acceleration (= der(w_rel))", start=0.0)

    def equations(self) -> None:
        self.w_rel = self.der(self.flange_b.phi - self.flange_a.phi)
        self.a_rel = self.der(self.w_rel)
        super().equations()


class PartialSupport(Component):
    """Component whose reaction goes into a support flange, or into the ground where that is not wanted."""

    useSupport = Parameter(t.Boolean, False, "= true, if support flange enabled, otherwise implicitly grounded")
    support = Flange_b("Support/housing of component", when=lambda self: self.useSupport, needed=True)

    @property
    def phi_support(self) -> ca.SX:
        """Absolute angle of the support, 0 where it is the ground."""
        return self.support.phi if self.useSupport else ca.SX(0)

    def react(self, torque: ca.SX) -> None:
        """Take up the cut torque of the support flange (into the component) where there is one."""
        if self.useSupport:
            self.support.tau = torque


class PartialElementaryOneFlangeAndSupport2(PartialSupport):
    """Component with one flange and a support."""

    flange = Flange_b("Flange of shaft")


class PartialElementaryTwoFlangesAndSupport2(PartialSupport, PartialTwoFlanges):
    """Component with two flanges and a support."""


class PartialTorque(PartialElementaryOneFlangeAndSupport2):
    """Torque that acts at the flange: a subclass defines `torque`, a function of phi and its derivative."""

    #: 1 where a positive tau accelerates the flange, -1 where it brakes it.
    accelerates: ClassVar[float] = 1.0

    phi = Variable(t.Angle, "Angle of flange with respect to support (= flange.phi - support.phi)")
    tau = Variable(t.Torque, "Accelerating torque acting at flange (= -flange.tau)")

    def equations(self) -> None:
        self.phi = self.flange.phi - self.phi_support
        self.tau = self.torque()
        self.flange.tau = -self.accelerates * self.tau
        self.react(self.accelerates * self.tau)

    def torque(self) -> ca.SX:
        """Torque tau [N.m]."""
        raise NotImplementedError(f"{type(self).__name__} must define torque()")


class PartialAbsoluteSensor(Component):
    """Sensor at one flange; it carries no load."""

    flange = Flange_a("Flange of shaft from which sensor information shall be measured", needed=True)


class PartialRelativeSensor(PartialTwoFlanges):
    """Sensor between two flanges; it carries no load."""

    flange_a = Flange_a("Left flange of shaft", needed=True)
    flange_b = Flange_b("Right flange of shaft", needed=True)


class InternalSupport(Component):
    """Adapter model to utilize conditional support connector: it gives the support's angle, and takes its torque."""

    modelica_name = "Rotational.Interfaces.InternalSupport"

    tau = RealInput("External support torque (= flange.tau)", type=t.Torque)
    phi = Variable(t.Angle, "External support angle (= flange.phi)")
    flange = Flange_a("Internal support flange", needed=True)

    def equations(self) -> None:
        self.phi = self.flange.phi
        self.flange.tau = self.tau


__all__ = [
    "InternalSupport",
    "PartialAbsoluteSensor",
    "PartialCompliant",
    "PartialCompliantWithRelativeStates",
    "PartialElementaryOneFlangeAndSupport2",
    "PartialElementaryTwoFlangesAndSupport2",
    "PartialRelativeSensor",
    "PartialSupport",
    "PartialTorque",
    "PartialTwoFlanges",
]
