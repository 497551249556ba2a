"""What the documents show, as files: code blocks that begin with a comment which names a file."""

from __future__ import annotations

import importlib
import pathlib
import subprocess
import sys

import pytest
from code_blocks import code_blocks


@pytest.fixture(scope="session")
def workshop(root: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Install the package of docs/own-components.md into a folder of its own and return the folder of its sources."""
    sources, installed = tmp_path_factory.mktemp("workshop"), tmp_path_factory.mktemp("installed")
    for block in code_blocks(root / "docs" / "own-components.md"):
        name = block.partition("\n")[0].removeprefix("# ")
        (sources / name).parent.mkdir(exist_ok=True)
        (sources / name).write_text(block, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--target", str(installed), str(sources)], check=True)
    sys.path.insert(0, str(installed))
    importlib.invalidate_caches()
    return sources
