"""Geoms as shapes that are drawn."""

from __future__ import annotations

import numpy as np

from mbfmu.importers.builder import Builder
from mbfmu.importers.geometry import color_of, mesh_placement, solid_placement
from mbfmu.importers.mjcf.bodies import Bodies
from mbfmu.importers.mjcf.rotations import matrix
from mbfmu.importers.mjcf.source import Source

#: Geoms of these groups are drawn, as MuJoCo's viewer does at the start.
DRAWN_GROUPS = 3


def drawn_geoms(source: Source) -> dict[int, list[int]]:
    """Body -> its geoms that become shapes."""
    model, found = source.model, dict[int, list[int]]()
    for g in range(model.ngeom):
        hidden = source.kind("mjtGeom", model.geom_type[g]) in ("PLANE", "HFIELD", "SDF")
        if int(model.geom_group[g]) < DRAWN_GROUPS and not hidden:
            found.setdefault(int(model.geom_bodyid[g]), []).append(g)
    return found


def add_geom(source: Source, builder: Builder, bodies: Bodies, g: int) -> None:
    """A shape at a body's frame."""
    model = source.model
    kind, body = source.kind("mjtGeom", model.geom_type[g]), int(model.geom_bodyid[g])
    size, centre, R = np.array(model.geom_size[g]), np.array(model.geom_pos[g]), matrix(model.geom_quat[g])
    material = int(model.geom_matid[g])
    color = color_of(model.mat_rgba[material] if material >= 0 else model.geom_rgba[g])
    name = model.geom(g).name or f"{bodies.names[body]}_visual"
    if kind == "MESH":
        mesh = int(model.geom_dataid[g])
        shape, scale = _mesh(source, mesh)
        R = R @ matrix(model.mesh_quat[mesh]).T  # MuJoCo moves meshes into their principal axes
        placement = mesh_placement(centre - R @ np.array(model.mesh_pos[mesh]), R, scale)
    else:
        shapes = {
            "SPHERE": ("sphere", (size[0], size[0], size[0]), (0, 1)),
            "ELLIPSOID": ("sphere", (size[0], size[1], size[2]), (0, 1)),
            "BOX": ("box", (size[0], size[1], size[2]), (0, 1)),
            "CYLINDER": ("cylinder", (size[1], size[0], size[0]), (2, 0)),
            "CAPSULE": ("capsule", (size[1] + size[0], size[0], size[0]), (2, 0)),
        }
        if kind not in shapes:
            return
        shape, half, columns = shapes[kind]
        long, wide, high = (2 * float(v) for v in half)
        placement = solid_placement(centre, R, columns, (long, wide, high))
    builder.shape(name, bodies.frames[body], shape, **placement, color=color)


def _mesh(source: Source, index: int) -> tuple[str, tuple[float, ...]]:
    """File and scale of a mesh; its name where it is not of a file."""
    for mesh in source.spec.meshes:
        if mesh.id == index:
            file = str((source.path.parent / (source.spec.meshdir or "") / mesh.file).resolve())
            return file if mesh.file else mesh.name, tuple(map(float, mesh.scale))
    return f"mesh{index}", (1.0, 1.0, 1.0)
