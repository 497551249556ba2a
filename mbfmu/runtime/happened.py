"""Events of a run: when they were, and what they changed."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

#: What the runtime logs of each event (templates/runtime/switches.c).
_LINE = re.compile(r"^(?P<what>.*) becomes (?P<to>\S+) at time (?P<time>\S+)$")
#: Rows beside an event are so far from it, in terms of the run's length: its log has nine digits.
_SIDE = 4e-9


@dataclasses.dataclass(frozen=True)
class SwitchEvent:
    """One change at an instant.

    Attributes:
        time: s.
        name: The discrete variable that changed; where none shows it, the switch.
        before: Its value right before; None of a switch.
        after: Its value right after.
    """

    time: float
    name: str
    before: float | None
    after: float

    def __str__(self) -> str:
        was = "" if self.before is None else f" from {self.before:g}"
        return f"{self.time:.9g} s: {self.name}{was} to {self.after:g}"


def event_times(log: Iterable[str]) -> dict[float, list[str]]:
    """Lines of the log that tell of events, by their instants [s]."""
    found: dict[float, list[str]] = {}
    for text in log:
        match = _LINE.match(text)
        if match:
            found.setdefault(float(match["time"]), []).append(text)
    return dict(sorted(found.items()))


def with_both_sides(grid: np.ndarray, instants: Sequence[float]) -> np.ndarray:
    """Recorded instants [n], with one right before and one right after each event in place of those too near to it."""
    side = _side(grid)
    inner = [t for t in instants if grid[0] + 2 * side < t < grid[-1] - 2 * side]
    sides = np.array([[t - side, t + side] for t in inner]).ravel()
    near = [bool(inner) and float(np.abs(np.asarray(inner) - t).min()) <= 2 * side for t in grid]
    return np.unique(np.concatenate([grid[~np.array(near, dtype=bool)], sides]))


def _side(grid: np.ndarray) -> float:
    return _SIDE * float(max(abs(grid[0]), abs(grid[-1]), grid[-1] - grid[0]))


def told_by(
    grid: np.ndarray,
    found: Mapping[float, Sequence[str]],
    switched: Mapping[str, np.ndarray],
    places: Mapping[str, int],
) -> tuple[SwitchEvent, ...]:
    """What happened at each of the instants.

    Args:
        grid: Recorded instants, s, [n].
        found: Lines of the log by the instants of events.
        switched: Series [n] of discrete variables, by name.
        places: Where their values live: of aliases the first is named.
    """
    events = []
    for time, lines in found.items():
        left, right = (int(np.searchsorted(grid, time)) + k for k in (-1, 0))
        changes: dict[int, SwitchEvent] = {}
        if left >= 0 and right < grid.size:
            for name, series in switched.items():
                before, after = float(series[left]), float(series[right])
                negated = any((e.before, e.after) == (-before, -after) for e in changes.values())  # of the other side
                if before != after and not negated:
                    changes.setdefault(places[name], SwitchEvent(time, name, before, after))
        switches = [match for match in map(_LINE.match, lines) if match]
        events += list(changes.values()) or [SwitchEvent(time, m["what"], None, float(m["to"])) for m in switches]
    return tuple(events)
