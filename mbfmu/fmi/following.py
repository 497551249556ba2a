"""Inputs of FMUs of any tool over time: lines within steps, stairs, and jumps that stay jumps."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbfmu.fmi.slave import Slave, Values
from mbfmu.fmi.variables import Interface
from mbfmu.runtime.drive import Drive


class Inputs:
    """Inputs of an instance that follow a drive: along lines, or by stairs where it takes no lines.

    Stairs have two steps from each point of the line to the next: the first holds what the line has where it begins,
    the second what it has where it ends. So states are met to second order, and at recorded instants the input is that
    of the line.
    """

    def __init__(self, slave: Slave, drive: Drive, interface: Interface, takes_lines: bool, deaf: bool) -> None:
        self.slave, self.drive = slave, drive
        scalars = [interface[name][0] for name in drive.names]
        sloped = drive.slopes.any(axis=0)
        self.stairs = bool(sloped.any()) and (deaf or not takes_lines)
        #: Steps from one point to the next, and how many were made.
        self.parts, self._count = 1, 0
        #: Columns of the drive that go along lines, and those that hold their values; and how both are set.
        self._along = np.flatnonzero(sloped & (not self.stairs))
        self._held = np.flatnonzero(~sloped | self.stairs)
        self._lines, self._steps = (Values([scalars[k] for k in some]) for some in (self._along, self._held))
        self._before: np.ndarray | None = None

    @property
    def knots(self) -> np.ndarray:
        """Instants at which lines begin or values change, s."""
        return self.drive.knots

    def set_values(self, time: float) -> None:
        """Set all inputs to what they have from a time [s] on."""
        values = self.drive.lines(time, time)[0]
        self.slave.set(self._lines, values[self._along])
        self._hold(values)

    def set_lines(self, begin: float, time: float) -> None:
        """Set what moves to what it has at a time [s] on the lines that it is on from `begin` on."""
        if self._along.size:
            self.slave.set(self._lines, self.drive.lines(begin, time)[0][self._along])

    def follow(self, begin: float, end: float) -> None:
        """Tell the instance what inputs do from a time to a later one, s."""
        values, slopes = self.drive.lines(begin, begin)
        reached = self._until(end)
        jumps = self.drive.knots[(self.drive.knots > begin) & (self.drive.knots < end)]
        if self._along.size:
            # An FMU whose steps have one length goes over knots: past a kink on the chord, past a jump on its line.
            over = bool(jumps.size) and all(np.allclose(self.drive.lines(t, t)[0], self._until(t)) for t in jumps)
            slopes = (reached - values) / (end - begin) if over else slopes
            self.slave.set(self._lines, values[self._along])
            self.slave.set_slopes(self._lines, slopes[self._along])
        if self.stairs and self.parts == 1:  # the FMU makes no shorter steps: the mean
            values = (values + reached) / 2
        self._hold(reached if self._count % self.parts % 2 else values)
        self._count += 1

    def _hold(self, values: np.ndarray) -> None:
        """Set what holds its value, where it has changed."""
        given = values[self._held]
        if self._before is None or not np.array_equal(given, self._before):
            self.slave.set(self._steps, given)
            self._before = given

    def _until(self, time: float) -> np.ndarray:
        """Values just before a time, [n]."""
        return self.drive.lines(time, time, until=True)[0]


def follow_in_model_exchange(slave: Slave, inputs: Inputs, start_time: float) -> np.ndarray:
    """Let an instance for model exchange have its inputs wherever FMPy goes with it.

    FMPy sets inputs where it stops, and not where CVode asks for derivatives. So they are set with the time; and as
    CVode looks past the points where it stops, each line goes on until the event at its end, of which FMPy is told: a
    table of instants, each twice, is returned, to be its `input`.
    """
    fmu = slave.fmu
    begin = [start_time]
    set_time, to_events, to_motion, to_initialisation = (
        fmu.setTime, fmu.enterEventMode, fmu.enterContinuousTimeMode, fmu.enterInitializationMode
    )  # fmt: skip
    reached = [start_time]

    def at(time: float) -> None:
        set_time(time)
        reached[0] = time
        inputs.set_lines(begin[0], time)

    def initialise(*arguments: Any, **options: Any) -> None:
        to_initialisation(*arguments, **options)
        inputs.set_values(start_time)

    def handle_events(*arguments: Any) -> None:
        to_events(*arguments)
        # FMPy takes an event and a knot that are this close for one
        begin[0] = reached[0] + 2e-9 * max(1.0, abs(reached[0]))
        inputs.set_values(begin[0])

    def move(*arguments: Any) -> None:
        to_motion(*arguments)
        inputs.set_lines(begin[0], reached[0])

    fmu.setTime, fmu.enterEventMode = at, handle_events
    fmu.enterContinuousTimeMode, fmu.enterInitializationMode = move, initialise
    return np.array([(t,) for t in np.repeat(inputs.knots, 2)], dtype=[("time", float)])
