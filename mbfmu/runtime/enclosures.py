"""Enclosures of crossing functions: bounds that hold throughout an interval of time.

Between two instants at which it agrees with its mode, a switch may cross and cross back. Samples cannot tell that it
does not; interval arithmetic can (Moore, Interval Analysis, 1966; in the simulation of hybrid systems Park and Barton,
ACM Transactions on Modeling and Computer Simulation 6 (1996), 137-165). From the instructions of the crossing functions
two functions are made that take bounds of what they depend on: one gives bounds of their values, one of their
derivatives along time. The runtime splits intervals where these leave it open whether there is a crossing
(templates/runtime/enclose.c). Bounds are not rounded outwards: what they exclude is excluded but for rounding errors.

A call within them becomes a call of functions that bound what the called function gives, made once for all that call it
with bounds of the same kinds.

Crossings that depend on accelerations, iteration variables or delayed signals have no bounds, and none are made of
those that jump with states, whose slopes would be unbounded wherever it is open which branch counts.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.instructions import instructions_of
from mbfmu.runtime.calls import argument_offsets, by_function, calls_in, result_offsets
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.cse import cse
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.tape import NAMES

#: What an unbounded value or slope is taken to be. Products of three are finite.
UNBOUNDED = 1e100

#: What a crossing depends on beside parameters and discrete states: time; inputs, too; states, too.
OF_TIME, OF_INPUTS, OF_STATES = range(3)

#: Lower and upper bound; one object twice where they are the same.
Bounds = tuple[ca.SX, ca.SX]


@dataclasses.dataclass(frozen=True)
class Enclosed:
    """The crossings that are enclosed, and the functions that do it."""

    rows: tuple[int, ...]
    #: Per row: `OF_TIME`, `OF_INPUTS` or `OF_STATES`.
    kinds: tuple[int, ...]
    #: States that they depend on.
    states: tuple[int, ...]
    #: Per state of these, the numbers of the rows that depend on it, among those that are enclosed.
    rows_of_states: tuple[tuple[int, ...], ...]
    #: Per row: does it depend on states and parameters alone?
    boxed: tuple[bool, ...]
    #: `crossing_bounds` and `crossing_slopes` of mbfmu/runtime/contract.py; none where no row is enclosed.
    functions: Mapping[str, ca.Function]

    @classmethod
    def of(cls, equations: Equations) -> Enclosed:
        """The enclosures of a model."""
        ninputs = equations.nu - equations.ndelays - equations.niterations
        switches = equations.functions["crossings"], tuple(equations.time_switches), ninputs
        found = _enclosed(*switches)
        if OF_STATES not in found.kinds:
            return found
        are_blurred = _are_blurred(
            found.functions["crossing_bounds"], equations.functions["derived"], tuple(equations.parameters)
        )
        rows = zip(found.rows, found.kinds, are_blurred, strict=True)
        blurred = frozenset(row for row, kind, is_blurred in rows if is_blurred and kind == OF_STATES)
        return _enclosed(*switches, blurred) if blurred else found


@functools.lru_cache(maxsize=32)
def _enclosed(
    crossings: ca.Function, time_switches: tuple[bool, ...], ninputs: int, blurred: frozenset[int] = frozenset()
) -> Enclosed:
    found = _kinds(crossings, time_switches, ninputs)
    found = {row: kind for row, kind in found.items() if row not in blurred}
    none = Enclosed((), (), (), (), (), {})
    if not found:
        return none
    function = crossings if crossings.is_a("SXFunction") else crossings.expand()
    names = FUNCTIONS["crossings"].arguments
    symbols = {name: ca.SX.sym(name, function.numel_in(i)) for i, name in enumerate(names)}
    jumping = _jumping_rows(function)
    found = {row: kind for row, kind in found.items() if row not in jumping or kind != OF_STATES}
    if not found:
        return none
    column = function(*symbols.values())
    rows = ca.Function("rows", list(symbols.values()), [ca.vertcat(*(column[row] for row in found))])
    at = {name: ca.SX.sym(name, symbols[of].numel()) for name, of in _BOUNDS.items()}
    asked = ca.SX.sym("look", len(found))
    results = zip(found, _results(rows, {**symbols, **at}, names, asked), strict=True)
    kept = {row: node for row, node in results if node is not None}
    if not kept:
        return none
    look = ca.SX.sym("look", len(kept))  # of those that have bounds
    numbers = {row: k for k, row in enumerate(kept)}
    of_look = ca.vertcat(*(look[numbers[row]] if row in numbers else 0 for row in found))
    symbols |= at | {"look": look}
    functions = {}
    for function_name, bounds in (
        ("crossing_bounds", [node.value for node in kept.values()]),
        ("crossing_slopes", [_slope(node) for node in kept.values()]),
    ):
        arguments = [symbols[name] for name in FUNCTIONS[function_name].arguments]
        columns = [ca.densify(ca.vertcat(*column)) for column in zip(*bounds, strict=True)]
        functions[function_name] = ca.Function(
            function_name, arguments, cse(ca.substitute(columns, [asked], [of_look]))
        )
    t, x, u, m = (_columns(crossings, names.index(name)) for name in "txum")
    rows_of: dict[int, list[int]] = {}
    for row, k in numbers.items():
        for state in x.get(row, ()):
            rows_of.setdefault(state, []).append(k)
    states = tuple(sorted(rows_of))
    boxed = tuple(found[row] == OF_STATES and not (row in t or row in u or row in m) for row in kept)
    kinds = tuple(found[row] for row in kept)
    return Enclosed(tuple(kept), kinds, states, tuple(tuple(rows_of[state]) for state in states), boxed, functions)


#: Half width of small boxes of states; bounds that are wider than this there; how many boxes are tried.
_SMALL, _WIDE, _BOXES = 1e-6, 1e6, 4


@functools.lru_cache(maxsize=32)
def _are_blurred(function: ca.Function, derived: ca.Function, parameters: tuple[float, ...]) -> list[bool]:
    """Are the bounds of each row wide in small boxes, too, as those of what is found by iteration?

    They would exclude nothing, and intervals would be split in each step until there are no more.
    """
    names, random = FUNCTIONS["crossing_bounds"].arguments, np.random.default_rng(0)
    sizes = {name: function.numel_in(i) for i, name in enumerate(names)}
    P = np.concatenate([parameters, np.array(derived(parameters)).ravel()])
    blurred = np.full(sizes["look"], True)
    for _, mode in itertools.product(range(_BOXES), (0.0, 1.0)):
        x = random.normal(size=sizes["x_least"])
        at = {"x_least": x - _SMALL, "x_most": x + _SMALL, "P": P}
        at |= {"m": np.full(sizes["m"], mode), "look": np.ones(sizes["look"])}
        least, most = function(*(at.get(name, np.zeros(sizes[name])) for name in names))
        blurred &= np.array(most).ravel() - np.array(least).ravel() > _WIDE
    return list(blurred)


#: Arguments of these functions that `crossings` has not, with those whose size they have.
_BOUNDS = {
    "until": "t", "x_least": "x", "x_most": "x", "rate_least": "x", "rate_most": "x", "u_least": "u", "u_most": "u",
    "du": "u",
}  # fmt: skip


def _columns(function: ca.Function, argument: int) -> dict[int, list[int]]:
    """Row of the first result -> elements of an argument that it depends on."""
    found: dict[int, list[int]] = {}
    for row, column in zip(*function.jac_sparsity(0, argument).get_triplet(), strict=True):
        found.setdefault(row, []).append(column)
    return found


def _kinds(crossings: ca.Function, time_switches: tuple[bool, ...], ninputs: int) -> dict[int, int]:
    """Rows that may change between events, and depend on nothing that has no bounds -> their kind."""
    names = FUNCTIONS["crossings"].arguments
    t, x, u, w = (_columns(crossings, names.index(name)) for name in "txuw")
    found = {}
    for row in range(len(time_switches)):
        if time_switches[row] or row in w or any(column >= ninputs for column in u.get(row, ())):
            continue
        if row in x:
            found[row] = OF_STATES
        elif row in u:
            found[row] = OF_INPUTS
        elif row in t:
            found[row] = OF_TIME
    return found


# -- interval arithmetic


@dataclasses.dataclass(eq=False)
class _Node:
    """Bounds of a value, and of its derivative along time, which is None where the value is constant."""

    value: Bounds
    slope: Any = None
    #: Of `IF_ELSE_ZERO`: condition and value. Of `NOT`: the condition.
    choice: tuple[_Node, _Node] | None = None
    negated: _Node | None = None


def _point(value: Any) -> Bounds:
    value = ca.SX(value)
    return value, value


_ZERO, _ONE, _ANY = _point(0.0), _point(1.0), (ca.SX(-UNBOUNDED), ca.SX(UNBOUNDED))


def _is_point(a: Bounds) -> bool:
    return a[0] is a[1]


def _pair(least: ca.SX, most: ca.SX) -> Bounds:
    return least, most


def _add(a: Bounds, b: Bounds) -> Bounds:
    if _is_point(a) and _is_point(b):
        return _point(a[0] + b[0])
    return a[0] + b[0], a[1] + b[1]


def _negative(a: Bounds) -> Bounds:
    return _point(-a[0]) if _is_point(a) else (-a[1], -a[0])


def _hull(a: Bounds, b: Bounds) -> Bounds:
    return ca.fmin(a[0], b[0]), ca.fmax(a[1], b[1])


def _multiply(a: Bounds, b: Bounds) -> Bounds:
    if _is_point(b):
        a, b = b, a
    if not _is_point(a):
        products = [one * other for one in a for other in b]
        return functools.reduce(ca.fmin, products), functools.reduce(ca.fmax, products)
    if _is_point(b):
        return _point(a[0] * b[0])
    if a[0].is_constant():
        first, second = b if float(a[0]) >= 0 else b[::-1]
        return a[0] * first, a[0] * second
    one, other = a[0] * b[0], a[0] * b[1]
    return ca.fmin(one, other), ca.fmax(one, other)


def _inverse(a: Bounds) -> Bounds:
    if _is_point(a):
        return _point(1 / a[0])
    passes = a[0] * a[1] <= 0
    return ca.if_else(passes, -UNBOUNDED, 1 / a[1]), ca.if_else(passes, UNBOUNDED, 1 / a[0])


def _square(a: Bounds) -> Bounds:
    if _is_point(a):
        return _point(a[0] ** 2)
    return ca.fmax(0, ca.fmax(a[0], -a[1])) ** 2, ca.fmax(-a[0], a[1]) ** 2


def _rising(function: Callable[[ca.SX], ca.SX], a: Bounds) -> Bounds:
    return _point(function(a[0])) if _is_point(a) else (function(a[0]), function(a[1]))


def _root(a: Bounds) -> Bounds:
    return _rising(lambda x: ca.sqrt(ca.fmax(x, 0)), a)


def _sine(a: Bounds, ahead: float = 0.0) -> Bounds:
    """Bounds of sin(a + ahead)."""
    if _is_point(a):
        return _point(ca.sin(a[0]) if ahead == 0 else ca.cos(a[0]))
    function = ca.sin if ahead == 0 else ca.cos

    def passes(place: float) -> ca.SX:
        """1 where an odd quarter lies within."""
        first, last = ((x + ahead - place) / (2 * math.pi) for x in a)
        return ca.floor(last) - ca.floor(first) > 0.5

    one, other = function(a[0]), function(a[1])
    return (
        ca.if_else(passes(-math.pi / 2), -1, ca.fmin(one, other)),
        ca.if_else(passes(math.pi / 2), 1, ca.fmax(one, other)),
    )


def _along(slope: Bounds, a: _Node) -> Any:
    """Derivative of a function of a value: that of the function, times that of the value."""
    return None if a.slope is None else _multiply(slope, a.slope)


def _sum(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else _add(a, b)


def _slope(a: _Node) -> Bounds:
    return _ZERO if a.slope is None else a.slope


def _jumping(nodes: tuple[_Node, ...], value: Bounds) -> _Node:
    """What is constant but for jumps, which are where its bounds differ."""
    if all(node.slope is None for node in nodes):
        return _Node(value)
    jumps = value[1] > value[0]
    return _Node(value, (ca.if_else(jumps, -UNBOUNDED, 0), ca.if_else(jumps, UNBOUNDED, 0)))


def _of_both(certain: ca.SX, possible: ca.SX, *nodes: _Node) -> _Node:
    """A truth: 1 throughout, or 1 somewhere."""
    return _jumping(nodes, (ca.SX(certain), ca.SX(possible)))


def _truth(a: _Node) -> Bounds:
    """A condition as bounds of 0 and 1: numbers count as true where they are not 0."""
    least, most = a.value
    nowhere = ca.logic_or(least > 0, most < 0)
    return nowhere, ca.logic_not(ca.logic_and(least == 0, most == 0))


def _chosen(condition: _Node, then: _Node, otherwise: _Node) -> _Node:
    always, ever = _truth(condition)

    def pick(one: ca.SX, other: ca.SX, both: Any) -> ca.SX:
        return ca.if_else(always, one, ca.if_else(ever, both, other))

    value = _pair(
        *(pick(a, b, both(a, b)) for a, b, both in zip(then.value, otherwise.value, (ca.fmin, ca.fmax), strict=True))
    )
    if condition.slope is None and then.slope is None and otherwise.slope is None:
        return _Node(value)
    slopes = zip(_slope(then), _slope(otherwise), (-UNBOUNDED, UNBOUNDED), strict=True)
    return _Node(value, _pair(*(pick(a, b, bound) for a, b, bound in slopes)))


def _fabs(a: _Node) -> _Node:
    least, most = a.value
    slope = None
    if a.slope is not None:
        back = _negative(a.slope)
        both = _hull(a.slope, back)
        bounds = zip(a.slope, back, both, strict=True)
        slope = _pair(*(ca.if_else(least > 0, o, ca.if_else(most < 0, b, h)) for o, b, h in bounds))
    return _Node((ca.fmax(0, ca.fmax(least, -most)), ca.fmax(-least, most)), slope)


def _lesser(a: _Node, b: _Node) -> _Node:
    value = ca.fmin(a.value[0], b.value[0]), ca.fmin(a.value[1], b.value[1])
    if a.slope is None and b.slope is None:
        return _Node(value)
    own, other = _slope(a), _slope(b)
    first, second = a.value[1] < b.value[0], b.value[1] < a.value[0]
    slopes = zip(own, other, _hull(own, other), strict=True)
    return _Node(value, _pair(*(ca.if_else(first, o, ca.if_else(second, p, h)) for o, p, h in slopes)))


def _minus(a: _Node) -> _Node:
    return _Node(_negative(a.value), None if a.slope is None else _negative(a.slope))


def _product(a: _Node, b: _Node) -> _Node:
    if a is b:
        return _Node(_square(a.value), _along(_multiply(_point(2.0), a.value), a))
    return _Node(_multiply(a.value, b.value), _sum(_along(b.value, a), _along(a.value, b)))


def _inverted(a: _Node) -> _Node:
    value = _inverse(a.value)
    return _Node(value, _along(_negative(_square(value)), a))


def _exponential(a: _Node) -> _Node:
    value = _rising(ca.exp, a.value)
    return _Node(value, _along(value, a))


def _logarithm(a: _Node) -> _Node:
    positive = _rising(lambda x: ca.fmax(x, 1e-300), a.value)
    return _Node(_rising(ca.log, positive), _along(_inverse(positive), a))


def _power(a: _Node, b: _Node) -> _Node | None:
    exponent = b.value[0]
    if not (_is_point(b.value) and exponent.is_constant()):
        return None if b.slope is not None else _whole_or_any(a, b)
    number = float(exponent)
    if number < 0:
        below = _power(a, _Node(_point(-number)))
        return None if below is None else _inverted(below)
    if number == 1:
        return a
    if number != int(number):  # whole ones are products, but for those beyond 100
        positive = _Node(_rising(lambda x: ca.fmax(x, 0), a.value), a.slope)
        steep = _rising(lambda x: ca.fmax(x, 0 if number > 1 else 1e-60) ** (number - 1), positive.value)
        steep = steep if number > 1 or _is_point(steep) else steep[::-1]
        return _Node(_rising(lambda x: x**number, positive.value), _along(_multiply(_point(number), steep), a))
    half = _power(a, _Node(_point(number // 2)))
    assert half is not None
    square = _Node(_square(half.value), _along(_multiply(_point(2.0), half.value), half))
    return square if number % 2 == 0 else _product(square, a)


def _whole_or_any(a: _Node, b: _Node) -> _Node:
    """A power whose exponent is a parameter: of a positive number, else anything."""
    log = _logarithm(a)
    found = _exponential(_product(log, b))
    outside = a.value[0] <= 0

    def wide(bounds: Bounds) -> Bounds:
        return ca.if_else(outside, -UNBOUNDED, bounds[0]), ca.if_else(outside, UNBOUNDED, bounds[1])

    return _Node(wide(found.value), None if found.slope is None else wide(found.slope))


def _tangent(a: _Node) -> _Node:
    if _is_point(a.value):
        return _Node(_rising(ca.tan, a.value), _along(_point(1 + ca.tan(a.value[0]) ** 2), a))
    first, last = (ca.floor(x / math.pi + 0.5) for x in a.value)
    least, most = (ca.tan(x) for x in a.value)
    value = ca.if_else(last > first, -UNBOUNDED, least), ca.if_else(last > first, UNBOUNDED, most)
    return _Node(value, _along(_add(_ONE, _square(value)), a))


def _arc_tangent(a: _Node) -> _Node:
    return _Node(_rising(ca.atan, a.value), _along(_inverse(_add(_ONE, _square(a.value))), a))


def _angle(y: _Node, x: _Node) -> _Node:
    """atan2: by an arc tangent where one of the two does not change its sign so that it jumps."""
    front = _arc_tangent(_product(y, _inverted(x)))
    side = _minus(_arc_tangent(_product(x, _inverted(y))))
    value, slope = (-math.pi, math.pi), (-UNBOUNDED, UNBOUNDED)

    def pick(of_front: ca.SX, of_side: ca.SX, turn: float, other: float) -> ca.SX:
        found = ca.if_else(y.value[1] < 0, of_side - turn, other)
        found = ca.if_else(y.value[0] > 0, of_side + turn, found)
        return ca.if_else(x.value[0] > 0, of_front, found)

    found = _pair(*(pick(f, s, math.pi / 2, o) for f, s, o in zip(front.value, side.value, value, strict=True)))
    if y.slope is None and x.slope is None:
        return _Node(found)
    slopes = zip(_slope(front), _slope(side), slope, strict=True)
    return _Node(found, _pair(*(pick(f, s, 0.0, o) for f, s, o in slopes)))


def _remainder(a: _Node, b: _Node) -> _Node | None:
    if not _is_point(b.value) or b.slope is not None:
        return None
    width = ca.fabs(b.value[0])
    if a.slope is None:
        return _Node(_rising(lambda x: ca.fmod(x, width), a.value)) if _is_point(a.value) else None
    first, last = (ca.fmod(x, width) for x in a.value)
    rounds = [ca.floor(x / width) for x in a.value]
    jumps = ca.logic_or(rounds[1] > rounds[0], a.value[0] * a.value[1] < 0)
    value = ca.if_else(jumps, -width, first), ca.if_else(jumps, width, last)
    slope = ca.if_else(jumps, -UNBOUNDED, a.slope[0]), ca.if_else(jumps, UNBOUNDED, a.slope[1])
    return _Node(value, slope)


def _bounded(x: ca.SX) -> ca.SX:
    return ca.fmin(ca.fmax(x, -1), 1)


def _arc_sine(a: _Node) -> _Node:
    within = _rising(_bounded, a.value)
    steep = _inverse(_root(_add(_ONE, _negative(_square(within)))))
    return _Node(_rising(ca.asin, within), _along(_rising(lambda x: ca.fmin(x, UNBOUNDED), steep), a))


def _even_cosine(a: _Node) -> _Node:
    least, most = _fabs(_Node(a.value)).value
    return _Node((ca.cosh(least), ca.cosh(most)), _along(_rising(ca.sinh, a.value), a))


def _step(function: Callable[[ca.SX], ca.SX], a: _Node) -> _Node:
    return _jumping((a,), _rising(function, a.value)) if not _is_point(a.value) else _Node(_rising(function, a.value))


def _is_equal(a: _Node, b: _Node) -> _Node:
    (al, am), (bl, bm) = a.value, b.value
    return _of_both(ca.logic_and(al == bm, am == bl), ca.logic_and(al <= bm, bl <= am), a, b)


def _not(a: _Node) -> _Node:
    always, ever = _truth(a)
    found = _of_both(ca.logic_not(ever), ca.logic_not(always), a)
    found.negated = a
    return found


def _sum_of(a: _Node, b: _Node) -> _Node:
    if a.choice and b.choice:  # as if_else is written
        (when, then), (unless, otherwise) = a.choice, b.choice
        if unless.negated is when:
            return _chosen(when, then, otherwise)
        if when.negated is unless:
            return _chosen(unless, otherwise, then)
    return _Node(_add(a.value, b.value), _sum(a.slope, b.slope))


def _if_else_zero(condition: _Node, value: _Node) -> _Node:
    found = _chosen(condition, value, _Node(_ZERO))
    found.choice = (condition, value)
    return found


def _smooth(function: Callable[[ca.SX], ca.SX], slope: Callable[[Bounds], Bounds]) -> Callable[[_Node], _Node]:
    """A function that rises throughout, and its derivative."""
    return lambda a: _Node(_rising(function, a.value), _along(slope(a.value), a))


def _logic(join: Callable[[ca.SX, ca.SX], ca.SX]) -> Callable[[_Node, _Node], _Node]:
    return lambda a, b: _of_both(join(_truth(a)[0], _truth(b)[0]), join(_truth(a)[1], _truth(b)[1]), a, b)


def _half_power(a: Bounds, sign: float) -> Bounds:
    """1 / sqrt(x^2 + sign)."""
    return _inverse(_root(_add(_square(a), _point(sign))))


_OPERATIONS: dict[str, Callable[..., _Node | None]] = {
    "ADD": _sum_of,
    "SUB": lambda a, b: _Node(_add(a.value, _negative(b.value)), _sum(a.slope, _minus(b).slope)),
    "MUL": _product,
    "DIV": lambda a, b: _product(a, _inverted(b)),
    "NEG": _minus,
    "INV": _inverted,
    "SQ": lambda a: _product(a, a),
    "TWICE": lambda a: _product(_Node(_point(2.0)), a),
    "SQRT": lambda a: _Node(_root(a.value), _along(_multiply(_point(0.5), _inverse(_root(a.value))), a)),
    "POW": _power,
    "CONSTPOW": _power,
    "EXP": _exponential,
    "LOG": _logarithm,
    "LOG1P": lambda a: _logarithm(_sum_of(_Node(_ONE), a)),
    "EXPM1": lambda a: _Node(_rising(ca.expm1, a.value), _along(_rising(ca.exp, a.value), a)),
    "SIN": lambda a: _Node(_sine(a.value), _along(_sine(a.value, math.pi / 2), a)),
    "COS": lambda a: _Node(_sine(a.value, math.pi / 2), _along(_negative(_sine(a.value)), a)),
    "TAN": _tangent,
    "ASIN": _arc_sine,
    "ACOS": lambda a: _sum_of(_Node(_point(math.pi / 2)), _minus(_arc_sine(a))),
    "ATAN": _arc_tangent,
    "ATAN2": _angle,
    "SINH": lambda a: _Node(_rising(ca.sinh, a.value), _along(_even_cosine(_Node(a.value)).value, a)),
    "COSH": _even_cosine,
    "TANH": _smooth(ca.tanh, lambda v: _add(_ONE, _negative(_square(_rising(ca.tanh, v))))),
    "ASINH": _smooth(ca.asinh, lambda v: _half_power(v, 1.0)),
    "ACOSH": _smooth(lambda x: ca.acosh(ca.fmax(x, 1)), lambda v: _half_power(v, -1.0)),
    "ATANH": _smooth(ca.atanh, lambda v: _inverse(_add(_ONE, _negative(_square(v))))),
    "HYPOT": lambda a, b: _OPERATIONS["SQRT"](_sum_of(_product(a, a), _product(b, b))),
    "FABS": _fabs,
    "SIGN": lambda a: _step(ca.sign, a),
    "COPYSIGN": lambda a, b: _product(_fabs(a), _step(lambda x: ca.if_else(x < 0, -1, 1), b)),
    "FLOOR": lambda a: _step(ca.floor, a),
    "CEIL": lambda a: _step(ca.ceil, a),
    "FMOD": _remainder,
    "FMIN": _lesser,
    "FMAX": lambda a, b: _minus(_lesser(_minus(a), _minus(b))),
    "LT": lambda a, b: _of_both(a.value[1] < b.value[0], a.value[0] < b.value[1], a, b),
    "LE": lambda a, b: _of_both(a.value[1] <= b.value[0], a.value[0] <= b.value[1], a, b),
    "EQ": _is_equal,
    "NE": lambda a, b: _not(_is_equal(a, b)),
    "NOT": _not,
    "AND": _logic(ca.logic_and),
    "OR": _logic(ca.logic_or),
    "IF_ELSE_ZERO": _if_else_zero,
}


#: Operations that jump.
_JUMPING = frozenset(["SIGN", "COPYSIGN", "FLOOR", "CEIL", "FMOD", "LT", "LE", "EQ", "NE"])


def _jumping_rows(function: ca.Function) -> set[int]:
    """Rows of the first result of which some part jumps with states."""
    states = FUNCTIONS["crossings"].arguments.index("x")
    begin = argument_offsets(function)
    found = _ends(function, frozenset(range(begin[states], begin[states + 1])))
    return {row for row in range(function.numel_out(0)) if found[row][1]}


@by_function
def _ends(function: ca.Function, moving: frozenset[int]) -> list[tuple[bool, bool]]:
    """Per number that a function gives: does it move with arguments that do, and does some part of it jump?"""
    moves, jumps = [False] * function.sz_w(), [False] * function.sz_w()
    begin, end, calls = argument_offsets(function), result_offsets(function), calls_in(function)
    found = [(False, False)] * end[-1]
    operation, inputs_of, outputs_of = instructions_of(function)
    for k in range(function.n_instructions()):
        name, inputs, outputs = NAMES.get(operation(k)), inputs_of(k), outputs_of(k)
        if name == "OUTPUT":
            found[end[outputs[0]] + outputs[1]] = moves[inputs[0]], jumps[inputs[0]]
            continue
        of = [] if name in ("INPUT", "CONST") else inputs
        has_jumped = any(jumps[place] for place in of)
        if k in calls:
            made = _ends(calls[k], frozenset(i for i, place in enumerate(of) if moves[place]))
        else:
            moved = (name == "INPUT" and begin[inputs[0]] + inputs[1] in moving) or any(moves[place] for place in of)
            made = [(moved, moved and name in _JUMPING)]
        for place, (moved, jumped) in zip(outputs, made, strict=True):
            if place >= 0:
                moves[place], jumps[place] = moved, has_jumped or jumped
    return found


def _results(rows: ca.Function, given: dict[str, ca.SX], names: tuple[str, ...], look: ca.SX) -> list[_Node | None]:
    """Bounds of all results of a function of t, x, u, P, m and w; None where there are none.

    What is called for results that nobody looks at is not called.
    """

    def leaf(argument: int, i: int) -> _Node:
        name = names[argument]
        if name == "t":
            return _Node((given["t"], given["until"]), _ONE)
        if name == "x":
            rates = given["rate_least"][i], given["rate_most"][i]
            return _Node((given["x_least"][i], given["x_most"][i]), rates)
        if name == "u":
            return _Node((given["u_least"][i], given["u_most"][i]), _point(given["du"][i]))
        return _Node(_point(given[name][i]))

    guards = {k: functools.reduce(ca.fmax, [look[i] for i in reads]) for k, reads in _readers(rows).items()}
    return _nodes(rows, leaf, guards)


def _readers(rows: ca.Function) -> dict[int, list[int]]:
    """Numbers of instructions that call something, with the results that depend on them."""
    calls, found = calls_in(rows), {}
    reads: list[set[int]] = [set() for _ in range(rows.sz_w())] if calls else []
    operation, inputs_of, outputs_of = instructions_of(rows)
    for k in reversed(range(rows.n_instructions() if calls else 0)):
        name, inputs, outputs = NAMES.get(operation(k)), inputs_of(k), outputs_of(k)
        if name == "OUTPUT":
            reads[inputs[0]].add(outputs[1])
            continue
        results = {row for place in outputs if place >= 0 for row in reads[place]}
        for place in outputs:
            if place >= 0:
                reads[place] = set()
        if k in calls:
            found[k] = sorted(results)
        for place in [] if name in ("INPUT", "CONST") else inputs:
            reads[place] |= results
    return found


def _nodes(
    function: ca.Function, leaf: Callable[[int, int], _Node], guards: Mapping[int, ca.SX] | None = None
) -> list[_Node | None]:
    """Bounds of all numbers that a function gives, from those of its arguments; None where there are none.

    `guards`: of instructions that call something.
    """
    guards = guards or {}
    leaves: dict[tuple[int, int], _Node] = {}
    end, calls = result_offsets(function), calls_in(function)
    work: list[_Node | None] = [None] * function.sz_w()
    found: list[_Node | None] = [None] * end[-1]
    operation, inputs_of, outputs_of = instructions_of(function)
    for k in range(function.n_instructions()):
        name, inputs, outputs = NAMES.get(operation(k)), inputs_of(k), outputs_of(k)
        if name == "OUTPUT":
            found[end[outputs[0]] + outputs[1]] = work[inputs[0]]
            continue
        if k in calls:
            nodes = _called(calls[k], [work[place] for place in inputs], guards.get(k, ca.SX(1)))
            for place, node in zip(outputs, nodes, strict=True):
                if place >= 0:
                    work[place] = node
        elif name == "INPUT":
            key = (inputs[0], inputs[1])
            work[outputs[0]] = leaves.setdefault(key, leaf(*key))
        elif name == "CONST":
            work[outputs[0]] = _Node(_point(function.instruction_constant(k)))
        else:
            work[outputs[0]] = _made(name, [work[place] for place in inputs])
    return found


@dataclasses.dataclass(frozen=True)
class _Enclosing:
    """Functions that bound what a called function gives: values from those of its arguments, slopes from both.

    They have a guard in front.
    """

    values: ca.Function
    slopes: ca.Function
    #: Per number that it gives: how many numbers its value and its slope are; None where there are no bounds.
    forms: tuple[tuple[int, int] | None, ...]


def _form(node: _Node) -> tuple[int, int]:
    """How many numbers the value and the slope of a node are: 1 for a point, 0 for a slope that is 0."""
    slope = 0 if node.slope is None else 1 if _is_point(node.slope) else 2
    return (1 if _is_point(node.value) else 2), slope


def _listed(bounds: Bounds | None, form: int) -> list[ca.SX]:
    return [] if bounds is None else list(bounds[:form])


def _taken(symbols: list[ca.SX], form: int) -> Any:
    """Bounds of the next symbols of a list, in reverse order; None for none."""
    if not form:
        return None
    least = symbols.pop()
    return (least, symbols.pop()) if form == 2 else (least, least)


@by_function
def _enclosing(function: ca.Function, forms: tuple[tuple[int, int], ...]) -> _Enclosing:
    """Bounds of a called function, as functions that are called themselves."""
    values, slopes = (ca.SX.sym(name, sum(f[i] for f in forms)) for i, name in enumerate(("value", "slope")))
    lists = [_backwards(symbols) for symbols in (values, slopes)]
    arguments = [_Node(_taken(lists[0], value), _taken(lists[1], slope)) for value, slope in forms]
    begin = argument_offsets(function)
    nodes = _nodes(function, lambda argument, i: arguments[begin[argument] + i])
    made = tuple(None if node is None else _form(node) for node in nodes)
    known = [(node, form) for node, form in zip(nodes, made, strict=True) if node is not None and form is not None]
    of_values = [part for node, form in known for part in _listed(node.value, form[0])]
    of_slopes = [part for node, form in known for part in _listed(node.slope, form[1])]
    guard = ca.SX.sym("guard")

    def function_of(name: str, given: list[ca.SX], parts: list[ca.SX]) -> ca.Function:
        (column,) = cse([ca.densify(ca.vertcat(ca.SX(0, 1), *parts))])
        results = [ca.SX.binary(ca.OP_IF_ELSE_ZERO, guard, part) for part in column.nz]
        return ca.Function(
            f"{name}_{function.name()}", [guard, *given], [ca.vertcat(ca.SX(0, 1), *results)], {"never_inline": True}
        )

    return _Enclosing(
        function_of("bounds", [values], of_values), function_of("slopes", [values, slopes], of_slopes), made
    )


def _called(function: ca.Function, operands: list[_Node | None], guard: ca.SX) -> list[_Node | None]:
    """Bounds of what a call gives."""
    known = [node for node in operands if node is not None]
    if len(known) < len(operands):
        return [None] * result_offsets(function)[-1]
    forms = tuple(_form(node) for node in known)
    enclosing = _enclosing(function, forms)
    given = [
        ca.vertcat(ca.SX(0, 1), *parts)
        for parts in (
            [part for node, form in zip(known, forms, strict=True) for part in _listed(node.value, form[0])],
            [part for node, form in zip(known, forms, strict=True) for part in _listed(node.slope, form[1])],
        )
    ]
    values = _numbers(enclosing.values, [guard, given[0]])
    slopes = _numbers(enclosing.slopes, [guard, *given])
    found: list[_Node | None] = []
    for form in enclosing.forms:
        found.append(None if form is None else _Node(_taken(values, form[0]), _taken(slopes, form[1])))
    return found


def _numbers(function: ca.Function, given: list[ca.SX]) -> list[ca.SX]:
    """What a function gives, in reverse order."""
    return _backwards(function.call(given)[0]) if function.nnz_out(0) else []


def _backwards(column: ca.SX) -> list[ca.SX]:
    """The scalars of a column from the last to the first."""
    scalars: Any = column.elements()  # its stub is wrong about the type
    return scalars[::-1]


def _made(name: str | None, operands: list[_Node | None]) -> _Node | None:
    """The result of an operation; None where there are no bounds of it."""
    known = [node for node in operands if node is not None]
    if name not in _OPERATIONS or len(known) < len(operands):
        return None
    return _OPERATIONS[name](*known)
