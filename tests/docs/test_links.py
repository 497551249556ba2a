"""Every document: its links lead somewhere, and the files that it names exist."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("fmus/*/*.md")])

#: Pages of the site that are written when it is built, which checks links to them and in them (test_site.py).
MADE = {
    ROOT / "docs" / name
    for name in re.findall(r"(\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    if not (ROOT / "docs" / name).exists()
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_paths_exist(page: pathlib.Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", prose) if "://" not in link]
    targets = [(page.parent / link).resolve() for link in links if link]
    assert [target for target in targets if not target.exists() and target not in MADE] == []
    named = re.findall(
        r"\b(?:mbfmu|components|templates|fmus|docs|tests|benchmarks|problems)/[\w./{},-]*\w[/}]?",
        re.sub(r"\]\([^)]*\)", "]", prose),
    )
    paths = [path for name in named for path in expanded(name)]
    assert [path for path in paths if not (ROOT / path).exists() and not path.endswith(".fmu")] == []


def expanded(name: str) -> list[str]:
    """Return the paths that a name with braces stands for."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
    return [match[1] + middle + match[3] for middle in match[2].split(",")] if match else [name]
