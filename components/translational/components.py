"""Masses, rods, springs and dampers of translational mechanics (Modelica.Mechanics.Translational.Components 4.0)."""

from __future__ import annotations

import casadi as ca
from mbfmu.components.interfaces import TranslationalFlange_b
from mbfmu.components.losses import LossPower
from mbfmu.components.translational.interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialTwoFlanges,
)

from mbfmu.modeling import Component, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Coordinate, Parameter, Variable


class Fixed(Component):
    """Flange fixed in the ground at a given position."""

    modelica_name = "Translational.Components.Fixed"

    flange = TranslationalFlange_b("(right) flange fixed in housing")
    s0 = Parameter(t.Position, 0.0, "Fixed offset position of housing")

    def equations(self) -> None:
        self.flange.s = self.s0


class Rod(PartialTwoFlanges):
    """Rod without inertia."""

    modelica_name = "Translational.Components.Rod"

    L = Parameter(t.Length, required, "Length, from left flange to right flange (= flange_b.s - flange_a.s)")
    s = Variable(t.Position, "Absolute position of center of component (s = flange_a.s + L/2 = flange_b.s - L/2)")

    def equations(self) -> None:
        self.s = self.flange_a.s + self.L / 2
        self.relation(self.flange_b.s - self.flange_a.s - self.L)


class Mass(PartialTwoFlanges):
    """Sliding mass with inertia."""

    modelica_name = "Translational.Components.Mass"

    m = Parameter(t.Mass, required, "Mass of the sliding mass")
    L = Parameter(t.Length, 0.0, "Length, from left flange to right flange (= flange_b.s - flange_a.s)")
    stateSelect = Parameter(t.StateSelect, "default", "Priority to use s and v as states")

    s = Coordinate(
        t.Position,
        "Absolute position of center of component (s = flange_a.s + L/2 = flange_b.s - L/2)",
        start=0.0,
        state_select=lambda self: self.stateSelect,
    )
    v = Variable(t.Velocity, "Absolute velocity of component", start=0.0, state_select=lambda self: self.stateSelect)
    a = Variable(t.Acceleration, "Absolute acceleration of component", start=0.0)

    def equations(self) -> None:
        self.v = self.der(self.s)
        self.a = self.der(self.v)
        self.relation(self.flange_a.s - (self.s - self.L / 2))
        self.relation(self.flange_b.s - (self.s + self.L / 2))
        self.effort(s=-self.m * self.a)
        self.energy(kinetic=self.m * self.v**2 / 2)


class Spring(PartialCompliant):
    """Linear 1D translational spring."""

    modelica_name = "Translational.Components.Spring"

    c = Parameter(t.TranslationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    s_rel0 = Parameter(t.Distance, 0.0, "Unstretched spring length", min=-t.INFINITY, tunable=True)

    def force(self) -> ca.SX:
        stretch = self.s_rel - self.s_rel0
        self.energy(potential=self.c * stretch**2 / 2)
        return self.c * stretch


class Damper(LossPower, PartialCompliantWithRelativeStates):
    """Linear 1D translational damper."""

    modelica_name = "Translational.Components.Damper"

    d = Parameter(t.TranslationalDampingConstant, required, "Damping constant", min=0, tunable=True)

    def force(self) -> ca.SX:
        self.lose(self.d * self.v_rel**2)
        return self.d * self.v_rel


class SpringDamper(LossPower, PartialCompliantWithRelativeStates):
    """Linear 1D translational spring and damper in parallel."""

    modelica_name = "Translational.Components.SpringDamper"

    c = Parameter(t.TranslationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, required, "Damping constant", min=0, tunable=True)
    s_rel0 = Parameter(t.Position, 0.0, "Unstretched spring length", tunable=True)
    f_c = Variable(t.Force, "Spring force")
    f_d = Variable(t.Force, "Damping force")

    def force(self) -> ca.SX:
        stretch = self.s_rel - self.s_rel0
        self.f_c = self.c * stretch
        self.f_d = self.d * self.v_rel
        self.lose(self.f_d * self.v_rel, potential=self.c * stretch**2 / 2)
        return self.f_c + self.f_d


__all__ = ["Damper", "Fixed", "Mass", "Rod", "Spring", "SpringDamper"]
