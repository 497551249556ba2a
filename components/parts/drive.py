"""Parts that couple 1-dim. drive trains to 3-dim. mechanics: Mounting1D, Rotor1D, BevelGear1D (MultiBody.Parts).

Their frame exists only where world.driveTrainMechanics3D is true; elsewhere they are plain 1-dim. components.

Angles of their flanges count from the frame. A shaft that turns with its frame therefore carries more power than its
flanges show, namely torque times the frame's speed about the shaft; the reaction torques of Mounting1D and BevelGear1D
make up for that. Neither stores or loses anything (`self.energy()`): the balance of a drive train closes as a whole.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import ROD_COLOR, Animated
from mbfmu.components.interfaces import Flange_b, own_state_select
from mbfmu.components.rotational.interfaces import PartialTwoFlanges
from mbfmu.frames import absolute_rotation, angular_velocity2, cross, normalize, planar_rotation
from mbfmu.modeling import Component, Frame_a, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Coordinate, Parameter, Variable


def _is_3d(component: Component) -> bool:
    """The World's choice; true, as is the World's default, where there is none."""
    world = component._outer_world
    return world is None or world.driveTrainMechanics3D


class _Carried(Component):
    """Component of a drive train that a frame carries, as long as 3-dim. effects are wanted."""

    frame_a = Frame_a(
        "Frame in which it is fixed (connector is removed, if world.driveTrainMechanics3D=false)",
        when=_is_3d,
        needed=True,
        fades=True,
    )

    @property
    def is_carried(self) -> bool:
        """True in equations where there is a frame."""
        return self.is_connected("frame_a")

    def load_frame(self, torque: ca.SX) -> None:
        """Hand a cut torque (into the component, resolved in frame_a) to the frame; no force."""
        self.frame_a.f, self.frame_a.t = [0, 0, 0], torque


class Mounting1D(_Carried):
    """Propagate 1-dim. support torque to 3-dim. system (provided world.driveTrainMechanics3D=true).

    The torque acts along the direction of n. (Modelica multiplies by n itself: the same for a unit vector, but with any
    other one the powers on both sides would differ.)
    """

    modelica_name = "MultiBody.Parts.Mounting1D"

    phi0 = Parameter(t.Angle, 0.0, "Fixed offset angle of housing")
    n = Parameter(t.Axis, (1, 0, 0), "Axis of rotation = axis of support torque (resolved in frame_a)", shape=3)
    flange_b = Flange_b("(right) flange fixed in housing")

    def equations(self) -> None:
        self.flange_b.phi = self.phi0
        if self.is_carried:
            self.load_frame(-normalize(self.n) * self.flange_b.tau)
            self.energy()


class Rotor1D(Animated, _Carried, PartialTwoFlanges):
    """1D inertia attachable on 3-dim. bodies (3D dynamic effects are taken into account if driveTrainMechanics3D=true).

    Mass and inertia of the rotor at rest belong to the body that carries it; the Rotor1D adds what its rotation does.
    Its energy is therefore what comes on top of the body's; with exact = false no energy balances.
    """

    modelica_name = "MultiBody.Parts.Rotor1D"

    J = Parameter(t.Inertia, required, "Moment of inertia of rotor around its axis of rotation", min=0)
    n = Parameter(t.Axis, (1, 0, 0), "Axis of rotation resolved in frame_a", shape=3)
    r_center = Parameter(
        t.Position, (0, 0, 0), "Position vector from origin of frame_a to center of cylinder", shape=3, animation=True
    )
    cylinderLength = Parameter(
        t.Distance,
        lambda self: 2 * self.world.defaultJointLength,
        "Length of cylinder representing the rotor",
        animation=True,
    )
    cylinderDiameter = Parameter(
        t.Distance,
        lambda self: 2 * self.world.defaultJointWidth,
        "Diameter of cylinder representing the rotor",
        animation=True,
    )
    cylinderColor = Parameter(t.Color, ROD_COLOR, "Color of cylinder representing the rotor", shape=3, animation=True)
    stateSelect = Parameter(t.StateSelect, "default", "Priority to use rotor angle (phi) and rotor speed (w) as states")
    exact = Parameter(
        t.Boolean,
        True,
        "= true, if exact calculations; false if influence of bearing on rotor acceleration "
        "is neglected to avoid an algebraic loop",
    )
    virtualPower = Parameter(
        t.Boolean,
        False,
        "= true, if the reaction torque follows from the flange torques by the principle of virtual power: the same "
        "motion where exact, and angular momentum that is kept where not",
    )

    phi = Coordinate(
        t.Angle,
        "Rotation angle of rotor with respect to frame_a (= flange_a.phi = flange_b.phi)",
        start=0.0,
        state_select=own_state_select,
    )
    w = Variable(
        t.AngularVelocity,
        "Angular velocity of rotor with respect to frame_a",
        start=0.0,
        state_select=own_state_select,
    )
    a = Variable(t.AngularAcceleration, "Angular acceleration of rotor with respect to frame_a", start=0.0)

    def equations(self) -> None:
        self.w = self.der(self.phi)
        self.a = self.der(self.w)
        self.relation(self.flange_a.phi - self.phi)
        self.relation(self.flange_b.phi - self.phi)
        if self.is_carried:
            self._turn_with_frame()
        else:
            self.effort(phi=-self.J * self.a)
            self.energy(kinetic=self.J * self.w**2 / 2)

    def _turn_with_frame(self) -> None:
        """3-dim. effects: the frame turns the rotor about its axis and tilts its angular momentum."""
        e = ca.SX(normalize(self.n))
        w_a = angular_velocity2(self.frame_a.R)
        spin = ca.dot(e, w_a)
        with_frame = self.J * self.der(spin)
        self.effort(phi=-self.J * self.a - (with_frame if self.exact else 0))
        along = self.J * self.a - self.flange_a.tau - self.flange_b.tau if self.virtualPower else -with_frame
        self.load_frame(e * along + cross(w_a, e * self.J * self.w))
        self.energy(kinetic=self.J * (self.w / 2 + spin) * self.w)
        if self.exact or not self.virtualPower:
            self.on_top(
                self.J * (self.w / 2 + spin) * self.w if self.exact else self.J * (self.w**2 - spin**2) / 2,
                "its J is more than the inertia about n of the body that carries it, which contains that of the rotor "
                "at rest; give that body more",
            )

    def visualize(self: Any) -> None:
        e = normalize(self.n)
        turned, attributes = planar_rotation(e, self.phi, 0.0), {}
        if self.is_carried:
            turned = absolute_rotation(self.frame_a.R, turned)
            attributes["r"] = self.frame_a.r_0
        self.draw_shape(
            "cylinder",
            "cylinder",
            R=turned,
            r_shape=self.r_center - e * (self.cylinderLength / 2),
            lengthDirection=e,
            length=self.cylinderLength,
            width=self.cylinderDiameter,
            color=self.cylinderColor,
            extra=1,
            **attributes,
        )


class BevelGear1D(_Carried, PartialTwoFlanges):
    """1D gearbox with arbitrary shaft directions and 3-dim. bearing frame (provided driveTrainMechanics3D=true)."""

    modelica_name = "MultiBody.Parts.BevelGear1D"

    ratio = Parameter(t.Real, required, "Gear speed ratio", nonzero=True)
    n_a = Parameter(t.Axis, (1, 0, 0), "Axis of rotation of flange_a, resolved in frame_a", shape=3)
    n_b = Parameter(t.Axis, (1, 0, 0), "Axis of rotation of flange_b, resolved in frame_a", shape=3)

    def equations(self) -> None:
        self.relation(self.flange_a.phi - self.ratio * self.flange_b.phi)
        if self.is_carried:
            self.load_frame(-self.flange_a.tau * normalize(self.n_a) - self.flange_b.tau * normalize(self.n_b))
            self.energy()


__all__ = ["BevelGear1D", "Mounting1D", "Rotor1D"]
