"""What `make mutants` knows of the C runtime: functions at lines, and which of them ran."""

from __future__ import annotations

import ctypes
import json
import pathlib
import subprocess
import types

import functions_reached
import pytest

from mbfmu.runtime.compilers import find_compiler

SOURCE = """#include "portable.h"

static const int TABLE[] = {1, 2};

static int twice(int number)
{
    if (number > 0) {
        number *= TABLE[1];
    }
    return number;
}

int never(void)
{
    return 0;
}

int answer(void)
{
    return twice(21);
}
"""


def test_a_line_belongs_to_the_function_around_it() -> None:
    at = [functions_reached.function_at(SOURCE, line + 1) for line in range(len(SOURCE.splitlines()))]
    assert at == [None] * 5 + [0] * 6 + [None] * 2 + [1] * 3 + [None] * 2 + [2] * 3


def test_functions_that_a_test_comes_by_are_written_down(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = find_compiler()
    if compiler is None or compiler.platform not in ("linux64", "aarch64-linux"):
        pytest.skip("no C compiler for Linux")
    (tmp_path / "portable.h").write_text("#ifndef PORTABLE_H\n#define PORTABLE_H\n#endif\n")
    (tmp_path / "one.c").write_text('#include "portable.h"\nvoid one(void)\n{\n}\n')
    (tmp_path / "two.c").write_text(SOURCE)
    monkeypatch.setenv(functions_reached.MARKS, "")
    with functions_reached.told(tmp_path):
        recorder = functions_reached.Recorder(tmp_path / "reached", tmp_path)
        command = [*compiler.command, "-std=c99", "-fPIC", "-shared", "-o", "two.so", "two.c"]
        subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "two.c").read_text() == SOURCE
    library = ctypes.CDLL(str(tmp_path / "two.so"))
    for name, function in (("a", library.answer), ("b", library.never), ("c", lambda: 42)):
        running = recorder.pytest_runtest_protocol(types.SimpleNamespace(nodeid=name))
        next(running)
        function()
        with pytest.raises(StopIteration):
            running.send(True)
    rows = [json.loads(row) for row in recorder.file.read_text().splitlines()]
    assert rows == [["a", {"two.c": [0, 2]}], ["b", {"two.c": [1]}]]
    assert functions_reached.read(tmp_path / "reached") == {"two.c": {0: {"a"}, 1: {"b"}, 2: {"a"}}}
