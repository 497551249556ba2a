"""Gas force of the engines (MultiBody.Examples.Loops.Utilities 4.1, GasForce of 3.2)."""

from __future__ import annotations

import math
from typing import ClassVar

import casadi as ca

from mbfmu.components.translational.interfaces import PartialCompliant
from mbfmu.modeling import required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable

#: The flanges may be this far beyond the ends of the cylinder [m], so that rounding is no error.
MARGIN = 1e-12


def _polynomial(x: ca.SX, *coefficients: float) -> ca.SX:
    """Horner's scheme, highest power first."""
    value = ca.SX(coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


class _GasForce(PartialCompliant):
    """Gas force between piston and cylinder head: a fitted pressure over the stroke.

    Compression and expansion differ, so that the pressure jumps where the piston reverses; `switch` lets the
    integrator stop there instead of feeling its way.
    """

    L = Parameter(t.Length, required, "Length of cylinder", nonzero=True)
    d = Parameter(t.Length, required, "Diameter of cylinder")
    k0 = Parameter(t.Volume, 0.01, "Volume V = k0 + k1*(1-x)")
    k1 = Parameter(t.Volume, 1.0, "Volume V = k0 + k1*(1-x)")
    k = Parameter(t.HeatCapacity, 1.0, "Gas constant (p*V = k*T)")

    x = Variable(t.Dimensionless, "Normalized position of cylinder, 1 where the piston is at the head")
    v_rel = Variable(t.Velocity, "Relative piston velocity (= der(s_rel))")
    V = Variable(t.Volume, "Volume")
    T = Variable(t.Temperature, "Temperature")

    #: Positions from which on compression and expansion follow the second of their polynomials.
    bends: ClassVar[tuple[float, float]]

    def pressure(self) -> ca.SX:
        """Equations of motion and volume; the pressure in the cylinder [Pa]."""
        x = self.x
        self.v_rel = self.der(self.s_rel)
        self.V = self.k0 + self.k1 * (1 - x)
        inside = self.L * ca.fmin(1 - x, x) + MARGIN
        self.require(inside, f"the piston has left the cylinder, {self.stroke}; flip the component, or correct L")
        compression = self.switch(
            x - self.bends[0],
            _polynomial(x, 2836360, -10569296, 14761814, -9158505, 2129670),
            _polynomial(x, 177.4132, -287.2189, 151.8252, -24.9973, 2.4),
        )
        expansion = self.switch(
            x - self.bends[1],
            _polynomial(x, -3929704, 14748765, -20747000, 12964477, -3036495),
            _polynomial(x, 145.930, -131.707, 17.3438, 17.9272, 2.4),
        )
        return 1e5 * self.switch(self.v_rel, expansion, compression)

    def area(self) -> ca.SX:
        """Area of the piston [m2]."""
        return math.pi * self.d**2 / 4

    #: Where the piston may be.
    stroke: ClassVar[str]


class GasForce2(_GasForce):
    """Rough approximation of the gas force in a combustion engine's cylinder; it pushes the flanges apart."""

    modelica_name = "MultiBody.Examples.Loops.Utilities.GasForce2"
    bends, stroke = (0.986061, 0.933), "0 <= flange_b.s - flange_a.s <= L"

    press = Variable(t.Pressure, "Cylinder pressure")

    def force(self) -> ca.SX:
        self.x = 1 - self.s_rel / self.L
        self.press = self.pressure()
        self.T = self.press * self.V / self.k
        return -self.press * self.area()


class GasForce(_GasForce):
    """Simple gas force computation for a combustion engine (until library 3.2), its flanges exchanged."""

    modelica_name = "MultiBody.Examples.Loops.Utilities.GasForce"
    bends, stroke = (0.987, 0.93), "-L <= flange_b.s - flange_a.s <= 0"

    y = Variable(t.Dimensionless, "Normalized relative movement (= -s_rel/L)")
    dens = Variable(t.Density, "Density of 1 kg of gas")
    press = Variable(t.Type("Pressure_bar", unit="bar", quantity="Pressure"), "Cylinder pressure")

    def force(self) -> ca.SX:
        self.y = -self.s_rel / self.L
        self.x = 1 - self.y
        pressure = self.pressure()
        self.press, self.dens, self.T = pressure / 1e5, 1 / self.V, pressure * self.V / self.k
        return -pressure * self.area()


__all__ = ["GasForce", "GasForce2"]
