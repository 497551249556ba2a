"""Joints with orientation coordinates: Spherical, FreeMotion (MultiBody.Joints), and the motion of free bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.animation import ArrowAnimation, SphereAnimation
from mbfmu.components.interfaces import PartialElementaryJoint
from mbfmu.frames import (
    Orientation,
    axes_rotations,
    axes_rotations_angles,
    from_Q,
    null_rotation,
    resolve2,
    to_Q,
)
from mbfmu.modeling import Component
from mbfmu.modeling.declarations import Coordinate, Final, Parameter, Quaternion, Speed, Variable
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Boolean,
    Dimensionless,
    Position,
    RotationSequence,
    Velocity,
)
from mbfmu.modeling.types import Orientation as OrientationType

#: Distance of the middle one of three angles from its singular value [rad] at which a run is stopped.
SINGULAR_DISTANCE = 1e-6


def require_regular(self: Any, middle: Any, sequence: Sequence[int], remedy: str) -> None:
    """Stop where three angles about `sequence` reach their singular middle angle [rad]; `remedy` says what to do."""
    axes = ", ".join(str(axis) for axis in sequence)
    pole = "0 or 180" if sequence[0] == sequence[2] else "90 or -90"
    side = ca.sin(middle) if sequence[0] == sequence[2] else ca.cos(middle)
    distance = self.switch(side, side, -side)  # so that a step cannot pass over the singular value unseen
    self.require(
        distance - SINGULAR_DISTANCE,
        f"the middle one of the three rotation angles about the axes {axes} is at {pole} degrees, where the other two "
        f"are not determined; {remedy}, or use another sequence of axes",
    )


def uses_angles(self: Component) -> bool:
    """True where the three angles, not the quaternion, are coordinates."""
    return self.enforceStates and not self.useQuaternions


def _phi_start(self: Component) -> Any:
    if tuple(self.sequence_start) == tuple(self.sequence_angleStates):
        return self.angles_start
    return axes_rotations_angles(self.R_rel_start, self.sequence_angleStates)


def _w_start(self: Component) -> Any:
    return resolve2(self.R_rel_start, self.w_rel_a_start)


class RelativeOrientation(Component):
    """Start values, choice of states and coordinates of a free relative rotation of two frames."""

    angles_fixed = Parameter(Boolean, False, "= true, if angles_start are used as initial values, else as guess values")
    angles_start = Parameter(
        Angle,
        (0, 0, 0),
        "Initial values of angles to rotate frame_a around 'sequence_start' axes into frame_b",
        shape=3,
    )
    sequence_start = Parameter(
        RotationSequence, (1, 2, 3), "Sequence of rotations to rotate frame_a into frame_b at initial time", shape=3
    )
    w_rel_a_fixed = Parameter(
        Boolean, False, "= true, if w_rel_a_start are used as initial values, else as guess values"
    )
    w_rel_a_start = Parameter(
        AngularVelocity,
        (0, 0, 0),
        "Initial values of angular velocity of frame_b with respect to frame_a, resolved in frame_a",
        shape=3,
    )
    z_rel_a_fixed = Parameter(
        Boolean, False, "= true, if z_rel_a_start are used as initial values, else as guess values"
    )
    z_rel_a_start = Parameter(
        AngularAcceleration, (0, 0, 0), "Initial values of angular acceleration z_rel_a = der(w_rel_a)", shape=3
    )
    enforceStates = Parameter(
        Boolean, False, "= true, if relative variables between frame_a and frame_b shall be used as states"
    )
    useQuaternions = Parameter(
        Boolean,
        True,
        "= true, if quaternions shall be used as states otherwise use 3 angles as states (provided enforceStates=true)",
    )
    sequence_angleStates = Parameter(
        RotationSequence,
        (1, 2, 3),
        "Sequence of rotations to rotate frame_a into frame_b around the 3 angles used as states",
        shape=3,
    )

    R_rel_start = Final(
        OrientationType,
        lambda self: axes_rotations(self.sequence_start, self.angles_start, np.zeros(3)),
        "Orientation object from frame_a to frame_b at initial time",
    )

    Q = Quaternion(
        Dimensionless,
        "Quaternion orientation object from frame_a to frame_b (dummy value, if quaternions are not used as states)",
        speed="w_rel",
        start=lambda self: to_Q(self.R_rel_start),
        fixed=lambda self: self.angles_fixed,
        dummy=uses_angles,
    )
    phi = Coordinate(
        Angle,
        "Dummy or 3 angles to rotate frame_a into frame_b",
        shape=3,
        start=_phi_start,
        fixed=lambda self: self.angles_fixed,
        dummy=lambda self: not uses_angles(self),
    )
    phi_d = Variable(AngularVelocity, "= der(phi)", shape=3)
    phi_dd = Variable(AngularAcceleration, "= der(phi_d)", shape=3)

    @property
    def ties_orientation(self) -> bool:
        return bool(self.enforceStates)

    def relative_orientation(self, w: str) -> Orientation:
        """R_rel from the coordinates; `w` names the variable of the relative angular velocity resolved in frame_b."""
        if uses_angles(self):
            self.phi_d = self.der(self.phi)
            self.phi_dd = self.der(self.phi_d)
            R = axes_rotations(self.sequence_angleStates, self.phi, self.phi_d)
            self.Q = [0, 0, 0, 0]
            setattr(self, w, R.w)
            remedy = "use quaternions as states (useQuaternions=True)"
            require_regular(self, self.phi[1], self.sequence_angleStates, remedy)
        else:
            self.phi, self.phi_d, self.phi_dd = [0, 0, 0], [0, 0, 0], [0, 0, 0]
            R = from_Q(self.Q, getattr(self, w))
        if self.z_rel_a_fixed:
            self.initially(self.der(getattr(self, w)) - resolve2(self.R_rel_start, self.z_rel_a_start), "z_rel_a_start")
        return R


class Spherical(SphereAnimation, RelativeOrientation, PartialElementaryJoint):
    """Spherical joint (3 constraints and no potential states, or 3 degrees-of-freedom and 3 states)."""

    modelica_name = "MultiBody.Joints.Spherical"

    w_rel = Speed(
        AngularVelocity,
        "Relative angular velocity of frame_b with respect to frame_a, resolved in frame_b",
        shape=3,
        start=_w_start,
        fixed=lambda self: self.w_rel_a_fixed,
        dummy=uses_angles,
    )

    def equations(self) -> None:
        self.relative_motion([0, 0, 0], self.relative_orientation("w_rel"))


class FreeMotion(ArrowAnimation, RelativeOrientation, PartialElementaryJoint):
    """Free motion joint (6 degrees-of-freedom, 12 potential states)."""

    modelica_name = "MultiBody.Joints.FreeMotion"

    enforceStates = Parameter(
        Boolean, True, "= true, if relative variables between frame_a and frame_b shall be used as states"
    )

    r_rel_a = Coordinate(
        Position,
        "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a",
        shape=3,
        start=0.0,
        state_select=lambda self: "always" if self.enforceStates else "prefer",
    )
    v_rel_a = Variable(
        Velocity,
        "= der(r_rel_a), i.e., velocity of origin of frame_b with respect to origin of frame_a, resolved in frame_a",
        shape=3,
        start=0.0,
        state_select=lambda self: "always" if self.enforceStates else "prefer",
    )
    a_rel_a = Variable(Acceleration, "= der(v_rel_a)", shape=3, start=0.0)
    Q = Quaternion(
        Dimensionless,
        "Quaternion orientation object from frame_a to frame_b (dummy value, if quaternions are not used as states)",
        speed="w_rel_b",
        start=lambda self: to_Q(self.R_rel_start),
        fixed=lambda self: self.angles_fixed,
        dummy=uses_angles,
    )
    w_rel_b = Speed(
        AngularVelocity,
        "Relative angular velocity of frame_b with respect to frame_a, resolved in frame_b",
        shape=3,
        start=_w_start,
        fixed=lambda self: self.w_rel_a_fixed,
        dummy=uses_angles,
    )

    def equations(self) -> None:
        self.v_rel_a = self.der(self.r_rel_a)
        self.a_rel_a = self.der(self.v_rel_a)
        self.relative_motion(self.r_rel_a, self.relative_orientation("w_rel_b"))


class FreeTranslation(PartialElementaryJoint):
    """Motion of a point mass that nothing holds: three positions, no rotation."""

    r_rel_a = Coordinate(
        Position,
        "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a",
        shape=3,
        start=0.0,
    )

    def equations(self) -> None:
        self.relative_motion(self.r_rel_a, null_rotation())


__all__ = ["FreeMotion", "FreeTranslation", "RelativeOrientation", "Spherical", "require_regular"]
