"""Communication steps of fixed length, with held or extrapolated inputs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mbfmu.cosimulation.coupling import Coupling, Ends, Slot
from mbfmu.cosimulation.recording import Account
from mbfmu.errors import SimulationError
from mbfmu.fmi.slave import Slave


class FixedSteps:
    """Steps all slaves of a coupling; `ended` says why the run ends, where a slave ends it."""

    def __init__(
        self, coupling: Coupling, sequential: bool, account: Account, team: Callable[..., Any], inputs: str
    ) -> None:
        self.coupling, self.sequential, self.account, self.team = coupling, sequential, account, team
        self.inputs = inputs
        for slot in coupling.slots:
            self._check_capabilities(slot.slave, bool(slot.continuous.of_u), bool(slot.continuous.of_y))
        size = len(coupling.links)
        self.y, self.slopes, self.before = np.zeros(size), np.zeros(size), np.zeros(size)
        #: Slopes that slaves were told.
        self._told = np.zeros(size)
        #: Length of the step before; no line can be drawn before there was one.
        self.last: float | None = None
        self.ended: str | None = None

    def _check_capabilities(self, slave: Slave, takes: bool, gives: bool) -> None:
        able = slave.description.coSimulation
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

    def begin(self) -> None:
        """Take over where the coupling begins."""
        self.y = self.coupling.u.copy()
        if self.inputs == "tangent":
            self.slopes = self.coupling.slopes(self.slopes)

    def run(self, times: np.ndarray) -> Iterator[float]:
        """Make steps to the times [n], and give each one [s] that all slaves have reached."""
        times = self._points(times)
        for time, after in itertools.pairwise(times.tolist()):
            self.step(time, after)
            if self.ended is not None:
                return
            yield after

    def _points(self, times: np.ndarray) -> np.ndarray:
        """Communication points: the times [n], and where inputs from outside jump or kink, if FMUs allow."""
        free = all(
            slot.slave.description.coSimulation.canHandleVariableCommunicationStepSize for slot in self.coupling.slots
        )
        drive = self.coupling.signals.drive
        if drive is None or not free:
            return times
        knots = drive.snapped(times).knots
        return np.union1d(times, knots[(knots > times[0]) & (knots < times[-1])])

    def step(self, time: float, after: float) -> None:
        """One communication step from a time to a later one, s; `ended` says why the run ends within it."""
        coupling, size = self.coupling, after - time
        if self.inputs == "secant" and self.last is not None:
            self.slopes = (self.y - self.before) / self.last
        coupling.time = time
        outputs, given = self.y.copy(), np.zeros(self.y.size)
        if not self.sequential:
            for slot in coupling.slots:
                self._set_inputs(slot, size, given)
            self.account.calls += len(coupling.slots)
            list(self.team(lambda slot: slot.slave.step(size), coupling.slots))
            self._look_for_end()
            if self.ended is not None:
                return
            for slot in coupling.slots:
                coupling.read(slot, outputs)
                coupling.read_held(slot)
        else:
            for slot in coupling.slots:
                self._set_inputs(slot, size, given)
                self.account.calls += 1
                slot.slave.step(size)
                self._look_for_end()
                if self.ended is not None:
                    return
                coupling.read(slot, outputs)
                coupling.read_held(slot)
                self._pass_on(slot.continuous, outputs, size)
        for slot in coupling.slots:
            slot.slave.time = after
        coupling.time = after
        self._agree(outputs, given)
        self.before, self.y, self.last = self.y, coupling.u.copy(), size
        if self.inputs == "tangent":
            self.slopes = coupling.slopes(self._told)
        self.account.kept(size)

    def _agree(self, outputs: np.ndarray, given: np.ndarray) -> None:
        """Let the inputs be what the outputs are and, on algebraic loops, what all agree on."""
        coupling = self.coupling
        if not coupling.loop:
            coupling.u = outputs.copy()
            return
        coupling.u = given
        coupling.reach(outputs, given)
        if self.last is None:
            coupling.look_for_answers()
        coupling.u = outputs.copy()
        coupling.settle()

    def _look_for_end(self) -> None:
        self.ended = next((s.slave.ended for s in self.coupling.slots if s.slave.ended is not None), None)

    def _pass_on(self, port: Ends, outputs: np.ndarray, size: float) -> None:
        """Give the slaves that follow in this step what this one has reached: held, or along the line to it."""
        if self.inputs == "hold":
            self.coupling.u[port.of_y] = outputs[port.of_y]
        else:
            self.slopes[port.of_y] = (outputs[port.of_y] - self.y[port.of_y]) / size

    def _set_inputs(self, slot: Slot, size: float, given: np.ndarray) -> None:
        """Set what a slave is to know in a step; `given` [n] gets the values that inputs have at its end."""
        port, lines = slot.continuous, self.inputs != "hold"
        begin, change = self.coupling.signals.along(slot.slave.name, self.coupling.time, size, lines)
        slot.slave.set(port.inputs, [*self.coupling.u[port.of_u], *begin])
        if lines:
            slot.slave.set_slopes(port.inputs, np.append(self.slopes[port.of_u], change / size))
        given[port.of_u] = self.coupling.u[port.of_u] + (size * self.slopes[port.of_u] if lines else 0.0)
        self._told[port.of_u] = self.slopes[port.of_u] if lines else 0.0
        self.coupling.set_held(slot)
