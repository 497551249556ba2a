"""Polynomials through points of coupled quantities, and the lines that stand for them, against integrals by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from mbfmu.cosimulation import lines
from mbfmu.cosimulation.lines import Point

#: A cubic, a parabola and a line, over time.
CURVES = (Polynomial([1.0, -2.0, 0.5, 3.0]), Polynomial([-4.0, 1.5, 2.0]), Polynomial([0.3, -0.7]))
TIMES = (0.2, 0.5, 0.7, 1.3)
BEGIN, SIZE = 1.3, 0.4


def points(times: tuple[float, ...], sloped: tuple[bool, bool, bool] = (True, True, True)) -> list[Point]:
    return [
        Point(
            t,
            np.array([curve(t) for curve in CURVES]),
            np.array([curve.deriv()(t) if known else np.nan for curve, known in zip(CURVES, sloped, strict=True)]),
        )
        for t in times
    ]


@pytest.mark.parametrize(
    ("times", "sloped"),
    [
        (TIMES[2:], (True, True, True)),
        (TIMES, (False, False, False)),
        (TIMES, (True, False, True)),
        (TIMES, (True,) * 3),
    ],
    ids=["two with slopes", "four", "some slopes", "more than it takes"],
)
def test_cubics_are_met_exactly(times: tuple[float, ...], sloped: tuple[bool, bool, bool]) -> None:
    found = lines.fit(points(times, sloped), BEGIN, SIZE)
    for s in (-1.0, 0.0, 0.3, 1.0):
        wanted = [curve(BEGIN + s * SIZE) for curve in CURVES]
        assert lines.value(found, s) == pytest.approx(wanted, rel=1e-9), s


def test_few_conditions_are_the_newest() -> None:
    """Value and slope of the last point, or values of the last two; of one without a slope its value."""
    of_two = lines.fit(points(TIMES, (True, False, False)), BEGIN, SIZE, 2)
    last, before = points(TIMES)[-1], points(TIMES)[-2]
    assert lines.value(of_two, 1.0)[0] == pytest.approx(last.values[0] + SIZE * last.slopes[0])
    rise = (last.values[1] - before.values[1]) / (TIMES[-1] - TIMES[-2])
    assert lines.value(of_two, 1.0)[1] == pytest.approx(last.values[1] + SIZE * rise)
    alone = lines.fit(points(TIMES[-1:], (True, False, True)), BEGIN, SIZE)
    assert lines.value(alone, 1.0)[1] == last.values[1]
    assert lines.value(alone, 1.0)[2] == pytest.approx(CURVES[2](BEGIN + SIZE))


def test_a_slope_that_one_point_lacks_is_left_out() -> None:
    """Of the older one: three conditions, that a parabola meets and a cubic does not."""
    old, new = points(TIMES[2:])
    found = lines.fit([Point(old.time, old.values, np.full(3, np.nan)), new], BEGIN, SIZE)
    wanted = [curve(BEGIN + 0.5 * SIZE) for curve in CURVES]
    assert lines.value(found, 0.5)[1:] == pytest.approx(wanted[1:])
    assert abs(lines.value(found, 0.5)[0] - wanted[0]) > 1e-3
    assert found[3] == pytest.approx(0.0, abs=1e-12)


def test_a_part_of_a_step_is_a_step() -> None:
    whole = lines.fit(points(TIMES), BEGIN, SIZE)
    some = lines.part(whole, 0.25, 0.6)
    for s in (0.0, 0.4, 1.0):
        assert lines.value(some, s) == pytest.approx(lines.value(whole, 0.25 + s * 0.35), rel=1e-12)


def test_lines_have_the_end_and_the_mean_and_miss_a_moment() -> None:
    """What is held has the mean alone; moments are about the end of the step."""
    found = lines.fit(points(TIMES), BEGIN, SIZE)
    curves = [Polynomial(column) for column in found.T]
    able = np.array([True, False, True])
    begin, change = lines.followed(found, able)
    means = [curve.integ()(1.0) - curve.integ()(0.0) for curve in curves]
    assert begin + change / 2 == pytest.approx(means)
    assert (begin + change)[able] == pytest.approx(lines.value(found, 1.0)[able])
    assert change[1] == 0.0
    for k, curve in enumerate(curves):
        left = ((curve - Polynomial([begin[k], change[k]])) * Polynomial([1.0, -1.0])).integ()
        assert lines.moment_missed(found, able)[k] == pytest.approx(left(1.0) - left(0.0), abs=1e-12)
    assert lines.moment_missed(found, able)[2] == pytest.approx(0.0, abs=1e-12)
    assert abs(lines.moment_missed(found, able)[0]) > 1e-4
