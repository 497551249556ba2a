"""FreeMotionScalarInit: free motion with initialisation and choice of states element by element (MultiBody.Joints)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from mbfmu.components.animation import ArrowAnimation
from mbfmu.components.interfaces import PartialElementaryJoint
from mbfmu.components.joints.free import require_regular
from mbfmu.frames import Orientation, axes_rotations, axes_rotations_angles, from_Q, to_Q
from mbfmu.modeling import Component
from mbfmu.modeling.declarations import Coordinate, Parameter, Quaternion, Speed, Variable
from mbfmu.modeling.types import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularVelocity,
    Boolean,
    Dimensionless,
    Position,
    RotationSequence,
    StateSelect,
    Velocity,
)

_AXES = (1, 2, 3)


def _has_angle_states(self: Component) -> bool:
    """True where the angles are coordinates: somebody wants them, or their rates, as states."""
    names = [f"angle_{i}_stateSelect" for i in _AXES] + [f"angle_d_{i}_stateSelect" for i in _AXES]
    return self.use_angle and any(getattr(self, name) in ("default", "prefer", "always") for name in names)


def _has_quaternion(self: Component) -> bool:
    return not _has_angle_states(self)


def _start_orientation(self: Component) -> Any:
    angles = [self.start(f"angle_{i}")[0] for i in _AXES]
    return to_Q(axes_rotations(self.sequence_start, angles, [0.0, 0.0, 0.0]))


def _holds_orientation(self: Component) -> bool:
    """True where all angles are fixed: the quaternion begins with what they say."""
    return bool(self.use_angle) and all(self.is_fixed(f"angle_{i}") for i in _AXES)


def _select(element: str) -> Parameter:
    return Parameter(StateSelect, "never", f"StateSelect of {element}")


def _selected(parameter: str) -> Any:
    return lambda self: getattr(self, parameter)


def _position(i: int) -> Coordinate:
    return Coordinate(
        Position,
        f"Relative distance r_rel_a[{i}]",
        start=0.0,
        state_select=_selected(f"r_rel_a_{i}_stateSelect"),
        when=lambda self: self.use_r,
    )


def _velocity(i: int) -> Variable:
    return Variable(
        Velocity,
        f"Relative velocity v_rel_a[{i}]",
        start=0.0,
        state_select=_selected(f"v_rel_a_{i}_stateSelect"),
        when=lambda self: self.use_r and self.use_v,
    )


def _acceleration(i: int) -> Variable:
    return Variable(
        Acceleration,
        f"Relative acceleration a_rel_a[{i}]",
        start=0.0,
        when=lambda self: self.use_r and self.use_v and self.use_a,
    )


def _angle(i: int) -> Coordinate:
    return Coordinate(
        Angle,
        f"Rotation angle {i} or dummy",
        start=0.0,
        state_select=_selected(f"angle_{i}_stateSelect"),
        dummy=_has_quaternion,
    )


def _angle_rate(i: int) -> Variable:
    return Variable(
        AngularVelocity,
        f"= der(angle_{i})",
        start=0.0,
        state_select=_selected(f"angle_d_{i}_stateSelect"),
        when=lambda self: self.use_angle and self.use_angle_d,
    )


def _angle_acceleration(i: int) -> Variable:
    return Variable(
        AngularAcceleration,
        f"= der(angle_d_{i})",
        start=0.0,
        when=lambda self: self.use_angle and self.use_angle_d and self.use_angle_dd,
    )


def _angular_velocity(i: int) -> Variable:
    return Variable(
        AngularVelocity,
        f"Relative angular velocity w_rel_b[{i}]",
        start=0.0,
        state_select=_selected(f"w_rel_b_{i}_stateSelect"),
        when=lambda self: self.use_w,
    )


def _angular_acceleration(i: int) -> Variable:
    return Variable(
        AngularAcceleration,
        f"Relative angular acceleration z_rel_b[{i}]",
        start=0.0,
        when=lambda self: self.use_w and self.use_z,
    )


class FreeMotionScalarInit(ArrowAnimation, PartialElementaryJoint):
    """Free motion joint with scalar initialization and state selection (6 degrees-of-freedom, 12 potential states).

    The angles are coordinates where one of their stateSelect parameters asks for it (default, prefer or always);
    otherwise a quaternion is, which has no singular position, and the angles follow from it.
    """

    modelica_name = "MultiBody.Joints.FreeMotionScalarInit"

    use_r = Parameter(Boolean, False, "= true, if r_rel_a shall be used")
    use_v = Parameter(Boolean, False, "= true, if v_rel_a shall be used")
    use_a = Parameter(Boolean, False, "= true, if a_rel_a shall be used")
    use_angle = Parameter(Boolean, False, "= true, if angle shall be used")
    use_angle_d = Parameter(Boolean, False, "= true, if angle_d shall be used")
    use_angle_dd = Parameter(Boolean, False, "= true, if angle_dd shall be used")
    use_w = Parameter(Boolean, False, "= true, if w_rel_b shall be used")
    use_z = Parameter(Boolean, False, "= true, if z_rel_b shall be used")
    sequence_start = Parameter(RotationSequence, (1, 2, 3), "Sequence of angle rotations", shape=3)

    r_rel_a_1_stateSelect = _select("r_rel_a[1]")
    r_rel_a_2_stateSelect = _select("r_rel_a[2]")
    r_rel_a_3_stateSelect = _select("r_rel_a[3]")
    v_rel_a_1_stateSelect = _select("v_rel_a[1]")
    v_rel_a_2_stateSelect = _select("v_rel_a[2]")
    v_rel_a_3_stateSelect = _select("v_rel_a[3]")
    angle_1_stateSelect = _select("angle_1")
    angle_2_stateSelect = _select("angle_2")
    angle_3_stateSelect = _select("angle_3")
    angle_d_1_stateSelect = _select("angle_d_1")
    angle_d_2_stateSelect = _select("angle_d_2")
    angle_d_3_stateSelect = _select("angle_d_3")
    w_rel_b_1_stateSelect = _select("w_rel_b[1]")
    w_rel_b_2_stateSelect = _select("w_rel_b[2]")
    w_rel_b_3_stateSelect = _select("w_rel_b[3]")

    r_rel_a_1, r_rel_a_2, r_rel_a_3 = map(_position, _AXES)
    v_rel_a_1, v_rel_a_2, v_rel_a_3 = map(_velocity, _AXES)
    a_rel_a_1, a_rel_a_2, a_rel_a_3 = map(_acceleration, _AXES)
    angle_1, angle_2, angle_3 = map(_angle, _AXES)
    angle_d_1, angle_d_2, angle_d_3 = map(_angle_rate, _AXES)
    angle_dd_1, angle_dd_2, angle_dd_3 = map(_angle_acceleration, _AXES)
    w_rel_b_1, w_rel_b_2, w_rel_b_3 = map(_angular_velocity, _AXES)
    z_rel_b_1, z_rel_b_2, z_rel_b_3 = map(_angular_acceleration, _AXES)

    r_rel_a = Coordinate(
        Position,
        "Position vector from origin of frame_a to origin of frame_b, resolved in frame_a (where use_r = false)",
        shape=3,
        start=0.0,
        state_select="never",
        when=lambda self: not self.use_r,
    )
    Q = Quaternion(
        Dimensionless,
        "Quaternion orientation object from frame_a to frame_b (where the angles are no states)",
        speed="w_rel_b",
        start=_start_orientation,
        fixed=_holds_orientation,
        state_select="never",
        when=_has_quaternion,
    )
    w_rel_b = Speed(
        AngularVelocity,
        "Relative angular velocity of frame_b with respect to frame_a, resolved in frame_b (where the angles are no "
        "states)",
        shape=3,
        start=0.0,
        state_select="never",
        when=_has_quaternion,
    )

    @property
    def ties_orientation(self) -> bool:
        return bool(self.use_angle)

    def equations(self) -> None:
        R = self._relative_orientation()
        self.relative_motion(self._relative_position(), R)
        if self.use_w:
            self._elements("w_rel_b_", R.w)
            if self.use_z:
                self._elements("z_rel_b_", self.der(R.w))

    def _elements(self, name: str, values: Any) -> None:
        """Assign three scalar variables."""
        for i in _AXES:
            setattr(self, f"{name}{i}", values[i - 1])

    def _relative_position(self) -> Any:
        if not self.use_r:
            return self.r_rel_a
        r = ca.vertcat(self.r_rel_a_1, self.r_rel_a_2, self.r_rel_a_3)
        if self.use_v:
            self._elements("v_rel_a_", self.der(r))
            if self.use_a:
                self._elements("a_rel_a_", self.der(self.der(r)))
        return r

    def _relative_orientation(self) -> Orientation:
        if _has_angle_states(self):
            angles = ca.vertcat(self.angle_1, self.angle_2, self.angle_3)
            R = axes_rotations(self.sequence_start, angles, self.der(angles))
            require_regular(self, angles[1], self.sequence_start, "set angle_1_stateSelect ... to never")
        else:
            R = from_Q(self.Q, self.w_rel_b)
            angles = axes_rotations_angles(R, self.sequence_start) if self.use_angle else ca.SX.zeros(3)
            self._elements("angle_", angles)
            if self.use_angle and not _holds_orientation(self._component):
                for i in filter(lambda i: self._component.is_fixed(f"angle_{i}"), _AXES):
                    self.initially(angles[i - 1] - self._component.start(f"angle_{i}")[0], f"angle_{i}")
        if self.use_angle and self.use_angle_d:
            self._elements("angle_d_", self.der(angles))
            if self.use_angle_dd:
                self._elements("angle_dd_", self.der(self.der(angles)))
        return R


__all__ = ["FreeMotionScalarInit"]
