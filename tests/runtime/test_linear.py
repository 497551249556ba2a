"""Linear algebra against NumPy."""

from __future__ import annotations

import ctypes
import pathlib

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft
from hosts import library_of

from mbfmu.errors import InitializationError
from mbfmu.runtime.run import Run

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def linear(tmp_path_factory):
    """Compile linear_algebra.c."""
    return ctypes.CDLL(str(library_of(HERE / "linear_algebra.c", tmp_path_factory.mktemp("linear"), "-O2")))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def solve(linear, A, b):
    A, x, n = np.asfortranarray(A).copy(order="F"), np.array(b, dtype=float), len(b)
    pivots, scratch = np.zeros(n + 1, dtype=np.int32), np.zeros(n + 1)
    return x, linear.solve(n, pointer(A), pointer(x), pointer(pivots), pointer(scratch))


def least_norm(linear, A, b):
    """Least-norm solution of A x = b, and the rank."""
    A, x = np.asfortranarray(A, dtype=float), np.full(A.shape[1] + 1, np.nan)
    minus = -np.asarray(b, dtype=float)
    rank = linear.least_norm(*map(int, A.shape), pointer(A), pointer(minus), pointer(x))
    return x[:-1], rank


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_lu_solves(linear, n):
    random = np.random.default_rng(n)
    A, b = random.normal(size=(n, n)) * 10 ** random.uniform(-6, 6, (n, 1)), random.normal(size=n)
    A[0, 0] = 0.0 if n > 1 else 2.0  # asks for pivoting
    x, rank = solve(linear, A, b)
    assert rank == n
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9)


@pytest.mark.parametrize("column", range(4))
def test_lu_names_the_column_that_depends_on_others(linear, column):
    A = np.random.default_rng(3).normal(size=(4, 4))
    A[:, column] = A[:, :column].sum(axis=1)
    assert solve(linear, A, np.ones(4))[1] == column


def test_lu_tells_a_small_pivot_from_none(linear):
    """A pivot of 1e-13 of its column is bad luck, one of rounding errors is none."""
    assert solve(linear, np.array([[1.0, 1.0], [1.0, 1.0 + 1e-13]]), np.ones(2))[1] == 2
    assert solve(linear, np.array([[1.0, 1 / 3], [3.0, 1.0]]), np.ones(2))[1] == 1
    assert solve(linear, np.array([[1.0, 0.0], [0.0, 1e-200]]), np.ones(2))[1] == 2


BLOCKS = [((0, 1, 2, 3, 4),), ((0, 3), (1,), (2, 4)), ((4, 2), (3, 0), (1,)), ((0,), (1,), (2,), (3,), (4,))]


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("blocks", BLOCKS)
def test_blocks_give_the_solution_of_the_whole(library, blocks):
    random = np.random.default_rng(1)
    A = np.zeros((5, 5))
    for block in blocks:
        A[np.ix_(block, block)] = random.normal(size=(len(block), len(block)))
    b = random.normal(size=5)

    def blocked():
        d = Draft("blocks", q=5, v=5)
        return d.equations(A=ca.SX(A), b=ca.SX(b), guess=ca.SX.zeros(10), blocks=blocks)

    slave = library(blocked).slave().start()
    assert slave.get(*(f"w{i}" for i in range(5))) == pytest.approx(np.linalg.solve(A, b), rel=1e-10)


@pytest.mark.parametrize(("rows", "columns", "rank"), [(2, 5, 2), (5, 2, 2), (4, 6, 3), (3, 3, 3), (6, 4, 2)])
def test_least_norm_is_the_pseudo_inverse(linear, rows, columns, rank):
    random = np.random.default_rng(2)
    A = random.normal(size=(rows, rank)) @ random.normal(size=(rank, columns))
    b = random.normal(size=rows) if rows <= columns and rank == rows else A @ random.normal(size=columns)
    solution, found = least_norm(linear, A, b)
    np.testing.assert_allclose(solution, np.linalg.pinv(A, rcond=1e-10) @ b, atol=1e-9)
    assert found == rank


@pytest.mark.parametrize("dependent", [1.0, 1e-4, 1e-7])
def test_rows_of_zeros_take_no_part_among_many(linear, dependent):
    """Half of the rows are zero, and some others nearly repeat themselves: pivots see what is left of them."""
    random = np.random.default_rng(5)
    A = np.zeros((60, 40))
    A[::2] = random.normal(size=(30, 40))
    A[2:20:2] = A[20:38:2] + dependent * random.normal(size=(9, 40))
    b = A @ random.normal(size=40)
    solution, rank = least_norm(linear, A, b)
    np.testing.assert_allclose(A @ solution, b, atol=1e-11)
    np.testing.assert_allclose(solution, np.linalg.pinv(A, rcond=1e-12) @ b, atol=1e-13 / dependent + 1e-11)
    assert rank == 30


@pytest.mark.parametrize(("size", "rank"), [(1e-8, 3), (1e-9, 3), (1e-11, 2), (1e-13, 2)])
def test_rows_dependent_to_1e_10_are_left_out(linear, size, rank):
    """Rank is decided at 1e-10 of rows of norm 1: closer to rounding errors, steps would be noise."""
    A = np.array([[1.0, 0, 0], [0, 1.0, 0], [0.6, 0.8, size]])
    assert least_norm(linear, A, np.array([1.0, 2.0, 2.2]))[1] == rank
    assert least_norm(linear, 1e6 * A, np.array([1.0, 2.0, 2.2]))[1] == rank


def test_rows_of_rounding_errors_beside_others_are_left_out(linear):
    A = np.array([[1.0, 0.0], [0.0, 1e-15]])
    solution, rank = least_norm(linear, A, np.array([2.0, 1e-15]))
    assert (rank, solution.tolist()) == (1, [2.0, 0.0])
    assert least_norm(linear, np.array([[1.0, 0.0], [0.0, 1e-12]]), np.array([2.0, 1e-12]))[1] == 2


def test_least_norm_of_nothing(linear):
    assert least_norm(linear, np.zeros((0, 3)), np.zeros(0))[0].tolist() == [0.0, 0.0, 0.0]
    assert least_norm(linear, np.zeros((2, 3)), np.ones(2))[0].tolist() == [0.0, 0.0, 0.0]


def swinging(order, start=0.0):
    """Two oscillators q'' = -q, with A = [[q1, 1], [1, 0]], in which q1 passes through 0, and pivots in some order."""
    d = Draft("swinging", q=2, v=2, parameters=[start])
    q1, q2 = d.q[0], d.q[1]
    values = ca.vertcat(q1, 1, 1)
    return d.equations(
        A=values,
        b=ca.vertcat(-q1 * q1 - q2, -q1),
        guess=ca.vertcat(d.P[0], 1, 1, 0),
        sparsity=((0, 0), (1, 0), (0, 1)),
        pivots=order,
        stop_time=10.0,
    )


@pytest.mark.parametrize("order", [((0, 0), (1, 1)), ((0, 1), (1, 0))], ids=["vanishing", "safe"])
@pytest.mark.parametrize("start", [0.0, 1e-14, 1e-7, -0.3])
def test_a_pivot_that_vanishes_is_noticed(order, start):
    """A run starts and passes where the first pivot of the order is nothing: accelerations stay exact."""
    run = Run(swinging(order, start))
    accelerations = run.values("w")
    np.testing.assert_allclose(accelerations, [-start, -1], rtol=1e-11, atol=1e-15)
    run.finish_initialisation()
    run.advance(10.0)
    np.testing.assert_allclose(run.values("x")[:2], [start * np.cos(10) + np.sin(10), np.cos(10)], atol=1e-6)


@pytest.mark.parametrize(("n", "density"), [(1, 1.0), (40, 0.05), (40, 0.2), (21, 1.0)])
def test_a_sparse_matrix_is_solved_along_any_order(n, density):
    """Rows of every width, values and pivots in any sequence."""
    random = np.random.default_rng(n)
    rows, columns = random.permutation(n), random.permutation(n)
    A = np.where(random.uniform(size=(n, n)) < density, random.normal(size=(n, n)), 0.0)
    A[rows, columns] += np.where(random.uniform(size=n) < 0.5, -2.0, 2.0) * n
    sparsity = random.permutation(np.argwhere(A))
    b = random.normal(size=n)
    d = Draft("along any order", q=n, v=n)
    run = Run(
        d.equations(
            A=ca.SX(A[tuple(sparsity.T)]),
            b=ca.SX(b),
            guess=ca.SX.zeros(2 * n),
            sparsity=tuple((int(i), int(j)) for i, j in sparsity),
            pivots=tuple((int(i), int(j)) for i, j in zip(rows, columns, strict=True)),
        )
    )
    np.testing.assert_allclose(run.values("w"), np.linalg.solve(A, b), rtol=1e-12, atol=1e-15)


def test_a_sparse_matrix_that_is_singular_is_refused():
    d = Draft("singular", q=2, v=2, parameters=[0.0])
    equations = d.equations(
        A=ca.vertcat(d.q[0], 1, 1),
        b=ca.SX([1.0, 1.0]),
        guess=ca.vertcat(d.P[0], 1, 0, 0),
        sparsity=((0, 0), (1, 1), (0, 1)),
        pivots=((0, 0), (1, 1)),
    )
    with pytest.raises(InitializationError):
        Run(equations).values("w")
