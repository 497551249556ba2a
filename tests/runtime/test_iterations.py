"""Iteration variables, the unknowns of equations without closed solution, against equations solved by SciPy."""

from __future__ import annotations

import dataclasses
import functools
import re

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Slave
from hand_made_models import GRAVITY, NONE, Draft, parameter, variable
from hosts import Failed, model_and_variables
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import wrightomega

from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.export.model_exchange import needs_completed_steps
from mbfmu.runtime import lanes
from mbfmu.runtime.batch import Batch
from mbfmu.runtime.run import model_of, place
from mbfmu.studies.equilibrium import equilibrium
from mbfmu.studies.linearize import linearize
from mbfmu.validation import validate

# Compiled equations are interpreted ones to the last bit (test_tapes.py): the suite compiles few models.
pytestmark = pytest.mark.campaign("compiled")


def states(d, rates, residuals, start, **others):
    """Equations of a Draft without accelerations: dx/dt, residuals and start values of x; all variables begin at 0."""
    n = d.s.numel()
    defaults = {"iteration_guess": ca.SX.zeros(n), "iteration_blocks": (n,)}
    return d.equations(
        A=ca.SX(0, 0), b=NONE, guess=start, fixed=(True,) * d.x.numel(), derivatives=rates, iterations=residuals,
        **(defaults | others),
    )  # fmt: skip


def cubic():
    """x' = u - s, where s + s^3 / 10 = x."""
    d = Draft("cubic", z=1, inputs=[0.0], parameters=[2.0], iterations=1)
    return states(d, d.u[0] - d.s, d.s + d.P[0] / 20 * d.s**3 - d.z, ca.SX(1), iteration_names=("spring.s",), y=d.s**2)


def root_of_cubic(x):
    return brentq(lambda s: s + 0.1 * s**3 - x, -10, 10, xtol=1e-15, rtol=1e-15)


SATURATION, THERMAL, RESISTANCE, CAPACITY = 1e-12, 0.025, 100.0, 1e-5


def rectifier():
    """A diode behind a resistor charges a capacitor from 5 V at 50 Hz, which a load of 1 kOhm empties."""
    d = Draft("rectifier", z=1, iterations=1)
    current = SATURATION * (ca.exp(d.s / THERMAL) - 1)
    source = 5 * ca.cos(100 * ca.pi * d.t)
    return states(
        d, (current - d.z / 1000) / CAPACITY, (source - d.z - d.s) / RESISTANCE - current, ca.SX(0),
        iteration_names=("diode.v",), y=ca.vertcat(current, source), stop_time=0.04,
    )  # fmt: skip


def fixed_point():
    """y = 0.9 cos y, which knows nothing else, and a state that follows it."""
    d = Draft("fixed point", z=1, iterations=1)
    return states(d, d.s - d.z, d.s - 0.9 * ca.cos(d.s), ca.SX(0))


FIXED_POINT = brentq(lambda y: y - 0.9 * np.cos(y), 0, 1, xtol=1e-15)


def two_blocks():
    """s0 + s0^3 = x; then two together that know it: s1 + 0.3 sin s2 = s0, s2 - 0.3 s1^2 = t."""
    d = Draft("two blocks", z=1, iterations=3)
    s = d.s
    residuals = ca.vertcat(s[0] + s[0] ** 3 - d.z, s[1] + 0.3 * ca.sin(s[2]) - s[0], s[2] - 0.3 * s[1] ** 2 - d.t)
    return states(d, -s[1] - s[2], residuals, ca.SX(1), iteration_blocks=(1, 2), iteration_nominals=(1.0, 2.0, 0.5))


def switched():
    """x' = 1 until s^3 + s = x reaches 1; from then on s (s^2 + 3) = x, and x' = -s."""
    d = Draft("switched", z=1, switches=1, iterations=1)
    mode = d.m[0]
    return states(
        d, ca.if_else(mode, -d.s, 1), d.s**3 + ca.if_else(mode, 3, 1) * d.s - d.z, ca.SX(0),
        crossings=ca.if_else(mode, 1, d.s - 1), y=mode,
    )  # fmt: skip


def knowing():
    """2 a = -8 q + 2 s + F, where s = tanh(a) / 2 + v / 5 needs the acceleration."""
    d = Draft("knowing", q=1, v=1, inputs=[0.0], parameters=[1.0, 0.0], iterations=1)
    return d.equations(
        A=ca.SX(2),
        b=-8 * d.q + 2 * d.s + d.u[0],
        guess=d.P,
        fixed=(True, True),
        iterations=d.s - ca.tanh(d.w) / 2 - d.v / 5,
        iteration_guess=ca.SX(0),
        iteration_blocks=(1,),
        y=d.s * d.w,
    ), (
        *(variable(name, store, i) for name, store, i in (("q", "x", 0), ("v", "x", 1), ("sa", "y", 0))),
        variable("a", "w", 0, causality="output"),
        variable("s", "u", 1, causality="output"),
        variable("sw", "y", 0, causality="output"),
        variable("F", "u", 0, causality="input", start=0.0),
        parameter("q0", 0, 1.0),
    )


def acceleration(q, v, force=0.0):
    return brentq(lambda a: 2 * a + 8 * q - 2 * (np.tanh(a) / 2 + v / 5) - force, -100, 100, xtol=1e-15)


def ending():
    """x' = 1, where s^2 = 1 - x has a solution until x = 1."""
    d = Draft("ending", z=1, iterations=1)
    return states(d, 1 + 0 * d.s, d.s**2 + d.z - 1, ca.SX(0), iteration_guess=ca.SX(1), iteration_names=("orifice.dp",))


def pendulum():
    """A unit mass at (x, y) on a rod, pushed by s + s^3 = the force in the rod / 10."""
    d = Draft("pendulum", q=2, v=2, multipliers=1, parameters=[0.6, -0.8, 0.0, 0.0], iterations=1)
    A = ca.blockcat([[ca.SX.eye(2), -d.q], [d.q.T, ca.SX(0)]])
    return d.equations(
        A=A,
        b=ca.vertcat(d.s, -GRAVITY, -ca.dot(d.v, d.v)),
        guess=d.P,
        g=(ca.dot(d.q, d.q) - 1) / 2,
        c=ca.dot(d.q, d.v),
        initial=ca.vertcat((ca.dot(d.X[:2], d.X[:2]) - 1) / 2, ca.dot(d.X[:2], d.X[2:4])),
        fixed=(True, False, True, False),
        iterations=d.s + d.s**3 - d.w[2] / 10,
        iteration_guess=ca.SX(0),
        iteration_blocks=(1,),
    )


def pendulum_oracle(end):
    """The angle from the vertical: phi'' = -g sin phi + s cos phi, the rod's force is lambda."""

    def push(phi, rate):
        # lambda: -(s e_x - g e_y) . e_r = rate^2 + lambda with e_r outwards; the multiplier acts along q.
        return brentq(lambda s: s + s**3 + (rate**2 + s * np.sin(phi) + GRAVITY * np.cos(phi)) / 10, -9, 9, xtol=1e-15)

    def rates(_, x):
        return [x[1], -GRAVITY * np.sin(x[0]) + push(*x) * np.cos(x[0])]

    x = solve_ivp(rates, (0, end), [np.arcsin(0.6), 0], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    return np.sin(x[0]), -np.cos(x[0])


@functools.cache
def charge_of_rectifier():
    """The state that SciPy gives at the end."""

    def rate(t, x):
        source = 5 * np.cos(100 * np.pi * t)
        current = (source - x[0] - brentq(
            lambda v: (source - x[0] - v) / RESISTANCE - SATURATION * np.expm1(min(v / THERMAL, 700)), -12, 12,
            xtol=1e-16,
        )) / RESISTANCE  # fmt: skip
        return [(current - x[0] / 1000) / CAPACITY]

    (x,) = states_at(rate, [0.0], 0.04, method="BDF", rtol=1e-9)
    return x


def states_at(rates, start, end, **options):
    return solve_ivp(rates, (0, end), start, **({"method": "DOP853", "rtol": 1e-12, "atol": 1e-13} | options)).y[:, -1]


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=3)
@pytest.mark.parametrize("options", [{}, {"tolerance": 1e-5}, {"solver": "implicit"}], ids=str)
def test_a_spring_that_hardens_is_that_of_scipy(library, options):
    """Of order 8 at the model's own tolerance, of order 5 at a greater one, and implicitly."""
    slave = library(cubic, **options).run(2.0, 0.25)
    (x,) = states_at(lambda _, x: [-root_of_cubic(x[0])], [1.0], 2.0)
    assert slave.get("x0") == pytest.approx(x, abs=3e-5 if "tolerance" in options else 1e-8)
    assert slave.get("s0") == pytest.approx(root_of_cubic(slave.get("x0")), abs=2e-15)
    assert slave.get("y0") == slave.get("s0") ** 2


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=3)
@pytest.mark.parametrize("solver", ["explicit", "implicit", "auto"])
def test_a_rectifier_is_that_of_scipy(library, solver):
    slave = library(rectifier, solver=solver, tolerance=1e-9).run(0.04, 0.001)
    assert slave.get("x0") == pytest.approx(charge_of_rectifier(), abs=5e-7)
    assert slave.statistics()["rejections"] < 60


@pytest.mark.slow
def test_a_block_that_knows_nothing_is_solved(library):
    slave = library(fixed_point).run(1.0, 0.5)
    assert slave.get("s0") == pytest.approx(FIXED_POINT, abs=1e-15)
    assert slave.get("x0") == pytest.approx(FIXED_POINT * -np.expm1(-1.0), abs=1e-8)


@pytest.mark.slow
def test_blocks_follow_each_other(library):
    def solved(t, x):
        s0 = brentq(lambda s: s + s**3 - x, -5, 5, xtol=1e-15)
        s1 = brentq(lambda s: s + 0.3 * np.sin(0.3 * s**2 + t) - s0, -5, 5, xtol=1e-15)
        return s0, s1, 0.3 * s1**2 + t

    slave = library(two_blocks).run(1.0, 0.125)
    (x,) = states_at(lambda t, x: [-sum(solved(t, x[0])[1:])], [1.0], 1.0)
    assert slave.get("x0") == pytest.approx(x, abs=1e-8)
    assert slave.get("s0", "s1", "s2") == pytest.approx(solved(1.0, slave.get("x0")), abs=2e-15)


@pytest.mark.slow
def test_an_event_is_where_an_iteration_variable_crosses_and_modes_change_it(library):
    """s = 1 at x = 2, after 2 s; then the cubic is another one, and s jumps."""
    slave = library(switched).slave(stop=4.0).start()
    slave.advance(2.0 - 2**-20, 2.0 - 2**-20)
    assert slave.get("y0") == 0
    assert slave.get("s0") == pytest.approx(1, abs=1e-5)
    slave.advance(2.0 + 2**-20, 2**-19)
    jumped = brentq(lambda s: s**3 + 3 * s - 2, 0, 1)
    assert slave.get("y0", "s0") == [1, pytest.approx(jumped, abs=1e-5)]
    slave.step(2 - 2**-20)
    (x,) = states_at(lambda _, x: [-brentq(lambda s: s**3 + 3 * s - x[0], -5, 5, xtol=1e-15)], [2.0], 2.0)
    assert slave.get("x0") == pytest.approx(x, abs=1e-8)
    assert slave.statistics()["events"] == 1


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=3)
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_a_block_that_knows_accelerations(library, solver):
    slave = library(knowing, solver=solver, tolerance=1e-9).run(2.0, 0.25)
    x = states_at(lambda _, x: [x[1], acceleration(*x)], [1.0, 0.0], 2.0)
    assert slave.get("q", "v") == pytest.approx(x, abs=2e-8)
    a, s, v = slave.get("a", "s", "v")
    assert s == pytest.approx(np.tanh(a) / 2 + v / 5, abs=1e-15)


def test_a_block_of_several_knows_accelerations(library_in):
    """a = -q + s1 + s2 in the middle of a block whose variables each move all of its residuals."""
    d = Draft("knowing together", q=1, v=1, parameters=[1.0, 0.0], iterations=2)
    equations = d.equations(
        A=ca.SX(1),
        b=-d.q + d.s[0] + d.s[1],
        guess=d.P,
        fixed=(True, True),
        iterations=ca.vertcat(d.s[0] - 3 * ca.tanh(d.w), d.s[1] + 2 * d.w - d.s[0] / 2 - 1),
        iteration_guess=ca.SX([0, 0]),
        iteration_blocks=(2,),
    )
    s, other, a = library_in("process", lambda: equations).slave().start().get("s0", "s1", "w0")
    wanted = brentq(lambda a: a + 1 - 3 * np.tanh(a) - (1 - 2 * a + 1.5 * np.tanh(a)), -9, 9, xtol=1e-15)
    assert (a, s, other) == pytest.approx((wanted, 3 * np.tanh(wanted), 1 - 2 * wanted + 1.5 * np.tanh(wanted)))


@pytest.mark.slow
def test_a_block_that_knows_the_force_of_a_constraint(library):
    slave = library(pendulum).run(2.0, 0.25)
    assert slave.get("x0", "x1") == pytest.approx(pendulum_oracle(2.0), abs=1e-7)
    s, force = slave.get("s0", "w2")
    assert s + s**3 == pytest.approx(force / 10, abs=1e-14)


@pytest.mark.slow
def test_where_solutions_end_the_run_ends_and_says_so(library):
    """Trials beyond x = 1 are made shorter until nothing is left."""
    slave = library(ending).slave(stop=2.0).start()
    slave.step(0.5)
    assert slave.get("s0") == pytest.approx(np.sqrt(0.5), abs=1e-15)
    with pytest.raises(Failed) as caught:
        slave.step(1.0)
    assert "the equations of 'orifice.dp' have no solution that Newton's method finds" in str(caught.value)
    found = re.search(r"last at orifice.dp = (\S+) \(residual (\S+)\)", str(caught.value))
    assert abs(float(found[1])) < 0.1
    assert float(found[2]) > 0
    (reached,) = re.findall(r"(?:ends at|run ends at) ([\d.]+)", str(caught.value))
    assert 0.999 < float(reached) <= 1


@pytest.mark.slow
def test_a_start_without_solution_is_refused_by_name(library):
    d = Draft("impossible", z=1, parameters=[-1.0], iterations=2)
    residuals = ca.vertcat(d.s[0] - d.z, d.s[1] ** 2 - d.P[0])
    equations = states(d, d.z, residuals, ca.SX(0), iteration_blocks=(1, 1), iteration_names=("a.s", "b.s"))
    made = library(lambda: equations)
    with pytest.raises(Failed, match=r"the equations of 'b\.s' have no solution .* last at b\.s = ") as caught:
        made.slave().start()
    last, residual = map(float, re.findall(r"b\.s = (\S+) \(residual (\S+)\)", str(caught.value))[0])
    assert residual == pytest.approx(last**2 + 1, rel=1e-2)
    slave = made.slave().start(p0=4.0)
    assert slave.get("s1") ** 2 == pytest.approx(4, abs=1e-14)  # also from 0, where the Jacobian is singular


def diodes(seed):
    """Nodes in a chain from a source of 5, -5 or 50 V to ground, with diodes and resistors between them and across."""
    random = np.random.default_rng(seed)
    n, source = 2 + seed % 5, (5.0, -5.0, 50.0)[seed % 3]
    d = Draft("diodes", z=1, iterations=n)
    nodes = [ca.SX(0), *(d.s[i] for i in range(n)), ca.SX(source)]
    balances = [ca.SX(0)] * (n + 2)

    def connect(a, b, resistor):
        drop = nodes[a] - nodes[b]
        current = drop / 10 ** random.uniform(1, 5)
        if not resistor:
            current = 10 ** random.uniform(-15, -9) * (ca.exp(drop / THERMAL) - 1) + 1e-8 * drop
        balances[a], balances[b] = balances[a] - current, balances[b] + current

    connect(n + 1, n, resistor=True)
    for k in range(n, 0, -1):
        connect(k, k - 1, resistor=False)
        connect(*(int(i) for i in random.choice(n + 1, 2, replace=False)), resistor=random.random() < 0.5)
    return states(d, 0 * d.s[0], ca.vertcat(*balances[1:-1]), ca.SX(0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_networks_of_diodes_are_solved_from_zero(library_in, seed):
    """Currents differ by thirty powers of ten on the way."""
    made = library_in("process", lambda: diodes(seed))
    e = made.equations
    slave = made.slave().start()
    s = np.atleast_1d(slave.get(*(f"s{i}" for i in range(e.niterations))))
    r, J = (np.array(value) for value in e.functions["iterations"](0, [0], s, [], [], []))
    assert (np.abs(r).ravel() <= 1e-13 * np.abs(J) @ (1 + np.abs(s))).all()


@pytest.mark.parametrize("scale", [0.025, 1e-4, 1e-6])
def test_a_steep_law_is_solved_to_rounding_errors(library_in, scale):
    """Shockley's behind 1 Ohm, against Wright's omega: where it bends within 1 µV, small corrections leave much."""

    def steep():
        d = Draft("steep", z=1, iterations=1)
        return states(d, 1 + 0 * d.s, d.z - d.s - SATURATION * (ca.exp(d.s / scale) - 1), ca.SX(0.5))

    slave = library_in("process", steep).slave().start()
    for _ in range(20):
        x, s = slave.get("x0", "s0")
        whole = x + SATURATION
        current = scale * wrightomega(whole / scale + np.log(SATURATION / scale))
        assert s == pytest.approx(whole - current, abs=1e-15)
        slave.step(0.0025)


def test_a_law_that_is_flat_where_the_search_begins_is_solved_from_beside_it(library_in):
    """s^4 = 1e12 from 0: near there steps are 2e20 long, which no part of them mends."""
    d = Draft("flat", z=1, iterations=1)
    equations = states(d, 0 * d.s, d.s**4 - 1e12 * (1 + d.z), ca.SX(0))
    assert library_in("process", lambda: equations).slave().start().get("s0") == pytest.approx(1000, rel=1e-14)


@pytest.mark.parametrize("order", [3, 5])
def test_roots_that_meet_are_found_as_well_as_residuals_tell(library_in, order):
    """(s - 1)^n = 0: corrections become smaller by the same part each time, and end where residuals are rounding."""
    d = Draft("meeting", z=1, iterations=1)
    equations = states(d, 0 * d.s, (d.s - 1) ** order - d.z, ca.SX(0), iteration_guess=ca.SX(0.5))
    assert library_in("process", lambda: equations).slave().start().get("s0") == pytest.approx(1, abs=2e-12)


@pytest.mark.slow
def test_first_guesses_choose_the_branch_and_a_reset_returns_to_them(library):
    d = Draft("branches", z=1, parameters=[0.5], iterations=1)
    equations = states(d, ca.SX(-0.1) + 0 * d.s, d.s**2 - 1 - d.z, ca.SX(0), iteration_guess=d.P)
    made = library(lambda: equations)
    for guess, sign in ((0.5, 1), (-0.5, -1)):
        slave = made.slave().start(p0=guess)
        slave.advance(1.0, 0.25)
        assert slave.get("s0") == pytest.approx(sign * np.sqrt(0.9), abs=1e-15)
        if guess > 0:
            slave.reset()
            slave.start()
            assert slave.get("s0") == pytest.approx(1, abs=1e-15)


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=6)
@pytest.mark.parametrize("model", [cubic, rectifier, two_blocks, switched, knowing, pendulum])
def test_a_saved_state_goes_on_as_the_run_that_it_was_taken_from(library, model):
    made = library(model)
    names = [v.name for v in made.variables if v.store in "xuwy" and v.causality != "input"]
    unit = 0.01 if model is rectifier else 1.0

    def ahead(slave):
        values = []
        for _ in range(9):
            slave.step(0.137 * unit)
            values.append(slave.get(*names))
        return values

    slave = made.slave(stop=4.0).start()
    slave.step(1.23 * unit)
    state = slave.save()
    wanted = [slave.get(*names), ahead(slave)]
    slave.restore(state)
    slave.time = 1.23 * unit
    assert [slave.get(*names), ahead(slave)] == wanted
    other = made.slave(stop=4.0).start()
    other.restore(state)
    other.time = 1.23 * unit
    assert [other.get(*names), ahead(other)] == wanted


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=6)
@pytest.mark.parametrize("model", [cubic, rectifier, two_blocks, switched, knowing, pendulum])
def test_who_looks_changes_no_bit(library, model):
    made = library(model)
    names = [v.name for v in made.variables if v.store in "xuwy" and v.causality != "input"]
    unit = 0.01 if model is rectifier else 1.0
    ends = []
    for looks in (False, True):
        slave = made.slave(stop=4.0)
        slave.enter()
        if looks:
            slave.get(*names)
        slave.finish()
        for i in range(11):
            slave.step(0.173 * unit)
            if looks and i % 3:
                slave.get(*names)
            if any(v.causality == "input" for v in made.variables) and i == 6:
                slave.set("F" if model is knowing else "u0", 0.3)
                if looks:
                    slave.get(*names)
        ends.append(slave.get(*names))
    assert ends[0] == ends[1]


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("model", [cubic, rectifier, two_blocks, switched, knowing, pendulum])
def test_compiled_and_interpreted_equations_give_the_same_bits(library_in, model):
    unit = 0.01 if model is rectifier else 1.0
    rows = []
    for host in ("compiled", "interpreted", "process"):
        slave = library_in(host, model).slave(stop=4.0).start()
        names = [v.name for v in slave.library.variables if v.store in "xuwy"]
        slave.advance(2.2 * unit, 0.2 * unit)
        rows.append(slave.get(*names))
    assert rows[0] == rows[1] == rows[2]


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=6)
@pytest.mark.parametrize("model", [cubic, rectifier, two_blocks, switched, knowing, pendulum])
def test_derivatives_in_a_direction_are_differences(fmu_library, model):
    """By each state and input, of all states' derivatives, accelerations and iteration variables, in model exchange."""
    built = fmu_library(model)
    slave = built.slave(kind=FMU2Model)
    slave.start()
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    unknowns = [v.name for v in built.variables if v.store == "w" or (v.store == "u" and v.causality != "input")]
    nx = built.equations.nx
    x = np.array([0.3, 0.2, 0.1, -0.2])[:nx] if model is not pendulum else np.array([0.6, -0.8, 0.8, 0.6])

    def at(values):
        array = (fmpy.fmi2.fmi2Real * nx)(*values)
        slave.fmi.setContinuousStates(array, nx)
        return np.atleast_1d(slave.get(*unknowns))

    def along(known):
        found = slave.fmi.getDirectionalDerivative(
            [slave.reference(name) for name in unknowns], [slave.reference(known)], [1.0]
        )
        return np.array(found)

    for i in range(nx):
        name = next(v.name for v in built.variables if v.store == "x" and v.index == i)
        h = np.zeros(nx)
        h[i] = 1e-6
        difference = (at(x + h) - at(x - h)) / 2e-6
        at(x)
        np.testing.assert_allclose(along(name), difference, atol=2e-8 * (1 + np.abs(difference).max()), err_msg=name)
    for name in (v.name for v in built.variables if v.causality == "input"):
        values = []
        for h in (1e-5, -1e-5):
            slave.set(name, h)
            values.append(np.atleast_1d(slave.get(*unknowns)))
        slave.set(name, 0.0)
        np.testing.assert_allclose(along(name), (values[0] - values[1]) / 2e-5, atol=1e-8, err_msg=name)
    own = next(v.name for v in built.variables if v.store == "u" and v.causality != "input")
    assert slave.status(along, own) == fmpy.fmi2.fmi2Error
    assert "neither an input nor a state" in slave.messages(fmpy.fmi2.fmi2Error)[-1]


def calling():
    """The block that knows accelerations, beside dynamics that call another function: these have no tangents."""
    equations, variables = knowing()
    inner = equations.functions["dynamics"]
    arguments = [ca.MX.sym(f"a{i}", inner.size1_in(i)) for i in range(inner.n_in())]
    functions = {**equations.functions, "dynamics": ca.Function("dynamics", arguments, inner.call(arguments))}
    return dataclasses.replace(equations, functions=functions), variables


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=2)
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_without_tangents_of_dynamics_differences_do(library, solver):
    slave = library(calling, solver=solver, tolerance=1e-9).run(2.0, 0.25)
    x = states_at(lambda _, x: [x[1], acceleration(*x)], [1.0, 0.0], 2.0)
    assert slave.get("q", "v") == pytest.approx(x, abs=2e-8)


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=5)
@pytest.mark.parametrize("model", [cubic, knowing])
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_keep_their_order(library, solver, model):
    """Implicit ones lose it where the Jacobian is not exact: in one of its two columns, where there are two states."""
    if model is cubic:
        steps, names, wanted = (0.25, 0.125), ["x0"], states_at(lambda _, x: [-root_of_cubic(x[0])], [1.0], 2.0)
    else:
        steps, names = (0.025, 0.0125), ["q", "v"]
        wanted = states_at(lambda _, x: [x[1], acceleration(*x)], [1.0, 0.0], 2.0)
    errors = []
    for step in steps:
        slave = library(model, solver=solver, fixed_step=step).run(2.0, 0.5)
        errors.append(np.abs(np.atleast_1d(slave.get(*names)) - wanted).max())
    assert errors[1] < errors[0] / 20
    assert errors[1] < 1e-6


def test_iteration_variables_cannot_be_set(library):
    slave = library(cubic).slave().start()
    with pytest.raises(Failed, match="cannot be set"):
        slave.set("s0", 1.0)


@pytest.mark.slow
def test_start_values_may_follow_from_iteration_variables(library):
    """X ends with s: x is what makes s = 2 at the start."""
    d = Draft("backwards", z=1, iterations=1, unknowns=2)
    equations = states(
        d, -d.s, d.s + d.s**3 - d.z, ca.vertcat(0, 0), start_iterations=True,
        initial=ca.vertcat(d.X[1] + d.X[1] ** 3 - d.X[0], d.X[1] - 2),
    )  # fmt: skip
    equations = dataclasses.replace(equations, fixed=(False, False))
    slave = library(lambda: equations).slave().start()
    assert slave.get("x0", "s0") == pytest.approx([10, 2], abs=1e-12)


@pytest.mark.skipif(lanes.most() < 2, reason="this processor has no lanes")
def test_runs_of_a_batch_are_those_alone():
    equations, variables = model_and_variables(cubic)
    setting = next(v for v in variables if v.name == "p0")
    places = np.array([place(v) for v in variables if v.store in "xuy"])
    values, times = np.linspace(1, 3, 5)[:, None], np.linspace(0, 1, 5)
    rows = [
        Batch(model_of(equations, variables), (setting,), times, places, lanes=count).run(values).rows
        for count in (1, lanes.most())
    ]
    assert rows[0].tobytes() == rows[1].tobytes()
    for (stiffness,), run in zip(values, rows[0], strict=True):
        _, s, x, _ = run[-1]
        assert s + stiffness / 20 * s**3 == pytest.approx(x, abs=1e-15)


@pytest.mark.parametrize(
    "wrong", [{"iteration_blocks": (2,)}, {"iteration_names": ("a", "b")}, {"iteration_nominals": (0.0,)}]
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match="iteration variable"):
        dataclasses.replace(cubic(), **wrong)


def test_initialisation_must_not_ask_for_what_is_not_known_yet():
    d = Draft("early", z=1, iterations=1)
    with pytest.raises(ValueError, match="initial depends on iteration variables"):
        states(d, d.z, d.s - d.z, ca.SX(0), initial=d.X[0] - d.s)


def system(make):
    """A System of states alone: x, their derivatives, iteration variables and inputs."""
    equations = make()
    rates = equations.functions["derivatives"]
    arguments = [ca.SX.sym(rates.name_in(i), rates.size1_in(i)) for i in range(rates.n_in())]
    y = ca.vertcat(rates(*arguments), equations.functions["variables"](*arguments))
    functions = {**equations.functions, "variables": ca.Function("variables", arguments, [ca.densify(y)])}
    equations = dataclasses.replace(equations, functions=functions)
    n = equations.nu - equations.niterations
    calculated = {"initial": "calculated"}
    return System(equations.name, "", equations, (
        variable("time", "time", 0, causality="independent"),
        *(parameter(f"p{i}", i, v, initial="exact") for i, v in enumerate(equations.parameters)),
        *(variable(f"u{i}", "u", i, causality="input", start=equations.inputs[i]) for i in range(n)),
        *(variable(f"x{i}", "x", i, causality="output", **calculated) for i in range(equations.nx)),
        *(variable(f"der(x{i})", "y", i, derivative_of=f"x{i}", **calculated) for i in range(equations.nx)),
        *(variable(f"s{i}", "u", n + i, causality="output", **calculated) for i in range(equations.niterations)),
    ), (), (), ())  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("options", [
    {"equations": "compiled"}, {"equations": "interpreted"}, {"equations": "compiled", "fmi": 3},
    {"equations": "interpreted", "fmi": 3}, {"target": "python"}, {"target": "python", "fmi": 3},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("model", [cubic, rectifier, switched])
@pytest.mark.campaign(keep=4)
def test_fmus_move_as_the_model_does(tmp_path, options, model):
    made = system(model)
    assert needs_completed_steps(made.equations)
    path = build(made, tmp_path, **({"target": "native"} | options))
    assert validate(path) == []
    end = 0.04 if model is rectifier else 4.0
    kinds = ["CoSimulation"] if options.get("target") == "python" else ["CoSimulation", "ModelExchange"]
    ends = []
    for kind in kinds:
        result = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=end, output_interval=end / 64, relative_tolerance=1e-9,
            output=["x0", "s0"],
        )  # fmt: skip
        ends.append(result)
    x = ends[0]["x0"]
    for result in ends[1:]:
        np.testing.assert_allclose(np.interp(ends[0]["time"], result["time"], result["x0"]), x, atol=2e-6)
    if model is cubic:
        assert x[-1] == pytest.approx(states_at(lambda _, x: [-root_of_cubic(x[0])], [1.0], 4.0)[0], abs=1e-8)
        np.testing.assert_allclose(ends[-1]["s0"] + 0.1 * ends[-1]["s0"] ** 3, ends[-1]["x0"], atol=1e-14)


@pytest.fixture
def slave_3(tmp_path):
    """Return a function that makes instances of the cubic's FMU for FMI 3.0, in event mode or without."""
    path = build(system(cubic), tmp_path, target="native", equations="interpreted", fmi=3)
    description = fmpy.read_model_description(str(path))
    folder = fmpy.extract(str(path), str(tmp_path / "unpacked"))
    references = {v.name: v.valueReference for v in description.modelVariables}

    def make(**options):
        slave = FMU3Slave(
            guid=description.guid, unzipDirectory=folder, modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="cubic",
        )  # fmt: skip
        slave.instantiate(**options)
        slave.enterInitializationMode(startTime=0.0)
        slave.exitInitializationMode()
        return slave, references

    return make


def test_event_mode_changes_no_bit_unless_an_input_does(slave_3):
    """Steps of the integrator reach beyond the communication points at which event mode is entered."""
    ends = []
    for enters in (False, True):
        slave, references = slave_3(eventModeUsed=True)
        names = [references[name] for name in ("x0", "s0", "der(x0)")]
        slave.updateDiscreteStates()
        slave.enterStepMode()
        for i in range(20):
            slave.doStep(0.05 * i, 0.05)
            if enters or i == 11:
                slave.enterEventMode()
                if i == 11:
                    slave.setFloat64([references["u0"]], [0.5])
                    s = root_of_cubic(slave.getFloat64(names)[0])
                    assert slave.getFloat64(names)[1:] == pytest.approx([s, 0.5 - s], abs=2e-15)
                slave.updateDiscreteStates()
                slave.enterStepMode()
        ends.append(slave.getFloat64(names))
        slave.freeInstance()
    assert ends[0] == ends[1]


def test_intermediate_values_are_solved(slave_3):
    """At the ends of the integrator's own steps iteration variables are those of the states there."""
    seen = []

    def between(_, time, *__):
        seen.append((time, *slave.getFloat64([references["x0"], references["s0"]])))

    slave, references = slave_3(intermediateUpdate=between)
    slave.doStep(0.0, 3.0)
    assert len(seen) > 2
    for _, x, s in seen:
        assert s == pytest.approx(root_of_cubic(x), abs=2e-15)
    slave.freeInstance()


@pytest.mark.slow
@pytest.mark.parametrize("at", [None, 0.7])
def test_linear_models_have_what_iteration_variables_do(at):
    point = {} if at is None else {"at": at}
    linear = linearize(system(cubic), **point)
    slope = 1 / (1 + 0.3 * root_of_cubic(linear.x0[0]) ** 2)
    assert linear.A[0, 0] == pytest.approx(-slope, abs=1e-12)
    assert linear.B.tolist() == [[1.0]]
    assert linear.C[:, 0] == pytest.approx([1, slope], abs=1e-12)
    equations, variables = knowing()
    linear = linearize(System(equations.name, "", equations, variables, (), (), ()), **point)
    q, v, h = *linear.x0, 1e-6
    by_state = (
        acceleration(q + h, v) - acceleration(q - h, v), acceleration(q, v + h) - acceleration(q, v - h)
    )  # fmt: skip
    assert linear.A[1] == pytest.approx(np.array(by_state) / (2 * h), abs=1e-8)
    assert linear.B[1, 0] == pytest.approx((acceleration(q, v, h) - acceleration(q, v, -h)) / (2 * h), abs=1e-8)
    a = acceleration(q, v)
    by_s = linear.A[1] / (2 * np.cosh(a) ** 2) + [0, 0.2]
    assert linear.C[linear.outputs.index("s")] == pytest.approx(by_s, abs=1e-9)


@pytest.mark.slow
def test_a_rest_is_where_iteration_variables_put_it():
    found = equilibrium(system(cubic), start_values={"u0": 0.7})
    assert found["x0"] == pytest.approx(0.7 + 0.1 * 0.7**3, abs=1e-12)
    assert found["s0"] == pytest.approx(0.7, abs=1e-12)


@pytest.mark.slow
def test_a_tunable_parameter_acts_at_once(library):
    def tuned():
        equations, variables = model_and_variables(cubic)
        return equations, [dataclasses.replace(v, variability="tunable") if v.name == "p0" else v for v in variables]

    slave = library(tuned).slave().start()
    slave.step(0.5)
    x, before = slave.get("x0", "s0")
    slave.set("p0", 40.0)
    assert slave.get("s0") == pytest.approx(brentq(lambda s: s + 2 * s**3 - x, 0, 1, xtol=1e-15), abs=1e-15)
    assert slave.get("s0") < before
    slave.step(0.5)
    (x,) = states_at(lambda _, x: [-brentq(lambda s: s + 2 * s**3 - x[0], -5, 5, xtol=1e-15)], [x], 0.5)
    assert slave.get("x0") == pytest.approx(x, abs=1e-8)


def stepped(residuals, **others):
    """x' = 1; the mode m[0] is 1 from t = 1 on. `residuals` are made of the draft."""
    d = Draft("stepped", z=1, inputs=[0.0], switches=1 + len(others.get("crossings", ())), iterations=1)
    crossings = [d.t - 1, *(make(d) for make in others.pop("crossings", ()))]
    return states(
        d, others.pop("rates", lambda d: 1 + 0 * d.s)(d), residuals(d), ca.SX(0), crossings=ca.vertcat(*crossings),
        next_times=ca.SX(1), time_switches=(True, *(False,) * (len(crossings) - 1)), y=d.m, **others,
    )  # fmt: skip


def test_switches_follow_an_iteration_variable_that_jumps_at_an_event(library_in):
    """At t = 1 s jumps from 1 / 2 to 3, past what the second switch waits for: it flips at the same instant."""
    made = library_in(
        "process",
        lambda: stepped(lambda d: d.s + d.s**3 - 0.625 - 29.375 * d.m[0], crossings=(lambda d: d.s - 2,)),
    )
    slave = made.run(1.5, 0.5)
    assert slave.get("s0", "y0", "y1") == [pytest.approx(3, abs=1e-15), 1, 1]
    assert slave.statistics()["events"] == 1


def test_an_input_that_changes_finds_the_branch_of_its_time(library_in):
    """The integrator was ahead, beyond the event that puts s on the other branch of s^3 - 3 s = x."""
    made = library_in(
        "process",
        lambda: stepped(lambda d: d.s**3 - 3 * d.s - d.z - d.u[0] + 20 * d.m[0], iteration_guess=ca.SX(2)),
    )
    slave = made.slave(stop=2.0).start()
    slave.step(0.96)
    assert slave.get("s0") == pytest.approx(brentq(lambda s: s**3 - 3 * s - 0.96, 1, 3, xtol=1e-15), abs=1e-14)
    slave.set("u0", 0.01)
    slave.step(0.02)
    assert slave.get("s0") == pytest.approx(brentq(lambda s: s**3 - 3 * s - 0.99, 1, 3, xtol=1e-15), abs=1e-14)
    slave.step(0.5)
    assert slave.get("s0") < -2


def test_after_a_step_that_fails_iteration_variables_are_those_of_its_states(library_in):
    """An event that leaves no solution; and an input with which there is none of the derivatives."""
    cases = {
        "event": (lambda d: d.s + d.s**3 - d.z + d.m[0] * (100 + d.s**2 - d.s**3 - d.s), lambda d: 1 + 0 * d.s),
        "input": (lambda d: d.s + d.s**3 - d.z - d.u[0], lambda d: 1 + 1e-99 * ca.sqrt(1 - d.u[0])),
    }
    for what, (residuals, rates) in cases.items():
        slave = library_in("process", lambda r=residuals, x=rates: stepped(r, rates=x)).slave(stop=2.0).start()
        slave.step(0.5)
        if what == "input":
            slave.set("u0", 2.0)
        with pytest.raises(Failed, match="no solution" if what == "event" else "not finite"):
            slave.step(1.0)
        x, s, u = slave.get("x0", "s0", "u0")
        assert s + s**3 == pytest.approx(x + u, abs=1e-14), what
