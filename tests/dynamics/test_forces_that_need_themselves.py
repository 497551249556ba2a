"""Gears whose housing sits on what they drive: the reaction of the gear's torque acts on the torque itself.

A planar double pendulum, world - j1 - link1 - j2 - link2, with a gear between the axes of its hinges, against its
equations by hand: those of Lagrange for the pendulum, with the torques of axes and housing as generalised forces.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mbfmu.components import Body, FixedTranslation, Revolute, World, rotational
from mbfmu.components.parts import BevelGear1D, Mounting1D, Rotor1D
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate

G, LENGTH, M1, M2, C1, C2, I1, I2, J = 9.81, 0.8, 1.0, 0.7, 0.4, 0.3, 0.1, 0.05, 0.02
#: What a torque on a body does along both angles: nothing at the world, and what turns with the body elsewhere.
ALONG = {"world": (0.0, 0.0), "link1": (1.0, 0.0), "link2": (1.0, 1.0)}


class Geared(Assembly):
    """The pendulum; `rotor` adds a rotor on the housing's body, turned by the second hinge."""

    tolerance = 1e-9

    def __init__(self, kind: str, place: str, ratio: float, z: float, rotor: dict | None) -> None:
        n = (0, 0, z)
        self.world = World(g=G)
        self.j1 = Revolute(n=(0, 0, 1), useAxisFlange=True, phi=Start(0.3, fixed=True), w=Start(0.2, fixed=True))
        self.j2 = Revolute(n=(0, 0, 1), useAxisFlange=True)
        self.b1 = Body(m=M1, r_CM=(C1, 0, 0), I_33=I1, I_11=I1, I_22=I1)
        self.b2 = Body(m=M2, r_CM=(C2, 0, 0), I_33=I2, I_11=I2, I_22=I2)
        self.rod = FixedTranslation(r=(LENGTH, 0, 0))
        self.connect(self.world.frame_b, self.j1.frame_a)
        self.connect(self.j1.frame_b, self.b1.frame_a)
        self.connect(self.j1.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.j2.frame_a)
        self.connect(self.j2.frame_b, self.b2.frame_a)
        frame = {"world": self.world.frame_b, "link1": self.j1.frame_b, "link2": self.j2.frame_b}[place]
        if kind == "IdealGear":
            self.gear, self.mount = rotational.IdealGear(ratio=ratio, useSupport=True), Mounting1D(n=n)
            self.connect(self.mount.frame_a, frame)
            self.connect(self.mount.flange_b, self.gear.support)
        else:
            self.gear = BevelGear1D(ratio=ratio, n_a=n, n_b=n)
            self.connect(self.gear.frame_a, frame)
        self.connect(self.gear.flange_a, self.j1.axis)
        self.connect(self.gear.flange_b, self.j2.axis)
        if rotor is not None:
            self.rotor = Rotor1D(J=J, n=(0, 0, 1), **rotor)
            self.connect(self.rotor.frame_a, frame)
            self.connect(self.rotor.flange_a, self.j2.axis)


def by_hand(phi1: float, phi2: float, w1: float, w2: float, place: str, ratio: float, z: float, has_rotor: bool):
    """Accelerations of both hinges and the gear's torque at its flange_a."""
    a, b, d = M1 * C1**2 + I1 + M2 * LENGTH**2, M2 * C2**2 + I2, M2 * LENGTH * C2
    c, s = np.cos(phi2), np.sin(phi2)
    mass = np.array([[a + b + 2 * d * c, b + d * c], [b + d * c, b]])
    velocity = d * s * np.array([-(2 * w1 * w2 + w2**2), w1**2])
    both = M2 * C2 * np.cos(phi1 + phi2)
    gravity = G * np.array([(M1 * C1 + M2 * LENGTH) * np.cos(phi1) + both, both])
    along = np.array(ALONG[place])
    if has_rotor:  # it takes J (spin + turn of its frame) from its shaft; its body holds J at rest already
        mass[1] += J * (np.array([0.0, 1.0]) + along)
        mass -= J * np.outer(along, along)
    torque = np.array([-1.0, ratio]) - (ratio - 1.0) * z * along  # of the gear on axes and housing, per unit
    A = np.block([[mass, -torque[:, None]], [np.array([[1.0, -ratio, 0.0]])]])
    return np.linalg.solve(A, [*(-velocity - gravity), 0.0])


CASES = [
    (kind, place, 2.0, 1.0, rotor)
    for kind in ("IdealGear", "BevelGear1D")
    for place in ALONG
    for rotor in (None, {"stateSelect": "always"}, {"stateSelect": "always", "virtualPower": True})
]
#: The balance along the second hinge does not know the gear's torque here: only both balances together do.
CASES += [(kind, "link2", 0.5, -1.0, None) for kind in ("IdealGear", "BevelGear1D")]


@pytest.mark.slow
@pytest.mark.campaign(keep=5)
@pytest.mark.parametrize(("kind", "place", "ratio", "z", "rotor"), CASES)
def test_a_gear_moves_the_pendulum_as_by_hand(kind, place, ratio, z, rotor) -> None:
    def slope(_: float, x: np.ndarray) -> list[float]:
        a = by_hand(x[0], x[0] / ratio, x[1], x[1] / ratio, place, ratio, z, rotor is not None)
        return [x[1], a[0]]

    expected = solve_ivp(slope, (0.0, 0.6), [0.3, 0.2], "DOP853", rtol=1e-11, atol=1e-12)
    result = simulate(Geared(kind, place, ratio, z, rotor), 0.6)
    assert result["j1.phi"][-1] == pytest.approx(expected.y[0, -1], rel=1e-6, abs=1e-7)
    for k in (0, -1):
        found = [result[name][k] for name in ("j1.phi", "j2.phi", "j1.w", "j2.w")]
        a = by_hand(*found, place, ratio, z, rotor is not None)
        values = [result[name][k] for name in ("j1.a", "j2.a", "gear.flange_a.tau")]
        np.testing.assert_allclose(values, a, rtol=1e-7, atol=1e-8)


def test_the_report_names_the_relation_that_is_kept() -> None:
    structure = System.of(Geared("IdealGear", "link2", 2.0, 1.0, None)).structure
    assert structure[0] == "1 degree of freedom (2 speeds, 1 constraint)"
    assert any(line.startswith("relation 1 of ") and line.endswith("kept as a constraint") for line in structure)
