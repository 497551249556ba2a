"""Compiled libraries of earlier builds, kept so that the same sources are not compiled twice."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import secrets
import sys
import warnings
from collections.abc import Callable, Iterable

from mbfmu.locks import alone

#: Size that the folder may have, in bytes, unless MBFMU_CACHE_SIZE has another; what was used longest ago goes first.
LIMIT = 100_000_000


def limit() -> int:
    """Return the size that the folder may have: that of MBFMU_CACHE_SIZE, in bytes, else `LIMIT`."""
    named = os.environ.get("MBFMU_CACHE_SIZE", "")
    if named and not named.isdecimal():
        warnings.warn(
            f"MBFMU_CACHE_SIZE = {named!r:.60} is no number of bytes, so that {LIMIT} counts; give one, such as "
            "1000000000",
            stacklevel=2,
        )
    return int(named) if named.isdecimal() else LIMIT


def folder() -> pathlib.Path | None:
    """Return the folder of the cache: that of MBFMU_CACHE, else the user's; None where MBFMU_CACHE is empty or 0."""
    named = os.environ.get("MBFMU_CACHE")
    if named is not None:
        return pathlib.Path(named) if named not in ("", "0") else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return pathlib.Path(base).expanduser() / "mbfmu"


def cached(origin: Iterable[bytes], make: Callable[[], bytes]) -> bytes:
    """Return what `make` makes of `origin`, or what it made before of the same.

    The cache is a convenience: where it cannot be read or written, everything is made anew. Of processes that want the
    same at once, one makes it, and the others wait.
    """
    place = folder()
    if place is None:
        return make()
    digest = hashlib.sha256()
    for part in origin:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    entry = place / digest.hexdigest()
    known = _read(entry)
    if known is not None:
        return known
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            stack.enter_context(alone(entry.with_suffix(".lock")))
            known = _read(entry)  # what another process has made meanwhile
        if known is not None:
            return known
        made = make()
        with contextlib.suppress(OSError):
            part_file = entry.with_suffix(f".{secrets.token_hex(4)}")
            part_file.write_bytes(hashlib.sha256(made).digest() + made)
            part_file.replace(entry)
            _trim(place)
        return made


def _read(entry: pathlib.Path) -> bytes | None:
    """What is kept there, if it is whole."""
    with contextlib.suppress(OSError):
        content = entry.read_bytes()
        checksum, made = content[:32], content[32:]
        if hashlib.sha256(made).digest() == checksum:
            os.utime(entry)
            return made
    return None


def _trim(place: pathlib.Path) -> None:
    files = sorted(((file.stat(), file) for file in place.iterdir()), key=lambda item: -item[0].st_mtime)
    total, allowed = 0, limit()
    for status, file in files:
        total += status.st_size
        if total > allowed:
            file.unlink()
