"""Bodies from matrices of finite elements, made here by trilinear bricks."""

from __future__ import annotations

import itertools
import os
import pathlib
from typing import Any

import casadi as ca
import numpy as np
import pytest
import scipy

import mbfmu
from mbfmu.components import Body, ModalBody, World
from mbfmu.components.flexible.modal_body import von_mises
from mbfmu.dynamics import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.studies.linearize import linearize

SIZES, LENGTHS, E, NU, RHO = (6, 1, 1), (0.6, 0.1, 0.08), 1e7, 0.3, 1000.0
CORNERS = np.array(list(itertools.product((-1, 1), repeat=3)))


def bricks() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass and stiffness of a bar of bricks with eight nodes, and the places of its nodes."""
    h = np.array(LENGTHS) / SIZES
    lame = E / (1 + NU) * np.array((NU / (1 - 2 * NU), 1 / 2))
    D = np.diag((2 * lame[1],) * 3 + (lame[1],) * 3)
    D[:3, :3] += lame[0]
    K, m = np.zeros((24, 24)), np.zeros((8, 8))
    for point in CORNERS / np.sqrt(3):
        parts = (1 + CORNERS * point) / 2
        N = parts.prod(axis=1)
        G = np.array([CORNERS[:, k] / h[k] * np.delete(parts, k, axis=1).prod(axis=1) for k in range(3)])
        B = np.zeros((6, 24))
        for k in range(3):
            B[k, k::3] = G[k]
        for row, (i, j) in enumerate(((0, 1), (1, 2), (0, 2)), 3):
            B[row, i::3], B[row, j::3] = G[j], G[i]
        K += B.T @ D @ B * h.prod() / 8
        m += RHO * np.outer(N, N) * h.prod() / 8
    grid = list(itertools.product(*(range(n + 1) for n in SIZES)))
    number = {place: k for k, place in enumerate(grid)}
    stiffness, mass = np.zeros((3 * len(grid),) * 2), np.zeros((3 * len(grid),) * 2)
    for cell in itertools.product(*(range(n) for n in SIZES)):
        nodes = [number[tuple(np.add(cell, (corner + 1) // 2))] for corner in CORNERS]
        at = np.ravel([[3 * node + k for k in range(3)] for node in nodes])
        stiffness[np.ix_(at, at)] += K
        mass[np.ix_(at, at)] += np.kron(m, np.eye(3))
    return mass, stiffness, np.array(grid) * h


def files(folder: pathlib.Path, mass: np.ndarray, stiffness: np.ndarray, places: np.ndarray) -> dict[str, str]:
    """Their files, as modifiers."""
    for name, matrix in (("mass", mass), ("stiffness", stiffness)):
        scipy.io.mmwrite(folder / f"{name}.mtx", scipy.sparse.coo_matrix(matrix))
    lines = [f"{k + 1}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(places.tolist())]
    (folder / "nodes.csv").write_text("# number, x, y, z\n" + "\n".join(lines) + "\n")
    return {
        "massFile": str(folder / "mass.mtx"),
        "stiffnessFile": str(folder / "stiffness.mtx"),
        "nodeFile": str(folder / "nodes.csv"),
    }


HELD, ATTACHED = "1 2 3 4", "25 26 27 28"


class Bar(Assembly):
    """The bar on the ground, with a load at its end."""

    def __init__(self, load: float = 0.0, **modifiers: Any) -> None:
        self.world = World(n=(0, 0, -1), g=9.81 if load else 0.0)
        self.bar = ModalBody(**modifiers)
        self.connect(self.world.frame_b, self.bar.frame_a)
        if load:
            self.load = Body(m=load, r_CM=(0, 0, 0))
            self.connect(self.bar.frame[0], self.load.frame_a)


class Clamped(Assembly):
    """A body on the ground, named bar."""

    def __init__(self, bar: ModalBody) -> None:
        self.world = World(gravityType="NoGravity")
        self.bar = bar
        self.connect(self.world.frame_b, self.bar.frame_a)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return files(tmp_path_factory.mktemp("bar"), *bricks()) | {"held": HELD, "attached": ATTACHED}


@pytest.mark.slow
def test_a_body_of_matrices_has_their_frequencies(given: dict[str, Any]) -> None:
    mass, stiffness, _ = bricks()
    exact = np.sqrt(scipy.linalg.eigh(stiffness[12:, 12:], mass[12:, 12:], eigvals_only=True)[:4])
    found = linearize(Bar(**given)).eigenvalues.imag
    assert np.sort(found[found > 0])[:4] == pytest.approx(exact, rel=1e-7)


def test_it_has_the_mass_and_inertia_of_the_bar(given: dict[str, Any]) -> None:
    found = ModalBody(**given).flexibility().integrals
    m = RHO * np.prod(LENGTHS)
    assert found.m == pytest.approx(m, rel=1e-12)
    assert found.first == pytest.approx((m * LENGTHS[0] / 2, 0, 0), abs=1e-12)
    assert found.second[0, 0] == pytest.approx(m * LENGTHS[0] ** 2 / 3, rel=1e-12)
    assert found.second[1, 1] == pytest.approx(m * LENGTHS[1] ** 2 / 12, rel=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_load_at_an_interface_bends_it_as_the_matrices_say(given: dict[str, Any]) -> None:
    load = 0.5
    mass, stiffness, _ = bricks()
    force = -9.81 * (mass @ np.tile((0, 0, 1.0), len(mass) // 3))
    force[[74, 77, 80, 83]] -= 9.81 * load / 4  # z of the nodes 25 ... 28
    exact = np.linalg.solve(stiffness[12:, 12:], force[12:])[np.array((74, 77, 80, 83)) - 12].mean()
    found = mbfmu.simulate(Bar(load, **given, damping=0.7), stop_time=5.0)
    assert found["bar.frame[1].r_0[3]"][-1] == pytest.approx(exact, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("symmetric", "stiffnessFile: is not symmetric"),
        ("positive", "massFile: is not positive"),
        (
            "units",
            r"mass is 4.8e-09 kg, its size 0.6 x 0.1 x 0.08 m, 1e-06 kg/m3 .*; are lengths in mm and masses in t",
        ),
        (
            "mm and t",
            r"mass is 0.0048 kg, its size 600 x 100 x 80 m, 1e-09 kg/m3 .*; are lengths in mm and masses in t",
        ),
        ("negative", "stiffnessFile: is not positive, 72 of its 72 pivots are not, as -"),
        ("indefinite", "massFile: is not positive, 1 of its 28 pivots are not, as -"),
        ("exchanged", "massFile: .*, or are massFile and stiffnessFile exchanged"),
        *((f"heavier along {k}", "massFile: .* three directions differ.* of solid elements$") for k in "yz"),
        ("mixed", "massFile: .* three directions differ.* of solid elements$"),
        ("no number", "stiffnessFile: has entries that are no numbers"),
        ("zeros", "stiffnessFile: has no entries but zeros"),
        (
            "parts",
            "stiffnessFile: falls into 2 parts that nothing joins, of which one of 28 nodes around 5.3, 5.05, 5.04",
        ),
        ("hinged", r"stiffnessFile: is not positive, (its least eigenvalue is|\d+ of its|it is singular)"),
        ("size", "displacements for each node"),
        ("supported", "a rigid motion meets"),
        ("cut", "massFile = .* cannot be read"),
    ],
)
def test_wrong_matrices_are_refused(tmp_path: pathlib.Path, change: str, message: str) -> None:
    mass, stiffness, places = bricks()
    if change == "symmetric":
        stiffness[0, 5] *= 2
    elif change == "positive":
        mass = -mass
    elif change == "units":
        mass = mass * 1e-9
    elif change == "mm and t":
        mass, stiffness, places = mass * 1e-3, stiffness * 1e-3, places * 1e3
    elif change == "negative":
        stiffness = -stiffness
    elif change == "indefinite":
        along = mass[::3, ::3]
        low, high = along[3, 7], np.sqrt(along[3, 3] * along[7, 7])
        along[[3, 7], [7, 3]] = 3 * high - low
        mass = np.kron(along, np.eye(3))
    elif change == "exchanged":
        mass, stiffness = stiffness, mass
    elif change.startswith("heavier"):
        k = "xyz".index(change[-1])
        mass[k::3, k::3] *= 1.001
    elif change == "mixed":
        mass[1, 2] = mass[2, 1] = 1e-3 * mass[1, 1]
    elif change == "no number":
        stiffness[3, 3] = np.nan
    elif change == "zeros":
        stiffness = 0 * stiffness
    elif change == "parts":
        mass, stiffness = scipy.linalg.block_diag(mass, mass), scipy.linalg.block_diag(stiffness, stiffness)
        places = np.vstack([places, places + 5])
    elif change == "hinged":  # two bars with one node in common
        far = np.r_[0:3, 84:165]
        joined = np.zeros((2, 165, 165))
        for one, matrix in zip(joined, (mass, stiffness), strict=True):
            one[:84, :84] = matrix
            one[np.ix_(far, far)] += matrix
        (mass, stiffness), places = joined, np.vstack([places, places[0] - (places[1:] - places[0])])
    elif change == "size":
        places = places[:-1]
    elif change == "supported":
        stiffness[0, 0] *= 2
    found = files(tmp_path, mass, stiffness, places)
    if change == "cut":
        text = pathlib.Path(found["massFile"]).read_text()
        pathlib.Path(found["massFile"]).write_text(text[: len(text) // 2])
    with pytest.raises(ModelError, match=message):
        ModalBody(**found, held=HELD, attached=ATTACHED).flexibility()


@pytest.mark.parametrize(
    ("modifiers", "message"),
    [
        ({"held": "1 99"}, "there is no node 99"),
        ({"held": "1 5 9"}, "on one line"),
        ({"attached": "1 x"}, "give numbers"),
        ({"attached": "25 26 25"}, "node 25 is named twice in '25 26 25'; name it once"),
        ({"held": "1 2 3 2"}, "held: node 2 is named twice"),
        ({"attached": "", "f_max": 1e-3}, "ask for modes, of which there are none up to f_max = 0.001 Hz"),
        ({"E": 7e10}, "E: belongs to meshes, and massFile = .* has its own; leave it out"),
        ({"nModes": 500}, "the matrices hold"),
        ({"massFile": "absent.mtx"}, "cannot be read"),
        ({"stressAt": "25"}, "stressAt = '25': matrices tell no stress; give a mesh, or a SID file whose nodes have"),
    ],
)
def test_wrong_nodes_are_refused(given: dict[str, Any], modifiers: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ModalBody(**given | modifiers).flexibility()


@pytest.mark.parametrize(("nodes", "message"), [("25", "25 tells no rotation:"), ("25 26", "about its line")])
def test_an_interface_that_cannot_turn_is_told(given: dict[str, Any], nodes: str, message: str) -> None:
    with pytest.warns(UserWarning, match=message):
        ModalBody(**given | {"attached": nodes}).flexibility()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_is_drawn_as_it_bends(given: dict[str, Any]) -> None:
    """A rod leads from frame_a to the interface, whose displacement is drawn as large as asked, as is the centre's."""
    body = ModalBody(**given, nModes=1).flexibility()
    count, integrals = body.count, body.integrals
    q, ends, centers = Start([0.004] * count, fixed=True), [], []
    for scale in (1.0, 5.0):
        bar = ModalBody(**given, nModes=1, q=q, qd=Start([0.0] * count, fixed=True), deformationScale=scale)
        model = Clamped(bar)
        system = System.of(model, scene=True)
        assert system.scene is not None
        names = list(system.scene.variables)
        found = mbfmu.simulate(system, 1e-6, interval=1e-6, outputs=[*names, "bar.frame[1].r_0"])
        shapes = {shape.ident: shape.quantities for shape in system.scene.shapes}

        def first(ident: str, key: str, found: Any = found, shapes: Any = shapes) -> np.ndarray:
            return np.array([found[part][0] if isinstance(part, str) else part for part in shapes[ident][key]])

        along, length = first("bar.rod1", "lengthDirection"), first("bar.rod1", "length")
        centers.append(first("bar.center", "r_shape") + np.array([first("bar.center", "length")[0] / 2, 0, 0]))
        ends.append(along / np.linalg.norm(along) * length)
        place = np.array([found[f"bar.frame[1].r_0[{k}]"][0] for k in (1, 2, 3)])
        straight = bar.reduction().places[0]
        assert ends[-1] == pytest.approx(straight + scale * (place - straight), abs=1e-9)
    assert np.abs(ends[1] - ends[0]).max() > 0.01
    straight, moved = integrals.first / integrals.m, integrals.S[:, :count] @ np.full(count, 0.004) / integrals.m
    np.testing.assert_allclose(centers, [straight + moved, straight + 5 * moved], atol=1e-9)
    assert np.abs(moved).max() > 1e-4


def test_modes_above_a_frequency_are_left_out(given: dict[str, Any]) -> None:
    alone = given | {"attached": "", "nModes": 6}
    frequencies = ModalBody(**alone).checks()["frequencies"]
    between = (frequencies[2] + frequencies[3]) / 2
    assert ModalBody(**alone, f_max=between).checks()["frequencies"] == pytest.approx(frequencies[:3], rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_displacements_at_several_nodes_are_told_in_their_order(given: dict[str, Any]) -> None:
    count = ModalBody(**given, nModes=2).flexibility().count
    q = np.linspace(0.01, 0.02, count)
    start = {"q": Start(q, fixed=True), "qd": Start(np.zeros(count), fixed=True)}
    found = mbfmu.simulate(Bar(**given, nModes=2, displacementAt="13; 27; 25 26 27 28", **start), stop_time=1e-9)
    told = np.array([[found[f"bar.u[{i},{j}]"][0] for j in (1, 2, 3)] for i in (1, 2, 3)])
    places = ModalBody(**given, nModes=2, displacementAt="13; 27; 25 26 27 28").reduction()
    assert told == pytest.approx(places.displacements[1:] @ q, abs=1e-12)
    end = [found[f"bar.frame[1].r_0[{k}]"][0] for k in (1, 2, 3)]
    assert told[2] == pytest.approx(np.array(end) - (0.6, 0, 0), abs=1e-9)
    assert np.abs(told[0] - told[1]).max() > 1e-3


def test_a_file_that_has_changed_is_read_again(tmp_path: pathlib.Path) -> None:
    mass, stiffness, places = bricks()
    before = ModalBody(**files(tmp_path, mass, stiffness, places), held=HELD, nModes=2)
    first = before.checks()["frequencies"]
    given = files(tmp_path, mass, 4 * stiffness, places)
    os.utime(given["stiffnessFile"], (1e9, 1e9))  # at any other time
    assert ModalBody(**given, held=HELD, nModes=2).checks()["frequencies"] == pytest.approx(
        2 * np.array(first), rel=1e-6
    )


def test_a_soft_support_within_the_stiffness_is_told(tmp_path: pathlib.Path) -> None:
    mass, stiffness, places = bricks()
    stiffness[83, 83] += 1e-3 * np.abs(stiffness).max()
    with pytest.raises(ModelError, match=r"a rigid motion meets .* N for each m"):
        ModalBody(**files(tmp_path, mass, stiffness, places), held=HELD, nModes=2).checks()


def test_nothing_that_is_stressed_has_no_equivalent() -> None:
    assert float(von_mises(ca.SX.zeros(6))) == 0.0
    assert float(von_mises(ca.SX([1e6, 0, 0, 0, 0, 0]))) == pytest.approx(1e6, rel=1e-11)
    assert float(von_mises(ca.SX([0, 0, 0, 1e6, 0, 0]))) == pytest.approx(3**0.5 * 1e6, rel=1e-11)
