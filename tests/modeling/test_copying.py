"""Copies of assemblies: equal, independent, and what cannot be copied is refused in words."""

from __future__ import annotations

import copy
import pathlib
import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest

import mbfmu
from mbfmu.components import Body, Revolute, World, blocks
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Parameter, Start
from mbfmu.modeling import types as t
from mbfmu.modeling.registry import assemblies


class Arm(Assembly):
    """An arm whose mass follows from a parameter, by an expression and by functions."""

    rho = Parameter(t.Real, 2.0, "Mass per length")

    def __init__(self, **modifiers: Any) -> None:
        super().__init__(**modifiers)
        self.world = World()
        self.hinges = [Revolute(phi=Start(0.3, fixed=True), w=Start(0.0, fixed=True))]
        self.inner = Body(m=0.5 * self.rho, r_CM=(0.5, 0, 0))
        self.outer = Body(m=lambda body: 2 * self.inner.m, r_CM=(0.5, 0, 0))
        self.signal = blocks.RealExpression(y=lambda time: ca.sin(time))
        self.connect(self.world.frame_b, self.hinges[0].frame_a)
        self.connect(self.hinges[0].frame_b, self.inner.frame_a)
        self.connect(self.inner.frame_a, self.outer.frame_a)
        self.output(self.hinges[0].phi, "phi")
        self.output(self.signal.y)


@pytest.mark.slow
def test_a_copy_is_equal_and_independent() -> None:
    one = Arm(rho=3.0)
    other = copy.deepcopy(one)
    systems = [mbfmu.System.of(model) for model in (one, other)]
    assert systems[0].variables == systems[1].variables
    assert systems[0].connections == systems[1].connections
    starts = {v.name: v.start for v in systems[1].variables}
    assert (starts["rho"], starts["inner.m"], starts["outer.m"]) == (3.0, None, None)
    results = [mbfmu.simulate(system, 1.0) for system in systems]
    np.testing.assert_array_equal(results[0]["phi"], results[1]["phi"])
    other.modify(rho=5.0)
    other.hinges[0].phi = Start(1.0, fixed=True)
    del other.parts["signal"], other.outputs["signal.y"]
    changed = mbfmu.simulate(other, 1.0, outputs=["outer.m", "phi"])
    assert changed["outer.m"][0] == 5.0
    assert changed["phi"][0] == 1.0
    again = mbfmu.simulate(one, 1.0)
    np.testing.assert_array_equal(again["phi"], results[0]["phi"])
    assert mbfmu.simulate(one, 0.1, outputs=["outer.m"])["outer.m"][0] == 3.0


@pytest.mark.slow
def test_copies_of_parts_have_values_of_their_own() -> None:
    """Two bodies with one symbol would have one mass."""

    class Two(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.one = Body(m=1.0, r_CM=(0, 0, 0), r_0=Start((0, 0, 0), fixed=True))
            mass = self.one.m
            self.two = copy.deepcopy(self.one)
            assert self.two.part_of is self
            assert copy.deepcopy(self.one).part_of is None
            self.two.modify(m=2.0)
            assert not ca.is_equal(self.two.m, mass)
            self.output(self.one.v_0)

    shown = {v.name: v.start for v in mbfmu.System.of(Two()).variables}
    assert (shown["one.m"], shown["two.m"]) == (1.0, 2.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["engine_1b", "pendulum", "furuta_pendulum"])
def test_copies_of_the_gallery(name: str) -> None:
    one = assemblies()[name]()
    assert mbfmu.System.of(copy.deepcopy(one)).variables == mbfmu.System.of(one).variables


def test_what_cannot_be_copied_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ModelError, match=r"Arm.*cannot be pickled.*copy\.deepcopy"):
        pickle.dumps(Arm())
    with pytest.raises(ModelError, match=r"Arm.*would share its parts"):
        copy.copy(Arm())
    (tmp_path / "M.mo").write_text("model M\n  Real x(start=1, fixed=true);\nequation\n  der(x) = -x;\nend M;\n")
    with pytest.raises(ModelError, match=r"M: cannot be copied.*Modelica file; load the file again"):
        copy.deepcopy(mbfmu.load(str(tmp_path / "M.mo")))
