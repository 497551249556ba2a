"""Inertia, springs, dampers and fixed points of rotational mechanics."""

from __future__ import annotations

from mbfmu.components.interfaces import Flange_a, Flange_b
from mbfmu.modeling import Component, required
from mbfmu.modeling.declarations import Parameter, Variable
from mbfmu.modeling.types import (
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Power,
    RotationalDampingConstant,
    RotationalSpringConstant,
    StateSelect,
    Torque,
)
from mbfmu.modeling.types import Inertia as InertiaType


class PartialTwoFlanges(Component):
    """Component with two rotational flanges."""

    flange_a = Flange_a("Flange of left shaft")
    flange_b = Flange_b("Flange of right shaft")


class Fixed(Component):
    """Flange fixed in housing at a given angle."""

    modelica_name = "Rotational.Components.Fixed"

    flange = Flange_b("(right) flange fixed in housing")
    phi0 = Parameter(Angle, 0.0, "Fixed offset angle of housing")

    def equations(self) -> None:
        self.flange.phi = self.phi0


class Inertia(PartialTwoFlanges):
    """1D-rotational component with inertia."""

    modelica_name = "Rotational.Components.Inertia"

    J = Parameter(InertiaType, required, "Moment of inertia", min=0)
    stateSelect = Parameter(StateSelect, "default", "Priority to use phi and w as states")

    phi = Variable(Angle, "Absolute rotation angle of component", start=0.0, state_select=lambda self: self.stateSelect)
    w = Variable(AngularVelocity, "Absolute angular velocity of component (= der(phi))", start=0.0,
                 state_select=lambda self: self.stateSelect)
    a = Variable(AngularAcceleration, "Absolute angular acceleration of component (= der(w))", start=0.0)

    def equations(self) -> None:
        self.relation(self.flange_a.phi - self.flange_b.phi)
        self.phi = self.flange_a.phi
        self.w = self.der(self.phi)
        self.a = self.der(self.w)
        self.flange_a.tau = self.J * self.a


class PartialCompliant(PartialTwoFlanges):
    """Two flanges with a torque between them that depends on their relative angle."""

    phi_rel = Variable(Angle, "Relative rotation angle (= flange_b.phi - flange_a.phi)", start=0.0)
    tau = Variable(Torque, "Torque between flanges (= flange_b.tau)")

    def equations(self) -> None:
        self.phi_rel = self.flange_b.phi - self.flange_a.phi
        self.tau = self.torque()
        self.flange_a.tau, self.flange_b.tau = -self.tau, self.tau

    def torque(self):
        """Torque between the flanges as a function of phi_rel and its derivative."""
        raise NotImplementedError(f"{type(self).__name__} must define torque()")


class PartialCompliantWithRelativeStates(PartialCompliant):
    """As PartialCompliant, with relative speed and acceleration as variables."""

    w_rel = Variable(AngularVelocity, "Relative angular velocity (= der(phi_rel))", start=0.0)
    a_rel = Variable(AngularAcceleration, "Relative angular acceleration (= der(w_rel))", start=0.0)
    stateSelect = Parameter(StateSelect, "prefer", "Priority to use phi_rel and w_rel as states")

    def equations(self) -> None:
        self.w_rel = self.der(self.flange_b.phi - self.flange_a.phi)
        self.a_rel = self.der(self.w_rel)
        super().equations()


class Spring(PartialCompliant):
    """Linear 1D rotational spring."""

    modelica_name = "Rotational.Components.Spring"

    c = Parameter(RotationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    phi_rel0 = Parameter(Angle, 0.0, "Unstretched spring angle", tunable=True)

    def torque(self):
        return self.c * (self.phi_rel - self.phi_rel0)


class Damper(PartialCompliantWithRelativeStates):
    """Linear 1D rotational damper."""

    modelica_name = "Rotational.Components.Damper"

    d = Parameter(RotationalDampingConstant, required, "Damping constant", min=0, tunable=True)
    lossPower = Variable(Power, "Loss power leaving component via heatPort (> 0, if heat is flowing out of component)")

    def torque(self):
        return self.d * self.w_rel

    def equations(self) -> None:
        super().equations()
        self.lossPower = self.tau * self.w_rel


class SpringDamper(PartialCompliantWithRelativeStates):
    """Linear 1D rotational spring and damper in parallel."""

    modelica_name = "Rotational.Components.SpringDamper"

    c = Parameter(RotationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    d = Parameter(RotationalDampingConstant, required, "Damping constant", min=0, tunable=True)
    phi_rel0 = Parameter(Angle, 0.0, "Unstretched spring angle", tunable=True)
    tau_c = Variable(Torque, "Spring torque")
    tau_d = Variable(Torque, "Damping torque")
    lossPower = Variable(Power, "Loss power leaving component via heatPort (> 0, if heat is flowing out of component)")

    def torque(self):
        self.tau_c = self.c * (self.phi_rel - self.phi_rel0)
        self.tau_d = self.d * self.w_rel
        return self.tau_c + self.tau_d

    def equations(self) -> None:
        super().equations()
        self.lossPower = self.tau_d * self.w_rel


__all__ = ["Damper", "Fixed", "Inertia", "PartialCompliant", "PartialCompliantWithRelativeStates", "PartialTwoFlanges",
           "Spring", "SpringDamper"]
