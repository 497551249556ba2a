"""Large loops: the sparse system has the solution of the dense one, wherever it goes, and grows with its loops."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np
import pytest

import mbfmu
from mbfmu.components import BodyBox, FixedTranslation, Revolute, World, rotational
from mbfmu.dynamics.columns import slope
from mbfmu.dynamics.solving import accelerations as forms
from mbfmu.dynamics.solving import dense as direct
from mbfmu.dynamics.solving import pivots as orders
from mbfmu.dynamics.solving.pivots import pivots
from mbfmu.dynamics.system import System
from mbfmu.export.initial_dependencies import StartPatterns
from mbfmu.fmus.bevel_gear import BevelGear
from mbfmu.fmus.engine_1b import Engine1b
from mbfmu.fmus.four_bar import FourBar
from mbfmu.fmus.gyroscopic_effects import GyroscopicEffects
from mbfmu.fmus.planar_four_bar import PlanarFourBar
from mbfmu.fmus.planar_loop_release import PlanarLoopRelease
from mbfmu.fmus.rolling_wheel import RollingWheelOnGround
from mbfmu.fmus.vehicle import Vehicle
from mbfmu.modeling import Assembly, Start
from mbfmu.studies.operating import Mechanics


class FourBars(Assembly):
    """Four-bars of plain hinges, each of which hangs from the coupler of the one before."""

    stop_time = 1.0
    tolerance = 1e-9

    def __init__(self, count: int) -> None:
        self.world = World()
        left, right = self.world.frame_b, self.add("ground", FixedTranslation(r=(0.8, 0, 0))).frame_b
        self.connect(self.world.frame_b, self.ground.frame_a)
        for i in range(count):
            hinges = [self.add(f"hinge{i}_{k}", Revolute()) for k in range(4)]
            crank = self.add(f"crank{i}", BodyBox(r=(0.1, -0.5, 0), width=0.04))
            coupler = self.add(f"coupler{i}", BodyBox(r=(0.8, 0.05, 0), width=0.04))
            rocker = self.add(f"rocker{i}", BodyBox(r=(0.1, -0.5 if i else -0.45, 0), width=0.04))
            for a, b in (
                (left, hinges[0].frame_a),
                (hinges[0].frame_b, crank.frame_a),
                (crank.frame_b, hinges[1].frame_a),
                (hinges[1].frame_b, coupler.frame_a),
                (right, hinges[2].frame_a),
                (hinges[2].frame_b, rocker.frame_a),
                (rocker.frame_b, hinges[3].frame_a),
                (hinges[3].frame_b, coupler.frame_b),
            ):
                self.connect(a, b)
            left, right = coupler.frame_a, coupler.frame_b


class SprungFourBars(FourBars):
    """Such, the first of which is held by two springs in series: where they meet, nothing has mass."""

    def __init__(self) -> None:
        super().__init__(2)
        self.hinge0_0.modify(useAxisFlange=True)
        for hinge in (self.hinge0_0, self.hinge1_0):
            hinge.modify(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.fixed, self.soft, self.stiff = rotational.Fixed(), rotational.Spring(c=5.0), rotational.Spring(c=20.0)
        self.connect(self.fixed.flange, self.soft.flange_a)
        self.connect(self.soft.flange_b, self.stiff.flange_a)
        self.connect(self.stiff.flange_b, self.hinge0_0.axis)


def both(make: Callable[[], Assembly], monkeypatch: pytest.MonkeyPatch) -> tuple[System, System]:
    """The same assembly as a sparse and as a dense system."""
    systems = []
    monkeypatch.setattr(forms, "RECURSIVE_FROM", 10**6)
    monkeypatch.setattr(direct, "FULL", 0)
    for least in (1, 10**6):
        monkeypatch.setattr(forms, "SPARSE_FROM", least)
        systems.append(System.of(make()))
    assert systems[0].equations.sparsity
    assert not systems[1].equations.sparsity
    return systems[0], systems[1]


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize(
    "make",
    [
        BevelGear,
        Engine1b,
        FourBar,
        GyroscopicEffects,
        PlanarFourBar,
        PlanarLoopRelease,
        RollingWheelOnGround,
        Vehicle,
        lambda: FourBars(4),
    ],
    ids=lambda make: make.__name__.strip("<>"),
)
def test_the_sparse_system_has_the_solution_of_the_dense_one(
    make: Callable[[], Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    sparse, dense = both(make, monkeypatch)
    e, random = sparse.equations, np.random.default_rng(3)
    assert set(e.blocks) == set(dense.equations.blocks) or len(e.blocks) <= len(dense.equations.blocks)
    P = np.concatenate([e.parameters, np.array(e.functions["derived"](e.parameters)).ravel()])
    for _ in range(4):
        x, u = random.normal(size=e.nx), random.normal(size=e.nu)
        m = random.integers(0, 2, e.nm + e.nheld).astype(float)
        expected, found = (Mechanics(system.equations, P).accelerations(0.3, x, u, m) for system in (dense, sparse))
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    "make", [FourBar, PlanarFourBar, Engine1b, Vehicle, SprungFourBars], ids=lambda make: make.__name__
)
def test_both_run_alike(make: Callable[[], Assembly], monkeypatch: pytest.MonkeyPatch) -> None:
    """With projection onto constraints, which goes along forces where the system is sparse."""
    sparse, dense = both(make, monkeypatch)
    names = [v.name for v in dense.variables if v.store == "x"]
    stop = min(dense.equations.stop_time, 0.5)
    runs = [
        mbfmu.simulate(system, stop, tolerance=1e-10, interval=stop / 4, outputs=names) for system in (sparse, dense)
    ]
    for name in names:
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=1e-6, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_a_stiff_run_and_a_linear_model_are_those_of_the_dense_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives of accelerations: in the runtime for the implicit method, in Python for linear models."""
    sparse, dense = both(PlanarFourBar, monkeypatch)
    states = [v.name for v in dense.variables if v.store == "x"]
    ends = []
    for system in (sparse, dense):
        stiff = dataclasses.replace(system, equations=dataclasses.replace(system.equations, solver="implicit"))
        ends.append(mbfmu.simulate(stiff, 0.5, tolerance=1e-8, interval=0.5, outputs=states))
    for name in states:
        assert ends[0][name][-1] == pytest.approx(ends[1][name][-1], abs=1e-6)
    models = [mbfmu.linearize(system, at=0.3, tolerance=1e-10) for system in (sparse, dense)]
    np.testing.assert_allclose(models[0].A, models[1].A, rtol=1e-5, atol=1e-5)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.slow
def test_a_long_chain_of_loops_keeps_its_energy() -> None:
    system = System.of(FourBars(8), energy=True)
    assert system.equations.sparsity
    result = mbfmu.simulate(system, outputs=["energy.kinetic", "energy.total", "energy.balanceError"])
    exchanged = np.ptp(result["energy.kinetic"])
    assert exchanged > 10
    assert np.ptp(result["energy.total"]) < 1e-7 * exchanged
    assert np.abs(result["energy.balanceError"]).max() < 1e-9 * exchanged


@pytest.mark.slow
@pytest.mark.campaign
def test_code_and_factors_grow_with_the_number_of_loops() -> None:
    """Twice as long is little more than twice as much (but for the ends), though each loop hangs on all before it."""
    short, long = (System.of(FourBars(count)).equations for count in (5, 10))
    for function in ("dynamics", "constraints"):
        assert long.functions[function].n_instructions() < 2.4 * short.functions[function].n_instructions()
    assert long.nW < 2.4 * short.nW
    assert len(long.sparsity) < 2.5 * len(short.sparsity)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("make", [FourBar, PlanarFourBar, Engine1b, Vehicle], ids=lambda make: make.__name__)
def test_a_small_system_in_w_alone_is_solved_along_pivots(
    make: Callable[[], Assembly], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its runs are those of partial pivoting, with the same jacobian of the constraints."""
    sparse = System.of(make())
    assert 0 < len(sparse.equations.sparsity) < 0.8 * sparse.equations.nw**2
    assert sparse.equations.nW == sparse.equations.nw
    assert sparse.equations.njacobian == sparse.equations.nl * sparse.equations.nv
    monkeypatch.setattr(direct, "FULL", 0)
    dense = System.of(make())
    assert not dense.equations.sparsity
    names = [v.name for v in dense.variables if v.store == "x"]
    runs = [mbfmu.simulate(system, 0.5, tolerance=1e-9, interval=0.1, outputs=names) for system in (sparse, dense)]
    for name in names:
        np.testing.assert_allclose(runs[0][name], runs[1][name], rtol=1e-9, atol=1e-9, err_msg=name)


def test_no_pivot_is_taken_that_vanishes_somewhere() -> None:
    """Of [[a, 1], [1, a]] the diagonal is worth nothing at the second place."""
    sparsity = ((0, 0), (1, 0), (0, 1), (1, 1))
    places = [np.array([1.0, 1.0, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 0.0])]
    assert set(pivots(sparsity, 2, places)) == {(0, 1), (1, 0)}


def test_what_fills_in_least_comes_first() -> None:
    """An arrow: with its head first all would fill in."""
    n = 6
    sparsity = sorted({(0, j) for j in range(n)} | {(i, 0) for i in range(n)} | {(i, i) for i in range(n)})
    values = np.array([4.0 if i == j else 1.0 for i, j in sparsity])
    found = pivots(sparsity, n, [values])
    assert sorted(i for i, _ in found) == sorted(j for _, j in found) == list(range(n))
    assert 0 in {i for i, _ in found[-2:]}


def products(sparsity: Sequence[tuple[int, int]], order: Sequence[tuple[int, int]]) -> int:
    """Number of multiplications and subtractions of a factorisation along an order."""
    rows = {i: {j for k, j in sparsity if k == i} for i, _ in order}
    total = 0
    for pivot, column in order:
        rest = rows.pop(pivot) - {column}
        touched = [row for row in rows.values() if column in row]
        for row in touched:
            row.discard(column)
            row |= rest
        total += len(rest) * len(touched)
    return total


def grid(cells: int) -> tuple[tuple[tuple[int, int], ...], np.ndarray]:
    """Sparsity and values of a grid in which each node knows its neighbours."""
    number = np.arange(cells**2).reshape(cells, cells)
    pairs = [*zip(number[1:].flat, number[:-1].flat, strict=True)]
    pairs += zip(number[:, 1:].flat, number[:, :-1].flat, strict=True)
    entries = sorted({*((int(k), int(k)) for k in number.flat), *((int(i), int(j)) for i, j in pairs)})
    entries = sorted({*entries, *((j, i) for i, j in entries)})
    random = np.random.default_rng(2)
    return tuple(entries), np.array([4 + random.uniform() if i == j else -1.0 for i, j in entries])


@pytest.mark.slow
def test_a_grid_is_taken_apart_and_not_swept_through() -> None:
    """Row by row each node costs the square of the grid's width."""
    sparsity, values = grid(12)
    found = pivots(sparsity, 144, [values])
    swept = products(sparsity, [(k, k) for k in range(144)])
    assert swept > 15_000
    assert products(sparsity, found) < 0.4 * swept


def test_an_order_that_is_not_exact_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """In [[thin, 1], [1, full]] thin entries make least work, and their products swallow what is full."""
    n, thin = 4, 1e-8
    thin_ones, ones = {(i, i) for i in range(n)}, {(i, n + i) for i in range(n)} | {(n + i, i) for i in range(n)}
    full = {(n + i, n + j) for i in range(n) for j in range(n)}
    sparsity = tuple(sorted(thin_ones | ones | full))
    random = np.random.default_rng(0)
    values = np.array([(thin if (i, j) in thin_ones else 1) * random.uniform(0.5, 1) for i, j in sparsity])
    for thresholds, are_first in (((thin / 100,), True), ((thin / 100, 0.25), False)):
        monkeypatch.setattr(orders, "THRESHOLDS", thresholds)
        assert (set(pivots(sparsity, 2 * n, [values])[:n]) == thin_ones) == are_first


def test_a_matrix_without_entries_gets_an_order_too() -> None:
    found = pivots(((0, 0),), 3, [np.array([1.0])])
    assert found[0] == (0, 0)
    assert sorted(i for i, _ in found) == sorted(j for _, j in found) == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_speeds_that_start_are_met_in_a_long_chain() -> None:
    """Initialisation with a given speed in one of many loops; the others follow from the constraints."""
    chain = FourBars(6)
    chain.hinge0_0.modify(phi=Start(0.2, fixed=True), w=Start(1.5, fixed=True))
    result = mbfmu.simulate(System.of(chain), 0.02, outputs=["hinge0_0.phi", "hinge0_0.w", "hinge0_2.w"])
    assert result["hinge0_0.phi"][0] == pytest.approx(0.2)
    assert result["hinge0_0.w"][0] == pytest.approx(1.5)
    # the four-bar is nearly a parallelogram: its rocker turns about as quickly
    assert 1.0 < result["hinge0_2.w"][0] < 2.0


def test_a_slope_leaves_aside_what_knows_no_unknown() -> None:
    """It has the operations of the whole jacobian, whose directions go through what is known, too."""
    known, unknown = ca.SX.sym("x", 3), ca.SX.sym("w", 2)
    factor = ca.exp(ca.sin(known[0]) * known[1]) + known[2] ** 3
    column = ca.vertcat(factor * unknown[0] + known[2], ca.cos(factor) * (unknown[1] - factor * unknown[0]), factor)
    found, whole = slope(column, unknown), ca.jacobian(column, unknown)
    assert found.sparsity() == whole.sparsity()
    values = ca.Function("values", [known], [found, whole])
    one, other = (np.array(part) for part in values([0.3, -0.7, 1.9]))
    assert np.array_equal(one, other)
    assert np.count_nonzero(one) == 3
    assert not slope(known, unknown).nnz()
    assert np.array_equal(np.array(ca.DM(slope(2 * unknown, unknown))), 2 * np.eye(2))


def test_fill_is_counted_as_bits_of_rows() -> None:
    """Elimination of an arrow's tip fills nothing in, and its bits follow."""
    size = 7
    is_entry = np.eye(size, dtype=bool)
    is_entry[0], is_entry[:, 0] = True, True
    random = np.random.default_rng(1).normal(size=(3, size, size)) * is_entry
    sparsity = [tuple(place) for place in np.argwhere(is_entry.T)[:, ::-1].tolist()]
    values = [sample[tuple(np.array(sparsity).T)] for sample in random]
    remainder = orders._Remainder(random.copy(), is_entry.copy(), 0.05)
    step = remainder._eliminate(1, 1)
    assert (step.rows.tolist(), step.columns.tolist()) == ([0], [0])
    for row, bits in enumerate(remainder._bits_of):
        if row != 1:
            assert bits == sum(1 << column for column in remainder._columns_of[row])
    assert len(pivots(sparsity, size, values)) == size


@pytest.mark.slow
def test_starts_of_sparse_systems_leave_no_dependency_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where positions are solved for, accelerations depend on what is not known: None, of all or of some of them."""
    sparse, dense = (StartPatterns(system.equations).rows("w") for system in both(FourBar, monkeypatch))
    assert len(sparse) == len(dense) > 1
    assert set(sparse) == {None}
    assert None in dense
