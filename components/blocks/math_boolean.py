"""Logical functions of any number of signals (Modelica.Blocks.MathBoolean 4.1); 1 means true, 0 false."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import casadi as ca

from mbfmu.components.blocks import logical
from mbfmu.components.blocks.logical import true
from mbfmu.modeling import Component, Parameter, RealInput, RealOutput, required
from mbfmu.modeling import types as t


class _Gate(Component):
    """Logical function of its inputs alone, which it takes to change at events only: a subclass defines `value`."""

    #: True where the function is turned round.
    inverted: ClassVar[bool] = False

    nu = Parameter(t.Integer, required, "Number of input connections", min=1)
    u = RealInput("Signals (true from 0.5 on)", shape=lambda self: (self.nu,))
    y = RealOutput("1 where the function is true, else 0")

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


class Not(logical.Not):
    """Logical 'not': y = not u."""

    modelica_name = "Blocks.MathBoolean.Not"


__all__ = ["And", "Nand", "Nor", "Not", "Or", "Xor"]
