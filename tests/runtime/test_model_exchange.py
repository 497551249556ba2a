"""Model exchange: the same FMU, integrated by CVode or by hand, moves as it does in co-simulation."""

from __future__ import annotations

import math
import zipfile

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.fmi2 import FMU2Model, fmi2Discard, fmi2Error, fmi2OK
from hand_made_models import GRAVITY, Draft, bouncing_mass, everything, iterated, point_pendulum, stepped_force
from hosts import FMUS
from lxml import etree

from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.export.model_exchange import obstacle
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.variables import ScalarVariable
from mbfmu.validation import validate


def system(equations, names, **others):
    """Make a System of hand-made equations with q' = v; `names` are those of positions, and then of speeds."""

    def real(name, store, index, **more):
        common = {"causality": "local", "variability": "continuous", "initial": "calculated", "start": None}
        return ScalarVariable(name=name, description="", type="Real", store=store, index=index, **(common | more))

    nq = equations.nq
    variables = [real("time", "time", 0, causality="independent", initial=None)]
    variables += [
        real(f"p{i}", "P", i, causality="parameter", variability="fixed", initial="exact", start=value, start_index=i)
        for i, value in enumerate(equations.parameters)
    ]
    variables += [
        real(name, "x", i, derivative_of=names[i - nq] if i >= nq else None, causality="output")
        for i, name in enumerate(names)
    ]
    variables += [real(f"der({names[nq + i]})", "w", i, derivative_of=names[nq + i]) for i in range(equations.nv)]
    return System(equations.name, "", equations, tuple(variables), (), (), ())


@pytest.fixture(scope="module", params=FMUS)
def fmu(request, tmp_path_factory):
    """Return a function that builds the FMU of a model, or finds it built."""
    known = {}

    def get(model, names):
        if model not in known:
            folder = tmp_path_factory.mktemp("fmu")
            known[model] = build(system(model(), names), folder, target="native", equations=request.param)
            assert validate(known[model]) == []
        return known[model]

    return get


def integrate(path, stop, tolerance=1e-9, **options):
    """Run with CVode."""
    return fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        solver="CVode",
        stop_time=stop,
        output_interval=stop / 100,
        relative_tolerance=tolerance,
        record_events=False,
        **options,
    )


@pytest.mark.slow
def test_state_events_are_those_of_co_simulation(fmu):
    """A bounce lasts from one crossing to the next; after it the mass rises as it came."""
    path = fmu(bouncing_mass, ["x", "v"])
    exchanged = integrate(path, 2.0)
    slave = fmpy.simulate_fmu(str(path), stop_time=2.0, output_interval=0.02, relative_tolerance=1e-10)
    np.testing.assert_allclose(exchanged["x"], slave["x"], atol=2e-6)
    energy = exchanged["v"] ** 2 / 2 + GRAVITY * exchanged["x"] + 500 * np.minimum(exchanged["x"], 0) ** 2
    np.testing.assert_allclose(energy, GRAVITY, rtol=1e-5)


@pytest.mark.slow
def test_time_events_are_met(fmu):
    result = integrate(fmu(stepped_force, ["x", "v"]), 1.0, start_values={"p0": 0.4})
    np.testing.assert_allclose(result["v"], np.maximum(result["time"] - 0.4, 0), atol=1e-8)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
def test_drift_off_the_constraints_is_taken_back(fmu):
    """Left alone, the length of the rod would drift; derivatives lead it back, without an event."""
    path = fmu(point_pendulum, ["x", "y", "vx", "vy"])
    result = integrate(path, 20.0, tolerance=1e-6)
    assert np.abs(np.hypot(result["x"], result["y"]) - 1).max() < 1e-5
    energy = (result["vx"] ** 2 + result["vy"] ** 2) / 2 + GRAVITY * result["y"]
    np.testing.assert_allclose(energy, energy[0], atol=2e-3)
    with zipfile.ZipFile(path) as archive:
        variables = etree.fromstring(archive.read("modelDescription.xml")).find("ModelVariables")
    states = [variable.get("name") for variable in variables if variable[0].get("reinit") == "true"]
    assert states == ["x", "y", "vx", "vy"]


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("name", ["four_bar", "rolling_wheel", "engine_1b_analytic"])
def test_mechanisms_of_the_gallery_move_alike_by_both_interfaces(gallery_fmu, name):
    """Loops, quaternions with rolling, and a gas force with events."""
    path = gallery_fmu(name, target="native", equations="interpreted")
    stop = 1.0
    exchanged = integrate(path, stop, tolerance=1e-8)
    slave = fmpy.simulate_fmu(str(path), stop_time=stop, output_interval=stop / 100, relative_tolerance=1e-9)
    for column in slave.dtype.names:
        np.testing.assert_allclose(exchanged[column], slave[column], rtol=2e-5, atol=2e-5, err_msg=column)


@pytest.fixture
def model(fmu_library):
    """Return a function that makes an initialised instance for model exchange."""

    def make(of, **options):
        slave = fmu_library(of).slave(kind=FMU2Model, **options)
        slave.start()
        return slave

    return make


def vector(slave, call, n):
    values = (fmpy.fmi2.fmi2Real * max(n, 1))()
    getattr(slave.fmi, call)(values, n)
    return list(values)[:n]


def put_states(slave, x):
    slave.fmi.setContinuousStates((fmpy.fmi2.fmi2Real * len(x))(*x), len(x))


@pytest.mark.slow
def test_modes_change_in_event_mode_only(model):
    slave = model(bouncing_mass)
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    put_states(slave, [-0.01, -1.0])
    assert vector(slave, "getEventIndicators", 1) == pytest.approx([0.01], abs=1e-9)
    assert vector(slave, "getDerivatives", 2) == [-1.0, -GRAVITY]
    slave.fmi.enterEventMode()
    needed, terminate, nominals, changed, timed, _ = slave.fmi.newDiscreteStates()
    # The equations are others now: importers restart their integrators on that.
    assert (needed, terminate, nominals, changed, timed) == (0, 0, 0, 1, 0)
    assert slave.fmi.newDiscreteStates()[3] == 0
    slave.fmi.enterContinuousTimeMode()
    assert vector(slave, "getDerivatives", 2) == [-1.0, pytest.approx(-GRAVITY + 10.0)]


def falling_below_a_root() -> Equations:
    """A falling mass, with a switch that looks at the root of its height."""
    d = Draft("below a root", q=1, v=1, switches=1, parameters=[1.0, 0.0])
    return d.equations(A=ca.SX(1), b=-GRAVITY, guess=d.P[:2], fixed=(True, True), crossings=ca.sqrt(d.q) - 0.1)


@pytest.mark.slow
def test_indicators_that_are_no_numbers_are_discarded(model):
    slave = model(falling_below_a_root)
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    put_states(slave, [0.25, 0.0])
    assert vector(slave, "getEventIndicators", 1) == pytest.approx([0.4], abs=1e-9)
    put_states(slave, [-0.25, 0.0])
    with pytest.raises(FMICallException) as failed:
        vector(slave, "getEventIndicators", 1)
    assert failed.value.status == fmi2Discard
    assert "the indicators are not finite" in slave.log[-1][2]


def test_a_switch_on_its_border_is_no_event_and_leaving_it_is_one(model):
    slave = model(bouncing_mass)
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    put_states(slave, [0.0, 0.0])
    slave.fmi.enterEventMode()
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    assert vector(slave, "getEventIndicators", 1)[0] > 0
    put_states(slave, [1e-9, 0.0])
    assert vector(slave, "getEventIndicators", 1)[0] < 0


@pytest.mark.slow
def test_the_next_instant_is_announced_and_acts_when_it_is_there(model):
    slave = model(stepped_force)
    *_, timed, instant = slave.fmi.newDiscreteStates()
    assert (timed, instant) == (1, 0.3)
    slave.fmi.enterContinuousTimeMode()
    slave.fmi.setTime(0.3)
    assert vector(slave, "getDerivatives", 2) == [0.0, 0.0]
    slave.fmi.enterEventMode()
    *_, timed, instant = slave.fmi.newDiscreteStates()
    assert timed == 0
    assert vector(slave, "getDerivatives", 2) == [0.0, 1.0]


def test_an_event_is_asked_for_where_states_have_drifted_far(model):
    slave = model(point_pendulum, tolerance=1e-6)
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    put_states(slave, [0.6, -0.8 * (1 + 1e-3), 0.0, 0.0])
    assert slave.fmi.completedIntegratorStep() == (0, 0)
    put_states(slave, [0.6, -0.8 * (1 + 0.05), 0.0, 0.0])
    assert slave.fmi.completedIntegratorStep() == (1, 0)
    slave.fmi.enterEventMode()
    assert slave.fmi.newDiscreteStates()[3] == 1
    x = vector(slave, "getContinuousStates", 4)
    assert math.hypot(*x[:2]) == pytest.approx(1.0, abs=1e-14)


def test_derivatives_lead_back_to_the_constraints(model):
    """Off the rod's length accelerations are those of the nearest states, and a pull towards these."""
    slave = model(point_pendulum, tolerance=1e-6)
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    put_states(slave, [0.6, -0.8, 0.8, 0.6])
    on = vector(slave, "getDerivatives", 4)
    put_states(slave, [0.6 * (1 + 1e-6), -0.8 * (1 + 1e-6), 0.8, 0.6])
    off = vector(slave, "getDerivatives", 4)
    pull = [b - a for a, b in zip(on, off, strict=True)]
    assert pull[:2] == [0.0, 0.0]  # speeds are the states that were set
    assert pull[2] * 0.6 + pull[3] * -0.8 < -1e-7
    assert max(map(abs, pull)) < 1e-3


@pytest.mark.slow
def test_inputs_act_at_once_and_parameters_in_event_mode(model):
    slave = model(everything)
    before = slave.get("w0")
    slave.set("u", 1.0)
    assert slave.get("w0") > before
    slave.set("damping", 3.0)
    slave.fmi.newDiscreteStates()
    slave.fmi.enterContinuousTimeMode()
    slave.set("u", 0.0)
    assert slave.status(slave.set, "damping", 2.0) == fmi2Error
    assert "enter event mode first" in slave.messages(fmi2Error)[0]


def test_states_are_saved_and_belong_to_their_interface(model, fmu_library):
    slave = model(point_pendulum)
    slave.fmi.newDiscreteStates()
    state = slave.fmi.getFMUstate()
    slave.fmi.enterContinuousTimeMode()
    put_states(slave, [0.0, -1.0, 2.0, 0.0])
    slave.fmi.setFMUstate(state)
    assert vector(slave, "getContinuousStates", 4) == pytest.approx([0.6, -0.8, 0.0, 0.0], abs=1e-15)
    assert slave.status(slave.fmi.enterContinuousTimeMode) == fmi2OK
    other = fmu_library(point_pendulum).slave()
    saved = other.fmi.deSerializeFMUstate(slave.fmi.serializeFMUstate(state))
    assert other.status(other.fmi.setFMUstate, saved) == fmi2Error
    assert "the other interface" in other.messages(fmi2Error)[0]


@pytest.mark.slow
def test_a_state_that_is_set_as_a_variable_moves_iteration_variables_too(model):
    """Some importers set states so in continuous-time mode: all that follows is as after setting all of them."""
    found = []
    for as_variable in (False, True):
        slave = model(iterated)
        slave.fmi.newDiscreteStates()
        slave.fmi.enterContinuousTimeMode()
        x = slave.get("x0", "x1", "x2")
        before = slave.get("s0")
        if as_variable:
            slave.set("x0", 0.4)
        else:
            put_states(slave, [0.4, *x[1:]])
        found.append(slave.get("s0", "s1", "w0", "y0"))
        assert found[-1][0] != before
    assert found[0] == found[1]


def test_arrays_of_the_wrong_length_are_refused(model):
    slave = model(point_pendulum)
    assert slave.status(vector, slave, "getDerivatives", 3) == fmi2Error
    assert "an array of 3 values, not of 4" in slave.messages(fmi2Error)[0]


def test_constraints_that_follow_inputs_leave_model_exchange_out():
    d = Draft("driven", q=1, v=1, multipliers=1, inputs=[0.0], unknowns=2)
    driven = d.equations(
        A=ca.SX([[1, -1], [1, 0]]),
        b=ca.SX([0, 0]),
        guess=ca.SX.zeros(2),
        g=d.q - d.u,
        c=d.v,
    )
    assert "follow inputs" in obstacle(driven)
    assert obstacle(point_pendulum()) is None
