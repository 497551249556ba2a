"""Partial models that components build on, with the contract that seed 002 documents for each.

A force, a joint or a sensor of one's own subclasses one of these and adds declarations and equations only.
"""

from __future__ import annotations

from mbfmu.errors import ModelError
from mbfmu.frames import cross, resolve1, resolve2, resolve_relative
from mbfmu.modeling import (
    Component,
    Frame_a,
    Frame_b,
    Frame_resolve,
    RealOutput,
    RotationalFlange,
    TranslationalFlange,
    Variable,
)
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import Dimensionless, Force, Integer, Position


def need_connected(component: Component, connected: set[str], *connectors: str) -> None:
    """Refuse open connectors (the seeds' `assert(cardinality(frame) > 0)`)."""
    for name in connectors:
        if name not in connected:
            raise ModelError(f"{component.where}.{name}: this connector of {type(component).__name__} is not connected; "
                             "connect it, or remove the component")


class PartialTwoFrames(Component):
    """Component with two frames that must both be connected (seed 002)."""

    frame_a = Frame_a("Coordinate system fixed to the component with one cut-force and cut-torque")
    frame_b = Frame_b("Coordinate system fixed to the component with one cut-force and cut-torque")

    def check_connections(self, connected: set[str]) -> None:
        need_connected(self, connected, "frame_a", "frame_b")


class PartialOneFrame_a(Component):  # noqa: N801
    """Component with one frame_a that must be connected (seed 002)."""

    frame_a = Frame_a("Coordinate system fixed to the component with one cut-force and cut-torque")

    def check_connections(self, connected: set[str]) -> None:
        need_connected(self, connected, "frame_a")


class PartialOneFrame_b(Component):  # noqa: N801
    """Component with one frame_b that must be connected (seed 002)."""

    frame_b = Frame_b("Coordinate system fixed to the component with one cut-force and cut-torque")

    def check_connections(self, connected: set[str]) -> None:
        need_connected(self, connected, "frame_b")


class PartialElementaryJoint(PartialTwoFrames):
    """Joint that says how frame_b moves relative to frame_a (seed 002).

    A subclass declares its coordinates and calls `self.relative_motion(r_rel_a, R_rel)` in its equations; forces and
    torques, the reversed direction and the cut of a loop follow from that.
    """


class PartialForce(PartialTwoFrames):
    """Force and torque between two frames (seed 002): a subclass assigns only frame_b.f and frame_b.t.

    They may depend on r_rel_b and on the frames. What acts on the part connected to frame_b is -frame_b.f.
    """

    r_rel_b = Variable(Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_b", shape=3)

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        self.r_rel_b = resolve2(b.R, b.r_0 - a.r_0)
        f, t = self.cut_force()
        b.f, b.t = f, t
        a.f = -resolve_relative(f, b.R, a.R)
        a.t = -resolve_relative(t + cross(self.r_rel_b, f), b.R, a.R)

    def cut_force(self):
        """Cut force and cut torque at frame_b, both resolved in frame_b."""
        raise NotImplementedError(f"{type(self).__name__} must define cut_force()")


class PartialLineForce(PartialTwoFrames):
    """Force on the line between two frames (seed 002): a subclass assigns only `f`, from s and der(s)."""

    s_small = Parameter(Position, 1e-6, "Prevent zero-division if relative distance s=0", min=0)

    f = Variable(Force, "Line force acting on frame_a and on frame_b (positive, if acting on frame_b and directed from "
                        "frame_a to frame_b)")
    s = Variable(Position, "(Guarded) distance between the origin of frame_a and the origin of frame_b (>= s_small)")
    e_a = Variable(Dimensionless, "Unit vector on the line connecting the origin of frame_a with the origin of frame_b "
                                  "resolved in frame_a (directed from frame_a to frame_b)", shape=3)
    r_rel_a = Variable(Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a", shape=3)

    def equations(self) -> None:
        a, b = self.frame_a, self.frame_b
        self.r_rel_a = resolve2(a.R, b.r_0 - a.r_0)
        self.s = guarded_length(self.r_rel_a, self.s_small)
        self.e_a = self.r_rel_a / self.s
        self.f = self.line_force()
        a.f, a.t = -self.e_a * self.f, [0, 0, 0]
        b.f, b.t = -resolve_relative(a.f, a.R, b.R), [0, 0, 0]

    def line_force(self):
        """Force f as a function of self.s and self.der(self.s)."""
        raise NotImplementedError(f"{type(self).__name__} must define line_force()")


def guarded_length(r, small):
    """Length of a vector, but at least `small`; smooth through zero would move the force, so it is cut off sharply."""
    import casadi as ca

    return ca.sqrt(ca.fmax(ca.sumsqr(r), small**2))


class PartialAbsoluteSensor(PartialOneFrame_a):
    """Sensor of one frame with an output vector y (seed 002)."""

    n_out = Parameter(Integer, 1, "Number of output signals", min=1)
    y = RealOutput("Measured data as signal vector", shape=lambda self: (self.n_out,))

    def equations(self) -> None:
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]
        self.y = self.measure()

    def measure(self):
        """The measured values, n_out of them."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


class PartialRelativeSensor(PartialTwoFrames):
    """Sensor between two frames with an output vector y (seed 002)."""

    n_out = Parameter(Integer, 1, "Number of output signals", min=1)
    y = RealOutput("Measured data as signal vector", shape=lambda self: (self.n_out,))

    def equations(self) -> None:
        for frame in (self.frame_a, self.frame_b):
            frame.f, frame.t = [0, 0, 0], [0, 0, 0]
        self.y = self.measure()

    def measure(self):
        """The measured values, n_out of them."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


class PartialVisualizer(PartialOneFrame_a):
    """Visualizer at a frame (seed 002); it carries no load."""

    def equations(self) -> None:
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]


class ZeroPosition(Component):
    """Set absolute position vector of frame_resolve to a zero vector and the orientation object to a null rotation."""

    frame_resolve = Frame_resolve("Frame at the world's origin")

    def equations(self) -> None:
        from mbfmu.frames import null_rotation

        self.frame_resolve.r_0, self.frame_resolve.R = [0, 0, 0], null_rotation()


class Flange_a(RotationalFlange):  # noqa: N801
    """One-dimensional rotational flange (filled icon)."""


class Flange_b(RotationalFlange):  # noqa: N801
    """One-dimensional rotational flange (non-filled icon)."""


class TranslationalFlange_a(TranslationalFlange):  # noqa: N801
    """One-dimensional translational flange (left, directed into the cut plane)."""


class TranslationalFlange_b(TranslationalFlange):  # noqa: N801
    """One-dimensional translational flange (right, directed out of the cut plane)."""


__all__ = [
    "Flange_a",
    "Flange_b",
    "PartialAbsoluteSensor",
    "PartialElementaryJoint",
    "PartialForce",
    "PartialLineForce",
    "PartialOneFrame_a",
    "PartialOneFrame_b",
    "PartialRelativeSensor",
    "PartialTwoFrames",
    "PartialVisualizer",
    "TranslationalFlange_a",
    "TranslationalFlange_b",
    "ZeroPosition",
    "guarded_length",
    "need_connected",
    "resolve1",
]
