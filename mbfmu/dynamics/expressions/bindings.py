"""Bindings of classes, worked out once for all components for which they read the same.

A binding such as `lambda self: self.density * self.volume` gives expressions that differ from component to component in
their symbols only. So those of a class are run for the first of them, with a reader in place of the component, which
takes down the parameters that they ask for; wherever else these are alike, all their expressions are taken over at
once with other symbols, in a fraction of the time. One that asks for anything but parameters is run every time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any, cast

import casadi as ca
import numpy as np

from mbfmu.dynamics.columns import called, elements, hashes, shape, stacked, symbols_in
from mbfmu.frames import Orientation
from mbfmu.modeling.component import Component
from mbfmu.modeling.declarations import Parameter

#: Forms of a class's bindings that are kept: where there are more, looking for the right one costs what it saves.
FORMS = 8


class _Reader:
    """A component as its bindings see it, with notes of the parameters that they ask for."""

    def __init__(self, component: Component) -> None:
        self._component = component
        self._values: dict[str, Any] = {}
        self._knows_parameters_only = True

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # what isinstance asks
        return type(self._component)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._component, name)
        if isinstance(self._component.declarations.get(name), Parameter):
            self._values[name] = value
        else:
            self._knows_parameters_only = False
        return value


@dataclasses.dataclass(frozen=True)
class _Form:
    """What some bindings of a class gave: the values of parameters that they read, and a function of the symbols."""

    values: dict[str, Any]
    #: The bindings that can be taken over by others, and which of them are orientations.
    names: tuple[str, ...]
    are_orientations: tuple[bool, ...]
    function: ca.Function

    @classmethod
    def of(cls, readers: dict[str, _Reader], results: dict[str, Any]) -> _Form:
        """The form of what bindings of one component gave."""
        names = tuple(name for name, result in results.items() if _is_local(readers[name], result))
        values: dict[str, Any] = {}
        for name in names:
            values |= vars(readers[name])["_values"]
        are_orientations = tuple(isinstance(results[name], Orientation) for name in names)
        expressions = [part for name in names for part in _parts(results[name])]
        return cls(values, names, are_orientations, ca.Function("bindings", _symbols(values), expressions))

    def for_other(self, component: Component) -> dict[str, Any] | None:
        """What the bindings give for another component; None where they would read something else."""
        symbols = []
        for name, value in self.values.items():
            declaration = component.declarations[name]
            assert isinstance(declaration, Parameter)
            if declaration.structural:
                if not _are_alike(value, component.value(name)):
                    return None
                continue
            symbol = component.plain_symbol(name)
            if shape(symbol) != shape(value.T if isinstance(value, Orientation) else value):
                return None
            symbols.append(symbol)
        if not self.names:
            return {}
        results = iter(called(self.function, symbols))
        return {
            name: Orientation(next(results), next(results)) if is_orientation else next(results)
            for name, is_orientation in zip(self.names, self.are_orientations, strict=True)
        }


class Bindings:
    """Values of parameters, those that classes bind by the form of their bindings."""

    def __init__(self) -> None:
        self._forms: dict[tuple[type, tuple[str, ...]], list[_Form]] = {}

    def values(self, component: Component, names: Iterable[str]) -> dict[str, Any]:
        """`component.value(name)` of some of its parameters."""
        names = tuple(names)
        bound = () if type(component).value is not Component.value else self._bound(component, names)
        found = self._of_class(component, bound) if bound else {}
        return {name: found[name] if name in found else component.value(name) for name in names}

    @staticmethod
    def _bound(component: Component, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those that the class binds."""
        declarations = component.declarations
        return tuple(
            name
            for name in names
            if callable(cast("Parameter", declarations[name]).default) and not component.is_given(name)
        )

    def _of_class(self, component: Component, bound: tuple[str, ...]) -> dict[str, Any]:
        """What the class binds, as far as it is told by what a component before gave; all of it for the first."""
        forms = self._forms.setdefault((type(component), bound), [])
        for form in forms:
            found = form.for_other(component)
            if found is not None:
                return found
        readers = {name: _Reader(component) for name in bound}
        results = {name: component.value_to(reader, name) for name, reader in readers.items()}
        if len(forms) < FORMS:
            forms.append(_Form.of(readers, results))
        return results


def _is_local(reader: _Reader, result: Any) -> bool:
    """True for what others can take over: expressions of the component's own parameters."""
    if not vars(reader)["_knows_parameters_only"] or not all(isinstance(part, ca.SX) for part in _parts(result)):
        return False
    read = stacked(_symbols(vars(reader)["_values"]))
    return set(hashes(symbols_in(stacked(_parts(result))))) <= set(hashes(elements(read)))


def _parts(result: Any) -> list[Any]:
    return [result.T, result.w] if isinstance(result, Orientation) else [result]


def _symbols(values: dict[str, Any]) -> list[ca.SX]:
    parts = [value.T if isinstance(value, Orientation) else value for value in values.values()]
    return [part for part in parts if isinstance(part, ca.SX)]


def _are_alike(one: Any, other: Any) -> bool:
    """Are two values of a structural parameter the same?"""
    return type(one) is type(other) and bool(np.array_equal(one, other))
