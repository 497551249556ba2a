"""Files of Ansys, read in a process of its own: the library that reads them ends its process where one is damaged.

python -m mbfmu.components.flexible.ansys_files matrices file.full out.npz
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable

import numpy as np
import scipy

from mbfmu.extras import extra

#: Solid elements by VTK's codes -> number of their corners.
VTK = {10: 4, 24: 4, 14: 5, 27: 5, 13: 6, 26: 6, 12: 8, 25: 8}
_READER = "ansys.mapdl.reader"

Arrays = dict[str, np.ndarray]


def matrices(file: str) -> Arrays:
    """Of a .full file: node and direction of each row, from 0, those that are held, and entries of both matrices."""
    found = extra(_READER, "a matrix of Ansys").read_binary(file)
    dofs, stiffness, mass = found.load_km()
    arrays = {"dofs": np.asarray(dofs), "held": np.asarray(found.const).reshape(-1, 2)}
    for name, matrix in (("stiffness", stiffness), ("mass", mass)):
        entries = scipy.sparse.coo_matrix(matrix)
        arrays |= {f"{name}_places": np.array([entries.row, entries.col]).T, f"{name}_values": entries.data}
    return arrays


def nodes(file: str) -> Arrays:
    """Of a .cdb file: numbers and places."""
    found = extra(_READER, "nodes of Ansys").Archive(file)
    return {"numbers": np.asarray(found.nnum), "places": np.asarray(found.nodes)}


def cells(file: str) -> Arrays:
    """Of a .cdb file: nodes of the solid elements by VTK's codes."""
    grid = extra(_READER, "elements of Ansys").Archive(file).grid
    numbers, by_kind = grid.point_data["ansys_node_num"], grid.cells_dict
    return {str(kind): numbers[by_kind[kind][:, :count]] for kind, count in VTK.items() if kind in by_kind}


WHAT: dict[str, Callable[[str], Arrays]] = {"matrices": matrices, "nodes": nodes, "cells": cells}


def read(what: str, file: str) -> Arrays:
    """What a file has.

    Args:
        what: a key of WHAT.
        file: its path.

    Raises:
        MbfmuError: there is no library that reads it.
        ValueError: it is no such file, or is damaged.
    """
    extra(_READER, f"{what} of Ansys")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "found.npz"
        command = [sys.executable, "-m", __name__, what, str(pathlib.Path(file).resolve()), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] if done.returncode > 0 else []
            raise ValueError(
                f"it is no {pathlib.Path(file).suffix} file, or is damaged: "
                f"{said[0][:200] if said else 'its reader ended without a word'}"
            )
        with np.load(out) as found:
            return dict(found)


if __name__ == "__main__":
    np.savez(sys.argv[3], **WHAT[sys.argv[1]](sys.argv[2]))  # type: ignore[arg-type]
