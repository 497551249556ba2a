"""RevolutePlanarLoopConstraint: a revolute joint as two constraints, for planar loops (MultiBody.Joints)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from mbfmu.components.animation import CylinderAnimation
from mbfmu.components.interfaces import PartialTwoFrames
from mbfmu.frames import normalize, relative_rotation, resolve2
from mbfmu.modeling.declarations import Final, Multiplier, Parameter, Variable
from mbfmu.modeling.types import Axis, Force, Position


def across(e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors ex, ey that form a right-handed system with the unit vector e (ex_a, ey_a in Modelica)."""
    other = (0.0, 1.0, 0.0) if abs(e[0]) > 0.1 else (0.0, 0.0, 1.0) if abs(e[1]) > 0.1 else (1.0, 0.0, 0.0)
    ey = np.asarray(normalize(np.cross(e, other)))
    return np.cross(ey, e), ey


class RevolutePlanarLoopConstraint(CylinderAnimation, PartialTwoFrames):
    """Revolute joint that is described by 2 positional constraints for usage in a planar loop.

    The ambiguous cut-force perpendicular to the loop and the ambiguous cut-torques are set arbitrarily to zero.
    """

    modelica_name = "MultiBody.Joints.RevolutePlanarLoopConstraint"

    n = Parameter(Axis, (0, 0, 1), "Axis of rotation resolved in frame_a (= same as in frame_b)", shape=3)
    e = Final(
        Axis, lambda self: normalize(self.n), "Unit vector in direction of rotation axis, resolved in frame_a", shape=3
    )

    f_c = Multiplier(Force, "Constraint forces in direction of ex_a, ey_a", shape=2)
    r_rel_a = Variable(
        Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a", shape=3
    )

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        ex, ey = across(self.e)
        R_rel = relative_rotation(a.R, b.R)
        self.r_rel_a = resolve2(a.R, b.r_0 - a.r_0)
        self.constrain("f_c", position=ca.vertcat(ca.dot(ex, self.r_rel_a), ca.dot(ey, self.r_rel_a)))
        a.f = ex * self.f_c[0] + ey * self.f_c[1]
        b.f = -resolve2(R_rel, a.f)
        a.t, b.t = [0, 0, 0], [0, 0, 0]
        self.energy()
        for distance in (self.r_rel_a, resolve2(R_rel, ex), resolve2(R_rel, ey)):
            self.require(
                1e-10 - ca.fabs(ca.dot(self.e, distance)),
                "this joint closes a planar loop, but its axis n is not orthogonal to the possible movements; use a "
                "Revolute instead, or correct the axes n of the revolute joints of the loop",
            )

    def visualize(self) -> None:
        self.draw_cylinder(self.frame_a, self.e)


__all__ = ["RevolutePlanarLoopConstraint", "across"]
