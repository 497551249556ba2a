"""Values that are held between events: the same in every host, version and interface, saved, restored and reset."""

from __future__ import annotations

import math
import pathlib

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Slave
from hand_made_models import Draft
from hosts import Failed

from mbfmu.components import blocks, translational
from mbfmu.components.blocks import discrete, math_integer
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.export.build import build
from mbfmu.modeling import Assembly, Component, DiscreteState, Parameter, RealInput, RealOutput, Start, State
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate
from mbfmu.validation import validate

PERIOD = 0.1


def accumulator():
    """x' = k, and k becomes k/2 + x at each multiple of p[0]; at x >= 2, x is set to 0."""
    d = Draft("accumulator", z=1, switches=1, held=3, parameters=[PERIOD])
    high, k, count = (d.m[i] for i in range(3))
    ticks = ca.floor(d.t / d.P[0] + 1e-9) + 1
    due = ca.logic_and(d.m_before[2] >= 0, ticks > d.m_before[2])
    crossed = ca.logic_and(high, ca.logic_not(d.m_before[3]))
    return d.equations(
        A=ca.SX(0, 0),
        b=ca.SX(0, 1),
        guess=ca.SX(1.0),
        derivatives=k,
        displacement=ca.SX(0, 1),
        crossings=d.x - 2,
        next_times=d.P[0] * ticks,
        held=ca.vertcat(1.0, -1.0, 1.0),
        update=ca.vertcat(
            ca.if_else(due, d.m_before[1] / 2 + d.x, d.m_before[1]), ca.if_else(d.m_before[2] < 0, 0, ticks), high
        ),
        reset=ca.if_else(crossed, 0, d.x),
        y=ca.vertcat(k, count),
    )


def expected(end):
    """x and k at the instants just after n p[0], by hand."""
    x, k, values = 1.0, 1.0, []
    for _ in range(round(end / PERIOD) + 1):
        k = k / 2 + x
        values.append((x, k))
        x += PERIOD * k
        if x >= 2:
            x -= 2  # what is left after the reset goes on at the same rate
    return np.array(values)


@pytest.mark.slow
@pytest.mark.campaign(keep=5)
@pytest.mark.parametrize("step", [PERIOD, PERIOD / 10, 3 * PERIOD])
def test_samples_and_resets_are_where_they_belong(library, step):
    """Looked at in the middle of periods."""
    slave = library(accumulator).slave().start()
    slave.step(PERIOD / 2)
    wanted, seen = expected(3.0), 0
    while slave.time < 3.0 - PERIOD:
        slave.step(step)
        n = math.floor(slave.time / PERIOD)
        if abs(slave.time / PERIOD - n - 0.5) < 1e-6:
            x, k = wanted[n]
            x += k * PERIOD / 2
            assert slave.get("x0", "y0") == pytest.approx([x - 2 * (x >= 2), k], rel=1e-9)
            seen += 1
    assert seen >= 9


@pytest.mark.slow
def test_saved_states_and_resets_have_held_values(library):
    slave = library(accumulator).slave().start()
    slave.step(0.55)
    state = slave.save()
    slave.step(0.5)
    first = slave.get("x0", "y0", "y1")
    slave.restore(state)
    slave.step(0.5)
    assert slave.get("x0", "y0", "y1") == first
    slave.reset()
    slave.start()
    assert slave.get("y1") == 1.0  # the tick of the start
    slave.step(0.55)
    slave.step(0.5)
    assert slave.get("x0", "y0", "y1") == first


def circle():
    """Two values that each become the other plus one."""
    d = Draft("circle", held=2)
    return d.equations(
        A=ca.SX(0, 0),
        b=ca.SX(0, 1),
        guess=ca.SX(0, 1),
        derivatives=ca.SX(0, 1),
        displacement=ca.SX(0, 1),
        held=ca.SX.zeros(2),
        update=ca.vertcat(d.m[1] + 1, d.m[0]),
        held_names=("a", "b"),
    )


@pytest.mark.slow
def test_values_that_need_each_other_are_refused(library):
    with pytest.raises(Failed, match=r"depend on each other in a circle at time 0 \((a|b) is one of them\)"):
        library(circle).slave().start()


def endless():
    """A value that each round of an event changes again."""
    d = Draft("endless", held=1)
    return d.equations(
        A=ca.SX(0, 0),
        b=ca.SX(0, 1),
        guess=ca.SX(0, 1),
        derivatives=ca.SX(0, 1),
        displacement=ca.SX(0, 1),
        held=ca.SX.zeros(1),
        update=d.m_before[0] + 1,
    )


@pytest.mark.slow
def test_events_without_end_are_refused(library):
    with pytest.raises(Failed, match="events follow each other without end at time 0"):
        library(endless).slave().start()


class Ball(Component):
    """Ball that rebounds with e times its speed, and counts."""

    e = Parameter(t.Real, 0.8, "Restitution", min=0)
    h = State(t.Position, "Height", start=1.0, fixed=True)
    v = State(t.Velocity, "Speed", start=0.0, fixed=True)
    n = DiscreteState(t.Real, "Number of rebounds", start=0.0, fixed=True)

    def equations(self) -> None:
        self.der.h, self.der.v = self.v, -10.0
        self.when(self.h <= 0, n=self.pre(self.n) + 1)
        self.reinit(self.h <= 0, h=0, v=-self.e * self.v)


def rebounds(times, e=0.8):
    """Height and number of rebounds of a ball dropped from 1 m."""
    fall = np.sqrt(0.2)
    height, count = 1 - 5 * times**2, np.zeros_like(times)
    begin, speed = fall, 10 * fall * e
    for i in range(1, 8):
        after = times >= begin
        height = np.where(after, speed * (times - begin) - 5 * (times - begin) ** 2, height)
        count = np.where(after, i, count)
        begin, speed = begin + speed / 5, speed * e
    return height, count


class Shuttle(Component):
    """A thing that goes to and fro between two walls."""

    x = State(t.Position, "Place", start=0.5, fixed=True)
    v = State(t.Velocity, "Speed", start=1.0, fixed=True)

    def equations(self) -> None:
        self.der.x, self.der.v = self.v, ca.SX(0)
        self.reinit(self.x >= 1, v=-1.0)
        self.reinit(self.x <= 0, v=1.0)


def test_a_state_is_set_anew_by_each_of_two_events():
    class Room(Assembly):
        def __init__(self):
            self.shuttle = Shuttle()

    result = simulate(Room(), 4.0, tolerance=1e-9)
    expected = np.abs((np.asarray(result.time) + 0.5 + 1) % 2 - 1)
    np.testing.assert_allclose(result["shuttle.x"], expected, atol=1e-8)


class Pushed(Component):
    """A force from 0.5 s on, and the acceleration that was there before a state had jumped with it."""

    a = RealInput("Acceleration")
    y = RealOutput("Force")
    z = State(t.Real, "What jumps", start=0.0, fixed=True)
    force = DiscreteState(t.Force, "Force", start=0.0, fixed=True)
    before = DiscreteState(t.Acceleration, "Acceleration before", start=-1.0, fixed=True)

    def equations(self) -> None:
        self.der.z = ca.SX(0)
        begins = self.sample(0.5, 10.0)
        self.when(begins, force=3.0)
        self.reinit(begins, z=1.0)
        self.when(self.z > 0.5, before=self.pre(self.a))
        self.y = self.force


def test_before_an_event_that_follows_from_another_is_after_that():
    """The state has jumped at the end of the first round, in which the force has begun."""

    class Push(Assembly):
        def __init__(self):
            self.pushed, self.push, self.sensor = Pushed(), translational.Force(), translational.AccSensor()
            self.mass = translational.Mass(m=1.5, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
            self.connect(self.pushed.y, self.push.f)
            self.connect(self.push.flange, self.mass.flange_a)
            self.connect(self.mass.flange_b, self.sensor.flange)
            self.connect(self.sensor.a, self.pushed.a)

    result = simulate(Push(), 1.0)
    assert result["pushed.before"][0] == -1.0
    assert result["pushed.before"][-1] == pytest.approx(2.0, abs=1e-12)


class Plant(Assembly):
    """A digital controller of an input, a ball, and a counter of the controller's steps that a user may set."""

    stop_time = 2.0

    def __init__(self):
        self.ball = Ball()
        self.hold = discrete.ZeroOrderHold(samplePeriod=PERIOD)
        self.lag = blocks.FirstOrder(T=0.3, initType="InitialState")
        self.delay = discrete.UnitDelay(samplePeriod=PERIOD, y_start=0.5)
        self.trigger, self.one = blocks.SampleTrigger(period=PERIOD), blocks.IntegerConstant(k=1)
        self.count = math_integer.TriggeredAdd()
        self.connect(self.hold.y, self.lag.u)
        self.connect(self.lag.y, self.delay.u)
        self.connect(self.trigger.y, self.count.trigger)
        self.connect(self.one.y, self.count.u)
        self.input(self.hold.u, start=1.0)
        for variable in (self.ball.h, self.ball.n, self.hold.y, self.lag.y, self.delay.y, self.count.y):
            self.output(variable)


NAMES = ("ball.h", "ball.n", "hold.y", "lag.y", "delay.y", "count.y")


@pytest.fixture(scope="module")
def fmu(tmp_path_factory: pytest.TempPathFactory):
    """Return a function that builds the plant, or finds it built."""
    known: dict[object, pathlib.Path] = {}

    def get(**options):
        key = tuple(options.items())
        if key not in known:
            known[key] = build(Plant(), tmp_path_factory.mktemp("plant"), **options)
            assert validate(known[key]) == []
        return known[key]

    return get


def check(times, columns):
    """All that the plant shows, against closed forms."""
    height, count = rebounds(times)
    settled = np.abs(height) > 1e-3
    n = np.floor(times / PERIOD + 1e-9)
    lag = 1 - np.exp(-times / 0.3)
    np.testing.assert_allclose(columns["ball.h"], height, atol=1e-6)
    np.testing.assert_array_equal(columns["ball.n"][settled], count[settled])
    np.testing.assert_array_equal(columns["hold.y"], 1.0)
    np.testing.assert_allclose(columns["lag.y"], lag, atol=1e-6)
    np.testing.assert_allclose(columns["delay.y"], 1 - np.exp(-n * PERIOD / 0.3), atol=1e-6)
    np.testing.assert_array_equal(columns["count.y"], n + 1)


OPTIONS = [
    {"target": "native", "equations": "compiled"},
    {"target": "native", "equations": "interpreted"},
    {"target": "python"},
    {"target": "native", "equations": "interpreted", "fmi": 3},
]


def test_in_this_process():
    result = simulate(Plant(), 2.0, interval=0.025, tolerance=1e-9)
    check(np.asarray(result.time), {name: result[name] for name in NAMES})


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_co_simulation(fmu, options):
    result = fmpy.simulate_fmu(
        str(fmu(**options)), fmi_type="CoSimulation", stop_time=2.0, output_interval=0.025, relative_tolerance=1e-9
    )
    check(result["time"], {name: result[name] for name in NAMES})


@pytest.mark.slow
@pytest.mark.parametrize("options", [OPTIONS[0], OPTIONS[3]], ids=str)
def test_model_exchange(fmu, options):
    result = fmpy.simulate_fmu(
        str(fmu(**options)), fmi_type="ModelExchange", stop_time=2.0, output_interval=0.025, relative_tolerance=1e-9
    )
    keep = np.append(np.diff(result["time"]) > 0, True)  # of two rows at an event the second one counts
    check(result["time"][keep], {name: result[name][keep] for name in NAMES})


@pytest.mark.slow
def test_held_values_are_discrete_variables(fmu):
    found = {v.name: v for v in fmpy.read_model_description(str(fmu(**OPTIONS[0]))).modelVariables}
    for name in ("ball.n", "hold.y", "delay.y", "count.y", "hold.ySample"):
        assert found[name].variability == "discrete", name
    assert found["lag.y"].variability == found["ball.h"].variability == "continuous"
    assert found["ball.n"].start == "0.0"
    assert found["ball.n"].initial == "exact"


@pytest.mark.slow
def test_start_values_of_held_values_can_be_set(fmu):
    result = fmpy.simulate_fmu(str(fmu(**OPTIONS[0])), stop_time=0.5, start_values={"ball.n": 7.0}, output_interval=0.1)
    np.testing.assert_array_equal(result["ball.n"], [7, 7, 7, 7, 7, 8])


def test_a_sample_at_a_communication_point_takes_the_input_before(fmu, tmp_path):
    """What a master sets at 0.1 s is sampled at 0.2 s: the sample of 0.1 s belongs to the step that ends there."""
    path = fmu(**OPTIONS[0])
    description = fmpy.read_model_description(str(path))
    references = {v.name: v.valueReference for v in description.modelVariables}
    slave = FMU2Slave(
        guid=description.guid,
        unzipDirectory=fmpy.extract(str(path), str(tmp_path)),
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="plant",
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    seen = []
    for i in range(5):
        slave.setReal([references["hold.u"]], [float(i)])
        slave.doStep(i * PERIOD, PERIOD)
        seen.append(slave.getReal([references["hold.y"]])[0])
    slave.terminate()
    slave.freeInstance()
    assert seen == [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.slow
def test_steps_of_a_fixed_length_handle_events_at_their_ends(tmp_path):
    """Samples lie at ends of steps; rebounds act from the end of theirs."""
    path = build(Plant(), tmp_path, fixed_step=0.001)
    result = fmpy.simulate_fmu(str(path), stop_time=1.5, output_interval=0.01)
    times = result["time"]
    n = np.floor(times / PERIOD + 1e-9)
    np.testing.assert_array_equal(result["count.y"], n + 1)
    np.testing.assert_allclose(result["delay.y"], 1 - np.exp(-n * PERIOD / 0.3), atol=1e-9)
    assert result["ball.n"][-1] == rebounds(times)[1][-1]
    assert np.abs(result["ball.h"] - rebounds(times)[0]).max() < 0.02


def alone(component):
    """An assembly of one component."""
    assembly = Assembly()
    assembly.part = component
    return assembly


class Bad(Component):
    """Component with one wrong line."""

    u = RealInput("Signal")
    y = RealOutput("Signal")
    x = State(t.Real, "State", start=0.0)
    k = DiscreteState(t.Real, "Held", shape=2)

    def equations(self) -> None:
        self.der.x = 1.0
        self.y = self.wrong()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda self: self.when(self.x > 1, x=1), r"part: when\(\.\.\., x=\.\.\.\) needs a declared DiscreteState 'x'"),
        (lambda self: self.when(self.x > 1, k=ca.SX.ones(3)), r"part: when gives k 3 elements, declared are 2"),
        (lambda self: self.when(k=1), "part: no event is given"),
        (lambda self: self.reinit(self.x > 1, z=1), r"part: reinit\(\.\.\., z=\.\.\.\) needs a declared variable 'z'"),
        (
            lambda self: self.reinit(self.x > 1, k=1),
            r"part: reinit\(\.\.\., k=\.\.\.\) needs 2 elements, all of th",
        ),
        (lambda self: self.pre(self.x), r"part: pre\(\) of what changes between events is read outside of an event"),
        (lambda self: self.pre(self.pre(self.k)), r"part: pre\(\) of what pre\(\) gives"),
        (lambda self: self.edge(self.k), "part: a condition has 2 elements"),
        (lambda self: self.edge(self.initial), "part: an event is given where a condition is needed"),
        (
            lambda self: self.hold(self.x > 1, value=ca.SX.ones(2)),
            "part: a held value starts with 1 elements and is g",
        ),
    ],
)
def test_wrong_lines_are_named(wrong, message):
    def line(self):
        found = wrong(self)
        return found[0] if hasattr(found, "is_symbolic") else 0.0

    cls = type("Wrong", (Bad,), {"wrong": line, "u": RealInput("Signal", when=lambda self: False)})
    with pytest.raises(ModelError, match=message):
        System.of(alone(cls()))
