"""Energy and power: the bond-graph view of a system, power through a connector being effort times flow.

What flows into a component through its connectors is stored, or leaves it: in a damper as heat, in a source as work
from outside. Connections and ideal joints keep nothing. The balance error adds all this up; it is zero but for rounding
as long as forces and motions belong together, so it checks component equations against each other.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

import casadi as ca

from mbfmu.dynamics.reading.behaviour import Behaviour
from mbfmu.dynamics.structure.quantities import Shared
from mbfmu.dynamics.structure.structure import Structure
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import Flange, Shown
from mbfmu.modeling.formulas import Formula
from mbfmu.modeling.types import Energy, Power


def connector_powers(structure: Structure, path: str) -> Iterator[Shown]:
    """Power into a component through each of its mechanical connectors."""
    for name, port in structure.flat.components[path].ports().items():
        power = port.power(structure, path)
        if power is not None:
            yield f"{name}.power", Power, f"Power into the component through {name}", (), power


def energy_totals(structure: Structure) -> Iterator[Shown]:
    """Energies, power out and in, and the balance error."""
    totals: tuple[list[Formula], ...] = ([], [], [], [])
    kinetic, potential, outflow, error = totals
    for path in structure.flat.elementary:
        behaviour = structure.behaviours[path]
        inflow = _sum([power for *_, power in connector_powers(structure, path)])
        if behaviour.energies:
            names = ("kinetic", "potential", "supplied", "dissipated")
            stored = behaviour.derivative(behaviour.energies["kinetic"] + behaviour.energies["potential"])
            own = [structure.local(path, behaviour.energies[name]) for name in names]
            kinetic.append(own[0])
            potential.append(own[1])
            outflow.append(own[3])
            kept = structure.local(path, stored)
            error.append(Formula.combined(lambda p, s, d, k: p + s - d - k, inflow, own[2], own[3], kept))
        elif _is_source(behaviour):
            outflow.append(inflow)
        else:
            error.append(inflow)  # an ideal joint or gear keeps nothing
    own_flanges = (name for name, port in structure.flat.root.ports().items() if isinstance(port, Flange))
    outside = _sum([_power_from_outside(structure, name) for name in own_flanges])
    of_motion = Formula.of(Shared("kinetic energy", _sum(kinetic)))
    of_place = Formula.of(Shared("potential energy", _sum(potential)))
    for name, doc, formula in (
        ("kinetic", "Kinetic energy of the system", of_motion),
        ("potential", "Potential energy of the system", of_place),
        ("total", "Mechanical energy of the system", _sum([of_motion, of_place])),
    ):
        yield f"energy.{name}", Energy, doc, (), formula
    for name, doc, formula in (
        ("outflow", "Power that leaves the system: losses, and work done on sources", _sum(outflow)),
        ("inflow", "Power that enters the system through its own flanges", outside),
        (
            "balanceError",
            "Power into all bodies, springs and ideal joints that their stored energy does not account for: zero but "
            "for rounding",
            _sum(error),
        ),
    ):
        yield f"energy.{name}", Power, doc, (), formula


def _sum(parts: Sequence[Formula]) -> Formula:
    return Formula.combined(lambda *values: sum(values, ca.SX.zeros(1)), *parts)


def _is_source(behaviour: Behaviour) -> bool:
    """True for a component that gives loads or prescribes motions of its own."""
    return any(
        isinstance(target, leaves.Load | leaves.Effort)
        or (isinstance(target, leaves.Prescribed) and not behaviour.motions)
        for target in behaviour.targets
    )


def _power_from_outside(structure: Structure, name: str) -> Formula:
    """Power into the assembly through one of its own flanges."""
    node = structure.topology.flange_node("", name)
    if node.number in structure.inputs.flows:
        flow = structure.from_outside(node.number)
    else:
        flow = Formula.combined(operator.neg, structure.outside_flow("", name))
    return Formula.combined(operator.mul, flow, structure.scalar(node, 1))
