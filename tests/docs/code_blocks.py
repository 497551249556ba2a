"""Code in the project's documents."""

from __future__ import annotations

import pathlib
import re

BLOCK = re.compile(r"^```(?:python|toml)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def code_blocks(page: pathlib.Path) -> list[str]:
    """Return the Python and TOML blocks of a page."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))
