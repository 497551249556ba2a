"""Flanges and heat ports as signals, for models that exchange signals (Modelica.Blocks.Interfaces.Adaptors 4.1).

mbfmu makes a flange part of an FMU's interface without them: see docs/co-simulation.md.
"""

from __future__ import annotations

from typing import Any

from mbfmu.modeling import Component, Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t


def stated(scope: Any, value: Any, rate: Any = None, second: Any = None) -> Any:
    """A signal whose derivatives are other signals, as far as these are given; without them it is differentiated."""
    if rate is None:
        return value
    return scope.with_rate(value, rate if second is None else scope.with_rate(rate, second))


class PotentialToFlowAdaptor(Component):
    """Connector moved by signals: its potential and, if wanted, derivatives come in, its flow goes out.

    A subclass defines `adapt`, which drives the connector and returns its flow into the adaptor.
    """

    use_pder = Parameter(t.Boolean, True, "Use input for 1st derivative of potential")
    use_pder2 = Parameter(t.Boolean, True, "Use input for 2nd derivative of potential (only if use_pder)")
    p = RealInput("Input for potential")
    pder = RealInput("Optional input for der(potential)", when=lambda self: self.use_pder)
    pder2 = RealInput("Optional input for der2(potential)", when=lambda self: self.use_pder and self.use_pder2)
    f = RealOutput("Output for flow, positive out of the adaptor")

    def equations(self) -> None:
        first = self.pder if self.use_pder else None
        second = self.pder2 if self.use_pder and self.use_pder2 else None
        self.f = -self.adapt(stated(self, self.p, first, second))

    def adapt(self, potential: Any) -> Any:
        """Give the connector this potential; returns its flow."""
        raise NotImplementedError(f"{type(self).__name__} must define adapt()")


class FlowToPotentialAdaptor(Component):
    """Connector loaded by a signal: its flow comes in, its potential and, if wanted, derivatives go out.

    A subclass defines `adapt`, which loads the connector and returns its potential.
    """

    use_pder = Parameter(t.Boolean, True, "Use output for 1st derivative of potential")
    use_pder2 = Parameter(t.Boolean, True, "Use output for 2nd derivative of potential (only if use_pder)")
    f = RealInput("Input for flow, positive into the adaptor")
    p = RealOutput("Output for potential")
    pder = RealOutput("Optional output for der(potential)", when=lambda self: self.use_pder)
    pder2 = RealOutput("Optional output for der2(potential)", when=lambda self: self.use_pder and self.use_pder2)

    def equations(self) -> None:
        self.p = self.adapt(self.f)
        if self.use_pder:
            self.pder = self.der(self.p)
            if self.use_pder2:
                self.pder2 = self.der(self.pder)

    def adapt(self, flow: Any) -> Any:
        """Let this flow into the adaptor; returns the connector's potential."""
        raise NotImplementedError(f"{type(self).__name__} must define adapt()")


__all__ = ["FlowToPotentialAdaptor", "PotentialToFlowAdaptor", "stated"]
