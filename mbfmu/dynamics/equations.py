"""Equations: the numeric functions of the contract, from the expressions of all stages."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import casadi as ca

from mbfmu.dynamics.accelerations import Accelerations
from mbfmu.dynamics.constraints import Constraints, chosen
from mbfmu.dynamics.delays import Delays
from mbfmu.dynamics.inputs import Inputs
from mbfmu.dynamics.motion import Motion
from mbfmu.dynamics.parameters import Parameters
from mbfmu.dynamics.starts import InitialProblem
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.dynamics.unknowns import Unknowns, elements
from mbfmu.dynamics.updates import Updates
from mbfmu.dynamics.vectors import Vectors
from mbfmu.errors import ModelError
from mbfmu.modeling.assembly import Assembly
from mbfmu.modeling.names import heading, joined, of
from mbfmu.runtime.contract import SOLVERS
from mbfmu.runtime.equations import Equations


@dataclasses.dataclass(frozen=True)
class Events:
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
    def of(cls, sweeps: Sweeps, parameters: Parameters, constraints: Constraints) -> Events:
        """Ask all components."""
        crossings, times, checks = parameters.resolve(
            [
                sweeps.of_all(lambda behaviour: behaviour.switches),
                sweeps.of_all(lambda behaviour: behaviour.times),
                sweeps.of_all(
                    lambda behaviour: (expression for expression, _ in (*behaviour.checks, *behaviour.endings))
                ),
            ]
        )
        crossings, checks = constraints.without_dropped([crossings, checks])
        settable = dict(_nonzero(sweeps, parameters))
        of_time: list[bool] = []
        names: list[str] = []
        messages: list[str] = []
        endings: list[bool] = []
        for path, behaviour in sweeps.behaviours.items():
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
        for message, margin in _found_within(sweeps, parameters):
            checks, messages, endings = ca.vertcat(checks, margin), [*messages, message], [*endings, False]
        return cls(crossings, tuple(of_time), tuple(names), times, checks, tuple(messages), tuple(endings))

    def of_the_clock(self) -> Events:
        """Only switches of time, as long as nothing but positions and speeds are sought; all others have mode 1."""
        crossings = ca.vertcat(
            ca.SX(0, 1), *(c if k else 0 for c, k in zip(elements(self.crossings), self.time_switches, strict=True))
        )
        nothing = ca.SX(0, 1)
        return dataclasses.replace(
            self, crossings=crossings, times=nothing, assertions=nothing, messages=(), endings=()
        )


def _nonzero(sweeps: Sweeps, parameters: Parameters) -> Iterator[tuple[str, ca.SX]]:
    """Parameters that must not be 0, with their names: FMI's bounds cannot say so."""
    everything, seen = elements(parameters.all), set()
    for component in sweeps.topology.all_components:
        for name, declaration in component.parameters().items():
            if not declaration.nonzero or declaration.structural or declaration.animation:
                continue
            for symbol in elements(component.symbol(name)):
                place = parameters.place(parameters.source(symbol))
                if place is not None and place not in seen:
                    seen.add(place)
                    yield joined(component.path, name), everything[place]


def _found_within(sweeps: Sweeps, parameters: Parameters) -> Iterator[tuple[str, ca.SX]]:
    """Of open parameters with bounds, how far within these the values lie that initialisation finds."""
    for component in sweeps.topology.all_components:
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


def _once(values: list[ca.SX]) -> list[ca.SX]:
    """Results whose common parts are computed once."""
    return list(ca.cse(values)) if any(value.numel() for value in values) else values


def equations(
    assembly: Assembly,
    unknowns: Unknowns,
    inputs: Inputs,
    parameters: Parameters,
    motion: Motion,
    constraints: Constraints,
    initial: InitialProblem,
    accelerations: Accelerations,
    events: Events,
    updates: Updates,
    delays: Delays,
    rates: ca.SX,
    outputs: ca.SX,
    nominals: tuple[float, ...] = (),
) -> Equations:
    """The record that a runtime needs.

    Args:
        rates: dx/dt.
        outputs: all that can be seen and is no state, input, parameter, acceleration or multiplier.
        nominals: nominal values of the states.
        assembly, unknowns, inputs, parameters, motion, constraints, initial, accelerations: stages.
        events, updates, delays: stages.
    """
    vectors = Vectors.of(unknowns, inputs, parameters)
    t, x, P, w = vectors.t, vectors.x, vectors.P, accelerations.w
    standard, dv = vectors.arguments, ca.SX.sym("dv", vectors.v.numel())
    (position_rates,) = parameters.resolve([motion.position_rates])
    velocity = chosen(constraints.velocity, constraints.kept)
    results: dict[str, tuple[list[ca.SX], list[ca.SX]]] = {
        "guess": ([P], [initial.guess]),
        "derivatives": ([*standard, w], [rates]),
        "displacement": ([t, x, P, dv], [ca.substitute(position_rates, vectors.v, dv)]),
        "constraints": (
            standard,
            [
                chosen(constraints.position, constraints.kept_positions),
                velocity,
                ca.SX(0, vectors.v.numel()) if accelerations.along_forces else ca.jacobian(velocity, vectors.v),
            ],
        ),
        "redundant": (standard, [chosen(constraints.position, constraints.dropped_positions)]),
        "next_times": ([t, P, vectors.m], [events.times]),
        "crossings": ([*standard, w], [events.crossings]),
        "held": ([P], [updates.start]),
        "update": ([*standard, w, updates.m_before, updates.w_before], [updates.held, updates.states]),
        "delayed": ([*standard, w], [delays.signals]),
        "delays": (standard, [delays.times, delays.longest]),
        "variables": ([*standard, w], [outputs]),
        "assertions": ([*standard, w], [events.assertions]),
    }
    functions = {
        name: ca.Function(name, arguments, _once([ca.densify(value) for value in values]))
        for name, (arguments, values) in results.items()
    }
    functions["derived"] = parameters.derive
    functions["initial"] = initial.function(vectors)
    functions["dynamics"] = accelerations.dynamics(vectors)
    if assembly.solver not in SOLVERS:
        raise ModelError(f'{assembly.name}: solver "{assembly.solver}" is none of {", ".join(SOLVERS)}')
    return Equations(
        name=assembly.name,
        quaternions=unknowns.quaternion_offsets,
        free=parameters.open,
        fixed=initial.fixed,
        given=initial.given,
        weights=initial.weights,
        unknown_names=initial.unknown_names,
        equation_names=initial.names,
        redundancies=constraints.choice.redundancies,
        position_redundancies=constraints.choice.position_redundancies,
        constraint_sizes=constraints.choice.sizes,
        velocity_names=tuple(constraints.names[i] for i in constraints.kept),
        redundant_names=tuple(constraints.names[i] for i in constraints.dropped_positions),
        explicit=accelerations.is_recursive,
        blocks=accelerations.blocks,
        sparsity=accelerations.sparsity,
        pivots=accelerations.pivots,
        time_switches=events.time_switches,
        switch_names=events.names,
        held_names=updates.names,
        delay_names=delays.names,
        fixed_delays=delays.fixed,
        assertion_messages=events.messages,
        endings=events.endings,
        nominals=nominals,
        parameters=parameters.defaults,
        inputs=(*inputs.starts, *(0.0,) * len(delays.names)),
        start_time=assembly.start_time,
        stop_time=assembly.stop_time,
        tolerance=assembly.tolerance,
        interval=assembly.interval or 0.0,
        solver=assembly.solver,
        functions=functions,
    )
