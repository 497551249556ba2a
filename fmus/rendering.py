"""Pictures of mechanisms as their animation pages show them, in a headless Chromium: for the gallery and the README."""

from __future__ import annotations

import base64
import contextlib
import io
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mbfmu.animation import animate
from mbfmu.errors import MbfmuError
from mbfmu.modeling import Assembly

#: Of pictures, in pixels.
SIZE = (640, 400)
#: Where in its experiment a picture shows a mechanism.
MOMENT = 0.4
#: Colours of a picture, of its ground and sky and of what stands there: few, so that it stays small.
_COLOURS = (24, 56)
#: What is ground or sky: as grey, and as bright (0 to 255).
_GREY, _BRIGHT = 40, 150
#: Of small pictures that move: pixels, how many there are over the experiment, and the time of each [ms].
_CLIP_SIZE, _CLIP_COUNT, _CLIP_PAUSE = (320, 200), 24, 110
#: Of the site's card, as those who show it ask for it.
_CARD_SIZE = (1200, 630)
#: A page is ready, and a picture drawn, within so many seconds.
_PATIENCE = 120

_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
    "--hide-scrollbars",
)

#: The view alone, as large as the window, along the direction of the page.
_PREPARE = """
for (const panel of document.querySelectorAll(".panel")) panel.style.display = "none";
viewer.setTheme("light");
viewer.resize();
viewer.look(viewer.camera.position.clone().sub(viewer.controls.target));
"""
_PICTURE = """
viewer.show(viewer.start + arguments[0] * (viewer.end - viewer.start));
viewer.controls.update();
viewer.render();
viewer.renderer.getContext().readPixels(0, 0, 1, 1, 6408, 5121, new Uint8Array(4)); // waits until all is drawn
return viewer.renderer.domElement.toDataURL("image/png");
"""


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A headless Chromium.

    Raises:
        MbfmuError: It, its driver or selenium is not installed.
    """
    program = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    try:
        from selenium import webdriver
    except ImportError:
        raise MbfmuError("pictures are rendered through selenium; `pip install selenium` installs it") from None
    if program is None or driver is None:
        raise MbfmuError("pictures are rendered by Chromium; install it and its driver (chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for option in _OPTIONS:
        options.add_argument(option)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        browser.set_script_timeout(_PATIENCE)
        with window(browser, SIZE):
            yield browser
    finally:
        browser.quit()


@contextlib.contextmanager
def window(browser: Any, size: tuple[int, int]) -> Iterator[None]:
    """Make a browser's pages as large as this for a time, and then as large as pictures are."""

    def resize(size: tuple[int, int]) -> None:
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    resize(size)
    try:
        yield
    finally:
        resize(SIZE)


def open_page(browser: Any, page: pathlib.Path) -> None:
    """Show a page as it is where there is a graphics card.

    Raises:
        MbfmuError: It is not ready after some time.
    """
    browser.get("about:blank")  # the page again is another place in it
    browser.get(f"{page.absolute().as_uri()}#fine")
    deadline = time.monotonic() + _PATIENCE
    while not browser.execute_script("return document.documentElement.dataset.ready"):
        if time.monotonic() > deadline:
            raise MbfmuError(f"{page.stem}: the browser does not show its page")
        time.sleep(0.05)


def frames(browser: Any, assembly: Assembly, moments: Sequence[float]) -> list[Any]:
    """Pictures (PIL.Image) of a mechanism at fractions of its experiment.

    Raises:
        MbfmuError: Nothing in it is drawn, or the browser does not show its page.
    """
    from PIL import Image

    with tempfile.TemporaryDirectory() as folder:
        open_page(browser, animate(assembly, pathlib.Path(folder) / f"{assembly.name}.html"))
        browser.execute_script(_PREPARE)
        found: list[Any] = []
        for moment in moments:
            url = browser.execute_script(_PICTURE, moment)
            # the first of a page may be drawn in parts: until two are the same
            while not found and (again := browser.execute_script(_PICTURE, moment)) != url:
                url = again
            found.append(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB"))
        return found


def save_pictures(browser: Any, assembly: Assembly, path: pathlib.Path, clip: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """Write a picture of a mechanism as PNG, and a small one that moves (WebP), and return the paths."""
    still, *moving = frames(browser, assembly, [MOMENT, *(i / _CLIP_COUNT for i in range(_CLIP_COUNT))])
    _save_still(still, path)
    first, *others = [picture.resize(_CLIP_SIZE) for picture in moving]
    first.save(clip, save_all=True, append_images=others, duration=_CLIP_PAUSE, loop=0, quality=35, method=6)
    return path, clip


def save_picture(browser: Any, assembly: Assembly, path: pathlib.Path) -> pathlib.Path:
    """Write a picture of a mechanism as PNG, and return the path."""
    (still,) = frames(browser, assembly, [MOMENT])
    return _save_still(still, path)


def _save_still(picture: Any, path: pathlib.Path) -> pathlib.Path:
    """Few colours of its own for what is small beside ground and sky: thin axes would else lose theirs."""
    from PIL import Image

    values = np.asarray(picture).astype(int)
    is_thing = (np.ptp(values, axis=2) > _GREY) | (values.min(axis=2) < _BRIGHT)
    colours: list[int] = []
    for part, count in zip((values[~is_thing], values[is_thing]), _COLOURS, strict=True):
        if len(part):
            few = Image.fromarray(part[None].astype(np.uint8)).quantize(count, kmeans=2)
            colours += (few.getpalette() or [])[: 3 * count]
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours + colours[-3:] * (256 - len(colours) // 3))
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def save_card(browser: Any, assembly: Assembly, path: pathlib.Path) -> pathlib.Path:
    """Write the picture by which other sites show this one (JPEG): a mechanism, and what this is."""
    from matplotlib import font_manager
    from PIL import ImageDraw, ImageFont

    with window(browser, _CARD_SIZE):
        (picture,) = frames(browser, assembly, [MOMENT])
    pen, file = ImageDraw.Draw(picture), font_manager.findfont("DejaVu Sans:bold")
    for text, height, at in (("mbfmu", 88, (60, 44)), ("Mechanisms in Python,\nFMUs for every tool", 34, (64, 156))):
        pen.text(at, text, fill="#25303b", font=ImageFont.truetype(file, height), spacing=10)
    picture.save(path, quality=82, optimize=True)
    return path


def save_animation(browser: Any, assembly: Assembly, path: pathlib.Path, seconds: float, rate: int) -> pathlib.Path:
    """Write the motion of a mechanism as an animated picture (WebP) of so many seconds and pictures per second."""
    count = round(seconds * rate)
    first, *others = frames(browser, assembly, [i / count for i in range(count)])
    first.save(path, save_all=True, append_images=others, duration=round(1000 / rate), loop=0, quality=55, method=6)
    return path
