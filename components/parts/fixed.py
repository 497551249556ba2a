"""Massless rigid parts: Fixed, FixedTranslation, FixedRotation (MultiBody.Parts)."""

from __future__ import annotations

from math import pi

import numpy as np

from mbfmu.components.animation import ShapeAnimation
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, are_parallel, axes_rotations, from_nxy, normalize, null_rotation, planar_rotation
from mbfmu.modeling import Frame_a, Frame_b, required
from mbfmu.modeling.declarations import Final, Parameter
from mbfmu.modeling.types import Angle_deg, Axis, AxisNumbers, Position, RotationTypes
from mbfmu.modeling.types import Orientation as OrientationType


class Fixed(ShapeAnimation):
    """Frame fixed in the world frame at a given position."""

    modelica_name = "MultiBody.Parts.Fixed"

    frame_b = Frame_b("Coordinate system fixed in the world frame")
    r = Parameter(Position, (0, 0, 0), "Position vector from world frame to frame_b, resolved in world frame", shape=3)

    def equations(self) -> None:
        self.frame_b.r_0, self.frame_b.R = self.r, null_rotation()

    def visualize(self) -> None:
        self.draw_own_shape(None)


class _RigidConnection(ShapeAnimation):
    """Two frames with a fixed relative position; one of them may be open."""

    frame_a = Frame_a("Coordinate system fixed to the component with one cut-force and cut-torque")
    frame_b = Frame_b("Coordinate system fixed to the component with one cut-force and cut-torque")

    def check_connections(self, connected: set[str]) -> None:
        if not connected:
            raise ModelError(
                f"{self.where}: neither frame_a nor frame_b of this {type(self).__name__} is connected; "
                "connect one of them, or remove the component"
            )


class FixedTranslation(_RigidConnection):
    """Fixed translation of frame_b with respect to frame_a."""

    modelica_name = "MultiBody.Parts.FixedTranslation"

    r = Parameter(Position, required, "Vector from frame_a to frame_b resolved in frame_a", shape=3)

    def equations(self) -> None:
        self.relative_motion(self.r, null_rotation())


def _relative_orientation(self: FixedRotation) -> Orientation:
    if self.rotationType == "RotationAxis":
        return planar_rotation(normalize(self.n), self.angle * (pi / 180), 0.0)
    if self.rotationType == "TwoAxesVectors":
        if are_parallel(self.n_x, self.n_y):
            raise ModelError(
                f"{self.where}: n_x = {self.n_x} and n_y = {self.n_y} are parallel; together they must span a plane"
            )
        return from_nxy(self.n_x, self.n_y)
    return axes_rotations(self.sequence, self.angles * (pi / 180), np.zeros(3))


class FixedRotation(_RigidConnection):
    """Fixed translation followed by a fixed rotation of frame_b with respect to frame_a."""

    modelica_name = "MultiBody.Parts.FixedRotation"

    r = Parameter(Position, (0, 0, 0), "Vector from frame_a to frame_b resolved in frame_a", shape=3)
    rotationType = Parameter(RotationTypes, "RotationAxis", "Type of rotation description")
    n = Parameter(Axis, (1, 0, 0), "Axis of rotation in frame_a (= same as in frame_b)", shape=3)
    angle = Parameter(Angle_deg, 0.0, "Angle to rotate frame_a around axis n into frame_b")
    n_x = Parameter(Axis, (1, 0, 0), "Vector along x-axis of frame_b resolved in frame_a", shape=3)
    n_y = Parameter(Axis, (0, 1, 0), "Vector along y-axis of frame_b resolved in frame_a", shape=3)
    sequence = Parameter(AxisNumbers, (1, 2, 3), "Sequence of rotations", shape=3)
    angles = Parameter(Angle_deg, (0, 0, 0), "Rotation angles around the axes defined in 'sequence'", shape=3)
    R_rel = Final(OrientationType, _relative_orientation, "Fixed rotation object from frame_a to frame_b")

    def equations(self) -> None:
        self.relative_motion(self.r, self.R_rel)
