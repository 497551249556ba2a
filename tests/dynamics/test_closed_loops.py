"""Closed loops: every cut is as good as another, far guesses are assembled, and long runs stay on their constraints."""

from __future__ import annotations

import math
from collections.abc import Callable

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu.components import Body, BodyBox, Prismatic, Revolute, World
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.export.build import build
from mbfmu.fmus import engine_v6
from mbfmu.fmus.four_bar import FourBar
from mbfmu.modeling import Assembly, Start
from mbfmu.runtime.run import Run


def joints(system: System) -> list[str]:
    return [path for path, kind, _ in system.components if kind in ("Revolute", "Prismatic", "Universal", "Spherical")]


@pytest.mark.slow
@pytest.mark.campaign
def test_every_cut_gives_the_same_motion() -> None:
    motions = {}
    for joint in joints(System.of(FourBar())):
        system = System.of(FourBar(), cuts=(joint,))
        if any(line.startswith(f"{joint}: cut") for line in system.structure):
            result = mbfmu.simulate(system, 2.0, tolerance=1e-12, interval=0.05, outputs=["j1.phi", "j1.w"])
            motions[joint] = np.column_stack([result["j1.phi"], result["j1.w"]])
    assert len(motions) >= 4
    first = next(iter(motions.values()))
    for joint, motion in motions.items():
        np.testing.assert_allclose(motion, first, atol=1e-9, err_msg=joint)


@pytest.mark.slow
@pytest.mark.campaign
def test_an_engine_of_plain_hinges_runs_without_hints(
    monkeypatch: pytest.MonkeyPatch, gallery_system: Callable[[str], System]
) -> None:
    """Redundant constraints of its six planar loops are found, and the motion is that with planar cut joints."""
    outputs = ["load.w", "load.phi"]
    planar = mbfmu.simulate(gallery_system("engine_v6"), 0.02, tolerance=1e-8, interval=0.005, outputs=outputs)
    monkeypatch.setattr(engine_v6, "RevolutePlanarLoopConstraint", Revolute)
    system = System.of(engine_v6.EngineV6())
    assert system.equations.nv - system.equations.nl == 1
    assert sum("redundant" in line for line in system.structure) == 6
    plain = mbfmu.simulate(system, 0.02, tolerance=1e-8, interval=0.005, outputs=outputs)
    for name in outputs:
        np.testing.assert_allclose(plain[name], planar[name], rtol=1e-6, atol=1e-10)


def test_only_joints_can_be_cut() -> None:
    with pytest.raises(ModelError, match="cannot cut nothing: no joint of that name"):
        System.of(FourBar(), cuts=("nothing",))


class SliderCrank(Assembly):
    """A crank of 0.1 m and a rod of 0.3 m, with guesses of its pins and its slide."""

    def __init__(self, w: float, phi: float, pin: float, piston_pin: float, s: float) -> None:
        self.world = World()
        self.crank, self.arm = Revolute(phi=Start(phi, fixed=True), w=Start(w, fixed=True)), BodyBox(r=(0.1, 0, 0))
        self.pin, self.rod, self.pistonPin = (
            Revolute(phi=Start(pin)),
            BodyBox(r=(0.3, 0, 0)),
            Revolute(phi=Start(piston_pin)),
        )
        self.slide, self.piston = Prismatic(n=(1, 0, 0), s=Start(s)), Body(m=0.5, r_CM=(0, 0, 0))
        self.connect(self.world.frame_b, self.crank.frame_a)
        self.connect(self.crank.frame_b, self.arm.frame_a)
        self.connect(self.arm.frame_b, self.pin.frame_a)
        self.connect(self.pin.frame_b, self.rod.frame_a)
        self.connect(self.rod.frame_b, self.pistonPin.frame_b)
        self.connect(self.world.frame_b, self.slide.frame_a)
        self.connect(self.slide.frame_b, self.piston.frame_a)
        self.connect(self.slide.frame_b, self.pistonPin.frame_a)


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(
    "guesses",
    [
        (0.0743, 2.8303, -2.2358, 0.4486),
        (-1.1822, -0.4818, 2.0590, -0.0908),
        (-1.0698, 1.8122, -1.2366, -0.0465),
        (0.7759, 1.7385, 0.7100, 0.4173),
        (2.1355, 0.0597, 0.0684, 0.2530),
        (-1.9376, 1.8998, -1.9395, -0.4184),
    ],
)
def test_fixed_speeds_have_no_say_in_how_a_loop_is_assembled(guesses: tuple[float, ...]) -> None:
    """With speeds taken down from 600 rad/s to rest, the slide is on the same side, at its right speed."""
    phi = guesses[0]
    found = [
        mbfmu.simulate(SliderCrank(w, *guesses), 1e-9, outputs=["slide.s", "slide.v"]) for w in (0.0, 6.0, 60.0, 600.0)
    ]
    places = [float(result["slide.s"][0]) for result in found]
    reach = math.sqrt(0.3**2 - (0.1 * math.sin(phi)) ** 2)
    side = math.copysign(1.0, places[0])
    assert places == pytest.approx([0.1 * math.cos(phi) + side * reach] * 4, abs=1e-9)
    rate = -0.1 * math.sin(phi) - side * 0.01 * math.sin(phi) * math.cos(phi) / reach
    for w, result in zip((0.0, 6.0, 60.0, 600.0), found, strict=True):
        assert result["slide.v"][0] == pytest.approx(w * rate, abs=1e-6)


@pytest.mark.slow
def test_far_guesses_are_assembled() -> None:
    """200 guesses that are off by up to 3 rad and 0.5 m."""
    system = System.of(FourBar())
    equations = system.equations
    guesses = [v for v in system.variables if v.store == "x" and v.initial == "approx" and v.index < equations.nq]
    assert guesses
    defaults, run, random = equations.vector("parameters"), Run(equations), np.random.default_rng(1)
    for _ in range(200):
        for variable in guesses:
            assert variable.start_index is not None
            away = random.uniform(-1, 1) * (3.0 if variable.unit == "rad" else 0.5)
            run.instance.set_parameter(variable.start_index, defaults[variable.start_index] + away)
        point = (0.0, run.values("x"), [], run.values("P"), [])
        g, c, _ = equations.functions["constraints"](*point)
        assert np.abs(np.vstack([g, c, equations.functions["redundant"](*point)])).max() < 1e-9


@pytest.mark.slow
@pytest.mark.campaign
def test_a_long_run_keeps_energy_and_constraints(tmp_path) -> None:
    system = System.of(FourBar(), energy=True)
    path = build(system, tmp_path / "FourBar.fmu", target="native")
    names = ["energy.total", "energy.kinetic", *(v.name for v in system.variables if v.store == "x")]
    result = fmpy.simulate_fmu(
        str(path), stop_time=200.0, output_interval=0.5, relative_tolerance=1e-8, output=names, fmi_type="CoSimulation"
    )
    assert np.ptp(result["energy.total"]) < 1e-5 * np.ptp(result["energy.kinetic"])
    equations = system.equations
    P = Run(equations).values("P")
    order = {v.index: v.name for v in reversed(system.variables) if v.store == "x"}
    for row in result[:: len(result) // 20]:
        x = np.array([row[order[i]] for i in range(equations.nx)])
        g, c, _ = equations.functions["constraints"](row["time"], x, [], P, [])
        assert np.abs(np.array(g)).max() < 1e-10
        assert np.abs(np.array(c)).max() < 1e-9
