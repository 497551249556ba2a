"""How pages look: `python -m mbfmu.fmus.screens FOLDER [--live] [SOURCE ...]`, `make screens`.

Each source's page, recorded or live, is photographed in a wide and in a narrow window, light and dark, with its panels,
plots and labels; the four stand in one picture. It is for looking at, before a change of the page is committed.
"""

from __future__ import annotations

import argparse
import base64
import io
import pathlib
import sys
import time
from collections.abc import Sequence
from typing import Any

from mbfmu import printing
from mbfmu.animation import animate
from mbfmu.errors import MbfmuError
from mbfmu.fmus import rendering
from mbfmu.sources import load

#: Machines of every kind: what swings, loops, rolls, meshes, is driven, is a robot.
NAMES = (
    "double_pendulum",
    "engine_v6",
    "four_bar",
    "lane_change",
    "rolling_wheel",
    "vehicle",
    "tower_crane",
    "bevel_gear",
    "scara",
    "gripper",
)
#: Windows as of a laptop and of a telephone, in pixels.
SIZES = ((1280, 800), (390, 844))
THEMES = ("light", "dark")
_GAP = 12
#: How long a live page runs before it is photographed, and what a page takes to settle in a new size [s].
_RUN, _SETTLE = 2.0, 0.6

_SHOW = """
viewer.setTheme(arguments[0]);
if (arguments[1] !== null) viewer.show(viewer.start + arguments[1] * (viewer.end - viewer.start));
viewer.render();
"""
#: What reaches beyond the window, or lies over what it must not.
OUTSIDE = """
const found = [], inside = (box) => box.left >= -1 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1;
for (const panel of document.querySelectorAll(".panel:not([hidden])")) {
  if (!inside(panel.getBoundingClientRect())) found.push(`#${panel.id} reaches out of the window`);
  if (panel.scrollWidth > panel.clientWidth + 1) found.push(`#${panel.id} is wider than it shows`);
}
return found;
"""


def photograph(browser: Any, page: pathlib.Path, moment: float | None) -> tuple[Any, list[str]]:
    """A page in all sizes and both themes as one picture (PIL.Image), and what reaches out of its window.

    Args:
        browser: Of `rendering.chromium`.
        page: The page's file.
        moment: The fraction of a recorded run that is shown; None for a live page, which runs a while instead.
    """
    from PIL import Image

    shots: dict[tuple[int, int], Any] = {}
    outside: dict[str, None] = {}
    for column, size in enumerate(SIZES):
        with rendering.window(browser, size):
            rendering.open_page(browser, page)
            time.sleep(_SETTLE if moment is not None else _RUN)
            for row, theme in enumerate(THEMES):
                browser.execute_script(_SHOW, theme, moment)
                time.sleep(_SETTLE)
                outside |= dict.fromkeys(f"{size[0]} px: {text}" for text in browser.execute_script(OUTSIDE))
                data = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"]
                shots[column, row] = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    high = max(height for _, height in SIZES)
    sheet = Image.new("RGB", (sum(width for width, _ in SIZES) + _GAP, 2 * high + _GAP), "#888")
    for (column, row), shot in shots.items():
        sheet.paste(shot, (column * (SIZES[0][0] + _GAP), row * (high + _GAP)))
    return sheet, list(outside)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a picture of each page into a folder, which is made, and say what reaches out of its window."""
    parser = argparse.ArgumentParser(prog="python -m mbfmu.fmus.screens", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("sources", nargs="*", default=NAMES)
    parser.add_argument("--live", action="store_true", help="live pages, which run a while first")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with rendering.chromium() as browser:
        for source in options.sources:
            name = f"{pathlib.Path(source).stem}{'_live' if options.live else ''}"
            try:
                page = animate(load(source), options.folder / f"{name}.html", live=options.live)
            except MbfmuError as error:
                sys.exit(f"error: {source}: {error}")
            picture, outside = photograph(browser, page, None if options.live else rendering.MOMENT)
            picture.save(options.folder / f"{name}.png")
            print(options.folder / f"{name}.png", *outside, sep="\n  ")
    return 0


if __name__ == "__main__":
    with printing.warnings_told():
        sys.exit(main())
