"""What all wrong inputs must end in: one message with certain words, exit code 2, and nothing left behind."""

from __future__ import annotations

import pathlib
import sys
import tempfile
from collections.abc import Sequence

import pytest
from refusals import Refused, left_in

from mbfmu import cli


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """Return an empty working directory; temporary files go to a folder beside it."""
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return work


@pytest.fixture
def refused(folder: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Run a command that must be refused; the message must have the words. Returns the message."""

    def run(arguments: Sequence[str], words: Sequence[str]) -> str:
        before = left_in(folder.parent)
        code = cli.main(list(arguments))
        shown = capsys.readouterr()
        assert code == 2, f"accepted: {shown.out}{shown.err}"
        assert "Traceback" not in shown.err
        message = shown.err.strip().splitlines()[-1]
        assert message.startswith("mbfmu: ")
        assert "a defect of mbfmu" not in message
        for word in words:
            assert word in message
        assert left_in(folder.parent) == before
        return message

    return run
