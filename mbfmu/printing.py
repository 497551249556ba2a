"""How commands and demonstrations print: results on stdout, progress on stderr."""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions, ConsoleOptions, RenderResult
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
from rich.table import Table as RichTable
from rich.text import Text

if sys.stdout is None:  # closed: what is printed goes nowhere, and files are written all the same
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
if sys.stderr is None:
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which tells it from what goes wrong: Rich would exit with 1."""
        raise BrokenPipeError

    @property  # type: ignore[misc]
    def size(self) -> ConsoleDimensions:
        """What COLUMNS says, else the terminal's; Rich takes pipes and files to be 80 columns wide, which is little."""
        columns = os.environ.get("COLUMNS", "")
        known = super().size
        if columns.isdigit() and int(columns) > 0:
            return ConsoleDimensions(int(columns), known.height)
        return known if self.file.isatty() else ConsoleDimensions(PIPED, known.height)


#: Columns of what is no terminal, where COLUMNS does not say.
PIPED = 160
console = _Console(highlight=False)
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
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        warned(text)


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


def table(
    title: str, *columns: str, right: Iterable[str] = (), whole: Iterable[str] = (), more: str = ""
) -> FittingTable:
    """Return an empty table in the style of all tables here.

    Args:
        title: Stands above it, where it is not empty.
        columns: Their heads, as markup.
        right: Columns of numbers: none of them is ever broken.
        whole: Columns of names, which are broken only where nothing else helps.
        more: What shows the columns that have no room, for the line that counts them.
    """
    return FittingTable(title, columns, frozenset(right), frozenset(whole), more)


class FittingTable:
    """A table that leaves out the last columns, and counts them, rather than break a number or a word."""

    #: Between columns; and the least widths of names and texts that are wider.
    _GAP, _NAME, _TEXT = 2, 36, 16

    def __init__(
        self, title: str, columns: Sequence[str], right: frozenset[str], whole: frozenset[str], more: str
    ) -> None:
        self.title, self.columns, self.more = title, tuple(columns), more
        self._right, self._whole = right, whole
        self.rows: list[tuple[str, ...]] = []

    def add_row(self, *cells: str) -> None:
        """Add a row of markup, a cell for each column."""
        self.rows.append(cells)

    def fits(self, width: int) -> bool:
        """Is there room for all columns?"""
        return self._fitting(self._least(), width) == len(self.columns)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        least = self._least()
        kept = self._fitting(least, options.max_width)
        widths = self._widths(least[:kept], options.max_width)
        shown = RichTable(title=self.title or None, box=None, padding=(0, self._GAP, 0, 0), pad_edge=False)
        shown.header_style, shown.title_style, shown.title_justify = "dim", "bold", "left"
        for column, width in zip(self.columns, widths, strict=False):
            justify: Literal["right", "left"] = "right" if column in self._right else "left"
            shown.add_column(column, justify=justify, overflow="fold", width=width)
        for row in self.rows:
            shown.add_row(*row[:kept])
        yield shown
        left_out = [Text.from_markup(name).plain.partition("\n")[0] for name in self.columns[kept:]]
        if left_out:
            some = ", ".join(left_out[:4]) + (" ..." if len(left_out) > 4 else "")
            what = f"{len(left_out)} more column{'s' if len(left_out) > 1 else ''} without room here: {some}"
            yield Text(f"{what}{f'; {self.more}' if self.more else ''}", style="dim")

    def _cells(self, number: int) -> Iterator[str]:
        for text in (self.columns[number], *(row[number] for row in self.rows)):
            yield Text.from_markup(text).plain

    def _longest(self, number: int) -> int:
        """The width that nothing is wrapped in."""
        return max(max(map(cell_len, text.splitlines()), default=0) for text in self._cells(number))

    def _longest_word(self, number: int) -> int:
        return max(max(map(cell_len, text.split()), default=0) for text in self._cells(number))

    def _least(self) -> list[int]:
        """The least width of each column that breaks no number."""
        return [
            self._longest_word(i)
            if column in self._right
            else min(self._longest(i), self._NAME if column in self._whole else self._TEXT)
            for i, column in enumerate(self.columns)
        ]

    def _fitting(self, least: Sequence[int], width: int) -> int:
        """How many columns there is room for, at least one."""
        return max(1, sum(end - self._GAP <= width for end in itertools.accumulate(one + self._GAP for one in least)))

    def _widths(self, least: Sequence[int], width: int) -> list[int]:
        """Widths of columns: numbers take what they need first, then names, then texts."""
        widths, rest = list(least), width - sum(least) - self._GAP * (len(least) - 1)

        def order(number: int) -> tuple[bool, bool, int]:
            column = self.columns[number]
            return column not in self._right, column not in self._whole, self._longest(number)

        for number in sorted(range(len(widths)), key=order):
            given = max(0, min(rest, self._longest(number) - widths[number]))
            widths[number], rest = widths[number] + given, rest - given
        return [max(1, min(one, width)) for one in widths]


def size(octets: int) -> str:
    """Return a file size in words: `41 kB`."""
    return f"{octets / 1000:.0f} kB" if octets < 1e6 else f"{octets / 1e6:.1f} MB"


def warned(text: str) -> None:
    """Print a warning on stderr."""
    progress_console.print("[yellow]![/yellow] " + escape(text))


@contextlib.contextmanager
def warnings_told() -> Iterator[None]:
    """Print warnings as one line each, without a path, and none twice."""

    def told(message: Warning | str, *_: Any) -> None:
        warned_once(str(message))

    before, warnings.showwarning = warnings.showwarning, told  # type: ignore[assignment]
    try:
        yield
    finally:
        warnings.showwarning = before


_TOLD: set[str] = set()


def warned_once(text: str) -> None:
    """Print a warning on stderr that this process has not printed yet."""
    if text not in _TOLD:
        _TOLD.add(text)
        warned(" ".join(text.split()))


def connections(found: Iterable[Any]) -> None:
    """Print which outputs drive which inputs; a row has `start` and `end`."""
    shown = table("", "output", "input")
    for connection in found:
        shown.add_row(escape(connection.start), escape(connection.end))
    console.print(shown)


def opened(page: pathlib.Path, wanted: bool | None = None) -> bool:
    """Ask for a browser with a page; True where one was asked.

    `wanted`: None where that is ours to decide: there is a display, and the console is no file. Where it was asked for
    and there is none, that is said.
    """
    if wanted is False or (wanted is None and not sys.stdout.isatty()):
        return False
    import webbrowser

    is_open = has_display() and webbrowser.open(page.resolve().as_uri())
    if wanted and not is_open:
        warned(f"--open: there is no browser or no display here; open {page} where there is one")
    return is_open


def has_display() -> bool:
    """True where a browser's window can be seen."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
