"""Making native libraries: sources, compilers and what can go wrong with them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import tempfile

import casadi as ca
import pytest

from mbfmu.errors import BuildError
from mbfmu.export.native import build_library, write_sources
from mbfmu.runtime import compilers
from mbfmu.runtime.compilers import (
    Compiler,
    find_compiler,
    host_platform,
    library_name,
    require_compiler,
    universal_binary,
)

GUID = "{0123}"


@pytest.fixture
def built(system, tmp_path):
    if find_compiler() is None:
        pytest.skip("no C compiler")
    return build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "fmu")


def test_the_library_is_where_fmi_wants_it(built, tmp_path):
    assert built == tmp_path / "fmu" / "binaries" / host_platform() / library_name("oscillator", host_platform())
    assert built.stat().st_size < 150_000


def test_equal_models_give_equal_libraries(built, system, tmp_path, monkeypatch):
    monkeypatch.setenv("MBFMU_CACHE", "")
    again = build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "elsewhere" / "deeper")
    assert again.read_bytes() == built.read_bytes()
    other = build_library(system.equations, system.variables, "oscillator", "{4567}", tmp_path / "other")
    assert other.read_bytes() != built.read_bytes()


def test_sources_compile_without_warnings_of_their_own(system, tmp_path):
    compiler = require_compiler()
    headers = pathlib.Path(__file__).resolve().parents[2] / "templates" / "runtime" / "include"
    sources = write_sources(system.equations, system.variables, GUID, tmp_path)
    assert sources.units == ("fmu.c",)
    assert {"fmu.c", "model.h", "equations.c"} <= {file.name for file in sources.files}
    assert not {header.name for header in headers.iterdir()} & {file.name for file in sources.files}
    run = subprocess.run(
        [*compiler.command, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-fsyntax-only", "-I", str(headers), "fmu.c"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    ours = [line for line in run.stderr.splitlines() if "warning" in line and "equations.c" not in line]
    # Sizes are constants: what a model has none of is compared with 0, divided by in loops without a round, and unused.
    constant = ("-Wtype-limits", "-Wunused", "-Wdiv-by-zero")
    assert [line for line in ours if not any(kind in line for kind in constant)] == []


def test_without_a_compiler_the_remedy_is_named(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: None)
    assert find_compiler() is None
    with pytest.raises(BuildError, match=r"no C compiler for .*pip install mbfmu\[cross\].*--equations interpreted"):
        require_compiler()


def test_ziglang_takes_the_place_of_a_missing_compiler(monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(compilers.importlib.util, "find_spec", lambda name: object())
    assert require_compiler("linux64").command[1:] == ("-m", "ziglang", "cc")
    assert require_compiler("linux64").targets == (("-target", "x86_64-linux-gnu.2.17"),)
    assert require_compiler("win64").targets == (("-target", "x86_64-windows-gnu"),)
    assert len(require_compiler("darwin64").targets) == 2


def test_the_library_for_macos_holds_both_processors():
    x86 = struct.pack("<III", 0xFEEDFACF, 0x01000007, 3) + b"x86" * 9000
    arm = struct.pack("<III", 0xFEEDFACF, 0x0100000C, 0) + b"arm" * 100
    joined = universal_binary([x86, arm])
    magic, count = struct.unpack_from(">II", joined)
    assert (magic, count) == (0xCAFEBABE, 2)
    for i, (processor, library) in enumerate(((0x01000007, x86), (0x0100000C, arm))):
        kind, _, offset, size, align = struct.unpack_from(">IIIII", joined, 8 + 20 * i)
        assert kind == processor
        assert offset % (1 << align) == 0
        assert joined[offset : offset + size] == library
    with pytest.raises(BuildError, match="no 64-bit Mach-O"):
        universal_binary([b"\x7fELF" + bytes(100), arm])


def test_cc_chooses_the_compiler(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(BuildError, match="CC names 'no-such-compiler'"):
        find_compiler()
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}")
    assert require_compiler().command == ("no-such-compiler", "-m64")


def test_an_unknown_platform_is_refused():
    with pytest.raises(BuildError, match="unknown platform 'amiga': one of linux64, win64, darwin64"):
        find_compiler("amiga")


@pytest.mark.skipif(os.name != "posix", reason="the compiler is a shell script")
def test_the_first_error_of_a_failing_compiler_is_shown_with_the_command(system, tmp_path):
    script = tmp_path / "broken-cc"
    script.write_text("#!/bin/sh\necho 'fmu.c:1: note: hello' >&2\necho 'fmu.c:2: error: no luck' >&2\nexit 1\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    compiler = Compiler((str(script),), host_platform())
    with pytest.raises(BuildError, match="no luck") as caught:
        build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "fmu", compiler=compiler)
    assert f"command: {script} -std=c99" in str(caught.value)
    assert "hello" not in str(caught.value)
    assert not (tmp_path / "fmu").exists()


def test_a_compiler_that_does_not_start_is_named(system, tmp_path):
    compiler = Compiler((str(tmp_path / "gone"),), host_platform())
    with pytest.raises(BuildError, match="cannot run the C compiler"):
        build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "fmu", compiler=compiler)


def test_a_folder_that_cannot_be_written_is_named(system, tmp_path):
    (tmp_path / "binaries").write_text("a file where the folder should be")
    with pytest.raises(BuildError, match=r"cannot write .*binaries"):
        build_library(system.equations, system.variables, "oscillator", GUID, tmp_path)


def test_a_missing_temporary_folder_is_named(system, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(BuildError, match=r"temporary folder.*TMPDIR"):
        build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "fmu")


def test_functions_of_the_wrong_size_are_a_defect(system):
    x = ca.SX.sym("x", 5)
    functions = {**system.equations.functions, "derived": ca.Function("derived", [x], [x[:2]])}
    with pytest.raises(ValueError, match=r"guess maps \(6,\) to \(2,\) numbers, not \(7,\) to \(2,\)"):
        dataclasses.replace(system.equations, functions=functions)
