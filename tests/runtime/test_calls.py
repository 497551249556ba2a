"""Calls within functions: they give what the same operations give written out, to the last bit, in every host."""

from __future__ import annotations

import contextlib
import itertools
import math

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft, variable
from hosts import model_and_variables

from mbfmu.runtime.calls import called_by, calls_in, guard_of, has_calls
from mbfmu.runtime.compiled import compile_functions
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.descriptor import functions_of
from mbfmu.runtime.enclosures import Enclosed
from mbfmu.runtime.library import RuntimeLibraryError
from mbfmu.runtime.run import evaluate, model_of

NEEDS_COMPILER = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

VALUES = (0.0, -0.0, 0.3, -1.7, 1e300, math.inf, math.nan)


def function(name, make, *sizes, shared=True):
    """A function of vectors that is called, or written out where it is used."""
    arguments = [ca.SX.sym(f"{name}{i}", size) for i, size in enumerate(sizes)]
    return ca.Function(name, arguments, make(*arguments), {"never_inline": True} if shared else {})


def only_if(guard, value):
    return ca.SX.binary(ca.OP_IF_ELSE_ZERO, guard, value)


def model(shared):
    """Two called functions, one with a guard, one that calls the other; of three inputs and a parameter."""
    inner = function("inner", lambda g, x: [only_if(g, ca.sin(x[0]) * x[1] + 2.5), only_if(g, x[1] ** 2)], 1, 2,
                     shared=shared)  # fmt: skip
    outer = function("outer", lambda x, g: [ca.vertcat(*inner(g, x)) + 0.1, inner(1, x[::-1])[0]], 2, 1, shared=shared)
    d = Draft("calls", inputs=[0.3, 0.7, 1.0], parameters=[2.0, 3.0])
    a, b, g = d.u[0], d.u[1], d.u[2]
    early = outer(d.P, d.P[1])
    y = [*inner(g, d.u[:2]), outer(d.u[:2], g)[0], outer(ca.vertcat(b, a * early[1]), a > b)[1], early[0]]
    y += [inner(0, d.u[:2])[1], outer(ca.vertcat(a, 1), g)[1]]
    equations = d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=ca.vertcat(*y))
    return equations, tuple(variable(f"y{i}", "y", i, causality="output") for i in range(9))


def values(of, name, *arguments):
    """What a function gives, as bytes."""
    found = np.zeros(of.n)
    evaluate(of.model, list(FUNCTIONS).index(name), [np.asarray(a, dtype=float) for a in arguments], [found])
    return found.tobytes()


class Host:
    def __init__(self, shared, names=()):
        self.equations, variables = model(shared)
        self.model, self.n = model_of(*model_and_variables(lambda: (self.equations, variables))), 9
        if names:
            compile_functions(self.model, names)


@pytest.fixture(scope="module")
def plain():
    return Host(False)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=NEEDS_COMPILER)])
def test_a_call_gives_what_its_operations_give(plain, compiled):
    names = ("variables", "exposed_tangent")
    host = Host(True, names if compiled else ())
    assert has_calls(host.equations.functions["variables"])
    assert not has_calls(plain.equations.functions["variables"])
    empty, parameters = [0.0], [2.0, 3.0]
    for a, b, g in itertools.product(VALUES, VALUES, (0.0, 1.0, math.nan)):
        point = ([0.0], empty, [a, b, g], parameters, empty, empty)
        assert values(host, "variables", *point) == values(plain, "variables", *point), (a, b, g)
    for seed in np.eye(3):
        point = ([0.0], empty, [0.4, 0.9, 1.0], parameters, empty, empty, [0.0], empty, seed, empty)
        found = np.frombuffer(values(host, "exposed_tangent", *point))
        np.testing.assert_allclose(found, np.frombuffer(values(plain, "exposed_tangent", *point)), rtol=1e-14)


def test_a_guard_is_what_all_results_wait_for():
    inner = function("inner", lambda g, x: [only_if(g, x), only_if(g, x[0]), ca.SX.zeros(1)], 1, 2)
    assert guard_of(inner) == 0
    assert guard_of(function("last", lambda x, g: [only_if(g, x)], 2, 1)) == 2
    assert guard_of(function("two", lambda g, h, x: [only_if(g, x), only_if(h, x)], 1, 1, 1)) is None
    assert guard_of(function("other", lambda g, x: [only_if(g, x), x], 1, 1)) is None
    assert guard_of(function("one", lambda g, x: [only_if(g, x), ca.SX.ones(1)], 1, 1)) is None
    assert guard_of(function("made", lambda g, x: [only_if(2 * g, x)], 1, 1)) is None
    x, dx = ca.SX.sym("x", 2), ca.SX.sym("dx", 2)
    tangent = ca.Function("tangent", [x, dx], [ca.jtimes(inner(x[0], x)[0], x, dx)])
    (derivative,) = called_by(tangent)
    assert guard_of(derivative) == 0
    assert len(calls_in(tangent)) == 1


def test_places_of_unread_results_are_free_again():
    split = function("split", lambda x: [x, 2 * x, 3 * x], 1)
    d = Draft("unread", inputs=[0.3])
    value = d.u
    for _ in range(40):
        value = split(value)[1]
    equations = d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=value)
    found = np.zeros(1)
    model = model_of(*model_and_variables(lambda: (equations, (variable("y", "y", 0),))))
    empty = np.zeros(1)
    evaluate(model, list(FUNCTIONS).index("variables"), [empty, empty, np.array([0.3]), *[empty] * 3], [found])
    assert found[0] == 0.3 * 2.0**40


def test_places_of_what_is_still_read_are_not_given_to_calls():
    """Sines that wait for the end of a chain of calls, of each of which one result is read."""
    split = function("split", lambda x: [x, 2 * x, 3 * x], 1)
    d = Draft("waiting", inputs=[0.3])
    waiting, value = [ca.sin((k + 1) * d.u) for k in range(6)], d.u
    for k in range(40):
        value = split(value + 0.01 * k)[1]
        if k % 7 == 6:
            value = value * waiting[k // 7]
    y = ca.vertcat(value, *(value + one for one in waiting))
    equations = d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=y)
    model = model_of(*model_and_variables(lambda: (equations, tuple(variable(f"y{i}", "y", i) for i in range(7)))))
    found, empty = np.zeros(7), np.zeros(1)
    evaluate(model, list(FUNCTIONS).index("variables"), [empty, empty, np.array([0.3]), *[empty] * 3], [found])
    wanted = 0.3
    for k in range(40):
        wanted = 2 * (wanted + 0.01 * k)
        if k % 7 == 6:
            wanted *= math.sin((k // 7 + 1) * 0.3)
    assert found == pytest.approx([wanted, *(wanted + math.sin((k + 1) * 0.3) for k in range(6))], rel=1e-14)


def falling(shared):
    """A ball that falls on a wavy ground, and a lamp that is on while the input is above 0.5."""
    gap = function("gap", lambda x, size: [x[1] + 0.1 * ca.cos(x[0]) / size], 2, 1, shared=shared)
    d = Draft("falling", q=2, v=2, inputs=[0.3], parameters=[2.0], switches=2)
    crossings = ca.vertcat(gap(d.q, d.P), d.u - 0.5)
    return d.equations(A=ca.SX.eye(2), b=ca.vertcat(0, -9.81), guess=ca.vertcat(0, 1, 1, 0), crossings=crossings,
                       switch_names=("gap", "lamp"))  # fmt: skip


def test_bounds_go_through_calls():
    rng = np.random.default_rng(1)
    functions = {shared: Enclosed.of(falling(shared)) for shared in (False, True)}
    assert functions[True].rows == functions[False].rows == (0, 1)
    assert functions[True].kinds == functions[False].kinds
    assert functions[True].states == functions[False].states
    for _ in range(20):
        x = rng.normal(size=4)
        least, most = x - rng.uniform(0, 1, 4), x + rng.uniform(0, 1, 4)
        u = np.sort(rng.normal(size=(2, 1)), axis=0)
        for name, others in (("crossing_bounds", []), ("crossing_slopes", [[rng.normal(size=4)] * 2, [[0.3]]])):
            rates, du = others or ([], [])
            point = [0.0, 0.1, least, most, *rates, *u, *du, [2.0], [0, 0], [1, 1]]
            found, wanted = ([np.array(r).ravel() for r in functions[s].functions[name](*point)] for s in (True, False))
            np.testing.assert_array_equal(found, wanted)


def test_rows_that_jump_within_calls_have_no_bounds():
    step = function("step", lambda x, size: [ca.if_else(x > size, x, -1)], 1, 1)
    d = Draft("jumping", q=1, v=1, inputs=[0.3], parameters=[2.0], switches=2)
    make = d.equations(A=ca.SX.eye(1), b=ca.SX(0.0), guess=ca.vertcat(0, 1), switch_names=("a", "b"),
                       crossings=ca.vertcat(step(d.q, d.P), step(d.P, d.P) + d.q))  # fmt: skip
    assert Enclosed.of(make).rows == (1,)


def test_functions_of_a_model_know_their_calls():
    equations, variables = model(True)
    found = {name for name, one in functions_of(equations, variables).items() if has_calls(one)}
    assert found == {"variables", "exposed_tangent"}


@pytest.mark.parametrize(
    ("levels", "twice", "message"),
    [(63, False, None), (64, False, "functions call each other too deeply"), (40, True, "a function is too long")],
)
def test_calls_within_each_other_come_to_an_end(levels, twice, message):
    """A descriptor that would fill the stack, or be worked through for ever, is refused where it is read."""
    made = function("level0", lambda x: [x + 1], 1)
    for k in range(levels):
        made = function(f"level{k + 1}", lambda x, of=made: [of(x) + of(2 * x) if twice else of(x)], 1)
    d = Draft("nested", inputs=[0.3])
    equations = d.equations(A=ca.SX(0, 0), b=ca.SX(0, 1), guess=ca.SX(0, 1), y=made(d.u))
    refused = contextlib.nullcontext() if message is None else pytest.raises(RuntimeLibraryError, match=message)
    with refused:
        model_of(*model_and_variables(lambda: (equations, (variable("y", "y", 0),))))
