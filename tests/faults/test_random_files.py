"""A short run of random assembly files, and texts of hypothesis's: what is raised is an MbfmuError."""

from __future__ import annotations

import contextlib
import pathlib

import hypothesis
import pytest
import random_toml
from hypothesis import strategies as st

from mbfmu.errors import MbfmuError
from mbfmu.modeling.assembly_file import load_assembly


@pytest.mark.slow
def test_random_files_are_refused_or_accepted(tmp_path: pathlib.Path) -> None:
    found = [random_toml.one(seed, tmp_path / "model.toml") for seed in range(150)]
    assert not [message for outcome, message in found if outcome == "finding"]
    assert {outcome for outcome, _ in found} <= {"accepted", "refused"}


VALUES = st.recursive(
    st.one_of(st.integers(), st.floats(), st.booleans(), st.text(max_size=5), st.dates(), st.times()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(random_toml.KEYS), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@pytest.mark.campaign
@hypothesis.settings(max_examples=150)
@hypothesis.given(st.dictionaries(st.sampled_from(["component", "connect", "input", "experiment", "world"]), VALUES))
def test_any_structure_is_refused_or_read(record: dict[str, object]) -> None:
    """Values of any type under the keys of the format, as `tomllib` would give them."""
    from mbfmu.modeling import assembly_file

    with contextlib.suppress(MbfmuError):
        assembly_file.check_structure(record)
        assembly_file._Reader(record, "model")


@pytest.mark.slow
@hypothesis.settings(max_examples=150)
@hypothesis.given(st.text(max_size=60))
def test_any_text_is_refused_or_read(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.toml"
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        with contextlib.suppress(MbfmuError):
            load_assembly(file)
