"""Vectors of length 3: length, direction and cross product.

Sources: MultiBody.Frames.length, Frames.normalize and Frames.axis; skew and cross are Modelica built-ins. NumPy
operands may carry leading axes (..., 3).
"""

from __future__ import annotations

import numpy as np

from mbfmu.frames import _algebra as alg
from mbfmu.frames._operands import Matrix, Scalar, Vector, operands

#: Below this length `normalize` does not scale to length 1 (100 times the machine epsilon, as the Modelica library).
SMALLEST_LENGTH = 1e-13


@operands
def length(v: Vector) -> Scalar:
    """Length sqrt(v' v) of a vector, in its unit (Modelica's length). Its derivative at v = 0 is undefined."""
    return alg.sqrt(alg.dot(v, v))


@operands
def normalize(v: Vector) -> Vector:
    """Vector of length 1 in the direction of v (Modelica's normalize).

    Vectors shorter than 1e-13 are divided by 1e-13 instead of their length, so the zero vector stays zero.
    """
    return alg.scale_vector(1 / alg.maximum(alg.sqrt(alg.dot(v, v)), SMALLEST_LENGTH), v)


def axis(axis: int) -> np.ndarray:
    """Unit vector along axis 1, 2 or 3, that is x, y or z (Modelica's axis); always numeric.

    Raises:
        ValueError: axis is not 1, 2 or 3.
    """
    if not isinstance(axis, (int, np.integer)) or not 1 <= axis <= 3:
        raise ValueError(f"axis = {axis!r}: expected 1, 2 or 3 (x, y or z)")
    return np.eye(3)[axis - 1]


@operands
def skew(v: Vector) -> Matrix:
    """Matrix that forms the cross product: skew(v) b = v x b (Modelica function skew)."""
    return alg.skew(v)


@operands
def cross(a: Vector, b: Vector) -> Vector:
    """Cross product a x b (Modelica function cross)."""
    return alg.cross(a, b)


def are_parallel(a: np.ndarray, b: np.ndarray) -> bool:
    """True where two numeric vectors (3,) have the same or the opposite direction; False where one of them is zero."""
    return bool(np.linalg.norm(np.cross(a, b)) < 1e-10 * np.linalg.norm(a) * np.linalg.norm(b))
