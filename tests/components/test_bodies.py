"""Bodies whose mass follows from their shape."""

from __future__ import annotations

import pytest

from mbfmu.components import BodyBox, BodyCylinder
from mbfmu.errors import ModelError


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
