"""Initialisation: fixed start values hold, guesses give way, and what cannot be met is said."""

from __future__ import annotations

import itertools
import math
import pathlib
import re
import warnings
from typing import Any

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu.components import (
    Body,
    BodyBox,
    BodyShape,
    FixedTranslation,
    FreeMotion,
    PointMass,
    Prismatic,
    Revolute,
    Spherical,
    SphericalSpherical,
    World,
    blocks,
    rotational,
    translational,
)
from mbfmu.errors import InitialConditionsWarning, InitializationError, ModelError
from mbfmu.modeling import Assembly, Component, Parameter, Start
from mbfmu.modeling import types as t

G = 9.80665


class Slider(Assembly):
    """A body on a vertical slide and a spring; s counts upwards from the spring's foot."""

    def __init__(self, slide: dict[str, Any], body: dict[str, Any] | None = None, **spring: Any) -> None:
        self.world = World()
        self.slide = Prismatic(n=(0, 1, 0), useAxisFlange=True, **slide)
        self.body = PointMass(m=2.0, **(body or {}))
        self.spring = translational.Spring(**{"c": 100.0, "s_rel0": 0.5, **spring})
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.body.frame_a)
        self.connect(self.slide.support, self.spring.flange_a)
        self.connect(self.slide.axis, self.spring.flange_b)


def start_of(assembly: Assembly, *names: str, **start_values: float) -> tuple[float, ...]:
    result = mbfmu.simulate(assembly, 1e-6, outputs=names, start_values=start_values)
    return tuple(float(result[n][0]) for n in names)


def fixed(value: Any = 0.0) -> Start:
    return Start(value, fixed=True)


def test_guesses_stay_where_nothing_contradicts_them() -> None:
    assembly = Slider({"s": Start(0.7), "v": Start(-0.2)})
    assert start_of(assembly, "slide.s", "slide.v") == (0.7, -0.2)


def test_a_fixed_acceleration_finds_the_position() -> None:
    """At rest on the spring: s = s_rel0 - m g / c, though the guess says otherwise."""
    assembly = Slider({"s": Start(3.0), "v": fixed(), "a": fixed()})
    assert start_of(assembly, "slide.s", "slide.v", "slide.a") == pytest.approx((0.5 - 2 * G / 100, 0, 0), abs=1e-10)


def test_a_fixed_start_beats_the_guess_of_another_variable() -> None:
    """The body's height is fixed; the slide follows."""
    assembly = Slider({"s": Start(3.0), "v": Start(5.0)}, {"r_0": Start([0, 0.3, 0], [False, True, False])})
    assert start_of(assembly, "slide.s", "body.r_0[2]") == pytest.approx((0.3, 0.3), abs=1e-10)
    assert start_of(assembly, "slide.v") == (5.0,)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_two_fixed_values_that_agree_are_one() -> None:
    assembly = Slider({"s": fixed(0.3)}, {"r_0": fixed([0, 0.3, 0])})
    assert start_of(assembly, "slide.s") == (0.3,)


@pytest.mark.parametrize("name", ["r_0", "v_0"])
def test_two_fixed_values_that_disagree_are_both_named(name: str) -> None:
    assembly = Slider({"s": fixed(0.3), "v": fixed(1.0)}, {name: fixed([0, 0.4, 0])})
    with pytest.raises(InitializationError, match=rf"body\.{name}\[2\]") as caught:
        mbfmu.simulate(assembly, 0.1)
    assert "slide." in str(caught.value)


def test_an_impossible_direction_is_named() -> None:
    """The slide is vertical: the body cannot start beside it."""
    with pytest.raises(InitializationError, match=r"body\.r_0\[1\]"):
        mbfmu.simulate(Slider({}, {"r_0": Start([1.0, 0, 0], [True, False, False])}), 0.1)


def test_a_free_parameter_is_found_and_is_its_value_from_then_on() -> None:
    """c (s_rel0 - s) = m g + m a at the start, and the oscillation has that stiffness."""
    assembly = Slider({"s": fixed(0.3), "v": fixed(), "a": fixed(5.0)}, c=Start(20.0, fixed=False))
    c = 2 * (G + 5.0) / 0.2
    result = mbfmu.simulate(assembly, 2.0, tolerance=1e-10)
    np.testing.assert_allclose(result["spring.c"], c, rtol=1e-9)
    middle = 0.5 - 2 * G / c
    expected = middle + (0.3 - middle) * np.cos(math.sqrt(c / 2) * result.time)
    np.testing.assert_allclose(result["slide.s"], expected, atol=1e-8)


def test_a_free_parameter_is_found_within_its_bounds_or_not_at_all() -> None:
    """Only a spring of negative stiffness would hold the body up from above."""
    assembly = Slider({"s": fixed(0.7), "v": fixed(), "a": fixed()}, c=Start(20.0, fixed=False))
    words = r"assertion violated: what initialisation finds for spring\.c is out of bounds, its least is 0"
    with pytest.raises(InitializationError, match=words):
        mbfmu.simulate(assembly, 0.1)


@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_free_parameter_that_nothing_determines_keeps_its_guess() -> None:
    assembly = Slider({"s": fixed(0.3), "v": fixed()}, c=Start(20.0, fixed=False))
    assert start_of(assembly, "spring.c") == (20.0,)


def test_more_conditions_than_unknowns() -> None:
    """Position, speed and acceleration fixed with a spring that does not fit: three values for two unknowns."""
    with pytest.raises(InitializationError, match=r"over-determine it(.|\n)*slide\.s = 0\.3(.|\n)*slide\.a = 0"):
        mbfmu.simulate(Slider({"s": fixed(0.3), "v": fixed(), "a": fixed()}), 0.1)


class Pole(Assembly):
    """A ball joint with angles as states, at their pole, and turning about the axis that they do not have there."""

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity")
        self.ball = Spherical(
            enforceStates=True, useQuaternions=False, angles_fixed=True, angles_start=(0, math.pi / 2, 0),
            w_rel_a_fixed=True, w_rel_a_start=(1.0, 0.2, 0.3),
        )  # fmt: skip
        self.body = Body(m=1.0, r_CM=(0, 0, 0), I_11=0.1, I_22=0.2, I_33=0.25)
        self.connect(self.world.frame_b, self.ball.frame_a)
        self.connect(self.ball.frame_b, self.body.frame_a)


def test_a_pole_of_angles_is_named_beside_the_start_values_that_it_contradicts() -> None:
    with pytest.raises(InitializationError, match=r"is at 90 or -90 degrees(.|\n)*useQuaternions(.|\n)*over-determine"):
        mbfmu.simulate(Pole(), 0.1)


@pytest.mark.slow
def test_what_rounding_leaves_of_a_derivative_moves_nothing() -> None:
    """A rod holds an arm on a free carrier. The carrier's speed has no effect on the rod's length, but for rounding, so
    that it cannot make up for the arm's speed; and no other start value is blamed."""
    arm, rod = np.array([0.2, 0.3, 0.1]), np.array([0.3, 0.1, 0.2])

    def held(w: float) -> Assembly:
        assembly = Assembly()
        assembly.world = World()
        assembly.free = FreeMotion(
            r_rel_a=fixed((0.1, 0.2, 0.3)),
            v_rel_a=fixed((0.3, 0.1, 0.2)),
            angles_start=(0.3, 0.4, 0.5),
            angles_fixed=True,
            w_rel_a_start=(0.3, 0.2, 0.1),
        )
        assembly.carrier = BodyShape(r=rod, r_CM=(0.1, 0, 0), m=2.0)
        assembly.hinge = Revolute(n=(1, 2, 3), phi=fixed(0.0), w=fixed(w))
        assembly.arm = BodyShape(r=arm, r_CM=(0.1, 0, 0), m=1.0)
        assembly.rod = SphericalSpherical(rodLength=float(np.linalg.norm(arm + rod)))
        assembly.connect(assembly.world.frame_b, assembly.free.frame_a)
        assembly.connect(assembly.free.frame_b, assembly.carrier.frame_a)
        assembly.connect(assembly.carrier.frame_b, assembly.hinge.frame_a)
        assembly.connect(assembly.hinge.frame_b, assembly.arm.frame_a)
        assembly.connect(assembly.carrier.frame_a, assembly.rod.frame_a)
        assembly.connect(assembly.arm.frame_b, assembly.rod.frame_b)
        return assembly

    with pytest.warns(InitialConditionsWarning):
        (turn,) = start_of(held(0.0), "free.w_rel_b[1]")
    assert abs(turn) < 0.4
    with pytest.raises(InitializationError, match=r"over-determine(.|\n)*hinge\.w = 0\.7") as caught:
        mbfmu.simulate(held(0.7), 0.1)
    assert "free.Q" not in str(caught.value)


def test_start_values_are_set_before_initialisation() -> None:
    """A fixed one holds its new value; a guess does where nothing contradicts it; either moves the other unknowns."""
    assembly = Slider({"s": fixed(0.3), "v": Start(1.0)})
    assert start_of(assembly, "slide.s", "slide.v", **{"slide.s": 0.2, "slide.v": -4.0}) == (0.2, -4.0)
    at_rest = Slider({"s": Start(3.0), "v": fixed(), "a": fixed()})
    assert start_of(at_rest, "slide.s", **{"spring.c": 50.0}) == pytest.approx((0.5 - 2 * G / 50,), abs=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_start_value_may_follow_parameters() -> None:
    """The body's angular velocity is resolved in the body; its declaration turns the one that is given."""

    class Turned(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.body = Body(
                m=1.0,
                r_CM=(0, 0, 0),
                angles_start=(0, 0, math.pi / 2),
                angles_fixed=True,
                w_0_start=(3.0, 0, 0),
                w_0_fixed=True,
            )

    w = [f"body.w_a[{i}]" for i in (1, 2, 3)]
    assert start_of(Turned(), *w) == pytest.approx((0, -3, 0), abs=1e-12)
    again = start_of(Turned(), *w, **{"body.angles_start[3]": 0.0})
    assert again == pytest.approx((3, 0, 0), abs=1e-12)


def test_a_fixed_angular_acceleration_is_met() -> None:
    """z_0_fixed: the spring's angle is found so that the body starts with that acceleration."""

    class Twisted(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.hinge = Revolute(useAxisFlange=True, w=fixed())
            self.spring = rotational.Spring(c=6.0)
            self.body = Body(m=1.0, r_CM=(0, 0, 0), I_33=3.0, I_11=2.0, I_22=2.0, z_0_start=(0, 0, -0.5))
            self.hinge.modify(a=fixed(-0.5))
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.body.frame_a)
            self.connect(self.hinge.support, self.spring.flange_a)
            self.connect(self.hinge.axis, self.spring.flange_b)

    assert start_of(Twisted(), "hinge.phi", "body.z_a[3]") == pytest.approx((0.25, -0.5), abs=1e-10)


class Loop(Assembly):
    """A crank, a rod and a slide; the crank's start is fixed or the slide's."""

    def __init__(self, crank: dict[str, Any], slide: dict[str, Any], rod: float = 0.3) -> None:
        self.world = World()
        self.j1 = Revolute(**crank)
        self.crank = BodyShape(m=1.0, r=(0.1, 0, 0), r_CM=(0.05, 0, 0), I_22=0.01, I_33=0.01)
        self.j2 = Revolute()
        self.rod = BodyShape(m=1.0, r=(rod, 0, 0), r_CM=(rod / 2, 0, 0), I_22=0.01, I_33=0.01)
        self.j3 = Revolute()
        self.slide = Prismatic(**slide)
        self.connect(self.world.frame_b, self.j1.frame_a)
        self.connect(self.j1.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.j2.frame_a)
        self.connect(self.j2.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.j3.frame_a)
        self.connect(self.j3.frame_b, self.slide.frame_b)
        self.connect(self.world.frame_b, self.slide.frame_a)


@pytest.mark.slow
@pytest.mark.parametrize(("guess", "turn"), [(0.2, 0.0), (0.35, -1.0), (-0.3, 2.0)])
def test_a_loop_is_assembled_near_its_guess(guess: float, turn: float) -> None:
    """s = 0.1 cos(phi) +- sqrt(0.3^2 - (0.1 sin(phi))^2), on the side of the guess."""
    phi = 0.8
    assembly = Loop({"phi": fixed(phi), "w": fixed(2.0)}, {"s": Start(guess)})
    assembly.j2.modify(phi=Start(turn))
    height = 0.1 * math.sin(phi)
    branch = math.copysign(math.sqrt(0.3**2 - height**2), guess)
    s = 0.1 * math.cos(phi) + branch
    v = -2.0 * (height + height * 0.1 * math.cos(phi) / branch)
    assert start_of(assembly, "slide.s", "slide.v") == pytest.approx((s, v), abs=1e-9)


@pytest.mark.slow
def test_the_other_end_of_a_loop_can_be_fixed() -> None:
    assembly = Loop({"phi": Start(1.0)}, {"s": fixed(0.3), "v": fixed()})
    cosine = (0.1**2 + 0.3**2 - 0.3**2) / (2 * 0.1 * 0.3)
    assert start_of(assembly, "j1.phi", "j1.w") == pytest.approx((math.acos(cosine), 0), abs=1e-8)


def test_a_loop_that_cannot_close_is_named() -> None:
    with pytest.raises(InitializationError, match=r"cut of (j\d|slide), row \d' is off by") as caught:
        mbfmu.simulate(Loop({"phi": fixed(math.pi / 2)}, {"s": Start(0.1)}, rod=0.05), 0.1)
    assert "Loop" in str(caught.value)
    blamed = r"over-determine it, let one of them be a guess, or change it: j1\.phi = 1\.57079633$"
    assert re.search(blamed, str(caught.value))


@pytest.mark.slow
@pytest.mark.parametrize("length", [0.1, 0.3])
def test_bars_too_short_for_their_loop_are_no_matter_of_start_values(length: float) -> None:
    """Three bars between hinges that are 1 m apart: at no angle of the first one the others reach."""

    class Bars(Assembly):
        """Four hinges and three bars."""

        def __init__(self) -> None:
            self.world, self.base = World(), FixedTranslation(r=(1.0, 0, 0))
            self.a, self.b, self.c, self.d = Revolute(phi=fixed(1.0), w=fixed()), Revolute(), Revolute(), Revolute()
            self.first, self.second, self.third = (BodyBox(r=(length, 0, 0), width=0.02) for _ in range(3))
            self.connect(self.world.frame_b, self.base.frame_a)
            chain = (self.world, self.a, self.first, self.b, self.second, self.c, self.third, self.d)
            for one, following in itertools.pairwise(chain):
                self.connect(one.frame_b, following.frame_a)
            self.connect(self.d.frame_b, self.base.frame_b)

    with pytest.raises(InitializationError, match=r"'cut of \w+, row \d' is off by (.|\n)*: check lengths") as caught:
        mbfmu.simulate(Bars(), 0.1)
    assert "no fixed start value is in the way" in str(caught.value)
    assert "a.phi" not in str(caught.value)


class Pushed(Assembly):
    """A mass that a load pushes and a force holds, which is an offset behind a limiter: the offset is sought."""

    def __init__(self, load: float, offset: float, m: float = 4.0) -> None:
        self.mass = translational.Mass(m=m, s=fixed(), v=fixed(), a=fixed())
        self.force, self.load = translational.Force(), translational.ConstantForce(f_constant=-load)
        self.offset, self.limiter = blocks.Constant(k=Start(offset, fixed=False)), blocks.Limiter(uMax=10.0)
        self.connect(self.offset.y, self.limiter.u)
        self.connect(self.limiter.y, self.force.f)
        self.connect(self.force.flange, self.mass.flange_a)
        self.connect(self.load.flange, self.mass.flange_a)


@pytest.mark.slow
@pytest.mark.parametrize(("offset", "m"), [(30.0, 4.0), (3.0, 4.0), (30.0, 2000.0)])
def test_a_limiter_at_its_limit_is_what_is_in_the_way(offset: float, m: float) -> None:
    """Of 20 N the limiter lets 10 N through. That is told in newtons, and the mass, which is to rest, is not blamed."""
    assert start_of(Pushed(7.0, 3.0, m), "offset.k") == (pytest.approx(7.0),)
    wanted = r"'motion of mass\.s'{3} is off by 10; 'switch \d of limiter'"
    with pytest.raises(InitializationError, match=wanted) as caught:
        mbfmu.simulate(Pushed(20.0, offset, m), 0.1)
    assert "in its other mode offset.k = 20 would meet them" in str(caught.value)
    assert "mass.a" not in str(caught.value)


@pytest.mark.slow
def test_only_start_values_that_one_could_let_go_are_blamed() -> None:
    """The position of a slide on a spring that carries no such load: with it or its acceleration as a guess all is met,
    with its speed not; and where two would have to go, that is said."""
    with pytest.raises(InitializationError, match=r"let one of them be a guess, or change it: ([^:]*)$") as caught:
        mbfmu.simulate(Slider({"s": fixed(0.3), "v": fixed(), "a": fixed()}), 0.1)
    assert "slide.v" not in str(caught.value)

    class Four(Assembly):
        """Four bars, all of whose angles are said, and wrong."""

        def __init__(self) -> None:
            self.world, self.base = World(), FixedTranslation(r=(1.0, 0, 0))
            self.a, self.b, self.c, self.d = *(Revolute(phi=fixed(phi)) for phi in (0.3, 0.0, 0.0)), Revolute()
            self.first, self.second, self.third = (BodyBox(r=(r, 0, 0), width=0.02) for r in (0.3, 0.9, 0.6))
            self.connect(self.world.frame_b, self.base.frame_a)
            chain = (self.world, self.a, self.first, self.b, self.second, self.c, self.third, self.d)
            for one, following in itertools.pairwise(chain):
                self.connect(one.frame_b, following.frame_a)
            self.connect(self.d.frame_b, self.base.frame_b)

    with pytest.raises(InitializationError, match=r"let several of them be guesses, or change them: [abcd]\.phi = "):
        mbfmu.simulate(Four(), 0.1)


@pytest.mark.slow
def test_zeros_are_told_as_zeros() -> None:
    """An angular velocity along one axis, in a frame that is turned by a right angle: cos(pi/2) is not quite 0."""

    class Held(Assembly):
        """A rod holds a body on a ball joint that turns."""

        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.ball = Spherical(
                angles_fixed=True, angles_start=(0, 0, math.pi / 2), w_rel_a_fixed=True, w_rel_a_start=(0.35, 0, 0)
            )
            self.body = BodyShape(m=1.0, r=(0.5, 0.3, 0.2), r_CM=(0.1, 0, 0))
            self.rod = SphericalSpherical(rodLength=math.sqrt(0.3**2 + 0.5**2 + 0.8**2))
            self.post = FixedTranslation(r=(0, 0, 1.0))
            self.connect(self.world.frame_b, self.ball.frame_a)
            self.connect(self.ball.frame_b, self.body.frame_a)
            self.connect(self.world.frame_b, self.post.frame_a)
            self.connect(self.post.frame_b, self.rod.frame_a)
            self.connect(self.body.frame_b, self.rod.frame_b)

    with pytest.raises(InitializationError, match=r"ball\.w_rel\[1\] = 0\b(?!\.)") as caught:
        mbfmu.simulate(Held(), 0.1)
    assert "e-1" not in str(caught.value)


@pytest.mark.slow
def test_a_start_of_the_wrong_size() -> None:
    with pytest.raises(ModelError, match=r"body\.r_0: the start value has 2 elements, expected 3"):
        mbfmu.System.of(Slider({}, {"r_0": Start([1.0, 2.0])}))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_given_guess_moves_less_than_a_free_parameter() -> None:
    """A slide given at 1 m and a rod of open length, about 0.8 m, that must reach it: the rod gives way."""

    class Reach(Assembly):
        """A rod from the ground to a slide."""

        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.slide, self.mass = Prismatic(s=Start(1.0)), Body(m=1.0, r_CM=(0, 0, 0))
            self.rod = SphericalSpherical(rodLength=0.8, computeRodLength=True)
            self.connect(self.world.frame_b, self.slide.frame_a)
            self.connect(self.slide.frame_b, self.mass.frame_a)
            self.connect(self.world.frame_b, self.rod.frame_a)
            self.connect(self.rod.frame_b, self.slide.frame_b)

    s, length = start_of(Reach(), "slide.s", "rod.rodLength")
    assert length == pytest.approx(s, rel=1e-9)
    assert 0.95 < s < 1.0


class Hanging(Assembly):
    """A mass on a spring and damper below a filtered position, in equilibrium."""

    def __init__(self, **filtered: Any) -> None:
        self.above = translational.Position(**filtered)
        self.spring = translational.SpringDamper(c=1000.0, d=50.0)
        self.m = translational.Mass(m=1.0, v=Start(0.0, fixed=True), a=Start(0.0, fixed=True))
        self.weight = translational.ConstantForce(f_constant=-G)
        self.held = blocks.Constant(k=0.0)
        self.connect(self.held.y, self.above.s_ref)
        self.connect(self.above.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.m.flange_a)
        self.connect(self.m.flange_b, self.weight.flange)


def test_a_steady_state_is_at_rest_where_a_filter_could_move() -> None:
    """The filter's speed, minus that of the spring, is open as well as the mass's position: moving it would give
    equilibrium for an instant.
    """
    with pytest.warns(InitialConditionsWarning, match=r"chosen: spring\.v_rel = 0;"):
        result = mbfmu.simulate(Hanging(), 0.1)
    assert result["m.s"][0] == pytest.approx(-G / 1000.0, abs=1e-10)
    assert result["above.v"][0] == pytest.approx(0.0, abs=1e-10)
    assert np.ptp(result["m.s"]) < 1e-8


def test_a_steady_state_whose_start_is_given_is_silent(recwarn: pytest.WarningsRecorder) -> None:
    mbfmu.simulate(Hanging(v=Start(0.0, fixed=True)), 0.1)
    assert not [w for w in recwarn if w.category is InitialConditionsWarning]


def test_a_rotor_whose_speed_nobody_gave_is_named() -> None:
    class Coupled(Assembly):
        def __init__(self) -> None:
            self.shaft = rotational.Inertia(J=1.0, phi=Start(0.0, fixed=True), w=Start(10.0, fixed=True))
            self.damper = rotational.Damper(d=1.0)
            self.rotor = rotational.Inertia(J=2.0)
            self.connect(self.shaft.flange_b, self.damper.flange_a)
            self.connect(self.damper.flange_b, self.rotor.flange_a)

    with pytest.warns(InitialConditionsWarning, match=r"damper\.w_rel = 0") as caught:
        mbfmu.simulate(Coupled(), 0.1)
    assert "shaft" not in str(caught[0].message)
    assert caught[0].filename == __file__


class Open(Assembly):
    """A mass on a slide, of which nobody says how fast it starts."""

    def __init__(self) -> None:
        self.world = World(g=0.0)
        self.slide = Prismatic(s=Start(0.0))
        self.mass = Body(m=1.0, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.mass.frame_a)


def choices_said(system: mbfmu.System) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            mbfmu.simulate(system, 0.1)
    return [str(w.message) for w in caught if w.category is InitialConditionsWarning]


@pytest.mark.slow
def test_choices_are_said_once_a_model_and_zeros_as_zero() -> None:
    first, second = (mbfmu.System.of(Open()) for _ in range(2))
    for system in (first, second):
        (message,) = choices_said(system)
        assert message.startswith("Open: nobody gave these start values, and nothing determines them")
        assert re.findall(r"(slide\.\w+) = (\S+?)[,;]", message) == [("slide.v", "0")]
    assert choices_said(first) == []


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(("fmi", "target"), [(2, "native"), (3, "native"), (2, "python")])
def test_fmu_lists_choices_where_the_importer_asks_for_a_log(fmi: int, target: str, tmp_path: pathlib.Path) -> None:
    path = mbfmu.build(Open(), tmp_path / "open.fmu", fmi=fmi, target=target, equations="interpreted")
    for asked in (False, True):
        log: list[str] = []

        def note(*arguments: object, into: list[str] = log) -> None:
            into.append(str(arguments[-1]))

        fmpy.simulate_fmu(str(path), stop_time=0.1, logger=note, debug_logging=asked)
        said = [line for line in log if "nobody gave these start values" in line]
        assert len(said) == int(asked)


def test_what_rounding_leaves_of_zero_is_listed_as_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    rounded = [(0, -1.60354e-30), (1, 2.2e-16)]
    monkeypatch.setattr("mbfmu.runtime.library.Instance.choices", lambda instance, count: rounded)
    (message,) = choices_said(mbfmu.System.of(Open()))
    assert re.findall(r" = (\S+?)[,;]", message) == ["0", "0"]


class Turned(Assembly):
    """A free body whose orientation begins at a quaternion."""

    def __init__(self, Q: tuple[float, ...], fixed: bool = True) -> None:
        self.world = World(gravityType="NoGravity")
        self.free = FreeMotion(useQuaternions=True, Q=Start(list(Q), fixed=fixed))
        self.body = Body(m=1.0, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.free.frame_a)
        self.connect(self.free.frame_b, self.body.frame_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
def test_a_fixed_quaternion_is_an_orientation_or_refused():
    with pytest.raises(InitializationError, match=r"from 'free\.Q\[1\]' on have the length 2: divide them by it"):
        mbfmu.simulate(Turned((0, 0, 0, 2)), 0.1)
    with pytest.raises(InitializationError, match=r"have the length 1\.11803"):
        mbfmu.simulate(Turned((0, 0, 0, 1)), 0.1, start_values={"free.Q[1]": 0.5})
    with pytest.raises(InitializationError, match="have the length 0"):
        mbfmu.simulate(Turned((0, 0, 0, 0)), 0.1)
    turned = mbfmu.simulate(Turned((0.70711, 0, 0, 0.70711)), 0.1)  # five digits, as one writes them
    np.testing.assert_allclose(turned["free.Q"][0], [math.sqrt(0.5), 0, 0, math.sqrt(0.5)], atol=1e-15)
    guessed = mbfmu.simulate(Turned((0, 0, 0, 2), fixed=False), 0.1)
    np.testing.assert_allclose(guessed["free.Q"][0], [0, 0, 0, 1], atol=1e-12)


class Fruit(Component):
    """A component with a unit of its own."""

    given = Parameter(t.Type("Fruit", unit="bananas"), 1.0, "How much of it")

    def equations(self) -> None:
        """There are none."""


def test_what_is_no_unit_is_refused_before_any_run():
    assembly = Assembly()
    assembly.fruit = Fruit()
    for use in (mbfmu.System.of, mbfmu.simulate):
        with pytest.raises(ModelError, match=r'fruit\.given: unit "bananas": "bananas" is not a known unit'):
            use(assembly)
