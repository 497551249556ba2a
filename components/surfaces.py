"""Points of surfaces (MultiBody.Visualizers.Advanced.SurfaceCharacteristics 4.1): matrices X, Y, Z [m] of (nu, nv)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: X, Y, Z [m]: (nu, nv) numbers, or expressions of them, each.
Points = tuple[Any, Any, Any]


def rectangle(nu: int, nv: int, lu: Any = 1.0, lv: Any = 3.0) -> Points:
    """A rectangle of lengths lu and lv [m] about the origin, in the plane z = 0."""
    u, v = _grid(nu, nv)
    return lu * (u - 0.5), lv * (v - 0.5), np.zeros((nu, nv))


def torus(
    nu: int,
    nv: int,
    R: Any = 1.0,
    r: Any = 0.2,
    opening: Any = 0.0,
    startAngle: Any = -math.pi,
    stopAngle: Any = math.pi,
) -> Points:
    """A torus about the y-axis, with major radius R and minor radius r [m], open inside by an angle [rad]."""
    u, v = _grid(nu, nv)
    alpha, beta = startAngle + (stopAngle - startAngle) * u, (math.pi - opening) * (2 * v - 1)
    out = R + r * np.cos(beta)
    return out * np.sin(alpha), r * np.sin(beta), out * np.cos(alpha)


def pipe(nu: int, nv: int, rOuter: Any, length: Any) -> Points:
    """The side of a cylinder of radius rOuter and a length [m] along the x-axis."""
    u, v = _grid(nu, nv)
    return length * u, rOuter * np.sin(2 * math.pi * v), rOuter * np.cos(2 * math.pi * v)


def _grid(nu: int, nv: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of u and v, 0 to 1."""
    u, v = np.meshgrid(np.linspace(0, 1, nu), np.linspace(0, 1, nv), indexing="ij")
    return u, v
