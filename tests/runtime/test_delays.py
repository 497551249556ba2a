"""Delayed signals against closed forms: in every host, with jumps, variable delays, saved states and fixed steps."""

from __future__ import annotations

import dataclasses
import math
import pathlib

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave

from mbfmu.components import blocks, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError, SimulationError
from mbfmu.export.build import build
from mbfmu.export.model_exchange import obstacle
from mbfmu.modeling import Assembly, Component, Parameter, RealInput, RealOutput, Start, State
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate
from mbfmu.studies.linearize import linearize
from mbfmu.validation import validate

T = 0.37


class DelayedSine(Assembly):
    """A sine of 3 Hz, and what it was."""

    stop_time = 2.0

    def __init__(self):
        self.source = blocks.Sine(f=3.0, phase=0.3)
        self.delay = blocks.FixedDelay(delayTime=T)
        self.connect(self.source.y, self.delay.u)
        self.output(self.delay.y, "y")


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8, 1e-10])
def test_a_delayed_sine_is_exact_to_the_tolerance(tolerance):
    """There is no state whose error could keep steps short: the history looks after itself."""
    result = simulate(DelayedSine(), interval=0.003, tolerance=tolerance)
    times = np.asarray(result.time)
    wanted = np.sin(6 * np.pi * np.maximum(times - T, 0) + 0.3)
    assert np.abs(result["y"] - wanted).max() < tolerance


class Loop(Assembly):
    """dx/dt = k x(t - T), x = 1 until the start."""

    stop_time = 6.0

    def __init__(self, solver="auto", delay=1.0):
        self.solver = solver
        self.integrator = blocks.Integrator(k=-1.0, y_start=1.0)
        self.delay = blocks.FixedDelay(delayTime=delay)
        self.connect(self.integrator.y, self.delay.u)
        self.connect(self.delay.y, self.integrator.u)
        self.output(self.integrator.y, "x")
        self.output(self.delay.y, "before")


def by_steps(times, delay=1.0):
    """Solution of dx/dt = -x(t - T) by the method of steps: 1 + sum over k of (-1)^k (t - (k - 1) T)^k / k!."""
    x = np.ones_like(times)
    for k in range(1, 12):
        x += (-1) ** k * np.maximum(times - (k - 1) * delay, 0) ** k / math.factorial(k)
    return x


@pytest.mark.parametrize("solver", ["explicit", "implicit"])
@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
def test_a_delayed_loop_is_that_of_the_method_of_steps(solver, tolerance):
    result = simulate(Loop(solver), interval=0.01, tolerance=tolerance)
    times = np.asarray(result.time)
    np.testing.assert_allclose(result["x"], by_steps(times), atol=5 * tolerance)
    np.testing.assert_allclose(result["before"], by_steps(np.maximum(times - 1, 0)), atol=5 * tolerance)


OPTIONS = [
    {"target": "native", "equations": "compiled"},
    {"target": "native", "equations": "interpreted"},
    {"target": "python"},
    {"target": "native", "equations": "interpreted", "fmi": 3},
]


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory):
    """Return a function that builds an assembly, or finds it built."""
    known: dict[object, pathlib.Path] = {}

    def get(cls, **options):
        key = (cls, *options.items())
        if key not in known:
            known[key] = build(cls(), tmp_path_factory.mktemp("delays"), **options)
            assert validate(known[key]) == []
        return known[key]

    return get


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("step", [0.01, 0.75])
def test_co_simulation(fmu, options, step):
    """Communication steps shorter and longer than what the integrator makes of the delay."""
    result = fmpy.simulate_fmu(
        str(fmu(Loop, **options)), fmi_type="CoSimulation", stop_time=6.0, output_interval=step, relative_tolerance=1e-9
    )
    np.testing.assert_allclose(result["x"], by_steps(result["time"]), atol=1e-8)


@pytest.mark.slow
def test_model_exchange_is_not_offered(fmu):
    assert obstacle(System.of(Loop()).equations).startswith("delay delays a signal")
    assert fmpy.read_model_description(str(fmu(Loop, **OPTIONS[0]))).modelExchange is None


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS[:2], ids=str)
def test_saved_states_and_resets_have_the_history(fmu, options, tmp_path):
    path = fmu(Loop, **options)
    description = fmpy.read_model_description(str(path))
    references = [v.valueReference for v in description.modelVariables if v.name in ("integrator.y", "delay.y", "x")]
    folder = fmpy.extract(str(path), str(tmp_path))
    slaves = []
    for _ in range(2):
        slave = FMU2Slave(
            guid=description.guid, unzipDirectory=folder, modelIdentifier=description.coSimulation.modelIdentifier
        )
        slave.instantiate()
        slaves.append(slave)

    def start(slave):
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()

    def go(slave, begin, end):
        values = []
        for i in range(round((end - begin) / 0.13)):
            slave.doStep(begin + i * 0.13, 0.13)
            values.append(slave.getReal(references))
        return values

    first, second = slaves
    start(first)
    beginning = go(first, 0.0, 2.34)
    state = first.getFMUState()
    kept = first.serializeFMUState(state)
    ending = go(first, 2.34, 4.68)
    first.setFMUState(state)
    assert go(first, 2.34, 4.68) == ending
    start(second)  # another instance goes on from the bytes
    second.setFMUState(second.deserializeFMUState(kept))
    assert go(second, 2.34, 4.68) == ending
    first.reset()
    start(first)
    assert go(first, 0.0, 2.34) == beginning
    for slave in slaves:
        slave.freeInstance()


class Jumps(Assembly):
    """A jump at 0.5 through two delays in a row, and an echo that comes back at half its height."""

    stop_time = 3.0

    def __init__(self):
        self.step = blocks.Step(startTime=0.5)
        self.first, self.second = blocks.FixedDelay(delayTime=0.3), blocks.FixedDelay(delayTime=T)
        self.connect(self.step.y, self.first.u)
        self.connect(self.first.y, self.second.u)
        self.integrator = blocks.Integrator(y_start=0.0)
        self.connect(self.second.y, self.integrator.u)
        self.echo, self.sum = blocks.FixedDelay(delayTime=0.25), blocks.Add(k2=0.5)
        self.connect(self.step.y, self.sum.u1)
        self.connect(self.sum.y, self.echo.u)
        self.connect(self.echo.y, self.sum.u2)
        self.heard = blocks.Integrator(y_start=0.0)
        self.connect(self.sum.y, self.heard.u)
        for signal in (self.second.y, self.integrator.y, self.sum.y, self.heard.y):
            self.output(signal)


def test_jumps_come_through_at_their_instants():
    """Integrals of jumps are exact where each jump is an event."""
    result = simulate(Jumps(), interval=0.013, tolerance=1e-6)
    times = np.asarray(result.time)
    np.testing.assert_array_equal(result["second.y"], times >= 0.8 + T)
    np.testing.assert_allclose(result["integrator.y"], np.maximum(times - 0.8 - T, 0), atol=1e-12)
    echoes = [(0.5**k, 0.5 + 0.25 * k) for k in range(11)]
    off = np.min(np.abs(times[:, None] - [when for _, when in echoes]), axis=1) > 1e-9
    np.testing.assert_allclose(result["sum.y"][off], sum(a * (times >= at) for a, at in echoes)[off], atol=1e-12)
    np.testing.assert_allclose(result["heard.y"], sum(a * np.maximum(times - at, 0) for a, at in echoes), atol=1e-12)


class Varying(Assembly):
    """sin t as it was 0.5 + 0.3 sin(2 t) before, and its integral."""

    stop_time = 6.0

    def __init__(self, longest=0.8):
        self.source, self.time = blocks.Sine(f=1 / (2 * math.pi)), blocks.Sine(f=1 / math.pi, amplitude=0.3, offset=0.5)
        self.delay, self.integrator = blocks.VariableDelay(delayMax=longest), blocks.Integrator(y_start=0.0)
        self.connect(self.source.y, self.delay.u)
        self.connect(self.time.y, self.delay.delayTime)
        self.connect(self.delay.y, self.integrator.u)
        self.output(self.delay.y, "y")
        self.output(self.integrator.y, "integral")


def test_variable_delays_are_those_of_the_moment():
    result = simulate(Varying(), interval=0.02, tolerance=1e-9)
    fine = np.linspace(0, 6, 60001)
    wanted = np.sin(np.maximum(fine - 0.5 - 0.3 * np.sin(2 * fine), 0))
    integral = np.concatenate([[0], np.cumsum((wanted[1:] + wanted[:-1]) / 2) * 1e-4])
    np.testing.assert_allclose(result["y"], np.interp(result.time, fine, wanted), atol=1e-8)
    np.testing.assert_allclose(result["integral"], np.interp(result.time, fine, integral), atol=2e-8)


class Told(Component):
    """A stiff lag behind sin t as it was a while ago, which an input or a state that stays tells."""

    by_input = Parameter(t.Boolean, True, "Does the input tell how long?", structural=True)
    u = RealInput("How long", start=0.4)
    z = State(t.Real, "How long", start=0.4, fixed=True)
    x = State(t.Real, "Lag", start=0.0, fixed=True)

    def equations(self):
        self.der.z = 0.0
        ago = self.u if self.by_input else self.z
        self.der.x = 1e3 * (self.delay(ca.sin(self.time), ago, 1.0) - self.x)


def test_implicit_steps_know_the_rate_of_a_signal_that_an_input_delays():
    """All steps are the same to the bit, whoever tells how long the delay is."""

    def run(by_input: bool) -> np.ndarray:
        class Lag(Assembly):
            solver, stop_time = "implicit", 2.0

            def __init__(self):
                self.told = Told(by_input=by_input)
                self.input(self.told.u, "u")

        return simulate(Lag(), interval=0.1, tolerance=1e-6, inputs={"u": 0.4})["told.x"]

    of_input, of_state = run(True), run(False)
    assert of_input.tolist() == of_state.tolist()
    assert of_input[-1] == pytest.approx(math.sin(1.6), abs=2e-3)


def test_a_delay_beyond_its_maximum_is_refused():
    with pytest.raises(SimulationError, match=r"delay delays its signal by 0.7\d* s .* longer than .* 0.7 s"):
        simulate(Varying(longest=0.7))


def test_a_delay_of_nothing_is_refused():
    with pytest.raises(SimulationError, match=r"delay delays its signal by 0 s at time 0: a delay has to be positive"):
        simulate(Loop(delay=0.0))


class Driven(Assembly):
    """x' = u(t - T) - x of an input."""

    stop_time = 3.0

    def __init__(self):
        self.delay, self.lag = blocks.FixedDelay(delayTime=T), blocks.FirstOrder(T=1.0, initType="InitialState")
        self.connect(self.delay.y, self.lag.u)
        self.input(self.delay.u, "u")
        self.output(self.lag.y, "x")


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("options", OPTIONS[:2], ids=str)
def test_inputs_are_delayed(fmu, options):
    """An input of steps at communication points, while the integrator is ahead of them."""
    n, h = 30, 0.1
    levels = np.random.default_rng(1).normal(size=n)
    signal = np.array(list(zip(np.arange(n) * h, levels, strict=True)), dtype=[("time", float), ("u", float)])
    path = fmu(Driven, **options)
    slave_times, x = np.arange(n + 1) * h, []
    description = fmpy.read_model_description(str(path))
    names = {v.name: v.valueReference for v in description.modelVariables}
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=fmpy.extract(str(path)),
        modelIdentifier=description.coSimulation.modelIdentifier,
    )
    slave.instantiate()
    slave.setupExperiment(tolerance=1e-10, startTime=0.0)
    slave.enterInitializationMode()
    slave.setReal([names["u"]], [signal["u"][0]])
    slave.exitInitializationMode()
    x.append(slave.getReal([names["x"]])[0])
    for i in range(n):
        slave.setReal([names["u"]], [signal["u"][i]])
        slave.doStep(i * h, h)
        x.append(slave.getReal([names["x"]])[0])
    slave.freeInstance()

    def lag(time):
        """Answer of the lag to steps that begin T later; before, the input was what it is at the start."""
        changes = np.diff(levels, prepend=0.0)
        begins = np.concatenate([[0.0], np.arange(1, n) * h + T])
        return sum(c * -np.expm1(-(time - b)) for c, b in zip(changes, begins, strict=True) if time > b)

    np.testing.assert_allclose(x, [lag(time) for time in slave_times], atol=1e-9)


@pytest.mark.slow
def test_short_steps_fill_no_memory():
    """Ten thousand communication steps within a delay, while an input ramps: pieces of history are joined."""
    result = simulate(Driven(), 2.0, interval=3.7e-5, inputs={"u": ([0.0, 2.0], [0.0, 2.0])}, tolerance=1e-8)
    times = np.asarray(result.time)
    ramp = np.maximum(times - T, 0)
    np.testing.assert_allclose(result["x"], ramp + np.expm1(-ramp), atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_keep_their_order(solver, tmp_path):
    errors = []
    for step in (0.05, 0.025):
        assembly = Loop(solver)
        path = build(assembly, tmp_path / f"{step}", equations="interpreted", fixed_step=step)
        result = fmpy.simulate_fmu(str(path), stop_time=6.0, output_interval=0.5)
        errors.append(np.abs(result["x"] - by_steps(result["time"])).max())
    assert errors[1] < max(errors[0] / 12, 1e-12)


def test_fixed_steps_longer_than_a_delay_are_refused():
    system = System.of(Loop(delay=0.01))
    system = dataclasses.replace(system, equations=dataclasses.replace(system.equations, fixed_step=0.05))
    with pytest.raises(SimulationError, match=r"0.01 s, which is shorter than the fixed steps of 0.05 s"):
        simulate(system)


class Steady(Assembly):
    """A lag that feeds itself back, by delays in a row, at rest from the start on."""

    def __init__(self, count):
        self.lag, self.sum = blocks.FirstOrder(T=0.2, initType="SteadyState"), blocks.Add(k2=-3.0)
        end = self.lag.y
        for i in range(count):
            delay = self.add(f"delay{i}", blocks.FixedDelay(delayTime=T))
            self.connect(end, delay.u)
            end = delay.y
        self.connect(end, self.sum.u2)
        self.connect(self.sum.y, self.lag.u)
        self.input(self.sum.u1, "u", start=2.0)
        self.output(self.lag.y, "x")


@pytest.mark.parametrize("count", [1, 2])
def test_steady_states_know_what_was_before(count):
    """x = u - 3 x: not to be found by going from one to the other, which would diverge."""
    assert simulate(Steady(count), 0.2)["x"] == pytest.approx(0.5, abs=1e-9)


def test_a_delayed_signal_that_is_its_own_start_is_refused():
    class Own(Assembly):
        def __init__(self):
            self.delay, self.sum, self.one = blocks.FixedDelay(delayTime=T), blocks.Add(), blocks.Constant(k=1.0)
            self.connect(self.one.y, self.sum.u1)
            self.connect(self.sum.y, self.delay.u)
            self.connect(self.delay.y, self.sum.u2)

    with pytest.raises(InitializationError, match="a signal that is delayed follows from itself at the start"):
        simulate(Own(), 1.0)


def test_there_is_no_linear_model():
    with pytest.raises(ModelError, match="delay delays a signal, whose history is no state"):
        linearize(Loop())


class Echo(Component):
    """Vector of a signal at three times, and a delay that nothing bounds."""

    free = Parameter(t.Boolean, False, "Leave the bound out")
    u = RealInput("Signal")
    y = RealOutput("Echoes", shape=(3,))

    def equations(self) -> None:
        if self.free:
            self.y = self.delay([self.u] * 3, 1 + self.u)
        else:
            self.y = self.delay([self.u] * 3, [0.1, 0.2, 0.3])


class Echoes(Assembly):
    """Echoes of the time."""

    def __init__(self, free=False):
        self.clock, self.echo = blocks.Clock(), Echo(free=free)
        self.connect(self.clock.y, self.echo.u)
        self.output(self.echo.y, "y")


def test_columns_are_delayed_each_by_its_own_time():
    result = simulate(Echoes(), 1.0, interval=0.05)
    for i in range(3):
        np.testing.assert_allclose(
            result[f"y[{i + 1}]"], np.maximum(np.asarray(result.time) - 0.1 * (i + 1), 0), atol=1e-12
        )


def test_a_delay_without_bound_is_refused():
    with pytest.raises(ModelError, match=r"echo: a delay varies, and nothing says how long it may become"):
        System.of(Echoes(free=True))


@pytest.mark.slow
def test_more_jumps_than_the_history_holds_end_the_run():
    """A signal that jumps 5,000 times within its delay: 4,096 pieces are kept."""

    class Jumping(Assembly):
        def __init__(self):
            self.delay = blocks.FixedDelay(delayTime=10.0)
            self.input(self.delay.u, "u")
            self.output(self.delay.y, "y")

    at = np.repeat(np.arange(5001) * 1e-3, 2)[1:]
    stairs = {"time": at, "u": np.arange(len(at)) // 2 % 2}
    with pytest.raises(SimulationError, match=r"history of delayed signals is full at time 4\.0\d+: .*\(4096 pieces"):
        simulate(Jumping(), 5.0, interval=1.0, inputs=stairs)


class Felt(Assembly):
    """An accelerometer on a mass that sin 3t pushes, heard 0.4 s later; what is heard pushes another mass."""

    stop_time = 2.0

    def __init__(self):
        self.sine, self.delay = blocks.Sine(f=3.0 / (2 * math.pi)), blocks.FixedDelay(delayTime=0.4)
        self.force, self.mass = (
            translational.Force(),
            translational.Mass(m=2.0, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True)),
        )
        self.sensor = translational.AccSensor()
        self.second, self.other = (
            translational.Force(),
            translational.Mass(m=0.5, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True)),
        )
        self.connect(self.sine.y, self.force.f)
        self.connect(self.force.flange, self.mass.flange_a)
        self.connect(self.mass.flange_b, self.sensor.flange)
        self.connect(self.sensor.a, self.delay.u)
        self.connect(self.delay.y, self.second.f)
        self.connect(self.second.flange, self.other.flange_a)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_accelerations_are_delayed_as_any_signal(solver):
    result = simulate(Felt(), interval=0.02, tolerance=1e-9, solver=solver)
    since = np.maximum(result.time - 0.4, 0)
    np.testing.assert_allclose(result["delay.y"], np.sin(3 * since) / 2, atol=1e-7)
    np.testing.assert_allclose(result["other.v"], (1 - np.cos(3 * since)) / 3, atol=1e-7)
