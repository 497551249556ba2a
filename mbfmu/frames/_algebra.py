"""The few operations that the formulas of this package are written with, for NumPy arrays and CasADi symbols alike.

NumPy operands may carry leading axes: scalars (...), vectors (..., n), matrices (..., n, n). CasADi operands are 1x1,
n x 1 and n x n. An operation with at least one symbolic operand gives a CasADi result; as long as all operands are
numbers it stays in NumPy, so that constants are folded before they meet a symbol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

SYMBOLS = (ca.SX, ca.MX)


def is_symbolic(*values: Any) -> bool:
    """True if one of the values is a CasADi SX or MX."""
    for value in values:  # noqa: SIM110 - any() takes twice as long, and this is asked for every operand
        if isinstance(value, SYMBOLS):
            return True
    return False


def _elementwise(symbolic: Callable[..., Any], numeric: Callable[..., Any]) -> Callable[..., Any]:
    def operation(*values: Any) -> Any:
        return symbolic(*values) if is_symbolic(*values) else numeric(*values)

    return operation


sin = _elementwise(ca.sin, np.sin)
cos = _elementwise(ca.cos, np.cos)
sqrt = _elementwise(ca.sqrt, np.sqrt)
arctan2 = _elementwise(ca.atan2, np.arctan2)
absolute = _elementwise(ca.fabs, np.abs)
maximum = _elementwise(ca.fmax, np.maximum)


def stack(*scalars: Any) -> Any:
    """The vector of the given scalars."""
    if is_symbolic(*scalars):
        return ca.vertcat(*scalars)
    return np.stack(np.broadcast_arrays(*scalars), axis=-1)


def stack_rows(*rows: Any) -> Any:
    """The matrix of the given row vectors."""
    if is_symbolic(*rows):
        return ca.horzcat(*rows).T
    return np.stack(np.broadcast_arrays(*rows), axis=-2)


def stack_columns(*columns: Any) -> Any:
    """The matrix of the given column vectors."""
    if is_symbolic(*columns):
        return ca.horzcat(*columns)
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def elements(v: Any) -> list[Any]:
    """The scalars of a vector."""
    if is_symbolic(v):
        return [v[i] for i in range(v.shape[0])]
    return [v[..., i] for i in range(v.shape[-1])]


def rows(A: Any) -> list[Any]:
    """The rows of a matrix, as vectors."""
    if is_symbolic(A):
        return [A[i, :].T for i in range(A.shape[0])]
    return [A[..., i, :] for i in range(A.shape[-2])]


def columns(A: Any) -> list[Any]:
    """The columns of a matrix, as vectors."""
    return rows(transpose(A))


def transpose(A: Any) -> Any:
    """A'."""
    return A.T if is_symbolic(A) else np.swapaxes(A, -1, -2)


def matmul(A: Any, B: Any) -> Any:
    """A B, of two matrices."""
    return ca.mtimes(A, B) if is_symbolic(A, B) else A @ B


def matvec(A: Any, x: Any) -> Any:
    """A x, of a matrix and a vector."""
    return ca.mtimes(A, x) if is_symbolic(A, x) else (A @ x[..., None])[..., 0]


def dot(a: Any, b: Any) -> Any:
    """a' b, of two vectors."""
    return ca.dot(a, b) if is_symbolic(a, b) else np.sum(a * b, axis=-1)


def outer(a: Any, b: Any) -> Any:
    """a b', of two vectors."""
    return ca.mtimes(a, ca.transpose(b)) if is_symbolic(a, b) else a[..., :, None] * b[..., None, :]


def scale_vector(s: Any, v: Any) -> Any:
    """s v, of a scalar and a vector."""
    return s * v if is_symbolic(s, v) else np.asarray(s)[..., None] * v


def scale_matrix(s: Any, A: Any) -> Any:
    """s A, of a scalar and a matrix."""
    return s * A if is_symbolic(s, A) else np.asarray(s)[..., None, None] * A


def cross(a: Any, b: Any) -> Any:
    """a x b, of two vectors of length 3."""
    return ca.cross(a, b) if is_symbolic(a, b) else np.cross(a, b)


def skew(v: Any) -> Any:
    """The matrix that forms the cross product: skew(v) b = v x b."""
    x, y, z = elements(v)
    zero = 0 * x
    return stack_rows(stack(zero, -z, y), stack(z, zero, -x), stack(-y, x, zero))


def where(condition: Any, then: Any, otherwise: Any, rank: int = 0) -> Any:
    """`then` where a scalar condition holds, else `otherwise`; both of the given rank (0 scalar, 1 vector, 2 matrix).

    A numeric condition picks its branch at once; only a symbolic one leaves a branch in the expression.
    """
    if is_symbolic(condition):
        return ca.if_else(condition, then, otherwise)
    if is_symbolic(then, otherwise):
        return then if bool(condition) else otherwise
    condition = np.asarray(condition)
    return np.where(condition.reshape(condition.shape + (1,) * rank), then, otherwise)


def to_symbolic(value: Any, like: Any) -> Any:
    """A number, vector or matrix as a constant of the CasADi type of `like`; symbols are returned as they are."""
    return value if is_symbolic(value) else type(like)(ca.DM(value))


def max_abs(values: np.ndarray) -> float:
    """Largest magnitude in a numeric array, NaN if there is one; 0 for an empty array."""
    return float(np.max(np.abs(values))) if values.size else 0.0


def is_unit(v: np.ndarray, tolerance: float) -> bool:
    """Do all vectors of a numeric array have length 1?"""
    return max_abs(dot(v, v) - 1.0) <= 2 * tolerance


def is_rotation(T: np.ndarray, tolerance: float) -> bool:
    """Are all matrices of a numeric array orthonormal, with determinant +1?"""
    return max_abs(T @ transpose(T) - np.eye(3)) <= 2 * tolerance and bool(np.all(np.linalg.det(T) > 0))
