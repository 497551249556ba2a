"""Lines that inputs follow within a communication step, and what is known of a coupled quantity between points.

A quantity is followed as a cubic polynomial over its last communication points, by values and, where FMUs give them,
slopes (Hermite). FMUs take lines. The line that has the polynomial's mean over the step, and its value at the end,
moves their states as the polynomial does but for h^4, where the chord leaves h^3; and what FMUs show at the end belongs
to the value there. An FMU that only holds its inputs gets the mean.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

#: Conditions that a cubic can meet.
_MOST = 4


@dataclasses.dataclass(frozen=True)
class Point:
    """Values of the coupled quantities at a time [s], and their slopes, [n] each; slopes that are not known are NaN."""

    time: float
    values: np.ndarray
    slopes: np.ndarray


def fit(points: Sequence[Point], begin: float, size: float, most: int = _MOST) -> np.ndarray:
    """Polynomials of (t - begin) / size through the latest points, newest last; coefficients [4, n].

    Each quantity meets its newest values and, where known, slopes: `most` conditions in all.
    """
    count = points[-1].values.size
    result = np.zeros((_MOST, count))
    sloped = np.isfinite(points[-1].slopes)
    for columns, with_slopes in ((np.flatnonzero(sloped), True), (np.flatnonzero(~sloped), False)):
        if not columns.size:
            continue
        rows, given = [], []
        for point in reversed(points):
            s = (point.time - begin) / size
            rows.append([s**k for k in range(_MOST)])
            given.append(point.values[columns])
            if with_slopes and np.isfinite(point.slopes[columns]).all():
                rows.append([k * s ** max(k - 1, 0) for k in range(_MOST)])
                given.append(point.slopes[columns] * size)
        kept = min(most, len(rows))
        result[:kept, columns] = np.linalg.solve(np.array(rows)[:kept, :kept], np.array(given)[:kept])
    return result


def value(polynomial: np.ndarray, s: float) -> np.ndarray:
    """Values of polynomials [4, n] at a part of the step, [n]."""
    return np.array([s**k for k in range(_MOST)]) @ polynomial


def part(polynomial: np.ndarray, begin: float, end: float) -> np.ndarray:
    """Polynomials [4, n] of the part of a step between two of its points, as polynomials of 0 to 1 again."""
    shift = [[math.comb(k, j) * begin ** (k - j) * (end - begin) ** j if k >= j else 0.0 for k in range(_MOST)]
             for j in range(_MOST)]  # fmt: skip
    return np.array(shift) @ polynomial


def followed(polynomial: np.ndarray, lines: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where inputs begin, and what they change over the step, [n] each; those without `lines` [n] hold the mean."""
    constant, linear, square, cube = polynomial
    end, mean = polynomial.sum(axis=0), constant + linear / 2 + square / 3 + cube / 4
    return np.where(lines, 2 * mean - end, mean), np.where(lines, 2 * (end - mean), 0.0)


def moment_missed(polynomial: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """First moments of polynomials [4, n] about the end of the step that FMUs do not see, [n].

    Value at the end and mean are those of the polynomial; so this is the first of what a line does otherwise.
    """
    begin, change = followed(polynomial, lines)
    weights = np.array([1 / ((k + 1) * (k + 2)) for k in range(_MOST)])
    moment: np.ndarray = weights @ polynomial - begin / 2 - change / 6
    return moment
