"""To and from scipy.spatial.transform.Rotation. SciPy is imported when one of the functions is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mbfmu.frames import _algebra as alg
from mbfmu.frames import quaternions
from mbfmu.frames._operands import Orientation

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def to_scipy(R: Orientation) -> Rotation:
    """The SciPy Rotation whose `apply` is `resolve1`: it turns v2 into v1 and has the matrix T'.

    SciPy rotates the vector, T the frame: hence the transpose. Quaternions agree, `to_scipy(R).as_quat()` is `to_Q(R)`
    up to sign. The angular velocity R.w has no place in it.

    Raises:
        ValueError: R is symbolic, or R.T deviates from a rotation by more than 1e-6.
    """
    from scipy.spatial.transform import Rotation

    if alg.is_symbolic(R.T):
        raise ValueError(f"R.T = {R.T}: expected numbers; SciPy does not know CasADi symbols")
    return Rotation.from_quat(quaternions.from_T(R.T))


def from_scipy(rotation: Rotation, w: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)) -> Orientation:
    """The Orientation whose `resolve1` is `rotation.apply`; w [rad/s] is resolved in frame 2, as in `from_T`.

    w has three elements; a Rotation that holds several gives an Orientation with leading axes, T of (..., 3, 3).
    """
    return Orientation(np.swapaxes(rotation.as_matrix(), -1, -2), w)
