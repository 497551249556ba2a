"""Common subexpressions are computed once, calls of functions among them, and no bit of a value changes."""

from __future__ import annotations

import casadi as ca
import numpy as np

from mbfmu.runtime.calls import calls_in, guard_of
from mbfmu.runtime.cse import cse

X = ca.SX.sym("x", 4)
VALUES = (np.array([0.3, -1.7, 0.0, 2.5]), np.array([-0.0, 0.0, 1e300, -1e-300]))


def called(name="called"):
    """A function of a vector and a number that gives a vector and a number; it differs by its name only."""
    v, a = ca.SX.sym("v", 2), ca.SX.sym("a")
    return ca.Function(name, [v, a], [ca.vertcat(ca.sin(v[0]) * a, v[1] - a), v[0] / a], {"never_inline": True})


def twice(function, arguments):
    """The results for arguments written anew by each call of `arguments`, twice, one behind the other."""
    return ca.vertcat(*(result for _ in range(2) for result in function.call(arguments())))


def shape_of(column):
    """Numbers of calls and of instructions."""
    function = ca.Function("f", [X], [column])
    return len(calls_in(function)), function.n_instructions()


def bits(column):
    function = ca.Function("f", [X], [column])
    return [np.asarray(ca.densify(function(value))).tobytes() for value in VALUES]


def anew():
    return [ca.vertcat(X[0] * X[1] + 0.1, X[2]), ca.exp(X[3])]


def test_equal_calls_are_one():
    written = twice(called(), anew)
    assert shape_of(written)[0] == 2
    (once,) = cse([written])
    # Inputs 4, a constant, 3 operations, a call, and 6 results
    assert shape_of(once) == (1, 15)
    assert bits(once) == bits(written)


def test_what_is_read_by_a_call_and_beside_it_is_computed_once():
    written = ca.vertcat(called()(*anew())[0], anew()[0])
    (once,) = cse([written])
    assert shape_of(once) == (1, 13)
    assert bits(once) == bits(written)


def test_operands_may_change_places_where_that_changes_no_bit():
    f = called()
    both = ca.vertcat(f(X[:2] * X[2:], X[0])[1], f(X[2:] * X[:2], X[0])[1])
    assert shape_of(cse([both])[0])[0] == 1
    both = ca.vertcat(f(X[:2] - X[2:], X[0])[1], f(X[2:] - X[:2], X[0])[1])
    assert shape_of(cse([both])[0])[0] == 2


def test_calls_of_other_functions_or_other_arguments_stay():
    f, g = called(), called("other")
    written = ca.vertcat(*f.call(anew()), *g.call(anew()), *f.call([X[:2], X[3]]), *f.call([X[1::-1], X[3]]))
    (once,) = cse([written])
    assert shape_of(once)[0] == 4
    assert bits(once) == bits(written)


def test_numbers_that_are_none_are_one():
    f = called()
    (once,) = cse([ca.vertcat(f(X[:2], np.nan)[1], f(X[:2], -np.nan)[1], f(X[:2], np.inf)[1])])
    assert shape_of(once)[0] == 2


def test_numbers_are_taken_into_what_is_called():
    """What they decide is neither worked out nor handed over; equal calls with equal numbers stay one."""
    inner = called("inner")
    v, a, g = ca.SX.sym("v", 3), ca.SX.sym("a"), ca.SX.sym("g")
    results = [inner(ca.vertcat(v[0], v[2]), a)[0] * v[1], v[1] * a + v[2]]
    guarded = [ca.SX.binary(ca.OP_IF_ELSE_ZERO, g, result) for result in results]
    outer = ca.Function("outer", [g, v, a], guarded, {"never_inline": True})
    both = [result for _ in range(2) for result in outer.call([X[0] > 0, ca.vertcat(X[1], 1, 2), X[2]])]
    written = ca.vertcat(*both, *outer.call([X[0] > 0, ca.vertcat(X[1], 1, 3), X[2]]))
    (once,) = cse([written])
    function = ca.Function("f", [X], [once])
    found = list(calls_in(function).values())
    assert len(found) == 2
    for one in found:
        assert [one.nnz_in(k) for k in range(one.n_in())] == [1, 1, 1]
        assert guard_of(one) == 0
    assert bits(once) == bits(written)


def test_a_guard_that_is_a_number_decides():
    g, a = ca.SX.sym("g"), ca.SX.sym("a")
    f = ca.Function("f", [g, a], [ca.SX.binary(ca.OP_IF_ELSE_ZERO, g, ca.sin(a))], {"never_inline": True})
    (once,) = cse([ca.vertcat(f(0, X[0]), f(1, X[0]), f(X[1], X[0]))])
    assert [one.nnz_in() for one in calls_in(ca.Function("f", [X], [once])).values()] == [1, 2]
    assert bits(once) == bits(ca.vertcat(0, ca.sin(X[0]), f(X[1], X[0])))


def test_calls_that_numbers_decide_are_none():
    """Tapes have no calls without arguments."""
    (once,) = cse([ca.vertcat(*called()(ca.SX([0.3, 2.0]), 4.0), called()(ca.vertcat(X[0], 2), 4.0)[1])])
    assert [one.nnz_in() for one in calls_in(ca.Function("f", [X], [once])).values()] == [1]
    assert bits(once) == bits(ca.vertcat(np.sin(0.3) * 4, -2, 0.3 / 4, X[0] / 4))


def test_matrices_keep_their_zeros():
    f = called()
    first, second = ca.SX(3, 2), ca.SX(2, 2)
    first[2, 0], first[0, 1] = f(X[:2], X[2])[1], f(X[:2], X[2])[0][1]
    second[1, 1] = f(X[:2], X[2])[1]
    once = cse([first, ca.SX(0, 1), second])
    assert [value.sparsity() for value in once] == [first.sparsity(), ca.Sparsity(0, 1), second.sparsity()]
    assert shape_of(ca.veccat(*once))[0] == 1
    assert bits(ca.vec(once[0])) == bits(ca.vec(first))
    assert bits(ca.vec(once[2])) == bits(ca.vec(second))


def test_without_calls_common_parts_are_one_too():
    (once,) = cse([ca.vertcat(X[0] * X[1] + 2, X[0] * X[1] - 2)])
    assert shape_of(once) == (0, 8)
    assert cse([ca.SX(0, 1), ca.SX(2, 2)])[1].shape == (2, 2)
    assert cse([]) == []
