"""Many runs in one process: batches of mbfmu, one by one and in lanes, MuJoCo's rollout, Diffrax."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import mbfmu
from benchmarks import mechanisms
from benchmarks.building import without_cache
from benchmarks.mechanisms import Mechanism
from benchmarks.peers import diffrax, mujoco
from benchmarks.timing import run_time
from mbfmu.runtime.batch import Batch
from mbfmu.runtime.compiled import compile_functions
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.host import host_library
from mbfmu.runtime.lanes import most
from mbfmu.runtime.library import Model
from mbfmu.runtime.run import place

TOLERANCE = 1e-6

#: Models of the gallery, how long they run, s, how many runs there are, and what MuJoCo builds them from.
MODELS: tuple[tuple[str, float, int, Mechanism | None], ...] = (
    ("double_pendulum", 3.0, 400, mechanisms.DOUBLE_PENDULUM),
    ("furuta_pendulum", 3.0, 200, None),
    ("planar_four_bar", 5.0, 100, mechanisms.PLANAR_FOUR_BAR),
    ("engine_1b", 0.5, 100, None),
    ("vehicle", 10.0, 48, None),
    ("engine_v6", 0.2, 16, None),
)

#: What the runs of a batch differ in, and by how much at most: no two of them make the same steps.
VARIED, SPREAD = "world.g", 0.01

#: Batches are measured in turn, so that the machine's other work meets all of them alike; of so many the least counts.
_REPEATS = 7

#: Steps that MuJoCo tries, s.
_STEPS = [0.02 / 2**k for k in range(10)]


class _Alone(Batch):
    """A batch whose equations are compiled when this module says so."""

    def _compile_where_it_pays(self, seconds: float) -> None:
        pass


def measure() -> Iterator[dict[str, Any]]:
    """Yield, for each model, CPU times of a run, s: of a batch in one thread, one by one and in lanes."""
    for name, stop_time, runs, mechanism in MODELS:
        system = mbfmu.System.of(mbfmu.load(name))
        by_name = {v.name: v for v in system.variables}
        shown = [v for v in system.variables if v.store == "x"]
        if mechanism is not None:
            shown = [by_name[link.position] for link in mechanism.joints] + [by_name[j.speed] for j in mechanism.joints]
        places = np.array([place(v) for v in shown], dtype=np.int32)
        content, times = descriptor(system.equations, system.variables), np.array([0.0, stop_time])
        varied = by_name[VARIED]
        gravity = float(varied.start or 0.0) * (1 + np.linspace(0.0, SPREAD, runs))[:, None]
        interpreted = Model(host_library(), content)
        compiled = Model(host_library(), content, system.equations.functions)
        begin = time.perf_counter()
        with without_cache():
            compile_functions(compiled, lanes=most())
        row: dict[str, Any] = {"n": name, "stop_time": stop_time, "compiling": time.perf_counter() - begin}
        batches = {
            f"{kind}{', in lanes' if lanes > 1 else ''}": _Alone(model, [varied], times, places, None, TOLERANCE, lanes)
            for kind, model in (("interpreted", interpreted), ("compiled", compiled))
            for lanes in dict.fromkeys((1, most()))
        }
        found = _in_turn(batches, gravity)
        row |= {key: seconds / runs for key, (seconds, _) in found.items()} | {"lanes": most(), "mujoco": None}
        rows = [one.tobytes() for _, one in found.values()]
        if set(rows) != {rows[0]}:
            raise AssertionError(f"{name}: the same runs differ in compiled equations, or in lanes")
        if mechanism is not None:
            count = len(mechanism.joints)
            ends = _Alone(interpreted, [varied], times, places, None, 1e-11, 1).run(gravity[:1]).rows[0]
            first = found["interpreted"][1][0]
            row["error"] = float(np.abs(first[-1, :count] - ends[-1, :count]).max())
            for step in _STEPS:
                rollout = mujoco.rollouts(mechanism, ends[0, :count], ends[0, count:], step, runs)
                taken, final = run_time(lambda: rollout, 3)  # noqa: B023
                if np.abs(final - ends[-1, :count]).max() <= row["error"]:
                    row |= {"mujoco": taken / runs, "step": step}
                    break
            if mechanism is mechanisms.DOUBLE_PENDULUM:
                row["diffrax"] = _by_diffrax(mechanism, ends, gravity[:, 0], row["error"])
        yield row


def _by_diffrax(mechanism: Mechanism, ends: np.ndarray, gravity: np.ndarray, error: float) -> float | None:
    """CPU time of a run, s: of its quickest method at the largest tolerance with which it errs no more than we do."""
    count = len(mechanism.joints)
    times = []
    for method in diffrax.METHODS:
        for tolerance in diffrax.SETTINGS:
            call = diffrax.rollouts(mechanism, ends[0, :count], ends[0, count:], gravity, method, tolerance)
            taken, final = run_time(lambda: call, _REPEATS)  # noqa: B023
            if np.abs(final[0] - ends[-1, :count]).max() <= error:
                times.append(taken / len(gravity))
                break
    return min(times, default=None)


def _in_turn(batches: Mapping[str, Batch], values: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
    """Least CPU time of each batch, s, and its rows."""
    times: dict[str, list[float]] = {key: [] for key in batches}
    rows: dict[str, np.ndarray] = {}
    for _ in range(_REPEATS):
        for key, batch in batches.items():
            begin = time.process_time()
            rows[key] = batch.run(values).rows
            times[key].append(time.process_time() - begin)
    return {key: (min(times[key]), rows[key]) for key in batches}
