"""The report for people: a page that holds its pictures, and the same as PDF."""

from __future__ import annotations

import base64
import datetime
import inspect
import pathlib
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jinja2

from mbfmu.errors import MbfmuError
from mbfmu.fmus import rendering
from mbfmu.version import __version__
from problems.topics import topics

PAGE = pathlib.Path(__file__).with_name("page.html.jinja")

#: A4, in inches.
_PAPER = {"paperWidth": 8.27, "paperHeight": 11.69, "marginLeft": 0.5, "marginRight": 0.5, "printBackground": True}


def write(
    entries: Sequence[dict[str, Any]], folder: pathlib.Path, pictures: bool, say: Callable[[str], object]
) -> Iterator[pathlib.Path]:
    """Write problems.html and problems.pdf, and yield what was written; `say` is told what is left out, and why."""
    page, printed = folder / "problems.html", folder / "problems.pdf"
    found = list(sections(entries))
    if not pictures:
        page.write_text(_html(found), encoding="utf-8")
        yield page
        return
    try:
        with rendering.chromium() as browser:
            for section in found:
                if section["model"] is not None:
                    section["picture"] = _picture(browser, section["model"], folder)
            page.write_text(_html(found), encoding="utf-8")
            yield page
            browser.get(page.as_uri())
            content = browser.execute_cdp_cmd("Page.printToPDF", _PAPER)["data"]
            printed.write_bytes(base64.b64decode(content))
            yield printed
    except MbfmuError as error:
        say(f"without pictures and PDF: {error}")
        page.write_text(_html(found), encoding="utf-8")
        yield page


def sections(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What the page shows one below the other: a title, its problems by the runs that they share, the topic's text."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        grouped.setdefault(entry["title"], []).append(entry)
    homes = {problem.id: (module, problem) for module in topics().values() for problem in module.PROBLEMS}
    told = set()
    for title, rows in grouped.items():
        module, problem = homes[rows[0]["id"]]
        tables: dict[Any, list[dict[str, Any]]] = {}
        for row in rows:
            tables.setdefault((homes[row["id"]][1].solve, homes[row["id"]][1].tolerances), []).append(row)
        yield {
            "title": title,
            "text": [] if module in told else inspect.getdoc(module).split("\n\n"),
            "sources": list(dict.fromkeys(row["source"] for row in rows)),
            "tables": list(tables.values()),
            "model": problem.model,
            "picture": None,
        }
        told.add(module)


def _picture(browser: Any, model: Callable[[], Any], folder: pathlib.Path) -> str:
    """Address of a picture that holds it."""
    path = rendering.save_picture(browser, model(), folder / "picture.png")
    content = base64.b64encode(path.read_bytes()).decode()
    path.unlink()
    return f"data:image/png;base64,{content}"


def _html(found: Sequence[dict[str, Any]]) -> str:
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {"number": number, "small": small}
    rows = [row for section in found for table in section["tables"] for row in table]
    return environment.from_string(PAGE.read_text("utf-8")).render(
        sections=found,
        rows=rows,
        version=__version__,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


def number(value: float | Sequence[Any] | None) -> str:
    """A value in full, as far as double precision says something."""
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        return "(" + ", ".join(number(one) for one in value) + ")"
    return f"{value:.12g}"


def small(value: float | None) -> str:
    """An error: its size is what counts."""
    return "-" if value is None else f"{value:.1e}"
