"""Instants of a series: how many there are, and what series are refused."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Component
from mbfmu.errors import InitializationError, ModelError
from mbfmu.modeling import DiscreteState, Parameter, RealInput, State
from mbfmu.modeling import types as t


class Counter(Component):
    """Counts events of a kind."""

    T = Parameter(t.Time, 0.1, "Interval")
    tunable = Parameter(t.Time, 0.1, "Interval that may change", tunable=True)
    u = RealInput("A signal")
    x = State(t.Real, "A state", start=0.1, fixed=True)
    n = DiscreteState(t.Real, "Number of events", start=0.0)
    event: Callable[[Any], Any]

    def equations(self) -> None:
        self.der.x = 0
        self.when(type(self).event(self), n=self.pre(self.n) + 1)


def counting(event: Callable[[Any], Any], **modifiers: Any) -> Assembly:
    class Counting(Assembly):
        T = Parameter(t.Time, 0.1, "Interval of the whole", tunable=True)

        def __init__(self) -> None:
            of_whole = {name: self.T for name, value in modifiers.items() if value == "T"}
            self.c = type("Counter", (Counter,), {"event": staticmethod(event)})(**{**modifiers, **of_whole})
            self.input(self.c.u, "u", start=0.1)
            self.output(self.c.n, "n")

    return Counting()


def counted(assembly: Assembly, start: float = 0.0) -> float:
    return float(mbfmu.simulate(assembly, start + 1.0, start_time=start, interval=0.05)["c.n"][-1])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "start", "number"),
    [
        (lambda s: s.sample(0, 0.1), 0.0, 11),
        (lambda s: s.sample(0, s.T), 0.0, 11),
        (lambda s: s.sample(0.05, 2 * s.T), 0.0, 5),
        (lambda s: s.sample(-3, s.T / 4), 0.0, 41),
        (lambda s: s.sample(s.start_time, s.T), 0.33, 11),
        (lambda s: s.sample(s.start_time + s.T / 2, s.T), 0.33, 10),
    ],
)
def test_number_of_samples(event: Callable[[Any], Any], start: float, number: int) -> None:
    assert counted(counting(event), start) == number


#: Series that have no or other instants than one would think, and words of the message.
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "negative": (lambda s: s.sample(0, -0.05), r"c: sample\(0, -0.05\): its interval is not positive"),
    "zero": (lambda s: s.sample(0, 0), r"c: sample\(0, 0\): its interval is not positive"),
    "time": (lambda s: s.sample(0, 0.01 + s.time), "its interval depends on time"),
    "start of time": (lambda s: s.sample(s.time, 0.1), "its start depends on time"),
    "a state": (lambda s: s.sample(0, s.x), "its interval depends on x"),
    "an input": (lambda s: s.sample(s.u, 0.1), "its start depends on u"),
    "a held value": (lambda s: s.sample(0, s.n + 0.1), "its interval depends on n"),
    "a tunable parameter": (lambda s: s.sample(0, s.tunable), r"its interval depends on c\.tunable"),
    "a comparison": (lambda s: s.sample(0, s.T > 0), "its interval is a comparison"),
    "two": (lambda s: s.sample(0, [0.1, 0.2]), "its interval has 2 elements"),
    "an instant of a state": (lambda s: [s.time_event(s.x + 0.5), s.sample(0, 0.1)][1], r"depends on c\.x, which"),
    "an instant of an input": (lambda s: [s.time_event(s.u + 0.5), s.sample(0, 0.1)][1], "depends on u, which"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_series_that_nobody_can_know_are_refused(case: str) -> None:
    event, words = REFUSED[case]
    with pytest.raises(ModelError, match=words):
        counted(counting(event))


def test_interval_that_a_tunable_parameter_of_the_whole_gives_is_refused() -> None:
    with pytest.raises(ModelError, match=r"its interval depends on Counting\.T"):
        counted(counting(lambda s: s.sample(0, s.T), T="T"))


@pytest.mark.parametrize("interval", [-0.05, 0.0])
def test_interval_of_a_parameter_is_refused_at_the_start(interval: float) -> None:
    with pytest.raises(InitializationError, match="c: the interval T of sampling must be > 0 s"):
        counted(counting(lambda s: s.sample(0, s.T), T=interval))


@pytest.mark.slow
@pytest.mark.parametrize("interval", [1e-14, "T"])
def test_start_of_a_parameter_that_is_too_far_is_refused_at_the_start(interval: float | str) -> None:
    event = (lambda s: s.sample(s.T, interval)) if interval != "T" else (lambda s: s.sample(-1e13 * s.T, s.T))
    with pytest.raises(
        InitializationError, match=r"c: the start .*T\)? of sampling is more than 1e\+12 intervals from 0 s"
    ):
        counted(counting(event))


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("target", ["native", "python"])
def test_interval_that_an_fmu_is_given_is_refused_with_a_log_line(
    fmi: int, target: str, tmp_path: pathlib.Path
) -> None:
    path = mbfmu.build(counting(lambda s: s.sample(0, s.T)), tmp_path / "c.fmu", fmi=fmi, target=target)
    log: list[str] = []

    def logger(*arguments: Any) -> None:
        log.append(str(arguments[-1]))

    result = fmpy.simulate_fmu(str(path), start_values={"c.T": 0.2}, stop_time=1.0, output=["n"], logger=logger)
    assert result["n"][-1] == 6
    for interval in (-0.05, 0.0):
        log.clear()
        with pytest.raises(Exception, match=r"failed with status [23]|error"):
            fmpy.simulate_fmu(str(path), start_values={"c.T": interval}, stop_time=1.0, logger=logger)
        assert any("the interval T of sampling must be > 0 s" in line for line in log)


def test_many_instants_are_all_there() -> None:
    """Counted over a long run, which is recorded between the instants: floor(t / T) + 1."""
    result = mbfmu.simulate(counting(lambda s: s.sample(0, s.T), T=0.07), 10.0, interval=0.01 * np.sqrt(2))
    np.testing.assert_array_equal(result["c.n"], np.floor(np.asarray(result.time) / 0.07) + 1)
