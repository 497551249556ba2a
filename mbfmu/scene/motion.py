"""How the shapes of a scene move in a run: rigid frames, shapes within them, and as few keyframes as that needs."""

from __future__ import annotations

import dataclasses
import pathlib
import warnings
from collections.abc import Callable, Mapping

import numpy as np
import scipy

from mbfmu.dynamics.showing.drawing import DEFORMED, DEFORMED_FACTS, SURFACE
from mbfmu.dynamics.showing.scene import Quantity, Scene, Shape
from mbfmu.scene.mesh_files import find_file

#: What keyframes may miss of the motion at the instants of the run, relative to 1 m or to what there is.
TOLERANCE = 3e-7
#: From which part of its greatest length an arrow is seen.
_SEEN = 1e-3


@dataclasses.dataclass(frozen=True)
class Track:
    """A quantity over time: one row where it stays, else one per instant of the run."""

    values: np.ndarray

    @property
    def moves(self) -> bool:
        """True where it changes."""
        return len(self.values) > 1


@dataclasses.dataclass(frozen=True)
class Placed:
    """A place over time: translation [m], rotation (a unit quaternion, scalar last) and scale."""

    translation: Track
    rotation: Track
    scale: Track | None = None
    #: True where a node of its own is needed, wherever it stands.
    kept: bool = False

    @property
    def tracks(self) -> dict[str, Track]:
        """Those that differ from nothing, by glTF's names."""
        named = {"translation": self.translation, "rotation": self.rotation, "scale": self.scale}
        return {name: track for name, track in named.items() if track is not None}


@dataclasses.dataclass(frozen=True)
class Part:
    """A shape, its place within its frame, and the size by which its mesh is made."""

    shape: Shape
    frame: int
    place: Placed
    size: tuple[float, float, float]
    extra: tuple[float, ...]
    color: tuple[float, float, float]
    specular: float
    #: The mesh, where it is in a file.
    file: pathlib.Path | None = None
    #: Of a surface that changes its form or its colours: `extra` over time; of triangles that are deformed: factors.
    forms: Track | None = None


@dataclasses.dataclass(frozen=True)
class Motion:
    """All frames and shapes of a run."""

    time: np.ndarray
    frames: tuple[Placed, ...]
    parts: tuple[Part, ...]

    @property
    def start(self) -> Motion:
        """Where everything is at first: nothing moves."""

        def still(placed: Placed) -> Placed:
            scale = None if placed.scale is None else Track(placed.scale.values[:1])
            return Placed(Track(placed.translation.values[:1]), Track(placed.rotation.values[:1]), scale, placed.kept)

        parts = (dataclasses.replace(part, place=still(part.place), forms=None) for part in self.parts)
        return Motion(self.time[:1], tuple(map(still, self.frames)), tuple(parts))

    @property
    def size(self) -> float:
        """How far [m] what is drawn reaches at first, without the World: along the axis where it is farthest."""
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for part in self.parts:
            if part.shape.kind != "World":
                at, half = self.frames[part.frame].translation.values[0], max(part.size) / 2
                low, high = np.minimum(low, at - half), np.maximum(high, at + half)
        reach = float((high - low).max())
        return reach if 0 < reach < np.inf else 1.0


def motion(scene: Scene, time: np.ndarray, series: Mapping[str, np.ndarray], by_name: bool = False) -> Motion:
    """Work out where everything is.

    Args:
        scene: the shapes.
        time: instants of the run [s], [n].
        series: values of the scene's variables there, [n] each.
        by_name: frames are one where they follow the same variables, not where they move alike in this run.
    """
    frames: dict[object, int] = {}
    placed: list[Placed] = []
    parts: list[Part] = []

    def read(quantities: tuple[Quantity, ...]) -> np.ndarray:
        columns = [np.asarray(series[q], dtype=float) if isinstance(q, str) else np.array([q]) for q in quantities]
        n = max(map(len, columns))
        return np.column_stack([np.broadcast_to(c, (n,)) for c in columns])

    for shape in scene.shapes:
        file = find_file(shape.type, scene.folders) if shape.is_file else None
        if shape.is_file and file is None:
            warnings.warn(
                f"{shape.ident}: the file {shape.type} is not there, nor beside the model; it is left out: correct "
                f"{shape.component}.shapeType",
                stacklevel=2,
            )
            continue
        r, T = read(shape.r), read(shape.T)
        key = (shape.r, shape.T) if by_name else (_still(r).tobytes(), _still(T).tobytes())
        if key not in frames:
            frames[key] = len(placed)
            # T column by column is its transpose row by row: the rotation from the frame to the world
            placed.append(Placed(_track(r), _rotation(T.reshape(-1, 3, 3)), kept=by_name))
        place, size = _place(*(read(getattr(shape, name)) for name in _LOCAL))
        extra, changing = _extra(shape, read)
        parts.append(
            Part(
                shape=shape,
                frame=frames[key],
                place=place,
                size=size,
                extra=extra,
                color=tuple(read(shape.color)[0]),
                specular=float(read(shape.specularCoefficient)[0, 0]),
                file=file,
                forms=changing,
            )
        )
    return Motion(np.asarray(time, dtype=float), tuple(placed), tuple(parts))


def _extra(shape: Shape, read: Callable[[tuple[Quantity, ...]], np.ndarray]) -> tuple[tuple[float, ...], Track | None]:
    """A shape's `extra` at first, and what changes of it."""
    if shape.type != DEFORMED:
        track = _track(read(shape.extra))
        return tuple(track.values[0]), track if shape.type == SURFACE and track.moves else None
    begin = len(DEFORMED_FACTS)
    end = begin + int(float(shape.extra[begin - 1]))
    if end == begin:
        return tuple(float(q) for q in shape.extra), None
    track = _track(read(shape.extra[begin:end]))
    numbers = (*shape.extra[:begin], *track.values[0], *shape.extra[end:])
    return tuple(float(q) for q in numbers), track if track.moves else None


_LOCAL = ("r_shape", "lengthDirection", "widthDirection", "length", "width", "height")


def _place(
    r: np.ndarray, along: np.ndarray, across: np.ndarray, *sizes: np.ndarray
) -> tuple[Placed, tuple[float, float, float]]:
    """The place of a shape within its frame, by the rules of Modelica's Visualizers.Advanced.Shape."""
    n = max(len(along), len(across))
    along, across = np.broadcast_to(along, (n, 3)), np.broadcast_to(across, (n, 3))
    e_x = np.where(_size(along) < 1e-10, [1.0, 0.0, 0.0], along / np.maximum(_size(along), 1e-10))
    other = np.where(np.abs(e_x[:, :1]) > 1e-6, [0.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    other = np.where((np.abs(e_x) * [1, 1, 0]).sum(axis=1, keepdims=True) > 1 - 1e-12, _off_axis(e_x), other)
    across = np.where(_size(np.cross(e_x, across)) ** 2 > 1e-6, across, other)
    e_z = np.cross(e_x, across)
    e_z /= np.maximum(_size(e_z), 1e-300)
    axes = np.stack([e_x, np.cross(e_z, e_x), e_z], axis=-1)
    m = max(map(len, sizes))
    scale = np.column_stack([np.broadcast_to(s, (m, 1)) for s in sizes])
    typical = np.abs(scale).max(axis=0)
    # sizes that change are typical to some percent: equal springs share their mesh
    rough = 10.0 ** (np.round(40 * np.log10(np.maximum(typical, 1e-300))) / 40)
    typical = np.where(np.ptp(scale, axis=0) > 0, rough, typical)
    return Placed(_track(r), _rotation(axes), _track(scale)), (typical[0], typical[1], typical[2])


def _size(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=1, keepdims=True)


def _off_axis(e: np.ndarray) -> np.ndarray:
    """Unit vectors along the coordinate axes that are farthest from e, row by row."""
    return np.eye(3)[np.argmin(np.abs(e), axis=1)]


def _still(values: np.ndarray) -> np.ndarray:
    """One row where nothing moves but by rounding."""
    first = values[:1]
    return first if np.all(np.abs(values - first) <= 1e-12 * (1 + np.abs(first))) else values


def _track(values: np.ndarray) -> Track:
    return Track(_still(values))


def _rotation(matrices: np.ndarray) -> Track:
    """Quaternions of rotation matrices, without jumps of sign."""
    found = scipy.spatial.transform.Rotation.from_matrix(_still(matrices.reshape(-1, 9)).reshape(-1, 3, 3)).as_quat()
    flips = np.cumprod(np.where(np.einsum("ij,ij->i", found[1:], found[:-1]) < 0, -1.0, 1.0))
    found[1:] *= flips[:, None]
    if found[0, 3] < 0:
        found = -found
    return _track(found)


def largest_turn(motion: Motion) -> float:
    """The largest angle [rad] by which a frame, or the long axis of a shape in it, turns between neighbouring instants.

    An arrow whose vector passes through zero reverses at once: that is no turn. Nor is it one where a vector begins, or
    ends, as a force does: what has no length is not seen to turn.
    """
    turns = [0.0]
    for frame in motion.frames:
        Q = frame.rotation.values
        turns.append(2 * _angle(np.einsum("ij,ij->i", Q[1:], Q[:-1])))
    for part in motion.parts:
        axes = scipy.spatial.transform.Rotation.from_quat(part.place.rotation.values).apply([1.0, 0.0, 0.0])
        cosines = np.einsum("ij,ij->i", axes[1:], axes[:-1])
        if part.place.scale is not None and part.place.scale.moves and part.place.rotation.moves:
            length = np.abs(part.place.scale.values[:, 0])
            is_seen = length > _SEEN * length.max()
            cosines = cosines[is_seen[1:] & is_seen[:-1]]
        turns.append(_angle(cosines))
    return max(turns)


def _angle(cosines: np.ndarray) -> float:
    """The largest angle between lines [rad], from cosines of either sign."""
    return float(np.arccos(min(np.abs(cosines).min(initial=1.0), 1.0)))


@dataclasses.dataclass(frozen=True)
class Keyframes:
    """Instants, values there and rates of change, for cubic interpolation between them."""

    time: np.ndarray
    values: np.ndarray
    rates: np.ndarray


def keyframes(time: np.ndarray, values: np.ndarray) -> Keyframes:
    """As few keyframes as give the values at all instants by cubic Hermite interpolation, found from start to end.

    Args:
        time: instants [s], [n], n > 1, ascending.
        values: [n, k].
    """
    keep = np.concatenate([[True], np.diff(time) > 0])
    time, values = time[keep], values[keep]
    rates = scipy.interpolate.CubicSpline(time, values)(time, 1) if len(time) > 3 else np.gradient(values, time, axis=0)
    allowed = TOLERANCE * np.maximum(1.0, np.abs(values).max(axis=1))
    chosen, last = [0], len(time) - 1
    reach = 1
    while chosen[-1] < last:
        begin = chosen[-1]
        # grow as long as it fits, then halve what is between
        while begin + reach < last and _fits(time, values, rates, begin, min(begin + 2 * reach, last), allowed):
            reach = min(2 * reach, last - begin)
        good, bad = begin + 1, min(begin + 2 * reach, last)
        if _fits(time, values, rates, begin, bad, allowed):
            good = bad
        while bad - good > 1:
            middle = (good + bad) // 2
            if _fits(time, values, rates, begin, middle, allowed):
                good = middle
            else:
                bad = middle
        chosen.append(good)
        reach = max(1, (good - begin) // 2)
    return Keyframes(time[chosen], values[chosen], rates[chosen])


#: A surface that changes has so many forms at most, between which its points go straight and its colours fade.
MOST_FORMS = 100
#: What that may miss at the instants of the run, relative to how far its points go, or to full light.
FORM_TOLERANCE = 2e-3


def forms(time: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Indices of as few instants as give the values at all instants by straight lines, first and last among them.

    Args:
        time: instants [s], [n], n > 1, ascending.
        values: [n, k], scaled such that what may be missed is 1.
    """
    chosen = {0, len(time) - 1}
    open_spans = [(0, len(time) - 1)]
    while open_spans:
        i, j = open_spans.pop()
        if j - i < 2:
            continue
        share = ((time[i + 1 : j] - time[i]) / max(time[j] - time[i], 1e-300))[:, None]
        missed = np.abs(values[i] + share * (values[j] - values[i]) - values[i + 1 : j]).max(axis=1)
        worst = int(np.argmax(missed))
        if missed[worst] > 1:
            middle = i + 1 + worst
            chosen.add(middle)
            open_spans += [(i, middle), (middle, j)]
    found = np.array(sorted(chosen))
    if len(found) > MOST_FORMS:
        found = np.unique(np.linspace(0, len(time) - 1, MOST_FORMS).round().astype(int))
    return found


def _fits(time: np.ndarray, values: np.ndarray, rates: np.ndarray, i: int, j: int, allowed: np.ndarray) -> bool:
    if j - i < 2:
        return True
    h = time[j] - time[i]
    s = ((time[i + 1 : j] - time[i]) / h)[:, None]
    found = (
        (1 + 2 * s) * (1 - s) ** 2 * values[i]
        + s * (1 - s) ** 2 * h * rates[i]
        + s**2 * (3 - 2 * s) * values[j]
        + s**2 * (s - 1) * h * rates[j]
    )
    return bool(np.all(np.abs(found - values[i + 1 : j]).max(axis=1) <= allowed[i + 1 : j]))
