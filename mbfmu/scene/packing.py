"""Data of a page as few bytes: LZMA as text that HTML leaves alone, curves in levels, glTF that packs well."""

from __future__ import annotations

import base64
import functools
import io
import json
import lzma
import math
import os
import struct
import zipfile
from typing import Any

import numpy as np

#: What stands for characters of base 85 that HTML knows.
_FOR_HTML = bytes.maketrans(b"<&>", b",./")
#: Levels between the least and the greatest value of a curve: finer than the digits that a page shows.
LEVELS = 2**18 - 1
#: Levels of the time of a run, which goes on evenly but at events.
INSTANTS = 2**28
#: Bits of a coordinate of a mesh, relative to its size, and of a normal.
_PLACE, _NORMAL = 13, 7
#: Of what morph targets add to a coordinate: as fine as places of what moves.
_ADDED = 16
#: How often differences are taken at most; bits that the factor of another row costs.
_ORDERS, _PRICE = 5, 30


#: What unpack.js reads; its dictionary is all that came before.
_LZMA = [{"id": lzma.FILTER_LZMA1, "preset": 6, "lc": 3, "lp": 0, "pb": 0, "dict_size": 2**26}]


def text_of(content: bytes) -> str:
    """Bytes as text: their number and a raw stream of LZMA, five characters for four bytes.

    That is base 85 (RFC 1924) without characters that HTML knows.
    """
    packed = struct.pack("<I", len(content)) + lzma.compress(content, lzma.FORMAT_RAW, filters=_LZMA)
    return base64.b85encode(packed).translate(_FOR_HTML).decode("ascii")


@functools.lru_cache(maxsize=2)
def lasting_text_of(content: bytes) -> str:
    """As `text_of`, made once: of the viewer and of the runtime, which are in page after page."""
    return text_of(content)


def bytes_of(text: str) -> bytes:
    """What `text_of` was given."""
    packed = base64.b85decode(text.encode("ascii").translate(bytes.maketrans(b",./", b"<&>")))
    return lzma.decompress(packed[4:], lzma.FORMAT_RAW, filters=_LZMA)


def stored(path: str | os.PathLike[str]) -> bytes:
    """A ZIP archive with all its entries as they are, which pack better together than each by itself."""
    whole = io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(whole, "w") as found:
        for entry in archive.infolist():
            content = archive.read(entry)
            entry.compress_type = zipfile.ZIP_STORED
            found.writestr(entry, content)
    return whole.getvalue()


def in_levels(columns: np.ndarray, distances: np.ndarray) -> tuple[bytes, dict[str, Any]]:
    """Curves [n, points] as bytes that pack well, and how they are read, with the distances of levels [n].

    Of each curve `curves` has a value, the distance of levels from there, and its row: what several have in common that
    differ by an offset, a factor or a sign. `rows` say how often differences were taken of each, and, where another
    row of which as many are taken foretells these, which one and its factor. In the bytes is what is left, the sign in
    the lowest bit; first the low bytes of all rows, then the next ones.
    """
    rows: dict[bytes, int] = {}
    curves = []
    for values, distance in zip(columns, distances, strict=True):
        # counted from the extreme that comes first
        base, sign = (values.max(), -1.0) if values.argmax() < values.argmin() else (values.min(), 1.0)
        step = sign * (distance or 1.0)
        levels = np.round((values - base) / step).astype(np.int32)
        row = rows.setdefault(levels.tobytes(), len(rows))
        curves.append([_rounded(base, step / 16), _rounded(step, step / 16 / max(float(levels.max()), 1.0)), row])
    found = np.frombuffer(b"".join(rows), np.int32).reshape(len(rows), columns.shape[1]).astype(np.int64)
    left, told = _foretold(found)
    signed = np.ascontiguousarray((left << 1) ^ (left >> 63)).astype("<u4")
    return signed.view(np.uint8).reshape(-1, 4).T.tobytes(), {"curves": curves, "rows": told}


def _rounded(value: float, error: float) -> float:
    """A number with as many digits as the error allows."""
    digits = math.log10(abs(value)) - math.log10(abs(error)) if value and error else math.inf
    return float(value) if digits > 15 else float(f"{value:.{max(math.ceil(digits), 0)}e}")


def _foretold(levels: np.ndarray) -> tuple[np.ndarray, list[list[float]]]:
    """What is left of rows of levels [n, points], and how it was foretold: by each row itself, and by one before it."""
    n = len(levels)
    left = levels.copy()
    told: list[list[float]] = [[0] for _ in range(n)]
    costs = _costs(levels)
    differences = levels
    for order in range(1, min(_ORDERS, levels.shape[1]) + 1):
        differences = np.diff(differences, axis=1, prepend=0)
        own = _costs(differences)
        for i in np.flatnonzero(own < costs).tolist():
            left[i], told[i], costs[i] = differences[i], [order], own[i]
        weighted = differences / (1 + np.abs(differences).mean(axis=0))  # a transient does not decide alone
        weighted[:, :order] = 0
        size = np.maximum(np.linalg.norm(weighted, axis=1), 1e-9)
        weighted[~np.isfinite(own)] = 0
        products = weighted @ weighted.T
        alike = np.abs(products) / size
        for i in range(1, n):
            other = int(alike[i, :i].argmax())
            factor = float(f"{products[i, other] / size[other] ** 2:.4g}")
            rest = differences[i] - np.floor(factor * differences[other] + 0.5).astype(np.int64)
            cost = _costs(rest[None])[0] + _PRICE
            if cost < costs[i]:
                left[i], told[i], costs[i] = rest, [order, other, factor], cost
    return left, told


def _costs(rows: np.ndarray) -> np.ndarray:
    """About how many bits rows take, infinite where a number of one has no room in 31 of them."""
    sizes = np.abs(rows)
    costs: np.ndarray = np.log2(1.0 + sizes).sum(axis=1)
    costs[sizes.max(axis=1, initial=0) >= 2**31 - 1] = np.inf
    return costs


def lean(glb: bytes) -> bytes:
    """A glTF file whose corners and normals, as they are and as morph targets, are as fine as a page shows them.

    Indices are differences: each is less the one three before it, which is one in most surfaces; what reads the file
    sums them up.
    """
    (length,) = struct.unpack_from("<I", glb, 12)
    told: dict[str, Any] = json.loads(glb[20 : 20 + length])
    data = bytearray(glb)

    def array(number: int, kind: Any) -> np.ndarray:
        accessor = told["accessors"][number]
        view = told["bufferViews"][accessor["bufferView"]]
        count = view["byteLength"] // np.dtype(kind).itemsize
        return np.frombuffer(data, kind, count, 28 + length + view.get("byteOffset", 0))

    primitives = [primitive for mesh in told.get("meshes", ()) for primitive in mesh["primitives"]]
    for number in {primitive["indices"] for primitive in primitives}:
        indices = array(number, np.uint16 if told["accessors"][number]["componentType"] == 5123 else np.uint32)
        indices[3:] -= indices[:-3].copy()
    for name, bits in (("POSITION", _PLACE), ("NORMAL", _NORMAL)):
        for primitive in primitives:
            if name not in primitive["attributes"]:
                continue
            own = primitive["attributes"][name]
            added = [target[name] for target in primitive.get("targets", ()) if name in target]
            largest = max(float(np.abs(array(number, np.float32)).max(initial=0.0)) for number in (own, *added))
            unit = 2.0 ** (np.ceil(np.log2(largest)) - bits) if largest else 1.0
            for number in (own, *added):
                step = unit * 2.0 ** (_PLACE - _ADDED) if name == "POSITION" and number != own else unit
                values = array(number, np.float32)
                values[:] = np.round(values / step) * step
    return bytes(data)
