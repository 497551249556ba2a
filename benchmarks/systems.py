"""Systems of FMUs: error over cost, of steps to a tolerance, of fixed ones and of other masters; time by threads."""

from __future__ import annotations

import ctypes
import pathlib
import sysconfig
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.interpolate import CubicSpline

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import blocks, rotational
from mbfmu.cosimulation import SystemStructure, cosimulate
from mbfmu.cosimulation.ssp import write_ssp
from mbfmu.simulation import simulate
from mbfmu.sources import load

#: s; the engine speeds up and its shafts swing.
STOP = 2.0
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
#: s, of fixed steps.
STEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
#: Of the FMUs' integrators with fixed steps, and of the reference.
TIGHT, FINEST = 1e-9, 1e-11
SPEED = "powertrain.engine.w"
#: FMUs of the ring and of the star, s.
COUNT, RUN, RUN_STEP = 20, 1.0, 1e-2
#: N.m/rad; of springs whose FMUs take many steps of their own within one that communicates.
STIFF = 3e8
#: Runs of which the least time counts.
REPEATS = 8

#: A run at a setting: times [n], engine speeds [n], and calls of doStep.
Run = Callable[[float], tuple[np.ndarray, np.ndarray, int]]


def measure(folder: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Yield the points (setting, calls of doStep, CPU time in s, error) of every master, then times by threads.

    Errors are the greatest differences of the engine's speed from powertrain and car in one model, relative to its
    greatest value, over all communication points.
    """
    files = {name: mbfmu.build(load(name), folder / f"{name}.fmu") for name in ("powertrain", "car")}
    structure = SystemStructure.of(files, name="SmallCar")
    package = write_ssp(structure, folder / "small_car.ssp")
    whole = simulate(load("drivetrain"), stop_time=STOP, tolerance=FINEST, interval=1e-4, outputs=[SPEED])
    speed = CubicSpline(whole.time, whole[SPEED])
    greatest = float(np.abs(whole[SPEED]).max())
    for title, run, settings in _masters(structure, package):
        points = []
        for setting in settings:
            begin = time.process_time()
            times, found, calls = run(setting)
            spent = time.process_time() - begin
            error = float(np.abs(found - speed(times)).max()) / greatest
            points.append({"setting": setting, "calls": calls, "seconds": spent, "error": error})
        yield {"title": title, "points": points}
    yield from _by_threads(folder)


def _masters(structure: SystemStructure, package: pathlib.Path) -> Iterator[tuple[str, Run, tuple[float, ...]]]:
    def ours(of: str, **given: Any) -> Run:
        def run(value: float) -> tuple[np.ndarray, np.ndarray, int]:
            options: dict[str, Any] = {of: value, **given}
            result = cosimulate(structure, stop_time=STOP, outputs=[SPEED], **options)
            return result.time, result[SPEED], result.account.calls

        return run

    def theirs(peer: Callable[..., tuple[np.ndarray, np.ndarray, int]]) -> Run:
        return lambda h: peer(package, h, int(scalar.variable.valueReference), round(STOP / h))

    for scheme in ("jacobi", "gauss-seidel"):
        yield f"to a tolerance, {scheme}", ours("tolerance", scheme=scheme), TOLERANCES
    for inputs in ("hold", "tangent"):
        yield f"fixed steps, jacobi, {inputs}", ours("step", inputs=inputs, tolerance=TIGHT), STEPS
    (scalar,) = structure.scalars(*SPEED.split(".", 1))
    for title, peer in (("libcosim", _libcosim), ("ecos", _ecos)):
        try:
            peer(package, STEPS[0], int(scalar.variable.valueReference), 1)
        except ImportError:
            continue
        yield title, theirs(peer), STEPS


def _libcosim(package: pathlib.Path, step: float, reference: int, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
    from libcosimpy.CosimObserver import CosimObserver

    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_ssp_file(str(package), step_size=round(step * 1e9))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    index = execution.slave_index_from_instance_name("powertrain")
    values = []
    for _ in range(count):
        execution.step(1)
        values += observer.last_real_values(index, [reference])
    return step * np.arange(1, count + 1), np.array(values), 2 * count


def _ecos(package: pathlib.Path, step: float, _reference: int, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    for library in sorted(pathlib.Path(sysconfig.get_path("data"), "lib").glob("libtbb.so.??")):
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    import ecospy

    values = []
    with ecospy.EcosSimulation(ssp_path=str(package), step_size=step) as simulation:
        simulation.init()
        for _ in range(count):
            simulation.step(1)
            values.append(simulation.get_real(SPEED.replace(".", "::", 1)))
        simulation.terminate()
    return step * np.arange(1, count + 1), np.array(values), 2 * count


class Link(Assembly):
    """A row of inertias on springs with friction; its first one is driven, its last one's angle goes on."""

    def __init__(self, stiffness: float = 300.0) -> None:
        self.gain = blocks.Gain(k=20.0)
        self.drive = rotational.Torque()
        self.connect(self.gain.y, self.drive.tau)
        self.input(self.gain.u, "u")
        last = self.drive.flange
        for i in range(10):
            inertia = rotational.Inertia(J=0.1, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            spring = rotational.SpringDamper(c=stiffness * (1 + i / 30), d=0.5)
            setattr(self, f"inertia{i}", inertia)
            setattr(self, f"spring{i}", spring)
            self.connect(last, inertia.flange_a)
            self.connect(inertia.flange_b, spring.flange_a)
            last = spring.flange_b
        self.wall = rotational.Fixed()
        self.connect(last, self.wall.flange)
        self.output(self.inertia9.phi, "y")


class Hub(Assembly):
    """An inertia on a spring, which all others drive."""

    def __init__(self) -> None:
        self.inertia = rotational.Inertia(J=5.0, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.spring = rotational.SpringDamper(c=200.0, d=1.0)
        self.wall = rotational.Fixed()
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.inertia.flange_a)
        for i in range(1, COUNT):
            gain, torque = blocks.Gain(k=1.0), rotational.Torque()
            setattr(self, f"gain{i}", gain)
            setattr(self, f"torque{i}", torque)
            self.connect(gain.y, torque.tau)
            self.connect(torque.flange, self.inertia.flange_b)
            self.input(gain.u, f"u{i}")
        self.output(self.inertia.phi, "y")


def _by_threads(folder: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Time of a ring and of a star by threads; results have to be the same.

    `seconds` is wall time, the least of some runs, which others on the machine lengthen; `work` are CPU times of the
    thread that leads and of those that step FMUs. Were two processors free, two threads would take as long as the one
    that leads and half of the others.
    """
    soft, stiff, hub = (
        mbfmu.build(assembly, folder / f"{name}.fmu")
        for name, assembly in (("soft", Link()), ("stiff", Link(STIFF)), ("hub", Hub()))
    )
    names = [f"e{i}" for i in range(COUNT)]
    around = [(f"{a}.y", f"{b}.u") for a, b in zip(names, [*names[1:], names[0]], strict=True)]
    spokes = [pair for i, n in enumerate(names[1:], 1) for pair in ((f"{n}.y", f"e0.u{i}"), ("e0.y", f"{n}.u"))]
    for title, files, wires, values in (
        (f"{shape}, {kind}", {**dict.fromkeys(names, link), **more}, wires, values)
        for kind, link in (("soft", soft), ("stiff", stiff))
        for shape, more, wires, values in (
            ("ring", {}, around, {"e0.inertia0.phi": 0.1}),
            ("star", {"e0": hub}, spokes, {}),
        )
    ):
        structure = SystemStructure.of(files, wires)
        found: dict[int, np.ndarray] = {}
        spent: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
        for _ in range(REPEATS):
            for threads in spent:  # in turn: what others do at one time lengthens both
                begin = time.perf_counter(), time.process_time(), time.thread_time()
                result = cosimulate(structure, step=RUN_STEP, stop_time=RUN, threads=threads, start_values=values)
                end = time.perf_counter(), time.process_time(), time.thread_time()
                wall, whole, leading = (b - a for a, b in zip(begin, end, strict=True))
                spent[threads].append((wall, leading, whole - leading))
                found[threads] = np.column_stack([result[name] for name in result])
        if not np.array_equal(found[1], found[2]):
            raise AssertionError(f"{title}: results differ by threads")
        seconds = {threads: min(wall for wall, _, _ in runs) for threads, runs in spent.items()}
        work = {threads: min(((own, others) for _, own, others in runs), key=sum) for threads, runs in spent.items()}
        yield {"title": f"{COUNT} in a {title}", "seconds": seconds, "work": work}


def draw(rows: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Draw error over calls and over CPU time."""
    picture = Figure(figsize=(10, 3.8), dpi=110, layout="constrained")
    for axes, what, title in zip(
        picture.subplots(1, 2, sharey=True), ("calls", "seconds"), ("calls of doStep", "CPU time in s"), strict=True
    ):
        for row in rows:
            if "points" in row:
                style = "o-" if "tolerance" in row["title"] else "s--" if "fixed" in row["title"] else "x:"
                errors = [point["error"] for point in row["points"]]
                axes.loglog([point[what] for point in row["points"]], errors, style, ms=4, label=row["title"])
        axes.set(xlabel=title)
        axes.grid(alpha=0.3)
    picture.axes[0].set(ylabel="error of the engine speed, relative")
    picture.axes[0].set_title("Powertrain and car, 2 s")
    picture.axes[1].legend(fontsize="small")
    picture.savefig(path)
