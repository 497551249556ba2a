"""What blocks build on (Modelica.Blocks.Interfaces 4.0), and the size of their signals.

Parameters declared with `shape=None` take a number or a vector. A block's output has the size of its vectors; numbers
apply to each element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import casadi as ca

from mbfmu.errors import ModelError
from mbfmu.modeling import Component, Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Shape


def common_shape(component: Component) -> Shape:
    """Shape that the vectors among a block's parameters of free shape have in common: () where all are numbers.

    Raises:
        ModelError: vectors of different sizes.
    """
    shapes = {name: component.shape_of(name) for name, p in component.parameters().items() if p.shape is None}
    vectors = {name: shape for name, shape in shapes.items() if shape}
    if len(set(vectors.values())) > 1:
        sizes = ", ".join(f"{name} has {math.prod(shape)}" for name, shape in vectors.items())
        raise ModelError(f"{component.where}: {sizes} elements; give vectors of one size, or numbers for each element")
    return next(iter(vectors.values()), ())


def size_of(shape: Shape) -> int:
    """Number of elements of a signal of this shape."""
    return math.prod(shape)


class Element:
    """One element of a block with vectors: its parameters as scalars."""

    def __init__(self, block: Any, index: int) -> None:
        self._block, self._index = block, index

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._block, name)
        return value[self._index] if getattr(value, "numel", lambda: 1)() > 1 else value


class SO(Component):
    """Block with one output: a number, or a vector where a parameter is one."""

    y = RealOutput("Connector of Real output signal", shape=common_shape)


class SISO(Component):
    """Block with one input and one output."""

    u = RealInput("Connector of Real input signal", shape=common_shape)
    y = RealOutput("Connector of Real output signal", shape=common_shape)


class SI2SO(Component):
    """Block with two inputs and one output."""

    u1 = RealInput("Connector of Real input signal 1", shape=common_shape)
    u2 = RealInput("Connector of Real input signal 2", shape=common_shape)
    y = RealOutput("Connector of Real output signal", shape=common_shape)


class MISO(Component):
    """Block with a vector of inputs and one output."""

    nin = Parameter(t.Integer, 1, "Number of inputs", min=1)
    u = RealInput("Connector of Real input signals", shape=lambda self: (self.nin,))
    y = RealOutput("Connector of Real output signal")


def rows(values: Iterable[Any]) -> ca.SX:
    """Values as a column."""
    return ca.vertcat(*values)
