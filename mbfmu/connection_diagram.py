"""The diagram of an assembly: its components with icons of our own, and what is connected, as SVG."""

from __future__ import annotations

import dataclasses
import html
import os
import pathlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mbfmu.errors import MbfmuError
from mbfmu.modeling import Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector, Signal
from mbfmu.runtime import arguments
from mbfmu.runtime.result import writing
from mbfmu.sources import resolved

#: Size of a component, the room between columns and rows, and the margin, in pixels.
_WIDTH, _HEIGHT, _BESIDE, _BELOW, _MARGIN = 132, 78, 78, 26, 24
#: How often rows are sorted by where their neighbours are.
_SORTINGS = 12
#: Characters of a name that have room; the whole one is the title of the drawing.
_LETTERS = 20

#: How connections look: colour, and width in pixels, by the kind of connector.
_LINES: Mapping[str, tuple[str, float]] = {
    "frame": ("#6f7782", 4.0),
    "rotational": ("#4d4d4d", 2.0),
    "translational": ("#2c7a3f", 2.0),
    "signal": ("#2456b3", 1.3),
}
_OTHER_LINE = ("#a83232", 2.0)

#: Our icons in a box of 48 x 30, by words that a class's name has, with a dot its whole name; the first that fits is
#: taken.
_ICONS: Sequence[tuple[tuple[str, ...], str]] = (
    (("Contact.Sphere",), "M24 3a12 12 0 1 0 .1 0M12 15c6 5 18 5 24 0"),
    (("Contact.Ellipsoid",), "M24 6c22 0 22 18 0 18s-22-18 0-18M5 15c8 5 30 5 38 0"),
    (("Contact.Capsule",), "M14 6h20a9 9 0 0 1 0 18h-20a9 9 0 0 1 0-18z"),
    (("Contact.Cylinder",), "M10 7c0-6 28-6 28 0s-28 6-28 0v16c0 6 28 6 28 0v-16"),
    (("Contact.Box",), "M12 8l12-6 12 6v14l-12 6-12-6zM12 8l12 6 12-6M24 14v14"),
    (("Contact.ConvexMesh",), "M12 10l12-8 13 7-3 14-13 5-11-8zM12 10l9 6 16-7M21 16l0 12M21 16l-11 4"),
    (("Contact.Plane",), "M2 12h44M8 12l-5 8M18 12l-5 8M28 12l-5 8M38 12l-5 8"),
    (("Contact.HeightField", "Road", "Slope"), "M2 20c8-9 12 3 20-2s12-11 24-4M2 27h44"),
    (("Contact",), "M14 4a10 10 0 1 0 .1 0M34 4a10 10 0 1 0 .1 0M24 4v4M24 20v6M20 23l4 4 4-4"),
    (("Backlash", "Gap"), "M2 15h6l3-9 5 18 5-18 3 9h5M29 8v14M37 8v14M37 15h9"),
    (("Beam", "ModalBody"), "M4 4v20M4 9c14 0 27 3 40 13M4 17c12 0 23 3 34 12M44 22l-6 7"),
    (
        ("WishboneCar", "PhersonCar", "Components.Vehicle"),
        "M4 21v-6l8-2 5-7h14l6 7 7 2v6zM13 17a4 4 0 1 0 .1 0M35 17a4 4 0 1 0 .1 0",
    ),
    (("Wishbone", "FiveLink", "MacPherson"), "M4 8l20 3M4 22l20-3M24 6v18M24 15h6M30 3h10v24h-10z"),
    (("Bushing",), "M24 3a12 12 0 1 0 .1 0M24 10a5 5 0 1 0 .1 0M2 15h10M36 15h10"),
    (("Driver",), "M24 3a12 12 0 1 0 .1 0M12 15h24M24 15v12"),
    (("TyreWheel", "SlipWheel", "Tyre", "SlipForce"), "M24 2a12 12 0 1 0 .1 0M24 8a6 6 0 1 0 .1 0M4 27h40"),
    (("Initialize",), "M24 3a12 12 0 1 0 .1 0M24 8v7l6 4"),
    (("World",), "M8 26V4M8 26H40M4 8l4-6 4 6M36 22l6 4-6 4"),
    (
        ("SpringDamper",),
        "M2 8h8l3-5 5 10 5-10 5 10 5-10 3 5h10M2 22h18M20 15v14h16M20 15h16M28 17v10M28 22h18M2 8v14M46 8v14",
    ),
    (("Spring",), "M2 15h8l3-9 5 18 5-18 5 18 5-18 3 9h10"),
    (("Damper",), "M2 15h16M18 4v22h18M18 4h18M28 7v16M28 15h18"),
    (
        ("RollingWheel", "VoluminousWheel", "Wheel"),
        "M24 1a14 14 0 1 0 .1 0M24 12a3 3 0 1 0 .1 0M24 1v11M24 18v11M10 15h11M27 15h11",
    ),
    (("Revolute", "Cylindrical"), "M2 15h12M34 15h12M14 6h20v18h-20zM24 6v18M24 12a3 3 0 1 0 .1 0"),
    (("Prismatic",), "M2 15h14M16 8h16v14h-16M32 15h14M12 5h24M12 25h24"),
    (("Spherical", "FreeMotion"), "M2 15h12M24 5a10 10 0 1 0 .1 0M34 3a14 14 0 0 1 0 24M38 15h8"),
    (("Universal",), "M2 15h14M32 15h14M16 7v16M32 7v16M16 15h16M24 7v16"),
    (
        ("Planar", "Joint", "Assemblies"),
        "M2 15h10l12-11 12 11h10M12 15a2 2 0 1 0 .1 0M24 2a2 2 0 1 0 .1 0M36 13a2 2 0 1 0 .1 0",
    ),
    (("FixedRotation",), "M2 24h20l16-18M30 24a8 8 0 0 0-3-6"),
    (("FixedTranslation", "Rod"), "M2 12h44v6H2z"),
    (("Gravity",), "M24 2v22M18 18l6 8 6-8"),
    (("Brake", "Clutch", "Friction", "RollingResistance"), "M2 15h16M30 15h16M18 4v22M22 4v22M26 4v22M30 4v22"),
    (
        ("Gear", "Differential", "Planetary", "AxisType"),
        "M2 9h8M10 2v14M10 2h8v14h-8M18 9h6M24 3v24M32 3v24M24 3h8M24 27h8M32 21h14",
    ),
    (("Inertia", "Rotor", "Disc"), "M2 15h12M14 3h20v24h-20zM34 15h12"),
    (("Mass", "Body", "Box", "Cylinder", "Structure"), "M2 15h8M10 4h28v22h-28zM10 4l28 22M38 4l-28 22"),
    (("EMF", "Motor"), "M24 3a12 12 0 1 0 .1 0M18 21v-12l6 7 6-7v12M2 15h10M36 15h10"),
    (("Sensor", "Cut", "Absolute", "Relative"), "M24 3a12 12 0 1 0 .1 0M24 15l7-8M14 8l2 2M24 4v3M34 8l-2 2"),
    (("Torque",), "M10 22a14 14 0 1 1 28 0M33 17l5 6 5-6"),
    (("Force",), "M4 15h34M32 8l8 7-8 7"),
    (("Position", "Speed", "Accelerate", "Move"), "M4 24h40M4 20v8M44 20v8M8 14h26M28 8l8 6-8 6"),
    (("Delay",), "M8 3h32v24h-32zM14 9v12h20M19 15h10M25 11l4 4-4 4"),
    (
        ("Thyristor", "Triac"),
        "M2 15h16M18 6v18l14-9zM32 6v18M32 15h14M30 17l8 10",
    ),
    (("Diode",), "M2 15h16M18 6v18l14-9zM32 6v18M32 15h14"),
    (("Potentiometer",), "M2 20h10M12 14h24v12h-24zM36 20h10M24 2v12M20 9l4 5 4-5"),
    (("OpAmp",), "M12 3v24l26-12zM2 9h10M2 21h10M38 15h8"),
    (("MOS",), "M2 15h14M16 6v18M21 5v20M21 8h15M21 22h15M36 2v6M36 22v6"),
    (
        ("Transformer", "Gyrator"),
        "M4 4h8a4 5 0 0 1 0 11a4 5 0 0 1 0 11h-8M44 4h-8a4 5 0 0 0 0 11a4 5 0 0 0 0 11h8M24 3v24",
    ),
    (("CCC", "CCV", "VCC", "VCV"), "M24 3l12 12-12 12-12-12zM2 15h10M36 15h10"),
    (("Switch", "Closer", "Opener", "Idle", "Short"), "M2 15h12M14 15l18-10M34 15h12"),
    (("Resistor", "Conductor"), "M2 15h10M12 9h24v12h-24zM36 15h10"),
    (("Capacitor",), "M2 15h18M20 4v22M28 4v22M28 15h18"),
    (("Inductor",), "M2 18h6a5 5 0 0 1 10 0 5 5 0 0 1 10 0 5 5 0 0 1 10 0h8"),
    (
        ("Thermal", "Heat", "Temperature", "Convection", "Cooling"),
        "M24 2c-6 8-10 12-10 18a10 8 0 0 0 20 0c0-6-4-10-10-18z",
    ),
    (("Visualizers", "Shape", "Arrow", "FixedFrame"), "M12 8l12-6 12 6v14l-12 6-12-6zM12 8l12 6 12-6M24 14v14"),
    (
        ("Ground", "Fixed", "Support", "Mounting", "Bearing"),
        "M24 2v14M8 16h32M12 16l-5 8M20 16l-5 8M28 16l-5 8M36 16l-5 8",
    ),
    (("Sine", "Cosine"), "M6 2v26M2 15h44M6 15c6-16 12-16 18 0s12 16 18 0"),
    (("Step", "Pulse", "Constant"), "M6 2v26M2 26h44M6 22h16v-14h20"),
    (("Ramp", "Trapezoid", "Table", "Path"), "M6 2v26M2 26h44M6 22h8l14-14h14"),
    (("PID", "LimPID", "Controller", "PI"), "M6 2v26M2 26h44M8 22v-14l24-4"),
    (("Gain",), "M14 3v24l22-12z"),
    (("Add", "Sum", "Feedback"), "M24 3a12 12 0 1 0 .1 0M24 8v14M17 15h14"),
    (("Integrator",), "M28 4c-8-2-5 24-13 22"),
    (("Voltage", "Current"), "M24 3a12 12 0 1 0 .1 0M2 15h44"),
)
_BLOCK, _ANY = "M8 3h32v24h-32zM14 20l8-10 6 6 6-8", "M8 3h32v24h-32z"


@dataclasses.dataclass
class Node:
    """A component, or an input or output of the assembly, with its place."""

    name: str
    kind: str
    icon: str
    title: str
    column: int = 0
    row: float = 0.0


@dataclasses.dataclass(frozen=True)
class Wire:
    """A connection: two nodes, the names of the connectors, and the kind that gives it its colour."""

    a: str
    b: str
    ports: tuple[str, str]
    kind: str


class Diagram:
    """A diagram, which notebooks show.

    Attributes:
        nodes: Components, inputs and outputs by name.
        edges: Connections between them.
        svg: The drawing.
    """

    def __init__(self, nodes: Mapping[str, Node], edges: Sequence[Wire], svg: str) -> None:
        self.nodes, self.edges, self.svg = nodes, edges, svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Diagram({len(self.nodes)} components, {len(self.edges)} connections)"


def diagram(
    assembly: Assembly | str | os.PathLike[str], path: str | os.PathLike[str] | None = None
) -> Diagram | pathlib.Path:
    """Draw the components of an assembly and their connections.

    Columns are the distance from the world, or from what is fixed; in each, components stand beside what they are
    connected with. Frames are thick and grey, flanges of rotation dark, of translation
    green, signals blue, all else red.

    Args:
        assembly: An Assembly, or what the command line takes: a name of the gallery, a path.
        path: An .svg file; None: the drawing is returned, which notebooks show.

    Raises:
        ModelError: There is no such assembly, or it is wrong.
        MbfmuError: The path has another suffix, or the assembly has no components.
    """
    made = resolved(assembly)
    if not isinstance(made, Assembly):
        raise MbfmuError(f"{made!r:.60}: a diagram is drawn of an Assembly, not of a {type(made).__name__}")
    nodes, edges = graph_of(made)
    if not nodes:
        raise MbfmuError(f"{made.where}: has no components to draw; assign some to attributes")
    place(nodes, edges)
    found = Diagram(nodes, edges, _svg(made, nodes, edges))
    if path is None:
        return found
    target = arguments.path(path, "path")
    if target.suffix != ".svg":
        raise MbfmuError(f"{target}: a diagram is an .svg file; choose {target.stem}.svg")
    with writing(target):
        target.write_text(found.svg, encoding="utf-8")
    return target


def graph_of(assembly: Assembly) -> tuple[dict[str, Node], list[Wire]]:
    """Components of an assembly with its inputs, outputs and connectors as nodes, and connections as edges."""
    nodes = {
        name: Node(name, type(part).__name__, _icon(type(part)), repr(part))
        for name, part in assembly.parts.items()
        if assembly.has_part(name)
    }
    edges: list[Wire] = []

    def end(connector: Connector) -> tuple[str, str]:
        owner: Component = connector.owner
        inner = [connector.port.name]
        while owner is not assembly and owner.part_of is not None and owner.part_of is not assembly:
            inner.insert(0, owner._name)
            owner = owner.part_of
        if owner is assembly:
            name = connector.port.name
            nodes.setdefault(name, Node(name, "connector", _ANY, f"{name}: {connector.port.doc}"))
            return name, ""
        return owner._name, ".".join(inner)

    def join(a: tuple[str, str], b: tuple[str, str], kind: str) -> None:
        if a[0] in nodes and b[0] in nodes:
            edges.append(Wire(a[0], b[0], (a[1], b[1]), kind))

    for a, b in assembly.connections:
        join(end(a), end(b), "signal" if isinstance(a.port, Signal) else a.port.kind)
    for name, declared in assembly.inputs.items():
        label = name if name not in nodes else f"{name} (input)"
        nodes[label] = Node(label, "input", "M8 4h22l10 11-10 11h-22z", f"input {name}")
        for one in declared.target if isinstance(declared.target, tuple) else (declared.target,):
            join((label, ""), end(one), "signal")
    return nodes, edges


def _icon(cls: type[Component]) -> str:
    name, full = cls.__name__, cls.modelica_name or cls.__name__
    for words, drawing in _ICONS:
        if any(word in (full if "." in word else name) for word in words):
            return drawing
    packages = full.split(".")[:-1]
    for words, drawing in _ICONS:
        if not {f"{word}{plural}" for word in words for plural in ("", "s")}.isdisjoint(packages):
            return drawing
    return _BLOCK if full.startswith("Blocks.") else _ANY


def place(nodes: Mapping[str, Node], edges: Sequence[Wire]) -> None:
    """Give nodes their columns, by distance from the world, and rows, beside their neighbours."""
    beside: dict[str, list[str]] = {name: [] for name in nodes}
    for edge in edges:
        beside[edge.a].append(edge.b)
        beside[edge.b].append(edge.a)
    roots = [node for kinds in (("World",), ("Fixed", "Ground")) for node in nodes.values() if node.kind in kinds]
    seen: set[str] = set()
    below = 0
    for root in [*roots, *nodes.values()]:
        if root.name in seen:
            continue
        columns: dict[int, list[str]] = {}
        queue = deque([(root.name, 0)])
        seen.add(root.name)
        while queue:
            name, column = queue.popleft()
            nodes[name].column = column
            columns.setdefault(column, []).append(name)
            for other in beside[name]:
                if other not in seen:
                    seen.add(other)
                    queue.append((other, column + 1))
        height = max(map(len, columns.values()))
        for listed in columns.values():
            for row, name in enumerate(listed):
                nodes[name].row = below + row + (height - len(listed)) / 2
        for _ in range(_SORTINGS):
            for listed in columns.values():
                wish = {n: sum(nodes[o].row for o in beside[n]) / len(beside[n]) if beside[n] else 0.0 for n in listed}
                listed.sort(key=lambda n: (wish[n], nodes[n].row))
                for row, name in enumerate(listed):
                    nodes[name].row = below + row + (height - len(listed)) / 2
        below += height


def _svg(assembly: Assembly, nodes: Mapping[str, Node], edges: Sequence[Wire]) -> str:
    width = 2 * _MARGIN + (max(n.column for n in nodes.values()) + 1) * (_WIDTH + _BESIDE) - _BESIDE
    height = 2 * _MARGIN + (max(n.row for n in nodes.values()) + 1) * (_HEIGHT + _BELOW) - _BELOW
    lines = "\n".join(_edges(nodes, edges))
    boxes = "\n".join(_node(node) for node in nodes.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="system-ui, sans-serif" font-size="12">\n'
        f"<title>{_text(assembly.name)}: {_text(assembly.description)}</title>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{lines}\n{boxes}\n</svg>\n'
    )


def _corner(node: Node) -> tuple[float, float]:
    return _MARGIN + node.column * (_WIDTH + _BESIDE), _MARGIN + node.row * (_HEIGHT + _BELOW)


def _edges(nodes: Mapping[str, Node], edges: Sequence[Wire]) -> Iterator[str]:
    """Curves from side to side; on each side ends stand in the order of what they go to."""
    ends: dict[tuple[str, bool], list[tuple[float, int, int]]] = {}

    def is_right(edge: Wire, end: int) -> bool:
        own, other = (nodes[edge.a], nodes[edge.b]) if end == 0 else (nodes[edge.b], nodes[edge.a])
        return other.column >= own.column

    for number, edge in enumerate(edges):
        for end, (own, other) in enumerate(((edge.a, edge.b), (edge.b, edge.a))):
            ends.setdefault((own, is_right(edge, end)), []).append((nodes[other].row, number, end))
    at: dict[tuple[int, int], tuple[float, float, int]] = {}
    for (name, right), listed in ends.items():
        x, y = _corner(nodes[name])
        for i, (_, number, end) in enumerate(sorted(listed)):
            at[number, end] = (x + _WIDTH * right, y + _HEIGHT * (i + 1) / (len(listed) + 1), 1 if right else -1)
    for number, edge in enumerate(edges):
        (x1, y1, d1), (x2, y2, d2) = at[number, 0], at[number, 1]
        bend = max(_BESIDE / 2, abs(x2 - x1) / 2)
        colour, thick = _LINES.get(edge.kind, _OTHER_LINE)
        names = " - ".join(".".join(filter(None, one)) for one in zip((edge.a, edge.b), edge.ports, strict=True))
        yield (
            f'<path d="M{x1:g} {y1:g}C{x1 + d1 * bend:g} {y1:g} {x2 + d2 * bend:g} {y2:g} {x2:g} {y2:g}" fill="none" '
            f'stroke="{colour}" stroke-width="{thick:g}"><title>{_text(names)} ({_text(edge.kind)})</title></path>'
        )


def _node(node: Node) -> str:
    x, y = _corner(node)
    name, kind = (
        text if len(text) <= room else f"{text[: room - 1]}\N{HORIZONTAL ELLIPSIS}"
        for text, room in ((node.name, _LETTERS), (node.kind, _LETTERS + 3))
    )
    return (
        f'<g transform="translate({x:g} {y:g})"><title>{_text(node.title)}</title>'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="#f5f7fa" stroke="#c3cad3"/>'
        f'<g transform="translate({(_WIDTH - 48) / 2:g} 6)"><path d="{node.icon}" fill="none" stroke="#27313f" '
        f'stroke-width="1.6" stroke-linejoin="round" stroke-linecap="round"/></g>'
        f'<text x="{_WIDTH / 2:g}" y="54" text-anchor="middle" fill="#1b2430">{_text(name)}</text>'
        f'<text x="{_WIDTH / 2:g}" y="69" text-anchor="middle" fill="#6b7683" font-size="10">{_text(kind)}</text></g>'
    )


def _text(value: Any) -> str:
    return html.escape(str(value))
