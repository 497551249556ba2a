"""From one communication point to the next: integrator steps, projection, and the events in between."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from scipy import optimize

from .errors import StepError
from .functions import Workspace
from .initialise import settle, time_margin
from .integrator import Integrator
from .project import check, most_dependent, project, project_along_forces, regularity

Vector = np.ndarray

#: So many events in a row, each within `CHATTER` s of the one before, are chattering.
CHATTER_EVENTS, CHATTER = 100, 1e-9
#: Regularity, relative to the largest so far, below which a step must not end: at first, and when it is made shorter.
BRANCHING = (1e-6, 1e-5)
#: So often a step is made shorter for that.
BRANCHINGS = 8
#: Regularity below which it is worth while to tell errors that projecting removes from the others.
NEAR_BRANCHING = 0.1
#: Where a switch may cross and cross back within a step: points that are looked at, the part of the step that they keep
#: from each other, how near zero a parabola has to come, relative to the change in the step, and what is no rounding.
DIP_SAMPLES, DIP_MARGIN, DIP_NEAR, DIP_DEPTH = 5, 1e-3, 0.2, 1e-9


@dataclasses.dataclass(frozen=True)
class Point:
    """Everything that the values at one instant depend on; its arrays are never written to."""

    t: float
    x: Vector
    u: Vector
    P: Vector
    m: Vector


class Stepper:
    """Moves points forward in time.

    It goes on without a restart where a point is the one that it returned last, with the same inputs and parameters.

    Parameters
    ----------
    workspace
        The model's functions.
    method, tolerance
        See `Integrator`.
    """

    def __init__(self, workspace: Workspace, method: str, tolerance: float) -> None:
        equations = workspace.equations
        self._workspace = workspace
        self._constrained = equations.nl > 0
        self._integrator = Integrator(workspace.rhs, method, tolerance, self._project if self._constrained else None)
        self._regular = self._most_regular = 0.0
        #: Crossings at the end of the last step, where the next one goes on with the same modes.
        self._behind: Vector | None = None
        self._projects = equations.nl > 0 or bool(equations.quaternions)
        self._switches = np.flatnonzero(~np.array(equations.time_switches, dtype=bool))
        self._last: Point | None = None
        self._known: tuple[Vector, float] | None = None
        self._times_of: tuple[Vector, Vector] | None = None

    def advance(self, point: Point, end: float) -> Point:
        """Go on from `point` to the time `end` [s]; inputs and parameters stay.

        Raises
        ------
        SimulationError
            The integrator cannot go on, or a constraint or an assertion does not hold; `point` is untouched.
        """
        workspace, integrator = self._workspace, self._integrator
        workspace.set_point(point.t, point.x, point.u, point.P, point.m)
        if not self._continues(point):
            self._restart(point)
        self._last = None
        times = self._times(point.P)
        last_event, count = -math.inf, 0
        while integrator.t < end:
            start = integrator.t
            following = float(times[np.searchsorted(times, start + time_margin(start), side="right")])
            self._step(min(end, following))
            crossing = self._first_crossing(start)
            if crossing is not None:
                t, x, switch = crossing
                count = count + 1 if t - last_event < CHATTER else 0
                last_event = t
                if count > CHATTER_EVENTS:
                    raise StepError(
                        f"at t = {t:.9g} s switch {switch + 1} of {workspace.m.size} changes again and again: the "
                        "model chatters between two modes; smooth the law that it belongs to"
                    )
                workspace.m[switch] = 1.0 - workspace.m[switch]
                self._event(t, x, switch)
            elif following <= integrator.t + time_margin(integrator.t):
                self._event(integrator.t, integrator.x, None)
            elif self._projects:
                workspace.t[0], workspace.x[:] = integrator.t, integrator.x
                project(workspace)
                integrator.replace(workspace.x)
            workspace.t[0], workspace.x[:] = integrator.t, integrator.x
            check(workspace)
        self._last = Point(integrator.t, integrator.x, point.u, point.P, workspace.m.copy())
        return self._last

    def resumption(self, point: Point) -> tuple[float | None, Vector | None]:
        """Step size and derivative with which the next step from `point` begins; None where they are not known."""
        return self._step_size(point), self._integrator.f if self._continues(point) else None

    def resume(self, point: Point, h: float, f: Vector | None) -> Point:
        """Go on from `point` with what `resumption` gave, so that the steps are those that would have been made.

        Returns the point to hand to `advance`, equal to the one given.
        """
        self._known = (point.x, h)
        self._behind = None
        if f is None:
            return point
        self._workspace.set_point(point.t, point.x, point.u, point.P, point.m)
        self._integrator.restart(point.t, point.x, h, f)
        self._last = dataclasses.replace(point, x=self._integrator.x)
        return self._last

    def _step_size(self, point: Point) -> float | None:
        """Step size that was reached at the states of `point`, whatever inputs and parameters are now."""
        if self._last is not None and self._last.x is point.x:
            return self._integrator.h
        return self._known[1] if self._known is not None and self._known[0] is point.x else None

    def _continues(self, point: Point) -> bool:
        last = self._last
        return last is not None and all(
            a is b for a, b in ((point.x, last.x), (point.u, last.u), (point.P, last.P), (point.m, last.m))
        )

    def _restart(self, point: Point) -> None:
        """Begin at `point`, which inputs or parameters may have moved off its constraints and switches."""
        self._behind = None
        h = None if settle(self._workspace) else self._step_size(point)
        if self._projects:
            project(self._workspace)
        self._integrator.restart(point.t, self._workspace.x, h)

    def _step(self, bound: float) -> None:
        """Take a step, a shorter one where it would end in a position in which branches of the motion cross."""
        workspace, integrator = self._workspace, self._integrator
        for attempt in range(BRANCHINGS):
            integrator.step(bound)
            if not self._constrained:
                return
            workspace.t[0], workspace.x[:] = integrator.t, integrator.x
            self._regular = regularity(workspace)
            if self._regular >= BRANCHING[attempt > 0] * self._most_regular:
                self._most_regular = max(self._regular, self._most_regular)
                return
            end = integrator.t
            integrator.undo(0.7)
        raise StepError(
            f"at t = {end:.9g} s branches of the motion cross where the step has to end, and which one it takes is "
            f"open ('{most_dependent(workspace)}' depends on the other constraints there): try another tolerance or "
            "other start values"
        )

    def _project(self, t: float, states: tuple[Vector, ...]) -> list[Vector] | None:
        """Move states near the last of them close to the constraints; None where that is not worth its time."""
        if self._regular > NEAR_BRANCHING * self._most_regular:
            return None
        self._workspace.t[0], self._workspace.x[:] = t, states[-1]
        try:
            return project_along_forces(self._workspace, states)
        except ValueError:  # A is not finite
            return None

    def _event(self, t: float, x: Vector, flipped: int | None) -> None:
        """Restart at (t, x), where the given switch has flipped."""
        workspace = self._workspace
        workspace.t[0], workspace.x[:] = t, x
        self._behind = None
        if self._projects:
            project(workspace)
        if settle(workspace, flipped) and self._projects:
            project(workspace)
        self._integrator.restart(t, workspace.x)

    def _times(self, P: Vector) -> Vector:
        """Sorted instants of events, with infinity at the end."""
        if self._times_of is None or self._times_of[0] is not P:
            times = self._workspace.times()
            self._times_of = P, np.append(np.unique(times[np.isfinite(times)]), math.inf)
        return self._times_of[1]

    def _first_crossing(self, start: float) -> tuple[float, Vector, int] | None:
        """First instant of the last step at which a switch should flip: time just past it, state and switch."""
        if not self._switches.size:
            return None
        workspace, integrator = self._workspace, self._integrator
        end, state = integrator.t, integrator.dense()

        def crossings(t: float) -> Vector:
            workspace.t[0], workspace.x[:] = t, integrator.x if t == end else state(t)
            if workspace.crossings_need_w:
                workspace.solve()
            return workspace.crossings()[self._switches]

        mode = workspace.m[self._switches] > 0.0
        # Copies: the next call of the function writes into the same memory.
        points = [(start, crossings(start).copy() if self._behind is None else self._behind)]
        self._behind = None
        for t in (0.5 * (start + end), end):
            points.append((t, crossings(t).copy()))
            if ((points[-1][1] >= 0.0) != mode).any():
                right = points[-1]
                break
        else:
            dip = _dip(crossings, mode, points) if end - start > time_margin(end) else None
            if dip is None:
                self._behind = points[-1][1]
                return None
            right = dip
        # What begins on its crossing is on either side of it by rounding: the middle tells more, where it lies before.
        left = points[1] if points[1][0] < right[0] else (start, crossings(start).copy())
        return self._locate(crossings, state, np.flatnonzero((right[1] >= 0.0) != mode), mode, left, right)

    def _locate(
        self,
        crossings: Callable[[float], Vector],
        state: Callable[[float], Vector],
        wrong: Vector,
        mode: Vector,
        left: tuple[float, Vector],
        right: tuple[float, Vector],
    ) -> tuple[float, Vector, int]:
        """First crossing between the points `left` and `right` (time, crossings), at which switches are `wrong`."""
        end, t, switch = right[0], right[0], int(wrong[0])
        found: set[int] = set()
        while wrong.size:
            found.update(int(i) for i in wrong)
            first = end
            for i in wrong:
                crossing = left[0]
                if (left[1][i] >= 0.0) == mode[i]:
                    xtol = 0.1 * time_margin(end)
                    crossing = optimize.brentq(
                        lambda t, i=i: float(crossings(t)[i]), left[0], end, xtol=xtol, disp=False
                    )
                if crossing < first:
                    first, switch = crossing, int(i)
            end = t = min(first + time_margin(first), end)
            # One may cross in here that agrees again at the end, where this one has not flipped yet.
            wrong = np.array(
                [i for i in np.flatnonzero((crossings(t) >= 0.0) != mode) if int(i) not in found], dtype=int
            )
        x = self._integrator.x if t == self._integrator.t else state(t)
        return t, x, int(self._switches[switch])


def _dip(
    crossings: Callable[[float], Vector], mode: Vector, points: list[tuple[float, Vector]]
) -> tuple[float, Vector] | None:
    """A point between the begin, middle and end of a step at which a switch is wrong that is right at these three.

    Where a parabola through three points comes close to zero, its lowest point is looked at, and so on with that one
    and its neighbours.
    """
    margin = DIP_MARGIN * (points[2][0] - points[0][0])
    for i in range(mode.size):
        sign = 1.0 if mode[i] else -1.0
        three = [(t, sign * float(values[i])) for t, values in points]
        for _ in range(DIP_SAMPLES):
            heights = [height for _, height in three]
            lowest, least = _vertex(three)
            if not least < DIP_NEAR * (max(heights) - min(heights)):
                break
            if min(abs(lowest - t) for t, _ in three) < margin:
                break
            values = crossings(lowest).copy()
            if sign * values[i] < -DIP_DEPTH * max(heights):
                return lowest, values
            four = sorted([*three, (lowest, sign * float(values[i]))])
            middle = min(max(int(np.argmin([height for _, height in four])), 1), 2)
            three = four[middle - 1 : middle + 2]
    return None


def _vertex(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Place and height of the lowest point of a parabola through three; infinite where it is not between them."""
    (t0, y0), (t1, y1), (t2, y2) = points
    first, second = (y1 - y0) / (t1 - t0), (y2 - y1) / (t2 - t1)
    bend = (second - first) / (t2 - t0)
    if not bend > 0.0:
        return t1, math.inf
    lowest = 0.5 * (t0 + t1) - 0.5 * first / bend
    if not t0 < lowest < t2:
        return t1, math.inf
    return lowest, y0 + (lowest - t0) * (first + bend * (lowest - t1))
