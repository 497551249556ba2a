"""CPU time over error at the end of a run: native FMUs through FMPy against the peers at their best.

A peer has contenders: ways and settings, of which the one counts that is the quickest at the error aimed at.
"""

from __future__ import annotations

import functools
import math
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import mbfmu
from benchmarks.linkage import Linkage
from benchmarks.mechanisms import DOUBLE_PENDULUM, FOUR_BAR, PLANAR_FOUR_BAR, Mechanism, four_bar_chain, scissor_lift
from benchmarks.peers import exudyn, mujoco, pinocchio
from benchmarks.precision import TARGET, Point, time_at
from benchmarks.timing import run_time
from benchmarks.unit import Unit
from mbfmu.fmus.double_pendulum import DoublePendulum
from mbfmu.fmus.four_bar import FourBar
from mbfmu.fmus.planar_four_bar import PlanarFourBar

MECHANISMS = (DOUBLE_PENDULUM, PLANAR_FOUR_BAR, FOUR_BAR, scissor_lift(10), four_bar_chain(10))
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

#: A sweep ends where a run takes longer than this, s.
LONGEST = 5.0


#: A run at a setting: its CPU time, s, and the coordinates at its end.
Timed = Callable[[float], tuple[float, np.ndarray]]


def measure(
    mechanism: Mechanism, folder: pathlib.Path, settings: slice = slice(None), program: pathlib.Path | None = None
) -> dict[str, Any]:
    """Return the points (setting, CPU time in s, error in rad) of every tool, and its time at the target.

    `settings` picks from those of each tool. All start at the same state, that of our FMU, and make one call to the
    stop time; the FMU also makes steps of 10 ms. The error is the greatest of all coordinates at the end. Pinocchio
    runs from C++ where its program is given.

    Raises:
        AssertionError: Our reference and Pinocchio's do not agree.
    """
    name = mechanism.gallery or mechanism.title.replace(" ", "_")
    assembly = ASSEMBLIES[name]() if mechanism.gallery else Linkage(mechanism)
    fmu = mbfmu.build(assembly, folder / f"{name}.fmu", target="native")
    unit = Unit(fmu, folder / name)
    coordinates = [link.position for link in mechanism.links]
    speeds = [link.speed for link in mechanism.links]
    if not mechanism.gallery:
        coordinates, speeds = Linkage.names(mechanism, "position"), Linkage.names(mechanism, "speed")

    def ours(step: float, tolerance: float) -> Callable[[], np.ndarray]:
        unit.start(tolerance)

        def run() -> np.ndarray:
            unit.advance(round(mechanism.stop_time / step), step)
            return np.array(unit.get(coordinates))

        return run

    unit.start(FINEST)
    q, v = np.array(unit.get(coordinates)), np.array(unit.get(speeds))
    reference = ours(STEP, FINEST)()
    by_pinocchio = _by_pinocchio(mechanism, q, v, program)
    difference = float(np.abs(next(iter(by_pinocchio.values()))(FINEST)[1] - reference).max())
    assert difference < AGREEMENT, f"{name}: Pinocchio ends {difference:.1e} rad from the reference"

    contenders: dict[str, tuple[Mapping[str, Timed], Sequence[float]]] = {
        "mbfmu": ({"": _timed(functools.partial(ours, mechanism.stop_time))}, TOLERANCES),
        "mbfmu_in_steps": ({"": _timed(functools.partial(ours, STEP))}, TOLERANCES),
        "pinocchio": (by_pinocchio, pinocchio.SETTINGS),
        "mujoco": ({"": _timed(mujoco.runs(mechanism, q, v))}, mujoco.SETTINGS),
        "exudyn": (
            {how: _timed(exudyn.runs(mechanism, q, v, how)) for how in exudyn.variants(mechanism)},
            exudyn.settings(mechanism),
        ),
    }
    points, chosen, times = {}, {}, {}
    for tool, (variants, values) in contenders.items():
        found = {how: _sweep(run, values[settings], reference) for how, run in variants.items()}
        reached = {how: time_at(sweep, TARGET) for how, sweep in found.items()}
        best = min(found, key=lambda how: (reached[how] or math.inf, _least_error(found[how])))
        points[tool], chosen[tool], times[tool] = found[best], best, reached[best]
    unit.close()
    return {
        "mechanism": name,
        "title": mechanism.title,
        "agreement": difference,
        "points": points,
        "chosen": chosen,
        "time_at_target": times,
    }


def _least_error(points: Sequence[Point]) -> float:
    return min((point.error for point in points), default=math.inf)


def _by_pinocchio(mechanism: Mechanism, q: np.ndarray, v: np.ndarray, program: pathlib.Path | None) -> dict[str, Timed]:
    if program is None:
        return {"DOP853, from Python": _timed(pinocchio.runs(mechanism, q, v))}
    return {
        f"{way[0]} {way[1]:g}, {pair.__name__}" if mechanism.closures else pair.__name__: pinocchio.runs_from_cpp(
            program, mechanism, q, v, way, pair
        )
        for way in pinocchio.ways(mechanism)
        for pair in pinocchio.PAIRS
    }


def _timed(run: Callable[[float], Callable[[], np.ndarray]]) -> Timed:
    return lambda setting: run_time(functools.partial(run, setting))


def _sweep(run: Timed, settings: Sequence[float], reference: np.ndarray) -> list[Point]:
    points = []
    for setting in settings:
        spent, end = run(setting)
        error = float(np.abs(end - reference).max())
        if math.isfinite(error):
            points.append(Point(setting, spent, error))
        if not error > EXACT or spent > LONGEST:
            break
    return points
