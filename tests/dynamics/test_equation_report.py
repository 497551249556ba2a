"""What is told of an equation graph: kinds, blocks, what is torn and iterated, what is sought and what gives it."""

from __future__ import annotations

import inspect

import casadi as ca
import pytest

from mbfmu.components import blocks, electrical, rotational
from mbfmu.dynamics.overview import equation_report
from mbfmu.dynamics.structure import quantities
from mbfmu.dynamics.structure.report import KINDS, BlockEntry, Entry, EquationReport
from mbfmu.modeling import Assembly, Component, RealInput, RealOutput
from mbfmu.modeling.formulas import Quantity
from mbfmu.sources import load


class Cosine(Component):
    """y = cos(u)."""

    u, y = RealInput("Input"), RealOutput("Output")

    def equations(self) -> None:
        self.y = ca.cos(self.u)


class Loop(Assembly):
    """Two loops of signals, y = s + 0.9 cos(y) and z = s + z / 2, and a divider of voltages."""

    def __init__(self) -> None:
        self.s = blocks.Sine(f=1.0)
        self.sum, self.cos, self.gain = blocks.Add(k2=0.9), Cosine(), blocks.Gain(k=0.5)
        self.linear = blocks.Add()
        self.connect(self.s.y, self.sum.u1)
        self.connect(self.cos.y, self.sum.u2)
        self.connect(self.sum.y, self.cos.u)
        self.connect(self.s.y, self.linear.u1)
        self.connect(self.gain.y, self.linear.u2)
        self.connect(self.linear.y, self.gain.u)
        self.source, self.ground = electrical.ConstantVoltage(V=1.0), electrical.Ground()
        self.upper, self.lower = electrical.Resistor(R=1.0), electrical.Resistor(R=2.0)
        self.connect(self.source.p, self.upper.p)
        self.connect(self.upper.n, self.lower.p)
        self.connect(self.lower.n, self.source.n)
        self.connect(self.source.n, self.ground.p)


def test_every_kind_of_quantity_has_a_name() -> None:
    found = [
        cls
        for _, cls in inspect.getmembers(quantities, inspect.isclass)
        if issubclass(cls, Quantity) and cls not in (Quantity, quantities.Known)
    ]
    assert len(found) > 15
    assert set(found) == set(KINDS)


@pytest.mark.slow
def test_blocks_are_lower_triangular_and_hold_every_quantity_once() -> None:
    for assembly in (Loop(), load("motor_drive"), load("engine_v6")):
        found = equation_report(assembly)
        numbers = [i for block in found.blocks for i in block.numbers]
        assert numbers == list(range(len(found.quantities)))
        for block in found.blocks:
            for i in block.numbers:
                assert all(j < block.first + block.size for j in found.quantities[i].needs), found.quantities[i]
        assert sum(found.kinds.values()) == len(found.quantities)
        assert sum(size * count for size, count in found.sizes.items()) == len(found.quantities)


def test_loops_are_told_with_what_is_torn_and_how_they_are_solved() -> None:
    found = equation_report(Loop())
    by_name = {name: block for block in found.loops for name in found.names(block.numbers)}
    assert by_name["sum.y"].solved == "iterated"
    assert by_name["cos.y"] is by_name["sum.y"]
    assert by_name["sum.y"].iterated in {("sum.y",), ("cos.y",)}
    assert found.torn(by_name["sum.y"]) == list(by_name["sum.y"].iterated)
    assert by_name["gain.y"] is by_name["linear.y"] is not by_name["sum.y"]
    assert (by_name["gain.y"].solved, by_name["gain.y"].torn) == ("linear", 1)


def test_what_is_sought_is_told_with_the_equation_that_gives_it() -> None:
    """A source between a resistor and ground: its relation gives the potential, the balance there its current."""
    found = equation_report(Loop())
    sought = dict(found.sought)
    assert sought["potential of source.p"] == "relation of source"
    assert sorted(sought.values()) == sorted(set(sought.values()))
    kinds = {entry.name: (entry.kind, entry.is_sought) for entry in found.quantities}
    assert kinds["potential of source.p"] == ("potentials", True)
    assert {name for name, (_, is_sought) in kinds.items() if is_sought} == set(sought)


def test_forces_and_ratios_go_by_the_names_of_components() -> None:
    class Geared(Assembly):
        """Two inertias with a gear between."""

        def __init__(self) -> None:
            self.a, self.gear, self.b = (
                rotational.Inertia(J=1.0),
                rotational.IdealGear(ratio=3.0),
                rotational.Inertia(J=2.0),
            )
            self.connect(self.a.flange_b, self.gear.flange_a)
            self.connect(self.gear.flange_b, self.b.flange_a)

    names = {entry.name for entry in equation_report(Geared()).quantities}
    parts = {name for name in names if " of " in name}
    assert parts == {f"{what} of {part}" for what in ("force", "ratio") for part in ("a", "gear", "b")}


def test_equations_of_motion_are_counted() -> None:
    found = equation_report(load("pendulum"))
    assert (found.balances, found.constraints, found.kinds["accelerations"]) == (1, 0, 1)
    assert found.loops == []


def test_entries_are_counted_from_the_first_quantity_on() -> None:
    entries = Entry("a", "assignments", (1, 2)), Entry("b", "assignments", (0,)), Entry("c", "assignments", ())
    blocks_ = BlockEntry(0, 2, 1, "linear"), BlockEntry(2, 1, 0, "formula")
    assert EquationReport("m", entries, blocks_, (), 0, 0).entries == 3


def test_a_signal_that_only_derivatives_give_is_told_so() -> None:
    class Inverse(Assembly):
        """What an integrator's input is, from its output."""

        def __init__(self) -> None:
            self.wave, self.smooth = blocks.Sine(f=1.0), blocks.FirstOrder(T=0.1)
            self.inverse, self.plant = blocks.InverseBlockConstraints(), blocks.Integrator()
            self.connect(self.wave.y, self.smooth.u)
            self.connect(self.smooth.y, self.inverse.u1)
            self.connect(self.inverse.y2, self.plant.u)
            self.connect(self.plant.y, self.inverse.u2)

    ((name, giver),) = equation_report(Inverse()).sought
    assert name.startswith("the signal of condition 1")
    assert giver.startswith("a derivative of condition 1")
