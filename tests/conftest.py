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


def reference_folder() -> pathlib.Path | None:
    """Return the folder of reference cases: MBFMU_REFERENCE, else ../shared/reference, else None."""
    named = os.environ.get("MBFMU_REFERENCE")
    folder = pathlib.Path(named) if named else ROOT.parent / "shared" / "reference"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def root() -> pathlib.Path:
    """Return the checkout's root folder."""
    return ROOT
