"""Time series that the command line shows: a choice of a result's variables, as CSV, picture or table."""

from __future__ import annotations

import csv
import dataclasses
import fnmatch
import math
import pathlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling.component import near

if TYPE_CHECKING:
    from mbfmu.dynamics.system import System
    from mbfmu.simulate import Result


@dataclasses.dataclass(frozen=True)
class Series:
    """Variables over time: every column has the length of `time` [s]; `units` has an entry per column."""

    time: np.ndarray
    columns: Mapping[str, np.ndarray]
    units: Mapping[str, str]


def choose(result: Result, system: System, patterns: str | None) -> Series:
    """Take the variables that match comma-separated patterns; without patterns the outputs, else the states.

    Raises `ModelError` for a pattern that nothing matches.
    """
    moving = {v.name: v for v in system.variables if v.variability == "continuous" and v.causality != "independent"}
    if patterns:
        names = [name for pattern in patterns.split(",") for name in matching(pattern.strip(), list(moving))]
    else:
        names = [name for name, v in moving.items() if v.causality == "output"] or [
            name for name, v in moving.items() if v.store == "x"
        ]
    names = list(dict.fromkeys(names))
    return Series(
        time=np.asarray(result.time),
        columns={name: np.asarray(result[name]) for name in names},
        units={name: moving[name].unit or "" for name in names},
    )


def matching(pattern: str, names: list[str]) -> list[str]:
    """Return the names that are the pattern or match it; `[` stands for itself, as in `r_0[1]`."""
    found = fnmatch.filter(names, pattern.replace("[", "[[]"))
    if not found:
        raise ModelError(f"--variables {pattern}: no variable matches; {near(pattern, names)}")
    return found


def write_csv(series: Series, path: pathlib.Path) -> None:
    """Write one row per time, with the variables' names as header and 12 digits."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *series.columns])
        for row in zip(series.time, *series.columns.values(), strict=True):
            writer.writerow([f"{value:.12g}" for value in row])


def figure(rows: int, columns: int = 1, **options: Any) -> tuple[Any, Any]:
    """Return a Matplotlib figure without a window system, and its axes as an array of shape [rows, columns]."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    result = Figure(layout="constrained", **options)
    FigureCanvasAgg(result)
    return result, result.subplots(rows, columns, squeeze=False)


def draw(series: Series, title: str, path: pathlib.Path) -> None:
    """Draw variables over time, one panel per unit, and write the picture in the format of the path's suffix."""
    units = list(dict.fromkeys(series.units.values()))
    picture, axes = figure(len(units), figsize=(8, 1 + 2.4 * len(units)))
    for unit, panel in zip(units, axes[:, 0], strict=True):
        for name, values in series.columns.items():
            if series.units[name] == unit:
                panel.plot(series.time, values, label=name)
        panel.set_ylabel(unit or "-")
        panel.grid(alpha=0.3)
        panel.legend(loc="upper right", fontsize="small", ncols=math.ceil(len(series.columns) / 8))
    axes[0, 0].set_title(title)
    axes[-1, 0].set_xlabel("time in s")
    picture.savefig(path)
