"""Initialisation: what gives way, what holds, and what is said when it cannot be met; in every host."""

from __future__ import annotations

import math

import casadi as ca
import pytest
from hand_made_models import GRAVITY, Draft, point_pendulum, variable
from hosts import Failed

# Compiled equations are interpreted ones to the last bit (test_tapes.py): the suite compiles few models.
pytestmark = pytest.mark.campaign("compiled")

STATES = ("x0", "x1", "x2", "x3")


@pytest.mark.slow
def test_fixed_starts_hold_and_guesses_give_way(library):
    slave = library(point_pendulum).slave().start(p0=0.6, p1=-0.5, p2=2.0)
    assert slave.get(*STATES) == pytest.approx([0.6, -0.8, 2.0, 1.5], abs=1e-12)
    assert slave.get("x0", "x2") == [0.6, 2.0]


def all_free():
    return point_pendulum((False,) * 4)


@pytest.mark.slow
def test_guesses_move_as_little_as_possible(library):
    slave = library(all_free).slave().start(p0=1.2, p1=-1.6)
    assert slave.get("x0", "x1") == pytest.approx([0.6, -0.8], abs=1e-12)


@pytest.mark.slow
def test_a_heavy_weight_keeps_a_guess(library):
    slave = library(all_free, weights=(1e6, 1.0, 1.0, 1.0)).slave().start(p0=0.6, p1=-0.5)
    assert slave.get("x0", "x1") == pytest.approx([0.6, -0.8], abs=1e-8)


@pytest.mark.slow
def test_what_initialisation_chooses_is_listed(library):
    """Of x and y one is open, of vx and vy as well; the later ones follow from the earlier."""
    slave = library(all_free).slave(logging=True).start()
    (line,) = slave.messages(1)
    assert "mass.x = 0.6, mass.vx = 0;" in line
    assert "mass.y" not in line
    assert "mass.vy" not in line


def all_open():
    """Four masses of which nobody says where they start."""
    d = Draft("open", q=4, v=4, parameters=[0.5] * 8)
    return d.equations(A=ca.SX.eye(4), b=ca.SX.zeros(4), guess=d.P)


def test_of_many_chosen_start_values_six_are_listed(library):
    (line,) = library(all_open).slave(logging=True).start().messages(1)
    assert "chosen: x0 = 0.5, x1 = 0.5, x2 = 0.5, x3 = 0.5, x4 = 0.5, x5 = 0.5 and 2 more; fix" in line


@pytest.mark.slow
def test_a_start_value_that_the_importer_gives_is_not_listed(library):
    slave = library(all_free).slave(logging=True).start(p2=0.4, p3=0.3)
    (line,) = slave.messages(1)
    assert "mass.x = 0.6;" in line
    assert "mass.vx" not in line


@pytest.mark.slow
@pytest.mark.parametrize(("given", "p0", "listed"), [(False, 0.6, True), (True, 0.6, False), (True, 1.2, True)])
def test_given_guesses_are_listed_where_they_move(library, given, p0, listed):
    model = library(all_free, given=(given,) * 4).slave(logging=True).start(p0=p0, p1=-4 / 3 * p0, p2=4e-9, p3=3e-9)
    assert any("mass.x = 0.6" in line for line in model.messages(1)) == listed


@pytest.mark.slow
def test_nothing_is_listed_where_fixed_starts_determine_all(library):
    assert not library(point_pendulum).slave(logging=True).start().messages(1)


def overdetermined():
    return point_pendulum((True, True, True, False))


@pytest.mark.slow
def test_contradicting_start_values_are_named(library):
    slave = library(overdetermined).slave().enter(p0=0.6, p1=-0.5)
    with pytest.raises(Failed) as caught:
        slave.finish()
    text = str(caught.value)
    assert caught.value.status == 3
    assert "initialisation fails: 1 of 2 equations cannot be met" in text
    assert "'rod length' is off by 0.195" in text
    assert "mass.x = 0.6" in text
    assert "mass.y = -0.5" in text
    assert "mass.vx" not in text
    assert "let one of them be a guess" in text
    assert len(slave.messages(3)) == 1


def test_an_impossible_start_is_reported_with_its_value(library):
    slave = library(point_pendulum).slave().enter(p0=2.0)
    with pytest.raises(Failed, match=r"'rod length' is off by 1\.5"):
        slave.finish()


@pytest.mark.slow
def test_a_start_value_that_is_not_finite_is_named(library):
    parameters = (0.6, math.inf, 0.0, 0.0, 1.0)
    slave = library(point_pendulum, parameters=parameters).slave().enter()
    with pytest.raises(Failed, match=r"the start value of 'mass\.y' is not finite"):
        slave.finish()


def test_a_failed_initialisation_can_be_mended(library):
    slave = library(point_pendulum).slave().enter(p0=2.0)
    with pytest.raises(Failed):
        slave.get("x0")
    with pytest.raises(Failed):
        slave.finish()
    slave.set("p0", 0.8)
    assert slave.get("x1") == pytest.approx(-0.6, abs=1e-12)
    slave.finish()
    slave.step(0.1)


def spring_at_rest():
    """A hanging mass: the free parameter p[1], the length of its spring, is found so that it starts at rest."""
    d = Draft("hanging mass", q=1, v=1, parameters=[-0.5, 0.2, 100.0], unknowns=4, derived=1)
    stiffness = d.P[2]
    s, _, length, a = d.X[0], d.X[1], d.X[2], d.X[3]
    return d.equations(
        A=ca.SX(1),
        b=-9.81 - stiffness * (d.q + d.P[1]),
        guess=ca.vertcat(d.P[0], 0, d.P[1], 0),
        initial=ca.vertcat(a + 9.81 + stiffness * (s + length), a),
        fixed=(True, True, False, False),
        free=(1,),
        derived=2 * d.p[1],
        unknown_names=("s", "v", "length", "a"),
        equation_names=("force balance", "at rest"),
    ), (
        variable("p1", "P", 1, causality="calculatedParameter", start=0.2, start_index=1),
        variable("d", "P", 3),
        variable("x0", "x", 0, start=-0.5, start_index=0),
        variable("w0", "w", 0),
    )


@pytest.mark.slow
def test_a_free_parameter_is_found_and_derived_from(library):
    slave = library(spring_at_rest).slave().start()
    length = 0.5 - 9.81 / 100.0
    assert slave.get("p1") == pytest.approx(length, abs=1e-12)
    assert slave.get("d") == pytest.approx(2 * length, abs=1e-12)
    assert slave.get("w0") == pytest.approx(0.0, abs=1e-10)
    slave.step(1.0)
    assert slave.get("x0") == pytest.approx(-0.5, abs=1e-10)


def free_stiffness():
    """A spring whose stiffness is such that the mass is at rest at its fixed start: p = [m, c, s0, v0], c is free."""
    d = Draft("free stiffness", q=1, v=1, unknowns=4, parameters=[2.0, 1.0, 0.5, 0.0], derived=1)
    X = d.X
    return d.equations(
        A=d.P[0],
        b=d.P[0] * GRAVITY - d.P[1] * d.q,
        guess=ca.vertcat(d.P[2], d.P[3], d.P[1], 0),
        initial=ca.vertcat(d.P[0] * X[3] - d.P[0] * GRAVITY + X[2] * X[0], X[3]),
        fixed=(True, True, False, False),
        free=(1,),
        derived=ca.sqrt(d.p[1] / d.p[0]),
        y=d.P[4],
        assertions=d.P[1],
        assertion_messages=("the stiffness must not be negative",),
    ), (
        variable("c", "P", 1, causality="calculatedParameter", start=1.0, start_index=1),
        variable("s", "x", 0, start=0.5, start_index=2),
        variable("a", "w", 0),
        variable("omega", "P", 4),
        variable("omega_y", "y", 0),
    )


@pytest.mark.slow
def test_initialisation_finds_a_free_parameter(library):
    slave = library(free_stiffness).slave().enter()
    assert slave.get("c") == pytest.approx(2 * GRAVITY / 0.5, rel=1e-12)
    slave.set("s", 0.25)
    assert slave.get("c") == pytest.approx(2 * GRAVITY / 0.25, rel=1e-12)
    assert slave.get("omega", "omega_y") == pytest.approx([math.sqrt(GRAVITY / 0.25)] * 2, rel=1e-12)
    slave.finish()
    slave.advance(1.0, 0.1)
    assert slave.get("s") == pytest.approx(0.25, abs=1e-12)


def linkage(fixed):
    """Two unit rods from (0, 0) to (1, 1): angles q, closed at p[2:4]."""
    d = Draft("linkage", q=2, v=2, multipliers=2, parameters=[0.1, 1.3, 1.0, 1.0])

    def closure(q):
        return ca.vertcat(ca.cos(q[0]) + ca.cos(q[0] + q[1]) - d.P[2], ca.sin(q[0]) + ca.sin(q[0] + q[1]) - d.P[3])

    g = closure(d.q)
    G = ca.jacobian(g, d.q)
    c = G @ d.v
    gamma = ca.jacobian(c, d.q) @ d.v
    return d.equations(
        A=ca.blockcat([[ca.SX.eye(2), -G.T], [G, ca.SX(2, 2)]]),
        b=ca.vertcat(0, 0, -gamma),
        guess=ca.vertcat(d.P[:2], 0, 0),
        g=g,
        c=c,
        initial=ca.vertcat(closure(d.X[:2]), ca.jacobian(closure(d.X[:2]), d.X[:2]) @ d.X[2:4]),
        fixed=fixed,
        equation_names=("closure x", "closure y", "closure vx", "closure vy"),
    )


def closing_linkage():
    return linkage((False,) * 4)


def overdetermined_linkage():
    return linkage((True, True, False, False))


@pytest.mark.slow
def test_guesses_give_way_until_a_loop_closes(library):
    slave = library(closing_linkage).slave()
    for first, second in ((0.1, 1.3), (0.6, 2.0), (-0.5, 0.9)):
        slave.start(p0=first, p1=second)
        q0, q1 = slave.get("x0", "x1")
        assert math.cos(q0) + math.cos(q0 + q1) == pytest.approx(1, abs=1e-12)
        assert math.sin(q0) + math.sin(q0 + q1) == pytest.approx(1, abs=1e-12)
        slave.reset()


@pytest.mark.slow
def test_an_equation_that_cannot_be_met_is_named(library):
    slave = library(overdetermined_linkage).slave().enter()
    with pytest.raises(Failed, match=r"'closure [xy]' is off by") as caught:
        slave.finish()
    assert caught.value.status == 3
    # Other start values mend it.
    slave.set("p0", 0.0)
    slave.set("p1", math.pi / 2)
    slave.finish()
    assert slave.get("x0") == 0.0


def flat():
    """X^2 = 1/4 from X = 0, where the derivative vanishes: no step of Newton's leaves it."""
    d = Draft("flat", q=1, v=1, parameters=[0.0])
    return d.equations(
        A=ca.SX(1), b=ca.SX(0), guess=ca.vertcat(d.P[0], 0), initial=d.X[0] ** 2 - 0.25, fixed=(False, True)
    )


@pytest.mark.slow
def test_a_far_guess_is_reached_by_restarts(library):
    assert abs(library(flat).slave().start().get("x0")) == pytest.approx(0.5, abs=1e-12)


def massless():
    d = Draft("massless", q=3, v=3, parameters=[0.0])
    return d.equations(
        A=ca.diag(ca.vertcat(1, d.P[0], 2)),
        b=ca.SX.ones(3),
        guess=ca.SX.zeros(6),
        unknown_names=("a.s", "b.s", "c.s", "a.v", "b.v", "c.v"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [((0, 1, 2),), ((0, 2), (1,))])
def test_what_a_singular_start_leaves_open_is_named(library, blocks):
    slave = library(massless, blocks=blocks).slave().enter()
    with pytest.raises(Failed, match=r"singular: .*; they leave open der\(b\.v\)$"):
        slave.finish()
    slave.set("p0", 1.0)
    assert slave.get("w1") == 1.0


def held_twice():
    """One coordinate, held by two equal constraints: their forces are open."""
    d = Draft("held twice", q=1, v=1, multipliers=2)
    return d.equations(
        A=ca.SX([[1, -1, -1], [1, 0, 0], [1, 0, 0]]),
        b=ca.SX.zeros(3),
        guess=ca.SX.zeros(2),
        g=ca.vertcat(d.q, d.q),
        c=ca.vertcat(d.v, d.v),
    )


@pytest.mark.slow
def test_constraint_forces_that_are_open_are_named(library):
    with pytest.raises(Failed, match=r"singular.*'velocity [12]'"):
        library(held_twice).slave().enter().finish()


def dropped():
    d = Draft("dropped", q=1, v=1, parameters=[0.2, 0.2])
    return d.equations(A=ca.SX(1), b=ca.SX(0), guess=ca.vertcat(d.P[0], 0), redundant=d.q - d.P[1])


@pytest.mark.slow
@pytest.mark.parametrize(("value", "error"), [(0.3, r"0\.1"), (0.20001, "1e-05"), (0.200001, "1e-06")])
def test_dropped_constraints_must_hold(library, value, error):
    slave = library(dropped).slave().enter()
    assert slave.get("x0") == 0.2
    slave.set("p1", value)
    with pytest.raises(Failed, match=rf"'dropped 1' was dropped as redundant .* \(off by -?{error}\)"):
        slave.finish()
    slave.set("p1", 0.2 + 1e-9)
    slave.finish()


def switched_on_the_way():
    """A mass whose guess, 0, lies on the other side of a switch than its start, p[0]; the switch pushes it."""
    d = Draft("switched", q=1, v=1, switches=1, parameters=[1.0])
    return d.equations(
        A=ca.SX(1), b=d.m[0], guess=ca.SX.zeros(2), initial=d.X[0] - d.P[0], crossings=d.q - 0.5, y=d.w[0]
    )


@pytest.mark.slow
def test_switches_of_each_start_are_found_anew(library):
    """A switch that has changed there and back stays in that start, not in later ones."""
    slave = library(switched_on_the_way).slave().enter()
    accelerations = []
    for start in (1.0, 1.1, 1.2, 0.2, 1.3):
        slave.set("p0", start)
        accelerations.append(slave.get("y0"))
    assert accelerations == [1.0, 1.0, 1.0, 0.0, 1.0]


def contradictory():
    """It starts at p[0] where it is not above 0, and at -p[0] where it is: at 0 rounding may choose."""
    d = Draft("contradictory", q=1, v=1, switches=1, parameters=[1.0])
    initial = d.X[0] - d.P[0] * (1 - 2 * d.m[0])
    return d.equations(A=ca.SX(1), b=0, guess=ca.SX.zeros(2), initial=initial, crossings=d.q)


@pytest.mark.slow
def test_a_switch_that_contradicts_either_mode_has_no_start(library):
    """It was held in one of them where it went there and back, as if it started on its crossing."""
    slave = library(contradictory).slave().enter()
    with pytest.raises(Failed, match=r"no start is found in which switch 0 settles: with either mode the other"):
        slave.get("x0")
    slave.set("p0", -1.0)
    assert abs(slave.get("x0")) == 1.0
    slave.set("p0", 0.0)
    assert slave.get("x0") == 0.0


def without_a_value():
    """sqrt(X - 50) = p[0], looked for from 0 on: no number is tried at which the root is one."""
    d = Draft("root", q=1, v=1, parameters=[2.0])
    return d.equations(A=ca.SX(1), b=0, guess=ca.SX.zeros(2), initial=ca.vertcat(d.X[1], ca.sqrt(d.X[0] - 50) - d.P[0]),
                       equation_names=("rest", "level of the tank"))  # fmt: skip


def test_an_equation_without_a_finite_value_is_named(library):
    slave = library(without_a_value).slave().enter()
    with pytest.raises(Failed, match=r"initialisation fails: .* no finite value; .*, first in 'level of the tank'"):
        slave.get("x0")


def there_and_back():
    """Two places: with neither switch (1, -1), with one of them (-1, 1). The first switch turns on, and off again."""
    d = Draft("turns", q=2, v=2, switches=2)
    first = 1 - 2 * (d.m[0] + d.m[1] - d.m[0] * d.m[1])
    initial = ca.vertcat(d.X[0] - first, d.X[1] + d.X[0])
    return d.equations(
        A=ca.SX.eye(2), b=ca.SX.zeros(2), guess=ca.DM([-1, -1, 0, 0]), initial=initial, crossings=d.q, y=d.m
    )


def test_a_switch_may_turn_there_and_back_before_it_agrees(library):
    """What counts is whether it contradicts the start in the end."""
    slave = library(there_and_back).slave().start()
    assert slave.get("x0", "x1", "y0", "y1") == [-1.0, 1.0, 0.0, 1.0]
