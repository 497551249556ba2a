"""What the tests of this folder draw from; rotations come from SciPy, which is the oracle of most of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from mbfmu import frames
from mbfmu.frames import Orientation

SEQUENCES = [s for s in product((1, 2, 3), repeat=3) if s[0] != s[1] and s[1] != s[2]]

#: Tiny, so that a special rotation or angle is met exactly, nearly, and at the threshold of every branch.
nudges = st.sampled_from([0.0, 0.0, 1e-16, 1e-13, 1e-12, 1e-10, 1e-8, 1e-5, 1e-3])
numbers = st.floats(-2, 2, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
four_vectors = st.tuples(numbers, numbers, numbers, numbers).map(np.array)
matrices = st.tuples(vectors, vectors, vectors).map(np.array)
sequences = st.sampled_from(SEQUENCES)
angles = st.one_of(
    st.floats(-np.pi, np.pi, allow_subnormal=False),
    st.builds(lambda quarter, nudge: quarter * np.pi / 2 + nudge, st.integers(-2, 2), nudges),
)
three_angles = st.tuples(angles, angles, angles).map(np.array)


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


nonzero_vectors = vectors.filter(lambda v: np.linalg.norm(v) > 0.1)
unit_vectors = st.one_of(nonzero_vectors.map(unit), st.sampled_from([*np.eye(3), *-np.eye(3)]))
unit_quaternions = st.one_of(
    four_vectors.filter(lambda Q: np.linalg.norm(Q) > 0.1).map(unit),
    st.sampled_from([*np.eye(4), *-np.eye(4)]),
)


@st.composite
def rotations(draw: Callable[..., Any]) -> Rotation:
    """Any rotation; often a half turn or one of the 24 that map axes to axes, or a nudge away from these."""
    kind = draw(st.sampled_from(("any", "any", "half turn", "axes")))
    if kind == "any":
        return Rotation.from_quat(draw(unit_quaternions))
    if kind == "half turn":
        special = Rotation.from_rotvec(np.pi * draw(unit_vectors))
    else:
        special = Rotation.create_group("O")[draw(st.integers(0, 23))]
    return special * Rotation.from_rotvec(draw(nudges) * draw(unit_vectors))


def matrix(rotation: Rotation) -> np.ndarray:
    """T of SciPy's rotation: SciPy turns v2 into v1."""
    return np.swapaxes(rotation.as_matrix(), -1, -2)


rotation_matrices = rotations().map(matrix)
orientations = st.builds(Orientation, rotation_matrices, vectors)


def motion(start: Rotation, rate: np.ndarray, bend: np.ndarray) -> Callable[[float], np.ndarray]:
    """A smooth motion t -> T(t), made by SciPy alone."""
    return lambda t: matrix(start * Rotation.from_rotvec(rate * t + bend * np.sin(t)))


motions = st.builds(motion, rotations(), vectors, vectors)
times = st.floats(0, 1)
STEP = 1e-5


def derivative(f: Callable[[float], np.ndarray], t: float) -> np.ndarray:
    """Central difference of fourth order; its error is below 1e-8 for the motions above."""
    near, far = f(t + STEP) - f(t - STEP), f(t + 2 * STEP) - f(t - 2 * STEP)
    return (8 * near - far) / (12 * STEP)


def angular_velocity(T: Callable[[float], np.ndarray], t: float) -> np.ndarray:
    """w of a motion from its numerical derivative, by the definition skew(w) = T der(T')."""
    W = T(t) @ derivative(T, t).T
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


def moving(T: Callable[[float], np.ndarray], t: float) -> Orientation:
    """The Orientation of a motion at time t."""
    return frames.from_T(T(t), angular_velocity(T, t))
