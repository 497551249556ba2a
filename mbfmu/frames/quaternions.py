"""Rotations as unit quaternions, also called Euler parameters (MultiBody.Frames.Quaternions).

Convention, for all of mbfmu: Q = [u, v, w, c], the scalar last; [u, v, w] = e sin(angle/2) and c = cos(angle/2), where
frame 1 is rotated into frame 2 by `angle` about the unit vector e. With u the first three entries the rotation is

    T = 2 u u' - 2 c skew(u) + (2 c^2 - 1) I,    v2 = T v1.

The lecture prints R = 2 u u' + 2 c U + 2 c^2 I - I: that is T with U = -skew(u), as its Modelica code has it; with
U = skew(u), which is how its planar rotation defines N, it is T', the transformation from frame 2 to frame 1. Q and -Q
are one rotation. Quaternions have no singularity; the price is the constraint Q' Q = 1.

All functions take and give NumPy arrays with leading axes (quaternions (..., 4), vectors (..., 3)) or CasADi SX/MX
(4x1, 3x1). That a quaternion has length 1 is checked for numbers (to 1e-6, a zero quaternion is refused) and trusted
for symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbfmu.frames import _algebra as alg
from mbfmu.frames._operands import FourVector, Matrix, Quaternion, RotationMatrix, Scalar, UnitVector, Vector, operands


def _parts(Q: Any) -> tuple[Any, Any]:
    """Vector part u and scalar part c."""
    u, v, w, c = alg.elements(Q)
    return alg.stack(u, v, w), c


def _quaternion(u: Any, c: Any) -> Any:
    return alg.stack(*alg.elements(u), c)


@operands
def orientation_constraint(Q: FourVector) -> Any:
    """One residue that is 0 for a unit quaternion: Q' Q - 1, (..., 1) or 1x1."""
    return alg.stack(alg.dot(Q, Q) - 1)


@operands
def angular_velocity1(Q: Quaternion, der_Q: FourVector) -> Vector:
    """Angular velocity of frame 2 with respect to frame 1, resolved in frame 1 [rad/s]; der_Q = dQ/dt."""
    (u, c), (der_u, der_c) = _parts(Q), _parts(der_Q)
    return alg.scale_vector(2.0, alg.scale_vector(c, der_u) - alg.scale_vector(der_c, u) + alg.cross(u, der_u))


@operands
def angular_velocity2(Q: Quaternion, der_Q: FourVector) -> Vector:
    """Angular velocity of frame 2 with respect to frame 1, resolved in frame 2 [rad/s]; der_Q = dQ/dt."""
    (u, c), (der_u, der_c) = _parts(Q), _parts(der_Q)
    return alg.scale_vector(2.0, alg.scale_vector(c, der_u) - alg.scale_vector(der_c, u) - alg.cross(u, der_u))


@operands
def derivative1(Q: FourVector, w1: Vector) -> FourVector:
    """dQ/dt from the angular velocity resolved in frame 1 [rad/s]: the inverse of `angular_velocity1`.

    Q is not checked, so that the equation also stands where an integrator has left the unit sphere.
    """
    u, c = _parts(Q)
    return alg.scale_vector(0.5, _quaternion(alg.scale_vector(c, w1) + alg.cross(w1, u), -alg.dot(u, w1)))


@operands
def derivative2(Q: FourVector, w2: Vector) -> FourVector:
    """dQ/dt from the angular velocity resolved in frame 2 [rad/s]: the inverse of `angular_velocity2`.

    Q is not checked, so that the equation also stands where an integrator has left the unit sphere.
    """
    u, c = _parts(Q)
    return alg.scale_vector(0.5, _quaternion(alg.scale_vector(c, w2) + alg.cross(u, w2), -alg.dot(u, w2)))


@operands
def resolve1(Q: Quaternion, v2: Vector) -> Vector:
    """Vector from frame 2 to frame 1: v1 = T' v2."""
    u, c = _parts(Q)
    return _rotated(u, c, v2)


@operands
def resolve2(Q: Quaternion, v1: Vector) -> Vector:
    """Vector from frame 1 to frame 2: v2 = T v1."""
    u, c = _parts(Q)
    return _rotated(-u, c, v1)


def _rotated(u: Any, c: Any, v: Any) -> Any:
    """(2 c^2 - 1) v + 2 u (u' v) + 2 c u x v."""
    along, across = alg.scale_vector(alg.dot(u, v), u), alg.scale_vector(c, alg.cross(u, v))
    return alg.scale_vector(2 * c * c - 1, v) + alg.scale_vector(2.0, along + across)


def null_rotation() -> np.ndarray:
    """[0, 0, 0, 1]: frame 1 and frame 2 are identical."""
    return np.array([0.0, 0.0, 0.0, 1.0])


@operands
def inverse_rotation(Q: Quaternion) -> Quaternion:
    """Rotation of frame 2 into frame 1: [-u, -v, -w, c]."""
    u, c = _parts(Q)
    return _quaternion(-u, c)


@operands
def relative_rotation(Q1: Quaternion, Q2: Quaternion) -> Quaternion:
    """Rotation of frame 1 into frame 2 from those of frame 0 into each of them."""
    (u1, c1), (u2, c2) = _parts(Q1), _parts(Q2)
    return _product(-u1, c1, u2, c2)


@operands
def absolute_rotation(Q1: Quaternion, Q_rel: Quaternion) -> Quaternion:
    """Rotation of frame 0 into frame 2 from 0 into 1 and from 1 into 2: the quaternion product Q1 Q_rel."""
    (u1, c1), (u_rel, c_rel) = _parts(Q1), _parts(Q_rel)
    return _product(u1, c1, u_rel, c_rel)


def _product(u1: Any, c1: Any, u2: Any, c2: Any) -> Any:
    """The lecture's product (c1 + u1)(c2 + u2) = (c1 c2 - u1' u2) + (u1 x u2) + c1 u2 + c2 u1."""
    u = alg.cross(u1, u2) + alg.scale_vector(c1, u2) + alg.scale_vector(c2, u1)
    return _quaternion(u, c1 * c2 - alg.dot(u1, u2))


@operands
def equality_constraint(Q1: Quaternion, Q2: Quaternion) -> Vector:
    """Three residues that are 0 if Q1 and Q2 are one rotation: the vector part of the relative rotation.

    They are also 0 for Q1 = -Q2, which is the same rotation. For small rotations they are half the angles.
    """
    u, _ = _parts(relative_rotation(Q1, Q2))
    return u


@operands
def planar_rotation(e: UnitVector, angle: Scalar) -> Quaternion:
    """Rotation by `angle` [rad] about the unit vector e: [e sin(angle/2), cos(angle/2)]."""
    return _quaternion(alg.scale_vector(alg.sin(angle / 2), e), alg.cos(angle / 2))


@operands
def to_axis_angle(Q: Quaternion) -> tuple[Vector, Scalar]:
    """Unit vector e and angle [rad] in [0, pi] of the planar rotation that Q is; inverse of `planar_rotation`.

    Singular at the null rotation, which has no axis: below an angle of 2e-15 the result is ((1, 0, 0), 0), and near it
    e is only as exact as Q. At a half turn e and -e are both right. With a symbolic Q these choices are branches.
    """
    u, c = _parts(Q)
    u, c = alg.where(c < 0, -u, u, rank=1), alg.absolute(c)
    null = alg.dot(u, u) < 1e-30
    # A harmless argument for the branch not taken: sqrt has no derivative at 0.
    along = alg.where(null, np.array([1.0, 0.0, 0.0]), u, rank=1)
    sine = alg.sqrt(alg.dot(along, along))
    return alg.scale_vector(1 / sine, along), alg.where(null, 0.0, 2 * alg.arctan2(sine, c))


@operands
def small_rotation(Q: Quaternion) -> Vector:
    """Angles [rad] about the axes of frame 1, right to first order for a small rotation with c near 1: 2 [u, v, w]."""
    u, _ = _parts(Q)
    return alg.scale_vector(2.0, u)


@operands
def from_T(T: RotationMatrix, Q_guess: FourVector | None = None) -> Quaternion:
    """Quaternion of a transformation matrix, of the two the one nearer to Q_guess (default: null_rotation()).

    Works for all rotations, half turns included: from 4 Q Q', whose entries are sums of those of T, the column with
    the largest diagonal entry (at least 1) is taken and scaled to length 1. With a symbolic T this choice and that of
    the sign are branches of the expression; its derivatives are finite everywhere. For a half turn and the default
    guess both quaternions are equally near; then the sign is arbitrary.

    Raises:
        ValueError: T is numeric and deviates from a rotation by more than 1e-6. A symbolic T is trusted.
    """
    (t11, t12, t13), (t21, t22, t23), (t31, t32, t33) = (alg.elements(row) for row in alg.rows(T))
    columns = (
        (1 + t11 - t22 - t33, t12 + t21, t13 + t31, t23 - t32),
        (t12 + t21, 1 - t11 + t22 - t33, t23 + t32, t31 - t13),
        (t13 + t31, t23 + t32, 1 - t11 - t22 + t33, t12 - t21),
        (t23 - t32, t31 - t13, t12 - t21, 1 + t11 + t22 + t33),
    )
    largest, Q = columns[3][3], alg.stack(*columns[3])
    for i in range(3):
        larger = columns[i][i] > largest
        largest = alg.where(larger, columns[i][i], largest)
        Q = alg.where(larger, alg.stack(*columns[i]), Q, rank=1)
    Q = alg.scale_vector(1 / alg.sqrt(alg.dot(Q, Q)), Q)
    guess = null_rotation() if Q_guess is None else Q_guess
    return alg.where(alg.dot(Q, guess) >= 0, Q, -Q, rank=1)


@operands
def from_T_inv(T_inv: RotationMatrix, Q_guess: FourVector | None = None) -> Quaternion:
    """Quaternion of an inverse transformation matrix (v1 = T_inv v2), otherwise like `from_T`."""
    return from_T(alg.transpose(T_inv), Q_guess)


@operands
def to_T(Q: Quaternion) -> Matrix:
    """Transformation matrix for v2 = T v1: 2 u u' - 2 c skew(u) + (2 c^2 - 1) I."""
    u, c = _parts(Q)
    turned = alg.outer(u, u) - alg.scale_matrix(c, alg.skew(u))
    return alg.scale_matrix(2.0, turned) + alg.scale_matrix(2 * c * c - 1, np.eye(3))


@operands
def to_T_inv(Q: Quaternion) -> Matrix:
    """Inverse transformation matrix, for v1 = T_inv v2."""
    return alg.transpose(to_T(Q))
