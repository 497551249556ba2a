"""The functions of MultiBody.Frames: rotations together with their angular velocity, on `Orientation`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbfmu.frames import _algebra as alg
from mbfmu.frames import quaternions
from mbfmu.frames import transformation_matrices as tm
from mbfmu.frames._operands import (
    FourVector,
    Matrix,
    Orientation,
    Quaternion,
    RotationMatrix,
    Scalar,
    UnitVector,
    Vector,
    operands,
)
from mbfmu.frames.vectors import axis as axis_vector


@operands
def orientation_constraint(R: Orientation) -> Any:
    """Six residues that are 0 for an orthonormal R.T (Modelica's orientationConstraint), (..., 6) or 6x1.

    They are the squared lengths of the columns minus 1, then the products of columns 1-2, 1-3 and 2-3.
    """
    return tm.orientation_constraint(R.T)


@operands
def equality_constraint(R1: Orientation, R2: Orientation) -> Vector:
    """Three angles [rad] that are 0 if R1 and R2 are equal (Modelica's Orientation.equalityConstraint).

    For a small rotation they are the angles about the axes of frame 1 that rotate frame 1 into frame 2. No other
    rotation gives three zeros: a half turn about an axis gives pi in the two others.
    """
    return tm.equality_constraint(R1.T, R2.T)


@operands
def angular_velocity1(R: Orientation) -> Vector:
    """Angular velocity of frame 2 relative to frame 1, resolved in frame 1 [rad/s] (Modelica's angularVelocity1)."""
    return resolve1(R, R.w)


@operands
def angular_velocity2(R: Orientation) -> Vector:
    """Angular velocity of frame 2 relative to frame 1, resolved in frame 2 [rad/s] (Modelica's angularVelocity2)."""
    return R.w


@operands
def resolve1(R: Orientation, v2: Vector) -> Vector:
    """Vector from frame 2 to frame 1: v1 = T' v2 (Modelica's resolve1)."""
    return tm.resolve1(R.T, v2)


@operands
def resolve2(R: Orientation, v1: Vector) -> Vector:
    """Vector from frame 1 to frame 2: v2 = T v1 (Modelica's resolve2)."""
    return tm.resolve2(R.T, v1)


@operands
def resolve_relative(v1: Vector, R1: Orientation, R2: Orientation) -> Vector:
    """Vector from frame 1 to frame 2, by way of frame 0: v2 = T2 T1' v1 (Modelica's resolveRelative)."""
    return resolve2(R2, resolve1(R1, v1))


@operands
def resolve_dyade1(R: Orientation, D2: Matrix) -> Matrix:
    """Second order tensor from frame 2 to frame 1: D1 = T' D2 T (Modelica's resolveDyade1)."""
    return tm.resolve_dyade1(R.T, D2)


@operands
def resolve_dyade2(R: Orientation, D1: Matrix) -> Matrix:
    """Second order tensor from frame 1 to frame 2: D2 = T D1 T' (Modelica's resolveDyade2)."""
    return tm.resolve_dyade2(R.T, D1)


def null_rotation() -> Orientation:
    """Orientation that does not rotate: frame 1 and frame 2 are identical (Modelica's nullRotation); numeric."""
    return Orientation(tm.null_rotation(), np.zeros(3))


@operands
def inverse_rotation(R: Orientation) -> Orientation:
    """Orientation that rotates frame 2 into frame 1 (Modelica's inverseRotation)."""
    return Orientation(tm.inverse_rotation(R.T), -resolve1(R, R.w))


@operands
def relative_rotation(R1: Orientation, R2: Orientation) -> Orientation:
    """Rotation of frame 1 into frame 2 from those of frame 0 into each of them (Modelica's relativeRotation)."""
    return Orientation(tm.relative_rotation(R1.T, R2.T), R2.w - resolve2(R2, resolve1(R1, R1.w)))


@operands
def absolute_rotation(R1: Orientation, R_rel: Orientation) -> Orientation:
    """Rotation of frame 0 into frame 2 from 0 into 1 and from 1 into 2 (Modelica's absoluteRotation)."""
    return Orientation(tm.absolute_rotation(R1.T, R_rel.T), resolve2(R_rel, R1.w) + R_rel.w)


@operands
def planar_rotation(e: UnitVector, angle: Scalar, der_angle: Scalar) -> Orientation:
    """Rotation by `angle` [rad] about the unit vector e (Modelica's planarRotation; the lecture's n and phi).

    T = e e' + (I - e e') cos(angle) - skew(e) sin(angle), w = e der_angle. The axis has the same coordinates in both
    frames, and is constant.

    Args:
        e: axis of rotation, length 1.
        angle: rotation of frame 2 relative to frame 1 [rad].
        der_angle: its time derivative [rad/s].

    Raises:
        ValueError: e is numeric and its length is not 1. A symbolic e is trusted.
    """
    return Orientation(tm.planar_rotation(e, angle), alg.scale_vector(der_angle, e))


def axis_rotation(axis: int, angle: Scalar, der_angle: Scalar) -> Orientation:
    """Rotation by `angle` [rad] about axis 1, 2 or 3 of frame 1 (Modelica's axisRotation).

    Raises:
        ValueError: axis is not 1, 2 or 3.
    """
    return planar_rotation(axis_vector(axis), angle, der_angle)


@operands
def axes_rotations(sequence: Sequence[int], angles: Vector, der_angles: Vector) -> Orientation:
    """Rotation about three axes in sequence (Modelica's axesRotations; the lecture's Cardan angles).

    T = T_3 T_2 T_1, where T_i turns by angles[i] about axis sequence[i] of the frame reached so far.

    Args:
        sequence: numbers 1..3 of the axes, (1, 2, 3) in Modelica; equal neighbours add up and are allowed here.
        angles: rotation angles [rad].
        der_angles: their time derivatives [rad/s].

    Raises:
        ValueError: sequence does not hold three numbers out of 1, 2, 3.
    """
    first, second, third = (
        axis_rotation(axis, angle, der_angle)
        for axis, angle, der_angle in zip(
            tm.check_axes(sequence), alg.elements(angles), alg.elements(der_angles), strict=True
        )
    )
    return absolute_rotation(absolute_rotation(first, second), third)


@operands
def axes_rotations_angles(R: Orientation, sequence: Sequence[int], guess_angle1: Scalar = 0) -> Vector:
    """Three angles [rad] in [-pi, pi] that axes_rotations turns into R.T (Modelica's axesRotationsAngles).

    Two solutions exist; the one whose first angle is nearer to guess_angle1 is returned. Where the third axis is
    parallel to the first (middle angle +-pi/2 for sequences of three different axes, 0 or pi for sequences like
    3-1-3) only the sum or difference of the outer angles is determined: the first angle is then guess_angle1.

    With a symbolic R all branches are part of the expression; derivatives are finite everywhere, but at the singular
    orientation those of the first angle are set to zero.

    Raises:
        ValueError: sequence does not hold three numbers out of 1, 2, 3, or it repeats neighbours.
    """
    return tm.axes_rotations_angles(R.T, sequence, guess_angle1)


@operands
def small_rotation(R: Orientation, with_residues: bool = False) -> Any:
    """Angles [rad] about the axes of frame 1 for a small rotation (Modelica's smallRotation), (..., 3) or 3x1.

    With residues the result has six entries: the angles, then T11 - 1, T22 - 1 and T11 T22 - T21 T12 - 1, which vanish
    to second order.
    """
    return tm.small_rotation(R.T, with_residues)


def from_nxy(n_x: Vector, n_y: Vector, *, fallback: bool = True) -> Orientation:
    """Fixed orientation with x of frame 2 along n_x and y as near to n_y as possible (Modelica's from_nxy).

    w = 0. Zero and parallel vectors are replaced as in Modelica, see `transformation_matrices.from_nxy`.

    Args:
        n_x: direction of the x-axis of frame 2, resolved in frame 1; any length.
        n_y: vector in the x-y plane of frame 2, on the side of +y, resolved in frame 1; any length.
        fallback: False refuses numeric vectors that need a replacement.

    Raises:
        ValueError: fallback is False and numeric vectors are zero or parallel. With symbols this is not checked.
    """
    return Orientation(tm.from_nxy(n_x, n_y, fallback=fallback), np.zeros(3))


def from_nxz(n_x: Vector, n_z: Vector, *, fallback: bool = True) -> Orientation:
    """Fixed orientation with x of frame 2 along n_x and z as near to n_z as possible (Modelica's from_nxz).

    Like `from_nxy`, with z in the place of y.

    Raises:
        ValueError: fallback is False and numeric vectors are zero or parallel. With symbols this is not checked.
    """
    return Orientation(tm.from_nxz(n_x, n_z, fallback=fallback), np.zeros(3))


@operands
def from_T(T: RotationMatrix, w: Vector) -> Orientation:
    """Orientation from a transformation matrix and its angular velocity (Modelica's from_T).

    Args:
        T: transformation matrix, v2 = T v1.
        w: angular velocity of frame 2 with respect to frame 1, resolved in frame 2 [rad/s].

    Raises:
        ValueError: T is numeric and deviates from a rotation by more than 1e-6. A symbolic T is trusted.
    """
    return Orientation(T, w)


@operands
def from_T2(T: RotationMatrix, der_T: Matrix) -> Orientation:
    """Orientation from a transformation matrix and its time derivative [1/s] (Modelica's from_T2).

    Of der_T only the part that keeps T a rotation enters; that it has no other is not checked.

    Raises:
        ValueError: T is numeric and deviates from a rotation by more than 1e-6. A symbolic T is trusted.
    """
    return Orientation(T, tm.angular_velocity2(T, der_T))


@operands
def from_T_inv(T_inv: RotationMatrix, w: Vector) -> Orientation:
    """Orientation from the inverse transformation matrix (Modelica's from_T_inv).

    Args:
        T_inv: inverse transformation matrix, v1 = T_inv v2.
        w: angular velocity of frame 1 with respect to frame 2, resolved in frame 1 [rad/s]. As in Modelica, R.w = -w
            although R.w is resolved in frame 2.

    Raises:
        ValueError: T_inv is numeric and deviates from a rotation by more than 1e-6. A symbolic T_inv is trusted.
    """
    return Orientation(alg.transpose(T_inv), -w)


@operands
def from_Q(Q: Quaternion, w: Vector) -> Orientation:
    """Orientation from a quaternion and the angular velocity (Modelica's from_Q).

    Args:
        Q: unit quaternion [u, v, w, c], scalar last.
        w: angular velocity of frame 2 with respect to frame 1, resolved in frame 2 [rad/s].

    Raises:
        ValueError: Q is numeric and its length deviates from 1 by more than 1e-6. A symbolic Q is trusted.
    """
    return Orientation(quaternions.to_T(Q), w)


@operands
def to_T(R: Orientation) -> Matrix:
    """Transformation matrix for v2 = T v1 (Modelica's to_T)."""
    return R.T


@operands
def to_T_inv(R: Orientation) -> Matrix:
    """Inverse transformation matrix for v1 = T_inv v2 (Modelica's to_T_inv)."""
    return alg.transpose(R.T)


@operands
def to_Q(R: Orientation, Q_guess: FourVector | None = None) -> Quaternion:
    """Quaternion [u, v, w, c] nearer to Q_guess, default [0, 0, 0, 1] (Modelica's to_Q); right for all rotations.

    See `quaternions.from_T` for half turns and for symbols.

    Raises:
        ValueError: R.T is numeric and deviates from a rotation by more than 1e-6.
    """
    return quaternions.from_T(R.T, Q_guess)


@operands
def to_axis_angle(R: Orientation) -> tuple[Vector, Scalar]:
    """Unit vector e and angle [rad] in [0, pi] such that R.T is that of planar_rotation(e, angle, ...).

    Every rotation is a planar one (the lecture's second description). Singular at the null rotation, which has no
    axis: see `quaternions.to_axis_angle`.

    Raises:
        ValueError: R.T is numeric and deviates from a rotation by more than 1e-6.
    """
    return quaternions.to_axis_angle(quaternions.from_T(R.T))


@operands
def to_vector(R: Orientation) -> Any:
    """The nine entries of R.T, column by column (Modelica's to_vector): (..., 9) or 9x1."""
    return tm.to_vector(R.T)


@operands
def to_exy(R: Orientation) -> Any:
    """The 3x2 matrix [e_x, e_y] of the x- and y-axis of frame 2, resolved in frame 1 (Modelica's to_exy)."""
    return tm.to_exy(R.T)
