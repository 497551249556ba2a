"""Orientation algebra: the functions of MultiBody.Frames, for NumPy arrays and CasADi symbols.

An `Orientation` R describes the rotation of a frame 1 into a frame 2 by the matrix T (`v2 = T v1`) and the angular
velocity w of frame 2 with respect to frame 1, resolved in frame 2. Functions carry the names of MultiBody.Frames in
snake_case and its order of arguments; docs/frames.md lists them with formulas and singularities. `quaternions` and
`transformation_matrices` hold the same vocabulary for bare quaternions and matrices.

From one source for numbers and symbols: where one argument is a CasADi SX or MX the result is CasADi (vectors 3x1,
matrices 3x3, dense), otherwise NumPy, where leading axes of arguments broadcast (vectors (..., 3), matrices
(..., 3, 3)). Numbers are checked and refused with a ValueError; of symbols only the shape is.
"""

from mbfmu.frames import quaternions, transformation_matrices
from mbfmu.frames._operands import Orientation
from mbfmu.frames._orientations import (
    absolute_rotation,
    angular_velocity1,
    angular_velocity2,
    axes_rotations,
    axes_rotations_angles,
    axis_rotation,
    equality_constraint,
    from_nxy,
    from_nxz,
    from_Q,
    from_T,
    from_T2,
    from_T_inv,
    inverse_rotation,
    null_rotation,
    orientation_constraint,
    planar_rotation,
    relative_rotation,
    resolve1,
    resolve2,
    resolve_dyade1,
    resolve_dyade2,
    resolve_relative,
    small_rotation,
    to_axis_angle,
    to_exy,
    to_Q,
    to_T,
    to_T_inv,
    to_vector,
)
from mbfmu.frames._scipy import from_scipy, to_scipy
from mbfmu.frames.transformation_matrices import planar_rotation_angle, rotation_vector
from mbfmu.frames.vectors import are_parallel, axis, cross, length, normalize, skew

__all__ = [
    "Orientation",
    "absolute_rotation",
    "angular_velocity1",
    "angular_velocity2",
    "are_parallel",
    "axes_rotations",
    "axes_rotations_angles",
    "axis",
    "axis_rotation",
    "cross",
    "equality_constraint",
    "from_Q",
    "from_T",
    "from_T2",
    "from_T_inv",
    "from_nxy",
    "from_nxz",
    "from_scipy",
    "inverse_rotation",
    "length",
    "normalize",
    "null_rotation",
    "orientation_constraint",
    "planar_rotation",
    "planar_rotation_angle",
    "quaternions",
    "relative_rotation",
    "resolve1",
    "resolve2",
    "resolve_dyade1",
    "resolve_dyade2",
    "resolve_relative",
    "rotation_vector",
    "skew",
    "small_rotation",
    "to_Q",
    "to_T",
    "to_T_inv",
    "to_axis_angle",
    "to_exy",
    "to_scipy",
    "to_vector",
    "transformation_matrices",
]
