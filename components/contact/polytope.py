"""Convex polytopes: hulls of points, their faces and edges, and how far a point is from one."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
import scipy

from mbfmu.components.contact.laws import SHORT
from mbfmu.components.interfaces import guarded_length

#: Faces whose normals differ by less than this are one, and points count as on a face that are as near to it, over the
#: size of the polytope: files hold numbers of single precision.
FLAT = 1e-5


@dataclasses.dataclass(frozen=True)
class Face:
    """A face: all points p with normal.p = offset that are on the inner side of its borders, border.p <= limit."""

    normal: np.ndarray
    offset: float
    borders: np.ndarray
    limits: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Polytope:
    """A convex polytope: corners [m], (n, 3), edges as pairs of these, faces, and the outline of each face."""

    corners: np.ndarray
    edges: tuple[tuple[int, int], ...]
    faces: tuple[Face, ...]
    outlines: tuple[tuple[int, ...], ...]

    @functools.cached_property
    def inscribed(self) -> tuple[np.ndarray, float]:
        """Centre [m] and radius [m] of the greatest sphere inside."""
        normals = np.array([face.normal for face in self.faces])
        found = scipy.optimize.linprog(
            (0.0, 0.0, 0.0, -1.0),
            A_ub=np.column_stack([normals, np.ones(len(normals))]),
            b_ub=[face.offset for face in self.faces],
            bounds=[(None, None)] * 3 + [(0, None)],
        )
        assert found.x is not None  # such a sphere there is
        return found.x[:3], float(found.x[3])

    def shrunk(self, by: float) -> Polytope:
        """What is left of it by a length [m] inside its faces, which is less than the inscribed radius."""
        if by == 0:
            return self
        halves = np.array([[*face.normal, by - face.offset] for face in self.faces])
        return hull(scipy.spatial.HalfspaceIntersection(halves, self.inscribed[0]).intersections)

    def distance(self, p: Any) -> tuple[Any, Any]:
        """Signed distance [m] of a point p [m] from the surface, and its gradient, (3,).

        Outside it is the way to the nearest point of face, edge or corner, which is but one; inside that to the nearest
        face.
        """
        heights = [ca.dot(ca.DM(face.normal), p) - face.offset for face in self.faces]
        nearest, inner = heights[0], ca.SX(ca.DM(self.faces[0].normal))
        for face, height in zip(self.faces[1:], heights[1:], strict=True):
            inner = ca.if_else(height > nearest, ca.DM(face.normal), inner)
            nearest = ca.fmax(height, nearest)
        squared, away = ca.SX(np.inf), ca.SX.zeros(3)
        for i, j in self.edges:
            begin, along = self.corners[i], self.corners[j] - self.corners[i]
            part = ca.fmax(0, ca.fmin(1, ca.dot(ca.DM(along), p - begin) / float(along @ along)))
            apart = p - begin - part * ca.DM(along)
            square = ca.sumsqr(apart)
            away = ca.if_else(square < squared, apart, away)
            squared = ca.fmin(square, squared)
        for face, height in zip(self.faces, heights, strict=True):
            above = height > 0
            for border, limit in zip(face.borders, face.limits, strict=True):
                above = ca.logic_and(above, ca.dot(ca.DM(border), p) <= float(limit))
            away = ca.if_else(above, height * ca.DM(face.normal), away)
        length = guarded_length(away, SHORT)
        is_outside = nearest > 0
        return ca.if_else(is_outside, length, nearest), ca.if_else(is_outside, away / length, inner)


def hull(points: np.ndarray) -> Polytope:
    """Convex hull of points [m], (n, 3).

    Raises:
        ValueError: they lie in a plane, or are less than four.
    """
    try:
        found = scipy.spatial.ConvexHull(points)
    except (scipy.spatial.QhullError, ValueError):
        raise ValueError("encloses no volume") from None
    groups = _coplanar(found)
    used = np.unique(found.simplices)
    number = {int(old): new for new, old in enumerate(used)}
    corners = np.array(points)[used]
    middle = corners.mean(axis=0)
    faces, outlines, edges = [], [], set()
    for members in groups:
        normal = found.equations[members, :3].mean(axis=0)
        normal /= np.linalg.norm(normal)
        outline = [number[v] for v in _outline(found.simplices[members], np.array(points), normal)]
        ring = corners[outline]
        offset = float((ring @ normal).max())
        borders = np.cross(np.roll(ring, -1, axis=0) - ring, normal)
        borders /= np.linalg.norm(borders, axis=1)[:, None]
        faces.append(Face(normal, offset, borders, np.einsum("ij,ij->i", borders, ring)))
        outlines.append(tuple(outline))
        following = [*outline[1:], outline[0]]
        edges |= {(min(pair), max(pair)) for pair in zip(outline, following, strict=True)}
    on_edges = sorted({i for pair in edges for i in pair})  # others lie within faces
    place = {old: new for new, old in enumerate(on_edges)}
    assert all(face.normal @ middle < face.offset for face in faces)
    return Polytope(
        corners[on_edges],
        tuple(sorted((place[i], place[j]) for i, j in edges)),
        tuple(faces),
        tuple(tuple(place[i] for i in outline) for outline in outlines),
    )


def _coplanar(found: scipy.spatial.ConvexHull) -> list[list[int]]:
    """Triangles of a hull, those of one plane together: neighbours of neighbours that look the same way."""
    groups: list[list[int]] = []
    group = [-1] * len(found.simplices)
    for first in range(len(group)):
        if group[first] >= 0:
            continue
        members, group[first] = [first], len(groups)
        for i in members:
            for j in found.neighbors[i]:
                if group[j] < 0 and np.abs(found.equations[j, :3] - found.equations[first, :3]).max() < FLAT:
                    group[j] = len(groups)
                    members.append(int(j))
        groups.append(members)
    return groups


def _outline(triangles: np.ndarray, points: np.ndarray, normal: np.ndarray) -> list[int]:
    """Corners of the polygon that triangles of a plane make, counter-clockwise seen against the normal."""
    pairs = set()
    for a, b, c in triangles:
        if np.cross(points[b] - points[a], points[c] - points[a]) @ normal < 0:
            b, c = c, b
        pairs |= {(int(a), int(b)), (int(b), int(c)), (int(c), int(a))}
    following = {a: b for a, b in pairs if (b, a) not in pairs}
    first = min(following)
    ring = [first]
    while following[ring[-1]] != first:
        ring.append(following[ring[-1]])
    return ring


def deepest(points: np.ndarray, of: Polytope) -> tuple[int, float]:
    """The point that lies deepest inside a polytope, and how deep [m]; points on its surface do not."""
    normals = np.array([face.normal for face in of.faces])
    depths = np.min([face.offset for face in of.faces] - points @ normals.T, axis=1)
    return int(depths.argmax()), float(depths.max())


def triangles_of(faces: Sequence[int]) -> np.ndarray:
    """Indices of corners, three for each triangle, as (n, 3)."""
    return np.array(faces, dtype=int).reshape(-1, 3)


__all__ = ["FLAT", "Face", "Polytope", "deepest", "hull", "triangles_of"]
