"""Many bodies that may touch: what they have in common is called, and what is far is not missed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import World
from mbfmu.components.contact import ContactGroup, Sphere
from mbfmu.components.parts import Body
from mbfmu.dynamics.reading import equation_context
from mbfmu.dynamics.reading.equation_context import CALLED
from mbfmu.dynamics.solving.articulated_body import INLINE_GROUPS
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Component, RealInput, RealOutput
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
    """A cubic law where a second input is positive."""

    u, on = RealInput("Input"), RealInput("Condition")
    y, plain = RealOutput("Shared"), RealOutput("The same, written out")

    def equations(self):
        value = ca.sin(self.u) * self.u**2 + 1
        guard = self.switch(self.on, 1, 0)
        self.y = self.shared(value, guard)
        self.plain = ca.if_else(guard, value, 0)


class Laws(Assembly):
    """Some of them."""

    def __init__(self, n=2):
        for i in range(n):
            law = self.add(f"law{i}", Law())
            self.input(law.u, f"u{i}", start=0.3 + i)
            self.input(law.on, f"on{i}", start=i - 0.5)
            self.output(law.y, f"y{i}")
            self.output(law.plain, f"plain{i}")


def test_what_few_share_is_written_out():
    calls = [called_by(System.of(Laws(n)).equations.functions["variables"]) for n in (CALLED - 1, CALLED)]
    assert [len(functions) for functions in calls] == [0, 1]


def test_what_is_shared_is_what_is_written_out(called):
    system = System.of(Laws())
    (function,) = called_by(system.equations.functions["variables"])
    assert guard_of(function) == 0
    result = mbfmu.simulate(system, 1.0)
    assert result["y0"][-1] == result["plain0"][-1] == 0
    assert result["y1"][-1] == result["plain1"][-1] == np.sin(1.3) * 1.3**2 + 1


class TwoGuards(Law):
    """A guard for each of two things."""

    def equations(self):
        self.plain = self.u
        self.y = self.shared(self.u, [self.on, self.on])


class Wrong(Assembly):
    """One that has two."""

    def __init__(self):
        self.law = TwoGuards()


def test_a_guard_is_one_number():
    with pytest.raises(ModelError, match="a guard has 2 elements; it is one number, 0 or 1"):
        System.of(Wrong())
