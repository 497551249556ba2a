"""Energy and power: the bond-graph view of a system, power through a connector being effort times flow.

What flows into a component through its connectors is stored, or leaves it: in a damper as heat, in a source as work
from outside. Connections and ideal joints keep nothing. The balance error adds all this up; it is zero but for rounding
as long as forces and motions belong together, so it checks component equations against each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca

from mbfmu.dynamics.scope import Behaviour
from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.modeling import leaves
from mbfmu.modeling.connectors import Flange, Shown
from mbfmu.modeling.types import Energy, Power


def connector_powers(sweeps: Sweeps, path: str) -> Iterator[Shown]:
    """Power into a component through each of its mechanical connectors."""
    for name, port in sweeps.flat.components[path].ports().items():
        power = port.power(sweeps, path)
        if power is not None:
            yield f"{name}.power", Power, f"Power into the component through {name}", (), power


def energy_totals(sweeps: Sweeps) -> Iterator[Shown]:
    """Energies, power out and in, and the balance error."""
    kinetic, potential, outflow, error = (ca.SX.zeros(1) for _ in range(4))
    for path in sweeps.flat.elementary:
        behaviour = sweeps.behaviours[path]
        inflow = sum((power for *_, power in connector_powers(sweeps, path)), ca.SX.zeros(1))
        if behaviour.energies:
            names = ("kinetic", "potential", "supplied", "dissipated")
            stored = behaviour.derivative(behaviour.energies["kinetic"] + behaviour.energies["potential"])
            values = sweeps.substitute(path, [*(behaviour.energies[n] for n in names), stored])
            kinetic, potential = kinetic + values[0], potential + values[1]
            outflow += values[3]
            error += inflow + values[2] - values[3] - values[4]
        elif _is_source(behaviour):
            outflow += inflow
        else:
            error += inflow  # an ideal joint or gear keeps nothing
    own = (name for name, port in sweeps.flat.root.ports().items() if isinstance(port, Flange))
    outside = sum((_power_from_outside(sweeps, name) for name in own), ca.SX.zeros(1))
    for name, doc, value in (
        ("kinetic", "Kinetic energy of the system", kinetic),
        ("potential", "Potential energy of the system", potential),
        ("total", "Mechanical energy of the system", kinetic + potential),
    ):
        yield f"energy.{name}", Energy, doc, (), value
    for name, doc, value in (
        ("outflow", "Power that leaves the system: losses, and work done on sources", outflow),
        ("inflow", "Power that enters the system through its own flanges", outside),
        (
            "balanceError",
            "Power into all bodies, springs and ideal joints that their stored energy does not account for: zero but "
            "for rounding",
            error,
        ),
    ):
        yield f"energy.{name}", Power, doc, (), value


def _is_source(behaviour: Behaviour) -> bool:
    """True for a component that gives loads or prescribes motions of its own."""
    return any(
        isinstance(target, leaves.Load | leaves.Effort)
        or (isinstance(target, leaves.Prescribed) and behaviour.motion is None)
        for target in behaviour.targets
    )


def _power_from_outside(sweeps: Sweeps, name: str) -> ca.SX:
    """Power into the assembly through one of its own flanges."""
    node = sweeps.topology.flange_node("", name)
    taken = sweeps.inputs.flows.get(node.number)
    flow = -sweeps.outside_flow("", name) if taken is None else taken
    return flow * sweeps.scalar(node, 1)
