"""The report for people: a page that holds its pictures, and the same as PDF."""

from __future__ import annotations

import base64
import datetime
import inspect
import pathlib
import platform
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jinja2
import markupsafe

from mbfmu.errors import MbfmuError
from mbfmu.fmus import rendering
from mbfmu.version import __version__
from problems.topics import topics

PAGE = pathlib.Path(__file__).with_name("page.html.jinja")
DOCS_PAGE = pathlib.Path(__file__).with_name("page.md.jinja")

#: So many numbers of a list are shown.
LISTED = 4

#: A4, in inches, with numbers of pages.
_PAPER = {
    "paperWidth": 8.27,
    "paperHeight": 11.69,
    "marginLeft": 0.5,
    "marginRight": 0.5,
    "marginBottom": 0.6,
    "printBackground": True,
    "displayHeaderFooter": True,
    "headerTemplate": "<span></span>",
    "footerTemplate": '<div style="width: 100%; text-align: center; font: 8px sans-serif; color: #66727f">'
    f'mbfmu {__version__}, <span class="pageNumber"></span> of <span class="totalPages"></span></div>',
}


def write(
    entries: Sequence[dict[str, Any]], folder: pathlib.Path, pictures: bool, say: Callable[[str], object]
) -> Iterator[pathlib.Path]:
    """Write problems.html and problems.pdf, and yield what was written; `say` is told what is left out, and why."""
    page, printed = folder / "problems.html", folder / "problems.pdf"
    found = list(sections(entries))
    for name, why in absent().items():
        say(f"{name}: {why}")
    if not pictures:
        page.write_text(_html(found), encoding="utf-8")
        yield page
        return
    try:
        with rendering.chromium() as browser:
            for section in found:
                if section["model"] is not None:
                    section["picture"] = _picture(browser, section, folder)
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
        # Costs stand with the first of the problems that share their runs.
        first = {homes[row["id"]][1].solve: row["id"] for row in reversed(rows)}
        yield {
            "title": title,
            "text": [] if module in told else (inspect.getdoc(module) or "").split("\n\n"),
            "sources": list(dict.fromkeys(row["source"] for row in rows)),
            "rows": [row | {"costs": first[homes[row["id"]][1].solve] == row["id"]} for row in rows],
            "shared": len(first) == 1,
            "model": problem.model,
            "picture": None,
        }
        told.add(module)


def absent() -> dict[str, str]:
    """Topics that need what is not here, and what that is."""
    return {name: module.ABSENT for name, module in topics().items() if getattr(module, "ABSENT", "")}


def _picture(browser: Any, section: dict[str, Any], folder: pathlib.Path) -> pathlib.Path:
    """Render a section's model."""
    path = folder / "pictures" / f"{slug(section['title'])}.png"
    path.parent.mkdir(exist_ok=True)
    return rendering.save_picture(browser, section["model"](), path)


def slug(title: str) -> str:
    """Name of a file for a title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _embedded(path: pathlib.Path) -> str:
    """Address of a picture that holds it."""
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"


def write_docs(entries: Sequence[dict[str, Any]], pictures: pathlib.Path, docs: pathlib.Path) -> pathlib.Path:
    """Write the site's page, docs/validation.md, with the pictures of the report."""
    found = list(sections(entries))
    target = docs / "images" / "problems"
    target.mkdir(exist_ok=True)
    for section in found:
        picture = pictures / f"{slug(section['title'])}.png"
        if section["model"] is not None and picture.is_file():
            section["picture"] = f"images/problems/{picture.name}"
            shutil.copy(picture, target / picture.name)
    page = docs / "validation.md"
    page.write_text(_filled(DOCS_PAGE, found), encoding="utf-8")
    return page


def _html(found: Sequence[dict[str, Any]]) -> str:
    return _filled(PAGE, found)


def _filled(template: pathlib.Path, found: Sequence[dict[str, Any]]) -> str:
    environment = jinja2.Environment(
        autoescape=template is PAGE, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters |= {
        "number": number, "like": like, "small": small, "cost": cost, "embedded": _embedded, "marked_up": _marked_up,
        "unbroken": _unbroken,
    }  # fmt: skip
    rows = [row for section in found for row in section["rows"]]
    return environment.from_string(template.read_text("utf-8")).render(
        sections=found,
        rows=rows,
        absent=absent(),
        version=__version__,
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        machine=f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
    )


def number(value: float | Sequence[Any] | None) -> str:
    """A value as far as it is compared; of a list that is long, how it begins."""
    if value is None:
        return "-"
    if isinstance(value, list | tuple):
        shown = [f"{one:.7g}" if isinstance(one, float) else number(one) for one in value[:LISTED]]
        return "(" + ", ".join(shown) + (f", and {len(value) - LISTED} more)" if len(value) > LISTED else ")")
    return f"{value:.12g}"


def like(value: float | Sequence[Any] | None, reference: float | Sequence[Any]) -> str:
    """Our value as its reference is shown; what ought to be zero by its size alone."""
    return small(value) if reference == 0 and isinstance(value, float) else number(value)


def small(value: float | None) -> str:
    """An error or a tolerance: its size is what counts."""
    if value is None:
        return "-"
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}" if value else "0"


def cost(run: Mapping[str, Any]) -> str:
    """What a run took."""
    evaluations = "" if run["evaluations"] is None else f"{run['evaluations']:,}; "
    seconds = run["seconds"]
    return evaluations + (f"{seconds:.3g} s" if seconds > 0.9995 else f"{1000 * seconds:.3g} ms")


def _unbroken(text: str) -> markupsafe.Markup:
    """HTML of numbers, none of which is broken at its sign or exponent."""
    return markupsafe.Markup(" ").join(
        markupsafe.Markup('<span class="whole">{}</span>').format(w) for w in text.split(" ")
    )


def _marked_up(text: str) -> markupsafe.Markup:
    """HTML of a text in which names stand between backquotes."""
    return markupsafe.Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(markupsafe.escape(text))))
