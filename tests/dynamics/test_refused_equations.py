"""Equations that say what cannot be: each is refused, with the component, what is wrong and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import casadi as ca
import pytest

from mbfmu import Assembly, Component, System
from mbfmu.components import rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.errors import ModelError
from mbfmu.modeling import (
    Impulse,
    Multiplier,
    NetworkVariable,
    Parameter,
    RealInput,
    RealOutput,
    State,
    Variable,
)
from mbfmu.modeling import types as t


class Own(Component):
    """A component with a bit of everything."""

    k = Parameter(t.Real, 1.0, "Gain")
    off = Parameter(t.Real, 1.0, "Another", when=lambda self: False)
    n = Parameter(t.Integer, 3, "How many")
    u = RealInput("Input")
    y = RealOutput("Output")
    x = State(t.Real, "State")
    v = Variable(t.Real, "Variable", shape=2)
    pull = Impulse(t.Real, "Impulse")
    rub = Impulse(t.Real, "Impulse along the surface", shape=2)

    def equations(self) -> None:
        """Given by a test."""
        self.given(self)


def refusal(given: Callable[[Any], None]) -> str:
    """What is said of a component with these equations."""
    assembly = Assembly()
    assembly.own = type("Own", (Own,), {"given": staticmethod(given)})()
    assembly.input(assembly.own.u, "u")
    with pytest.raises(ModelError) as caught:
        System.of(assembly)
    return str(caught.value)


def setting(**values: Any) -> Callable[[Any], None]:
    def equations(own: Any) -> None:
        for name, value in values.items():
            setattr(own, name, value)

    return equations


def impact(**arguments: Any) -> Callable[[Any], None]:
    return lambda own: own.impact("pull", **{"velocity": own.u, "touching": 0.0, "slow": 0.0} | arguments)


EQUATIONS: dict[str, tuple[Callable[[Any], None], str]] = {
    "a parameter that is off": (lambda own: own.off, r"own\.off does not exist with the present parameters"),
    "before it is assigned": (lambda own: own.v + 1, r"own: the equations of Own read v before they assign it"),
    "an unknown": (setting(x=1.0), r"own: x is an unknown; equations cannot assign it"),
    "a parameter": (setting(k=1.0), r"own: equations cannot assign k"),
    "der itself": (setting(der=1.0), r"own: der is reserved"),
    "what is not declared": (
        setting(w=1.0),
        r"own: the equations of Own assign 'w', which is not declared; declare it",
    ),
    "too many elements": (setting(v=ca.SX.zeros(3)), r"own: the equations give v 3 elements, declared are 2"),
    "der of no state": (lambda own: setattr(own.der, "v", 0.0), r"own: der\.v = \.\.\. needs a declared State 'v'"),
    "der of another size": (
        lambda own: setattr(own.der, "x", ca.SX.zeros(2)),
        r"own: the equations give der\.x 2 elements, declared are 1",
    ),
    "a condition of two": (
        lambda own: own.switch(ca.vertcat(own.u, own.x), 1.0, 0.0),
        r"own: the condition of a switch has 2 elements; it is one number, or one truth",
    ),
    "two delays of three": (
        lambda own: own.delay(ca.vertcat(own.u, own.x, own.u), ca.SX([1.0, 2.0])),
        r"own: a delay takes one time, or one for each element of the signal",
    ),
    "a hypothesis that nobody has": (
        impact(hypothesis="Huygens"),
        r"own: impact\(\.\.\., hypothesis='Huygens'\): expected one of Newton, Poisson, Stronge",
    ),
    "friction of two elements": (
        impact(friction="rub"),
        r"own: impact\(\.\.\., friction='rub'\): it needs 3 elements, three for each of pull",
    ),
    "two velocities of one impulse": (
        impact(velocity=ca.SX([1.0, 2.0])),
        r"own: the velocity of an impact has 2 elements, pull has 1",
    ),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_what_equations_cannot_say(name: str) -> None:
    given, words = EQUATIONS[name]
    assert re.search(words, refusal(given))


class TwoForces(Component):
    """Two multipliers for one row."""

    u = RealInput("Input")
    f = Multiplier(t.Force, "Forces", shape=2)

    def equations(self) -> None:
        self.constrain("f", position=self.u)


class TwoCurrents(Component):
    """Two unknowns of a network, and one relation of it."""

    u = RealInput("Input")
    one = NetworkVariable(t.Current, "Current")
    other = NetworkVariable(t.Current, "Current")

    def equations(self) -> None:
        self.relation(self.one + self.other - self.u)


class FromAcceleration(Component):
    """Strikes by an acceleration."""

    flange = Flange_a("Flange")
    jump = Impulse(t.Real, "Impulse")

    def equations(self) -> None:
        self.flange.tau = 0
        self.effort(jump=self.der(self.jump))
        a = self.der(self.der(self.flange.phi))
        self.impact("jump", velocity=a, touching=1.0, slow=1e-3)


def assembly(*parts: Component, **named: Component) -> Assembly:
    made = Assembly()
    for name, part in named.items():
        setattr(made, name, part)
    return made


def with_input(part: Component) -> Assembly:
    made = assembly(own=part)
    made.input(part.u, "u")
    return made


def twice_named() -> Assembly:
    made = assembly(a=rotational.Torque(), b=rotational.Torque(), j=rotational.Inertia(J=1.0))
    made.connect(made.a.flange, made.j.flange_a)
    made.connect(made.b.flange, made.j.flange_b)
    made.input(made.a.tau, "tau")
    made.input(made.b.tau, "tau")
    return made


def struck_by_acceleration() -> Assembly:
    made = assembly(own=FromAcceleration(), j=rotational.Inertia(J=1.0))
    made.connect(made.own.flange, made.j.flange_a)
    return made


ASSEMBLIES: dict[str, tuple[Callable[[], Assembly], str]] = {
    "without components": (Assembly, r"Assembly: has no components; assign some to its attributes"),
    "multipliers without rows": (
        lambda: with_input(TwoForces()),
        r"own: constrain\(f\) has 1 rows for 2 multipliers; give one of each",
    ),
    "unknowns without relations": (
        lambda: with_input(TwoCurrents()),
        r"own: the equations of TwoCurrents have 1 relations of a network; each NetworkVariable \(one, other\)",
    ),
    "inputs of one name": (twice_named, r"tau: .*name"),
    "struck by an acceleration": (
        struck_by_acceleration,
        r"own: the velocity of an impact depends on accelerations .*; give one of positions and speeds",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSEMBLIES)
def test_what_assemblies_cannot_be(name: str) -> None:
    make, words = ASSEMBLIES[name]
    with pytest.raises(ModelError, match=words):
        System.of(make())
