"""Contact at many points: meshes, height fields, rounded boxes; geometry against brute force, published problems."""

from __future__ import annotations

import functools
import itertools
import math
import pathlib
import sys

import casadi as ca
import fmpy
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation
from test_contact import falling

import mbfmu
from mbfmu.components import World
from mbfmu.components.contact import (
    Box,
    Capsule,
    Contact,
    ConvexMesh,
    Cylinder,
    HeightField,
    Plane,
    RigidContact,
    Sphere,
    pairs,
)
from mbfmu.components.contact.polytope import hull
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.frames import Orientation
from mbfmu.modeling import Assembly, Component, writing
from mbfmu.modeling.assembly_file import load_assembly
from mbfmu.simulation import simulate
from problems import contact_patches as published
from problems.contact import G, Touching
from problems.contact_patches import free_body

CUBE = np.array(list(itertools.product((-0.05, 0.05), repeat=3)))
TETRAHEDRON = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]
FACES = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


def cloud(n: int, seed: int = 0) -> np.ndarray:
    return 0.05 * np.random.default_rng(seed).normal(size=(n, 3))


# -- polytopes


def test_the_distance_from_a_polytope_is_the_least_and_has_its_gradient() -> None:
    body = hull(cloud(14))
    normals, offsets = np.array([face.normal for face in body.faces]), np.array([face.offset for face in body.faces])
    p = ca.SX.sym("p", 3)
    distance, slope = body.distance(p)
    function = ca.Function("distance", [p], [distance, slope, ca.gradient(distance, p)])
    for point in 2 * cloud(12, seed=1):
        nearest = minimize(
            lambda q, point=point: np.sum((q - point) ** 2),
            np.zeros(3),
            constraints={"type": "ineq", "fun": lambda q: offsets - normals @ q},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        heights = normals @ point - offsets
        expected = math.sqrt(nearest.fun) if heights.max() > 0 else heights.max()
        found, along, gradient = (np.array(value).ravel() for value in function(point))
        assert found[0] == pytest.approx(expected, abs=1e-7)
        np.testing.assert_allclose(along, gradient, atol=1e-12)


def test_faces_of_a_hull_are_polygons_and_only_their_borders_are_edges() -> None:
    body = hull(np.concatenate([CUBE, [[0, 0, 0], [0, 0, 0.05], [0, 0.05, 0.05]]]))
    assert (len(body.corners), len(body.edges), len(body.faces)) == (8, 12, 6)
    assert body.inscribed[1] == pytest.approx(0.05)
    np.testing.assert_allclose(np.abs(body.shrunk(0.01).corners), 0.04, atol=1e-12)


# -- points


def placed(shape: Component, middle, rotation: Rotation) -> pairs.Solid:
    return pairs.Solid(shape, ca.SX(ca.DM(middle)), Orientation(ca.SX(ca.DM(rotation.as_matrix().T)), np.zeros(3)))


def gaps(a: pairs.Solid, b: pairs.Solid) -> np.ndarray:
    """Gaps of all points that count."""
    points = [point for patch in pairs.patches(a, b) or [] for point in patch]
    found = ca.vertcat(*(ca.SX(ca.horzcat(point.gap, point.weight)) for point in points))
    known = [ca.vec(ca.SX(s.geometry.symbol(name))) for s in (a, b) for name in _numbers(s.geometry)]
    given = [np.ravel(s.geometry.value(name)) for s in (a, b) for name in _numbers(s.geometry)]
    if known:
        found = ca.substitute(found, ca.vertcat(*known), ca.DM(np.concatenate(given)))
    values = np.array(ca.DM(ca.evalf(found)))
    return values[values[:, 1] > 1e-3, 0]


def _numbers(shape: Component) -> list[str]:
    return [
        name
        for name in shape.parameters()
        if not (shape.declarations[name].structural or shape.declarations[name].animation)
    ]


def core_points(shape: Component) -> tuple[np.ndarray, float]:
    """Corners of what is left of a shape inside its rounding, which the test works out anew, and the rounding."""
    if isinstance(shape, Capsule):
        return np.array([[0, 0, -0.06], [0, 0, 0.06]]), 0.03
    if isinstance(shape, Box):
        return np.array(list(itertools.product((-1, 1), repeat=3))) * (np.array([0.15, 0.1, 0.08]) / 2 - 0.004), 0.004
    return CUBE * (0.045 / 0.05), 0.005


SHAPES = {
    "box": lambda: Box(length=0.15, width=0.1, height=0.08, rounding=0.004),
    "capsule": lambda: Capsule(radius=0.03, length=0.12),
    "mesh": lambda: ConvexMesh(vertices=CUBE, rounding=0.005),
}


@pytest.mark.slow
@pytest.mark.campaign("mesh-box", keep=1)
@pytest.mark.parametrize(("one", "other"), [("box", "box"), ("box", "capsule"), ("capsule", "mesh"), ("mesh", "box")])
def test_the_least_gap_of_rounded_shapes_is_their_distance(one: str, other: str) -> None:
    """The distance of the hulls of two sets of points is that of their convex combinations."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        shapes = [SHAPES[one](), SHAPES[other]()]
        rotations = Rotation.random(2, random_state=rng)
        middles = [np.zeros(3), rng.normal(size=3)]
        middles[1] *= 0.25 / np.linalg.norm(middles[1])
        corners = [
            middle + rotation.apply(core_points(shape)[0])
            for shape, rotation, middle in zip(shapes, rotations, middles, strict=True)
        ]
        sizes = [len(part) for part in corners]

        def square(x: np.ndarray, corners=corners, n=sizes[0]) -> float:
            return 1e3 * float(np.sum((x[:n] @ corners[0] - x[n:] @ corners[1]) ** 2))

        sums = [{"type": "eq", "fun": lambda x, n=sizes[0], k=k: (x[:n], x[n:])[k].sum() - 1} for k in (0, 1)]
        start = np.concatenate([np.full(n, 1 / n) for n in sizes])
        options = {"ftol": 1e-16, "maxiter": 1000}
        found = minimize(square, start, bounds=[(0, 1)] * sum(sizes), constraints=sums, method="SLSQP", options=options)
        expected = math.sqrt(found.fun / 1e3) - sum(core_points(shape)[1] for shape in shapes)
        solids = [placed(*each) for each in zip(shapes, middles, rotations, strict=True)]
        assert gaps(*solids).min() == pytest.approx(expected, abs=2e-6)
        assert gaps(*solids[::-1]).min() == pytest.approx(expected, abs=2e-6)


#: Places and turns of one shape against another of 0.1 m: inside each other, faces in one plane, edges along and across
#: each other, corner on corner, and next to these.
DEGENERATE = [
    ((x, y, z), turn)
    for x, y, z in [
        (0, 0, 0),
        (0, 0, 0.1),
        (0.1, 0, 0.1),
        (0.1, 0.1, 0.1),
        (0.05, 0, 0.1),
        (0, 0, 0.05 + 0.05 * 2**0.5),
    ]
    for turn in [(0, 0, 0), (np.pi / 4, 0, 0), (0, 0, np.pi / 2), (np.pi, 0, 0), (1e-9, 0, 1e-7)]
]
THIN = {
    "box": lambda: Box(length=0.1, width=0.1, height=0.1, rounding=0.0025),
    "mesh": lambda: ConvexMesh(vertices=CUBE),
    "sliver": lambda: ConvexMesh(vertices=CUBE * [1, 1e-3, 1]),
    "needle": lambda: ConvexMesh(vertices=CUBE * [1, 1e-3, 1e-3]),
    "sphere": lambda: Sphere(radius=0.02),
    "capsule": lambda: Capsule(radius=0.02, length=0.1),
    "cylinder": lambda: Cylinder(radius=0.05, length=0.1, rounding=0.0025),
}


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("one", ["box", "sliver", "needle"])
@pytest.mark.parametrize("other", ["mesh", "sphere", "capsule", "cylinder"])
def test_no_place_of_edges_and_faces_is_without_numbers(one: str, other: str) -> None:
    """Points, normals, gaps and the derivatives of these are finite, and bodies within each other overlap."""
    at, T = ca.SX.sym("r", 3), ca.SX.sym("T", 3, 3)
    moved, still = THIN[one](), THIN[other]()
    a, b = pairs.Solid(moved, at, Orientation(T, np.zeros(3))), placed(still, (0, 0, 0), Rotation.identity())
    found = [point for patch in pairs.patches(a, b) for point in patch]
    gap = ca.vertcat(*(point.gap for point in found))
    told = [gap, *(ca.horzcat(*column) for column in zip(*((p.normal, p.place) for p in found), strict=True))]
    told += [ca.vertcat(*(point.weight for point in found)), ca.jacobian(gap, ca.vertcat(at, ca.vec(T)))]
    # Beyond their rounding, edges do not know how deep they are; what ends such a run does
    told.append(pairs.depths_of_cores(a, b) if pairs.is_rounded(moved, still) else gap)
    known = [ca.vec(ca.SX(shape.symbol(name))) for shape in (moved, still) for name in _numbers(shape)]
    given = [np.ravel(shape.value(name)) for shape in (moved, still) for name in _numbers(shape)]
    told = ca.substitute(told, [ca.vertcat(*known)], [ca.SX(ca.DM(np.concatenate(given)))])
    function = ca.Function("told", [at, T], told)
    for place, turn in DEGENERATE:
        results = [np.array(result) for result in function(place, Rotation.from_rotvec(turn).as_matrix().T)]
        assert all(np.isfinite(result).all() for result in results), (place, turn)
        if not any(place):
            assert min(results[0][results[3] > 1e-3].min(), results[5].min()) < 0, turn


def test_edges_that_fade_out_turn_bodies_as_their_weight_has_it() -> None:
    """The torque that belongs to a weight is minus its gradient by the turn of one shape; some are between 0 and 1."""
    phi = ca.SX.sym("phi", 3)
    tilted = Rotation.from_rotvec((0.02, 0.05, -0.03)).as_matrix().T
    box, capsule = Box(length=0.2, width=0.1, height=0.1), Capsule(length=0.2, radius=0.01)
    a = pairs.Solid(
        box, ca.DM([0.01, 0.02, 0.08]), Orientation(ca.DM(tilted) @ (ca.SX.eye(3) - ca.skew(phi)), np.zeros(3))
    )
    b = placed(capsule, (0.0, 0.0, 0.0), Rotation.identity())
    (patch,) = pairs.patches(a, b)
    points = [point for point in patch if point.turn is not None]
    weights = ca.vertcat(*(point.weight for point in points))
    values = ca.Function(
        "weights", [phi], [weights, ca.jacobian(weights, phi), ca.horzcat(*(p.turn for p in points)).T]
    )
    weight, slope, turn = map(np.array, values(np.zeros(3)))
    np.testing.assert_allclose(turn, -slope, atol=1e-12)
    assert np.any((weight > 0.1) & (weight < 0.9))


def test_a_mesh_touches_planes_and_spheres_where_its_hull_does() -> None:
    points, rotation = cloud(20), Rotation.random(random_state=3)
    mesh, sphere = ConvexMesh(vertices=points), Sphere(radius=0.02)
    lowest = rotation.apply(points)[:, 2].min() + 0.3
    place = placed(mesh, (0, 0, 0.3), rotation)
    assert gaps(place, placed(Plane(), np.zeros(3), Rotation.identity())).min() == pytest.approx(lowest, abs=1e-12)
    corner = rotation.apply(points)[rotation.apply(points)[:, 2].argmin()] + (0, 0, 0.3)
    below = placed(sphere, corner - (0, 0, 0.1), Rotation.identity())
    assert gaps(place, below).min() == pytest.approx(0.08, abs=1e-12)


class Waves(HeightField):
    """A ground of waves."""

    def height(self, x, y):
        return 0.05 * ca.cos(3 * x) * ca.sin(2 * y + 0.4)


@pytest.mark.slow
def test_the_gap_over_a_field_is_the_distance_from_it() -> None:
    x = np.linspace(-1, 1, 25)
    grid = 0.05 * np.cos(3 * x[:, None]) * np.sin(2 * x + 0.4)
    for p in [(0.13, -0.4, 0.2), (-0.52, 0.3, 0.15), (0.9, 0.85, 0.2)]:

        def squared(at, p=p) -> float:
            height = 0.05 * math.cos(3 * at[0]) * math.sin(2 * at[1] + 0.4)
            return (at[0] - p[0]) ** 2 + (at[1] - p[1]) ** 2 + (height - p[2]) ** 2

        away = math.sqrt(minimize(squared, p[:2], options={"gtol": 1e-12}).fun)
        ball = placed(Sphere(radius=0.1), p, Rotation.identity())
        for field, error in ((Waves(length=2.0), 1e-9), (HeightField(z=grid, length=2.0), 2e-5)):
            ground = placed(field, np.zeros(3), Rotation.identity())
            assert gaps(ball, ground) == pytest.approx(away - 0.1, abs=error)


def test_a_field_goes_on_straight_beyond_its_border() -> None:
    x = np.linspace(-0.5, 0.5, 5)
    field = HeightField(z=np.add.outer(0.2 * x, 0.4 * x), length=1.0)
    at = ca.SX.sym("at", 2)
    z, *rest = field.shape(at[0], at[1])
    function = ca.Function("shape", [at], [z, *rest])
    for place in [(0.1, 0.2), (0.7, 0.2), (-0.9, 0.8)]:
        found = np.array([float(value) for value in function(place)])
        np.testing.assert_allclose(found, [0.2 * place[0] + 0.4 * place[1], 0.2, 0.4, 0, 0, 0], atol=1e-12)


# -- motion


@pytest.mark.slow
@pytest.mark.campaign
def test_boxes_stand_on_each_other() -> None:
    """Two turned boxes, whose faces meet where their edges cross; sticking friction bears them on a slope, too."""
    model = published.Stack(2)
    model.body1.modify(angles_start=(0.0, 0.0, 0.7))
    model.world.modify(n=(0.2, 0.0, -1.0))
    result = simulate(model, 2.0, tolerance=1e-7)
    for name in ("body0", "body1"):
        for k in range(1, 4):
            assert np.ptp(result[f"{name}.r_0[{k}]"][-50:]) < 1e-9
        assert abs(result[f"{name}.r_0[1]"][-1]) < 1e-3
    force = [result[f"contact1.f_a[{k}]"][-1] for k in range(1, 4)]
    np.testing.assert_allclose(force, np.array([-0.2, 0, 1]) * G / math.hypot(1, 0.2), atol=1e-6)


LAWS = {"d": {"d": 1.0}, "e": {"e": 0.5}, "d_n": {"d_n": 20.0}}


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("law", LAWS)
def test_energy_is_kept_but_for_what_turns_into_heat(law: str) -> None:
    """Of a mesh that is thrown onto a field with friction."""
    model = thrown(ConvexMesh(vertices=cloud(8)), Waves(length=2.0), law)
    result = simulate(System.of(model, energy=True), 0.5, interval=1e-3, tolerance=1e-8)
    assert np.abs(result["energy.balanceError"]).max() < 1e-9
    total = result["energy.total"]
    assert result["contact.gap[1]"].min() < 0
    assert np.diff(total).max() < 1e-6 * np.abs(total).max()
    assert total[-1] < total[0] - 1e-3


def thrown(shape: Component, field: Component, law: str) -> Assembly:
    class Falling(Assembly):
        def __init__(self) -> None:
            self.world = World(g=G, n=(0, 0, -1))
            self.body = free_body(0.5, (1e-3, 1e-3, 1e-3), (0, 0, 0.3), (0.5, 0, 0), (5, 2, 1))
            self.shape, self.ground = shape, field
            self.connect(self.body.frame_a, self.shape.frame_a)
            self.connect(self.world.frame_b, self.ground.frame_a)
            self.contact = Contact(geometry_a="ground", geometry_b="shape", c=1e5, mu_k=0.4, c_t=1e4, **LAWS[law])

    return Falling()


@functools.cache
def heap_text() -> str:
    vertices = [[round(float(v), 3) for v in row] for row in TETRAHEDRON]
    spinning = "w_0_start = [3, 2, 1]"
    z = [[round(0.02 * (i - 2) ** 2, 4) for _ in range(4)] for i in range(5)]
    return (
        'description = "A mesh and a ball on a field."\n[world]\nn = [0, 0, -1]\n'
        + falling("mesh", 0.1, 0.1, "ConvexMesh", f"vertices = {vertices}\nfaces = {FACES}", spinning)
        + falling("ball", -0.2, 0.1, "Sphere", "radius = 0.05", spinning)
        + "".join(
            f"""
        [[component]]
        name = "{name}OnGround"
        class = "Contact.Contact"
        parameters = {{ geometry_a = "{name}Shape", geometry_b = "ground", c = 1e4, d = 1.0, mu_k = 0.4, c_t = 1e3 }}
        """
            for name in ("mesh", "ball")
        )
        + f"""
        [[component]]
        name = "ground"
        class = "Contact.HeightField"
        parameters = {{ z = {z}, length = 1.0 }}
        [[connect]]
        a = "world.frame_b"
        b = "ground.frame_a"
        [[output]]
        variable = "mesh.r_0"
        [[output]]
        variable = "ball.r_0"
        [experiment]
        stop = 0.3
        """
    )


@pytest.mark.slow
@pytest.mark.campaign  # test_contact.py has spheres and planes
def test_fmus_of_both_versions_and_targets_agree_to_the_bit(tmp_path: pathlib.Path) -> None:
    """And what is written as a file is the same model."""
    file = tmp_path / "heap.toml"
    file.write_text(heap_text(), "utf-8")
    writing.write(load_assembly(file), tmp_path / "again.toml")
    ends = set()
    system, again = (System.of(load_assembly(path)) for path in (file, tmp_path / "again.toml"))
    for one, fmi, target, kind in (
        (system, 2, "native", "compiled"), (system, 3, "python", "auto"), (again, 3, "native", "interpreted")
    ):  # fmt: skip
        made = mbfmu.build(one, tmp_path / f"heap{fmi}{target}.fmu", fmi=fmi, target=target, equations=kind)
        names = ["mesh.r_0[3]", "ball.r_0[3]"] if fmi == 2 else ["mesh.r_0", "ball.r_0"]
        last = fmpy.simulate_fmu(str(made), stop_time=0.3, output_interval=0.01, output=names)[-1]
        ends.add(tuple(float(np.ravel(last[name])[-1]) for name in names))
    assert len(ends) == 1


# -- files, pictures


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".stl", ".obj", ".glb"])
def test_meshes_come_from_files(suffix: str, tmp_path: pathlib.Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    file = tmp_path / f"box{suffix}"
    trimesh.creation.box((0.1, 0.2, 0.3)).export(file)
    mesh = ConvexMesh(fileName=str(file), scale=(2, 1, 1), lengthDirection=(0, 1, 0), widthDirection=(1, 0, 0))
    np.testing.assert_allclose(np.ptp(mesh.polytope.corners, axis=0), [0.2, 0.2, 0.3], atol=1e-7)
    assert len(mesh.polytope.corners) == 8


@pytest.mark.slow
def test_meshes_and_fields_are_drawn() -> None:
    model = thrown(ConvexMesh(vertices=CUBE), Waves(length=2.0), "d")
    shapes = {(shape.component, shape.name): shape for shape in System.of(model, scene=True).scene.shapes}
    assert {("shape", "mesh"), ("ground", "ground"), ("contact", "force1Line")} <= set(shapes)


# -- wrong inputs


def on_plane(shape: Component, contact: type[Component] = Contact, **law) -> Touching:
    return Touching(shape, law or {"c": 1e5}, height=0.5, contact=contact)


class Formed(HeightField):
    """A ground by a function that a test gives."""

    modelica_name = None

    def __init__(self, function) -> None:
        self._function = function
        super().__init__()

    def height(self, x, y):
        return self._function(x, y)


DENTED = [*TETRAHEDRON, [0.02, 0.02, 0.02]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", r"has no faces; export it with its surfaces as triangles"),
        ("cut.stl", "\0" * 90, r"cannot be read \(.*\); repair or convert it|has no faces"),
        ("cut.ply", "ply\nformat ascii 1.0\nelement vertex 3\n", r"cannot be read \(.*\); repair or convert it"),
    ],
)  # fmt: skip
def test_damaged_meshes_are_refused(tmp_path: pathlib.Path, name: str, content: str, message: str) -> None:
    pytest.importorskip("trimesh", reason="no trimesh: the extra mbfmu[meshes] has it")
    (tmp_path / name).write_text(content)
    with pytest.raises(ModelError, match=rf"ConvexMesh\.fileName = '.*{name}': {message}"):
        ConvexMesh(fileName=str(tmp_path / name))


def test_a_mesh_without_its_reader_names_the_extra(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.obj").write_text("v 0 0 0\n")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(
        ModelError, match=r"fileName = '.*one\.obj': reading it needs trimesh; `pip install mbfmu\[mesh"
    ):
        ConvexMesh(fileName=str(tmp_path / "one.obj"))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConvexMesh(), r"ConvexMesh: a mesh without vertices; give a file, or vertices"),
        (lambda: ConvexMesh(vertices=[[0, 0]]), r"vertices has the shape \(1, 2\); expected three coordinates"),
        (lambda: ConvexMesh(vertices=[[0, 0, math.nan]]), r"every value must be finite"),
        (lambda: ConvexMesh(vertices=CUBE * [1, 1, math.inf]), r"^ConvexMesh.vertices\[1,3\] = -?inf: every value"),
        (
            lambda: ConvexMesh(vertices=CUBE * 1e200, scale=(1e200, 1e200, 1e200)),
            r"ConvexMesh.vertices: has coordinates that are no finite numbers; repair it, or correct scale",
        ),
        (lambda: ConvexMesh(vertices=CUBE[:4]), r"vertices: encloses no volume; give four points or more"),
        (
            lambda: ConvexMesh(vertices=TETRAHEDRON, faces=[0, 1, 4]),
            r"faces: expected three numbers of vertices, 0 to 3",
        ),
        (
            lambda: ConvexMesh(vertices=DENTED, faces=[0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 2, 3, 4, 3, 1, 4]),
            r"is not convex: face 3 lies 0\.\d+ m inside its hull; give hull = true to take the hull",
        ),
        (lambda: ConvexMesh(fileName="nowhere.stl"), r"fileName = 'nowhere.stl': there is no such file"),
        (lambda: ConvexMesh(fileName="some.txt"), r"is none of .stl, .obj"),
        (lambda: ConvexMesh(vertices=CUBE, rounding=0.06), r"rounding = 0.06: the greatest sphere inside .* 0.05 m"),
        (lambda: ConvexMesh(vertices=CUBE, rounding=0.0), r"rounding = 0.0: must not be 0"),
        (lambda: Box(length=0.1, rounding=0.05), r"rounding = 0.05: half the least side is 0.05 m; give a smaller one"),
        (lambda: HeightField(), r"HeightField.z: has the shape \(0, 0\); a grid has 4 rows and columns or more"),
        (lambda: HeightField(z=np.zeros((4, 4)), length=0), r"HeightField.length = 0: must not be 0"),
        (lambda: Formed(lambda x, y: math.sin(x) + y), r"Formed: height\(\) reckons with nan; .* take those of casadi"),
        (lambda: Formed(lambda x, y: x if x > 0 else y), r"Formed: height\(\) fails .*casadi's if_else, fmin and fmax"),
        (lambda: Formed(lambda x, y: [x, y]), r"Formed: height\(\) fails with CasADi symbols \(.*\); write it with"),
        (lambda: Formed(lambda x, y: ca.vertcat(x, y)), r"Formed: height\(\) gives 2 numbers; it is to give one"),
        (lambda: on_plane(HeightField(z=np.zeros((4, 4)))), r"are two grounds, which do not touch"),
        (
            lambda: on_plane(ConvexMesh(vertices=CUBE), RigidContact, e=0.5),
            r"points that are too many for rigid bodies",
        ),
        (
            lambda: published.Thrown(ConvexMesh(vertices=cloud(90)), ConvexMesh(vertices=cloud(80))),
            r"would take about \de\+0\d operations each time .* give a mesh with fewer faces",
        ),
    ],
)
def test_wrong_inputs_are_told_in_one_line(make, message: str) -> None:
    def read() -> None:
        made = make()
        if isinstance(made, Assembly):
            System.of(made)

    with pytest.raises(ModelError, match=message) as caught:
        read()
    assert "\n" not in str(caught.value)


def test_the_hull_takes_the_place_of_a_mesh_that_is_not_convex() -> None:
    assert len(ConvexMesh(vertices=DENTED, faces=[0, 1, 4], hull=True).polytope.corners) == 4


class OnBox(Assembly):
    """A capsule that falls onto a box."""

    def __init__(self, height: float, c: float, capsule: Component | None = None) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        self.body = free_body(1.0, (1e-3, 1e-3, 1e-3), (0, 0, height))
        self.capsule, self.box = (
            capsule or Capsule(radius=0.02, length=0.1, n=(1, 0, 0)),
            Box(length=0.1, rounding=0.005),
        )
        self.contact = Contact(geometry_a="capsule", geometry_b="box", c=c)
        self.connect(self.body.frame_a, self.capsule.frame_a)
        self.connect(self.world.frame_b, self.box.frame_a)


@pytest.mark.slow
def test_rounded_shapes_that_overlap_are_told_at_the_start_and_where_edges_are_pressed_in() -> None:
    with pytest.raises(InitializationError, match=r"capsule and box overlap at the start by 0\.015 m more than their"):
        simulate(OnBox(0.03, 1e5), 0.1)
    with pytest.raises(
        SimulationError, match=r"capsule and box are pressed into each other by more than 90 %.*greater"
    ):
        simulate(OnBox(0.2, 100.0), 0.5)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    "bar",
    [
        Capsule(radius=0.005, length=0.4, r=(0.03, 0.02, 0.0)),
        Box(length=0.01, height=0.4, r=(0.03, 0.02, 0.0), rounding=0.001),
        Cylinder(radius=0.005, length=0.4, r=(0.03, 0.02, 0.0)),
    ],
)
def test_a_bar_through_a_box_is_told_at_the_start(bar: Component) -> None:
    """No corner and no edge of either is near the other: the gap alone says that they are apart."""
    with pytest.raises(InitializationError, match=r"capsule and box overlap at the start by 0\.0\d+ m more than"):
        simulate(OnBox(0.1, 1e5, bar), 0.1)
