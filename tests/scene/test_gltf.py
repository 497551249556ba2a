"""Motions as glTF: every node stands where the run says, keyframes are few, and the Khronos validator finds nothing."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from glb import Glb

import mbfmu
from mbfmu.components import BodyBox, Revolute, World, visualizers
from mbfmu.dynamics.showing.scene import Scene, Shape
from mbfmu.dynamics.system import System
from mbfmu.errors import MbfmuError
from mbfmu.modeling import Assembly, Start
from mbfmu.modeling.registry import assemblies
from mbfmu.runtime.result import Result
from mbfmu.scene.gltf import write_glb
from mbfmu.scene.mesh_files import find_file, read_mesh
from mbfmu.scene.meshes import mesh_of
from mbfmu.scene.motion import keyframes, motion
from mbfmu.simulation import simulate

#: The gallery but for what has no three dimensions, and for the V6, which takes its time.
GALLERY = sorted(set(assemblies()) - {"car", "drivetrain", "powertrain", "heat_losses", "motor_drive", "engine_v6"})


def cross(a: Any, b: Any) -> np.ndarray:
    """The product of two vectors, in a tenth of the time that NumPy's takes for any arrays."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def expected(shape: Shape, result: Result, i: int, up: tuple[float, float, float]) -> np.ndarray:
    """The transform of a shape's mesh by Modelica's definition, in the world that `up` says, at an instant."""
    q = {
        k: np.array([result[v][i] if isinstance(v, str) else v for v in values])
        for k, values in shape.quantities.items()
    }
    to_world = q["T"].reshape(3, 3)  # T column by column, so this is its transpose
    along, across = q["lengthDirection"], q["widthDirection"]
    size = np.linalg.norm(along)
    e_x = along / size if size >= 1e-10 else np.array([1.0, 0, 0])
    e_z = cross(e_x, across)
    if e_z @ e_z <= 1e-6:
        e_z = cross(e_x, [0, 1.0, 0] if abs(e_x[0]) > 1e-6 else [1.0, 0, 0])
    if e_z @ e_z <= 1e-6:
        return np.full((4, 4), np.nan)  # not defined by the library
    e_z /= np.linalg.norm(e_z)
    axes = np.column_stack([e_x, cross(e_z, e_x), e_z])
    turn = np.eye(3)
    if not np.allclose(up, (0, 1, 0)):  # Rodrigues, from up to y
        axis = cross(up, (0, 1, 0))
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        turn = np.eye(3) + K + K @ K / (1 + up[1]) if up[1] > -1 + 1e-9 else np.diag([1.0, -1, -1])
    found = np.eye(4)
    found[:3, :3] = turn @ to_world @ axes * [q["length"][0], q["width"][0], q["height"][0]]
    found[:3, 3] = turn @ (q["r"] + to_world @ q["r_shape"])
    return found


@pytest.mark.slow
@pytest.mark.campaign("lane_change", "dominoes", "tower_crane", "gripper", "walker", "flexible_rotor", keep=3)
@pytest.mark.parametrize("name", GALLERY)
def test_nodes_stand_where_the_run_says(name: str, gallery_system: Callable[[str], System]) -> None:
    check_nodes(gallery_system(name))


@pytest.mark.slow
@pytest.mark.parametrize("n", [(0, 1, 0), (0, -1, 0), (1, 0, 0), (0.6, 0, -0.8)])
def test_what_is_above_is_up_in_gltf(n: tuple[float, float, float]) -> None:
    class Swing(Assembly):
        def __init__(self) -> None:
            self.world = World(n=n)
            self.hinge = Revolute(n=(0, 0, 1), phi=Start(0.4, fixed=True), w=Start(1.0, fixed=True))
            self.bar = BodyBox(r=(0.5, 0.1, 0.2))
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.bar.frame_a)

    system = System.of(Swing(), scene=True)
    assert isinstance(system.scene, Scene)
    np.testing.assert_allclose(system.scene.up, -np.array(n))
    check_nodes(system)


def check_nodes(system: System) -> None:
    """Compare nodes of a file with the shapes of a run, at 20 instants."""
    scene = system.scene
    assert isinstance(scene, Scene)
    assert scene.shapes
    stop = min(system.equations.stop_time, 2.0)
    result = simulate(system, stop, interval=stop / 200, outputs=list(scene.variables))
    glb = Glb(write_glb(motion(scene, result.time, result), scene.up, system.name))
    numbers = {node["name"]: i for i, node in enumerate(glb.nodes) if "mesh" in node}
    assert set(numbers) == {shape.ident for shape in scene.shapes}
    assert glb.channels, "nothing moves"
    for i in np.linspace(0, result.time.size - 1, 20).round().astype(int):
        for shape in scene.shapes:
            wanted = expected(shape, result, i, scene.up)
            found = glb.world(numbers[shape.ident], result.time[i] - result.time[0])
            allowed = 1e-6 * max(1.0, np.nanmax(np.abs(wanted), initial=0.0))
            if not np.isnan(wanted).any():
                np.testing.assert_allclose(found, wanted, atol=allowed, rtol=0, err_msg=f"{shape.ident} at {i}")


def test_what_stands_has_no_keyframes_and_smooth_motion_few() -> None:
    system = System.of(mbfmu.load("pendulum"), scene=True)
    scene = system.scene
    assert isinstance(scene, Scene)
    result = simulate(system, 2.0, outputs=list(scene.variables))
    glb = Glb(write_glb(motion(scene, result.time, result), scene.up, "pendulum"))
    moving = {glb.nodes[node]["name"] for node, _ in glb.channels}
    assert all(not name.startswith(("world", "revolute")) for name in moving)
    assert all(len(times) < 120 for times, _ in glb.channels.values())
    assert {path for _, path in glb.channels} == {"rotation"}


def test_materials_have_colour_and_gloss() -> None:
    """Colours are linear in glTF, by the curve of sRGB; what mirrors more is less rough."""
    model = Assembly()
    model.world = World(enableAnimation=True, animateWorld=False, animateGravity=False)
    model.box = BodyBox(r=(0.5, 0, 0), color=(255, 0, 51), specularCoefficient=0.5)
    model.joint = Revolute(animation=False, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
    model.connect(model.world.frame_b, model.joint.frame_a)
    model.connect(model.joint.frame_b, model.box.frame_a)
    system = System.of(model, scene=True)
    scene = system.scene
    assert isinstance(scene, Scene)
    result = simulate(system, 0.1, outputs=list(scene.variables))
    glb = Glb(write_glb(motion(scene, result.time, result), scene.up, "box"))
    (node,) = (node for node in glb.nodes if "mesh" in node)
    mesh = glb.json["meshes"][node["mesh"]]
    found = glb.json["materials"][mesh["primitives"][0]["material"]]["pbrMetallicRoughness"]
    assert found["baseColorFactor"] == pytest.approx([1.0, 0.0, ((0.2 + 0.055) / 1.055) ** 2.4, 1.0], rel=1e-6)
    assert found["roughnessFactor"] == pytest.approx(0.65)
    assert found.get("metallicFactor", 1.0) == 0.0


def test_keyframes_keep_what_jumps() -> None:
    time = np.linspace(0, 1, 101)
    jump = np.where(time < 0.5, 0.0, 1.0)[:, None]
    found = keyframes(time, jump)
    assert np.array_equal(jump[np.searchsorted(time, found.time)], found.values)
    assert {0.49, 0.5} <= set(found.time.round(9))
    line = keyframes(time, time[:, None] * [1.0, 2.0, 3.0])
    assert line.time.tolist() == [0.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("type", "extra", "volume"),
    [
        ("box", (0,), 1.0),
        ("cylinder", (0,), np.pi / 4),
        ("sphere", (0,), np.pi / 6),
        ("cone", (0,), np.pi / 12),
        ("cone", (0.5,), np.pi / 12 * 1.75),
        ("pipe", (0.5,), np.pi / 4 * 0.75),
        ("pipecylinder", (0.0,), np.pi / 4),
        ("gearwheel", (20,), None),
        ("gearwheel", (-20,), None),
        ("beam", (0,), None),
        ("capsule", (0,), np.pi * 0.2 * 0.05 * (0.6 + 0.4 * 2 / 3) / (0.4 * 0.1)),
        ("spring", (5,), None),
    ],
)
def test_meshes_are_closed_and_face_outwards(type: str, extra: tuple[float, ...], volume: float | None) -> None:
    mesh = mesh_of(type, extra, (1.0, 0.2, 0.02) if type == "spring" else (1.0, 0.4, 0.1))
    corners = mesh.positions[mesh.triangles]
    enclosed = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
    assert enclosed > 0
    if volume is not None:
        assert enclosed == pytest.approx(volume, rel=0.02)
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-6)
    keys = {tuple(p): i for i, p in enumerate(np.unique(mesh.positions.round(7) + 0.0, axis=0))}
    joined = [[keys[tuple(mesh.positions[v].round(7) + 0.0)] for v in triangle] for triangle in mesh.triangles]
    edges = [(t[i], t[(i + 1) % 3]) for t in joined for i in range(3)]
    assert sorted(edges) == sorted((b, a) for a, b in edges), "an edge has one triangle only"


@pytest.mark.slow
@pytest.mark.campaign
def test_the_khronos_validator_finds_nothing(tmp_path: pathlib.Path) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("needs npm for the Khronos glTF validator")
    command = [npm, "install", "gltf-validator@2.0.0-dev.3.10", "--no-audit", "--no-fund", "--fetch-retries=0"]
    if subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False).returncode:
        pytest.skip("npm cannot fetch the Khronos glTF validator")
    names = ["double_pendulum", "rolling_wheel", "three_springs", "engine_1b_analytic"]
    files = [mbfmu.animate(mbfmu.load(name), tmp_path / f"{name}.glb") for name in names]
    script = """
const validator = require("gltf-validator"), fs = require("fs");
(async () => {
  for (const file of process.argv.slice(2)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    console.log(JSON.stringify(report.issues.messages.filter((m) => m.severity < 2)));
  }
})();
"""
    (tmp_path / "validate.js").write_text(script)
    done = subprocess.run(
        [node, "validate.js", *map(str, files)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["[]"] * len(names)


@pytest.mark.slow
def test_results_and_assemblies_are_animated(tmp_path: pathlib.Path) -> None:
    assembly = mbfmu.load("pendulum")
    result = mbfmu.simulate(assembly, 0.5)
    first = result.animate(tmp_path / "a.glb").read_bytes()
    assert mbfmu.animate(assembly, tmp_path / "b.glb", 0.5).read_bytes() == first
    assembly.rev.modify(phi=mbfmu.Start(0.123, fixed=True))
    with pytest.raises(MbfmuError, match="was changed since this run"):
        result.animate(tmp_path / "c.glb")


@pytest.mark.parametrize(
    ("name", "file", "message"),
    [
        ("pendulum", "motion.gif", "an animation is a .html or .glb file; choose motion.html"),
        ("powertrain", "motion.glb", "nothing in it is drawn"),
    ],
)
def test_what_cannot_be_animated_is_refused(name: str, file: str, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(MbfmuError, match=message):
        mbfmu.animate(mbfmu.load(name), tmp_path / file)
    assert not (tmp_path / file).exists()


def wedge(path: pathlib.Path) -> pathlib.Path:
    """Write a wedge of 0.3 x 0.2 x 0.1 m as the kind of file that the path says."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    ezdxf = pytest.importorskip("ezdxf")
    corners = np.array([(0, 0, 0), (0.3, 0, 0), (0, 0.2, 0), (0, 0, 0.1), (0.3, 0, 0.1), (0, 0.2, 0.1)])
    faces = [(0, 2, 1), (3, 4, 5), (0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4), (2, 0, 3), (2, 3, 5)]
    if path.suffix == ".dxf":
        drawing = ezdxf.new()
        for face in faces:
            drawing.modelspace().add_3dface([tuple(corners[i]) for i in face])
        drawing.saveas(path)
    else:
        trimesh.Trimesh(corners, faces).export(path)
    return path


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".dae", ".glb", ".ply", ".dxf"])
def test_shapes_are_read_from_files_beside_the_model(suffix: str, tmp_path: pathlib.Path) -> None:
    wedge(tmp_path / f"part{suffix}")
    model = """
    [world]
    [[component]]
    name = "hinge"
    class = "MultiBody.Joints.Revolute"
    parameters = {{ phi = {{ start = 0.0, fixed = true }}, w = {{ start = 0.0, fixed = true }} }}
    [[component]]
    name = "rod"
    class = "MultiBody.Parts.BodyBox"
    parameters = {{ r = [0.5, 0.0, 0.0], width = 0.06, shapeType = "part{}", extra = {} }}
    [[connect]]
    a = "world.frame_b"
    b = "hinge.frame_a"
    [[connect]]
    a = "hinge.frame_b"
    b = "rod.frame_a"
    """
    for extra, factors in ((0.0, (1, 1, 1)), (1.0, (0.5, 0.06, 0.06))):
        (tmp_path / "model.toml").write_text(model.format(suffix, extra))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assembly = mbfmu.load(tmp_path / "model.toml")
            glb = Glb(mbfmu.animate(assembly, tmp_path / "motion.glb", 0.1).read_bytes())
        (number,) = (i for i, node in enumerate(glb.nodes) if node["name"] == "rod.shape")
        (primitive,) = glb.json["meshes"][glb.nodes[number]["mesh"]]["primitives"]
        triangles = glb.array(primitive["indices"]).astype(int).reshape(-1, 3)
        corners = glb.array(primitive["attributes"]["POSITION"])[triangles]
        volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume == pytest.approx(0.3 * 0.2 * 0.1 / 2, rel=1e-5)
        np.testing.assert_allclose(glb.nodes[number].get("scale", (1, 1, 1)), factors, rtol=1e-6)
    fmu = mbfmu.build(assembly, tmp_path / "rod.fmu", equations="interpreted")
    (tmp_path / f"part{suffix}").unlink()
    again = Glb(mbfmu.animate(fmu, tmp_path / "again.glb", 0.1).read_bytes())
    assert {node["name"] for node in again.nodes} == {node["name"] for node in glb.nodes}


@pytest.mark.slow
def test_drawings_have_faces_of_three_kinds(tmp_path: pathlib.Path) -> None:
    """A wedge on a base of five corners, of each kind; lines and circles beside it are no faces."""
    ezdxf = pytest.importorskip("ezdxf")
    from ezdxf.render import MeshBuilder

    base = [(0.0, 0.0), (0.3, 0.0), (0.4, 0.1), (0.2, 0.3), (0.0, 0.2)]
    area = 0.5 * sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(base, base[1:] + base[:1], strict=True))
    sides = [(i, (i + 1) % 5, 5 + (i + 1) % 5, 5 + i) for i in range(5)]
    mesh = MeshBuilder()
    mesh.add_mesh(
        vertices=[(x, y, z) for z in (0.1, 0.6) for x, y in base],
        faces=[(4, 3, 2, 1, 0), (5, 6, 7, 8, 9), *sides[:3], *((a, c, d) for a, _, c, d in sides[3:]),
               *((a, b, c) for a, b, c, _ in sides[3:])],
    )  # fmt: skip
    fans = MeshBuilder()  # a 3DFACE has four corners at most
    fans.add_mesh(
        vertices=mesh.vertices,
        faces=[(4, 3, 2, 1), (4, 1, 0), (5, 6, 7), (5, 7, 8, 9), *mesh.faces[2:]],
    )
    for number, (kind, builder) in enumerate(
        (("render_mesh", mesh), ("render_polyface", mesh), ("render_3dfaces", fans))
    ):
        drawing = ezdxf.new()
        space = drawing.modelspace()
        space.add_line((0, 0, 0), (5, 5, 5))
        space.add_lwpolyline([(0, 0), (7, 0), (7, 7)])
        space.add_polyline3d([(0, 0, 0), (9, 0, 0), (9, 9, 0)])
        getattr(builder, kind)(space)
        file = tmp_path / f"{number}.dxf"
        drawing.saveas(file)
        found = read_mesh(file, "part")
        corners = found.positions[found.triangles]
        volume = np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6
        assert volume == pytest.approx(0.5 * area, rel=1e-9), kind
        assert found.positions.max(axis=0) == pytest.approx((0.4, 0.3, 0.6)), kind
    space.delete_all_entities()
    space.add_line((0, 0, 0), (1, 0, 0))
    drawing.saveas(tmp_path / "lines.dxf")
    with pytest.raises(MbfmuError, match=r"^part: .*lines\.dxf: has no 3DFACE, polyface or MESH entities; export it"):
        read_mesh(tmp_path / "lines.dxf", "part")


def test_at_first_nothing_moves() -> None:
    """What a live page begins with: of places, turns and sizes that change the first, and the sizes that stay."""
    here = {"component": "a", "kind": "Parts", "name": "shape", "type": "box", "color": (1, 2, 3), "extra": (0.5,)}
    size = {"length": ("l",), "width": (0.2,), "height": (0.1,), "specularCoefficient": (0.7,)}
    turn = ("c", "s", 0.0, "m", "c", 0.0, 0.0, 0.0, 1.0)  # column by column, of a turn about z
    axes = {"lengthDirection": (1, 0, 0), "widthDirection": (0, 1, 0), "r_shape": ("l", 0, 0)}
    shape = Shape(r=("x", 0.0, "z"), T=turn, **here, **size, **axes)  # type: ignore[arg-type]
    angle = np.array([0.6, 0.9, 1.4])
    series = {
        "x": np.array([3.0, 4.0, 6.0]), "z": np.array([-2.0, 1.0, 5.0]), "l": np.array([0.5, 0.7, 0.8]),
        "c": np.cos(angle), "s": -np.sin(angle), "m": np.sin(angle),
    }  # fmt: skip
    moved = motion(Scene((shape,), up=(0.0, 0.0, 1.0)), np.array([2.0, 3.0, 4.0]), series)
    assert moved.frames[0].translation.moves
    assert moved.frames[0].rotation.moves
    first = moved.start
    assert first.time.tolist() == [2.0]
    (frame,), (part,) = first.frames, first.parts
    assert frame.translation.values == pytest.approx(np.array([[3.0, 0.0, -2.0]]))
    assert frame.rotation.values == pytest.approx(np.array([[0.0, 0.0, np.sin(0.3), np.cos(0.3)]]))
    assert part.place.scale is not None
    assert not any(track.moves for placed in (frame, part.place) for track in placed.tracks.values())
    assert part.place.translation.values == pytest.approx(np.array([[0.5, 0.0, 0.0]]))
    assert part.size[1:] == moved.parts[0].size[1:]
    assert (part.extra, part.color, part.specular) == ((0.5,), (1.0, 2.0, 3.0), 0.7)
    both = Scene((shape, dataclasses.replace(shape, component="b", r=(-1.0, 0.0, "z"))), up=(0.0, 0.0, 1.0))
    whole = motion(both, np.array([2.0, 3.0, 4.0]), series)
    assert whole.size == pytest.approx(4.0 + max(part.size))  # at first, from middle to middle and half of each


@pytest.mark.slow
def test_a_mesh_in_another_unit_is_shown_in_metres(tmp_path: pathlib.Path) -> None:
    file = wedge(tmp_path / "part.dae")
    text = re.sub("<unit [^>]*>", "", file.read_text())
    file.write_text(text.replace("</created>", '</created><unit name="centimeter" meter="0.01"/>', 1))
    np.testing.assert_allclose(read_mesh(file, "part").positions.max(axis=0), (0.003, 0.002, 0.001), rtol=1e-6)


@pytest.mark.slow
def test_files_that_are_not_there_are_left_out_and_damaged_ones_refused(tmp_path: pathlib.Path) -> None:
    assembly = mbfmu.load("double_pendulum", ["boxBody2.shapeType=part.stl"])
    with pytest.warns(UserWarning, match=r"boxBody2\.shape: the file part\.stl is not there.* correct boxBody2"):
        file = mbfmu.animate(assembly, tmp_path / "motion.glb", 0.1)
    names = {node["name"] for node in Glb(file.read_bytes()).nodes}
    assert "boxBody1.shape" in names
    assert "boxBody2.shape" not in names
    for name, content, message in (
        ("part.stl", "nonsense", "boxBody2.shape: .*part.stl"),
        ("part.dxf", "nonsense", "boxBody2.shape: .*part.dxf cannot be read"),
        ("part.step", "nonsense", "boxBody2.shape: part.step is none of .stl, .obj"),
    ):
        (tmp_path / name).write_text(content)
        assembly = mbfmu.load("double_pendulum", [f"boxBody2.shapeType={tmp_path / name}"])
        with pytest.raises(MbfmuError, match=message):
            mbfmu.animate(assembly, tmp_path / "motion.glb", 0.1)


def test_what_reads_a_file_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    file = wedge(tmp_path / "part.stl")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(MbfmuError, match=r"rod\.shape: reading part\.stl needs trimesh; `pip install mbfmu\[meshes\]`"):
        read_mesh(file, "rod.shape")


def test_files_are_found_by_the_addresses_of_the_library(tmp_path: pathlib.Path) -> None:
    (tmp_path / "Library 4.1" / "Resources").mkdir(parents=True)
    (tmp_path / "Library 4.1" / "Models").mkdir()
    file = tmp_path / "Library 4.1" / "Resources" / "rod a.stl"
    file.touch()
    (tmp_path / "1.dxf").touch()
    folders = [tmp_path / "Library 4.1" / "Models", tmp_path]
    assert find_file("modelica://Library/Resources/rod a.stl", folders) == file
    assert find_file(file.as_uri(), []) == file
    assert find_file("1", folders) == tmp_path / "1.dxf"
    assert find_file("package://robot/rod.stl", folders) is None


@pytest.mark.slow
def test_meshes_of_a_robot_are_drawn(tmp_path: pathlib.Path) -> None:
    wedge(tmp_path / "wedge.stl")
    (tmp_path / "robot.urdf").write_text(
        """<robot name="arm"><link name="base"/>
        <link name="hand">
        <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><origin xyz="0.1 0 0"/><geometry><mesh filename="wedge.stl" scale="2 1 -1"/></geometry></visual></link>
        <joint name="turn" type="continuous"><parent link="base"/><child link="hand"/><axis xyz="0 0 1"/></joint>
        </robot>"""
    )
    glb = Glb(mbfmu.animate(mbfmu.load(tmp_path / "robot.urdf"), tmp_path / "motion.glb", 0.1).read_bytes())
    (number,) = (i for i, node in enumerate(glb.nodes) if "mesh" in node and "visual" in node["name"])
    mesh = glb.json["meshes"][glb.nodes[number]["mesh"]]
    assert mesh["name"] == "wedge.stl"
    corners = glb.array(mesh["primitives"][0]["attributes"]["POSITION"])
    world = glb.world(number, 0.0)
    seen = corners @ world[:3, :3].T + world[:3, 3]
    # up, along z of the robot, is y here
    wanted = [(0.1, -0.1, -0.2), (0.7, 0.0, 0.0)]
    np.testing.assert_allclose([seen.min(axis=0), seen.max(axis=0)], wanted, atol=1e-6)


@pytest.mark.slow
def test_what_follows_an_odd_number_of_short_indices_is_aligned(tmp_path: pathlib.Path) -> None:
    """Three triangles have nine indices of two bytes; numbers of four bytes follow them."""
    pytest.importorskip("trimesh")
    for name, a in (("one.obj", 1), ("two.obj", 2)):
        (tmp_path / name).write_text(f"v 0 0 0\nv {a} 0 0\nv 0 {a} 0\nv 0 0 {a}\nf 1 3 2\nf 1 2 4\nf 1 4 3\n")
    model = Assembly()
    model.world = World(animateWorld=False, animateGravity=False)
    for name in ("one", "two"):
        model.add(name, visualizers.FixedShape(shapeType=str(tmp_path / f"{name}.obj"), length=1.0, extra=1.0))
        model.connect(model.world.frame_b, model.parts[name].frame_a)
    glb = Glb(mbfmu.animate(model, tmp_path / "motion.glb", 0.1).read_bytes())
    found = [glb.json["meshes"][node["mesh"]]["primitives"][0] for node in glb.nodes if "mesh" in node]
    assert [glb.array(primitive["indices"]).size for primitive in found] == [9, 9]
    for a, primitive in enumerate(found, 1):
        assert np.ptp(glb.array(primitive["attributes"]["POSITION"]), axis=0) == pytest.approx([a, a, a])
