"""Blocks that feed each other within an instant: linear loops are solved, in closed form where they are linear."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from mbfmu.components import blocks, rotational, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError, SimulationError
from mbfmu.modeling import Assembly, Component, DiscreteState, IntegerInput, IntegerOutput, RealInput, Start
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate


class Three(Assembly):
    """a = s + b / 2 + c / 4, b = 2 a - c, c = b / 10 + a: two loops through a, one beside it."""

    def __init__(self):
        self.s = blocks.Sine(f=1.0)
        self.a = blocks.Add3(k2=0.5, k3=0.25)
        self.b, self.c = blocks.Add(k1=2.0, k2=-1.0), blocks.Add(k1=0.1)
        self.connect(self.s.y, self.a.u1)
        self.connect(self.b.y, self.a.u2)
        self.connect(self.c.y, self.a.u3)
        self.connect(self.a.y, self.b.u1)
        self.connect(self.c.y, self.b.u2)
        self.connect(self.b.y, self.c.u1)
        self.connect(self.a.y, self.c.u2)
        for block in (self.a, self.b, self.c):
            self.output(block.y)


def test_loops_in_each_other_are_solved():
    result = simulate(Three(), 1.0)
    matrix = np.array([[1, -0.5, -0.25], [-2, 1, 1], [-1, -0.1, 1]])
    wanted = np.linalg.solve(matrix, [1, 0, 0])[:, None] * np.sin(2 * np.pi * np.asarray(result.time))
    for name, values in zip("abc", wanted, strict=True):
        np.testing.assert_allclose(result[f"{name}.y"], values, atol=1e-13)


class Feedback(Assembly):
    """A block in the loop of an amplifier."""

    def __init__(self, block):
        self.s, self.difference, self.block = blocks.Sine(f=1.0, amplitude=4.0), blocks.Feedback(), block
        self.connect(self.s.y, self.difference.u1)
        self.connect(self.difference.y, self.block.u)
        self.connect(self.block.y, self.difference.u2)
        self.output(self.block.y, "y")


def test_a_limiter_in_a_loop_changes_branches():
    """y = 3 (s - y) within the limits: y = 3 s / 4, at most 2."""

    class Limited(Assembly):
        def __init__(self):
            self.s, self.difference = blocks.Sine(f=1.0, amplitude=4.0), blocks.Feedback()
            self.gain, self.limiter = blocks.Gain(k=3.0), blocks.Limiter(uMax=2.0)
            self.connect(self.s.y, self.difference.u1)
            self.connect(self.difference.y, self.gain.u)
            self.connect(self.gain.y, self.limiter.u)
            self.connect(self.limiter.y, self.difference.u2)
            self.output(self.limiter.y, "y")

    result = simulate(Limited(), 1.0)
    wanted = np.clip(3 * np.sin(2 * np.pi * np.asarray(result.time)), -2, 2)
    np.testing.assert_allclose(result["y"], wanted, atol=1e-9)


def test_a_loop_through_a_speed_and_its_derivative():
    """A torque of -2 times the acceleration acts as more inertia."""

    class Virtual(Assembly):
        def __init__(self):
            self.torque = rotational.Torque()
            self.inertia = rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            self.sensor, self.law = rotational.AccSensor(), blocks.Add(k1=-2.0)
            self.one = blocks.Constant(k=6.0)
            self.connect(self.torque.flange, self.inertia.flange_a)
            self.connect(self.inertia.flange_b, self.sensor.flange)
            self.connect(self.sensor.a, self.law.u1)
            self.connect(self.one.y, self.law.u2)
            self.connect(self.law.y, self.torque.tau)
            self.output(self.inertia.a, "a")

    np.testing.assert_allclose(simulate(Virtual(), 1.0)["a"], 2.0, rtol=1e-12)


def test_a_loop_that_is_not_linear_is_iterated():
    """y = sin(u - y), which has one solution, found here by bisection."""
    result = simulate(Feedback(blocks.Sin()), 1.0)
    inputs = np.asarray(result["difference.u1"])
    wanted = [scipy.optimize.brentq(lambda y, u=u: y - np.sin(u - y), -2.0, 2.0, xtol=1e-15) for u in inputs]
    assert np.ptp(inputs) > 0.5
    np.testing.assert_allclose(result["block.y"], wanted, atol=1e-14)


def test_a_loop_without_solution_is_refused():
    with pytest.raises(ModelError, match="add up to a condition that no value meets, or any"):
        System.of(Feedback(blocks.Gain(k=-1.0)))
    with pytest.raises(SimulationError, match="no finite number"):
        simulate(Feedback(blocks.Gain(k=1.0)), 1.0, start_values={"block.k": -1.0})


def test_a_loop_that_any_value_meets_is_refused():
    """Without a source its value would be 0, which nothing says."""

    class Ring(Assembly):
        def __init__(self):
            self.a, self.b = blocks.Gain(k=2.0), blocks.Gain(k=0.5)
            self.connect(self.a.y, self.b.u)
            self.connect(self.b.y, self.a.u)
            self.output(self.a.y, "y")

    with pytest.raises(ModelError, match="or any"):
        System.of(Ring())


@pytest.mark.parametrize("count", [1, 3])
def test_conditions_that_need_themselves_are_refused(count):
    """Of an odd number of negations none is right; a derivative sees nothing of that."""

    class Ring(Assembly):
        def __init__(self):
            self.b = [blocks.Not() for _ in range(count)]
            for before, after in zip(self.b, [*self.b[1:], self.b[0]], strict=True):
                self.connect(before.y, after.u)

    with pytest.raises(ModelError, match=r"algebraic loop: b\[.*give the condition b\[\d\]\.y by itself.*block Pre"):
        System.of(Ring())


@pytest.mark.parametrize("count", [1, 2])
def test_a_signal_that_needs_its_own_derivative_is_refused(count):
    """Its derivative would need the one of the next order, without end."""

    class Differentiated(Assembly):
        def __init__(self):
            self.s, self.difference = blocks.Sine(f=1.0), blocks.Feedback()
            self.der = [blocks.Der() for _ in range(count)]
            self.connect(self.s.y, self.difference.u1)
            for before, after in zip([self.difference, *self.der], self.der, strict=False):
                self.connect(before.y, after.u)
            self.connect(self.der[-1].y, self.difference.u2)
            self.output(self.difference.y, "y")

    with pytest.raises(ModelError, match=r"\.y: the equations need its derivative to find it.*Derivative block"):
        System.of(Differentiated())


def test_a_position_that_needs_its_own_speed_is_refused():
    class Own(Assembly):
        def __init__(self):
            self.drive, self.mass = translational.Position(exact=True), translational.Mass(m=1.0)
            self.sensor, self.gain = translational.SpeedSensor(), blocks.Gain(k=-0.1)
            self.connect(self.drive.flange, self.mass.flange_a)
            self.connect(self.mass.flange_b, self.sensor.flange)
            self.connect(self.sensor.v, self.gain.u)
            self.connect(self.gain.y, self.drive.s_ref)

    with pytest.raises(ModelError, match=r"sensor: the equations of SpeedSensor differentiate.*put a filter"):
        System.of(Own())


def test_whole_numbers_that_need_themselves_are_refused():
    class Sum(Component):
        u = IntegerInput("Summand")
        y = IntegerOutput("Sum")

        def equations(self):
            self.y = 3 - self.u

    class Own(Assembly):
        def __init__(self):
            self.s = Sum()
            self.connect(self.s.y, self.s.u)

    with pytest.raises(ModelError, match=r"algebraic loop: s\.y.*give the whole number s\.y by itself"):
        System.of(Own())


def test_a_loop_that_is_not_linear_does_not_say_how_long_a_delay_is():
    """Where the past is read is asked before such a loop is solved."""

    class Delayed(Feedback):
        def __init__(self):
            super().__init__(blocks.Sin())
            self.delay = blocks.VariableDelay(delayMax=2.0)
            self.connect(self.s.y, self.delay.u)
            self.connect(self.block.y, self.delay.delayTime)

    with pytest.raises(ModelError, match=r"delay.*how long a signal is delayed depends on .* loop that is not linear"):
        System.of(Delayed())


class Before(Component):
    """What its input was before each half second."""

    u = RealInput("A signal")
    last = DiscreteState(t.Real, "Value that is held", start=0.0)

    def equations(self):
        self.when(self.sample(0.5, 0.5), last=self.pre(self.u))


def test_a_loop_that_is_not_linear_has_no_value_before_an_event():
    class Sampled(Feedback):
        def __init__(self, block):
            super().__init__(block)
            self.before = Before()
            self.connect(self.block.y, self.before.u)

    with pytest.raises(ModelError, match=r"before: pre\(\) of what an algebraic loop that is not linear gives"):
        System.of(Sampled(blocks.Sin()))
