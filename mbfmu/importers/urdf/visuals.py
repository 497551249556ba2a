"""What is drawn of a robot: the <visual> elements of its links as shapes."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from mbfmu.importers.geometry import color_of, mesh_placement, solid_placement
from mbfmu.importers.places import number, numbers, place_of
from mbfmu.importers.urdf.poses import origin_of, rotation_of

#: Colour of shapes that have none.
GREY = (155, 155, 155)


class Visuals:
    """The shapes of a file's links."""

    def __init__(self, path: pathlib.Path, root: Any) -> None:
        self.path = path
        self._colors = {m.get("name"): c for m in root.iterfind("material") if (c := self._color(m)) is not None}

    def of(self, link: Any) -> Iterator[tuple[str, dict[str, Any]]]:
        """Shape type and parameters of what is drawn of a <link>, in its frame."""
        for visual in link.iterfind("visual"):
            geometry = visual.find("geometry")
            form = None if geometry is None else next((e for e in geometry if isinstance(e.tag, str)), None)
            if form is None:
                continue
            xyz, rpy = origin_of(visual, self.path)
            turn = rotation_of(rpy)
            material = visual.find("material")
            color = None if material is None else self._color(material) or self._colors.get(material.get("name"))
            shape = self._shape(form, xyz, turn, link.get("name"))
            if shape is not None:
                yield shape[0], shape[1] | {"color": color or GREY}

    def _color(self, material: Any) -> tuple[int, ...] | None:
        color = material.find("color")
        if color is None:
            return None
        rgba = numbers(color, "rgba", self.path, len((color.get("rgba") or "").split()) if color.get("rgba") else 4)
        if len(rgba) not in (3, 4):
            raise place_of(color, self.path).error(f'rgba="{color.get("rgba")}": give four numbers from 0 to 1')
        return color_of(rgba)

    def _shape(self, form: Any, centre: np.ndarray, turn: np.ndarray, link: str) -> tuple[str, dict[str, Any]] | None:
        if form.tag == "box":
            x, y, z = (abs(v) for v in numbers(form, "size", self.path, 3))
            return "box", solid_placement(centre, turn, (0, 1), (x, y, z))
        if form.tag in ("cylinder", "capsule"):
            radius, long = (abs(number(form, key, self.path)) for key in ("radius", "length"))
            length = long + 2 * radius if form.tag == "capsule" else long
            return form.tag, solid_placement(centre, turn, (2, 0), (length, 2 * radius, 2 * radius))
        if form.tag == "sphere":
            size = 2 * abs(number(form, "radius", self.path))
            return "sphere", solid_placement(centre, turn, (0, 1), (size, size, size))
        if form.tag == "mesh":
            name = form.get("filename")
            if not name:
                raise place_of(form, self.path).error(f'of link {link}: needs filename="..."')
            scale = numbers(form, "scale", self.path, 3, (1.0, 1.0, 1.0))
            return self._mesh(name), mesh_placement(centre, turn, scale)
        return None

    def _mesh(self, name: str) -> str:
        """A mesh file's path; a `package://` that cannot be found stays as it is."""
        if name.startswith("file://"):
            return name.removeprefix("file://")
        if not name.startswith("package://"):
            return str((self.path.parent / name).resolve())
        package, _, rest = name.removeprefix("package://").partition("/")
        folder = self.path.resolve().parent
        around = [*folder.parents, folder]
        roots = [parent / package for parent in around] + [parent for parent in around if parent.name == package]
        for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
            for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
                place = pathlib.Path(entry)
                roots += [place / package, place / "share" / package, *([place] if place.name == package else [])]
        found = next((root / rest for root in reversed(roots) if (root / rest).is_file()), None)
        return name if found is None else str(found)
