"""Forces and torques that signals give: at one frame or between two (MultiBody.Forces 4.0).

Each consists of a basic element per signal, as in Modelica; the basic elements' frame_resolve is always there, and a
ZeroPosition holds it where no vector is resolved in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from mbfmu.components.forces.animation import (
    ConnectionLine,
    ForceArrow,
    ForceScale,
    SingleArrow,
    TorqueArrow,
    TorqueScale,
)
from mbfmu.components.interfaces import (
    PartialForce,
    PartialOneFrame_b,
    PartialTwoFrames,
    Renamed,
    ResolvesVectors,
    ZeroPosition,
)
from mbfmu.frames import resolve2
from mbfmu.modeling import Component, Parameter, RealInput, Variable
from mbfmu.modeling import types as t

FORCE = "x-, y-, z-coordinates of force resolved in frame defined by resolveInFrame"
TORQUE = "x-, y-, z-coordinates of torque resolved in frame defined by resolveInFrame"


class _Basic(ResolvesVectors):
    """Element inside a force, whose frame_resolve is always there."""

    @property
    def needs_frame_resolve(self) -> bool:
        """True: what contains it connects the frame."""
        return True


class BasicForce(_Basic, PartialForce):
    """Force acting between two frames, defined by 3 input signals."""

    modelica_name = "MultiBody.Forces.Internal.BasicForce"

    resolveInFrame = Parameter(t.ResolveInFrameAB, "frame_b", "Frame in which force is resolved")
    force = RealInput(FORCE, type=t.Force, shape=3)
    r_0 = Variable(
        t.Position, "Position vector from origin of frame_a to origin of frame_b resolved in world frame", shape=3
    )
    f_b_0 = Variable(t.Force, "Force frame_b.f resolved in world frame", shape=3)

    def cut_force(self) -> tuple[Any, Any]:
        self.no_load()
        self.r_0 = self.frame_b.r_0 - self.frame_a.r_0
        self.f_b_0 = -self.to_world(self.resolveInFrame, self.force)
        return self.from_world("frame_b", self.f_b_0), [0, 0, 0]


class BasicTorque(_Basic, PartialTwoFrames):
    """Torque acting between two frames, defined by 3 input signals."""

    modelica_name = "MultiBody.Forces.Internal.BasicTorque"

    resolveInFrame = Parameter(t.ResolveInFrameAB, "frame_b", "Frame in which torque is resolved")
    torque = RealInput(TORQUE, type=t.Torque, shape=3)
    r_0 = Variable(
        t.Position, "Position vector from origin of frame_a to origin of frame_b resolved in world frame", shape=3
    )
    t_b_0 = Variable(t.Torque, "frame_b.t resolved in world frame", shape=3)

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        self.no_load()
        self.r_0 = b.r_0 - a.r_0
        self.t_b_0 = -self.to_world(self.resolveInFrame, self.torque)
        a.f, b.f = [0, 0, 0], [0, 0, 0]
        a.t, b.t = -resolve2(a.R, self.t_b_0), resolve2(b.R, self.t_b_0)


class BasicWorldForce(_Basic, PartialOneFrame_b):
    """External force acting at frame_b, defined by 3 input signals."""

    modelica_name = "MultiBody.Forces.Internal.BasicWorldForce"

    resolveInFrame = Parameter(t.ResolveInFrameB, "world", "Frame in which force is resolved")
    force = RealInput(FORCE, type=t.Force, shape=3)

    def equations(self) -> None:
        self.no_load("frame_b")
        self.frame_b.f = -self.from_world("frame_b", self.to_world(self.resolveInFrame, self.force))


class BasicWorldTorque(_Basic, PartialOneFrame_b):
    """External torque acting at frame_b, defined by 3 input signals."""

    modelica_name = "MultiBody.Forces.Internal.BasicWorldTorque"

    resolveInFrame = Parameter(t.ResolveInFrameB, "world", "Frame in which torque is resolved")
    torque = RealInput(TORQUE, type=t.Torque, shape=3)

    def equations(self) -> None:
        self.no_load("frame_b")
        self.frame_b.t = -self.from_world("frame_b", self.to_world(self.resolveInFrame, self.torque))


class _Applied(ResolvesVectors):
    """A force that consists of basic elements."""

    def lead_out(self, basic: Component, *connectors: str) -> None:
        """Connect connectors of a basic element with those of the same name, and its frame_resolve."""
        for name in connectors:
            self.connect(getattr(basic, name), getattr(self, name))
        if self.needs_frame_resolve:
            self.connect(basic.frame_resolve, self.frame_resolve)
        else:
            if "zeroPosition" not in self.parts:
                self.zeroPosition = ZeroPosition()
            self.connect(self.zeroPosition.frame_resolve, basic.frame_resolve)


class Force(ForceArrow, ConnectionLine, _Applied, Renamed, PartialTwoFrames):
    """Force acting between two frames, defined by 3 input signals and resolved in frame world, frame_a, frame_b or
    frame_resolve.
    """

    modelica_name = "MultiBody.Forces.Force"
    other_names: ClassVar[Mapping[str, str]] = {"color": "forceColor", "diameter": "forceDiameter"}

    resolveInFrame = Parameter(t.ResolveInFrameAB, "frame_b", "Frame in which input force is resolved")
    force = RealInput(FORCE, type=t.Force, shape=3)

    def build(self) -> None:
        self.basicForce = BasicForce(resolveInFrame=self.resolveInFrame)
        self.lead_out(self.basicForce, "frame_a", "frame_b", "force")


class Torque(TorqueArrow, ConnectionLine, _Applied, Renamed, PartialTwoFrames):
    """Torque acting between two frames, defined by 3 input signals and resolved in frame world, frame_a, frame_b or
    frame_resolve.
    """

    modelica_name = "MultiBody.Forces.Torque"
    other_names: ClassVar[Mapping[str, str]] = {"color": "torqueColor", "diameter": "torqueDiameter"}

    resolveInFrame = Parameter(t.ResolveInFrameAB, "frame_b", "Frame in which input torque is resolved")
    torque = RealInput(TORQUE, type=t.Torque, shape=3)

    def build(self) -> None:
        self.basicTorque = BasicTorque(resolveInFrame=self.resolveInFrame)
        self.lead_out(self.basicTorque, "frame_a", "frame_b", "torque")


class ForceAndTorque(ForceArrow, TorqueArrow, ConnectionLine, _Applied, PartialTwoFrames):
    """Force and torque acting between two frames, defined by 3+3 input signals and resolved in frame world, frame_a,
    frame_b or frame_resolve.
    """

    modelica_name = "MultiBody.Forces.ForceAndTorque"

    resolveInFrame = Parameter(t.ResolveInFrameAB, "frame_b", "Frame in which input force and torque are resolved")
    force = RealInput(FORCE, type=t.Force, shape=3)
    torque = RealInput(TORQUE, type=t.Torque, shape=3)

    def build(self) -> None:
        self.basicForce = BasicForce(resolveInFrame=self.resolveInFrame)
        self.basicTorque = BasicTorque(resolveInFrame=self.resolveInFrame)
        self.lead_out(self.basicForce, "frame_a", "frame_b", "force")
        self.lead_out(self.basicTorque, "frame_a", "frame_b", "torque")


class WorldForce(ForceScale, SingleArrow, _Applied, PartialOneFrame_b):
    """External force acting at frame_b, defined by 3 input signals and resolved in frame world, frame_b or
    frame_resolve.
    """

    modelica_name = "MultiBody.Forces.WorldForce"

    resolveInFrame = Parameter(t.ResolveInFrameB, "world", "Frame in which input force is resolved")
    force = RealInput(FORCE, type=t.Force, shape=3)

    def build(self) -> None:
        self.basicWorldForce = BasicWorldForce(resolveInFrame=self.resolveInFrame)
        self.lead_out(self.basicWorldForce, "frame_b", "force")

    def visualize(self: Any) -> None:
        self.draw_force("arrow", -self.frame_b.f, self.diameter, self.color)


class WorldTorque(TorqueScale, SingleArrow, _Applied, PartialOneFrame_b):
    """External torque acting at frame_b, defined by 3 input signals and resolved in frame world, frame_b or
    frame_resolve.
    """

    modelica_name = "MultiBody.Forces.WorldTorque"

    resolveInFrame = Parameter(t.ResolveInFrameB, "world", "Frame in which input torque is resolved")
    torque = RealInput(TORQUE, type=t.Torque, shape=3)

    def build(self) -> None:
        self.basicWorldTorque = BasicWorldTorque(resolveInFrame=self.resolveInFrame)
        self.lead_out(self.basicWorldTorque, "frame_b", "torque")

    def visualize(self: Any) -> None:
        self.draw_torque("arrow", -self.frame_b.t, self.diameter, self.color)


class WorldForceAndTorque(ForceArrow, TorqueArrow, _Applied, PartialOneFrame_b):
    """External force and torque acting at frame_b, defined by 3+3 input signals and resolved in frame world, frame_b
    or frame_resolve.
    """

    modelica_name = "MultiBody.Forces.WorldForceAndTorque"

    resolveInFrame = Parameter(t.ResolveInFrameB, "world", "Frame in which input force and torque are resolved")
    force = RealInput(FORCE, type=t.Force, shape=3)
    torque = RealInput(TORQUE, type=t.Torque, shape=3)

    def build(self) -> None:
        self.basicWorldForce = BasicWorldForce(resolveInFrame=self.resolveInFrame)
        self.basicWorldTorque = BasicWorldTorque(resolveInFrame=self.resolveInFrame)
        self.lead_out(self.basicWorldForce, "frame_b", "force")
        self.lead_out(self.basicWorldTorque, "frame_b", "torque")


__all__ = [
    "BasicForce",
    "BasicTorque",
    "BasicWorldForce",
    "BasicWorldTorque",
    "Force",
    "ForceAndTorque",
    "Torque",
    "WorldForce",
    "WorldForceAndTorque",
    "WorldTorque",
]
