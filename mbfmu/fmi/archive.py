"""An FMU, or a package of them, as an archive: opened, read and unpacked with limits, whoever made it."""

from __future__ import annotations

import collections
import dataclasses
import lzma
import pathlib
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from mbfmu.errors import ValidationError
from mbfmu.markup import xml_root

#: What an FMU may unpack to, one entry and all: a few megabytes of zeros packed would else fill memory and disk.
LARGEST_ENTRY, LARGEST = 2**28, 2**32

#: In how many folders an entry of an FMU may be, and the letters of its path.
DEEPEST, LONGEST = 50, 1000


class Damaged(Exception):
    """An entry of an archive cannot be read; the message is a sentence."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of archive: what it is called, and the entry that describes it."""

    name: str
    description: str


FMU, PACKAGE = Kind("FMU", "modelDescription.xml"), Kind("SSP package", "SystemStructure.ssd")


def open_fmu(path: pathlib.Path, kind: Kind = FMU) -> tuple[list[str], etree._Element]:
    """Return the names in an archive and the root of its modelDescription.xml, or of what its kind has instead.

    Raises:
        ValidationError: The file is not of the kind, or unpacks to more than any.
    """
    article = f"an {kind.name}"
    if not path.is_file():
        raise ValidationError(f"{path}: no such file; give the path of {article}.")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            total = sum(entry.file_size for entry in archive.infolist())
            if total > LARGEST:
                raise ValidationError(
                    f"{path}: unpacks to {total / 1e9:.1f} GB, more than the {LARGEST / 1e9:.1f} GB that {article} "
                    "may have; get it from another place."
                )
            if kind.description not in names:
                raise ValidationError(
                    f"{path}: is not {article}, for it has no {kind.description}; give the path of {article}."
                )
            description = content(archive, kind.description)
    except (zipfile.BadZipFile, OSError, ValueError):
        message = f"{path}: is not {article}, for it is no ZIP archive; give the path of {article}."
        raise ValidationError(message) from None
    except Damaged as damage:
        raise ValidationError(f"{path}: {damage} Build it again, or copy it again.") from None
    try:
        return names, xml_root(description)
    except etree.XMLSyntaxError as error:
        raise ValidationError(f"{path}: {kind.description} is not XML ({error}); build it again.") from None


def content(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return what an entry contains.

    Raises:
        Damaged: It is damaged, encrypted, of another compression or too large.
    """
    size = archive.getinfo(name).file_size
    if size > LARGEST_ENTRY:
        raise Damaged(f'The entry "{name}" unpacks to {size / 1e9:.1f} GB, which no FMU needs.')
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, lzma.LZMAError):
        raise Damaged(f'The entry "{name}" of the archive is damaged.') from None


def unpack(path: str | pathlib.Path, folder: str | pathlib.Path, kind: Kind = FMU) -> None:
    """Unpack an FMU, or a package, into a folder.

    Raises:
        ValidationError: Names in it lead out of the folder or too deep into it, it is damaged, or larger than FMUs are.
    """
    open_fmu(pathlib.Path(path), kind)
    try:
        with zipfile.ZipFile(path) as archive:
            wrong = next((text for entry in archive.infolist() for text in _place_problems(entry.orig_filename)), None)
            if wrong is not None:
                raise ValidationError(f"{path}: {wrong} Build it again.")
            archive.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, lzma.LZMAError) as error:
        raise ValidationError(f"{path}: cannot be unpacked ({error}); build it again, or copy it again.") from None


def archive_problems(path: pathlib.Path) -> Iterator[str]:
    """ZIP rules of FMI 2.0.4, section 2.3: relative paths with forward slashes, stored or deflated."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        for entry in entries:
            try:
                content(archive, entry.filename)
            except Damaged as damage:
                yield str(damage)
    for name, count in collections.Counter(entry.filename for entry in entries).items():
        if count > 1:
            yield f'The archive has {count} entries "{name}".'
    for entry in entries:
        name = entry.orig_filename
        placed = list(_place_problems(name))
        yield from placed
        if not placed and (name.startswith("./") or posixpath.normpath(name) != name.rstrip("/")):
            yield f'The entry "{name}" is not a plain relative path.'
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            yield f'The entry "{name}" is neither stored nor deflated.'
        if entry.flag_bits & 1:
            yield f'The entry "{name}" is encrypted.'


def _place_problems(name: str) -> Iterator[str]:
    """What keeps an entry from being unpacked: names that lead out of the folder, or deeper than folders may be."""
    short = name if len(name) <= 80 else f"{name[:60]} ..."
    if "\\" in name:
        yield f'The entry "{short}" has a backslash; FMI wants forward slashes.'
    elif name.startswith("/") or re.match(r"[A-Za-z]:", name) or ".." in name.split("/"):
        yield f'The entry "{short}" leads out of the archive.'
    elif name.count("/") > DEEPEST or len(name) > LONGEST:
        yield f'The entry "{short}" is in {name.count("/")} folders, its path has {len(name)} letters; too deep.'
