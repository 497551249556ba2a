"""The interface of a system: names, FMI attributes, aliases, derivatives and dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

import mbfmu
from mbfmu.components import Body, BodyBox, PointMass, Revolute, World, rotational, translational
from mbfmu.modeling import (
    Assembly,
    Component,
    Coordinate,
    RealInput,
    RealOutput,
    RotationalFlange,
    Start,
    State,
    TranslationalFlange,
    Variable,
)
from mbfmu.modeling import types as t
from mbfmu.modeling.declarations import Final, Parameter
from mbfmu.runtime.variables import ScalarVariable, Terminal


class Lag(Component):
    """First-order lag."""

    u = RealInput("Input")
    y = RealOutput("Output")
    T = Parameter(t.Time, 0.5, "Time constant", min=0)
    k = Parameter(t.Real, 3.0, "Gain", tunable=True)
    rate = Final(t.Frequency, lambda self: 1 / self.T, "1/T")
    x = State(t.Real, "State", start=0.25, fixed=True)
    twice = Variable(t.Real, "Twice the gain")

    def equations(self) -> None:
        self.der.x = (self.k * self.u - self.x) / self.T
        self.twice = 2 * self.k
        self.y = self.x


class Machine(Assembly):
    """One of everything that can be seen."""

    def __init__(self) -> None:
        self.axis = RotationalFlange("Drive shaft")
        self.world = World()
        self.hinge = Revolute(useAxisFlange=True, phi=Start(0.5, fixed=True), w=Start(-1.0))
        self.bar = BodyBox(r=(0.5, 0, 0), width=0.06)
        self.fixed = rotational.Fixed()
        self.spring = rotational.SpringDamper(c=2.0, d=0.1)
        self.lag = Lag()
        self.free = Body(m=1.0, r_CM=(0, 0, 0), r_0=Start([5, 0, 0], fixed=True))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bar.frame_a)
        self.connect(self.fixed.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.hinge.axis)
        self.connect(self.axis, self.hinge.axis)
        self.input(self.lag.u, "u", start=1.5)
        self.output(self.lag.y, "filtered")
        self.output(self.bar.frame_b.r_0)
        self.output(self.hinge.a, "acceleration")


@pytest.fixture(scope="module")
def system() -> mbfmu.System:
    return mbfmu.System.of(Machine())


@pytest.fixture(scope="module")
def variables(system: mbfmu.System) -> dict[str, ScalarVariable]:
    return {v.name: v for v in system.variables}


@pytest.mark.parametrize(
    ("name", "causality", "variability", "initial", "start"),
    [
        ("time", "independent", "continuous", None, None),
        ("u", "input", "continuous", None, 1.5),
        ("axis.tau", "input", "continuous", None, 0.0),
        ("axis.phi", "output", "continuous", "calculated", None),
        ("lag.T", "parameter", "fixed", "exact", 0.5),
        ("lag.k", "parameter", "tunable", "exact", 3.0),
        ("lag.rate", "calculatedParameter", "fixed", "calculated", None),
        ("lag.x", "local", "continuous", "exact", 0.25),
        ("filtered", "output", "continuous", "calculated", None),
        ("hinge.phi", "local", "continuous", "exact", 0.5),
        ("hinge.w", "local", "continuous", "approx", -1.0),
        ("hinge.frame_a.f[1]", "local", "continuous", "calculated", None),
        ("hinge.n[3]", "local", "constant", "exact", 1.0),
        ("hinge.useAxisFlange", "local", "constant", "exact", True),
        ("hinge.stateSelect", "local", "constant", "exact", "prefer"),
        ("hinge.frame_a.r_0[1]", "local", "constant", "exact", 0.0),
        ("bar.m", "calculatedParameter", "fixed", "calculated", None),
        ("bar.frame_b.r_0[1]", "output", "continuous", "calculated", None),
        ("free.r_0[1]", "local", "continuous", "exact", 5.0),
        ("world.g", "parameter", "tunable", "exact", 9.80665),
    ],
)
def test_attributes(
    variables: dict[str, ScalarVariable],
    name: str,
    causality: str,
    variability: str,
    initial: str | None,
    start: float | str | bool | None,
) -> None:
    v = variables[name]
    assert (v.causality, v.variability, v.initial, v.start) == (causality, variability, initial, start)


def test_combinations_are_those_of_the_standard(system: mbfmu.System) -> None:
    """FMI 2.0.4, section 2.2.7: the table of variability and causality, and which variables have a start value."""
    allowed = {
        "parameter": {"fixed", "tunable"},
        "calculatedParameter": {"fixed", "tunable"},
        "input": {"discrete", "continuous"},
        "output": {"constant", "discrete", "continuous"},
        "local": {"constant", "fixed", "tunable", "discrete", "continuous"},
        "independent": {"continuous"},
    }
    for v in system.variables:
        assert v.variability in allowed[v.causality], v
        if v.causality in ("input", "independent"):
            assert v.initial is None, v
        else:
            assert v.initial in ("exact", "approx", "calculated"), v
        needs_start = v.initial in ("exact", "approx") or v.causality == "input"
        assert (v.start is not None) == needs_start, v
        if v.variability == "constant" or v.causality == "parameter":
            assert v.initial == "exact", v


def test_names_are_structured_and_unique(system: mbfmu.System) -> None:
    """FMI 2.0.4, section 2.2.9: dotted names with array elements, der(...) for derivatives."""
    identifier = r"[A-Za-z_]\w*"
    dotted = rf"{identifier}(\[\d+(,\d+)*\])?(\.{identifier}(\[\d+(,\d+)*\])?)*"
    for v in system.variables:
        assert re.fullmatch(rf"{dotted}|der\({dotted}(,\d+)?\)", v.name), v.name
    assert len({v.name for v in system.variables}) == len(system.variables)
    assert all(v.description for v in system.variables)


def test_units_come_from_the_declarations(variables: dict[str, ScalarVariable]) -> None:
    phi, w, m = variables["hinge.phi"], variables["hinge.w"], variables["bar.m"]
    assert (phi.unit, phi.display_unit, phi.quantity) == ("rad", "deg", "Angle")
    assert (w.unit, w.display_unit) == ("rad/s", "rpm")
    assert (m.unit, m.quantity, m.min) == ("kg", "Mass", 0.0)
    assert variables["lag.k"].unit is None


def test_connected_positions_are_aliases(variables: dict[str, ScalarVariable]) -> None:
    places = {
        (variables[n].store, variables[n].index)
        for n in ("hinge.phi", "hinge.axis.phi", "spring.flange_b.phi", "axis.phi")
    }
    assert len(places) == 1
    assert places.pop()[0] == "x"
    a, b = variables["bar.frame_b.r_0[1]"], variables["bar.frameTranslation.frame_b.r_0[1]"]
    assert (a.store, a.index) == (b.store, b.index)


def test_every_state_has_its_derivative(system: mbfmu.System) -> None:
    """FMI 2.0.4, section 2.2.7: der(state) is a variable that names its state; first derivatives only, one each."""
    by_name = {v.name: v for v in system.variables}
    of = {v.name: v.derivative_of for v in system.variables if v.derivative_of is not None}
    states = {(by_name[s].store, by_name[s].index) for s in of.values()}
    assert states == {("x", i) for i in range(system.equations.nx)}
    assert len(of) == system.equations.nx
    assert of["hinge.w"] == "hinge.phi"  # of aliases one is enough: the one with the start value
    assert of["hinge.a"] == "hinge.w"
    assert of["der(lag.x)"] == "lag.x"


def test_a_state_s_derivative_is_of_its_own_component() -> None:
    """Of shafts that turn as one, whichever comes first."""

    class Joined(Assembly):
        def __init__(self) -> None:
            self.z = rotational.Inertia(J=1.0)
            self.a = rotational.Inertia(J=2.0, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
            self.connect(self.z.flange_b, self.a.flange_a)

    of = {v.name: v.derivative_of for v in mbfmu.System.of(Joined()).variables if v.derivative_of is not None}
    assert of == {"a.w": "a.phi", "a.a": "a.w"}


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_derivatives_are_derivatives(system: mbfmu.System) -> None:
    """Central differences of every state over a run."""
    result = mbfmu.simulate(system, 1.0, tolerance=1e-11, interval=1e-3)
    for v in system.variables:
        if v.derivative_of is not None:
            slope = (result[v.derivative_of][2:] - result[v.derivative_of][:-2]) / 2e-3
            np.testing.assert_allclose(result[v.name][1:-1], slope, atol=1e-3, err_msg=v.name)


def dependent(system: mbfmu.System) -> Iterator[ScalarVariable]:
    return (v for v in system.variables if v.causality == "output" or v.derivative_of is not None)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_dependencies_hold_whatever_moves_a_value(system: mbfmu.System) -> None:
    """What an output or derivative does change with, by disturbing one state or input at a time, is listed."""
    by_name = {v.name: v for v in system.variables}
    knowns = [v for v in system.variables if v.causality == "input"]
    knowns += [v for v in system.variables if v.store == "x" and v.start_index is not None and v.causality == "local"]
    names = [v.name for v in dependent(system)]

    def values(**start_values: float) -> np.ndarray:
        result = mbfmu.simulate(system, 1e-9, interval=1e-9, outputs=names, start_values=start_values)
        return np.array([result[n][0] for n in names])

    base = values()
    for known in knowns:
        moved = np.abs(values(**{known.name: float(known.start or 0.0) + 0.1}) - base) > 1e-9
        for name in np.array(names)[moved]:
            listed = {(by_name[n].store, by_name[n].index) for n, _ in by_name[name].dependencies or ()}
            assert (known.store, known.index) in listed, f"{name} moves with {known.name}"


def test_dependencies_are_no_wider_than_the_structure(variables: dict[str, ScalarVariable]) -> None:
    def places(*names: str) -> set[tuple[str, int]]:
        return {(variables[n].store, variables[n].index) for n in names}

    for name, known in (
        ("filtered", {"lag.x"}),
        ("der(lag.x)", {"lag.x", "u"}),
        ("acceleration", {"hinge.phi", "hinge.w", "axis.tau"}),
        ("bar.frame_b.r_0[1]", {"hinge.phi"}),
    ):
        assert places(*(n for n, _ in variables[name].dependencies or ())) == places(*known), name


def test_an_output_that_is_an_input_depends_on_it() -> None:
    class Through(Assembly):
        def __init__(self) -> None:
            self.lag, self.gain = Lag(), Lag()
            self.input(self.lag.u, "first")
            self.input(self.gain.u, "u")
            self.output(self.gain.u, "seen")

    (seen,) = (v for v in mbfmu.System.of(Through()).variables if v.name == "seen")
    assert [name for name, _ in seen.dependencies or ()] == ["u"]


def test_terminals_of_an_exposed_flange(variables: dict[str, ScalarVariable]) -> None:
    terminals = {v.name: v.terminal for v in variables.values() if v.terminal}
    kind = "Mechanics.Rotational.Interfaces.Flange"
    assert terminals == {
        f"axis.{member}": Terminal("axis", member, member == "tau", kind) for member in ("tau", "phi", "w", "a")
    }


def test_animation_parameters_are_left_out(variables: dict[str, ScalarVariable]) -> None:
    assert not [n for n in variables if "nimat" in n or "color" in n.lower()]


# -- energy and power


class Oscillator(Assembly):
    """A mass between a spring, a damper and a force from outside."""

    def __init__(self) -> None:
        self.world = World()
        self.fixed = translational.Fixed()
        self.spring = translational.SpringDamper(c=40.0, d=1.5, s_rel0=0.3)
        self.mass = translational.Mass(m=2.0, s=Start(0.5, fixed=True), v=Start(0.0, fixed=True))
        self.push = translational.Force()
        self.hinge = Revolute(phi=Start(0.3, fixed=True), w=Start(1.0, fixed=True))
        self.bob = BodyBox(r=(0.4, 0, 0), width=0.05)
        self.stone = PointMass(m=0.5, r_0=Start([0, 3, 0], fixed=True), v_0=Start([1, 0, 0], fixed=True))
        self.connect(self.fixed.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.mass.flange_a)
        self.connect(self.push.flange, self.mass.flange_b)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.bob.frame_a)
        self.input(self.push.f, "f", start=3.0)


@pytest.mark.slow
def test_energy_and_power_balance() -> None:
    """Energies by hand; what goes in and out adds up; connectors tell the power through them."""
    result = mbfmu.simulate(mbfmu.System.of(Oscillator(), energy=True), 2.0, tolerance=1e-10)
    v, s = result["mass.v"], result["mass.s"]
    m, length = result["bob.m"], 0.4
    pendulum = (result["bob.I[3,3]"] + m * (length / 2) ** 2) * result["hinge.w"] ** 2 / 2
    stone = 0.5 * (result["stone.v_0[1]"] ** 2 + result["stone.v_0[2]"] ** 2) / 2
    np.testing.assert_allclose(result["energy.kinetic"], 2.0 * v**2 / 2 + pendulum + stone, atol=1e-9)
    height = m * 9.80665 * length / 2 * np.sin(result["hinge.phi"]) + 0.5 * 9.80665 * result["stone.r_0[2]"]
    np.testing.assert_allclose(result["energy.potential"], 40 * (s - 0.3) ** 2 / 2 + height, atol=1e-9)
    np.testing.assert_allclose(result["energy.outflow"], 1.5 * v**2 - 3.0 * v, atol=1e-9)
    np.testing.assert_allclose(result["push.flange.power"], -3.0 * v, atol=1e-9)
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-9)
    spent = cumulative_trapezoid(result["energy.outflow"], result.time, initial=0.0)
    np.testing.assert_allclose(result["energy.total"] + spent, result["energy.total"][0], atol=1e-3)


def test_energy_is_there_when_asked_for(system: mbfmu.System) -> None:
    assert not [v.name for v in system.variables if "energy" in v.name or v.name.endswith(".power")]


class Cheat(Component):
    """Pushes with a force that its energy does not account for."""

    flange = RotationalFlange("Where it pushes")
    c = Parameter(t.RotationalSpringConstant, 5.0, "Stiffness")

    def equations(self) -> None:
        self.flange.tau = self.c * self.flange.phi
        self.energy(potential=self.c * self.flange.phi**2 / 4)  # half of what it is


def test_the_balance_error_finds_a_wrong_component() -> None:
    class Wrong(Assembly):
        def __init__(self) -> None:
            self.cheat = Cheat()
            self.disc = rotational.Inertia(J=1.0, phi=Start(1.0, fixed=True), w=Start(2.0, fixed=True))
            self.connect(self.cheat.flange, self.disc.flange_a)

    result = mbfmu.simulate(mbfmu.System.of(Wrong(), energy=True), 1.0)
    expected = 5.0 * result["disc.phi"] * result["disc.w"] / 2
    np.testing.assert_allclose(result["energy.balanceError"], expected, atol=1e-9)


class Pendant(Component):
    """A unit mass of which only the coordinate has a name."""

    s = Coordinate(t.Position, "Position", start=0.5)
    flange = TranslationalFlange("Where it is pulled")

    def equations(self) -> None:
        self.relation(self.flange.s - self.s)
        self.effort(s=-self.der(self.der(self.s)))


def test_derivatives_of_states_that_nobody_names_have_their_order() -> None:
    """`der(s,2)`, and not `der(der(s))` (FMI 3.0, section 2.4.7.5.1)."""
    model = Assembly()
    model.pendant, model.spring, model.fixed = Pendant(), translational.Spring(c=4.0), translational.Fixed()
    model.connect(model.pendant.flange, model.spring.flange_b)
    model.connect(model.fixed.flange, model.spring.flange_a)
    found = {v.name: v.derivative_of for v in mbfmu.System.of(model).variables if "pendant.s" in v.name}
    assert found == {
        "pendant.s": None,
        "der(pendant.s)": "pendant.s",
        "der(pendant.s,2)": "der(pendant.s)",
    }
