"""What blocks build on (Modelica.Blocks.Interfaces 4.1), and the size of their signals.

Parameters declared with `shape=None` take a number or a vector. The signals of SO, SISO and SI2SO have the size of
these vectors; numbers apply to each element. All other classes have scalars, and vectors as long as a parameter says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import casadi as ca
import numpy as np

from mbfmu.errors import ModelError
from mbfmu.modeling import (
    BooleanInput,
    BooleanOutput,
    Component,
    IntegerInput,
    IntegerOutput,
    Parameter,
    RealInput,
    RealOutput,
    required,
)
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


def sized(name: str) -> Callable[[Any], Shape]:
    """Shape of a vector of as many elements as a parameter says."""
    return lambda self: (getattr(self, name),)


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


class MO(Component):
    """Block with a vector of outputs."""

    nout = Parameter(t.Integer, 1, "Number of outputs", min=1)
    y = RealOutput("Connector of Real output signals", shape=sized("nout"))


class SIMO(Component):
    """Block with one input and a vector of outputs."""

    nout = Parameter(t.Integer, 1, "Number of outputs", min=1)
    u = RealInput("Connector of Real input signal")
    y = RealOutput("Connector of Real output signals", shape=sized("nout"))


class MISO(Component):
    """Block with a vector of inputs and one output."""

    nin = Parameter(t.Integer, 1, "Number of inputs", min=1)
    u = RealInput("Connector of Real input signals", shape=sized("nin"))
    y = RealOutput("Connector of Real output signal")


class PartialRealMISO(Component):
    """Block with a vector of inputs, as many as are connected, and one output."""

    significantDigits = Parameter(t.Integer, 3, "Number of digits shown in a diagram (no effect)", min=1)
    nu = Parameter(t.Integer, required, "Number of input connections", min=1)
    u = RealInput("Connector of Real input signals", shape=sized("nu"))
    y = RealOutput("Connector of Real output signal")


class MIMO(Component):
    """Block with a vector of inputs and one of outputs."""

    nin = Parameter(t.Integer, 1, "Number of inputs", min=1)
    nout = Parameter(t.Integer, 1, "Number of outputs", min=1)
    u = RealInput("Connector of Real input signals", shape=sized("nin"))
    y = RealOutput("Connector of Real output signals", shape=sized("nout"))


class MIMOs(Component):
    """Block with as many inputs as outputs."""

    n = Parameter(t.Integer, 1, "Number of inputs (= number of outputs)", min=1)
    u = RealInput("Connector of Real input signals", shape=sized("n"))
    y = RealOutput("Connector of Real output signals", shape=sized("n"))


class MI2MO(Component):
    """Block with two vectors of inputs and one of outputs, all of one size."""

    n = Parameter(t.Integer, 1, "Number of elements of each vector", min=1)
    u1 = RealInput("Connector of Real input signals 1", shape=sized("n"))
    u2 = RealInput("Connector of Real input signals 2", shape=sized("n"))
    y = RealOutput("Connector of Real output signals", shape=sized("n"))


class SVcontrol(Component):
    """Controller of one variable."""

    u_s = RealInput("Connector of setpoint input signal")
    u_m = RealInput("Connector of measurement input signal")
    y = RealOutput("Connector of actuator output signal")


class MVcontrol(Component):
    """Controller of several variables."""

    nu_s = Parameter(t.Integer, 1, "Number of setpoint inputs", min=1)
    nu_m = Parameter(t.Integer, 1, "Number of measurement inputs", min=1)
    ny = Parameter(t.Integer, 1, "Number of actuator outputs", min=1)
    u_s = RealInput("Connector of setpoint input signals", shape=sized("nu_s"))
    u_m = RealInput("Connector of measurement input signals", shape=sized("nu_m"))
    y = RealOutput("Connector of actuator output signals", shape=sized("ny"))


class PartialConversionBlock(Component):
    """Block that converts a number from one unit to another."""

    u = RealInput("Connector of Real input signal to be converted")
    y = RealOutput("Connector of Real output signal with the converted input")


class partialBooleanSI(Component):
    """Block with one Boolean input."""

    u = BooleanInput("Connector of Boolean input signal")


class partialBooleanSO(Component):
    """Block with one Boolean output."""

    y = BooleanOutput("Connector of Boolean output signal")


class partialBooleanSource(partialBooleanSO):
    """Source of a Boolean signal."""


class BooleanSignalSource(partialBooleanSO):
    """Source of a Boolean signal."""


class BooleanSISO(Component):
    """Block with one Boolean input and one Boolean output."""

    u = BooleanInput("Connector of Boolean input signal")
    y = BooleanOutput("Connector of Boolean output signal")


class partialBooleanSISO(BooleanSISO):
    """Block with one Boolean input and one Boolean output."""


class PartialBooleanSISO_small(BooleanSISO):
    """Block with one Boolean input and one Boolean output."""


class SI2BooleanSO(Component):
    """Block with two Boolean inputs and one Boolean output."""

    u1 = BooleanInput("Connector of Boolean input signal 1")
    u2 = BooleanInput("Connector of Boolean input signal 2")
    y = BooleanOutput("Connector of Boolean output signal")


class partialBooleanSI2SO(SI2BooleanSO):
    """Block with two Boolean inputs and one Boolean output."""


class partialBooleanSI3SO(Component):
    """Block with three Boolean inputs and one Boolean output."""

    u1 = BooleanInput("Connector of Boolean input signal 1")
    u2 = BooleanInput("Connector of Boolean input signal 2")
    u3 = BooleanInput("Connector of Boolean input signal 3")
    y = BooleanOutput("Connector of Boolean output signal")


class PartialBooleanMISO(Component):
    """Block with a vector of Boolean inputs, as many as are connected, and one Boolean output."""

    nu = Parameter(t.Integer, required, "Number of input connections", min=1)
    u = BooleanInput("Connector of Boolean input signals", shape=sized("nu"))
    y = BooleanOutput("Connector of Boolean output signal")


class BooleanMIMOs(Component):
    """Block with as many Boolean inputs as outputs."""

    n = Parameter(t.Integer, 1, "Number of inputs (= number of outputs)", min=1)
    u = BooleanInput("Connector of Boolean input signals", shape=sized("n"))
    y = BooleanOutput("Connector of Boolean output signals", shape=sized("n"))


class MI2BooleanMOs(Component):
    """Block with two vectors of Boolean inputs and one of outputs, all of one size."""

    n = Parameter(t.Integer, 1, "Number of elements of each vector", min=1)
    u1 = BooleanInput("Connector of Boolean input signals 1", shape=sized("n"))
    u2 = BooleanInput("Connector of Boolean input signals 2", shape=sized("n"))
    y = BooleanOutput("Connector of Boolean output signals", shape=sized("n"))


class partialBooleanThresholdComparison(Component):
    """Block that compares a Real input with a threshold."""

    threshold = Parameter(t.Real, 0.0, "Comparison with respect to threshold", tunable=True)
    u = RealInput("Connector of Real input signal")
    y = BooleanOutput("Connector of Boolean output signal")


class partialBooleanComparison(Component):
    """Block that compares two Real inputs."""

    u1 = RealInput("Connector of Real input signal 1")
    u2 = RealInput("Connector of Real input signal 2")
    y = BooleanOutput("Connector of Boolean output signal")


class IntegerSO(Component):
    """Block with one Integer output."""

    y = IntegerOutput("Connector of Integer output signal")


class IntegerMO(Component):
    """Block with a vector of Integer outputs."""

    nout = Parameter(t.Integer, 1, "Number of outputs", min=1)
    y = IntegerOutput("Connector of Integer output signals", shape=sized("nout"))


class IntegerSignalSource(IntegerSO):
    """Source of an Integer signal."""

    offset = Parameter(t.Integer, 0, "Offset of output signal y")
    startTime = Parameter(t.Time, 0.0, "Output y = offset for time < startTime")


class PartialIntegerSISO(Component):
    """Block with one Integer input and one Integer output."""

    u = IntegerInput("Connector of Integer input signal")
    y = IntegerOutput("Connector of Integer output signal")


class PartialIntegerMISO(Component):
    """Block with a vector of Integer inputs, as many as are connected, and one Integer output."""

    significantDigits = Parameter(t.Integer, 3, "Number of digits shown in a diagram (no effect)", min=1)
    nu = Parameter(t.Integer, required, "Number of input connections", min=1)
    u = IntegerInput("Connector of Integer input signals", shape=sized("nu"))
    y = IntegerOutput("Connector of Integer output signal")


class IntegerSIBooleanSO(Component):
    """Block with one Integer input and one Boolean output."""

    u = IntegerInput("Connector of Integer input signal")
    y = BooleanOutput("Connector of Boolean output signal")


class IntegerMIBooleanMOs(Component):
    """Block with a vector of Integer inputs and as many Boolean outputs."""

    n = Parameter(t.Integer, 1, "Number of inputs (= number of outputs)", min=1)
    u = IntegerInput("Connector of Integer input signals", shape=sized("n"))
    y = BooleanOutput("Connector of Boolean output signals", shape=sized("n"))


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
