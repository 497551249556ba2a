"""Triangle meshes of Modelica's shapes: x from 0 to 1 along the length, y and z from -1/2 to 1/2 across it."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from mbfmu.dynamics.showing.drawing import DEFORMED, DEFORMED_FACTS, SURFACE, SURFACE_FACTS

#: Facets of a full turn: of round bodies, of a coil's wire, and of a coil per winding.
AROUND, WIRE, PER_WINDING = 36, 8, 20


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Triangles with a normal at each corner, or without any, where they are flat; or lines."""

    positions: np.ndarray
    normals: np.ndarray
    #: Indices of corners, [n, 3]; of ends of lines, [n, 2].
    triangles: np.ndarray
    #: Red, green and blue, 0 to 255, of each corner.
    colors: np.ndarray | None = None
    #: It is seen from both sides.
    both: bool = False

    @property
    def is_lines(self) -> bool:
        """True where there are lines in place of triangles."""
        return self.triangles.shape[1] == 2


def mesh_of(type: str, extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """The mesh of a shape type.

    Args:
        type: one of Modelica's shape types, or a surface.
        extra: its further parameters.
        size: length, width and height [m] for which proportions are right that do not scale: a wire's, a round end's.
    """
    return _mesh(type, tuple(float(e) for e in extra), tuple(float(s) for s in size) if type in _SIZED else (1, 1, 1))


@functools.lru_cache(maxsize=512)
def _mesh(type: str, extra: tuple[float, ...], size: tuple[float, float, float]) -> Mesh:
    return _MAKERS[type](extra, size)


def _flat(corners: np.ndarray, faces: Sequence[Sequence[int]]) -> Mesh:
    """Plane convex faces, each with corners of its own, counter-clockwise as seen from outside."""
    positions: list[np.ndarray] = []
    normals: list[np.ndarray] = []
    triangles: list[tuple[int, int, int]] = []
    for face in faces:
        points, start = corners[list(face)], len(positions)
        normal = np.zeros(3)
        for i in range(1, len(face) - 1):
            normal += np.cross(points[i] - points[0], points[i + 1] - points[0])
            triangles.append((start, start + i, start + i + 1))
        normals += [normal / (np.linalg.norm(normal) or 1)] * len(face)
        positions += list(points)
    return Mesh(np.array(positions), np.array(normals), np.array(triangles))


def _joined(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(m.positions) for m in meshes)])
    return Mesh(
        np.vstack([m.positions for m in meshes]),
        np.vstack([m.normals for m in meshes]),
        np.vstack([m.triangles + start for m, start in zip(meshes, starts, strict=False)]),
    )


def _turned(profile: np.ndarray, normals: np.ndarray, around: int = AROUND) -> Mesh:
    """A profile (x, radius) with its normals (x, radius), [n, 2] each, turned about the x-axis.

    The outside lies to the left of a profile that is walked from its end to its begin.
    """
    angles = np.linspace(0, 2 * math.pi, around + 1)
    c, s = np.cos(angles), np.sin(angles)

    def spin(values: np.ndarray) -> np.ndarray:
        return np.stack(
            [
                np.broadcast_to(values[:, :1], (len(values), len(angles))),
                np.outer(values[:, 1], c),
                np.outer(values[:, 1], s),
            ],
            axis=-1,
        )

    return _grid(spin(profile), spin(normals))


def _grid(positions: np.ndarray, normals: np.ndarray) -> Mesh:
    """A surface over a grid of points with normals, [n, m, 3] each, seen from where normals point to."""
    n, m = positions.shape[:2]
    i, j = np.meshgrid(np.arange(n - 1), np.arange(m - 1), indexing="ij")
    a = (i * m + j).ravel()
    b, c, d = a + 1, a + m + 1, a + m
    triangles = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    flat, sides = positions.reshape(-1, 3), normals.reshape(-1, 3)
    sides = sides / np.maximum(np.linalg.norm(sides, axis=1, keepdims=True), 1e-12)
    corners = flat[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    areas = np.linalg.norm(faces, axis=1)
    turned = np.einsum("ij,ij->i", faces, sides[triangles].sum(axis=1)) < 0
    triangles[turned] = triangles[turned][:, ::-1]
    triangles = triangles[areas > 1e-14]
    return Mesh(flat, sides, triangles)


def _straight(*points: tuple[float, float], around: int = AROUND) -> Mesh:
    """A profile of straight lines (x, radius), each turned by itself, so that edges stay sharp; outside to the left."""
    parts = []
    for (x0, r0), (x1, r1) in itertools.pairwise(points):
        normal = np.array([r0 - r1, x1 - x0], dtype=float)
        size = np.linalg.norm(normal)
        if size > 1e-12 and max(r0, r1) > 0:
            parts.append(_turned(np.array([[x0, r0], [x1, r1]]), np.array([normal / size] * 2), around))
    return _joined(*parts)


def _box(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    corners = np.array([(x, y, z) for x in (0, 1) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return _flat(corners, faces)


def _sphere(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    t = np.linspace(0, math.pi, AROUND // 2 + 1)
    circle = np.column_stack([-np.cos(t), np.sin(t)])
    circle[[0, -1], 1] = 0.0
    return _turned(circle / 2 + [0.5, 0], circle)


def _cylinder(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    body = _straight((0, 0), (0, 0.5), (1, 0.5), (1, 0))
    if not extra[0] > 0:
        return body
    # a line along the side that shows how the cylinder turns
    line = _box((), ()).positions * [1.002, 0.02, 0.04] + [-0.001, 0.5, 0]
    return _joined(body, dataclasses.replace(_box((), ()), positions=line))


def _cone(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    tip = min(max(extra[0], 0.0), 1.0) / 2
    return _straight((0, 0), (0, 0.5), (1, tip), *([(1, 0)] if tip else []))


def _pipe(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    inner = min(max(extra[0], 0.0), 0.999) / 2
    if not inner:
        return _straight((0, 0), (0, 0.5), (1, 0.5), (1, 0))
    return _straight((0, inner), (0, 0.5), (1, 0.5), (1, inner), (0, inner))


def _prism(outline: np.ndarray, along: int, depth: tuple[float, float], middle: np.ndarray | None = None) -> Mesh:
    """A prism over a plane outline [n, 2], counter-clockwise about the axis `along` (0: x, 2: z)."""
    n = len(outline)
    place = {0: (1, 2), 2: (0, 1)}[along]
    ends = []
    for value in depth:
        points = np.zeros((n + 1, 3))
        points[:n, place[0]], points[:n, place[1]], points[:, along] = outline[:, 0], outline[:, 1], value
        points[n, list(place)] = outline.mean(axis=0) if middle is None else middle
        ends.append(points)
    corners = np.vstack(ends)
    faces: list[Sequence[int]] = []
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, n + 1 + j, n + 1 + i), (n + 1 + i, n + 1 + j, 2 * n + 1), (j, i, n)]
    return _flat(corners, faces)


def _beam(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """A bar with round ends about both ends of its length."""
    length, width = abs(size[0]) or 1.0, abs(size[1]) or 1.0
    t = np.linspace(-math.pi / 2, math.pi / 2, AROUND // 2)
    round_end = np.column_stack([np.cos(t) * width / 2 / length, np.sin(t) / 2])
    return _prism(np.vstack([round_end + np.array([1.0, 0.0]), -round_end]), 2, (-0.5, 0.5))


def _capsule(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """A cylinder with ends that are half spheres, over its whole length."""
    share = min(abs(size[1]) / 2 / (abs(size[0]) or 1.0), 0.5)
    t = np.linspace(0, math.pi / 2, AROUND // 4 + 1)
    c, s = np.cos(t), np.sin(t)
    first, second = np.column_stack([share - share * c, s / 2]), np.column_stack([1 - share + share * s, c / 2])
    out = np.vstack([np.column_stack([-c / (2 * share), s]), np.column_stack([s / (2 * share), c])])
    profile = np.vstack([first, second])
    profile[[0, -1], 1] = 0.0
    return _turned(profile, out / np.linalg.norm(out, axis=1, keepdims=True))


def _gearwheel(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """A gearwheel of `extra` teeth; fewer than none are those of an internal gear in a ring."""
    teeth = max(3, round(abs(extra[0])) or 20)
    module = 1 / (teeth + 2)
    if extra[0] < 0:
        root, tip = 0.5 - 1.0 * module, 0.5 - 3.25 * module
    else:
        root, tip = 0.5 - 2.25 * module, 0.5
    t, r = [], []
    for i in range(teeth):
        for share, radius in ((0.0, root), (0.22, root), (0.36, tip), (0.64, tip), (0.78, root)):
            t.append((i + share) * 2 * math.pi / teeth)
            r.append(radius)
    outline = np.column_stack([np.cos(t), np.sin(t)]) * np.array(r)[:, None]
    if extra[0] >= 0:
        return _prism(outline, 0, (0.0, 1.0), np.zeros(2))
    rim = np.column_stack([np.cos(t), np.sin(t)]) / 2
    n = len(outline)
    corners = np.vstack([np.column_stack([np.full(n, x), line]) for x in (0.0, 1.0) for line in (outline, rim)])
    faces: list[Sequence[int]] = []
    for i in range(n):
        j = (i + 1) % n
        inner0, outer0, inner1, outer1 = (np.array([i, j]) + k * n for k in range(4))
        faces += [
            (inner0[1], inner0[0], inner1[0], inner1[1]),
            (outer0[0], outer0[1], outer1[1], outer1[0]),
            (inner0[0], inner0[1], outer0[1], outer0[0]),
            (inner1[1], inner1[0], outer1[0], outer1[1]),
        ]
    return _flat(corners, faces)


def _spring(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """A coil of `extra` windings; the height is twice the width of its wire."""
    length, width, wire = abs(size[0]) or 1.0, abs(size[1]) or 1.0, abs(size[2]) / 2 or 0.05
    windings = max(abs(extra[0]), 0.5)
    steps = max(8, round(windings * PER_WINDING))
    t = np.linspace(0, 2 * math.pi * windings, steps + 1)
    radius = max(width / 2 - wire / 2, wire / 2)
    center = np.column_stack([t / t[-1] * length, radius * np.cos(t), radius * np.sin(t)])
    out = np.column_stack([np.zeros_like(t), np.cos(t), np.sin(t)])
    tangent = np.column_stack([np.full_like(t, length / t[-1]), -radius * np.sin(t), radius * np.cos(t)])
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    side = np.cross(tangent, out)
    angles = np.linspace(0, 2 * math.pi, WIRE + 1)
    normals = out[:, None] * np.cos(angles)[None, :, None] + side[:, None] * np.sin(angles)[None, :, None]
    scale = np.array([length, width, abs(size[2]) or 2 * wire])
    # across its axis the coil is round: height scales the wire only, so z is undone here by the width
    positions = (center[:, None] + normals * wire / 2) / scale
    coil = _grid(positions, normals)
    caps = [
        _flat(np.vstack([center[k] / scale, positions[k, :-1]]), [(0, *pair) for pair in _ring(WIRE, k == 0)])
        for k in (0, -1)
    ]
    return _joined(coil, *caps)


def _ring(n: int, backwards: bool) -> list[tuple[int, int]]:
    pairs = [(1 + i, 1 + (i + 1) % n) for i in range(n)]
    return [(b, a) for a, b in pairs] if backwards else pairs


def surface_arrays(extra: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Points [m] and normals of a surface by its `extra`, with colours, 0 to 255, if it has them: [nu, nv, 3] each."""
    nu, nv = (round(float(e)) for e in extra[:2])
    numbers = np.asarray(extra[len(SURFACE_FACTS) :], dtype=float).reshape(-1, nu, nv, 3)
    return numbers[0], _normals(numbers[0]), numbers[1] if len(numbers) > 1 else None


def _normals(points: np.ndarray) -> np.ndarray:
    """Normals of a grid of points, [nu, nv, 3] each; where it closes in itself, they do."""

    def slope(axis: int) -> np.ndarray:
        along = np.moveaxis(points, axis, 0)
        rates: np.ndarray = np.gradient(along, axis=0)
        if len(along) > 2 and np.allclose(along[0], along[-1], atol=1e-9 * (1 + np.abs(points).max())):
            rates[0] = rates[-1] = (along[1] - along[-2]) / 2
        return np.moveaxis(rates, 0, axis)

    def beside(values: np.ndarray, axis: int) -> np.ndarray:
        """Sums of the values before and behind each point."""
        along = np.moveaxis(values, axis, 0)
        sums = np.zeros_like(along)
        sums[1:] += along[:-1]
        sums[:-1] += along[1:]
        return np.moveaxis(sums, 0, axis)

    normals = np.cross(slope(0), slope(1))
    sizes = np.linalg.norm(normals, axis=2, keepdims=True)
    flat = sizes[..., 0] <= 1e-9 * max(float(sizes.max()), 1e-300)
    normals = normals / np.maximum(sizes, 1e-300)
    if flat.any():  # poles, at which many points are one: as beside them
        known = normals * ~flat[..., None]
        sums = known + beside(known, 0) + beside(known, 1)
        lengths = np.linalg.norm(sums, axis=2, keepdims=True)
        filled = np.where(lengths > 1e-9, sums / np.maximum(lengths, 1e-300), [0.0, 0.0, 1.0])
        normals = np.where(flat[..., None], filled, normals)
    return normals


def _surface(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """A surface through points, in metres; its corners are the points, in their order, so that they can move."""
    points, normals, colors = surface_arrays(np.array(extra))
    nu, nv = points.shape[:2]
    at = np.arange(nu * nv).reshape(nu, nv)
    if extra[SURFACE_FACTS.index("wireframe")]:
        pairs = [(at[:-1], at[1:]), (at[:, :-1], at[:, 1:])]
        corners = np.vstack([np.column_stack([a.ravel(), b.ravel()]) for a, b in pairs])
    else:
        a, b, c, d = (part.ravel() for part in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
        corners = np.vstack([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    colors = None if colors is None else colors.reshape(-1, 3)
    return Mesh(points.reshape(-1, 3), normals.reshape(-1, 3), corners, colors, both=True)


@dataclasses.dataclass(frozen=True)
class Deformed:
    """Triangles that are deformed, by their shape's `extra`."""

    #: Factors of the displacements [k].
    factors: np.ndarray
    #: Places [m] without these [n, 3], and what each adds [k, n, 3].
    points: np.ndarray
    displacements: np.ndarray
    triangles: np.ndarray

    @classmethod
    def of(cls, extra: Sequence[float]) -> Deformed:
        """Take them apart."""
        first = len(DEFORMED_FACTS)
        n, m, k = (round(float(e)) for e in extra[:first])
        ends = np.cumsum([first + k, 3 * n, 3 * m, 3 * n * k])
        factors, points, triangles, displacements = np.split(np.asarray(extra, dtype=float)[first:], ends[:3] - first)
        return cls(factors, points.reshape(n, 3), displacements.reshape(k, n, 3), triangles.astype(int).reshape(m, 3))


def _deformed(extra: Sequence[float], size: Sequence[float]) -> Mesh:
    """Flat triangles, whose normals follow from where their corners are."""
    found = Deformed.of(extra)
    return Mesh(found.points, np.zeros((0, 3)), found.triangles)


_MAKERS: dict[str, Callable[[Sequence[float], Sequence[float]], Mesh]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "pipecylinder": _pipe,
    "pipe": _pipe,
    "cone": _cone,
    "beam": _beam,
    "capsule": _capsule,
    "gearwheel": _gearwheel,
    "spring": _spring,
    SURFACE: _surface,
    DEFORMED: _deformed,
}
#: Shapes whose proportions do not just scale.
_SIZED = ("beam", "capsule", "spring")
