"""Bodies whose mass follows from their shape."""

from __future__ import annotations

import warnings

import pytest

from mbfmu.components import Body, BodyBox, BodyCylinder, Revolute, World
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly


@pytest.mark.parametrize("cls", [BodyBox, BodyCylinder])
@pytest.mark.parametrize(
    ("modifiers", "message"),
    [
        ({"r": (0, 0, 0)}, "r has length zero"),
        ({"r": (0.1, 0, 0), "r_shape": (0.1, 0, 0)}, "r - r_shape has length zero"),
        ({"r": (0.1, 0, 0), "length": 0.0}, "length is zero"),
    ],
)
def test_a_body_without_length_is_refused_by_name(cls, modifiers, message):
    with pytest.raises(ModelError, match=f"{cls.__name__}: {message}, and so this {cls.__name__} has no mass"):
        cls(**modifiers)


def test_a_box_about_one_frame_has_a_length_of_its_own():
    box = BodyBox(r=(0, 0, 0), length=0.2, lengthDirection=(1, 0, 0), width=0.1)
    assert box.value("length") == 0.2


class Swung(Assembly):
    """A body on a joint."""

    def __init__(self, **inertia: float) -> None:
        self.world, self.hinge, self.b = World(), Revolute(), Body(m=1.0, r_CM=(0, 0, 0), **inertia)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.b.frame_a)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inertia", "moments"),
    [
        ({"I_11": 1.0, "I_22": 2.0, "I_33": 3.0}, None),  # a plate
        ({"I_11": 1.0, "I_22": 2.0, "I_33": 3.0 + 1e-5}, "1, 2, 3"),
        ({"I_11": 3.0, "I_22": 2.0, "I_33": 1.0 - 1e-5}, "1, 2, 3"),
        ({"I_11": 1.5, "I_22": 2.0, "I_33": 2.0, "I_32": 0.7}, None),  # 1.3, 1.5, 2.7
        ({"I_11": 1.3, "I_22": 2.0, "I_33": 2.0, "I_32": 0.7}, "1.3, 1.3, 2.7"),
        ({"I_11": 2.0, "I_22": 1.3, "I_33": 2.0, "I_31": 0.7}, "1.3, 1.3, 2.7"),
        ({"I_11": 2.0, "I_22": 2.0, "I_33": 1.3, "I_21": 0.7}, "1.3, 1.3, 2.7"),
        ({"I_11": 1.0, "I_22": 1.0, "I_33": 1.0, "I_21": 1.5}, "-0.5, 1, 2.5"),
    ],
    ids=str,
)
def test_moments_of_inertia_that_no_mass_has_are_warned_of(inertia: dict[str, float], moments: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        System.of(Swung(**inertia))
    said = [str(w.message) for w in caught if "no distribution of mass" in str(w.message)]
    assert len(said) == (moments is not None)
    assert moments is None or f"moments of inertia {moments} kg.m2" in said[0]
