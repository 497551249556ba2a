"""System Structure packages, of any tool, as systems that run (SSP 1.0 and 2.0).

Systems within systems become one, with element names such as `drive_motor`. Connections are followed through connectors
of systems and through signal dictionaries; transformations on their way add up. Parameter bindings, inline or as files
(.ssv), with their mappings (.ssm), become start values.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pathlib
import re
import tempfile
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree

from mbfmu.cosimulation.structure import Connection, SystemStructure
from mbfmu.errors import ValidationError
from mbfmu.fmi.archive import PACKAGE, open_fmu, unpack
from mbfmu.markup import xml_root

_FMU = "application/x-fmu-sharedlibrary"
#: Type of libcosim's annotations, which say how long steps are.
LIBCOSIM = "com.opensimulationplatform"
_SETS = "application/x-ssp-parameter-set"

#: An element of the package, by the names of the systems that it is in; a connector of one.
_Path = tuple[str, ...]
_Node = tuple[_Path, str]


@dataclasses.dataclass(frozen=True)
class Package:
    """A system that was read: what `cosimulate` takes."""

    structure: SystemStructure
    start_values: dict[str, Any]
    #: Of the default experiment, s; None where there is none.
    start_time: float | None
    stop_time: float | None
    #: What was left out.
    notes: tuple[str, ...]
    #: Length of all communication steps that is asked for, s, None where there is none, and own ones of some elements.
    step: float | None = None
    steps: Mapping[str, float] = dataclasses.field(default_factory=dict)


@contextlib.contextmanager
def open_package(path: str | pathlib.Path) -> Iterator[Package]:
    """Read a package; its FMUs are unpacked for as long as the context lives.

    Raises:
        ValidationError: The file is no package, damaged, or has something in it that cannot be run; the message names
            it.
        ModelError: Its connections cannot be made.
    """
    file = pathlib.Path(path)
    _, root = open_fmu(file, PACKAGE)
    with tempfile.TemporaryDirectory(prefix="mbfmu-ssp-") as folder:
        unpack(file, folder, PACKAGE)
        yield _Reader(file, pathlib.Path(folder)).read(root)


@dataclasses.dataclass(frozen=True)
class _Edge:
    """A way from one node to another, and what happens to values on it."""

    start: _Node
    factor: float
    offset: float
    converts: bool


class _Reader:
    def __init__(self, file: pathlib.Path, folder: pathlib.Path) -> None:
        self.file, self.folder = file, folder
        self.files: dict[_Path, pathlib.Path] = {}
        #: Ways that lead to a node.
        self.edges: dict[_Node, list[_Edge]] = {}
        self.dictionaries: dict[_Path, _Path] = {}
        self.systems: dict[_Path, dict[str, str]] = {}
        self.kinds: dict[_Path, dict[str, str]] = {}
        self.bindings: list[tuple[_Path, etree._Element]] = []
        self.notes: list[str] = []
        #: Own steps of components, s.
        self.hints: dict[_Path, float] = {}

    def read(self, root: etree._Element) -> Package:
        system = _child(root, "System")
        if system is None:
            raise self._wrong("SystemStructure.ssd has no System")
        self._system(system, ())
        names = self._names()
        connections = []
        for path, element in names.items():
            for connector, kind in self.kinds[path].items():
                if kind == "input":
                    source = self._source((path, connector), set())
                    if source is not None and source.start[0] in names:
                        start_path, start = source.start
                        connections.append(
                            Connection(
                                names[start_path], start, element, connector, source.factor, source.offset,
                                source.converts,
                            )
                        )  # fmt: skip
        title = str(root.get("name") or self.file.stem)
        structure = SystemStructure.of({name: self.files[path] for path, name in names.items()}, connections, title)
        experiment = _child(root, "DefaultExperiment")
        given = {} if experiment is None else dict(experiment.attrib)
        times = [self._number(given[key], key) if given.get(key) else None for key in ("startTime", "stopTime")]
        structure = dataclasses.replace(structure, inputs=self._inputs(names))
        values = self._values(structure, names, root)
        step = None if experiment is None else self._annotated(experiment, "FixedStepAlgorithm", "baseStepSize")
        steps = {names[path]: hint for path, hint in self.hints.items()}
        if steps and step is None:
            step = min(steps.values())
        return Package(structure, values, times[0], times[1], tuple(self.notes), step, steps)

    def _annotated(self, element: etree._Element, tag: str, attribute: str) -> float | None:
        """A positive number that libcosim's annotations give for the steps of an element, or of the system."""
        for annotation in element.iterfind("{*}Annotations/{*}Annotation"):
            found = annotation.find(f".//{{*}}{tag}") if annotation.get("type") == LIBCOSIM else None
            if found is not None:
                value = self._number(found.get(attribute), f"{attribute} of {tag}")
                if not 0 < value < math.inf:
                    raise self._wrong(f"{attribute} of {tag} = {value:g} is no length of a step")
                return value
        return None

    def _wrong(self, what: str) -> ValidationError:
        return ValidationError(f"{self.file}: {what}.")

    def _number(self, text: Any, what: str) -> float:
        try:
            return float(text)
        except (TypeError, ValueError):
            raise self._wrong(f"{what} = {text!r:.60} is no number") from None

    def _integer(self, text: str, what: str) -> int:
        try:
            return int(text)
        except ValueError:
            raise self._wrong(f"{what} = {text!r:.60} is no integer") from None

    def _names(self) -> dict[_Path, str]:
        """Names of elements: letters, digits and underscores, each once."""
        names: dict[_Path, str] = {}
        for path in self.files:
            stem = re.sub(r"\W", "_", "_".join(path)) or "element"
            stem = stem if not stem[0].isdigit() else f"_{stem}"
            name, count = stem, 2
            while name in names.values():
                name, count = f"{stem}_{count}", count + 1
            names[path] = name
        return names

    # -- structure

    def _system(self, system: etree._Element, path: _Path) -> None:
        self.systems[path] = self._connectors(system)
        self._bind(system, path)
        dictionaries = {d.get("name"): path for d in system.iterfind("{*}SignalDictionaries/{*}SignalDictionary")}
        for name in dictionaries:
            self.dictionaries[(*path, f"dictionary {name}")] = path
        for element in system.iterfind("{*}Elements/{*}*"):
            tag, name = etree.QName(element).localname, element.get("name") or ""
            inner = (*path, name)
            if tag == "System":
                self._system(element, inner)
            elif tag == "SignalDictionaryReference":
                self.dictionaries[inner] = self._dictionary(path, element.get("dictionary") or "")
            elif tag == "Component":
                self._component(element, inner)
        for connection in system.iterfind("{*}Connections/{*}Connection"):
            self._connection(connection, path)

    def _dictionary(self, path: _Path, name: str) -> _Path:
        """Where a dictionary is declared, in this system or one that it is in."""
        for end in range(len(path), -1, -1):
            found = (*path[:end], f"dictionary {name}")
            if found in self.dictionaries:
                return found
        raise self._wrong(f"there is no signal dictionary {name!r} for {'.'.join(path) or 'the system'}")

    def _connectors(self, element: etree._Element) -> dict[str, str]:
        return {
            connector.get("name") or "": connector.get("kind") or ""
            for connector in element.iterfind("{*}Connectors/{*}Connector")
        }

    def _component(self, element: etree._Element, path: _Path) -> None:
        name, source = ".".join(path), element.get("source") or ""
        kind = element.get("type") or _FMU
        if kind != _FMU:
            raise self._wrong(f"the component {name} is of type {kind}; FMUs ({_FMU}) are run, nothing else")
        if element.get("implementation") == "ModelExchange":
            raise self._wrong(f"the component {name} is for model exchange; systems are stepped in co-simulation")
        self.files[path] = self._file(source, f"the FMU of {name}")
        self.kinds[path] = self._connectors(element)
        hint = self._annotated(element, "StepSizeHint", "value")
        if hint is not None:
            self.hints[path] = hint
        self._bind(element, path)

    def _file(self, source: str, what: str) -> pathlib.Path:
        parts = urllib.parse.urlsplit(source)
        if parts.scheme not in ("", "file") or parts.netloc:
            raise self._wrong(f"{what} is at {source}, outside of the package; nothing is fetched, pack it in")
        file = (self.folder / urllib.parse.unquote(parts.path)).resolve()
        if not file.is_relative_to(self.folder.resolve()):
            raise self._wrong(f"{what} is at {source}, outside of the package")
        if not file.is_file():
            raise self._wrong(f"{what} is missing: there is no {source} in the package")
        return file

    def _kind(self, path: _Path, element: str | None, connector: str) -> tuple[_Node, str]:
        """A node, and whether it is a source or a sink within a system; a dictionary is both."""
        if element is None:
            kind = self.systems[path].get(connector, "")
            turned = {"input": "source", "output": "sink", "parameter": "source", "calculatedParameter": "sink"}
            return ((path, connector), turned.get(kind, ""))
        inner = (*path, element)
        if inner in self.dictionaries:
            return ((self.dictionaries[inner], connector), "both")
        known = self.kinds.get(inner, self.systems.get(inner))
        if known is None:
            raise self._wrong(f"a connection goes to {'.'.join(inner)}, which is no element")
        straight = {"input": "sink", "output": "source", "parameter": "sink", "calculatedParameter": "source"}
        return ((inner, connector), straight.get(known.get(connector, ""), ""))

    def _connection(self, connection: etree._Element, path: _Path) -> None:
        """The kinds of connectors say where values flow, not the words start and end."""
        ends = [
            self._kind(path, connection.get(f"{side}Element"), self._connector(connection, side))
            for side in ("start", "end")
        ]
        (a, kind_a), (b, kind_b) = ends
        text = " and ".join(".".join((*node[0], node[1])) for node, _ in ends)
        if kind_a in ("source", "both") and kind_b in ("sink", "both"):
            start, end = a, b
        elif kind_b in ("source", "both") and kind_a in ("sink", "both"):
            start, end = b, a
        elif not (kind_a and kind_b):
            raise self._wrong(f"a connection joins {text}, of which one is no connector")
        else:
            raise self._wrong(f"a connection joins {text}, which are both {kind_a}s of values")
        factor, offset = 1.0, 0.0
        for change in connection:
            tag = etree.QName(change).localname
            if tag == "LinearTransformation":
                factor = self._number(change.get("factor", "1"), f"factor of {text}")
                offset = self._number(change.get("offset", "0"), f"offset of {text}")
            elif tag.endswith("Transformation"):
                raise self._wrong(f"the connection of {text} has a {tag}, which is not followed; put a block between")
        converts = connection.get("suppressUnitConversion") not in ("true", "1")
        self.edges.setdefault(end, []).append(_Edge(start, factor, offset, converts))

    def _connector(self, connection: etree._Element, side: str) -> str:
        name = connection.get(f"{side}Connector") or ""
        indices = connection.get(f"{side}Indices")
        return f"{name}[{','.join(indices.split())}]" if indices else name

    def _source(self, node: _Node, seen: set[_Node]) -> _Edge | None:
        """What a node follows in the end: an output of a component, or a connector of the whole system."""
        ways = self.edges.get(node, [])
        if len(ways) > 1:
            raise self._wrong(f"{'.'.join((*node[0], node[1]))} follows {len(ways)} connections; one is possible")
        if node in seen:
            raise self._wrong(f"{'.'.join((*node[0], node[1]))} follows itself through connectors alone")
        if not ways:
            return None
        way = ways[0]
        if way.start[0] in self.files:
            return way
        before = self._source(way.start, {*seen, node})
        if before is None:
            return way
        return _Edge(
            before.start, way.factor * before.factor, way.factor * before.offset + way.offset,
            way.converts and before.converts,
        )  # fmt: skip

    def _inputs(self, names: dict[_Path, str]) -> dict[str, list[str]]:
        """Inputs that follow connectors of the whole system, by these."""
        found: dict[str, list[str]] = {}
        for path, element in names.items():
            for connector in self.kinds[path]:
                source = self._source((path, connector), set())
                if source is not None and source.start[0] == ():
                    if (source.factor, source.offset) != (1.0, 0.0):
                        raise self._wrong(
                            f"the input {source.start[1]} of the system is transformed on its way to "
                            f"{element}.{connector}, which is followed between FMUs only; put a block between"
                        )
                    found.setdefault(source.start[1], []).append(f"{element}.{connector}")
        return found

    # -- parameters

    def _bind(self, element: etree._Element, path: _Path) -> None:
        self.bindings += [(path, one) for one in element.iterfind("{*}ParameterBindings/{*}ParameterBinding")]

    def _values(self, structure: SystemStructure, names: dict[_Path, str], root: etree._Element) -> dict[str, Any]:
        """Start values by `element.variable`; those of outer systems count more than those of inner ones."""
        found: dict[str, Any] = {}
        for path, binding in sorted(self.bindings, key=lambda entry: -len(entry[0])):
            if (binding.get("type") or _SETS) != _SETS:
                self.notes.append(f"a parameter binding of type {binding.get('type')} is left out")
                continue
            sets = self._content(binding, "source", "ParameterValues", "ParameterSet")
            given = self._set(sets, binding.get("prefix") or "")
            mapping = _child(binding, "ParameterMapping")
            if mapping is not None:
                given = self._mapped(given, self._content(mapping, "source", None, "ParameterMapping"))
            for name, (value, unit) in given.items():
                target = self._target((*path, *name.split(".")), path, name, names, structure)
                if target is None:
                    self.notes.append(f"the parameter {name} of a set belongs to no variable, and is left out")
                else:
                    element, variable = target
                    own = self._in_unit(structure, element, variable, value, unit, sets, root)
                    found[f"{element}.{variable}"] = own
        return found

    def _content(self, holder: etree._Element, key: str, inner: str | None, tag: str) -> etree._Element:
        """What a binding or mapping has inline, or in a file."""
        source = holder.get(key)
        if source:
            file = self._file(source, f"the {tag}")
            try:
                return xml_root(file.read_bytes())
            except (etree.XMLSyntaxError, OSError) as error:
                raise self._wrong(f"{source} is not XML ({error})") from None
        found = holder if inner is None else _child(holder, inner)
        content = None if found is None else _child(found, tag)
        if content is None:
            raise self._wrong(f"a {etree.QName(holder).localname} has neither a {key} nor a {tag}")
        return content

    def _set(self, content: etree._Element, prefix: str) -> dict[str, tuple[Any, str | None]]:
        found: dict[str, tuple[Any, str | None]] = {}
        for parameter in content.iterfind("{*}Parameters/{*}Parameter"):
            name = prefix + (parameter.get("name") or "")
            values = [one for one in parameter if one.get("value") is not None]
            if not values:
                self.notes.append(f"the parameter {name} of a set has no value that is read")
                continue
            listed = [self._value(one, name) for one in values]
            found[name] = (listed[0] if len(listed) == 1 else listed, values[0].get("unit"))
        return found

    def _value(self, element: etree._Element, name: str) -> Any:
        tag, text = etree.QName(element).localname, element.get("value") or ""
        if tag in ("String", "Enumeration", "Binary"):
            return text
        words = text.split()
        if tag == "Boolean":
            values: list[Any] = [word in ("true", "1") for word in words]
        elif tag.startswith(("Int", "UInt")):
            values = [self._integer(word, f"the parameter {name}") for word in words]
        else:
            values = [self._number(word, f"the parameter {name}") for word in words]
        return values[0] if len(values) == 1 else values

    def _mapped(
        self, given: dict[str, tuple[Any, str | None]], mapping: etree._Element
    ) -> dict[str, tuple[Any, str | None]]:
        found = {}
        for entry in mapping.iterfind("{*}MappingEntry"):
            source, target = entry.get("source") or "", entry.get("target") or ""
            if source not in given:
                continue
            value, unit = given[source]
            for change in entry:
                tag = etree.QName(change).localname
                if tag == "LinearTransformation":
                    factor = self._number(change.get("factor", "1"), f"factor of {source}")
                    offset = self._number(change.get("offset", "0"), f"offset of {source}")
                    numbers = value if isinstance(value, list) else [value]
                    if any(isinstance(one, str | bool) for one in numbers):
                        raise self._wrong(f"{value!r:.60} is no number for the {tag} of {source} to {target}")
                    moved = [factor * one + offset for one in numbers]
                    value = moved if isinstance(value, list) else moved[0]
                elif tag.endswith("Transformation"):
                    raise self._wrong(f"the mapping of {source} to {target} has a {tag}, which is not followed")
            found[target] = (value, None if entry.get("suppressUnitConversion") in ("true", "1") else unit)
        return found

    def _target(
        self, full: _Path, path: _Path, name: str, names: dict[_Path, str], structure: SystemStructure
    ) -> tuple[str, str] | None:
        """The element and variable that a parameter's name leads to: `motor.J`, seen from a system; `J` from inside."""
        if path in names:
            return (names[path], name) if name in structure.interfaces[names[path]] else None
        for end in range(len(path) + 1, len(full)):
            element = names.get(full[:end])
            variable = ".".join(full[end:])
            if element is not None and variable in structure.interfaces[element]:
                return element, variable
        for inner, element in names.items():  # a connector of the system
            for connector in self.kinds[inner]:
                source = self._source((inner, connector), set())
                if source is not None and source.start == (path, name):
                    return element, connector
        return None

    def _in_unit(
        self, structure: SystemStructure, element: str, variable: str, value: Any, unit: str | None,
        sets: etree._Element, root: etree._Element,
    ) -> Any:  # fmt: skip
        """A value in the unit of its variable, where both units are defined."""
        scalar = structure.interfaces[element][variable][0]
        own = scalar.attribute("unit")
        if unit is None or own is None or unit == own or isinstance(value, str | bool):
            return value
        given = next((found for found in (self._base(holder, unit) for holder in (sets, root)) if found), None)
        mine = next((u.baseUnit for u in structure.descriptions[element].unitDefinitions or () if u.name == own), None)
        if given is None or mine is None:
            raise self._wrong(f"{element}.{variable} is given in {unit}, and is in {own}; one of these is not defined")
        factor, offset, exponents = given
        if exponents != tuple(int(getattr(mine, key) or 0) for key in _BASE):
            raise self._wrong(f"{element}.{variable} is given in {unit}, and is in {own}; their base units differ")
        numbers = value if isinstance(value, list) else [value]
        converted = [(factor * one + offset - float(mine.offset)) / float(mine.factor) for one in numbers]
        return converted if isinstance(value, list) else converted[0]

    def _base(self, holder: etree._Element, name: str) -> tuple[float, float, tuple[int, ...]] | None:
        """Factor, offset and exponents of a unit, where it is defined."""
        unit = next((one for one in holder.iterfind("{*}Units/{*}Unit") if one.get("name") == name), None)
        base = None if unit is None else _child(unit, "BaseUnit")
        if base is None:
            return None
        factor, offset = (
            self._number(base.get(key, neutral), f"{key} of the unit {name}")
            for key, neutral in (("factor", "1"), ("offset", "0"))
        )
        return factor, offset, tuple(self._integer(base.get(key, "0"), f"{key} of the unit {name}") for key in _BASE)


_BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def _child(element: etree._Element, tag: str) -> etree._Element | None:
    return element.find(f"{{*}}{tag}")
