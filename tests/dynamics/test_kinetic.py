"""Rotors whose carriers have less inertia than they are named where motions of negative kinetic energy grow."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbfmu
from mbfmu.components import (
    Body,
    FixedTranslation,
    Revolute,
    RevolutePlanarLoopConstraint,
    Rotor1D,
    World,
    rotational,
)
from mbfmu.dynamics.system import System
from mbfmu.fmus.bevel_gear import BevelGear
from mbfmu.modeling import Assembly, Component, Start

REST = {"phi": Start(0.0, fixed=True), "w": Start(0.0, fixed=True)}


class Carrier(Assembly):
    """A disc on a hinge with spring and damper, and rotors on it; in a planar loop of four hinges, if asked for."""

    def __init__(self, *rotors: Rotor1D, c: float = 10.0, d: float = 1.0, loop: bool = False) -> None:
        self.world = World(n=(0, 0, -1))
        self.hinge = Revolute(n=(0, 0, 1), useAxisFlange=True, phi=Start(0.1, fixed=True), w=Start(0.0, fixed=True))
        self.body = Body(m=1.0, r_CM=(0, 0, 0), I_11=1.0, I_22=1.0, I_33=1.0)
        self.spring = rotational.SpringDamper(c=c, d=d)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)
        self.connect(self.spring.flange_a, self.hinge.support)
        self.connect(self.spring.flange_b, self.hinge.axis)
        for i, rotor in enumerate(rotors):
            self.add(f"rotor{i}", rotor)
            self.connect(rotor.frame_a, self.hinge.frame_b)
        if loop:
            self._close()

    def _close(self) -> None:
        """A parallelogram: a crank as long as the disc's arm, and a coupler as long as the ground."""
        parts: dict[str, Component] = {
            "arm": FixedTranslation(r=(1, 0, 0)),
            "j1": Revolute(n=(0, 0, 1)),
            "coupler": FixedTranslation(r=(0, 1, 0)),
            "j2": RevolutePlanarLoopConstraint(n=(0, 0, 1)),
        }
        at = self.hinge.frame_b
        for name, part in parts.items():
            self.add(name, part)
            self.connect(at, part.frame_a)
            at = part.frame_b
        self.ground, self.crank = FixedTranslation(r=(0, 1, 0)), FixedTranslation(r=(1, 0, 0))
        self.j3 = Revolute(n=(0, 0, 1), phi=Start(0.1))
        self.connect(self.world.frame_b, self.ground.frame_a)
        self.connect(self.ground.frame_b, self.j3.frame_a)
        self.connect(self.j3.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, at)


def told(assembly: Assembly) -> list[str]:
    """What is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        System.of(assembly)
    return [str(warning.message) for warning in caught]


@pytest.mark.slow
@pytest.mark.campaign(keep=3)
@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("modes", [{}, {"exact": False}, {"virtualPower": True}])
def test_a_rotor_that_its_carrier_lacks_is_named(modes: dict[str, bool], loop: bool) -> None:
    """With its number, and by itself: the carrier does not turn about the axis of the other one."""

    def rotors(J: float) -> tuple[Rotor1D, Rotor1D]:
        return Rotor1D(J=3.0, n=(1, 0, 0), **REST, **modes), Rotor1D(J=J, n=(0, 0, 2), **REST, **modes)

    (message,) = told(Carrier(*rotors(1.5), loop=loop))
    assert message.startswith("rotor1: with J = 1.5 kg.m2 motions grow that ought to decay")
    assert "inertia about n of the body that carries it" in message
    assert not told(Carrier(*rotors(0.9), loop=loop))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*motions grow that ought to decay")
def test_it_grows_as_said_and_with_more_inertia_it_does_not() -> None:
    """(I - J) phi'' = -c phi - d phi' of a carrier whose rotor nothing drives."""
    for J in (2.0, 0.5):
        result = mbfmu.simulate(Carrier(Rotor1D(J=J, n=(0, 0, 1), **REST)), 3.0, tolerance=1e-10)
        roots = np.roots([1.0 - J, 1.0, 10.0])
        weights = np.linalg.solve([[1.0, 1.0], roots], [0.1, 0.0])
        exact = (np.exp(np.outer(result.time, roots)) @ weights).real
        np.testing.assert_allclose(result["hinge.phi"], exact, rtol=1e-6, atol=1e-9)


@pytest.mark.slow
def test_what_does_not_grow_is_left_alone() -> None:
    """A carrier that nothing holds, the reaction of virtual power, which takes nothing from it, and the library's bevel
    gear, whose housing has less than its rotors."""
    assert not told(BevelGear())
    assert not told(Carrier(Rotor1D(J=2.0, n=(0, 0, 1), **REST), c=0.0, d=0.0))
    assert not told(Carrier(Rotor1D(J=2.0, n=(0, 0, 1), exact=False, virtualPower=True, **REST)))


def test_a_rotor_as_large_as_its_carrier_moves_no_mass_with_these_parameters() -> None:
    """No other part is blamed, and no joint: the masses are what is wrong."""
    (message,) = told(Carrier(Rotor1D(J=1.0, n=(0, 0, 1), **REST)))
    assert message.startswith("hinge.w, rotor0.w: together move no mass with these parameters, ")
