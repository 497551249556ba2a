"""Freedoms that move no mass are named; light ones are left alone."""

from __future__ import annotations

import math

import pytest

import mbfmu
from mbfmu.components import Body, FixedTranslation, FreeMotion, Prismatic, Revolute, Spherical, World, translational
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, ModelError
from mbfmu.modeling import Assembly, Component, Start


class Chain(Assembly):
    """Parts one behind the other, each hanging on the frame_b of the one before, or on its frame_a."""

    def __init__(self, *parts: Component) -> None:
        self.world = World()
        at = self.world.frame_b
        for i, part in enumerate(parts):
            setattr(self, f"p{i}", part)
            self.connect(at, part.frame_a)
            at = part.frame_b if "frame_b" in part.ports() else part.frame_a


def ball(m: float = 1.0, inertia: float = 1e-3) -> Body:
    return Body(m=m, r_CM=(0.1, 0.02, 0), I_11=inertia, I_22=inertia, I_33=inertia)


LINK = {"r": (1, 0, 0)}
SINGULAR = {
    "a link in front of a free joint": (
        Chain(Revolute(), FixedTranslation(**LINK), FreeMotion(), ball()),
        "p0.w, p2.v",
    ),
    "two hinges about one axis": (Chain(Revolute(), Revolute(), ball()), "p0.w, p1.w: together"),
    "a hinge at a ball joint": (Chain(Revolute(), Spherical(), ball()), "p0.w, p1.w_rel"),
    "the same in front of others": (
        Chain(Revolute(), Spherical(), ball(), Revolute(n=(1, 0, 0)), ball(), Revolute(n=(0, 1, 0)), ball()),
        "p0.w, p1.w_rel",
    ),
    "two slides along one line": (Chain(Prismatic(n=(1, 1, 0)), Prismatic(n=(2, 2, 0)), ball()), "p0.v, p1.v"),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", SINGULAR)
def test_what_moves_no_mass_is_named(what: str) -> None:
    assembly, words = SINGULAR[what]
    with pytest.raises(ModelError, match="whatever the masses are") as caught:
        System.of(assembly)
    assert words in str(caught.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*moves no mass")
def test_masses_that_are_given_later_are_waited_for() -> None:
    """A chain long enough for the recursion, whose last mass is 0 by default: refused by name, and fine with one."""
    joints = [Revolute(n=n, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True)) for n in ((0, 0, 1), (0, 1, 0)) * 3]
    parts = [part for joint in joints for part in (joint, FixedTranslation(**LINK), ball())]
    empty = Chain(*parts[:-1], Body(m=0.0, r_CM=(0, 0, 0), I_11=0.0, I_22=0.0, I_33=0.0))
    system = System.of(empty)
    with pytest.raises(InitializationError, match=r"they leave open der\(p15\.w\)"):
        mbfmu.simulate(system, 0.01)
    assert mbfmu.simulate(system, 0.01, start_values={"p17.m": 1.0})["p15.w"][-1] != 0.0


@pytest.mark.slow
def test_light_links_between_heavy_ones_are_no_fault() -> None:
    turns = [(0, 0, 1), (0, 1, 0), (1, 0, 0.5), (0, 0, 1), (0, 1, 0), (1, 0, 1)]
    masses = [1e3, 1e-5, 1e4, 1e-6, 1e-6, 1e5]
    links = [(Revolute(n=n), ball(m, 1e-3 * m), FixedTranslation(**LINK)) for n, m in zip(turns, masses, strict=True)]
    assert System.of(Chain(*[part for link in links for part in (link[0], link[2], link[1])])).equations.explicit


class OnSpring(Assembly):
    """A mass on a spring."""

    def __init__(self, m: float, c: float) -> None:
        self.wall, self.spring = translational.Fixed(), translational.Spring(c=c)
        self.mass = translational.Mass(m=m, s=Start(1e-3, fixed=True), v=Start(0.0, fixed=True))
        self.connect(self.wall.flange, self.spring.flange_a)
        self.connect(self.spring.flange_b, self.mass.flange_a)


@pytest.mark.parametrize(("m", "c"), [(1.0, 1e18), (1e-10, 1e8), (1e-15, 1.0)])
def test_a_mass_is_found_behind_the_force_of_a_stiff_spring(m: float, c: float) -> None:
    duration = (m / c) ** 0.5
    result = mbfmu.simulate(System.of(OnSpring(m, c)), duration, interval=duration, tolerance=1e-9)
    assert result["mass.s"][-1] == pytest.approx(1e-3 * math.cos(1.0), rel=1e-6)
