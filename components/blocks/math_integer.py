"""Sums and products of whole numbers (Modelica.Blocks.MathInteger 4.1)."""

from __future__ import annotations

import casadi as ca

from mbfmu.components.blocks.logical import true
from mbfmu.components.blocks.math import MultiProduct, MultiSum
from mbfmu.components.blocks.math_boolean import first_true
from mbfmu.modeling import BooleanInput, Component, IntegerInput, IntegerOutput, Parameter
from mbfmu.modeling import types as t


class Sum(MultiSum):
    """Sum of Integers: y = k[1]*u[1] + k[2]*u[2] + ... + k[n]*u[n]."""

    modelica_name = "Blocks.MathInteger.Sum"

    k = Parameter(t.Integer, lambda self: [1] * self.nu, "Input gains", shape=None)
    u = IntegerInput("Connector of Integer input signals", shape=lambda self: (self.nu,))
    y = IntegerOutput("Connector of Integer output signal")


class Product(MultiProduct):
    """Product of Integers: y = u[1]*u[2]* ... *u[n]."""

    modelica_name = "Blocks.MathInteger.Product"

    u = IntegerInput("Connector of Integer input signals", shape=lambda self: (self.nu,))
    y = IntegerOutput("Connector of Integer output signal")


class MultiSwitch(Component):
    """Set Integer expression that is associated with the first active input signal."""

    modelica_name = "Blocks.MathInteger.MultiSwitch"

    expr = Parameter(
        t.Integer, lambda self: [0] * self.nu, "y = expr[i] if u[i] is the first that is true", shape=None, size="nu"
    )
    y_default = Parameter(t.Integer, 0, "Output where all u[i] = false without use_pre_as_default; pre(y) at the start")
    use_pre_as_default = Parameter(t.Boolean, True, "= true, y holds its last value if all u[i]=false")
    nu = Parameter(t.Integer, 0, "Number of input connections", min=0)
    u = BooleanInput("Connector of Boolean input signals", shape=lambda self: (self.nu,))
    y = IntegerOutput("Connector of Integer output signal")

    def equations(self) -> None:
        self.y = first_true(self, float(self.y_default))


class TriggeredAdd(Component):
    """Add input to previous value of output, if rising edge of trigger port."""

    modelica_name = "Blocks.MathInteger.TriggeredAdd"

    use_reset = Parameter(t.Boolean, False, "= true, if reset port enabled")
    use_set = Parameter(t.Boolean, False, "= true, if set port enabled and used as default value when reset")
    y_start = Parameter(t.Integer, 0, "Initial and reset value of y if set port is not used")
    u = IntegerInput("Connector of Integer input signal")
    y = IntegerOutput("Sum of what was added")
    trigger = BooleanInput("Adds where it becomes true")
    reset = BooleanInput("Resets where it becomes true", when=lambda self: self.use_reset)
    set = IntegerInput("Value after a reset", when=lambda self: self.use_reset and self.use_set)

    def equations(self) -> None:
        start = float(self.y_start)
        if not self.use_reset:
            self.y = self.hold(true(self.trigger), value=lambda before: before + self.u, start=start)
            return
        after = self.set if self.use_set else start
        self.y = self.hold(
            true(self.trigger),
            true(self.reset),
            value=lambda before: ca.if_else(true(self.reset), after, before + self.u),
            start=start,
        )


__all__ = ["MultiSwitch", "Product", "Sum", "TriggeredAdd"]
