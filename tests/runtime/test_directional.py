"""Directional derivatives of both kinds of FMUs against differences and, where they are known, closed forms."""

from __future__ import annotations

import dataclasses
import math
import types

import casadi as ca
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model, fmi2Discard, fmi2Error, fmi2Real
from hand_made_models import Draft, everything, free_body, oscillator

from mbfmu.runtime.contract import FUNCTIONS
from mbfmu.runtime.tangents import names_of_tangents, tangents


@pytest.mark.parametrize(
    ("calls", "switches", "redundancies", "is_there"),
    [(False, 0, 0, True), (True, 0, 0, False), (True, 1, 0, True), (False, 0, 1, False), (True, 1, 1, False)],
)
def test_dynamics_that_call_functions_have_a_tangent_where_something_switches(calls, switches, redundancies, is_there):
    symbol = (ca.MX if calls else ca.SX).sym("x")
    equations = types.SimpleNamespace(
        functions={"dynamics": ca.Function("dynamics", [symbol], [symbol])},
        nm=switches, redundancies=redundancies, niterations=0,
    )  # fmt: skip
    assert ("dynamics_tangent" in names_of_tangents(equations)) == is_there


def derivative(slave, unknowns, known, change=1.0):
    return np.array(
        slave.fmi.getDirectionalDerivative(
            [slave.reference(name) for name in unknowns], [slave.reference(known)], [change]
        )
    )


@pytest.mark.slow
def test_an_oscillator_has_its_closed_form(fmu_library):
    slave = fmu_library(oscillator).slave().start()
    slave.step(0.4)
    s, v, mass, stiffness = slave.get("s", "v", "m", "c")
    names = ["s", "v", "a", "m", "F"]
    assert derivative(slave, names, "s").tolist() == [1, 0, -stiffness / mass, 0, 0]
    assert derivative(slave, names, "v").tolist() == [0, 1, 0, 0, 0]
    assert derivative(slave, names, "F", 3.0).tolist() == [0, 0, 3 / mass, 0, 3]
    assert derivative(slave, names, "time").tolist() == [0, 0, 0, 0, 0]
    assert (s, v) == tuple(slave.get("s", "v"))


@pytest.mark.slow
def test_several_directions_add_up(fmu_library):
    slave = fmu_library(oscillator).slave().start()
    both = slave.fmi.getDirectionalDerivative(
        [slave.reference("a")], [slave.reference("s"), slave.reference("F")], [2.0, -1.0]
    )
    assert both == [pytest.approx(2 * derivative(slave, ["a"], "s")[0] - derivative(slave, ["a"], "F")[0])]


@pytest.mark.slow
def test_what_is_neither_output_nor_derivative_is_refused(fmu_library):
    slave = fmu_library(oscillator).slave().start()
    for unknown, known, message in (("energy", "s", "neither an output"), ("a", "m", "neither an input nor a state")):
        slave.log.clear()
        assert slave.status(derivative, slave, [unknown], known) == fmi2Error
        assert message in slave.messages(fmi2Error)[0]


def calling():
    """The model of everything, its dynamics a function that calls another one, as those of large trees do."""
    equations, variables = everything()
    inner = equations.functions["dynamics"]
    arguments = [ca.MX.sym(f"a{i}", inner.size1_in(i)) for i in range(inner.n_in())]
    functions = {**equations.functions, "dynamics": ca.Function("dynamics", arguments, inner.call(arguments))}
    return dataclasses.replace(equations, functions=functions), variables


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("model", [everything, free_body, calling])
def test_derivatives_are_differences_of_derivatives(fmu_library, model):
    """The Jacobian of dx/dt by central differences, in model exchange, where states can be set."""
    built = fmu_library(model)
    slave = built.slave(kind=FMU2Model)
    slave.start()
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    accelerations = [v.name for v in built.variables if v.store == "w"]
    states = [v.name for v in built.variables if v.store == "x"]
    x = np.array(slave.get(*states)) + 0.01 * np.cos(np.arange(len(states)))

    def at(values):
        array = (fmi2Real * len(values))(*values)
        slave.fmi.setContinuousStates(array, len(values))
        return np.array([slave.get(name) for name in accelerations])

    for i, name in enumerate(states):
        h = np.zeros(len(x))
        h[i] = 1e-6
        difference = (at(x + h) - at(x - h)) / 2e-6
        at(x)
        np.testing.assert_allclose(derivative(slave, accelerations, name), difference, atol=2e-8, err_msg=name)
    for name in (v.name for v in built.variables if v.causality == "input"):
        before = slave.get(name)
        values = []
        for h in (1e-5, -1e-5):
            slave.set(name, before + h)
            values.append(np.array([slave.get(other) for other in accelerations]))
        slave.set(name, before)
        np.testing.assert_allclose(
            derivative(slave, accelerations, name), (values[0] - values[1]) / 2e-5, atol=1e-8, err_msg=name
        )


def test_in_initialisation_mode_start_values_and_parameters_count(fmu_library):
    slave = fmu_library(oscillator).slave()
    slave.fmi.setupExperiment()
    slave.fmi.enterInitializationMode()
    mass, stiffness, s = slave.get("m", "c", "s")
    assert derivative(slave, ["a"], "m")[0] == pytest.approx(stiffness * s / mass**2, rel=1e-8)
    assert derivative(slave, ["omega"], "c")[0] == pytest.approx(0.5 / math.sqrt(stiffness * mass), rel=1e-8)
    assert derivative(slave, ["energy"], "s")[0] == pytest.approx(stiffness * s, rel=1e-8)
    assert slave.get("m", "c", "s") == [mass, stiffness, s]
    for other in (1e-8, 1e-3, 1e8):  # differences are as wide as the values ask for
        slave.set("c", other)
        assert derivative(slave, ["energy"], "s")[0] == pytest.approx(other * s, rel=1e-8)
        assert derivative(slave, ["omega"], "c")[0] == pytest.approx(0.5 / math.sqrt(other * mass), rel=1e-8)
    slave.set("c", 0.0)
    assert slave.status(derivative, slave, ["omega"], "c") == fmi2Discard
    assert "not finite near the start values" in slave.messages(fmi2Discard)[0]
    slave.set("c", stiffness)
    slave.fmi.exitInitializationMode()
    slave.step(0.1)
    assert slave.get("s") == pytest.approx(s * math.cos(0.2), abs=1e-7)


@pytest.mark.slow
def test_in_initialisation_mode_constraints_are_met(fmu_library):
    """The start of a pendulum moves along its circle, and what is equal to x stays so."""
    slave = fmu_library(everything).slave()
    slave.fmi.setupExperiment()
    slave.fmi.enterInitializationMode()
    x, y = slave.get("x0", "x1")
    dx, dy, dz = derivative(slave, ["x0", "x1", "x11"], "free")
    assert abs(dx) > 0.1
    assert x * dx + y * dy == pytest.approx(0, abs=1e-8)
    assert dz == pytest.approx(dx, abs=1e-8)
    assert slave.status(derivative, slave, ["x0"], "w0") == fmi2Error
    assert "cannot be set" in slave.messages(fmi2Error)[0]


@pytest.mark.parametrize("moved", ["t", "x", "u", "w"])
def test_each_vector_has_its_direction(moved):
    """Derivatives, a variable and dynamics along a direction of one vector, by differences of the functions."""
    d = Draft("driven", q=1, v=1, inputs=[0.0], parameters=[2.0])
    push = d.u * ca.cos(2 * d.t)
    equations = d.equations(
        A=d.P[0] * (1 + d.q**2), b=push - d.q * d.v, guess=ca.DM([0, 0]), fixed=(True, True), y=d.w * d.q * push
    )
    point = {"t": [0.3], "x": [0.4, 0.7], "u": [1.1], "P": [2.0], "m": [], "w": [0.9], "W": [0.9]}
    directions = {f"d{key}": np.zeros(len(point[key])) for key in "txuw"}
    directions[f"d{moved}"] += 0.5 + np.arange(len(point[moved]))

    def called(function, name, values):
        return function(*(values[key] for key in FUNCTIONS[name].arguments))

    def results(h):
        there = point | {moved: point[moved] + h * directions[f"d{moved}"]}
        of = {name: called(equations.functions[name], name, there) for name in ("derivatives", "variables", "dynamics")}
        A, b = of["dynamics"]
        return {"derivatives": of["derivatives"], "exposed": of["variables"], "dynamics": b - A * point["W"][0]}

    before, after = results(-1e-6), results(1e-6)
    for name, function in tangents(equations, [0]).items():
        difference = (after[name.removesuffix("_tangent")] - before[name.removesuffix("_tangent")]) / 2e-6
        found = np.array(called(function, name, point | directions))
        np.testing.assert_allclose(found, difference, atol=1e-8, err_msg=name)
