"""The ZIP archive of an FMU (FMI 2.0.4, section 2.3): reproducible, and complete or not there at all."""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import pathlib
import secrets
import tempfile
import zipfile
from collections.abc import Iterator
from typing import Self

from mbfmu.errors import BuildError

#: The first and last moments that a ZIP archive can tell.
_EARLIEST = datetime.datetime(1980, 1, 1, tzinfo=datetime.UTC)
_LATEST = datetime.datetime(2107, 12, 31, 23, 59, 58, tzinfo=datetime.UTC)


def build_date() -> datetime.datetime | None:
    """Return the date that files bear: that of SOURCE_DATE_EPOCH (seconds UTC), else None.

    The clock has no part in them: the same input gives the same bytes on any day.

    Raises:
        BuildError: SOURCE_DATE_EPOCH is set to something else than seconds since 1970.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if text is None:
        return None
    try:
        return datetime.datetime.fromtimestamp(int(text), datetime.UTC)
    except (ValueError, OverflowError, OSError):
        raise BuildError(f'SOURCE_DATE_EPOCH is "{text}"; set it to whole seconds since 1970, or unset it.') from None


@contextlib.contextmanager
def temporary_folder() -> Iterator[pathlib.Path]:
    """Yield a new folder that disappears with all that is in it.

    Raises:
        BuildError: There is no place for temporary files.
    """
    try:
        folder = tempfile.TemporaryDirectory(prefix="mbfmu-")
    except OSError as error:
        raise BuildError(
            f"no temporary folder can be made ({error}); set TMPDIR to a folder that you may write to."
        ) from None
    with folder as name:
        yield pathlib.Path(name)


@contextlib.contextmanager
def replacing(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yield a new, empty file beside `target` that takes its place when the block ends well, and else disappears.

    The file is made at once, so that an unwritable folder is known before any work is done.

    Raises:
        BuildError: The folder does not exist or cannot be written, or `target` is a folder or cannot be replaced.
    """
    if target.is_dir():
        raise BuildError(f"{target}: is a folder; give the path of the file to write.")
    if target.exists() and not target.is_file():  # a pipe or a device, which takes what is written
        with _room(target):
            yield target
        return
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        part.touch(exist_ok=False)
    except FileNotFoundError:
        raise BuildError(f"{target}: the folder {target.parent} does not exist; create it or choose another.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise BuildError(f"{target}: cannot be written ({reason}); choose a folder that you may write to.") from None
    try:
        with _room(target):
            yield part
        try:
            part.replace(target)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BuildError(f"{target}: cannot be replaced ({reason}); close what uses it.") from None
    finally:
        part.unlink(missing_ok=True)


@contextlib.contextmanager
def _room(target: pathlib.Path) -> Iterator[None]:
    """Tell of a full or broken disk with the name of the file that was to be written."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        raise BuildError(
            f"{target}: cannot be written ({error.strerror}); make room, or choose another folder, and TMPDIR for "
            "temporary files"
        ) from None


class Archive:
    """A ZIP archive in the making, the same bytes for the same content, order and date.

    Entries have forward slashes and no leading `./`, fixed permissions and all the same date: where there is none, the
    first one that an archive can tell.
    """

    def __init__(self, file: pathlib.Path, date: datetime.datetime | None) -> None:
        moment = _EARLIEST if date is None else date.astimezone(datetime.UTC)
        self._moment = min(max(moment, _EARLIEST), _LATEST).timetuple()[:6]
        self._archive = zipfile.ZipFile(file, "w")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def add(self, folder: pathlib.Path) -> None:
        """Add everything below `folder` that has not been added yet, sorted by name."""
        names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
        for name in sorted(names.keys() - set(self._archive.namelist())):
            entry = zipfile.ZipInfo(name, self._moment)
            entry.create_system = 3  # Unix, also where Windows writes: it decides how external_attr is read
            entry.external_attr = (0o100755 if name.startswith("binaries/") else 0o100644) << 16
            # Level 9 takes twice as long, for half a per cent.
            self._archive.writestr(entry, names[name].read_bytes(), zipfile.ZIP_DEFLATED, compresslevel=7)


def write_archive(folder: pathlib.Path, file: pathlib.Path, date: datetime.datetime | None) -> None:
    """Write everything below `folder` into the ZIP archive `file`."""
    with Archive(file, date) as archive:
        archive.add(folder)
