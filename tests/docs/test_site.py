"""The site: it builds without a warning, has every class, command and notebook, and asks no network for anything."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from mbfmu.cli.commands import app
from mbfmu.modeling.registry import component_classes
from mbfmu.runtime import contract

NOTEBOOKS = sorted((pathlib.Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))


#: `make docs` builds the site and runs all notebooks, and so does what publishes it.
pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def site(root: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Build the site as `make docs` does, but leave notebooks unrun: they have a test of their own."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = os.environ | {"MBFMU_NOTEBOOKS": "source", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")  # links and anchors within the site are checked, too
    return folder


@pytest.mark.slow
def test_every_class_has_its_place(site: pathlib.Path) -> None:
    pages = {path.stem: path.read_text("utf-8") for path in site.glob("reference/components/*.html")}
    text = "".join(page for name, page in pages.items() if name != "index")
    own = {name: cls for name, cls in component_classes().items() if cls.__module__.startswith("mbfmu.")}
    assert {name for name in own if f'id="{name}"' not in text} == set()
    assert {name for name in own if f".html#{name}" not in pages["index"]} == set()
    revolute = text.partition('id="MultiBody.Joints.Revolute"')[2].partition("<h3")[0]
    for shown in ("from</span>", "useAxisFlange", "rad/s2", "cylinderLength", "relative_motion", "depends on"):
        assert shown in revolute, shown


@pytest.mark.slow
def test_every_command_and_the_contract_are_there(site: pathlib.Path) -> None:
    page = (site / "reference" / "command-line.html").read_text("utf-8")
    names = {info.name or info.callback.__name__ for info in app.registered_commands}  # type: ignore[union-attr]
    assert {name for name in names if f'id="mbfmu-{name}"' not in page} == set()
    assert "--fixed-step S" in page
    text = (site / "architecture" / "contract.html").read_text("utf-8")
    assert [name for name in contract.FUNCTIONS if f"<code>{name}(" not in text] == []


@pytest.mark.slow
def test_pages_fetch_nothing_from_anywhere(site: pathlib.Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        fetched = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(https?:[^\"'> ]+)", text)
        fetched += re.findall(r"<link\b(?![^>]*rel=\"canonical\")[^>]*href=[\"']?(https?:[^\"'> ]+)", text)
        fetched += [] if 'data-md-component="source"' not in text else ["the forge's stars"]
        assert [link for link in fetched if not link.startswith("https://mbfmu.github.io/")] == [], page
    for sheet in site.rglob("*.css"):
        assert re.findall(r"url\([\"']?https?:[^)]*\)|@import[^;]*https?:[^;]*", sheet.read_text("utf-8")) == [], sheet


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    import nbclient
    import nbformat

    source = json.loads(path.read_text("utf-8"))
    assert [cell for cell in source["cells"] if cell.get("outputs") or cell.get("execution_count")] == []
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    shown = [output.get("data", {}) for output in outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert any("image/png" in data for data in shown)
    assert any("<iframe" in data.get("text/html", "") for data in shown), "no animation"


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "page"), [("hinge", "joints"), ("pulley", "rotational"), ("tyre", "vehicle"), ("motor", "electrical")]
)
def test_words_of_newcomers_are_in_what_the_search_reads(site: pathlib.Path, word: str, page: str) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))["docs"]
    found = [entry for entry in index if entry["location"].startswith(f"reference/components/{page}.html")]
    assert all(entry["boost"] == 10 for entry in found)
    assert any(re.search(rf"\b{word}", f"{entry['title']} {entry['text']}".lower()) for entry in found)
