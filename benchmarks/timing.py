"""CPU time, measured so that a busy machine changes it little."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")

#: A batch of calls lasts at least this long, s: well above the clock's resolution and the cost of reading it.
BATCH = 2e-3

#: Runs are repeated until they took this long in all, s.
LONG = 1.0


def call_time(call: Callable[[], object], repeats: int = 30) -> float:
    """Return the CPU time of one call, s: of `repeats` batches the least, since other programs only ever add to it."""
    count = 1
    while (spent := _batch(call, count)) < BATCH:
        count = max(2 * count, int(1.2 * count * BATCH / max(spent, 1e-9)))
    return min(_batch(call, count) for _ in range(repeats)) / count


def with_children() -> float:
    """Return the CPU time of this process and of those that it has waited for, such as compilers, s."""
    return sum(os.times()[:4])


def run_time(prepare: Callable[[], Callable[[], Result]], repeats: int = 7) -> tuple[float, Result]:
    """Return the least CPU time of a run, s, and its result; `prepare` makes every run afresh and is not measured.

    Long runs, of which there are fewer, also suffer less from the machine's other work.
    """
    times: list[float] = []
    while len(times) < repeats and sum(times) < LONG:
        run = prepare()
        begin = time.process_time()
        result = run()
        times.append(time.process_time() - begin)
    return min(times), result


def _batch(call: Callable[[], object], count: int) -> float:
    loop = range(count)
    begin = time.process_time()
    for _ in loop:
        call()
    return time.process_time() - begin
