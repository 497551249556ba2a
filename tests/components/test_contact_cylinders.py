"""Cylinders that touch boxes, capsules, meshes, ellipsoids, fields and each other: gaps that another way confirms, and
what bodies do."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from test_contact_ellipsoids import Cornered, box, ellipsoid, numbered, support

from mbfmu.components import World
from mbfmu.components.contact import (
    Box,
    Capsule,
    Contact,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Plane,
    RigidContact,
    pairs,
)
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.frames import Orientation
from mbfmu.modeling import Assembly, Component
from mbfmu.simulation import simulate
from problems.contact import G
from problems.contact_patches import free_body

CROWN = 1e-3


def cylinder(random: np.random.Generator, crown: float = CROWN) -> Cylinder:
    """A disc or a rod."""
    radius, length = 10 ** random.uniform(-1.5, -0.5, 2)
    return Cylinder(radius=radius, length=length, crown=crown, rounding=0.05 * min(radius, length / 2))


@dataclasses.dataclass
class Round:
    """A cylinder with flat ends, by numbers, with the interface of `Cornered`."""

    shape: Cylinder

    @property
    def radius(self) -> float:
        return float(self.shape.value("rounding"))

    def place(self, random: np.random.Generator, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """An outward normal of an end or the side, or n, and a point of the surface that has it."""
        which = random.integers(4)
        if which == 0:
            n = np.array([0, 0, random.choice([-1.0, 1.0])])
        elif which == 1:
            n = np.array([n[0], n[1], 0])
        n = n / np.linalg.norm(n)
        r, h = self.shape.value("radius") - self.radius, self.shape.value("length") / 2 - self.radius
        across = np.array([n[0], n[1], 0])
        if which == 0:
            across = random.uniform(-0.7, 0.7, 3) * (1, 1, 0)
        else:
            across /= np.linalg.norm(across)
        height = random.uniform(-1, 1) if which == 1 else np.sign(n[2])
        return n, r * across + np.array([0, 0, h * height]) + self.radius * n


@dataclasses.dataclass
class Curved:
    """An ellipsoid by numbers, likewise."""

    shape: Ellipsoid

    @property
    def radius(self) -> float:
        return 0.0

    def place(self, random: np.random.Generator, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = np.array([self.shape.value(name) for name in ("length", "width", "height")]) / 2
        return n, support(half, np.eye(3), n)


OTHERS: dict[str, Callable[[np.random.Generator], Any]] = {
    "capsule": lambda r: Cornered(Capsule(radius=10 ** r.uniform(-1.5, -0.5), length=10 ** r.uniform(-1, 0.3))),
    "box": lambda r: Cornered(box(10 ** r.uniform(-1.2, 0, 3))),
    "mesh": lambda r: Cornered(ConvexMesh(vertices=0.1 * r.normal(size=(5, 3)))),
    "cylinder": lambda r: Round(cylinder(r)),
    "ellipsoid": lambda r: Curved(ellipsoid(10 ** r.uniform(-1.3, -0.5, 3))),
}


def points_of(a: Component, b: Component) -> ca.Function:
    """Gap, normal, place and twist of each point by the way of b [m], a small turn of a [rad], and both rotations; and
    the derivatives of gaps by minus the way, which moves a, and by the turn."""
    way, turn = ca.SX.sym("way", 3), ca.SX.sym("turn", 3)
    R_a, R_b = ca.SX.sym("R_a", 3, 3), ca.SX.sym("R_b", 3, 3)
    turned = ca.mtimes(ca.SX.eye(3) + ca.skew(turn) + ca.mtimes(ca.skew(turn), ca.skew(turn)) / 2, R_a)
    solids = [
        pairs.Solid(shape, middle, Orientation(R.T, ca.SX.zeros(3)))
        for shape, middle, R in ((a, ca.SX.zeros(3), turned), (b, way, R_b))
    ]
    rows = []
    for point in (point for patch in pairs.patches(*solids) or () for point in patch):
        assert point.turn is None
        twist = ca.SX.zeros(3) if point.twist is None else point.twist
        rows.append(ca.vertcat(point.gap, point.normal, point.place, twist))
    found = ca.horzcat(*rows).T
    for shape in (a, b):
        (found,) = numbered(shape, [found])
    derivatives = ca.horzcat(-ca.jacobian(found[:, 0], way), ca.jacobian(found[:, 0], turn))
    return ca.Function("points", [way, turn, R_a, R_b], [found, derivatives])


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize(("kind", "swapped"), [*((kind, False) for kind in OTHERS), ("box", True), ("ellipsoid", True)])
def test_they_are_as_far_apart_as_they_were_put(kind: str, swapped: bool) -> None:
    """Support points are put at a gap along their common normal: the least gap is that, but for the crown; and what a
    gap gains by small ways and turns is what forces and torques say."""
    random = np.random.default_rng(3)
    a, other = Round(cylinder(random)), OTHERS[kind](random)
    if swapped:
        a, other = other, a
    function = points_of(a.shape, other.shape)
    crowns = [CROWN * shape.value("radius") for shape in (a.shape, other.shape) if isinstance(shape, Cylinder)]
    cylinders = [one for one in (a, other) if isinstance(one, Round)]
    give = sum(one.radius for one in (a, other)) or cylinders[0].radius
    for _ in range(60):
        R_a, R_b = (Rotation.random(random_state=random).as_matrix() for _ in "ab")
        gap = give * random.choice([-0.9 * random.random(), 10.0 ** random.uniform(-4, 1)])
        n = random.normal(size=3)
        first, second = (a, R_a), (other, R_b)
        if random.random() < 0.5:  # the normal of a flat part of either
            first, second = second, first
        n, lower = first[0].place(random, n / np.linalg.norm(n))
        n = first[1] @ n
        pointed = np.random.default_rng(0)
        second_n, upper = support_of(second[0], pointed, second[1].T @ -n)
        np.testing.assert_allclose(second[1] @ second_n, -n, atol=1e-12)
        way = first[1] @ lower + gap * n - second[1] @ upper
        if first[0] is not a:
            way = -way
        rows, slopes = (np.array(v) for v in function(way, np.zeros(3), R_a, R_b))
        assert np.isfinite(rows).all()
        assert np.isfinite(slopes).all()
        assert rows[:, 0].min() == pytest.approx(gap, abs=2 * sum(crowns) + 1e-9)
        near = rows[:, 0] < 0.5 * give
        normal, place, twist = rows[near, 1:4], rows[near, 4:7], rows[near, 7:10]
        expected = np.hstack([normal, np.cross(place, normal) + twist])
        np.testing.assert_allclose(slopes[near], expected, atol=1e-7)


def support_of(one: Any, random: np.random.Generator, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A point of a body whose outward normal is n."""
    if isinstance(one, Cornered):
        corners = np.array(one.parts[0])
        return n, corners[np.argmax(corners @ n)] + one.radius * n
    if isinstance(one, Curved):
        return one.place(random, n)
    r, h = one.shape.value("radius") - one.radius, one.shape.value("length") / 2 - one.radius
    across = np.array([n[0], n[1], 0])
    length = np.linalg.norm(across)
    return n, r * across / max(length, 1e-12) + np.array([0, 0, h * np.sign(n[2])]) + one.radius * n


class Hills(HeightField):
    """Ground with hollows whose least radius of curvature is 2 m."""

    def height(self, x: Any, y: Any) -> Any:
        return 0.125 * ca.sin(2 * x) * ca.sin(2 * y)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [ellipsoid(np.array([0.1, 0.05, 0.08])), Cylinder(radius=0.1, length=0.3, crown=0.1)])
def test_the_lowest_point_over_hills_is_the_nearest(shape: Component) -> None:
    random = np.random.default_rng(1)
    if isinstance(shape, Cylinder):
        shape = Cylinder(radius=0.1, length=0.3, crown=0.1, rounding=0.005)
    function = points_of(shape, Hills())
    u, v = np.meshgrid(np.linspace(0, math.tau, 161), np.linspace(0, math.pi, 81))
    ball = np.stack([np.sin(v) * np.cos(u), np.sin(v) * np.sin(u), np.cos(v)], axis=-1).reshape(-1, 3)
    if isinstance(shape, Cylinder):
        surfaces = [(0.1, 0.1, 0.01) * ball + (0, 0, sign * (0.15 - 0.01)) for sign in (1, -1)]
    else:
        surfaces = [(0.1, 0.05, 0.08) * ball]
    for _ in range(20):
        R = Rotation.random(random_state=random).as_matrix()
        middle = np.array([*random.uniform(-0.7, 0.7, 2), random.uniform(0.0, 0.2)])
        rows, slopes = (np.array(v) for v in function(-middle, np.zeros(3), R, np.eye(3)))
        for row, slope, surface in zip(rows, slopes, surfaces, strict=True):
            gap, n, place = row[0], row[1:4], row[4:7] + middle
            on_ground, on_shape = place - gap / 2 * n, place + gap / 2 * n
            x, y, z = on_ground
            assert z == pytest.approx(0.125 * math.sin(2 * x) * math.sin(2 * y), abs=1e-12)
            # no point of the shape lies lower along the normal, and the one that is found is one of it
            heights = (middle + surface @ R.T - on_ground) @ n
            assert -1e-9 <= heights.min() - gap < 1e-3
            assert np.linalg.norm(middle + surface @ R.T - on_shape, axis=1).min() < 0.01
            np.testing.assert_allclose(slope, [*n, *np.cross(row[4:7], n)], atol=1e-9)


RADIUS, LENGTH, STIFF = 0.05, 0.12, 1e6
LAW = {"c": STIFF, "d": 100.0, "mu_k": 0.5, "c_t": 1e5}


class OnBox(Assembly):
    """A cylinder on a box, whose axis is horizontal where it is not turned."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0.1, 0, -math.sqrt(0.99)))
        self.body = free_body(1.0, (RADIUS**2 / 4 + LENGTH**2 / 12, RADIUS**2 / 2, 1e-3), (-0.4, 0, RADIUS - 9e-6))
        self.cylinder = Cylinder(radius=RADIUS, length=LENGTH, n=(0, 1, 0))
        self.box = Box(length=2, width=1, height=0.2, r=(0, 0, -0.1))
        self.contact = Contact(geometry_a="cylinder", geometry_b="box", **LAW)
        self.connect(self.body.frame_a, self.cylinder.frame_a)
        self.connect(self.world.frame_b, self.box.frame_a)


@pytest.mark.slow
@pytest.mark.campaign
def test_a_cylinder_rolls_and_stands_on_a_box() -> None:
    system = System.of(OnBox())
    rolling = simulate(system, 0.5, interval=0.1)
    np.testing.assert_allclose(rolling["body.v_0[1]"], 2 / 3 * 0.1 * G * rolling.time, rtol=2e-3, atol=1e-4)
    upright = {"body.angles_start[1]": math.pi / 2, "body.r_0[3]": LENGTH / 2 - 9e-6}
    standing = simulate(system, 1.0, interval=0.1, start_values=upright, tolerance=1e-8)
    assert standing["contact.f_n[1]"][-1] == pytest.approx(math.sqrt(0.99) * G, rel=1e-4)
    assert np.ptp(standing["body.r_0[1]"][5:]) < 1e-7
    assert LENGTH / 2 - standing["body.r_0[3]"][-1] == pytest.approx(math.sqrt(0.99) * G / STIFF, rel=0.1)


class OnCylinders(Assembly):
    """A cylinder that lies in the groove between two others, or across them."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        depth = 2 * RADIUS * math.sqrt(3) / 2
        self.body = free_body(1.0, (1e-3, 1e-3, 1e-3), (0, 0, depth - 5e-6))
        self.top = Cylinder(radius=RADIUS, length=2 * LENGTH, n=(0, 1, 0))
        self.connect(self.body.frame_a, self.top.frame_a)
        for name, x in (("left", -RADIUS), ("right", RADIUS)):
            lower = self.add(name, Cylinder(radius=RADIUS, length=2 * LENGTH, n=(0, 1, 0), r=(x, 0, 0)))
            self.connect(self.world.frame_b, lower.frame_a)
            self.add(f"on_{name}", Contact(geometry_a="top", geometry_b=name, c=STIFF, d=100.0))


@pytest.mark.slow
@pytest.mark.campaign
def test_a_cylinder_lies_on_others_in_parallel_and_across() -> None:
    system = System.of(OnCylinders())
    for turned, share in (({}, math.sqrt(3) / 3), ({"body.angles_start[3]": math.pi / 2}, 0.5)):
        values = dict(turned)
        if turned:
            values["body.r_0[3]"] = 2 * RADIUS - 4e-6
        result = simulate(system, 1.0, interval=0.1, start_values=values, tolerance=1e-8)
        for name in ("left", "right"):
            assert result[f"on_{name}.f_n[1]"][-1] == pytest.approx(share * G, rel=1e-3)
        assert np.ptp(result["body.r_0[3]"][5:]) < 1e-8


@pytest.mark.slow
def test_what_cannot_be_is_told() -> None:
    with pytest.raises(ModelError, match=r"rounding = 0.03: the radius, or half the length, is 0.02 m; give a smaller"):
        Cylinder(radius=0.1, length=0.04, rounding=0.03)

    def meeting(other: Component, kind: type[Component], **law: float) -> Assembly:
        model = Assembly()
        model.world = World(g=G)
        model.body = free_body(1.0, (1e-3,) * 3, (0, 0, 2))
        model.one, model.other = Cylinder(radius=0.1, length=0.2), other
        model.contact = kind(geometry_a="one", geometry_b="other", **law)
        model.connect(model.body.frame_a, model.one.frame_a)
        model.connect(model.world.frame_b, model.other.frame_a)
        return model

    with pytest.raises(ModelError, match=r"axes of more than 10 : 1, whose contact with an Ellipsoid or a Cylinder is"):
        System.of(meeting(Ellipsoid(length=1.1, width=0.1), Contact, c=1.0))
    with pytest.raises(ModelError, match=r"points that are too many for rigid bodies"):
        System.of(meeting(Box(length=0.1), RigidContact))
    assert not Contact.touches(Plane(), Plane())
    assert not Contact.touches(HeightField(z=np.zeros((4, 4))), Plane())


class Coins(Assembly):
    """A cylinder upon another one, on one axis."""

    def __init__(self) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        self.body = free_body(1.0, (1e-3, 1e-3, 1e-3), (0, 0, 0.1))
        self.upper, self.lower = Cylinder(radius=0.05, length=0.1), Cylinder(radius=0.05, length=0.1)
        self.contact = Contact(geometry_a="upper", geometry_b="lower", c=1e5, d=50.0, mu_k=0.3, c_t=1e4)
        self.connect(self.body.frame_a, self.upper.frame_a)
        self.connect(self.world.frame_b, self.lower.frame_a)


@pytest.mark.slow
@pytest.mark.campaign
def test_a_cylinder_stands_on_another_one_of_the_same_axis() -> None:
    """No direction beside the other one is the nearest to a rim whose middle is on its axis."""
    result = simulate(Coins(), 0.5, tolerance=1e-8)
    assert result["contact.f_n[1]"][-1] == pytest.approx(G, rel=1e-5)
    for k in (1, 2):
        assert np.abs(result[f"body.r_0[{k}]"]).max() < 1e-12
