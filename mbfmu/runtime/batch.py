"""Many runs of one model on the cores of this machine, in C: threads that each have an instance of their own."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from mbfmu.errors import BuildError
from mbfmu.runtime.compiled import compile_functions, seconds_to_compile
from mbfmu.runtime.drive import Drive
from mbfmu.runtime.lanes import kind, most
from mbfmu.runtime.library import Instance, Model
from mbfmu.runtime.run import index_in_p
from mbfmu.runtime.variables import ScalarVariable

T = TypeVar("T")
R = TypeVar("R")

#: Bytes of a message.
MESSAGE = 400


class _Record(ctypes.Structure):
    """`Batch` of templates/runtime/batch.c."""

    _fields_ = (
        ("start_time", ctypes.c_double),
        ("stop_time", ctypes.c_double),
        ("tolerance", ctypes.c_double),
        *((name, ctypes.c_size_t) for name in ("nruns", "nsettings", "ntimes", "nplaces", "message_size")),
        *((name, ctypes.c_void_p) for name in ("settings", "values", "times", "places", "drive", "lanes", "rows",
                                               "complete", "messages")),
    )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Runs:
    """Results of some runs: `rows` [runs, times, places], NaN from where a run ends; an empty message is success."""

    rows: np.ndarray
    messages: tuple[str, ...]


class Batch:
    """What all runs of a batch have in common.

    Equations are interpreted at first. Once runs have taken as long as compiling them does, they are compiled, where
    there is a compiler: at most twice the time is spent of what is best for a number of runs that nobody knows. Results
    are the same to the last bit, so that the threads need not wait for it.

    Args:
        model: As `model_of` makes it.
        settings: Variables that are set before each run: parameters, start values, inputs.
        times: Recorded instants, s, the start and the stop time among them, [n].
        places: What is recorded, `contract.place`, [k].
        drive: Inputs over time.
        tolerance: The model's own where None.
        lanes: How many runs a thread makes at a time, in vectors of the processor: 1, 4 or 8; as many as there are
            where None. No bit of a result depends on it.
    """

    def __init__(
        self,
        model: Model,
        settings: Sequence[ScalarVariable],
        times: np.ndarray,
        places: np.ndarray,
        drive: Drive | None = None,
        tolerance: float | None = None,
        lanes: int | None = None,
    ) -> None:
        self.model = model
        self.lanes = lanes or most()
        self._kind = kind(self.lanes)
        self.settings = np.array(
            [-1 - v.index if v.causality == "input" else index_in_p(v) for v in settings], dtype=np.int32
        )
        self.times, self.places = np.ascontiguousarray(times, dtype=float), np.ascontiguousarray(places, dtype=np.int32)
        self.drive = None if drive is None else drive.snapped(self.times).record()
        self.tolerance = tolerance or 0.0
        self._instances = threading.local()
        self._compiling = threading.Lock()
        self._price = seconds_to_compile(model, self.lanes)
        self._interpreted: float | None = 0.0  # CPU time of all threads so far, s; None: no longer counted

    @property
    def bytes_per_run(self) -> int:
        """Memory of the recorded rows of one run."""
        return 8 * self.times.size * self.places.size + MESSAGE

    def run(self, values: np.ndarray) -> Runs:
        """Make runs with the given values [runs, settings], one after the other, in this thread."""
        if not hasattr(self._instances, "some"):
            self._instances.some = [Instance(self.model, "batch") for _ in range(self.lanes)]
            self._instances.handles = (ctypes.c_void_p * self.lanes)(*(one.handle for one in self._instances.some))
        values = np.ascontiguousarray(values, dtype=float)
        count = values.shape[0]
        rows = np.full((count, self.times.size, self.places.size), np.nan)
        complete, messages = np.zeros(count, dtype=np.uintp), np.zeros(count, dtype=f"S{MESSAGE}")
        record = _Record(
            self.times[0], self.times[-1], self.tolerance, count, self.settings.size, self.times.size,
            self.places.size, MESSAGE, self.settings.ctypes.data, values.ctypes.data, self.times.ctypes.data,
            self.places.ctypes.data, None if self.drive is None else ctypes.addressof(self.drive), self._kind,
            rows.ctypes.data, complete.ctypes.data, messages.ctypes.data,
        )  # fmt: skip
        begin = time.thread_time()
        self.model.library.batch(self._instances.handles, self.lanes, ctypes.byref(record))
        self._compile_where_it_pays(time.thread_time() - begin)
        for number in np.flatnonzero(complete < self.times.size):
            rows[number, complete[number] :] = np.nan
        texts = [
            (text.decode(errors="replace") or "it failed without a message") if done < self.times.size else ""
            for text, done in zip(messages.tolist(), complete, strict=True)
        ]
        return Runs(rows, tuple(texts))

    def _compile_where_it_pays(self, seconds: float) -> None:
        """Compile the equations, once, where so many more seconds of runs make it worth while."""
        with self._compiling:
            if self._interpreted is None:
                return
            self._interpreted += seconds
            if self._interpreted < self._price:
                return
            self._interpreted = None
        with contextlib.suppress(BuildError):  # the interpreter serves where there is no compiler
            compile_functions(self.model, lanes=self.lanes)


def part_of(count: int, parts: int, threads: int, lanes: int) -> int:
    """Runs of a part where `count` of them make so many parts: enough for all lanes, unless threads stay idle then."""
    length = -(-count // parts)
    return max(length, min(-(-length // lanes) * lanes, -(-count // threads)))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[T], R], tasks: Iterator[T], threads: int | None = None) -> Iterator[R]:
    """Do work in threads; answers come in the order of the tasks, and only a few tasks are under way at a time."""
    count = threads or cores()
    with ThreadPoolExecutor(count) as pool:
        waiting: list[Future[R]] = []
        try:
            for task in tasks:
                waiting.append(pool.submit(work, task))
                if len(waiting) >= 2 * count:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for one in waiting:
                one.cancel()
