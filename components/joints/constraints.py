"""Joints as constraints between frames that something else moves (Modelica MultiBody.Joints.Constraints 4.0).

They have no coordinates of their own: the motion of both frames comes from elsewhere, and multipliers keep the
constrained directions at zero. Where a direction is released, the constraint force has a lever arm about frame_a; its
torque acts at frame_a, so that every constraint is workless. (The library puts a part of it at frame_b of Revolute and
Universal, which takes power when a direction across the axes is released; with all directions locked there is no
difference.)
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.animation import SphereAnimation
from mbfmu.components.interfaces import PartialTwoFrames
from mbfmu.components.joints.planar_loop import across
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, cross, normalize, relative_rotation, resolve1, resolve2, rotation_vector
from mbfmu.modeling.declarations import Final, Multiplier, Parameter, Variable
from mbfmu.modeling.types import Axis, Boolean, Diameter, Force, Position, Power, Torque
from mbfmu.modeling.types import Orientation as OrientationType


class PartialConstraint(SphereAnimation, PartialTwoFrames):
    """Translation along the axes of frame_a, each locked or released; subclasses constrain the rotation."""

    x_locked = Parameter(Boolean, True, "= true: constraint force in x-direction, resolved in frame_a")
    y_locked = Parameter(Boolean, True, "= true: constraint force in y-direction, resolved in frame_a")
    z_locked = Parameter(Boolean, True, "= true: constraint force in z-direction, resolved in frame_a")
    sphereDiameter = Parameter(
        Diameter, lambda self: self.world.defaultJointLength / 3, "Diameter of sphere", animation=True
    )

    f_c = Multiplier(
        Force, "Constraint forces in the locked directions of frame_a", shape=lambda self: (len(self.locked),)
    )
    R_rel = Variable(OrientationType, "Relative orientation object from frame_a to frame_b")
    r_rel_a = Variable(
        Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a", shape=3
    )
    P = Variable(Power, "Power into the constraint (zero)")

    @property
    def locked(self) -> tuple[int, ...]:
        """Indices of the locked directions of frame_a."""
        return tuple(i for i, name in enumerate(("x_locked", "y_locked", "z_locked")) if getattr(self, name))

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        self.R_rel = R_rel = relative_rotation(a.R, b.R)
        self.r_rel_a = resolve2(a.R, b.r_0 - a.r_0)
        force = ca.SX.zeros(3)
        if self.locked:
            self.constrain("f_c", position=ca.vertcat(*(self.r_rel_a[i] for i in self.locked)))
            for k, i in enumerate(self.locked):
                force[i] = self.f_c[k]
        torque = self.torque(R_rel)
        a.f, b.f = force, -resolve2(R_rel, force)
        a.t, b.t = cross(self.r_rel_a, force) - resolve1(R_rel, torque), torque
        self.energy()
        self.P = sum(
            ca.dot(frame.f, resolve2(frame.R, self.der(frame.r_0))) + ca.dot(frame.t, frame.R.w) for frame in (a, b)
        )

    def torque(self, R_rel: Orientation) -> Any:
        """Constrain the rotation; the cut torque at frame_b that does so, resolved in frame_b [N.m], (3,)."""
        raise NotImplementedError(f"{type(self).__name__} must define torque()")


class Spherical(PartialConstraint):
    """Spherical cut joint; translational directions may be constrained or released."""

    modelica_name = "MultiBody.Joints.Constraints.Spherical"

    def torque(self, R_rel: Orientation) -> Any:
        return ca.SX.zeros(3)


class Prismatic(PartialConstraint):
    """Prismatic cut joint: no rotation; translational directions may be constrained or released."""

    modelica_name = "MultiBody.Joints.Constraints.Prismatic"

    t_c = Multiplier(Torque, "Constraint torque at frame_b, resolved in frame_b", shape=3)

    def torque(self, R_rel: Orientation) -> Any:
        self.constrain("t_c", position=rotation_vector(R_rel.T))
        return self.t_c


class Revolute(PartialConstraint):
    """Revolute cut joint; translational directions may be constrained or released."""

    modelica_name = "MultiBody.Joints.Constraints.Revolute"

    n = Parameter(Axis, (0, 1, 0), "Axis of rotation resolved in frame_a (= same as in frame_b)", shape=3)
    e = Final(
        Axis, lambda self: normalize(self.n), "Unit vector in direction of rotation axis, resolved in frame_a", shape=3
    )

    t_c = Multiplier(Torque, "Constraint torque at frame_b about two axes across n, fixed in frame_a", shape=2)

    def torque(self, R_rel: Orientation) -> Any:
        ex, ey = across(self.e)
        axis = resolve2(R_rel, self.e)
        # stereographic projection of the turned axis, which has no second zero where it is antiparallel
        self.constrain("t_c", position=2 * ca.vertcat(ca.dot(ex, axis), ca.dot(ey, axis)) / (1 + ca.dot(self.e, axis)))
        return resolve2(R_rel, ex * self.t_c[0] + ey * self.t_c[1])


class Universal(PartialConstraint):
    """Universal cut joint; translational directions may be constrained or released."""

    modelica_name = "MultiBody.Joints.Constraints.Universal"

    n_a = Parameter(Axis, (1, 0, 0), "Axis of revolute joint 1 resolved in frame_a", shape=3)
    n_b = Parameter(Axis, (0, 1, 0), "Axis of revolute joint 2 resolved in frame_b", shape=3)

    t_c = Multiplier(Torque, "Constraint torque at frame_b orthogonal to both axes")

    def check_values(self) -> None:
        super().check_values()
        a, b = (np.asarray(normalize(v)) for v in (self.n_a, self.n_b))
        if abs(a @ b) > 1e-9:
            raise ModelError(
                f"{self.where}: n_a = {self.n_a} and n_b = {self.n_b} are not orthogonal; this constraint keeps a "
                "right angle between both axes"
            )

    def torque(self, R_rel: Orientation) -> Any:
        axis_a, axis_b = resolve2(R_rel, np.asarray(normalize(self.n_a))), np.asarray(normalize(self.n_b))
        self.constrain("t_c", position=ca.dot(axis_b, axis_a))
        return self.t_c * cross(axis_a, axis_b)


__all__ = ["PartialConstraint", "Prismatic", "Revolute", "Spherical", "Universal"]
