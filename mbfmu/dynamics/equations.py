"""Equations: the numeric functions of the contract, from the expressions of all stages."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.events.delays import Delays
from mbfmu.dynamics.events.impacts import Impacts
from mbfmu.dynamics.events.updates import Updates
from mbfmu.dynamics.events.watched import Watched
from mbfmu.dynamics.expressions.constraints import chosen
from mbfmu.dynamics.expressions.formulation import Formulation
from mbfmu.dynamics.solving.accelerations import Accelerations
from mbfmu.dynamics.starting.initial_problem import InitialProblem
from mbfmu.modeling.assembly import Assembly
from mbfmu.runtime.cse import cse
from mbfmu.runtime.equations import Equations


@dataclasses.dataclass(frozen=True)
class Stages:
    """What was made of a formulation: accelerations, the initial problem, and what happens at instants."""

    accelerations: Accelerations
    initial: InitialProblem
    watched: Watched
    updates: Updates
    delays: Delays
    impacts: Impacts


def equations(
    assembly: Assembly,
    formulation: Formulation,
    stages: Stages,
    rates: ca.SX,
    outputs: ca.SX,
    nominals: tuple[float, ...] = (),
) -> Equations:
    """The record that a runtime needs.

    Args:
        rates: dx/dt.
        outputs: all that can be seen and is no state, input, parameter, acceleration or multiplier.
        nominals: nominal values of the states.
        assembly, formulation, stages: what it is made of.
    """
    vectors, parameters, constraints = formulation.vectors, formulation.parameters, formulation.constraints
    accelerations, initial, watched = stages.accelerations, stages.initial, stages.watched
    updates, delays, iterations = stages.updates, stages.delays, formulation.iterations
    t, x, P, w = vectors.t, vectors.x, vectors.P, accelerations.w
    standard, dv = vectors.arguments, ca.SX.sym("dv", vectors.v.numel())
    (position_rates,) = parameters.resolve([formulation.motion.position_rates])
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
        "next_times": ([t, P, vectors.m], [watched.times]),
        "crossings": ([*standard, w], [watched.crossings]),
        "held": ([P], [updates.start]),
        "update": ([*standard, w, updates.m_before, updates.w_before], [updates.held, updates.states]),
        "delayed": ([*standard, w], [delays.signals]),
        "delays": (standard, [delays.times, delays.longest]),
        "iteration_guess": ([P], [iterations.guess]),
        "iterations": ([*standard, w], [iterations.residual, iterations.slope]),
        "variables": ([*standard, w], [outputs]),
        "assertions": ([*standard, w], [watched.assertions]),
    }
    if stages.impacts.points:
        results["impacts"] = ([*standard, w], list(stages.impacts.results))
    functions = {
        name: ca.Function(name, arguments, cse([ca.densify(column) for column in columns]))
        for name, (arguments, columns) in results.items()
    }
    functions["derived"] = parameters.derive
    functions["initial"] = initial.function(vectors)
    functions["dynamics"] = accelerations.dynamics(vectors)
    return Equations(
        name=assembly.name,
        quaternions=formulation.values.unknowns.quaternion_offsets,
        free=parameters.open,
        fixed=initial.fixed,
        given=initial.given,
        weights=initial.weights,
        unknown_names=initial.unknown_names,
        equation_names=initial.names,
        equation_sizes=initial.sizes,
        equation_stages=initial.stages,
        initial_parts=initial.parts,
        redundancies=constraints.choice.redundancies,
        position_redundancies=constraints.choice.position_redundancies,
        constraint_sizes=constraints.choice.sizes,
        velocity_names=tuple(constraints.names[i] for i in constraints.kept),
        redundant_names=tuple(constraints.names[i] for i in constraints.dropped_positions),
        explicit=accelerations.is_recursive,
        blocks=accelerations.blocks,
        sparsity=accelerations.sparsity,
        pivots=accelerations.pivots,
        time_switches=watched.time_switches,
        switch_names=watched.names,
        held_names=updates.names,
        points=stages.impacts.points,
        struck_speeds=stages.impacts.struck_speeds,
        impulse_speeds=stages.impacts.impulse_speeds,
        delay_names=delays.names,
        fixed_delays=delays.fixed,
        iteration_blocks=iterations.blocks,
        iteration_names=iterations.names,
        iteration_nominals=iterations.nominals,
        start_iterations=initial.iterates,
        assertion_messages=watched.messages,
        endings=watched.endings,
        nominals=nominals,
        parameters=parameters.defaults,
        inputs=formulation.values.start_inputs,
        start_time=assembly.start_time,
        stop_time=assembly.stop_time,
        tolerance=assembly.tolerance,
        interval=assembly.interval or 0.0,
        solver=assembly.solver,
        functions=functions,
    )
