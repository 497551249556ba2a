"""Components tell what they are: as text, in notebooks, by help and completion."""

from __future__ import annotations

import pydoc

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Start
from mbfmu.components import Body, BodyBox, Revolute, World
from mbfmu.errors import ModelError
from mbfmu.modeling.declarations import Parameter
from mbfmu.modeling.types import Mass


class Loaded(Assembly):
    """A box whose density follows from a mass."""

    load = Parameter(Mass, 3.0, "Mass of the box")

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        self.world = World()
        self.hinge = Revolute(phi=Start(0.5, fixed=True))
        self.box = BodyBox(r=(0.5, 0, 0), width=0.1, density=lambda _: self.load / (0.5 * 0.1 * 0.1))


def test_repr_has_what_was_given() -> None:
    model = Loaded()
    assert repr(model.hinge) == "<hinge (Revolute): phi = 0.5 (fixed) rad>"
    assert repr(model.box) == "<box (BodyBox): r = (0.5, 0, 0) m, width = 0.1 m, density = 600 kg/m3>"
    assert repr(World()) == "<World>"


def test_messages_tell_the_class_where_its_name_is_another() -> None:
    titles = {"arm": "arm (Revolute)", "Arm": "Arm (Revolute)", "Revolute": "Revolute", "Zero": "Zero (Revolute)"}
    assert {name: Assembly().add(name, Revolute()).title for name in titles} == titles
    assert Revolute().title == "Revolute"


def test_values_are_numbers_through_bindings() -> None:
    model = Loaded(load=6.0)
    assert model.box.evaluated("mo") == pytest.approx(6.0)
    assert model.box.evaluated("density") == pytest.approx(1200.0)
    np.testing.assert_array_equal(model.box.evaluated("r"), [0.5, 0.0, 0.0])
    np.testing.assert_allclose(model.box.evaluated("r_CM"), [0.25, 0.0, 0.0])
    assert model.hinge.evaluated("stateSelect") == "prefer"
    with pytest.raises(ModelError, match="has no parameter 'mm'; did you mean"):
        model.box.evaluated("mm")


def test_notebooks_show_values_units_and_sentences() -> None:
    page = Loaded().box._repr_html_()
    assert "<td>density</td><td>600</td><td>kg/m3</td><td>Density of the material" in page
    assert "<td>w_0_start</td>" in page
    assert "<td>color</td>" not in page
    assert "<td>phi</td><td>0.5 (fixed)</td><td>rad</td>" in Loaded().hinge._repr_html_()


def test_what_cannot_be_told_does_not_fail() -> None:
    masses = [1.0]
    body = Body(r_CM=(0, 0, 0), m=lambda _: masses[0])
    masses.clear()
    assert "m = ..." in repr(body)
    assert "<td>m</td><td>...</td>" in body._repr_html_()


def test_help_has_sentences() -> None:
    text = pydoc.render_doc(Revolute, renderer=pydoc.plaintext)
    assert "phi\n |      Relative rotation angle from frame_a to frame_b (rad, start 0)" in text
    assert "n\n |      Axis of rotation resolved in frame_a" in text


def test_dir_is_what_users_need() -> None:
    names = dir(Revolute())
    assert {"phi", "w", "n", "frame_a", "frame_b", "evaluated", "modify"} <= set(names)
    assert not {"check_attributes", "switching_on", "axis", "support", "_values"} & set(names)
    assert "axis" in dir(Revolute(useAxisFlange=True))
    assert {"hinge", "box", "connect", "input", "output"} <= set(dir(Loaded()))


@pytest.mark.slow
def test_a_study_is_drawn_as_lines() -> None:
    found = mbfmu.sweep("pendulum", {"damper.d": [0.1, 0.2, 0.3], "body.m": [1.0, 2.0]}, ["rev.phi:final"], 0.2)
    first, second = found.plot().axes
    assert [line.get_label() for line in first.lines] == ["body.m = 1", "body.m = 2"]
    np.testing.assert_allclose(first.lines[0].get_xdata(), [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(first.lines[1].get_ydata(), found["rev.phi:final"][found["body.m"] == 2.0])
    assert len(second.lines) == 3


@pytest.mark.slow
def test_pages_of_notebooks() -> None:
    page = mbfmu.animate("pendulum", stop_time=0.1)
    assert page._repr_html_().startswith("<iframe")
