"""Words of messages: what a wrong name was meant to be, how things are called and counted."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def suggestion(name: str, known: Any, see: str = "mbfmu info", sentences: Mapping[str, str] | None = None) -> str:
    """What a name that nothing has was meant to be, as the end of a message.

    Args:
        name: What was given.
        known: The names that there are.
        see: A command that lists them.
        sentences: What some of them are, by name.

    Returns:
        The known names that are most like `name`, or whose sentences have it as a word; all where they are few, or what
        to `see`.
    """
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    sentences = sentences or {}
    word = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
    found = [(m.start(), other) for other, doc in sentences.items() if other in names and (m := word.search(doc))]
    if found:
        return f"did you mean {' or '.join(f'{other} ({sentences[other]})' for _, other in sorted(found)[:2])}?"
    return f"known: {', '.join(names)}" if len(names) <= 12 else f"see `{see}`"


def not_recorded(name: str, kind: str = "String") -> str:
    """Message about a variable of a type that is no number."""
    return f"'{name}' is of type {kind}; only numbers are recorded, leave it out"


def unknown_variable(name: str, names: Iterable[str]) -> str:
    """Message about a name that does not exist, with the nearest ones that do."""
    known, name = list(names), str(name)
    element = next((other for other in known if other.startswith(f"{name}[")), None)
    if element is not None:
        return f"'{name}' is a vector or an array; name its elements, such as '{element}'"
    near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    near = near or [other for other in known if name.lower() in other.lower()][:4]
    hint = f"; did you mean {', '.join(repr(other) for other in near)}?" if near else ""
    return f"there is no variable '{name}'{hint}"


def of(what: str, path: str) -> str:
    """How messages call a nameless thing of a component."""
    return f"{what} of {path}" if path else what


def heading(path: str) -> str:
    """How messages about a component begin."""
    return f"{path}: " if path else ""


def counted(number: int, what: str) -> str:
    """How messages tell how many there are of something."""
    return f"{number} {what}" + ("" if number == 1 else "s")


def some(names: Sequence[str], most: int = 4) -> str:
    """A few names in a row, as messages tell them."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
