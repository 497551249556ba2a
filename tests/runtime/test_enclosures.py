"""Bounds of crossings over intervals of time hold, and say what is theirs to say."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft

from mbfmu.runtime.enclosures import OF_INPUTS, OF_STATES, OF_TIME, UNBOUNDED, Enclosed, _enclosed

#: Crossings of t, two states, an input, a parameter and a mode; each holds every operation of one kind.
LAWS: dict[str, Callable[..., Any]] = {
    "sums": lambda t, x, u, P, m: 2 * t - x[0] + 3 * (-x[1]) - (u - P) + (1 - m),
    "products": lambda t, x, u, P, m: x[0] * x[1] - t * x[0] * u + P * t**2 + x[1] ** 2,
    "quotients": lambda t, x, u, P, m: (t - P) / (2 + x[0]) + 1 / (3 + x[1]) + x[1] / (t - 2),
    "powers": lambda t, x, u, P, m: x[0] ** 3 + x[1] ** 4 + (x[0] - 0.5) ** 5 + (t + 1) ** -2 + (t + 1) ** 2.5,
    "roots": lambda t, x, u, P, m: ca.sqrt(t + x[0] ** 2) + (t + 1) ** 0.3 + (t + 2) ** P + ca.hypot(x[0], x[1] + 2),
    "exponentials": lambda t, x, u, P, m: ca.exp(-(((t - P) / 0.3) ** 2)) + ca.log(2 + x[0]) + ca.expm1(x[1])
    + ca.log1p(t),
    "waves": lambda t, x, u, P, m: ca.sin(7 * t) * ca.cos(5 * x[0]) + ca.sin(x[1] * t) + ca.tan(0.4 * x[0]),
    "angles": lambda t, x, u, P, m: ca.asin(x[0] / 3) + ca.acos(x[1] / 3) + ca.atan(4 * x[0])
    + ca.atan2(x[1], x[0] + 3),
    "round": lambda t, x, u, P, m: ca.atan2(x[1], x[0]),
    "hyperbolas": lambda t, x, u, P, m: ca.sinh(x[0]) + ca.cosh(x[1]) - ca.tanh(3 * x[0]) * ca.asinh(x[1]),
    "inverse hyperbolas": lambda t, x, u, P, m: ca.acosh(1.5 + t) + ca.atanh(x[0] / 3),
    "corners": lambda t, x, u, P, m: ca.fabs(x[0]) + ca.fmin(x[1], u) - ca.fmax(t, x[0] + 1),
    "corners of curves": lambda t, x, u, P, m: ca.fabs(x[0] * t - 0.5) + ca.fmin(x[1] * t, u * u)
    - ca.fmax(t * t, x[0] * x[1]),
    "steps": lambda t, x, u, P, m: ca.floor(3 * t) + ca.ceil(u) + ca.sign(u - t) * x[0] + ca.copysign(2 + u, u - 1),
    "saws": lambda t, x, u, P, m: ca.fmod(5 * t, 0.7) + ca.fmod(u, P) * x[0],
    "branches": lambda t, x, u, P, m: ca.if_else(u > 0.2, t, x[1]) + ca.if_else(m > 0.5, u, 3 * t)
    + ca.if_else(ca.logic_and(u >= 0, t <= 1), 5.0, t) + ca.if_else(ca.logic_or(u < 0, ca.logic_not(u > t)), 1, 2),
    "equal": lambda t, x, u, P, m: ca.if_else(ca.floor(3 * t) == 1, t, 0) + ca.if_else(ca.floor(u) != 0, 1, x[1]),
}  # fmt: skip

#: Places of a motion that are looked at.
SAMPLES = 60


def enclosed(law: Callable[..., Any]) -> tuple[ca.Function, Enclosed]:
    """The crossing of a law, and its bounds."""
    symbols = {name: ca.SX.sym(name, 2 if name == "x" else 1) for name in "txuPm"}
    w = ca.SX.sym("w", 0)
    crossings = ca.Function("crossings", [*symbols.values(), w], [ca.densify(ca.SX(law(*symbols.values())))])
    return crossings, _enclosed(crossings, (False,), 1)


def bounds(found: Enclosed, t: float, until: float, *at: Any) -> tuple[float, ...]:
    """Bounds of a crossing and of its slope; the arguments are those of both functions."""
    x_least, x_most, _, _, u_least, u_most, _, P, m = at
    results = (
        found.functions["crossing_bounds"](t, until, x_least, x_most, u_least, u_most, P, m, 1),
        found.functions["crossing_slopes"](t, until, *at, 1),
    )
    return tuple(float(value) for pair in results for value in pair)


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_bounds_hold(law: str, campaign: Callable[[int, int], int]) -> None:
    """Along random motions no value is outside its bounds, and no chord steeper than those of the slope."""
    random = np.random.default_rng(1)
    crossings, found = enclosed(LAWS[law])
    definite, samples = 0, crossings.map(SAMPLES)
    trials = campaign(100, 1000)
    for trial in range(trials):
        begin = random.uniform(0, 3)
        end = begin + 10 ** random.uniform(-4, 0)
        x, rate, u, du = random.normal(size=2), random.normal(size=2), random.normal(), random.normal()
        P, m = random.uniform(0.5, 2), float(trial % 2)
        width = end - begin
        ends = np.array([x, x + rate * width])
        inputs = u, u + du * width
        extremes = ends.min(axis=0), ends.max(axis=0), rate, rate, min(inputs), max(inputs), du, P, m
        least, most, slowest, fastest = bounds(found, begin, end, *extremes)
        times = np.linspace(0, width, SAMPLES)
        moved = x[:, None] + rate[:, None] * times
        nothing = np.zeros((0, SAMPLES))
        values = np.array(samples(begin + times[None], moved, u + du * times[None], P, m, nothing)).ravel()
        if not np.isfinite(values).all():
            continue  # a motion that leaves the domain of a function
        margin = 1e-12 * (1 + np.abs(values).max())
        assert values.min() >= least - margin, (trial, begin, end)
        assert values.max() <= most + margin, (trial, begin, end)
        chords = np.diff(values) / np.diff(times)
        steep = 1e-9 * (1 + np.abs(chords).max()) + 4 * margin / times[1]
        assert chords.min() >= slowest - steep, (trial, begin, end)
        assert chords.max() <= fastest + steep, (trial, begin, end)
        definite += most - least < 10 * (np.ptp(values) + width)
    assert definite > trials / 10, "bounds that are always far off would hold, too"


@pytest.mark.slow
@pytest.mark.parametrize(("t", "x", "u"), [(0.7, (0.3, -0.4), 0.6), (0.2, (-0.6, 0.7), 1.4), (1.6, (1.2, 0.1), -0.3)])
def test_bounds_of_an_instant_are_the_value(t: float, x: tuple[float, float], u: float) -> None:
    """There is nothing between the two."""
    for name, law in LAWS.items():
        crossings, found = enclosed(law)
        least, most, *_ = bounds(found, t, t, x, x, [1, 2], [1, 2], u, u, 0.5, 1.5, 1.0)
        value = float(crossings(t, x, u, 1.5, 1.0, []))
        assert (float(least), float(most)) == pytest.approx((value, value), rel=1e-13), name


def test_bounds_are_sharp_where_a_value_stands_once() -> None:
    """A wave that does not reach a level is told from it in one look, however long that is."""
    _, found = enclosed(lambda t, x, u, P, m: 3 * ca.sin(1000 * t) - 3.001)
    least, most, *_ = bounds(found, 0, 100, [0, 0], [0, 0], [0, 0], [0, 0], 0, 0, 0, 0, 0)
    assert (float(least), float(most)) == pytest.approx((-6.001, -0.001), abs=1e-12)


def test_branches_that_are_decided_are_the_ones_that_count() -> None:
    """Where a condition holds throughout, the other branch adds nothing to the bounds."""
    _, found = enclosed(lambda t, x, u, P, m: ca.if_else(t > 1, 5 + t, 100 * t) - 3)
    nothing = [[0, 0]] * 4 + [0] * 5
    assert bounds(found, 2, 3, *nothing) == pytest.approx([4, 5, 1, 1])
    assert bounds(found, 0, 0.5, *nothing) == pytest.approx([-3, 47, 100, 100])
    least, most, slowest, fastest = bounds(found, 0.9, 1.1, *nothing)
    assert (least, most) == pytest.approx((2.9, 107))
    assert slowest <= -UNBOUNDED
    assert fastest >= UNBOUNDED


def when(condition: ca.SX, value: ca.SX) -> ca.SX:
    """The half of a branch: 0 where the condition does not hold."""
    return ca.SX.binary(ca.OP_IF_ELSE_ZERO, condition, value)


def times_state(number: float) -> tuple[float, float, float, float]:
    """Bounds of a number times the state below."""
    return number, 2 * number, number, number


#: Functions of a state between 1 and 2 that moves by 1 in a second, of the parameter 0.5 and the mode 1: least and most
#: value, slowest and fastest slope, by rules of intervals (of 1/y: -y'/y^2; of a product: the products of the ends).
WORKED: dict[str, tuple[Callable[..., Any], tuple[float, float, float, float]]] = {
    "power of 0": (lambda t, x, P, m: ca.constpow(x, 0) + x, (2, 3, 1, 1)),
    "power of 1": (lambda t, x, P, m: ca.constpow(x, 1), (1, 2, 1, 1)),
    "square": (lambda t, x, P, m: ca.constpow(x - 1.25, 2), (0, 0.5625, -0.5, 1.5)),
    "cube": (lambda t, x, P, m: ca.constpow(x, 3), (1, 8, 3, 12)),
    "fourth power": (lambda t, x, P, m: ca.constpow(x, 4), (1, 16, 4, 32)),
    "odd power": (lambda t, x, P, m: ca.constpow(x - 2, 5), (-1, 0, 0, 5)),
    "power beyond 100": (
        lambda t, x, P, m: ca.constpow(x - 2.5, 150), (0.5**150, 1.5**150, -150 * 1.5**149, -150 * 0.5**149),
    ),
    "odd power beyond 100": (
        lambda t, x, P, m: ca.constpow(x - 2.5, 101), (-1.5**101, -0.5**101, 101 * 0.5**100, 101 * 1.5**100),
    ),
    "negative power beyond 100": (
        lambda t, x, P, m: ca.constpow(x, -128), (2**-128, 1, -128 * 2.0**127, -128 * 2.0**-256),
    ),
    "negative power": (lambda t, x, P, m: ca.constpow(x, -2), (0.25, 1, -4, -0.125)),
    "broken negative power": (
        lambda t, x, P, m: (2 * x) ** -1.5, (4**-1.5, 2**-1.5, -3 * 2**-2, -3 * 2**-5.5),
    ),
    "parameter's sine": (lambda t, x, P, m: ca.sin(P) * x, times_state(math.sin(0.5))),
    "parameter's cosine": (lambda t, x, P, m: ca.cos(P) * x, times_state(math.cos(0.5))),
    "parameter's tangent": (lambda t, x, P, m: ca.tan(P) * x, times_state(math.tan(0.5))),
    "parameter's angle": (lambda t, x, P, m: ca.atan2(P, m) * x, times_state(math.atan(0.5))),
    "parameter's remainder": (lambda t, x, P, m: ca.fmod(P, 0.4) * x, times_state(0.1)),
    "branches": (
        lambda t, x, P, m: when(c := t > 0.5, x) + when(ca.logic_not(c), 3 * x), (1, 6, -UNBOUNDED, UNBOUNDED),
    ),
    "the other first": (
        lambda t, x, P, m: when(ca.logic_not(c := t > 0.5), 3 * x) + when(c, x), (1, 6, -UNBOUNDED, UNBOUNDED),
    ),
    "the other throughout": (
        lambda t, x, P, m: when(ca.logic_not(c := t > 5), 3 * x) + when(c, x), times_state(3),
    ),
}  # fmt: skip


def test_bounds_are_those_of_interval_arithmetic() -> None:
    t, x, u, P, m = (ca.SX.sym(name) for name in "txuPm")
    rows = ca.vertcat(*(law(t, x, P, m) for law, _ in WORKED.values()))
    crossings = ca.Function("crossings", [t, x, u, P, m, ca.SX.sym("w", 0)], [ca.densify(rows)])
    found = _enclosed(crossings, (False,) * len(WORKED), 1)
    assert found.rows == tuple(range(len(WORKED)))
    look = np.ones(len(WORKED))
    values = found.functions["crossing_bounds"](0, 1, 1, 2, 0, 0, 0.5, 1, look)
    slopes = found.functions["crossing_slopes"](0, 1, 1, 2, 1, 1, 0, 0, 0, 0.5, 1, look)
    told = np.hstack([np.array(one) for one in (*values, *slopes)])
    for (name, (_, expected)), own in zip(WORKED.items(), told, strict=True):
        assert own == pytest.approx(expected, rel=1e-12, abs=1e-12), name


def test_what_is_enclosed_and_what_is_not() -> None:
    """Time, inputs and states have bounds; accelerations, exponents that move and jumps with states have none."""
    d = Draft("rows", q=1, v=1, inputs=(0.0,), switches=8, parameters=(1.0,))
    crossings = ca.vertcat(
        ca.sin(d.t),
        d.u[0] * d.t,
        d.v**2 - 1,
        d.w[0] - 1,
        d.P[0] - 1,
        d.v ** ca.sin(d.t) - 1,
        d.t - 1,
        ca.if_else(d.v > 1, 1, d.t) - 0.5,
    )
    equations = d.equations(
        A=ca.SX(1), b=-d.v, guess=ca.vertcat(1.0, 0.0), crossings=crossings, time_switches=(False,) * 6 + (True, False),
        next_times=ca.SX(1),
    )  # fmt: skip
    found = Enclosed.of(equations)
    assert (found.rows, found.kinds, found.states) == ((0, 1, 2), (OF_TIME, OF_INPUTS, OF_STATES), (1,))
    assert {f.numel_out(0) for f in found.functions.values()} == {3}


@pytest.mark.slow
def test_bounds_that_rounds_of_an_iteration_blur_are_none() -> None:
    """Of Newton's rounds for a root, intervals grow by orders in each; a few of them are as good as any."""
    kept = []
    for rounds in (1, 40):
        d = Draft("rounds", q=1, v=1, switches=2)
        root = d.q
        for _ in range(rounds):
            root = root - (root**3 + root - d.v) / (3 * root**2 + 1)
        equations = d.equations(
            A=ca.SX(1), b=-d.v, guess=ca.vertcat(1.0, 0.0), crossings=ca.vertcat(root - 0.5, d.q - 0.2)
        )
        kept.append(Enclosed.of(equations).rows)
    assert kept == [(0, 1), (1,)]


def test_what_is_iterated_has_no_bounds() -> None:
    """Iteration variables are the last inputs of the functions, and none of these is known over a step."""
    d = Draft("iterated", q=1, v=1, inputs=(0.0,), switches=2, iterations=1)
    equations = d.equations(
        A=ca.SX(1), b=-d.v, guess=ca.vertcat(1.0, 0.0), crossings=ca.vertcat(d.u[0] - 1, d.s - 1),
        iterations=d.s + d.s**3 - d.q, iteration_guess=ca.SX(0), iteration_blocks=(1,), iteration_names=("s",),
        iteration_nominals=(1.0,),
    )  # fmt: skip
    assert Enclosed.of(equations).rows == (0,)


def test_remainders_of_what_moves_and_rows_that_all_jump_have_none() -> None:
    """The width of a saw is known at an instant only; a branch of a state makes slopes anything."""
    d = Draft("none", q=1, v=1, inputs=(0.0,), switches=2)
    for crossings, rows in (
        (ca.vertcat(ca.fmod(d.t, d.u[0]) - 0.5, ca.fmod(d.t, 0.3) - 0.1), (1,)),
        (ca.vertcat(ca.if_else(d.v > 1, 1, d.t) - 0.5, ca.floor(d.q) - 1), ()),
    ):
        equations = d.equations(A=ca.SX(1), b=-d.v, guess=ca.vertcat(1.0, 0.0), crossings=crossings)
        assert Enclosed.of(equations).rows == rows
        assert bool(Enclosed.of(equations).functions) == bool(rows)


def test_what_calls_give_of_unbounded_arguments_has_none() -> None:
    d = Draft("called", q=1, v=1, inputs=(0.0,), switches=2)
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    called = ca.Function("called", [a, b], [a * b], {"never_inline": True})
    rows = [called(ca.fmod(d.t, d.u[0]), d.q), called(d.t, d.q)]
    equations = d.equations(A=ca.SX(1), b=-d.v, guess=ca.vertcat(1.0, 0.0), crossings=ca.vertcat(*rows) - 1)
    assert Enclosed.of(equations).rows == (1,)


def test_a_model_without_such_switches_has_no_such_function() -> None:
    """Nothing is made that nobody calls."""
    d = Draft("plain", q=1, v=1)
    equations = d.equations(A=ca.SX(1), b=-d.v, guess=ca.vertcat(1.0, 0.0))
    assert Enclosed.of(equations) == Enclosed((), (), (), (), (), {})
    assert math.isfinite(UNBOUNDED**3)
