"""GearConstraint: an ideal gear between two shafts in a moving bearing (MultiBody.Joints)."""

from __future__ import annotations

from mbfmu.components.interfaces import PartialTwoFrames, own_state_select
from mbfmu.components.joints.elementary import Revolute
from mbfmu.components.joints.power import TotalPower
from mbfmu.components.parts.fixed import FixedTranslation
from mbfmu.components.rotational.gears import IdealGear
from mbfmu.modeling import Frame_a, required
from mbfmu.modeling.declarations import Parameter, Variable
from mbfmu.modeling.types import (
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Axis,
    Position,
    Real,
    StateSelect,
)


class GearConstraint(TotalPower, PartialTwoFrames):
    """Ideal 3-dim. gearbox (arbitrary shaft directions)."""

    modelica_name = "MultiBody.Joints.GearConstraint"

    bearing = Frame_a("Coordinate system fixed in the bearing", needed=True)

    ratio = Parameter(Real, required, "Gear speed ratio", nonzero=True)
    n_a = Parameter(
        Axis, (1, 0, 0), "Axis of rotation of shaft a (same coordinates in frame_a, frame_b, bearing)", shape=3
    )
    n_b = Parameter(
        Axis, (1, 0, 0), "Axis of rotation of shaft b (same coordinates in frame_a, frame_b, bearing)", shape=3
    )
    r_a = Parameter(Position, (0, 0, 0), "Vector from frame bearing to frame_a resolved in bearing", shape=3)
    r_b = Parameter(Position, (0, 0, 0), "Vector from frame bearing to frame_b resolved in bearing", shape=3)
    stateSelect = Parameter(
        StateSelect, "default", "Priority to use joint coordinates (phi_a, phi_b, w_a, w_b) as states"
    )

    phi_b = Variable(
        Angle,
        "Relative rotation angle of revolute joint at frame_b",
        start=0.0,
        state_select=own_state_select,
    )
    w_b = Variable(
        AngularVelocity,
        "First derivative of angle phi_b (relative angular velocity b)",
        start=0.0,
        state_select=own_state_select,
    )
    a_b = Variable(AngularAcceleration, "Second derivative of angle phi_b (relative angular acceleration b)", start=0.0)

    def build(self) -> None:
        self.actuatedRevolute_a = Revolute(n=self.n_a, useAxisFlange=True, animation=False)
        self.actuatedRevolute_b = Revolute(n=self.n_b, useAxisFlange=True, animation=False)
        self.idealGear = IdealGear(ratio=self.ratio)
        self.fixedTranslation1 = FixedTranslation(r=self.r_b, animation=False)
        self.fixedTranslation2 = FixedTranslation(r=self.r_a, animation=False)
        self.connect(self.actuatedRevolute_a.axis, self.idealGear.flange_a)
        self.connect(self.idealGear.flange_b, self.actuatedRevolute_b.axis)
        self.connect(self.bearing, self.fixedTranslation2.frame_a)
        self.connect(self.fixedTranslation2.frame_b, self.actuatedRevolute_a.frame_a)
        self.connect(self.actuatedRevolute_a.frame_b, self.frame_a)
        self.connect(self.bearing, self.fixedTranslation1.frame_a)
        self.connect(self.fixedTranslation1.frame_b, self.actuatedRevolute_b.frame_a)
        self.connect(self.actuatedRevolute_b.frame_b, self.frame_b)

    def equations(self) -> None:
        self.phi_b = self.actuatedRevolute_b.phi
        self.w_b = self.der(self.phi_b)
        self.a_b = self.der(self.w_b)
        self.measure_power("frame_a", "frame_b", "bearing")


__all__ = ["GearConstraint"]
