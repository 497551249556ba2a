"""Thresholds of the runtime: each is crossed from both sides."""

from __future__ import annotations

import dataclasses
import math

import casadi as ca
import pytest
from fmpy.fmi2 import FMU2Model, fmi2Real
from hand_made_models import Draft, oscillator, point_pendulum, variable
from hosts import Failed

# Compiled equations are interpreted ones to the last bit (test_tapes.py): the suite compiles few models.
pytestmark = pytest.mark.campaign("compiled")


def shrinking():
    """A point on a circle about the origin that a slider leads to and fro along x: at x > 1 nothing can be met."""
    d = Draft("shrinking", q=2, v=2, multipliers=2, parameters=[0.0, 1.0, 0.5])
    drive = d.P[2] * d.t
    g = ca.vertcat((ca.dot(d.q, d.q) - 1) / 2, d.q[0] - drive)
    c = ca.vertcat(ca.dot(d.q, d.v), d.v[0] - d.P[2])
    G = ca.jacobian(c, d.v)
    return d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -G.T], [G, ca.SX(2, 2)]]),
        b=ca.vertcat(0, 0, -ca.dot(d.v, d.v), 0),
        guess=ca.vertcat(d.P[:2], d.P[2], 0),
        g=g,
        c=c,
        fixed=(True,) * 4,
        stop_time=10.0,
    )


@pytest.mark.slow
def test_constraints_hold_until_they_cannot(library):
    """Up to the dead centre at t = 2 every point is on the circle; a looser projection would go on beside it."""
    slave = library(shrinking).slave(tolerance=1e-4).start()
    for i in range(1, 20):
        slave.step(i / 10 - slave.time)
        x, y = slave.get("x0", "x1")
        assert math.hypot(x, y) == pytest.approx(1.0, abs=1e-13)
        assert x == pytest.approx(slave.time / 2, abs=1e-13)
    with pytest.raises(Failed) as caught:
        slave.step(1.0)
    assert caught.value.status == 2
    slave_time, x, y = slave.get("time", "x0", "x1")
    assert 1.9 <= slave_time <= 2.0 + 1e-6
    assert math.hypot(x, y) == pytest.approx(1.0, abs=1e-10)


def off_its_circle():
    """Two circles of radius 1 about (0, 0) and (2 + p4, 0): they touch for p4 = 0, and miss each other by p4."""
    d = Draft("off", q=2, v=2, multipliers=2, parameters=[1.0, 0.0, 0.0, 0.0, 0.0])
    apart = ca.vertcat(d.q[0] - 2 - d.P[4], d.q[1])
    g = ca.vertcat((ca.dot(d.q, d.q) - 1) / 2, (ca.dot(apart, apart) - 1) / 2)
    c = ca.vertcat(ca.dot(d.q, d.v), ca.dot(apart, d.v))
    G = ca.jacobian(c, d.v)
    return d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -G.T], [G, 1e-3 * ca.SX.eye(2)]]),
        b=ca.SX.zeros(4),
        guess=d.P[:4],
        g=g,
        c=c,
        fixed=(True,) * 4,
    ), (
        variable("gap", "P", 4, causality="parameter", variability="tunable", start=0.0, start_index=4),
        *(variable(f"x{i}", "x", i) for i in range(4)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("gap", [1e-7, 1e-4, 5e-3])
def test_constraints_that_cannot_be_met_are_an_error_however_small_the_gap(library, gap):
    """The point between two circles that do not touch is off both by half the gap."""
    slave = library(off_its_circle).slave().start()
    slave.step(0.1)
    slave.set("gap", gap)
    with pytest.raises(Failed, match=r"'velocity [12]' cannot be met, it is off by"):
        slave.step(0.1)


def limited():
    """A unit mass under 1 N whose speed must stay below p[0], and whose acceleration below p[1]."""
    d = Draft("limited", q=1, v=1, inputs=[1.0], parameters=[0.5, 10.0])
    return d.equations(
        A=ca.SX(1),
        b=d.u,
        guess=ca.SX.zeros(2),
        fixed=(True, True),
        assertions=ca.vertcat(d.P[0] - d.v, d.P[1] - d.w[0]),
        assertion_messages=("too fast", "too strong"),
    )


@pytest.mark.slow
def test_a_completed_step_of_model_exchange_ends_at_an_assertion(fmu_library):
    slave = fmu_library(limited).slave(kind=FMU2Model).start()
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    for speed, ends in ((0.4, 0), (0.6, 1), (0.5, 0)):
        slave.fmi.setContinuousStates((fmi2Real * 2)(0.0, speed), 2)
        slave.log.clear()
        assert slave.fmi.completedIntegratorStep()[1] == ends
        assert ["assertion violated: too fast" in text for text in slave.messages(1)] == [True] * ends
    slave.set("u0", 11.0)
    assert slave.fmi.completedIntegratorStep()[1] == 1
    assert "assertion violated: too strong" in slave.log[-1][2]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_check_assertions_on_accelerations_of_their_end(library, solver):
    """a = 1 + t passes 1.5 at t = 0.5: that is seen in the step that ends there, not one later."""

    def growing():
        d = Draft("growing", q=1, v=1)
        return d.equations(
            A=ca.SX(1),
            b=1 + d.t,
            guess=ca.SX.zeros(2),
            fixed=(True, True),
            assertions=1.5 - d.w[0],
            assertion_messages=("too strong",),
        )

    slave = library(growing, solver=solver, fixed_step=0.125).slave().start()
    slave.step(0.5)
    with pytest.raises(Failed, match=r"assertion violated: too strong"):
        slave.step(0.125)


def held_rod():
    """A pendulum whose rod is never let loose: its multiplier stays below -1 from the start below the pivot."""
    d = Draft("held rod", q=2, v=2, multipliers=1, parameters=[0.6, -0.8])
    return d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -d.q], [d.q.T, ca.SX(0)]]),
        b=ca.vertcat(0, -10, -ca.dot(d.v, d.v)),
        guess=ca.vertcat(d.P[:2], 0, 0),
        g=(ca.dot(d.q, d.q) - 1) / 2,
        c=ca.dot(d.q, d.v),
        fixed=(True,) * 4,
        assertions=-1 - d.w[2],
        assertion_messages=("the rod is loose",),
    )


def runaway():
    """A mass on a spring of 1e6 N/m: each step of 0.1 s makes its motion greater by powers of ten."""
    d = Draft("runaway", q=1, v=1)
    return d.equations(A=ca.SX(1.0), b=-1e6 * d.q, guess=ca.SX([1.0, 0.0]), fixed=(True, True))


@pytest.mark.slow
def test_fixed_steps_that_are_too_long_say_so(library):
    slave = library(runaway, fixed_step=0.1, solver="explicit").slave().start()
    with pytest.raises(Failed, match=r"fixed steps of 0\.1 s are too long for this model: build it with shorter ones"):
        slave.advance(20.0, 1.0)


@pytest.mark.slow
def test_fixed_steps_check_assertions_after_projecting(library):
    slave = library(held_rod, fixed_step=0.02).slave().start()
    for i in range(1, 51):
        slave.step(i / 50 - slave.time)
        assert slave.get("w2") < -1
    assert math.hypot(*slave.get("x0", "x1")) == pytest.approx(1.0, abs=1e-13)


def with_nominals():
    equations, variables = oscillator()
    return dataclasses.replace(equations, nominals=(0.01, 250.0)), variables


@pytest.mark.slow
def test_nominals_are_those_of_the_equations(fmu_library):
    slave = fmu_library(with_nominals).slave(kind=FMU2Model).start()
    values = (fmi2Real * 2)()
    slave.fmi.getNominalsOfContinuousStates(values, 2)
    assert list(values) == [0.01, 250.0]
    other = fmu_library(point_pendulum).slave(kind=FMU2Model).start()
    four = (fmi2Real * 4)()
    other.fmi.getNominalsOfContinuousStates(four, 4)
    assert list(four) == [1.0] * 4


def test_output_derivatives_are_good_at_late_times_and_after_short_steps(fmu_library):
    """Differences in time need a length that rounding at that time leaves alone."""
    slave = fmu_library(oscillator).slave(tolerance=1e-10)
    slave.fmi.setupExperiment(tolerance=1e-10, startTime=1e6)
    slave.fmi.enterInitializationMode()
    slave.fmi.exitInitializationMode()
    time = 1e6
    for h in (0.5, 1e-6):
        slave.fmi.doStep(time, h)
        time += h
    references = [slave.reference(name) for name in ("a", "energy", "time")]
    derivatives = slave.fmi.getRealOutputDerivatives(references, [1] * 3)
    assert list(derivatives) == pytest.approx([0.8 * math.sin(1.0), 0.0, 1.0], abs=2e-6)


def test_output_derivatives_are_good_where_steps_are_short_at_late_times(fmu_library):
    """Steps of microseconds at 1e6 s: a thousandth of one would be lost in the rounding of time."""
    slave = fmu_library(oscillator).slave()
    slave.fmi.setupExperiment(tolerance=1e-8, startTime=1e6)
    slave.set("c", 2e8)
    slave.fmi.enterInitializationMode()
    slave.fmi.exitInitializationMode()
    slave.fmi.doStep(1e6, 1e-3)
    (rate,) = slave.fmi.getRealOutputDerivatives([slave.reference("time")], [1])
    assert rate == pytest.approx(1.0, abs=1e-6)
