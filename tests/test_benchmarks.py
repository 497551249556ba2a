"""The benchmarks at their smallest: they run, and the tools agree. How long anything takes is not tested."""

from __future__ import annotations

import importlib
import io
import math
import pathlib
from typing import Any

import numpy as np
import pytest

from mbfmu.runtime.compilers import find_compiler


@pytest.fixture(autouse=True)
def _importable(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root))


def module(name: str) -> Any:
    """Return a module of the benchmarks; skip where it needs what is not installed."""
    if name in ("forward_dynamics", "work_precision", "loops", "contacts"):
        for peer in ("mujoco", "exudyn") if name == "contacts" else ("pinocchio", "mujoco", "exudyn"):
            pytest.importorskip(peer, reason=f"no {peer}: the extra mbfmu[bench] has it")
    compiled = ("forward_dynamics", "work_precision", "do_step", "fixed_steps", "loops", "building", "contacts")
    if name in compiled and find_compiler() is None:
        pytest.skip("no C compiler")
    return importlib.import_module(f"benchmarks.{name}")


@pytest.mark.slow
def test_the_peers_compute_the_same_accelerations(tmp_path: pathlib.Path) -> None:
    (row,) = module("forward_dynamics").measure(tmp_path, sizes=(5,))
    assert row["n"] == 5
    assert all(row[key] > 0 for key in ("c", "python", "pinocchio", "mujoco", "code_size"))


@pytest.mark.slow
def test_the_peers_agree_on_a_floating_tree_with_random_axes(tmp_path: pathlib.Path) -> None:
    forward_dynamics = module("forward_dynamics")
    humanoid = forward_dynamics.mechanisms.humanoid()
    assert len(humanoid.joints) + 6 == 37
    names = [link.name for link in humanoid.joints]
    system = forward_dynamics.System.of(forward_dynamics.Tree(humanoid))
    row = forward_dynamics.measure_tree(tmp_path, humanoid, system, names, None)
    assert row["c"] > 0
    assert row["pinocchio_cpp"] is None


def test_accelerations_that_differ_are_reported(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forward_dynamics = module("forward_dynamics")
    true = forward_dynamics.mechanisms.GRAVITY
    monkeypatch.setattr(forward_dynamics.pinocchio, "GRAVITY", tuple(1.001 * g for g in true))
    with pytest.raises(AssertionError, match="Pinocchio differs"):
        list(forward_dynamics.measure(tmp_path, sizes=(5,)))


@pytest.mark.slow
def test_large_loops_accelerate_as_those_of_mujoco(tmp_path: pathlib.Path) -> None:
    loops, mechanisms = module("loops"), module("mechanisms")
    families = {
        "scissor lift": (mechanisms.scissor_lift, (4,)),
        "chain of four-bars": (mechanisms.four_bar_chain, (4,)),
        "truss": (mechanisms.truss, (2,)),
    }
    rows = list(loops.measure(tmp_path, families))
    assert [row["unknowns"] for row in rows] == [25, 28, 26]
    assert all(row[key] > 0 for row in rows for key in ("mbfmu", "mujoco"))


@pytest.mark.slow
def test_loops_on_branches_accelerate_in_pinocchio_as_in_mbfmu(tmp_path: pathlib.Path) -> None:
    """Each link of a chain of four-bars follows one that is not the last before it, which Pinocchio would get wrong."""
    loops, mechanisms = module("loops"), module("mechanisms")
    mechanism = mechanisms.four_bar_chain(4)
    ordered, places = loops.pinocchio.depth_first(mechanism)
    assert [link.name for link in ordered.links] == [mechanism.links[place].name for place in places]
    assert sorted(places) == list(range(12)) != places
    found = loops.pinocchio.accelerations(ordered)(np.zeros(12), np.zeros(12))
    _, _, ours = loops._ours(mechanism, tmp_path)
    assert found == pytest.approx(ours[places], rel=1e-8, abs=1e-8)


@pytest.mark.slow
def test_diffrax_ends_where_a_batch_does(tmp_path: pathlib.Path) -> None:
    """Its equations are of the benchmark's own: two independent derivations of the double pendulum."""
    pytest.importorskip("diffrax", reason="no diffrax: the extra mbfmu[bench] has it")
    import mbfmu

    mechanisms = module("mechanisms")
    joints, gravity = [link.position for link in mechanisms.DOUBLE_PENDULUM.links], np.array([9.0, 9.80665])
    run = mbfmu.simulate(mbfmu.load("double_pendulum"), outputs=joints, tolerance=1e-10, interval=3.0, stop_time=3.0)
    start = np.array([run[name][0] for name in joints])
    rollouts = module("peers.diffrax").rollouts
    found = rollouts(mechanisms.DOUBLE_PENDULUM, start, np.zeros(2), gravity, "Dopri8", 1e-9)()
    assert found[1] == pytest.approx([run[name][-1] for name in joints], abs=1e-7)
    assert np.abs(found[0] - found[1]).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "planar_four_bar", "four_bar"])
def test_all_tools_converge_to_the_same_end(name: str, tmp_path: pathlib.Path) -> None:
    work_precision = module("work_precision")
    mechanism = next(m for m in work_precision.MECHANISMS if m.gallery == name)
    result = work_precision.measure(mechanism, tmp_path, slice(0, 3, 2))
    assert set(result["points"]) == {"mbfmu", "mbfmu_in_steps", "pinocchio", "mujoco", "exudyn"}
    for tool, (coarse, fine) in result["points"].items():
        assert fine.error < 0.01, tool
        assert fine.error < 0.3 * coarse.error, tool


@pytest.mark.slow
def test_steps_are_measured_of_all_kinds_of_unit(tmp_path: pathlib.Path) -> None:
    times = module("do_step").measure(tmp_path, repeats=1)
    assert set(times) == {"bare", "native", "native_at_rest", "python", "python_at_rest"}
    assert all(time > 0 for time in times.values())


@pytest.mark.slow
def test_every_step_of_fixed_length_is_measured(tmp_path: pathlib.Path) -> None:
    (row,) = module("fixed_steps").measure(tmp_path, {"double_pendulum": 1e-2}, steps=20, programs=2)
    assert row["longest"] >= row["first"] > 0
    assert row["longest"] >= row["most"] >= row["median"] > 0


@pytest.mark.slow
def test_a_pendulum_at_rest_stays_there(tmp_path: pathlib.Path) -> None:
    """Otherwise the share of the integrator would be counted as that of the calls."""
    do_step = module("do_step")
    unit = module("unit").Unit(do_step.mbfmu.build(do_step.DoublePendulum(), tmp_path / "a.fmu"), tmp_path / "a")
    unit.start(**do_step.AT_REST)
    unit.advance(do_step.STEPS, do_step.STEP)
    assert unit.get(["revolute1.phi", "revolute2.phi"]) == pytest.approx([-math.pi / 2, 0.0], abs=1e-12)
    unit.close()


@pytest.mark.slow
def test_building_is_measured(tmp_path: pathlib.Path) -> None:
    (row,) = module("building").measure(tmp_path, sizes=(2,))
    assert row["archive"] == (tmp_path / "chain2.fmu").stat().st_size
    assert row["code"] > 1000
    assert row["derive"] > 0
    assert row["build"] > 0


def test_rods_have_the_inertia_of_their_form() -> None:
    """Against the moments of a slender prism and of a cylinder about their axes, from any table of mechanics."""
    mechanisms = module("mechanisms")
    mass, center, inertia = mechanisms.solid((0.0, 3.0, 4.0), 0.2)
    along = np.array([0.0, 0.6, 0.8])
    assert mass == pytest.approx(7700 * 0.04 * 5)
    assert center == (0.0, 1.5, 2.0)
    assert along @ inertia @ along == pytest.approx(mass * 0.2**2 / 6)
    assert inertia[0, 0] == pytest.approx(mass * (0.2**2 + 5**2) / 12)
    mass, _, inertia = mechanisms.solid((2.0, 0.0, 0.0), 0.4, circular=True)
    assert inertia == pytest.approx(mass * np.diag([0.2**2 / 2, (3 * 0.2**2 + 4) / 12, (3 * 0.2**2 + 4) / 12]))


def test_the_time_at_an_error_lies_between_the_runs() -> None:
    precision = module("precision")
    points = [precision.Point(1e-4, 1.0, 1e-4), precision.Point(1e-6, 4.0, 1e-6), precision.Point(1e-8, 9.0, 1e-8)]
    assert precision.time_at(points, 1e-5) == pytest.approx(2.0)
    assert precision.time_at(points, 1e-3) == 1.0
    assert precision.time_at(points, 1e-9) is None
    assert precision.best_ratio({"mbfmu": 2.0, "slow": 30.0, "quick": 8.0, "lost": None}) == 4.0
    assert precision.best_ratio({"mbfmu": None, "quick": 8.0}) is None


@pytest.mark.slow
def test_results_are_shown_and_drawn(tmp_path: pathlib.Path) -> None:
    from rich.console import Console

    points = [(1e-4, 1e-3, 1e-4), (1e-8, 4e-3, 1e-8)]
    tools = ("mbfmu", "mbfmu_in_steps", "pinocchio", "mujoco", "exudyn")
    times = {"mbfmu": 2e-3, "mbfmu_in_steps": 3e-3, "pinocchio": 9e-3, "mujoco": 8e-3, "exudyn": None}
    row = {"c": 1e-6, "python": 1.2e-6, "pinocchio_cpp": 4e-6, "pinocchio": 5e-6, "mujoco": 3e-6}
    results = {
        "forward_dynamics": {
            "sizes": [{"n": 20, **row}, {"n": 200, **row, "c": 9e-6, "pinocchio_cpp": 36e-6}],
            "trees": [{"title": "humanoid", **row, "pinocchio_cpp": None}],
            "call_overhead": 1e-6,
        },
        "work_precision": [{"title": "Pendulum", "points": dict.fromkeys(tools, points), "time_at_target": times}],
        "do_step": {"bare": 3e-6, "native": 4e-6, "native_at_rest": 3.25e-6, "python": 8e-5, "python_at_rest": 7e-5},
        "fixed_steps": [{"title": "car", "step": 1e-3, "median": 4e-5, "most": 5e-5, "first": 5e-5, "longest": 6e-5}],
        "building": [{"n": 5, "derive": 0.3, "build": 2.0, "code": 2e5, "library": 1.5e5, "archive": 9e4}],
    }
    console = Console(width=120, record=True, file=io.StringIO())
    module("report").show(results, console)
    text = " ".join(console.export_text().split())  # captions are wrapped
    for expected in (
        "0.25",
        "humanoid",
        "not measured",
        "1.50",
        "time(200) : time(20) = 9.0",
        "not reached",
        "4.0",
        "python : native, swinging = 20",
    ):
        assert expected in text
    module("figure").draw(results, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_heaps_end_where_those_of_the_peers_do(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law is theirs, in three ways to write it."""
    contacts = module("contacts")
    for peer in (contacts.mujoco_contact, contacts.exudyn_contact):
        monkeypatch.setattr(peer, "STEPS", (2e-4, 5e-5))
    monkeypatch.setattr(contacts, "TOLERANCES", (1e-6, 1e-8))
    rows = list(contacts.measure(tmp_path, {"spheres": (5,), "meshes": (1,)}))
    assert [row["differs"] < 1e-4 for row in rows] == [True] * 2
    assert all(row["making"] > 0 for row in rows)
    report = module("report")
    text = io.StringIO()
    report.show({"contacts": rows}, report.Console(file=text, width=160))
    assert "5 spheres" in text.getvalue()
