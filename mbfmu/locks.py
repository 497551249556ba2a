"""Files that one process at a time holds."""

from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from mbfmu.errors import ModelError

#: Time between looks at a file that another process holds [s].
PAUSE = 0.05


@contextlib.contextmanager
def alone(file: pathlib.Path, busy: str | None = None) -> Iterator[None]:
    """Hold a file, in a folder that is made for it, that only one process at a time holds; it is gone in the end.

    The system takes it back from a process that was killed.

    Args:
        file: The file.
        busy: What is said where another process holds it; None: wait for that.

    Raises:
        ModelError: Another process holds it, and `busy` says so.
        OSError: The file cannot be made.
    """
    while True:
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            held = file.open("a")
        except FileNotFoundError:  # who held it was just about to delete the folder
            continue
        if not _lock(held):
            held.close()
            if busy is not None:
                raise ModelError(busy)
            time.sleep(PAUSE)
            continue
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(held.fileno()), file.stat()):
                break
        held.close()  # it is one that was deleted meanwhile
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            file.unlink()
        held.close()
        with contextlib.suppress(OSError):  # of a system that deletes no file that is open
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # where there is more in it
            file.parent.rmdir()


def _lock(file: Any) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK)  # others: the file system has no locks
    return True
