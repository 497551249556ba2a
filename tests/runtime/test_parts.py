"""Initialisation by independent parts: what they are, and that none of them has to do with another one."""

from __future__ import annotations

import dataclasses

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft, circles, still
from hosts import Failed

from mbfmu.runtime.parts import Part, Parted, dense, independent_parts
from mbfmu.runtime.run import Run
from mbfmu.studies.operating import Mechanics

# Compiled equations are interpreted ones to the last bit (test_tapes.py): the suite compiles few models.
pytestmark = pytest.mark.campaign("compiled")


def joined(equations):
    """The same equations as one part."""
    names = ("t", "X", "u", "P", "m")
    old, nX = equations.functions["initial"], equations.nX
    at = [ca.SX.sym(name, old.numel_in(i)) for i, name in enumerate(names)]
    rows = old(*at)[0]
    whole = ca.Function("initial", at, [rows, ca.vec(ca.densify(ca.jacobian(rows, at[1])))])
    parts = (Part(equations.nr, tuple(range(nX))),)
    return dataclasses.replace(equations, functions={**equations.functions, "initial": whole}, initial_parts=parts)


def started(equations):
    run = Run(equations)
    run.finish_initialisation()
    return run.values("x")


@pytest.mark.parametrize("seed", range(20))
def test_parts_are_those_that_a_search_finds(seed):
    random = np.random.default_rng(seed)
    pattern = random.random((12, 15)) < 0.08
    order, parts = independent_parts(*pattern.nonzero(), *pattern.shape)
    reach = pattern @ pattern.T + np.eye(12)  # which rows share an unknown, by any number of others
    reach = np.linalg.matrix_power(reach, 12) > 0
    wanted = [np.flatnonzero(row) for i, row in enumerate(reach) if np.flatnonzero(row)[0] == i]
    assert order == tuple(int(i) for rows in wanted for i in rows)
    unknowns = [tuple(np.flatnonzero(pattern[rows].any(axis=0)).tolist()) for rows in wanted]
    assert parts == tuple(Part(len(rows), known) for rows, known in zip(wanted, unknowns, strict=True))


def test_blocks_are_the_jacobian():
    X = ca.SX.sym("X", 5)
    rows = ca.vertcat(X[4] * X[1], X[0] ** 2, ca.SX(3), X[1] + 2 * X[3], 0 * X[2] + 1)
    parted = Parted.of(rows, X)
    assert parted.order == (0, 3, 1, 2, 4)
    assert parted.parts == (Part(2, (1, 3, 4)), Part(1, (0,)), Part(1, ()), Part(1, ()))
    blocks = ca.Function("blocks", [X], [ca.densify(parted.jacobian), parted.rows])
    slopes = ca.Function("slopes", [X], [ca.densify(ca.jacobian(rows, X)), rows])
    at = [2.0, 3.0, 5.0, 7.0, 11.0]
    (found, r), (J, wanted) = (([np.array(v) for v in f(at)]) for f in (blocks, slopes))
    order = list(parted.order)
    np.testing.assert_array_equal(dense(found.ravel(), parted.parts, 5), J[order])
    np.testing.assert_array_equal(r, wanted[order])


def test_no_equations_have_no_parts():
    parted = Parted.of(ca.SX(0, 1), ca.SX.sym("X", 3))
    assert (parted.order, parted.parts, parted.rows.numel(), parted.jacobian.numel()) == ((), (), 0, 0)


def test_parts_are_solved_as_they_are_together():
    equations = circles()
    assert [(part.rows, part.unknowns) for part in equations.initial_parts] == [(2, (2, 3)), (1, (0, 1)), (1, (4, 5))]
    assert equations.equation_names == ("equation 1", "equation 4", "equation 2", "equation 3")
    apart, together = started(equations), started(joined(equations))
    np.testing.assert_allclose(apart, together, rtol=0, atol=1e-14)
    assert apart[4] == 1.0
    assert apart[6] == 0.7
    choices = [Run(made) for made in (equations, joined(equations))]
    for run in choices:
        run.finish_initialisation()
    assert choices[0].choices() == pytest.approx(choices[1].choices(), abs=1e-14)
    assert list(choices[0].choices()) == ["x1", "x2", "x6"]


@pytest.mark.slow
def test_rows_that_say_the_same_take_the_guesses_along_alike(library):
    def twice():
        return still("twice", 3, (0.0,) * 3, lambda X: ca.vertcat(X[0] + X[1] - 1, X[2] - 3, 2 * X[0] + 2 * X[1] - 2))

    assert [part.unknowns for part in twice().initial_parts] == [(0, 1), (2,)]
    assert library(twice).slave().start().get("x0", "x1", "x2") == pytest.approx([0.5, 0.5, 3.0], abs=1e-15)


def impossible():
    """X[0]^2 = -1, which no Newton step comes to rest at, beside a far root of X[1]^3 = 8 and X[2] = 1."""
    return still(
        "impossible", 3, (0.3, 100.0, 0.0), lambda X: ca.vertcat(X[0] ** 2 + 1, X[1] ** 3 - 8, X[2] - 1),
        equation_names=("no square", "cube", "one"), fixed=(False, False, False),
    )  # fmt: skip


@pytest.mark.slow
def test_of_parts_that_which_cannot_be_met_is_named_alone(library):
    with pytest.raises(Failed) as caught:
        library(impossible).slave().enter().finish()
    text = str(caught.value)
    assert "1 of 3 equations cannot be met: 'no square' is off by 1" in text
    assert "cube" not in text
    assert "'one'" not in text


@pytest.mark.slow
def test_of_fixed_start_values_those_of_the_part_are_blamed(library):
    def held():
        return still(
            "held", 4, (1.0, 1.0, 2.0, 0.0), lambda X: ca.vertcat(X[0] ** 2 + X[1] ** 2 - 1, X[2] + X[3] - 2),
            fixed=(True, True, True, False),
        )  # fmt: skip

    with pytest.raises(Failed, match=r"1 of 2 .* 'equation 1' is off by 1; .*: x[01] = 1, x[01] = 1$"):
        library(held).slave().enter().finish()


@pytest.mark.slow
def test_two_parts_that_cannot_be_met_are_both_named(library):
    def both():
        return still("both", 3, (0.3, 0.2, 0.0), lambda X: ca.vertcat(X[0] ** 2 + 1, X[1] ** 2 + 2, X[2] - 1))

    with pytest.raises(Failed, match=r"2 of 3 .*: 'equation 2' is off by 2, 'equation 1' is off by 1; "):
        library(both).slave().enter().finish()


@pytest.mark.slow
def test_a_part_that_is_started_again_leaves_the_others_at_their_guesses(library):
    """X[0]^2 = 1/4 from 0, where the derivative vanishes, is reached from beside the guess; nothing else is."""

    def flat():
        return still("flat", 5, (0.0, 0.0, 0.0, 0.7, 1.0), lambda X: ca.vertcat(X[0] ** 2 - 0.25, X[1] + X[2] - 1))

    assert [part.unknowns for part in flat().initial_parts] == [(0,), (1, 2)]
    found = library(flat).slave().start().get(*(f"x{i}" for i in range(5)))
    assert abs(found[0]) == pytest.approx(0.5, abs=1e-12)
    assert found[1:] == pytest.approx([0.5, 0.5, 0.7, 1.0], abs=1e-15)


@pytest.mark.slow
def test_a_free_parameter_joins_what_it_is_a_part_of(library):
    """x0 = c and x1 = 2 - c: of 1, 0 and c = 0 the nearest are 2/3, 4/3 and 2/3."""

    def shared():
        d = Draft("shared", z=2, parameters=(1.0, 1.0, 0.0), unknowns=3)
        X = d.X
        return d.equations(
            A=ca.SX(0, 0), b=ca.SX(0, 1), guess=d.P, derivatives=ca.SX.zeros(2), free=(2,),
            initial=ca.vertcat(X[0] - X[2], X[1] + X[2] - 2), y=d.P[2],
        )  # fmt: skip

    assert shared().initial_parts == (Part(2, (0, 1, 2)),)
    found = library(shared).slave().start().get("x0", "x1", "y0")
    assert found == pytest.approx([2 / 3, 4 / 3, 2 / 3], abs=1e-15)


@pytest.mark.slow
def test_accelerations_and_iteration_variables_are_in_the_parts_that_know_them(library):
    """Two masses on springs; the first hangs by s + s^3 = q and is to be at rest, the second only has q + v = 1."""

    def hanging():
        d = Draft("hanging", q=2, v=2, parameters=(0.0,) * 4, iterations=1, unknowns=7)
        q, v, a, s = d.X[:2], d.X[2:4], d.X[4:6], d.X[6]
        return d.equations(
            A=ca.diag(ca.SX([1, 2])),
            b=ca.vertcat(2 - d.s, 0),
            guess=ca.vertcat(d.P, 0, 0, 0),
            initial=ca.vertcat(a[1], q[1] + v[1] - 1, a[0] - 2 + s, a[0], s + s**3 - q[0]),
            iterations=d.s + d.s**3 - d.q[0],
            iteration_guess=ca.SX(0),
            iteration_blocks=(1,),
            start_iterations=True,
        )

    made = hanging()
    assert made.initial_parts == (Part(1, (5,)), Part(1, (1, 3)), Part(3, (0, 4, 6)))
    slave = library(hanging).slave().start()
    assert slave.get("x0", "x1", "x2", "x3") == pytest.approx([10.0, 0.5, 0.0, 0.5], abs=1e-12)
    assert slave.get("s0", "w0", "w1") == pytest.approx([2.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_parts_are_solved_as_they_are_together(seed):
    """Linear rows with a slight bend, some dependent, some of what is fixed only, some zero."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6, 4)
    n = int(sizes.sum()) + 1

    def rows(X):
        found, at = [], 0
        for size in sizes:
            A = random.normal(size=(max(1, int(size) - 1), int(size)))
            A[-1] = A[0]
            own = X[at : at + int(size)]
            found.append(A @ own + 0.01 * A @ own**2 - A @ np.ones(int(size)) * 1.01)
            at += int(size)
        return ca.vertcat(*found, ca.SX(0))

    order = random.permutation(n)
    equations = still("random", n, random.normal(size=n), lambda X: rows(X[order.tolist()]), fixed=(False,) * n)
    assert len(equations.initial_parts) >= 4
    np.testing.assert_allclose(started(equations), started(joined(equations)), rtol=0, atol=1e-12)


def test_studies_see_the_whole_jacobian():
    equations = circles()
    X, P = np.array([0.3, 0.9, 2.0, 1.0, 1.0, 0.2, 0.7]), equations.vector("parameters")
    _, J = Mechanics(equations, P)("initial", 0.0, X, np.zeros(0), P, np.zeros(0))
    _, whole = Mechanics(joined(equations), P)("initial", 0.0, X, np.zeros(0), P, np.zeros(0))
    np.testing.assert_array_equal(J, whole)
    assert J.shape == (4, 7)


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (Part(3, (2, 3)), Part(2, (4,))),
        (Part(2, (3, 2)), Part(1, (0, 1)), Part(1, (4, 5))),
        (Part(2, (2, 3)), Part(1, (0, 3)), Part(1, (4, 5))),
        (Part(2, (2, 3)), Part(1, (0, 7)), Part(1, (4, 5))),
        (Part(2, (2, 3)), Part(1, (-1, 1)), Part(1, (4, 5))),
        (Part(2, (2, 3)), Part(1, (0, 1)), Part(1, (4, 5)), Part(0, (6,))),
    ],
)
def test_parts_that_are_none_are_refused(parts):
    with pytest.raises(ValueError, match=r"circles: .*parts of initial"):
        dataclasses.replace(circles(), initial_parts=parts)


@pytest.mark.slow
def test_thousands_of_parts_are_solved():
    """As one dense matrix their Jacobian would take 64 MB, and its factors more."""

    def many(count):
        return still("many", 2 * count, (0.6,) * (2 * count), lambda X: X[:count] ** 2 + X[count:] ** 2 - 1)

    equations = many(2000)
    assert equations.nJ == 4000
    np.testing.assert_allclose(started(equations), np.sqrt(0.5), rtol=1e-14)
