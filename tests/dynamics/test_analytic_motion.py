"""Trajectories against closed forms that share nothing with the code under test."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipj, ellipk

import mbfmu
from mbfmu.components import (
    Body,
    BodyBox,
    BodyShape,
    GravityPool,
    PointMass,
    Prismatic,
    Revolute,
    Spherical,
    World,
    rotational,
    translational,
)
from mbfmu.errors import ModelError
from mbfmu.modeling import Assembly, Start

G = 9.80665


def vector(result: mbfmu.Result, name: str) -> np.ndarray:
    """The three elements of a vector over time, [n, 3]."""
    return np.stack([result[f"{name}[{i}]"] for i in (1, 2, 3)], axis=1)


def matrix(result: mbfmu.Result, name: str) -> np.ndarray:
    """The elements of a 3 x 3 matrix over time, [n, 3, 3]."""
    rows = [[result[f"{name}[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)]
    return np.moveaxis(np.array(rows), 2, 0)


class CompoundPendulum(Assembly):
    """A body on a hinge; the angle counts from the x axis, gravity points along -y."""

    def __init__(self, m: float, d: float, inertia: float, start: float) -> None:
        self.world = World()
        self.hinge = Revolute(phi=Start(start, fixed=True), w=Start(0.0, fixed=True))
        self.body = Body(m=m, r_CM=(d, 0, 0), I_11=inertia, I_22=inertia, I_33=inertia)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)


@pytest.mark.slow
@pytest.mark.parametrize("amplitude", [0.1, 2.0, 3.1])
def test_pendulum_of_any_amplitude(amplitude: float) -> None:
    """theta = 2 asin(k cd(omega t, k)), k = sin(amplitude / 2): period 4 K(k) / omega."""
    m, d, inertia = 2.0, 0.4, 0.3
    omega, k = math.sqrt(m * G * d / (inertia + m * d**2)), math.sin(amplitude / 2)
    period = 4 * ellipk(k**2) / omega
    result = mbfmu.simulate(
        CompoundPendulum(m, d, inertia, amplitude - math.pi / 2), 1.5 * period, tolerance=1e-11, interval=period / 40
    )
    _, cn, dn, _ = ellipj(omega * result.time, k**2)
    np.testing.assert_allclose(result["hinge.phi"] + math.pi / 2, 2 * np.arcsin(k * cn / dn), atol=1e-7)
    assert result["hinge.phi"][40] == pytest.approx(amplitude - math.pi / 2, abs=1e-8)


def test_thrown_body_falls_on_a_parabola_and_keeps_spinning() -> None:
    class Thrown(Assembly):
        def __init__(self) -> None:
            self.world = World(n=(0, 0, -2))  # only the direction of n counts
            self.body = Body(
                m=3.0,
                r_CM=(0, 0, 0),
                I_11=0.02,
                I_22=0.02,
                I_33=0.02,
                r_0=Start([1, 2, 3], fixed=True),
                v_0=Start([4, 0, 5], fixed=True),
                w_0_start=(0, 0, 2),
                w_0_fixed=True,
                angles_fixed=True,
            )

    result = mbfmu.simulate(Thrown(), 2.0, tolerance=1e-9)
    t = result.time[:, None]
    expected = np.array([1, 2, 3]) + np.array([4, 0, 5]) * t + np.array([0, 0, -G / 2]) * t**2
    np.testing.assert_allclose(vector(result, "body.r_0"), expected, atol=1e-9)
    c, s = np.cos(2 * result.time), np.sin(2 * result.time)
    T = matrix(result, "body.frame_a.R.T")
    np.testing.assert_allclose(T[:, 0, :2], np.stack([c, s], axis=1), atol=1e-8)


def test_mass_on_a_spring_swings_about_its_static_position() -> None:
    """Steel on a vertical slide: omega = sqrt(c/m), about s0 - m g / c."""

    class SpringMass(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.slide = Prismatic(n=(0, 2, 0), useAxisFlange=True, s=Start(0.1, fixed=True), v=Start(0.3, fixed=True))
            self.body = PointMass(m=2.5)
            self.spring = translational.Spring(c=90.0, s_rel0=0.2)
            self.connect(self.world.frame_b, self.slide.frame_a)
            self.connect(self.slide.frame_b, self.body.frame_a)
            self.connect(self.slide.support, self.spring.flange_a)
            self.connect(self.slide.axis, self.spring.flange_b)

    result = mbfmu.simulate(SpringMass(), 5.0, tolerance=1e-10)
    omega, middle = math.sqrt(90.0 / 2.5), 0.2 - 2.5 * G / 90.0
    expected = middle + (0.1 - middle) * np.cos(omega * result.time) + 0.3 / omega * np.sin(omega * result.time)
    np.testing.assert_allclose(result["slide.s"], expected, atol=1e-8)
    np.testing.assert_allclose(result["body.r_0[2]"], expected, atol=1e-8)


@pytest.mark.slow
def test_undamped_double_pendulum_keeps_its_energy() -> None:
    """1e-8 of the energy that swings to and fro, over 10 s at tolerance 1e-10."""

    class Undamped(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.upper, self.lower = (Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True)) for _ in range(2))
            self.rod1, self.rod2 = (BodyBox(r=(0.5, 0, 0), width=0.06) for _ in range(2))
            self.connect(self.world.frame_b, self.upper.frame_a)
            self.connect(self.upper.frame_b, self.rod1.frame_a)
            self.connect(self.rod1.frame_b, self.lower.frame_a)
            self.connect(self.lower.frame_b, self.rod2.frame_a)

    names = ["energy.total", "energy.kinetic"]
    system = mbfmu.System.of(Undamped(), energy=True)
    result = mbfmu.simulate(system, 10.0, tolerance=1e-10, outputs=names)
    assert np.ptp(result["energy.kinetic"]) > 50  # J: it does move
    assert np.ptp(result["energy.total"]) < 1e-8 * np.ptp(result["energy.kinetic"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize("use_quaternions", [True, False])
def test_torque_free_asymmetric_top(use_quaternions: bool) -> None:
    """Euler's equations in Jacobi elliptic functions (Landau and Lifshitz, Mechanics, section 37)."""
    a, b, c = 0.4, 0.7, 0.9
    w1, w3 = 0.6, 1.8
    energy, momentum2 = a * w1**2 + c * w3**2, (a * w1) ** 2 + (c * w3) ** 2  # twice the energy
    assert momentum2 > energy * b

    class Top(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.body = Body(
                m=1.0,
                r_CM=(0, 0, 0),
                I_11=a,
                I_22=b,
                I_33=c,
                angles_fixed=True,
                w_0_start=(w1, 0, w3),
                w_0_fixed=True,
                useQuaternions=use_quaternions,
            )

    result = mbfmu.simulate(Top(), 6.0, tolerance=1e-10)
    k2 = (b - a) * (energy * c - momentum2) / ((c - b) * (momentum2 - energy * a))
    tau = result.time * math.sqrt((c - b) * (momentum2 - energy * a) / (a * b * c))
    sn, cn, dn, _ = ellipj(tau, k2)
    w_a = vector(result, "body.w_a")
    np.testing.assert_allclose(w_a[:, 0], w1 * cn, atol=1e-8)
    np.testing.assert_allclose(w_a[:, 1], math.sqrt((energy * c - momentum2) / (b * (c - b))) * sn, atol=1e-8)
    np.testing.assert_allclose(w_a[:, 2], w3 * dn, atol=1e-8)
    T = matrix(result, "body.frame_a.R.T")
    momentum = np.einsum("nij,ni->nj", T, w_a * [a, b, c])  # resolved in the world frame
    np.testing.assert_allclose(momentum, np.tile([a * w1, 0, c * w3], (momentum.shape[0], 1)), atol=1e-8)


def test_heavy_top_precesses_steadily() -> None:
    """Omega^2 A cos(theta) - C w_s Omega + m g l = 0 keeps the tilt, with w_s the whole spin about the axis."""
    m, distance, tilt, spin = 1.5, 0.3, 0.5, 60.0
    I_t, I_s = 0.02, 0.03  # about the centre of mass, across and along the axis
    A = I_t + m * distance**2
    p, q = I_s * spin / (2 * A * math.cos(tilt)), m * G * distance / (A * math.cos(tilt))
    precession = p - math.sqrt(p**2 - q)
    axis = np.array([0, -math.sin(tilt), math.cos(tilt)])
    w_0 = precession * np.array([0, 0, 1]) + (spin - precession * math.cos(tilt)) * axis

    class HeavyTop(Assembly):
        def __init__(self) -> None:
            self.world = World(n=(0, 0, -1))
            self.tip = Spherical(
                sequence_start=(3, 1, 3),
                angles_start=(0, tilt, 0),
                angles_fixed=True,
                w_rel_a_start=tuple(w_0),
                w_rel_a_fixed=True,
                enforceStates=True,
            )
            self.top = BodyShape(m=m, r=(0, 0, distance), r_CM=(0, 0, distance), I_11=I_t, I_22=I_t, I_33=I_s)
            self.connect(self.world.frame_b, self.tip.frame_a)
            self.connect(self.tip.frame_b, self.top.frame_a)

    result = mbfmu.simulate(HeavyTop(), 2.0, tolerance=1e-10)
    turn = precession * result.time
    expected = distance * np.stack(
        [math.sin(tilt) * np.sin(turn), -math.sin(tilt) * np.cos(turn), np.full(turn.size, math.cos(tilt))], axis=1
    )
    np.testing.assert_allclose(vector(result, "top.frame_b.r_0"), expected, atol=1e-8)
    assert turn[-1] > 0.5


def kepler(mu: float, perihelion: float, eccentricity: float, times: np.ndarray) -> np.ndarray:
    """Positions in the plane, starting at the perihelion on the x axis, from Kepler's equation, [n, 2]."""
    a = perihelion / (1 - eccentricity)
    mean = times * math.sqrt(mu / a**3)
    E = np.array([brentq(lambda e, M=M: e - eccentricity * math.sin(e) - M, M - 1, M + 1, xtol=1e-14) for M in mean])
    return a * np.stack([np.cos(E) - eccentricity, math.sqrt(1 - eccentricity**2) * np.sin(E)], axis=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mbfmu.errors.InitialConditionsWarning")
@pytest.mark.parametrize(("mass", "centre"), [(PointMass, {}), (Body, {"r_CM": (0, 0, 0)})])
def test_kepler_orbit_in_point_gravity(mass: type, centre: dict[str, tuple[float, ...]]) -> None:
    mu, perihelion, eccentricity = 4.0, 1.0, 0.6
    speed = math.sqrt(mu / perihelion * (1 + eccentricity))

    class Orbit(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="PointGravity", mu=mu)
            start = {"r_0": Start([perihelion, 0, 0], fixed=True), "v_0": Start([0, speed, 0], fixed=True)}
            self.body = mass(m=7.0, **centre, **start)

    result = mbfmu.simulate(Orbit(), 15.0, tolerance=1e-11)
    expected = kepler(mu, perihelion, eccentricity, result.time)
    np.testing.assert_allclose(vector(result, "body.r_0")[:, :2], expected, atol=1e-7)


@pytest.mark.slow
def test_two_bodies_in_the_gravity_pool() -> None:
    """The distance follows Kepler with mu = G (m1 + m2); the common centre of mass moves straight on."""
    m1, m2, constant, distance, eccentricity = 3.0, 1.0, 0.5, 2.0, 0.4
    mu = constant * (m1 + m2)
    speed = math.sqrt(mu / distance * (1 + eccentricity))
    drift = np.array([0.1, 0.2, -0.3])

    class Binary(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.pool = GravityPool(G=constant)
            self.one = PointMass(m=m1, r_0=Start([0, 0, 0], fixed=True), v_0=Start(drift, fixed=True))
            self.two = Body(  # its mass sits beside its frame
                m=m2,
                r_CM=(0, 0, 0.5),
                r_0=Start([distance, 0, -0.5], fixed=True),
                v_0=Start(drift + np.array([0, speed, 0]), fixed=True),
                angles_fixed=True,
                w_0_fixed=True,
            )
            self.pool.put(self.one, self.two)

    result = mbfmu.simulate(mbfmu.System.of(Binary(), energy=True), 12.0, tolerance=1e-11)
    one, two = vector(result, "one.r_0"), vector(result, "two.r_0") + np.array([0, 0, 0.5])
    np.testing.assert_allclose((two - one)[:, :2], kepler(mu, distance, eccentricity, result.time), atol=1e-8)
    centre = (m1 * one + m2 * two) / (m1 + m2)
    velocity = drift + np.array([0, m2 * speed / (m1 + m2), 0])
    np.testing.assert_allclose(centre, centre[0] + velocity * result.time[:, None], atol=1e-9)
    assert np.ptp(result["energy.kinetic"]) > 0.1
    assert np.ptp(result["energy.total"]) < 1e-9


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda a: GravityPool().put(a.one), r"^GravityPool: assign the pool and one to attributes of an assembly"),
        (lambda a: a.pool.put(PointMass(m=1.0)), r"^pool: assign the pool and PointMass to attributes"),
        (lambda a: a.pool.put(a.world), r"^pool: world \(World\) has no mass m with a frame_a; put in bodies only"),
        (lambda a: a.pool.put(a.wheel), r"^pool: wheel \(Inertia\) has no mass m with a frame_a"),
        (lambda a: a.pool.put(a.slider), r"^pool: slider \(Mass\) has no mass m with a frame_a"),
        (lambda a: a.pool.put(a.one, a.one), r"^pool: one is in the pool already"),
    ],
)
def test_what_has_no_mass_is_not_put_into_the_gravity_pool(act: Callable[[Any], None], message: str) -> None:
    class Space(Assembly):
        def __init__(self) -> None:
            self.world, self.pool, self.one = World(gravityType="NoGravity"), GravityPool(), PointMass(m=1.0)
            self.wheel, self.slider = rotational.Inertia(J=1.0), translational.Mass(m=1.0)

    with pytest.raises(ModelError, match=message):
        act(Space())


def tumbling(use_quaternions: bool, w_0: tuple[float, float, float], I_21: float = 0.02) -> Assembly:
    """A thrown body that turns about no axis in particular."""

    class Tumbling(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.body = Body(
                m=1.0,
                r_CM=(0.1, 0.2, 0),
                I_11=0.2,
                I_22=0.3,
                I_33=0.4,
                I_21=I_21,
                v_0=Start([3, 4, 0], fixed=True),
                r_0=Start(0.0, fixed=True),
                angles_fixed=True,
                w_0_start=w_0,
                w_0_fixed=True,
                useQuaternions=use_quaternions,
                enforceStates=True,
            )

    return Tumbling()


@pytest.mark.slow
def test_cardan_angles_and_quaternions_give_one_motion() -> None:
    angles, quaternions = (
        mbfmu.simulate(tumbling(choice, (2.0, 0.3, 0.2)), 1.5, tolerance=1e-10) for choice in (False, True)
    )
    for name in [n for n in angles.names if n.startswith(("body.frame_a.", "body.r_0", "body.w_a", "body.a_0"))]:
        np.testing.assert_allclose(angles[name], quaternions[name], atol=1e-7, err_msg=name)
    assert np.ptp(angles["body.phi[1]"]) > 2
    assert np.ptp(quaternions["body.Q[1]"]) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("aside", [0.0, 1e-7])
def test_cardan_angles_stop_at_their_singular_position(aside: float) -> None:
    """A turn about the second axis takes the middle angle to 90 degrees, however large the integrator's steps are."""
    with pytest.raises(mbfmu.MbfmuError, match=r"body.*middle.*useQuaternions"):
        mbfmu.simulate(tumbling(False, (aside, 3.0, 0.0), I_21=0.0), 1.5)


def test_quaternions_have_no_singular_position() -> None:
    """The same turn of 90 degrees and more, against the angle that it must have."""
    result = mbfmu.simulate(tumbling(True, (0.0, 3.0, 0.0), I_21=0.0), 1.5, tolerance=1e-10)
    np.testing.assert_allclose(result["body.frame_a.R.T[1,1]"], np.cos(3.0 * result.time), atol=1e-8)
    np.testing.assert_allclose(result["body.frame_a.R.T[1,3]"], -np.sin(3.0 * result.time), atol=1e-8)
