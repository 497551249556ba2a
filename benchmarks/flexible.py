"""Bodies that bend: a cable, a rod and a bar of finite elements that fall; native FMUs against Exudyn and MuJoCo.

Cable and rod hang on a hinge and fall from the horizontal: `FiniteSegmentBeam` and `Beam` against Exudyn's cables and
geometrically exact beams, and chains of rigid links with springs in MuJoCo. The bar is one body of finite elements,
whose mass and stiffness matrix all are given: `ModalBody` against Exudyn's floating frame. Nothing is damped.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import scipy

import mbfmu
from benchmarks.peers import exudyn_flexible, mujoco_flexible
from benchmarks.timing import run_time
from benchmarks.unit import Unit
from mbfmu.components import Beam, FiniteSegmentBeam, ModalBody, Revolute, World
from mbfmu.components.flexible.finite_elements import FiniteElements, Material, of_mesh
from mbfmu.modeling import Assembly, Start

#: Acceleration of gravity, m/s2.
GRAVITY = 9.81

#: A sweep over step sizes or tolerances ends where a run takes longer than this, s.
LONGEST = 5.0

#: Tolerances of FMUs; the last one is the reference.
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-8)


@dataclasses.dataclass(frozen=True)
class Line:
    """A straight beam that falls.

    Attributes:
        name: Of the row.
        EI: Bending stiffness, N.m2.
        target: Error of its end at which tools are compared, m.
        agreement: Finest runs must end no farther apart than this, m.
        length: m.
        rhoA: Mass for each length, kg/m.
        EA: Stiffness along it, N: so large that it does not matter.
        stop_time: End of the run, s.
    """

    name: str
    EI: float
    target: float
    agreement: float
    length: float = 1.0
    rhoA: float = 0.1
    EA: float = 1e5
    stop_time: float = 0.5

    def section(self) -> dict[str, Any]:
        """Parameters of a beam of ours; sections are thin."""
        thin = {"rhoI_y": 1e-9, "rhoI_z": 1e-9}
        return {
            "r": (self.length, 0, 0), "EI_y": self.EI, "EI_z": self.EI, "EA": self.EA, "GJ": self.EI,
            "rhoA": self.rhoA, **thin,
        }  # fmt: skip


LINES = (Line("cable", 0.05, 1e-3, 3e-4), Line("rod", 5.0, 1e-4, 1e-4))

#: Numbers of segments or elements, of shapes.
SEGMENTS, SHAPES = (4, 6, 8, 12, 16), (3, 4, 6)


class Falling(Assembly):
    """A body that bends, on a hinge."""

    def __init__(self, body: Any, stop_time: float) -> None:
        self.world = World(g=GRAVITY)
        self.hinge = Revolute(phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
        self.body = body
        self.stop_time = stop_time
        self.connect(self.world.frame_b, self.hinge.frame_a)
        self.connect(self.hinge.frame_b, self.body.frame_a)


#: Of the bar.
STEEL = Material(2.1e11, 0.3, 7850.0)


@dataclasses.dataclass(frozen=True)
class Bar:
    """A bar of finite elements, of steel, which is held at its begin."""

    size: tuple[float, float, float] = (0.5, 0.02, 0.01)
    cells: tuple[int, int, int] = (20, 2, 1)
    material: Material = STEEL
    #: Modes beside the six deflections by loads at the end.
    modes: int = 6
    stop_time: float = 0.2
    #: Error of the middle of its end, and how far apart finest runs may end, m.
    target: float = 1e-5
    agreement: float = 2e-5

    def elements(self, folder: pathlib.Path) -> FiniteElements:
        """Its matrices."""
        import meshio
        import skfem

        ticks = (np.linspace(0, length, count + 1) for length, count in zip(self.size, self.cells, strict=True))
        mesh = skfem.MeshTet.init_tensor(*ticks)
        path = folder / "bar.inp"
        meshio.abaqus.write(path, meshio.Mesh(mesh.p.T, [("tetra", mesh.t.T)]))
        return of_mesh(str(path), self.material, 1.0)


#: A run at a setting: its CPU time, s, and the place of the end [2], m.
Timed = Callable[[float], tuple[float, np.ndarray]]
Way = tuple[Timed, Sequence[float]]


@dataclasses.dataclass(frozen=True)
class Found:
    """A run: by which way, with which setting; CPU time, s; the place of the end [2], m."""

    way: str
    setting: float
    time: float
    end: np.ndarray


def measure(folder: pathlib.Path) -> Iterator[dict[str, Any]]:
    """Yield one row per body: CPU times of each tool to the target, s, by which way, and how far tools end apart, m.

    Raises:
        AssertionError: They end farther apart than they may.
    """
    for line in LINES:
        yield line_row(line, folder)
    yield bar_row(Bar(), folder)


def line_row(line: Line, folder: pathlib.Path) -> dict[str, Any]:
    """The row of a straight beam."""
    ours: dict[str, Way] = {}
    for n in SEGMENTS:
        segments = FiniteSegmentBeam(**line.section(), n=n, curved=True)
        ours[f"{n} segments"] = _ours(segments, line.stop_time, folder / f"{line.name}{n}"), TOLERANCES
    for n in SHAPES if line.name == "rod" else ():
        beam = Beam(**line.section(), ends="hinged-hinged", nWidth=n, nHeight=0, nAxial=0, nTorsion=0)
        ours[f"{n} shapes"] = _ours(beam, line.stop_time, folder / f"{line.name}shapes{n}"), TOLERANCES
    exudyn: dict[str, Way] = {
        f"{kind}, {n} elements": (_timed(exudyn_flexible.line(line, kind, n)), exudyn_flexible.STEPS)
        for kind, counts in exudyn_flexible.KINDS.items()
        for n in counts
    }
    mujoco: dict[str, Way] = {
        f"{integrator}, {n} links": (_timed(mujoco_flexible.line(line, integrator, n)), mujoco_flexible.STEPS)
        for integrator in mujoco_flexible.INTEGRATORS
        for n in mujoco_flexible.LINKS
    }
    return _row(line.name, line, {"mbfmu": ours, "exudyn": exudyn, "mujoco": mujoco})


def bar_row(bar: Bar, folder: pathlib.Path) -> dict[str, Any]:
    """The row of the body of finite elements."""
    elements = bar.elements(folder)
    ours: dict[str, Way] = {
        solver: (_ours(_modal(bar, elements, folder), bar.stop_time, folder / f"bar_{solver}", solver), TOLERANCES)
        for solver in ("explicit", "auto")
    }
    exudyn: dict[str, Way] = {"": (_timed(exudyn_flexible.bar(bar, elements)), exudyn_flexible.STEPS)}
    return _row("bar", bar, {"mbfmu": ours, "exudyn": exudyn})


def _row(name: str, case: Line | Bar, contenders: Mapping[str, Mapping[str, Way]]) -> dict[str, Any]:
    """What tools need to come within the target of what they end at."""
    runs = {tool: [one for way, (run, settings) in ways.items() for one in _sweep(way, run, settings)]
            for tool, ways in contenders.items()}  # fmt: skip
    finest = {tool: _finest(tool, runs[tool]) for tool in ("mbfmu", "exudyn")}
    differs = float(np.abs(finest["mbfmu"] - finest["exudyn"]).max())
    assert differs < case.agreement, f"{name}: the tools end {differs:.1e} m from each other: {finest}"
    limit = (finest["mbfmu"] + finest["exudyn"]) / 2
    row: dict[str, Any] = {"title": name, "target": case.target, "differs": differs, "chosen": {}, "points": {}}
    for tool, found in runs.items():
        errors = [float(np.abs(one.end - limit).max()) for one in found]
        row["points"][tool] = [
            (one.way, one.setting, one.time, error) for one, error in zip(found, errors, strict=True)
        ]
        good = [one for one, error in zip(found, errors, strict=True) if error <= case.target]
        best = min(good, key=lambda one: one.time, default=None)
        row[tool] = None if best is None else best.time
        row["chosen"][tool] = "" if best is None else f"{best.way} {best.setting:g}".strip()
    return row


def _finest(tool: str, runs: Sequence[Found]) -> np.ndarray:
    """Where its finest run ends: of the last way of a kind with its last setting."""
    ways = list(dict.fromkeys(one.way for one in runs))
    kind = "segments" if tool == "mbfmu" else next(iter(exudyn_flexible.KINDS))
    chosen = [way for way in ways if kind in way][-1:] or ways[-1:]
    return [one.end for one in runs if one.way == chosen[0]][-1]


def _modal(bar: Bar, elements: FiniteElements, folder: pathlib.Path) -> ModalBody:
    """The bar by files of its matrices."""
    for name, matrix in (("mass", elements.mass), ("stiffness", elements.stiffness)):
        scipy.io.mmwrite(folder / f"{name}.mtx", scipy.sparse.coo_matrix(matrix))
    places = elements.places
    lines = [f"{k} {x!r} {y!r} {z!r}" for k, (x, y, z) in enumerate(places.tolist(), 1)]
    (folder / "nodes.txt").write_text("\n".join(lines))
    held, attached = (" ".join(str(k + 1) for k in at_end(places, x)) for x in (0.0, bar.size[0]))
    return ModalBody(
        massFile=str(folder / "mass.mtx"), stiffnessFile=str(folder / "stiffness.mtx"),
        nodeFile=str(folder / "nodes.txt"), held=held, attached=attached, nModes=bar.modes,
    )  # fmt: skip


def at_end(places: np.ndarray, x: float) -> np.ndarray:
    """Indices of the nodes at x."""
    return np.flatnonzero(np.abs(places[:, 0] - x) < 1e-9)


def _ours(body: Any, stop_time: float, folder: pathlib.Path, solver: str = "explicit") -> Timed:
    """Runs of the FMU at a tolerance, in one step."""
    folder.mkdir()
    model = Falling(body, stop_time)
    unit = Unit(mbfmu.build(model, folder / "falling.fmu", target="native", solver=solver), folder / "falling")
    frame = "frame[1]" if isinstance(body, ModalBody) else "frame_b"
    names = [f"body.{frame}.r_0[{k}]" for k in (1, 2)]

    def run(tolerance: float) -> Callable[[], np.ndarray]:
        unit.start(tolerance)

        def integrate() -> np.ndarray:
            unit.advance(1, stop_time)
            return np.array(unit.get(names))

        return integrate

    return _timed(run)


def _timed(run: Callable[[float], Callable[[], np.ndarray]]) -> Timed:
    return lambda setting: run_time(functools.partial(run, setting), repeats=2)


def _sweep(way: str, run: Timed, settings: Sequence[float]) -> list[Found]:
    """Runs at all settings, until one takes too long; none of those that end nowhere."""
    found = []
    for setting in settings:
        try:
            spent, end = run(setting)
        except RuntimeError:  # Newton's method of a step that is too long
            continue
        if np.isfinite(end).all() and math.hypot(*end) < 10:
            found.append(Found(way, setting, spent, end))
        if spent > LONGEST:
            break
    return found
