"""What the tests of this folder share beside fixtures."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence

#: Runs a command that must be refused with a message that has certain words; returns the message.
Refused = Callable[[Sequence[str], Sequence[str]], str]


def left_in(folder: pathlib.Path) -> set[str]:
    """Return the files below a folder, but for what Python itself keeps of a module."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
