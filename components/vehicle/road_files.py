"""OpenCRG files (ASAM OpenCRG 1.2, ASCII): heights of a road along a reference line.

The line goes from point to point, each `REFERENCE_LINE_INCREMENT` from the one before in the direction that the channel
of headings (phi) has there; its value at the first point is not used. Long sections lie beside it.
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
import re
import warnings

import numpy as np

from mbfmu.errors import ModelError

#: Headings differ by less where a line is straight [rad]: files have seven digits.
STRAIGHT = 1e-6

_VALUE = re.compile(r"(?m)^\s*(REFERENCE_LINE_\w+|LONG_SECTION_V_\w+)[ \t]*=[ \t]*(\S*)")


@dataclasses.dataclass(frozen=True)
class CRG:
    """A road: heights z [m], shape (len(u), len(v)), along its line u [m] and beside it v [m], positive to the left."""

    u: np.ndarray
    v: np.ndarray
    z: np.ndarray
    #: x [m], y [m] and heading [rad] of the reference line, shape (len(u), 3); cross-sections are at right angles.
    line: np.ndarray

    @property
    def is_straight(self) -> bool:
        """True where the reference line has one heading."""
        return bool(np.ptp(self.line[:, 2]) < STRAIGHT)

    def part(self, first: float, last: float, spacing: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """u, v, z and reference line of a part of the road, evenly spaced by `spacing` at least; two of u and of v."""

        def every(count: int, step: float) -> int:
            return max(1, min(math.ceil(spacing / step - 1e-6), count - 1))

        keep = (self.u >= first) & (self.u <= last)
        if keep.sum() < 2:
            raise ModelError(f"uMin = {first:g}, uMax = {last:g}: the road has {self.u[0]:g} to {self.u[-1]:g} m there")
        u, z = self.u[keep], self.z[keep]
        thin_u = every(len(u), u[1] - u[0])
        v = self.v
        even = np.linspace(v[0], v[-1], len(v))
        if not np.allclose(v, even, atol=1e-6 * (v[-1] - v[0])):
            least = max(spacing, float(np.diff(v).min()))
            even = np.linspace(v[0], v[-1], max(2, round((v[-1] - v[0]) / least) + 1))
            z = np.array([np.interp(even, v, row) for row in z])
        thin_v = every(len(even), even[1] - even[0])
        return u[::thin_u], even[::thin_v], z[::thin_u, ::thin_v], self.line[keep][::thin_u]


def read_crg(path: str | pathlib.Path) -> CRG:
    """Read an OpenCRG file with numbers as text (`LRFI`, `LDFI`).

    Raises:
        ModelError: the file cannot be read, is binary, or cut short.

    Warns:
        UserWarning: the reference line does not end where the file says.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_bytes().decode("latin-1").replace("\r\n", "\n")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    parts = re.split(r"(?m)^\${4,}.*\n?", text, maxsplit=1)
    if len(parts) < 2:
        raise ModelError(f"{path}: has no line of $$$$ before its numbers; is the file cut short?")
    head = re.sub(r"(?m)(^\*.*$|!.*$)", "", parts[0])
    road = {name: _number(value, name, path) for name, value in _VALUE.findall(head)}
    kind = re.search(r"(?m)^\s*#:\s*(\w+)", head)
    if kind is None or kind[1].upper() not in ("LRFI", "LDFI"):
        raise ModelError(
            f"{path}: its numbers are of the kind {kind[1] if kind else 'unknown'}; LRFI and LDFI, as text, can be read"
        )
    step = road.get("REFERENCE_LINE_INCREMENT", 0.0)
    if not step > 0:
        raise ModelError(f"{path}: has no REFERENCE_LINE_INCREMENT above 0")
    channels = [name.strip().lower() for name in re.findall(r"(?m)^\s*D:\s*([^,\n]+)", head)]
    sections = [i for i, name in enumerate(channels) if name.startswith("long section")]
    v = _sections([channels[i] for i in sections], road, path)
    numbers = _numbers(parts[1], 10 if kind[1].upper() == "LRFI" else 20, path)
    rows, rest = divmod(len(numbers), len(channels))
    if rows < 2 or rest:
        raise ModelError(
            f"{path}: {len(numbers)} numbers for rows of {len(channels)}, at least two of them; is the file cut short?"
        )
    table = numbers.reshape(rows, len(channels))
    u = road.get("REFERENCE_LINE_START_U", 0.0) + step * np.arange(rows)
    end = road.get("REFERENCE_LINE_END_U")
    if end is not None and u[-1] < end - 0.5 * step:
        raise ModelError(f"{path}: ends at u = {u[-1]:g} m in place of {end:g} m; is the file cut short?")
    z = table[:, sections]
    if not np.isfinite(z).any():
        raise ModelError(f"{path}: no height of it is a number")
    heading = np.full(rows, road.get("REFERENCE_LINE_START_PHI", 0.0))
    slope, banking = road.get("REFERENCE_LINE_START_S", 0.0), road.get("REFERENCE_LINE_START_B", 0.0)
    z = z + road.get("REFERENCE_LINE_START_Z", 0.0)
    rise = np.full(rows - 1, slope)
    tilt = np.full(rows, banking)
    for i, name in enumerate(channels):
        if "phi" in name:  # the first one is of the point before the line
            heading[1:] = table[1:, i]
        elif "slope" in name:
            rise = table[1:, i]
        elif "banking" in name:
            tilt = table[:, i]
        elif i not in sections:
            raise ModelError(f"{path}: has a channel {name!r}, which is not known")
    for what, values in (("heading", heading), ("slope", rise), ("banking", tilt)):
        if not np.isfinite(values).all():
            raise ModelError(f"{path}: a {what} of its reference line is no number")
    z = z + np.concatenate([[0.0], np.cumsum(rise * step)])[:, None] + tilt[:, None] * v
    return CRG(u, v, z, _line(heading[1:], step, road, path))


def _line(headings: np.ndarray, step: float, road: dict[str, float], path: pathlib.Path) -> np.ndarray:
    """Points of the reference line and the headings there, for those from each point to the next [n - 1]."""
    headings = np.unwrap(headings)
    ways = step * np.column_stack([np.cos(headings), np.sin(headings)])
    start = np.array([road.get(f"REFERENCE_LINE_START_{axis}", 0.0) for axis in "XY"])
    points = np.vstack([start, start + np.cumsum(ways, axis=0)])
    for axis, end in zip("XY", points[-1], strict=True):
        said = road.get(f"REFERENCE_LINE_END_{axis}", end)
        if abs(said - end) > max(step, 1e-3 * step * len(headings)):
            warnings.warn(
                f"{path}: its reference line ends at {axis} = {end:g} m, not at {said:g} m as it says", stacklevel=4
            )
    between = np.concatenate([headings[:1], (headings[1:] + headings[:-1]) / 2, headings[-1:]])
    return np.column_stack([points, between])


def _number(word: str, name: str, path: pathlib.Path) -> float:
    try:
        value = float(word.lower().replace("d", "e"))
    except ValueError:
        value = np.nan
    if not abs(value) < 1e9:
        raise ModelError(f"{path}: {name} = {word:.40}: expected a number, and no place further than 1e9 m")
    return value


def _sections(names: list[str], road: dict[str, float], path: pathlib.Path) -> np.ndarray:
    """Where the longitudinal sections are [m], from the right to the left."""
    count, step = len(names), road.get("LONG_SECTION_V_INCREMENT")
    at = [re.search(r"v\s*=\s*(\S+)", name) for name in names]
    if count < 2:
        raise ModelError(f"{path}: has {count} channels of long sections; it needs two")
    if all(at):
        v = np.array([_number(found[1], name, path) for found, name in zip(at, names, strict=True) if found])
    elif step is not None:
        if not step > 0:
            raise ModelError(f"{path}: LONG_SECTION_V_INCREMENT = {step:g} is not above 0")
        right = road.get("LONG_SECTION_V_RIGHT", -step * (count - 1) / 2)
        v = right + step * np.arange(count)
        left = road.get("LONG_SECTION_V_LEFT")
        if left is not None and abs(v[-1] - left) > 0.01 * step:
            raise ModelError(f"{path}: {count} long sections by {step:g} m end at v = {v[-1]:g} m, not at {left:g} m")
    elif "LONG_SECTION_V_RIGHT" in road and "LONG_SECTION_V_LEFT" in road:
        v = np.linspace(road["LONG_SECTION_V_RIGHT"], road["LONG_SECTION_V_LEFT"], count)
    else:
        raise ModelError(f"{path}: does not say where its long sections are (LONG_SECTION_V_INCREMENT)")
    if not np.all(np.diff(v) > 0):
        raise ModelError(f"{path}: its long sections do not go from the right to the left")
    return v


def _numbers(body: str, width: int, path: pathlib.Path) -> np.ndarray:
    """Numbers in columns of a width; stars or words in a column are NaN."""
    found = []
    for line in body.splitlines():
        if not line.strip():
            continue
        for start in range(0, len(line.rstrip()), width):
            word = line[start : start + width].strip()
            if not word or "*" in word or word.lower() in ("nan", "-nan", "missing"):
                found.append(np.nan)
                continue
            try:
                found.append(float(word.lower().replace("d", "e")))
            except ValueError:
                raise ModelError(f"{path}: {word!r:.40} is no number") from None
    return np.array(found)


__all__ = ["CRG", "read_crg"]
