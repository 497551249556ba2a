"""Orientation and the functions that combine orientations and resolve vectors and tensors."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from frames_strategies import (
    angular_velocity,
    derivative,
    matrices,
    matrix,
    motions,
    moving,
    orientations,
    rotations,
    times,
    unit_vectors,
    vectors,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mbfmu import frames
from mbfmu.frames import Orientation
from mbfmu.frames import transformation_matrices as tm

EXACT = {"rtol": 0, "atol": 1e-14}
NUMERICAL = {"rtol": 0, "atol": 1e-7}


def assert_same(R1: Orientation, R2: Orientation, **tolerances: float) -> None:
    assert_allclose(R1.T, R2.T, **(tolerances or EXACT))
    assert_allclose(R1.w, R2.w, **(tolerances or EXACT))


@given(rotations(), vectors)
def test_resolve_is_what_scipy_applies(rotation, v):
    R = frames.from_T(matrix(rotation), np.zeros(3))
    assert_allclose(frames.resolve1(R, v), rotation.apply(v), **EXACT)
    assert_allclose(frames.resolve2(R, v), rotation.inv().apply(v), **EXACT)


@given(rotations(), rotations(), vectors)
def test_resolve_relative_goes_by_way_of_frame_0(one, two, v1):
    R1, R2 = Orientation(matrix(one), np.zeros(3)), Orientation(matrix(two), np.zeros(3))
    v2 = frames.resolve_relative(v1, R1, R2)
    assert_allclose(v2, (two.inv() * one).apply(v1), **EXACT)
    assert_allclose(v2, frames.resolve2(frames.relative_rotation(R1, R2), v1), **EXACT)


@given(orientations, matrices, vectors)
def test_tensors_turn_with_the_vectors_they_map(R, D1, v1):
    D2 = frames.resolve_dyade2(R, D1)
    assert_allclose(D2 @ frames.resolve2(R, v1), frames.resolve2(R, D1 @ v1), rtol=0, atol=1e-13)
    assert_allclose(frames.resolve_dyade1(R, D2), D1, **EXACT)


@given(orientations)
def test_rotations_meet_the_orientation_constraint(R):
    assert_allclose(frames.orientation_constraint(R), np.zeros(6), **EXACT)


@given(orientations, st.integers(0, 2), st.integers(0, 2), st.floats(0.01, 1))
def test_orientation_constraint_sees_a_change_of_any_entry(R, i, j, change):
    T = np.array(R.T)
    T[i, j] += change
    violated = np.max(np.abs(frames.orientation_constraint(Orientation(T, R.w))))
    assert violated >= np.max(np.abs(T.T @ T - np.eye(3))) - 1e-14
    assert violated > 0


def test_orientation_constraint_has_the_order_of_the_seed():
    T = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    assert_allclose(tm.orientation_constraint(T), [65, 92, 125, 78, 90, 108])


@given(orientations)
def test_null_rotation_is_neutral_and_inverse_undoes(R):
    null = frames.null_rotation()
    assert_same(frames.absolute_rotation(null, R), R)
    assert_same(frames.absolute_rotation(R, null), R)
    assert_same(frames.absolute_rotation(R, frames.inverse_rotation(R)), null)
    assert_same(frames.inverse_rotation(frames.inverse_rotation(R)), R)


@given(orientations, orientations)
def test_relative_rotation_is_the_step_from_one_to_the_other(R1, R2):
    assert_same(frames.absolute_rotation(R1, frames.relative_rotation(R1, R2)), R2)


@pytest.mark.slow
@given(orientations, orientations, orientations)
def test_composition_is_associative(R1, R2, R3):
    left = frames.absolute_rotation(frames.absolute_rotation(R1, R2), R3)
    right = frames.absolute_rotation(R1, frames.absolute_rotation(R2, R3))
    assert_same(left, right)


@pytest.mark.slow
@given(motions, motions, times)
def test_angular_velocities_of_composed_motions(first, second, t):
    R1, R2 = moving(first, t), moving(second, t)
    absolute = frames.absolute_rotation(R1, R2)
    assert_allclose(absolute.w, angular_velocity(lambda t: second(t) @ first(t), t), **NUMERICAL)
    relative = frames.relative_rotation(R1, R2)
    assert_allclose(relative.w, angular_velocity(lambda t: second(t) @ first(t).T, t), **NUMERICAL)
    inverse = frames.inverse_rotation(R1)
    assert_allclose(inverse.w, angular_velocity(lambda t: first(t).T, t), **NUMERICAL)


@pytest.mark.slow
@given(motions, times, vectors)
def test_angular_velocity_moves_a_fixed_point_of_frame_2(T, t, v2):
    R = frames.from_T2(T(t), derivative(T, t))
    velocity = derivative(lambda t: T(t).T @ v2, t)
    assert_allclose(np.cross(frames.angular_velocity1(R), frames.resolve1(R, v2)), velocity, **NUMERICAL)
    assert_allclose(np.cross(frames.angular_velocity2(R), v2), frames.resolve2(R, velocity), **NUMERICAL)
    assert_allclose(tm.angular_velocity1(T(t), derivative(T, t)), frames.angular_velocity1(R), **NUMERICAL)


@given(rotations(), unit_vectors, st.floats(0, 1e-3))
def test_equality_constraint_gives_the_angles_of_a_small_rotation(rotation, e, angle):
    R1 = Orientation(matrix(rotation), np.zeros(3))
    R2 = frames.absolute_rotation(R1, frames.planar_rotation(e, angle, 0))
    assert_allclose(frames.equality_constraint(R1, R2), e * angle, rtol=0, atol=angle**2 + 1e-14)


@pytest.mark.slow
@given(orientations, orientations)
def test_equality_constraint_vanishes_for_equal_orientations_only(R1, R2):
    assert_allclose(frames.equality_constraint(R1, R1), np.zeros(3), **EXACT)
    difference = np.max(np.abs(R1.T - R2.T))
    if difference > 1e-6:
        assert np.max(np.abs(frames.equality_constraint(R1, R2))) > difference / 10


def test_an_orientation_cannot_be_changed():
    T = np.eye(3)
    R = Orientation(T, np.zeros(3))
    T[0, 0] = 2
    assert R.T[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        R.T[0, 0] = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        R.w = np.ones(3)


@given(orientations)
def test_an_orientation_survives_pickling(R):
    assert_same(pickle.loads(pickle.dumps(R)), R, rtol=0, atol=0)
