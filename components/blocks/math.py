"""Mathematical functions of signals (Modelica.Blocks.Math 4.0). Parameters take numbers or vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from mbfmu.components.blocks.interfaces import MISO, SI2SO, SISO, common_shape

from mbfmu.modeling import Component, Parameter, RealInput, RealOutput, required
from mbfmu.modeling import types as t


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
        self.y = self.u1 / self.u2


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

    k = Parameter(t.Real, lambda self: np.ones(self.nin), "Optional: sum coefficients", shape=None, tunable=True)

    def equations(self) -> None:
        self.y = ca.sum1(self.k * self.u)


class MultiSum(Component):
    """Sum of Reals: y = k[1]*u[1] + k[2]*u[2] + ... + k[n]*u[n]."""

    modelica_name = "Blocks.Math.MultiSum"

    nu = Parameter(t.Integer, 1, "Number of input connections", min=1)
    k = Parameter(t.Real, lambda self: np.ones(self.nu), "Input gains", shape=None, tunable=True)
    u = RealInput("Connector of Real input signals", shape=lambda self: (self.nu,))
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = ca.sum1(self.k * self.u)


class MultiProduct(Component):
    """Product of Reals: y = u[1]*u[2]* ... *u[n]."""

    modelica_name = "Blocks.Math.MultiProduct"

    nu = Parameter(t.Integer, 1, "Number of input connections", min=1)
    u = RealInput("Connector of Real input signals", shape=lambda self: (self.nu,))
    y = RealOutput("Connector of Real output signal")

    def equations(self) -> None:
        self.y = math.prod(ca.vertsplit(self.u))


class Power(SISO):
    """Output the power to a base of the input signal."""

    modelica_name = "Blocks.Math.Power"

    base = Parameter(t.Real, math.e, "Base of power", min=1e-60)
    NumericGradient = Parameter(t.Boolean, False, "Accepted for compatibility: derivatives are exact")

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
Log = _block("Log", ca.log, "Output the natural (base e) logarithm of the input (input > 0 required).")
Log10 = _block("Log10", ca.log10, "Output the base 10 logarithm of the input (input > 0 required).")

_UNITS = "Math.UnitConversions"
To_deg = _block("To_deg", lambda u: u * (180 / math.pi), "Convert from radian to degree.", _UNITS)
From_deg = _block("From_deg", lambda u: u * (math.pi / 180), "Convert from degree to radian.", _UNITS)
To_rpm = _block(
    "To_rpm", lambda u: u * (30 / math.pi), "Convert from radian per second to revolutions per minute.", _UNITS
)
From_rpm = _block(
    "From_rpm", lambda u: u * (math.pi / 30), "Convert from revolutions per minute to radian per second.", _UNITS
)


__all__ = [
    "Abs",
    "Acos",
    "Add",
    "Add3",
    "Asin",
    "Atan",
    "Atan2",
    "Cos",
    "Cosh",
    "Division",
    "Exp",
    "Feedback",
    "From_deg",
    "From_rpm",
    "Gain",
    "Log",
    "Log10",
    "MatrixGain",
    "Max",
    "Min",
    "MultiProduct",
    "MultiSum",
    "PolarToRectangular",
    "Power",
    "Product",
    "RectangularToPolar",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Sum",
    "Tan",
    "Tanh",
    "To_deg",
    "To_rpm",
    "WrapAngle",
]
