"""The C compiler of the suite: most of what it compiles runs for some milliseconds."""

from __future__ import annotations

import pathlib
import shlex
import shutil


def unoptimized(checkout: pathlib.Path) -> str | None:
    """What CC is to be: a compiler that does not optimise, clang where it is; None where there is none."""
    compiler = next(filter(None, map(shutil.which, ("clang", "cc", "gcc"))), None)
    return shlex.join([str(checkout / "tests" / "unoptimized"), compiler]) if compiler else None
