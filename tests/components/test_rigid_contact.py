"""Rigid bodies that meet, rest and part: impacts by the mass matrix, constraints that push and never pull."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
from typing import Any

import casadi as ca
import fmpy
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbfmu
from mbfmu.components import Prismatic, World, translational
from mbfmu.components.blocks import Constant, Ramp
from mbfmu.components.contact import Box, Capsule, Contact, Plane, RigidContact, Sphere, rigid
from mbfmu.components.joints import Revolute
from mbfmu.components.parts import Body, FixedTranslation
from mbfmu.dynamics import System
from mbfmu.errors import InitializationError, ModelError
from mbfmu.modeling import Assembly, Component, Frame_a, Start, Variable
from mbfmu.modeling import types as t
from mbfmu.runtime import contract
from mbfmu.runtime.run import Run
from mbfmu.simulation import simulate
from problems.contact import PROBLEMS, REST, Cradle, G, Touching, rigid_ball
from problems.rigid_contact import Rod, routh

RIGID = {"contact": RigidContact}


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize(
    "id",
    ["contact-bouncing-ball-rest", "contact-newton-cradle-back", "contact-ladder-wall", "contact-double-pendulum-wall"],
)
def test_published_problems_are_met(id: str) -> None:
    (problem,) = (one for one in PROBLEMS if one.id == id)
    assert problem.difference(problem.tolerance) <= problem.error


@pytest.mark.slow
def test_a_ball_at_rest_stays_there_with_its_weight() -> None:
    """After all its impacts, whatever the tolerance: their sum is the momentum that gravity has given."""
    result = simulate(rigid_ball(), 60.0, tolerance=1e-4)
    assert abs(result["contact.gap[1]"][-1]) < 1e-12
    assert abs(result["body.v_0[3]"][-1]) < 1e-12
    assert result["contact.f_n[1]"][-1] == pytest.approx(G, rel=1e-9)
    assert result["contact.impulse[1]"][-1] == pytest.approx(60 * G, rel=1e-9)
    assert result["contact.closed[1]"][result.time < REST - 1e-3].max() == 0


@pytest.mark.slow
def test_steps_of_a_fixed_length_come_to_rest() -> None:
    """Impacts are at the ends of steps, up to a step's way too deep; rest takes that back."""
    model = rigid_ball()
    model.contact.v_min = 0.02  # twice what a ball gains in a step
    system = System.of(model)
    system = dataclasses.replace(system, equations=dataclasses.replace(system.equations, fixed_step=1e-3))
    result = simulate(system, 6.0)
    assert result["contact.gap[1]"].min() > -5e-3
    assert abs(result["contact.gap[1]"][-1]) < 1e-6
    assert result["contact.f_n[1]"][-1] == pytest.approx(G, rel=1e-6)


class Rail(Assembly):
    """Balls of some masses [kg] on a rail, at places and with speeds of their own."""

    def __init__(self, masses, places, speeds, *, e: float, g: float = 0.0, end: float | None = None) -> None:
        self.world = World(g=g, n=(-1, 0, 0))
        for i, (m, s, v) in enumerate(zip(masses, places, speeds, strict=True)):
            rail = self.add(f"rail{i}", Prismatic(s=Start(s, fixed=True), v=Start(v, fixed=True), useAxisFlange=True))
            body, ball = self.add(f"body{i}", Body(m=m, r_CM=(0, 0, 0))), self.add(f"ball{i}", Sphere(radius=0.1))
            self.connect(self.world.frame_b, rail.frame_a)
            self.connect(rail.frame_b, body.frame_a)
            self.connect(rail.frame_b, ball.frame_a)
            if i:
                self.add(f"contact{i}", RigidContact(geometry_a=f"ball{i}", geometry_b=f"ball{i - 1}", e=e))
        if end is not None:
            self.end = Plane(r=(end, 0, 0), n=(1, 0, 0))
            self.floor = RigidContact(geometry_a="ball0", geometry_b="end", e=e)
            self.connect(self.world.frame_b, self.end.frame_a)


@pytest.mark.slow
@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_two_balls_part_as_newton_says(e: float) -> None:
    m, v = (1.0, 3.0), (2.0, -1.0)
    result = simulate(Rail(m, (0.0, 1.2), v, e=e), 1.0)
    mean, away = (m[0] * v[0] + m[1] * v[1]) / sum(m), e * (v[0] - v[1]) / sum(m)
    assert result["rail0.v"][-1] == pytest.approx(mean - m[1] * away, rel=1e-12)
    assert result["rail1.v"][-1] == pytest.approx(mean + m[0] * away, rel=1e-12)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize("hypothesis", ["Newton", "Poisson", "Stronge"])
def test_what_is_struck_at_one_instant_has_each_its_own_restitution(hypothesis: str) -> None:
    """Two balls that do not know of each other meet a wall at once: one stays there, one comes back."""

    class Two(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            for name, m, e in (("soft", 2.0, 0.0), ("hard", 3.0, 0.6)):
                rail = self.add(f"{name}Rail", Prismatic(s=Start(0.35, fixed=True), v=Start(-0.5, fixed=True)))
                body, ball = self.add(f"{name}Body", Body(m=m, r_CM=(0, 0, 0))), self.add(name, Sphere(radius=0.1))
                wall = self.add(f"{name}Wall", Plane(n=(1, 0, 0)))
                for one, other in ((self.world, rail), (self.world, wall), (rail, body), (rail, ball)):
                    self.connect(one.frame_b, other.frame_a)
                law = {"hypothesis": hypothesis, "e": e}
                self.add(f"{name}Contact", RigidContact(geometry_a=name, geometry_b=f"{name}Wall", **law))

    result = simulate(Two(), 1.0, tolerance=1e-9)
    assert result["softRail.v"][-1] == pytest.approx(0.0, abs=1e-12)
    assert result["hardRail.v"][-1] == pytest.approx(0.3, rel=1e-9)
    assert result["hardContact.impulse[1]"][-1] == pytest.approx(3.0 * 0.8, rel=1e-9)


@pytest.mark.slow
def test_balls_that_press_each_other_are_struck_at_once() -> None:
    """A pile under gravity: the ball that falls onto it strikes all of it, which the floor bears."""
    result = simulate(Rail((1.0, 2.0, 0.5), (0.1, 0.3, 1.5), (0.0, 0.0, 0.0), e=0.0, g=G, end=0.0), 2.0, tolerance=1e-9)
    for i, weight in enumerate((3.5, 2.5, 0.5)):
        name = f"contact{i}" if i else "floor"
        assert result[f"{name}.f_n[1]"][-1] == pytest.approx(weight * G, rel=1e-9)
        assert result[f"{name}.impulse[1]"][-1] == pytest.approx(2 * weight * G, rel=1e-9)


@pytest.mark.slow
def test_a_pulled_ball_comes_off() -> None:
    class Pulled(Rail):
        def __init__(self) -> None:
            super().__init__((1.0,), (0.1,), (0.0,), e=0.0, g=G, end=0.0)
            self.ramp, self.force = Ramp(height=20.0, duration=20.0), translational.Force()
            self.connect(self.ramp.y, self.force.f)
            self.connect(self.force.flange, self.rail0.axis)

    times = G + np.array([-1e-3, 1e-3, 1.0])
    result = simulate(Pulled(), 12.0, tolerance=1e-10, interval=1e-3)
    s = np.interp(times, result.time, result["rail0.s"] - 0.1)
    np.testing.assert_allclose(s, [0.0, 1e-9 / 6, 1 / 6], atol=1e-8)
    assert result["floor.f_n[1]"].min() > -1e-9


@pytest.mark.slow
def test_a_heavy_ball_is_pulled_off_another() -> None:
    """By hundreds of kilonewtons, of which nothing is left over where they come to their end."""
    lower, upper = 4e4 * G, 1e4 * G

    class Pile(Rail):
        def __init__(self) -> None:
            super().__init__((4e4, 1e4), (0.1, 0.3), (0.0, 0.0), e=0.0, g=G, end=0.0)
            self.ramp, self.force = Ramp(height=2 * upper, duration=2.0), translational.Force()
            self.connect(self.ramp.y, self.force.f)
            self.connect(self.force.flange, self.rail1.axis)

    result = simulate(Pile(), 1.3, tolerance=1e-8, interval=0.05)
    assert result["rail1.s"][-1] - 0.3 == pytest.approx(G * 0.3**3 / 6, rel=1e-9)
    assert result["contact1.f_n[1]"].min() > -1e-9
    assert result["floor.f_n[1]"][-1] == pytest.approx(lower, rel=1e-12)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(("e", "rise"), [(0.5, 0.25), (0.0, 0.0)])
def test_a_box_lands_flat(e: float, rise: float) -> None:
    """Four corners are struck at once, any three of which say all: it rises by e^2 of its fall, and does not turn."""
    fall, box = 0.5, Box(length=0.2, height=0.1, lengthDirection=(1, 0, 0))
    model = Touching(box, {"e": e}, **RIGID, I=(0.01, 0.02, 0.03), height=0.05 + fall)
    landed = math.sqrt(2 * fall / G) + 1e-3
    result = simulate(model, 1.5, tolerance=1e-9, interval=1e-3)
    assert result["body.r_0[3]"][result.time > landed].max() == pytest.approx(0.05 + rise * fall, abs=1e-5)
    assert max(abs(result[f"body.w_a[{i}]"]).max() for i in (1, 2, 3)) < 1e-6
    assert result["contact.f_a[3]"][-1] == pytest.approx(G, rel=1e-6)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    ("e", "angles", "w"), [(0.3, (0.9, -0.4, 0.1), (2, -3, 1)), (1.0, (-0.2, 0.7, 0.5), (9, 8, -7))]
)
def test_a_box_that_tumbles_neither_gains_energy_nor_sinks(e: float, angles, w) -> None:
    box = Box(length=0.2, width=0.15, height=0.1)
    model = Touching(box, {"e": e}, **RIGID, I=(0.01, 0.02, 0.03), height=0.5, v=(0.5, 0, 0), w=w)
    model.body.angles_start = angles
    result = simulate(System.of(model, energy=True), 2.0, tolerance=1e-8)
    energy = result["energy.total"]
    assert np.diff(energy).max() < 1e-6
    assert (energy[-1] == pytest.approx(energy[0], rel=1e-6)) == (e == 1.0)
    assert min(result[f"contact.gap[{i}]"].min() for i in range(1, 9)) > -1e-8


@pytest.mark.slow
def test_a_corner_strikes_a_box_free_in_space() -> None:
    """J = (1 + e) v / (1/m + (r x n) I^-1 (r x n)): impulse of a body that is struck outside its centre of mass."""
    e, v, I, tilt = 0.4, 2.0, (0.01, 0.02, 0.03), (0.3, 0.2, 0.0)  # noqa: E741 - the symbol of mechanics
    model = Touching(Box(length=0.2, width=0.2, height=0.1), {"e": e}, **RIGID, I=I, height=0.3, v=(0, 0, -v), g=0.0)
    model.body.angles_start = tilt
    result = simulate(model, 0.2, interval=1e-3)
    struck = int(np.argmax([result[f"contact.impulse[{i}]"][-1] for i in range(1, 9)]))
    k = int(np.argmax(result[f"contact.impulse[{struck + 1}]"] > 0))
    T = np.array([[result[f"body.frame_a.R.T[{i},{j}]"][0] for j in (1, 2, 3)] for i in (1, 2, 3)])
    corners = np.array(list(itertools.product((-0.1, 0.1), (-0.1, 0.1), (-0.05, 0.05))))
    lowest = corners[np.argmin(corners @ T[:, 2])]
    lever = np.cross(lowest, T[:, 2])
    impulse = (1 + e) * v / (1 + lever @ (lever / I))
    assert result[f"contact.impulse[{struck + 1}]"][k] == pytest.approx(impulse, rel=1e-9)
    assert result["body.v_0[3]"][k] == pytest.approx(impulse - v, rel=1e-9)


@pytest.mark.slow
def test_a_support_that_would_pull_lets_go() -> None:
    """A ball falls on a beam beyond one of its two supports: the beam turns about that one, and leaves the other."""
    M, J, m, a, b, v, e = 2.0, 0.5, 1.0, 0.3, 0.8, 3.0, 0.5

    class Beam(Assembly):
        def __init__(self) -> None:
            self.world = World(g=1e-6, n=(0, 0, -1))
            free = {"angles_fixed": True, "w_0_fixed": True}
            start = {"r_0": Start((0, 0, 0.1), fixed=True), "v_0": Start((0, 0, 0), fixed=True)}
            self.beam = Body(m=M, r_CM=(0, 0, 0), I_11=J, I_22=J, I_33=J, **free, **start)
            self.top = Capsule(radius=0.05, length=2.0, n=(1, 0, 0))
            start = {"r_0": Start((b, 0, 0.3), fixed=True), "v_0": Start((0, 0, -v), fixed=True)}
            self.weight, self.ball = Body(m=m, r_CM=(0, 0, 0), **free, **start), Sphere(radius=0.05)
            self.ground = Plane()
            self.connect(self.world.frame_b, self.ground.frame_a)
            self.connect(self.beam.frame_a, self.top.frame_a)
            self.connect(self.weight.frame_a, self.ball.frame_a)
            self.contact = RigidContact(geometry_a="ball", geometry_b="top", e=e)
            for name, x in (("left", -a), ("right", a)):
                foot = self.add(name, Sphere(radius=0.05, r=(x, 0, -0.05)))
                self.connect(self.beam.frame_a, foot.frame_a)
                self.add(f"at_{name}", RigidContact(geometry_a=name, geometry_b="ground"))

    result = simulate(Beam(), 0.1, interval=1e-3, tolerance=1e-9)
    k = int(np.argmax(result["contact.impulse[1]"] > 0))
    about = J + M * a**2
    struck = (1 + e) * v / (1 / m + (b - a) ** 2 / about)
    w = struck * (b - a) / about
    assert result["contact.impulse[1]"][k] == pytest.approx(struck, rel=1e-6)
    assert result["beam.w_a[2]"][k] == pytest.approx(w, rel=1e-4)
    assert result["at_right.impulse[1]"][k] == pytest.approx(struck + M * w * a, rel=1e-3)
    assert result["at_left.impulse[1]"].max() < 1e-6


class Linkage(Assembly):
    """A parallelogram of three rods, a closed loop, whose coupler swings against a wall."""

    def __init__(self, e: float) -> None:
        self.world = World(g=G, n=(0, 0, -1))
        self.ball, self.wall = Sphere(radius=0.05), Plane(r=(-0.5, 0, 0), n=(1, 0, 0))
        self.mount, self.far = FixedTranslation(r=(2, 0, 0)), FixedTranslation(r=(2, 0, 0))
        self.connect(self.world.frame_b, self.mount.frame_a)
        self.connect(self.world.frame_b, self.wall.frame_a)
        for i, base in enumerate((self.world.frame_b, self.mount.frame_b)):
            angle = {"phi": Start(-0.8, fixed=True), "w": Start(0.0, fixed=True)} if i == 0 else {"phi": Start(-0.8)}
            joint = self.add(f"joint{i}", Revolute(n=(0, 1, 0), **angle))
            rod = self.add(f"rod{i}", FixedTranslation(r=(0, 0, -1)))
            body = self.add(f"body{i}", Body(m=1.0, r_CM=(0, 0, -0.5), I_11=0.1, I_22=0.1))
            self.connect(base, joint.frame_a)
            self.connect(joint.frame_b, rod.frame_a)
            self.connect(joint.frame_b, body.frame_a)
        self.knee, self.coupler = Revolute(n=(0, 1, 0), phi=Start(0.8)), Body(m=2.0, r_CM=(1, 0, 0), I_22=0.5, I_33=0.5)
        self.elbow = Revolute(n=(0, 1, 0), phi=Start(-0.8))
        self.connect(self.rod0.frame_b, self.knee.frame_a)
        self.connect(self.knee.frame_b, self.coupler.frame_a)
        self.connect(self.knee.frame_b, self.far.frame_a)
        self.connect(self.knee.frame_b, self.ball.frame_a)
        self.connect(self.far.frame_b, self.elbow.frame_a)
        self.connect(self.elbow.frame_b, self.rod1.frame_b)
        self.contact = RigidContact(geometry_a="ball", geometry_b="wall", e=e)


@pytest.mark.slow
def test_impacts_go_through_closed_loops() -> None:
    """The parallelogram turns like one pendulum of the same energy: its speed turns round by e, and no joint gives."""
    result = simulate(Linkage(0.5), 0.9, tolerance=1e-9, interval=1e-3)
    w = result["joint0.w"]
    i = int(np.argmax(np.abs(np.diff(w)) > 0.5))
    assert w[i + 1] == pytest.approx(-0.5 * w[i], rel=2e-2)
    np.testing.assert_allclose(result["joint1.w"], w, atol=1e-7)
    np.testing.assert_allclose(result["knee.w"], -w, atol=1e-7)


@pytest.mark.slow
def test_steps_of_a_fixed_length_draw_contacts_back_in_closed_loops() -> None:
    """Coming to rest takes back at once how deep the step of the impact went, and the loop stays closed."""
    model = Linkage(0.0)
    model.world.n, model.contact.v_min = (-0.8, 0, -0.6), 0.05
    system = System.of(model)
    system = dataclasses.replace(system, equations=dataclasses.replace(system.equations, fixed_step=1e-3))
    result = simulate(system, 2.0, interval=1e-3)
    closed = result["contact.closed[1]"] > 0.5
    assert closed[-1]
    assert result["contact.gap[1]"].min() < -1e-6
    assert np.abs(result["contact.gap[1]"][1:][closed[:-1] & closed[1:]]).max() < 1e-9
    np.testing.assert_allclose(result["joint1.phi"], result["joint0.phi"], atol=1e-9)


@pytest.mark.slow
def test_what_sticks_slips_under_an_impact() -> None:
    """A brake that holds a body has a finite force, whose impulse is nothing beside that of an impact."""

    class Braked(Rail):
        def __init__(self) -> None:
            super().__init__((1.0, 3.0), (0.0, 1.2), (2.0, 0.0), e=0.5)
            self.brake, self.on = translational.Brake(fn_max=10.0, mu_pos=((0.0, 0.5),)), Constant(k=1.0)
            self.connect(self.on.y, self.brake.f_normalized)
            self.connect(self.rail1.axis, self.brake.flange_a)

    result = simulate(Braked(), 2.0, interval=1e-3, tolerance=1e-8)
    k = int(np.argmax(result["rail1.v"] > 0))
    passed = result.time[k] - 0.5
    assert result["rail1.v"][k] == pytest.approx(1.5 * 2.0 / 4 - 5.0 / 3 * passed, abs=1e-7)
    assert result["rail0.v"][k] == pytest.approx(2.0 - 1.5 * 2.0 * 3 / 4, abs=1e-7)
    assert result["rail1.v"][-1] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
@pytest.mark.campaign  # test_rigid_chains.py has friction in FMUs
def test_fmus_of_both_versions_and_targets_agree_to_the_bit(tmp_path: pathlib.Path) -> None:
    ends, system = set(), System.of(Cradle())
    for fmi, target in itertools.product((2, 3), ("native", "python")):
        file = mbfmu.build(system, tmp_path / f"cradle{fmi}{target}.fmu", fmi=fmi, target=target)
        names = ["joint1.phi", "joint5.w"]
        for kind in ("CoSimulation", "ModelExchange") if target == "native" else ("CoSimulation",):
            last = fmpy.simulate_fmu(str(file), stop_time=2.5, output_interval=0.01, output=names, fmi_type=kind)[-1]
            found = tuple(float(last[name]) for name in names)
            if kind == "CoSimulation":
                ends.add(found)
            else:
                assert found == pytest.approx(next(iter(ends)), abs=1e-3)
    assert len(ends) == 1


# -- friction


J = 0.4 * 0.1**2
BALL = {**RIGID, "I": (J, J, J)}


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize(
    ("mu", "w", "law"),
    [
        *((0.1, 50.0, law) for law in ("Poisson", "Newton", "Stronge")),
        *((mu, w, "Newton") for mu, w in ((0.5, 50.0), (0.5, 3.0), (0.0, 50.0))),
    ],
)
def test_a_spinning_ball_bounces_as_in_closed_form(mu: float, w: float, law: str) -> None:
    """It slides all the while that it is struck, or stops sliding: the impulse along the ground is the lesser one."""
    e, fall, v = 0.6, 0.3, (1.0, 0.5)
    given = {"mu_k": mu, "e": e, "hypothesis": law}
    model = Touching(Sphere(radius=0.1), given, **BALL, height=0.1 + fall, v=(*v, 0), w=(0, w, 0))
    result = simulate(model, 0.4, tolerance=1e-10)
    slip = np.array([v[0] - 0.1 * w, v[1]])
    impulse = -slip / (1 + 0.1**2 / J)
    most = mu * (1 + e) * math.sqrt(2 * G * fall)
    impulse *= min(1.0, most / np.linalg.norm(impulse))
    for i in (1, 2):
        assert result[f"body.v_0[{i}]"][-1] == pytest.approx(v[i - 1] + impulse[i - 1], rel=1e-9)
        assert result[f"contact.impulse_t[{i}]"][-1] == pytest.approx(impulse[i - 1], abs=1e-9)
    turning = np.linalg.norm([result[f"body.w_a[{i}]"][-1] for i in (1, 2, 3)])
    assert turning == pytest.approx(np.hypot(w - 0.1 * impulse[0] / J, 0.1 * impulse[1] / J), rel=1e-9)


@pytest.mark.slow
def test_a_ball_slides_until_it_rolls_on_a_slope() -> None:
    """In space: friction turns with the sliding; then it rolls down with 5/7 of the acceleration, and is held."""
    slope = 0.2
    start = {"v": (2.0, 0.5, 0.0), "w": (3.0, -8.0, 5.0), "slope": slope, "height": 0.1}
    result = simulate(Touching(Sphere(radius=0.1), {"mu_k": 0.3}, **BALL, **start), 2.0, tolerance=1e-9)
    sticks, t, v = result["contact.sticks[1]"] > 0.5, result.time, result["body.v_0[1]"]
    k = int(np.argmax(sticks))
    assert 0 < t[k] < 1
    assert sticks[k:].all()
    np.testing.assert_allclose(np.diff(v[k:]) / np.diff(t[k:]), 5 / 7 * G * math.sin(slope), rtol=1e-6)
    turning = np.sum([result[f"body.w_a[{i}]"] ** 2 for i in (1, 2, 3)], axis=0) - 5.0**2
    np.testing.assert_allclose(np.hypot(v, result["body.v_0[2]"])[k:], 0.1 * np.sqrt(turning[k:]), rtol=1e-7)
    np.testing.assert_allclose(result["contact.f_t[1]"][k + 1 :], 2 / 7 * G * math.sin(slope), rtol=1e-6)
    sliding = result["contact.f_t[1]"][1 : k - 1]
    np.testing.assert_allclose(sliding, 0.3 * G * math.cos(slope), rtol=1e-9)


@pytest.mark.slow
def test_static_friction_holds_more_than_sliding_friction() -> None:
    """A block on a rail, pushed harder and harder: at mu_s it breaks away, and mu_k resists from there on."""

    class Pushed(Assembly):
        def __init__(self) -> None:
            self.world = World(g=G, n=(0, 0, -1))
            self.rail = Prismatic(useAxisFlange=True, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True))
            self.lift = Prismatic(n=(0, 0, 1), s=Start(0.1, fixed=True), v=Start(0.0, fixed=True))
            self.body, self.ball, self.floor = Body(m=2.0, r_CM=(0, 0, 0)), Sphere(radius=0.1), Plane()
            self.contact = RigidContact(geometry_a="ball", geometry_b="floor", mu_k=0.3, mu_s=0.5)
            self.ramp, self.force = Ramp(height=20.0, duration=2.0), translational.Force()
            self.connect(self.world.frame_b, self.rail.frame_a)
            self.connect(self.rail.frame_b, self.lift.frame_a)
            self.connect(self.lift.frame_b, self.body.frame_a)
            self.connect(self.lift.frame_b, self.ball.frame_a)
            self.connect(self.world.frame_b, self.floor.frame_a)
            self.connect(self.ramp.y, self.force.f)
            self.connect(self.force.flange, self.rail.axis)

    breaks = 0.5 * 2 * G / 10
    result = simulate(Pushed(), 2.0, tolerance=1e-9, interval=1e-3)
    t, v = result.time, result["rail.v"]
    assert np.abs(v[t < breaks - 2e-3]).max() < 1e-12
    slid = t[-1] - breaks
    assert v[-1] == pytest.approx((5 * slid**2 + 10 * breaks * slid - 0.3 * 2 * G * slid) / 2, rel=1e-6)


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("hypothesis", ["Newton", "Poisson", "Stronge"])
@pytest.mark.parametrize(
    ("degrees", "mu", "v"),
    [(45, 0.3, 0.0), (45, 0.8, 0.0), (60, 0.4, 0.3), (60, 0.2, 0.5), (30, 1.0, -1.0), (60, 1.5, -1.0)],
    ids=["slides", "sticks", "stops", "turns round", "slides the other way", "is wedged until it stops"],
)
def test_a_rod_is_struck_as_routh_has_it(degrees: float, mu: float, v: float, hypothesis: str) -> None:
    angle, e = math.radians(degrees), 0.5
    result = simulate(Rod(angle, {"mu_k": mu, "e": e, "hypothesis": hypothesis}, v=(v, 0, -1.0)), 0.01, interval=1e-3)
    along, normal = routh(angle, mu, e, hypothesis, np.array([v, -1.0]))
    assert result["contact.impulse[1]"][-1] == pytest.approx(normal, rel=1e-8)
    assert result["contact.impulse_t[1]"][-1] == pytest.approx(along, rel=1e-8)


def energy(result) -> np.ndarray:
    """Kinetic energy of the rod [J]."""
    v = [result[f"body.v_0[{i}]"] for i in (1, 3)]
    return (v[0] ** 2 + v[1] ** 2 + result["body.w_a[2]"] ** 2 / 12) / 2


@pytest.mark.slow
def test_no_impact_gains_energy() -> None:
    """After Newton's hypothesis this rod would: it turns round, and pushes itself off."""
    angle, law = math.radians(60), {"mu_k": 0.4, "e": 1.0}
    along, normal = routh(angle, 0.4, 1.0, "Newton", np.array([1.2, -1.0]))
    r = -np.array([math.cos(angle), math.sin(angle)]) / 2
    v, w = np.array([1.2 + along, -1.0 + normal]), 12 * (r[1] * along - r[0] * normal)
    assert (v @ v + w**2 / 12) / 2 > 1.05 * (1.2**2 + 1) / 2
    kept = energy(simulate(Rod(angle, law, v=(1.2, 0, -1.0)), 0.01, interval=1e-3))
    assert kept[-1] == pytest.approx(kept[0], rel=1e-6)
    assert kept[-1] <= kept[0]


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.2, 0.9])
def test_a_point_that_can_move_one_way_only_stays_within_its_cone(mu: float) -> None:
    """A ball on an inclined rail that ends on the floor: of its force, statics say the part along the rail alone."""
    rise = math.radians(30)

    class Jammed(Assembly):
        def __init__(self) -> None:
            self.world = World(g=G, n=(0, 0, -1))
            self.rail = Prismatic(
                n=(math.cos(rise), 0, math.sin(rise)),
                s=Start(0.3, fixed=True),
                v=Start(0.0, fixed=True),
                useAxisFlange=True,
            )
            self.body, self.ball, self.floor = Body(m=2.0, r_CM=(0, 0, 0)), Sphere(radius=0.1), Plane()
            self.contact = RigidContact(geometry_a="ball", geometry_b="floor", mu_k=mu)
            self.ramp, self.force = Ramp(height=20.0, duration=2.0, startTime=1.0), translational.Force()
            self.connect(self.world.frame_b, self.rail.frame_a)
            self.connect(self.rail.frame_b, self.body.frame_a)
            self.connect(self.rail.frame_b, self.ball.frame_a)
            self.connect(self.world.frame_b, self.floor.frame_a)
            self.connect(self.ramp.y, self.force.f)
            self.connect(self.force.flange, self.rail.axis)

    result = simulate(Jammed(), 3.0, tolerance=1e-8, interval=1e-2)
    t, weight = result.time, 2.0 * G * math.sin(rise)
    opens = 1.0 + weight / 10
    rests = (t > 0.31) & (t < opens - 1e-6)
    f_n, f_t = result["contact.f_c[1,3]"][rests], result["contact.f_c[1,1]"][rests]
    pulled = np.interp(t, [1.0, 3.0], [0.0, 20.0])[rests]
    assert result["contact.closed[1]"][rests].all()
    assert not result["contact.closed[1]"][t > opens + 1e-6].any()
    np.testing.assert_allclose(f_n * math.sin(rise) + f_t * math.cos(rise), weight - pulled, atol=1e-6)
    assert np.all(np.abs(f_t) <= mu * f_n * (1 + 1e-6) + 1e-9)
    assert np.ptp(result["rail.s"][rests]) < 1e-9
    assert result["rail.v"][-1] == pytest.approx((3.0 - opens) ** 2 * 10 / 2 / 2, rel=1e-6)


@pytest.mark.slow
def test_a_block_on_a_slope_sticks_without_creep() -> None:
    """On four corners, three of which say where it is; then it slides where friction is less than the slope."""
    slope, box = math.radians(20), {"length": 0.2, "height": 0.1}
    start = {"I": (0.01, 0.01, 0.01), "height": 0.05, "slope": slope}
    held = simulate(Touching(Box(**box), {"mu_k": 0.4}, **RIGID, **start), 100.0, tolerance=1e-8)
    assert abs(held["body.r_0[1]"][-1]) < 1e-10
    slides = simulate(Touching(Box(**box), {"mu_k": 0.3}, **RIGID, **start), 1.0, tolerance=1e-8)
    assert slides["body.v_0[1]"][-1] == pytest.approx(G * (math.sin(slope) - 0.3 * math.cos(slope)), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("friction", "message"), [(3.0, "press with -"), (-20.0, "press with [0-9]")])
def test_forces_that_are_not_those_of_the_event_end_the_run(
    monkeypatch: pytest.MonkeyPatch, friction: float, message: str
) -> None:
    """Equations under which what sticks has too much friction, or pulls, as where rounding decides on shares."""

    def rub(self: Any, modes: Any, kept: list[Any], f_n: Any) -> None:
        (f_t,) = self._f_t
        self._contact.effort(impulse_t=f_t - ca.if_else(kept[0], friction * f_n * ca.SX([1, 0, 0]), 0))
        self._contact.f_t, self._contact.sticks = ca.SX([0]), kept[0]

    monkeypatch.setattr(rigid._Rubbed, "rub", rub)
    with pytest.raises(InitializationError, match=rf"contact: no forces of rigid bodies .* time 0 .* {message}"):
        simulate(Rod(math.radians(60), {"mu_k": 1.0}, v=(0, 0, 0), g=G), 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_what_slides_across_a_slope_turns_and_stops_once(tolerance: float) -> None:
    """It turns downhill, and stops: as the two equations of a block have it, in a few events, none of noise."""
    slope, mu = 0.2, 0.3
    start = {"I": (1e9, 1e9, 1e9), "height": 0.1, "v": (-0.5, 1.0, 0.0), "slope": slope}
    system = System.of(Touching(Sphere(radius=0.1), {"mu_k": mu}, **RIGID, **start))
    run = Run(system.equations, system.variables, tolerance=tolerance)
    run.finish_initialisation()
    run.advance(1.0)
    place = {v.name: contract.place(v.store, v.index) for v in system.variables}
    found = run.row(np.array([place[name] for name in ("contact.sticks[1]", "body.r_0[1]", "body.r_0[2]")]))

    def rates(_: float, s: np.ndarray) -> np.ndarray:
        pull = -mu * G * math.cos(slope) * s[2:] / np.linalg.norm(s[2:])
        return np.array([*s[2:], pull[0] + G * math.sin(slope), pull[1]])

    def stops(_: float, s: np.ndarray) -> float:
        return float(np.linalg.norm(s[2:])) - 1e-6

    stops.terminal = True  # type: ignore[attr-defined]
    expected = solve_ivp(rates, (0.0, 1.0), [0, 0, -0.5, 1.0], events=stops, rtol=1e-10, atol=1e-12)
    assert expected.t[-1] < 1.0
    assert found[0] == 1
    np.testing.assert_allclose(found[1:], expected.y[:2, -1], atol=max(1e-7, 5 * tolerance))
    assert run.instance.statistics()["events"] <= 6


@pytest.mark.slow
def test_a_rod_that_wedges_itself_ends_the_run() -> None:
    """Painleve: beyond mu = 4/3 a slender rod that slides into the floor has no motion at some angles."""
    with pytest.raises(InitializationError, match=r"contact slides where friction wedges it at time 0: .* mu_k = 1.5"):
        simulate(Rod(math.radians(60), {"mu_k": 1.5}, v=(-1.0, 0, 0), g=G), 0.1)
    simulate(Rod(math.radians(60), {"mu_k": 1.3}, v=(-1.0, 0, 0), g=G), 0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("contact", "law"), [(RigidContact, {}), (Contact, {"c": 1e6, "d": 100.0, "c_t": 1e6})])
def test_static_friction_is_at_least_sliding_friction_in_a_run(contact: Any, law: dict[str, float]) -> None:
    """Where both are given, both are set; else one follows the other."""
    start = {"I": (0.01, 0.01, 0.01), "height": 0.05, "slope": math.radians(40), "contact": contact}
    both = System.of(Touching(Sphere(radius=0.05), {"mu_k": 0.1, "mu_s": 0.15, **law}, **start))
    with pytest.raises(InitializationError, match=r"contact: mu_s is 0\.05 less than mu_k.* set both"):
        simulate(both, 0.1, start_values={"contact.mu_k": 0.2})
    set_both = simulate(both, 0.1, start_values={"contact.mu_k": 0.2, "contact.mu_s": 0.2})
    follows = System.of(Touching(Sphere(radius=0.05), {"mu_k": 0.1, **law}, **start))
    one = simulate(follows, 0.1, start_values={"contact.mu_k": 0.2})
    friction = set_both["contact.f_t[1]"][-1]
    assert one["contact.f_t[1]"][-1] == pytest.approx(friction, rel=1e-9)
    assert friction == pytest.approx(0.2 * set_both["contact.f_n[1]"][-1], rel=1e-6)


# -- where it cannot go on, and wrong inputs


@pytest.mark.slow
def test_impacts_without_end_end_the_run() -> None:
    model = Rail((1.0,), (0.0,), (1.0,), e=1.0, end=-0.1)
    model.top = Plane(r=(0.1, 0, 0), n=(-1, 0, 0))
    model.roof = RigidContact(geometry_a="ball0", geometry_b="top", e=1.0)
    model.connect(model.world.frame_b, model.top.frame_a)
    with pytest.raises(InitializationError, match="events follow each other without end at time 0"):
        simulate(model, 1.0)


@pytest.mark.slow
def test_overlap_is_told() -> None:
    with pytest.raises(
        InitializationError, match=r"ball1 and ball0 overlap at the start \(contact1.gap says how far\)"
    ):
        simulate(Rail((1.0, 1.0), (0.0, 0.15), (0.0, 0.0), e=0.5), 1.0)


def prescribed() -> Rail:
    model = Rail((1.0,), (0.5,), (0.0,), e=0.5, end=0.0)
    model.rail0.modify(s=Start(0.5), v=Start(0.0))
    model.move, model.way = translational.Position(exact=True), Ramp(height=-1.0, duration=1.0, offset=0.5)
    model.connect(model.way.y, model.move.s_ref)
    model.connect(model.move.flange, model.rail0.axis)
    return model


class Own(Component):
    """A component whose impact is told wrongly."""

    frame_a = Frame_a("Frame")
    x = Variable(t.Real, "No impulse")

    def equations(self) -> None:
        self.impact("x", velocity=0.0, touching=0.0, slow=0.0)


def of_own() -> Assembly:
    model = Assembly()
    model.world, model.own = World(), Own()
    model.connect(model.world.frame_b, model.own.frame_a)
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Touching(Sphere(radius=0.1), {"e": 1.5}, **RIGID, height=1.0), r"RigidContact.e = 1.5: must be <= 1"),
        (lambda: Touching(Sphere(radius=0.1), {"v_min": 0.0}, **RIGID, height=1.0), r"v_min = 0.0: must be >= 1e-09"),
        (lambda: Touching(Sphere(radius=0.1), {"c": 1.0}, **RIGID, height=1.0), r"RigidContact has no .*'?c'?"),
        (
            prescribed,
            r"floor: impulse moves nothing: what would be struck is prescribed on both sides; let forces move",
        ),
        (
            lambda: Touching(Sphere(radius=0.1), {"mu_s": 1.0}, **RIGID, height=1.0),
            r"RigidContact.mu_s: has no effect without friction; give mu_k, too",
        ),
        (
            lambda: Touching(Sphere(radius=0.1), {"mu_k": 0.5, "mu_s": 0.4}, **RIGID, height=1.0),
            r"RigidContact.mu_s = 0.4: static friction is at least sliding friction, mu_k = 0.5",
        ),
        (
            lambda: Touching(Sphere(radius=0.1), {"hypothesis": "Moreau"}, **RIGID, height=1.0),
            r"hypothesis = 'Moreau'",
        ),
        (of_own, r"own: impact\('x', ...\) needs a declared Impulse 'x'"),
    ],
)
def test_wrong_inputs_are_told_in_one_line(make, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        System.of(make())
    assert "\n" not in str(caught.value)
