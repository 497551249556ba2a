"""Which FMUs make up a system, and which of their variables are connected."""

from __future__ import annotations

import dataclasses
import functools
import math
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mbfmu.cosimulation.flanges import ExposedFlange, exposed_flanges, is_shaft, wires
from mbfmu.errors import ModelError
from mbfmu.fmi.description import read_description
from mbfmu.fmi.variables import KINDS, Interface, Scalar, is_variable, shape_of, unit_of
from mbfmu.messages import suggestion

_NAME = re.compile(r"[A-Za-z_]\w*")

#: Kinds whose values are converted into each other, where they have an equal.
_NUMBERS = ("Real", "Integer", "Boolean")
#: The same: enumerations are passed on by the numbers of their items (FMI 2.0.4, section 2.2.7).
_COUNTED = ("Integer", "Enumeration")


@dataclasses.dataclass(frozen=True)
class Connection:
    """An output that an input follows; names of elements and of their variables, as in SSP 1.0, section 5.3.3.

    Arrays are connected element by element. A name such as `r[2]` may be an element of an array of FMI 3.0.
    """

    start_element: str
    start_connector: str
    end_element: str
    end_connector: str
    #: The input is `factor` times the output and `offset`; units are converted besides, unless not wanted.
    factor: float = 1.0
    offset: float = 0.0
    converts: bool = True

    @property
    def start(self) -> str:
        """`element.variable` of the output."""
        return f"{self.start_element}.{self.start_connector}"

    @property
    def end(self) -> str:
        """`element.variable` of the input."""
        return f"{self.end_element}.{self.end_connector}"


@dataclasses.dataclass(frozen=True)
class RigidShaft:
    """Two flanges that both take torque (force) and move as one: what is between them is for a master to find."""

    a_element: str
    a_flange: ExposedFlange
    b_element: str
    b_flange: ExposedFlange

    @property
    def name(self) -> str:
        """Both ends, `element.flange` each."""
        return f"{self.a_element}.{self.a_flange.name} and {self.b_element}.{self.b_flange.name}"

    @property
    def ends(self) -> tuple[tuple[str, ExposedFlange, float], tuple[str, ExposedFlange, float]]:
        """Elements, flanges, and the sign with which what is between them acts on each."""
        return ((self.a_element, self.a_flange, 1.0), (self.b_element, self.b_flange, -1.0))


def check_elements(names: Iterable[str]) -> None:
    """Refuse names of elements that are none: files are named after them."""
    for element in names:
        if not isinstance(element, str) or not _NAME.fullmatch(element):
            raise ModelError(
                f"element {element!r}: is not a name; use letters, digits and underscores, as in engine=engine.fmu"
            )


@dataclasses.dataclass(frozen=True)
class SystemStructure:
    """FMUs by the names of the elements that they are, in the order of stepping, and their connections.

    Make one with `SystemStructure.of`, which checks and derives the connections.
    """

    name: str
    files: Mapping[str, pathlib.Path]
    connections: tuple[Connection, ...]
    #: FMPy's ModelDescription of each element.
    descriptions: Mapping[str, Any] = dataclasses.field(repr=False)
    #: Names of the system's own for inputs that are not connected, `element.variable` each.
    inputs: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    #: Flanges that both take torque.
    shafts: tuple[RigidShaft, ...] = ()

    @functools.cached_property
    def interfaces(self) -> Mapping[str, Interface]:
        """Variables of each element, by name."""
        return {element: Interface(description) for element, description in self.descriptions.items()}

    @classmethod
    def of(
        cls,
        files: Mapping[str, pathlib.Path | str],
        connect: Iterable[tuple[str, str] | Connection] | None = None,
        name: str = "System",
    ) -> SystemStructure:
        """Describe a system of FMUs.

        Args:
            files: FMU by element name; the order is that in which a sequential master steps them.
            connect: Pairs of flanges or of variables, each written `element.axis1` or `element.variable`, in any order
                of the two, or a `Connection` of an output and an input. Two flanges that both take torque are a rigid
                shaft. Variables may be arrays, of equal shape, or elements of arrays. None connects the flanges of
                equal name of every two elements.
            name: Name of the system.

        Raises:
            ModelError: An element, flange or variable does not exist, or two of them cannot be connected.
            ValidationError: A file is not an FMU.
        """
        paths = {element: pathlib.Path(file) for element, file in files.items()}
        check_elements(paths)
        descriptions = {element: read_description(path) for element, path in paths.items()}
        wiring = _Wiring(descriptions)
        if connect is None:
            wiring.join_equal_names()
        else:
            for one in connect:
                if isinstance(one, Connection):
                    wiring.add(one)
                else:
                    wiring.join(*one)
        return cls(name, paths, tuple(wiring.connections), descriptions, shafts=tuple(wiring.shafts))

    def scalars(self, element: str, name: str) -> tuple[Scalar, ...]:
        """The scalars of a variable of an element: one, or all of an array.

        Raises:
            ModelError: There is no such variable.
        """
        if element not in self.interfaces:
            raise ModelError(f"{element}.{name}: there is no element {element}; {suggestion(element, self.interfaces)}")
        found = self.interfaces[element].get(name)
        if found is None:
            known = self.interfaces[element]
            raise ModelError(f"{element}.{name}: {element} has no such variable; {suggestion(name, known)}")
        return found

    def conversion(self, connection: Connection, start: Scalar, end: Scalar) -> tuple[float, float]:
        """Factor and offset by which the input follows the output: of units, and those of the connection after it."""
        factor, offset = 1.0, 0.0
        if connection.converts:
            units = (
                _base(self.descriptions[connection.start_element], start),
                _base(self.descriptions[connection.end_element], end),
            )
            if units[0] is not None and units[1] is not None:
                factor = units[0].factor / units[1].factor
                offset = (units[0].offset - units[1].offset) / units[1].factor
        return connection.factor * factor, connection.factor * offset + connection.offset

    def own_steps(self, step: float | None, steps: Mapping[str, float] | None) -> dict[str, float]:
        """Length of the communication steps of every element, s: its own of some, else `step`; none without either.

        Raises:
            ModelError: There is no such element, a length is none, or that of the other elements is missing.
        """
        for name, own in (steps or {}).items():
            if name not in self.files:
                raise ModelError(f"steps: there is no element {name!r}; {suggestion(name, self.files)}")
            if isinstance(own, bool) or not isinstance(own, int | float) or not 0 < own < math.inf:
                raise ModelError(f"steps: {name} = {own!r}: give a positive number of seconds")
        if steps and step is None:
            raise ModelError(f"steps of {', '.join(steps)}: need the step of the other elements, too; give step")
        return {} if step is None else {name: float((steps or {}).get(name, step)) for name in self.files}

    def links(self) -> list[tuple[Connection, Scalar, Scalar]]:
        """Each connection with the scalars of its output and its input, once for each element of an array."""
        return [
            (c, start, end)
            for c in self.connections
            for start, end in zip(
                self.scalars(c.start_element, c.start_connector),
                self.scalars(c.end_element, c.end_connector),
                strict=True,
            )
        ]


@dataclasses.dataclass(frozen=True)
class _Unit:
    """A unit by its definition in FMI: exponents of base units, and value in these = factor * value + offset."""

    exponents: tuple[int, ...]
    factor: float
    offset: float


def _base(description: Any, scalar: Scalar) -> _Unit | None:
    """The unit of a scalar, where its FMU defines it."""
    name = unit_of(scalar.variable)
    found = next((u.baseUnit for u in description.unitDefinitions or () if u.name == name), None)
    if found is None or not name or KINDS.get(scalar.variable.type) != "Real":
        return None
    exponents = tuple(int(getattr(found, key) or 0) for key in ("kg", "m", "s", "A", "K", "mol", "cd", "rad"))
    return _Unit(exponents, float(found.factor), float(found.offset))


class _Wiring:
    """Collects connections; each input has one."""

    def __init__(self, descriptions: Mapping[str, Any]) -> None:
        self.descriptions = descriptions
        self.interfaces = {element: Interface(description) for element, description in descriptions.items()}
        self.flanges = {element: exposed_flanges(d.modelVariables) for element, d in descriptions.items()}
        self.connections: list[Connection] = []
        self.shafts: list[RigidShaft] = []
        #: What each input follows, by element and the name of its scalar.
        self.followed: dict[tuple[str, str], str] = {}

    def join_equal_names(self) -> None:
        """Connect flanges of one name and opposite kind of every two elements."""
        elements = list(self.flanges)
        for i, a in enumerate(elements):
            for b in elements[i + 1 :]:
                for name in filter(self.flanges[b].__contains__, self.flanges[a]):
                    self.join(f"{a}.{name}", f"{b}.{name}")
        if not self.connections and not self.shafts:
            listed = "; ".join(f"{element}: {', '.join(found) or 'none'}" for element, found in self.flanges.items())
            raise ModelError(f"no two flanges have the same name ({listed}); say which to connect, for example {self}")

    def __str__(self) -> str:
        ends = [f"{element}.{next(iter(found), 'axis')}" for element, found in self.flanges.items()]
        return f"--connect {'='.join(ends[:2])}"

    def join(self, a: str, b: str) -> None:
        """Connect two ends, `element.flange` or `element.variable` each."""
        (element_a, end_a), (element_b, end_b) = self._end(a), self._end(b)
        if isinstance(end_a, ExposedFlange) and isinstance(end_b, ExposedFlange) and is_shaft(end_a, end_b):
            shaft = RigidShaft(element_a, end_a, element_b, end_b)
            for (element, flange, _), other in zip(shaft.ends, (b, a), strict=True):
                self._occupy(element, f"{flange.name}.{flange.flow}", other)
            self.shafts.append(shaft)
        elif isinstance(end_a, ExposedFlange) and isinstance(end_b, ExposedFlange):
            a_takes_motion, motion, flow = wires(end_a, end_b, f"{a} and {b}")
            taker, giver = ((element_a, end_a), (element_b, end_b))[:: 1 if a_takes_motion else -1]
            for short in motion:
                self._add((giver[0], f"{giver[1].name}.{short}"), (taker[0], f"{taker[1].name}.{short}"))
            self._add((taker[0], f"{taker[1].name}.{flow}"), (giver[0], f"{giver[1].name}.{flow}"))
        elif isinstance(end_a, ExposedFlange) or isinstance(end_b, ExposedFlange):
            raise ModelError(f"{a} and {b}: one is a flange, the other a variable; name two flanges or two variables")
        else:
            self._add_signal((element_a, end_a), (element_b, end_b))

    def _end(self, path: str) -> tuple[str, ExposedFlange | str]:
        element, _, name = path.partition(".")
        if element not in self.flanges:
            raise ModelError(f"{path}: there is no element {element!r}; {suggestion(element, self.flanges)}")
        flanges = self.flanges[element]
        if name in flanges:
            return element, flanges[name]
        if _is_port(self.interfaces[element].get(name, ())):
            return element, name
        if not flanges and (name or "axis").isidentifier():
            raise ModelError(
                f"{path}: {element} exposes no flange; give the assembly one of its own, "
                f'self.{name or "axis"} = Flange_a("..."), and connect it inside'
            )
        known = [*flanges, *(n for n, s in self.interfaces[element].items() if _is_port(s))]
        hint = suggestion(name, known)
        raise ModelError(f"{path}: {element} has no flange {name!r}, and no such input or output; {hint}")

    def _add_signal(self, *ends: tuple[str, str]) -> None:
        first, second = (self.interfaces[element][name][0].variable.causality for element, name in ends)
        if first == second:
            raise ModelError(f"{_pair(*ends)}: both are {first}s; connect an output to an input")
        start, end = ends if first == "output" else ends[::-1]
        self._add(start, end)

    def _check_units(self, start_element: str, start: Scalar, end_element: str, end: Scalar) -> None:
        """Refuse units that differ, and are not converted into each other."""
        names = [unit_of(scalar.variable) for scalar in (start, end)]
        if not all(names) or names[0] == names[1]:
            return
        units = [_base(self.descriptions[e], scalar) for e, scalar in ((start_element, start), (end_element, end))]
        if None in units or units[0].exponents != units[1].exponents:  # type: ignore[union-attr]
            pair = _pair((start_element, start.name), (end_element, end.name))
            raise ModelError(f"{pair}: units {names[0]} and {names[1]} differ")

    def _add(
        self, start: tuple[str, str], end: tuple[str, str], factor: float = 1.0, offset: float = 0.0,
        converts: bool = True,
    ) -> None:  # fmt: skip
        """Connect an output to an input, where shapes, types and units agree."""
        outputs, inputs = (self.interfaces[element][name] for element, name in (start, end))
        shapes = [shape_of(name, scalars) for (_, name), scalars in ((start, outputs), (end, inputs))]
        if shapes[0] != shapes[1]:
            texts = " and ".join(str(list(shape)) if shape else "scalar" for shape in shapes)
            raise ModelError(f"{_pair(start, end)}: their shapes differ ({texts}); connect equal ones, or elements")
        for y, u in zip(outputs, inputs, strict=True):
            _check_pair(start[0], y, end[0], u)
            if converts:
                self._check_units(start[0], y, end[0], u)
            self._occupy(end[0], u.name, f"{start[0]}.{y.name}")
        whole = all(is_variable(name, scalars) for (_, name), scalars in ((start, outputs), (end, inputs)))
        names = [(start[1], end[1])] if whole else [(y.name, u.name) for y, u in zip(outputs, inputs, strict=True)]
        self.connections += [Connection(start[0], y, end[0], u, factor, offset, converts) for y, u in names]

    def _occupy(self, element: str, name: str, by: str) -> None:
        """Let an input follow something, where it follows nothing yet."""
        earlier = self.followed.get((element, name))
        if earlier:
            raise ModelError(f"{element}.{name}: is connected to {earlier} already, not also to {by}")
        self.followed[element, name] = by

    def add(self, connection: Connection) -> None:
        """Add a connection of variables, one of whose ends is an output, the other an input."""
        for element, name, wanted in (
            (connection.start_element, connection.start_connector, "output"),
            (connection.end_element, connection.end_connector, "input"),
        ):
            scalars = self.interfaces[element].get(name)
            if scalars is None:
                raise ModelError(
                    f"{element}.{name}: {element} has no such variable; {suggestion(name, self.interfaces[element])}"
                )
            known = scalars[0].variable.causality
            if known != wanted:
                pair = f"{connection.start} and {connection.end}"
                raise ModelError(f"{pair}: {element}.{name} is no {wanted}, but {known}")
        self._add(
            (connection.start_element, connection.start_connector),
            (connection.end_element, connection.end_connector),
            connection.factor, connection.offset, connection.converts,
        )  # fmt: skip


def _is_port(scalars: Sequence[Scalar]) -> bool:
    """Are these all inputs, or all outputs?"""
    return {scalar.variable.causality for scalar in scalars} in ({"input"}, {"output"})


def _check_pair(start_element: str, start: Scalar, end_element: str, end: Scalar) -> None:
    """Refuse types that are not converted."""
    pair = _pair((start_element, start.name), (end_element, end.name))
    numbers = any(start.kind in kinds and end.kind in kinds for kinds in (_NUMBERS, _COUNTED))
    if not (numbers or start.kind == end.kind) or start.kind not in KINDS.values():
        raise ModelError(f"{pair}: types {start.variable.type} and {end.variable.type} cannot be connected")
    if start.continuous and end.kind != "Real":
        raise ModelError(
            f"{pair}: a continuous {start.variable.type} cannot be connected to an input of type {end.variable.type}; "
            "put a block in between that rounds or compares"
        )


def _pair(*ends: tuple[str, str]) -> str:
    return " and ".join(f"{element}.{name}" for element, name in ends)
