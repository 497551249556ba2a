"""What the longest of many steps of fixed length takes beside the median, and the first step of a program."""

from __future__ import annotations

import ctypes
import multiprocessing
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import mbfmu
from benchmarks.unit import Unit
from mbfmu.runtime.build import headers
from mbfmu.runtime.compilers import host_platform, library_name, require_compiler

#: Gallery's name, length of its steps, s.
MODELS: Mapping[str, float] = {
    "engine_v6": 1e-4,
    "engine_1b": 4e-3,
    "planar_loop_release": 5e-3,
    "vehicle": 1e-3,
    "lane_change": 1e-3,
}
STEPS = 3000

#: Programs, each with one run from its first step on; each step's time is the least in all of them.
PROGRAMS = 7


def measure(
    folder: pathlib.Path, models: Mapping[str, float] = MODELS, steps: int = STEPS, programs: int = PROGRAMS
) -> Iterator[dict[str, Any]]:
    """Yield median, 99.9 %, longest and first step of each model, CPU time in s."""
    name = library_name("fixed_steps", host_platform())
    clock = folder / name
    source = folder / "fixed_steps.c"
    source.write_bytes(pathlib.Path(__file__).with_suffix(".c").read_bytes())
    clock.write_bytes(require_compiler().compile(source, name, headers()))
    for model, step in models.items():
        fmu = mbfmu.build(mbfmu.load(model), folder / f"{model}.fmu", fixed_step=step)
        given = [(fmu, folder / f"{model}_{i}", clock, step, steps) for i in range(programs)]
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            times = np.min(pool.starmap(times_of_steps, given, chunksize=1), axis=0)
        yield {
            "title": model,
            "step": step,
            "median": float(np.median(times)),
            "most": float(np.quantile(times, 0.999)),
            "first": float(times[0]),
            "longest": float(times.max()),
            "which": int(times.argmax()),
        }


def times_of_steps(fmu: pathlib.Path, folder: pathlib.Path, clock: pathlib.Path, h: float, n: int) -> np.ndarray:
    """CPU time of each step [n], s, of the first instance in this process.

    Raises:
        ValueError: A step fails.
    """
    unit = Unit(fmu, folder)
    time_steps = ctypes.CDLL(str(clock)).time_steps
    time_steps.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_int, ctypes.c_void_p]
    seconds = np.zeros(n)
    do_step = ctypes.cast(unit.slave.dll.fmi2DoStep, ctypes.c_void_p)
    given = (do_step, unit.slave.component, h, n, seconds.ctypes.data)
    unit.start()  # last: what is done in between would drive the model out of the processor's caches
    made = time_steps(*given)
    unit.close()
    if made < n:
        raise ValueError(f"{fmu.name}: step {made} fails")
    return seconds
