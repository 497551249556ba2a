"""Assembly files: the same assemblies written as TOML.

    [world]                       parameters of the component `world`
    [[component]]                 name, class, [component.parameters], dim = [6] for an array of blocks
    [[connect]]                   a, b: two connectors, `sine.y[1]` an element, `err1[4:6].u1` a slice (from 1)
    [[input]], [[output]]         name (optional), variable: inputs and outputs of the FMU
    [experiment]                  start, stop, tolerance, solver
    assembly = "engine_v6"        the file describes a gallery assembly that is built in Python

`notes`, `exercises`, `compare`, `reference`, `user_class` and `equation` are read over.
"""

from __future__ import annotations

import pathlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component, near
from mbfmu.modeling.connectors import Connector, Reference, Signal
from mbfmu.modeling.registry import assemblies, component_class

_TABLES = {"world", "component", "connect", "input", "output", "experiment", "assembly", "name", "description"}
_IGNORED = {"notes", "exercises", "compare", "reference", "user_class", "equation"}
_COMPONENT_KEYS = {"name", "class", "dim", "parameters"}
_SUBSCRIPT = re.compile(r"(?P<base>.+?)\[(?P<first>\d+)(?::(?P<last>\d+))?\]$")


def load_assembly(path: pathlib.Path | str) -> Assembly:
    """Read an assembly file.

    Raises:
        ModelError: no such file, no TOML, an unknown class or key, or what the assembly itself refuses; the message
            names the file and the entry.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); give the path of an assembly file") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: is no text in UTF-8; assembly files are TOML") from error
    try:
        record = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{path}: is no valid TOML: {error}") from error
    name = path.stem if path.stem != "model" else path.resolve().parent.name
    try:
        return _Reader(record, name).assembly
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


class _Reader:
    """Builds an assembly from the tables of a file."""

    def __init__(self, record: dict[str, Any], name: str) -> None:
        unknown = set(record) - _TABLES - _IGNORED
        if unknown:
            key = min(unknown)
            raise ModelError(f"unknown key {key!r}; {near(key, _TABLES)}")
        self.arrays: dict[str, int] = {}
        if "assembly" in record:
            gallery = assemblies()
            if record["assembly"] not in gallery:
                raise ModelError(
                    f"assembly = {record['assembly']!r}: not in the gallery; {near(record['assembly'], gallery)}"
                )
            self.assembly = gallery[record["assembly"]]()
        else:
            shown = str(record.get("name", name))
            attributes = {"__doc__": record.get("description", record.get("notes")), "drops_connections": True}
            cls = type(re.sub(r"\W", "_", shown), (Assembly,), attributes)
            self.assembly = cls()
            self._components(record)
            self._connections(record.get("connect", []))
            self._interface(record)
        self._experiment(record.get("experiment", {}))

    def _components(self, record: dict[str, Any]) -> None:
        if "world" in record:
            self._add("world", "MultiBody.World", record["world"])
        for i, entry in enumerate(record.get("component", []), start=1):
            where = f"component {entry.get('name', i)}"
            _known_keys(entry, _COMPONENT_KEYS, where)
            for key in ("name", "class"):
                if not isinstance(entry.get(key), str):
                    raise ModelError(f'{where}: needs {key} = "..."')
            name, dim = entry["name"], entry.get("dim")
            parameters = entry.get("parameters", {})
            if dim is None:
                self._add(name, entry["class"], parameters)
                continue
            if not (isinstance(dim, list) and len(dim) == 1 and isinstance(dim[0], int) and dim[0] > 0):
                raise ModelError(f"{where}: dim = {dim!r}; expected one positive number in brackets, such as [6]")
            self.arrays[name] = dim[0]
            for k in range(dim[0]):
                self._add(f"{name}[{k + 1}]", entry["class"], _element(parameters, k, dim[0]))

    def _add(self, name: str, class_name: str, parameters: Any) -> None:
        if name in self.assembly.parts or (name in self.arrays and not name.endswith("]")):
            raise ModelError(f"component {name}: is there twice; give one of them another name")
        if not isinstance(parameters, Mapping):
            raise ModelError(f"component {name}: parameters must be a table")
        try:
            self.assembly.add(name, component_class(class_name)(**parameters))
        except ModelError as error:
            raise ModelError(f"component {name}: {error}") from error

    def _connections(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            where = f"connect {entry.get('a')!r}, {entry.get('b')!r}"
            _known_keys(entry, {"a", "b"}, where)
            if not all(isinstance(entry.get(key), str) for key in ("a", "b")):
                raise ModelError(f'{where}: needs two connectors, a = "..." and b = "..."')
            try:
                a, b = (self._connectors(entry[key]) for key in ("a", "b"))
                if len(a) != len(b):
                    raise ModelError(f"{len(a)} elements on one side, {len(b)} on the other")
                for one, other in zip(a, b, strict=True):
                    self.assembly.connect(one, other)
            except ModelError as error:
                raise ModelError(f"{where}: {error}") from error

    def _connectors(self, text: str) -> list[Connector]:
        """Connectors that a text names: one, or one scalar signal per element."""
        component, rest = self._component_of(text)
        if isinstance(component, list):
            return [c for part in component for c in self._elements(part, rest)]
        return self._elements(component, rest)

    def _component_of(self, text: str) -> tuple[Component | list[Component], str]:
        """The longest component name that `text` begins with, and the rest."""
        parts = self.assembly.parts
        pieces = text.split(".")
        for size in range(len(pieces) - 1, 0, -1):
            head, rest = ".".join(pieces[:size]), ".".join(pieces[size:])
            if head in parts:
                return parts[head], rest
            match = _SUBSCRIPT.match(head)
            if match and match["base"] in self.arrays:
                first, last = int(match["first"]), int(match["last"] or match["first"])
                if not 1 <= first <= last <= self.arrays[match["base"]]:
                    raise ModelError(f"{head}: has the elements 1 to {self.arrays[match['base']]}")
                return [parts[f"{match['base']}[{k}]"] for k in range(first, last + 1)], rest
            if head in self.arrays:
                return [parts[f"{head}[{k + 1}]"] for k in range(self.arrays[head])], rest
        if text in parts:
            raise ModelError(
                f"{text!r} is a component; name its connector, such as {text}.{next(iter(parts[text].ports()), 'y')}"
            )
        raise ModelError(f"no component {pieces[0]!r}; {near(pieces[0], [*parts, *self.arrays])}")

    def _elements(self, component: Component, rest: str) -> list[Connector]:
        *path, name = rest.split(".")
        for part in path:
            if part not in component.parts:
                raise ModelError(f"{component.where} has no part {part!r}; {near(part, component.parts)}")
            component = component.parts[part]
        match = None if name in component.ports() else _SUBSCRIPT.match(name)
        connector = component.connector(match["base"] if match else name)
        if not isinstance(connector.port, Signal):
            if match:
                raise ModelError(f"{rest}: only signals have elements")
            return [connector]
        size = component.size_of(connector)
        first, last = (int(match["first"]), int(match["last"] or match["first"])) if match else (1, size)
        if not 1 <= first <= last <= size:
            raise ModelError(f"{component.where}.{name}: has {size} elements")
        return [connector[k - 1] for k in range(first, last + 1)]

    def _interface(self, record: dict[str, Any]) -> None:
        for kind in ("input", "output"):
            for entry in record.get(kind, []):
                _known_keys(entry, {"name", "variable", "start"}, f"{kind} {entry.get('variable')!r}")
                text = str(entry.get("variable", ""))
                if kind == "input":
                    found = self._connectors(text)
                    for k, connector in enumerate(found):
                        label = entry.get("name", text) + (f"[{k + 1}]" if len(found) > 1 else "")
                        self.assembly.input(connector, label, entry.get("start", 0.0))
                else:
                    self.assembly.output(Reference(self.assembly, text), entry.get("name"))

    def _experiment(self, record: dict[str, Any]) -> None:
        _known_keys(record, {"start", "stop", "tolerance", "interval", "solver"}, "experiment")
        for key, attribute in (("start", "start_time"), ("stop", "stop_time"), ("tolerance", "tolerance")):
            if key in record:
                value = record[key]
                if not isinstance(value, int | float) or isinstance(value, bool):
                    raise ModelError(f"experiment: {key} = {value!r}; expected a number")
                setattr(self.assembly, attribute, value)
        if "solver" in record:
            self.assembly.solver = str(record["solver"])


def _known_keys(entry: Any, known: set[str], where: str) -> None:
    if not isinstance(entry, Mapping):
        raise ModelError(f"{where}: expected a table with {', '.join(sorted(known))}")
    unknown = set(entry) - known
    if unknown:
        key = min(unknown)
        raise ModelError(f"{where}: unknown key {key!r}; {near(key, known)}")


def _element(parameters: Mapping[str, Any], index: int, size: int) -> dict[str, Any]:
    """Parameters of one element of an array: a vector of the array's size is spread, all else applies to each."""
    return {
        key: value[index] if isinstance(value, list) and len(value) == size else value
        for key, value in parameters.items()
    }
