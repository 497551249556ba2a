"""From a model to an animation: run it, and write the motion as .glb or as a page."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mbfmu.dynamics.system import System
from mbfmu.runtime.run import Value
from mbfmu.scene.motion import largest_turn, motion
from mbfmu.scene.writing import check_target, needed_variables, write_animation
from mbfmu.simulation import simulate

if TYPE_CHECKING:
    from mbfmu.modeling.assembly import Assembly

#: Parts turn by at most so much [rad] between two recorded instants where no step is given; so many runs see to it.
_TURN, _REFINEMENTS = 0.5, 4


def animate(
    assembly: Assembly | System,
    path: str | os.PathLike[str],
    stop_time: float | None = None,
    *,
    start_time: float | None = None,
    step: float | None = None,
    tolerance: float | None = None,
    start_values: Mapping[str, Value] | None = None,
    progress: Callable[[float], None] | None = None,
) -> pathlib.Path:
    """Simulate an assembly and write its motion as an animation; returns the path.

    Parameters
    ----------
    assembly
        An Assembly, or the System that `System.of(assembly, scene=True)` made of one.
    path
        `.html`: a page that shows it in a browser, from disk and without a network; `.glb`: binary glTF 2.0.
    stop_time, start_time, step, tolerance, start_values, progress
        As those of `simulate`; without a step, what turns fast is recorded more often than 500 times.

    Raises
    ------
    ModelError, InitializationError, SimulationError
        As `simulate` does.
    MbfmuError
        The path has another suffix, nothing is drawn, or something that it takes is not installed.
    """
    target = check_target(pathlib.Path(path))
    system, given = System.of(assembly, scene=True), step is not None
    names = needed_variables(system, target)
    for _ in range(_REFINEMENTS):
        result = simulate(
            system,
            stop_time,
            start_time=start_time,
            step=step,
            tolerance=tolerance,
            start_values=start_values,
            outputs=names,
            progress=progress,
        )
        turn = largest_turn(motion(system.scene, result.time, result)) if system.scene and not given else 0.0
        if turn <= _TURN:
            break
        step = float(result.time[-1] - result.time[0]) / (result.time.size - 1) * _TURN / turn * 0.8
    return write_animation(system, result, target)
