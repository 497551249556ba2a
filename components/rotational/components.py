"""Inertias, springs and dampers of rotational mechanics (Modelica.Mechanics.Rotational.Components 4.1)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.interfaces import Flange_b, nominal_value, own_state_select
from mbfmu.components.losses import LossPower
from mbfmu.components.rotational.interfaces import (
    PartialCompliant,
    PartialCompliantWithRelativeStates,
    PartialTwoFlanges,
)
from mbfmu.modeling import Component, RealInput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Coordinate, Parameter, Variable

#: A backlash that is not larger is none [rad]; it would only cause events.
LEAST_BACKLASH = 1e-10


class Fixed(Component):
    """Flange fixed in housing at a given angle."""

    modelica_name = "Rotational.Components.Fixed"

    flange = Flange_b("(right) flange fixed in housing")
    phi0 = Parameter(t.Angle, 0.0, "Fixed offset angle of housing")

    def equations(self) -> None:
        self.flange.phi = self.phi0


class Inertia(PartialTwoFlanges):
    """1D-rotational component with inertia."""

    modelica_name = "Rotational.Components.Inertia"

    J = Parameter(t.Inertia, required, "Moment of inertia", min=0)
    stateSelect = Parameter(t.StateSelect, "default", "Priority to use phi and w as states")

    phi = Coordinate(t.Angle, "Absolute rotation angle of component", start=0.0, state_select=own_state_select)
    w = Variable(
        t.AngularVelocity,
        "Absolute angular velocity of component (= der(phi))",
        start=0.0,
        state_select=own_state_select,
    )
    a = Variable(t.AngularAcceleration, "Absolute angular acceleration of component (= der(w))", start=0.0)

    def equations(self) -> None:
        self.w = self.der(self.phi)
        self.a = self.der(self.w)
        self.relation(self.flange_a.phi - self.phi)
        self.relation(self.flange_b.phi - self.phi)
        self.effort(phi=-self.J * self.a)
        self.energy(kinetic=self.J * self.w**2 / 2)


class Disc(PartialTwoFlanges):
    """1-dim. rotational rigid component without inertia, where right flange is rotated by a fixed angle."""

    modelica_name = "Rotational.Components.Disc"

    deltaPhi = Parameter(
        t.Angle, 0.0, "Fixed rotation of left flange with respect to right flange (= flange_b.phi - flange_a.phi)"
    )
    phi = Variable(t.Angle, "Absolute rotation angle of component")

    def equations(self) -> None:
        self.phi = self.flange_a.phi + self.deltaPhi / 2
        self.relation(self.flange_b.phi - self.flange_a.phi - self.deltaPhi)


class Spring(PartialCompliant):
    """Linear 1D rotational spring."""

    modelica_name = "Rotational.Components.Spring"

    c = Parameter(t.RotationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    phi_rel0 = Parameter(t.Angle, 0.0, "Unstretched spring angle", tunable=True)

    def torque(self) -> ca.SX:
        twist = self.phi_rel - self.phi_rel0
        self.energy(potential=self.c * twist**2 / 2)
        return self.c * twist


class Damper(LossPower, PartialCompliantWithRelativeStates):
    """Linear 1D rotational damper."""

    modelica_name = "Rotational.Components.Damper"

    d = Parameter(t.RotationalDampingConstant, required, "Damping constant", min=0, tunable=True)

    def torque(self) -> ca.SX:
        self.lose(self.d * self.w_rel**2)
        return self.d * self.w_rel


class SpringDamper(LossPower, PartialCompliantWithRelativeStates):
    """Linear 1D rotational spring and damper in parallel."""

    modelica_name = "Rotational.Components.SpringDamper"

    c = Parameter(t.RotationalSpringConstant, required, "Spring constant", min=0, tunable=True)
    d = Parameter(t.RotationalDampingConstant, required, "Damping constant", min=0, tunable=True)
    phi_rel0 = Parameter(t.Angle, 0.0, "Unstretched spring angle", tunable=True)
    tau_c = Variable(t.Torque, "Spring torque")
    tau_d = Variable(t.Torque, "Damping torque")

    def torque(self) -> ca.SX:
        twist = self.phi_rel - self.phi_rel0
        self.tau_c = self.c * twist
        self.tau_d = self.d * self.w_rel
        self.lose(self.tau_d * self.w_rel, potential=self.c * twist**2 / 2)
        return self.tau_c + self.tau_d


class _Backlash(LossPower, PartialCompliantWithRelativeStates):
    """Backlash in series with a spring and a damper."""

    c = Parameter(t.RotationalSpringConstant, required, "Spring constant (c > 0 required)", min=1e-60, tunable=True)
    d = Parameter(t.RotationalDampingConstant, required, "Damping constant", min=0, tunable=True)
    b = Parameter(t.Angle, 0.0, "Total backlash", min=0, tunable=True)
    phi_rel0 = Parameter(t.Angle, 0.0, "Unstretched spring angle", tunable=True)
    tau_c = Variable(t.Torque, "Spring torque")
    tau_d = Variable(t.Torque, "Damping torque, as far as the contact takes it up")

    @property
    def loose(self) -> ca.SX:
        """True where there is a backlash."""
        return self.b > LEAST_BACKLASH

    def torque(self) -> ca.SX:
        twist, loose = self.phi_rel - self.phi_rel0, self.loose
        above = self.switch(ca.if_else(loose, twist - self.b / 2, -1), 1, 0)
        below = self.switch(ca.if_else(loose, -twist - self.b / 2, -1), 1, 0)
        contact = ca.if_else(loose, above * (twist - self.b / 2) + below * (twist + self.b / 2), twist)
        self.tau_c = self.c * contact
        self.tau_d = self.damping(above - below)
        self.lose(self.tau_d * self.w_rel, potential=self.c * contact**2 / 2)
        return self.tau_c + self.tau_d

    def damping(self, side: ca.SX) -> ca.SX:
        """Torque of the damper; `side` is 1 or -1 in contact beyond either end of the backlash, 0 between them."""
        raise NotImplementedError(f"{type(self).__name__} must define damping()")


class ElastoBacklash(_Backlash):
    """Backlash connected in series to linear spring and damper (backlash is modeled with elasticity).

    The damping torque never exceeds the spring torque, so that the contact neither sticks nor begins with a jump.
    """

    modelica_name = "Rotational.Components.ElastoBacklash"

    def damping(self, side: ca.SX) -> ca.SX:
        limit, damping = ca.fabs(self.tau_c), self.d * self.w_rel
        # The limits hold for moments that steps would pass unseen, so they are events; between the ends of the
        # backlash there are none, or rounding errors of a speed at rest would be events without end.
        limited = ca.if_else(self.loose, ca.logic_and(self.d > 0, side != 0), 0)
        upper = self.switch(ca.if_else(limited, damping - limit, -1), limit, damping)
        held = self.switch(ca.if_else(limited, -limit - damping, -1), -limit, upper)
        return ca.if_else(ca.logic_and(self.loose, side == 0), 0, held)


class ElastoBacklash2(_Backlash):
    """Backlash connected in series to linear spring and damper; the torque jumps at the begin of contact.

    The whole damping torque acts in contact as long as it does not pull.
    """

    modelica_name = "Rotational.Components.ElastoBacklash2"

    def damping(self, side: ca.SX) -> ca.SX:
        damping = self.d * self.w_rel
        pushes = self.switch(ca.if_else(self.loose, side * (self.tau_c + damping), 1), damping, -self.tau_c)
        return ca.if_else(ca.logic_and(self.loose, side == 0), 0, pushes)


class RelativeStates(PartialTwoFlanges):
    """Definition of relative state variables: start values for the angle between two flanges."""

    modelica_name = "Rotational.Components.RelativeStates"

    stateSelect = Parameter(t.StateSelect, "prefer", "Priority to use the relative angle and relative speed as states")
    phi_nominal = Parameter(
        t.Angle, 1.0, "Nominal value of the relative angle (used for scaling)", structural=True, min=0
    )
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
        self.phi_rel = self.flange_b.phi - self.flange_a.phi
        self.w_rel = self.der(self.phi_rel)
        self.a_rel = self.der(self.w_rel)


class InitializeFlange(Component):
    """Initializes a flange with pre-defined angle, speed and angular acceleration (usually reference data)."""

    modelica_name = "Rotational.Components.InitializeFlange"

    use_phi_start = Parameter(t.Boolean, True, "= true, if initial angle is defined by input phi_start")
    use_w_start = Parameter(t.Boolean, True, "= true, if initial speed is defined by input w_start")
    use_a_start = Parameter(t.Boolean, True, "= true, if initial angular acceleration is defined by input a_start")
    stateSelect = Parameter(t.StateSelect, "default", "Priority to use flange angle and speed as states")
    phi_start = RealInput("Initial angle of flange", type=t.Angle, when=lambda self: self.use_phi_start)
    w_start = RealInput("Initial speed of flange", type=t.AngularVelocity, when=lambda self: self.use_w_start)
    a_start = RealInput(
        "Initial angular acceleration of flange", type=t.AngularAcceleration, when=lambda self: self.use_a_start
    )
    flange = Flange_b("Flange that is initialized", needed=True)
    phi_flange = Variable(t.Angle, "Flange angle", state_select=own_state_select)
    w_flange = Variable(t.AngularVelocity, "= der(phi_flange)", state_select=own_state_select)

    def equations(self) -> None:
        self.phi_flange = self.flange.phi
        self.w_flange = self.der(self.phi_flange)
        if self.use_phi_start:
            self.initially(self.phi_flange - self.phi_start, "phi_start")
        if self.use_w_start:
            self.initially(self.w_flange - self.w_start, "w_start")
        if self.use_a_start:
            self.initially(self.der(self.w_flange) - self.a_start, "a_start")


__all__ = [
    "Damper",
    "Disc",
    "ElastoBacklash",
    "ElastoBacklash2",
    "Fixed",
    "Inertia",
    "InitializeFlange",
    "RelativeStates",
    "Spring",
    "SpringDamper",
]
