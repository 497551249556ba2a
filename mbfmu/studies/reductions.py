"""What is kept of a trajectory: the whole of it, or one number."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping

import numpy as np

from mbfmu.errors import ModelError

#: Times [n] and rows [runs, n] -> [runs].
Reduce = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _mean(times: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.trapezoid(rows, times, axis=1) / (times[-1] - times[0])


REDUCTIONS: Mapping[str, Reduce] = {
    "initial": lambda _, rows: rows[:, 0],
    "final": lambda _, rows: rows[:, -1],
    "min": lambda _, rows: rows.min(axis=1),
    "max": lambda _, rows: rows.max(axis=1),
    "absmax": lambda _, rows: np.abs(rows).max(axis=1),
    "mean": _mean,
    "rms": lambda times, rows: np.sqrt(_mean(times, rows**2)),
}


@dataclasses.dataclass(frozen=True)
class Kept:
    """A variable and what is kept of it; `reduce` None keeps its whole trajectory."""

    label: str
    name: str
    reduce: Reduce | None
    #: True where the number is a time, s.
    is_time: bool = False


def parse(text: str) -> Kept:
    """Read `name` or `name:trajectory`, `name:final` or `name:crossing=LEVEL`.

    A crossing is the first time at which the variable passes the level, in either direction, interpolated between
    recorded instants; NaN where it does not.

    Raises:
        ModelError: The reduction is unknown, or a level is no finite number.
    """
    name, colon, what = text.partition(":")
    if not colon or what == "trajectory":
        return Kept(text, name, None)
    if what in REDUCTIONS:
        return Kept(text, name, REDUCTIONS[what])
    kind, _, level = what.partition("=")
    if kind == "crossing":
        try:
            at = float(level)
        except ValueError:
            at = math.nan
        if not math.isfinite(at):
            raise ModelError(f"-y {text}: the level {level!r} is no finite number; write crossing=LEVEL, as crossing=0")
        return Kept(text, name, lambda times, rows: first_crossing(times, rows, at), True)
    raise ModelError(
        f"-y {text}: there is no reduction {what!r}; there are trajectory, {', '.join(REDUCTIONS)}, crossing=LEVEL"
    )


def first_crossing(times: np.ndarray, rows: np.ndarray, level: float) -> np.ndarray:
    """First instant [runs] at which rows [runs, n] pass a level; NaN where they do not."""
    above = rows - level
    passes = above[:, :-1] * above[:, 1:] < 0
    touches = above[:, 1:] == 0
    hit = passes | touches
    first = hit.argmax(axis=1)
    run = np.arange(rows.shape[0])
    before, after = above[run, first], above[run, first + 1]
    with np.errstate(all="ignore"):
        part = np.where(before == after, 0.0, before / (before - after))
    instant = times[first] + part * (times[first + 1] - times[first])
    return np.where(above[:, 0] == 0, times[0], np.where(hit.any(axis=1), instant, np.nan))
