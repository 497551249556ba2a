"""Libraries for other platforms, made by zig; wine runs that for Windows. Skipped where these are missing."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import struct
import subprocess

import numpy as np
import pytest
from hand_made_models import bouncing_mass
from native_driver import GUID
from native_models import everything

from mbfmu.export.native import build_library
from mbfmu.export.symbols import REQUIRED, exported_functions
from mbfmu.runtime.compilers import PLATFORMS, require_compiler
from mbfmu.runtime.references import value_references

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent.parent / "templates" / "runtime" / "include"

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")


@pytest.fixture(scope="module")
def built(library, tmp_path_factory):
    """Return a function that compiles a model's library for a platform with zig, or finds it compiled."""
    known = {}

    def get(model, platform):
        if (model, platform) not in known:
            made = model()
            equations = made[0] if isinstance(made, tuple) else made
            folder = tmp_path_factory.mktemp(platform)
            known[model, platform] = build_library(equations, library(model).variables, "model", GUID, folder, platform)
        return known[model, platform]

    return get


def test_a_library_for_windows_runs_as_that_of_this_machine(built, library, tmp_path):
    if shutil.which("wine") is None:
        pytest.skip("wine is not installed")
    host = tmp_path / "host.exe"
    compiler = require_compiler("win64")
    command = [*compiler.command, *compiler.targets[0], "-I", str(HEADERS), "-o", str(host)]
    subprocess.run([*command, str(HERE / "windows_host.c")], check=True, capture_output=True)
    local = library(everything)
    names = [v.name for v in local.variables if v.store in ("x", "w", "y")]
    references = dict(zip((v.name for v in local.variables), value_references(local.variables), strict=True))
    environment = os.environ | {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
    run = subprocess.run(
        ["wine", str(host), str(built(everything, "win64")), GUID, "10", *(str(references[name]) for name in names)],
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


@pytest.mark.parametrize("platform", PLATFORMS)
def test_only_fmi_functions_are_exported(built, platform):
    names = exported_functions(built(bouncing_mass, platform).read_bytes())
    assert names == REQUIRED["CoSimulation"] | REQUIRED["ModelExchange"]


def test_a_library_for_linux_asks_for_an_old_c_library_only(built):
    """The newest version of glibc that any symbol asks for is 2.17."""
    content = built(bouncing_mass, "linux64").read_bytes()
    versions = {tuple(map(int, word[6:].split(b"."))) for word in content.split(b"\0") if word.startswith(b"GLIBC_2")}
    assert versions
    assert max(versions) <= (2, 17)


def test_a_library_for_macos_holds_both_processors(built):
    content = built(bouncing_mass, "darwin64").read_bytes()
    magic, count = struct.unpack_from(">II", content)
    processors = {struct.unpack_from(">I", content, 8 + 20 * i)[0] for i in range(count)}
    assert (magic, processors) == (0xCAFEBABE, {0x01000007, 0x0100000C})


@pytest.mark.parametrize("platform", PLATFORMS)
def test_libraries_are_reproducible(built, library, tmp_path, monkeypatch, platform):
    monkeypatch.setenv("MBFMU_CACHE", "")
    again = build_library(bouncing_mass(), library(bouncing_mass).variables, "model", GUID, tmp_path, platform)
    assert again.read_bytes() == built(bouncing_mass, platform).read_bytes()
    assert len(again.read_bytes()) < 400_000
