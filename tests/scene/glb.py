"""A reader of binary glTF, written from its specification."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np


class Glb:
    """A binary glTF file, read by its specification."""

    def __init__(self, data: bytes) -> None:
        magic, version, length = struct.unpack("<4sII", data[:12])
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack("<I4s", data[12:20])
        assert kind == b"JSON"
        self.json = json.loads(data[20 : 20 + size])
        self.binary = data[28 + size :]
        self.parent = {child: i for i, node in enumerate(self.nodes) for child in node.get("children", ())}
        self.channels = {}
        for animation in self.json.get("animations", ()):
            for channel in animation["channels"]:
                sampler = animation["samplers"][channel["sampler"]]
                target = channel["target"]
                assert sampler["interpolation"] == ("LINEAR" if target["path"] == "weights" else "CUBICSPLINE")
                self.channels[target["node"], target["path"]] = (
                    self.array(sampler["input"]),
                    self.array(sampler["output"]),
                )

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """All nodes."""
        return self.json["nodes"]

    def array(self, number: int) -> np.ndarray:
        """Values of an accessor, [n, k], which begin where a number of their size may (glTF 2.0, section 3.6.2.4)."""
        accessor = self.json["accessors"][number]
        view = self.json["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        kind = {5126: "<f4", 5123: "<u2", 5125: "<u4"}[accessor["componentType"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        assert start % 4 == 0, f"accessor {number} begins at byte {start}"
        return np.frombuffer(self.binary, kind, accessor["count"] * width, start).reshape(-1, width).astype(float)

    def value(self, node: int, path: str, time: float) -> np.ndarray:
        """A node's translation, rotation or scale at a time [s] after the start."""
        rest = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}[path]
        if (node, path) not in self.channels:
            return np.array(self.nodes[node].get(path, rest), dtype=float)
        times, rows = self.channels[node, path]
        times, (a, v, b) = times[:, 0], np.moveaxis(rows.reshape(len(times), 3, -1), 1, 0)
        k = int(np.clip(np.searchsorted(times, time, "right") - 1, 0, len(times) - 2))
        h = times[k + 1] - times[k]
        s = np.clip((time - times[k]) / h, 0, 1)
        found = (
            (2 * s**3 - 3 * s**2 + 1) * v[k]
            + h * (s**3 - 2 * s**2 + s) * b[k]
            + (3 * s**2 - 2 * s**3) * v[k + 1]
            + h * (s**3 - s**2) * a[k + 1]
        )
        return found / np.linalg.norm(found) if path == "rotation" else found

    def points(self, node: int, attribute: str, time: float) -> np.ndarray:
        """An attribute of a node's mesh, [n, 3], as morph targets make it at a time [s] after the start."""
        (primitive,) = self.json["meshes"][self.nodes[node]["mesh"]]["primitives"]
        found = self.array(primitive["attributes"][attribute])
        if (node, "weights") in self.channels:
            times, rows = self.channels[node, "weights"]
            weights = rows.reshape(len(times), -1)
            for k, target in enumerate(primitive["targets"]):
                share = np.interp(time, times[:, 0], weights[:, k])
                found = found + share * self.array(target[attribute]) if attribute in target else found
        return found

    def world(self, node: int, time: float) -> np.ndarray:
        """The 4 x 4 transform of a node."""
        x, y, z, w = self.value(node, "rotation", time)
        rotation = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        own = np.eye(4)
        own[:3, :3] = rotation * self.value(node, "scale", time)
        own[:3, 3] = self.value(node, "translation", time)
        return self.world(self.parent[node], time) @ own if node in self.parent else own
