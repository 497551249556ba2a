"""Which FMUs make up a system, and which of their variables are connected."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mbfmu.cosimulation.flanges import ExposedFlange, exposed_flanges, wires
from mbfmu.errors import ModelError
from mbfmu.modeling.component import near
from mbfmu.validation import read

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclasses.dataclass(frozen=True)
class Connection:
    """An output that an input follows; names of elements and of their variables, as in SSP 1.0, section 5.3.3."""

    start_element: str
    start_connector: str
    end_element: str
    end_connector: str

    @property
    def start(self) -> str:
        """`element.variable` of the output."""
        return f"{self.start_element}.{self.start_connector}"

    @property
    def end(self) -> str:
        """`element.variable` of the input."""
        return f"{self.end_element}.{self.end_connector}"


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

    @classmethod
    def of(
        cls,
        files: Mapping[str, pathlib.Path | str],
        connect: Iterable[tuple[str, str]] | None = None,
        name: str = "System",
    ) -> SystemStructure:
        """Describe a system of FMUs.

        Parameters
        ----------
        files
            FMU by element name; the order is that in which a sequential master steps them.
        connect
            Pairs of flanges or of variables, each written `element.axis1` or `element.variable`, in any order of the
            two. None connects the flanges of equal name of every two elements.
        name
            Name of the system.

        Raises
        ------
        ModelError
            An element, flange or variable does not exist, or two of them cannot be connected.
        ValidationError
            A file is not an FMU.
        """
        paths = {element: pathlib.Path(file) for element, file in files.items()}
        for element in paths:
            if not _NAME.fullmatch(element):
                raise ModelError(
                    f"element {element!r}: is not a name; use letters, digits and underscores, as in engine=engine.fmu"
                )
        descriptions = {element: read(path) for element, path in paths.items()}
        wiring = _Wiring(descriptions)
        if connect is None:
            wiring.join_equal_names()
        else:
            for a, b in connect:
                wiring.join(a, b)
        return cls(name, paths, tuple(wiring.connections.values()), descriptions)

    def variable(self, element: str, name: str) -> Any:
        """FMPy's ScalarVariable of an element.

        Raises
        ------
        ModelError
            There is none.
        """
        return _variable(self.descriptions, element, name)


def unit_of(variable: Any) -> str | None:
    """Unit of one of FMPy's variables, its own or that of its type."""
    declared = variable.declaredType
    return variable.unit or (declared.unit if declared else None) or None


def _variable(descriptions: Mapping[str, Any], element: str, name: str) -> Any:
    if element not in descriptions:
        raise ModelError(f"{element}.{name}: there is no element {element}; {near(element, descriptions)}")
    known = {variable.name: variable for variable in descriptions[element].modelVariables}
    if name not in known:
        raise ModelError(f"{element}.{name}: {element} has no such variable; {near(name, known)}")
    return known[name]


class _Wiring:
    """Collects connections; each input has one."""

    def __init__(self, descriptions: Mapping[str, Any]) -> None:
        self.descriptions = descriptions
        self.flanges = {element: exposed_flanges(d.modelVariables) for element, d in descriptions.items()}
        #: By the input that follows.
        self.connections: dict[tuple[str, str], Connection] = {}

    def join_equal_names(self) -> None:
        """Connect flanges of one name and opposite kind of every two elements."""
        elements = list(self.flanges)
        for i, a in enumerate(elements):
            for b in elements[i + 1 :]:
                for name in filter(self.flanges[b].__contains__, self.flanges[a]):
                    self.join(f"{a}.{name}", f"{b}.{name}")
        if not self.connections:
            listed = "; ".join(f"{element}: {', '.join(found) or 'none'}" for element, found in self.flanges.items())
            raise ModelError(f"no two flanges have the same name ({listed}); say which to connect, for example {self}")

    def __str__(self) -> str:
        ends = [f"{element}.{next(iter(found), 'axis')}" for element, found in self.flanges.items()]
        return f"--connect {'='.join(ends[:2])}"

    def join(self, a: str, b: str) -> None:
        """Connect two ends, `element.flange` or `element.variable` each."""
        (element_a, end_a), (element_b, end_b) = self._end(a), self._end(b)
        if isinstance(end_a, ExposedFlange) and isinstance(end_b, ExposedFlange):
            a_takes_motion, motion, flow = wires(end_a, end_b, f"{a} and {b}")
            taker, giver = ((element_a, end_a), (element_b, end_b))[:: 1 if a_takes_motion else -1]
            for short in motion:
                self._add(giver[0], f"{giver[1].name}.{short}", taker[0], f"{taker[1].name}.{short}")
            self._add(taker[0], f"{taker[1].name}.{flow}", giver[0], f"{giver[1].name}.{flow}")
        elif isinstance(end_a, ExposedFlange) or isinstance(end_b, ExposedFlange):
            raise ModelError(f"{a} and {b}: one is a flange, the other a variable; name two flanges or two variables")
        else:
            self._add_signal(element_a, end_a, element_b, end_b)

    def _end(self, path: str) -> tuple[str, ExposedFlange | str]:
        element, _, name = path.partition(".")
        if element not in self.flanges:
            raise ModelError(f"{path}: there is no element {element!r}; {near(element, self.flanges)}")
        flanges = self.flanges[element]
        if name in flanges:
            return element, flanges[name]
        inputs_outputs = [
            v.name for v in self.descriptions[element].modelVariables if v.causality in ("input", "output")
        ]
        if name in inputs_outputs:
            return element, name
        if not flanges:
            raise ModelError(
                f"{path}: {element} exposes no flange; give the assembly one of its own, "
                f'self.{name or "axis"} = Flange_a("..."), and connect it inside'
            )
        raise ModelError(
            f"{path}: {element} has no flange {name!r}, and no such input or output; {near(name, flanges)}"
        )

    def _add_signal(self, element_a: str, name_a: str, element_b: str, name_b: str) -> None:
        a, b = (_variable(self.descriptions, *end) for end in ((element_a, name_a), (element_b, name_b)))
        if a.causality == b.causality:
            raise ModelError(
                f"{element_a}.{name_a} and {element_b}.{name_b}: both are {a.causality}s; connect an output to an input"
            )
        unit_a, unit_b = unit_of(a), unit_of(b)
        if unit_a != unit_b and unit_a and unit_b:
            raise ModelError(f"{element_a}.{name_a} and {element_b}.{name_b}: units {unit_a} and {unit_b} differ")
        ends = ((element_a, name_a), (element_b, name_b))[:: 1 if a.causality == "output" else -1]
        self._add(*ends[0], *ends[1])

    def _add(self, start_element: str, start: str, end_element: str, end: str) -> None:
        connection = Connection(start_element, start, end_element, end)
        for element, name in ((start_element, start), (end_element, end)):
            if _variable(self.descriptions, element, name).type != "Real":
                raise ModelError(f"{element}.{name}: is no Real variable; only those can be connected")
        earlier = self.connections.setdefault((end_element, end), connection)
        if earlier is not connection:
            raise ModelError(
                f"{connection.end}: is connected to {earlier.start} already, not also to {connection.start}"
            )
