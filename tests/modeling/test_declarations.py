"""Declarations: what a component accepts as parameters and start values, and how it refuses the rest."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mbfmu
from mbfmu.components.blocks import BooleanValue
from mbfmu.components.world import World
from mbfmu.dynamics.reading.equation_context import Scope
from mbfmu.dynamics.reading.events import Events
from mbfmu.dynamics.showing.drawing import Drawing
from mbfmu.errors import ModelError
from mbfmu.modeling import (
    Assembly,
    Component,
    Final,
    Frame_a,
    Parameter,
    RealInput,
    RealOutput,
    Start,
    State,
    Variable,
    required,
)
from mbfmu.modeling import types as t
from mbfmu.modeling.component import VOCABULARY


class Gadget(Component):
    """One parameter of each kind."""

    frame_a = Frame_a("Where it sits")
    u = RealInput("Drive", when=lambda self: self.driven)

    m = Parameter(t.Mass, required, "Mass", min=0)
    gain = Parameter(t.Real, 2.0, "Gain", min=-1.0, max=5.0, tunable=True)
    r = Parameter(t.Position, (1, 0, 0), "Offset", shape=3)
    n = Parameter(t.Axis, (0, 0, 1), "Axis", shape=3)
    values = Parameter(t.Real, 0.0, "As many as given", shape=None)
    driven = Parameter(t.Boolean, False, "True with an input")
    order = Parameter(t.RotationSequence, (1, 2, 3), "Sequence", shape=3)
    count = Parameter(t.Integer, 2, "Number of things", min=1)
    kind = Parameter(t.GravityTypes, "UniformGravity", "Kind of gravity")
    label = Parameter(t.String, "none", "Name")
    table = Parameter(t.Real, ((1, 2), (3, 4)), "Matrix", shape=(2, 2))
    double = Final(t.Mass, lambda self: 2 * self.m, "Twice the mass")
    width = Parameter(t.Length, lambda self: self.r[0] / 4, "Follows r")
    x = State(t.Real, "State", start=1.0)
    s = Variable(t.Position, "Result", shape=3)


class Holder(Component):
    """A composite that passes its mass on."""

    m = Parameter(t.Mass, 3.0, "Mass")
    many = Parameter(t.Integer, 1, "Number of inner parts", structural=True)

    def build(self) -> None:
        for i in range(self.many):
            self.add(f"inner{i + 1}", Gadget(m=self.m))


@pytest.mark.parametrize(
    ("modifiers", "expected"),
    [
        ({"gain": 7}, r"Gadget\.gain = 7: must be <= 5"),
        ({"gain": -2}, r"Gadget\.gain = -2: must be >= -1"),
        ({"m": -1.0}, r"Gadget\.m = -1\.0: must be >= 0 kg"),
        ({"gain": "3 kg"}, r"Gadget\.gain = '3 kg': expected a number"),
        ({"m": "1 kg"}, r"Gadget\.m = '1 kg': expected a number in kg"),
        ({"gain": None}, r"Gadget\.gain = None: expected a number"),
        ({"gain": "3"}, r"Gadget\.gain = '3': expected a number"),
        ({"gain": True}, "expected a number"),
        ({"r": ("1", "0", "0")}, "expected 3 numbers in m"),
        ({"gain": [1, 2]}, r"expected a number, got shape \(2,\)"),
        ({"r": 1.0}, r"Gadget\.r = 1\.0: expected 3 numbers in m, got shape \(\)"),
        ({"r": (1, 2)}, "expected 3 numbers in m"),
        ({"table": [1, 2, 3, 4]}, "expected a 2 x 2 matrix"),
        ({"r": (1, math.nan, 0)}, "every value must be finite"),
        ({"m": math.inf}, "every value must be finite"),
        ({"n": (0, 0, 0)}, "an axis needs a direction; give a vector that is not zero"),
        ({"driven": 1}, "expected true or false"),
        ({"driven": "yes"}, "expected true or false"),
        ({"label": 3}, "expected a string"),
        ({"kind": "Round"}, "expected one of NoGravity, UniformGravity, PointGravity"),
        ({"count": 1.5}, "expected whole numbers"),
        ({"count": 0}, r"must be >= 1"),
        ({"order": (1, 2, 4)}, r"must be <= 3"),
        ({"n": Start((1, 0, 0), fixed=False)}, "a structural parameter cannot be free; give it a value"),
        ({"double": 3.0}, r"Gadget\.double: this parameter is computed by Gadget; set those that it depends on"),
        ({"gian": 3.0}, r"Gadget has no parameter 'gian'; did you mean gain"),
        ({"x": 2.0}, r"its start value is given as Start\(value, fixed=\.\.\.\)"),
        ({"x": {"begin": 2.0}}, "start value is given as"),
    ],
)
def test_wrong_modifiers_name_component_value_and_remedy(modifiers: dict[str, Any], expected: str) -> None:
    with pytest.raises(ModelError, match=expected):
        Gadget(**{"m": 1.0, **modifiers})


def test_a_required_parameter_is_asked_for() -> None:
    with pytest.raises(ModelError, match=r"Gadget needs a value for m \(Mass\)"):
        Gadget()


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("gain", 3, 3.0),
        ("gain", np.float32(0.5), 0.5),
        ("count", 4.0, 4),
        ("order", [3, 1, 3], (3, 1, 3)),
        ("kind", "Modelica.Mechanics.MultiBody.Types.GravityTypes.NoGravity", "NoGravity"),
        ("driven", np.bool_(True), True),
        ("label", "rod", "rod"),
    ],
)
def test_values_are_kept_in_one_form(name: str, given: Any, kept: Any) -> None:
    value = Gadget(m=1.0, **{name: given}).value(name)
    assert value == kept
    assert type(value) is type(kept)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5))
def test_a_parameter_of_open_shape_takes_that_of_its_value(values: list[float]) -> None:
    gadget = Gadget(m=1.0, values=values)
    assert gadget.shape_of("values") == (len(values),)
    np.testing.assert_array_equal(gadget.value("values"), values)


def test_a_value_given_is_not_changed_with_the_callers_array() -> None:
    r = np.array([1.0, 2.0, 3.0])
    gadget = Gadget(m=1.0, r=r)
    r[0] = 9.0
    assert gadget.value("r")[0] == 1.0


@pytest.mark.parametrize("free", [Start(4.0, fixed=False), {"start": 4.0, "fixed": False}])
def test_a_free_parameter_keeps_its_guess(free: Any) -> None:
    assert Gadget(m=free).value("m") == Start(4.0, False)


@pytest.mark.parametrize("number", [Start(4.0), {"start": 4.0}])
def test_a_start_without_fixed_is_the_parameters_value(number: Any) -> None:
    assert Gadget(m=number).value("m") == 4.0


def test_start_and_fixed_are_kept_apart() -> None:
    gadget = Gadget(m=1.0)
    assert gadget.start("x") == (1.0, False, "default")
    gadget.modify(x=Start(fixed=True))
    assert gadget.start("x")[:2] == (1.0, True)
    gadget.modify(x={"start": 5.0})
    assert gadget.start("x")[:2] == (5.0, True)
    assert gadget.is_given("x")
    assert not gadget.is_given("s")


def test_attributes_set_what_modifiers_set() -> None:
    gadget = Gadget(m=1.0)
    gadget.gain = 4
    assert gadget.value("gain") == 4.0
    with pytest.raises(ModelError, match=r"gain = 40: must be <= 5"):
        gadget.gain = 40


def test_conditional_connectors_exist_where_their_condition_holds() -> None:
    assert "u" not in Gadget(m=1.0).ports()
    assert "u" in Gadget(m=1.0, driven=True).ports()


def test_modifiers_reach_the_parts_of_a_composite() -> None:
    holder = Holder(many=2, inner2={"gain": 3.0, "x": {"start": 0.5, "fixed": True}})
    assert holder.inner2.value("gain") == 3.0
    assert holder.inner2.start("x")[:2] == (0.5, True)
    assert holder.inner1.value("gain") == 2.0
    with pytest.raises(ModelError, match=r"inner2\.gain = 30: must be <= 5"):
        holder.modify(inner2={"gain": 30})
    with pytest.raises(ModelError, match=r"Holder has no parameter 'inner3'; did you mean inner"):
        holder.modify(inner3={"gain": 3.0})


def test_a_structural_change_builds_a_composite_again() -> None:
    holder = Holder(many=1)
    assert list(holder.parts) == ["inner1"]
    holder.many = 3
    assert list(holder.parts) == ["inner1", "inner2", "inner3"]


def test_subclasses_add_to_and_override_declarations() -> None:
    class Heavy(Gadget):
        m = Parameter(t.Mass, 100.0, "Mass")
        extra = Parameter(t.Real, 1.0, "One more")

    heavy = Heavy()
    assert heavy.value("m") == 100.0
    assert heavy.value("extra") == 1.0
    assert list(Heavy.declarations)[: len(Gadget.declarations)] == list(Gadget.declarations)


def test_what_a_property_lacks_is_told_and_not_the_property() -> None:
    class Halved(Gadget):
        @property
        def half(self) -> Any:
            return self.gains / 2

        def equations(self) -> None:
            self.half  # noqa: B018

    with pytest.raises(AttributeError, match=r"Halved has no 'gains'; did you mean gain\?"):
        Halved(m=1).half  # noqa: B018
    assembly = type("M", (Assembly,), {})()
    assembly.halved = Halved(m=1)
    with pytest.raises(ModelError, match=r"halved \(Halved\) has no 'gains'"):
        mbfmu.System.of(assembly)


def test_unknown_attributes_come_with_a_hint() -> None:
    with pytest.raises(AttributeError, match=r"Gadget has no 'fram_a'; did you mean frame_a\?"):
        _ = Gadget(m=1.0).fram_a


def test_signature_is_what_the_class_declares() -> None:
    signature = inspect.signature(Gadget)
    assert "m" in signature.parameters
    assert signature.parameters["m"].default is inspect.Parameter.empty
    assert signature.parameters["gain"].default == 2.0
    assert str(signature).startswith("(*, m, gain=2.0, r=(1, 0, 0)")
    assert "u" not in signature.parameters  # a connector
    own_first = list(inspect.signature(Special).parameters)
    assert own_first[:2] == ["gain", "extra"]


class Special(Gadget):
    """A subclass with a default of its own and a further parameter."""

    gain = Parameter(t.Real, 3.0, "Gain")
    extra = Parameter(t.Real, 0.0, "Another one")


def test_words_of_equations_are_those_of_the_scope() -> None:
    words = {name for kind in (Events, Scope, Drawing) for name in vars(kind) if not name.startswith("_")}
    assert words | {"der"} == VOCABULARY


@pytest.mark.parametrize("name", sorted(VOCABULARY))
def test_words_of_equations_cannot_be_declared(name: str) -> None:
    """They would be ignored: self.time is the time, whatever a parameter of this name is."""

    def equations(scope: Any) -> None:
        scope.y = scope.u

    words = {"u": RealInput("Input"), "y": RealOutput("Output"), "equations": equations}
    for value in (Parameter(t.Time, 3.0, "Mine"), Variable(t.Time, "Mine"), RealInput("Mine"), lambda self: 3.0):
        with pytest.raises(ModelError, match=f"Block: '{name}' is a word of equations, self.{name}"):
            type("Block", (Component,), {**words, name: value})
    component = type("Block", (Component,), words)()
    for value in (3.0, RealInput("Mine")):
        with pytest.raises(ModelError, match=f"Block: '{name}' is a word of equations.*cannot be assigned"):
            setattr(component, name, value)
    for value in (Gadget(m=1), [Gadget(m=1)]):
        with pytest.raises(ModelError, match=f"Block: '{name}' is a word of equations.*cannot be assigned"):
            setattr(component, name, value)
    with pytest.raises(ModelError, match=f"Block: '{name}' is a word of equations.*cannot be assigned"):
        component.add(name, Gadget(m=1))
    inherited = type("Partial", (Component,), {name: Parameter(t.Time, 3.0, "Mine")})
    with pytest.raises(ModelError, match=f"'{name}' is a word of equations"):
        type("Block", (inherited,), words)


def test_parts_may_be_words_where_there_are_no_equations_and_the_world_is_what_equations_see() -> None:
    plain = type("Plain", (Assembly,), {})()
    plain.switch = Gadget(m=1)
    assert plain.parts["switch"].path == "switch"
    spoken = type("Spoken", (Assembly,), {"equations": lambda scope: None})()
    spoken.world = World()
    assert list(spoken.parts) == ["world"]
    with pytest.raises(ModelError, match="'world' is a word of equations"):
        type("Spoken", (Assembly,), {"equations": lambda scope: None})().world = Gadget(m=1)


@pytest.mark.parametrize("name", ["start_time", "tolerance", "interval", "solver", "inputs", "output", "notes", "name"])
def test_what_every_assembly_has_cannot_be_declared(name: str) -> None:
    with pytest.raises(ModelError, match=f"M: '{name}' is part of what every assembly has"):
        type("M", (Assembly,), {name: Parameter(t.Real, 3.0, "Mine")})


def test_parts_may_have_names_like_words_of_equations() -> None:
    class M(Assembly):
        start_time = 0.5

        def __init__(self) -> None:
            self.switch = Holder()

    assert M().switch.path == "switch"


def test_class_that_has_a_word_as_modelica_has_it_reads_what_it_declares() -> None:
    for value in (True, False):

        class M(Assembly):
            def __init__(self, value: bool = value) -> None:
                self.shown = BooleanValue(use_activePort=False, active=value)

        assert mbfmu.simulate(M(), 0.1)["shown.showActive"][-1] == value
