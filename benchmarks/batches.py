"""Many runs in one process: batches of mbfmu with interpreted and with compiled equations, and MuJoCo's rollout."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import mbfmu
from benchmarks import mechanisms
from benchmarks.building import without_cache
from benchmarks.mechanisms import Mechanism
from benchmarks.peers import mujoco
from benchmarks.timing import run_time
from mbfmu.runtime.batch import Batch
from mbfmu.runtime.compiled import compile_functions
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import Model
from mbfmu.runtime.run import place

TOLERANCE = 1e-6

#: Models of the gallery, how long they run, s, and what MuJoCo builds them from.
MODELS: tuple[tuple[str, float, Mechanism | None], ...] = (
    ("double_pendulum", 3.0, mechanisms.DOUBLE_PENDULUM),
    ("planar_four_bar", 5.0, mechanisms.PLANAR_FOUR_BAR),
    ("engine_1b", 0.5, None),
)

#: Steps that MuJoCo tries, s.
_STEPS = [0.02 / 2**k for k in range(10)]


class _Interpreted(Batch):
    """A batch whose equations are compiled when this module says so."""

    def _compile_where_it_pays(self, seconds: float) -> None:
        pass


def measure(runs: int = 200) -> Iterator[dict[str, Any]]:
    """Yield, for each model, CPU times of a run, s: of `runs` runs in one thread."""
    for name, stop_time, mechanism in MODELS:
        system = mbfmu.System.of(mbfmu.load(name))
        shown = [v for v in system.variables if v.store == "x"]
        if mechanism is not None:
            by_name = {v.name: v for v in system.variables}
            shown = [by_name[link.position] for link in mechanism.joints] + [by_name[j.speed] for j in mechanism.joints]
        model = Model(host_library(), descriptor(system.equations, system.variables))
        places = np.array([place(v) for v in shown], dtype=np.int32)
        batch, exact = (
            _Interpreted(model, [], np.array([0.0, stop_time]), places, None, tolerance)
            for tolerance in (TOLERANCE, 1e-11)
        )
        nothing = np.zeros((runs, 0))
        ends = exact.run(nothing[:1]).rows[0]
        interpreted, first = run_time(lambda: lambda: batch.run(nothing))  # noqa: B023
        begin = time.perf_counter()
        with without_cache():
            compile_functions(model)
        row: dict[str, Any] = {"n": name, "stop_time": stop_time, "compiling": time.perf_counter() - begin}
        compiled, second = run_time(lambda: lambda: batch.run(nothing))  # noqa: B023
        if first.rows.tobytes() != second.rows.tobytes():
            raise AssertionError(f"{name}: compiled runs differ from interpreted ones")
        row |= {"interpreted": interpreted / runs, "compiled": compiled / runs, "mujoco": None}
        if mechanism is not None:
            count = len(mechanism.joints)
            row["error"] = float(np.abs(first.rows[0, -1, :count] - ends[-1, :count]).max())
            for step in _STEPS:
                rollout = mujoco.rollouts(mechanism, ends[0, :count], ends[0, count:], step, runs)
                taken, final = run_time(lambda: rollout, 3)  # noqa: B023
                if np.abs(final - ends[-1, :count]).max() <= row["error"]:
                    row |= {"mujoco": taken / runs, "step": step}
                    break
        yield row
