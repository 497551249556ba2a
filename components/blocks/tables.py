"""Tables of time (Modelica.Blocks.Sources.TimeTable, CombiTimeTable 4.0)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from mbfmu.components.blocks.sources import period_count, periodic_event
from scipy.interpolate import Akima1DInterpolator

from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Parameter, RealOutput
from mbfmu.modeling import types as t

SMOOTHNESS = t.Type("Smoothness", "String", values=("LinearSegments", "ConstantSegments", "ContinuousDerivative"))
EXTRAPOLATION = t.Type(
    "Extrapolation", "String", values=("HoldLastPoint", "LastTwoPoints", "Periodic", "NoExtrapolation")
)
TIME_EVENTS = t.Type("TimeEvents", "String", values=("Always", "AtDiscontinuities", "NoTimeEvents"))

#: Value of a signal vector as a function of the table's time.
Law = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Pieces:
    """A piecewise law: `laws[0]` until `instants[0]`, `laws[i]` from `instants[i - 1]` on."""

    instants: tuple[float, ...]
    laws: tuple[Law, ...]


def pieces(table: np.ndarray, smoothness: str, extrapolation: str) -> Pieces:
    """Interpolation of a table (time, values ...), its rows in order of time; equal times are a jump."""
    x, y = table[:, 0], table[:, 1:]
    starts = np.flatnonzero(np.diff(x) > 0)
    if not starts.size:
        return Pieces((), (_constant(y[-1]),))
    if smoothness == "ConstantSegments":
        inner = [_constant(y[i]) for i in starts]
        first, last = _constant(y[0]), _constant(y[-1])
    elif smoothness == "LinearSegments":
        inner = [_line(x[i], y[i], (y[i + 1] - y[i]) / (x[i + 1] - x[i])) for i in starts]
        ends_with_jump = starts[-1] != len(x) - 2
        first, last = inner[0], _constant(y[-1]) if ends_with_jump else inner[-1]
    else:
        spline = Akima1DInterpolator(x, y) if len(x) > 2 else None
        if spline is None:
            return pieces(table, "LinearSegments", extrapolation)
        inner = [_cubic(x[i], spline.c[:, i]) for i in starts]
        slope = spline.derivative()
        first, last = _line(x[0], y[0], slope(x[0])), _line(x[-1], y[-1], slope(x[-1]))
    if extrapolation == "HoldLastPoint":
        first, last = _constant(y[0]), _constant(y[-1])
    instants = (*x[starts], x[-1])
    return Pieces(tuple(float(v) for v in instants), (first, *inner, last))


def _constant(value: np.ndarray) -> Law:
    return lambda time: ca.SX(value)


def _line(start: float, value: np.ndarray, slope: np.ndarray) -> Law:
    return lambda time: ca.SX(value) + ca.SX(slope) * (time - start)


def _cubic(start: float, coefficients: np.ndarray) -> Law:
    def law(time: Any) -> Any:
        value = ca.SX(coefficients[0])
        for c in coefficients[1:]:
            value = value * (time - start) + ca.SX(c)
        return value

    return law


class _TimeTable(Component):
    """Table look-up with respect to time."""

    table = Parameter(
        t.Real, (), "Table matrix (time = first column; e.g., table=[0, 0; 1, 1; 2, 4])", shape=None, structural=True
    )
    timeScale = Parameter(t.Time, 1.0, "Time scale of first table column", min=1e-60)
    startTime = Parameter(t.Time, 0.0, "Output = offset for time < startTime")
    shiftTime = Parameter(t.Time, lambda self: self.startTime, "Shift time of first table column")

    def rows_of(self, columns: tuple[int, ...] | None, least: int = 2) -> np.ndarray:
        """The table's time and these columns (counted from 1; None: all), checked."""
        table, where = np.asarray(self.table, dtype=float), f"{self._component.where}.table"
        if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < least:
            raise ModelError(
                f"{where}: expected rows of time and {'values' if least > 2 else 'value'}, such as "
                f"[[0, 0], [1, 1], [2, 4]]; got shape {table.shape}"
            )
        columns = tuple(range(2, table.shape[1] + 1)) if columns is None else columns
        wrong = [c for c in columns if not 1 <= c <= table.shape[1]]
        if wrong:
            raise ModelError(
                f"{self._component.where}.columns: there is no column {wrong[0]} in a table of {table.shape[1]} columns"
            )
        falling = np.flatnonzero(np.diff(table[:, 0]) < 0)
        if falling.size:
            i = int(falling[0])
            raise ModelError(
                f"{where}: time falls from {table[i, 0]:g} in row {i + 1} to {table[i + 1, 0]:g}; sort the rows by time"
            )
        return table[:, [0, *(c - 1 for c in columns)]]

    def look_up(self, table: np.ndarray, smoothness: str, extrapolation: str) -> Any:
        """Values at the present time, a column; 0 before startTime."""
        if smoothness == "ContinuousDerivative" and np.any(np.diff(table[:, 0]) == 0):
            raise ModelError(
                f"{self._component.where}: a table with jumps (equal times) cannot have continuous derivatives; "
                "use LinearSegments"
            )
        parts = pieces(table, smoothness, extrapolation)
        time = phase = (self.time - self.shiftTime) / self.timeScale
        repeats = False
        start, end = float(table[0, 0]), float(table[-1, 0])
        if extrapolation == "Periodic" and end > start:
            period = end - start
            begin = self.shiftTime + self.timeScale * start
            time = time - period * period_count(self, begin, self.timeScale * period)
            phase = phase - period * ca.floor((phase - start) / period)
            repeats = True
        value = parts.laws[0](time)
        for instant, law in zip(parts.instants, parts.laws[1:], strict=True):
            at = self.shiftTime + self.timeScale * instant
            if repeats:
                periodic_event(self, at, self.timeScale * period)
            else:
                self.time_event(at)
            value = self.switch(phase - instant, law(time), value)
        if extrapolation == "NoExtrapolation":
            self.require(
                ca.fmin(phase - start, end - phase),
                f"time has left the table's range of {start:g} to {end:g}, and "
                "extrapolation = 'NoExtrapolation'; extend the table, or choose an extrapolation",
            )
        self.time_event(self.startTime)
        return self.switch(self.time - self.startTime, value, ca.SX.zeros(value.numel()))


class TimeTable(_TimeTable):
    """Generate a (possibly discontinuous) signal by linear interpolation in a table."""

    modelica_name = "Blocks.Sources.TimeTable"

    offset = Parameter(t.Real, 0.0, "Offset of output signal", tunable=True)
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.offset + self.look_up(self.rows_of((2,)), "LinearSegments", "LastTwoPoints")


class CombiTimeTable(_TimeTable):
    """Table look-up with respect to time and various interpolation and extrapolation methods."""

    modelica_name = "Blocks.Sources.CombiTimeTable"

    tableOnFile = Parameter(t.Boolean, False, "= true, if table is defined on file (files cannot be read here)")
    tableName = Parameter(t.String, "NoName", "Table name on file")
    fileName = Parameter(t.String, "NoName", "File where matrix is stored")
    verboseRead = Parameter(t.Boolean, True, "= true, if info message that file is loading is to be printed")
    columns = Parameter(
        t.Integer,
        lambda self: tuple(range(2, max(2, np.shape(self.table)[-1]) + 1)),
        "Columns of table to be interpolated",
        shape=None,
    )
    smoothness = Parameter(SMOOTHNESS, "LinearSegments", "Smoothness of table interpolation")
    extrapolation = Parameter(EXTRAPOLATION, "LastTwoPoints", "Extrapolation of data outside the definition range")
    offset = Parameter(t.Real, (0.0,), "Offsets of output signals", shape=None, tunable=True)
    timeEvents = Parameter(
        TIME_EVENTS, "Always", "Time event handling of table interpolation (events are at all times of the table)"
    )
    verboseExtrapolation = Parameter(
        t.Boolean, False, "= true, if warning messages are to be printed if time is outside the table definition range"
    )

    y = RealOutput("Connector of Real output signals", shape=lambda self: (self.number_of_outputs,))

    @property
    def columns_given(self) -> tuple[int, ...]:
        """Columns, also where only one number is given."""
        return (self.columns,) if isinstance(self.columns, int) else tuple(self.columns)

    @property
    def number_of_outputs(self) -> int:
        """One for each column, or for each offset."""
        size = ca.SX(self.offset).numel()
        if len(self.columns_given) > 1 and 1 < size != len(self.columns_given):
            raise ModelError(
                f"{self.where}: {len(self.columns_given)} columns and {size} offsets; give one offset for each "
                "column, or one for all"
            )
        return max(len(self.columns_given), size)

    def equations(self) -> None:
        if self.tableOnFile:
            raise ModelError(
                f"{self._component.where}.tableOnFile = true: tables are not read from files; give the numbers in table"
            )
        values = self.look_up(self.rows_of(self.columns_given), self.smoothness, self.extrapolation)
        self.y = self.offset + values


__all__ = ["CombiTimeTable", "TimeTable"]
