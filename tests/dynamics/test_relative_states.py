"""Relative states of compliant parts: which are chosen, that they move as absolute ones do, and what they gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu.components import blocks, joints, parts, rotational, translational
from mbfmu.components.world import World
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Component, Parameter, Start, State
from mbfmu.modeling import types as t
from mbfmu.modeling.connectors import RotationalFlange

STIFFNESS, DAMPING, INERTIA, TORQUE, SPEED = 1e5, 2.0, 0.1, 10.0, 100.0


def at(value: float) -> Start:
    return Start(value, fixed=True)


class Shaft(Assembly):
    """A stiff shaft between two inertias, or behind a drive of constant speed, whose load begins at the start."""

    def __init__(self, driven: bool, turned: bool) -> None:
        self.shaft = rotational.SpringDamper(c=STIFFNESS, d=DAMPING)
        if driven:
            self.drive = rotational.ConstantSpeed(w_fixed=SPEED, phi=at(0.0))
            near = self.drive.flange
        else:
            self.J1 = rotational.Inertia(J=INERTIA, phi=at(0.0), w=at(SPEED))
            near = self.J1.flange_b
        self.J2 = rotational.Inertia(J=INERTIA, phi=at(0.0), w=at(SPEED))
        self.load = rotational.ConstantTorque(tau_constant=-TORQUE)
        ends = (self.shaft.flange_b, self.shaft.flange_a) if turned else (self.shaft.flange_a, self.shaft.flange_b)
        self.connect(near, ends[0])
        self.connect(ends[1], self.J2.flange_a)
        self.connect(self.J2.flange_b, self.load.flange)


def twist(times: np.ndarray, mass: float) -> np.ndarray:
    """Twist and its rate [2, n] of `mass` x'' + d x' + c x = -tau m/J, from rest, in closed form."""
    decay, force = DAMPING / (2 * mass), -TORQUE / INERTIA
    omega = np.sqrt(STIFFNESS / mass - decay**2)
    rest = force * mass / STIFFNESS
    envelope = np.exp(-decay * times)
    x = rest - rest * envelope * (np.cos(omega * times) + decay / omega * np.sin(omega * times))
    v = force / omega * envelope * np.sin(omega * times)
    return np.array([x, v])


class Dampers(Assembly):
    """An inertia that two dampers in a row brake: between them is nothing with a mass."""

    def __init__(self) -> None:
        self.J = rotational.Inertia(J=0.5, phi=at(0.0), w=at(10.0))
        self.one, self.other = rotational.Damper(d=2.0, phi_rel=at(0.0)), rotational.Damper(d=3.0)
        self.ground = rotational.Fixed()
        self.connect(self.J.flange_b, self.one.flange_a)
        self.connect(self.one.flange_b, self.other.flange_a)
        self.connect(self.other.flange_b, self.ground.flange)


def test_what_a_balance_without_mass_knows_by_its_speed_is_absolute() -> None:
    """The balance between the dampers is a constraint on speeds: it acts on accelerations of the nodes themselves."""
    system = System.of(Dampers())
    states = {v.name for v in system.variables if v.store == "x"}
    assert "J.w" in states
    assert not states & {"one.w_rel", "other.w_rel"}
    result = mbfmu.simulate(system, 1.0, tolerance=1e-9)
    np.testing.assert_allclose(result["J.w"], 10 * np.exp(-2.4 * result.time), rtol=1e-8)
    np.testing.assert_allclose(result["other.w_rel"], -4 * np.exp(-2.4 * result.time), rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("driven", [False, True])
def test_a_stiff_shaft_at_speed_against_its_closed_form(driven: bool, turned: bool) -> None:
    """With absolute states of the same tolerance the rate errs by 1e-4 of its range and more."""
    result = mbfmu.simulate(Shaft(driven, turned), 1.0, tolerance=1e-8)
    expected = twist(result.time, INERTIA if driven else INERTIA / 2)
    for name, values in zip(("shaft.phi_rel", "shaft.w_rel"), expected, strict=True):
        error = np.abs((-1 if turned else 1) * result[name] - values).max() / np.ptp(values)
        assert error < 1e-6, (name, error)


def states_of(assembly: Assembly) -> set[str]:
    """The positions that are states, by the names of the variables that start them."""
    system = System.of(assembly)
    owners: dict[int, list[str]] = {}
    for v in system.variables:
        if v.store == "x" and v.index < system.equations.nq:
            owners.setdefault(v.index, []).append(v.name)
    return {next((n for n in names if not n.endswith("flange.phi") and ".flange_" not in n), names[0])
            for names in owners.values()}  # fmt: skip


class Train(Assembly):
    """Parts in parallel, a gear, backlash, a clutch, and an end that is held."""

    def __init__(self, **compliant: Any) -> None:
        self.J1 = rotational.Inertia(J=1.0, phi=at(0.1), w=at(3.0))
        self.spring = rotational.SpringDamper(c=1e3, d=0.1, **compliant)
        self.damper = rotational.Damper(d=0.2, **compliant)
        self.J2 = rotational.Inertia(J=1.0, phi=at(0.0), w=at(1.0))
        self.gear = rotational.IdealGear(ratio=3.0)
        self.backlash = rotational.ElastoBacklash(c=1e4, d=1.0, b=0.01, **compliant)
        self.J3 = rotational.Inertia(J=0.2, phi=at(0.0), w=at(0.0))
        self.bearing = rotational.SpringDamper(c=10.0, d=0.1, **compliant)
        self.housing = rotational.Fixed()
        for part in (self.spring, self.damper):
            self.connect(self.J1.flange_b, part.flange_a)
            self.connect(part.flange_b, self.J2.flange_a)
        self.connect(self.J2.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.backlash.flange_b)
        self.connect(self.backlash.flange_a, self.J3.flange_a)
        self.connect(self.J3.flange_b, self.bearing.flange_a)
        self.connect(self.bearing.flange_b, self.housing.flange)


@pytest.mark.slow
def test_a_tree_of_relative_states_grows_through_gears_and_from_what_is_held() -> None:
    system = System.of(Train())
    assert states_of(Train()) == {"spring.phi_rel", "backlash.phi_rel", "bearing.phi_rel"}
    assert system.equations.nl == 0
    rates = {v.derivative_of: v.name for v in system.variables if v.derivative_of}
    assert rates["spring.phi_rel"] == "spring.w_rel"
    assert rates["spring.w_rel"] == "spring.a_rel"
    assert rates["backlash.w_rel"] == "backlash.a_rel"
    nominals = {v.name: v.nominal for v in system.variables}
    assert nominals["spring.phi_rel"] == 1e-4
    assert nominals["J1.phi"] is None


def test_balances_know_their_neighbours_only() -> None:
    assert System.of(Train()).equations.blocks == ((0,), (1,), (2,))


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("choice", ["default", "avoid", "never"])
def test_relative_and_absolute_states_move_alike(choice: str) -> None:
    assert states_of(Train(stateSelect=choice)) == {"J1.phi", "J2.phi", "J3.phi"}
    one, two = (mbfmu.simulate(train, 1.0, tolerance=1e-12) for train in (Train(), Train(stateSelect=choice)))
    for name in ("J1.phi", "J2.phi", "J3.phi", "J1.w", "J2.w", "J3.w", "backlash.tau", "bearing.flange_b.tau", "J1.a"):
        np.testing.assert_allclose(one[name], two[name], atol=2e-6 * np.ptp(two[name]), rtol=0)


def test_what_the_user_chooses_stays() -> None:
    class Chosen(Assembly):
        def __init__(self) -> None:
            self.J1, self.J2 = (rotational.Inertia(J=1.0, stateSelect="always") for _ in range(2))
            self.spring = rotational.SpringDamper(c=1.0, d=1.0)
            self.connect(self.J1.flange_b, self.spring.flange_a)
            self.connect(self.spring.flange_b, self.J2.flange_a)

    assert states_of(Chosen()) == {"J1.phi", "J2.phi"}


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_an_explicit_choice_between_flanges() -> None:
    class Chosen(Assembly):
        def __init__(self) -> None:
            self.m1, self.m2 = (translational.Mass(m=1.0) for _ in range(2))
            self.states, self.spring = translational.RelativeStates(s_rel=at(0.3)), translational.Spring(c=1.0)
            for part in (self.spring, self.states):
                self.connect(self.m1.flange_b, part.flange_a)
                self.connect(part.flange_b, self.m2.flange_a)

    assert states_of(Chosen()) == {"m1.s", "states.s_rel"}
    assert mbfmu.simulate(Chosen(), 0.1, start_values={"states.s_rel": 0.4})["spring.s_rel"][0] == 0.4


class Pulled(Assembly):
    """A mass behind a spring, whose far end is moved by a signal that jumps, or by a filter of it."""

    def __init__(self, exact: bool) -> None:
        self.spring = translational.SpringDamper(c=1e3, d=1.0)
        self.m = translational.Mass(m=1.0, s=at(0.0), v=at(0.0))
        self.connect(self.spring.flange_b, self.m.flange_a)
        self.signal = blocks.Step(startTime=0.1, height=0.5)
        self.drive = translational.Speed(exact=exact)
        self.connect(self.signal.y, self.drive.v_ref)
        self.connect(self.drive.flange, self.spring.flange_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*jumps from")
def test_a_mass_does_not_jump_with_what_pulls_it() -> None:
    filtered, exact = Pulled(exact=False), Pulled(exact=True)
    assert "spring.s_rel" in states_of(filtered)
    assert "m.s" in states_of(exact)
    result = mbfmu.simulate(exact, 0.2)
    assert np.abs(np.diff(result["m.v"])).max() < 0.05


def test_a_motion_from_outside_leaves_states_absolute() -> None:
    class Turned(Assembly):
        def __init__(self) -> None:
            self.end = RotationalFlange("End", motion=True)
            self.spring, self.J = rotational.SpringDamper(c=10.0, d=1.0), rotational.Inertia(J=1.0)
            self.connect(self.end, self.spring.flange_a)
            self.connect(self.spring.flange_b, self.J.flange_a)

    assert states_of(Turned()) == {"J.phi"}


@pytest.mark.slow
def test_a_flange_without_mass_between_two_springs() -> None:
    """Its balance is a constraint on speeds, which stay absolute; the halves together have half of all of one."""

    class Series(Assembly):
        def __init__(self) -> None:
            self.wall, self.J = rotational.Fixed(), rotational.Inertia(J=1.0, phi=at(0.2), w=at(0.0))
            self.one, self.two = (rotational.SpringDamper(c=200.0, d=2.0) for _ in range(2))
            self.one.modify(phi_rel=at(0.1))
            self.connect(self.wall.flange, self.one.flange_a)
            self.connect(self.one.flange_b, self.two.flange_a)
            self.connect(self.two.flange_b, self.J.flange_a)

    assert "J.phi" in states_of(Series())
    result = mbfmu.simulate(Series(), 2.0, tolerance=1e-9)
    omega, decay = np.sqrt(100.0 - 0.25), np.exp(-0.5 * result.time)
    swing = np.cos(omega * result.time) + 0.5 / omega * np.sin(omega * result.time)
    np.testing.assert_allclose(result["J.phi"], 0.2 * decay * swing, atol=1e-8)


class Arm(Assembly):
    """A motor drives a pendulum through a gear and a soft shaft."""

    def __init__(self, **compliant: Any) -> None:
        self.world = World()
        self.joint = joints.Revolute(useAxisFlange=True, phi=at(0.3), w=at(0.0))
        self.body = parts.Body(m=1.0, r_CM=[0.5, 0.0, 0.0])
        self.motor = rotational.Inertia(J=0.01, phi=at(0.0), w=at(0.0))
        self.gear = rotational.IdealGear(ratio=5.0)
        self.shaft = rotational.SpringDamper(c=50.0, d=0.1, phi_rel0=0.3, **compliant)
        self.connect(self.world.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.body.frame_a)
        self.connect(self.motor.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.shaft.flange_a)
        self.connect(self.shaft.flange_b, self.joint.axis)


@pytest.mark.slow
def test_coordinates_of_joints_stay_and_motors_are_relative_to_them() -> None:
    assert states_of(Arm()) == {"joint.phi", "shaft.phi_rel"}
    one, two = (mbfmu.simulate(arm, 1.0, tolerance=1e-10) for arm in (Arm(), Arm(stateSelect="default")))
    for name in ("joint.phi", "motor.w", "shaft.tau", "body.frame_a.f[1]"):
        np.testing.assert_allclose(one[name], two[name], atol=1e-6 * np.ptp(two[name]), rtol=0)


class Decay(Component):
    """A small quantity that decays, and its nominal value."""

    typical = Parameter(t.Real, 1.0, "Nominal value", structural=True)
    x = State(t.Real, "Small quantity", start=1e-5, fixed=True, nominal=lambda self: self.typical)

    def equations(self) -> None:
        self.der.x = -3.0 * self.x


class Decaying(Assembly):
    def __init__(self, typical: float) -> None:
        self.decay = Decay(typical=typical)


def error_of(typical: float) -> float:
    result = mbfmu.simulate(Decaying(typical), 3.0, interval=3.0, tolerance=1e-5)
    return float(np.abs(result["decay.x"] / (1e-5 * np.exp(-3.0 * result.time)) - 1).max())


def test_nominal_values_weigh_the_error_and_great_ones_do_not_loosen_it() -> None:
    assert error_of(1e-5) < 0.01 * error_of(1.0)
    assert error_of(1e3) == error_of(1.0)
