"""What pages hold of curves and surfaces is what these were, to the accuracy that it is packed with."""

from __future__ import annotations

import json
import pathlib
import shutil
import string
import struct
import subprocess
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu.dynamics.system import System
from mbfmu.scene import bundle
from mbfmu.scene.gltf import write_glb
from mbfmu.scene.motion import motion
from mbfmu.scene.packing import INSTANTS, LEVELS, bytes_of, in_levels, lean, text_of
from mbfmu.scene.page import page
from mbfmu.simulation import simulate


def unpacked(data: bytes, told: dict[str, Any], points: int) -> np.ndarray:
    """Curves from bytes, row by row."""
    signed = np.frombuffer(data, np.uint8).reshape(4, -1).T.copy().view("<u4").astype(np.int64).reshape(-1, points)
    rows: list[np.ndarray] = []
    for left, (order, *foretold) in zip((signed >> 1) ^ -(signed & 1), told["rows"], strict=True):
        row = left.astype(float)
        if foretold:
            other, factor = foretold
            row += np.floor(factor * np.diff(rows[other], n=order, prepend=np.zeros(order)) + 0.5)
        for _ in range(order):
            row = np.cumsum(row)
        rows.append(row)
    return np.array([base + step * rows[row] for base, step, row in told["curves"]])


def curves() -> np.ndarray:
    """Smooth ones, noise, a jump, what stays, what is far from zero, tiny and huge, and what follows others."""
    rng = np.random.default_rng(1)
    time = np.linspace(0, 3, 400)
    wave, noise = np.sin(5 * time) * np.exp(-time), rng.normal(size=400)
    plain = [
        wave,
        noise,
        np.where(time > 1, 2.0, -1.0),
        np.full(400, 7.25),
        1e6 + 1e-3 * wave,
        1e-200 * wave,
        1e200 * noise,
    ]
    return np.array([*plain, 0.3 * wave + 1e-4 * time**2, 2.0 - 5 * noise, noise + 1e-4 * wave, -wave])


def test_curves_are_within_half_a_level() -> None:
    columns = curves()
    distances = np.ptp(columns, axis=1) / LEVELS
    data, told = in_levels(columns, distances)
    found = unpacked(data, told, columns.shape[1])
    assert np.all(np.abs(found - columns).max(axis=1) <= 0.6 * np.maximum(distances, 1e-18))
    assert len(told["rows"]) == len(columns) - 4, "what differs by a factor, an offset or a sign is there once"
    assert any(len(row) == 3 for row in told["rows"]), "nothing is foretold by another row"


def test_fine_levels_have_room() -> None:
    columns = curves()[:3]
    distances = np.ptp(columns, axis=1) / INSTANTS
    data, told = in_levels(columns, distances)
    np.testing.assert_array_less(np.abs(unpacked(data, told, 400) - columns).max(axis=1), 0.6 * distances)


def test_what_is_smooth_takes_few_bytes() -> None:
    """Of even steps: an eighth of what numbers of 32 bits take that are no differences."""
    import zlib

    time = np.linspace(0, 1, 500)
    columns = np.array([np.sin((3 + k) * time) for k in range(8)])
    data, _ = in_levels(columns, np.ptp(columns, axis=1) / LEVELS)
    assert len(zlib.compress(data, 9)) < columns.size * 4 / 8


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 1000])
def test_text_is_bytes_without_what_html_knows(size: int) -> None:
    content = np.random.default_rng(size).bytes(size)
    text = text_of(content)
    assert bytes_of(text) == content
    assert not set(text) & set("<>&\"'\\" + string.whitespace)


@pytest.mark.slow
def test_what_is_in_every_page_is_packed_once_however_many_runs_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    packed: list[bytes] = []

    def counted(content: bytes) -> str:
        packed.append(content)
        return text_of(content)

    monkeypatch.setattr("mbfmu.scene.page.viewer", lambda: "the viewer")
    monkeypatch.setattr("mbfmu.scene.page.text_of", counted)
    monkeypatch.setattr("mbfmu.scene.packing.text_of", counted)
    runs = {f"series{k}": b"%d" % k for k in range(9)}
    for _ in range(2):
        page("many", {}, runs)
    assert packed.count(b"the viewer") == 1
    assert all(packed.count(content) == 2 for content in runs.values()), "data of runs are kept for nothing"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["noise", "zeros", "text", "far", "program"])
def test_the_page_unpacks_what_was_packed(kind: str, tmp_path: pathlib.Path) -> None:
    """Every kind of packet of LZMA: literals, matches near and far, of all lengths, the last four distances."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    random = np.random.default_rng(1)
    noise = random.bytes(300_000)
    content = {
        "noise": noise[:1000],
        "zeros": bytes(100_000),
        "text": b"".join(b"%d,%d;" % (i * i % 977, i % 7) for i in range(10_000)),
        "far": noise + b"".join(noise[at : at + at % 400] for at in random.integers(0, 299_000, 500)),
        "program": (bundle.SOURCES / "viewer.js").read_bytes(),
    }[kind]
    script = tmp_path / "unpack.js"
    script.write_text(
        f"""
        globalThis.window = globalThis;
        globalThis.document = {{ getElementById: () => ({{ textContent: {text_of(content)!r} }}) }};
        {(bundle.SOURCES / "unpack.js").read_text(encoding="utf-8")}
        process.stdout.write(unpacked("any"));
        """,
        encoding="utf-8",
    )
    assert subprocess.run([node, script], stdout=subprocess.PIPE, check=True).stdout == content


@pytest.mark.slow
def test_surfaces_are_those_of_the_gltf() -> None:
    system = System.of(mbfmu.load("spring_mass_system"), scene=True)
    assert system.scene is not None
    result = simulate(system, 0.01, outputs=list(system.scene.variables))
    glb = write_glb(motion(system.scene, result.time, result), system.scene.up, "springs")
    packed = lean(glb)
    (length,) = struct.unpack_from("<I", glb, 12)
    told = json.loads(glb[20 : 20 + length])
    assert packed[: 28 + length] == glb[: 28 + length]

    def array(content: bytes, number: int, kind: type) -> np.ndarray:
        view = told["bufferViews"][told["accessors"][number]["bufferView"]]
        begin = 28 + length + view.get("byteOffset", 0)
        return np.frombuffer(content[begin : begin + view["byteLength"]], kind)

    for mesh in told["meshes"]:
        (primitive,) = mesh["primitives"]
        assert told["accessors"][primitive["indices"]]["componentType"] == 5123
        steps = array(packed, primitive["indices"], np.uint16).reshape(-1, 3)
        indices = np.cumsum(steps, axis=0, dtype=np.uint16)
        np.testing.assert_array_equal(indices.ravel(), array(glb, primitive["indices"], np.uint16))
        for name, error in (("POSITION", 2.0**-13), ("NORMAL", 2.0**-7)):
            own, found = (array(one, primitive["attributes"][name], np.float32) for one in (glb, packed))
            np.testing.assert_allclose(found, own, atol=error * np.abs(own).max(), rtol=0)


@pytest.mark.slow
def test_what_morph_targets_add_is_as_fine_as_what_moves(tmp_path: pathlib.Path) -> None:
    """Of few different numbers, so that they pack well, each within 3e-5 of the form's size."""
    file = mbfmu.animate("flexible_slider_crank", tmp_path / "crank.glb", 0.02)
    glb = file.read_bytes()
    packed = lean(glb)
    (length,) = struct.unpack_from("<I", glb, 12)
    told = json.loads(glb[20 : 20 + length])
    (form,) = [mesh["primitives"][0] for mesh in told["meshes"] if mesh["primitives"][0].get("targets")]

    def array(content: bytes, number: int) -> np.ndarray:
        view = told["bufferViews"][told["accessors"][number]["bufferView"]]
        begin = 28 + length + view.get("byteOffset", 0)
        return np.frombuffer(content[begin : begin + view["byteLength"]], np.float32)

    size = np.abs(array(glb, form["attributes"]["POSITION"])).max()
    for target in form["targets"]:
        own, found = array(glb, target["POSITION"]), array(packed, target["POSITION"])
        np.testing.assert_allclose(found, own, atol=3e-5 * size, rtol=0)
        assert len(np.unique(found)) < len(np.unique(own))
