"""Ellipsoids that touch boxes, capsules, meshes and each other: places and distances that another way confirms."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_contact_patches import CUBE

from mbfmu.components import World
from mbfmu.components.contact import Box, Capsule, Contact, ConvexMesh, Ellipsoid, pairs
from mbfmu.components.contact.ellipsoids import MOST_OBLONG
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.frames import Orientation
from mbfmu.modeling import Assembly, Component
from mbfmu.simulation import simulate
from problems.contact_patches import free_body


def ellipsoid(half: np.ndarray) -> Ellipsoid:
    return Ellipsoid(**dict(zip(("length", "width", "height"), map(float, 2 * half), strict=True)))


def box(sides: np.ndarray) -> Box:
    sizes = dict(zip(("length", "width", "height"), map(float, sides), strict=True))
    return Box(**sizes, rounding=0.025 * float(min(sides)))


def numbered(shape: Component, expressions: list[Any]) -> list[Any]:
    """Expressions with the values of a shape's parameters."""
    names = [
        name
        for name in shape.parameters()
        if not (shape.declarations[name].structural or shape.declarations[name].animation)
    ]
    symbols = ca.vertcat(*(ca.vec(ca.SX(shape.symbol(name))) for name in names))
    numbers = ca.DM(np.concatenate([np.ravel(shape.value(name)) for name in names]))
    return ca.substitute([ca.SX(one) for one in expressions], [symbols], [ca.SX(numbers)])


def point_of(a: Component, b: Component) -> ca.Function:
    """Gap, normal and place by the way of b [m], a small turn of it [rad], and both rotation matrices; what they give
    has its derivatives by the first two."""
    way, turn = ca.SX.sym("way", 3), ca.SX.sym("turn", 3)
    R_a, R_b = ca.SX.sym("R_a", 3, 3), ca.SX.sym("R_b", 3, 3)
    turned = ca.mtimes(ca.SX.eye(3) + ca.skew(turn) + ca.mtimes(ca.skew(turn), ca.skew(turn)) / 2, R_b)
    solids = [
        pairs.Solid(shape, middle, Orientation(R.T, ca.SX.zeros(3)))
        for shape, middle, R in ((a, ca.SX.zeros(3), R_a), (b, way, turned))
    ]
    ((point,),) = pairs.patches(*solids) or ()
    found = ca.vertcat(point.gap, point.normal, point.place)
    for shape in (a, b):
        (found,) = numbered(shape, [found])
    moved = ca.vertcat(way, turn)
    return ca.Function("point", [way, turn, R_a, R_b], [found, ca.jacobian(found, moved)])


def support(half: np.ndarray, R: np.ndarray, n: np.ndarray) -> np.ndarray:
    """The point of an ellipsoid about 0 that lies farthest along n."""
    own = R.T @ n
    return R @ (half**2 * own / np.linalg.norm(half * own))


def placings(random: np.random.Generator, count: int, give: float) -> Iterator[tuple[Any, ...]]:
    """Both rotations, a normal, and the gap: pressed in, near and far, at random and with axes along each other."""
    for k in range(count):
        n, gap = random.normal(size=3), 10.0 ** random.uniform(-6, 0.5)
        rotations = [Rotation.random(random_state=random).as_matrix() for _ in "ab"]
        if k % 3 == 0:
            gap = -0.9 * give * random.random()
        if k % 4 == 0:
            rotations, n = [np.eye(3)] * 2, np.round(n)
        if not n.any():
            n = np.array([0.0, 0.0, 1.0])
        yield rotations[0], rotations[1], n / np.linalg.norm(n), gap


#: Shapes with corners, from slivers to needles, and how many of each are tried.
CORNERED: dict[str, tuple[Callable[[np.random.Generator], Component], int]] = {
    "capsule": (lambda r: Capsule(radius=10 ** r.uniform(-1.5, -0.5), length=10 ** r.uniform(-1, 0.3)), 6),
    "box": (lambda r: box(10 ** r.uniform(-1.5, 0.3, 3)), 3),
    "mesh": (lambda r: ConvexMesh(vertices=r.normal(size=(r.integers(4, 8), 3)) * 10 ** r.uniform(-1.5, 0, 3)), 3),
}


@dataclasses.dataclass
class Cornered:
    """What a rounded shape is by numbers: its radius, corners, directions of edges and normals of faces."""

    shape: Component

    def __post_init__(self) -> None:
        core = self.shape.core
        p = ca.SX.sym("p", 3)
        rows = [[core.radius], core.corners, [along for along, _, _ in core.edges], core.normals]
        radius, *self.parts = (
            [np.ravel(ca.evalf(one)) for one in numbered(self.shape, row)] if row else [] for row in rows
        )
        self.radius = float(radius[0][0])
        (away,) = numbered(self.shape, [core.distance(p)[0]])
        self.distance = ca.Function("distance", [p], [away - self.radius])

    def place(self, random: np.random.Generator, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """An outward normal of a face or an edge of its own, or n, and a point of the surface that has it."""
        corners, edges, faces = self.parts
        which = random.integers(3)
        if which == 0 and faces:
            n = random.choice(faces)
        elif which == 1:
            n = np.cross(random.choice(edges), random.normal(size=3))
            if faces:  # between two faces, which have an edge in common more often than not
                n = random.uniform(0.1, 1, 2) @ random.choice(faces, 2, replace=False)
        n = n / np.linalg.norm(n)
        heights = np.array(corners) @ n
        first = np.array(corners)[heights > heights.max() - 1e-9 * np.abs(corners).max()]
        return n, random.dirichlet(np.ones(len(first))) @ first + self.radius * n


@pytest.mark.slow
@pytest.mark.campaign("mesh", keep=1)
@pytest.mark.parametrize("kind", CORNERED)
def test_no_plane_between_is_farther_and_no_point_nearer(kind: str) -> None:
    """The gap is that with which they were put beside each other, on corners, edges and faces, and the distance of the
    ellipsoid's point by the formula that spheres have; of discs and needles of 100 : 1, too."""
    random = np.random.default_rng(4)
    make, number = CORNERED[kind]
    pressed = 0
    for _ in range(number):
        half, other = 10 ** random.uniform(-2, 0, 3), Cornered(make(random))
        point, give = point_of(ellipsoid(half), other.shape), other.radius + half.min() ** 2 / half.max()
        for R_a, R_b, n, gap in placings(random, 80, give):
            n_b, lowest = other.place(random, R_b.T @ -n)
            n, lowest = R_b @ -n_b, R_b @ lowest
            way = support(half, R_a, n) + gap * n - lowest
            found, _ = (np.array(v) for v in point(way, np.zeros(3), R_a, R_b))
            (g,), m, place = np.split(found.ravel(), [1, 4])
            size = 1e-12 * (1 + gap)
            assert g == pytest.approx(gap, abs=size)
            np.testing.assert_allclose(m, -n, atol=1e-12 / (gap + give))
            x = place + m * g / 2
            np.testing.assert_allclose(x, support(half, R_a, -m), atol=1e-12)
            if gap > -other.radius:  # deeper, points have another nearest one
                assert float(other.distance(R_b.T @ (x - way))) == pytest.approx(gap, abs=size)
            pressed += g < 0
        inside, _ = point(np.zeros(3), np.zeros(3), np.eye(3), np.eye(3))
        assert float(inside[0]) < -0.9 * give  # one in the middle of the other: a number that ends the run
        assert np.all(np.isfinite(np.array(inside)))
    assert pressed > 10


@functools.cache
def two_ellipsoids() -> ca.Function:
    """As `point_of`, of two ellipsoids by half their axes [m]."""
    ones = ellipsoid(np.ones(3)), ellipsoid(np.ones(3))
    halves = ca.SX.sym("half_a", 3), ca.SX.sym("half_b", 3)
    way, R_a, R_b = ca.SX.sym("way", 3), ca.SX.sym("R_a", 3, 3), ca.SX.sym("R_b", 3, 3)
    solids = [
        pairs.Solid(one, middle, Orientation(R.T, ca.SX.zeros(3)))
        for one, middle, R in zip(ones, (ca.SX.zeros(3), way), (R_a, R_b), strict=True)
    ]
    ((point,),) = pairs.patches(*solids) or ()
    sizes = [ca.vertcat(*(one.symbol(name) for name in ("length", "width", "height"))) for one in ones]
    found = ca.substitute(ca.vertcat(point.gap, point.normal, point.place), ca.vertcat(*sizes), 2 * ca.vertcat(*halves))
    return ca.Function("point", [*halves, way, R_a, R_b], [found])


@pytest.mark.slow
def test_two_ellipsoids_meet_where_they_were_put() -> None:
    """At a common normal, from pressed in to far apart, at random, as discs and as needles of the greatest ratio."""
    random, number = np.random.default_rng(6), 3000
    given, expected = [], []
    for k in range(number):
        halves = 10 ** random.uniform(-1, 0, (2, 3))
        if k % 2:
            halves = random.choice([1, 1 / MOST_OBLONG], (2, 3)) * 10 ** random.uniform(-1, 0, (2, 1))
        give = sum(half.min() ** 2 / half.max() for half in halves)
        R_a, R_b, n, gap = next(placings(random, 1, give))
        if k % 4:
            R_a, R_b = (Rotation.random(random_state=random).as_matrix() for _ in "ab")
            gap = gap if k % 3 else 10 ** random.uniform(-5, 0.5)
        on_a = support(halves[0], R_a, n)
        way = on_a + gap * n - support(halves[1], R_b, -n)
        given.append([*halves, way, R_a, R_b])
        expected.append([gap, *-n, *(on_a + n * gap / 2)])
    columns = [np.concatenate([np.reshape(one[i], (3, -1)) for one in given], axis=1) for i in range(5)]
    found = np.array(two_ellipsoids().map(number)(*columns)).T
    np.testing.assert_allclose(found, expected, atol=1e-11)
    middle = two_ellipsoids()([1.0, 0.5, 0.2], [0.3, 0.4, 0.5], np.zeros(3), np.eye(3), np.eye(3))
    assert np.all(np.isfinite(np.array(middle)))
    assert float(middle[0]) < -0.24  # 0.9 of what they may be pressed in


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("kind", [*CORNERED, "ellipsoid"])
def test_forces_along_the_normal_belong_to_the_gap(kind: str) -> None:
    """The gap's gradient is the normal and its arm; all derivatives are those of differences."""
    others = {
        "capsule": Capsule(radius=0.05, length=0.2),
        "box": box(np.array([0.2, 0.15, 0.1])),
        "mesh": ConvexMesh(vertices=CUBE),
        "ellipsoid": ellipsoid(np.array([0.05, 0.1, 0.03])),
    }
    random, point = np.random.default_rng(8), point_of(ellipsoid(np.array([0.15, 0.1, 0.05])), others[kind])
    near = 0
    for _ in range(25):
        R_a, R_b = (Rotation.random(random_state=random).as_matrix() for _ in "ab")
        n = random.normal(size=3)
        way = n / np.linalg.norm(n) * random.uniform(0.2, 0.5)
        found, slopes = (np.array(v) for v in point(way, np.zeros(3), R_a, R_b))
        (gap,), m, place = np.split(found.ravel(), [1, 4])
        if gap < 0:
            continue
        near += 1
        arm = place - m * gap / 2 - way
        np.testing.assert_allclose(slopes[0], [*-m, *-np.cross(arm, m)], atol=1e-12)
        step = 1e-6 * random.normal(size=6)
        ahead, behind = (np.array(point(way + s * step[:3], s * step[3:], R_a, R_b)[0]).ravel() for s in (1, -1))
        np.testing.assert_allclose(slopes @ step, (ahead - behind) / 2, atol=1e-4 * np.abs(slopes).max() * 1e-6)
    assert near > 10


@pytest.mark.slow
def test_the_order_of_a_pair_turns_its_normal() -> None:
    one, other = ellipsoid(np.array([0.1, 0.05, 0.04])), box(np.array([0.2, 0.1, 0.1]))
    R = Rotation.from_euler("xyz", (0.3, 0.4, 0.5)).as_matrix()
    way = np.array([0.1, 0.2, 0.15])
    here, back = (np.array(f[0]).ravel() for f in (
        point_of(one, other)(way, np.zeros(3), R, np.eye(3)), point_of(other, one)(-way, np.zeros(3), np.eye(3), R)
    ))  # fmt: skip
    np.testing.assert_allclose(back, [here[0], *-here[1:4], *(here[4:] - way)], atol=1e-14)


class OnBox(Assembly):
    """An ellipsoid over another shape of the world."""

    def __init__(self, other: Component, height: float, c: float = 1e5, half: tuple[float, ...] = (0.1, 0.06, 0.05)):
        self.world = World(g=9.81, n=(0, 0, -1))
        self.body = free_body(1.0, (1e-3, 1e-3, 1e-3), (0, 0, height))
        self.egg, self.other = ellipsoid(np.array(half)), other
        self.contact = Contact(geometry_a="egg", geometry_b="other", c=c, d=5.0, mu_k=0.3, c_t=c)
        self.connect(self.body.frame_a, self.egg.frame_a)
        self.connect(self.world.frame_b, self.other.frame_a)


@pytest.mark.slow
@pytest.mark.campaign
def test_an_egg_lies_on_a_box() -> None:
    """It bears its weight, by a linear law: m g / c."""
    result = simulate(OnBox(box(np.full(3, 0.1)), 0.1001), 3.0, tolerance=1e-8)
    assert result["contact.gap[1]"][-1] == pytest.approx(-9.81 / 1e5, rel=1e-6)
    assert result["body.r_0[3]"][-1] == pytest.approx(0.1 - 9.81 / 1e5, rel=1e-6)


def lying() -> Capsule:
    return Capsule(radius=0.02, length=0.1, n=(1, 0, 0))


@pytest.mark.slow
def test_what_goes_wrong_is_told() -> None:
    with pytest.raises(InitializationError, match=r"egg and other overlap at the start by 0\.0\d+ m more than"):
        simulate(OnBox(lying(), 0.02), 0.1)
    with pytest.raises(SimulationError, match=r"egg and other are pressed into each other by more than 90 % .*greater"):
        simulate(OnBox(lying(), 0.3, c=50.0), 1.0)
    with pytest.raises(ModelError, match=r"egg: has axes of more than 10 : 1, .* make it rounder"):
        System.of(OnBox(ellipsoid(np.full(3, 0.05)), 0.3, half=(0.1, 0.06, 0.009)))
    ball = np.random.default_rng(1).normal(size=(40, 3))
    with pytest.raises(ModelError, match=r"would take about .* operations each time"):
        System.of(OnBox(ConvexMesh(vertices=ball / np.linalg.norm(ball, axis=1)[:, None]), 3.0))


@pytest.mark.slow
@pytest.mark.campaign
def test_axes_that_are_set_later_are_looked_at_when_a_run_starts() -> None:
    system = System.of(OnBox(ellipsoid(np.full(3, 0.05)), 0.3))
    with pytest.raises(InitializationError, match=r"egg: has axes of more than 10 : 1, .* make it rounder"):
        simulate(system, 0.01, start_values={"egg.height": 0.01})
