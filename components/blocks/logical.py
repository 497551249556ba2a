"""Comparisons of signals (Modelica.Blocks.Logical 4.0).

Signals are Real here: where Modelica has a Boolean one, 1 means true and 0 false, and inputs are true from 0.5 on.
"""

from __future__ import annotations

from typing import Any

from mbfmu.modeling import Component, Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t

TRUE_FROM = 0.5


class _Comparison(Component):
    """Block that compares its input with a reference: a subclass defines `reference`."""

    y = RealOutput("1 where the comparison is true, else 0")

    #: True where the output is true above the reference, and where it is true at the reference.
    above: bool
    at_equality: bool

    def compare(self, u: Any, reference: Any) -> Any:
        """1 or 0; the crossing is located."""
        distance = u - reference if self.above == self.at_equality else reference - u
        return self.switch(distance, 1.0, 0.0) if self.at_equality else self.switch(distance, 0.0, 1.0)


class _Threshold(_Comparison):
    """Comparison with a parameter."""

    threshold = Parameter(t.Real, 0.0, "Comparison with respect to threshold", tunable=True)
    u = RealInput("Connector of Real input signal")

    def equations(self) -> None:
        self.y = self.compare(self.u, self.threshold)


class _TwoSignals(_Comparison):
    """Comparison of two signals."""

    u1 = RealInput("Connector of first Real input signal")
    u2 = RealInput("Connector of second Real input signal")

    def equations(self) -> None:
        self.y = self.compare(self.u1, self.u2)


class GreaterThreshold(_Threshold):
    """Output y is true, if input u is greater than threshold."""

    modelica_name = "Blocks.Logical.GreaterThreshold"
    above, at_equality = True, False


class GreaterEqualThreshold(_Threshold):
    """Output y is true, if input u is greater or equal than threshold."""

    modelica_name = "Blocks.Logical.GreaterEqualThreshold"
    above, at_equality = True, True


class LessThreshold(_Threshold):
    """Output y is true, if input u is less than threshold."""

    modelica_name = "Blocks.Logical.LessThreshold"
    above, at_equality = False, False


class LessEqualThreshold(_Threshold):
    """Output y is true, if input u is less or equal than threshold."""

    modelica_name = "Blocks.Logical.LessEqualThreshold"
    above, at_equality = False, True


class Greater(_TwoSignals):
    """Output y is true, if input u1 is greater than input u2."""

    modelica_name = "Blocks.Logical.Greater"
    above, at_equality = True, False


class GreaterEqual(_TwoSignals):
    """Output y is true, if input u1 is greater or equal than input u2."""

    modelica_name = "Blocks.Logical.GreaterEqual"
    above, at_equality = True, True


class Less(_TwoSignals):
    """Output y is true, if input u1 is less than input u2."""

    modelica_name = "Blocks.Logical.Less"
    above, at_equality = False, False


class LessEqual(_TwoSignals):
    """Output y is true, if input u1 is less or equal than input u2."""

    modelica_name = "Blocks.Logical.LessEqual"
    above, at_equality = False, True


class Switch(Component):
    """Switch between two Real signals: y = u1 where u2 is true, else u3."""

    modelica_name = "Blocks.Logical.Switch"

    u1 = RealInput("Connector of first Real input signal")
    u2 = RealInput("True (from 0.5 on) for u1, false for u3")
    u3 = RealInput("Connector of second Real input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.switch(self.u2 - TRUE_FROM, self.u1, self.u3)


__all__ = [
    "Greater",
    "GreaterEqual",
    "GreaterEqualThreshold",
    "GreaterThreshold",
    "Less",
    "LessEqual",
    "LessEqualThreshold",
    "LessThreshold",
    "Switch",
]
