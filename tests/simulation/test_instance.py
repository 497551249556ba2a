"""An instance between steps: latched values, parameters, states, failures."""

from __future__ import annotations

import json
import pickle

import casadi as ca
import numpy as np
import pytest
from hand_made_models import Draft, bouncing_mass, free_body, oscillator, point_pendulum
from mbfmu.runtime.interface import get, put

from mbfmu.runtime import Instance, Interface, SimulationError, StepError, VariableError


@pytest.fixture
def model():
    equations, variables = oscillator()
    return Instance(equations, tolerance=1e-9), Interface(variables)


def test_the_first_get_after_a_set_initialises_again(model):
    instance, interface = model
    assert get(instance, interface.find("a")) == pytest.approx(-0.4)
    put(instance, interface.find("s"), 0.2)
    assert get(instance, interface.find("s")) == 0.2
    assert get(instance, interface.find("a")) == pytest.approx(-0.8)
    put(instance, interface.find("F"), 1.6)
    assert get(instance, interface.find("a")) == pytest.approx(0.0, abs=1e-15)


def test_values_belong_to_the_end_of_the_step(model):
    instance, interface = model
    instance.finish_initialisation()
    instance.do_step(0.5)
    acceleration = -0.4 * np.cos(1.0)
    put(instance, interface.find("F"), 10.0)
    assert get(instance, interface.find("a")) == pytest.approx(acceleration, abs=1e-8)
    assert get(instance, interface.find("F")) == 10.0
    put(instance, interface.find("c"), 80.0)
    assert get(instance, interface.find("omega")) == pytest.approx(np.sqrt(40.0))
    assert get(instance, interface.find("a")) == pytest.approx(10 * acceleration, abs=1e-7)
    instance.do_step(0.0)
    assert get(instance, interface.find("a")) == pytest.approx(10 * acceleration, abs=1e-7)


def test_an_input_acts_from_the_next_step_on(model):
    instance, interface = model
    instance.finish_initialisation()
    put(instance, interface.find("F"), 8.0)
    instance.do_step(0.7)
    assert get(instance, interface.find("s")) == pytest.approx(1.0 - 0.9 * np.cos(1.4), abs=1e-8)


def test_a_tunable_parameter_acts_from_the_next_step_on(model):
    instance, interface = model
    instance.finish_initialisation()
    instance.do_step(np.pi / 4)
    assert get(instance, interface.find("s")) == pytest.approx(0.0, abs=1e-9)
    put(instance, interface.find("c"), 32.0)
    instance.do_step(np.pi / 8)
    assert get(instance, interface.find("s")) == pytest.approx(-0.05, abs=1e-8)


@pytest.mark.parametrize("name", ["m", "s"])
def test_fixed_parameters_and_starts_are_closed_after_the_start(model, name):
    instance, interface = model
    instance.finish_initialisation()
    with pytest.raises(VariableError, match="before the initialisation ends"):
        put(instance, interface.find(name), 1.0)


def test_reset_returns_to_the_defaults(model):
    instance, interface = model
    put(instance, interface.find("m"), 8.0)
    put(instance, interface.find("F"), 1.0)
    instance.finish_initialisation()
    instance.do_step(1.0)
    instance.reset()
    assert instance.time == 0.0
    assert get(instance, interface.find("m")) == 2.0
    instance.finish_initialisation()
    instance.do_step(1.0)
    assert get(instance, interface.find("s")) == pytest.approx(0.1 * np.cos(2.0), abs=1e-8)


def test_values_have_the_type_of_their_variable(model):
    instance, interface = model
    values = [get(instance, interface.find(name)) for name in ("axis", "on", "label", "time")]
    assert values == [3, True, "spring", 0.0]
    assert [type(value) for value in values] == [int, bool, str, float]


@pytest.mark.parametrize("make", [point_pendulum, bouncing_mass, free_body])
def test_a_restored_run_repeats_itself_exactly(make):
    first = Instance(make(), tolerance=1e-6)
    first.finish_initialisation()
    for _ in range(7):
        first.do_step(0.03)
    state = json.loads(json.dumps(first.save()))
    assert pickle.loads(pickle.dumps(state)) == state
    other = Instance(make(), tolerance=1e-3)
    other.restore(state)
    assert other.time == first.time
    np.testing.assert_array_equal(other.values("w"), first.values("w"))
    for _ in range(20):
        first.do_step(0.03)
        other.do_step(0.03)
    np.testing.assert_array_equal(other.values("x"), first.values("x"))
    first.restore(state)
    for _ in range(20):
        first.do_step(0.03)
    np.testing.assert_array_equal(other.values("x"), first.values("x"))


def test_a_saved_state_has_the_latch_and_what_was_set_since(model):
    instance, interface = model
    instance.finish_initialisation()
    instance.do_step(0.5)
    put(instance, interface.find("F"), 3.0)
    state = instance.save()
    acceleration = get(instance, interface.find("a"))
    instance.do_step(0.5)
    after = get(instance, interface.find("s"))
    instance.restore(state)
    assert get(instance, interface.find("F")) == 3.0
    assert get(instance, interface.find("a")) == acceleration
    instance.do_step(0.5)
    assert get(instance, interface.find("s")) == after


def test_a_state_saved_before_the_start_keeps_what_was_set(model):
    instance, interface = model
    put(instance, interface.find("s"), 0.3)
    state = instance.save()
    put(instance, interface.find("s"), 0.4)
    instance.finish_initialisation()
    instance.restore(state)
    assert instance.initialising
    assert get(instance, interface.find("s")) == 0.3


@pytest.mark.parametrize("state", [{}, {"p": "?"}])
def test_a_foreign_state_is_refused(model, state):
    instance, _ = model
    with pytest.raises(SimulationError, match="not the saved state"):
        instance.restore(state)
    with pytest.raises(SimulationError, match="oscillator"):
        instance.restore(Instance(point_pendulum()).save())


def test_instances_do_not_touch_each_other(model):
    first, interface = model
    second = Instance(first.equations)
    put(second, interface.find("s"), 0.2)
    first.finish_initialisation()
    second.finish_initialisation()
    first.do_step(1.0)
    second.do_step(0.5)
    first.do_step(1.0)
    assert first.get("x", 0) == pytest.approx(0.1 * np.cos(4.0), abs=1e-7)
    assert second.get("x", 0) == pytest.approx(0.2 * np.cos(1.0), abs=1e-7)


def blow_up():
    """s' = v, v' = v^2 from v = 1: infinite at t = 1; the mode says whether s is above 0.1."""
    d = Draft("blow-up", q=1, v=1, switches=1)
    return d.equations(A=ca.SX(1), b=d.v**2, guess=ca.vertcat(0, 1), fixed=(True, True), crossings=d.q - 0.1, y=d.m[0])


def test_a_failed_step_leaves_the_instance_where_it_was():
    instance = Instance(blow_up())
    instance.finish_initialisation()
    instance.do_step(0.05)
    before = instance.values("x").copy()
    with pytest.raises(StepError, match=r"t = 0\.99|t = 1"):
        instance.do_step(2.0)
    assert instance.time == 0.05
    np.testing.assert_array_equal(instance.values("x"), before)
    assert instance.get("y", 0) == 0.0
    instance.do_step(0.45)
    assert instance.get("x", 1) == pytest.approx(2.0, abs=1e-6)
    assert instance.get("y", 0) == 1.0


def test_steps_go_forward_from_a_finished_initialisation(model):
    instance, _ = model
    with pytest.raises(SimulationError, match="initialisation"):
        instance.do_step(0.1)
    instance.finish_initialisation()
    with pytest.raises(StepError, match="cannot step"):
        instance.do_step(-0.1)


def test_accelerations_that_end_are_reported():
    """The mass is gone from 0.1 s on."""
    d = Draft("vanishing", q=1, v=1)
    mass = ca.if_else(d.t < 0.1, 1, 0)
    instance = Instance(d.equations(A=mass, b=ca.SX(1), guess=ca.SX.zeros(2)))
    instance.finish_initialisation()
    with pytest.raises(StepError, match=r"t = 0\.1 s the step size became too small"):
        instance.do_step(0.2)
    instance.do_step(0.05)
    instance.do_step(0.04)
    assert instance.get("x", 1) == pytest.approx(0.09)


def test_chattering_is_reported_and_not_endless():
    d = Draft("relay", q=1, v=1, switches=1)
    relay = d.equations(
        A=ca.SX(1), b=ca.SX(0), guess=ca.vertcat(-0.1, 0), derivatives=ca.vertcat(1 - 2 * d.m[0], 0), crossings=d.q
    )
    instance = Instance(relay)
    instance.finish_initialisation()
    with pytest.raises(StepError, match=r"t = 0\.1 .* chatters"):
        instance.do_step(1.0)


def test_a_model_without_states_has_values_at_every_time():
    d = Draft("source", switches=1, parameters=[0.25])
    source = d.equations(
        A=ca.SX(0, 0),
        b=ca.SX(0, 1),
        guess=ca.SX(0, 1),
        derivatives=ca.SX(0, 1),
        displacement=ca.SX(0, 1),
        crossings=d.t - d.P[0],
        times=d.P[0],
        time_switches=(True,),
        y=d.t * d.m[0],
    )
    instance = Instance(source)
    instance.finish_initialisation()
    instance.do_step(0.2)
    assert instance.get("y", 0) == 0.0
    instance.do_step(0.2)
    assert instance.get("y", 0) == 0.4
