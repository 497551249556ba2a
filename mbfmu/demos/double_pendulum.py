"""One mechanism for every target of this machine: build, validate, run in FMPy, compare and draw."""

from __future__ import annotations

import dataclasses
import pathlib
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape

from mbfmu import printing
from mbfmu.errors import ValidationError

STOP_TIME = 3.0  # s
STEP = 0.01  # s
TOLERANCE = 1e-8
ANGLES = ("revolute1.phi", "revolute2.phi")
TIP = ("tip[1]", "tip[2]")


@dataclasses.dataclass(frozen=True)
class Run:
    """One FMU and its motion; times in seconds, `motion` by variable, angles in rad, positions in m."""

    target: str
    path: pathlib.Path
    build_time: float
    run_time: float
    motion: dict[str, np.ndarray]


def run(folder: pathlib.Path, console: Console, fmi: int) -> None:
    """Run the demonstration; FMUs and picture go into the folder."""
    from mbfmu.export.options import TARGETS, kind_of
    from mbfmu.modeling.registry import assemblies
    from mbfmu.runtime.compilers import host_platform

    # pythonfmu is for FMI 2.0, and for the platforms that it has a library for.
    hosted = fmi == 2 and host_platform() in kind_of("python").platforms
    targets = [name for name in TARGETS if name == "native" or hosted]
    runs = [demonstrate(assemblies()["double_pendulum"](), target, folder, fmi) for target in targets]
    console.print(comparison(runs))
    picture = folder / "double_pendulum.png"
    draw(runs[0], picture)
    files = ", ".join(r.path.name for r in runs)
    console.print(f"FMUs and picture are in {escape(str(folder))}: {files}, {picture.name}")


def demonstrate(assembly: Any, target: str, folder: pathlib.Path, fmi: int) -> Run:
    """Build, validate and run one FMU."""
    from mbfmu.export.build import build
    from mbfmu.validation import validate

    path = folder / f"{type(assembly).__name__}_{target}.fmu"
    with printing.working(f"Building the {target} target") as progress:
        started = time.perf_counter()
        build(assembly, path, target=target, fmi=fmi, progress=progress)
        build_time = time.perf_counter() - started
        progress(f"Validating the {target} target")
        problems = validate(path)
    if problems:
        raise ValidationError(f"{path}: {problems[0]}")
    started = time.perf_counter()
    motion = play(path, f"Running {path.name} in FMPy")
    return Run(target, path, build_time, time.perf_counter() - started, motion)


def play(path: pathlib.Path, title: str) -> dict[str, np.ndarray]:
    """Run an FMU in FMPy with a progress bar; returns `time` and its outputs, vectors as their elements."""
    import fmpy

    with printing.running(title) as progress:

        def step_finished(now: float, _recorder: object) -> bool:
            progress(now / STOP_TIME)
            return True

        motion = fmpy.simulate_fmu(
            str(path),
            stop_time=STOP_TIME,
            output_interval=STEP,
            relative_tolerance=TOLERANCE,
            step_finished=step_finished,
        )
    series: dict[str, np.ndarray] = {}
    for name in motion.dtype.names:
        values = motion[name]
        if values.ndim == 1:
            series[name] = values
        else:
            series |= {f"{name}[{i}]": column for i, column in enumerate(values.T, start=1)}
    return series


def comparison(runs: list[Run]) -> Any:
    """Return the table of targets; differences are against the first one, in the variable that differs most."""
    numbers = ["size", "build", "run of 3 s"]
    table = printing.table("", "target", *numbers, "difference", right=numbers)
    for one in runs:
        worst = max(float(np.abs(one.motion[name] - runs[0].motion[name]).max()) for name in (*ANGLES, *TIP))
        difference = "-" if one is runs[0] else f"{worst:.1e} to {runs[0].target}"
        size = printing.size(one.path.stat().st_size)
        table.add_row(one.target, size, f"{one.build_time:.2f} s", f"{one.run_time:.3f} s", difference)
    return table


def draw(run: Run, path: pathlib.Path) -> None:
    """Draw both angles over time beside the path of the tip."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(9, 3.4), dpi=110, layout="constrained")
    motion, plane = picture.subplots(1, 2)
    for name in ANGLES:
        motion.plot(run.motion["time"], np.degrees(run.motion[name]), label=name)
    motion.set(title="Joint angles", xlabel="time in s", ylabel="deg")
    motion.grid(alpha=0.3)
    motion.set_ylim(top=130)
    motion.legend(loc="upper center", ncols=2)
    plane.plot(run.motion[TIP[0]], run.motion[TIP[1]], color="tab:green")
    plane.plot(0, 0, "ko", markersize=4)
    plane.locator_params(nbins=6)
    plane.set(title="Path of the tip", xlabel="x in m", ylabel="y in m", aspect="equal")
    plane.grid(alpha=0.3)
    picture.savefig(path)
