"""What notebooks show of assemblies and systems."""

from __future__ import annotations

import html
from collections.abc import Sequence


def html_table(head: Sequence[str], rows: Sequence[Sequence[object]], most: int = 20) -> str:
    """A table for a notebook: at most so many rows, and how many more there are; nothing where there are none."""
    if not rows:
        return ""
    lines = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows[:most])
    more = f"<div>and {len(rows) - most} more</div>" if len(rows) > most else ""
    return f"<table><tr>{''.join(f'<th>{html.escape(c)}</th>' for c in head)}</tr>{lines}</table>{more}"
