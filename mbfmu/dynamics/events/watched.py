"""What is watched while a model runs: switches, instants, assertions."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import casadi as ca

from mbfmu.dynamics.columns import elements
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.values import Values
from mbfmu.errors import ModelError
from mbfmu.messages import heading, of
from mbfmu.modeling.names import joined


@dataclasses.dataclass(frozen=True)
class Watched:
    """What is watched while the model runs."""

    #: A switch has mode 1 while its crossing function is >= 0; which of them depend on time and parameters only;
    #: and what they are called in messages.
    crossings: ca.SX
    time_switches: tuple[bool, ...]
    names: tuple[str, ...]
    #: Instants where something jumps or kinks.
    times: ca.SX
    #: Values that must not be negative, and what they say otherwise.
    assertions: ca.SX
    messages: tuple[str, ...]
    #: Which of them end the run as it should.
    endings: tuple[bool, ...]

    @classmethod
    def of(cls, formulation: Formulation) -> Watched:
        """Ask all components."""
        values, parameters = formulation.values, formulation.parameters
        crossings, times, checks = formulation.resolved(
            [
                values.of_all(lambda behaviour: behaviour.switches),
                values.of_all(lambda behaviour: behaviour.times),
                values.of_all(
                    lambda behaviour: (expression for expression, _ in (*behaviour.checks, *behaviour.endings))
                ),
            ]
        )
        _check_instants(values, parameters, times)
        settable = dict(_nonzero(values, parameters))
        of_time: list[bool] = []
        names: list[str] = []
        messages: list[str] = []
        endings: list[bool] = []
        for path, behaviour in values.behaviours.items():
            count = sum(expression.numel() for expression in behaviour.switches)
            names += [of("switch" if count == 1 else f"switch {i + 1}", path) for i in range(count)]
            for expression, is_of_time in zip(behaviour.switches, behaviour.of_time, strict=True):
                of_time += [is_of_time] * expression.numel()
            for expression, message in (*behaviour.checks, *behaviour.endings):
                messages += [f"{heading(path)}{message}"] * expression.numel()
            endings += [False] * sum(expression.numel() for expression, _ in behaviour.checks)
            endings += [True] * len(behaviour.endings)
        checks = ca.vertcat(checks, *(1 - 2 * (symbol == 0) for symbol in settable.values()))
        messages += [f"{name} = 0: must not be 0" for name in settable]
        endings += [False] * len(settable)
        for message, margin in _found_within(values, parameters):
            checks, messages, endings = ca.vertcat(checks, margin), [*messages, message], [*endings, False]
        return cls(crossings, tuple(of_time), tuple(names), times, checks, tuple(messages), tuple(endings))

    def of_the_clock(self) -> Watched:
        """Only switches of time, as long as nothing but positions and speeds are sought; all others have mode 1."""
        crossings = ca.vertcat(
            ca.SX(0, 1), *(c if k else 0 for c, k in zip(elements(self.crossings), self.time_switches, strict=True))
        )
        nothing = ca.SX(0, 1)
        return dataclasses.replace(
            self, crossings=crossings, times=nothing, assertions=nothing, messages=(), endings=()
        )


def _check_instants(values: Values, parameters: Parameters, times: ca.SX) -> None:
    """Refuse instants that depend on what changes between events, or on time itself: nobody could know them before.

    Raises:
        ModelError: there is one; the message names its component.
    """
    unknowns = values.unknowns
    if not times.numel():
        return
    known = ca.veccat(unknowns.time, parameters.all, *unknowns.modes.values(), *unknowns.held.values())
    hashes = {symbol.element_hash() for symbol in elements(known)}
    moves = not ca.jacobian(times, unknowns.time).is_zero()
    if not moves and all(symbol.element_hash() in hashes for symbol in ca.symvar(times)):
        return
    for path, behaviour in values.behaviours.items():
        for column in parameters.resolve(values.locals(path, behaviour.times)):
            for symbol in ca.symvar(column):
                if symbol.element_hash() not in hashes:
                    raise ModelError(
                        f"{heading(path)}time_event at {column!s:.60} depends on {symbol}, which changes between "
                        "events; give an instant of parameters and held values, or a switch, whose crossing is located"
                    )
            if not ca.jacobian(column, unknowns.time).is_zero():
                raise ModelError(
                    f"{heading(path)}time_event at {column!s:.60} moves on with time, and is never reached; give an "
                    "instant that stays where it is until it has passed, or a switch, whose crossing is located"
                )


def _nonzero(values: Values, parameters: Parameters) -> Iterator[tuple[str, ca.SX]]:
    """Parameters that must not be 0, with their names: FMI's bounds cannot say so."""
    everything, seen = (*parameters.symbols, *parameters.derived), set()
    for component in values.topology.all_components:
        for name, declaration in component.parameters().items():
            if not declaration.nonzero or declaration.structural or declaration.animation:
                continue
            for place in parameters.sources(component.path, name):
                if isinstance(place, int) and place not in seen:
                    seen.add(place)
                    yield joined(component.path, name), everything[place]


def _found_within(values: Values, parameters: Parameters) -> Iterator[tuple[str, ca.SX]]:
    """Of open parameters with bounds, how far within these the values lie that initialisation finds."""
    for component in values.topology.all_components if parameters.open else ():
        for name, declaration in component.parameters().items():
            if (declaration.min, declaration.max) == (None, None) or declaration.structural or declaration.animation:
                continue
            for symbol in elements(component.symbol(name)):
                number = parameters.number_of(symbol)
                if number not in parameters.open:
                    continue
                value = parameters.symbols[number]
                for bound, sign, word in ((declaration.min, 1, "least"), (declaration.max, -1, "greatest")):
                    if bound is not None:
                        yield (
                            f"what initialisation finds for {joined(component.path, name)} is out of bounds, its "
                            f"{word} is {bound:g}; change what it follows from, or give it a value",
                            sign * (value - bound) + 1e-9 * (1 + abs(bound)),
                        )
