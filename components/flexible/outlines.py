"""What is drawn of bodies of finite elements: their surface, with as many points as files of scenes hold."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import numpy as np

#: A surface has so many points at most, and so many coordinates of displacements: scenes are text.
MOST_POINTS, MOST_NUMBERS = 3000, 60000


#: Number of corners of a solid element -> its faces, as indices of these; alike in Abaqus, Ansys, Nastran and VTK.
FACES = {
    4: ((0, 1, 2), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
    5: ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    6: ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    8: ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
}


@dataclasses.dataclass(frozen=True, eq=False)
class Outline:
    """A surface whose points move."""

    #: Places without deformation [k, 3], and triangles as indices of these [m, 3].
    points: np.ndarray
    triangles: np.ndarray
    #: Displacement by each shape [k, 3, n].
    displacements: np.ndarray


def outline(places: np.ndarray, triangles: np.ndarray, displacements: np.ndarray) -> Outline | None:
    """That of a body: triangles of nodes, with so many nodes left out that it is no larger than files hold.

    Args:
        places: of all nodes [k, 3].
        triangles: indices of these [m, 3].
        displacements: of the nodes by each shape [k, 3, n].
    """
    if not len(triangles):
        return None
    most = min(MOST_POINTS, MOST_NUMBERS // (3 * max(displacements.shape[2], 1)))
    kept, corners = simplified(places, triangles, max(most, 8))
    return Outline(places[kept], corners, displacements[kept])


def skin(places: np.ndarray, cells: Mapping[int, np.ndarray]) -> np.ndarray:
    """Surface of solid elements: the faces that one of them has alone.

    Args:
        places: of all nodes [k, 3].
        cells: by their number of corners, elements as indices of nodes [m, corners]; corners may be the same node, as
            those of a brick that stands for a wedge.

    Returns:
        Triangles [i, 3], counterclockwise from outside.
    """
    found: dict[tuple[int, ...], tuple[tuple[int, ...], np.ndarray] | None] = {}
    for count, elements in cells.items():
        for element in elements.tolist():
            middle = places[element].mean(axis=0)
            for face in FACES[count]:
                corners = tuple(dict.fromkeys(element[k] for k in face))
                if len(corners) > 2:
                    key = tuple(sorted(corners))
                    found[key] = None if key in found else (corners, middle)
    triangles = []
    for corners, middle in filter(None, found.values()):
        a, *others = corners
        for b, c in itertools.pairwise(others):
            normal = np.cross(places[b] - places[a], places[c] - places[a])
            triangles.append((a, b, c) if normal @ (places[a] - middle) >= 0 else (a, c, b))
    return np.array(triangles, dtype=int).reshape(-1, 3)


def simplified(places: np.ndarray, triangles: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A surface with `most` points at most: those that are nearest to the mean of each cell of a grid.

    So Rossignac and Borrel cluster points; which of a cell is kept is a point of the surface, so that it lies on it.

    Returns:
        Indices of the places that are kept [j], and triangles as indices of these [i, 3].
    """
    used, corners = np.unique(triangles, return_inverse=True)
    corners = corners.reshape(-1, 3)
    points = places[used]
    if len(used) <= most:
        return used, corners
    low, sizes = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-300)
    finest, coarsest, found = 1.0 / len(used), 1.0, np.zeros(len(used), dtype=int)
    for _ in range(30):  # the finest grid that leaves as many
        middle = np.sqrt(finest * coarsest)
        steps = np.maximum(np.rint(sizes / (middle * sizes.max())), 1)  # both sides of a thin body stay apart
        places_in_grid = np.rint((points - low) / sizes * steps).astype(int)
        cells = np.unique(places_in_grid, axis=0, return_inverse=True)[1].ravel()
        if cells.max() < most:
            found, coarsest = cells, middle
        else:
            finest = middle
    counts = np.bincount(found)[:, None]
    means = np.stack([np.bincount(found, points[:, k]) for k in range(3)], axis=1) / counts
    order = np.lexsort((np.linalg.norm(points - means[found], axis=1), found))
    first = order[np.unique(found[order], return_index=True)[1]]
    merged = found[corners]
    a, b, c = merged.T
    merged = merged[(a != b) & (b != c) & (c != a)]
    turned = np.take_along_axis(merged, (merged.argmin(axis=1)[:, None] + np.arange(3)) % 3, axis=1)
    return used[first], np.unique(turned, axis=0)


__all__ = ["Outline", "outline", "simplified", "skin"]
