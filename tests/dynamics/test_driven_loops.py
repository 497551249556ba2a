"""A planar four-bar of plain hinges about n = (1, 2, 2) whose crank is driven: dropped rows know what drives it."""

from __future__ import annotations

import numpy as np
import pytest

from mbfmu.components import BodyShape, FixedTranslation, Revolute, World, blocks, rotational
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError
from mbfmu.modeling import Assembly, RotationalFlange, Start
from mbfmu.simulation import simulate

N = np.array([1.0, 2.0, 2.0]) / 3.0
#: Orthonormal directions in the plane of the mechanism.
E1 = np.array([2.0, 1.0, -2.0]) / 3.0
E2 = np.cross(N, E1)
CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.9, 0.7, 1.0


def position(a: float, b: float) -> tuple[float, ...]:
    return tuple(a * E1 + b * E2)


class Driven(Assembly):
    """Hinges A, B, C and D, of which C and D are D = A + GROUND e1 at angle 0 of the crank along e1."""

    tolerance = 1e-8

    def __init__(self) -> None:
        x = (COUPLER**2 - ROCKER**2 + (GROUND - CRANK) ** 2) / (2 * (GROUND - CRANK))  # of C beyond B
        y = np.sqrt(COUPLER**2 - x**2)
        self.world = World(gravityType="NoGravity")
        self.a = Revolute(n=tuple(N), useAxisFlange=True)
        self.b, self.c, self.d = (Revolute(n=tuple(N), phi=Start(0.0)) for _ in range(3))
        inertia = {"m": 1.0, "I_11": 0.01, "I_22": 0.01, "I_33": 0.01}
        rods = (position(CRANK, 0), position(x, y), position(GROUND - CRANK - x, -y))
        self.crank, self.coupler, self.rocker = (BodyShape(r=r, r_CM=tuple(np.array(r) / 2), **inertia) for r in rods)
        self.ground = FixedTranslation(r=position(GROUND, 0))
        self.connect(self.world.frame_b, self.a.frame_a)
        self.connect(self.a.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.b.frame_a)
        self.connect(self.b.frame_b, self.coupler.frame_a)
        self.connect(self.coupler.frame_b, self.c.frame_a)
        self.connect(self.c.frame_b, self.rocker.frame_a)
        self.connect(self.rocker.frame_b, self.d.frame_a)
        self.connect(self.world.frame_b, self.ground.frame_a)
        self.connect(self.ground.frame_b, self.d.frame_b)


class BySignal(Driven):
    """The crank follows a signal."""

    def __init__(self, source: blocks.Sine | blocks.Ramp) -> None:
        super().__init__()
        self.source, self.drive = source, rotational.Position(exact=True)
        self.connect(self.source.y, self.drive.phi_ref)
        self.connect(self.drive.flange, self.a.axis)


class FromOutside(Driven):
    """The crank follows the motion of a flange of the FMU."""

    flange = RotationalFlange("Shaft of the crank", motion=True)

    def __init__(self) -> None:
        super().__init__()
        self.connect(self.flange, self.a.axis)


def angles_of(result, k: int) -> np.ndarray:
    """Where the coupler's end is, in the plane, from the angles of crank and coupler; and from the rocker's side."""
    return np.array([result[f"coupler.frame_b.r_0[{i + 1}]"][k] for i in range(3)])


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [lambda: blocks.Sine(amplitude=0.8, f=0.5), lambda: blocks.Ramp(height=1.5, duration=2.0)],
    ids=["Sine", "Ramp"],
)
def test_a_driven_crank_moves_the_loop(source) -> None:
    """Freudenstein: |C - B| and |C - D| keep their lengths, and C is where the crank's angle puts it."""
    assembly = BySignal(source())
    system = System.of(assembly)
    assert system.equations.ne
    result = simulate(system, 2.0)
    for k in (0, len(result.time) // 3, -1):
        phi = result["drive.flange.phi"][k]
        B = CRANK * (np.cos(phi) * E1 + np.sin(phi) * E2)
        reach = GROUND * E1 - B
        size = np.linalg.norm(reach)
        along = (COUPLER**2 - ROCKER**2 + size**2) / (2 * size)
        C = B + along * reach / size + np.sqrt(COUPLER**2 - along**2) * np.cross(N, reach / size)
        np.testing.assert_allclose(angles_of(result, k), C, atol=1e-7)
    assert np.ptp(result["drive.flange.phi"]) > 0.5


@pytest.mark.slow
def test_dropped_rows_may_depend_on_inputs() -> None:
    system = System.of(FromOutside())
    function = system.equations.functions["redundant"]
    assert function.jac_sparsity(0, 2).nnz() > 0
    result = simulate(system, 0.1)  # held at angle 0 by the inputs' defaults
    np.testing.assert_allclose(angles_of(result, -1), angles_of(result, 0), atol=1e-9)


class Triangle(Assembly):
    """Three bars on three revolute joints, which cannot move; `reach` is where the last of them stands."""

    def __init__(self, drive, reach: float = 0.5, bars: int = 2) -> None:
        self.world = World()
        self.a, self.b, self.c = Revolute(useAxisFlange=True), Revolute(), Revolute()
        self.ab = BodyShape(r=(1, 0, 0), r_CM=(0.5, 0, 0), m=1.0)
        self.bc = BodyShape(r=(-0.5, 0.8, 0), r_CM=(-0.25, 0.4, 0), m=1.0)
        self.base = FixedTranslation(r=(reach, 0.8, 0))
        self.drive = drive
        self.connect(self.drive.flange, self.a.axis)
        self.connect(self.world.frame_b, self.a.frame_a)
        self.connect(self.a.frame_b, self.ab.frame_a)
        self.connect(self.ab.frame_b, self.b.frame_a)
        self.connect(self.b.frame_b, self.bc.frame_a)
        end = self.bc.frame_b
        if bars == 3:
            self.d = Revolute()
            self.dc = BodyShape(r=(0.5, 0, 0), r_CM=(0.25, 0, 0), m=1.0)
            self.connect(end, self.d.frame_a)
            self.connect(self.d.frame_b, self.dc.frame_a)
            end = self.dc.frame_b
        self.connect(end, self.c.frame_b)
        self.connect(self.world.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.c.frame_a)


@pytest.mark.slow
@pytest.mark.parametrize("reach", [0.5, 0.6])
def test_drive_of_a_loop_that_cannot_move_is_named(reach: float) -> None:
    """It fails at the start, whether the loop is closed there or not; start values have no part in it."""
    with pytest.raises(InitializationError, match=r"the loop of a\.phi has no freedom to follow") as caught:
        System.of(Triangle(rotational.ConstantSpeed(w_fixed=1.0), reach))
    assert "start value" not in str(caught.value)


@pytest.mark.slow
def test_drive_that_stands_still_may_hold_what_cannot_move() -> None:
    assert simulate(Triangle(rotational.ConstantSpeed(w_fixed=0.0)), 0.1)["a.phi"][-1] == pytest.approx(0.0)


@pytest.mark.slow
def test_loop_that_cannot_reach_its_end_is_not_said_to_be_rigid() -> None:
    """A four-bar has its freedom; its bars are too short."""
    with pytest.raises(InitializationError) as caught:
        System.of(Triangle(rotational.ConstantSpeed(w_fixed=1.0), 5.0, bars=3))
    assert "no freedom" not in str(caught.value)
