"""The page with the matrix of a model's equations, in a browser."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from browser_console import entries

from mbfmu.cli.equations import page
from mbfmu.dynamics.overview import equation_report
from mbfmu.sources import load

#: In a narrow window, which a browser may draw later, the matrix is as high as it is wide, and drawn anew.
SQUARE = """
const { width, height } = canvas.getBoundingClientRect();
return innerWidth <= 500 && width > 300 && width === height && canvas.width === Math.round(width * devicePixelRatio)
  && canvas.height === canvas.width;
"""


@pytest.mark.slow
def test_the_matrix_is_drawn_and_names_what_is_pointed_at(
    opened: Callable[[pathlib.Path], Any], tmp_path: pathlib.Path
) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    found = equation_report(load("engine_v6"))
    file = tmp_path / "equations.html"
    file.write_text(page(found), encoding="utf-8")
    browser = opened(file)
    assert [entry for entry in entries(browser) if entry["level"] == "SEVERE"] == []
    row = next(i for i, entry in enumerate(found.quantities) if entry.needs)
    needed = found.quantities[row].needs[0]
    text = browser.execute_script(f"tell({row}, {needed}); draw(); return told.textContent")
    assert text.startswith(f"{found.quantities[row].name} needs {found.quantities[needed].name}. ")
    marks = browser.execute_script(
        "const data = pen.getImageData(0, 0, canvas.width, canvas.height).data; let n = 0;"
        "for (let i = 3; i < data.length; i += 4) n += data[i] > 0; return n"
    )
    assert marks > len(found.quantities) / 10
    browser.set_window_size(500, 900)
    WebDriverWait(browser, 60).until(lambda browser: browser.execute_script(SQUARE), SQUARE)
    before = browser.execute_script("const before = scale; document.getElementById('closer').click(); return before")
    assert browser.execute_script("return scale") > before


@pytest.mark.slow
def test_tables_have_heads_and_their_short_cells_stay_whole() -> None:
    text = page(equation_report(load("engine_v6")))
    assert '<tr><th>kind</th><th class="number">number</th></tr>' in text
    assert '<td>constraint forces</td><td class="number">6</td>' in text
