"""Names and texts that an FMU can carry: what a component, an input or a file may be called."""

from __future__ import annotations

import re

from mbfmu.errors import ModelError

#: Names of variables under the convention `structured` (FMI 2.0.4, section 2.2.9), and a part of one between dots.
_QUOTED = r"'(?:[^'\\\x00-\x1f]|\\['\"?\\abfnrtv])+'"
_PART = rf"(?:[A-Za-z_][A-Za-z0-9_]*|{_QUOTED})(?:\[\d+(?:,\d+)*\])?"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*")
STRUCTURED = re.compile(rf"{_PART}(?:\.{_PART})*|der\({_PART}(?:\.{_PART})*(?:,\d+)?\)")

#: Names of files that every system takes, without its ending.
_FILE_NAME = re.compile(r"\w(?:[\w .-]{0,98}\w)?")

#: Characters that XML 1.0 has no place for.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def joined(path: str, name: object) -> str:
    """Name in the model of what a component has; '' is the path of the model itself."""
    return f"{path}.{name}" if path else str(name)


def checked_name(name: str, what: str) -> str:
    """`name`, which may be the name of a component, an input or an output; `what` says of which.

    Raises:
        ModelError: FMI allows no such name.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ModelError(
            f"{what}: {name!r} can be no name in an FMU; use letters (A to Z, a to z), digits and underscores, "
            "with no digit in front"
        )
    return name


def checked_file_name(name: str, what: str) -> str:
    """`name`, which a file may have that is written beside others: it leads to no other folder.

    Raises:
        ModelError: it may lead somewhere else, or is none on some system.
    """
    if not isinstance(name, str) or not _FILE_NAME.fullmatch(name):
        raise ModelError(
            f"{what}: {name!r:.80} can be no name of a file; use letters, digits, underscores, and blanks, dots or "
            "hyphens between them"
        )
    return name


def checked_text(text: str, what: str) -> str:
    """`text`, which an XML file may carry.

    Raises:
        ModelError: it has a control character.
    """
    if not isinstance(text, str):
        raise ModelError(f"{what} = {text!r}: is no text; write it in quotes")
    found = _UNWRITABLE.search(text)
    if found:
        raise ModelError(f"{what} = {text!r}: has the character {found[0]!r}, which an FMU cannot carry; leave it out")
    return text
