"""Libraries for other platforms, made by zig; wine runs that for Windows. Skipped where these are missing."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import zipfile

import numpy as np
import processors
import pytest
from hand_made_models import bouncing_mass, everything
from hosts import FMUS, GUID, Library, model_and_variables

from mbfmu.errors import BuildError
from mbfmu.export import native
from mbfmu.export.build import build as build_fmu
from mbfmu.fmi.libraries import REQUIRED, REQUIRED_3, exported_functions, processor_of
from mbfmu.modeling.registry import assemblies
from mbfmu.runtime import build
from mbfmu.runtime.compilers import PLATFORMS, _Processes, require_compiler
from mbfmu.runtime.library import _PROTOTYPES
from mbfmu.runtime.references import value_references
from mbfmu.validation import validate

HERE = pathlib.Path(__file__).resolve().parent

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")


@pytest.fixture(scope="module", params=FMUS)
def built(request, tmp_path_factory):
    """Return a function that makes a model's library for a platform with zig, or finds it made; and what kind it is."""
    known = {}

    def get(model, platform):
        if (model, platform) not in known:
            folder = tmp_path_factory.mktemp(platform)
            equations, variables = model_and_variables(model)
            if request.param == "compiled":
                library = native.build_library(equations, variables, "model", GUID, folder, platform)
            else:
                library = native.copy_library("model", folder, platform)
            (folder / "resources").mkdir()
            native.write_descriptor(equations, variables, GUID, folder / "resources")
            known[model, platform] = library
        return known[model, platform]

    get.kind = request.param
    return get


def test_a_library_for_windows_runs_as_that_of_this_machine(built, tmp_path):
    if shutil.which("wine") is None:
        pytest.skip("wine is not installed")
    host = tmp_path / "host.exe"
    compiler = require_compiler("win64")
    command = [*compiler.command, *compiler.targets[0], "-I", str(build.headers()), "-o", str(host)]
    subprocess.run([*command, str(HERE / "windows_host.c")], check=True, capture_output=True)
    local = Library("process", *model_and_variables(everything), tmp_path)
    names = [v.name for v in local.variables if v.store in ("x", "w", "y")]
    references = dict(zip((v.name for v in local.variables), value_references(local.variables), strict=True))
    environment = os.environ | {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
    dll = built(everything, "win64")
    resources = f"Z:{dll.parents[2]}/resources"
    run = subprocess.run(
        ["wine", str(host), str(dll), GUID, resources, "10", *(str(references[name]) for name in names)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    slave = local.slave(tolerance=1e-10).start()
    for line in run.stdout.splitlines():
        slave.step(0.1)
        np.testing.assert_allclose([float(word) for word in line.split()], slave.get(*names), atol=1e-8)
    assert slave.time == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.skipif(bool(processors.missing()), reason=processors.missing())
@pytest.mark.parametrize("fmi", [2, 3])
def test_a_library_for_another_processor_runs_as_that_of_this_machine(request, tmp_path, fmi):
    """Under an emulator; the loop and the switches of this model would tell of another order of additions."""
    kind = "compiled" if fmi == 3 else "interpreted"
    fmu = build_fmu(
        assemblies()["planar_loop_release"](), tmp_path, fmi=fmi, equations=kind, platforms="aarch64-linux,x86_64-linux"
    )
    programs = {platform: processors.host(tmp_path, platform) for platform in processors.RUNNERS}
    assert processors.difference(fmu, programs, tmp_path / "unpacked") < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["aarch64-linux", "aarch64-windows"])
def test_fmi_2_has_libraries_for_aarch64_where_importers_look_for_them(tmp_path, platform):
    """In the folder of x86 as well, unless the FMU is for that, too."""
    stands_in = {"aarch64-linux": "linux64", "aarch64-windows": "win64"}[platform]
    for asked, expected in ((platform, {platform, stands_in}), (f"{platform},{stands_in}", {platform, stands_in})):
        fmu = build_fmu(assemblies()["pendulum"](), tmp_path, equations="interpreted", platforms=asked)
        with zipfile.ZipFile(fmu) as archive:
            names = {pathlib.PurePosixPath(name).parts[1]: name for name in archive.namelist() if "binaries/" in name}
            found = {folder: processor_of(archive.read(name)) for folder, name in names.items()}
        assert set(found) == expected
        assert found[platform] == "aarch64"
        assert found[stands_in] == ("aarch64" if asked == platform else "x86_64")
        assert validate(fmu) == []


@pytest.mark.slow
def test_a_library_for_another_processor_than_its_folder_says_is_found(tmp_path):
    fmu = build_fmu(assemblies()["pendulum"](), tmp_path, fmi=3, equations="interpreted", platforms="aarch64-linux")
    with zipfile.ZipFile(fmu) as archive, zipfile.ZipFile(tmp_path / "wrong.fmu", "w") as wrong:
        for name in archive.namelist():
            wrong.writestr(name.replace("aarch64-linux", "x86_64-linux"), archive.read(name))
    assert (
        validate(tmp_path / "wrong.fmu")
        == ['The binary "binaries/x86_64-linux/Pendulum.so" is for another processor, aarch64.'] * 2
    )


@pytest.mark.slow
@pytest.mark.campaign("darwin64", "aarch64-linux", "aarch64-windows")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_only_fmi_functions_are_exported(built, platform):
    """Of FMI 2.0; the library for any model has those of FMI 3.0, too, and plain ones for programs."""
    names = exported_functions(built(bouncing_mass, platform).read_bytes())
    expected = REQUIRED["CoSimulation"] | REQUIRED["ModelExchange"]
    if built.kind == "interpreted":
        assert REQUIRED_3["CoSimulation"] | REQUIRED_3["ModelExchange"] <= names
        names = {name for name in names if not name.startswith("fmi3")} - {f"mbfmu_{name}" for name in _PROTOTYPES}
    assert names == expected


def test_a_library_for_linux_asks_for_an_old_c_library_only(built):
    """The newest version of glibc that any symbol asks for is 2.17."""
    content = built(bouncing_mass, "linux64").read_bytes()
    versions = {tuple(map(int, word[6:].split(b"."))) for word in content.split(b"\0") if word.startswith(b"GLIBC_2")}
    assert versions
    assert max(versions) <= (2, 17)


@pytest.mark.slow
def test_a_library_for_macos_holds_both_processors(built):
    content = built(bouncing_mass, "darwin64").read_bytes()
    magic, count = struct.unpack_from(">II", content)
    processors = {struct.unpack_from(">I", content, 8 + 20 * i)[0] for i in range(count)}
    assert (magic, processors) == (0xCAFEBABE, {0x01000007, 0x0100000C})


@pytest.mark.slow
@pytest.mark.campaign("darwin64", "aarch64-linux", "aarch64-windows")
@pytest.mark.parametrize("platform", PLATFORMS)
def test_libraries_are_reproducible(built, tmp_path, monkeypatch, platform):
    if built.kind == "interpreted":
        pytest.skip("one library for all models, made with the installation")
    monkeypatch.setenv("MBFMU_CACHE", "")
    again = native.build_library(*model_and_variables(bouncing_mass), "model", GUID, tmp_path, platform)
    assert again.read_bytes() == built(bouncing_mass, platform).read_bytes()
    assert len(again.read_bytes()) < 400_000


def test_no_compiler_starts_after_a_stop(tmp_path):
    """Threads that still wait for a processor find that it is over, and those that run end."""
    processes = _Processes()
    done = processes.run([sys.executable, "-c", "print('compiled')"], tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "compiled")
    processes.stop()
    with pytest.raises(BuildError, match="the C compiler was stopped"):
        processes.run([sys.executable, "-c", "print('compiled')"], tmp_path)
