"""Switches that cross and cross back within a step: short pulses are found, whatever the tolerance."""

from __future__ import annotations

import math
import pathlib

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi2 import FMU2Model

from mbfmu.components import blocks
from mbfmu.dynamics.system import System
from mbfmu.export.build import build
from mbfmu.modeling import Assembly, Component, Parameter, RealInput, RealOutput, State
from mbfmu.modeling import types as t
from mbfmu.runtime.batch import Batch
from mbfmu.runtime.descriptor import descriptor
from mbfmu.runtime.enclosures import Enclosed
from mbfmu.runtime.host import host_library
from mbfmu.runtime.library import Model as Loaded
from mbfmu.runtime.run import place
from mbfmu.simulation import simulate

#: Half the width at half height of exp(-(x / 1e-3)^2).
HALF = 1e-3 * math.sqrt(math.log(2))


class Counted(Component):
    """The time for which a switch is on, beside a state that needs long steps only."""

    on = State(t.Real, "Time on", start=0.0, fixed=True)
    slow = State(t.Real, "Decays", start=1.0, fixed=True)
    phi = State(t.Real, "Turns, 7 in a second", start=0.0, fixed=True)

    def crossing(self):
        raise NotImplementedError

    def equations(self):
        self.der.slow = -0.1 * self.slow
        self.der.phi = 14 * math.pi
        self.der.on = self.switch(self.crossing(), 1.0, 0.0)


class Bump(Counted):
    """One short pulse of time, at a tenth and more of the run."""

    at = Parameter(t.Time, 5.0, "Where it is", tunable=True)

    def crossing(self):
        return ca.exp(-(((self.time - self.at) / 1e-3) ** 2)) - 0.5


class Comparison(Counted):
    """The same as a comparison."""

    def crossing(self):
        return ca.exp(-(((self.time - 5) / 1e-3) ** 2)) > 0.5


class Waves(Counted):
    """A product of sines that comes above its level for short times."""

    def crossing(self):
        return ca.sin(self.time) * ca.sin(37 * self.time) * ca.sin(0.5 * self.time) - 0.62


class Slot(Counted):
    """A narrow slot in a disk that turns some seventy times in a step."""

    def crossing(self):
        return ca.cos(self.phi) - math.cos(1e-3)


class Saw(Counted):
    """What jumps in time, without a word about the instants."""

    def crossing(self):
        return self.time / 3 - ca.floor(self.time / 3) - 0.999


class Late(Counted):
    """A straight line in time, without a word about its instant."""

    def crossing(self):
        return self.time - 4


class Model(Assembly):
    """A counter alone."""

    stop_time = 10.0

    def __init__(self, kind: type[Counted] = Bump, solver: str = "auto"):
        self.solver = solver
        self.part = kind()
        self.output(self.part.on, "on")


def above(law, level: float, begin: float, end: float) -> float:
    """Time for which a function is above a level, by its sign changes between close samples, refined by secants."""
    times = np.linspace(begin, end, 2_000_001)
    values = law(times) - level
    ends = np.flatnonzero(values[1:] * values[:-1] < 0)
    roots = times[ends] - values[ends] * (times[1] - times[0]) / (values[ends + 1] - values[ends])
    return float(np.sum(np.where(values[ends] < 0, -roots, roots)))


WIDTHS = {
    Bump: 2 * HALF,
    Comparison: 2 * HALF,
    Waves: above(lambda s: np.sin(s) * np.sin(37 * s) * np.sin(0.5 * s), 0.62, 0, 10),
    Slot: 70 * 2e-3 / (14 * math.pi),
    Saw: 3 * 0.003,
    Late: 6.0,
}


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "implicit"])
@pytest.mark.parametrize("kind", WIDTHS)
def test_pulses_count_whatever_the_tolerance(kind: type[Counted], solver: str) -> None:
    """The time on is exact, by both explicit methods and the implicit one, in steps over much more than the pulse."""
    for tolerance in (1e-4, 1e-7, 1e-10):
        found = simulate(Model(kind, solver), interval=10.0, tolerance=tolerance)["on"][-1]
        assert found == pytest.approx(WIDTHS[kind], rel=1e-9 if kind is not Waves else 1e-6), tolerance


class Watching(Component):
    """Switches that an input closes and opens: within narrow limits, and beside another input."""

    u, other = RealInput("Measured"), RealInput("Another one")
    on = State(t.Real, "Time within the limits", start=0.0, fixed=True)
    near = State(t.Real, "Time at which both are equal, but for 1e-4", start=0.0, fixed=True)
    slow = State(t.Real, "Decays", start=1.0, fixed=True)
    y = RealOutput("Switch")

    def equations(self):
        self.der.slow = -0.1 * self.slow
        self.y = self.switch(ca.exp(-(((self.u - 0.5) / 1e-3) ** 2)) - 0.5, 1.0, 0.0)
        self.der.on = self.y
        self.der.near = self.switch(1e-4 - ca.fabs(self.u - self.other), 1.0, 0.0)


class Watched(Assembly):
    """Fed from outside."""

    stop_time = 10.0

    def __init__(self):
        self.part = Watching()
        self.input(self.part.u, "u")
        self.input(self.part.other, "other")


def test_pulses_on_the_lines_of_measured_inputs(tmp_path: pathlib.Path) -> None:
    """A line from 0 to 1 passes narrow limits, and one that falls."""
    rows = [(0, 0, 1), (4, 1, 0.25), (6, 0.9, 0.3), (10, -0.1, 1)]
    (tmp_path / "drive.csv").write_text("time,u,other\n" + "\n".join(",".join(map(str, row)) for row in rows))
    slopes = np.diff([row[1] for row in rows]) / np.diff([row[0] for row in rows])
    apart = np.diff([row[1] - row[2] for row in rows]) / np.diff([row[0] for row in rows])
    for tolerance in (1e-4, 1e-9):
        result = simulate(Watched(), interval=10.0, tolerance=tolerance, inputs=tmp_path / "drive.csv")
        passes = 2 * HALF * (1 / abs(slopes[0]) + 1 / abs(slopes[2]))
        assert result["part.on"][-1] == pytest.approx(passes, rel=1e-9)
        assert result["part.near"][-1] == pytest.approx(2e-4 * (1 / abs(apart[0]) + 1 / abs(apart[2])), rel=1e-9)


class Limits(Component):
    """A switch that is on while its input is between 0.5 and 0.501, and one behind it."""

    u = RealInput("Signal")
    on = State(t.Real, "Time on", start=0.0, fixed=True)
    both = State(t.Real, "Time for which both are on", start=0.0, fixed=True)
    slow = State(t.Real, "Decays", start=1.0, fixed=True)

    def equations(self):
        self.der.slow = -0.1 * self.slow
        first = self.switch(ca.fmin(self.u - 0.5, 0.501 - self.u), 1.0, 0.0)
        self.der.on = first
        self.der.both = self.switch(first * ca.fmin(self.u - 0.5005, 1) - 1e-9, 1.0, 0.0)


@pytest.mark.slow
def test_pulses_of_tables_and_several_switches() -> None:
    """A table's spline passes narrow limits twice; the second switch is on in the first one's second half."""

    class Tabulated(Assembly):
        stop_time = 10.0

        def __init__(self):
            table = [[0, 0], [5, 1], [10, 0]]
            self.source = blocks.CombiTimeTable(table=table, smoothness="ContinuousDerivative")
            self.limits = Limits()
            self.connect(self.source.y[0], self.limits.u)

    times = np.linspace(0, 10, 2_000_001)
    y = simulate(Tabulated(), interval=5e-6, stop_time=5.0)["source.y[1]"]
    within = above(lambda s: np.interp(s, times[: y.size], y), 0.5, 0, 5) - above(
        lambda s: np.interp(s, times[: y.size], y), 0.501, 0, 5
    )
    for tolerance in (1e-4, 1e-9):
        result = simulate(Tabulated(), interval=10.0, tolerance=tolerance)
        assert result["limits.on"][-1] == pytest.approx(2 * within, rel=1e-5)
        assert result["limits.both"][-1] == pytest.approx(within, rel=1e-2)


def test_waves_that_touch_their_level_cost_no_time() -> None:
    """A crossing that comes to zero and turns, or stays there, is looked at in a bounded number of places."""

    class Touching(Counted):
        def crossing(self):
            return ca.fmin(ca.sin(self.time) * ca.cos(3 * self.time) - 1, ca.fmax(0, 1 - self.time) - 1e-300)

    result = simulate(Model(Touching), interval=10.0)
    assert result["on"][-1] == 0.0


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("target", ["native", "python"])
def test_compiled_and_interpreted_pulses_are_the_same_to_the_bit(target: str, tmp_path: pathlib.Path) -> None:
    class Two(Assembly):
        stop_time = 10.0

        def __init__(self):
            self.bump, self.slot = Bump(), Slot()
            self.output(self.bump.on, "bump_on")
            self.output(self.slot.on, "slot_on")

    path = build(Two(), tmp_path / "two.fmu", target=target)
    found = fmpy.simulate_fmu(str(path), stop_time=10.0, step_size=2.0, output_interval=2.0, relative_tolerance=1e-6)
    wanted = simulate(Two(), interval=2.0, tolerance=1e-6)
    for name in ("bump_on", "slot_on"):
        assert list(found[name]) == list(wanted[name])
    assert found["bump_on"][-1] == pytest.approx(2 * HALF, rel=1e-9)


def test_lanes_find_the_same_pulses() -> None:
    """Eleven runs with their pulses at places of their own, in four lanes and alone."""
    system = System.of(Model(Bump))
    named = {variable.name: variable for variable in system.variables}
    times, values = np.linspace(0.0, 10.0, 6), np.linspace(1.0, 9.0, 11)[:, None]
    places = np.array([place(named["part.on"])], dtype=np.int32)

    def run(count: int) -> np.ndarray:
        model = Loaded(host_library(), descriptor(system.equations, system.variables))
        return Batch(model, [named["part.at"]], times, places, None, 1e-6, count).run(values).rows

    assert run(4).tolist() == run(1).tolist()
    assert run(1)[:, -1, 0] == pytest.approx(2 * HALF, rel=1e-9)


@pytest.mark.slow
def test_importers_are_told_of_pulses_in_time(tmp_path: pathlib.Path) -> None:
    """In model exchange the ends of a pulse that time decides are time events, however far apart steps are."""
    path = build(Model(Bump), tmp_path / "bump.fmu", equations="interpreted")
    description = fmpy.read_model_description(str(path))
    folder = fmpy.extract(str(path), tmp_path / "bump")
    fmu = FMU2Model(
        guid=description.guid, unzipDirectory=folder, modelIdentifier=description.modelExchange.modelIdentifier,
        instanceName="bump",
    )  # fmt: skip
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0, stopTime=10.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    told = []
    for _ in range(3):
        *_, defined, instant = fmu.newDiscreteStates()
        if not defined:
            break
        told.append(instant)
        fmu.enterContinuousTimeMode()
        fmu.setTime(instant)
        fmu.enterEventMode()
    fmu.terminate()
    fmu.freeInstance()
    assert told == pytest.approx([5 - HALF, 5 + HALF], rel=1e-14)


class OfAState(Counted):
    """A pulse where the slow state passes a value."""

    at = Parameter(t.Real, -5.0, "Value", tunable=True)

    def crossing(self):
        return ca.exp(-(((self.slow - self.at) / 1e-3) ** 2)) - 0.5


@pytest.mark.slow
def test_bounds_are_those_of_parameters_that_change_in_a_run(tmp_path: pathlib.Path, instance_of) -> None:
    """What is far from a switch with one parameter is near with another, though the state is where it was."""
    one = instance_of(build(Model(OfAState), tmp_path / "state.fmu", equations="interpreted"))
    one.fmu.doStep(0.0, 1.0)
    at = math.exp(-0.1) - 2.5e-3
    one.set("part.at", at)
    for k in range(1, 5):
        one.fmu.doStep(float(k), 1.0)
    assert one.get("part.on")[0] == pytest.approx(math.log((at + HALF) / (at - HALF)) / 0.1, rel=1e-6)


def test_straight_lines_and_told_series_have_no_bounds() -> None:
    """Instants that are known before need none: they are met without a search."""

    class Known(Assembly):
        def __init__(self):
            self.late = Late()
            self.pulse, self.table = blocks.Pulse(period=0.3), blocks.TimeTable(table=[[0, 0], [1, 1]])

    assert Enclosed.of(System.of(Known()).equations).rows == ()
