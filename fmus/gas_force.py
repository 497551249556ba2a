"""GasForce: pressure of the gas in a cylinder of an engine, a component of the gallery's own."""

from __future__ import annotations

import math

import casadi as ca
from mbfmu.components.translational.interfaces import PartialCompliant

from mbfmu.modeling import required
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Parameter, Variable


def _polynomial(x: ca.SX, *coefficients: float) -> ca.SX:
    """Horner's scheme, highest power first."""
    value = ca.SX(coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


class GasForce(PartialCompliant):
    """Gas force between piston and cylinder head: a fitted pressure over the stroke, compression and expansion apart.

    Modelica.Mechanics.MultiBody.Examples.Loops.Utilities.GasForce2 of the library 4.0. The pressure jumps where the
    piston reverses; `switch` lets the integrator stop there instead of feeling its way.
    """

    L = Parameter(t.Length, required, "Length of cylinder")
    d = Parameter(t.Length, required, "Diameter of cylinder")
    k0 = Parameter(t.Real, 0.01, "Volume V = k0 + k1*(1-x), with x = 1 - s_rel/L [m3]")
    k1 = Parameter(t.Real, 1.0, "Volume V = k0 + k1*(1-x), with x = 1 - s_rel/L [m3]")
    k = Parameter(t.Real, 1.0, "Gas constant (p*V = k*T) [J/K]")

    x = Variable(t.Dimensionless, "Normalised position of cylinder")
    v_rel = Variable(t.Velocity, "Relative velocity (= der(s_rel))")
    press = Variable(t.Type("Pressure", unit="Pa", quantity="Pressure"), "Cylinder pressure")
    V = Variable(t.Type("Volume", unit="m3", quantity="Volume"), "Volume")
    T = Variable(t.Type("Temperature", unit="K", quantity="ThermodynamicTemperature"), "Temperature")

    def force(self) -> ca.SX:
        """Force of the gas [N], which pushes the flanges apart."""
        self.x = x = 1 - self.s_rel / self.L
        self.v_rel = self.der(self.s_rel)
        compression = self.switch(
            x - 0.986061,
            _polynomial(x, 2836360, -10569296, 14761814, -9158505, 2129670),
            _polynomial(x, 177.4132, -287.2189, 151.8252, -24.9973, 2.4),
        )
        expansion = self.switch(
            x - 0.933,
            _polynomial(x, -3929704, 14748765, -20747000, 12964477, -3036495),
            _polynomial(x, 145.930, -131.707, 17.3438, 17.9272, 2.4),
        )
        self.press = 1e5 * self.switch(self.v_rel, expansion, compression)
        self.V = self.k0 + self.k1 * (1 - x)
        self.T = self.press * self.V / self.k
        return -self.press * math.pi * self.d**2 / 4


__all__ = ["GasForce"]
