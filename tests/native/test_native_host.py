"""C hosts linked with the FMU's sources: random call sequences under sanitizers and valgrind, memory, real time."""

from __future__ import annotations

import dataclasses
import pathlib
import shutil
import subprocess
import sys

import pytest
from native_driver import GUID
from native_models import everything

from mbfmu.export.native import write_sources
from mbfmu.runtime.compilers import require_compiler
from mbfmu.runtime.references import value_references

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent.parent / "templates" / "runtime" / "include"


@pytest.fixture
def host(library, tmp_path):
    """Return a function that compiles a host with the sources of the model of everything and runs it."""
    variables = library(everything).variables

    def run(program, *arguments, flags=(), under=(), **options):
        write_sources(dataclasses.replace(everything()[0], **options), variables, GUID, tmp_path)
        command = [*require_compiler().command, "-std=c99", "-g", "-O1", *flags, "-I", str(HEADERS)]
        command += ["-o", str(tmp_path / "host"), str(HERE / program), str(tmp_path / "fmu.c"), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            pytest.skip(f"the compiler has no {' '.join(flags)}: {made.stderr[:200]}")
        return subprocess.run(
            [*under, str(tmp_path / "host"), GUID, *map(str, arguments)], capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def sequences(host, library):
    """Return a function that drives the FMU through random sequences of calls."""
    variables, equations = library(everything).variables, everything()[0]
    references = dict(zip((v.name for v in variables), value_references(variables), strict=True))

    def run(count, **options):
        sizes = equations.nx, equations.time_switches.count(False)
        return host("host.c", count, references["u"], references["damping"], *sizes, **options)

    return run


def test_random_sequences_meet_no_wrong_status_and_no_undefined_behaviour(sequences):
    run = sequences(1000, flags=("-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
    assert run.stderr == ""
    assert run.returncode == 0


def test_implicit_steps_have_no_undefined_behaviour(sequences):
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run = sequences(100, flags=flags, solver="implicit")
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not there")
def test_valgrind_finds_no_use_of_values_that_were_never_set(sequences):
    run = sequences(6, under=("valgrind", "-q", "--error-exitcode=9", "--leak-check=full"))
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_instances_leave_nothing_behind(host):
    run = host("many_instances.c", 10_000)
    assert run.returncode == 0
    assert int(run.stdout) < 200


@pytest.mark.skipif(sys.platform != "linux", reason="wraps functions as GNU ld does")
@pytest.mark.parametrize("solver", ["explicit", "implicit"])
def test_fixed_steps_never_allocate(host, solver):
    flags = [f"-Wl,--wrap={name}" for name in ("malloc", "calloc", "realloc")]
    run = host("no_allocation.c", flags=flags, solver=solver, fixed_step=0.005)
    assert run.returncode == 0


def test_a_model_of_everything_keeps_its_invariants(library):
    slave = library(everything).slave(tolerance=1e-9).start()
    assert slave.get("free", "x11") == pytest.approx([slave.get("x0")] * 2, rel=1e-12)
    for i in range(200):
        slave.set("u", 0.5 if i % 20 < 10 else -0.5)
        slave.step(0.01)
        assert slave.get("y1") == (slave.get("x0") >= 0)
        assert slave.get("y2") == (slave.time >= 0.25)
        values = slave.get(*(f"x{i}" for i in range(12)))
        assert values[0] ** 2 + values[1] ** 2 == pytest.approx(1.0, abs=1e-13)
        assert sum(value**2 for value in values[2:6]) == pytest.approx(1.0, abs=1e-14)
