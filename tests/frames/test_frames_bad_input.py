"""Bad input is refused with a message that gives the value and the expectation."""

from __future__ import annotations

import inspect

import casadi as ca
import numpy as np
import pytest

from mbfmu import frames
from mbfmu.frames import Orientation, quaternions
from mbfmu.frames import transformation_matrices as tm

R = frames.null_rotation()
ZERO = np.zeros(3)
X, Y = np.eye(3)[:2]
SKEWED = np.array([[1.0, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
MIRROR = np.diag([1.0, 1.0, -1.0])
SYMBOL = ca.SX.sym("symbol", 3)

BAD = {
    "vector of four": (
        lambda: frames.resolve2(R, [1, 2, 3, 4]),
        r"v1 = \[1, 2, 3, 4\]: shape \(4,\), expected \(..., 3",
    ),
    "column array": (lambda: frames.resolve1(R, np.ones((3, 1))), r"v2 = .*: shape \(3, 1\), expected \(..., 3\)"),
    "matrix 2x2": (lambda: Orientation(np.eye(2), ZERO), r"T = .*: shape \(2, 2\), expected \(..., 3, 3\)"),
    "w of two": (lambda: Orientation(np.eye(3), [1, 2]), r"w = \[1, 2\]: shape \(2,\), expected \(..., 3\)"),
    "ragged": (lambda: Orientation([[1, 0, 0], [0, 1]], ZERO), r"T = .*: expected numbers of shape \(..., 3, 3\)"),
    "words": (lambda: frames.length(["a", "b", "c"]), r"v = \['a', 'b', 'c'\]: expected numbers, or symbols"),
    "object array": (lambda: frames.length(np.array([SYMBOL[0], 0, 0], dtype=object)), "v = .*: expected numbers"),
    "row symbol": (lambda: frames.length(SYMBOL.T), r"v: CasADi value of shape \(1, 3\), expected \(3, 1\)"),
    "row DM": (lambda: frames.length(ca.DM.zeros(1, 3)), r"v: CasADi value of shape \(1, 3\), expected \(3, 1\)"),
    "no Orientation": (lambda: frames.resolve1(np.eye(3), ZERO), r"R = array.*: expected an Orientation"),
    "SX with MX": (
        lambda: frames.cross(SYMBOL, ca.MX.sym("m", 3)),
        "a is SX and b is MX: expected symbols of one type",
    ),
    "SX with MX in a record": (lambda: Orientation(ca.SX.eye(3), ca.MX.sym("m", 3)), "T is SX and w is MX"),
    "samples with symbols": (lambda: frames.cross(np.ones((5, 3)), SYMBOL), r"a: numbers of shape \(5, 3\)"),
    "from_T skewed": (lambda: frames.from_T(SKEWED, ZERO), "T = .*: expected an orthonormal matrix with determinant"),
    "from_T mirror": (lambda: frames.from_T(MIRROR, ZERO), "T = .*: expected an orthonormal matrix with determinant"),
    "from_T NaN": (lambda: frames.from_T(np.full((3, 3), np.nan), ZERO), "T = .*: expected an orthonormal matrix"),
    "from_T2 skewed": (lambda: frames.from_T2(SKEWED, np.zeros((3, 3))), "T = .*: expected an orthonormal matrix"),
    "from_T_inv skewed": (lambda: frames.from_T_inv(SKEWED, ZERO), "T_inv = .*: expected an orthonormal matrix"),
    "tm.from_T skewed": (lambda: tm.from_T(SKEWED), "T = .*: expected an orthonormal matrix"),
    "tm.to_Q mirror": (lambda: tm.to_Q(MIRROR), "T = .*: expected an orthonormal matrix"),
    "one of several": (lambda: frames.from_T(np.stack([np.eye(3), SKEWED]), ZERO), "expected an orthonormal matrix"),
    "to_Q skewed": (lambda: frames.to_Q(Orientation(SKEWED, ZERO)), "T = .*: expected an orthonormal matrix"),
    "to_scipy symbols": (lambda: frames.to_scipy(Orientation(ca.SX.eye(3), ZERO)), "R.T = .*: expected numbers"),
    "zero quaternion": (lambda: frames.from_Q(np.zeros(4), ZERO), r"Q = array.*: expected a unit quaternion"),
    "long quaternion": (lambda: quaternions.to_T([0, 0, 0, 2]), r"Q = \[0, 0, 0, 2\]: expected a unit quaternion"),
    "zero axis": (lambda: frames.planar_rotation(ZERO, 1, 0), "e = .*: expected a vector of length 1"),
    "long axis": (lambda: frames.planar_rotation([1, 1, 0], 1, 0), r"e = \[1, 1, 0\]: expected a vector of length 1"),
    "axis 0": (lambda: frames.axis(0), "axis = 0: expected 1, 2 or 3"),
    "axis 1.0": (lambda: frames.axis_rotation(1.0, 0, 0), "axis = 1.0: expected 1, 2 or 3"),
    "sequence 4": (
        lambda: frames.axes_rotations((1, 2, 4), ZERO, ZERO),
        r"sequence = \(1, 2, 4\): expected three axis",
    ),
    "sequence short": (lambda: tm.axes_rotations((1, 2), ZERO), r"sequence = \(1, 2\): expected three axis numbers"),
    "sequence 0": (lambda: frames.axes_rotations_angles(R, (0, 2, 3)), r"sequence = \(0, 2, 3\): expected three axis"),
    "neighbours 1-1": (lambda: frames.axes_rotations_angles(R, (1, 1, 3)), r"sequence = \(1, 1, 3\): .* that differ"),
    "neighbours 3-3": (lambda: tm.axes_rotations_angles(R.T, (1, 3, 3)), r"sequence = \(1, 3, 3\): .* that differ"),
    "v1 along e": (lambda: frames.planar_rotation_angle(X, 2 * X, X), r"v1 = .*: parallel to the axis e = "),
    "v1 zero": (lambda: frames.planar_rotation_angle(X, ZERO, X), r"v1 = .*: parallel to the axis e = "),
    "n_x zero": (
        lambda: frames.from_nxy(ZERO, Y, fallback=False),
        r"n_x = \[0. 0. 0.\]: expected a vector that is not",
    ),
    "n_y along n_x": (lambda: frames.from_nxy(Y, -Y, fallback=False), r"n_y = .*: expected a vector .* not parallel"),
    "n_z along n_x": (
        lambda: frames.from_nxz(Y, 2 * Y, fallback=False),
        r"n_z = .*: expected a vector .* not parallel",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_refused_with_value_and_expectation(call, message):
    with pytest.raises(ValueError, match=rf"(?s){message}"):
        call()


#: They take arrays of the house only, or what is another library's.
OTHERS = {"are_parallel", "from_scipy", "to_scipy", "operands"}
FUNCTIONS = {
    f"{module.__name__}.{name}": function
    for module in (frames, quaternions, tm)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if "return" in function.__annotations__
    and inspect.signature(function).parameters
    and name not in OTHERS
    and name[0] != "_"
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_refuses_words(name):
    required = [
        p.name for p in inspect.signature(FUNCTIONS[name]).parameters.values() if p.default is inspect.Parameter.empty
    ]
    with pytest.raises(ValueError, match=rf"^({'|'.join(required)}) = 'words': expected"):
        FUNCTIONS[name](*["words"] * len(required))


def test_rounding_passes():
    T = np.round(tm.planar_rotation([0.6, 0.0, 0.8], 0.3), 7)
    assert np.max(np.abs(frames.from_T(T, ZERO).T - T)) == 0
    assert np.max(np.abs(frames.orientation_constraint(Orientation(T, ZERO)))) > 0


def test_symbols_are_trusted():
    T = frames.from_T(ca.SX.ones(3, 3), ZERO).T
    assert ca.DM(T).full().tolist() == np.ones((3, 3)).tolist()
    assert frames.from_nxy(SYMBOL, SYMBOL, fallback=False).T.shape == (3, 3)
