"""Models in the hosts of the runtime, each made once."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hosts import FMUS, HOSTS, Library, model_and_variables
from sanitized import SANITIZERS

from mbfmu.runtime.compilers import find_compiler

HAS_COMPILER = find_compiler() is not None


@pytest.fixture(scope="session")
def library_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Library]:
    """Return a function of host, model and fields of its record: it makes the library, or finds it made."""
    known: dict[Any, Library] = {}

    def get(host: str, model: Callable[[], Any], **options: Any) -> Library:
        if host == "compiled" and not HAS_COMPILER:
            pytest.skip("no C compiler")
        key = (host, model, os.environ.get("CC"), *options.items())
        if key not in known:
            known[key] = Library(host, *model_and_variables(model, **options), tmp_path_factory.mktemp("library"))
        return known[key]

    return get


def _in_host(library_in: Callable[..., Library], host: str) -> Callable[..., Library]:
    def get(model: Callable[[], Any], **options: Any) -> Library:
        return library_in(host, model, **options)

    return get


@pytest.fixture(params=HOSTS)
def library(request: pytest.FixtureRequest, library_in: Callable[..., Library]) -> Callable[..., Library]:
    """Return a function that makes a model's library; tests with it run in every host."""
    return _in_host(library_in, request.param)


@pytest.fixture(params=FMUS)
def fmu_library(request: pytest.FixtureRequest, library_in: Callable[..., Library]) -> Callable[..., Library]:
    """Return a function that makes a model's library; tests with it run with compiled and interpreted equations."""
    return _in_host(library_in, request.param)


@functools.cache
def _has_sanitizers(command: tuple[str, ...]) -> bool:
    """Can a compiler link programs with sanitizers?"""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "empty.c")
        file.write_text("int main(void) { return 0; }\n", encoding="utf-8")
        words = [*command, *SANITIZERS, "-o", str(file.with_suffix("")), str(file)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.fixture
def compiler_with_sanitizers(
    as_users_compile: Callable[[], contextlib.AbstractContextManager[None]],
) -> Iterator[None]:
    """Take the suite's compiler where it has sanitizers: clang compiles with them in half the time of gcc."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    with contextlib.nullcontext() if _has_sanitizers(tuple(compiler.command)) else as_users_compile():
        yield
