"""Blocks with a sample period or a trigger (Modelica.Blocks.Discrete 4.1).

Between samples their outputs are held. Samples of one instant follow each other in the order of the signals, as if they
were one equation; a ZeroOrderHold and a FirstOrderHold give on what they have sampled an instant later.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from mbfmu.components.blocks.interfaces import MIMO, MIMOs, MVcontrol, StateSpaceMatrices, SVcontrol
from mbfmu.components.blocks.logical import true
from mbfmu.errors import ModelError
from mbfmu.modeling import BooleanInput, Component, DiscreteState, Parameter, RealInput, RealOutput, required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import checked_start


class DiscreteBlock(Component):
    """Base class of discrete control blocks."""

    samplePeriod = Parameter(t.Time, required, "Sample period of component", min=100 * 2.220446049250313e-16)
    startTime = Parameter(t.Time, 0.0, "First sample time instant")

    def modify(self, **modifiers: Any) -> None:
        """Take values; that the output is 0 before the first sample may be said, too."""
        if "y" in modifiers and not np.any(checked_start(modifiers["y"], f"{self.where}.y").value):
            del modifiers["y"]
        super().modify(**modifiers)

    def sampled(self) -> Any:
        """The event of a sample."""
        return self.sample(self.startTime, self.samplePeriod)


class DiscreteSISO(DiscreteBlock):
    """Single Input Single Output discrete control block."""

    u = RealInput("Continuous input signal")
    y = RealOutput("Output signal, held between samples")


class DiscreteMIMO(DiscreteBlock, MIMO):
    """Multiple Input Multiple Output discrete control block."""


class DiscreteMIMOs(DiscreteBlock, MIMOs):
    """Multiple Input Multiple Output discrete control block, with as many inputs as outputs."""


class SVdiscrete(DiscreteBlock, SVcontrol):
    """Discrete controller of one variable."""


class MVdiscrete(DiscreteBlock, MVcontrol):
    """Discrete controller of several variables."""


class Sampler(DiscreteSISO):
    """Ideal sampling of continuous signals."""

    modelica_name = "Blocks.Discrete.Sampler"

    def equations(self) -> None:
        begun = self.time >= self.startTime
        self.y = self.hold(self.sampled(), self.initial, value=lambda before: ca.if_else(begun, self.u, before))


class ZeroOrderHold(DiscreteSISO):
    """Zero order hold of a sampled-data system."""

    modelica_name = "Blocks.Discrete.ZeroOrderHold"

    ySample = DiscreteState(t.Real, "Sampled value", start=0.0, fixed=True)

    def equations(self) -> None:
        sample = ca.if_else(self.time >= self.startTime, self.u, self.pre(self.ySample))
        self.when(self.sampled(), self.initial, ySample=sample)
        self.y = self.pre(self.ySample)


class FirstOrderHold(DiscreteSISO):
    """First order hold of a sampled-data system."""

    modelica_name = "Blocks.Discrete.FirstOrderHold"

    def equations(self) -> None:
        sampled, initial = self.sampled(), self.initial
        first = self.time <= self.startTime + self.samplePeriod / 2
        instant = self.hold(sampled, initial, value=self.time)
        last = self.hold(sampled, initial, value=self.u)
        before = self.hold(initial, sampled, value=ca.if_else(initial.active, self.u, self.pre(last)))
        slope = self.hold(sampled, value=ca.if_else(first, 0, (last - before) / self.samplePeriod))
        self.y = before + self.pre(slope) * (self.time - instant)


class UnitDelay(DiscreteSISO):
    """Unit Delay Block: the sample before."""

    modelica_name = "Blocks.Discrete.UnitDelay"

    y_start = Parameter(t.Real, 0.0, "Initial value of output signal")

    def equations(self) -> None:
        self.y = self.hold(self.sampled(), value=self.pre(self.u), start=self.y_start)


class TransferFunction(DiscreteSISO):
    """Discrete Transfer Function block: y(z) = (b[1] z^(nb-1) + ... + b[nb]) / (a[1] z^(na-1) + ... + a[na]) u(z)."""

    modelica_name = "Blocks.Discrete.TransferFunction"

    b = Parameter(t.Real, (1.0,), "Numerator coefficients of transfer function", shape=None)
    a = Parameter(t.Real, (1.0,), "Denominator coefficients of transfer function", shape=None)
    x = DiscreteState(
        t.Real,
        "State of transfer function from controller canonical form",
        shape=lambda self: (max(self.coefficients("a") - 1, 0),),
        start=0.0,
        fixed=True,
    )

    def coefficients(self, name: str) -> int:
        """Number of coefficients of the denominator `a` or the numerator `b`."""
        shape = self.shape_of(name)
        return shape[0] if shape else 1

    def modify(self, **modifiers: Any) -> None:
        """Take values, and check how many coefficients there are."""
        super().modify(**modifiers)
        if self.coefficients("b") > self.coefficients("a"):
            raise ModelError(
                f"{self.where}: b has {self.coefficients('b')} coefficients, more than a ({self.coefficients('a')}): "
                "the output would come before the input"
            )

    def equations(self) -> None:
        a, b = ca.vec(self.a), ca.vec(self.b)
        self.require(a[0] ** 2 - 1e-300, "a[1] is 0; leave out leading coefficients that are")
        before = self.pre(self.x)
        new = (self.u - (ca.dot(a[1:], before) if before.numel() else 0)) / a[0]
        extended = ca.vertcat(new, before)
        sampled = self.sampled()
        if before.numel():
            self.when(sampled, x=extended[:-1])
        self.y = self.hold(sampled, value=ca.dot(b, extended[a.numel() - b.numel() :]))


class StateSpace(DiscreteBlock, StateSpaceMatrices):
    """Discrete State Space block: x = A pre(x) + B u, y = C pre(x) + D u."""

    modelica_name = "Blocks.Discrete.StateSpace"

    x = DiscreteState(t.Real, "State vector", shape=lambda self: (self.shape_of("A")[0],), start=0.0)

    def equations(self) -> None:
        before, sampled = self.pre(self.x), self.sampled()
        self.when(sampled, x=self.A @ before + self.B @ self.u)
        outputs = self.C @ before + self.through(self.u)
        self.y = self.hold(sampled, value=outputs, start=ca.SX.zeros(outputs.numel()))


class TriggeredSampler(Component):
    """Triggered sampling of continuous signals."""

    modelica_name = "Blocks.Discrete.TriggeredSampler"

    y_start = Parameter(t.Real, 0.0, "Initial value of output signal")
    u = RealInput("Connector with a Real input signal")
    y = RealOutput("Connector with a Real output signal")
    trigger = BooleanInput("Trigger input")

    def equations(self) -> None:
        self.y = self.hold(true(self.trigger), value=self.u, start=self.y_start)


class TriggeredMax(Component):
    """Compute maximum, absolute value of continuous signal at trigger instants."""

    modelica_name = "Blocks.Discrete.TriggeredMax"

    u = RealInput("Connector with a Real input signal")
    y = RealOutput("Connector with a Real output signal")
    trigger = BooleanInput("Trigger input")

    def equations(self) -> None:
        self.y = self.hold(true(self.trigger), value=lambda before: ca.fmax(before, ca.fabs(self.u)))


__all__ = [
    "DiscreteBlock",
    "DiscreteSISO",
    "FirstOrderHold",
    "Sampler",
    "StateSpace",
    "TransferFunction",
    "TriggeredMax",
    "TriggeredSampler",
    "UnitDelay",
    "ZeroOrderHold",
]
