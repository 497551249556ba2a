"""Random call sequences from a C host, under the sanitizers of the compiler and, where it is there, valgrind."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest
from native_driver import GUID
from native_models import everything

from mbfmu.export.compilers import require_compiler
from mbfmu.export.native import write_sources
from mbfmu.export.references import value_references

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent.parent / "templates" / "native" / "include"


@pytest.fixture(scope="module")
def host(library, tmp_path_factory):
    """Return a function that compiles the host with the model's sources and runs it."""
    built = library(everything)
    folder = tmp_path_factory.mktemp("host")
    write_sources(everything()[0], built.variables, GUID, folder)
    references = dict(zip((v.name for v in built.variables), value_references(built.variables), strict=True))
    compiler = require_compiler().command
    equations = everything()[0]
    arguments = [
        *(str(references[name]) for name in ("u", "damping")),
        *map(str, (equations.nx, equations.time_switches.count(False))),
    ]

    def run(sequences, *flags, under=()):
        command = [*compiler, "-std=c99", "-g", "-O1", *flags, "-I", str(HEADERS), "-o", str(folder / "host")]
        made = subprocess.run(
            [*command, str(HERE / "host.c"), str(folder / "fmu.c"), "-lm"], capture_output=True, text=True, check=False
        )
        if made.returncode:
            pytest.skip(f"the compiler has no {' '.join(flags)}: {made.stderr[:200]}")
        return subprocess.run(
            [*under, str(folder / "host"), GUID, str(sequences), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_random_sequences_meet_no_wrong_status_and_no_undefined_behaviour(host):
    run = host(300, "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not there")
def test_valgrind_finds_no_use_of_values_that_were_never_set(host):
    run = host(5, under=("valgrind", "-q", "--error-exitcode=9", "--leak-check=full"))
    assert run.stderr == ""
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
