"""Bodies that meet: heaps of spheres, and convex meshes on the ground; native FMUs against MuJoCo and Exudyn.

All have one law: a linear spring of c at each point of contact with the ground, two of them in series between spheres,
neither damping nor friction. Tools differ in the last digits of their laws, and what bounces is sensitive to them:
errors are measured against the tool's own finest run, and those runs are compared.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import mbfmu
from benchmarks.peers import exudyn_contact, mujoco_contact
from benchmarks.precision import Point, time_at
from benchmarks.timing import run_time, with_children
from benchmarks.unit import Unit
from mbfmu.components import World
from mbfmu.components.contact import ContactGroup, ConvexMesh, Plane, Sphere
from mbfmu.components.parts import Body
from mbfmu.modeling import Assembly, Start

#: Acceleration of gravity, m/s2; mass of a body, kg; radius of a sphere and of the corners of a mesh, m.
GRAVITY, MASS, RADIUS = 9.81, 1.0, 0.1

#: Stiffness, N/m.
STIFFNESS = 1e5

#: Principal moment of inertia, kg.m2, of a sphere and near enough of a mesh; all tools are given it.
INERTIA = 0.4 * MASS * RADIUS**2

#: Corners of a mesh, those of an icosahedron; and the angles about x, y, z in which the first falls, rad.
_GOLDEN = (1 + math.sqrt(5)) / 2
CORNERS = (
    RADIUS
    / math.hypot(1, _GOLDEN)
    * np.array([np.roll([0, one, other * _GOLDEN], k) for k in range(3) for one in (-1, 1) for other in (-1, 1)])
)
ANGLES = np.array([0.3, 0.2, 0.1])

#: Where tools are compared, m, a thousandth of a radius; finest runs must end no farther apart than the other, m.
TARGET, AGREEMENT = 1e-4, 2e-3

#: Tolerances of the FMU, the last one for its reference; a sweep ends where a run takes longer than this, s.
TOLERANCES, LONGEST = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-9), 20.0


@dataclasses.dataclass(frozen=True)
class Heap:
    """Bodies in layers of four above the ground, or side by side: what they are and where they begin.

    Attributes:
        kind: `spheres` or `meshes`.
        positions: Of centres of mass [n, 3], m.
        angles: About x, y, z in turn [n, 3], rad.
        stop_time: End of the run, s.
    """

    kind: str
    positions: np.ndarray
    angles: np.ndarray
    stop_time: float

    @classmethod
    def of(cls, kind: str, n: int) -> Heap:
        """`n` bodies of a kind: spheres fall on each other, meshes side by side, each in another attitude."""
        i = np.arange(n)
        if kind == "meshes":
            places = np.column_stack([0.3 * (i % 6), 0.3 * (i // 6), 0.15 + 0.002 * i])
            return cls(kind, places, ANGLES * (1 + i[:, None]), 0.4)
        layer, k = i // 4, i % 4
        shift = 0.03 * (layer % 2)
        places = np.column_stack([0.25 * (k % 2) + shift, 0.25 * (k // 2) + shift / 2, 0.12 + 0.21 * layer])
        return cls(kind, places, np.zeros((n, 3)), 0.3)


class Bodies(Assembly):
    """The heap as an assembly."""

    def __init__(self, heap: Heap) -> None:
        self.world, self.ground = World(g=GRAVITY, n=(0, 0, -1)), Plane()
        self.connect(self.world.frame_b, self.ground.frame_a)
        names = []
        moments = dict.fromkeys(("I_11", "I_22", "I_33"), INERTIA)
        for i, (place, angles) in enumerate(zip(heap.positions, heap.angles, strict=True)):
            start = {"r_0": Start(tuple(place), fixed=True), "v_0": Start((0.0, 0.0, 0.0), fixed=True)}
            turned = {"angles_fixed": True, "angles_start": tuple(angles), "w_0_fixed": True}
            body = self.add(f"body{i}", Body(m=MASS, r_CM=(0, 0, 0), **moments, **start, **turned))
            shape = Sphere(radius=RADIUS) if heap.kind == "spheres" else ConvexMesh(vertices=CORNERS)
            self.connect(body.frame_a, self.add(f"shape{i}", shape).frame_a)
            names.append(f"shape{i}")
        self.floor = ContactGroup(geometries_a=names, geometries_b=["ground"], c=STIFFNESS)
        if heap.kind == "spheres" and len(names) > 1:
            self.heap = ContactGroup(geometries_a=names, c=STIFFNESS / 2)


#: Kinds and their sizes.
SIZES: Mapping[str, Sequence[int]] = {"spheres": (1, 10, 30, 100), "meshes": (10, 30)}

#: A run at a setting: its CPU time, s, and the heights at its end [n], m.
Timed = Callable[[float], tuple[float, np.ndarray]]


def measure(folder: pathlib.Path, sizes: Mapping[str, Sequence[int]] = SIZES) -> Iterator[dict[str, Any]]:
    """Yield one row per heap: CPU times of each tool to the target, s, its points, and how far tools end apart, m.

    Raises:
        AssertionError: They end farther apart than `AGREEMENT`.
    """
    for kind, counts in sizes.items():
        for n in counts:
            heap = Heap.of(kind, n)
            contenders: dict[str, dict[str, tuple[Timed, Sequence[float]]]] = {
                "mujoco": {
                    how: (_timed(mujoco_contact.runs(heap, how)), mujoco_contact.STEPS) for how in mujoco_contact.WAYS
                },
                "exudyn": {
                    how: (_timed(exudyn_contact.runs(heap, how)), exudyn_contact.STEPS) for how in exudyn_contact.WAYS
                },
            }
            begin = with_children()
            contenders["mbfmu"] = {"": (_timed(_ours(heap, folder / f"{kind}{n}")), TOLERANCES)}
            row: dict[str, Any] = {
                "n": n,
                "family": kind,
                "making": with_children() - begin,
                "points": {},
                "chosen": {},
            }
            limits = {}
            for tool, ways in contenders.items():
                found = {how: _sweep(*way) for how, way in ways.items()}
                reached = {how: time_at(points, TARGET) for how, (points, _) in found.items()}
                best = min(found, key=lambda how: reached[how] or math.inf)
                row[tool], row["chosen"][tool] = reached[best], best
                row["points"][tool], limits[tool] = found[best]
            row["differs"] = float(np.ptp(np.array(list(limits.values())), axis=0).max())
            assert row["differs"] < AGREEMENT, f"{n} {kind}: the tools end {row['differs']:.1e} m from each other"
            yield row


def _ours(heap: Heap, folder: pathlib.Path) -> Callable[[float], Callable[[], np.ndarray]]:
    """A run of the FMU at a tolerance."""
    folder.mkdir()
    model = Bodies(heap)
    model.stop_time = heap.stop_time
    unit = Unit(mbfmu.build(model, folder / "heap.fmu", target="native"), folder / "heap")
    names = [f"body{i}.r_0[3]" for i in range(len(heap.positions))]

    def run(tolerance: float) -> Callable[[], np.ndarray]:
        unit.start(tolerance)

        def integrate() -> np.ndarray:
            unit.advance(1, heap.stop_time)
            return np.array(unit.get(names))

        return integrate

    return run


def _timed(run: Callable[[float], Callable[[], np.ndarray]]) -> Timed:
    return lambda setting: run_time(functools.partial(run, setting), repeats=3)


def _sweep(run: Timed, settings: Sequence[float]) -> tuple[list[Point], np.ndarray]:
    """Points of all settings but the last, whose end is the reference, and that."""
    found = []
    for setting in settings:
        found.append((setting, *run(setting)))
        if found[-1][1] > LONGEST:
            break
    limit = found[-1][2]
    points = [Point(setting, spent, float(np.abs(end - limit).max())) for setting, spent, end in found[:-1]]
    return points, limit
