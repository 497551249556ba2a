"""Equations that say one thing twice are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mbfmu
from mbfmu import Assembly, Component
from mbfmu.components import rotational, translational
from mbfmu.components.interfaces import Flange_a
from mbfmu.errors import ModelError
from mbfmu.modeling import RealOutput, Start, State, Variable
from mbfmu.modeling import types as t


class Law(Component):
    """Equations, and what they say then."""

    x = State(t.Real, "State", start=0.0, fixed=True)
    k = Variable(t.Real, "Variable")
    y = RealOutput("Output")
    flange = Flange_a("Shaft")
    then: Callable[[Any], Any]

    def equations(self) -> None:
        self.der.x = 1
        self.y = self.k = 2
        self.flange.tau = 0
        self.flange.tau = self.flange.phi - 3
        type(self).then(self)


def of(then: Callable[[Any], Any]) -> Assembly:
    class M(Assembly):
        def __init__(self) -> None:
            self.fixed = rotational.Fixed()
            self.law = type("Law", (Law,), {"then": staticmethod(then)})()
            self.connect(self.fixed.flange, self.law.flange)

    return M()


@pytest.mark.parametrize(
    ("then", "what"),
    [
        (lambda s: setattr(s, "y", 2), "y"),
        (lambda s: setattr(s, "k", 3), "k"),
        (lambda s: setattr(s.der, "x", 1), "x'"),
        (lambda s: setattr(s.flange, "tau", 4), "flange.tau"),
        (lambda s: setattr(s.flange, "tau", 0), "flange.tau"),
        (lambda s: [s.energy(potential=s.x), s.energy(potential=1)], "potential energy"),
    ],
)
def test_the_last_of_two_statements_does_not_win(then: Callable[[Any], Any], what: str) -> None:
    with pytest.raises(ModelError, match=f"law: the equations of Law give {what} twice"):
        mbfmu.System.of(of(then))


def test_what_is_said_once_stays() -> None:
    """A load of 0 is what a base class may say, and the class then says what it is."""
    result = mbfmu.simulate(of(lambda s: None), 1.0)
    assert (result["law.y"][-1], result["law.k"][-1]) == (2.0, 2.0)
    assert result["law.x"][-1] == pytest.approx(1.0)


def test_energies_of_two_kinds_may_come_from_a_class_and_its_base() -> None:
    """A sliding mass has the energy of its motion, and the heat of its friction."""

    class Sliding(Assembly):
        def __init__(self) -> None:
            self.mass = translational.MassWithStopAndFriction(
                m=2.0,
                smax=10.0,
                smin=-10.0,
                F_prop=0.5,
                F_Coulomb=1.0,
                F_Stribeck=0.0,
                fexp=1.0,
                s=Start(0.0, fixed=True),
                v=Start(3.0, fixed=True),
            )

    result = mbfmu.simulate(mbfmu.System.of(Sliding(), energy=True), 1.0, tolerance=1e-10)
    v = (3.0 + 1.0 / 0.5) * np.exp(-0.5 / 2.0 * np.asarray(result.time)) - 1.0 / 0.5  # m dv/dt = -F_Coulomb - F_prop v
    np.testing.assert_allclose(result["energy.kinetic"], 2.0 * v**2 / 2, rtol=1e-7)
    np.testing.assert_allclose(result["energy.outflow"], v + 0.5 * v**2, rtol=1e-7)
    assert np.abs(result["energy.balanceError"]).max() < 1e-9
