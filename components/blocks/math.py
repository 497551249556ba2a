"""Mathematical functions of signals (Modelica.Blocks.Math 4.1). Parameters take numbers or vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from mbfmu.components.blocks.interfaces import MISO, SI2SO, SISO, PartialRealMISO, common_shape
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
    Variable,
    required,
)
from mbfmu.modeling import types as t


class InverseBlockConstraints(Component):
    """Construct inverse model by requiring that two inputs and two outputs are identical.

    Both outputs are what makes the inputs equal: what stands between `y2` and `u2` is inverted.
    """

    modelica_name = "Blocks.Math.InverseBlockConstraints"

    u1 = RealInput("Input signal 1 (u1 = u2)")
    u2 = RealInput("Input signal 2 (u1 = u2)")
    y1 = RealOutput("Output signal 1 (y1 = y2)")
    y2 = RealOutput("Output signal 2 (y1 = y2)")

    def equations(self) -> None:
        self.y1 = self.y2 = self.implied(self.u1 - self.u2)


class Gain(SISO):
    """Output the product of a gain value with the input signal."""

    modelica_name = "Blocks.Math.Gain"

    k = Parameter(t.Real, required, "Gain value multiplied with input signal", shape=None, tunable=True)

    def equations(self) -> None:
        self.y = self.k * self.u


class MatrixGain(Component):
    """Output the product of a gain matrix with the input signal vector."""

    modelica_name = "Blocks.Math.MatrixGain"

    K = Parameter(
        t.Real, ((1.0, 0.0), (0.0, 1.0)), "Gain matrix which is multiplied with the input", shape=None, tunable=True
    )
    u = RealInput("Connector of Real input signals", shape=lambda self: (self.shape_of("K")[1],))
    y = RealOutput("Connector of Real output signals", shape=lambda self: (self.shape_of("K")[0],))

    def check_values(self) -> None:
        super().check_values()
        shape = self.shape_of("K")
        if len(shape) != 2:
            raise ModelError(f"{self.where}.K: expected a matrix such as [[1, 0], [0, 1]], got shape {shape}")

    def equations(self) -> None:
        self.y = self.K @ self.u


class Add(SI2SO):
    """Output the sum of the two inputs."""

    modelica_name = "Blocks.Math.Add"

    k1 = Parameter(t.Real, 1.0, "Gain of input signal 1", shape=None, tunable=True)
    k2 = Parameter(t.Real, 1.0, "Gain of input signal 2", shape=None, tunable=True)

    def equations(self) -> None:
        self.y = self.k1 * self.u1 + self.k2 * self.u2


class Add3(SI2SO):
    """Output the sum of the three inputs."""

    modelica_name = "Blocks.Math.Add3"

    u3 = RealInput("Connector of Real input signal 3", shape=common_shape)
    k1 = Parameter(t.Real, 1.0, "Gain of input signal 1", shape=None, tunable=True)
    k2 = Parameter(t.Real, 1.0, "Gain of input signal 2", shape=None, tunable=True)
    k3 = Parameter(t.Real, 1.0, "Gain of input signal 3", shape=None, tunable=True)

    def equations(self) -> None:
        self.y = self.k1 * self.u1 + self.k2 * self.u2 + self.k3 * self.u3


class Feedback(SI2SO):
    """Output difference between commanded and feedback input."""

    modelica_name = "Blocks.Math.Feedback"

    def equations(self) -> None:
        self.y = self.u1 - self.u2


class Product(SI2SO):
    """Output product of the two inputs."""

    modelica_name = "Blocks.Math.Product"

    def equations(self) -> None:
        self.y = self.u1 * self.u2


class Division(SI2SO):
    """Output first input divided by second input."""

    modelica_name = "Blocks.Math.Division"

    def equations(self) -> None:
        # Where both inputs are one signal, CasADi would make 1 of the quotient, also of 0 / 0.
        self.y = ca.if_else(self.u2 == 0, self.u1 * math.inf, self.u1 / self.u2)


class Atan2(SI2SO):
    """Output atan(u1/u2) of the inputs u1 and u2."""

    modelica_name = "Blocks.Math.Atan2"

    def equations(self) -> None:
        self.y = ca.atan2(self.u1, self.u2)


class Max(SI2SO):
    """Pass through the largest signal."""

    modelica_name = "Blocks.Math.Max"

    def equations(self) -> None:
        self.y = self.switch(self.u1 - self.u2, self.u1, self.u2)


class Min(SI2SO):
    """Pass through the smallest signal."""

    modelica_name = "Blocks.Math.Min"

    def equations(self) -> None:
        self.y = self.switch(self.u1 - self.u2, self.u2, self.u1)


class Sum(MISO):
    """Output the sum of the elements of the input vector."""

    modelica_name = "Blocks.Math.Sum"

    k = Parameter(
        t.Real, lambda self: np.ones(self.nin), "Optional: sum coefficients", shape=None, size="nin", tunable=True
    )

    def equations(self) -> None:
        self.y = ca.sum1(ca.SX(self.k) * self.u)


class MultiSum(PartialRealMISO):
    """Sum of Reals: y = k[1]*u[1] + k[2]*u[2] + ... + k[n]*u[n]."""

    modelica_name = "Blocks.Math.MultiSum"

    k = Parameter(t.Real, lambda self: np.ones(self.nu), "Input gains", shape=None, size="nu", tunable=True)

    def equations(self) -> None:
        self.y = ca.sum1(ca.SX(self.k) * self.u)


class MultiProduct(PartialRealMISO):
    """Product of Reals: y = u[1]*u[2]* ... *u[n]."""

    modelica_name = "Blocks.Math.MultiProduct"

    u = RealInput("Connector of Real input signals", shape=lambda self: (self.nu,))
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = math.prod(ca.vertsplit(self.u))


class Power(SISO):
    """Output the power to a base of the input signal."""

    modelica_name = "Blocks.Math.Power"

    base = Parameter(t.Real, math.e, "Base of power", min=1e-60)
    useExp = Parameter(t.Boolean, True, "Use exp function in implementation (no effect: both are exact)")

    def equations(self) -> None:
        self.y = self.base**self.u


class Exp(SISO):
    """Output the exponential (base e) of the input."""

    modelica_name = "Blocks.Math.Exp"

    def equations(self) -> None:
        self.y = ca.exp(self.u)


class _WithEvent(SISO):
    """Function that kinks or jumps where its input is zero."""

    generateEvent = Parameter(t.Boolean, False, "= true, if events shall be generated at zero crossings of the input")


class Abs(_WithEvent):
    """Output the absolute value of the input."""

    modelica_name = "Blocks.Math.Abs"

    def equations(self) -> None:
        self.y = self.switch(self.u, self.u, -self.u) if self.generateEvent else ca.fabs(self.u)


class Sign(_WithEvent):
    """Output the sign of the input."""

    modelica_name = "Blocks.Math.Sign"

    def equations(self) -> None:
        if self.generateEvent:
            self.y = self.switch(self.u, 1.0, 0.0) - self.switch(-self.u, 1.0, 0.0)
        else:
            self.y = ca.sign(self.u)


class WrapAngle(SISO):
    """Wrap angle to interval ]-pi,pi] or [0,2*pi[."""

    modelica_name = "Blocks.Math.WrapAngle"

    positiveRange = Parameter(t.Boolean, False, "Use only positive output range, if true")

    def equations(self) -> None:
        if self.positiveRange:
            self.y = self.u - 2 * math.pi * ca.floor(self.u / (2 * math.pi))
        else:
            self.y = self.u - 2 * math.pi * ca.ceil(self.u / (2 * math.pi) - 0.5)


class RectangularToPolar(Component):
    """Convert rectangular coordinates to polar coordinates."""

    modelica_name = "Blocks.Math.RectangularToPolar"

    u_re = RealInput("Real part of rectangular representation")
    u_im = RealInput("Imaginary part of rectangular representation")
    y_abs = RealOutput("Length of polar representation")
    y_arg = RealOutput("Angle of polar representation", type=t.Angle)

    def equations(self) -> None:
        self.y_abs = ca.sqrt(self.u_re**2 + self.u_im**2)
        self.y_arg = ca.atan2(self.u_im, self.u_re)


class PolarToRectangular(Component):
    """Convert polar coordinates to rectangular coordinates."""

    modelica_name = "Blocks.Math.PolarToRectangular"

    u_abs = RealInput("Length of polar representation")
    u_arg = RealInput("Angle of polar representation", type=t.Angle)
    y_re = RealOutput("Real part of rectangular representation")
    y_im = RealOutput("Imaginary part of rectangular representation")

    def equations(self) -> None:
        self.y_re, self.y_im = self.u_abs * ca.cos(self.u_arg), self.u_abs * ca.sin(self.u_arg)


class _Function(SISO):
    """Function of the input alone."""

    function: ClassVar[Callable[[Any], Any]]

    def equations(self) -> None:
        self.y = type(self).function(self.u)


def _block(name: str, function: Callable[[Any], Any], doc: str, package: str = "Math") -> type[_Function]:
    """Block of a function, which is all that it consists of."""
    return type(
        name,
        (_Function,),
        {
            "__doc__": doc,
            "__module__": __name__,
            "function": staticmethod(function),
            "modelica_name": f"Blocks.{package}.{name}",
        },
    )


Sqrt = _block("Sqrt", ca.sqrt, "Output the square root of the input (input >= 0 required).")
Sin = _block("Sin", ca.sin, "Output the sine of the input.")
Cos = _block("Cos", ca.cos, "Output the cosine of the input.")
Tan = _block("Tan", ca.tan, "Output the tangent of the input.")
Asin = _block("Asin", ca.asin, "Output the arc sine of the input.")
Acos = _block("Acos", ca.acos, "Output the arc cosine of the input.")
Atan = _block("Atan", ca.atan, "Output the arc tangent of the input.")
Sinh = _block("Sinh", ca.sinh, "Output the hyperbolic sine of the input.")
Cosh = _block("Cosh", ca.cosh, "Output the hyperbolic cosine of the input.")
Tanh = _block("Tanh", ca.tanh, "Output the hyperbolic tangent of the input.")
Log10 = _block("Log10", ca.log10, "Output the base 10 logarithm of the input (input > 0 required).")

_UNITS = "Math.UnitConversions"
#: Unit and its name in words -> (factor, offset): value in SI units = factor * value + offset.
_CONVERSIONS = {
    "deg": ("radian", "degree", math.pi / 180, 0.0),
    "rpm": ("radian per second", "revolutions per minute", math.pi / 30, 0.0),
    "degC": ("Kelvin", "degCelsius", 1.0, 273.15),
    "degF": ("Kelvin", "degFahrenheit", 5 / 9, 459.67 * 5 / 9),
    "degRk": ("Kelvin", "degRankine", 5 / 9, 0.0),
    "kmh": ("metre per second", "kilometre per hour", 1 / 3.6, 0.0),
    "day": ("second", "day", 86400.0, 0.0),
    "hour": ("second", "hour", 3600.0, 0.0),
    "minute": ("second", "minute", 60.0, 0.0),
    "litre": ("cubic metre", "litre", 1e-3, 0.0),
    "kWh": ("Joule", "kilo Watt hour", 3.6e6, 0.0),
    "bar": ("Pascal", "bar", 1e5, 0.0),
    "gps": ("kilogram per second", "gram per second", 1e-3, 0.0),
}


def _converters(unit: str) -> tuple[type[_Function], type[_Function]]:
    """The blocks To_unit and From_unit."""
    si, name, factor, offset = _CONVERSIONS[unit]
    return (
        _block(f"To_{unit}", lambda u: (u - offset) / factor, f"Convert from {si} to {name}.", _UNITS),
        _block(f"From_{unit}", lambda u: factor * u + offset, f"Convert from {name} to {si}.", _UNITS),
    )


To_deg, From_deg = _converters("deg")
To_rpm, From_rpm = _converters("rpm")
To_degC, From_degC = _converters("degC")
To_degF, From_degF = _converters("degF")
To_degRk, From_degRk = _converters("degRk")
To_kmh, From_kmh = _converters("kmh")
To_day, From_day = _converters("day")
To_hour, From_hour = _converters("hour")
To_minute, From_minute = _converters("minute")
To_litre, From_litre = _converters("litre")
To_kWh, From_kWh = _converters("kWh")
To_bar, From_bar = _converters("bar")
To_gps, From_gps = _converters("gps")


class Log(SISO):
    """Output the logarithm (default base e) of the input (input > 0 required)."""

    modelica_name = "Blocks.Math.Log"

    base = Parameter(t.Real, math.e, "Base of logarithm", min=1e-60)

    def equations(self) -> None:
        self.y = ca.log(self.u) / ca.log(self.base)


class Exponentiation(SISO):
    """Output the input raised to an exponent."""

    modelica_name = "Blocks.Math.Exponentiation"

    exponent = Parameter(t.Real, 2.0, "Exponent of power")

    def equations(self) -> None:
        self.y = self.u**self.exponent


class LinearDependency(SI2SO):
    """Output a linear combination of the two inputs."""

    modelica_name = "Blocks.Math.LinearDependency"

    y0 = Parameter(t.Real, 0.0, "Initial value")
    k1 = Parameter(t.Real, 0.0, "Gain of u1")
    k2 = Parameter(t.Real, 0.0, "Gain of u2")

    def equations(self) -> None:
        self.y = self.y0 + self.k1 * self.u1 + self.k2 * self.u2


class Pythagoras(SI2SO):
    """Determine the hypotenuse or leg of a right triangle."""

    modelica_name = "Blocks.Math.Pythagoras"

    u1IsHypotenuse = Parameter(t.Boolean, False, "= true, if u1 is the hypotenuse and y is one leg")
    valid = BooleanOutput("= true, where y is a valid result")

    def equations(self) -> None:
        if self.u1IsHypotenuse:
            square = self.u1**2 - self.u2**2
            self.valid = self.switch(square, 1.0, 0.0)
            self.y = ca.sqrt(ca.fmax(square, 0))
        else:
            self.valid, self.y = 1.0, ca.sqrt(self.u1**2 + self.u2**2)


class MinMax(Component):
    """Output the minimum and the maximum element of the input vector."""

    modelica_name = "Blocks.Math.MinMax"

    nu = Parameter(t.Integer, required, "Number of input connections", min=1)
    u = RealInput("Connector of Real input signals", shape=lambda self: (self.nu,))
    yMax = RealOutput("Largest element")
    yMin = RealOutput("Smallest element")

    def equations(self) -> None:
        first, *others = ca.vertsplit(self.u)
        largest = smallest = first
        for other in others:
            largest = self.switch(other - largest, other, largest)
            smallest = self.switch(smallest - other, other, smallest)
        self.yMax, self.yMin = largest, smallest


class MultiSwitch(Component):
    """Set y to the expression of the first input that is true, else to y_default."""

    modelica_name = "Blocks.Math.MultiSwitch"

    nu = Parameter(t.Integer, required, "Number of input connections", min=1)
    expr = Parameter(
        t.Real, lambda self: np.zeros(self.nu), "y = expr[i] if u[i] is the first that is true", shape=None
    )
    y_default = Parameter(t.Real, 0.0, "Default value of output y if all u[i] = false")
    precision = Parameter(t.Integer, 3, "Number of digits shown in a diagram (no effect)", min=0)
    u = BooleanInput("Connector of Boolean input signals", shape=lambda self: (self.nu,))
    y = RealOutput("Connector of Real output signal")
    firstActiveIndex = Variable(t.Integer, "Index of the first true input, 0 where there is none")

    def equations(self) -> None:
        value, index = self.y_default, ca.SX(0)
        for i in reversed(range(self.nu)):
            value = ca.if_else(self.u[i] >= 0.5, ca.SX(self.expr)[i], value)
            index = ca.if_else(self.u[i] >= 0.5, i + 1, index)
        self.y, self.firstActiveIndex = value, index


class RealToInteger(Component):
    """Convert Real to Integer signal: the nearest whole number."""

    modelica_name = "Blocks.Math.RealToInteger"

    u = RealInput("Connector of Real input signal")
    y = IntegerOutput("Nearest whole number")

    def equations(self) -> None:
        self.y = ca.if_else(self.u > 0, ca.floor(self.u + 0.5), ca.ceil(self.u - 0.5))


class IntegerToReal(Component):
    """Convert Integer to Real signal."""

    modelica_name = "Blocks.Math.IntegerToReal"

    u = IntegerInput("Connector of Integer input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = self.u


class BooleanToReal(Component):
    """Convert Boolean to Real signal."""

    modelica_name = "Blocks.Math.BooleanToReal"

    realTrue = Parameter(t.Real, 1.0, "Output signal for true Boolean input")
    realFalse = Parameter(t.Real, 0.0, "Output signal for false Boolean input")
    u = BooleanInput("Connector of Boolean input signal")
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = ca.if_else(self.u >= 0.5, self.realTrue, self.realFalse)


class BooleanToInteger(Component):
    """Convert Boolean to Integer signal."""

    modelica_name = "Blocks.Math.BooleanToInteger"

    integerTrue = Parameter(t.Integer, 1, "Output signal for true Boolean input")
    integerFalse = Parameter(t.Integer, 0, "Output signal for false Boolean input")
    u = BooleanInput("Connector of Boolean input signal")
    y = IntegerOutput("Connector of Integer output signal")

    def equations(self) -> None:
        self.y = ca.if_else(self.u >= 0.5, self.integerTrue, self.integerFalse)


class RealToBoolean(Component):
    """Convert Real to Boolean signal."""

    modelica_name = "Blocks.Math.RealToBoolean"

    threshold = Parameter(t.Real, 0.5, "Output signal y is true, if input u >= threshold")
    u = RealInput("Connector of Real input signal")
    y = BooleanOutput("= true, where u >= threshold")

    def equations(self) -> None:
        self.y = self.switch(self.u - self.threshold, 1.0, 0.0)


class IntegerToBoolean(Component):
    """Convert Integer to Boolean signal."""

    modelica_name = "Blocks.Math.IntegerToBoolean"

    threshold = Parameter(t.Integer, 1, "Output signal y is true, if input u >= threshold")
    u = IntegerInput("Connector of Integer input signal")
    y = BooleanOutput("= true, where u >= threshold")

    def equations(self) -> None:
        self.y = self.u >= self.threshold


__all__ = [
    "Abs",
    "Acos",
    "Add",
    "Add3",
    "Asin",
    "Atan",
    "Atan2",
    "BooleanToInteger",
    "BooleanToReal",
    "Cos",
    "Cosh",
    "Division",
    "Exp",
    "Exponentiation",
    "Feedback",
    "From_bar",
    "From_day",
    "From_deg",
    "From_degC",
    "From_degF",
    "From_degRk",
    "From_gps",
    "From_hour",
    "From_kWh",
    "From_kmh",
    "From_litre",
    "From_minute",
    "From_rpm",
    "Gain",
    "IntegerToBoolean",
    "IntegerToReal",
    "InverseBlockConstraints",
    "LinearDependency",
    "Log",
    "Log10",
    "MatrixGain",
    "Max",
    "Min",
    "MinMax",
    "MultiProduct",
    "MultiSum",
    "MultiSwitch",
    "PolarToRectangular",
    "Power",
    "Product",
    "Pythagoras",
    "RealToBoolean",
    "RealToInteger",
    "RectangularToPolar",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Sum",
    "Tan",
    "Tanh",
    "To_bar",
    "To_day",
    "To_deg",
    "To_degC",
    "To_degF",
    "To_degRk",
    "To_gps",
    "To_hour",
    "To_kWh",
    "To_kmh",
    "To_litre",
    "To_minute",
    "To_rpm",
    "WrapAngle",
]
