"""Contact: shapes against brute force, laws against closed forms, published problems, energy, wrong inputs."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import math
import pathlib

import casadi as ca
import fmpy
import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.spatial.transform import Rotation

import mbfmu
from mbfmu.components import Prismatic, World
from mbfmu.components.contact import (
    Box,
    Capsule,
    Contact,
    ContactGroup,
    Cylinder,
    Ellipsoid,
    Plane,
    Sphere,
    laws,
    pairs,
)
from mbfmu.components.contact.geometry import Geometry
from mbfmu.components.parts import Body
from mbfmu.dynamics.system import System
from mbfmu.errors import InitialConditionsWarning, InitializationError, ModelError, SimulationError
from mbfmu.fmus.gripper import Gripper
from mbfmu.frames import Orientation
from mbfmu.modeling import Assembly, Component, Frame_a, Start, writing
from mbfmu.modeling.assembly_file import load_assembly
from mbfmu.runtime.run import Run, place
from mbfmu.simulation import simulate
from problems import contact as published
from problems.contact import G, Touching

# -- shapes


R, L, HALF = 0.1, 0.3, np.array([0.15, 0.1, 0.05])
SHAPES = {
    "sphere": (lambda: Sphere(radius=R), lambda p: R**2 - p @ p),
    "capsule": (
        lambda: Capsule(radius=R, length=L, n=(1, 0, 0)),
        lambda p: R**2 - (p[0] - np.clip(p[0], -L / 2, L / 2)) ** 2 - p[1] ** 2 - p[2] ** 2,
    ),
    "cylinder": (
        lambda: Cylinder(radius=R, length=L, n=(1, 0, 0), crown=1e-6),
        lambda p: np.array([R**2 - p[1] ** 2 - p[2] ** 2, L / 2 - p[0], L / 2 + p[0]]),
    ),
    "box": (
        lambda: Box(length=L, width=0.2, height=0.1),
        lambda p: np.ravel([HALF - p, HALF + p]),
    ),
    "ellipsoid": (
        lambda: Ellipsoid(length=L, width=0.2, height=0.1),
        lambda p: 1 - np.sum((p / HALF) ** 2),
    ),
}


def values(expression) -> np.ndarray:
    """Numbers of an expression in parameters, which have their own values."""
    return np.array(ca.DM(ca.evalf(ca.SX(expression)))).squeeze()


def seen_alone(solid: Component, key: str) -> np.ndarray:
    """Numbers of what one geometry draws when it stands in the world."""

    class Shown(Assembly):
        def __init__(self) -> None:
            self.world = World(animateWorld=False, animateGravity=False)
            self.solid = solid
            self.connect(self.world.frame_b, self.solid.frame_a)

    system = System.of(Shown(), scene=True)
    (shape,) = (shape for shape in system.scene.shapes if shape.ident.startswith("solid."))
    result = simulate(system, 1e-3, interval=1e-3, outputs=list(system.scene.variables) or None)
    return np.array([result[q][0] if isinstance(q, str) else q for q in shape.quantities[key]])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cylinder", "box", "ellipsoid"])
def test_what_touches_is_seen_where_it_is(name: str) -> None:
    """The middle of a shape that is drawn from its end lies at r."""
    middle = (0.4, 0.1, -0.2)

    def numbers(key: str) -> np.ndarray:
        solid = SHAPES[name][0]()
        solid.modify(r=middle)
        return seen_alone(solid, key)

    along = numbers("lengthDirection") / np.linalg.norm(numbers("lengthDirection"))
    seen = numbers("r") + numbers("T").reshape(3, 3).T @ (numbers("r_shape") + along * numbers("length") / 2)
    np.testing.assert_allclose(seen, middle, atol=1e-12)
    assert numbers("length") == pytest.approx(L)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "sizes", "along"),
    [
        ({}, (0.02, 2, 2), (1, 0, 0)),
        ({"n": (3, 0, 0)}, (0.02, 2, 2), (0, 1, 0)),
        ({"width": 0.5}, (0.02, 2, 0.5), (1, 0, 0)),
        ({"width": 0.5, "lengthDirection": (0, 1, 0)}, (0.02, 2, 0.5), (0, 1, 0)),
    ],
)
def test_a_plane_is_seen_as_a_rectangle(given, sizes, along) -> None:
    for key, number in zip(("length", "width", "height"), sizes, strict=True):  # of the box: along n, then across
        assert seen_alone(Plane(length=2.0, **given), key) == pytest.approx(number)
    assert seen_alone(Plane(length=2.0, **given), "widthDirection") == pytest.approx(along)


def found(a: Component, b: Component, middles, rotations) -> list[pairs.Point]:
    """Points of two shapes at places [m] and rotations, with numbers for parameters and what they give."""
    solids = [
        pairs.Solid(shape, ca.SX(ca.DM(middle)), Orientation(ca.SX(ca.DM(rotation.as_matrix().T)), np.zeros(3)))
        for shape, middle, rotation in zip((a, b), middles, rotations, strict=True)
    ]
    symbols, numbers = [], []
    for shape in (a, b):
        for name in shape.parameters():
            if not (shape.declarations[name].structural or shape.declarations[name].animation):
                symbols.append(ca.vec(ca.SX(shape.symbol(name))))
                numbers.append(np.ravel(shape.value(name)))
    given, numbers = ca.vertcat(*symbols), np.concatenate(numbers)

    def number(expression) -> np.ndarray:
        return values(ca.substitute(ca.SX(expression), given, ca.DM(numbers)))

    points = [point for patch in pairs.patches(*solids) or [] for point in patch]
    return [pairs.Point(*(number(part) for part in (p.gap, p.normal, p.place, p.weight))) for p in points]


def nearest(inside_a, inside_b, middles, rotations) -> float:
    """Least distance of two convex solids, found by SLSQP."""

    def local(p, i):
        return rotations[i].inv().apply(p - middles[i])

    constraints = [
        {"type": "ineq", "fun": lambda x: np.ravel(inside_a(local(x[:3], 0)))},
        {"type": "ineq", "fun": lambda x: np.ravel(inside_b(local(x[3:], 1)))},
    ]
    best = min(
        (
            minimize(
                lambda x: np.sum((x[:3] - x[3:]) ** 2),
                np.concatenate(middles) + noise,
                constraints=constraints,
                method="SLSQP",
                options={"maxiter": 400, "ftol": 1e-15},
            )
            for noise in np.random.default_rng(3).normal(0, 0.02, (3, 6))
        ),
        key=lambda one: one.fun if one.success else math.inf,
    )
    return math.sqrt(best.fun)


PAIRS = [
    *(("sphere", other) for other in SHAPES),
    ("capsule", "capsule"),
    ("ellipsoid", "capsule"),
    ("ellipsoid", "ellipsoid"),
]


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_gaps_of_pairs_are_the_least_distances(one: str, other: str) -> None:
    rng = np.random.default_rng(7)
    (make_a, inside_a), (make_b, inside_b) = SHAPES[one], SHAPES[other]
    for swapped in (False, True):
        middles = [
            rng.normal(0, 0.05, 3),
            rng.normal(0, 0.05, 3) + 0.6 * Rotation.random(random_state=rng).apply((1, 0, 0)),
        ]
        rotations = [Rotation.random(random_state=rng) for _ in range(2)]
        (point,) = found(make_a(), make_b(), middles, rotations)
        assert point.gap == pytest.approx(nearest(inside_a, inside_b, middles, rotations), abs=1e-6)
        (back,) = found(make_b(), make_a(), middles[::-1], rotations[::-1])
        np.testing.assert_allclose(back.normal, -point.normal, atol=1e-12)
        np.testing.assert_allclose([back.gap, *back.place], [point.gap, *point.place], atol=1e-12)
        half = point.normal * point.gap / 2  # the place lies between points of both surfaces
        for inside, p, i in ((inside_a, point.place + half, 0), (inside_b, point.place - half, 1)):
            assert abs(np.min(inside(rotations[i].inv().apply(p - middles[i])))) < 1e-9, swapped


@pytest.mark.parametrize("half", [(0.1, 0.1, 0.1), (0.1, 0.05, 0.02), (1.0, 0.01, 0.01), (1.0, 0.3, 0.01)])
def test_the_distance_from_an_ellipsoid_is_that_along_its_normal(half: tuple[float, float, float]) -> None:
    """Of points over and just below the surface of balls, needles and discs, with a gradient that is exact."""
    p, shape = ca.SX.sym("p", 3), Ellipsoid(**dict(zip(("length", "width", "height"), 2 * np.array(half), strict=True)))
    distance, slope = shape.distance(p)
    sizes = [shape.symbol(name) for name in ("length", "width", "height")]
    function = ca.Function("distance", [p, *sizes], [distance, slope, ca.gradient(distance, p)])
    rng = np.random.default_rng(2)
    for away in [-1e-5, 0.0, 1e-4, 1e-2, 1.0, 10.0] * 5:
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        normal = direction / half / np.linalg.norm(direction / half)
        found, along, gradient = (np.ravel(v) for v in function(half * direction + away * normal, *2 * np.array(half)))
        assert found[0] == pytest.approx(away, rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(along, normal, atol=1e-9)
        np.testing.assert_allclose(gradient, normal, atol=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_a_plane_is_touched_where_a_shape_is_lowest(name: str) -> None:
    rng = np.random.default_rng(5)
    make, inside = SHAPES[name]
    middle, rotation = rng.normal(0, 1, 3), Rotation.random(random_state=rng)
    down = rotation.inv().apply((0, 0, -1))
    lowest = minimize(
        lambda p: -p @ down,
        0.01 * down,
        constraints={"type": "ineq", "fun": lambda p: np.ravel(inside(p))},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    expected = middle[2] + lowest.fun
    points = found(make(), Plane(), [middle, np.zeros(3)], [rotation, Rotation.identity()])
    assert min(point.gap for point in points) == pytest.approx(expected, abs=1e-6)
    assert all(np.allclose(point.normal, (0, 0, 1)) for point in points)


def test_crowned_ends_keep_length_and_radius() -> None:
    """A standing cylinder touches in the middle of its end, a lying one with its rims, pulled in by the crown."""
    shape, middles = Cylinder(radius=R, length=L, crown=0.01), [(0, 0, 0.2), np.zeros(3)]
    standing = found(shape, Plane(), middles, [Rotation.identity()] * 2)
    assert min(point.gap for point in standing) == pytest.approx(0.2 - L / 2, abs=1e-12)
    lying = found(shape, Plane(), middles, [Rotation.from_euler("y", 90, degrees=True), Rotation.identity()])
    np.testing.assert_allclose([point.gap for point in lying], 0.2 - R, atol=1e-12)
    np.testing.assert_allclose(sorted(point.place[0] for point in lying), [-0.149, 0.149], atol=1e-12)


@pytest.mark.parametrize("name", ["capsule", "cylinder", "box"])
def test_a_sphere_inside_is_pushed_out_by_the_nearest_way(name: str) -> None:
    """Its centre has just gone in through the side in -z."""
    depth = 0.005
    half = 0.05 if name == "box" else R
    (point,) = found(
        Sphere(radius=0.02), SHAPES[name][0](), [(0.01, 0, -half + depth), np.zeros(3)], [Rotation.identity()] * 2
    )
    assert point.gap == pytest.approx(-0.02 - depth, abs=1e-12)
    np.testing.assert_allclose(point.normal, (0, 0, -1), atol=1e-12)


# -- laws


@pytest.mark.parametrize("e", [0.05, 0.2, 0.37, 0.4, 0.45, 0.5, 0.7, 0.9, 0.99])
def test_damping_of_a_restitution_solves_its_equation(e: float) -> None:
    found = float(laws.damping_number(ca.DM(e)))
    exact = brentq(lambda D: D * (1 + e) - np.log1p(D) + np.log1p(-e * D), 1e-4, (1 - 1e-14) / e, xtol=1e-15)
    assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("e", "n"), [(0.3, 1.0), (0.8, 1.5)])
def test_bodies_part_with_the_restitution_asked_for(e: float, n: float) -> None:
    model = Touching(Sphere(radius=0.1), {"c": 1e5, "n": n, "e": e}, height=0.11, v=(0, 0, -2), g=0.0)
    result = simulate(model, 0.1, tolerance=1e-9)
    assert result["body.v_0[3]"][-1] == pytest.approx(2 * e, rel=1e-6)


def test_damping_never_pulls() -> None:
    assert float(laws.hunt_crossley(10.0, 0.5, 1.0)) == 15.0
    assert float(laws.hunt_crossley(10.0, 0.5, -1.0)) == 5.0
    assert float(laws.hunt_crossley(10.0, 0.5, -3.0)) == 0.0


def test_a_bristle_sticks_slides_and_relaxes() -> None:
    """Up to the limit it is spring and damper; then its resistance is the limit, along both of them."""

    def bristle(z, v, most):
        return [np.ravel(ca.DM(part)) for part in laws.bristle(100.0, 10.0, ca.DM(z), ca.DM(v), most)]

    resistance, rate = bristle([0.01, 0, 0], [0, 0.2, 0], 3.0)
    np.testing.assert_allclose([resistance, rate], [[1, 2, 0], [0, 0.2, 0]], atol=1e-15)
    resistance, rate = bristle([0.03, 0, 0], [0, 0.4, 0], 1.0)
    np.testing.assert_allclose(resistance, [0.6, 0.8, 0], atol=1e-15)
    np.testing.assert_allclose(rate, (resistance - [3, 0, 0]) / 10, atol=1e-15)
    resistance, rate = bristle([0.03, 0, 0], [5, 0, 0], 0.0)
    np.testing.assert_allclose([resistance, rate], [[0, 0, 0], [-0.3, 0, 0]], atol=1e-15)
    assert float(laws.coulomb(0.2, 0.5, 0.1, ca.DM([0, 0, 0]))) == 0.5
    assert float(laws.coulomb(0.2, 0.5, 0.1, ca.DM([0.06, 0.08, 0]))) == pytest.approx(0.2 + 0.3 / math.e)


@pytest.mark.slow
def test_landings_come_to_those_of_a_rigid_ball_as_stiffness_grows() -> None:
    errors = []
    for c in (1e6, 1e8):
        times, _ = published.landings(c, 1e-9, 4)
        errors.append(times[-1] - published.landing(4))
    assert errors[1] / errors[0] == pytest.approx(0.1, abs=0.02)  # contact lasts as long as 1/sqrt(c)


def test_friction_breaks_loose_at_its_static_limit_and_then_slides() -> None:
    class Pulled(Assembly):
        """A ball on a plane, whose rail a force pulls that grows by 1 N a second."""

        def __init__(self) -> None:
            self.world = World(g=G, n=(0, 0, -1))
            self.rail, self.lift = Prismatic(n=(1, 0, 0)), Prismatic(n=(0, 0, 1), s=Start(0.1 - G / 1e6, fixed=True))
            self.body = Body(m=1.0, r_CM=(0, 0, 0))
            self.ball, self.ground = Sphere(radius=0.1), Plane()
            self.contact = Contact(
                geometry_a="ball", geometry_b="ground", c=1e6, d=100.0, mu_k=0.2, mu_s=0.5, v_S=1e-3, c_t=1e5
            )
            self.connect(self.world.frame_b, self.rail.frame_a)
            self.connect(self.rail.frame_b, self.lift.frame_a)
            self.connect(self.lift.frame_b, self.body.frame_a)
            self.connect(self.body.frame_a, self.ball.frame_a)
            self.connect(self.world.frame_b, self.ground.frame_a)

    class Driven(Pulled):
        def __init__(self) -> None:
            from mbfmu.components import blocks, translational

            super().__init__()
            self.rail.useAxisFlange = True
            self.ramp, self.force = blocks.Ramp(height=10.0, duration=10.0), translational.Force()
            self.connect(self.ramp.y, self.force.f)
            self.connect(self.force.flange, self.rail.axis)

    with pytest.warns(InitialConditionsWarning):
        result = simulate(Driven(), 6.0, interval=1e-3, tolerance=1e-7)
    t, v, f_t = result.time, result["rail.v"], result["contact.f_t[1]"]
    assert t[np.argmax(v > 1e-2)] == pytest.approx(0.5 * G, abs=0.02)
    assert f_t.max() == pytest.approx(0.5 * G, rel=1e-3)
    assert f_t[-1] == pytest.approx(0.2 * G, rel=1e-6)
    np.testing.assert_allclose(v[t < 0.49 * G], 0, atol=1e-4)


# -- published problems


@pytest.mark.slow
def test_hertz_has_the_published_figures() -> None:
    depth, duration = published.hertz()
    assert depth == pytest.approx(1.176079e-3, rel=5e-7)
    assert duration == pytest.approx(3.461524e-3, rel=5e-7)
    ours = published.solve_hertz(1e-8).values
    assert ours["contact-hertz-depth"] == pytest.approx(1.176079e-3, rel=1e-5)
    assert ours["contact-hertz-duration"] == pytest.approx(3.461524e-3, rel=1e-5)


# -- systems


def free_body(r, v, w, *, m: float = 1.0, J: float = 0.01, angles=(0.3, 0.2, 0.1)) -> Body:
    """A body that starts at r with v, turned by angles and turning with w."""
    return Body(
        m=m,
        r_CM=(0, 0, 0),
        I_11=J,
        I_22=J,
        I_33=J,
        r_0=Start(r, fixed=True),
        v_0=Start(v, fixed=True),
        angles_start=angles,
        angles_fixed=True,
        w_0_start=w,
        w_0_fixed=True,
    )


LAW = {"c": 1e4, "n": 1.2, "d": 0.3, "mu_k": 0.3, "mu_s": 0.5, "c_t": 1e4, "mu_r": 1e-3, "mu_d": 1e-3, "c_r": 10.0}


class Meeting(Assembly):
    """Two bodies that fly towards each other and turn."""

    stop_time = 0.15
    tolerance = 1e-8

    def __init__(self, one: Component, other: Component, **law) -> None:
        self.world = World(gravityType="NoGravity")
        self.a = free_body((0.02, 0.01, 0.16), (0, 0, -2.0), (3, -2, 1))
        self.b = free_body((-0.02, 0, -0.12), (0, 0, 2.0), (-1, 3, 2), angles=(0, 0.1, 0))
        self.one, self.other = one, other
        self.connect(self.a.frame_a, self.one.frame_a)
        self.connect(self.b.frame_a, self.other.frame_a)
        self.contact = Contact(geometry_a=self.one, geometry_b=self.other, **{**LAW, **law})


@pytest.mark.slow
@pytest.mark.campaign
def test_a_gripped_part_is_held_by_fixed_steps() -> None:
    """Sixty seconds by steps of 1 ms: what sticks does not creep, and the loops of the fingers stay closed."""
    system = System.of(Gripper())
    equations = dataclasses.replace(system.equations, solver="explicit", fixed_step=1e-3)
    run = Run(equations, system.variables, start_time=0.0, stop_time=63.0)
    run.finish_initialisation()
    variables = {variable.name: variable for variable in system.variables}
    names = [f"part.r_0[{i}]" for i in (1, 2, 3)]
    rows = run.rows(np.array([0.0, 3.0, 63.0]), np.array([place(variables[name]) for name in names], dtype=np.int32))
    assert rows[1, 2] == pytest.approx(rows[0, 2] + 0.1, abs=3e-4)
    assert np.abs(rows[2] - rows[1]).max() < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.0, 0.02])
def test_a_linear_damper_lets_go_before_it_pulls(margin: float) -> None:
    """Impact of a mass on spring and damper: force and speed at its end are those of the free oscillator."""
    c, d, v = 1e4, 60.0, 1.0
    model = Touching(Sphere(radius=0.1), {"c": c, "d_n": d, "margin": margin}, height=0.1 + margin, v=(0, 0, -v), g=0.0)
    w = math.sqrt(c - d**2 / 4)

    def depth(t: float) -> float:
        return v / w * math.exp(-d / 2 * t) * math.sin(w * t)

    def speed(t: float) -> float:
        return v * math.exp(-d / 2 * t) * (math.cos(w * t) - d / (2 * w) * math.sin(w * t))

    end = brentq(lambda t: c * depth(t) + d * speed(t), 1e-3, math.pi / w)
    result = simulate(model, 0.1, interval=1e-3, tolerance=1e-9)
    assert result["body.v_0[3]"][-1] == pytest.approx(-speed(end), rel=1e-6)
    assert result["contact.f_n[1]"].min() == 0.0
    ours = result["body.r_0[3]"][10]
    assert ours == pytest.approx(0.1 + margin - depth(0.01), abs=1e-8)


MEETINGS = [
    *(("sphere", other) for other in ("sphere", "capsule", "cylinder", "box")),
    ("capsule", "capsule"),
    *((name, "plane") for name in SHAPES),
]


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize(("one", "other"), MEETINGS)
def test_energy_is_kept_but_for_what_turns_into_heat(one: str, other: str) -> None:
    """Forces belong to the stored energy, whatever the shapes, and no impact makes bodies faster."""
    shapes = [Plane() if name == "plane" else SHAPES[name][0]() for name in (one, other)]
    system = System.of(Meeting(*shapes), energy=True)
    result = simulate(system, interval=1e-4)
    gap = np.min([result[name] for name in result if name.startswith("contact.gap[")], axis=0)
    assert gap.min() < -1e-3  # they have met
    assert np.abs(result["energy.balanceError"]).max() < 1e-9
    total = result["energy.total"]
    assert np.diff(total).max() < 1e-6 * total[0]
    assert total[-1] < 0.99 * total[0]


def falling(name: str, x: float, z: float, shape: str, parameters: str, more: str = "") -> str:
    """A body at rest with a geometry, in an assembly file."""
    return f"""
        [[component]]
        name = "{name}"
        class = "MultiBody.Parts.Body"
        [component.parameters]
        m = 0.3
        r_CM = [0, 0, 0]
        r_0 = {{ start = [{x}, 0, {z}], fixed = true }}
        v_0 = {{ start = [0, 0, 0], fixed = true }}
        angles_fixed = true
        w_0_fixed = true
        {more}
        [[component]]
        name = "{name}Shape"
        class = "Contact.{shape}"
        [component.parameters]
        {parameters}
        [[connect]]
        a = "{name}.frame_a"
        b = "{name}Shape.frame_a"
    """


@functools.cache
def heap_file() -> str:
    return (
        'description = "Two balls fall onto the ground, and onto each other."\n[world]\nn = [0, 0, -1]\n'
        + falling("low", 0.0, 0.06, "Sphere", "radius = 0.05")
        + falling("high", 0.01, 0.17, "Sphere", "radius = 0.05")
        + """
        [[component]]
        name = "ground"
        class = "Contact.Plane"
        [[connect]]
        a = "world.frame_b"
        b = "ground.frame_a"
        [[component]]
        name = "touch"
        class = "Contact.ContactGroup"
        [component.parameters]
        geometries_a = ["lowShape", "highShape", "ground"]
        exclude = [["highShape", "ground"]]
        c = 1e4
        e = 0.5
        mu_k = 0.4
        c_t = 1e3
        [[output]]
        variable = "high.r_0"
        [[output]]
        variable = "touch.lowShape_ground.f_n"
        [experiment]
        stop = 0.4
        """
    )


@pytest.fixture
def heap(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "heap.toml"
    file.write_text(heap_file(), "utf-8")
    return file


@pytest.mark.slow
def test_a_group_has_all_pairs_but_those_left_out(heap: pathlib.Path, tmp_path: pathlib.Path) -> None:
    model = load_assembly(heap)
    assert list(model.touch.parts) == ["lowShape_highShape", "lowShape_ground"]
    result = simulate(model)
    assert result["touch.lowShape_highShape.f_n[1]"].max() > 1
    for suffix in (".py", ".toml"):
        writing.write(model, tmp_path / f"again{suffix}")
    assert 'geometries_a=("lowShape", "highShape", "ground")' in (tmp_path / "again.py").read_text("utf-8")
    for again in (load_assembly(tmp_path / "again.toml"), copy.deepcopy(model)):
        assert list(again.touch.parts) == list(model.touch.parts)
        assert again.touch.value("exclude") == (("highShape", "ground"),)


@pytest.mark.slow
@pytest.mark.campaign
def test_fmus_of_both_versions_and_targets_agree_to_the_bit(heap: pathlib.Path, tmp_path: pathlib.Path) -> None:
    ends, system = set(), System.of(load_assembly(heap))
    for fmi, target in itertools.product((2, 3), ("native", "python")):
        file = mbfmu.build(system, tmp_path / f"heap{fmi}{target}.fmu", fmi=fmi, target=target)
        names = ["high.r_0[3]", "low.r_0[3]"] if fmi == 2 else ["high.r_0", "low.r_0"]
        last = fmpy.simulate_fmu(str(file), stop_time=0.4, output_interval=0.01, output=names)[-1]
        ends.add(tuple(float(np.ravel(last[name])[-1]) for name in names))
    assert len(ends) == 1


def test_pairs_of_a_group_whose_names_would_be_one_have_two() -> None:
    group = ContactGroup(geometries_a=["a_b", "a"], geometries_b=["c", "b_c"], c=1.0)
    assert list(group.parts) == ["a_b_c", "a_b_b_c", "a_c", "a_b_c_"]
    assert [part.value("geometry_a") for part in group.parts.values()] == ["a_b", "a_b", "a", "a"]


def test_the_distance_from_a_plane_is_that_along_its_normal() -> None:
    found, slope = Plane(n=(1, 2, -2)).distance(ca.DM([3.0, 1.0, 0.5]))
    assert float(found) == pytest.approx((3 + 2 - 1) / 3)
    np.testing.assert_allclose(values(slope), np.array([1, 2, -2]) / 3)


def test_a_capsule_is_drawn_with_a_ball_at_either_end() -> None:
    class Shown(Assembly):
        def __init__(self) -> None:
            self.world = World(animateWorld=False, animateGravity=False)
            self.solid = Capsule(radius=0.1, length=0.6, n=(0, 3, 4), r=(1.0, 2.0, 3.0))
            self.connect(self.world.frame_b, self.solid.frame_a)

    system = System.of(Shown(), scene=True)
    result = simulate(system, 1e-3, interval=1e-3, outputs=list(system.scene.variables))
    shapes = {shape.name: shape for shape in system.scene.shapes if shape.component == "solid"}

    def numbers(name: str, key: str) -> np.ndarray:
        return np.array([result[q][0] if isinstance(q, str) else q for q in shapes[name].quantities[key]])

    for name, sign in (("first", 1), ("last", -1)):
        middle = numbers(name, "r_shape") + numbers(name, "lengthDirection") * numbers(name, "length") / 2
        np.testing.assert_allclose(middle, np.array([1, 2, 3]) + sign * 0.3 * np.array([0, 0.6, 0.8]), atol=1e-12)
        np.testing.assert_allclose(numbers(name, "width"), 0.2)
    (barrel,) = (name for name in shapes if name not in ("first", "last"))
    np.testing.assert_allclose(numbers(barrel, "length"), 0.6)


class Foot(Assembly):
    """A part that brings its own shape."""

    frame_a = Frame_a("Where it is mounted")

    def __init__(self) -> None:
        self.ball = Sphere(radius=0.1)
        self.connect(self.frame_a, self.ball.frame_a)


@pytest.mark.slow
def test_contacts_reach_into_parts_and_out_of_them() -> None:
    class Outer(Touching):
        def __init__(self) -> None:
            super().__init__(Foot(), {"c": 1e6, "d": 100.0}, height=0.1 - G / 1e6)
            self.contact.geometry_a = "shape.ball"

    result = simulate(Outer(), 0.1, tolerance=1e-10)
    assert result["contact.f_n[1]"][-1] == pytest.approx(G, rel=1e-6)
    # Through its mounting the body presses the foot down, which the ground presses up
    assert result["shape.frame_a.f[3]"][-1] == pytest.approx(-G, rel=1e-6)


@pytest.mark.slow
def test_a_ball_at_rest_has_its_frequency_and_its_depth() -> None:
    """Derivatives of the contact are exact: c/m, and the depth of rest, m g/c."""
    model = Touching(Sphere(radius=0.1), {"c": 1e4}, height=0.1 - G / 1e4)
    linear = mbfmu.linearize(System.of(model))
    frequencies = np.abs(np.linalg.eigvals(linear.A))
    assert frequencies.max() == pytest.approx(100.0, rel=1e-9)


@pytest.mark.slow
def test_rest_rolling_and_grazing_cost_no_events() -> None:
    def events(model: Assembly, stop: float) -> int:
        system = System.of(model)
        run = Run(system.equations, system.variables, stop_time=stop)
        run.finish_initialisation()
        run.rows(np.linspace(0, stop, 5), np.array([0], dtype=np.int32))
        return run.instance.statistics()["events"]

    law = {"c": 1e5, "d": 10.0, "mu_k": 0.3, "c_t": 1e5}
    rest = Touching(Box(length=0.2, height=0.1), law, height=0.05 - G / 4e5)
    assert events(rest, 10.0) == 0
    rolling = Touching(Sphere(radius=0.1), law, height=0.1 - G / 1e5, v=(1, 0, 0), w=(0, 10, 0))
    assert events(rolling, 2.0) == 0
    grazing = Touching(Sphere(radius=0.1), law, height=0.1, v=(1, 0, 0), g=0.0)
    assert events(grazing, 2.0) <= 1


@pytest.mark.slow
@pytest.mark.campaign
def test_a_stack_stays_where_it_is() -> None:
    """Boxes that carry a plane on top each: the lowest bears all, and nothing creeps."""

    class Stack(Assembly):
        def __init__(self, count: int = 3) -> None:
            self.world, self.ground = World(g=G, n=(0, 0, -1)), Plane()
            self.connect(self.world.frame_b, self.ground.frame_a)
            below, z = self.ground, 0.0
            for i in range(count):
                z -= (count - i) * G / 4e6
                body = free_body((0.01 * (-1) ** i, 0, z + 0.05), (0, 0, 0), (0, 0, 0), angles=(0, 0, 0))
                self.add(f"body{i}", body)
                box = self.add(f"box{i}", Box(length=0.2, height=0.1))
                top = self.add(f"top{i}", Plane(r=(0, 0, 0.05)))
                for shape in (box, top):
                    self.connect(body.frame_a, shape.frame_a)
                law = {"c": 1e6, "d": 400.0, "mu_k": 0.4, "c_t": 1e6}
                self.add(f"contact{i}", Contact(geometry_a=box, geometry_b=below, **law))
                below, z = top, z + 0.1

    result = simulate(Stack(), 10.0)
    assert result["contact0.f_a[3]"][-1] == pytest.approx(3 * G, rel=1e-9)
    for i in range(3):
        x = result[f"body{i}.r_0[1]"]
        assert abs(x[-1] - x[len(x) // 10]) < 1e-9


# -- what is drawn


@pytest.mark.slow
def test_shapes_and_forces_are_drawn() -> None:
    system = System.of(Touching(Sphere(radius=0.1), {"c": 1e4}, height=0.2), scene=True)
    drawn = {(shape.component, shape.name) for shape in system.scene.shapes}
    assert {("shape", "sphere"), ("ground", "plane"), ("contact", "force1Line")} <= drawn


# -- wrong inputs


def touching(shape: Component | None = None, height: float = 0.5, **law) -> Touching:
    return Touching(shape or Sphere(radius=0.1), law or {"c": 1e5}, height=height)


def connected() -> Touching:
    model = touching()
    model.connect(model.body.frame_a, model.contact.frame_a)
    return model


def named(**names: str) -> Touching:
    model = touching()
    for name, value in names.items():
        setattr(model.contact, name, value)
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: touching(c=0.0), r"Contact.c = 0.0: must not be 0"),
        (lambda: touching(c=math.nan), r"Contact.c = nan: every value must be finite"),
        (lambda: touching(d=1.0), r"Contact needs a value for c \("),
        (lambda: touching(c=1.0, mu_k=0.3), r"Contact needs a value for c_t \("),
        (lambda: touching(c=1.0, mu_s=0.3), r"Contact.mu_s: has no effect without friction; give mu_k, too"),
        (lambda: touching(c=1.0, c_r=0.3), r"Contact.c_r: has no effect without rolling resistance; give mu_r or mu_d"),
        (lambda: touching(c=1.0, mu_k=0.3, mu_s=0.2, c_t=1.0), r"mu_s = 0.2: static friction is at least sliding"),
        (lambda: touching(c=1.0, d=1.0, e=0.5), r"Contact.d: has no effect .*give one of d, e and d_n"),
        (lambda: touching(c=1.0, E_a=1.0), r"Contact.c: has no effect .*give c and no E_a"),
        (lambda: touching(c=1.0, e=0.0), r"Contact.e = 0.0: must be >= 0.05"),
        (lambda: touching(Plane()), r"shape \(Plane\) and ground \(Plane\) are two planes, which do not touch; give"),
        (lambda: touching(Box(length=1.0), E_a=1.0), r"do not touch in a circle, .*give a stiffness c"),
        (lambda: Sphere(radius=0), r"Sphere.radius = 0: must not be 0"),
        (lambda: Box(length=-1.0), r"Box.length = -1.0: must be >= 0 m"),
        (lambda: Contact(geometry_a=Sphere(radius=1.0), geometry_b="x", c=1.0), r"part of nothing; assign it"),
        (lambda: named(geometry_b="grund"), r"contact.geometry_b = 'grund': there is no such geometry; .*ground"),
        (lambda: named(geometry_b="body"), r"geometry_b = 'body': is a Body, which has no shape to touch; name a geo"),
        (lambda: named(geometry_b="shape"), r"contact: shape cannot touch itself; name another geometry"),
        (connected, r"contact.frame_a: connects itself with shape.frame_a; leave out the connection with body.frame_a"),
        (lambda: ContactGroup(geometries_a=["a"], c=1.0), r"the group of a has no pair that may touch; name two"),
        (lambda: ContactGroup(geometries_a=["a", "b"], exclude=["a"], c=1.0), r"exclude = .*expected pairs of two"),
        (lambda: ContactGroup(geometries_a=["a", "b"], exclude=[["a", "c"]], c=1.0), r"expected pairs of two names"),
        (lambda: ContactGroup(geometries_a=3, c=1.0), r"geometries_a = 3: expected a string"),
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


class Blob(Geometry):
    """A shape of which nothing is known."""

    size = 1.0


def test_a_shape_without_points_is_refused_by_name() -> None:
    with pytest.raises(ModelError, match=r"one \(Cylinder\) and other \(Blob\) have no points of contact .*its class"):
        System.of(Meeting(Cylinder(radius=0.1, length=0.2), Blob()))


@pytest.mark.slow
def test_overlap_is_told_at_the_start_and_where_it_goes_too_far() -> None:
    with pytest.raises(
        InitializationError, match=r"shape and ground overlap at the start by 0\.04 m more than a tenth.*apart"
    ):
        simulate(touching(height=0.05), 0.1)
    simulate(touching(height=0.0999), 0.01)
    assert simulate(touching(c=10.0), 0.5)["contact.gap"].min() < -0.3  # soft ground has no other side
    with pytest.raises(SimulationError, match=r"one is so deep in other .*greater stiffness"):
        simulate(Meeting(Sphere(radius=0.05), Box(length=0.2), c=10.0))
