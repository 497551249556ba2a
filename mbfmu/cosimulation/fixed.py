"""Communication steps of fixed lengths, one for all FMUs or one for each, with held or extrapolated inputs.

FMUs whose steps begin at one instant take the longest steps first: those with shorter ones then follow outputs between
two points that are known (slowest first: C. W. Gear, D. R. Wells: Multirate linear multistep methods, BIT 24 (1984),
484-502). What a long step needs of FMUs with shorter ones is extrapolated over all of it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mbfmu.cosimulation.coupling import Coupling, Slot
from mbfmu.cosimulation.recording import Account
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import AsksForNothing, Slave

#: Communication points that are nearer than this part of the shortest step are one.
NEAR = 1e-9


class FixedSteps:
    """Steps all slaves of a coupling; `ended` says why the run ends, where a slave ends it."""

    def __init__(
        self, coupling: Coupling, sequential: bool, account: Account, team: Callable[..., Any], inputs: str,
        steps: Mapping[str, float],
    ) -> None:  # fmt: skip
        self.coupling, self.sequential, self.account, self.team = coupling, sequential, account, team
        self.inputs, self.steps = inputs, steps
        if coupling.shafts.elements:
            self._check_shafts()
        for slot in coupling.slots:
            self._check_capabilities(slot.slave, bool(slot.continuous.of_u), bool(slot.continuous.of_y))
        #: Groups of elements on one algebraic loop.
        self._loops = coupling.loops()
        #: Elements whose inputs go along lines; with `best`, those of others are held at their means.
        self._sloped = {s.slave.name for s in coupling.slots if inputs != "hold" and s.slave.takes_slopes}
        self._sloped |= set(coupling.shafts.elements)
        size = len(coupling.links)
        #: Links whose FMUs tell slopes of outputs.
        self._tells = np.zeros(size, dtype=bool)
        for slot in coupling.slots:
            able = bool(slot.slave.description.coSimulation.maxOutputDerivativeOrder)
            self._tells[slot.continuous.of_y] = able and inputs in ("tangent", "best")
        #: The last two points of every continuous link: times [s], values and the slope at the newer one, [n] each. No
        #: line can be drawn before there are two.
        self.reached, self.y, self.slopes = np.zeros(size), np.zeros(size), np.zeros(size)
        self.sizes, self.before = np.full(size, np.nan), np.zeros(size)
        #: Those of the links that jump: the time of the newer one, its value and the one before.
        self._held: list[tuple[float, Any, Any]] = []
        #: Slopes that slaves were told.
        self._told = np.zeros(size)
        self._looked: set[str] = set()
        self.ended: str | None = None

    def _check_capabilities(self, slave: Slave, takes: bool, gives: bool) -> None:
        able = slave.description.coSimulation
        if self.inputs == "best":
            if takes and not slave.takes_slopes:
                self._note_means(slave.name)
            return
        if self.inputs != "hold" and takes and not slave.takes_slopes:
            raise SimulationError(
                f"{slave.name}: takes no input derivatives (canInterpolateInputs of FMI 2.0, "
                f"providesIntermediateUpdate of FMI 3.0), which inputs={self.inputs!r} needs; choose inputs='hold'"
            )
        if self.inputs == "tangent" and gives and not able.maxOutputDerivativeOrder:
            raise SimulationError(
                f"{slave.name}: gives no output derivatives (maxOutputDerivativeOrder), which inputs='tangent' needs; "
                "choose inputs='secant'"
            )

    def _check_shafts(self) -> None:
        shafts = self.coupling.shafts
        at_shafts = "rigid shafts whose flanges both take torque"
        shafts.check(self.sequential, self.coupling.loops())
        lengths = {self.steps[name] for name in shafts.elements}
        if len(lengths) > 1:
            raise SimulationError(f"{', '.join(shafts.elements)}: are at {at_shafts}, and need steps of one length")

    def _note_means(self, name: str) -> None:
        self.account.note(f"{name}: takes no input derivatives, so its inputs are held at their means")

    def _check_loops(self) -> None:
        """Refuse algebraic loops through FMUs that seldom stand at one instant.

        Loops of FMUs that do not say what depends on what count where outputs do answer at the start.
        """
        different = [loop for loop in self._loops if len({self.steps[name] for name in loop}) > 1]
        if not different:
            return
        self._loops = self.coupling.loops(answering=True)
        for loop in self._loops:
            steps = {name: self.steps[name] for name in loop}
            if len(set(steps.values())) > 1:
                told = ", ".join(f"{name} {step:g} s" for name, step in steps.items())
                raise SimulationError(
                    f"{' and '.join(loop)}: are on an algebraic loop, as of a rigid coupling, and take steps of "
                    f"different lengths ({told}); give them one step"
                )
        for loop in different:
            self.account.note(
                f"{' and '.join(loop)}: may be on an algebraic loop by what they say of their outputs, which do not "
                "answer to inputs at the start; with steps of different lengths they are taken for free of loops"
            )

    def begin(self) -> None:
        """Take over where the coupling begins."""
        coupling = self.coupling
        self._check_loops()
        self.y = coupling.u.copy()
        self.reached[:] = coupling.time
        self._held = [(coupling.time, value, value) for value in coupling.held]
        told = coupling.slopes(self._told) if self._tells.any() else self.slopes
        self.slopes = np.where(self._tells, told, 0.0)

    def _step_joined(self, slots: Sequence[Slot], time: float, end: float, given: np.ndarray) -> None:
        """Step slots that are at rigid shafts, as often as their torques take."""

        def step() -> None:
            self.coupling.time = time
            for slot in slots:
                slot.slave.goes_back = True
                self._set_inputs(slot, time, end, given)
            self.account.calls += len(slots)
            list(self.team(lambda slot: self._go(slot, end - time), slots))

        self.coupling.shafts.solve([slot.slave for slot in slots], time, end - time, step)

    # -- the run

    def run(self, start: float, stop: float) -> Iterator[tuple[float, list[Slot]]]:
        """Make steps, and give the time [s] after each, and the slots that have reached it."""
        slots, points = self.coupling.slots, self._points(start, stop)
        place = dict.fromkeys(points, 0)
        while self.ended is None:
            now = min(points[name][place[name]] for name in points)
            if now >= stop:
                return
            due = [slot for slot in slots if points[slot.slave.name][place[slot.slave.name]] == now]
            ends = {slot.slave.name: points[slot.slave.name][place[slot.slave.name] + 1] for slot in due}
            for end in sorted(set(ends.values()), reverse=True):
                group = [slot for slot in due if ends[slot.slave.name] == end]
                if self._step(group, now, end):
                    yield end, group
                if self.ended is not None:
                    return
                for slot in group:
                    place[slot.slave.name] += 1

    def _points(self, start: float, stop: float) -> dict[str, list[float]]:
        """Communication points [s] of each element: its steps, and where inputs from outside jump or kink, if possible.

        Points of several elements that are the same but for rounding are equal.
        """
        slots, drive = self.coupling.slots, self.coupling.signals.drive
        grids = {name: communication_points(start, stop, step) for name, step in self.steps.items()}
        every = functools.reduce(np.union1d, grids.values())
        free = all(slot.slave.description.coSimulation.canHandleVariableCommunicationStepSize for slot in slots)
        if drive is not None and free:
            knots = drive.snapped(every).knots
            knots = knots[(knots > start) & (knots < stop)]
            grids = {name: np.union1d(grid, knots) for name, grid in grids.items()}
            every = np.union1d(every, knots)
        first = np.diff(every, prepend=-np.inf) > NEAR * min(self.steps.values())
        chosen = every[first][np.cumsum(first) - 1]
        chosen[chosen > stop - NEAR * min(self.steps.values())] = stop
        same = dict(zip(every.tolist(), chosen.tolist(), strict=True))
        return {name: list(dict.fromkeys(same[t] for t in grid.tolist())) for name, grid in grids.items()}

    def _step(self, group: Sequence[Slot], time: float, end: float) -> bool:
        """One communication step of some slots, s; have they all reached its end? `ended` says why the run ends."""
        coupling, size = self.coupling, end - time
        coupling.time = time
        given = coupling.u.copy()
        if not self.sequential:
            joined = [slot for slot in group if slot.slave.name in coupling.shafts.elements]
            others = [slot for slot in group if slot not in joined]
            for slot in others:
                self._set_inputs(slot, time, end, given)
            self.account.calls += len(others)
            list(self.team(lambda slot: self._go(slot, size), others))
            if joined:
                self._step_joined(joined, time, end, given)
            if not self._arrived(group, end, size):
                return False
            for slot in group:
                self._take(slot, end, size)
        else:
            for slot in group:
                self._set_inputs(slot, time, end, given)
                self.account.calls += 1
                self._go(slot, size)
                if not self._arrived([slot], end, size):
                    return False
                self._take(slot, end, size)
        for slot in group:
            slot.slave.time = end
        coupling.time = end
        rows = sorted(i for slot in group for i in slot.continuous.of_y)
        self._agree(group, rows, given)
        told = coupling.slopes(self._told, group) if self._tells[rows].any() else self.slopes
        for i in rows:
            if self._tells[i]:
                self.slopes[i] = told[i]
            elif self.inputs != "hold":
                self.slopes[i] = (self.y[i] - self.before[i]) / self.sizes[i]
        self.account.kept(size)
        return True

    def _go(self, slot: Slot, size: float) -> None:
        try:
            slot.slave.step(size)
        except AsksForNothing:  # found out in its first step, in which its inputs have been held
            if self.inputs != "best":
                raise
            name = slot.slave.name
            self._sloped.discard(name)
            slot.slave.hold_inputs()
            slot.slave.time += size
            self.account.note(f"{name}: asks for no inputs within steps, so they are held at their means")

    def _arrived(self, group: Sequence[Slot], end: float, size: float) -> bool:
        """Have all reached the end [s] of their step?"""
        self.ended = self.ended or self.coupling.ended
        return all(slot.slave.ended is None or slot.slave.time >= end - NEAR * size for slot in group)

    def _take(self, slot: Slot, end: float, size: float) -> None:
        """Take over the outputs of a slot that has reached a time [s]."""
        coupling, rows = self.coupling, slot.continuous.of_y
        self.before[rows], self.sizes[rows], self.reached[rows] = self.y[rows], size, end
        coupling.read(slot, self.y)
        coupling.read_held(slot)
        for i in slot.held.of_y:
            self._held[i] = (end, coupling.held[i], self._held[i][1])

    def _agree(self, group: Sequence[Slot], rows: list[int], given: np.ndarray) -> None:
        """Let the outputs of a group be what it has reached and, on algebraic loops, what all agree on."""
        coupling = self.coupling
        looped = {name for loop in self._loops for name in loop}
        if self.ended is None and any(slot.slave.name in looped for slot in group):
            kept = coupling.u
            outputs = given.copy()
            outputs[rows] = self.y[rows]
            coupling.u = given
            coupling.reach(outputs, given, slots=group)
            if not looped.isdisjoint({slot.slave.name for slot in group} - self._looked):
                coupling.look_for_answers(group)
                self._looked |= {slot.slave.name for slot in group}
            coupling.u = outputs
            coupling.settle(group)
            self.y[rows] = coupling.u[rows]
            coupling.u = kept
        coupling.u[rows] = self.y[rows]

    # -- inputs

    def _set_inputs(self, slot: Slot, time: float, end: float, given: np.ndarray) -> None:
        """Set what a slave is to know in a step; `given` [n] gets the values that inputs have at its end."""
        port, size = slot.continuous, end - time
        lines = slot.slave.name in self._sloped
        first, slopes = self._followed(port.of_u, time, end)
        if not lines:
            first = first + size / 2 * slopes  # the mean; slopes are 0 where inputs are held
            slopes = np.zeros(len(port.of_u))
        begin, change = self.coupling.signals.along(slot.slave.name, time, size, lines)
        torques = [self.coupling.shafts.torques(slot.slave.name, share) for share in (0.0, 1.0)]
        begin, change = np.append(begin, torques[0]), np.append(change, torques[1] - torques[0])
        slot.slave.set(port.inputs, [*first, *begin])
        if lines:
            slot.slave.set_slopes(port.inputs, np.append(slopes, change / size))
        given[port.of_u] = first + size * slopes
        self._told[port.of_u] = slopes
        for i in slot.held.of_u:
            reached, value, before = self._held[i]
            self.coupling.held[i] = value if reached <= end else before
        self.coupling.set_held(slot)

    def _followed(self, rows: list[int], time: float, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Where inputs begin in a step from a time to an end [s], and their slopes in it, [rows] each.

        Between two points that are known they follow the chord, else the slope of the last one.
        """
        begin, slopes = self.y[rows], self.slopes[rows]
        for k, i in enumerate(rows):
            if self.reached[i] > time and self.inputs == "hold":
                begin[k] = self._value(i, end)
            elif self.reached[i] > time:
                begin[k] = self._value(i, time)
                slopes[k] = (self._value(i, end) - begin[k]) / (end - time)
        return begin, slopes

    def _value(self, i: int, time: float) -> float:
        """Value of a link on the chord of its last two points, and on the slope of the newer one after it."""
        if time >= self.reached[i]:
            return float(self.y[i] + (time - self.reached[i]) * self.slopes[i])
        share = (self.reached[i] - time) / self.sizes[i]
        return float(self.before[i] if share >= 1 - NEAR else self.y[i] + share * (self.before[i] - self.y[i]))


def communication_points(start: float, stop: float, step: float) -> np.ndarray:
    """Multiples of a step [s] from the start, without accumulated rounding, and the stop time itself."""
    count = max(1, math.ceil((stop - start) / step * (1 - 1e-12)))
    return np.append(start + step * np.arange(count), stop)
