"""Rods, aggregations and constraints in loops: closed-form kinematics, conservation, closure against closure."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbfmu.components import (
    Body,
    BodyBox,
    Fixed,
    FixedRotation,
    FixedTranslation,
    JointRRP,
    JointRRR,
    JointSSP,
    JointSSR,
    JointUPS,
    JointUSP,
    JointUSR,
    PointMass,
    Prismatic,
    Revolute,
    RevolutePlanarLoopConstraint,
    Spherical,
    SphericalSpherical,
    Universal,
    UniversalSpherical,
    World,
    translational,
)
from mbfmu.components.joints import constraints
from mbfmu.dynamics.system import System
from mbfmu.errors import InitializationError, MbfmuError, ModelError, SimulationError
from mbfmu.modeling import Assembly, Component, Start
from mbfmu.simulation import simulate


def fixed(value: float) -> Start:
    return Start(value, fixed=True)


# -- single rods


class Pendulum(Assembly):
    """A point mass on a massless rod."""

    def __init__(self, r: tuple[float, float, float], v: tuple[float, float, float], **rod) -> None:
        self.world = World()
        self.rod = SphericalSpherical(checkTotalPower=True, **rod)
        # r_0[2] gives way to the rod, v_0[2] follows from it
        self.bob = PointMass(m=2.0, r_0=Start(r, fixed=(True, False, True)), v_0=Start(v, fixed=(True, False, True)))
        self.connect(self.world.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.bob.frame_a)


def test_conical_pendulum():
    """At the speed of the cone, w^2 = g / (L cos(theta)), the bob stays on a circle and the rod carries m g / cos."""
    length, theta = 1.3, 0.5
    radius, height = length * math.sin(theta), length * math.cos(theta)
    w = math.sqrt(9.80665 / height)
    result = simulate(Pendulum((radius, -1.0, 0), (0, 0, w * radius), rodLength=length), 2.0, tolerance=1e-10)
    np.testing.assert_allclose(result["bob.r_0[1]"], radius * np.cos(w * result.time), atol=1e-7)
    np.testing.assert_allclose(result["bob.r_0[2]"], -height, atol=1e-8)
    np.testing.assert_allclose(result["rod.f_rod"], -2 * 9.80665 / math.cos(theta), rtol=1e-6)
    np.testing.assert_allclose(result["rod.totalPower"], 0.0, atol=1e-9)
    np.testing.assert_allclose(result["rod.constraintResidue"], 0.0, atol=1e-12)


def test_rod_length_found_at_the_start():
    class Measured(Pendulum):
        def __init__(self) -> None:
            super().__init__((0.3, -1.2, 0.4), (0, 0, 0), computeRodLength=True)
            self.bob.modify(r_0=Start(fixed=True))

    result = simulate(Measured(), 0.2, tolerance=1e-9)
    np.testing.assert_allclose(result["rod.rodLength"], 1.3, rtol=1e-12)
    assert result["bob.r_0[2]"][0] == pytest.approx(-1.2)


def test_rod_with_mass_swings_like_its_point_mass():
    """Mass m half-way on a rigid line to a bob M: L phi'' = -g phi (M + m/2) / (M + m/4) for small angles."""

    class Heavy(Pendulum):
        def __init__(self) -> None:
            super().__init__((0.02, -1.0, 0), (0, 0, 0), rodLength=1.0, m=3.0)
            self.bob.modify(m=0.5)

    result = simulate(Heavy(), 2.0, tolerance=1e-10)
    omega = math.sqrt(9.80665 * (0.5 + 1.5) / (0.5 + 0.75))
    np.testing.assert_allclose(result["bob.r_0[1]"], 0.02 * np.cos(omega * result.time), atol=2e-5)
    np.testing.assert_allclose(result["rod.totalPower"], 0.0, atol=1e-9)


# -- spatial four-bars: crank - rod - slider or rocker, closed in several ways

CRANK, ROD, ROCKER = np.array([0, 0.5, 0.1]), np.array([-1.0, 0.3, -0.1]), np.array([0, 0.2, 0])


class SliderCrank(Assembly):
    """A crank about x that moves a slider along x through a rod; `close` puts the rod in."""

    def __init__(self, energy: bool = False) -> None:
        self.world = World()
        self.crank_joint = Revolute(n=(1, 0, 0), stateSelect="always", phi=fixed(0.1), w=fixed(4.0))
        self.crank = BodyBox(r=tuple(CRANK), width=0.04)
        self.guide = FixedTranslation(r=(1.2, 0, 0))
        self.connect(self.world.frame_b, self.crank_joint.frame_a)
        self.connect(self.crank_joint.frame_b, self.crank.frame_a)
        self.connect(self.world.frame_b, self.guide.frame_a)
        self.close()

    def close(self) -> None:
        raise NotImplementedError

    def slide(self) -> None:
        """A slider of its own, with a body."""
        self.slider_joint = Prismatic(n=(1, 0, 0), s=Start(-0.2))
        self.slider = BodyBox(r=tuple(ROCKER), width=0.04)
        self.connect(self.guide.frame_b, self.slider_joint.frame_a)
        self.connect(self.slider_joint.frame_b, self.slider.frame_a)


LENGTH = float(np.linalg.norm((1.0, -0.3, -0.1)))


class ByElementaryJoints(SliderCrank):
    """Rod by universal and spherical joint, cut where it suits."""

    def close(self) -> None:
        self.slide()
        rod = np.array((1.0, -0.3, -0.1))
        axis2 = np.cross((0, 0, 1), rod)
        self.universal = Universal(n_a=(0, 0, 1), n_b=axis2)
        self.rod = FixedTranslation(r=rod)
        self.spherical = Spherical()
        self.load = Body(m=1.0, r_CM=tuple(rod / 2), I_11=0.01, I_22=0.1, I_33=0.1)
        self.connect(self.crank.frame_b, self.universal.frame_a)
        self.connect(self.universal.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_a, self.load.frame_a)
        self.connect(self.rod.frame_b, self.spherical.frame_a)
        self.connect(self.spherical.frame_b, self.slider.frame_b)


class ByUniversalSpherical(SliderCrank):
    """The rod as one component, with the load on its frame_ia."""

    def close(self) -> None:
        self.slide()
        rod = np.array((1.0, -0.3, -0.1))
        self.rod = UniversalSpherical(rRod_ia=rod, n1_a=(0, 0, 1), checkTotalPower=True)
        self.load = Body(m=1.0, r_CM=tuple(rod / 2), I_11=0.01, I_22=0.1, I_33=0.1)
        self.connect(self.crank.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_ia, self.load.frame_a)
        self.connect(self.rod.frame_b, self.slider.frame_b)


class ByJointUSP(SliderCrank):
    """Rod and slider in one aggregation."""

    def close(self) -> None:
        rod = np.array((1.0, -0.3, -0.1))
        self.joint = JointUSP(
            n1_a=(0, 0, 1), n_b=(1, 0, 0), rRod1_ia=rod, rRod2_ib=ROCKER, s_guess=-0.2, checkTotalPower=True
        )
        self.slider = BodyBox(r=tuple(ROCKER), width=0.04)
        self.load = Body(m=1.0, r_CM=tuple(rod / 2), I_11=0.01, I_22=0.1, I_33=0.1)
        self.connect(self.crank.frame_b, self.joint.frame_a)
        self.connect(self.guide.frame_b, self.joint.frame_b)
        self.connect(self.joint.frame_ib, self.slider.frame_a)
        self.connect(self.joint.frame_ia, self.load.frame_a)


@pytest.mark.slow
def test_closures_with_a_universal_joint_agree():
    """A cut of elementary joints is the yardstick; the closed-form rod and the aggregation use fewer unknowns."""
    systems = [System.of(make()) for make in (ByElementaryJoints, ByUniversalSpherical, ByJointUSP)]
    assert [s.equations.nl for s in systems[1:]] == [1, 1]
    one, rod, aggregation = (simulate(s, 1.5, tolerance=1e-11, interval=0.05) for s in systems)
    for other in (rod, aggregation):
        np.testing.assert_allclose(other["crank_joint.phi"], one["crank_joint.phi"], atol=1e-8)
        np.testing.assert_allclose(other["crank_joint.w"], one["crank_joint.w"], atol=1e-7)
        for i in (1, 2, 3):
            np.testing.assert_allclose(other[f"load.w_a[{i}]"], one[f"load.w_a[{i}]"], atol=1e-7)
            np.testing.assert_allclose(other[f"load.frame_a.f[{i}]"], one[f"load.frame_a.f[{i}]"], atol=1e-5)
    np.testing.assert_allclose(rod["rod.totalPower"], 0.0, atol=1e-8)
    np.testing.assert_allclose(aggregation["joint.totalPower"], 0.0, atol=1e-8)
    np.testing.assert_allclose(aggregation["joint.prismatic.s"], rod["slider_joint.s"], atol=1e-8)
    np.testing.assert_allclose(aggregation["joint.f_rod"], rod["rod.f_rod"], atol=1e-5)


class ByRod(SliderCrank):
    """A rod with mass between ball joints."""

    def close(self) -> None:
        self.slide()
        self.rod = SphericalSpherical(rodLength=LENGTH, m=1.5)
        self.connect(self.crank.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.slider.frame_b)


class ByJointSSP(SliderCrank):
    """The same rod in an aggregation."""

    def close(self) -> None:
        self.joint = JointSSP(
            rod1Length=LENGTH, rod1Mass=1.5, n_b=(1, 0, 0), rRod2_ib=ROCKER, s_guess=-0.2, checkTotalPower=True
        )
        self.slider = BodyBox(r=tuple(ROCKER), width=0.04)
        self.connect(self.crank.frame_b, self.joint.frame_a)
        self.connect(self.guide.frame_b, self.joint.frame_b)
        self.connect(self.joint.frame_ib, self.slider.frame_a)


@pytest.mark.slow
def test_closures_with_ball_joints_agree():
    rod, aggregation = (simulate(make(), 1.5, tolerance=1e-11, interval=0.05) for make in (ByRod, ByJointSSP))
    np.testing.assert_allclose(aggregation["crank_joint.phi"], rod["crank_joint.phi"], atol=1e-8)
    np.testing.assert_allclose(aggregation["joint.prismatic.s"], rod["slider_joint.s"], atol=1e-8)
    np.testing.assert_allclose(aggregation["joint.totalPower"], 0.0, atol=1e-8)
    # the slider along x keeps the length of the rod: a quadratic equation
    phi = rod["crank_joint.phi"]
    tip = np.array([0 * phi, 0.5 * np.cos(phi) - 0.1 * np.sin(phi), 0.5 * np.sin(phi) + 0.1 * np.cos(phi)])
    x = np.sqrt(LENGTH**2 - (tip[1] - 0.2) ** 2 - tip[2] ** 2)
    np.testing.assert_allclose(rod["slider_joint.s"], x - 1.2, atol=1e-9)


@pytest.mark.slow
def test_total_energy_of_a_loop_is_kept():
    system = System.of(ByJointUSP(), energy=True)
    result = simulate(system, 2.0, tolerance=1e-10)
    total = result["energy.total"]
    np.testing.assert_allclose(total, total[0], atol=1e-7 * np.ptp(result["energy.kinetic"]))
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-6)


class RockerCrank(Assembly):
    """A crank about z and a rocker about z in one plane; the aggregation gives rocker and rod."""

    def __init__(self, joint: Component, phi: float = 0.3, turned: FixedRotation | None = None) -> None:
        self.world = World(n=(0, -1, 0))
        self.crank_joint = Revolute(n=(0, 0, 1), stateSelect="always", phi=fixed(phi), w=fixed(2.0))
        self.crank = BodyBox(r=(0.4, 0, 0), width=0.04)
        self.ground = FixedTranslation(r=(1.0, 0, 0))
        self.joint = joint
        self.rocker = Body(m=1.0, r_CM=(0, 0.3, 0), I_11=0.05, I_33=0.05)
        self.connect(self.world.frame_b, self.crank_joint.frame_a)
        self.connect(self.crank_joint.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.joint.frame_a)
        self.connect(self.world.frame_b, self.ground.frame_a)
        if turned is None:
            self.connect(self.ground.frame_b, self.joint.frame_b)
        else:
            self.turned = turned
            self.connect(self.ground.frame_b, self.turned.frame_a)
            self.connect(self.turned.frame_b, self.joint.frame_b)
        self.connect(self.joint.frame_ib, self.rocker.frame_a)


def rocker_angle(phi: np.ndarray, crank: float, rod: float, rocker: float, ground: float, branch: int) -> np.ndarray:
    """Angle of the rocker's tip about its bearing at (ground, 0), from where two circles meet."""
    x, y = crank * np.cos(phi) - ground, crank * np.sin(phi)
    d = np.hypot(x, y)
    return np.arctan2(y, x) + branch * np.arccos((rocker**2 + d**2 - rod**2) / (2 * rocker * d))


@pytest.mark.slow
@pytest.mark.parametrize(("guess", "branch"), [(0.0, -1), (180.0, 1)])
def test_planar_four_bar_on_both_branches(guess, branch):
    """phi_guess chooses between the two places where the circles of rod and rocker meet."""
    joint = JointRRR(rRod1_ia=(0.9, 0, 0), rRod2_ib=(0, 0.6, 0), phi_guess=guess, checkTotalPower=True)
    result = simulate(RockerCrank(joint), 1.0, tolerance=1e-10, interval=0.02)
    angle = rocker_angle(result["crank_joint.phi"], 0.4, 0.9, 0.6, 1.0, branch)
    turn = result["joint.jointUSR.revolute.phi"] + math.pi / 2 - angle
    np.testing.assert_allclose(np.sin(turn / 2), 0.0, atol=1e-8)
    np.testing.assert_allclose(result["joint.totalPower"], 0.0, atol=1e-8)


class Tied(Assembly):
    """A crank about z, and an aggregation between its tip and a point of the ground, with a guess in the middle between
    the two ways in which it goes together."""

    def __init__(self, joint: Component, phi: float) -> None:
        self.world = World()
        self.crank_joint = Revolute(n=(0, 0, 1), stateSelect="always", phi=fixed(phi), w=fixed(2.0))
        self.crank, self.ground = BodyBox(r=(0.4, 0, 0), width=0.04), FixedTranslation(r=(1.0, 0, 0))
        self.joint, self.load = joint, Body(m=1.0, r_CM=(0.01, 0, 0))
        self.connect(self.world.frame_b, self.crank_joint.frame_a)
        self.connect(self.crank_joint.frame_b, self.crank.frame_a)
        self.connect(self.world.frame_b, self.ground.frame_a)
        self.connect(self.crank.frame_b, self.joint.frame_a)
        self.connect(self.ground.frame_b, self.joint.frame_b)
        self.connect(self.joint.frame_ib, self.load.frame_a)


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("phi", [-0.7, 0.3, 1.0])
@pytest.mark.parametrize("kind", ["USP", "SSP", "RRP"])
def test_of_two_places_equally_near_its_guess_a_slider_takes_the_greater(kind, phi):
    """The slider starts beside the crank's tip, from where the rod reaches as far to one side as to the other."""
    x, y = 0.4 * math.cos(phi), 0.4 * math.sin(phi)
    middle, arm = x - 1.0, (0, 1e-6, 0) if kind == "RRP" else (0, 0, 1e-6)
    joint = {
        "USP": lambda: JointUSP(n1_a=(0, 0, 1), n_b=(1, 0, 0), rRod1_ia=(0.9, 0, 0), rRod2_ib=arm, s_guess=middle),
        "SSP": lambda: JointSSP(rod1Length=0.9, n_b=(1, 0, 0), rRod2_ib=arm, s_guess=middle),
        "RRP": lambda: JointRRP(n_a=(0, 0, 1), n_b=(1, 0, 0), rRod1_ia=(0.9, 0, 0), rRod2_ib=arm, s_guess=middle),
    }[kind]()
    slider = "joint.jointUSP.prismatic.s" if kind == "RRP" else "joint.prismatic.s"
    result = simulate(Tied(joint, phi), 1e-6, outputs=[slider])
    assert result[slider][0] == pytest.approx(middle + math.sqrt(0.9**2 - y**2), abs=1e-5)


@pytest.mark.slow
@pytest.mark.campaign(keep=4)
@pytest.mark.parametrize("phi", [-0.7, 0.3, 1.0])
@pytest.mark.parametrize("kind", ["USR", "SSR", "RRR"])
def test_of_two_places_equally_near_its_guess_a_rocker_takes_the_greater(kind, phi):
    """The rocker starts towards the crank's tip, from where the rod reaches as far up as down."""
    x, y = 0.4 * math.cos(phi) - 1.0, 0.4 * math.sin(phi)
    distance, middle = math.hypot(x, y), math.atan2(y, x)
    half = math.acos((0.6**2 + distance**2 - 0.9**2) / (2 * 0.6 * distance))
    guess = math.degrees(middle) - 90.0  # rod 2 points along y
    joint = {
        "USR": lambda: JointUSR(rRod1_ia=(0.9, 0, 0), rRod2_ib=(0, 0.6, 0), phi_guess=guess),
        "SSR": lambda: JointSSR(rod1Length=0.9, rRod2_ib=(0, 0.6, 0), phi_guess=guess),
        "RRR": lambda: JointRRR(rRod1_ia=(0.9, 0, 0), rRod2_ib=(0, 0.6, 0), phi_guess=guess),
    }[kind]()
    rocker = "joint.jointUSR.revolute.phi" if kind == "RRR" else "joint.revolute.phi"
    result = simulate(Tied(joint, phi), 1e-6, outputs=[rocker])
    assert result[rocker][0] + math.pi / 2 == pytest.approx(middle + half, abs=1e-5)


@pytest.mark.slow
def test_axis_at_frame_b_is_found_where_the_frame_is_turned():
    """frame_b is turned about x, so that the common axis z of frame_a is another one there (n_b of the library)."""
    turned = FixedRotation(n=(1, 0, 0), angle=90.0)
    straight = JointRRR(rRod1_ia=(0.9, 0, 0), rRod2_ib=(0, 0.6, 0))
    skew = JointRRR(rRod1_ia=(0.9, 0, 0), rRod2_ib=(0, 0, -0.6))
    one = simulate(RockerCrank(straight), 0.5, tolerance=1e-10, interval=0.05)
    assembly = RockerCrank(skew, turned=turned)
    assembly.rocker.modify(r_CM=(0, 0, -0.3), I_22=0.05, I_33=0.001)
    two = simulate(assembly, 0.5, tolerance=1e-10, interval=0.05)
    np.testing.assert_allclose([two[f"joint.n_b[{i}]"][0] for i in (1, 2, 3)], (0, 1, 0), atol=1e-12)
    np.testing.assert_allclose(two["crank_joint.phi"], one["crank_joint.phi"], atol=1e-8)
    np.testing.assert_allclose(two["joint.jointUSR.revolute.phi"], one["joint.jointUSR.revolute.phi"], atol=1e-8)


@pytest.mark.slow
def test_joint_ssr_is_a_spatial_rocker():
    """A ball-ended rod and a rocker about z: in the plane, the same circles meet."""
    joint = JointSSR(rod1Length=0.9, rRod2_ib=(0, 0.6, 0), rod1Mass=0.4, checkTotalPower=True)
    result = simulate(RockerCrank(joint), 1.0, tolerance=1e-10, interval=0.02)
    angle = rocker_angle(result["crank_joint.phi"], 0.4, 0.9, 0.6, 1.0, -1)
    np.testing.assert_allclose(np.sin((result["joint.revolute.phi"] + math.pi / 2 - angle) / 2), 0.0, atol=1e-8)
    np.testing.assert_allclose(result["joint.totalPower"], 0.0, atol=1e-8)


@pytest.mark.slow
def test_joint_usr_carries_loads_on_all_its_frames():
    """Bodies on frame_ia, frame_ib and frame_im, against the same mechanism of elementary joints."""
    rod, rocker = np.array((0.9, 0.1, 0.2)), np.array((0, 0.6, 0.1))
    axis2 = np.cross((0, 1, 0), rod)

    class Loaded(RockerCrank):
        def __init__(self, joint, ends) -> None:
            super().__init__(joint)
            for name, end in ends.items():
                load = Body(m=0.8, r_CM=(0.1, 0.2, -0.1), I_11=0.1, I_22=0.15, I_33=0.2)
                setattr(self, f"load_{name}", load)
                self.connect(end, load.frame_a)

    class Elementary(Component):
        """JointUSR of elementary joints."""

        frame_a, frame_b = JointUSR.frame_a, JointUSR.frame_b
        frame_ia, frame_ib, frame_im = JointUSR.frame_ia, JointUSR.frame_ib, JointUSR.frame_im

        def build(self) -> None:
            self.universal = Universal(n_a=(0, 1, 0), n_b=axis2)
            self.rod1, self.rod2 = FixedTranslation(r=rod), FixedTranslation(r=rocker)
            self.spherical, self.revolute = Spherical(), Revolute()
            self.connect(self.frame_a, self.universal.frame_a)
            self.connect(self.universal.frame_b, self.rod1.frame_a)
            self.connect(self.rod1.frame_a, self.frame_ia)
            self.connect(self.rod1.frame_b, self.spherical.frame_a)
            self.connect(self.frame_b, self.revolute.frame_a)
            self.connect(self.revolute.frame_b, self.rod2.frame_a)
            self.connect(self.rod2.frame_a, self.frame_ib)
            self.connect(self.rod2.frame_b, self.frame_im)
            self.connect(self.rod2.frame_b, self.spherical.frame_b)

    results = []
    aggregation = JointUSR(n1_a=(0, 1, 0), rRod1_ia=rod, rRod2_ib=rocker, checkTotalPower=True)
    for joint in (aggregation, Elementary()):
        ends = {name: getattr(joint, f"frame_{name}") for name in ("ia", "ib", "im")}
        results.append(simulate(Loaded(joint, ends), 0.8, tolerance=1e-11, interval=0.05))
    for name in ("crank_joint.phi", "crank_joint.w", "joint.revolute.phi", "load_ia.w_a[1]", "load_im.w_a[3]"):
        np.testing.assert_allclose(results[0][name], results[1][name], atol=1e-7)
    np.testing.assert_allclose(results[0]["joint.totalPower"], 0.0, atol=1e-8)


@pytest.mark.slow
def test_planar_slider_crank():
    """s = r cos(phi) + sqrt(l^2 - r^2 sin(phi)^2) of the piston of an engine."""

    class Engine(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.crank_joint = Revolute(n=(0, 0, 1), stateSelect="always", phi=fixed(0.4), w=fixed(10.0))
            self.crank = BodyBox(r=(0.1, 0, 0), width=0.02)
            self.top = FixedTranslation(r=(0.6, 0, 0))
            self.joint = JointRRP(
                n_a=(0, 0, 1), n_b=(-1, 0, 0), rRod1_ia=(0.3, 0, 0), rRod2_ib=(-0.05, 0, 0), checkTotalPower=True
            )
            self.piston = Body(m=0.5, r_CM=(0, 0, 0))
            self.spring = translational.Spring(c=40.0, s_rel0=0.2)
            self.connect(self.world.frame_b, self.crank_joint.frame_a)
            self.connect(self.crank_joint.frame_b, self.crank.frame_a)
            self.connect(self.crank.frame_b, self.joint.frame_a)
            self.connect(self.world.frame_b, self.top.frame_a)
            self.connect(self.top.frame_b, self.joint.frame_b)
            self.connect(self.joint.frame_ib, self.piston.frame_a)
            self.connect(self.joint.bearing, self.spring.flange_a)
            self.connect(self.joint.axis, self.spring.flange_b)

    result = simulate(System.of(Engine(), energy=True), 1.0, tolerance=1e-10, interval=0.01)
    phi = result["crank_joint.phi"]
    piston = 0.1 * np.cos(phi) + np.sqrt(0.3**2 - (0.1 * np.sin(phi)) ** 2)
    np.testing.assert_allclose(result["joint.jointUSP.prismatic.s"], 0.6 - 0.05 - piston, atol=1e-9)
    np.testing.assert_allclose(result["joint.totalPower"], 0.0, atol=1e-8)
    total = result["energy.total"]
    np.testing.assert_allclose(total, total[0], atol=1e-7)
    np.testing.assert_allclose([result[f"joint.e_im[{i}]"][0] for i in (1, 2, 3)], (0, 0, 1), atol=1e-12)


class Jib(Assembly):
    """A jib on a hinge, held by a spring strut from the wall above, with loads on the strut's two halves."""

    def __init__(self) -> None:
        self.world = World()
        self.hinge = Revolute(n=(0, 0, 1), phi=fixed(0.0), w=fixed(0.0))
        self.jib = BodyBox(r=(2.0, 0, 0), width=0.1)
        self.wall = FixedTranslation(r=(0, 1.5, 0.3))
        self.strut = JointUPS(n1_a=(0, 1, 0), s_offset=1.0, checkTotalPower=True)
        self.spring = translational.SpringDamper(c=30000.0, d=800.0, s_rel0=1.4)
        self.upper = Body(m=3.0, r_CM=(0.4, 0.02, 0), I_11=0.02, I_22=0.3, I_33=0.3)
        self.lower = Body(m=2.0, r_CM=(-0.4, 0, 0.01), I_11=0.02, I_22=0.2, I_33=0.2)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.jib.frame_a)
        self.connect(self.world.frame_b, self.wall.frame_a)
        self.connect(self.wall.frame_b, self.strut.frame_a)
        self.connect(self.strut.frame_b, self.jib.frame_b)
        self.connect(self.strut.bearing, self.spring.flange_a)
        self.connect(self.strut.axis, self.spring.flange_b)
        self.connect(self.strut.frame_ia, self.upper.frame_a)
        self.connect(self.strut.frame_ib, self.lower.frame_a)


@pytest.mark.slow
def test_strut_takes_no_unknowns_and_balances():
    system = System.of(Jib(), energy=True)
    assert (system.equations.nv, system.equations.nl) == (1, 0)
    result = simulate(system, 1.0, tolerance=1e-10)
    tip = np.array([2 * np.cos(result["hinge.phi"]), 2 * np.sin(result["hinge.phi"]) - 1.5])
    np.testing.assert_allclose(result["strut.axisLength"], np.sqrt(tip[0] ** 2 + tip[1] ** 2 + 0.09), rtol=1e-9)
    np.testing.assert_allclose(result["strut.s"], result["strut.axisLength"] - 1.0, atol=1e-12)
    np.testing.assert_allclose(result["strut.totalPower"], 0.0, atol=1e-8)
    np.testing.assert_allclose(result["energy.balanceError"], 0.0, atol=1e-7)
    # the axis of either half points along the strut
    for frame in ("frame_ia", "frame_ib"):
        axis = [result[f"strut.{frame}.R.T[1,{i}]"] for i in (1, 2, 3)]
        along = [result[f"strut.frame_b.r_0[{i}]"] - result[f"strut.frame_a.r_0[{i}]"] for i in (1, 2, 3)]
        np.testing.assert_allclose(axis, along / result["strut.axisLength"], atol=1e-9)


# -- constraints instead of joints


def swinging(closure: Component, held: Component | None = None) -> Assembly:
    """A body that hangs in the world by a joint or a constraint, started off balance."""

    class Swinging(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.hook = FixedRotation(r=(0.1, 0.2, 0.3), n=(1, 2, 3), angle=20.0)
            self.closure = closure
            self.body = Body(
                m=1.2,
                r_CM=(0.3, -0.2, 0.1),
                I_11=0.1,
                I_22=0.2,
                I_33=0.15,
                r_0=Start((0.1, 0.2, 0.3)),
                angles_start=(0.1, 0.05, 0.2),
            )
            self.connect(self.world.frame_b, self.hook.frame_a)
            self.connect(self.hook.frame_b, self.closure.frame_a)
            self.connect(self.closure.frame_b, self.body.frame_a)

    return Swinging()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize(
    ("joint", "constraint", "rows"),
    [
        (lambda: Revolute(n=(0, 1, 1), phi=fixed(0.2), w=fixed(0.0)), lambda: constraints.Revolute(n=(0, 1, 1)), 5),
        (
            lambda: Spherical(angles_fixed=True, w_rel_a_fixed=True, angles_start=(0.3, -0.2, 0.1)),
            lambda: constraints.Spherical(),
            3,
        ),
        (
            lambda: Universal(phi_a=fixed(0.4), phi_b=fixed(-0.3), w_a=fixed(0.5), w_b=fixed(0.0)),
            lambda: constraints.Universal(),
            4,
        ),
        (
            lambda: Prismatic(n=(0, 1, 0), s=fixed(0.0), v=fixed(0.3)),
            lambda: constraints.Prismatic(y_locked=False),
            5,
        ),
    ],
    ids=["revolute", "spherical", "universal", "prismatic"],
)
def test_constraint_moves_like_its_joint(joint, constraint, rows):
    """The free body with the constraint, started where the joint's body is, takes the same way and the same forces."""
    yardstick = simulate(swinging(joint()), 0.8, tolerance=1e-11, interval=0.02)
    assembly = swinging(constraint())
    T = np.array([[yardstick[f"body.frame_a.R.T[{i},{j}]"][0] for j in (1, 2, 3)] for i in (1, 2, 3)])
    w = np.array([yardstick[f"body.w_a[{i}]"][0] for i in (1, 2, 3)])
    # angles about x, y, z that give T (sequence 1, 2, 3)
    angles = (math.atan2(-T[2, 1], T[2, 2]), math.asin(T[2, 0]), math.atan2(-T[1, 0], T[0, 0]))
    assembly.body.modify(angles_start=angles, w_0_start=tuple(T.T @ w), w_0_fixed=False)
    assembly.body.modify(v_0=Start(tuple(yardstick[f"body.v_0[{i}]"][0] for i in (1, 2, 3))))
    system = System.of(assembly)
    assert (system.equations.nv, system.equations.nl) == (6, rows)
    result = simulate(system, 0.8, tolerance=1e-11, interval=0.02)
    for name in ("r_0", "v_0", "w_a", "frame_a.f", "frame_a.t"):
        for i in (1, 2, 3):
            np.testing.assert_allclose(result[f"body.{name}[{i}]"], yardstick[f"body.{name}[{i}]"], atol=1e-6)
    np.testing.assert_allclose(result["closure.P"], 0.0, atol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("kind", [constraints.Revolute, constraints.Spherical, constraints.Universal])
def test_released_direction_takes_no_power(kind):
    system = System.of(swinging(kind(x_locked=False)), energy=True)
    result = simulate(system, 0.6, tolerance=1e-10, interval=0.02)
    total = result["energy.total"]
    np.testing.assert_allclose(total, total[0], atol=1e-7)
    assert np.ptp(result["closure.r_rel_a[1]"]) > 0.01
    np.testing.assert_allclose(result["closure.r_rel_a[2]"], 0.0, atol=1e-10)


# -- planar loops


class Parallelogram(Assembly):
    """Four bars in a plane that is turned in space; `last` closes the loop."""

    def __init__(self, last: Component, second_axis=(0, 0, 1)) -> None:
        self.world = World()
        self.plane = FixedRotation(n=(1, 1, 0), angle=35.0)
        self.left = Revolute(stateSelect="always", phi=fixed(0.5), w=fixed(0.0))
        self.arm1, self.arm2 = BodyBox(r=(0, -0.5, 0), width=0.03), BodyBox(r=(0, -0.5, 0), width=0.03)
        self.top = FixedTranslation(r=(0.7, 0, 0))
        self.right = Revolute(phi=Start(0.5))
        self.coupler = BodyBox(r=(0.7, 0, 0), width=0.03)
        self.lower = Revolute(n=second_axis, phi=Start(-0.5))
        self.last = last
        for a, b in (
            (self.world.frame_b, self.plane.frame_a),
            (self.plane.frame_b, self.left.frame_a),
            (self.left.frame_b, self.arm1.frame_a),
            (self.arm1.frame_b, self.lower.frame_a),
            (self.lower.frame_b, self.coupler.frame_a),
            (self.plane.frame_b, self.top.frame_a),
            (self.top.frame_b, self.right.frame_a),
            (self.right.frame_b, self.arm2.frame_a),
            (self.arm2.frame_b, self.last.frame_b),
            (self.coupler.frame_b, self.last.frame_a),
        ):
            self.connect(a, b)


@pytest.mark.slow
def test_planar_loop_constraint_replaces_a_revolute():
    constraint = System.of(Parallelogram(RevolutePlanarLoopConstraint()))
    assert constraint.equations.nl == 2
    one = simulate(constraint, 1.0, tolerance=1e-10, interval=0.02)
    two = simulate(Parallelogram(Revolute()), 1.0, tolerance=1e-10, interval=0.02)
    np.testing.assert_allclose(one["left.phi"], two["left.phi"], atol=1e-8)
    np.testing.assert_allclose(one["right.phi"], one["left.phi"], atol=1e-9)


@pytest.mark.slow
def test_planar_loop_constraint_refuses_a_spatial_loop():
    with pytest.raises((SimulationError, InitializationError), match=r"last.*planar loop"):
        simulate(Parallelogram(RevolutePlanarLoopConstraint(), second_axis=(0, 0.2, 1)), 0.5)


# -- bad input


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SphericalSpherical(), "rodLength"),
        (lambda: SphericalSpherical(rodLength=0.0), "rodLength"),
        (lambda: UniversalSpherical(rRod_ia=(0, 0, 0)), "rRod_ia.*length"),
        (lambda: UniversalSpherical(rRod_ia=(0, 0, 2)), "rRod_ia.*parallel.*n1_a"),
        (lambda: JointUPS(n1_a=(1, 0, 0)), "nAxis_ia.*parallel.*n1_a"),
        (lambda: JointUSR(rRod1_ia=(0, 0, 1)), "rRod1_ia.*parallel.*n1_a"),
        (lambda: JointRRP(n_a=(0, 0, 1), n_b=(0, 0, 1)), "n_a.*n_b.*parallel"),
        (lambda: constraints.Universal(n_b=(1, 1, 0)), "not orthogonal"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(ModelError, match=words):
        make()


def test_open_rod_is_named():
    class Open(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.rod = SphericalSpherical(rodLength=1.0)
            self.connect(self.world.frame_b, self.rod.frame_a)

    with pytest.raises(ModelError, match=r"rod\.frame_b.*not connected"):
        System.of(Open())


def test_rod_that_cannot_reach_is_named():
    class Short(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.rod = SphericalSpherical(rodLength=0.5)
            self.slider = Prismatic(n=(1, 0, 0))
            self.rail = Fixed(r=(0, 2, 0))
            self.mass = Body(m=1.0, r_CM=(0, 0, 0))
            self.connect(self.world.frame_b, self.rod.frame_a)
            self.connect(self.rail.frame_b, self.slider.frame_a)
            self.connect(self.slider.frame_b, self.mass.frame_a)
            self.connect(self.slider.frame_b, self.rod.frame_b)

    with pytest.raises(MbfmuError, match="rod"):
        simulate(Short(), 0.1)


def test_universal_joint_of_a_rod_in_its_singular_position():
    class Straight(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.hinge = Revolute(n=(0, 0, 1), phi=fixed(math.pi / 2), w=fixed(0.0))
            self.arm = BodyBox(r=(1.0, 0, 0), width=0.05)
            self.strut = JointUPS(n1_a=(0, 1, 0))
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.arm.frame_a)
            self.connect(self.world.frame_b, self.strut.frame_a)
            self.connect(self.arm.frame_b, self.strut.frame_b)

    with pytest.raises(InitializationError, match=r"strut.*n1_a.*parallel"):
        simulate(Straight(), 0.1)
