"""Linkages and drives of the textbooks, against their closed forms or equations of motion written by hand."""

from __future__ import annotations

import math
from math import cos, degrees, radians, sin

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import mbfmu
from mbfmu.components import (
    Body,
    BodyBox,
    Cylindrical,
    FixedRotation,
    FixedTranslation,
    Mounting1D,
    Prismatic,
    Revolute,
    Rotor1D,
    SphericalSpherical,
    World,
    blocks,
    rotational,
)
from mbfmu.errors import InitializationError
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.equations import Equations
from mbfmu.runtime.run import Run

G = 9.80665


def fixed(value: float) -> Start:
    return Start(value, fixed=True)


def by_hand(rates, start: list[float], times: np.ndarray) -> np.ndarray:
    """Solution of an ordinary differential equation, state by time."""
    return solve_ivp(rates, (0, times[-1]), start, method="DOP853", rtol=1e-11, atol=1e-12, t_eval=times).y


class Ring(Assembly):
    """Hinges about z in a ring; behind each a link of length a along x, twisted by alpha [deg] about x.

    The last hinge but one may slide, too.
    """

    def __init__(
        self, lengths: tuple[float, ...], twists: tuple[float, ...], angles: tuple[float, ...], slides: bool = False
    ) -> None:
        self.world = World()
        self.hinges = [
            Cylindrical(n=(0, 0, 1), phi=Start(phi), s=Start(0.0))
            if slides and i == len(angles) - 2
            else Revolute(phi=Start(phi, fixed=i == 0), **({} if i else {"w": fixed(1.0)}))
            for i, phi in enumerate(angles)
        ]
        self.links = [FixedTranslation(r=(a, 0, 0)) for a in lengths]
        self.twists = [FixedRotation(n=(1, 0, 0), angle=alpha) for alpha in twists]
        self.bodies = [
            Body(m=1 + 0.3 * i, r_CM=(a / 2, 0.03, 0.02), I_11=0.02, I_22=0.03, I_33=0.04)
            for i, a in enumerate(lengths[:-1])
        ]
        end = self.world.frame_b
        for hinge, link, twist in zip(self.hinges, self.links, self.twists, strict=True):
            self.connect(end, hinge.frame_a)
            self.connect(hinge.frame_b, link.frame_a)
            self.connect(link.frame_b, twist.frame_a)
            end = twist.frame_b
        self.connect(end, self.world.frame_b)
        for hinge, body in zip(self.hinges, self.bodies, strict=False):
            self.connect(hinge.frame_b, body.frame_a)


class Bennett:
    """Bennett's linkage: lengths and twists alternate, a / sin(alpha) = b / sin(beta), and so do the angles phi and
    psi, tan(phi / 2) tan(psi / 2) = k (Bennett, Engineering 76 (1903), 777-778)."""

    a, alpha, beta = 0.4, radians(40), radians(75)
    b, k = a * sin(beta) / sin(alpha), sin((beta + alpha) / 2) / sin((beta - alpha) / 2)
    start = 2.0

    @classmethod
    def ring(cls, speed: float = 1.0) -> Ring:
        twists = (degrees(cls.alpha), degrees(cls.beta)) * 2
        second = 2 * math.atan(cls.k / math.tan(cls.start / 2))
        ring = Ring((cls.a, cls.b) * 2, twists, (cls.start, second, -cls.start, -second))
        ring.modify(**{"hinges[1]": {"w": fixed(speed)}})
        return ring

    @classmethod
    def rates(cls) -> ca.Function:
        """Acceleration of phi by hand: Lagrange's equation of the one coordinate that is left."""
        phi, speed, zero = ca.SX.sym("phi"), ca.SX.sym("speed"), ca.SX(0)
        psi = 2 * ca.atan2(cls.k * ca.cos(phi / 2), ca.sin(phi / 2))
        R, origin, inertia, potential = ca.SX.eye(3), ca.SX.zeros(3), zero, zero
        links = zip((phi, psi, -phi), (cls.a, cls.b, cls.a), (cls.alpha, cls.beta, cls.alpha), strict=True)
        for i, (angle, length, twist) in enumerate(links):
            m, c, s = 1 + 0.3 * i, ca.cos(angle), ca.sin(angle)
            R = R @ ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.SX([[0, 0, 1]]))
            centre = origin + R @ ca.vertcat(length / 2, 0.03, 0.02)
            moved, spin = ca.jacobian(centre, phi), R.T @ ca.reshape(ca.jacobian(ca.vec(R), phi), 3, 3)
            inertia += m * ca.dot(moved, moved)
            inertia += 0.02 * spin[2, 1] ** 2 + 0.03 * spin[0, 2] ** 2 + 0.04 * spin[1, 0] ** 2
            potential += m * G * centre[1]
            origin += R @ ca.vertcat(length, 0, 0)
            R = R @ ca.SX([[1, 0, 0], [0, cos(twist), -sin(twist)], [0, sin(twist), cos(twist)]])
        force = -ca.jacobian(inertia, phi) * speed**2 / 2 - ca.jacobian(potential, phi)
        return ca.Function("rates", [phi, speed], [speed, force / inertia])


@pytest.mark.slow
def test_a_bennett_linkage_swings_and_turns() -> None:
    """Half of the constraints are redundant, at each position in another way: no choice among them serves a turn."""
    rates = Bennett.rates()
    for speed, turns in ((1.0, 0.8), (9.0, 5.0)):
        system = mbfmu.System.of(Bennett.ring(speed), energy=True)
        assert system.structure[0] == "1 degree of freedom (4 speeds, 3 constraints)"
        assert any("which rows are redundant depends on the position" in line for line in system.structure)
        result = mbfmu.simulate(system, 3.5, tolerance=1e-10)
        phi, psi = result["hinges[1].phi"], result["hinges[2].phi"]
        expected = by_hand(lambda _, x: [float(v) for v in rates(*x)], [Bennett.start, speed], result.time)
        assert np.ptp(phi) > turns * math.tau
        np.testing.assert_allclose(phi, expected[0], atol=1e-8)
        np.testing.assert_allclose(result["hinges[1].w"], expected[1], atol=1e-7)
        closure = np.sin(phi / 2) * np.sin(psi / 2) - Bennett.k * np.cos(phi / 2) * np.cos(psi / 2)
        np.testing.assert_allclose(closure, 0, atol=1e-12)
        np.testing.assert_allclose(result["hinges[3].phi"], -phi, atol=1e-12)
        np.testing.assert_allclose(result["energy.total"], result["energy.total"][0], atol=1e-7)


@pytest.mark.slow
def test_constraint_forces_of_least_norm() -> None:
    """Of all multipliers that balance a Bennett linkage, those of least norm: nothing of them is lost on the way into
    the generalised forces, so that they are a combination of the rows' columns. Rows count beside their size."""
    equations = mbfmu.System.of(Bennett.ring()).equations
    run = Run(equations)
    x, nv = run.assemble(), equations.nv
    w, A, b, G = run.values("w"), *_matrices(equations, run, x)
    np.testing.assert_allclose(A @ w, b, atol=1e-12)
    sizes = np.array(equations.constraint_sizes)
    scaled, multipliers = G / sizes[:, None], sizes * w[nv:]
    least = np.linalg.pinv(scaled.T, rcond=1e-9) @ (scaled.T @ multipliers)
    assert np.linalg.matrix_rank(scaled, tol=1e-9) == 3
    np.testing.assert_allclose(multipliers, least, atol=1e-12)


def _matrices(equations: Equations, run: Run, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, b and G at the start."""
    at = (0.0, x, run.values("u"), run.values("P"), run.values("m"))
    A, b = equations.functions["dynamics"](*at)
    return np.array(A), np.array(b).ravel(), np.array(equations.functions["constraints"](*at)[2])


@pytest.mark.slow
def test_linear_models_of_a_bennett_linkage() -> None:
    """About its start: the derivative of the acceleration by hand, and of a constraint force along the motion."""
    phi, speed = ca.SX.sym("phi"), ca.SX.sym("speed")
    acceleration = Bennett.rates()(phi, speed)[1]
    slope = ca.Function("slope", [phi, speed], [ca.jacobian(acceleration, ca.vertcat(phi, speed))])
    system, force = mbfmu.System.of(Bennett.ring()), "links[2].frame_a.f[1]"
    linear = mbfmu.linearize(system, outputs=[force])
    np.testing.assert_allclose(linear.A, [[0, 1], np.array(slope(Bennett.start, 1.0)).ravel()], atol=1e-9)
    starts = [("hinges[1].phi", Bennett.start), ("hinges[1].w", 1.0)]
    for column, (name, at) in enumerate(starts):
        ends = [
            mbfmu.simulate(system, 1e-9, start_values={name: at + change}, outputs=[force])[force][0]
            for change in (-1e-5, 1e-5)
        ]
        assert linear.C[0, column] == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-6)


def bricard(slides: bool = False) -> Ring:
    """Orthogonal: twists of 90 and 270 degrees, and the squares of every other length add up to the same
    (Bricard, Lecons de cinematique 2 (1927), 7-12)."""
    angles = (0.6, 2.2597879757960193, 0.74838729829637, 2.1713870941825153, 0.5565856042744679, 1.6783622977427965)
    return Ring((0.3, 0.42, 0.38, 0.25, 0.33, math.sqrt(0.1044)), (90, 270) * 3, angles, slides)


@pytest.mark.slow
@pytest.mark.campaign
def test_an_orthogonal_bricard_linkage() -> None:
    """Six constraints hold six angles, and yet it turns: one is redundant. Where a hinge may slide, too, none is, and
    the motion is the same, but ill-conditioned: whatever the tolerance, it is right to some 1e-7 only."""
    system = mbfmu.System.of(bricard(), energy=True)
    assert system.structure[0] == "1 degree of freedom (6 speeds, 5 constraints)"
    assert any("1 of 6 constraints" in line for line in system.structure)
    result = mbfmu.simulate(system, 3.0, tolerance=1e-10)
    regular = mbfmu.simulate(bricard(slides=True), 3.0, tolerance=1e-12)
    np.testing.assert_allclose(regular["hinges[5].s"], 0, atol=1e-9)
    assert np.ptp(result["hinges[1].phi"]) > 2
    np.testing.assert_allclose(result["hinges[1].phi"], regular["hinges[1].phi"], atol=2e-6)
    strict = mbfmu.simulate(system, 3.0, tolerance=1e-12)
    np.testing.assert_allclose(result["hinges[1].phi"], strict["hinges[1].phi"], atol=1e-9)
    np.testing.assert_allclose(result["energy.total"], result["energy.total"][0], atol=1e-8)


@pytest.mark.slow
def test_a_sweep_of_bricard_linkages_is_so_many_runs() -> None:
    """Runs of a batch share vectors where they can; these cannot."""
    system, speeds = mbfmu.System.of(bricard()), [0.5, 1.0, 2.0, 4.0]
    found = mbfmu.sweep(
        system, {"hinges[1].w": speeds}, ["hinges[1].phi:final"], stop_time=0.5, interval=0.1, threads=1
    )
    for speed, end in zip(speeds, found["hinges[1].phi:final"], strict=True):
        alone = mbfmu.simulate(system, 0.5, interval=0.1, start_values={"hinges[1].w": speed})
        assert end == alone["hinges[1].phi"][-1]


@pytest.mark.slow
def test_a_linkage_that_other_lengths_lock() -> None:
    """It still closes, but the constraint that was redundant is no more."""
    ring = bricard()
    ring.modify(**{"hinges[1]": {"phi": Start(0.6, fixed=False), "w": fixed(0.0)}})
    with pytest.raises(InitializationError, match=r"1 of the constraints were redundant .*: rebuild the FMU"):
        mbfmu.simulate(ring, 1.0, start_values={"links[1].r[1]": 0.32})


TWISTS = (35.0, 70.0, 60.0, 80.0)


@pytest.mark.slow
def test_a_spherical_four_bar() -> None:
    """Hinges whose axes meet in a point: their turns and the links' twists add up to none.

    Three rows are redundant, at each position the same ones.
    """
    angles = (1.0, -1.6740, -1.4866, -1.6384)
    system = mbfmu.System.of(Ring((0.0,) * 4, TWISTS, angles), energy=True)
    assert not any("depends on the position" in line for line in system.structure)
    result = mbfmu.simulate(system, 3.0, tolerance=1e-10)
    for k in range(0, len(result.time), 50):
        turns = [angle for i in range(4) for angle in (result[f"hinges[{i + 1}].phi"][k], radians(TWISTS[i]))]
        whole = (
            Rotation.from_euler("ZXZ", turns[:3])
            * (Rotation.from_euler("XZX", turns[3:6]))
            * Rotation.from_euler("ZX", turns[6:])
        )
        assert whole.magnitude() == pytest.approx(0, abs=1e-10)
    np.testing.assert_allclose(result["energy.total"], result["energy.total"][0], atol=1e-8)
    assert np.ptp(result["hinges[1].phi"]) > 1


class Peaucellier(Assembly):
    """Straight-line linkage: two long bars from the origin, a rhombus at their ends, a crank at one of its corners.

    It hangs, so that it swings without folding.
    """

    long, short, crank_length, start = 0.5, 0.2, 0.22, 0.9

    def __init__(self) -> None:
        long, short, d, start = self.long, self.short, self.crank_length, self.start
        inner = d * np.array([1 + cos(start), sin(start)])
        reach = np.linalg.norm(inner)
        along = inner / reach
        middle = (long**2 - short**2 + reach**2) / (2 * reach)
        across = np.sqrt(long**2 - middle**2) * np.array([-along[1], along[0]])
        sides = [middle * along + across, middle * along - across]
        outer = sides[0] + sides[1] - inner

        def angle(vector: np.ndarray) -> float:
            return math.atan2(vector[1], vector[0])

        self.world = World(n=(1, 0, 0))
        self.foot = FixedTranslation(r=(d, 0, 0))
        self.crank_hinge, self.crank = Revolute(phi=fixed(start), w=fixed(0.0)), BodyBox(r=(d, 0, 0), width=0.02)
        self.hinges = [Revolute(phi=Start(angle(side))) for side in sides]
        self.bars = [BodyBox(r=(long, 0, 0), width=0.02) for _ in sides]
        self.in_hinges = [Revolute(phi=Start(math.remainder(angle(inner - s) - angle(s), math.tau))) for s in sides]
        self.out_hinges = [Revolute(phi=Start(math.remainder(angle(outer - s) - angle(s), math.tau))) for s in sides]
        self.in_bars = [BodyBox(r=(short, 0, 0), width=0.02) for _ in sides]
        self.out_bars = [BodyBox(r=(short, 0, 0), width=0.02) for _ in sides]
        self.pins, self.pen = [Revolute() for _ in sides], Revolute()
        self.connect(self.world.frame_b, self.foot.frame_a)
        self.connect(self.foot.frame_b, self.crank_hinge.frame_a)
        self.connect(self.crank_hinge.frame_b, self.crank.frame_a)
        for i in (0, 1):
            self.connect(self.world.frame_b, self.hinges[i].frame_a)
            self.connect(self.hinges[i].frame_b, self.bars[i].frame_a)
            for hinges, bars in ((self.in_hinges, self.in_bars), (self.out_hinges, self.out_bars)):
                self.connect(self.bars[i].frame_b, hinges[i].frame_a)
                self.connect(hinges[i].frame_b, bars[i].frame_a)
            self.connect(self.crank.frame_b, self.pins[i].frame_a)
            self.connect(self.pins[i].frame_b, self.in_bars[i].frame_b)
        self.connect(self.out_bars[0].frame_b, self.pen.frame_a)
        self.connect(self.pen.frame_b, self.out_bars[1].frame_b)


@pytest.mark.slow
def test_a_peaucellier_linkage_draws_a_straight_line() -> None:
    """The pen is the inverse of a point on a circle through the origin: x = (long^2 - short^2) / (2 crank)."""
    result = mbfmu.simulate(Peaucellier(), 2.0, tolerance=1e-9)
    expected = (Peaucellier.long**2 - Peaucellier.short**2) / (2 * Peaucellier.crank_length)
    np.testing.assert_allclose(result["pen.frame_a.r_0[1]"], expected, atol=1e-10)
    assert np.ptp(result["pen.frame_a.r_0[2]"]) > 0.3


class SpatialSliderCrank(Assembly):
    """A crank about z drives a slide along a skew line by a rod between ball joints."""

    r, rod_length, m, J, foot = 0.2, 0.7, 2.0, 0.05, np.array([0.1, -0.05, 0.15])
    line = np.array([1, 0.3, 0.2]) / np.linalg.norm([1, 0.3, 0.2])

    def __init__(self) -> None:
        self.world = World()
        self.hinge, self.crank = Revolute(phi=fixed(0.5), w=fixed(6.0)), FixedTranslation(r=(self.r, 0, 0))
        self.disc = Body(m=0.0, r_CM=(0, 0, 0), I_11=self.J, I_22=self.J, I_33=self.J)
        self.rod = SphericalSpherical(rodLength=self.rod_length)
        self.base = FixedTranslation(r=self.foot)
        self.slide, self.slider = Prismatic(n=self.line, s=Start(self.position(0.5)[0])), Body(m=self.m, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.disc.frame_a)
        self.connect(self.hinge.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.rod.frame_a)
        self.connect(self.world.frame_b, self.base.frame_a)
        self.connect(self.base.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.slider.frame_a)
        self.connect(self.slide.frame_b, self.rod.frame_b)

    @classmethod
    def position(cls, phi: float) -> tuple[float, float, float]:
        """s(phi), ds/dphi and its derivative: |foot + s line - pin| is the rod's length."""
        pin = cls.r * np.array([cos(phi), sin(phi), 0])
        tangent = np.array([-pin[1], pin[0], 0])
        b, b1, b2 = cls.line @ (cls.foot - pin), -cls.line @ tangent, cls.line @ pin
        gap = cls.foot - pin
        c, c1, c2 = gap @ gap - cls.rod_length**2, -2 * gap @ tangent, 2 * gap @ pin + 2 * cls.r**2
        root = math.sqrt(b * b - c)
        half, half1 = b * b1 - c1 / 2, b1 * b1 + b * b2 - c2 / 2
        return -b + root, -b1 + half / root, -b2 + half1 / root - half**2 / root**3


@pytest.mark.slow
def test_a_spatial_slider_crank() -> None:
    """(J + m s'^2) phi'' + m s' s'' phi'^2 + m g s' line_y = 0."""
    crank = SpatialSliderCrank
    result = mbfmu.simulate(crank(), 2.0, tolerance=1e-10)

    def rates(_: float, y: np.ndarray) -> list[float]:
        _, first, second = crank.position(y[0])
        torque = -crank.m * first * (second * y[1] ** 2 + G * crank.line[1])
        return [y[1], torque / (crank.J + crank.m * first**2)]

    expected = by_hand(rates, [0.5, 6.0], result.time)[0]
    np.testing.assert_allclose(result["hinge.phi"], expected, atol=1e-7)
    np.testing.assert_allclose(result["slide.s"], [crank.position(phi)[0] for phi in result["hinge.phi"]], atol=1e-10)


class TwoPlanetaryStages(Assembly):
    """A motor and two planetary stages, with rings in their housing, which swings about the shafts' axis."""

    m, r, J_house, J, ratios, torque_of_motor = 3.0, 0.3, 0.8, (0.01, 0.05, 0.4), (3.0, 2.0), 2.0

    def __init__(self) -> None:
        self.world = World()
        self.hinge = Revolute(n=(1, 0, 0), phi=fixed(0.2), w=fixed(0.0))
        self.house = Body(m=self.m, r_CM=(0, -self.r, 0), I_11=self.J_house, I_22=0.5, I_33=0.5)
        self.mount = Mounting1D(n=(1, 0, 0))
        at_rest = {"phi": fixed(0.0), "w": fixed(0.0)}
        self.rotors = [Rotor1D(J=J, n=(1, 0, 0), **({} if i else at_rest)) for i, J in enumerate(self.J)]
        self.stages = [rotational.IdealPlanetary(ratio=ratio) for ratio in self.ratios]
        self.motor, self.command = rotational.Torque(useSupport=True), blocks.Constant(k=self.torque_of_motor)
        self.connect(self.world.frame_b, self.hinge.frame_a)
        for part in (self.house, self.mount, *self.rotors):
            self.connect(self.hinge.frame_b, part.frame_a)
        self.connect(self.command.y, self.motor.tau)
        self.connect(self.mount.flange_b, self.motor.support)
        self.connect(self.motor.flange, self.rotors[0].flange_a)
        for i, stage in enumerate(self.stages):
            self.connect(self.rotors[i].flange_b, stage.sun)
            self.connect(stage.ring, self.mount.flange_b)
            self.connect(stage.carrier, self.rotors[i + 1].flange_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_planetary_stages_turn_their_housing() -> None:
    """Carriers turn 1 + ratio times slower; the rotors' angular momentum, not the motor's torque, turns the housing."""
    drive = TwoPlanetaryStages
    result = mbfmu.simulate(drive(), 2.0, tolerance=1e-10)
    slower = 1 / np.cumprod([1.0, *(1 + ratio for ratio in drive.ratios)])
    coupling = float(drive.J @ slower)
    inertia = np.array([[drive.J_house + drive.m * drive.r**2, coupling], [coupling, float(drive.J @ slower**2)]])

    def rates(_: float, y: np.ndarray) -> list[float]:
        loads = [-drive.m * G * drive.r * sin(y[0]), drive.torque_of_motor]
        return [*y[2:], *np.linalg.solve(inertia, loads)]

    expected = by_hand(rates, [0.2, 0.0, 0.0, 0.0], result.time)
    np.testing.assert_allclose(result["hinge.phi"], expected[0], atol=1e-8)
    np.testing.assert_allclose(result["rotors[1].phi"], expected[1], atol=1e-7)
    np.testing.assert_allclose(result["rotors[3].w"], expected[3] * slower[2], atol=1e-8)
