"""Sensors between two frames (MultiBody.Sensors 4.0)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import ArrowAnimation
from mbfmu.components.interfaces import PartialTwoFrames, ResolvesVectors
from mbfmu.frames import Orientation, angular_velocity1, axes_rotations_angles, relative_rotation, resolve1, resolve2
from mbfmu.modeling import Parameter, RealInput, RealOutput, Variable
from mbfmu.modeling import types as t


class _RelativeSensor(ResolvesVectors, PartialTwoFrames):
    """Sensor between two frames; it carries no load."""

    resolveInFrame = Parameter(t.ResolveInFrameAB, "frame_a", "Frame in which the output vector is resolved")

    def equations(self) -> None:
        self.no_load("frame_a", "frame_b")
        self.measure()

    def measure(self) -> None:
        """Assign the outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    @property
    def r_rel_0(self) -> Any:
        """Vector from the origin of frame_a to that of frame_b [m], resolved in the world frame, (3,)."""
        return self.frame_b.r_0 - self.frame_a.r_0

    @property
    def R_rel(self) -> Orientation:
        """Orientation object from frame_a to frame_b."""
        return relative_rotation(self.frame_a.R, self.frame_b.R)

    @property
    def w_rel_0(self) -> Any:
        """Angular velocity of frame_b relative to frame_a [rad/s], resolved in the world frame, (3,)."""
        return resolve1(self.frame_a.R, angular_velocity1(self.R_rel))


class RelativePosition(_RelativeSensor):
    """Measure relative position vector between the origins of two frame connectors."""

    modelica_name = "MultiBody.Sensors.RelativePosition"

    r_rel = RealOutput("Relative position vector resolved in frame defined by resolveInFrame", type=t.Position, shape=3)

    def measure(self) -> None:
        self.r_rel = self.from_world(self.resolveInFrame, self.r_rel_0)


class RelativeVelocity(_RelativeSensor):
    """Measure relative velocity vector between the origins of two frame connectors, as seen from frame_a."""

    modelica_name = "MultiBody.Sensors.RelativeVelocity"

    v_rel = RealOutput("Relative velocity vector resolved in frame defined by resolveInFrame", type=t.Velocity, shape=3)

    def measure(self) -> None:
        v_rel_a = self.der(resolve2(self.frame_a.R, self.r_rel_0))
        self.v_rel = self.from_world(self.resolveInFrame, self.to_world("frame_a", v_rel_a))


class RelativeAngularVelocity(_RelativeSensor):
    """Measure relative angular velocity between two frame connectors."""

    modelica_name = "MultiBody.Sensors.RelativeAngularVelocity"

    w_rel = RealOutput(
        "Relative angular velocity vector resolved in frame defined by resolveInFrame", type=t.AngularVelocity, shape=3
    )

    def measure(self) -> None:
        self.w_rel = self.from_world(self.resolveInFrame, self.w_rel_0)


class RelativeAngles(PartialTwoFrames):
    """Measure relative angles between two frame connectors."""

    modelica_name = "MultiBody.Sensors.RelativeAngles"

    sequence = Parameter(
        t.RotationSequence,
        (1, 2, 3),
        "Angles are returned to rotate frame_a around axes sequence[1], "
        "sequence[2] and finally sequence[3] into frame_b",
        shape=3,
    )
    guessAngle1 = Parameter(t.Angle, 0.0, "Select angles[1] such that abs(angles[1] - guessAngle1) is a minimum")
    angles = RealOutput("Angles to rotate frame_a into frame_b via 'sequence'", type=t.Angle, shape=3)
    R_rel = Variable(t.Orientation, "Relative orientation object from frame_a to frame_b")

    def equations(self) -> None:
        for frame in (self.frame_a, self.frame_b):
            frame.f, frame.t = [0, 0, 0], [0, 0, 0]
        relative = relative_rotation(self.frame_a.R, self.frame_b.R)
        self.R_rel = relative
        self.angles = axes_rotations_angles(relative, self.sequence, self.guessAngle1)


class RelativeSensor(ArrowAnimation, _RelativeSensor):
    """Measure relative kinematic quantities between two frame connectors.

    Derivatives are those of the vectors as resolved in resolveInFrame; after differentiation they are resolved in
    resolveInFrameAfterDifferentiation.
    """

    modelica_name = "MultiBody.Sensors.RelativeSensor"
    frame_parameters = ("resolveInFrame", "resolveInFrameAfterDifferentiation")

    resolveInFrame = Parameter(
        t.ResolveInFrameAB, "frame_a", "Frame in which vectors are resolved before differentiation"
    )
    resolveInFrameAfterDifferentiation = Parameter(
        t.ResolveInFrameAB,
        lambda self: self.resolveInFrame,
        "Frame in which vectors are resolved after differentiation",
    )
    get_r_rel = Parameter(
        t.Boolean, False, "= true, to measure the relative position vector from the origin of frame_a to frame_b"
    )
    get_v_rel = Parameter(
        t.Boolean, False, "= true, to measure the relative velocity of the origin of frame_b with respect to frame_a"
    )
    get_a_rel = Parameter(
        t.Boolean,
        False,
        "= true, to measure the relative acceleration of the origin of frame_b with respect to frame_a",
    )
    get_w_rel = Parameter(
        t.Boolean, False, "= true, to measure the relative angular velocity of frame_b with respect to frame_a"
    )
    get_z_rel = Parameter(
        t.Boolean, False, "= true, to measure the relative angular acceleration of frame_b with respect to frame_a"
    )
    get_angles = Parameter(t.Boolean, False, "= true, to measure the 3 rotation angles")
    sequence = Parameter(
        t.RotationSequence,
        (1, 2, 3),
        "If get_angles=true: Angles are returned to rotate frame_a around "
        "axes sequence[1], sequence[2] and finally sequence[3] into frame_b",
        shape=3,
    )
    guessAngle1 = Parameter(
        t.Angle, 0.0, "If get_angles=true: Select angles[1] such that abs(angles[1] - guessAngle1) is a minimum"
    )

    r_rel = RealOutput(
        "Relative position vector frame_b.r_0 - frame_a.r_0 resolved in frame defined by resolveInFrame",
        type=t.Position,
        shape=3,
        when=lambda self: self.get_r_rel,
    )
    v_rel = RealOutput("Relative velocity vector", type=t.Velocity, shape=3, when=lambda self: self.get_v_rel)
    a_rel = RealOutput("Relative acceleration vector", type=t.Acceleration, shape=3, when=lambda self: self.get_a_rel)
    angles = RealOutput(
        "Angles to rotate frame_a into frame_b via 'sequence'", type=t.Angle, shape=3, when=lambda self: self.get_angles
    )
    w_rel = RealOutput(
        "Relative angular velocity vector", type=t.AngularVelocity, shape=3, when=lambda self: self.get_w_rel
    )
    z_rel = RealOutput(
        "Relative angular acceleration vector", type=t.AngularAcceleration, shape=3, when=lambda self: self.get_z_rel
    )

    def measure(self) -> None:
        r_rel = self.from_world(self.resolveInFrame, self.r_rel_0)
        w_rel = self.from_world(self.resolveInFrame, self.w_rel_0)
        if self.get_r_rel:
            self.r_rel = r_rel
        if self.get_v_rel:
            self.v_rel = self.after_differentiation(self.der(r_rel))
        if self.get_a_rel:
            self.a_rel = self.after_differentiation(self.der(self.der(r_rel)))
        if self.get_angles:
            self.angles = axes_rotations_angles(self.R_rel, self.sequence, self.guessAngle1)
        if self.get_w_rel:
            self.w_rel = w_rel
        if self.get_z_rel:
            self.z_rel = self.after_differentiation(self.der(w_rel))

    def after_differentiation(self, vector: Any) -> Any:
        """A derivative, resolved in the frame that is asked for."""
        before, after = self.resolveInFrame, self.resolveInFrameAfterDifferentiation
        return vector if before == after else self.from_world(after, self.to_world(before, vector))


class Distance(ArrowAnimation, PartialTwoFrames):
    """Measure the distance between the origins of two frame connectors.

    Below s_small a polynomial takes the place of the root, so that derivatives stay finite.
    """

    modelica_name = "MultiBody.Sensors.Distance"

    s_small = Parameter(
        t.Distance, 1e-10, "Prevent zero-division if distance between frame_a and frame_b is zero", min=1e-30
    )
    distance = RealOutput("Distance between the origin of frame_a and the origin of frame_b", type=t.Distance)

    def equations(self) -> None:
        for frame in (self.frame_a, self.frame_b):
            frame.f, frame.t = [0, 0, 0], [0, 0, 0]
        square, small = ca.sumsqr(self.frame_b.r_0 - self.frame_a.r_0), self.s_small**2
        self.distance = ca.if_else(
            square > small, ca.sqrt(ca.fmax(square, small)), square / (2 * self.s_small) * (3 - square / small)
        )


class TransformRelativeVector(ResolvesVectors, PartialTwoFrames):
    """Transform relative vector in to another frame."""

    modelica_name = "MultiBody.Sensors.TransformRelativeVector"
    frame_parameters = ("frame_r_in", "frame_r_out")

    frame_r_in = Parameter(t.ResolveInFrameAB, "frame_a", "Frame in which vector r_in is resolved")
    frame_r_out = Parameter(
        t.ResolveInFrameAB,
        lambda self: self.frame_r_in,
        "Frame in which vector r_in shall be resolved and provided as r_out",
    )
    r_in = RealInput("Input vector resolved in frame defined by frame_r_in", shape=3)
    r_out = RealOutput("Input vector r_in resolved in frame defined by frame_r_out", shape=3)

    def equations(self) -> None:
        self.no_load("frame_a", "frame_b")
        self.r_out = self.from_world(self.frame_r_out, self.to_world(self.frame_r_in, self.r_in))


class TansformRelativeVector(TransformRelativeVector):
    """TransformRelativeVector under the name that the library gave it before version 4.0."""

    modelica_name = "MultiBody.Sensors.TansformRelativeVector"


__all__ = [
    "Distance",
    "RelativeAngles",
    "RelativeAngularVelocity",
    "RelativePosition",
    "RelativeSensor",
    "RelativeVelocity",
    "TansformRelativeVector",
    "TransformRelativeVector",
]
