"""The vectors of the contract between a System and a runtime, as symbols."""

from __future__ import annotations

import dataclasses

import casadi as ca

from mbfmu.dynamics.columns import stacked
from mbfmu.dynamics.expressions.parameters import Parameters
from mbfmu.dynamics.expressions.values import Values


@dataclasses.dataclass(frozen=True)
class Vectors:
    """Time, positions, speeds, accelerations, states, inputs, parameters and discrete states, each as one column."""

    t: ca.SX
    q: ca.SX
    v: ca.SX
    a: ca.SX
    z: ca.SX
    #: Inputs, then delayed signals, then what iterations find.
    u: ca.SX
    P: ca.SX
    m: ca.SX
    #: How many of u iterations find.
    iterated: int

    @classmethod
    def of(cls, values: Values, parameters: Parameters) -> Vectors:
        """Stack what there is."""
        unknowns = values.unknowns
        q, v, a, z = (stacked(d.values()) for d in (unknowns.q, unknowns.v, unknowns.a, unknowns.z))
        m = stacked([*unknowns.modes.values(), *unknowns.held.values()])
        u = stacked([values.inputs.u, *unknowns.delayed.values(), values.iterated])
        return cls(unknowns.time, q, v, a, z, u, parameters.all, m, values.iterated.numel())

    @property
    def x(self) -> ca.SX:
        """States."""
        return ca.vertcat(self.q, self.v, self.z)

    @property
    def arguments(self) -> list[ca.SX]:
        """The arguments (t, x, u, P, m) that most functions have."""
        return [self.t, self.x, self.u, self.P, self.m]
