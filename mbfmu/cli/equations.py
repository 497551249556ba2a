"""What `mbfmu info --equations` says of an equation graph: text, JSON, and a page with its matrix."""

from __future__ import annotations

import html
import importlib.resources
import itertools
import json
import string
from collections.abc import Iterable, Iterator
from typing import Any

from rich.markup import escape

from mbfmu import printing
from mbfmu.dynamics.structure.report import EquationReport
from mbfmu.version import __version__

#: Blocks and sought quantities that the text names, and members of a block.
_SHOWN, _MEMBERS = 40, 6


def show(found: EquationReport) -> None:
    """Print the report of a graph."""
    printing.console.print(f"[bold]{escape(found.name)}[/bold]")
    for line in summary(found):
        printing.console.print(escape(line))
    kinds = printing.table("\nQuantities", "kind", "number", right=["number"])
    for kind, count in found.kinds.items():
        kinds.add_row(kind, str(count))
    printing.console.print(kinds)
    for title, head, rows in _tables(found):
        shown = printing.table(f"\n{title}", *head, right=["size"])
        for row in rows[:_SHOWN]:
            shown.add_row(*map(escape, row))
        printing.console.print(shown)
        if len(rows) > _SHOWN:
            printing.console.print(f"and {len(rows) - _SHOWN} more")


def summary(found: EquationReport) -> Iterator[str]:
    """Yield lines with the counts."""
    sizes = ", ".join(f"{count} of {size}" for size, count in found.sizes.items())
    yield f"{len(found.quantities)} quantities, which need others {found.entries} times"
    yield f"{len(found.blocks)} blocks, by size: {sizes}"
    solved = {how: sum(block.solved == how for block in found.loops) for how in ("linear", "iterated")}
    yield f"of them {solved['linear']} linear and {solved['iterated']} iterated, with {_torn(found)} torn quantities"
    yield (
        f"equations of motion: {found.balances} balances of forces along speeds and {found.constraints} constraints, "
        "for as many accelerations and constraint forces"
    )
    if found.iterated_motion:
        yield f"not linear in, and therefore iterated: {', '.join(found.iterated_motion)}"


def _torn(found: EquationReport) -> int:
    return sum(block.torn for block in found.blocks)


def _tables(found: EquationReport) -> Iterator[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield title, head and rows of what is told of blocks and of what is sought, where there is any."""
    blocks: list[tuple[str, ...]] = [
        (
            str(block.size),
            block.solved,
            ", ".join(block.iterated or found.torn(block)),
            _few(found.names(block.numbers[block.torn :])),
        )
        for block in found.loops
    ]
    if blocks:
        yield "Blocks", ("size", "solved", "torn or iterated", "what follows from these"), blocks
    sought: list[tuple[str, ...]] = [*found.sought]
    if sought:
        yield "Sought", ("quantity", "equation that gives it"), sought


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _MEMBERS} more" if len(names) > _MEMBERS else ""
    return ", ".join(names[:_MEMBERS]) + more


def facts(found: EquationReport) -> dict[str, Any]:
    """Return what `--json` prints: quantities with the numbers of what they need, blocks, and what is sought."""
    return {
        "name": found.name,
        "kinds": found.kinds,
        "sizes": [{"size": size, "blocks": count} for size, count in found.sizes.items()],
        "balances": found.balances,
        "constraints": found.constraints,
        "iteratedMotion": list(found.iterated_motion),
        "quantities": [{"name": q.name, "kind": q.kind, "needs": list(q.needs)} for q in found.quantities],
        "blocks": [
            {
                "quantities": list(block.numbers),
                "torn": list(block.numbers[: block.torn]),
                "solved": block.solved,
                "iterated": list(block.iterated),
            }
            for block in found.blocks
        ],
        "sought": [{"quantity": quantity, "equation": equation} for quantity, equation in found.sought],
    }


def page(found: EquationReport) -> str:
    """Return a page with the block lower triangular matrix, which needs no network."""
    data = {
        "names": [q.name for q in found.quantities],
        "kinds": [q.kind for q in found.quantities],
        "needs": [list(q.needs) for q in found.quantities],
        "blocks": [[block.first, block.size, block.torn, block.solved] for block in found.blocks],
    }
    texts = {
        "version": html.escape(__version__),
        "title": html.escape(found.name),
        "summary": "\n".join(_summary(found)),
        "data": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    template = importlib.resources.files("mbfmu.templates") / "equations" / "page.html"
    return string.Template(template.read_text(encoding="utf-8")).substitute(texts)


def _summary(found: EquationReport) -> Iterator[str]:
    """Yield counts and tables as HTML."""
    for line in summary(found):
        yield f"<p>{html.escape(line)}</p>"
    kinds = ([kind, str(count)] for kind, count in found.kinds.items())
    yield from _table("Quantities", ("kind", "number"), kinds, itertools.repeat(None))
    where = {entry.name: i for i, entry in enumerate(found.quantities)}
    places: dict[str, list[int | None]] = {
        "Blocks": [block.first for block in found.loops],
        "Sought": [where[quantity] for quantity, _ in found.sought],
    }
    for title, head, rows in _tables(found):
        yield from _table(title, head, rows, places[title])


#: Columns of the page whose cells are not broken, and how they are set.
_CLASSES = {"number": "number", "size": "number", "solved": "short"}


def _table(
    title: str, head: Iterable[str], rows: Iterable[Iterable[str]], places: Iterable[int | None]
) -> Iterator[str]:
    classes = [f' class="{_CLASSES[name]}"' if name in _CLASSES else "" for name in head]
    yield f"<h2>{title}</h2>\n<table>"
    yield f"<tr>{''.join(f'<th{kind}>{name}</th>' for name, kind in zip(head, classes, strict=True))}</tr>"
    for row, place in zip(rows, places, strict=False):
        cells = "".join(f"<td{kind}>{html.escape(cell)}</td>" for cell, kind in zip(row, classes, strict=True))
        yield ("<tr>" if place is None else f'<tr data-quantity="{place}">') + cells + "</tr>"
    yield "</table>"
