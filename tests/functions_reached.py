"""Which functions of the C runtime each test comes by, in whatever process: a plugin of pytest for tests/mutants.py.

While `told` lasts, each function of the sources in a folder marks that it was called in a file of shared memory, which
the environment names, one byte a function. The plugin clears it before a test and writes down what is marked after it.
Functions are known by their file and number there: their bodies begin with a line that is a brace.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import pathlib
import re
from collections.abc import Iterator

import pytest

#: Environment variables: the file for results, to which each process that runs tests adds; what is marked.
FILE = "MBFMU_FUNCTIONS_REACHED"
MARKS = "MBFMU_FUNCTIONS_MARKED"

#: More than there are functions.
SIZE = 4096

#: The line with which the body of a function begins, as it is or while functions tell.
_BODY = re.compile(r"^\{(?: MARK_FUNCTION\(\d+\);)?$", re.MULTILINE)

_MARKING = f"""
#ifdef __linux__
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile char *functions_marked;
__attribute__((constructor)) static void open_functions_marked(void)
{{
    const char *name = getenv("{MARKS}");
    int file = name ? open(name, O_RDWR) : -1;
    void *marks = file < 0 ? MAP_FAILED : mmap(NULL, {SIZE}, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    functions_marked = marks == MAP_FAILED ? NULL : marks;
}}
#define MARK_FUNCTION(number) (void)(functions_marked && (functions_marked[number] = 1))
#else
#define MARK_FUNCTION(number) (void)0
#endif
"""


def function_at(text: str, line: int) -> int | None:
    """Return the number of the function of C at a line, in its file; None between functions."""
    lines = text.splitlines()
    number = lines[:line].count("{") - 1
    begun = max((i for i, one in enumerate(lines[:line]) if one == "{"), default=len(lines))
    return number if begun < len(lines) and "}" not in lines[begun : line - 1] else None


def files_of(folder: pathlib.Path) -> list[tuple[str, int]]:
    """Return the name of each file, with the number of its functions."""
    return [(file.name, len(_BODY.findall(file.read_text("utf-8")))) for file in sorted(folder.glob("*.c"))]


@contextlib.contextmanager
def told(folder: pathlib.Path) -> Iterator[None]:
    """Have each function of a folder's sources tell for a while that it was called."""
    kept = {file: file.read_bytes() for file in sorted(folder.glob("*.[ch]"))}
    first = 0
    for name, number in files_of(folder):
        count = iter(range(first, first + number))
        text = kept[folder / name].decode()
        (folder / name).write_text(_BODY.sub(lambda _, count=count: f"{{ MARK_FUNCTION({next(count)});", text), "utf-8")
        first += number
    head = kept[folder / "portable.h"].decode()
    guard = "#define PORTABLE_H\n"
    (folder / "portable.h").write_text(head.replace(guard, f"#define _GNU_SOURCE\n{guard}{_MARKING}"), "utf-8")
    try:
        yield
    finally:
        for file, content in kept.items():
            file.write_bytes(content)


def read(file: pathlib.Path) -> dict[str, dict[int, set[str]]]:
    """Return the tests that come by each function of each file, by its number."""
    found: dict[str, dict[int, set[str]]] = {}
    for part in sorted(file.parent.glob(f"{file.name}.*")):
        for row in part.read_text("utf-8").splitlines():
            test, functions = json.loads(row)
            for name, numbers in functions.items():
                for number in numbers:
                    found.setdefault(name, {}).setdefault(number, set()).add(test)
    return found


class Recorder:
    """Writes down what is marked during each test."""

    def __init__(self, file: pathlib.Path, folder: pathlib.Path) -> None:
        self.file = file.with_name(f"{file.name}.{os.getpid()}")
        self.functions = [(name, i) for name, number in files_of(folder) for i in range(number)]
        marks = file.with_name(f"marks.{os.getpid()}")
        marks.write_bytes(bytes(SIZE))
        os.environ[MARKS] = str(marks)  # before any library is loaded
        with marks.open("r+b") as opened:
            self.marks = mmap.mmap(opened.fileno(), SIZE)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Clear before a test, read after it."""
        self.marks[:] = bytes(SIZE)
        result = yield
        found: dict[str, list[int]] = {}
        for (name, number), mark in zip(self.functions, self.marks[:], strict=False):
            if mark:
                found.setdefault(name, []).append(number)
        if found:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([item.nodeid, found]) + "\n")
        return result


def pytest_configure(config: pytest.Config) -> None:
    """Record in this process, if tests run here."""
    if FILE in os.environ:
        folder = config.rootpath / "templates" / "runtime"
        config.pluginmanager.register(Recorder(pathlib.Path(os.environ[FILE]), folder))
