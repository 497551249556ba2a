"""Partial models that components build on, with the contract that MultiBody.Interfaces documents for each.

A force, a joint or a sensor of one's own subclasses one of these and adds declarations and equations only.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.frames import Orientation, cross, null_rotation, relative_rotation, resolve1, resolve2, resolve_relative
from mbfmu.modeling import (
    Component,
    Coordinate,
    Frame,
    Frame_a,
    Frame_b,
    Frame_resolve,
    Parameter,
    RealOutput,
    RotationalFlange,
    TranslationalFlange,
    Variable,
)
from mbfmu.modeling import types as t


class Flange_a(RotationalFlange):
    """One-dimensional rotational flange (filled icon)."""


class Flange_b(RotationalFlange):
    """One-dimensional rotational flange (non-filled icon)."""


class TranslationalFlange_a(TranslationalFlange):
    """One-dimensional translational flange (left, directed into the cut plane)."""


class TranslationalFlange_b(TranslationalFlange):
    """One-dimensional translational flange (right, directed out of the cut plane)."""


def nominal_value(given: float) -> float:
    """Nominal value of a variable that a parameter gives; 0 stands for none: 1."""
    return given if given > sys.float_info.epsilon else 1.0


def own_state_select(self: Any) -> Any:
    """StateSelect of a variable that follows the component's parameter `stateSelect`."""
    return self.stateSelect


class Renamed(Component):
    """Component whose parameters may be given by the names of other versions of the library, too."""

    #: Name of another version -> name here.
    other_names: ClassVar[Mapping[str, str]] = {}

    def modify(self, **modifiers: Any) -> None:
        """As Component.modify, with other names as well.

        Raises:
            ModelError: one parameter is given by two names.
        """
        known: dict[str, Any] = {}
        for given, value in modifiers.items():
            name = self.other_names.get(given, given)
            if name in known:
                raise ModelError(f"{self.where}: {given} and {name} are one parameter; give it once")
            known[name] = value
        super().modify(**known)


class PartialTwoFrames(Component):
    """Component with two frames that must both be connected."""

    frame_a = Frame_a("Coordinate system fixed to the component with one cut-force and cut-torque", needed=True)
    frame_b = Frame_b("Coordinate system fixed to the component with one cut-force and cut-torque", needed=True)


class PartialTwoFramesDoubleSize(PartialTwoFrames):
    """PartialTwoFrames with a larger icon."""


class PartialOneFrame_a(Component):
    """Component with one frame_a that must be connected."""

    frame_a = Frame_a("Coordinate system fixed to the component with one cut-force and cut-torque", needed=True)


class PartialOneFrame_b(Component):
    """Component with one frame_b that must be connected."""

    frame_b = Frame_b("Coordinate system fixed to the component with one cut-force and cut-torque", needed=True)


class PartialElementaryJoint(PartialTwoFrames):
    """Joint that says how frame_b moves relative to frame_a.

    A subclass declares its coordinates and calls `self.relative_motion(r_rel_a, R_rel)` in its equations; forces and
    torques, the reversed direction and the cut of a loop follow from that.
    """


class ResolvesVectors(Component):
    """Mixin of components whose parameters name the frames in which vectors are resolved.

    The names (`world`, or that of a connector) are those of Modelica's enumerations ResolveInFrameA, B and AB. Where
    one of them is frame_resolve, that connector exists, and it must be connected.
    """

    #: The parameters that name frames.
    frame_parameters: tuple[str, ...] = ("resolveInFrame",)

    frame_resolve = Frame_resolve(
        "Frame in which vectors are resolved, where a parameter says so; it carries no load",
        when=lambda self: self.needs_frame_resolve,
    )

    @property
    def needs_frame_resolve(self) -> bool:
        """True where a vector is resolved in frame_resolve."""
        return any(getattr(self, name) == "frame_resolve" for name in self.frame_parameters)

    def check_connections(self, connected: set[str]) -> None:
        """An enabled frame_resolve must be connected."""
        super().check_connections(connected)
        if self.needs_frame_resolve and "frame_resolve" not in connected:
            asking = [name for name in self.frame_parameters if getattr(self, name) == "frame_resolve"]
            because = f", but {asking[0]} = 'frame_resolve'" if asking else ""
            remedy = ", or resolve them in another frame" if asking else ""
            raise ModelError(
                f"{self.where}.frame_resolve: is not connected{because}; connect it with the frame to resolve vectors "
                f"in{remedy}"
            )

    def orientation_of(self, frame: str) -> Orientation:
        """Orientation object from the world frame to the frame of that name."""
        return null_rotation() if frame == "world" else getattr(self, frame).R

    def from_world(self, frame: str, vector: Any) -> Any:
        """A vector that is resolved in the world frame, resolved in the frame of that name."""
        return vector if frame == "world" else resolve2(self.orientation_of(frame), vector)

    def to_world(self, frame: str, vector: Any) -> Any:
        """A vector that is resolved in the frame of that name, resolved in the world frame."""
        return vector if frame == "world" else resolve1(self.orientation_of(frame), vector)

    def no_load(self, *frames: str) -> None:
        """Zero cut force and cut torque at these frames and at frame_resolve."""
        for frame in (*frames, *(["frame_resolve"] if self.needs_frame_resolve else [])):
            connector = getattr(self, frame)
            connector.f, connector.t = [0, 0, 0], [0, 0, 0]


class PartialForce(PartialTwoFrames):
    """Force and torque between two frames: a subclass gives only frame_b.f and frame_b.t.

    It defines `cut_force()`, which returns both, resolved in frame_b; they may depend on r_rel_b, R_rel and the frames.
    What acts on the part connected to frame_b is -frame_b.f.
    """

    r_rel_b = Variable(
        t.Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_b", shape=3
    )

    @property
    def R_rel(self) -> Orientation:
        """Relative orientation object to rotate from frame_a to frame_b."""
        return relative_rotation(self.frame_a.R, self.frame_b.R)

    def equations(self) -> None:
        """Balance of forces and torques between the frames."""
        a, b = self.frame_a, self.frame_b
        self.r_rel_b = resolve2(b.R, b.r_0 - a.r_0)
        force, torque = (ca.vertcat(*v) if isinstance(v, list | tuple) else v for v in self.cut_force())
        b.f, b.t = force, torque
        a.f = -resolve_relative(force, b.R, a.R)
        a.t = -resolve_relative(torque + cross(self.r_rel_b, force), b.R, a.R)

    def cut_force(self) -> tuple[Any, Any]:
        """Cut force and cut torque at frame_b, both resolved in frame_b, (3,) each."""
        raise NotImplementedError(f"{type(self).__name__} must define cut_force()")


def guarded_length(r: Any, small: Any) -> Any:
    """Length of a vector, but at least `small`, with finite derivatives everywhere."""
    return ca.sqrt(ca.fmax(ca.sumsqr(r), small**2))


class LineForceBase(PartialTwoFrames):
    """Distance of two frames and the direction from one to the other (MSL 4.0, Interfaces.LineForceBase).

    Line forces that meet at a frame without anything else leave its orientation open: one of them fixes it with
    fixedRotationAtFrame_a or _b, and owns the position of the frame, which follows from the balance of forces.
    """

    s_small = Parameter(t.Distance, 1e-10, "Prevent zero-division if distance between frame_a and frame_b is zero")
    fixedRotationAtFrame_a = Parameter(
        t.Boolean, False, "= true, if rotation frame_a.R is fixed (to directly connect line forces)"
    )
    fixedRotationAtFrame_b = Parameter(
        t.Boolean, False, "= true, if rotation frame_b.R is fixed (to directly connect line forces)"
    )

    length = Variable(t.Distance, "Distance between the origin of frame_a and the origin of frame_b")
    s = Variable(t.Position, "(Guarded) distance between the origin of frame_a and the origin of frame_b (>= s_small)")
    r_rel_0 = Variable(t.Position, "Position vector from frame_a to frame_b resolved in world frame", shape=3)
    e_rel_0 = Variable(
        t.Dimensionless, "Unit vector in direction from frame_a to frame_b, resolved in world frame", shape=3
    )
    r_node_a = Coordinate(
        t.Position,
        "Position vector from world frame to frame_a",
        shape=3,
        start=0.0,
        when=lambda self: self.fixedRotationAtFrame_a,
    )
    r_node_b = Coordinate(
        t.Position,
        "Position vector from world frame to frame_b",
        shape=3,
        start=0.0,
        when=lambda self: self.fixedRotationAtFrame_b,
    )

    def distance(self) -> None:
        """Equations of r_rel_0, length, s and e_rel_0."""
        a, b = self.frame_a, self.frame_b
        self.r_rel_0 = b.r_0 - a.r_0
        self.length = ca.norm_2(self.r_rel_0)
        self.s = guarded_length(self.r_rel_0, self.s_small)
        self.e_rel_0 = self.r_rel_0 / self.s
        self.require(
            self.length - self.s_small,
            "the distance between frame_a and frame_b has come down to s_small, where a "
            "line force has no direction; move the parts apart at the start, or keep them apart with a stiff spring",
        )

    def act(self, f_a: Any, f_b: Any) -> None:
        """Give the cut forces at frame_a and frame_b [N], resolved in the world frame; cut torques are zero."""
        for frame, end, force in ((self.frame_a, "a", f_a), (self.frame_b, "b", f_b)):
            frame.f, frame.t = resolve2(frame.R, force), [0, 0, 0]
            if getattr(self, f"fixedRotationAtFrame_{end}"):
                frame.r_0, frame.R = getattr(self, f"r_node_{end}"), null_rotation()
                # What holds the frame must come to nothing: the sum of all forces on it moves it.
                self.effort(**{f"r_node_{end}": frame.f - force})


class PartialLineForce(LineForceBase):
    """Force on the line between two frames: a subclass gives only `f`, from s and der(s).

    It defines `line_force()`, which returns it: positive where it pulls the frames together.
    """

    s_small = Parameter(t.Distance, 1e-6, "Prevent zero-division if relative distance s=0")

    f = Variable(
        t.Force,
        "Line force acting on frame_a and on frame_b (positive, if acting on frame_b and directed from "
        "frame_a to frame_b)",
    )
    e_a = Variable(
        t.Dimensionless,
        "Unit vector on the line connecting the origin of frame_a with the origin of frame_b "
        "resolved in frame_a (directed from frame_a to frame_b)",
        shape=3,
    )
    r_rel_a = Variable(
        t.Position, "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a", shape=3
    )

    def equations(self) -> None:
        """Distance, and equal and opposite cut forces along it."""
        self.distance()
        self.r_rel_a = resolve2(self.frame_a.R, self.r_rel_0)
        self.e_a = self.r_rel_a / self.s
        self.f = self.line_force()
        self.act(-self.e_rel_0 * self.f, self.e_rel_0 * self.f)

    def line_force(self) -> Any:
        """Force f [N] as a function of self.s and self.der(self.s)."""
        raise NotImplementedError(f"{type(self).__name__} must define line_force()")


class PartialAbsoluteSensor(PartialOneFrame_a):
    """Sensor of one frame with an output vector y: a subclass gives only the measured values.

    It defines `measure()`, which returns n_out of them.
    """

    n_out = Parameter(t.Integer, 1, "Number of output signals", min=1)
    y = RealOutput("Measured data as signal vector", shape=lambda self: (self.n_out,))

    def equations(self) -> None:
        """No load at the frame; y is what is measured."""
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]
        self.y = self.measure()

    def measure(self) -> Any:
        """The measured values, (n_out,)."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


class PartialRelativeSensor(PartialTwoFrames):
    """Sensor between two frames with an output vector y: a subclass gives only the measured values.

    It defines `measure()`, which returns n_out of them.
    """

    n_out = Parameter(t.Integer, 1, "Number of output signals", min=1)
    y = RealOutput("Measured data as signal vector", shape=lambda self: (self.n_out,))

    def equations(self) -> None:
        """No load at the frames; y is what is measured."""
        for frame in (self.frame_a, self.frame_b):
            frame.f, frame.t = [0, 0, 0], [0, 0, 0]
        self.y = self.measure()

    def measure(self) -> Any:
        """The measured values, (n_out,)."""
        raise NotImplementedError(f"{type(self).__name__} must define measure()")


class PartialVisualizer(PartialOneFrame_a):
    """Visualizer at a frame; it carries no load."""

    def equations(self) -> None:
        """No load at the frame."""
        self.frame_a.f, self.frame_a.t = [0, 0, 0], [0, 0, 0]


class ZeroPosition(Component):
    """Set absolute position vector of frame_resolve to a zero vector and the orientation object to a null rotation."""

    modelica_name = "MultiBody.Interfaces.ZeroPosition"

    frame_resolve = Frame_resolve("Frame at the world's origin")

    def equations(self) -> None:
        """The frame stands where the world frame does."""
        self.frame_resolve.r_0, self.frame_resolve.R = [0, 0, 0], null_rotation()


class FlangeWithBearing(Component):
    """Connector consisting of 1-dim. rotational flange and its bearing frame.

    Connectors are flat here, so this is a component: connect with its flange and its bearingFrame.
    """

    modelica_name = "MultiBody.Interfaces.FlangeWithBearing"

    includeBearingConnector = Parameter(
        t.Boolean, False, "= true, if bearing frame connector is present, otherwise not present"
    )
    flange = Flange_a("1-dim. rotational flange")
    bearingFrame = Frame(
        "3-dim. frame in which the 1-dim. shaft is mounted", when=lambda self: self.includeBearingConnector
    )

    def equations(self) -> None:
        """Neither connector takes up a load: what is connected to it meets there."""
        self.flange.tau = 0.0
        if self.includeBearingConnector:
            self.bearingFrame.f, self.bearingFrame.t = [0, 0, 0], [0, 0, 0]


class FlangeWithBearingAdaptor(Component):
    """Adaptor to allow direct connections to the sub-connectors of FlangeWithBearing."""

    modelica_name = "MultiBody.Interfaces.FlangeWithBearingAdaptor"

    includeBearingConnector = Parameter(
        t.Boolean, False, "= true, if bearing frame connector is present, otherwise not present"
    )
    flange = Flange_b("1-dim. rotational flange")
    frame = Frame_a("3-dim. frame in which the 1-dim. shaft is mounted", when=lambda self: self.includeBearingConnector)

    def build(self) -> None:
        """The compound connector, with its parts led out."""
        self.flangeAndFrame = FlangeWithBearing(includeBearingConnector=self.includeBearingConnector)
        self.connect(self.flange, self.flangeAndFrame.flange)
        self.connect(self.frame, self.flangeAndFrame.bearingFrame)


__all__ = [
    "FlangeWithBearing",
    "FlangeWithBearingAdaptor",
    "Flange_a",
    "Flange_b",
    "LineForceBase",
    "PartialAbsoluteSensor",
    "PartialElementaryJoint",
    "PartialForce",
    "PartialLineForce",
    "PartialOneFrame_a",
    "PartialOneFrame_b",
    "PartialRelativeSensor",
    "PartialTwoFrames",
    "PartialTwoFramesDoubleSize",
    "PartialVisualizer",
    "Renamed",
    "ResolvesVectors",
    "TranslationalFlange_a",
    "TranslationalFlange_b",
    "ZeroPosition",
    "guarded_length",
]
