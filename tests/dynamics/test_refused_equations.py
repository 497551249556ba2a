"""Equations that say what cannot be: each is refused, with the component, what is wrong and the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

from mbfmu import Assembly, Component, System
from mbfmu.components import Body, FixedTranslation, Revolute, World, blocks, rotational
from mbfmu.components.interfaces import Flange_a
from mbfmu.errors import ModelError
from mbfmu.modeling import (
    Impulse,
    Multiplier,
    NetworkVariable,
    Parameter,
    RealInput,
    RealOutput,
    Start,
    State,
    Variable,
)
from mbfmu.modeling import types as t
from mbfmu.simulation import simulate


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


class Empty(Component):
    """Says nothing."""


class Wide(Component):
    """A binding of two elements for one."""

    a = Parameter(t.Real, 2.0, "Given")
    k = Parameter(t.Real, lambda self: ca.vertcat(self.a, self.a), "Bound")
    y = RealOutput("Output")

    def equations(self) -> None:
        self.y = self.k


class Inner(Assembly):
    """An assembly with a variable that nothing gives a value."""

    v = Variable(t.Real, "Unknown to all")

    def __init__(self) -> None:
        self.constant = blocks.Constant(k=2.5)


class Reading(Assembly):
    """Reads what its parts have."""

    w = Variable(t.Real, "What is read")

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.inner, self.asked = Inner(), read

    def equations(self) -> None:
        self.w = self.asked(self)


def moved_from_both_sides() -> Assembly:
    class Moved(Assembly):
        flange = Flange_a("Given motion", motion=True)

        def __init__(self) -> None:
            self.fixed = rotational.Fixed()
            self.connect(self.fixed.flange, self.flange)

    return Moved()


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
    "a component that says nothing": (
        lambda: assembly(own=Empty()),
        r"own: Empty has neither equations\(\) nor build\(\)",
    ),
    "a binding of two elements": (lambda: assembly(own=Wide()), r"own\.k: its binding gives 2 elements, expected 1"),
    "a variable that nothing gives": (
        lambda: Reading(lambda own: own.inner.v),
        r"inner\.v: nothing has equations that could give it a value",
    ),
    "what a part of a part does not have": (
        lambda: Reading(lambda own: own.inner.constant.nothing),
        r"AttributeError: inner\.constant \(Constant\) has no variable 'nothing'",
    ),
    "a flange that is moved from outside and inside": (
        moved_from_both_sides,
        r"^flange: this flange takes its motion from outside, but fixed\.flange prescribes it .*with motion=False",
    ),
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


@pytest.mark.parametrize(
    ("assign", "words"),
    [
        (
            lambda own: setattr(own.inner.constant, "k", 1.0),
            r"Reading: .* of Reading assign inner\.constant\.k, which is",
        ),
        (lambda own: setattr(own.inner, "v", 1.0), r"assign inner\.v, which is for inner \(Inner\) to say; connect it"),
        (lambda own: setattr(own.shaft, "phi", 1.0), r"assign shaft\.phi, which is for shaft \(Inertia\) to say"),
        (
            lambda own: setattr(own.shaft.flange_a, "tau", 1.0),
            r"Reading\.shaft: .* cannot assign flange_a\.tau of a part",
        ),
        (
            lambda own: setattr(own.shaft.flange_a, "phi", 1.0),
            r"Reading\.shaft: .* cannot assign flange_a\.phi of a part",
        ),
        (lambda own: None, r"^Reading: the equations of Reading do not assign w"),
    ],
    ids=["parameter", "variable", "coordinate", "torque", "angle", "nothing"],
)
def test_equations_do_not_assign_what_parts_say(assign: Callable[[Any], None], words: str) -> None:
    class Reading(Assembly):
        w = Variable(t.Real, "Its own")

        def __init__(self) -> None:
            self.inner, self.shaft = Inner(), rotational.Inertia(J=1.0)

        def equations(self) -> None:
            if assign(self) is not None:
                self.w = 1.0

    with pytest.raises(ModelError, match=words):
        System.of(Reading())


def test_equations_differentiate_what_is_at_connectors_of_parts() -> None:
    """Position, velocity and acceleration of the end of an arm that turns, and a product of an angle with itself."""

    class Watching(Assembly):
        v = Variable(t.Velocity, "Velocity of the end", shape=3)
        a = Variable(t.Acceleration, "Its acceleration", shape=3)
        growth = Variable(t.Real, "Rate of the squared angle")

        def __init__(self) -> None:
            self.world = World()
            start = {"phi": Start(0.4, fixed=True), "w": Start(1.5, fixed=True)}
            self.hinge, self.arm = Revolute(useAxisFlange=True, **start), FixedTranslation(r=(0.3, -0.2, 0.1))
            self.body = Body(m=1.0, r_CM=(0.5, 0.1, 0), I_11=0.1, I_22=0.1, I_33=0.1)
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.body.frame_a)
            self.connect(self.hinge.frame_b, self.arm.frame_a)

        def equations(self) -> None:
            self.v = self.der(self.arm.frame_b.r_0)
            self.a = self.der(self.v)
            self.growth = self.der(self.hinge.axis.phi * self.hinge.axis.phi)

    result = simulate(Watching(), 0.5, interval=0.5, tolerance=1e-10)
    for k in (0, -1):
        phi, w, z = (result[f"hinge.{name}"][k] for name in ("phi", "w", "a"))
        r = np.array([0.3 * np.cos(phi) + 0.2 * np.sin(phi), 0.3 * np.sin(phi) - 0.2 * np.cos(phi), 0.1])
        v = np.cross((0, 0, w), r)
        np.testing.assert_allclose([result[f"v[{i}]"][k] for i in (1, 2, 3)], v, atol=1e-12)
        a = np.cross((0, 0, z), r) + np.cross((0, 0, w), v)
        np.testing.assert_allclose([result[f"a[{i}]"][k] for i in (1, 2, 3)], a, atol=1e-12)
        assert result["growth"][k] == pytest.approx(2 * phi * w, rel=1e-12)


def test_equations_read_parts_of_parts() -> None:
    """Their parameters and outputs, two levels down."""

    class Read(Assembly):
        w = Variable(t.Real, "What is read")
        y = RealOutput("What is read, too")

        def __init__(self) -> None:
            self.middle = Outer()

        def equations(self) -> None:
            self.w = 2 * self.middle.inner.constant.k
            self.y = 3 * self.middle.inner.constant.y - self.middle.gain

    class Outer(Assembly):
        gain = Parameter(t.Real, 0.5, "A parameter in between")

        def __init__(self) -> None:
            self.inner = Within()

    class Within(Assembly):
        def __init__(self) -> None:
            self.constant = blocks.Constant(k=2.5)

    result = simulate(Read(), 0.1, interval=0.1)
    assert (result["w"][0], result["y"][0]) == (5.0, 7.0)


class Drawn(Component):
    """Draws what a test says."""

    k = Parameter(t.Real, lambda self: self.l, "Bound to the other", animation=True)
    l = Parameter(t.Real, lambda self: self.k, "Bound to the first", animation=True)  # noqa: E741
    v = Variable(t.Real, "Variable")

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        super().__init__()
        self._draw = draw

    def equations(self) -> None:
        self.v = 1.0

    def visualize(self: Any) -> None:
        self._component._draw(self)


def deformed(points: int = 4, shape: tuple[int, ...] = (4, 3, 2), factors: int = 2) -> Callable[[Any], None]:
    return lambda own: own.draw_deformed(
        "skin", np.ones((points, 3)), np.array([[0, 1, 2]]), np.ones(shape), [1.0] * factors
    )


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (setting(v=2.0), r"own: visualize\(\) of Drawn assigns v; only equations do"),
        (deformed(factors=1), r"own: skin has 4 points, displacements of shape \(4, 3, 2\) and 1 factors; give"),
        (deformed(points=3), r"own: skin has 3 points, displacements of shape \(4, 3, 2\) and 2 factors"),
        (deformed(shape=(4, 2, 2)), r"own: skin has 4 points, displacements of shape \(4, 2, 2\) and 2 factors"),
        (
            lambda own: own.draw_shape("box", "box", length=own.k, width=1.0),
            r"own\.[kl]: this parameter of animation depends on itself",
        ),
    ],
    ids=["assigned", "factors", "points", "directions", "circle"],
)
def test_what_cannot_be_drawn(draw: Callable[[Any], None], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        System.of(assembly(world=World(), own=Drawn(draw)), scene=True)


@pytest.mark.slow
@pytest.mark.parametrize("matrix", [ca.SX, lambda rows: [[ca.SX(v) for v in row] for row in rows]], ids=["SX", "rows"])
def test_a_surface_of_symbols_is_drawn_as_one_of_numbers(matrix: Callable[[Any], Any]) -> None:
    x, y, z = ([[0.0, 0.0], [1.0, 1.0]], [[0.0, 2.0], [0.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]])

    def shape(given: Callable[[Any], Any]) -> Any:
        own = Drawn(lambda own: own.draw_surface("s", [given(part) for part in (x, y, z)]))
        (found,) = (s for s in System.of(assembly(world=World(), own=own), scene=True).scene.shapes if s.name == "s")
        return found.extra

    assert shape(matrix) == shape(np.array)
    assert shape(matrix)[5:] == (0, 0, 3, 0, 2, 4, 1, 0, 5, 1, 2, 6)
