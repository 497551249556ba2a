"""Rotations as bare 3x3 matrices (MultiBody.Frames.TransformationMatrices).

T rotates frame 1 into frame 2: `v2 = T v1`; its rows are the axes of frame 2 resolved in frame 1. These functions know
no angular velocity; `mbfmu.frames` builds its own on them. All of them take and give NumPy arrays with leading axes
(vectors (..., 3), matrices (..., 3, 3)) or CasADi SX/MX (3x1, 3x3). Whether a matrix is orthonormal is checked, for
numbers, where it enters: in `from_T`, `from_T_inv` and `to_Q`; the other functions trust their T.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbfmu.frames import _algebra as alg
from mbfmu.frames import quaternions
from mbfmu.frames._operands import (
    FourVector,
    Matrix,
    Quaternion,
    RotationMatrix,
    Scalar,
    UnitVector,
    Vector,
    operands,
)
from mbfmu.frames.vectors import axis as axis_vector

#: Sizes of A and B below which `axes_rotations_angles` takes the orientation as singular (seed: 1e-12).
SINGULAR = 1e-12
#: Sine between a vector and an axis below which `planar_rotation_angle` calls them parallel.
PARALLEL = 1e-10


@operands
def orientation_constraint(T: Matrix) -> Any:
    """Six residues that are 0 for an orthonormal T, (..., 6) or 6x1.

    They are the squared lengths of the columns minus 1, then the products of columns 1-2, 1-3 and 2-3.
    """
    x, y, z = alg.columns(T)
    squares = [alg.dot(column, column) - 1 for column in (x, y, z)]
    return alg.stack(*squares, alg.dot(x, y), alg.dot(x, z), alg.dot(y, z))


@operands
def equality_constraint(T1: Matrix, T2: Matrix) -> Vector:
    """Three angles [rad] that are 0 if T1 and T2 are equal (Modelica's Orientation.equalityConstraint).

    For a small rotation they are the angles about the axes of frame 1 that rotate frame 1 into frame 2. No other
    rotation gives three zeros: a half turn about an axis gives pi in the two others.
    """
    x1, y1, z1 = alg.rows(T1)
    x2, y2, z2 = alg.rows(T2)
    return alg.stack(
        alg.arctan2(alg.dot(z1, y2), alg.dot(x1, x2)),
        alg.arctan2(-alg.dot(z1, x2), alg.dot(y1, y2)),
        alg.arctan2(alg.dot(y1, x2), alg.dot(z1, z2)),
    )


@operands
def angular_velocity1(T: Matrix, der_T: Matrix) -> Vector:
    """Angular velocity of frame 2 with respect to frame 1, resolved in frame 1 [rad/s]."""
    return resolve1(T, angular_velocity2(T, der_T))


@operands
def angular_velocity2(T: Matrix, der_T: Matrix) -> Vector:
    """Angular velocity of frame 2 with respect to frame 1, resolved in frame 2 [rad/s]: skew(w) = T der_T'."""
    _, y, z = alg.rows(T)
    der_x, der_y, _ = alg.rows(der_T)
    return alg.stack(alg.dot(z, der_y), -alg.dot(z, der_x), alg.dot(y, der_x))


@operands
def resolve1(T: Matrix, v2: Vector) -> Vector:
    """Vector from frame 2 to frame 1: v1 = T' v2."""
    return alg.matvec(alg.transpose(T), v2)


@operands
def resolve2(T: Matrix, v1: Vector) -> Vector:
    """Vector from frame 1 to frame 2: v2 = T v1."""
    return alg.matvec(T, v1)


@operands
def resolve_dyade1(T: Matrix, D2: Matrix) -> Matrix:
    """Second order tensor from frame 2 to frame 1: D1 = T' D2 T."""
    return alg.matmul(alg.matmul(alg.transpose(T), D2), T)


@operands
def resolve_dyade2(T: Matrix, D1: Matrix) -> Matrix:
    """Second order tensor from frame 1 to frame 2: D2 = T D1 T'."""
    return alg.matmul(alg.matmul(T, D1), alg.transpose(T))


def null_rotation() -> np.ndarray:
    """The unit matrix: frame 1 and frame 2 are identical."""
    return np.eye(3)


@operands
def inverse_rotation(T: Matrix) -> Matrix:
    """Rotation of frame 2 into frame 1: T'."""
    return alg.transpose(T)


@operands
def relative_rotation(T1: Matrix, T2: Matrix) -> Matrix:
    """Rotation of frame 1 into frame 2 from those of frame 0 into each of them: T2 T1'."""
    return alg.matmul(T2, alg.transpose(T1))


@operands
def absolute_rotation(T1: Matrix, T_rel: Matrix) -> Matrix:
    """Rotation of frame 0 into frame 2 from 0 into 1 and from 1 into 2: T_rel T1."""
    return alg.matmul(T_rel, T1)


@operands
def planar_rotation(e: UnitVector, angle: Scalar) -> Matrix:
    """Rotation by `angle` [rad] about the unit vector e: e e' + (I - e e') cos(angle) - skew(e) sin(angle).

    e has the same coordinates in both frames.

    Raises:
        ValueError: e is numeric and its length is not 1. A symbolic e is trusted.
    """
    along = alg.outer(e, e)
    turned = alg.scale_matrix(alg.cos(angle), np.eye(3) - along) - alg.scale_matrix(alg.sin(angle), alg.skew(e))
    return along + turned


@operands
def planar_rotation_angle(e: UnitVector, v1: Vector, v2: Vector) -> Scalar:
    """Angle [rad] in [-pi, pi] of a rotation about e, from one vector resolved before (v1) and after it (v2).

    It solves v2 = resolve2(planar_rotation(e, angle), v1).

    Raises:
        ValueError: e is not of length 1, or v1 is parallel to e (then every angle is a solution), as far as they are
            numeric. Symbols are trusted: with v1 parallel to e the result is meaningless.
    """
    if not alg.is_symbolic(e, v1):
        beside = alg.cross(e, v1)
        if np.any(alg.dot(beside, beside) <= PARALLEL**2 * alg.dot(v1, v1)):
            raise ValueError(f"v1 = {v1}: parallel to the axis e = {e}; expected a vector that the rotation turns")
    return _planar_angle(e, v1, v2)


def _planar_angle(e: Any, v1: Any, v2: Any) -> Any:
    sine = -alg.dot(alg.cross(e, v1), v2)
    cosine = alg.dot(v1, v2) - alg.dot(e, v1) * alg.dot(e, v2)
    return alg.arctan2(sine, cosine)


@operands
def axis_rotation(axis: int, angle: Scalar) -> Matrix:
    """Rotation by `angle` [rad] about axis 1, 2 or 3 of frame 1.

    Raises:
        ValueError: axis is not 1, 2 or 3.
    """
    return planar_rotation(axis_vector(axis), angle)


@operands
def axes_rotations(sequence: Sequence[int], angles: Vector) -> Matrix:
    """Rotation about three axes in sequence, the lecture's Cardan angles: T = T_3 T_2 T_1.

    Args:
        sequence: numbers 1..3 of the axes; equal neighbours add up and are allowed here, as in Modelica.
        angles: rotation angles [rad]; angles[i] turns about axis sequence[i] of the frame reached so far.

    Raises:
        ValueError: sequence does not hold three numbers out of 1, 2, 3.
    """
    first, second, third = (
        axis_rotation(number, angle) for number, angle in zip(check_axes(sequence), alg.elements(angles), strict=True)
    )
    return alg.matmul(third, alg.matmul(second, first))


@operands
def axes_rotations_angles(T: Matrix, sequence: Sequence[int], guess_angle1: Scalar = 0) -> Vector:
    """Three angles [rad] in [-pi, pi] such that T = axes_rotations(sequence, angles).

    Two solutions exist; the one whose first angle is nearer to guess_angle1 is returned. Where the third axis is
    parallel to the first (middle angle +-pi/2 for sequences of three different axes, 0 or pi for sequences like
    3-1-3) only the sum or difference of the outer angles is determined: the first angle is then guess_angle1.

    With a symbolic T all branches are part of the expression; derivatives are finite everywhere, but at the singular
    orientation those of the first angle are set to zero.

    Raises:
        ValueError: sequence does not hold three numbers out of 1, 2, 3, or it repeats neighbours.
    """
    check_sequence(sequence)
    e1, e2, e3 = (axis_vector(number) for number in sequence)
    e3_1 = alg.rows(T)[sequence[2] - 1]
    # Axis 2 after the first rotation, e2 cos(a1) + (e1 x e2) sin(a1), is perpendicular to axis 3: A cos + B sin = 0.
    A, B = alg.dot(e2, e3_1), alg.dot(np.cross(e1, e2), e3_1)
    singular = alg.maximum(alg.absolute(A), alg.absolute(B)) <= SINGULAR
    # A harmless argument for the branches not taken: atan2 has no derivative at (0, 0).
    A, B = alg.where(singular, 0.0, A), alg.where(singular, -1.0, B)
    one, other = (_upper_end(alg.arctan2(sign * A, -sign * B)) for sign in (1, -1))
    one_is_nearer = alg.absolute(one - guess_angle1) <= alg.absolute(other - guess_angle1)
    angle1 = alg.where(singular, guess_angle1, alg.where(one_is_nearer, one, other))
    T_1a = planar_rotation(e1, angle1)
    angle2 = _planar_angle(e2, alg.matvec(T_1a, e3_1), e3)
    angle3 = _planar_angle(e3, e2, alg.matvec(T, alg.matvec(alg.transpose(T_1a), e2)))
    return alg.stack(angle1, angle2, angle3)


def _upper_end(angle: Any) -> Any:
    """The angle with pi in the place of -pi, which atan2 gives for a negative zero."""
    return angle + alg.where(angle <= -np.pi, 2 * np.pi, 0.0)


def check_axes(sequence: Sequence[int]) -> Sequence[int]:
    """The sequence itself, if it holds three numbers out of 1, 2, 3; else a ValueError."""
    if len(sequence) != 3 or any(not isinstance(n, (int, np.integer)) or not 1 <= n <= 3 for n in sequence):
        raise ValueError(f"sequence = {sequence!r}: expected three axis numbers, each 1, 2 or 3")
    return sequence


def check_sequence(sequence: Sequence[int]) -> Sequence[int]:
    """The sequence itself, if it is one of the 12 valid ones; else a ValueError."""
    first, second, third = check_axes(sequence)
    if first == second or second == third:
        raise ValueError(f"sequence = {sequence!r}: expected neighbours that differ, as in (1, 2, 3) or (3, 1, 3)")
    return sequence


@operands
def small_rotation(T: Matrix, with_residues: bool = False) -> Any:
    """Angles [rad] about the axes of frame 1, right to first order for a small rotation, (..., 3) or 3x1.

    With residues the result has six entries: the angles, then T11 - 1, T22 - 1 and T11 T22 - T21 T12 - 1, which vanish
    to second order.
    """
    (t11, t12, t13), (t21, t22, t23), _ = (alg.elements(row) for row in alg.rows(T))
    residues = (t11 - 1, t22 - 1, t11 * t22 - t21 * t12 - 1) if with_residues else ()
    return alg.stack(t23, -t13, t12, *residues)


@operands
def rotation_vector(T: Matrix) -> Vector:
    """2 tan(angle/2) e for a rotation by angle about e: twice the Rodrigues vector, (..., 3) or 3x1.

    Near zero it is the vector of the rotation angles [rad]. It has no second zero: it grows without bound up to half a
    turn, where it is not defined. Its rate at zero is the angular velocity.
    """
    (t11, t12, t13), (t21, t22, t23), (t31, t32, t33) = (alg.elements(row) for row in alg.rows(T))
    size = 1 + (t11 + t22 + t33)
    return alg.stack(*(2 * part / size for part in (t23 - t32, t31 - t13, t12 - t21)))


@operands
def from_nxy(n_x: Vector, n_y: Vector, *, fallback: bool = True) -> Matrix:
    """Rotation into a frame 2 with x along n_x and y as near to n_y as possible; both resolved in frame 1.

    As in Modelica any vectors give a rotation: a zero n_x (shorter than 1e-10) is replaced by (1, 0, 0), and an n_y
    parallel to n_x (sine below 1e-3 for n_y of length 1) by (0, 1, 0), or (1, 0, 0) where n_x has no x-component.

    Args:
        n_x: direction of the x-axis of frame 2; any length.
        n_y: vector in the x-y plane of frame 2, on the side of +y; any length.
        fallback: False refuses numeric vectors that need a replacement. With symbols the replacement cannot be
            foreseen: it stays in the expression as a branch.

    Raises:
        ValueError: fallback is False and numeric vectors are zero or parallel.
    """
    e_x = _direction(n_x, fallback)
    n_y = _beside(e_x, n_y, np.array([0.0, 1.0, 0.0]), "n_y", fallback)
    e_z = _unit(alg.cross(e_x, n_y))
    return alg.stack_rows(e_x, alg.cross(e_z, e_x), e_z)


@operands
def from_nxz(n_x: Vector, n_z: Vector, *, fallback: bool = True) -> Matrix:
    """Rotation into a frame 2 with x along n_x and z as near to n_z as possible; both resolved in frame 1.

    Like `from_nxy`, with z in the place of y: the replacement of a parallel n_z is (0, 0, 1) or (1, 0, 0).

    Raises:
        ValueError: fallback is False and numeric vectors are zero or parallel.
    """
    e_x = _direction(n_x, fallback)
    n_z = _beside(e_x, n_z, np.array([0.0, 0.0, 1.0]), "n_z", fallback)
    e_y = _unit(alg.cross(n_z, e_x))
    return alg.stack_rows(e_x, e_y, alg.cross(e_x, e_y))


def _unit(v: Any) -> Any:
    return alg.scale_vector(1 / alg.sqrt(alg.dot(v, v)), v)


def _direction(n_x: Any, fallback: bool) -> Any:
    """Unit vector along n_x, (1, 0, 0) for a zero n_x."""
    zero = alg.dot(n_x, n_x) < 1e-20
    if not fallback and _holds(zero):
        raise ValueError(f"n_x = {n_x}: expected a vector that is not zero")
    return _unit(alg.where(zero, np.array([1.0, 0.0, 0.0]), n_x, rank=1))


def _beside(e_x: Any, n: Any, replacement: np.ndarray, name: str, fallback: bool) -> Any:
    """The vector n, or a replacement for it where it is parallel to e_x."""
    normal = alg.cross(e_x, n)
    parallel = alg.dot(normal, normal) <= 1e-6
    if not fallback and _holds(parallel):
        raise ValueError(f"{name} = {n}: expected a vector that is not zero and not parallel to n_x, along {e_x}")
    has_x = alg.absolute(alg.elements(e_x)[0]) > 1e-6
    instead = alg.where(has_x, replacement, np.array([1.0, 0.0, 0.0]), rank=1)
    return alg.where(parallel, instead, n, rank=1)


def _holds(condition: Any) -> bool:
    """True if a numeric condition holds anywhere; of a symbolic one nothing is known."""
    return not alg.is_symbolic(condition) and bool(np.any(condition))


@operands
def from_T(T: RotationMatrix) -> Matrix:
    """The matrix itself, checked.

    Raises:
        ValueError: T is numeric and deviates from a rotation by more than 1e-6. A symbolic T is trusted.
    """
    return T


@operands
def from_T_inv(T_inv: RotationMatrix) -> Matrix:
    """Transformation matrix from its inverse (v1 = T_inv v2): T_inv'.

    Raises:
        ValueError: T_inv is numeric and deviates from a rotation by more than 1e-6. A symbolic T_inv is trusted.
    """
    return alg.transpose(T_inv)


def from_Q(Q: Quaternion) -> Matrix:
    """Transformation matrix from a quaternion, see `quaternions.to_T`."""
    return quaternions.to_T(Q)


@operands
def to_T(T: Matrix) -> Matrix:
    """Transformation matrix for v2 = T v1: T itself."""
    return T


@operands
def to_T_inv(T: Matrix) -> Matrix:
    """Inverse transformation matrix, for v1 = T_inv v2: T'."""
    return alg.transpose(T)


def to_Q(T: RotationMatrix, Q_guess: FourVector | None = None) -> Quaternion:
    """Quaternion of the rotation, see `quaternions.from_T`."""
    return quaternions.from_T(T, Q_guess)


@operands
def to_vector(T: Matrix) -> Any:
    """The nine entries, column by column: (..., 9) or 9x1."""
    return alg.stack(*(entry for column in alg.columns(T) for entry in alg.elements(column)))


@operands
def to_exy(T: Matrix) -> Any:
    """The 3x2 matrix [e_x, e_y] of the x- and y-axis of frame 2, resolved in frame 1: (..., 3, 2) or 3x2."""
    e_x, e_y, _ = alg.rows(T)
    return alg.stack_columns(e_x, e_y)
