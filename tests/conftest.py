"""Fixtures and settings that every test shares."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

# The first call of a CasADi function costs more than any deadline; a fixed seed makes a failure repeatable.
hypothesis.settings.register_profile("mbfmu", deadline=None, derandomize=True)
hypothesis.settings.load_profile("mbfmu")

ROOT = pathlib.Path(__file__).resolve().parent.parent

#: What `make quick` leaves out: FMUs by the dozen, compilers, browsers, other programs, thousands of damaged files.
SLOW = {
    "tests/components/test_robot_r3.py",
    "tests/cosimulation",
    "tests/docs/test_docstrings.py",
    "tests/docs/test_pages.py",
    "tests/docs/test_own_components.py",
    "tests/docs/test_readme.py",
    "tests/docs/test_site.py",
    "tests/docs/test_studies.py",
    "tests/dynamics",
    "tests/export",
    "tests/faults",
    "tests/fmi",
    "tests/fmus",
    "tests/hosts",
    "tests/importers",
    "tests/runtime",
    "tests/scene",
    "tests/studies",
    "tests/test_benchmarks.py",
    "tests/test_cli.py",
    "tests/test_project.py",
    "tests/test_reference.py",
    "tests/test_validation.py",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long; pytest says how many tests `-m "not slow"` left out."""
    for item in items:
        path = item.path.relative_to(ROOT).as_posix()
        if any(path == slow or path.startswith(f"{slow}/") for slow in SLOW):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def _loggers_live_on() -> Iterator[None]:
    """Keep the loggers that runs of FMPy are given: its proxy in C goes on to call the last one, in later runs, too."""
    import fmpy.logging

    add, kept = fmpy.logging.addLoggerProxy, []

    def add_and_keep(callbacks: Any) -> None:
        kept.append(callbacks._obj)
        add(callbacks)

    fmpy.logging.addLoggerProxy = add_and_keep
    yield
    fmpy.logging.addLoggerProxy = add


@pytest.fixture(scope="session")
def reference() -> pathlib.Path:
    """Return the folder of reference cases: that of MBFMU_REFERENCE, else ../shared/reference; skip where it is not."""
    named = os.environ.get("MBFMU_REFERENCE")
    folder = pathlib.Path(named) if named else ROOT.parent / "shared" / "reference"
    if not folder.is_dir():
        pytest.skip(f"no reference trajectories in {folder}; MBFMU_REFERENCE names another folder")
    return folder


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """Return the checkout's root folder."""
    return ROOT
