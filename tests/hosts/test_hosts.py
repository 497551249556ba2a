"""A sample of what `gallery.py` and `random_calls.py` do with the gallery; hosts that are missing skip."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import signal
import sys
from collections.abc import Callable, Iterator

import fmpy
import numpy as np
import pytest

from mbfmu.errors import BuildError
from mbfmu.runtime import component
from mbfmu.runtime.compilers import find_compiler

sys.path.append(str(pathlib.Path(__file__).resolve().parent))

import compatibility
import gallery
import known_hosts as hosts
import random_calls
import wasm_units
from restarting_importer import Fmpy, Importer

pytestmark = pytest.mark.slow  # what its tests share takes seconds

#: Events; quaternions; a loop; a massless point; a flange as interface; branches of motion that cross; chaos.
SAMPLE = (
    "engine_1b", "heavy_top", "four_bar", "three_springs", "powertrain", "planar_loop_release", "bevel_gear"
)  # fmt: skip

#: Equations that are iterated: of a circuit, a network, and accelerations.
ITERATED = ("Clamp", "Orifices", "FedBack")
_MODELS = pathlib.Path(__file__).resolve().parents[1] / "dynamics" / "nonlinear_models.py"


@pytest.fixture(scope="module")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], gallery.Case]:
    sources = {name: name for name in SAMPLE} | {name: f"{_MODELS}:{name}" for name in ITERATED}
    return functools.cache(lambda name: gallery.Case(sources[name], tmp_path_factory.mktemp(name)))


@pytest.mark.campaign("engine_1b-2", "bevel_gear-2", "bevel_gear-3", keep=1)
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("name", [*SAMPLE, *ITERATED])
def test_importers_that_restart_only_when_told_get_the_motion_of_co_simulation(case_of, name, fmi):
    """Model exchange under SciPy's BDF: events are told, and drift is taken back without them."""
    case = case_of(name)
    if case.description.modelExchange is None:
        pytest.skip("is not offered for model exchange")
    unit = Fmpy(case.fmus[fmi], case.outputs, gallery.TOLERANCE)
    run = Importer(unit, gallery.TOLERANCE)
    rows = run.run(case.times)
    unit.close()
    assert case.difference(dict(zip(case.outputs, rows.T, strict=True)))[0] < 1e-4
    assert len(case.times) > 90  # half a second of what is chaotic
    assert run.restarts < (60 if case.description.numberOfEventIndicators else 4)


PACKAGES = {"FMPy": 1e-8, "libcosim, by libcosimpy": 1e-8, "ecos, by ecospy": 1e-8}


@pytest.mark.campaign(keep=8)
@pytest.mark.parametrize("host", PACKAGES)
@pytest.mark.parametrize("name", ["engine_1b", "heavy_top", *ITERATED])
def test_hosts_that_are_packages_run_our_fmus_in_co_simulation(case_of, name, host):
    found = next(h for h in hosts.hosts() if h.title == host)
    if found.version is None:
        pytest.skip(f"{host} is not installed: pip install mbfmu[hosts]")
    for kind, run in found.runs.items():
        if kind[1] == "CoSimulation":
            given = gallery.isolated(case_of(name), run)
            assert given.get("difference", 1.0) < PACKAGES[host] or "arrays" in given.get("unavailable", ""), given


@pytest.mark.campaign
def test_compatibility_information_is_what_the_standards_site_asks_for(tmp_path):
    """Of one model: FMU, results by the site's rules for CSV, options; a page with the table of hosts; an entry."""
    pytest.importorskip("ziglang", reason="libraries for all platforms take ziglang: pip install ziglang")
    assert compatibility.main(tmp_path, ["double_pendulum"]) == 0
    for fmi in ("2.0", "3.0"):
        place = tmp_path / fmi / "DoublePendulum"
        names = {"DoublePendulum.fmu", "DoublePendulum_ref.csv", "DoublePendulum_ref.opt", "Readme.txt"}
        assert {file.name for file in place.iterdir()} == names
        variables = {v.name for v in fmpy.read_model_description(str(place / "DoublePendulum.fmu")).modelVariables}
        results = fmpy.read_csv(place / "DoublePendulum_ref.csv")
        assert set(results.dtype.names) - {"time"} <= variables
        options = dict(line.split(", ") for line in (place / "DoublePendulum_ref.opt").read_text("utf-8").splitlines())
        assert [results["time"][0], results["time"][-1]] == [float(options[f"{end}Time"]) for end in ("Start", "Stop")]
    page = (tmp_path / "README.md").read_text("utf-8")
    assert "| FMPy " in page
    assert "](co-simulation.md" not in page
    assert json.loads((tmp_path / "tools.json").read_text("utf-8"))["fmuExport"] == ["CS", "ME"]


@pytest.fixture(scope="module")
def with_components(tmp_path_factory: pytest.TempPathFactory) -> gallery.Case:
    try:
        component.ready_component()
    except BuildError as error:
        pytest.skip(str(error))
    return gallery.Case("engine_1b", tmp_path_factory.mktemp("components"), wasm=True)


@pytest.fixture
def node() -> Iterator[pathlib.Path]:
    with contextlib.ExitStack() as stack:
        try:
            place = stack.enter_context(wasm_units.workplace())
        except BuildError as error:
            pytest.skip(str(error))
        yield place


@pytest.mark.campaign
@pytest.mark.parametrize("interface", wasm_units.KINDS)
def test_components_run_alike_in_two_engines(with_components, node, interface):
    """Events: wasmtime and Node.js give the same bits, and those our motion."""
    pytest.importorskip("wasmtime.component", reason="wasmtime is not installed: pip install wasmtime")
    found = [hosts.run_component(with_components, interface, place) for place in (None, node)]
    assert with_components.difference(found[0])[0] < 1e-5
    for name in with_components.outputs:
        np.testing.assert_array_equal(found[0][name], found[1][name])


def test_a_host_that_crashes_or_fails_is_a_cell_of_the_table(case_of):
    case = case_of("heavy_top")

    def crash(case: gallery.Case) -> hosts.Columns:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    def refuse(case: gallery.Case) -> hosts.Columns:
        raise hosts.Unavailable("springs")

    def nan(case: gallery.Case) -> hosts.Columns:
        return {name: np.where(case.times > 0.1, np.nan, case.wanted[name]) for name in case.outputs}

    def other(case: gallery.Case, by: float) -> hosts.Columns:
        name = case.outputs[0]
        return {**case.wanted, name: case.wanted[name] + by * np.ptp(case.wanted[name]) * (case.times > 0.1)}

    assert gallery.isolated(case, crash) == {"failed": "the process ends with -9"}
    assert gallery.isolated(case, refuse) == {"unavailable": "springs"}
    assert "no numbers" in gallery.isolated(case, nan)["failed"]
    assert "no output" in gallery.isolated(case, lambda case: {})["failed"]
    far = gallery.isolated(case, functools.partial(other, by=1e-3))
    assert far == {"difference": pytest.approx(1e-3), "output": case.outputs[0]}


def test_tables_name_what_is_missing_and_what_failed(tmp_path, capsys):
    kinds = list(map(gallery.kind_title, gallery.KINDS))
    results = {
        "hosts": {"A": {"version": "1.2", "others": "no FMI 3.0"}, "B": {"version": None, "others": "-"}},
        "models": {
            name: {"uncertainty": 1e-10, "cells": {"A": {kinds[0]: {"difference": value}, kinds[1]: other}, "B": {}}}
            for name, value, other in (("pendulum", 3e-9, {"failed": "x"}), ("car", 4e-8, {"unavailable": "y"}))
        },
    }
    file = tmp_path / "hosts.json"
    file.write_text(json.dumps(results), encoding="utf-8")
    gallery.main("--table", "--json", str(file))
    printed = capsys.readouterr().out.splitlines()
    assert "| A 1.2 | 4e-08 (`car`) | none; 0 of 2 | no FMI 3.0 | no FMI 3.0 |" in printed
    assert "- A, FMI 2.0, model exchange: fails at `pendulum`: x" in printed
    assert "- A, FMI 2.0, model exchange: does not take `car`: y" in printed
    assert "- B: not found." in printed
    assert "| `car` | 1e-10 | 4e-08 / - |" in printed
    assert "| `pendulum` | 1e-10 | 3e-09 / fails |" in printed


@pytest.mark.campaign
@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["powertrain", "engine_1b"])
@pytest.mark.usefixtures("compiler_with_sanitizers")
def test_random_calls_meet_no_wrong_status_and_no_undefined_behaviour(tmp_path, name):
    done = random_calls.run(name, 3000, tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert sum(map(int, done.stdout.split())) >= 3000
