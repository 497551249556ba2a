"""Rotations as MuJoCo has them: quaternions with the scalar first."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mbfmu.importers.geometry import NEGLIGIBLE, clean


def turned(quaternion: np.ndarray) -> dict[str, Any] | None:
    """Modifiers of a FixedRotation for MuJoCo's quaternion (scalar first), None for no rotation."""
    w, axis = float(quaternion[0]), np.asarray(quaternion[1:], dtype=float)
    length = float(np.linalg.norm(axis))
    if length < NEGLIGIBLE:
        return None
    return {"n": clean(axis / length), "angle": math.degrees(2 * math.atan2(length, w))}


def matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix of MuJoCo's quaternion: takes vectors of the turned frame to the other one."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def angles_123(R: np.ndarray) -> tuple[float, ...]:
    """Angles about the x-, the new y- and the new z-axis that give a rotation matrix."""
    middle = math.asin(min(1.0, max(-1.0, R[0, 2])))
    if abs(R[0, 2]) > 1 - 1e-12:
        return clean([math.atan2(R[2, 1], R[1, 1]), middle, 0.0])
    return clean([math.atan2(-R[1, 2], R[2, 2]), middle, math.atan2(-R[0, 1], R[0, 0])])
