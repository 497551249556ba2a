"""Bodies from meshes: boxes of tetrahedra against closed forms, and against their own matrices."""

from __future__ import annotations

import itertools
import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pygltflib
import pytest
import scipy

import mbfmu
from mbfmu.cli import main
from mbfmu.components import ModalBody, World
from mbfmu.components.flexible.finite_elements import Material, of_mesh
from mbfmu.components.flexible.outlines import MOST_NUMBERS, outline, simplified
from mbfmu.dynamics import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.scene.gltf import write_glb
from mbfmu.scene.motion import motion

meshio = pytest.importorskip("meshio", reason="no meshio: the extra mbfmu[finite-elements] has it")
pytest.importorskip("skfem", reason="no scikit-fem: the extra mbfmu[finite-elements] has it")

LENGTHS = (0.5, 0.04, 0.03)
#: Without Poisson's ratio a clamped bar bends as Timoshenko's beam does.
MATERIAL = Material(2e9, 0.0, 1000.0)
MASS = MATERIAL.density * float(np.prod(LENGTHS))
#: Edges in the order of meshio's quadratic tetrahedra.
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


def box(
    file: pathlib.Path, sizes: tuple[int, int, int] = (10, 1, 1),
    place: Callable[[np.ndarray], np.ndarray] | None = None, quadratic: bool = False, unit: float = 1.0,
) -> pathlib.Path:  # fmt: skip
    """A mesh of six tetrahedra a brick, whose faces at the ends are physical groups; `place` moves its nodes."""
    grid = list(itertools.product(*(range(n + 1) for n in sizes)))
    number = {place: k for k, place in enumerate(grid)}
    cells = []
    for cell in itertools.product(*(range(n) for n in sizes)):
        for order in itertools.permutations(np.eye(3, dtype=int)):
            corners = np.vstack([cell, cell + np.cumsum(order, axis=0)])
            one = [number[tuple(corner)] for corner in corners.tolist()]
            cells.append(one if np.linalg.det(order) > 0 else [one[0], one[2], one[1], one[3]])
    points = (np.array(grid) * LENGTHS / sizes).tolist()
    faces: dict[str, list[list[int]]] = {"base": [], "tip": []}
    for name, x in (("base", 0), ("tip", sizes[0])):
        on = {k for k, where in enumerate(grid) if where[0] == x}
        faces[name] = [corners for corners in (sorted(set(one) & on) for one in cells) if len(corners) == 3]
    if quadratic:
        middles: dict[tuple[int, ...], int] = {}
        for one in cells:
            for edge in EDGES:
                key = tuple(sorted(one[k] for k in edge))
                if key not in middles:
                    middles[key] = len(points)
                    points.append(np.mean([points[k] for k in key], axis=0).tolist())
            one += [middles[tuple(sorted(one[k] for k in edge))] for edge in EDGES]
        for part in faces.values():
            for one in part:
                one += [middles[tuple(sorted((one[i], one[j])))] for i, j in ((0, 1), (1, 2), (2, 0))]
    triangle, tetra = ("triangle6", "tetra10") if quadratic else ("triangle", "tetra")
    tags = [np.full(len(faces["base"]), 7), np.full(len(faces["tip"]), 8), np.full(len(cells), 9)]
    mesh = meshio.Mesh(
        (np.array(points) if place is None else place(np.array(points))) / unit,
        [(triangle, faces["base"]), (triangle, faces["tip"]), (tetra, cells)],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"base": np.array([7, 2]), "tip": np.array([8, 2]), "bar": np.array([9, 3])},
    )
    meshio.gmsh.write(file, mesh, fmt_version="2.2", binary=False)
    return file


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return box(tmp_path_factory.mktemp("box") / "bar.msh")


def bar(mesh: pathlib.Path, **modifiers: Any) -> ModalBody:
    """The bar as a body."""
    given = {"E": MATERIAL.E, "nu": MATERIAL.nu, "density": MATERIAL.density, "held": "base", "attached": "tip"}
    return ModalBody(meshFile=str(mesh), **given | modifiers)


def test_mass_and_inertia_of_a_box_are_exact(mesh: pathlib.Path) -> None:
    found, (a, b, c) = bar(mesh, nModes=1).checks(), LENGTHS
    assert found["mass"] == pytest.approx(MASS, rel=1e-12)
    assert found["size"] == pytest.approx(LENGTHS)
    assert found["center"] == pytest.approx((a / 2, 0, 0), abs=1e-12)
    inertia = MASS / 12 * np.diag((b**2 + c**2, a**2 + c**2, a**2 + b**2))
    assert np.array(found["inertia"]) == pytest.approx(inertia, abs=1e-12 * inertia.max())
    assert max(found["free_frequencies"][:6]) < 1e-4 * found["free_frequencies"][6]


def test_a_bar_of_tetrahedra_bends_as_timoshenkos_beam(mesh: pathlib.Path) -> None:
    """Under a force at its end; as it is no plane that each section stays, within some parts in a thousand."""
    found = bar(mesh, nModes=0).reduction()
    a, b, c = LENGTHS
    for axis, I in ((1, c * b**3 / 12), (2, b * c**3 / 12)):  # noqa: E741
        shape = found.displacements[0, axis]
        compliance = shape @ np.linalg.solve(found.flexibility.K, shape)
        exact = a**3 / (3 * MATERIAL.E * I) + a / (5 / 6 * MATERIAL.E / 2 * b * c)
        assert compliance == pytest.approx(exact, rel=3e-3)
    stretch = found.displacements[0, 0]
    assert stretch @ np.linalg.solve(found.flexibility.K, stretch) == pytest.approx(a / (MATERIAL.E * b * c), rel=1e-9)


def test_its_frequencies_are_those_of_timoshenkos_beam(mesh: pathlib.Path) -> None:
    """By Euler and Bernoulli 3.51601527 ...; shear and the inertia of sections take off what this series says."""
    a, b, c = LENGTHS
    frequencies = 2 * np.pi * np.array(bar(mesh, nModes=6).checks()["frequencies"])
    for k, h in ((0, c), (1, b)):
        root, slender = 1.8751040687, (h / a) ** 2 / 12
        euler = root**2 * np.sqrt(MATERIAL.E * slender / MATERIAL.density) / a
        # both by Rayleigh's quotient of the first mode w: its slope's square, and shear w''' / kGA
        s, weights = np.polynomial.legendre.leggauss(30)
        s, ratio = root * (s + 1) / 2, (np.cosh(root) + np.cos(root)) / (np.sinh(root) + np.sin(root))
        w = np.cosh(s) - np.cos(s) - ratio * (np.sinh(s) - np.sin(s))
        slope = root * (np.sinh(s) + np.sin(s) - ratio * (np.cosh(s) - np.cos(s)))
        third = root**3 * (np.sinh(s) - np.sin(s) - ratio * (np.cosh(s) + np.cos(s)))
        mass, turning, shear = weights @ w**2, weights @ slope**2, weights @ third**2 / root**4
        less = slender * (turning + 2.4 * shear) / mass / 2  # E / kG = 2 / (5 / 6)
        assert less > 1e-3
        assert frequencies[k] == pytest.approx(euler * (1 - less), rel=2.5e-3)


def test_curved_tetrahedra_follow_a_bent_bar(tmp_path: pathlib.Path) -> None:
    """z + 0.6 x^2 is quadratic, so that ten nodes a tetrahedron tell it exactly; its volume stays."""

    def bent(points: np.ndarray) -> np.ndarray:
        return points + np.outer(0.6 * points[:, 0] ** 2, (0, 0, 1))

    a, c = LENGTHS[0], LENGTHS[2]
    for quadratic in (True, False):
        found = of_mesh(str(box(tmp_path / "bent.msh", (4, 1, 1), bent, quadratic)), MATERIAL, 1.0)
        weights = np.asarray(found.mass.sum(axis=0)).ravel()[2::3]
        assert weights.sum() == pytest.approx(MASS, rel=1e-12)
        height = weights @ found.places[:, 2] / MASS
        assert (abs(height - (0.6 * a**2 / 3 + c / 2)) < 1e-12) == quadratic
        rigid = np.cross((0.3, 0.5, 0.7), found.places).ravel()
        assert np.abs(found.stiffness @ rigid).max() < 1e-10 * abs(found.stiffness).max()
        tip = found.groups["tip"]
        moved = tip.motion(found.places) @ rigid
        assert moved[:3] == pytest.approx(np.cross((0.3, 0.5, 0.7), tip.middle(found.places)), abs=1e-12)
        assert moved[3:] == pytest.approx((0.3, 0.5, 0.7), abs=1e-10)


def test_a_load_counts_by_area_on_an_uneven_surface(tmp_path: pathlib.Path) -> None:
    """Of a face with small triangles on one side."""

    def uneven(points: np.ndarray) -> np.ndarray:
        middle = np.isclose(points[:, 1], LENGTHS[1] / 2)
        return points + np.outer(0.4 * LENGTHS[1] * middle, (0, 1, 0))

    found = of_mesh(str(box(tmp_path / "uneven.msh", (2, 2, 1), uneven)), MATERIAL, 1.0)
    tip = found.groups["tip"]
    assert tip.middle(found.places) == pytest.approx((LENGTHS[0], LENGTHS[1] / 2, LENGTHS[2] / 2), rel=1e-12)
    assert tip.weights.sum() == pytest.approx(LENGTHS[1] * LENGTHS[2], rel=1e-12)


def test_a_surface_that_is_much_curved_has_its_area(tmp_path: pathlib.Path) -> None:
    """As those around a hole are in coarse meshes: half of a cylinder of one brick's width, by its quadratic arcs."""

    def bent(points: np.ndarray) -> np.ndarray:
        r, angle = 0.02, np.pi * points[:, 1] / LENGTHS[1] / 2
        return np.stack(
            [points[:, 0] - r * np.sin(2 * angle) * (1 - points[:, 0] / 0.5), points[:, 1], points[:, 2]], axis=1
        )

    body = of_mesh(str(box(tmp_path / "bent.msh", (4, 1, 1), bent, quadratic=True)), MATERIAL, 1.0)
    s, weights = np.polynomial.legendre.leggauss(20)
    slope = -0.02 * 4 * s / LENGTHS[1]  # of the parabola through three points, as y goes from -1 to 1
    exact = LENGTHS[2] * LENGTHS[1] / 2 * weights @ np.sqrt(1 + slope**2)
    assert body.groups["base"].weights.sum() == pytest.approx(exact, rel=1e-3)


@pytest.mark.slow
def test_the_command_makes_a_file_of_a_mesh_and_it_is_the_same_body_by_matrices(
    mesh: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = box(tmp_path / "bar.msh", unit=0.001)  # in mm
    options = ["--material", "2e9,0,1000", "--unit", "0.001", "--held", "base", "--attach", "tip", "--json"]
    assert main(["flex", str(small), *options, "--stress-at", "250 20 30", "-o", str(tmp_path / "bar.SID_FEM")]) == 0
    assert ModalBody(fileName=str(tmp_path / "bar.SID_FEM"), stressAt="2").reduction().stress is not None
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == str(tmp_path / "bar.SID_FEM")
    assert found["mass"] == pytest.approx(MASS, rel=1e-12)
    again = ModalBody(fileName=str(tmp_path / "bar.SID_FEM"), attached="1").checks()
    assert again["frequencies"] == pytest.approx(found["frequencies"], rel=1e-9)
    elements = bar(mesh).finite_elements()
    for name, matrix in (("mass", elements.mass), ("stiffness", elements.stiffness)):
        scipy.io.mmwrite(tmp_path / f"{name}.mtx", matrix)
    lines = [f"{k}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(elements.places.tolist())]
    (tmp_path / "nodes.csv").write_text("\n".join(lines))
    held, tip = (" ".join(map(str, elements.groups[name].nodes)) for name in ("base", "tip"))
    matrices = ModalBody(
        massFile=str(tmp_path / "mass.mtx"), stiffnessFile=str(tmp_path / "stiffness.mtx"),
        nodeFile=str(tmp_path / "nodes.csv"), held=held, attached=tip,
    )  # fmt: skip
    assert matrices.checks()["frequencies"][:6] == pytest.approx(found["frequencies"][:6], rel=1e-4)
    one, other = (np.sort(body.checks()["free_frequencies"])[6:] for body in (bar(mesh), matrices))
    assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("base", "foot"), "no surface named 'base'; it has foot, tip"),
        (lambda text: text[: len(text) // 2], "cannot be read"),
    ],
)
def test_wrong_meshes_are_refused(
    mesh: pathlib.Path, tmp_path: pathlib.Path, change: Callable[[str], str], message: str
) -> None:
    file = tmp_path / "bar.msh"
    text = change(mesh.read_text())
    assert text != mesh.read_text()
    file.write_text(text)
    with pytest.raises(ModelError, match=message):
        bar(file).reduction()


@pytest.mark.slow
def test_a_mesh_in_another_unit_is_asked_about(mesh: pathlib.Path) -> None:
    with pytest.warns(
        UserWarning, match=r"meshFile: its mass is 6e-13 kg, its size 5e-05 x .* give meshUnit, .*0\.001 of"
    ):
        bar(mesh, meshUnit=1e-4).reduction()
    with pytest.warns(
        UserWarning, match=r"meshFile: its mass is 6e\+08 kg, its size 500 x 40 x 30 m; .* give meshUnit"
    ):
        bar(mesh, meshUnit=1e3).reduction()
    with pytest.raises(
        ModelError, match=r"meshFile: its mass is 6e-12 kg, .*, 1e-08 kg/m3 in the box around it; .*density"
    ):
        bar(mesh, density=1e-8).reduction()
    with pytest.warns(UserWarning, match=r"E = 50000 Pa: is that of a jelly, with 1000 kg/m3; .* 1e6 of each MPa"):
        bar(mesh, E=5e4).reduction()


@pytest.mark.slow
@pytest.mark.parametrize(("held", "loose"), [(0.0, 0.75), (1.0, 0.25)])
def test_parts_of_a_mesh_that_nothing_joins_are_told(
    mesh: pathlib.Path, tmp_path: pathlib.Path, held: float, loose: float
) -> None:
    """As those of an assembly from CAD are, where their faces touch and have nodes of their own."""
    found = meshio.gmsh.read(mesh)
    count, tetra = len(found.points), found.cells_dict["tetra"]
    points = np.vstack([found.points, found.points + np.array((LENGTHS[0], 0, 0))])
    sets = {"base": np.flatnonzero(np.abs(points[:, 0] - held) < 1e-9)}
    meshio.abaqus.write(
        tmp_path / "two.inp", meshio.Mesh(points, [("tetra", np.vstack([tetra, tetra + count]))], point_sets=sets)
    )
    with pytest.raises(ModelError, match=f"meshFile: falls into 2 parts .* around {loose}, 0.02, 0.015 m is not held"):
        bar(tmp_path / "two.inp", attached="").reduction()


def test_a_mesh_that_is_not_held_has_its_surfaces_told(mesh: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"held = '': holds no rigid body; .*; it has base, tip"):
        bar(mesh, held="").reduction()


def test_tetrahedra_without_volume_are_refused(tmp_path: pathlib.Path) -> None:
    flat = box(tmp_path / "flat.msh", (2, 1, 1), lambda points: points * (1, 1, 0))
    with pytest.raises(ModelError, match="12 of 12 tetrahedra have no volume"):
        bar(flat).reduction()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("folded", "tetrahedra overlap around"),
        ("doubled", "three tetrahedra share a face around"),
        ("cracked", "share an edge that has two middles around"),
    ],
)
def test_tetrahedra_that_are_no_body_are_refused(tmp_path: pathlib.Path, change: str, message: str) -> None:
    """Their mass would be that of another body, without a word."""
    read = meshio.read(box(tmp_path / "good.msh", (2, 2, 2), quadratic=change == "cracked"))
    kind, points = "tetra10" if "tetra10" in read.cells_dict else "tetra", read.points.copy()
    cells = read.cells_dict[kind].copy()
    inner = np.flatnonzero(np.isclose(points, np.array(LENGTHS) / 2).all(axis=1))[0]
    if change == "folded":
        points[inner] += (LENGTHS[0], 0, 0)
    elif change == "doubled":
        cells = np.vstack([cells, cells[:1]])
    else:
        points, cells[0, 6] = np.vstack([points, points[cells[0, 6]] + 1e-3]), len(points)
    meshio.gmsh.write(tmp_path / "bad.msh", meshio.Mesh(points, [(kind, cells)]), fmt_version="2.2", binary=False)
    with pytest.raises(ValueError, match=rf"{message} .* m; it is damaged or not meshed as one"):
        of_mesh(str(tmp_path / "bad.msh"), MATERIAL, 1.0)


def test_a_mesh_of_a_surface_alone_is_refused(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "shell.msh"
    mesh = meshio.Mesh(np.eye(3), [("triangle", [[0, 1, 2]])])
    meshio.gmsh.write(file, mesh, fmt_version="2.2", binary=False)
    with pytest.raises(ModelError, match="needs tetrahedra, all of 4 or all of 10"):
        bar(file).reduction()


def test_a_mesh_of_gmsh_4_is_read() -> None:
    """box.msh: of gmsh 4.15, a box of 1 x 2 x 3 with a named surface at its end, quadratic tetrahedra, in mm."""
    found = of_mesh(str(pathlib.Path(__file__).parent / "box.msh"), MATERIAL, 0.001)
    assert found.mass.sum() / 3 == pytest.approx(6e-9 * MATERIAL.density, rel=1e-12)
    assert list(found.groups) == ["end"]
    assert found.groups["end"].middle(found.places) == pytest.approx((0.0005, 0.001, 0.003), rel=1e-12)
    a, b, c = found.places[found.surface].swapaxes(0, 1)
    flow = np.einsum("ki,ki->k", np.cross(b - a, c - a), a).sum() / 6  # the volume, by its surface from outside
    assert flow == pytest.approx(6e-9, rel=1e-12)


def test_surfaces_of_abaqus_are_sets_of_nodes(mesh: pathlib.Path, tmp_path: pathlib.Path) -> None:
    found = meshio.gmsh.read(mesh)
    sets = {name: np.flatnonzero(np.isclose(found.points[:, 0], x)) for name, x in (("base", 0.0), ("tip", LENGTHS[0]))}
    written = meshio.Mesh(found.points, [("tetra", found.cells_dict["tetra"])], point_sets=sets)
    meshio.abaqus.write(tmp_path / "bar.inp", written)
    one, other = (body.checks()["frequencies"] for body in (bar(tmp_path / "bar.inp"), bar(mesh)))
    assert one == pytest.approx(other, rel=1e-9)


def test_a_mesh_without_its_libraries_names_the_extra(mesh: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "skfem", None)
    with pytest.raises(Exception, match=r"needs skfem.*mbfmu\[finite-elements\]"):
        bar(mesh, density=999.0).reduction()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "a mesh needs --material"),
        (["--material", "2e9,0"], "give Young's modulus, Poisson's ratio and density"),
    ],
)
def test_wrong_materials_are_refused(
    mesh: pathlib.Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flex", str(mesh), *options]) == 2
    assert message in capsys.readouterr().err


class Held(Assembly):
    """A bar on the ground that vibrates in its lowest shape."""

    def __init__(self, file: pathlib.Path, scale: float) -> None:
        self.world = World(gravityType="NoGravity", animateWorld=False)
        material = {"E": MATERIAL.E, "nu": MATERIAL.nu, "density": MATERIAL.density}
        self.bar = ModalBody(
            meshFile=str(file), **material, held="base", nModes=2, deformationScale=scale,
            q=Start([0.02, 0.0], fixed=True), qd=Start([0.0, 0.0], fixed=True),
        )  # fmt: skip
        self.connect(self.world.frame_b, self.bar.frame_a)


def numbers(gltf: pygltflib.GLTF2, number: int) -> np.ndarray:
    """Those of an accessor."""
    accessor = gltf.accessors[number]
    view = gltf.bufferViews[accessor.bufferView]
    kind = {5126: np.float32, 5123: np.uint16, 5125: np.uint32}[accessor.componentType]
    width = 3 if accessor.type == "VEC3" else 1
    return np.frombuffer(gltf.binary_blob(), kind, accessor.count * width, view.byteOffset).reshape(-1, width)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [1, 3])
def test_a_mode_that_bends_is_animated_by_its_shape(mesh: pathlib.Path, tmp_path: pathlib.Path, mode: int) -> None:
    """With frame_a at rest shapes are uncoupled: each mode is one of them."""
    file = mbfmu.animate_mode(Held(mesh, 1.0), tmp_path / "mode.glb", mode, size=0.05)
    gltf = pygltflib.GLTF2().load(str(file))
    (channel,) = [c for c in gltf.animations[0].channels if c.target.path == "weights"]
    keys = numbers(gltf, gltf.animations[0].samplers[channel.sampler].output).reshape(-1, 3, 2)[:, 1]
    moved = np.ptp(keys, axis=0) / 2  # about the start
    assert moved[mode // 2] == pytest.approx(0.05, rel=0.02)
    ends = keys[[0, len(keys) // 2, -1], mode // 2] - 0.02 * (mode == 1)
    assert ends == pytest.approx((0.05, -0.05, 0.05), abs=0.01)  # one period
    assert moved[1 - mode // 2] < 1e-6


def test_the_middle_of_what_is_held_counts_by_area(tmp_path: pathlib.Path) -> None:
    skfem = pytest.importorskip("skfem")
    box = skfem.MeshTet.init_tensor(*(np.linspace(0, length, 2) for length in (1.0, 2.0, 3.0)))
    sets = {"a": np.flatnonzero(box.p[0] == 0), "b": np.flatnonzero(box.p[2] == 0)}
    meshio.abaqus.write(tmp_path / "box.inp", meshio.Mesh(box.p.T, [("tetra", box.t.T)], point_sets=sets))
    body = ModalBody(meshFile=str(tmp_path / "box.inp"), held="a; b", displacementAt="1 2 3", nModes=1)
    middle = (6 * np.array((0, 1, 1.5)) + 2 * np.array((0.5, 1, 0))) / 8
    assert body.reduction().places[0] == pytest.approx((1, 2, 3) - middle, abs=1e-12)


@pytest.mark.parametrize(
    ("shift", "message"),
    [
        ((0.45, 0, 0), "1 of 1 tetrahedra have no volume, or are turned inside out"),  # almost at the end of its edge
        ((0, -0.6, 0), r"an edge is bent by more than half of its length around 0.25, 0.25, 0.25 m; it is damaged"),
    ],
)
def test_a_tetrahedron_that_is_curved_too_much_is_refused(
    tmp_path: pathlib.Path, shift: tuple[float, float, float], message: str
) -> None:
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)
    edges = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    points = np.vstack([corners, [(corners[a] + corners[b]) / 2 for a, b in edges]])
    points[4] += shift  # the middle of an edge
    cells = [("tetra10", np.arange(10)[None])]
    meshio.abaqus.write(tmp_path / "one.inp", meshio.Mesh(points, cells, point_sets={"base": np.array([0, 2, 3])}))
    with pytest.raises(ModelError, match=message):
        ModalBody(meshFile=str(tmp_path / "one.inp"), held="base", nModes=1).checks()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_a_small_body_is_not_bent_beyond_its_size(mesh: pathlib.Path, tmp_path: pathlib.Path, scale: float) -> None:
    """A mode without a size: by 0.15 of its length, as its shapes move one node by 1."""
    small = Held(mesh, scale)
    small.bar.modify(meshUnit=0.1, q=Start([0.0, 0.0], fixed=True))
    length = max(small.bar.checks()["size"])
    file = mbfmu.animate_mode(small, tmp_path / "mode.glb")
    gltf = pygltflib.GLTF2().load(str(file))
    (channel,) = [c for c in gltf.animations[0].channels if c.target.path == "weights"]
    keys = numbers(gltf, gltf.animations[0].samplers[channel.sampler].output).reshape(-1, 3, 2)[:, 1]
    assert 0.1 * length < np.ptp(keys, axis=0).max() / 2 < 0.151 * length


@pytest.mark.slow
def test_its_surface_is_drawn_as_it_bends(mesh: pathlib.Path) -> None:
    """Morph targets of glTF, added up with their weights, are the places of the nodes, displacements three times."""
    model = Held(mesh, 3.0)
    system = System.of(model, scene=True)
    assert system.scene is not None
    period = 1 / model.bar.checks()["frequencies"][0]
    names = list(system.scene.variables)
    found = mbfmu.simulate(system, period, interval=period / 40, outputs=[*names, "bar.q"])
    drawn = motion(system.scene, found.time, {name: np.asarray(found[name]) for name in names})
    gltf = pygltflib.GLTF2.load_from_bytes(write_glb(drawn, (0, 0, 1), "bar"))

    def array(number: int) -> np.ndarray:
        return numbers(gltf, number)

    (form,) = [form for form in gltf.meshes if form.weights]
    (primitive,) = form.primitives
    places = array(primitive.attributes.POSITION)
    targets = np.array([array(target["POSITION"]) for target in primitive.targets])
    outline = model.bar.reduction().outline
    assert outline is not None
    assert np.abs(places - outline.points).max() < 1e-5
    q = np.stack([found["bar.q[1]"], found["bar.q[2]"]])
    first = places + np.tensordot(form.weights, targets, 1)
    moved = outline.points + 3 * outline.displacements @ q[:, 0]
    assert np.abs(moved - outline.points).max() > 0.03
    assert np.abs(first - moved).max() < 1e-4
    (channel,) = [c for c in gltf.animations[0].channels if c.target.path == "weights"]
    sampler = gltf.animations[0].samplers[channel.sampler]
    times, keys = array(sampler.input).ravel(), array(sampler.output).reshape(-1, 3, len(targets))
    assert times[-1] == pytest.approx(period, rel=1e-6)
    rates = np.gradient(3 * q, found.time, axis=1, edge_order=2)
    for k, (before, weights, after) in enumerate(keys):
        at = int(np.argmin(np.abs(found.time - times[k])))
        assert weights == pytest.approx(3 * q[:, at], abs=1e-5)
        assert before == pytest.approx(rates[:, at], abs=2e-2 * np.abs(rates).max())
        assert after == pytest.approx(before)
    triangles = places[array(primitive.indices).reshape(-1, 3)].astype(float)
    volume = np.einsum("ki,ki->k", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])).sum() / 6
    assert volume == pytest.approx(np.prod(LENGTHS), rel=1e-4)  # seen from outside, and closed


@pytest.mark.slow
def test_a_surface_with_many_points_is_drawn_with_fewer(tmp_path: pathlib.Path) -> None:
    body = of_mesh(str(box(tmp_path / "fine.msh", (24, 4, 4))), MATERIAL, 1.0)
    nodes = np.unique(body.surface)
    for most in (len(nodes), 150, 24):
        kept, triangles = simplified(body.places, body.surface, most)
        assert most / 4 < len(kept) <= most
        assert set(kept) <= set(nodes)
        corners = body.places[kept][triangles]
        volume = np.einsum("ki,ki->k", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])).sum() / 6
        assert volume == pytest.approx(np.prod(LENGTHS), rel=0.15 if most >= 150 else 0.5)
    assert outline(body.places, body.surface[:0], np.zeros((len(body.places), 3, 2))) is None
    large = outline(body.places, body.surface, np.repeat(body.places[:, :, None], 200, axis=2))
    assert large is not None
    assert large.displacements.size <= MOST_NUMBERS
    assert np.abs(large.displacements - large.points[:, :, None]).max() == 0  # each point has its own


class Loaded(Assembly):
    """A bar that a force at its end bends: its shapes start where they rest."""

    def __init__(self, body: ModalBody, q: np.ndarray) -> None:
        self.world = World(gravityType="NoGravity")
        self.bar = body
        self.bar.modify(q=Start(q.tolist(), fixed=True), qd=Start([0.0] * len(q), fixed=True))
        self.connect(self.world.frame_b, self.bar.frame_a)


@pytest.fixture(scope="module")
def stressed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], np.ndarray]:
    """The bar with two places on its upper side and its tip, and the shapes under 1 N across at its end."""
    file = box(tmp_path_factory.mktemp("stress") / "bar.msh", (20, 1, 2), unit=0.001)
    given = {"meshUnit": 0.001, "nModes": 0, "stressAt": "250 20 30; 125 20 30", "displacementAt": "500 20 15"}
    body = bar(file, **given).reduction()
    return {"meshFile": str(file), **given}, np.linalg.solve(body.flexibility.K, body.displacements[0, 2])


def bending_stress(x: float) -> float:
    """M c / I of the upper side at x under 1 N."""
    a, b, c = LENGTHS
    return -(a - x) * c / 2 / (b * c**3 / 12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_stress_of_a_bent_bar_is_that_of_the_book(stressed: tuple[dict[str, Any], np.ndarray]) -> None:
    given, q = stressed
    model = Loaded(bar(pathlib.Path(given["meshFile"]), **{k: v for k, v in given.items() if k != "meshFile"}), q)
    names = [f"bar.sigma[{k},{i}]" for k in (1, 2) for i in range(1, 7)]
    found = mbfmu.simulate(model, 1e-7, interval=1e-7, outputs=[*names, "bar.sigma_vM", "bar.u"])
    sigma = np.array([found[name][0] for name in names]).reshape(2, 6)
    exact = np.array([bending_stress(0.25), bending_stress(0.125)])
    assert sigma[:, 0] == pytest.approx(exact, rel=0.01)
    assert np.abs(sigma[:, 1:]).max() < 0.02 * np.abs(exact).max()
    by_hand = [
        np.sqrt(1.5 * np.sum((np.array([[x, xy, zx], [xy, y, yz], [zx, yz, z]]) - (x + y + z) / 3 * np.eye(3)) ** 2))
        for x, y, z, xy, yz, zx in sigma
    ]
    assert [found[f"bar.sigma_vM[{k}]"][0] for k in (1, 2)] == pytest.approx(by_hand, rel=1e-9)
    a, b, c = LENGTHS
    assert found["bar.u[1,3]"][0] == pytest.approx(a**3 / (3 * MATERIAL.E * b * c**3 / 12), rel=0.01)


@pytest.mark.parametrize("quadratic", [False, True])
def test_displacements_that_are_linear_have_hookes_stress(tmp_path: pathlib.Path, quadratic: bool) -> None:
    """The patch test: the same stress at any place, all six parts of it, and the displacement and its rotation."""
    material = Material(2e9, 0.3, 1000.0)
    elements = of_mesh(str(box(tmp_path / "bar.msh", (2, 1, 1), quadratic=quadratic)), material, 1.0)
    gradient = np.random.default_rng(3).normal(size=(3, 3)) * 1e-3
    strain = (gradient + gradient.T) / 2
    sigma = (
        material.E / (1 + material.nu) * (strain + material.nu / (1 - 2 * material.nu) * np.trace(strain) * np.eye(3))
    )
    nodes = (elements.places @ gradient.T)[:, :, None]
    assert elements.probe is not None
    for place in ([0.1, 0.013, 0.021], [0.25, 0.02, 0.015], [0.5, 0.04, 0.03]):
        probe = elements.probe(np.array(place))
        told = probe.stress(nodes, material)[:, 0]
        assert told == pytest.approx(sigma[[0, 1, 2, 0, 1, 2], [0, 1, 2, 1, 2, 0]], rel=1e-9)
        assert probe.displacement(nodes)[:, 0] == pytest.approx(gradient @ place, rel=1e-9)
        turn = (gradient - gradient.T) / 2
        assert probe.rotation(nodes)[:, 0] == pytest.approx([turn[2, 1], turn[0, 2], turn[1, 0]], rel=1e-9)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("fmi", [2, 3])
def test_stress_is_an_output_of_fmus_by_modes_of_a_file(
    stressed: tuple[dict[str, Any], np.ndarray], tmp_path: pathlib.Path, fmi: int
) -> None:
    """The SID file has the interface as node 1, then the place of the displacement, then those of stress."""
    import fmpy

    given, q = stressed
    source = bar(pathlib.Path(given["meshFile"]), **{k: v for k, v in given.items() if k != "meshFile"})
    file = tmp_path / "bar.SID_FEM"
    file.write_text(source.sid_text())
    with pytest.raises(ModelError, match=r"stressAt: node 1 of the file has no sigma.*name one of 3, 4"):
        ModalBody(fileName=str(file), stressAt="1").reduction()
    model = Loaded(ModalBody(fileName=str(file), attached="1", displacementAt="2", stressAt="3; 4"), q)
    path = mbfmu.build(model, tmp_path / "bar.fmu", fmi=fmi)
    names = ["bar.sigma[1,1]", "bar.sigma[2,1]", "bar.u[1,3]"] if fmi == 2 else ["bar.sigma", "bar.u"]
    found = fmpy.simulate_fmu(str(path), stop_time=1e-7, output=names)
    parts = np.concatenate([np.ravel(found[name][0]) for name in names])
    *sigma, u = parts if fmi == 2 else parts[[0, 6, -1]]
    assert sigma == pytest.approx([bending_stress(0.25), bending_stress(0.125)], rel=0.01)
    assert u == pytest.approx(LENGTHS[0] ** 3 / (3 * MATERIAL.E * LENGTHS[1] * LENGTHS[2] ** 3 / 12), rel=0.01)


@pytest.mark.parametrize(
    ("modifiers", "message"),
    [
        ({"stressAt": "900 20 30"}, r"stressAt: 900 20 30 is outside the mesh; the nearest corner .* is at 500"),
        ({"stressAt": "tip"}, r"stressAt: 'tip' is no place; give x, y and z in the unit of the mesh"),
        ({"stressAt": "100 20 here"}, r"stressAt: '100 20 here' is no place; give x, y and z"),
        ({"displacementAt": "foot"}, r"displacementAt: the mesh has no surface named 'foot'"),
    ],
)
def test_wrong_places_are_refused(
    stressed: tuple[dict[str, Any], np.ndarray], modifiers: dict[str, str], message: str
) -> None:
    given = {k: v for k, v in stressed[0].items() if k != "meshFile"}
    with pytest.raises(ModelError, match=message):
        bar(pathlib.Path(stressed[0]["meshFile"]), **given | modifiers).reduction()
