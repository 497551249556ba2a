"""Places in a file: what every message of a reader begins with, and numbers read from XML attributes."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from typing import Any

from lxml import etree

from mbfmu.errors import ModelError
from mbfmu.markup import xml_root


@dataclasses.dataclass(frozen=True)
class Place:
    """A file, and in it a line and an element, where they are known."""

    file: pathlib.Path
    line: int | None = None
    element: str = ""

    def __str__(self) -> str:
        line = f", line {self.line}" if self.line else ""
        return f"{self.file}{line}" + (f", {self.element}" if self.element else "")

    def error(self, message: str) -> ModelError:
        """An error that begins with this place; `message` says what is wrong and what to do."""
        return ModelError(f"{self}: {message}")


def parse_xml(path: pathlib.Path) -> Any:
    """Root element of an XML file; neither entities nor the network are used.

    Raises:
        ModelError: the file cannot be read or is no XML.
    """
    try:
        return xml_root(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror}); check the path and its permissions") from error
    except etree.XMLSyntaxError as error:
        raise Place(path, error.lineno).error(f"is no valid XML: {error.msg}") from error


def place_of(element: Any, path: pathlib.Path) -> Place:
    """Place of an XML element, which is called by its tag and name."""
    name = element.get("name")
    return Place(path, element.sourceline, f"<{element.tag}" + (f' name="{name}">' if name is not None else ">"))


def number(element: Any, attribute: str, path: pathlib.Path, default: float | None = None) -> float:
    """A finite number; `default` where the attribute is missing, an error where there is no default."""
    return numbers(element, attribute, path, 1, None if default is None else (default,))[0]


def numbers(
    element: Any, attribute: str, path: pathlib.Path, count: int, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    """`count` finite numbers that white space separates; `default` where the attribute is missing.

    Raises:
        ModelError: the attribute is missing without a default, or is something else.
    """
    text = element.get(attribute)
    if text is None:
        if default is None:
            raise place_of(element, path).error(f'needs {attribute}="..." ({expected(count)})')
        return default
    try:
        # Python alone reads 1_000 and digits of other scripts
        values = tuple(float(word) for word in text.replace("_", "?").encode("ascii").split())
    except ValueError:
        values = ()
    if len(values) != count or not all(map(math.isfinite, values)):
        raise place_of(element, path).error(f'{attribute}="{text}": give {expected(count)}')
    return values


def expected(count: int) -> str:
    """How messages call that many numbers."""
    return "one finite number" if count == 1 else f"{count} finite numbers with spaces between them"
