"""glTF 2.0: a motion as one binary file that viewers, Blender and game engines read."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbfmu
from mbfmu.dynamics.drawing import SURFACES
from mbfmu.errors import MbfmuError
from mbfmu.scene.mesh_files import read_mesh
from mbfmu.scene.meshes import Mesh, mesh_of
from mbfmu.scene.motion import Keyframes, Motion, Part, Track, keyframes

_FLOAT, _SHORT, _INT = 5126, 5123, 5125
_VERTICES, _TRIANGLES = 34962, 34963


def write_glb(motion: Motion, up: tuple[float, float, float], name: str) -> bytes:
    """Return the file: a node per frame, and in it one per shape, named as in the model.

    The root turns `up`, a direction of the model's world, into glTF's y-axis. Names, kinds and component paths of
    shapes are in the nodes' `extras`.

    Raises:
        MbfmuError: pygltflib is not installed.
    """
    return _Writer(motion, up, name).file()


class _Writer:
    """Collects the arrays of one file."""

    def __init__(self, motion: Motion, up: tuple[float, float, float], name: str) -> None:
        try:
            import pygltflib
        except ImportError:
            raise MbfmuError("animations need pygltflib; `pip install pygltflib` installs it") from None
        self.gltf: Any = pygltflib
        self.motion, self.name = motion, name
        self.data = bytearray()
        self.views: list[Any] = []
        self.accessors: list[Any] = []
        self.meshes: list[Any] = []
        self.materials: list[Any] = []
        self.samplers: list[Any] = []
        self.channels: list[Any] = []
        self.nodes: list[Any] = [pygltflib.Node(name=name, rotation=_to_y(up), children=[])]
        self._known: dict[Any, Any] = {}
        self._times: dict[bytes, int] = {}

    def file(self) -> bytes:
        """Put everything together."""
        g, motion = self.gltf, self.motion
        numbers = []
        for i, frame in enumerate(motion.frames):
            still = not any(np.any(track.values != _NEUTRAL[name]) for name, track in frame.tracks.items())
            numbers.append(0 if still and not frame.kept else self._node(f"frame {i}", frame.tracks, 0))
        for part in motion.parts:
            node = self._node(part.shape.ident, part.place.tracks, numbers[part.frame])
            self.nodes[node].mesh = self._mesh(part)
            shape = part.shape
            self.nodes[node].extras = {
                "component": shape.component,
                "shape": shape.name,
                "kind": shape.kind,
                "type": shape.type,
            }
        for node in self.nodes:
            node.children = node.children or None
        model = g.GLTF2(
            asset=g.Asset(version="2.0", generator=f"mbfmu {mbfmu.__version__}"),
            scene=0,
            scenes=[g.Scene(name=self.name, nodes=[0])],
            nodes=self.nodes,
            meshes=self.meshes,
            materials=self.materials,
            accessors=self.accessors,
            bufferViews=self.views,
            buffers=[g.Buffer(byteLength=len(self.data))] if self.data else [],
            animations=[g.Animation(name="motion", channels=self.channels, samplers=self.samplers)]
            if self.channels
            else [],
        )
        model.set_binary_blob(bytes(self.data))
        return b"".join(model.save_to_bytes())

    def _node(self, name: str, tracks: dict[str, Track], parent: int) -> int:
        number = len(self.nodes)
        node = self.gltf.Node(name=name, children=[])
        self.nodes.append(node)
        self.nodes[parent].children.append(number)
        for path, track in tracks.items():
            if np.any(track.values[0] != _NEUTRAL[path]) or track.moves:
                setattr(node, path, [float(v) for v in track.values[0].astype(np.float32)])
            if track.moves:
                self._channel(number, path, keyframes(self.motion.time, track.values))
        return number

    def _channel(self, node: int, path: str, found: Keyframes) -> None:
        g = self.gltf
        time = (found.time - self.motion.time[0]).astype(np.float32)
        if time.tobytes() not in self._times:
            accessor = self._array(time[:, None], bounds=True)
            self._times[time.tobytes()] = accessor
        rows = np.stack([found.rates, found.values, found.rates], axis=1).reshape(-1, found.values.shape[1])
        output = self._array(rows.astype(np.float32))
        self.samplers.append(
            g.AnimationSampler(input=self._times[time.tobytes()], output=output, interpolation="CUBICSPLINE")
        )
        target = g.AnimationChannelTarget(node=node, path=path)
        self.channels.append(g.AnimationChannel(sampler=len(self.samplers) - 1, target=target))

    def _mesh(self, part: Part) -> int:
        g = self.gltf
        shape = part.shape
        form = read_mesh(part.file, shape.ident) if part.file else mesh_of(shape.type, part.extra, part.size)
        names = SURFACES.get(shape.type, ())
        transparency = part.extra[names.index("transparency")] if "transparency" in names else 0.0
        key = (id(form), self._material(part.color, part.specular, transparency))
        if key not in self._known:
            positions, normals, triangles = self._geometry(form)
            primitive = g.Primitive(
                attributes=g.Attributes(POSITION=positions, NORMAL=normals), indices=triangles, material=key[1]
            )
            self._known[key] = len(self.meshes)
            self.meshes.append(g.Mesh(name=part.file.name if part.file else shape.type, primitives=[primitive]))
        return int(self._known[key])

    def _geometry(self, form: Mesh) -> tuple[int, int, int]:
        key = ("geometry", id(form))
        if key not in self._known:
            kind = np.uint16 if len(form.positions) < 65535 else np.uint32
            self._known[key] = (
                self._array(form.positions.astype(np.float32), _VERTICES, bounds=True),
                self._array(form.normals.astype(np.float32), _VERTICES),
                self._array(form.triangles.astype(kind).reshape(-1, 1), _TRIANGLES),
            )
        found: tuple[int, int, int] = self._known[key]
        return found

    def _material(self, color: tuple[float, ...], specular: float, transparency: float) -> int:
        g = self.gltf
        key = ("material", color, specular, transparency)
        if key not in self._known:
            self._known[key] = len(self.materials)
            linear = [_linear(min(max(c, 0.0), 255.0) / 255) for c in color]
            self.materials.append(
                g.Material(
                    pbrMetallicRoughness=g.PbrMetallicRoughness(
                        baseColorFactor=[*linear, 1.0 - min(max(transparency, 0.0), 1.0)],
                        metallicFactor=0.0,
                        roughnessFactor=1.0 - 0.7 * min(max(specular, 0.0), 1.0),
                    ),
                    alphaMode="BLEND" if transparency else "OPAQUE",
                    alphaCutoff=None,
                )
            )
        return int(self._known[key])

    def _array(self, rows: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Add an array [n, k] to the file and return its accessor."""
        g = self.gltf
        while len(self.data) % 4:
            self.data.append(0)
        kind = {"f": _FLOAT, "u": _SHORT if rows.dtype.itemsize == 2 else _INT}[rows.dtype.kind]
        self.views.append(g.BufferView(buffer=0, byteOffset=len(self.data), byteLength=rows.nbytes, target=target))
        self.data += np.ascontiguousarray(rows).tobytes()
        limits = {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()} if bounds else {}
        self.accessors.append(
            g.Accessor(
                bufferView=len(self.views) - 1,
                componentType=kind,
                count=len(rows),
                type={1: "SCALAR", 3: "VEC3", 4: "VEC4"}[rows.shape[1]],
                **limits,
            )
        )
        return len(self.accessors) - 1


_NEUTRAL: dict[str, Any] = {
    "translation": np.zeros(3),
    "rotation": np.array([0.0, 0.0, 0.0, 1.0]),
    "scale": np.ones(3),
}


def _linear(value: float) -> float:
    """A colour of sRGB, 0 to 1, as glTF wants it."""
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)


def _to_y(up: tuple[float, float, float]) -> list[float] | None:
    """The quaternion that turns a direction into the y-axis, None where it is that."""
    x, y, z = up
    if y > 1 - 1e-12:
        return None
    if y < -1 + 1e-12:
        return [1.0, 0.0, 0.0, 0.0]
    turn = np.array([-z, 0.0, x, 1.0 + y])
    return [float(v) for v in (turn / np.linalg.norm(turn)).astype(np.float32)]
