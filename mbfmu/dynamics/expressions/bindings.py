"""Bindings of classes, worked out once for all components for which they read the same.

A binding such as `lambda self: self.density * self.volume` gives expressions that differ from component to component in
their symbols only. So it is run for the first of them, with a reader in place of the component, which takes down the
parameters that it asks for; wherever else these are alike, its expressions are taken over with other symbols, in a
fraction of the time. One that asks for anything but parameters is run every time.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.frames import Orientation
from mbfmu.modeling.component import Component
from mbfmu.modeling.declarations import Parameter

#: Forms of one binding that are kept: where there are more, looking for the right one costs what it saves.
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
    """What a binding gave: the values of parameters that it read, and its expressions as a function of the symbols."""

    values: dict[str, Any]
    function: ca.Function
    is_orientation: bool

    @classmethod
    def of(cls, reader: _Reader, result: Any) -> _Form | None:
        """None where it cannot be taken over by others."""
        is_orientation = isinstance(result, Orientation)
        results = [result.T, result.w] if is_orientation else [result]
        if not vars(reader)["_knows_parameters_only"] or not all(isinstance(part, ca.SX) for part in results):
            return None
        values: dict[str, Any] = vars(reader)["_values"]
        function = ca.Function("binding", _symbols(values), results, {"allow_free": True})
        return None if function.has_free() else cls(values, function, is_orientation)

    def for_other(self, component: Component) -> Any:
        """What the binding gives for another component; None where it would read something else."""
        symbols = []
        for name, value in self.values.items():
            declaration = component.declarations[name]
            assert isinstance(declaration, Parameter)
            if declaration.structural:
                if not _are_alike(value, component.value(name)):
                    return None
                continue
            symbol = component.plain_symbol(name)
            if symbol.shape != (value.T if isinstance(value, Orientation) else value).shape:
                return None
            symbols.append(symbol)
        results = self.function.call(symbols)
        return Orientation(*results) if self.is_orientation else results[0]


class Bindings:
    """Values of parameters, those that classes bind by the form of their bindings."""

    def __init__(self) -> None:
        self._forms: dict[Parameter, list[_Form]] = {}

    def value(self, component: Component, name: str) -> Any:
        """`component.value(name)`."""
        declaration = component.declarations[name]
        assert isinstance(declaration, Parameter)
        is_own = type(component).value is not Component.value
        if is_own or component.is_given(name) or not callable(declaration.default):
            return component.value(name)
        forms = self._forms.setdefault(declaration, [])
        for form in forms:
            found = form.for_other(component)
            if found is not None:
                return found
        reader = _Reader(component)
        result = component.value_to(reader, name)
        new = _Form.of(reader, result)
        if new is not None and len(forms) < FORMS:
            forms.append(new)
        return result


def _symbols(values: dict[str, Any]) -> list[ca.SX]:
    parts = [value.T if isinstance(value, Orientation) else value for value in values.values()]
    return [part for part in parts if isinstance(part, ca.SX)]


def _are_alike(one: Any, other: Any) -> bool:
    """Are two values of a structural parameter the same?"""
    return type(one) is type(other) and bool(np.array_equal(one, other))
