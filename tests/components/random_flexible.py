"""Random trees and loops with beams that bend: by shapes in a floating frame against finite segments.

`python tests/components/random_flexible.py [MODELS [FIRST]]` makes 500, and prints a line for each: by how much both
theories differ, as a part of what is allowed. Those above are made again with more shapes and segments, and stiffer.

A mechanism falls from rest or with some speed for a while. Both are taken to their limits: segments of two numbers are
extrapolated to infinitely many, as their error falls with the square; shapes of two numbers, where a link hangs on the
middle of a beam, to all, by the compliance that either leaves out. What is compared are places of frames, beside how
far bending moves these: both theories share no equation of bending, but rigid parts, joints and loops.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import sys
import time as clock
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from mbfmu.components import Beam, Body, BodyBox, FiniteSegmentBeam, FixedTranslation, Revolute, World
from mbfmu.modeling import Assembly, Start
from mbfmu.simulation import simulate

STOP, TOLERANCE = 0.25, 1e-6
#: What may differ. Sections of a beam turn by the integral of its curvature k, which is the rotation to first order; of
#: second order this lacks half of the integral of k(a) x k(b) over b < a (Magnus' series), which is a quarter of the
#: square of the integral of |k| at most. By that angle, times the lengths that follow, ends are elsewhere.
#: Beside it each limit may be off by as much as extrapolation changed the finer run, or this differs from the coarser.
NEGLECTED = 0.25
#: What runs are made of, and those that differ again: numbers of segments, of shapes of bending in each plane and of
#: torsion. A link that hangs on the middle of a beam makes a jump of curvature there, which smooth shapes come near
#: slowly: the compliance that n of them lack falls as 1 / n only.
SEGMENTS, SHAPES = ((4, 8), (8, 16)), (((3, 3), (4, 4)), ((4, 3), (6, 4)))
#: Places along a beam between which curvature is added up.
STATIONS = np.linspace(0.0, 1.0, 13)
#: Sections have inertia in both theories, but no shear [N].
RIGID_IN_SHEAR = 1e8
#: Those that differ are told with beams so many times as stiff, too; they count as they are.
STIFFER = 4.0


#: Segments; shapes of bending and of torsion; None where all is rigid.
Beams = int | tuple[int, int] | None


@dataclasses.dataclass(frozen=True)
class Link:
    """A link of a mechanism, and the joint that it begins with."""

    #: Number of the link that it hangs on, -1 of the ground; where there: at its middle or its end.
    on: int
    at_middle: bool
    axis: tuple[float, float, float]
    phi: float
    w: float
    r: tuple[float, float, float]
    #: Stiffness of bending and torsion; none of a rigid one.
    stiffness: tuple[float, float, float] | None
    load: float


def drawn(random: np.random.Generator) -> tuple[tuple[Link, ...], bool]:
    """A random mechanism: a tree, or a planar loop that the ground closes."""
    if random.random() < 0.35:
        length = random.uniform(0.6, 1.2, 3)
        which = int(random.integers(3))
        bends = [k == which or random.random() < 0.4 for k in range(3)]
        stiff = [tuple(random.uniform(60.0, 200.0, 3)) if bend else None for bend in bends]
        angles = (random.uniform(0.9, 1.3), -random.uniform(0.7, 1.1), -random.uniform(0.7, 1.1))
        first = random.uniform(-2.0, 2.0)
        speeds, across = (first, 0.0, 0.0), (0.0, 0.0, 1.0)
        return tuple(
            Link(k - 1, False, across, angles[k], speeds[k], (length[k], 0.0, 0.0), stiff[k], 0.0) for k in range(3)
        ), True
    count = int(random.integers(1, 4))
    bends = [bool(random.random() < 0.6) for _ in range(count)]
    bends[int(random.integers(count))] = True
    links = []
    for k in range(count):
        axis, direction = random.normal(size=3), random.normal(size=3)
        on = int(random.integers(-1, k)) if k else -1
        links.append(
            Link(
                on,
                bool(on >= 0 and random.random() < 0.3),
                tuple(axis / np.linalg.norm(axis)),
                random.uniform(-1.0, 1.0),
                random.uniform(-2.0, 2.0),
                tuple(direction / np.linalg.norm(direction) * random.uniform(0.5, 1.0)),
                tuple(random.uniform(60.0, 200.0, 3)) if bends[k] else None,
                random.choice([0.0, random.uniform(0.1, 0.4)]),
            )
        )
    return tuple(links), False


class Mechanism(Assembly):
    """The mechanism, its beams by so many segments, by so many shapes of bending and torsion, or rigid."""

    stop_time = STOP

    def __init__(self, links: tuple[Link, ...], closes: bool, beams: Beams) -> None:
        self.world = World(n=(0, -1, 0))
        ends: list[Mapping[bool, Any]] = []
        for k, link in enumerate(links):
            joint = self.add(f"joint{k}", Revolute(n=link.axis, **_starts(link, closes and k > 0)))
            part = self.add(f"link{k}", _part(link, beams))
            begin = self.world.frame_b if link.on < 0 else ends[link.on][link.at_middle]
            self.connect(begin, joint.frame_a)
            self.connect(joint.frame_b, part.frame_a)
            middle = part.frame_b if isinstance(part, BodyBox) else part.frame[0]
            ends.append({False: part.frame_b, True: middle})
            if link.load:
                load = self.add(f"load{k}", Body(m=link.load, r_CM=(0, 0, 0)))
                self.connect(part.frame_b, load.frame_a)
        if closes:
            self.wall = FixedTranslation(r=tuple(_end(links)))
            self.closing = Revolute(n=(0, 0, 1))
            self.connect(self.world.frame_b, self.wall.frame_a)
            self.connect(self.wall.frame_b, self.closing.frame_a)
            self.connect(self.closing.frame_b, ends[-1][False])


def _starts(link: Link, guessed: bool) -> dict[str, Any]:
    if guessed:
        return {"phi": Start(link.phi)}
    return {"phi": Start(link.phi, fixed=True), "w": Start(link.w, fixed=True)}


def _end(links: tuple[Link, ...]) -> np.ndarray:
    """Where the end of a planar chain is at first."""
    angles = np.cumsum([link.phi for link in links])
    lengths = np.array([link.r[0] for link in links])
    return np.array([lengths @ np.cos(angles), lengths @ np.sin(angles), 0.0])


def _part(link: Link, beams: Beams) -> Any:
    across = np.cross(link.r, (0.3, 0.5, 0.8) if link.r[2] else (0, 0, 1))
    if link.stiffness is None or beams is None:
        # of the mass and inertia of a beam
        return BodyBox(r=link.r, widthDirection=tuple(across), width=0.03, density=1.0 / 0.03**2)
    y, z, torsion = link.stiffness
    given: dict[str, Any] = {
        "r": link.r, "widthDirection": tuple(across), "positions": [0.5], "EI_y": y, "EI_z": z, "GJ": torsion,
        "EA": 1e6, "rhoA": 1.0, "rhoI_y": 0.03**2 / 12, "rhoI_z": 0.03**2 / 12,
    }  # fmt: skip
    if isinstance(beams, tuple):
        bending, torsion = beams
        count = 2 * bending + torsion
        rest = {"q": Start((0.0,) * count, fixed=True), "qd": Start((0.0,) * count, fixed=True)}
        counts = {"nWidth": bending, "nHeight": bending, "nAxial": 0, "nTorsion": torsion}
        return Beam(**given, **counts, shear=True, kGA=RIGID_IN_SHEAR, **rest)
    beam = FiniteSegmentBeam(**given, n=beams)
    for segment in beam.segment:
        segment.modify(phi=Start((0, 0, 0), fixed=True), phid=Start((0, 0, 0), fixed=True))
    return beam


def following(links: tuple[Link, ...], k: int) -> float:
    """Length of a link and of those that hang on it [m]."""
    moved = {k}
    for j, link in enumerate(links):
        if link.on in moved:
            moved.add(j)
    return sum(float(np.linalg.norm(links[j].r)) for j in moved)


def lacking(bending: int) -> float:
    """Rotation that so many shapes lack in the middle of a clamped beam, under a torque there, by L / EI.

    The book has L / 2 EI. Displacements of the end lack nothing, as those by its loads are among the shapes.
    """
    unit = {"r": (1, 0, 0), "EI_y": 1.0, "EI_z": 1.0, "EA": 1.0, "GJ": 1.0, "rhoA": 1.0, "rhoI_y": 0, "rhoI_z": 0}
    shapes = Beam(**unit, nWidth=bending, nHeight=0, nAxial=0, nTorsion=0).shapes()
    turn = shapes.rotations(0.5)[2]
    return 0.5 - float(turn @ np.linalg.solve(shapes.flexibility.K, turn))


def _limit(coarse: np.ndarray, fine: np.ndarray, ratio: float) -> tuple[np.ndarray, float]:
    """Where values go whose error falls by a ratio from one to the other, and how far that is at most.

    Where it falls by no ratio that is known (infinity), the finer one is the limit, and may be off by what it changed.
    """
    step = fine - coarse
    return fine + step / (ratio - 1), float(np.abs(step).max() / min(ratio - 1, 1.0))


def difference(seed: int, stiffer: float = 1.0, level: int = 0) -> tuple[float, str]:
    """By how much both theories differ, as a part of what is allowed, and a word about the mechanism.

    Linear elasticity ends where a beam bends much; with `stiffer` beams a difference that it explains goes away. What
    comes from too few shapes or segments goes away at the next `level`.
    """
    links, closes = drawn(np.random.default_rng(seed))
    links = tuple(
        dataclasses.replace(link, stiffness=link.stiffness and tuple(stiffer * part for part in link.stiffness))
        for link in links
    )
    names = [f"link{k}.frame_b.r_0" for k in range(len(links))]
    columns = [f"{name}[{i}]" for name in names for i in (1, 2, 3)]
    kinds: tuple[Beams, ...] = (None, *SHAPES[level], *SEGMENTS[level])
    places, neglected, bent = {}, 0.0, 0.0
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Mechanism(links, closes, kind)
            beams = {k: part for k in range(len(links)) if isinstance(part := getattr(model, f"link{k}"), Beam)}
            coordinates = {k: [f"link{k}.q[{i + 1}]" for i in range(beam.shapes().count)] for k, beam in beams.items()}
            outputs = [*columns, *itertools.chain(*coordinates.values())]
            found = simulate(model, STOP, tolerance=TOLERANCE, interval=STOP / 50, outputs=outputs)
        places[kind] = np.array([found[name][::10] for name in columns])
        for k, beam in beams.items() if kind == SHAPES[level][1] else ():
            q, shapes = np.array([found[name] for name in coordinates[k]]), beam.shapes()
            turns = np.diff([shapes.rotations(float(s)) @ q for s in STATIONS], axis=0)
            angle = float(np.linalg.norm(turns, axis=1).sum(axis=0).max())
            neglected, bent = neglected + NEGLECTED * angle**2 * following(links, k), max(bent, angle)
    (few, many), (coarse, fine) = SHAPES[level], SEGMENTS[level]
    kinks = any(link.at_middle and links[link.on].stiffness is not None for link in links)
    ratio = lacking(few[0]) / lacking(many[0]) if kinks else math.inf
    shaped, of_shapes = _limit(places[few], places[many], ratio)
    segmented, of_segments = _limit(places[coarse], places[fine], (fine / coarse) ** 2)
    error, bending = float(np.abs(shaped - segmented).max()), float(np.abs(places[many] - places[None]).max())
    allowed = neglected + of_shapes + of_segments + 1e-7
    told = "-".join("rigid" if link.stiffness is None else "bends" for link in links)
    return error / allowed, (
        f"{'loop' if closes else 'tree'} {told}: {error:.2e} of {bending:.2e} m, allowed {neglected:.1e} by second "
        f"order, {of_shapes:.1e} by shapes, {of_segments:.1e} by segments; bent by {bent:.2g}"
    )


def main(count: int = 500, first: int = 0) -> None:
    """Compare some, and print a line for each."""
    begun, found = clock.process_time(), []
    for seed in range(first, first + count):
        part, told = difference(seed)
        found.append(part)
        print(f"seed {seed}: {part:.3g} of what is allowed; {told}", flush=True)
        if not part <= 1:
            part, told = difference(seed, level=1)
            print(f"seed {seed}, finer: {part:.3g}; {told}", flush=True)
            part, told = difference(seed, STIFFER)
            print(f"seed {seed}, {STIFFER:g} times as stiff: {part:.3g}; {told}", flush=True)
    above = sum(not part <= 1 for part in found)
    told = f"{count} mechanisms, {above} above what is allowed, the worst at {max(found):.3g}"
    print(f"{told}, {clock.process_time() - begun:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
