"""The mechanisms of the comparison, as trees of rigid links: what a peer needs to build them in its own terms.

All joint frames are parallel to the world while all coordinates are 0, as in Modelica's examples. Masses and inertias
are computed here and not taken from mbfmu, so that equal trajectories say that both are right.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

#: Modelica's World: gravity along -y.
GRAVITY = (0.0, -9.80665, 0.0)

#: Modelica's BodyBox and BodyCylinder are of steel, kg/m3.
DENSITY = 7700.0


@dataclasses.dataclass(frozen=True)
class Link:
    """A joint and the rigid body that it carries; mass 0 for a joint that only leads on to the next one.

    `parent` is the index of the link before, -1 for the world; `origin` the place of the joint in the parent's frame;
    `center` and `inertia` (about it) belong to the link's own frame, whose origin is the joint.
    """

    name: str
    parent: int
    axis: tuple[float, float, float]
    origin: tuple[float, float, float]
    mass: float = 0.0
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((3, 3)))
    prismatic: bool = False
    damping: float = 0.0
    #: The joint leaves all six freedoms: a floating base.
    free: bool = False

    @property
    def position(self) -> str:
        """Name of the joint's coordinate in Modelica's terms."""
        return f"{self.name}.{'s' if self.prismatic else 'phi'}"

    @property
    def speed(self) -> str:
        """Name of the joint's speed in Modelica's terms."""
        return f"{self.name}.{'v' if self.prismatic else 'w'}"


@dataclasses.dataclass(frozen=True)
class Closure:
    """Two points that stay together, in the frames of two links, along the axes that are not held anyway."""

    links: tuple[int, int]
    points: tuple[tuple[float, float, float], tuple[float, float, float]]
    axes: tuple[bool, bool, bool] = (True, True, True)


@dataclasses.dataclass(frozen=True)
class Mechanism:
    """A tree of links, the closures of its loops, and how long to run it, s; `gallery` is mbfmu's name for it.

    Only the first link may float.
    """

    gallery: str
    title: str
    links: tuple[Link, ...]
    closures: tuple[Closure, ...] = ()
    stop_time: float = 0.0

    @property
    def joints(self) -> tuple[Link, ...]:
        """The links on hinges and slides, which have one coordinate each."""
        return tuple(link for link in self.links if not link.free)


@dataclasses.dataclass(frozen=True)
class State:
    """Coordinates and speeds of hinges and slides, and the motion of a floating base."""

    q: np.ndarray
    v: np.ndarray
    #: Position [m] and orientation (a unit quaternion, scalar last) in the world; velocity [m/s] resolved in the world,
    #: angular velocity [rad/s] in the base; all empty where nothing floats.
    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    rotation: np.ndarray


def some_state(mechanism: Mechanism) -> State:
    """A random state, always the same for mechanisms of one size."""
    n = len(mechanism.joints)
    random = np.random.default_rng(n)
    q, v = random.uniform(-1, 1, n), random.uniform(-1, 1, n)
    if n == len(mechanism.links):
        return State(q, v, *(np.zeros(0) for _ in range(4)))
    quaternion = random.normal(size=4)
    position, velocity, rotation = random.uniform(-1, 1, (3, 3))
    return State(q, v, position, quaternion / np.linalg.norm(quaternion), velocity, rotation)


def solid(
    r: tuple[float, float, float], width: float, circular: bool = False
) -> tuple[float, tuple[float, float, float], np.ndarray]:
    """Mass, centre and inertia about it of a steel rod from the origin to `r` with square or circular section."""
    length = math.hypot(*r)
    along = np.array(r) / length
    section = math.pi / 4 * width**2 if circular else width**2
    mass = DENSITY * section * length
    # Second moment of the section, per area: w^2/12 of a square, d^2/16 of a circle.
    bending = width**2 / (16 if circular else 12)
    across = mass * (length**2 / 12 + bending)
    inertia = across * np.eye(3) + (2 * mass * bending - across) * np.outer(along, along)
    x, y, z = r
    return mass, (x / 2, y / 2, z / 2), inertia


AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def chain(n: int) -> Mechanism:
    """n boxes of 0.5 m, each on a hinge at the end of the one before; axes x, y, z in turn."""
    box = solid((0.5, 0.0, 0.0), 0.06)
    return Mechanism(
        gallery="",
        title=f"chain of {n} links",
        links=tuple(Link(f"joint{i + 1}", i - 1, AXES[i % 3], (0.5 if i else 0.0, 0.0, 0.0), *box) for i in range(n)),
    )


def _some_body(random: np.random.Generator) -> tuple[float, tuple[float, float, float], np.ndarray]:
    """Mass, centre and inertia about it of a body of no particular form: no element of the inertia is zero."""
    mass, (x, y, z) = random.uniform(0.5, 4.0), random.uniform(-0.2, 0.2, 3)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    moments = mass * 0.02 * random.uniform(1.0, 1.9, 3)  # of which two are always more than the third
    return float(mass), (float(x), float(y), float(z)), turn @ np.diag(moments) @ turn.T


def _some_axis(random: np.random.Generator) -> tuple[float, float, float]:
    axis = random.normal(size=3)
    x, y, z = axis / np.linalg.norm(axis)
    return float(x), float(y), float(z)


def _some_place(random: np.random.Generator) -> tuple[float, float, float]:
    x, y, z = random.uniform(-0.4, 0.4, 3)
    return float(x), float(y), float(z)


def skew_chain(n: int) -> Mechanism:
    """n bodies of no particular form in a row, on hinges with random axes."""
    random = np.random.default_rng(n)
    links = [
        Link(f"joint{i + 1}", i - 1, _some_axis(random), _some_place(random), *_some_body(random)) for i in range(n)
    ]
    return Mechanism(gallery="", title=f"{n} random axes in a row", links=tuple(links))


#: Joints of the humanoid's limbs, and the link that each limb hangs on: waist, legs, arms, neck.
LIMBS = ((3, 0), (6, 0), (6, 0), (7, 3), (7, 3), (2, 3))


def humanoid() -> Mechanism:
    """A floating base with limbs of 31 hinges with random axes, bodies of no particular form: 37 degrees of freedom."""
    random = np.random.default_rng(37)
    links = [Link("base", -1, AXES[0], (0.0, 0.0, 0.0), *_some_body(random), free=True)]
    for joints, at in LIMBS:
        for i in range(joints):
            parent = at if i == 0 else len(links) - 1
            name = f"joint{len(links)}"
            links.append(Link(name, parent, _some_axis(random), _some_place(random), *_some_body(random)))
    return Mechanism(gallery="", title="humanoid, 37 degrees of freedom, random axes", links=tuple(links))


def four_bar_chain(k: int) -> Mechanism:
    """k four-bars, each hanging from the coupler of the one before: a deep tree with k short loops."""
    crank, coupler = (0.1, -0.5, 0.0), (0.8, 0.05, 0.0)
    links: list[Link] = []
    closures: list[Closure] = []
    for i in range(k):
        first, before = len(links), len(links) - 2  # the coupler is the second of three
        rocker = (0.1, -0.5, 0.0) if i else (0.1, -0.45, 0.0)
        right = coupler if i else (0.8, 0.0, 0.0)
        links += [
            Link(f"crank{i + 1}", before if i else -1, AXES[2], (0.0, 0.0, 0.0), *solid(crank, 0.04)),
            Link(f"coupler{i + 1}", first, AXES[2], crank, *solid(coupler, 0.04)),
            Link(f"rocker{i + 1}", before if i else -1, AXES[2], right, *solid(rocker, 0.04)),
        ]
        closures.append(Closure((first + 1, first + 2), (coupler, rocker), (True, True, False)))
    return Mechanism("", f"chain of {k} four-bars", tuple(links), tuple(closures), stop_time=1.0)


def scissor_lift(k: int) -> Mechanism:
    """k pairs of crossed bars in a pile, the lowest on a hinge and on a slide, falling; they lie flat before 0.8 s."""
    up, down, half = (0.8, 0.3, 0.0), (-0.8, 0.3, 0.0), (0.4, 0.15, 0.0)
    slider = Link("slider", -1, AXES[0], (0.8, 0.0, 0.0), 2.0, inertia=0.01 * np.eye(3), prismatic=True)
    mass, _, inertia = solid(down, 0.04)  # hinged in its middle
    links, closures = [slider], []
    for i in range(k):
        bar, below = len(links), len(links) - 2
        corner = (-0.4, 0.15, 0.0) if i else (0.0, 0.0, 0.0)
        links += [
            Link(f"rising{i + 1}", bar - 1 if i else -1, AXES[2], corner, *solid(up, 0.04)),
            Link(f"falling{i + 1}", bar, AXES[2], half, mass, (0.0, 0.0, 0.0), inertia),
        ]
        end = (below, up) if i else (0, (0.0, 0.0, 0.0))
        closures.append(Closure((bar + 1, end[0]), ((0.4, -0.15, 0.0), end[1]), (True, True, False)))
    return Mechanism("", f"scissor lift of {k} stages", tuple(links), tuple(closures), stop_time=0.5)


def truss(n: int) -> Mechanism:
    """n x n cells of hinged bars, hanging: n + 1 columns that n rows connect."""
    down, along = (0.1, -0.5, 0.0), (0.6, 0.0, 0.0)
    links: list[Link] = []
    closures: list[Closure] = []
    above = [-1] * (n + 1)
    for j in range(n):
        columns = []
        for i in range(n + 1):
            columns.append(len(links))
            origin = down if j else (0.6 * i, 0.0, 0.0)
            links.append(Link(f"column{i + 1}_{j + 1}", above[i], AXES[2], origin, *solid(down, 0.04)))
        for i in range(n):
            closures.append(Closure((len(links), columns[i + 1]), (along, down), (True, True, False)))
            links.append(Link(f"row{i + 1}_{j + 1}", columns[i], AXES[2], down, *solid(along, 0.04)))
        above = columns
    return Mechanism("", f"truss of {n} x {n} cells", tuple(links), tuple(closures), stop_time=1.0)


DOUBLE_PENDULUM = Mechanism(
    gallery="double_pendulum",
    title="Double pendulum, 3 s",
    links=(
        Link("revolute1", -1, AXES[2], (0.0, 0.0, 0.0), *solid((0.5, 0.0, 0.0), 0.06), damping=0.1),
        Link("revolute2", 0, AXES[2], (0.5, 0.0, 0.0), *solid((0.5, 0.0, 0.0), 0.06)),
    ),
    stop_time=3.0,
)

PLANAR_FOUR_BAR = Mechanism(
    gallery="planar_four_bar",
    title="Planar four-bar, 5 s",
    links=(
        Link("revolute1", -1, AXES[2], (0.0, 0.0, 0.0), *solid((0.4, 0.0, 0.0), 0.05), damping=0.1),
        Link("revolute2", 0, AXES[2], (0.4, 0.0, 0.0), *solid((0.1, 1.1, 0.0), 0.05)),
        Link("revolute3", -1, AXES[2], (-0.15, 1.0, 0.0), *solid((0.65, 0.1, 0.0), 0.05)),
    ),
    closures=(Closure((1, 2), ((0.1, 1.1, 0.0), (0.65, 0.1, 0.0)), (True, True, False)),),
    stop_time=5.0,
)

FOUR_BAR = Mechanism(
    gallery="four_bar",
    title="Spatial four-bar, 5 s",
    links=(
        Link("j1", -1, AXES[0], (0.0, 0.0, 0.0), *solid((0.0, 0.5, 0.1), 0.05, circular=True)),
        Link("j2", -1, AXES[0], (1.2, 0.0, 0.0), *solid((0.0, 0.2, 0.0), 0.05, circular=True), prismatic=True),
        Link("rev", 1, AXES[1], (0.0, 0.2, 0.0)),
        Link("rev1", 2, AXES[2], (0.0, 0.0, 0.0), *solid((-1.0, 0.3, 0.1), 0.05, circular=True)),
    ),
    closures=(Closure((0, 3), ((0.0, 0.5, 0.1), (-1.0, 0.3, 0.1))),),
    stop_time=5.0,
)
