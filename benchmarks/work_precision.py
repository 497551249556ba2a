"""CPU time over error at the end of a run: native FMUs through FMPy against the peers' own integrators."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mbfmu
from benchmarks.mechanisms import DOUBLE_PENDULUM, FOUR_BAR, PLANAR_FOUR_BAR, Mechanism
from benchmarks.peers import exudyn, mujoco, pinocchio
from benchmarks.precision import TARGET, Point, time_at
from benchmarks.timing import run_time
from benchmarks.unit import Unit
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.fmus.four_bar import FourBar
from mbfmu.fmus.planar_four_bar import PlanarFourBar

MECHANISMS = (DOUBLE_PENDULUM, PLANAR_FOUR_BAR, FOUR_BAR)
ASSEMBLIES = {
    "double_pendulum": DoublePendulum,
    "planar_four_bar": PlanarFourBar,
    "four_bar": FourBar,
}

#: Distance of the communication points of an FMU, s.
STEP = 0.01

#: Tolerances of the FMU, and the one of the reference.
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
FINEST = 1e-12

#: Our reference and Pinocchio's run at the same tolerance agree to this, rad.
AGREEMENT = TARGET / 100

#: A sweep ends where a run is as exact as the reference is known to be, rad.
EXACT = 1e-9


def measure(mechanism: Mechanism, folder: pathlib.Path, settings: slice = slice(None)) -> dict[str, Any]:
    """Return the points (setting, CPU time in s, error in rad) of every tool, and its time at the target.

    `settings` picks from those of each tool. All start at the same state, that of our FMU; the error is the greatest of
    all coordinates at the end.

    Raises
    ------
    AssertionError
        Our reference and Pinocchio's do not agree.
    """
    fmu = mbfmu.build(ASSEMBLIES[mechanism.gallery](), folder / f"{mechanism.gallery}.fmu", target="native")
    unit = Unit(fmu, folder / mechanism.gallery)
    coordinates = [link.position for link in mechanism.links]
    steps = round(mechanism.stop_time / STEP)

    def ours(tolerance: float) -> Callable[[], np.ndarray]:
        unit.start(tolerance)

        def run() -> np.ndarray:
            unit.advance(steps, STEP)
            return np.array(unit.get(coordinates))

        return run

    unit.start(FINEST)
    q = np.array(unit.get(coordinates))
    v = np.array(unit.get([link.speed for link in mechanism.links]))
    reference = ours(FINEST)()
    by_pinocchio = pinocchio.runs(mechanism, q, v)
    difference = float(np.abs(by_pinocchio(FINEST)() - reference).max())
    assert difference < AGREEMENT, f"{mechanism.gallery}: Pinocchio ends {difference:.1e} rad from the reference"

    contenders: dict[str, tuple[Callable[[float], Callable[[], np.ndarray]], Sequence[float]]] = {
        "mbfmu": (ours, TOLERANCES),
        "pinocchio": (by_pinocchio, pinocchio.SETTINGS),
        "mujoco": (mujoco.runs(mechanism, q, v), mujoco.SETTINGS),
        "exudyn": (exudyn.runs(mechanism, q, v), exudyn.settings(mechanism)),
    }
    points = {name: _sweep(run, values[settings], reference) for name, (run, values) in contenders.items()}
    unit.close()
    return {
        "mechanism": mechanism.gallery,
        "title": mechanism.title,
        "agreement": difference,
        "points": points,
        "time_at_target": {name: time_at(found, TARGET) for name, found in points.items()},
    }


def _sweep(
    run: Callable[[float], Callable[[], np.ndarray]], settings: Sequence[float], reference: np.ndarray
) -> list[Point]:
    points = []
    for setting in settings:
        spent, end = run_time(functools.partial(run, setting))
        error = float(np.abs(end - reference).max())
        points.append(Point(setting, spent, error))
        if error < EXACT:
            break
    return points
