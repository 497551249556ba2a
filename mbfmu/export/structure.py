"""The picture of an assembly's structure: components as boxes, connections as lines, laid out from the root on."""

from __future__ import annotations

import dataclasses
import itertools
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

#: Width of a character and padding of a box, distances of rows and columns, all in pixels.
CHARACTER, PADDING, HEIGHT, ROW, GAP, MARGIN = 7.5, 14, 40, 56, 60, 12

#: Colours of lines by the kind of connector, recognised by how Modelica's connectors are named.
FRAME, FLANGE, SIGNAL = "#5f6b7a", "#2f855a", "#2b6cb0"


@dataclasses.dataclass(frozen=True)
class Box:
    """One component; position of the upper left corner and size in pixels."""

    path: str
    label: str
    text: str
    x: float
    y: float
    width: float
    height: float = HEIGHT


@dataclasses.dataclass(frozen=True)
class Line:
    """One connection from (x1, y1) to (x2, y2), a Bezier curve that leaves towards `c1` and arrives from `c2`."""

    x1: float
    y1: float
    c1: float
    c2: float
    x2: float
    y2: float
    color: str
    text: str


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Boxes and lines on a sheet of `width` times `height` pixels."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


def draw(components: Sequence[tuple[str, str, str]], connections: Iterable[tuple[str, str]]) -> Drawing:
    """Lay out the components that have a connection; what is inside a component is not shown.

    Args:
        components: Path, class name and description of each.
        connections: Pairs of connector paths.
    """
    classes = {path: (class_name, text) for path, class_name, text in components}
    links = []
    for one, other in connections:
        ends = _owner(one, classes), _owner(other, classes)
        if ends[0] and ends[1] and ends[0] != ends[1]:
            links.append((ends[0], ends[1], f"{one} - {other}"))
    neighbours: dict[str, list[str]] = {path: [] for path in classes if any(path in link[:2] for link in links)}
    for one, other, _ in links:
        neighbours[one].append(other)
        neighbours[other].append(one)
    columns = _columns(neighbours, classes)
    boxes: dict[str, Box] = {}
    x: float = MARGIN
    for column in columns:
        letters = max(max(len(path), len(_short(classes[path][0]))) for path in column)
        width = letters * CHARACTER + PADDING
        for row, path in enumerate(column):
            class_name, text = classes[path]
            boxes[path] = Box(path, _short(class_name), f"{class_name}: {text}", x, MARGIN + row * ROW, width)
        x += width + GAP
    height = MARGIN + max((len(column) for column in columns), default=0) * ROW
    lines = tuple(_line(boxes[one], boxes[other], text) for one, other, text in links)
    return Drawing(max(x - GAP, 0) + MARGIN, height, tuple(boxes.values()), lines)


def _owner(connector: str, classes: Mapping[str, object]) -> str:
    """Return the outermost component that a connector belongs to, or an empty text where there is none."""
    names = connector.split(".")
    paths = (".".join(names[:length]) for length in range(1, len(names)))
    return next((path for path in paths if path in classes), "")


def _short(class_name: str) -> str:
    return class_name.rpartition(".")[2]


def _columns(neighbours: Mapping[str, Sequence[str]], classes: Mapping[str, tuple[str, str]]) -> list[list[str]]:
    """Sort components into columns by their distance from the root, and each column by its neighbours before it."""
    depth: dict[str, int] = {}
    for root in sorted(neighbours, key=lambda path: _short(classes[path][0]) != "World"):
        depth.setdefault(root, 0)
        queue = deque([root])
        while queue:
            path = queue.popleft()
            for other in neighbours[path]:
                if other not in depth:
                    depth[other] = depth[path] + 1
                    queue.append(other)
    columns: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for path in depth:
        columns[depth[path]].append(path)
    for previous, column in itertools.pairwise(columns):
        rows = {path: row for row, path in enumerate(previous)}
        means = {path: _mean([rows[other] for other in neighbours[path] if other in rows]) for path in column}
        column.sort(key=means.__getitem__)
    return columns


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _line(one: Box, other: Box, text: str) -> Line:
    left, right = sorted((one, other), key=lambda box: box.x)
    y1, y2 = left.y + HEIGHT / 2, right.y + HEIGHT / 2
    flange = any(word in text for word in ("flange", "axis", "support"))
    color = FRAME if "frame" in text else FLANGE if flange else SIGNAL
    x1 = left.x + left.width
    if left.x == right.x:  # one column: an arc on its right
        return Line(x1, y1, x1 + GAP / 2, x1 + GAP / 2, x1, y2, color, text)
    middle = (x1 + right.x) / 2
    return Line(x1, y1, middle, middle, right.x, y2, color, text)
