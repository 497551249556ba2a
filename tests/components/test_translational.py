"""Translational mechanics against closed forms."""

from __future__ import annotations

import math

import numpy as np
from mbfmu.components import translational

from mbfmu.modeling import Assembly, Start
from mbfmu.simulate import simulate


class Oscillator(Assembly):
    """Mass on a spring and a damper."""

    def __init__(self, m=2.0, c=50.0, d=0.8, L=0.3, l0=0.4, s0=0.7):
        self.fixed = translational.Fixed(s0=0.1)
        self.spring = translational.Spring(c=c, s_rel0=l0)
        self.damper = translational.Damper(d=d)
        self.mass = translational.Mass(m=m, L=L, s=Start(s0, fixed=True), v=Start(0.0, fixed=True))
        for element in (self.spring, self.damper):
            self.connect(self.fixed.flange, element.flange_a)
            self.connect(element.flange_b, self.mass.flange_a)


def test_damped_oscillator():
    """Underdamped free oscillation about s = 0.1 + 0.4 + 0.15."""
    m, c, d = 2.0, 50.0, 0.8
    result = simulate(Oscillator(m, c, d), 3.0, tolerance=1e-10)
    t, decay = result.time, d / (2 * m)
    omega = math.sqrt(c / m - decay**2)
    expected = 0.65 + 0.05 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(result["mass.s"], expected, atol=1e-9)
    np.testing.assert_allclose(result["damper.s_rel"], expected - 0.25, atol=1e-9)
    np.testing.assert_allclose(result["mass.flange_b.s"], expected + 0.15, atol=1e-9)
    np.testing.assert_allclose(result["damper.lossPower"], d * result["mass.v"] ** 2, atol=1e-10)
    np.testing.assert_allclose(result["mass.flange_a.f"], m * result["mass.a"], atol=1e-9)
    np.testing.assert_allclose(result["fixed.flange.f"], -result["mass.flange_a.f"], atol=1e-9)
