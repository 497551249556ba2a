"""What sliders of live pages span."""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu.animation import efforts_of
from mbfmu.errors import SimulationError
from mbfmu.fmi.foreign import Foreign
from mbfmu.fmi.variables import Scalar
from mbfmu.scene.ranges import efforts, range_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"start": 1.0, "least": -2.0, "greatest": 3.0}, (-2.0, 3.0)),
        ({"start": 0.0, "unit": "rad"}, (-math.pi, math.pi)),
        ({"start": 0.0, "unit": "deg"}, (-180.0, 180.0)),
        ({"start": 0.0, "unit": "mm"}, (-1000.0, 1000.0)),
        ({"start": 0.0, "unit": "N", "effort": 6e5}, (-6e5, 6e5)),
        ({"start": 5.0, "unit": "kg", "is_signed": False}, (0.0, 10.0)),
        ({"start": -5.0, "unit": "1", "is_signed": False}, (-10.0, 0.0)),
        ({"start": 0.0, "least": 0.0, "unit": "m"}, (0.0, 1.0)),
        ({"start": 9.0, "least": 20.0, "unit": "kg"}, (20.0, 56.0)),
        ({"start": 0.0}, (-1.0, 1.0)),
        ({"start": 0.0, "nominal": 300.0}, (-300.0, 300.0)),
        ({"start": -3.0, "nominal": 4.0, "unit": "m/s"}, (-6.0, 6.0)),
        ({"start": 0.0, "greatest": -20.0, "unit": "rad/s"}, (-20.0 - 8 * math.pi, -20.0)),
        ({"start": 1.0, "least": 2.0, "greatest": 2.0}, (2.0, 6.0)),
        ({"start": 7.0, "effort": 5.0, "unit": "N"}, (-7.0, 7.0)),
    ],
)
def test_range(given: dict[str, Any], expected: tuple[float, float]) -> None:
    assert range_of(**given) == pytest.approx(expected)


def test_what_efforts_take_is_asked_of_the_rates_that_answer_most() -> None:
    """Twice what holds, or 2 rad/s2, over what 1 gives: 2 * 9 / 4 is 4.5, and 2 / 0.025 is 80; rounded up both."""
    units = ("rad", "rad/s2", "kg", "m/s2")
    inputs = [effort("lift", "N", "3"), effort("turn", "N.m"), effort("idle", "N"), effort("valve", "kg/s")]
    asked: list[dict[str, float]] = []

    def rates(given: Any) -> np.ndarray:
        asked.append(dict(given))
        lift, turn = given.get("lift", 3.0) - 3.0, given.get("turn", 0.0)
        return np.array([50.0 * turn, 0.5 + 0.025 * turn, 90.0 * lift, -9.0 + 4.0 * lift])

    assert efforts(inputs, units, rates) == {"lift": 5.0, "turn": 100.0}
    assert asked == [{}, {"lift": 4.0}, {"turn": 1.0}, {"idle": 1.0}]
    assert efforts(inputs[3:], units, rates) == {}
    assert efforts(inputs, ("rad", "m/s", "kg", "m"), rates) == {}
    assert len(asked) == 4

    def fails(given: Any) -> np.ndarray:
        if "turn" in given:
            raise SimulationError("turn: no start")
        return rates(given)

    assert efforts(inputs, units, fails) == {"lift": 5.0}
    assert efforts(inputs[:1], units, lambda given: rates(given) * (math.nan if given else 1.0)) == {}


def effort(name: str, unit: str, start: str | None = None) -> Scalar:
    return Scalar(name, types.SimpleNamespace(unit=unit, declaredType=None), 0, start)


@pytest.mark.slow
def test_a_force_moves_what_it_acts_on(tmp_path: Any) -> None:
    """A torque about a level jib, 2 t at 10 m: it takes m g l = 196 kN.m to hold it, the range is twice that."""
    from mbfmu.components import World, rotational
    from mbfmu.components.joints import Revolute
    from mbfmu.components.parts import Body

    class Jib(mbfmu.Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.hinge = Revolute(useAxisFlange=True, phi=mbfmu.Start(0.0, fixed=True), w=mbfmu.Start(0.0, fixed=True))
            self.load = Body(r_CM=(10.0, 0, 0), m=2000.0)
            self.winch = rotational.Torque()
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.load.frame_a)
            self.connect(self.winch.flange, self.hinge.axis)
            self.input(self.winch.tau, "torque")

    fmu = Foreign(mbfmu.build(Jib(), tmp_path / "jib.fmu", equations="interpreted"))
    assert efforts_of(fmu) == {"torque": 500_000.0}
