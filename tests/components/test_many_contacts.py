"""Many bodies that may touch: what they have in common is called, and what is far is not missed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import World
from mbfmu.components.contact import ContactGroup, Sphere
from mbfmu.components.interfaces import Flange_a
from mbfmu.components.joints import Revolute
from mbfmu.components.parts import Body, BodyShape, PointMass
from mbfmu.components.rotational import AccSensor, ConstantTorque, Inertia, Torque
from mbfmu.dynamics.reading import equation_context
from mbfmu.dynamics.reading.equation_context import CALLED
from mbfmu.dynamics.solving import accelerations
from mbfmu.dynamics.solving.articulated_body import INLINE_GROUPS
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.frames import resolve2
from mbfmu.modeling import Component, Frame_a, Parameter, RealInput, RealOutput
from mbfmu.modeling import types as t
from mbfmu.runtime.calls import called_by, calls_in, guard_of, has_calls


class Row(Assembly):
    """Spheres on a line, 10 m from each other; the first one comes with 50 m/s. One more passes by."""

    stop_time = 1.0

    def __init__(self, n=3):
        self.world = World(g=0)
        for i in range(n + 1):
            place, speed = ((10.0 * i, 0, 0), 50.0 * (i == 0)) if i < n else ((-5.0, 0.35, 0), 60.0)
            start = {"r_0": Start(place, fixed=True), "v_0": Start((speed, 0, 0), fixed=True), "w_0_fixed": True}
            inertia = dict.fromkeys(("I_11", "I_22", "I_33"), 0.01)
            body = self.add(f"body{i}", Body(m=1.0, r_CM=(0, 0, 0), angles_fixed=True, **start, **inertia))
            self.connect(body.frame_a, self.add(f"ball{i}", Sphere(radius=0.1)).frame_a)
        self.balls = ContactGroup(geometries_a=[f"ball{i}" for i in range(n + 1)], c=1e6)


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one component alone shares is called, too."""
    monkeypatch.setattr(equation_context, "CALLED", 1)


@pytest.mark.slow
def test_what_comes_from_far_away_is_not_missed(called):
    result = mbfmu.simulate(Row(), tolerance=1e-8, events=True)
    speeds = np.array([result[f"body{i}.v_0[1]"] for i in range(4)])
    np.testing.assert_allclose(speeds[:, -1], [0, 0, 50, 60], atol=1e-6)
    # Each touch begins and ends; the first when surfaces have come 9.8 m nearer
    touches = [event.time for event in result.events]
    assert len(touches) == 4
    assert touches[0] == pytest.approx(9.8 / 50, abs=1e-9)


@pytest.mark.slow
@pytest.mark.campaign
def test_what_a_pair_does_is_worked_out_once_and_not_for_each_of_its_bodies():
    n = INLINE_GROUPS + 1
    dynamics = System.of(Row(n - 1)).equations.functions["dynamics"]
    assert len(calls_in(dynamics.expand())) == n * (n - 1) // 2
    # All pairs are alike then, and so are all bodies, out along the tree, in, and out again
    leaves = called_by(dynamics)
    assert [has_calls(leaf) for leaf in leaves] == [False, True, False, False]


@pytest.mark.slow
def test_pairs_that_are_alike_call_one_function(called):
    functions = System.of(Row(2)).equations.functions
    (gap,) = called_by(functions["crossings"])
    assert guard_of(gap) is None
    found = called_by(functions["dynamics"].expand())
    assert found
    assert all(guard_of(one) == 0 for one in found)
    assert len(found) == len(called_by(System.of(Row(1)).equations.functions["dynamics"].expand()))


@pytest.mark.slow
def test_calls_change_no_bit(monkeypatch):
    results = []
    for least in (1, 100):
        monkeypatch.setattr(equation_context, "CALLED", least)
        results.append(mbfmu.simulate(Row(2), tolerance=1e-8))
    for name in results[0]:
        np.testing.assert_array_equal(results[0][name], results[1][name], err_msg=name)


class Law(Component):
    """A cubic law that begins at an instant."""

    u, begin = Parameter(t.Real, 0.0, "Argument at time 0"), Parameter(t.Time, 0.0, "Instant")
    y, plain = RealOutput("Shared"), RealOutput("The same, written out")

    def equations(self):
        u = self.u + self.time
        value = ca.sin(u) * u**2 + 1
        guard = self.switch(self.time - self.begin, 1, 0)
        self.y = self.shared(value, guard)
        self.plain = ca.if_else(guard, value, 0)


class Laws(Assembly):
    """Some of them."""

    def __init__(self, n=2):
        for i in range(n):
            law = self.add(f"law{i}", Law(u=0.3 + i, begin=2.0 - i))
            self.output(law.y, f"y{i}")
            self.output(law.plain, f"plain{i}")


def test_what_few_share_is_written_out():
    calls = [called_by(System.of(Laws(n)).equations.functions["variables"]) for n in (CALLED - 1, CALLED)]
    assert [len(functions) for functions in calls] == [0, 1]


def test_what_is_shared_is_what_is_written_out(called):
    system = System.of(Laws())
    (function,) = called_by(system.equations.functions["variables"])
    assert guard_of(function) == 0
    result = mbfmu.simulate(system, 1.5)
    assert result["y0"][-1] == result["plain0"][-1] == 0
    u = 1.3 + 1.5
    assert result["y1"][-1] == result["plain1"][-1] == pytest.approx(np.sin(u) * u**2 + 1, rel=1e-15)


class AddedMass(Component):
    """A point mass with drag, by the forces that its acceleration and its speed need."""

    frame_a = Frame_a()
    m = Parameter(t.Mass, 2.0, "Mass")

    def equations(self):
        r, v = self.frame_a.r_0, self.der(self.frame_a.r_0)
        a = self.der(v) - self.world.gravity_acceleration(r)
        inertia = self.shared(self.m * resolve2(self.frame_a.R, a))
        self.frame_a.f = inertia + self.shared(0.1 * resolve2(self.frame_a.R, v))
        self.frame_a.t = np.zeros(3)


class Pendulums(Assembly):
    """Links one on the other, with a mass at the end of each."""

    def __init__(self, is_added, n=3):
        self.world = World()
        last = self.world.frame_b
        for i in range(n):
            joint = self.add(f"joint{i}", Revolute(n=(0, 0, 1), phi=Start(0.3 * i, fixed=True), w=Start(0, fixed=True)))
            link = self.add(f"link{i}", BodyShape(m=1.0, r=(1, 0, 0), r_CM=(0.5, 0, 0), I_22=0.1, I_33=0.1))
            self.connect(last, joint.frame_a)
            self.connect(joint.frame_b, link.frame_a)
            self.connect(link.frame_b, self.add(f"end{i}", AddedMass(m=2.0 * is_added)).frame_a)
            self.connect(link.frame_b, self.add(f"body{i}", PointMass(m=2.0 * (not is_added))).frame_a)
            last = link.frame_b


@pytest.mark.slow
@pytest.mark.parametrize("recursive", [False, True])
def test_what_knows_accelerations_is_written_out(called, monkeypatch, recursive):
    """In a matrix, and in the recursion."""
    if recursive:
        monkeypatch.setattr(accelerations, "RECURSIVE_FROM", 1)
    added, plain = (mbfmu.simulate(Pendulums(is_added), 1.0, tolerance=1e-9) for is_added in (True, False))
    np.testing.assert_allclose(added["joint2.phi"], plain["joint2.phi"], rtol=0, atol=1e-11)


class Amplifier(Component):
    """What a sensor shows, times k."""

    k = Parameter(t.Real, 1.0, "Gain")
    u, y = RealInput("Input"), RealOutput("Output")

    def equations(self):
        self.y = self.shared(self.k * self.u)


class Fed(Assembly):
    """Inertias, with a torque against the acceleration of each beside one of 3 N.m."""

    def __init__(self):
        for i in range(2):
            rotor = self.add(f"rotor{i}", Inertia(J=1.0, phi=Start(0, fixed=True), w=Start(0, fixed=True)))
            sensor, amplifier = self.add(f"sensor{i}", AccSensor()), self.add(f"amplifier{i}", Amplifier(k=-0.5))
            torque, steady = self.add(f"torque{i}", Torque()), self.add(f"steady{i}", ConstantTorque(tau_constant=3.0))
            for other in (sensor, torque, steady):
                self.connect(rotor.flange_b, other.flange)
            self.connect(sensor.a, amplifier.u)
            self.connect(amplifier.y, torque.tau)


class AddedInertia(Component):
    """An inertia that depends on its angle, by the torque that its acceleration needs."""

    flange_a = Flange_a()
    J = Parameter(t.Inertia, 0.5, "Moment of inertia")

    def equations(self):
        phi = self.flange_a.phi
        self.flange_a.tau = self.shared(self.J * (2 + ca.cos(phi)) * self.der(self.der(phi)))


class Laden(Assembly):
    """Inertias with more of it, and a torque of 3 N.m on each."""

    def __init__(self):
        for i in range(2):
            rotor = self.add(f"rotor{i}", Inertia(J=1.0, phi=Start(0, fixed=True), w=Start(0, fixed=True)))
            added, steady = self.add(f"added{i}", AddedInertia()), self.add(f"f{i}", ConstantTorque(tau_constant=3.0))
            self.connect(rotor.flange_b, added.flange_a)
            self.connect(rotor.flange_b, steady.flange)


def test_what_knows_accelerations_of_flanges_is_written_out(monkeypatch):
    angles = []
    for least in (1, 100):
        monkeypatch.setattr(equation_context, "CALLED", least)
        angles.append(mbfmu.simulate(Laden(), 1.0, tolerance=1e-9)["rotor1.phi"])
    np.testing.assert_array_equal(*angles)
    assert 0.5 * 3 / (1 + 3 * 0.5) < angles[0][-1] < 0.5 * 3 / (1 + 0.5)


def test_what_knows_signals_is_written_out(called):
    result = mbfmu.simulate(Fed(), 1.0, tolerance=1e-9)
    assert result["rotor1.phi"][-1] == pytest.approx(0.5 * 3 / (1 + 0.5), rel=1e-12)


class TwoGuards(Law):
    """A guard for each of two things."""

    def equations(self):
        self.plain = self.time
        self.y = self.shared(self.time, [self.time, self.time])


class Wrong(Assembly):
    """One that has two."""

    def __init__(self):
        self.law = TwoGuards()


def test_a_guard_is_one_number():
    with pytest.raises(ModelError, match="a guard has 2 elements; it is one number, 0 or 1"):
        System.of(Wrong())
