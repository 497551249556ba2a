"""Long equations in pieces and files: the same bits, however they are cut, and compilers that stop when they should."""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import struct
import subprocess
import threading
import time

import casadi as ca
import pytest

from mbfmu.errors import BuildError
from mbfmu.export import pieces
from mbfmu.export.native import build_library, write_sources
from mbfmu.export.pieces import Written
from mbfmu.runtime import build
from mbfmu.runtime.compilers import Compilation, Compiler, find_compiler, host_platform, library_name, own_work

GUID = "{0123}"

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture
def short(monkeypatch):
    """Everything is long, pieces and files are short, and nothing is taken from an earlier build."""
    for name, length in (("PIECE", 7), ("WHOLE", 20), ("FILE", 60)):
        monkeypatch.setattr(pieces, name, length)
    monkeypatch.setenv("MBFMU_CACHE", "")


def row(name: str, operations: int, seed: int) -> ca.Function:
    """A row of operations of all kinds with two arguments and two results."""
    numbers = random.Random(seed)
    x, y = ca.SX.sym("x", 3), ca.SX.sym("y", 2)
    made = [*ca.vertsplit(x), *ca.vertsplit(y), ca.SX(0.1), ca.SX(-3e-300)]
    kinds = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (b * b + 0.5), ca.atan2, ca.fmin,
        ca.fmax, ca.copysign, ca.hypot, lambda a, b: ca.sin(a), lambda a, b: ca.exp(-a * a), lambda a, b: ca.sign(a),
        lambda a, b: ca.if_else(a < b, a, 0.0), lambda a, b: ca.sqrt(a * a + 1), lambda a, b: -a, lambda a, b: a**2,
        lambda a, b: ca.fabs(a), lambda a, b: ca.logic_not(a > b), lambda a, b: ca.fmod(a, 1.5),
    ]  # fmt: skip
    for _ in range(operations):
        a, b = numbers.choice(made[-12:]), numbers.choice(made)
        made.append(ca.sin(numbers.choice(kinds)(a, b)))
    results = [ca.vertcat(*numbers.sample(made, 5)), ca.vertcat(*numbers.sample(made, 3))]
    return ca.Function(name, [x, y], results)


def caller(name: str) -> ca.Function:
    """A function that calls others again and again, with parts of arguments and of what they gave."""
    leaf, long = row("leaf", 12, 3), row("long_leaf", 90, 4)
    x, y = ca.MX.sym("x", 30), ca.MX.sym("y", 2)
    numbers, total, at = [], y, x[:3]
    for i in range(12):
        first, second = (long if i % 3 == 0 else leaf)(ca.vertcat(at[0], x[2 * i], x[29 - i]), total)
        at, total = second, ca.vertcat(first[1], 0.5 * total[0])
        numbers.append(first[i % 5])
    return ca.Function(name, [x, y], [ca.vertcat(*numbers), at])


def compiled(functions: dict[str, ca.Function], folder: pathlib.Path) -> tuple[ctypes.CDLL, dict[str, str]]:
    files = Written.of(functions, "some").in_files()
    for name, text in files.items():
        (folder / name).write_text(text.replace("SHARED int", "int"))
    (folder / "portable.h").write_bytes(build.sources()["portable.h"])
    name = library_name("functions", host_platform())
    with Compilation(find_compiler(), folder, name, build.headers()) as compilation:
        for file in files:
            if file.endswith(".c"):
                compilation.start(file, ["-O2", "-fvisibility=default"], ["equations.h", "portable.h"])
        (folder / name).write_bytes(compilation.library())
    return ctypes.CDLL(str(folder / name)), files


def called(library: ctypes.CDLL, function: ca.Function, *arguments: list[float] | None) -> list[bytes]:
    """Results as bytes; an argument of None is NULL."""
    given = [None if a is None else (ctypes.c_double * len(a))(*a) for a in arguments]
    results = [(ctypes.c_double * function.numel_out(i))() for i in range(function.n_out())]
    inputs = (ctypes.c_void_p * function.sz_arg())(*[a and ctypes.addressof(a) for a in given])
    outputs = (ctypes.c_void_p * function.sz_res())(*map(ctypes.addressof, results))
    work = (ctypes.c_double * max(function.sz_w(), 1))()
    integers = (ctypes.c_int * max(function.sz_iw(), 1))()
    assert getattr(library, f"some_{function.name()}")(inputs, outputs, integers, work, 0) == 0
    return [bytes(result) for result in results]


@pytest.mark.usefixtures("short")
def test_pieces_give_the_bits_of_the_whole(tmp_path):
    functions = {"numbers": row("numbers", 400, 1), "few": row("few", 3, 2), "calls": caller("calls")}
    library, files = compiled(functions, tmp_path)
    assert len(files) > 8
    text = "".join(files.values())
    assert all(f"casadi_f{i}_3" in text for i, body in cut(functions).items() if body > 60)
    for function in functions.values():
        sizes = [function.numel_in(i) for i in range(2)]
        arguments = [[(-1) ** k * 0.37 * (k + 1) for k in range(size)] for size in sizes]
        for given in (arguments, [None, arguments[1]]):
            expected = function(*(ca.DM.zeros(n) if a is None else ca.DM(a) for n, a in zip(sizes, given, strict=True)))
            bits = [struct.pack(f"{e.numel()}d", *e.full().ravel()) for e in expected]
            assert called(library, function, *given) == bits, function.name()


def cut(functions: dict[str, ca.Function]) -> dict[int, int]:
    """Lengths of the functions that CasADi writes, by their numbers."""
    bodies = Written.of(functions, "some").bodies
    return {int(name.removeprefix("casadi_f")): body.count("\n") for name, body in bodies.items()}


@pytest.mark.usefixtures("short")
def test_statements_of_another_kind_stay_whole():
    assert pieces._pieces("  a0=arg[0][1];\n  for (;;) break;\n" * 20 + "  return 0;\n") == []
    assert pieces._pieces("  int n;\n  /* #0: @0 = f() */\n  n = 1;\n  return 0;\n") == []
    assert pieces._pieces("  casadi_real *w0=w+3, *rr;\n  /* #0: @0 = f() */\n  *w0 = *rr;\n  return 0;\n") == []


def test_a_library_of_several_files_is_the_same_every_time(system, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "FILE", 1)
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


@pytest.mark.skipif(os.name != "posix", reason="nm of POSIX")
def test_files_share_names_that_nobody_else_has(system, tmp_path, monkeypatch):
    """Several source-code FMUs can be linked into one program; their shared names begin with the model's."""
    monkeypatch.setattr(pieces, "FILE", 1)
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
