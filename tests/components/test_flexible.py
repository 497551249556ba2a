"""Bodies that bend: beams in a floating frame, chains of segments, several frames a component."""

from __future__ import annotations

import itertools
import math
import pathlib
from typing import Any

import casadi as ca
import numpy as np
import pytest
import random_flexible
import scipy

import mbfmu
from mbfmu.cli import main
from mbfmu.components import Beam, Body, BodyShape, FiniteSegmentBeam, Fixed, FreeMotion, Revolute, World
from mbfmu.components.flexible.beam import rectangle_torsion
from mbfmu.components.flexible.floating_frame import Inertia, Integrals, quadratic, slightly_turned
from mbfmu.components.rotational import ConstantSpeed
from mbfmu.dynamics import System
from mbfmu.dynamics.solving import accelerations
from mbfmu.errors import ModelError
from mbfmu.frames import null_rotation
from mbfmu.modeling import Assembly, Component, Coordinate, Frame_a, Frame_b, Frames, Parameter, Start
from mbfmu.modeling import types as t
from mbfmu.studies.linearize import linearize
from problems import bending

UNIT = {"r": (1, 0, 0), "EI_y": 1.0, "EI_z": 1.0, "EA": 1e4, "GJ": 1.0, "rhoA": 1.0, "rhoI_y": 1e-6, "rhoI_z": 1e-6}


class Clamped(Assembly):
    """A beam on the ground."""

    def __init__(self, beam: Component) -> None:
        self.world = World(gravityType="NoGravity")
        self.beam = beam
        self.connect(self.world.frame_b, self.beam.frame_a)


@pytest.mark.slow
def test_a_clamped_beam_has_the_frequencies_of_the_book() -> None:
    found = linearize(Clamped(Beam(**UNIT, nWidth=4, nHeight=0, nAxial=3, nTorsion=0))).eigenvalues.imag
    found = np.sort(found[found > 0])
    assert found[:2] == pytest.approx([3.51601527, 22.03449156], rel=1e-8)  # cos(x) cosh(x) = -1
    assert found[found > 150][0] == pytest.approx(math.pi / 2 * 100, rel=1e-4)  # sqrt(EA / rhoA) / L


@pytest.mark.slow
def test_frequencies_of_a_beam_with_shear_are_those_of_timoshenko() -> None:
    """Of the clamped beam as its equations, w'' and slope, give them by Chebyshev collocation."""
    EI, kGA, rhoA, rhoI = 1.0, 60.0, 1.0, 0.01
    beam = Beam(**UNIT | {"rhoI_y": rhoI, "kGA": kGA}, shear=True, nWidth=6, nHeight=0, nAxial=0, nTorsion=0)
    found = linearize(Clamped(beam)).eigenvalues.imag
    found = np.sort(found[found > 0])
    n = 24
    k = np.arange(n + 1)
    x = np.cos(math.pi * k / n)
    c = np.where((k == 0) | (k == n), 2.0, 1.0) * (-1.0) ** k
    D = np.outer(c, 1 / c) / (x[:, None] - x[None, :] + np.eye(n + 1))
    D = 2 * (D - np.diag(D.sum(axis=1)))  # d/ds for s = (x + 1) / 2
    Z, one = np.zeros_like(D), np.eye(n + 1)
    A = np.block([[kGA * D @ D, -kGA * D], [kGA * D, EI * D @ D - kGA * one]])
    B = -np.block([[rhoA * one, Z], [Z, rhoI * one]])
    A[n, :], A[2 * n + 1, :] = np.r_[one[n], Z[0]], np.r_[Z[0], one[n]]  # clamped at s = 0
    A[0, :], A[n + 1, :] = np.r_[D[0], -one[0]], np.r_[Z[0], D[0]]  # no force, no torque at s = 1
    for row in (n, 2 * n + 1, 0, n + 1):
        B[row, :] = 0.0
    values = scipy.linalg.eigvals(A, B)
    exact = np.sort(np.sqrt(values[np.isfinite(values) & (values.real > 0.1) & (abs(values) < 1e6)].real))
    assert found[:3] == pytest.approx(exact[:3], rel=2e-4)


@pytest.mark.slow
def test_a_hinged_beam_has_a_mode_of_shear_alone() -> None:
    """All its sections turn alike and nothing deflects: sqrt(kGA / rhoI), among modes of bending around it."""
    kGA, rhoI, many = 30.0, 0.02, {"nHeight": 0, "nAxial": 0, "nTorsion": 0}
    beam = Beam(**UNIT | {"rhoI_y": rhoI, "kGA": kGA}, shear=True, ends="hinged-hinged", nWidth=9, **many)
    found = np.sort(linearize(Clamped(beam)).eigenvalues.imag)[-9:]
    assert np.abs(found / math.sqrt(kGA / rhoI) - 1).min() < 1e-9
    shapes = beam.shapes()
    assert np.abs(shapes.flexibility.bows).max() < 1e3
    turns = [shapes.rotations(s)[2, np.argmin(np.abs(found - math.sqrt(kGA / rhoI)))] for s in (0.0, 0.3, 1.0)]
    assert turns == pytest.approx([1.0, 1.0, 1.0], rel=1e-9)  # 1 by the length


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_curved_segment_that_is_only_twisted_reaches_as_far() -> None:
    beam = FiniteSegmentBeam(**UNIT, n=1, curved=True)
    beam.segment[0].modify(phi=Start((0.5, 0, 0), fixed=True), phid=Start((0, 0, 0), fixed=True))
    assert mbfmu.simulate(Clamped(beam), stop_time=1e-9)["beam.frame_b.r_0[1]"][0] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("curved", [False, True])
def test_a_segment_that_is_bent_reaches_two_halves_far_or_farther(curved: bool) -> None:
    """Halves of the length along the directions of both ends; curved, farther by (2 tan(angle / 2))^2 / 24 of it."""
    angle = 0.8
    beam = FiniteSegmentBeam(**UNIT, n=1, curved=curved)
    beam.segment[0].modify(phi=Start((0, 0, angle), fixed=True), phid=Start((0, 0, 0), fixed=True))
    found = mbfmu.simulate(Clamped(beam), stop_time=1e-9)
    farther = 1 + curved * (2 * math.tan(angle / 2)) ** 2 / 24
    end = [found[f"beam.frame_b.r_0[{i}]"][0] for i in (1, 2, 3)]
    assert end == pytest.approx([(1 + math.cos(angle)) / 2 * farther, math.sin(angle) / 2 * farther, 0], abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_curved_segment_is_an_arc_that_resists_by_its_angle() -> None:
    """Energy of bending is C angle^2 / 2 h, by an approximant whose error is of third order in the square."""
    angle = 1.0
    beam = FiniteSegmentBeam(**UNIT, n=1, curved=True)
    beam.segment[0].modify(phi=Start((0, 0, angle), fixed=True), phid=Start((0, 0, 0), fixed=True))
    found = mbfmu.simulate(System.of(Clamped(beam), energy=True), stop_time=1e-9)
    assert found["energy.potential"][0] == pytest.approx(angle**2 / 2, rel=1e-3)


def test_a_torque_at_either_hinge_turns_it_as_the_book_says() -> None:
    """By L / 3 EI there, and by L / 6 EI the other way at the other hinge: exact with three shapes."""
    beam = Beam(**UNIT, ends="hinged-hinged", nWidth=3, nHeight=0, nAxial=0, nTorsion=0)
    found = beam.shapes()
    turns = np.array([found.rotations(s)[2] for s in (0.0, 1.0)])
    compliance = turns @ np.linalg.solve(found.flexibility.K, turns.T)
    assert compliance == pytest.approx(np.array(((1 / 3, -1 / 6), (-1 / 6, 1 / 3))), rel=1e-9)


def test_bending_along_both_directions_shortens_by_the_sum_of_both() -> None:
    """By half of the integral of the squares of both slopes, which are not multiplied with each other."""
    shapes = Beam(**UNIT, nWidth=1, nHeight=1, nAxial=0, nTorsion=0).shapes()
    s, weights = np.polynomial.legendre.leggauss(30)
    for end in (0.4, 1.0):
        slopes = np.array([shapes.rotations(end * (1 + x) / 2)[1:] for x in s])  # of Euler's beam these are slopes
        squares = [end / 2 * weights @ (slopes[:, 1 - k, k] ** 2) for k in (0, 1)]
        assert shapes.bow(end) == pytest.approx(np.diag(squares), rel=1e-10, abs=1e-12)


def test_shortening_has_its_mass_and_moment() -> None:
    """Its shapes of second order have the force and the torque, by their weight, of the whole displacement."""
    shapes = Beam(**UNIT, nWidth=2, nHeight=1, nAxial=0, nTorsion=0).shapes()
    body, (s, weights) = shapes.flexibility, np.polynomial.legendre.leggauss(20)
    s, weights = (s + 1) / 2, weights / 2
    bows, i, n = np.array([shapes.bow(x) for x in s]), body.integrals, body.count
    assert np.einsum("k,kij->ij", i.S[0, n:], body.bows) == pytest.approx(np.tensordot(weights, bows, 1), abs=1e-12)
    moment = np.einsum("k,kij->ij", i.P[0, 0, n:], body.bows)
    assert moment == pytest.approx(np.tensordot(weights * s, bows, 1), abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_frames_come_nearer_as_the_beam_becomes_shorter() -> None:
    """And turn by 2 atan(angle / 2), at the rate of that."""
    q, qd = np.array((0.1, 0.05)), np.array((0.7, -0.3))
    start = {"q": Start(tuple(q), fixed=True), "qd": Start(tuple(qd), fixed=True)}
    beam = Beam(**UNIT, positions=[0.6], nWidth=2, nHeight=0, nAxial=0, nTorsion=0, **start)
    found, shapes = mbfmu.simulate(Clamped(beam), stop_time=1e-9), beam.shapes()
    for frame, s in (("frame[1]", 0.6), ("frame_b", 1.0)):
        place = [found[f"beam.{frame}.r_0[{k}]"][0] for k in (1, 2, 3)]
        assert place == pytest.approx((s - q @ shapes.bow(s) @ q / 2, shapes.displacements(s)[1] @ q, 0.0), abs=1e-12)
        turn = shapes.rotations(s)[2]
        assert found[f"beam.{frame}.R.w[3]"][0] == pytest.approx(turn @ qd / (1 + (turn @ q) ** 2 / 4), rel=1e-12)
    assert place[0] < 0.99


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_accelerations_of_shapes_are_told() -> None:
    """Of a clamped beam that does not stiffen each shape swings by itself, and loses by its damping ratio."""
    q, qd, ratio = np.array((0.1, 0.05)), np.array((0.7, -0.3)), 0.1
    start = {"q": Start(tuple(q), fixed=True), "qd": Start(tuple(qd), fixed=True), "damping": ratio}
    beam = Beam(**UNIT, nWidth=2, nHeight=0, nAxial=0, nTorsion=0, geometricStiffening=False, **start)
    found, w = mbfmu.simulate(Clamped(beam), stop_time=1e-9), beam.flexibility().frequencies
    qdd = [found[f"beam.qdd[{k}]"][0] for k in (1, 2)]
    assert qdd == pytest.approx(-(w**2) * q - 2 * ratio * w * qd, rel=1e-9)


@pytest.mark.slow
def test_torsion_turns_the_inertia_of_both_directions() -> None:
    beam = Beam(**UNIT | {"rhoI_y": 0.01, "rhoI_z": 0.03}, nWidth=0, nHeight=0, nAxial=0, nTorsion=3)
    found = np.sort(linearize(Clamped(beam)).frequencies)
    assert found[0] == pytest.approx(math.sqrt(1.0 / 0.04) / 4, rel=1e-5)  # GJ, L


def test_a_beam_that_is_almost_along_x_has_its_own_direction() -> None:
    first = Beam(**UNIT | {"r": (1.0, 0.05, 0.0)}).flexibility().integrals.first
    assert first == pytest.approx(math.hypot(1.0, 0.05) / 2 * np.array((1.0, 0.05, 0.0)), rel=1e-12)


@pytest.mark.parametrize("shear", [False, True])
def test_a_force_at_the_end_bends_a_beam_as_the_book_says(shear: bool) -> None:
    """Its compliance there is L^3 / 3 EI, and with shear L / kGA more: exact with three shapes."""
    beam = Beam(**UNIT | {"kGA": 50.0}, shear=shear, nWidth=3, nHeight=0, nAxial=0, nTorsion=0)
    found = beam.shapes()
    at_end = found.displacements(1.0)[1]
    compliance = at_end @ np.linalg.solve(found.flexibility.K, at_end)
    assert compliance == pytest.approx(1 / 3 + (1 / 50.0 if shear else 0.0), rel=1e-10)


class Tumbling(Assembly):
    """A beam in free fall, not along an axis, with a joint at its end and a load in its middle."""

    def __init__(self, held: str = "frame_a", **modifiers: Any) -> None:
        self.world = World(n=(0, 0, -1))
        given = dict(
            UNIT, r=(0.6, 0.8, 0), EA=400.0, rhoI_y=1e-3, rhoI_z=1e-3, nWidth=2, nHeight=2, positions=(0.0, 0.5)
        )
        self.beam = Beam(**given | modifiers)
        self.joint = Revolute(n=(0, 1, 0.3), phi=Start(0.2, fixed=True), w=Start(1.0, fixed=True))
        self.end = BodyShape(r=(0, 0.3, 0), r_CM=(0, 0.3, 0), m=0.3, I_11=0.01, I_22=0.02, I_33=0.02)
        self.middle = Body(r_CM=(0, 0.1, 0.1), m=0.2, I_11=0.01, I_22=0.02, I_33=0.02)
        self.connect(self.beam.frame_b, self.joint.frame_a)
        self.connect(self.joint.frame_b, self.end.frame_a)
        self.connect(self.beam.frame[1], self.middle.frame_a)
        if held != "free":
            self.free = FreeMotion(w_rel_a_start=(0.5, 0.3, 1.0), w_rel_a_fixed=True)
            self.connect(self.world.frame_b, self.free.frame_a)
            at = {"frame_a": self.beam.frame_a, "frame_b": self.beam.frame_b, "middle": self.beam.frame[1]}[held]
            self.connect(self.free.frame_b, at)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("held", ["frame_a", "frame_b", "middle"])
@pytest.mark.slow
@pytest.mark.campaign
def test_the_recursion_enters_a_beam_at_any_frame(held: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recursive = System.of(Tumbling(held), energy=True)
    monkeypatch.setattr(accelerations, "RECURSIVE_FROM", 1000)
    dense = System.of(Tumbling(held))
    assert recursive.equations.explicit
    assert not dense.equations.explicit
    one, other = (mbfmu.simulate(system, stop_time=0.5, tolerance=1e-9) for system in (recursive, dense))
    for name in ("beam.q[1]", "beam.q[4]", "beam.frame[2].r_0[3]", "joint.phi", "middle.frame_a.f[2]"):
        assert one[name] == pytest.approx(other[name], rel=1e-8, abs=1e-9)
    assert np.abs(one["energy.balanceError"]).max() < 1e-10
    total = one["energy.kinetic"] + one["energy.potential"]
    assert np.ptp(total) < 1e-6 * np.abs(one["energy.kinetic"]).max()


@pytest.mark.slow
@pytest.mark.parametrize("recursive_from", [5, 1000])
def test_frames_that_carry_nothing_cost_nothing(recursive_from: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accelerations, "RECURSIVE_FROM", recursive_from)
    monkeypatch.setattr(accelerations, "SPARSE_FROM", 5)
    sizes = []
    for positions in ((), (0.2, 0.4, 0.6, 0.8)):
        model = Clamped(Beam(**UNIT, nWidth=2, nHeight=2, nTorsion=0, positions=positions))
        equations = System.of(model).equations
        sizes.append(equations.functions["dynamics"].n_instructions())
    assert sizes[1] == sizes[0]


class Alone(Assembly):
    """A beam that flies freely, bends and turns."""

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity")
        self.beam = Beam(
            **UNIT | {"rhoI_y": 1e-3, "rhoI_z": 1e-3}, nWidth=2, nHeight=2, r_0=Start((1, 2, 3), fixed=True),
            v_0=Start((0.1, 0.2, -0.1), fixed=True), w_0_fixed=True, w_0_start=(0.5, 0.3, 1.0), angles_fixed=True,
            q=Start((0.05, 0.0, 0.02, 0.01, 0.0, 0.1), fixed=True), qd=Start((0, 0, 0, 0, 0, 0), fixed=True),
        )  # fmt: skip


@pytest.mark.slow
def test_momentum_of_a_free_beam_stays() -> None:
    model = Alone()
    found = mbfmu.simulate(model, stop_time=2.0, tolerance=1e-10)
    body = model.beam.flexibility()

    def column(name: str, k: int, size: int) -> np.ndarray:
        return np.array([found[f"beam.{name}[{i + 1}]"][k] for i in range(size)])

    def momentum(k: int) -> np.ndarray:
        q, qd = column("q", k, body.count), column("qd", k, body.count)
        x = np.r_[q, [-q @ bow @ q / 2 for bow in body.bows]]
        dx = np.r_[qd, [-q @ bow @ qd for bow in body.bows]]
        T = np.array([[found[f"beam.frame_a.R.T[{i},{j}]"][k] for j in (1, 2, 3)] for i in (1, 2, 3)])
        v, w, of = T @ column("v_0", k, 3), column("w_a", k, 3), body.integrals
        first = of.first + of.S @ x
        B = of.second + np.einsum("abi,i->ab", of.P, x) + np.einsum("bai,i->ab", of.P, x)
        B += np.einsum("abij,i,j->ab", of.N, x, x)
        J = np.trace(B) * np.eye(3) - B
        moving = np.einsum("abi,i->ab", of.P, dx) + np.einsum("abij,i,j->ab", of.N, dx, x)
        turning = [moving[2, 1] - moving[1, 2], moving[0, 2] - moving[2, 0], moving[1, 0] - moving[0, 1]]
        linear = T.T @ (of.m * v + np.cross(w, first) + of.S @ dx)
        angular = T.T @ (np.cross(first, v) + J @ w + turning) + np.cross(column("r_0", k, 3), linear)
        return np.r_[linear, angular]

    begin = momentum(0)
    assert np.abs(column("q", -1, 2)).max() > 1e-4  # it does bend
    for k in (len(found["time"]) // 2, -1):
        assert momentum(k) == pytest.approx(begin, abs=1e-7)


@pytest.mark.slow
def test_one_motion_whatever_the_frame_of_reference() -> None:
    """A beam that is turned in its frame_a bends as one along x."""
    straight = linearize(Clamped(Beam(**UNIT, nWidth=2, nHeight=2))).eigenvalues
    turned = linearize(Clamped(Beam(**UNIT | {"r": (0.48, 0.64, 0.6)}, nWidth=2, nHeight=2))).eigenvalues
    assert np.sort(turned.imag) == pytest.approx(np.sort(straight.imag), rel=1e-9)


def test_small_rotations_are_the_same_in_all_frames() -> None:
    """Turned axes, by SciPy; rates by differences; a rotation about one axis is right to second order."""
    turn, rates = ca.SX.sym("turn", 3), ca.SX.sym("rates", 3)
    R = slightly_turned(turn, rates)
    values = ca.Function("values", [turn, rates], [R.T, R.w])
    random = np.random.default_rng(0)
    angles, speeds = random.normal(size=(2, 3)) * 0.3
    T, w = (np.array(part) for part in values(angles, speeds))
    assert np.abs(T @ T.T - np.eye(3)).max() < 1e-15
    axes = scipy.spatial.transform.Rotation.random(rng=1).as_matrix()
    assert np.array(values(axes @ angles, speeds)[0]) == pytest.approx(axes @ T @ axes.T, abs=1e-15)
    h = 1e-5
    after, before = (np.array(values(angles + side * h * speeds, speeds)[0]) for side in (1, -1))
    spin = -(after - before) / (2 * h) @ T.T
    assert (spin[2, 1], spin[0, 2], spin[1, 0]) == pytest.approx(w.ravel(), abs=1e-9)
    exact = scipy.spatial.transform.Rotation.from_rotvec(angles / 10).as_matrix().T
    assert np.array(values(angles / 10, speeds)[0]) == pytest.approx(exact, abs=np.linalg.norm(angles / 10) ** 3 / 8)


def test_inertia_is_that_of_points_by_newton() -> None:
    """Forces and kinetic energy of random masses that move by random shapes, each point by itself."""
    random = np.random.default_rng(7)
    k, n = 9, 4
    masses, places, shapes = random.uniform(0.5, 2.0, k), random.normal(size=(k, 3)), random.normal(size=(k, 3, n))
    x, dx, ddx = random.normal(size=(3, n))
    a, v, w, z = random.normal(size=(4, 3))
    r, dr, ddr = places + shapes @ x, shapes @ dx, shapes @ ddx
    forces = masses[:, None] * (a + np.cross(z, r) + np.cross(w, np.cross(w, r)) + 2 * np.cross(w, dr) + ddr)
    inertia = Inertia(Integrals.of_points(masses, places, shapes), *(ca.SX(ca.DM(one)) for one in (x, dx, ddx)))
    force, torque, along = (np.ravel(ca.DM(part)) for part in inertia.forces(*map(ca.DM, (a, w, z))))
    np.testing.assert_allclose(force, forces.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(torque, np.cross(r, forces).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(along, np.einsum("kan,ka->n", shapes, forces), rtol=1e-12)
    speeds = v + np.cross(w, r) + dr
    kinetic = masses @ np.sum(speeds**2, axis=1) / 2
    assert float(ca.DM(inertia.kinetic(ca.DM(v), ca.DM(w)))) == pytest.approx(kinetic, rel=1e-12)


class Hinged(Assembly):
    """A beam between hinges, in a loop with the ground."""

    def __init__(self) -> None:
        self.world = World(gravityType="NoGravity")
        self.left, self.right = Revolute(phi=Start(0.0)), Revolute(phi=Start(0.0))
        self.beam = Beam(**UNIT, nWidth=5, nHeight=0, nAxial=1, nTorsion=0)
        self.wall = Fixed(r=(1, 0, 0))
        self.connect(self.world.frame_b, self.left.frame_a)
        self.connect(self.left.frame_b, self.beam.frame_a)
        self.connect(self.beam.frame_b, self.right.frame_a)
        self.connect(self.right.frame_b, self.wall.frame_b)


@pytest.mark.slow
def test_a_beam_in_a_loop_has_the_frequencies_of_a_hinged_one() -> None:
    found = linearize(Hinged()).eigenvalues.imag
    found = np.sort(found[found > 0])
    assert found[:2] == pytest.approx([math.pi**2, 4 * math.pi**2], rel=3e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_loads_at_frames_along_a_beam_reach_the_ground() -> None:
    class Loaded(Assembly):
        def __init__(self) -> None:
            self.world = World(g=9.81)
            self.beam = Beam(**UNIT | {"EI_y": 100.0}, positions=(0.25, 0.75), nWidth=2, nHeight=2, damping=0.5)
            self.loads = [Body(m=0.01, r_CM=(0, 0, 0)) for _ in range(2)]
            self.connect(self.world.frame_b, self.beam.frame_a)
            for load, frame in zip(self.loads, self.beam.frame, strict=True):
                self.connect(load.frame_a, frame)

    found = mbfmu.simulate(Loaded(), stop_time=40.0)
    assert found["beam.frame_a.f[2]"][-1] == pytest.approx(1.02 * 9.81, rel=1e-4)
    assert found["beam.frame_a.t[3]"][-1] == pytest.approx(9.81 * (0.5 + 0.01), rel=2e-3)


@pytest.mark.parametrize(
    ("modifiers", "message"),
    [
        ({"r": (0, 0, 0)}, "needs a length"),
        ({"widthDirection": (1, 0, 0)}, "is along r"),
        ({"section": "pipe", "diameter": 0.01, "innerDiameter": 0.02}, "is not less than diameter"),
        ({"EI_y": 0.0}, "must be >= "),
        ({"positions": (0.5, 1.5)}, "must be <= 1"),
    ],
)
def test_what_is_no_beam_is_refused(modifiers: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Beam(**UNIT | modifiers)


def test_a_frame_that_is_none_cannot_move() -> None:
    class Wrong(Component):
        frame_a, frame_b = Frame_a("One"), Frame_b("Other")

        def equations(self) -> None:
            self.relative_motion((1, 0, 0), self.frame_a.R, frame="frame_c")

    class Model(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.part = Wrong()
            self.connect(self.world.frame_b, self.part.frame_a)

    with pytest.raises(ModelError, match=r"move 'frame_c' relative to the first frame; .* frames, which are frame_b$"):
        System.of(Model())


def test_a_rectangle_twists_as_saint_venant_says() -> None:
    assert rectangle_torsion(1.0, 1.0) == pytest.approx(0.1405770, rel=1e-6)
    assert rectangle_torsion(0.1, 1.0) == pytest.approx(0.3123e-3, rel=1e-4)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_error_of_segments_falls_with_their_square() -> None:
    exact = np.array(bending.ELASTICA[2])
    coarse, fine = (np.abs(bending.elastica(2.0, n)[0] - exact) for n in (5, 10))
    assert coarse / fine == pytest.approx((4, 4), rel=0.06)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fmus_of_both_versions_and_targets_bend_alike(tmp_path: pathlib.Path) -> None:
    import fmpy

    ends = []
    for fmi, target in itertools.product((2, 3), ("native", "python")):
        path = mbfmu.build(bending.FlexibleSliderCrank(), tmp_path / f"{fmi}{target}.fmu", fmi=fmi, target=target)
        values = {"output": ["guide.s"], "stop_time": 0.02, "output_interval": 0.01, "relative_tolerance": 1e-8}
        ends.append(float(fmpy.simulate_fmu(str(path), **values)["guide.s"][-1]))
    run = mbfmu.simulate(bending.FlexibleSliderCrank(), stop_time=0.02, tolerance=1e-8)
    assert ends == [ends[0]] * 4
    assert ends[0] == pytest.approx(run["guide.s"][-1], abs=1e-8)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_four_curved_segments_are_better_than_eight_straight_ones() -> None:
    exact = np.array(bending.ELASTICA[2])
    four, eight = (np.abs(bending.elastica(2.0, n, curved=True)[0] - exact) for n in (4, 8))
    straight = np.abs(bending.elastica(2.0, 8)[0] - exact)
    assert (four < straight).all()
    assert (eight < four / 5).all()


@pytest.mark.slow
def test_a_straight_chain_of_segments_has_the_inertia_of_a_rod() -> None:
    class Turning(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.hinge = Revolute(phi=Start(0.0, fixed=True), w=Start(2.0, fixed=True))
            self.beam = FiniteSegmentBeam(**UNIT | {"rhoI_y": 0.02}, n=2)
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.beam.frame_a)

    with pytest.warns(UserWarning, match="nobody gave"):
        found = mbfmu.simulate(System.of(Turning(), energy=True), stop_time=1e-6)
    assert found["energy.kinetic"][0] == pytest.approx((1 / 3 + 0.02) * 2.0**2 / 2, rel=1e-12)


@pytest.mark.slow
@pytest.mark.campaign
def test_a_chain_of_segments_is_solved_by_the_recursion_and_keeps_its_energy() -> None:
    class Hanging(Assembly):
        def __init__(self) -> None:
            self.world = World()
            self.hinge = Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
            self.cable = FiniteSegmentBeam(**UNIT | {"EI_y": 0.01, "EI_z": 0.01, "GJ": 0.01}, n=6)
            self.connect(self.world.frame_b, self.hinge.frame_a)
            self.connect(self.hinge.frame_b, self.cable.frame_a)

    system = System.of(Hanging(), energy=True)
    assert system.equations.explicit
    with pytest.warns(UserWarning, match="nobody gave"):
        found = mbfmu.simulate(system, stop_time=0.25, tolerance=1e-9)
    assert np.abs(found["energy.balanceError"]).max() < 1e-9
    assert np.ptp(found["energy.kinetic"] + found["energy.potential"]) < 1e-6


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_free_segment_keeps_its_momentum() -> None:
    """Of both halves, which are thin rods with the inertia of their sections; velocities are differences."""

    class Flying(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            start = {"v_0": Start((0.3, -0.2, 0.1), fixed=True), "r_0": Start((0, 0, 0), fixed=True)}
            turning = {"w_0_start": (1.0, 2.0, -3.0), "w_0_fixed": True, "angles_fixed": True}
            self.beam = FiniteSegmentBeam(**UNIT | {"rhoI_y": 0.01, "rhoI_z": 0.03}, n=1, **start, **turning)
            self.beam.segment[0].modify(phi=Start((0.1, 0.2, 0.1), fixed=True), phid=Start((0, 0, 0), fixed=True))

    step = 5e-4
    found = mbfmu.simulate(Flying(), stop_time=0.05, interval=step, tolerance=1e-10)
    rod = 0.5 * 0.5**2 / 12
    inertia, linear, angular = np.diag((0.02, 0.015 + rod, 0.005 + rod)), 0.0, 0.0
    for frame, side in (("frame_a", 1), ("frame_b", -1)):
        r, w = (np.array([found[f"beam.{frame}.{name}[{k}]"] for k in (1, 2, 3)]).T for name in ("r_0", "R.w"))
        T = np.array([[found[f"beam.{frame}.R.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)])
        center = r + side * 0.25 * T[0].T
        p = 0.5 * np.gradient(center, step, axis=0, edge_order=2)
        linear, angular = linear + p, angular + np.cross(center, p) + np.einsum("jit,jk,tk->ti", T, inertia, w)
    for momentum in (linear[2:-2], angular[2:-2]):
        assert np.abs(momentum - momentum[0]).max() < 1e-4 * np.linalg.norm(momentum[0])


def test_quadratic_parts_cost_half_of_their_products() -> None:
    """Those of the foreshortening at each frame are most of what large beams cost."""
    n, random = 12, np.random.default_rng(0)
    matrix = random.normal(size=(n, n))
    matrix += matrix.T
    q = ca.SX.sym("q", n)
    found = quadratic(matrix, q)
    rates = ca.jacobian(found, q)
    values = ca.Function("values", [q], [found, rates])
    at = random.normal(size=n)
    value, rate = (np.array(part) for part in values(at))
    assert value == pytest.approx(at @ matrix @ at / 2, rel=1e-13)
    assert rate.ravel() == pytest.approx(matrix @ at, rel=1e-12)
    products = sum(values.instruction_id(k) == ca.OP_MUL for k in range(values.n_instructions()))
    assert products <= n * (n + 1) + n


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_damping_takes_is_what_energy_lacks() -> None:
    rest = {"q": Start((0.05, 0, 0, 0), fixed=True), "qd": Start((0, 0, 0, 0), fixed=True)}
    system = System.of(Clamped(Beam(**UNIT, nWidth=1, nHeight=1, damping=0.05, **rest)), energy=True)
    found = mbfmu.simulate(system, stop_time=2.0, tolerance=1e-10)
    whole = found["energy.kinetic"] + found["energy.potential"]
    assert whole[-1] < 0.7 * whole[0]
    assert np.abs(found["energy.balanceError"]).max() < 1e-6 * whole[0]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damping_of_a_segment_follows_its_curvature() -> None:
    """The power is beta C / h (dk/dt)^2 with k = 2 tan(angle / 2), also where the angle is large."""
    angle, rate, beta, dt = 1.2, 0.7, 2.0, 1e-5
    beam = FiniteSegmentBeam(**UNIT, n=1, beta=beta)
    beam.segment[0].modify(phi=Start((0, 0, angle), fixed=True), phid=Start((0, 0, rate), fixed=True))
    found = mbfmu.simulate(System.of(Clamped(beam), energy=True), stop_time=dt, tolerance=1e-10)
    power = beta * (rate / math.cos(angle / 2) ** 2) ** 2
    whole = found["energy.total"]
    assert (whole[0] - whole[-1]) / dt == pytest.approx(power, rel=1e-2)


class Stretched(Assembly):
    """One segment that may lengthen and shear, with a mass on its end."""

    def __init__(self, s: tuple[float, float, float], beta: float) -> None:
        self.world = World(gravityType="NoGravity")
        stiff = {"r": (2, 0, 0), "EA": 50.0, "kGA": 40.0, "EI_z": 3.0, "rhoA": 0.4, "rhoI_y": 0.01, "rhoI_z": 0.02}
        self.beam = FiniteSegmentBeam(**UNIT | stiff, n=1, extensible=True, beta=beta)
        self.beam.segment[0].modify(s=Start(s, fixed=True))
        self.load = Body(m=1.5, r_CM=(0, 0, 0), I_11=1e-3, I_22=2e-3, I_33=3e-3)
        self.connect(self.world.frame_b, self.beam.frame_a)
        self.connect(self.beam.frame_b, self.load.frame_a)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_segment_that_is_stretched_swings_as_a_damped_spring() -> None:
    """Its end and half of its mass on EA / h, with the loss factor beta in series: m x'' + k (x + beta x') = 0."""
    beta, k, m = 0.03, 50.0 / 2, 1.5 + 0.4 * 2 / 2
    found = mbfmu.simulate(Stretched((0.1, 0.0, 0.0), beta), stop_time=1.0, tolerance=1e-10)
    decay, omega = beta * k / m / 2, math.sqrt(k / m)
    swing = math.sqrt(omega**2 - decay**2)
    t = found.time
    expected = 0.1 * np.exp(-decay * t) * (np.cos(swing * t) + decay / swing * np.sin(swing * t))
    np.testing.assert_allclose(found["beam.frame_b.r_0[1]"] - 2, expected, atol=1e-8)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_energy_of_a_segment_that_is_stretched_and_sheared_balances() -> None:
    """At first it is half of EA or kGA over h times the square of each; what damping takes is what is lacking then."""
    found = mbfmu.simulate(System.of(Stretched((0.1, 0.2, -0.3), 0.03), energy=True), stop_time=0.3, tolerance=1e-10)
    assert found["energy.potential"][0] == pytest.approx((50.0 * 0.01 + 40.0 * 0.04 + 40.0 * 0.09) / 2 / 2, rel=1e-12)
    assert np.ptp(found["energy.total"]) > 0.1
    assert np.abs(found["energy.balanceError"]).max() < 1e-7


def test_a_rectangle_bends_as_its_sides_say() -> None:
    beam = Beam(r=(1, 0, 0), width=0.02, height=0.05)
    assert beam.value("I_y") == pytest.approx(0.05 * 0.02**3 / 12, rel=1e-14)
    assert beam.value("I_z") == pytest.approx(0.02 * 0.05**3 / 12, rel=1e-14)


@pytest.mark.slow
@pytest.mark.campaign
def test_random_mechanisms_bend_as_finite_segments_do(campaign: Any) -> None:
    for seed in range(9, 9 + campaign(1, 500)):
        found, told = random_flexible.difference(seed)
        assert found <= 1, f"seed {seed}: {told}"


class Comb(Component):
    """A vector of frames on one slide."""

    frame_a = Frame_a("Begin")
    n = Parameter(t.Integer, 2, "Number of frames", min=0)
    teeth = Frames("Tooth", size=lambda self: self.value("n"))
    s = Coordinate(t.Length, "Way", start=0.0)

    def equations(self) -> None:
        for k, _ in enumerate(self.teeth):
            self.relative_motion((k * self.s, 0, 0), null_rotation(), frame=f"teeth[{k + 1}]")


def test_a_vector_of_frames_has_as_many_as_the_component_says() -> None:
    comb = Comb(n=3)
    assert list(comb.ports()) == ["frame_a", "teeth[1]", "teeth[2]", "teeth[3]"]
    assert [connector.path for connector in comb.teeth] == ["teeth[1]", "teeth[2]", "teeth[3]"]
    assert comb.connector("teeth[2]").port is comb.teeth[1].port
    assert list(Comb(n=0).ports()) == ["frame_a"]


def test_elements_of_frames_are_written_and_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "rail.toml"
    path.write_text(
        '[world]\n[[component]]\nname = "rail"\nclass = "FlexibleBodies.Beam"\n'
        "parameters = { r = [1, 0, 0], positions = [0.2, 0.5] }\n"
        '[[component]]\nname = "load"\nclass = "MultiBody.Parts.Body"\nparameters = { m = 2.0, r_CM = [0, 0, 0] }\n'
        '[[connect]]\na = "world.frame_b"\nb = "rail.frame_a"\n[[connect]]\na = "rail.frame[2]"\nb = "load.frame_a"\n'
    )
    assert main(["convert", str(path), "-o", str(tmp_path / "rail.py")]) == 0
    assert "self.connect(self.rail.frame[1], self.load.frame_a)" in (tmp_path / "rail.py").read_text()
    assert main(["convert", str(tmp_path / "rail.py"), "-o", str(tmp_path / "again.toml")]) == 0
    assert 'a = "rail.frame[2]"' in (tmp_path / "again.toml").read_text()


@pytest.mark.slow
def test_a_beam_is_drawn_as_it_bends() -> None:
    """The middle of its last section stands three times as far aside as frame_b does."""
    q, rest = Start((0.02, 0, 0, 0), fixed=True), Start((0, 0, 0, 0), fixed=True)
    model = Clamped(Beam(**UNIT, width=0.1, nWidth=1, nHeight=1, q=q, qd=rest, deformationScale=3.0))
    system = System.of(model, scene=True)
    assert system.scene is not None
    found = mbfmu.simulate(system, 1e-6, interval=1e-6, outputs=[*system.scene.variables, "beam.frame_b.r_0"])
    shape = next(shape for shape in system.scene.shapes if shape.ident == "beam.beam")
    extra = np.array([found[part][0] if isinstance(part, str) else part for part in shape.quantities["extra"]])
    outline, stations = extra[:2].astype(int)
    points = extra[5:].reshape(outline, stations, 3)
    assert points[:4, 0].mean(axis=0) == pytest.approx((0, 0, 0), abs=1e-12)
    aside = found["beam.frame_b.r_0[2]"][0]
    assert aside > 0.01
    assert points[:4, -1].mean(axis=0)[1] == pytest.approx(3 * aside, rel=1e-9)
    turn = 0.02 * model.beam.shapes().rotations(1.0)[2, 0]
    across = points[0, -1] - points[1, -1]  # of a section 0.1 wide
    assert across == pytest.approx((-3 * turn * 0.1, 0.1, 0.0), rel=1e-9)


@pytest.mark.slow
def test_a_pipe_is_drawn_as_thick_as_it_is() -> None:
    pipe = Beam(**UNIT, section="pipe", diameter=0.1, nWidth=0, nHeight=0, nAxial=0, nTorsion=0)
    scene = System.of(Clamped(pipe), scene=True).scene
    assert scene is not None
    (extra,) = (shape.quantities["extra"] for shape in scene.shapes if shape.ident == "beam.beam")
    points = np.array(extra[5:], dtype=float).reshape(-1, 3)
    assert np.hypot(points[:, 1], points[:, 2]) == pytest.approx(0.05, rel=1e-9)
    assert np.ptp(points[:, 0]) == pytest.approx(1.0)


def test_a_pipe_has_the_values_of_the_book() -> None:
    """Second moments and torsion of an annulus; Cowper's coefficients of a circle, a thin pipe and a rectangle."""
    outer, inner, nu = 0.04, 0.03, 0.3
    pipe = Beam(r=(1, 0, 0), section="pipe", diameter=outer, innerDiameter=inner, nu=nu, E=7e10, density=2700.0)
    second = math.pi / 4 * ((outer / 2) ** 4 - (inner / 2) ** 4)
    area = math.pi * ((outer / 2) ** 2 - (inner / 2) ** 2)
    assert [pipe.value(name) for name in ("I_y", "I_z", "J", "A")] == pytest.approx([second, second, 2 * second, area])
    assert pipe.value("GJ") == pytest.approx(7e10 / 2.6 * 2 * second)
    assert pipe.value("rhoI_y") == pytest.approx(2700.0 * second)

    def shear(**section: Any) -> float:
        return float(Beam(r=(1, 0, 0), nu=nu, **section).value("shearFactor"))

    assert shear(section="pipe", diameter=outer) == pytest.approx(6 * (1 + nu) / (7 + 6 * nu))
    thin = shear(section="pipe", diameter=outer, innerDiameter=outer * (1 - 1e-9))
    assert thin == pytest.approx(2 * (1 + nu) / (4 + 3 * nu))
    assert shear() == pytest.approx(10 * (1 + nu) / (12 + 11 * nu))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_displacement_of_the_end_is_resolved_in_frame_a() -> None:
    r, bent = np.array((0.6, 0.0, 0.8)), {"q": Start((0.1, 0.05, 0), fixed=True), "qd": Start((0, 0, 0), fixed=True)}
    model = Clamped(Beam(**UNIT | {"r": tuple(r)}, nWidth=1, nHeight=1, nTorsion=0, **bent))
    found = mbfmu.simulate(model, stop_time=1e-6)
    moved = [found[f"beam.frame_b.r_0[{k + 1}]"][0] - r[k] for k in range(3)]
    assert np.abs(moved).max() > 0.04
    assert [found[f"beam.u_b[{k}]"][0] for k in (1, 2, 3)] == pytest.approx(moved, abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gravity_acts_in_the_centre_of_mass() -> None:
    class Orbit(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="PointGravity", mu=3.0, animateGravity=False)
            self.fixed = Fixed(r=(2, 0, 0))
            self.beam = Beam(**UNIT | {"r": (0, 1, 0), "rhoA": 2.0}, widthDirection=(1, 0, 0), nWidth=1, nHeight=0)
            self.connect(self.fixed.frame_b, self.beam.frame_a)

    found = mbfmu.simulate(Orbit(), stop_time=1e-9)
    center = np.array((2.0, 0.5, 0.0))
    expected = -3.0 * center / np.linalg.norm(center) ** 3
    assert [found[f"beam.g_0[{k}]"][0] for k in (1, 2, 3)] == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_field_without_potential_supplies_what_a_bending_beam_gains() -> None:
    """Its power is that of the centre of mass, which moves as the clamped beam bends."""

    class Blown(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityAcceleration=lambda r: (0.0, 3.0 + r[2], 2.0 - r[1]))
            self.beam = Beam(**UNIT, nWidth=1, nHeight=1, nTorsion=0, nAxial=0)
            self.connect(self.world.frame_b, self.beam.frame_a)

    found = mbfmu.simulate(System.of(Blown(), energy=True), stop_time=0.5, tolerance=1e-9)
    gained = found["energy.kinetic"] + found["energy.potential"]
    assert gained[-1] - gained[0] > 0.1
    assert np.abs(found["energy.balanceError"]).max() < 1e-6


class Pulled(Assembly):
    """A chain of segments whose end a mass pulls along or across it."""

    def __init__(self, direction: tuple[float, float, float], beta: float) -> None:
        self.world = World(n=direction, g=2.0)
        given = UNIT | {"EA": 50.0, "kGA": 40.0, "EI_y": 1e4, "EI_z": 1e4, "rhoA": 0.01, "rhoI_y": 1e-4, "rhoI_z": 1e-4}
        self.beam = FiniteSegmentBeam(**given, n=2, extensible=True, beta=beta)
        self.load = Body(m=1.5, r_CM=(0, 0, 0), I_11=1e-3, I_22=1e-3, I_33=1e-3)
        self.connect(self.world.frame_b, self.beam.frame_a)
        self.connect(self.beam.frame_b, self.load.frame_a)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("direction", "stiffness"), [((1, 0, 0), 50.0), ((0, 1, 0), 40.0), ((0, 0, 1), 40.0)])
def test_segments_lengthen_and_shear_as_the_book_says(direction: tuple[float, float, float], stiffness: float) -> None:
    """Weight over EA, or over kGA where bending is stiff, at rest; frequency and loss of the swing."""
    rest = mbfmu.simulate(Pulled(direction, 0.3), stop_time=8.0)
    moved = np.array([rest[f"beam.frame_b.r_0[{k}]"][-1] for k in (1, 2, 3)]) - (1, 0, 0)
    assert moved @ direction == pytest.approx((1.5 + 0.01 / 2) * 2.0 / stiffness, rel=2e-3)
    values, omega = linearize(Pulled(direction, 0.02)).eigenvalues, math.sqrt(stiffness / (1.5 + 0.01 / 3))
    nearest = values[np.argmin(np.abs(np.abs(values) - omega))]
    assert np.abs(nearest) == pytest.approx(omega, rel=2e-3)
    assert -nearest.real == pytest.approx(0.02 * omega**2 / 2, rel=5e-3)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_four_curved_segments_lengthen_in_rotation_as_the_book_says() -> None:
    """By rho w^2 L^3 / 3 EA: the tension is a parabola, which weights of segments integrate exactly."""

    class Turning(Assembly):
        def __init__(self) -> None:
            self.world = World(gravityType="NoGravity")
            self.axis, self.drive = Revolute(useAxisFlange=True), ConstantSpeed(w_fixed=1.0)
            self.beam = FiniteSegmentBeam(**UNIT | {"EA": 2e3}, n=4, curved=True, extensible=True, beta=0.02)
            self.connect(self.world.frame_b, self.axis.frame_a)
            self.connect(self.drive.flange, self.axis.axis)
            self.connect(self.axis.frame_b, self.beam.frame_a)

    found = mbfmu.simulate(Turning(), stop_time=0.5)
    reach = math.hypot(*(found[f"beam.frame_b.r_0[{k}]"][-1] for k in (1, 2)))
    assert reach - 1 == pytest.approx(1 / 3 / 2e3, rel=2e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_frames_along_segments_are_at_the_nearest_end() -> None:
    found = mbfmu.simulate(Clamped(FiniteSegmentBeam(**UNIT, n=3, positions=[0.1, 0.3, 0.6, 1.0])), stop_time=1e-9)
    places = [found[f"beam.frame[{k}].r_0[1]"][0] for k in (1, 2, 3, 4)]
    assert places == pytest.approx([0, 1 / 3, 2 / 3, 1])
