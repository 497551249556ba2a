"""Assemblies as text to go on with: a Python module, or an assembly file in TOML that says the same."""

from __future__ import annotations

import importlib
import json
import keyword
import math
import pathlib
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import EXPERIMENT, Assembly
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Connector, Flange, Port, Reference, Signal
from mbfmu.modeling.declarations import Parameter, Start, Variable
from mbfmu.modeling.figures import Drawn
from mbfmu.modeling.inputs import AssemblyInput

#: Longest line that is written.
WIDTH = 120
_ELEMENT = re.compile(r"(?P<base>\w+)\[(?P<index>\d+)\]$")
_INDEX = re.compile(r"\[([\d, ]+)\]$")


def write(assembly: Assembly, path: pathlib.Path) -> None:
    """Write an assembly to a .py or .toml file.

    Raises:
        ModelError: another suffix, or something that such a file cannot say; the message names it.
    """
    writers = {".py": to_python, ".toml": to_toml}
    if path.suffix not in writers:
        raise ModelError(f"{path}: what is written is Python or TOML; choose {path.stem}.py or {path.stem}.toml")
    text = writers[path.suffix](assembly)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: cannot be written ({error.strerror}); choose another folder") from error


# -- what there is to say


def modifiers_of(part: Component) -> dict[str, Any]:
    """What was given to a component and to its parts: parameters, start values, mappings for parts.

    Raises:
        ModelError: it has something that its class's parameters do not say.
    """
    for name, value in vars(part).items():
        if callable(value):
            raise ModelError(f"{part.where}: has a function of its own ({name.lstrip('_')}), which cannot be written")
    given = {name: plain(value, f"{part.where}.{name}") for name, value in part._values.items()}
    if not part.parts:
        return given
    with warnings.catch_warnings():  # what a class warns of was said when the part itself was made
        warnings.simplefilter("ignore")
        fresh = type(part)(**part._values)
    return given | dict(_nested(part, fresh))


def _nested(part: Component, fresh: Component) -> Iterator[tuple[str, dict[str, Any]]]:
    """Modifiers of parts that a component of the same class and parameters does not have by itself."""
    if list(part.parts) != list(fresh.parts):
        raise ModelError(f"{part.where}: has other parts than its class gives it, which cannot be written")
    for name, inner in part.parts.items():
        own = fresh.parts[name]._values
        changed: dict[str, Any] = {
            key: plain(value, f"{inner.where}.{key}")
            for key, value in inner._values.items()
            if key not in own or not _same(value, own[key])
        }
        changed |= dict(_nested(inner, fresh.parts[name]))
        if changed:
            yield name, changed


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Start) and isinstance(b, Start):
        return a.fixed == b.fixed and _same(a.value, b.value)
    if callable(a) or callable(b) or hasattr(a, "is_symbolic") or hasattr(b, "is_symbolic"):
        return str(a) == str(b) and not callable(a)
    return bool(np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object)))


def plain(value: Any, where: str) -> Any:
    """A value of numbers, text, lists and Start.

    Raises:
        ModelError: it is an expression or a function.
    """
    if isinstance(value, Start):
        return Start(None if value.value is None else plain(value.value, where), plain(value.fixed, where))
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), where)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return tuple(plain(v, where) for v in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ModelError(f"{where}: is an expression of other parameters, which cannot be written; give it a number")


def check(assembly: Assembly) -> None:
    """Refuse what no file can say.

    Raises:
        ModelError: parameters, variables or equations of the assembly's own; parts that are in no registry.
    """
    own = [name for name, d in assembly.declarations.items() if isinstance(d, Parameter | Variable)]
    if own:
        raise ModelError(f"{assembly.where}: has declarations of its own ({', '.join(own)}), which cannot be written")
    if "equations" in dir(type(assembly)):
        raise ModelError(f"{assembly.where}: has equations of its own, which cannot be written")
    for name, part in assembly.parts.items():
        if type(part).modelica_name is None:
            kind = "an assembly inside this one" if isinstance(part, Assembly) else "in no registry"
            raise ModelError(
                f"{name}: {type(part).__name__} is {kind}; only classes that `mbfmu list` shows can be written"
            )
        if not assembly.has_part(name):
            raise ModelError(f"{name}: exists on a condition, which cannot be written")


def connections_of(assembly: Assembly) -> Iterator[tuple[Connector, Connector]]:
    """Connections between connectors that are not switched off."""
    for a, b in assembly.connections:
        if all(_enabled(connector) for connector in (a, b)):
            yield a, b


def _enabled(connector: Connector) -> bool:
    return connector.port.name in connector.owner.ports()


def elements_of(connector: Connector) -> tuple[int, ...] | None:
    """Indices that a connector stands for, None for all of them."""
    if connector.elements is None or not isinstance(connector.port, Signal):
        return None
    shape = connector.port.shape(connector.owner)
    return None if connector.elements == tuple(range(shape[0] if shape else 1)) else connector.elements


def experiment_of(assembly: Assembly) -> dict[str, Any]:
    """Attributes of the experiment that differ from an assembly's defaults."""
    values = {name: getattr(assembly, name) for name in EXPERIMENT}
    return {name: value for name, value in values.items() if value != getattr(Assembly, name)}


def documentation_of(assembly: Assembly) -> str:
    """Documentation of an assembly, at least its one line."""
    doc = type(assembly).__doc__ or ""
    return doc.strip() or assembly.description


# -- Python


def to_python(assembly: Assembly) -> str:
    """A module with one class that makes this assembly.

    Raises:
        ModelError: something cannot be written.
    """
    check(assembly)
    return _Python(assembly).text()


class _Python:
    """Text of a module, and the imports that it turns out to need."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.imports: dict[str, set[str]] = {"mbfmu": {"Assembly"}}
        self.lists = _lists(assembly.parts)

    def text(self) -> str:
        body = list(self._body())
        doc = documentation_of(self.assembly).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        if doc.endswith('"'):
            doc += " "
        head, *more = doc.splitlines()
        doc = "\n".join([head, *(f"    {line.strip()}" if line.strip() else "" for line in more)])
        doc = f'"""{doc}\n    """' if more else f'"""{doc}"""'
        name = self.assembly.name
        if not name.isidentifier() or keyword.iskeyword(name) or any(name in names for names in self.imports.values()):
            name = re.sub(r"\W", "_", f"Model_{name}")
        experiment = [f"    {key} = {_literal(value)}" for key, value in experiment_of(self.assembly).items()]
        blocks = ["\n".join(self._imports()), "", "", f"class {name}(Assembly):", f"    {doc}", ""]
        blocks += [*experiment, ""] if experiment else []
        blocks += ["    def __init__(self):", *(body or ["        pass"])]
        return "\n".join(blocks) + "\n"

    def _imports(self) -> list[str]:
        lines = []
        for module in sorted(self.imports):
            names = sorted(self.imports[module])
            line = f"from {module} import {', '.join(names)}"
            if len(line) > WIDTH:
                line = "\n".join([f"from {module} import (", *(f"    {name}," for name in names), ")"])
            lines.append(line)
        return lines

    def _body(self) -> Iterator[str]:
        for name, port in self.assembly.ports().items():
            yield f"        self.{name} = {self._port(port)}"
        for name, part in self.assembly.parts.items():
            yield from self._part(name, part)
        for a, b in connections_of(self.assembly):
            yield from _call("        self.connect", [self._connector(a), self._connector(b)])
        for name, declared in self.assembly.inputs.items():
            target = declared.target
            places = [self._connector(one) for one in target] if isinstance(target, tuple) else self._connector(target)
            arguments = [_listed(places)]
            if isinstance(target, tuple) or name != target.path:
                arguments.append(_literal(name))
            arguments += [f"{key}={_literal(value)}" for key, value in _told(name, declared).items()]
            yield from _call("        self.input", arguments)
        for name, given in self.assembly.outputs.items():
            shown = [self._reference(one) for one in given] if isinstance(given, tuple) else self._reference(given)
            arguments = [_listed(shown)]
            if isinstance(given, tuple) or name != given.path:
                arguments.append(_literal(name))
            yield from _call("        self.output", arguments)
        for title, drawn in self.assembly.figures.items():
            yield from _call("        self.figure", self._figure(title, drawn))

    def _figure(self, title: str, drawn: Drawn) -> list[str]:
        named = any(legend for legend, _ in drawn.curves)
        shown = [(legend or reference.path, self._reference(reference)) for legend, reference in drawn.curves]
        inside = ", ".join(f"{_literal(legend)}: {one}" if named else one for legend, one in shown)
        arguments = [_literal(title), f"{{{inside}}}" if named else f"[{inside}]"]
        return [*arguments, f"caption={_literal(drawn.caption)}"] if drawn.caption else arguments

    def _part(self, name: str, part: Component) -> Iterator[str]:
        made = self._constructor(part)
        match = _ELEMENT.match(name)
        if match and match["base"] in self.lists:
            if match["index"] == "1":
                elements = [self.assembly.parts[n] for n in self.lists[match["base"]]]
                yield f"        self.{match['base']} = ["
                for element in elements:
                    yield from _call(f"            {self._class(type(element))}", self._arguments(element), ",")
                yield "        ]"
            return
        if _attribute(name):
            yield from _call(f"        self.{name} = {made[0]}", made[1])
        else:
            yield from _call("        self.add", [_literal(name), f"{made[0]}({', '.join(made[1])})"])

    def _constructor(self, part: Component) -> tuple[str, list[str]]:
        return self._class(type(part)), self._arguments(part)

    def _arguments(self, part: Component) -> list[str]:
        return [f"{name}={self._value(value)}" for name, value in modifiers_of(part).items()]

    def _value(self, value: Any) -> str:
        if isinstance(value, Start):
            self.imports["mbfmu"].add("Start")
            parts = [] if value.value is None else [_literal(value.value)]
            if value.fixed is not None:
                parts.append(f"fixed={_literal(value.fixed)}")
            return f"Start({', '.join(parts)})"
        if isinstance(value, Mapping):
            return "{" + ", ".join(f'"{name}": {self._value(v)}' for name, v in value.items()) + "}"
        return _literal(value)

    def _class(self, cls: type) -> str:
        """How the module calls a class, which it imports from the outermost package that shows it."""
        home = _home(cls)
        parent, _, leaf = home.rpartition(".")
        if home.count(".") >= 2:
            self.imports.setdefault(parent, set()).add(leaf)
            return f"{leaf}.{cls.__name__}"
        self.imports.setdefault(home, set()).add(cls.__name__)
        return cls.__name__

    def _port(self, port: Port) -> str:
        if isinstance(port, Signal):
            raise ModelError(f"{self.assembly.where}.{port.name}: a signal connector of an assembly cannot be written")
        arguments = [_literal(port.doc)]
        if isinstance(port, Flange) and port.motion:
            arguments.append("motion=True")
        return f"{self._class(type(port))}({', '.join(arguments)})"

    def _owner(self, component: Component) -> str:
        if component is self.assembly:
            return "self"
        outer, name = component._owner, component._name
        assert outer is not None
        before = self._owner(outer)
        match = _ELEMENT.match(name)
        if match and (outer is not self.assembly or match["base"] in self.lists):
            return f"{before}.{match['base']}[{int(match['index']) - 1}]"
        return f"{before}.{name}" if _attribute(name) else f"{before}.parts[{_literal(name)}]"

    def _connector(self, connector: Connector) -> str:
        base = f"{self._owner(connector.owner)}.{connector.port.name}"
        match = _ELEMENT.match(connector.port.name)
        if match:  # of a vector of frames
            return f"{self._owner(connector.owner)}.{match['base']}[{int(match['index']) - 1}]"
        elements = elements_of(connector)
        if elements is None:
            return base
        if len(elements) == 1:
            return f"{base}[{elements[0]}]"
        if elements != tuple(range(elements[0], elements[-1] + 1)):
            raise ModelError(f"{connector.path}: elements {elements} are no slice, which cannot be written")
        return f"{base}[{elements[0]}:{elements[-1] + 1}]"

    def _reference(self, reference: Reference) -> str:
        owner, rest = _resolve(reference, self.assembly)
        match = _INDEX.search(rest)
        name = rest[: match.start()] if match else rest
        index = f"[{', '.join(str(int(i) - 1) for i in match[1].split(','))}]" if match else ""
        first = name.partition(".")[0]
        known = owner.declarations.get(first)
        shown = f"{self._owner(owner)}.{name}"
        if isinstance(known, Variable) or (isinstance(known, Port) and "." in name):
            return shown + index
        if isinstance(known, Signal) and not index:
            return shown
        self.imports.setdefault("mbfmu.modeling.connectors", set()).add("Reference")
        return f"Reference(self, {_literal(reference.path)})"


def _told(name: str, given: AssemblyInput) -> dict[str, Any]:
    """What was said of an input beside its name and target."""
    told = {key: plain(getattr(given, key), name) for key in ("start", "min", "max", "unit")}
    return {key: value for key, value in told.items() if value is not None and (key != "start" or value != 0)}


def _listed(places: str | list[str]) -> str:
    """One place, or a list of them, as an argument."""
    return places if isinstance(places, str) else f"[{', '.join(places)}]"


def _resolve(reference: Reference, assembly: Assembly) -> tuple[Component, str]:
    """The component that a reference's variable belongs to, and the variable's name in it."""
    owner, rest = reference.owner, reference.name
    while True:
        inner = next((n for n in owner.parts if rest.startswith(f"{n}.")), None)
        if inner is None:
            return owner, rest
        owner, rest = owner.parts[inner], rest[len(inner) + 1 :]


def _lists(names: Iterable[str]) -> dict[str, list[str]]:
    """Arrays of parts, `gear[1]`, `gear[2]` ..., that stand together and in order."""
    names = list(names)
    found: dict[str, list[str]] = {}
    for name in names:
        match = _ELEMENT.match(name)
        if match and _attribute(match["base"]):
            found.setdefault(match["base"], []).append(name)
    complete = {}
    for base, elements in found.items():
        first = names.index(elements[0])
        ordered = [f"{base}[{i + 1}]" for i in range(len(elements))]
        if names[first : first + len(elements)] == ordered:
            complete[base] = elements
    return complete


def _attribute(name: str) -> bool:
    """True where a part of this name is assigned and read as an attribute."""
    return name.isidentifier() and not keyword.iskeyword(name) and not hasattr(Assembly, name)


def _home(cls: type) -> str:
    """The outermost module that shows a class in its `__all__`, else that of its definition."""
    pieces = cls.__module__.split(".")
    for size in range(1, len(pieces)):
        name = ".".join(pieces[:size])
        module = importlib.import_module(name)
        if cls.__name__ in getattr(module, "__all__", ()) and getattr(module, cls.__name__, None) is cls:
            return name
    return cls.__module__


def _call(function: str, arguments: list[str], end: str = "") -> Iterator[str]:
    """Lines of a call: one, or one per argument where one would be too long."""
    line = f"{function}({', '.join(arguments)}){end}"
    if len(line) <= WIDTH or not arguments:
        yield line
        return
    indent = " " * (len(function) - len(function.lstrip()))
    yield f"{function}("
    for argument in arguments:
        yield f"{indent}    {argument},"
    yield f"{indent}){end}"


def _literal(value: Any) -> str:
    """Python text of a plain value."""
    if isinstance(value, tuple):
        inner = ", ".join(_literal(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


# -- TOML


def to_toml(assembly: Assembly) -> str:
    """An assembly file that says the same.

    Raises:
        ModelError: something cannot be written.
    """
    check(assembly)
    if assembly.ports():
        port = next(iter(assembly.ports()))
        raise ModelError(
            f"{assembly.where}.{port}: assembly files have no connectors of their own; write a .py file instead"
        )
    head = {"name": assembly.name, "description": documentation_of(assembly)}
    sections = ["\n".join(f"{key} = {_toml(value)}" for key, value in head.items())]
    experiment = {EXPERIMENT[key]: value for key, value in experiment_of(assembly).items()}
    if experiment:
        sections.append(_table("[experiment]", experiment))
    for position, (name, part) in enumerate(assembly.parts.items()):
        kind, parameters = type(part).modelica_name, modifiers_of(part)
        if position == 0 and name == "world" and kind == "MultiBody.World":
            sections.append(_table("[world]", parameters))
            continue
        entry: dict[str, Any] = {"name": name, "class": kind}
        inline = f"parameters = {_toml(parameters)}"
        if not parameters:
            sections.append(_table("[[component]]", entry))
        elif len(inline) <= WIDTH:
            sections.append(_table("[[component]]", entry) + "\n" + inline)
        else:
            sections.append(_table("[[component]]", entry) + "\n" + _table("[component.parameters]", parameters))
    for a, b in connections_of(assembly):
        sections.append(_table("[[connect]]", {"a": _place(a), "b": _place(b)}))
    for name, declared in assembly.inputs.items():
        target = declared.target
        places = tuple(map(_place, target)) if isinstance(target, tuple) else _place(target)
        entry = {"variable": places} if name == places else {"name": name, "variable": places}
        sections.append(_table("[[input]]", entry | _told(name, declared)))
    for name, given in assembly.outputs.items():
        paths = tuple(one.path for one in given) if isinstance(given, tuple) else given.path
        entry = {"variable": paths} if name == paths else {"name": name, "variable": paths}
        sections.append(_table("[[output]]", entry))
    for title, drawn in assembly.figures.items():
        named = any(legend for legend, _ in drawn.curves)
        curves: Any = [reference.path for _, reference in drawn.curves]
        if named:
            curves = {legend or reference.path: reference.path for legend, reference in drawn.curves}
        figure = {"title": title, "curves": curves} | ({"caption": drawn.caption} if drawn.caption else {})
        sections.append(_table("[[figure]]", figure))
    return "\n\n".join(sections) + "\n"


def _place(connector: Connector) -> str:
    """A connector's path, with its elements counted from 1."""
    elements = elements_of(connector)
    if elements is None:
        return connector.path
    if elements != tuple(range(elements[0], elements[-1] + 1)):
        raise ModelError(f"{connector.path}: elements {elements} are no slice, which cannot be written")
    last = f":{elements[-1] + 1}" if len(elements) > 1 else ""
    return f"{connector.path}[{elements[0] + 1}{last}]"


def _table(head: str, entries: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{key} = {_toml(value)}" for key, value in entries.items())])


def _toml(value: Any) -> str:
    """TOML text of a plain value."""
    if isinstance(value, Start):
        value = {"start": value.value, "fixed": value.fixed}
    if isinstance(value, Mapping):
        shown = [f"{key} = {_toml(v)}" for key, v in value.items() if v is not None]
        return "{ " + ", ".join(shown) + " }"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
    return repr(value)
