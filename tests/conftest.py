"""Fixtures and settings that every test shares."""

from __future__ import annotations

import os
import pathlib

import hypothesis
import pytest

# The first call of a CasADi function costs more than any deadline; a fixed seed makes a failure repeatable.
hypothesis.settings.register_profile("mbfmu", deadline=None, derandomize=True)
hypothesis.settings.load_profile("mbfmu")

ROOT = pathlib.Path(__file__).resolve().parent.parent


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
