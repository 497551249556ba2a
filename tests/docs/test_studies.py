"""The pages of studies: their code runs, and draws the pictures that they show."""

from __future__ import annotations

import pathlib
import re

import pytest
from code_blocks import code_blocks

from mbfmu import cli

PAGES = ("inputs", "linearize", "equilibrium", "sweep", "fit")


@pytest.mark.slow
@pytest.mark.campaign("linearize", keep=2)
@pytest.mark.parametrize("page", PAGES)
def test_the_code_runs_and_draws(page, root: pathlib.Path, tmp_path: pathlib.Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    path = root / "docs" / f"{page}.md"
    exec("\n".join(code_blocks(path)), {})
    printed = capsys.readouterr().out
    for shown in re.findall(r"```text\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        assert printed.endswith(shown)
    assert (tmp_path / f"{page}.png").read_bytes().startswith(b"\x89PNG")
    assert (root / "docs" / "images" / "studies" / f"{page}.png").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["linearize", "equilibrium", "sweep", "fit"])
def test_every_command_has_help(command, capsys) -> None:
    assert cli.main([command, "--help"]) == 0
    assert f"mbfmu {command} " in capsys.readouterr().out
