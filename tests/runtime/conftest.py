"""Models in the hosts of the runtime, each made once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hosts import FMUS, HOSTS, Library, model_and_variables

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
