"""Tables of time and of signals (Modelica.Blocks.Sources.CombiTimeTable, Modelica.Blocks.Tables 4.1)."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.blocks.sources import period_count, periodic_event
from mbfmu.components.blocks.table_files import read_table
from mbfmu.components.interpolation import (
    SURFACES,
    Law,
    constant,
    end_slopes,
    line,
    look_up,
    look_up_surface,
    segments,
)
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final


@dataclasses.dataclass(frozen=True)
class Pieces:
    """A piecewise law: `laws[0]` until `instants[0]`, `laws[i]` from `instants[i - 1]` on."""

    instants: tuple[float, ...]
    laws: tuple[Law, ...]


def pieces(table: np.ndarray, smoothness: str, extrapolation: str) -> Pieces:
    """Interpolation of a table (time, values ...), its rows in order of time; equal times are a jump."""
    x, y = list(table[:, 0]), list(table[:, 1:])
    if len(x) == 1:
        return Pieces((), (constant(y[0]),))
    starts = np.flatnonzero(np.diff(x) > 0)
    if smoothness in ("LinearSegments", "ConstantSegments"):
        inner = [segments(x[i : i + 2], y[i : i + 2], smoothness)[0] for i in starts]
        ends = [(y[i + 1] - y[i]) / (x[i + 1] - x[i]) if x[i + 1] > x[i] else 0 * y[i] for i in (0, len(x) - 2)]
    else:
        inner, slopes = segments(x, y, smoothness), end_slopes(x, y, smoothness)
        ends = [slopes[0], slopes[-1]]
    first, last = line(x[0], y[0], ends[0]), line(x[-1], y[-1], ends[1])
    if extrapolation == "HoldLastPoint":
        first, last = constant(y[0]), constant(y[-1])
    instants = (*(x[i] for i in starts), x[-1])
    return Pieces(tuple(float(v) for v in instants), (first, *inner, last))


class Tabular(Component):
    """Block with a table, given as numbers or in a file, which is read when the FMU is built."""

    tableOnFile = Parameter(t.Boolean, False, "= true, if table is defined on file")
    table = Parameter(
        t.Real, (), "Table matrix (first column: abscissa; e.g., table=[0, 0; 1, 1; 2, 4])", shape=None, structural=True
    )
    tableName = Parameter(t.String, "NoName", "Table name on file")
    fileName = Parameter(t.String, "NoName", "File where matrix is stored (text, CSV or MATLAB)")
    delimiter = Parameter(t.String, ",", "Column delimiter character for CSV file")
    nHeaderLines = Parameter(t.Integer, 0, "Number of header lines to ignore for CSV file", min=0)
    verboseRead = Parameter(t.Boolean, True, "= true, if info message that file is loading is to be printed")

    @property
    def numbers(self) -> np.ndarray:
        """The table.

        Raises:
            ModelError: the file cannot be read, or does not have this table.
        """
        if not self.value("tableOnFile"):
            return np.asarray(self.value("table"), dtype=float)
        where = f"{self.where}.fileName"
        name, header = self.value("tableName"), self.value("nHeaderLines")
        return read_table(self.value("fileName"), name, self.value("delimiter"), header, where)


class _TimeTable(Component):
    """Table look-up with respect to time."""

    timeScale = Parameter(t.Time, 1.0, "Time scale of first table column", min=1e-60)
    startTime = Parameter(t.Time, 0.0, "Output = offset for time < startTime")
    shiftTime = Parameter(t.Time, lambda self: self.startTime, "Shift time of first table column")

    def rows_of(self, columns: tuple[int, ...] | None, least: int = 2) -> np.ndarray:
        """The table's time and these columns (counted from 1; None: all), checked."""
        table, where = self._component.numbers, f"{self._component.where}.table"
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
        if smoothness not in ("LinearSegments", "ConstantSegments") and np.any(np.diff(table[:, 0]) == 0):
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
            time = time - period * period_count(self, begin, self.timeScale * period, begins=False)
            phase = phase - period * ca.floor((phase - start) / period)
            repeats = True
        value = parts.laws[0](time)
        for instant, law in zip(parts.instants, parts.laws[1:], strict=True):
            at = self.shiftTime + self.timeScale * instant
            if repeats:
                periodic_event(self, at, self.timeScale * period, begins=False)
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

    table = Parameter(
        t.Real, (), "Table matrix (time = first column; e.g., table=[0, 0; 1, 1; 2, 4])", shape=None, structural=True
    )
    offset = Parameter(t.Real, 0.0, "Offset of output signal", tunable=True)
    y = RealOutput("Connector of Real output signal")

    @property
    def numbers(self) -> np.ndarray:
        """The table."""
        return np.asarray(self.value("table"), dtype=float)

    def equations(self) -> None:
        self.y = self.offset + self.look_up(self.rows_of((2,)), "LinearSegments", "LastTwoPoints")


def all_columns(self: Any) -> tuple[int, ...]:
    """Numbers of the columns of a table, without the first; of a file's table, as in the library, just column 2."""
    return (2,) if self.tableOnFile else tuple(range(2, max((2, *np.shape(self.numbers)[-1:])) + 1))


class CombiTimeTable(Tabular, _TimeTable):
    """Table look-up with respect to time and various interpolation and extrapolation methods."""

    modelica_name = "Blocks.Sources.CombiTimeTable"

    columns = Parameter(t.Integer, all_columns, "Columns of table to be interpolated", shape=None)
    smoothness = Parameter(t.Smoothness, "LinearSegments", "Smoothness of table interpolation")
    extrapolation = Parameter(t.Extrapolation, "LastTwoPoints", "Extrapolation of data outside the definition range")
    offset = Parameter(t.Real, (0.0,), "Offsets of output signals", shape=None, tunable=True)
    timeEvents = Parameter(
        t.TimeEvents, "Always", "Time event handling of table interpolation (events are at all times of the table)"
    )
    verboseExtrapolation = Parameter(
        t.Boolean, False, "= true, if warning messages are to be printed if time is outside the table definition range"
    )

    y = RealOutput("Connector of Real output signals", shape=lambda self: (self.number_of_outputs,))

    @property
    def columns_given(self) -> tuple[int, ...]:
        """Columns, also where only one number is given."""
        return as_numbers(self.columns)

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
        values = self.look_up(self.rows_of(self.columns_given), self.smoothness, self.extrapolation)
        self.y = self.offset + values


def as_numbers(columns: Any) -> tuple[int, ...]:
    """Columns as a tuple, also where only one number is given."""
    return (columns,) if isinstance(columns, int) else tuple(columns)


class _CombiTable(Tabular):
    """Table look-up in one or two signals."""

    smoothness = Parameter(t.Smoothness, "LinearSegments", "Smoothness of table interpolation")
    extrapolation = Parameter(t.Extrapolation, "LastTwoPoints", "Extrapolation of data outside the definition range")
    verboseExtrapolation = Parameter(
        t.Boolean, False, "= true, if warning messages are to be printed if an input is outside the definition range"
    )

    def axis(self, values: np.ndarray, what: str) -> list[float]:
        """Abscissae, checked: they rise."""
        falling = np.flatnonzero(np.diff(values) <= 0)
        if falling.size:
            i = int(falling[0])
            raise ModelError(
                f"{self._component.where}.table: {what} must rise, and goes from {values[i]:g} to {values[i + 1]:g}"
            )
        return [float(v) for v in values]


class _CombiTable1D(_CombiTable):
    """Table look-up in one signal."""

    columns = Parameter(t.Integer, all_columns, "Columns of table to be interpolated", shape=None)
    u_min = Final(t.Real, lambda self: float(self.numbers[0, 0]), "Minimum abscissa value defined in table")
    u_max = Final(t.Real, lambda self: float(self.numbers[-1, 0]), "Maximum abscissa value defined in table")

    @property
    def columns_given(self) -> tuple[int, ...]:
        """Columns, also where only one number is given."""
        return as_numbers(self.columns)

    def read(self, u: Any, columns: tuple[int, ...]) -> Any:
        """Values of these columns at u, a column."""
        numbers, where = self._component.numbers, self._component.where
        if numbers.ndim != 2 or not numbers.size:
            raise ModelError(
                f"{where}.table: expected rows such as [[0, 0], [1, 1], [2, 4]]; got shape {numbers.shape}"
            )
        wrong = [c for c in columns if not 1 <= c <= numbers.shape[1]]
        if wrong:
            raise ModelError(f"{where}.columns: there is no column {wrong[0]} in a table of {numbers.shape[1]} columns")
        x = self.axis(numbers[:, 0], "the first column")
        values = [numbers[i, [c - 1 for c in columns]] for i in range(len(x))]
        return look_up(self, u, x, values, self.smoothness, self.extrapolation)


class CombiTable1Ds(_CombiTable1D):
    """Table look-up in one dimension (matrix/file) with one input and n outputs."""

    modelica_name = "Blocks.Tables.CombiTable1Ds"

    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signals", shape=lambda self: (len(self.columns_given),))

    def equations(self) -> None:
        self.y = self.read(self.u, self.columns_given)


class CombiTable1Dv(_CombiTable1D):
    """Table look-up in one dimension (matrix/file) with n inputs and n outputs."""

    modelica_name = "Blocks.Tables.CombiTable1Dv"

    u = RealInput("Connector of Real input signals", shape=lambda self: (len(self.columns_given),))
    y = RealOutput("Connector of Real output signals", shape=lambda self: (len(self.columns_given),))

    def equations(self) -> None:
        inputs = ca.vertsplit(self.u)
        self.y = ca.vertcat(*(self.read(u, (c,)) for u, c in zip(inputs, self.columns_given, strict=True)))


class _CombiTable2D(_CombiTable):
    """Table look-up in two signals: the first column has the abscissae of u1, the first row those of u2."""

    def read(self, u1: Any, u2: Any) -> Any:
        """Value at (u1, u2)."""
        numbers, where = self._component.numbers, self._component.where
        if numbers.ndim != 2 or min(numbers.shape) < 2:
            raise ModelError(f"{where}.table: expected at least 2 rows and 2 columns; got shape {numbers.shape}")
        if self.smoothness not in SURFACES:
            raise ModelError(
                f"{where}.smoothness = {self.smoothness!r}: a table in two dimensions has {', '.join(SURFACES)}"
            )
        rows, columns = self.axis(numbers[1:, 0], "the first column"), self.axis(numbers[0, 1:], "the first row")
        return look_up_surface(self, (u1, u2), rows, columns, numbers[1:, 1:], self.smoothness, self.extrapolation)


class CombiTable2Ds(_CombiTable2D):
    """Table look-up in two dimensions (matrix/file)."""

    modelica_name = "Blocks.Tables.CombiTable2Ds"

    u1 = RealInput("Connector of Real input signal 1")
    u2 = RealInput("Connector of Real input signal 2")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.read(self.u1, self.u2)


class CombiTable2Dv(_CombiTable2D):
    """Table look-up in two dimensions (matrix/file) with vector inputs and vector output of size n."""

    modelica_name = "Blocks.Tables.CombiTable2Dv"

    n = Parameter(t.Integer, 1, "Dimension of input and output vectors", min=1)
    u1 = RealInput("Connector of Real input signals 1", shape=lambda self: (self.n,))
    u2 = RealInput("Connector of Real input signals 2", shape=lambda self: (self.n,))
    y = RealOutput("Connector of Real output signals", shape=lambda self: (self.n,))

    def equations(self) -> None:
        pairs = zip(ca.vertsplit(self.u1), ca.vertsplit(self.u2), strict=True)
        self.y = ca.vertcat(*(self.read(u1, u2) for u1, u2 in pairs))


__all__ = ["CombiTable1Ds", "CombiTable1Dv", "CombiTable2Ds", "CombiTable2Dv", "CombiTimeTable", "TimeTable"]
