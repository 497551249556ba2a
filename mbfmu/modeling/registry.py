"""The registry: component classes by Modelica name, and gallery assemblies by name, found through entry points.

A package of your own extends it with the same groups: `mbfmu.components` names modules whose `__all__` holds classes
with a `modelica_name`, `mbfmu.assemblies` names assembly classes.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points

from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.component import Component


@functools.cache
def component_classes() -> dict[str, type[Component]]:
    """Modelica name (without `Modelica.` and `Mechanics.`) -> class, of all installed packages.

    Raises:
        ModelError: an entry point cannot be loaded, or two packages give one name to different classes.
    """
    found: dict[str, type[Component]] = {}
    for entry in entry_points(group="mbfmu.components"):
        module = _loaded(entry)
        if not isinstance(module, types.ModuleType):
            raise ModelError(f"entry point {entry.name} = {entry.value}: must name a module with component classes")
        for cls in _classes_of(module):
            name = cls.modelica_name
            if name is None:
                continue
            if found.setdefault(name, cls) is not cls:
                raise ModelError(
                    f"{name}: is both {found[name].__module__}.{found[name].__qualname__} and "
                    f"{cls.__module__}.{cls.__qualname__}; give one of them another modelica_name"
                )
    return found


def _classes_of(module: types.ModuleType) -> Iterator[type[Component]]:
    for name in getattr(module, "__all__", ()):
        value = getattr(module, name, None)
        if isinstance(value, types.ModuleType) and value.__name__.startswith(f"{module.__name__}."):
            yield from _classes_of(value)
        elif inspect.isclass(value) and issubclass(value, Component):
            yield value


class _Gallery(Mapping[str, type[Assembly]]):
    """Classes by names, which are known at once; each is loaded when it is asked for."""

    def __init__(self, entries: Iterable[EntryPoint]) -> None:
        self._entries = {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}

    def __getitem__(self, name: str) -> type[Assembly]:
        entry = self._entries[name]
        cls = _loaded(entry)
        if not (inspect.isclass(cls) and issubclass(cls, Assembly)):
            raise ModelError(f"entry point {entry.name} = {entry.value}: must name an Assembly class")
        return cls

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


@functools.cache
def assemblies() -> Mapping[str, type[Assembly]]:
    """Gallery name -> assembly class, of all installed packages.

    To ask for a class raises ModelError where its entry point cannot be loaded, or names no assembly.
    """
    return _Gallery(entry_points(group="mbfmu.assemblies"))


def _loaded(entry: EntryPoint) -> object:
    try:
        return entry.load()
    except ModuleNotFoundError as error:
        if not entry.value.startswith(str(error.name)):
            raise
        raise ModelError(
            f"entry point {entry.name} = {entry.value}: {error}; reinstall the package that it belongs to"
        ) from error


def component_class(name: str) -> type[Component]:
    """Class of a Modelica name; `Modelica.` and `Mechanics.` in front are ignored.

    Raises:
        ModelError: no installed package has it.
    """
    from mbfmu.messages import suggestion

    short = name
    for prefix in ("Modelica.", "Mechanics."):
        short = short.removeprefix(prefix)
    classes = component_classes()
    if short not in classes:
        full = sorted((known for known in classes if last(known) == last(short)), key=nearest)
        if full:
            raise ModelError(f"no component class {name}: write its full name, {' or '.join(full)}")
        raise ModelError(f"no component class {name}: {suggestion(short, classes, 'mbfmu list')}")
    return classes[short]


def class_of_file(name: str) -> type[Component]:
    """As `component_class`, by the end of a name, too, where one class has it: `Revolute` as in Python.

    Of several the one that users begin with counts, a joint before its constraint.

    Raises:
        ModelError: no installed package has it, or several are equally near.
    """
    classes = component_classes()
    ending = sorted((known for known in classes if known.endswith(f".{name}")), key=nearest)
    if name not in classes and ending and [nearest(one)[:2] for one in ending].count(nearest(ending[0])[:2]) == 1:
        return classes[ending[0]]
    return component_class(name)


def nearest(name: str) -> tuple[bool, int, str]:
    """Sorts classes of one name: what users begin with comes first, a joint before its constraint."""
    return "Examples" in name, name.count("."), name


def last(name: str) -> str:
    """The last part of a name."""
    return name.rpartition(".")[2]


__all__ = ["assemblies", "class_of_file", "component_class", "component_classes"]
