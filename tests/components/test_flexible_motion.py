"""Bodies that bend and fly freely: momentum, energy, power through each frame, and turned worlds.

Momentum and energy of motion are those of points of mass, whose places follow from frames and coordinates, and whose
velocities are differences.
"""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import scipy
from test_modal_body import ATTACHED, HELD, bricks, files

import mbfmu
from mbfmu.components import Beam, Body, FiniteSegmentBeam, ModalBody, World
from mbfmu.dynamics import System
from mbfmu.modeling import Assembly, Start

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]

KINDS = ("beam", "segments", "matrices")
#: A beam, its segments, the points of mass that hang at its middle and its end [kg], and where [m].
L, SEGMENTS, LOADS, ARM = 1.0, 4, (0.2, 0.1), np.array((0.02, 0.1, 0.05))
SECTION: dict[str, Any] = {
    "r": (L, 0, 0), "positions": [0.5], "EI_y": 3.0, "EI_z": 4.0, "EA": 1e4, "GJ": 2.0, "rhoA": 1.0, "rhoI_y": 1e-3,
    "rhoI_z": 2e-3,
}  # fmt: skip
#: Derivatives by differences of sixth order.
DIFFERENCES = np.array((-1, 9, -45, 0, 45, -9, 1)) / 60
STEP, STOP, AT = 4e-5, 0.1, (10, 800, 1600, 2490)
ALONG = np.array((1.0, 0, 0))
GRAVITY = np.array((0, 0.6, -0.8))
TURNED = scipy.spatial.transform.Rotation.from_euler("XYZ", (0.4, -0.7, 1.1)).as_matrix()


class Flying(Assembly):
    """A body that tumbles, bends and swings, with points of mass at two frames; `turn` turns all of it."""

    def __init__(self, kind: str, folder: pathlib.Path, g: float = 0.0, turn: np.ndarray | None = None) -> None:
        Q = np.eye(3) if turn is None else turn
        self.world = World(n=tuple(Q @ GRAVITY), g=g)
        start = {
            "r_0": Start(tuple(Q @ (0.3, -0.2, 0.5)), fixed=True),
            "v_0": Start(tuple(Q @ (1.0, 0.5, -0.4)), fixed=True),
            "w_0_start": tuple(Q @ (2.0, 1.5, -3.0)), "w_0_fixed": True, "angles_fixed": True,
            "angles_start": tuple(scipy.spatial.transform.Rotation.from_matrix(Q).as_euler("XYZ")),
        }  # fmt: skip
        if kind == "segments":
            self.body = FiniteSegmentBeam(**SECTION, n=SEGMENTS, **start)
            for segment in self.body.segment:
                segment.modify(phi=Start((0.05, 0.03, -0.04), fixed=True), phid=Start((0, 0, 0), fixed=True))
        else:
            which, given, first = Beam, dict(SECTION, nWidth=2, nHeight=2, shear=True, kGA=1e3), (0.02, 0, 0.01, 0)
            if kind == "matrices":
                which, first = ModalBody, (0.01, 0.01, 0.005)
                given = {**files(folder, *bricks()), "held": HELD, "attached": f"13 14 15 16; {ATTACHED}", "nModes": 2}
            zeros = np.zeros(which(**given).flexibility().count)
            bent = zeros.copy()
            bent[: len(first)] = first
            self.body = which(**given, **start, q=Start(bent, fixed=True), qd=Start(zeros, fixed=True))
        self.loads = [Body(m=m, r_CM=ARM, I_11=0, I_22=0, I_33=0) for m in LOADS]
        for load, name in zip(self.loads, self.ends(), strict=True):
            self.connect(load.frame_a, self.body.frame[0] if name == "frame[1]" else self.last())

    def last(self) -> Any:
        """The frame at its end."""
        return self.body.frame[1] if isinstance(self.body, ModalBody) else self.body.frame_b

    def ends(self) -> tuple[str, str]:
        """Names of its frames with loads."""
        return ("frame[1]", "frame[2]" if isinstance(self.body, ModalBody) else "frame_b")


class Motion:
    """A run of it, with the places of points of mass."""

    def __init__(self, model: Flying) -> None:
        self.model, body = model, model.body
        self.frames = ["body.frame_a", *(f"body.{name}" for name in model.ends())]
        names = [f"{frame}.{part}" for frame in self.frames for part in ("r_0", "R.T", "R.w", "f", "t")]
        self.segments = [f"body.segment[{k + 1}].frame_b" for k in range(SEGMENTS if "frame_b" in model.ends() else 0)]
        if not isinstance(body, FiniteSegmentBeam):
            names.append("body.q")
            self.segments = []
        names += [f"{frame}.{part}" for frame in self.segments for part in ("r_0", "R.T")]
        self.found = mbfmu.simulate(
            System.of(model, energy=True), STOP, tolerance=1e-10, interval=STEP,
            outputs=[*names, "energy.kinetic", "energy.potential", "energy.balanceError"],
        )  # fmt: skip
        self.energy = self.found["energy.kinetic"] + self.found["energy.potential"]

    def column(self, name: str, size: int) -> np.ndarray:
        """A vector over time [steps, size]."""
        return np.array([self.found[f"{name}[{k + 1}]"] for k in range(size)]).T

    def places(self, frame: str, offsets: np.ndarray) -> np.ndarray:
        """Those of points [k, 3] that are fixed to a frame, or move in it [steps, k, 3], over time [steps, k, 3]."""
        T = np.array([[self.found[f"{frame}.R.T[{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)])
        moved = np.broadcast_to(offsets, (T.shape[2], *offsets.shape[-2:]))
        return self.column(f"{frame}.r_0", 3)[:, None] + np.einsum("jit,tkj->tki", T, moved)

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """Mass matrix of all points [k, k], and their places [steps, k, 3]; the loads are the last two."""
        body = self.model.body
        if isinstance(body, ModalBody):
            mass, _, nodes = bricks()
            elements = body.finite_elements()
            # its shapes at all nodes: those of the surface that is drawn are not all
            matrix, places = (
                mass[::3, ::3],
                self.places("body.frame_a", nodes - nodes[:4].mean(axis=0) + self._bent(elements)),
            )
        else:
            s, weights = np.polynomial.legendre.leggauss(2 if isinstance(body, FiniteSegmentBeam) else 24)
            sides = np.array([(0, y, z) for y in (-1, 1) for z in (-1, 1)]) * np.sqrt((0, 1e-3, 2e-3))
            if isinstance(body, FiniteSegmentBeam):
                h, found = L / SEGMENTS, []
                for begin, end in zip(["body.frame_a", *self.segments], self.segments, strict=False):
                    for frame, sign in ((begin, 1), (end, -1)):
                        along = sign * h / 4 * (1 + s)
                        offsets = np.array([x * ALONG + side for x in along for side in sides])
                        found.append(self.places(frame, offsets))
                places = np.concatenate(found, axis=1)
                masses = np.full(places.shape[1], L / places.shape[1])
            else:
                shapes, q = body.shapes(), self.column("body.q", body.flexibility().count)
                found, masses = [], np.repeat(weights / 2 / 4, 4)
                for x in (s + 1) / 2:
                    u, turn = q @ shapes.displacements(x).T, q @ shapes.rotations(x).T
                    u[:, 0] -= np.einsum("ti,ij,tj->t", q, shapes.bow(x), q) / 2
                    found += [x * L * ALONG + u + side + np.cross(turn, side) for side in sides]
                places = self.places("body.frame_a", np.array(found).swapaxes(0, 1))
            matrix = np.diag(masses)
        loads = [self.places(frame, ARM[None]) for frame in self.frames[1:]]
        return scipy.linalg.block_diag(matrix, np.diag(LOADS)), np.concatenate([places, *loads], axis=1)

    def _bent(self, elements: Any) -> np.ndarray:
        """Displacements of the nodes [steps, k, 3], by a body that tells all of them."""
        every = "; ".join(map(str, elements.order))
        model = self.model.body
        given = {name: getattr(model, name) for name in ("massFile", "stiffnessFile", "nodeFile", "held", "attached")}
        found = ModalBody(**given, nModes=2, displacementAt=every).reduction()
        q = self.column("body.q", model.flexibility().count)
        return np.einsum("kan,tn->tka", found.displacements[2:], q)


def rate(values: np.ndarray, k: int) -> np.ndarray:
    """Derivative at step k."""
    return np.asarray(np.tensordot(DIFFERENCES, values[k - 3 : k + 4], 1) / STEP)


def momentum(mass: np.ndarray, places: np.ndarray, k: int) -> np.ndarray:
    """Linear and angular momentum at step k [6]."""
    p = mass @ rate(places, k)
    return np.concatenate([p.sum(axis=0), np.cross(places[k], p).sum(axis=0)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return tmp_path_factory.mktemp("bodies")


@pytest.fixture(scope="module", params=KINDS)
def flight(request: pytest.FixtureRequest, folder: pathlib.Path) -> Motion:
    return Motion(Flying(request.param, folder))


@pytest.mark.campaign("matrices", keep=1)
def test_momentum_and_energy_stay(flight: Motion) -> None:
    mass, places = flight.points()
    begin = momentum(mass, places, AT[0])
    assert mass.sum() == pytest.approx((1.0 if len(places[0]) != 30 else 4.8) + sum(LOADS), rel=1e-12)
    for k in AT[1:]:
        assert momentum(mass, places, k) == pytest.approx(begin, abs=1e-7 * np.abs(begin).max())
    kinetic = [np.einsum("ij,ia,ja", mass, v, v) / 2 for v in (rate(places, k) for k in AT)]
    assert kinetic == pytest.approx(flight.found["energy.kinetic"][list(AT)], rel=1e-6)
    assert np.ptp(kinetic) > 1e-3 * kinetic[0]  # elastic energy comes and goes
    assert np.ptp(flight.energy) < 1e-8 * flight.energy[0]


@pytest.mark.campaign(keep=1)
def test_power_through_all_frames_is_the_rate_of_its_energy(flight: Motion) -> None:
    _, places = flight.points()
    for k in AT:
        power = 0.0
        for frame in flight.frames:
            T = np.array([[flight.found[f"{frame}.R.T[{i},{j}]"][k] for j in (1, 2, 3)] for i in (1, 2, 3)])
            f, t, w = (flight.column(f"{frame}.{part}", 3)[k] for part in ("f", "t", "R.w"))
            power += f @ T @ rate(flight.column(f"{frame}.r_0", 3), k) + t @ w
        loads = np.array([np.sum(rate(places, j)[-2:] ** 2, axis=1) @ LOADS / 2 for j in range(k - 3, k + 4)])
        own = flight.energy[k - 3 : k + 4] - loads
        assert power == pytest.approx(DIFFERENCES @ own / STEP, abs=1e-4 * abs(flight.energy[0]))
        assert abs(power) > 1e-2 * flight.energy[0]


@pytest.mark.campaign("matrices", keep=1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_turned_world_turns_the_motion(kind: str, folder: pathlib.Path) -> None:
    one, other = (
        mbfmu.simulate(Flying(kind, folder, 9.81, turn), STOP, tolerance=1e-10, interval=STOP / 4)
        for turn in (None, TURNED)
    )
    for frame in ("loads[1].frame_a", "loads[2].frame_a"):
        places, turned = (np.array([run[f"{frame}.r_0[{k}]"] for k in (1, 2, 3)]) for run in (one, other))
        assert np.abs(turned - TURNED @ places).max() < 1e-8
        forces, same = (np.array([run[f"{frame}.f[{k}]"] for k in (1, 2, 3)]) for run in (one, other))
        assert same == pytest.approx(forces, abs=1e-6 * np.abs(forces).max())
