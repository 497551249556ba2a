"""Logical functions of any number of signals (Modelica.Blocks.MathBoolean 4.1)."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import casadi as ca

from mbfmu.components.blocks import logical
from mbfmu.components.blocks.interfaces import IntegerSIBooleanSO, PartialBooleanMISO
from mbfmu.components.blocks.logical import true
from mbfmu.modeling import BooleanInput, BooleanOutput, Component, Parameter, required
from mbfmu.modeling import types as t


class _Gate(PartialBooleanMISO):
    """Logical function of its inputs alone, which it takes to change at events only: a subclass defines `value`."""

    #: True where the function is turned round.
    inverted: ClassVar[bool] = False

    def equations(self) -> None:
        value = self.value_of([true(u) for u in ca.vertsplit(self.u)])
        self.y = ca.logic_not(value) if self.inverted else value

    def value_of(self, inputs: list[Any]) -> Any:
        """The function of these truths."""
        raise NotImplementedError(f"{type(self).__name__} must define value_of()")


class And(_Gate):
    """Logical 'and': y = u[1] and u[2] and ... and u[nu]."""

    modelica_name = "Blocks.MathBoolean.And"

    def value_of(self, inputs: list[Any]) -> Any:
        return functools.reduce(ca.logic_and, inputs)


class Nand(And):
    """Logical 'nand': y = not (u[1] and ... and u[nu])."""

    modelica_name = "Blocks.MathBoolean.Nand"
    inverted = True


class Or(_Gate):
    """Logical 'or': y = u[1] or u[2] or ... or u[nu]."""

    modelica_name = "Blocks.MathBoolean.Or"

    def value_of(self, inputs: list[Any]) -> Any:
        return functools.reduce(ca.logic_or, inputs)


class Nor(Or):
    """Logical 'nor': y = not (u[1] or ... or u[nu])."""

    modelica_name = "Blocks.MathBoolean.Nor"
    inverted = True


class Xor(_Gate):
    """Logical 'xor': y is true where exactly one input is."""

    modelica_name = "Blocks.MathBoolean.Xor"

    def value_of(self, inputs: list[Any]) -> Any:
        return sum(inputs) == 1


class RisingEdge(logical.Edge):
    """Output y is true, if the input u has a rising edge, otherwise it is false (y = edge(u))."""

    modelica_name = "Blocks.MathBoolean.RisingEdge"


class FallingEdge(logical.FallingEdge):
    """Output y is true, if the input u has a falling edge, otherwise it is false (y = edge(not u))."""

    modelica_name = "Blocks.MathBoolean.FallingEdge"


class ChangingEdge(logical.Change):
    """Output y is true, if the input u has a rising or a falling edge, otherwise false (y = change(u))."""

    modelica_name = "Blocks.MathBoolean.ChangingEdge"


class MathEdge(logical.Edge):
    """Indicates rising edge of Boolean signal."""

    modelica_name = "Blocks.Math.Edge"


class BooleanChange(logical.Change):
    """Indicates Boolean signal changing."""

    modelica_name = "Blocks.Math.BooleanChange"


class IntegerChange(IntegerSIBooleanSO):
    """Indicates integer signal changing."""

    modelica_name = "Blocks.Math.IntegerChange"

    def equations(self) -> None:
        self.y = self.active(self.change(self.u))


class OnDelay(Component):
    """Delay a rising edge of the input, but do not delay a falling edge."""

    modelica_name = "Blocks.MathBoolean.OnDelay"

    delayTime = Parameter(t.Time, required, "Delay time", min=0)
    u = BooleanInput("Connector of Boolean input signal")
    y = BooleanOutput("= true, from delayTime after u became true until it becomes false")

    def equations(self) -> None:
        up = true(self.u)
        due = self.hold(self.initial, up, value=self.time + ca.if_else(self.initial.active, -1, self.delayTime))
        self.y = ca.logic_and(up, self.switch(self.time - due, 1.0, 0.0))


class MultiSwitch(Component):
    """Set Boolean expression that is associated with the first active input signal."""

    modelica_name = "Blocks.MathBoolean.MultiSwitch"

    expr = Parameter(
        t.Real, lambda self: [0.0] * self.nu, "y = expr[i] if u[i] is the first that is true", shape=None, size="nu"
    )
    use_pre_as_default = Parameter(t.Boolean, True, "Set true to hold last value as default (y_default = pre(y))")
    y_default = Parameter(t.Boolean, False, "Default value of output y if all u[i] = false")
    nu = Parameter(t.Integer, 0, "Number of input connections", min=0)
    u = BooleanInput("Connector of Boolean input signals", shape=lambda self: (self.nu,))
    y = BooleanOutput("= true, where the expression is true")

    def equations(self) -> None:
        self.y = true(first_true(self, float(self.y_default)))


def first_true(block: Any, default: Any) -> Any:
    """The expression of the first input that is true, else what was held, or the default."""
    inputs = [true(u) for u in ca.vertsplit(block.u)] if block.nu else []
    expressions = ca.vertsplit(ca.vec(ca.SX(block.expr))) if block.nu else []

    def chosen(value: Any) -> Any:
        for is_true, expression in reversed(list(zip(inputs, expressions, strict=True))):
            value = ca.if_else(is_true, expression, value)
        return value

    if not block.use_pre_as_default:
        return chosen(default)
    held = block.hold(
        block.initial, *(truth for u in inputs for truth in (u, ca.logic_not(u))), value=chosen, start=default
    )
    return chosen(held)


class Not(logical.Not):
    """Logical 'not': y = not u."""

    modelica_name = "Blocks.MathBoolean.Not"


__all__ = [
    "And",
    "BooleanChange",
    "ChangingEdge",
    "FallingEdge",
    "IntegerChange",
    "MathEdge",
    "MultiSwitch",
    "Nand",
    "Nor",
    "Not",
    "OnDelay",
    "Or",
    "RisingEdge",
    "Xor",
]
