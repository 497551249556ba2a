"""Discs of brakes take up what brakes dissipate, and the air cools them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbfmu.components import rotational, thermal, vehicle
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate
from problems.braking import Stop

J, W, TORQUE, C, AIR = 2.0, 100.0, 40.0, 500.0, 280.0


class Stopped(Assembly):
    """A flywheel that is braked, which takes 5 s."""

    def __init__(self, **modifiers: object) -> None:
        self.wheel = rotational.Inertia(J=J, phi=Start(0.0, fixed=True), w=Start(W, fixed=True))
        self.brake = vehicle.DiscBrake(tauMax=50.0, C=C, T_air=AIR, **modifiers)
        self.connect(self.wheel.flange_b, self.brake.flange_a)
        self.input(self.brake.f_normalized, "pedal", start=TORQUE / 50)


class Heated(Stopped):
    """The same, with a heater at the disc."""

    def __init__(self) -> None:
        super().__init__(useHeatPort=True, G_0=0.0, G_w=0.0)
        self.heater = thermal.FixedHeatFlow(Q_flow=100.0)
        self.connect(self.heater.port, self.brake.heatPort)


def test_kinetic_energy_becomes_heat_of_the_disc() -> None:
    run = simulate(Stopped(G_0=0.0, G_w=0.0, T_start=300.0), 6.0, tolerance=1e-9)
    assert run["brake.disc.T"][0] == 300.0
    assert run["brake.disc.T"][-1] - 300.0 == pytest.approx(J * W**2 / 2 / C, rel=1e-9)


def test_the_air_cools_a_disc_that_turns_more_than_one_that_stands() -> None:
    def rate(time: float, T: np.ndarray) -> np.ndarray:
        speed = max(W - TORQUE / J * time, 0.0)
        return (TORQUE * speed - (30.0 + 2.0 * speed) * (T - AIR)) / C

    run = simulate(Stopped(G_0=30.0, G_w=2.0), 10.0, interval=1.0, tolerance=1e-10)
    wanted = solve_ivp(rate, (0, 10), [AIR], "Radau", np.arange(11), rtol=1e-10, atol=1e-10, max_step=0.1)
    np.testing.assert_allclose(run["brake.disc.T"], wanted.y[0], atol=1e-6)


def test_other_heat_comes_by_the_port() -> None:
    run = simulate(Heated(), 6.0, tolerance=1e-9)
    assert run["brake.disc.T"][-1] - AIR == pytest.approx((J * W**2 / 2 + 600.0) / C, rel=1e-9)


@pytest.mark.slow
def test_wheels_of_a_car_have_brakes_and_discs_of_their_own_axle() -> None:
    torques, discs, places = (
        [f"car.{name.format(wheel)}" for wheel in vehicle.cars.WHEELS]
        for name in ("brake_{}.tauMax", "brake_{}.disc.T", "corner_{}.frame_a.r_0[1]")
    )
    outputs = [*torques, *discs, *places]
    run = simulate(System.of(Stop()), 1e-3, outputs=outputs, start_values={"car.rearShare": 0.25})
    assert [run[name][0] / 2000.0 for name in torques] == [1, 1, 0.25, 0.25]
    assert [run[name][0] for name in discs] == [293.15] * 4
    assert [run[places[0]][0] - run[name][0] for name in places] == pytest.approx([0, 0, 2.7, 2.7], abs=1e-9)
