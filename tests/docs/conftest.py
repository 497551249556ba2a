"""What the documents show, as files: code blocks that begin with a comment which names a file."""

from __future__ import annotations

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

BLOCK = re.compile(r"^```(?:python|toml)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def code_blocks(page: pathlib.Path) -> list[str]:
    """Return the Python and TOML blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


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
