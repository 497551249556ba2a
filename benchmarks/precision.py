"""Work-precision curves: what a tool needs for a given error."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: The error at which the tools are compared, rad.
TARGET = 2e-6


class Point(NamedTuple):
    """One run: tolerance or step size in s, CPU time in s, error at the end in rad."""

    setting: float
    time: float
    error: float


def time_at(points: Sequence[Point], target: float) -> float | None:
    """Return the least CPU time at which the error is at most `target`, None where no run reaches it.

    Between neighbouring settings both are taken as linear in logarithms.
    """
    times = [point.time for point in points if point.error <= target]
    for coarse, fine in itertools.pairwise(points):
        if coarse.error > target >= fine.error > 0:
            share = math.log(coarse.error / target) / math.log(coarse.error / fine.error)
            times.append(coarse.time * (fine.time / coarse.time) ** share)
    return min(times, default=None)


def growth(rows: Sequence[Mapping[str, Any]], key: str = "mbfmu") -> float:
    """Return the power of the unknowns with which times grow, from the first row to the last."""
    first, last = rows[0], rows[-1]
    return math.log(last[key] / first[key]) / math.log(last["unknowns"] / first["unknowns"])


def best_ratio(times: Mapping[str, float | None]) -> float | None:
    """Return the time of the best peer over that of mbfmu, None where one of the two is missing."""
    ours, peers = times["mbfmu"], [time for name, time in times.items() if not name.startswith("mbfmu") and time]
    return min(peers) / ours if ours and peers else None
