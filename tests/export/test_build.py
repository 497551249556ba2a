from __future__ import annotations

import dataclasses
import pathlib
import re
import shutil
import zipfile
from typing import Any

import fmpy
import numpy as np
import pytest
from fmpy.build import build_platform_binary
from fmpy.validation import validate_fmu
from lxml import etree

from mbfmu.dynamics.system import System
from mbfmu.errors import BuildError
from mbfmu.export import native
from mbfmu.export.build import build
from mbfmu.export.selection import select
from mbfmu.runtime import c_code, compilers
from mbfmu.runtime.compilers import find_compiler
from mbfmu.validation import validate

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
each_target = pytest.mark.parametrize(
    "target",
    [
        pytest.param({"target": "native", "equations": "compiled"}, marks=needs_compiler, id="compiled"),
        pytest.param({"target": "native", "equations": "interpreted"}, id="interpreted"),
        pytest.param({"target": "python"}, id="python"),
    ],
)


def guid(path: pathlib.Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return str(etree.fromstring(archive.read("modelDescription.xml")).get("guid"))


@pytest.mark.slow
@each_target
def test_an_fmu_is_valid_and_moves_as_the_closed_form(system: System, tmp_path: pathlib.Path, target: Any) -> None:
    """Undamped: s = s0 cos(omega t), with omega = sqrt(c/m) = 2 rad/s and s0 = 0.1 m."""
    path = build(system, tmp_path / "a.fmu", **target)
    assert validate(path) == []
    assert validate_fmu(str(path)) == []
    result = fmpy.simulate_fmu(str(path), stop_time=2.0, output_interval=0.1, relative_tolerance=1e-9)
    np.testing.assert_allclose(result["flange.s"], 0.1 * np.cos(2 * result["time"]), atol=1e-7)
    np.testing.assert_allclose(result["energy"], 0.04, rtol=1e-6)
    changed = fmpy.simulate_fmu(
        str(path),
        stop_time=1.0,
        output_interval=0.1,
        relative_tolerance=1e-9,
        start_values={"mass.m": 8.0, "mass.s": 0.3},
    )
    np.testing.assert_allclose(changed["flange.s"], 0.3 * np.cos(changed["time"]), atol=1e-7)


@pytest.mark.slow
@pytest.mark.campaign("compiled", keep=2)
@each_target
def test_the_same_model_gives_the_same_bytes(
    system: System, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, target: Any
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setenv("MBFMU_CACHE", "")
    one, other = (build(system, tmp_path / name, **target).read_bytes() for name in ("1.fmu", "2.fmu"))
    assert one == other


@pytest.mark.slow
def test_the_guid_tells_models_apart(system: System, tmp_path: pathlib.Path) -> None:
    other_number = dataclasses.replace(system.equations, parameters=(3.0, 8.0, 0.0, 0.1, 0.0))
    other_interface = tuple(v for v in system.variables if v.name != "mass.label")
    guids = [
        guid(build(changed, tmp_path / f"{i}.fmu", target="python"))
        for i, changed in enumerate(
            [
                system,
                system,
                dataclasses.replace(system, equations=other_number),
                dataclasses.replace(system, variables=other_interface),
            ]
        )
    ]
    assert guids[0] == guids[1]
    assert len(set(guids)) == 3
    assert re.fullmatch(r"\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}", guids[0])


@pytest.mark.slow
def test_a_folder_gets_the_name_of_the_model(system: System, tmp_path: pathlib.Path) -> None:
    assert build(system, tmp_path, target="python") == tmp_path / "Examples_Oscillator.fmu"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words", "exchange"),
    [
        ({"target": "native", "fmi": 2}, "FMI 2.0, co-simulation and model exchange<", True),
        ({"target": "native", "fmi": 3}, "FMI 3.0, co-simulation and model exchange<", True),
        ({"target": "python"}, "FMI 2.0, co-simulation<", False),
    ],
)
def test_the_documentation_tells_the_interfaces(
    system: System, tmp_path: pathlib.Path, options: dict[str, Any], words: str, exchange: bool
) -> None:
    path = build(system, tmp_path / "a.fmu", equations="interpreted", **options)
    with zipfile.ZipFile(path) as archive:
        page = archive.read("documentation/index.html").decode()
        description = etree.fromstring(archive.read("modelDescription.xml"))
    assert words in page
    assert (description.find("ModelExchange") is not None) == exchange
    assert ("left out, for the python target is for co-simulation only" in page) != exchange
    assert ("left out, for" in page) != exchange


@pytest.mark.slow
def test_progress_is_told(system: System, tmp_path: pathlib.Path) -> None:
    told: list[str] = []
    build(system, tmp_path, target="python", progress=told.append)
    assert told[0] == "Deriving the equations of motion"
    assert "Writing the archive" in told


@pytest.mark.slow
def test_without_a_compiler_equations_are_interpreted(
    system: System, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    native.ready_library(compilers.host_platform())
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    path = build(system, tmp_path)
    assert not fmpy.read_model_description(str(path)).coSimulation.needsExecutionTool
    with zipfile.ZipFile(path) as archive:
        assert "resources/model.mbfmu" in archive.namelist()
    assert fmpy.simulate_fmu(str(path), stop_time=0.5)["flange.s"][-1] == pytest.approx(0.1 * np.cos(1.0), abs=1e-6)
    with pytest.raises(BuildError, match=r"--equations interpreted"):
        build(system, tmp_path, equations="compiled")


@pytest.mark.slow
@needs_compiler
def test_auto_with_a_compiler_is_native(system: System, tmp_path: pathlib.Path) -> None:
    path = build(system, tmp_path)
    assert not fmpy.read_model_description(str(path)).coSimulation.needsExecutionTool
    with zipfile.ZipFile(path) as archive:
        (library,) = [name for name in archive.namelist() if name.startswith("binaries/")]
        assert guid(path).encode() in archive.read(library)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "java"}, '"java" is unknown'),
        ({"target": "python", "platforms": "linux64"}, "wherever the runtime's libraries are"),
        ({"target": "native", "platforms": "amiga"}, "amiga"),
        ({"target": "python", "sources": True}, "no C sources"),
        ({"solver": "Euler"}, 'solver "Euler" is unknown; there are auto, explicit, implicit'),
        ({"target": "native", "fixed_step": 0.0}, "choose a positive number"),
        ({"energy": True}, "the system is made already"),
        ({"target": "python", "variables": "nothing.*"}, r'"nothing\.\*"'),
    ],
)
def test_wrong_options(system: System, tmp_path: pathlib.Path, options: Any, message: str) -> None:
    with pytest.raises(BuildError, match=message):
        build(system, tmp_path / "a.fmu", **options)
    assert list(tmp_path.iterdir()) == []


def test_native_without_a_compiler_names_the_remedy(
    system: System, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(BuildError, match="no-such-compiler"):
        build(system, tmp_path / "a.fmu", target="native")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("false") is None, reason="needs a command that fails")
def test_a_compiler_that_fails_leaves_no_file(
    system: System, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(BuildError, match="compiler failed"):
        build(system, tmp_path / "a.fmu", target="native")
    assert list(tmp_path.iterdir()) == []


def test_local_variables_can_be_left_out(system: System) -> None:
    kept = [variable.name for variable in select(system.variables, ["mass.n[1]", "om*"])]
    everything = [variable.name for variable in system.variables]
    assert kept == [name for name in everything if name not in ("mass.label", "mass.animation")]
    assert select(system.variables, []) == system.variables


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@each_target
def test_an_fmu_without_its_local_variables(system: System, tmp_path: pathlib.Path, target: Any) -> None:
    path = build(system, tmp_path, **target, variables="omega")
    assert validate(path) == []
    names = [variable.name for variable in fmpy.read_model_description(str(path)).modelVariables]
    assert "mass.label" not in names
    assert {"mass.s", "mass.v", "mass.a"} <= set(names)


@pytest.mark.slow
@needs_compiler
def test_an_fmu_of_fmi_3_says_how_its_sources_are_compiled(system: System, tmp_path: pathlib.Path) -> None:
    """In buildDescription.xml (FMI 3.0.2, section 2.5.1.4.1)."""
    path = build(system, tmp_path / "a.fmu", fmi=3, sources=True)
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        described = etree.fromstring(archive.read("sources/buildDescription.xml"))
    assert (described.tag, described.get("fmiVersion")) == ("fmiBuildDescription", "3.0")
    assert {c.get("modelIdentifier") for c in described.iter("BuildConfiguration")} == {"Examples_Oscillator"}
    assert [file.get("name") for file in described.iter("SourceFile")] == ["fmu.c"]
    assert {"sources/fmu.c", "sources/fmi3.c"} <= names
    assert "sources/fmi2.c" not in names


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@needs_compiler
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
@pytest.mark.parametrize("units", [["fmu.c"], ["fmu.c", "equations_1.c", "model.c"]], ids=len)
def test_fmpy_compiles_the_sources(
    system: System, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, units: list[str]
) -> None:
    if len(units) > 1:
        monkeypatch.setattr(c_code, "FILE", 1)
    path = build(system, tmp_path / "a.fmu", target="native", sources=True)
    assert validate(path, run=False) == []
    configuration = fmpy.read_model_description(str(path)).buildConfigurations[0]
    assert [file for files in configuration.sourceFileSets for file in files.sourceFiles] == units
    folder = pathlib.Path(fmpy.extract(str(path), str(tmp_path / "content")))
    shutil.rmtree(folder / "binaries")
    build_platform_binary(folder)
    result = fmpy.simulate_fmu(str(folder), stop_time=1.0, output_interval=0.1, relative_tolerance=1e-9)
    np.testing.assert_allclose(result["flange.s"], 0.1 * np.cos(2 * result["time"]), atol=1e-7)


def last_line(path: pathlib.Path) -> str:
    """Run an FMU for a second and return the last line of its log."""
    log: list[str] = []

    def note(_environment: Any, _instance: bytes, _status: int, _category: bytes, message: bytes) -> None:
        log.append(message.decode())

    fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.1, debug_logging=True, logger=note)
    return log[-1]


@pytest.mark.slow
@pytest.mark.campaign
@needs_compiler
def test_a_solver_is_chosen_for_an_fmu(system: System, tmp_path: pathlib.Path) -> None:
    """The log line at the end tells what was used; documentation tells it beforehand."""
    implicit = dataclasses.replace(system, equations=dataclasses.replace(system.equations, solver="implicit"))
    cases: list[tuple[System, dict[str, Any], str, str]] = [
        (system, {}, " 0 implicit steps", "explicit, implicit where"),
        (implicit, {}, "; 7 implicit steps, 7 Jacobians", "implicit"),
        (implicit, {"solver": "explicit"}, " 0 implicit steps", "explicit"),
        (system, {"fixed_step": 0.01}, "100 steps, 0 rejected", "fixed steps of 0.01 s"),
    ]
    for model, options, statistics, documented in cases:
        path = build(model, tmp_path / "a.fmu", target="native", **options)
        assert statistics in last_line(path)
        with zipfile.ZipFile(path) as archive:
            assert documented in archive.read("documentation/index.html").decode()
