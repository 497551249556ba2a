"""Interpolation between the rows of a table (Modelica.Blocks.Types.Smoothness, Extrapolation 4.1).

Abscissae and values may be numbers or CasADi symbols, so that tables stay parameters of the FMU.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.modeling.user_code import described

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
    if smoothness == "ConstantSegments":
        return [constant(value) for value in y[:-1]]
    if smoothness == "LinearSegments" or len(x) == 2:
        return [line(x[i], y[i], rise) for i, rise in enumerate(_rises(x, y))]
    return cubics(x, y, end_slopes(x, y, smoothness))


def cubics(x: Sequence[Any], y: Sequence[Any], slopes: Sequence[Any]) -> list[Law]:
    """Hermite's cubic for each interval between neighbouring abscissae."""
    laws = []
    for i, right in enumerate(x[1:]):
        width = right - x[i]
        laws.append(cubic(x[i], y[i], slopes[i], width, (y[i + 1] - y[i]) / width, slopes[i + 1]))
    return laws


def end_slopes(x: Sequence[Any], y: Sequence[Any], smoothness: str) -> list[Any]:
    """Slope of a spline at each point; of LinearSegments and ConstantSegments, that of the neighbouring chord.

    ContinuousDerivative is Akima's spline (J. ACM 17, 1970), ModifiedContinuousDerivative the one that weighs flat
    parts less (as in MATLAB's makima), MonotoneContinuousDerivative1 that of Fritsch and Butland (SIAM J. Sci. Stat.
    Comput. 5, 1984), MonotoneContinuousDerivative2 that of Steffen (Astron. Astrophys. 239, 1990).
    """
    widths = [right - left for left, right in itertools.pairwise(x)]
    rises = _rises(x, y)
    if len(x) == 2 or smoothness in ("LinearSegments", "ConstantSegments"):
        return [rises[0], *rises[1:], rises[-1]]
    if smoothness in ("ContinuousDerivative", "ModifiedContinuousDerivative"):
        return _akima(rises, modified=smoothness == "ModifiedContinuousDerivative")
    inner = _fritsch_butland if smoothness == "MonotoneContinuousDerivative1" else _steffen
    middle = [inner(widths[i], widths[i + 1], rises[i], rises[i + 1]) for i in range(len(rises) - 1)]
    return [rises[0], *middle, rises[-1]]


def _akima(rises: list[Any], *, modified: bool) -> list[Any]:
    m = _continued(rises)
    weights = _akima_weights(rises, modified=modified)
    return [before * m[i + 1] + after * m[i + 2] for i, (before, after) in enumerate(weights)]


def _continued(rises: list[Any]) -> list[Any]:
    """Rises of the chords with two more at either end, which go on as the last two do."""
    if len(rises) == 1:
        return rises * 5
    first, last = 2 * rises[0] - rises[1], 2 * rises[-1] - rises[-2]
    return [2 * first - rises[0], first, *rises, last, 2 * last - rises[-1]]


def _akima_weights(rises: list[Any], *, modified: bool = False) -> list[tuple[Any, Any]]:
    """How much the chords before and after each point count in its slope."""
    m = _continued(rises)
    weights = []
    for i in range(2, len(m) - 1):
        left, right = ca.fabs(m[i - 1] - m[i - 2]), ca.fabs(m[i + 1] - m[i])
        if modified:
            left += ca.fabs(m[i - 1] + m[i - 2]) / 2
            right += ca.fabs(m[i + 1] + m[i]) / 2
        total = left + right
        straight = total == 0
        whole, even = ca.if_else(straight, 1, total), 0 if modified else 0.5
        weights.append((ca.if_else(straight, even, right / whole), ca.if_else(straight, even, left / whole)))
    return weights


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
    ends = None if smoothness == "LinearSegments" else end_slopes(x, y, smoothness)
    return _evaluate(scope, u, x, y, segments(x, y, smoothness), ends, extrapolation)


def _evaluate(
    scope: Any, u: Any, x: Sequence[Any], y: Sequence[Any], inner: list[Law], slopes: Any, extrapolation: str
) -> Any:
    """Value at u of the laws between the points (x, y), which go on with `slopes` beyond (None: as they are)."""
    nodes = list(x[1:-1])
    if extrapolation == "Periodic":
        period = x[-1] - x[0]
        u = u - period * ca.floor((u - x[0]) / period)
    elif extrapolation == "NoExtrapolation":
        message = "the table's input has left its range, and extrapolation = 'NoExtrapolation'; extend the table"
        scope.require(ca.fmin(u - x[0], x[-1] - u), f"{message}, or choose an extrapolation")
    elif extrapolation == "HoldLastPoint":
        inner, nodes = [constant(y[0]), *inner, constant(y[-1])], list(x)
    elif slopes is not None:
        inner = [line(x[0], y[0], slopes[0]), *inner, line(x[-1], y[-1], slopes[-1])]
        nodes = list(x)
    value = inner[0](u)
    for node, law in zip(nodes, inner[1:], strict=True):
        value = scope.switch(u - node, law(u), value)
    return value


#: Values of types.Smoothness that surfaces have.
SURFACES = ("LinearSegments", "ConstantSegments", "ContinuousDerivative")


def look_up_surface(
    scope: Any, u: tuple[Any, Any], x: Sequence[Any], y: Sequence[Any], z: Any, smoothness: str, extrapolation: str
) -> Any:
    """Value of a surface, within equations: an event wherever its law changes.

    ContinuousDerivative is Akima's surface of bicubic patches (Communications of the ACM 17, 1974): slopes along either
    axis are those of his splines, and the same weights make the mixed derivative of those of the four patches around.
    Beyond its border a surface of ConstantSegments goes on as one of LinearSegments, along both axes.

    Args:
        scope: the component in whose equations this is (`self` there).
        u: where, along x and along y: scalars.
        x: abscissae of the rows of z, each greater than the one before.
        y: abscissae of the columns of z, likewise.
        z: values, shape (len(x), len(y)).
        smoothness: one of SURFACES.
        extrapolation: a value of types.Extrapolation.
    """
    columns = ca.horzsplit(ca.SX(z))

    def by_axes(smoothness: str, extrapolation: str) -> Any:
        along = look_up(scope, u[1], y, columns, smoothness, extrapolation)
        return look_up(scope, u[0], x, ca.vertsplit(along), smoothness, extrapolation)

    if 1 in (len(x), len(y)) or smoothness == "LinearSegments":
        return by_axes(smoothness, extrapolation)
    if smoothness == "ConstantSegments":
        if extrapolation != "LastTwoPoints":
            return by_axes(smoothness, extrapolation)
        margin = ca.fmin(ca.fmin(u[0] - x[0], x[-1] - u[0]), ca.fmin(u[1] - y[0], y[-1] - u[1]))
        return scope.switch(margin, by_axes(smoothness, "HoldLastPoint"), by_axes("LinearSegments", extrapolation))
    along_x, along_y, mixed = _akima_derivatives(x, y, ca.SX(z))
    # The values and the slopes along x of every row are splines along y, and then one spline along x.
    both = [ca.vertcat(*pair) for pair in zip(columns, ca.horzsplit(along_x), strict=True)]
    slopes = [ca.vertcat(*pair) for pair in zip(ca.horzsplit(along_y), ca.horzsplit(mixed), strict=True)]
    here = ca.vertsplit(_evaluate(scope, u[1], y, both, cubics(y, both, slopes), slopes, extrapolation))
    values, rises = here[: len(x)], here[len(x) :]
    return _evaluate(scope, u[0], x, values, cubics(x, values, rises), rises, extrapolation)


def _akima_derivatives(x: Sequence[Any], y: Sequence[Any], z: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Derivatives of a surface along x, along y and along both at its points, each of the shape of z."""
    steep_x = _rises(x, ca.vertsplit(z))
    steep_y = _rises(y, ca.horzsplit(z))
    weights_x, weights_y = _akima_weights(steep_x), _akima_weights(steep_y)
    # One row or column more at either end, so that every point has patches all around.
    twist = _continued(_rises(x, ca.vertsplit(ca.horzcat(*_continued(steep_y)[1:-1]))))[1:-1]
    along_x, along_y = _akima(steep_x, modified=False), _akima(steep_y, modified=False)
    mixed = ca.SX(*z.shape)
    for i, (below, above) in enumerate(weights_x):
        for j, (before, after) in enumerate(weights_y):
            left = below[j] * twist[i][j] + above[j] * twist[i + 1][j]
            right = below[j] * twist[i][j + 1] + above[j] * twist[i + 1][j + 1]
            mixed[i, j] = before[i] * left + after[i] * right
    return ca.vertcat(*along_x), ca.horzcat(*along_y), mixed


def _rises(x: Sequence[Any], y: Sequence[Any]) -> list[Any]:
    """Rises of the chords between neighbouring points."""
    return [ca.SX(above - y[i]) / (x[i + 1] - x[i]) for i, above in enumerate(y[1:])]


def check_function_of_place(function: Callable[[Any, Any], Any], what: str) -> None:
    """Refuse a user's function of (x, y), called `what`, that gives no number of symbols.

    Raises:
        ModelError: it fails, gives several numbers, or reckons with nan.
    """
    at = ca.SX.sym("x"), ca.SX.sym("y")
    try:
        value = ca.SX(function(*at))
    except Exception as error:
        raise ModelError(
            f"{what} fails with CasADi symbols ({described(error)}); write it with functions of casadi"
        ) from error
    if value.numel() != 1:
        raise ModelError(f"{what} gives {value.numel()} numbers; it is to give one")
    steps = ca.Function("steps", at, [value], {"allow_free": True})
    if any(
        steps.instruction_id(i) == ca.OP_CONST and math.isnan(steps.instruction_constant(i))
        for i in range(steps.n_instructions())
    ):
        raise ModelError(
            f"{what} reckons with nan; float() and functions of math make that of an expression, take those of casadi"
        )


__all__ = [
    "SURFACES",
    "Law",
    "check_function_of_place",
    "constant",
    "cubic",
    "cubics",
    "end_slopes",
    "line",
    "look_up",
    "look_up_surface",
    "segments",
]
