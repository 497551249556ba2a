"""Energy and power: the bond-graph view of a system (seed 003), power through a connector being effort times flow.

What flows into a component through its connectors is stored, or leaves it: in a damper as heat, in a source as work
from outside. Connections and ideal joints keep nothing. The balance error adds all this up; it is zero but for rounding
as long as forces and motions belong together, so it checks component equations against each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca

from mbfmu.dynamics.sweeps import Sweeps
from mbfmu.modeling.connectors import Flange, Frame
from mbfmu.modeling.types import Energy, Power, Type

#: Name, type, sentence, value.
Quantity = tuple[str, Type, str, ca.SX]


class EnergyBalance:
    """Energies of a system and the power through each connector, as expressions."""

    def __init__(self, sweeps: Sweeps) -> None:
        self._sweeps = sweeps

    def connector_powers(self, path: str) -> Iterator[Quantity]:
        """Power into a component through each of its mechanical connectors."""
        for name in self._sweeps.flat.components[path].ports():
            power = self._power((path, name))
            if power is not None:
                yield f"{name}.power", Power, f"Power into the component through {name}", power

    def totals(self) -> Iterator[Quantity]:
        """Energies, power out and in, and the balance error."""
        sweeps = self._sweeps
        kinetic, potential, outflow, error = (ca.SX.zeros(1) for _ in range(4))
        for path in sweeps.flat.elementary:
            record = sweeps.records[path]
            inflow = sum((p for _, _, _, p in self.connector_powers(path)), ca.SX.zeros(1))
            if record.energies:
                names = ("kinetic", "potential", "supplied", "dissipated")
                stored = record.derivative(record.energies["kinetic"] + record.energies["potential"])
                values = sweeps.globalise(path, [*(record.energies[n] for n in names), stored])
                kinetic, potential = kinetic + values[0], potential + values[1]
                outflow += values[3]
                error += inflow + values[2] - values[3] - values[4]
            elif any(
                key[0] in ("flow", "effort") or (key[0] == "root" and record.motion is None) for key in record.targets
            ):
                outflow += inflow
            else:
                error += inflow  # an ideal joint or gear keeps nothing
        outside = sum(
            (self._outside(name) for name, port in sweeps.flat.root.ports().items() if isinstance(port, Flange)),
            ca.SX.zeros(1),
        )
        yield "energy.kinetic", Energy, "Kinetic energy of the system", kinetic
        yield "energy.potential", Energy, "Potential energy of the system", potential
        yield "energy.total", Energy, "Mechanical energy of the system", kinetic + potential
        yield "energy.outflow", Power, "Power that leaves the system: losses, and work done on sources", outflow
        yield "energy.inflow", Power, "Power that enters the system through its own flanges", outside
        yield (
            "energy.balanceError",
            Power,
            "Power into all bodies, springs and ideal joints that their stored energy "
            "does not account for: zero but for rounding",
            error,
        )

    def _power(self, key: tuple[str, str]) -> ca.SX | None:
        sweeps, port = self._sweeps, self._sweeps.flat.ports[key]
        if isinstance(port, Frame) and sweeps.flat.members[sweeps.flat.nodes[key]]:
            node = sweeps.flat.nodes[key]
            f, t = sweeps.outer_flow(key, "f"), sweeps.outer_flow(key, "t")
            if f is None or t is None:
                return None
            T = sweeps.frame(node, "T")
            return ca.dot(f, T @ sweeps.frame(node, "v_0")) + ca.dot(t, sweeps.frame(node, "w"))
        if isinstance(port, Flange) and ("flange", sweeps.flat.nodes[key]) in sweeps.topology.source:
            flow = sweeps.outer_flow(key, port.flow)
            return None if flow is None else flow * sweeps.scalar(("flange", sweeps.flat.nodes[key]), 1)
        return None

    def _outside(self, name: str) -> ca.SX:
        """Power into the assembly through one of its own flanges."""
        node = ("flange", self._sweeps.flat.nodes[("", name)])
        speed = self._sweeps.scalar(node, 1)
        if node in self._sweeps.exposed:
            return self._sweeps.exposed[node] * speed
        return self._sweeps.balance(node, without_root=True) * speed
