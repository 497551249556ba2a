"""Jumps that come ever sooner after each other: the run says so, and ends, at the time where they have no end."""

from __future__ import annotations

import contextlib
import math
import pathlib
import re
from typing import Any

import casadi as ca
import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

import mbfmu
from mbfmu import Assembly, Component
from mbfmu.errors import SimulationError
from mbfmu.modeling import DiscreteState, Parameter, State
from mbfmu.modeling import types as t

G, HEIGHT = 9.81, 1.0


class Ball(Component):
    """A ball above a floor."""

    e = Parameter(t.Real, 0.7, "Restitution")
    h = State(t.Position, "Height", start=HEIGHT, fixed=True)
    v = State(t.Velocity, "Speed", start=0.0, fixed=True)
    n = DiscreteState(t.Real, "Number of impacts", start=0.0)
    flying = DiscreteState(t.Real, "1 while it flies", start=1.0)

    def equations(self) -> None:
        self.der.h = self.v
        self.bounce()

    def bounce(self) -> None:
        self.der.v = -G
        hit = self.edge(self.h <= 0)
        self.reinit(hit, v=-self.e * self.pre(self.v))
        self.when(hit, n=self.pre(self.n) + 1)


class SlowBall(Ball):
    """The same, said in another way."""

    def bounce(self) -> None:
        self.der.v = -G
        self.reinit(ca.logic_and(self.h <= 0, self.v < 0), v=-self.e * self.pre(self.v))


class RestingBall(Ball):
    """A ball that comes to rest (the model of Modelica's specification)."""

    def bounce(self) -> None:
        self.der.v = ca.if_else(self.flying > 0.5, -G, 0)
        hit = self.edge(self.h <= 0)
        falls = self.edge(ca.logic_and(self.h <= 0, self.v <= 0))
        rebound = ca.if_else(hit.active, ca.fmax(-self.e * self.pre(self.v), 0), 0)
        self.when(hit, falls, flying=rebound > 0)
        self.reinit(hit, falls, v=rebound)
        self.when(hit, n=self.pre(self.n) + 1)


def balls(cls: type[Ball] = Ball, **modifiers: Any) -> Assembly:
    class Balls(Assembly):
        stop_time = 20.0

        def __init__(self) -> None:
            self.ball = cls(**modifiers)
            self.output(self.ball.h)

    return Balls()


def accumulation(e: float) -> float:
    """Time at which infinitely many impacts have happened: fall, then hops whose times are a geometric series."""
    return math.sqrt(2 * HEIGHT / G) * (1 + e) / (1 - e)


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Ball, SlowBall])
@pytest.mark.parametrize("e", [0.3, 0.7, 0.9])
def test_ball_does_not_fall_through_its_floor_without_a_word(cls: type[Ball], e: float) -> None:
    with pytest.raises(SimulationError) as caught:
        mbfmu.simulate(balls(cls, e=e), 20.0, interval=0.05)
    message = str(caught.value)
    found = re.search(r"the run ends at ([\d.]+) s", message)
    assert found is not None
    assert float(found[1]) == pytest.approx(accumulation(e), rel=5e-3)
    assert ("ever smaller have no end" if cls is Ball else "sets states anew") in message


def test_ball_that_keeps_no_speed_is_told_at_its_first_impact() -> None:
    with pytest.raises(SimulationError, match=r"ball: setting v anew does not bring \(h<=0\) back any more"):
        mbfmu.simulate(balls(e=0.0), 20.0, interval=0.05)


@pytest.mark.parametrize(("cls", "e"), [(Ball, 1.0), (RestingBall, 0.7), (RestingBall, 0.0)])
def test_ball_that_goes_on_or_rests_is_not_stopped(cls: type[Ball], e: float) -> None:
    result = mbfmu.simulate(balls(cls, e=e), 10.0, interval=0.05)
    height = np.asarray(result["ball.h"])
    assert height.min() > -1e-6
    if e < 1:
        assert np.abs(height[result.time > accumulation(e) + 0.1]).max() < 1e-6
    else:
        period = 2 * math.sqrt(2 * HEIGHT / G)
        since = np.mod(np.asarray(result.time) + period / 2, period) - period / 2
        np.testing.assert_allclose(height, HEIGHT - G * since**2 / 2, atol=1e-4)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("fmi", "target", "kind"),
    [
        (2, "native", "CoSimulation"),
        (2, "native", "ModelExchange"),
        (3, "native", "CoSimulation"),
        (2, "python", "CoSimulation"),
    ],
)
def test_fmu_says_it_and_fails(fmi: int, target: str, kind: str, tmp_path: pathlib.Path) -> None:
    path = mbfmu.build(balls(), tmp_path / "ball.fmu", fmi=fmi, target=target, equations="interpreted")
    log: list[str] = []
    last = 0.0
    with contextlib.suppress(FMICallException):  # FMPy ends some runs itself, with what there is
        last = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=5.0, output_interval=0.05, logger=lambda *line: log.append(str(line))
        )["time"][-1]
    assert last < accumulation(0.7)
    assert any("ever smaller have no end" in line for line in log)
