"""Files of matrices and nodes that finite-element programs write: Matrix Market, Nastran, Abaqus, Ansys.

Rows of some say to which node and direction they belong, so that nodes may come in any order; rows of others follow the
order of the file of nodes.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy

from mbfmu.components.flexible import ansys_files
from mbfmu.components.flexible.finite_elements import FiniteElements, library
from mbfmu.components.flexible.outlines import skin
from mbfmu.extras import extra

#: The word that Matrix Market files begin with.
MATRIX_MARKET = "%%MatrixMarket"
#: Stiffness from which on Abaqus means a support.
SUPPORT = 1e36
#: Suffixes of Nastran's models.
NASTRAN = (".bdf", ".dat", ".nas")
#: Solid elements -> number of their corners: beginnings of meshio's names, Nastran's cards.
SOLIDS = {"tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
CARDS = {"ctetra": 4, "cpyram": 5, "cpenta": 6, "chexa": 8}
#: Directions of Nastran, Abaqus: displacements, then rotations.
DISPLACEMENTS = (1, 2, 3)


@dataclasses.dataclass(frozen=True, eq=False)
class Matrix:
    """A sparse matrix; node and direction (1 to 3, rotations 4 to 6) of each row [n, 2], where the file says them."""

    values: Any
    dofs: np.ndarray | None = None


def path(file: str) -> str:
    """The path of a file that is given with the name of a matrix: `model.op4` of `model.op4:KAA`."""
    return _split(file)[0]


def _split(file: str) -> tuple[str, str]:
    found = re.fullmatch(r"(.*\.\w+):(\w+)", file)
    return (found[1], found[2]) if found else (file, "")


def read_matrix(file: str, what: str) -> Matrix:
    """Read a matrix.

    Args:
        file: its path, with `:NAME` behind it where the file has several.
        what: "mass" or "stiffness", where a file of Ansys has both.

    Raises:
        OSError: it cannot be opened.
        ValueError: it is no such file, or has no such matrix.
    """
    file, name = _split(file)
    suffix = pathlib.Path(file).suffix.lower()
    if suffix not in READERS:
        raise ValueError(f"{suffix or 'it'} is no kind of matrix that is read; write one of {', '.join(READERS)}")
    pathlib.Path(file).open("rb").close()
    return READERS[suffix](file, name, what)


def _text(file: str, name: str, what: str) -> Matrix:
    """Matrix Market, or of Abaqus."""
    with pathlib.Path(file).open(encoding="utf-8", errors="replace") as stream:
        first = stream.read(len(MATRIX_MARKET))
    if first == MATRIX_MARKET:
        return Matrix(_market(file))
    rows = np.loadtxt(file, delimiter="," if "," in pathlib.Path(file).read_text("utf-8") else None, ndmin=2)
    if rows.shape[1] == 3:  # row, column, value, counted from 1
        return Matrix(_both(rows[:, :2].astype(int) - 1, rows[:, 2]))
    if rows.shape[1] != 5:
        raise ValueError(
            f"it is neither Matrix Market nor of Abaqus, whose lines have 3 or 5 columns, not {rows.shape[1]}"
        )
    ends = rows[:, :4].astype(int).reshape(-1, 2)
    dofs, where = np.unique(ends, axis=0, return_inverse=True)
    if (dofs[:, 0] < 1).any():
        raise ValueError("it has degrees of freedom that belong to no node (internal ones of elements); condense them")
    held = rows[(np.abs(rows[:, 4]) >= SUPPORT) & (rows[:, 0] == rows[:, 2])]
    if len(held):
        raise ValueError(
            f"{len(held)} of its displacements are held, as that of node {int(held[0, 0])} along {int(held[0, 1])}; "
            "write the matrices of the free body, without supports"
        )
    return Matrix(_both(where.reshape(-1, 2), rows[:, 4], len(dofs)), dofs)


def _market(file: str) -> Any:
    """The matrix of a Matrix Market file; SciPy's reader ends the process where one is cut short or changed.

    Raises:
        ValueError: it is none, or has other entries than it says.
    """
    with pathlib.Path(file).open(encoding="utf-8", errors="replace") as stream:
        head, sizes = stream.readline().lower().split(), []
        for line in stream:
            if line.strip() and line[0] != "%":
                sizes = line.split()
                break
        body = stream.read()
    known = ("coordinate", "array"), ("real", "integer"), ("general", "symmetric")
    if len(head) != 5 or any(word not in words for word, words in zip(head[2:], known, strict=True)):
        raise ValueError(
            f"{' '.join(head):.60} is no head of a matrix; write '{MATRIX_MARKET} matrix coordinate real general', or "
            "symmetric"
        )
    sparse, general = head[2] == "coordinate", head[4] == "general"
    width = 3 if sparse else 1
    try:
        rows, columns, *count = (int(word) for word in sizes)
        if len(count) != (1 if sparse else 0) or min(rows, columns) < 1:
            raise ValueError
    except ValueError:
        raise ValueError("it says no size; write rows, columns and, of sparse ones, the number of entries") from None
    wanted = count[0] if sparse else rows * columns if general else rows * (rows + 1) // 2
    table = _table(body, wanted, width)
    if sparse:
        places = table[:, :2] - 1
        inside = ((places >= 0) & (places < (rows, columns)) & (places == np.round(places))).all(axis=1)
        if not inside.all():
            i, j = places[~inside][0] + 1
            raise ValueError(f"it has an entry at {i:g}, {j:g}, and {rows} x {columns} entries; write or copy it again")
    elif general:
        places = np.indices((columns, rows)).reshape(2, -1)[::-1].T
    else:  # by columns, from the diagonal on
        places = np.array(np.triu_indices(rows)[::-1]).T
    matrix = scipy.sparse.coo_matrix((table[:, -1], places.astype(int).T), (rows, columns)).tocsc()
    return matrix if general else _both(places.astype(int), table[:, -1], rows)


def _table(body: str, wanted: int, width: int) -> np.ndarray:
    """So many rows of numbers, without lines of remarks.

    Raises:
        ValueError: there are others.
    """
    lines = [line for line in body.splitlines() if line.strip() and line.lstrip()[0] != "%"]
    try:
        table = np.loadtxt(lines, ndmin=2) if lines else np.zeros((0, width))
    except ValueError as error:
        table, told = np.zeros((0, 0)), str(error)
    else:
        told = ""
    if len(lines) == wanted and table.shape == (wanted, width):
        return np.asarray(table)
    wrong = next((line for line in lines if len(line.split()) != width), "")
    raise ValueError(
        f"it says {wanted} entries and has {len(lines)}"
        + (f", one of which is {wrong.strip()!r:.40}" if wrong else f", {told:.80}" if told else "")
        + "; it was cut short or changed, so write or copy it again"
    )


def _both(places: np.ndarray, values: np.ndarray, size: int | None = None) -> Any:
    """A matrix from rows and columns, with what lies on the other side of the diagonal where a file has one only."""
    size = int(places.max()) + 1 if size is None else size
    matrix = scipy.sparse.coo_matrix((values, places.T), (size, size)).tocsc()
    lower, upper = scipy.sparse.tril(matrix, -1), scipy.sparse.triu(matrix, 1)
    return matrix if lower.nnz and upper.nnz else (matrix + (lower + upper).T).tocsc()


def _named(found: dict[str, Any], name: str, file: str) -> Any:
    """One of several matrices.

    Raises:
        ValueError: there is none of this name, or none is named.
    """
    known = {key.upper(): value for key, value in found.items()}
    if name.upper() in known:
        return known[name.upper()]
    if len(known) == 1 and not name:
        return next(iter(known.values()))
    raise ValueError(
        f"it has the matrices {', '.join(known) or 'none'}; name one, as in {file}:{next(iter(known), 'KAA')}"
    )


def _op4(file: str, name: str, what: str) -> Matrix:
    op4 = extra("pyyeti.nastran.op4", "a matrix of Nastran")
    with library(file):
        found = op4.read(file, sparse=True)
    return Matrix(scipy.sparse.csc_matrix(_named(found, name, file)))


def _op2(file: str, name: str, what: str) -> Matrix:
    op2 = extra("pyyeti.nastran.op2", "a matrix of Nastran")
    with library(file), op2.OP2(file) as stream:
        found = stream.rdop2mats()
    return Matrix(scipy.sparse.csc_matrix(_named(found, name, file)))


def _punch(file: str, name: str, what: str) -> Matrix:
    """Of DMIG entries, which name nodes and directions."""
    bulk = extra("pyyeti.nastran.bulk", "a matrix of Nastran")
    with library(file):
        found = bulk.rddmig(file, square=True)
    frame = _named(found, name, file)
    dofs = np.array([tuple(one) for one in frame.index], dtype=int)
    values = np.asarray(frame.loc[frame.index, frame.index])
    if np.iscomplexobj(values):
        raise ValueError("it is complex; write the stiffness without structural damping")
    return Matrix(scipy.sparse.csc_matrix(values), dofs)


def _ansys(file: str, name: str, what: str) -> Matrix:
    found = ansys_files.read("matrices", file)
    dofs, held = found["dofs"], found["held"]
    if len(held):
        raise ValueError(
            f"{len(held)} of its displacements are held, as that of node {int(held[0][0])} along {held[0][1] + 1}; "
            "write the matrices of the free body, without supports"
        )
    values = _both(found[f"{what}_places"], found[f"{what}_values"], len(dofs))
    return Matrix(values, np.add(dofs, (0, 1)))


#: Suffix -> its reader.
READERS: dict[str, Callable[[str, str, str], Matrix]] = {
    ".mtx": _text, ".op2": _op2, ".op4": _op4, ".pch": _punch, ".full": _ansys,
}  # fmt: skip


def read_nodes(file: str) -> dict[int, np.ndarray]:
    """Places of nodes by number, in their order, from a text file, or the model of Abaqus, Nastran or Ansys.

    Raises:
        OSError: it cannot be opened.
        ValueError: a line is no node.
    """
    suffix = pathlib.Path(file).suffix.lower()
    if suffix in NASTRAN:
        rdgrids = extra("pyyeti.nastran.bulk", "nodes of Nastran").rdgrids
        with library(file):
            table = rdgrids(file)
        if table is None or table[:, 1].any() or table[:, 5].any():
            raise ValueError("it has no GRID entries, or some in a coordinate system of their own; write basic ones")
        numbers, places = table[:, 0], table[:, 2:5]
    elif suffix == ".cdb":
        model = ansys_files.read("nodes", file)
        numbers, places = model["numbers"], model["places"]
    else:
        return _listed(pathlib.Path(file).read_text("utf-8"), keywords=suffix == ".inp")
    if len(numbers) != len(places) or not np.isfinite(numbers).all() or not np.isfinite(places).all():
        raise ValueError("it has nodes that are nowhere; it is damaged, so write or copy it again")
    return {int(number): place for number, place in zip(numbers, places, strict=True)}


def read_cells(file: str) -> dict[int, np.ndarray]:
    """Solid elements of the model in a file of nodes: by the number of corners, the nodes of these [m, corners].

    Raises:
        OSError: it cannot be opened.
        ValueError: it has elements that cannot be read.
    """
    suffix = pathlib.Path(file).suffix.lower()
    found: dict[int, list[np.ndarray]] = {}
    if suffix == ".inp" and re.search(r"^\*ELEMENT\b", pathlib.Path(file).read_text("utf-8"), re.IGNORECASE | re.M):
        abaqus, numbers = extra("meshio", "elements of Abaqus").abaqus, np.array(list(read_nodes(file)))
        with library(file):
            mesh = abaqus.read(file)
            cells = [(block.type, numbers[block.data]) for block in mesh.cells]
        for kind, nodes in cells:
            count = next((n for name, n in SOLIDS.items() if kind.startswith(name)), 0)
            if count:
                found.setdefault(count, []).append(nodes[:, :count])
    elif suffix in NASTRAN:
        bulk = extra("pyyeti.nastran.bulk", "elements of Nastran")
        for card, count in CARDS.items():
            with library(file):
                rows = bulk.rdcards(file, card, return_var="list", no_data_return=[]) or []
                nodes = [np.array([[int(value) for value in row[2 : 2 + count]]], dtype=np.int64) for row in rows]
            if nodes:
                found.setdefault(count, []).extend(nodes)
    elif suffix == ".cdb":
        for kind, corners in ansys_files.read("cells", file).items():
            found.setdefault(ansys_files.VTK[int(kind)], []).append(corners)
    for count, blocks in found.items():
        if any(nodes.shape[1:] != (count,) or not np.issubdtype(nodes.dtype, np.integer) for nodes in blocks):
            raise ValueError(f"it has elements that lack some of their {count} corners; it is damaged")
    return {count: np.concatenate(nodes) for count, nodes in found.items()}


def _listed(text: str, keywords: bool) -> dict[int, np.ndarray]:
    """Nodes of lines with number and place; with keywords, those under *NODE only."""
    found: dict[int, np.ndarray] = {}
    within = not keywords
    for number, line in enumerate(text.splitlines(), 1):
        if keywords and line.startswith("*"):
            if not line.startswith("**"):
                within = re.match(r"\*NODE\s*(,|$)", line, re.IGNORECASE) is not None
            continue
        words = [word for word in re.split(r"[\s,;]+", line.partition("#")[0].strip()) if word]
        if not words or not within:
            continue
        try:
            node, place = int(words[0]), np.array([float(word) for word in words[1:4]])
        except ValueError:
            raise ValueError(
                f"line {number}: {line.strip():.40} is no node; give its number and three places, or # before a remark"
            ) from None
        if len(words) != 4 or node in found or not np.isfinite(place).all():
            raise ValueError(
                f"line {number}: {line.strip():.40} is no node of its own; give its number and three places"
            )
        found[node] = place
    return found


def of_matrices(
    mass: Matrix,
    stiffness: Matrix,
    nodes: dict[int, np.ndarray],
    cells: Mapping[int, np.ndarray] = MappingProxyType({}),
) -> FiniteElements:
    """A body of finite elements, by nodes in the order of the mass matrix where it names them.

    Args:
        mass, stiffness: its matrices.
        nodes: places by number.
        cells: solid elements as `read_cells` has them: their surface is drawn. Those with nodes that matrices lack
            are left out.

    Raises:
        ValueError: a row belongs to no node, a node lacks a displacement, or turns.
    """
    if mass.dofs is not None:
        numbers = list(dict.fromkeys(mass.dofs[:, 0].tolist()))
        unknown = [number for number in numbers if number not in nodes]
        if unknown:
            raise ValueError(f"node {unknown[0]} of massFile is not in nodeFile, which has {len(nodes)} nodes")
        nodes = {number: nodes[number] for number in numbers}
    M, K = _ordered("massFile", mass, list(nodes)), _ordered("stiffnessFile", stiffness, list(nodes))
    order = {number: k for k, number in enumerate(nodes)}
    places = np.array(list(nodes.values())).reshape(-1, 3)
    listed = np.array(list(order), dtype=np.int64)
    sorting = np.argsort(listed)
    known = {}
    for count, elements in cells.items() if order else ():
        at = sorting[np.minimum(np.searchsorted(listed, elements, sorter=sorting), len(order) - 1)]
        known[count] = at[(listed[at] == elements).all(axis=1)]
    return FiniteElements(M, K, places, order, surface=skin(places, known))


def _ordered(name: str, matrix: Matrix, numbers: list[int]) -> Any:
    """The matrix with three displacements for each node, in the order of the numbers."""
    if matrix.dofs is None:
        return matrix.values
    row = {(int(node), int(direction)): k for k, (node, direction) in enumerate(matrix.dofs)}
    rows = []
    for number in numbers:
        for direction in DISPLACEMENTS:
            if (number, direction) not in row:
                raise ValueError(
                    f"{name} has no displacement of node {number} along {'xyz'[direction - 1]}; write the matrices of "
                    "the free body, without supports"
                )
            rows.append(row.pop((number, direction)))
    sizes = np.asarray(abs(matrix.values).sum(axis=0)).ravel()
    for (number, direction), k in row.items():
        if sizes[k] > 0:
            raise ValueError(
                f"{name} has {'a rotation' if direction > 3 else 'a displacement'} of node {number} (direction "
                f"{direction}), and three displacements of the nodes of massFile are taken; condense others"
            )
    return matrix.values.tocsr()[rows][:, rows].tocsc()


__all__ = ["Matrix", "of_matrices", "path", "read_cells", "read_matrix", "read_nodes"]
