"""What sliders of live pages span."""

from __future__ import annotations

import math
from typing import Any

import pytest

import mbfmu
from mbfmu.animation import efforts_of
from mbfmu.fmi.foreign import Foreign
from mbfmu.scene.ranges import range_of


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
    ],
)
def test_range(given: dict[str, Any], expected: tuple[float, float]) -> None:
    assert range_of(**given) == pytest.approx(expected)


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
