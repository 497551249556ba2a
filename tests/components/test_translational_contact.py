"""Gaps, stops, dry friction and vehicles along a line, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drive_blocks import Wave
from scipy.integrate import solve_ivp
from wiring import run, wired

from mbfmu.components import blocks, rotational, thermal, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate


def at(s: float = 0.0, v: float = 0.0) -> dict[str, Start]:
    return {"s": Start(s, fixed=True), "v": Start(v, fixed=True)}


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_a_mass_bounces_off_an_elastic_gap(exponent):
    """It comes back with its speed; for the linear spring it is in contact for half a period."""
    result = run(
        "ground.flange - gap.flange_a",
        "gap.flange_b - mass.flange_a",
        stop=2.0,
        step=0.001,
        ground=translational.Fixed(),
        gap=translational.ElastoGap(c=400.0, d=0.0, s_rel0=0.1, n=exponent, f_ref=400.0),
        mass=translational.Mass(m=4.0, **at(0.6, -1.0)),
    )
    t, gap = result.time, result["gap.s_rel"]
    begins = t[np.argmax(gap < 0.1)]
    assert begins == pytest.approx(0.5, abs=2e-3)
    np.testing.assert_allclose(result["mass.v"][-1], 1.0, atol=1e-6)
    touching = np.count_nonzero(result["gap.contact"]) * 0.001
    if exponent == 1.0:
        assert touching == pytest.approx(math.pi / 10.0, abs=3e-3)
        deepest = 0.1 - gap.min()
        assert deepest == pytest.approx(1.0 / 10.0, abs=1e-5)
    else:  # f_ref x^2.5 / 2.5 = m v^2 / 2
        assert 0.1 - gap.min() == pytest.approx((2.0 * 2.5 / 400.0) ** 0.4, rel=1e-4)


def test_a_damped_gap_never_pulls_and_its_energy_balance_closes():
    parts = wired(
        "ground.flange - gap.flange_a",
        "gap.flange_b - mass.flange_a",
        stop=2.0,
        ground=translational.Fixed(),
        gap=translational.ElastoGap(c=400.0, d=60.0, s_rel0=0.1),
        mass=translational.Mass(m=4.0, **at(0.6, -1.0)),
    )
    result = simulate(System.of(parts, energy=True), 2.0, interval=0.001, tolerance=1e-9)
    assert result["gap.f"].max() < 1e-9
    assert 0 < result["mass.v"][-1] < 0.9
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-10)


def stop_mass(**more):
    given = {
        "m": 2.0,
        "L": 0.2,
        "smin": -1.0,
        "smax": 1.0,
        "F_prop": 0.0,
        "F_Coulomb": 1.0,
        "F_Stribeck": 0.0,
        "fexp": 0.0,
    }
    return translational.MassWithStopAndFriction(**(given | more))


def test_a_sliding_mass_comes_to_rest_before_its_stop():
    """Deceleration F/m = 0.5 m/s2: it stops after v/0.5 s and v^2/(2 0.5) m."""
    result = run(mass=stop_mass(**at(-0.5, 0.8)), stop=3.0)
    t = result.time
    np.testing.assert_allclose(result["mass.v"], np.maximum(0.8 - 0.5 * t, 0.0), atol=2e-9)
    assert result["mass.s"][-1] == pytest.approx(-0.5 + 0.64, abs=1e-8)
    np.testing.assert_array_equal(result["mass.mode"], np.where(t < 1.6, 1.0, 0.0))


def test_a_mass_that_hits_its_stop_stays_there_until_it_is_pulled_back():
    """v = 3 at 0.9 m from the stop; the pull is -1.6 sin t, and lets go of the stop where it exceeds 1.001."""
    result = run(
        "pull.y - force.f",
        "force.flange - mass.flange_b",
        stop=3.0,
        pull=Wave(amplitude=-1.6, omega=1.0),
        force=translational.Force(),
        mass=stop_mass(**at(0.0, 3.0)),
    )
    t = result.time
    flight = solve_ivp(
        lambda t, y: (y[1], (-1.0 - 1.6 * math.sin(t)) / 2.0),
        (0, 1),
        (0.0, 3.0),
        "DOP853",
        rtol=1e-11,
        events=lambda t, y: y[0] - 0.9,
    )
    hits, lets_go = flight.t_events[0][0], math.asin(1.001 / 1.6)
    held = (t > hits + 1e-6) & (t < lets_go - 1e-3)
    assert held.sum() > 10
    np.testing.assert_allclose(result["mass.s"][held], 0.9, atol=1e-6)
    np.testing.assert_allclose(result["mass.v"][held], 0.0, atol=1e-8)
    np.testing.assert_array_equal(result["mass.stopped"][held], 1.0)
    np.testing.assert_allclose(result["mass.f"][held], -1.6 * np.sin(t[held]), atol=1e-7)
    assert np.all(result["mass.v"][t > lets_go + 0.05] < 0)


def test_a_stop_takes_a_push_that_friction_could_not():
    result = run(
        "force.flange - mass.flange_a",
        stop=1.0,
        force=translational.ConstantForce(f_constant=50.0),
        mass=stop_mass(**at(0.9, 0.0)),
    )
    np.testing.assert_allclose(result["mass.s"], 0.9, atol=1e-8)
    np.testing.assert_allclose(result["mass.f"], 50.0, atol=1e-7)


def test_a_mass_outside_of_its_stops_is_refused():
    with pytest.raises(InitializationError, match="outside of its stops"):
        run(mass=stop_mass(**at(2.0)))


def test_a_support_takes_the_friction():
    result = run(
        "mass.flange_b - friction.flange_a",
        "friction.support - ground.flange",
        stop=1.0,
        mass=translational.Mass(m=2.0, **at(0.0, 2.0)),
        friction=translational.SupportFriction(f_pos=((0.0, 3.0), (2.0, 5.0)), useSupport=True),
        ground=translational.Fixed(),
    )
    # 2 v' = -(3 + v): v = 5 exp(-t/2) - 3, until it rests
    v = np.maximum(5.0 * np.exp(-result.time / 2) - 3.0, 0.0)
    np.testing.assert_allclose(result["mass.v"], v, atol=2e-8)
    np.testing.assert_allclose(result["ground.flange.f"], -result["friction.support.f"], atol=1e-12)
    np.testing.assert_allclose(result["friction.support.f"], -result["friction.f"], atol=1e-12)


def test_a_pressed_brake_stops_a_mass():
    result = run(
        "mass.flange_b - brake.flange_a",
        "press.y - brake.f_normalized",
        stop=1.0,
        mass=translational.Mass(m=2.0, **at(0.0, 1.0)),
        brake=translational.Brake(mu_pos=((0.0, 0.4),), cgeo=0.5, fn_max=40.0),
        press=blocks.Step(startTime=0.2, height=0.5),
    )
    t = result.time
    np.testing.assert_allclose(result["mass.v"], np.clip(1.0 - 2.0 * (t - 0.2), 0.0, 1.0), atol=1e-8)
    np.testing.assert_array_equal(result["brake.free"][t < 0.2 - 1e-9], 1.0)
    np.testing.assert_array_equal(result["brake.mode"][t < 0.2 - 1e-9], 2.0)


# -- loads that depend on speed ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("reg", ["Exp", "Sine", "Linear", "Cosine"])
def test_signs_made_smooth(reg):
    """Above the regularization a mass slows down evenly; below it the law is the library's."""
    result = run(
        "brake.flange - mass.flange_a",
        stop=2.0,
        brake=translational.SignForce(f_nominal=-1.5, reg=reg, v0=0.2),
        mass=translational.Mass(m=1.0, **at(0.0, 2.0)),
    )
    v = result["mass.v"]
    fast = v > 0.2
    np.testing.assert_allclose(v[fast], 2.0 - 1.5 * result.time[fast], atol=1e-8)
    part = v / 0.2
    law = {
        "Exp": 2 / (1 + np.exp(-v / 0.002)) - 1,
        "Sine": np.sin(np.pi / 2 * part),
        "Linear": part,
        "Cosine": np.sign(v) * (1 - np.cos(np.pi / 2 * part)),
    }[reg]
    np.testing.assert_allclose(result["brake.f"][~fast], 1.5 * law[~fast], atol=1e-8)


@pytest.mark.parametrize("same", [True, False])
def test_a_force_of_constant_power(same):
    law = translational.InverseSpeedDependentForce(f_nominal=2.0, v_nominal=3.0, v0=0.5, ForceDirection=same)
    result = run("drive.flange - mass.flange_a", drive=law, mass=translational.Mass(m=1.0, **at(0.0, 1.0)), stop=2.0)
    np.testing.assert_allclose(result["mass.v"], np.sqrt(1.0 + 2 * 6.0 * result.time), rtol=1e-8)
    np.testing.assert_allclose(result["drive.f"], -6.0 / result["mass.v"], rtol=1e-8)


def test_an_eddy_current_brake_heats_up_and_moves_its_best_speed():
    """w' = -2 tau n/(1 + n^2) and T' = P, n = w/(w_nominal (1 + alpha (T - T0))), by SciPy; energy becomes heat."""
    result = run(
        "brake.flange - rotor.flange_a",
        "brake.heatPort - metal.port",
        rotor=rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(20.0, fixed=True)),
        brake=rotational.EddyCurrentTorque(
            tau_nominal=50.0, w_nominal=8.0, TRef=293.15, alpha20=0.004, useHeatPort=True
        ),
        metal=thermal.HeatCapacitor(C=1.0, T=Start(293.15, fixed=True)),
    )

    def rates(t, y):
        n = y[0] / (8.0 * (1 + 0.004 * (y[1] - 293.15)))
        brakes = 2 * 50.0 * n / (1 + n**2)
        return -brakes, brakes * y[0]

    reference = solve_ivp(rates, (0, 1), (20.0, 293.15), "DOP853", result.time, rtol=1e-11, atol=1e-11).y
    np.testing.assert_allclose(result["rotor.w"], reference[0], atol=1e-6)
    np.testing.assert_allclose(result["metal.T"], reference[1], atol=1e-5)
    np.testing.assert_allclose(result["rotor.w"] ** 2 / 2 + result["metal.T"], 200.0 + 293.15, rtol=1e-8)


def vehicle(**more):
    return translational.Vehicle(**({"m": 1000.0, "J": 4.0, "R": 0.3, "A": 2.0, "Cd": 0.3, "CrConstant": 0.0} | more))


def test_a_vehicle_coasts_against_the_air():
    """(m + J/R^2) v' = -rho A Cd v^2/2: v = v0/(1 + k v0 t)."""
    result = run(car=vehicle(v=Start(30.0, fixed=True), s=Start(0.0, fixed=True)), stop=50.0)
    k = 1.2 * 2.0 * 0.3 / 2 / (1000.0 + 4.0 / 0.09)
    np.testing.assert_allclose(result["car.v"], 30.0 / (1 + k * 30.0 * result.time), rtol=1e-8)
    np.testing.assert_allclose(result["car.inertia.w"], result["car.v"] / 0.3, rtol=1e-9)


@pytest.mark.slow
def test_a_vehicle_on_a_slope_rolls_with_resistance_and_wind():
    """Steady acceleration: weight along the slope, and rolling resistance of the weight across it."""
    grade = 0.1
    result = run(
        car=vehicle(
            CrConstant=0.02, inclinationConstant=grade, A=0.0, v=Start(20.0, fixed=True), s=Start(0.0, fixed=True)
        ),
        stop=2.0,
    )
    slope = math.atan(grade)
    force = -1000.0 * 9.80665 * (math.sin(slope) + 0.02 * math.cos(slope))
    np.testing.assert_allclose(result["car.a"], force / (1000.0 + 4.0 / 0.09), rtol=1e-9)
    still = run(car=vehicle(vWindConstant=15.0, v=Start(15.0, fixed=True), s=Start(0.0, fixed=True)), stop=2.0)
    np.testing.assert_allclose(still["car.v"], 15.0, rtol=1e-12)


# -- adaptors and starts -----------------------------------------------------------------------------------------------


def test_flanges_are_initialized_from_signals():
    result = run(
        "phi.y - begin.phi_start",
        "w.y - begin.w_start",
        "begin.flange - rotor.flange_a",
        phi=blocks.Constant(k=0.3),
        w=blocks.Constant(k=2.0),
        begin=rotational.InitializeFlange(use_a_start=False),
        rotor=rotational.Inertia(J=1.0),
    )
    np.testing.assert_allclose(result["rotor.phi"], 0.3 + 2.0 * result.time, atol=1e-9)


@pytest.mark.parametrize("domain", ["rotational", "translational"])
def test_direct_and_inverse_models_cancel(domain):
    """The motion of an inertia, fed into its inverse, gives the torque back that caused it."""
    from mbfmu.components.examples import rotational as turning
    from mbfmu.components.examples import translational as sliding

    if domain == "rotational":
        direct, inverse, drive, load, motion, out = (
            turning.DirectInertia(J=2.0), turning.InverseInertia(J=2.0), "tauDrive", "tau", ("phi", "w", "a"), "tau"
        )  # fmt: skip
    else:
        direct, inverse, drive, load, motion, out = (
            sliding.DirectMass(m=2.0), sliding.InverseMass(m=2.0), "fDrive", "f", ("s", "v", "a"), "f"
        )  # fmt: skip
    result = run(
        f"drive.y - direct.{drive}",
        f"rest.y - direct.{load}",
        *(f"direct.{name} - inverse.{name}" for name in motion),
        drive=Wave(amplitude=3.0, omega=4.0),
        rest=blocks.Constant(k=0.0),
        direct=direct,
        inverse=inverse,
    )
    np.testing.assert_allclose(result[f"inverse.{out}"], 3.0 * np.sin(4.0 * result.time), atol=1e-9)


@pytest.mark.parametrize("damping", [None, 4.0])
@pytest.mark.parametrize("domain", ["rotational", "translational"])
def test_a_spring_between_signals(domain, damping):
    """Positions in, and where it is damped speeds, forces out: of a spring of 30 that is 0.2 long."""
    from mbfmu.components import examples

    of = getattr(examples, domain)
    at, fast, effort = {"rotational": ("phi", "w", "tau"), "translational": ("s", "v", "f")}[domain]
    law = {"c": 30.0, f"{at}_rel0": 0.2}
    speeds = {"va": Wave(amplitude=2.0, omega=2.0, phase=math.pi / 2), "vb": blocks.Constant(k=0.0)}
    result = run(
        f"a.y - s.{at}1",
        f"b.y - s.{at}2",
        *((f"va.y - s.{fast}1", f"vb.y - s.{fast}2") if damping else ()),
        a=Wave(omega=2.0),
        b=blocks.Constant(k=0.5),
        s=of.SpringDamper(d=damping, **law) if damping else of.Spring(**law),
        **(speeds if damping else {}),
    )
    t = result.time
    pull = 30.0 * (0.5 - np.sin(2 * t) - 0.2) - (damping or 0.0) * 2.0 * np.cos(2 * t)
    np.testing.assert_allclose(result[f"s.{effort}1"], -pull, atol=1e-9)
    np.testing.assert_allclose(result[f"s.{effort}2"], pull, atol=1e-9)


def test_internal_support_takes_its_force():
    result = run(
        "force.y - support.f",
        "support.flange - mass.flange_a",
        force=blocks.Constant(k=-3.0),
        support=translational.InternalSupport(),
        mass=translational.Mass(m=1.5, s=Start(0.4, fixed=True), v=Start(0.0, fixed=True)),
    )
    np.testing.assert_allclose(result["mass.v"], 2.0 * result.time, atol=1e-9)
    np.testing.assert_allclose(result["support.s"], 0.4 + result.time**2, atol=1e-9)


def test_internal_support_takes_its_torque():
    result = run(
        "torque.y - support.tau",
        "support.flange - rotor.flange_a",
        torque=blocks.Constant(k=-3.0),
        support=rotational.InternalSupport(),
        rotor=rotational.Inertia(J=1.5, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True)),
    )
    np.testing.assert_allclose(result["rotor.w"], 2.0 * result.time, atol=1e-9)
    np.testing.assert_allclose(result["support.phi"], result["rotor.phi"], atol=1e-15)


def test_parameters_without_default_are_asked_for():
    for make in (
        lambda: translational.ForceStep(stepForce=1.0),
        lambda: rotational.TorqueStep(stepTorque=1.0),
        lambda: rotational.ElastoBacklash(c=1.0),
    ):
        with pytest.raises(ModelError, match="needs a value"):
            make()


def test_the_back_of_contact_jumps_with_the_whole_damper():
    """ElastoBacklash2: at the begin of contact the torque is d w, and it never pulls."""
    result = run(
        "ground.flange - gap.flange_a",
        "gap.flange_b - rotor.flange_a",
        stop=1.0,
        step=0.001,
        ground=rotational.Fixed(),
        gap=rotational.ElastoBacklash2(c=500.0, d=10.0, b=0.2),
        rotor=rotational.Inertia(J=0.5, phi=Start(0.0, fixed=True), w=Start(1.0, fixed=True)),
    )
    touching = result["gap.phi_rel"] > 0.1
    first = np.argmax(touching)
    assert result["gap.tau"][first] == pytest.approx(10.0, rel=0.1)
    assert result["gap.tau"][first - 1] == 0.0
    beyond, speed = result["gap.phi_rel"] - 0.1, result["gap.w_rel"]
    expected = np.where(touching, np.maximum(500.0 * beyond + 10.0 * speed, 0.0), 0.0)
    positive = result["gap.phi_rel"] > -0.1
    np.testing.assert_allclose(result["gap.tau"][positive], expected[positive], atol=1e-6)


class Joined(Assembly):
    """Inputs that are connected with each other only, and one source."""

    def __init__(self) -> None:
        self.source, self.a, self.b, self.c = (
            blocks.Constant(k=2.0),
            blocks.Gain(k=1.0),
            blocks.Gain(k=3.0),
            blocks.Gain(k=5.0),
        )
        self.connect(self.a.u, self.b.u)
        self.connect(self.b.u, self.c.u)
        self.connect(self.source.y, self.c.u)


def test_inputs_that_are_joined_have_one_source():
    result = simulate(Joined(), 1.0)
    assert [result[f"{name}.y"][-1] for name in "abc"] == [2.0, 6.0, 10.0]
    twice = Joined()
    twice.other = blocks.Constant(k=1.0)
    twice.connect(twice.other.y, twice.a.u)
    with pytest.raises(ModelError, match=r"is fed twice, by other\.y and source\.y"):
        System.of(twice)
