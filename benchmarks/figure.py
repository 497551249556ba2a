"""The figure of the results: forward dynamics over n, and work-precision curves."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import matplotlib as mpl

from benchmarks.precision import TARGET
from benchmarks.report import NAMES

STYLES: dict[str, dict[str, Any]] = {
    "mbfmu": {"color": "#0b62a4", "marker": "o", "linewidth": 2.5, "zorder": 3},
    "mbfmu_in_steps": {"color": "#0b62a4", "marker": "o", "linewidth": 1, "linestyle": "--", "fillstyle": "none"},
    "pinocchio": {"color": "#d1495b", "marker": "s"},
    "mujoco": {"color": "#edae49", "marker": "^"},
    "exudyn": {"color": "#5f7f5f", "marker": "D"},
}


def draw(results: Mapping[str, Any], path: pathlib.Path) -> None:
    """Draw one panel for forward dynamics and one for each mechanism."""
    mpl.use("Agg")
    from matplotlib import pyplot

    curves = results["work_precision"]
    height = (len(curves) + 2) // 2
    figure, grid = pyplot.subplots(height, 2, figsize=(8.4, 3.3 * height), layout="constrained", squeeze=False)
    panels = grid.flat
    for panel in panels[1 + len(curves) :]:
        panel.remove()
    rows = results["forward_dynamics"]["sizes"]
    sizes = [row["n"] for row in rows]
    cpp = "pinocchio_cpp" if all(row["pinocchio_cpp"] for row in rows) else "pinocchio"
    for name, key in (("mbfmu", "c"), ("pinocchio", cpp), ("mujoco", "mujoco")):
        panels[0].loglog(sizes, [1e6 * row[key] for row in rows], label=NAMES[name], markersize=4, **STYLES[name])
    panels[0].set(title="Forward dynamics of an n-link chain", xlabel="n", ylabel="CPU time, µs")
    panels[0].set_xticks(sizes, [str(n) for n in sizes], minor=False)
    panels[0].minorticks_off()
    for panel, result in zip(panels[1:], curves, strict=False):
        for name, points in result["points"].items():
            _, spent, errors = zip(*points, strict=True)
            times = [1e3 * time for time in spent]
            panel.loglog(errors, times, label=NAMES[name], markersize=4, **STYLES[name])
        panel.axvline(TARGET, color="0.6", linewidth=1, linestyle=":")
        panel.set(title=result["title"], xlabel="error at the end, rad", ylabel="CPU time, ms", xlim=(1e-1, 1e-9))
    for panel in figure.axes:
        panel.grid(color="0.9")
        panel.spines[["top", "right"]].set_visible(False)
    panels[1].legend(frameon=False, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
