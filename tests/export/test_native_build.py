"""Making native libraries: sources, compilers and what can go wrong with them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

import casadi as ca
import pytest

from mbfmu.errors import BuildError
from mbfmu.export.native import build_library, write_sources
from mbfmu.runtime import build, c_code, compilers
from mbfmu.runtime.compilers import (
    Compilation,
    Compiler,
    find_compiler,
    host_platform,
    library_name,
    own_work,
    require_compiler,
    universal_binary,
)

GUID = "{0123}"

pytestmark = pytest.mark.usefixtures("users_compiler")


@pytest.fixture
def built(system, tmp_path):
    if find_compiler() is None:
        pytest.skip("no C compiler")
    return build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "fmu")


def test_the_library_is_where_fmi_wants_it(built, tmp_path):
    assert built == tmp_path / "fmu" / "binaries" / host_platform() / library_name("oscillator", host_platform())
    assert built.stat().st_size < 150_000


@pytest.mark.slow
@pytest.mark.campaign
def test_equal_models_give_equal_libraries(built, system, tmp_path, monkeypatch):
    monkeypatch.setenv("MBFMU_CACHE", "")
    again = build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / "elsewhere" / "deeper")
    assert again.read_bytes() == built.read_bytes()
    other = build_library(system.equations, system.variables, "oscillator", "{4567}", tmp_path / "other")
    assert other.read_bytes() != built.read_bytes()


def test_the_compiler_is_that_of_users():
    """In workers of pytest-xdist, too, which find CC as their parent has set it."""
    assert "unoptimized" not in "".join(require_compiler().command)


@pytest.mark.slow
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
    assert require_compiler("aarch64-linux").targets == (("-target", "aarch64-linux-gnu.2.17"),)


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
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "no-such-compiler" else f"/bin/{name}")
    monkeypatch.setenv("CC", "no-such-compiler wrapped")  # who wraps another one is looked for
    with pytest.raises(BuildError, match="CC names 'no-such-compiler'"):
        find_compiler()
    monkeypatch.setenv("CC", "wrapper clang -m64")
    assert require_compiler().command == ("wrapper", "clang", "-m64")


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("linux", "linux-x86_64", "linux64"),
        ("linux", "linux-aarch64", "aarch64-linux"),
        ("win32", "win-amd64", "win64"),
        ("win32", "win-arm64", "aarch64-windows"),
        ("darwin", "macosx-11.0-arm64", "darwin64"),
    ],
)
def test_this_machine_is_told_by_its_system_and_processor(monkeypatch, system, machine, expected):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(compilers.sysconfig, "get_platform", lambda: machine)
    assert host_platform() == expected


def test_an_unknown_platform_is_refused():
    with pytest.raises(BuildError, match="unknown platform 'amiga': one of linux64, win64, darwin64, aarch64-linux"):
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


@pytest.mark.slow
@pytest.mark.campaign
def test_a_library_of_several_files_is_the_same_every_time(system, tmp_path, monkeypatch):
    monkeypatch.setattr(c_code, "FILE", 1)
    monkeypatch.setenv("MBFMU_CACHE", "")
    (tmp_path / "sources").mkdir()
    sources = write_sources(system.equations, system.variables, GUID, tmp_path / "sources")
    assert sources.units == ("fmu.c", "equations_1.c", "model.c")
    assert {*sources.units, "equations.h", "portable.h"} <= {file.name for file in sources.files}
    made = [
        build_library(system.equations, system.variables, "oscillator", GUID, tmp_path / name).read_bytes()
        for name in ("one", "other")
    ]
    assert made[0] == made[1]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="nm of POSIX")
def test_files_share_names_that_nobody_else_has(system, tmp_path, monkeypatch):
    """Several source-code FMUs can be linked into one program; their shared names begin with the model's."""
    monkeypatch.setattr(c_code, "FILE", 1)
    sources = write_sources(system.equations, system.variables, GUID, tmp_path)
    command = [*find_compiler().command, "-std=c99", "-w", "-fPIC", "-I", str(build.headers()), "-c", *sources.units]
    subprocess.run(command, cwd=tmp_path, check=True)
    objects = [f"{pathlib.Path(unit).stem}.o" for unit in sources.units]
    listed = subprocess.run(["nm", "-g", "--defined-only", *objects], cwd=tmp_path, capture_output=True, text=True)
    names = {line.split()[-1].removeprefix("_") for line in listed.stdout.splitlines() if len(line.split()) == 3}
    assert {name for name in names if not name.startswith("fmi2")} == {
        f"Examples_Oscillator_equations_{name}" for name in (*sources.compiled, "descriptor", "descriptor_size")
    }


@pytest.mark.skipif(os.name != "posix", reason="the compiler is a shell script")
@pytest.mark.parametrize("broken", [False, True], ids=["Ctrl-C", "error"])
def test_all_compilers_stop_at_once(tmp_path, monkeypatch, broken):
    """As the user stops the build, or as one of them fails; none is left, and no file of theirs in the cache."""
    monkeypatch.setenv("MBFMU_CACHE", str(tmp_path / "cache"))
    script = tmp_path / "cc"
    script.write_text(
        '#!/bin/sh\nfor last; do :; done\ncase "$last" in\n'
        f"*bad.c) while [ ! -s {tmp_path}/a.pid ]; do sleep 0.02; done; echo 'bad.c: error: no luck' >&2; exit 1;;\n"
        f"esac\necho $$ > {tmp_path}/$(basename $last .c).pid\nsleep 600\n"
    )
    script.chmod(0o755)
    folder = tmp_path / "sources"
    folder.mkdir()
    names = ("a", "bad") if broken else ("a", "b")
    for name in names:
        (folder / f"{name}.c").write_text("")
    waited = [tmp_path / f"{name}.pid" for name in names if name != "bad"]
    # As many processors as compilers, wherever the test runs.
    monkeypatch.setattr("mbfmu.runtime.compilers._PROCESSORS", 2)
    monkeypatch.setattr("mbfmu.runtime.compilers._FREE", threading.BoundedSemaphore(2))
    began = time.monotonic()

    def run() -> None:
        compiler = Compiler((str(script),), host_platform())
        with Compilation(compiler, folder, "library.so", build.headers()) as compilation:
            for name in names:
                compilation.start(f"{name}.c", ["-O2"], [])
            if broken:
                compilation.library()
            while not all(file.exists() and file.read_text().strip() for file in waited):
                assert time.monotonic() < began + 60
                time.sleep(0.02)
            raise KeyboardInterrupt

    with pytest.raises(BuildError if broken else KeyboardInterrupt, match="no luck" if broken else None):
        run()
    for file in waited:
        with pytest.raises(ProcessLookupError):
            os.kill(int(file.read_text()), 0)
    assert not (tmp_path / "cache").exists()
    assert not list(folder.rglob("*.o"))


@pytest.mark.skipif(os.name != "posix", reason="the compiler is a shell script")
def test_own_work_has_a_processor(tmp_path, monkeypatch):
    """Of two compilers on two processors the second begins when this process has nothing left to do but to wait."""
    monkeypatch.setenv("MBFMU_CACHE", "")
    monkeypatch.setattr("mbfmu.runtime.compilers._FREE", threading.BoundedSemaphore(2))
    script, log = tmp_path / "cc", tmp_path / "log"
    script.write_text(
        '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n'
        f'echo "begins" >> {log}; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; echo "$2 is made" > "$2"\n'
    )
    script.chmod(0o755)
    folder = tmp_path / "sources"
    folder.mkdir()
    with Compilation(Compiler((str(script),), host_platform()), folder, "library.so", build.headers()) as compilation:
        with own_work():
            for name in ("a.c", "b.c"):
                (folder / name).write_text("")
                compilation.start(name, ["-O2"], [])
            while not log.exists():
                time.sleep(0.02)
            time.sleep(0.2)
            assert log.read_text().split() == ["begins"]
        while log.read_text().split() != ["begins", "begins"]:
            time.sleep(0.02)
        (tmp_path / "go").touch()
        assert compilation.library() == b"library.so is made\n"
