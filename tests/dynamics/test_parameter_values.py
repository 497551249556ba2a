"""Parameters of a system: what follows from what, and what setting one does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mbfmu
from mbfmu.components import BodyBox, BodyCylinder, Revolute, World
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Component, Parameter, Start
from mbfmu.modeling import types as t


class Swing(Assembly):
    """A steel bar of some shape on a hinge."""

    def __init__(self, bar: Component) -> None:
        self.world = World()
        self.hinge = Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.bar = bar
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bar.frame_a)


@pytest.fixture(scope="module")
def box() -> mbfmu.System:
    return mbfmu.System.of(Swing(BodyBox(r=(0.5, 0, 0), width=0.06)))


def values(system: mbfmu.System, *names: str, **start_values: float) -> tuple[float, ...]:
    result = mbfmu.simulate(system, 1e-9, outputs=names, start_values=start_values)
    return tuple(float(result[name][0]) for name in names)


@pytest.mark.slow
@given(density=st.floats(1.0, 2e4), width=st.floats(0.01, 0.2), length=st.floats(0.1, 2.0))
@settings(max_examples=20)
def test_derived_parameters_follow(box: mbfmu.System, density: float, width: float, length: float) -> None:
    """Mass and inertia of a box by hand, for whatever an importer sets before the start; height follows width."""
    m = density * length * width**2
    start_values = {"bar.density": density, "bar.width": width, "bar.r[1]": length}
    found = values(
        box, "bar.m", "bar.height", "bar.I[1,1]", "bar.I[3,3]", "bar.body.r_CM[1]", "hinge.a", **start_values
    )
    I_33 = m * (length**2 + width**2) / 12
    a = -9.80665 * m * length / 2 / (I_33 + m * (length / 2) ** 2)
    assert found == pytest.approx((m, width, m * width**2 / 6, I_33, length / 2, a), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "start_values",
    [
        {"bar.density": 1000.0},
        {"bar.r[1]": 0.8},
        {"bar.width": 0.1},
        {"hinge.phi": 0.4},
        {"hinge.w": -2.0},
        {"world.g": 3.7},
        {"hinge.phi_offset": 0.3},
    ],
)
def test_setting_equals_building_with_that_value(box: mbfmu.System, start_values: dict[str, float]) -> None:
    assembly = Swing(BodyBox(r=(0.5, 0, 0), width=0.06))
    (name, value), *_ = start_values.items()
    path, _, parameter = name.partition(".")
    if parameter == "r[1]":
        assembly.bar.r = (value, 0, 0)
    elif parameter in ("phi", "w"):
        assembly.hinge.modify(**{parameter: Start(value)})
    else:
        assembly.parts[path].modify(**{parameter: value})
    rebuilt = mbfmu.simulate(assembly, 1.0, tolerance=1e-9)
    was_set = mbfmu.simulate(box, 1.0, tolerance=1e-9, start_values=start_values)
    untouched = mbfmu.simulate(box, 1.0, tolerance=1e-9)
    for result in ("hinge.phi", "hinge.w", "bar.frame_b.r_0[2]", "hinge.frame_a.f[1]"):
        np.testing.assert_allclose(was_set[result], rebuilt[result], atol=1e-7, err_msg=result)
    assert abs(was_set["hinge.frame_a.f[1]"] - untouched["hinge.frame_a.f[1]"]).max() > 1e-3


def test_a_hollow_cylinder() -> None:
    system = mbfmu.System.of(Swing(BodyCylinder(r=(0, 0.5, 0), diameter=0.2, innerDiameter=0.1, density=2000.0)))
    m = 2000 * 0.5 * math.pi * (0.1**2 - 0.05**2)
    along = m * (0.1**2 + 0.05**2) / 2
    across = m * (3 * (0.1**2 + 0.05**2) + 0.5**2) / 12
    assert values(system, "bar.m", "bar.I[2,2]", "bar.I[1,1]", "bar.I[1,2]") == pytest.approx(
        (m, along, across, 0), abs=1e-12
    )


def test_what_cannot_be_set_says_why(box: mbfmu.System) -> None:
    for name, expected in (
        ("bar.m", r"bar\.m"),
        ("hinge.n[1]", r"hinge\.n\[1\].*"),
        ("bar.densty", r"densty.*bar\.density"),
        ("bar.height", r"bar\.height' cannot be set: it is calculated"),
        ("hinge.frame_a.f[1]", r"hinge\.frame_a\.f\[1\]"),
    ):
        with pytest.raises(ModelError, match=expected):
            mbfmu.simulate(box, 0.1, start_values={name: 1.0})


def test_passed_on_parameters_are_one() -> None:
    """A composite's parameter and its part's are the same number, set in one place only."""
    system = mbfmu.System.of(Swing(BodyBox(r=(0.5, 0, 0), width=0.06)))
    by_name = {v.name: v for v in system.variables}
    outer, inner = by_name["bar.r[1]"], by_name["bar.frameTranslation.r[1]"]
    assert (outer.store, outer.index) == (inner.store, inner.index)
    assert (outer.causality, inner.causality) == ("parameter", "calculatedParameter")
    assert inner.start_index is None


class Circular(Component):
    """Two parameters that follow each other."""

    a = Parameter(t.Real, lambda self: self.b + 1, "Follows b")
    b = Parameter(t.Real, lambda self: 2 * self.a, "Follows a")

    def equations(self) -> None:
        """Nothing to say."""


def test_parameters_that_follow_each_other_are_refused() -> None:
    class Holder(Assembly):
        def __init__(self) -> None:
            self.part = Circular()

    with pytest.raises(ModelError, match=r"part\.a and part\.b: depend on each other"):
        mbfmu.System.of(Holder())


class _Scaled(BodyBox):
    """A box whose bound parameters ask for numbers, a choice, each other, and its place."""

    doubled = Parameter(t.Boolean, False, "Is it twice as much?")
    share = Parameter(t.Dimensionless, 1.0, "Share")
    scaled = Parameter(t.Dimensionless, lambda self: self.share * (2 if self.doubled else 3), "Follows from a choice")
    again = Parameter(t.Dimensionless, lambda self: self.scaled + self.share, "Follows from what follows")
    placed = Parameter(
        t.Dimensionless, lambda self: self.share + len(self.path), "Follows from what is no parameter, too"
    )


def test_bindings_of_a_class_are_worked_out_for_each_component() -> None:
    """Whatever components of a class share, each has its own numbers, choices and name."""

    class Three(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.a = _Scaled(r=(1, 0, 0), share=5.0)
            self.b = _Scaled(r=(1, 0, 0), share=7.0, doubled=True)
            self.longer = _Scaled(r=(1, 0, 0), share=11.0)
            for box in (self.a, self.b, self.longer):
                self.connect(self.world.frame_b, box.frame_a)

    names = [f"{box}.{name}" for box in ("a", "b", "longer") for name in ("scaled", "again", "placed")]
    found = values(mbfmu.System.of(Three()), *names, **{"longer.share": 13.0})
    assert found == (15.0, 20.0, 6.0, 14.0, 21.0, 8.0, 39.0, 52.0, 19.0)
