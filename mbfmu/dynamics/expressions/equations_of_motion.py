"""Motion: balances of forces along all speeds, and the rates of positions and states."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.columns import stacked
from mbfmu.dynamics.expressions.values import Values


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
    def of(cls, values: Values) -> Motion:
        """What the values say of it."""
        balances = stacked(values(balance) for key in values.unknowns.v for balance in values.balances(key))
        return cls(balances, values.position_rates, values.speed_rates, values.state_rates)
