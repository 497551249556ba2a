"""Bodies by the files of Abaqus and Ansys that Exudyn tests itself with.

The files are not part of this repository. They are read from the folder main/pythonDev/TestModels/testData of Exudyn's
sources, which the environment variable MBFMU_EXUDYN names. The stiffness of the rotor by Abaqus is 100 times too large
there, so that its frequencies are 10 times too high, and its files have it as it is. Abaqus' block is made of its
quadratic tetrahedra (C3D10): the same block is solved by its mesh alone, too, with matrices of our own.
"""

from __future__ import annotations

import math
import os
import pathlib
import tempfile
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
from scipy.linalg import eigh

from mbfmu.components import ModalBody
from mbfmu.components.flexible.matrix_files import read_nodes
from problems import finite_elements
from problems.problem import Problem, Solution

FOLDER = pathlib.Path(os.environ.get("MBFMU_EXUDYN", "nowhere"))
_MISSING = "no files of Exudyn: MBFMU_EXUDYN names no folder testData of its sources"
#: What the report says where files or libraries are missing.
ABSENT = finite_elements.ABSENT or ("" if (FOLDER / "rotorDiscTest.inp").exists() else _MISSING)

#: Material of the block.
MATERIAL = {"E": 2e11, "nu": 0.3, "density": 2900.0}
#: What is compared: the first frequency of the free body that is none of a rigid motion, and further ones.
SEVENTH, BLOCK = 6, slice(6, 12)


def _abaqus(mass: str, stiffness: str, nodes: str) -> dict[str, str]:
    """Modifiers of a body by files of Abaqus."""
    names = {"massFile": mass, "stiffnessFile": stiffness, "nodeFile": nodes}
    return {name: str(FOLDER / file) for name, file in names.items()}


ROTOR = _abaqus("rotorDiscTestMASS1.mtx", "rotorDiscTestSTIF1.mtx", "rotorDiscTest.inp")
BLOCK_FILES = _abaqus("abaqus/blockC3D10_MASS1.mtx", "abaqus/blockC3D10_STIF1.mtx", "abaqus/blockC3D10.inp")


def _ansys(folder: pathlib.Path) -> dict[str, str]:
    """Modifiers of the rotor by Ansys: its matrices in Matrix Market, its nodes in the order of their rows."""
    rows = (FOLDER / "rotorAnsysMatrixDofMappingVector.txt").read_text("utf-8").splitlines()
    order = [int(line) for line in [line for line in rows if not line.startswith("%")][1:]]  # behind the size
    table = (FOLDER / "rotorAnsysNodalCoordinates.txt").read_text("utf-8").replace(",", ".").splitlines()[1:]
    places = {int(number): place for number, *place in map(str.split, table)}
    (folder / "nodes.txt").write_text("\n".join(f"{number} {' '.join(places[number])}" for number in order))
    files = {"nodeFile": str(folder / "nodes.txt")}
    for name, file in (("massFile", "Mass"), ("stiffnessFile", "Stiffness")):
        files[name] = str(folder / f"{file}.mtx")
        (folder / f"{file}.mtx").write_bytes((FOLDER / f"rotorAnsys{file}MatrixSparse.txt").read_bytes())
    return files


def _free(axis: int, **given: Any) -> list[float]:
    """Frequencies of the free body that these files tell, held at its begin along an axis [Hz]."""
    nodes = read_nodes(given["nodeFile"])
    begin = min(place[axis] for place in nodes.values())
    held = " ".join(str(number) for number, place in nodes.items() if place[axis] < begin + 1e-6)
    return list(ModalBody(**given, held=held, nModes=1).checks()["free_frequencies"])


def _rotor(tolerance: float) -> Solution:
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        found = [_free(2, **_ansys(pathlib.Path(name)))[SEVENTH], _free(2, **ROTOR)[SEVENTH] / 10]
    return Solution({"bending-rotor-exudyn": found}, time.process_time() - begin)


def _block(tolerance: float) -> Solution:
    begin = time.process_time()
    mesh = ModalBody(meshFile=BLOCK_FILES["nodeFile"], **MATERIAL, held="Set-1", nModes=1)
    found = _free(0, **BLOCK_FILES)[BLOCK] + mesh.checks()["free_frequencies"][BLOCK]
    return Solution({"bending-block-abaqus": found}, time.process_time() - begin)


#: What `by_hand` gives for the block [Hz].
FREQUENCIES = [
    451.3333405516966, 452.0098506901205, 607.8701970927566, 1026.4594186794727, 1026.7415813382786, 1033.2591190357125,
]  # fmt: skip


def by_hand() -> Mapping[str, list[float]]:
    """Frequencies of the free block [Hz], by Abaqus' matrices as NumPy reads them, and LAPACK's solver of all modes."""
    matrices = []
    for name in ("massFile", "stiffnessFile"):
        rows, columns, values = np.loadtxt(BLOCK_FILES[name], unpack=True)
        whole = scipy.sparse.coo_matrix((values, (rows.astype(int) - 1, columns.astype(int) - 1))).toarray()
        matrices.append(np.triu(whole) + np.triu(whole, 1).T)
    mass, stiffness = matrices
    squares = eigh(stiffness, mass, eigvals_only=True, subset_by_index=(0, BLOCK.stop - 1))
    return {"bending-block-abaqus": 2 * (np.sqrt(squares[BLOCK]) / (2 * math.pi)).tolist()}


_SOURCE = (
    "J. Gerstmayr, Exudyn - a C++-based Python package for flexible multibody systems, Multibody System Dynamics 60 "
    "(2024), 533-561: data of its tests"
)
_ONE_RUN: Mapping[str, Any] = {"tolerance": 1e-7, "tolerances": (1e-7,)}

_ALL = (
    Problem(
        "bending-rotor-exudyn",
        "A rotor by the files of Ansys and Abaqus",
        f"{_SOURCE}, compareAbaqusAnsysRotorEigenfrequencies.py and what it expects",
        "seventh frequency of the free rotor: by the files of Ansys, of Abaqus",
        "Hz",
        [104.63701055079783, 104.6370132606291],
        _rotor,
        error=1e-6,
        **_ONE_RUN,
    ),
    Problem(
        "bending-block-abaqus",
        "A block by the matrices of Abaqus and by its mesh",
        f"{_SOURCE}, blockC3D10; its frequencies by NumPy's reader and LAPACK's solver of all modes",
        "seventh to twelfth frequency of the free block of quadratic tetrahedra: by the files of Abaqus, by its mesh",
        "Hz",
        2 * FREQUENCIES,
        _block,
        error=1e-5,
        origin="computed",
        **_ONE_RUN,
    ),
)
PROBLEMS = () if ABSENT else _ALL
