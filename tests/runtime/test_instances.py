"""An instance between steps, in every host: latched values, parameters, states, failures."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from hand_made_models import (
    Draft,
    bouncing_mass,
    everything,
    free_body,
    iterated,
    oscillator,
    point_pendulum,
    stiff_drive,
)
from hosts import Failed

# Compiled equations are interpreted ones to the last bit (test_tapes.py): the suite compiles few models.
pytestmark = pytest.mark.campaign("compiled")


def test_the_first_get_after_a_set_initialises_again(library):
    slave = library(oscillator).slave().enter()
    assert slave.get("a") == pytest.approx(-0.4)
    slave.set("s", 0.2)
    assert slave.get("s") == 0.2
    assert slave.get("a") == pytest.approx(-0.8)
    slave.set("F", 1.6)
    assert slave.get("a") == pytest.approx(0.0, abs=1e-15)


def test_values_belong_to_the_end_of_the_step(library):
    slave = library(oscillator).slave(tolerance=1e-9).start()
    slave.step(0.5)
    acceleration = -0.4 * math.cos(1.0)
    slave.set("F", 10.0)
    assert slave.get("a") == pytest.approx(acceleration, abs=1e-8)
    assert slave.get("F") == 10.0
    slave.set("c", 80.0)
    assert slave.get("omega") == pytest.approx(math.sqrt(40.0))
    assert slave.get("a") == pytest.approx(10 * acceleration, abs=1e-7)


def test_an_input_acts_from_the_next_step_on(library):
    slave = library(oscillator).slave(tolerance=1e-9).start()
    slave.set("F", 8.0)
    slave.step(0.7)
    assert slave.get("s") == pytest.approx(1.0 - 0.9 * math.cos(1.4), abs=1e-8)


@pytest.mark.parametrize("name", ["m", "s"])
def test_fixed_parameters_and_starts_are_closed_after_the_start(library, name):
    slave = library(oscillator).slave().start()
    with pytest.raises(Failed, match=r"until initialisation ends|before the initialisation ends"):
        slave.set(name, 1.0)
    assert slave.get("m", "s") == [2.0, 0.1]


def test_reset_returns_to_the_defaults(library):
    slave = library(oscillator).slave(tolerance=1e-9).start(m=8.0, F=1.0)
    slave.step(1.0)
    slave.reset()
    slave.enter()
    assert slave.get("m", "F", "time") == [2.0, 0.0, 0.0]
    slave.finish()
    slave.step(1.0)
    assert slave.get("s") == pytest.approx(0.1 * math.cos(2.0), abs=1e-8)


MODELS = [oscillator, point_pendulum, bouncing_mass, free_body, everything, stiff_drive, iterated]


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=6)
@pytest.mark.parametrize("model", MODELS)
def test_a_restored_run_repeats_itself_exactly(library, model):
    """In the same instance and in another one, which had another tolerance."""
    first = library(model).slave(tolerance=1e-6).start()
    names = [name for name in first.names if first.variables[name].store in ("x", "w", "y", "u")]
    random = np.random.default_rng(1)
    inputs = [v.name for v in first.variables.values() if v.causality == "input"]
    other = library(model).slave(tolerance=1e-3).enter()
    for _ in range(20):
        first.step(float(random.uniform(0.001, 0.08)))
        if random.random() < 0.3:
            for name in inputs:
                first.set(name, float(random.normal()))
        state, time, here = first.save(), first.time, first.get(*names)
        steps = random.uniform(0.001, 0.1, 6)

        def follow(slave, time=time, steps=steps):
            slave.time = time
            values = []
            for h in steps:
                slave.step(float(h))
                values += slave.get(*names)
            return values

        expected = follow(first)
        for slave in (first, other):
            slave.restore(state)
            assert slave.get(*names) == here
            assert follow(slave) == expected
        first.restore(state)
        first.time = time


def test_a_saved_state_has_the_latch_and_what_was_set_since(library):
    slave = library(oscillator).slave(tolerance=1e-9).start()
    slave.step(0.5)
    slave.set("F", 3.0)
    state, acceleration = slave.save(), slave.get("a")
    slave.step(0.5)
    after = slave.get("s")
    slave.restore(state)
    assert slave.get("F") == 3.0
    assert slave.get("a") == acceleration
    slave.step(0.5)
    assert slave.get("s") == after


def test_a_state_has_parameters_of_its_own(library):
    slave = library(oscillator).slave(tolerance=1e-8).start()
    shown = ("s", "a", "energy", "omega")
    slave.step(0.1)
    state = slave.save()
    slave.step(0.1)
    soft, again = slave.get(*shown), slave.save()
    slave.set("c", 32.0)
    slave.step(0.1)
    assert slave.get("a") == pytest.approx(-16 * slave.get("s"))
    slave.restore(state)
    slave.step(0.1)
    assert slave.get(*shown) == soft
    slave.set("c", 32.0)
    slave.get("a")
    slave.restore(again)
    assert slave.get(*shown) == soft
    slave.set("c", 32.0)
    slave.reset()
    slave.start()
    slave.step(0.1)
    assert slave.save() == state


def test_a_state_saved_before_the_start_keeps_what_was_set(library):
    slave = library(oscillator).slave().enter(s=0.3)
    state = slave.save()
    slave.set("s", 0.4)
    slave.finish()
    slave.step(0.1)
    slave.restore(state)
    assert slave.get("s", "time") == [0.3, 0.0]
    slave.set("m", 3.0)
    slave.finish()


def test_foreign_and_damaged_states_are_refused(library):
    slave, other = library(oscillator).slave().start(), library(point_pendulum).slave().start()
    good, foreign = slave.save(), other.save()
    foreign += bytes(max(0, len(good) - len(foreign)))
    few = f" bytes are too few, a state of this model has {len(good)}"
    for message, state in (
        (f"{len(good) - 1}{few}", good[:-1]), (f"1{few}", b"x"), ("another model", foreign)
    ):  # fmt: skip
        with pytest.raises(Failed, match=message):
            slave.restore(state)
    slave.step(0.1)
    assert slave.get("s") == pytest.approx(0.1 * math.cos(0.2), abs=1e-7)


def test_no_flip_of_a_bit_in_a_state_goes_unseen(library):
    slave = library(oscillator).slave().start()
    slave.step(0.1)
    good, s = slave.save(), slave.get("s")
    for position in range(len(good)):
        flipped = bytearray(good)
        flipped[position] ^= 1 << position % 8
        with pytest.raises(Failed, match=r"damaged|another model"):
            slave.restore(bytes(flipped))
    assert slave.get("s") == s


def test_instances_do_not_touch_each_other(library):
    first = library(oscillator).slave(tolerance=1e-8).enter()
    second = library(oscillator).slave(tolerance=1e-8).enter(s=0.2)
    for slave in (first, second):
        slave.finish()
    first.step(1.0)
    second.step(0.5)
    first.step(1.0)
    assert first.get("s") == pytest.approx(0.1 * math.cos(4.0), abs=1e-7)
    assert second.get("s") == pytest.approx(0.2 * math.cos(1.0), abs=1e-7)


def blow_up():
    """s' = v, v' = v^2 from v = 1: infinite at t = 1; the mode says whether s is above 0.1."""
    d = Draft("blow-up", q=1, v=1, switches=1)
    return d.equations(A=ca.SX(1), b=d.v**2, guess=ca.vertcat(0, 1), fixed=(True, True), crossings=d.q - 0.1, y=d.m[0])


@pytest.mark.slow
def test_a_failed_step_ends_where_the_motion_does(library):
    slave = library(blow_up).slave().start()
    slave.step(0.05)
    assert slave.get("y0") == 0.0
    with pytest.raises(Failed, match=r"ends at (0\.99|1)[^:]*: .*(step size became too small|not finite)") as caught:
        slave.step(2.0)
    assert caught.value.status == 2
    t, v, above = slave.get("time", "x1", "y0")
    assert 0.99 < t < 1.0 + 1e-8  # the model's tolerance
    assert v > 100
    assert above == 1.0
    slave.time = t
    with pytest.raises(Failed):
        slave.step(0.1)
    slave.reset()
    slave.start()
    slave.step(0.5)
    assert slave.get("x1") == pytest.approx(2.0, abs=1e-6)
    assert slave.get("y0") == 1.0


@pytest.mark.slow
def test_a_state_before_a_failed_step_can_be_taken_up(library):
    slave = library(blow_up).slave().start()
    slave.step(0.05)
    state = slave.save()
    with pytest.raises(Failed):
        slave.step(2.0)
    slave.restore(state)
    slave.time = 0.05
    slave.step(0.45)
    assert slave.get("x1") == pytest.approx(2.0, abs=1e-6)


def vanishing_mass():
    """The mass is gone from 0.1 s on."""
    d = Draft("vanishing", q=1, v=1)
    return d.equations(A=ca.if_else(d.t < 0.1, 1, 0), b=ca.SX(1), guess=ca.SX.zeros(2))


@pytest.mark.slow
def test_accelerations_that_end_are_reported(library):
    slave = library(vanishing_mass).slave().start()
    slave.step(0.05)
    slave.step(0.04)
    assert slave.get("x1") == pytest.approx(0.09)
    with pytest.raises(Failed, match=r"ends at 0\.(1|0999\d*)[^:]*: .*singular.*der\(x1\)"):
        slave.step(0.2)


def relay():
    d = Draft("relay", q=1, v=1, switches=1)
    return d.equations(
        A=ca.SX(1),
        b=ca.SX(0),
        guess=ca.vertcat(-0.1, 0),
        derivatives=ca.vertcat(1 - 2 * d.m[0], 0),
        crossings=d.q,
        switch_names=("q >= 0",),
    )


@pytest.mark.slow
def test_chattering_is_reported_and_not_endless(library):
    slave = library(relay).slave().start()
    with pytest.raises(Failed, match=r"switches flip back and forth .* at time 0\.1\S* \(q >= 0\)"):
        slave.step(1.0)


def source():
    d = Draft("source", switches=1, parameters=[0.25])
    return d.equations(
        A=ca.SX(0, 0),
        b=ca.SX(0, 1),
        guess=ca.SX(0, 1),
        derivatives=ca.SX(0, 1),
        displacement=ca.SX(0, 1),
        crossings=d.t - d.P[0],
        next_times=d.P[0],
        time_switches=(True,),
        y=d.t * d.m[0],
    )


@pytest.mark.slow
def test_a_model_without_states_has_values_at_every_time(library):
    slave = library(source).slave().start()
    slave.step(0.2)
    assert slave.get("y0") == 0.0
    slave.step(0.2)
    assert slave.get("y0") == 0.4


def endless_pulse():
    """A force of 1 N in the first half of every period of p[0]: its instants have no end."""
    d = Draft("endless pulse", q=1, v=1, switches=1, parameters=[0.5])
    half = d.P[0] / 2
    on = half - (d.t - d.P[0] * ca.floor(d.t / d.P[0] + 1e-12)) - 1e-9
    return d.equations(
        A=ca.SX(1),
        b=d.m[0],
        guess=ca.SX.zeros(2),
        crossings=on,
        next_times=half * (ca.floor(d.t / half + 1e-9) + 1),
        time_switches=(True,),
    )


@pytest.mark.slow
def test_instants_without_end_are_met_for_long(library):
    slave = library(endless_pulse).slave().start()
    for i in range(1, 101):
        slave.step(10.0 * i - slave.time)
        assert slave.get("x1") == pytest.approx(slave.time / 2, rel=1e-8)
    assert slave.statistics()["events"] == pytest.approx(4000, abs=1)


MASSES = np.array([[0.0, 0, 2, 0], [0, 8, 0, 3], [5, 0, 1, 0], [0, 7, 0, 4]])


def in_two_blocks():
    """Accelerations by two blocks; rows of the first are to be exchanged, those of the second are not."""
    d = Draft("blocks", q=4, v=4, parameters=[1.0, 2.0, 3.0, 4.0])
    A = ca.sparsify(ca.DM(MASSES))
    return d.equations(A=ca.SX(A), b=d.P, guess=ca.SX.zeros(8), fixed=(True,) * 8, blocks=((0, 2), (1, 3)))


def test_each_block_has_pivots_of_its_own(library):
    found = library(in_two_blocks).slave().start().get(*(f"w{i}" for i in range(4)))
    assert found == pytest.approx(np.linalg.solve(MASSES, [1.0, 2.0, 3.0, 4.0]), rel=1e-14)
