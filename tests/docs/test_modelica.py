"""docs/modelica.md lists the classes as they are."""

from __future__ import annotations

import importlib
import pathlib

from mbfmu.components import library

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "modelica.md"


def test_the_tables_are_up_to_date() -> None:
    """If not: python -m mbfmu.components.library docs/modelica.md."""
    _, found = PAGE.read_text("utf-8").split(library.MARK + "\n")
    assert found == library.page()


def test_every_class_is_here_or_has_a_reason() -> None:
    for entry in library.entries():
        assert bool(entry.here) != bool(entry.why), entry.name
        if entry.here:
            module, name = entry.here.rsplit(".", 1)
            assert isinstance(getattr(importlib.import_module(module), name), type), entry.name


def test_the_script_writes_the_page_anew(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "modelica.md"
    page.write_text(f"Kept.\n{library.MARK}\nold\n", "utf-8")
    library.main([str(page)])
    assert page.read_text("utf-8") == f"Kept.\n{library.MARK}\n{library.page()}"
