"""Orientations from angles, vectors and matrices, and back: the lecture's descriptions against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from frames_strategies import (
    SEQUENCES,
    angles,
    angular_velocity,
    derivative,
    matrix,
    motions,
    moving,
    nonzero_vectors,
    nudges,
    numbers,
    orientations,
    rotations,
    sequences,
    three_angles,
    times,
    unit_vectors,
    vectors,
)
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from mbfmu import frames
from mbfmu.frames import transformation_matrices as tm

EXACT = {"rtol": 0, "atol": 1e-14}
NUMERICAL = {"rtol": 0, "atol": 1e-7}


def euler(sequence, three):
    """T of SciPy's intrinsic Euler angles, which turn about the axes of the frame reached so far."""
    return matrix(Rotation.from_euler("".join(" XYZ"[i] for i in sequence), three))


@pytest.mark.slow
@given(unit_vectors, angles)
def test_planar_rotation_is_a_rotation_vector(e, angle):
    T = frames.planar_rotation(e, angle, 0).T
    assert_allclose(T, matrix(Rotation.from_rotvec(e * angle)), **EXACT)
    assert_allclose(tm.planar_rotation(e, angle), T, **EXACT)


@given(unit_vectors, angles, numbers, times)
def test_planar_rotation_turns_with_its_angular_velocity(e, angle, rate, t):
    R = frames.planar_rotation(e, angle + rate * t, rate)
    w = angular_velocity(lambda t: matrix(Rotation.from_rotvec(e * (angle + rate * t))), t)
    assert_allclose(R.w, w, **NUMERICAL)


@given(unit_vectors, angles, nonzero_vectors)
def test_planar_rotation_angle_recovers_the_angle(e, angle, v1):
    assume(np.linalg.norm(np.cross(e, v1)) > 1e-3)
    found = frames.planar_rotation_angle(e, v1, Rotation.from_rotvec(-e * angle).apply(v1))
    assert -np.pi <= found <= np.pi
    assert_allclose([np.cos(found), np.sin(found)], [np.cos(angle), np.sin(angle)], rtol=0, atol=1e-9)


@given(st.sampled_from((1, 2, 3)), angles, numbers)
def test_axis_rotation_is_the_matrix_of_the_lecture(axis, angle, rate):
    c, s = np.cos(angle), np.sin(angle)
    lecture = {
        1: [[1, 0, 0], [0, c, s], [0, -s, c]],
        2: [[c, 0, -s], [0, 1, 0], [s, 0, c]],
        3: [[c, s, 0], [-s, c, 0], [0, 0, 1]],
    }
    R = frames.axis_rotation(axis, angle, rate)
    assert_allclose(R.T, lecture[axis], **EXACT)
    assert_allclose(tm.axis_rotation(axis, angle), lecture[axis], **EXACT)
    assert_allclose(R.w, rate * np.eye(3)[axis - 1], **EXACT)


@given(sequences, three_angles)
def test_axes_rotations_are_intrinsic_euler_angles(sequence, three):
    assert_allclose(frames.axes_rotations(sequence, three, np.zeros(3)).T, euler(sequence, three), **EXACT)
    assert_allclose(tm.axes_rotations(sequence, three), euler(sequence, three), **EXACT)


@given(sequences, three_angles, vectors, times)
def test_axes_rotations_turn_with_their_angular_velocity(sequence, three, rates, t):
    R = frames.axes_rotations(sequence, three + rates * t, rates)
    assert_allclose(R.w, angular_velocity(lambda t: euler(sequence, three + rates * t), t), **NUMERICAL)


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("sequence", SEQUENCES)
@given(rotation=rotations(), guess=angles)
def test_axes_rotations_angles_reproduce_any_rotation(sequence, rotation, guess):
    R = frames.from_T(matrix(rotation), np.zeros(3))
    found = frames.axes_rotations_angles(R, sequence, guess)
    assert_allclose(euler(sequence, found), R.T, rtol=0, atol=1e-11)


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("sequence", SEQUENCES)
@given(three=three_angles)
def test_axes_rotations_angles_recover_the_angles_near_the_guess(sequence, three):
    middle = np.sin(three[1]) if sequence[0] == sequence[2] else np.cos(three[1])
    assume(abs(middle) > 1e-3)
    R = frames.from_T(euler(sequence, three), np.zeros(3))
    found = frames.axes_rotations_angles(R, sequence, three[0])
    assume(abs(three[0]) < np.pi - 1e-9)
    assert_allclose(np.exp(1j * found), np.exp(1j * three), rtol=0, atol=1e-10)
    assert np.all(np.abs(found) <= np.pi)


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("sequence", SEQUENCES)
@given(rotation=rotations(), guess=angles)
def test_the_first_angle_is_the_solution_nearer_to_the_guess(sequence, rotation, guess):
    R = frames.from_T(matrix(rotation), np.zeros(3))
    found = frames.axes_rotations_angles(R, sequence, guess)[0]
    other = found + np.pi if found <= 0 else found - np.pi
    assume(np.pi - abs(other) > 1e-9)  # there rounding decides whether it is -pi or pi
    assert abs(found - guess) <= abs(other - guess) + 1e-9


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_the_range_of_the_first_angle_includes_pi_and_not_minus_pi(zero):
    T = np.array([[zero, zero, -1.0], [zero, -1.0, zero], [-1.0, zero, zero]])
    assert frames.axes_rotations_angles(frames.from_T(T, np.zeros(3)), (1, 2, 1), 2.0)[0] == np.pi


@pytest.mark.slow
@pytest.mark.parametrize("sequence", SEQUENCES)
@given(first=angles, third=angles, which=st.booleans(), nudge=nudges, guess=angles)
def test_axes_rotations_angles_at_and_near_the_singular_middle_angle(sequence, first, third, which, nudge, guess):
    singular = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    T = euler(sequence, [first, singular[which] + nudge, third])
    found = frames.axes_rotations_angles(frames.from_T(T, np.zeros(3)), sequence, guess)
    assert_allclose(euler(sequence, found), T, rtol=0, atol=1e-11)
    if nudge == 0:
        assert found[0] == guess


@given(unit_vectors, st.floats(0, 1e-2))
def test_small_rotation_is_right_to_first_order(e, angle):
    R = frames.from_T(matrix(Rotation.from_rotvec(e * angle)), np.zeros(3))
    phi = frames.small_rotation(R)
    assert_allclose(phi, e * angle, rtol=0, atol=angle**2 + 1e-15)
    with_residues = frames.small_rotation(R, with_residues=True)
    assert_allclose(with_residues[:3], phi)
    assert_allclose(with_residues[3:], np.zeros(3), rtol=0, atol=angle**2 + 1e-15)


def test_small_rotation_has_the_residues_of_the_seed():
    T = np.array([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0], [17.0, 19.0, 23.0]])
    assert_allclose(tm.small_rotation(T, True), [13, -5, 3, 1, 10, 0])


def assert_axes(T, e_x, second, in_plane):
    """T has its x-axis along e_x, is a rotation, and `in_plane` lies in the plane of x and axis `second`, positive."""
    assert_allclose(T[0], e_x, **EXACT)
    assert_allclose(T @ T.T, np.eye(3), **EXACT)
    assert np.linalg.det(T) > 0
    inside = T @ in_plane
    assert inside[second] > 0
    assert_allclose(np.delete(inside, second)[1], 0, rtol=0, atol=1e-12)


@given(nonzero_vectors, nonzero_vectors)
def test_from_nxy_and_from_nxz_point_where_they_are_told(n_x, n):
    e_x = n_x / np.linalg.norm(n_x)
    assume(np.linalg.norm(np.cross(e_x, n)) > 1.1e-3)
    R = frames.from_nxy(n_x, n)
    assert_axes(R.T, e_x, 1, n)
    assert_allclose(tm.from_nxy(n_x, n, fallback=False), R.T, **EXACT)
    R = frames.from_nxz(n_x, n)
    assert_axes(R.T, e_x, 2, n)
    assert_allclose(tm.from_nxz(n_x, n, fallback=False), R.T, **EXACT)
    assert_allclose(R.w, np.zeros(3), **EXACT)


@given(nonzero_vectors, numbers)
@example(np.array([0.0, 1.0, 0.0]), 1.0)
@example(np.array([0.0, 0.0, -1.0]), 1.0)
@example(np.array([1.0, 0.0, 0.0]), 0.0)
def test_parallel_vectors_are_replaced(n_x, factor):
    e_x = n_x / np.linalg.norm(n_x)
    has_x = abs(e_x[0]) > 1e-6
    assert_axes(frames.from_nxy(n_x, factor * n_x).T, e_x, 1, np.array([0.0, 1, 0]) if has_x else np.array([1.0, 0, 0]))
    assert_axes(frames.from_nxz(n_x, factor * n_x).T, e_x, 2, np.array([0.0, 0, 1]) if has_x else np.array([1.0, 0, 0]))


def test_a_zero_n_x_becomes_the_x_axis():
    assert_allclose(frames.from_nxy(np.zeros(3), [0, 0, 2]).T, [[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert_allclose(frames.from_nxz([1e-11, 0, 0], [0, 2, 0]).T, [[1, 0, 0], [0, 0, -1], [0, 1, 0]])


@pytest.mark.slow
@given(orientations)
def test_conversions_come_back(R):
    assert_allclose(frames.from_T(frames.to_T(R), R.w).T, R.T, **EXACT)
    assert_allclose(frames.from_T_inv(frames.to_T_inv(R), -R.w).T, R.T, **EXACT)
    assert_allclose(frames.from_T_inv(frames.to_T_inv(R), -R.w).w, R.w, **EXACT)
    assert_allclose(frames.from_Q(frames.to_Q(R), R.w).T, R.T, **EXACT)
    assert_allclose(frames.from_scipy(frames.to_scipy(R), R.w).T, R.T, **EXACT)
    exy = frames.to_exy(R)
    assert_allclose(frames.from_nxy(exy[:, 0], exy[:, 1]).T, R.T, **EXACT)
    assert_allclose(frames.to_vector(R), R.T.flatten(order="F"), **EXACT)


@given(orientations, vectors)
def test_scipy_applies_what_resolve1_does(R, v2):
    assert_allclose(frames.to_scipy(R).apply(v2), frames.resolve1(R, v2), **EXACT)
    assert_allclose(frames.from_scipy(frames.to_scipy(R)).w, np.zeros(3), **EXACT)


def test_scipy_rotations_of_several_become_leading_axes():
    several = Rotation.random(5, rng=np.random.default_rng(1))
    R = frames.from_scipy(several)
    assert R.T.shape == (5, 3, 3)
    assert_allclose(frames.to_scipy(R).as_matrix(), several.as_matrix(), **EXACT)


@given(motions, times)
def test_from_T2_has_the_angular_velocity_of_the_motion(T, t):
    assert_allclose(frames.from_T2(T(t), derivative(T, t)).w, moving(T, t).w, **NUMERICAL)


@given(unit_vectors, angles, nudges)
def test_every_rotation_has_an_axis_and_an_angle(e, angle, nudge):
    R = frames.from_T(matrix(Rotation.from_rotvec(e * (angle + nudge))), np.zeros(3))
    axis, found = frames.to_axis_angle(R)
    assert 0 <= found <= np.pi
    assert_allclose(np.linalg.norm(axis), 1, **EXACT)
    assert_allclose(frames.planar_rotation(axis, found, 0).T, R.T, **EXACT)


@given(rotations())
def test_the_angle_is_the_magnitude_of_scipy(rotation):
    R = frames.from_T(matrix(rotation), np.zeros(3))
    assert_allclose(frames.to_axis_angle(R)[1], rotation.magnitude(), **EXACT)


@given(vectors, vectors)
def test_vectors(a, b):
    assert_allclose(frames.length(a) ** 2, a @ a, **EXACT)
    assert_allclose(frames.skew(a) @ b, frames.cross(a, b), **EXACT)
    assert_allclose(frames.cross(a, b) @ a, 0, **EXACT)
    assert_allclose(frames.length(frames.cross(a, b)) ** 2 + (a @ b) ** 2, (a @ a) * (b @ b), rtol=1e-12, atol=1e-13)


@given(nonzero_vectors)
def test_normalize_keeps_the_direction(v):
    e = frames.normalize(v)
    assert_allclose(e @ e, 1, **EXACT)
    assert_allclose(frames.length(v) * e, v, **EXACT)


def test_normalize_of_zero_is_zero():
    assert_allclose(frames.normalize(np.zeros(3)), np.zeros(3), rtol=0, atol=0)


def test_axis_is_a_column_of_the_unit_matrix():
    assert_allclose([frames.axis(1), frames.axis(2), frames.axis(3)], np.eye(3))
