"""Sensors of one frame (MultiBody.Sensors 4.0)."""

from __future__ import annotations

from typing import Any

from mbfmu.components.animation import ArrowAnimation
from mbfmu.components.interfaces import PartialOneFrame_a, ResolvesVectors
from mbfmu.frames import angular_velocity1, axes_rotations_angles
from mbfmu.modeling import Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t


class _AbsoluteSensor(ResolvesVectors, PartialOneFrame_a):
    """Sensor of one frame; it carries no load."""

    resolveInFrame = Parameter(t.ResolveInFrameA, "frame_a", "Frame in which the output vector is resolved")

    def equations(self) -> None:
        self.no_load("frame_a")
        self.measure()

    def measure(self) -> None:
        """Assign the outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    @property
    def r_0(self) -> Any:
        """Position of the frame's origin [m], resolved in the world frame, (3,)."""
        return self.frame_a.r_0

    @property
    def w_0(self) -> Any:
        """Angular velocity of the frame [rad/s], resolved in the world frame, (3,)."""
        return angular_velocity1(self.frame_a.R)


class AbsolutePosition(_AbsoluteSensor):
    """Measure absolute position vector of the origin of a frame connector."""

    modelica_name = "MultiBody.Sensors.AbsolutePosition"

    r = RealOutput("Absolute position vector resolved in frame defined by resolveInFrame", type=t.Position, shape=3)

    def measure(self) -> None:
        self.r = self.from_world(self.resolveInFrame, self.r_0)


class AbsoluteVelocity(_AbsoluteSensor):
    """Measure absolute velocity vector of origin of frame connector."""

    modelica_name = "MultiBody.Sensors.AbsoluteVelocity"

    v = RealOutput("Absolute velocity vector resolved in frame defined by resolveInFrame", type=t.Velocity, shape=3)

    def measure(self) -> None:
        self.v = self.from_world(self.resolveInFrame, self.der(self.r_0))


class AbsoluteAngularVelocity(_AbsoluteSensor):
    """Measure absolute angular velocity of frame connector."""

    modelica_name = "MultiBody.Sensors.AbsoluteAngularVelocity"

    w = RealOutput(
        "Absolute angular velocity vector resolved in frame defined by resolveInFrame", type=t.AngularVelocity, shape=3
    )

    def measure(self) -> None:
        self.w = self.from_world(self.resolveInFrame, self.w_0)


class AbsoluteAngles(PartialOneFrame_a):
    """Measure absolute angles between frame connector and the world frame."""

    modelica_name = "MultiBody.Sensors.AbsoluteAngles"

    sequence = Parameter(
        t.RotationSequence,
        (1, 2, 3),
        "Angles are returned to rotate world frame around axes sequence[1], "
        "sequence[2] and finally sequence[3] into frame_a",
        shape=3,
    )
    guessAngle1 = Parameter(t.Angle, 0.0, "Select angles[1] such that abs(angles[1] - guessAngle1) is a minimum")
    angles = RealOutput("Angles to rotate world frame into frame_a via 'sequence'", type=t.Angle, shape=3)

    def equations(self) -> None:
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]
        self.angles = axes_rotations_angles(self.frame_a.R, self.sequence, self.guessAngle1)


class AbsoluteSensor(ArrowAnimation, _AbsoluteSensor):
    """Measure absolute kinematic quantities of frame connector.

    Derivatives are those in the world frame: r and w are resolved in resolveInFrame, v, a and z in
    resolveInFrameAfterDifferentiation.
    """

    modelica_name = "MultiBody.Sensors.AbsoluteSensor"
    frame_parameters = ("resolveInFrame", "resolveInFrameAfterDifferentiation")

    resolveInFrame = Parameter(
        t.ResolveInFrameA, "frame_a", "Frame in which vectors are resolved before differentiation"
    )
    resolveInFrameAfterDifferentiation = Parameter(
        t.ResolveInFrameA, lambda self: self.resolveInFrame, "Frame in which vectors are resolved after differentiation"
    )
    get_r = Parameter(t.Boolean, False, "= true, to measure the absolute position vector of the origin of frame_a")
    get_v = Parameter(t.Boolean, False, "= true, to measure the absolute velocity of the origin of frame_a")
    get_a = Parameter(t.Boolean, False, "= true, to measure the absolute acceleration of the origin of frame_a")
    get_w = Parameter(t.Boolean, False, "= true, to measure the absolute angular velocity of frame_a")
    get_z = Parameter(t.Boolean, False, "= true, to measure the absolute angular acceleration of frame_a")
    get_angles = Parameter(t.Boolean, False, "= true, to measure the 3 rotation angles")
    sequence = Parameter(
        t.RotationSequence,
        (1, 2, 3),
        "If get_angles=true: Angles are returned to rotate world frame around "
        "axes sequence[1], sequence[2] and finally sequence[3] into frame_a",
        shape=3,
    )
    guessAngle1 = Parameter(
        t.Angle, 0.0, "If get_angles=true: Select angles[1] such that abs(angles[1] - guessAngle1) is a minimum"
    )

    r = RealOutput(
        "Absolute position vector frame_a.r_0 resolved in frame defined by resolveInFrame",
        type=t.Position,
        shape=3,
        when=lambda self: self.get_r,
    )
    v = RealOutput("Absolute velocity vector", type=t.Velocity, shape=3, when=lambda self: self.get_v)
    a = RealOutput("Absolute acceleration vector", type=t.Acceleration, shape=3, when=lambda self: self.get_a)
    angles = RealOutput(
        "Angles to rotate world frame into frame_a via 'sequence'",
        type=t.Angle,
        shape=3,
        when=lambda self: self.get_angles,
    )
    w = RealOutput("Absolute angular velocity vector", type=t.AngularVelocity, shape=3, when=lambda self: self.get_w)
    z = RealOutput(
        "Absolute angular acceleration vector", type=t.AngularAcceleration, shape=3, when=lambda self: self.get_z
    )

    def measure(self) -> None:
        v_0, w_0 = self.der(self.r_0), self.w_0
        if self.get_angles:
            self.angles = axes_rotations_angles(self.frame_a.R, self.sequence, self.guessAngle1)
        for name, vector in (("r", self.r_0), ("v", v_0), ("a", self.der(v_0)), ("w", w_0), ("z", self.der(w_0))):
            if getattr(self, f"get_{name}"):
                after = self.resolveInFrameAfterDifferentiation
                setattr(self, name, self.from_world(after if name in "vaz" else self.resolveInFrame, vector))

    def visualize(self: Any) -> None:
        self.draw_arrow(
            "arrow", self.frame_a.r_0, self.arrowDiameter, quantity="RelativePosition", color=self.arrowColor
        )


class TransformAbsoluteVector(ResolvesVectors, PartialOneFrame_a):
    """Transform absolute vector in to another frame."""

    modelica_name = "MultiBody.Sensors.TransformAbsoluteVector"
    frame_parameters = ("frame_r_in", "frame_r_out")

    frame_r_in = Parameter(t.ResolveInFrameA, "frame_a", "Frame in which vector r_in is resolved")
    frame_r_out = Parameter(
        t.ResolveInFrameA,
        lambda self: self.frame_r_in,
        "Frame in which vector r_in shall be resolved and provided as r_out",
    )
    r_in = RealInput("Input vector resolved in frame defined by frame_r_in", shape=3)
    r_out = RealOutput("Input vector r_in resolved in frame defined by frame_r_out", shape=3)

    def equations(self) -> None:
        self.no_load("frame_a")
        self.r_out = self.from_world(self.frame_r_out, self.to_world(self.frame_r_in, self.r_in))


class TansformAbsoluteVector(TransformAbsoluteVector):
    """TransformAbsoluteVector under the name that the library gave it before version 4.0."""

    modelica_name = "MultiBody.Sensors.TansformAbsoluteVector"


__all__ = [
    "AbsoluteAngles",
    "AbsoluteAngularVelocity",
    "AbsolutePosition",
    "AbsoluteSensor",
    "AbsoluteVelocity",
    "TansformAbsoluteVector",
    "TransformAbsoluteVector",
]
