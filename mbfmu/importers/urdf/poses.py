"""Where frames stand in each other: the <origin> of URDF's elements."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import numpy as np

from mbfmu.importers.places import numbers


@dataclasses.dataclass(frozen=True)
class Pose:
    """Position [m] and orientation of a frame in another; `R` takes vectors of the frame to the other one."""

    r: np.ndarray
    R: np.ndarray

    def __matmul__(self, inner: Pose) -> Pose:
        return Pose(self.r + self.R @ inner.r, self.R @ inner.R)


def rotation_of(rpy: np.ndarray) -> np.ndarray:
    """Matrix of URDF's roll, pitch and yaw [rad], turns about the fixed x-, y- and z-axis."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def origin_of(element: Any, path: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """xyz [m] and rpy [rad] of an element's <origin>."""
    origin = element.find("origin")
    if origin is None:
        return np.zeros(3), np.zeros(3)
    zero = (0.0, 0.0, 0.0)
    return (
        np.array(numbers(origin, "xyz", path, 3, zero)),
        np.array(numbers(origin, "rpy", path, 3, zero)),
    )
