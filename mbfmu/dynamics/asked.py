"""What later stages ask of a system: they are listed here, and ask for nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca

from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.showing.drawing import Sketches
from mbfmu.dynamics.showing.interface import shown
from mbfmu.dynamics.structure.constraint_rows import closed_loops
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.dynamics.structure.wanted import Wanted
from mbfmu.modeling import leaves
from mbfmu.modeling.formulas import Formula


def asked(structure: Structure, energy: bool = False, sketches: Sequence[Sketches] = ()) -> Wanted:
    """Ask all components.

    Args:
        structure: who is where.
        energy: powers and energies are wanted, too.
        sketches: what components draw.

    Raises:
        ModelError: a variable that nothing gives a value.
    """
    behaviours = structure.behaviours.items()
    said = (formula for path, behaviour in behaviours for formula in _said(structure, path, behaviour))
    return Wanted(
        shown(structure, energy),
        closed_loops(structure),
        [balance for key in structure.unknowns.v for balance in structure.balances(key)],
        [*_rates(structure), *said, *(sketch.formula(structure) for sketch in sketches)],
    )


def _rates(structure: Structure) -> Iterator[Formula]:
    for key in structure.unknowns.v:
        yield structure.speed_rate(key)
    for own in structure.unknowns.z:
        yield structure.target(own.path, leaves.StateRate(str(own.leaf)))


def _said(structure: Structure, path: str, behaviour: Behaviour) -> Iterator[Formula]:
    """What the equations of a component say beside what they assign."""
    said = [
        *behaviour.conditions,
        *(expression for expression, _ in (*behaviour.initial, *behaviour.checks, *behaviour.endings)),
        *behaviour.times,
        *behaviour.switches,
        *(part for delay in behaviour.delays for part in (delay.signal, delay.time, delay.most)),
        *behaviour.before,
        *(kept.start for kept in behaviour.held if kept.start is not None),
        *behaviour.energies.values(),
        *(kinetic for kinetic, _ in behaviour.on_top),
    ]
    for expression in said:
        yield structure.local(path, expression)
    # Of what events make, values before them are given by then (mbfmu.dynamics.events.updates).
    before: dict[leaves.Leaf, Formula] = {
        leaves.Pre(i): Formula.constant(ca.SX(0)) for i in range(len(behaviour.before))
    }
    changed = [part for reset in behaviour.resets for part in (reset.active, reset.value)]
    changed += [part for impact in behaviour.impacts for part in impact.parts]
    for expression in (*changed, *(kept.rule for kept in behaviour.held)):
        yield structure.local(path, expression, before)
    for reset in behaviour.resets:
        yield structure.variable(path, reset.name)
    if path in structure.topology.free_joints:  # which is no component of the assembly, and has start values
        for name in behaviour.component.variables():
            yield structure.variable(path, name)
