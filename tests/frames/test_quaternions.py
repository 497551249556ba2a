"""Quaternions against SciPy, against matrices, and against the lecture's rules."""

from __future__ import annotations

import numpy as np
import pytest
from frames_strategies import (
    angles,
    derivative,
    four_vectors,
    matrix,
    motions,
    moving,
    rotations,
    times,
    unit_quaternions,
    unit_vectors,
    vectors,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from mbfmu.frames import Orientation, quaternions
from mbfmu.frames import transformation_matrices as tm

EXACT = {"rtol": 0, "atol": 1e-14}
NUMERICAL = {"rtol": 0, "atol": 1e-7}

QI, QJ, QK, ONE = np.eye(4)  # the lecture's i, j, k and 1, scalar last


@given(unit_quaternions)
def test_the_matrix_is_that_of_scipy(Q):
    T = matrix(Rotation.from_quat(Q))
    assert_allclose(quaternions.to_T(Q), T, **EXACT)
    assert_allclose(quaternions.to_T_inv(Q), T.T, **EXACT)
    assert_allclose(tm.from_Q(Q), T, **EXACT)


@given(rotations())
def test_from_T_is_right_for_every_rotation(rotation):
    Q = quaternions.from_T(matrix(rotation))
    expected = rotation.as_quat()
    assert_allclose(Q * np.sign(Q @ expected), expected, **EXACT)
    assert Q[3] >= 0
    assert_allclose(quaternions.from_T_inv(rotation.as_matrix()), Q, **EXACT)
    assert_allclose(tm.to_Q(matrix(rotation)), Q, **EXACT)


@given(rotations(), four_vectors)
def test_from_T_takes_the_sign_nearer_to_the_guess(rotation, guess):
    Q = quaternions.from_T(matrix(rotation), guess)
    assert np.linalg.norm(Q - guess) <= np.linalg.norm(-Q - guess) + 1e-14


@given(unit_quaternions, vectors)
def test_resolve_is_what_scipy_applies(Q, v):
    assert_allclose(quaternions.resolve1(Q, v), Rotation.from_quat(Q).apply(v), **EXACT)
    assert_allclose(quaternions.resolve2(Q, v), Rotation.from_quat(Q).inv().apply(v), **EXACT)


@given(unit_quaternions, unit_quaternions)
def test_compositions_are_those_of_the_matrices(Q1, Q2):
    T1, T2 = quaternions.to_T(Q1), quaternions.to_T(Q2)
    assert_allclose(quaternions.to_T(quaternions.absolute_rotation(Q1, Q2)), tm.absolute_rotation(T1, T2), **EXACT)
    assert_allclose(quaternions.to_T(quaternions.relative_rotation(Q1, Q2)), tm.relative_rotation(T1, T2), **EXACT)
    assert_allclose(quaternions.to_T(quaternions.inverse_rotation(Q1)), tm.inverse_rotation(T1), **EXACT)
    assert_allclose(quaternions.absolute_rotation(Q1, quaternions.relative_rotation(Q1, Q2)), Q2, **EXACT)


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        (QI, QJ, QK),
        (QJ, QI, -QK),
        (QJ, QK, QI),
        (QK, QJ, -QI),
        (QK, QI, QJ),
        (QI, QK, -QJ),
        (QI, QI, -ONE),
        (QJ, QJ, -ONE),
        (QK, QK, -ONE),
    ],
)
def test_absolute_rotation_is_the_product_of_the_lecture(left, right, result):
    assert_allclose(quaternions.absolute_rotation(left, right), result, **EXACT)


@given(unit_vectors, angles)
def test_planar_rotation_holds_half_the_angle(e, angle):
    Q = quaternions.planar_rotation(e, angle)
    assert_allclose(quaternions.to_T(Q), tm.planar_rotation(e, angle), **EXACT)
    axis, found = quaternions.to_axis_angle(Q)
    assert_allclose(axis * found, Rotation.from_quat(Q).as_rotvec(), rtol=0, atol=1e-13)


@given(unit_vectors, angles)
def test_the_signs_of_the_lecture(e, angle):
    """R = 2 u u' + 2 c U + 2 c^2 I - I is T for U = -skew(u), and T' for U = skew(u) as in its planar rotation."""
    u, c = e * np.sin(angle / 2), np.cos(angle / 2)
    N = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    planar = np.outer(e, e) + (np.eye(3) - np.outer(e, e)) * np.cos(angle) - N * np.sin(angle)
    T = quaternions.to_T(np.append(u, c))
    assert_allclose(T, planar, **EXACT)
    for U, R in ((-np.sin(angle / 2) * N, T), (np.sin(angle / 2) * N, T.T)):
        assert_allclose(2 * np.outer(u, u) + 2 * c * U + (2 * c**2 - 1) * np.eye(3), R, **EXACT)


@pytest.mark.slow
@given(motions, times)
def test_angular_velocities_of_a_motion(T, t):
    guess = quaternions.from_T(T(t))
    Q, der_Q = guess, derivative(lambda t: quaternions.from_T(T(t), guess), t)
    R = moving(T, t)
    assert_allclose(quaternions.angular_velocity2(Q, der_Q), R.w, **NUMERICAL)
    assert_allclose(quaternions.angular_velocity1(Q, der_Q), R.T.T @ R.w, **NUMERICAL)
    assert_allclose(quaternions.derivative2(Q, R.w), der_Q, **NUMERICAL)
    assert_allclose(quaternions.derivative1(Q, R.T.T @ R.w), der_Q, **NUMERICAL)


@given(four_vectors)
def test_orientation_constraint_is_the_squared_length_minus_1(Q):
    assert_allclose(quaternions.orientation_constraint(Q), [np.linalg.norm(Q) ** 2 - 1], **EXACT)


@given(unit_quaternions, unit_quaternions)
def test_equality_constraint_vanishes_for_one_rotation_only(Q1, Q2):
    assert_allclose(quaternions.equality_constraint(Q1, Q1), np.zeros(3), **EXACT)
    assert_allclose(quaternions.equality_constraint(Q1, -Q1), np.zeros(3), **EXACT)
    difference = (Rotation.from_quat(Q1).inv() * Rotation.from_quat(Q2)).magnitude()
    residue = np.linalg.norm(quaternions.equality_constraint(Q1, Q2))
    assert_allclose(residue, np.sin(difference / 2), **EXACT)


@given(unit_vectors, st.floats(0, 1e-2))
def test_small_rotation_is_right_to_first_order(e, angle):
    Q = Rotation.from_rotvec(e * angle).as_quat()
    assert_allclose(quaternions.small_rotation(Q), e * angle, rtol=0, atol=angle**3 + 1e-15)


def test_null_rotation_does_not_rotate():
    assert_allclose(quaternions.to_T(quaternions.null_rotation()), np.eye(3))
    assert_allclose(tm.null_rotation(), np.eye(3))


def test_null_rotation_has_an_axis_by_convention():
    axis, angle = quaternions.to_axis_angle([0, 0, 0, 1])
    assert_allclose(axis, [1, 0, 0])
    assert angle == 0


@given(rotations(), vectors)
def test_an_orientation_and_its_quaternion_resolve_alike(rotation, v):
    R = Orientation(matrix(rotation), np.zeros(3))
    assert_allclose(tm.resolve2(R.T, v), quaternions.resolve2(rotation.as_quat(), v), **EXACT)
