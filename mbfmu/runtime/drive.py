"""Inputs over time, as the C runtime follows them."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Literal

import numpy as np


class DriveRecord(ctypes.Structure):
    """`Drive` of templates/runtime/batch.c."""

    _fields_ = (
        ("nknots", ctypes.c_size_t),
        ("ninputs", ctypes.c_size_t),
        ("knots", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("slopes", ctypes.c_void_p),
    )


@dataclasses.dataclass(frozen=True)
class Drive:
    """Values of inputs from knot to knot: held, or along straight lines.

    Args:
        names: Names of the inputs.
        inputs: Their indices in u, [n].
        knots: Instants, s, ascending, [k]; a jump has its instant twice or once with a value that differs from the
            line's end.
        values, slopes: What each input has from a knot on, and its change per second until the next one, [k, n]. Before
            the first knot the first values hold.
    """

    names: tuple[str, ...]
    inputs: np.ndarray
    knots: np.ndarray
    values: np.ndarray
    slopes: np.ndarray

    def snapped(self, times: np.ndarray) -> Drive:
        """The same with knots that miss one of the times [n] by rounding moved onto it: no step is that short."""
        near = times[np.clip(np.searchsorted(times, self.knots), 0, times.size - 1)]
        before = times[np.clip(np.searchsorted(times, self.knots) - 1, 0, times.size - 1)]
        near = np.where(np.abs(before - self.knots) < np.abs(near - self.knots), before, near)
        distance = 1e-9 * (times[-1] - times[0]) / max(times.size - 1, 1)
        return dataclasses.replace(self, knots=np.where(np.abs(near - self.knots) <= distance, near, self.knots))

    def lines(self, begin: float, time: float, until: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Values at a time, s, on the lines that inputs are on from `begin` on, or `until` then, and their slopes.

        Both are [n]. A line goes on past its end.
        """
        side: Literal["left", "right"] = "left" if until else "right"
        row = max(0, int(np.searchsorted(self.knots, begin, side=side)) - 1)
        return self.values[row] + self.slopes[row] * max(time - self.knots[row], 0.0), self.slopes[row]

    def table(self) -> np.ndarray:
        """The same as the structured array that FMPy takes, with a column `time`: a jump is two rows of one instant."""
        ends = self.values[:-1] + self.slopes[:-1] * np.diff(self.knots)[:, None]
        rows = [(self.knots[0], *self.values[0])]
        for k in range(1, self.knots.size):
            if not np.allclose(ends[k - 1], self.values[k], rtol=1e-12, atol=0.0):
                rows.append((self.knots[k], *ends[k - 1]))
            rows.append((self.knots[k], *self.values[k]))
        return np.array(rows, dtype=[("time", float), *((name, float) for name in self.names)])

    def record(self) -> DriveRecord:
        """What C reads; it points into copies that the record keeps."""
        arrays = [
            np.ascontiguousarray(array, dtype=kind)
            for array, kind in (
                (self.knots, float),
                (self.inputs, np.int32),
                (self.values, float),
                (self.slopes, float),
            )
        ]
        record = DriveRecord(self.knots.size, self.inputs.size, *(array.ctypes.data for array in arrays))
        record.kept = arrays
        return record
