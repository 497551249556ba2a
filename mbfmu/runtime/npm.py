"""Programs of npm's packages, which make package data at set-up: they are fetched for that time, and kept nowhere."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence

from mbfmu.errors import BuildError

_TIMEOUT = 600
#: Without a network npm shall say so soon.
_PATIENCE = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000")


@contextlib.contextmanager
def workplace(sources: Iterable[pathlib.Path], purpose: str) -> Iterator[pathlib.Path]:
    """Give a folder with copies of files, among them `package.json`, and the packages installed that this names.

    Raises:
        BuildError: npm is not installed, or it fails; the message begins with `purpose`, a sentence.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise BuildError(f"{purpose}: npm is not installed; install Node.js, which brings it")
    with tempfile.TemporaryDirectory(prefix="mbfmu-npm-") as name:
        folder = pathlib.Path(name)
        for file in sources:
            shutil.copy(file, folder)
        run([npm, "install", "--no-audit", "--no-fund", "--no-save", "--loglevel=error", *_PATIENCE], folder, purpose)
        yield folder


def run(command: Sequence[str], folder: pathlib.Path, purpose: str) -> None:
    """Run a command in a folder.

    Raises:
        BuildError: it fails; the message is `purpose` and the last line of what it says.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BuildError(f"{purpose}: {error}") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["it failed without a message"]
        raise BuildError(f"{purpose}: {pathlib.Path(command[0]).name}: {lines[-1].strip()}")
