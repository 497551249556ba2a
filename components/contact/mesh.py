"""Convex bodies whose surface is a mesh, of a file or of numbers."""

from __future__ import annotations

import functools
import pathlib
import re
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.contact.geometry import SHAPE_COLOR, Balls, Core, Geometry
from mbfmu.components.contact.polytope import FLAT, Polytope, deepest, hull
from mbfmu.errors import ModelError
from mbfmu.frames import from_nxy
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter

#: Endings of files that are read.
SUFFIXES = (".stl", ".obj", ".ply", ".off", ".gltf", ".glb")
NO_FILE = "NoName"
#: Edges and corners are rounded by this part of the radius of the greatest sphere inside.
ROUNDING = 0.05


class ConvexMesh(Geometry):
    """Convex body bounded by a mesh: of a file, or of vertices and faces.

    It touches with its corners, and with its edges; corners share the friction at their centre of pressure. Between
    bodies with edges, edges and corners are rounded by `rounding`, within the faces.
    """

    modelica_name = "Contact.ConvexMesh"

    fileName = Parameter(t.String, NO_FILE, "File with the mesh: STL, OBJ, PLY, OFF or glTF")
    vertices = Parameter(
        t.Position,
        lambda self: np.zeros((0, 3)),
        "Points of the mesh where there is no file, a row each, along the mesh's axes",
        shape=None,
        structural=True,
    )
    faces = Parameter(
        t.Integer,
        (),
        "Triangles: numbers of three vertices each, counted from 0; where there are none, the hull of all vertices",
        shape=None,
    )
    scale = Parameter(
        t.Real, (1, 1, 1), "Factors of the coordinates of the mesh", shape=3, structural=True, nonzero=True
    )
    hull = Parameter(t.Boolean, False, "= true, if the convex hull shall take the place of a mesh that is not convex")
    lengthDirection = Parameter(t.Axis, (1, 0, 0), "Direction of the mesh's x-axis, resolved in frame_a", shape=3)
    widthDirection = Parameter(t.Axis, (0, 1, 0), "Direction of the mesh's y-axis, resolved in frame_a", shape=3)
    rounding = Parameter(
        t.Radius,
        lambda self: ROUNDING * self.polytope.inscribed[1],
        "Radius of edges and corners, as boxes, capsules and meshes meet them; planes and spheres meet them sharp",
        nonzero=True,
        structural=True,
    )
    color = Parameter(t.Color, SHAPE_COLOR, "Color of shape", shape=3, animation=True)

    in_patches = True

    def check_values(self) -> None:
        super().check_values()
        radius, most = self.value("rounding"), self.polytope.inscribed[1]
        if radius >= most:
            raise ModelError(
                f"{self.where}.rounding = {radius:g}: the greatest sphere inside the mesh has a radius of {most:g} m; "
                "give a smaller one"
            )

    @property
    def polytope(self) -> Polytope:
        """What the mesh encloses, resolved in frame_a, counted from r.

        Raises:
            ModelError: the mesh is empty, flat, damaged or not convex.
        """
        given, faces = np.asarray(self.value("vertices"), dtype=float), self.value("faces")
        return _polytope(
            self.where,
            self.value("fileName"),
            given.tobytes(),
            given.shape,
            tuple(faces) if isinstance(faces, tuple | list) else (faces,),
            tuple(map(float, self.value("scale"))),
            self.value("hull"),
            tuple(map(float, self.value("lengthDirection"))),
            tuple(map(float, self.value("widthDirection"))),
        )

    @property
    def size(self) -> Any:
        return self.polytope.inscribed[1]

    def balls(self) -> Balls:
        return [(ca.DM(corner), 0.0) for corner in self.polytope.corners]

    def lowest(self, n: Any) -> Balls:
        return self.balls()

    def distance(self, p: Any) -> tuple[Any, Any]:
        return self.polytope.distance(p)

    @property
    def core(self) -> Core:
        radius = float(self.value("rounding"))
        shrunk = _shrunk(self.polytope, radius)
        edges = []
        for i, j in shrunk.edges:
            along = (shrunk.corners[j] - shrunk.corners[i]) / 2
            half = float(np.linalg.norm(along))
            edges.append((ca.DM(along / half), [ca.DM((shrunk.corners[i] + shrunk.corners[j]) / 2)], half))
        corners, normals = [ca.DM(corner) for corner in shrunk.corners], [ca.DM(face.normal) for face in shrunk.faces]
        return Core(corners, edges, radius, shrunk.distance, normals)

    def visualize(self: Any) -> None:
        polytope = self._component.polytope
        # Triangles side by side: what joins one to the next lies inside
        rows = [
            (polytope.corners[[outline[0], outline[i]]], polytope.corners[[outline[0], outline[i + 1]]])
            for outline in polytope.outlines
            for i in range(1, len(outline) - 1)
        ]
        points = np.array([row for pair in rows for row in pair])
        self.draw_surface(
            "mesh",
            [ca.SX(ca.DM(points[:, :, k])) + ca.SX(self.r)[k] for k in range(3)],
            self.frame_a,
            color=self.color,
        )


@functools.lru_cache(maxsize=256)
def _shrunk(polytope: Polytope, by: float) -> Polytope:
    return polytope.shrunk(by)


@functools.lru_cache(maxsize=256)
def _polytope(
    where: str,
    file: str,
    numbers: bytes,
    shape: tuple[int, ...],
    faces: tuple[int, ...],
    scale: tuple[float, ...],
    takes_hull: bool,
    along: tuple[float, ...],
    across: tuple[float, ...],
) -> Polytope:
    """What a mesh encloses; `numbers` are its vertices."""
    if file != NO_FILE:
        points, triangles = _read(f"{where}.fileName = {file!r}", file)
        what = f"{where}.fileName = {file!r}"
    else:
        what, points = f"{where}.vertices", np.frombuffer(numbers).reshape(shape)
        if points.size == 0:
            raise ModelError(f"{where}: a mesh without vertices; give a file, or vertices")
        if points.ndim != 2 or points.shape[1] != 3:
            raise ModelError(f"{what} has the shape {points.shape}; expected three coordinates in each row")
        if len(faces) % 3 or (faces and (min(faces) < 0 or max(faces) >= len(points))):
            raise ModelError(
                f"{where}.faces: expected three numbers of vertices, 0 to {len(points) - 1}, for each triangle"
            )
        triangles = np.array(faces, dtype=int).reshape(-1, 3)
    with np.errstate(over="ignore", invalid="ignore"):  # which is told below
        points = points * np.array(scale) @ np.asarray(from_nxy(along, across).T, dtype=float)
    if not np.all(np.isfinite(points)):
        raise ModelError(f"{what}: has coordinates that are no finite numbers; repair it, or correct scale")
    try:
        found = hull(points)
    except ValueError as error:
        raise ModelError(f"{what}: {error}; give four points or more that do not lie in a plane") from None
    if len(triangles) and not takes_hull:
        middles = points[triangles].mean(axis=1)
        worst, depth = deepest(middles, found)
        if depth > FLAT * np.ptp(points, axis=0).max():
            raise ModelError(
                f"{what}: is not convex: face {worst} lies {depth:.3g} m inside its hull; give hull = true to take the "
                "hull, or make the body up of convex meshes"
            )
    return found


def _read(where: str, file: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [m], (n, 3), and triangles, (m, 3), of a file."""
    path = pathlib.Path(re.sub(r"^(file|modelica)://", "", file))
    if path.suffix.lower() not in SUFFIXES:
        raise ModelError(f"{where}: is none of {', '.join(SUFFIXES)}; convert it to one of them")
    if not path.is_file():
        raise ModelError(f"{where}: there is no such file; give its whole path")
    try:
        import trimesh

        mesh: Any = trimesh.load_scene(path).to_mesh()
    except ImportError as error:
        raise ModelError(f"{where}: reading it needs {error.name}; `pip install mbfmu[meshes]` installs it") from None
    except Exception as error:  # readers of damaged files raise whatever they meet
        raise ModelError(f"{where}: cannot be read ({error!r:.200}); repair or convert it") from None
    if not len(mesh.faces):
        raise ModelError(f"{where}: has no faces; export it with its surfaces as triangles")
    return np.array(mesh.vertices, dtype=float), np.array(mesh.faces, dtype=int)


__all__ = ["ConvexMesh"]
