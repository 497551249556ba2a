"""The C files of the runtime: each is read alone, and many units make the library that one makes."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from hand_made_models import everything, iterated
from hosts import FMUS, GUID, Library, model_and_variables

from mbfmu.export import native
from mbfmu.runtime import build
from mbfmu.runtime.cache import cached
from mbfmu.runtime.compilers import Compilation, Compiler, find_compiler, host_platform, library_name

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNTIME = ROOT / "templates" / "runtime"

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def write_sources(folder, kind, model=everything):
    """Write all C files, of a model whose equations are compiled or of any, and return those that are units."""
    folder.mkdir(exist_ok=True)
    if kind == "compiled":
        native.write_sources(*model_and_variables(model), GUID, folder)
        left_out = {"equations.c"}
    else:
        build.write_sources(folder)
        left_out = set(build.OF_ONE_MODEL)
    left_out |= {*build.WHOLE, *build.REPEATED}
    return [file for file in sorted(folder.glob("*.c")) if file.name not in left_out]


def read_alone(command, files, folder):
    """Let a compiler look at each file alone; returns its errors."""
    words = ["-std=c99", "-fsyntax-only", "-x", "c"]

    def errors():
        include = ["-I", str(folder), "-I", str(build.headers())]
        done = subprocess.run(
            [*command, *words, *include, *map(str, files)], capture_output=True, text=True, check=False
        )
        found = [line for line in done.stderr.splitlines() if "error" in line or "implicit declaration" in line]
        return "\n".join(found).encode()

    origin = Compiler(tuple(command), host_platform()).origin(
        [*words, *(file.name for file in files)], [*folder.glob("*.[ch]"), *build.headers().iterdir()]
    )
    return cached(origin, errors).decode().splitlines()


@pytest.mark.slow
@pytest.mark.campaign(keep=1)
@pytest.mark.parametrize(("compiler", "kind"), [("cc", "compiled"), ("clang", "compiled"), ("clang", "interpreted")])
@pytest.mark.usefixtures("users_compiler")
def test_each_file_and_each_header_is_read_alone(compiler, kind, tmp_path):
    command = find_compiler().command if compiler == "cc" else (shutil.which("clang"),)
    if command[0] is None:
        pytest.skip(f"no {compiler}")
    write_sources(tmp_path, kind)
    left_out = {"lane_functions.c", "elimination.h", "equations.c", "descriptor_data.h"}
    if kind == "interpreted":
        left_out |= {*build.OF_ONE_MODEL}
    files = [file for file in sorted(tmp_path.glob("*.[ch]")) if file.name not in left_out]
    assert {"integrator.c", "integrator.h", "functions.c", "runtime.h"} <= {file.name for file in files}
    assert read_alone(command, files, tmp_path) == []


def test_each_file_has_its_header():
    """But for libraries, of which the standard has the headers, and for what is included several times."""
    for file in RUNTIME.glob("*.c"):
        if file.name not in {*build.WHOLE, *build.REPEATED, "own_model.c", "fmi2.c", "fmi3.c"}:
            includes = [line for line in file.read_text().splitlines() if line.startswith("#include")]
            assert includes[0] == f'#include "{file.stem}.h"', "a header that comes first brings what it needs"


def test_all_files_are_part_of_the_one_unit():
    """A file that stands in no list would be missing in libraries only when something calls it."""
    whole = "".join((RUNTIME / name).read_text() for name in build.WHOLE)
    for file in [*RUNTIME.glob("*.c")]:
        assert file.name in build.WHOLE or f'#include "{file.name}"' in whole, file.name


def run_of(library):
    """All that changes in an instance, in the course of a run."""
    slave = library.slave(tolerance=1e-6)
    slave.start()
    states = []
    for _ in range(4):
        slave.step(0.25)
        states.append(slave.save())
    return states


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("model", [everything, iterated])
@pytest.mark.parametrize("kind", FMUS)
def test_many_units_make_the_library_that_one_makes(kind, model, tmp_path):
    """The same runs to the last bit."""
    one = Library(kind, *model_and_variables(model), tmp_path / "one")
    units = write_sources(tmp_path / "sources", kind, model)
    many = Library(kind, *model_and_variables(model), tmp_path / "many")
    name = library_name("model", host_platform())
    with Compilation(find_compiler(), tmp_path / "sources", name, build.headers()) as compilation:
        for unit in units:
            compilation.start(unit.name, ["-O1"], [file.name for file in (tmp_path / "sources").glob("*.[ch]")])
        made = compilation.library()
    assert made != many.path.read_bytes()
    many.path.write_bytes(made)
    assert run_of(many) == run_of(one)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="make is there on Unix")
def test_clangd_is_told_how_each_file_is_compiled(monkeypatch, tmp_path):
    from distribution import compile_commands

    monkeypatch.setattr(compile_commands, "ROOT", tmp_path)
    compile_commands.main()
    entries = json.loads((tmp_path / "compile_commands.json").read_text())
    assert {pathlib.Path(entry["file"]).name for entry in entries} >= {file.name for file in RUNTIME.glob("*.c")}
    for entry in entries:
        if pathlib.Path(entry["file"]).name in ("integrator.c", "own_model.c", "functions.c"):
            command = [*find_compiler().command, "-fsyntax-only", *entry["arguments"][1:]]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.stderr == ""
