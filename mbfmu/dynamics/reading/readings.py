"""Readings: the equations of components are run, once for all that would say the same."""

from __future__ import annotations

import dataclasses
from typing import Any

from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.reading.equation_context import Facts, open_scope
from mbfmu.dynamics.reading.notes import Asked, Notes
from mbfmu.errors import ModelError
from mbfmu.modeling.component import Component
from mbfmu.modeling.connectors import Signal, SignalOutput
from mbfmu.modeling.declarations import State
from mbfmu.modeling.leaves import (
    StateRate,
    Value,
)
from mbfmu.modeling.user_code import told

#: Readings of one class that are kept: where there are more, looking for the right one costs what it saves.
FORMS = 8


def evaluate(component: Component, facts: Facts) -> Behaviour:
    """Run the equations of an elementary component in a fresh scope and return what they say; it is not changed."""
    return _evaluated(component, facts, Notes(component))


def _evaluated(component: Component, facts: Facts, notes: Notes) -> Behaviour:
    scope = open_scope(component, facts, notes)
    equations = getattr(scope, "equations", None)
    if not (equations is None or callable(equations)):
        raise ModelError(
            f"{component.where}: equations of {type(component).__name__} is {equations!r:.60}; it is to be a method, "
            "def equations(self): ..."
        )
    if equations is None:
        raise ModelError(f"{component.where}: {type(component).__name__} has neither equations() nor build()")
    with told(lambda: f"{component.where}: the equations of {type(component).__name__} fail"):
        equations()
    behaviour = notes.behaviour()
    if not component.is_composite:
        _refuse_open(component, behaviour)
    return behaviour


class Readings:
    """What the equations of components say: run once for all of a class that they would ask the same of."""

    def __init__(self) -> None:
        self._known: dict[type, list[_Reading]] = {}

    def of(self, component: Component, facts: Facts) -> Behaviour:
        """What the equations of a component say."""
        known = self._known.setdefault(type(component), [])
        declared = _declared(component)
        for reading in known:
            if reading.fits(component, facts, declared):
                return dataclasses.replace(reading.behaviour, component=component)
        notes = Notes(component)
        behaviour = _evaluated(component, facts, notes)
        if len(known) < FORMS and not notes.asked.is_personal and facts.free_joint is None:
            known.append(_Reading(behaviour, notes.asked, facts, declared))
        return behaviour


@dataclasses.dataclass(frozen=True)
class _Reading:
    """A behaviour, and all that it follows from."""

    behaviour: Behaviour
    asked: Asked
    facts: Facts
    declared: Any

    def fits(self, component: Component, facts: Facts, declared: Any) -> bool:
        """Would the equations of another component of the class say the same?"""
        return (
            (facts, declared) == (self.facts, self.declared)
            and component._outers == self.behaviour.speaker._outers
            and self.asked.answers_alike(component)
        )


def _declared(component: Component) -> Any:
    """Connectors and variables that a component has, as far as components of one class differ in them."""
    ports = component.ports()
    sizes = [port.size(component) for port in ports.values() if isinstance(port, Signal)]
    variables = {name: (d.leaf(component), d.shape(component)) for name, d in component.variables().items()}
    return ports, sizes, variables


def _refuse_open(component: Component, behaviour: Behaviour) -> None:
    """Refuse equations that leave an output or the rate of a state open."""
    missing = [
        name
        for name, port in component.ports().items()
        if isinstance(port, SignalOutput) and Value(name) not in behaviour.targets
    ]
    for name, variable in component.variables().items():
        if isinstance(variable, State) and variable.leaf(component) and StateRate(name) not in behaviour.targets:
            missing.append(f"der.{name}")
    if missing:
        raise ModelError(
            f"{component.where}: the equations of {type(component).__name__} do not assign {', '.join(missing)}; give "
            "each a value"
        )
