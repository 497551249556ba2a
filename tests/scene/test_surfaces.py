"""Surfaces through points that a function gives: in runs, in glTF, on pages and in the FMU."""

from __future__ import annotations

import pathlib
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
import pytest
from browser_console import entries
from glb import Glb
from lxml import etree

import mbfmu
from mbfmu.components import BodyBox, Revolute, World, blocks, surfaces, visualizers
from mbfmu.dynamics.showing.drawing import SURFACE_FACTS
from mbfmu.dynamics.showing.scene import Scene
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.scene.meshes import mesh_of, surface_arrays
from mbfmu.scene.motion import FORM_TOLERANCE, MOST_FORMS, forms

NU, NV = 9, 7


def heights(t: float) -> np.ndarray:
    """Heights [m] of the wave."""
    u, v = np.meshgrid(np.linspace(-1, 1, NU), np.linspace(-1, 1, NV), indexing="ij")
    return 0.3 * np.sin(np.pi * u + 2 * t) * np.cos(np.pi * v)


class Wave(visualizers.Surface):
    """A wave that runs, red where it is high."""

    modelica_name = None

    def surfaceCharacteristic(self, nu: int, nv: int) -> Sequence[Any]:
        u, v = np.meshgrid(np.linspace(-1, 1, nu), np.linspace(-1, 1, nv), indexing="ij")
        z = 0.3 * ca.sin(ca.SX(np.pi * u) + 2 * self.time) * ca.SX(np.cos(np.pi * v))  # type: ignore[attr-defined]
        return u, v, z, (128 + 400 * z, ca.SX(80 * np.ones((nu, nv))), 128 - 400 * z)


class Sea(Assembly):
    """A wave, and a pendulum with surfaces of the library."""

    def __init__(self) -> None:
        self.world = World(n=(0, 0, -1), animateGround=True)
        self.wave = Wave(nu=NU, nv=NV, multiColoredSurface=True)
        self.hinge, self.rod = Revolute(n=(0, 1, 0), phi=Start(0.5, fixed=True)), BodyBox(r=(0.4, 0, 0))
        self.grid = visualizers.Rectangle(wireframe=True, nu=5, nv=4, direction_u=(0, 1, 0), direction_v=(0, 0, 1))
        self.sine = blocks.Sine(amplitude=0.4, f=1.0)
        self.arrow = visualizers.SignalArrow(quantity="Force", headAtOrigin=True)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.grid.frame_a)
        self.connect(self.world.frame_b, self.wave.frame_a)
        self.connect(self.rod.frame_b, self.arrow.frame_a)
        for i in range(3):
            self.connect(self.sine.y, self.arrow.r_head[i])


@pytest.fixture(scope="module")
def sea() -> System:
    """Return the system with its scene."""
    return System.of(Sea(), scene=True)


def node(glb: Glb, name: str) -> int:
    """Return the number of a node."""
    (number,) = (i for i, n in enumerate(glb.nodes) if n["name"] == name)
    return number


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_surface_moves_and_changes_its_colours_as_its_function_says(sea: System, tmp_path: pathlib.Path) -> None:
    glb = Glb(mbfmu.animate(sea, tmp_path / "sea.glb", 3.0).read_bytes())
    wave = node(glb, "wave.surface")
    (primitive,) = glb.json["meshes"][glb.nodes[wave]["mesh"]]["primitives"]
    assert 10 < len(primitive["targets"]) < MOST_FORMS
    assert glb.json["meshes"][glb.nodes[wave]["mesh"]]["weights"] == [0.0] * len(primitive["targets"])  # as at first
    still = glb.array(primitive["attributes"]["NORMAL"])
    for target in primitive["targets"]:
        lengths = np.linalg.norm(still + glb.array(target["NORMAL"]), axis=1)
        np.testing.assert_allclose(lengths, 1.0, atol=1e-5)
    u, v = np.meshgrid(np.linspace(-1, 1, NU), np.linspace(-1, 1, NV), indexing="ij")
    for t in np.linspace(0, 3, 31):
        wanted = np.stack([u, v, heights(t)], axis=-1).reshape(-1, 3)
        np.testing.assert_allclose(glb.points(wave, "POSITION", t), wanted, atol=2.2 * FORM_TOLERANCE)
        red = np.clip(128 + 400 * heights(t), 0, 255).ravel() / 255
        light = np.where(red <= 0.04045, red / 12.92, ((red + 0.055) / 1.055) ** 2.4)
        np.testing.assert_allclose(glb.points(wave, "COLOR_0", t)[:, 0], light, atol=5e-3)
    lines = glb.json["meshes"][glb.nodes[node(glb, "grid.surface")]["mesh"]]["primitives"][0]
    assert lines["mode"] == 1
    assert glb.json["accessors"][lines["indices"]]["count"] == 2 * (4 * 4 + 5 * 3)


def test_few_forms_are_kept() -> None:
    time = np.linspace(0, 1, 101)
    assert list(forms(time, np.abs(time - 0.5)[:, None] * 100)) == [0, 50, 100]
    assert len(forms(time, 1000 * np.random.default_rng(1).random((101, 3)))) == MOST_FORMS


@pytest.mark.parametrize(
    ("points", "volume"),
    [(surfaces.torus(41, 31, 0.5, 0.1), 2 * np.pi**2 * 0.5 * 0.01), (surfaces.pipe(2, 41, 0.3, 2.0), None)],
)
def test_normals_stand_on_surfaces_also_where_they_close(points: Any, volume: float | None) -> None:
    X, Y, Z = (np.asarray(m) for m in points)
    extra = [*X.shape, 0, 0, 0, *np.stack([X, Y, Z], axis=-1).ravel()]
    mesh = mesh_of("surface", extra, (1, 1, 1))
    faces = mesh.positions[mesh.triangles]
    across = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    for k in range(3):
        assert np.einsum("ij,ij->i", across, mesh.normals[mesh.triangles[:, k]]).min() > 0.97
    grid = mesh.normals.reshape(*X.shape, 3)
    np.testing.assert_allclose(grid[:, 0], grid[:, -1], atol=1e-9)
    if volume is not None:
        enclosed = np.einsum("ij,ij->", faces[:, 0], np.cross(faces[:, 1], faces[:, 2])) / 6
        assert abs(enclosed) == pytest.approx(volume, rel=0.02)


@pytest.mark.parametrize("last", [np.pi / 2, 2.5, np.pi], ids=["half a ball", "more than half", "a ball"])
@pytest.mark.parametrize("turned", [False, True], ids=["rows", "columns"])
def test_normals_of_a_ball_are_its_radii_also_at_its_poles(last: float, turned: bool) -> None:
    """But for one step between points, where many points are one: what is at the other end counts for nothing there."""
    polar, azimuth = np.meshgrid(np.linspace(0, last, 31), np.linspace(0, 2 * np.pi, 41), indexing="ij")
    points = np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], axis=-1)
    points = points.transpose(1, 0, 2) if turned else points
    found, normals, _ = surface_arrays(np.array([*points.shape[:2], 0, 0, 0, *points.ravel()]))
    assert np.array_equal(found, points)
    along = np.einsum("ijk,ijk->ij", points, normals) * (-1 if turned else 1)
    assert along.min() > np.cos(1.01 * last / 30)
    assert np.linalg.norm(normals, axis=-1) == pytest.approx(np.ones(points.shape[:2]))


def test_a_surface_without_area_has_normals_too() -> None:
    points = np.zeros((3, 4, 3))
    assert surface_arrays(np.array([3, 4, 0, 0, 0, *points.ravel()]))[1].reshape(-1, 3).tolist() == [[0, 0, 1]] * 12


def test_the_wheel_is_as_wide_and_high_as_it_says() -> None:
    class Wheels(Assembly):
        def __init__(self) -> None:
            self.world = World(animateWorld=False, animateGravity=False)
            self.wheel = visualizers.VoluminousWheel(rTire=0.4, rRim=0.2, width=0.3, rCurvature=0.25)
            self.connect(self.world.frame_b, self.wheel.frame_a)

    scene = System.of(Wheels(), scene=True).scene
    assert isinstance(scene, Scene)
    shapes = {shape.name: shape for shape in scene.shapes}
    points = np.array(shapes["torus"].extra[len(SURFACE_FACTS) :]).reshape(-1, 3)
    assert np.hypot(points[:, 0], points[:, 2]).max() == pytest.approx(0.4, rel=1e-3)
    assert np.ptp(points[:, 1]) == pytest.approx(0.3)
    edge = np.hypot(*points[np.argmax(points[:, 1])][[0, 2]])  # the walls begin where the tread ends
    assert shapes["pipe"].width[0] == pytest.approx(2 * edge)
    assert shapes["pipe"].extra[0] * edge == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("given", "coloured", "message"),
    [
        (None, False, r"shown: a Surface needs the function .* give surfaceCharacteristic=f"),
        (
            lambda nu, nv: (np.zeros((nu, nv)),) * 2,
            False,
            "surface surface has 2 matrices; it takes X, Y, Z",
        ),
        (lambda nu, nv: (np.zeros((nu, nv)),) * 3, True, "it takes X, Y, Z, red, green and blue"),
        (lambda nu, nv: (np.zeros((3, 4)), np.zeros((3, 4)), np.zeros((4, 3))), False, "of 3 x 4 and 4 x 3 numbers"),
    ],
)
def test_what_is_no_surface_is_refused(given: Any, coloured: bool, message: str) -> None:
    class Bad(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.shown = visualizers.Surface(surfaceCharacteristic=given, multiColoredSurface=coloured)
            self.connect(self.world.frame_b, self.shown.frame_a)

    with pytest.raises(ModelError, match=message):
        System.of(Bad(), scene=True)


@pytest.mark.slow
def test_openmodelica_reads_surfaces_and_vectors_of_the_fmu(tmp_path: pathlib.Path) -> None:
    import fmpy

    file = mbfmu.build(Sea(), tmp_path / "sea.fmu", equations="interpreted")
    known = {v.name for v in fmpy.read_model_description(str(file)).modelVariables}
    with zipfile.ZipFile(file) as archive:
        root = etree.fromstring(archive.read("resources/Sea_visual.xml"))
    assert {cref.text for cref in root.iterfind(".//cref")} <= known
    found = {surface.findtext("ident"): surface for surface in root.iterfind("surface")}
    assert set(found) == {"world.surface", "wave.surface", "grid.surface"}
    tags = "ident T r nu nv wireframe multiColored color specCoeff transparency"
    assert [child.tag for child in found["wave.surface"]] == tags.split()
    facts = {tag: found["wave.surface"].find(tag)[0] for tag in ("nu", "nv", "wireframe", "multiColored")}
    assert {tag: (fact.tag, fact.text) for tag, fact in facts.items()} == {
        "nu": ("exp", "9"),
        "nv": ("exp", "7"),
        "wireframe": ("bconst", "false"),
        "multiColored": ("bconst", "true"),
    }
    (vector,) = root.iterfind("vector")
    tags = "ident T r coordinates color specCoeff quantity headAtOrigin twoHeadedArrow"
    assert [child.tag for child in vector] == tags.split()
    assert vector.findtext("ident") == "arrow.arrow"
    assert (vector.find("quantity")[0].tag, vector.findtext("quantity/enum")) == ("enum", "1")  # Force
    assert vector.findtext("headAtOrigin/bconst") == "true"
    assert not [shape for shape in root.iterfind("shape/ident") if shape.text.startswith("arrow.")]
    names = [cref.text for cref in vector.iterfind("coordinates/cref")]
    result = fmpy.simulate_fmu(str(file), stop_time=0.5, output_interval=0.125, output=names)
    for name in names:  # in newtons, not scaled to a length
        np.testing.assert_allclose(result[name], 0.4 * np.sin(2 * np.pi * result["time"]), atol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.usefixtures("can_live")
def test_a_live_surface_moves(opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path) -> None:
    browser = opened(mbfmu.animate(Sea(), tmp_path / "sea.html", live=True))
    points, colour, now = browser.execute_script(
        """
        viewer.play(false);
        viewer.restart();
        viewer.play(false);
        for (let k = 0; k < 40; k++) viewer.motion.step(0.01);
        viewer.show(viewer.motion.now);
        const [{ geometry }] = viewer.meshesOf("wave"), of = (name) => [...geometry.getAttribute(name).array];
        return [of("position"), of("color").slice(0, 3), viewer.motion.now];
        """
    )
    assert now == pytest.approx(0.4)
    np.testing.assert_allclose(np.array(points).reshape(NU, NV, 3)[..., 2], heights(0.4), atol=1e-6)
    assert colour[0] == pytest.approx((((128 + 400 * heights(0.4)[0, 0]) / 255 + 0.055) / 1.055) ** 2.4, rel=1e-4)
    assert entries(browser) == []
