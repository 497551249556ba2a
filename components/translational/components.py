"""Masses, rods, springs and dampers of translational mechanics (Modelica.Mechanics.Translational.Components 4.1)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.interfaces import TranslationalFlange_b, own_state_select
from mbfmu.components.losses import LossPower
from mbfmu.components.translational.interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialTwoFlanges,
)
from mbfmu.modeling import Component, RealInput, required
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
        state_select=own_state_select,
    )
    v = Variable(t.Velocity, "Absolute velocity of component", start=0.0, state_select=own_state_select)
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


class ElastoGap(LossPower, PartialCompliantWithRelativeStates):
    """1D translational spring damper combination with gap.

    In contact, s_rel < s_rel0, the spring pushes; the damping force never exceeds it, so that nothing sticks.
    """

    modelica_name = "Translational.Components.ElastoGap"

    c = Parameter(t.TranslationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    d = Parameter(t.TranslationalDampingConstant, required, "Damping constant", min=0, tunable=True)
    s_rel0 = Parameter(t.Position, 0.0, "Unstretched spring length", tunable=True)
    f_ref = Parameter(t.Force, lambda self: self.c * self.s_ref, "Reference spring force at s_ref", min=0)
    s_ref = Parameter(t.Length, 1.0, "Reference relative compression at which f_c = f_ref", min=1e-15)
    n = Parameter(t.Real, 1.0, "Exponent of spring force ( f_c = -f_ref*|(s_rel-s_rel0)/s_ref|^n )", min=1)
    contact = Variable(t.Boolean, "= true, if contact, otherwise no contact")
    f_c = Variable(t.Force, "Spring force")
    f_d2 = Variable(t.Force, "Linear damping force")
    f_d = Variable(t.Force, "Linear damping force which is limited by spring force (|f_d| <= |f_c|)")

    def force(self) -> ca.SX:
        gap = self.s_rel - self.s_rel0
        self.contact = self.switch(gap, 0, 1)
        touches = self.contact > 0.5
        compressed = ca.if_else(touches, ca.fmax(-gap, 0), 0) / self.s_ref
        self.f_c = -self.f_ref * ca.if_else(self.n == 1, compressed, ca.fmax(compressed, 1e-300) ** self.n)
        self.f_d2 = ca.if_else(touches, self.d * self.v_rel, 0)
        # The limits hold for moments that steps would pass unseen, so they are events.
        held = self.switch(ca.if_else(touches, self.f_d2 + self.f_c, -1), -self.f_c, self.f_d2)
        self.f_d = self.switch(ca.if_else(touches, self.f_c - self.f_d2, -1), self.f_c, held)
        stored = self.f_ref * self.s_ref / (self.n + 1) * compressed ** (self.n + 1)
        self.lose(self.f_d * self.v_rel, potential=stored)
        return self.f_c + self.f_d


class RelativeStates(PartialTwoFlanges):
    """Definition of relative state variables: start values for the distance between two flanges."""

    modelica_name = "Translational.Components.RelativeStates"

    stateSelect = Parameter(t.StateSelect, "prefer", "Priority to use the relative position and speed as states")
    s_rel = Variable(
        t.Position,
        "Relative position (= flange_b.s - flange_a.s)",
        start=0.0,
        state_select=own_state_select,
    )
    v_rel = Variable(t.Velocity, "Relative velocity (= der(s_rel))", start=0.0, state_select=own_state_select)
    a_rel = Variable(t.Acceleration, "Relative acceleration (= der(v_rel))", start=0.0)

    def equations(self) -> None:
        self.s_rel = self.flange_b.s - self.flange_a.s
        self.v_rel = self.der(self.s_rel)
        self.a_rel = self.der(self.v_rel)


class InitializeFlange(Component):
    """Initializes a flange with pre-defined position, speed and acceleration (usually reference data)."""

    modelica_name = "Translational.Components.InitializeFlange"

    use_s_start = Parameter(t.Boolean, True, "= true, if initial position is defined by input s_start")
    use_v_start = Parameter(t.Boolean, True, "= true, if initial speed is defined by input v_start")
    use_a_start = Parameter(t.Boolean, True, "= true, if initial acceleration is defined by input a_start")
    stateSelect = Parameter(t.StateSelect, "default", "Priority to use flange position and speed as states")
    s_start = RealInput("Initial position of flange", type=t.Position, when=lambda self: self.use_s_start)
    v_start = RealInput("Initial speed of flange", type=t.Velocity, when=lambda self: self.use_v_start)
    a_start = RealInput("Initial acceleration of flange", type=t.Acceleration, when=lambda self: self.use_a_start)
    flange = TranslationalFlange_b("Flange that is initialized", needed=True)
    s_flange = Variable(t.Position, "Flange position", state_select=own_state_select)
    v_flange = Variable(t.Velocity, "= der(s_flange)", state_select=own_state_select)

    def equations(self) -> None:
        self.s_flange = self.flange.s
        self.v_flange = self.der(self.s_flange)
        if self.use_s_start:
            self.initially(self.s_flange - self.s_start, "s_start")
        if self.use_v_start:
            self.initially(self.v_flange - self.v_start, "v_start")
        if self.use_a_start:
            self.initially(self.der(self.v_flange) - self.a_start, "a_start")


__all__ = [
    "Damper",
    "ElastoGap",
    "Fixed",
    "InitializeFlange",
    "Mass",
    "RelativeStates",
    "Rod",
    "Spring",
    "SpringDamper",
]
