"""Interpolation between the rows of a table (Modelica.Blocks.Types.Smoothness, Extrapolation 4.1).

Abscissae and values may be numbers or CasADi symbols, so that tables stay parameters of the FMU.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

#: Values as a function of the abscissa; they are columns where a row has several.
Law = Callable[[Any], Any]


def constant(value: Any) -> Law:
    """A law that does not depend on the abscissa."""
    return lambda u: ca.SX(value)


def line(start: Any, value: Any, slope: Any) -> Law:
    """The straight line through (start, value)."""
    return lambda u: ca.SX(value) + ca.SX(slope) * (u - start)


def cubic(start: Any, value: Any, slope: Any, width: Any, rise: Any, end_slope: Any) -> Law:
    """Hermite's cubic: from (start, value) with `slope`, to the right by `width` at the mean slope `rise`."""
    bend = (3 * rise - 2 * slope - end_slope) / width
    twist = (slope + end_slope - 2 * rise) / width**2

    def law(u: Any) -> Any:
        step = u - start
        return ca.SX(value) + step * (ca.SX(slope) + step * (ca.SX(bend) + step * ca.SX(twist)))

    return law


def segments(x: Sequence[Any], y: Sequence[Any], smoothness: str) -> list[Law]:
    """A law for each interval between neighbouring abscissae.

    Args:
        x: abscissae, each greater than the one before.
        y: values, one (or one column) per abscissa.
        smoothness: a value of types.Smoothness; splines of two points are straight lines.
    """
    widths = [right - left for left, right in itertools.pairwise(x)]
    rises = [(above - y[i]) / widths[i] for i, above in enumerate(y[1:])]
    if smoothness == "ConstantSegments":
        return [constant(value) for value in y[:-1]]
    if smoothness == "LinearSegments" or len(x) == 2:
        return [line(x[i], y[i], rise) for i, rise in enumerate(rises)]
    slopes = end_slopes(x, y, smoothness)
    return [cubic(x[i], y[i], slopes[i], widths[i], rise, slopes[i + 1]) for i, rise in enumerate(rises)]


def end_slopes(x: Sequence[Any], y: Sequence[Any], smoothness: str) -> list[Any]:
    """Slope of a spline at each point; of LinearSegments and ConstantSegments, that of the neighbouring chord.

    ContinuousDerivative is Akima's spline (J. ACM 17, 1970), ModifiedContinuousDerivative the one that weighs flat
    parts less (as in MATLAB's makima), MonotoneContinuousDerivative1 that of Fritsch and Butland (SIAM J. Sci. Stat.
    Comput. 5, 1984), MonotoneContinuousDerivative2 that of Steffen (Astron. Astrophys. 239, 1990).
    """
    widths = [right - left for left, right in itertools.pairwise(x)]
    rises = [ca.SX(above - y[i]) / widths[i] for i, above in enumerate(y[1:])]
    if len(x) == 2 or smoothness in ("LinearSegments", "ConstantSegments"):
        return [rises[0], *rises[1:], rises[-1]]
    if smoothness in ("ContinuousDerivative", "ModifiedContinuousDerivative"):
        return _akima(rises, modified=smoothness == "ModifiedContinuousDerivative")
    inner = _fritsch_butland if smoothness == "MonotoneContinuousDerivative1" else _steffen
    middle = [inner(widths[i], widths[i + 1], rises[i], rises[i + 1]) for i in range(len(rises) - 1)]
    return [rises[0], *middle, rises[-1]]


def _akima(rises: list[Any], *, modified: bool) -> list[Any]:
    first, last = 2 * rises[0] - rises[1], 2 * rises[-1] - rises[-2]
    m = [2 * first - rises[0], first, *rises, last, 2 * last - rises[-1]]
    slopes = []
    for i in range(2, len(m) - 1):
        left, right = ca.fabs(m[i - 1] - m[i - 2]), ca.fabs(m[i + 1] - m[i])
        if modified:
            left += ca.fabs(m[i - 1] + m[i - 2]) / 2
            right += ca.fabs(m[i + 1] + m[i]) / 2
        total = left + right
        straight = total == 0
        weighted = (right * m[i - 1] + left * m[i]) / ca.if_else(straight, 1, total)
        slopes.append(ca.if_else(straight, 0 if modified else (m[i - 1] + m[i]) / 2, weighted))
    return slopes


def _fritsch_butland(before: Any, after: Any, left: Any, right: Any) -> Any:
    rises = left * right > 0
    mean = 3 * (before + after) * left * right
    return ca.if_else(rises, mean / ca.if_else(rises, (2 * after + before) * right + (after + 2 * before) * left, 1), 0)


def _steffen(before: Any, after: Any, left: Any, right: Any) -> Any:
    middle = (left * after + right * before) / (before + after)
    size = ca.fmin(ca.fmin(ca.fabs(left), ca.fabs(right)), ca.fabs(middle) / 2)
    return (ca.sign(left) + ca.sign(right)) * size


def look_up(
    scope: Any,
    u: Any,
    x: Sequence[Any],
    y: Sequence[Any],
    smoothness: str = "LinearSegments",
    extrapolation: str = "LastTwoPoints",
) -> Any:
    """Value at u of the table (x, y), within equations: an event wherever the law changes.

    Args:
        scope: the component in whose equations this is (`self` there).
        u: abscissa, a scalar.
        x: abscissae, each greater than the one before.
        y: values, one (or one column) per abscissa.
        smoothness: a value of types.Smoothness.
        extrapolation: a value of types.Extrapolation; "Periodic" repeats the table.
    """
    if len(x) == 1:
        return ca.SX(y[0])
    inner = segments(x, y, smoothness)
    nodes = list(x[1:-1])
    if extrapolation == "Periodic":
        period = x[-1] - x[0]
        u = u - period * ca.floor((u - x[0]) / period)
    elif extrapolation == "NoExtrapolation":
        message = "the table's input has left its range, and extrapolation = 'NoExtrapolation'; extend the table"
        scope.require(ca.fmin(u - x[0], x[-1] - u), f"{message}, or choose an extrapolation")
    elif extrapolation == "HoldLastPoint":
        inner, nodes = [constant(y[0]), *inner, constant(y[-1])], list(x)
    elif smoothness != "LinearSegments":
        slopes = end_slopes(x, y, smoothness)
        inner = [line(x[0], y[0], slopes[0]), *inner, line(x[-1], y[-1], slopes[-1])]
        nodes = list(x)
    value = inner[0](u)
    for node, law in zip(nodes, inner[1:], strict=True):
        value = scope.switch(u - node, law(u), value)
    return value


__all__ = ["Law", "constant", "cubic", "end_slopes", "line", "look_up", "segments"]
