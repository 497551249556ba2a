"""A Delta robot that falls through positions in which its plate could begin to turn.

Three arms, each a hinge and two rods side by side between ball joints, let a plate move without turning. In some
positions the three pairs of rods do not keep it from turning any more: branches of its motion cross. The run has to
stay on its own, with whatever tolerance: the plate does not turn, energy stays, and stricter runs agree.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import mbfmu
from mbfmu.components import Body, BodyShape, FixedRotation, FixedTranslation, Revolute, SphericalSpherical, World
from mbfmu.dynamics.system import System
from mbfmu.modeling import Assembly, Start

BASE, PLATE, ARM, ROD, HALF = 0.2, 0.08, 0.2, 0.45, 0.04


class Delta(Assembly):
    """Base, three arms with their pairs of rods, and the plate below."""

    def __init__(self) -> None:
        self.world = World(n=(0, 0, -1))
        self.plate = Body(m=0.5, r_CM=(0, 0, 0), I_11=1e-3, I_22=1e-3, I_33=2e-3, r_0=Start((0, 0, -0.35)))
        self.hinge = [Revolute(n=(0, 1, 0), phi=Start(0.3, fixed=True), w=Start(0.0, fixed=True)) for _ in range(3)]
        inertia = {"I_11": 1e-4, "I_22": 1e-3, "I_33": 1e-3}
        self.arm = [BodyShape(r=(ARM, 0, 0), r_CM=(ARM / 2, 0, 0), m=0.3, **inertia) for _ in range(3)]
        self.turn = [FixedRotation(n=(0, 0, 1), angle=120.0 * i, r=(0, 0, 0)) for i in range(3)]
        self.below = [FixedRotation(n=(0, 0, 1), angle=120.0 * i, r=(0, 0, 0)) for i in range(3)]
        self.base = [FixedTranslation(r=(BASE, 0, 0)) for _ in range(3)]
        sides = [(i, side) for i in range(3) for side in (-HALF, HALF)]
        self.elbow = [FixedTranslation(r=(0, side, 0)) for _, side in sides]
        self.wrist = [FixedTranslation(r=(PLATE, side, 0)) for _, side in sides]
        self.rod = [SphericalSpherical(rodLength=ROD, m=0.05) for _ in sides]
        for i in range(3):
            self.connect(self.world.frame_b, self.turn[i].frame_a)
            self.connect(self.turn[i].frame_b, self.base[i].frame_a)
            self.connect(self.base[i].frame_b, self.hinge[i].frame_a)
            self.connect(self.hinge[i].frame_b, self.arm[i].frame_a)
            self.connect(self.plate.frame_a, self.below[i].frame_a)
        for k, (i, _) in enumerate(sides):
            self.connect(self.arm[i].frame_b, self.elbow[k].frame_a)
            self.connect(self.below[i].frame_b, self.wrist[k].frame_a)
            self.connect(self.elbow[k].frame_b, self.rod[k].frame_a)
            self.connect(self.wrist[k].frame_b, self.rod[k].frame_b)


@functools.cache
def system() -> System:
    return System.of(Delta(), energy=True)


def starts() -> list[dict[str, float]]:
    """Twenty, all of which pass at tolerances from 1e-5 to 1e-12; some of them are run here."""
    random = np.random.default_rng(7)
    found = []
    for _ in range(20):
        angles, speeds = random.uniform(-1.0, 1.2, 3), random.uniform(-3.0, 3.0, 3)
        found.append({f"hinge[{i + 1}].phi": float(angles[i]) for i in range(3)})
        found[-1] |= {f"hinge[{i + 1}].w": float(speeds[i]) for i in range(3)}
    return found


OUTPUTS = [*(f"plate.r_0[{i}]" for i in (1, 2, 3)), *(f"plate.frame_a.R.T[{i},{i}]" for i in (1, 2, 3)), "energy.total"]


def run(start: dict[str, float], tolerance: float) -> np.ndarray:
    result = mbfmu.simulate(system(), 1.2, tolerance=tolerance, interval=0.02, start_values=start, outputs=OUTPUTS)
    return np.column_stack([result[name] for name in OUTPUTS])


@pytest.mark.slow
@pytest.mark.campaign(keep=2)
@pytest.mark.parametrize("start", starts()[1::5], ids=range(4))
def test_a_delta_robot_stays_on_its_branch(start: dict[str, float]) -> None:
    reference = run(start, 1e-11)
    np.testing.assert_allclose(reference[:, 3:6], 1.0, atol=1e-9)
    np.testing.assert_allclose(reference[:, 6], reference[0, 6], atol=1e-5)
    for tolerance, error in ((1e-5, 0.1), (1e-8, 2e-4), (1e-10, 2e-6)):
        found = run(start, tolerance)
        np.testing.assert_allclose(found[:, 3:6], 1.0, atol=1e-5)
        np.testing.assert_allclose(found[:, :3], reference[:, :3], atol=error)
