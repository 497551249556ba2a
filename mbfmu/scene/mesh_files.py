"""Meshes from files: STL, OBJ, PLY, OFF, COLLADA and glTF through trimesh, the faces of DXF through ezdxf."""

from __future__ import annotations

import functools
import pathlib
import urllib.parse
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from mbfmu.errors import MbfmuError
from mbfmu.scene.meshes import Mesh

#: Endings of files that are read.
SUFFIXES = (".stl", ".obj", ".ply", ".off", ".dae", ".gltf", ".glb", ".dxf")
_REMEDY = "`pip install mbfmu[meshes]` installs it"

#: Faces that meet at less than this angle [rad] are shown as one smooth surface.
_SMOOTH = 0.6


def find_file(shape_type: str, folders: Iterable[str | pathlib.Path]) -> pathlib.Path | None:
    """The file that a shapeType names: an absolute path, one relative to any of the folders, or a URI.

    `file://` is an absolute path; of `modelica://Library/path` the library's folder is one of `folders`, around them or
    beside those; the library's old "1" stands for 1.dxf. None where there is no such file.
    """
    scheme, separator, rest = shape_type.partition("://")
    if separator and scheme == "file":
        path = urllib.parse.unquote(rest).removeprefix("localhost")
        return _existing(pathlib.Path(path.removeprefix("/") if path[2:3] == ":" else path))
    places = [pathlib.Path(folder) for folder in folders]
    if separator and scheme == "modelica":
        library, _, inner = rest.partition("/")
        around = [above for place in places for above in (place, *place.resolve().parents)]
        roots = [above for above in around if above.name.split(" ")[0] == library]
        roots += [above / library for above in around]
        return next((found for root in roots if (found := _existing(root / inner))), None)
    if separator:
        return None
    name = f"{shape_type}.dxf" if shape_type.isdigit() else shape_type
    return next((found for place in places if (found := _existing(place / name))), None)


def _existing(path: pathlib.Path) -> pathlib.Path | None:
    return path if path.is_file() else None


def read_mesh(path: pathlib.Path, where: str) -> Mesh:
    """The triangles of a file, in its own coordinates; in metres where the file says what its unit is.

    Raises:
        MbfmuError: The file is of another form or damaged, has no faces, or what reads it is not installed; the message
            begins with `where`, the component.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MbfmuError(f"{where}: {path.name} is none of {', '.join(SUFFIXES)}; convert it to one of them")
    try:
        return _mesh(path)
    except ImportError as error:
        raise MbfmuError(f"{where}: reading {path.name} needs {error.name}; {_REMEDY}") from None
    except MbfmuError as error:
        raise MbfmuError(f"{where}: {path}: {error}") from None
    except Exception as error:  # readers of damaged files raise whatever they meet
        raise MbfmuError(f"{where}: {path} cannot be read ({error!r:.200}); repair or convert it") from None


@functools.lru_cache(maxsize=256)
def _mesh(path: pathlib.Path) -> Mesh:
    return _smooth(_dxf(path) if path.suffix.lower() == ".dxf" else path)


def _smooth(source: Any) -> Mesh:
    """A file or triangles [n, 3, 3], with normals that are smooth but at edges."""
    import trimesh
    from trimesh.graph import smooth_shade

    if isinstance(source, pathlib.Path):
        if source.suffix.lower() == ".dae":
            import collada  # noqa: F401  trimesh leaves COLLADA out where this is missing
        with warnings.catch_warnings():  # pycollada 0.9.3 sets shapes as NumPy 2.5 deprecates
            warnings.filterwarnings("ignore", "Setting the shape on a NumPy array", DeprecationWarning)
            shape: Any = trimesh.load_scene(source)
        if source.suffix.lower() == ".dae" and shape.units not in (None, "meters", "meter"):
            shape = shape.convert_units("meters")
        shape = shape.to_mesh()
    else:
        shape = trimesh.Trimesh(**trimesh.triangles.to_kwargs(source))
    if not len(shape.faces):
        raise MbfmuError("has no faces; export it with its surfaces as triangles")
    shape = smooth_shade(shape, angle=_SMOOTH)
    normals = np.array(shape.vertex_normals, dtype=float)
    sizes = np.linalg.norm(normals, axis=1)
    normals[sizes < 0.5] = (0.0, 0.0, 1.0)  # of faces without area
    return Mesh(np.array(shape.vertices, dtype=float), normals, np.array(shape.faces, dtype=int))


def _dxf(path: pathlib.Path) -> np.ndarray:
    """Triangles [n, 3, 3] of 3DFACE entities, polyface meshes and meshes."""
    import ezdxf
    from ezdxf.render import MeshBuilder

    found: list[Any] = []
    for entity in ezdxf.readfile(str(path)).modelspace():
        kind = entity.dxftype()
        if kind == "3DFACE":
            a, b, c, d = (tuple(v) for v in (entity.dxf.vtx0, entity.dxf.vtx1, entity.dxf.vtx2, entity.dxf.vtx3))
            found += [(a, b, c)] + ([] if c == d else [(a, c, d)])
            continue
        if kind == "MESH":
            builder = MeshBuilder.from_mesh(entity)
        elif kind == "POLYLINE" and entity.is_poly_face_mesh:
            builder = MeshBuilder.from_polyface(entity)
        else:
            continue
        for face in builder.faces_as_vertices():
            corners = [tuple(v) for v in face]
            found += [(corners[0], corners[i], corners[i + 1]) for i in range(1, len(corners) - 1)]
    if not found:
        raise MbfmuError("has no 3DFACE, polyface or MESH entities; export it with its surfaces as faces")
    return np.array(found, dtype=float)
