"""Motion: balances of forces along all speeds, and the rates of positions and states."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.inputs import Inputs
from mbfmu.dynamics.sweeps import AlgebraicLoop, Sweeps
from mbfmu.dynamics.topology import Topology
from mbfmu.dynamics.unknowns import Unknowns, stacked


@dataclasses.dataclass(frozen=True)
class Motion:
    """What moves the system, as expressions."""

    #: Balance of forces along each speed: zero for the right accelerations and multipliers.
    balances: ca.SX
    #: dq/dt, dv/dt and dz/dt.
    position_rates: ca.SX
    speed_rates: ca.SX
    state_rates: ca.SX

    @classmethod
    def of(cls, sweeps: Sweeps) -> Motion:
        """Ask the sweeps for all of it."""
        sweeps.prepare()
        balances = stacked(balance for key in sweeps.unknowns.v for balance in sweeps.balances(key))
        return cls(balances, sweeps.position_rates, sweeps.speed_rates, sweeps.state_rates)


def moved(topology: Topology, inputs: Inputs) -> tuple[Sweeps, Motion]:
    """The sweeps of a topology, and the motion that they give.

    A force that keeps a relation (in a gear, say) may need itself: where its reaction acts on what it drives. Such a
    relation is kept as a constraint instead, so that its force is an unknown as other multipliers are.

    Raises:
        AlgebraicLoop: a quantity needs itself, and no relation is part of that.
    """
    while True:
        sweeps = Sweeps(topology, Unknowns.of(topology), inputs)
        try:
            return sweeps, Motion.of(sweeps)
        except AlgebraicLoop as loop:
            if not loop.relations:
                raise
            topology = topology.keeping(loop.relations[-1:])
