"""Points of operation of models that fit on a line: projection, modes, independent coordinates, and what has none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft

from mbfmu.errors import ModelError, SimulationError
from mbfmu.studies import operating
from mbfmu.studies.equilibrium import _stability
from mbfmu.studies.operating import Mechanics

NOTHING = np.zeros(0)


def plane(law: Any, **others: Any) -> Mechanics:
    """A unit mass in a plane on the curves law(x, y) = 0."""
    d = Draft("plane", q=2, v=2, multipliers=ca.SX(law(*ca.vertsplit(ca.SX.sym("q", 2)))).numel())
    g = ca.SX(law(d.q[0], d.q[1]))
    G = ca.jacobian(g, d.q)
    A = ca.blockcat([[ca.SX.eye(2), G.T], [G, ca.SX(g.numel(), g.numel())]])
    equations = d.equations(A=A, b=ca.SX(2 + g.numel(), 1), guess=ca.SX(4, 1), g=g, c=G @ d.v, **others)
    return Mechanics(equations, NOTHING)


def circle(x: ca.SX, y: ca.SX) -> ca.SX:
    return x**2 + y**2 - 1


# -- projection


def test_places_go_to_a_circle_along_the_radius_and_speeds_along_the_tangent() -> None:
    radial = np.array([2.0, 0.1]) / np.hypot(2.0, 0.1)
    placed = plane(circle).project(0.0, np.array([2.0, 0.1, 1.0, 3.0]), NOTHING, NOTHING)
    assert placed is not None
    assert placed[:2] == pytest.approx(radial, rel=1e-12)
    assert placed[2:] == pytest.approx(np.array([1.0, 3.0]) - radial * (radial @ [1.0, 3.0]), rel=1e-12)


@pytest.mark.parametrize("law", [lambda x, y: x**2 + y**2 + 1, lambda x, y: ca.sqrt(x) - y], ids=["none", "no number"])
def test_where_no_place_is_near_there_is_none(law: Any) -> None:
    assert plane(law).project(0.0, np.array([-1.0, 0.5, 0.0, 0.0]), NOTHING, NOTHING) is None


def test_what_rounding_leaves_of_large_constraints_is_no_matter() -> None:
    placed = plane(lambda x, y: 1e9 * (x**2 - 2)).project(0.0, np.array([1.0, 0.5, 0.0, 0.0]), NOTHING, NOTHING)
    assert placed is not None
    assert placed[0] == pytest.approx(np.sqrt(2), rel=1e-15)


def test_constraints_that_say_the_same_move_nothing_twice() -> None:
    """x = 1, written twice, once in units of a tenth."""
    mechanics = plane(
        lambda x, y: ca.vertcat(x - 1, 10 * (x - 1)), position_redundancies=1, redundancies=1,
        constraint_sizes=(1.0, 10.0),
    )  # fmt: skip
    placed = mechanics.project(0.0, np.array([3.0, 5.0, 4.0, 7.0]), NOTHING, NOTHING)
    assert placed == pytest.approx([1.0, 5.0, 0.0, 7.0], abs=1e-12)
    G, sizes = np.array([[1.0, 1.0], [3.0, 3.0]]), (1.0, 3.0)
    stub = SimpleNamespace(equations=SimpleNamespace(constraint_sizes=sizes))
    assert Mechanics._least_norm(stub, G, np.array([2.0, 6.0]), 1) == pytest.approx([1.0, 1.0])  # type: ignore[arg-type]


# -- accelerations, iterations and modes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("A", "words"),
    [
        (lambda d: 1 / d.q, "plain: the equations are not finite at this point"),
        (lambda d: d.q, "plain: the accelerations are not determined at this point: something moves that has no mass"),
    ],
    ids=["infinite", "no mass"],
)
def test_accelerations_that_there_are_not_are_refused(A: Any, words: str) -> None:
    d = Draft("plain", q=1, v=1)
    mechanics = Mechanics(d.equations(A=A(d), b=ca.SX(1), guess=ca.SX(2, 1)), NOTHING)
    assert mechanics.accelerations(0.0, np.array([2.0, 0.0]), NOTHING, NOTHING) in (
        pytest.approx(2.0),
        pytest.approx(0.5),
    )
    with pytest.raises(SimulationError, match=words), np.errstate(all="ignore"):
        mechanics.accelerations(0.0, np.array([0.0, 0.0]), NOTHING, NOTHING)


def iterated(residual: Any) -> Mechanics:
    """A model with s by residual(s, q) = 0."""
    d = Draft("iterated", q=1, v=1, iterations=1)
    equations = d.equations(
        A=ca.SX(1), b=ca.SX(0), guess=ca.SX(2, 1), iterations=residual(d.s, d.q), iteration_guess=ca.SX(0),
        iteration_blocks=(1,), iteration_names=("valve.s",), iteration_nominals=(1.0,),
    )  # fmt: skip
    return Mechanics(equations, NOTHING)


def test_iteration_variables_are_solved_for_also_from_far_away() -> None:
    """From 3 on whole steps for atan(10 s) = atan(10) lead away; where rounding is all that is left, it ends."""
    found = iterated(lambda s, q: ca.atan(10 * s) - ca.atan(10 * q))
    assert found.complete(0.0, np.array([1.0, 0.0]), np.array([30.0]), NOTHING) == pytest.approx([1.0], rel=1e-9)
    cube = iterated(lambda s, q: s**3 - q)
    assert cube.complete(0.0, np.array([7.0, 0.0]), np.array([1.0]), NOTHING) == pytest.approx(
        [7 ** (1 / 3)], rel=1e-14
    )


def test_iteration_variables_without_a_solution_are_named() -> None:
    with pytest.raises(SimulationError, match=r"iterated: the equations of valve\.s have no solution .*choose a point"):
        iterated(lambda s, q: s**2 + 1 + 0 * q).complete(0.0, np.zeros(2), np.array([0.3]), NOTHING)


def test_modes_are_found_round_by_round() -> None:
    """The second switch follows the first, and the third follows the second."""
    d = Draft("switched", q=1, v=1, switches=3)
    crossings = ca.vertcat(d.q - 0.5, d.m[0] - 0.5, d.m[1] - 0.5)
    mechanics = Mechanics(d.equations(A=ca.SX(1), b=ca.SX(0), guess=ca.SX(2, 1), crossings=crossings), NOTHING)
    for q, expected in ((1.0, [1, 1, 1]), (0.0, [0, 0, 0])):
        for begin in ([0.0, 0.0, 0.0], [1.0, 0.0, 1.0]):
            assert mechanics.modes(0.0, np.array([q, 0.0]), NOTHING, np.array(begin)).tolist() == expected


# -- independent coordinates


def free(rows: Any, redundant: int = 0, sizes: Any = None) -> tuple[tuple[int, ...], np.ndarray]:
    rows = np.array(rows, dtype=float)
    equations = SimpleNamespace(name="bar", constraint_sizes=sizes or (1.0,) * len(rows))
    return operating._free(equations, rows, np.ones(rows.shape[1]), redundant)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "redundant", "sizes", "count"),
    [
        ([[1, 2, 4]], 0, None, 2), ([[1, 2, 4], [1, 0, 1]], 0, None, 1), ([[1, 2, 4], [10, 20, 40]], 1, (1.0, 10.0), 2),
        ([[1, 2, 4], [1, 0, 1], [2, 2, 5]], 1, None, 1),
    ],
    ids=["one", "two", "one twice", "two and their sum"],
)  # fmt: skip
def test_directions_keep_the_constraints_and_move_one_coordinate_each(
    rows: Any, redundant: int, sizes: Any, count: int
) -> None:
    found, directions = free(rows, redundant, sizes)
    assert len(found) == count
    assert np.array(rows) @ directions == pytest.approx(np.zeros((len(rows), count)), abs=1e-12)
    assert directions[list(found)] == pytest.approx(np.eye(count))
    if not redundant and len(rows) == 1:
        assert found == (0, 1), "the coordinate that moves most with the others depends on them"


@pytest.mark.parametrize(
    ("rows", "redundant"),
    [
        ([[1, 1, 0], [0, 0, 0]], 0),
        ([[1, 1, 0], [1, 1, 1e-14]], 0),
        ([[1, 1, 0], [2, 2, 0], [3, 3, 0]], 1),
    ],
    ids=["nothing", "the same", "more than known"],
)
def test_points_at_which_branches_cross_are_refused(rows: Any, redundant: int) -> None:
    with pytest.raises(ModelError, match=r"^bar: branches of the motion cross at this point.*choose a point beside it"):
        free(rows, redundant)


def test_constraints_of_inputs_and_of_iterations_have_no_linear_model() -> None:
    d = Draft("driven", q=2, v=2, inputs=(1.0,), multipliers=1)
    g = d.q[0] ** 2 + d.q[1] ** 2 - d.u[0] ** 2
    G = ca.jacobian(g, d.q)
    A = ca.blockcat([[ca.SX.eye(2), G.T], [G, ca.SX(1, 1)]])
    driven = Mechanics(d.equations(A=A, b=ca.SX(3, 1), guess=ca.SX(4, 1), g=g, c=G @ d.v), NOTHING)
    with pytest.raises(ModelError, match=r"driven: an input prescribes positions within a loop; linear models"):
        operating.reduce(driven, 0.0, np.array([0.6, 0.8, 0.0, 0.0]), np.ones(1), NOTHING)
    equations = SimpleNamespace(name="oil", constraints_need_s=True, iteration_names=("a.s", "b.s"))
    stub = SimpleNamespace(equations=equations, nq=0, nv=0, nz=0)
    with pytest.raises(ModelError, match=r"oil: a constraint follows a\.s, b\.s, which are solved for by iteration"):
        operating.reduce(stub, 0.0, NOTHING, NOTHING, NOTHING)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rates", "there"),
    [((0.0, 500.0), True), ((-1000.0, 1000.0), False), ((np.nan, 0.0), False)],
    ids=["near", "a quarter of a turn", "nowhere"],
)
def test_a_motion_is_followed_while_its_coordinates_serve(rates: tuple[float, float], there: bool) -> None:
    """On a circle, at (1, 0), y is the coordinate; a millisecond later, at (0, 1), it is none."""
    mechanics = plane(circle)
    point = (0.0, np.array([1.0, 0.0, 0.0, 0.0]), NOTHING, NOTHING)
    reduced = operating.reduce(mechanics, *point)
    assert reduced.positions == reduced.speeds == (1,)
    found = SimpleNamespace(x_rates=np.array([*rates, 0.0, 0.0]))
    after = operating.later(mechanics, point, reduced, found)  # type: ignore[arg-type]
    assert (after is not None) == there
    if after is not None:
        assert after[0][1][:2] == pytest.approx(np.array([1.0, 0.5]) / np.hypot(1.0, 0.5))


# -- stability


@pytest.mark.parametrize(
    ("values", "indifferent", "said"),
    [
        ([], False, "stable"), ([-1 + 2j, -1 - 2j], False, "stable"), ([2j, -2j], False, "marginal"),
        ([1.0, -1.0], False, "unstable"), ([1e-9, -1.0], False, "indifferent"), ([-1.0, -2.0], True, "indifferent"),
        ([1e-3, -1e4], False, "indifferent"), ([1.0, -1.0], True, "unstable"),
    ],
)  # fmt: skip
def test_stability_is_what_eigenvalues_say(values: list[complex], indifferent: bool, said: str) -> None:
    assert _stability(np.array(values), indifferent) == said
