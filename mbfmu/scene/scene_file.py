"""The scene in an FMU, `resources/scene.json`: what `mbfmu animate model.fmu` draws, without the model's source.

Its shapes are those of mbfmu.dynamics.showing.drawing, attribute by attribute: a number, or the name of the variable
that has it. Shapes of equal frames, and what most shapes share, are not written twice: JSON packs well in the archive.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from mbfmu.dynamics.showing.scene import Scene, Shape, Vector
from mbfmu.errors import MbfmuError
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.scene.mesh_files import find_file

#: Where it stands in an FMU, and the version of its form.
SCENE_FILE, VERSION = "resources/scene.json", 2
#: Files of meshes that go into an FMU have so many bytes at most.
_MOST = 30_000_000

#: And the scene itself: JSON takes twenty times of this in memory.
LARGEST = 20_000_000
#: Where meshes of an FMU are.
_MESH = re.compile(r"meshes/(?!\.+$)[^/\\:\x00]+")

Drawn = TypeVar("Drawn", Shape, Vector)

_FIELDS = tuple(field.name for field in dataclasses.fields(Shape))


@dataclasses.dataclass(frozen=True)
class SceneFile:
    """The file, and the names of shapes that are not in it."""

    text: bytes
    left_out: tuple[str, ...]
    #: Meshes that it names: name beside it -> file.
    meshes: dict[str, pathlib.Path]


def scene_file(scene: Scene, components: Sequence[tuple[str, str, str]], known: Collection[str]) -> SceneFile:
    """Write the shapes of a scene whose variables are all among those `known` in the FMU, and its components."""
    known = set(known)
    meshes: dict[pathlib.Path, str] = {}
    there, left_out, size = [], [], 0
    for shape in scene.shapes:
        file = find_file(shape.type, scene.folders) if shape.is_file else None
        if not names_of(shape) <= known or (shape.is_file and file is None):
            left_out.append(shape.ident)
            continue
        if file is not None and file not in meshes:
            if size + file.stat().st_size > _MOST:
                left_out.append(shape.ident)
                continue
            size += file.stat().st_size
            meshes[file] = f"meshes/{len(meshes)}_{file.name}"
        there.append(dataclasses.replace(shape, type=meshes[file]) if file else shape)
    content = {
        "mbfmu-scene": VERSION,
        "up": scene.up,
        "falls": scene.falls,
        "components": components,
        "left_out": left_out,
        "shapes": [shape_entry(shape) for shape in there],
    }
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    return SceneFile(text, tuple(left_out), {name: file for file, name in meshes.items()})


def by_known_names(scene: Scene, variables: Iterable[ScalarVariable], known: Collection[str]) -> Scene:
    """The scene with aliases that are `known` in place of names that are not, where there are any."""
    known = set(known)
    variables = list(variables)
    place = {v.name: (v.store, v.index) for v in variables if v.store != "constant"}
    alias = {place[v.name]: v.name for v in reversed(variables) if v.name in known and v.name in place}
    taken = [*scene.variables, *(name for vector in scene.vectors for name in names_of(vector))]
    other = {name: alias.get(place[name], name) for name in taken if name not in known and name in place}

    def renamed(drawn: Drawn) -> Drawn:
        quantities: Any = {
            key: tuple(other.get(q, q) if isinstance(q, str) else q for q in values)
            for key, values in drawn.quantities.items()
        }
        return dataclasses.replace(drawn, **quantities)

    shapes, vectors = tuple(map(renamed, scene.shapes)), tuple(map(renamed, scene.vectors))
    return dataclasses.replace(scene, shapes=shapes, vectors=vectors) if other else scene


def shape_entry(shape: Shape) -> dict[str, Any]:
    """A shape as JSON has it."""
    return {name: getattr(shape, name) for name in _FIELDS}


def names_of(drawn: Shape | Vector, but: str = "") -> set[str]:
    """Names of the variables that a shape or vector follows, with all attributes but one."""
    return {q for key, values in drawn.quantities.items() if key != but for q in values if isinstance(q, str)}


def read_scene(
    text: bytes, where: str, folder: pathlib.Path
) -> tuple[Scene, tuple[tuple[str, str, str], ...], tuple[str, ...]]:
    """Return the scene, the components (path, class, description), and the names of shapes that are left out.

    `folder` is that of the FMU's resources, `where` begins messages.

    Raises:
        MbfmuError: The file is damaged, or of a later version.
    """
    if len(text) > LARGEST:
        raise MbfmuError(
            f"{where}: its scene, {SCENE_FILE}, has more than {LARGEST / 1e6:.0f} MB; leave out what need not be seen, "
            "and build it anew"
        )
    try:
        content = json.loads(text)
        if content["mbfmu-scene"] != VERSION:
            raise MbfmuError(
                f"{where}: its scene is of version {content['mbfmu-scene']}, this mbfmu reads version {VERSION}; "
                "use the mbfmu that built it"
            )
        shapes = tuple(_shape(entry) for entry in content["shapes"])
        up = tuple(float(e) for e in content["up"])
        components = tuple((str(path), str(kind), str(text)) for path, kind, text in content["components"])
        falls = bool(content.get("falls", False))  # FMUs of 0.2 do not say
        scene = Scene(shapes, (up[0], up[1], up[2]), falls, (str(folder),))
        return scene, components, tuple(map(str, content["left_out"]))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise MbfmuError(f"{where}: its scene, {SCENE_FILE}, is damaged ({error!r}); build it anew") from None
    except RecursionError:
        raise MbfmuError(f"{where}: its scene, {SCENE_FILE}, is damaged (nested without end); build it anew") from None


def _shape(entry: dict[str, Any]) -> Shape:
    texts = ("component", "kind", "name", "type")
    values = {
        name: str(entry[name]) if name in texts else tuple(q if isinstance(q, str) else float(q) for q in entry[name])
        for name in _FIELDS
    }
    shape = Shape(**values)  # type: ignore[arg-type]
    if shape.is_file and not _MESH.fullmatch(shape.type):
        raise ValueError(f"the mesh {shape.type!r:.80} is no file of its own")
    return shape
