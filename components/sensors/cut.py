"""Sensors between two frames that are one: cut force, cut torque, power (MultiBody.Sensors 4.0)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import FORCE_COLOR, Animated
from mbfmu.components.forces.animation import ForceScale, TorqueScale
from mbfmu.components.interfaces import PartialTwoFrames, ResolvesVectors
from mbfmu.frames import angular_velocity2, null_rotation, resolve2
from mbfmu.modeling import Parameter, RealOutput
from mbfmu.modeling import types as t


class _CutForceSensor(ResolvesVectors, Animated, PartialTwoFrames):
    """Rigid connection of two frames, at which the load is measured."""

    resolveInFrame = Parameter(t.ResolveInFrameA, "frame_a", "Frame in which output vector(s) is/are resolved")
    positiveSign = Parameter(
        t.Boolean,
        True,
        "= true, if positive sign is returned (= frame_a.f/.t), otherwise with negative sign (= frame_b.f/.t)",
    )

    def equations(self) -> None:
        self.no_load()
        self.relative_motion([0, 0, 0], null_rotation())
        self.measure()

    def measure(self) -> None:
        """Assign the outputs."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")

    @property
    def sign(self: Any) -> int:
        """Of arrows: against the cut force or torque of frame_a."""
        return -1 if self.positiveSign else 1

    def cut(self, vector: Any) -> Any:
        """Cut force or torque of frame_a, with the sign and resolved in the frame that are asked for."""
        signed = vector if self.positiveSign else -vector
        if self.resolveInFrame == "frame_a":
            return signed
        return self.from_world(self.resolveInFrame, self.to_world("frame_a", signed))


class CutForce(ForceScale, _CutForceSensor):
    """Measure cut force vector."""

    modelica_name = "MultiBody.Sensors.CutForce"

    arrowDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of force arrow", animation=True
    )
    forceDiameter = Parameter(t.Diameter, lambda self: self.arrowDiameter, "Diameter of force arrow", animation=True)
    forceColor = Parameter(t.Color, FORCE_COLOR, "Color of force arrow", shape=3, animation=True)
    force = RealOutput("Cut force resolved in frame defined by resolveInFrame", type=t.Force, shape=3)

    def measure(self) -> None:
        self.force = self.cut(self.frame_a.f)

    def visualize(self: Any) -> None:
        super().visualize()
        self.draw_force("forceArrow", self.sign * self.frame_a.f, self.forceDiameter, self.forceColor)


class CutTorque(TorqueScale, _CutForceSensor):
    """Measure cut torque vector."""

    modelica_name = "MultiBody.Sensors.CutTorque"

    torqueDiameter = Parameter(
        t.Diameter, lambda self: self.world.defaultArrowDiameter, "Diameter of torque arrow", animation=True
    )
    torqueColor = Parameter(t.Color, FORCE_COLOR, "Color of torque arrow", shape=3, animation=True)
    torque = RealOutput("Cut torque resolved in frame defined by resolveInFrame", type=t.Torque, shape=3)

    def measure(self) -> None:
        self.torque = self.cut(self.frame_a.t)

    def visualize(self: Any) -> None:
        super().visualize()
        self.draw_torque("torqueArrow", self.sign * self.frame_a.t, self.torqueDiameter, self.torqueColor)


class CutForceAndTorque(CutForce, CutTorque):
    """Measure cut force and cut torque vector."""

    modelica_name = "MultiBody.Sensors.CutForceAndTorque"

    def measure(self) -> None:
        self.force = self.cut(self.frame_a.f)
        self.torque = self.cut(self.frame_a.t)


class Power(PartialTwoFrames):
    """Measure power flowing from frame_a to frame_b."""

    modelica_name = "MultiBody.Sensors.Power"

    power = RealOutput("Power at frame_a as output signal", type=t.Power)

    def equations(self) -> None:
        self.relative_motion([0, 0, 0], null_rotation())
        a = self.frame_a
        self.power = ca.dot(a.f, resolve2(a.R, self.der(a.r_0))) + ca.dot(a.t, angular_velocity2(a.R))


__all__ = ["CutForce", "CutForceAndTorque", "CutTorque", "Power"]
