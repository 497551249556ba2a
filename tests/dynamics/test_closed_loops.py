"""Closed loops: every cut is as good as another, far guesses are assembled, and long runs stay on their constraints."""

from __future__ import annotations

import fmpy
import numpy as np
import pytest

import mbfmu
from mbfmu.components import Revolute
from mbfmu.dynamics.system import System
from mbfmu.errors import ModelError
from mbfmu.export.build import build
from mbfmu.fmus import engine_v6
from mbfmu.fmus.four_bar import FourBar
from mbfmu.runtime.run import Run


def joints(system: System) -> list[str]:
    return [path for path, kind, _ in system.components if kind in ("Revolute", "Prismatic", "Universal", "Spherical")]


def test_every_cut_gives_the_same_motion() -> None:
    motions = {}
    for joint in joints(System.of(FourBar())):
        system = System.of(FourBar(), cuts=(joint,))
        if any(line.startswith(f"{joint}: cut") for line in system.structure):
            result = mbfmu.simulate(system, 2.0, tolerance=1e-12, step=0.05, outputs=["j1.phi", "j1.w"])
            motions[joint] = np.column_stack([result["j1.phi"], result["j1.w"]])
    assert len(motions) >= 4
    first = next(iter(motions.values()))
    for joint, motion in motions.items():
        np.testing.assert_allclose(motion, first, atol=1e-9, err_msg=joint)


def test_an_engine_of_plain_hinges_runs_without_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redundant constraints of its six planar loops are found, and the motion is that with planar cut joints."""
    outputs = ["load.w", "load.phi"]
    planar = mbfmu.simulate(engine_v6.EngineV6(), 0.02, tolerance=1e-8, step=0.005, outputs=outputs)
    monkeypatch.setattr(engine_v6, "RevolutePlanarLoopConstraint", Revolute)
    system = System.of(engine_v6.EngineV6())
    assert system.equations.nv - system.equations.nl == 1
    assert sum("redundant" in line for line in system.structure) == 6
    plain = mbfmu.simulate(system, 0.02, tolerance=1e-8, step=0.005, outputs=outputs)
    for name in outputs:
        np.testing.assert_allclose(plain[name], planar[name], rtol=1e-6, atol=1e-10)


def test_only_joints_can_be_cut() -> None:
    with pytest.raises(ModelError, match="cannot cut nothing: no joint of that name"):
        System.of(FourBar(), cuts=("nothing",))


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
