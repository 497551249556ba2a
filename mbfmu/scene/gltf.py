"""glTF 2.0: a motion as one binary file that viewers, Blender and game engines read."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from mbfmu.dynamics.showing.drawing import DEFORMED, SURFACE, SURFACE_FACTS
from mbfmu.scene.mesh_files import read_mesh
from mbfmu.scene.meshes import Deformed, Mesh, mesh_of, surface_arrays
from mbfmu.scene.motion import FORM_TOLERANCE, Keyframes, Motion, Part, Track, forms, keyframes
from mbfmu.version import __version__

_FLOAT, _SHORT, _INT = 5126, 5123, 5125
_VERTICES, _TRIANGLES = 34962, 34963
#: Modes of primitives.
_LINES, _FACES = 1, 4


def write_glb(motion: Motion, up: tuple[float, float, float], name: str, apart: list[NodeTrack] | None = None) -> bytes:
    """Return the file: a node per frame, and in it one per shape, named as in the model.

    The root turns `up`, a direction of the model's world, into glTF's y-axis. Names, kinds and component paths of
    shapes are in the nodes' `extras`.

    Args:
        motion: what is written.
        up: the direction against gravity.
        name: of the root.
        apart: takes the tracks of nodes that move, in the place of keyframes in the file.
    """
    return _Writer(motion, up, name, apart).file()


@dataclasses.dataclass(frozen=True)
class NodeTrack:
    """What moves of a node of the file."""

    node: int
    #: translation, rotation or scale.
    path: str
    #: One row per instant of the run.
    values: np.ndarray


class _Writer:
    """Collects the arrays of one file."""

    def __init__(
        self, motion: Motion, up: tuple[float, float, float], name: str, apart: list[NodeTrack] | None
    ) -> None:
        import pygltflib

        self.gltf: Any = pygltflib
        self.motion, self.name, self.apart = motion, name, apart
        self.data = bytearray()
        self.views: list[Any] = []
        self.accessors: list[Any] = []
        self.meshes: list[Any] = []
        self.materials: list[Any] = []
        self.samplers: list[Any] = []
        self.channels: list[Any] = []
        self.nodes: list[Any] = [pygltflib.Node(name=name, rotation=_to_y(up), children=[])]
        self._known: dict[Any, Any] = {}
        self._forms: list[Mesh] = []  # they live as long as this: their ids are keys
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
            if part.shape.type == DEFORMED:
                self.nodes[node].mesh = self._deformed(part, node)
            else:
                track = part.forms
                self.nodes[node].mesh = self._mesh(part) if track is None else self._changing(part, track, node)
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
            asset=g.Asset(version="2.0", generator=f"mbfmu {__version__}"),
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
            if track.moves and self.apart is not None:
                self.apart.append(NodeTrack(number, path, track.values))
            elif track.moves:
                self._channel(number, path, keyframes(self.motion.time, track.values))
        return number

    def _channel(self, node: int, path: str, found: Keyframes) -> None:
        g = self.gltf
        exact = found.time - self.motion.time[0]
        time = exact.astype(np.float32)
        # glTF's instants are coarse: what moves fast stands where it is at these
        values = found.values + found.rates * (time - exact)[:, None]
        if time.tobytes() not in self._times:
            accessor = self._array(time[:, None], bounds=True)
            self._times[time.tobytes()] = accessor
        rows = np.stack([found.rates, values, found.rates], axis=1).reshape(-1, found.values.shape[1])
        output = self._array(rows.reshape(-1, 1 if path == "weights" else rows.shape[1]).astype(np.float32))
        self.samplers.append(
            g.AnimationSampler(input=self._times[time.tobytes()], output=output, interpolation="CUBICSPLINE")
        )
        target = g.AnimationChannelTarget(node=node, path=path)
        self.channels.append(g.AnimationChannel(sampler=len(self.samplers) - 1, target=target))

    def _mesh(self, part: Part) -> int:
        form = read_mesh(part.file, part.shape.ident) if part.file else mesh_of(part.shape.type, part.extra, part.size)
        key = (id(form), self._material(part, form))
        if key not in self._known:
            self._known[key] = len(self.meshes)
            self.meshes.append(self._made(part, self._primitive(form, key[1])))
        return int(self._known[key])

    def _made(self, part: Part, primitive: Any, **others: Any) -> Any:
        return self.gltf.Mesh(name=part.file.name if part.file else part.shape.type, primitives=[primitive], **others)

    def _changing(self, part: Part, track: Track, node: int) -> int:
        """The mesh of a surface that changes: morph targets, one after the other by the node's weights."""
        g, time, first = self.gltf, self.motion.time, len(SURFACE_FACTS)
        form = mesh_of(SURFACE, part.extra, part.size)
        points, colors = np.split(track.values[:, first:], [form.positions.size], axis=1)
        size = max(float(np.ptp(points)), 1e-9)
        chosen = forms(time, np.hstack([points / size, _linear(colors)]) / FORM_TOLERANCE)
        moves = bool(np.any(points != points[0]))
        primitive = self._primitive(form, self._material(part, form))
        primitive.targets = [self._target(form, track.values[i], moves) for i in chosen[1:]]
        weights = np.eye(len(chosen), dtype=np.float32)[:, 1:]
        times = self._array((time[chosen] - time[0]).astype(np.float32)[:, None], bounds=True)
        output = self._array(np.ascontiguousarray(weights).reshape(-1, 1))
        self.samplers.append(g.AnimationSampler(input=times, output=output, interpolation="LINEAR"))
        target = g.AnimationChannelTarget(node=node, path="weights")
        self.channels.append(g.AnimationChannel(sampler=len(self.samplers) - 1, target=target))
        self.meshes.append(self._made(part, primitive, weights=[0.0] * (len(chosen) - 1)))
        return len(self.meshes) - 1

    def _deformed(self, part: Part, node: int) -> int:
        """The mesh of triangles that are deformed: a morph target for each displacement, whose weights are factors."""
        found, form = Deformed.of(part.extra), mesh_of(DEFORMED, part.extra, part.size)
        primitive = self._primitive(form, self._material(part, form))
        primitive.targets = [
            self.gltf.Attributes(POSITION=self._array(step.astype(np.float32), _VERTICES, bounds=True))
            for step in found.displacements
        ]
        if part.forms is not None:
            size = max(float(np.ptp(found.points, axis=0).max(initial=0.0)), 1e-9)
            sizes = size / np.maximum(np.abs(found.displacements).max(axis=(1, 2)), 1e-300)
            keys = keyframes(self.motion.time, part.forms.values / sizes)
            self._channel(node, "weights", Keyframes(keys.time, keys.values * sizes, keys.rates * sizes))
        self.meshes.append(self._made(part, primitive, weights=found.factors.tolist()))
        return len(self.meshes) - 1

    def _target(self, form: Mesh, extra: np.ndarray, moves: bool) -> Any:
        """What a form of a surface differs in from its first."""
        points, normals, colors = surface_arrays(extra)
        attributes = self.gltf.Attributes()
        # points that stay, too: viewers, three.js among them, take no targets without
        step = (points.reshape(-1, 3) - form.positions).astype(np.float32)
        attributes.POSITION = self._array(step, _VERTICES, bounds=True)
        if moves and not form.is_lines:
            attributes.NORMAL = self._array((normals.reshape(-1, 3) - form.normals).astype(np.float32), _VERTICES)
        if colors is not None and form.colors is not None:
            step = _linear(colors.reshape(-1, 3)) - _linear(form.colors)
            attributes.COLOR_0 = self._array(step.astype(np.float32), _VERTICES)
        return attributes

    def _primitive(self, form: Mesh, material: int) -> Any:
        key = ("geometry", id(form))
        if key not in self._known:
            self._forms.append(form)
            kind = np.uint16 if len(form.positions) < 65535 else np.uint32
            attributes = self.gltf.Attributes(
                POSITION=self._array(form.positions.astype(np.float32), _VERTICES, bounds=True)
            )
            if len(form.normals) and not form.is_lines:
                attributes.NORMAL = self._array(form.normals.astype(np.float32), _VERTICES)
            if form.colors is not None:
                attributes.COLOR_0 = self._array(_linear(form.colors).astype(np.float32), _VERTICES)
            self._known[key] = attributes, self._array(form.triangles.astype(kind).reshape(-1, 1), _TRIANGLES)
        attributes, indices = self._known[key]
        mode = _LINES if form.is_lines else _FACES
        return self.gltf.Primitive(attributes=attributes, indices=indices, material=material, mode=mode)

    def _material(self, part: Part, form: Mesh) -> int:
        g = self.gltf
        is_surface = part.shape.type == SURFACE
        transparency = part.extra[SURFACE_FACTS.index("transparency")] if is_surface else 0.0
        color = (255.0, 255.0, 255.0) if form.colors is not None else part.color
        key = ("material", color, part.specular, transparency, form.both)
        if key not in self._known:
            self._known[key] = len(self.materials)
            linear = [float(c) for c in _linear(np.array(color))]
            self.materials.append(
                g.Material(
                    pbrMetallicRoughness=g.PbrMetallicRoughness(
                        baseColorFactor=[*linear, 1.0 - min(max(transparency, 0.0), 1.0)],
                        metallicFactor=0.0,
                        roughnessFactor=1.0 - 0.7 * min(max(part.specular, 0.0), 1.0),
                    ),
                    alphaMode="BLEND" if transparency else "OPAQUE",
                    alphaCutoff=None,
                    doubleSided=form.both or None,
                )
            )
        return int(self._known[key])

    def _array(self, rows: np.ndarray, target: int | None = None, bounds: bool = False) -> int:
        """Add an array [n, k] to the file and return its accessor."""
        g = self.gltf
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


def _linear(color: np.ndarray) -> np.ndarray:
    """Colours of sRGB, 0 to 255, as glTF wants them."""
    value = np.clip(color, 0.0, 255.0) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _to_y(up: tuple[float, float, float]) -> list[float] | None:
    """The quaternion that turns a direction into the y-axis, None where it is that."""
    x, y, z = up
    if y > 1 - 1e-12:
        return None
    if y < -1 + 1e-12:
        return [1.0, 0.0, 0.0, 0.0]
    turn = np.array([-z, 0.0, x, 1.0 + y])
    return [float(v) for v in (turn / np.linalg.norm(turn)).astype(np.float32)]
