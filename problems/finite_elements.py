"""Bodies of finite elements: plates by the theory of plates, and one rotor by all files that tell it."""

from __future__ import annotations

import functools
import importlib.util
import math
import pathlib
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
from numpy.polynomial import Legendre
from scipy.linalg import eigh

from mbfmu.components import ModalBody, World
from mbfmu.components.flexible.finite_elements import FiniteElements, Material
from mbfmu.extras import extra
from mbfmu.modeling import Assembly
from mbfmu.studies.linearize import linearize
from problems.problem import Problem, Solution

_PURPOSE = "a problem of finite elements"
STEEL = Material(2.1e11, 0.3, 7850.0)
MATERIAL = {"E": STEEL.E, "nu": STEEL.nu, "density": STEEL.density}

# -- plates


#: A square plate of side 1 m: its thickness by that, and tetrahedra along a side, in each square five or six.
THICKNESS, CELLS = 0.02, 20


def mesh_file(folder: pathlib.Path, ticks: Sequence[np.ndarray], inside: Any, sets: Mapping[str, Any]) -> pathlib.Path:
    """A mesh of tetrahedra between ticks along x, y and z, where `inside` holds, as Abaqus' .inp with sets of nodes."""
    meshio, skfem = extra("meshio", _PURPOSE), extra("skfem", _PURPOSE)
    mesh = skfem.MeshTet.init_tensor(*ticks)
    if inside is not None:
        mesh = mesh.restrict(np.flatnonzero(inside(*mesh.p[:, mesh.t].mean(axis=1))))
    chosen = {name: np.flatnonzero(test(*mesh.p)) for name, test in sets.items()}
    file = folder / "mesh.inp"
    meshio.abaqus.write(file, meshio.Mesh(mesh.p.T, [("tetra", mesh.t.T)], point_sets=chosen))
    return file


def plate_file(folder: pathlib.Path) -> pathlib.Path:
    """The plate, with its side at x = 0 as the surface `side`."""
    along = np.linspace(0.0, 1.0, CELLS + 1)
    across = np.linspace(-THICKNESS / 2, THICKNESS / 2, 2)
    return mesh_file(folder, (along, along, across), None, {"side": lambda x, y, z: x == 0})


def _scale() -> float:
    """What makes (omega a^2 (rho h / D)^(1/2)) of frequencies in Hz."""
    D = STEEL.E * THICKNESS**3 / 12 / (1 - STEEL.nu**2)
    return 2 * math.pi * math.sqrt(STEEL.density * THICKNESS / D)


def _written(elements: FiniteElements, folder: pathlib.Path) -> dict[str, str]:
    """Files of matrices (Matrix Market) and nodes of a body, as modifiers."""
    files = {"nodeFile": folder / "nodes.txt"}
    for name, matrix in (("massFile", elements.mass), ("stiffnessFile", elements.stiffness)):
        files[name] = folder / f"{name}.mtx"
        scipy.io.mmwrite(files[name], scipy.sparse.coo_matrix(matrix))
    lines = [f"{k} {x!r} {y!r} {z!r}" for k, (x, y, z) in enumerate(elements.places.tolist(), 1)]
    files["nodeFile"].write_text("\n".join(lines))
    return {name: str(file) for name, file in files.items()}


def _as_abaqus(elements: FiniteElements, folder: pathlib.Path) -> dict[str, str]:
    """Files of matrices and nodes as Abaqus writes them, with the nodes backwards."""
    files = {}
    backwards = np.arange(3 * len(elements.places)).reshape(-1, 3)[::-1].ravel()
    for name, matrix in (("massFile", elements.mass), ("stiffnessFile", elements.stiffness)):
        lower = scipy.sparse.tril(matrix.tocsr()[backwards][:, backwards]).tocoo()
        lines = [
            f"{i // 3 + 1},{i % 3 + 1},{j // 3 + 1},{j % 3 + 1},{value!r}"
            for i, j, value in zip(lower.row.tolist(), lower.col.tolist(), lower.data.tolist(), strict=True)
        ]
        (folder / f"{name}.mtx").write_text("\n".join(lines))
        files[name] = str(folder / f"{name}.mtx")
    places = enumerate(elements.places[::-1].tolist(), 1)
    (folder / "nodes.inp").write_text("*Node\n" + "\n".join(f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in places))
    return files | {"nodeFile": str(folder / "nodes.inp")}


def numbers(elements: FiniteElements, x: float, backwards: bool = False) -> str:
    """Numbers of the nodes at x."""
    found, count = np.flatnonzero(np.abs(elements.places[:, 0] - x) < 1e-9), len(elements.places)
    return " ".join(str(count - k if backwards else k + 1) for k in found.tolist())


def rim(elements: FiniteElements) -> str:
    """Numbers of the nodes in the middle of the plate's sides."""
    x, y, z = elements.places.T
    outside = (np.minimum(x, y) < 1e-9) | (np.maximum(x, y) > 1 - 1e-9)
    return " ".join(str(k + 1) for k in np.flatnonzero(outside & (np.abs(z) < 1e-9)))


def _plates(tolerance: float) -> Solution:
    begin, scale = time.process_time(), _scale()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        body = ModalBody(meshFile=str(plate_file(folder)), **MATERIAL, held="side", nModes=6)
        elements = body.finite_elements()
        files, sid = _written(elements, folder), folder / "plate.SID_FEM"
        sid.write_text(body.sid_text())
        mesh = body.checks()
        hinged = ModalBody(**files, held=rim(elements), nModes=4).checks()
        again = (ModalBody(**files, held=numbers(elements, 0.0), nModes=6), ModalBody(fileName=str(sid)))
        differ = [np.array(one.checks()["frequencies"]) / mesh["frequencies"] - 1 for one in again]
    values: Mapping[str, list[float]] = {
        "bending-plate-free": [scale * f for f in mesh["free_frequencies"][6:12]],
        "bending-plate-cantilever": [scale * f for f in mesh["frequencies"][:5]],
        "bending-plate-hinged": [scale * f for f in hinged["frequencies"]],
        "bending-plate-files": [float(np.abs(one).max()) for one in differ],
    }
    return Solution(values, time.process_time() - begin)


def ritz(held: int, terms: int = 14) -> np.ndarray:
    """omega a^2 (rho h / D)^(1/2) of a thin square plate by Kirchhoff's theory, free or with one side held twice.

    Deflections are x^held P_j(x) P_k(y) with Legendre's polynomials P; sides that are free need no condition.
    """
    points, weights = np.polynomial.legendre.leggauss(terms + 6)
    points, weights = (points + 1) / 2, weights / 2
    line = Legendre.identity(domain=[0, 1])

    def along(power: int) -> list[np.ndarray]:
        parts = [line**power * Legendre.basis(k, domain=[0, 1]) for k in range(terms)]
        return [np.array([part.deriv(order)(points) * np.ones_like(points) for part in parts]) for order in range(3)]

    X, Y = along(held), along(0)

    def integral(i: int, j: int, k: int, m: int) -> np.ndarray:
        """Of products of derivatives: i and k times along x, j and m times along y."""
        return np.asarray(np.kron(X[i] * weights @ X[k].T, Y[j] * weights @ Y[m].T))

    nu = STEEL.nu
    K = integral(2, 0, 2, 0) + integral(0, 2, 0, 2) + nu * (integral(2, 0, 0, 2) + integral(0, 2, 2, 0))
    K += 2 * (1 - nu) * integral(1, 1, 1, 1)
    squares = eigh(K, integral(0, 0, 0, 0), eigvals_only=True)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


#: What `ritz` gives: six frequencies of the free plate, five of the one that is clamped at a side.
FREE = [
    13.468198035054426, 19.59613736685876, 24.270201168258097, 34.80089457297564, 34.80089457401511, 61.09323501429987,
]  # fmt: skip
CANTILEVER = [3.47106857017898, 8.506711760498533, 21.28500204353955, 27.19888955480973, 30.95629043913781]
#: pi^2 (m^2 + n^2) of the plate with hinged sides.
HINGED = [math.pi**2 * count for count in (2, 5, 5, 8)]


# -- a rotor


#: A shaft of square section with a square disc [m]: ticks along it and across.
SHAFT, DISC = 0.02, (0.18, 0.21)
ALONG, ACROSS = (0.0, 0.06, 0.12, *DISC, 0.28, 0.36, 0.44, 0.52, 0.6), (-0.15, -0.085, -SHAFT, SHAFT, 0.085, 0.15)


def rotor_file(folder: pathlib.Path) -> pathlib.Path:
    """The rotor, with both ends as surfaces `begin` and `end`."""

    def inside(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        near = np.maximum(np.abs(y), np.abs(z)) < SHAFT
        return np.asarray(near | (x > DISC[0]) & (x < DISC[1]))

    sets = {"begin": lambda x, y, z: x == 0, "end": lambda x, y, z: x == ALONG[-1]}
    return mesh_file(folder, tuple(map(np.array, (ALONG, ACROSS, ACROSS))), inside, sets)


class FreeRotor(Assembly):
    """The rotor in space, by its SID file."""

    def __init__(self, file: str) -> None:
        self.world = World(gravityType="NoGravity")
        self.rotor = ModalBody(fileName=file, attached="1")


def _rotor(tolerance: float) -> Solution:
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        body = ModalBody(meshFile=str(rotor_file(folder)), **MATERIAL, held="begin", attached="end", nModes=14)
        elements, sid = body.finite_elements(), folder / "rotor.SID_FEM"
        found = list(body.checks()["free_frequencies"][6:10])
        for write in (_written, _as_abaqus):
            held = numbers(elements, 0.0) if write is _written else numbers(elements, 0.0, backwards=True)
            found += ModalBody(**write(elements, folder), held=held, nModes=1).checks()["free_frequencies"][6:10]
        sid.write_text(body.sid_text())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where it begins
            own = linearize(FreeRotor(str(sid))).frequencies
    values = {"bending-rotor-files": found, "bending-rotor-free": np.sort(own[own > 1.0])[:4:2].tolist()}
    return Solution(values, time.process_time() - begin)


@functools.cache
def rotor() -> list[float]:
    """Seventh to tenth frequency of the free rotor [Hz], by scikit-fem's own model of elasticity and dense matrices."""
    skfem = extra("skfem", _PURPOSE)
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    with tempfile.TemporaryDirectory() as name:
        mesh = skfem.MeshTet.load(rotor_file(pathlib.Path(name)))
    basis = skfem.CellBasis(mesh, skfem.ElementVector(skfem.ElementTetP2()), intorder=4)
    K = linear_elasticity(*lame_parameters(STEEL.E, STEEL.nu)).assemble(basis).toarray()
    M = skfem.BilinearForm(lambda u, v, w: STEEL.density * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])).assemble(basis)
    squares = eigh(K, M.toarray(), eigvals_only=True, subset_by_index=(0, 9))
    return [float(x) for x in np.sqrt(squares[6:]) / (2 * math.pi)]


#: What `rotor` gives [Hz].
ROTOR = [331.9608690637775, 334.81626170930366, 998.5425750497643, 1019.0416665304929]


def by_hand() -> Mapping[str, list[float]]:
    """Frequencies of thin plates, and of the rotor."""
    free, cantilever = ritz(0)[3:9].tolist(), ritz(2)[:5].tolist()
    return {
        "bending-plate-free": free,
        "bending-plate-cantilever": cantilever,
        "bending-rotor-files": 3 * rotor(),
        "bending-rotor-free": rotor()[:2],
    }


_LEISSA = (
    "A. W. Leissa, The free vibration of rectangular plates, Journal of Sound and Vibration 31 (1973), 257-293: the "
    "theory of thin plates"
)
_PLATE = "all by (omega a^2 (rho h / D)^(1/2)), of a square plate of quadratic tetrahedra, 50 times as wide as thick"
_ONE_RUN: Mapping[str, Any] = {"tolerance": 1e-7, "tolerances": (1e-7,)}
#: Why they are not here, where they are not.
ABSENT = "" if all(map(importlib.util.find_spec, ("skfem", "meshio"))) else "needs scikit-fem and meshio"

_ALL = (
    Problem(
        "bending-plate-free",
        "Free square plate",
        f"{_LEISSA}, here by Ritz's method in Legendre polynomials, as his beam functions give up to 1 % more",
        f"six frequencies, {_PLATE}",
        "1",
        FREE,
        _plates,
        error=0.15,
        origin="computed",
        **_ONE_RUN,
    ),
    Problem(
        "bending-plate-cantilever",
        "Square plate that is clamped at one side",
        f"{_LEISSA}, here by Ritz's method in Legendre polynomials",
        f"five frequencies, {_PLATE}",
        "1",
        CANTILEVER,
        _plates,
        error=0.1,
        origin="computed",
        **_ONE_RUN,
    ),
    Problem(
        "bending-plate-hinged",
        "Square plate with hinged sides",
        f"{_LEISSA}; closed form, pi^2 (m^2 + n^2)",
        f"four frequencies, {_PLATE}, by its matrices, which is held at the middles of its sides",
        "1",
        HINGED,
        _plates,
        error=0.15,
        origin="closed form",
        **_ONE_RUN,
    ),
    Problem(
        "bending-plate-files",
        "One plate by mesh, matrices and SID file",
        "the same body told in three ways has the same frequencies",
        "greatest relative difference of its frequencies by matrices and by a SID file from those by the mesh",
        "1",
        [0.0, 0.0],
        _plates,
        error=1e-9,
        origin="closed form",
        **_ONE_RUN,
    ),
    Problem(
        "bending-rotor-files",
        "A rotor by the files of its matrices",
        "the same finite elements by scikit-fem's model of elasticity, and LAPACK's solver of all modes",
        "seventh to tenth frequency of the free rotor: by its mesh, by Matrix Market files, by Abaqus' with its nodes "
        "backwards",
        "Hz",
        3 * ROTOR,
        _rotor,
        error=1e-5,
        origin="computed",
        **_ONE_RUN,
    ),
    Problem(
        "bending-rotor-free",
        "A rotor that flies freely, by its SID file",
        "the same finite elements by scikit-fem's model of elasticity, and LAPACK's solver of all modes",
        "first two frequencies of the machine, whose frame of reference is the begin of the shaft, with 20 shapes",
        "Hz",
        ROTOR[:2],
        _rotor,
        error=0.1,
        origin="computed",
        **_ONE_RUN,
    ),
)  # fmt: skip
PROBLEMS = () if ABSENT else _ALL
