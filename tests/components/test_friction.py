"""Dry friction: phases of sliding and sticking against solutions that know them beforehand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drive_blocks import Wave
from scipy.integrate import solve_ivp
from scipy.interpolate import Akima1DInterpolator

from mbfmu.components import blocks, rotational
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.simulation import simulate


class Shaft(Assembly):
    """A driven inertia of 1 kg.m2 with something that brakes it."""

    def __init__(self, *brakes: Component, signal: Component, w: float = 0.0) -> None:
        self.signal, self.torque = signal, rotational.Torque()
        self.inertia = rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(w, fixed=True))
        self.brakes = list(brakes)
        self.connect(self.signal.y, self.torque.tau)
        self.connect(self.torque.flange, self.inertia.flange_a)
        for brake in self.brakes:
            self.connect(self.inertia.flange_b, brake.flange_a)


def stick_and_slide(torque, law, peak: float, w: float, stop: float) -> list[tuple[float, float, float, int]]:
    """Phases (begin, end, angle travelled, direction) of an inertia of 1 kg.m2 under dry friction, one after the other.

    A sliding phase ends where its speed comes to zero; a sticking one where the torque exceeds the peak.
    """
    phases, t = [], 0.0
    while t < stop:
        if w == 0.0:
            times = np.linspace(t, stop, 200_001)
            over = np.flatnonzero(np.abs(torque(times)) > peak * law(0.0))
            end = times[over[0]] if over.size else stop
            if end > t:
                phases.append((t, end, 0.0, 0))
            if not over.size:
                break
            t, direction = end, int(np.sign(torque(end)))
        else:
            direction = int(np.sign(w))

        def stopped(t, y):
            return y[1]

        stopped.terminal, stopped.direction = True, -direction
        run = solve_ivp(
            lambda t, y, d=direction: (y[1], torque(t) - d * law(abs(y[1]))),
            (t, stop),
            (0.0, w if w else direction * 1e-12),
            events=stopped,
            rtol=1e-11,
            atol=1e-13,
            max_step=0.01,
        )
        phases.append((t, run.t[-1], run.y[0, -1], direction))
        t, w = run.t[-1], 0.0
    return phases


@pytest.mark.parametrize(("torque", "forward"), [(2.0, True), (-2.0, False)])
def test_it_is_shown_that_sliding_starts(torque, forward):
    """At rest, with more torque than sticks: at once, and not while it slides."""
    friction = rotational.BearingFriction(tau_pos=((0.0, 1.0),))
    result = simulate(Shaft(friction, signal=blocks.Constant(k=torque)), 0.1, interval=0.05)
    starts = {True: result["brakes[1].startForward"], False: result["brakes[1].startBackward"]}
    assert list(starts[forward]) == [1, 0, 0]
    assert not starts[not forward].any()
    assert list(result["brakes[1].mode"]) == [1 if forward else -1] * 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("amplitude", "peak", "table", "w"),
    [
        (2.0, 1.0, ((0.0, 1.0),), 3.0),
        (2.0, 1.3, ((0.0, 1.0),), -3.0),
        (1.2, 1.1, ((0.0, 1.0),), 0.0),
        (0.9, 1.0, ((0.0, 1.0),), 1.0),
        (2.0, 1.0, ((0.0, 1.2), (0.2, 0.8), (2.0, 1.5)), 0.0),
    ],
)
def test_a_shaft_sticks_and_slides(amplitude, peak, table, w):
    """Modes, travel and stillness over several reversals, with a Stribeck curve too."""
    stop, omega = 8.0, 2.0
    speeds, torques = np.array(table).T

    def law(speed):
        if len(table) > 1 and speed > speeds[-1]:
            return torques[-1] + (torques[-1] - torques[-2]) / (speeds[-1] - speeds[-2]) * (speed - speeds[-1])
        return np.interp(speed, speeds, torques)

    phases = stick_and_slide(lambda t: amplitude * np.sin(omega * t), law, peak, w, stop)
    friction = rotational.BearingFriction(tau_pos=table, peak=peak)
    result = simulate(
        Shaft(friction, signal=Wave(amplitude=amplitude, omega=omega), w=w), stop, interval=0.01, tolerance=1e-9
    )
    t, mode, phi = result.time, result["brakes[1].mode"], result["inertia.phi"]
    travelled = 0.0
    for begin, end, travel, direction in phases:
        inside = (t > begin + 1e-3) & (t < end - 1e-3)
        np.testing.assert_array_equal(mode[inside], direction, err_msg=f"from {begin} to {end}")
        if direction == 0:
            np.testing.assert_allclose(phi[inside], travelled, atol=1e-5)
            np.testing.assert_allclose(result["inertia.w"][inside], 0.0, atol=1e-8)
            np.testing.assert_allclose(
                result["brakes[1].tau"][inside], amplitude * np.sin(omega * t[inside]), atol=1e-8
            )
        travelled += travel
    assert len(phases) >= 2
    assert phi[-1] == pytest.approx(travelled, abs=1e-5)


class Launch(Assembly):
    """A clutch between a turning engine and a load at rest; afterwards one torque drives both."""

    def __init__(self, f_normalized: Component, tau: float = 0.0) -> None:
        self.signal = f_normalized
        self.torque = rotational.ConstantTorque(tau_constant=tau)
        self.engine = rotational.Inertia(J=0.4, phi=Start(0.0, fixed=True), w=Start(100.0, fixed=True))
        self.clutch = rotational.Clutch(mu_pos=((0.0, 0.3),), cgeo=0.2, fn_max=500.0, peak=1.2)
        self.load = rotational.Inertia(J=1.6, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.connect(self.signal.y, self.clutch.f_normalized)
        self.connect(self.torque.flange, self.engine.flange_a)
        self.connect(self.engine.flange_b, self.clutch.flange_a)
        self.connect(self.clutch.flange_b, self.load.flange_a)


def test_a_clutch_brings_two_shafts_to_one_speed():
    """Slip falls evenly, ends at the time and speed that momentum asks for, and half of the work becomes heat."""
    result = simulate(Launch(Wave(amplitude=0.0, omega=1.0, offset=1.0)), 2.0, interval=0.005, tolerance=1e-10)
    tau = 0.3 * 0.2 * 500.0
    synchronous = 100.0 / (tau * (1 / 0.4 + 1 / 1.6))
    t, slip = result.time, result["engine.w"] - result["load.w"]
    np.testing.assert_allclose(slip, np.maximum(100.0 * (1 - t / synchronous), 0.0), atol=1e-7)
    np.testing.assert_allclose(result["load.w"][t > synchronous], 20.0, atol=1e-7)
    np.testing.assert_array_equal(result["clutch.mode"], np.where(t < synchronous, -1.0, 0.0))
    np.testing.assert_allclose(result["clutch.tau"], np.where(t < synchronous, -tau, 0.0), atol=1e-7)
    heat = np.sum((result["clutch.lossPower"][1:] + result["clutch.lossPower"][:-1]) / 2 * np.diff(t))
    assert heat == pytest.approx(0.5 * 0.32 * 100.0**2, rel=5e-3)


def test_a_stuck_clutch_carries_the_loads_share_and_slips_beyond_its_peak():
    """The engine's torque grows until J2/(J1 + J2) of it exceeds the peak."""

    class Ramp(Launch):
        def __init__(self) -> None:
            super().__init__(Wave(amplitude=0.0, omega=1.0, offset=1.0))
            self.engine.modify(w=Start(0.0, fixed=True))
            self.ramp, self.push = Wave(amplitude=120.0, omega=0.5), rotational.Torque()
            self.connect(self.ramp.y, self.push.tau)
            self.connect(self.push.flange, self.engine.flange_a)

    result = simulate(Ramp(), 2.0, interval=0.005, tolerance=1e-10)
    t, torque = result.time, 120.0 * np.sin(0.5 * result.time)
    slips = 2.0 * math.asin(1.2 * 30.0 / 0.8 / 120.0)
    stuck, sliding = t < slips - 1e-3, t > slips + 1e-3
    np.testing.assert_allclose(result["clutch.tau"][stuck], -0.8 * torque[stuck], atol=1e-8)
    np.testing.assert_allclose(result["clutch.w_rel"][stuck], 0.0, atol=1e-9)
    np.testing.assert_allclose(result["clutch.tau"][sliding], -30.0, atol=1e-10)
    np.testing.assert_allclose(result["load.a"][sliding], 30.0 / 1.6, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, -0.5])
def test_an_open_clutch_carries_nothing(offset):
    result = simulate(Launch(Wave(amplitude=0.0, omega=1.0, offset=offset), tau=-100.0), 1.0, tolerance=1e-9)
    np.testing.assert_allclose(result["load.w"], 0.0, atol=1e-10)
    np.testing.assert_allclose(result["engine.w"], 100.0 - 250.0 * result.time, atol=1e-7)


def test_a_brake_holds_releases_and_passes_its_torque_to_the_support():
    """The normal force rises and falls; a constant torque pulls. The support stands for the whole vehicle."""

    class Held(Assembly):
        def __init__(self) -> None:
            self.signal = Wave(amplitude=0.5, omega=2.0, offset=0.5)
            self.brake = rotational.Brake(mu_pos=((0.0, 0.5),), fn_max=20.0, useSupport=True)
            self.pull = rotational.ConstantTorque(tau_constant=6.0)
            self.shaft = rotational.Inertia(J=2.0, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            self.ground = rotational.Fixed()
            self.connect(self.signal.y, self.brake.f_normalized)
            self.connect(self.pull.flange, self.shaft.flange_a)
            self.connect(self.shaft.flange_b, self.brake.flange_a)
            self.connect(self.brake.support, self.ground.flange)

    result = simulate(Held(), 4.0, interval=0.01, tolerance=1e-9)
    force = 20.0 * (0.5 + 0.5 * np.sin(2.0 * result.time))
    np.testing.assert_allclose(result["brake.fn"], force, atol=1e-9)
    slides = result["brake.mode"] == 1.0
    assert slides[0], "5 N.m do not hold 6 N.m"
    np.testing.assert_allclose(result["brake.tau"][slides], 0.5 * force[slides], atol=1e-9)
    still = result["brake.mode"] == 0.0
    assert still.any()
    assert slides[-1]
    np.testing.assert_allclose(result["brake.tau"][still], 6.0, atol=1e-8)
    np.testing.assert_allclose(result["ground.flange.tau"], result["brake.support.tau"] * -1.0, atol=1e-12)
    np.testing.assert_allclose(result["brake.support.tau"], -result["brake.tau"], atol=1e-12)
    first = np.flatnonzero(still)[0]
    assert np.all(result["shaft.w"][:first] > -1e-9)


def test_a_brake_pressed_at_rest_holds_from_the_first_moment():
    """Released and unloaded at first, which leaves open whether it sticks; then pressed while the load sets in."""

    class Parked(Shaft):
        def __init__(self) -> None:
            brake = rotational.Brake(fn_max=100.0)
            super().__init__(brake, signal=Wave(amplitude=3.0, omega=1.0))
            self.press = Wave(amplitude=1.0, omega=1.0)
            self.connect(self.press.y, brake.f_normalized)

    result = simulate(Parked(), 1.5, interval=0.005, tolerance=1e-9)
    np.testing.assert_allclose(result["brakes[1].tau"], 3.0 * np.sin(result.time), atol=1e-9)
    np.testing.assert_allclose(result["inertia.w"], 0.0, atol=1e-11)


def test_what_has_stopped_comes_to_rest():
    """Coasting: w falls by 2/s to zero at 0.5 s, and what rounding leaves of it dies away."""
    friction = rotational.BearingFriction(tau_pos=((0.0, 2.0),))
    result = simulate(Shaft(friction, signal=Wave(amplitude=0.0, omega=1.0), w=1.0), 30.0, interval=0.1, tolerance=1e-9)
    np.testing.assert_allclose(result["inertia.w"], np.maximum(1.0 - 2.0 * result.time, 0.0), atol=2e-9)
    assert abs(result["inertia.w"][-1]) < 1e-18


def test_clutches_in_a_row_lock_one_after_the_other():
    """Three shafts of 1 kg.m2, of which one turns: the clutches of 5 and 2 N.m lock after 1.25 s and 5/12 s more."""

    class Row(Assembly):
        def __init__(self) -> None:
            self.signal = Wave(amplitude=0.0, omega=1.0, offset=1.0)
            self.shafts = [
                rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(w, fixed=True)) for w in (10.0, 0.0, 0.0)
            ]
            self.clutches = [rotational.Clutch(mu_pos=((0.0, 1.0),), fn_max=f) for f in (5.0, 2.0)]
            for clutch, left, right in zip(self.clutches, self.shafts, self.shafts[1:], strict=False):
                self.connect(left.flange_b, clutch.flange_a)
                self.connect(clutch.flange_b, right.flange_a)
                self.connect(self.signal.y, clutch.f_normalized)

    result = simulate(Row(), 2.0, interval=0.01, tolerance=1e-9)
    t, first, second = result.time, 1.25, 1.25 + 5.0 / 12.0
    corners = [0.0, first, second, 2.0]
    for i, speeds in enumerate(
        ([10, 3.75, 10 / 3, 10 / 3], [0, 3.75, 10 / 3, 10 / 3], [0, 2.5, 10 / 3, 10 / 3]), start=1
    ):
        np.testing.assert_allclose(result[f"shafts[{i}].w"], np.interp(t, corners, speeds), atol=1e-8)
    for i, locks in ((1, first), (2, second)):
        before, after = t < locks - 1e-6, t > locks + 1e-6
        np.testing.assert_array_equal(result[f"clutches[{i}].mode"][before], -1.0)
        np.testing.assert_array_equal(result[f"clutches[{i}].mode"][after], 0.0)
    between = (t > first + 1e-6) & (t < second - 1e-6)
    np.testing.assert_allclose(result["clutches[1].tau"][between], -1.0, atol=1e-8)


@pytest.mark.slow
def test_two_brakes_on_one_shaft_share_its_torque():
    """Both stick, which leaves their shares open; neither may make the equations singular."""
    brakes = [rotational.BearingFriction(tau_pos=((0.0, limit),)) for limit in (1.0, 1.5)]
    result = simulate(Shaft(*brakes, signal=Wave(amplitude=3.0, omega=0.5)), 3.0, interval=0.01, tolerance=1e-9)
    t, torque = result.time, 3.0 * np.sin(0.5 * result.time)
    together = result["brakes[1].tau"] + result["brakes[2].tau"]
    slips = 2.0 * math.asin(2.5 / 3.0)
    held, sliding = t < slips - 1e-3, t > slips + 1e-3
    np.testing.assert_allclose(together[held], torque[held], atol=1e-8)
    np.testing.assert_allclose(result["inertia.w"][held], 0.0, atol=1e-8)
    np.testing.assert_allclose(together[sliding], 2.5, atol=1e-9)
    np.testing.assert_allclose(result["inertia.a"][sliding], torque[sliding] - 2.5, atol=1e-9)


def test_the_energy_balance_of_friction_closes():
    friction = rotational.BearingFriction(tau_pos=((0.0, 1.0), (1.0, 0.7)))
    system = System.of(Shaft(friction, signal=Wave(amplitude=2.0, omega=2.0)), energy=True)
    np.testing.assert_allclose(simulate(system, 5.0)["energy.balanceError"], 0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("smoothness", "law"),
    [
        ("ContinuousDerivative", Akima1DInterpolator([0, 1, 2, 4], [1, 0.8, 1, 2])),
        ("ModifiedContinuousDerivative", Akima1DInterpolator([0, 1, 2, 4], [1, 0.8, 1, 2], method="makima")),
        ("ConstantSegments", lambda w: np.select([w < 1, w < 2], [1.0, 0.8], 1.0)),
    ],
)
def test_a_characteristic_is_interpolated_as_it_is_told(smoothness, law):
    friction = rotational.BearingFriction(tau_pos=((0, 1), (1, 0.8), (2, 1), (4, 2)), smoothness=smoothness)
    result = simulate(Shaft(friction, signal=Wave(amplitude=4.0, omega=2.0)), 2.0, interval=0.02, tolerance=1e-9)
    w, slides = result["inertia.w"], np.abs(result["brakes[1].mode"]) == 1.0
    assert 1.5 < np.abs(w).max() < 4.0
    np.testing.assert_allclose(result["brakes[1].tau"][slides], (np.sign(w) * law(np.abs(w)))[slides], atol=1e-8)


@pytest.mark.parametrize("table", [((0.0, 1.0, 2.0),), ((0.5, 1.0),), ((0.0, 1.0), (0.0, 2.0)), (0.0, 1.0)])
def test_a_table_that_is_no_characteristic_is_named(table):
    with pytest.raises(ModelError, match=r"BearingFriction\.tau_pos.*speeds rise"):
        rotational.BearingFriction(tau_pos=table)
    friction = rotational.BearingFriction()
    friction.tau_pos = table
    with pytest.raises(ModelError, match=r"brakes\[1\]\.tau_pos.*speeds rise"):
        System.of(Shaft(friction, signal=Wave(omega=1.0)))


@pytest.mark.slow
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_table_that_falls_below_zero_is_refused_where_it_does(way):
    """It ends at 5 rad/s with 0.2 N.m, falls by 0.2 in each, and would drive beyond 6 rad/s."""
    table = ((0.0, 1.0), (4.0, 0.4), (5.0, 0.2))

    def driven(torque: float) -> Assembly:
        return Shaft(rotational.BearingFriction(tau_pos=table), signal=blocks.Constant(k=way * torque), w=way * 5.0)

    slow = simulate(driven(0.1), 1.0)
    assert 5.0 > way * slow["inertia.w"][-1] > 4.0
    with pytest.raises(SimulationError, match=r"brakes\[1\].*friction of tau_pos is negative at this speed.*add rows"):
        simulate(driven(2.0), 2.0)
    level = rotational.BearingFriction(tau_pos=(*table, (6.0, 0.2)))
    on = simulate(Shaft(level, signal=blocks.Constant(k=way * 2.0), w=way * 6.0), 1.0)
    assert way * on["inertia.w"][-1] == pytest.approx(6.0 + 1.8, rel=1e-6)


def test_an_open_clutch_may_turn_beyond_its_table():
    """What nothing presses has no friction, whatever its table goes on to."""
    free = rotational.Brake(fn_max=1.0, mu_pos=((0.0, 0.5), (1.0, 0.1)), useSupport=False)
    shaft = Shaft(free, signal=blocks.Constant(k=1.0), w=1.0)
    shaft.press = blocks.Constant(k=0.0)
    shaft.connect(shaft.press.y, free.f_normalized)
    assert simulate(shaft, 2.0)["inertia.w"][-1] == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize(("torque", "held"), [(9.0, True), (11.0, False)])
def test_a_brake_holds_what_its_table_says_at_rest(torque, held):
    """20 N m times 0.5, as at no speed, and not times 0.1, as in fast sliding."""
    brake = rotational.Brake(fn_max=20.0, mu_pos=((0.0, 0.5), (100.0, 0.1)), useSupport=False)
    shaft = Shaft(brake, signal=blocks.Constant(k=torque))
    shaft.press = blocks.Constant(k=1.0)
    shaft.connect(shaft.press.y, brake.f_normalized)
    assert bool(abs(simulate(shaft, 0.5)["inertia.w"][-1]) < 1e-9) is held


def test_impossible_parameters_are_refused():
    with pytest.raises(ModelError, match=r"peak = 0\.5.*must be >= 1"):
        rotational.BearingFriction(peak=0.5)
    with pytest.raises(ModelError, match="fn_max"):
        rotational.Clutch()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("force", "torque", "w", "sa"),
    [
        (0.5, 2.0, 3.0, 2.0 - 6.0 + 7.5),  # slides forward: acceleration, and the greatest friction
        (0.5, 2.0, -3.0, 2.0 + 6.0 - 7.5),
        (0.0, 2.0, 3.0, 2.0),  # free: acceleration
        (0.5, 2.0, 0.0, 2.0),  # locked: friction
        (0.5, -7.0, 0.0, -7.0),
    ],
    ids=["forward", "backward", "free", "locked", "locked by peak"],
)
def test_the_path_parameter_is_friction_where_it_sticks_and_else_acceleration(force, torque, w, sa):
    """Sliding friction is 0.4 times 1.5 times half of 20 N, and 1.25 times that at most."""
    brake = rotational.Brake(fn_max=20.0, cgeo=1.5, mu_pos=((0.0, 0.4),), peak=1.25)
    shaft = Shaft(brake, signal=blocks.Constant(k=torque), w=w)
    shaft.pressure = blocks.Constant(k=force)
    shaft.connect(shaft.pressure.y, brake.f_normalized)
    result = simulate(shaft, 1e-3)
    np.testing.assert_allclose(result["brakes[1].sa"], sa, rtol=1e-9)
    assert (result["brakes[1].locked"] == float(w == 0.0)).all()  # from the very start, too


def freewheel(w: float) -> Shaft:
    """An inertia at a freewheel that is not pressed, with a torque that turns it back."""
    shaft = Shaft(signal=blocks.Constant(k=-1.0), w=w)
    shaft.clutch, shaft.fixed = rotational.OneWayClutch(fn_max=20.0), rotational.Fixed()
    shaft.pressure = blocks.Constant(k=0.0)
    shaft.connect(shaft.pressure.y, shaft.clutch.f_normalized)
    shaft.connect(shaft.fixed.flange, shaft.clutch.flange_a)
    shaft.connect(shaft.clutch.flange_b, shaft.inertia.flange_b)
    return shaft


@pytest.mark.slow
def test_a_freewheel_that_turns_back_at_the_start_is_refused():
    for w in (-0.0011, -0.1):
        with pytest.raises(InitializationError, match=r"flange_b turns slower than flange_a; .*start with w_rel>=0"):
            simulate(freewheel(w), 1e-3)
    assert simulate(freewheel(-0.0005), 1e-3)["clutch.w_rel"][-1] > -0.001  # rounding of whoever gives the speed


@pytest.mark.slow
@pytest.mark.parametrize(("w", "stuck"), [(2.0, 0.0), (0.0, 1.0)], ids=["overruns", "holds"])
def test_a_freewheel_is_stuck_where_it_does_not_overrun(w, stuck):
    result = simulate(freewheel(w), 1e-3)
    np.testing.assert_array_equal(result["clutch.stuck"], stuck)
    np.testing.assert_allclose(result["clutch.w_rel"], w, atol=2e-3)
