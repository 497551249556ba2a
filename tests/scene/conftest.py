from __future__ import annotations

import pathlib
import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mbfmu.errors import BuildError
from mbfmu.export import native
from mbfmu.scene import bundle

OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
    "--disable-gpu-compositing",  # without a GPU, that would take a core while a page is open
    "--window-size=1000,800",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no network
)


#: A page, or a script in it, is waited for so long where other work leaves the browser little [s].
PATIENCE = 180


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what opens a browser as slow: pages take seconds to load, and what a browser takes is not measured."""
    for item in items:
        if "opened" in getattr(item, "fixturenames", ()):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def can_live() -> None:
    """Skip where live pages cannot be made: without the page's program, or the runtime's WebAssembly module."""
    if not bundle.BUNDLE.is_file():
        pytest.skip("the page's program was not made: npm was not there at set-up")
    try:
        native.ready_library("wasm32")
    except BuildError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[[pathlib.Path], Any]]:
    """Return a function that loads a page from disk into a headless Chromium, and gives that."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium for a browser")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs Chromium and its driver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for option in OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    browser.set_script_timeout(PATIENCE)

    def load(page: pathlib.Path) -> Any:
        browser.get("about:blank")  # the page before goes on to draw until then, for seconds
        browser.get(page.as_uri())
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if browser.execute_script("return document.documentElement.dataset.ready || !problem.hidden"):
                break
            time.sleep(0.05)
        return browser

    try:
        yield load
    finally:
        browser.quit()


#: Colours of the canvas, counted on a small copy.
COLOURS = """
viewer.renderer.render(viewer.scene, viewer.camera);
const copy = document.createElement("canvas");
copy.width = 100;
copy.height = 80;
const pen = copy.getContext("2d");
pen.drawImage(viewer.renderer.domElement, 0, 0, 100, 80);
const data = pen.getImageData(0, 0, 100, 80).data, found = new Set();
for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
return found.size;
"""


@pytest.fixture(scope="session")
def colours() -> str:
    """Return a script that counts the colours of the canvas."""
    return COLOURS
