"""Communication steps as long as a tolerance allows: steps whose error is too large are taken back.

A step is made with inputs extrapolated from the points before; at its end FMUs agree on values (`Coupling.settle`).
Where these differ from the extrapolated ones by more than the tolerance, the FMUs go back and make the step again, now
with inputs interpolated between begin and end, along two lines in place of one. What that changes, of all outputs, is
the error of the first attempt; if it is above the tolerance, the step is made shorter. (Prediction and correction, as
in E. Hairer, S. P. Nørsett, G. Wanner: Solving Ordinary Differential Equations I, section III.1; lines as in
`mbfmu.cosimulation.lines`.)
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from mbfmu.cosimulation import lines
from mbfmu.cosimulation.coupling import Coupling, Slot, equal, nominal
from mbfmu.cosimulation.lines import Point
from mbfmu.cosimulation.recording import Account
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import AsksForNothing, Saved, Values
from mbfmu.fmi.variables import Scalar

#: The longest step, the first one, and the shortest that is tried, as parts of the run.
LONGEST, FIRST, SHORTEST = 1 / 50, 1e-4, 1e-10
#: Where signals that jump are located to, as a part of the run.
NEAR_JUMP = 1e-6
#: Change of the length from step to step, and the aim below the tolerance.
SHRINK, GROW, AIM = 0.1, 1.5, 0.75
#: What extrapolated inputs may miss, in tolerances, where the step is kept without correction: that adds up over steps.
UNCORRECTED = 0.1
#: What a correction may change, in tolerances: that of the steps before adds to it.
KEPT = 0.25
#: Orders of the errors of prediction and of correction.
PREDICTED, CORRECTED = 4, 4
#: Lines that FMUs follow in a correction. What more lines change is the error of a single one, which the difference of
#: prediction and correction does not show: both have the same values and means, but not the same way between.
PARTS = 2
#: What of FMI's nominal value an error may be relative to, however small a quantity is.
FLOOR = 1e-3
#: A prediction that is that far off, in tolerances, has met a jump where a line would have done as well.
FAR = 10.0
#: How often an event is handled where a step begins, before that is made.
EVENTS = 10
#: How often a step that an FMU cannot do is made shorter, and by how much.
FAILURES, RETREAT = 8, 0.25


class VariableSteps:
    """Steps all slaves of a coupling; `ended` says why the run ends, where a slave ends it."""

    def __init__(
        self, coupling: Coupling, sequential: bool, account: Account, team: Callable[..., Any], inputs: str | None,
        tolerance: float, longest: float | None,
    ) -> None:  # fmt: skip
        self.coupling, self.sequential, self.account, self.team = coupling, sequential, account, team
        self.tolerance, self.longest = tolerance, longest or math.inf
        self.ended: str | None = None
        slots = coupling.slots
        for slot in slots:
            if not slot.slave.description.coSimulation.canHandleVariableCommunicationStepSize:
                raise SimulationError(
                    f"{slot.slave.name}: takes steps of one length only (canHandleVariableCommunicationStepSize); give "
                    "the step"
                )
        stuck = [slot.slave.name for slot in slots if not slot.slave.saves]
        #: Can steps be taken back?
        self.goes_back = not stuck
        for name in stuck:
            account.note(
                f"{name}: cannot go back (canGetAndSetFMUState), so steps follow the error of the step before and "
                "nothing takes back one that is too long; compare with a smaller tolerance"
            )
        coupling.shafts.check(sequential, coupling.loops())
        if coupling.shafts.elements and stuck:
            raise SimulationError(
                f"{stuck[0]}: cannot go back (canGetAndSetFMUState), which steps of a tolerance need beside the rigid "
                f"shaft {coupling.shafts.shafts[0].name}; give the step"
            )
        for slot in slots:
            slot.slave.goes_back = self.goes_back
        size = len(coupling.links)
        #: Which links' inputs go along lines, and whether outputs are asked for slopes.
        self.lines = np.zeros(size, dtype=bool)
        #: Elements whose inputs do, those from outside, too.
        self._sloped = {slot.slave.name for slot in slots if inputs != "hold" and slot.slave.takes_slopes}
        self._sloped |= set(coupling.shafts.elements)
        for slot in slots:
            able = slot.slave.name in self._sloped
            self.lines[slot.continuous.of_u] = able
            if inputs != "hold" and not able and slot.continuous.of_u:
                account.note(f"{slot.slave.name}: takes no input derivatives, so its inputs are held at their means")
        self.tangent = inputs in (None, "tangent")
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, link in enumerate(coupling.links):
            groups.setdefault(link.group, []).append(i)
        self._groups = list(groups.values())
        coupling.followed = coupling.direct
        #: Outputs that nothing follows, whose errors count, too; their values, and the largest so far.
        self._others = [Values(_unfollowed_outputs(slot, coupling.shafts.led(slot.slave))) for slot in slots]
        self._other_names = [
            f"{s.slave.name}.{one.name}" for s, some in zip(slots, self._others, strict=True) for one in some.scalars
        ]
        self._other = np.zeros(len(self._other_names))
        self._other_largest = FLOOR * np.array([nominal(one) for some in self._others for one in some.scalars])
        self._largest = FLOOR * np.array([link.nominal for link in coupling.links])
        self._history: list[Point] = []
        self._told = np.zeros(size)
        self._before: tuple[list[Saved], list[Any], list[Any], np.ndarray, Any] | None = None
        self._asked = False
        #: By the name of a quantity, the first step that was as short as can be, and how many there were.
        self._forced: dict[str, tuple[str, int]] = {}

    def begin(self) -> None:
        """Take over where the coupling begins."""
        self.ended = self.coupling.ended
        self._other = self._read_others()
        self._see(self.coupling.u)

    # -- the run

    def run(self, start: float, stop: float) -> Iterator[tuple[float, list[Slot]]]:
        """Make steps, and give the time [s] after each one that is kept, and the slots: all have reached it."""
        span, time = stop - start, start
        size = FIRST * span
        self._restart(time)
        while time < stop and self.ended is None:
            whole = min(stop, self.coupling.signals.next_knot(time, SHORTEST * span)) - time
            size = min(max(size, SHORTEST * span), LONGEST * span, self.longest, whole)
            if whole - size < 0.1 * size:  # no tiny rest
                size = whole
            elif whole < 2 * size:
                size = whole / 2
            made, size = self._step(time, size, span)
            if not made:
                break
            time = time + made if made != whole else min(stop, time + whole)
            if abs(stop - time) <= SHORTEST * span:
                time = stop
            self.coupling.time = time
            for slot in self.coupling.slots:
                slot.slave.time = time
            yield time, self.coupling.slots
        for name, (told, count) in self._forced.items():
            self.account.note(
                f"{name} {told} keeps no tolerance of {self.tolerance:g}"
                f"{f', nor do {count - 1} later ones' if count > 1 else ''}; the coupling chatters, or an FMU is less "
                "accurate than it was told to be"
            )

    def _step(self, time: float, size: float, span: float) -> tuple[float, float]:
        """Make one step of at most a size [s]; returns its size, and that of the next one to be tried.

        A size of 0 says that an FMU has ended the run before.
        """
        failures, handled, exact, forced, rejected = 0, 0, False, False, False
        self._save()
        while True:
            try:
                made = self._attempt(time, size)
            except AsksForNothing as error:
                self._do_without_lines(error)
                self._restore()
                continue
            except SimulationError as error:
                failures += 1
                if not self.goes_back or failures > FAILURES or getattr(error, "final", False):
                    raise
                self._take_back()
                size *= RETREAT
                continue
            reached = min((slot.slave.time for slot in self.coupling.slots), default=time + size)
            early = reached < time + size - SHORTEST * span and self.goes_back
            if early and reached > time + SHORTEST * span and not exact:  # an event, or the end of a run: all go there
                self._take_back()
                size, exact = reached - time, True
                continue
            if early and self.coupling.ended is None and handled < EVENTS:  # an event where the step begins
                handled += 1
                self._handle_event_at(time, span)
                if self.coupling.ended is None:
                    continue
            if self.coupling.ended is not None and reached < time + size - SHORTEST * span:
                self.ended = self.coupling.ended  # where the step began, or somewhere in it, and nobody goes back
                if self.goes_back:
                    self._take_back()
                self._forget()
                return 0.0, size
            jumped = made.jumped or any(slot.slave.at_event for slot in self.coupling.slots)
            if not self.goes_back or made.error <= 1 or size <= SHORTEST * span:
                forced = made.error > 1 and self.goes_back
                if not (made.jumped and self.goes_back and not exact and size > NEAR_JUMP * span):
                    break
                self._take_back()
                size /= 2
                continue
            self._take_back()
            size *= float(np.clip(AIM * made.error ** (-1 / CORRECTED), SHRINK, 0.7))
            exact, rejected = False, True
        if forced:
            told, count = self._forced.get(made.worst, (f"at t = {time:.9g} s: a step of {size:.3g} s", 0))
            self._forced[made.worst] = (told, count + 1)
        following = self._keep(time + size, size, made, jumped)
        return size, min(following, size) if rejected else following

    def _handle_event_at(self, time: float, span: float) -> None:
        """Handle an event of slaves that have stopped where the step began [s]; all others go back to there."""
        slaves = (slot.slave for slot in self.coupling.slots)
        self._restore(but={one.name for one in slaves if one.at_event and one.time <= time + SHORTEST * span})
        self.coupling.time = time
        self.coupling.handle_events()
        self._forget()
        self._save()
        self._restart(time)

    def _keep(self, time: float, size: float, made: _Made, jumped: bool) -> float:
        """Go on from what an attempt has made; returns the size [s] to be tried next."""
        coupling = self.coupling
        self._forget()
        self.ended = coupling.ended
        self.account.kept(size)
        coupling.time = time
        for slot in coupling.slots:
            slot.slave.time = time
        knot = coupling.signals.drive is not None and bool(
            np.any(np.abs(coupling.signals.drive.knots - time) <= 1e-9 * max(size, abs(time)))
        )
        if jumped or knot:
            if self.ended is None:
                coupling.handle_events()
                self.ended = coupling.ended
            self._restart(time)
        elif made.far:
            self._restart(time)
        else:
            self._history = [*self._history[-2:], Point(time, coupling.u.copy(), made.slopes)]
        self._see(coupling.u)
        growth = AIM * max(made.error, 1e-10) ** (-1 / made.order)
        return size * float(np.clip(growth, 0.2, GROW))

    def _restart(self, time: float) -> None:
        """Forget what was before a time [s]: a jump."""
        self._history = [Point(time, self.coupling.u.copy(), self._slopes(self._told))]

    def _slopes(self, told: np.ndarray) -> np.ndarray:
        if not self.tangent:
            return np.full(told.size, math.nan)
        return self.coupling.slopes(told)

    def _see(self, u: np.ndarray) -> None:
        """Let scales grow with the values."""
        self._largest = np.maximum(self._largest, np.abs(u))
        for members in self._groups:
            self._largest[members] = self._largest[members].max()
        self._other_largest = np.maximum(self._other_largest, np.abs(self._other))

    def _read_others(self) -> np.ndarray:
        """Values of the outputs that nothing follows; 0 where they are not finite, as nothing needs them to be."""
        pairs = zip(self.coupling.slots, self._others, strict=True)
        read = [value for slot, some in pairs if len(some) for value in slot.slave.get(some, finite=False)]
        return np.nan_to_num(np.array(read, dtype=float), posinf=0.0, neginf=0.0)

    def _error(self, difference: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Differences in tolerances, [n]."""
        largest = np.maximum(self._largest, np.abs(u))
        for members in self._groups:
            largest[members] = largest[members].max()
        return np.abs(difference) / (self.tolerance * largest)

    # -- an attempt

    def _attempt(self, time: float, size: float) -> _Made:
        """Predict, step and, where that was not good enough, go back and correct."""
        coupling, before = self.coupling, list(self.coupling.held)
        ahead = lines.fit(self._history, time, size)
        self._pass(ahead, time, size, guess=True)
        first, other = coupling.u.copy(), self._other
        slopes = self._slopes(self._told)
        jumped = not all(map(equal, before, coupling.held))
        missed = self._error(first - lines.value(ahead, 1.0), first)
        straight = self._error(first - lines.value(lines.fit(self._history, time, size, 2), 1.0), first)
        far = len(self._history) > 1 and missed.max(initial=0.0) > FAR and straight.max() < 2 * missed.max()
        whole = all(slot.slave.time >= time + size * (1 - 1e-9) for slot in coupling.slots)
        if whole and any(slot.slave.at_event for slot in coupling.slots):
            # Values are those after the event, which tell nothing of the way to it; its size was tried before.
            return _Made(0.5, PREDICTED, slopes, True, True, self._name(missed))
        unseen = self._error(lines.moment_missed(ahead, self.lines), first).max(initial=0.0)
        good = missed.max(initial=0.0) <= UNCORRECTED and unseen <= UNCORRECTED and not coupling.shafts.elements
        if good or not self.goes_back or not whole:
            order = PREDICTED if len(self._history) > 1 else 2
            error = float(missed.max(initial=0.0)) / UNCORRECTED
            return _Made(error, order, slopes, jumped, far, self._name(missed))
        self._restore()
        between = [*self._history, Point(time + size, first, slopes)]
        self._pass(lines.fit(between, time, size), time, size, guess=False)
        moved = self._error(coupling.u - first, first)
        scale = self.tolerance * np.maximum(self._other_largest, np.abs(other))
        moved = np.append(moved, np.abs(self._other - other) / scale)
        jumped = jumped or not all(map(equal, before, coupling.held))
        error = float(moved.max(initial=0.0)) / KEPT
        return _Made(error, CORRECTED, self._slopes(self._told), jumped, far, self._name(moved))

    def _name(self, error: np.ndarray) -> str:
        return [*self.coupling.names, *self._other_names][int(np.argmax(error))] if error.size else ""

    def _pass(self, ahead: np.ndarray, time: float, size: float, guess: bool) -> None:
        """Step all slaves with inputs along polynomials [4, n], and agree at the end.

        They follow a guess along one line, and anything else along `PARTS` of them.
        """
        coupling = self.coupling
        coupling.time = time
        ahead, parts = ahead.copy(), 1 if guess else PARTS
        outputs, given, told = coupling.u.copy(), np.zeros(coupling.u.size), np.zeros(coupling.u.size)
        if not self.sequential:
            joined = [slot for slot in coupling.slots if slot.slave.name in coupling.shafts.elements]
            others = [slot for slot in coupling.slots if slot not in joined]
            list(self.team(lambda slot: self._go(slot, ahead, time, size, parts), others))
            if joined:
                self._go_joined(joined, ahead, time, size, parts)
        for slot in coupling.slots:
            if self.sequential:
                self._go(slot, ahead, time, size, parts)
            begin, change = lines.followed(lines.part(ahead, 1 - 1 / parts, 1.0), self.lines)
            of_u = slot.continuous.of_u
            given[of_u], told[of_u] = (begin + change)[of_u], change[of_u] / (size / parts)
            coupling.read(slot, outputs)
            coupling.read_held(slot)
            if self.sequential and guess and slot.continuous.of_y:  # those that follow know what this one has reached
                of_y, ends = slot.continuous.of_y, outputs.copy()
                if coupling.jacobian is not None:  # with inputs at their means, it shows what belongs to these
                    rows = slot.depending
                    ends[rows] += coupling.jacobian[rows] @ np.where(self.lines, 0.0, ahead.sum(axis=0) - given)
                reached = Point(time + size, ends, np.full(outputs.size, math.nan))
                ahead[:, of_y] = lines.fit([*self._history, reached], time, size)[:, of_y]
        self.account.calls += parts * len(coupling.slots)
        self._told = told
        coupling.time = time + size
        if coupling.followed:
            coupling.u = given
            coupling.reach(outputs, given, again=not guess)
            if not self._asked:
                self._asked = True
                coupling.look_for_answers()
        coupling.u = outputs
        coupling.settle()
        self._other = self._read_others()

    def _go(self, slot: Slot, ahead: np.ndarray, time: float, size: float, parts: int) -> None:
        """Step a slave with inputs along polynomials [4, n], in equal parts of a step; it may stop at an event."""
        for k in range(parts):
            self._go_part(slot, ahead, time, size, k, parts)
            if slot.slave.at_event or slot.slave.ended is not None:
                return

    def _go_part(self, slot: Slot, ahead: np.ndarray, time: float, size: float, k: int, parts: int) -> None:
        """One part of `parts`."""
        begin, change = lines.followed(lines.part(ahead, k / parts, (k + 1) / parts), self.lines)
        self._set_inputs(slot, begin, change, time + k * size / parts, size / parts)
        slot.slave.step(time + size * (k + 1) / parts - slot.slave.time)

    def _go_joined(self, slots: Sequence[Slot], ahead: np.ndarray, time: float, size: float, parts: int) -> None:
        """The same for slaves at rigid shafts, each part as often as their torques take, which have a line in each."""
        slaves, tried = [slot.slave for slot in slots], 0
        for k in range(parts):

            def step(k: int = k) -> None:
                nonlocal tried
                tried += 1
                list(self.team(lambda slot: self._go_part(slot, ahead, time, size, k, parts), slots))

            self.coupling.shafts.solve(slaves, time + k * size / parts, size / parts, step)
            if any(slave.at_event or slave.ended is not None for slave in slaves):
                break
        self.account.calls += (tried - parts) * len(slots)

    def _set_inputs(self, slot: Slot, begin: np.ndarray, change: np.ndarray, time: float, size: float) -> None:
        port = slot.continuous
        sloped = slot.slave.name in self._sloped
        first, more = self.coupling.signals.along(slot.slave.name, time, size, sloped)
        torques = [self.coupling.shafts.torques(slot.slave.name, share) for share in (0.0, 1.0)]
        if len(port.inputs):
            slot.slave.set(port.inputs, [*begin[port.of_u], *first, *torques[0]])
            if sloped:
                changes = np.concatenate([change[port.of_u], more, torques[1] - torques[0]])
                slot.slave.set_slopes(port.inputs, changes / size)
        self.coupling.set_held(slot)

    def _do_without_lines(self, error: AsksForNothing) -> None:
        """An FMU of FMI 3.0 asks for no inputs within steps, though it has intermediate updates."""
        name = str(error).partition(":")[0]
        slot = next(slot for slot in self.coupling.slots if slot.slave.name == name)
        if name not in self._sloped or not self.goes_back:
            raise error
        self._sloped.remove(name)
        self.lines[slot.continuous.of_u] = False
        slot.slave.hold_inputs()
        self.account.note(f"{name}: asks for no inputs within steps, so they are held at their means")

    # -- going back

    def _save(self) -> None:
        if self.goes_back:
            slots = self.coupling.slots
            self._before = (
                [slot.slave.save() for slot in slots], list(self.coupling.held), [slot.given for slot in slots],
                self.coupling.u.copy(), self.coupling.shafts.line,
            )  # fmt: skip

    def _restore(self, but: Collection[str] = ()) -> None:
        """Go back to what was saved, but for some slaves, by name."""
        assert self._before is not None
        saved, held, given, u, self.coupling.shafts.line = self._before
        for slot, state, what in zip(self.coupling.slots, saved, given, strict=True):
            if slot.slave.name not in but:
                slot.slave.restore(state)
                slot.given = what
        self.coupling.held, self.coupling.u = list(held), u

    def _take_back(self) -> None:
        self.account.rejected += 1
        self._restore()

    def _forget(self) -> None:
        if self._before is not None:
            for slot, state in zip(self.coupling.slots, self._before[0], strict=True):
                slot.slave.forget(state)
        self._before = None


def _unfollowed_outputs(slot: Slot, without: Collection[str]) -> list[Scalar]:
    """Continuous outputs of a slave that no continuous input follows, but for some variables."""
    followed = {scalar.name for scalar in slot.continuous.outputs.scalars}
    return [
        scalar
        for variable in slot.slave.description.modelVariables
        if variable.causality == "output"
        for scalar in slot.slave.interface[variable.name]
        if scalar.continuous and scalar.name not in followed and variable.name not in without
    ]


@dataclasses.dataclass(frozen=True)
class _Made:
    """What an attempt has made: its error in tolerances, and of which order that is in the size of the step."""

    error: float
    order: int
    slopes: np.ndarray
    #: Has a signal jumped; was the prediction far off?
    jumped: bool
    far: bool
    #: Name of the link with the largest error.
    worst: str
