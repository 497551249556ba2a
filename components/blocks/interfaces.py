"""What blocks build on (Modelica.Blocks.Interfaces 4.0), and the size of their signals.

Parameters declared with `shape=None` take a number or a vector. A block's output has the size of its vectors; numbers
apply to each element.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

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


class StateSpaceMatrices(Component):
    """Block with the matrices of a linear state space model, which say how many signals there are."""

    A = Parameter(t.Real, ((1.0, 0.0), (0.0, 1.0)), "Matrix A of state space model (e.g., A=[1, 0; 0, 1])", shape=None)
    B = Parameter(t.Real, ((1.0,), (1.0,)), "Matrix B of state space model (e.g., B=[1; 1])", shape=None)
    C = Parameter(t.Real, ((1.0, 1.0),), "Matrix C of state space model (e.g., C=[1, 1])", shape=None)
    D = Parameter(
        t.Real,
        lambda self: np.zeros((self.shape_of("C")[0], self.shape_of("B")[1])),
        "Matrix D of state space model; where nobody gives it, nothing passes through at once",
        shape=None,
        when=lambda self: self.is_given("D"),
    )
    u = RealInput("Connector of Real input signals", shape=lambda self: (self.shape_of("B")[1],))
    y = RealOutput("Connector of Real output signals", shape=lambda self: (self.shape_of("C")[0],))

    def through(self, u: Any) -> Any:
        """What of the inputs passes through at once."""
        return self.D @ u if self.is_given("D") else ca.SX.zeros(self.shape_of("C")[0])

    def modify(self, **modifiers: Any) -> None:
        """Take values, and check what the matrices' sizes say of each other."""
        super().modify(**modifiers)
        shapes = {name: self.shape_of(name) for name in "ABC"}
        fits = all(len(shape) == 2 for shape in shapes.values())
        if not fits or not shapes["A"][0] == shapes["A"][1] == shapes["B"][0] == shapes["C"][1]:
            raise ModelError(f"{self.where}: the matrices' sizes {shapes} do not fit; A is n x n, B n x m, C p x n")


def rows(values: Iterable[Any]) -> ca.SX:
    """Values as a column."""
    return ca.vertcat(*values)
