"""What components, connectors and inputs cannot be told: each is refused where it is written, by name."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

from mbfmu import Assembly, System, components
from mbfmu.components import Body, Revolute, World, blocks, rotational
from mbfmu.errors import ModelError
from mbfmu.modeling import Start, registry
from mbfmu.modeling.evaluation import evaluated


class Drive(Assembly):
    """A gain of two signals in front of a torque, and a hinge."""

    def __init__(self) -> None:
        self.world, self.hinge, self.body = World(), Revolute(useAxisFlange=True), Body(m=1.0, r_CM=(0.5, 0, 0))
        self.both = blocks.Multiplex(n=2)
        self.switch = blocks.LogicalSwitch()
        self.torque = rotational.Torque()
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.connect(self.torque.flange, self.hinge.axis)


REFUSED: dict[str, tuple[Callable[[Drive], Any], type[Exception], str]] = {
    "an element of a flange": (lambda d: d.hinge.axis[0], TypeError, r"hinge\.axis>: only signals have elements"),
    "elements of a flange": (lambda d: list(d.hinge.axis), TypeError, r"hinge\.axis>: only signals have elements"),
    "an element by name": (
        lambda d: d.both.u["a"], ModelError, r"both\.u\['a'\]: an index is a whole number, counted from 0"
    ),
    "an element by truth": (lambda d: d.both.u[True], ModelError, r"both\.u\[True\]: an index is a whole number"),
    "an element too far": (lambda d: d.both.u[2], ModelError, r"both\.u: has 2 elements, 0 to 1; there is no \[2\]"),
    "an element before the first": (lambda d: d.both.u[-3], ModelError, r"both\.u: .* there is no \[-3\]"),
    "a slice of nothing": (lambda d: d.both.u[2:], ModelError, r"both\.u: has 2 elements, none in this slice"),
    "a variable of a flange": (
        lambda d: d.hinge.axis.psi, AttributeError, r"connector hinge\.axis has no variable psi; it has phi, tau"
    ),
    "an element of a variable from behind": (
        lambda d: d.body.frame_a.r_0[-1], ModelError, r"body\.frame_a\.r_0\[-1\]: an index is a whole number, .*front"
    ),
    "masked elements": (
        lambda d: d.body.modify(r_CM=np.ma.array([1.0, 0, 0], mask=[0, 1, 0])),
        ModelError, r"(?s)body\.r_CM = .*: has masked elements; give all of them",
    ),
    "a whole number of 33 bits": (
        lambda d: setattr(d, "counter", blocks.IntegerConstant(k=2**31)),
        ModelError, r"IntegerConstant\.k = 2147483648: an integer of an FMU has 32 bits",
    ),
    "bounds of a truth": (
        lambda d: d.input(d.switch.u1, "u", min=0.0) or System.of(d),
        ModelError, r"input u: is Boolean, which has no bounds and no unit; leave them out",
    ),
    "bounds in the wrong order": (
        lambda d: d.input(d.torque.tau, "u", min=1.0, max=-1.0) or System.of(d),
        ModelError, r"input u: its min 1\.0 is above its max -1\.0; exchange them",
    ),
    "three starts of two elements": (
        lambda d: d.input(d.both.u, "u", start=[1.0, 2.0, 3.0]) or System.of(d),
        ModelError, r"input u: its start value \[1\.0, 2\.0, 3\.0\] has 3 numbers, expected 2",
    ),
    "a time of two numbers": (
        lambda d: setattr(d, "stop_time", [1.0, 2.0]), ModelError, r"stop_time = \[1\.0, 2\.0\]: give one number"
    ),
    "a list with a number in it": (
        lambda d: setattr(d, "parts_", [Body(m=1.0, r_CM=(0, 0, 0)), 3.0]),
        ModelError, r"parts_: a list of components has 3\.0 in it; leave it out",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_told_is_refused_by_name(what: str) -> None:
    tell, kind, words = REFUSED[what]
    with pytest.raises(kind, match=words):
        tell(Drive())


def test_elements_of_a_signal_are_those_that_are_asked_for() -> None:
    """From behind, too, and one after the other."""
    signal = Drive().both.u
    assert [one.elements for one in (signal[0], signal[-1], signal[0:2], signal[::-1])] == [(0,), (1,), (0, 1), (1, 0)]
    assert [one.elements for one in signal] == [(0,), (1,)]
    assert repr(signal) == "<RealInput both.u>"


def test_a_copy_asks_its_own_parts() -> None:
    """Bindings that are methods, partial functions or kept in arrays, too."""

    class Twice(Assembly):
        def __init__(self) -> None:
            self.one = Body(m=2.0, r_CM=(0, 0, 0))
            self.other = Body(m=self.double, r_CM=(0, 0, 0))
            self.third = Body(m=functools.partial(weigh, self.one, by=3.0), r_CM=(0, 0, 0))
            self.kept = np.array([self.one, None], dtype=object)

        def double(self, _: Any) -> Any:
            return 2 * self.one.value("m")

    def weigh(part: Body, _: Any, by: float) -> Any:
        return by * part.value("m")

    made = Twice()
    copied = copy.deepcopy(made)
    copied.one.m = 5.0
    assert [part.value("m") for part in (made.other, made.third, copied.other, copied.third)] == [4.0, 6.0, 10.0, 15.0]
    assert copied.kept[0] is copied.one


def test_values_that_are_not_known_yet_are_refused_by_what_they_need() -> None:
    """A value that initialisation finds, and a symbol of nobody."""
    foreign = ca.SX.sym("foreign")

    class Three(Assembly):
        def __init__(self) -> None:
            self.open = rotational.Inertia(J=Start(1.0, fixed=False))
            self.bound = rotational.Inertia(J=2 * self.open.J)
            self.odd = rotational.Inertia(J=2 * foreign)
            self.known = rotational.Inertia(J=3.0)
            self.triple = rotational.Inertia(J=3 * self.known.J + 1)

    made = Three()
    assert evaluated(made.triple, "J") == 10.0
    with pytest.raises(ModelError, match=r"bound .*: depends on open\.J, which initialisation finds"):
        evaluated(made.bound, "J")
    with pytest.raises(
        ModelError, match=r"odd .*: depends on foreign, which is no parameter of it or of what it is in"
    ):
        evaluated(made.odd, "J")


class Entry:
    """An entry point that names something else than it should."""

    name, value = "odd", "somewhere:thing"

    def __init__(self, found: Any) -> None:
        self.found = found

    def load(self) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def test_entry_points_of_other_packages_are_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = registry._Gallery([Entry(Body)])
    with pytest.raises(ModelError, match="entry point odd = somewhere:thing: must name an Assembly class"):
        gallery["odd"]
    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry(Body)])
    registry.component_classes.cache_clear()
    try:
        with pytest.raises(ModelError, match="entry point odd = somewhere:thing: must name a module with component"):
            registry.component_classes()
        missing = ModuleNotFoundError("No module named 'somewhere'", name="somewhere")
        monkeypatch.setattr(registry, "entry_points", lambda group: [Entry(missing)])
        with pytest.raises(ModelError, match=r"odd = somewhere:thing: No module.*reinstall the package"):
            registry.component_classes()
        twice = types.ModuleType("twice")
        twice.__dict__.update(__all__=["Body"], Body=type("Body", (Body,), {"__module__": "twice"}))
        monkeypatch.setattr(registry, "entry_points", lambda group: [Entry(components), Entry(twice)])
        with pytest.raises(
            ModelError, match=r"Parts\.Body: is both .*\.Body and twice\.Body; give one of them another"
        ):
            registry.component_classes()
        monkeypatch.setattr(registry, "entry_points", lambda group: [Entry(components), Entry(components)])
        assert registry.component_classes()["MultiBody.Parts.Body"] is Body
        registry.component_classes.cache_clear()
        inner = ModuleNotFoundError("No module named 'else'", name="else")
        monkeypatch.setattr(registry, "entry_points", lambda group: [Entry(inner)])
        with pytest.raises(ModuleNotFoundError, match="else"):  # what it needs itself, with its traceback
            registry.component_classes()
    finally:
        monkeypatch.undo()
        registry.component_classes.cache_clear()
