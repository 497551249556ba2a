"""A bevel gear between 1-dim. rotors and a gear constraint between solid shafts model one thing: they move alike."""

from __future__ import annotations

import numpy as np
import pytest

import mbfmu
from mbfmu.components import BevelGear1D, Body, GearConstraint, Revolute, Rotor1D, World
from mbfmu.modeling import Assembly, Start

J_A, J_B, RATIO = 0.2, 0.5, 2.0
SPIN = {"phi": Start(0.0, fixed=True), "w": Start(2.0, fixed=True)}


class _Housing(Assembly):
    """A housing on two hinges whose axes are not parallel."""

    def hang(self, I_11: float, I_22: float) -> None:
        self.world = World()
        self.hinge = Revolute(n=(0, 0, 1), phi=Start(0.3, fixed=True), w=Start(1.0, fixed=True))
        self.swing = Revolute(n=(1, 1, 0), phi=Start(0.2, fixed=True), w=Start(-0.5, fixed=True))
        self.housing = Body(m=2.0, r_CM=(0.3, 0.1, 0.0), I_11=I_11, I_22=I_22, I_33=0.4)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.swing.frame_a)
        self.connect(self.swing.frame_b, self.housing.frame_a)


class Rotors(_Housing):
    """1-dim. rotors: the housing's inertia contains theirs at rest."""

    def __init__(self) -> None:
        self.hang(0.2 + J_A, 0.3 + J_B)
        self.a = Rotor1D(J=J_A, n=(1, 0, 0), **SPIN)
        self.b = Rotor1D(J=J_B, n=(0, 1, 0))
        self.gear = BevelGear1D(ratio=RATIO, n_a=(1, 0, 0), n_b=(0, 1, 0))
        for part in (self.a, self.b, self.gear):
            self.connect(self.swing.frame_b, part.frame_a)
        self.connect(self.a.flange_b, self.gear.flange_a)
        self.connect(self.gear.flange_b, self.b.flange_a)


class Shafts(_Housing):
    """Solid shafts in a bearing."""

    def __init__(self) -> None:
        self.hang(0.2, 0.3)
        self.gear = GearConstraint(ratio=RATIO, n_a=(1, 0, 0), n_b=(0, 1, 0), actuatedRevolute_a=SPIN)
        self.a = Body(m=0.0, r_CM=(0, 0, 0), I_11=J_A, I_22=0, I_33=0)
        self.b = Body(m=0.0, r_CM=(0, 0, 0), I_11=0, I_22=J_B, I_33=0)
        self.connect(self.swing.frame_b, self.gear.bearing)
        self.connect(self.gear.frame_a, self.a.frame_a)
        self.connect(self.gear.frame_b, self.b.frame_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*no distribution of mass")  # shafts that are all axis
def test_bevel_gear_and_gear_constraint_move_alike() -> None:
    rotors, shafts = (mbfmu.simulate(cls(), 2.0, tolerance=1e-10, interval=0.1) for cls in (Rotors, Shafts))
    for one, other in (
        ("hinge.phi", "hinge.phi"),
        ("swing.w", "swing.w"),
        ("a.phi", "gear.actuatedRevolute_a.phi"),
        ("b.w", "gear.actuatedRevolute_b.w"),
    ):
        np.testing.assert_allclose(rotors[one], shafts[other], atol=1e-9, err_msg=one)
    assert np.ptp(rotors["hinge.phi"]) > 1
    np.testing.assert_allclose(rotors["a.w"], RATIO * rotors["b.w"], atol=1e-12)
