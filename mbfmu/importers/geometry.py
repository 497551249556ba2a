"""Vectors, shapes and inertia tensors of files that describe bodies, as parameters of the library's classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from mbfmu.errors import ModelError

#: Lengths and angles below this are none: origins that are given as 1e-17 would only add parts.
NEGLIGIBLE = 1e-14
#: What rounding of printed numbers leaves in an inertia tensor, relative to its largest moment.
NOISE = 1e-6


def clean(vector: Iterable[float]) -> tuple[float, ...]:
    """A vector without the rounding of rotations by right angles."""
    return tuple(0.0 if abs(v) < NEGLIGIBLE else float(v) for v in vector)


def color_of(rgba: Iterable[float]) -> tuple[int, ...]:
    """Red, green and blue from 0 to 255 of a colour whose parts, and perhaps opacity, go from 0 to 1."""
    return tuple(round(255 * float(min(1.0, max(0.0, v)))) for v in list(rgba)[:3])


def solid_placement(
    centre: np.ndarray, R: np.ndarray, columns: tuple[int, int], size: tuple[float, float, float]
) -> dict[str, Any]:
    """Parameters of a solid shape, which Modelica draws from the middle of its left end.

    Args:
        centre: of the solid in the frame, m.
        R: takes vectors of the solid to the frame, (3, 3).
        columns: those of R along which its length and its width run.
        size: length, width and height, m.
    """
    along, across = columns
    return {
        "r_shape": clean(centre - R[:, along] * size[0] / 2),
        "lengthDirection": clean(R[:, along]),
        "widthDirection": clean(R[:, across]),
        "length": size[0],
        "width": size[1],
        "height": size[2],
    }


def mesh_placement(origin: np.ndarray, R: np.ndarray, scale: Iterable[float]) -> dict[str, Any]:
    """Parameters of a shape that is a mesh file.

    Args:
        origin: of the mesh in the frame, m.
        R: takes vectors of the mesh to the frame, (3, 3).
        scale: of the mesh's axes. Of negative ones, which mirror, as many become a rotation as can; the rest is the
            sign of the length.
    """
    factors = np.array(list(scale), dtype=float)
    signs = np.where(factors < 0, -1.0, 1.0)
    mirror = float(np.prod(signs))
    R = R * (signs * (mirror, 1.0, 1.0))
    length, width, height = map(float, np.abs(factors))
    return {
        "r_shape": clean(origin),
        "lengthDirection": clean(R[:, 0]),
        "widthDirection": clean(R[:, 1]),
        "length": mirror * length,
        "width": width,
        "height": height,
        "extra": 1.0,
    }


def plausible_inertia(tensor: np.ndarray, where: str, warn: Callable[[str], None]) -> np.ndarray:
    """An inertia tensor without negative moments of rounding; a warning where no distribution of mass has it.

    Raises:
        ModelError: a moment on the diagonal is negative by more than rounding.
    """
    with np.errstate(over="ignore"):
        tensor = (tensor + tensor.T) / 2
    if not np.all(np.isfinite(tensor)):
        raise ModelError(f"{where}: its moments of inertia are no finite numbers; correct it")
    moments = np.linalg.eigvalsh(tensor)
    largest = float(np.abs(moments).max())
    for i in range(3):
        if tensor[i, i] < 0:
            if tensor[i, i] < -NOISE * largest and tensor[i, i] < -1e-12:
                raise ModelError(
                    f"{where}: moment of inertia {tensor[i, i]:.4g} kg.m2 about axis {'xyz'[i]} is negative; correct it"
                )
            tensor[i, i] = 0.0
    if moments[0] < -NOISE * largest or moments[2] > (moments[0] + moments[1]) + NOISE * largest:
        warn(
            f"{where}: no distribution of mass has the principal moments of inertia "
            f"{', '.join(f'{v:.4g}' for v in moments)} kg.m2 (each is at most the sum of the others); taken as they are"
        )
    return tensor
