"""Files of bodies that bend, damaged at random: each is a body or one line that says what is wrong."""

from __future__ import annotations

import pathlib
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_matrix_files import abaqus, model_of, nastran
from test_modal_body import ATTACHED, HELD, bricks, files

from mbfmu.components import ModalBody
from mbfmu.errors import ModelError

meshio = pytest.importorskip("meshio", reason="no meshio: the extra mbfmu[finite-elements] has it")

MESH = pathlib.Path(__file__).with_name("box.msh")


def damaged(data: bytes, by: random.Random) -> bytes:
    """Cut short, with bytes that lack, are others or are too many, with lines in another order, with other numbers."""
    text, size = bytearray(data), len(data)
    at = by.randrange(size)
    kind = by.randrange(6)
    if kind == 0:
        return data[:at]
    if kind == 1:
        del text[at : at + by.randrange(1, 40)]
    elif kind == 2:
        text[at] = by.randrange(256)
    elif kind == 3:
        text[at:at] = bytes(by.randrange(256) for _ in range(by.randrange(1, 6)))
    elif kind == 4:
        lines = data.split(b"\n")
        one, other = by.randrange(len(lines)), by.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
        return b"\n".join(lines)
    else:
        for _ in range(5):
            at = by.randrange(size)
            text[at : at + 1] = by.choice([b"-", b"9", b".", b"e", b" ", b"0", b"nan", b"1e400"])
    return bytes(text)


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return files(tmp_path_factory.mktemp("bar"), *bricks()) | {"held": HELD, "attached": ATTACHED, "nModes": 2}


#: Kind of file -> the parameter that names it, and the library that reads it.
KINDS = {
    "sid": ("fileName", ""), ".msh": ("meshFile", "skfem"), "mesh.inp": ("meshFile", "skfem"),
    "massFile": ("massFile", ""), "stiffnessFile": ("stiffnessFile", ""), "nodeFile": ("nodeFile", ""),
    "abaqus.mtx": ("stiffnessFile", ""), ".op2": ("stiffnessFile", "pyyeti"), ".op4": ("stiffnessFile", "pyyeti"),
    ".pch": ("stiffnessFile", "pyyeti"), ".inp": ("nodeFile", "meshio"), ".bdf": ("nodeFile", "pyyeti"),
    ".cdb": ("nodeFile", "ansys.mapdl.reader"), ".full": ("massFile", "ansys.mapdl.reader"),
}  # fmt: skip


def source(kind: str, given: dict[str, Any], folder: pathlib.Path) -> tuple[bytes, str, dict[str, Any]]:
    """What a good file of a kind has, its suffix, and the modifiers of a body beside it."""
    name, bar = KINDS[kind][0], bricks()
    rest = {"held": HELD, "attached": ATTACHED, "nModes": 2}
    if kind == "sid":
        return ModalBody(**given).sid_text().encode(), ".SID_FEM", {"attached": "1"}
    if kind == ".msh":
        return MESH.read_bytes(), kind, {"held": "end", "nModes": 2}
    if kind == "mesh.inp":
        file = folder / "mesh.inp"
        box = meshio.gmsh.read(MESH)
        sets = {"end": np.flatnonzero(np.isclose(box.points[:, 2], 3.0))}
        meshio.abaqus.write(file, meshio.Mesh(box.points, [("tetra10", box.cells_dict["tetra10"])], point_sets=sets))
        return file.read_bytes(), ".inp", {"held": "end", "nModes": 2}
    if kind == ".full":
        examples = pytest.importorskip("ansys.mapdl.reader.examples")
        return pathlib.Path(examples.fullfile).read_bytes(), kind, given | {"nodeFile": examples.hexarchivefile}
    if kind == ".cdb":
        pytest.importorskip("ansys.mapdl.reader")
    if kind in (".inp", ".bdf", ".cdb"):
        return model_of(bar, folder / f"bar{kind}").read_bytes(), kind, given
    if kind in (".op2", ".op4", ".pch"):
        found = nastran(bar, folder, kind)
        return (folder / f"bar{kind}").read_bytes(), f"{kind}:KAAX", found | rest
    found = abaqus(bar, folder, 5) | rest if kind == "abaqus.mtx" else given
    file = pathlib.Path(found[name])
    return file.read_bytes(), file.suffix, found


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_damaged_file_is_a_body_or_a_message(
    kind: str, given: dict[str, Any], tmp_path: pathlib.Path, campaign: Callable[[Any, Any], Any]
) -> None:
    name, library = KINDS[kind]
    if library:
        pytest.importorskip(library)
    by, messages, bodies = random.Random(kind), [], []
    data, suffix, modifiers = source(kind, given, tmp_path)
    sample = 3 if "ansys" in library else 20  # each is read by a process of its own
    count = campaign(sample, 1000)
    for k in range(-1, count):
        file = tmp_path / f"{k}{suffix.partition(':')[0]}"
        file.write_bytes(data if k < 0 else damaged(data, by))
        try:
            body = ModalBody(**modifiers | {name: str(tmp_path / f"{k}{suffix}")}).flexibility()
            bodies.append((k, body.integrals.m, body.integrals.second, body.integrals.mass_matrix, body.K))
        except ModelError as error:
            messages.append(str(error))
        file.unlink()
    assert len(messages) >= count // 4
    assert kind == ".full" or bodies[0][0] == -1  # which has supports
    for k, m, second, *matrices in bodies:
        assert all(np.isfinite(matrix).all() for matrix in matrices)
        if "mesh" not in name:  # what lacks elements is another body
            assert (k, m) == pytest.approx((k, bodies[0][1]), rel=1e-6)
            assert second == pytest.approx(bodies[0][2], rel=1e-6, abs=1e-9)
    assert not [message for message in messages if "\n" in message or len(message) > 600]


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda text: text[:-20], r"it says \d+ entries and has \d+.*; it was cut short or changed"),
        (lambda text: text.rsplit(" ", 1)[0], r"it says \d+ entries and has \d+, one of which is '\d+ \d+'"),
        (lambda text: text.replace("coordinate", "coordinates"), "is no head of a matrix"),
        (lambda text: text.replace("\n84 84 ", "\n84 x ", 1), "it says no size"),
    ],
)
def test_a_matrix_that_is_cut_short_is_refused(
    given: dict[str, Any], tmp_path: pathlib.Path, cut: Callable[[str], str], message: str
) -> None:
    """SciPy's reader ends the program where the last line is cut."""
    file = tmp_path / "stiffness.mtx"
    file.write_text(cut(pathlib.Path(given["stiffnessFile"]).read_text().rstrip()))
    with pytest.raises(ModelError, match=message):
        ModalBody(**given | {"stiffnessFile": str(file)}).reduction()


def test_points_that_are_nowhere_are_refused(tmp_path: pathlib.Path) -> None:
    text = MESH.read_text()
    line = next(line for line in text.splitlines() if line.count(".") or line.startswith("0 0 0"))
    file = tmp_path / "box.msh"
    file.write_text(text.replace(line, line.replace(line.split()[0], "nan", 1), 1))
    with pytest.raises(ModelError, match=r"meshFile = .*(nowhere|damaged)"):
        ModalBody(meshFile=str(file), held="end", nModes=2).reduction()
