"""How commands and demonstrations print: results on stdout, progress on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

if sys.stdout is None:  # closed: what is printed goes nowhere, and files are written all the same
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
if sys.stderr is None:
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which tells it from what goes wrong: Rich would exit with 1."""
        raise BrokenPipeError


#: Rich takes anything that is not a terminal to be 80 columns wide, which cuts descriptions in pipes and files.
console = _Console(highlight=False, width=None if sys.stdout.isatty() else 160)
progress_console = Console(stderr=True, highlight=False)

#: After so long a command says what it is at where it has no terminal to show it [s].
PATIENCE = 10.0


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner, the elapsed time and what is being done; the value takes the next step's text.

    Where stderr is no terminal, a line says it of what takes long: after `PATIENCE`, and whenever as much time has gone
    by again.
    """
    if not progress_console.is_terminal:
        with _said_now_and_then(what) as say:
            yield say
        return
    with _progress(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()) as shown:
        task = shown.add_task(escape(what), total=None)
        yield lambda text: shown.update(task, description=escape(text))


@contextlib.contextmanager
def _said_now_and_then(what: str) -> Iterator[Callable[[str], None]]:
    start, done, now = time.monotonic(), threading.Event(), [what]

    def watch() -> None:
        pause = PATIENCE
        while not done.wait(pause):
            pause = time.monotonic() - start
            print(f"{now[0]} ({pause:.0f} s)", file=sys.stderr, flush=True)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda text: now.__setitem__(0, text)
    finally:
        done.set()
        watcher.join()


@contextlib.contextmanager
def running(what: str) -> Iterator[Callable[[float], None]]:
    """Show a bar of a run; the value takes the fraction that is done."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
        with _progress(*columns) as shown:
            task = shown.add_task(escape(what), total=1.0)
            yield lambda fraction: shown.update(task, completed=fraction)
    for warning in caught:
        warned(str(warning.message))


@contextlib.contextmanager
def counting(what: str) -> Iterator[Callable[..., None]]:
    """Show a bar of many runs with their rate and the time left.

    The value takes how many are done, of how many, and what they are where they are something else.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
               TimeElapsedColumn(), TimeRemainingColumn())  # fmt: skip
    with _progress(*columns) as shown:
        task = shown.add_task(escape(what), total=None, rate="")

        def update(done: int, of: int, other: str = what) -> None:
            if shown.tasks[task].description != other:
                shown.reset(task, total=of, description=other)
            elapsed = shown.tasks[task].elapsed or 0.0
            shown.update(task, completed=done, total=of, rate=f"{done / elapsed:.0f}/s" if elapsed else "")

        yield update


def _progress(*columns: ProgressColumn) -> Progress:
    """Return a display that vanishes when it is done, and shows nothing where stderr is no terminal."""
    return Progress(*columns, console=progress_console, transient=True, disable=not progress_console.is_terminal)


def table(title: str, *columns: str, right: Iterable[str] = (), whole: Iterable[str] = ()) -> Table:
    """Return an empty table in the style of all tables here.

    Columns in `right` hold numbers, those in `whole` are never broken into lines.
    """
    numbers, unbroken = set(right), set(whole)
    result = Table(title=title or None, box=None, pad_edge=False, header_style="dim")
    result.title_style, result.title_justify = "bold", "left"
    for column in columns:
        justify: Literal["right", "left"] = "right" if column in numbers else "left"
        result.add_column(column, justify=justify, overflow="fold", no_wrap=column in unbroken)
    return result


def size(octets: int) -> str:
    """Return a file size in words: `41 kB`."""
    return f"{octets / 1000:.0f} kB" if octets < 1e6 else f"{octets / 1e6:.1f} MB"


def warned(text: str) -> None:
    """Print a warning on stderr."""
    progress_console.print("[yellow]![/yellow] " + escape(text))


def connections(found: Iterable[Any]) -> None:
    """Print which outputs drive which inputs; a row has `start` and `end`."""
    shown = table("", "output", "input")
    for connection in found:
        shown.add_row(escape(connection.start), escape(connection.end))
    console.print(shown)
