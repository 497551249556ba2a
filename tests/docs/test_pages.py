"""Guide, how-tos, reference: code, files and commands run in the order of the page, and print what it shows."""

from __future__ import annotations

import contextlib
import io
import pathlib
import re
import shlex
import sys
from typing import Any

import matplotlib
import pytest

from mbfmu import cli
from mbfmu.cosimulation import system_file
from mbfmu.modeling import assembly_file
from mbfmu.scene import bundle

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(
    [DOCS / "index.md", DOCS / "reference" / "assembly-files.md", *DOCS.glob("guide/*.md"), *DOCS.glob("howto/*.md")]
)

#: Pages that take seconds.
LONG = (
    "index.md",
    "guide/bending.md",
    "guide/first-mechanism.md",
    "guide/tyres.md",
    "howto/other-tools.md",
    "howto/real-time.md",
)

#: A block of code with its language, or a command of mbfmu in an indented block.
PIECE = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$|^    (?P<command>mbfmu [^\n]*)$", re.S | re.M)
NAMED = re.compile(r"# ([\w/]+\.(?:py|toml))\n")

#: What installs things, or is shown for another tool.
ELSEWHERE = {"bash", "matlab"}


def run_page(text: str) -> list[tuple[str, str]]:
    """Run a page in the working directory: what each block printed beside what the page shows under it."""
    names: dict[str, Any] = {"__name__": "page"}
    compared, printed = [], None
    for piece in PIECE.finditer(text):
        language, code = piece["language"], piece["code"] or ""
        if piece["command"]:
            command = piece["command"].partition("  #")[0].replace(" --platform all", "")
            if "..." not in command and "NAME" not in command:
                assert cli.main(shlex.split(command)[1:]) == 0, command
        elif language == "modelica" and code.startswith("model "):
            pathlib.Path(f"{code.split()[1]}.mo").write_text(code, "utf-8")
        elif language == "text" and printed is not None:
            compared.append((printed, code))
        elif language in ("python", "toml"):
            if NAMED.match(code):
                pathlib.Path(NAMED.match(code)[1]).write_text(code, "utf-8")  # type: ignore[index]
            with contextlib.redirect_stdout(io.StringIO()) as shown:
                if language == "python":
                    exec(code, names)
            printed = shown.getvalue()
            continue
        else:
            assert language in ELSEWHERE | {"text"}, f"a block of {language}, which no test runs"
        printed = None
    return compared


@pytest.mark.slow
@pytest.mark.campaign(*LONG, keep=4)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_page_does_what_it_shows(page: pathlib.Path, root: pathlib.Path, tmp_path, monkeypatch) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = page.read_text("utf-8")
    if not bundle.BUNDLE.is_file():  # npm was not there at set-up
        text = text.replace('"motion.html"', '"motion.glb"')
    for printed, shown in run_page(text):
        assert printed == shown
    pictures = set(re.findall(r"\(\.\./images/guide/(\w+\.png)\)", text))
    assert {name for name in pictures if not (tmp_path / name).is_file()} == set(), "no block draws them"
    assert {name for name in pictures if not (root / "docs" / "images" / "guide" / name).is_file()} == set()


def test_a_page_that_shows_something_else_is_found(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ((printed, shown),) = run_page("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n")
    assert (printed, shown) == ("2\n", "3\n")
    with pytest.raises(AssertionError, match="which no test runs"):
        run_page("```cobol\n```\n")


def test_every_key_of_the_files_has_its_row() -> None:
    page = (DOCS / "reference" / "assembly-files.md").read_text("utf-8")
    mechanism, system = page.split("## System files")
    rows = set(re.findall(r"`\[*([\w.]+)\]*`", "\n".join(x for x in mechanism.splitlines() if x.startswith("| "))))
    wanted = set(assembly_file._IGNORED)
    for key, value in assembly_file._STRUCTURE.items():
        inner = value[0] if isinstance(value, list) else value
        wanted |= {key, *(f"{key}.{k}" for k in inner)} if isinstance(inner, dict) else {key}
    assert wanted - rows == set()
    rows = set(re.findall(r"`\[*([\w.]+)\]*`", "\n".join(x for x in system.splitlines() if x.startswith("| "))))
    keys = system_file._KEYS - {"experiment"} | {f"experiment.{key}" for key in system_file._EXPERIMENT}
    assert keys - rows == set()
