"""Shapes at random and degenerate places: gaps against distances that share no formula with them, normals, derivatives.

Of each pair of kinds there are shapes from needles to slivers, placed at random with a gap between them that is known,
with axes along each other, faces in one plane, edges on edges, corners on faces, middles that are one, and next to
these. The distance of two cores is that of the origin from the set of all differences of their points, which their
support points enclose step by step (Gilbert, Johnson and Keerthi 1988).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial.transform import Rotation
from test_contact_ellipsoids import numbered
from test_contact_patches import Waves

from mbfmu.components.contact import (
    Box,
    Capsule,
    Contact,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    Sphere,
    pairs,
)
from mbfmu.components.contact.contact import OVERLAP, PRESSED
from mbfmu.components.contact.geometry import ROUNDING
from mbfmu.dynamics.system import System
from mbfmu.frames import Orientation
from mbfmu.modeling import Component, Start
from mbfmu.runtime.compiled import compile_functions
from mbfmu.runtime.compilers import find_compiler
from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.run import evaluate, model_of
from mbfmu.studies.points import point_of_run
from problems.contact_patches import Thrown

Random = np.random.Generator


def sizes(random: Random, count: int, most: float) -> list[float]:
    """Lengths about 0.1 m, of which one is up to `most` times another one."""
    return [float(0.1 * most ** random.uniform(-0.5, 0.5)) for _ in range(count)]


def cylinder(random: Random) -> Cylinder:
    radius, length = sizes(random, 2, 30)
    return Cylinder(radius=radius, length=length, rounding=ROUNDING * min(radius, length / 2))


def box(random: Random) -> Box:
    """Some are slivers and needles."""
    length, width, height = sides = sizes(random, 3, random.choice([3, 100]))
    return Box(length=length, width=width, height=height, rounding=ROUNDING * min(sides) / 2)


def mesh(random: Random) -> ConvexMesh:
    """Few corners: of a tetrahedron, a wedge, a box or a cloud, turned and squeezed, some to slivers."""
    which = random.integers(4)
    points = [
        np.vstack([np.zeros(3), np.eye(3)]) - 0.25,
        np.array([[x, y, z] for x in (-0.5, 0.5) for y, z in ((-0.4, -0.3), (0.4, -0.3), (0, 0.6))]),
        np.array(list(itertools.product((-0.5, 0.5), repeat=3))),
        random.normal(size=(random.integers(4, 7), 3)),
    ][which]
    return ConvexMesh(vertices=points * sizes(random, 3, random.choice([1.0, 3.0, 100.0])))


KINDS: dict[str, Callable[[Random], Component]] = {
    "sphere": lambda r: Sphere(radius=sizes(r, 1, 10)[0] / 2),
    "capsule": lambda r: Capsule(**dict(zip(("radius", "length"), sizes(r, 2, 30), strict=True))),
    "cylinder": cylinder,
    "box": box,
    # Two ellipsoids are oblong by 10 : 1 at most
    "ellipsoid": lambda r: Ellipsoid(**dict(zip(("length", "width", "height"), sizes(r, 3, 10), strict=True))),
    "mesh": mesh,
}


# -- shapes by numbers


@dataclasses.dataclass
class Body:
    """A core and a radius by numbers, worked out anew: the sum of the hull of `corners`, a disc across z with the
    radius `disc`, and an ellipsoid `half` less the ball `less`; all that is no farther than `radius` is the shape.

    Surfaces are right to `error`, the crown of cylinders. All in m.
    """

    corners: np.ndarray
    radius: float = 0.0
    disc: float = 0.0
    half: np.ndarray | None = None
    less: float = 0.0
    error: float = 0.0

    def farthest(self, m: np.ndarray) -> np.ndarray:
        """The point of the core that lies farthest along m, a unit vector."""
        p = self.corners[np.argmax(self.corners @ m)]
        across = np.hypot(m[0], m[1])
        if self.disc and across > 0:
            p = p + self.disc * np.array([m[0], m[1], 0]) / across
        if self.half is not None:
            p = p + self.half**2 * m / np.linalg.norm(self.half * m) - self.less * m
        return p

    @property
    def reach(self) -> np.ndarray:
        """How far the shape goes along each of its axes."""
        return np.array([self.farthest(e)[k] for k, e in enumerate(np.eye(3))]) + self.radius


def body(shape: Component, other: Component) -> Body:
    """A shape as another one meets it: planes, fields and spheres meet sharp edges, all others rounded ones."""
    ground = isinstance(other, Plane | HeightField)
    sharp, origin = ground or isinstance(other, Sphere), np.zeros((1, 3))
    value = shape.value
    if isinstance(shape, Sphere):
        return Body(origin, value("radius"))
    if isinstance(shape, Capsule):
        return Body(np.outer((-0.5, 0.5), (0, 0, value("length"))), value("radius"))
    if isinstance(shape, Ellipsoid):
        half = np.array([value(name) for name in ("length", "width", "height")]) / 2
        less = 0.0 if sharp else half.min() ** 2 / half.max()
        return Body(origin, less, half=half, less=less)
    rounding = 0.0 if sharp else float(value("rounding"))
    if isinstance(shape, Cylinder):
        if ground:  # two flat ellipsoids
            height = value("crown") * value("radius")
            ends = np.outer((-1, 1), (0, 0, value("length") / 2 - height))
            return Body(ends, half=np.array([value("radius"), value("radius"), height]))
        crown = value("crown") * max(value("radius"), value("length") / 2) * (not isinstance(other, Sphere))
        ends = np.outer((-1, 1), (0, 0, value("length") / 2 - rounding))
        return Body(ends, rounding, disc=value("radius") - rounding, error=2 * crown)
    if isinstance(shape, Box):
        half = np.array([value(name) for name in ("length", "width", "height")]) / 2 - rounding
        return Body(np.array(list(itertools.product((-1, 1), repeat=3))) * half, rounding)
    assert isinstance(shape, ConvexMesh)
    return Body(np.array(shape.polytope.shrunk(rounding).corners), rounding)


@dataclasses.dataclass
class Place:
    """Where a body is: its middle [m] and its rotation matrix."""

    r: np.ndarray
    R: np.ndarray


def farthest(a: Body, at: Place, m: np.ndarray) -> np.ndarray:
    return at.r + at.R @ a.farthest(at.R.T @ m)


def between(a: Body, at_a: Place, b: Body, at_b: Place) -> tuple[float, float]:
    """Bounds of the distance of two cores [m]; both are 0 where they overlap or touch."""

    def support(m: np.ndarray) -> np.ndarray:
        return farthest(a, at_a, m) - farthest(b, at_b, -m)

    size = 0.1
    found = [support(m) for m in (*np.eye(3), *-np.eye(3))]
    low = high = 0.0
    for _ in range(60):
        points = np.array(found).T
        parts, _ = nnls(np.vstack([points / size, np.ones(len(found))]), np.array([0, 0, 0, 1.0]))
        v = points @ parts / parts.sum()
        high = float(np.linalg.norm(v))
        if high < 1e-9:
            return 0.0, 0.0
        new = support(-v / high)
        low = max(low, float(v @ new) / high)
        if high - low < 1e-9:
            break
        found = [p for p, part in zip(found, parts, strict=True) if part > 0] + [new]
    return low, high


# -- the functions


@dataclasses.dataclass
class Pair:
    """Points of a pair as a function of both places: gaps; normals and places, a column each; weights; what tells that
    bodies are too deep in each other for a start [m]; derivatives of the gaps along a way and a turn of a; what
    a gap gains by them as normals, places and twists have it."""

    a: Component
    b: Component

    def __post_init__(self) -> None:
        r = [ca.SX.sym(f"r_{i}", 3) for i in "ab"]
        R = [ca.SX.sym(f"R_{i}", 3, 3) for i in "ab"]
        way, turn, by = ca.SX.sym("way", 3), ca.SX.sym("turn", 3), ca.SX.sym("by")
        matrices = [ca.mtimes(ca.SX.eye(3) + by * ca.skew(turn), R[0]), R[1]]
        middles = [r[0] + by * way, r[1]]
        solids = [
            pairs.Solid(shape, middle, Orientation(matrix.T, ca.SX.zeros(3)))
            for shape, middle, matrix in zip((self.a, self.b), middles, matrices, strict=True)
        ]
        points = [point for patch in pairs.patches(*solids) or () for point in patch]
        gap = ca.vertcat(*(point.gap for point in points))
        deep = ca.mmin(gap)
        if pairs.is_rounded(self.a, self.b) or pairs.is_ellipsoidal(self.a, self.b):
            deep = deep + PRESSED * pairs.give(self.a, self.b)
            if pairs.is_rounded(self.a, self.b):
                inside = pairs.depths_of_cores(*solids), pairs.room_of_edges(*solids)
                deep = ca.fmin(deep, ca.mmin(ca.vertcat(*inside)))
        elif not isinstance(self.b, Plane | HeightField):
            deep = deep + OVERLAP * ca.mmin(ca.vertcat(*(s.size for s in (self.a, self.b) if s.size is not None)))
        told = [
            gap,
            ca.horzcat(*(point.normal for point in points)),
            ca.horzcat(*(point.place for point in points)),
            ca.vertcat(*(point.weight for point in points)),
            deep,
            ca.jacobian(gap, by),
            ca.vertcat(*(_gained(point, middles[0], way, turn) for point in points)),
        ]
        for shape in (self.a, self.b):
            told = numbered(shape, told)
        told = ca.substitute(told, [by], [ca.SX(0)])
        #: Normals of rims beside another cylinder are the gradients of their gaps, which grow where they are none.
        round_both = isinstance(self.a, Cylinder) and isinstance(self.b, Cylinder)
        self.units = np.array([point.twist is None or not round_both for point in points])
        self.function = ca.Function("pair", [r[0], R[0], r[1], R[1], way, turn], told)

    def __call__(self, a: Place, b: Place, way: Any = (0, 0, 0), turn: Any = (0, 0, 0)) -> Told:
        return Told(*(np.array(one) for one in self.function(a.r, a.R, b.r, b.R, way, turn)))


@dataclasses.dataclass
class Told:
    """What a Pair gives."""

    gap: np.ndarray
    normal: np.ndarray
    place: np.ndarray
    weight: np.ndarray
    deep: np.ndarray
    slope: np.ndarray
    gained: np.ndarray

    def is_finite(self, slope: bool = True) -> bool:
        """True where all numbers are, perhaps but for the derivatives."""
        return all(np.isfinite(one).all() for name, one in vars(self).items() if slope or name != "slope")


def _gained(point: pairs.Point, r: Any, way: Any, turn: Any) -> Any:
    twist = 0 if point.twist is None else ca.dot(point.twist, turn)
    return ca.dot(point.normal, way + ca.cross(turn, point.place - r)) + twist


# -- placings


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


#: Rotations that take axes to axes.
AXES = Rotation.create_group("O").as_matrix()


def placings(random: Random, count: int, a: Body, b: Body) -> Iterator[tuple[str, Place, Place]]:
    """Placings of two bodies, by what they are like."""
    for k in range(count):
        way = ("apart", "aligned", "one middle", "inside", "nearly aligned", "one axis")[k % 6]
        R_a, R_b = (Rotation.random(random_state=random).as_matrix() for _ in "ab")
        middle = random.integers(2) * 0.1 * random.normal(size=3)  # coordinates that are exactly equal, too
        at_b = Place(middle, R_b)
        if way == "apart":
            n, gap = unit(random.normal(size=3)), 10.0 ** random.uniform(-6, 0)
            if random.random() < 0.4:
                gap = -PRESSED * random.random() * (a.radius + b.radius)
            elif random.random() < 0.2:
                gap = 0.0
            apart = farthest(b, Place(np.zeros(3), R_b), n) - farthest(a, Place(np.zeros(3), R_a), -n)
            at_a = Place(middle + apart + (gap + a.radius + b.radius) * n, R_a)
        elif way == "one middle":
            if random.random() < 0.5:
                R_a = R_b = np.eye(3)
            at_a, at_b = Place(middle, R_a), Place(middle, R_b)
        elif way == "inside":
            at_a = Place(middle + R_b @ (b.reach * random.uniform(-0.7, 0.7, 3)), R_a)
        else:
            frame = np.eye(3) if random.random() < 0.5 else R_b
            local = AXES[random.integers(24)]
            if way == "one axis":
                angle = np.pi * random.choice([0.25, 0.5, random.random()])
                local = local @ Rotation.from_rotvec((0, 0, angle)).as_matrix()
            own = np.abs(local) @ a.reach  # of aligned axes; else only a size
            steps = random.choice([-1, 0, 0, 1], 3)
            r = steps * random.choice([own + b.reach, b.reach - own, b.reach], 1)[0]
            at_a, at_b = Place(middle + frame @ r, frame @ local), Place(middle, frame)
            if way == "nearly aligned":
                small = 10.0 ** random.uniform(-12, -3)
                at_a.R = at_a.R @ Rotation.from_rotvec(small * random.normal(size=3)).as_matrix()
                at_a.r = at_a.r + 0.1 * small * random.normal(size=3)
        yield way, at_a, at_b


CONVEX = [*itertools.combinations_with_replacement(KINDS, 2)]


def made(one: str, other: str, seed: int) -> tuple[Random, tuple[Component, Component], tuple[Body, Body], float]:
    """Two shapes, their bodies, and how far gaps may be from distances [m]."""
    random = np.random.default_rng([seed, CONVEX.index((one, other))])
    shapes = KINDS[one](random), KINDS[other](random)
    assert Contact.touches(*shapes)
    bodies = body(*shapes), body(*shapes[::-1])
    return random, shapes, bodies, sum(one.error for one in bodies) + 2e-8


@pytest.mark.slow
@pytest.mark.campaign(keep=5)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("one", "other"), CONVEX)
def test_gaps_are_distances(one: str, other: str, seed: int, campaign: Callable[[int, int], int]) -> None:
    """Down to where cores meet; bodies whose cores overlap are too deep for a start, however they lie."""
    random, shapes, bodies, error = made(one, other, seed)
    pair, radii = Pair(*shapes), bodies[0].radius + bodies[1].radius
    for k, (way, at_a, at_b) in enumerate(placings(random, campaign(24, 120), *bodies)):
        told, at = pair(at_a, at_b), (k, way, at_a, at_b)
        # Of cylinders with one middle, where no run begins, the derivative of the gap is none
        assert told.is_finite(slope=(one, other) != ("cylinder", "cylinder") or way == "apart"), at
        gaps = told.gap.ravel()
        known = pair.units & (np.abs(gaps + radii) > 1e-9) & (gaps > -radii)  # what lies in a core may have no normal
        np.testing.assert_allclose(np.linalg.norm(told.normal, axis=0)[known], 1, atol=1e-9, err_msg=str(at))
        low, high = between(bodies[0], at_a, bodies[1], at_b)
        assert high - low < 1e-7
        if low > error:
            assert low - radii - error <= gaps.min() <= high - radii + error, at
        elif high == 0:
            assert told.deep.item() < error * (error > 1e-6), at


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("one", "other"), CONVEX)
def test_gaps_change_as_normals_say_and_are_those_of_the_other_way_round(one: str, other: str, seed: int) -> None:
    """Their derivatives are those of differences, and what forces and torques are from."""
    random, shapes, bodies, _ = made(one, other, seed)
    pair, swapped, h = Pair(*shapes), Pair(*shapes[::-1]), 1e-8
    for _, at_a, at_b in (placing for placing in placings(random, 120, *bodies) if placing[0] == "apart"):
        way, turn = random.normal(size=3), 10 * random.normal(size=3)
        told, back = pair(at_a, at_b, way, turn), swapped(at_b, at_a)
        assert told.gap.min() == pytest.approx(back.gap.min(), abs=1e-9)
        order = np.argsort(told.gap.ravel())
        if len(order) == 1 or np.diff(told.gap.ravel()[order[:2]]) > 1e-6:
            np.testing.assert_allclose(told.normal[:, order[0]], -back.normal[:, back.gap.argmin()], atol=1e-6)
        np.testing.assert_allclose(told.slope, told.gained, atol=1e-6 * np.abs(told.slope).max())
        ends = []
        for step in (h, -h):
            moved = (np.eye(3) + step * np.cross(np.eye(3), turn)) @ at_a.R
            ends.append(pair(Place(at_a.r + step * way, moved), at_b).gap)
        differences = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(told.slope, differences, atol=1e-4, rtol=1e-5)


def lowest(a: Body, at: Place, above: Callable[[np.ndarray], Any], random: Random) -> float:
    """The least value of a function of points [m] of a surface: at support points, in cones that get narrower."""
    m, width, least = np.array([0, 0, -1.0]), 2.0, np.inf
    for _ in range(6):
        for n in [m, *(unit(m + width * random.normal(size=3)) for _ in range(60))]:
            found = float(above(farthest(a, at, n) + a.radius * n))
            if found < least:
                least, m = found, n
        width /= 5
    return least


#: Slope of the field at most, and how much a gap may be off its bounds [m]: surface points are tried at random.
STEEP, TRIED = np.hypot(0.15, 0.1), 1e-4


@pytest.mark.slow
@pytest.mark.campaign(keep=6)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ground", ["plane", "field"])
@pytest.mark.parametrize("kind", KINDS)
def test_gaps_over_grounds_are_heights(kind: str, ground: str, seed: int, campaign: Callable[[int, int], int]) -> None:
    """Of a plane by how far a shape goes; of a field between the height over it, and that times the least cosine."""
    random = np.random.default_rng([seed, list(KINDS).index(kind)])
    shape, other = KINDS[kind](random), Plane() if ground == "plane" else Waves(length=2.0)
    if isinstance(shape, Cylinder):  # ends that are flatter than the hollows of the field are not for it
        shape.modify(crown=0.3 * min(1.0, shape.value("length") / shape.value("radius")))
        if shape.value("crown") * 2.0 < shape.value("radius"):
            shape.modify(radius=0.1, length=0.1, crown=0.3, rounding=0.001)
    assert Contact.touches(shape, other)
    pair, a = Pair(shape, other), body(shape, other)
    still = Body(np.zeros((1, 3)))
    for k, (way, at_a, at_b) in enumerate(placings(random, campaign(12, 60), a, still)):
        told, at = pair(at_a, at_b), (k, way, at_a, at_b)
        assert told.is_finite(), at
        np.testing.assert_allclose(np.linalg.norm(told.normal, axis=0), 1, atol=1e-9, err_msg=str(at))
        n = at_b.R[:, 2]
        if ground == "plane":
            expected = float(n @ (farthest(a, at_a, -n) - at_b.r)) - a.radius
            assert told.gap.min() == pytest.approx(expected, abs=1e-9), at
            continue
        seen = Place(at_b.R.T @ (at_a.r - at_b.r), at_b.R.T @ at_a.R)
        if isinstance(shape, Box | ConvexMesh):
            over = min(_over(seen.r + seen.R @ corner) for corner in a.corners)
        else:  # each end by itself
            ends = [dataclasses.replace(a, corners=corner[None]) for corner in a.corners]
            over = min(lowest(end, seen, _over, random) for end in ends)
        bounds = over, over / np.hypot(1, STEEP)
        assert min(bounds) - TRIED < told.gap.min() < max(bounds) + TRIED, at


def _over(p: np.ndarray) -> float:
    """How high a point is over the field [m]."""
    return float(p[2] - 0.05 * np.cos(3 * p[0]) * np.sin(2 * p[1] + 0.4))


@pytest.mark.slow
@pytest.mark.campaign("cylinder-cylinder", "cylinder-ellipsoid", "mesh-capsule")
@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize(
    ("one", "other"), [("capsule", "box"), ("cylinder", "ellipsoid"), ("cylinder", "cylinder"), ("mesh", "capsule")]
)
def test_compiled_points_are_the_same_to_the_bit(one: str, other: str) -> None:
    """Gaps, forces and all else that is seen of two bodies, near each other, within each other and with one middle."""
    random = np.random.default_rng(7)
    meeting = Thrown(KINDS[one](random), KINDS[other](random))
    meeting.body_a.modify(r_0=Start((-3.0, 0.0, 0.0), fixed=True))
    system = System.of(meeting)
    e, (_, x, u, P, m) = system.equations, point_of_run(system, 0.0, None)
    model = model_of(e, system.variables)
    places = {variable.name: variable.index for variable in system.variables if variable.store == "x"}
    points = []
    for k in range(200):
        at = x + random.normal(size=x.size) * 10.0 ** -random.integers(0, 9)
        for i in (1, 2, 3):
            apart = (0.0, 0.05 * random.integers(-1, 2), 0.1 * random.normal())[k % 3]
            at[places[f"body_a.r_0[{i}]"]] = at[places[f"body_b.r_0[{i}]"]] + apart
        points.append((np.zeros(1), at, u, P, np.full(m.size, k % 2, dtype=float), np.zeros(max(e.nw, 1))))

    def values() -> list[bytes]:
        found = []
        for point in points:
            y = np.zeros(e.ny)
            evaluate(model, list(FUNCTIONS).index("variables"), point, [y])
            found.append(y.tobytes())
        return found

    interpreted = values()
    assert len(set(interpreted)) == len(points)
    compile_functions(model, ["variables"])
    assert values() == interpreted
