"""Assembly files: the same assemblies written as TOML.

    [world]                       parameters of the component `world`
    [[component]]                 name, class, [component.parameters], dim = [6] for an array of blocks
    [[connect]]                   a, b: two connectors, `sine.y[1]` an element, `err1[4:6].u1` a slice (from 1)
    [[input]], [[output]]         name (optional), variable: inputs and outputs of the FMU; of an input start, min, max,
                                  unit
    [[figure]]                    title, curves = ["revolute1.phi", ...], caption: what is worth drawing together
    [experiment]                  start, stop, tolerance, solver
    assembly = "engine_v6"        the file describes a gallery assembly that is built in Python

`notes`, `exercises`, `compare`, `reference`, `user_class` and `equation` are read over.
"""

from __future__ import annotations

import datetime
import pathlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from mbfmu.errors import ModelError
from mbfmu.messages import suggestion
from mbfmu.modeling.assembly import EXPERIMENT, Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector, Reference, Signal
from mbfmu.modeling.registry import assemblies, class_of_file

_IGNORED = {"notes", "exercises", "compare", "reference", "user_class", "equation"}
#: Elements that an array may have; more would not build in an hour.
MOST_ELEMENTS = 10_000
#: What values may be, by the words of `_STRUCTURE`: types, and how messages call them.
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "text": ((str,), "a text in quotes"),
    "number": ((int, float), "a number"),
    "numbers": ((int, float, bool, list), "a number, true or false, or a list of them"),
    "list": ((list,), "a list such as [6]"),
    "variables": ((str, list), "a text in quotes, or a list of such texts"),
    "names": ((list, Mapping), 'a list such as ["revolute.phi"], or a table of them by legend'),
    "parameters": ((Mapping,), "a table"),
}
#: The format: keys, and what their values are; in brackets tables of which there are many.
_STRUCTURE: dict[str, Any] = {
    "name": "text",
    "description": "text",
    "assembly": "text",
    "world": "parameters",
    "component": [{"name": "text", "class": "text", "dim": "list", "parameters": "parameters"}],
    "connect": [{"a": "text", "b": "text"}],
    "input": [
        {
            "name": "text",
            "variable": "variables",
            "start": "numbers",
            "min": "numbers",
            "max": "numbers",
            "unit": "text",
        }
    ],
    "output": [{"name": "text", "variable": "variables"}],
    "figure": [{"title": "text", "curves": "names", "caption": "text"}],
    "experiment": {"start": "number", "stop": "number", "tolerance": "number", "interval": "number", "solver": "text"},
}
_SUBSCRIPT = re.compile(r"(?P<base>.+?)\[(?P<first>\d+)(?::(?P<last>\d+))?\]$")


def read_toml(path: pathlib.Path, kind: str) -> dict[str, Any]:
    """What a TOML file has; `kind` says what it should be, such as `an assembly file`.

    Raises:
        ModelError: there is no such file, or it is no TOML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); give the path of {kind}") from error
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: is no text in UTF-8; {kind} is TOML") from error
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ModelError(f"{path}: its brackets are nested too deeply; {kind} needs three levels") from None
    except ValueError as error:  # no TOML, or an integer of more than the 4300 digits that Python reads
        raise ModelError(f"{path}: is no valid TOML: {error}") from error


def load_assembly(path: pathlib.Path | str) -> Assembly:
    """Read an assembly file.

    Raises:
        ModelError: no such file, no TOML, an unknown class or key, or what the assembly itself refuses; the message
            names the file and the entry.
    """
    path = pathlib.Path(path)
    record = read_toml(path, "an assembly file")
    name = path.stem if path.stem != "model" else path.resolve().parent.name
    try:
        check_structure(record)
        assembly = _Reader(record, name).assembly
        assembly.folder, assembly.source_file = str(path.resolve().parent), str(path.resolve())
        return assembly
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error


class _Reader:
    """Builds an assembly from the tables of a file."""

    def __init__(self, record: dict[str, Any], name: str) -> None:
        self.arrays: dict[str, int] = {}
        if "assembly" in record:
            gallery = assemblies()
            own = {"world", "component", "connect", "input", "output", "figure", "name", "description"}
            excess = sorted(set(record) & own)
            if excess:
                raise ModelError(
                    f"{excess[0]}: the file takes the gallery assembly {record['assembly']!r} as it is; leave out "
                    f"{excess[0]}, or assembly"
                )
            if record["assembly"] not in gallery:
                raise ModelError(
                    f"assembly = {record['assembly']!r}: not in the gallery; {suggestion(record['assembly'], gallery)}"
                )
            self.assembly = gallery[record["assembly"]]()
        else:
            shown = record.get("name", name)
            notes = record.get("notes")
            described = record.get("description", notes if isinstance(notes, str) else None)
            attributes = {"__doc__": described, "drops_connections": True}
            cls = type(identifier(shown), (Assembly,), attributes)
            self.assembly = cls()
            self._components(record)
            self._connections(record.get("connect", []))
            self._interface(record)
            self._figures(record.get("figure", []))
        self._experiment(record.get("experiment", {}))

    def _components(self, record: dict[str, Any]) -> None:
        if "world" in record:
            self._add("world", "MultiBody.World", record["world"])
        for i, entry in enumerate(record.get("component", []), start=1):
            where = f"component {entry.get('name', i)}"
            _needed(entry, ("name", "class"), where)
            name, dim = entry["name"], entry.get("dim")
            parameters = entry.get("parameters", {})
            if dim is None:
                self._add(name, entry["class"], parameters)
                continue
            if not (len(dim) == 1 and type(dim[0]) is int and 0 < dim[0] <= MOST_ELEMENTS):
                raise ModelError(
                    f"{where}: dim = {dim!r:.40}; expected one number from 1 to {MOST_ELEMENTS} in brackets, such "
                    "as [6]"
                )
            self.arrays[name] = dim[0]
            for k in range(dim[0]):
                self._add(f"{name}[{k + 1}]", entry["class"], parameters, (k, dim[0]))

    def _add(self, name: str, class_name: str, parameters: Any, element: tuple[int, int] | None = None) -> None:
        if name in self.assembly.parts or (name in self.arrays and not name.endswith("]")):
            raise ModelError(f"component {name}: is there twice; give one of them another name")
        try:
            cls = class_of_file(class_name)
            self.assembly.add(name, cls(**(_element(cls, parameters, *element) if element else parameters)))
        except ModelError as error:
            raise ModelError(f"component {name}: {error}") from error

    def _connections(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            where = f"connect {entry.get('a')!r}, {entry.get('b')!r}"
            _needed(entry, ("a", "b"), where)
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
        raise ModelError(f"no component {pieces[0]!r}; {suggestion(pieces[0], [*parts, *self.arrays])}")

    def _elements(self, component: Component, rest: str) -> list[Connector]:
        *path, name = rest.split(".")
        for part in path:
            if part not in component.parts:
                raise ModelError(f"{component.where} has no part {part!r}; {suggestion(part, component.parts)}")
            component = component.parts[part]
        match = None if name in component.ports() else _SUBSCRIPT.match(name)
        connector = component.connector(match["base"] if match else name)
        if not isinstance(connector.port, Signal):
            if match:
                raise ModelError(f"{rest}: only signals have elements")
            return [connector]
        size = len(connector.places)
        first, last = (int(match["first"]), int(match["last"] or match["first"])) if match else (1, size)
        if not 1 <= first <= last <= size:
            raise ModelError(f"{component.where}.{name}: has {size} elements")
        return [connector[k - 1] for k in range(first, last + 1)]

    def _interface(self, record: dict[str, Any]) -> None:
        for kind in ("input", "output"):
            for entry in record.get(kind, []):
                _needed(entry, ("variable",), kind)
                given, name = entry["variable"], entry.get("name")
                texts = given if isinstance(given, list) else [given]
                if not all(isinstance(text, str) for text in texts):
                    raise ModelError(f"{kind} {name or given}: variable = {given}: expected texts in quotes")
                if kind == "output":
                    references = [Reference(self.assembly, text) for text in texts]
                    self.assembly.output(references if given is texts else references[0], name)
                    continue
                found = [connector for text in texts for connector in self._connectors(text)]
                name = name if name is not None or given is texts else given
                if name in self.assembly.inputs:
                    raise ModelError(f"input {name}: is there already; give it another name, or leave it out")
                target = _joined(found) if given is not texts else found
                told = {key: entry[key] for key in ("start", "min", "max", "unit") if key in entry}
                self.assembly.input(target, name, **told)

    def _figures(self, entries: list[dict[str, Any]]) -> None:
        for i, entry in enumerate(entries, start=1):
            where = f"figure {entry.get('title', i)}"
            _needed(entry, ("title", "curves"), where)
            curves = entry["curves"]
            for text in curves.values() if isinstance(curves, Mapping) else curves:
                if not isinstance(text, str):
                    raise ModelError(f"{where}: curves are names in quotes such as 'revolute.phi', got {text!r}")
                if text.partition(".")[0].partition("[")[0] not in {n.partition("[")[0] for n in self.assembly.parts}:
                    hint = suggestion(text, self.assembly.parts)
                    raise ModelError(f"{where}: {text}: no component has this name; {hint}")
            if isinstance(curves, Mapping):
                named = {legend: Reference(self.assembly, text) for legend, text in curves.items()}
                self.assembly.figure(entry["title"], named, entry.get("caption", ""))
            else:
                found = [Reference(self.assembly, text) for text in curves]
                self.assembly.figure(entry["title"], found, entry.get("caption", ""))

    def _experiment(self, record: dict[str, Any]) -> None:
        for attribute, key in EXPERIMENT.items():
            if key in record:
                setattr(self.assembly, attribute, record[key])


def identifier(name: str) -> str:
    """A name as one that a class, a model and a file can have."""
    shown = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{shown}" if shown[0].isdigit() else shown


def check_structure(record: Mapping[str, Any]) -> None:
    """Refuse a file whose keys or types of values are not those of the format; the message names the entry.

    Raises:
        ModelError: an unknown key, or a value of another type.
    """
    _check_keys({k: v for k, v in record.items() if k not in _IGNORED}, _STRUCTURE, "")


def _check_keys(entry: Mapping[str, Any], known: Mapping[str, Any], where: str) -> None:
    for key, value in entry.items():
        if key not in known:
            raise ModelError(f"{where}unknown key {key!r}; {suggestion(key, known)}")
        _check_type(value, known[key], where, key)


def _check_type(value: Any, wanted: Any, where: str, key: str) -> None:
    if isinstance(wanted, list):
        if not (isinstance(value, list) and all(isinstance(item, Mapping) for item in value)):
            raise ModelError(f"{where}{key} = {_shown(value)}: expected entries that begin with [[{key}]]")
        for i, item in enumerate(value, start=1):
            name = item.get("name", item.get("variable", i))
            _check_keys(item, wanted[0], f"{key} {name if isinstance(name, str | int) else i}: ")
    elif isinstance(wanted, Mapping):
        if not isinstance(value, Mapping):
            raise ModelError(f"{where}{key} = {_shown(value)}: expected a table that begins with [{key}]")
        _check_keys(value, wanted, f"{key}: ")
    else:
        types, words = _TYPES[wanted]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise ModelError(f"{where}{key} = {_shown(value)}: expected {words}")
        if wanted == "parameters":
            _check_values(value, f"{where}{key}")


def _check_values(value: Any, where: str) -> None:
    """Values of parameters: numbers, texts, true or false, lists and tables of them; no dates."""
    for key, part in value.items() if isinstance(value, Mapping) else enumerate(value, start=1):
        if isinstance(part, Mapping | list):
            _check_values(part, f"{where}.{key}")
        elif not isinstance(part, int | float | str):
            raise ModelError(f"{where}.{key} = {part}: is a date or time, which no parameter takes; give a number")


def _joined(found: list[Connector]) -> Connector | list[Connector]:
    """The elements of one signal as one connector."""
    first = found[0]
    if any(one.port is not first.port or one.owner is not first.owner for one in found):
        return found
    elements = [k for one in found for k in one.elements or ()]
    return Connector(first.owner, first.port, tuple(elements)) if isinstance(first.port, Signal) else first


def _needed(entry: Mapping[str, Any], keys: Iterable[str], where: str) -> None:
    for key in keys:
        if key not in entry:
            raise ModelError(f'{where}: needs {key} = "..."')


def _shown(value: Any) -> str:
    if isinstance(value, Mapping | list):
        return "{...}" if isinstance(value, Mapping) else "[...]"
    return str(value) if isinstance(value, datetime.date | datetime.time) else f"{value!r:.60}"


def _element(cls: type[Component], parameters: Mapping[str, Any], index: int, size: int) -> dict[str, Any]:
    """Parameters of one element of an array: a vector of the array's size is spread, all else applies to each.

    A vector that the class itself takes as one applies to each element; start values are spread, too.
    """

    def taken(value: Any, shape: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: taken(part, shape) for key, part in value.items()}
        if not isinstance(value, list) or len(value) != size:
            return value
        is_one = shape == (size,) and not isinstance(value[0], list)
        return value if is_one else value[index]

    def shape_of(name: str) -> Any:
        shape = getattr(cls.declarations.get(name), "shape", None)
        return None if callable(shape) else shape

    return {name: taken(value, shape_of(name)) for name, value in parameters.items()}
