"""The energy balance of systems: what a field without potential supplies, and what leaves."""

from __future__ import annotations

import casadi as ca
import numpy as np

from mbfmu.components import Body, PointMass, Revolute, World, rotational
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate


class InWind(Assembly):
    """A pendulum, with a damper in its hinge, and a mass that flies, in a field that turns and has no potential."""

    tolerance = 1e-9

    def __init__(self) -> None:
        self.world = World(gravityAcceleration=lambda r: ca.vertcat(-3 * r[1], 2 * r[0] - 9.81, 0.5 * r[0]))
        self.hinge = Revolute(useAxisFlange=True, phi=Start(0.3, fixed=True), w=Start(2.0, fixed=True))
        self.bob = Body(m=2.0, r_CM=(0.7, 0, 0), I_22=0.1, I_33=0.1)
        self.damper = rotational.Damper(d=0.4)
        self.ball = PointMass(m=0.5, r_0=Start((1, 2, 0), fixed=True), v_0=Start((1, 0, -1), fixed=True))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bob.frame_a)
        self.connect(self.damper.flange_a, self.hinge.support)
        self.connect(self.damper.flange_b, self.hinge.axis)


def test_a_field_without_potential_supplies_what_the_bodies_gain() -> None:
    result = simulate(System.of(InWind(), energy=True), 1.0)
    kinetic, time = result["energy.kinetic"], result.time
    v = np.array([[result[f"ball.v_0[{i + 1}]"], result[f"ball.frame_a.r_0[{i + 1}]"]] for i in range(3)])
    ball = 0.5 * (v[0, 0] * -3 * v[1, 1] + v[1, 0] * (2 * v[0, 1] - 9.81) + v[2, 0] * 0.5 * v[0, 1])
    phi, w = result["hinge.phi"], result["hinge.w"]
    x, y = 0.7 * np.cos(phi), 0.7 * np.sin(phi)
    bob = 2.0 * (-3 * y * -y * w + (2 * x - 9.81) * x * w)
    heat = 0.4 * w**2
    power = ball + bob - heat
    gained = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(time))])
    np.testing.assert_allclose(kinetic - kinetic[0], gained, atol=2e-3 * np.ptp(kinetic))
    assert np.abs(ball).max() > 1.0
    np.testing.assert_allclose(result["energy.outflow"], heat, rtol=1e-9, atol=1e-12)
    assert np.abs(result["energy.balanceError"]).max() < 1e-9
