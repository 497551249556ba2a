"""Bodies that bend: rotating and strongly bent cantilevers, and a slider-crank with a connecting rod that bends."""

from __future__ import annotations

import functools
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import root

from mbfmu.components import Body, Prismatic, Revolute, World
from mbfmu.components.blocks import Constant
from mbfmu.components.blocks.interfaces import SO
from mbfmu.components.flexible import Beam, FiniteSegmentBeam
from mbfmu.components.flexible.beam import rectangle_torsion
from mbfmu.components.flexible.floating_frame import Flexibility, Integrals, PartialFlexibleBody
from mbfmu.components.forces import WorldForce
from mbfmu.components.parts import FixedTranslation
from mbfmu.components.rotational import ConstantSpeed, Position
from mbfmu.dynamics import System
from mbfmu.frames import null_rotation
from mbfmu.modeling import Assembly, Frame_b, Parameter, Start
from mbfmu.modeling import types as t
from mbfmu.studies.linearize import linearize
from problems.motion import Motion, motion
from problems.problem import Problem, Solution

# -- rotating cantilever


class RotatingCantilever(Assembly):
    """A cantilever of length, mass and bending stiffness 1 whose clamped end turns at `eta` rad/s on a hub.

    It bends across the plane of rotation, or within it; at its end hangs a point of mass `tip`.
    """

    def __init__(self, eta: float = 1.0, n: int = 8, hub: float = 0.0, tip: float = 0.0, within: bool = False) -> None:
        self.world = World(gravityType="NoGravity")
        self.axis = Revolute(useAxisFlange=True)
        self.drive = ConstantSpeed(w_fixed=eta)
        self.hub = FixedTranslation(r=(hub, 0, 0))
        self.beam = Beam(
            r=(1, 0, 0), EI_y=1.0, EI_z=1.0, EA=1e6, GJ=1.0, rhoA=1.0, rhoI_y=1e-9, rhoI_z=1e-9,
            nWidth=n if within else 0, nHeight=0 if within else n, nAxial=0, nTorsion=0, staticShapes=tip > 0,
        )  # fmt: skip
        self.connect(self.world.frame_b, self.axis.frame_a)
        self.connect(self.drive.flange, self.axis.axis)
        self.connect(self.axis.frame_b, self.hub.frame_a)
        self.connect(self.hub.frame_b, self.beam.frame_a)
        if tip:
            self.tip = Body(m=tip, r_CM=(0, 0, 0), I_11=0, I_22=0, I_33=0)
            self.connect(self.beam.frame_b, self.tip.frame_a)


#: Speed of rotation by the root of EI / (rho A L^4) -> the same of the first frequency across the plane of rotation.
FLAP = {0.0: 3.51602, 1.0: 3.68165, 2.0: 4.13732, 3.0: 4.79728, 10.0: 11.20233}


def _flap(tolerance: float) -> Solution:
    begin = time.process_time()
    values = [linearize(RotatingCantilever(eta)).eigenvalues.imag for eta in FLAP]
    found = [float(one[one > 1.0].min()) for one in values]  # but for the angle of the axis
    return Solution({"bending-rotating-cantilever": found}, time.process_time() - begin)


#: Radius of the hub by the length, speeds of rotation, and what `flap` gives.
HUB, SPEEDS = 1.0, (1.0, 5.0)
HUB_FLAP = [
    3.888823501528434, 22.37501426329532, 62.04305316671438, 8.940358130223167, 29.35283547837613, 69.7607097731604,
]  # fmt: skip


#: Speed of rotation, radius of the hub by the length, mass at the end by that of the beam, and whether it bends within
#: the plane of rotation; and what `flap` gives.
LOADED = (
    (0.0, 0.0, 1.0, False),
    (2.0, 0.0, 1.0, False),
    (5.0, 1.0, 1.0, False),
    (5.0, 1.0, 1.0, True),
    (10.0, 0.0, 0.5, True),
)
LOADED_FLAP = [
    1.5572978612818593,
    16.2500851620233,
    2.6696366835878673,
    18.190969371213694,
    7.727973431606757,
    33.495586833247216,
    5.8925014518131364,
    33.12030098449597,
    3.645622614811359,
    35.76502376619544,
]


def flap(
    eta: float, hub: float, terms: int = 20, tip: float = 0.0, within: bool = False, count: int = 3
) -> list[float]:
    """First frequencies across the plane of rotation, or within it, by Ritz's method.

    Deflections s^2 P_k(s) with Legendre's polynomials P_k are clamped at s = 0; the energy is that of bending, with the
    tension eta^2 (hub (1 - s) + (1 - s^2) / 2 + tip (hub + 1)). Within the plane a centrifugal force acts along the
    deflection: squares of frequencies are less by eta^2.
    """
    s, weights = np.polynomial.legendre.leggauss(3 * terms)
    s, weights = (s + 1) / 2, weights / 2
    clamped = np.polynomial.Legendre.identity(domain=[0, 1]) ** 2
    parts = [clamped * np.polynomial.Legendre.basis(k, domain=[0, 1]) for k in range(terms)]
    w, slope, bow = (np.array([part.deriv(order)(s) for part in parts]) for order in range(3))
    tension = eta**2 * (hub * (1 - s) + (1 - s**2) / 2 + tip * (hub + 1))
    K = bow * weights @ bow.T + slope * (weights * tension) @ slope.T
    ends = np.array([part(1.0) for part in parts])
    squares = eigh(K, w * weights @ w.T + tip * np.outer(ends, ends), eigvals_only=True)[:count]
    return [float(one) for one in np.sqrt(squares - within * eta**2)]


def _hub(tolerance: float) -> Solution:
    begin, found = time.process_time(), []
    for eta in SPEEDS:
        values = linearize(RotatingCantilever(eta, hub=HUB)).eigenvalues.imag
        found += np.sort(values[values > 1.0])[:3].tolist()
    return Solution({"bending-rotating-hub": found}, time.process_time() - begin)


def _loaded(tolerance: float) -> Solution:
    begin, found = time.process_time(), []
    for eta, hub, tip, within in LOADED:
        values = linearize(RotatingCantilever(eta, 10, hub, tip, within)).eigenvalues.imag
        found += np.sort(values[values > 1.0])[:2].tolist()
    return Solution({"bending-rotating-tip": found}, time.process_time() - begin)


# -- beams of segments under a force at their end


class TipForce(Assembly):
    """A clamped beam of segments, whose end a force in a fixed direction pulls until all rests."""

    def __init__(self, beam: FiniteSegmentBeam, force: Sequence[float]) -> None:
        self.world = World(gravityType="NoGravity")
        self.beam = beam
        self.force = WorldForce()
        self.along = [Constant(k=part) for part in force]
        self.connect(self.world.frame_b, self.beam.frame_a)
        self.connect(self.force.frame_b, self.beam.frame_b)
        for k in range(3):
            self.connect(self.along[k].y, self.force.force[k])


def moved(model: Assembly, names: Sequence[str], times: Sequence[float], tolerance: float) -> Motion:
    """`motion` of what starts straight and at rest, which nobody has to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return motion(System.of(model), names, times, tolerance)


def rest(model: TipForce, end: float, tolerance: float) -> tuple[np.ndarray, float]:
    """Place of the end of the beam once it rests [m], and CPU time [s]."""
    found = moved(model, [f"beam.frame_b.r_0[{k}]" for k in (1, 2, 3)], (0.0, end), tolerance)
    return np.array([values[-1] for values in found.values.values()]), found.seconds


def elastica(P: float, n: int, tolerance: float = 1e-7, curved: bool = False) -> tuple[np.ndarray, float]:
    """Deflection and shortening by the length under P = P L^2 / EI, with n segments, and CPU time [s]."""
    beam = FiniteSegmentBeam(
        r=(1, 0, 0), EI_y=1.0, EI_z=1.0, EA=1e6, GJ=1.0, rhoA=1.0, rhoI_y=1e-6, rhoI_z=1e-6, n=n, beta=0.4,
        curved=curved,
    )  # fmt: skip
    place, seconds = rest(TipForce(beam, (0.0, P, 0.0)), 15.0, tolerance)
    return np.array([place[1], 1 - place[0]]), seconds


#: P L^2 / EI -> deflection and shortening by the length.
ELASTICA = {1: (0.301721, 0.056433), 2: (0.493457, 0.160642), 10: (0.810609, 0.554996)}
#: Segments of the coarse beam; the fine one has twice as many.
COARSE = 8


def _elastica(tolerance: float) -> Solution:
    values, seconds = [], 0.0
    for P in ELASTICA:
        (coarse, first), (fine, second) = (elastica(float(P), n, tolerance) for n in (COARSE, 2 * COARSE))
        values += ((4 * fine - coarse) / 3).tolist()
        seconds += first + second
    return Solution({"bending-elastica": values}, seconds)


#: Princeton beam: force [N], angle of the force from the stiff direction [deg] -> z at the end [m].
WEIGHT = 8.896
PRINCETON = {45: 0.10898794, 90: 0.14624598}
STRIP: Mapping[str, Any] = {
    "r": (0.508, 0, 0), "width": 12.3777e-3, "height": 3.2024e-3, "E": 71.7e9, "nu": 0.31, "density": 2700.0,
}  # fmt: skip
#: The greatest force of the experiment [N], angles [deg], and what `rod` gives for each: y and z at the end [m].
HEAVY, ANGLES = 13.345, (30, 60)
HEAVY_ENDS = [0.016768809167110967, 0.11789264272702742, 0.011711013033812846, 0.18190803663470106]


def princeton(angle: float, n: int = 20, tolerance: float = 1e-7, weight: float = WEIGHT) -> tuple[np.ndarray, float]:
    """Place of the end of the Princeton beam [m], and CPU time [s]."""
    beam, turned = FiniteSegmentBeam(**STRIP, n=n, beta=0.02), math.radians(angle)
    return rest(TipForce(beam, (0.0, weight * math.cos(turned), weight * math.sin(turned))), 1.0, tolerance)


def rod(force: np.ndarray, length: float, stiffness: np.ndarray) -> np.ndarray:
    """End of a clamped rod under a force [3, m]: Kirchhoff's equations, by shooting at the moment at the clamped end.

    Along the rod r' = d1 and d' = d k, where d1, d2, d3 are its directions and stiffness * k = d' m the moment in
    these, of torsion, of bending across and along the width; m' = force x r', and m = 0 at the end.
    """

    def end(moment: np.ndarray, part: float) -> np.ndarray:
        def rates(s: float, y: np.ndarray) -> np.ndarray:
            d, m = y[3:12].reshape(3, 3), y[12:]
            x, y_, z = d.T @ m / stiffness
            turning = np.array(((0, -z, y_), (z, 0, -x), (-y_, x, 0)))
            return np.concatenate([d[:, 0], (d @ turning).ravel(), np.cross(part * force, d[:, 0])])

        begin = np.concatenate([np.zeros(3), np.eye(3).ravel(), moment])
        return np.asarray(solve_ivp(rates, (0.0, length), begin, "DOP853", rtol=1e-10, atol=1e-12).y[:, -1])

    def at_end(moment: np.ndarray, part: float) -> np.ndarray:
        return end(moment, part)[12:]

    moment, parts = np.zeros(3), (0.25, 0.5, 0.75, 1.0)
    for part in parts:
        guess = moment * part / (part - 0.25) if part > 0.25 else np.cross((length, 0, 0), part * force)
        moment = root(at_end, guess, args=(part,), tol=1e-11).x
    return end(moment, 1.0)[:3]


def strips() -> list[float]:
    """y and z at the end of the Princeton beam under the greatest force, at each angle [m]."""
    width, height, E, G = STRIP["width"], STRIP["height"], STRIP["E"], STRIP["E"] / (2 * (1 + STRIP["nu"]))
    stiffness = np.array((G * rectangle_torsion(width, height), E * width * height**3 / 12, E * height * width**3 / 12))
    turned = np.radians(ANGLES)
    forces = HEAVY * np.array((np.zeros(len(ANGLES)), np.cos(turned), np.sin(turned))).T
    return [float(x) for force in forces for x in rod(force, STRIP["r"][0], stiffness)[1:]]


def _strips(tolerance: float) -> Solution:
    found = [princeton(angle, tolerance=tolerance, weight=HEAVY) for angle in ANGLES]
    ends = [float(x) for place, _ in found for x in place[1:]]
    return Solution({"bending-princeton-heavy": ends}, sum(s for _, s in found))


def _princeton(tolerance: float) -> Solution:
    found = [princeton(angle, tolerance=tolerance) for angle in PRINCETON]
    return Solution({"bending-princeton": [float(place[2]) for place, _ in found]}, sum(s for _, s in found))


# -- slider-crank


class ConnectingRod(PartialFlexibleBody):
    """The rod of the test set: two sine waves across it, and along it two quadratic polynomials.

    The mass matrix of the polynomials is that of the test set, 15 times what the integrals are.
    """

    frame_b = Frame_b("End of the rod, which follows its lengthening")

    def flexibility(self) -> Flexibility:
        """Of the test set."""
        return _rod()

    def equations(self) -> None:
        """Its motion, and that of its end."""
        self.bend()
        self.relative_motion((LENGTH + self.q[3], 0, 0), null_rotation())


LENGTH, RHO, E, WIDTH = 0.3, 7870.0, 0.20e12, 0.0080
MASS, INERTIA = 0.151104, 0.0045339259


@functools.cache
def _rod() -> Flexibility:
    volume, pi = WIDTH**2 * LENGTH, math.pi
    mass, stiffness = RHO * volume, E * WIDTH**2 / LENGTH
    S, P, N = np.zeros((3, 4)), np.zeros((3, 3, 4)), np.zeros((3, 3, 4, 4))
    S[0, 2:], S[1, 0] = (2 / 3, 1 / 6), 2 / pi
    P[0, 0, 2:], P[1, 0, :2] = (1 / 3, 1 / 6), (1 / pi, -1 / (2 * pi))
    N[1, 1, :2, :2] = np.eye(2) / 2
    N[0, 0, 2:, 2:] = ((8, 1), (1, 2))
    N[0, 1, 2, 0], N[0, 1, 3, :2] = 16 / pi**3, (1 / pi - 8 / pi**3, -1 / (2 * pi))
    N[1, 0] = N[0, 1].T
    integrals = Integrals(
        MASS, np.array((MASS * LENGTH / 2, 0, 0)), np.diag((INERTIA, 0, 0)), mass * S, mass * LENGTH * P, mass * N
    )
    K = np.diag(stiffness * pi**4 * (WIDTH / LENGTH) ** 2 * np.array((1 / 24, 2 / 3, 0, 0)))
    K[2:, 2:] = stiffness / 3 * np.array(((16, -8), (-8, 7)))
    return Flexibility(integrals, K, np.zeros((0, 4, 4)))


#: The start of the test set.
ROD_START = (0.0, 0.0, 0.103339863e-4, 0.169327969e-4)
ROD_SPEED = (0.4448961125815990, 0.4634339319238670e-2, -0.1785910760000550e-5, -0.2689386719979040e-5)


class FlexibleSliderCrank(Assembly):
    """A crank that turns at 150 rad/s, a connecting rod that bends, a sliding block; planar, without gravity."""

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity")
        self.drive = ConstantSpeed(w_fixed=150.0)
        self.bearing = Revolute(useAxisFlange=True, phi=Start(0.0, fixed=True))
        self.crank = FixedTranslation(r=(0.15, 0, 0))
        self.pin = Revolute(phi=Start(0.0), w=Start(-225.0))
        self.rod = ConnectingRod(q=Start(ROD_START, fixed=True), qd=Start(ROD_SPEED, fixed=True))
        self.wrist = Revolute(phi=Start(0.0), w=Start(75.0))
        self.guide = Prismatic(n=(1, 0, 0), s=Start(0.45))
        self.block = Body(m=0.075552, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.bearing.frame_a)
        self.connect(self.drive.flange, self.bearing.axis)
        self.connect(self.bearing.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.pin.frame_a)
        self.connect(self.pin.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.wrist.frame_a)
        self.connect(self.wrist.frame_b, self.guide.frame_b)
        self.connect(self.guide.frame_a, self.world.frame_b)
        self.connect(self.block.frame_a, self.guide.frame_b)


#: At 0.1 s: angle of the rod [rad], place of the block [m], amplitudes of sine waves and displacements along the rod
#: [m]; their rates; forces of the block on its guide and along its way [N], torque of the drive [N.m].
CRANK: Mapping[str, float | list[float]] = {
    "bending-slider-crank-phi2": -0.3311734988256260,
    "bending-slider-crank-x3": 0.1697373328427860,
    "bending-slider-crank-q1": 1.893192899613509e-4,
    "bending-slider-crank-q2": 2.375751249879174e-5,
    "bending-slider-crank-along": [-5.323896770569702e-6, -8.363313279112129e-6],
    "bending-slider-crank-speeds": [60.25346755138369, -8.753116326670527],
    "bending-slider-crank-rates": [
        -0.03005541400289738, -0.005500431812571696, 0.0004974111734266989, 0.001105560003626645,
    ],
    "bending-slider-crank-forces": [-62.32935833287916, -163.7920993367306, 25.29857947066878],
}  # fmt: skip
#: The variables of ours, in the same order.
CRANK_NAMES = (
    "pin.phi", "guide.s", "rod.q[1]", "rod.q[2]", "rod.q[3]", "rod.q[4]", "pin.w", "guide.v", "rod.qd[1]", "rod.qd[2]",
    "rod.qd[3]", "rod.qd[4]", "guide.frame_b.f[2]", "block.frame_a.f[1]", "drive.flange.tau",
)  # fmt: skip


def _slider_crank(tolerance: float) -> Solution:
    found = moved(FlexibleSliderCrank(), list(CRANK_NAMES), (0.0, 0.1), tolerance)
    phi, x, *q = (float(found.values[name][-1]) for name in CRANK_NAMES)
    w, v, *qd = q[4:]
    values: list[float | list[float]] = [
        phi + 15.0,
        x,
        q[0],
        q[1],
        q[2:4],
        [w + 150.0, v],
        qd[:4],
        [qd[4], -qd[5], qd[6]],
    ]  # beside the crank
    return Solution(dict(zip(CRANK, values, strict=True)), found.seconds, found.evaluations)


# -- spin-up


#: Length [m], Young's modulus [Pa], density [kg/m3], area [m2], second moment of area [m4].
ARM, ARM_E, ARM_RHO, ARM_A, ARM_I = 8.0, 6.895e10, 2766.67, 7.299e-5, 8.214e-9
#: Speed at the end [rad/s], time that it takes [s], instants that are compared [s].
FULL, SPIN_UP, INSTANTS = 4.0, 15.0, (5.0, 10.0, 15.0)
SPINNING: Mapping[str, Any] = {
    "r": (ARM, 0, 0), "EI_y": ARM_E * ARM_I, "EI_z": ARM_E * ARM_I, "EA": ARM_E * ARM_A, "GJ": ARM_E * ARM_I,
    "rhoA": ARM_RHO * ARM_A, "rhoI_y": ARM_RHO * ARM_I, "rhoI_z": ARM_RHO * ARM_I,
}  # fmt: skip


class SpinUpAngle(SO):
    """Angle whose speed rises smoothly within SPIN_UP, as t / T - sin(2 pi t / T) / (2 pi) does, and then stays."""

    modelica_name = "Problems.Bending.SpinUpAngle"

    speed = Parameter(t.AngularVelocity, FULL, "Speed at last")

    def equations(self) -> None:
        """The integral of the speed."""
        w, at = 2 * math.pi / SPIN_UP, self.time
        rising = self.speed / SPIN_UP * (at**2 / 2 + (ca.cos(w * at) - 1) / w**2)
        self.y = ca.if_else(at < SPIN_UP, rising, self.speed * (at - SPIN_UP / 2))


class SpinUp(Assembly):
    """A beam that is clamped to an axis, which starts to turn; planar, without gravity."""

    def __init__(self, beam: Beam | FiniteSegmentBeam | None = None, speed: float = FULL) -> None:
        self.world = World(gravityType="NoGravity")
        self.angle = SpinUpAngle(speed=speed)
        self.drive = Position(exact=True)
        self.axis = Revolute(useAxisFlange=True)
        self.beam = beam or Beam(**SPINNING, nWidth=5, nHeight=0, nAxial=0, nTorsion=0)
        self.connect(self.world.frame_b, self.axis.frame_a)
        self.connect(self.angle.y, self.drive.phi_ref)
        self.connect(self.drive.flange, self.axis.axis)
        self.connect(self.axis.frame_b, self.beam.frame_a)


def lag(n: int = 8, modes: int = 6) -> list[float]:
    """Deflection of the end across the beam at the instants [m], by linear bending under centrifugal tension.

    With the speed O of the axis, the deflection w at x obeys rho A (ddw/dtdt + dO/dt x - O^2 w) + EI ddddw/dxdxdxdx =
    d(N dw/dx)/dx, where N = rho A O^2 (L^2 - x^2) / 2: what Kane, Ryan and Banerjee's theory is to first order. Solved
    by n cubic finite elements and the lowest modes of these.
    """
    h, mu = ARM / n, ARM_RHO * ARM_A
    s, weights = np.polynomial.legendre.leggauss(6)
    s, weights = (s + 1) / 2, weights / 2 * h
    shapes = np.array([1 - 3 * s**2 + 2 * s**3, h * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, h * (s**3 - s**2)])
    slopes = np.array([6 * s**2 - 6 * s, h * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2, h * (3 * s**2 - 2 * s)]) / h
    bows = np.array([12 * s - 6, h * (6 * s - 4), 6 - 12 * s, h * (6 * s - 2)]) / h**2
    size = 2 * n + 2
    M, K, G, f = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size)), np.zeros(size)
    for k in range(n):
        at, x = slice(2 * k, 2 * k + 4), h * (k + s)
        M[at, at] += mu * shapes * weights @ shapes.T
        K[at, at] += ARM_E * ARM_I * bows * weights @ bows.T
        G[at, at] += mu * slopes * (weights * (ARM**2 - x**2) / 2) @ slopes.T
        f[at] += mu * shapes @ (weights * x)
    squares, basis = eigh(K[2:, 2:], M[2:, 2:])
    squares, basis = squares[:modes], basis[:, :modes]
    soft, push = basis.T @ G[2:, 2:] @ basis - np.eye(modes), basis.T @ f[2:]

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w = 2 * math.pi / SPIN_UP
        speed, rate = FULL * (t / SPIN_UP - math.sin(w * t) / (2 * math.pi)), FULL / SPIN_UP * (1 - math.cos(w * t))
        return np.concatenate([y[modes:], -rate * push - squares * y[:modes] - speed**2 * soft @ y[:modes]])

    found = solve_ivp(rates, (0.0, SPIN_UP), np.zeros(2 * modes), "DOP853", INSTANTS, rtol=1e-12, atol=1e-13)
    return [float(value) for value in basis[-2] @ found.y[:modes]]


#: What `lag` gives.
LAG = [-0.42346370639112063, -0.34791320378535173, 0.0073125771844003325]


def by_hand() -> Mapping[str, list[float]]:
    """Deflections at the instants, by linear theory; frequencies on a hub and with a mass; ends of a Kirchhoff rod."""
    loaded = [flap(eta, hub, tip=tip, within=within, count=2) for eta, hub, tip, within in LOADED]
    return {
        "bending-spin-up": lag(),
        "bending-rotating-hub": [one for eta in SPEEDS for one in flap(eta, HUB)],
        "bending-rotating-tip": [one for pair in loaded for one in pair],
        "bending-princeton-heavy": strips(),
    }


#: The beam of Simo and Vu-Quoc, of 10 m, and its speed at last [rad/s].
LAST_SPEED = 6.0
LONG: Mapping[str, Any] = {
    "r": (10.0, 0, 0), "EA": 2.8e7, "EI_y": 1.4e4, "EI_z": 1.4e4, "GJ": 1.4e4, "kGA": 1e7, "rhoA": 1.2,
    "rhoI_y": 6e-4, "rhoI_z": 6e-4,
}  # fmt: skip
#: How much longer centrifugal force makes the beam [m]: rho A w^2 L^3 / (3 EA).
EXTENSION = 1.2 * LAST_SPEED**2 * 10.0**3 / (3 * 2.8e7)


def long_spin_up() -> SpinUp:
    """Their beam, which has 6 rad/s after 15 s and keeps them."""
    return SpinUp(Beam(**LONG, nWidth=4, nHeight=0, nTorsion=0), LAST_SPEED)


def _extension(tolerance: float) -> Solution:
    found = moved(long_spin_up(), ["beam.u_b[1]"], (0.0, 20.0), tolerance)
    return Solution(
        {"bending-spin-up-extension": float(found.values["beam.u_b[1]"][-1])}, found.seconds, found.evaluations
    )


def _spin_up(tolerance: float) -> Solution:
    found = moved(SpinUp(), ["beam.u_b[2]"], (0.0, *INSTANTS), tolerance)
    return Solution({"bending-spin-up": found.values["beam.u_b[2]"][1:].tolist()}, found.seconds, found.evaluations)


_CRANK_SOURCE = (
    "B. Simeon, Modelling a flexible slider crank mechanism by a mixed system of DAEs and PDEs, Mathematical Modelling "
    "of Systems 2 (1996), 1-18; problem `crank` of the Test Set for IVP Solvers, F. Mazzia, C. Magherini, release 2.4"
)

_RITZ = "the equations of A. D. Wright et al., 1982 (as above), by Ritz's method in twenty polynomials"
#: Of problems whose cost is told of one run.
_ONE_RUN: Mapping[str, Any] = {"tolerance": 1e-7, "tolerances": (1e-7,)}

PROBLEMS = (
    Problem(
        "bending-rotating-cantilever",
        "Rotating cantilever",
        "A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, Vibration modes of centrifugally stiffened beams, "
        "Journal of Applied Mechanics 49 (1982), 197-202",
        "first flap frequency at 0, 1, 2, 3 and 10, all by the root of EI / (rho A L^4)",
        "1",
        list(FLAP.values()),
        _flap,
        error=1e-3,
        model=RotatingCantilever,
        **_ONE_RUN,
    ),
    Problem(
        "bending-rotating-hub",
        "Rotating cantilever on a hub",
        _RITZ,
        "first three flap frequencies at 1 and 5 on a hub of the beam's length, all by the root of EI / (rho A L^4)",
        "1",
        HUB_FLAP,
        _hub,
        error=1e-2,
        origin="computed",
        **_ONE_RUN,
    ),
    Problem(
        "bending-rotating-tip",
        "Rotating cantilever with a mass at its end",
        _RITZ,
        "first two frequencies, by the root of EI / (rho A L^4), at 0, 2 and 5 across the plane of rotation with the "
        "mass of the beam at its end, at 5 on a hub of its length; within the plane at 5 and, with half of it, at 10",
        "1",
        LOADED_FLAP,
        _loaded,
        error=1e-2,
        origin="computed",
        **_ONE_RUN,
    ),
    Problem(
        "bending-elastica",
        "Elastica under a force at its end",
        "closed form by elliptic integrals; K. E. Bisshopp, D. C. Drucker, Large deflection of cantilever beams, "
        "Quarterly of Applied Mathematics 3 (1945), 272-275",
        "deflection and shortening by the length at P L^2 / EI = 1, 2 and 10, extrapolated from 8 and 16 segments",
        "1",
        [value for pair in ELASTICA.values() for value in pair],
        _elastica,
        error=5e-4,
        origin="closed form",
        **_ONE_RUN,
    ),
    Problem(
        "bending-princeton",
        "Princeton beam",
        "E. H. Dowell, J. Traybar, D. H. Hodges, An experimental-theoretical correlation study of nonlinear bending "
        "and torsion deformations of a cantilever beam, Journal of Sound and Vibration 50 (1977), 533-544; values of "
        "L. Obrezkov et al., 2022 (beam elements of Ansys)",
        "deflection of the end under 8.896 N at 45 and 90 degrees, with 20 segments",
        "m",
        list(PRINCETON.values()),
        _princeton,
        error=0.003 * min(PRINCETON.values()),
        **_ONE_RUN,
    ),
    Problem(
        "bending-princeton-heavy",
        "Princeton beam under its greatest force",
        "the beam of E. H. Dowell et al., 1977 (as above), Kirchhoff's equations of a rod by shooting, which agree with"
        " the beam elements of Ansys to 0.04 % under 8.896 N",
        "deflections of the end along width and height under 13.345 N at 30 and 60 degrees, with 20 segments",
        "m",
        HEAVY_ENDS,
        _strips,
        error=3e-4,
        origin="computed",
        **_ONE_RUN,
    ),
    Problem(
        "bending-spin-up",
        "Spin-up of a beam",
        "T. R. Kane, R. R. Ryan, A. K. Banerjee, Dynamics of a cantilever beam attached to a moving base, Journal of "
        "Guidance, Control and Dynamics 10 (1987), 139-151: the manoeuvre, and to first order its theory, linear "
        "bending under centrifugal tension, here of a beam of 8 m and by finite elements",
        "deflection of the end after 5, 10 and 15 s: up to 5 % of the length, whose square linear theory lacks",
        "m",
        LAG,
        _spin_up,
        error=1e-3,
        origin="computed",
        tolerance=1e-8,
        tolerances=(1e-6, 1e-8),
        model=SpinUp,
    ),
    Problem(
        "bending-spin-up-extension",
        "Spin-up of a beam: its steady extension",
        "J. C. Simo, L. Vu-Quoc, On the dynamics of flexible beams under large overall motions - the plane case, "
        "Journal of Applied Mechanics 53 (1986), 849-863: the beam; its extension by centrifugal force in closed form",
        "lengthening at 6 rad/s, 5 s after the end of the spin-up, as it still swings by 4 mm",
        "m",
        EXTENSION,
        _extension,
        error=5e-6,
        origin="closed form",
        tolerance=1e-8,
        tolerances=(1e-6, 1e-8),
        model=long_spin_up,
    ),
    *(
        Problem(
            name,
            "Slider-crank with a connecting rod that bends",
            _CRANK_SOURCE,
            what,
            unit,
            CRANK[name],
            _slider_crank,
            error=error,
            tolerance=1e-8,
            tolerances=(1e-6, 1e-8),
            model=FlexibleSliderCrank,
        )
        for name, what, unit, error in (
            ("bending-slider-crank-phi2", "angle of the connecting rod after 0.1 s", "rad", 1e-9),
            ("bending-slider-crank-x3", "place of the sliding block after 0.1 s", "m", 1e-9),
            ("bending-slider-crank-q1", "amplitude of the first sine wave after 0.1 s", "m", 1e-9),
            ("bending-slider-crank-q2", "amplitude of the second sine wave after 0.1 s", "m", 1e-9),
            ("bending-slider-crank-along", "displacements along the rod after 0.1 s: middle and end", "m", 1e-9),
            ("bending-slider-crank-speeds", "speeds of the rod (rad/s) and of the block after 0.1 s", "m/s", 1e-5),
            ("bending-slider-crank-rates", "rates of the four elastic coordinates after 0.1 s", "m/s", 1e-5),
            (
                "bending-slider-crank-forces",
                "multipliers after 0.1 s: across the guide, along it, and torque of the drive (N.m)",
                "N",
                5e-3,
            ),
        )
    ),
)  # fmt: skip
