"""Mode shapes as scenes: a mechanism that swings in one of its modes."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from mbfmu.dynamics.showing.drawing import DEFORMED, SURFACE
from mbfmu.errors import ModelError
from mbfmu.runtime import arguments
from mbfmu.runtime.result import Result, arrays_of
from mbfmu.runtime.run import Value
from mbfmu.scene.meshes import Deformed, surface_arrays
from mbfmu.scene.writing import check_target, needed_variables, write_animation
from mbfmu.sources import resolved
from mbfmu.studies import operating
from mbfmu.studies.linearize import At, modes_of, point_of
from mbfmu.studies.operating import Mechanics

if TYPE_CHECKING:
    from mbfmu.dynamics.showing.scene import Scene
    from mbfmu.dynamics.system import System
    from mbfmu.modeling.assembly import Assembly

#: Pictures of one period.
PICTURES = 60
#: Greatest displacement of a coordinate, rad or m; less where that bends a body by a greater part of its size.
DISPLACEMENT, BENT = 0.2, 0.15


def animate_mode(
    assembly: Assembly | System | str | os.PathLike[str],
    path: str | os.PathLike[str],
    mode: int = 1,
    at: At = "start",
    *,
    size: float | None = None,
    duration: float = 2.0,
    start_values: Mapping[str, Value] | None = None,
) -> pathlib.Path:
    """Write a period of a mode as an animation, .html or .glb, and return the path.

    The mechanism moves from the point along the mode shape, `x0 + Re(shape exp(i phase))` in its independent
    coordinates, and stays on its constraints; the growth or decay of the mode is left out.

    Args:
        assembly: An Assembly, or a System that was made of one with its scene.
        path: File to write, as `animate` takes it.
        mode: Number of the eigenvalue among those of `linearize(...).eigenvalues`, from 1.
        at, start_values: The point, as for `linearize`.
        size: Greatest displacement of a coordinate, rad or m; None: 0.2, or less where a body that bends would be drawn
            bent by more than 0.15 of its size.
        duration: How long the period takes in the picture, s.

    Raises:
        ModelError: There is no such mode, it moves no position, or the mechanism cannot follow it that far.
        MbfmuError: The path has another suffix, nothing is drawn, or something that it takes is not installed.
    """
    from mbfmu.dynamics.system import System

    target = check_target(pathlib.Path(path))
    system = System.of(resolved(assembly), scene=True)
    needed = needed_variables(system, target)
    t, x, u, P, m = point_of(system, at, start_values)
    mechanics = Mechanics(system.equations, P)
    reduced = operating.reduce(mechanics, t, x, u, m)
    eigenvalues, shapes = modes_of(operating.derivatives(mechanics, reduced, t, x, u, m).A)
    if not 1 <= arguments.whole(mode, f"{system.name}: mode", 1) <= eigenvalues.size:
        raise ModelError(f"{system.name}: there is no mode {mode}; there are 1 .. {eigenvalues.size}")
    count = len(reduced.positions)
    shape = shapes[:count, mode - 1]
    if np.abs(shape).max(initial=0.0) < 1e-9:
        raise ModelError(f"{system.name}: mode {mode} moves no position; choose another one")
    shape = shape / shape[np.abs(shape).argmax()]
    variables = operating.find_variables(system.name, system.variables, needed)

    def pictures(size: float, phases: np.ndarray) -> dict[str, np.ndarray]:
        """Variables by name, at each phase."""
        rows = []
        for phase in phases:
            s = np.zeros(reduced.embedding.shape[1])
            s[:count] = (size * shape * np.exp(1j * phase)).real
            moved = mechanics.project(t, x + reduced.embedding @ s, u, m)
            if moved is None:
                raise ModelError(f"{system.name}: it cannot move by {size:g} along mode {mode}; choose a smaller size")
            w = mechanics.accelerations(t, moved, u, m)
            rows.append(operating.values_at(mechanics, variables, (t, moved, u, m), w))
        return dict(zip((v.name for v in variables), np.array(rows).T, strict=True))

    if size is None:
        small = 1e-3 * DISPLACEMENT  # which bends nothing too far
        bent = DISPLACEMENT / small * _bent(system.scene, pictures(small, np.array((0.0, 0.5, 1.0)) * np.pi))
        size = DISPLACEMENT * min(1.0, BENT / max(bent, 1e-300))
    series = pictures(size, np.linspace(0.0, 2 * np.pi, PICTURES + 1))
    times = np.linspace(0.0, duration, PICTURES + 1)
    return write_animation(system, Result(system.name, times, series, arrays=arrays_of(variables)), target)


def _bent(scene: Scene | None, series: Mapping[str, np.ndarray]) -> float:
    """By which part of its size a body that bends is drawn bent at most, about the mean of the pictures."""
    most, steps = 0.0, range(len(next(iter(series.values()), ())))
    for shape in scene.shapes if scene else ():
        if shape.type not in (DEFORMED, SURFACE):
            continue
        values = [[float(series[q][k]) if isinstance(q, str) else q for q in shape.extra] for k in steps]
        if shape.type == DEFORMED:
            bodies = map(Deformed.of, values)
            moved = np.array([one.points + np.tensordot(one.factors, one.displacements, 1) for one in bodies])
        else:
            moved = np.array([surface_arrays(np.array(one))[0].reshape(-1, 3) for one in values])
        ways = np.linalg.norm(moved - (moved[0] + moved[-1]) / 2, axis=2)
        most = max(most, float(ways.max() / max(np.ptp(moved[0], axis=0).max(), 1e-300)))
    return most
