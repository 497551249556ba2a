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
    """A tree of links, the closures of its loops, and how long to run it, s; `gallery` is mbfmu's name for it."""

    gallery: str
    title: str
    links: tuple[Link, ...]
    closures: tuple[Closure, ...] = ()
    stop_time: float = 0.0


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
    """k pairs of crossed bars on top of each other, the lowest on a hinge and on a slide, falling."""
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
    return Mechanism("", f"scissor lift of {k} stages", tuple(links), tuple(closures), stop_time=1.0)


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
