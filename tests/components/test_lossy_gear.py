"""Gears with losses, and freewheels, against closed forms and the balance of energy."""

from __future__ import annotations

import fmpy
import numpy as np
import pytest
from drive_blocks import Wave
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from wiring import run, wired

from mbfmu.components import blocks, rotational, thermal, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.export.build import build
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate

TABLE = ((0.0, 0.8, 0.6, 0.3, 0.5),)


def at(w: float = 0.0) -> dict[str, Start]:
    return {"phi": Start(0.0, fixed=True), "w": Start(w, fixed=True)}


class Geared(Assembly):
    """Two inertias and a gear of ratio 3 between them; constant torques at both ends."""

    J1, J2, ratio = 0.4, 5.0, 3.0

    def __init__(self, tau1: float, tau2: float, w: float = 0.0, table=TABLE, **gear) -> None:
        self.source1, self.source2 = (rotational.ConstantTorque(tau_constant=tau) for tau in (tau1, tau2))
        self.inertia1, self.inertia2 = rotational.Inertia(J=self.J1), rotational.Inertia(J=self.J2, **at(w))
        self.gear = rotational.LossyGear(ratio=self.ratio, lossTable=table, **gear)
        self.connect(self.source1.flange, self.inertia1.flange_a)
        self.connect(self.inertia1.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.inertia2.flange_a)
        self.connect(self.inertia2.flange_b, self.source2.flange)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tau1", "tau2", "w", "slope", "offset"),
    [
        (10.0, -1.0, 5.0, 0.8, -0.3),  # forward, flange_a drives: out = eta_mf1 tau_a - tau_bf1
        (-10.0, -1.0, -5.0, 0.8, 0.3),  # the same, backward
        (-4.0, 50.0, 5.0, 1 / 0.6, -0.5),  # forward, flange_b drives: out = tau_a/eta_mf2 - tau_bf2
        (4.0, -50.0, -5.0, 1 / 0.6, 0.5),
    ],
)
def test_each_quadrant_has_its_efficiency(tau1, tau2, w, slope, offset):
    """J1 i a2 = tau1 - tau_a and J2 a2 = tau2 + i (slope tau_a + offset)."""
    result = simulate(Geared(tau1, tau2, w), 0.1, tolerance=1e-10)
    i, J1, J2 = Geared.ratio, Geared.J1, Geared.J2
    acceleration = (tau2 + i * (slope * tau1 + offset)) / (J2 + i**2 * slope * J1)
    np.testing.assert_allclose(result["inertia2.w"], w + acceleration * result.time, atol=1e-8)
    driven = tau1 - J1 * i * acceleration
    np.testing.assert_allclose(result["gear.flange_a.tau"], driven, rtol=1e-9)
    np.testing.assert_allclose(result["gear.tauLoss"], driven - slope * driven - offset, rtol=1e-9)
    assert np.all(result["gear.lossPower"] > 0)
    np.testing.assert_array_equal(result["gear.mode"], np.sign(w))
    bearing = (0.3 - 0.5) / (0.8 - 1 / 0.6)  # the part of the friction at flange_a, which does not pass the teeth
    np.testing.assert_allclose(result["gear.tau_bf_a"], bearing, rtol=1e-12)
    np.testing.assert_allclose(result["gear.tau_eta"], driven - np.sign(w) * bearing, rtol=1e-9)
    np.testing.assert_array_equal(result["gear.tau_etaPos"], driven - np.sign(w) * bearing >= 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "bearing"),
    [
        ((1.0, 1.0, 0.4, 0.4), 0.2),
        ((1.0, 0.8, 0.3, 0.5), 0.8),
        ((0.8, 1.0, 0.5, 0.3), -1.0),
        ((0.5, 0.5, 0.1, 0.7), 0.4),
    ],
)
def test_the_bearing_at_flange_a_has_what_the_teeth_leave_of_the_friction(row, bearing):
    """bearing1 = eta1 a + b and bearing2 = a/eta2 + b; without losses in the teeth a is half of it."""
    result = simulate(Geared(10.0, -1.0, 5.0, table=((0.0, *row),)), 0.01)
    np.testing.assert_allclose(result["gear.tau_bf_a"], bearing, rtol=1e-12)


def test_a_gear_sticks_until_the_load_overcomes_its_losses():
    """Driven from behind by a growing torque and free in front, it begins to roll at ratio tau_bf2."""
    result = run(
        "load.y - torque.tau",
        "torque.flange - shaft.flange_b",
        "gear.flange_b - shaft.flange_a",
        "rotor.flange_b - gear.flange_a",
        load=Wave(amplitude=3.0, omega=1.0),
        torque=rotational.Torque(),
        shaft=rotational.Inertia(J=1.0, **at()),
        gear=rotational.LossyGear(ratio=3.0, lossTable=TABLE),
        rotor=rotational.Inertia(J=0.2),
    )
    torque = 3.0 * np.sin(result.time)
    begins = np.arcsin(3.0 * 0.5 / 3.0)
    stuck = result.time < begins - 1e-9
    np.testing.assert_array_equal(result["gear.locked"][stuck], 1.0)
    np.testing.assert_allclose(result["gear.tauLoss"][stuck], torque[stuck] / 3.0, atol=1e-9)
    np.testing.assert_allclose(result["shaft.w"][stuck], 0.0, atol=1e-9)
    assert np.all(result["shaft.w"][result.time > begins + 0.02] > 0)


def test_a_coasting_gear_stops_and_stays():
    """The load drives backward from its inertia alone: it slows down evenly, and then rests."""
    result = simulate(Geared(0.0, 0.0, w=2.0), 30.0, interval=0.1, tolerance=1e-9)
    i, J1, J2 = Geared.ratio, Geared.J1, Geared.J2
    deceleration = i * 0.5 / (J2 + i**2 * J1 / 0.6)
    assert 2.0 / deceleration < 20
    np.testing.assert_allclose(result["inertia2.w"], np.maximum(2.0 - deceleration * result.time, 0.0), atol=2e-8)


@pytest.mark.slow
def test_events_are_the_same_whatever_the_communication_step():
    """Forward, stuck, backward: the angle at common instants does not depend on how often values are exchanged."""

    def swinging() -> Assembly:
        return wired(
            "drive.y - torque.tau",
            "torque.flange - rotor.flange_a",
            "rotor.flange_b - gear.flange_a",
            "gear.flange_b - load.flange_a",
            drive=Wave(amplitude=5.0, omega=6.0),
            torque=rotational.Torque(),
            rotor=rotational.Inertia(J=0.3),
            gear=rotational.LossyGear(ratio=2.0, lossTable=((0, 0.9, 0.8, 0.5, 0.7), (5, 0.7, 0.5, 1.0, 1.2))),
            load=rotational.Inertia(J=1.0, **at()),
        )

    runs = [simulate(swinging(), 2.0, interval=step, tolerance=1e-9) for step in (5e-3, 5e-2, 0.2)]
    times = np.linspace(0, 2, 11)
    fine, *others = [np.interp(times, r.time, r["load.phi"]) for r in runs]
    assert set(runs[0]["gear.mode"]) == {-1.0, 0.0, 1.0}
    for other in others:
        np.testing.assert_allclose(other, fine, atol=1e-6)


@pytest.mark.slow
def test_events_of_an_fmu_do_not_depend_on_its_steps(tmp_path):
    """A gear with losses and a mass between stops, stepped every 0.2 ms and every 100 ms: equal but for rounding."""
    parts = Geared(6.0, -4.0, w=-2.0)
    parts.pull, parts.force = Wave(amplitude=-12.0, omega=6.0), translational.Force()
    parts.mass = translational.MassWithStopAndFriction(
        m=2.0,
        L=0.2,
        smin=-1.0,
        smax=1.0,
        F_prop=0.3,
        F_Coulomb=1.0,
        F_Stribeck=1.0,
        fexp=2.0,
        s=Start(0.0, fixed=True),
        v=Start(3.0, fixed=True),
    )
    parts.connect(parts.pull.y, parts.force.f)
    parts.connect(parts.force.flange, parts.mass.flange_b)
    path = build(parts, tmp_path / "steps.fmu", target="native", equations="interpreted")
    names = ["inertia2.phi", "inertia2.w", "gear.mode", "mass.s", "mass.v", "mass.mode", "mass.stopped"]
    fine, coarse = (
        fmpy.simulate_fmu(
            str(path), stop_time=1.0, step_size=step, output_interval=0.1, output=names, relative_tolerance=1e-8
        )
        for step in (2e-4, 0.1)
    )
    assert set(fine["mass.stopped"]) == {0.0, 1.0}
    assert set(fine["gear.mode"]) > {1.0}
    for name in names:
        np.testing.assert_allclose(coarse[name], fine[name], atol=1e-12)


def test_the_energy_balance_of_a_lossy_gear_closes():
    system = System.of(Geared(10.0, -1.0, w=0.0, useSupport=False), energy=True)
    np.testing.assert_allclose(simulate(system, 1.0)["energy.balanceError"], 0.0, atol=1e-11)


def test_without_losses_it_is_an_ideal_gear():
    result = simulate(Geared(2.0, -1.0, table=((0.0, 1.0, 1.0, 0.0, 0.0),)), 1.0, tolerance=1e-10)
    acceleration = (3 * 2.0 - 1.0) / (5.0 + 9 * 0.4)
    np.testing.assert_allclose(result["inertia2.w"], acceleration * result.time, atol=1e-8)
    np.testing.assert_array_equal(result["gear.mode"], 2.0)


def test_the_housing_takes_the_difference_of_the_torques():
    parts = Geared(10.0, -1.0, w=5.0, useSupport=True)
    parts.ground = rotational.Fixed()
    parts.connect(parts.gear.support, parts.ground.flange)
    result = simulate(parts, 0.1)
    total = result["gear.flange_a.tau"] + result["gear.flange_b.tau"] + result["gear.support.tau"]
    np.testing.assert_allclose(total, 0.0, atol=1e-12)


@pytest.mark.parametrize("table", [((0.0, 1.0, 1.0),), ((1.0, 1, 1, 0, 0),), ((0.0, 1, 1, 0, 0), (0.0, 1, 1, 0, 0))])
def test_a_table_of_losses_that_is_none_is_named(table):
    with pytest.raises(ModelError, match=r"LossyGear\.lossTable.*4 numbers"):
        System.of(Geared(1.0, 1.0, table=table))


@pytest.mark.slow
@pytest.mark.parametrize(
    "table",
    [
        ((0, 0.9, 0.9, 1.0, 1.0), (1, 0.9, 0.9, 0.2, 0.5)),
        ((0, 0.8, 0.9, 0.1, 0.1), (1, 0.95, 0.9, 0.1, 0.1)),
        ((0, 0.9, 0.9, 0.1, 0.1), (1, 0.9, 0.2, 0.1, 0.1)),
    ],
    ids=["friction", "efficiency above 1", "efficiency through 0"],
)
def test_losses_that_no_gear_has_are_refused_at_the_speed_where_they_begin(table):
    with pytest.raises(SimulationError, match=r"gear.*at this speed lossTable goes on to.*add rows"):
        simulate(Geared(20.0, 0.0, w=0.2, table=table), 2.0)
    simulate(Geared(20.0, 0.0, w=0.2, table=(*table, (2, *table[-1][1:]))), 0.5)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_gearbox_is_a_lossy_gear_and_a_spring():
    """Steady drive: the twist is the torque behind the gear over the stiffness."""
    result = run(
        "source.flange - rotor.flange_a",
        "rotor.flange_b - box.flange_a",
        "box.flange_b - load.flange_a",
        stop=20.0,
        source=rotational.ConstantTorque(tau_constant=2.0),
        rotor=rotational.Inertia(J=0.1),
        box=rotational.Gearbox(
            ratio=4.0, lossTable=((0.0, 0.9, 0.9, 0.1, 0.1),), c=500.0, d=50.0, phi_rel=Start(0.0, fixed=True)
        ),
        load=rotational.Inertia(J=2.0, **at(1.0)),
    )
    acceleration = 4 * (0.9 * 2.0 - 0.1) / (2.0 + 16 * 0.9 * 0.1)
    assert result["load.a"][-1] == pytest.approx(acceleration, rel=1e-5)
    assert result["box.phi_rel"][-1] == pytest.approx(-2.0 * acceleration / 500.0, rel=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_gearbox_gives_its_losses_as_heat_and_its_torques_to_its_support():
    """Steady drive: what comes in and does not go out is heat, and the support takes the difference of torques."""
    result = run(
        "source.flange - rotor.flange_a", "rotor.flange_b - box.flange_a", "box.flange_b - load.flange_a",
        "box.support - ground.flange", "box.heatPort - warm.port",
        stop=5.0,
        source=rotational.ConstantTorque(tau_constant=2.0), rotor=rotational.Inertia(J=0.1),
        box=rotational.Gearbox(
            ratio=4.0, lossTable=((0.0, 0.9, 0.9, 0.1, 0.1),), c=500.0, d=50.0, phi_rel=Start(0.0, fixed=True),
            useSupport=True, useHeatPort=True,
        ),
        load=rotational.Inertia(J=2.0, **at(1.0)), ground=rotational.Fixed(), warm=thermal.FixedTemperature(T=300.0),
    )  # fmt: skip
    acceleration = 4 * (0.9 * 2.0 - 0.1) / (2.0 + 16 * 0.9 * 0.1)
    driving, driven = 2.0 - 0.1 * 4 * acceleration, 2.0 * acceleration
    lost = (driving - driven / 4) * result["rotor.w"][-1]
    assert result["box.support.tau"][-1] == pytest.approx(driven - driving, rel=1e-6)
    assert result["warm.port.Q_flow"][-1] == pytest.approx(lost, rel=1e-6)


# -- freewheels --------------------------------------------------------------------------------------------------------


class Freewheel(Assembly):
    """An engine that is driven to and fro, a freewheel, and a load that it pushes."""

    def __init__(self, pressed: float, **clutch) -> None:
        self.drive = Wave(amplitude=4.0, omega=2.0)
        self.torque = rotational.Torque()
        self.engine = rotational.Inertia(J=1.0, **at())
        self.freewheel = rotational.OneWayClutch(mu_pos=((0.0, 0.5),), fn_max=2.0, **clutch)
        self.load = rotational.Inertia(J=3.0, **at())
        self.press = Wave(amplitude=0.0, omega=1.0, offset=pressed)
        self.connect(self.drive.y, self.torque.tau)
        self.connect(self.torque.flange, self.engine.flange_a)
        self.connect(self.engine.flange_b, self.freewheel.flange_a)
        self.connect(self.freewheel.flange_b, self.load.flange_a)
        self.connect(self.press.y, self.freewheel.f_normalized)


def test_an_open_freewheel_drives_one_way_and_overruns_the_other():
    """4 sin 2t drives both for a quarter period of push, then the load keeps its speed."""
    result = simulate(Freewheel(0.0), 3.0, interval=0.01, tolerance=1e-10)
    t = result.time
    together, apart = t < np.pi / 2 - 1e-3, (t > np.pi / 2 + 1e-3) & (t < 3.0)
    speed = (1 - np.cos(2 * t)) * 2.0 / 4.0
    np.testing.assert_allclose(result["load.w"][together], speed[together], atol=1e-6)
    np.testing.assert_allclose(result["freewheel.tau"][together], -3.0 * np.sin(2 * t)[together], atol=1e-3)
    np.testing.assert_allclose(result["load.w"][apart], 1.0, atol=1e-3)
    free = 1.0 + (-1 - np.cos(2 * t)) * 2.0
    np.testing.assert_allclose(result["engine.w"][apart], free[apart], atol=1e-3)
    assert np.all(result["freewheel.w_rel"] > -1e-8)


def test_a_pressed_freewheel_rubs_while_it_overruns():
    """It carries 1 N.m where the load overruns, and holds as a clutch until that is exceeded."""
    result = simulate(Freewheel(1.0, peak=1.2), 3.0, interval=0.01, tolerance=1e-10)
    slides = result["freewheel.w_rel"] > 1e-6
    assert slides.any()
    np.testing.assert_allclose(result["freewheel.tau"][slides], 1.0, atol=1e-9)
    np.testing.assert_allclose(result["load.a"][slides], -1.0 / 3.0, atol=1e-9)
    stuck = result["freewheel.locked"] == 1.0
    assert result["freewheel.tau"][stuck].max() < 1.2 + 1e-6


def test_a_freewheel_cannot_start_backward():
    parts = Freewheel(0.0)
    parts.engine.modify(w=Start(1.0, fixed=True))
    with pytest.raises(Exception, match="turns slower than flange_a"):
        simulate(parts, 0.1)


@pytest.mark.slow
def test_a_gear_and_a_bearing_that_stick_on_one_shaft():
    """Which of them holds how much is open; when the shaft rests and how it turns is not (library: LossyGearDemo2)."""
    model = wired(
        "sine.y - drive.tau",
        "ramp.y - load.tau",
        "drive.flange - bearing.flange_a",
        "bearing.flange_b - inertia1.flange_a",
        "inertia1.flange_b - gear.flange_a",
        "gear.flange_b - inertia2.flange_a",
        "inertia2.flange_b - load.flange",
        sine=Wave(amplitude=10.0, omega=2 * np.pi),
        ramp=blocks.Ramp(height=5.0, duration=2.0, offset=-10.0),
        drive=rotational.Torque(),
        load=rotational.Torque(),
        bearing=rotational.BearingFriction(tau_pos=((0, 0.5), (1, 1))),
        gear=rotational.LossyGear(ratio=2.0, lossTable=((0, 0.5, 0.5, 0, 0),)),
        inertia1=rotational.Inertia(J=1.0),
        inertia2=rotational.Inertia(J=1.5, **at()),
    )

    def surplus(t, w, way, efficiency):
        """Torque at inertia 1 beyond what the bearing and the load, through the gear, take."""
        return 10 * np.sin(2 * np.pi * t) - 0.5 * (way + w) + (2.5 * t - 10) / (2 * efficiency)

    def turn(start, way, efficiency):
        """Speed of inertia 1 while it turns this way; flange_a drives: 0.5, flange_b drives: 2."""
        stops = lambda t, w: w[0] if t > start + 1e-3 else way  # noqa: E731
        stops.terminal = True
        rate = lambda t, w: [surplus(t, w[0], way, efficiency) / (1 + 0.75 / (2 * efficiency))]  # noqa: E731
        return solve_ivp(rate, (start, 0.5), [0.0], events=stops, rtol=1e-11, max_step=1e-3, dense_output=True)

    begins = [0.0, brentq(surplus, 0.2, 0.25, args=(0, 1, 0.5)), brentq(surplus, 0.3, 0.5, args=(0, -1, 2))]
    turns = [turn(*case) for case in zip(begins, (-1, 1, -1), (2, 0.5, 2), strict=True)]
    for tolerance in (1e-6, 1e-9):
        result = simulate(model, 0.5, tolerance=tolerance, interval=0.005)
        expected = np.zeros_like(result.time)
        for part in turns:
            moves = (result.time >= part.t[0]) & (result.time <= part.t[-1])
            expected[moves] = part.sol(result.time[moves])[0]
        np.testing.assert_allclose(result["inertia1.w"], expected, atol=5e-7 + 2 * tolerance)
