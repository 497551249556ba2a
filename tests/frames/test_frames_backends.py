"""One source for numbers, SX and MX: every function gives the same for all of them, and for arrays of samples."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
import pytest
from frames_strategies import (
    angles,
    four_vectors,
    matrices,
    nonzero_vectors,
    numbers,
    orientations,
    rotation_matrices,
    sequences,
    three_angles,
    unit_quaternions,
    unit_vectors,
    vectors,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mbfmu import frames
from mbfmu.frames import Orientation, quaternions
from mbfmu.frames import transformation_matrices as tm

axes = st.sampled_from((1, 2, 3))


def is_turned(drawn) -> bool:
    """Neither vector is parallel to the axis, up to where rounding decides the angle."""
    axis, *both = map(np.asarray, drawn)
    return all(np.linalg.norm(np.cross(axis, v)) > 1e-3 * np.linalg.norm(v) for v in both)


turned_vectors = st.tuples(unit_vectors, nonzero_vectors, nonzero_vectors).filter(is_turned)
#: A guess that is clearly nearer to one of the two quaternions, so that rounding does not choose.
guessed_matrices = st.tuples(rotation_matrices, four_vectors).filter(
    lambda drawn: abs(quaternions.from_T(drawn[0]) @ drawn[1]) > 1e-9
)


def has_angles(T1: np.ndarray, T2: np.ndarray) -> bool:
    """False where an angle of `equality_constraint` is atan2(0, 0), in which the sign of a zero decides."""
    (x1, y1, z1), (x2, y2, z2) = T1, T2
    sides = ((z1 @ y2, x1 @ x2), (z1 @ x2, y1 @ y2), (y1 @ x2, z1 @ z2))
    return min(np.hypot(*side) for side in sides) > 1e-9


R, T, Q, v, D, e = orientations, rotation_matrices, unit_quaternions, vectors, matrices, unit_vectors

#: Strategies of the arguments of every function; whole numbers, flags and sequences stay what they are.
CASES: dict[Callable[..., Any], st.SearchStrategy[tuple[Any, ...]]] = {
    frames.absolute_rotation: st.tuples(R, R),
    frames.angular_velocity1: st.tuples(R),
    frames.angular_velocity2: st.tuples(R),
    frames.axes_rotations: st.tuples(sequences, three_angles, v),
    frames.axes_rotations_angles: st.tuples(R, sequences, angles),
    frames.axis_rotation: st.tuples(axes, angles, numbers),
    frames.cross: st.tuples(v, v),
    frames.equality_constraint: st.tuples(R, R).filter(lambda drawn: has_angles(drawn[0].T, drawn[1].T)),
    frames.from_nxy: st.tuples(v, v),
    frames.from_nxz: st.tuples(v, v),
    frames.from_Q: st.tuples(Q, v),
    frames.from_T: st.tuples(T, v),
    frames.from_T2: st.tuples(T, D),
    frames.from_T_inv: st.tuples(T, v),
    frames.inverse_rotation: st.tuples(R),
    frames.length: st.tuples(v),
    frames.normalize: st.tuples(v),
    frames.orientation_constraint: st.tuples(R),
    frames.planar_rotation: st.tuples(e, angles, numbers),
    frames.planar_rotation_angle: turned_vectors,
    frames.relative_rotation: st.tuples(R, R),
    frames.resolve1: st.tuples(R, v),
    frames.resolve2: st.tuples(R, v),
    frames.resolve_dyade1: st.tuples(R, D),
    frames.resolve_dyade2: st.tuples(R, D),
    frames.resolve_relative: st.tuples(v, R, R),
    frames.skew: st.tuples(v),
    frames.small_rotation: st.tuples(R, st.booleans()),
    frames.to_axis_angle: st.tuples(R),
    frames.to_exy: st.tuples(R),
    frames.to_Q: st.tuples(R),
    frames.to_T: st.tuples(R),
    frames.to_T_inv: st.tuples(R),
    frames.to_vector: st.tuples(R),
    quaternions.absolute_rotation: st.tuples(Q, Q),
    quaternions.angular_velocity1: st.tuples(Q, four_vectors),
    quaternions.angular_velocity2: st.tuples(Q, four_vectors),
    quaternions.derivative1: st.tuples(four_vectors, v),
    quaternions.derivative2: st.tuples(four_vectors, v),
    quaternions.equality_constraint: st.tuples(Q, Q),
    quaternions.from_T: guessed_matrices,
    quaternions.from_T_inv: st.tuples(T),
    quaternions.inverse_rotation: st.tuples(Q),
    quaternions.orientation_constraint: st.tuples(four_vectors),
    quaternions.planar_rotation: st.tuples(e, angles),
    quaternions.relative_rotation: st.tuples(Q, Q),
    quaternions.resolve1: st.tuples(Q, v),
    quaternions.resolve2: st.tuples(Q, v),
    quaternions.small_rotation: st.tuples(Q),
    quaternions.to_axis_angle: st.tuples(Q),
    quaternions.to_T: st.tuples(Q),
    quaternions.to_T_inv: st.tuples(Q),
    tm.absolute_rotation: st.tuples(T, T),
    tm.angular_velocity1: st.tuples(T, D),
    tm.angular_velocity2: st.tuples(T, D),
    tm.axes_rotations: st.tuples(sequences, three_angles),
    tm.axes_rotations_angles: st.tuples(T, sequences, angles),
    tm.axis_rotation: st.tuples(axes, angles),
    tm.equality_constraint: st.tuples(T, T).filter(lambda drawn: has_angles(*drawn)),
    tm.from_nxy: st.tuples(v, v),
    tm.from_nxz: st.tuples(v, v),
    tm.from_Q: st.tuples(Q),
    tm.from_T: st.tuples(T),
    tm.from_T_inv: st.tuples(T),
    tm.inverse_rotation: st.tuples(T),
    tm.orientation_constraint: st.tuples(D),
    tm.planar_rotation: st.tuples(e, angles),
    tm.relative_rotation: st.tuples(T, T),
    tm.resolve1: st.tuples(T, v),
    tm.resolve2: st.tuples(T, v),
    tm.resolve_dyade1: st.tuples(T, D),
    tm.resolve_dyade2: st.tuples(T, D),
    tm.small_rotation: st.tuples(T, st.booleans()),
    tm.rotation_vector: st.tuples(T).filter(lambda drawn: np.trace(drawn[0]) > -1 + 1e-9),  # no half turn
    tm.to_exy: st.tuples(T),
    tm.to_Q: guessed_matrices,
    tm.to_T: st.tuples(T),
    tm.to_T_inv: st.tuples(T),
    tm.to_vector: st.tuples(T),
}
#: Functions without numbers among their arguments, or that no symbol can enter.
NUMERIC_ONLY = {
    frames.axis,
    frames.from_scipy,
    frames.null_rotation,
    frames.to_scipy,
    quaternions.null_rotation,
    tm.null_rotation,
}
ANGLES = {
    frames.axes_rotations_angles,
    frames.equality_constraint,
    frames.planar_rotation_angle,
    tm.axes_rotations_angles,
    tm.equality_constraint,
}
#: Helpers that the modules share: they check a sequence and give it back.
CHECKS = {frames.are_parallel, tm.check_axes, tm.check_sequence}


def name(function: Callable[..., Any]) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


all_cases = pytest.mark.parametrize("function", CASES, ids=name)
few_examples = settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much])


def is_static(argument: Any) -> bool:
    return isinstance(argument, (bool, int, tuple))


def parts(value: Any) -> list[Any]:
    """The arrays or symbols that a result or an argument consists of."""
    if isinstance(value, Orientation):
        return [value.T, value.w]
    return list(value) if isinstance(value, tuple) else [value]


def assert_alike(function: Callable[..., Any], found: Any, expected: Any) -> None:
    """Equal to 1e-14, angles modulo a full turn: the sign of a zero makes -pi of pi."""
    if function in ANGLES:
        found, expected = np.exp(1j * np.asarray(found)), np.exp(1j * np.asarray(expected))
    assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


def public_functions(module: ModuleType) -> set[Callable[..., Any]]:
    own = {f for _, f in inspect.getmembers(module, inspect.isfunction) if f.__module__ == module.__name__}
    return {f for f in own if not f.__name__.startswith("_")}


def test_no_function_is_left_out():
    public = {f for f in map(frames.__dict__.get, frames.__all__) if inspect.isfunction(f)}
    public |= public_functions(quaternions) | public_functions(tm)
    assert public - CHECKS == set(CASES) | NUMERIC_ONLY


def symbol_like(S: Any, argument: Any, symbols: list[Any], values: list[Any]) -> Any:
    """A symbol in the place of a numeric argument; both are noted."""
    made = []
    for part in parts(argument):
        value = np.asarray(part)
        made.append(S.sym(f"s{len(symbols)}", *value.shape))
        symbols.append(made[-1])
        values.append(value)
    return Orientation(*made) if isinstance(argument, Orientation) else made[0]


@pytest.mark.slow
@pytest.mark.campaign(keep=12)
@all_cases
@pytest.mark.parametrize("S", [ca.SX, ca.MX])
@given(data=st.data())
@few_examples
def test_symbols_give_what_numbers_give(function, S, data):
    arguments = data.draw(CASES[function])
    dynamic = [i for i, argument in enumerate(arguments) if not is_static(argument)]
    chosen = data.draw(st.sets(st.sampled_from(dynamic), min_size=1))
    symbols: list[Any] = []
    values: list[Any] = []
    mixed = [symbol_like(S, a, symbols, values) if i in chosen else a for i, a in enumerate(arguments)]
    results = parts(function(*mixed))
    independent = [i for i, result in enumerate(results) if not isinstance(result, S)]
    assert not independent
    assert all(result.is_dense() for result in results)
    found = ca.Function("f", symbols, results)(*values)
    for symbolic, numeric in zip(parts(found), parts(function(*arguments)), strict=True):
        expected = np.asarray(numeric)
        assert symbolic.shape == (*expected.shape, 1, 1)[:2]
        assert_alike(function, symbolic.full().reshape(expected.shape), expected)


@pytest.mark.slow
@pytest.mark.campaign(keep=8)
@all_cases
@given(data=st.data())
@few_examples
def test_leading_axes_give_what_single_calls_give(function, data):
    samples = data.draw(st.lists(CASES[function], min_size=2, max_size=3))
    samples = [[s if is_static(s) else a for s, a in zip(samples[0], sample, strict=True)] for sample in samples]

    def joined(arguments: tuple[Any, ...]) -> Any:
        if is_static(arguments[0]):
            return arguments[0]
        stacked = [np.stack(part) for part in zip(*map(parts, arguments), strict=True)]
        return Orientation(*stacked) if isinstance(arguments[0], Orientation) else stacked[0]

    together = parts(function(*map(joined, zip(*samples, strict=True))))
    for i, sample in enumerate(samples):
        for many, single in zip(together, parts(function(*sample)), strict=True):
            shape = (len(samples), *np.shape(single))
            assert_alike(function, np.broadcast_to(many, shape)[i], single)


SPECIAL = {
    "null rotation": np.eye(3),
    "half turn about x": np.diag([1.0, -1.0, -1.0]),
    "half turn about y": np.diag([-1.0, 1.0, -1.0]),
    "half turn about z": np.diag([-1.0, -1.0, 1.0]),
    "half turn about a diagonal": 2 * np.full((3, 3), 1 / 3) - np.eye(3),
    "quarter turn about y, singular for 1-2-3": tm.planar_rotation([0, 1, 0], np.pi / 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("T", SPECIAL.values(), ids=SPECIAL)
@pytest.mark.parametrize(
    "function",
    [
        quaternions.from_T,
        lambda T: tm.axes_rotations_angles(T, (1, 2, 3)),
        lambda T: tm.axes_rotations_angles(T, (3, 1, 3)),
        lambda T: ca.vertcat(*frames.to_axis_angle(Orientation(T, np.zeros(3)))),
    ],
    ids=["from_T", "angles 1-2-3", "angles 3-1-3", "to_axis_angle"],
)
@pytest.mark.parametrize("S", [ca.SX, ca.MX])
def test_derivatives_stay_finite_where_branches_meet(S, function, T):
    x = S.sym("x", 9)
    result = function(ca.reshape(x, 3, 3))
    jacobian = ca.Function("f", [x], [ca.jacobian(result, x)])(T.flatten(order="F"))
    assert np.all(np.isfinite(jacobian.full()))


@pytest.mark.parametrize("n_y", [(0, 1, 0), (1, 0, 0), (0, 0, 0)])
@pytest.mark.parametrize("function", [tm.from_nxy, tm.from_nxz])
@pytest.mark.parametrize("S", [ca.SX, ca.MX])
def test_derivatives_of_axes_from_vectors_stay_finite(S, function, n_y):
    n = S.sym("n", 6)
    jacobian = ca.Function("f", [n], [ca.jacobian(ca.vec(function(n[:3], n[3:])), n)])
    assert np.all(np.isfinite(jacobian([1, 0, 0, *n_y]).full()))
    assert np.all(np.isfinite(jacobian([0, 0, 0, *n_y]).full()))


def test_zeros_and_ones_leave_nothing_behind():
    angle, rate, length = ca.SX.sym("angle"), ca.SX.sym("rate"), ca.SX.sym("length")
    R = frames.planar_rotation(np.array([0.0, 0.0, 1.0]), angle, rate)
    R = frames.absolute_rotation(frames.null_rotation(), R)
    c, s = ca.cos(angle), ca.sin(angle)
    lean = ca.vertcat(ca.vec(ca.vertcat(ca.horzcat(c, s, 0), ca.horzcat(-s, c, 0), ca.horzcat(0, 0, 1))), 0, 0, rate)
    made = ca.vertcat(ca.vec(R.T), R.w)
    assert all(ca.is_equal(made[i], lean[i], 2) for i in range(lean.shape[0]))
    assert ca.is_equal(frames.resolve2(R, (length, 0, 0))[0], c * length, 3)


def test_symbols_in_lists_are_gathered():
    x = ca.SX.sym("x")
    assert str(frames.skew([0, x, 1.0])) == str(frames.skew(ca.vertcat(0, x, 1)))
    turned = frames.resolve_dyade2(frames.null_rotation(), [[x, 0, 0], [0, 2, 0], [x, 0, 3]])
    assert str(turned) == str(ca.densify(ca.vertcat(ca.horzcat(x, 0, 0), ca.horzcat(0, 2, 0), ca.horzcat(x, 0, 3))))


def test_casadi_numbers_are_numbers():
    R = frames.planar_rotation(ca.DM([0, 0, 1]), ca.DM(np.pi / 2), 0)
    assert isinstance(R.T, np.ndarray)
    assert_allclose(frames.resolve2(R, ca.DM([1, 0, 0])), [0, -1, 0], atol=1e-15)


@pytest.mark.parametrize("S", [ca.SX, ca.MX])
def test_results_are_dense_whatever_the_symbols_are(S):
    R = Orientation(S.eye(3), S(3, 1))
    assert R.T.is_dense()
    assert R.w.is_dense()
    assert frames.resolve2(R, S(3, 1)).is_dense()


@pytest.mark.parametrize("guess", [0.1, 3.0, -2.9])
@pytest.mark.parametrize("middle", [-0.4, np.pi / 2])
def test_angles_of_numbers_near_a_guess_that_is_a_symbol(middle: float, guess: float) -> None:
    """Whether the middle angle is singular is known, which solution is nearer is not."""
    R = frames.axes_rotations((1, 2, 3), np.array([0.3, middle, 0.7]), np.zeros(3))
    g = ca.SX.sym("g")
    found = ca.Function("angles", [g], [frames.axes_rotations_angles(R, (1, 2, 3), g)])(guess)
    expected = frames.axes_rotations_angles(R, (1, 2, 3), guess)
    np.testing.assert_allclose(np.ravel(found), expected, atol=1e-12)
    again = frames.axes_rotations((1, 2, 3), np.ravel(found), np.zeros(3))
    np.testing.assert_allclose(again.T, R.T, atol=1e-12)


def test_axes_of_an_orientation_of_symbols_are_its_first_columns() -> None:
    angle = ca.SX.sym("angle")
    R = frames.axes_rotations((1, 2, 3), ca.vertcat(angle, 0.4, -0.3), ca.SX.zeros(3))
    found = np.array(ca.Function("axes", [angle], [frames.to_exy(R)])(0.8))
    T = frames.axes_rotations((1, 2, 3), np.array([0.8, 0.4, -0.3]), np.zeros(3)).T
    np.testing.assert_allclose(found, T[:2].T, atol=1e-15)
