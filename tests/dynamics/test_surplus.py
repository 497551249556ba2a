"""Equations and unknowns that do not go together are told apart, by hand-written graphs and in networks."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mbfmu.components import electrical
from mbfmu.dynamics.structure.quantities import ImpliedSignal
from mbfmu.dynamics.structure.surplus import Surplus, matching
from mbfmu.dynamics.structure.unknowns import Own
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, leaves


def surplus(**knows: str) -> Surplus:
    """The parts of a graph in which equation and unknown of one name belong together, as in `a="ab"`."""
    graph: Any = {equation: list(unknowns) for equation, unknowns in knows.items()}
    return Surplus.of(graph, matching(list(graph), graph))


def test_what_goes_together_has_no_surplus() -> None:
    found = surplus(a="ab", b="bc", c="ca")
    assert (found.unknowns, found.few_equations, found.equations, found.few_unknowns, found.left) == ((),) * 5


def test_surplus_is_told_apart_from_what_is_square() -> None:
    """a and b give x alone; y and z stand in c alone; the rest, d to f, is square and knows of both."""
    found = surplus(x="x", a="x", y="yz", z="", d="dx", e="ed", f="fz")
    assert set(found.equations) == {"x", "a", "z"}
    assert set(found.few_unknowns) == {"x"}
    assert set(found.unknowns) >= {"a", "y", "z"}
    assert len(found.unknowns) - len(found.few_equations) == len(found.equations) - len(found.few_unknowns) == 2
    assert len(found.left) == 2
    assert not {"d", "e"} & {*found.unknowns, *found.few_equations, *found.equations, *found.few_unknowns}


def test_an_equation_that_gives_an_unknown_gives_no_signal_beside_it() -> None:
    """The only equation that knows the potential is the condition of a signal, which is left open then."""
    signal = ImpliedSignal(Own("inverse", leaves.Implied(0)))
    knows: Any = {"potential": [], signal: ["potential", signal]}
    assert matching(list(knows), knows) == {"potential": signal}


class Sources(Assembly):
    """Sources of voltage side by side, all grounded, and a resistor that has nothing to do with it."""

    def __init__(self, number: int) -> None:
        self.ground, self.resistor, self.other = (
            electrical.Ground(),
            electrical.Resistor(R=1.0),
            electrical.Resistor(R=2.0),
        )
        self.sources = [electrical.ConstantVoltage(V=1.0) for _ in range(number)]
        for source in self.sources:
            self.connect(source.n, self.ground.p)
        for source in self.sources[1:]:
            self.connect(source.p, self.sources[0].p)
        self.connect(self.resistor.p, self.sources[0].p)
        self.connect(self.resistor.n, self.other.p)
        self.connect(self.other.n, self.ground.p)


@pytest.mark.parametrize("number", [2, 3])
def test_sources_side_by_side_are_too_many_equations_for_one_potential(number: int) -> None:
    System.of(Sources(1))
    with pytest.raises(ModelError, match="form a loop in which each determines a difference of potentials") as caught:
        System.of(Sources(number))
    text = str(caught.value)
    assert f"{number} unknowns, " in text
    assert re.search(r" in 1 equation, balance of currents of sources\[\d\]\.p;", text), text
    assert f"; {number} equations, relation of sources[" in text
    assert re.search(r" for 1 unknown, potential of sources\[\d\]\.p\)$", text), text
    assert "resistor" not in text
    assert "other" not in text


def test_a_sensor_that_hangs_free_is_an_unknown_in_no_equation() -> None:
    class Free(Assembly):
        """A voltage against nothing."""

        def __init__(self) -> None:
            self.ground, self.sensor = electrical.Ground(), electrical.VoltageSensor()
            self.connect(self.sensor.n, self.ground.p)

    with pytest.raises(ModelError, match=r"nothing determines the potential of sensor\.p; connect a Ground") as caught:
        System.of(Free())
    assert (
        "(1 unknown, potential of sensor.p, in 0 equations; 1 equation, balance of currents of sensor.p, for 0"
        in str(caught.value)
    )


def test_a_network_without_ground_names_all_that_is_open() -> None:
    """Three resistors in a star: nothing gives any of four potentials, whichever of them is sought first."""

    class Star(Assembly):
        def __init__(self) -> None:
            self.arms = [electrical.Resistor(R=float(k)) for k in (1, 2, 3)]
            for arm in self.arms[1:]:
                self.connect(arm.p, self.arms[0].p)

    with pytest.raises(ModelError, match="nothing determines the potential of") as caught:
        System.of(Star())
    named = str(caught.value).partition(";")[0].partition("potential of ")[2]
    assert named == "arms[2].p and arms[1].n and arms[2].n"
