"""Code of users that fails: equations, bindings, constructors and files are told with file and line."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import linecache
import pathlib
import sysconfig
import traceback
from collections.abc import Callable
from typing import Any

from mbfmu.errors import MbfmuError, ModelError


class told:
    """Tell what goes wrong inside as an error of a user's code: `what`, file and line, type and text.

    `what` is a text, or a function that gives it where it is needed. Errors of mbfmu's own are passed on, and so are
    exceptions that passed no line of a user's: those are defects.

    Raises:
        ModelError: a line of a user's code fails, or ends the program.
    """

    __slots__ = ("_what",)

    def __init__(self, what: str | Callable[[], str]) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, MbfmuError) or not isinstance(error, Exception | SystemExit):
            return
        what = self._what if isinstance(self._what, str) else self._what()
        where = place(error, what)
        if where:
            raise ModelError(f"{what}{where}: {described(error)}") from error


def described(error: BaseException) -> str:
    """Type and first line of an exception, and what to do about those that are known."""
    if isinstance(error, SystemExit):
        return f"it ends the program, sys.exit({error.code!r}); leave that out of a model"
    if isinstance(error, RecursionError):
        return "RecursionError: it calls itself without end"
    if "truth value of a CasADi" in str(error):
        return (
            "it asks whether an expression is true, as Python's if, min and max do, before there are numbers; write "
            "self.switch(expression, then, otherwise), or casadi's if_else, fmin and fmax"
        )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def place(error: BaseException, what: str = "") -> str:
    """The last line of a user's code that an exception passed, as `, file.py, line 7 (x = y)`, or nothing.

    The file is left out where `what`, which stands before it in the message, begins with it.
    """
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f", {_short(str(error.filename))}, line {error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not _is_library(frame.filename):
            line = frame.line or linecache.getline(frame.filename, frame.lineno or 0).strip()
            name = _short(frame.filename)
            file = "" if pathlib.Path(what.partition(":")[0]).name == name else f", {name}"
            return f"{file}, line {frame.lineno}" + (f" ({line})" if line else "")
    return ""


def _short(file: str) -> str:
    return pathlib.Path(file).name


def _is_library(file: str) -> bool:
    """True for mbfmu's own files, for Python's, and for those of the libraries that equations are written with."""
    if file.startswith("<frozen"):
        return True
    path = pathlib.Path(file)
    if "site-packages" in path.parts or "dist-packages" in path.parts:
        return any(path.is_relative_to(folder) for folder in _packages())
    return any(path.is_relative_to(folder) for folder in (*_packages(), sysconfig.get_paths()["stdlib"]))


@functools.cache
def _packages() -> tuple[str, ...]:
    """Folders of mbfmu and of the libraries."""
    found: list[str] = []
    for name in ("mbfmu", "mbfmu.components", "mbfmu.fmus", "mbfmu.templates", "numpy", "casadi", "scipy"):
        specification = importlib.util.find_spec(name)
        # of mbfmu the first: in a checkout its folders are a second one
        found += list((specification.submodule_search_locations if specification else None) or ())[:1]
    return tuple(dict.fromkeys(found))


def property_of(cls: type, name: str) -> property | None:
    """The property of this name: where it lacks an attribute, Python takes the property itself for missing."""
    found = inspect.getattr_static(cls, name, None)
    return found if isinstance(found, property) else None


__all__ = ["described", "place", "property_of", "told"]
