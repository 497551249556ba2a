"""Matrices and nodes in the files of finite-element programs: the same bar in each."""

from __future__ import annotations

import pathlib
import struct
from typing import Any

import numpy as np
import pytest
import scipy
from test_modal_body import ATTACHED, HELD, bricks, files

from mbfmu.components import ModalBody
from mbfmu.components.flexible import matrix_files
from mbfmu.components.flexible.outlines import skin
from mbfmu.errors import ModelError
from mbfmu.extras import extra


@pytest.fixture(scope="module")
def bar() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass, stiffness, places."""
    return bricks()


@pytest.fixture(scope="module")
def frequencies(bar: Any, tmp_path_factory: pytest.TempPathFactory) -> list[float]:
    """By Matrix Market files."""
    return body(files(tmp_path_factory.mktemp("bar"), *bar))


def body(given: dict[str, str]) -> list[float]:
    """Mass and frequencies of the bar that is in these files."""
    found = ModalBody(**given, held=HELD, attached=ATTACHED).checks()
    return [found["mass"], *found["frequencies"]]


def abaqus(bar: Any, folder: pathlib.Path, columns: int) -> dict[str, str]:
    """The bar's matrices as Abaqus writes them, as modifiers: one side of the diagonal.

    With nodes named, in 5 columns, they stand in another order than in the model.
    """
    given = files(folder, *bar)
    for name, matrix in (("mass", bar[0]), ("stiffness", bar[1])):
        lines = []
        for i, j in np.argwhere(np.tril(matrix)).tolist()[:: -1 if columns == 5 else 1]:
            ends = (i // 3 + 1, i % 3 + 1, j // 3 + 1, j % 3 + 1) if columns == 5 else (i + 1, j + 1)
            lines.append((", " if columns == 5 else " ").join([*map(str, ends), f"{float(matrix[i, j])!r}"]))
        (folder / f"{name}.mtx").write_text("\n".join(lines))
    if columns == 5:
        nodes = [f"{k + 1}, {x}, {y}, {z}" for k, (x, y, z) in enumerate(bar[2].tolist())][::-1]
        text = ["*Heading", "a bar", "** nodes", "*Node", *nodes, "*Element, type=C3D8", "1, 1, 2, 3, 4, 5, 6, 7, 8"]
        given["nodeFile"] = str(folder / "bar.inp")
        pathlib.Path(given["nodeFile"]).write_text("\n".join(text))
    return given


def test_nodes_of_abaqus_stand_under_their_keyword_alone(tmp_path: pathlib.Path) -> None:
    lines = ["*Node, nset=all", "7, 1., 2., 3.", "** 9, 0, 0, 0", "8, 4, 5, 6", "*Node Output", "U,", "*Node Print"]
    (tmp_path / "some.inp").write_text("\n".join(lines))
    found = matrix_files.read_nodes(str(tmp_path / "some.inp"))
    assert {number: place.tolist() for number, place in found.items()} == {7: [1, 2, 3], 8: [4, 5, 6]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1 0 0 0", "# of the tip", "tip 1 2 3"], r"line 3: tip 1 2 3 is no node; .*# before a remark"),
        (["1 0 0 0", "2 1 0"], "line 2: 2 1 0 is no node of its own"),
        (["1 0 0 0", "1 1 0 0"], "line 2: 1 1 0 0 is no node of its own"),
        (["1 0 0 inf"], "line 1: 1 0 0 inf is no node of its own"),
    ],
)
def test_lines_that_are_no_nodes_are_named(lines: list[str], message: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "some.txt").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=message):
        matrix_files.read_nodes(str(tmp_path / "some.txt"))


@pytest.mark.parametrize("columns", [3, 5])
def test_matrices_of_abaqus(bar: Any, frequencies: list[float], tmp_path: pathlib.Path, columns: int) -> None:
    assert body(abaqus(bar, tmp_path, columns)) == pytest.approx(frequencies, rel=1e-9)


def op2(file: pathlib.Path, matrices: dict[str, np.ndarray]) -> None:
    """Write matrices as OUTPUT2 has them: records between their lengths, each with a key before it."""

    def record(*parts: bytes) -> bytes:
        data = b"".join(parts)
        return struct.pack("i", len(data)) + data + struct.pack("i", len(data))

    def keys(*values: int) -> bytes:
        return b"".join(record(struct.pack("i", value)) for value in values)

    out = keys(3) + record(struct.pack("3i", 11, 23, 26)) + keys(7) + record(b"NASTRAN FORT TAPE ID CODE - ")
    out += keys(2) + record(b"XXXXXXXX") + keys(-1, 0)
    for number, (name, matrix) in enumerate(matrices.items(), 101):
        rows, columns = matrix.shape
        label = record(name.ljust(8).encode())
        trailer = struct.pack("7i", number, columns, rows, 6, 2, rows, 10000)  # symmetric, of double precision
        out += keys(2) + label + keys(-1, 7) + record(trailer) + keys(-2, 1, 0, 2) + label + keys(-3, 1, 1)
        for k, column in enumerate(matrix.T):
            out += keys(1) if k else b""
            for i in np.flatnonzero(column):
                out += keys(3) + record(struct.pack("i", i + 1), struct.pack("d", column[i]))
            out += keys(0, -4 - k)
        out += keys(0, 0)
    file.write_bytes(out + keys(0))


def nastran(bar: Any, folder: pathlib.Path, suffix: str) -> dict[str, str]:
    """The bar's matrices MAAX and KAAX in one file of Nastran, as modifiers; of .pch with the nodes backwards."""
    bulk, pandas = extra("pyyeti.nastran.bulk", "a matrix"), pytest.importorskip("pandas")
    mass, stiffness, places = bar
    given = files(folder, *bar)
    file = folder / f"bar{suffix}"
    if suffix == ".op2":
        op2(file, {"MAAX": mass, "KAAX": stiffness})
    elif suffix == ".op4":
        op4 = extra("pyyeti.nastran.op4", "a matrix")
        op4.write(str(file), {"MAAX": mass, "KAAX": stiffness}, sparse="bigmat")
    else:
        numbers = np.repeat(np.arange(28, 0, -1), 3)  # nodes backwards
        rows = (3 * (numbers - 1)[:, None] + np.arange(3)).reshape(28, 3, 3)[:, 0].ravel()
        index = pandas.MultiIndex.from_arrays([numbers, np.tile((1, 2, 3), 28)], names=["id", "dof"])
        frames = {
            name: pandas.DataFrame(one[np.ix_(rows, rows)], index=index, columns=index)
            for name, one in (("MAAX", mass), ("KAAX", stiffness))
        }
        bulk.wtdmig(str(file), frames)
        given["nodeFile"] = str(folder / "bar.bdf")
        with pathlib.Path(given["nodeFile"]).open("w") as stream:
            bulk.wtgrids(stream, np.arange(1, 29), xyz=places)
    return given | {"massFile": f"{file}:MAAX", "stiffnessFile": f"{file}:kaax"}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".op2", ".op4", ".pch"])
def test_matrices_of_nastran(bar: Any, frequencies: list[float], tmp_path: pathlib.Path, suffix: str) -> None:
    pytest.importorskip("pyyeti", reason="no pyyeti: the extra mbfmu[nastran] has it")
    given, file = nastran(bar, tmp_path, suffix), tmp_path / f"bar{suffix}"
    assert str(np.array([3.96, 7.92])) == "[3.96 7.92]"  # which pyyeti would change
    assert body(given) == pytest.approx(frequencies, rel=1e-6)
    with pytest.raises(ModelError, match=rf"it has the matrices .*MAAX.*; name one, as in .*bar{suffix}:"):
        body(given | {"massFile": str(file)})
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(ModelError, match=rf"it is no {suffix} file, or is damaged|it has the matrices"):
        body(given)


def test_matrices_of_ansys_with_supports_are_refused() -> None:
    """file.full comes with its reader: a clamped bar of 321 nodes."""
    examples = pytest.importorskip("ansys.mapdl.reader.examples", reason="no reader: the extra mbfmu[ansys] has it")
    with pytest.raises(ValueError, match="63 of its displacements are held, as that of node"):
        matrix_files.read_matrix(examples.fullfile, "mass")
    nodes = matrix_files.read_nodes(examples.hexarchivefile)
    assert len(nodes) == 321
    assert nodes[2] == pytest.approx((1.0, 0.0, 0.0))
    for file, corners, volume in ((examples.hexarchivefile, 8, 5.0), (examples.tetarchivefile, 4, 10.0)):
        nodes, solids = matrix_files.read_nodes(file), matrix_files.read_cells(file)
        index = {number: k for k, number in enumerate(nodes)}
        places = np.array(list(nodes.values()))
        triangles = skin(places, {corners: np.vectorize(index.get)(solids[corners])})
        a, b, c = places[triangles].swapaxes(0, 1)
        assert np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6 == pytest.approx(volume, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("held", "1 of its displacements are held, as that of node 28 along 3"),
        ("rotation", "stiffnessFile has a rotation of node 28"),
        ("lacking", "massFile has no displacement of node 28 along z"),
        ("unknown", "node 99 of massFile is not in nodeFile"),
        ("internal", "belong to no node"),
        ("columns", "3 or 5 columns, not 4"),
        ("suffix", "is no kind of matrix that is read"),
    ],
)
def test_wrong_matrices_are_refused(bar: Any, tmp_path: pathlib.Path, change: str, message: str) -> None:
    given = files(tmp_path, *bar)
    lines = {}
    for name, matrix in (("mass", bar[0]), ("stiffness", bar[1])):
        lines[name] = [
            f"{i // 3 + 1},{i % 3 + 1},{j // 3 + 1},{j % 3 + 1},{float(matrix[i, j])!r}"
            for i, j in np.argwhere(np.tril(matrix)).tolist()
        ]
    if change == "held":
        lines["stiffness"][-1] = "28,3,28,3,1e36"
    elif change == "rotation":
        lines["stiffness"].append("28,4,28,4,5.0")
    elif change == "lacking":
        lines["mass"] = [line for line in lines["mass"] if not line.startswith("28,3")]
    elif change == "unknown":
        lines["mass"].append("99,1,99,1,5.0")
    elif change == "internal":
        lines["mass"].append("-1,1,-1,1,5.0")
    elif change == "columns":
        lines["mass"] = ["1,2,3,4"]
    for name, text in lines.items():
        (tmp_path / f"{name}.mtx").write_text("\n".join(text))
    if change == "suffix":
        given["massFile"] = given["nodeFile"]
    with pytest.raises(ModelError, match=message):
        body(given)


def cells(bar: Any) -> np.ndarray:
    """Corners of the bricks as numbers of nodes [6, 8], in the order of Abaqus and Nastran."""
    number = {tuple(np.rint(place / (0.1, 0.1, 0.08)).astype(int)): k for k, place in enumerate(bar[2], 1)}
    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    return np.array([[number[i + x, y, z] for z in (0, 1) for x, y in square] for i in range(6)])


def model_of(bar: Any, model: pathlib.Path) -> pathlib.Path:
    """The bar's nodes and bricks as a model of Abaqus, Nastran or Ansys."""
    suffix = model.suffix
    if suffix == ".inp":
        nodes = [f"{k}, {x}, {y}, {z}" for k, (x, y, z) in enumerate(bar[2].tolist(), 1)]
        bricks_of = [", ".join(map(str, (k, *one))) for k, one in enumerate(cells(bar).tolist(), 1)]
        model.write_text("\n".join(["*Node", *nodes, "*Element, type=C3D8", *bricks_of, ""]))
    elif suffix == ".cdb":
        nodes = [f"{k:8d}{0:8d}{0:8d}" + "".join(f"{x:20.13E}" for x in row) for k, row in enumerate(bar[2], 1)]
        bricks_of = [  # material, type, constants, section, system, birth, model, shape, corners, unused, number
            "".join(f"{part:8d}" for part in (1, 1, 1, 1, 0, 0, 0, 0, 8, 0, k, *one))
            for k, one in enumerate(cells(bar).tolist(), 1)
        ]
        blocks = ["/PREP7", "ET,1,185", "NBLOCK,6,SOLID,28,28", "(3i8,6e20.13)", *nodes, "N,R5.3,LOC,-1,"]
        blocks += ["EBLOCK,19,SOLID,6,6", "(19i8)", *bricks_of, "      -1", "FINISH", ""]
        model.write_text("\n".join(blocks))
    else:
        nodes = [f"GRID,{k},,{x},{y},{z}" for k, (x, y, z) in enumerate(bar[2].tolist(), 1)]
        bricks_of = [
            f"CHEXA,{k},1,{','.join(map(str, one[:6]))},+\n+,{one[6]},{one[7]}"
            for k, one in enumerate(cells(bar).tolist(), 1)
        ]
        model.write_text("\n".join([*nodes, *bricks_of, "ENDDATA", ""]))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".inp", ".bdf", ".cdb"])
def test_the_surface_of_a_model_is_drawn(bar: Any, tmp_path: pathlib.Path, suffix: str) -> None:
    """Closed, seen from outside, by nodes that move as those of the matrices do."""
    if suffix == ".bdf":
        pytest.importorskip("pyyeti", reason="no pyyeti: the extra mbfmu[nastran] has it")
    if suffix == ".cdb":
        pytest.importorskip("ansys.mapdl.reader", reason="no reader: the extra mbfmu[ansys] has it")
    given, model = files(tmp_path, *bar), model_of(bar, tmp_path / f"bar{suffix}")
    made = ModalBody(**given | {"nodeFile": str(model)}, held=HELD, attached=ATTACHED, nModes=2)
    outline, (_, _, places) = made.reduction().outline, bar
    assert outline is not None
    a, b, c = outline.points[outline.triangles].swapaxes(0, 1)
    assert np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6 == pytest.approx(0.6 * 0.1 * 0.08, rel=1e-12)
    assert len(outline.triangles) == 2 * (4 * 6 + 2)
    plain = ModalBody(**given, held=HELD, attached=ATTACHED, nModes=2).reduction()
    assert plain.outline is None
    end = np.argmax(outline.points @ (1, 0.1, 0.01))
    mean = outline.displacements[outline.points[:, 0] > 0.59].mean(axis=0)
    assert outline.points[end] + places[:4].mean(axis=0) == pytest.approx(places[-1], abs=1e-12)
    assert mean == pytest.approx(plain.displacements[0], abs=1e-9)


def test_nodes_of_elements_are_found_by_their_numbers(bar: Any) -> None:
    """Matrices that have them backwards; an element with a node that they lack is left out."""
    mass, stiffness, places = bar
    numbers = np.arange(28, 0, -1)
    rows = (3 * (numbers - 1)[:, None] + np.arange(3)).ravel()
    dofs = np.column_stack([np.repeat(numbers, 3), np.tile((1, 2, 3), 28)])
    M, K = (matrix_files.Matrix(scipy.sparse.csc_matrix(one[np.ix_(rows, rows)]), dofs) for one in (mass, stiffness))
    corners = np.vstack([cells(bar), (25, 26, 27, 28, 96, 97, 98, 99)])
    body = matrix_files.of_matrices(M, K, dict(enumerate(places, 1)), {8: corners})
    assert body.places == pytest.approx(places[::-1])
    a, b, c = body.places[body.surface].swapaxes(0, 1)
    assert np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6 == pytest.approx(0.6 * 0.1 * 0.08, rel=1e-12)


def test_elements_that_cannot_be_read_leave_a_body_without_a_surface(bar: Any, tmp_path: pathlib.Path) -> None:
    given = files(tmp_path, *bar)
    model = tmp_path / "bar.inp"
    nodes = [f"{k}, {x}, {y}, {z}" for k, (x, y, z) in enumerate(bar[2].tolist(), 1)]
    model.write_text("\n".join(["*Node", *nodes, "*Element, type=UNKNOWN7", "1, 1, 2, 3", ""]))
    made = ModalBody(**given | {"nodeFile": str(model)}, held=HELD, attached=ATTACHED, nModes=2)
    with pytest.warns(UserWarning, match=r"nodeFile = .*bar.inp.*the surface of the body is not drawn"):
        assert made.reduction().outline is None


def test_faces_that_elements_share_are_inside() -> None:
    """A brick, a wedge and a pyramid on it, and a brick of a wedge's corners: volumes of their closed surfaces."""
    cube = np.array(
        [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], dtype=float
    )
    places = np.vstack([cube, (0.5, 0.5, 2.0), (2.0, 0.0, 0.0), (2.0, 0.0, 1.0)])
    whole = {8: np.arange(8)[None], 5: np.array([[4, 5, 6, 7, 8]]), 6: np.array([[1, 9, 2, 5, 10, 6]])}
    collapsed = {8: np.array([np.arange(8), (1, 9, 2, 2, 5, 10, 6, 6)])}
    for cells_of, volume in ((whole, 1 + 1 / 3 + 1 / 2), (collapsed, 1.5)):
        a, b, c = places[skin(places, cells_of)].swapaxes(0, 1)
        assert np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6 == pytest.approx(volume, rel=1e-12)


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("sparse", [False, True])
def test_matrix_market_is_read_as_scipy_writes_it(tmp_path: pathlib.Path, symmetry: str, sparse: bool) -> None:
    random = np.random.default_rng(0)
    matrix = random.normal(size=(5, 5)) * (random.random((5, 5)) < 0.5)
    if symmetry == "symmetric":
        matrix = matrix + matrix.T
    file = tmp_path / "one.mtx"
    scipy.io.mmwrite(
        file, scipy.sparse.coo_matrix(matrix) if sparse else matrix, comment="one\n two", symmetry=symmetry
    )
    assert symmetry in file.read_text()
    found = matrix_files.read_matrix(str(file), "mass")
    assert found.dofs is None
    assert found.values.toarray() == pytest.approx(matrix, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("coordinate real general\n2 3 1\n2 4 1.0\n", r"it has an entry at 2, 4, and 2 x 3 entries; write or copy it"),
        ("coordinate real general\n2 3 1\n0 1 1.0\n", r"it has an entry at 0, 1, and 2 x 3 entries"),
        ("coordinate real general\n2 3 2\n1 1 1.0\n1.5 2 1.0\n", r"it has an entry at 1\.5, 2, and 2 x 3 entries"),
        ("coordinate real general\n2 3\n1 1 1.0\n", r"it says no size; write rows, columns and"),
        ("coordinate real general\n0 3 1\n1 1 1.0\n", r"it says no size"),
        ("array real general\n2 3 6\n", r"it says no size"),
        ("array real general\n", r"it says no size"),
        ("array complex general\n1 1\n1 0\n", r"%%matrixmarket matrix array complex general is no head of a matrix"),
    ],
)  # fmt: skip
def test_matrix_market_that_says_something_else_is_refused(tmp_path: pathlib.Path, text: str, message: str) -> None:
    (tmp_path / "one.mtx").write_text(f"%%MatrixMarket matrix {text}")
    with pytest.raises(ValueError, match=message):
        matrix_files.read_matrix(str(tmp_path / "one.mtx"), "mass")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"numbers": np.array([1.0, np.nan])}, "it has nodes that are nowhere; it is damaged"),
        ({"places": np.array([[0, 0, 0], [0, np.inf, 0]])}, "it has nodes that are nowhere; it is damaged"),
        ({"places": np.zeros((3, 3))}, "it has nodes that are nowhere; it is damaged"),
    ],
    ids=["number", "place", "count"],
)
def test_nodes_of_ansys_that_are_nowhere_are_refused(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, np.ndarray], message: str
) -> None:
    """As its reader gives those of damaged files; without a change they are read."""
    given = {"numbers": np.array([7, 3]), "places": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    monkeypatch.setattr(matrix_files.ansys_files, "read", lambda what, file: given if what == "nodes" else None)
    assert {number: place.tolist() for number, place in matrix_files.read_nodes("a.cdb").items()} == {
        7: [1, 2, 3], 3: [4, 5, 6]
    }  # fmt: skip
    given = given | change
    with pytest.raises(ValueError, match=message):
        matrix_files.read_nodes("a.cdb")


def test_matrices_and_elements_of_ansys_are_taken_from_what_its_reader_gives(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upper triangles of symmetric matrices, directions from 0; elements by the number of their corners."""
    matrices = {
        "dofs": np.array([[4, 0], [4, 1], [9, 2]]), "held": np.zeros((0, 2), dtype=int),
        "mass_places": np.array([[0, 0], [0, 2], [1, 1], [2, 2]]), "mass_values": np.array([2.0, -0.5, 3.0, 4.0]),
    }  # fmt: skip
    kinds = {count: kind for kind, count in matrix_files.ansys_files.VTK.items()}
    cells = {str(kinds[4]): np.array([[1, 2, 3, 4]]), str(kinds[8]): np.arange(16).reshape(2, 8)}
    given: dict[str, Any] = {"matrices": matrices, "cells": cells}
    file = str(tmp_path / "a.full")
    pathlib.Path(file).write_bytes(b"")
    monkeypatch.setattr(matrix_files.ansys_files, "read", lambda what, file: given[what])
    found = matrix_files.read_matrix(file, "mass")
    np.testing.assert_array_equal(found.values.toarray(), [[2, 0, -0.5], [0, 3, 0], [-0.5, 0, 4]])
    np.testing.assert_array_equal(found.dofs, [[4, 1], [4, 2], [9, 3]])
    assert {count: nodes.tolist() for count, nodes in matrix_files.read_cells("a.cdb").items()} == {
        4: [[1, 2, 3, 4]], 8: np.arange(16).reshape(2, 8).tolist()
    }  # fmt: skip
    matrices["held"] = np.array([[9, 0], [9, 1]])
    with pytest.raises(
        ValueError, match=r"2 of its displacements are held, as that of node 9 along 1; .* the free body"
    ):
        matrix_files.read_matrix(file, "mass")
    given["cells"] = {str(kinds[4]): np.array([[1, 2, 3]])}
    with pytest.raises(ValueError, match="it has elements that lack some of their 4 corners; it is damaged"):
        matrix_files.read_cells("a.cdb")


@pytest.mark.slow
def test_grids_in_a_system_of_their_own_are_refused(bar: Any, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyyeti", reason="no pyyeti: the extra mbfmu[nastran] has it")
    model = model_of(bar, tmp_path / "bar.bdf")
    for field in (2, 6):
        lines = model.read_text().splitlines()
        words = [*lines[3].split(","), "", "", ""]
        words[field] = "7"
        lines[3] = ",".join(words[:7])
        (tmp_path / "turned.bdf").write_text("\n".join(lines))
        with pytest.raises(ValueError, match="in a coordinate system of their own; write basic ones"):
            matrix_files.read_nodes(str(tmp_path / "turned.bdf"))


@pytest.mark.slow
def test_complex_stiffness_is_refused(bar: Any, tmp_path: pathlib.Path) -> None:
    pytest.importorskip("pyyeti", reason="no pyyeti: the extra mbfmu[nastran] has it")
    bulk, pandas = extra("pyyeti.nastran.bulk", "a matrix"), pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_product([[1, 2], [1, 2, 3]], names=["id", "dof"])
    frame = pandas.DataFrame((1 + 0.02j) * np.eye(6), index=index, columns=index)
    bulk.wtdmig(str(tmp_path / "bar.pch"), {"KAAX": frame})
    with pytest.raises(ValueError, match="it is complex; write the stiffness without structural damping"):
        matrix_files.read_matrix(str(tmp_path / "bar.pch"), "stiffness")
