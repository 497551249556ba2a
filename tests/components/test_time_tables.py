"""CombiTimeTable by its definition: every smoothness and extrapolation, jumps, shifts, scales, columns and time events.

What is expected comes from SciPy's Akima splines and from the formulae of Fritsch and Butland, and of Steffen, written
down here; ends of the latter have the slope of their chord.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import Akima1DInterpolator, CubicHermiteSpline
from wiring import wired

from mbfmu.components import blocks
from mbfmu.errors import SimulationError
from mbfmu.runtime.result import Result
from mbfmu.simulation import simulate

SMOOTH = (
    "ContinuousDerivative",
    "MonotoneContinuousDerivative1",
    "MonotoneContinuousDerivative2",
    "ModifiedContinuousDerivative",
)
SMOOTHNESS = ("LinearSegments", "ConstantSegments", *SMOOTH)
EXTRAPOLATION = ("HoldLastPoint", "LastTwoPoints", "Periodic")
#: Rows that rise, stay, turn and come closer to each other; rows with jumps, one of them where a period begins.
UNEVEN = ((0.5, 0, 1), (1, 1, 1), (1.25, 1, -2), (1.75, 4, -2), (2.5, 3, 0), (3, 3.5, 2))
JUMPS = ((0.5, 2, 0), (1, 1, 1), (1, -1, 1), (1.5, -1, 3), (2, 3, 0), (2, 3, 4), (2.75, 0, 1))
#: Start before the table's first time, end two periods behind its last one; instants off all abscissae, and on some.
BEGIN, END = -3.0, 9.0
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"startTime": BEGIN, "shiftTime": 0.0},
    "late": {"startTime": 0.8125},
    "moved": {"startTime": -1.25, "shiftTime": 0.375, "timeScale": 1.5, "offset": (10.0,)},
    "offsets": {"startTime": BEGIN, "shiftTime": -0.5, "timeScale": 0.5, "offset": (1.0, -2.0)},
}


@dataclasses.dataclass(frozen=True)
class Case:
    """A table and how it is read."""

    rows: tuple[tuple[float, ...], ...]
    smoothness: str = "LinearSegments"
    extrapolation: str = "LastTwoPoints"
    settings: str = "plain"
    columns: tuple[int, ...] = (2, 3)
    timeEvents: str = "Always"

    def block(self) -> blocks.CombiTimeTable:
        return blocks.CombiTimeTable(
            table=self.rows,
            smoothness=self.smoothness,
            extrapolation=self.extrapolation,
            columns=self.columns,
            timeEvents=self.timeEvents,
            **SETTINGS[self.settings],
        )

    def expected(self, time: np.ndarray) -> np.ndarray:
        given = {"shiftTime": SETTINGS[self.settings]["startTime"], "timeScale": 1.0, "offset": (0.0,)}
        given |= SETTINGS[self.settings]
        at = (time - given["shiftTime"]) / given["timeScale"]
        x = np.array([row[0] for row in self.rows])
        found = [self.column(at, x, np.array([row[c - 1] for row in self.rows])) for c in self.columns]
        begun = time >= given["startTime"] - 1e-12
        return np.where(begun[:, None], np.column_stack(found), 0.0) + np.array(given["offset"])

    def column(self, at: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if len(x) == 1:
            return np.full(at.size, y[0])
        if self.extrapolation == "Periodic":
            at = x[0] + np.mod(np.round(at - x[0], 9), x[-1] - x[0])
        within = np.clip(at, x[0], x[-1])
        value = self.inside(within, x, y)
        if self.extrapolation == "HoldLastPoint":
            return np.where(at > x[-1] - 1e-12, y[-1], value)
        if self.smoothness in SMOOTH:
            spline = self.spline(x, y)
            left, right = float(spline(x[0], 1)), float(spline(x[-1], 1))
        else:
            left, right = (y[1] - y[0]) / (x[1] - x[0]), (y[-1] - y[-2]) / (x[-1] - x[-2])
        value = np.where(at < x[0], y[0] + left * (at - x[0]), value)
        return np.where(at > x[-1] - 1e-12, y[-1] + right * (at - x[-1]), value)

    def inside(self, at: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if self.smoothness in SMOOTH:
            return np.asarray(self.spline(x, y)(at))
        # Of rows at the same time the last one holds from then on.
        i = np.clip(np.searchsorted(x, at + 1e-12, side="right") - 1, 0, len(x) - 2)
        if self.smoothness == "ConstantSegments":
            return y[i]
        return y[i] + (y[i + 1] - y[i]) / np.where(x[i + 1] > x[i], x[i + 1] - x[i], 1.0) * (at - x[i])

    def spline(self, x: np.ndarray, y: np.ndarray) -> Any:
        if len(x) == 2:
            return CubicHermiteSpline(x, y, np.repeat(np.diff(y) / np.diff(x), 2))
        if self.smoothness == "ContinuousDerivative":
            return Akima1DInterpolator(x, y)
        if self.smoothness == "ModifiedContinuousDerivative":
            return Akima1DInterpolator(x, y, method="makima")
        h, rise = np.diff(x), np.diff(y) / np.diff(x)
        slopes = [rise[0]]
        for (h0, h1), (a, b) in zip(itertools.pairwise(h), itertools.pairwise(rise), strict=True):
            if a * b <= 0:
                slopes.append(0.0)
            elif self.smoothness == "MonotoneContinuousDerivative1":
                share = (h0 + 2 * h1) / (3 * (h0 + h1))
                slopes.append(1 / (share / a + (1 - share) / b))
            else:
                p = (a * h1 + b * h0) / (h0 + h1)
                slopes.append(np.sign(a) * min(2 * abs(a), 2 * abs(b), abs(p)))
        return CubicHermiteSpline(x, y, [*slopes, rise[-1]])


def cases() -> dict[str, Case]:
    """All cases by a name that is fit for a component."""
    found: dict[str, Case] = {}
    for smoothness, extrapolation, settings in itertools.product(SMOOTHNESS, EXTRAPOLATION, SETTINGS):
        found[f"{smoothness}_{extrapolation}_{settings}"] = Case(UNEVEN, smoothness, extrapolation, settings)
    for smoothness, extrapolation, settings in itertools.product(SMOOTHNESS[:2], EXTRAPOLATION, ("plain", "moved")):
        found[f"jumps_{smoothness}_{extrapolation}_{settings}"] = Case(JUMPS, smoothness, extrapolation, settings)
    for smoothness, extrapolation in itertools.product(SMOOTHNESS[:3], EXTRAPOLATION):
        found[f"one_row_{smoothness}_{extrapolation}"] = Case(((1.0, 7.0, -7.0),), smoothness, extrapolation)
    for smoothness in SMOOTHNESS:
        found[f"two_rows_{smoothness}"] = Case(((0, 1, 2), (2, 5, 0)), smoothness)
    for events, extrapolation in itertools.product(("AtDiscontinuities", "NoTimeEvents"), EXTRAPOLATION):
        found[f"{events}_{extrapolation}"] = Case(UNEVEN, extrapolation=extrapolation, timeEvents=events)
    found["columns_turned_round"] = Case(UNEVEN, columns=(3, 2), settings="offsets")
    found["one_column"] = Case(UNEVEN, columns=(3,), settings="moved")
    found["the_time_itself"] = Case(UNEVEN, columns=(1, 3))
    found["one_column_twice"] = Case(UNEVEN, "ContinuousDerivative", "HoldLastPoint", columns=(2, 2))
    return found


CASES = cases()


@functools.cache
def all_of_them() -> Result:
    """One run with a block for each case."""
    assembly = wired(**{name: case.block() for name, case in CASES.items()})
    assembly.start_time, assembly.stop_time = BEGIN, END
    return simulate(assembly, interval=0.0625)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_table(name: str) -> None:
    result, case = all_of_them(), CASES[name]
    found = np.column_stack([result[f"{name}.y[{i + 1}]"] for i in range(len(case.columns))])
    np.testing.assert_allclose(found, case.expected(result.time), atol=1e-9)


def test_there_are_enough() -> None:
    assert len(CASES) >= 85
    assert {case.smoothness for case in CASES.values()} == set(SMOOTHNESS)


@pytest.mark.slow
@pytest.mark.parametrize("smoothness", SMOOTHNESS)
def test_no_extrapolation_ends_the_run_at_the_table_s_end(smoothness: str) -> None:
    table = blocks.CombiTimeTable(table=UNEVEN, smoothness=smoothness, extrapolation="NoExtrapolation", shiftTime=-0.5)
    assembly = wired(t=table)
    expected = Case(UNEVEN, smoothness).column(np.array([2.0]), *np.array(UNEVEN).T[:2])
    assert simulate(assembly, 1.5)["t.y[1]"][-1] == pytest.approx(expected[0], abs=1e-9)
    with pytest.raises(SimulationError, match=r"ends at 2\.5.* table's range of 0\.5 to 3"):
        simulate(assembly, 4.0)
